//! Does nobody wait for collection under GAFTL but where that is counted? Every load that is evaluated, on small chips, with all
//! invariants checked.

use harmonia_metrics::Report;
use harmonia_reproduce::experiment::experiments;
use harmonia_run::{RunOptions, Silent, Unobserved, run};

/// An eighth of the blocks, a second of requests that are measured.
const SMALL: [&str; 5] = [
    "ssd.geometry.blocks_per_plane=64",
    "array.free_stripes=128",
    "precondition.overwrite=2",
    "workload.requests=1300",
    "workload.warmup=300",
];

fn report(variant: &str, experiment: &harmonia_reproduce::Experiment) -> Report {
    let sets = SMALL.map(str::to_owned);
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
        let on_chips = |name: &&String| name.ends_with("/gaftl") && !name.starts_with("dies");
        for variant in experiment.variants().iter().filter(|_| is_sweep).filter(on_chips) {
            let report = report(variant, &experiment);
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
