//! What does a die do whose collection has a share of its work: who goes first, and when? Literal devices, literal nanoseconds, and
//! the rate at saturation against its closed form.
//!
//! ```text
//! GC read 1,300   program 5,300, of the host or of GC   erase 20,000   host read 1,300
//! ```
//!
//! The first victim of `SPREAD` has two pages to move.

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_flash::{Copyback, presets};
use harmonia_ssd::gc::victim::{self, NoReads};
use harmonia_ssd::probe::{AnyProbe, NoProbe, Probe, any, probe_as};
use harmonia_ssd::{
    Allocation, Amount, BeginsAt, Device, Frontiers, Ftl, Goal, Priority, SsdConfig, Trigger,
    WriteCacheConfig,
};
use harmonia_types::{IoCause, Operation, PlaneWork, SimDuration, SimTime};

/// When a die began what: R and W for the host, r and p for pages that move, e for an erase, E for a whole event.
#[derive(Default)]
struct Diary {
    is_checked: bool,
    of_first_die: Vec<(u64, char)>,
    /// Flash pages of victims read.
    reads: u64,
}

impl Probe for Diary {
    fn audits(&self) -> bool {
        self.is_checked
    }

    fn watches_planes(&self) -> bool {
        true
    }

    fn works(&mut self, at: SimTime, die: u32, _plane: Option<u32>, work: PlaneWork) {
        // Where a program carries several units, their reads are moves.
        self.reads += u64::from(work == PlaneWork::GcMove);
        let letter = match work {
            PlaneWork::HostRead => 'R',
            PlaneWork::HostProgram => 'W',
            PlaneWork::GcRead => 'r',
            PlaneWork::GcProgram => 'p',
            PlaneWork::Erase => 'e',
            PlaneWork::GcEvent => 'E',
            _ => '?',
        };
        if self.is_checked && die == 0 {
            self.of_first_die.push((at.0, letter));
        }
    }
}

fn shared(trigger: Trigger, host_share: f64) -> SsdConfig {
    let mut config = one_die();
    config.gc.schedule = "preemptive".into();
    (config.gc.trigger, config.gc.host_share) = (trigger, host_share);
    config.timing.copyback = Copyback::None;
    config.ftl.priority = Priority::ReadsFirst;
    // Data is there at once.
    config.link.bandwidth = 1 << 60;
    config
}

fn device(config: &SsdConfig, written: &[&[u32]]) -> Device<AnyProbe> {
    let ftl = Bench::with(config, written).device.ftl().clone();
    Device::new(config, ftl, any(Diary { is_checked: true, ..Diary::default() })).expect("feasible")
}

/// What die 0 does up to `end`, where requests of one page arrive at these moments.
fn does(config: &SsdConfig, written: &[u32], arrivals: &[(u64, Operation, u64)], end: u64) -> String {
    let mut device = device(config, &[written]);
    for (token, &(at, operation, page)) in (1..).zip(arrivals) {
        device.advance_until(SimTime(at), false).expect("room");
        device.submit(SimTime(at), sub(token, operation, page, 1)).expect("room");
    }
    device.advance_until(SimTime(end), false).expect("room");
    device.audit();
    let diary = &probe_as::<Diary>(device.probe()).of_first_die;
    diary.iter().map(|(at, work)| format!("{work}{at} ")).collect::<String>().trim_end().to_owned()
}

const WRITES: [(u64, Operation, u64); 4] = [
    (0, Operation::Write, 12),
    (0, Operation::Write, 13),
    (0, Operation::Write, 14),
    (0, Operation::Write, 15),
];

/// Three parts of collection for one of the host: 15,900 for a program. Both moves and 2,700 of the erase are that.
#[test]
fn in_a_burst_collection_has_its_share_before_the_next_write() {
    let config = shared(Trigger::Bursts, 0.25);
    let begun = "W0 r5300 p6600 r11900 p13200 e18500";
    assert_eq!(does(&config, SPREAD, &WRITES[..2], 38_499), begun);
    // The event is over, 3 blocks are free, and nobody owes anything.
    assert_eq!(does(&config, SPREAD, &WRITES[..2], 38_500), format!("{begun} W38500"));
    // The second write opens a block, and the third finds 2 free again: it goes first, as the first one did.
    let third = does(&config, SPREAD, &WRITES, 70_000);
    assert!(third.starts_with(&format!("{begun} W38500 W43800 r49100 ")), "{third}");
}

/// Half and half: one move is more than a program, so a write goes before the next move, and that move is owed less.
#[test]
fn with_half_of_the_work_each_they_take_turns() {
    let mut config = shared(Trigger::Bursts, 0.5);
    config.gc.hard_threshold = Amount::Blocks(0);
    config.gc.soft_threshold = Amount::Blocks(2);
    // 5,300 are owed, and 1,300 beyond that are done. So of the second write's 5,300 there are 4,000 left to do, and a read and
    // a program are 2,600 more than that. Of the third write's 5,300 the erase does the rest.
    let expected = "W0 r5300 p6600 W11900 r17200 p18500 W23800 e29100 W49100";
    assert_eq!(does(&config, SPREAD, &WRITES, 49_100), expected);
}

/// The span between soft and hard is 8 pages. Behind the writes there are 6, 5, 4 and 3 of room.
#[test]
fn in_proportion_the_share_grows_as_room_falls() {
    let mut config = shared(Trigger::Proportional, 0.15);
    config.gc.hard_threshold = Amount::Blocks(0);
    config.gc.soft_threshold = Amount::Blocks(2);
    // 2 / 6 of 5,300, and a move does 4,834 more. 3 / 5 is less than that, and 4 / 4 is 3,646 beyond it: another move, which does 2,954
    // more. 5 / 3 is 5,879 beyond that.
    let expected = "W0 r5300 p6600 W11900 W17200 r22500 p23800 W29100 e34400";
    assert_eq!(does(&config, SPREAD, &WRITES, 40_000), expected);
    // Closer to hard: of a span of 4 pages 2 are left, and then of one of 8.
    (config.gc.hard_threshold, config.gc.soft_threshold) = (Amount::Blocks(1), Amount::Blocks(2));
    assert_eq!(does(&config, SPREAD, &WRITES, 11_900), "W0 r5300 p6600 W11900");
    config.gc.soft_threshold = Amount::Blocks(3);
    assert_eq!(does(&config, SPREAD, &WRITES, 18_500), "W0 r5300 p6600 r11900 p13200 e18500");
}

/// What the other triggers do under the same schedule: writes go before each step.
#[test]
fn without_a_share_writes_go_first_as_long_as_there_is_room() {
    let config = shared(Trigger::Foreground, 0.15);
    let all = does(&config, SPREAD, &WRITES, 15_900);
    assert_eq!(all, "W0 W5300 W10600 W15900");
}

#[test]
fn reads_are_in_no_account_and_go_first() {
    let config = shared(Trigger::Bursts, 0.25);
    let reads = [(0, Operation::Write, 12), (5_000, Operation::Read, 2), (7_000, Operation::Read, 3)];
    let all = does(&config, SPREAD, &reads, 18_500);
    assert_eq!(all, "W0 R5300 r6600 R7900 p9200 r14500 p15800");
}

/// One block is free, which is the hard threshold: writes wait for the erase, and reads for the step that runs. The victim has one
/// page to move.
#[test]
fn at_the_hard_threshold_reads_go_first_and_writes_wait() {
    let low = [SPREAD, &[9, 0, 6, 14]].concat();
    let arrivals = [(0, Operation::Write, 12), (100, Operation::Read, 13)];
    let at = |trigger| does(&shared(trigger, 0.99), &low, &arrivals, 27_900);
    for trigger in [Trigger::Proportional, Trigger::Bursts] {
        assert_eq!(at(trigger), "r0 R1300 p2600 e7900 W27900", "{trigger:?}");
    }
    assert_eq!(at(Trigger::Foreground), "E0 R26600 W27900");
}

/// Two dies, of which the first collects when the third write chooses one.
#[test]
fn a_die_that_shares_its_work_takes_writes_while_it_collects() {
    let writes = |trigger| {
        let mut config = shared(trigger, 0.25);
        config.geometry.channels = 2;
        config.ftl.allocation = Allocation::Dynamic;
        config.gc.soft_threshold = Amount::Blocks(2);
        let mut device = device(&config, &[SPREAD, &SPREAD[..16]]);
        for (token, at) in [(1, 0), (2, 0), (3, 12_000)] {
            device.advance_until(SimTime(at), false).expect("room");
            device.submit(SimTime(at), sub(token, Operation::Write, 20 + u64::from(token), 1)).expect("room");
        }
        device.advance_until(SimTime(100_000), false).expect("room");
        let diary = &probe_as::<Diary>(device.probe()).of_first_die;
        diary.iter().filter(|(_, work)| *work == 'W').count()
    };
    assert_eq!((writes(Trigger::Bursts), writes(Trigger::Foreground)), (2, 1));
}

#[test]
fn a_schedule_that_lets_no_write_between_steps_is_refused() {
    for schedule in ["blocking", "stepwise", "io-parallel", "after-reads"] {
        for trigger in [Trigger::Proportional, Trigger::Bursts] {
            let mut config = shared(trigger, 0.15);
            config.gc.schedule = schedule.into();
            let refused = config.resolve().expect_err("nothing to share");
            assert_eq!(refused.key, "ssd.gc.trigger", "{refused}");
            assert!(refused.why.contains("ssd.gc.schedule = \"preemptive\" works"), "{refused}");
        }
    }
    for schedule in ["preemptive", "preemptive-io-parallel", "slack"] {
        let mut config = shared(Trigger::Proportional, 0.15);
        config.gc.schedule = schedule.into();
        config.resolve().unwrap_or_else(|error| panic!("{schedule}: {error}"));
    }
}

/// A comparison holds every drive against collection that takes no time.
#[test]
fn collection_that_takes_no_time_shares_nothing() {
    let at = |trigger| {
        let mut config = shared(trigger, 0.25);
        config.gc.schedule = "ideal".into();
        does(&config, SPREAD, &WRITES, 70_000)
    };
    assert_eq!(at(Trigger::Foreground), "W0 W5300 W10600 W15900");
    for trigger in [Trigger::Proportional, Trigger::Bursts] {
        assert_eq!(at(trigger), at(Trigger::Foreground), "{trigger:?}");
    }
}

/// Part of a drive of data centres: 8 dies, blocks of 16 programs.
pub fn modern(spare: f64, trigger: Trigger) -> SsdConfig {
    let mut config = SsdConfig::of(presets::find("modern-tlc-1t").expect("known"));
    let geometry = &mut config.geometry;
    (geometry.channels, geometry.blocks_per_plane, geometry.pages_per_block) = (4, 256, 48);
    config.timing.erase = SimDuration::from_us(333);
    config.link.latency = SimDuration::ZERO;
    config.write_cache = WriteCacheConfig { size: Some(6 << 20), ..WriteCacheConfig::default() };
    config.ftl.reserved_blocks = Amount::Percent(spare);
    config.ftl.allocation = Allocation::Dynamic;
    config.ftl.frontiers = Frontiers::Separate;
    config.ftl.mapping_unit = Some(4_096);
    config.ftl.priority = Priority::ReadsFirst;
    config.gc.schedule = "preemptive".into();
    (config.gc.trigger, config.gc.begins_at) = (trigger, BeginsAt::Soft);
    (config.gc.hard_threshold, config.gc.soft_threshold) = (Amount::Percent(2.5), Amount::AboveHard(5));
    config.gc.stop_threshold = Amount::AboveHard(if trigger == Trigger::Bursts { 8 } else { 0 });
    config
}

/// Counters at one moment, or between two.
pub struct Counted {
    /// Unit: ns.
    pub at: u64,
    /// Units programmed for the host.
    pub host: u64,
    /// Units programmed for collection, padding included.
    pub moved: u64,
    /// Of these, padding.
    pub padded: u64,
    /// Flash pages of victims read.
    reads: u64,
}

/// Fills the device in order, and then overwrites it twice at random, without taking time.
pub fn age(config: &SsdConfig, ftl: &mut Ftl, rng: &mut Rng) {
    let shape = ftl.shape().clone();
    let policy = victim::build(&config.gc.victim).expect("registered");
    let goal = Goal { stop: shape.stop, min_victims: 1 };
    let pages = u64::from(shape.logical_pages);
    for step in 0..3 * pages {
        let lpn = if step < pages { step } else { rng.below(pages) };
        let unit = (step % u64::from(shape.units())) as u32;
        if ftl.free_blocks(unit) <= shape.ages_at {
            ftl.unit(unit).collect(goal, &*policy, &NoReads, SimTime::ZERO, &mut NoProbe).expect("room");
        }
        ftl.program(unit, lpn as u32, IoCause::Host, None, &mut NoProbe).expect("room");
    }
}

/// Keeps so many random writes of one unit outstanding, for a while and then for as long again; what the second half did.
pub fn saturated(config: &SsdConfig, writes: u64) -> Counted {
    const DEPTH: u32 = 512;
    let mut ftl = Ftl::new(config, 1, "device").expect("feasible");
    let mut rng = Rng::stream(1, "saturated");
    let units = u64::from(ftl.shape().logical_pages);
    age(config, &mut ftl, &mut rng);
    let mut device = Device::new(config, ftl, any(Diary::default())).expect("feasible");
    let (mut submitted, mut now, mut half) = (0, SimTime::ZERO, None);
    let count = |device: &Device<AnyProbe>, now: SimTime| {
        let counters = device.counters();
        let [host, moved] = [IoCause::Host, IoCause::Gc].map(|cause| counters.programmed(cause));
        let padded = counters.padding[IoCause::Gc as usize] / PAGE;
        Counted { at: now.0, host, moved, padded, reads: probe_as::<Diary>(device.probe()).reads }
    };
    let mut waiting = u64::from(DEPTH);
    while submitted < writes {
        for _ in 0..std::mem::take(&mut waiting) {
            let page = rng.below(units);
            device.submit(now, sub(submitted as u32, Operation::Write, page, 1)).expect("room");
            submitted += 1;
        }
        if half.is_none() && submitted >= writes / 2 {
            half = Some(count(&device, now));
        }
        now = device.next_wakeup();
        device.advance_until(now, false).expect("room");
        waiting += device.completions().drain(..).count() as u64;
        device.notices().clear();
        device.gc_intervals().clear();
    }
    let (from, to) = (half.expect("there are two halves"), count(&device, now));
    Counted {
        at: to.at - from.at,
        host: to.host - from.host,
        moved: to.moved - from.moved,
        padded: to.padded - from.padded,
        reads: to.reads - from.reads,
    }
}

/// A unit that the host writes costs W programs, and the W - 1 of them that copy cost k programs' time for their reads: media rate /
/// (W + k (W - 1)). The host fills all of its programs, and nothing reads.
#[test]
#[ignore = "long: make simulations"]
fn the_rate_at_saturation_is_what_collection_leaves() {
    let (proportional, bursts) = (Trigger::Proportional, Trigger::Bursts);
    for (trigger, spares) in [(proportional, &[15.0, 20.0, 30.0][..]), (bursts, &[20.0])] {
        for &spare in spares {
            let config = modern(spare, trigger);
            let Counted { at, host, moved, reads, .. } = saturated(&config, 400_000);
            let timing = &config.timing;
            let transfer = config.unit_transfer().0 as f64;
            let units = f64::from(4 * config.geometry.program_planes * config.geometry.program_pages);
            // A unit's part of a program, and of the reads before it is copied.
            let program = timing.program.mean().0 as f64 / units + transfer;
            let read = timing.read.mean().0 as f64 * reads as f64 / moved as f64 + transfer;
            let dies = f64::from(config.geometry.channels * config.geometry.chips_per_channel);
            let (w, k) = ((host + moved) as f64 / host as f64, read / program);
            let expected = dies * 1e9 / program / (w + k * (w - 1.0));
            let rate = host as f64 * 1e9 / at as f64;
            let off = rate / expected - 1.0;
            eprintln!(
                "{trigger:?} {spare}%: {rate:.0}/s, {expected:.0} expected ({:+.1}%), W {w:.2}, k {k:.2}",
                100.0 * off
            );
            assert!(off.abs() < 0.02, "{trigger:?} with {spare}% of spare: {rate:.0} and not {expected:.0}");
        }
    }
}

/// Commands of two planes are in the account like others: programs for what both pages take, reads for nothing.
#[test]
fn a_program_of_two_planes_is_owed_for_and_a_read_of_two_planes_is_not() {
    let mut config = planes(2);
    config.gc.schedule = "preemptive".into();
    (config.gc.trigger, config.gc.host_share) = (Trigger::Bursts, 0.25);
    (config.ftl.multi_plane, config.ftl.priority) = (true, Priority::ReadsFirst);
    config.link.bandwidth = 1 << 60;
    let does = |arrivals: &[(u64, Operation, u64)]| {
        let mut device = device(&config, &[SPREAD, SPREAD]);
        for (token, &(at, operation, page)) in (1..).zip(arrivals) {
            device.advance_until(SimTime(at), false).expect("room");
            device.submit(SimTime(at), sub(token, operation, page, 1)).expect("room");
        }
        device.advance_until(SimTime(60_000), false).expect("room");
        let diary = &probe_as::<Diary>(device.probe()).of_first_die;
        diary.iter().map(|(at, work)| format!("{work}{at} ")).collect::<String>()
    };
    let (read, write) = (Operation::Read, Operation::Write);
    // Programs of 5,600 are owed 16,800: two moves and part of an erase.
    let programs =
        does(&[(0, read, 24), (100, write, 24), (100, write, 25), (100, write, 26), (100, write, 27)]);
    assert!(programs.starts_with("R0 W1300 W1300 r6900 p8200 r13500 p14800 e20100 W40100 "), "{programs}");
    let reads = does(&[(0, read, 24), (100, read, 26), (100, read, 27), (100, write, 24)]);
    assert!(reads.starts_with("R0 R1300 R1300 W2900 r8200 "), "{reads}");
}
