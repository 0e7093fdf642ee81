//! Limited concurrency on the real device: turns of one victim, one a channel, and the last free block.
//!
//! Each test drives a small device event by event and looks at who collects. That data survives, whatever the
//! policy, is `content`'s and `registry`'s business.

use crate::bench::{Bench, read_blame};
use crate::seams::{ERASE, PROGRAM, READ};
use harmonia_engine::Rng;
use harmonia_ssd::interface::{Directive, Notice, Stop};
use harmonia_ssd::probe::{AnyProbe, AuditProbe, any};
use harmonia_ssd::{Allocation, AllocationUnit, Amount, Device, Ftl, PolicyConfig, SsdConfig, SubRequest};
use harmonia_types::{Blame, Operation, SimDuration, SimTime};
use serde_json::{Value, json};

type Checked = Device<AnyProbe>;

fn limited(mut config: SsdConfig, policy: &str, own: &Value) -> SsdConfig {
    let own = own.as_object().expect("a table").clone();
    config.gc.concurrency = PolicyConfig { policy: policy.into(), own };
    config
}

fn device(config: &SsdConfig, ftl: Ftl) -> Checked {
    Device::new(config, ftl, any(AuditProbe)).expect("able")
}

/// Lets everything happen that happens by itself, with what `see` is shown after every event.
fn settle(device: &mut Checked, mut see: impl FnMut(&Checked, SimTime)) -> SimTime {
    let mut now = SimTime::ZERO;
    while device.next_wakeup() != SimTime::NEVER {
        now = device.next_wakeup();
        device.advance_until(now, false).expect("room");
        see(device, now);
    }
    now
}

fn collecting(device: &Checked) -> Vec<u32> {
    device.collecting_dies().collect()
}

fn write(device: &mut Checked, now: u64, lpn: u64) {
    device.submit(SimTime(now), crate::seams::page(0, Operation::Write, lpn)).expect("room");
}

#[test]
fn a_forced_event_obeys_the_limit_turn_by_turn_and_keeps_its_goal() {
    let mut config = limited(crate::seams::config(4), "fixed", &json!({ "start": 1.0, "channels": 1 }));
    config.gc.min_victims = 3;
    for schedule in ["blocking", "preemptive", "io-parallel", "after-reads"] {
        config.gc.schedule = schedule.into();
        let mut device = device(&config, crate::seams::used(&config, 8));
        let before = device.counters().gc_victims;
        device.direct(SimTime::ZERO, Directive::Force(Stop::Internal));
        let (mut turns, mut last) = (0, 0);
        settle(&mut device, |device, _| {
            assert!(collecting(device).len() <= 1, "{schedule}: one channel at a time");
            let victims = device.counters().gc_victims;
            assert!(victims <= last + before + 1 || last == 0, "{schedule}: one victim a turn");
            turns += u64::from(victims > last);
            last = victims;
        });
        let victims = device.counters().gc_victims - before;
        assert_eq!(victims, 4 * 2 * 3, "{schedule}: three victims of every unit of four dies");
        let told: Vec<Notice> = device.notices().iter().map(|notice| notice.1).collect();
        assert_eq!(told.len(), 2, "{schedule}: it collects from first to last, {told:?}");
    }
}

#[test]
fn channels_collect_side_by_side_as_far_as_allowed_and_one_die_of_each() {
    for (channels, most) in [(1, 1), (3, 3), (4, 4)] {
        let own = json!({ "start": 0.0, "channels": channels });
        let mut config = limited(crate::seams::config(4), "fixed", &own);
        config.geometry.chips_per_channel = 2;
        let mut device = device(&config, crate::seams::used(&config, 8));
        // Pages for every die: the first opens a block somewhere sooner or later.
        (0..128).for_each(|lpn| write(&mut device, 0, lpn));
        let mut seen = 0;
        settle(&mut device, |device, _| {
            let mut busy: Vec<u32> = collecting(device).iter().map(|die| die % 4).collect();
            seen = seen.max(busy.len());
            busy.sort_unstable();
            busy.dedup();
            assert_eq!(busy.len(), collecting(device).len(), "{channels} channels: one die of each");
        });
        assert_eq!(seen, most, "{channels} channels");
        let left = (0..16).map(|unit| {
            let table = device.ftl().blocks(unit);
            table.fewest_valid().map_or(0, |(_, valid)| table.data_pages - valid)
        });
        assert_eq!(
            left.max(),
            Some(0),
            "from utilisation 0 on every block with an invalid page is collected"
        );
    }
}

#[test]
fn a_die_with_two_free_blocks_waits_and_one_with_its_last_collects() {
    // One die, at whose thresholds nothing begins, under a policy that starts nothing below utilisation 0.99.
    let mut config = limited(crate::seams::config(1), "adaptive", &json!({ "low": 0.99, "high": 1.0 }));
    config.ftl.allocation_unit = AllocationUnit::Die;
    config.gc.hard_threshold = Amount::Blocks(0);
    config.gc.soft_threshold = Amount::Blocks(9);
    let mut device = device(&config, crate::seams::used(&config, 4));
    let mut seen = [false; 2];
    for (lpn, time) in (0..).zip((0..).step_by(20_000_000)) {
        write(&mut device, time, lpn);
        let mut collects = false;
        let mut least = device.ftl().free_blocks(0);
        while device.next_wakeup() != SimTime::NEVER {
            let wakeup = device.next_wakeup();
            device.advance_until(wakeup, false).expect("room");
            collects |= !collecting(&device).is_empty();
            // What an event under way has erased counts when it ends.
            least = least.min(device.status(wakeup).free_min as u32);
        }
        assert_eq!(collects, least <= 1, "with {least} free blocks");
        seen[usize::from(collects)] |= least <= 2;
        if collects {
            break;
        }
    }
    assert_eq!(seen, [true; 2], "it had two free blocks, and one");
}

#[test]
fn a_die_with_its_last_block_waits_for_its_channel_and_its_host_writes_wait_with_it() {
    // Two dies on one channel.
    let mut config = limited(crate::seams::config(1), "fixed", &json!({ "start": 1.0, "channels": 1 }));
    config.geometry.chips_per_channel = 2;
    config.ftl.allocation_unit = AllocationUnit::Die;
    config.gc.hard_threshold = Amount::Blocks(1);
    config.gc.soft_threshold = Amount::Blocks(2);
    for schedule in ["blocking", "preemptive", "after-reads", "io-parallel"] {
        config.gc.schedule = schedule.into();
        let mut device = device(&config, crate::seams::used(&config, 1));
        (0..200).for_each(|lpn| write(&mut device, 0, lpn));
        let mut both = [0; 2];
        settle(&mut device, |device, _| {
            let dies = collecting(device);
            assert!(dies.len() <= 1, "{schedule}: the channel has one turn at a time");
            dies.iter().for_each(|&die| both[die as usize] += 1);
        });
        assert!(both.iter().all(|&times| times > 0), "{schedule}: both collect, {both:?}");
        assert_eq!(device.completions().len(), 200, "{schedule}");
        let waited: u64 = device.completions().iter().map(|done| done.blame.queue_gc).sum();
        assert!(waited > 0, "{schedule}: who waited for a turn waited for collection");
    }
}

/// A write that is held back until its die's turn is refused at once, not when the turn comes.
/// Two dies of two planes on one channel, forced to collect. Die 0 collects in plane 0, waits for the turn of die 1, and finds
/// nothing in plane 1. Meanwhile the host fills plane 0 up to its last block, and has to wait for what is to be won there.
#[test]
fn a_die_that_finds_nothing_in_its_last_plane_looks_at_the_others_again() {
    let mut config = limited(crate::bench::planes(2), "fixed", &json!({ "start": 1.0, "channels": 1 }));
    config.geometry.chips_per_channel = 2;
    config.gc.hard_threshold = Amount::Blocks(1);
    config.timing.erase = SimDuration(200_000);
    let full: Vec<u32> = (0..16).collect();
    // Leaves two free blocks, an open one with a page, and a best victim with three invalid pages.
    let low = [&full[..], &[0, 1, 2, 4, 5, 8, 9, 12, 13]].concat();
    let mut bench = Bench::with(&config, &[&low, &full, &low, &full]);
    bench.force(0);
    // The open block and two more.
    for write in 0..11 {
        bench.write(210_000, write, 4 * u64::from(write), 1);
    }
    let mut least = u32::MAX;
    while bench.device.next_wakeup() != SimTime::NEVER {
        bench.advance(bench.device.next_wakeup().0);
        least = least.min(bench.device.ftl().free_blocks(0));
    }
    assert_eq!((bench.known.len(), least), (11, 1), "the last block is for what collection moves");
}

fn fast(token: u32, operation: Operation, page: u64) -> SubRequest {
    SubRequest { fast_fail: true, ..crate::bench::sub(token, operation, page, 1) }
}

/// Die 0 collects until 26,000. Die 1 has filled its open block by 16,070, and its last block is for what it collects.
fn without_room() -> Bench {
    let mut config = limited(crate::bench::one_die(), "fixed", &json!({ "start": 1.0, "channels": 1 }));
    config.geometry.chips_per_channel = 2;
    let mut bench = Bench::aged(&config, &[0, 1]);
    bench.read(0, 1, 0, 1);
    // While there is room they do not wait for collection.
    for (token, page) in [(2, 1), (3, 3), (4, 5)] {
        bench.submit(100, fast(token, Operation::Write, page));
    }
    bench.advance(20_000);
    assert!((2..5).all(|token| bench.find(token).is_some_and(|done| done.blame.queue_gc == 0)));
    bench
}

#[test]
fn a_die_that_has_no_room_before_its_turn_goes_on_reading() {
    let mut bench = without_room();
    bench.read(20_000, 5, 7, 1).known_at(21_300, 5, 21_370, read_blame());
    bench.write(22_000, 6, 9, 1).advance(200_000);
    let waited = bench.find(6).map(|done| done.blame);
    assert!(waited.is_some_and(|blame| blame.queue_gc > 25_000), "a write waits for the turn: {waited:?}");
}

/// The write is refused when the read before it is done; the one behind it goes on at that moment.
#[test]
fn a_write_without_room_is_refused_and_the_reads_around_it_are_served() {
    let mut bench = without_room();
    bench.read(22_000, 5, 7, 1).submit(22_000, fast(6, Operation::Write, 9));
    bench.submit(22_100, fast(7, Operation::Read, 11));
    bench.known_at(24_600, 7, 24_670, Blame { queue_host: 1_200, ..read_blame() });
    let refused: Vec<_> = bench.device.refusals().iter().map(|one| (one.token, one.at)).collect();
    assert_eq!(refused, [(6, SimTime(23_300))]);
}

#[test]
fn what_fails_fast_does_not_wait_for_a_turn() {
    let mut config = limited(crate::seams::config(1), "fixed", &json!({ "start": 1.0, "channels": 1 }));
    config.geometry.chips_per_channel = 2;
    config.ftl.allocation_unit = AllocationUnit::Die;
    config.gc.hard_threshold = Amount::Blocks(1);
    config.gc.soft_threshold = Amount::Blocks(2);
    let mut device = device(&config, crate::seams::used(&config, 1));
    for lpn in 0..200 {
        let request =
            SubRequest { fast_fail: true, ..crate::seams::page(lpn, Operation::Write, u64::from(lpn)) };
        device.submit(SimTime::ZERO, request).expect("room");
    }
    let mut stays = 0;
    settle(&mut device, |device, _| stays += u32::from(!collecting(device).is_empty()));
    let waited = device.completions().iter().filter(|done| done.blame.queue_gc > 0).count();
    let refused = device.refusals().iter().filter(|refusal| refusal.blame.queue_gc > 0).count();
    assert_eq!((waited, refused), (0, 0), "nobody waits for collection");
    let pages: u32 = device.refusals().iter().map(|refusal| refusal.pages).sum();
    assert_eq!(device.completions().len() as u32 + pages, 200);
    assert!(pages > 0 && stays > 0);
}

#[test]
fn an_idle_device_collects_when_the_time_is_over_and_not_before() {
    let own = json!({ "low": 0.0, "high": 1.0, "idle": "1ms" });
    let config = limited(crate::seams::config(2), "idle-time", &own);
    let mut device = device(&config, crate::seams::used(&config, 8));
    // Fill the open block of one unit, so that a block is opened.
    (0..9).for_each(|page| write(&mut device, 0, page * 4));
    let mut done = SimTime::ZERO;
    while device.completions().len() < 9 {
        done = device.next_wakeup();
        device.advance_until(done, false).expect("room");
        assert!(collecting(&device).is_empty(), "the host is busy");
    }
    let due = SimTime(done.0 + 1_000_000);
    device.advance_until(SimTime(due.0 - 1), false).expect("room");
    assert!(collecting(&device).is_empty(), "idle for almost long enough");
    device.advance_until(due, false).expect("room");
    assert_eq!(collecting(&device).len(), 1, "half of two channels");
    // A read comes back: what has begun is finished, and nothing else begins until it is idle again.
    let back = due.0 + 1;
    device.submit(SimTime(back), crate::seams::page(9, Operation::Read, 1)).expect("room");
    let before = device.counters().gc_victims;
    device.advance_until(SimTime(back + 900_000), false).expect("room");
    assert!(device.counters().gc_victims <= before + 1, "one victim at most");
}

/// A die that a directive tells to collect while a read and a write run or wait; when each is done, in microseconds.
fn collected_beside_reads(schedule: &str, free: u32) -> [u64; 3] {
    let mut config = crate::seams::config(1);
    (config.gc.schedule, config.ftl.allocation_unit) = (schedule.into(), AllocationUnit::Die);
    config.link.bandwidth = 1_000_000_000_000;
    let ftl = crate::seams::used(&config, free);
    let mut device = device(&config, ftl);
    for (token, operation) in [(0, Operation::Read), (1, Operation::Write), (2, Operation::Read)] {
        device
            .submit(SimTime::ZERO, crate::seams::page(token, operation, 10 + u64::from(token)))
            .expect("room");
    }
    device.direct(SimTime::ZERO, Directive::Force(Stop::Internal));
    settle(&mut device, |_, _| {});
    let mut finish = [0; 3];
    for done in device.completions().drain(..) {
        finish[done.token as usize] = done.finish.0 / 1000;
    }
    finish
}

#[test]
fn reads_go_before_an_event_begins_or_after_it_as_the_schedule_says() {
    let read = READ.0 / 1000 + 25;
    let [first, write, second] = collected_beside_reads("after-reads", 8);
    let event = ERASE.0 / 1000;
    assert_eq!([first, second], [read, 2 * read], "the read that waits goes before the event");
    assert!(write > second + event + PROGRAM.0 / 1000, "and the write after it: {write}");
    let [first, write, second] = collected_beside_reads("blocking", 8);
    assert_eq!([first, write], [read, second + PROGRAM.0 / 1000 + 25], "in order of readiness");
    assert!(second > 2 * read + event, "the read, too, after the event: {second}");
    // At the hard threshold there is no difference.
    assert_eq!(collected_beside_reads("after-reads", 2), collected_beside_reads("blocking", 2));
}

#[test]
fn no_device_runs_out_of_blocks_because_its_channels_had_to_wait() {
    let mut rng = Rng::stream(1, "last blocks");
    for case in 0..150 {
        let mut config = crate::seams::config(1 + rng.below(3) as u32);
        config.geometry.chips_per_channel = 1 + rng.below(3) as u32;
        config.geometry.blocks_per_plane = 12 + rng.below(12) as u32;
        let by_plane = rng.chance(0.5);
        config.ftl.allocation_unit = if by_plane { AllocationUnit::Plane } else { AllocationUnit::Die };
        config.ftl.allocation = if rng.chance(0.3) { Allocation::Dynamic } else { Allocation::CWDP };
        let (hard, above) = (rng.below(3) as u32, rng.below(3) as u32);
        config.gc.hard_threshold = Amount::Blocks(hard);
        config.gc.soft_threshold = Amount::Blocks(hard + 1 + above);
        config.gc.stop_threshold = Amount::Blocks(hard + rng.below(3) as u32);
        config.ftl.reserved_blocks = Amount::Blocks(8);
        config.gc.min_victims = 1 + rng.below(3) as u32;
        let schedules =
            ["blocking", "ideal", "preemptive", "io-parallel", "preemptive-io-parallel", "after-reads"];
        config.gc.schedule = schedules[rng.below(6) as usize].into();
        config.geometry.own_pins = rng.chance(0.5);
        // Nothing starts of itself, or hardly anything.
        let policies = [
            ("adaptive", json!({ "low": 0.999, "high": 1.0 })),
            ("fixed", json!({ "start": 1.0, "channels": 1 })),
            ("rotation", json!({ "start": 1.0 })),
            ("queue-depth", json!({ "low": 0.9, "high": 1.0, "depth": 1 })),
            ("idle-time", json!({ "low": 0.9, "high": 1.0, "idle": "1s" })),
        ];
        let (policy, own) = &policies[rng.below(5) as usize];
        let config = limited(config, policy, own);
        eprintln!("case {case}: {config:?}");
        let ftl = Ftl::new(&config, case, "device/0").expect("feasible");
        let pages = u64::from(ftl.shape().logical_pages);
        let mut device = device(&config, ftl);
        let mut now = 0;
        for token in 0..3 * pages {
            device.advance_until(SimTime(now), false).unwrap_or_else(|why| panic!("case {case}: {why}"));
            let operation = if rng.chance(0.2) { Operation::Read } else { Operation::Write };
            let page = crate::seams::page(token as u32, operation, rng.below(pages));
            device.submit(SimTime(now), page).unwrap_or_else(|why| panic!("case {case}: {why}"));
            now += rng.below(3) * rng.below(100_000);
        }
        while device.next_wakeup() != SimTime::NEVER {
            let wakeup = device.next_wakeup();
            device.advance_until(wakeup, false).unwrap_or_else(|why| panic!("case {case}: {why}"));
        }
        assert_eq!(device.completions().len() as u64, 3 * pages, "case {case}: all host work is done");
    }
}

/// Blocks with 2, 2, 0, 0 and 0 invalid pages and four free ones, of nine; then one of the first full blocks loses a page, and
/// the write opens a block. Victims that are taken.
fn victims_under(own: &Value) -> u64 {
    let config = limited(crate::bench::planes(1), "fixed", own);
    let mut bench = crate::bench::Bench::with(&config, &[crate::bench::CALM]);
    let before = bench.device.counters().gc_victims;
    bench.write(0, 1, 12, 1).collected();
    bench.device.counters().gc_victims - before
}

#[test]
fn a_turn_that_nobody_asks_for_needs_a_victim_with_enough_invalid_pages() {
    let victims = |least: u32| victims_under(&json!({ "start": 0.0, "min_invalid": least }));
    assert_eq!([1, 2, 3].map(victims), [3, 2, 0]);
    // A directive asks for a victim, whatever it wins.
    let config = limited(crate::bench::planes(1), "fixed", &json!({ "start": 0.0, "min_invalid": 3 }));
    let mut bench = crate::bench::Bench::with(&config, &[crate::bench::CALM]);
    let before = bench.device.counters().gc_victims;
    bench.force(0).collected();
    assert_eq!(bench.device.counters().gc_victims - before, 1);
}

/// The write takes utilisation from 5 to 6 of 9 blocks, and a victim brings it back to 5 of 9: 0.556.
#[test]
fn dies_go_on_below_the_start_until_they_are_released() {
    let victims = |release: f64| victims_under(&json!({ "start": 0.65, "release": release }));
    assert_eq!([0.0, 0.09, 0.1].map(victims), [1, 1, 3]);
}
