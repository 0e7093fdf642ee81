//! How series are told apart: colour and shape of the mark, the same for a policy in every picture.

use crate::canvas::Canvas;
use crate::palette::{AMBER, BLUE, GREEN, GREY, PINK, SKY, VERMILION};

/// Colour and mark of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pen {
    pub color: &'static str,
    pub dashes: &'static str,
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Circle,
    Square,
    Diamond,
    Up,
    Down,
}

/// Policies that have a pen of their own.
const NAMED: [&str; 9] =
    ["local", "inclusive", "selective", "idle", "soft-limit", "local-die", "gcsync", "gclock", "ideal"];

const PENS: [Pen; 9] = [
    Pen { color: VERMILION, dashes: "", shape: Shape::Circle },
    Pen { color: BLUE, dashes: "", shape: Shape::Square },
    Pen { color: GREEN, dashes: "", shape: Shape::Diamond },
    Pen { color: PINK, dashes: "", shape: Shape::Up },
    Pen { color: AMBER, dashes: "", shape: Shape::Down },
    Pen { color: VERMILION, dashes: "6 3", shape: Shape::Square },
    Pen { color: SKY, dashes: "6 3", shape: Shape::Circle },
    Pen { color: GREEN, dashes: "6 3", shape: Shape::Up },
    Pen { color: GREY, dashes: "2 3", shape: Shape::Diamond },
];

/// The pen of a series: a policy's own, or the one of its place.
pub(crate) fn pen(name: &str, index: usize) -> Pen {
    let known = NAMED.iter().position(|known| *known == name);
    PENS[known.unwrap_or(index) % PENS.len()]
}

impl Pen {
    /// The mark at a point; `about` is shown when the pointer rests on it.
    pub(crate) fn mark(self, canvas: &mut Canvas, x: f64, y: f64, about: &str) {
        let r = 4.5;
        let polygon: Vec<(f64, f64)> = match self.shape {
            Shape::Circle => return canvas.disc(x, y, r, self.color, about),
            Shape::Square => vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
            Shape::Diamond => vec![(x, y - r - 1.5), (x + r + 1.5, y), (x, y + r + 1.5), (x - r - 1.5, y)],
            Shape::Up => vec![(x, y - r - 1.0), (x + r + 1.0, y + r), (x - r - 1.0, y + r)],
            Shape::Down => vec![(x, y + r + 1.0), (x + r + 1.0, y - r), (x - r - 1.0, y - r)],
        };
        canvas.polygon(&polygon, self.color, about);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_policies_look_alike() {
        for (index, one) in NAMED.iter().enumerate() {
            for other in &NAMED[..index] {
                let (one, other) = (pen(one, 0), pen(other, 0));
                assert!(one.color != other.color || one.shape != other.shape);
            }
        }
    }
}
