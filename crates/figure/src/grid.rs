//! Who wins against whom: a cell for every pair, coloured and signed.

use crate::canvas::{Anchor, Canvas, Frame};
use crate::palette::{AMBER, SKY};
use crate::sheet::RESULTS;

const CELL: (f64, f64) = (88.0, 27.0);
const LEFT: f64 = 130.0;

/// What a cell says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Significantly better.
    Wins,
    /// Significantly worse.
    Loses,
    /// No significant difference.
    Even,
    /// A run is missing.
    Missing,
}

/// A table of outcomes.
#[derive(Debug, Clone)]
pub struct Grid {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub subtitle: String,
    /// Who is won against.
    pub columns: Vec<String>,
    /// Name and cells of every row: what it says and its text.
    pub rows: Vec<(String, Vec<(Outcome, String)>)>,
}

impl Grid {
    /// Draws it.
    pub fn draw(&self) -> String {
        let width = LEFT + CELL.0 * self.columns.len() as f64 + 20.0;
        let height = 125.0 + CELL.1 * self.rows.len() as f64;
        let mut canvas = Canvas::new(&RESULTS, width.max(560.0), height, &self.title);
        canvas.text(20.0, 28.0, Anchor::Start, "title", &self.title);
        canvas.text(20.0, 48.0, Anchor::Start, "soft", &self.subtitle);
        for (index, column) in self.columns.iter().enumerate() {
            let x = LEFT + CELL.0 * (index as f64 + 0.5);
            canvas.text(x, 76.0, Anchor::Middle, "label", column);
        }
        for (index, (name, cells)) in self.rows.iter().enumerate() {
            let top = 85.0 + CELL.1 * index as f64;
            canvas.text(LEFT - 10.0, top + 18.0, Anchor::End, "label", name);
            for (column, (outcome, text)) in cells.iter().enumerate() {
                let left = LEFT + CELL.0 * column as f64;
                let cell =
                    Frame { left: left + 1.0, top: top + 1.0, width: CELL.0 - 2.0, height: CELL.1 - 2.0 };
                if let Some(color) = outcome.color() {
                    canvas.bar(cell, color, 0.55, text);
                }
                canvas.text(left + CELL.0 / 2.0, top + 18.0, Anchor::Middle, "label", text);
            }
        }
        let y = 85.0 + CELL.1 * self.rows.len() as f64 + 22.0;
        for (index, (outcome, text)) in
            [(Outcome::Wins, "wins"), (Outcome::Loses, "loses")].into_iter().enumerate()
        {
            let left = LEFT + index as f64 * 90.0;
            let color = outcome.color().unwrap_or_default();
            canvas.bar(Frame { left, top: y - 11.0, width: 18.0, height: 14.0 }, color, 0.55, "");
            canvas.text(left + 25.0, y, Anchor::Start, "tick", text);
        }
        canvas.text(LEFT + 180.0, y, Anchor::Start, "tick", "no colour: the seeds do not settle it");
        canvas.finish()
    }
}

impl Outcome {
    /// Blue and orange are far apart for every kind of colour vision.
    fn color(self) -> Option<&'static str> {
        match self {
            Outcome::Wins => Some(SKY),
            Outcome::Loses => Some(AMBER),
            Outcome::Even | Outcome::Missing => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_is_not_settled_has_no_colour() {
        let cells = vec![
            (Outcome::Wins, "-5%".to_owned()),
            (Outcome::Even, "+1%".to_owned()),
            (Outcome::Missing, "".into()),
        ];
        let grid = Grid {
            title: "t".into(),
            subtitle: "s".into(),
            columns: vec!["local".into(), "idle".into(), "ideal".into()],
            rows: vec![("hpc-w".into(), cells)],
        };
        // Paper, one cell, two of the legend.
        assert_eq!(grid.draw().matches("<rect").count(), 4);
    }
}
