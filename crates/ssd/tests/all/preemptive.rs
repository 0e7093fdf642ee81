//! Does the host go between the steps of a collection, and interrupt its erase (paper D's baseline; paper C, 4.4)?
//!
//! What the schedule decides on literal views; on the device, that reads between page moves end earlier than behind a
//! blocking event, that blame stays exact, and that collecting becomes non-preemptible at the hard threshold.

use harmonia_ssd::gc::schedule::{
    self, Class, Decision, DieQueues, DieView, Gc, GcJob, GcPhase, HostToken, Queued, Running, Schedule,
    Token,
};
use harmonia_ssd::interface::{Directive, Notice, Stop};
use harmonia_ssd::probe::{AnyProbe, AuditProbe, any};
use harmonia_ssd::{Device, Policies, SubCompletion};
use harmonia_types::{Operation, SimDuration, SimTime};

/// At most one host operation waits.
struct One(Option<Queued>);
impl DieQueues for One {
    fn len(&self, class: Class) -> usize {
        usize::from(self.first(class).is_some())
    }
    fn first(&self, class: Class) -> Option<Queued> {
        self.0.filter(|op| op.class == class)
    }
    fn find_read(&self, _: u32, _: u32) -> Option<Queued> {
        None
    }
    fn first_write(&self, _: u32) -> Option<Queued> {
        None
    }
    fn can_write_at(&self, _: u32, _: u32) -> bool {
        false
    }
    fn place_of(&self, _: HostToken) -> Option<(u32, u32)> {
        None
    }
    fn on_moving_page(&self, _: &GcJob) -> Option<Queued> {
        None
    }
}

const END: SimTime = SimTime(900);
const ERASING: Running = Running { ends: END, remaining: SimDuration(800), suspendable: true };

/// What a schedule decides at time 100 in the middle of an event.
fn decide(
    schedule: &dyn Schedule,
    host: Option<(Class, u64)>,
    change: impl Fn(&mut DieView<'_>),
) -> Decision {
    let token = HostToken(4);
    let head = host.map(|(class, ready)| Queued { token, class, ready: SimTime(ready), deadline: None });
    let (unit, victim, cursor, phase, destination) = (0, 7, 5, GcPhase::Read, (0, 2));
    let (source_plane, hard, pinned) = (0, false, false);
    let gc = Gc::Job(GcJob { unit, victim, cursor, phase, source_plane, destination, hard, pinned });
    let (free, hard, soft, planes, bus_free_at) = (4, 2, 6, 2, SimTime::ZERO);
    let queues = &One(head);
    let (running, suspended, multi_plane) = (None, None, false);
    let writes_wait = false;
    let mut view = DieView {
        head,
        gc,
        writes_wait,
        running,
        suspended,
        free,
        hard,
        soft,
        planes,
        multi_plane,
        bus_free_at,
        queues,
    };
    change(&mut view);
    schedule.next(SimTime(100), &view)
}

fn set(view: &mut DieView<'_>, phase: GcPhase, hard: bool) {
    if let Gc::Job(job) = &mut view.gc {
        (job.phase, job.hard) = (phase, hard);
    }
}

fn preemptive() -> Box<dyn Schedule> {
    schedule::build(&"preemptive".into()).expect("registered")
}

const READ: Option<(Class, u64)> = Some((Class::Read, 100));
const HOST: Decision = Decision::Single(Token::Host(HostToken(4)));
const STEP: Decision = Decision::Single(Token::GcStep);

#[test]
fn the_host_goes_between_steps_until_a_unit_is_at_hard() {
    let policy = &*preemptive();
    assert_eq!(decide(policy, READ, |_| {}), HOST);
    assert_eq!(decide(policy, Some((Class::Write, 101)), |_| {}), STEP, "not ready at t - 1");
    assert_eq!(decide(policy, READ, |view| set(view, GcPhase::Erase, false)), HOST, "before the erase too");
    assert_eq!(decide(policy, READ, |view| set(view, GcPhase::Read, true)), STEP, "hard does not yield");
    assert_eq!(decide(policy, None, |view| view.gc = Gc::Wanted { hard: false, moves_use_bus: false }), STEP);
    let pinned = |view: &mut DieView<'_>| match &mut view.gc {
        Gc::Job(job) => (job.phase, job.pinned) = (GcPhase::Program, true),
        _ => unreachable!("in the middle of an event"),
    };
    assert_eq!(decide(policy, READ, pinned), STEP, "the plane's register holds the page");
}

/// A device does not ask a schedule that says so what its job does while no host operation is there.
#[test]
fn whoever_goes_on_alone_takes_the_step_that_is_due() {
    let phases = [
        (GcPhase::Choose, STEP),
        (GcPhase::Read, STEP),
        (GcPhase::Program, STEP),
        (GcPhase::Erase, Decision::Erase),
    ];
    let mut alone = 0;
    for entry in schedule::REGISTRY {
        let policy = schedule::build(&entry.name.into()).expect("registered");
        alone += u32::from(policy.needs().steps_alone);
        for (phase, step) in phases.into_iter().filter(|_| policy.needs().steps_alone) {
            for (hard, multi_plane) in [(false, false), (false, true), (true, false), (true, true)] {
                let due = decide(&*policy, None, |view| {
                    view.multi_plane = multi_plane;
                    set(view, phase, hard);
                });
                assert_eq!(due, step, "{}: {phase:?}, hard {hard}, joined {multi_plane}", entry.name);
            }
        }
    }
    assert!(alone >= 4, "{alone} schedules go on alone");
}

/// Nor does it ask one that says so while host operations wait that nothing could take along, or whatever waits.
#[test]
fn whoever_is_not_asked_while_the_host_waits_takes_the_step_that_is_due() {
    let (mut unmatched, mut moves) = (0, 0);
    for entry in schedule::REGISTRY {
        let policy = schedule::build(&entry.name.into()).expect("registered");
        let needs = policy.needs();
        let step = match (needs.steps_unmatched, needs.moves_unasked) {
            (true, false) => STEP,
            (false, true) => Decision::Single(Token::GcMove),
            (both, _) => {
                assert!(!both, "{}: half moves and whole ones", entry.name);
                continue;
            }
        };
        unmatched += u32::from(needs.steps_unmatched);
        moves += u32::from(needs.moves_unasked);
        let phases = [
            (GcPhase::Choose, step),
            (GcPhase::Read, step),
            (GcPhase::Program, step),
            (GcPhase::Erase, Decision::Erase),
        ];
        for (phase, step) in
            phases.into_iter().filter(|&(phase, _)| needs.steps_unmatched || phase != GcPhase::Program)
        {
            for host in [READ, Some((Class::Write, 0)), Some((Class::Write, 101))] {
                for (hard, multi_plane) in [(false, false), (false, true), (true, false), (true, true)] {
                    let due = decide(&*policy, host, |view| {
                        view.multi_plane = multi_plane;
                        set(view, phase, hard);
                    });
                    assert_eq!(
                        due, step,
                        "{}: {phase:?}, {host:?}, hard {hard}, joined {multi_plane}",
                        entry.name
                    );
                }
            }
        }
    }
    assert!(
        unmatched >= 2 && moves >= 1,
        "{unmatched} schedules pass over what does not match, {moves} over all"
    );
}

#[test]
fn a_running_erase_is_suspended_for_a_read_and_resumed_after_it() {
    let erasing = |view: &mut DieView<'_>| (view.running = Some(ERASING), set(view, GcPhase::Erase, false)).1;
    let policy = &*preemptive();
    assert_eq!(decide(policy, READ, erasing), Decision::Suspend);
    let never = |view: &mut DieView<'_>| view.running = Some(Running { suspendable: false, ..ERASING });
    assert_eq!(decide(policy, READ, never), Decision::Wait(END), "only where the part can");
    assert_eq!(decide(policy, Some((Class::Write, 0)), erasing), Decision::Wait(END));
    let hard = |view: &mut DieView<'_>| (erasing(view), set(view, GcPhase::Erase, true)).1;
    assert_eq!(decide(policy, READ, hard), Decision::Wait(END), "hard is not interrupted");
    let suspended = |view: &mut DieView<'_>| view.suspended = Some(ERASING);
    assert_eq!(decide(policy, READ, suspended), HOST);
    assert_eq!(decide(policy, None, suspended), Decision::Resume);
}

fn device(policies: Policies, free: u32) -> Device<AnyProbe> {
    let config = crate::seams::config(1);
    let ftl = crate::seams::used(&config, free);
    Device::with_policies(&config, ftl.shape().clone(), ftl, policies, any(AuditProbe)).expect("able")
}

/// A collection forced at 0 on a device between soft and hard; ten reads come while it runs.
fn reads_during_a_collection(policies: Policies) -> Vec<SubCompletion> {
    let mut device = device(policies, 4);
    device.direct(SimTime::ZERO, Directive::Force(Stop::Internal));
    for read in 0..10 {
        let arrival = SimTime(10_000 + 211_000 * u64::from(read));
        device.advance_until(arrival, false).expect("room");
        device.submit(arrival, crate::seams::page(read, Operation::Read, u64::from(read) * 7)).expect("room");
    }
    device.advance_until(SimTime(1_000_000_000), false).expect("room");
    let mut done = std::mem::take(device.completions());
    done.sort_by_key(|done| done.token);
    for done in &done {
        let arrival = 10_000 + 211_000 * done.token;
        assert_eq!(done.blame.total(), done.finish.0 - arrival, "blame sums to latency");
    }
    assert_eq!(device.counters().gc_victims - device_victims_before(), 2, "one victim a plane");
    done
}

fn device_victims_before() -> u64 {
    crate::seams::used(&crate::seams::config(1), 4).tally().victims
}

#[test]
fn on_the_device_reads_between_moves_end_earlier_and_wait_for_one_step_at_most() {
    let blocking = reads_during_a_collection(crate::seams::policies());
    let policies = Policies { schedule: preemptive(), ..crate::seams::policies() };
    let preempted = reads_during_a_collection(policies);
    assert!(blocking.iter().zip(&preempted).all(|(slow, fast)| fast.finish <= slow.finish));
    let waited = |done: &SubCompletion| done.blame.queue_gc;
    assert!(waited(&blocking[0]) > 2 * crate::seams::ERASE.0, "blocking: the whole event, both erases");
    assert!(waited(&preempted[0]) > 0 && preempted[0].met_gc, "it does wait for the step that runs");
    assert!(
        preempted.iter().all(|done| waited(done) <= crate::seams::ERASE.0),
        "preemptive: one step at most"
    );
    let total = |all: &[SubCompletion]| all.iter().map(waited).sum::<u64>();
    assert!(3 * total(&preempted) < total(&blocking), "{} against {}", total(&preempted), total(&blocking));
}

#[test]
fn a_load_that_never_pauses_is_collected_for_from_hard_on() {
    let mut device = device(Policies { schedule: preemptive(), ..crate::seams::policies() }, 7);
    let logical = u64::from(device.ftl().shape().logical_pages);
    for write in 0..2000u32 {
        device
            .submit(
                SimTime::ZERO,
                crate::seams::page(write, Operation::Write, u64::from(write) * 31 % logical),
            )
            .expect("room");
    }
    device.advance_until(SimTime(60_000_000_000), false).expect("never out of blocks");
    assert_eq!(device.completions().len(), 2000);
    let notices = std::mem::take(device.notices());
    let first = |wanted: Notice| {
        notices.iter().find(|(_, notice)| *notice == wanted).map_or(SimTime::NEVER, |&(time, _)| time)
    };
    let (started, hard) = (first(Notice::GcStarted), first(Notice::HardThreshold));
    assert!(first(Notice::SoftThreshold) < hard, "the host goes first, down to hard");
    // Hard is told when a program begins, for which a block is opened; the die collects when that is over.
    let program = started.0 - hard.0;
    assert_eq!(program, 225_000, "collecting {started}, hard {hard}");
    let events = notices.iter().filter(|(_, notice)| *notice == Notice::GcStarted).count();
    let reported = notices.iter().filter(|(_, notice)| *notice == Notice::HardThreshold).count();
    assert!(reported <= events, "{reported} reports, {events} events: hard is told at most once an event");
}
