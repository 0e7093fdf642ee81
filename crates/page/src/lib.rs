//! `report.html`: what the runs show, for whoever would rather look than read.
//!
//! ```text
//!   reports ------> loads --> words, table, cross --> text of the page
//!           \-----> marks, shown --> data for the charts --.
//!   recordings ---> bytes in Base64 -----------------------+-> assets/*.js draw    (recordings, encode)
//! ```
//!
//! One file that asks for nothing: scripts and styles are inside, a content security policy forbids every request, and
//! recordings are decoded when a run is chosen. Text is written here, so it is there without scripts; only charts are
//! drawn by them. Colours are after Okabe and Ito; whatever a colour tells, a dash, a shape, hatching or a label tells
//! too.
//!
//! `explained` is a page of its own, about single requests.
//!
//! Leaves out: which operations of a die belong to which request, but on that page; of a long sweep the recordings of all but 24 runs.

mod cross;
mod data;
mod encode;
mod explained;
mod failures;
mod frontier;
mod html;
mod marks;
mod over_time;
mod planes;
mod prose;
mod recordings;
mod shown;
mod table;
#[cfg(test)]
mod tests;
mod words;
mod years;

use std::fmt::Write as _;

use harmonia_metrics::recording::Recording;
use harmonia_metrics::{Comparison, Part, Report};

pub use explained::explanation;
use harmonia_scenario::policies::coordinated;
use harmonia_tables::{self as tables, Cross, loads, numbers};
use html::escaped;
pub use recordings::Recordings;

const PAGE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/page.css");
/// Whether a page needs it, and the script.
type Script = (fn(&Needs) -> bool, &'static str);
const ALWAYS: fn(&Needs) -> bool = |_| true;
/// What is on some pages only: others are not made longer by it.
struct Needs {
    caches: bool,
    suspended: bool,
}
/// In the order in which they need one another.
const SCRIPTS: [Script; 15] = [
    (ALWAYS, include_str!("assets/base.js")),
    (ALWAYS, include_str!("assets/chosen.js")),
    (ALWAYS, include_str!("assets/recording.js")),
    (ALWAYS, include_str!("assets/responses.js")),
    (ALWAYS, include_str!("assets/frontier.js")),
    (ALWAYS, include_str!("assets/columns.js")),
    (ALWAYS, include_str!("assets/blame.js")),
    (ALWAYS, include_str!("assets/request.js")),
    (ALWAYS, include_str!("assets/timeline_picture.js")),
    (ALWAYS, include_str!("assets/timeline.js")),
    (ALWAYS, include_str!("assets/over_time.js")),
    (|page| page.caches, include_str!("assets/over_time_caches.js")),
    (ALWAYS, include_str!("assets/planes.js")),
    (|page| page.suspended, include_str!("assets/planes_suspended.js")),
    (ALWAYS, include_str!("assets/main.js")),
];

/// The page about these runs; of each variant the first seed may have been recorded. `scenario` is the resolved
/// scenario as text.
pub fn render(
    comparison: &Comparison,
    cross: &Cross,
    recordings: &[Option<Recording>],
    scenario: &str,
) -> String {
    let runs = &tables::means(comparison);
    let intervals = &comparison.intervals;
    let parts = loads::parts(comparison, cross, runs);
    let words = words::of(comparison, runs, &parts);
    let marks = marks::marks(cross, runs);
    let shown = shown::shown(&parts, &words.spoken_of, runs.len());
    let drawn: Vec<Report> =
        runs.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(run, _)| run.clone()).collect();
    let kept = shown::recorded(&shown);
    let recordings: Vec<Option<&Recording>> =
        (0..runs.len()).map(|run| recordings.get(run)?.as_ref().filter(|_| kept[run])).collect();
    let frontier = frontier::Frontier::of(runs, &intervals.variants, parts.len());
    let planes = planes::Planes::of(recordings.iter().flatten().copied());
    let ssds_shown = over_time::shown(kept.iter().filter(|kept| **kept).count(), runs);
    let charts = data::Charts {
        comparison,
        runs,
        marks: &marks,
        shown: &shown,
        kept: &kept,
        recordings: &recordings,
        planes: &planes,
        frontier: frontier.as_ref(),
        ssds_shown,
    };
    let data::Encoded { data, recordings: encoded } = charts.encode();
    let seeds = charts.seeds();
    let needs =
        Needs { caches: runs.iter().any(over_time::has_cache), suspended: planes.has_suspended(&recordings) };
    let needed = SCRIPTS.iter().filter(|(is_needed, _)| is_needed(&needs));
    let script: String = needed.map(|(_, script)| *script).collect();
    filled(PAGE, &|slot| match slot {
        "version" => escaped(version(runs)),
        "title" => escaped(&format!("{} - {}", words.headline, tables::scenario_name(runs))),
        "style" => filled(STYLE, &|_| part_colors()),
        "kicker" => escaped(tables::heading(comparison, runs).trim_end()),
        "headline" => html::emphasised(&words.headline),
        "cautions" => prose::cautions(&words.cautions),
        "lead" => prose::sentences(&words.lead, parts.len() > 1),
        "why" => prose::sentences(&words.why, false),
        "policies" => policies(runs),
        "table" => table::table(&parts, &marks, cross.heading().as_deref().unwrap_or("run")),
        "table_class" => if table::is_long(&parts) { "scroll long" } else { "scroll" }.to_owned(),
        "winners" => cross::winners(&parts),
        "matrix" => cross::matrix(comparison, cross, runs, &parts),
        "table_caption" => escaped(&table::caption(&parts, runs, intervals)),
        "failures" => failures::section(runs) + &years::section(comparison),
        "kept_away" => kept_away(runs),
        "frontier_hidden" => if frontier.is_none() { " hidden" } else { "" }.to_owned(),
        "frontier_title" => {
            html::emphasised(&frontier.as_ref().map(frontier::Frontier::title).unwrap_or_default())
        }
        "frontier_caption" => frontier.as_ref().map(frontier::Frontier::caption).unwrap_or_default(),
        "responses_title" => html::emphasised(&words.titles.responses),
        "over_time_hidden" => over_time::hidden(runs).to_owned(),
        "over_time_title" => html::emphasised(&over_time::title(&drawn)),
        "over_time_caption" => over_time::caption(runs, ssds_shown),
        "planes_hidden" => planes.hidden().to_owned(),
        "planes_title" => html::emphasised(&planes::title(&drawn)),
        "planes_caption" => planes.caption(),
        "overlap_title" => html::emphasised(&words.titles.overlap),
        "blame_title" => html::emphasised(&words.titles.blame),
        "wear_title" => html::emphasised(&words.titles.wear),
        "origin" => escaped(&origin(comparison)),
        "scenario" => escaped(scenario),
        "recorded" => escaped(&recorded(runs, &recordings, seeds)),
        "data" => html::json(&data),
        "recordings" => encoded.clone(),
        "script" => format!("(() => {{\n\"use strict\";\n{script}}})();"),
        other => unreachable!("the page has no slot {other}"),
    })
}

/// A template with its `{{slots}}` filled; what fills one is not looked at again.
fn filled(template: &str, fill: &dyn Fn(&str) -> String) -> String {
    let mut pieces = template.split("{{");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (slot, rest) = piece.split_once("}}").unwrap_or((piece, ""));
        text.push_str(&fill(slot));
        text.push_str(rest);
    }
    text
}

/// The colours of the parts of a response time, as the style sheet has them.
fn part_colors() -> String {
    let parts = Part::all().into_iter().enumerate();
    parts.map(|(index, part)| format!("--part-{index}: {};", part.shown.color)).collect::<Vec<_>>().join(" ")
}

fn version(runs: &[Report]) -> &str {
    runs.first().map_or(env!("CARGO_PKG_VERSION"), |run| &run.version)
}

/// What each policy that ran does.
fn policies(runs: &[Report]) -> String {
    let mut told: Vec<(&str, String)> = Vec::new();
    for run in runs {
        let entry = match run.is_ideal() {
            true => Some((
                "ideal",
                "collecting takes no time: a bound to compare with, not something one can build".to_owned(),
            )),
            false => {
                let policy = run.array.coordination.policy.as_str();
                coordinated(policy).map(|does| (policy, does))
            }
        };
        told.extend(entry.filter(|entry| !told.contains(entry)));
    }
    let pairs =
        told.iter().map(|(name, does)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(does)));
    pairs.collect()
}

/// What the array did to keep requests from SSDs that collect, a line a run; empty where all wait.
fn kept_away(runs: &[Report]) -> String {
    let lines: String =
        tables::kept_away(runs).iter().map(|line| format!("<li>{}</li>\n", escaped(line))).collect();
    if lines.is_empty() {
        return lines;
    }
    format!(
        "<details id=\"kept-away\"><summary>Requests kept from SSDs that collect</summary>\n<ul>\n{lines}</ul>\n</details>"
    )
}

fn origin(comparison: &Comparison) -> String {
    let runs = &comparison.runs;
    let mut seeds: Vec<u64> = runs.iter().map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    format!(
        "Simulated by Harmonia {}, scenario {}, seed {}. The same scenario and seed give the same figures on any machine. \
         Beside this page, report.json has every number and scenario.toml runs it again.",
        version(runs),
        tables::scenario_name(runs),
        seeds.join(", ")
    )
}

/// What share of the runs can be looked at.
fn recorded(runs: &[Report], recordings: &[Option<&Recording>], seeds: usize) -> String {
    let kept = recordings.iter().flatten().map(|recording| recording.kept.len() as u64).sum::<u64>();
    let seen = recordings.iter().flatten().map(|recording| recording.requests).sum::<u64>();
    let shown = recordings.iter().flatten().count();
    let mut text = format!(
        "Table, response times, blame and wear count every request. The timeline's curves do too, in slices of time whose \
         response times are known to about 6%. Single requests are kept for {} of {} ({} in all runs): an even sample, \
         the slowest of each slice, and every one in the tinted windows around the slowest request and at a moment \
         chosen without looking.",
        numbers::count(kept),
        numbers::count(seen),
        numbers::percent(if seen == 0 { 0.0 } else { kept as f64 / seen as f64 }),
    );
    if seeds > 1 {
        let _ = write!(
            text,
            " Figures, shares and blame are means over {seeds} seeds; response times, timeline, SSDs over time and wear are \
             drawn for the first of them."
        );
    }
    if shown < runs.len() {
        let _ = write!(text, " The timeline has {shown} of the {} runs.", runs.len());
    }
    text
}
