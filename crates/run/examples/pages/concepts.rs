//! `docs/concepts.md` and its figures: a text of ours (`concepts.md` beside this file) in which every number,
//! written `{{name}}`, comes from a run.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::GENERATED;
use super::chart::{self, Panel, thousands};
use super::runs::{BURSTS, CAPABLE, DISTANCES, LATENCIES, POLICIES, Runs, SIZES, SKEWS, VICTIMS};
use super::{failing, parity, timeline};

const TEXT: &str = include_str!("concepts.md");

/// The page and its figures.
pub fn pages(runs: &Runs) -> Vec<(String, String)> {
    let mut pages = figures(runs);
    pages.extend(parity::figures(runs));
    pages.extend(failing::figures(runs));
    pages.push(("docs/concepts.md".into(), filled(TEXT, &facts(runs))));
    pages
}

/// What the page says in words, and whether the runs show it; for the test.
#[allow(dead_code)]
pub fn statements(runs: &Runs) -> Vec<(&'static str, bool)> {
    let mean = |label: &str| runs.mean(label);
    let rises = |labels: &[String]| labels.windows(2).all(|pair| mean(&pair[0]) < mean(&pair[1]));
    let of = |what: &str, settings: &[&str], policy: &str| -> Vec<String> {
        settings.iter().map(|setting| format!("{what} {setting} {policy}")).collect()
    };
    let nearly = |a: f64, b: f64, within: f64| (a / b - 1.0).abs() < within;
    let p99 = |label: &str| runs.report(label).host.response_ns.all.p99.unwrap_or(0) as f64;
    let took = |label: &str| runs.report(label).simulated_ns as f64;
    let mut statements = vec![
        ("every member collects as much as before", {
            nearly(runs.one_collects("even reactive-inclusive"), runs.one_collects("even local"), 0.1)
        }),
        ("selective and inclusive are the same on even load", {
            mean("even reactive-selective") == mean("even reactive-inclusive")
        }),
        ("taking turns is worse than local where nothing is redundant", {
            mean("even gcsync").min(mean("even gclock")) > mean("even local")
        }),
        ("the 99th percentile stays", nearly(p99("even reactive-inclusive"), p99("even local"), 0.05)),
        ("a request of one page gains nothing", {
            nearly(mean("size 4 reactive-inclusive"), mean("size 4 local"), 0.1)
        }),
        ("the more members, the worse without coordination", {
            rises(&["4", "8", "16", "32"].map(|kib| format!("size {kib} local")))
        }),
        ("more victims at a time, longer responses", {
            rises(&of("victims", &VICTIMS, "local")) && rises(&of("victims", &VICTIMS, "reactive-inclusive"))
        }),
        ("under skew inclusive erases more and selective does not", {
            runs.erases("skew 0.5 reactive-inclusive") > 2.5 * runs.erases("skew 0.5 local")
                && mean("skew 0.5 reactive-inclusive") > 0.95 * mean("skew 0.5 local")
                && nearly(runs.erases("skew 0.5 reactive-selective"), runs.erases("skew 0.5 local"), 0.03)
        }),
        ("under skew selective answers sooner than both", {
            mean("skew 0.5 reactive-selective")
                < mean("skew 0.5 reactive-inclusive").min(mean("skew 0.5 local"))
        }),
        ("denser bursts leave coordination less to win", {
            let gains = BURSTS.map(|rate| {
                mean(&format!("bursts {rate} reactive-selective")) / mean(&format!("bursts {rate} local"))
            });
            gains.windows(2).all(|pair| pair[0] < pair[1])
        }),
        ("between bursts there is time to collect", {
            mean("bursts 10000 proactive-idle") < 0.5 * mean("bursts 10000 reactive-selective")
                && runs.erases("bursts 10000 proactive-idle") > runs.erases("bursts 10000 reactive-selective")
        }),
        ("a saturated array gains little", {
            nearly(took("closed reactive-inclusive"), took("closed local"), 0.05)
        }),
        ("slow messages, less gain, and still some", {
            let of = |latency: &str| mean(&format!("latency {latency} reactive-inclusive"));
            of("100us") < of("0us") && of("0us") < of("10ms") && of("10ms") < mean("even local")
        }),
        ("a soft threshold further off costs erases and time under skew", {
            rises(&of("soft", &DISTANCES, "reactive-selective"))
                && runs.erases("soft 8 reactive-selective") > runs.erases("soft 1 reactive-selective")
        }),
        ("every capable member helps", {
            let reversed: Vec<_> = CAPABLE.iter().rev().collect();
            rises(&reversed.iter().map(|n| format!("capable {n} reactive-inclusive")).collect::<Vec<_>>())
        }),
    ];
    statements.extend(parity::statements(runs));
    statements.extend(failing::statements(runs));
    statements
}

/// Every number of the page by its name in the text.
fn facts(runs: &Runs) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut add = |name: &str, value: String| {
        facts.insert(name.to_owned(), value);
    };
    for label in runs.labels() {
        let all = &runs.report(label).host.response_ns.all;
        add(&format!("mean {label}"), ms(all.mean.unwrap_or(0.0)));
        add(&format!("p50 {label}"), ms(all.p50.unwrap_or(0) as f64));
        add(&format!("p99 {label}"), ms(all.p99.unwrap_or(0) as f64));
        add(&format!("max {label}"), ms(all.max.unwrap_or(0) as f64));
        add(&format!("met {label}"), percent(runs.met(label)));
        add(&format!("some {label}"), percent(runs.some_collects(label)));
        add(&format!("each {label}"), percent(runs.one_collects(label)));
        add(&format!("erases {label}"), thousands(runs.report(label).array.erases));
        let live = runs.report(label).array.gc_pages_moved as f64 / runs.erases(label);
        add(&format!("live {label}"), format!("{live:.0}"));
        add(&format!("event {label}"), format!("{:.0} ms", runs.victim_ms(label)));
        let amplification = runs.report(label).array.write_amplification.unwrap_or(0.0);
        add(&format!("amplification {label}"), format!("{amplification:.1}"));
        let rate = all.count as f64 / (runs.report(label).simulated_ns as f64 / 1e9);
        add(&format!("rate {label}"), thousands(rate as u64));
    }
    let each = runs.one_collects("even local");
    add("chance of eight", percent(1.0 - (0..8).fold(1.0, |none, _| none * (1.0 - each))));
    let times = runs.erases("skew 0.5 reactive-inclusive") / runs.erases("skew 0.5 local");
    add("times erases", format!("{times:.1}"));
    add("gain", percent(1.0 - runs.mean("even reactive-inclusive") / runs.mean("even local")));
    add("table", table(runs));
    facts.extend(parity::facts(runs));
    facts.extend(failing::facts(runs));
    facts
}

fn table(runs: &Runs) -> String {
    let mut table = String::from(
        "| policy | mean | median | 99th percentile | met collection | blocks erased |\n|---|---|---|---|---|---|\n",
    );
    for policy in POLICIES {
        let all = &runs.report(&format!("even {policy}")).host.response_ns.all;
        let (median, p99) = (ms(all.p50.unwrap_or(0) as f64), ms(all.p99.unwrap_or(0) as f64));
        let met = percent(runs.met(&format!("even {policy}")));
        let erases = thousands(runs.report(&format!("even {policy}")).array.erases);
        let name = match policy {
            "ideal" => "*ideal*: collection takes no time".to_owned(),
            policy => format!("[`{policy}`](policies/coordination-{policy}.md)"),
        };
        let _ = writeln!(
            table,
            "| {name} | {} | {median} | {p99} | {met} | {erases} |",
            ms(all.mean.unwrap_or(0.0))
        );
    }
    table.trim_end().to_owned()
}

fn figures(runs: &Runs) -> Vec<(String, String)> {
    let mut figures = Vec::new();
    let mut add = |name: &str, figure: String| figures.push((format!("docs/concepts/{name}.svg"), figure));
    let timeline = |title: &str, labelled: &[(&str, &str)]| {
        let drawn: Vec<_> = labelled.iter().map(|(run, heading)| (*heading, runs.beginning(run))).collect();
        timeline::draw(title, &drawn)
    };
    add(
        "one-ssd",
        timeline(
            "Response times of one SSD over 300 ms, and when it collects",
            &[("one local", "one SSD, requests of one page")],
        ),
    );
    add(
        "array",
        timeline(
            "Response times of eight SSDs over 300 ms, without and with coordination",
            &[
                ("even local", "local: every SSD collects on its own"),
                ("even reactive-inclusive", "reactive-inclusive: when one collects, all do"),
            ],
        ),
    );
    add(
        "skewed-array",
        timeline(
            "The same with half of all requests to SSD 0",
            &[
                ("skew 0.5 local", "local"),
                ("skew 0.5 reactive-inclusive", "reactive-inclusive: all collect whenever SSD 0 must"),
                ("skew 0.5 reactive-selective", "reactive-selective: those near their threshold join in"),
            ],
        ),
    );
    let line = |policy: &'static str, what: &str, settings: &[&str], value: &dyn Fn(&str) -> f64| {
        (
            policy,
            settings.iter().map(|setting| value(&format!("{what} {setting} {policy}"))).collect::<Vec<_>>(),
        )
    };
    let constant =
        |policy: &'static str, value: f64, settings: &[&str]| (policy, vec![value; settings.len()]);
    let mean = |label: &str| runs.mean(label);
    let met = |label: &str| 100.0 * runs.met(label);
    let erases = |label: &str| runs.erases(label);
    let both = ["local", "reactive-inclusive"];

    let kib = SIZES.map(|(kib, _)| kib.to_string());
    let kib = kib.each_ref().map(String::as_str);
    let names = SIZES.map(|(kib, members)| format!("{kib} KiB ({members})"));
    let names = names.each_ref().map(String::as_str);
    let panel = |title, value: &dyn Fn(&str) -> f64| Panel {
        title,
        setting: "size of a request (members it touches)",
        settings: &names,
        lines: both.map(|policy| line(policy, "size", &kib, value)).to_vec(),
    };
    add(
        "request-size",
        chart::draw(
            "Requests that touch more members meet more garbage collection",
            &[panel("met garbage collection, %", &met), panel("mean response time, ms", &mean)],
        ),
    );

    let three = ["local", "reactive-inclusive", "reactive-selective"];
    let panel = |title, value: &dyn Fn(&str) -> f64| Panel {
        title,
        setting: "share of requests that go to SSD 0",
        settings: &SKEWS,
        lines: three.map(|policy| line(policy, "skew", &SKEWS, value)).to_vec(),
    };
    add(
        "skew",
        chart::draw(
            "Skewed load: erases and response times",
            &[panel("blocks erased", &erases), panel("mean response time, ms", &mean)],
        ),
    );
    let victims = Panel {
        title: "mean response time, ms",
        setting: "blocks an event collects at least (ssd.gc.min_victims)",
        settings: &VICTIMS,
        lines: both.map(|policy| line(policy, "victims", &VICTIMS, &mean)).to_vec(),
    };
    let latency = Panel {
        title: "mean response time, ms",
        setting: "time a message takes (message_latency)",
        settings: &LATENCIES,
        lines: vec![
            constant("local", mean("even local"), &LATENCIES),
            line("reactive-inclusive", "latency", &LATENCIES, &mean),
        ],
    };
    add("victims-and-messages", chart::draw("Victims an event, and slow messages", &[victims, latency]));

    let mut settings = vec!["none"];
    settings.extend(BURSTS);
    let bursts = ["local", "reactive-selective", "proactive-idle", "ideal"].map(|policy| {
        let mut values = vec![mean(&format!("even {policy}"))];
        values.extend(line(policy, "bursts", &BURSTS, &mean).1);
        (policy, values)
    });
    let panel = Panel {
        title: "mean response time, ms",
        setting: "requests a second within a burst of 100; the same mean rate throughout",
        settings: &settings,
        lines: bursts.to_vec(),
    };
    add("bursts", chart::draw("Bursts", &[panel]));

    let soft = Panel {
        title: "blocks erased, half of the load on SSD 0",
        setting: "soft threshold above hard, blocks",
        settings: &DISTANCES,
        lines: vec![
            constant("local", erases("skew 0.5 local"), &DISTANCES),
            line("reactive-selective", "soft", &DISTANCES, &erases),
        ],
    };
    let capable = CAPABLE.map(|capable| capable.to_string());
    let capable = capable.each_ref().map(String::as_str);
    let mixed = Panel {
        title: "mean response time, ms",
        setting: "members of eight that understand messages",
        settings: &capable,
        lines: vec![
            constant("local", mean("even local"), &capable),
            line("reactive-inclusive", "capable", &capable, &mean),
        ],
    };
    add("soft-and-mixed", chart::draw("Distance of the soft threshold, and mixed arrays", &[soft, mixed]));
    figures
}

/// The text with its numbers.
///
/// # Panics
/// If it names a number that there is not.
fn filled(text: &str, facts: &BTreeMap<String, String>) -> String {
    let mut page = String::new();
    let mut parts = text.split("{{");
    page.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or_else(|| panic!("no end after `{{{{` in `{part}`"));
        let fact =
            facts.get(name).unwrap_or_else(|| panic!("concepts.md names `{name}`, which no run gives"));
        page.push_str(fact);
        page.push_str(rest);
    }
    page.replacen("\n\n", &format!("\n\n{GENERATED}"), 1)
}

pub(super) fn ms(ns: f64) -> String {
    let ms = ns / 1e6;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.1} ms") }
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}
