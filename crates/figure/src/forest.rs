//! Claims of one unit, one a row: the accepted range as a band, the measurement as a dot with its interval.
//!
//! ```text
//!   response-hpc-w   |          [==o==]
//!   response-hpc-r   |     [=====o===]
//!                    0        40       80 %
//! ```

use crate::axis::{Axis, Scale, tick_text};
use crate::canvas::{Anchor, Canvas, Frame};
use crate::palette::{SKY, VERMILION};
use crate::sheet::RESULTS;

const WIDTH: f64 = 860.0;
const ROW: f64 = 34.0;
const BAND: &str = SKY;
const MEASURED: &str = VERMILION;

/// Claims to be drawn.
#[derive(Debug, Clone)]
pub struct Forest {
    /// What it shows.
    pub title: String,
    /// The unit of all claims.
    pub x_title: String,
    /// Value of no effect.
    pub no_effect: f64,
    /// One claim each.
    pub rows: Vec<Row>,
}

/// One claim.
#[derive(Debug, Clone)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// What is accepted; an end may be open.
    pub accepted: (f64, f64),
    /// What the runs show: the mean between the ends of its interval; `None` without runs.
    pub measured: Option<[f64; 3]>,
    /// The verdict, in words.
    pub verdict: String,
}

impl Forest {
    /// Draws it.
    pub fn draw(&self) -> String {
        let height = 120.0 + ROW * self.rows.len() as f64;
        let mut canvas = Canvas::new(&RESULTS, WIDTH, height, &self.title);
        canvas.text(20.0, 28.0, Anchor::Start, "title", &self.title);
        let frame = Frame { left: 215.0, top: 50.0, width: 495.0, height: height - 120.0 };
        let values = self.rows.iter().flat_map(|row| {
            let measured = row.measured.into_iter().flat_map(|[low, _, high]| [low, high]);
            [row.accepted.0, row.accepted.1].into_iter().chain(measured).filter(|value| value.is_finite())
        });
        let axis = Axis::holding(values.chain([self.no_effect]), Scale::FromZero);
        let x = |value: f64| frame.left + axis.share(value) * frame.width;
        for &tick in &axis.ticks {
            canvas.rule((x(tick), frame.top), (x(tick), frame.bottom()), "grid", "");
            canvas.text(x(tick), frame.bottom() + 17.0, Anchor::Middle, "tick", &tick_text(tick));
        }
        canvas.rule((x(self.no_effect), frame.top), (x(self.no_effect), frame.bottom()), "axis", "");
        canvas.rule((frame.left, frame.bottom()), (frame.right(), frame.bottom()), "axis", "");
        for (index, row) in self.rows.iter().enumerate() {
            let y = frame.top + ROW * (index as f64 + 0.5);
            canvas.text(frame.left - 10.0, y + 4.0, Anchor::End, "label", &row.name);
            let (low, high) = (x(row.accepted.0.max(f64::MIN)), x(row.accepted.1.min(f64::MAX)));
            let band = Frame { left: low, top: y - 8.0, width: (high - low).max(1.0), height: 16.0 };
            canvas.bar(band, BAND, 0.45, "accepted");
            if let Some([low, mean, high]) = row.measured {
                canvas.line((x(low), y), (x(high), y), MEASURED, "", 2.5);
                canvas.disc(x(mean), y, 5.0, MEASURED, &format!("{mean:.3}"));
            }
            canvas.text(frame.right() + 12.0, y + 4.0, Anchor::Start, "soft", &row.verdict);
        }
        let middle = frame.left + frame.width / 2.0;
        canvas.text(middle, frame.bottom() + 38.0, Anchor::Middle, "soft", &self.x_title);
        let y = frame.bottom() + 56.0;
        canvas.bar(Frame { left: frame.left, top: y - 10.0, width: 22.0, height: 12.0 }, BAND, 0.45, "");
        canvas.text(frame.left + 29.0, y, Anchor::Start, "tick", "accepted");
        canvas.line((frame.left + 110.0, y - 4.0), (frame.left + 132.0, y - 4.0), MEASURED, "", 2.5);
        canvas.disc(frame.left + 121.0, y - 4.0, 5.0, MEASURED, "");
        canvas.text(frame.left + 140.0, y, Anchor::Start, "tick", "measured, 95% interval over seeds");
        canvas.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_without_a_figure_has_an_open_band_and_one_without_runs_no_dot() {
        let row = |accepted, measured| Row { name: "x".into(), accepted, measured, verdict: "within".into() };
        let forest = Forest {
            title: "t".into(),
            x_title: "%".into(),
            no_effect: 0.0,
            rows: vec![row((0.0, f64::INFINITY), None), row((63.0, 79.0), Some([68.0, 70.0, 72.0]))],
        };
        let text = forest.draw();
        // One in the legend.
        assert_eq!(text.matches("<circle").count(), 2);
        assert!(!text.contains("NaN") && !text.contains("inf\""), "{text}");
    }
}
