//! `harmonia reproduce`: run what the claims need, print the verdicts, write the pages.

use std::cell::Cell as Counter;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;

use harmonia_reproduce::assessment::Assessment;
use harmonia_reproduce::campaign::{self, Watch};
use harmonia_reproduce::experiment::{Experiment, Job};
use harmonia_reproduce::{Choice, Results, experiments, findings};
use harmonia_run::{AgedCache, Progress, RunOptions};
use harmonia_scenario::files;
use harmonia_tables::{Cell, Emphasis, Table};

use super::{cache, drives};
use crate::args::ReproduceArguments;
use crate::failure::Failure;
use crate::files::ResultFolder;
use crate::interrupt;
use crate::output::Output;
use crate::progress::{Bars, Silent};

/// Carries out the command.
///
/// # Errors
/// If an ID is unknown, a folder cannot be written, or it is interrupted; what was run is kept.
pub(crate) fn reproduce(
    arguments: &ReproduceArguments,
    no_progress: bool,
    output: &Output,
) -> Result<(), Failure> {
    if let Some((drives::WORD, names)) = arguments.ids.split_first().map(|(id, names)| (id.as_str(), names)) {
        return drives::drives(names, arguments, no_progress, output);
    }
    if arguments.predict {
        let problem =
            "--predict: claims of papers are not predicted\n  allowed: harmonia reproduce drives --predict";
        return Err(Failure::BadInput(problem.into()));
    }
    let experiments = experiments()?;
    let choice = Choice::of(&arguments.ids, &experiments).map_err(Failure::BadInput)?;
    if arguments.list {
        return list(&choice, &experiments, arguments.json, output);
    }
    let cancel = interrupt::watch()?;
    let folder = ResultFolder::open(&arguments.out)?;
    let jobs = choice.jobs(&experiments, arguments.seeds)?;
    let bars = (output.shows_progress() && !no_progress).then(Bars::new);
    let progress: &dyn Progress = bars.as_ref().map_or(&Silent, |bars| bars);
    let threads = arguments.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let cache = cache::of_user(AgedCache::MOST_BYTES);
    let options = RunOptions { threads, cancel, progress, cache: cache.as_ref(), ..RunOptions::default() };
    let watch = Teller { output, last: Counter::new(usize::MAX) };
    let runs = arguments.out.join("runs");
    let measured = match arguments.kept {
        true => campaign::kept(&jobs, &runs),
        false => campaign::run(&jobs, &runs, &options, &watch),
    };
    if let Some(bars) = bars {
        bars.clear();
    }
    cache.as_ref().map(AgedCache::notices).unwrap_or_default().iter().for_each(|line| output.detail(line));
    let mut results = earlier(&arguments.out);
    results.extend(measured?);
    interrupt::check(cancel)?;
    let assessments = choice.assess(&results);
    let json = json(&assessments)?;
    write(&folder, &arguments.out, &results, &json)?;
    if arguments.json { output.data(&json) } else { output.data(&table(&assessments, output)) }
}

/// Says what is done, a line a batch.
struct Teller<'a> {
    output: &'a Output,
    last: Counter<usize>,
}

impl Watch for Teller<'_> {
    fn batch(&self, done: usize, total: usize, next: &Job) {
        if self.last.replace(done) != done {
            let Job { experiment, variant, seed, .. } = next;
            self.output.notice(&format!("{done} of {total} runs; next: {experiment} {variant}, seed {seed}"));
        }
    }
}

/// Results of an earlier command in this folder; a damaged file is as good as none.
fn earlier(folder: &Path) -> Results {
    let text = files::read_regular(&folder.join("results.json")).unwrap_or_default();
    Results::from_json(&text).unwrap_or_default()
}

fn write(folder: &ResultFolder, path: &Path, results: &Results, claims: &str) -> Result<(), Failure> {
    let pages = findings::pages(results);
    let figures = ResultFolder::open(&path.join("figures"))?;
    let files: Vec<(&str, &str)> =
        pages.figures.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    figures.write_all(&files)?;
    folder.write_all(&[
        ("results.json", &results.to_json()),
        ("claims.json", claims),
        ("findings.md", &pages.findings),
    ])
}

fn json(assessments: &[Assessment]) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(assessments).map(|text| text + "\n");
    text.map_err(|error| Failure::Internal(format!("cannot write the verdicts as JSON: {error}")))
}

fn table(assessments: &[Assessment], output: &Output) -> String {
    use harmonia_reproduce::verdict::Verdict;
    let color = output.stdout_color();
    let mut table = Table::new(["claim", "claimed", "accepted", "measured", "verdict"]);
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    for one in assessments {
        *counts.entry(one.verdict).or_default() += 1;
        let verdict = Cell::from(one.verdict.text());
        let verdict = match one.verdict {
            Verdict::Within => verdict.with(Emphasis::Good),
            Verdict::NotReproduced => verdict.with(Emphasis::Warning),
            _ => verdict,
        };
        let claimed = one.claimed.split(" (").next().unwrap_or_default();
        table.push(vec![
            one.reading
                .as_ref()
                .map_or_else(|| one.id.to_owned(), |reading| format!("{}@{reading}", one.id))
                .into(),
            claimed.into(),
            one.accepted.as_str().into(),
            one.shown.as_str().into(),
            verdict,
        ]);
    }
    let counts: Vec<String> =
        counts.iter().map(|(verdict, count)| format!("{count} {}", verdict.text())).collect();
    format!("{}\n{}\n", table.render(output.columns(), color), counts.join(", "))
}

fn list(choice: &Choice, experiments: &[Experiment], as_json: bool, output: &Output) -> Result<(), Failure> {
    if as_json {
        return output.data(&json(&choice.assess(&Results::default()))?);
    }
    let mut text = String::from("Claims\n");
    for claim in &choice.claims {
        text.push_str(&format!("  {:28} {}: {}. {}\n", claim.id, claim.words, claim.claimed, claim.source));
    }
    text.push_str("\nExperiments (variants)\n");
    for experiment in experiments {
        let variants = experiment.variants().len();
        text.push_str(&format!("  {:28} {} ({variants})\n", experiment.id, experiment.question));
    }
    text.push_str("\nReadings of papers (runs a seed)\n");
    for reading in &choice.readings {
        let runs = reading.cells().len();
        text.push_str(&format!("  {:28} {} ({runs})\n", reading.id, reading.words));
    }
    output.data(&text)
}
