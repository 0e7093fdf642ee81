//! Does a replayed trace arrive when, where and as long as the trace, the time scale and `remap` say?

use std::io::Write;

use harmonia_trace::Place;
use harmonia_trace::{Trace, TraceOptions};
use harmonia_types::{HostRequest, Operation, SimDuration, SimTime};
use harmonia_workload::RemapCounts;
use harmonia_workload::{
    ArrayGeometryForLoad, Limit, Next, Pacing, Remap, Replay, Source, SourceError, TraceConfig, TraceSource,
    Volumes, WorkloadConfig,
};

const MIB: u64 = 1 << 20;
const ARRAY: ArrayGeometryForLoad = ArrayGeometryForLoad {
    logical_bytes: MIB,
    member_bytes: MIB / 4,
    members: 4,
    page_size: 4096,
    scaled_from: None,
};

/// Four rows, 1 us apart; the second crosses the end of 1 MiB, the third lies beyond, the highest address is 4 MiB.
const ROWS: &str = "1000,h,2,Read,32256,8192,5\n\
                    1010,h,0,Write,1048064,1024,5\n\
                    1020,h,7,Write,2097152,4096,5\n\
                    1030,h,0,Read,4190208,4096,5\n";

fn config(remap: Remap) -> TraceConfig {
    TraceConfig {
        options: TraceOptions::of_format("msr"),
        volumes: Volumes::Overlay,
        remap,
        ..TraceConfig::of(vec!["t.csv".into()])
    }
}

fn source(config: &TraceConfig) -> TraceSource {
    let trace = Trace::from_bytes("t.csv", ROWS.as_bytes().to_vec(), &TraceOptions::default()).unwrap();
    TraceSource::new(&trace, config, &ARRAY).unwrap()
}

fn all(source: &mut dyn Source) -> Result<Vec<HostRequest>, SourceError> {
    let mut requests = Vec::new();
    while let Next::At(request) = source.next(SimTime::ZERO, &[])? {
        requests.push(request);
    }
    Ok(requests)
}

fn places(config: &TraceConfig) -> Vec<(u64, u64, u64)> {
    all(&mut source(config)).unwrap().iter().map(|r| (r.arrival.0, r.offset, r.length)).collect()
}

#[test]
fn wrap_keeps_bytes_order_and_volumes_and_counts_what_it_changes() {
    let mut source = source(&config(Remap::Wrap));
    let requests = all(&mut source).unwrap();
    let seen: Vec<_> =
        requests.iter().map(|r| (r.id, r.arrival.0, r.operation, r.offset, r.length, r.volume)).collect();
    let expected = [
        (0, 0, Operation::Read, 32256, 8192, 0),
        (1, 1000, Operation::Write, MIB - 512, 512, 1),
        (2, 2000, Operation::Write, 0, 4096, 2),
        (3, 3000, Operation::Read, MIB - 4096, 4096, 1),
    ];
    assert_eq!(seen, expected);
    assert!(requests.iter().all(|r| r.member.is_none()) && !source.wants_completions());
    assert_eq!(source.remap_counts(), RemapCounts { moved: 2, cut: 1, widened: 0 });
}

#[test]
fn scale_maps_the_trace_s_end_to_the_array_s_end() {
    // A quarter, page by page; 32256 is page 7 + 3584 -> page 1, 1048064 is page 255 + 3584 -> page 63.
    let expected = [
        (0, 4096 + 3584, 8192),
        (1000, 63 * 4096 + 3584, 1024),
        (2000, MIB / 2, 4096),
        (3000, MIB - 4096, 4096),
    ];
    assert_eq!(places(&config(Remap::Scale)), expected);
}

#[test]
fn reject_names_file_line_address_and_array_and_goes_no_further() {
    let mut source = source(&config(Remap::Reject));
    assert!(matches!(source.next(SimTime::ZERO, &[]), Ok(Next::At(_))));
    let error = source.next(SimTime::ZERO, &[]).unwrap_err();
    assert!(error.0.starts_with("t.csv:2: a request of 1024 bytes at address 1048064"), "{error}");
    assert!(error.0.contains("array of 1048576 bytes"), "{error}");
    assert_eq!(source.next(SimTime::ZERO, &[]), Err(error));
}

#[test]
fn time_scale_multiplies_and_one_is_exact() {
    let scaled = |time_scale| -> Vec<u64> {
        places(&TraceConfig { time_scale, ..config(Remap::Wrap) }).iter().map(|place| place.0).collect()
    };
    assert_eq!(scaled(0.1), [0, 100, 200, 300]);
    assert_eq!(scaled(1e6), [0, 1_000_000_000, 2_000_000_000, 3_000_000_000]);
    // 2^53 + 1 and 100 times more ticks: no double holds it.
    let rows = "0,h,0,Read,0,1,1\n90071992547409931,h,0,Read,0,1,1\n";
    let trace = Trace::from_bytes("t", rows.as_bytes().to_vec(), &TraceOptions::of_format("msr")).unwrap();
    let requests = all(&mut TraceSource::new(&trace, &config(Remap::Wrap), &ARRAY).unwrap()).unwrap();
    assert_eq!(requests[1].arrival.0, 9_007_199_254_740_993_100);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = TraceSource::new(&trace, &TraceConfig { time_scale: bad, ..config(Remap::Wrap) }, &ARRAY);
        assert!(error.err().unwrap().to_string().contains("time_scale"), "{bad}");
    }
    let mut late =
        TraceSource::new(&trace, &TraceConfig { time_scale: 2.0, ..config(Remap::Wrap) }, &ARRAY).unwrap();
    assert!(all(&mut late).unwrap_err().0.starts_with("t:2: "));
}

#[test]
fn a_limit_is_of_requests_or_of_scaled_time() {
    let count = |limit, time_scale| {
        places(&TraceConfig { limit: Some(limit), time_scale, ..config(Remap::Wrap) }).len()
    };
    assert_eq!(count(Limit::Requests(0), 1.0), 0);
    assert_eq!(count(Limit::Requests(3), 1.0), 3);
    assert_eq!(count(Limit::Requests(9), 1.0), 4);
    assert_eq!(count(Limit::Duration(SimDuration(2000)), 1.0), 2);
    assert_eq!(count(Limit::Duration(SimDuration(2001)), 1.0), 3);
    assert_eq!(count(Limit::Duration(SimDuration(2000)), 0.5), 4);
}

#[test]
fn a_malformed_line_ends_the_replay_with_its_place() {
    let rows = format!("{ROWS}1040,h,0,Read,0,");
    let trace = Trace::from_bytes("t.csv", rows.into_bytes(), &TraceOptions::default()).unwrap();
    let error = all(&mut TraceSource::new(&trace, &config(Remap::Wrap), &ARRAY).unwrap()).unwrap_err();
    assert!(error.0.starts_with("t.csv:5: ") && error.0.contains("truncated"), "{error}");
    let error = TraceSource::new(&trace, &config(Remap::Scale), &ARRAY).err().unwrap();
    assert_eq!(error.place, Place::Line(5));
}

/// Through the configuration and a real file, larger than the step in which memory is given back.
#[test]
fn a_large_file_is_replayed_whole() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let rows = 400_000u64;
    for row in 0..rows {
        writeln!(file, "{},host,0,Write,{},512,1", 128_166_372_003_061_629 + row, row * 512 % MIB).unwrap();
    }
    assert!(file.as_file().metadata().unwrap().len() > 16 << 20);
    let workload =
        WorkloadConfig::Trace(TraceConfig { paths: vec![file.path().to_owned()], ..config(Remap::Reject) });
    let requests = all(&mut *workload.prepare(&ARRAY).unwrap().source(1).unwrap()).unwrap();
    assert_eq!(requests.len() as u64, rows);
    for (row, request) in (0..).zip(&requests) {
        assert_eq!((request.arrival.0, request.offset), (row * 100, row * 512 % MIB));
    }
}

/// Three ASUs whose addresses overlap: apart they never meet, and each keeps its order and its distances.
#[test]
fn volumes_are_apart_unless_asked_otherwise() {
    let rows = "5,16,512,r,0\n2,0,4096,W,0.5\n5,0,512,w,1\n9,8,0,w,1\n2,9,512,r,1.25\n";
    let trace = Trace::from_bytes("t.spc", rows.as_bytes().to_vec(), &TraceOptions::default()).unwrap();
    let places = |volumes, limit| {
        let config = TraceConfig { volumes, limit, ..config(Remap::Reject) };
        let requests = all(&mut TraceSource::new(&trace, &config, &ARRAY).unwrap()).unwrap();
        requests.iter().map(|r| (r.volume, r.offset, r.length)).collect::<Vec<_>>()
    };
    // Volumes are numbered, and lie, as they appear: 5 is 0, 2 is 1, 9 is 2.
    let second = 12288; // volume 5 ends at 8704: three pages
    let apart = [(0, 8192, 512), (1, second, 4096), (0, 0, 512), (2, 0, 0), (1, second + 4608, 512)];
    assert_eq!(places(Volumes::default(), None), apart);
    // Of the first row volume 5 is as long.
    let limit = Some(Limit::Requests(2));
    assert_eq!(places(Volumes::Apart, limit), [(0, 8192, 512), (1, second, 4096)]);
    let overlay = [(0, 8192, 512), (1, 0, 4096), (0, 0, 512), (2, 0, 0), (1, 4608, 512)];
    assert_eq!(places(Volumes::Overlay, None), overlay);
}

/// What is read is decided before it is placed: one volume, a window of time.
#[test]
fn a_part_of_a_trace_begins_at_0() {
    let rows = "5,16,512,r,1\n2,0,4096,W,1.5\n5,0,512,w,2\n2,9,512,r,2.25\n";
    let places = |options| {
        let trace = Trace::from_bytes("t.spc", rows.as_bytes().to_vec(), &options)?;
        let requests = all(&mut TraceSource::new(&trace, &config(Remap::Reject), &ARRAY)?)?;
        Ok::<_, SourceError>(requests.iter().map(|r| (r.arrival.0, r.offset, r.length)).collect::<Vec<_>>())
    };
    let spc = TraceOptions::of_format("spc");
    let only = |name: &str| TraceOptions { only: Some(name.to_owned()), ..spc.clone() };
    assert_eq!(places(only("5")).unwrap(), [(0, 8192, 512), (1_000_000_000, 0, 512)]);
    let error = places(only("3")).unwrap_err().0;
    assert_eq!(error, "t.spc: has no request of volume `3`, the only one asked for: it has 5, 2");
    let window = |start, end| TraceOptions {
        start: Some(SimDuration(start)),
        end: Some(SimDuration(end)),
        ..spc.clone()
    };
    assert_eq!(places(window(500_000_000, 1_250_000_000)).unwrap(), [(0, 0, 4096), (500_000_000, 0, 512)]);
    let error = places(window(1_000_000_001, 1_250_000_000)).unwrap_err().0;
    assert_eq!(error, "t.spc: has no request in the window between start and end");
}

/// Whole pages are written without a read before; what lies at the end of the array stays inside.
#[test]
fn aligned_requests_are_whole_pages_and_counted() {
    let mut source = source(&TraceConfig { align: true, ..config(Remap::Wrap) });
    let requests = all(&mut source).unwrap();
    let seen: Vec<_> = requests.iter().map(|r| (r.offset, r.length)).collect();
    assert_eq!(seen, [(28672, 12288), (MIB - 4096, 4096), (0, 4096), (MIB - 4096, 4096)]);
    assert_eq!(source.remap_counts(), RemapCounts { moved: 2, cut: 1, widened: 2 });
}

/// What was read beforehand is read once: the second replay begins at the start, with counts of its own.
#[test]
fn a_trace_made_ready_gives_any_number_of_replays() {
    let rows = "1000,h,2,Read,0,512,5\nnonsense\n1010,h,0,Write,512,512,5\n";
    let options = TraceOptions { skip_bad: 1, ..TraceOptions::of_format("msr") };
    let trace = Trace::from_bytes("t.csv", rows.as_bytes().to_vec(), &options).unwrap();
    let config = TraceConfig { volumes: Volumes::Apart, ..config(Remap::Reject) };
    let replay = Replay::new(trace, &config, &ARRAY).unwrap();
    let mut accounts = Vec::new();
    for _ in 0..2 {
        let mut source = replay.source().unwrap();
        assert_eq!(source.trace().map(|account| account.rows), Some(0));
        let requests = all(&mut source).unwrap();
        assert_eq!(requests.iter().map(|r| r.offset).collect::<Vec<_>>(), [0, 4096 + 512]);
        accounts.push(source.trace().unwrap());
    }
    assert_eq!(accounts[0], accounts[1]);
    let account = &accounts[0];
    assert_eq!((account.rows, account.log.bad, account.format), (2, 1, "msr"));
    assert_eq!((account.files.as_slice(), &account.reason), (&["t.csv".to_owned()][..], &None));
    assert!(account.log.bad_examples[0].starts_with("t.csv:2: "), "{account:?}");
}

/// The hash is of what the trace says: not of how it is replayed, but of how much.
#[test]
fn the_hash_covers_what_was_replayed_as_the_trace_has_it() {
    let hash = |config: &TraceConfig| {
        let mut source = source(config);
        all(&mut source).unwrap();
        source.trace().unwrap().hash
    };
    let whole = hash(&config(Remap::Wrap));
    let other = TraceConfig {
        time_scale: 3.0,
        align: true,
        volumes: Volumes::Apart,
        limit: Some(Limit::Requests(4)),
        ..config(Remap::Scale)
    };
    assert_eq!(hash(&other), whole);
    assert_ne!(hash(&TraceConfig { limit: Some(Limit::Requests(3)), ..config(Remap::Wrap) }), whole);
}

/// Where the trace is read beforehand, the request that does not fit is named before the first one is given.
#[test]
fn what_does_not_fit_is_refused_beforehand_where_the_trace_is_read_beforehand() {
    let trace = Trace::from_bytes("t.csv", ROWS.as_bytes().to_vec(), &TraceOptions::default()).unwrap();
    let apart = TraceConfig { volumes: Volumes::Apart, ..config(Remap::Reject) };
    let error = Replay::new(trace.clone(), &apart, &ARRAY).err().unwrap();
    assert!(error.to_string().starts_with("t.csv:2: a request of 1024 bytes at address 1089024"), "{error}");
    assert!(error.problem.ends_with("(volume h_0 begins at 40960)"), "{error}");
    // Only what is replayed has to fit; the last page may be used in part.
    let first = TraceConfig { limit: Some(Limit::Requests(1)), ..apart };
    assert!(Replay::new(trace, &first, &ARRAY).is_ok());
    let full = Trace::from_bytes("t", b"0,h,0,Read,1044481,4095,5\n".to_vec(), &TraceOptions::default());
    assert!(Replay::new(full.unwrap(), &first, &ARRAY).is_ok());
}

/// An array takes fewer than 2^23 pages at once. Only a trim can have more.
#[test]
fn a_trim_of_too_many_pages_is_refused_before_the_first_request() {
    const PAGES: u64 = 1 << 23;
    let large = |pages: u64| ArrayGeometryForLoad {
        logical_bytes: pages * 4096,
        member_bytes: pages * 1024,
        members: 4,
        page_size: 4096,
        scaled_from: None,
    };
    let replay = |length: u64, array: &ArrayGeometryForLoad, change: &dyn Fn(&mut TraceConfig)| {
        let text = format!("fio version 3 iolog\n5 /dev/x write 0 4096\n9 /dev/x trim 512 {length}\n");
        let options = TraceOptions::of_format("fio");
        let trace = Trace::from_bytes("t.log", text.into_bytes(), &options).unwrap();
        let mut config = TraceConfig { volumes: Volumes::Apart, options, ..config(Remap::Reject) };
        change(&mut config);
        Replay::new(trace, &config, array)
            .map(|replay| all(&mut replay.source().unwrap()))
            .map_err(|e| e.to_string())
    };
    let as_it_is = |_: &mut TraceConfig| {};
    let refused = "t.log:3: a request of 34359738368 bytes touches 8388608 pages of 4096 bytes, and a simulated array takes \
                   fewer than 8388608 at once: divide it into requests of less than 34359738368 bytes";
    let array = large(2 * PAGES);
    assert_eq!(replay(PAGES * 4096 - 1, &array, &as_it_is).unwrap().unwrap().len(), 2);
    assert_eq!(replay(PAGES * 4096, &array, &as_it_is).unwrap_err(), refused);
    // Widened to whole pages it would be too long, cut to a smaller array it is not.
    let widened = replay(PAGES * 4096 - 1, &array, &|config| config.align = true).unwrap_err();
    assert!(
        widened.starts_with("t.log:3: a request of 34359742464 bytes touches 8388609 pages"),
        "{widened}"
    );
    let cut = replay(PAGES * 8192, &large(PAGES - 1), &|config| config.remap = Remap::Wrap).unwrap().unwrap();
    assert_eq!(cut[1].length, (PAGES - 1) * 4096);
    // Behind the limit it is not replayed; where nothing is read beforehand it is refused when it comes.
    let limit = |config: &mut TraceConfig| config.limit = Some(Limit::Requests(1));
    assert_eq!(replay(PAGES * 4096, &array, &limit).unwrap().unwrap().len(), 1);
    let late = replay(PAGES * 4096, &array, &|config| config.volumes = Volumes::Overlay).unwrap();
    assert_eq!(late.unwrap_err().0, refused);
}

/// Simulated time 0 is the clock time of the trace's first request, or of its window; an hour takes as long as is asked for.
#[test]
fn a_replay_has_the_clock_of_its_trace() {
    let text = "128166372030616290,h,0,Write,0,4096,1\n128166372040616290,h,1,Read,0,4096,1\n\
                128166372050616290,h,0,Read,0,4096,1\n";
    let begins_ns = 1_172_163_603_061_629_000;
    let second = 1_000_000_000;
    let replayed = |change: &dyn Fn(&mut TraceConfig)| {
        let mut config = config(Remap::Wrap);
        change(&mut config);
        let trace = Trace::from_bytes("t.csv", text.into(), &config.options).unwrap();
        let mut source = TraceSource::new(&trace, &config, &ARRAY).unwrap();
        let clock = source.wall_clock().map(|clock| [0, 6 * second].map(|now| clock.utc_ns(SimTime(now))));
        assert_eq!(source.trace().unwrap().begins_utc_ns, None, "nothing has been replayed");
        let Ok(Next::At(_)) = source.next(SimTime::ZERO, &[]) else { panic!("it has a request") };
        let fork = source.fork().unwrap();
        assert_eq!(fork.wall_clock(), source.wall_clock());
        (clock, source.trace().unwrap().begins_utc_ns)
    };
    let at = |first: u64, later: u64| Some([begins_ns + first * second, begins_ns + later * second]);
    assert_eq!(replayed(&|_| {}), (at(0, 6), Some(begins_ns)));
    assert_eq!(replayed(&|config| config.time_scale = 2.0), (at(0, 3), Some(begins_ns)));
    assert_eq!(replayed(&|config| config.pacing = Pacing::ThinkTimes), (at(0, 6), Some(begins_ns)));
    assert_eq!(replayed(&|config| config.repeat = 3), (at(0, 6), Some(begins_ns)));
    let start = |config: &mut TraceConfig| config.options.start = Some(SimDuration(second / 2));
    let clock = [begins_ns + second / 2, begins_ns + second / 2 + 6 * second];
    assert_eq!(replayed(&start), (Some(clock), Some(begins_ns + second)));
    let only = |config: &mut TraceConfig| config.options.only = Some("h_1".to_owned());
    assert_eq!(replayed(&only), (at(0, 6), Some(begins_ns + second)));
    let closed = |config: &mut TraceConfig| config.pacing = Pacing::Closed { queue_depth: 2 };
    assert_eq!(replayed(&closed), (None, Some(begins_ns)));
}
