//! Axes: where the ticks go and what they say.

use super::canvas::{Anchor, Canvas, Frame};

/// A horizontal axis of durations, logarithmic, from one round number to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogTime {
    low_log: f64,
    high_log: f64,
}

impl LogTime {
    /// The axis that holds these nanoseconds, widened to 1, 2 or 5 times a power of ten.
    pub(super) fn holding(low_ns: f64, high_ns: f64) -> Self {
        let low = round_numbers().take_while(|&round| round <= low_ns).last().unwrap_or(1.0);
        let high = round_numbers().find(|&round| round >= high_ns && round > low).unwrap_or(low * 10.0);
        LogTime { low_log: low.log10(), high_log: high.log10() }
    }

    /// Where on the frame a duration lies.
    pub(super) fn x(&self, ns: f64, frame: &Frame) -> f64 {
        let share = (ns.max(1.0).log10() - self.low_log) / (self.high_log - self.low_log);
        frame.left + share.clamp(0.0, 1.0) * frame.width
    }

    /// Ticks in nanoseconds: powers of ten, and between them 2 and 5 where there is room.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let inside =
            |round: &f64| round.log10() >= self.low_log - 1e-9 && round.log10() <= self.high_log + 1e-9;
        let all: Vec<f64> = round_numbers().filter(inside).collect();
        if all.len() <= 13 {
            return all;
        }
        all.into_iter().filter(|tick| (tick.log10() - tick.log10().round()).abs() < 1e-9).collect()
    }
}

/// 1, 2, 5, 10, 20, 50, .. nanoseconds, to some 30 years.
fn round_numbers() -> impl Iterator<Item = f64> {
    (0..18).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)))
}

/// A duration on a tick: "500 us", "1 ms", "20 s".
pub(super) fn tick_label(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.0} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.0} ms", ns / 1e6),
        ns => format!("{:.0} s", ns / 1e9),
    }
}

/// A round step that divides `high` into at most five, and the end of the axis.
pub(super) fn linear_steps(high: f64) -> (f64, usize) {
    let raw = (high / 5.0).max(1e-9);
    let magnitude = 10f64.powi(raw.log10().floor() as i32);
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|digit| digit * magnitude)
        .into_iter()
        .find(|step| *step >= raw * 0.999_999);
    let step = step.unwrap_or(magnitude * 10.0);
    (step, (high / step * 0.999_999).ceil().max(1.0) as usize)
}

/// The vertical axis of a share: 0% to 100%.
pub(super) fn shares(canvas: &mut Canvas, frame: &Frame, title: &str) {
    for quarter in 0..=4 {
        let share = f64::from(quarter) / 4.0;
        let y = frame.y(share);
        canvas.rule((frame.left, y), (frame.right(), y), "grid");
        canvas.text(frame.left - 6.0, y + 4.0, Anchor::End, "tick", &format!("{:.0}%", share * 100.0));
    }
    canvas.text_upwards(frame.left - 44.0, frame.top + frame.height / 2.0, "soft", title);
}

/// The name of a panel and the two lines it stands on.
pub(super) fn panel(canvas: &mut Canvas, frame: &Frame, title_left: f64, title: &str) {
    canvas.rule((frame.left, frame.bottom()), (frame.right(), frame.bottom()), "axis");
    canvas.rule((frame.left, frame.top), (frame.left, frame.bottom()), "axis");
    canvas.text(title_left, frame.top - 12.0, Anchor::Start, "panel", title);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_ends_at_round_numbers() {
        let axis = LogTime::holding(1_900_000.0, 61_000_000.0);
        assert_eq!(axis.ticks().first().map(|&tick| tick_label(tick)).as_deref(), Some("1 ms"));
        assert_eq!(axis.ticks().last().map(|&tick| tick_label(tick)).as_deref(), Some("100 ms"));
        let frame = Frame { left: 10.0, top: 0.0, width: 100.0, height: 1.0 };
        assert!((axis.x(10e6, &frame) - 60.0).abs() < 1e-9, "10 ms lies half way between 1 and 100 ms");
    }

    #[test]
    fn one_value_still_has_an_axis_and_six_decades_have_few_ticks() {
        assert!(LogTime::holding(1000.0, 1000.0).ticks().len() >= 2);
        assert_eq!(LogTime::holding(1.0, 1e9).ticks().len(), 10);
    }

    #[test]
    fn linear_steps_are_round_and_few() {
        assert_eq!(linear_steps(8.3), (2.0, 5));
        assert_eq!(linear_steps(10.0), (2.0, 5));
        assert_eq!(linear_steps(0.47), (0.1, 5));
        assert!(linear_steps(0.0).1 >= 1);
    }
}
