use harmonia_types::{Blame, RequestBlame, SimDuration, SimTime};

use super::*;
use crate::blame::tests::every_part;

/// A request that arrives at 100 ns and takes as long as its blame says.
fn completion(operation: Operation, length: u64, met_gc: bool, blame: RequestBlame) -> Completion {
    let arrival = SimTime(100);
    let finish = SimTime(100 + blame.total());
    Completion { id: 7, operation, offset: 0, length, arrival, finish, blame, met_gc, gc_wait: None }
}

fn blame(service: u64, queue_gc: u64) -> RequestBlame {
    RequestBlame { data: Blame { service, queue_gc, ..Blame::default() }, ..RequestBlame::default() }
}

#[test]
fn requests_and_bytes_are_counted_by_kind() {
    let mut host = HostRecorder::new();
    host.record(&completion(Operation::Read, 4096, false, blame(25, 0)));
    host.record(&completion(Operation::Write, 512, false, blame(200, 0)));
    host.record(&completion(Operation::Write, 1024, false, blame(300, 0)));
    host.record(&completion(Operation::Trim, 65536, false, blame(0, 0)));
    host.record(&completion(Operation::Flush, 0, false, blame(5, 0)));
    let report = host.report();
    assert_eq!((report.requests, report.read_requests, report.write_requests), (5, 1, 2));
    assert_eq!((report.trim_requests, report.flush_requests), (1, 1));
    assert_eq!((report.bytes_read, report.bytes_written, report.bytes_trimmed), (4096, 1536, 65536));
    assert_eq!((report.response_ns.all.count, report.response_ns.all.mean), (5, Some(106.0)));
    assert_eq!((report.response_ns.read.count, report.response_ns.write.mean), (1, Some(250.0)));
}

#[test]
fn only_gc_affected_reads_and_writes_count_as_such() {
    let mut host = HostRecorder::new();
    host.record(&completion(Operation::Read, 1, false, blame(25, 0)));
    host.record(&completion(Operation::Read, 1, true, blame(25, 1000)));
    host.record(&completion(Operation::Write, 1, true, blame(200, 2000)));
    host.record(&completion(Operation::Flush, 0, true, blame(0, 3000)));
    let response = host.report().response_ns;
    assert_eq!((response.gc_affected_read.count, response.gc_affected_read.max), (1, Some(1025)));
    assert_eq!((response.gc_affected_write.count, response.gc_affected_write.max), (1, Some(2200)));
    assert_eq!((response.read.count, response.write.count, response.all.count), (2, 1, 4));
}

/// A read that waits on a bus for another die's collection waits without meeting one. One that arrives as its die ends meets one
/// and does not wait. Each of the four cases has another service time.
#[test]
fn waiting_for_collection_and_meeting_one_are_counted_apart() {
    let mut host = HostRecorder::new();
    for (met_gc, service, queue_gc) in [(false, 1, 0), (false, 2, 1_000), (true, 4, 0), (true, 8, 1_000)] {
        host.record(&completion(Operation::Read, 1, met_gc, blame(service, queue_gc)));
        host.record(&completion(Operation::Write, 1, met_gc, blame(10 * service, queue_gc)));
    }
    let report = host.report();
    let response = &report.response_ns;
    let sum = |of: &DistributionSummary| of.mean.map(|mean| (of.count, mean * of.count as f64));
    assert_eq!(sum(&response.gc_affected_read), Some((2, 2_010.0)));
    assert_eq!(sum(&response.met_gc_read), Some((2, 1_012.0)));
    assert_eq!(sum(&response.gc_affected_write), Some((2, 2_100.0)));
    assert_eq!(sum(&response.met_gc_write), Some((2, 1_120.0)));
    assert_eq!((sum(&response.read), response.write.count), (Some((4, 2_015.0)), 4));
}

#[test]
fn blame_sums_to_the_response_time_whatever_the_phase() {
    let mut host = HostRecorder::new();
    host.record(&completion(Operation::Read, 1, false, every_part()));
    host.record(&completion(Operation::Write, 1, false, every_part()));
    let report = host.report();
    assert_eq!(report.blame_ns.total(), u128::from(2 * every_part().total()));
    let once = BlameSum::of(&every_part()).parts();
    assert_eq!(report.blame_ns.parts(), once.map(|ns| 2 * ns));
    assert_eq!(report.blame_phases_ns.parity.gc, u128::from(2 * every_part().parity.queue_gc));
}

#[test]
#[should_panic(expected = "summed blame must equal")]
fn a_lost_nanosecond_is_found_in_every_build() {
    let mut host = HostRecorder::new();
    host.record(&completion(Operation::Read, 1, false, blame(25, 0)));
    host.phases.data.flash -= 1;
    host.check();
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "the blame of request 7")]
fn a_request_whose_blame_does_not_sum_is_named() {
    let mut wrong = completion(Operation::Read, 1, false, blame(25, 0));
    wrong.finish = SimTime(126);
    HostRecorder::new().record(&wrong);
}

#[test]
fn the_cdf_is_that_of_all_requests() {
    let mut host = HostRecorder::new();
    host.record(&completion(Operation::Read, 1, false, blame(25, 0)));
    host.record(&completion(Operation::Write, 1, false, blame(200, 0)));
    assert_eq!(host.report().response_cdf, [(25, 0.5), (200, 1.0)]);
}

/// As long as the deadline is in time; a nanosecond more is not. Trims have none.
#[test]
fn a_deadline_is_kept_to_the_nanosecond() {
    let within = Deadlines { read: Some(SimDuration(100)), write: None };
    let mut host = HostRecorder::new().expecting(within);
    for service in [99, 100, 101] {
        host.record(&completion(Operation::Read, 1, false, blame(service, 0)));
    }
    host.record(&completion(Operation::Write, 1, false, blame(900, 0)));
    host.record(&completion(Operation::Trim, 1, false, blame(900, 0)));
    assert_eq!(host.report().deadlines, Some(DeadlineReport { missed: 1, met: 2 }));
    assert_eq!(HostRecorder::new().report().deadlines, None);
}

#[test]
fn the_share_of_missed_deadlines_is_that_of_requests_with_one() {
    let share = |missed, met| DeadlineReport { missed, met }.missed_share();
    assert_eq!([share(0, 0), share(0, 4)], [None, Some(0.0)]);
    assert_eq!([share(3, 0), share(3, 9)], [Some(1.0), Some(0.25)]);
}

/// A batch is 16 requests. Flushes and trims move no data, whatever they waited for. The fifth met a collection and did not wait.
#[test]
fn batches_count_reads_and_writes_that_waited_for_collection() {
    let mut host = HostRecorder::new();
    for id in 0..32 {
        let (operation, queue_gc) = match id {
            0 => (Operation::Read, 7),
            1 => (Operation::Write, 7),
            2 => (Operation::Flush, 7),
            3 => (Operation::Trim, 7),
            _ => (Operation::Read, 0),
        };
        host.record(&Completion { id, ..completion(operation, 1, id == 4, blame(25, queue_gc)) });
    }
    assert_eq!(host.report().batches.gc_affected, [0.125, 0.0]);
}

#[test]
fn the_last_arrival_is_the_latest_whichever_completes_last() {
    let mut host = HostRecorder::new();
    assert_eq!(host.last_arrival(), SimTime::ZERO);
    for arrival in [100, 300, 200] {
        let (arrival, finish) = (SimTime(arrival), SimTime(arrival + 25));
        let of = completion(Operation::Read, 1, false, blame(25, 0));
        host.record(&Completion { arrival, finish, ..of });
    }
    assert_eq!(host.last_arrival(), SimTime(300));
}
