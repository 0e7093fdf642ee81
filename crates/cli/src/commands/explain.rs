//! `harmonia explain`: where the time of single requests went, of a stored result or of a scenario.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use harmonia_metrics::Report;
use harmonia_page as page;
use harmonia_run::explain::{Asked, Explanation, TapeAsked, explain_and_tape};
use harmonia_run::tape::{TapeWindow, Taped, Trace, perfetto};
use harmonia_run::{AgedCache, Progress, RunOptions};
use harmonia_scenario::Scenario;
use harmonia_sweep::ResultFolder;
use harmonia_tables::{self as tables, Style, numbers};

use super::cache;
use super::simulate::{json, rerunnable};
use crate::explain_args::ExplainArguments;
use crate::failure::Failure;
use crate::files::{ResultFile, shown};
use crate::interrupt;
use crate::output::Output;
use crate::progress::{Bars, Silent};

/// Whether these are one path, however each is written.
fn is_one_place(one: &Path, other: &Path) -> bool {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute(one) == absolute(other)
}

/// Carries out the command.
///
/// # Errors
/// If the result or scenario cannot be used, the run is not the one that was stored, or there is no such request.
pub(crate) fn explain(options: &ExplainArguments, no_progress: bool, output: &Output) -> Result<(), Failure> {
    let folder = Some(Path::new(&options.source)).filter(|path| path.is_dir());
    let is_changed = !options.changes.sets.is_empty() || options.changes.trace().is_some();
    let stored = folder.map(|folder| ResultFolder::open(folder, is_changed)).transpose()?;
    let scenario = match &stored {
        Some(stored) => stored.scenario().clone(),
        None => Scenario::load(&options.source, &options.changes.sets, options.changes.trace().as_ref())?,
    };
    let asked = options.request.map_or(Asked::Slowest(options.slowest), Asked::Request);
    // A long simulation should not end in a complaint about a name.
    if let (Some(one), Some(other)) = (&options.perfetto, &options.page)
        && is_one_place(one, other)
    {
        return Err(Failure::BadInput(format!("--page {}: --perfetto names it, too", shown(other))));
    }
    let create = |option: &str, path: &Option<PathBuf>| {
        path.as_deref().map(|path| ResultFile::create(option, path, options.force)).transpose()
    };
    let (file, page_file) = (create("--perfetto", &options.perfetto)?, create("--page", &options.page)?);
    let (explanation, report, taped) = simulate(&scenario, &asked, options, no_progress, output)?;
    if let Some(stored) = stored {
        stored.agrees_with(&explanation, &report)?;
    }
    if let (Some(file), Some(path), Some(taped)) = (file, &options.perfetto, &taped) {
        write(file, path, taped, &explanation, output)?;
    }
    if let Some(file) = page_file {
        file.write(page::explanation(&explanation, &rerunnable(&scenario)).as_bytes())?;
    }
    if options.json {
        return output.data(&json(&explanation)?);
    }
    let style = Style { columns: output.columns(), color: output.stdout_color() };
    output.data(&tables::explained(&explanation, style))
}

/// Says how much it is, and writes it.
fn write(
    file: ResultFile,
    path: &Path,
    taped: &Taped,
    explanation: &Explanation,
    output: &Output,
) -> Result<(), Failure> {
    let Trace { bytes, slices, tracks } = perfetto(taped, explanation);
    let TapeWindow { from, until } = taped.window;
    output.notice(&format!(
        "{}: {} from {} to {} s of simulated time, {} slices on {} tracks",
        shown(path),
        numbers::bytes(bytes.len() as u64),
        numbers::exact_seconds(from.as_ns()),
        numbers::exact_seconds(until.as_ns()),
        numbers::count(slices),
        numbers::count(tracks)
    ));
    file.write(&bytes)
}

fn simulate(
    scenario: &Scenario,
    asked: &Asked,
    options: &ExplainArguments,
    no_progress: bool,
    output: &Output,
) -> Result<(Explanation, Report, Option<Taped>), Failure> {
    let threads = options.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let most_bytes = options.cache_limit.unwrap_or(AgedCache::MOST_BYTES);
    let cache = cache::of_user(most_bytes).filter(|_| !options.no_cache);
    let bars = (output.shows_progress() && !no_progress).then(Bars::new);
    let cancel = interrupt::watch()?;
    let run = RunOptions {
        threads,
        cancel,
        progress: bars.as_ref().map_or(&Silent as &dyn Progress, |bars| bars),
        cache: cache.as_ref(),
        ..RunOptions::default()
    };
    let taping =
        options.perfetto.as_ref().map(|_| options.window.map_or(TapeAsked::Request, TapeAsked::Window));
    let result = explain_and_tape(scenario, asked, taping, &run);
    if let Some(bars) = bars {
        bars.clear();
    }
    cache.as_ref().map(AgedCache::notices).unwrap_or_default().iter().for_each(|line| output.detail(line));
    interrupt::check(cancel)?;
    Ok(result?)
}
