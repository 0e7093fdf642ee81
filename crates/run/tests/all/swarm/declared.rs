//! Keys of scenarios, drawn from their declarations: a key that is added is tried without a change here.
//!
//! A scenario of the swarm gets a few keys more, or other values of its own, each of the form that its declaration states. Readers
//! may refuse a value beside other keys, and must name a key then. What is taken runs with every invariant checked, and its
//! report adds up.
//!
//! Not drawn: members, failures, losses of power and streams, which are lists or have names, and page errors and scrub, after
//! which reports add up in another way (`faults` and `generate` draw all of these); names of policies and presets (`generate`
//! draws policies, and presets are too large); keys of traces.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use harmonia_engine::Rng;
use harmonia_run::{RunError, RunOptions, run};
use harmonia_scenario::Scenario;
use harmonia_scenario::schema::{Form, KeyInfo, keys};

use super::{Draw, adds_up, generate, setting};

const SCENARIOS: u64 = 250;

/// Tables that `--set` does not reach, and keys that change what is counted here: a run that ends at a time.
const LEFT_OUT: [&str; 10] = [
    "array.member",
    "array.failure",
    "array.power_loss",
    "array.page_errors",
    "array.scrub",
    "workload.stream",
    "workload.duration",
    "workload.warmup",
    "name",
    "precondition.warmup_policy",
];

fn drawable() -> Vec<&'static KeyInfo> {
    let is_in = |key: &KeyInfo, table: &str| {
        key.path.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let mut d = Draw(Rng::stream(0, "swarm/drawable"));
    let is_left_out = |key: &KeyInfo| LEFT_OUT.iter().any(|table| is_in(key, table));
    keys().filter(|key| !is_left_out(key) && value(&mut d, key.path, &key.form).is_some()).collect()
}

/// A value of a form as a scenario file has it; nothing for a form that is a name of something, or a table.
fn value(d: &mut Draw, path: &str, form: &Form) -> Option<String> {
    let quoted = |text: String| Some(format!("\"{text}\""));
    match form {
        Form::Flag => Some(d.0.chance(0.5).to_string()),
        &Form::Whole(least, most) => {
            // Small devices, however many of their counts are drawn.
            let reach = if path.starts_with("ssd.geometry.") { 5 } else { 60 };
            let reach = if d.0.chance(0.5) { reach } else { 2 };
            Some(d.range(least, most.min(least.saturating_add(reach))).to_string())
        }
        &Form::Number(least, most) => {
            let most = most.min(least + 4.0);
            Some((least + d.share() * (most - least)).to_string())
        }
        Form::Time => {
            quoted(format!("{}us", [0, 1, d.range(1, 500), d.range(500, 90_000)][d.range(0, 3) as usize]))
        }
        Form::Size => quoted(format!(
            "{}B",
            [0, 512, 4096, d.range(1, 300) * 4096, d.range(1, 99_999)][d.range(0, 4) as usize]
        )),
        Form::Rate => quoted(format!("{}MB/s", d.range(1, 4000))),
        Form::Transfers => quoted(format!("{}MT/s", d.range(1, 4000))),
        Form::Share => quoted(format!("{}%", d.range(0, 60))),
        Form::AboveHard => quoted(format!("hard+{}", d.range(0, 3))),
        Form::OneOf(words) => quoted(d.pick(words).to_owned()),
        Form::List(of) => {
            let count = d.range(1, 3);
            let values: Option<Vec<String>> = (0..count).map(|_| value(d, path, of)).collect();
            Some(format!("[{}]", values?.join(", ")))
        }
        Form::Any(forms) => {
            let values: Vec<String> = forms.iter().filter_map(|form| value(d, path, form)).collect();
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            (!values.is_empty()).then(|| d.pick(&values).to_owned())
        }
        Form::Text
        | Form::Policy
        | Form::Preset(_)
        | Form::Format
        | Form::Table
        | Form::Tables
        | Form::Named
        | Form::Like(_) => None,
    }
}

/// The scenario of a seed with a few drawn keys: those that were taken, each as `--set` has it.
fn drawn(
    seed: u64,
    toml: &str,
    keys: &[&'static KeyInfo],
) -> Option<(Scenario, Vec<(&'static str, String)>)> {
    let mut d = Draw(Rng::stream(seed, "swarm/declared"));
    let (mut taken, mut sets, mut scenario) = (Vec::new(), Vec::new(), None);
    for _ in 0..d.range(2, 12) {
        let key = keys[d.0.below(keys.len() as u64) as usize];
        let Some(value) = value(&mut d, key.path, &key.form) else { continue };
        sets.push(format!("{}={value}", key.path));
        match Scenario::parse(toml, "swarm.toml", &sets, None) {
            Ok(with) => {
                scenario = Some(with);
                taken.push((key.path, value));
            }
            Err(error) => {
                assert!(error.key().is_some(), "{sets:?}: names no key: {error}");
                assert!(
                    error.to_string().contains("allowed"),
                    "{sets:?}: does not say what is allowed: {error}"
                );
                sets.pop();
            }
        }
    }
    Some((scenario?, taken))
}

#[test]
#[ignore = "long: make simulations"]
fn drawn_keys_are_refused_by_name_or_add_up() {
    let (first, count) = (setting("HARMONIA_SWARM_FIRST", 0), setting("HARMONIA_SWARM", SCENARIOS));
    let (keys, next) = (drawable(), AtomicU64::new(first));
    // How often a key was taken in a run that ended with a report.
    let ran: Mutex<BTreeMap<&str, u64>> = Mutex::default();
    let worker = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= first + count {
            break;
        }
        let generated = generate(seed);
        if generated.trace.is_some() {
            continue;
        }
        let Some((scenario, taken)) = drawn(seed, &generated.toml, &keys) else { continue };
        let attempt = || {
            let options = RunOptions { checked: true, ..RunOptions::default() };
            match run(&scenario, &options) {
                Ok(report) => {
                    adds_up(&scenario, &generated, &report);
                    true
                }
                // Too little spare for thresholds that were drawn, or too little room for sizes.
                Err(RunError::BadInput(error)) => {
                    let text = error.to_string();
                    let why = ["ran out of free blocks", "exceeds the addressed space", "less than one page"];
                    assert!(why.iter().any(|why| text.contains(why)), "refused: {text}");
                    false
                }
                Err(error) => panic!("{error}"),
            }
        };
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(attempt)) {
            Ok(false) => {}
            Ok(true) => {
                let mut ran = ran.lock().expect("no panic holds it");
                taken.iter().for_each(|(path, _)| *ran.entry(path).or_default() += 1);
            }
            Err(panic) => {
                eprintln!("seed {seed} fails with {taken:?}:\n{}", generated.toml);
                std::panic::resume_unwind(panic);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..std::thread::available_parallelism().map_or(1, usize::from).min(8) {
            scope.spawn(worker);
        }
        worker();
    });
    let ran = ran.into_inner().expect("no panic holds it");
    let never: Vec<&str> = keys.iter().map(|key| key.path).filter(|path| !ran.contains_key(path)).collect();
    eprintln!("{} of {} declared keys ran; never: {}", ran.len(), keys.len(), never.join(", "));
    assert!(
        count < SCENARIOS || ran.len() * 2 > keys.len(),
        "only {} of {} declared keys ran",
        ran.len(),
        keys.len()
    );
}
