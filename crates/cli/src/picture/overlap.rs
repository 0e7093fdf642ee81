//! (c) For how much of the time k devices collect at once: a group of bars for each k.

use harmonia_metrics::Report;

use super::axis;
use super::canvas::{Anchor, Canvas, Frame};
use super::{WIDTH, pen};
use crate::numbers;
use crate::tables::label;

/// Share of a group's width that is left empty.
const GAP: f64 = 0.25;
/// Ticks closer than this run into one another, in pixels.
const TICK_DISTANCE_MIN: f64 = 18.0;
/// A share above zero is always visible, in pixels.
const BAR_MIN: f64 = 1.0;

/// Draws the panel.
pub(super) fn draw(canvas: &mut Canvas, frame: Frame, runs: &[Report]) {
    axis::panel(canvas, &frame, WIDTH / 2.0 + 16.0, "(c) Devices in garbage collection at once");
    axis::shares(canvas, &frame, "share of time");
    let groups = runs.iter().map(|run| run.array.devices_in_gc_fraction.len()).max().unwrap_or(0);
    let group = frame.width / groups.max(1) as f64;
    let bar = group * (1.0 - GAP) / runs.len().max(1) as f64;
    let every = (TICK_DISTANCE_MIN / group).ceil().max(1.0) as usize;
    for devices in 0..groups {
        let left = frame.left + group * devices as f64;
        if devices % every == 0 {
            let middle = left + group / 2.0;
            canvas.text(middle, frame.bottom() + 16.0, Anchor::Middle, "tick", &devices.to_string());
        }
        for (index, run) in runs.iter().enumerate() {
            let share = run.array.devices_in_gc_fraction.get(devices).copied().unwrap_or(0.0);
            if share > 0.0 {
                let height = (share.min(1.0) * frame.height).max(BAR_MIN);
                let bar_left = left + group * GAP / 2.0 + bar * index as f64;
                let about = format!(
                    "{}: {devices} in garbage collection {} of the time",
                    label(run),
                    numbers::percent(share)
                );
                let place = Frame { left: bar_left, top: frame.bottom() - height, width: bar, height };
                canvas.bar(place, pen(index).color, opacity(index), &about);
            }
        }
    }
    let middle = frame.left + frame.width / 2.0;
    canvas.text(middle, frame.bottom() + 35.0, Anchor::Middle, "soft", "devices collecting");
    canvas.text(middle, frame.bottom() + 59.0, Anchor::Middle, "tick", "colours as in (a)");
}

/// Bars have no dashes: runs that share a colour differ by how full it is.
fn opacity(run: usize) -> f64 {
    1.0 - 0.3 * (run / super::RUN_COLORS.len() % super::DASHES.len()) as f64
}
