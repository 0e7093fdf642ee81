//! Does a step of collection go first exactly if nobody's deadline is lost by it (HIOS)?
//!
//! What the schedule decides on literal views, to the nanosecond; on the device, that a deadline one nanosecond later lets
//! the step go first; that reckoning includes what waits behind, what is not ready yet, and the link; that at hard nobody
//! is waited for. The starvation suite holds it to the rule of preemptive, the equivalence suite to preemptive itself.

use crate::bench::*;
use harmonia_flash::Copyback;
use harmonia_ssd::gc::schedule::{
    self, Class, Decision, DieQueues, DieView, Gc, GcJob, GcPhase, HostToken, Queued, Running, Schedule,
    Token, Work,
};
use harmonia_ssd::{PolicyConfig, SsdConfig, SubRequest};
use harmonia_types::{Operation, SimDuration, SimTime};

const NOW: SimTime = SimTime(100);
/// The step that is due: ends at 900.
const STEP: Work = Work { die: SimDuration(800), link: SimDuration::ZERO };
/// A read occupies the die for 50, and its data arrives 5 later.
const READ: Work = Work { die: SimDuration(50), link: SimDuration(5) };
const WRITE: Work = Work { die: SimDuration(310), link: SimDuration::ZERO };

/// What waits, in order.
struct Waiting(Vec<(Queued, Work)>);

impl Waiting {
    fn is_ready(&self, class: Class) -> Option<Queued> {
        self.0.iter().map(|(op, _)| *op).find(|op| op.class == class)
    }
}

impl DieQueues for Waiting {
    fn len(&self, class: Class) -> usize {
        self.0.iter().filter(|(op, _)| op.class == class).count()
    }
    fn first(&self, class: Class) -> Option<Queued> {
        self.is_ready(class)
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
    fn each_waiting(&self, visit: &mut dyn FnMut(Queued, Work) -> bool) {
        _ = self.0.iter().all(|&(op, work)| visit(op, work));
    }
    fn step(&self, _: Option<&GcJob>) -> Work {
        STEP
    }
}

fn op(class: Class, ready: u64, deadline: u64) -> (Queued, Work) {
    let work = if class == Class::Read { READ } else { WRITE };
    let deadline = Some(SimTime(deadline));
    (Queued { token: HostToken(4), class, ready: SimTime(ready), deadline }, work)
}

fn read(deadline: u64) -> (Queued, Work) {
    op(Class::Read, 100, deadline)
}

/// What slack decides at 100, before the read of a page.
fn decide_in(waiting: &[(Queued, Work)], change: impl Fn(&mut DieView<'_>)) -> Decision {
    let policy = schedule::build(&"slack".into()).expect("registered");
    let queues = Waiting(waiting.to_vec());
    let mut view = DieView {
        head: waiting.first().map(|(op, _)| *op),
        gc: Gc::Job(GcJob {
            unit: 0,
            victim: 7,
            cursor: 5,
            phase: GcPhase::Read,
            source_plane: 0,
            destination: (0, 2),
            hard: false,
            pinned: false,
        }),
        writes_wait: false,
        running: None,
        suspended: None,
        free: 4,
        hard: 2,
        soft: 6,
        planes: 2,
        multi_plane: false,
        bus_free_at: SimTime::ZERO,
        queues: &queues,
    };
    change(&mut view);
    policy.next(NOW, &view)
}

fn decide(waiting: &[(Queued, Work)]) -> Decision {
    decide_in(waiting, |_| {})
}

const GOES: Decision = Decision::Single(Token::GcStep);
const HOST: Decision = Decision::Single(Token::Host(HostToken(4)));

#[test]
fn the_step_goes_first_if_the_read_is_still_on_time() {
    // The step ends at 900, the read at 950, its data is there at 955.
    assert_eq!(decide(&[read(954)]), HOST, "late by a nanosecond");
    assert_eq!(decide(&[read(955)]), GOES);
    assert_eq!(decide(&[]), GOES, "nobody waits");
}

#[test]
fn everything_that_waits_is_reckoned_in_its_order() {
    let behind = |deadline| [read(10_000), op(Class::Write, 0, 10_000), read(deadline)];
    // 900, the first read to 950, the write to 1,260, the second read to 1,310 and over the link.
    assert_eq!(decide(&behind(1_314)), HOST);
    assert_eq!(decide(&behind(1_315)), GOES);
}

#[test]
fn what_has_no_deadline_waits_for_the_step() {
    let (mut free, work) = read(0);
    free.deadline = None;
    assert_eq!(decide(&[(free, work)]), GOES);
}

#[test]
fn the_die_waits_for_data_on_the_link_that_has_no_time_to_lose() {
    let write = |deadline| [op(Class::Write, 400, deadline)];
    assert_eq!(decide(&write(1_210)), GOES, "from 900, behind the step");
    assert_eq!(decide(&write(1_209)), Decision::Wait(SimTime(400)));
    assert_eq!(decide(&write(710)), Decision::Wait(SimTime(400)), "from 400: just on time");
    assert_eq!(decide(&write(709)), GOES, "late in any case: nothing is won by waiting");
    let later = [op(Class::Write, 900, 1_000)];
    assert_eq!(decide(&later), GOES, "the step is over before the data is there");
}

#[test]
fn what_is_late_anyway_goes_first_once_it_is_ready() {
    assert_eq!(decide(&[read(120)]), HOST);
}

#[test]
fn at_hard_and_in_the_register_nobody_is_waited_for() {
    let change = |hard, pinned| {
        move |view: &mut DieView<'_>| match &mut view.gc {
            Gc::Job(job) => (job.hard, job.pinned) = (hard, pinned),
            _ => unreachable!("in the middle of an event"),
        }
    };
    assert_eq!(decide_in(&[read(500)], change(true, false)), GOES);
    assert_eq!(decide_in(&[read(500)], change(false, true)), GOES);
    let wanted = |hard| move |view: &mut DieView<'_>| view.gc = Gc::Wanted { hard, moves_use_bus: true };
    assert_eq!(decide_in(&[read(954)], wanted(false)), HOST, "before the event begins");
    assert_eq!(decide_in(&[read(955)], wanted(false)), GOES);
    assert_eq!(decide_in(&[read(500)], wanted(true)), GOES);
}

#[test]
fn a_running_erase_is_suspended_only_for_a_read_that_would_be_late() {
    let running = Running { ends: SimTime(800), remaining: SimDuration(700), suspendable: true };
    let erasing = |view: &mut DieView<'_>| view.running = Some(running);
    assert_eq!(decide_in(&[read(855)], erasing), Decision::Wait(SimTime(800)));
    assert_eq!(decide_in(&[read(854)], erasing), Decision::Suspend);
    let behind = [op(Class::Write, 0, 0), read(855)];
    assert_eq!(decide_in(&behind, erasing), Decision::Wait(SimTime(800)), "a write cannot interrupt");
    let suspended = |view: &mut DieView<'_>| view.suspended = Some(running);
    assert_eq!(decide_in(&[read(855)], suspended), Decision::Resume);
    assert_eq!(decide_in(&[read(854)], suspended), HOST);
}

fn on_the_device(copyback: Copyback) -> SsdConfig {
    let mut config = one_die();
    config.gc.schedule = PolicyConfig::named("slack").with("slack", "2us");
    config.gc.hard_threshold = harmonia_ssd::Amount::Blocks(0);
    config.gc.soft_threshold = harmonia_ssd::Amount::Blocks(3);
    config.timing.copyback = copyback;
    config
}

fn asked(token: u32, operation: Operation, page: u64, deadline: u64) -> SubRequest {
    SubRequest { deadline: Some(SimTime(deadline)), ..sub(token, operation, page, 1) }
}

/// The victim holds page 3 alone: [read, transfer] to 1,300, [transfer, program] to 6,600, [erase] to 26,600.
fn read_at_100(deadline: u64) -> u64 {
    let mut bench = Bench::with(&on_the_device(Copyback::None), &[TWO_FREE]);
    bench.force(0).submit(100, asked(1, Operation::Read, 5, deadline)).collected();
    bench.find(1).expect("done").finish.0
}

#[test]
fn on_the_device_a_nanosecond_decides_about_each_step() {
    // The die is free at 1,300. Behind the program, at 6,600, the read is done at 7,900 and its data there 70 later.
    assert_eq!(read_at_100(7_969), 2_670, "right behind the step that ran");
    assert_eq!(read_at_100(7_970), 7_970, "behind the program");
    assert_eq!(read_at_100(27_969), 7_970, "before the erase");
    assert_eq!(read_at_100(27_970), 27_970, "behind the erase");
}

#[test]
fn a_page_that_stays_in_the_register_is_read_and_programmed_in_one_step() {
    // Behind a first read that nobody can interrupt.
    let second = |deadline| {
        let mut bench = Bench::with(&on_the_device(Copyback::Die), &[TWO_FREE]);
        bench.read(0, 1, 5, 1).force(5).submit(10, asked(2, Operation::Read, 6, deadline)).collected();
        bench.find(2).expect("done").finish.0
    };
    // The die is free at 1,300; the move takes 6,000, a read 1,300 and 70.
    assert_eq!(second(8_669), 2_670);
    assert_eq!(second(8_670), 8_670);
}

#[test]
fn a_request_without_a_deadline_has_the_slack_of_the_device() {
    let finish = |slack| {
        let mut config = on_the_device(Copyback::None);
        config.gc.schedule = config.gc.schedule.with("slack", SimDuration(slack).to_string());
        let mut bench = Bench::with(&config, &[TWO_FREE]);
        bench.force(0).read(100, 1, 5, 1).collected();
        bench.find(1).expect("done").finish.0
    };
    assert_eq!(finish(7_869), 2_670);
    assert_eq!(finish(7_870), 7_970);
}

/// Two dies on one bus: each transfer, 300, may wait for one of the other die.
#[test]
fn on_a_shared_bus_every_transfer_may_wait_for_the_other_die() {
    let finish = |deadline| {
        let mut config = on_the_device(Copyback::None);
        (config.geometry.chips_per_channel, config.geometry.own_pins) = (2, false);
        let mut bench = Bench::with(&config, &[TWO_FREE]);
        bench.force(0).submit(100, asked(1, Operation::Read, 10, deadline)).collected();
        bench.find(1).expect("done").finish.0
    };
    // At 1,300 the program is taken to end at 1,300 + 600 + 5,000, the read 1,000 + 600 later, its data 70 after that.
    assert_eq!(finish(8_569), 2_670);
    assert_eq!(finish(8_570), 7_970, "nobody else wanted the bus");
}
