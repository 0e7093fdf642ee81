//! Members of arrays over the years, as HTML: the table of `harmonia lifetime`.

use std::fmt::Write as _;

use harmonia_metrics::Comparison;
use harmonia_tables::years;

use super::html::escaped;

/// Table and assumptions; empty where nothing is known of any array.
pub(super) fn section(comparison: &Comparison) -> String {
    let lives = harmonia_metrics::lifetimes(comparison);
    let rows = years::rows(&lives);
    if rows.is_empty() {
        return String::new();
    }
    let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| -> String {
        cells.map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect()
    };
    let mut text =
        format!("<div id=\"years\"><h3>{}</h3>\n<div class=\"scroll\"><table>\n", escaped(years::TITLE));
    let headings = cells("th", &mut std::iter::once("run").chain(years::headings(&lives)));
    let _ = writeln!(text, "<thead><tr>{headings}</tr></thead><tbody>");
    for (label, row) in &rows {
        let row = cells("td", &mut std::iter::once(label).chain(row).map(String::as_str));
        let _ = writeln!(text, "<tr>{row}</tr>");
    }
    text.push_str("</tbody></table></div>\n");
    for note in years::assumptions(&lives) {
        let _ = writeln!(text, "<p class=\"caption\">{}</p>", escaped(&note));
    }
    text + "</div>"
}
