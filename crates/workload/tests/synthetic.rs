//! Does generated load have the statistics its configuration asks for, and keep its promises request by request?
//!
//! Statistical assertions allow five standard errors: for the fixed seeds used here they either hold for ever or the
//! generator is wrong.

use harmonia_types::{Completion, DeviceId, HostRequest, Operation, RequestBlame, SimDuration, SimTime};
use harmonia_workload::{
    AddressPattern, ArrayGeometryForLoad, Arrival, Choices, Extent, Limit, Next, SizeDistribution, Source,
    Synthetic, SyntheticConfig, WorkingSetPattern,
};

const PAGE: u64 = 4096;
const MEMBER: u64 = 1 << 30;
const ARRAY: ArrayGeometryForLoad = ArrayGeometryForLoad {
    logical_bytes: 8 * MEMBER,
    member_bytes: MEMBER,
    members: 8,
    page_size: PAGE,
    scaled_from: None,
};
const N: usize = 100_000;

/// HPC(W): 510.53 KB, 20.12% read, 476.5 requests a second.
fn hpc() -> SyntheticConfig {
    SyntheticConfig { read_fraction: 0.2012, ..SyntheticConfig::writes(N as u64, 476.5, 510_530) }
}

fn try_all(config: &SyntheticConfig, seed: u64) -> Result<Vec<HostRequest>, String> {
    let mut source = Synthetic::new(config, ARRAY, seed)?;
    let mut requests = Vec::new();
    while let Next::At(request) = source.next(SimTime::ZERO, &[]).map_err(|error| error.to_string())? {
        requests.push(request);
    }
    Ok(requests)
}

fn all(config: &SyntheticConfig) -> Vec<HostRequest> {
    try_all(config, 7).unwrap()
}

fn refusal(config: &SyntheticConfig) -> String {
    Synthetic::new(config, ARRAY, 7).map(|_| ()).unwrap_err()
}

/// Mean and standard deviation.
fn moments(samples: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = samples.clone().count() as f64;
    let mean = samples.clone().sum::<f64>() / n;
    (mean, (samples.map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt())
}

fn assert_near(what: &str, measured: f64, expected: f64, standard_error: f64) {
    let errors = (measured - expected).abs() / standard_error;
    assert!(errors < 5.0, "{what}: {measured}, expected {expected}: {errors:.1} standard errors away");
}

fn gaps_ns(requests: &[HostRequest]) -> impl Iterator<Item = f64> + Clone + '_ {
    requests.windows(2).map(|pair| (pair[1].arrival - pair[0].arrival).0 as f64)
}

#[test]
fn poisson_gaps_are_exponential() {
    let requests = all(&hpc());
    assert_eq!(requests.len(), N);
    let expected = 1e9 / 476.5;
    let (mean, stddev) = moments(gaps_ns(&requests));
    assert_near("mean gap", mean, expected, expected / (N as f64).sqrt());
    // The deviation of an exponential sample's deviation is sqrt(2 / n) of it.
    assert_near("gap deviation", stddev, expected, expected * (2.0 / N as f64).sqrt());
    let beyond = gaps_ns(&requests).filter(|&gap| gap > 3.0 * expected).count() as f64 / N as f64;
    let p = 0.049_787_068; // exp(-3)
    assert_near("gaps beyond three means", beyond, p, (p * (1.0 - p) / N as f64).sqrt());
}

/// Over 10,000 bursts of 10: gaps within bursts have the mean and deviation of the in-burst rate, gaps between bursts
/// are exponential of what is left, and both together give the long-run rate. Tolerance: five standard errors, which
/// is 1.7% for the gaps within bursts and 5% for those between them and the long-run rate.
#[test]
fn bursts_have_their_rate_and_the_whole_has_its_own() {
    let (rate, burst_rate, length) = (476.5, 4765.0, 10);
    let arrival = Arrival::OnOff { rate, burst_rate, burst_length: length as u32 };
    let requests = all(&SyntheticConfig { arrival, ..hpc() });
    // The first burst begins with the first request, so gap `i` leads to request `i + 1`.
    let gaps: Vec<f64> = gaps_ns(&requests).collect();
    let pick = |between: bool| {
        let chosen = gaps.iter().enumerate().filter(move |(index, _)| ((index + 1) % length == 0) == between);
        chosen.map(|(_, &gap)| gap).collect::<Vec<f64>>()
    };
    let (within, between) = (pick(false), pick(true));
    assert_eq!((within.len(), between.len()), (N - N / length, N / length - 1));
    for (what, sample, expected) in [
        ("within bursts", &within, 1e9 / burst_rate),
        ("between bursts", &between, 1e9 * (10.0 / rate - 9.0 / burst_rate)),
    ] {
        let n = sample.len() as f64;
        let (mean, stddev) = moments(sample.iter().copied());
        assert_near(what, mean, expected, expected / n.sqrt());
        // The deviation of an exponential sample's deviation is sqrt(2 / n) of it.
        assert_near(what, stddev, expected, expected * (2.0 / n).sqrt());
    }
    let bursts = (N / length) as f64;
    let cycle_ns = requests[N - 1].arrival.0 as f64 / bursts;
    let gap_ns = 1e9 * (10.0 / rate - 9.0 / burst_rate);
    let deviation_ns = (gap_ns * gap_ns + 9.0 * (1e9 / burst_rate).powi(2)).sqrt();
    assert_near("burst and gap", cycle_ns, 1e9 * 10.0 / rate, deviation_ns / bursts.sqrt());
}

/// Writes are those of the on-off process of their own rate, to the nanosecond; reads are poisson, a process that knows
/// nothing of bursts: as many of them fall into bursts as bursts last. Five standard errors.
#[test]
fn bursts_of_writes_leave_reads_alone() {
    let (rate, burst_rate, length) = (500.0, 5000.0, 40);
    let load = |read_fraction| SyntheticConfig {
        arrival: Arrival::WriteBursts { rate, burst_rate, burst_length: length },
        read_fraction,
        ..hpc()
    };
    let requests = all(&load(0.4));
    assert!(requests.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival));
    let (reads, writes): (Vec<HostRequest>, Vec<HostRequest>) =
        requests.into_iter().partition(|request| request.operation == Operation::Read);
    let share = reads.len() as f64 / N as f64;
    assert!((share - 0.4).abs() < 0.02, "reads are {share} of all");
    let alone = Arrival::OnOff { rate: 0.6 * rate, burst_rate, burst_length: length };
    let alone = all(&SyntheticConfig { arrival: alone, read_fraction: 0.0, ..hpc() });
    assert!(writes.iter().zip(&alone).all(|(write, alone)| write.arrival == alone.arrival));
    let n = reads.len() as f64 - 1.0;
    let (mean, stddev) = moments(gaps_ns(&reads));
    let expected = 1e9 / (0.4 * rate);
    assert_near("gap between reads", mean, expected, expected / n.sqrt());
    assert_near("its deviation", stddev, expected, expected * (2.0 / n).sqrt());
    let writes_only = all(&load(0.0));
    assert!(writes_only.iter().all(|request| request.operation == Operation::Write));
}

/// As `burst_rate` nears `rate`, every gap has the same mean: bursts are continuous with poisson.
#[test]
fn bursts_at_the_mean_rate_are_poisson() {
    let rate = 476.5;
    let arrival = Arrival::OnOff { rate, burst_rate: rate * (1.0 + 1e-12), burst_length: 7 };
    let bursts = all(&SyntheticConfig { arrival, ..hpc() });
    let poisson = all(&hpc());
    assert!(bursts.iter().zip(&poisson).all(|(a, b)| a.arrival.0.abs_diff(b.arrival.0) < 1000));
}

#[test]
fn fixed_arrivals_do_not_drift() {
    let config = SyntheticConfig { arrival: Arrival::Fixed { rate: 3.0 }, ..hpc() };
    let requests = all(&config);
    assert_eq!(
        requests[..4].iter().map(|r| r.arrival.0).collect::<Vec<_>>(),
        [0, 333_333_333, 666_666_667, 1_000_000_000]
    );
    assert_eq!(requests[99_999].arrival.0, 33_333_000_000_000);
}

#[test]
fn a_duration_takes_what_arrives_before_its_end() {
    let fixed = SyntheticConfig {
        arrival: Arrival::Fixed { rate: 10.0 },
        limit: Limit::Duration(SimDuration::from_ms(1000)),
        ..hpc()
    };
    assert_eq!(all(&fixed).len(), 10);
    let longer = SyntheticConfig { limit: Limit::Duration(SimDuration(1_000_000_001)), ..fixed };
    assert_eq!(all(&longer).len(), 11);
    assert_eq!(all(&SyntheticConfig { limit: Limit::Duration(SimDuration::ZERO), ..hpc() }), []);
}

/// 4 GB of 4 KiB-page reads and writes of 510.53 KB: 125 pages each, at page boundaries, inside, everywhere alike.
#[test]
fn hpc_requests_are_125_aligned_pages_anywhere() {
    let requests = all(&hpc());
    let last_start = 8 * MEMBER - 125 * PAGE;
    for (index, request) in requests.iter().enumerate() {
        assert_eq!((request.id, request.length, request.member), (index as u64, 125 * PAGE, None));
        assert!(request.offset.is_multiple_of(PAGE) && request.offset <= last_start);
    }
    let n = N as f64;
    let reads = requests.iter().filter(|r| r.operation == Operation::Read).count() as f64 / n;
    assert_near("read share", reads, 0.2012, (0.2012 * 0.7988 / n).sqrt());
    let (mean, stddev) = moments(requests.iter().map(|r| r.offset as f64 / last_start as f64));
    assert_near("mean offset", mean, 0.5, (1.0 / 12.0 / n).sqrt());
    assert_near("offset deviation", stddev, (1.0f64 / 12.0).sqrt(), (1.0 / 12.0 / n).sqrt());
}

#[test]
fn sizes_have_their_distribution() {
    let n = N as f64;
    let lengths = |size| {
        let requests = all(&SyntheticConfig { size, align: false, ..hpc() });
        moments(requests.iter().map(|r| r.length as f64).collect::<Vec<_>>().into_iter())
    };
    let mean = 510_530;
    let (measured, stddev) = lengths(SizeDistribution::Exponential { mean });
    assert_near("exponential mean", measured, mean as f64, mean as f64 / n.sqrt());
    assert_near("exponential deviation", stddev, mean as f64, mean as f64 * (2.0 / n).sqrt());
    let (measured, stddev) = lengths(SizeDistribution::Normal { mean, stddev: 50_000 });
    assert_near("normal mean", measured, mean as f64, 50_000.0 / n.sqrt());
    assert_near("normal deviation", stddev, 50_000.0, 50_000.0 / (2.0 * n).sqrt());
    // Half of a normal around one byte is cut off at one byte.
    let requests = all(&SyntheticConfig {
        size: SizeDistribution::Normal { mean: 1, stddev: 1000 },
        align: false,
        ..hpc()
    });
    let ones = requests.iter().filter(|r| r.length == 1).count() as f64 / n;
    assert_near("cut-off share", ones, 0.5, 0.5 / n.sqrt());
    assert!(requests.iter().all(|r| r.length >= 1));
}

#[test]
fn unaligned_requests_keep_their_bytes() {
    let requests = all(&SyntheticConfig { align: false, ..hpc() });
    assert!(requests.iter().all(|r| r.length == 510_530 && r.offset + r.length <= 8 * MEMBER));
    assert!(requests.iter().filter(|r| r.offset % PAGE != 0).count() > N * 99 / 100);
}

/// 10 pages of footprint, 3 pages a request: the fourth would cross the end and starts over.
#[test]
fn sequential_requests_follow_each_other_and_wrap() {
    let footprint = 10.0 * PAGE as f64 / (8 * MEMBER) as f64;
    let config = SyntheticConfig {
        address: AddressPattern::Sequential,
        size: SizeDistribution::Fixed { mean: 2 * PAGE + 1 },
        footprint: Extent::Share(footprint),
        limit: Limit::Requests(5),
        ..hpc()
    };
    let starts: Vec<u64> = all(&config).iter().map(|r| r.offset / PAGE).collect();
    assert_eq!(starts, [0, 3, 6, 0, 3]);
}

#[test]
fn a_footprint_bounds_addresses_and_is_reached() {
    let config = SyntheticConfig {
        footprint: Extent::Share(0.001),
        size: SizeDistribution::Fixed { mean: PAGE },
        ..hpc()
    };
    // 0.001 of 2,097,152 pages, to the nearest page.
    let last = all(&config).iter().map(|r| r.offset / PAGE).max();
    assert_eq!(last, Some(2096));
}

/// A footprint of 1,000 pages, asked for page by page: sorted by how often they come, the first pages have the shares
/// of the law within five standard errors, and they are not the first pages of the space.
#[test]
fn zipf_pages_have_the_shares_of_the_law_wherever_they_lie() {
    let theta = 0.99;
    let footprint = 1000.0 * PAGE as f64 / (8 * MEMBER) as f64;
    let config = SyntheticConfig {
        address: AddressPattern::Zipf { theta },
        size: SizeDistribution::Fixed { mean: PAGE },
        footprint: Extent::Share(footprint),
        ..hpc()
    };
    let mut counts = [(0u32, 0u64); 1000];
    for request in all(&config) {
        let page = request.offset / PAGE;
        counts[page as usize] = (counts[page as usize].0 + 1, page);
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let weight = |rank: usize| libm::exp(-theta * libm::log(rank as f64));
    let sum: f64 = (1..=1000).map(weight).sum();
    for (index, &(count, _)) in counts[..5].iter().enumerate() {
        let share = weight(index + 1) / sum;
        let error = (share * (1.0 - share) / N as f64).sqrt();
        assert_near(&format!("rank {}", index + 1), f64::from(count) / N as f64, share, error);
    }
    let hot: Vec<u64> = counts[..5].iter().map(|count| count.1).collect();
    assert!(
        hot.iter().any(|&page| page >= 500) && hot.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > 1),
        "{hot:?}"
    );
}

/// Long requests stay inside the footprint, and unaligned ones start anywhere in a page.
#[test]
fn zipf_requests_stay_inside_and_may_be_unaligned() {
    let config = SyntheticConfig {
        address: AddressPattern::Zipf { theta: 0.3 },
        footprint: Extent::Share(0.0001),
        ..hpc()
    };
    let end = 210 * PAGE;
    assert!(all(&config).iter().all(|r| r.offset % PAGE == 0 && r.offset + r.length <= end));
    let requests = all(&SyntheticConfig { align: false, ..config });
    assert!(requests.iter().all(|r| r.offset + r.length <= end));
    assert!(requests.iter().filter(|r| r.offset % PAGE != 0).count() > N / 4);
}

/// Shares within five standard errors, uniform within each part, nothing across the border.
#[test]
fn a_hotspot_takes_its_traffic_in_its_space() {
    let address = AddressPattern::Hotspot { hot_space: 0.25, hot_traffic: 0.9 };
    let requests = all(&SyntheticConfig { address, ..hpc() });
    let border = 2 * MEMBER;
    let n = N as f64;
    let hot: Vec<f64> = requests.iter().filter(|r| r.offset < border).map(|r| r.offset as f64).collect();
    let cold: Vec<f64> = requests.iter().filter(|r| r.offset >= border).map(|r| r.offset as f64).collect();
    assert_near("hot share", hot.len() as f64 / n, 0.9, (0.9 * 0.1 / n).sqrt());
    assert!(requests.iter().all(|r| r.offset >= border || r.offset + r.length <= border));
    for (what, offsets, start, end) in [("hot", hot, 0, border), ("cold", cold, border, 8 * MEMBER)] {
        let width = (end - 125 * PAGE - start) as f64;
        let error = (1.0 / 12.0 / offsets.len() as f64).sqrt();
        let (mean, stddev) = moments(offsets.iter().map(|offset| (offset - start as f64) / width));
        assert_near(what, mean, 0.5, error);
        assert_near(what, stddev, (1.0f64 / 12.0).sqrt(), error);
    }
    // Arrivals, directions and sizes are those of the uniform load.
    let uniform = all(&hpc());
    assert!(
        requests
            .iter()
            .zip(&uniform)
            .all(|(a, b)| (a.arrival, a.operation, a.length) == (b.arrival, b.operation, b.length))
    );
}

/// Skewed and hot at once: each space has hot pages of its own.
#[test]
fn patterns_hold_on_a_skewed_member_too() {
    let address = AddressPattern::Hotspot { hot_space: 0.5, hot_traffic: 1.0 };
    let config = SyntheticConfig { address, skew_fraction: 0.5, skew_member: 3, ..hpc() };
    for request in all(&config) {
        let space = if request.member.is_some() { MEMBER } else { 7 * MEMBER };
        assert!(request.offset + request.length <= space / 2, "{request:?}");
    }
}

#[test]
fn a_skewed_request_lies_wholly_on_its_member_and_the_others_in_the_space_of_the_others() {
    let config = SyntheticConfig { skew_fraction: 0.5, skew_member: 3, ..hpc() };
    let requests = all(&config);
    let pinned: Vec<&HostRequest> = requests.iter().filter(|r| r.member.is_some()).collect();
    assert_near("skewed share", pinned.len() as f64 / N as f64, 0.5, 0.5 / (N as f64).sqrt());
    assert!(pinned.iter().all(|r| r.member == Some(DeviceId(3)) && r.offset + r.length <= MEMBER));
    let others = || requests.iter().filter(|r| r.member.is_none());
    assert!(others().all(|r| r.offset + r.length <= 7 * MEMBER));
    assert!(others().any(|r| r.offset > 6 * MEMBER) && pinned.iter().any(|r| r.offset > MEMBER / 8 * 7));
}

/// The same decision of the same request, whatever the other decisions are.
#[test]
fn each_decision_has_its_own_stream() {
    let base = all(&hpc());
    let arrivals = |requests: &[HostRequest]| requests.iter().map(|r| r.arrival).collect::<Vec<_>>();
    let directions = |requests: &[HostRequest]| requests.iter().map(|r| r.operation).collect::<Vec<_>>();
    let offsets = |requests: &[HostRequest]| requests.iter().map(|r| r.offset).collect::<Vec<_>>();
    let sized =
        all(&SyntheticConfig { size: SizeDistribution::Normal { mean: 50_000, stddev: 9000 }, ..hpc() });
    let skewed = all(&SyntheticConfig { skew_fraction: 0.3, ..hpc() });
    for other in [&sized, &skewed] {
        assert_eq!((arrivals(other), directions(other)), (arrivals(&base), directions(&base)));
    }
    // FUA is of writes, as many as the share says, and changes nothing else.
    let through = all(&SyntheticConfig { fua_fraction: 0.3, ..hpc() });
    assert_eq!(through.iter().map(|r| HostRequest { fua: false, ..*r }).collect::<Vec<_>>(), base);
    assert!(through.iter().all(|r| !r.fua || r.operation == Operation::Write));
    let count = |of: &dyn Fn(&&HostRequest) -> bool| through.iter().filter(of).count() as f64;
    let share = count(&|r| r.fua) / count(&|r| r.operation == Operation::Write);
    assert!((share - 0.3).abs() < 0.02, "{share} of the writes are with FUA");
    // The same fraction of the starts that fit, so never further off than the sizes differ.
    let longest = 200 * PAGE;
    assert!(offsets(&sized).iter().zip(offsets(&base)).all(|(a, b)| a.abs_diff(b) <= longest));
    let slower = all(&SyntheticConfig { arrival: Arrival::Fixed { rate: 1.0 }, read_fraction: 1.0, ..hpc() });
    assert_eq!(offsets(&slower), offsets(&base));
    assert_ne!(offsets(&try_all(&hpc(), 8).unwrap()), offsets(&base));
    assert_eq!(try_all(&hpc(), 7).unwrap(), base);
}

fn done(request: &HostRequest, finish: u64) -> Completion {
    let HostRequest { id, operation, offset, length, arrival, .. } = *request;
    Completion {
        id,
        operation,
        offset,
        length,
        arrival,
        finish: SimTime(finish),
        blame: RequestBlame::default(),
        met_gc: false,
        gc_wait: None,
    }
}

fn issued(source: &mut Synthetic, now: u64, completed: &[Completion]) -> HostRequest {
    match source.next(SimTime(now), completed).unwrap() {
        Next::At(request) => request,
        other => panic!("expected a request, not {other:?}"),
    }
}

#[test]
fn a_closed_loop_keeps_its_depth_and_reissues_at_the_finish() {
    let config =
        SyntheticConfig { arrival: Arrival::Closed { queue_depth: 3 }, limit: Limit::Requests(6), ..hpc() };
    let mut source = Synthetic::new(&config, ARRAY, 7).unwrap();
    assert!(source.wants_completions());
    let first: Vec<HostRequest> = (0..3).map(|_| issued(&mut source, 0, &[])).collect();
    assert!(first.iter().all(|r| r.arrival == SimTime::ZERO));
    assert_eq!(source.next(SimTime::ZERO, &[]), Ok(Next::AfterCompletion));
    // Two complete together: two follow, in order of their finish.
    let fourth = issued(&mut source, 40, &[done(&first[2], 50), done(&first[0], 40)]);
    let fifth = issued(&mut source, 40, &[]);
    assert_eq!((fourth.arrival, fifth.arrival), (SimTime(40), SimTime(50)));
    assert_eq!(source.next(SimTime(50), &[]), Ok(Next::AfterCompletion));
    assert_eq!(issued(&mut source, 90, &[done(&first[1], 90)]).id, 5);
    assert_eq!(source.next(SimTime(99), &[done(&fourth, 99)]), Ok(Next::End));
}

#[test]
fn a_closed_loop_ends_with_its_duration() {
    let limit = Limit::Duration(SimDuration(100));
    let config = SyntheticConfig { arrival: Arrival::Closed { queue_depth: 1 }, limit, ..hpc() };
    let mut source = Synthetic::new(&config, ARRAY, 7).unwrap();
    let first = issued(&mut source, 0, &[]);
    let second = issued(&mut source, 99, &[done(&first, 99)]);
    assert_eq!(source.next(SimTime(100), &[done(&second, 100)]), Ok(Next::End));
    assert_eq!(source.next(SimTime(100), &[]), Ok(Next::End));
}

fn choices(cards: &[(u64, u64)], persistence: f64) -> SizeDistribution {
    let (values, counts) = cards.iter().copied().unzip();
    SizeDistribution::Choices(Choices { values, counts, persistence })
}

fn gaps(cards: &[(u64, u64)]) -> Arrival {
    let (values, counts) = cards.iter().map(|&(gap, count)| (SimDuration(gap), count)).unzip();
    Arrival::Gaps(Choices { values, counts, persistence: 0.0 })
}

fn working_set(first_touch: f64, sequential: f64, reuse: f64) -> SyntheticConfig {
    let pattern = WorkingSetPattern { first_touch, sequential, reuse };
    SyntheticConfig { address: AddressPattern::WorkingSet(pattern), align: false, start_unit: PAGE, ..hpc() }
}

/// Two large sizes in a thousand, dealt: ten packs have them twenty times, whatever the seed.
#[test]
fn dealt_sizes_and_gaps_sum_up_exactly() {
    let size = choices(&[(PAGE, 998), (64 << 20, 2)], 0.3);
    let config = SyntheticConfig {
        limit: Limit::Requests(10_000),
        arrival: gaps(&[(100, 900), (1_000_000, 99)]),
        size,
        align: false,
        ..hpc()
    };
    for seed in 0..5 {
        let requests = try_all(&config, seed).unwrap();
        assert_eq!(requests.iter().map(|r| r.length).sum::<u64>(), 10 * (998 * PAGE + (128 << 20)));
        // The first at 0, and one gap for each other request.
        assert_eq!(requests[999].arrival, SimTime(900 * 100 + 99 * 1_000_000));
        assert_eq!(requests[0].arrival, SimTime(0));
    }
}

/// Distinct 4 KiB pages that requests touch.
fn touched(requests: &[HostRequest]) -> std::collections::BTreeSet<u64> {
    requests.iter().flat_map(|r| r.offset / PAGE..(r.offset + r.length).div_ceil(PAGE)).collect()
}

/// As many bytes as it takes to touch a footprint of 64 MiB at the pace asked for.
#[test]
fn a_working_set_is_touched_whole_and_nothing_else() {
    let footprint = 64u64 << 20;
    for (first_touch, sequential, reuse) in
        [(0.9, 0.0, 1.0), (0.5, 0.8, 0.2), (0.1, 0.99, 5.0), (0.02, 0.0, 1.0)]
    {
        for size in [choices(&[(PAGE, 1)], 0.0), choices(&[(PAGE, 95), (16 * PAGE, 4), (1 << 20, 1)], 0.5)] {
            let requests = (footprint as f64 / first_touch / size.mean() as f64).ceil() as u64;
            let config = SyntheticConfig {
                limit: Limit::Requests(requests),
                size,
                footprint: Extent::Bytes(footprint),
                ..working_set(first_touch, sequential, reuse)
            };
            let pages = touched(&all(&config));
            let share = pages.len() as f64 * PAGE as f64 / footprint as f64;
            assert!((0.97..=1.0).contains(&share), "{share} at {first_touch}, {sequential}, {reuse}");
            assert!(*pages.last().unwrap() < footprint / PAGE);
            // And at an even pace.
            let half = touched(&all(&config)[..requests as usize / 2]);
            let part = half.len() as f64 / pages.len() as f64;
            assert!((0.42..0.65).contains(&part), "{part} of it by half of the requests");
        }
    }
}

/// Small requests far apart: each touches a page, and the pages are many times their bytes.
#[test]
fn a_working_set_may_be_larger_than_the_bytes_asked_for() {
    let config = SyntheticConfig {
        limit: Limit::Requests(10_000),
        size: choices(&[(512, 1)], 0.0),
        footprint: Extent::Bytes(10_000 * PAGE),
        start_unit: 512,
        ..working_set(8.0, 0.0, 1.0)
    };
    let pages = touched(&all(&config)).len();
    assert!((9_900..=10_000).contains(&pages), "{pages}");
}

#[test]
fn requests_start_where_they_are_aligned_to() {
    for address in [
        AddressPattern::Uniform,
        AddressPattern::Sequential,
        AddressPattern::Zipf { theta: 0.9 },
        AddressPattern::Hotspot { hot_space: 0.2, hot_traffic: 0.8 },
        AddressPattern::WorkingSet(WorkingSetPattern { first_touch: 0.5, sequential: 0.5, reuse: 1.0 }),
    ] {
        let size = choices(&[(700, 1), (5000, 1)], 0.0);
        let config = SyntheticConfig {
            size,
            address,
            align: false,
            start_unit: 512,
            limit: Limit::Requests(5000),
            ..hpc()
        };
        let requests = all(&config);
        assert!(requests.iter().all(|r| r.offset.is_multiple_of(512)), "{address:?}");
        assert!(requests.iter().any(|r| !r.offset.is_multiple_of(PAGE)), "{address:?}");
        assert_eq!(requests.iter().map(|r| r.length).sum::<u64>(), 2500 * 5700);
    }
}

fn hot(hot_space: f64, hot_traffic: f64) -> SyntheticConfig {
    SyntheticConfig { address: AddressPattern::Hotspot { hot_space, hot_traffic }, ..hpc() }
}

#[test]
fn what_cannot_be_is_refused_with_value_and_reason() {
    let table: Vec<(SyntheticConfig, &str)> = vec![
        (SyntheticConfig { read_fraction: 1.01, ..hpc() }, "read_fraction = 1.01: it is a share"),
        (SyntheticConfig { read_fraction: f64::NAN, ..hpc() }, "read_fraction = NaN"),
        (SyntheticConfig { skew_fraction: -0.1, ..hpc() }, "skew_fraction = -0.1"),
        (SyntheticConfig { fua_fraction: 1.5, ..hpc() }, "fua_fraction = 1.5: it is a share"),
        (SyntheticConfig { footprint: Extent::Share(0.0), ..hpc() }, "address.footprint = 0: "),
        (SyntheticConfig { footprint: Extent::Share(1.1), ..hpc() }, "address.footprint = 1.1: "),
        (SyntheticConfig { footprint: Extent::Share(1e-12), ..hpc() }, "less than one page"),
        (SyntheticConfig { arrival: Arrival::Poisson { rate: 0.0 }, ..hpc() }, "arrival.rate = 0:"),
        (SyntheticConfig { arrival: Arrival::Fixed { rate: f64::INFINITY }, ..hpc() }, "arrival.rate = inf:"),
        (SyntheticConfig { arrival: Arrival::Closed { queue_depth: 0 }, ..hpc() }, "queue_depth = 0"),
        (
            SyntheticConfig {
                arrival: Arrival::OnOff { rate: 5.0, burst_rate: 5.0, burst_length: 100 },
                ..hpc()
            },
            "must be above arrival.rate = 5",
        ),
        (
            SyntheticConfig {
                arrival: Arrival::OnOff { rate: 5.0, burst_rate: f64::NAN, burst_length: 100 },
                ..hpc()
            },
            "arrival.burst_rate = NaN",
        ),
        (
            SyntheticConfig {
                arrival: Arrival::OnOff { rate: 5.0, burst_rate: 50.0, burst_length: 1 },
                ..hpc()
            },
            "at least 2 requests",
        ),
        (
            SyntheticConfig {
                arrival: Arrival::WriteBursts { rate: 5.0, burst_rate: 50.0, burst_length: 9 },
                read_fraction: 1.0,
                ..hpc()
            },
            "nothing writes",
        ),
        (SyntheticConfig { size: SizeDistribution::Fixed { mean: 0 }, ..hpc() }, "size.mean = 0"),
        (
            SyntheticConfig { size: SizeDistribution::Fixed { mean: 8 * MEMBER + 1 }, ..hpc() },
            "exceeds the addressed",
        ),
        (
            SyntheticConfig { size: SizeDistribution::Fixed { mean: u64::MAX }, ..hpc() },
            "exceeds the addressed",
        ),
        (SyntheticConfig { address: AddressPattern::Zipf { theta: 0.0 }, ..hpc() }, "address.theta = 0: "),
        (
            SyntheticConfig { address: AddressPattern::Zipf { theta: f64::NAN }, ..hpc() },
            "address.theta = NaN",
        ),
        (
            SyntheticConfig { footprint: Extent::Bytes(9 * MEMBER), ..hpc() },
            "it is a part of the logical space",
        ),
        (
            SyntheticConfig { size: choices(&[(0, 1)], 0.0), ..hpc() },
            "size.sizes has a 0: a request has at least one byte",
        ),
        (SyntheticConfig { size: choices(&[(1, 0)], 0.0), ..hpc() }, "size.counts has a 0"),
        (SyntheticConfig { size: choices(&[(1, 1)], 1.0), ..hpc() }, "size.persistence = 1: it is a share"),
        (SyntheticConfig { size: choices(&[], 0.0), ..hpc() }, "one for each, at least one"),
        (
            SyntheticConfig { size: choices(&[(1, 9), (9 * MEMBER, 1)], 0.0), ..hpc() },
            "exceeds the addressed",
        ),
        (SyntheticConfig { arrival: gaps(&[(0, 5)]), ..hpc() }, "everything would arrive at once"),
        (working_set(0.0, 0.5, 1.0), "address.first_touch = 0: it must be greater than 0"),
        (working_set(1.0, 1.5, 1.0), "address.sequential = 1.5: it is a share"),
        (working_set(1.0, 0.5, f64::NAN), "address.reuse = NaN"),
        (hot(0.0, 0.5), "address.hot_space = 0: it is a share"),
        (hot(1.0, 0.5), "address.hot_space = 1: it is a share"),
        (hot(0.5, 1.1), "address.hot_traffic = 1.1: it is a share"),
        (hot(1e-9, 0.5), "at least one page must be hot"),
        (hot(1e-5, 0.5), "exceeds the addressed space of 86016 bytes"),
        (hot(1.0 - 1e-5, 0.5), "exceeds the addressed space of 86016 bytes"),
        (
            SyntheticConfig { skew_fraction: 0.5, skew_member: 8, ..hpc() },
            "skew_member = 8: the array has 8 members",
        ),
        (
            SyntheticConfig {
                skew_fraction: 0.5,
                size: SizeDistribution::Fixed { mean: MEMBER + 1 },
                ..hpc()
            },
            "exceeds the addressed space of 1073741824 bytes",
        ),
    ];
    for (config, expected) in table {
        let error = refusal(&config);
        assert!(error.contains(expected), "{error}\n  not: {expected}");
    }
    let whole = SyntheticConfig { size: SizeDistribution::Fixed { mean: 8 * MEMBER }, ..hpc() };
    assert!(all(&whole).iter().all(|r| r.offset == 0));
}

#[test]
fn a_drawn_size_beyond_the_space_and_a_time_beyond_292_years_are_errors_that_stay() {
    let size = SizeDistribution::Exponential { mean: 4 * MEMBER };
    let mut source = Synthetic::new(&SyntheticConfig { size, ..hpc() }, ARRAY, 7).unwrap();
    let error = loop {
        if let Err(error) = source.next(SimTime::ZERO, &[]) {
            break error;
        }
    };
    assert!(error.to_string().contains("exceeds the addressed space of 8589934592 bytes"), "{error}");
    assert_eq!(source.next(SimTime::ZERO, &[]), Err(error));
    for arrival in [Arrival::Poisson { rate: 1e-7 }, Arrival::Fixed { rate: 1e-7 }] {
        let error = try_all(&SyntheticConfig { arrival, ..hpc() }, 7).unwrap_err();
        assert!(error.contains("292 years"), "{error}");
    }
}
