//! What does the controller of a drive take of a command, and what of a unit that it moves? Literal nanoseconds, and the rate at saturation
//! against its closed form.
//!
//! ```text
//! command 40   link 70   ack 10   page in 300   tPROG 5,000   array read 1,000   page out 300
//! ```

use crate::bench::*;
use crate::sharing::{Counted, modern, saturated};
use crate::superblocks::behind_a_cache;
use crate::units::four;
use crate::write_cache::programs::in_parts;
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::{
    Allocation, Arbitration, ControllerConfig, Drain, SsdConfig, SubRequest, Trigger, WriteCacheConfig,
};
use harmonia_types::{Blame, IoCause, Operation, SimDuration, SimTime};

const ACK: u64 = 10;
const PROGRAM: u64 = 5_300;

fn with_overhead(mut config: SsdConfig) -> SsdConfig {
    config.controller.command_overhead = SimDuration(40);
    config
}

/// A cache of so many pages, of which so many leave it in a second.
fn gated(mut config: SsdConfig, pages: u64, units_per_second: u32) -> SsdConfig {
    config.write_cache =
        WriteCacheConfig { size: Some(pages * PAGE), ack: SimDuration(ACK), ..WriteCacheConfig::default() };
    config.controller.units_per_second = Some(units_per_second);
    config
}

fn programs(bench: &Bench) -> u64 {
    bench.device.counters().programs[IoCause::Host as usize]
}

/// The next unit of the host is programmed at `t`, and not before.
fn programmed_at(bench: &mut Bench, t: u64, all: u64) {
    bench.advance(t - 1);
    assert_eq!(programs(bench), all - 1, "programs at {}", t - 1);
    bench.advance(t);
    assert_eq!(programs(bench), all, "programs at {t}");
}

#[test]
fn a_command_takes_the_controller_first() {
    let config = with_overhead(two_dies());
    let mut bench = Bench::with(&config, &[&[0], &[0]]);
    bench.read(0, 1, 0, 1).known_at(1_340, 1, 1_410, Blame { controller: 40, ..read_blame() });
    bench.write(5_000, 2, 1, 1).known_at(10_410, 2, 10_410, Blame { controller: 40, ..write_blame() });
}

/// Two reads of two dies; the third comes when the controller has the second one.
#[test]
fn commands_take_it_one_after_the_other() {
    let config = with_overhead(two_dies());
    let mut bench = Bench::with(&config, &[&[0], &[0]]);
    bench
        .read(0, 1, 0, 1)
        .read(0, 2, 1, 1)
        .submit(50, SubRequest { length: 0, ..sub(3, Operation::Flush, 0, 1) });
    bench.known_by(120, 3, 120, Blame { controller: 70, ..Blame::default() });
    bench.known_at(1_340, 1, 1_410, Blame { controller: 40, ..read_blame() });
    bench.known_at(1_380, 2, 1_480, Blame { controller: 80, link: 100, ..read_blame() });
}

/// Its pages are one command. The link's latency comes before, and is not the controller's.
#[test]
fn a_command_of_several_pages_takes_it_once() {
    let mut config = with_overhead(two_dies());
    config.link.latency = SimDuration(500);
    let mut bench = Bench::with(&config, &[&[0], &[0]]);
    let last = Blame { controller: 40, link: 500 + 2 * LINK, ..read_blame() };
    bench.read(0, 1, 0, 2).known_at(1_840, 1, 1_980, last);
    let trim = sub(2, Operation::Trim, 0, 2);
    bench.submit(5_000, trim).known_at(
        5_540,
        2,
        5_540,
        Blame { controller: 40, link: 500, ..Blame::default() },
    );
}

/// What is refused has been in the controller as well: the die collects from 0 on.
#[test]
fn a_refusal_says_so_too() {
    let mut bench = Bench::aged(&with_overhead(one_die()), &[0]);
    bench.device.direct(SimTime(0), Directive::Force(Stop::Internal));
    bench.submit(10, SubRequest { fast_fail: true, ..sub(1, Operation::Read, 0, 1) }).advance(50);
    let refused: Vec<_> =
        bench.device.refusals().drain(..).map(|refused| (refused.at.0, refused.blame)).collect();
    assert_eq!(refused, [(50, Blame { controller: 40, ..Blame::default() })]);
}

#[test]
fn after_a_loss_of_power_the_controller_is_free() {
    let mut bench = Bench::with(&with_overhead(one_die()), &[&[0]]);
    bench.read(0, 1, 0, 1).read(0, 2, 0, 1).advance(10).device.lose_power(SimTime(10));
    bench.read(10, 3, 0, 1).known_at(1_350, 3, 1_420, Blame { controller: 40, ..read_blame() });
    assert_eq!((bench.find(1), bench.find(2)), (None, None));
}

/// A unit closes the gate for 10,000, whichever die it goes to. The first program is over by then, and the second die idles.
#[test]
fn a_unit_keeps_the_next_one_in_the_cache() {
    let mut bench = Bench::empty(&gated(two_dies(), 4, 100_000));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).write(0, 3, 2, 1);
    bench.known_by(140, 2, 150, Blame { service: ACK, link: 2 * LINK, ..Blame::default() });
    programmed_at(&mut bench, 10_070, 2);
    programmed_at(&mut bench, 20_070, 3);
    assert_eq!(bench.collected(), []);
    assert!(bench.device.is_quiet());
}

/// Two slots. The third write waits for the first program only, the fourth for the second, of which the gate is to blame for what the
/// die was ready before.
#[test]
fn a_write_that_waits_for_the_gate_waits_for_the_controller() {
    let mut bench = Bench::empty(&gated(one_die(), 2, 100_000));
    (0..4).for_each(|page| _ = bench.write(0, page + 1, page.into(), 1));
    let answered = |link, cache_wait, controller| Blame {
        service: ACK,
        link,
        cache_wait,
        controller,
        ..Blame::default()
    };
    let first = LINK + PROGRAM;
    bench.known_at(first, 3, first + ACK, answered(210, first - 210, 0));
    let (opens, second) = (10_070, 10_070 + PROGRAM);
    let kept = opens - first;
    bench.known_at(second, 4, second + ACK, answered(280, second - 280 - kept, kept));
}

/// Programs of four units: each closes the gate for four. A flush lets less than that go, which closes it for less.
#[test]
fn a_program_of_several_units_counts_as_many() {
    let mut config = gated(four(), 16, 100_000);
    config.write_cache.power_protected = false;
    let mut bench = Bench::empty(&config);
    bench.write(0, 1, 0, 8).write(0, 2, 8, 1);
    bench.submit(0, SubRequest { length: 0, ..sub(3, Operation::Flush, 0, 1) });
    bench.advance(39_999);
    assert_eq!(programs(&bench), 4);
    bench.advance(40_000);
    assert_eq!(programs(&bench), 8);
    bench.advance(80_000).write(80_000, 4, 9, 4);
    let padded = 4;
    assert_eq!(programs(&bench), 8 + padded, "the flush has had one unit written");
    programmed_at_least(&mut bench, 90_000, 8 + padded + 4);
}

/// Where dies share their blocks, too: the second program waits, though its die idles.
#[test]
fn a_program_of_a_superblock_counts_as_many() {
    let mut bench = Bench::empty(&gated(behind_a_cache(Allocation::Dynamic), 16, 100_000));
    bench.write(0, 1, 0, 8);
    programmed_at_least(&mut bench, 40_000, 8);
}

/// A die that idles gets four units for one of its planes, and the next four when these have passed the controller.
#[test]
fn parts_of_programs_wait_for_the_controller_though_their_die_idles() {
    let mut config = gated(in_parts(16), 16, 100_000);
    config.write_cache.drain = Drain::Partial;
    let mut bench = Bench::empty(&config);
    bench.write(0, 1, 0, 4).advance(10_000);
    assert!(bench.device.is_quiet());
    bench.write(10_000, 2, 4, 4);
    programmed_at_least(&mut bench, 40_000, 8);
}

fn programmed_at_least(bench: &mut Bench, t: u64, all: u64) {
    bench.advance(t - 1);
    assert!(programs(bench) < all, "programs at {}", t - 1);
    bench.advance(t);
    assert_eq!(programs(bench), all, "programs at {t}");
}

/// The first write finds its die low. Its victim's live pages close the gate, too, and do not wait for it.
#[test]
fn copies_of_collection_count_and_do_not_wait() {
    const UNIT: u64 = 50_000;
    let config = gated(one_die(), 8, 20_000);
    let mut bench = Bench::aged(&config, &[0]);
    let event = event(&config);
    bench.write(0, 1, 2, 1).write(0, 2, 3, 1);
    bench.advance(LINK + event);
    let moved = bench.device.counters().programs[IoCause::Gc as usize];
    assert!(moved > 0 && event < 2 * UNIT, "{moved} pages in {event}");
    let before = programs(&bench);
    programmed_at(&mut bench, LINK + (1 + moved) * UNIT, before + 1);
}

/// The smaller of what dies leave and the cap / W, where W counts what carries data. The cap of the last is beyond what dies do.
#[test]
#[ignore = "long: make simulations"]
fn the_rate_at_saturation_is_the_smaller_of_the_media_rate_and_the_cap() {
    let config = modern(20.0, Trigger::Proportional);
    let measured = |cap: Option<u32>| {
        let mut config = config.clone();
        config.controller.units_per_second = cap;
        let Counted { at, host, moved, padded, .. } = saturated(&config, 250_000);
        let w = (host + moved - padded) as f64 / host as f64;
        (host as f64 * 1e9 / at as f64, w)
    };
    let (media, _) = measured(None);
    for cap in [20_000, 60_000, 100_000, 400_000] {
        let (rate, w) = measured(Some(cap));
        let expected = media.min(f64::from(cap) / w);
        let off = rate / expected - 1.0;
        eprintln!("{cap}/s: {rate:.0}/s, {expected:.0} expected ({:+.2}%), W {w:.2}", 100.0 * off);
        assert!(off.abs() < 0.01, "{cap} units a second: {rate:.0} writes/s and not {expected:.0}");
    }
}

/// A controller of which anything is said is said in a scenario that is written out.
#[test]
fn a_controller_is_none_if_it_neither_limits_nor_takes_time() {
    let with = |change: fn(&mut ControllerConfig)| {
        let mut controller = ControllerConfig::default();
        change(&mut controller);
        controller.is_none()
    };
    assert!(with(|_| ()));
    assert!(!with(|controller| controller.command_window = Some(1)));
    assert!(!with(|controller| controller.arbitration = Arbitration::Fifo));
    assert!(!with(|controller| controller.command_overhead = SimDuration(1)));
    assert!(!with(|controller| controller.units_per_second = Some(1)));
}
