use harmonia_scenario::Scenario;
use harmonia_trace::{Trace, TraceOptions};
use harmonia_workload::WorkloadConfig;

use super::check::{Check, Means};
use super::*;

/// Rows of (time in 100 ns, offset, size), every fourth a write.
fn fitted(name: &str, row: impl Fn(u64) -> (u64, u64, u64)) -> TraceFit {
    let line = |i: u64| {
        let (time, offset, size) = row(i);
        let kind = if i.is_multiple_of(4) { "Write" } else { "Read" };
        format!("{time},h,0,{kind},{offset},{size},1\n")
    };
    let text: String = (0..4000).map(line).collect();
    let trace = Trace::from_bytes(name, text.into_bytes(), &TraceOptions::of_format("msr"));
    TraceFit::of(&trace.expect("a trace"), None, &mut |_| true).expect("well formed").expect("not stopped")
}

/// Forty requests 0.1 ms apart, then a second of silence; three in four go to the first of eight MiB.
fn bursts() -> TraceFit {
    fitted("traces/we\"b.3.csv.gz", |i| {
        let offset = if i % 4 < 3 { i * 7919 % 256 * 4096 } else { (256 + i * 104_729 % 1792) * 4096 };
        (i / 40 * 10_000_000 + i % 40 * 1000, offset, 4096 + i * 31 % 5 * 4096)
    })
}

fn checked(trace: f64, fitted: f64) -> Checked {
    let means = |all| Means { all, read: Some(all), write: None };
    let array = "four small aged drives like tlc-nvme-1t (RAID-0)".to_owned();
    Checked::Ran(Check { array, requests: 1000, trace: means(trace), fitted: means(fitted) })
}

fn accepted(text: &str) -> Scenario {
    let scenario = Scenario::parse(text, "fit.toml", &[], None);
    scenario.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn bursts_on_hot_pages_are_a_scenario_with_its_figures() {
    let fit = bursts();
    let text = text::scenario(&fit, &checked(3.4e6, 1.9e6));
    insta::assert_snapshot!(text);
    let scenario = accepted(&text);
    // What was measured is what the file says: not another load that was rounded in writing.
    assert_eq!(scenario.workload, WorkloadConfig::Streams(fit.load));
    assert_eq!(scenario.seed, 1, "the seed of the load that was measured");
}

#[test]
fn every_kind_of_load_is_accepted_as_it_was_measured() {
    let steady = fitted("t", |i| (i * 1000, i * 4096, 4096));
    let wide = fitted("t", |i| (i * i, i * 7919 % 9973 * 512, 512 + i * 31 % 97 * 100));
    for fit in [steady, wide] {
        let text = text::scenario(&fit, &Checked::Not("as --no-check asks".into()));
        assert!(text.contains("were not compared: as --no-check asks."), "{text}");
        assert_eq!(accepted(&text).workload, WorkloadConfig::Streams(fit.load), "{text}");
    }
}

#[test]
fn response_times_are_warned_of_beyond_a_quarter() {
    let fit = bursts();
    let warning = |trace, fitted| checked(trace, fitted).warning(&fit);
    assert_eq!(warning(1.0e6, 1.25e6), None);
    assert_eq!(warning(1.0e6, 0.75e6), None);
    let text = warning(3.4e6, 1.9e6).expect("far off");
    let says = "the fitted load answers in 1.900 ms on average, the trace in 3.400 ms (0.56 of it). ";
    assert!(text.starts_with(says), "{text}");
    assert!(warning(1.0e6, 1.26e6).is_some());
}

#[test]
fn a_fit_that_is_off_is_warned_of() {
    let mut fit = bursts();
    assert_eq!(off(&fit), Vec::<String>::new());
    fit.fitted.writes.bytes = fit.trace.writes.bytes * 97 / 100;
    fit.fitted.footprint_bytes = fit.trace.footprint_bytes * 2;
    let warnings = off(&fit);
    assert_eq!(
        warnings,
        ["the bytes of the writes are 0.97 of the trace's", "the footprint of all is 2.00 of the trace's"]
    );
}
