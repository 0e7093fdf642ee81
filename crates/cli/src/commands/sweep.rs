//! `harmonia sweep`: run what is missing of a sweep, or say by which commands others may run it.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;

use harmonia_run::{AgedCache, RunOptions};
use harmonia_sweep::{Done, Plan, Point, Store, TABLE, Unwatched, Watch};
use harmonia_tables::{self as tables, Style, numbers};
use serde::Serialize;

use super::simulate::json;
use super::{cache, results};
use crate::failure::Failure;
use crate::files::shown;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Points;
use crate::sweep_args::SweepArguments;

/// Carries out the command.
///
/// # Errors
/// If the sweep cannot be used, a result cannot be kept, or it is interrupted; what is finished is kept.
pub(crate) fn sweep(options: &SweepArguments, no_progress: bool, output: &Output) -> Result<(), Failure> {
    let plan = Plan::open(&options.file, &options.sets)?;
    let points = chosen(&plan, options, output)?;
    if options.commands {
        return commands(&points, options, output);
    }
    let cancel = interrupt::watch()?;
    let store = Store::create(&options.out)?;
    let bar = (output.shows_progress() && !no_progress).then(Points::new);
    let done = run(&points, &store, options, cancel, bar.as_ref(), output);
    drop(bar);
    if let Err(Failure::Interrupted) = done {
        let kept = shown(&options.out);
        output.notice(&format!("finished points are kept in {kept}; the same command continues there"));
    }
    finish(options, done?, cancel, output)
}

/// The points that this command is about.
fn chosen(plan: &Plan, options: &SweepArguments, output: &Output) -> Result<Vec<Point>, Failure> {
    if !options.points.is_empty() {
        let points: Vec<Point> = options
            .points
            .iter()
            .filter_map(|&number| plan.point(number).transpose())
            .collect::<Result<_, _>>()?;
        note_skipped(options.points.len() - points.len(), output);
        return Ok(points);
    }
    let points = plan.points()?;
    note_skipped(plan.len() - points.len(), output);
    Ok(options.shard.map_or_else(|| points.clone(), |shard| shard.take(&points)))
}

fn note_skipped(skipped: usize, output: &Output) {
    if skipped > 0 {
        output.notice(&format!("{} points are not valid and skipped", numbers::count(skipped as u64)));
    }
}

fn run(
    points: &[Point],
    store: &Store,
    options: &SweepArguments,
    cancel: &AtomicBool,
    bar: Option<&Points>,
    output: &Output,
) -> Result<Done, Failure> {
    let threads = options.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let most_bytes = options.cache_limit.unwrap_or(AgedCache::MOST_BYTES);
    let cache = cache::of_user(most_bytes).filter(|_| !options.no_cache);
    let how = RunOptions {
        threads,
        checked: options.checked,
        cancel,
        cache: cache.as_ref(),
        ..RunOptions::default()
    };
    let watch: &dyn Watch = bar.map_or(&Unwatched, |bar| bar);
    let done = harmonia_sweep::run(points, store, &how, watch);
    cache.as_ref().map(AgedCache::notices).unwrap_or_default().iter().for_each(|line| output.detail(line));
    interrupt::check(cancel)?;
    Ok(done?)
}

/// Says what was done. The table of the folder is written by whoever runs the whole sweep.
fn finish(options: &SweepArguments, done: Done, cancel: &AtomicBool, output: &Output) -> Result<(), Failure> {
    let is_whole = options.points.is_empty() && options.shard.is_none();
    let runs = if is_whole { results::read_until(cancel, &options.out, output)? } else { Vec::new() };
    if is_whole {
        results::export(&runs, &options.out.join(TABLE))?;
    }
    if options.json {
        return output.data(&json(&done)?);
    }
    let style = Style { columns: output.columns(), color: output.stdout_color() };
    let table = if is_whole { tables::summary(&runs, style) + "\n" } else { String::new() };
    output.data(&format!("{table}{}\n", sentence(done)))
}

fn sentence(done: Done) -> String {
    let count = |number: usize| numbers::count(number as u64);
    let refused = match done.refused {
        0 => String::new(),
        refused => format!(", {} of them refused", count(refused)),
    };
    format!("{} points run{refused}; {} were there", count(done.run), count(done.known))
}

/// A point as an engine may run it.
#[derive(Serialize)]
struct Job<'a> {
    point: usize,
    address: &'a str,
    label: &'a str,
    seed: u64,
    command: Vec<String>,
}

fn commands(points: &[Point], options: &SweepArguments, output: &Output) -> Result<(), Failure> {
    // Nothing is there where there is no folder.
    let store = Store::open(&options.out).ok();
    let missing = points.iter().filter(|point| store.as_ref().is_none_or(|store| !store.has(point)));
    let job = |point: &'_ Point| command(point.number, options);
    if options.json {
        let jobs: Vec<Job<'_>> = missing
            .map(|point| Job {
                point: point.number,
                address: &point.address,
                label: &point.label,
                seed: point.scenario.seed,
                command: job(point),
            })
            .collect();
        return output.data(&json(&jobs)?);
    }
    let line = |point| job(point).iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ") + "\n";
    output.data(&missing.map(line).collect::<String>())
}

fn command(number: usize, options: &SweepArguments) -> Vec<String> {
    let (file, out) = (options.file.display().to_string(), options.out.display().to_string());
    let mut words = ["harmonia".to_owned(), "sweep".to_owned(), file].to_vec();
    words.extend(["--out".to_owned(), out, "--point".to_owned(), number.to_string(), "--quiet".to_owned()]);
    words.extend(options.sets.iter().flat_map(|set| ["--set".to_owned(), set.clone()]));
    words.extend(options.threads.iter().flat_map(|threads| ["--threads".to_owned(), threads.to_string()]));
    words.extend(options.checked.then(|| "--checked".to_owned()));
    words.extend(options.no_cache.then(|| "--no-cache".to_owned()));
    words
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+%@".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_split_or_expand_them() {
        assert_eq!(quoted("a/b-c.toml"), "a/b-c.toml");
        assert_eq!(quoted("my sweep.toml"), "'my sweep.toml'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
