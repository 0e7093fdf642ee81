//! The search as a picture: the objective over each key, plain SVG.
//!
//! ```text
//!   |      o         o beaten (grey), with the half-width of its interval
//!   |  o ......*     o ties (blue), * the best (orange), .. the scenario as it stands
//!   |      ####      # values of the key on the plateau
//!   +-----------
//!     3%  6%  10%
//! ```
//!
//! A key's panel shows all points, whatever their other keys are. A point at which the array falls behind may cost a
//! thousand times the best: what lies above `HIGHEST` stands faded at the upper edge. Leaves out: how two keys act
//! together.

use std::fmt::Write as _;

use crate::objective::Unit;
use crate::report::{PointReport, TuneReport};

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 60.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 50.0;
/// The axis ends at so many times the lowest cost, if anything lies above.
const HIGHEST: f64 = 3.0;
const ORANGE: &str = "#D55E00";
const BLUE: &str = "#0072B2";
const GREY: &str = "#8A8A8A";
const STYLE: &str = "text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#222}.paper{fill:#fff}.rule{stroke:#999}\
                     @media(prefers-color-scheme:dark){text{fill:#eee}.paper{fill:#1b1b1d}}";

/// Draws a search.
pub fn draw(report: &TuneReport) -> String {
    let costs = Scale::of(report);
    let width = WIDTH * report.over.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {HEIGHT}\" width=\"{width}\" \
         height=\"{HEIGHT}\" role=\"img\">\n<style>{STYLE}</style>\n<rect class=\"paper\" width=\"{width}\" \
         height=\"{HEIGHT}\"/>\n"
    );
    let title = format!("{}: {}", report.name, report.objective.meaning);
    text(&mut svg, 16.0, 24.0, "start", &title);
    for (key, axis) in report.over.iter().enumerate() {
        let values = values_of(report, key);
        let panel = Panel { left: WIDTH * key as f64 + LEFT, values, costs: &costs };
        panel.draw(&mut svg, report, key, &axis.key);
    }
    svg + "</svg>\n"
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
        let (low, high) =
            costs().fold((f64::MAX, f64::MIN), |(low, high), cost| (low.min(cost.mean), high.max(cost.mean)));
        let high = if low > 0.0 { high.min(low * HIGHEST) } else { high };
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

    fn draw(&self, svg: &mut String, report: &TuneReport, key: usize, name: &str) {
        let floor = HEIGHT - BOTTOM;
        self.shade(svg, &report.plateau.extent[key].values);
        rule(svg, (self.left, floor), (self.right(), floor), "");
        text(svg, (self.left + self.right()) / 2.0, HEIGHT - 10.0, "middle", name);
        self.ticks(svg);
        if let Some(cost) = report.default.cost {
            let y = self.costs.y(cost.mean);
            rule(svg, (self.left, y), (self.right(), y), " stroke-dasharray=\"5 4\"");
            text(svg, self.right(), y - 4.0, "end", "as it stands");
        }
        // The best last, so that nothing covers it.
        for fate in ["dropped", "beaten", "ties", "best"] {
            report
                .points
                .iter()
                .filter(|point| point.fate == fate)
                .for_each(|point| self.mark(svg, point, key));
        }
    }

    fn shade(&self, svg: &mut String, plateau: &[String]) {
        for x in plateau.iter().filter_map(|value| self.x(value)) {
            let (left, width) = (x - self.step() / 2.0, self.step());
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{BLUE}\" \
                 fill-opacity=\"0.1\"/>",
                HEIGHT - BOTTOM - TOP
            );
        }
    }

    fn ticks(&self, svg: &mut String) {
        let every = self.values.len().div_ceil(8);
        for value in self.values.iter().step_by(every.max(1)) {
            let x = self.x(value).unwrap_or_default();
            text(svg, x, HEIGHT - BOTTOM + 16.0, "middle", value);
        }
        let Scale { low, high, .. } = self.costs;
        for share in [0.0, 0.5, 1.0] {
            let cost = low + (high - low) * share;
            text(svg, self.left - 6.0, self.costs.y(cost) + 4.0, "end", &self.costs.words(cost));
        }
    }

    fn mark(&self, svg: &mut String, point: &PointReport, key: usize) {
        let (Some(cost), Some(x)) = (point.cost, value_at(point, key).and_then(|value| self.x(value))) else {
            return;
        };
        let (color, radius) = match point.fate {
            "best" => (ORANGE, 5.5),
            "ties" => (BLUE, 4.0),
            _ => (GREY, 3.0),
        };
        let y = self.costs.y(cost.mean);
        if point.fate != "beaten" {
            let ends = [cost.low(), cost.high()].map(|end| self.costs.y(end));
            let _ = writeln!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"{color}\"/>",
                ends[0], ends[1]
            );
        }
        let words = format!("{}: {}, {}", point.sets.join(", "), self.costs.words(cost.mean), point.fate);
        let faded = if cost.mean > self.costs.high { " fill-opacity=\"0.35\"" } else { "" };
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{color}\"{faded}><title>{}</title></circle>",
            escaped(&words)
        );
    }
}

fn rule(svg: &mut String, from: (f64, f64), to: (f64, f64), more: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" class=\"rule\"{more}/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, words: &str) {
    let words = escaped(words);
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
}

/// Text that cannot be taken for markup.
fn escaped(text: &str) -> String {
    let plain: String = text.chars().filter(|character| !character.is_control()).collect();
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
