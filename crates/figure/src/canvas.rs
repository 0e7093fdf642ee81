//! The few SVG elements a picture needs, written by hand. Places have at most one decimal, so that bytes do not depend on
//! a machine.
//!
//! What is drawn gets its look from a class of the [`Sheet`], or from a colour of the [`crate::palette`].
//! Whatever is neither has an [`Element`] made attribute by attribute.

use std::fmt::{Display, Write as _};

use crate::palette;
use crate::sheet::Sheet;

/// Which end of a text its position names.
#[derive(Debug, Clone, Copy)]
pub enum Anchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// A rectangle, such as that between the axes of a panel.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// Its left edge.
    pub left: f64,
    /// Its upper edge.
    pub top: f64,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
}

impl Frame {
    /// Its right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Its lower edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The height at which a share of one is drawn, upwards from the lower edge.
    pub fn y(&self, share: f64) -> f64 {
        self.bottom() - share * self.height
    }
}

/// A picture being drawn.
#[derive(Debug)]
pub struct Canvas {
    text: String,
    short: bool,
}

impl Canvas {
    /// Paper of that size; `title` is what a screen reader says.
    pub fn new(sheet: &Sheet, width: f64, height: f64, title: &str) -> Self {
        let title =
            if title.is_empty() { String::new() } else { format!("<title>{}</title>\n", escaped(title)) };
        let css = palette::coloured(sheet.css);
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\">\n{title}<style>{css}</style>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n"
        );
        Canvas { text, short: sheet.short }
    }

    /// An element of that name, to be given attributes and ended.
    pub fn element(&mut self, name: &'static str) -> Element<'_> {
        let _ = write!(self.text, "<{name}");
        Element { canvas: self, name }
    }

    /// A line of text of a class.
    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        self.element("text").at("x", x).at("y", y).anchor(anchor).with("class", class).words(text);
    }

    /// A line of text of a class that reads upwards; its middle is named.
    pub fn text_upwards(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let element = self.element("text").turned(x, y, -90.0);
        element.anchor(Anchor::Middle).with("class", class).words(text);
    }

    /// A straight line of a class.
    pub fn rule(&mut self, from: (f64, f64), to: (f64, f64), class: &str, dashes: &str) {
        let element = self.element("line").at("x1", from.0).at("y1", from.1).at("x2", to.0).at("y2", to.1);
        element.with("class", class).dashes(dashes).end();
    }

    /// A line through points, of a class.
    pub fn trace(&mut self, class: &str, dashes: &str, points: &[(f64, f64)]) {
        let path = self.through(points);
        self.element("path").with("class", class).dashes(dashes).with("d", path).end();
    }

    /// A filled rectangle of a class.
    pub fn rect(&mut self, class: &str, left: f64, top: f64, width: f64, height: f64) {
        self.element("rect").with("class", class).frame(Frame { left, top, width, height }).end();
    }

    /// Dots: lines of hardly any length (renderers differ about none), which the caps of the class make round or square.
    pub fn dots(&mut self, class: &str, points: impl Iterator<Item = (f64, f64)>) {
        let mut path = String::new();
        for (x, y) in points {
            let _ = write!(path, "M{} {}h.01", self.number(x), self.number(y));
        }
        self.element("path").with("class", class).with("d", path).end();
    }

    /// A straight line of a colour.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), color: &str, dashes: &str, width: f64) {
        self.path(&[from, to], color, dashes, width, "");
    }

    /// A line through points, of a colour; `about` is shown when the pointer rests on it.
    pub fn path(&mut self, points: &[(f64, f64)], color: &str, dashes: &str, width: f64, about: &str) {
        if points.is_empty() {
            return;
        }
        let path = self.through(points);
        let element = self.element("path").with("d", path).with("fill", "none").with("stroke", color);
        element.with("stroke-width", width).dashes(dashes).about(about);
    }

    /// A rectangle filled with a colour; `about` is shown when the pointer rests on it.
    pub fn bar(&mut self, frame: Frame, color: &str, opacity: f64, about: &str) {
        let mut element = self.element("rect").frame(frame).with("fill", color);
        if opacity < 1.0 {
            element = element.with("fill-opacity", opacity);
        }
        element.about(about);
    }

    /// A circle filled with a colour; `about` is shown when the pointer rests on it.
    pub fn disc(&mut self, x: f64, y: f64, radius: f64, color: &str, about: &str) {
        self.element("circle").at("cx", x).at("cy", y).with("r", radius).with("fill", color).about(about);
    }

    /// A polygon filled with a colour; `about` is shown when the pointer rests on it.
    pub fn polygon(&mut self, points: &[(f64, f64)], color: &str, about: &str) {
        let corner = |(x, y): &(f64, f64)| format!("{},{}", self.number(*x), self.number(*y));
        let corners: Vec<String> = points.iter().map(corner).collect();
        self.element("polygon").with("points", corners.join(" ")).with("fill", color).about(about);
    }

    /// The finished picture.
    pub fn finish(self) -> String {
        self.text + "</svg>\n"
    }

    /// A place as it is written: with one decimal, or none where the sheet says so and it is 0.
    fn number(&self, value: f64) -> String {
        let text = format!("{value:.1}");
        match text.strip_suffix(".0") {
            Some(whole) if self.short => whole.to_owned(),
            _ => text,
        }
    }

    /// What `d` says of a line through points.
    fn through(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for (index, &(x, y)) in points.iter().enumerate() {
            let to = if index == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{to}{} {}", self.number(x), self.number(y));
        }
        path
    }
}

/// An element that is being written; it is not whole until it is ended.
#[derive(Debug)]
#[must_use = "it is not whole until it is ended"]
pub struct Element<'a> {
    canvas: &'a mut Canvas,
    name: &'static str,
}

impl Element<'_> {
    /// An attribute whose value holds no markup.
    pub fn with(self, name: &str, value: impl Display) -> Self {
        let _ = write!(self.canvas.text, " {name}=\"{value}\"");
        self
    }

    /// An attribute that is a place or a length.
    pub fn at(self, name: &str, value: f64) -> Self {
        let value = self.canvas.number(value);
        self.with(name, value)
    }

    /// Where a rectangle lies.
    pub fn frame(self, frame: Frame) -> Self {
        let Frame { left, top, width, height } = frame;
        self.at("x", left).at("y", top).at("width", width).at("height", height)
    }

    /// Where a text stands that is turned by so many degrees.
    pub fn turned(self, x: f64, y: f64, degrees: f64) -> Self {
        let place =
            format!("translate({} {}) rotate({degrees})", self.canvas.number(x), self.canvas.number(y));
        self.with("transform", place)
    }

    /// Which end of a text its position names.
    pub fn anchor(self, anchor: Anchor) -> Self {
        self.with("text-anchor", anchor.name())
    }

    /// The dashes of a line; none if it is drawn through.
    pub fn dashes(self, dashes: &str) -> Self {
        if dashes.is_empty() { self } else { self.with("stroke-dasharray", dashes) }
    }

    /// Ends it, with nothing in it.
    pub fn end(self) {
        self.canvas.text.push_str("/>\n");
    }

    /// Ends it, with what is shown when the pointer rests on it.
    pub fn about(self, about: &str) {
        let title =
            if about.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(about)) };
        self.close(&title);
    }

    /// Ends it, with words in it.
    pub fn words(self, words: &str) {
        self.close(&escaped(words));
    }

    fn close(self, content: &str) {
        let _ = writeln!(self.canvas.text, ">{content}</{}>", self.name);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{CONCEPTS, RESULTS, SEARCH};

    /// What `draw` adds to an empty picture.
    fn drawn(sheet: &Sheet, draw: impl FnOnce(&mut Canvas)) -> String {
        let mut canvas = Canvas::new(sheet, 10.0, 10.0, "");
        let start = canvas.text.len();
        draw(&mut canvas);
        canvas.text[start..].to_owned()
    }

    #[test]
    fn a_place_has_one_decimal_or_none() {
        let rect = |canvas: &mut Canvas| {
            canvas.rect("shade", 1.0, 2.25, 3.0, -0.04);
        };
        assert_eq!(
            drawn(&RESULTS, rect),
            "<rect class=\"shade\" x=\"1.0\" y=\"2.2\" width=\"3.0\" height=\"-0.0\"/>\n"
        );
        assert_eq!(
            drawn(&CONCEPTS, rect),
            "<rect class=\"shade\" x=\"1\" y=\"2.2\" width=\"3\" height=\"-0\"/>\n"
        );
    }

    #[test]
    fn words_are_not_taken_for_markup() {
        assert_eq!(
            drawn(&SEARCH, |canvas| canvas.disc(1.0, 2.0, 3.5, palette::BLUE, "a<b & \"c\"\u{1}")),
            "<circle cx=\"1.0\" cy=\"2.0\" r=\"3.5\" fill=\"#0072B2\"><title>a&lt;b &amp; &quot;c&quot;</title></circle>\n"
        );
        assert!(Canvas::new(&RESULTS, 1.0, 1.0, "<b>").finish().contains("<title>&lt;b&gt;</title>"));
    }

    #[test]
    fn every_colour_a_sheet_names_is_in_the_palette() {
        for sheet in [RESULTS, CONCEPTS, SEARCH] {
            let picture = Canvas::new(&sheet, 1.0, 1.0, "").finish();
            assert_eq!(picture.matches('@').count(), 1, "of all only @media stays: {picture}");
        }
    }
}
