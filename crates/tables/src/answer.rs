//! The first screen: what garbage collection costs, who is best, and one table. All else is for readers who ask for details.

use harmonia_metrics::judgement::AGE_FIRST;
use harmonia_metrics::{ArrayReport, Comparison, Report};

use crate::choice::{self, Pair};
use crate::cost::{self, is_overloaded, megabytes, serve_alike};
use crate::numbers::{self, NONE, or_none};
use crate::{
    Cell, Cross, Detail, Emphasis, Rest, Style, Table, addressed, capital, failures, label, layout, load,
    loads, matrix, needs, needs_differ, response, rest, seeds, warnings, winners,
};

/// Where the rest is.
const MORE: &str =
    "--details: where the time went, all percentiles, policies not tried. --out DIR: a page with charts.";
const MORE_OF_ONE: &str = "--details: where the time went, all percentiles. --out DIR: a page with charts.";
const LEGEND: &str = " ±: 95% confidence.";
const CHANCE: &str = " n.s.: may be chance.";
const TIE: &str = " Tie: differences may be chance.";
const CHANCE_AND_TIE: &str = " n.s., tie: may be chance.";
const ONE_SEED: &str = " ±: 95% interval, from parts of one run.";
const YEARS: &str = " Years: until the first drive ends, if this load goes on.";
/// What the reads have is told apart where there are writes, too.
const READS: &str = "p99 of reads";
const TOO_FEW: &str = " -: too few requests.";
const NOT_SERVED: &str = " -: response times mean nothing where the array does not keep up.";
const AMPLIFICATION: &str = " Write amp includes parity.";

/// The answer of a comparison: at most 25 lines of 100 columns, unless there is much to warn of.
pub(crate) fn comparison(of: &Comparison, cross: &Cross, rest: Rest, style: Style) -> String {
    let all = &seeds::means(of);
    let heading = cross.heading();
    let best = winners::section(of, all, winners::Notes::None, style);
    let mut sections: Vec<String> = best.into_iter().chain(matrix::section(of, cross, all, style)).collect();
    let says_tie = sections.iter().any(|section| section.contains(" tie"));
    let (comparison, others) = &rest::split(of, all, rest, Detail::Answer, style);
    let runs = &seeds::means(comparison);
    let table = table(runs, comparison, heading.as_deref(), says_tie, style);
    sections.push(table + others.as_deref().unwrap_or_default());
    screen(of, all, answered(of, cross, all, style), sections, style)
}

/// The answer of one run.
pub(crate) fn single(of: &Comparison, style: Style) -> String {
    let runs = &seeds::means(of);
    let answered = answered(of, &Cross::default(), runs, style);
    screen(of, runs, answered, vec![table(runs, of, None, false, style)], style)
}

/// The screen around these figures.
fn screen(
    of: &Comparison,
    runs: &[Report],
    answered: Option<String>,
    figures: Vec<String>,
    style: Style,
) -> String {
    let heading = seeds::heading(of, runs);
    let warnings::Short { first, after } = warnings::short(of, style);
    let mut sections = match answered {
        // What is served stands in front of why the rest means nothing.
        Some(served) if runs.first().is_some_and(|run| is_overloaded(of, run)) => {
            vec![heading + &served + &first + &after]
        }
        Some(answered) if first.is_empty() => vec![heading + &answered + &after],
        Some(answered) => vec![heading + &first, answered + &after],
        None => vec![heading + &first + &after],
    };
    sections.extend(figures);
    // What follows stands right below the table.
    let notes =
        [failures::short(runs, style), load::section(runs, style), Some(addressed(runs, style.columns))];
    sections.join("\n")
        + &notes.into_iter().flatten().collect::<String>()
        + &layout::wrapped(if runs.len() > 1 { MORE } else { MORE_OF_ONE }, style.columns)
}

/// What garbage collection costs, and what to choose. The page begins with the same sentences.
fn answered(of: &Comparison, cross: &Cross, runs: &[Report], style: Style) -> Option<String> {
    let cost = cost::cost(of, runs, str::to_owned)?;
    let parts = loads::parts(of, cross, runs);
    let pair = if let [part] = &parts[..] { Pair::of(part) } else { None };
    let advice = pair.and_then(|pair| {
        let said = [choice::advice(&pair, str::to_owned), choice::remarks(&pair, str::to_owned)];
        let said: Vec<String> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(" "))
    });
    let said = [Some(cost), advice];
    Some(said.into_iter().flatten().map(|text| layout::wrapped(&text, style.columns)).collect())
}

/// One row a run, with the p99 of reads where there is room for it, and what a tie is if that was said above.
fn table(
    runs: &[Report],
    comparison: &Comparison,
    names: Option<&str>,
    says_tie: bool,
    style: Style,
) -> String {
    let is_mixed = runs.iter().any(|run| run.host.read_requests > 0 && run.host.write_requests > 0);
    let is_known = |run: &Report| run.host.response_ns.read.p99.is_some() && !is_overloaded(comparison, run);
    let has_reads = is_mixed && runs.iter().any(is_known);
    let (table, notes) = rows(runs, comparison, names, (has_reads, says_tie));
    let (table, notes) = if table.fits(style.columns) || !has_reads {
        (table, notes)
    } else {
        rows(runs, comparison, names, (false, says_tie))
    };
    table.render(style.columns, style.color) + &layout::wrapped(&notes, style.columns)
}

/// The rows, and what stands below them.
fn rows(
    runs: &[Report],
    comparison: &Comparison,
    names: Option<&str>,
    (has_reads, says_tie): (bool, bool),
) -> (Table, String) {
    let is_compared = runs.len() > 1;
    let needs_differ = needs_differ(runs);
    let years = years(comparison);
    let has_years = years.iter().any(Option::is_some);
    let has_rates = is_compared && !serve_alike(runs);
    let change = if is_compared { response::against(runs) } else { String::new() };
    let is_policy = !is_compared && runs.iter().all(|run| run.array.coordination.policy == label(run));
    let headings = [
        (true, names.unwrap_or(if is_policy { "policy" } else { "run" })),
        (true, "mean"),
        (true, "p99"),
        (true, "p99.9"),
        (has_reads, READS),
        (is_compared, change.as_str()),
        (has_rates, "IOPS"),
        (has_rates, "MB/s"),
        (true, "write amp"),
        (has_years, "years"),
        (needs_differ, "needs"),
    ];
    let mut table = Table::new(headings.into_iter().filter(|(is_there, _)| *is_there).map(|(_, name)| name));
    let winner = comparison.winners.mean.as_ref().and_then(|winner| winner.name());
    let changes = if is_compared { response::changes(comparison) } else { Vec::new() };
    let mut changes = changes.into_iter();
    let (mut too_few, mut not_served) = ("", "");
    let first_keeps_up = !runs.first().is_some_and(|run| is_overloaded(comparison, run));
    for ((run, mean), years) in runs.iter().zip(response::means(runs, comparison)).zip(years) {
        let all = &run.host.response_ns.all;
        let keeps_up = !is_overloaded(comparison, run);
        let known = |ns: Option<u64>| ns.filter(|_| keeps_up);
        let ms = |ns: Option<u64>| Cell::from(or_none(known(ns), |ns| numbers::ms(ns as f64)));
        // Beside a difference with its interval the mean needs none.
        let mean = if is_compared { or_none(all.mean, numbers::ms) } else { mean };
        let mean = Cell::from(if keeps_up { mean } else { NONE.to_owned() });
        let mean = if winner == Some(label(run)) { mean.with(Emphasis::Good) } else { mean };
        let of_reads = run.host.response_ns.read.p99;
        match (keeps_up, all.p99.and(all.p999).filter(|_| !has_reads || of_reads.is_some())) {
            (false, _) => not_served = NOT_SERVED,
            (true, None) => too_few = TOO_FEW,
            _ => (),
        }
        let mut row = vec![label(run).into(), mean, ms(all.p99), ms(all.p999).with(Emphasis::Bold)];
        row.extend(has_reads.then(|| ms(of_reads)));
        // No percentage of what grows without end.
        let shown = |change: String| if keeps_up && first_keeps_up { change } else { NONE.to_owned() };
        row.extend(changes.next().map(shown).map(Cell::from));
        if has_rates {
            let iops = run.served_requests().map(|rate| numbers::count(rate.round() as u64));
            row.extend([iops.unwrap_or_else(|| NONE.to_owned()).into(), megabytes(run).into()]);
        }
        row.push(amplification(run).into());
        row.extend(has_years.then(|| Cell::from(or_none(years, numbers::life))));
        row.extend(needs_differ.then(|| Cell::from(needs(run))));
        table.push(row);
    }
    let seeds = comparison.intervals.variants.first().map_or(0, |variant| variant.seeds.len());
    let means = match seeds {
        0 | 1 => "Times in ms.".to_owned(),
        seeds => format!("Means over {seeds} seeds, in ms."),
    };
    let is_alone = seeds <= 1 && is_compared;
    let age = comparison.warnings.iter().find(|warning| warning.code == AGE_FIRST).filter(|_| has_years);
    let age = age.map(|warning| format!(" {}.", capital(&warning.text)));
    let has_widths = table.contains("±");
    let is_chance = table.contains(seeds::NOT_SIGNIFICANT);
    let has_parity = runs.iter().any(|run| run.array.redundancy.is_some());
    let notes = [
        (has_widths && !is_alone, LEGEND),
        (has_widths && is_alone, ONE_SEED),
        (is_chance && !says_tie, CHANCE),
        (says_tie && !is_chance, TIE),
        (is_chance && says_tie, CHANCE_AND_TIE),
        (true, too_few),
        (true, not_served),
        (has_years, YEARS),
        (true, age.as_deref().unwrap_or_default()),
        (has_parity, AMPLIFICATION),
    ];
    let notes: String = notes.iter().filter(|(is_there, _)| *is_there).map(|(_, note)| *note).collect();
    (table, means + &notes)
}

/// Until the first drive of each variant ends, where something says what drives endure.
fn years(comparison: &Comparison) -> Vec<Option<f64>> {
    let of = |runs: &[Report]| {
        let lives = runs.iter().map(|run| Some(run.array.lifetime.as_ref()?.first?.years));
        let lives: Option<Vec<f64>> = lives.collect();
        lives.map(|lives| lives.iter().sum::<f64>() / lives.len().max(1) as f64)
    };
    comparison.variants().map(of).collect()
}

/// Over whole collection cycles, or in the window where that is not known.
fn amplification(run: &Report) -> String {
    let ArrayReport { write_amplification, write_amplification_whole_cycles, .. } = run.array;
    numbers::amplification(write_amplification_whole_cycles.or(write_amplification), None, 2)
}
