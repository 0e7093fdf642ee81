//! Does a unit that is overwritten at random without its map stand where the same writes lead with it, and are these writes random?
//!
//! Not verified: how long it takes.

use crate::bench::one_die;
use crate::random::config as random;
use crate::superblocks::drive;
use crate::units::four;
use harmonia_engine::Rng;
use harmonia_ssd::gc::victim::{self, NoReads, Victim};
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{
    Allocation, Amount, BeginsAt, Frontiers, Ftl, Goal, LastProgram, PolicyConfig, SsdConfig, Superblock,
};
use harmonia_types::{IoCause, SimTime};

/// A device whose units hold the first LPNs, so many of each.
fn filled(config: &SsdConfig, share: f64) -> Ftl {
    let mut ftl = Ftl::new(config, 3, "device").expect("it works");
    let pages = ((f64::from(ftl.shape().unit_pages) * share) as u32).max(1);
    for unit in 0..ftl.shape().units() {
        for lpn in 0..pages {
            ftl.program(unit, lpn, IoCause::Host, None, &mut NoProbe).expect("room");
        }
    }
    ftl
}

fn goal(config: &SsdConfig, ftl: &Ftl) -> Goal {
    Goal { stop: ftl.shape().stop, min_victims: config.gc.min_victims }
}

/// Overwrites every unit at random so many times; which LPNs, by unit.
fn overwrite(config: &SsdConfig, ftl: &mut Ftl, writes: usize) -> Vec<Vec<u32>> {
    let (goal, policy) = (goal(config, ftl), victim::build(&config.gc.victim).expect("a policy"));
    ftl.with_units(|units, shape| {
        let of_unit = |mut unit: harmonia_ssd::UnitMut<'_>| {
            let rng = Rng::stream(3, &format!("overwrites/{}", unit.index()));
            let drawn = unit.overwrite_at_random(rng, |all| {
                let mut write = || {
                    if all.free() <= shape.ages_at {
                        all.collect(goal, &*policy).expect("room");
                    }
                    all.overwrite().expect("room")
                };
                (0..writes).map(|_| write()).collect()
            });
            drawn.expect("the map is not needed")
        };
        units.into_iter().map(of_unit).collect()
    })
}

/// Writes these LPNs of every unit with its map.
fn write(ftl: &mut Ftl, goal: Goal, policy: &dyn Victim, lpns: &[Vec<u32>]) {
    let ages_at = ftl.shape().ages_at;
    for (unit, lpns) in (0..).zip(lpns) {
        for &lpn in lpns {
            let mut unit = ftl.unit(unit);
            if unit.free() <= ages_at {
                unit.collect(goal, policy, &NoReads, SimTime::ZERO, &mut NoProbe).expect("room");
            }
            unit.program(lpn, IoCause::Host, None, &mut NoProbe).expect("room");
        }
    }
}

/// The same pages, as many at a time as are known.
fn write_together(ftl: &mut Ftl, goal: Goal, policy: &dyn Victim, lpns: &[Vec<u32>]) {
    for (unit, lpns) in (0..).zip(lpns) {
        for lpns in lpns.chunks(37) {
            ftl.unit(unit).write_all(lpns, goal, policy).expect("room");
        }
    }
}

/// All that two devices hold, and how.
fn compare(one: &Ftl, other: &Ftl, about: &str) {
    assert_eq!(one.tally(), other.tally(), "{about}");
    for unit in 0..one.shape().units() {
        let (blocks, others) = (one.blocks(unit), other.blocks(unit));
        assert_eq!(blocks.entries, others.entries, "{about}: states and valid counts of unit {unit}");
        assert_eq!(blocks.erases, others.erases, "{about}: erases of unit {unit}");
        assert_eq!(blocks.closed_at, others.closed_at, "{about}: order of closing in unit {unit}");
        let places =
            |ftl: &Ftl| (0..ftl.shape().unit_pages).map(|lpn| ftl.lookup(unit, lpn)).collect::<Vec<_>>();
        assert_eq!(places(one), places(other), "{about}: the map of unit {unit}");
    }
    assert!(one.unit_states() == other.unit_states(), "{about}: what units keep");
}

/// Without the map and with it, then both with it: free blocks that wait in another order would show by then.
fn stands_where_the_same_writes_lead(config: &SsdConfig, share: f64, about: &str) -> u64 {
    let mut without = filled(config, share);
    let mut with = without.clone();
    let (goal, policy) = (goal(config, &with), victim::build(&config.gc.victim).expect("a policy"));
    let lpns = overwrite(config, &mut without, 3_000);
    write(&mut with, goal, &*policy, &lpns);
    compare(&without, &with, about);
    let mut together = filled(config, share);
    write_together(&mut together, goal, &*policy, &lpns);
    compare(&together, &with, &format!("{about}, pages together"));
    without.audit();
    let more: Vec<_> = lpns.iter().map(|of_unit| of_unit[..500].to_vec()).collect();
    for ftl in [&mut without, &mut with] {
        write(ftl, goal, &*policy, &more);
    }
    compare(&without, &with, &format!("{about}, and later"));
    without.tally().victims
}

#[test]
fn what_is_mapped_is_counted_and_overwrites_map_no_more() {
    let mut ftl = filled(&one_die(), 0.5);
    let pages = ftl.shape().unit_pages / 2;
    assert_eq!(ftl.unit(0).mapped(), pages);
    overwrite(&one_die(), &mut ftl, 100);
    assert_eq!(ftl.unit(0).mapped(), pages);
}

/// Each is one program, also while the map is not kept.
#[test]
fn random_overwrites_count_as_programs() {
    let mut ftl = filled(&one_die(), 0.5);
    ftl.with_units(|units, _| {
        for mut unit in units {
            let counted = unit.overwrite_at_random(Rng::stream(3, "counted"), |all| {
                let before = all.data_programs();
                all.overwrite().expect("room");
                (before, all.data_programs())
            });
            let (before, after) = counted.expect("the map is not needed");
            assert!(before > 0 && after == before + 1, "{before}, then {after}");
        }
    });
}

#[test]
fn every_victim_policy_finds_the_same_victims() {
    for entry in victim::REGISTRY {
        for (frontiers, share) in
            [(Frontiers::Shared, 1.0), (Frontiers::Separate, 1.0), (Frontiers::Separate, 0.6)]
        {
            let mut config = drive(4, 64);
            config.ftl.frontiers = frontiers;
            config.gc.victim = entry.name.into();
            if entry.name == "read-match" {
                config.ftl.superblock = Superblock::Off;
            }
            let about = format!("{} {frontiers:?} {share}", entry.name);
            let victims = stands_where_the_same_writes_lead(&config, share, &about);
            assert!(share < 1.0 || victims > 40, "{about}: {victims} victims");
        }
    }
}

/// Blocks whose words of bits do not come out even, and of which a victim's pages go to two.
#[test]
fn random_devices_stand_where_the_same_writes_lead() {
    let (mut devices, mut victims) = (0, 0);
    for seed in 0..300 {
        let mut rng = Rng::stream(seed, "overwrites/devices");
        let mut config = random(&mut rng);
        if !matches!(config.ftl.allocation, Allocation::Static(_)) {
            continue;
        }
        config.geometry.pages_per_block *= 1 + 30 * rng.below(2) as u32;
        let share = [1.0, 0.7][rng.below(2) as usize];
        victims += stands_where_the_same_writes_lead(&config, share, &format!("seed {seed}"));
        devices += 1;
    }
    assert!(devices > 100 && victims > 100_000, "{devices} devices, {victims} victims");
}

/// Pages that are trimmed have no old place, and where a policy places pages each is written alone.
#[test]
fn pages_written_together_lie_where_they_would_alone() {
    for placement in ["shared", "sepbit"] {
        let mut config = drive(2, 70);
        (config.ftl.superblock, config.ftl.reserved_blocks) = (Superblock::Off, Amount::Blocks(20));
        config.gc.hard_threshold = Amount::Blocks(3);
        if placement != "shared" {
            (config.ftl.frontiers, config.ftl.placement) =
                (Frontiers::Separate, PolicyConfig::named(placement));
        }
        let mut alone = filled(&config, 0.9);
        let (goal, policy) = (goal(&config, &alone), victim::build(&config.gc.victim).expect("a policy"));
        let mut rng = Rng::stream(5, placement);
        let pages = u64::from(alone.shape().unit_pages);
        (0..pages / 5).for_each(|_| alone.unit(0).trim(rng.below(pages) as u32, &mut NoProbe));
        let mut together = alone.clone();
        let lpns: Vec<Vec<u32>> = (0..alone.shape().units())
            .map(|_| (0..10_000).map(|_| rng.below(pages) as u32).collect())
            .collect();
        write(&mut alone, goal, &*policy, &lpns);
        write_together(&mut together, goal, &*policy, &lpns);
        compare(&together, &alone, placement);
        together.audit();
        assert!(alone.tally().victims > 20);
    }
}

/// Where collection begins far above the blocks that it is to leave, it has to come again before the next page.
#[test]
fn pages_written_together_wait_for_collections_that_leave_blocks_few() {
    for (frontiers, policy) in
        [(Frontiers::Separate, "greedy"), (Frontiers::Shared, "random"), (Frontiers::Shared, "d-choices")]
    {
        let mut config = drive(2, 70);
        (config.ftl.superblock, config.ftl.reserved_blocks) = (Superblock::Off, Amount::Blocks(20));
        (config.ftl.frontiers, config.gc.victim) = (frontiers, policy.into());
        (config.gc.hard_threshold, config.gc.stop_threshold) = (Amount::Blocks(2), Amount::Blocks(2));
        (config.gc.soft_threshold, config.gc.begins_at) = (Amount::Blocks(6), BeginsAt::Soft);
        let about = format!("{frontiers:?} {policy}");
        stands_where_the_same_writes_lead(&config, 1.0, &about);
    }
}

/// A page that is overwritten by the ones right behind it: its block is open all the time, and no victim.
#[test]
fn an_open_block_whose_pages_become_invalid_at_once_is_no_victim() {
    let config = one_die();
    let mut ftl = Ftl::new(&config, 1, "device").expect("it works");
    let victim = victim::build(&config.gc.victim).expect("a policy");
    let mut unit = ftl.unit(0);
    for lpns in [[7].as_slice(), &[7, 7]] {
        assert_eq!(unit.program_first_of(lpns, IoCause::Host), Ok(lpns.len()));
    }
    assert_eq!(unit.choose(&*victim, &NoReads, SimTime::ZERO), None);
    ftl.audit();
}

/// The last program of a victim has padding, or what another block has of live pages.
#[test]
fn programs_of_several_units_are_padded_and_filled_alike() {
    for last in [LastProgram::Padded, LastProgram::Filled] {
        for frontiers in [Frontiers::Shared, Frontiers::Separate] {
            for policy in ["greedy", "fifo"] {
                let mut config = four();
                (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (40, 24);
                config.ftl.reserved_blocks = Amount::Blocks(8);
                (config.ftl.frontiers, config.gc.last_program) = (frontiers, last);
                config.gc.victim = policy.into();
                let about = format!("{last:?} {frontiers:?} {policy}");
                let victims = stands_where_the_same_writes_lead(&config, 1.0, &about);
                assert!(victims > 20, "{about}: {victims} victims");
            }
        }
    }
}

/// So many LPNs are as likely as one another, and none depends on those before it: not on what was written right before, either.
#[test]
fn lpns_are_uniform_and_independent_of_those_before() {
    const WRITES: usize = 400_000;
    let config = drive(2, 16);
    let mut ftl = filled(&config, 1.0);
    let pages = ftl.shape().unit_pages as usize;
    let lpns = &overwrite(&config, &mut ftl, WRITES)[0];
    let mut counts = vec![0.0; pages];
    lpns.iter().for_each(|&lpn| counts[lpn as usize] += 1.0);
    let expected = WRITES as f64 / pages as f64;
    let chi: f64 = counts.iter().map(|count| (count - expected) * (count - expected) / expected).sum();
    // Its mean is the degrees of freedom, its variance twice that.
    let degrees = (pages - 1) as f64;
    let is_near = |found: f64, mean: f64, variance: f64| (found - mean) * (found - mean) < 25.0 * variance;
    assert!(is_near(chi, degrees, 2.0 * degrees), "chi square {chi:.0} of {degrees} degrees of freedom");
    for lag in (1..=80).chain([200, 700, 1_500]) {
        let alike = lpns.iter().zip(&lpns[lag..]).filter(|(one, other)| one == other).count() as f64;
        let about = format!("{alike} of {expected:.0} LPNs are those of {lag} writes before");
        assert!(is_near(alike, expected, expected), "{about}");
    }
}

#[test]
fn a_unit_that_needs_its_map_says_so() {
    let possible = |config: &SsdConfig, share: f64| {
        let mut ftl = Ftl::new(config, 1, "device").expect("it works");
        if share > 0.0 {
            ftl = filled(config, share);
        }
        ftl.unit(0).overwrite_at_random(Rng::stream(1, "none"), |_| ()).is_some()
    };
    assert!(
        possible(&one_die(), 1.0) && !possible(&one_die(), 0.0),
        "an empty unit has no page to overwrite"
    );
    let mut placed = drive(2, 16);
    (placed.ftl.frontiers, placed.gc.hard_threshold) = (Frontiers::Separate, Amount::Blocks(3));
    assert!(possible(&placed, 1.0));
    placed.ftl.placement = PolicyConfig::named("sepbit");
    assert!(!possible(&placed, 1.0), "where a page goes depends on its age");
    let mut dynamic = one_die();
    dynamic.ftl.allocation = Allocation::Dynamic;
    assert!(!possible(&dynamic, 1.0), "its map is that of all units");
}
