//! `harmonia calibrate`: read measurements, fit, write the device file, print.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use harmonia_calibrate::estimate::Known;
use harmonia_calibrate::plan::{Length, plan};
use harmonia_calibrate::{Calibration, HoldOut, calibrate as calibrated, read};
use harmonia_run::RunOptions;
use harmonia_tables::{Cell, Emphasis, Table};

use super::simulate::json;
use crate::args::{CalibrateArguments, CalibrateCommand};
use crate::failure::Failure;
use crate::files::{ResultFile, same, shown};
use crate::interrupt;
use crate::output::Output;

/// Carries out the command.
///
/// # Errors
/// If a file cannot be used, the device file cannot be written, or it is interrupted.
pub(crate) fn calibrate(
    command: Option<&CalibrateCommand>,
    options: &CalibrateArguments,
    output: &Output,
) -> Result<(), Failure> {
    if let Some(CalibrateCommand::Plan { night }) = command {
        return output.data(&plan(if *night { Length::Night } else { Length::Hour }));
    }
    let measured = read(&options.files)?;
    if let Some((out, file)) =
        options.out.as_deref().and_then(|out| Some((out, options.files.iter().find(|file| same(file, out))?)))
    {
        return Err(Failure::BadInput(format!(
            "--out {}: is one of the measurements, {}",
            shown(out),
            shown(file)
        )));
    }
    let file =
        options.out.as_deref().map(|path| ResultFile::create("--out", path, options.force)).transpose()?;
    let hold_out = match options.hold_out.as_deref() {
        None => HoldOut::Last,
        Some("none") => HoldOut::Nothing,
        Some(name) => HoldOut::Named(name.to_owned()),
    };
    let threads = options.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let cancel = interrupt::watch()?;
    let run = RunOptions { threads, cancel, ..RunOptions::default() };
    let result = calibrated(&measured, &hold_out, &run, &|stage| output.notice(stage));
    interrupt::check(cancel)?;
    let result = result?;
    if let Some(file) = file {
        file.write(result.device_file().as_bytes())?;
    }
    if options.json {
        return output.data(&json(&result)?);
    }
    let written = options.out.as_deref().map(|path| format!("\nThe device file is {}.\n", shown(path)));
    output.data(&(tables(&result, output) + &written.unwrap_or_default()))
}

fn tables(result: &Calibration, output: &Output) -> String {
    let mut keys = Table::new(["key", "value", "range", "known"]);
    let mut reasons = String::new();
    for key in &result.keys {
        let (known, from) = match &key.known {
            Known::Identified(by) => {
                (Cell::from("identified").with(Emphasis::Good), format!("identified by {by}"))
            }
            Known::Given(by) => (Cell::from("given"), format!("given by {by}")),
            Known::Assumed(why) => (Cell::from("not identified: assumed"), why.clone()),
            Known::NotIdentified(why) => (Cell::from("not identified: default"), why.clone()),
        };
        let range =
            key.range.as_ref().map_or_else(|| "-".to_owned(), |[low, high]| format!("{low} to {high}"));
        keys.push(vec![key.key.into(), key.value.clone().into(), range.into(), known]);
        reasons.push_str(&format!("{}: {from}\n", key.key));
    }
    let mut checks = Table::new(["experiment", "figure", "measured", "simulated", "error", "held out"]);
    for check in &result.checks {
        let error = check.error.map(|error| format!("{:+.0}%", error * 100.0));
        checks.push(vec![
            check.experiment.clone().into(),
            check.figure.into(),
            number(check.measured).into(),
            check.simulated.map_or_else(|| "-".to_owned(), number).into(),
            error.unwrap_or_else(|| "-".to_owned()).into(),
            if check.held_out { "yes" } else { "no" }.into(),
        ]);
    }
    let (columns, color) = (output.columns(), output.stdout_color());
    let held_out = match &result.held_out {
        Some(name) => format!("Nothing was fitted on {name}: its figures are a prediction."),
        None => "No experiment was held out, so no figure is a prediction.".to_owned(),
    };
    format!(
        "{}: figures of {} that measurements change\n\n{}\n{reasons}\n{}\n{held_out}\n",
        result.drive,
        result.preset,
        keys.render(columns, color),
        checks.render(columns, color)
    )
}

/// With three digits, or all before the point.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}
