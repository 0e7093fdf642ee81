//! When do messages between the coordinator and members arrive, and what is true of them then? Each takes 50 us.

use std::sync::{Arc, Mutex};

use crate::common::{PAGE, all_filled, level, one_die, raid0, request, us};
use harmonia_array::coordination::{Action, Coordinator, DeliveredView, Event, Interests};
use harmonia_array::layout::{Layout, Rotation};
use harmonia_array::payload::NoPayload;
use harmonia_array::planner::striped::StripedPlanner;
use harmonia_array::{Array, Interface, Level, Parts};
use harmonia_ssd::interface::{Status, Stop, Window};
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{DeviceId, HostRequest, Operation, SimDuration, SimTime};

const MEMBER: DeviceId = DeviceId(0);
const LATENCY: u64 = 50;
/// Collecting a block without valid pages.
const COLLECT: u64 = 1_500;

/// What was heard: when, what, and the status that the controller had of the member and since when it was true.
type Heard = (SimTime, Event, Option<(Status, SimTime)>);

/// Acts at given times, in us, and writes down what it hears.
#[derive(Clone)]
struct Ear {
    interests: Interests,
    acts: Vec<(u64, Action)>,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Coordinator for Ear {
    fn interests(&self) -> Interests {
        self.interests
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
                let known = view.members[MEMBER.index()];
                let status = known.status.map(|status| (status, known.as_of));
                self.heard.lock().expect("nobody has panicked").push((now, event, status));
            }
        }
    }
}

/// What is heard if these actions are taken.
fn heard(acts: &[(u64, Action)]) -> Vec<Heard> {
    heard_by(Interests { devices: true, ..Interests::default() }, acts, &[])
}

/// The same with such interests, and of requests that arrive.
fn heard_by(interests: Interests, acts: &[(u64, Action)], requests: &[HostRequest]) -> Vec<Heard> {
    let mut config = raid0(&one_die(16, 4, 12), 1, PAGE);
    config.coordination.message_latency = SimDuration::from_us(LATENCY);
    let heard = Arc::default();
    let ear = Ear { interests, acts: acts.to_vec(), heard: Arc::clone(&heard) };
    let Layout::Striped(layout) = config.layout() else { unreachable!("it is RAID-0") };
    let planner = Box::new(StripedPlanner::new(layout));
    let parts = Parts { coordinator: Box::new(ear), planner, payload: NoPayload };
    let mut array = Array::with_parts(&config, all_filled(&config, 2), parts, |_| NoProbe).unwrap();
    for &request in requests {
        array.advance_until(request.arrival).unwrap();
        array.submit(request).unwrap();
    }
    array.advance_until(us(20_000)).unwrap();
    drop(array);
    Arc::into_inner(heard).expect("the array is gone").into_inner().expect("nobody has panicked")
}

#[test]
fn a_status_is_true_when_the_question_arrives_and_known_when_the_answer_does() {
    let heard = heard(&[(100, Action::Force(MEMBER, Stop::Internal)), (110, Action::Query(MEMBER))]);
    let asked = heard.iter().find(|heard| heard.1 == Event::Status(MEMBER)).expect("it answers");
    let (status, as_of) = asked.2.expect("the answer is in the view");
    assert_eq!((asked.0, as_of), (us(110 + 2 * LATENCY), us(110 + LATENCY)));
    // It had begun 10 us before.
    assert_eq!((status.gc_active, status.gc_remaining), (true, SimDuration::from_us(COLLECT - 10)));
}

/// A read takes 25 us, and 20 us of transfer.
#[test]
fn answers_are_told_to_whoever_asks_for_them_and_to_nobody_else() {
    let read = request(0, us(100), Operation::Read, 0, PAGE);
    for answers in [false, true] {
        let heard = heard_by(Interests { answers, ..Interests::default() }, &[], &[read]);
        let told: Vec<(SimTime, Event)> = heard.iter().map(|&(at, event, _)| (at, event)).collect();
        let latency = SimDuration::from_us(45);
        let answered = Event::Answered { device: MEMBER, operation: Operation::Read, latency };
        assert_eq!(told, if answers { vec![(us(145), answered)] } else { vec![] });
    }
}

#[test]
fn a_directive_takes_one_message_and_a_notice_another() {
    let heard = heard(&[(100, Action::Force(MEMBER, Stop::Internal))]);
    let times: Vec<(SimTime, Event)> = heard.iter().map(|&(at, event, _)| (at, event)).collect();
    let begins = us(100 + 2 * LATENCY);
    let ends = us(100 + 2 * LATENCY + COLLECT);
    let ended = Event::GcEnded { device: MEMBER, registered: false };
    assert_eq!(times, [(begins, Event::GcStarted(MEMBER)), (ends, ended)]);
}

#[test]
fn a_member_with_a_window_to_collect_in_holds_before_it_and_after_it() {
    let window = Action::Window { device: MEMBER, from: us(1_000), until: us(2_000) };
    let asks = [500, 949, 950, 1_949, 1_950].map(|at| (at, Action::Query(MEMBER)));
    let heard = heard(&[&[(100, window)], &asks[..]].concat());
    let told = heard.iter().filter(|heard| heard.1 == Event::Status(MEMBER));
    let windows: Vec<Window> = told.map(|heard| heard.2.expect("it is in the view").0.window).collect();
    let (holds, open) = (Window::Deterministic, Window::NonDeterministic);
    assert_eq!(windows, [holds, holds, open, open, holds]);
}

/// RAID-5 of one-die members that collect only when they serve; writes come one by one, 10 ms apart, to one row. Each opens a block
/// now and then. A policy that orders collection at the soft threshold has it done before the next write comes.
#[test]
fn a_member_that_a_write_brings_to_soft_is_told_to_collect_before_it_serves_again() {
    for policy in ["gclock", "serial"] {
        let mut config = level(Level::Raid5(Rotation::LeftSymmetric), &one_die(16, 4, 4), 5, PAGE);
        config.coordination.policy = policy.into();
        let requests: Vec<HostRequest> =
            (0..60).map(|id| request(id, us(10_000 * (1 + id)), Operation::Write, 0, PAGE)).collect();
        let mut array = Array::new(&config, all_filled(&config, 1), None, |_| NoProbe).expect("it works");
        for asked in requests {
            array.advance_until(asked.arrival).expect("room");
            array.submit(asked).expect("room");
        }
        array.advance_until(us(700_000)).expect("room");
        assert_eq!(array.completions().len(), 60);
        let waited: u64 = array.completions().iter().map(|done| done.blame.queue_gc()).sum();
        let counters = array.message_counters();
        let erases: u64 = array.devices().iter().map(|device| device.counters().erases).sum();
        assert!(erases > 10 && counters.soft_notices > 0, "{policy}: {erases} erases, {counters:?}");
        assert_eq!(waited, 0, "{policy}: writes wait for collection between their reads and their programs");
    }
}
