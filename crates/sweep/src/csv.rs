//! A table as comma-separated values (RFC 4180, lines end in `\n`), for spreadsheets. What is not there is empty.

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

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
