//! What does a log cost, and when? Journal and partial parity log of small arrays, page by page and nanosecond by nanosecond.
//!
//! With a row of n units of which k are written, RAID-5: a journal takes one block that describes the rest, k pages of data and
//! one of parity (RAID-6: two). A partial parity log takes a header and, unless the row is written as a whole, one page on the
//! member that holds parity. Whatever is logged is written before the members, and the rest is as without a log.
//!
//! Not verified: what happens after a power loss (`contents`).

use crate::common::{PAGE, all_filled, drain, filled, level, one_die, request, us};
use harmonia_array::layout::Layout;
use harmonia_array::{
    Array, ArrayConfig, Befalls, Fault, Faults, Level, MemberConfig, Rebuild, SmallWrite, When, WriteHole,
};
use harmonia_engine::Rng;
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{
    Blame, Completion, DeviceId, HostRequest, IoCause, LogCounters, Operation, RequestBlame, SimTime,
};

const RAID5: Level = Level::Raid5(harmonia_array::layout::Rotation::LeftSymmetric);
const RAID6: Level = Level::Raid6(harmonia_array::layout::Rotation::LeftSymmetric);
const JOURNAL: WriteHole = WriteHole::Journal(512 * PAGE);
const PPL: WriteHole = WriteHole::PartialParityLog(32 * PAGE);

fn config(level_: Level, members: u16, unit: u64, hole: WriteHole) -> ArrayConfig {
    let ssd = one_die(64, 16, 6);
    let journal = matches!(hole, WriteHole::Journal(_));
    let journal = journal.then(|| MemberConfig { capable: true, ssd: ssd.clone() });
    let faults = Faults { write_hole: hole, journal, ..Faults::default() };
    let config = level(level_, &ssd, members, unit);
    ArrayConfig { faults, small_write: SmallWrite::ReadModifyWrite, ..config }
}

fn array(config: &ArrayConfig) -> Array {
    let mut states = all_filled(config, 1);
    if config.faults.journal.is_some() {
        states.push(filled(&config.members[0].ssd, config.devices, 0));
    }
    Array::new(config, states, None, |_| NoProbe).unwrap()
}

fn run(array: &mut Array, requests: &[HostRequest]) -> Vec<Completion> {
    for &request in requests {
        array.advance_until(request.arrival).unwrap();
        array.submit(request).unwrap();
    }
    let mut completions = drain(array);
    completions.sort_unstable_by_key(|done| done.id);
    for done in &completions {
        assert_eq!(done.blame.total(), done.response().0, "blame sums to the response");
    }
    completions
}

/// Pages of data, and of parity and logs, that every device has programmed, the journal last.
fn programs(array: &Array) -> Vec<(u64, u64)> {
    let of = |device: &&harmonia_ssd::Device| {
        let programs = device.counters().programs;
        (
            programs[IoCause::Host as usize],
            programs[IoCause::Parity as usize] + programs[IoCause::Log as usize],
        )
    };
    array.every_device().iter().map(of).collect()
}

/// What a write of these pages costs in programs.
fn cost(config: &ArrayConfig, first: u64, count: u64) -> (Vec<(u64, u64)>, LogCounters) {
    let mut array = array(config);
    let before = programs(&array);
    run(&mut array, &[request(0, us(5), Operation::Write, first * PAGE, count * PAGE)]);
    let pairs = before.iter().zip(programs(&array));
    (pairs.map(|(before, after)| (after.0 - before.0, after.1 - before.1)).collect(), array.log_counters())
}

/// Four members, one page a unit; stripe 0 has its parity on member 3, stripe 1 on member 2.
#[test]
fn a_journal_takes_data_and_parity_and_a_block_that_describes_them() {
    let config = config(RAID5, 4, PAGE, JOURNAL);
    let none = (0, 0);
    let (data, parity) = ((1, 0), (0, 1));
    let (small, counters) = cost(&config, 0, 1);
    assert_eq!(small, [data, none, none, parity, (0, 1 + 1 + 1)]);
    assert_eq!((counters.log_writes, counters.log_pages), (1, 3));
    assert_eq!(cost(&config, 0, 2).0, [data, data, none, parity, (0, 1 + 2 + 1)]);
    assert_eq!(cost(&config, 0, 3).0, [data, data, data, parity, (0, 1 + 3 + 1)]);
    // Two whole stripes are one transaction.
    assert_eq!(cost(&config, 0, 6).0, [(2, 0), (2, 0), (1, 1), (1, 1), (0, 1 + 6 + 2)]);
    // A whole stripe and a page of the next are two.
    let (both, counters) = cost(&config, 0, 4);
    assert_eq!((both[4], counters.log_writes, counters.log_pages), ((0, 5 + 3), 2, 8));
}

#[test]
fn a_journal_takes_both_parities_of_raid_6_and_that_of_raid_4() {
    let six = config(RAID6, 5, PAGE, JOURNAL);
    assert_eq!(cost(&six, 0, 1).0[5], (0, 1 + 1 + 2));
    assert_eq!(cost(&six, 0, 3).0[5], (0, 1 + 3 + 2));
    assert_eq!(cost(&config(Level::Raid4, 4, PAGE, JOURNAL), 0, 1).0[4], (0, 3));
}

/// Units of 64 pages: a write of 70 in 4 units' rows; 203 pages of data and parity a block.
#[test]
fn a_block_describes_203_pages() {
    let config = config(RAID5, 4, 64 * PAGE, WriteHole::Journal(1024 * PAGE - 160 * PAGE));
    // A stripe has 192 pages of data and 64 of parity.
    assert_eq!(cost(&config, 0, 192).0[4], (0, 2 + 192 + 64));
    assert_eq!(cost(&config, 0, 64).0[4], (0, 1 + 64 + 64));
}

#[test]
fn a_partial_parity_log_takes_a_header_and_the_sum_of_what_is_not_written() {
    let config = config(RAID5, 4, PAGE, PPL);
    let (none, data) = ((0, 0), (1, 0));
    let (small, counters) = cost(&config, 0, 1);
    assert_eq!(small, [data, none, none, (0, 1 + 1 + 1)], "header, partial parity, parity");
    assert_eq!((counters.log_writes, counters.log_pages), (1, 2));
    assert_eq!(cost(&config, 0, 2).0, [data, data, none, (0, 1 + 2)]);
    assert_eq!(cost(&config, 3, 1).0[2], (0, 1 + 2), "parity of stripe 1 is on member 2");
    // A stripe that is written as a whole: nothing but the header.
    let (full, counters) = cost(&config, 0, 3);
    assert_eq!((full, counters.log_pages), (vec![data, data, data, (0, 1 + 1)], 1));
    // Four of them: a header on each member.
    let (full, counters) = cost(&config, 0, 12);
    assert_eq!((full, counters.log_pages), (vec![(3, 1 + 1); 4], 4));
}

/// Units of four pages: rows 1 and 2 of unit 0, both in one header.
#[test]
fn rows_of_one_transaction_share_a_header() {
    let config = config(RAID5, 4, 4 * PAGE, PPL);
    let (cost, counters) = cost(&config, 1, 2);
    assert_eq!((cost[3], counters.log_pages), ((0, 2 + 3), 3));
}

/// Four members: whole stripes take turns with their parity, so each member's header has an entry for one in four.
#[test]
fn a_header_has_148_entries() {
    let config = config(RAID5, 4, PAGE, PPL);
    let pages = |stripes: u64| cost(&config, 0, 3 * stripes).1.log_pages;
    assert_eq!([pages(4 * 148), pages(4 * 148 + 1), pages(4 * 149)], [4, 5, 8]);
}

/// A journal has room for two stripes with what describes them, a partial parity log for a header and a unit.
#[test]
fn a_log_has_room_for_a_stripe_at_least() {
    let least = |of: Level, members: u16, unit: u64, hole: WriteHole| {
        let Layout::Parity(parity) = config(of, members, unit * PAGE, hole).layout() else {
            panic!("{of} has parity")
        };
        hole.least(&parity, PAGE, unit * PAGE) / PAGE
    };
    assert_eq!([least(RAID5, 4, 1, JOURNAL), least(RAID6, 5, 1, JOURNAL)], [2 * (1 + 4), 2 * (1 + 5)]);
    assert_eq!(least(RAID5, 4, 64, JOURNAL), 2 * (2 + 256), "a block describes 203 pages");
    assert_eq!([least(RAID5, 4, 1, PPL), least(RAID5, 4, 16, PPL)], [1 + 1, 1 + 16]);
    assert_eq!(least(RAID5, 4, 1, WriteHole::Resync), 0);
}

/// A page read takes 25 and 20 us, a page written 20 and 200. The log's pages go to one die, one after the other.
#[test]
fn the_host_waits_for_the_log_between_reading_and_writing() {
    let reads = Blame { service: 25_000, transfer: 20_000, ..Blame::default() };
    let writes = Blame { service: 200_000, transfer: 20_000, ..Blame::default() };
    let (once, ppl) = (us(45 + 220), config(RAID5, 4, PAGE, PPL));
    let bare = config(RAID5, 4, PAGE, WriteHole::Resync);
    let write = [request(0, SimTime::ZERO, Operation::Write, 0, PAGE)];
    let done = run(&mut array(&bare), &write)[0];
    assert_eq!((done.finish, done.blame.parity, done.blame.data), (once, reads, writes));
    // Two pages of a partial parity log.
    let logged = run(&mut array(&ppl), &write)[0];
    assert_eq!(logged.blame.data, writes);
    let log = logged.blame.parity.total() - reads.total();
    assert_eq!(logged.finish, SimTime(once.0 + log));
    // A header alone, and nothing to be read before.
    let whole = [request(0, SimTime::ZERO, Operation::Write, 0, 3 * PAGE)];
    let done = run(&mut array(&ppl), &whole)[0];
    let blame = RequestBlame { parity: writes, data: writes, ..RequestBlame::default() };
    assert_eq!((done.finish, done.blame), (us(220 + 220), blame));
    // More than one program, not more than two after one another.
    assert!((writes.total() + 1..=2 * writes.total()).contains(&log), "{log}");
}

/// A log for two writes at a time: the third waits until the first is done, and its wait is for the log.
#[test]
fn a_full_log_makes_writers_wait() {
    let config = config(RAID5, 4, PAGE, WriteHole::Journal(10 * PAGE));
    let writes: Vec<_> =
        (0..4).map(|id| request(id, us(1), Operation::Write, id * 3 * PAGE, 3 * PAGE)).collect();
    let mut array = array(&config);
    let done = run(&mut array, &writes);
    assert_eq!(array.log_counters().full_waits, 2);
    assert_eq!(array.transactions_under_way(), 0);
    let waited = |id: usize| done[id].blame.log_wait;
    assert!(waited(2) > 0 && waited(0) + waited(1) == 0, "{:?}", [0, 1, 2, 3].map(waited));
    assert!(done[2].finish > done[0].finish, "it began when the first had ended");
}

/// Whole stripes for which a small journal has no room at once are cut.
#[test]
fn a_write_larger_than_the_journal_goes_through_it_in_parts() {
    let config = config(RAID5, 4, PAGE, WriteHole::Journal(10 * PAGE));
    let (cost, counters) = cost(&config, 0, 30);
    assert_eq!((counters.log_writes, counters.log_pages, cost[4]), (10, 50, (0, 50)));
    assert_eq!(cost[..4].iter().map(|pages| pages.0 + pages.1).sum::<u64>(), 40);
}

/// Around and around: the log is cut at the end of its range, and writes the same pages again.
#[test]
fn a_journal_wraps_around() {
    let config = config(RAID5, 4, PAGE, WriteHole::Journal(11 * PAGE));
    let mut array = array(&config);
    for id in 0..20 {
        let now = SimTime(id * 1_000_000_000);
        run(&mut array, &[request(id, now, Operation::Write, id % 7 * PAGE, PAGE)]);
    }
    let journal = array.every_device()[4];
    assert_eq!((array.log_counters().log_pages, journal.ftl().tally().data_programs()), (60, 60));
    let mapped = (0..64).filter(|&lpn| journal.ftl().lookup(0, lpn).is_some());
    assert_eq!(mapped.collect::<Vec<u32>>(), (0..11).collect::<Vec<u32>>());
}

/// The array's own work begins while the log is replayed, in other rows, and its first step takes longer than the replay: a
/// write of four pages to the spare, behind their reads.
#[test]
fn the_end_of_a_replay_is_the_end_of_no_step_of_a_copy_or_rebuild() {
    let (member, lost) = (DeviceId(1), us(45 + 440 + 50));
    for what in [Befalls::Replacement, Befalls::Failure] {
        let mut config = config(RAID5, 4, PAGE, PPL);
        let rebuild = Rebuild {
            min_rate: u64::MAX,
            max_rate: u64::MAX,
            depth: 1,
            step: 4 * PAGE,
            ..Rebuild::default()
        };
        let event = Fault { device: member, at: When::Time(SimTime(lost.0 + 10_000)), what };
        let spares = vec![config.members[0].clone()];
        config.faults = Faults { events: vec![event], spares, rebuild, ..config.faults };
        let mut states = all_filled(&config, 1);
        states.push(filled(&config.members[0].ssd, config.devices, 0));
        let mut array = Array::new(&config, states, None, |_| NoProbe).unwrap();
        // Stripe 40 lies as stripe 0 does, with data on member 0 and parity on member 3.
        array.submit(request(0, SimTime::ZERO, Operation::Write, 120 * PAGE, PAGE)).unwrap();
        array.advance_until(lost).unwrap();
        array.lose_power(lost).unwrap();
        while array.log_counters().replayed_rows == 0 {
            array.advance_until(array.next_wakeup()).unwrap();
        }
        let now = array.next_wakeup();
        let own = array.background_counters(now);
        assert_eq!((own.copied_bytes, own.rebuilt_bytes), (0, 0), "the first step is under way");
        assert!(array.is_row_busy(0), "it holds its rows");
        drain(&mut array);
        let (own, bytes) = (array.background_counters(now), array.layout().member_bytes());
        assert_eq!((own.copied_bytes + own.rebuilt_bytes, own.copies + own.rebuilds), (bytes, 1));
        assert!(array.health().is_whole());
    }
}

/// Both in one: what a member holds at its end is the log's, and no request reaches it.
#[test]
fn the_area_of_a_log_is_taken_from_the_end_of_each_member() {
    let (bare, ppl) = (config(RAID5, 4, PAGE, WriteHole::Resync), config(RAID5, 4, PAGE, PPL));
    assert_eq!(bare.layout().member_bytes() - ppl.layout().member_bytes(), 32 * PAGE);
    assert_eq!(config(RAID5, 4, PAGE, JOURNAL).layout(), bare.layout());
    let mut array = array(&ppl);
    let pages = |array: &Array| programs(array).iter().map(|pages| pages.0 + pages.1).sum::<u64>();
    let before = pages(&array);
    let logical = ppl.layout().logical_bytes();
    let mut rng = Rng::stream(3, "log");
    let writes: Vec<_> = (0..400)
        .map(|id| {
            let first = rng.below(logical / PAGE - 4);
            request(id, us(id * 700), Operation::Write, first * PAGE, (1 + rng.below(4)) * PAGE)
        })
        .collect();
    assert_eq!(run(&mut array, &writes).len(), 400);
    let counters = array.log_counters();
    assert!(counters.log_writes >= 400 && counters.log_pages > counters.log_writes, "{counters:?}");
    let stripe = |page: u64| page / 3;
    let rows = |write: &HostRequest| {
        stripe((write.offset + write.length) / PAGE - 1) - stripe(write.offset / PAGE) + 1
    };
    let written: u64 = writes.iter().map(|write| write.length / PAGE + rows(write)).sum();
    assert_eq!(pages(&array) - before, written + counters.log_pages);
    let logs =
        array.every_device().iter().map(|device| device.counters().programmed(IoCause::Log)).sum::<u64>();
    assert_eq!(logs, counters.log_pages, "logs are programmed as what they are");
}

/// Layouts without parity have no rows to be torn, and RAID-6 cannot be rebuilt from one partial parity.
#[test]
fn a_log_that_cannot_work_is_refused() {
    let refused = |config: &ArrayConfig| {
        let mut states = all_filled(config, 0);
        states.extend(config.faults.journal.iter().map(|journal| filled(&journal.ssd, 9, 0)));
        Array::new(config, states, None, |_| NoProbe).err().unwrap()
    };
    assert!(refused(&config(Level::Raid0, 4, PAGE, JOURNAL)).contains("no parity"));
    assert!(refused(&config(RAID5, 4, 64 * PAGE, PPL)).contains("no room"));
    assert!(refused(&config(RAID6, 5, PAGE, PPL)).contains("RAID-5"));
}
