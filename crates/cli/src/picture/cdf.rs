//! (a) Response times, cumulative, on a logarithmic axis.

use harmonia_metrics::Report;

use super::axis::{self, LogTime, tick_label};
use super::canvas::{Anchor, Canvas, Frame};
use super::pen;
use crate::tables::label;

/// Draws the panel.
pub(super) fn draw(canvas: &mut Canvas, frame: Frame, runs: &[Report]) {
    axis::panel(canvas, &frame, 20.0, "(a) Response time of host requests");
    axis::shares(canvas, &frame, "requests at or below");
    let values = || runs.iter().flat_map(|run| &run.host.response_cdf).map(|&(ns, _)| ns);
    let (Some(low), Some(high)) = (values().min(), values().max()) else {
        let (x, y) = (frame.left + frame.width / 2.0, frame.top + frame.height / 2.0);
        canvas.text(x, y, Anchor::Middle, "soft", "no request completed");
        return;
    };
    let axis = LogTime::holding(low as f64, high as f64);
    for tick in axis.ticks() {
        let x = axis.x(tick, &frame);
        canvas.rule((x, frame.top), (x, frame.bottom()), "grid");
        canvas.text(x, frame.bottom() + 16.0, Anchor::Middle, "tick", &tick_label(tick));
    }
    let middle = frame.left + frame.width / 2.0;
    canvas.text(middle, frame.bottom() + 35.0, Anchor::Middle, "soft", "response time (logarithmic)");
    // The first run last: it is the one the others are held against.
    for (index, run) in runs.iter().enumerate().rev() {
        let points = steps(run, &axis, &frame);
        canvas.path(&points, pen(index).color, pen(index).dashes, 2.0, label(run));
    }
}

/// Between two points of a distribution the share stays what it was: steps, not slopes.
fn steps(run: &Report, axis: &LogTime, frame: &Frame) -> Vec<(f64, f64)> {
    let mut points = Vec::with_capacity(run.host.response_cdf.len() * 2 + 1);
    let mut share_before = 0.0;
    for &(ns, share) in &run.host.response_cdf {
        let x = axis.x(ns as f64, frame);
        points.extend([(x, frame.y(share_before)), (x, frame.y(share))]);
        share_before = share;
    }
    points
}
