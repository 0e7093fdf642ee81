//! A table as comma-separated values (RFC 4180, lines end in `\n`), for spreadsheets. What is not there is empty.
//!
//! Names of runs and files come from anywhere, and a spreadsheet calculates a cell that begins like a formula. Such a cell begins with
//! an apostrophe here, as OWASP advises (CSV Injection).

use std::borrow::Cow;

use crate::table::{Table, Value};

/// The text of the file, a heading first.
pub fn text(table: &Table) -> String {
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let heading = line(table.columns.iter().map(|column| quoted(&column.name)).collect());
    let row = |row: usize| line(table.columns.iter().map(|column| cell(&column.values[row])).collect());
    heading + &(0..table.rows()).map(row).collect::<String>()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::Text(text) => quoted(text),
    }
}

/// A cell that no spreadsheet takes for a formula. A number stays one.
fn plain(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if is_formula { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

fn quoted(text: &str) -> String {
    let text = plain(text);
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_begins_like_a_formula() {
        for text in ["=1+1", "+cmd", "-x", "@SUM(A1)", "\tx"] {
            assert_eq!(quoted(text), format!("'{text}"));
        }
        assert_eq!(quoted("\r=1,2"), "\"'\r=1,2\"");
        for number in ["-5", "+0.5", "-1e3"] {
            assert_eq!(quoted(number), number);
        }
        assert_eq!(quoted("a=b"), "a=b");
    }

    #[test]
    fn commas_and_quotes_stay_in_their_cell() {
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(
            (quoted("5%"), cell(&Value::Null), cell(&Value::Number(0.5))),
            ("5%".into(), "".into(), "0.5".into())
        );
        assert_eq!(text(&Table::of(&[])).lines().count(), 1, "a heading alone");
    }
}
