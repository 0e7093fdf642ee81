//! Whole arrays of real devices with symbolic contents: what a page holds is a set of symbols, one for each write of a unit.
//!
//! The planner is watched. After each plan of a write the store says what every place that is written is to hold. What is written
//! must follow from what the transaction has read and what is new; what is read must say what the units held last. While nothing is under
//! way, every place that the map names holds what it should, the flash of every member has exactly these pages and those that wait
//! to be trimmed, and all parity covers its row.
//!
//! In some histories members fail, at most as many at a time as there are parities, and spares take their places, new ones or as full
//! as a member. What a failed member held, and what nobody has written of a spare, is a symbol that nobody knows. While members are
//! missing, the rest of each row must say all of its units.
//!
//! In others pages cannot be read, all is scrubbed, and power is lost. A page that was being written then holds what was there or what
//! it was to hold, as chance has it, and so does the unit until it is written again. Parity is compared again once resync has gone
//! through its row. A history ends where redundancy was not enough: two pages of a row that cannot be read, on RAID-5.
//!
//! With a log no row need be compared again: a write of which a journal has anything has everything, and what nobody was given has not
//! been begun. `happens` has what befalls an array, `watched` the planner that is watched.

mod happens;
mod watched;

use harmonia_engine::Rng;
use harmonia_ssd::probe::{AnyProbe, AuditProbe, any};
use harmonia_ssd::{Ftl, WriteCacheConfig};
use harmonia_types::{DeviceId, HostRequest, Operation, SimDuration, SimTime};

use super::super::FloatingPlanner;
use super::PAGE;
use crate::config::{ArrayConfig, MemberConfig};
use crate::controller::payload::{self, AnyPayload};
use crate::controller::{Array, MishapKind, Parts};
use crate::coordination::{Parameters, REGISTRY};
use crate::health::Condition;
use crate::layout::{Layout, Level, Rotation};
use crate::planner::parity::ParityPlanner;
use crate::planner::{Dodge, Migration, Placing};
use crate::{AgeingPlan, COUNTED_FROM, age};
use happens::{Happens, REQUESTS, config, shares};
use watched::Watched;

/// What a history has come to.
#[derive(Debug, Clone, Copy, Default)]
struct Outcome {
    /// Units that were compared when they were read, what has moved, copies that were trimmed, moments of rest, pages that members
    /// have read, written and discarded.
    plain: [u64; 6],
    /// Failures, members rebuilt, rows that were compared while one was missing, pages read without it.
    failing: [u64; 4],
    /// Rows whose parity has returned.
    returned: u64,
    /// Histories in which another member failed when what the first held was on the others; rows that were rebuilt there.
    distributed: [u64; 2],
    /// Pages that could not be read, rows scrubbed, losses of power, rows that resync wrote, histories whose redundancy was not enough.
    faulty: [u64; 5],
    /// Transactions that were written again from a log; how often one waited for room there.
    logged: [u64; 2],
}

/// Runs random requests on an array to which this happens.
fn run(seed: u64, level: Level, happens: Happens) -> Outcome {
    let mut rng = Rng::stream(seed, "gaftl/floating");
    let config = config(&mut rng, level);
    let mut config = config;
    let mut cached = Rng::stream(seed, "gaftl/floating/cache");
    if happens.loses_power && cached.chance(0.5) {
        let (size, ack) = (PAGE * (4 + cached.below(60)), SimDuration(1_000 << cached.below(12)));
        let cache = WriteCacheConfig { size: Some(size), power_protected: true, ack, ..Default::default() };
        config.members.iter_mut().for_each(|member| member.ssd.write_cache = cache.clone());
    }
    let faults = happens.faults(seed, &config);
    let parity_shares = if happens.returns { shares(seed, config.devices) } else { Vec::new() };
    let mut config = ArrayConfig { faults, parity_shares, ..config };
    // What is being written of a full row may hold anything if a member is missing and parity is logged in part, as under md.
    let may_be_full = !(happens.returns || happens.logs && happens.distributes);
    if Rng::stream(seed, "gaftl/floating/thin").chance(0.5) && may_be_full {
        assert!(config.provision());
    }
    let whole = config.layout();
    let Layout::Parity(layout) = whole.clone() else { unreachable!("it has parity") };
    assert!(whole.is_floating());
    let plain =
        ParityPlanner::new(&whole, layout.clone(), config.small_write, PAGE).dodging(Dodge::default());
    let placing = Placing { migration: Migration::Back, imbalance: 0.0, ..Placing::default() };
    let planner = FloatingPlanner::new(plain, (&whole, layout), config.small_write, PAGE);
    let planner = planner.on(&config.members, config.area());
    let planner = planner.failing(!config.is_faultless()).returning(placing);
    let shared = Watched::new(planner, &config, seed);
    let entry = REGISTRY.iter().find(|entry| entry.name == "gaftl").expect("it is registered");
    let coordinator = (entry.build)(&Parameters {
        devices: config.devices,
        redundancy: level.parities(),
        members: &config.members,
        message_latency: config.coordination.message_latency,
        own: &config.coordination.own,
    });
    let (cancel, pages_done) = Default::default();
    let fill = if rng.chance(0.3) { 1.0 } else { 0.5 + 0.5 * rng.unit() };
    let plan = AgeingPlan {
        fill,
        overwrite: 1.0,
        within: None,
        counted_from: COUNTED_FROM,
        seed,
        threads: 1,
        cancel: &cancel,
        pages_done: &pages_done,
    };
    let aged = age(&config, &plan).expect("the array for tests can be aged");
    let coordinator = coordinator.expect("these keys work");
    let parts =
        Parts { coordinator, planner: Box::new(shared.clone()), payload: payload::any(shared.clone()) };
    // Spares are new, or hold as much as a member.
    let of_spare = |(number, spare): (usize, &MemberConfig)| match seed % 2 {
        // A thin member has no room for what it held and what it is to hold.
        _ if config.thin().is_some() => {
            Ftl::new(&spare.ssd, seed, &format!("spare/{number}")).expect("a shape that works")
        }
        0 => Ftl::new(&spare.ssd, seed, &format!("spare/{number}")).expect("a shape that works"),
        _ => aged.devices[number].clone(),
    };
    let spares: Vec<Ftl> = config.faults.spares.iter().enumerate().map(of_spare).collect();
    let of_journal =
        |journal: &MemberConfig| Ftl::new(&journal.ssd, seed, "journal").expect("a shape that works");
    let journal = config.faults.journal.as_ref().map(of_journal);
    let states = aged.devices.into_iter().chain(spares).chain(journal).collect();
    let mut array = Array::with_parts(&config, states, parts, |_| any(AuditProbe)).expect("it can be built");
    // Few stripes, so that requests meet one another; some of them behind what is filled.
    let pages = whole.logical_bytes() / PAGE;
    let few = 60.min(pages);
    let start = ((pages as f64 * fill) as u64).saturating_sub(few / 2).min(pages - few);
    let mean = 100_000.0 * (1 + rng.below(80)) as f64;
    // More is under way when power is lost, and more of it are discards, which nobody does again.
    let (mean, writes) = if happens.loses_power { (mean / 8.0, 8..14) } else { (mean, 8..19) };
    let (mut now, mut left) = (SimTime::ZERO, REQUESTS as usize);
    let (mut has_failed_again, mut has_lost_power) = (false, false);
    for id in 0..REQUESTS {
        let happened = |kind| count(&array, |what| *what == kind) > 0;
        let is_distributed = happens.distributes && happened(MishapKind::Rebuilt);
        // Power is lost, and the array starts although a member is missing: nothing is missing of what members held.
        let is_synced = happens.logs || seed % 2 == 1 || happened(MishapKind::Resynced);
        if is_distributed && !is_synced && !has_lost_power {
            has_lost_power = true;
            array.lose_power(now).expect("members go on");
        }
        if is_distributed && is_synced && !has_failed_again && id > REQUESTS / 2 {
            has_failed_again = true;
            let first = array.mishaps().iter().find(|mishap| mishap.what == MishapKind::Failed);
            let first = u64::from(first.and_then(|mishap| mishap.device).expect("a member failed").0);
            let members = u64::from(config.devices);
            let other = ((first + 1 + rng.below(members - 1)) % members) as u16;
            array.fail(DeviceId(other), now).expect("members go on");
        }
        now += SimDuration(rng.exponential(mean) as u64);
        array.advance_until(now).expect("members go on");
        if rng.chance(0.3) && array.transactions_under_way() == 0 {
            let mut shared = shared.get();
            match happens {
                Happens { fails: false, errs: false, loses_power: false, .. } => shared.check_at_rest(&array),
                _ if shared.has_lost() => {}
                _ => shared.check_touched(&array),
            }
        }
        let length = 1 + rng.below(9);
        let operation = match rng.below(20) {
            0..8 => Operation::Read,
            drawn if writes.contains(&drawn) => Operation::Write,
            _ => Operation::Trim,
        };
        let mut offset = (start + rng.below(few - length)) * PAGE;
        let mut bytes = length * PAGE;
        if rng.chance(0.2) {
            (offset, bytes) =
                (offset + 512 * rng.below(8), (bytes - 512 * rng.below(8)).min(pages * PAGE - offset - 4096));
        }
        let request = HostRequest::new(id, now, operation, offset, bytes);
        array.submit(request).expect("likewise");
        left -= std::mem::take(array.completions()).len();
    }
    let mut steps = 0;
    while left > 0 || array.transactions_under_way() > 0 || !is_final(&array, &config) {
        let wakeup = array.next_wakeup();
        assert!(wakeup != SimTime::NEVER && steps < 1_000_000, "{left} requests are lost");
        array.advance_until(wakeup).expect("members go on");
        left -= std::mem::take(array.completions()).len();
        steps += 1;
    }
    // Idle time is used, also after power was lost; a member that collects at the very end keeps its copies.
    let has_left = || {
        (happens.loses_power || happens.distributes || happens.fails)
            && shared.get().planner.left.has(|_| true)
    };
    while has_left() || array.transactions_under_way() > 0 {
        let wakeup = array.next_wakeup();
        assert!(steps < 1_000_000, "copies are left for ever");
        if wakeup == SimTime::NEVER {
            break;
        }
        array.advance_until(wakeup).expect("members go on");
        steps += 1;
    }
    let mut shared = shared.get();
    let has_failed = |member: DeviceId| array.health().of(member) == Condition::Failed;
    let has_left = shared.planner.left.has(|member| !has_failed(member));
    assert!(!(happens.distributes || happens.fails) || !has_left, "copies are left for ever");
    let (own, losses) = (shared.planner.own, shared.planner.losses);
    let is_enough = !shared.has_lost();
    assert!(is_enough || happens.may_lose(), "nothing is lost: {losses:?}");
    if is_enough {
        shared.check_at_rest(&array);
    }
    let failures = count(&array, |what| *what == MishapKind::Failed);
    let rebuilds = count(&array, |what| *what == MishapKind::Rebuilt);
    Outcome {
        plain: [shared.checked, own.units_moved, own.parity_moved, own.trimmed, shared.rests, shared.pages],
        failing: [failures as u64, rebuilds as u64, shared.degraded, losses.rebuilt_pages],
        distributed: [u64::from(has_failed_again), array.background_counters(now).rebuilt_bytes / PAGE],
        returned: shared.planner.shares.as_ref().map_or(0, |shares| shares.returned),
        logged: [shared.replays, array.log_counters().full_waits],
        faulty: [
            array.unreadable_pages(),
            array.background_counters(now).scrubbed_bytes / PAGE,
            shared.losses_of_power,
            shared.planner.unsynced.written(),
            u64::from(!is_enough),
        ],
    }
}

fn count(array: &Array<AnyProbe, AnyPayload>, is: impl Fn(&MishapKind) -> bool) -> usize {
    array.mishaps().iter().filter(|mishap| is(&mishap.what)).count()
}

/// Whether no member is yet to be replaced or rebuilt.
fn is_final(array: &Array<AnyProbe, AnyPayload>, config: &ArrayConfig) -> bool {
    let replaced = count(array, |what| matches!(what, MishapKind::Replaced(_)));
    let is_partial = |member| matches!(array.health().of(DeviceId(member)), Condition::Partial(_));
    // What a failed member held is on the others, or had no room there, unless that was begun anew.
    let began = array.mishaps().iter().rposition(|mishap| mishap.what == MishapKind::Distributed);
    let ended = array
        .mishaps()
        .iter()
        .rposition(|mishap| matches!(mishap.what, MishapKind::Rebuilt | MishapKind::Incomplete(_)));
    array.health().is_whole()
        || (began <= ended && replaced == config.faults.spares.len() && !(0..config.devices).any(is_partial))
}

const RAID5: Level = Level::Raid5(Rotation::LeftSymmetric);
const RAID6: Level = Level::Raid6(Rotation::LeftSymmetric);

fn histories(level: Level, seeds: std::ops::Range<u64>, least: [u64; 6]) {
    let mut sum = [0; 6];
    for seed in seeds {
        eprintln!("seed {seed}, so far {sum:?}");
        sum.iter_mut()
            .zip(run(seed, level, Happens::default()).plain)
            .for_each(|(sum, counted)| *sum += counted);
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
}

fn failing_histories(level: Level, seeds: std::ops::Range<u64>, least: [u64; 4]) {
    let mut sum = [0; 4];
    for seed in seeds {
        eprintln!("seed {seed} with failures, so far {sum:?}");
        sum.iter_mut()
            .zip(run(seed, level, Happens { fails: true, ..Happens::default() }).failing)
            .for_each(|(sum, counted)| *sum += counted);
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
}

/// Histories of arrays with shares of parity: rows that return while members may fail or not.
fn returning_histories(seeds: std::ops::Range<u64>, least: [u64; 2]) {
    let mut sum = [0; 2];
    for seed in seeds {
        eprintln!("seed {seed} with shares, so far {sum:?}");
        let returns = Happens { returns: true, ..Happens::default() };
        sum[0] += run(seed, RAID5, returns).returned;
        sum[1] += run(seed, RAID5, Happens { fails: true, ..returns }).returned;
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
}

/// Histories without spares, in which another member fails when what the first held is on the others.
fn distributed_histories(level: Level, seeds: std::ops::Range<u64>, least: [u64; 2]) {
    let mut sum = [0; 2];
    for seed in seeds {
        eprintln!("seed {seed} without spares, so far {sum:?}");
        let distributed = run(seed, level, Happens { distributes: true, ..Happens::default() }).distributed;
        sum.iter_mut().zip(distributed).for_each(|(sum, counted)| *sum += counted);
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
}

/// Histories with logs: a journal in every second one of RAID-5 and on RAID-6, otherwise partial parity. Power is lost while members may
/// be missing: with partial parity none of them is being replaced, because what is being written on a spare may hold anything then. What
/// was being written on a member that failed meanwhile may do so, too: parity says what.
fn logged_histories(level: Level, seeds: std::ops::Range<u64>, least: [u64; 2]) {
    let mut sum = [0; 2];
    for seed in seeds {
        eprintln!("seed {seed} with a log, so far {sum:?}");
        let has_journal = seed % 2 == 1 || level == RAID6;
        let (fails, distributes) = (has_journal && seed / 2 % 3 == 1, seed / 2 % 3 == 2);
        let happens = Happens { fails, distributes, loses_power: true, logs: true, ..Happens::default() };
        sum.iter_mut().zip(run(seed, level, happens).logged).for_each(|(sum, counted)| *sum += counted);
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
}

/// Histories with pages that cannot be read, and members that fail besides; and with losses of power. Both together open the write hole:
/// where a page is missing, parity is relied on that need not agree.
fn faulty_histories(level: Level, seeds: std::ops::Range<u64>, least: [u64; 4]) {
    let mut sum = [0; 5];
    for seed in seeds.clone() {
        eprintln!("seed {seed} with faults, so far {sum:?}");
        let (errs, loses_power) = (seed % 2 == 0, seed % 2 == 1);
        let (fails, returns) = (errs && seed / 2 % 3 == 0, level == RAID5 && seed / 2 % 3 == 1);
        let outcome = run(seed, level, Happens { fails, returns, errs, loses_power, ..Happens::default() });
        sum.iter_mut().zip(outcome.faulty).for_each(|(sum, counted)| *sum += counted);
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
    assert!(least == [0; 4] || sum[4] <= (seeds.end - seeds.start) / 3, "{sum:?}: too little is compared");
}

#[test]
fn contents_are_right_whatever_cannot_be_read_and_whenever_power_is_lost() {
    faulty_histories(RAID5, 0..24, [100, 10_000, 200, 30]);
}

#[test]
fn contents_are_right_with_two_parities_whatever_goes_wrong() {
    faulty_histories(RAID6, 0..24, [100, 10_000, 200, 30]);
}

#[test]
#[ignore = "long: make simulations"]
fn contents_are_right_while_parity_returns_to_its_shares() {
    returning_histories(0..15, [100, 50]);
}

#[test]
fn contents_are_right_while_members_fail_and_are_rebuilt() {
    failing_histories(RAID5, 0..30, [40, 12, 20_000, 800]);
}

#[test]
fn contents_are_right_with_two_parities_while_members_fail_and_are_rebuilt() {
    failing_histories(RAID6, 0..30, [50, 12, 20_000, 800]);
}

#[test]
#[ignore = "long: make simulations"]
fn contents_are_right_when_another_member_fails_after_the_first_was_rebuilt_on_the_others() {
    distributed_histories(RAID5, 0..8, [2, 9_000]);
    distributed_histories(RAID6, 0..4, [1, 4_000]);
}

#[test]
#[ignore = "long: make simulations"]
fn contents_are_right_with_a_log_whenever_power_is_lost() {
    logged_histories(RAID5, 0..40, [200, 100]);
    logged_histories(RAID6, 0..10, [50, 100]);
}

#[test]
#[ignore = "long: make simulations"]
fn contents_are_right_at_every_moment_of_rest() {
    histories(RAID5, 0..20, [10_000, 300, 250, 500, 100, 50_000]);
}

#[test]
#[ignore = "long: make simulations"]
fn contents_are_right_with_two_parities_at_every_moment_of_rest() {
    histories(RAID6, 0..20, [10_000, 500, 800, 1_000, 100, 100_000]);
}

/// The long form: `make histories`.
#[test]
#[ignore = "takes minutes: make histories"]
fn contents_are_right_in_many_histories() {
    histories(RAID5, 20..600, [0; 6]);
    failing_histories(RAID5, 30..1_000, [0; 4]);
    returning_histories(15..300, [0; 2]);
    distributed_histories(RAID5, 8..300, [0; 2]);
}

/// Likewise.
#[test]
#[ignore = "takes minutes: make histories"]
fn contents_are_right_with_two_parities_in_many_histories() {
    histories(RAID6, 20..600, [0; 6]);
    failing_histories(RAID6, 30..1_000, [0; 4]);
    distributed_histories(RAID6, 4..200, [0; 2]);
}

/// Likewise.
#[test]
#[ignore = "takes minutes: make histories"]
fn contents_are_right_whatever_goes_wrong_in_many_histories() {
    for level in [RAID5, RAID6] {
        faulty_histories(level, 24..1_200, [0; 4]);
        logged_histories(level, 40..1_200, [0; 2]);
    }
}
