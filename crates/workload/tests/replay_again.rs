//! Is a trace that is repeated the trace written out so many times, and does a replay that waits wait for the right
//! completions?

use std::io::Write;

use harmonia_trace::{Trace, TraceOptions};
use harmonia_types::{Completion, HostRequest, Operation, RequestBlame, SimDuration, SimTime};
use harmonia_workload::{
    ArrayGeometryForLoad, Limit, Next, Pacing, Remap, Source, TraceAccount, TraceConfig, TraceSource, Volumes,
};

const MIB: u64 = 1 << 20;
const ARRAY: ArrayGeometryForLoad = ArrayGeometryForLoad {
    logical_bytes: MIB,
    member_bytes: MIB / 4,
    members: 4,
    page_size: 4096,
    scaled_from: None,
};

fn config() -> TraceConfig {
    TraceConfig { remap: Remap::Wrap, ..TraceConfig::of(vec!["t".into()]) }
}

fn msr(text: &str) -> Trace {
    Trace::from_bytes("t.csv", text.as_bytes().to_vec(), &TraceOptions::of_format("msr")).unwrap()
}

/// Replays on devices that answer each request after so long, and gives what completed in the order of arrival.
fn replay(source: &mut dyn Source, response_ns: impl Fn(&HostRequest) -> u64) -> Vec<(HostRequest, SimTime)> {
    let mut out: Vec<(SimTime, u64)> = Vec::new();
    let mut done: Vec<(HostRequest, SimTime)> = Vec::new();
    let (mut now, mut seen) = (SimTime::ZERO, Vec::new());
    loop {
        match source.next(now, &seen).unwrap() {
            Next::At(request) => {
                assert!(request.arrival >= now, "it arrives before it is asked for");
                now = request.arrival;
                seen = take_until(&mut out, now);
                let finish = SimTime(request.arrival.0 + response_ns(&request));
                out.push((finish, request.id));
                done.push((request, finish));
            }
            Next::AfterCompletion => {
                now = out.iter().min().expect("it waits for what is out").0;
                seen = take_until(&mut out, now);
            }
            Next::Until(_) => panic!("a trace does not poll"),
            Next::End => return done,
        }
    }
}

fn take_until(out: &mut Vec<(SimTime, u64)>, now: SimTime) -> Vec<Completion> {
    out.sort();
    let due = out.iter().take_while(|(finish, _)| *finish <= now).count();
    let completion = |(finish, id): (SimTime, u64)| Completion {
        id,
        operation: Operation::Read,
        offset: 0,
        length: 0,
        arrival: SimTime::ZERO,
        finish,
        blame: RequestBlame::default(),
        met_gc: false,
        gc_wait: None,
    };
    out.drain(..due).map(completion).collect()
}

fn open(trace: &Trace, config: &TraceConfig) -> (Vec<HostRequest>, TraceAccount) {
    let mut source = TraceSource::new(trace, config, &ARRAY).unwrap();
    let requests = replay(&mut source, |_| 0).into_iter().map(|(request, _)| request).collect();
    (requests, source.trace().unwrap())
}

/// Ticks of 100 ns; two volumes; the third row crosses the end of the array. The mean gap is 1 us.
const ROWS: [(u64, &str); 4] = [
    (0, "h,2,Read,32256,8192,5"),
    (7, "h,0,Write,0,1024,5"),
    (10, "h,2,Write,1047552,4096,5"),
    (30, "h,0,Read,4096,4096,5"),
];

fn rows(copies: u64) -> String {
    let copy = |copy: u64| ROWS.map(move |(tick, rest)| format!("{},{rest}\n", 1000 + tick + copy * 40));
    (0..copies).flat_map(copy).collect()
}

#[test]
fn repeats_are_the_trace_written_out() {
    let (once, thrice) = (msr(&rows(1)), msr(&rows(3)));
    for (volumes, remap) in
        [(Volumes::Apart, Remap::Wrap), (Volumes::Overlay, Remap::Scale), (Volumes::Apart, Remap::Scale)]
    {
        for limit in [None, Some(Limit::Requests(7)), Some(Limit::Duration(SimDuration(5001)))] {
            for time_scale in [1.0, 0.3] {
                let config = TraceConfig { volumes, remap, limit, time_scale, ..config() };
                let (written, written_account) = open(&thrice, &config);
                let (repeated, account) = open(&once, &TraceConfig { repeat: 3, ..config });
                assert_eq!(repeated, written);
                assert_eq!(
                    (account.rows, account.hash, account.remapped),
                    (written_account.rows, written_account.hash, written_account.remapped)
                );
                assert!(written.len() > 5, "the limit leaves a second copy");
            }
        }
    }
    assert_eq!(open(&once, &TraceConfig { repeat: 3, ..config() }).0.len(), 12);
}

/// Merged by time, packed, and a part of it only; what was passed over is counted in every copy.
#[test]
fn several_files_packed_ones_and_parts_of_a_trace_repeat() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.csv.gz", "b.csv.gz"].map(|name| folder.path().join(name));
    for (path, kept) in paths.iter().zip([0, 1]) {
        let file = std::fs::File::create(path).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        for line in rows(1).lines().skip(kept).step_by(2) {
            writeln!(packed, "{line}").unwrap();
        }
        packed.finish().unwrap();
    }
    let options = TraceOptions { only: Some("h_2".into()), ..TraceOptions::of_format("msr") };
    for (options, expected, skipped) in [
        (TraceOptions::of_format("msr"), vec![0, 700, 1000, 3000, 4000, 4700, 5000, 7000], 0),
        // Two of four are left, 1 us apart: the copies follow 2 us apart.
        (options, vec![0, 1000, 2000, 3000], 4),
    ] {
        let trace = Trace::open(&paths, &options).unwrap();
        let (requests, account) = open(&trace, &TraceConfig { repeat: 2, ..config() });
        assert_eq!(requests.iter().map(|request| request.arrival.0).collect::<Vec<_>>(), expected);
        assert_eq!(account.log.skipped.iter().map(|noted| noted.rows).sum::<u64>(), skipped);
    }
}

#[test]
fn malformed_rows_are_tolerated_and_counted_in_every_copy() {
    let text = format!("{}nonsense\n", rows(1));
    let options = TraceOptions { skip_bad: 1, ..TraceOptions::of_format("msr") };
    let trace = Trace::from_bytes("t.csv", text.into_bytes(), &options).unwrap();
    let (requests, account) = open(&trace, &TraceConfig { repeat: 3, ..config() });
    assert_eq!((requests.len(), account.log.bad, account.log.bad_examples.len()), (12, 3, 1));
}

#[test]
fn a_time_beyond_the_clock_is_refused_in_words() {
    let long = msr("0,h,0,Read,0,1,1\n90071992547409931,h,0,Read,0,1,1\n");
    let config = TraceConfig { repeat: 5000, time_scale: 1e-9, ..config() };
    let mut source = TraceSource::new(&long, &config, &ARRAY).unwrap();
    let error = loop {
        match source.next(SimTime::ZERO, &[]) {
            Ok(Next::At(_)) => {}
            other => break other.unwrap_err(),
        }
    };
    assert!(error.0.contains("repeated so often") && error.0.contains("584 years"), "{error}");
}

/// Rows of (time, volume, recorded response) in ticks of 100 ns, drawn from a small generator.
fn drawn(seed: u64, has_responses: bool) -> (Trace, Vec<(u64, u64, u64)>) {
    let mut state = seed;
    let mut below = |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let mut time = 0;
    let rows: Vec<_> = (0..200)
        .map(|_| {
            time += below(20);
            (time, below(3), if has_responses { 1 + below(60) } else { 0 })
        })
        .collect();
    let line =
        |&(time, volume, response): &(u64, u64, u64)| format!("{time},h,{volume},Read,0,512,{response}\n");
    (msr(&rows.iter().map(line).collect::<String>()), rows)
}

fn source(trace: &Trace, pacing: Pacing) -> TraceSource {
    TraceSource::new(trace, &TraceConfig { pacing, ..config() }, &ARRAY).unwrap()
}

#[test]
fn on_a_device_as_recorded_requests_arrive_when_they_did() {
    for seed in 0..20 {
        for has_responses in [true, false] {
            let (trace, rows) = drawn(seed, has_responses);
            let done =
                replay(&mut source(&trace, Pacing::ThinkTimes), |request| rows[request.id as usize].2 * 100);
            let first = rows[0].0;
            for ((request, _), (time, ..)) in done.iter().zip(&rows) {
                assert_eq!(request.arrival.0, (time - first) * 100, "seed {seed}, request {}", request.id);
            }
        }
    }
}

/// Whatever the device does, a request comes after all that had completed before it, and never sooner behind the last
/// of them than the host thought.
#[test]
fn nothing_comes_before_what_it_waited_for_and_the_time_to_think() {
    for seed in 0..20 {
        for has_responses in [true, false] {
            let (trace, rows) = drawn(seed, has_responses);
            let done = replay(&mut source(&trace, Pacing::ThinkTimes), |request| request.id * 7919 % 9000);
            assert_eq!(done.len(), rows.len());
            for (index, &(time, volume, _)) in rows.iter().enumerate() {
                let before = || (0..index).filter(|&earlier| rows[earlier].1 == volume);
                let had_completed = || before().filter(|&earlier| rows[earlier].0 + rows[earlier].2 <= time);
                let recorded = had_completed().map(|earlier| rows[earlier].0 + rows[earlier].2).max();
                let last_event = before().map(|earlier| rows[earlier].0).max().max(recorded);
                let think = (time - last_event.unwrap_or(rows[0].0)) * 100;
                for earlier in had_completed() {
                    assert!(done[index].0.arrival.0 >= done[earlier].1.0 + think, "seed {seed}, {index}");
                }
            }
            assert!(done.is_sorted_by_key(|(request, _)| request.arrival));
        }
    }
}

/// Response times of all records of these files together, in ns.
fn responses(format: &str, files: &[&str]) -> Vec<u64> {
    let folder = tempfile::tempdir().unwrap();
    let path = |(index, text): (usize, &&str)| {
        let path = folder.path().join(format!("{index}.csv"));
        std::fs::write(&path, text).unwrap();
        path
    };
    let paths: Vec<_> = files.iter().enumerate().map(path).collect();
    let mut reader = Trace::open(&paths, &TraceOptions::of_format(format)).unwrap().records().unwrap();
    std::iter::from_fn(|| reader.next_record().unwrap().map(|_| reader.response_ns())).collect()
}

/// Also where rows wait for others: sorted in, or merged with those of another file.
#[test]
fn response_times_are_those_of_their_rows() {
    assert_eq!(responses("msr", &["0,h,0,Read,0,512,41286\n5,h,0,Write,0,512,0\n"]), [4_128_600, 0]);
    let merged = ["0,h,0,Read,0,512,1\n20,h,0,Read,0,512,3\n", "10,h,1,Read,0,512,2\n"];
    assert_eq!(responses("msr", &merged), [100, 200, 300]);
    let systor = "5.000000000,0.000806000,R,4,0,512\n\
                  4.500000000,0.5,W,4,0,512\n\
                  6.000000000,,R,4,0,512\n\
                  7.000000000,-0.25,R,4,0,512\n";
    assert_eq!(responses("systor", &[systor]), [500_000_000, 806_000, 0, 0]);
    assert_eq!(responses("spc", &["0,0,512,R,0.5\n"]), [0], "it has none");
}

#[test]
fn a_closed_replay_keeps_so_many_out_in_the_trace_s_order() {
    let (trace, rows) = drawn(1, true);
    for queue_depth in [1, 3, 64, 1000] {
        let done = replay(&mut source(&trace, Pacing::Closed { queue_depth }), |request| {
            1000 + request.id * 7919 % 9000
        });
        assert!((0..).zip(&done).all(|(id, (request, _))| request.id == id));
        assert_eq!(done.len(), rows.len());
        for (index, (request, _)) in done.iter().enumerate() {
            let out = done[..index].iter().filter(|(_, finish)| *finish > request.arrival).count();
            assert!(out < queue_depth as usize);
            // Nobody waits while there is room.
            let room_since = done[..index].iter().map(|(_, finish)| finish.0);
            let mut room_since: Vec<u64> = room_since.collect();
            room_since.sort();
            let expected = index.checked_sub(queue_depth as usize).map_or(0, |last| room_since[last]);
            assert_eq!(request.arrival.0, expected, "depth {queue_depth}, request {index}");
        }
    }
}

/// Completions set the pace, so that a limit of time counts time as it passes, over all copies.
#[test]
fn limits_of_a_closed_replay_are_of_requests_and_of_time_as_it_passes() {
    let trace = msr(&rows(1));
    let count = |limit| {
        let config = TraceConfig { repeat: 5, pacing: Pacing::Closed { queue_depth: 1 }, limit, ..config() };
        replay(&mut TraceSource::new(&trace, &config, &ARRAY).unwrap(), |_| 1000).len()
    };
    assert_eq!(count(None), 20);
    assert_eq!(count(Some(Limit::Requests(11))), 11);
    assert_eq!(count(Some(Limit::Duration(SimDuration(6000)))), 6);
    assert_eq!(count(Some(Limit::Duration(SimDuration(1_000_000)))), 20);
}
