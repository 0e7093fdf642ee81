//! Values of several series over categories, each with its interval.
//!
//! ```text
//!   y |  o  series a            | I  interval over seeds
//!     |    x  series b          o  mean
//!     +-----------------
//!      load 1   load 2
//! ```

use harmonia_metrics::Interval;

use crate::axis::{Axis, Scale, tick_text};
use crate::canvas::{Anchor, Canvas, Frame};
use crate::pen::pen;
use crate::sheet::RESULTS;

/// Size of a picture, in pixels.
const WIDTH: f64 = 860.0;
/// Of the frame, where names in the legend are short.
const MOST_WIDTH: f64 = 600.0;
/// Between the frame and a name in the legend.
const LEGEND_MARK: f64 = 60.0;
const HEIGHT: f64 = 400.0;
/// Categories with longer names than this are written on two levels.
const NAME_WIDTH: f64 = 7.0;

/// One series.
#[derive(Debug, Clone)]
pub struct Series {
    /// What it is called.
    pub name: String,
    /// One value a category; `None` where there is none.
    pub values: Vec<Option<Interval>>,
}

/// A chart.
#[derive(Debug, Clone)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What its categories are.
    pub x_title: String,
    /// What its values are, with their unit.
    pub y_title: String,
    /// Names of the categories.
    pub categories: Vec<String>,
    /// What is drawn over them.
    pub series: Vec<Series>,
    /// Neighbouring categories are steps of one quantity: joined by lines.
    pub lines: bool,
    /// The vertical axis.
    pub scale: Scale,
    /// A value drawn as a rule, such as 100%.
    pub reference: Option<f64>,
}

impl Chart {
    /// Draws it.
    pub fn draw(&self) -> String {
        let mut canvas = Canvas::new(&RESULTS, WIDTH, HEIGHT, &self.title);
        canvas.text(20.0, 28.0, Anchor::Start, "title", &self.title);
        let names = self.series.iter().map(|series| series.name.len()).max().unwrap_or(0);
        let width = MOST_WIDTH.min(WIDTH - 80.0 - LEGEND_MARK - names as f64 * NAME_WIDTH);
        let frame = Frame { left: 80.0, top: 55.0, width, height: HEIGHT - 125.0 };
        let ends = self.series.iter().flat_map(|series| series.values.iter().flatten());
        let ends = ends.flat_map(|value| [value.low(), value.mean, value.high()]);
        let axis = Axis::holding(ends.chain(self.reference), self.scale);
        self.axes(&mut canvas, &frame, &axis);
        let legend = frame.right() + 23.0;
        for (index, series) in self.series.iter().enumerate() {
            self.series(&mut canvas, &frame, &axis, index, series);
            let y = frame.top + 10.0 + index as f64 * 21.0;
            let pen = pen(&series.name, index);
            if self.lines {
                canvas.line((legend, y), (legend + 24.0, y), pen.color, pen.dashes, 2.0);
            }
            pen.mark(&mut canvas, legend + 12.0, y, "");
            canvas.text(legend + 33.0, y + 4.0, Anchor::Start, "label", &series.name);
        }
        canvas.finish()
    }

    fn axes(&self, canvas: &mut Canvas, frame: &Frame, axis: &Axis) {
        for &tick in &axis.ticks {
            let y = frame.y(axis.share(tick));
            canvas.rule((frame.left, y), (frame.right(), y), "grid", "");
            canvas.text(frame.left - 8.0, y + 4.0, Anchor::End, "tick", &tick_text(tick));
        }
        if let Some(reference) = self.reference {
            let y = frame.y(axis.share(reference));
            canvas.rule((frame.left, y), (frame.right(), y), "axis", "");
        }
        canvas.text_upwards(24.0, frame.top + frame.height / 2.0, "soft", &self.y_title);
        canvas.rule((frame.left, frame.bottom()), (frame.right(), frame.bottom()), "axis", "");
        canvas.rule((frame.left, frame.top), (frame.left, frame.bottom()), "axis", "");
        let longest = self.categories.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64;
        let crowded = longest * NAME_WIDTH > self.width(frame);
        for (index, name) in self.categories.iter().enumerate() {
            let lower = if crowded && index % 2 == 1 { 15.0 } else { 0.0 };
            let x = self.middle(frame, index);
            canvas.text(x, frame.bottom() + 18.0 + lower, Anchor::Middle, "tick", name);
        }
        let middle = frame.left + frame.width / 2.0;
        canvas.text(middle, frame.bottom() + 52.0, Anchor::Middle, "soft", &self.x_title);
    }

    fn series(&self, canvas: &mut Canvas, frame: &Frame, axis: &Axis, index: usize, series: &Series) {
        let pen = pen(&series.name, index);
        let place =
            |category: usize, value: f64| (self.x(frame, category, index), frame.y(axis.share(value)));
        let points = series.values.iter().enumerate();
        let points: Vec<(usize, Interval)> =
            points.filter_map(|(category, value)| Some((category, (*value)?))).collect();
        if self.lines {
            let path: Vec<(f64, f64)> =
                points.iter().map(|(category, value)| place(*category, value.mean)).collect();
            canvas.path(&path, pen.color, pen.dashes, 2.0, &series.name);
        }
        for (category, value) in points {
            let (x, y) = place(category, value.mean);
            if value.half_width.is_some() {
                let (low, high) = (place(category, value.low()).1, place(category, value.high()).1);
                canvas.line((x, low), (x, high), pen.color, "", 1.5);
                canvas.line((x - 3.0, low), (x + 3.0, low), pen.color, "", 1.5);
                canvas.line((x - 3.0, high), (x + 3.0, high), pen.color, "", 1.5);
            }
            let about = format!("{}, {}: {:.4}", series.name, self.categories[category], value.mean);
            pen.mark(canvas, x, y, &about);
        }
    }

    /// Width of a category.
    fn width(&self, frame: &Frame) -> f64 {
        frame.width / self.categories.len().max(1) as f64
    }

    fn middle(&self, frame: &Frame, category: usize) -> f64 {
        frame.left + self.width(frame) * (category as f64 + 0.5)
    }

    /// Dots of a category stand side by side; lines go through its middle.
    fn x(&self, frame: &Frame, category: usize, series: usize) -> f64 {
        let middle = self.middle(frame, category);
        if self.lines {
            return middle;
        }
        let step = self.width(frame) * 0.8 / self.series.len().max(1) as f64;
        middle + step * (series as f64 - (self.series.len() as f64 - 1.0) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: bool, values: Vec<Option<Interval>>) -> Chart {
        Chart {
            title: "a < b".into(),
            x_title: "load".into(),
            y_title: "ms".into(),
            categories: values.iter().enumerate().map(|(index, _)| index.to_string()).collect(),
            series: vec![Series { name: "local".into(), values }],
            lines,
            scale: Scale::FromZero,
            reference: Some(1.0),
        }
    }

    #[test]
    fn every_value_has_a_mark_and_its_interval() {
        let value = |mean, half_width| Some(Interval { mean, half_width, samples: 3 });
        let text = chart(true, vec![value(1.0, Some(0.5)), None, value(3.0, None)]).draw();
        // One in the legend.
        assert_eq!(text.matches("<circle").count(), 3, "{text}");
        assert_eq!(text.matches("stroke-width=\"1.5\"").count(), 3, "one interval is a line and two ends");
        assert!(text.contains("a &lt; b") && !text.contains("NaN"));
    }

    #[test]
    fn an_empty_chart_is_drawn_without_nonsense() {
        for lines in [true, false] {
            let text = chart(lines, vec![]).draw();
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }
}
