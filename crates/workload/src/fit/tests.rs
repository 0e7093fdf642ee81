use std::fmt::Write as _;

use harmonia_trace::{Trace, TraceOptions};
use proptest::prelude::*;

use super::*;
use crate::{Arrival, SizeDistribution};

/// Spreads the bits of a number, for rows that look random.
fn mixed(i: u64) -> u64 {
    let value = (i ^ (i >> 31)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53) >> 20
}

/// Rows of (ns, is read, offset, bytes) as a trace in the columns of MSR but ticks of 1 ns.
fn trace(rows: impl IntoIterator<Item = (u64, bool, u64, u64)>) -> Trace {
    let mut text = String::new();
    for (time_ns, is_read, offset, bytes) in rows {
        let kind = if is_read { "Read" } else { "Write" };
        writeln!(text, "{time_ns},h,0,{kind},{offset},{bytes},1").unwrap();
    }
    let mut options = TraceOptions::of_format("msr");
    options.units.time_ns = Some(1);
    Trace::from_bytes("t", text.into_bytes(), &options).unwrap()
}

fn fitted(rows: impl IntoIterator<Item = (u64, bool, u64, u64)>) -> TraceFit {
    TraceFit::of(&trace(rows), None, &mut |_| true).unwrap().unwrap()
}

/// What a fit promises: as many requests, bytes within 2% and footprints within 5%, reads and writes apart and together.
fn keeps_its_promises(fit: &TraceFit) -> Result<(), String> {
    let near = |what: &str, found: u64, expected: u64, tolerance: f64| {
        let is_near = (found as f64 - expected as f64).abs() <= tolerance * expected as f64;
        if is_near { Ok(()) } else { Err(format!("{what}: {found}, not {expected}")) }
    };
    let (found, expected) = (&fit.fitted, &fit.trace);
    let kinds = [
        ("reads", &found.reads, &expected.reads),
        ("writes", &found.writes, &expected.writes),
        ("trims", &found.trims, &expected.trims),
    ];
    for (name, found, expected) in kinds {
        near(name, found.requests, expected.requests, 0.0)?;
        near(&format!("bytes of {name}"), found.bytes, expected.bytes, 0.02)?;
        near(&format!("footprint of {name}"), found.footprint_bytes, expected.footprint_bytes, 0.05)?;
    }
    near("footprint", found.footprint_bytes, expected.footprint_bytes, 0.05)
}

fn promised(rows: impl IntoIterator<Item = (u64, bool, u64, u64)>) -> TraceFit {
    let fit = fitted(rows);
    keeps_its_promises(&fit).unwrap_or_else(|broken| panic!("{broken}\n{:#?}", fit.load));
    fit
}

/// The mistake this is all about: sizes of reads and writes as one.
#[test]
fn small_reads_and_large_writes_stay_apart() {
    let row = |i: u64| {
        let is_read = i % 10 < 9;
        (i * 1000, is_read, mixed(i) % 9973 * 4096, if is_read { 4096 } else { 256 << 10 })
    };
    let fit = promised((0..20_000u64).map(row));
    let size = |name: &str| fit.load.streams[name].size.clone();
    assert_eq!(size(READS), SizeDistribution::Fixed { mean: 4096 });
    assert_eq!(size(WRITES), SizeDistribution::Fixed { mean: 256 << 10 });
    assert_eq!(fit.load.arrival, Some(Arrival::Fixed { rate: 1e6 }));
}

#[test]
fn a_small_footprint_stays_small() {
    // Hundreds of requests for each page, on two stretches far apart that overlap by a quarter.
    let row = |i: u64| {
        let is_read = mixed(i).is_multiple_of(3);
        let first = if is_read { 0 } else { 192 };
        (i * 1000 + mixed(i) % 999, is_read, (1 << 40) + (first + mixed(i + 7) % 256) * 4096, 4096)
    };
    let fit = promised((0..50_000).map(row));
    assert_eq!(fit.trace.footprint_bytes, 448 * 4096);
    assert_eq!(fit.info.footprint_bytes, 448 * 4096, "counted once, for both");
    let start = fit.load.streams[WRITES].start;
    assert_eq!(start, Some(Extent::Bytes(192 * 4096)), "64 pages in common");
}

#[test]
fn heavy_tails_keep_their_bytes() {
    // Three requests of 64 MiB among thousands of 512 bytes to 128 KiB: independent draws would be off by half.
    let row = |i: u64| {
        let size = if i % 3000 == 17 { 64 << 20 } else { (1 + mixed(i) % 256) * 512 };
        (i * i, i.is_multiple_of(4), mixed(i + 3) % 99_991 * 512, size)
    };
    let fit = promised((0..9000).map(row));
    assert_eq!(fit.load.streams[WRITES].start_unit, 512);
}

#[test]
fn sequential_loads_stay_sequential() {
    let row = |i: u64| (i * 1000, i.is_multiple_of(2), (i % 2 * 1_000_000 + i / 2 * 4) * 4096, 16_384);
    let fit = promised((0..20_000u64).map(row));
    assert!(fit.fitted.reads.sequential_percent > 99.0, "{:?}", fit.fitted.reads);
    assert!(fit.fitted.writes.sequential_percent > 99.0, "{:?}", fit.fitted.writes);
}

#[test]
fn pages_that_are_touched_once_are_touched_once() {
    // Every request touches pages of its own, half of them two with 4 KiB.
    let row = |i: u64| (i * 1000, false, i * 3 * 4096 + i % 2 * 512, 4096);
    promised((0..5000).map(row));
}

#[test]
fn hot_places_stay_hot() {
    let row = |i: u64| {
        let page = if mixed(i) % 5 < 4 { mixed(i + 1) % 400 } else { 400 + mixed(i + 1) % 1600 };
        (i * 1000, false, page * 4096, 4096)
    };
    let fit = promised((0..100_000).map(row));
    let heat = |load: &Measured| load.writes.heat.hottest_fifth;
    assert!((heat(&fit.trace) - 0.8).abs() < 0.02, "{}", heat(&fit.trace));
    assert!((heat(&fit.fitted) - 0.8).abs() < 0.08, "{}", heat(&fit.fitted));
    let even = promised((0..100_000u64).map(|i| (i * 1000, false, mixed(i) % 2000 * 4096, 4096)));
    assert!(heat(&even.fitted) < 0.3, "{}", heat(&even.fitted));
}

#[test]
fn bursts_keep_their_gaps() {
    // Forty requests 10 us apart, then a second of silence.
    let fit = promised((0..20_000u64).map(|i| {
        (i / 40 * 1_000_000_000 + i % 40 * 10_000, i.is_multiple_of(4), mixed(i) % 5000 * 4096, 4096)
    }));
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.05;
    assert!(near(fit.fitted.gap_cv, fit.trace.gap_cv), "{:?}", fit.fitted);
    // Forty in every second: nothing varies, in the fit next to nothing.
    assert!(fit.trace.dispersion < 0.01 && fit.fitted.dispersion < 0.2, "{:?}", fit.fitted);
    let poisson = |i: u64| libm::log((mixed(i) % 1_000_000 + 1) as f64 / 1e6) * -1e6;
    let mut now = 0.0;
    let rows = (0..20_000u64).map(|i| {
        now += poisson(i);
        (now as u64, i.is_multiple_of(4), mixed(i) % 5000 * 4096, 4096)
    });
    assert!(matches!(promised(rows).load.arrival, Some(Arrival::Poisson { .. })));
}

/// Hours at one request a second, then a minute of a thousand writes a second: no distribution of gaps says that.
#[test]
fn a_change_of_rate_is_kept_with_its_operations() {
    let mut now = 0;
    let rows = (0..30_000u64).map(|i| {
        let is_busy = (10_000..20_000).contains(&i);
        now += (if is_busy { 1_000_000 } else { 1_000_000_000 }) + mixed(i) % 500_000;
        (now, !is_busy && i.is_multiple_of(2), mixed(i) % 5000 * 4096, 4096)
    });
    let fit = promised(rows);
    assert!(matches!(fit.load.arrival, Some(Arrival::Phases(_))));
    let ratio = fit.fitted.dispersion / fit.trace.dispersion;
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
}

#[test]
fn a_footprint_is_squeezed_into_the_room_there_is() {
    let rows = (0..20_000u64).map(|i| (i * 1000, i.is_multiple_of(4), mixed(i) % 5000 * 4096, 4096));
    let fit = TraceFit::of(&trace(rows), Some(2500 * 4096), &mut |_| true).unwrap().unwrap();
    let part = fit.fitted.footprint_bytes as f64 / fit.trace.footprint_bytes as f64;
    assert!((part - fit.squeezed.unwrap()).abs() < 0.01, "{part}, not {:?}", fit.squeezed);
    assert!(fit.fitted.footprint_bytes <= 2500 * 4096);
    assert_eq!(fit.fitted.writes.bytes, fit.trace.writes.bytes);
}

#[test]
fn trims_have_a_stream_and_flushes_are_counted() {
    let mut text = "fio version 3 iolog\n0 /f add\n0 /f open\n".to_owned();
    for i in 0..3000u64 {
        let what = ["write", "read", "trim", "sync"][(i % 4) as usize];
        let place = if what == "sync" { String::new() } else { format!(" {} 8192", mixed(i) % 1000 * 4096) };
        writeln!(text, "{} /f {what}{place}", i * 100).unwrap();
    }
    let trace = Trace::from_bytes("t", text.into_bytes(), &TraceOptions::of_format("fio")).unwrap();
    let fit = TraceFit::of(&trace, None, &mut |_| true).unwrap().unwrap();
    keeps_its_promises(&fit).unwrap();
    assert_eq!((fit.empty, fit.fitted.trims.requests), (750, 750));
    assert_eq!(fit.load.streams[TRIMS].trim_fraction, 1.0);
}

#[test]
fn as_many_writes_are_with_fua() {
    let rows = (0..4_000u64).map(|i| {
        format!("{i} {} {} 4096\n", ["R", "W", "W", "WF"][(i % 4) as usize], mixed(i) % 1_000 * 4096)
    });
    let options = TraceOptions { columns: "time op offset size".parse().ok(), ..TraceOptions::default() };
    let trace = Trace::from_bytes("t", rows.collect::<String>().into_bytes(), &options).unwrap();
    let fit = TraceFit::of(&trace, None, &mut |_| true).unwrap().unwrap();
    assert_eq!(
        (fit.load.streams[READS].fua_fraction, fit.load.streams[WRITES].fua_fraction),
        (0.0, 0.333333)
    );
}

#[test]
fn what_has_no_rate_is_refused() {
    let refusal = |text: &str| {
        let trace =
            Trace::from_bytes("t", text.as_bytes().to_vec(), &TraceOptions::of_format("msr")).unwrap();
        TraceFit::of(&trace, None, &mut |_| true).unwrap_err().to_string()
    };
    assert!(refusal("5,h,0,Read,0,9,1\n").contains("t: has no span"));
    assert!(refusal("5,h,0,Read,0,9,1\n5,h,0,Read,0,9,1\n").contains("t: has no span"));
    let text = "fio version 3 iolog\n0 /f add\n0 /f open\n5 /f sync\n9 /f sync\n";
    let trace = Trace::from_bytes("t", text.into(), &TraceOptions::of_format("fio")).unwrap();
    let refused = TraceFit::of(&trace, None, &mut |_| true).unwrap_err().to_string();
    assert!(refused.contains("t: has no request with bytes"), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever the mixture of sizes, places, runs and units.
    #[test]
    fn any_trace_keeps_its_bytes_and_its_footprint(
        seed in 0u64..1 << 40,
        rows in 2000u64..6000,
        reads in 0u64..=10,
        pages in prop::sample::select(vec![40u64, 700, 20_000, 5_000_000]),
        unit in prop::sample::select(vec![512u64, 4096]),
        run in prop::sample::select(vec![1u64, 3, 50]),
        longest in prop::sample::select(vec![1u64, 8, 64, 2000]),
    ) {
        let mut end = 0;
        let row = |i: u64| {
            let draw = |what: u64| mixed(seed ^ mixed(i * 8 + what));
            let is_read = draw(0) % 10 < reads;
            // Mostly short, some long.
            let size = (1 + draw(1) % (1 + draw(2) % longest)) * 4096 - if unit == 512 { draw(3) % 8 * 512 } else { 0 };
            let jumps = i.is_multiple_of(run);
            let offset = if jumps { draw(4) % pages * 4096 + draw(5) % 8 * 512 / unit * unit } else { end };
            end = offset + size;
            (i * 1000 + draw(6) % 1000, is_read, offset, size)
        };
        let fit = fitted((0..rows).map(row));
        if let Err(broken) = keeps_its_promises(&fit) {
            prop_assert!(false, "{broken}\n{:#?}\n{:#?}", fit.load, fit.trace);
        }
    }
}
