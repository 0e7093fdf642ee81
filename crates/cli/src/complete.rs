//! What a shell completes: commands and options, and also names of scenarios and policies, keys, and values of keys.
//!
//! ```text
//! harmonia completions bash  ->  a script  --Tab-->  HARMONIA_COMPLETE=bash harmonia -- harmonia run hpc-w --set ssd.gc.vi
//! ```
//!
//! The script asks the command itself at every Tab, so a new key or policy is completed without a change of the script.
//! Keys and their values come from the JSON Schema of scenarios.
//!
//! Not completed: keys of streams, which have names of their own, and values that are numbers, times or sizes.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_complete::engine::{self, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use clap_complete::{CompleteEnv, Shell};
use harmonia_scenario::{policies, presets, schema};
use serde_json::Value;

use crate::args::Arguments;

/// The variable by which a script says that it asks, and for which shell.
const VARIABLE: &str = "HARMONIA_COMPLETE";
const SHELLS: Shells<'static> = Shells(&[&WholeWords, &Elvish, &Fish, &Powershell, &Zsh]);

/// Answers a script that asks; whether one did.
///
/// # Errors
/// If the shell is unknown or standard output cannot be written.
pub(crate) fn answer(arguments: &[OsString]) -> Result<bool, clap::Error> {
    let folder = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(Arguments::command).var(VARIABLE).shells(SHELLS);
    asked.try_complete(arguments, folder.as_deref())
}

/// The script of a shell, which calls the `harmonia` command that is found first.
///
/// # Errors
/// If the shell has none.
pub(crate) fn script(shell: Shell) -> io::Result<Vec<u8>> {
    let name = shell.to_string();
    let completer =
        SHELLS.completer(&name).ok_or_else(|| io::Error::other(format!("no script for {name}")))?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "harmonia", "harmonia", "harmonia", &mut script)?;
    Ok(script)
}

/// Bash, which breaks words at `=`: `--set`, `ssd.gc.victim`, `=`, `gr` are one option with its value here, and what is
/// offered is what comes behind the break.
struct WholeWords;

impl EnvCompleter for WholeWords {
    fn name(&self) -> &'static str {
        Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        Bash.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        Bash.write_registration(var, name, bin, completer, buf)
    }

    fn write_complete(
        &self,
        command: &mut clap::Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the script hands over by the environment where the cursor is"
        )]
        let variable = |name| std::env::var(name).ok();
        let index = variable("_CLAP_COMPLETE_INDEX").and_then(|index| index.parse().ok()).unwrap_or_default();
        let between = variable("_CLAP_IFS").unwrap_or_else(|| "\n".to_owned());
        let (words, index, broken_off) = joined(&words, index);
        let candidates = engine::complete(command, words, index, folder)?;
        let offered = candidates.iter().map(|candidate| {
            let value = candidate.get_value().to_string_lossy().into_owned();
            value.strip_prefix(&broken_off).map_or(value.clone(), str::to_owned)
        });
        to.write_all(offered.collect::<Vec<_>>().join(&between).as_bytes())
    }
}

/// The words up to the one at `index`, with those joined that were broken at `=`; the index of that one now, and what of
/// it stands before the last break.
fn joined(words: &[OsString], index: usize) -> (Vec<OsString>, usize, String) {
    let mut whole: Vec<String> = Vec::new();
    let mut broken_off = String::new();
    let mut is_open = false;
    for (at, word) in words.iter().take(index + 1).enumerate() {
        let word = word.to_string_lossy();
        let is_last = at == index;
        // Right behind the sign the shell hands an empty word in its place.
        let stands_for_sign = is_last && word.is_empty() && is_key_of_set(&whole);
        if (word == "=" || stands_for_sign) && at > 0 {
            let before = whole.last_mut().filter(|before| !before.starts_with("--"));
            is_open = before.is_some() && !is_last;
            if let Some(before) = before {
                before.push('=');
                broken_off.clone_from(before);
            } else if is_last {
                whole.push(String::new());
            }
        } else if let Some(before) = whole.last_mut().filter(|_| is_open) {
            broken_off.clone_from(before);
            before.push_str(&word);
            is_open = false;
        } else {
            whole.push(word.into_owned());
            broken_off.clear();
            is_open = false;
        }
    }
    let last = whole.len().saturating_sub(1);
    (whole.into_iter().map(OsString::from).collect(), last, broken_off)
}

/// Whether the last word is a key that lacks its value.
fn is_key_of_set(words: &[String]) -> bool {
    matches!(words, [.., set, key] if set == "--set" && !key.is_empty() && !key.contains('='))
}

/// Built-in scenarios and files.
pub(crate) fn scenarios(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut candidates = PathCompleter::file().complete(current);
    let named = presets::list().into_iter().filter(|preset| preset.kind == presets::Kind::Scenario);
    candidates.extend(named.map(|preset| described(preset.name.to_owned(), preset.summary)));
    beginning_with(current, candidates)
}

/// Device presets and files.
pub(crate) fn drives(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut candidates = PathCompleter::file().complete(current);
    let named = presets::list().into_iter().filter(|preset| preset.kind == presets::Kind::Device);
    candidates.extend(named.map(|preset| described(preset.name.to_owned(), preset.summary)));
    beginning_with(current, candidates)
}

/// Coordination policies, and the bound.
pub(crate) fn coordination(current: &OsStr) -> Vec<CompletionCandidate> {
    let named = policies::list().into_iter().filter(|policy| policy.kind == policies::Kind::Coordination);
    let mut candidates: Vec<_> =
        named.map(|policy| described(policy.name.to_owned(), policy.summary)).collect();
    candidates.push(described(policies::IDEAL.to_owned(), "garbage collection that takes no time: a bound"));
    candidates.push(described("all".to_owned(), "every policy that can work on this array"));
    beginning_with(current, candidates)
}

/// Keys, and behind the `=` the words that a key can take.
pub(crate) fn sets(current: &OsStr) -> Vec<CompletionCandidate> {
    let schema = schema::json_schema();
    let mut candidates = Vec::new();
    match current.to_string_lossy().split_once('=') {
        None => keys(&schema, "", &mut candidates),
        Some((path, values)) => {
            // In a sweep the last value is completed.
            let swept = values.rfind(',').map_or("", |comma| &values[..=comma]);
            let key = path.split('.').try_fold(&schema, |table, name| table.get("properties")?.get(name));
            let mut found = Vec::new();
            key.into_iter().for_each(|key| words(key, &mut found));
            candidates.extend(
                found.into_iter().map(|word| CompletionCandidate::new(format!("{path}={swept}{word}"))),
            );
        }
    }
    beginning_with(current, candidates)
}

/// The keys of a table and of those below it.
fn keys(table: &Value, path: &str, found: &mut Vec<CompletionCandidate>) {
    for (name, key) in table.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if key.get("properties").is_some() {
            keys(key, &path, found);
        } else if key.get("deprecated").is_none() && key.get("type").is_none_or(|of| of != "object") {
            let meaning = key.get("description").and_then(Value::as_str).unwrap_or_default();
            let line = meaning.lines().next().unwrap_or_default();
            found.push(described(format!("{path}="), line));
        }
    }
}

/// The words that a value may be.
fn words(of: &Value, found: &mut Vec<String>) {
    let list = |name| of.get(name).and_then(Value::as_array).into_iter().flatten();
    found.extend(list("enum").filter_map(Value::as_str).map(str::to_owned));
    if of.get("type").is_some_and(|of| of == "boolean") {
        found.extend(["true", "false"].map(str::to_owned));
    }
    // A table that names a policy can also be written as the name alone.
    let policy = of.get("properties").and_then(|keys| keys.get("policy"));
    list("anyOf").chain(policy).for_each(|one| words(one, found));
}

fn described(value: String, meaning: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(meaning.to_owned().into()))
}

fn beginning_with(current: &OsStr, candidates: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let mut kept = candidates;
    kept.retain(|candidate| candidate.get_value().to_string_lossy().starts_with(&*current));
    kept.sort();
    kept.dedup_by(|a, b| a.get_value() == b.get_value());
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn joins(words: &[&str], expected: &[&str], broken_off: &str) {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let (joined, index, before) = joined(&words, words.len() - 1);
        assert_eq!((joined, before.as_str()), (expected.iter().map(OsString::from).collect(), broken_off));
        assert_eq!(index, expected.len() - 1);
    }

    #[test]
    fn words_are_joined_where_the_shell_breaks_them() {
        joins(&["run", "--set", "a.b"], &["run", "--set", "a.b"], "");
        joins(&["run", "--set", "a.b", "=", "x"], &["run", "--set", "a.b=x"], "a.b=");
        joins(&["run", "--set", "a.b", ""], &["run", "--set", "a.b="], "a.b=");
        joins(&["run", "--set", "a.b", "="], &["run", "--set", "a.b="], "a.b=");
        joins(&["--set", "a", "=", "b", "--set", "c"], &["--set", "a=b", "--set", "c"], "");
        joins(&["run", "--seeds", "=", "x"], &["run", "--seeds", "x"], "");
        joins(&["run", "hpc-w", ""], &["run", "hpc-w", ""], "");
    }

    fn offered(of: fn(&OsStr) -> Vec<CompletionCandidate>, current: &str) -> Vec<String> {
        of(OsStr::new(current)).iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn keys_of_scenarios_and_of_policies_are_offered_with_their_values() {
        let victims = offered(sets, "ssd.gc.victim=");
        assert!(victims.contains(&"ssd.gc.victim=greedy".to_owned()), "{victims:?}");
        assert_eq!(
            offered(sets, "array.level=raid5,raid1"),
            ["array.level=raid5,raid1", "array.level=raid5,raid10"]
        );
        assert_eq!(offered(sets, "array.coordination.idle_t"), ["array.coordination.idle_threshold="]);
        assert!(!offered(sets, "ssd.gc.").iter().any(|key| key.contains("victim_d")), "an older spelling");
        assert_eq!(offered(sets, "no.such=a"), [""; 0]);
        let everything = offered(sets, "");
        assert!(everything.len() > 150 && everything.iter().all(|key| key.ends_with('=')), "{everything:?}");
    }

    #[test]
    fn scenarios_and_policies_are_offered_by_name() {
        assert!(offered(scenarios, "hpc-").contains(&"hpc-w".to_owned()));
        assert_eq!(offered(coordination, "reactive-i"), ["reactive-inclusive"]);
        assert_eq!(offered(coordination, "id"), ["ideal"]);
        assert_eq!(offered(drives, "modern"), ["modern-tlc-1t"]);
    }
}
