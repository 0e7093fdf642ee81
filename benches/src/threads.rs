//! What a second thread gains, against what it gains for two floors: how much of the machine's second core a run, or two of them,
//! can use.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use harmonia_array::AgedState;
use harmonia_scenario::Scenario;

use crate::floor::Prefetching;
use crate::table::{Aim, FLOOR_STEP, REPEATS, Tables};
use crate::{aged, load, measure, measure_on};

/// Two runs at once, and one run on two threads.
pub fn bench(tables: &mut Tables, devices: u32) {
    let rate = 476.5 * f64::from(devices) / 8.0;
    let hpc = |sets: &[&str]| {
        let mut all = vec![
            format!("array.devices={devices}"),
            format!("workload.arrival={{process='poisson', rate={rate}}}"),
            "workload.warmup=1000".to_owned(),
            // Long enough for the run, not the giving back of its memory, to be what is timed.
            "workload.requests=36000".to_owned(),
        ];
        all.extend(sets.iter().map(|set| (*set).to_owned()));
        load("hpc-w", &all)
    };
    let local = hpc(&["array.coordination.policy=local"]);
    let listens = hpc(&[
        "array.coordination.policy=reactive-selective",
        "array.coordination.message_latency=100us",
        "workload.requests=100000",
    ]);
    let mut floors: Vec<Prefetching> = (0..2).map(|seed| Prefetching::new(131_072, 64, 0.15, seed)).collect();
    tables.section("gain of a second thread over that of two floors");
    let state = aged(&local, 2);
    let mut row = |case: &str, aim: f64, gain: &dyn Fn() -> f64| {
        let ratios = (0..REPEATS).map(|_| gain() / two_floors(&mut floors)).collect();
        tables.figures(case, Some(Aim::AtLeast(aim)), ratios, None);
    };
    row("two runs at once", 0.85, &|| two_runs(&local, &state));
    row("HPC(W) `local` within one run", 0.85, &|| one_run(&local, &state));
    row("HPC(W) `reactive-selective`, messages of 100 us, within one run", 0.42, &|| {
        one_run(&listens, &state)
    });
}

/// Time of two things one after the other, over that of both at once.
fn gain<T: Send>(things: &mut [T], act: impl Fn(&mut T) + Sync) -> f64 {
    let clock = Instant::now();
    things.iter_mut().for_each(&act);
    let serial = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    std::thread::scope(|scope| {
        for thing in &mut *things {
            scope.spawn(|| act(thing));
        }
    });
    serial / clock.elapsed().as_secs_f64()
}

fn two_floors(floors: &mut [Prefetching]) -> f64 {
    gain(floors, |floor| floor.overwrite(9 * FLOOR_STEP))
}

fn two_runs(scenario: &Scenario, state: &AgedState) -> f64 {
    let states = Mutex::new(vec![state.clone(), state.clone(), state.clone(), state.clone()]);
    let take = || states.lock().unwrap_or_else(PoisonError::into_inner).pop();
    gain(&mut [(), ()], |()| drop(take().map(|state| measure(scenario, state))))
}

fn one_run(scenario: &Scenario, state: &AgedState) -> f64 {
    let [one, two] = [1, 2].map(|threads| measure_on(threads, scenario, state.clone()).engine.wall_ns as f64);
    one / two
}
