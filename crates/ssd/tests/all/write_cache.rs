//! A write cache in front of the dies: when writes are answered, what waits for what, and whether every page still holds what it should.
//!
//! ```text
//! link 70   ack 10   page in 300   tPROG 5,000      a program that is handed over at t ends at t + 5,300
//! ```
//!
//! Devices whose programs carry four units have those of [`units`](crate::units), and no link.

mod contents;
mod fua;
pub mod programs;
mod saturation;

use std::collections::{BTreeMap, BTreeSet};

use crate::bench::*;
use crate::random::pick;
use crate::superblocks::drive;
use crate::units::four;
use harmonia_engine::Rng;
use harmonia_flash::{Copyback, PageTimes};
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::probe::{AnyProbe, AuditProbe, FlashPage, NoProbe, Origin, Probe, any, probe_as};
use harmonia_ssd::{
    Allocation, Amount, Device, Drain, Ftl, LastProgram, Pacing, SsdConfig, SubRequest, WriteCacheConfig,
};
use harmonia_types::{
    Blame, DeviceCounters, IoCause, Lpn, Operation, Ppn, SimDuration, SimTime, WriteCacheCounters,
};

const ACK: u64 = 10;
const PROGRAM: u64 = 5_300;

/// A cache of so many pages.
fn cached(config: SsdConfig, pages: u64) -> SsdConfig {
    let write_cache =
        WriteCacheConfig { size: Some(pages * PAGE), ack: SimDuration(ACK), ..WriteCacheConfig::default() };
    SsdConfig { write_cache, ..config }
}

fn without_power(mut config: SsdConfig) -> SsdConfig {
    config.write_cache.power_protected = false;
    config
}

fn flush(token: u32) -> SubRequest {
    SubRequest { length: 0, ..sub(token, Operation::Flush, 0, 1) }
}

/// A write that found a place at once.
fn answered() -> Blame {
    Blame { service: ACK, link: LINK, ..Blame::default() }
}

/// A write that waited so long for its place.
fn waited(cache_wait: u64) -> Blame {
    Blame { cache_wait, ..answered() }
}

fn counted(bench: &Bench) -> WriteCacheCounters {
    bench.device.counters().write_cache
}

/// Units that the host's programs wrote, and bytes of them that are padding.
fn written(bench: &Bench) -> (u64, u64) {
    (programs(bench), bench.device.counters().padding[IoCause::Host as usize])
}

fn programs(bench: &Bench) -> u64 {
    bench.device.counters().programs[IoCause::Host as usize]
}

#[test]
fn a_write_is_answered_when_the_cache_has_it_and_not_when_it_is_programmed() {
    let mut bench = Bench::empty(&cached(one_die(), 4));
    bench.write(0, 1, 0, 1).known_at(LINK, 1, LINK + ACK, answered());
    assert_eq!(programs(&bench), 1, "its program has begun");
    bench.advance(LINK + PROGRAM - 1);
    assert_eq!(bench.device.status(SimTime(LINK + PROGRAM - 1)).queue_depth, 1, "and is not done");
    bench.advance(LINK + PROGRAM);
    assert!(bench.device.is_quiet());
}

/// Two slots, one die. The third write waits for the first program; the fourth for the second, in order, though its data is there.
#[test]
fn the_write_that_finds_no_slot_waits_for_the_program_that_frees_one() {
    let mut bench = Bench::empty(&cached(one_die(), 2));
    for page in 0..4 {
        bench.write(0, page + 1, page.into(), 1);
    }
    bench.known_by(70, 1, 80, answered());
    bench.known_by(140, 2, 150, Blame { link: 140, ..answered() });
    let first = LINK + PROGRAM;
    bench.known_at(first, 3, first + ACK, Blame { link: 210, ..waited(first - 210) });
    let second = first + PROGRAM;
    bench.known_at(second, 4, second + ACK, Blame { link: 280, ..waited(second - 280) });
    let counters = counted(&bench);
    assert_eq!((counters.admitted_pages, counters.waits, counters.high_water_pages), (4, 2, 2));
    assert_eq!(counters.wait_ns, first - 210 + second - 280);
    assert_eq!(counters.waits_for_gc, 0);
}

/// A write that could be absorbed stands behind one that finds no place: the order is kept.
#[test]
fn nothing_overtakes_in_line() {
    let mut bench = Bench::empty(&cached(one_die(), 2));
    // Page 0 is programmed, page 1 waits; page 2 finds no slot. Then page 1 again.
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).write(0, 3, 2, 1).write(0, 4, 1, 1);
    let first = LINK + PROGRAM;
    bench.known_at(first, 3, first + ACK, Blame { link: 210, ..waited(first - 210) });
    // Page 1 was handed over at that moment, so its second version needs a slot of its own.
    let second = first + PROGRAM;
    bench.known_at(second, 4, second + ACK, Blame { link: 280, ..waited(second - 280) });
    assert_eq!(counted(&bench).absorbed_pages, 0);
}

#[test]
fn a_page_that_waits_is_overwritten_in_the_cache_and_programmed_once() {
    let mut bench = Bench::empty(&cached(one_die(), 8));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).write(1_000, 3, 1, 1);
    bench.known_by(1_070, 3, 1_080, answered());
    bench.advance(LINK + 2 * PROGRAM);
    assert!(bench.device.is_quiet());
    assert_eq!((programs(&bench), counted(&bench).admitted_pages, counted(&bench).absorbed_pages), (2, 2, 1));
}

#[test]
fn a_page_on_its_way_to_flash_is_not_overwritten_there() {
    let mut bench = Bench::empty(&cached(one_die(), 8));
    bench.write(0, 1, 0, 1).write(1_000, 2, 0, 1);
    bench.known_by(1_070, 2, 1_080, answered());
    bench.advance(LINK + 2 * PROGRAM);
    assert!(bench.device.is_quiet());
    assert_eq!((programs(&bench), counted(&bench).absorbed_pages), (2, 0));
}

/// From the cache a read takes the link and nothing else, while its page waits and while that is programmed.
#[test]
fn reads_of_pages_that_wait_or_are_on_their_way_are_answered_from_the_cache() {
    let mut bench = Bench::empty(&cached(one_die(), 8));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1);
    let link = Blame { link: LINK, ..Blame::default() };
    bench.read(1_000, 3, 0, 1).known_by(1_000, 3, 1_070, link);
    bench.read(2_000, 4, 1, 1).known_by(2_000, 4, 2_070, link);
    assert_eq!(bench.device.counters().host_pages_read, 0);
    assert_eq!(counted(&bench).answered_pages, 2);
    // On flash it is read there: page 0 waits for the program of page 1.
    let second = LINK + 2 * PROGRAM;
    bench.read(second - 1_000, 5, 0, 1);
    bench.known_at(second + 1_300, 5, second + 1_370, Blame { queue_host: 1_000, ..read_blame() });
}

/// The only slot is page 0's until 5,370. The data of page 1 is over the link at 140, and a read of it follows it there, whenever it comes.
#[test]
fn a_read_of_a_page_in_line_is_answered_when_its_data_is_over_the_link() {
    let mut bench = Bench::empty(&cached(one_die(), 1));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).read(0, 3, 1, 1);
    bench.known_by(0, 3, 140 + LINK, Blame { link: 140 + LINK, ..Blame::default() });
    let link = Blame { link: LINK, ..Blame::default() };
    bench.read(1_000, 4, 1, 1).known_by(1_000, 4, 1_000 + LINK, link);
    assert_eq!((counted(&bench).answered_pages, bench.device.counters().host_pages_read), (2, 0));
    let first = LINK + PROGRAM;
    bench.known_at(first, 2, first + ACK, Blame { link: 140, ..waited(first - 140) });
}

/// Of a page that is in line in part, or to be trimmed, a read waits for its turn: at 5,370, when the program of page 0 gives its slot away. The half of
/// page 1 is programmed then, and the read follows it; the trim of page 2 makes a read cost the link.
#[test]
fn a_read_of_a_page_in_line_that_is_not_there_as_a_whole_waits_for_its_turn() {
    let first = LINK + PROGRAM;
    let half = SubRequest { length: PAGE / 2, ..sub(2, Operation::Write, 1, 1) };
    let mut bench = Bench::with(&cached(one_die(), 1), &[&[0, 1]]);
    bench.write(0, 1, 0, 1).submit(0, half).read(1_000, 3, 1, 1);
    let end = first + 1_000 + 300 + PROGRAM;
    let blame = Blame { link: first - 1_000 + LINK, queue_host: end - first, ..read_blame() };
    bench.known_at(end + 1_300, 3, end + 1_300 + LINK, blame);
    let mut bench = Bench::with(&cached(one_die(), 1), &[&[2]]);
    let trim = sub(3, Operation::Trim, 2, 1);
    bench.write(0, 1, 0, 1).write(0, 2, 2, 1).submit(1_000, trim).read(2_000, 4, 2, 1).advance(first);
    assert!(bench.find(4).is_none_or(|done| done.finish >= SimTime(first)));
    bench.advance(100_000);
    assert!(bench.find(4).is_some() && counted(&bench).answered_pages == 0);
}

/// Half a page is in the cache: a read of the page has to follow it to flash.
#[test]
fn a_read_of_a_page_that_is_there_in_part_follows_it_to_flash() {
    let mut bench = Bench::with(&cached(one_die(), 8), &[&[0, 1]]);
    let half = |token, page| SubRequest { length: PAGE / 2, ..sub(token, Operation::Write, page, 1) };
    bench.write(0, 1, 5, 1).submit(0, half(2, 1)).read(1_000, 3, 1, 1);
    // Program of page 5; read, transfer and program of page 1; then its read.
    let rest = LINK + PROGRAM + 1_000 + 300 + PROGRAM;
    let blame = Blame { queue_host: rest - 1_000, ..read_blame() };
    bench.known_at(rest + 1_300, 3, rest + 1_370, blame);
    assert_eq!(bench.device.counters().padding[IoCause::Host as usize], PAGE / 2);
}

/// Two halves make a page: it needs no read before its program.
#[test]
fn parts_of_a_page_add_up_while_it_waits() {
    let mut bench = Bench::with(&cached(one_die(), 8), &[&[0, 1]]);
    let half = |token, half: u64| SubRequest {
        offset: PAGE + half * PAGE / 2,
        length: PAGE / 2,
        ..sub(token, Operation::Write, 1, 1)
    };
    bench.write(0, 1, 5, 1).submit(0, half(2, 0)).submit(0, half(3, 1)).advance(LINK + 2 * PROGRAM);
    assert!(bench.device.is_quiet());
    let DeviceCounters { read_modify_write_reads, padding, .. } = bench.device.counters();
    assert_eq!((programs(&bench), read_modify_write_reads, padding[IoCause::Host as usize]), (2 + 2, 0, 0));
}

/// Page 1 is on flash and waits in the cache, too. The trim is answered when the cache has dropped that; its slot is free when the die has
/// unmapped the old data, behind the program of page 0.
#[test]
fn a_trim_drops_what_waits_and_is_answered_at_once() {
    let mut bench = Bench::with(&cached(one_die(), 2), &[&[1]]);
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1);
    let trimmed = Blame { service: ACK, ..Blame::default() };
    bench.submit(1_000, sub(3, Operation::Trim, 1, 1)).known_by(1_000, 3, 1_010, trimmed);
    assert_eq!(counted(&bench).trimmed_pages, 1);
    let first = LINK + PROGRAM;
    bench.write(2_000, 4, 2, 1).known_at(first, 4, first + ACK, waited(first - 2_070));
    let holds = |bench: &Bench, lpn| bench.device.ftl().lookup(0, lpn).is_some();
    assert_eq!([0, 1].map(|lpn| holds(&bench, lpn)), [true, false]);
    let nowhere = Blame { link: LINK, ..Blame::default() };
    bench.read(first + 1, 5, 1, 1).known_by(first + 1, 5, first + 1 + LINK, nowhere);
    assert_eq!(counted(&bench).answered_pages, 0);
    assert_eq!(programs(&bench), 1 + 2, "page 1 was not programmed again");
}

#[test]
fn a_trim_of_a_page_on_its_way_follows_it_to_flash() {
    let mut bench = Bench::empty(&cached(one_die(), 2));
    bench.write(0, 1, 0, 1).submit(1_000, sub(2, Operation::Trim, 0, 1)).read(2_000, 3, 0, 1);
    let first = LINK + PROGRAM;
    bench.known_at(first, 2, first, Blame { queue_host: first - 1_000, ..Blame::default() });
    assert!(bench.device.ftl().lookup(0, 0).is_none(), "it was programmed, then unmapped");
    assert_eq!((programs(&bench), counted(&bench).trimmed_pages, counted(&bench).answered_pages), (1, 0, 0));
    bench.known_by(
        first,
        3,
        first + LINK,
        Blame { queue_host: first - 2_000, link: LINK, ..Blame::default() },
    );
}

/// Old data on flash, new data acknowledged in the cache, and a trim of it: what power cuts short must not bring the old data back.
#[test]
fn a_loss_of_power_after_a_trim_does_not_bring_back_what_was_overwritten() {
    let mut bench = Bench::with(&cached(one_die(), 4), &[&[1]]);
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).submit(1_000, sub(3, Operation::Trim, 1, 1)).advance(2_000);
    bench.device.lose_power(SimTime(2_000));
    bench.advance(100_000);
    assert!(bench.device.is_quiet());
    assert_eq!([0, 1].map(|lpn| bench.device.ftl().lookup(0, lpn).is_some()), [true, false]);
}

#[test]
fn a_flush_has_nothing_to_wait_for_where_power_is_stored() {
    let mut bench = Bench::empty(&cached(one_die(), 8));
    bench.write(0, 1, 0, 1).submit(1_000, flush(2)).known_by(1_000, 2, 1_000, Blame::default());
}

/// Two writes before the flush, one of them in line; the one behind it does not count.
#[test]
fn a_flush_without_stored_power_waits_for_all_that_came_before_it() {
    let mut bench = Bench::empty(&without_power(cached(one_die(), 1)));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).submit(1_000, flush(3)).write(1_000, 4, 2, 1);
    let second = LINK + 2 * PROGRAM;
    bench.known_at(second, 3, second, Blame { cache_wait: second - 1_000, ..Blame::default() });
    bench.submit(second + PROGRAM, flush(5));
    bench.known_by(second + PROGRAM, 5, second + PROGRAM, Blame::default());
}

/// A write that goes over one from before the flush changes nothing: that one is still on its way.
#[test]
fn a_flush_waits_for_a_page_that_is_overwritten_meanwhile() {
    let mut bench = Bench::empty(&without_power(cached(one_die(), 4)));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).submit(1_000, flush(3)).write(1_000, 4, 1, 1);
    let second = LINK + 2 * PROGRAM;
    bench.known_at(second, 3, second, Blame { cache_wait: second - 1_000, ..Blame::default() });
    assert_eq!(counted(&bench).absorbed_pages, 1);
}

/// A die that collects holds the only slot. The write that waits for it has that part of its wait in `queue_gc`, and only such a write met
/// collection.
#[test]
fn collection_counts_where_it_kept_the_cache_full() {
    let mut bench = Bench::aged(&cached(one_die(), 1), &[0]);
    bench.write(0, 1, 0, 1);
    let first = bench.known_at(70, 1, 80, answered());
    assert!(!first.met_gc, "it was answered before its die collected");
    bench.write(1_000, 2, 1, 1);
    let intervals = bench.collected();
    let [(from, until)] = intervals[..] else { panic!("{intervals:?}") };
    assert_eq!(from, LINK, "the die collects before it programs page 0");
    let freed = until + PROGRAM;
    let queue_gc = until - 1_070;
    let blame = Blame { queue_gc, ..waited(freed - 1_070 - queue_gc) };
    let second = bench.known_by(freed, 2, freed + ACK, blame);
    assert!(second.met_gc);
    assert_eq!((counted(&bench).waits, counted(&bench).waits_for_gc), (1, 1));
}

/// A write that asks to fail fast waits for no die, and is not refused though its die collects.
#[test]
fn a_write_that_fails_fast_is_taken_and_a_read_of_a_cached_page_answered() {
    let mut bench = Bench::aged(&cached(one_die(), 4), &[0]);
    bench.write(0, 1, 0, 1).advance(1_000);
    assert_eq!(bench.device.collecting_dies().count(), 1);
    let hasty = |token, operation, page| SubRequest { fast_fail: true, ..sub(token, operation, page, 1) };
    bench.submit(1_000, hasty(2, Operation::Write, 1)).known_by(1_070, 2, 1_080, answered());
    let link = Blame { link: LINK, ..Blame::default() };
    bench.submit(2_000, hasty(3, Operation::Read, 1)).known_by(2_000, 3, 2_070, link);
    assert!(bench.device.refusals().is_empty());
    bench.submit(2_000, hasty(4, Operation::Read, 2));
    assert_eq!(bench.device.refusals().len(), 1, "a read of flash is refused as ever");
    let is_kept = |page: u64| bench.device.collection_left_in(page * PAGE, PAGE, SimTime(2_000)).is_some();
    assert_eq!([1, 2].map(is_kept), [false, true]);
}

/// The die collects, and keeps the only slot. A write that waits for it has its data in memory: a read of that fails as little as one of what has a
/// slot. Of half a page in line a read would wait for the die, so it is refused on arrival.
#[test]
fn a_read_of_a_page_in_line_that_fails_fast_is_answered_and_one_of_half_of_it_refused() {
    let mut bench = Bench::aged(&cached(one_die(), 1), &[0]);
    let half = SubRequest { length: PAGE / 2, ..sub(3, Operation::Write, 2, 1) };
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).submit(0, half).advance(1_000);
    assert_eq!(bench.device.collecting_dies().count(), 1);
    let hasty = |token, page| SubRequest { fast_fail: true, ..sub(token, Operation::Read, page, 1) };
    let link = Blame { link: LINK, ..Blame::default() };
    for (token, page) in [(4, 0), (5, 1)] {
        bench.submit(1_000, hasty(token, page));
        let finish = 1_000 + LINK * u64::from(token - 3);
        bench.known_by(1_000, token, finish, Blame { link: finish - 1_000, ..link });
    }
    assert!(bench.device.refusals().is_empty());
    bench.submit(1_000, hasty(6, 2));
    let refused: Vec<_> = bench.device.refusals().drain(..).map(|of| (of.token, of.at)).collect();
    assert_eq!(refused, [(6, SimTime(1_000))]);
    let is_kept = |page: u64| bench.device.collection_left_in(page * PAGE, PAGE, SimTime(1_000)).is_some();
    assert_eq!([0, 1, 2].map(is_kept), [false, false, true]);
}

/// Two reads of flash wait behind a program when collection is ordered: the one that asks to fail fast is refused then.
#[test]
fn a_read_behind_the_cache_that_fails_fast_is_refused_when_an_event_is_admitted_ahead_of_it() {
    let mut bench = Bench::with(&cached(one_die(), 4), &[&TWO_FREE[..22]]);
    bench.write(0, 1, 0, 1).read(100, 2, 2, 1);
    bench.submit(150, SubRequest { fast_fail: true, ..sub(3, Operation::Read, 3, 1) });
    assert!(bench.advance(199).device.refusals().is_empty(), "nothing collects yet");
    bench.force(200);
    let refused: Vec<_> =
        bench.device.refusals().drain(..).map(|refusal| (refusal.token, refusal.at)).collect();
    assert_eq!(refused, [(3, SimTime(200))]);
    // The same of two that arrive while the die is about to collect.
    bench.read(300, 4, 4, 1);
    bench.submit(300, SubRequest { fast_fail: true, ..sub(5, Operation::Read, 5, 1) });
    let refused: Vec<_> =
        bench.device.refusals().drain(..).map(|refusal| (refusal.token, refusal.at)).collect();
    assert_eq!(refused, [(5, SimTime(300))]);
    assert_eq!(bench.collected().len(), 1);
    let answered = [1, 2, 3, 4, 5].map(|token| bench.find(token).is_some());
    assert_eq!(answered, [true, true, false, true, false]);
}

/// Where dies share their blocks, a page that was never written is in no die: a read costs the link, and a trim nothing.
#[test]
fn pages_of_superblocks_that_were_never_written_are_read_and_trimmed_at_no_die() {
    let mut bench = Bench::empty(&cached(drive(2, 16), 4));
    bench.read(100, 1, 5, 1).known_by(100, 1, 100 + LINK, Blame { link: LINK, ..Blame::default() });
    bench.submit(500, sub(2, Operation::Trim, 6, 1)).known_by(500, 2, 500, Blame::default());
    assert_eq!(bench.device.counters().host_pages_read, 0);
}

/// A write that only the cache has, or a read that it answers, is the host at work. What the array does for itself is not.
#[test]
fn idle_time_collection_behind_the_cache_ends_when_the_host_comes_and_not_when_the_array_does() {
    let victims = |after: SubRequest| {
        let mut bench = Bench::aged(&cached(one_die(), 4), &[]);
        bench.force_idle(10).submit(2_000, after).collected();
        assert!(bench.find(2).is_some());
        bench.device.counters().gc_victims
    };
    let background = |operation| SubRequest { background: true, ..sub(2, operation, 1, 1) };
    for operation in [Operation::Read, Operation::Write] {
        assert_eq!(victims(sub(2, operation, 1, 1)), 1, "the host");
        assert!(victims(background(operation)) > 1, "the array");
    }
}

#[test]
fn a_device_whose_cache_is_not_empty_is_not_idle() {
    // Two pages of its open block are free, so that it does not collect on its own. Nothing is handed over behind the page, which would
    // end an idle-time collection that had been admitted.
    let mut bench = Bench::with(&cached(one_die(), 4), &[&TWO_FREE[..22]]);
    bench.write(0, 1, 0, 1).advance(1_000);
    assert_eq!(bench.known.len(), 1, "it is answered, and is being programmed");
    bench.force_idle(1_000);
    assert_eq!(bench.collected(), [], "idle time has not begun");
    bench.force_idle(50_000);
    assert!(!bench.collected().is_empty(), "now it has");
}

/// What the cache has outlives a loss of power, what is in line does not.
#[test]
fn a_loss_of_power_takes_what_is_in_line() {
    let mut bench = Bench::empty(&cached(one_die(), 2));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).write(0, 3, 2, 1).advance(1_000);
    bench.device.lose_power(SimTime(1_000));
    bench.device.audit();
    bench.advance(100_000);
    let holds = |lpn| bench.device.ftl().lookup(0, lpn).is_some();
    assert_eq!([0, 1, 2].map(holds), [true, true, false]);
    assert_eq!(bench.known.len(), 2);
    assert!(bench.device.is_quiet());
}

#[test]
fn a_device_that_has_failed_has_nothing_in_its_cache() {
    let mut bench = Bench::empty(&cached(one_die(), 2));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).write(0, 3, 2, 1).advance(1_000);
    bench.device.fail(SimTime(1_000));
    assert_eq!(bench.device.next_wakeup(), SimTime::NEVER);
    bench.advance(100_000);
    assert_eq!((bench.known.len(), programs(&bench)), (2, 1));
}

/// Where any die may take a page, it goes to one that does not collect.
#[test]
fn pages_go_from_the_cache_to_a_die_that_does_not_collect() {
    let mut config = two_dies();
    config.ftl.allocation = Allocation::Dynamic;
    let low = [TWO_FREE, &[12]].concat();
    let mut bench = Bench::with(&cached(config, 8), &[&low, &[0, 1]]);
    bench.force(0);
    for page in 0..6 {
        bench.write(100, page, 20 + u64::from(page), 1);
    }
    bench.advance(15_000);
    assert_eq!(Vec::from_iter(bench.device.collecting_dies()), [0]);
    bench.advance(20_000);
    let homes: Vec<_> = (20..24).map(|lpn| bench.device.ftl().home(lpn)).collect();
    assert_eq!((homes, bench.known.len()), (vec![Some(1); 4], 6));
    bench.advance(200_000);
    assert!(bench.device.is_quiet());
}
