//! Who wins under each load, and a cross of two axes, or of choices and loads, at a glance.

use std::fmt::Write as _;

use harmonia_metrics::{Comparison, Report};
use harmonia_tables::{Cross, Field, Matrix, footnotes, interaction, matrices, winner_lines};

use super::html::{breakable, emphasised, escaped, named};
use super::table::behind;
use harmonia_tables::loads::{Part, by_load};

/// Winners of more loads than these are folded.
const LOADS_OPEN: usize = 3;

/// The winners of each load as HTML; empty where there is no choice.
pub(super) fn winners(parts: &[Part<'_>]) -> String {
    let all: Vec<String> = parts.iter().map(winners_of).collect();
    match parts.len() {
        few if few <= LOADS_OPEN => all.concat(),
        _ if all.iter().all(String::is_empty) => String::new(),
        many => {
            format!("<details><summary>Who is best under {many} loads</summary>{}</details>", all.concat())
        }
    }
}

fn winners_of(part: &Part<'_>) -> String {
    let (comparison, runs) = (part.comparison.as_ref(), part.runs.as_slice());
    let lines = winner_lines(comparison, runs, named);
    if lines.is_empty() {
        return String::new();
    }
    let load = if part.name.is_empty() { String::new() } else { format!(", {}", escaped(&part.name)) };
    let mut text = format!("<h3>Who is best{load}</h3>\n<dl class=\"winners\">\n");
    for line in lines {
        let _ =
            writeln!(text, "<dt>{}</dt><dd>{}</dd>", escaped(line.what), emphasised(&spelt_out(&line.text)));
    }
    text.push_str("</dl>\n");
    footnotes(comparison)
        .iter()
        .for_each(|note| text.push_str(&format!("<p class=\"caption\">{}</p>\n", escaped(note))));
    text
}

/// Mean and 99th percentile of a cross of two axes, and what it shows; of several loads, choices against loads. Empty
/// for any other comparison.
pub(super) fn matrix(comparison: &Comparison, cross: &Cross, runs: &[Report], parts: &[Part<'_>]) -> String {
    let is_one_load = parts.len() == 1;
    let matrices = if is_one_load { matrices(comparison, cross, runs) } else { by_load(parts) };
    if matrices.is_empty() {
        return String::new();
    }
    let mut text = String::from("<div class=\"matrices\">\n");
    for matrix in &matrices {
        let _ = write!(text, "<div><h3>{}</h3>\n{}</div>\n", escaped(&matrix.title), one(matrix));
    }
    text.push_str("</div>\n");
    if let Some(said) = interaction(comparison, cross, runs, named).filter(|_| is_one_load) {
        let _ = writeln!(text, "<p>{}</p>", emphasised(&spelt_out(&said)));
    }
    text
}

/// A page has room to say what a table abbreviates.
fn spelt_out(text: &str) -> String {
    text.replace(" n.s.", " (may be chance)")
}

fn one(matrix: &Matrix) -> String {
    let [down, across] = &matrix.axes;
    let mut text = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table><thead><tr><th scope=\"col\">{} ↓ {} \
         →</th>",
        escaped(&matrix.title),
        escaped(down),
        escaped(across)
    );
    for name in &matrix.columns {
        let _ = write!(text, "<th scope=\"col\">{}</th>", breakable(name));
    }
    text.push_str("</tr></thead><tbody>\n");
    for (name, fields) in &matrix.rows {
        let cells: String = fields.iter().map(cell).collect();
        let _ = writeln!(text, "<tr><th scope=\"row\">{}</th>{cells}</tr>", breakable(name));
    }
    text + "</tbody></table></div>\n"
}

fn cell(field: &Field) -> String {
    let class = if field.wins { " class=\"best\"" } else { "" };
    let (change, more) = &field.change;
    let more = spelt_out(more).replace(['(', ')'], "");
    format!("<td{class}><span class=\"value\">{}</span>{}</td>", escaped(change), behind(more.trim()))
}
