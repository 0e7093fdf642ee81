//! Programs that carry several mapping units: how long do they take, what do they carry, and what is padding?
//!
//! ```text
//! page 16 KiB, unit 4 KiB      tR 1,000   a unit over the pins 75   tPROG 5,000   tBERS 20,000
//! ```

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_flash::{Copyback, PageTimes};
use harmonia_ssd::block::BlockId;
use harmonia_ssd::gc::victim::{NoReads, Victim, VictimView};
use harmonia_ssd::probe::{AuditProbe, NoProbe, any};
use harmonia_ssd::{Amount, Device, Frontiers, Ftl, Goal, LastProgram, SsdConfig, SubRequest};
use harmonia_types::registry::PolicyConfig;
use harmonia_types::{Blame, IoCause, Operation, SimDuration, SimTime};

/// Four units in a page, four pages in a block; data is there at once.
pub fn four() -> SsdConfig {
    let mut config = one_die();
    config.geometry.page_size = 4 * PAGE as u32;
    config.ftl.mapping_unit = Some(PAGE as u32);
    config.ftl.reserved_blocks = Amount::Blocks(5);
    config.timing.copyback = Copyback::None;
    config.link.bandwidth = 1 << 60;
    config
}

/// So much of a program: one unit's transfer of several, the others ahead of it or behind.
fn program_blame(units: u64) -> Blame {
    Blame { service: 5_000, transfer: 75, queue_host: 75 * (units - 1), ..Blame::default() }
}

/// Writes of single units that arrive at one moment.
fn write_at_once(bench: &mut Bench, at: u64, writes: &[(u32, u64)]) {
    let subs: Vec<_> = writes.iter().map(|&(token, unit)| sub(token, Operation::Write, unit, 1)).collect();
    submit_at_once(bench, at, &subs);
}

fn submit_at_once(bench: &mut Bench, at: u64, subs: &[SubRequest]) {
    bench.advance(at);
    subs.iter().for_each(|&sub| bench.device.submit(SimTime(at), sub).unwrap());
    bench.device.audit();
}

fn programmed(bench: &Bench, cause: IoCause) -> (u64, u64) {
    let counters = bench.device.counters();
    (counters.programmed(cause), counters.padding[cause as usize])
}

#[test]
fn a_program_carries_the_units_that_are_ready() {
    let mut bench = Bench::empty(&four());
    write_at_once(&mut bench, 0, &[(0, 0), (1, 3), (2, 6), (3, 9)]);
    for unit in 0..4 {
        bench.known_by(5_300, unit, 5_300, program_blame(4));
    }
    assert_eq!(programmed(&bench, IoCause::Host), (4, 0));
    // One request of five units: four go at once, the fifth has a program to itself.
    bench.write(10_000, 9, 20, 5);
    let last = Blame { queue_host: 5_300, ..program_blame(1) };
    bench.known_at(10_000 + 5_300 + 5_075, 9, 20_375, last);
    assert_eq!(programmed(&bench, IoCause::Host), (12, 3 * PAGE));
}

#[test]
fn what_a_program_lacks_is_padding() {
    let mut bench = Bench::empty(&four());
    write_at_once(&mut bench, 0, &[(0, 0), (1, 1), (2, 2)]);
    bench.known_at(5_225, 2, 5_225, program_blame(3));
    assert_eq!(programmed(&bench, IoCause::Host), (4, PAGE));
    assert_eq!(bench.device.counters().host_bytes(PAGE), 3 * PAGE);
    // The next one has a program of its own, and none of the four blocks' worth of pages is used twice.
    bench.write(6_000, 7, 3, 1).known_at(11_075, 7, 11_075, program_blame(1));
    assert_eq!(programmed(&bench, IoCause::Host), (8, 4 * PAGE));
    bench.device.ftl().audit();
}

/// Its command is before all that it carries, and is nobody's wait.
#[test]
fn a_program_has_one_command() {
    let mut config = four();
    config.timing.command.program = SimDuration(20);
    let mut bench = Bench::empty(&config);
    write_at_once(&mut bench, 0, &[(0, 0), (1, 3), (2, 6)]);
    let blame = Blame { transfer: 75 + 20, ..program_blame(3) };
    for unit in 0..3 {
        bench.known_by(5_245, unit, 5_245, blame);
    }
}

#[test]
fn a_unit_is_read_with_its_page_and_transferred_alone() {
    let mut bench = Bench::with(&four(), &[&[0, 1, 2, 3, 4, 5]]);
    let blame = Blame { service: 1_000, transfer: 75, ..Blame::default() };
    bench.read(0, 1, 5, 1).known_at(1_075, 1, 1_075, blame);
}

#[test]
fn a_part_of_a_unit_has_the_rest_read_first_and_then_joins_a_program() {
    let mut bench = Bench::with(&four(), &[&[0, 1, 2, 3]]);
    bench.submit(0, partial(1, 2)).write(100, 2, 5, 1);
    let waited =
        |units: u64, since: u64| Blame { queue_host: 1_075 - since + 75 * (units - 1), ..program_blame(1) };
    bench.known_at(1_075 + 5_150, 1, 6_225, waited(2, 0));
    bench.known_by(6_225, 2, 6_225, waited(2, 100));
    let counters = bench.device.counters();
    assert_eq!(
        (counters.read_modify_write_reads, programmed(&bench, IoCause::Host)),
        (1, (8, 2 * PAGE + 3_072))
    );
    // Where nothing is to be read, nothing is.
    bench.submit(10_000, partial(3, 9)).known_at(15_075, 3, 15_075, program_blame(1));
}

#[test]
fn operations_on_one_unit_keep_their_order() {
    let mut bench = Bench::with(&four(), &[&[0, 1, 2, 3]]);
    let [write, read] = [Operation::Write, Operation::Read];
    let subs = [sub(1, write, 2, 1), sub(2, read, 2, 1), sub(3, write, 2, 1), sub(4, write, 7, 1)];
    submit_at_once(&mut bench, 0, &subs);
    // The second write of unit 2 stands behind the read; unit 7 goes along with the first.
    bench.known_at(5_150, 1, 5_150, program_blame(2));
    assert_eq!(bench.find(4).map(|done| done.finish), Some(SimTime(5_150)));
    bench.known_at(
        6_225,
        2,
        6_225,
        Blame { service: 1_000, transfer: 75, queue_host: 5_150, ..Blame::default() },
    );
    bench.known_at(11_300, 3, 11_300, Blame { queue_host: 6_225, ..program_blame(1) });
}

#[test]
fn one_shot_programs_a_page_of_each_type() {
    let mut config = four();
    config.geometry.page_size = PAGE as u32;
    (config.geometry.program_pages, config.geometry.pages_per_block) = (3, 6);
    config.ftl.reserved_blocks = Amount::Blocks(6);
    let times: Vec<_> = [1_000, 2_000, 3_000].map(SimDuration).into();
    config.timing.read = PageTimes::by_type(&times).unwrap();
    let mut bench = Bench::empty(&config);
    write_at_once(&mut bench, 0, &[(0, 0), (1, 1), (2, 2), (3, 3)]);
    // Three pages of 300 each, then one tPROG; the fourth waits.
    bench.known_at(
        5_900,
        2,
        5_900,
        Blame { service: 5_000, transfer: 300, queue_host: 600, ..Blame::default() },
    );
    bench.known_at(
        11_200,
        3,
        11_200,
        Blame { service: 5_000, transfer: 300, queue_host: 5_900, ..Blame::default() },
    );
    assert_eq!(programmed(&bench, IoCause::Host), (6, 2 * PAGE));
    for (unit, read) in [(0, 1_000), (1, 2_000), (2, 3_000), (3, 1_000)] {
        let at = 20_000 + u64::from(unit) * 10_000;
        let blame = Blame { service: read, transfer: 300, ..Blame::default() };
        bench.read(at, 10 + unit, unit.into(), 1).known_at(
            at + read + 300,
            10 + unit,
            at + read + 300,
            blame,
        );
    }
}

#[test]
fn planes_types_and_units_multiply() {
    let mut config = four();
    (config.geometry.planes_per_die, config.geometry.program_planes) = (2, 2);
    (config.geometry.program_pages, config.geometry.pages_per_block) = (3, 6);
    config.ftl.reserved_blocks = Amount::Blocks(8);
    config.geometry.blocks_per_plane = 9;
    let times: Vec<_> = [1_000, 2_000, 3_000].map(SimDuration).into();
    config.timing.read = PageTimes::by_type(&times).unwrap();
    let shape = config.resolve().unwrap();
    // Blocks of both planes are one: 2 x 6 pages of 4 units.
    assert_eq!((shape.blocks_per_unit, shape.data_pages, shape.packing.slots_per_program()), (9, 48, 24));
    let mut bench = Bench::empty(&config);
    bench.write(0, 1, 0, 25);
    let last = Blame { queue_host: 24 * 75 + 5_000, ..program_blame(1) };
    bench.known_at(24 * 75 + 5_000 + 5_075, 1, 11_875, last);
    assert_eq!(programmed(&bench, IoCause::Host), (48, 23 * PAGE));
    // Units 0 to 7 lie in pages of the first type, one in each plane; 8 to 15 in the second.
    for (token, (unit, read)) in
        (2..).zip([(0, 1_000), (7, 1_000), (8, 2_000), (15, 2_000), (23, 3_000), (24, 1_000)])
    {
        let at = u64::from(token) * 20_000;
        let blame = Blame { service: read, transfer: 75, ..Blame::default() };
        bench.read(at, token, unit, 1).known_at(at + read + 75, token, at + read + 75, blame);
    }
}

/// Takes the first block, whatever it holds.
#[derive(Clone)]
struct First;

impl Victim for First {
    fn choose(&self, view: &VictimView<'_>, _: &mut Rng) -> Option<BlockId> {
        view.blocks.closed_valid(BlockId(0)).map(|_| BlockId(0))
    }
}

/// The two first pages of block 0 hold the units of these patterns, its others none; one block is free.
fn low(first: u32, second: u32) -> Vec<u32> {
    low_after(first, second, (16..48).cycle())
}

/// The same after these writes to other blocks, as many as it takes.
fn low_after(first: u32, second: u32, others: impl Iterator<Item = u32>) -> Vec<u32> {
    let live = first | second << 4;
    let dead = (0..16).filter(|unit| live >> unit & 1 == 0);
    let mut written: Vec<u32> = (0..48).chain(dead).collect();
    written.extend(others.take(100 - written.len()));
    written
}

fn with_first(config: &SsdConfig, written: &[u32]) -> Bench {
    let mut ftl = Ftl::new(config, 1, "device").unwrap();
    for &lpn in written {
        ftl.program(0, lpn, IoCause::Host, None, &mut NoProbe).unwrap();
    }
    let policies = harmonia_ssd::Policies {
        victim: Box::new(First),
        schedule: harmonia_ssd::gc::schedule::build(&config.gc.schedule).unwrap(),
        concurrency: harmonia_ssd::gc::concurrency::build(&config.gc.concurrency, 1).unwrap(),
    };
    let shape = config.resolve().unwrap();
    let device = Device::with_policies(config, shape, ftl, policies, any(AuditProbe)).unwrap();
    Bench { device, known: Vec::new() }
}

/// Every pattern of live units of two pages, collected as one command, in halves, and move by move: each page with a live
/// unit is read once, and units of both are packed.
#[test]
fn each_page_with_live_units_is_read_once_and_units_are_packed() {
    for (schedule, own_pins) in
        [("blocking", true), ("blocking", false), ("preemptive", true), ("stepwise", false)]
    {
        let mut config = four();
        config.geometry.own_pins = own_pins;
        config.gc.schedule = schedule.into();
        for (first, second) in (0..16).flat_map(|first| (0..16).map(move |second| (first, second))) {
            let mut bench = with_first(&config, &low(first, second));
            let intervals = bench.read(0, 1, 20, 1).collected();
            let case = format!("{schedule}, own pins {own_pins}, live {first:04b} {second:04b}");
            let moved = u64::from(first.count_ones() + second.count_ones());
            let reads = u64::from(first > 0) + u64::from(second > 0);
            let programs = moved.div_ceil(4);
            let time = 1_000 * reads + 2 * 75 * moved + 5_000 * programs + 20_000;
            assert_eq!(intervals, [(0, time)], "{case}");
            assert_eq!(
                programmed(&bench, IoCause::Gc),
                (4 * programs, (4 * programs - moved) * PAGE),
                "{case}"
            );
            assert_eq!(bench.device.counters().victim_pages_moved, moved, "{case}");
            bench.device.ftl().audit();
        }
    }
}

/// The same where pages are placed by more than who writes them: a program is full before the next one begins.
#[test]
fn units_that_are_placed_one_by_one_are_packed() {
    let mut config = four();
    config.gc.schedule = "blocking".into();
    config.ftl.placement = PolicyConfig::named("streams").with("handles", 1_u32);
    // Two blocks more, which are written once more.
    config.geometry.blocks_per_plane = 10;
    config.ftl.reserved_blocks = Amount::Blocks(7);
    for (first, second) in [(0b0001, 0), (0b1111, 0), (0b1111, 0b0001), (0b0111, 0b0111), (0b1111, 0b1111)] {
        let written: Vec<u32> = low(first, second).into_iter().chain(16..48).collect();
        let mut bench = with_first(&config, &written);
        let intervals = bench.read(0, 1, 20, 1).collected();
        let (case, moved) =
            (format!("live {first:04b} {second:04b}"), first.count_ones() + second.count_ones());
        let (reads, programs) = (1 + u64::from(second > 0), u64::from(moved.div_ceil(4)));
        let time = 1_000 * reads + 2 * 75 * u64::from(moved) + 5_000 * programs + 20_000;
        assert_eq!(intervals, [(0, time)], "{case}");
        let padding = 4 * programs - u64::from(moved);
        assert_eq!(programmed(&bench, IoCause::Gc), (4 * programs, padding * PAGE), "{case}");
    }
}

/// What the last program of a victim lacks comes from the closed block with the fewest live units, one page of it read after the other.
#[test]
fn the_last_program_of_a_victim_is_filled_from_the_emptiest_block() {
    let mut rng = Rng::stream(1, "units/emptiest");
    let mut most = 0;
    for schedule in ["blocking", "preemptive", "stepwise"] {
        let mut config = four();
        config.gc.schedule = schedule.into();
        config.gc.last_program = LastProgram::Filled;
        for (first, second) in (0..16).flat_map(|first| (0..16).map(move |second| (first, second))) {
            // Its live units are spread over its pages.
            let others = std::iter::repeat_with(|| 16 + rng.below(32) as u32);
            let mut bench = with_first(&config, &low_after(first, second, others));
            let (block, live) = emptiest(&bench);
            let intervals = bench.read(0, 1, 20, 1).collected();
            let case = format!("{schedule}, live {first:04b} {second:04b}, then {live:?} of {block}");
            let moved = u64::from(first.count_ones() + second.count_ones());
            let programs = moved.div_ceil(4);
            let along = (4 * programs - moved).min(live.iter().sum::<u64>());
            // Whole pages are read until the program is full, and what does not fit in it stays where it is.
            let (mut read, mut ahead) = (0, 0);
            for &of_page in live.iter().filter(|&&of_page| of_page > 0) {
                if read < along {
                    (read, ahead) = (read + of_page, ahead + 1);
                }
            }
            most = most.max(ahead);
            let reads = u64::from(first > 0) + u64::from(second > 0) + ahead;
            // A command that gives no way transfers what it moves; steps transfer what they read.
            let out = if schedule == "stepwise" { read } else { along };
            let time = 1_000 * reads + 75 * (2 * moved + along + out) + 5_000 * programs + 20_000;
            assert_eq!(intervals, [(0, time)], "{case}");
            let padding = 4 * programs - moved - along;
            assert_eq!(programmed(&bench, IoCause::Gc), (4 * programs, padding * PAGE), "{case}");
            bench.device.ftl().audit();
        }
    }
    assert!(most > 2, "{most} pages of it at most");
}

/// The closed block with the fewest live units but the first, and how many live units each of its pages has.
fn emptiest(bench: &Bench) -> (u32, Vec<u64>) {
    let ftl = bench.device.ftl();
    let (block, _) = (1..)
        .map_while(|block| (block < ftl.shape().blocks_per_unit).then_some(BlockId(block)))
        .filter_map(|block| Some((block, ftl.blocks(0).closed_valid(block)?)))
        .min_by_key(|&(_, valid)| valid)
        .expect("closed blocks");
    let places = (0..ftl.shape().logical_pages).filter_map(|lpn| ftl.lookup(0, lpn));
    let mut live = vec![0; 4];
    places.filter(|place| place.0 == block.0).for_each(|place| live[place.1 as usize / 4] += 1);
    (block.0, live)
}

/// Collecting a block wins whole programs, so one that lacks less than that is left alone, and idle time ends.
#[test]
fn a_block_that_lacks_less_than_a_program_is_not_collected() {
    let written: Vec<u32> = (0..48).chain(0..3).collect();
    let mut bench = Bench::with(&four(), &[&written]);
    assert_eq!(bench.force_idle(0).collected(), []);
    let written: Vec<u32> = (0..48).chain(0..4).collect();
    let mut bench = Bench::with(&four(), &[&written]);
    let moves = 3 * (1_000 + 5_000) + 12 * 2 * 75;
    assert_eq!(bench.force_idle(0).collected(), [(0, moves + 20_000)]);
    assert_eq!(programmed(&bench, IoCause::Gc), (12, 0));
}

/// Units that the host overwrites between their read and their program are left out, and counted.
#[test]
fn units_that_are_overwritten_meanwhile_are_not_programmed() {
    let mut config = four();
    config.gc.schedule = "preemptive".into();
    // Above hard, so that the host goes between the steps.
    config.gc.soft_threshold = Amount::AboveHard(1);
    let written = low(0b0111, 0b0001);
    assert_eq!(with_first(&config, &written[..80]).device.ftl().free_blocks(0), 3);
    // The first page is read until 1,225; then the host writes so many units of it, from unit 0 on. The second page has one unit.
    for overwritten in 0..=3 {
        let mut bench = with_first(&config, &written[..96]);
        assert_eq!(bench.device.ftl().free_blocks(0), 2);
        bench.force(0);
        if overwritten > 0 {
            bench.write(500, 1, 0, overwritten);
        }
        bench.collected();
        let (counters, moved) = (bench.device.counters(), 4 - overwritten);
        assert_eq!((counters.inside.superseded_moves, counters.victim_pages_moved), (overwritten, moved));
        assert_eq!(programmed(&bench, IoCause::Gc), (4, overwritten * PAGE));
    }
}

/// A program takes four of seven units that were read. Of the three that it leaves, one is overwritten meanwhile.
#[test]
fn units_that_a_program_leaves_may_be_overwritten_before_the_next_one() {
    let mut config = four();
    config.gc.schedule = "preemptive".into();
    // Above hard with the block that the moved units go to.
    config.gc.soft_threshold = Amount::AboveHard(2);
    let mut bench = with_first(&config, &low(0b0111, 0b1111)[..80]);
    // Two pages are read until 2,525, and units 0, 1, 2 and 4 programmed until 7,825.
    bench.force(0).write(3_000, 1, 5, 1);
    bench.collected();
    let counters = bench.device.counters();
    assert_eq!((counters.inside.superseded_moves, counters.victim_pages_moved), (1, 6));
    assert_eq!(programmed(&bench, IoCause::Gc), (8, 2 * PAGE));
}

/// What a unit of the closed form writes in all for each page of the host, greedy or first-in first-out.
fn measured(victim: &str, units: u32) -> f64 {
    amplified(victim, (8_176, units), LastProgram::Padded)
}

/// The same of blocks of so many units, and so many in a program.
fn amplified(victim: &str, (slots, units): (u32, u32), last: LastProgram) -> f64 {
    let mut config = one_die();
    config.geometry.blocks_per_plane = 64;
    config.geometry.page_size = 512 * units;
    config.geometry.pages_per_block = slots / units;
    config.gc.last_program = last;
    config.ftl.mapping_unit = Some(512);
    config.ftl.reserved_blocks = Amount::Blocks(14);
    config.ftl.frontiers = Frontiers::Shared;
    config.gc.victim = victim.into();
    config.timing.copyback = Copyback::None;
    let mut ftl = Ftl::new(&config, 1, "device").unwrap();
    let shape = ftl.shape().clone();
    assert_eq!((shape.data_pages, shape.logical_pages), (slots, 50 * slots));
    let victim = harmonia_ssd::gc::victim::build(&config.gc.victim).unwrap();
    let mut rng = Rng::stream(7, "units/uniform");
    let write = |ftl: &mut Ftl, lpn| {
        let mut unit = ftl.unit(0);
        while unit.free() <= shape.hard {
            let goal = Goal { stop: shape.hard, min_victims: 1 };
            unit.collect(goal, &*victim, &NoReads, SimTime::ZERO, &mut NoProbe).unwrap();
        }
        unit.program(lpn, IoCause::Host, None, &mut NoProbe).unwrap();
    };
    (0..shape.logical_pages).for_each(|lpn| write(&mut ftl, lpn));
    let mut overwrite = |ftl: &mut Ftl, times| {
        for _ in 0..times * shape.logical_pages {
            write(ftl, rng.below(shape.logical_pages.into()) as u32);
        }
    };
    overwrite(&mut ftl, 3);
    let before = ftl.tally();
    overwrite(&mut ftl, 3);
    let after = ftl.tally();
    ftl.audit();
    let host = after.programs[IoCause::Host as usize] - before.programs[IoCause::Host as usize];
    (after.data_programs() - before.data_programs()) as f64 / host as f64
}

/// To eight digits, on every machine alike.
pub fn exponential(x: f64) -> f64 {
    (0..26).fold(1.0 + x / f64::from(1 << 26), |power, _| power * power)
}

/// Of 64 blocks, 50 of data, one free and one open, under uniform random overwrites, first in first out: a page of a victim is live
/// if it was not overwritten while others were written, `v = exp(-(1 - v) T / U)` (Desnoyers, SYSTOR 2012). A victim's pages
/// waited for 62 blocks if they were moved there, for they are the first of their block, and for half a block less if the
/// host wrote them.
fn first_in_first_out() -> f64 {
    let mut live = 0.5_f64;
    for _ in 0..500 {
        let after = |blocks: f64| exponential(-(1.0 - live) * blocks / 50.0);
        live = live * after(62.0) + (1.0 - live) * after(61.5);
    }
    1.0 / (1.0 - live)
}

/// Blocks of as many units amplify writes alike, however many units lie in a page.
#[test]
fn write_amplification_follows_the_units_of_a_block() {
    for victim in ["fifo", "greedy"] {
        let [one, four, sixteen] = [1, 4, 16].map(|units| measured(victim, units));
        eprintln!(
            "{victim}: {one:.4} {four:.4} {sixteen:.4}, closed form of fifo {:.4}",
            first_in_first_out()
        );
        for (units, found) in [(4, four), (16, sixteen)] {
            let error = found / one - 1.0;
            assert!(error.abs() < 0.01, "{victim}: {units} units a page {found}, one {one}");
        }
        if victim == "fifo" {
            let error = one / first_in_first_out() - 1.0;
            assert!(error.abs() < 0.01, "{one} differs from the closed form by {error}");
        }
    }
}

/// Victims hold nearly the same number of live units, so that with padding each costs a whole number of programs. Filled, it costs
/// what it holds.
#[test]
fn filled_programs_amplify_writes_like_programs_of_one_unit() {
    for victim in ["greedy", "fifo"] {
        let one = amplified(victim, (256, 1), LastProgram::Padded);
        let [padded, filled] =
            [LastProgram::Padded, LastProgram::Filled].map(|last| amplified(victim, (256, 16), last));
        eprintln!("{victim}: {one:.4}, padded {padded:.4}, filled {filled:.4}");
        assert!(padded / one > 1.03, "{victim}: padded {padded}, one unit a program {one}");
        assert!((filled / one - 1.0).abs() < 0.01, "{victim}: filled {filled}, one unit a program {one}");
    }
}

type Change<'a> = &'a dyn Fn(&mut SsdConfig);

#[test]
fn what_cannot_be_packed_is_refused_with_its_reason() {
    let refused = |change: Change<'_>| {
        let mut config = four();
        change(&mut config);
        config.resolve().map(|_| ()).unwrap_err().to_string()
    };
    let cases: [(&str, Change<'_>); 10] = [
        ("a unit of several pages", &|config| config.ftl.mapping_unit = Some(32_768)),
        ("must be a multiple", &|config| config.ftl.mapping_unit = Some(3 * 512)),
        ("copyback", &|config| config.timing.copyback = Copyback::Die),
        ("multi_plane", &|config| config.ftl.multi_plane = true),
        ("summary", &|config| config.geometry.summary_pages = 1),
        ("must divide", &|config| config.geometry.program_planes = 2),
        ("must be a multiple of it; 3", &|config| config.geometry.program_pages = 3),
        ("1 to 3 types", &|config| config.geometry.program_pages = 4),
        ("io-parallel", &|config| config.gc.schedule = "io-parallel".into()),
        ("at most 8388607", &|config| {
            (config.geometry.page_size, config.ftl.mapping_unit) = (192 * 512, Some(512));
            config.geometry.pages_per_block = 65_535;
        }),
    ];
    for (reason, change) in cases {
        let why = refused(change);
        assert!(why.contains(reason), "{reason}: {why}");
    }
    // Spare that blocks cannot be won by is asked for.
    let why = refused(&|config| config.ftl.reserved_blocks = Amount::Blocks(4));
    assert!(why.contains("at least 5 spare blocks"), "{why}");
}

/// A unit of 16 KiB lies in four planes of 4 KiB pages. A write of 4 KiB reads all of it, and programs all of it: 1,000 and 4 x 300 out,
/// 4 x 300 in and 5,000. A read of 4 KiB takes what one of the unit takes, and so does a write of a whole unit.
#[test]
fn a_write_of_a_part_of_a_wide_unit_reads_and_programs_the_unit() {
    let mut config = one_die();
    config.geometry.planes_per_die = 4;
    config.geometry.program_planes = 4;
    config.ftl.mapping_unit = Some(4 * PAGE as u32);
    let config = config.widened().expect("it works");
    let link = 4 * LINK;
    let mut bench = Bench::with(&config, &[&[0, 1]]);
    let blame = |service, transfer| Blame { service, transfer, link, ..Blame::default() };
    bench.write(0, 1, 1, 1).known_at(8_680, 1, 8_680, blame(6_000, 2_400));
    bench.write(10_000, 2, 4, 4).known_at(16_480, 2, 16_480, blame(5_000, 1_200));
    bench.read(20_000, 3, 2, 1).known_at(22_200, 3, 22_480, blame(1_000, 1_200));
    // Two had been written before.
    assert_eq!(bench.device.counters().programs[IoCause::Host as usize], 2 + 2);
}
