//! Several seeds: one row a variant, each figure the mean over its seeds, and what changes seed by seed.

use harmonia_metrics::{
    Comparison, DistributionSummary, FailuresReport, InsideReport, Interval, Intervals, MetGcReport,
    MetReport, Method, PerMetric, PhaseResponse, PhaseResponses, QueueDepthReport, Report, Versus,
};
use harmonia_types::Counters;

use crate::numbers::{self, NONE};
use crate::{Cell, Style, Table, headline, headline_with, layout, titled};

/// Follows a change that chance may explain.
pub(crate) const NOT_SIGNIFICANT: &str = "n.s.";

/// One report a variant, which holds means over its seeds where tables look; with one seed its report.
pub fn means(comparison: &Comparison) -> Vec<Report> {
    comparison.variants().map(mean_of).collect()
}

fn mean_of(seeds: &[Report]) -> Report {
    let mut mean = seeds[0].clone();
    if seeds.len() == 1 {
        return mean;
    }
    let n = seeds.len() as f64;
    let average = |of: &dyn Fn(&Report) -> Option<f64>| -> Option<f64> {
        seeds.iter().map(of).sum::<Option<f64>>().map(|sum| sum / n)
    };
    let whole = |of: &dyn Fn(&Report) -> Option<u64>| {
        average(&|run| of(run).map(|value| value as f64)).map(|mean| mean.round() as u64)
    };
    let count = |of: &dyn Fn(&Report) -> u64| whole(&|run| Some(of(run))).unwrap_or_default();
    mean.simulated_ns = count(&|run| run.simulated_ns);
    mean.host.requests = count(&|run| run.host.requests);
    mean.host.warmup_requests = count(&|run| run.host.warmup_requests);
    mean.host.warmup_bytes = count(&|run| run.host.warmup_bytes);
    mean.host.response_ns.all = DistributionSummary {
        count: mean.host.requests,
        mean: average(&|run| run.host.response_ns.all.mean),
        stddev: average(&|run| run.host.response_ns.all.stddev),
        p50: whole(&|run| run.host.response_ns.all.p50),
        p95: whole(&|run| run.host.response_ns.all.p95),
        p99: whole(&|run| run.host.response_ns.all.p99),
        p999: whole(&|run| run.host.response_ns.all.p999),
        p9999: whole(&|run| run.host.response_ns.all.p9999),
        ..mean.host.response_ns.all
    };
    let parts = [
        (&mut mean.host.response_ns.read, (|run| &run.host.response_ns.read) as SummaryOf),
        (&mut mean.host.response_ns.gc_affected_read, |run| &run.host.response_ns.gc_affected_read),
        (&mut mean.host.response_ns.gc_affected_write, |run| &run.host.response_ns.gc_affected_write),
        (&mut mean.host.response_ns.met_gc_read, |run| &run.host.response_ns.met_gc_read),
        (&mut mean.host.response_ns.met_gc_write, |run| &run.host.response_ns.met_gc_write),
    ];
    for (summary, of) in parts {
        summary.count = count(&|run| of(run).count);
        summary.mean = average(&|run| of(run).mean);
        summary.p99 = whole(&|run| of(run).p99);
    }
    mean.host.deadlines = mean_if_any(seeds, |run| run.host.deadlines.as_ref());
    mean.host.read_requests = count(&|run| run.host.read_requests);
    mean.host.write_requests = count(&|run| run.host.write_requests);
    mean.host.blame_ns = Counters::mean(seeds.iter().map(|run| &run.host.blame_ns));
    mean.host.blame_phases_ns = Counters::mean(seeds.iter().map(|run| &run.host.blame_phases_ns));
    for (member, device) in mean.devices.iter_mut().enumerate() {
        let same = seeds.iter().filter_map(|run| run.devices.get(member));
        device.gc_waits = Counters::mean(same.map(|device| &device.gc_waits));
    }
    mean.array.erases = count(&|run| run.array.erases);
    mean.array.read_modify_write_reads = count(&|run| run.array.read_modify_write_reads);
    mean.array.write_amplification = average(&|run| run.array.write_amplification);
    mean.array.write_amplification_whole_cycles = average(&|run| run.array.write_amplification_whole_cycles);
    mean.array.plane_utilisation_in_gc = average(&|run| run.array.plane_utilisation_in_gc);
    mean.array.inside = inside(seeds);
    mean.array.redundancy = mean_if_any(seeds, |run| run.array.redundancy.as_ref());
    mean.array.reconstruct = mean_if_any(seeds, |run| run.array.reconstruct.as_ref());
    mean.array.stripe_cache = mean_if_any(seeds, |run| run.array.stripe_cache.as_ref());
    mean.array.bounds = mean_if_any(seeds, |run| run.array.bounds.as_ref());
    mean.array.nvram = mean_if_any(seeds, |run| run.array.nvram.as_ref());
    mean.array.bitmap = mean_if_any(seeds, |run| run.array.bitmap.as_ref());
    if let Some(failures) = &mut mean.array.failures {
        *failures = failing(seeds, failures);
    }
    for (devices, share) in mean.array.devices_in_gc_fraction.iter_mut().enumerate() {
        let of = |run: &Report| run.array.devices_in_gc_fraction.get(devices).copied();
        *share = average(&of).unwrap_or_default();
    }
    mean.precondition.steady = seeds.iter().all(|run| run.precondition.steady);
    for (window, ratio) in mean.precondition.write_amplification_windows.iter_mut().enumerate() {
        *ratio = average(&|run| run.precondition.write_amplification_windows[window]);
    }
    mean
}

/// Each number a mean over the seeds, of which those without the section have zeros; `None` if the first seed has none.
fn mean_if_any<T: Counters>(seeds: &[Report], of: fn(&Report) -> Option<&T>) -> Option<T> {
    of(&seeds[0])?;
    let nothing = T::default();
    Some(T::mean(seeds.iter().map(|run| of(run).unwrap_or(&nothing))))
}

/// Failures: what befell members of the first seed, and means of what requests felt of it over all.
fn failing(seeds: &[Report], first: &FailuresReport) -> FailuresReport {
    let all = || seeds.iter().filter_map(|run| run.array.failures.as_ref());
    let summary = |of: &dyn Fn(&PhaseResponses) -> &DistributionSummary| {
        let each = || all().map(|failures| of(&failures.response_ns));
        // A seed without such requests says nothing about their mean.
        let mean =
            |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        DistributionSummary {
            count: average(seeds, &|run| {
                run.array.failures.as_ref().map_or(0, |failures| of(&failures.response_ns).count)
            }),
            mean: mean(each().filter_map(|summary| summary.mean).collect()),
            p99: mean(each().filter_map(|summary| summary.p99.map(|ns| ns as f64)).collect())
                .map(|ns| ns.round() as u64),
            ..DistributionSummary::default()
        }
    };
    let phase = |of: fn(&PhaseResponses) -> &PhaseResponse| PhaseResponse {
        seconds: all().map(|failures| of(&failures.response_ns).seconds).sum::<f64>() / seeds.len() as f64,
        read: summary(&|responses| &of(responses).read),
        write: summary(&|responses| &of(responses).write),
    };
    FailuresReport {
        response_ns: PhaseResponses {
            whole: phase(|responses| &responses.whole),
            copying: phase(|responses| &responses.copying),
            degraded: phase(|responses| &responses.degraded),
            rebuilding: phase(|responses| &responses.rebuilding),
        },
        ..first.clone()
    }
}

/// The mean of a count over the seeds, rounded.
fn average(seeds: &[Report], of: &dyn Fn(&Report) -> u64) -> u64 {
    (seeds.iter().map(|run| of(run) as f64).sum::<f64>() / seeds.len() as f64).round() as u64
}

/// One distribution of a run.
type SummaryOf = fn(&Report) -> &DistributionSummary;

/// What happened inside the dies, a mean of each count over the seeds; of queues the longest of all.
fn inside(seeds: &[Report]) -> InsideReport {
    let n = seeds.len() as f64;
    let of = || seeds.iter().map(|run| &run.array.inside);
    let count = |sum: u64| (sum as f64 / n).round() as u64;
    let depths = || of().map(|inside| inside.queue_depth_at_gc);
    let met = |of_kind: fn(&MetGcReport) -> MetReport| {
        let all = || of().filter_map(|inside| inside.met_gc.as_ref()).map(of_kind);
        let means: Vec<f64> = all().filter_map(|met| met.mean_ns).collect();
        let mean_ns = (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64);
        MetReport { count: count(all().map(|met| met.count).sum()), mean_ns }
    };
    InsideReport {
        pairing: mean_if_any(seeds, |run| run.array.inside.pairing.as_ref()),
        counts: Counters::mean(of().map(|inside| &inside.counts)),
        queue_depth_at_gc: QueueDepthReport {
            mean: depths().map(|depth| depth.mean).sum::<Option<f64>>().map(|sum| sum / n),
            max: depths().filter_map(|depth| depth.max).max(),
        },
        write_cache: mean_if_any(seeds, |run| run.array.inside.write_cache.as_ref()),
        mapping_cache: mean_if_any(seeds, |run| run.array.inside.mapping_cache.as_ref()),
        met_gc: of().any(|inside| inside.met_gc.is_some()).then(|| MetGcReport {
            own_reads: met(|met| met.own_reads),
            own_writes: met(|met| met.own_writes),
            sibling_reads: met(|met| met.sibling_reads),
            sibling_writes: met(|met| met.sibling_writes),
        }),
    }
}

/// What all runs have in common, seeds included.
pub fn heading(comparison: &Comparison, means: &[Report]) -> String {
    let more = comparison.variants().next().map_or(0, |seeds| seeds.len() as u64 - 1);
    let text = match more {
        0 => headline(means),
        _ => headline_with(means, |run| format!("seeds {} to {}", run.seed, run.seed + more)),
    };
    text + "\n"
}

/// What one figure of a variant changes.
type ChangeOf = fn(&PerMetric<Option<Versus>>) -> Option<Versus>;

/// What every figure but the mean changes against the baseline; `None` with one seed, which cannot say.
pub(crate) fn changes(comparison: &Comparison, style: Style) -> Option<String> {
    const FIGURES: [(&str, ChangeOf); 5] = [
        ("stddev", |versus| versus.stddev),
        ("p99", |versus| versus.p99),
        ("erases", |versus| versus.erases),
        ("write amp", |versus| versus.write_amplification_whole_cycles),
        ("GC-affected", |versus| versus.gc_affected),
    ];
    let intervals = &comparison.intervals;
    if intervals.method != Method::Replications || intervals.variants.len() < 2 {
        return None;
    }
    let mut table = Table::new(["run"].into_iter().chain(FIGURES.map(|(name, _)| name)));
    let columns = FIGURES.map(|(_, figure)| {
        let versus = |row: usize| intervals.variants[row].versus_baseline.as_ref().and_then(figure);
        aligned((1..intervals.variants.len()).map(|row| change(versus(row).as_ref())).collect())
    });
    for (row, variant) in intervals.variants[1..].iter().enumerate() {
        let cells = columns.iter().map(|column| Cell::from(column[row].clone()));
        table.push(std::iter::once(Cell::from(variant.label.clone())).chain(cells).collect());
    }
    Some(titled(&format!("Change against {}, seed by seed", intervals.baseline), &table, style))
}

/// A number and what stands behind it.
pub type Qualified = (String, String);

/// A change in per cent, its half-width, and whether it may be chance.
pub fn change(versus: Option<&Versus>) -> Qualified {
    let Some(relative) = versus.and_then(|versus| versus.relative) else {
        return (NONE.to_owned(), String::new());
    };
    let text = numbers::change(1.0 + relative.mean, 1.0).unwrap_or_else(|| NONE.to_owned());
    let mut behind = relative
        .half_width
        .map_or_else(String::new, |half_width| numbers::plus_minus(half_width * 100.0, &text));
    if versus.and_then(|versus| versus.significant) == Some(false) {
        behind = format!("{behind} {NOT_SIGNIFICANT}");
    }
    (text, behind)
}

/// Milliseconds and their half-width.
pub(crate) fn ms(ns: Option<f64>, interval: Option<&Interval>) -> Qualified {
    let Some(ns) = ns else { return (NONE.to_owned(), String::new()) };
    let text = numbers::ms(ns);
    let half_width = interval.and_then(|interval| interval.half_width);
    let behind = half_width.map_or_else(String::new, |ns| numbers::plus_minus(ns / 1e6, &text));
    (text, behind)
}

/// One column's cells, the numbers under one another and what stands behind them too.
pub(crate) fn aligned(cells: Vec<Qualified>) -> Vec<String> {
    let width = cells.iter().map(|(_, behind)| behind.chars().count()).max().unwrap_or(0);
    let gap = usize::from(width > 0);
    cells.into_iter().map(|(text, behind)| format!("{text}{:gap$}{behind:<width$}", "")).collect()
}

/// Where the intervals come from, and what the marks mean.
pub(crate) fn legend(intervals: &Intervals, style: Style) -> String {
    let Some(first) = intervals.variants.first() else { return String::new() };
    let has = |interval: &Option<Interval>| interval.is_some_and(|interval| interval.half_width.is_some());
    let mean_of = |versus: &PerMetric<Option<Versus>>| versus.mean;
    let changes: Vec<Versus> = intervals
        .variants
        .iter()
        .filter_map(|variant| variant.versus_baseline.as_ref().and_then(mean_of))
        .collect();
    let paired = changes.iter().all(|versus| versus.paired);
    let mut text = String::new();
    match intervals.method {
        Method::Replications => text.push_str(&format!(
            "Means over {} seeds, each with an aged array of its own. \u{b1}: half of a 95% confidence interval, from \
             the spread between seeds",
            first.seeds.len()
        )),
        Method::BatchMeans if intervals.variants.iter().any(|variant| has(&variant.metrics.mean)) => {
            text.push_str("\u{b1}: half of a 95% confidence interval, from batches of requests of one seed");
        }
        Method::BatchMeans => return String::new(),
    }
    match (changes.is_empty(), paired, intervals.method) {
        (true, _, _) => text.push('.'),
        (false, true, Method::Replications) => text.push_str("; changes from pairs of the same seed."),
        (false, true, Method::BatchMeans) => text.push_str("; changes from pairs of the same requests."),
        (false, false, _) => text.push_str("; not all changes from pairs."),
    }
    if !changes.is_empty() {
        text.push_str(&format!(
            " Intervals of changes are wider, so that all of them hold together. {NOT_SIGNIFICANT}: the difference may be \
             chance."
        ));
    }
    layout::wrapped(&text, style.columns)
}
