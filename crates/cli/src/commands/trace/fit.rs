//! `harmonia trace fit`: a synthetic scenario with a trace's statistics, each key with what was measured.

use std::path::Path;

use harmonia_types::SimDuration;
use harmonia_types::units::{format_bytes, format_duration};
use harmonia_workload::trace::TraceFit;
use harmonia_workload::{AddressPattern, Arrival, SizeDistribution};

use super::info::seconds;
use super::{Session, bad_input};
use crate::args::{FitArguments, TraceReading};
use crate::failure::Failure;
use crate::interrupt;
use crate::numbers::{bytes, count};
use crate::output::Output;
use crate::tables::wrapped;

/// Characters a line of comment takes, its `# ` apart.
const COLUMNS: usize = 100;

/// Fits, and prints or writes the scenario.
pub(super) fn fit(
    reading: &TraceReading,
    arguments: &FitArguments,
    no_progress: bool,
    output: &Output,
) -> Result<(), Failure> {
    let session = Session::open(reading, no_progress, output)?;
    let file =
        arguments.out.as_deref().map(|out| session.create(reading, out, arguments.force)).transpose()?;
    let fit = session.reading(|trace, go_on| trace.fit_while(go_on)).map_err(bad_input)?;
    let fit = fit.ok_or(Failure::Interrupted)?;
    for warning in &fit.info.warnings {
        output.notice(&format!("warning: {warning}"));
    }
    let text = scenario(&fit, arguments.array_bytes);
    match file {
        Some(file) => {
            interrupt::check(session.cancel)?;
            file.write(&text)
        }
        None => output.data(&text),
    }
}

/// The scenario file.
fn scenario(fit: &TraceFit, array_bytes: Option<u64>) -> String {
    let info = &fit.info;
    let mut text = comment(&format!(
        "A synthetic load with statistics of {}: {} requests over {} s, read as {}.",
        printable(&info.file),
        count(info.rows),
        seconds(info.span_s),
        info.format
    ));
    text += "#\n";
    text += &comment(&format!(
        "Lost: every correlation (of a request with the one before it, of size or place with time or operation), \
         change over time, several peaks of one distribution, volumes{}.",
        lost_operations(fit)
    ));
    text += &format!("name = \"{}-fit\"\n\n[workload]\nkind = \"synthetic\"\n", stem(&info.file));
    text += &comment("As many as the trace has.");
    text += &format!("requests = {}\n", info.rows);
    text += &(arrival(fit) + &size(fit));
    text += &comment(&format!(
        "Reads among reads and writes: {} of {}.",
        count(info.operations.reads),
        count(info.operations.reads + info.operations.writes)
    ));
    text += &format!("read_fraction = {}\n", number(fit.read_fraction));
    text += &(address(fit, array_bytes) + &align(fit));
    text
}

fn lost_operations(fit: &TraceFit) -> String {
    let operations = &fit.info.operations;
    let lost = [(operations.trims, "trims"), (operations.flushes, "flushes")];
    let lost = lost.iter().filter(|(requests, _)| *requests > 0);
    lost.map(|(requests, name)| format!(", {} {name} (as reads and writes)", count(*requests))).collect()
}

fn arrival(fit: &TraceFit) -> String {
    let cv = fit.info.interarrival_cv.unwrap_or(0.0);
    let measured = format!("Gaps between arrivals: coefficient of variation {cv:.3}");
    match fit.arrival {
        Arrival::Fixed { rate } => {
            comment(&format!("{measured}: nearer to equal gaps (0) than to poisson (1)."))
                + &format!("arrival = {{ process = \"fixed\", rate = {} }}\n", number(rate))
        }
        Arrival::OnOff { rate, burst_rate, burst_length } => {
            comment(&format!(
                "{measured}: above poisson (1), in bursts that a gap longer than the mean ends; that of this process is {:.3}.",
                on_off_cv(rate, burst_rate, burst_length.into())
            )) + &format!(
                "arrival = {{ process = \"on-off\", rate = {}, burst_rate = {}, burst_length = {burst_length} }}\n",
                number(rate),
                number(burst_rate)
            )
        }
        Arrival::Poisson { rate } => {
            let why = match fit.info.spread_tick_ns {
                Some(tick_ns) => format!(
                    ", that of an even spread over {}: the clock ticks so slowly. Poisson (1) is assumed.",
                    format_duration(SimDuration(tick_ns))
                ),
                None => ": about that of poisson (1).".to_owned(),
            };
            comment(&(measured + &why))
                + &format!("arrival = {{ process = \"poisson\", rate = {} }}\n", number(rate))
        }
        // A trace does not say what it waited for, and its reads and writes are fitted together.
        Arrival::Closed { .. } | Arrival::WriteBursts { .. } => {
            unreachable!("a trace is fitted by an open process of all its requests")
        }
    }
}

/// The coefficient of variation of an on-off process: exponential gaps of two means.
fn on_off_cv(rate: f64, burst_rate: f64, burst_length: f64) -> f64 {
    let (mean, within) = (1.0 / rate, 1.0 / burst_rate);
    let between = burst_length * mean - (burst_length - 1.0) * within;
    let second = 2.0 * ((burst_length - 1.0) * within * within + between * between) / burst_length;
    (second / (mean * mean) - 1.0).max(0.0).sqrt()
}

fn size(fit: &TraceFit) -> String {
    let rounded = match (fit.size, fit.align) {
        (_, false) => "",
        (SizeDistribution::Fixed { mean }, _) if mean as f64 == fit.size_mean_bytes => "",
        (SizeDistribution::Fixed { .. }, _) => " The nearest whole page of 4 KiB.",
        _ => " Before rounding up to pages of 4 KiB, after which the mean is the measured one.",
    };
    let measured = format!(
        "Sizes: {:.0} bytes on average, coefficient of variation {:.3}",
        fit.size_mean_bytes, fit.size_cv
    );
    let (why, value) = match fit.size {
        SizeDistribution::Fixed { mean } => {
            ("nearly all alike", format!("distribution = \"fixed\", mean = \"{}\"", format_bytes(mean)))
        }
        SizeDistribution::Normal { mean, stddev } => (
            "narrower than exponential",
            format!(
                "distribution = \"normal\", mean = \"{}\", stddev = \"{}\"",
                format_bytes(mean),
                format_bytes(stddev)
            ),
        ),
        SizeDistribution::Exponential { mean } => (
            "about that of an exponential (1), or wider",
            format!("distribution = \"exponential\", mean = \"{}\"", format_bytes(mean)),
        ),
    };
    comment(&format!("{measured}: {why}.{rounded}")) + &format!("size = {{ {value} }}\n")
}

fn address(fit: &TraceFit, array_bytes: Option<u64>) -> String {
    let (info, heat) = (&fit.info, &fit.heat);
    let sample = if heat.sampled < 1.0 {
        format!(", in a sample of 1/{:.0}", 1.0 / heat.sampled)
    } else {
        String::new()
    };
    let measured = format!(
        "Sequential: {:.1}% (behind one of the last 32: {:.1}%). The hottest fifth of the {} extents in which requests start \
         has {:.1}% of the requests (uniform: 20%), the hottest 4% has {:.1}%; {:.1} requests each{sample}.",
        info.sequential_percent,
        info.near_sequential_percent,
        format_bytes(heat.extent_bytes),
        100.0 * heat.hottest_fifth,
        100.0 * heat.hottest_25th,
        heat.starts_per_extent
    );
    let pattern = match fit.address {
        AddressPattern::Uniform => "pattern = \"uniform\"".to_owned(),
        AddressPattern::Sequential => "pattern = \"sequential\"".to_owned(),
        AddressPattern::Zipf { theta } => format!("pattern = \"zipf\", theta = {}", number(theta)),
        AddressPattern::Hotspot { hot_space, hot_traffic } => {
            format!(
                "pattern = \"hotspot\", hot_space = {}, hot_traffic = {}",
                number(hot_space),
                number(hot_traffic)
            )
        }
        AddressPattern::Files(_) => unreachable!("a trace does not say where its files are"),
    };
    let touched = format!("Footprint: {} in distinct 4 KiB pages", bytes(info.footprint_bytes));
    let (note, footprint) = match array_bytes {
        None => (
            format!("{touched}; `footprint` would be its share of the array's logical size (--array-bytes)."),
            String::new(),
        ),
        Some(array) if info.footprint_bytes >= array => (
            format!("{touched}, more than an array of {} has: all of it.", bytes(array)),
            ", footprint = 1.0".to_owned(),
        ),
        Some(array) => {
            let share = (info.footprint_bytes as f64 / array as f64).max(1e-9);
            (
                format!("{touched}, on an array of {}.", bytes(array)),
                format!(", footprint = {}", number(share)),
            )
        }
    };
    comment(&measured) + &comment(&note) + &format!("address = {{ {pattern}{footprint} }}\n")
}

fn align(fit: &TraceFit) -> String {
    let why = match fit.whole_pages_miss() {
        true => " Not aligned all the same: a fixed size in whole pages would be off by more than 2%.",
        false => "",
    };
    comment(&format!("Begin and end on 4 KiB: {:.1}%.{why}", fit.info.aligned_percent))
        + &format!("align = {}\n", fit.align)
}

fn comment(text: &str) -> String {
    wrapped(text, COLUMNS).lines().map(|line| format!("# {line}\n")).collect()
}

/// Six significant digits, as TOML writes a float.
fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    format!("{rounded:?}")
}

/// A file's name without folders and extensions, in characters a name needs no escape for.
fn stem(file: &str) -> String {
    let first = file.split(" and ").next().unwrap_or(file);
    let name = Path::new(first).file_name().and_then(|name| name.to_str()).unwrap_or("trace");
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    let stem: String = stem.chars().take(100).map(plain).collect();
    if stem.is_empty() { "trace".to_owned() } else { stem }
}

/// Text that a comment may hold: no control characters.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_scenario::Scenario;
    use harmonia_workload::{Trace, TraceOptions};

    fn fitted(name: &str, row: impl Fn(u64) -> (u64, u64, u64)) -> TraceFit {
        let line = |i: u64| {
            let (time, offset, size) = row(i);
            let kind = if i.is_multiple_of(4) { "Write" } else { "Read" };
            format!("{time},h,0,{kind},{offset},{size},1\n")
        };
        let text: String = (0..4000).map(line).collect();
        let trace = Trace::from_bytes(name, text.into_bytes(), &TraceOptions::of_format("msr"));
        trace.expect("a trace").fit_while(&mut |_| true).expect("well formed").expect("not stopped")
    }

    fn accepted(text: &str) -> Scenario {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("fit.toml");
        std::fs::write(&path, text).expect("written");
        let scenario = Scenario::load(path.to_str().expect("UTF-8"), &[], None);
        scenario.unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn bursts_on_hot_pages_are_a_scenario_with_its_reasons() {
        // Forty requests 0.1 ms apart, then a second of silence; three in four go to the first of eight MiB.
        let fit = fitted("traces/we\"b.3.csv.gz", |i| {
            let offset = if i % 4 < 3 { i * 7919 % 256 * 4096 } else { (256 + i * 104_729 % 1792) * 4096 };
            (i / 40 * 10_000_000 + i % 40 * 1000, offset, 4096 + i * 31 % 5 * 4096)
        });
        let text = scenario(&fit, Some(1 << 30));
        insta::assert_snapshot!(text);
        accepted(&text);
    }

    #[test]
    fn every_kind_of_load_is_accepted_by_check() {
        let steady = fitted("t", |i| (i * 1000, i * 4096, 4096));
        let text = scenario(&steady, None);
        assert!(text.contains("process = \"fixed\"") && text.contains("pattern = \"sequential\""), "{text}");
        accepted(&text);
        let missed =
            fitted("t", |i| (i * 1000, i * 7919 % 9973 * 4096, if i % 5 < 2 { 17 << 10 } else { 16 << 10 }));
        let text = scenario(&missed, None);
        assert!(text.contains("Not aligned all the same") && text.contains("align = false"), "{text}");
        accepted(&text);
        let unaligned = fitted("t", |i| (i * 1000, i * 7919 % 9973 * 512, 512 + i * 31 % 97 * 100));
        let text = scenario(&unaligned, Some(4096));
        assert!(text.contains("footprint = 1.0") && text.contains("align = false"), "{text}");
        assert!(!text.contains("Not aligned"), "{text}");
        accepted(&text);
    }

    #[test]
    fn gaps_of_a_coarse_clock_are_assumed_to_be_poisson() {
        let text: String = (0..1000).map(|i| format!("{},{},8,0,1\n", i / 10, i * 8)).collect();
        let trace = Trace::from_bytes("t", text.into_bytes(), &TraceOptions::of_format("tencent"));
        let fit =
            trace.expect("a trace").fit_while(&mut |_| true).expect("well formed").expect("not stopped");
        let text = scenario(&fit, None);
        let unwrapped = text.replace("\n# ", " ");
        assert!(
            unwrapped.contains(
                "that of an even spread over 1s: the clock ticks so slowly. Poisson (1) is assumed."
            )
        );
        assert!(text.contains("process = \"poisson\""), "{text}");
        accepted(&text);
    }

    /// Closed forms at two ends.
    #[test]
    fn the_spread_of_an_on_off_process() {
        assert!((on_off_cv(1000.0, 1000.0, 10.0) - 1.0).abs() < 1e-12, "one mean: poisson");
        // One gap in two is 0, the other exponential of twice the mean: E[g^2] = 4, CV^2 = 3.
        assert!((on_off_cv(1.0, 1e300, 2.0) - 3f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn numbers_and_names_are_toml() {
        assert_eq!(
            [0.05279_f64, 47.0, 1_234_567.0, 1e-7].map(number),
            ["0.05279", "47.0", "1234570.0", "1e-7"]
        );
        assert_eq!(stem("a/b/web 3.csv.gz and 4 more"), "web-3");
    }
}
