//! (b) Where the mean response time went: a stacked bar for each run.

use harmonia_metrics::Report;

use super::axis::{self, linear_steps};
use super::canvas::{Anchor, Canvas, Frame};
use super::shortened;
use crate::numbers;
use crate::tables::{PARTS, label};

/// Okabe and Ito's colours and greys, in the order of [`PARTS`]; garbage collection is the one that stands out.
const COLORS: [&str; PARTS.len()] =
    ["#56B4E9", "#999999", "#C7C7C7", "#F0E442", "#E69F00", "#CC79A7", "#009E73"];

/// Draws the panel.
pub(super) fn draw(canvas: &mut Canvas, frame: Frame, runs: &[Report]) {
    axis::panel(canvas, &frame, 20.0, "(b) Where the mean response time went");
    let longest = runs.iter().map(|run| mean_ms(run.host.blame_ns.total(), run)).fold(0.0, f64::max);
    let (step, steps) = linear_steps(longest);
    let high = step * steps as f64;
    for tick in 0..=steps {
        let value = step * tick as f64;
        let x = frame.left + value / high * frame.width;
        canvas.rule((x, frame.top), (x, frame.bottom()), "grid");
        canvas.text(x, frame.bottom() + 16.0, Anchor::Middle, "tick", &tick_text(value, step));
    }
    let middle = frame.left + frame.width / 2.0;
    canvas.text(middle, frame.bottom() + 35.0, Anchor::Middle, "soft", "mean of a request (ms)");
    let row = frame.height / runs.len().max(1) as f64;
    for (index, run) in runs.iter().enumerate() {
        let top = frame.top + row * index as f64;
        let bar = Frame { top: top + row * 0.2, height: row * 0.6, ..frame };
        stacked(canvas, bar, high, run);
        canvas.text(frame.left - 8.0, top + row / 2.0 + 4.0, Anchor::End, "tick", &shortened(label(run), 20));
    }
    legend(canvas, 20.0, frame.bottom() + 58.0, runs);
}

fn stacked(canvas: &mut Canvas, bar: Frame, high: f64, run: &Report) {
    let mut left = bar.left;
    for ((name, meaning, part), color) in PARTS.iter().zip(COLORS) {
        let mean = mean_ms(part(&run.host.blame_ns), run);
        let width = mean / high * bar.width;
        if width > 0.0 {
            let about = format!("{}: {name} {} ms ({meaning})", label(run), numbers::ms(mean * 1e6));
            canvas.bar(Frame { left, width, ..bar }, color, 1.0, &about);
        }
        left += width;
    }
}

/// Names of the parts that occur, in rows of five.
fn legend(canvas: &mut Canvas, left: f64, top: f64, runs: &[Report]) {
    let occurs = |part: fn(&_) -> u128| runs.iter().any(|run| part(&run.host.blame_ns) > 0);
    let present = PARTS.iter().zip(COLORS).filter(|((_, _, part), _)| occurs(*part));
    for (index, ((name, _, _), color)) in present.enumerate() {
        let x = left + (index % 5) as f64 * 88.0;
        let y = top + (index / 5) as f64 * 19.0;
        canvas.bar(Frame { left: x, top: y - 9.0, width: 11.0, height: 11.0 }, color, 1.0, "");
        canvas.text(x + 17.0, y + 1.0, Anchor::Start, "tick", name);
    }
}

fn mean_ms(part: u128, run: &Report) -> f64 {
    if run.host.requests == 0 { 0.0 } else { part as f64 / run.host.requests as f64 / 1e6 }
}

fn tick_text(value: f64, step: f64) -> String {
    let decimals = if step >= 1.0 && step.fract() == 0.0 {
        0
    } else {
        (1.0 - step.log10().floor()).clamp(1.0, 6.0) as usize
    };
    let text = format!("{value:.decimals$}");
    if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_say_as_much_as_their_step() {
        assert_eq!(
            [(0.0, 2.0), (4.0, 2.0), (2.5, 2.5), (0.3, 0.1), (20.0, 10.0)].map(|(v, s)| tick_text(v, s)),
            ["0", "4", "2.5", "0.3", "20"]
        );
    }
}
