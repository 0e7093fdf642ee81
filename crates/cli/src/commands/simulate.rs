//! `harmonia run` and `harmonia compare`: load, simulate, write the files, print.

use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;
use std::time::Duration;

use harmonia_metrics::recording::Recording;
use harmonia_metrics::{Comparison, Report};
use harmonia_page::{self as page, Recordings};
use harmonia_run::{
    AgedCache, MOST_SEEDS, Observe, Progress, RunError, RunOptions, aged_arrays, default_seeds,
};
use harmonia_scenario::{Scenario, Template, Variant, share_addresses};
use harmonia_tables::{self as tables, Cross, Detail, Rest, Style, numbers};
use harmonia_workload::{Limit, StreamsConfig, SyntheticConfig, WorkloadConfig};
use serde::Serialize;

use super::cache;
use super::policies::{self, Crossed};
use super::seeds::{Seeds, seeds_of};
use crate::args::{Changes, ScenarioArguments, SimulationArguments};
use crate::columns::Columns;
use crate::failure::Failure;
use crate::files::ResultFolder;
use crate::interrupt;
use crate::output::Output;
use crate::progress::{Bars, Silent};

/// From so many runs on a comparison says beforehand what it is about to do, and counts them while it does.
const MANY_RUNS: u64 = 8;

/// What goes into the folder of results, if one is asked for.
pub(super) struct Files<'a> {
    pub folder: Option<&'a ResultFolder>,
    pub report: &'a str,
    /// What is printed in place of the report, and a file beside it.
    pub lifetime: Option<&'a str>,
    /// The resolved scenario.
    pub scenario: &'a str,
    pub recordings: Vec<Option<Recording>>,
    /// Requests and intervals as columns, if wanted.
    pub columns: Option<Columns<'a>>,
}

/// One command that simulates.
pub(crate) struct Session<'a> {
    pub(super) template: Template,
    pub(super) changes: &'a Changes,
    /// What nobody said.
    pub(super) assumed: Vec<String>,
    pub(super) simulation: &'a SimulationArguments,
    pub(super) output: &'a Output,
    shows_progress: bool,
    cancel: &'static AtomicBool,
}

impl<'a> Session<'a> {
    /// Starts to listen for Ctrl-C.
    pub(crate) fn new(
        scenario: &'a ScenarioArguments,
        simulation: &'a SimulationArguments,
        no_progress: bool,
        output: &'a Output,
    ) -> Result<Self, Failure> {
        let shows_progress = output.shows_progress() && !no_progress;
        let (template, assumed) = scenario.template()?;
        let (changes, cancel) = (&scenario.changes, interrupt::watch()?);
        Ok(Session { template, changes, assumed, simulation, output, shows_progress, cancel })
    }

    /// Says what nobody said.
    pub(super) fn say_assumed(&self) {
        self.assumed.iter().for_each(|assumed| self.output.notice(&format!("assumed: {assumed}")));
    }

    /// One run.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let scenario = self.template.with(&self.changes.sets, self.changes.trace().as_ref())?;
        let folder = self.folder()?;
        self.say_assumed();
        scenario.hints().iter().for_each(|hint| self.output.notice(hint));
        let variant = [Variant { label: String::new(), scenario }];
        let columns = self.columns(folder.as_ref());
        let seeds = self.seeds(|| 1);
        let (comparison, recordings) =
            self.simulate(1, seeds, columns.as_ref(), |options| seeds.compare(&variant, options))?;
        let report = &match comparison.only() {
            Some(report) => json(&report)?,
            None => json(&comparison)?,
        };
        let scenario = &(seeds_comment(&comparison) + &rerunnable(&variant[0].scenario));
        let files = Files { folder: folder.as_ref(), report, lifetime: None, scenario, recordings, columns };
        let cross = Cross::default();
        self.finish(files, &comparison, &cross, |style| tables::single(&comparison, self.detail(), style))
    }

    /// One run for each policy and each value swept.
    pub(crate) fn compare(&self, policies: Option<&[String]>) -> Result<(), Failure> {
        let Crossed { mut variants, cross, chosen, choice } =
            policies::crossed(&self.template, self.changes, policies)?;
        let addresses = share_addresses(&mut variants);
        let folder = self.folder()?;
        self.say_assumed();
        hints(&variants).iter().for_each(|hint| self.output.notice(hint));
        addresses.iter().for_each(|notice| self.output.notice(notice));
        let seeds = self.seeds(|| default_seeds(&variants));
        // What is cheap is over before it is read.
        let is_long = self.simulation.seeds.is_some() || seeds.known() == Some(1);
        if let Some(known) = seeds.known().filter(|_| is_long) {
            announcement(&variants, known).iter().for_each(|text| self.output.notice(text));
        }
        let columns = self.columns(folder.as_ref());
        let (comparison, recordings) = self
            .simulate(variants.len(), seeds, columns.as_ref(), |options| seeds.compare(&variants, options))?;
        let resolved = first_scenario(&variants, &cross, &comparison);
        let files = Files {
            folder: folder.as_ref(),
            report: &json(&comparison)?,
            lifetime: None,
            scenario: &resolved,
            recordings,
            columns,
        };
        let rest = if chosen { Rest::InALine } else { Rest::Shown };
        self.finish(files, &comparison, &cross, |style| {
            let left_out = match self.detail() {
                Detail::Answer => String::new(),
                Detail::All => tables::left_out(&choice, style),
            };
            tables::comparison(&comparison, &cross, rest, self.detail(), style) + &left_out
        })
    }

    /// How many seeds to run with; `default` says how many where nobody did.
    pub(super) fn seeds(&self, default: impl FnOnce() -> u64) -> Seeds {
        match (self.simulation.seeds, self.simulation.time_limit) {
            (Some(seeds), _) => Seeds::Fixed(seeds),
            (None, Some(limit)) => Seeds::Until(Duration::from_nanos(limit.as_ns())),
            (None, None) => Seeds::Fixed(default()),
        }
    }

    fn detail(&self) -> Detail {
        if self.simulation.details { Detail::All } else { Detail::Answer }
    }

    /// Opened before the simulation: hours should not end in a complaint that could have come first.
    pub(super) fn folder(&self) -> Result<Option<ResultFolder>, Failure> {
        self.simulation.out.as_deref().map(ResultFolder::open).transpose()
    }

    /// Who writes requests and intervals into the folder, if that is wanted.
    pub(super) fn columns<'b>(&self, folder: Option<&'b ResultFolder>) -> Option<Columns<'b>> {
        folder.filter(|_| self.simulation.parquet).map(|folder| Columns::of(folder, self.cancel))
    }

    /// Simulates, recording so many variants if there is a page to write.
    pub(super) fn simulate<T>(
        &self,
        variants: usize,
        seeds: Seeds,
        columns: Option<&Columns<'_>>,
        run: impl FnOnce(&RunOptions) -> Result<T, RunError>,
    ) -> Result<(T, Vec<Option<Recording>>), Failure> {
        let threads = match self.simulation.threads {
            Some(threads) => threads.get(),
            None => available_parallelism().map_or(1, |cores| cores.get()),
        };
        let runs = seeds.known().map(|seeds| (variants as u64).saturating_mul(seeds.min(MOST_SEEDS)));
        let many = runs.filter(|&runs| runs >= MANY_RUNS);
        let bars = self.shows_progress.then(|| many.map_or_else(Bars::new, Bars::of));
        let progress: &dyn Progress = bars.as_ref().map_or(&Silent, |bars| bars);
        let checked = self.simulation.checked;
        let most_bytes = self.simulation.cache_limit.unwrap_or(AgedCache::MOST_BYTES);
        let cache = cache::of_user(most_bytes).filter(|_| !self.simulation.no_cache);
        let recordings = self.simulation.out.is_some().then(|| Recordings::of(variants));
        let mut observe: Vec<&dyn Observe> = Vec::new();
        observe.extend(recordings.as_ref().map(|recordings| recordings as &dyn Observe));
        observe.extend(columns.map(|columns| columns as &dyn Observe));
        let result = run(&RunOptions {
            threads,
            checked,
            cancel: self.cancel,
            progress,
            observe: &observe,
            cache: cache.as_ref(),
        });
        if let Some(bars) = bars {
            bars.clear();
        }
        let notices = cache.as_ref().map(AgedCache::notices).unwrap_or_default();
        notices.iter().for_each(|notice| self.output.detail(notice));
        if let Some(failure) = columns.and_then(Columns::failure) {
            return Err(failure);
        }
        Ok((result?, recordings.map(Recordings::finish).unwrap_or_default()))
    }

    /// Files first, so that a reader who leaves the pipe early costs nothing.
    pub(super) fn finish(
        &self,
        files: Files<'_>,
        comparison: &Comparison,
        cross: &Cross,
        table: impl FnOnce(Style) -> String,
    ) -> Result<(), Failure> {
        interrupt::check(self.cancel)?;
        decisions(comparison).iter().for_each(|decision| self.output.detail(decision));
        comparison.runs.iter().for_each(|run| self.output.detail(&cost(run)));
        let Files { folder, report, lifetime, scenario, recordings, columns } = files;
        if let Some(folder) = folder {
            let page = page::render(comparison, cross, &recordings, scenario);
            let columns = columns.map(|columns| columns.finish(&comparison.runs)).transpose()?;
            let mut texts =
                vec![("report.json", report), ("scenario.toml", scenario), ("report.html", page.as_str())];
            texts.extend(lifetime.map(|text| ("lifetime.json", text)));
            interrupt::check(self.cancel)?;
            folder.write_all_with(&texts, columns.unwrap_or_default())?;
        }
        if self.simulation.json {
            // They stand in the data too; who pipes it away should see them all the same.
            comparison.warnings.iter().for_each(|warning| self.output.notice(&tables::warned(warning)));
            return self.output.data(lifetime.unwrap_or(report));
        }
        let style = Style { columns: self.output.columns(), color: self.output.stdout_color() };
        self.output.data(&table(style))
    }
}

/// The scenario of the first run, with what the others change.
pub(super) fn first_scenario(variants: &[Variant], cross: &Cross, comparison: &Comparison) -> String {
    let mut resolved = String::from(
        "# The scenario of the first run, resolved. What the other runs change is in their label; report.json\n\
         # has each run's own scenario in full.\n",
    );
    for (run, Variant { label, .. }) in variants.iter().enumerate() {
        resolved.push_str(&match cross.pairs(run) {
            pairs if pairs.is_empty() => format!("#   {label}\n"),
            pairs => format!("#   {label}: {pairs}\n"),
        });
    }
    resolved.push_str(&seeds_comment(comparison));
    resolved.push_str(&rerunnable(&variants[0].scenario));
    resolved
}

/// The resolved scenario as a file that means the same from any folder.
pub(super) fn rerunnable(scenario: &Scenario) -> String {
    let mut scenario = scenario.clone();
    if let WorkloadConfig::Trace(trace) = &mut scenario.workload {
        for path in &mut trace.paths {
            *path = std::path::absolute(&*path).unwrap_or_else(|_| path.clone());
        }
    }
    scenario.to_toml()
}

/// What a comparison of many runs is about to do. How long that takes shows once it has begun: it depends on the load and
/// the machine, so nothing is guessed beforehand.
pub(super) fn announcement(variants: &[Variant], seeds: u64) -> Option<String> {
    // What is about to be refused is not announced.
    let runs =
        (seeds <= MOST_SEEDS).then(|| variants.len() as u64 * seeds).filter(|&runs| runs >= MANY_RUNS)?;
    let of = match seeds {
        1 => String::new(),
        _ => format!(" ({} combinations with {seeds} seeds each)", numbers::count(variants.len() as u64)),
    };
    let add = |sum: u64, variant: &Variant| Some(sum.saturating_add(requests(&variant.scenario)?));
    let requests = variants.iter().try_fold(0, add);
    let requests =
        requests.map(|all| format!(", {} requests in all", numbers::count(all.saturating_mul(seeds))));
    let arrays = aged_arrays(variants) as u64 * seeds;
    let plural = if arrays == 1 { "" } else { "s" };
    Some(format!(
        "{} runs{of}{}, from {} aged array{plural}",
        numbers::count(runs),
        requests.unwrap_or_default(),
        numbers::count(arrays)
    ))
}

/// What is to be said about the scenarios of a comparison, the same thing once: what differs in the policy's name alone has all names.
pub(super) fn hints(variants: &[Variant]) -> Vec<String> {
    let mut hints: Vec<(String, Vec<&str>)> = Vec::new();
    for Variant { scenario, .. } in variants {
        let policy = scenario.array.coordination.policy.as_str();
        for hint in scenario.hints() {
            let hint = hint.replacen(&format!("hint: {policy} fires "), NAMES, 1);
            match hints.iter_mut().find(|(known, _)| *known == hint) {
                Some((_, policies)) if policies.contains(&policy) => (),
                Some((_, policies)) => policies.push(policy),
                None => hints.push((hint, vec![policy])),
            }
        }
    }
    let told = |(hint, policies): (String, Vec<&str>)| match &policies[..] {
        [one] => hint.replacen(NAMES, &format!("hint: {one} fires "), 1),
        several => hint.replacen(NAMES, &format!("hint: {} fire ", several.join(" and ")), 1),
    };
    hints.into_iter().map(told).collect()
}

/// Where a hint names the policies that fire at a threshold.
const NAMES: &str = "hint: POLICIES ";

/// What a scenario file does not say: how often it ran.
fn seeds_comment(comparison: &Comparison) -> String {
    match seeds_of(comparison) {
        1 => String::new(),
        seeds => format!("# Run with --seeds {seeds}: the seed written here and those that follow.\n"),
    }
}

/// Requests that a run will simulate, where the scenario says it.
fn requests(scenario: &Scenario) -> Option<u64> {
    match &scenario.workload {
        WorkloadConfig::Synthetic(SyntheticConfig { limit: Limit::Requests(requests), .. })
        | WorkloadConfig::Streams(StreamsConfig { limit: Limit::Requests(requests), .. }) => Some(*requests),
        _ => None,
    }
}

/// What `format = "auto"` decided on for each trace, and why.
fn decisions(comparison: &Comparison) -> Vec<String> {
    let mut decisions = Vec::new();
    for trace in comparison.runs.iter().filter_map(|run| run.trace.as_ref()) {
        if let (Some(reason), Some(file)) = (&trace.format_reason, trace.files.first()) {
            let decision = format!("{file}: read as {}, because {reason}", trace.format);
            if !decisions.contains(&decision) {
                decisions.push(decision);
            }
        }
    }
    decisions
}

/// A report as text, one line a key.
pub(super) fn json(report: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(report);
    text.map(|text| text + "\n")
        .map_err(|error| Failure::Internal(format!("cannot write the report as JSON: {error}")))
}

/// What a run cost on this machine.
fn cost(run: &Report) -> String {
    let engine = &run.engine;
    let rate = engine.page_operations as f64 / (engine.wall_ns.max(1) as f64 / 1e9);
    let threads = match (&engine.why_one_thread, engine.threads) {
        (Some(why), _) => format!(" on one thread, because {why}"),
        (None, 0 | 1) => String::new(),
        (None, threads) => format!(" on {threads} threads"),
    };
    format!(
        "{}: aged in {}, simulated in {}{threads} ({} page operations, {} a second), {} of memory",
        tables::label(run),
        numbers::duration(engine.precondition_wall_ns),
        numbers::duration(engine.wall_ns),
        numbers::count(engine.page_operations),
        numbers::count(rate as u64),
        numbers::bytes(engine.peak_rss_bytes),
    )
}
