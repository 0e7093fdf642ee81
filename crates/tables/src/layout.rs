//! A table of aligned columns, cut into blocks where it is wider than the terminal. A name in a cell stays on its line and has no
//! colour of its own.

use harmonia_types::text::one_line;

use crate::{Color, Emphasis};

/// Spaces between two columns.
const GAP: usize = 2;

/// One cell.
#[derive(Debug, Clone)]
pub struct Cell {
    text: String,
    emphasis: Option<Emphasis>,
}

impl Cell {
    /// The same cell, made to stand out.
    pub fn with(mut self, emphasis: Emphasis) -> Self {
        self.emphasis = Some(emphasis);
        self
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell { text: one_line(&text.into()).into_owned(), emphasis: None }
    }
}

/// A table: the first column names the row and is aligned left, all others are numbers aligned right.
#[derive(Debug, Default)]
pub struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new<T: Into<String>>(headings: impl IntoIterator<Item = T>) -> Self {
        Table {
            headings: headings.into_iter().map(|text| one_line(&text.into()).into_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.headings.len(), "a row must have one cell for each heading");
        self.rows.push(row);
    }

    /// The table in at most `columns` characters a line where that is possible: columns that do not fit follow in a
    /// further block that repeats the row names.
    pub fn render(&self, columns: usize, color: Color) -> String {
        let widths: Vec<usize> = (0..self.headings.len()).map(|column| self.width(column)).collect();
        let blocks = self.blocks(columns, &widths);
        let text: Vec<String> = blocks.iter().map(|block| self.block(block, &widths, color)).collect();
        text.join("\n")
    }

    /// Whether all columns stand beside one another in so many characters.
    pub fn fits(&self, columns: usize) -> bool {
        let widths: Vec<usize> = (0..self.headings.len()).map(|column| self.width(column)).collect();
        widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1) <= columns
    }

    /// Whether a text stands in any cell.
    pub fn contains(&self, text: &str) -> bool {
        self.rows.iter().flatten().any(|cell| cell.text.contains(text))
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| characters(&row[column].text));
        cells.chain([characters(&self.headings[column])]).max().unwrap_or(0)
    }

    /// Which columns stand in which block; every block begins with column 0.
    fn blocks(&self, columns: usize, widths: &[usize]) -> Vec<Vec<usize>> {
        let mut blocks = vec![vec![0]];
        let mut used = widths[0];
        for (column, width) in widths.iter().enumerate().skip(1) {
            let last = blocks.last_mut().expect("there is a first block");
            if last.len() > 1 && used + GAP + width > columns {
                blocks.push(vec![0, column]);
                used = widths[0] + GAP + width;
            } else {
                last.push(column);
                used += GAP + width;
            }
        }
        blocks
    }

    fn block(&self, block: &[usize], widths: &[usize], color: Color) -> String {
        let heading = |column: &usize| Cell::from(self.headings[*column].clone()).with(Emphasis::Bold);
        let headings: Vec<Cell> = block.iter().map(heading).collect();
        let rows = self.rows.iter().map(|row| block.iter().map(|column| row[*column].clone()).collect());
        let lines = std::iter::once(headings).chain(rows).map(|row: Vec<Cell>| {
            let cells =
                row.iter().zip(block).map(|(cell, column)| pad(cell, *column, widths[*column], color));
            let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
            format!("{}\n", line.trim_end())
        });
        lines.collect()
    }
}

fn pad(cell: &Cell, column: usize, width: usize, color: Color) -> String {
    let fill = " ".repeat(width - characters(&cell.text));
    let text = match cell.emphasis {
        Some(emphasis) => color.paint(emphasis, &cell.text),
        None => cell.text.clone(),
    };
    if column == 0 { text + &fill } else { fill + &text }
}

/// Prose broken into lines of at most `columns` characters where words allow it.
pub fn wrapped(text: &str, columns: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if characters(line) + 1 + characters(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Every character we print, block elements included, takes one column.
fn characters(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["run", "mean", "p99"]);
        table.push(vec!["local".into(), "1.5".into(), "10".into()]);
        table.push(vec!["ideal".into(), Cell::from("0.5").with(Emphasis::Good), "2".into()]);
        table
    }

    #[test]
    fn numbers_align_right_and_no_line_ends_in_blanks() {
        assert_eq!(
            table().render(80, Color(false)),
            "run    mean  p99\nlocal   1.5   10\nideal   0.5    2\n"
        );
    }

    #[test]
    fn a_narrow_terminal_gets_two_blocks() {
        let expected = "run    mean\nlocal   1.5\nideal   0.5\n\nrun    p99\nlocal   10\nideal    2\n";
        assert_eq!(table().render(15, Color(false)), expected);
        assert_eq!(table().render(16, Color(false)).lines().count(), 3, "16 columns hold it all");
        assert!(table().fits(16) && !table().fits(15));
    }

    #[test]
    fn prose_breaks_between_words() {
        assert_eq!(wrapped("one two three\n", 7), "one two\nthree\n");
        assert_eq!(wrapped("", 7), "");
    }

    #[test]
    fn colour_changes_no_alignment() {
        let painted = table().render(80, Color(true));
        assert!(painted.contains("\x1b[1;32m0.5\x1b[0m"));
        let plain = painted.replace("\x1b[1;32m", "").replace("\x1b[1m", "").replace("\x1b[0m", "");
        assert_eq!(plain, table().render(80, Color(false)));
    }
}
