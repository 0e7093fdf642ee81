//! What a person reads on stdout: the comparison of runs, or one run with its devices. The page of results says much of it
//! in the same words.
//!
//! Pure functions from reports to text; a fixed width and no colour give the same text everywhere.

mod advice;
mod answer;
mod around;
mod bandwidth;
mod beyond;
mod blame;
mod by_stream;
pub mod choice;
mod color;
mod cost;
mod cross;
mod devices;
mod diff;
mod explained;
pub mod failures;
mod inside;
mod layout;
mod life;
mod lifetime;
mod load;
pub mod loads;
mod mapping_cache;
mod matrix;
pub mod numbers;
mod over_time;
mod overlap;
mod phases;
mod points;
mod response;
mod rest;
mod seeds;
mod streams;
mod tuned;
mod uneven;
mod verdict;
mod warnings;
mod winners;
pub mod years;

/// Reports made for tests, of this crate and of the page.
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
#[cfg(test)]
mod tests;

use harmonia_metrics::{Comparison, Report};

pub use advice::{advice, advice_first, advice_rest};
pub use around::sentences as kept_away;
pub use color::{Color, Emphasis};
pub use cost::cost;
pub use cross::{Cross, POLICY_KEY, Point, combinations};
pub use diff::diff;
pub use explained::{Told, ToldPart, explained};
pub use layout::{Cell, Table, wrapped};
pub use lifetime::{assumptions, lifetimes};
pub use load::notes;
pub use matrix::{Field, Matrix, matrices, sentence as interaction};
pub use points::{results, summary};
pub use rest::{Rest, left_out};
pub use seeds::{change, heading, means};
pub use tuned::tuned;
pub use warnings::warned;
pub use winners::{footnotes, lines as winner_lines, why_nobody};

/// Space and colour a table may use.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Characters a line.
    pub columns: usize,
    /// Colour codes or none.
    pub color: Color,
}

/// How much a person wants to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The first screen.
    Answer,
    /// All there is to say.
    All,
}

/// What is to be said about these runs, the first variant being the baseline: the answer first, then the figures.
pub fn comparison(of: &Comparison, cross: &Cross, rest: Rest, detail: Detail, style: Style) -> String {
    if detail == Detail::Answer {
        return answer::comparison(of, cross, rest, style);
    }
    let all = &seeds::means(of);
    let heading = cross.heading();
    let mut sections = vec![seeds::heading(of, all)];
    sections.extend(warnings::section(of, style));
    sections.extend(winners::section(of, all, winners::Notes::All, style));
    sections.extend(matrix::section(of, cross, all, style));
    let (comparison, others) = &rest::split(of, all, rest, detail, style);
    let runs = &seeds::means(comparison);
    sections.push(response::section(runs, comparison, heading.as_deref(), style));
    sections.extend(others.clone());
    sections.extend(seeds::changes(comparison, style));
    sections.extend([overlap::section(runs, style), blame::section(runs, style)]);
    sections.extend(phases::section(runs, style));
    sections.extend(failures::section(runs, style));
    sections.extend(around::section(runs, style));
    sections.extend(inside::section(runs, style));
    sections.extend(mapping_cache::section(runs, style));
    sections.extend(over_time::section(comparison, runs, style));
    sections.extend(bandwidth::section(comparison, runs, style));
    sections.extend(life::of_variants(comparison, style));
    sections.extend(by_stream::section(comparison, style));
    sections.extend(streams::section(comparison, style));
    sections.extend(lifetime::section(comparison, style));
    sections.extend(load::section(runs, style));
    sections.push(ending(runs, comparison, style));
    sections.join("\n")
}

/// What is to be said about one scenario; in detail device by device if it ran with one seed.
pub fn single(comparison: &Comparison, detail: Detail, style: Style) -> String {
    if detail == Detail::Answer {
        return answer::single(comparison, style);
    }
    let runs = &seeds::means(comparison);
    let response = response::section(runs, comparison, None, style);
    let mut sections = vec![seeds::heading(comparison, runs)];
    sections.extend(warnings::section(comparison, style));
    sections.push(response);
    sections.extend([overlap::section(runs, style), blame::section(runs, style)]);
    sections.extend(phases::section(runs, style));
    sections.extend(failures::section(runs, style));
    sections.extend(around::section(runs, style));
    sections.extend(inside::section(runs, style));
    sections.extend(mapping_cache::section(runs, style));
    sections.extend(over_time::section(comparison, runs, style));
    sections.extend(bandwidth::section(comparison, runs, style));
    if let [run] = &comparison.runs[..] {
        sections.push(devices::section(run, style));
        sections.extend(life::of_devices(run, style));
    } else {
        sections.extend(life::of_variants(comparison, style));
    }
    sections.extend(by_stream::section(comparison, style));
    sections.extend(streams::section(comparison, style));
    sections.extend(lifetime::section(comparison, style));
    sections.extend(load::section(runs, style));
    sections.push(ending(runs, comparison, style));
    sections.join("\n")
}

/// How far the runs can be trusted, and what else they show.
fn ending(runs: &[Report], comparison: &Comparison, style: Style) -> String {
    let sentence = verdict::sentence(runs, &comparison.intervals);
    verdict::steadiness(runs, style.columns)
        + &addressed(runs, style.columns)
        + &layout::wrapped(&sentence, style.columns)
}

/// The code of the warning that a load leaves a part of the array alone.
pub const ADDRESS_SPACE: &str = "address-space";

/// Which runs leave a part of their array alone: one line for all that leave the same.
fn addressed(runs: &[Report], columns: usize) -> String {
    let mut alike: Vec<(&str, Vec<&str>)> = Vec::new();
    for run in runs {
        for warning in run.warnings.iter().filter(|warning| warning.code == ADDRESS_SPACE) {
            match alike.iter_mut().find(|(text, _)| *text == warning.text) {
                Some((_, labels)) => labels.push(label(run)),
                None => alike.push((&warning.text, vec![label(run)])),
            }
        }
    }
    let line = |(text, labels): (&str, Vec<&str>)| match &labels[..] {
        labels if labels.len() == runs.len() => format!("note: {text}"),
        [first] => format!("note: under {first} {text}"),
        [first, more @ ..] => format!("note: under {first} and {} more {text}", more.len()),
        [] => String::new(),
    };
    alike.into_iter().map(|entry| layout::wrapped(&line(entry), columns)).collect()
}

/// A text that begins a sentence.
pub fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

/// What a run is called: its label, or the policy of a run that has none.
pub fn label(run: &Report) -> &str {
    if run.label.is_empty() { &run.array.coordination.policy } else { &run.label }
}

/// The name of the scenario all runs share.
pub fn scenario_name(runs: &[Report]) -> &str {
    let name = runs.first().and_then(|run| run.scenario.get("name")).and_then(serde_json::Value::as_str);
    name.unwrap_or("scenario")
}

/// What all runs have in common: "hpc-w: 8 x slc-2008, raid0, 100% full, 100,000 requests of 512 KiB on average, 209.9 s simulated,
/// seed 1". Arrays with redundancy have what the host can use of them beside the devices. Behind the requests of a
/// trace stands what makes them another load than the one recorded.
pub fn headline(runs: &[Report]) -> String {
    headline_with(runs, |run| format!("seed {}", run.seed))
}

fn headline_with(runs: &[Report], seed: impl Fn(&Report) -> String) -> String {
    let mut facts = Vec::new();
    let mut fact = |show: &dyn Fn(&Report) -> String| {
        if let Some(first) = runs.first().map(show)
            && runs.iter().all(|run| show(run) == first)
        {
            facts.push(first);
        }
    };
    fact(&|run| match (run.members(), preset(run)) {
        _ if named_by_drives(run) => String::new(),
        (devices, Some(preset)) => format!("{devices} x {preset}"),
        (1, None) => "1 device".to_owned(),
        (devices, None) => format!("{devices} devices"),
    });
    fact(&|run| match run.members() {
        1 => String::new(),
        _ if named_by_drives(run) => String::new(),
        _ => level(run).to_owned(),
    });
    // Without redundancy the host can use what the members hold.
    if runs.iter().any(|run| run.array.redundancy.is_some() && run.array.usable_bytes > 0) {
        fact(&|run| match divisor(run) {
            1 => format!("{} usable", numbers::bytes(run.array.usable_bytes)),
            scale => {
                format!("about {} usable", numbers::decimal_bytes((run.array.usable_bytes * scale) as f64))
            }
        });
    }
    fact(&|run| match divisor(run) {
        1 => String::new(),
        scale => format!("simulated at 1/{scale} of the capacity"),
    });
    fact(&|run| format!("{:.0}% full", run.precondition.fill * 100.0));
    fact(&|run| format!("{} requests{}", numbers::count(run.host.requests), sizes(run)));
    if runs.iter().any(|run| run.trace.is_some()) {
        fact(&|run| {
            run.trace.as_ref().map(|trace| load::changes(trace, run.is_scaled())).unwrap_or_default()
        });
    }
    // Runs of one load end within a response time of one another; more digits would only tell them apart.
    fact(&|run| format!("{} simulated", numbers::span(run.simulated_ns)));
    fact(&seed);
    facts.retain(|fact| !fact.is_empty());
    format!("{}: {}", scenario_name(runs), facts.join(", "))
}

/// The device preset of a run, where its scenario has one.
fn preset(run: &Report) -> Option<&str> {
    run.scenario.pointer("/ssd/preset").and_then(serde_json::Value::as_str)
}

/// Whether the scenario's name says drives and level, as that of an array without a scenario does.
fn named_by_drives(run: &Report) -> bool {
    let name = run.scenario.get("name").and_then(serde_json::Value::as_str).unwrap_or_default();
    preset(run).is_some_and(|preset| name == format!("{} x {preset}, {}", run.members(), level(run)))
}

/// One in how many bytes of a drive is simulated.
fn divisor(run: &Report) -> u64 {
    let scale = run.scenario.pointer("/ssd/scale").and_then(serde_json::Value::as_str);
    scale.and_then(|scale| scale.strip_prefix("1/")?.parse().ok()).unwrap_or(1)
}

/// How large requests are, behind their number.
fn sizes(run: &Report) -> String {
    let bytes = (run.host.bytes_read + run.host.bytes_written) / run.host.requests.max(1);
    let kind = run.scenario.pointer("/workload/size/distribution").and_then(serde_json::Value::as_str);
    match (bytes, kind) {
        (0, _) => String::new(),
        (bytes, Some("fixed")) => format!(" of {}", numbers::bytes(bytes)),
        (bytes, _) => format!(" of {} on average", numbers::bytes(bytes)),
    }
}

/// Whether the runs that one could build need their SSDs to reveal unlike much.
pub fn needs_differ(runs: &[Report]) -> bool {
    let mut needs = runs.iter().filter(|run| !run.is_ideal()).map(needs);
    let first = needs.next();
    needs.any(|needs| Some(needs) != first)
}

/// What a run needs its SSDs to reveal and accept: a rung of `array.interface`.
pub fn needs(run: &Report) -> &str {
    match run.array.coordination.interface.as_str() {
        "" => numbers::NONE,
        _ if run.is_ideal() => numbers::NONE,
        rung => rung,
    }
}

/// The RAID level of a run.
fn level(run: &Report) -> &str {
    run.scenario.pointer("/array/level").and_then(serde_json::Value::as_str).unwrap_or("raid0")
}

/// A section: a title, then its table.
fn titled(title: &str, table: &Table, style: Style) -> String {
    format!("{}\n{}", style.color.paint(Emphasis::Bold, title), table.render(style.columns, style.color))
}
