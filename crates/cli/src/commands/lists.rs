//! `harmonia policies`, `presets`, `formats` and `schema`: what the registries hold, and what scenarios may say.

use harmonia_array::coordination;
use harmonia_flash::presets::Provenance;
use harmonia_scenario::policies::{Needs, needs};
use harmonia_scenario::presets::{self, Kind, PresetInfo};
use harmonia_scenario::schema::json_schema;
use harmonia_scenario::{nearest, printable};
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_ssd::placement;
use harmonia_tables::{Color, Emphasis};
use harmonia_trace::FORMATS;
use harmonia_types::registry::{Entry, OwnKey, Registry};
use serde::Serialize;

use crate::args::ListArguments;
use crate::failure::Failure;
use crate::output::Output;

/// One line of a list.
#[derive(Debug, Clone, Default, Serialize)]
struct Item {
    name: &'static str,
    summary: &'static str,
    /// Where it comes from, in a few words.
    #[serde(skip_serializing_if = "str::is_empty")]
    source: &'static str,
    /// What it needs of an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<Needs>,
    /// Keys of its own that a scenario may give.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keys: Vec<OwnKey>,
    /// What it sets, each with its source; in the JSON only, for they are many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    figures: Vec<Figure>,
}

/// One figure of a preset.
#[derive(Debug, Clone, Serialize)]
struct Figure {
    key: String,
    value: String,
    provenance: String,
}

/// Several lists, each under the name of the key that takes its items.
struct Lists(Vec<List>);

struct List {
    /// Key in the JSON.
    name: &'static str,
    /// What a person reads above it.
    title: &'static str,
    items: Vec<Item>,
}

/// The registries of policies.
pub(crate) fn policies(options: &ListArguments, output: &Output) -> Result<(), Failure> {
    let list = |name, title, items| List { name, title, items };
    let mut coordination = registered(&coordination::POLICIES);
    for (name, needs) in needs() {
        coordination.iter_mut().filter(|item| item.name == name).for_each(|item| item.needs = Some(needs));
    }
    coordination.push(Item {
        name: "ideal",
        summary: "in --policies only: local, and garbage collection takes no time (ssd.gc.schedule = \"ideal\")",
        source: "the bound a comparison is held against",
        ..Item::default()
    });
    let lists = Lists(vec![
        list("coordination", "Coordination: who collects when (array.coordination.policy)", coordination),
        list("victim", "Victim: which block to collect (ssd.gc.victim)", registered(&victim::POLICIES)),
        list("schedule", "Schedule: when among host work (ssd.gc.schedule)", registered(&schedule::POLICIES)),
        list(
            "concurrency",
            "Concurrency: how many channels of a device at once (ssd.gc.concurrency.policy)",
            registered(&concurrency::POLICIES),
        ),
        list(
            "placement",
            "Placement: which write frontier a page goes to (ssd.ftl.placement)",
            registered(&placement::POLICIES),
        ),
    ]);
    lists.print(options, output)
}

/// Scenarios, loads and devices that need no file; or all that one of them says.
pub(crate) fn presets(name: Option<&str>, options: &ListArguments, output: &Output) -> Result<(), Failure> {
    let known = presets::list();
    if let Some(name) = name {
        return preset(&known, name, options, output);
    }
    let list = |name, title, kind| {
        let items = known.iter().filter(|preset| preset.kind == kind).map(preset_item).collect();
        List { name, title, items }
    };
    let lists = Lists(vec![
        list("scenario", "Scenarios: harmonia run NAME, harmonia compare NAME", Kind::Scenario),
        list("workload", "Loads (workload.preset)", Kind::Workload),
        list("device", "Devices (ssd.preset)", Kind::Device),
    ]);
    lists.print(options, output)
}

/// The figures of one preset; those that were fitted stand first.
fn preset(known: &[PresetInfo], name: &str, options: &ListArguments, output: &Output) -> Result<(), Failure> {
    let Some(preset) = known.iter().find(|preset| preset.name == name) else {
        let near = nearest(name, known.iter().map(|preset| preset.name));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(Failure::BadInput(format!(
            "presets {}: there is no such preset{near}\n  allowed: a name of `harmonia presets`",
            printable(name, 60)
        )));
    };
    let item = preset_item(preset);
    if options.json {
        let text =
            serde_json::to_string_pretty(&item).map_err(|error| Failure::Internal(error.to_string()))?;
        return output.data(&(text + "\n"));
    }
    let mut text = format!("{}: {}\n", item.name, item.summary);
    if let Some(scenario) = presets::scenario_text(name) {
        text.push_str(&format!("\n{scenario}"));
    }
    let (fitted, others): (Vec<_>, Vec<_>) =
        preset.parameters.iter().partition(|parameter| matches!(parameter.provenance, Provenance::Fitted(_)));
    for (title, figures) in [("Fitted to measurements", fitted), ("Not fitted", others)] {
        if figures.is_empty() {
            continue;
        }
        text.push_str(&format!(
            "\n{} ({})\n",
            output.stdout_color().paint(Emphasis::Bold, title),
            figures.len()
        ));
        let width = figures.iter().map(|figure| figure.key.len() + figure.value.len()).max().unwrap_or(0);
        for figure in figures {
            let value = format!("{} = {}", figure.key, figure.value);
            text.push_str(&format!("  {value:width$}  {}\n", figure.provenance, width = width + 3));
        }
    }
    output.data(&text)
}

fn preset_item(preset: &PresetInfo) -> Item {
    let figure = |parameter: &presets::Parameter| Figure {
        key: parameter.key.clone(),
        value: parameter.value.clone(),
        provenance: parameter.provenance.to_string(),
    };
    let figures = preset.parameters.iter().map(figure).collect();
    Item { name: preset.name, summary: preset.summary, figures, ..Item::default() }
}

/// Trace formats.
pub(crate) fn formats(options: &ListArguments, output: &Output) -> Result<(), Failure> {
    let item = |format: &harmonia_trace::TraceFormat| Item {
        name: format.name,
        summary: format.summary,
        source: format.source,
        ..Item::default()
    };
    let items = FORMATS.iter().map(item).collect();
    let title = "Trace formats: --trace FILE --format NAME (detected if not given)";
    Lists(vec![List { name: "trace", title, items }]).print(options, output)
}

/// The JSON Schema of scenarios.
pub(crate) fn schema(output: &Output) -> Result<(), Failure> {
    let text =
        serde_json::to_string_pretty(&json_schema()).map_err(|error| Failure::Internal(error.to_string()))?;
    output.data(&(text + "\n"))
}

fn registered<F>(registry: &'static Registry<F>) -> Vec<Item> {
    let item = |entry: &'static Entry<F>| Item {
        name: entry.name,
        summary: entry.summary,
        source: entry.source,
        keys: (entry.keys)(),
        ..Item::default()
    };
    registry.entries().into_iter().map(item).collect()
}

impl Lists {
    fn print(&self, options: &ListArguments, output: &Output) -> Result<(), Failure> {
        if !options.json {
            return output.data(&self.text(output.stdout_color()));
        }
        let lists = self.0.iter().map(|list| Ok((list.name.to_owned(), serde_json::to_value(&list.items)?)));
        let text = lists
            .collect::<Result<serde_json::Map<_, _>, serde_json::Error>>()
            .and_then(|map| serde_json::to_string_pretty(&map))
            .map_err(|error| Failure::Internal(error.to_string()))?;
        output.data(&(text + "\n"))
    }

    fn text(&self, color: Color) -> String {
        let all = self.0.iter().flat_map(|list| &list.items);
        let width = all.map(|item| item.name.len()).max().unwrap_or(0);
        let lists: Vec<String> = self.0.iter().map(|list| list.text(width, color)).collect();
        lists.join("\n")
    }
}

impl List {
    fn text(&self, width: usize, color: Color) -> String {
        let mut text = color.paint(Emphasis::Bold, self.title) + "\n";
        let indent = " ".repeat(width + 4);
        for item in &self.items {
            text.push_str(&format!("  {:width$}  {}\n", item.name, item.summary));
            if !item.source.is_empty() {
                text.push_str(&format!("{indent}from: {}\n", item.source));
            }
            if let Some(Needs { interface, redundancy }) = item.needs {
                let level = if redundancy { ", and a level that keeps data more than once" } else { "" };
                text.push_str(&format!("{indent}needs: array.interface = \"{interface}\"{level}\n"));
            }
            for key in &item.keys {
                let OwnKey { name, takes, meaning, .. } = key;
                let default = key.default_text();
                text.push_str(&format!("{indent}key {name} = {default}: {meaning} Takes {takes}.\n"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_array::Interface;

    #[test]
    fn a_policy_says_what_it_needs_of_an_array() {
        let needs = |redundancy| Some(Needs { interface: Interface::Busy, redundancy });
        let of = |redundancy| {
            let items =
                vec![Item { name: "ioda", summary: "Around.", needs: needs(redundancy), ..Item::default() }];
            Lists(vec![List { name: "x", title: "Title", items }]).text(Color(false))
        };
        assert!(of(false).ends_with("needs: array.interface = \"busy\"\n"), "{}", of(false));
        assert!(of(true).ends_with("\"busy\", and a level that keeps data more than once\n"), "{}", of(true));
    }

    #[test]
    fn a_list_names_each_item_with_its_source_and_keys() {
        let k = OwnKey {
            name: "k".into(),
            takes: "a whole number".into(),
            default: 4.into(),
            meaning: "How many.".into(),
            schema: true.into(),
        };
        let items = vec![
            Item { name: "local", summary: "Each alone.", source: "paper A", ..Item::default() },
            Item { name: "fixed", summary: "k at once.", keys: vec![k], ..Item::default() },
        ];
        let lists = Lists(vec![List { name: "x", title: "Title", items }]);
        let expected = "Title\n  local  Each alone.\n         from: paper A\n  fixed  k at once.\n         key k = 4: How many. Takes a whole number.\n";
        assert_eq!(lists.text(Color(false)), expected);
    }
}
