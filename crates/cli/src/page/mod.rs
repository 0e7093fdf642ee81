//! `report.html`: what the runs show, for whoever would rather look than read.
//!
//! ```text
//!   reports ------> words, table, cross --> text of the page     (words, table, cross)
//!           \-----> data for the charts --.
//!   recordings ---> bytes in Base64 ------+-> assets/*.js draw    (recordings, encode)
//! ```
//!
//! One file that asks for nothing: scripts and styles are inside, a content security policy forbids every request, and
//! recordings are decoded when a run is chosen. Text is written here, so it is there without scripts; only charts are
//! drawn by them. Colours are after Okabe and Ito; whatever a colour tells, a dash, a shape, hatching or a label tells
//! too.
//!
//! Leaves out: which operations of a die belong to which request; runs of a long sweep beyond the first 48 in the timeline.

mod cross;
mod encode;
mod html;
mod over_time;
mod planes;
mod recordings;
mod table;
#[cfg(test)]
mod tests;
mod words;

use std::fmt::Write as _;

use harmonia_array::coordination;
use harmonia_metrics::recording::Recording;
use harmonia_metrics::{Comparison, Report};
use harmonia_types::registry::find;
use serde_json::{Value, json};

use crate::cross::Cross;
use crate::numbers;
use crate::tables::{self, PARTS, label};
use html::escaped;
pub(crate) use recordings::Recordings;

const PAGE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/page.css");
/// In the order in which they need one another.
const SCRIPTS: [&str; 10] = [
    include_str!("assets/base.js"),
    include_str!("assets/recording.js"),
    include_str!("assets/responses.js"),
    include_str!("assets/columns.js"),
    include_str!("assets/blame.js"),
    include_str!("assets/request.js"),
    include_str!("assets/timeline.js"),
    include_str!("assets/over_time.js"),
    include_str!("assets/planes.js"),
    include_str!("assets/main.js"),
];

/// The page about these runs; of each variant the first seed may have been recorded. `scenario` is the resolved
/// scenario as text.
pub(crate) fn render(
    comparison: &Comparison,
    cross: &Cross,
    recordings: &[Option<Recording>],
    scenario: &str,
) -> String {
    let runs = &tables::means(comparison);
    let intervals = &comparison.intervals;
    let seeds = intervals.variants.first().map_or(1, |variant| variant.seeds.len());
    let recording = |run: usize| recordings.get(run).and_then(Option::as_ref);
    let growth: Vec<Option<f64>> =
        (0..runs.len()).map(|run| recording(run).and_then(Recording::growth)).collect();
    let words = words::of(runs, intervals, &growth);
    let planes = planes::Planes::of(recordings);
    let ssds_shown = over_time::shown(runs);
    let mut encoded = String::new();
    let mut data = Vec::with_capacity(runs.len());
    for (index, run) in runs.iter().enumerate() {
        let header = recording(index).map(|recording| {
            let encode::Encoded { header, base64 } = encode::recording(recording);
            let _ = writeln!(
                encoded,
                "<script type=\"application/octet-stream\" id=\"recording-{index}\">{base64}</script>"
            );
            header
        });
        let mut of_run = run_data(run, recording(index), header);
        of_run["overTime"] = over_time::encode(&comparison.runs[index * seeds], ssds_shown);
        of_run["planes"] = planes.encode(recording(index), index, &mut encoded);
        data.push(of_run);
    }
    let parts: Vec<Value> =
        PARTS.iter().map(|(name, meaning, _)| json!({"name": name, "meaning": meaning})).collect();
    let script = SCRIPTS.concat();
    filled(PAGE, &|slot| match slot {
        "version" => escaped(version(runs)),
        "title" => escaped(&format!("{} - {}", words.headline, tables::scenario_name(runs))),
        "style" => STYLE.to_owned(),
        "kicker" => escaped(tables::heading(comparison, runs).trim_end()),
        "headline" => html::emphasised(&words.headline),
        "sentences" => {
            words.paragraphs.iter().map(|text| format!("<p>{}</p>\n", html::emphasised(text))).collect()
        }
        "cautions" => cautions(&words.cautions),
        "policies" => policies(runs),
        "table" => table::table(runs, intervals, cross.heading().as_deref().unwrap_or("run")),
        "winners" => cross::winners(comparison, runs),
        "matrix" => cross::matrix(comparison, cross, runs),
        "table_caption" => escaped(&table::caption(runs, intervals)),
        "responses_title" => html::emphasised(&words.titles.responses),
        "over_time_hidden" => over_time::hidden(runs).to_owned(),
        "over_time_title" => html::emphasised(&over_time::title(runs)),
        "over_time_caption" => over_time::caption(runs, ssds_shown),
        "planes_hidden" => planes.hidden().to_owned(),
        "planes_title" => html::emphasised(&planes::title(runs)),
        "planes_caption" => planes.caption(),
        "overlap_title" => html::emphasised(&words.titles.overlap),
        "blame_title" => html::emphasised(&words.titles.blame),
        "wear_title" => html::emphasised(&words.titles.wear),
        "origin" => escaped(&origin(comparison)),
        "scenario" => escaped(scenario),
        "recorded" => escaped(&recorded(runs, recordings, seeds)),
        "data" => html::json(&json!({"runs": data, "parts": parts})),
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

fn version(runs: &[Report]) -> &str {
    runs.first().map_or(env!("CARGO_PKG_VERSION"), |run| &run.version)
}

fn cautions(cautions: &[String]) -> String {
    if cautions.is_empty() {
        return String::new();
    }
    let items: String = cautions
        .iter()
        .map(|text| format!("<li class=\"caution\">{}</li>\n", html::emphasised(text)))
        .collect();
    format!("<ul class=\"cautions\">\n{items}</ul>")
}

/// What each policy that ran does.
fn policies(runs: &[Report]) -> String {
    let mut told: Vec<(&str, &str)> = Vec::new();
    for run in runs {
        let policy = run.array.coordination.policy.as_str();
        let entry = match run.is_ideal() {
            true => {
                ("ideal", "collecting takes no time: a bound to compare with, not something one can build")
            }
            false => (policy, find(coordination::REGISTRY, policy).map_or("", |entry| entry.summary)),
        };
        if !entry.1.is_empty() && !told.contains(&entry) {
            told.push(entry);
        }
    }
    let pairs = told.iter().map(|(name, summary)| {
        format!(
            "<dt>{}</dt><dd>{}</dd>\n",
            escaped(name),
            escaped(&summary.replace("GC", "garbage collection").replace("member", "SSD"))
        )
    });
    pairs.collect()
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
fn recorded(runs: &[Report], recordings: &[Option<Recording>], seeds: usize) -> String {
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

/// What the charts need of a run.
fn run_data(run: &Report, recording: Option<&Recording>, header: Option<Value>) -> Value {
    let per_request = |part: u128| match run.host.requests {
        0 => 0.0,
        requests => part as f64 / requests as f64,
    };
    let (ns, share): (Vec<u64>, Vec<f64>) = run.host.response_cdf.iter().copied().unzip();
    let devices = run.devices.iter().map(|device| {
        let wear = &device.wear;
        json!({"erases": device.erases, "wear": [wear.min, wear.mean, wear.max]})
    });
    json!({
        "label": label(run), "ideal": run.is_ideal(), "seed": run.seed, "requests": run.host.requests,
        "min": run.host.response_ns.all.min.unwrap_or(0), "max": run.host.response_ns.all.max.unwrap_or(0),
        "cdf": {"ns": ns, "share": share},
        "blame": PARTS.map(|(_, _, part)| per_request(part(&run.host.blame_ns))),
        "collecting": run.array.devices_in_gc_fraction, "erases": run.array.erases,
        "devices": devices.collect::<Vec<_>>(), "planesBusy": run.array.plane_utilisation_in_gc,
        "momentTitle": moment_title(run, recording), "recording": header,
    })
}

/// What the slowest request waited for.
fn moment_title(run: &Report, recording: Option<&Recording>) -> String {
    let slowest = recording.and_then(|recording| {
        recording.kept.iter().map(|kept| &kept.completion).max_by_key(|completion| completion.response())
    });
    let Some(slowest) = slowest else { return "Moment by moment".to_owned() };
    let response = numbers::ms(slowest.response().as_ns() as f64);
    match slowest.blame.queue_gc() {
        0 => {
            format!("The slowest request under {} took {response} ms, without garbage collection", label(run))
        }
        gc => format!(
            "The slowest request under {} took {response} ms, {} ms of it waiting for garbage collection",
            label(run),
            numbers::ms(gc as f64)
        ),
    }
}
