use std::fmt::Write as _;

use harmonia_types::{Operation, SimDuration, SimTime};

use super::*;
use crate::trace::{Trace, TraceOptions};
use crate::{ArrayGeometryForLoad, Limit, Next, SkewRest, Source, Synthetic, SyntheticConfig};

/// Pages of the array the loads are generated on.
const PAGES: u64 = 4096;

/// A load on 16 MiB.
fn load(arrival: Arrival, size: SizeDistribution, address: AddressPattern) -> SyntheticConfig {
    SyntheticConfig {
        limit: Limit::Requests(200_000),
        warmup: Limit::Duration(SimDuration::ZERO),
        arrival,
        size,
        read_fraction: 0.7,
        trim_fraction: 0.0,
        address,
        footprint: 1.0,
        skew_fraction: 0.0,
        skew_member: 0,
        skew_rest: SkewRest::Others,
        align: true,
    }
}

const POISSON: Arrival = Arrival::Poisson { rate: 1000.0 };
const PAGEWISE: SizeDistribution = SizeDistribution::Fixed { mean: 4096 };

/// Its requests as a trace, in the units of MSR but ticks of 1 ns.
fn trace_of(config: &SyntheticConfig) -> Trace {
    let bytes = PAGES * PAGE;
    let array =
        ArrayGeometryForLoad { logical_bytes: bytes, member_bytes: bytes, members: 1, page_size: PAGE };
    let mut source = Synthetic::new(config, array, 11).unwrap();
    let mut text = String::new();
    while let Next::At(request) = source.next(SimTime::ZERO, &[]).unwrap() {
        let kind = if request.operation == Operation::Read { "Read" } else { "Write" };
        writeln!(text, "{},h,0,{kind},{},{},1", request.arrival.0, request.offset, request.length).unwrap();
    }
    let mut options = TraceOptions::of_format("msr");
    options.units.time_ns = Some(1);
    Trace::from_bytes("t", text.into_bytes(), &options).unwrap()
}

fn fitted(config: &SyntheticConfig) -> TraceFit {
    trace_of(config).fit_while(&mut |_| true).unwrap().unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() < tolerance, "{found}, not {expected} to {tolerance}");
}

#[test]
fn arrivals_are_found_again() {
    let of = |arrival| fitted(&load(arrival, PAGEWISE, AddressPattern::Uniform)).arrival;
    // Within 1%: five standard errors of 200,000 exponential gaps.
    match of(POISSON) {
        Arrival::Poisson { rate } => close(rate, 1000.0, 0.012),
        other => panic!("{other:?}"),
    }
    match of(Arrival::Fixed { rate: 300.0 }) {
        Arrival::Fixed { rate } => close(rate, 300.0, 1e-6),
        other => panic!("{other:?}"),
    }
    // Gaps between bursts that are shorter than the mean are missed, and long ones within a burst are taken for its
    // end: 5% here, and the more the less the burst rate differs from the mean.
    match of(Arrival::OnOff { rate: 1000.0, burst_rate: 20_000.0, burst_length: 50 }) {
        Arrival::OnOff { rate, burst_rate, burst_length } => {
            close(rate, 1000.0, 0.06);
            close(burst_rate, 20_000.0, 0.02);
            close(burst_length.into(), 50.0, 0.05);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn sizes_are_found_again_before_their_rounding() {
    for align in [true, false] {
        let of = |size| {
            let config = SyntheticConfig { align, ..load(POISSON, size, AddressPattern::Uniform) };
            let fit = fitted(&config);
            assert_eq!(fit.align, align, "{size:?}");
            fit.size
        };
        // Whole pages: an aligned load of another fixed size shows the rounded one.
        assert_eq!(of(SizeDistribution::Fixed { mean: 8192 }), SizeDistribution::Fixed { mean: 8192 });
        match of(SizeDistribution::Exponential { mean: 20_000 }) {
            SizeDistribution::Exponential { mean } => close(mean as f64, 20_000.0, 0.015),
            other => panic!("{other:?}"),
        }
        match of(SizeDistribution::Normal { mean: 60_000, stddev: 15_000 }) {
            SizeDistribution::Normal { mean, stddev } => {
                close(mean as f64, 60_000.0, 0.01);
                close(stddev as f64, 15_000.0, 0.01);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// One request in a hundred is longer: whole pages above the mean would double the bytes.
#[test]
fn nearly_fixed_sizes_keep_their_bytes() {
    let of = |size: fn(u64) -> u64| {
        let row = |i: u64| format!("{},h,0,Read,{},{},1\n", i * 1000, i * 7919 % 997 * PAGE, size(i));
        let text: String = (0..5000).map(row).collect();
        let trace = Trace::from_bytes("t", text.into_bytes(), &TraceOptions::of_format("msr")).unwrap();
        let fit = trace.fit_while(&mut |_| true).unwrap().unwrap();
        let config = SyntheticConfig { align: fit.align, ..load(POISSON, fit.size, AddressPattern::Uniform) };
        let mean = |trace: &Trace| trace.info().unwrap().mean_size_bytes.all.unwrap();
        close(mean(&trace_of(&config)), mean(&trace), 0.02);
        (fit.size, fit.align)
    };
    let fixed = |mean| SizeDistribution::Fixed { mean };
    assert_eq!(of(|i| if i % 100 == 0 { 8192 } else { 4096 }), (fixed(4096), true));
    assert_eq!(of(|i| if i % 100 == 0 { 4096 } else { 8192 }), (fixed(8192), true));
    // Most lie on whole pages, but the mean is 2.5% above one.
    assert_eq!(of(|i| if i % 5 < 2 { 17 << 10 } else { 16 << 10 }), (fixed(16_794), false));
}

/// Ten requests in each second: the reader sets them 0.1 s apart.
#[test]
fn equal_gaps_of_a_coarse_clock_are_not_fixed() {
    let text: String = (0..1000).map(|i| format!("{},{},8,0,1\n", i / 10, i * 8)).collect();
    let arrival = |spread| {
        let options = TraceOptions { spread, ..TraceOptions::of_format("tencent") };
        let trace = Trace::from_bytes("t", text.clone().into_bytes(), &options).unwrap();
        let fit = trace.fit_while(&mut |_| true).unwrap().unwrap();
        (fit.info.interarrival_cv.unwrap(), fit.arrival)
    };
    match arrival(None) {
        (cv, Arrival::Poisson { rate }) => {
            close(rate, 10.0, 1e-6);
            assert!(cv < 1e-6, "{cv}");
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(arrival(Some(false)), (3.0.., Arrival::OnOff { .. })));
}

#[test]
fn places_are_found_again() {
    let of = |address| fitted(&load(POISSON, PAGEWISE, address));
    let uniform = of(AddressPattern::Uniform);
    assert_eq!(uniform.address, AddressPattern::Uniform);
    close(uniform.heat.hottest_fifth, 0.2, 0.05);
    assert_eq!((uniform.heat.extent_bytes, uniform.heat.extents), (PAGE, PAGES as f64));
    assert_eq!(of(AddressPattern::Sequential).address, AddressPattern::Sequential);
    match of(AddressPattern::Hotspot { hot_space: 0.2, hot_traffic: 0.8 }).address {
        AddressPattern::Hotspot { hot_space, hot_traffic } => {
            assert_eq!(hot_space, 0.2);
            close(hot_traffic, 0.8, 0.02);
        }
        other => panic!("{other:?}"),
    }
    for expected in [0.6, 0.9, 1.2] {
        match of(AddressPattern::Zipf { theta: expected }).address {
            AddressPattern::Zipf { theta } => close(theta, expected, 0.1),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_rest_is_counted() {
    let fit = fitted(&load(POISSON, PAGEWISE, AddressPattern::Uniform));
    assert_eq!(fit.info.rows, 200_000);
    close(fit.read_fraction, 0.7, 0.01);
}

/// A hundred thousand requests to two million pages, four in five of them to the first fifth.
#[test]
fn places_that_hardly_come_again_are_judged_by_larger_extents() {
    let mut statistics = Statistics::default();
    for i in 0..100_000u64 {
        let (first, pages) = if i % 5 < 4 { (0, 400_000) } else { (400_000, 1_600_000) };
        let offset = (first + mixed(i) % pages) * PAGE;
        let record = TraceRecord { time_ns: i, operation: Operation::Read, offset, length: PAGE, volume: 0 };
        statistics.add(&record, None);
    }
    let heat = statistics.heat();
    assert_eq!(heat.extent_bytes, 1 << 20, "{heat:?}");
    // Chance puts some cold extents before hot ones: the share is a little low.
    close(heat.hottest_fifth, 0.8, 0.05);
    assert!(matches!(fit_address(0.0, &heat), AddressPattern::Hotspot { .. }), "{heat:?}");
}

/// One start a page: nothing is known to be hot, and nothing must look so.
#[test]
fn pages_that_are_touched_once_are_uniform() {
    let mut starts = Starts::default();
    (0..1_000_000u64).for_each(|i| starts.add((i % 3) as u16, mixed(i) >> 20));
    let heat = starts.heat(PAGE);
    assert!(starts.extents.len() <= EXTENTS_MAX && heat.sampled < 0.5, "{heat:?}");
    close(heat.extents, 1e6, 0.02);
    // A page that one half has touched the other has not.
    assert!(heat.hottest_fifth < 0.2, "{heat:?}");
}

#[test]
fn what_has_no_rate_is_refused() {
    let refusal = |text: &str| {
        let trace =
            Trace::from_bytes("t", text.as_bytes().to_vec(), &TraceOptions::of_format("msr")).unwrap();
        trace.fit_while(&mut |_| true).unwrap_err().to_string()
    };
    assert!(refusal("5,h,0,Read,0,9,1\n").contains("t: has no span"));
    assert!(refusal("5,h,0,Read,0,9,1\n5,h,0,Read,0,9,1\n").contains("t: has no span"));
}

#[test]
fn classes_are_in_order_and_narrow() {
    let mut last = 0;
    for gap in (0..5000).chain([1 << 40, u64::MAX]) {
        let class = class_of(gap);
        assert!(class >= last && class < (64 * CLASSES_AN_OCTAVE) as usize, "{gap}");
        last = class;
    }
    assert_ne!(class_of(1000), class_of(1130));
}

#[test]
fn sums_of_weights_are_those_of_the_ranks() {
    for theta in [0.3, 1.0, 1.7] {
        let slow: f64 = (1..=5000u32).map(|rank| libm::pow(rank.into(), -theta)).sum();
        close(weights(theta, 5000.0), slow, 1e-6);
    }
}
