//! How series are told apart: colour and shape of the mark, the same for a policy in every picture.

use super::canvas::Canvas;

/// Colour and mark of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pen {
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
    Pen { color: "#D55E00", dashes: "", shape: Shape::Circle },
    Pen { color: "#0072B2", dashes: "", shape: Shape::Square },
    Pen { color: "#009E73", dashes: "", shape: Shape::Diamond },
    Pen { color: "#CC79A7", dashes: "", shape: Shape::Up },
    Pen { color: "#E69F00", dashes: "", shape: Shape::Down },
    Pen { color: "#D55E00", dashes: "6 3", shape: Shape::Square },
    Pen { color: "#56B4E9", dashes: "6 3", shape: Shape::Circle },
    Pen { color: "#009E73", dashes: "6 3", shape: Shape::Up },
    Pen { color: "#8A8A8A", dashes: "2 3", shape: Shape::Diamond },
];

/// The pen of a series: a policy's own, or the one of its place.
pub(super) fn pen(name: &str, index: usize) -> Pen {
    let known = NAMED.iter().position(|known| *known == name);
    PENS[known.unwrap_or(index) % PENS.len()]
}

impl Pen {
    /// The mark at a point; `about` is shown when the pointer rests on it.
    pub(super) fn mark(self, canvas: &mut Canvas, x: f64, y: f64, about: &str) {
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
