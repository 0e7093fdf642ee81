//! Do streams and files keep their promises, request by request against a plain model of what is live, and have the
//! statistics they were asked for?
//!
//! Statistical assertions allow five standard errors, as in `synthetic`.

use std::collections::BTreeMap;

use harmonia_types::{Completion, HostRequest, Operation, RequestBlame, SimDuration, SimTime};
use harmonia_workload::{
    AddressPattern, ArrayGeometryForLoad, Arrival, Extent, FileDeletes, FilePattern, FileReads, Limit, Next,
    Phase, SizeDistribution, Source, StreamArrival, StreamConfig, Streams, StreamsConfig,
};
use proptest::prelude::*;

const PAGE: u64 = 4096;
const PAGES: u64 = 10_000;
const DEVICE: ArrayGeometryForLoad = ArrayGeometryForLoad {
    logical_bytes: PAGES * PAGE,
    member_bytes: PAGES * PAGE,
    members: 1,
    page_size: PAGE,
    scaled_from: None,
};

/// Files of 16 pages.
const FILES: FilePattern = FilePattern {
    smallest: 16 * PAGE,
    largest: 16 * PAGE,
    reads: FileReads::Sequential,
    deletes: FileDeletes::Oldest,
    delete_batch: 1,
};

fn stream(address: AddressPattern, footprint: f64) -> StreamConfig {
    StreamConfig {
        read_fraction: 0.25,
        address,
        footprint: Extent::Share(footprint),
        ..StreamConfig::writes(1000.0, 2 * PAGE)
    }
}

fn load<'a>(streams: impl IntoIterator<Item = (&'a str, StreamConfig)>, requests: u64) -> StreamsConfig {
    let streams = streams.into_iter().map(|(name, stream)| (name.to_owned(), stream)).collect();
    StreamsConfig::of(requests, streams)
}

fn all(config: &StreamsConfig, seed: u64) -> Vec<HostRequest> {
    let mut source = Streams::new(config, DEVICE, seed).unwrap();
    let mut requests = Vec::new();
    while let Next::At(request) = source.next(SimTime::ZERO, &[]).unwrap() {
        requests.push(request);
    }
    requests
}

fn share(requests: &[HostRequest], operation: Operation) -> f64 {
    requests.iter().filter(|request| request.operation == operation).count() as f64 / requests.len() as f64
}

fn assert_near(what: &str, measured: f64, expected: f64, standard_error: f64) {
    let errors = (measured - expected).abs() / standard_error;
    assert!(errors < 5.0, "{what}: {measured}, expected {expected}: {errors:.1} standard errors away");
}

/// The standard error of a share `p` among `n`.
fn error_of_share(p: f64, n: usize) -> f64 {
    (p * (1.0 - p) / n as f64).sqrt()
}

/// What is live: the oracle. It knows how far apart files may start and learns all else from their accesses.
struct Live {
    base: u64,
    /// From one start to the next.
    place: u64,
    /// Where live files start, and how far they are written.
    files: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Live {
    fn new(base: u64, files: FilePattern) -> Live {
        Live { base, place: files.largest.next_multiple_of(PAGE), files: BTreeMap::new(), bytes: 0 }
    }

    fn take(&mut self, request: &HostRequest) {
        let (offset, end) = (request.offset, request.offset + request.length);
        let start = offset - (offset - self.base) % self.place;
        let live = self.files.get(&start).copied();
        match request.operation {
            Operation::Read => assert!(live.is_some_and(|live| end <= live), "read, not live: {request:?}"),
            Operation::Trim => {
                let live = self.files.remove(&start).expect("a trim of what was not written");
                assert_eq!(
                    (start, live.next_multiple_of(PAGE)),
                    (offset, end),
                    "a part of a file: {request:?}"
                );
                self.bytes -= live - start;
            }
            Operation::Write => {
                assert_eq!(live.unwrap_or(start), offset, "neither appended nor created: {request:?}");
                assert!(end <= start + self.place, "{request:?} leaves its place");
                self.files.insert(start, end);
                self.bytes += request.length;
            }
            Operation::Flush => unreachable!("nothing flushes"),
        }
    }
}

fn any_files() -> impl Strategy<Value = FilePattern> {
    let reads = prop_oneof![Just(FileReads::Sequential), Just(FileReads::Random)];
    let deletes = prop_oneof![Just(FileDeletes::Oldest), Just(FileDeletes::Random)];
    (1..=40 * PAGE, 0..=40 * PAGE, reads, deletes, 1..6_u32).prop_map(
        |(smallest, more, reads, deletes, delete_batch)| FilePattern {
            smallest,
            largest: smallest + more,
            reads,
            deletes,
            delete_batch,
        },
    )
}

fn any_stream() -> impl Strategy<Value = StreamConfig> {
    let arrival = prop_oneof![
        Just(Arrival::Poisson { rate: 1000.0 }),
        Just(Arrival::Fixed { rate: 500.0 }),
        Just(Arrival::OnOff { rate: 500.0, burst_rate: 9000.0, burst_length: 30 }),
        Just(Arrival::WriteBursts { rate: 500.0, burst_rate: 9000.0, burst_length: 30 }),
    ];
    let mean = 1..=6 * PAGE;
    (arrival, mean, 0.0..0.9, 0.0..1.0, any_files(), 0.02..0.33).prop_map(
        |(arrival, mean, read_fraction, trims, files, footprint)| StreamConfig {
            arrival: StreamArrival::Own(arrival),
            size: SizeDistribution::Exponential { mean: mean.min(files.largest) },
            read_fraction,
            trim_fraction: (1.0 - read_fraction) * trims * 0.9,
            fua_fraction: trims,
            address: AddressPattern::Files(files),
            footprint: Extent::Share(footprint),
            ..StreamConfig::writes(0.0, 0)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Of any streams of files: nothing is read, trimmed or appended to that is not live, a stream stays in its part and
    /// what is live there never exceeds it, times never go back, ids count up.
    #[test]
    fn files_are_what_a_model_of_what_is_live_says(
        streams in proptest::collection::vec(any_stream(), 1..4),
        seed: u64,
        align: bool,
    ) {
        let names = ["a", "b", "c"];
        let mut config = load(names.into_iter().zip(streams.iter().cloned()), 4000);
        config.align = align;
                let mut begins = vec![0];
        for stream in &streams {
            begins.push(begins.last().unwrap() + stream.footprint.of(PAGES) * PAGE);
        }
        let files = |stream: &StreamConfig| match stream.address {
            AddressPattern::Files(files) => files,
            _ => unreachable!("streams of files"),
        };
        let mut live: Vec<Live> =
            begins.iter().zip(&streams).map(|(&base, stream)| Live::new(base, files(stream))).collect();
        let mut before = SimTime::ZERO;
        for (id, request) in (0..).zip(all(&config, seed)) {
            let index = usize::from(request.volume);
            prop_assert_eq!(request.id, id);
            prop_assert!(request.arrival >= before && request.length > 0);
            prop_assert!(request.offset >= begins[index]);
            prop_assert!(request.offset + request.length <= begins[index + 1]);
            if align {
                prop_assert!(request.offset % PAGE == 0 && request.length % PAGE == 0);
            }
            live[index].take(&request);
            prop_assert!(live[index].bytes <= begins[index + 1] - begins[index]);
            before = request.arrival;
        }
    }
}

/// Half of the time-ordered load is b's; what each does and where, seen from its own part, it does as well alone.
#[test]
fn a_stream_that_is_added_changes_no_decision_of_another() {
    let (files, zipf) = (AddressPattern::Files(FILES), AddressPattern::Zipf { theta: 0.9 });
    let both = all(&load([("b", stream(files, 0.5)), ("a", stream(zipf, 0.25))], 4000), 5);
    let alone = all(&load([("b", stream(files, 0.5))], 4000), 5);
    let strip = |request: &HostRequest, begin| {
        (request.arrival, request.operation, request.offset - begin, request.length)
    };
    let of_b: Vec<_> =
        both.iter().filter(|request| request.volume == 1).map(|b| strip(b, PAGES / 4 * PAGE)).collect();
    let expected: Vec<_> = alone.iter().take(of_b.len()).map(|request| strip(request, 0)).collect();
    assert!((1800..2200).contains(&of_b.len()));
    assert_eq!(of_b, expected);
    assert_ne!(alone, all(&load([("c", stream(files, 0.5))], 4000), 5), "names tell random numbers apart");
}

/// Three streams of 1000, 1000 and 2000 a second, the last in bursts. Shares: binomial. The whole rate: as bursts of 20
/// come, its variance is that of 20 times fewer events. Five standard errors are 0.7% for the shares and 5% for the rate.
#[test]
fn streams_have_their_rates() {
    let uniform = stream(AddressPattern::Uniform, 0.25);
    let bursts = Arrival::OnOff { rate: 2000.0, burst_rate: 20_000.0, burst_length: 20 };
    let fixed =
        StreamConfig { arrival: StreamArrival::Own(Arrival::Fixed { rate: 1000.0 }), ..uniform.clone() };
    let burst = StreamConfig { arrival: StreamArrival::Own(bursts), ..uniform.clone() };
    let config = load([("fixed", fixed), ("poisson", uniform), ("burst", burst)], 200_000);
    for (time_scale, rate) in [(1.0, 4000.0), (0.5, 8000.0)] {
        let requests = all(&StreamsConfig { time_scale, ..config.clone() }, 3);
        let n = requests.len();
        let last = requests[n - 1].arrival.0 as f64 / 1e9;
        assert_near("rate", n as f64 / last, rate, rate * (20.0 / n as f64).sqrt());
        for (index, share) in [(0, 0.5), (1, 0.25), (2, 0.25)] {
            let found = requests.iter().filter(|request| request.volume == index).count() as f64 / n as f64;
            assert_near("share of a stream", found, share, (20.0_f64).sqrt() * error_of_share(share, n));
        }
    }
}

/// The shares of what is read, written and trimmed where nothing stands in the way, and the mean size. 100,000 draws:
/// five standard errors are at most 0.8%.
#[test]
fn plain_patterns_trim_the_share_they_are_told_to() {
    let uniform = StreamConfig {
        trim_fraction: 0.15,
        size: SizeDistribution::Exponential { mean: 100_000 },
        ..stream(AddressPattern::Uniform, 1.0)
    };
    let mut config = load([("only", uniform)], 100_000);
    config.align = false;
    let requests = all(&config, 3);
    for (operation, expected) in [(Operation::Read, 0.25), (Operation::Write, 0.6), (Operation::Trim, 0.15)] {
        let found = share(&requests, operation);
        assert_near("share", found, expected, error_of_share(expected, requests.len()));
        let of_it = requests.iter().filter(|request| request.operation == operation);
        let (sum, n) = of_it.fold((0.0, 0.0), |(sum, n), request| (sum + request.length as f64, n + 1.0));
        assert_near("mean size", sum / n, 1e5, 1e5 / f64::sqrt(n));
    }
}

/// Files of 16 pages written two at a time: eight writes and a deletion that makes room, of 3/4 of the requests. And what
/// is live fills the part but for the places of one or two files.
#[test]
fn files_fill_their_part_and_make_room_once_a_file() {
    let requests = all(&load([("f", stream(AddressPattern::Files(FILES), 0.75))], 100_000), 3);
    let mut live = Live::new(0, FILES);
    let full = 75 * PAGES * PAGE / 100;
    let mut steady = Vec::new();
    for request in &requests {
        live.take(request);
        if live.bytes > full - 32 * PAGE || !steady.is_empty() {
            assert!(live.bytes >= full - 48 * PAGE, "{} of {full} bytes are live", live.bytes);
            steady.push(*request);
        }
    }
    assert!(steady.len() > 90_000);
    let (reads, rest) = (0.25, 0.75);
    assert_near("reads", share(&steady, Operation::Read), reads, error_of_share(reads, steady.len()));
    // The ninth of every nine: all of its variance is that of the reads.
    let trims = rest / 9.0;
    assert_near(
        "trims",
        share(&steady, Operation::Trim),
        trims,
        error_of_share(reads, steady.len()) / 9.0 + 1e-5,
    );
}

/// Sizes uniform from 8 to 24 pages: a mean of 16, a deviation of sqrt((17^2 - 1) / 12) = 4.9 pages.
#[test]
fn drawn_file_sizes_have_their_mean_and_both_ends() {
    let pattern = FilePattern { smallest: 8 * PAGE, largest: 24 * PAGE, ..FILES };
    let requests = all(&load([("f", stream(AddressPattern::Files(pattern), 0.2))], 200_000), 3);
    let trims: Vec<u64> = requests
        .iter()
        .filter(|request| request.operation == Operation::Trim)
        .map(|trim| trim.length / PAGE)
        .collect();
    let mean = trims.iter().sum::<u64>() as f64 / trims.len() as f64;
    assert_near("mean file", mean, 16.0, 4.9 / (trims.len() as f64).sqrt());
    assert_eq!((trims.iter().min(), trims.iter().max()), (Some(&8), Some(&24)));
}

/// A share of requests that delete, where files enough are there: that share, and none to make room.
#[test]
fn files_are_deleted_at_the_share_asked_for() {
    let often = StreamConfig { trim_fraction: 0.08, ..stream(AddressPattern::Files(FILES), 1.0) };
    // 20,000 requests write 0.67 * 2 / 16 files each and delete 0.08: at the end 75 of 625 live, give or take the noise.
    let requests = all(&load([("f", often)], 20_000), 3);
    let mut live = Live::new(0, FILES);
    requests.iter().for_each(|request| live.take(request));
    assert!(live.bytes < PAGES * PAGE - 32 * PAGE, "no write was in want of room");
    let expected = 0.08;
    assert_near(
        "trims",
        share(&requests, Operation::Trim),
        expected,
        error_of_share(expected, requests.len()),
    );
}

#[test]
fn a_duration_ends_every_stream() {
    let mut config = load(
        [("a", stream(AddressPattern::Uniform, 0.5)), ("b", stream(AddressPattern::Sequential, 0.5))],
        1,
    );
    config.limit = Limit::Duration(SimDuration(1_000_000_000));
    let requests = all(&config, 3);
    assert!(requests.iter().all(|request| request.arrival.0 < 1_000_000_000));
    assert_near("requests of a second", requests.len() as f64, 2000.0, 2000.0_f64.sqrt());
}

#[test]
fn what_no_streams_can_be_is_refused_with_the_stream() {
    let uniform = || stream(AddressPattern::Uniform, 0.5);
    let closed =
        StreamConfig { arrival: StreamArrival::Own(Arrival::Closed { queue_depth: 1 }), ..uniform() };
    let tiny = StreamConfig { footprint: Extent::Share(1e-9), ..uniform() };
    let many_trims = StreamConfig { trim_fraction: 0.9, ..uniform() };
    let large = StreamConfig { footprint: Extent::Share(0.75), ..uniform() };
    let table = [
        (load([("a", closed)], 1), "stream \"a\": arrival.process = \"closed\""),
        (load([("a", tiny)], 1), "less than one page"),
        (
            load([("a", uniform()), ("b", large)], 1),
            "stream \"b\": footprint = 0.75: the streams before it leave less",
        ),
        (load([("a", many_trims)], 1), "trim_fraction = 0.9: with read_fraction = 0.25 it is at most 0.75"),
        (load([], 1), "at least one"),
        (load([("a", common(5, 0.5, 0.0))], 1), "[workload.arrival] is missing"),
        (
            StreamsConfig { arrival: Some(Arrival::Fixed { rate: 1.0 }), ..load([("a", uniform())], 1) },
            "nobody takes part",
        ),
        (dealt([("a", common(5, 0.5, 0.6))], 0.0), "its start, 0.6, leaves less"),
        (dealt([("a", common(0, 0.5, 0.0))], 0.0), "no stream has a request in phase 0"),
        (StreamsConfig { time_scale: 0.0, ..load([("a", uniform())], 1) }, "time_scale = 0"),
    ];
    for (config, expected) in table {
        let refusal = Streams::new(&config, DEVICE, 1).map(|_| ()).unwrap_err();
        assert!(refusal.contains(expected), "{refusal}");
    }
}

/// A stream that takes part in common arrivals, on a part that begins at `start`.
fn common(count: u64, footprint: f64, start: f64) -> StreamConfig {
    StreamConfig {
        arrival: StreamArrival::Common(vec![count]),
        start: Some(Extent::Share(start)),
        ..stream(AddressPattern::Uniform, footprint)
    }
}

fn dealt<'a>(streams: impl IntoIterator<Item = (&'a str, StreamConfig)>, persistence: f64) -> StreamsConfig {
    let arrival = Some(Arrival::Fixed { rate: 1000.0 });
    StreamsConfig { arrival, persistence, ..load(streams, 1000) }
}

#[test]
fn common_arrivals_are_dealt_exactly_and_parts_may_overlap() {
    for persistence in [0.0, 0.9] {
        let config = dealt([("a", common(30, 0.5, 0.25)), ("b", common(70, 0.5, 0.5))], persistence);
        let requests = all(&config, 3);
        assert!(requests.iter().enumerate().all(|(i, r)| r.arrival.0 == i as u64 * 1_000_000));
        for pack in requests.chunks(100) {
            assert_eq!(pack.iter().filter(|request| request.volume == 0).count(), 30);
        }
        let changes = requests.windows(2).filter(|pair| pair[0].volume != pair[1].volume).count();
        // 0.42 of pairs differ by chance, a tenth of that under persistence.
        assert!(if persistence > 0.0 { changes < 100 } else { changes > 350 }, "{changes}");
        let (quarter, half) = (PAGES / 4 * PAGE, PAGES / 2 * PAGE);
        for (volume, from) in [(0, quarter), (1, half)] {
            let mut own = requests.iter().filter(|request| request.volume == volume);
            assert!(own.all(|request| (from..from + half).contains(&request.offset)));
        }
    }
}

/// Two phases over and over: each lasts as long as it says and has exactly its requests of either stream.
#[test]
fn phases_have_their_own_rates_and_shares() {
    let phase = |gap, count| Phase { gap: SimDuration(gap), count };
    let arrivals = |counts| StreamConfig { arrival: StreamArrival::Common(counts), ..common(1, 0.5, 0.0) };
    let config = StreamsConfig {
        arrival: Some(Arrival::Phases(vec![phase(1000, 90), phase(1_000_000, 10)])),
        ..dealt([("a", arrivals(vec![30, 10])), ("b", arrivals(vec![60, 0]))], 0.5)
    };
    let requests = all(&config, 3);
    for (round, pack) in requests.chunks(100).enumerate() {
        let of = |part: &[HostRequest]| part.iter().filter(|request| request.volume == 0).count();
        assert_eq!((of(&pack[..90]), of(&pack[90..])), (30, 10));
        let begin = round as u64 * (90 * 1000 + 10 * 1_000_000);
        // Whole ns, of which the sum of parts may miss one.
        assert!(pack[89].arrival.0.abs_diff(begin + 90_000) <= 1, "{:?}", pack[89]);
        assert!(pack[99].arrival.0.abs_diff(begin + 10_090_000) <= 1, "{:?}", pack[99]);
    }
    assert!(requests.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival));
    let gaps: Vec<u64> =
        requests[..90].windows(2).map(|pair| pair[1].arrival.0 - pair[0].arrival.0).collect();
    assert!(gaps.iter().max() > Some(&3000) && gaps.iter().min() < Some(&100), "at random: {gaps:?}");
    let refusal = |config: &StreamsConfig| Streams::new(config, DEVICE, 1).map(|_| ()).unwrap_err();
    let mut wrong = config.clone();
    wrong.streams.insert("b".into(), arrivals(vec![1, 2, 3]));
    assert!(refusal(&wrong).contains("3 numbers for 2 phases"));
    wrong.streams = [("a".to_owned(), arrivals(vec![0, 1]))].into();
    assert!(refusal(&wrong).contains("no stream has a request in phase 0"));
}

/// What is dealt and what comes by itself keep the order of time.
#[test]
fn common_and_own_arrivals_are_merged() {
    let own = stream(AddressPattern::Uniform, 0.25);
    let config = dealt([("a", common(1, 0.5, 0.5)), ("b", own)], 0.0);
    let requests = all(&config, 3);
    assert!(requests.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival));
    assert_near("half is dealt", requests.iter().filter(|r| r.volume == 0).count() as f64, 500.0, 16.0);
}

fn probe(rate: f64, jobs: u32, outstanding: Option<u32>) -> StreamConfig {
    let arrival = StreamArrival::Own(Arrival::Fixed { rate });
    let start = Some(Extent::Share(0.0));
    StreamConfig { arrival, jobs, outstanding, start, ..stream(AddressPattern::Uniform, 1.0) }
}

/// A request that completes.
fn done(id: u64, finish: u64) -> Completion {
    let (operation, arrival, finish) = (Operation::Write, SimTime::ZERO, SimTime(finish));
    let (blame, met_gc, gc_wait) = (RequestBlame::NONE, false, None);
    Completion { id, operation, offset: 0, length: PAGE, arrival, finish, blame, met_gc, gc_wait }
}

/// Requests are due at 0, 1, 2, .. ms; two may be out. The third one is issued when the first completes, although it was due
/// before.
#[test]
fn a_request_beyond_the_limit_is_issued_when_one_completes() {
    let mut source = Streams::new(&load([("probe", probe(1000.0, 1, Some(2)))], 5), DEVICE, 1).unwrap();
    assert!(source.wants_completions());
    let mut next = |now: u64, completed: &[Completion]| match source.next(SimTime(now), completed).unwrap() {
        Next::At(request) => Ok((request.id, request.arrival.0)),
        other => Err(other),
    };
    assert_eq!(next(0, &[]), Ok((0, 0)));
    assert_eq!(next(0, &[]), Ok((1, 1_000_000)));
    assert_eq!(next(1_000_000, &[]), Err(Next::AfterCompletion));
    assert_eq!(next(2_500_000, &[done(0, 2_500_000)]), Ok((2, 2_500_000)));
    assert_eq!(next(2_500_000, &[]), Err(Next::AfterCompletion));
    // Completes before the next one is due, which keeps its time.
    assert_eq!(next(2_600_000, &[done(2, 2_600_000)]), Ok((3, 3_000_000)));
    assert_eq!(next(9_000_000, &[done(1, 9_000_000), done(3, 9_000_000)]), Ok((4, 9_000_000)));
    assert_eq!(next(9_000_000, &[]), Err(Next::End));
}

/// One stream waits for a place while another one goes on, and is not forgotten.
#[test]
fn a_stream_at_its_limit_does_not_hold_up_another() {
    let streams = [("a", probe(1000.0, 1, Some(1))), ("b", probe(500.0, 1, None))];
    let mut source = Streams::new(&load(streams, 6), DEVICE, 1).unwrap();
    let mut next = |now: u64, completed: &[Completion]| match source.next(SimTime(now), completed).unwrap() {
        Next::At(request) => Ok((request.volume, request.arrival.0)),
        other => Err(other),
    };
    assert_eq!([next(0, &[]), next(0, &[])], [Ok((0, 0)), Ok((1, 0))]);
    // Stream `a` is due at 1 ms and may come in before `b` at 2 ms, if request 0 completes.
    assert_eq!(next(0, &[]), Err(Next::Until(SimTime(2_000_000))));
    assert_eq!(next(1_500_000, &[done(0, 1_500_000)]), Ok((0, 1_500_000)));
    // It is due again at 2 ms: `b` comes no later.
    assert_eq!(next(1_500_000, &[]), Ok((1, 2_000_000)));
}

#[test]
fn jobs_share_the_rate_and_the_part_of_their_stream() {
    let rate = 6000.0;
    let arrival = StreamArrival::Own(Arrival::Poisson { rate });
    let stream = StreamConfig { arrival, jobs: 6, ..stream(AddressPattern::Uniform, 1.0) };
    let requests = all(&load([("loaders", stream)], 30_000), 3);
    let seconds = requests.last().unwrap().arrival.0 as f64 / 1e9;
    assert_near("rate", 30_000.0 / seconds, rate, rate / 30_000f64.sqrt());
    for job in 0..6 {
        let of_job = requests.iter().filter(|request| request.volume == job);
        let count = of_job.clone().count() as f64;
        assert_near("requests of a job", count, 5000.0, 5000f64.sqrt());
        assert!(of_job.clone().any(|request| request.offset > DEVICE.logical_bytes / 10 * 9));
    }
}

#[test]
fn jobs_and_limits_that_cannot_work_are_refused() {
    let refused = |stream| Streams::new(&load([("x", stream)], 10), DEVICE, 1).err().unwrap_or_default();
    assert!(refused(probe(1.0, 0, None)).contains("jobs = 0"));
    assert!(refused(probe(1.0, 1, Some(0))).contains("outstanding = 0"));
    let files = StreamConfig { address: AddressPattern::Files(FILES), ..probe(1.0, 2, None) };
    assert!(refused(files).contains("belong to one job"));
    let common = StreamConfig { arrival: StreamArrival::Common(vec![1]), ..probe(1.0, 1, Some(1)) };
    assert!(refused(common).contains("not a count"));
}

/// Arrivals of a stream that starts at 5 ms are at 5, 6, 7, .. ms and not before; those of the other stay. Scaled times are scaled from
/// the beginning of the run.
#[test]
fn a_stream_that_starts_late_has_its_arrivals_so_much_later() {
    let late = |delay| StreamConfig { start_delay: SimDuration::from_ms(delay), ..probe(1000.0, 1, None) };
    let of = |load: &StreamsConfig, volume: u16| -> Vec<u64> {
        let own = all(load, 3).into_iter().filter(|request| request.volume == volume);
        own.map(|request| request.arrival.0).collect()
    };
    let config = load([("a", probe(500.0, 1, None)), ("b", late(5))], 20);
    let at_once = load([("a", probe(500.0, 1, None)), ("b", late(0))], 20);
    assert_eq!(of(&config, 1)[..3], [5_000_000, 6_000_000, 7_000_000]);
    assert_eq!(of(&config, 0)[..3], of(&at_once, 0)[..3]);
    assert_eq!(of(&at_once, 1)[0], 0);
    let faster = StreamsConfig { time_scale: 0.5, ..config.clone() };
    assert_eq!(of(&faster, 1)[..3], [2_500_000, 3_000_000, 3_500_000]);
    // The end is that of the run: two requests, at 5 and 6 ms, come before 7 ms.
    let ends = |end| StreamsConfig { limit: Limit::Duration(SimDuration(end)), ..config.clone() };
    assert_eq!(of(&ends(7_000_000), 1), [5_000_000, 6_000_000]);
    assert_eq!(of(&ends(7_000_001), 1).len(), 3);
    assert!(of(&ends(5_000_000), 1).is_empty());
    let jobs = StreamConfig { jobs: 2, ..late(5) };
    let first = all(&load([("b", jobs)], 4), 3).iter().map(|request| request.arrival.0).collect::<Vec<_>>();
    assert_eq!(first, [5_000_000, 5_000_000, 7_000_000, 7_000_000], "each job");
}

/// A stream with a limit of outstanding requests neither issues before it starts nor keeps another one from what is due.
#[test]
fn a_stream_that_starts_late_and_waits_for_completions_starts_when_it_says() {
    let b = StreamConfig { start_delay: SimDuration::from_ms(3), ..probe(1000.0, 1, Some(1)) };
    let mut source = Streams::new(&load([("a", probe(500.0, 1, None)), ("b", b)], 5), DEVICE, 1).unwrap();
    let mut next = |now: u64| match source.next(SimTime(now), &[]).unwrap() {
        Next::At(request) => Ok((request.volume, request.arrival.0)),
        other => Err(other),
    };
    let found = [next(0), next(0), next(0)];
    assert_eq!(found, [Ok((0, 0)), Ok((0, 2_000_000)), Ok((1, 3_000_000))]);
    // `b` is due again at 4 ms, as is `a`, which has no limit.
    assert_eq!(next(3_000_000), Ok((0, 4_000_000)));
}

#[test]
fn a_delay_that_means_nothing_is_refused() {
    let refused = |load: &StreamsConfig| Streams::new(load, DEVICE, 1).err().unwrap_or_default();
    let late = |delay, of: StreamConfig| StreamConfig { start_delay: SimDuration::from_ms(delay), ..of };
    let counted = dealt([("a", late(1, common(5, 0.5, 0.0)))], 0.0);
    assert!(refused(&counted).contains("start_delay: it needs arrivals of its own"), "{}", refused(&counted));
    let scaled = |time_scale| {
        let load = load([("a", late(3_600_000, probe(1.0, 1, None)))], 1);
        refused(&StreamsConfig { time_scale, ..load })
    };
    assert!(scaled(1e9).contains("beyond 292 years"), "{}", scaled(1e9));
    assert_eq!(scaled(1e6), "");
}
