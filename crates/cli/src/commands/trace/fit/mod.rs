//! `harmonia trace fit`: a synthetic scenario like a trace.
//!
//! * `text`: the scenario file, whose comments say what was measured of trace and fit;
//! * `check`: both simulated on a reference array, to say how far response times agree;
//! * here: the command, and what is said on stderr.

mod check;
mod text;

use harmonia_workload::TraceFit;

use super::{Session, bad_input};
use crate::args::{FitArguments, TraceReading};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::Output;
use check::Checked;

/// Bytes of the fit that are further from the trace's are warned of.
const BYTES_OFF: f64 = 0.02;
/// The same for the footprint.
const FOOTPRINT_OFF: f64 = 0.05;

/// Fits, and prints or writes the scenario.
pub(super) fn fit(
    reading: &TraceReading,
    arguments: &FitArguments,
    no_progress: bool,
    output: &Output,
) -> Result<(), Failure> {
    let session = Session::open(reading, no_progress, output)?;
    let file =
        arguments.out.as_deref().map(|out| session.create(reading, out, arguments.force)).transpose()?;
    let fit = session.reading(|trace, go_on| TraceFit::of(trace, arguments.array_bytes, go_on));
    let fit = fit.map_err(bad_input)?.ok_or(Failure::Interrupted)?;
    let checked = if arguments.no_check {
        Checked::Not("as --no-check asks".to_owned())
    } else {
        check::check(reading, &fit, arguments.check.as_deref(), session.cancel)?
    };
    let warnings = fit.info.warnings.iter().cloned().chain(off(&fit)).chain(checked.warning(&fit));
    warnings.for_each(|warning| output.notice(&format!("warning: {warning}")));
    let text = text::scenario(&fit, &checked);
    match file {
        Some(file) => {
            interrupt::check(session.cancel)?;
            file.write(text.as_bytes())
        }
        None => output.data(&text),
    }
}

/// The scenario that `harmonia trace fit --no-check` prints, and what it warns of.
pub fn fitted(fit: &TraceFit) -> (String, Vec<String>) {
    let text = text::scenario(fit, &Checked::Not("not asked for".to_owned()));
    (text, fit.info.warnings.iter().cloned().chain(off(fit)).collect())
}

/// Where the fit is not what it promises.
fn off(fit: &TraceFit) -> Vec<String> {
    let part = fit.squeezed.unwrap_or(1.0);
    let mut warnings = Vec::new();
    let mut judge = |what: &str, fitted: u64, trace: f64, tolerance: f64| {
        let ratio = fitted as f64 / trace;
        if trace > 0.0 && (ratio - 1.0).abs() > tolerance {
            warnings.push(format!("the {what} {ratio:.2} of the trace's"));
        }
    };
    for (name, of) in text::KINDS {
        let (trace, fitted) = (of(&fit.trace), of(&fit.fitted));
        judge(&format!("bytes of the {name} are"), fitted.bytes, trace.bytes as f64, BYTES_OFF);
        let expected = trace.footprint_bytes as f64 * part;
        judge(&format!("footprint of the {name} is"), fitted.footprint_bytes, expected, FOOTPRINT_OFF);
    }
    let expected = fit.trace.footprint_bytes as f64 * part;
    judge("footprint of all is", fit.fitted.footprint_bytes, expected, FOOTPRINT_OFF);
    warnings
}

#[cfg(test)]
mod tests;
