//! The pages of tables: scenario keys, and presets with where their figures come from.

use std::fmt::Write;

use harmonia_scenario::presets;
use harmonia_scenario::schema::KEYS;

use super::GENERATED;

/// `docs/scenario.md`.
pub fn scenario() -> String {
    let mut page = String::from("# Scenario keys\n\n");
    page.push_str(GENERATED);
    page.push_str(
        "A scenario is a TOML file; `harmonia presets` lists the built-in ones and `harmonia check FILE` prints any \
         scenario with every key written out. `--set key=value` changes a key. Quantities carry their unit: `25us`, \
         `4KiB` (1024), `510.53KB` (1000), `300MB/s`, `5%`. An unknown key is an error that names the nearest known \
         one. `preset` as a default means: what the device preset says (see [presets](presets.md)).\n",
    );
    let mut table = None;
    for key in KEYS {
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
            cell(key.allowed),
            cell(key.default),
            cell(key.meaning)
        );
    }
    page.push_str(
        "\nA coordination policy may have keys of its own in `[array.coordination]`: see [policies](policies.md).\n",
    );
    page
}

/// `docs/presets.md`.
pub fn presets() -> String {
    let mut page = String::from("# Presets and where their figures come from\n\n");
    page.push_str(GENERATED);
    page.push_str(
        "*found*: stated by a paper, a data sheet or a simulator's source; *inferred*: our reading where none states \
         it; *invented*: made up for tests.\n",
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
    page
}
