use harmonia_types::Operation;

use super::*;

fn record(time_ns: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, Operation::Read, 0, 1) }
}

/// What arrives when: rows of (time, recorded response, volume), each answered in the replay after so long.
fn arrivals(
    times: &mut ThinkTimes,
    rows: &[(u64, u64, u16)],
    replayed_response: impl Fn(u64) -> u64,
) -> Vec<u64> {
    let mut completions = BTreeSet::new();
    let mut arrivals = Vec::new();
    let mut now = SimTime::ZERO;
    for (id, &(time_ns, response_ns, volume)) in (0..).zip(rows) {
        let record = record(time_ns, volume);
        times.meet(id, &record, response_ns);
        let arrival = loop {
            if let Some(arrival) = times.arrival(now, &record).unwrap() {
                break arrival;
            }
            let (finish, id) = completions.pop_first().expect("it waits for something");
            times.complete(id, finish);
            now = finish;
        };
        now = arrival;
        arrivals.push(arrival.0);
        completions.insert((SimTime(arrival.0 + replayed_response(id)), id));
    }
    arrivals
}

fn think() -> ThinkTimes {
    ThinkTimes::new(1.0)
}

#[test]
fn a_request_waits_for_what_had_completed_before_it_and_then_thinks() {
    // The first had completed 5 before the second came, the second was out when the third came.
    let rows = [(0, 10, 0), (15, 10, 0), (20, 10, 0), (40, 1, 0)];
    assert_eq!(arrivals(&mut think(), &rows, |_| 10), [0, 15, 20, 40], "as recorded");
    // 100, think 5; 5 behind; then both have completed at 210: 10 behind the later in the recording.
    assert_eq!(arrivals(&mut think(), &rows, |_| 100), [0, 105, 110, 220]);
    assert_eq!(arrivals(&mut think(), &rows, |_| 0), [0, 5, 10, 20], "a fast device is asked sooner");
}

#[test]
fn without_response_times_each_waits_for_the_one_before() {
    let rows = [(0, 0, 0), (7, 0, 0), (7, 0, 0), (20, 0, 0)];
    assert_eq!(arrivals(&mut think(), &rows, |_| 0), [0, 7, 7, 20]);
    assert_eq!(arrivals(&mut think(), &rows, |_| 100), [0, 107, 207, 320]);
    let mut half = ThinkTimes::new(0.5);
    assert_eq!(arrivals(&mut half, &[(0, 0, 0), (10, 0, 0), (30, 0, 0)], |_| 100), [0, 105, 215]);
}

#[test]
fn volumes_wait_for_themselves_and_keep_the_order_of_the_trace() {
    // Volume 1 does not wait for volume 0, but for its turn.
    let rows = [(0, 0, 0), (5, 0, 1), (10, 0, 0), (11, 0, 1)];
    assert_eq!(arrivals(&mut think(), &rows, |id| [100, 2, 100, 2][id as usize]), [0, 5, 110, 110]);
}

#[test]
fn a_closed_loop_issues_one_for_each_that_completes() {
    let mut closed = Closed::new(2);
    assert_eq!([closed.arrival(SimTime(0)), closed.arrival(SimTime(0))], [Some(SimTime(0)); 2]);
    assert_eq!(closed.arrival(SimTime(0)), None);
    closed.ready.push(Reverse(SimTime(9)));
    assert_eq!(closed.arrival(SimTime(9)), Some(SimTime(9)));
    assert_eq!(closed.arrival(SimTime(9)), None);
}

/// A response time that was misread keeps nothing for ever.
#[test]
fn what_is_remembered_is_bounded() {
    let rows: Vec<_> = (0..OUT_MAX as u64 + 100).map(|i| (i, u64::MAX, 0)).collect();
    let mut times = think();
    arrivals(&mut times, &rows, |_| 1);
    assert!(times.hosts[0].out.len() <= OUT_MAX && times.finished.len() <= OUT_MAX);
}

#[test]
fn times_beyond_292_years_are_refused_in_words() {
    let mut open = Pace::new(Pacing::Open, 2.0);
    let problem = open.arrival(SimTime::ZERO, &record(1 << 62, 0)).unwrap_err();
    assert!(problem.contains("292 years") && problem.contains("time_scale = 2"), "{problem}");
    assert_eq!(scaled(1 << 62, 1.0), Some(SimTime(1 << 62)));
}
