//! What differs between two results: the keys, then the figures.

use harmonia_metrics::{Interval, Versus};
use harmonia_sweep::diff::{Change, Diff, Figure, Pair};

use crate::numbers::{self, NONE};
use crate::{Cell, Emphasis, Style, Table, layout};

/// Characters of a value that a table shows.
const VALUE_MAX: usize = 48;

/// All that is to be said about two results.
pub fn diff(diff: &Diff, style: Style) -> String {
    let mut sections = vec![format!("a: {}\nb: {}\n", diff.a, diff.b)];
    let shared =
        diff.pairs.first().map(|pair| &pair.scenario).filter(|scenario| {
            diff.pairs.len() > 1 && diff.pairs.iter().all(|pair| pair.scenario == **scenario)
        });
    if let Some(scenario) = shared {
        sections.push(keys(scenario, style));
    }
    for pair in &diff.pairs {
        sections.push(style.color.paint(Emphasis::Bold, &title(pair)) + "\n");
        if shared.is_none() {
            sections.push(keys(&pair.scenario, style));
        }
        sections.push(figures(pair, style));
    }
    if diff.pairs.is_empty() {
        sections.push("no run has the same name on both sides\n".to_owned());
    }
    for (side, only) in [("a", &diff.only_a), ("b", &diff.only_b)] {
        if !only.is_empty() {
            sections.push(layout::wrapped(&format!("only in {side}: {}", only.join("; ")), style.columns));
        }
    }
    sections.join("\n")
}

fn title(pair: &Pair) -> String {
    let name = |label: &str| if label.is_empty() { "the run".to_owned() } else { label.to_owned() };
    let names = match (name(&pair.a), name(&pair.b)) {
        (a, b) if a == b => a,
        (a, b) => format!("{a} (a), {b} (b)"),
    };
    let seeds = |seeds: &[u64]| seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let word = if pair.seeds_a.len() > 1 { "seeds" } else { "seed" };
    match pair.seeds_a == pair.seeds_b {
        true => format!("{names}: {word} {}", seeds(&pair.seeds_a)),
        false => format!("{names}: {word} {} (a), {} (b)", seeds(&pair.seeds_a), seeds(&pair.seeds_b)),
    }
}

fn keys(changes: &[Change], style: Style) -> String {
    if changes.is_empty() {
        return "The scenarios are the same.\n".to_owned();
    }
    let mut table = Table::new(["key", "a", "b"]);
    for change in changes {
        let side = |value: &Option<String>| Cell::from(value.as_deref().map_or(NONE.to_owned(), cut));
        table.push(vec![change.key.clone().into(), side(&change.a), side(&change.b)]);
    }
    table.render(style.columns, style.color)
}

fn cut(value: &str) -> String {
    match value.char_indices().nth(VALUE_MAX) {
        Some((at, _)) => format!("{}...", &value[..at]),
        None => value.to_owned(),
    }
}

fn figures(pair: &Pair, style: Style) -> String {
    let mut table = Table::new(["figure", "a", "b", "change", "95% interval", ""]);
    for figure in &pair.figures {
        let [change, interval, verdict] = change(figure.versus.as_ref());
        let verdict = match verdict.as_str() {
            "differs" => Cell::from(verdict).with(Emphasis::Bold),
            _ => Cell::from(verdict),
        };
        let side = |value: Option<Interval>| Cell::from(shown(figure, value));
        table.push(vec![
            title_of(figure).into(),
            side(figure.a),
            side(figure.b),
            change.into(),
            interval.into(),
            verdict,
        ]);
    }
    table.render(style.columns, style.color)
}

fn is_time(figure: &Figure) -> bool {
    !matches!(
        figure.name,
        "gc_affected" | "write_amplification" | "write_amplification_whole_cycles" | "erases"
    )
}

fn title_of(figure: &Figure) -> String {
    let name = figure.name.replace('_', " ");
    if is_time(figure) { format!("{name} ms") } else { name }
}

fn shown(figure: &Figure, value: Option<Interval>) -> String {
    numbers::or_none(value, |value| match figure.name {
        "erases" => numbers::count(value.mean.round() as u64),
        "gc_affected" => numbers::percent(value.mean),
        _ if is_time(figure) => numbers::ms(value.mean),
        _ => format!("{:.3}", value.mean),
    })
}

/// The change, its interval, and what that means.
fn change(versus: Option<&Versus>) -> [String; 3] {
    let none = || NONE.to_owned();
    let Some(versus) = versus else { return [none(), none(), String::new()] };
    let verdict = match versus.significant {
        _ if versus.difference.mean == 0.0 && versus.difference.half_width.unwrap_or(0.0) == 0.0 => {
            "the same"
        }
        Some(true) => "differs",
        Some(false) => "may be chance",
        None => "one sample",
    };
    let percent = |share: f64| format!("{:+.1}%", 100.0 * share);
    let change = versus.relative.map_or_else(none, |relative| percent(relative.mean));
    let interval = versus.relative.filter(|relative| relative.half_width.is_some());
    let interval = interval
        .map_or_else(none, |relative| format!("{} to {}", percent(relative.low()), percent(relative.high())));
    [change, interval, verdict.to_owned()]
}
