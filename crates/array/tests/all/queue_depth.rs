//! Do operations wait in the array exactly as long as a member or the controller has no room for them?
//!
//! The oracle looks at completions only: an operation is given to its member when its arrival and its `depth_wait` are over,
//! and is outstanding until it finishes. So what is outstanding at any moment is counted from outside.

use crate::common::*;
use harmonia_array::{ArrayConfig, Level};
use harmonia_engine::Rng;
use harmonia_ssd::SsdConfig;
use harmonia_types::{Completion, HostRequest, Operation, SimTime};

/// 10 us a page on the link.
fn ssd(depth: Option<u32>) -> SsdConfig {
    let mut ssd = one_die(16, 8, 5);
    ssd.link.bandwidth = PAGE * 100_000;
    ssd.link.queue_depth = depth;
    ssd
}

#[test]
fn a_member_with_room_for_one_serves_one_at_a_time() {
    // Read: flash, bus and link; write: link, bus and flash. Nothing of two requests overlaps.
    for (operation, alone) in [(Operation::Read, 25 + 20 + 10), (Operation::Write, 10 + 20 + 200)] {
        let done = serve(&raid0(&ssd(Some(1)), 1, PAGE), &at_once(operation, 5));
        for (place, done) in (0..).zip(&done) {
            assert_eq!(done.finish, us(7 + alone * (place + 1)), "{operation:?} {place}");
            assert_eq!(done.blame.depth_wait, alone * place * 1000, "{operation:?} {place}");
            assert_eq!(done.blame.data.queue_host, 0);
        }
    }
}

#[test]
fn an_operation_of_many_pages_counts_as_one() {
    let whole = [request(0, us(7), Operation::Read, 0, 5 * PAGE)];
    let of = |depth| serve(&raid0(&ssd(depth), 1, PAGE), &whole);
    assert_eq!(of(Some(1)), of(None));
}

#[test]
fn the_controller_counts_over_all_members() {
    let config = |depth| ArrayConfig { queue_depth: depth, ..raid0(&ssd(None), 4, PAGE) };
    let done = serve(&config(Some(1)), &at_once(Operation::Read, 4));
    assert_eq!(done.iter().map(|done| done.finish).collect::<Vec<_>>(), [62, 117, 172, 227].map(us));
    let done = serve(&config(Some(2)), &at_once(Operation::Read, 4));
    assert_eq!(done.iter().map(|done| done.finish).collect::<Vec<_>>(), [62, 62, 117, 117].map(us));
}

/// Requests of one page each at random, more than the members keep up with for some time.
fn random(rng: &mut Rng, pages: u64, count: u64) -> Vec<HostRequest> {
    let mut now = SimTime(0);
    let each = |id| {
        now = SimTime(now.0 + rng.below(80_000));
        let operation = if rng.chance(0.6) { Operation::Read } else { Operation::Write };
        request(id, now, operation, rng.below(pages) * PAGE, PAGE)
    };
    (0..count).map(each).collect()
}

#[test]
fn nobody_has_more_than_it_may_and_nobody_waits_with_room() {
    for seed in 0..40 {
        let mut rng = Rng::stream(seed, "queue-depth");
        let (members, most, all) = (1 + rng.below(4), 1 + rng.below(5), 1 + rng.below(9));
        let config = ArrayConfig {
            queue_depth: Some(all as u32),
            ..raid0(&ssd(Some(most as u32)), members as u16, PAGE)
        };
        let requests = random(&mut rng, members * 60, 400);
        let done = serve(&config, &requests);
        let member = |done: &Completion| done.offset / PAGE % members;
        let given = |done: &Completion| SimTime(done.arrival.0 + done.blame.depth_wait);
        // Outstanding just before `at`, at all members and at one.
        let outstanding = |at: SimTime, of: u64| {
            let there = || done.iter().filter(|&done| given(done) < at && at <= done.finish);
            (there().count() as u64, there().filter(|&done| member(done) == of).count() as u64)
        };
        let mut last = vec![SimTime::ZERO; members as usize];
        for one in &done {
            let (begins, of) = (given(one), member(one));
            let (everywhere, here) = outstanding(SimTime(begins.0 + 1), of);
            assert!(everywhere <= all && here <= most, "seed {seed}, request {}", one.id);
            if begins > one.arrival {
                let (everywhere, here) = outstanding(begins, of);
                assert!(everywhere == all || here == most, "seed {seed}: request {} waits with room", one.id);
            }
            let before = std::mem::replace(&mut last[of as usize], begins);
            assert!(before <= begins, "seed {seed}: request {} overtakes", one.id);
        }
        assert!(done.iter().any(|done| done.blame.depth_wait > 0), "seed {seed}: nobody waits");
    }
}

#[test]
fn limits_that_never_bind_change_nothing() {
    for (of, members) in [(Level::Raid0, 3), (Level::Raid1, 2)] {
        for seed in 0..10 {
            let config = |depth: Option<u32>| ArrayConfig {
                queue_depth: depth,
                ..level(of, &ssd(depth), members, PAGE)
            };
            let requests = random(&mut Rng::stream(seed, "never-binds"), 80, 400);
            let free = serve(&config(None), &requests);
            assert_eq!(serve(&config(Some(65_535)), &requests), free, "{of:?}, seed {seed}");
        }
    }
}

#[test]
fn transactions_of_several_steps_wait_in_each_of_them() {
    let config = ArrayConfig { queue_depth: Some(1), ..level(Level::Raid4, &ssd(None), 3, PAGE) };
    // A small write reads one page at least, then writes data and parity one after the other.
    let done = serve(&config, &[request(0, us(7), Operation::Write, 0, PAGE)]);
    let blame = &done[0].blame;
    assert!(blame.depth_wait >= 230_000, "{blame:?}");
    assert_eq!(blame.total(), (done[0].finish - done[0].arrival).0);
    for seed in 0..10 {
        let requests = random(&mut Rng::stream(seed, "steps"), 100, 200);
        let done = serve(&config, &requests);
        assert!(done.iter().all(|done| done.blame.total() == done.response().as_ns()), "seed {seed}");
    }
}
