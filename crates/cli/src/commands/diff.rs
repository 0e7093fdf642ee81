//! `harmonia diff`: what differs between two results.

use harmonia_sweep::{Diff, Side};
use harmonia_tables::{self as tables, Style};

use super::simulate::json;
use crate::failure::Failure;
use crate::output::Output;
use crate::sweep_args::DiffArguments;

/// Carries out the command.
///
/// # Errors
/// If one of both is no result.
pub(crate) fn diff(options: &DiffArguments, output: &Output) -> Result<(), Failure> {
    let diff = Diff::of(&Side::open(&options.a)?, &Side::open(&options.b)?);
    if options.json {
        return output.data(&json(&diff)?);
    }
    let style = Style { columns: output.columns(), color: output.stdout_color() };
    output.data(&tables::diff(&diff, style))
}
