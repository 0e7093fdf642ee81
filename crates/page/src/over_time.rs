//! What went on inside single SSDs over time: which are shown, and what is said of them.

use harmonia_metrics::{BandwidthReport, DeviceReport, OverTimeReport, Report};
use harmonia_tables::{label, numbers};
use serde_json::{Value, json};

use super::html::named;

/// Series held by a page, over all runs: each has some kilobytes.
const SERIES_MAX: usize = 256;
/// Below this ratio empty blocks are said to come and go alike.
const ALIKE: f64 = 1.1;
/// From this ratio on they hardly come and go under one of both, and the ratio says nothing.
const FAR: f64 = 100.0;

/// The SSDs whose series are on the page: as many of each of these runs, at least the first.
pub(super) fn shown(runs_on_page: usize, runs: &[Report]) -> usize {
    let most = runs.iter().map(|run| run.devices.len()).max().unwrap_or(0);
    (SERIES_MAX / runs_on_page.max(1)).clamp(1, most.max(1))
}

/// Whether there is nothing to show, as an attribute.
pub(super) fn hidden(runs: &[Report]) -> &'static str {
    if runs.iter().any(|run| run.devices.iter().any(has_series)) { "" } else { " hidden" }
}

fn has_series(device: &DeviceReport) -> bool {
    !device.over_time.empty_blocks.is_empty()
}

/// What the charts need of a run of one seed.
pub(super) fn encode(run: &Report, shown: usize) -> Value {
    let series = run.devices.iter().take(shown).map(|device| {
        let OverTimeReport { bucket_ns, channels_in_gc, empty_blocks, queue_depth, victims_erased, .. } =
            &device.over_time;
        json!({
            "width": bucket_ns, "channels": channels_in_gc, "empty": empty_blocks, "queue": queue_depth,
            "victims": victims_erased,
        })
    });
    let BandwidthReport { bucket_ns, bytes, .. } = &run.host.bandwidth;
    let mut all = json!({
        "length": run.simulated_ns, "ssds": series.collect::<Vec<_>>(), "host": {"width": bucket_ns, "bytes": bytes},
    });
    // A page without write caches is as it was before there were any.
    if has_cache(run) {
        let of_cache =
            run.devices.iter().map(|device| &device.over_time).filter(|over_time| is_cached(over_time));
        let caches = of_cache
            .map(|over_time| json!({"width": over_time.bucket_ns, "filled": over_time.write_cache_filled}));
        all["caches"] = caches.collect();
    }
    all
}

fn is_cached(over_time: &OverTimeReport) -> bool {
    !over_time.write_cache_filled.is_empty()
}

/// Whether its SSDs have write caches, and were watched.
pub(super) fn has_cache(run: &Report) -> bool {
    run.devices.iter().any(|device| is_cached(&device.over_time))
}

pub(super) fn caption(runs: &[Report], shown: usize) -> String {
    let all = runs.iter().map(|run| run.devices.len()).max().unwrap_or(0);
    let which = match shown < all {
        true => format!(" Shown are the first {shown} of {all} SSDs."),
        false => String::new(),
    };
    let caches = match runs.iter().any(has_cache) {
        true => {
            " The lanes of write caches show what share of their slots holds a page: the mean over all SSDs with a write cache, and the \
             fullest of them. SSDs that have failed and spares that wait are left out. A slot is held until the program of its page has ended. <b>A cache at 100% has no room, so writes wait.</b>"
        }
        false => "",
    };
    format!(
        "The lanes show means over short stretches of time: how much hosts read and write, how many channels of an SSD collect, how many of its blocks \
         are empty, how many page operations of the host wait or run there, and how many blocks it erases a second. A \
         block under collection counts as empty once it is erased. The axis of empty blocks does not begin at zero. \
         <b>A steady line of empty blocks means that garbage collection keeps pace. Drops and surges mean that it works \
         in bouts.</b>{caches}{which}"
    )
}

/// Under which run empty blocks come and go most unevenly, against the least.
pub(super) fn title(runs: &[Report]) -> String {
    let real = runs.iter().filter(|run| !run.is_ideal());
    let real: Vec<(&OverTimeReport, &Report)> =
        real.filter_map(|run| Some((&run.devices.first()?.over_time, run))).collect();
    let width = real.iter().map(|(over_time, _)| over_time.bucket_ns).max().unwrap_or(0);
    let mut uneven: Vec<(f64, &Report)> =
        real.iter().filter_map(|(over_time, run)| Some((deviation(over_time, width)?, *run))).collect();
    uneven.sort_by(|a, b| a.0.total_cmp(&b.0));
    match uneven.as_slice() {
        [(least, smooth), .., (most, rough)] if *least > 0.0 && most / least >= FAR => format!(
            "Empty blocks of SSD 0 come and go under {}, and hardly under {}",
            named(label(rough)),
            named(label(smooth))
        ),
        [(least, smooth), .., (most, rough)] if *least > 0.0 && most / least >= ALIKE => format!(
            "Empty blocks of SSD 0 come and go {} times as unevenly under {} as under {}",
            times(most / least),
            named(label(rough)),
            named(label(smooth))
        ),
        _ => "Inside an SSD over time".to_owned(),
    }
}

fn times(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}") } else { numbers::count(ratio.round() as u64) }
}

/// Of the rates at which empty blocks change, over stretches so wide.
fn deviation(over_time: &OverTimeReport, width: u64) -> Option<f64> {
    let by_width = &over_time.empty_blocks_change_variance_by_width;
    by_width.iter().find(|pair| pair.0 == width).map(|pair| pair.1.sqrt())
}
