//! Which operations does a device refuse, and when exactly? Literal devices, literal nanoseconds.
//!
//! The random devices of `content` fail fast, too.

use crate::bench::*;
use harmonia_ssd::{Allocation, BeginsAt, Priority, SsdConfig, SubRefusal, SubRequest};
use harmonia_types::{Blame, Operation, SimDuration, SimTime};

fn fast(token: u32, operation: Operation, page: u64, pages: u64) -> SubRequest {
    SubRequest { fast_fail: true, ..sub(token, operation, page, pages) }
}

fn read(token: u32, page: u64) -> SubRequest {
    fast(token, Operation::Read, page, 1)
}

fn write(token: u32, page: u64) -> SubRequest {
    fast(token, Operation::Write, page, 1)
}

/// One page, refused at `at`, for so long yet.
fn refusal(token: u32, at: u64, left: u64, blame: Blame) -> SubRefusal {
    SubRefusal { token: token.into(), first: 0, pages: 1, at: SimTime(at), left: SimDuration(left), blame }
}

fn refusals(bench: &mut Bench) -> Vec<SubRefusal> {
    bench.device.refusals().drain(..).collect()
}

/// Nothing is refused at t - 1, these are at t.
fn refused_at(bench: &mut Bench, at: u64, expected: &[SubRefusal]) {
    assert_eq!(refusals(bench.advance(at - 1)), [], "nothing is refused before {at}");
    assert_eq!(refusals(bench.advance(at)), expected);
}

fn scheduled(schedule: &str) -> SsdConfig {
    let mut config = one_die();
    config.gc.schedule = schedule.into();
    config
}

#[test]
fn what_waits_is_refused_when_an_event_is_admitted_ahead_of_it_and_what_runs_is_not() {
    let mut bench = Bench::aged(&one_die(), &[]);
    bench.submit(0, read(1, 0)).submit(400, read(2, 1)).submit(500, write(3, 2)).force(600);
    // The write's data is over the link at 570; the event begins at 1,300 and moves one page.
    let waited = Blame { queue_host: 200, ..Blame::default() };
    let on_link = Blame { link: LINK, queue_host: 30, ..Blame::default() };
    assert_eq!(refusals(&mut bench), [refusal(2, 600, 26_000, waited), refusal(3, 600, 26_000, on_link)]);
    bench.known_at(1_300, 1, 1_370, read_blame());
    assert_eq!(bench.collected(), [(1_300, 27_300)]);
    assert_eq!([2, 3].map(|token| bench.find(token)), [None; 2], "what was refused is not answered, too");
    assert_eq!(bench.device.counters().host_pages_read, 1, "nothing was done of what was refused");
    assert_eq!(bench.device.counters().programs[0], 24);
}

#[test]
fn the_operation_that_finds_its_unit_low_is_refused_when_the_event_begins() {
    let mut bench = Bench::aged(&one_die(), &[0]);
    // Ready at 70: the die looks at its thresholds then.
    bench.submit(0, write(1, 0));
    refused_at(&mut bench, 70, &[refusal(1, 70, 26_000, Blame { link: 70, ..Blame::default() })]);
    assert_eq!(bench.collected(), [(70, 26_070)]);
}

/// It waits for a read that runs until 1,300; the event is admitted while it is on the link.
#[test]
fn a_write_whose_data_is_on_the_link_is_refused_and_the_link_stays_taken() {
    let mut bench = Bench::aged(&two_dies(), &[]);
    bench.read(0, 1, 0, 1).submit(20, write(2, 2)).force(50).submit(50, write(3, 4)).write(51, 4, 0, 1);
    let blame = |link| Blame { link, ..Blame::default() };
    // The second is refused on arrival, without a place on the link.
    assert_eq!(refusals(&mut bench), [refusal(2, 50, 26_000, blame(30)), refusal(3, 50, 26_000, blame(0))]);
    // The last is over the link at 90 + 70: behind the first write, and the read that comes later has the link to itself.
    bench.known_at(1_300, 1, 1_370, read_blame());
    let waits = Blame { link: 109, queue_gc: 26_000, queue_host: 1_140, ..write_blame() };
    bench.known_at(32_600, 4, 32_600, waits);
}

#[test]
fn pages_are_refused_one_by_one_and_told_together() {
    let mut bench = Bench::aged(&two_dies(), &[0]);
    bench.read(0, 1, 0, 1).submit(100, fast(2, Operation::Read, 0, 4));
    let of_die_0 = |page| SubRefusal { first: page, ..refusal(2, 100, 25_900, Blame::default()) };
    assert_eq!(refusals(&mut bench), [of_die_0(0), of_die_0(2)]);
    // Pages 1 and 3 are served one after the other.
    bench.known_at(2_700, 2, 2_770, Blame { queue_host: 1_300, ..read_blame() });
    bench.submit(3_000, fast(3, Operation::Trim, 0, 1)).submit(3_000, partial_fast(4));
    let told: Vec<u64> = refusals(&mut bench).iter().map(|refusal| refusal.token).collect();
    assert_eq!(told, [3, 4]);

    let mut bench = Bench::aged(&one_die(), &[]);
    bench.read(0, 1, 5, 1).submit(10, fast(2, Operation::Read, 0, 3)).force(20);
    let waited = Blame { queue_host: 10, ..Blame::default() };
    assert_eq!(refusals(&mut bench), [SubRefusal { pages: 3, ..refusal(2, 20, 26_000, waited) }]);
}

/// Reads that would be refused, part by part: begin and end in bytes, and how long the dies of the part collect yet.
#[test]
fn what_collection_keeps_waiting_is_told_part_by_part() {
    let parts = |bench: &Bench, offset: u64, length: u64| {
        let mut told = Vec::new();
        let mut visit = |from, to, left: SimDuration| told.push((from, to, left.0));
        bench.device.collection_in(offset, length, SimTime(200), &mut visit);
        told
    };
    // Of two dies the one with the even pages collects until 26,000.
    let mut bench = Bench::aged(&two_dies(), &[0]);
    bench.read(0, 1, 0, 1).advance(200);
    let ends = PAGE + 2 * PAGE + 512;
    assert_eq!(
        parts(&bench, 512, ends - 512),
        [(512, PAGE, 25_800), (2 * PAGE, 3 * PAGE, 25_800)],
        "page 3 does not wait"
    );
    assert_eq!(parts(&bench, PAGE, PAGE + 512), [(2 * PAGE, 2 * PAGE + 512, 25_800)]);
    assert_eq!(
        (parts(&bench, PAGE, PAGE), bench.device.collection_left_in(PAGE, PAGE, SimTime(200))),
        (vec![], None)
    );
    // Of more pages than there are dies the dies are asked first: it may be the last one.
    let mut bench = Bench::aged(&two_dies(), &[1]);
    bench.read(0, 1, 1, 1).advance(200);
    let odd = [(PAGE, 2 * PAGE, 25_800), (3 * PAGE, 4 * PAGE, 25_800)];
    assert_eq!(parts(&bench, 0, 4 * PAGE), odd);
    assert_eq!(parts(&Bench::aged(&two_dies(), &[]), 0, 4 * PAGE), []);
    // The other one begins 100 ns later.
    let mut bench = Bench::aged(&two_dies(), &[0, 1]);
    bench.read(0, 1, 0, 1).read(100, 2, 1, 1).advance(200);
    assert_eq!(parts(&bench, 512, ends), [(512, ends + 512, 25_900)]);
    assert_eq!(parts(&bench, PAGE, 2 * PAGE), [(PAGE, 3 * PAGE, 25_900)]);
    let left = [0, PAGE].map(|page| bench.device.collection_left_in(page, PAGE, SimTime(200)));
    assert_eq!(left, [25_800, 25_900].map(|left| Some(SimDuration(left))));
    // What is in the cache waits for no die, and where pages may lie anywhere what lies nowhere does not.
    let mut config = two_dies();
    config.write_cache.size = Some(4 * PAGE);
    let mut bench = Bench::aged(&config, &[0]);
    bench.read(0, 1, 0, 1).write(100, 2, 2, 1).advance(200);
    assert_eq!(parts(&bench, 0, 4 * PAGE), [(0, PAGE, 25_800)]);
    let mut config = two_dies();
    config.ftl.allocation = Allocation::Dynamic;
    let lower = [TWO_FREE, &[12]].concat();
    let mut bench = Bench::with(&config, &[&lower, &[0, 1, 2]]);
    bench.read(0, 1, 0, 1).advance(200);
    assert_eq!(
        parts(&bench, 4 * PAGE, 4 * PAGE),
        [(4 * PAGE, 5 * PAGE, 25_800), (6 * PAGE, 7 * PAGE, 25_800)]
    );
}

fn partial_fast(token: u32) -> SubRequest {
    SubRequest { fast_fail: true, ..partial(token, 0) }
}

#[test]
fn what_waits_behind_a_refused_operation_of_its_page_goes_on() {
    for priority in [Priority::Fifo, Priority::ReadsFirst] {
        let mut config = one_die();
        config.ftl.priority = priority;
        let mut bench = Bench::aged(&config, &[]);
        bench.read(0, 1, 5, 1).submit(0, write(2, 0)).write(0, 3, 0, 1).submit(0, write(4, 0));
        bench.read(0, 5, 0, 1).force(300);
        let told: Vec<u64> = refusals(&mut bench).iter().map(|refusal| refusal.token).collect();
        assert_eq!(told, [2, 4]);
        bench.advance(40_000);
        // The write that stayed, then the read of what it wrote.
        let finish = |token| bench.find(token).map(|done| done.finish.0);
        assert_eq!((finish(3), finish(5)), (Some(27_300 + 5_300), Some(32_600 + 1_370)), "{priority:?}");
        assert_eq!(bench.device.ftl().tally().data_programs(), 24 + 1 + 1, "one write, one page moved");
    }
}

#[test]
fn a_page_that_was_never_written_is_never_refused() {
    // Pages 12 to 15 were never written.
    let some: Vec<u32> = (0..12).chain([0, 1, 2, 4, 5, 6, 8, 9]).collect();
    let blank = Blame { link: LINK, ..Blame::default() };
    let mut bench = Bench::with(&one_die(), &[&some]);
    bench.force(0).submit(100, read(1, 15)).known_by(100, 1, 170, blank);
    bench.submit(200, read(2, 0)).submit(200, write(3, 15));
    assert_eq!(refusals(&mut bench).len(), 2, "others are refused");

    // One that waits for a write is served when that is refused.
    let mut bench = Bench::with(&one_die(), &[&some]);
    bench.read(0, 1, 0, 1).submit(0, write(2, 15)).submit(100, read(3, 15)).force(100);
    assert_eq!(refusals(&mut bench).iter().map(|refusal| refusal.token).collect::<Vec<_>>(), [2]);
    bench.known_by(100, 3, 170, blank);
}

#[test]
fn between_the_steps_of_an_event_nobody_is_refused_until_a_unit_is_at_hard() {
    let mut config = scheduled("preemptive");
    config.gc.begins_at = BeginsAt::Soft;
    // Room in an open block: moving leaves the die above hard.
    let mut bench = Bench::with(&config, &[SPREAD]);
    bench.read(0, 1, 1, 1).submit(2_000, read(2, 5));
    // The event begins at 1,300 with a read, whose program cannot be separated from it.
    let waits = Blame { queue_gc: 5_300, ..read_blame() };
    bench.known_at(8_600, 2, 8_670, waits);
    assert_eq!(refusals(&mut bench), []);

    // No room: the program at 2,300 opens a block, and the die is at hard. Program and erase are left.
    let mut bench = Bench::aged(&config, &[]);
    bench.read(0, 1, 1, 1).submit(2_000, read(2, 5));
    let waited = Blame { queue_gc: 300, ..Blame::default() };
    refused_at(&mut bench, 2_300, &[refusal(2, 2_300, 25_000, waited)]);
    bench.submit(3_000, read(3, 5));
    assert_eq!(refusals(&mut bench), [refusal(3, 3_000, 24_300, Blame::default())]);

    // Begun at hard it is one command.
    let mut bench = Bench::aged(&config, &[0]);
    bench.read(0, 1, 1, 1).submit(1_000, read(2, 5));
    assert_eq!(refusals(&mut bench), [refusal(2, 1_000, 25_000, Blame::default())]);
}

#[test]
fn reads_that_go_before_an_event_are_refused_once_it_has_begun() {
    let mut bench = Bench::aged(&scheduled("after-reads"), &[]);
    bench.read(0, 1, 0, 1).submit(100, read(2, 1)).submit(100, write(3, 2)).force(600);
    let waited = Blame { link: LINK, queue_host: 430, ..Blame::default() };
    assert_eq!(refusals(&mut bench), [refusal(3, 600, 26_000, waited)], "the write would wait");
    bench.submit(700, read(4, 4));
    bench.known_at(2_600, 2, 2_670, Blame { queue_host: 1_200, ..read_blame() });
    bench.known_at(3_900, 4, 3_970, Blame { queue_host: 1_900, ..read_blame() });
    bench.submit(5_000, read(5, 5));
    assert_eq!(refusals(&mut bench), [refusal(5, 5_000, 24_900, Blame::default())]);

    // At hard collection goes before reads.
    let mut bench = Bench::aged(&scheduled("after-reads"), &[0]);
    bench.submit(0, read(1, 0));
    assert_eq!(refusals(&mut bench), [refusal(1, 0, 26_000, Blame::default())]);
}

#[test]
fn where_collection_takes_no_time_nobody_is_refused() {
    let mut bench = Bench::aged(&scheduled("ideal"), &[0]);
    bench.read(0, 1, 0, 1).submit(100, read(2, 1)).force(200).submit(300, write(3, 2)).advance(50_000);
    assert_eq!(refusals(&mut bench), []);
    assert!(bench.find(2).is_some() && bench.find(3).is_some());
}

#[test]
fn an_event_in_idle_time_ends_with_its_victim_when_somebody_is_refused() {
    let mut bench = Bench::aged(&one_die(), &[]);
    bench.force_idle(0).submit(10_000, read(1, 0));
    assert_eq!(refusals(&mut bench), [refusal(1, 10_000, 16_000, Blame::default())]);
    assert_eq!(bench.collected(), [(0, 26_000)], "the host is back, though it was turned away");
}

#[test]
fn an_event_with_nothing_to_free_refuses_nobody() {
    let full: Vec<u32> = (0..16).collect();
    let mut bench = Bench::with(&one_die(), &[&full]);
    bench.read(0, 1, 0, 1).submit(100, read(2, 1)).force(200).advance(10_000);
    assert_eq!(refusals(&mut bench), []);
    assert!(bench.find(2).is_some());
}

#[test]
fn a_write_that_may_go_anywhere_is_refused_only_if_its_die_collects() {
    let mut config = two_dies();
    config.ftl.allocation = Allocation::Dynamic;
    let lower = [TWO_FREE, &[12]].concat();
    let mut bench = Bench::with(&config, &[&lower, &TWO_FREE[..18]]);
    // Die 0 collects from 0 to 26,000; page 2 lies there. The write goes to die 1, a read cannot.
    bench.read(0, 1, 0, 1).submit(100, write(2, 2)).submit(100, read(3, 4));
    assert_eq!(refusals(&mut bench), [refusal(3, 100, 25_900, Blame::default())]);
    bench.known_at(5_470, 2, 5_470, write_blame());
    // Of a page, the rest is where it lies.
    bench.submit(6_000, SubRequest { fast_fail: true, ..partial(4, 4) });
    assert_eq!(refusals(&mut bench), [refusal(4, 6_000, 20_000, Blame::default())]);
    // One that waits is refused when its die is told to collect.
    let mut bench = Bench::aged(&config, &[]);
    bench.read(0, 1, 0, 1).submit(400, read(2, 2)).force(600);
    let waited = Blame { queue_host: 200, ..Blame::default() };
    assert_eq!(refusals(&mut bench), [refusal(2, 600, 26_000, waited)]);
}

/// Tokens of what is done or refused, by the stop at which it is found. From 500 on die 0 collects, which refuses two reads at 1,100 and
/// 1,200. Die 1 reads two pages until 2,400 and 3,700.
fn stops(listens: bool, at_notice: bool) -> Vec<Vec<u64>> {
    let mut config = two_dies();
    config.link.latency = SimDuration(500);
    let mut bench = Bench::aged(&config, &[0]);
    if listens {
        bench.device.stop_at_completions();
    }
    bench.read(0, 1, 0, 1).read(600, 4, 1, 1).submit(600, read(2, 0));
    bench.submit(700, read(3, 2)).read(700, 5, 3, 1).notices();
    let mut told = Vec::new();
    loop {
        bench.device.advance_until(SimTime(10_000), at_notice).unwrap();
        let refused: Vec<u64> = bench.device.refusals().drain(..).map(|refusal| refusal.token).collect();
        let done = bench.device.completions().drain(..).map(|done| done.token);
        let stop: Vec<u64> = refused.into_iter().chain(done).collect();
        if stop.is_empty() {
            return told;
        }
        told.push(stop);
    }
}

/// Whoever takes notices at their moment takes what is done or refused at its moment, too, if it asks for that.
#[test]
fn time_stops_at_what_is_done_or_refused_for_whoever_asks_for_that() {
    assert_eq!(stops(true, true), [[2], [3], [4], [5]]);
    for (listens, at_notice) in [(false, true), (true, false), (false, false)] {
        assert_eq!(stops(listens, at_notice), [[2, 3, 4, 5]], "{listens} {at_notice}");
    }
}
