//! `harmonia advise`: does collection matter on this array under this load, and what would change it?

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

use harmonia_page as page;
use harmonia_run::advice::{Advice, Plan, advise as advised, seconds};
use harmonia_run::{AgedCache, Progress, RunOptions, preflight};
use harmonia_tables::{self as tables, Cross, Style, numbers};

use super::cache;
use super::seeds::Clock;
use super::simulate::{json, rerunnable};
use crate::args::{AdviseArguments, ScenarioArguments};
use crate::failure::Failure;
use crate::files::ResultFolder;
use crate::interrupt;
use crate::output::Output;
use crate::progress::{Bars, Silent};

/// Columns of the page in a file.
const FILE: Style = Style { columns: 110, color: tables::Color(false) };

/// Carries out the command.
///
/// # Errors
/// If the scenario or the array cannot be used, a folder cannot be written, or it is interrupted.
pub(crate) fn advise(
    scenario: &ScenarioArguments,
    options: &AdviseArguments,
    no_progress: bool,
    output: &Output,
) -> Result<(), Failure> {
    let (template, assumed) = scenario.template()?;
    let plan = Plan::new(&template, &scenario.changes.sets, scenario.changes.trace().as_ref())?;
    let base = &plan.pair[0].scenario;
    preflight(base)?;
    let cancel = interrupt::watch()?;
    let folder = options.out.as_deref().map(ResultFolder::open).transpose()?;
    let threads = options.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    base.hints().iter().for_each(|hint| output.notice(hint));
    let limit = options.time_limit.map(|limit| Duration::from_nanos(limit.as_ns()));
    let runs = 2 + plan.levers.len() + plan.doubled.as_ref().map_or(0, |pair| pair.len());
    output.notice(&format!(
        "{runs} runs{}; ageing takes about {} where no aged array is kept, and simulating the load comes on top{}",
        if options.seeds > 1 { format!(" with {} seeds each", options.seeds) } else { String::new() },
        numbers::duration((seconds(&plan, threads) * options.seeds as f64 * 1e9) as u64),
        limit.map_or_else(String::new, |limit| {
            format!("; after {} nothing more is begun", numbers::duration(limit.as_nanos() as u64))
        })
    ));
    let most_bytes = options.cache_limit.unwrap_or(AgedCache::MOST_BYTES);
    let cache = cache::of_user(most_bytes).filter(|_| !options.no_cache);
    let bars = (output.shows_progress() && !no_progress).then(Bars::new);
    let run = RunOptions {
        threads,
        cancel,
        progress: bars.as_ref().map_or(&Silent as &dyn Progress, |bars| bars),
        cache: cache.as_ref(),
        ..RunOptions::default()
    };
    let style = Style { columns: output.columns(), color: output.stdout_color() };
    // Nobody waits for what changes bring to read whether collection matters.
    let shown = RefCell::new(Ok(()));
    let first = |advice: &Advice| {
        if !options.json {
            let show = || output.data(&tables::advice_first(advice, style));
            *shown.borrow_mut() = bars.as_ref().map_or_else(show, |bars| bars.suspend(show));
        }
    };
    let clock = Clock::start();
    let go_on = |name: &str| {
        let is_time = limit.is_none_or(|limit| clock.elapsed() < limit);
        output.detail(&format!("{name}: {}", if is_time { "begins" } else { "no time is left" }));
        // Whoever went away after the first lines wants no more, unless there are files to write.
        is_time && (folder.is_some() || shown.borrow().is_ok())
    };
    let result = advised(&plan, options.seeds, &first, &go_on, &run);
    if let Some(bars) = &bars {
        bars.clear();
    }
    cache.as_ref().map(AgedCache::notices).unwrap_or_default().iter().for_each(|line| output.detail(line));
    interrupt::check(cancel)?;
    let (mut advice, comparison) = result?;
    advice.assumed = assumed;
    let text = json(&advice)?;
    if let Some(folder) = folder {
        let scenario = rerunnable(base);
        let recordings: Vec<_> = comparison.variants().map(|_| None).collect();
        let page = page::render(&comparison, &Cross::default(), &recordings, &scenario);
        interrupt::check(cancel)?;
        folder.write_all(&[
            ("advice.json", &text),
            ("advice.txt", &tables::advice(&advice, FILE)),
            ("report.json", &json(&comparison)?),
            ("scenario.toml", &scenario),
            ("report.html", &page),
        ])?;
    }
    if options.json {
        return output.data(&text);
    }
    shown.into_inner()?;
    output.data(&tables::advice_rest(&advice, style))
}
