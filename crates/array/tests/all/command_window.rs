//! Do commands wait for a drive's window exactly as long as it is full, and in which order does the drive fetch them?
//!
//! A read takes 25 + 20 + 10 us of flash, bus and link, a write 10 + 20 + 200 us. With a window of 1 nothing of two overlaps. The oracle
//! of random loads looks at completions only, as that of `queue_depth` does.

use std::collections::VecDeque;

use crate::common::*;
use harmonia_array::{ArrayConfig, Level};
use harmonia_engine::Rng;
use harmonia_ssd::{Arbitration, ControllerConfig, SsdConfig};
use harmonia_types::{Completion, HostRequest, Operation, SimTime};

const READ: u64 = 55;
const WRITE: u64 = 230;

/// 10 us a page on the link.
fn ssd(window: Option<u32>, arbitration: Arbitration) -> SsdConfig {
    let mut ssd = one_die(16, 8, 5);
    ssd.link.bandwidth = PAGE * 100_000;
    ssd.controller = ControllerConfig { command_window: window, arbitration, ..ControllerConfig::default() };
    ssd
}

/// Writes of stream 0, with a read of stream 1 and one of stream 2 behind them, all at one moment.
fn backlog() -> Vec<HostRequest> {
    let mut requests = at_once(Operation::Write, 5);
    for (stream, id) in [(1, 5), (2, 6)] {
        requests.push(HostRequest { volume: stream, ..request(id, us(7), Operation::Read, 0, PAGE) });
    }
    requests
}

/// By id: when it finished, and how long it waited for the window.
fn finished(config: &ArrayConfig, requests: &[HostRequest]) -> Vec<(SimTime, u64)> {
    let mut done = serve(config, requests);
    done.sort_by_key(|done| done.id);
    let parts = |done: &Completion| {
        assert_eq!(done.blame.total(), done.response().as_ns(), "{done:?}");
        assert_eq!(done.blame.depth_wait, 0);
        (done.finish, done.blame.window_wait)
    };
    done.iter().map(parts).collect()
}

/// What is fetched in this order, one at a time, by id.
fn one_by_one(order: &[(usize, u64)]) -> Vec<(SimTime, u64)> {
    let (mut times, mut begins) = (vec![(SimTime::ZERO, 0); order.len()], 0);
    for &(id, takes) in order {
        times[id] = (us(7 + begins + takes), begins * 1000);
        begins += takes;
    }
    times
}

#[test]
fn a_full_window_is_left_by_what_completes_first_come_first_served() {
    let done = finished(&raid0(&ssd(Some(1), Arbitration::Fifo), 1, PAGE), &backlog());
    let order = [(0, WRITE), (1, WRITE), (2, WRITE), (3, WRITE), (4, WRITE), (5, READ), (6, READ)];
    assert_eq!(done, one_by_one(&order));
}

#[test]
fn with_round_robin_a_backlog_of_one_queue_holds_up_the_others_by_one_command_each() {
    let done = finished(&raid0(&ssd(Some(1), Arbitration::RoundRobin), 1, PAGE), &backlog());
    let order = [(0, WRITE), (5, READ), (6, READ), (1, WRITE), (2, WRITE), (3, WRITE), (4, WRITE)];
    assert_eq!(done, one_by_one(&order));
}

/// Beside a window of 4, a queue depth of 1 is what an operation waits for.
#[test]
fn the_limit_that_binds_is_the_one_that_is_told() {
    let mut device = ssd(Some(4), Arbitration::RoundRobin);
    device.link.queue_depth = Some(1);
    let done = serve(&raid0(&device, 1, PAGE), &at_once(Operation::Read, 3));
    let waited: Vec<_> = done.iter().map(|done| (done.blame.depth_wait, done.blame.window_wait)).collect();
    assert_eq!(waited, [(0, 0), (READ * 1000, 0), (2 * READ * 1000, 0)]);
}

#[test]
fn a_window_that_is_never_full_changes_nothing() {
    for (of, members) in [(Level::Raid0, 3), (Level::Raid4, 3)] {
        let config = |window| level(of, &ssd(window, Arbitration::RoundRobin), members, PAGE);
        let requests = random(&mut Rng::stream(5, "window"), 80, 400);
        assert_eq!(serve(&config(Some(65_535)), &requests), serve(&config(None), &requests), "{of:?}");
    }
}

/// Requests of one page each at random, of three streams, more than the drive keeps up with for some time.
fn random(rng: &mut Rng, pages: u64, count: u64) -> Vec<HostRequest> {
    let mut now = SimTime(0);
    let each = |id| {
        now = SimTime(now.0 + rng.below(150_000));
        let operation = if rng.chance(0.6) { Operation::Read } else { Operation::Write };
        let volume = rng.below(3) as u16;
        HostRequest { volume, ..request(id, now, operation, rng.below(pages) * PAGE, PAGE) }
    };
    (0..count).map(each).collect()
}

/// A window of 1: what is fetched at each moment follows from what has arrived and whose turn it is.
#[test]
fn the_next_command_is_the_first_of_the_next_queue_that_has_one() {
    for seed in 0..30 {
        let mut rng = Rng::stream(seed, "command-window");
        let config = raid0(&ssd(Some(1), Arbitration::RoundRobin), 1, PAGE);
        let requests = random(&mut rng, 60, 300);
        let done = serve(&config, &requests);
        let fetched = |done: &Completion| done.arrival.0 + done.blame.window_wait;
        let mut by_start = done.clone();
        by_start.sort_by_key(|done| (fetched(done), done.id));
        let (mut queues, mut turn, mut arrived) = (vec![VecDeque::new(); 3], 2, 0);
        for one in &by_start {
            while arrived < requests.len() && requests[arrived].arrival.0 <= fetched(one) {
                let request = &requests[arrived];
                queues[usize::from(request.volume)].push_back(request.id);
                arrived += 1;
            }
            let next = (1..=3).map(|step| (turn + step) % 3).find(|&queue| !queues[queue].is_empty());
            turn = next.expect("one is fetched");
            assert_eq!(queues[turn].pop_front(), Some(one.id), "seed {seed}");
        }
        assert!(done.iter().any(|done| done.blame.window_wait > 0), "seed {seed}: nobody waits");
        for pair in by_start.windows(2) {
            assert!(fetched(&pair[1]) >= pair[0].finish.0, "seed {seed}: two at once");
        }
    }
}
