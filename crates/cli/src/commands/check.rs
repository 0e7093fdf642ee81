//! `harmonia check`: validate a scenario and print it with every default written out.

use harmonia_scenario::Scenario;
use harmonia_tables as tables;

use crate::args::ScenarioArguments;
use crate::failure::Failure;
use crate::output::Output;

/// Prints the resolved scenario, itself a scenario file.
pub(crate) fn check(arguments: &ScenarioArguments, output: &Output) -> Result<(), Failure> {
    let scenario = Scenario::load(&arguments.scenario, &arguments.sets, arguments.trace().as_ref())?;
    harmonia_scenario::preflight(&scenario)?;
    scenario.hints().iter().for_each(|hint| output.notice(hint));
    scenario.warnings().iter().for_each(|warning| output.notice(&tables::warned(warning)));
    output.data(&scenario.to_toml())
}
