//! `harmonia reproduce drives`: presets of named drives, held against what was measured on them.

use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;

use harmonia_reproduce::drives::judged::{Judged, judge};
use harmonia_reproduce::drives::measured::{self, Drive, NOISE};
use harmonia_reproduce::drives::predicted::{self, Predictions};
use harmonia_reproduce::drives::runs::{self, Run, SCALE, Shown, Shows, WARMUP};
use harmonia_reproduce::drives::split::{RULE, Side};
use harmonia_reproduce::drives::tables::{beside_neighbours, counted, misses, number};
use harmonia_reproduce::verdict::Verdict;
use harmonia_run::{AgedCache, Outcome, Progress, RunError, RunOptions, Store, outcomes};
use harmonia_scenario::{Variant, printable};
use harmonia_tables::{Cell, Emphasis, Table};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::cache;
use crate::args::ReproduceArguments;
use crate::failure::Failure;
use crate::files::ResultFolder;
use crate::interrupt;
use crate::output::Output;
use crate::progress::{Bars, Silent};

/// What is written in the place of a claim.
pub(super) const WORD: &str = "drives";

/// Carries out the command; no name stands for all drives.
///
/// # Errors
/// If there is no such drive, a folder cannot be written, or it is interrupted; what was run is kept.
pub(super) fn drives(
    names: &[String],
    arguments: &ReproduceArguments,
    no_progress: bool,
    output: &Output,
) -> Result<(), Failure> {
    if arguments.predict {
        return predict(names, arguments, no_progress, output);
    }
    let drives = chosen(names)?;
    let mut shows = Shows::default();
    if !arguments.list {
        shows = measured(&drives, arguments, no_progress, output)?;
    }
    let judged: Vec<(Drive, Vec<Judged>)> =
        drives.into_iter().map(|drive| (drive.clone(), judge(&drive, &shows))).collect();
    match arguments.json {
        true => output.data(&json(&judged)?),
        false => output.data(&text(&judged, output)),
    }
}

fn chosen(names: &[String]) -> Result<Vec<Drive>, Failure> {
    let mut all = measured::drives();
    let known = known(all.iter().map(|drive| drive.name));
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(unknown_drive(unknown, "nothing was measured on such a drive", &known));
    }
    all.retain(|drive| names.is_empty() || names.iter().any(|name| name == drive.name));
    Ok(all)
}

/// Each name once, in their order.
fn known(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut known: Vec<&str> = names.collect();
    known.dedup();
    known
}

fn unknown_drive(name: &str, problem: &str, known: &[&str]) -> Failure {
    let (name, known) = (printable(name, 60), known.join(", "));
    Failure::BadInput(format!("drives {name}: {problem}\n  allowed: {known}"))
}

/// What the runs of these drives show, those that the folder has already and those that are missing.
fn measured(
    drives: &[Drive],
    arguments: &ReproduceArguments,
    no_progress: bool,
    output: &Output,
) -> Result<Shows, Failure> {
    let mut all: Vec<Run> = Vec::new();
    for drive in drives {
        all.extend(runs::runs(drive, WARMUP)?);
    }
    let folder = ResultFolder::open(&arguments.out)?;
    let ran = finished(&all, WORD, arguments, no_progress, output, &|variants, options| {
        outcomes(variants, options, &|report| Shown::from(report))
    })?;
    let mut shows = Shows::from_json(&earlier(&arguments.out, "drives.json")).unwrap_or_default();
    for (run, shown) in ran {
        shows.insert(run.drive, run.load, shown);
    }
    folder.write_all(&[("drives.json", &shows.to_json())])?;
    Ok(shows)
}

/// Carries out `harmonia reproduce drives --predict`; no name stands for all drives.
fn predict(
    names: &[String],
    arguments: &ReproduceArguments,
    no_progress: bool,
    output: &Output,
) -> Result<(), Failure> {
    let mut all = predicted::asked::runs()?;
    let known = known(all.iter().map(|run| run.drive));
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(unknown_drive(unknown, "nothing is predicted of such a drive", &known));
    }
    all.retain(|run| names.is_empty() || names.iter().any(|name| name == run.drive));
    let folder = ResultFolder::open(&arguments.out)?;
    let ran = finished(&all, "predictions", arguments, no_progress, output, &predicted::run)?;
    let mut predictions =
        Predictions::from_json(&earlier(&arguments.out, "predictions.json")).unwrap_or_default();
    for (run, prediction) in ran {
        predictions.insert(run.drive, run.load, prediction);
    }
    let text = predictions.to_json();
    folder.write_all(&[("predictions.json", &text)])?;
    match arguments.json {
        true => output.data(&text),
        false => {
            let shows = Shows::from_json(&earlier(&arguments.out, "drives.json")).unwrap_or_default();
            output.data(&predicted::page::tables(&predictions, &shows))
        }
    }
}

/// What these runs gave, in their order: those that the folder has already, and the others after they have run.
fn finished<'r, T: Serialize + DeserializeOwned>(
    all: &'r [Run],
    runs: &str,
    arguments: &ReproduceArguments,
    no_progress: bool,
    output: &Output,
    simulate: &Simulate<'_, T>,
) -> Result<Vec<(&'r Run, T)>, Failure> {
    let cancel = interrupt::watch()?;
    let store: Store<T> = Store::open(&arguments.out.join(runs))?;
    let threads = arguments.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let cache = cache::of_user(AgedCache::MOST_BYTES);
    let bars = (output.shows_progress() && !no_progress).then(Bars::new);
    let progress: &dyn Progress = bars.as_ref().map_or(&Silent, |bars| bars);
    let options = RunOptions { threads, cancel, progress, cache: cache.as_ref(), ..RunOptions::default() };
    let mut ran: Vec<(&Run, T)> = Vec::new();
    let mut missing: Vec<&Run> = Vec::new();
    for run in all {
        match store.load(&run.scenario) {
            Some(Outcome::Measured(shown)) => ran.push((run, shown)),
            _ => missing.push(run),
        }
    }
    if arguments.kept {
        missing.clear();
    }
    // Few at a time, so that stopping loses little; all runs of a drive share the aged array of the first.
    let mut done = 0;
    for batch in missing.chunks(2 * threads) {
        output.notice(&format!("{done} of {} runs; next: {}", missing.len(), batch[0].drive));
        let variant = |run: &&Run| Variant { label: run.load.to_string(), scenario: run.scenario.clone() };
        let variants: Vec<Variant> = batch.iter().map(variant).collect();
        for (run, outcome) in batch.iter().zip(simulate(&variants, &options)?) {
            store.save(&run.scenario, &outcome)?;
            match outcome {
                Outcome::Measured(shown) => ran.push((run, shown)),
                Outcome::Refused(why) => {
                    output.notice(&format!("{} {}: {why}", run.drive, run.load));
                }
            }
        }
        done += batch.len();
    }
    if let Some(bars) = bars {
        bars.clear();
    }
    interrupt::check(cancel)?;
    Ok(ran)
}

/// Runs some scenarios side by side.
type Simulate<'a, T> = dyn Fn(&[Variant], &RunOptions<'_>) -> Result<Vec<Outcome<T>>, RunError> + 'a;

/// What an earlier command wrote of other drives; a damaged file is as good as none.
fn earlier(folder: &Path, file: &str) -> String {
    harmonia_scenario::files::read_regular(&folder.join(file)).unwrap_or_default()
}

fn json(judged: &[(Drive, Vec<Judged>)]) -> Result<String, Failure> {
    let lines: Vec<_> =
        judged.iter().flat_map(|(drive, rows)| rows.iter().map(|one| one.line(drive.name))).collect();
    let text = serde_json::to_string_pretty(&lines).map(|text| text + "\n");
    text.map_err(|error| Failure::Internal(format!("cannot write the verdicts as JSON: {error}")))
}

fn text(judged: &[(Drive, Vec<Judged>)], output: &Output) -> String {
    let mut text = format!(
        "{RULE}\nAll runs are at ssd.scale = \"{SCALE}\", with one seed. Times are us. line: between the loads before and behind, as measured. \
         formula: in closed form. Noise: {NOISE}.\n"
    );
    for (drive, rows) in judged {
        for side in [Side::Judged, Side::Fitted] {
            text.push_str(&format!(
                "\n{}, {} rows\n\n{}",
                drive.name,
                side.text(),
                table(rows, side, output)
            ));
        }
        if rows.iter().any(|one| one.simulated.is_some()) {
            text.push_str(&format!("\n{}.\n{}\n\n{}", counted(rows), beside_neighbours(rows), misses(rows)));
        }
    }
    text
}

fn table(rows: &[Judged], side: Side, output: &Output) -> String {
    let mut table = Table::new(["figure", "measured", "+-", "simulated", "error", "met", "line", "formula"]);
    let optional = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
    for one in rows.iter().filter(|one| one.row.side == side) {
        let met = match one.verdict {
            Verdict::Within => Cell::from("yes").with(Emphasis::Good),
            Verdict::NotReproduced => Cell::from("no").with(Emphasis::Warning),
            _ => Cell::from("-"),
        };
        let error = one.error().map_or_else(|| "-".to_owned(), |error| format!("{:+.0}%", error * 100.0));
        table.push(vec![
            one.row.to_string().into(),
            number(one.row.measured).into(),
            one.row.quantity.accepted().to_string().into(),
            optional(one.simulated).into(),
            error.into(),
            met,
            optional(one.neighbours).into(),
            optional(one.closed_form).into(),
        ]);
    }
    table.render(output.columns(), output.stdout_color())
}
