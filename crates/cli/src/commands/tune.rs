//! `harmonia tune`: search, write the files, print.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;

use harmonia_run::{AgedCache, Progress, RunError, RunOptions};
use harmonia_tables::{self as tables, Style, numbers};
use harmonia_tune::{Campaign, Request, Space, TuneReport, Watch, objective, picture};

use super::cache;
use super::simulate::{json, rerunnable};
use crate::args::{ScenarioArguments, TuneArguments};
use crate::failure::Failure;
use crate::files::{ResultFolder, shown};
use crate::interrupt;
use crate::output::Output;
use crate::progress::{Bars, Silent};

/// Where the folder of results keeps finished runs.
const RUNS: &str = "runs";

/// Carries out the command.
///
/// # Errors
/// If something asked for cannot be used, no point can be run, a folder cannot be written, or it is interrupted; with
/// `--out`, what was run until then is kept.
pub(crate) fn tune(
    scenario: &ScenarioArguments,
    options: &TuneArguments,
    no_progress: bool,
    output: &Output,
) -> Result<(), Failure> {
    let (template, assumed) = scenario.template()?;
    assumed.iter().for_each(|assumed| output.notice(&format!("assumed: {assumed}")));
    let campaign = Campaign::new(Request {
        template,
        sets: &scenario.changes.sets,
        trace: scenario.changes.trace(),
        space: Space::parse(&options.overs)?,
        objective: objective::find(&options.objective)?,
        seeds: options.seeds,
        budget: options.budget,
    })?;
    let cancel = interrupt::watch()?;
    let folder = options.out.as_deref().map(ResultFolder::open).transpose()?;
    let bars = (output.shows_progress() && !no_progress).then(|| Bars::of(options.budget));
    let report = search(&campaign, options, cancel, bars.as_ref(), output);
    if let Some(bars) = bars {
        bars.clear();
    }
    if let (Err(Failure::Interrupted), Some(path)) = (&report, &options.out) {
        let kept = path.join(RUNS);
        output
            .notice(&format!("finished runs are kept in {}; the same command continues there", shown(&kept)));
    }
    let report = report?;
    let text = json(&report)?;
    if let Some(folder) = folder {
        folder.write_all(&[
            ("tune.json", &text),
            ("tune.svg", &picture::draw(&report)),
            ("tuned.toml", &tuned(&campaign, &report)?),
        ])?;
    }
    if options.json {
        report.warnings.iter().for_each(|warning| output.notice(&format!("warning: {}", warning.text)));
        return output.data(&text);
    }
    let style = Style { columns: output.columns(), color: output.stdout_color() };
    output.data(&tables::tuned(&report, style))
}

fn search(
    campaign: &Campaign<'_>,
    options: &TuneArguments,
    cancel: &AtomicBool,
    bars: Option<&Bars>,
    output: &Output,
) -> Result<TuneReport, Failure> {
    let threads = options.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let most_bytes = options.cache_limit.unwrap_or(AgedCache::MOST_BYTES);
    let cache = cache::of_user(most_bytes).filter(|_| !options.no_cache);
    let run = RunOptions {
        threads,
        checked: options.checked,
        cancel,
        progress: bars.map_or(&Silent as &dyn Progress, |bars| bars),
        cache: cache.as_ref(),
        ..RunOptions::default()
    };
    let runs = options.out.as_deref().map(|folder| folder.join(RUNS));
    let watch: &dyn Watch = bars.map_or(&Silent, |bars| bars);
    let report = campaign.run(runs.as_deref().map(Path::new), &run, watch);
    cache.as_ref().map(AgedCache::notices).unwrap_or_default().iter().for_each(|line| output.detail(line));
    interrupt::check(cancel)?;
    report.map_err(|error: RunError| error.into())
}

/// The best scenario as a file, with what it is good for.
fn tuned(campaign: &Campaign<'_>, report: &TuneReport) -> Result<String, Failure> {
    let mut text = format!(
        "# {}, tuned for {} with {} runs. What the search changed:\n",
        report.name,
        report.objective.name,
        numbers::count(report.runs)
    );
    for set in &report.best.sets {
        text.push_str(&format!("#   {set}\n"));
    }
    for warning in &report.warnings {
        text.push_str(&format!("# warning: {}\n", warning.text));
    }
    Ok(text + &rerunnable(&campaign.tuned(report)?))
}
