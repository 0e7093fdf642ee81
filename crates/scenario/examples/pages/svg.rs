//! The few SVG elements the figures need. Coordinates have at most one decimal, so that bytes do not depend on a
//! machine; colours are Okabe and Ito's, and whatever differs in colour also differs in shape or dashes.

use std::fmt::Write;

/// Width of every figure, in pixels: what GitHub shows without scaling.
pub const WIDTH: f64 = 760.0;

const STYLE: &str = "\
text { font-family: system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; font-size: 12px; fill: #222; }
.head { font-size: 13px; font-weight: 600; }
.tick { font-size: 11px; fill: #555; }
.paper { fill: #fff; }
.grid { stroke: #ddd; fill: none; }
.axis { stroke: #666; fill: none; }
.shade { fill: #eee; }
.tint { fill: #cfe3f1; }
.line { fill: none; stroke-width: 2; }
.free, .hit { fill: none; stroke-width: 3; stroke-linecap: round; }
.hit { stroke-width: 4; stroke-linecap: square; }
.free, .blue { stroke: #0072b2; }
.hit, .red { stroke: #d55e00; }
.green { stroke: #009e73; }
.pink { stroke: #cc79a7; }
.grey { stroke: #777; }
.mark { stroke-width: 2; fill: #fff; }
.busy { fill: #d55e00; }
@media (prefers-color-scheme: dark) {
  text { fill: #eee; } .tick { fill: #bbb; } .paper, .mark { fill: #1b1b1d; } .grid { stroke: #3a3a3d; }
  .axis { stroke: #999; } .shade { fill: #333338; } .tint { fill: #23405a; } .free, .blue { stroke: #56b4e9; }
  .hit, .red { stroke: #f0803c; } .busy { fill: #f0803c; } .green { stroke: #2fc79b; } .grey { stroke: #aaa; }
}
";

/// Which end of a text its position names.
#[derive(Debug, Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A figure being drawn.
pub struct Svg {
    text: String,
}

impl Svg {
    /// Paper of [`WIDTH`] by `height`; `title` is what a screen reader says.
    pub fn new(height: f64, title: &str) -> Self {
        let size = format!("viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\"");
        let open = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" {size} role=\"img\">");
        let paper = format!("<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>");
        Svg { text: format!("{open}\n<title>{title}</title>\n<style>\n{STYLE}</style>\n{paper}\n") }
    }

    /// A line of text; `class` is `""`, `head` or `tick`.
    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = (number(x), number(y));
        let _ = writeln!(
            self.text,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>"
        );
    }

    /// A filled rectangle.
    pub fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let (x, y, width, height) = (number(x), number(y), number(width), number(height));
        let _ = writeln!(
            self.text,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        );
    }

    /// A line through points.
    pub fn line(&mut self, class: &str, dashes: &str, points: &[(f64, f64)]) {
        let mut path = String::new();
        for (index, &(x, y)) in points.iter().enumerate() {
            let _ = write!(path, "{}{} {}", if index == 0 { 'M' } else { 'L' }, number(x), number(y));
        }
        let dashes =
            if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        let _ = writeln!(self.text, "<path class=\"{class}\"{dashes} d=\"{path}\"/>");
    }

    /// Dots: lines of hardly any length (renderers differ about none), which their caps make round (`free`) or square (`hit`).
    pub fn dots(&mut self, class: &str, points: impl Iterator<Item = (f64, f64)>) {
        let mut path = String::new();
        for (x, y) in points {
            let _ = write!(path, "M{} {}h.01", number(x), number(y));
        }
        let _ = writeln!(self.text, "<path class=\"{class}\" d=\"{path}\"/>");
    }

    /// The finished figure.
    pub fn finish(self) -> String {
        self.text + "</svg>\n"
    }
}

/// At most one decimal, none where it is 0.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
