//! A write cache in front of the dies: when writes are answered, what waits for what, and whether every page still holds what it should.
//!
//! ```text
//! link 70   ack 10   page in 300   tPROG 5,000      a program that is handed over at t ends at t + 5,300
//! ```
//!
//! Devices whose programs carry four units have those of [`units`](crate::units), and no link.

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

/// A write with FUA.
fn through(token: u32, page: u64, pages: u64) -> SubRequest {
    SubRequest { fua: true, ..sub(token, Operation::Write, page, pages) }
}

#[test]
fn fua_changes_nothing_where_power_is_stored_or_nothing_is_cached() {
    let mut bench = Bench::empty(&cached(one_die(), 4));
    bench.submit(0, through(1, 0, 1)).known_at(LINK, 1, LINK + ACK, answered());
    assert_eq!(counted(&bench).fua_pages, 0);
    let mut bench = Bench::empty(&one_die());
    bench.submit(0, through(1, 0, 1)).known_at(LINK + PROGRAM, 1, LINK + PROGRAM, write_blame());
}

/// The first is answered with its own program and does not wait for one that came before on another die. The second waits for the die.
#[test]
fn a_write_with_fua_is_answered_when_its_own_program_has_ended() {
    let mut bench = Bench::empty(&without_power(cached(two_dies(), 4)));
    bench.write(0, 1, 0, 1).submit(0, through(2, 1, 1)).submit(0, through(3, 2, 1));
    bench.known_by(LINK, 1, LINK + ACK, answered());
    let second = 2 * LINK + PROGRAM;
    bench.known_at(second, 2, second, Blame { link: 2 * LINK, ..write_blame() });
    let (handed_over, third) = (LINK + PROGRAM, LINK + 2 * PROGRAM);
    let blame = Blame { link: 3 * LINK, cache_wait: handed_over - 3 * LINK, ..write_blame() };
    bench.known_at(third, 3, third, blame);
    assert!(bench.device.is_quiet());
    assert_eq!(counted(&bench).fua_pages, 2);
}

/// A write that goes over one with FUA does not answer it early, and one with FUA that goes over another is answered when the slot is on flash.
#[test]
fn writes_with_fua_that_are_absorbed_are_answered_when_what_went_over_them_is_on_flash() {
    let mut bench = Bench::empty(&without_power(cached(one_die(), 4)));
    bench.write(0, 1, 0, 1).submit(0, through(2, 1, 1)).write(1_000, 3, 1, 1).submit(2_000, through(4, 1, 1));
    bench.known_by(1_070, 3, 1_080, answered());
    let (handed_over, end) = (LINK + PROGRAM, LINK + 2 * PROGRAM);
    let blame = |ready: u64, link| Blame { link, cache_wait: handed_over - ready, ..write_blame() };
    bench.known_at(end, 2, end, blame(2 * LINK, 2 * LINK));
    bench.known_by(end, 4, end, blame(2_070, LINK));
    let WriteCacheCounters { absorbed_pages, fua_pages, .. } = counted(&bench);
    assert_eq!((programs(&bench), absorbed_pages, fua_pages), (2, 2, 2));
}

#[test]
fn a_write_of_several_pages_with_fua_is_answered_with_the_last_of_their_programs() {
    let mut bench = Bench::empty(&without_power(cached(one_die(), 4)));
    let end = LINK + 3 * PROGRAM;
    let blame = Blame { link: 3 * LINK, cache_wait: end - PROGRAM - 3 * LINK, ..write_blame() };
    bench.submit(0, through(1, 0, 3)).known_at(end, 1, end, blame);
}

/// The trim drops page 1, and the die unmaps it behind the program of page 0.
#[test]
fn a_write_with_fua_that_a_trim_drops_is_answered_when_its_page_is_unmapped() {
    let mut bench = Bench::empty(&without_power(cached(one_die(), 4)));
    bench.write(0, 1, 0, 1).submit(0, through(2, 1, 1)).submit(1_000, sub(3, Operation::Trim, 1, 1));
    let end = LINK + PROGRAM;
    let blame =
        Blame { link: 2 * LINK, cache_wait: 1_000 - 2 * LINK, queue_host: end - 1_000, ..Blame::default() };
    bench.known_at(end, 2, end, blame);
    assert_eq!(programs(&bench), 1);
}

/// Without FUA the trim of page 1 is answered when the cache has dropped it. With FUA it waits until the die has unmapped the page, behind the
/// program of page 0. A trim with FUA in line is answered by the same rule.
#[test]
fn a_trim_with_fua_is_answered_when_its_page_is_unmapped() {
    let trim = |fua| SubRequest { fua, ..sub(3, Operation::Trim, 1, 1) };
    let dropped = Blame { service: ACK, ..Blame::default() };
    let first = LINK + PROGRAM;
    for (config, fua) in [(cached(one_die(), 4), true), (without_power(cached(one_die(), 4)), false)] {
        let mut bench = Bench::with(&config, &[&[1]]);
        bench.write(0, 1, 0, 1).write(0, 2, 1, 1);
        bench.submit(1_000, trim(fua)).known_by(1_000, 3, 1_000 + ACK, dropped);
    }
    let mut bench = Bench::with(&without_power(cached(one_die(), 4)), &[&[1]]);
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).submit(1_000, trim(true));
    let blame = Blame { queue_host: first - 1_000, ..Blame::default() };
    bench.known_at(first, 3, first, blame);
    assert!(bench.device.ftl().lookup(0, 1).is_none());
    let WriteCacheCounters { trimmed_pages, fua_pages, .. } = counted(&bench);
    assert_eq!((trimmed_pages, fua_pages), (1, 0), "FUA pages are those of writes");
    // The write of page 1 is in line until page 0 is on flash, and the trim behind it. The program of page 2 begins then.
    let mut bench = Bench::with(&without_power(cached(one_die(), 2)), &[&[1]]);
    bench.write(0, 1, 0, 1).write(0, 2, 2, 1).write(0, 4, 1, 1).submit(1_000, trim(true));
    let blame = Blame { cache_wait: first - 1_000, queue_host: PROGRAM, ..Blame::default() };
    bench.known_at(first + PROGRAM, 3, first + PROGRAM, blame);
    assert_eq!((programs(&bench), counted(&bench).trimmed_pages), (1 + 2, 1));
}

/// The die collects first. One write waits there, one in the cache, and one for a slot.
#[test]
fn what_a_write_with_fua_waits_for_collection_is_told_wherever_it_waits() {
    let mut bench = Bench::aged(&without_power(cached(one_die(), 2)), &[0]);
    (0..3).for_each(|page| _ = bench.submit(0, through(page, page.into(), 1)));
    let intervals = bench.collected();
    let [(LINK, until)] = intervals[..] else { panic!("{intervals:?}") };
    for (page, ready) in [(0, LINK), (1, 2 * LINK), (2, 3 * LINK)] {
        let end = until + (u64::from(page) + 1) * PROGRAM;
        let cache_wait = u64::from(page) * PROGRAM;
        let blame = Blame { link: ready, queue_gc: until - ready, cache_wait, ..write_blame() };
        assert!(bench.known_by(end, page, end, blame).met_gc, "page {page}");
    }
}

/// A program carries four units. One that is awaited takes along what rests before it, and the rest is padding.
#[test]
fn what_is_written_with_fua_does_not_rest() {
    let mut bench = Bench::empty(&without_power(cached(four(), 8)));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).submit(1_000, through(3, 2, 1));
    let end = 1_000 + 3 * 75 + 5_000;
    let blame = Blame { service: 5_000, transfer: 75, queue_host: 2 * 75, ..Blame::default() };
    bench.known_at(end, 3, end, blame);
    assert_eq!(written(&bench), (4, PAGE));
    // What comes behind it rests, unless it goes over what is awaited.
    bench.write(end, 4, 3, 1).advance(end + 100_000);
    assert_eq!((written(&bench), bench.device.is_quiet()), ((4, PAGE), true));
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

/// At saturation a cache takes as much as the dies program: the k-th write beyond its size is admitted with the k-th program of its die.
#[test]
fn at_saturation_the_rate_is_that_of_the_dies() {
    for (config, dies) in [(one_die(), 1), (two_dies(), 2)] {
        let mut bench = Bench::empty(&cached(config, 4));
        let pages = 12;
        for page in 0..pages {
            bench.write(0, page, page.into(), 1);
        }
        bench.advance(1_000_000);
        let mut admitted: Vec<u64> = bench.known.iter().map(|done| done.finish.0 - ACK).collect();
        admitted.sort_unstable();
        for (turn, admitted) in admitted[4..].iter().enumerate() {
            // Page `turn` of all was handed over when its die was free; pages take turns at the dies.
            let (die, round) = (turn as u64 % dies, turn as u64 / dies + 1);
            assert_eq!(*admitted, (die + 1) * LINK + round * PROGRAM, "{dies} dies, write {turn}");
        }
    }
}

/// One page of `n` is written again and again at random moments much closer than a program, one die. Between two hand-overs of a program time
/// the writes of `Poisson(rate)` find `n` pages; what is programmed is one page a program time as long as any waits.
/// So with `n` pages that all wait most of the time, the share absorbed is 1 - (program rate) / (write rate).
#[test]
fn what_is_absorbed_is_what_the_dies_cannot_program() {
    let mut config = cached(one_die(), 16);
    // A device that never collects within the run.
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (1_000, 64);
    let ftl = Ftl::new(&config, 1, "device").unwrap();
    let mut device = Device::new(&config, ftl, NoProbe).unwrap();
    let mut rng = Rng::stream(7, "absorbs");
    let (mut now, writes, gap) = (SimTime::ZERO, 20_000, 500.0);
    for token in 0..writes {
        now = SimTime(now.0 + rng.exponential(gap) as u64);
        device.advance_until(now, false).unwrap();
        device.submit(now, sub(token, Operation::Write, rng.below(8), 1)).unwrap();
    }
    device.advance_until(now, false).unwrap();
    let counters = device.counters().write_cache;
    let programmed = now.0 as f64 / PROGRAM as f64;
    let expected = 1.0 - programmed / f64::from(writes);
    let absorbed = counters.absorbed_pages as f64 / f64::from(writes);
    assert!((absorbed - expected).abs() < 0.002, "{absorbed} of writes are absorbed, not {expected}");
    assert_eq!(counters.waits, 0, "8 pages fit into 16 slots, on their way or not");
}

/// Overwrites by popularity into a cache that is always full. Of `slots` slots one a die is being programmed, and `waiting` wait in one list:
///
/// ```text
/// a write of a page that waits       goes over it, and the order stays
/// a write of any other page          waits until a program ends. The oldest page is handed over then, and this one comes behind the others
/// ```
///
/// So the list is a cache of `waiting` pages that evicts the first one in, and what is absorbed is its share of hits. If writes are drawn
/// independently, page i with the probability `p_i`, this is known exactly (King 1971, Gelenbe 1973). Any `c` pages in any order wait with a
/// probability proportional to the product of their `p_i`: whatever the order, a page is only replaced by one drawn afresh. With `e_c`, the
/// sum of these products over all sets of `c` pages,
///
/// ```text
/// misses = sum over sets S of c pages (product of S) (sum of p_i outside of S) / e_c = (c + 1) e_(c + 1) / e_c
/// ```
///
/// since each set of `c + 1` pages is met once for each of its pages. If all of `n` pages are as popular, `c / n` of the writes are absorbed.
///
/// Where the dies keep up, popularity does not matter: see `what_is_absorbed_is_what_the_dies_cannot_program`.
#[test]
fn what_a_full_cache_absorbs_of_popular_pages_is_what_a_queue_of_its_size_hits() {
    const PAGES: usize = 256;
    // Popularity falls with the rank: not, with its root, with the rank, and with the power 1.5 of it.
    let falls: [fn(f64) -> f64; 4] =
        [|_| 1.0, |rank| rank.sqrt().recip(), f64::recip, |rank| (rank * rank.sqrt()).recip()];
    for (falls, exponent) in falls.iter().zip(["0", "0.5", "1", "1.5"]) {
        let all: f64 = (1..=PAGES).map(|rank| falls(rank as f64)).sum();
        let popularity: Vec<f64> = (1..=PAGES).map(|rank| falls(rank as f64) / all).collect();
        for (dies, slots) in [(1, 8), (1, 64), (4, 36)] {
            let expected = hits_of_a_queue(&popularity, slots - dies);
            let absorbed = absorbed_when_full(&popularity, dies as u32, slots as u64);
            let case = format!("exponent {exponent}, {dies} dies, {slots} slots: {absorbed} of {expected}");
            eprintln!("{case}");
            assert!((absorbed - expected).abs() < 0.005, "{case}");
        }
    }
}

/// The closed form.
fn hits_of_a_queue(popularity: &[f64], length: usize) -> f64 {
    // By number of pages, the sum of products of sets of so many.
    let mut sums = vec![0.0; length + 2];
    sums[0] = 1.0;
    for p in popularity {
        for set in (1..sums.len()).rev() {
            sums[set] += p * sums[set - 1];
        }
    }
    1.0 - (length + 1) as f64 * sums[length + 1] / sums[length]
}

/// What a device absorbs whose host has more writes than fit at any time.
fn absorbed_when_full(popularity: &[f64], dies: u32, slots: u64) -> f64 {
    const WRITES: u32 = 100_000;
    let mut config = cached(one_die(), slots);
    // A device that never collects within the run, and a link that takes no time.
    (config.geometry.channels, config.geometry.blocks_per_plane, config.geometry.pages_per_block) =
        (dies, 2_000, 64);
    config.link.bandwidth = 1 << 60;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(500));
    let ftl = Ftl::new(&config, 1, "device").unwrap();
    let mut device = Device::new(&config, ftl, NoProbe).unwrap();
    let mut rng = Rng::stream(7, "popular");
    let ends: Vec<f64> = popularity
        .iter()
        .scan(0.0, |end, p| {
            *end += p;
            Some(*end)
        })
        .collect();
    let (mut now, mut open, mut before) = (SimTime::ZERO, 0, WriteCacheCounters::default());
    for token in 0..WRITES {
        while open >= 2 * slots as usize {
            now = device.next_wakeup();
            device.advance_until(now, false).unwrap();
            open -= device.completions().drain(..).count();
        }
        if token == WRITES / 10 {
            before = device.counters().write_cache;
        }
        let drawn = rng.unit();
        let page = ends.partition_point(|&end| end <= drawn).min(ends.len() - 1);
        device.submit(now, sub(token, Operation::Write, page as u64, 1)).unwrap();
        open += 1;
    }
    let counters = device.counters().write_cache;
    assert_eq!((counters.high_water_pages, device.counters().gc_victims), (slots, 0));
    let admitted = counters.admitted_pages - before.admitted_pages;
    let absorbed = (counters.absorbed_pages - before.absorbed_pages) as f64;
    absorbed / (absorbed + admitted as f64)
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

/// The blame of a write that the cache of such a device took at once.
fn taken() -> Blame {
    Blame { service: ACK, ..Blame::default() }
}

/// Units that the host's programs wrote, and bytes of them that are padding.
fn written(bench: &Bench) -> (u64, u64) {
    (programs(bench), bench.device.counters().padding[IoCause::Host as usize])
}

/// Three units wait, however long; with the fourth all of them are programmed at once. Meanwhile the device is idle.
#[test]
fn a_program_begins_when_the_cache_has_all_of_it() {
    let mut bench = Bench::empty(&cached(four(), 8));
    for unit in 0..3 {
        let at = 1_000 * u64::from(unit);
        bench.write(at, unit, unit.into(), 1).known_by(at, unit, at + ACK, taken());
    }
    bench.advance(50_000);
    assert_eq!((written(&bench), bench.device.status(SimTime(50_000)).queue_depth), ((0, 0), 0));
    assert!(bench.device.is_quiet());
    bench.write(60_000, 9, 7, 1).known_by(60_000, 9, 60_000 + ACK, taken());
    bench.advance(60_000 + PROGRAM - 1);
    assert_eq!(bench.device.status(SimTime(60_000 + PROGRAM - 1)).queue_depth, 4);
    bench.advance(60_000 + PROGRAM);
    assert!(bench.device.is_quiet());
    assert_eq!(written(&bench), (4, 0));
}

/// Pages that rest do not keep the device from collecting in idle time.
#[test]
fn units_that_rest_do_not_keep_the_device_from_being_idle() {
    let written: Vec<u32> = (0..48).chain(0..16).collect();
    let mut bench = Bench::with(&cached(four(), 8), &[&written]);
    bench.write(0, 1, 20, 1).advance(1_000);
    assert!(!bench.force_idle(1_000).collected().is_empty());
    assert_eq!(programs(&bench), 64, "the unit still rests");
}

#[test]
fn a_flush_pads_what_there_is_of_a_program() {
    let mut bench = Bench::empty(&without_power(cached(four(), 8)));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).write(0, 3, 2, 1).submit(1_000, flush(4));
    let ends = 1_000 + 3 * 75 + 5_000;
    bench.known_at(ends, 4, ends, Blame { cache_wait: ends - 1_000, ..Blame::default() });
    assert_eq!(written(&bench), (4, PAGE));
    assert!(bench.device.is_quiet());
}

/// A program writes two planes, four units of each, and a die that idles writes one plane.
pub fn in_parts(units: u64) -> SsdConfig {
    let mut config = cached(four(), units);
    (config.geometry.planes_per_die, config.geometry.program_planes) = (2, 2);
    config.write_cache.drain = Drain::Partial;
    config
}

/// Four of five units go to the die that idles. Those that come meanwhile fill the other plane first, and then a program.
#[test]
fn a_die_that_idles_programs_the_planes_that_are_filled() {
    let mut bench = Bench::empty(&in_parts(16));
    (0..5).for_each(|unit| _ = bench.write(0, unit, unit.into(), 1));
    let first = 4 * 75 + 5_000;
    bench.advance(first - 1);
    assert_eq!((written(&bench), bench.device.is_quiet()), ((4, 0), false), "one plane is programmed");
    (5..16).for_each(|unit| _ = bench.write(first - 1, unit, unit.into(), 1));
    bench.advance(first);
    assert_eq!(written(&bench), (8, 0), "the other plane of the same place");
    bench.advance(2 * first);
    assert_eq!(written(&bench), (16, 0), "both planes");
    bench.advance(2 * first + 8 * 75 + 5_000);
    assert!(bench.device.is_quiet());
}

/// What does not fill a plane rests, as does less than a program where the cache drains whole programs only.
#[test]
fn less_than_a_plane_rests() {
    for (drain, programmed) in [(Drain::Partial, 4), (Drain::Full, 0)] {
        let mut config = in_parts(16);
        config.write_cache.drain = drain;
        let mut bench = Bench::empty(&config);
        (0..7).for_each(|unit| _ = bench.write(0, unit, unit.into(), 1));
        bench.advance(100_000);
        assert_eq!((written(&bench), bench.device.is_quiet()), ((programmed, 0), true), "{drain:?}");
    }
}

/// The device chooses a die that idles for each part, and a die has one program at a time.
#[test]
fn each_part_goes_to_a_die_that_idles() {
    let mut config = in_parts(32);
    config.geometry.channels = 2;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    let mut bench = Bench::empty(&config);
    (0..12).for_each(|unit| _ = bench.write(0, unit, unit.into(), 1));
    bench.advance(4 * 75 + 5_000 - 1);
    let homes = |bench: &Bench| [0, 4, 8].map(|lpn| bench.device.ftl().home(lpn));
    assert_eq!((homes(&bench), written(&bench)), ([Some(0), Some(1), None], (8, 0)));
    bench.advance(100_000);
    assert_eq!((homes(&bench), written(&bench)), ([Some(0), Some(1), Some(0)], (12, 0)));
}

#[test]
fn dies_that_idle_take_parts_in_turn() {
    let mut config = in_parts(32);
    config.geometry.channels = 3;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    let mut bench = Bench::empty(&config);
    for part in 0..4 {
        bench.write(100_000 * u64::from(part), part, 4 * u64::from(part), 4);
    }
    bench.advance(1_000_000);
    let homes = [0, 4, 8, 12].map(|lpn| bench.device.ftl().home(lpn));
    assert_eq!(homes, [Some(0), Some(1), Some(2), Some(0)]);
}

/// Die 0 has room for the units of one plane more, and die 1 for many programs.
fn room_for_a_part() -> (Bench, u64) {
    let mut config = in_parts(32);
    config.geometry.channels = 2;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    let mut ftl = Ftl::new(&config, 1, "device").unwrap();
    let first = ftl.shape().most_live.expect("the device chooses") - 4;
    for (unit, lpns) in [(0, 0..first), (1, first..first + 8)] {
        for lpn in lpns {
            ftl.program(unit, lpn, IoCause::Host, None, &mut NoProbe).unwrap();
        }
    }
    let device = Device::new(&config, ftl, any(AuditProbe)).unwrap();
    (Bench { device, known: Vec::new() }, u64::from(first))
}

/// While die 1 reads only die 0 idles, which has no room for a program: each unit goes by itself to the die with the shortest queue.
#[test]
fn units_go_one_by_one_where_no_die_that_idles_has_room_for_a_program() {
    let (mut bench, first) = room_for_a_part();
    bench.read(0, 1, first, 1).write(100, 2, first + 8, 4).advance(100_000);
    let homes = [8, 9, 10, 11].map(|lpn| bench.device.ftl().home(first as u32 + lpn));
    assert_eq!(homes, [0, 1, 0, 1].map(Some));
}

/// While both dies read they wait. Die 1 is done first, and has room for all of them.
#[test]
fn units_wait_while_no_die_idles() {
    let (mut bench, first) = room_for_a_part();
    bench
        .read(0, 1, first, 1)
        .read(0, 2, 0, 1)
        .read(0, 3, 16, 1)
        .write(100, 4, first + 8, 4)
        .advance(100_000);
    let homes = [8, 9, 10, 11].map(|lpn| bench.device.ftl().home(first as u32 + lpn));
    assert_eq!(homes, [Some(1); 4]);
}

/// They do so while none is on its way only: these wait for die 1, which programs the first four.
#[test]
fn units_do_not_go_one_by_one_beside_a_program_that_is_under_way() {
    let (mut bench, first) = room_for_a_part();
    bench.write(0, 1, first + 8, 4).write(100, 2, first + 12, 4).advance(100_000);
    let homes = [8, 11, 12, 15].map(|lpn| bench.device.ftl().home(first as u32 + lpn));
    assert_eq!(homes, [Some(1); 4]);
}

#[test]
fn a_flush_pads_the_planes_that_it_programs() {
    let mut bench = Bench::empty(&without_power(in_parts(16)));
    (0..5).for_each(|unit| _ = bench.write(0, unit, unit.into(), 1));
    let first = 4 * 75 + 5_000;
    let ends = first + 5_075;
    let waited = Blame { cache_wait: ends - 1_000, ..Blame::default() };
    bench.submit(1_000, flush(9)).known_at(ends, 9, ends, waited);
    assert_eq!(written(&bench), (8, 3 * PAGE));
}

/// A plane has all types of pages that one program writes. Where planes are programmed together, each type has a page of each plane.
#[test]
fn a_plane_is_programmed_with_all_types_of_its_pages() {
    for (drain, second) in [(Drain::Partial, 2_000), (Drain::Full, 1_000)] {
        let mut config = in_parts(48);
        config.write_cache.drain = drain;
        (config.geometry.program_pages, config.geometry.pages_per_block) = (3, 6);
        config.ftl.reserved_blocks = Amount::Blocks(7);
        config.timing.read = PageTimes::by_type(&[1_000, 2_000, 3_000].map(SimDuration)).expect("three");
        let mut bench = Bench::empty(&config);
        let units = if drain == Drain::Partial { 12 } else { 24 };
        (0..units).for_each(|unit| _ = bench.write(0, unit, unit.into(), 1));
        bench.advance(100_000);
        assert_eq!(written(&bench), (units.into(), 0));
        let read = Blame { service: second, transfer: 75, ..Blame::default() };
        bench.read(200_000, 99, 4, 1).known_at(200_000 + second + 75, 99, 200_000 + second + 75, read);
    }
}

/// Where power is stored a flush has nothing to wait for, and nothing is padded for it.
#[test]
fn a_flush_pads_nothing_where_power_is_stored() {
    let mut bench = Bench::empty(&cached(four(), 8));
    bench.write(0, 1, 0, 1).submit(1_000, flush(4)).known_by(1_000, 4, 1_000, Blame::default());
    bench.advance(100_000);
    assert_eq!(written(&bench), (0, 0));
}

/// Two dies, three units for each, and no slot is left: one of them gives what it has.
#[test]
fn a_cache_that_is_full_of_parts_of_programs_gives_one_of_them() {
    let mut config = cached(four(), 6);
    config.geometry.channels = 2;
    let mut bench = Bench::empty(&config);
    (0..7).for_each(|unit| _ = bench.write(0, unit, unit.into(), 1));
    let ends = 3 * 75 + 5_000;
    bench.known_at(ends, 6, ends + ACK, Blame { cache_wait: ends, ..taken() });
    assert_eq!(written(&bench), (4, PAGE));
    assert_eq!([0, 1].map(|unit| bench.device.ftl().lookup(unit, 0).is_some()), [true, false]);
}

/// Ageing has left half of a program, which two units fill.
#[test]
fn a_program_that_ageing_began_is_filled() {
    let mut bench = Bench::with(&cached(four(), 8), &[&[0, 1, 2, 3, 4, 5]]);
    (0..7).for_each(|unit| _ = bench.write(0, unit, 20 + u64::from(unit), 1));
    bench.advance(2 * 75 + 5_000);
    assert_eq!(written(&bench), (6 + 2 + 4, 0), "and the next program has begun");
    bench.advance(100_000);
    assert_eq!((written(&bench), counted(&bench).admitted_pages), ((12, 0), 7));
}

/// The two units that fill what ageing has begun are lost on their way to the die, which reads. So the next two fill it.
#[test]
fn what_was_to_fill_a_program_and_is_lost_is_made_up_for() {
    let mut bench = Bench::with(&without_power(cached(four(), 8)), &[&[0, 1, 2, 3, 4, 5]]);
    bench.read(0, 1, 0, 1).write(10, 2, 20, 1).write(10, 3, 21, 1).advance(500);
    bench.device.lose_power(SimTime(500));
    bench.device.audit();
    assert_eq!((counted(&bench).lost_pages, written(&bench)), (2, (6, 0)));
    bench.write(10_000, 4, 22, 1).write(10_000, 5, 23, 1).advance(100_000);
    assert_eq!(written(&bench), (6 + 2, 0));
}

/// Where any die may take a program, one takes all of it, and the other the next.
#[test]
fn all_units_of_a_program_go_to_one_die() {
    let mut config = cached(four(), 16);
    config.geometry.channels = 2;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    let mut bench = Bench::empty(&config);
    let lpns = [3, 9, 4, 12, 7, 1, 30, 2];
    for (token, lpn) in (0..).zip(lpns) {
        bench.write(0, token, lpn, 1);
    }
    bench.advance(PROGRAM);
    assert!(bench.device.is_quiet(), "both dies worked at once");
    let homes = lpns.map(|lpn| bench.device.ftl().home(lpn as u32));
    assert_eq!(homes, [0, 0, 0, 0, 1, 1, 1, 1].map(Some));
    assert_eq!(written(&bench), (8, 0));
}

/// Where the device chooses the die, too: the first program of each has room for two.
#[test]
fn programs_that_ageing_began_are_filled_whichever_die_is_chosen() {
    let mut config = cached(four(), 16);
    config.geometry.channels = 2;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    let mut bench = Bench::with(&config, &[&[0, 1, 2, 3, 4, 5], &[0, 1, 2, 3, 4, 5]]);
    for unit in 0..8 {
        bench.write(0, unit, 20 + u64::from(unit), 1);
    }
    bench.advance(100_000);
    assert!(bench.device.is_quiet());
    assert_eq!(written(&bench), (12 + 8, 0));
}

/// What is missing of a unit is read before the program begins, which carries it with the others.
#[test]
fn a_part_of_a_unit_has_the_rest_read_and_goes_along() {
    let mut bench = Bench::with(&cached(four(), 8), &[&[0, 1, 2, 3]]);
    bench.write(0, 1, 5, 1).submit(0, partial(2, 1)).write(0, 3, 6, 1).write(0, 4, 7, 1);
    bench.advance(1_075 + PROGRAM - 1);
    assert!(!bench.device.is_quiet());
    bench.advance(1_075 + PROGRAM);
    assert!(bench.device.is_quiet());
    assert_eq!((written(&bench), bench.device.counters().read_modify_write_reads), ((8, 3_072), 1));
}

/// A read needs a unit of which the cache has a part. What waits for the same die goes along.
#[test]
fn a_read_of_a_part_takes_along_what_waits() {
    let mut bench = Bench::with(&cached(four(), 8), &[&[0, 1, 2, 3]]);
    bench.write(0, 1, 5, 1).submit(0, partial(2, 1)).read(1_000, 3, 1, 1);
    let read = Blame { service: 1_000, transfer: 75, queue_host: 1_075 + 5_150, ..Blame::default() };
    bench.known_at(1_000 + 1_075 + 5_150 + 1_075, 3, 8_300, read);
    assert_eq!(written(&bench), (8, 2 * PAGE + 3_072));
}

/// Where the device chooses the die, parts of units wait for the die in which the rest lies, and whole units for any.
#[test]
fn parts_of_units_wait_for_the_die_that_has_the_rest() {
    let mut config = cached(four(), 16);
    config.geometry.channels = 2;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    // Unit 1 has the odd numbers.
    let mut bench = Bench::with(&config, &[&[0, 1, 2, 3], &[0, 1, 2, 3]]);
    for part in [1, 3, 5] {
        bench.submit(0, partial(part, part.into())).write(0, 10 + part, 20 + u64::from(part), 1);
    }
    bench.advance(10_000);
    assert_eq!(written(&bench), (8, 0), "three and three wait");
    bench.submit(10_000, partial(9, 7)).advance(10_000 + 4 * 1_075 + PROGRAM);
    assert!(bench.device.is_quiet());
    assert_eq!((written(&bench), bench.device.ftl().home(7)), ((12, 4 * 3_072), Some(1)));
}

/// A unit of which a part waits for its die is overwritten as a whole: it stays where it waits, and needs nothing read.
#[test]
fn a_part_that_becomes_whole_stays_in_its_place() {
    let mut config = cached(four(), 16);
    config.geometry.channels = 2;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(6));
    let mut bench = Bench::with(&config, &[&[0, 1, 2, 3], &[0, 1, 2, 3]]);
    bench.submit(0, partial(1, 1)).write(0, 2, 1, 1);
    for part in [3, 5, 7] {
        bench.submit(0, partial(part, part.into()));
    }
    bench.advance(3 * 1_075 + PROGRAM);
    assert!(bench.device.is_quiet());
    assert_eq!((written(&bench), counted(&bench).absorbed_pages), ((12, 3 * 3_072), 1));
}

/// A cache of just as many units as a scenario asks for: a program for each die, or two where the device chooses. Random writes of whole
/// units fill all of their programs, if none is of a unit that is on its way: such a write follows the other to its die.
#[test]
fn the_smallest_cache_pads_nothing() {
    for allocation in [Allocation::CWDP, Allocation::Dynamic] {
        let mut config = cached(four(), 8);
        (config.geometry.channels, config.geometry.blocks_per_plane) = (2, 16);
        (config.ftl.allocation, config.ftl.reserved_blocks) = (allocation, Amount::Blocks(8));
        let ftl = Ftl::new(&config, 1, "device").unwrap();
        let units = u64::from(ftl.shape().logical_pages);
        let mut device = Device::new(&config, ftl, NoProbe).unwrap();
        let mut rng = Rng::stream(3, "smallest cache");
        let mut latest = [u64::MAX; 16];
        for token in 0..4_000 {
            let unit = std::iter::repeat_with(|| rng.below(units)).find(|unit| !latest.contains(unit));
            let unit = unit.expect("more units than are on their way");
            latest[token as usize % 16] = unit;
            device.submit(SimTime::ZERO, sub(token, Operation::Write, unit, 1)).unwrap();
        }
        while device.next_wakeup() != SimTime::NEVER {
            device.advance_until(device.next_wakeup(), false).unwrap();
        }
        device.audit();
        let counters = device.counters();
        assert_eq!(device.completions().len(), 4_000, "{allocation:?}");
        assert_eq!(counters.padding[IoCause::Host as usize], 0, "{allocation:?}");
        assert!(counters.gc_victims > 300, "{allocation:?}: {} victims", counters.gc_victims);
    }
}

/// What a device did that had writes of single units waiting all the time: how long that took in ns, and pages.
pub struct Saturated {
    pub lasted: u64,
    /// Programmed for the host, and for anybody.
    pub host: u64,
    pub all: u64,
    /// Programmed for the host without data, from the beginning on.
    padding: u64,
}

/// Each unit is written once, and twice more at random. Then as much as twice the device is measured.
pub fn saturate(config: &SsdConfig) -> Saturated {
    let ftl = Ftl::new(config, 1, "device").unwrap();
    let units = u64::from(ftl.shape().logical_pages);
    let mut device = Device::new(config, ftl, NoProbe).unwrap();
    let mut rng = Rng::stream(5, "saturation");
    let (before, measured) = (3 * units, 2 * units);
    for token in 0..before + measured + 1_000 {
        let unit = if token < units { token } else { rng.below(units) };
        device.submit(SimTime::ZERO, sub(token as u32, Operation::Write, unit, 1)).unwrap();
    }
    let mut until = |answered: u64| {
        let mut now = SimTime::ZERO;
        while (device.completions().len() as u64) < answered {
            now = device.next_wakeup();
            device.advance_until(now, false).unwrap();
        }
        let DeviceCounters { programs, padding, .. } = device.counters();
        let host = IoCause::Host as usize;
        (now.0, programs[host], programs.iter().sum::<u64>(), padding[host])
    };
    let (from, to) = (until(before), until(before + measured));
    Saturated { lasted: to.0 - from.0, host: to.1 - from.1, all: to.2 - from.2, padding: to.3 }
}

/// At saturation dies do nothing but program, and collect: writes come at the rate of units per program times dies over the time of a
/// program, less what collection programs. Reads and erases take next to no time here.
#[test]
fn the_rate_at_saturation_is_that_of_whole_programs_over_write_amplification() {
    for allocation in [Allocation::CWDP, Allocation::Dynamic] {
        let mut config = cached(four(), 400);
        let geometry = &mut config.geometry;
        (geometry.channels, geometry.blocks_per_plane, geometry.pages_per_block) = (4, 64, 16);
        let timing = &mut config.timing;
        (timing.read, timing.erase, timing.transfer) =
            (SimDuration(1).into(), SimDuration(1), SimDuration(4));
        timing.copyback = Copyback::None;
        (config.ftl.allocation, config.ftl.reserved_blocks) = (allocation, Amount::Blocks(14));
        let Saturated { lasted, host, all, padding } = saturate(&config);
        let amplification = all as f64 / host as f64;
        let rate = host as f64 / lasted as f64;
        let expected = 4.0 * 4.0 / 5_004.0 / amplification;
        let case = format!("{allocation:?}: {rate} a ns of {expected}, amplification {amplification}");
        eprintln!("{case}");
        assert!((rate / expected - 1.0).abs() < 0.02, "{case}");
        assert!((2.0..6.0).contains(&amplification), "{case}");
        assert_eq!(padding, 0, "{case}");
    }
}

/// Which page of which write.
type Tag = (u32, u32);

/// Flash and a cache that hold tags, by byte of a page.
#[derive(Default)]
struct Tagged {
    page_bits: u32,
    flash: BTreeMap<(u32, u32), (Lpn, Page)>,
    /// Bytes that the cache does not have are `None`.
    slots: BTreeMap<u32, (Lpn, Page)>,
    /// Rests that were read for programs to come.
    merged: BTreeMap<Lpn, Page>,
    drained: Option<u32>,
    found: BTreeMap<Tag, Page>,
    answers: u64,
}

/// By byte: the write it is from.
type Page = Vec<Option<u32>>;

const SIZE: usize = 512;

/// A token that says its number, and the bytes of its sub-request: first and how many.
fn token_of(number: u32, offset: u64, length: u64) -> u64 {
    u64::from(number) | offset << 10 | length << 40
}

fn told_by(token: u64) -> (u32, u64, u64) {
    ((token & 0x3ff) as u32, token >> 10 & 0x3fff_ffff, token >> 40)
}

impl Tagged {
    /// The bytes of a page that a write covers.
    fn covered(origin: Origin) -> std::ops::Range<usize> {
        let (_, start, length) = told_by(origin.token);
        let end = start + length;
        let base = (start / SIZE as u64 + u64::from(origin.page)) * SIZE as u64;
        let within = |byte: u64| byte.saturating_sub(base).min(SIZE as u64) as usize;
        within(start)..within(end)
    }

    /// What flash has of a page, or is being given.
    fn on_flash(&self, ftl: &Ftl, lpn: u32) -> Page {
        let shape = ftl.shape();
        let (unit, in_unit) = match shape.is_dynamic() {
            true => (ftl.home(lpn).unwrap_or_default(), lpn),
            false => (shape.locate(lpn).1, shape.locate(lpn).2),
        };
        let found = ftl.lookup(unit, in_unit);
        found.map_or_else(
            || vec![None; SIZE],
            |(block, page)| {
                let ppn = Ppn(block << self.page_bits | page);
                self.load(FlashPage { unit, ppn }, Lpn(lpn))
            },
        )
    }

    fn load(&self, from: FlashPage, lpn: Lpn) -> Page {
        let (owner, page) = &self.flash[&(from.unit, from.ppn.0)];
        assert_eq!(*owner, lpn, "{from:?} holds another page");
        page.clone()
    }
}

impl Probe for Tagged {
    fn audits(&self) -> bool {
        true
    }

    fn admit(&mut self, slot: u32, lpn: Lpn, _: IoCause, origin: Origin, absorbs: bool) {
        let covered = Self::covered(origin);
        if !absorbs {
            self.slots.insert(slot, (lpn, vec![None; SIZE]));
        }
        let (held, page) = self.slots.get_mut(&slot).expect("a slot in use");
        assert_eq!(*held, lpn, "a slot holds one page");
        page[covered].fill(Some(told_by(origin.token).0));
    }

    fn drain(&mut self, slot: u32, lpn: Lpn) {
        assert_eq!(self.slots[&slot].0, lpn);
        self.drained = Some(slot);
    }

    fn merge(&mut self, from: FlashPage, lpn: Lpn, _: Origin) {
        let before = self.merged.insert(lpn, self.load(from, lpn));
        assert!(before.is_none(), "the rest of {lpn:?} is read once");
    }

    fn program(&mut self, to: FlashPage, lpn: Lpn, _: IoCause, _: Option<Origin>) {
        let slot = self.drained.take().expect("what is programmed comes from the cache");
        let (_, page) = &self.slots[&slot];
        let rest = self.merged.remove(&lpn).unwrap_or_else(|| vec![None; SIZE]);
        let programmed = page.iter().zip(rest).map(|(byte, rest)| byte.or(rest)).collect();
        let before = self.flash.insert((to.unit, to.ppn.0), (lpn, programmed));
        assert!(before.is_none(), "{to:?} is not erased");
    }

    fn lose(&mut self, slot: u32, lpn: Lpn) {
        assert_eq!(self.slots[&slot].0, lpn);
        // The rest of a page that was read for it.
        self.merged.remove(&lpn);
    }

    fn copy(&mut self, from: FlashPage, to: FlashPage, lpn: Lpn) {
        let page = self.load(from, lpn);
        assert!(self.flash.insert((to.unit, to.ppn.0), (lpn, page)).is_none(), "{to:?} is not erased");
    }

    fn read(&mut self, from: Option<FlashPage>, lpn: Lpn, origin: Origin) {
        let found = from.map_or_else(|| vec![None; SIZE], |from| self.load(from, lpn));
        let again = self.found.insert((told_by(origin.token).0, origin.page), found);
        assert!(again.is_none(), "{origin:?} is read once");
    }

    fn answer(&mut self, slot: u32, lpn: Lpn, origin: Origin) {
        let (held, page) = &self.slots[&slot];
        assert!(
            *held == lpn && page.iter().all(Option::is_some),
            "all of a page that is read from the cache is there"
        );
        self.answers += 1;
        let again = self.found.insert((told_by(origin.token).0, origin.page), page.clone());
        assert!(again.is_none(), "{origin:?} is read once");
    }

    fn answer_in_line(&mut self, _: Lpn, written: Origin, origin: Origin) {
        assert_eq!(Self::covered(written), 0..SIZE, "all of a page that is read in line is there");
        self.answers += 1;
        let page = vec![Some(told_by(written.token).0); SIZE];
        let again = self.found.insert((told_by(origin.token).0, origin.page), page);
        assert!(again.is_none(), "{origin:?} is read once");
    }

    fn erase(&mut self, unit: u32, block: u32) {
        let range = (unit, block << self.page_bits)..(unit, (block + 1) << self.page_bits);
        let pages: Vec<_> = self.flash.range(range).map(|(&page, _)| page).collect();
        pages.iter().for_each(|page| drop(self.flash.remove(page)));
    }
}

/// What a random run has seen of what is to be tested.
#[derive(Default)]
struct Seen {
    counters: WriteCacheCounters,
    refused: u64,
    moved: u64,
    /// Devices that drain in part, and those that choose among the dies of a superblock.
    drained_in_part: u64,
    chosen: u64,
    /// Devices whose programs carry several units, and bytes that all devices programmed for the host, padding apart.
    programs: u64,
    written: u64,
    padding: u64,
}

/// A random device with a cache, and how many pages its programs carry.
fn random_cached(seed: u64, rng: &mut Rng, (packs, superblocks): (bool, bool)) -> (SsdConfig, u64) {
    let config = crate::random::config(rng);
    let mut config = crate::random::additions(&mut Rng::stream(seed, "write cache/additions"), config);
    crate::random::timing(&mut config, &mut Rng::stream(seed, "write cache/timing"));
    crate::random::front(&mut config, &mut Rng::stream(seed, "write cache/front"));
    config.gc.concurrency = crate::random::concurrency(&mut Rng::stream(seed, "write cache/concurrency"));
    let partial_along = config.gc.schedule.own.get("partial_writes").is_some_and(|value| value == "along");
    if partial_along {
        // There the rest of a page is read long before its program, which this probe does not follow.
        config.gc.schedule = config.gc.schedule.with("partial_writes", "alone");
    }
    let (mut pages, mut program) = (1 + rng.below(12), 1);
    if packs {
        let mut packing = Rng::stream(seed, "write cache/packing");
        crate::random::pack(&mut config, &mut packing);
        program = config.resolve().expect("it was made to").packing.slots_per_program().into();
        // From a program, which is less than a scenario may have, to several for each die.
        let more = pick(&mut packing, &[1, program, 6 * program]);
        pages = program + packing.below(more);
    }
    config.write_cache = WriteCacheConfig {
        size: Some(pages * SIZE as u64),
        ack: SimDuration(rng.below(50)),
        ..WriteCacheConfig::default()
    };
    if superblocks {
        let mut shared = Rng::stream(seed, "write cache/superblocks");
        crate::random::superblocks(&mut config, &mut shared);
        config.gc.last_program = pick(&mut shared, &[LastProgram::Padded, LastProgram::Filled]);
    }
    crate::random::sharing(&mut config, &mut Rng::stream(seed, "write cache/sharing"));
    if config.geometry.program_planes > 1 && Rng::stream(seed, "write cache/drain").chance(0.75) {
        config.write_cache.drain = Drain::Partial;
    }
    if Rng::stream(seed, "write cache/pacer").chance(0.4) {
        config.write_cache.pacer = Pacing::Collection;
    }
    (config, program)
}

/// Random devices with a cache, random histories: every byte that is read is the last that arrived before, and every
/// operation is answered once with blame that sums.
fn check(seed: u64, (packs, superblocks): (bool, bool), seen: &mut Seen) {
    let mut rng = Rng::stream(seed, "write cache");
    let (mut config, program) = random_cached(seed, &mut rng, (packs, superblocks));
    let mut fua = Rng::stream(seed, "write cache/fua");
    config.write_cache.power_protected = fua.chance(0.5);
    seen.chosen += u64::from(superblocks && config.ftl.allocation == Allocation::Dynamic);
    seen.drained_in_part += u64::from(config.write_cache.drain == Drain::Partial);
    let explain = || format!("seed {seed}: {config:#?}");
    let ftl = Ftl::new(&config, seed, "device").unwrap_or_else(|why| panic!("{}: {why}", explain()));
    let bytes = u64::from(ftl.shape().logical_pages) * SIZE as u64;
    let tagged = Tagged { page_bits: ftl.shape().page_bits, ..Tagged::default() };
    let mut device = Device::new(&config, ftl, any(tagged)).expect("the policies are registered");
    // What a byte holds by what has arrived.
    let mut holds: Vec<Option<u32>> = vec![None; bytes as usize];
    let mut expected: BTreeMap<Tag, Page> = BTreeMap::new();
    let mut open: BTreeMap<u32, SimTime> = BTreeMap::new();
    let mut now = SimTime::ZERO;
    for token in 0..=300u32 {
        now += SimDuration(pick(&mut rng, &[0, 1, 40, 400]) * rng.below(4));
        device.advance_until(now, false).unwrap_or_else(|why| panic!("{}: {why}", explain()));
        seen.refused += hear(seed, &mut device, &mut open, &mut expected);
        if rng.chance(0.03) {
            let directives =
                [Directive::Force(Stop::Internal), Directive::Force(Stop::AllReserve), Directive::Hold];
            device.direct(now, pick(&mut rng, &directives));
        }
        if rng.chance(0.02) {
            device.direct(now, pick(&mut rng, &[Directive::Open, Directive::Release]));
        }
        let operations =
            [Operation::Write, Operation::Write, Operation::Write, Operation::Read, Operation::Trim];
        let (operation, offset, length) = if token == 300 {
            (Operation::Read, 0, bytes)
        } else {
            let unit = if rng.chance(0.6) { SIZE as u64 } else { 1 };
            let length = (1 + rng.below(bytes.min(4 * SIZE as u64) / unit)) * unit;
            let places = (bytes - length) / unit + 1;
            let near = if rng.chance(0.5) { places.min(8) } else { places };
            (pick(&mut rng, &operations), rng.below(near) * unit, length)
        };
        let first = offset / SIZE as u64;
        let pages = (offset + length).div_ceil(SIZE as u64) - first;
        for page in 0..pages {
            let base = (first + page) * SIZE as u64;
            let whole = base..base + SIZE as u64;
            let within = whole.start.max(offset) as usize..whole.end.min(offset + length) as usize;
            match operation {
                Operation::Write => holds[within].fill(Some(token)),
                Operation::Trim if within.len() == SIZE => holds[within].fill(None),
                Operation::Read => {
                    let page_now = holds[whole.start as usize..whole.end as usize].to_vec();
                    expected.insert((token, page as u32), page_now);
                }
                Operation::Trim | Operation::Flush => {}
            }
        }
        let request = SubRequest {
            fast_fail: operation == Operation::Read && token < 300 && rng.chance(0.3),
            background: rng.chance(0.1),
            handle: if superblocks { token as u16 % 3 } else { 0 },
            fua: fua.chance(0.2),
            ..SubRequest::new(token_of(token, offset, length), operation, offset, length)
        };
        open.insert(token, now);
        device.submit(now, request).unwrap_or_else(|why| panic!("{}: {why}", explain()));
        device.audit();
    }
    let mut steps = 0;
    while device.next_wakeup() != SimTime::NEVER {
        steps += 1;
        assert!(steps < 100_000, "{}: it never ends", explain());
        let next = device.next_wakeup();
        device.advance_until(next, false).unwrap_or_else(|why| panic!("{}: {why}", explain()));
        seen.refused += hear(seed, &mut device, &mut open, &mut expected);
    }
    assert!(open.is_empty(), "{}: {open:?} are not answered", explain());
    assert_eq!(device.status(now).queue_depth, 0, "{}: the cache is empty at the end", explain());
    device.ftl().audit();
    let tagged: &Tagged = probe_as(device.probe());
    for (tag, page) in &expected {
        let found = tagged.found.get(tag);
        assert!(found == Some(page), "{}: {tag:?} found {found:?}, not {page:?}", explain());
    }
    let counters = device.counters();
    assert_eq!(tagged.answers, counters.write_cache.answered_pages);
    seen.programs += u64::from(program > 1);
    seen.padding += counters.padding[IoCause::Host as usize];
    seen.written += counters.programs[IoCause::Host as usize] * SIZE as u64;
    seen.counters.admitted_pages += counters.write_cache.admitted_pages;
    seen.counters.absorbed_pages += counters.write_cache.absorbed_pages;
    seen.counters.answered_pages += counters.write_cache.answered_pages;
    seen.counters.trimmed_pages += counters.write_cache.trimmed_pages;
    seen.counters.waits += counters.write_cache.waits;
    seen.counters.waits_for_gc += counters.write_cache.waits_for_gc;
    seen.moved += counters.gc_pages_moved();
}

/// Takes what a device has answered; the reads it refused, whose pages are then not expected.
fn hear(
    seed: u64,
    device: &mut Device<AnyProbe>,
    open: &mut BTreeMap<u32, SimTime>,
    expected: &mut BTreeMap<Tag, Page>,
) -> u64 {
    let mut refused = 0;
    for refusal in device.refusals().drain(..) {
        let number = told_by(refusal.token).0;
        assert_eq!(refusal.blame.total(), (refusal.at - open[&number]).0, "seed {seed}: {refusal:?}");
        for page in refusal.first..refusal.first + refusal.pages {
            assert!(expected.remove(&(number, page)).is_some(), "seed {seed}: only reads are refused");
            refused += 1;
        }
        if !expected.keys().any(|&(read, _)| read == number) {
            open.remove(&number);
        }
    }
    for done in device.completions().drain(..) {
        let issued = open.remove(&told_by(done.token).0).expect("answered once");
        assert_eq!(done.blame.total(), (done.finish - issued).0, "seed {seed}: {done:?}");
    }
    refused
}

#[test]
fn every_byte_is_the_last_that_was_written_whatever_the_cache_does() {
    let mut seen = Seen::default();
    (0..200).for_each(|seed| check(seed, (false, false), &mut seen));
    let Seen { counters, refused, moved, .. } = seen;
    assert!(refused > 500 && moved > 10_000, "{refused} reads refused, {moved} pages moved");
    assert!(counters.absorbed_pages > 2_500 && counters.answered_pages > 2_500, "{counters:?}");
    assert!(counters.trimmed_pages > 100 && counters.waits > 2_500, "{counters:?}");
    assert!(counters.waits_for_gc > 250, "{counters:?}");
}

#[test]
fn every_byte_is_the_last_that_was_written_where_programs_carry_several_units() {
    let mut seen = Seen::default();
    (0..440).for_each(|seed| check(seed, (true, false), &mut seen));
    let Seen { counters, refused, moved, programs, written, padding, drained_in_part, .. } = seen;
    assert!(refused > 500 && moved > 10_000, "{refused} reads refused, {moved} units moved");
    assert!(programs > 200, "{programs} devices have programs of several units");
    assert!(drained_in_part > 30, "{drained_in_part} devices drain in part");
    assert!(counters.absorbed_pages > 2_500 && counters.answered_pages > 2_500, "{counters:?}");
    assert!(counters.trimmed_pages > 100 && counters.waits > 2_500, "{counters:?}");
    assert!(padding > 0 && padding < written, "{padding} of {written} bytes are padding");
}

/// Half of the devices have programs of several units.
#[test]
fn every_byte_is_the_last_that_was_written_where_dies_share_their_blocks() {
    let mut seen = Seen::default();
    (0..300).for_each(|seed| check(seed, (seed % 2 == 0, true), &mut seen));
    let Seen { counters, refused, moved, programs, written, padding, drained_in_part, chosen } = seen;
    assert!(refused > 200 && moved > 10_000, "{refused} reads refused, {moved} units moved");
    assert!(
        programs > 80 && chosen > 100,
        "{programs} devices have programs of several units, {chosen} choose"
    );
    assert!(drained_in_part > 5, "{drained_in_part} devices drain in part");
    assert!(counters.absorbed_pages > 1_000 && counters.answered_pages > 1_000, "{counters:?}");
    assert!(counters.trimmed_pages > 50 && counters.waits > 1_000, "{counters:?}");
    assert!(padding > 0 && padding < written, "{padding} of {written} bytes are padding");
}

/// What a page has held, one version for each write or trim of it that was submitted: the token, and the bytes.
type Versions = Vec<(u32, Page)>;

/// What a run in which power is lost has seen.
#[derive(Default)]
struct Lost {
    losses: u64,
    pages: u64,
    /// Writes and trims with FUA that were answered.
    fua: u64,
    /// Of the pages that were looked at after losses, those that were older than the last version.
    older: u64,
    looked_at: u64,
    flushes: u64,
}

/// Random devices whose cache loses what it holds: after each loss every page is, as a whole, one of its versions, and none from before a
/// flush, or a write or trim with FUA, that was answered.
fn check_losses(seed: u64, packs: bool, seen: &mut Lost) {
    let mut rng = Rng::stream(seed, "write cache");
    let (mut config, _) = random_cached(seed, &mut rng, (packs, seed % 4 == 3));
    config.write_cache.power_protected = false;
    let explain = || format!("seed {seed}: {config:#?}");
    let ftl = Ftl::new(&config, seed, "device").unwrap_or_else(|why| panic!("{}: {why}", explain()));
    let pages = ftl.shape().logical_pages;
    let tagged = Tagged { page_bits: ftl.shape().page_bits, ..Tagged::default() };
    let mut device = Device::new(&config, ftl, any(tagged)).expect("the policies are registered");
    let mut versions: Vec<Versions> = vec![vec![(u32::MAX, vec![None; SIZE])]; pages as usize];
    let mut open: BTreeMap<u32, Operation> = BTreeMap::new();
    // By token of a flush: the version of each page that was answered when it came.
    let mut flushes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let (mut draws, mut through) = (Rng::stream(seed, "write cache/fua"), BTreeSet::new());
    let (mut now, mut is_trimmed) = (SimTime::ZERO, false);
    for token in 0..300u32 {
        now += SimDuration(pick(&mut rng, &[0, 1, 40, 400, 4_000]) * rng.below(4));
        device.advance_until(now, false).unwrap_or_else(|why| panic!("{}: {why}", explain()));
        for done in device.completions().drain(..) {
            let number = told_by(done.token).0;
            open.remove(&number).expect("answered once");
            if through.remove(&number) {
                seen.fua += 1;
                for versions in &mut versions {
                    let first = versions.iter().position(|version| version.0 == number).unwrap_or(0);
                    versions.drain(..first);
                }
            }
            for (versions, answered) in versions.iter_mut().zip(flushes.remove(&number).unwrap_or_default()) {
                let first = versions.iter().position(|version| version.0 == answered).unwrap_or(0);
                versions.drain(..first);
                seen.flushes += 1;
            }
        }
        // What a trim has dropped comes to its die soon: power must be lost at once to find what is not there yet.
        if rng.chance(if is_trimmed { 0.5 } else { 0.05 }) {
            device.lose_power(now);
            device.audit();
            device.ftl().audit();
            seen.losses += 1;
            open.clear();
            flushes.clear();
            through.clear();
            let tagged: &Tagged = probe_as(device.probe());
            for (lpn, versions) in (0..).zip(&mut versions) {
                let found = tagged.on_flash(device.ftl(), lpn);
                let is_one = versions.iter().any(|version| version.1 == found);
                assert!(is_one, "{}: page {lpn} is {found:?}, none of {versions:?}", explain());
                seen.older += u64::from(versions.last().is_some_and(|last| last.1 != found));
                seen.looked_at += 1;
                *versions = vec![(u32::MAX, found)];
            }
        }
        let operations = [Operation::Write, Operation::Write, Operation::Write, Operation::Trim];
        let operation = if rng.chance(0.05) { Operation::Flush } else { pick(&mut rng, &operations) };
        let bytes = u64::from(pages) * SIZE as u64;
        let unit = if rng.chance(0.6) { SIZE as u64 } else { 1 };
        let length = (1 + rng.below(bytes.min(4 * SIZE as u64) / unit)) * unit;
        let places = (bytes - length) / unit + 1;
        let near = if rng.chance(0.5) { places.min(8) } else { places };
        let offset = rng.below(near) * unit;
        let (offset, length) = if operation == Operation::Flush { (0, 0) } else { (offset, length) };
        if operation == Operation::Flush {
            let answered = |versions: &Versions| {
                let last = versions.iter().rev().find(|version| !open.contains_key(&version.0));
                last.map_or(u32::MAX, |version| version.0)
            };
            flushes.insert(token, versions.iter().map(answered).collect());
        }
        for (base, versions) in (0..).step_by(SIZE).zip(&mut versions) {
            let within = |byte: u64| byte.saturating_sub(base).min(SIZE as u64) as usize;
            let covered = within(offset)..within(offset + length);
            if covered.is_empty() {
                continue;
            }
            let mut page = versions.last().expect("it has one").1.clone();
            match operation {
                Operation::Write => page[covered.clone()].fill(Some(token)),
                Operation::Trim if covered.len() == SIZE => page.fill(None),
                _ => continue,
            }
            versions.push((token, page));
        }
        let request = SubRequest {
            background: rng.chance(0.1),
            fua: draws.chance(0.2),
            ..SubRequest::new(token_of(token, offset, length), operation, offset, length)
        };
        is_trimmed = request.fua && operation == Operation::Trim;
        if request.fua && operation != Operation::Flush {
            through.insert(token);
        }
        open.insert(token, operation);
        device.submit(now, request).unwrap_or_else(|why| panic!("{}: {why}", explain()));
        device.audit();
    }
    open.insert(300, Operation::Flush);
    device.submit(now, SubRequest { token: 300, ..flush(0) }).expect("room");
    while device.next_wakeup() != SimTime::NEVER {
        let next = device.next_wakeup();
        device.advance_until(next, false).unwrap_or_else(|why| panic!("{}: {why}", explain()));
    }
    for done in device.completions().drain(..) {
        open.remove(&told_by(done.token).0).expect("answered once");
    }
    seen.pages += device.counters().write_cache.lost_pages;
    assert!(open.is_empty(), "{}: {open:?} are not answered", explain());
    device.ftl().audit();
    let tagged: &Tagged = probe_as(device.probe());
    for (lpn, versions) in (0..).zip(&versions) {
        let last = versions.last().map(|version| &version.1);
        assert_eq!(Some(&tagged.on_flash(device.ftl(), lpn)), last, "{}: page {lpn}", explain());
    }
}

#[test]
fn after_a_loss_of_power_every_page_is_one_that_was_written_there_since_the_last_flush_or_fua() {
    for packs in [false, true] {
        let mut seen = Lost::default();
        (0..if packs { 140 } else { 70 }).for_each(|seed| check_losses(seed, packs, &mut seen));
        let Lost { losses, pages, older, looked_at, flushes, fua } = seen;
        let case = format!(
            "{losses} losses, {pages} pages, {older} of {looked_at} older, {flushes} flushes, {fua} FUA"
        );
        assert!(losses > 700 && pages > 500 && older > 500 && flushes > 1_000 && fua > 1_000, "{case}");
    }
}
