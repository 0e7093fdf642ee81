//! `harmonia check`: validate a scenario and print it with every default written out.

use harmonia_scenario::{PolicyKey, Scenario};
use harmonia_tables as tables;

use crate::args::ScenarioArguments;
use crate::failure::Failure;
use crate::output::Output;

/// Prints the resolved scenario, itself a scenario file.
pub(crate) fn check(arguments: &ScenarioArguments, output: &Output) -> Result<(), Failure> {
    let (template, assumed) = arguments.template()?;
    let scenario = template.with(&arguments.changes.sets, arguments.changes.trace().as_ref())?;
    assumed.iter().for_each(|assumed| output.notice(&format!("assumed: {assumed}")));
    harmonia_run::preflight(&scenario)?;
    scenario.hints().iter().for_each(|hint| output.notice(hint));
    scenario.warnings().iter().for_each(|warning| output.notice(&tables::warned(warning)));
    output.data(&(scenario.to_toml() + &policy_keys(&scenario)))
}

/// What holds of the policies' own keys, as comments: those that are not written are no part of the scenario.
fn policy_keys(scenario: &Scenario) -> String {
    let mut text = String::new();
    for PolicyKey { path, value, is_written, key } in scenario.policy_keys() {
        if text.is_empty() {
            text.push_str("\n# Keys of the policies' own, as they hold:\n");
        }
        let is_default = if is_written { "" } else { " (default)" };
        let value = if value.is_null() { "none".to_owned() } else { value.to_string() };
        text.push_str(&format!("# {path} = {value}{is_default}: {} Takes {}.\n", key.meaning, key.takes));
    }
    text
}
