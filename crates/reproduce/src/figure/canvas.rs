//! The few SVG elements a chart needs, written by hand.

use std::fmt::Write as _;

/// Ink and paper; only classes, so that dark mode can turn them round.
const STYLE: &str = "\
    text { font-family: system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; font-size: 12px; fill: #222; }\n\
    .title { font-size: 17px; font-weight: 600; }\n\
    .panel { font-size: 13px; font-weight: 600; }\n\
    .soft, .tick { fill: #555; }\n\
    .tick { font-size: 11px; }\n\
    .paper { fill: #fff; }\n\
    .grid { stroke: #ddd; stroke-width: 1; }\n\
    .axis { stroke: #555; stroke-width: 1; fill: none; }\n\
    @media (prefers-color-scheme: dark) {\n\
      text { fill: #eee; }\n\
      .soft, .tick { fill: #bbb; }\n\
      .paper { fill: #1b1b1d; }\n\
      .grid { stroke: #3a3a3d; }\n\
      .axis { stroke: #bbb; }\n\
    }\n";

/// Which end of a text its position names.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Anchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

/// The rectangle between the axes of a panel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Frame {
    /// Its right edge.
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Its lower edge.
    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The height at which a share of one is drawn, upwards from the lower edge.
    pub(crate) fn y(&self, share: f64) -> f64 {
        self.bottom() - share * self.height
    }
}

/// A picture being drawn.
pub(crate) struct Canvas {
    text: String,
}

impl Canvas {
    /// Paper of that size; `title` is what a screen reader says.
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n",
            escaped(title)
        );
        let _ = writeln!(text, "<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>");
        Canvas { text }
    }

    /// A line of text.
    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        self.text_at(&format!("x=\"{x:.1}\" y=\"{y:.1}\""), anchor, class, text);
    }

    /// A line of text that reads upwards.
    pub(crate) fn text_upwards(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.text_at(
            &format!("transform=\"translate({x:.1} {y:.1}) rotate(-90)\""),
            Anchor::Middle,
            class,
            text,
        );
    }

    fn text_at(&mut self, position: &str, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        let _ =
            writeln!(self.text, "<text {position} text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>");
    }

    /// A straight line of a class (`grid`, `axis`).
    pub(crate) fn rule(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let _ = writeln!(
            self.text,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" class=\"{class}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    /// A straight line of a colour.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), color: &str, dashes: &str, width: f64) {
        self.path(&[from, to], color, dashes, width, "");
    }

    /// A line through points; `about` is shown when the pointer rests on it.
    pub(crate) fn path(&mut self, points: &[(f64, f64)], color: &str, dashes: &str, width: f64, about: &str) {
        let Some((first, rest)) = points.split_first() else { return };
        let mut path = format!("M{:.1} {:.1}", first.0, first.1);
        for (x, y) in rest {
            let _ = write!(path, "L{x:.1} {y:.1}");
        }
        let dashes =
            if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        let _ = writeln!(
            self.text,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"{dashes}>{}</path>",
            tooltip(about)
        );
    }

    /// A filled rectangle; `about` is shown when the pointer rests on it.
    pub(crate) fn bar(&mut self, frame: Frame, color: &str, opacity: f64, about: &str) {
        let Frame { left, top, width, height } = frame;
        let opacity = if opacity < 1.0 { format!(" fill-opacity=\"{opacity}\"") } else { String::new() };
        let _ = writeln!(
            self.text,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{color}\"{opacity}>{}</rect>",
            tooltip(about)
        );
    }

    /// A filled circle.
    pub(crate) fn disc(&mut self, x: f64, y: f64, radius: f64, color: &str, about: &str) {
        let _ = writeln!(
            self.text,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{color}\">{}</circle>",
            tooltip(about)
        );
    }

    /// A filled polygon.
    pub(crate) fn polygon(&mut self, points: &[(f64, f64)], color: &str, about: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.text,
            "<polygon points=\"{}\" fill=\"{color}\">{}</polygon>",
            points.join(" "),
            tooltip(about)
        );
    }

    /// The finished picture.
    pub(crate) fn finish(self) -> String {
        self.text + "</svg>\n"
    }
}

fn tooltip(about: &str) -> String {
    if about.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(about)) }
}

/// Text that cannot be taken for markup; control characters, which XML forbids, are left out.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars().filter(|character| !character.is_control()) {
        match character {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}
