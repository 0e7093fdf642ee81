//! How much of the cores a sweep of many small points uses: processor time over wall time and cores.

use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;
use std::time::Instant;

use harmonia_run::RunOptions;
use harmonia_sweep::{Base, Plan, Point, Store, Unwatched, run};

use super::table::{REPEATS, Spread, Tables};

/// 500 points of some ten milliseconds: 50 aged arrays, of which ten points each begin.
const SWEEP: &str = "policies = [\"local\", \"reactive-selective\"]\nseeds = 10\n[axes]\n\
                     ssd.gc.min_victims = \"1..5\"\nworkload.read_fraction = [0.1, 0.3, 0.5, 0.7, 0.9]\n";
/// Unit of the times in `/proc/self/stat`: USER_HZ, which is 100 on all systems there are. Unit: 1/s.
const TICKS: f64 = 100.0;

/// A row with the share of the cores that is used, and how many points a second there are.
pub fn bench(tables: &mut Tables) {
    let cores = available_parallelism().map_or(1, usize::from);
    let points = Plan::parse(SWEEP, "sweep", &Base::File("tiny"), &[]).and_then(|plan| plan.points());
    let points = points.unwrap_or_else(|why| panic!("{why}"));
    let (shares, rates): (Vec<f64>, Vec<f64>) = (0..REPEATS).map(|_| once(&points, cores)).unzip();
    tables.section("share of the cores that is used");
    let case = format!("a sweep of {} small points, {cores} cores", points.len());
    tables.figures(&case, None, shares, Some((Spread::of(rates).median, "points/s")));
}

fn once(points: &[Point], cores: usize) -> (f64, f64) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::create(folder.path()).expect("a folder");
    let cancel = AtomicBool::new(false);
    let options = RunOptions { threads: cores, cancel: &cancel, ..RunOptions::default() };
    let (clock, before) = (Instant::now(), processor_seconds());
    let done = run(points, &store, &options, &Unwatched).expect("runs");
    assert_eq!(done.run, points.len());
    let wall = clock.elapsed().as_secs_f64();
    ((processor_seconds() - before) / (wall * cores as f64), points.len() as f64 / wall)
}

/// User and system time of this process so far.
pub fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may have blanks in it.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>()
        / TICKS
}
