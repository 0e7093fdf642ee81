//! What each subcommand does.

mod advise;
mod cache;
mod calibrate;
mod check;
mod diff;
mod drives;
mod explain;
mod lifetime;
mod lists;
mod policies;
mod reproduce;
mod results;
mod seeds;
mod shell;
mod simulate;
mod sweep;
mod trace;
mod tune;

use crate::args::{Arguments, Command};
use crate::failure::Failure;
use crate::files::shown;
use crate::output::Output;
pub use trace::fitted;

/// Carries out what was typed.
///
/// # Errors
/// See [`Failure`].
pub(crate) fn run(arguments: Arguments, output: &Output) -> Result<(), Failure> {
    let no_progress = arguments.no_progress;
    if let Some(file) = arguments.policy_file {
        return Err(Failure::BadInput(format!(
            "--policy-file {}: policies in Python need the `harmonia` command of the Python package \
             (pip install harmonia-ssd), and this is the one without Python",
            shown(&file)
        )));
    }
    match arguments.command {
        Command::Run { scenario, simulation } => {
            simulate::Session::new(&scenario, &simulation, no_progress, output)?.run()
        }
        Command::Compare { scenario, policies, simulation } => {
            simulate::Session::new(&scenario, &simulation, no_progress, output)?.compare(policies.as_deref())
        }
        Command::Explain(options) => explain::explain(&options, no_progress, output),
        Command::Lifetime { scenario, policies, exact, simulation } => {
            simulate::Session::new(&scenario, &simulation, no_progress, output)?
                .lifetime(policies.as_deref(), exact)
        }
        Command::Advise { scenario, options } => advise::advise(&scenario, &options, no_progress, output),
        Command::Calibrate { command, options } => calibrate::calibrate(command.as_ref(), &options, output),
        Command::Tune { scenario, options } => tune::tune(&scenario, &options, no_progress, output),
        Command::Sweep(options) => sweep::sweep(&options, no_progress, output),
        Command::Results(command) => results::results(&command, output),
        Command::Diff(options) => diff::diff(&options, output),
        Command::Reproduce(options) => reproduce::reproduce(&options, no_progress, output),
        Command::Policies(options) => lists::policies(&options, output),
        Command::Presets { name, options } => lists::presets(name.as_deref(), &options, output),
        Command::Formats(options) => lists::formats(&options, output),
        Command::Schema => lists::schema(output),
        Command::Check { scenario } => check::check(&scenario, output),
        Command::Completions { shell } => shell::completions(shell, output),
        Command::Man { out } => shell::man(out.as_deref(), output),
        Command::Cache { command, options } => cache::cache(command.as_ref(), &options, output),
        Command::Trace(command) => trace::run(&command, no_progress, output),
    }
}
