//! When does a read of the host go into a program of the host? Not ready at t - 1, ready at t.
//!
//! The part suspends within 200 and goes on after 50 more. A write that comes at 0 alone goes
//!
//! ```text
//! link 70   in 370   program 5,370
//! ```

use crate::bench::*;
use harmonia_flash::LinkOrder;
use harmonia_ssd::{Priority, SsdConfig};
use harmonia_types::{Blame, Operation, SimDuration};

fn suspending(mut config: SsdConfig) -> SsdConfig {
    config.timing.suspend_host_program = Some(SimDuration(200));
    config.timing.resume = SimDuration(50);
    config
}

/// A die that has begun to write page 0, at 0.
fn writing(config: &SsdConfig) -> Bench {
    let mut bench = Bench::with(config, &[&[0, 1, 2]]);
    bench.write(0, 1, 0, 1);
    bench
}

fn waited(queue_host: u64, blame: Blame) -> Blame {
    Blame { queue_host, ..blame }
}

#[test]
fn a_read_suspends_a_program_whose_array_works() {
    for own_pins in [true, false] {
        let mut config = suspending(one_die());
        config.geometry.own_pins = own_pins;
        for (arrival, remaining) in [(370, 5_000), (1_000, 4_370), (5_369, 1)] {
            let mut bench = writing(&config);
            let done = arrival + 200 + 1_300;
            bench.read(arrival, 2, 1, 1).known_at(done, 2, done + LINK, waited(200, read_blame()));
            let end = done + 50 + remaining;
            bench.known_at(end, 1, end, waited(1_500 + 50, write_blame()));
            assert_eq!(bench.device.counters().inside.suspends, 1);
        }
        // Its page goes in until 370.
        for arrival in [70, 71, 200, 369] {
            let mut bench = writing(&config);
            let blame = waited(370 + 200 - arrival, read_blame());
            bench.read(arrival, 2, 1, 1).known_at(1_870, 2, 1_870 + LINK, blame);
            bench.known_at(6_920, 1, 6_920, waited(1_550, write_blame()));
            assert_eq!(bench.device.counters().inside.suspends, 1);
        }
        // At 5,370 it is over.
        let mut bench = writing(&config);
        bench.read(5_370, 2, 1, 1).known_at(6_670, 2, 6_670 + LINK, read_blame());
        assert_eq!(bench.device.counters().inside.suspends, 0);
    }
}

#[test]
fn a_program_runs_for_the_least_time_before_it_is_suspended() {
    for own_pins in [true, false] {
        let mut config = suspending(one_die());
        config.geometry.own_pins = own_pins;
        config.timing.minimum_run = SimDuration(1_000);
        // The array works from 370 on. While the page goes in, and before, at and after the minimum run.
        for (arrival, suspended) in
            [(71, 1_370), (369, 1_370), (370, 1_370), (1_369, 1_370), (1_370, 1_370), (1_371, 1_371)]
        {
            let mut bench = writing(&config);
            let done = suspended + 200 + 1_300;
            let blame = waited(suspended + 200 - arrival, read_blame());
            bench.read(arrival, 2, 1, 1).known_at(done, 2, done + LINK, blame);
            bench.known_at(6_920, 1, 6_920, waited(1_550, write_blame()));
            assert_eq!(bench.device.counters().inside.suspends, 1);
        }
    }
}

/// A read stands behind a write that waits for its die, or comes while the die waits for its bus.
#[test]
fn a_read_that_was_there_before_the_array_began_suspends_it() {
    for (least, suspended) in [(0, 1_600), (1_000, 2_600)] {
        for own_pins in [true, false] {
            let mut config = suspending(one_die());
            config.geometry.own_pins = own_pins;
            config.timing.minimum_run = SimDuration(least);
            let mut bench = Bench::with(&config, &[&[0, 1, 2]]);
            bench.read(0, 1, 2, 1).write(10, 2, 0, 1).read(100, 3, 1, 1);
            let done = suspended + 200 + 1_300;
            bench.known_at(done, 3, done + LINK, waited(suspended + 200 - 100, read_blame()));
        }
    }
    let mut config = suspending(shared_bus());
    config.ftl.priority = Priority::ReadsFirst;
    let mut bench = Bench::with(&config, &[&[0, 1, 2], &[0, 1, 2]]);
    // The bus has the page of die 0 until 370, then that of die 1 until 670.
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).read(200, 3, 3, 1);
    bench.known_at(2_170, 3, 2_170 + LINK, waited(670 + 200 - 200, read_blame()));
}

#[test]
fn after_a_resume_it_runs_for_the_least_time_again() {
    let mut config = suspending(one_die());
    config.timing.minimum_run = SimDuration(1_000);
    for (arrival, suspended) in [(2_871, 3_870), (3_869, 3_870), (3_870, 3_870), (3_871, 3_871)] {
        let mut bench = writing(&config);
        bench.read(1_370, 2, 1, 1).known_at(2_870, 2, 2_870 + LINK, waited(200, read_blame()));
        // Resumed at 2,870.
        let done = suspended + 200 + 1_300;
        let blame = waited(suspended + 200 - arrival, read_blame());
        bench.read(arrival, 3, 1, 1).known_at(done, 3, done + LINK, blame);
        let end = 5_370 + 2 * 1_550;
        bench.known_at(end, 1, end, waited(2 * 1_550, write_blame()));
        assert_eq!(bench.device.counters().inside.suspends, 2);
    }
}

/// It goes on at 2,870 and needs 4,000 more.
#[test]
fn a_program_is_suspended_as_often_as_it_may_be() {
    for (most, done, end) in [(None, 4_500, 8_470), (Some(2), 4_500, 8_470), (Some(1), 8_220, 6_920)] {
        let mut config = suspending(one_die());
        config.timing.most_suspends = most;
        let mut bench = writing(&config);
        bench.read(1_370, 2, 1, 1).known_at(2_870, 2, 2_870 + LINK, waited(200, read_blame()));
        bench.read(3_000, 3, 1, 1);
        let read = (done, 3, done + LINK, waited(done - 1_300 - 3_000, read_blame()));
        let write = (end, 1, end, waited(end - 5_370, write_blame()));
        for (at, token, finish, blame) in if done < end { [read, write] } else { [write, read] } {
            bench.known_at(at, token, finish, blame);
        }
    }
}

#[test]
fn a_program_that_ends_within_the_minimum_run_is_not_suspended() {
    let mut config = suspending(one_die());
    for (least, done, suspends) in [(4_999, 5_369 + 1_500, 1), (5_000, 6_670, 0), (9_000, 6_670, 0)] {
        config.timing.minimum_run = SimDuration(least);
        let mut bench = writing(&config);
        bench.read(1_000, 2, 1, 1).known_at(done, 2, done + LINK, waited(done - 2_300, read_blame()));
        assert_eq!(bench.device.counters().inside.suspends, suspends);
    }
}

/// On a link in order of arrival a read is ready behind the data of the write before it.
#[test]
fn a_read_that_is_on_its_way_suspends_when_it_is_ready() {
    let mut config = suspending(one_die());
    config.link.order = LinkOrder::Arrival;
    for (least, suspended) in [(0, 490), (300, 670)] {
        config.timing.minimum_run = SimDuration(least);
        let mut bench = writing(&config);
        bench.write(420, 2, 2, 1).read(430, 3, 1, 1);
        let done = suspended + 1_500;
        let blame = Blame { link: 2 * LINK - 10, ..waited(suspended + 200 - 490, read_blame()) };
        bench.known_at(done, 3, done + LINK, blame);
    }
}

#[test]
fn without_the_key_it_waits() {
    let mut bench = writing(&one_die());
    bench.read(1_000, 2, 1, 1).known_at(6_670, 2, 6_740, waited(4_370, read_blame()));
}

#[test]
fn all_reads_that_come_until_then_go_and_writes_wait() {
    let mut bench = writing(&suspending(one_die()));
    bench.write(900, 2, 2, 1).read(1_000, 3, 1, 1).read(2_400, 4, 1, 1);
    bench.known_at(2_500, 3, 2_570, waited(200, read_blame()));
    bench.known_at(3_800, 4, 3_870, waited(100, read_blame()));
    // It goes on at 3,800 and can be suspended again.
    bench.read(4_000, 5, 1, 1).known_at(5_500, 5, 5_570, waited(200, read_blame()));
    let end = 5_500 + 50 + 4_370 + 50 - 200;
    bench.known_at(end, 1, end, waited(end - 70 - 5_300, write_blame()));
    bench.known_at(end + 5_300, 2, end + 5_300, waited(end - 970, write_blame()));
    assert_eq!(bench.device.counters().inside.suspends, 2);
}

#[test]
fn a_read_of_the_page_that_is_programmed_waits_for_it() {
    let mut bench = writing(&suspending(one_die()));
    bench.read(1_000, 2, 0, 1).known_at(6_670, 2, 6_740, waited(4_370, read_blame()));
    // Behind one that waits another goes first.
    let mut bench = writing(&suspending(one_die()));
    bench.read(1_000, 2, 0, 1).read(1_100, 3, 1, 1).known_at(2_600, 3, 2_670, waited(200, read_blame()));
    bench.known_at(6_920, 1, 6_920, waited(1_550, write_blame()));
    bench.known_at(8_220, 2, 8_290, waited(5_920, read_blame()));
}

#[test]
fn a_program_of_several_planes_is_suspended_as_a_whole() {
    let mut config = suspending(planes(2));
    config.ftl.multi_plane = true;
    let mut bench = Bench::with(&config, &[&[0, 1], &[0, 1]]);
    // Page 0 is read until 1,300; both writes go in until 1,900.
    bench.read(0, 1, 0, 1).write(0, 2, 0, 1).write(0, 3, 1, 1).advance(1_899);
    bench.read(2_000, 4, 2, 1).known_at(3_500, 4, 3_570, waited(200, read_blame()));
    bench.advance(8_449);
    assert_eq!((bench.find(2), bench.find(3)), (None, None));
    bench.advance(8_450);
    assert!(bench.find(2).is_some() && bench.find(3).is_some(), "4,900 from 3,550 on");
}

#[test]
fn a_read_goes_first_only_where_collection_lets_it() {
    for (schedule, done) in [("blocking", 5_370 + 26_000 + 1_300), ("preemptive", 2_500)] {
        let mut config = suspending(one_die());
        config.gc.schedule = schedule.into();
        let mut bench = Bench::with(&config, &[SPREAD]);
        bench.write(0, 1, 12, 1).force(500);
        // The event of two moves begins when the program has ended.
        let done = if schedule == "blocking" { done + 6_000 } else { done };
        bench.read(1_000, 2, 13, 1).advance(done - 1);
        assert_eq!(bench.find(2), None, "{schedule}");
        assert!(bench.advance(done).find(2).is_some(), "{schedule}");
    }
}

/// Reads that wait for another write's page, trims and background reads suspend nothing.
#[test]
fn other_operations_suspend_nothing() {
    let mut bench = writing(&suspending(one_die()));
    let background = harmonia_ssd::SubRequest { background: true, ..sub(3, Operation::Read, 1, 1) };
    bench.submit(1_000, sub(2, Operation::Trim, 2, 1)).submit(1_100, background);
    bench.advance(20_000);
    assert_eq!((bench.find(1).unwrap().finish.0, bench.device.counters().inside.suspends), (5_370, 0));
}
