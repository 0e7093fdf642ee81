//! From measurements of one's own drive to a device file, with what they identify and what they do not.
//!
//! ```text
//! files -> read -> Measured -> estimate -> Drive -> simulate: what it shows of every load, also of the one held out
//!                                            `-> report: device file, table, JSON
//! ```
//!
//! - [`measured`]: loads and their figures, whatever file they stood in.
//! - `read`: JSON and logs of fio, CSV, lines of a data sheet.
//! - [`closed`]: write amplification and spare in closed form.
//! - [`drive`]: the drive that is looked for, and its keys.
//! - [`simulate`]: a measured load on a drive scaled down.
//! - [`estimate`]: figures of a drive, each from the experiment that tells it.
//! - [`plan`]: the jobs of fio that measure what is needed.
//!
//! Leaves out: policies of collection, which uniform loads do not tell, and drives that write to cells of one bit first.

pub mod closed;
pub mod drive;
pub mod estimate;
pub mod measured;
pub mod plan;
mod read;
mod report;
pub mod simulate;

use harmonia_run::{RunError, RunOptions};
use harmonia_scenario::BadInput;

use crate::estimate::Fit;
use crate::measured::Measured;

pub use read::read;
pub use report::{Calibration, Check, Key, SCHEMA};

/// Which experiment nothing is fitted on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HoldOut {
    /// The last one, if there are several.
    #[default]
    Last,
    /// None.
    Nothing,
    /// The one with this name.
    Named(String),
}

/// Fits a drive, and predicts what was measured. `say` hears which stage begins.
///
/// # Errors
/// If nothing was measured, no experiment has the name of the one held out, it is cancelled, or a defect shows.
pub fn calibrate(
    measured: &Measured,
    hold_out: &HoldOut,
    options: &RunOptions<'_>,
    say: &dyn Fn(&str),
) -> Result<Calibration, RunError> {
    if measured.experiments.is_empty() && measured.over_time.is_none() {
        let allowed =
            "allowed: JSON of fio or bandwidth over time; `harmonia calibrate plan` prints the jobs to run";
        return Err(RunError::BadInput(BadInput::plain("no file has a measurement", allowed)));
    }
    let held_out = held_out(measured, hold_out).map_err(RunError::BadInput)?;
    let mut fit = Fit::new(measured, held_out, options, say);
    fit.run()?;
    say("what does the drive that was found show?");
    let checks = report::checks(measured, held_out, &fit, options)?;
    Ok(report::of(measured, held_out, &fit, checks))
}

fn held_out<'a>(measured: &'a Measured, hold_out: &HoldOut) -> Result<Option<&'a str>, BadInput> {
    let mut names = measured.experiments.iter().map(|one| one.name.as_str());
    match hold_out {
        HoldOut::Nothing => Ok(None),
        HoldOut::Last => Ok(names.next_back().filter(|_| measured.experiments.len() > 1)),
        HoldOut::Named(name) => names.clone().find(|known| known == name).map(Some).ok_or_else(|| {
            let problem =
                format!("--hold-out {}: no experiment is called so", harmonia_scenario::printable(name, 60));
            BadInput::plain(problem, &format!("allowed: none, {}", names.collect::<Vec<_>>().join(", ")))
        }),
    }
}
