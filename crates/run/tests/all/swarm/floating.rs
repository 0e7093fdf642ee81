//! The arrays of the swarm with stripes that leave a member free: does every run end, add up, and go as it goes unchecked?

use std::sync::atomic::{AtomicU64, Ordering};

use harmonia_engine::Rng;
use harmonia_run::{RunError, RunOptions, run};
use harmonia_scenario::Scenario;

use super::{AGED_BY_LOAD, Draw, Generated, adds_up, forks::told, generate, setting};

/// Seeds that are tried. Loads of others may need more than such an array holds.
const SEEDS: u64 = 300;

/// What such arrays do not know, or what they are given here.
const LEFT_OUT: [&str; 10] = [
    "level = ",
    "layout = ",
    "parity_shares = ",
    "free_stripes = ",
    "nvram = ",
    "stripe_cache = ",
    "delay_pre_reads = ",
    "interface = ",
    "devices = ",
    "warmup_policy = ",
];

/// The scenario of a seed on such an array, if its load fits.
pub fn floating(seed: u64) -> Option<(Generated, Scenario)> {
    let Generated { toml, trace: None } = generate(seed) else { return None };
    let mut draw = Draw(Rng::stream(seed, "swarm/floating"));
    // A stream of its own, so that the scenarios of old seeds differ in nothing else.
    let level = Draw(Rng::stream(seed, "swarm/floating/level")).pick(&["raid5", "raid6"]);
    let shares = match level {
        "raid5" => Draw(Rng::stream(seed, "swarm/floating/shares")).pick(&["alike", "kept", "returning"]),
        _ => "alike",
    };
    let toml = if shares == "alike" { toml } else { toml.replace(AGED_BY_LOAD, "") };
    let mut text = String::new();
    let mut is_coordination = false;
    for line in toml.lines() {
        if line.starts_with('[') {
            is_coordination = line == "[array.coordination]";
        }
        if is_coordination && !line.starts_with("message_latency") && line != "[array.coordination]" {
            continue;
        }
        if LEFT_OUT.iter().any(|key| line.starts_with(key)) {
            continue;
        }
        text += line;
        text.push('\n');
        match line {
            "[array]" => {
                let (devices, small_write) = (draw.range(6, 9), draw.pick(&["fewest", "reconstruct"]));
                let own = if toml.contains("small_write = ") {
                    String::new()
                } else {
                    format!("small_write = \"{small_write}\"\n")
                };
                text += &format!("devices = {devices}\nlevel = \"{level}\"\n{own}");
                if shares != "alike" {
                    let others = ", 1".repeat(devices as usize - 1);
                    text += &format!("parity_shares = [5{others}]\n");
                }
            }
            "[array.coordination]" => {
                // Another stream of its own. Members with shares of parity have a page for each number.
                let thin = shares == "alike" && Draw(Rng::stream(seed, "swarm/floating/thin")).0.chance(0.6);
                text += &format!("policy = \"gaftl\"\nstripes = \"floating\"\nthin = {thin}\n");
                if shares == "returning" {
                    text += "migration = \"back\"\n";
                }
            }
            _ => {}
        }
    }
    let scenario = Scenario::parse(&text, "floating.toml", &[], None).ok()?;
    Some((Generated { toml: text, trace: None }, scenario))
}

#[test]
#[ignore = "long: make simulations"]
fn arrays_whose_stripes_leave_a_member_free_end_and_add_up() {
    let (first, count) = (setting("HARMONIA_SWARM_FIRST", 0), setting("HARMONIA_SWARM_FLOATING", SEEDS));
    // On RAID-5 and on RAID-6.
    let (mut ran, mut moved) = ([0; 2], [0; 2]);
    let next = AtomicU64::new(first);
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= first + count {
            break;
        }
        let Some((generated, scenario)) = floating(seed) else { continue };
        eprintln!("seed {seed}");
        assert!(scenario.array.layout().is_floating());
        let checked = RunOptions { checked: true, ..RunOptions::default() };
        let report = match run(&scenario, &checked) {
            Ok(report) => report,
            Err(RunError::BadInput(error)) if error.to_string().contains("ran out of free blocks") => {
                panic!("seed {seed}: spare suffices: {error}\n{}", generated.toml)
            }
            Err(error) => panic!("seed {seed}: {error}\n{}", generated.toml),
        };
        adds_up(&scenario, &generated, &report);
        let unchecked = run(&scenario, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(told(&report), told(&unchecked), "seed {seed}");
        let counters = &report.array.coordination.counters;
        let level = usize::from(scenario.array.level.parities()) - 1;
        moved[level] += counters["units_moved"] + counters["parity_moved"];
        ran[level] += 1;
    }
    assert!(
        ran.iter().all(|ran| ran * 8 >= count) && moved.iter().all(|&moved| moved >= 10),
        "{ran:?} of {count} seeds ran, and {moved:?} rows moved"
    );
}
