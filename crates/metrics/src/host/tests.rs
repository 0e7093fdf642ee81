use harmonia_types::SimTime;

use super::*;

/// A request that arrives at 100 ns and takes as long as its blame says.
fn completion(operation: Operation, length: u64, gc_affected: bool, blame: Blame) -> Completion {
    let arrival = SimTime(100);
    let finish = SimTime(100 + blame.total());
    Completion { id: 7, operation, offset: 0, length, arrival, finish, blame, gc_affected }
}

fn blame(service: u64, queue_gc: u64) -> Blame {
    Blame { service, queue_gc, ..Blame::default() }
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

#[test]
fn blame_sums_part_by_part_to_the_response_time() {
    let parts =
        Blame { service: 1, transfer: 2, queue_host: 4, queue_gc: 8, parity: 16, reconstruct: 32, link: 64 };
    let mut host = HostRecorder::new();
    host.record(&completion(Operation::Read, 1, false, parts));
    host.record(&completion(Operation::Write, 1, false, parts));
    let expected = BlameSum {
        service: 2,
        transfer: 4,
        queue_host: 8,
        queue_gc: 16,
        parity: 32,
        reconstruct: 64,
        link: 128,
    };
    assert_eq!(host.report().blame_ns, expected);
    assert_eq!(expected.total(), 254);
    assert_eq!(host.all.sum_ns(), 254);
}

#[test]
#[should_panic(expected = "summed blame must equal")]
fn a_lost_nanosecond_is_found_in_every_build() {
    let mut host = HostRecorder::new();
    host.record(&completion(Operation::Read, 1, false, blame(25, 0)));
    host.blame.service -= 1;
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
fn sums_beyond_64_bits_stay_exact_and_survive_json() {
    let mut sum = BlameSum::default();
    sum.add(&blame(u64::MAX, 0));
    sum.add(&blame(u64::MAX, 3));
    assert_eq!(sum.total(), 36_893_488_147_419_103_233);
    let text = serde_json::to_string(&sum).unwrap();
    assert!(text.starts_with(r#"{"service":36893488147419103230,"#), "{text}");
    assert_eq!(serde_json::from_str::<BlameSum>(&text).unwrap(), sum);
}

#[test]
fn the_cdf_is_that_of_all_requests() {
    let mut host = HostRecorder::new();
    host.record(&completion(Operation::Read, 1, false, blame(25, 0)));
    host.record(&completion(Operation::Write, 1, false, blame(200, 0)));
    assert_eq!(host.report().response_cdf, [(25, 0.5), (200, 1.0)]);
}
