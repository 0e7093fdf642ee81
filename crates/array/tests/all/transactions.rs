//! When does each operation of a transaction begin, when is its request done, and where did the time go?
//!
//! The planner of these tests plays from a script, so that times and blame are literal: a read takes 25 us and 20 us of
//! transfer, a write 20 us and 200 us, collecting a block without valid pages 1.5 ms. "Done at t" means known to be done
//! at t and not a nanosecond before, unless the link is said to take time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::common::{Forces, PAGE, all_filled, drain, one_die, raid0, request, us};
use harmonia_array::payload::{self, NoPayload, Owner, Payload};
use harmonia_array::planner::{
    Answer, Plan, PlannedOperation, Planner, Refusal, Rows, Tag, Tidies, Transaction, View,
};
use harmonia_array::{Access, Array, Parts};
use harmonia_ssd::SsdConfig;
use harmonia_ssd::probe::{NoProbe, Probe, any};
use harmonia_types::{
    Blame, Completion, Deadlines, DeviceId, GcWait, HostRequest, Operation, ParityPages, Phase, RequestBlame,
    SimDuration, SimTime,
};

// ----------------------------------------------------------------------------------------------------- the script

/// A transaction, and what it is planned as the first time, the second time, and so on.
#[derive(Debug, Clone)]
struct Scripted {
    request: u64,
    rows: Rows,
    plans: Vec<Plan>,
}

/// What the planner was asked and told.
#[derive(Debug, Default)]
struct Log {
    /// (time, request) of every plan.
    planned: Vec<(SimTime, u64)>,
    refused: Vec<(SimTime, DeviceId, Refusal)>,
    done: Vec<(SimTime, u64)>,
}

/// Plans what its script says; requests without an entry become no transaction at all, flushes go to every member.
#[derive(Clone, Debug, Default)]
struct Script {
    scripted: Vec<Scripted>,
    answers: VecDeque<(Answer, Vec<PlannedOperation>)>,
    /// Reserved members finish what was planned before.
    displaces: bool,
    log: Arc<Mutex<Log>>,
}

impl Script {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().expect("no test panics while it writes")
    }

    /// Request `id` is one more transaction with these rows and steps.
    fn with(mut self, id: u64, rows: Rows, steps: &[&[PlannedOperation]]) -> Self {
        self.scripted.push(Scripted { request: id, rows, plans: vec![plan(steps)] });
        self
    }

    /// The last transaction's next plan.
    fn then(mut self, steps: &[&[PlannedOperation]]) -> Self {
        self.scripted.last_mut().expect("there is a transaction").plans.push(plan(steps));
        self
    }

    /// The answer to the next refusal.
    fn answers(mut self, answer: Answer, patch: &[PlannedOperation]) -> Self {
        self.answers.push_back((answer, patch.to_vec()));
        self
    }
}

impl Planner for Script {
    fn split(&mut self, request: &HostRequest, _: &View<'_>, into: &mut Vec<Transaction>) {
        let base = Transaction::unlocked(request.operation, request.offset, request.length);
        if request.operation == Operation::Flush {
            return into.push(base);
        }
        for (index, scripted) in self.scripted.iter().enumerate() {
            if scripted.request == request.id {
                into.push(Transaction { rows: scripted.rows, tag: Tag::of(index as u64), ..base });
            }
        }
    }

    fn plan(&mut self, now: SimTime, transaction: &Transaction, _: &View<'_>, plan: &mut Plan) {
        if transaction.operation == Operation::Flush {
            (0..MEMBERS).for_each(|member| {
                plan.push(PlannedOperation::data(DeviceId(member), Operation::Flush, 0, 0));
            });
            return;
        }
        let scripted = &self.scripted[transaction.tag.read(self) as usize];
        plan.clone_from(&scripted.plans[usize::from(transaction.attempt)]);
        self.log().planned.push((now, scripted.request));
    }

    fn on_refused(
        &mut self,
        now: SimTime,
        _: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
        _: &View<'_>,
        patch: &mut Plan,
    ) -> Answer {
        self.log().refused.push((now, operation.device, refusal));
        let (answer, operations) = self.answers.pop_front().expect("the script has an answer");
        operations.into_iter().for_each(|operation| patch.push(operation));
        answer
    }

    fn tidies(&mut self) -> Option<&mut dyn Tidies> {
        if self.displaces { Some(self) } else { None }
    }

    fn done(&mut self, now: SimTime, transaction: &Transaction) {
        if transaction.operation != Operation::Flush {
            let request = self.scripted[transaction.tag.read(self) as usize].request;
            self.log().done.push((now, request));
        }
    }
}

impl Tidies for Script {
    fn tidy(&mut self, _: &View<'_>) -> Option<Transaction> {
        None
    }
}

fn plan(steps: &[&[PlannedOperation]]) -> Plan {
    let mut plan = Plan::default();
    for step in steps {
        plan.barrier();
        step.iter().for_each(|&operation| plan.push(operation));
    }
    plan
}

fn read(member: u16, page: u64) -> PlannedOperation {
    PlannedOperation::data(DeviceId(member), Operation::Read, page * PAGE, PAGE)
}

fn write(member: u16, page: u64) -> PlannedOperation {
    PlannedOperation { operation: Operation::Write, ..read(member, page) }
}

/// For parity's sake.
fn parity(operation: PlannedOperation) -> PlannedOperation {
    PlannedOperation { phase: Phase::Parity, parity: ParityPages::ALL, ..operation }
}

fn reconstruct(operation: PlannedOperation) -> PlannedOperation {
    PlannedOperation { phase: Phase::Reconstruct, ..operation }
}

fn behind(operation: PlannedOperation) -> PlannedOperation {
    PlannedOperation { behind: true, ..operation }
}

fn fast_fail(operation: PlannedOperation) -> PlannedOperation {
    PlannedOperation { fast_fail: true, ..operation }
}

fn rows(first: u64, count: u64) -> Rows {
    Rows { first, count }
}

// ---------------------------------------------------------------------------------------------------- the stage

const MEMBERS: u16 = 4;
const READ: u64 = 45_000;
const WRITE: u64 = 220_000;
/// Collecting a block without valid pages.
const COLLECT: u64 = 1_500_000;

/// Sixteen pages in blocks of four, and as much again to spare: written twice, so that every member has blocks without
/// valid pages, and far from collecting by itself.
fn ssd() -> SsdConfig {
    one_die(16, 4, 12)
}

fn parts<C: Payload>(script: Script, forces: &[(SimTime, u16)], payload: C) -> Parts<C> {
    Parts { coordinator: Box::new(Forces(forces.to_vec())), planner: Box::new(script), payload }
}

fn stage_with(ssd: &SsdConfig, script: Script, forces: &[(SimTime, u16)]) -> Array {
    let config = raid0(ssd, MEMBERS, PAGE);
    Array::with_parts(&config, all_filled(&config, 2), parts(script, forces, NoPayload), |_| NoProbe).unwrap()
}

fn stage(script: Script) -> Array {
    stage_with(&ssd(), script, &[])
}

/// A stage on which members begin to collect at given times, for 1.5 ms.
fn collecting(script: Script, forces: &[(SimTime, u16)]) -> Array {
    stage_with(&ssd(), script, forces)
}

/// A link of 10 us a page.
fn linked() -> SsdConfig {
    let mut ssd = ssd();
    ssd.link.bandwidth = PAGE * 100_000;
    ssd
}

/// Request `id` arrives at `at`.
#[track_caller]
fn arrive<P: Probe, C: Payload>(array: &mut Array<P, C>, at: SimTime, id: u64) {
    arrive_as(array, at, id, Operation::Write);
}

#[track_caller]
fn arrive_as<P: Probe, C: Payload>(array: &mut Array<P, C>, at: SimTime, id: u64, operation: Operation) {
    array.advance_until(at).unwrap();
    array.submit(request(id, at, operation, 0, 0)).unwrap();
}

/// The next completion is that of `id`: not known at `at` - 1, known at `at`, and its blame sums to its response.
#[track_caller]
fn done_at<P: Probe, C: Payload>(array: &mut Array<P, C>, at: SimTime, id: u64) -> Completion {
    if at > SimTime::ZERO && array.completions().is_empty() {
        array.advance_until(SimTime(at.0 - 1)).unwrap();
        assert!(array.completions().is_empty(), "not done before {at}: {:?}", array.completions());
    }
    array.advance_until(at).unwrap();
    assert!(!array.completions().is_empty(), "request {id} is not done at {at}");
    let done = array.completions().remove(0);
    assert_eq!((done.id, done.finish), (id, at));
    assert_eq!(done.blame.total(), done.response().0, "blame sums to the response");
    done
}

/// Nothing is under way any more.
#[track_caller]
fn at_rest<P: Probe, C: Payload>(array: &mut Array<P, C>) {
    let left = drain(array);
    assert!(left.is_empty(), "nobody waits for {left:?}");
    assert_eq!(array.transactions_under_way(), 0);
    assert!((0..64).all(|row| !array.is_row_busy(row)), "rows are given back");
}

/// What a read and a write take by themselves.
const READS: Blame = Blame { service: 25_000, transfer: 20_000, ..Blame::NONE };
const WRITES: Blame = Blame { service: 200_000, transfer: 20_000, ..Blame::NONE };
const NOTHING: RequestBlame = RequestBlame::NONE;

// -------------------------------------------------------------------------------------------- steps and barriers

#[test]
fn a_mirrored_write_is_done_when_its_slower_copy_is() {
    let script = Script::default().with(0, Rows::NONE, &[&[read(1, 0)]]).with(
        1,
        Rows::NONE,
        &[&[write(0, 3), write(1, 3)]],
    );
    let mut array = stage(script);
    arrive(&mut array, us(0), 0);
    arrive(&mut array, us(0), 1);
    done_at(&mut array, us(45), 0);
    let done = done_at(&mut array, us(265), 1);
    let data = Blame { queue_host: READ, ..WRITES };
    assert_eq!(done.blame, RequestBlame { data, ..NOTHING }, "the copy behind the read");
    at_rest(&mut array);
}

/// Two writes end at 220 us: time is that of the first in the plan, whichever member is heard first.
#[test]
fn of_operations_that_end_at_one_moment_the_first_of_the_plan_counts() {
    for (step, data, parity) in [
        ([write(0, 0), parity(write(1, 0))], WRITES, Blame::default()),
        ([write(1, 0), parity(write(0, 0))], WRITES, Blame::default()),
        ([parity(write(0, 0)), write(1, 0)], Blame::default(), WRITES),
        ([parity(write(1, 0)), write(0, 0)], Blame::default(), WRITES),
    ] {
        let mut array = stage(Script::default().with(0, rows(0, 1), &[&step]));
        arrive(&mut array, us(0), 0);
        assert_eq!(done_at(&mut array, us(220), 0).blame, RequestBlame { data, parity, ..NOTHING });
    }
}

#[test]
fn the_second_step_begins_when_the_last_of_the_first_is_done() {
    let script = Script::default().with(0, Rows::NONE, &[&[read(2, 0)]]).with(
        1,
        rows(0, 1),
        &[&[parity(read(0, 0)), parity(read(2, 1))], &[write(0, 0), parity(write(2, 1))]],
    );
    let mut array = stage(script);
    arrive(&mut array, us(0), 0);
    arrive(&mut array, us(0), 1);
    done_at(&mut array, us(45), 0);
    let done = done_at(&mut array, us(90 + 220), 1);
    let parity = Blame { queue_host: READ, ..READS };
    assert_eq!(done.blame, RequestBlame { data: WRITES, parity, ..NOTHING });
    at_rest(&mut array);
}

/// A read's die is done at 45 us, and its data is here at 55 us: the write goes over the link from then on.
#[test]
fn the_second_step_begins_at_a_finish_that_lay_ahead() {
    let script = Script::default()
        .with(
            0,
            rows(0, 1),
            &[&[parity(read(0, 0)), parity(read(1, 0))], &[write(0, 0), parity(write(1, 0))]],
        )
        .with(1, Rows::NONE, &[&[write(0, 5)]]);
    let mut array = stage_with(&linked(), script, &[]);
    arrive(&mut array, us(0), 0);
    // It finds the die free and the link taken until 55 us.
    arrive(&mut array, us(46), 1);
    let other = done_at(&mut array, us(65 + 220), 1);
    assert_eq!(other.blame.data, Blame { link: 19_000, ..WRITES });
    let done = done_at(&mut array, us(65 + 220 + 220), 0);
    let parity = Blame { link: 10_000, ..READS };
    // From 55 us for the link, which the other write has until 65 us; then behind it at the die.
    let data = Blame { link: 20_000, queue_host: 210_000, ..WRITES };
    assert_eq!(done.blame, RequestBlame { data, parity, ..NOTHING });
    at_rest(&mut array);
}

/// Nothing of the second step reaches a member before the first is over.
#[test]
fn no_operation_passes_a_barrier() {
    let script =
        Script::default().with(0, Rows::NONE, &[&[read(0, 0)], &[read(1, 0)], &[read(2, 0), read(3, 0)]]);
    let mut array = stage(script);
    arrive(&mut array, us(0), 0);
    let pages_read = |array: &Array| -> Vec<u64> {
        array.devices().iter().map(|device| device.counters().host_pages_read).collect()
    };
    let (first, second) = ([1, 0, 0, 0], [1, 1, 0, 0]);
    // A read counts when it begins.
    for (at, expected) in [(44, first), (45, second), (89, second), (90, [1, 1, 1, 1])] {
        array.advance_until(us(at)).unwrap();
        assert_eq!(pages_read(&array), expected, "at {at} us");
    }
    let done = done_at(&mut array, us(135), 0);
    assert_eq!(done.blame.data, Blame { service: 75_000, transfer: 60_000, ..Blame::default() });
    at_rest(&mut array);
}

#[test]
fn a_degraded_read_waits_for_the_slowest_of_those_it_is_rebuilt_from() {
    let script = Script::default().with(0, Rows::NONE, &[&[write(2, 0)]]).with(
        1,
        Rows::NONE,
        &[&[reconstruct(read(0, 0)), reconstruct(read(2, 0)), reconstruct(read(3, 0))]],
    );
    let mut array = stage(script);
    arrive(&mut array, us(0), 0);
    arrive(&mut array, us(100), 1);
    done_at(&mut array, us(220), 0);
    let done = done_at(&mut array, us(265), 1);
    let reconstruct = Blame { queue_host: 120_000, ..READS };
    assert_eq!(done.blame, RequestBlame { reconstruct, ..NOTHING });
    at_rest(&mut array);
}

#[test]
fn a_plan_without_operations_completes_at_once_and_gives_its_rows_back() {
    let script = Script::default().with(0, rows(3, 2), &[]).with(1, rows(3, 1), &[&[read(0, 0)]]);
    let mut array = stage(script);
    arrive(&mut array, us(7), 0);
    assert_eq!(done_at(&mut array, us(7), 0).blame, NOTHING);
    arrive(&mut array, us(7), 1);
    assert_eq!(done_at(&mut array, us(52), 1).blame.stripe_wait, 0);
    arrive(&mut array, us(60), 99);
    assert_eq!(done_at(&mut array, us(60), 99).blame, NOTHING, "a request without transactions");
    at_rest(&mut array);
}

#[test]
fn a_request_of_several_transactions_is_done_with_the_last() {
    let script = Script::default()
        .with(0, rows(0, 1), &[&[write(0, 0)]])
        .with(0, rows(1, 1), &[&[read(1, 0)], &[write(1, 0)]])
        .with(0, Rows::NONE, &[&[read(2, 0)]]);
    let log = script.log.clone();
    let mut array = stage(script);
    arrive(&mut array, us(0), 0);
    assert_eq!(array.transactions_under_way(), 3);
    let done = done_at(&mut array, us(265), 0);
    let data = Blame { service: 225_000, transfer: 40_000, ..Blame::default() };
    assert_eq!(done.blame, RequestBlame { data, ..NOTHING });
    at_rest(&mut array);
    assert_eq!(log.lock().unwrap().done, [(us(45), 0), (us(220), 0), (us(265), 0)]);
}

/// The place of an operation in its transaction is no 16-bit number.
#[test]
fn seventy_thousand_operations_are_one_plan() {
    let reads = vec![read(0, 0); 70_000];
    let script = Script::default().with(0, rows(0, 1), &[&reads, &[write(1, 0)]]);
    let mut array = stage(script);
    arrive(&mut array, us(0), 0);
    let done = done_at(&mut array, us(70_000 * 45 + 220), 0);
    assert_eq!(done.blame.data.queue_host, 69_999 * READ);
    assert_eq!(array.devices()[0].counters().host_pages_read, 70_000);
    at_rest(&mut array);
}

// ------------------------------------------------------------------------------------------ behind the host's back

#[test]
fn a_request_completes_without_operations_behind_its_back() {
    let script = Script::default()
        .with(0, Rows::NONE, &[&[read(1, 0)]])
        .with(1, rows(0, 1), &[&[write(0, 3), behind(write(1, 3))]])
        .with(2, rows(0, 1), &[&[read(2, 0)]]);
    let log = script.log.clone();
    let mut array = stage(script);
    arrive(&mut array, us(0), 0);
    arrive(&mut array, us(0), 1);
    done_at(&mut array, us(45), 0);
    assert_eq!(done_at(&mut array, us(220), 1).blame, RequestBlame { data: WRITES, ..NOTHING });
    arrive(&mut array, us(225), 2);
    assert!(array.is_row_busy(0), "the row is held until the copy is written, too");
    let done = done_at(&mut array, us(265 + 45), 2);
    assert_eq!(done.blame, RequestBlame { data: READS, stripe_wait: 40_000, ..NOTHING });
    at_rest(&mut array);
    assert_eq!(log.lock().unwrap().done, [(us(45), 0), (us(265), 1), (us(310), 2)]);
}

#[test]
fn a_step_behind_the_hosts_back_keeps_rows_and_not_the_request() {
    let script = Script::default().with(0, rows(0, 1), &[&[read(0, 0)], &[behind(write(1, 0))]]);
    let mut array = stage(script);
    arrive(&mut array, us(0), 0);
    done_at(&mut array, us(45), 0);
    array.advance_until(us(264)).unwrap();
    assert!(array.is_row_busy(0));
    array.advance_until(us(265)).unwrap();
    assert!(!array.is_row_busy(0));
    at_rest(&mut array);
}

#[test]
fn a_transaction_behind_the_hosts_back_completes_at_once() {
    let script = Script::default().with(0, rows(0, 1), &[&[behind(read(0, 0))], &[behind(write(1, 0))]]);
    let mut array = stage(script);
    arrive(&mut array, us(3), 0);
    assert_eq!(done_at(&mut array, us(3), 0).blame, NOTHING);
    array.advance_until(us(3 + 264)).unwrap();
    assert!(array.is_row_busy(0));
    at_rest(&mut array);
}

/// The host waits for the second step, which waits for what goes on behind its back in the first.
#[test]
fn a_barrier_holds_back_what_the_host_waits_for_too() {
    let script = Script::default().with(
        0,
        Rows::NONE,
        &[&[read(0, 0), behind(write(1, 0))], &[write(2, 0), behind(read(3, 0))]],
    );
    let mut array = stage(script);
    arrive(&mut array, us(0), 0);
    let done = done_at(&mut array, us(440), 0);
    let data = Blame { service: 400_000, transfer: 40_000, ..Blame::default() };
    assert_eq!(done.blame, RequestBlame { data, ..NOTHING });
    at_rest(&mut array);
}

#[test]
fn a_flush_waits_for_what_goes_on_behind_earlier_requests_only() {
    let script = Script::default()
        .with(0, Rows::NONE, &[&[write(0, 0), behind(write(1, 0)), behind(write(1, 1))]])
        .with(2, Rows::NONE, &[&[behind(write(2, 0)), behind(write(2, 1)), behind(write(2, 2))]]);
    let mut array = stage(script);
    arrive_as(&mut array, us(0), 10, Operation::Flush);
    assert_eq!(done_at(&mut array, us(0), 10).blame, NOTHING, "there is nothing to wait for");
    arrive(&mut array, us(0), 0);
    done_at(&mut array, us(220), 0);
    arrive_as(&mut array, us(230), 1, Operation::Flush);
    arrive(&mut array, us(231), 2);
    done_at(&mut array, us(231), 2);
    let flush = done_at(&mut array, us(440), 1);
    let data = Blame { queue_host: 210_000, ..Blame::default() };
    assert_eq!(flush.blame, RequestBlame { data, ..NOTHING }, "it waited for another's writes");
    arrive_as(&mut array, us(450), 3, Operation::Flush);
    done_at(&mut array, us(231 + 660), 3);
    at_rest(&mut array);
}

/// What a request that is complete leaves behind concerns no request that comes after it.
#[test]
fn an_operation_behind_a_complete_request_touches_no_other() {
    #[derive(Default)]
    struct Owners(Vec<(Tag, Option<u64>)>);
    impl Payload for Owners {
        fn submits(&mut self, of: Owner<'_>, _: &PlannedOperation, _: u64) {
            self.0.push((of.transaction.tag, of.request.map(|request| request.id)));
        }
    }
    let script = Script::default()
        .with(0, rows(0, 1), &[&[read(0, 0)], &[behind(fast_fail(write(1, 0)))]])
        .with(
            1,
            Rows::NONE,
            &[&[
                write(2, 0),
                write(2, 1),
                write(2, 2),
                write(2, 3),
                write(2, 4),
                write(2, 5),
                write(2, 6),
                write(2, 7),
            ]],
        )
        .answers(Answer::Patch, &[write(1, 0)]);
    let config = raid0(&ssd(), MEMBERS, PAGE);
    let parts = parts(script, &[(us(0), 1)], payload::any(Owners::default()));
    let mut array = Array::with_parts(&config, all_filled(&config, 2), parts, |_| any(NoProbe)).unwrap();
    array.set_deadlines(Deadlines { read: None, write: Some(SimDuration::from_us(10)) });
    arrive(&mut array, us(1), 0);
    // The next request takes the place of the first in the controller's tables before the second step begins.
    array.advance_until(us(45)).unwrap();
    array.advance_until(us(46)).unwrap();
    done_at(&mut array, us(46), 0);
    arrive(&mut array, us(46), 1);
    let done = done_at(&mut array, us(46 + 8 * 220), 1);
    assert!(!done.met_gc, "the one that met a collection was another's");
    let owners = &payload::payload_as::<Owners>(array.payload_mut()).0;
    assert!(
        owners.iter().all(|&(tag, request)| request.is_none_or(|request| Tag::of(request) == tag)),
        "{owners:?}"
    );
    at_rest(&mut array);
}

// ------------------------------------------------------------------------------------------------------- refusals

/// The stage on which member 1 collects from 10 us to 1,510 us.
fn busy(script: Script) -> (Array, Arc<Mutex<Log>>) {
    let log = script.log.clone();
    (collecting(script, &[(us(10), 1)]), log)
}

const LEFT: Refusal = Refusal::Busy(SimDuration::from_us(1_410));

#[test]
fn a_member_that_collects_keeps_others_waiting_and_says_for_how_long() {
    let script = Script::default().with(0, Rows::NONE, &[&[read(0, 0), read(1, 0)]]);
    let (mut array, _) = busy(script);
    arrive(&mut array, us(100), 0);
    let done = done_at(&mut array, us(1_510 + 45), 0);
    let data = Blame { queue_gc: 1_410_000, ..READS };
    assert_eq!(done.blame, RequestBlame { data, ..NOTHING });
    assert_eq!(done.gc_wait, Some(GcWait { member: DeviceId(1), ns: 1_410_000 }));
    assert!(done.met_gc);
    assert_eq!(array.gc_intervals()[..], [(DeviceId(1), us(10), us(1_510))]);
    assert_eq!(COLLECT, 1_500_000);
    at_rest(&mut array);
}

#[test]
fn a_busy_member_is_read_around() {
    let script = Script::default()
        .with(0, Rows::NONE, &[&[read(0, 0), fast_fail(read(1, 0))]])
        .answers(Answer::Patch, &[reconstruct(read(2, 0)), reconstruct(read(3, 0))]);
    let (mut array, log) = busy(script);
    arrive(&mut array, us(100), 0);
    let done = done_at(&mut array, us(145), 0);
    assert_eq!(done.blame.total(), READ);
    assert!(!done.met_gc && done.gc_wait.is_none());
    assert_eq!(log.lock().unwrap().refused, [(us(100), DeviceId(1), LEFT)]);
    at_rest(&mut array);
}

/// To be refused costs the way to the member; the patch begins when the refusal is known.
#[test]
fn a_refusal_is_known_when_the_member_has_answered() {
    let mut ssd = ssd();
    ssd.link.latency = SimDuration::from_us(5);
    let script = Script::default()
        .with(0, Rows::NONE, &[&[fast_fail(read(1, 0))], &[write(0, 0)]])
        .answers(Answer::Patch, &[reconstruct(read(2, 0)), reconstruct(read(3, 0))]);
    let mut array = stage_with(&ssd, script, &[(us(10), 1)]);
    arrive(&mut array, us(100), 0);
    let done = done_at(&mut array, us(100 + 5 + 50 + 225), 0);
    let data = Blame { link: 10_000, ..WRITES };
    let reconstruct = Blame { link: 5_000, ..READS };
    assert_eq!(done.blame, RequestBlame { data, reconstruct, ..NOTHING });
    at_rest(&mut array);
}

#[test]
fn a_patch_may_be_refused_too() {
    let script = Script::default()
        .with(0, rows(0, 1), &[&[fast_fail(read(1, 0))], &[write(0, 0)]])
        .answers(Answer::Patch, &[fast_fail(read(1, 1)), read(2, 0)])
        .answers(Answer::Patch, &[reconstruct(read(3, 0)), reconstruct(read(3, 1))]);
    let (mut array, log) = busy(script);
    arrive(&mut array, us(100), 0);
    let done = done_at(&mut array, us(100 + 90 + 220), 0);
    let reconstruct = Blame { queue_host: READ, ..READS };
    assert_eq!(done.blame, RequestBlame { data: WRITES, reconstruct, ..NOTHING });
    assert_eq!(log.lock().unwrap().refused.len(), 2);
    at_rest(&mut array);
}

#[test]
fn a_transaction_can_do_without_a_refused_operation() {
    let script = Script::default()
        .with(0, Rows::NONE, &[&[fast_fail(read(1, 0))]])
        .answers(Answer::Patch, &[])
        .with(1, Rows::NONE, &[&[fast_fail(read(1, 0))], &[write(0, 0)]])
        .answers(Answer::Patch, &[]);
    let (mut array, _) = busy(script);
    arrive(&mut array, us(100), 0);
    assert_eq!(done_at(&mut array, us(100), 0).blame, NOTHING);
    arrive(&mut array, us(100), 1);
    assert_eq!(done_at(&mut array, us(320), 1).blame, RequestBlame { data: WRITES, ..NOTHING });
    at_rest(&mut array);
}

/// A write that is put off: its request is done, and its rows are held until it is.
#[test]
fn a_refused_operation_can_go_on_behind_the_hosts_back() {
    let script = Script::default()
        .with(0, rows(0, 1), &[&[write(0, 0), fast_fail(write(1, 0))]])
        .answers(Answer::Patch, &[behind(write(1, 0))])
        .with(1, rows(1, 1), &[&[fast_fail(write(1, 1))]])
        .answers(Answer::Patch, &[behind(write(1, 1))]);
    let (mut array, _) = busy(script);
    arrive(&mut array, us(100), 0);
    arrive(&mut array, us(101), 1);
    assert_eq!(done_at(&mut array, us(101), 1).blame, NOTHING);
    let done = done_at(&mut array, us(320), 0);
    assert_eq!(done.blame, RequestBlame { data: WRITES, ..NOTHING });
    assert!(!done.met_gc);
    arrive_as(&mut array, us(330), 2, Operation::Flush);
    array.advance_until(us(1_510 + 219)).unwrap();
    assert!(array.is_row_busy(0) && array.is_row_busy(1));
    let flush = done_at(&mut array, us(1_510 + 440), 2);
    assert_eq!(flush.blame.data.queue_host, 1_620_000);
    at_rest(&mut array);
}

/// A read that is known to be done at 105 us, with its data here at 115 us, and then a refusal at 105 us, whichever of the two
/// stands first in the plan.
#[test]
fn what_the_host_has_waited_for_counts_when_the_rest_goes_behind_its_back() {
    let mut ssd = linked();
    ssd.link.latency = SimDuration::from_us(5);
    let trim = PlannedOperation { operation: Operation::Trim, ..read(0, 0) };
    let (kept, refused) = (read(0, 0), fast_fail(read(1, 0)));
    for step in [[kept, refused], [refused, kept]] {
        let script = Script::default()
            .with(0, Rows::NONE, &[&[trim]])
            .with(1, Rows::NONE, &[&step])
            .answers(Answer::Patch, &[behind(read(2, 0))]);
        let mut array = stage_with(&ssd, script, &[(us(10), 1)]);
        arrive(&mut array, us(0), 0);
        done_at(&mut array, us(5), 0);
        arrive(&mut array, us(100), 1);
        let done = drain(&mut array)[0];
        let data = Blame { link: 15_000, ..Blame::default() };
        assert_eq!((done.finish, done.blame), (us(115), RequestBlame { data, ..NOTHING }));
        at_rest(&mut array);
    }
}

/// One operation asks for a new plan, and what takes the place of the other the host does not wait for.
#[test]
fn a_request_waits_for_the_new_plan_although_the_rest_goes_behind_its_back() {
    let script = Script::default()
        .with(0, Rows::NONE, &[&[fast_fail(read(1, 0)), fast_fail(read(1, 1))]])
        .then(&[&[write(0, 0)]])
        .answers(Answer::Replan(Rows::NONE), &[])
        .answers(Answer::Patch, &[behind(read(2, 0))]);
    let (mut array, _) = busy(script);
    arrive(&mut array, us(100), 0);
    let done = done_at(&mut array, us(100 + 45 + 220), 0);
    assert_eq!(done.blame.total(), READ + WRITE);
    at_rest(&mut array);
}

/// What has begun ends before the new plan begins, what has not begun is dropped, and the rows are waited for.
#[test]
fn a_new_plan_takes_rows_when_the_old_one_is_out_of_the_way() {
    let script = Script::default()
        .with(0, rows(7, 1), &[&[write(3, 0), write(3, 1)]])
        .with(1, Rows::NONE, &[&[fast_fail(read(1, 0)), write(0, 0)], &[write(2, 0)]])
        .then(&[&[reconstruct(read(0, 1)), reconstruct(read(2, 0))]])
        .answers(Answer::Replan(rows(6, 2)), &[])
        .with(2, rows(6, 1), &[&[read(0, 2)]]);
    let (mut array, log) = busy(script);
    arrive(&mut array, us(90), 0);
    arrive(&mut array, us(100), 1);
    arrive(&mut array, us(325), 2);
    done_at(&mut array, us(90 + 440), 0);
    let done = done_at(&mut array, us(530 + 45), 1);
    let blame = RequestBlame { data: WRITES, reconstruct: READS, stripe_wait: 210_000, ..NOTHING };
    assert_eq!(done.blame, blame);
    let done = done_at(&mut array, us(575 + 45), 2);
    assert_eq!(done.blame, RequestBlame { data: READS, stripe_wait: 250_000, ..NOTHING });
    assert_eq!(log.lock().unwrap().planned, [(us(90), 0), (us(100), 1), (us(530), 1), (us(575), 2)]);
    let programs = array.devices()[2].counters().programs;
    assert_eq!(programs, stage(Script::default()).devices()[2].counters().programs, "it was dropped");
    assert_eq!(array.counters().redundancy.stripe_waits, 2);
    at_rest(&mut array);
}

/// A transaction that holds rows keeps those.
#[test]
fn a_new_plan_keeps_the_rows_it_has() {
    let script = Script::default()
        .with(0, rows(0, 1), &[&[fast_fail(read(1, 0))]])
        .then(&[&[fast_fail(read(1, 1))]])
        .then(&[&[behind(write(2, 0)), read(3, 0)]])
        .answers(Answer::Replan(rows(5, 5)), &[])
        .answers(Answer::Replan(Rows::NONE), &[]);
    let (mut array, _) = busy(script);
    arrive(&mut array, us(100), 0);
    array.advance_until(us(100)).unwrap();
    assert!(array.is_row_busy(0) && !array.is_row_busy(5));
    assert_eq!(done_at(&mut array, us(145), 0).blame, RequestBlame { data: READS, ..NOTHING });
    assert!(array.is_row_busy(0));
    at_rest(&mut array);
}

/// Also when all that the host waits for was done without the refused operation.
#[test]
fn a_request_waits_for_the_new_plan() {
    let script = Script::default()
        .with(0, Rows::NONE, &[&[read(0, 0), fast_fail(behind(read(1, 0)))]])
        .then(&[&[write(2, 0)]])
        .answers(Answer::Replan(Rows::NONE), &[]);
    let (mut array, _) = busy(script);
    arrive(&mut array, us(100), 0);
    let done = done_at(&mut array, us(100 + 45 + 220), 0);
    assert_eq!(done.blame.total(), READ + WRITE);
    at_rest(&mut array);
}

#[test]
fn reserved_and_failed_members_take_nothing_new() {
    let mut script = Script::default();
    for id in 0..3 {
        script = script.with(id, rows(0, 1), &[&[read(1, 0), read(2, 0)]]);
    }
    let script = script
        .answers(Answer::Patch, &[reconstruct(write(3, 0))])
        .answers(Answer::Patch, &[])
        .answers(Answer::Patch, &[reconstruct(read(3, 0))]);
    let log = script.log.clone();
    let mut array = stage(script);
    arrive(&mut array, us(0), 0);
    // What it has goes on.
    array.set_access(DeviceId(1), Access::Reserved);
    assert_eq!(done_at(&mut array, us(45), 0).blame, RequestBlame { data: READS, ..NOTHING });
    arrive(&mut array, us(50), 1);
    let reconstruct = WRITES;
    assert_eq!(done_at(&mut array, us(50 + 220), 1).blame, RequestBlame { reconstruct, ..NOTHING });
    array.set_access(DeviceId(1), Access::Failed);
    array.set_access(DeviceId(2), Access::Failed);
    arrive(&mut array, us(300), 2);
    let reconstruct = READS;
    assert_eq!(done_at(&mut array, us(345), 2).blame, RequestBlame { reconstruct, ..NOTHING });
    let refused = [
        (us(50), DeviceId(1), Refusal::Reserved),
        (us(300), DeviceId(1), Refusal::Failed),
        (us(300), DeviceId(2), Refusal::Failed),
    ];
    assert_eq!(log.lock().unwrap().refused, refused);
    at_rest(&mut array);
}

/// Under a policy that displaces: a later step that was planned while its member was open goes through, one that was planned
/// while it was reserved takes its chance.
#[test]
fn a_reserved_member_takes_what_was_planned_before() {
    let steps: &[&[PlannedOperation]] = &[&[read(0, 0)], &[write(1, 0)]];
    let script = Script { displaces: true, ..Script::default() }
        .with(0, Rows::NONE, steps)
        .with(1, Rows::NONE, steps)
        .answers(Answer::Patch, &[write(3, 0)]);
    let log = script.log.clone();
    let mut array = stage(script);
    arrive(&mut array, us(0), 0);
    array.set_access(DeviceId(1), Access::Reserved);
    done_at(&mut array, us(45 + 220), 0);
    assert_eq!(log.lock().unwrap().refused, [], "it was promised");
    arrive(&mut array, us(300), 1);
    done_at(&mut array, us(345 + 220), 1);
    assert_eq!(log.lock().unwrap().refused, [(us(345), DeviceId(1), Refusal::Reserved)]);
    at_rest(&mut array);
}

/// A member that goes by deadlines (`slack`) is given those of requests: it collects first where the read can wait that long.
#[test]
fn members_are_told_when_requests_are_due() {
    let finish = |within: u64| {
        let mut ssd = ssd();
        ssd.gc.schedule = "slack".into();
        let script =
            Script::default().with(0, Rows::NONE, &[&[write(1, 0)]]).with(1, Rows::NONE, &[&[read(1, 1)]]);
        let mut array = stage_with(&ssd, script, &[(us(10), 1)]);
        array.set_deadlines(Deadlines { read: Some(SimDuration::from_us(within)), write: None });
        arrive(&mut array, us(0), 0);
        arrive_as(&mut array, us(20), 1, Operation::Read);
        drain(&mut array).into_iter().find(|done| done.id == 1).expect("it is read").finish
    };
    assert_eq!([300, 10_000].map(finish), [us(220 + 45), us(220 + 1_500 + 45)]);
}

// ----------------------------------------------------------------------------------------------------------- rows

#[test]
fn whoever_comes_first_has_its_rows_first() {
    let script = Script::default()
        .with(0, rows(10, 2), &[&[write(0, 0)]])
        .with(1, rows(11, 2), &[&[write(1, 0)]])
        .with(2, rows(12, 1), &[&[read(2, 0)]])
        .with(3, rows(13, 1), &[&[read(3, 0)]])
        .with(4, rows(10, 1), &[&[read(3, 1)]]);
    let mut array = stage(script);
    for (id, at) in (0..).zip([0, 3, 7, 11, 13]) {
        arrive(&mut array, us(at), id);
    }
    assert_eq!(done_at(&mut array, us(56), 3).blame.stripe_wait, 0, "nobody else has its row");
    assert_eq!(done_at(&mut array, us(220), 0).blame, RequestBlame { data: WRITES, ..NOTHING });
    let done = done_at(&mut array, us(265), 4);
    assert_eq!(done.blame, RequestBlame { data: READS, stripe_wait: 207_000, ..NOTHING });
    let done = done_at(&mut array, us(440), 1);
    assert_eq!(done.blame, RequestBlame { data: WRITES, stripe_wait: 217_000, ..NOTHING });
    let done = done_at(&mut array, us(485), 2);
    assert_eq!(done.blame, RequestBlame { data: READS, stripe_wait: 433_000, ..NOTHING });
    assert_eq!(array.counters().redundancy.stripe_waits, 3);
    at_rest(&mut array);
}

/// A read's die is done at 45 us, its data is here at 55 us, and so long it has its rows. Whoever waits for them comes to
/// its member behind what arrived there in between.
#[test]
fn rows_are_held_until_a_finish_that_lies_ahead() {
    let script = Script::default()
        .with(0, rows(0, 1), &[&[read(0, 0)]])
        .with(1, rows(0, 1), &[&[read(1, 0)]])
        .with(2, Rows::NONE, &[&[read(1, 1)]]);
    let mut array = stage_with(&linked(), script, &[]);
    arrive(&mut array, us(0), 0);
    arrive(&mut array, us(1), 1);
    arrive(&mut array, us(50), 2);
    assert_eq!(done_at(&mut array, us(55), 0).blame.data.link, 10_000);
    let done = drain(&mut array);
    let data = Blame { link: 10_000, ..READS };
    assert_eq!((done[0].id, done[0].finish, done[0].blame.data), (2, us(105), data));
    let blame = RequestBlame { data: Blame { queue_host: 40_000, ..data }, stripe_wait: 54_000, ..NOTHING };
    assert_eq!((done[1].id, done[1].finish, done[1].blame), (1, us(150), blame));
    at_rest(&mut array);
}

/// The fifth read of member 1 is known to be done at 225 us, before the write, and its data is here at 235 us, after it.
#[test]
fn what_goes_on_behind_a_request_does_not_delay_it_even_when_it_is_known_first() {
    let busy: Vec<PlannedOperation> = (0..4).map(|page| read(1, page)).collect();
    let script = Script::default()
        .with(0, Rows::NONE, &[&busy])
        .with(1, rows(0, 1), &[&[write(0, 0), behind(read(1, 4))]])
        .with(2, rows(0, 1), &[&[read(2, 0)]]);
    let mut array = stage_with(&linked(), script, &[]);
    for id in 0..3 {
        arrive(&mut array, us(0), id);
    }
    let done = drain(&mut array);
    let data = Blame { link: 10_000, ..WRITES };
    assert_eq!((done[1].finish, done[1].blame), (us(230), RequestBlame { data, ..NOTHING }));
    let blame = RequestBlame { data: Blame { link: 10_000, ..READS }, stripe_wait: 235_000, ..NOTHING };
    assert_eq!((done[2].finish, done[2].blame), (us(235 + 55), blame), "the row is held for both");
    at_rest(&mut array);
}

#[test]
fn without_row_locks_nobody_waits() {
    let script =
        Script::default().with(0, rows(0, 1), &[&[write(0, 0)]]).with(1, rows(0, 1), &[&[write(1, 0)]]);
    let mut array = stage(script);
    array.without_row_locks();
    arrive(&mut array, us(0), 0);
    arrive(&mut array, us(0), 1);
    done_at(&mut array, us(220), 0);
    done_at(&mut array, us(220), 1);
    at_rest(&mut array);
}

#[test]
fn background_work_has_rows_and_no_request() {
    let script = Script::default()
        .with(0, rows(0, 4), &[&[read(0, 0)], &[write(1, 0), behind(write(2, 0))]])
        .with(1, rows(2, 1), &[&[read(3, 0)]]);
    let log = script.log.clone();
    let mut array = stage(script);
    array.advance_until(us(10)).unwrap();
    let work = Transaction { rows: rows(0, 4), ..Transaction::unlocked(Operation::Write, 0, 0) };
    array.submit_background(us(10), work).unwrap();
    assert_eq!(array.transactions_under_way(), 1);
    arrive(&mut array, us(20), 1);
    arrive_as(&mut array, us(20), 2, Operation::Flush);
    done_at(&mut array, us(20), 2);
    let done = done_at(&mut array, us(275 + 45), 1);
    assert_eq!(done.blame, RequestBlame { data: READS, stripe_wait: 255_000, ..NOTHING });
    at_rest(&mut array);
    assert_eq!(log.lock().unwrap().done, [(us(275), 0), (us(320), 1)]);
}

/// Background work waits for rows as requests do.
#[test]
fn background_work_waits_for_rows() {
    let script =
        Script::default().with(0, rows(0, 1), &[&[read(0, 0)]]).with(1, rows(0, 1), &[&[write(3, 0)]]);
    let log = script.log.clone();
    let mut array = stage(script);
    arrive(&mut array, us(0), 1);
    let work = Transaction { rows: rows(0, 1), ..Transaction::unlocked(Operation::Read, 0, 0) };
    array.submit_background(us(0), work).unwrap();
    done_at(&mut array, us(220), 1);
    at_rest(&mut array);
    assert_eq!(log.lock().unwrap().done, [(us(220), 1), (us(265), 0)]);
}

// ------------------------------------------------------------------------------- members ahead of one another

/// Several pages at once.
fn pages(operation: PlannedOperation, count: u64) -> PlannedOperation {
    PlannedOperation { length: count * PAGE, ..operation }
}

/// Finish times by request.
fn finishes(array: &mut Array) -> Vec<(u64, SimTime)> {
    array.advance_until(SimTime::NEVER).unwrap();
    let mut finishes: Vec<_> = array.completions().drain(..).map(|done| (done.id, done.finish)).collect();
    finishes.sort_unstable();
    finishes
}

/// Member 2 has something to do before the patch comes, and member 1 has two arrivals before it refuses.
#[test]
fn a_patch_comes_when_its_member_has_done_what_was_due() {
    let mut ssd = ssd();
    ssd.link.latency = SimDuration::from_us(5);
    let script = Script::default()
        .with(0, Rows::NONE, &[&[read(1, 0)]])
        .with(1, Rows::NONE, &[&[read(2, 1)]])
        .with(2, Rows::NONE, &[&[fast_fail(read(1, 0))]])
        .answers(Answer::Patch, &[read(2, 0)]);
    let mut array = stage_with(&ssd, script, &[(us(10), 1)]);
    (0..3).for_each(|id| arrive(&mut array, us(96 + 2 * id), id));
    assert_eq!(finishes(&mut array), [(0, us(1_510 + 45)), (1, us(103 + 45)), (2, us(148 + 45))]);
    at_rest(&mut array);
}

/// Member 0 ends a read at the moment at which the second step comes to it. Devices go before what follows from a
/// higher one, so the read has the link first.
#[test]
fn a_step_comes_behind_what_lower_members_do_at_its_moment() {
    let script = Script::default().with(0, Rows::NONE, &[&[pages(write(2, 0), 2)], &[write(0, 0)]]).with(
        1,
        Rows::NONE,
        &[&[pages(read(0, 1), 5)]],
    );
    let mut array = stage_with(&linked(), script, &[]);
    arrive(&mut array, us(0), 0);
    arrive(&mut array, us(225), 1);
    assert_eq!(finishes(&mut array), [(0, us(450 + 10 + 10 + 220)), (1, us(450 + 10))]);
    at_rest(&mut array);
}

/// The transaction was planned before member 2 failed; member 3 is busy for long after the new plan is made.
#[test]
fn a_member_that_fails_between_steps_has_the_others_wait_for_the_new_plan() {
    let script = Script::default()
        .with(0, Rows::NONE, &[&[read(0, 0)], &[read(1, 0), read(2, 0)]])
        .then(&[&[read(3, 0)]])
        .with(1, Rows::NONE, &[&[pages(read(3, 1), 3)]])
        .answers(Answer::Replan(Rows::NONE), &[]);
    let mut array = stage(script);
    arrive(&mut array, us(0), 0);
    array.set_access(DeviceId(2), Access::Failed);
    arrive(&mut array, us(30), 1);
    assert_eq!(finishes(&mut array), [(0, us(30 + 4 * 45)), (1, us(30 + 3 * 45))]);
    at_rest(&mut array);
}

/// The same with a patch that a busy member refuses in its turn.
#[test]
fn a_patch_that_may_be_refused_has_the_others_wait() {
    let mut ssd = ssd();
    ssd.link.latency = SimDuration::from_us(5);
    let script = Script::default()
        .with(0, Rows::NONE, &[&[read(0, 0)], &[read(2, 0)]])
        .with(1, Rows::NONE, &[&[pages(read(3, 1), 3)]])
        .answers(Answer::Patch, &[fast_fail(read(1, 0))])
        .answers(Answer::Patch, &[read(3, 0)]);
    let mut array = stage_with(&ssd, script, &[(us(10), 1)]);
    arrive(&mut array, us(0), 0);
    array.set_access(DeviceId(2), Access::Reserved);
    arrive(&mut array, us(4), 1);
    array.set_access(DeviceId(2), Access::Reserved);
    assert_eq!(finishes(&mut array), [(0, us(9 + 4 * 45)), (1, us(9 + 3 * 45))]);
    at_rest(&mut array);
}
