//! Points of several series by two quantities, in panels side by side: what one costs in the other.
//!
//! ```text
//!   y |  o    o               the axis of y is logarithmic and the same in all panels
//!     |    x  |               points that no other beats in both have their names,
//!     |    |  b               below the scale of y where there is no room
//!     |    a
//!     +----------------- x
//! ```

use crate::axis::{Axis, Scale, tick_text};
use crate::canvas::{Anchor, Canvas, Frame};
use crate::pen::pen;
use crate::sheet::RESULTS;

/// Of a panel with what stands around it, without its names, in pixels.
const PANEL: (f64, f64) = (300.0, 330.0);
const LEFT: f64 = 66.0;
const TOP: f64 = 72.0;
/// Of a name in the legend.
const NAME_WIDTH: f64 = 7.0;
/// Of a letter of a name at a point.
const SMALL_WIDTH: f64 = 6.2;
/// Between names that stand below one another.
const LINE: f64 = 14.0;

/// One point.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Which series it belongs to.
    pub series: String,
    /// What it is called.
    pub name: String,
    /// More is better.
    pub x: f64,
    /// Above 0; less is better.
    pub y: f64,
}

/// Points of one kind of run.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What its points have in common.
    pub title: String,
    /// In the order in which their series are first met.
    pub points: Vec<Point>,
}

/// Panels.
#[derive(Debug, Clone)]
pub struct Scatter {
    /// What they show.
    pub title: String,
    /// What `x` is, with its unit.
    pub x_title: String,
    /// What `y` is, with its unit.
    pub y_title: String,
    /// From left to right.
    pub panels: Vec<Panel>,
}

impl Scatter {
    /// Draws them.
    pub fn draw(&self) -> String {
        let width = LEFT + PANEL.0 * self.panels.len().max(1) as f64;
        let series = self.series();
        let (legend, rows) = legend(&series, width);
        let points = || self.panels.iter().flat_map(|panel| &panel.points);
        let y = Axis::holding(points().map(|point| point.y), Scale::Log);
        let bottom = TOP + PANEL.1 + self.names_height(&y);
        let mut canvas = Canvas::new(&RESULTS, width, bottom + 70.0 + f64::from(rows) * 21.0, &self.title);
        canvas.text(20.0, 28.0, Anchor::Start, "title", &self.title);
        canvas.text_upwards(18.0, TOP + PANEL.1 / 2.0, "soft", &self.y_title);
        for (index, panel) in self.panels.iter().enumerate() {
            let left = LEFT + PANEL.0 * index as f64;
            let frame = Frame { left, top: TOP, width: PANEL.0 - 24.0, height: PANEL.1 };
            self.axes(&mut canvas, &frame, bottom, &y, index == 0);
            panel.draw(&mut canvas, &frame, bottom, &y, &series);
        }
        for (name, (x, row)) in series.iter().zip(legend) {
            let y = bottom + 68.0 + f64::from(row) * 21.0;
            pen(name, index_of(&series, name)).mark(&mut canvas, x, y, "");
            canvas.text(x + 11.0, y + 4.0, Anchor::Start, "label", name);
        }
        canvas.finish()
    }

    /// Names of the series, each once.
    fn series(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for point in self.panels.iter().flat_map(|panel| &panel.points) {
            if !names.contains(&point.series.as_str()) {
                names.push(&point.series);
            }
        }
        names
    }

    /// How far names reach below the axis of `y`, where the lowest point may be.
    fn names_height(&self, y: &Axis) -> f64 {
        let below = |panel: &Panel| {
            let least = panel.points.iter().map(|point| point.y).fold(f64::INFINITY, f64::min);
            LINE * (panel.best().len() as f64 + 1.0) - y.share(least) * PANEL.1
        };
        self.panels.iter().filter(|panel| !panel.points.is_empty()).map(below).fold(0.0, f64::max)
    }

    fn axes(&self, canvas: &mut Canvas, frame: &Frame, bottom: f64, y: &Axis, is_first: bool) {
        for &tick in &y.ticks {
            let at = frame.y(y.share(tick));
            canvas.rule((frame.left, at), (frame.right(), at), "grid", "");
            if is_first {
                canvas.text(frame.left - 8.0, at + 4.0, Anchor::End, "tick", &tick_text(tick));
            }
        }
        canvas.rule((frame.left, bottom), (frame.right(), bottom), "axis", "");
        canvas.rule((frame.left, frame.top), (frame.left, bottom), "axis", "");
        let middle = frame.left + frame.width / 2.0;
        canvas.text(middle, bottom + 40.0, Anchor::Middle, "soft", &self.x_title);
    }
}

impl Panel {
    fn draw(&self, canvas: &mut Canvas, frame: &Frame, bottom: f64, y: &Axis, series: &[&str]) {
        canvas.text(frame.left, frame.top - 14.0, Anchor::Start, "panel", &self.title);
        let x = Axis::holding(self.points.iter().map(|point| point.x), Scale::Tight);
        for &tick in &x.ticks {
            let at = frame.left + x.share(tick) * frame.width;
            canvas.rule((at, bottom), (at, bottom + 4.0), "axis", "");
            canvas.text(at, bottom + 18.0, Anchor::Middle, "tick", &tick_text(tick));
        }
        let place = |point: &Point| (frame.left + x.share(point.x) * frame.width, frame.y(y.share(point.y)));
        for point in &self.points {
            let about = format!("{}: {} by {}", point.name, tick_text(point.x), tick_text(point.y));
            let at = place(point);
            pen(&point.series, index_of(series, &point.series)).mark(canvas, at.0, at.1, &about);
        }
        // Names stand below all points, that of the point on the right first, each with a line to its point.
        let lowest = self.points.iter().map(|point| place(point).1).fold(frame.top, f64::max);
        for (index, point) in self.best().into_iter().enumerate() {
            let at = place(point);
            let y = lowest + LINE * (index as f64 + 1.5);
            let half = point.name.chars().count() as f64 * SMALL_WIDTH / 2.0;
            let middle = at.0.min(frame.right() - half).max(frame.left + half);
            canvas.rule((at.0, at.1 + 6.0), (at.0, y - 10.0), "grid", "");
            canvas.text(middle, y, Anchor::Middle, "tick", &point.name);
        }
    }

    /// The points that have names, from right to left.
    fn best(&self) -> Vec<&Point> {
        let mut best: Vec<&Point> = self.points.iter().filter(|point| self.is_best(point)).collect();
        best.sort_by(|one, other| other.x.total_cmp(&one.x));
        best
    }

    /// No other point is better by one quantity without being worse by the other.
    fn is_best(&self, point: &Point) -> bool {
        let beats = |other: &Point| {
            other.x >= point.x && other.y <= point.y && (other.x > point.x || other.y < point.y)
        };
        !self.points.iter().any(beats)
    }
}

fn index_of(series: &[&str], name: &str) -> usize {
    series.iter().position(|known| *known == name).unwrap_or(0)
}

/// Where each series stands in the legend, its place from the left and its row, and how many rows there are.
fn legend(series: &[&str], width: f64) -> (Vec<(f64, u32)>, u32) {
    let (mut left, mut row) = (LEFT, 0);
    let mut places = Vec::with_capacity(series.len());
    for name in series {
        let wide = 30.0 + name.chars().count() as f64 * NAME_WIDTH;
        if left + wide > width && left > LEFT {
            (left, row) = (LEFT, row + 1);
        }
        places.push((left, row));
        left += wide;
    }
    (places, row + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(name: &str, x: f64, y: f64) -> Point {
        Point { series: "one".into(), name: name.into(), x, y }
    }

    fn scatter(panels: Vec<Panel>) -> Scatter {
        Scatter { title: "a < b".into(), x_title: "years".into(), y_title: "us".into(), panels }
    }

    #[test]
    fn every_point_has_a_mark_and_only_those_that_none_beats_have_a_name() {
        let points = vec![point("long", 3.0, 500.0), point("short", 1.0, 300.0), point("worse", 1.0, 400.0)];
        let text = scatter(vec![Panel { title: "a load".into(), points }]).draw();
        // One in the legend.
        assert_eq!(text.matches("<circle").count() + text.matches("<polygon").count(), 4, "{text}");
        assert!(text.contains("<title>worse: 1 by 400</title>"), "{text}");
        let named = |name: &str| text.contains(&format!(">{name}</text>"));
        assert_eq!(["long", "short", "worse"].map(named), [true, true, false]);
    }

    /// Where the last name and the axis of `x` stand, among so many points that none beats.
    fn lowest_name_and_axis(count: u32) -> (f64, f64) {
        let name = |index| format!("name {index}");
        let points = (1..=count).map(|at| point(&name(at), f64::from(at), 100.0 + f64::from(at))).collect();
        let text = scatter(vec![Panel { title: String::new(), points }]).draw();
        let number = |line: &str, key: &str| -> f64 {
            let (_, rest) = line.split_once(key).expect("the attribute");
            rest.split('"').next().and_then(|value| value.parse().ok()).expect("a number")
        };
        let names = text.lines().filter(|line| line.ends_with("</text>") && line.contains(">name "));
        let axes = text.lines().filter(|line| line.contains("class=\"axis\""));
        let lowest = |at: f64, other: f64| at.max(other);
        (
            names.map(|line| number(line, " y=\"")).fold(0.0, lowest),
            axes.filter(|line| number(line, " y1=\"") == number(line, " y2=\""))
                .map(|line| number(line, " y1=\""))
                .fold(0.0, lowest),
        )
    }

    #[test]
    fn names_stand_above_the_axis_of_x_however_many_they_are() {
        for count in [1, 8, 40] {
            let (name, axis) = lowest_name_and_axis(count);
            assert!(name > TOP && name < axis && axis - name < 2.0 * LINE, "{count}: {name} of {axis}");
        }
    }

    #[test]
    fn equal_points_are_both_named() {
        let panel = Panel { title: String::new(), points: vec![point("a", 1.0, 2.0), point("b", 1.0, 2.0)] };
        assert!(panel.points.iter().all(|point| panel.is_best(point)));
    }

    #[test]
    fn long_legends_take_several_rows() {
        let names = ["a name of some length"; 6];
        let (places, rows) = legend(&names, 500.0);
        assert_eq!(rows, 3);
        assert!(places.iter().all(|(left, row)| *left < 500.0 && *row < rows));
    }

    #[test]
    fn nothing_is_drawn_without_nonsense() {
        for panels in [vec![], vec![Panel { title: String::new(), points: vec![] }]] {
            let text = scatter(panels).draw();
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }
}
