//! The search as a picture: the objective over each key, plain SVG.
//!
//! ```text
//!   mean |  o      ^   ^ above the axis
//!     ms |  |   o      o beaten (grey), with the 95% interval of its mean
//!        |  o ..|...*  o ties (blue), * the best (orange), .. the scenario as it stands
//!        |      ####   # values of the key on the plateau
//!        +------------
//!          3%   6% 10%
//! ```
//!
//! A key's panel shows all points, whatever their other keys are; those of one value stand beside one another. A point at
//! which the array falls behind may cost a thousand times the best: what lies above `HIGHEST` is a triangle at the upper
//! edge, and so is the end of an interval that reaches there. Leaves out: how two keys act together.

use std::fmt::Write as _;

use harmonia_figure::palette::{BLUE, GREY, VERMILION};
use harmonia_figure::{Anchor, Canvas, sheet};

use crate::objective::Unit;
use crate::report::{PointReport, TuneReport};

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 92.0;
const TOP: f64 = 64.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 90.0;
/// What a letter takes at most. Unit: pixels.
const LETTER: f64 = 7.0;
/// Longer values are shortened.
const VALUE_MAX: usize = 20;
/// The axis ends at so many times the lowest cost, if anything lies above.
const HIGHEST: f64 = 3.0;

/// What the marks mean.
const KEY: &str = "orange: best, blue: ties with it, grey: beaten; bars: 95% intervals";

/// Draws a search.
pub fn draw(report: &TuneReport) -> String {
    let costs = Scale::of(report);
    let width = WIDTH * report.over.len() as f64;
    let mut svg = Canvas::new(&sheet::SEARCH, width, HEIGHT, "");
    let room = ((width - 32.0) / LETTER) as usize;
    let is_above = |point: &PointReport| point.cost.is_some_and(|cost| !costs.holds(cost.mean));
    let above = if report.points.iter().any(is_above) { " (triangles lie above the axis)" } else { "" };
    text(
        &mut svg,
        16.0,
        24.0,
        Anchor::Start,
        &format!("{}{above}", shortened(&report.name, room - above.len())),
    );
    text(&mut svg, 16.0, 42.0, Anchor::Start, &shortened(KEY, room));
    let label = match costs.unit {
        "" => report.objective.meaning.to_owned(),
        unit => format!("{}, {unit}", report.objective.meaning),
    };
    for (key, axis) in report.over.iter().enumerate() {
        let values = values_of(report, key);
        let panel = Panel { left: WIDTH * key as f64 + LEFT, values, costs: &costs };
        sideways(
            &mut svg,
            WIDTH * key as f64 + 18.0,
            (TOP + HEIGHT - BOTTOM) / 2.0,
            Anchor::Middle,
            -90.0,
            &label,
        );
        panel.draw(&mut svg, report, key, &axis.key);
    }
    svg.finish()
}

/// The values of a key that were tried, in the order of its range.
fn values_of(report: &TuneReport, key: usize) -> Vec<String> {
    let tried = |value: &String| report.points.iter().any(|point| value_at(point, key) == Some(value));
    report.over[key].all().filter(tried).collect()
}

/// The value of a key at a point; none for the scenario as it stands.
fn value_at(point: &PointReport, key: usize) -> Option<&str> {
    point.sets.get(key).and_then(|set| set.split_once('=')).map(|(_, value)| value)
}

/// The objective's axis.
struct Scale {
    low: f64,
    high: f64,
    divisor: f64,
    unit: &'static str,
}

impl Scale {
    fn of(report: &TuneReport) -> Scale {
        let costs = || report.points.iter().filter_map(|point| point.cost);
        let means = || costs().map(|cost| cost.mean);
        let lowest = means().fold(f64::MAX, f64::min);
        // Intervals have room where means do; one without limits must not squeeze them.
        let low = costs().map(|cost| cost.low()).filter(|low| low.is_finite()).fold(lowest, f64::min);
        let high = costs().map(|cost| cost.high()).filter(|high| high.is_finite());
        let high = high.chain(means()).fold(f64::MIN, f64::max);
        let high = if lowest > 0.0 { high.min(lowest * HIGHEST) } else { high };
        let low = if lowest > 0.0 { low.max(lowest - (high - lowest)) } else { low };
        let room = ((high - low) * 0.08).max(high * 1e-3).max(f64::MIN_POSITIVE);
        let (divisor, unit) = match report.objective.unit {
            unit if unit == Unit::Ns.text() => (1e6, "ms"),
            _ => (1.0, ""),
        };
        Scale { low: (low - room).max(0.0), high: high + room, divisor, unit }
    }

    /// A cost as people read it.
    fn words(&self, cost: f64) -> String {
        let value = cost / self.divisor;
        let decimals = match value.abs() {
            size if size >= 100.0 => 0,
            size if size >= 10.0 => 1,
            size if size >= 1.0 => 2,
            _ => 4,
        };
        format!("{value:.decimals$} {}", self.unit).trim_end().to_owned()
    }

    /// Whether a cost has a place on the axis.
    fn holds(&self, cost: f64) -> bool {
        (self.low..=self.high).contains(&cost)
    }

    fn y(&self, cost: f64) -> f64 {
        let share = ((cost - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)
    }
}

/// One key.
struct Panel<'a> {
    left: f64,
    values: Vec<String>,
    costs: &'a Scale,
}

impl Panel<'_> {
    fn right(&self) -> f64 {
        self.left + WIDTH - LEFT - RIGHT
    }

    fn step(&self) -> f64 {
        (self.right() - self.left) / self.values.len().max(1) as f64
    }

    fn x(&self, value: &str) -> Option<f64> {
        let at = self.values.iter().position(|known| known == value)?;
        Some(self.left + (at as f64 + 0.5) * self.step())
    }

    fn draw(&self, svg: &mut Canvas, report: &TuneReport, key: usize, name: &str) {
        let floor = HEIGHT - BOTTOM;
        self.shade(svg, &report.plateau.extent[key].values);
        svg.rule((self.left, floor), (self.right(), floor), "rule", "");
        let below = if self.ticks(svg) { 36.0 } else { BOTTOM - 10.0 };
        text(svg, (self.left + self.right()) / 2.0, floor + below, Anchor::Middle, name);
        if let Some(cost) = report.default.cost {
            let y = self.costs.y(cost.mean);
            svg.rule((self.left, y), (self.right(), y), "rule", "5 4");
            text(svg, self.right(), y - 4.0, Anchor::End, "as it stands");
        }
        // The best last, so that nothing covers it.
        for fate in ["dropped", "beaten", "ties", "best"] {
            report
                .points
                .iter()
                .filter(|point| point.fate == fate)
                .for_each(|point| self.mark(svg, report, point, key));
        }
    }

    fn shade(&self, svg: &mut Canvas, plateau: &[String]) {
        for x in plateau.iter().filter_map(|value| self.x(value)) {
            let (left, width) = (x - self.step() / 2.0, self.step());
            let shade = svg.element("rect").at("x", left).with("y", TOP).at("width", width);
            let shade = shade.at("height", HEIGHT - BOTTOM - TOP);
            shade.with("fill", BLUE).with("fill-opacity", 0.1).end();
        }
    }

    /// Values too long to stand beside one another are turned; whether they fit.
    fn ticks(&self, svg: &mut Canvas) -> bool {
        let every = self.values.len().div_ceil(8).max(1);
        let shown: Vec<String> = self.values.iter().map(|value| shortened(value, VALUE_MAX)).collect();
        let longest = shown.iter().map(|value| value.chars().count()).max().unwrap_or(0);
        let fits = longest as f64 * LETTER < self.step() * every as f64;
        for (value, shown) in self.values.iter().zip(&shown).step_by(every) {
            let (x, y) = (self.x(value).unwrap_or_default(), HEIGHT - BOTTOM + 16.0);
            match fits {
                true => text(svg, x, y, Anchor::Middle, shown),
                false => sideways(svg, x + 4.0, y, Anchor::End, -30.0, shown),
            }
        }
        let Scale { low, high, .. } = self.costs;
        for share in [0.0, 0.5, 1.0] {
            let cost = low + (high - low) * share;
            text(svg, self.left - 6.0, self.costs.y(cost) + 4.0, Anchor::End, &self.costs.words(cost));
        }
        fits
    }

    /// Beside the others of its value, so that no interval covers another.
    fn aside(&self, report: &TuneReport, point: &PointReport, key: usize) -> f64 {
        let value = value_at(point, key);
        let alike: Vec<&PointReport> = report
            .points
            .iter()
            .filter(|other| other.cost.is_some() && value_at(other, key) == value)
            .collect();
        let at = alike.iter().position(|other| std::ptr::eq(*other, point)).unwrap_or(0);
        let room = (self.step() * 0.7).min(9.0 * alike.len() as f64);
        room * ((at as f64 + 0.5) / alike.len().max(1) as f64 - 0.5)
    }

    fn mark(&self, svg: &mut Canvas, report: &TuneReport, point: &PointReport, key: usize) {
        let (Some(cost), Some(x)) = (point.cost, value_at(point, key).and_then(|value| self.x(value))) else {
            return;
        };
        let x = x + self.aside(report, point, key);
        let (color, radius) = match point.fate {
            "best" => (VERMILION, 5.5),
            "ties" => (BLUE, 4.0),
            _ => (GREY, 3.0),
        };
        // It may begin below the axis, or belong to a point above it.
        if cost.half_width.is_some() && cost.low() <= self.costs.high {
            self.bar(svg, x, [cost.low(), cost.high()], color);
        }
        let y = self.costs.y(cost.mean);
        let words = format!("{}: {}, {}", point.sets.join(", "), self.costs.words(cost.mean), point.fate);
        match self.costs.holds(cost.mean) {
            true => svg.disc(x, y, radius, color, &words),
            false => arrow(svg, x, color, &words),
        }
    }

    /// An interval, with a stroke across each end that is within the axis.
    fn bar(&self, svg: &mut Canvas, x: f64, ends: [f64; 2], color: &str) {
        let [low, high] = ends.map(|end| self.costs.y(end));
        let mut path = format!("M{x:.1} {low:.1}V{high:.1}");
        for (end, y) in ends.into_iter().zip([low, high]) {
            if self.costs.holds(end) {
                let _ = write!(path, "M{:.1} {y:.1}h7", x - 3.5);
            }
        }
        let interval = svg.element("path").with("class", "interval").with("d", path);
        interval.with("stroke", color).with("fill", "none").end();
        if !self.costs.holds(ends[1]) {
            arrow(svg, x, color, "");
        }
    }
}

/// An arrowhead at the upper edge.
fn arrow(svg: &mut Canvas, x: f64, color: &str, about: &str) {
    let path = format!("M{x:.1} {:.1}l5 8h-10z", TOP - 4.0);
    svg.element("path").with("class", "above").with("d", path).with("fill", color).about(about);
}

fn text(svg: &mut Canvas, x: f64, y: f64, anchor: Anchor, words: &str) {
    svg.element("text").at("x", x).at("y", y).anchor(anchor).words(words);
}

fn sideways(svg: &mut Canvas, x: f64, y: f64, anchor: Anchor, turned: f64, words: &str) {
    svg.element("text").turned(x, y, turned).anchor(anchor).words(words);
}

/// So many characters at most.
fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() {
        few if few <= most => text.to_owned(),
        _ => text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect(),
    }
}
