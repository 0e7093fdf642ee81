//! The page of `harmonia explain --page`: the requests, each with where its time went, and each with a link to it.
//!
//! All of it is text and boxes. The script opens the request that the address names, and writes the name of the one that was opened
//! into the address. Nothing is simulated for it that `explain` has not simulated.

use std::collections::BTreeSet;

use harmonia_metrics::Part;
use harmonia_run::explain::Explanation;
use harmonia_tables::{Told, ToldPart, numbers};

use super::html::escaped;
use super::{STYLE, filled, part_colors};

const PAGE: &str = include_str!("assets/explained.html");
const OWN_STYLE: &str = include_str!("assets/explained.css");
const SCRIPT: &str = include_str!("assets/explained.js");

/// The page of these requests. `scenario` is what was run, as text.
pub fn explanation(of: &Explanation, scenario: &str) -> String {
    let told: Vec<Told> = of.requests.iter().map(Told::of).collect();
    let parts = Part::all();
    let known: BTreeSet<u64> = told.iter().map(|told| told.request).collect();
    let requests: String = told.iter().map(|told| request(told, &parts, &known)).collect();
    let kicker = format!(
        "{}, seed {}: {} of {} measured requests",
        of.scenario,
        of.seed,
        numbers::count(told.len() as u64),
        numbers::count(of.measured)
    );
    let headline = headline(&told, &parts);
    filled(PAGE, &|slot| match slot {
        "version" => escaped(&of.version),
        "title" => escaped(&format!("{headline} - {}", of.scenario)),
        "style" => filled(STYLE, &|_| part_colors()) + OWN_STYLE,
        "kicker" => escaped(&kicker),
        "headline" => escaped(&headline),
        "requests" => requests.clone(),
        "scenario" => escaped(scenario),
        "script" => SCRIPT.to_owned(),
        other => unreachable!("the page has no slot {other}"),
    })
}

/// What most of the time of all these requests went to.
fn headline(told: &[Told], parts: &[Part]) -> String {
    let sum = |part: &Part| {
        let of = |told: &Told| -> u64 {
            told.parts.iter().filter(|one| one.cause == part.counter.name).map(|one| one.ns).sum()
        };
        told.iter().map(of).sum::<u64>()
    };
    let all: u64 = told.iter().map(|told| told.response_ns).sum();
    let whose = match told {
        [only] => format!("the time of request {}", numbers::count(only.request)),
        more => format!("the time of {} requests", numbers::count(more.len() as u64)),
    };
    let most = parts.iter().map(|part| (sum(part), part)).max_by_key(|(ns, _)| *ns);
    match most.filter(|_| all > 0) {
        Some((ns, part)) => {
            format!("{} of {whose}: {}", numbers::percent(ns as f64 / all as f64), part.shown.meaning)
        }
        None => format!("Where {whose} went"),
    }
}

/// A request: the sentence about it, and behind that its parts.
fn request(told: &Told, parts: &[Part], known: &BTreeSet<u64>) -> String {
    let Told { request, what, sentence, response_ns, parts: spent } = told;
    let share = |ns: u64| ns as f64 / (*response_ns).max(1) as f64;
    let bar: String = spent
        .iter()
        .map(|part| {
            format!(
                "<span style=\"flex-grow: {:.4}; background: {}\"></span>",
                share(part.ns) * 100.0,
                color(part.cause, parts)
            )
        })
        .collect();
    let rows: String = spent.iter().map(|part| row(part, share(part.ns), parts, known)).collect();
    format!(
        "<details class=\"explained\" id=\"request-{request}\">\n\
         <summary><b>Request {}</b> took {}, a {}</summary>\n\
         <p>{}</p>\n<div class=\"spent\" aria-hidden=\"true\">{bar}</div>\n\
         <table><thead><tr><th>time</th><th>share</th><th>what it went to</th></tr></thead>\n<tbody>\n{rows}\
         <tr><td>{}</td><td>100%</td><td>from arrival to the end of its last operation</td></tr></tbody></table>\n\
         <p><a href=\"#request-{request}\">Link to this request</a></p>\n</details>\n",
        numbers::count(*request),
        numbers::duration(*response_ns),
        escaped(what),
        escaped(sentence),
        numbers::duration(*response_ns),
    )
}

/// A part, with its collections below it.
fn row(part: &ToldPart, share: f64, parts: &[Part], known: &BTreeSet<u64>) -> String {
    let collections: String =
        part.collections.iter().map(|text| format!("<li>{}</li>", escaped(text))).collect();
    let collections = match collections.is_empty() {
        true => collections,
        false => format!("<ul>{collections}</ul>"),
    };
    let holder = part.held_by.filter(|holder| known.contains(holder));
    let holder = holder.map(|holder| format!(" (<a href=\"#request-{holder}\">that request</a>)"));
    format!(
        "<tr data-ns=\"{}\"><td>{}</td><td>{}</td><td><span class=\"key\" style=\"background: {}\"></span> {}{}{collections}</td></tr>\n",
        part.ns,
        numbers::duration(part.ns),
        numbers::percent(share),
        color(part.cause, parts),
        escaped(&part.text),
        holder.unwrap_or_default(),
    )
}

/// The colour of a cause in every chart.
fn color(cause: &str, parts: &[Part]) -> String {
    match parts.iter().position(|part| part.counter.name == cause) {
        Some(index) => format!("var(--part-{index})"),
        None => "var(--soft)".to_owned(),
    }
}
