//! `harmonia results`: what a folder of results has, as a list, one by one, and as a table for others.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use harmonia_metrics::Comparison;
use harmonia_run::Outcome;
use harmonia_sweep::{Store, Stored, TABLE, Table, csv, parquet};
use harmonia_tables::{self as tables, Detail, Style, numbers};

use super::simulate::json;
use crate::failure::Failure;
use crate::files::{ResultFile, shown};
use crate::interrupt;
use crate::output::Output;
use crate::sweep_args::ResultsCommand;

/// Carries out the command.
///
/// # Errors
/// If the folder is none of results, there is no such result, or the table cannot be written.
pub(crate) fn results(command: &ResultsCommand, output: &Output) -> Result<(), Failure> {
    match command {
        ResultsCommand::Ls { folder, json } => list(folder, *json, output),
        ResultsCommand::Show { folder, address, json } => {
            show(Store::open(folder)?.find(address)?, *json, output)
        }
        ResultsCommand::Export { folder, out } => {
            let runs = read_until(interrupt::watch()?, folder, output)?;
            let target = out.clone().unwrap_or_else(|| folder.join(TABLE));
            export(&runs, &target)?;
            output.notice(&format!(
                "{} runs written to {}",
                numbers::count(runs.len() as u64),
                shown(&target)
            ));
            Ok(())
        }
    }
}

/// The results of a folder; says how many are damaged.
///
/// # Errors
/// If it is no folder.
pub(super) fn read(folder: &Path, output: &Output) -> Result<Vec<Stored>, Failure> {
    read_until(&AtomicBool::new(false), folder, output)
}

/// As [`read`], until somebody asks to stop.
///
/// # Errors
/// As [`read`]; if somebody did.
pub(super) fn read_until(
    cancel: &AtomicBool,
    folder: &Path,
    output: &Output,
) -> Result<Vec<Stored>, Failure> {
    let (runs, damaged) = Store::open(folder)?.all_while(|| !cancel.load(Ordering::SeqCst))?;
    interrupt::check(cancel)?;
    if damaged > 0 {
        output.notice(&format!("{damaged} files are damaged and left out; the sweep runs them again"));
    }
    Ok(runs)
}

/// Writes the table of these results: as CSV where the name ends so, else as Parquet.
///
/// # Errors
/// If it cannot be written.
pub(super) fn export(runs: &[Stored], target: &Path) -> Result<(), Failure> {
    if target.extension().is_some_and(|extension| extension == "csv") {
        return ResultFile::create("--out", target, true)?.write(csv::text(&Table::of(runs)).as_bytes());
    }
    parquet::write(&Table::of(runs), target)
        .map_err(|error| Failure::BadInput(format!("cannot write {}: {error}", shown(target))))
}

fn list(folder: &Path, as_json: bool, output: &Output) -> Result<(), Failure> {
    let runs = read(folder, output)?;
    match as_json {
        true => output.data(&json(&Table::of(&runs))?),
        false => output.data(&tables::results(&runs, style(output))),
    }
}

fn show(run: Stored, as_json: bool, output: &Output) -> Result<(), Failure> {
    match run.outcome {
        Outcome::Measured(report) if as_json => output.data(&json(&report)?),
        Outcome::Measured(report) => {
            output.notice(&format!("{} {}", run.address, run.label));
            output.data(&tables::single(&Comparison::new(vec![report], 1), Detail::All, style(output)))
        }
        Outcome::Refused(why) => Err(Failure::BadInput(format!("this run was refused: {why}"))),
    }
}

fn style(output: &Output) -> Style {
    Style { columns: output.columns(), color: output.stdout_color() }
}
