//! The pages of tables: scenario keys, and presets with where their figures come from.

use std::fmt::Write;

use harmonia_reproduce::drives::judged::judge;
use harmonia_reproduce::drives::predicted::{Predictions, page};
use harmonia_reproduce::drives::runs::Shows;
use harmonia_reproduce::drives::{measured, tables};
use harmonia_scenario::presets;
use harmonia_scenario::schema::keys;

use super::{GENERATED, root};

/// What tables of keys do not say.
const STREAMS: &str = r#"
## Loads of several streams, and files

A load may consist of streams, which are merged by time. Each has its own arrivals, sizes, directions and part of the space:

```toml
[workload]
requests = 200000

[workload.stream.log]                # random numbers depend on the name: an added stream changes no other
arrival.rate = 500
size.mean = "4KiB"
address = { pattern = "sequential", footprint = 0.05 }

[workload.stream.tables]
arrival = { process = "on-off", rate = 100, burst_rate = 1000, burst_length = 500 }
size.mean = "256KiB"
read_fraction = 0.5
address = { pattern = "files", file_size = "16MiB", deletes = "oldest", footprint = 0.7 }

[precondition]
fill = 0                             # an empty device: nothing was ever written
```

Parts lie one after the other in the order of the names. The rest of the space is not addressed. `workload.requests`, `duration`,
`warmup`, `align` and `time_scale` are those of the whole load. `--set workload.stream.log.arrival.rate=900` changes one key of
one stream, even where a preset defines the streams. A closed loop and skew cannot be combined with streams.

With `pattern = "files"` a **write** appends to the growing file, or creates one. A **read** takes complete files. A **trim**
deletes a whole file. There is room for footprint / `file_size` files. If a new file finds no room, its write deletes an old
file instead. So with files of one size, the live data at steady state equals the footprint. A share of trims
(`trim_fraction`) deletes more files, whether there is room or not. With any other pattern, trims go where writes might go,
to written and unwritten places.

A device that starts empty fills as the load writes. The share of blocks that are not empty rises to the level at which
collection holds it, however little of the data is live. `precondition.fill` above 0 maps the first part of the space before the
run. Where the load does not address that part, it stays mapped.

Each variant of a comparison warms up under its own coordination policy. With `precondition.warmup_policy = "local"` all that
differ in coordination alone warm up once, under `local`. Then the SSDs complete what is under way, collections included, and each
variant goes on with copies of them and the rest of the load. This saves the time of the other warm-ups, and all variants
begin with the same SSDs. In exchange the measured window begins with SSDs at rest, and with no policy in its steady state.
"#;

/// `docs/scenario.md`.
pub fn scenario() -> String {
    let mut page = String::from("# Scenario keys\n\n");
    page.push_str(GENERATED);
    page.push_str(
        "This page lists the keys of a scenario, each with its values, its default and its meaning. A scenario is a TOML \
         file. `harmonia presets` lists the built-in ones, and `harmonia check FILE` prints any \
         scenario with every key written out. `harmonia schema > harmonia.schema.json` prints a JSON Schema, with which editors \
         complete and check keys. With Taplo (Even Better TOML in VS Code) a file names it in its first line: \
         `#:schema ./harmonia.schema.json`. `--set key=value` changes a key. Quantities carry their unit: `25us`, \
         `4KiB` (1024), `510.53KB` (1000), `300MB/s`, `5%`. An unknown key is an error that names the nearest known \
         one. Where the default is `preset`, the value comes from the [device preset](presets.md). The \
         [glossary](glossary.md) explains the terms.\n",
    );
    let mut table = None;
    for key in keys() {
        let here = key.path.split('.').next().filter(|_| key.path.contains('.'));
        if table != Some(here) {
            table = Some(here);
            let title = here.map_or_else(|| "The scenario itself".to_owned(), |name| format!("`[{name}]`"));
            let _ = write!(page, "\n## {title}\n\n| key | takes | default | meaning |\n|---|---|---|---|\n");
        }
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            key.path,
            cell(&key.allowed),
            cell(key.default),
            cell(key.meaning)
        );
    }
    page.push_str(STREAMS);
    page.push_str(
        "\nCoordination and concurrency policies may have keys of their own, in `[array.coordination]` and \
         `[ssd.gc.concurrency]`. The page of each [policy](policies.md) lists them.\n",
    );
    page
}

/// `docs/presets.md`.
pub fn presets() -> String {
    let mut page = String::from("# Presets and where their figures come from\n\n");
    page.push_str(GENERATED);
    page.push_str(
        "A preset is a named scenario, load or device. Each figure of a load or device has one of four origins:\n\n\
         - *found*: a paper, a data sheet or a simulator's source states it.\n\
         - *inferred*: no source states it; it is our reading.\n\
         - *fitted*: it was chosen so that the device agrees with measurements. [Named drives](#named-drives-against-measurements) have \
         such figures.\n\
         - *invented*: it was made up for tests.\n",
    );
    for preset in presets::list() {
        let kind = format!("{:?}", preset.kind).to_lowercase();
        let _ = write!(page, "\n## `{}` ({kind})\n\n{}\n", preset.name, preset.summary);
        if !preset.parameters.is_empty() {
            page.push_str("\n| key | value | where from |\n|---|---|---|\n");
        }
        for figure in preset.parameters {
            let _ = writeln!(page, "| `{}` | {} | {} |", figure.key, figure.value, figure.provenance);
        }
    }
    page.push_str(&drives());
    page
}

/// What presets of named drives predict, by the runs that are kept.
pub fn predictions() -> String {
    let kept = kept("experiments/predictions.json");
    let predictions = Predictions::from_json(&kept).expect("predictions");
    format!("# Predictions of named drives\n\n{GENERATED}{}", page::page(&predictions, &shows()))
}

fn shows() -> Shows {
    Shows::from_json(&kept("experiments/drives.json")).expect("results of drives")
}

fn kept(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("results are there")
}

/// How far presets of named drives are off, by the runs that are kept.
fn drives() -> String {
    let shows = shows();
    let mut text = format!(
        "\n## Named drives against measurements\n\nPresets of drives that are sold are held against measurements of SSD-iq (PVLDB 18). Each has at most \
         five fitted figures. `harmonia reproduce drives` simulates all of it again, with the baselines that stand beside each figure.\n\n{}",
        tables::opening()
    );
    for drive in measured::drives() {
        let judged = judge(&drive, &shows);
        let _ = write!(text, "\n### `{}` against measurements\n\n{}", drive.name, tables::markdown(&judged));
        let _ = write!(text, "\n{}\n\n{}", tables::beside_neighbours(&judged), tables::misses(&judged));
    }
    text
}
