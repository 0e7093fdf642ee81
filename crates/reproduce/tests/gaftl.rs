//! Does nobody wait for collection under GAFTL but where that is counted? Every load that is evaluated, on small chips, with all
//! invariants checked.

use harmonia_metrics::Report;
use harmonia_reproduce::experiment::experiments;
use harmonia_run::{RunOptions, Silent, Unobserved, run};

/// An eighth of the blocks, a second of requests that are measured.
const SMALL: [&str; 4] = [
    "ssd.geometry.blocks_per_plane=64",
    "precondition.overwrite=2",
    "workload.requests=1300",
    "workload.warmup=300",
];

/// As many free stripes for their size as the experiments have.
const ROWS: &str = "array.free_stripes=128";

fn report(variant: &str, experiment: &harmonia_reproduce::Experiment, also: &[&str]) -> Report {
    let sets: Vec<String> = SMALL.iter().chain(also).map(|&set| set.to_owned()).collect();
    let scenario =
        experiment.scenario(variant, 1, &sets).unwrap_or_else(|error| panic!("{variant}: {error}"));
    let (progress, observe) = (&Silent, &Unobserved);
    let options = RunOptions { checked: true, progress, observe, ..RunOptions::default() };
    run(&scenario, &options).unwrap_or_else(|error| panic!("{variant}: {error}"))
}

/// A write that finds no free stripe waits, and so does one that finds several members collecting. Nothing else does as long as
/// members take turns.
#[test]
fn while_members_take_turns_nobody_waits_for_collection_uncounted() {
    let (mut turns, mut calm, mut full) = (0, 0, 0);
    for experiment in experiments().expect("valid experiments") {
        let is_sweep = experiment.id.starts_with("gaftl") && experiment.id != "gaftl-reserve";
        let on_chips = |name: &&String| name.ends_with("/rows") && !name.starts_with("dies");
        for variant in experiment.variants().iter().filter(|_| is_sweep).filter(on_chips) {
            let report = report(variant, &experiment, &[ROWS]);
            let response = &report.host.response_ns;
            let met = response.met_gc_read.count + response.met_gc_write.count;
            let counters = &report.array.coordination.counters;
            let at = format!("{} {variant}: {met} requests met collection, {counters:?}", experiment.id);
            turns += counters["grants"];
            if counters["entered_n"] > 0 || counters["hard_notices"] > 0 {
                continue;
            }
            let waits = counters["waits_full"] + counters["waits_several"];
            assert!(met <= waits, "{at}");
            assert!(waits > 0 || report.host.blame_ns.queue_gc == 0, "{at}");
            calm += u32::from(waits == 0 && counters["grants"] > 0);
            full += u32::from(waits > 0 && met > 0);
        }
    }
    assert!(turns > 200 && calm >= 5 && full >= 1, "{turns} turns, {calm} calm runs, {full} full ones");
}

/// Members that collect at a time, on average: n x g.
fn collecting(report: &Report) -> f64 {
    let shares = report.array.devices_in_gc_fraction.iter().enumerate();
    shares.map(|(members, share)| members as f64 * share).sum()
}

/// With floating stripes nobody waits for collection in any sweep in which members collect for less than 85% of the time, all of them
/// together, and the state without turns is never entered.
#[test]
fn with_floating_stripes_nobody_waits_for_collection_below_85_percent() {
    let (mut turns, mut moved, mut runs, mut most) = (0, 0, 0, 0.0_f64);
    for experiment in experiments().expect("valid experiments") {
        let is_sweep = experiment.id.starts_with("gaftl");
        let on_chips = |name: &&String| name.ends_with("/gaftl") && !name.starts_with("dies");
        for variant in experiment.variants().iter().filter(|_| is_sweep).filter(on_chips) {
            let report = report(variant, &experiment, &[]);
            let response = &report.host.response_ns;
            let met = response.met_gc_read.count + response.met_gc_write.count;
            let (counters, collecting) = (&report.array.coordination.counters, collecting(&report));
            let at = format!(
                "{} {variant}: {met} requests met collection, n x g is {collecting:.2}, {counters:?}",
                experiment.id
            );
            eprintln!("{at}");
            turns += counters["grants"];
            moved += counters["units_moved"] + counters["parity_moved"];
            if collecting > 0.85 {
                continue;
            }
            (runs, most) = (runs + 1, most.max(collecting));
            assert_eq!((met, counters["entered_n"], counters["waits_several"]), (0, 0, 0), "{at}");
            assert_eq!(report.host.blame_ns.queue_gc, 0, "{at}");
        }
    }
    assert!(
        turns > 200 && moved > 1_000 && runs >= 15 && most > 0.5,
        "{turns} turns, {moved} rows moved, {runs} runs of at most {most}"
    );
}
