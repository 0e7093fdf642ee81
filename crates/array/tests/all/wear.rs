//! What does an array do with members that are worn out, and with one that fails although no failure was configured?
//!
//! Contents are not verified here: the torture tests do that with members that wear out at any moment, on every level.

use crate::common::{PAGE, all_filled, level, one_die, request};
use harmonia_array::layout::{Copies, Groups, Pattern, Rotation};
use harmonia_array::{Array, ArrayConfig, Condition, Level, MishapKind};
use harmonia_engine::Rng;
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{Amount, WearConfig};
use harmonia_types::{Completion, DeviceId, Operation, SimTime};

const RAID5: Level = Level::Raid5(Rotation::LeftSymmetric);

fn levels() -> [(Level, u16); 8] {
    let copies = Level::Raid10(Copies { pattern: Pattern::Near, count: 2 });
    [
        (Level::Raid0, 3),
        (Level::Raid1, 2),
        (copies, 4),
        (Level::Raid4, 3),
        (RAID5, 4),
        (Level::Raid6(Rotation::LeftSymmetric), 5),
        (Level::Draid(Groups { parities: 1, data: 2, spares: 1 }), 7),
        (Level::Draid(Groups { parities: 2, data: 2, spares: 0 }), 4),
    ]
}

fn built(config: &ArrayConfig) -> Array {
    Array::new(config, all_filled(config, 1), None, |_| NoProbe).unwrap()
}

/// Lets all requests under way complete.
fn settle(array: &mut Array, now: &mut SimTime) -> Vec<Completion> {
    while array.next_wakeup() != SimTime::NEVER {
        *now = array.next_wakeup();
        array.advance_until(*now).unwrap();
    }
    let done: Vec<Completion> = array.completions().drain(..).collect();
    done.iter().for_each(|done| *now = (*now).max(done.finish));
    done
}

/// One page after the other: random writes, and now and then a read.
struct Load {
    rng: Rng,
    now: SimTime,
    id: u64,
}

impl Load {
    fn new() -> Load {
        Load { rng: Rng::stream(1, "load"), now: SimTime::ZERO, id: 0 }
    }

    fn one(&mut self, array: &mut Array) {
        let pages = array.layout().logical_bytes() / PAGE;
        let operation = if self.rng.chance(0.1) { Operation::Read } else { Operation::Write };
        let offset = self.rng.below(pages) * PAGE;
        array.submit(request(self.id, self.now, operation, offset, PAGE)).unwrap();
        self.id += 1;
        let done = settle(array, &mut self.now);
        assert_eq!(done.len(), 1, "request {} completes once", self.id);
    }
}

/// Whoever holds an array may let a member fail, also where nothing was to befall any.
#[test]
fn a_member_can_fail_in_an_array_that_was_built_without_faults() {
    for (of, members) in levels() {
        let config = level(of, &one_die(12, 16, 4), members, 4 * PAGE);
        let (mut array, mut load) = (built(&config), Load::new());
        (0..50).for_each(|_| load.one(&mut array));
        // With requests under way.
        for page in 0..8 {
            let operation = if page % 2 == 0 { Operation::Write } else { Operation::Read };
            array.submit(request(1_000 + page, load.now, operation, page * 4 * PAGE, PAGE)).unwrap();
        }
        array.fail(DeviceId(1), load.now).unwrap();
        array.fail(DeviceId(1), load.now).unwrap();
        assert_eq!(settle(&mut array, &mut load.now).len(), 8, "{of}");
        (0..200).for_each(|_| load.one(&mut array));
        let mishaps: Vec<_> = array.mishaps().iter().map(|mishap| (mishap.device, mishap.what)).collect();
        assert_eq!(mishaps, [(Some(DeviceId(1)), MishapKind::Failed)], "{of}");
        assert_eq!(array.health().of(DeviceId(1)), Condition::Failed, "{of}");
        let losses = array.counters().losses;
        // Of a mirror, reads that were under way may be lost.
        assert!(losses.unread_pages <= 4 || of == Level::Raid0, "{of}: {losses:?}");
        assert_eq!(losses.unwritten_pages > 0, of == Level::Raid0, "{of}: {losses:?}");
    }
}

fn wearing(of: Level, members: u16) -> ArrayConfig {
    let mut ssd = one_die(24, 16, 8);
    ssd.gc.hard_threshold = Amount::Blocks(1);
    ssd.wear = Some(WearConfig::of(5));
    level(of, &ssd, members, 4 * PAGE)
}

/// Without redundancy nobody fails: reads are served to the end, and writes that fail are counted.
#[test]
fn without_redundancy_a_member_that_is_worn_out_still_serves_reads() {
    let config = wearing(Level::Raid0, 3);
    assert!(config.is_faultless());
    let (mut array, mut load) = (built(&config), Load::new());
    while array.devices().iter().any(|device| device.read_only_since().is_none()) {
        load.one(&mut array);
        assert!(load.id < 100_000, "all members wear out");
    }
    let programs = |array: &Array| -> u64 {
        array.devices().iter().map(|device| device.counters().data_pages_programmed()).sum()
    };
    let failed = |array: &Array| -> u64 {
        array.devices().iter().map(|device| device.life().unwrap().failed_pages).sum()
    };
    let before = (programs(&array), failed(&array));
    (0..100).for_each(|page| {
        array.submit(request(load.id + page, load.now, Operation::Write, page * PAGE, PAGE)).unwrap()
    });
    assert_eq!(settle(&mut array, &mut load.now).len(), 100);
    assert_eq!((programs(&array), failed(&array)), (before.0, before.1 + 100));
    array.submit(request(0, load.now, Operation::Read, 0, 64 * PAGE)).unwrap();
    let at = load.now;
    assert!(settle(&mut array, &mut load.now)[0].finish > at, "a read takes its time");
    assert!(array.mishaps().is_empty() && array.health().is_whole());
}

/// With redundancy a member fails with the first write that it refuses, at that moment, and the array goes on without it.
#[test]
fn with_redundancy_a_member_that_is_worn_out_fails_with_its_next_write() {
    for (of, members) in levels().into_iter().filter(|(of, _)| *of != Level::Raid0) {
        let config = wearing(of, members);
        let (mut array, mut load) = (built(&config), Load::new());
        while array.devices().iter().all(|device| device.read_only_since().is_none()) {
            load.one(&mut array);
            assert!(load.id < 100_000, "{of}: a member wears out");
        }
        let first = array.devices().iter().position(|device| device.read_only_since().is_some()).unwrap();
        let ended = array.devices()[first].read_only_since().unwrap();
        // A write of everything reaches the member for sure.
        let length = array.layout().logical_bytes();
        array.submit(request(load.id, load.now, Operation::Write, 0, length)).unwrap();
        assert_eq!(settle(&mut array, &mut load.now).len(), 1, "{of}");
        let mishaps = array.mishaps();
        let of_first = |what: MishapKind| {
            let is_so = |mishap: &&harmonia_array::Mishap| {
                mishap.device == Some(DeviceId(first as u16)) && mishap.what == what
            };
            mishaps.iter().find(is_so).map(|mishap| mishap.at)
        };
        let refused = of_first(MishapKind::ReadOnly);
        assert!(refused.is_some_and(|at| at >= ended), "{of}: {mishaps:?}");
        assert_eq!(of_first(MishapKind::Failed), refused, "{of}");
        let is_one = mishaps.iter().filter(|mishap| mishap.what == MishapKind::ReadOnly).count() == 1;
        let losses = array.counters().losses;
        assert!(!is_one || losses.unwritten_pages == 0, "{of}: {losses:?}");
        // To the end of all of them: requests complete, whatever is lost.
        (0..3_000).for_each(|_| load.one(&mut array));
        array.audit();
    }
}
