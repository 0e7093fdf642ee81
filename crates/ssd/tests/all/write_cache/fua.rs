//! Writes and trims with FUA: answered when flash has them, where the cache loses what it holds with power.

use super::*;

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
