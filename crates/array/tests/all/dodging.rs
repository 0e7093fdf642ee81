//! Who waits for a member that collects, and who does without it, or without one that failed? Literal times for reads around
//! members, races, parking, reservations, and failures.
//!
//! Three members (RAID-5), or four (RAID-6), one page a stripe unit, left-symmetric:
//!
//! ```text
//! RAID-5   member 0   member 1   member 2        a read: 25 us and 20 us of transfer
//! 0        page 0     page 1     P               a write: 20 us of transfer and 200 us
//! 1        page 3     P          page 2          collecting a block without valid pages: 1.5 ms
//! 2        P          page 4     page 5
//! ```

use std::sync::{Arc, Mutex};

use crate::common::{Forces, PAGE, all_filled, drain, level, one_die, request, us};
use harmonia_array::coordination::{Action, Coordinator, DeliveredView, Event, Interests};
use harmonia_array::layout::{Copies, Layout};
use harmonia_array::payload::NoPayload;
use harmonia_array::planner::mirrored::MirroredPlanner;
use harmonia_array::planner::parity::ParityPlanner;
use harmonia_array::planner::striped::StripedPlanner;
use harmonia_array::planner::{Dodge, Planner};
use harmonia_array::{
    Array, ArrayConfig, Avoid, Befalls, Fault, Faults, Interface, Knowledge, Level, Parts, Reads, When,
};
use harmonia_ssd::interface::Stop;
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{Completion, DeviceId, Operation, SimDuration, SimTime};

const LONGEST: Reads = Reads::Avoid(Avoid::Longest);
const RAID5: Level = Level::Raid5(harmonia_array::layout::Rotation::LeftSymmetric);
const RAID6: Level = Level::Raid6(harmonia_array::layout::Rotation::LeftSymmetric);

struct Stage {
    level: Level,
    members: u16,
    reads: Reads,
    interface: Interface,
    nvram_pages: u64,
    coordinator: Box<dyn Coordinator>,
    faults: Faults,
    /// Bytes a second of each member's link; a page takes no time without it.
    link: Option<u64>,
}

impl Stage {
    /// Members collect from these times on, for 1.5 ms; reads avoid them.
    fn new(level: Level, members: u16, forces: &[(SimTime, u16)]) -> Stage {
        let coordinator = Box::new(Forces(forces.to_vec()));
        let (reads, interface) = (LONGEST, Interface::Command);
        let faults = Faults::default();
        Stage { level, members, reads, interface, nvram_pages: 0, coordinator, faults, link: None }
    }

    /// These members fail.
    fn failing(self, failures: &[(SimTime, u16)]) -> Stage {
        let failure = |&(at, member): &(SimTime, u16)| Fault {
            device: DeviceId(member),
            at: When::Time(at),
            what: Befalls::Failure,
        };
        let events = failures.iter().map(failure).collect();
        Stage { faults: Faults { events, ..self.faults }, ..self }
    }

    fn build(self) -> Array {
        let knowledge = Knowledge {
            interface: self.interface,
            reads: self.reads,
            nvram: self.nvram_pages * PAGE,
            ..Knowledge::default()
        };
        let faults = self.faults;
        let may_fail = !faults.is_none();
        let mut device = one_die(16, 4, 12);
        device.link.bandwidth = self.link.unwrap_or(device.link.bandwidth);
        let config = ArrayConfig { knowledge, faults, ..level(self.level, &device, self.members, PAGE) };
        let whole = config.layout();
        let dodge = Dodge {
            reads: self.reads,
            parks: self.nvram_pages > 0,
            may_fail,
            degraded_writes: config.degraded_writes,
            page_read: SimDuration::from_us(45),
            free_stripes: 0,
            placing: Default::default(),
        };
        let planner: Box<dyn Planner> = match whole.clone() {
            Layout::Parity(parity) => {
                Box::new(ParityPlanner::new(&whole, parity, config.small_write, PAGE).dodging(dodge))
            }
            Layout::Mirrored(mirrored) => Box::new(MirroredPlanner::new(&whole, mirrored).dodging(dodge)),
            Layout::Striped(striped) => Box::new(StripedPlanner::new(striped).dodging(PAGE, dodge)),
        };
        let parts = Parts { coordinator: self.coordinator, planner, payload: NoPayload };
        Array::with_parts(&config, all_filled(&config, 2), parts, |_| NoProbe).unwrap()
    }
}

fn submit(array: &mut Array, id: u64, at: SimTime, operation: Operation, page: u64, pages: u64) {
    array.advance_until(at).unwrap();
    array.submit(request(id, at, operation, page * PAGE, pages * PAGE)).unwrap();
}

/// All completions, by id.
fn finish(array: &mut Array) -> Vec<Completion> {
    let mut done = drain(array);
    done.sort_unstable_by_key(|done| done.id);
    for done in &done {
        assert_eq!(done.blame.total(), done.response().0, "blame sums to the response");
    }
    assert_eq!(array.transactions_under_way(), 0);
    array.audit();
    done
}

#[test]
fn a_page_of_a_member_that_collects_is_rebuilt_from_the_others() {
    let mut array = Stage::new(RAID5, 3, &[(us(0), 1)]).build();
    submit(&mut array, 0, us(10), Operation::Read, 1, 1);
    let done = finish(&mut array);
    assert_eq!(done[0].finish, us(55), "two reads at once, of page 0 and P");
    assert_eq!((done[0].blame.reconstruct.total(), done[0].met_gc), (45_000, false));
    let reads = array.counters().reads;
    assert_eq!((reads.rebuilt_pages, reads.extra_pages, reads.waited_pages), (1, 2, 0));
    assert_eq!(reads.rows_by_busy_members, [0, 1, 0, 0]);
}

#[test]
fn what_is_read_of_a_row_anyway_is_not_read_twice() {
    let mut array = Stage::new(RAID5, 3, &[(us(0), 1)]).build();
    submit(&mut array, 0, us(10), Operation::Read, 0, 2);
    let done = finish(&mut array);
    assert_eq!(done[0].finish, us(55));
    let reads = array.counters().reads;
    assert_eq!((reads.rebuilt_pages, reads.extra_pages), (1, 1), "only P is read besides");
    let read: Vec<u64> = array.devices().iter().map(|device| device.counters().host_pages_read).collect();
    assert_eq!(read, [1, 0, 1]);
}

/// Page 1 lies on member 1, busy until 1.5 ms. It would be rebuilt from member 0, which is busy until 1.6 ms.
#[test]
fn of_two_members_that_collect_the_one_that_is_done_first_is_waited_for() {
    let mut array = Stage::new(RAID5, 3, &[(us(0), 1), (us(100), 0)]).build();
    submit(&mut array, 0, us(110), Operation::Read, 1, 1);
    submit(&mut array, 1, us(110), Operation::Read, 0, 1);
    let done = finish(&mut array);
    assert_eq!(done[0].finish, us(1545), "it waits for its own member");
    assert!(done[0].met_gc && done[0].blame.data.queue_gc == 1_390_000);
    // Page 0 is rebuilt from member 1, and waits for that one: first for the row, then for the read before it.
    assert_eq!(done[1].finish, us(1590));
    let reads = array.counters().reads;
    assert_eq!((reads.rebuilt_pages, reads.waited_pages), (1, 1));
    assert_eq!(reads.rows_by_busy_members[3], 0, "two members are two");
}

#[test]
fn raid6_does_without_two_members_and_waits_for_the_third() {
    // P of stripe 0 lies on member 4, Q on member 0, and pages 0 to 2 between them.
    let forces = [(us(0), 1), (us(10), 2), (us(20), 3)];
    let all = |forces: &[(SimTime, u16)]| {
        let mut array = Stage::new(RAID6, 5, forces).build();
        submit(&mut array, 0, us(30), Operation::Read, 0, 3);
        let done = finish(&mut array);
        (done[0].finish, array.counters().reads)
    };
    let (at, reads) = all(&forces[..2]);
    assert_eq!((at, reads.rebuilt_pages, reads.extra_pages), (us(75), 2, 2), "the third, P and Q");
    let (at, reads) = all(&forces);
    assert_eq!((reads.rebuilt_pages, reads.waited_pages), (2, 1), "never around more than two");
    assert_eq!(at, us(1545), "the one that began first is done first");
}

#[test]
fn without_knowing_how_long_the_first_is_rebuilt() {
    let build = |reads| Stage { reads, ..Stage::new(RAID5, 3, &[(us(0), 0), (us(100), 1)]) }.build();
    let at = |reads| {
        let mut array = build(reads);
        submit(&mut array, 0, us(110), Operation::Read, 0, 2);
        finish(&mut array)[0].finish
    };
    assert_eq!(at(Reads::Avoid(Avoid::Any)), us(1645), "page 0 is rebuilt, and page 1 waited for");
    assert_eq!(at(LONGEST), us(1545), "page 1 is rebuilt, and page 0 waited for");
    assert_eq!(at(Reads::Wait), us(1645));
}

/// A member that is nearly done is waited for, where that costs less than reading more.
#[test]
fn the_rest_of_a_row_is_read_only_where_that_is_cheaper() {
    let at = |reads, time| {
        let mut array = Stage { reads, ..Stage::new(RAID5, 3, &[(us(0), 1)]) }.build();
        submit(&mut array, 0, us(time), Operation::Read, 1, 1);
        finish(&mut array)[0].finish
    };
    // Two more pages, 45 us each.
    assert_eq!(at(Reads::Avoid(Avoid::Cheaper), 1400), us(1445));
    assert_eq!(at(Reads::Avoid(Avoid::Cheaper), 1420), us(1545));
    assert_eq!(at(LONGEST, 1420), us(1465));
}

#[test]
fn a_copy_is_read_elsewhere() {
    let raid10 = Level::Raid10(Copies::default());
    let mut array = Stage::new(raid10, 2, &[(us(0), 0)]).build();
    submit(&mut array, 0, us(10), Operation::Read, 0, 1);
    submit(&mut array, 1, us(10), Operation::Read, 1, 1);
    let done = finish(&mut array);
    assert_eq!((done[0].finish, done[1].finish), (us(55), us(100)), "one after the other on member 1");
}

#[test]
fn parity_is_made_in_the_way_that_waits_least() {
    // Four members: a write of one page reads either its old data and P, or the two other pages.
    let written = |forces: &[(SimTime, u16)]| {
        let mut array = Stage::new(RAID5, 4, forces).build();
        submit(&mut array, 0, us(10), Operation::Write, 0, 1);
        let done = finish(&mut array);
        (done[0].finish, array.counters().redundancy)
    };
    let (at, counters) = written(&[]);
    assert_eq!((at, counters.rows_reconstruct_write), (us(10 + 45 + 220), 1), "a tie: md's rule");
    let (at, counters) = written(&[(us(0), 1)]);
    assert_eq!((at, counters.rows_read_modify_write), (us(10 + 45 + 220), 1), "member 1 is not asked");
}

#[test]
fn a_write_to_a_member_that_collects_is_parked_and_goes_back() {
    let stage = Stage::new(RAID5, 3, &[(us(0), 1)]);
    let mut array = Stage { nvram_pages: 2, ..stage }.build();
    // Both pages of the stripe: member 1 collects, members 0 and 2 take a page each.
    submit(&mut array, 0, us(10), Operation::Write, 0, 2);
    array.advance_until(us(300)).unwrap();
    assert_eq!(array.completions()[0].finish, us(230), "nobody waits for member 1");
    // What is parked is read at once, and a page written again takes no more room.
    submit(&mut array, 1, us(300), Operation::Read, 1, 1);
    array.advance_until(us(301)).unwrap();
    assert_eq!(array.completions()[1].finish, us(300));
    submit(&mut array, 2, us(400), Operation::Write, 0, 2);
    // Page 2 of stripe 1 lies on member 2; its parity on member 1. A third and fourth page do not fit.
    submit(&mut array, 3, us(500), Operation::Write, 2, 2);
    submit(&mut array, 4, us(500), Operation::Write, 4, 2);
    let done = finish(&mut array);
    assert_eq!((done[2].finish, done[3].finish), (us(620), us(840)));
    assert_eq!(done[4].finish, us(1720), "no room: it waits for member 1 until 1.5 ms");
    let nvram = array.counters().nvram;
    assert_eq!((nvram.high_water_bytes, nvram.parked_pages, nvram.superseded_pages), (2 * PAGE, 3, 1));
    assert_eq!((nvram.destaged_pages, nvram.pages_left, nvram.full_waits), (2, 0, 1));
    assert_eq!(nvram.answered_pages, 1, "the read");
}

/// Reserves member 1 at 10 us, forces it when it is drained, and returns it 1 ms after that.
#[derive(Clone)]
struct Reserves(Arc<Mutex<Vec<SimTime>>>);

impl Coordinator for Reserves {
    fn interests(&self) -> Interests {
        Interests { devices: true, ..Interests::default() }
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn on(&mut self, now: SimTime, event: &Event, _: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        let member = DeviceId(1);
        match event {
            Event::Start => actions.push(Action::Timer(us(10), 0)),
            Event::Timer(0) => actions.push(Action::Reserve(member)),
            Event::Drained(drained) => {
                assert_eq!(*drained, member);
                self.0.lock().unwrap().push(now);
                actions.extend([
                    Action::Force(member, Stop::Internal),
                    Action::Timer(us(1_000) + (now - SimTime::ZERO), 1),
                ]);
            }
            Event::Timer(_) => actions.push(Action::Return(member)),
            _ => {}
        }
    }
}

#[test]
fn a_reserved_member_drains_before_it_collects_and_nobody_waits() {
    let drained = Arc::new(Mutex::new(Vec::new()));
    let stage = Stage {
        nvram_pages: 8,
        coordinator: Box::new(Reserves(drained.clone())),
        ..Stage::new(RAID5, 3, &[])
    };
    let mut array = stage.build();
    submit(&mut array, 0, us(0), Operation::Write, 0, 2);
    // It has a write until 220 us. New reads do without it at once, and new writes are parked.
    submit(&mut array, 1, us(20), Operation::Read, 4, 1);
    submit(&mut array, 2, us(300), Operation::Read, 4, 1);
    submit(&mut array, 3, us(400), Operation::Write, 4, 2);
    let done = finish(&mut array);
    assert_eq!(*drained.lock().unwrap(), [us(220)]);
    assert_eq!(done[1].finish, us(265), "rebuilt from members 0 and 2, behind their writes");
    assert_eq!(done[2].finish, us(345));
    assert_eq!(done[3].finish, us(620), "the page of member 1 is parked");
    assert!(done.iter().all(|done| !done.met_gc));
    assert_eq!(array.counters().nvram.pages_left, 0, "it went back when the member was returned");
}

#[test]
fn without_room_what_a_reserved_member_must_do_waits_for_its_return() {
    let drained = Arc::new(Mutex::new(Vec::new()));
    let stage = Stage { coordinator: Box::new(Reserves(drained.clone())), ..Stage::new(RAID5, 3, &[]) };
    let mut array = stage.build();
    submit(&mut array, 0, us(20), Operation::Write, 4, 2);
    let done = finish(&mut array);
    // Drained at once, at 10 us; returned 1 ms later; it collects until 1.51 ms.
    assert_eq!((done[0].finish, done[0].met_gc), (us(1730), true));
    assert_eq!(done[0].blame.data.queue_gc, 1_490_000, "for its return, and for the rest of its collection");
}

#[test]
fn a_hedge_answers_if_the_member_is_late_and_only_then() {
    let stage =
        || Stage { reads: Reads::Hedge(SimDuration::from_us(100)), ..Stage::new(RAID5, 3, &[(us(0), 1)]) };
    let mut array = stage().build();
    submit(&mut array, 0, us(10), Operation::Read, 1, 1);
    submit(&mut array, 1, us(10), Operation::Read, 0, 1);
    let done = finish(&mut array);
    assert_eq!(done[0].finish, us(155), "100 us later, and two reads at once");
    assert_eq!((done[0].blame.data.queue_gc, done[0].blame.reconstruct.total()), (100_000, 45_000));
    assert_eq!(done[1].finish, us(55));
    let reads = array.counters().reads;
    assert_eq!((reads.hedges, reads.hedges_won), (1, 1));

    // The hedge begins at 1495 us and is done at 1540; the member would have been at 1545.
    let mut array = stage().build();
    submit(&mut array, 0, us(1_395), Operation::Read, 1, 1);
    assert_eq!(finish(&mut array)[0].finish, us(1_540));
    // Here the member is done first, at 1545; the hedge, begun at 1510, would have been at 1555.
    let mut array = stage().build();
    submit(&mut array, 0, us(1_410), Operation::Read, 1, 1);
    assert_eq!(finish(&mut array)[0].finish, us(1_545));
    let reads = array.counters().reads;
    assert_eq!((reads.hedges, reads.hedges_won), (1, 0));
}

/// A page is on the link from 155 us to 165, and that is known beforehand. So of what happens at 165 us the failure is first, then
/// the answer of the others, and then the refusal of the read, of which nothing is left.
#[test]
fn a_read_is_answered_once_if_its_member_fails_as_the_hedge_is_done() {
    let reads = Reads::Hedge(SimDuration::from_us(100));
    let stage = Stage { reads, link: Some(PAGE * 100_000), ..Stage::new(RAID5, 3, &[(us(0), 1)]) };
    let mut array = stage.failing(&[(us(165), 1)]).build();
    submit(&mut array, 0, us(10), Operation::Read, 1, 1);
    submit(&mut array, 1, us(10), Operation::Read, 0, 1);
    let done = finish(&mut array);
    assert_eq!(done.iter().map(|done| done.finish).collect::<Vec<_>>(), [us(165), us(65)]);
    let counters = array.counters();
    assert_eq!((counters.reads.hedges_won, counters.losses.rebuilt_pages), (1, 0));
}

#[test]
fn members_that_reveal_nothing_are_waited_for() {
    for (interface, finish_us) in
        [(Interface::Nothing, 1545), (Interface::Window, 1545), (Interface::Busy, 55)]
    {
        let mut array = Stage { interface, ..Stage::new(RAID5, 3, &[(us(0), 1)]) }.build();
        submit(&mut array, 0, us(10), Operation::Read, 1, 1);
        assert_eq!(finish(&mut array)[0].finish, us(finish_us), "{interface}");
    }
}

#[test]
fn a_read_that_a_failing_member_had_is_answered_by_the_others() {
    let stage = Stage { reads: Reads::Wait, ..Stage::new(RAID5, 3, &[]) };
    let mut array = stage.failing(&[(us(30), 1)]).build();
    submit(&mut array, 0, us(10), Operation::Read, 1, 1);
    submit(&mut array, 1, us(200), Operation::Read, 0, 2);
    let done = finish(&mut array);
    assert_eq!(done[0].finish, us(75), "it has waited for 20 us, and page 0 and P are read at once");
    assert_eq!((done[0].blame.data.total(), done[0].blame.reconstruct.total()), (20_000, 45_000));
    assert_eq!(done[1].finish, us(245));
    let losses = array.counters().losses;
    assert_eq!((losses.rebuilt_pages, losses.extra_pages, losses.unread_pages), (2, 3, 0));
    assert_eq!(array.counters().reads.rebuilt_pages, 0, "nobody collects");
}

/// Pages 0 and 1 and P are one row; a write of page 0 reads page 1, and where that fails its own page and P.
#[test]
fn parity_is_made_in_another_way_when_a_member_fails_meanwhile() {
    let written = |failures: &[(SimTime, u16)]| {
        let mut array = Stage::new(RAID5, 3, &[]).failing(failures).build();
        submit(&mut array, 0, us(10), Operation::Write, 0, 1);
        (finish(&mut array)[0].finish, array.counters().losses)
    };
    assert_eq!(written(&[(us(900), 1)]).0, us(10 + 45 + 220));
    assert_eq!(written(&[(us(30), 1)]).0, us(30 + 45 + 220), "planned anew");
    assert_eq!(written(&[(us(30), 0)]).0, us(55 + 220), "what it had is done without");
    let (at, losses) = written(&[(us(30), 1), (us(40), 2)]);
    // The new plan's read of page 0 goes on until 75 us. P is gone, too: page 0 is all there is to write.
    assert_eq!((at, losses.unwritten_pages), (us(75 + 220), 0));
}

#[test]
fn a_member_that_collects_is_read_around_with_the_parity_that_is_left_over() {
    // P of stripe 0 lies on member 4, Q on member 0, and pages 0 to 2 between them; pages 0 and 1 are wanted.
    let at = |failures: &[(SimTime, u16)]| {
        let mut array = Stage::new(RAID6, 5, &[(us(5), 1)]).failing(failures).build();
        submit(&mut array, 0, us(10), Operation::Read, 0, 2);
        let done = finish(&mut array);
        (done[0].finish, array.counters().reads, array.counters().losses)
    };
    let (finish, reads, losses) = at(&[(us(0), 2)]);
    assert_eq!(finish, us(55), "page 2, P and Q say both");
    assert_eq!((reads.rebuilt_pages, reads.extra_pages, reads.waited_pages), (1, 1, 0));
    assert_eq!((losses.rebuilt_pages, losses.extra_pages), (1, 2));
    // Both parities are needed for what is missing.
    let (finish, reads, losses) = at(&[(us(0), 2), (us(0), 3)]);
    assert_eq!((finish, reads.rebuilt_pages, reads.waited_pages), (us(1550), 0, 1));
    assert_eq!((losses.rebuilt_pages, losses.extra_pages), (1, 2));
}

#[test]
fn requests_complete_even_if_nothing_can_be_read_or_written() {
    for (level, members, pages) in [(Level::Raid0, 2, 2), (Level::Raid1, 2, 1), (RAID5, 3, 2), (RAID6, 5, 3)]
    {
        let faults = Faults { page_errors: 1.0, ..Faults::default() };
        let mut array = Stage { faults, ..Stage::new(level, members, &[]) }.build();
        submit(&mut array, 0, us(10), Operation::Read, 0, pages);
        array.advance_until(us(5_000)).unwrap();
        array.submit(request(1, us(5_000), Operation::Write, 512, 512)).unwrap();
        let done = finish(&mut array);
        let losses = array.counters().losses;
        assert_eq!((done.len(), losses.unread_pages), (2, pages), "{level}: {losses:?}");
        let unwritten = u64::from(members > 2);
        assert_eq!(losses.unwritten_pages, unwritten, "{level}: the rest of its page cannot be read");

        let all: Vec<(SimTime, u16)> = (0..members).map(|member| (us(1), member)).collect();
        let mut array = Stage::new(level, members, &[]).failing(&all).build();
        submit(&mut array, 0, us(10), Operation::Read, 0, pages);
        submit(&mut array, 1, us(10), Operation::Write, 0, pages);
        submit(&mut array, 2, us(10), Operation::Write, pages - 1, 1);
        submit(&mut array, 3, us(10), Operation::Trim, 0, pages);
        let done = finish(&mut array);
        assert!(done.len() == 4 && done.iter().all(|done| done.finish == us(10)));
        let losses = array.counters().losses;
        assert_eq!((losses.unread_pages, losses.unwritten_pages), (pages, pages + 1), "{level}");
    }
}
