//! What do orders, windows, refusals, status and NVRAM mean where members have write caches? Literal times.
//!
//! Members of one die, one page a stripe unit, left-symmetric RAID-5 where there is redundancy. The host is answered as soon as a page has a slot:
//!
//! ```text
//! stripe   member 0   member 1   member 2        a read: 25 us and 20 us of transfer
//! 0        page 0     page 1     P               a program: 20 us of transfer and 200 us
//! 1        page 3     P          page 2          collecting a block without valid pages: 1.5 ms
//! 2        P          page 4     page 5
//! ```
//!
//! Not verified: contents (`contents` does).

use std::sync::{Arc, Mutex};

use crate::common::{PAGE, all_filled, drain, level, one_die, request, us};
use harmonia_array::coordination::{Action, Coordinator, DeliveredView, Event, Interests};
use harmonia_array::layout::Layout;
use harmonia_array::payload::NoPayload;
use harmonia_array::planner::Dodge;
use harmonia_array::planner::Planner;
use harmonia_array::planner::parity::ParityPlanner;
use harmonia_array::planner::striped::StripedPlanner;
use harmonia_array::{Array, ArrayConfig, Avoid, Faults, Interface, Knowledge, Level, Parts, Reads, When};
use harmonia_ssd::WriteCacheConfig;
use harmonia_ssd::interface::{Status, Stop};
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{Completion, DeviceId, IoCause, Operation, RequestBlame, SimDuration, SimTime};

const RAID5: Level = Level::Raid5(harmonia_array::layout::Rotation::LeftSymmetric);
const ZERO: DeviceId = DeviceId(0);
const ONE: DeviceId = DeviceId(1);
/// Collecting a block without valid pages.
const COLLECT: u64 = 1_500;
const PROGRAM: u64 = 220;

/// What was heard: when in us, what, and the status that came with it.
type Heard = (u64, Event, Option<Status>);

/// Acts at given times in us, and writes down what it hears of members.
#[derive(Clone)]
struct Script {
    acts: Vec<(u64, Action)>,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Coordinator for Script {
    fn interests(&self) -> Interests {
        Interests { devices: true, ..Interests::default() }
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        match *event {
            Event::Start => {
                let timer = |(&(at, _), number): (&(u64, Action), u64)| Action::Timer(us(at), number);
                actions.extend(self.acts.iter().zip(0..).map(timer));
            }
            Event::Timer(number) => actions.push(self.acts[number as usize].1),
            event => {
                let status = match event {
                    Event::Status(device) => view.members[device.index()].status,
                    _ => None,
                };
                self.heard.lock().expect("nobody has panicked").push((now.0 / 1_000, event, status));
            }
        }
    }
}

/// An array of members with a cache of so many pages each, all of it written so often.
struct Stage {
    config: ArrayConfig,
    written: u32,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Stage {
    fn new(of: Level, members: u16, pages: u64) -> Stage {
        let mut ssd = one_die(16, 4, 12);
        ssd.write_cache = WriteCacheConfig {
            size: Some(pages * PAGE),
            ack: SimDuration::ZERO,
            ..WriteCacheConfig::default()
        };
        Stage { config: level(of, &ssd, members, PAGE), written: 2, heard: Arc::default() }
    }

    fn build(&self, acts: &[(u64, Action)]) -> Array {
        let config = &self.config;
        let whole = config.layout();
        let dodge = Dodge {
            reads: config.knowledge.reads,
            parks: config.knowledge.nvram > 0,
            may_fail: false,
            degraded_writes: config.degraded_writes,
            page_read: SimDuration::from_us(45),
            free_stripes: 0,
            placing: Default::default(),
        };
        let planner: Box<dyn Planner> = match whole.clone() {
            Layout::Parity(parity) => {
                Box::new(ParityPlanner::new(&whole, parity, config.small_write, PAGE).dodging(dodge))
            }
            Layout::Striped(striped) => Box::new(StripedPlanner::new(striped).dodging(PAGE, dodge)),
            Layout::Mirrored(_) => unreachable!("none has copies"),
        };
        let coordinator = Box::new(Script { acts: acts.to_vec(), heard: Arc::clone(&self.heard) });
        let parts = Parts { coordinator, planner, payload: NoPayload };
        Array::with_parts(config, all_filled(config, self.written), parts, |_| NoProbe).unwrap()
    }

    /// What was heard so far, but for answers to queries.
    fn heard(&self) -> Vec<(u64, Event)> {
        let heard = self.heard.lock().expect("nobody has panicked");
        heard.iter().filter(|heard| heard.2.is_none()).map(|&(at, event, _)| (at, event)).collect()
    }

    fn statuses(&self) -> Vec<(u64, Status)> {
        let heard = self.heard.lock().expect("nobody has panicked");
        heard.iter().filter_map(|&(at, _, status)| Some((at, status?))).collect()
    }
}

fn submit(array: &mut Array, id: u64, at: u64, operation: Operation, page: u64, pages: u64) {
    array.advance_until(us(at)).unwrap();
    array.submit(request(id, us(at), operation, page * PAGE, pages * PAGE)).unwrap();
    array.audit();
}

/// All completions, by id.
fn finish(array: &mut Array) -> Vec<Completion> {
    let mut done = drain(array);
    done.sort_unstable_by_key(|done| done.id);
    for done in &done {
        assert_eq!(done.blame.total(), done.response().0, "blame sums to the response");
    }
    done
}

fn finishes(done: &[Completion]) -> Vec<u64> {
    done.iter().map(|done| done.finish.0 / 1_000).collect()
}

/// A write that waited for a slot: so long because its die collected, and so long for programs. In us.
fn waited(queue_gc: u64, cache_wait: u64) -> RequestBlame {
    let mut blame = RequestBlame::default();
    (blame.data.queue_gc, blame.data.cache_wait) = (queue_gc * 1_000, cache_wait * 1_000);
    blame
}

/// Four slots. Page 0 is being programmed when the order comes, so that the member collects from 220 us on.
#[test]
fn writes_go_on_while_a_member_collects_on_command_until_its_cache_is_full() {
    let stage = Stage::new(Level::Raid0, 1, 4);
    let mut array = stage.build(&[(100, Action::Force(ZERO, Stop::Internal))]);
    (0..3).for_each(|page| submit(&mut array, page, 0, Operation::Write, page, 1));
    (3..6).for_each(|page| submit(&mut array, page, 300, Operation::Write, page, 1));
    let done = finish(&mut array);
    let ended = Event::GcEnded { device: ZERO, registered: false };
    let end = PROGRAM + COLLECT;
    assert_eq!(stage.heard(), [(PROGRAM, Event::GcStarted(ZERO)), (end, ended)]);
    // The first program after the collection makes room for the sixth.
    assert_eq!(finishes(&done), [0, 0, 0, 300, 300, end + PROGRAM]);
    assert_eq!(done[5].blame, waited(end - 300, PROGRAM));
    assert_eq!(
        done.iter().map(|done| done.met_gc).collect::<Vec<_>>(),
        [false, false, false, false, false, true]
    );
}

/// An order for idle time finds a member at work that has answered all its writes. The same order finds it idle when they are on flash.
#[test]
fn an_order_for_idle_time_does_nothing_while_a_cache_has_what_is_not_on_flash() {
    let stage = Stage::new(Level::Raid0, 1, 4);
    let order = Action::Force(ZERO, Stop::AllReserve);
    let mut array = stage.build(&[(100, order), (219, order), (221, order)]);
    submit(&mut array, 0, 0, Operation::Write, 0, 1);
    let done = finish(&mut array);
    assert_eq!(finishes(&done), [0]);
    assert_eq!(stage.heard()[0], (221, Event::GcStarted(ZERO)));
    assert_eq!(stage.heard().len(), 2, "once");
}

/// The member is to collect in no window. It has 4 of 16 blocks free, of which 3 may be taken: 12 programs, the next of which opens the last one.
/// Thirteen writes come at once, and find eight slots.
#[test]
fn a_member_that_must_not_collect_warns_of_what_its_cache_will_program() {
    let stage = Stage { written: 3, ..Stage::new(Level::Raid0, 1, 8) };
    let mut array =
        stage.build(&[(0, Action::Hold(ZERO)), (1, Action::Query(ZERO)), (3_000, Action::Query(ZERO))]);
    (0..13).for_each(|page| submit(&mut array, page, 0, Operation::Write, page, 1));
    // At its hard threshold it collects all the same, and nobody notices until the cache is full.
    (13..22).for_each(|page| submit(&mut array, page, 3_000, Operation::Write, page % 16, 1));
    let done = finish(&mut array);
    let finishes = finishes(&done);
    assert_eq!(finishes[..8], [0; 8]);
    assert_eq!(finishes[8..13], [1, 2, 3, 4, 5].map(|program| program * PROGRAM));
    assert_eq!(finishes[13..21], [3_000; 8]);
    assert_eq!(finishes[21], 3_000 + COLLECT + PROGRAM);
    assert_eq!(done[21].blame, waited(COLLECT, PROGRAM));
    // It warns with the fifth program, which takes another block: eight writes are left, and its cache has as many.
    let heard = stage.heard();
    let expected = [
        (4 * PROGRAM, Event::WindowWarning(ZERO)),
        (8 * PROGRAM, Event::SoftThreshold(ZERO)),
        (12 * PROGRAM, Event::HardThreshold(ZERO)),
        (3_000, Event::GcStarted(ZERO)),
    ];
    assert_eq!(heard[..4], expected);
    let left: Vec<_> = stage
        .statuses()
        .iter()
        .map(|(at, status)| (*at, status.window_writes, status.writes_until_hard))
        .collect();
    assert_eq!(left, [(1, 4, 4), (3_000, 0, 0)]);
}

/// Blocks count as free until programs open them, whatever the cache has answered for. What is left to write does not.
#[test]
fn what_a_member_reports_has_its_cache_in_what_it_can_still_take_and_not_in_free_blocks() {
    let stage = Stage::new(Level::Raid0, 1, 8);
    let mut array =
        stage.build(&[(0, Action::Query(ZERO)), (1, Action::Query(ZERO)), (1_800, Action::Query(ZERO))]);
    array.advance_until(us(0)).unwrap();
    (0..8).for_each(|page| submit(&mut array, page, 0, Operation::Write, page, 1));
    assert_eq!(finishes(&finish(&mut array)), [0; 8]);
    let told: Vec<_> = stage
        .statuses()
        .iter()
        .map(|(at, status)| (*at, status.free_total, status.writes_until_hard, status.queue_depth))
        .collect();
    // Eight free blocks, of which seven may be taken. The first program has opened one of them and 7 pages wait, then all 8 are on flash.
    assert_eq!(told, [(0, 8, 28, 0), (1, 7, 20, 8), (1_800, 6, 20, 0)]);
}

/// Member 1 collects. Its cache has page 1, so a read of it is answered; page 4 is on flash only.
#[test]
fn a_unit_in_the_cache_of_a_member_that_collects_is_read_there_and_others_are_refused() {
    for interface in [Interface::Busy, Interface::Command] {
        let mut stage = Stage::new(RAID5, 3, 4);
        stage.config.knowledge =
            Knowledge { interface, reads: Reads::Avoid(Avoid::Longest), ..Knowledge::default() };
        let mut array = stage.build(&[(0, Action::Force(ONE, Stop::Internal))]);
        submit(&mut array, 0, 10, Operation::Write, 0, 2);
        submit(&mut array, 1, 20, Operation::Read, 1, 1);
        submit(&mut array, 2, 20, Operation::Read, 4, 1);
        let done = finish(&mut array);
        // The others program page 0 and P until 230 us.
        assert_eq!(finishes(&done), [10, 20, 10 + PROGRAM + 45], "{interface}");
        let reads = array.counters().reads;
        assert_eq!((reads.rebuilt_pages, reads.extra_pages, reads.waited_pages), (1, 2, 0), "{interface}");
    }
}

/// The log says which member collects, and not what its cache has. So the others are read.
#[test]
fn where_the_array_knows_members_by_their_log_what_is_cached_is_rebuilt_from_the_others() {
    let mut stage = Stage::new(RAID5, 3, 4);
    stage.config.knowledge =
        Knowledge { interface: Interface::Log, reads: Reads::Avoid(Avoid::Longest), ..Knowledge::default() };
    let mut array = stage.build(&[(0, Action::Force(ONE, Stop::Internal)), (5, Action::Query(ONE))]);
    submit(&mut array, 0, 10, Operation::Write, 0, 2);
    submit(&mut array, 1, 20, Operation::Read, 1, 1);
    // The array asks for as long as it runs.
    array.advance_until(us(3_000)).unwrap();
    let done: Vec<_> = array.completions().drain(..).collect();
    assert_eq!(finishes(&done), [10, 20], "their caches have page 0 and P");
    let reads = array.counters().reads;
    assert_eq!((reads.rebuilt_pages, reads.extra_pages), (1, 2));
}

/// Two slots. A cache refuses no write, so NVRAM gets none of them, and the third waits for the member. A reserved member is given none, and NVRAM
/// answers for it.
#[test]
fn nvram_takes_what_is_for_a_reserved_member_and_not_what_a_full_cache_keeps_waiting() {
    let mut stage = Stage::new(Level::Raid0, 1, 2);
    stage.config.knowledge.nvram = 4 * PAGE;
    let mut array = stage.build(&[(0, Action::Force(ZERO, Stop::Internal))]);
    (0..3).for_each(|page| submit(&mut array, page, 10, Operation::Write, page, 1));
    assert_eq!(finishes(&finish(&mut array)), [10, 10, COLLECT + PROGRAM]);
    assert_eq!(array.counters().nvram.parked_pages, 0);

    let mut array = stage.build(&[(0, Action::Reserve(ZERO)), (100, Action::Return(ZERO))]);
    (0..3).for_each(|page| submit(&mut array, page, 10, Operation::Write, page, 1));
    // They go back together. The third has a slot when the first is on flash.
    for (at, left) in [(100 + PROGRAM - 1, 3), (100 + PROGRAM, 0)] {
        array.advance_until(us(at)).unwrap();
        assert_eq!(array.counters().nvram.pages_left, left, "at {at} us");
    }
    assert_eq!(finishes(&finish(&mut array)), [10, 10, 10]);
    let nvram = array.counters().nvram;
    assert_eq!((nvram.parked_pages, nvram.destaged_pages, nvram.pages_left), (3, 3, 0));
}

/// One member, which is reserved from 50 to 200 us. Power is lost at a time in us, if at all.
fn nvram_above_a_cache_that_forgets(lost_at: Option<u64>) -> Array {
    let mut stage = Stage::new(Level::Raid0, 1, 4);
    stage.config.members[0].ssd.write_cache.power_protected = false;
    stage.config.knowledge.nvram = 4 * PAGE;
    let power_losses = lost_at.map(|at| When::Time(us(at))).into_iter().collect();
    stage.config.faults = Faults { power_losses, ..Faults::default() };
    stage.build(&[(50, Action::Reserve(ZERO)), (200, Action::Return(ZERO))])
}

/// The member forgets what it caches. It programs page 8 from 60 to 260 us; page 0, which was written again, waits in its cache. The next version of page 0
/// is parked, and the host discards it. The discard reaches the member at 200 us and drops what the cache has. Nothing older may be there from
/// its answer on: that comes when the die has unmapped the page, and until then NVRAM keeps it.
#[test]
fn nvram_keeps_what_a_discard_replaces_until_older_data_cannot_come_back() {
    for lost_at in [None, Some(250)] {
        let mut array = nvram_above_a_cache_that_forgets(lost_at);
        submit(&mut array, 0, 40, Operation::Write, 8, 1);
        submit(&mut array, 1, 45, Operation::Write, 0, 1);
        submit(&mut array, 2, 100, Operation::Write, 0, 1);
        submit(&mut array, 3, 110, Operation::Trim, 0, 1);
        let held = |array: &Array| array.counters().nvram.pages_left;
        array.advance_until(us(249)).unwrap();
        assert_eq!(held(&array), 1, "{lost_at:?}");
        assert!(array.devices()[0].ftl().lookup(0, 0).is_some(), "{lost_at:?}: the die has yet to unmap it");
        let done = finish(&mut array);
        // What was cut short is submitted again, and finds the die free when it has programmed page 8.
        assert_eq!(finishes(&done), [40, 45, 100, 260], "{lost_at:?}");
        assert!(array.devices()[0].ftl().lookup(0, 0).is_none(), "{lost_at:?}");
        assert_eq!((held(&array), array.counters().nvram.superseded_pages), (0, 1), "{lost_at:?}");
    }
}

/// The member forgets what it caches. It programs page 8 from 100 us on, and then page 0, which NVRAM has answered for and a flush has made durable.
/// So NVRAM keeps page 0 until its program has ended, and a loss of power before that takes nothing.
#[test]
fn nvram_keeps_what_a_cache_that_forgets_has_not_programmed() {
    for lost_at in [None, Some(250)] {
        let mut array = nvram_above_a_cache_that_forgets(lost_at);
        submit(&mut array, 0, 40, Operation::Write, 8, 1);
        submit(&mut array, 1, 100, Operation::Write, 0, 1);
        submit(&mut array, 2, 110, Operation::Flush, 0, 0);
        let old = array.devices()[0].ftl().lookup(0, 0);
        array.advance_until(us(249)).unwrap();
        let held = array.counters().nvram;
        assert_eq!((held.pages_left, held.destaged_pages), (1, 0), "{lost_at:?}: its cache has it, too");
        let done = finish(&mut array);
        assert_eq!(finishes(&done)[..2], [40, 100], "{lost_at:?}");
        assert_ne!(
            array.devices()[0].ftl().lookup(0, 0),
            old,
            "{lost_at:?}: page 0 is the one that was flushed"
        );
        assert_eq!(array.devices()[0].counters().programs[IoCause::Host as usize], 32 + 2, "{lost_at:?}");
        let nvram = array.counters().nvram;
        assert_eq!((nvram.pages_left, nvram.destaged_pages), (0, 1), "{lost_at:?}");
    }
}
