//! The concept page's section on parity: its numbers, its figures, and what it says in words.

use std::fmt::Write;

use harmonia_types::Blame;
use harmonia_types::RedundancyCounters;
use harmonia_types::units::format_bytes;

use super::concepts::{ms, percent};
use super::held::{self, Shown};
use super::rows;
use super::runs::{METHODS, PARITY_POLICIES, Runs};

/// The run whose write is drawn.
const HELD: &str = "small raid5 local";
const PAGE: f64 = 4096.0;

/// The figures with their paths.
pub fn figures(runs: &Runs) -> Vec<(String, String)> {
    let shown = Shown::first(runs.beginning(HELD), runs.layout(HELD));
    vec![
        ("docs/concepts/raid5-rows.svg".into(), rows::draw()),
        ("docs/concepts/small-write.svg".into(), held::draw(runs.beginning(HELD), &shown)),
    ]
}

/// What a write of a run costs, each per request. Unit: pages.
struct Cost {
    host: f64,
    pre_read: f64,
    data: f64,
    parity: f64,
}

impl Cost {
    fn of(runs: &Runs, label: &str) -> Cost {
        let report = runs.report(label);
        let per_request = |count: f64| count / report.host.write_requests as f64;
        let data: u64 = report.devices.iter().map(|device| device.host_pages_written).sum();
        Cost {
            host: per_request(report.host.bytes_written as f64 / PAGE),
            pre_read: per_request(redundancy(runs, label).pre_read_bytes as f64 / PAGE),
            data: per_request(data as f64),
            parity: per_request(report.array.parity_pages_written as f64),
        }
    }

    /// Reads and programs of members for a page that the host writes.
    fn amplification(&self) -> f64 {
        (self.pre_read + self.data + self.parity) / self.host
    }
}

fn redundancy(runs: &Runs, label: &str) -> RedundancyCounters {
    runs.report(label).array.redundancy.unwrap_or_else(|| panic!("`{label}` has no parity"))
}

/// Flash pages programmed for one that the host writes.
fn programs(runs: &Runs, label: &str) -> f64 {
    runs.report(label).array.write_amplification.unwrap_or(0.0)
}

/// Every number of the section by its name in the text.
pub fn facts(runs: &Runs) -> Vec<(String, String)> {
    let shown = Shown::first(runs.beginning(HELD), runs.layout(HELD));
    let blame = shown.held.blame;
    let layout = runs.layout(HELD);
    let host = &runs.report(HELD).host;
    let collection = host.blame_phases_ns.parity.gc + host.blame_phases_ns.data.gc;
    let gain = |what: &str, policy: &str| {
        percent(1.0 - runs.mean(&format!("{what} {policy}")) / runs.mean(&format!("{what} local")))
    };
    let facts = [
        ("drawn members", rows::MEMBERS.to_string()),
        ("drawn unit", size(rows::unit_bytes())),
        ("drawn rows", rows::ROWS.to_string()),
        ("drawn written", rows::written()),
        ("parity unit", size(layout.stripe_unit())),
        ("stripe data", size(layout.stripe_unit() * u64::from(layout.members() - 1))),
        ("parity warning", warning(runs)),
        ("cost table", cost_table(runs)),
        ("level table", level_table(runs)),
        ("blame table", blame_table(runs, &shown)),
        ("held data", format!("SSD {}", shown.data.0)),
        ("held parity", format!("SSD {}", shown.parity.0)),
        ("held response", ms((shown.held.finish - shown.held.arrival) as f64)),
        ("held work", ms((blame.total() - blame.queue_gc()) as f64)),
        ("held pre-read wait", ms(blame.parity.queue_gc as f64)),
        ("held write wait", ms(blame.data.queue_gc as f64)),
        ("collection share", percent(collection as f64 / host.blame_ns.total() as f64)),
        ("parity share", percent(host.blame_phases_ns.parity.gc as f64 / collection as f64)),
        ("parity programs", percent(parity_programs(runs, "raid5 local"))),
        ("programs spread", format!("{:.1}", programs(runs, HELD))),
        ("programs resonant", format!("{:.1}", programs(runs, "resonant local"))),
        ("gain raid5", gain("raid5", "reactive-inclusive")),
        ("gain small raid0", gain("small raid0", "reactive-inclusive")),
        ("gain small raid5", gain("small raid5", "reactive-inclusive")),
        ("gain gclock wide raid0", gain("wide raid0", "gclock")),
        ("gain gclock wide raid5", gain("wide raid5", "gclock")),
    ];
    let mut facts: Vec<_> = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for label in runs.labels() {
        let write = runs.report(label).host.response_ns.write.mean.unwrap_or(0.0);
        facts.push((format!("write mean {label}"), ms(write)));
    }
    facts
}

/// What the report of the run with parity on few dies says of it, up to the reason.
fn warning(runs: &Runs) -> String {
    let warnings = &runs.report("resonant local").warnings;
    let warning = warnings.iter().find(|warning| warning.code == "parity-resonance");
    let text = &warning.expect("parity on few dies is told").text;
    text.split(',').next().unwrap_or(text).to_owned()
}

/// 64 KiB.
fn size(bytes: u64) -> String {
    format_bytes(bytes).replace("KiB", " KiB")
}

/// Parity pages for a page that the host writes.
fn parity_programs(runs: &Runs, label: &str) -> f64 {
    let array = &runs.report(label).array;
    array.parity_pages_written as f64 / array.host_pages_written as f64
}

fn cost_table(runs: &Runs) -> String {
    let mut table = String::from(
        "| parity made by | host writes | pages read first | data pages written | parity pages written | page operations \
         a host page | mean |\n|---|---|---|---|---|---|---|\n",
    );
    for (method, _) in METHODS {
        let label = format!("cost {method} ideal");
        let cost @ Cost { host, pre_read, data, parity } = &Cost::of(runs, &label);
        let size = size((host * PAGE) as u64);
        let mean = ms(runs.mean(&label) * 1e6);
        let _ = writeln!(
            table,
            "| {method} | {size} | {pre_read:.0} | {data:.0} | {parity:.0} | {:.2} | {mean} |",
            cost.amplification()
        );
    }
    table.trim_end().to_owned()
}

fn level_table(runs: &Runs) -> String {
    let mut table = String::from(
        "| policy | met, RAID-0 | met, RAID-5 | mean, RAID-0 | mean, RAID-5 | p99, RAID-0 | p99, RAID-5 |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for policy in PARITY_POLICIES {
        let labels = ["even", "raid5"].map(|what| format!("{what} {policy}"));
        let both = |value: &dyn Fn(&str) -> String| labels.each_ref().map(|label| value(label)).join(" | ");
        let p99 = |label: &str| runs.report(label).host.response_ns.all.p99.unwrap_or(0) as f64;
        let name = if policy == "ideal" { "*ideal*".to_owned() } else { format!("`{policy}`") };
        let _ = writeln!(
            table,
            "| {name} | {} | {} | {} |",
            both(&|label| percent(runs.met(label))),
            both(&|label| ms(runs.mean(label) * 1e6)),
            both(&|label| ms(p99(label))),
        );
    }
    table.trim_end().to_owned()
}

/// Blame of the write that is drawn, and of all requests of its run.
fn blame_table(runs: &Runs, shown: &Shown) -> String {
    let host = &runs.report(HELD).host;
    let all = host.blame_ns.total() as f64;
    let share = |ns: u128| format!("{:.1}%", 100.0 * ns as f64 / all);
    let row = |name: &str, cells: [String; 5]| format!("| {name} | {} |\n", cells.join(" | "));
    let of_write = |blame: &Blame| {
        let Blame { service, transfer, queue_host, queue_gc, link, .. } = *blame;
        [queue_gc, queue_host, service, transfer, link].map(|ns| ms(ns as f64))
    };
    let of_all =
        |sum: &harmonia_metrics::ResourceSum| [sum.gc, sum.queue, sum.flash, sum.bus, sum.link].map(share);
    let mut table = String::from(
        "| phase | waits for collection | waits for other requests | flash | bus | link |\n|---|---|---|---|---|---|\n",
    );
    table += &row("this write, `parity`", of_write(&shown.held.blame.parity));
    table += &row("this write, `data`", of_write(&shown.held.blame.data));
    table += &row("all requests, `parity`", of_all(&host.blame_phases_ns.parity));
    table += &row("all requests, `data`", of_all(&host.blame_phases_ns.data));
    table.trim_end().to_owned()
}

/// What the section says in words, and whether the runs show it.
pub fn statements(runs: &Runs) -> Vec<(&'static str, bool)> {
    let mean = |label: &str| runs.mean(label);
    let cost = |method: &str| Cost::of(runs, &format!("cost {method} ideal"));
    let is = |value: f64, expected: f64| (value - expected).abs() < 0.005 * expected.max(1.0);
    let collecting = ["local", "reactive-inclusive", "gclock"];
    let data_units = f64::from(runs.layout(HELD).members() - 1);
    let left = |what: &str, policy: &str| mean(&format!("{what} {policy}")) / mean(&format!("{what} local"));
    vec![
        ("read-modify-write reads the old data and the old parity", {
            is(cost("read-modify-write").pre_read, 2.0) && is(cost("read-modify-write").amplification(), 4.0)
        }),
        ("reconstruct-write reads the other units", {
            is(cost("reconstruct-write").pre_read, data_units - 1.0)
        }),
        ("a full stripe reads nothing", {
            let full = cost("full stripe");
            full.pre_read == 0.0 && is(full.amplification(), (data_units + 1.0) / data_units)
        }),
        ("with parity requests meet more collection, whatever the policy", {
            [("even", "raid5"), ("wide raid0", "wide raid5"), ("small raid0", "small raid5")].iter().all(
                |(without, with)| {
                    collecting.iter().all(|policy| {
                        runs.met(&format!("{with} {policy}")) > 1.1 * runs.met(&format!("{without} {policy}"))
                    })
                },
            )
        }),
        ("coordination gains with parity too, and for small writes only with it", {
            left("raid5", "reactive-inclusive") < 0.3
                && left("small raid0", "reactive-inclusive") > 0.9
                && left("small raid5", "reactive-inclusive") < 0.7
        }),
        ("keeping members apart is slightly worse than local, and far from inclusive", {
            (1.0..1.1).contains(&left("raid5", "gclock"))
                && ["raid5", "wide raid5", "small raid5"].iter().all(|what| {
                    left(what, "gclock") > 0.8
                        && left(what, "gclock") > 1.4 * left(what, "reactive-inclusive")
                })
        }),
        ("with parity the 99th percentile is nearly two collections", {
            let p99 = |label: &str| runs.report(label).host.response_ns.all.p99.unwrap_or(0) as f64;
            p99("raid5 local") > 1.5 * p99("even local")
                && p99("raid5 reactive-inclusive") < 1.2 * p99("even reactive-inclusive")
        }),
        ("where requests need few members, keeping them apart is better than local", {
            left("wide raid0", "gclock") < 0.9 && left("wide raid5", "gclock") < 0.95
        }),
        ("parity on few dies makes every member collect much more", {
            programs(runs, "resonant local") > 2.5 * programs(runs, HELD)
        }),
    ]
}
