//! What befell SSDs of each run, and response times by the state of the array, as HTML.

use std::fmt::Write as _;

use harmonia_metrics::Report;
use harmonia_tables::failures as failed;

use super::html::escaped;

/// Table and sentences; empty where nothing may befall any SSD.
pub(super) fn section(runs: &[Report]) -> String {
    let rows = failed::rows(runs);
    if rows.is_empty() {
        return String::new();
    }
    let cells = |row: &[String], tag: &str| -> String {
        row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect()
    };
    let mut text =
        format!("<div id=\"failures\"><h3>{}</h3>\n<div class=\"scroll\"><table>\n", escaped(failed::TITLE));
    let _ = writeln!(
        text,
        "<thead><tr>{}</tr></thead><tbody>",
        cells(&failed::HEADINGS.map(str::to_owned), "th")
    );
    rows.iter().for_each(|row| text.push_str(&format!("<tr>{}</tr>\n", cells(row, "td"))));
    let _ = writeln!(text, "</tbody></table></div>\n<p class=\"caption\">{}</p>", escaped(failed::LEGEND));
    for sentence in failed::sentences(runs) {
        let _ = writeln!(text, "<p class=\"caption\">{}</p>", escaped(&sentence));
    }
    text + "</div>"
}
