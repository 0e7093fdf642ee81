//! A page for every registered policy, and the page that lists them.

use std::fmt::Write;

use harmonia_array::coordination::{self, Coordinator, Parameters};
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_ssd::placement;
use harmonia_types::SimDuration;
use harmonia_types::registry::{Entry, OwnKey, find};

use super::terms::linked;
use super::{GENERATED, root};

/// A kind of policies.
struct Kind {
    name: &'static str,
    question: &'static str,
    /// The scenario key that names one.
    key: &'static str,
    /// Where the policies lie, one file each.
    folder: &'static str,
    policies: Vec<Policy>,
}

/// What its registry says of a policy.
struct Policy {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    keys: Vec<OwnKey>,
}

fn policies<F>(registry: &[Entry<F>]) -> Vec<Policy> {
    let policy = |&Entry { name, summary, source, keys, .. }: &Entry<F>| Policy {
        name,
        summary,
        source,
        keys: keys(),
    };
    registry.iter().map(policy).collect()
}

fn kinds() -> [Kind; 5] {
    [
        Kind {
            name: "coordination",
            question: "who collects when, across the members of the array?",
            key: "array.coordination.policy",
            folder: "crates/array/src/coordination",
            policies: policies(coordination::REGISTRY),
        },
        Kind {
            name: "victim",
            question: "which block is collected?",
            key: "ssd.gc.victim",
            folder: "crates/ssd/src/gc/victim",
            policies: policies(victim::REGISTRY),
        },
        Kind {
            name: "schedule",
            question: "does a die serve the host or collect next?",
            key: "ssd.gc.schedule",
            folder: "crates/ssd/src/gc/schedule",
            policies: policies(schedule::REGISTRY),
        },
        Kind {
            name: "concurrency",
            question: "how many channels of a device collect at once?",
            key: "ssd.gc.concurrency.policy",
            folder: "crates/ssd/src/gc/concurrency",
            policies: policies(concurrency::REGISTRY),
        },
        Kind {
            name: "placement",
            question: "which write frontier does a page go to?",
            key: "ssd.ftl.placement",
            folder: "crates/ssd/src/placement",
            policies: policies(placement::REGISTRY),
        },
    ]
}

/// `docs/policies.md` and everything in `docs/policies/`.
pub fn pages() -> Vec<(String, String)> {
    let kinds = kinds();
    let mut pages = vec![("docs/policies.md".to_owned(), index(&kinds))];
    for kind in &kinds {
        let page = |policy| (format!("docs/{}", path(kind, policy)), page(kind, policy));
        pages.extend(kind.policies.iter().map(page));
    }
    pages
}

/// Of a policy's page, below `docs`.
fn path(kind: &Kind, policy: &Policy) -> String {
    format!("policies/{}-{}.md", kind.name, policy.name)
}

fn index(kinds: &[Kind]) -> String {
    let mut page = format!("# Policies\n\n{GENERATED}");
    page.push_str(
        "This page lists all policies. A policy decides one thing about garbage collection. Each has a page with its rule, \
         its source, what it leaves out, and its keys. There are five kinds. A run has one of each, in any combination. \
         `ssd.gc.domain`, `ssd.gc.trigger` and the thresholds in the [scenario keys](scenario.md) are independent of them too. \
         [Concepts](concepts.md) introduces the subject, and the [glossary](glossary.md) explains the terms.\n\nMost policies come from these papers:\n\n\
         - IEEE TC 2012: *Coordinating Garbage Collection for Arrays of Solid-state Drives*.\n\
         - MSST 2011: *Harmonia: A Globally Coordinated Garbage Collector for Arrays of Solid-state Drives*.\n\
         - HPDC 2018: *Parallelizing Garbage Collection with I/O to Improve Flash Resource Utilization*.\n\
         - Electronics 2025: *Adaptive Channel-Aware Garbage Collection Control for Multi-Channel SSDs*.\n\
         - IEEE Access 2019: *A Real-Time Dependable Flash Storage System*.\n",
    );
    for kind in kinds {
        let title = kind.name[..1].to_uppercase() + &kind.name[1..];
        let _ = write!(page, "\n## {title}: {}\n\nKey `{}`.\n\n", kind.question, kind.key);
        page.push_str("| policy | what it does | source |\n|---|---|---|\n");
        for policy in &kind.policies {
            let (name, path) = (policy.name, path(kind, policy));
            let _ = writeln!(page, "| [`{name}`]({path}) | {} | {} |", policy.summary, policy.source);
        }
    }
    page.push_str(
        "\nIn `harmonia compare` the name `ideal` means coordination `local` with the schedule `ideal`. It is what an end \
         of collection alone would bring.\n\nA policy is one file and one line in its registry. [CONTRIBUTING.md](../CONTRIBUTING.md) shows how to \
         add one. It then appears in this list.\n",
    );
    page
}

fn page(kind: &Kind, policy: &Policy) -> String {
    let file = file(kind, policy);
    let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap_or_default();
    let source = read(&file);
    let beside = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let own = shared_modules(&source, "use super::").map(|module| format!("{beside}/{module}.rs"));
    let others = shared_modules(&source, "use crate::coordination::");
    let shared: Vec<_> = own.chain(others.map(|module| format!("{}/{module}.rs", kind.folder))).collect();
    let mut page = format!("# `{}` ({})\n\n{GENERATED}", policy.name, kind.name);
    page.push_str(&linked(&module_text(&source), "../glossary.md"));
    page.push_str("\n## Keys\n\n");
    if policy.keys.is_empty() {
        page.push_str("None of its own.\n");
    } else {
        page.push_str("| key | takes | default | meaning |\n|---|---|---|---|\n");
    }
    let table = kind.key.strip_suffix(".policy").unwrap_or(kind.key);
    for key in &policy.keys {
        let cell = |text: &str| text.replace('|', "\\|");
        let (name, takes, default) = (&key.name, cell(&key.takes), cell(&key.default_text()));
        let _ = writeln!(page, "| `{table}.{name}` | {takes} | {default} | {} |", cell(&key.meaning));
    }
    let _ = write!(page, "\n## Use\n\n```sh\n{}\n```\n", example(kind, policy));
    let _ = write!(page, "\nCode: [{file}](../../{file})");
    for file in shared {
        let _ = write!(page, ", [{file}](../../{file})");
    }
    page.push_str(". See also: [all policies](../policies.md), [glossary](../glossary.md).\n");
    page
}

/// Where a policy is: in a file of its name, in the folder of a scheme that has a planner as well, or, if it is a named setting
/// of another one, in that which names it.
fn file(kind: &Kind, policy: &Policy) -> String {
    let own = format!("{}/{}.rs", kind.folder, policy.name.replace('-', "_"));
    if root().join(&own).exists() {
        return own;
    }
    let scheme = format!("crates/array/src/schemes/{}/coordinator.rs", policy.name.replace('-', "_"));
    if root().join(&scheme).exists() {
        return scheme;
    }
    let entry = format!("name: \"{}\"", policy.name);
    let files = std::fs::read_dir(root().join(kind.folder)).into_iter().flatten().flatten();
    let mut names: Vec<_> = files.map(|file| file.path()).collect();
    names.sort();
    let holds =
        |path: &&std::path::PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains(&entry));
    let name = names.iter().find(holds).and_then(|path| path.file_name());
    name.map_or(own, |name| format!("{}/{}", kind.folder, name.to_string_lossy()))
}

/// A command that shows what the policy does, beside the first of its kind.
fn example(kind: &Kind, policy: &Policy) -> String {
    let first = kind.policies.first().map_or("", |policy| policy.name);
    let names = if first == policy.name { first.to_owned() } else { format!("{first},{}", policy.name) };
    match kind.name {
        "coordination" => {
            format!("harmonia compare {} --policies {names},ideal", scenario(policy.name))
        }
        _ => format!("harmonia compare hpc-w --policies local --set {}={names}", kind.key),
    }
}

/// A scenario that shows what a coordination policy does: one with redundancy if it has a rule of its own for reads.
fn scenario(policy: &str) -> &'static str {
    match policy {
        // It does nothing while no member is missing.
        "spare-the-rebuild" => "raid5-rebuild",
        _ if built(policy).is_some_and(|policy| policy.reads().is_some()) => "raid5-hpc-w",
        _ => "hpc-w",
    }
}

/// Whether a coordination policy needs stripes that are kept free.
fn built(policy: &str) -> Option<Box<dyn Coordinator>> {
    let (message_latency, own) = (SimDuration::ZERO, serde_json::Map::new());
    let parameters = Parameters { devices: 8, redundancy: 1, members: &[], message_latency, own: &own };
    find(coordination::REGISTRY, policy).and_then(|entry| (entry.build)(&parameters).ok())
}

/// Modules that a policy uses, by what their names follow: `trigger` for `use super::trigger::{Config, Trigger};`.
fn shared_modules<'a>(source: &'a str, follows: &'static str) -> impl Iterator<Item = &'a str> {
    let used = source.lines().filter_map(move |line| line.strip_prefix(follows));
    used.filter_map(|path| path.split_once("::")).map(|(module, _)| module)
}

/// The comment a file opens with; links in it are relative to `docs`.
fn module_text(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let text: String = lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect();
    text.replace("Source:", "**Source:**")
        .replace("Leaves out:", "**Leaves out:**")
        .replace("](../", "](../../")
}
