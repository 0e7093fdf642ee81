//! Inside the devices over time, a row a run: only where a concurrency policy decides how many channels collect.
//!
//! Figures are over all devices and seeds of a run: means, but the fewest and the most of all.

use harmonia_metrics::{Comparison, OverTimeReport, Report};

use crate::numbers::{self, or_none};
use crate::{Style, Table, label, layout, titled};

const TITLE: &str = "Inside the devices over time";
const LEGEND: &str = "Channels: of a device, collecting at once. Uneven: how much the rate at which empty blocks come and go varies \
                      (its standard deviation), over stretches of time of one length for all runs. Queue: page operations of the \
                      host waiting or running at a device.";

/// The table; `None` where every die that wants to collect may.
pub(crate) fn section(comparison: &Comparison, means: &[Report], style: Style) -> Option<String> {
    if !means.iter().any(limits_concurrency) {
        return None;
    }
    let runs: Vec<Vec<&OverTimeReport>> = comparison.variants().map(devices).collect();
    let width = runs.iter().flatten().map(|device| device.bucket_ns).max().unwrap_or(0);
    let mut table = Table::new([
        "run",
        "channels",
        "most",
        "fewest empty",
        "uneven, blocks/s",
        "mean queue",
        "longest queue",
    ]);
    for (run, devices) in means.iter().zip(&runs) {
        let uneven = mean(devices, |device| variance(device, width)).map(f64::sqrt);
        table.push(vec![
            label(run).into(),
            or_none(mean(devices, |device| Some(channels(device))), |mean| format!("{mean:.2}")).into(),
            or_none(devices.iter().filter_map(|device| most_channels(device)).max(), |most| most.to_string())
                .into(),
            or_none(devices.iter().map(|device| device.empty_blocks_least).min(), numbers::count).into(),
            or_none(uneven, |rate| numbers::count(rate.round() as u64)).into(),
            or_none(mean(devices, |device| device.queue_depth_mean), |mean| format!("{mean:.1}")).into(),
            or_none(devices.iter().map(|device| device.queue_depth_max).max(), numbers::count).into(),
        ]);
    }
    Some(titled(TITLE, &table, style) + &layout::wrapped(LEGEND, style.columns))
}

fn limits_concurrency(run: &Report) -> bool {
    let policy = run.scenario.pointer("/ssd/gc/concurrency/policy").and_then(serde_json::Value::as_str);
    policy.is_some_and(|policy| policy != "unlimited")
}

fn devices(seeds: &[Report]) -> Vec<&OverTimeReport> {
    let devices = seeds.iter().flat_map(|run| &run.devices).map(|device| &device.over_time);
    devices.filter(|device| !device.empty_blocks.is_empty()).collect()
}

fn mean(devices: &[&OverTimeReport], of: impl Fn(&OverTimeReport) -> Option<f64>) -> Option<f64> {
    let sum = devices.iter().map(|device| of(device)).sum::<Option<f64>>()?;
    (!devices.is_empty()).then(|| sum / devices.len() as f64)
}

fn channels(device: &OverTimeReport) -> f64 {
    (0..).zip(&device.channels_in_gc_fraction).map(|(channels, share)| f64::from(channels) * share).sum()
}

fn most_channels(device: &OverTimeReport) -> Option<usize> {
    device.channels_in_gc_fraction.iter().rposition(|share| *share > 0.0)
}

fn variance(device: &OverTimeReport, width: u64) -> Option<f64> {
    let by_width = &device.empty_blocks_change_variance_by_width;
    by_width.iter().find(|pair| pair.0 == width).map(|pair| pair.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;
    use crate::fixtures::run;

    const STYLE: Style = Style { columns: 120, color: Color(false) };

    fn watched(policy: &str, queue: u64) -> Report {
        let mut run = run(policy, "blocking", 10, 5, &[0.9, 0.1]);
        run.scenario["ssd"]["gc"]["concurrency"] = serde_json::json!({"policy": policy});
        let watched = OverTimeReport {
            bucket_ns: 16_384,
            empty_blocks: vec![50.0],
            channels_in_gc_fraction: vec![0.25, 0.5, 0.25, 0.0],
            empty_blocks_least: 41,
            empty_blocks_change_variance_by_width: vec![(16_384, 400.0)],
            queue_depth_mean: Some(2.5),
            queue_depth_max: queue,
            ..OverTimeReport::default()
        };
        run.devices.iter_mut().for_each(|device| device.over_time = watched.clone());
        run.devices[1].over_time.empty_blocks_least = 7;
        run
    }

    fn shown(runs: Vec<Report>) -> Option<String> {
        let comparison = Comparison { runs, ..Comparison::default() };
        section(&comparison, &comparison.runs, STYLE)
    }

    #[test]
    fn policies_of_concurrency_stand_side_by_side() {
        let text = shown(vec![watched("unlimited", 1_700), watched("adaptive", 12)]).expect("one limits");
        let row = |name: &str| {
            text.lines()
                .find(|line| line.contains(name))
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        assert_eq!(row("unlimited").as_deref(), Some("unlimited 1.00 2 7 20 2.5 1,700"));
        assert_eq!(row("adaptive").as_deref(), Some("adaptive 1.00 2 7 20 2.5 12"));
    }

    #[test]
    fn nothing_is_said_where_every_die_may_collect() {
        assert_eq!(shown(vec![watched("unlimited", 1), run("local", "blocking", 1, 1, &[1.0])]), None);
    }
}
