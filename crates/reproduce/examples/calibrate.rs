//! Finds the loads of the stand-ins for the traces of HPDC 2018, from nothing but the published shares of requests that
//! meet garbage collection: `cargo run --release -p harmonia-reproduce --example calibrate`.
//!
//! ```text
//!   share of time that bursts take  <-- reads over writes that meet collection, on average     (one for all volumes)
//!        rate of each volume        <-- requests of the volume that meet collection, Table 2   (found anew each time)
//!        requests out of each       <-- the same, in the closed loop
//! ```
//!
//! Both are secants in the logarithm of knob and share. Every look is the baseline, `blocking` with two planes: at one seed
//! while the share of time is sought, at the seeds that are measured later for what is printed. No response time and no
//! utilisation is read. Prints the `workload.arrival` of every
//! volume, as it stands in `experiments/io-parallel.toml` and `experiments/io-parallel-closed.toml`.
//!
//! Further arguments are keys that all volumes change, to calibrate a sweep: `precondition.fill=0.5`. `--poisson`
//! calibrates without bursts, `--share-of-time=0.25` and `--burst-length=500` with those instead of what is found;
//! `--only=mds_0,proj_0` only those volumes, `--seeds=1` looks at one seed, `--closed` has the closed loop too. The loads of the
//! reading `one-page`:
//!
//! ```sh
//! calibrate --seeds=1 --share-of-time=0.12 --burst-length=16000 --closed workload.size.mean=8KB precondition.fill=0.65 \
//!     workload.address.footprint=0.65 ssd.geometry.channels=1 workload.requests=300000 workload.warmup=150000
//! ```

#![expect(clippy::print_stdout, reason = "prints the calibrated loads")]

use std::sync::atomic::AtomicBool;

use harmonia_reproduce::claims::inside_the_die::{AFFECTED_READS, AFFECTED_WRITES, VOLUMES, Volume};
use harmonia_reproduce::experiment::{Experiment, SEEDS, experiments};
use harmonia_reproduce::measure::Quantity;
use harmonia_reproduce::summary::Summary;
use harmonia_run::{AgedCache, RunOptions, compare_seeds};
use harmonia_scenario::Variant;

/// Writes of a burst.
const BURST_LENGTH: u32 = 5000;
/// Where the search begins: share of time that bursts take, requests a second, requests out.
const FIRST_SHARE_OF_TIME: f64 = 0.12;
const FIRST_RATE: f64 = 1000.0;
const FIRST_DEPTH: f64 = 100.0;
/// Steps of a search.
const STEPS: usize = 6;
/// A share is met if it is off by no more than this. Unit: points of percent.
const MET: f64 = 0.7;
/// The proportion of reads and writes is met if it is off by no more than this part of it.
const PROPORTION_MET: f64 = 0.05;

type Failure = Box<dyn std::error::Error>;
/// A knob and what meets collection with it.
type Found = (f64, Affected);

/// When the requests of a volume arrive, but for one figure.
#[derive(Debug, Clone, Copy)]
enum Load {
    Poisson,
    Bursts { share_of_time: f64, length: u32 },
    Closed,
}

/// Shares of all requests, over the seeds. Unit: percent.
#[derive(Debug, Clone, Copy, Default)]
struct Affected {
    reads: f64,
    writes: f64,
}

impl Affected {
    fn all(self) -> f64 {
        self.reads + self.writes
    }
}

/// The volumes under the baseline.
struct Baseline {
    experiment: Experiment,
    volumes: Vec<Volume>,
    sets: Vec<String>,
    seeds: u64,
    /// Aged devices, so that each is aged once.
    aged: AgedCache,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, sets): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|argument| argument.starts_with("--"));
    let value = |name: &str| flags.iter().find_map(|flag| flag.strip_prefix(name)?.strip_prefix('='));
    let length = value("--burst-length").map_or(Ok(BURST_LENGTH), str::parse)?;
    let only = value("--only");
    let wanted = |volume: &Volume| only.is_none_or(|only| only.split(',').any(|name| name == volume.name));
    let seeds = value("--seeds").map_or(Ok(SEEDS), str::parse)?;
    let folder = tempfile::tempdir()?;
    let baseline = |id: &str| -> Result<Baseline, Failure> {
        let found = experiments()?.into_iter().find(|experiment| experiment.id == id);
        Ok(Baseline {
            experiment: found.ok_or("no such experiment")?,
            volumes: VOLUMES.into_iter().filter(wanted).collect(),
            sets: sets.clone(),
            seeds,
            aged: AgedCache::new(folder.path().to_owned(), AgedCache::MOST_BYTES),
        })
    };
    let mut open = baseline("io-parallel")?;
    if flags.iter().any(|flag| flag == "--poisson") {
        open.report(Load::Poisson, &open.calibrated(Load::Poisson, &open.start(FIRST_RATE))?);
        return Ok(());
    }
    let (bursts, found) = match value("--share-of-time") {
        Some(share_of_time) => {
            let load = Load::Bursts { share_of_time: share_of_time.parse()?, length };
            (load, open.calibrated(load, &open.start(FIRST_RATE))?)
        }
        None => {
            open.seeds = 1;
            let (load, rates) = open.bursts(length)?;
            open.seeds = seeds;
            (load, open.calibrated(load, &rates)?)
        }
    };
    open.report(bursts, &found);
    if flags.is_empty() || flags.iter().any(|flag| flag == "--closed") {
        let closed = baseline("io-parallel-closed")?;
        closed.report(Load::Closed, &closed.calibrated(Load::Closed, &closed.start(FIRST_DEPTH))?);
    }
    Ok(())
}

fn mean(found: &[Found]) -> Affected {
    let count = found.len() as f64;
    Affected {
        reads: found.iter().map(|(_, affected)| affected.reads).sum::<f64>() / count,
        writes: found.iter().map(|(_, affected)| affected.writes).sum::<f64>() / count,
    }
}

impl Load {
    /// The value of `workload.arrival`, its figures rounded to four digits.
    fn arrival(self, volume: &Volume, knob: f64) -> String {
        let (rate, depth) = (digits(knob), knob.round().max(1.0));
        match self {
            Load::Poisson => format!("{{ process = \"poisson\", rate = {rate} }}"),
            Load::Bursts { share_of_time, length } => {
                let burst_rate = digits(rate * volume.writes / 100.0 / share_of_time);
                format!(
                    "{{ process = \"write-bursts\", rate = {rate}, burst_rate = {burst_rate}, burst_length = {length} }}"
                )
            }
            Load::Closed => format!("{{ process = \"closed\", queue_depth = {depth} }}"),
        }
    }
}

/// Rounded to four significant digits.
fn digits(value: f64) -> f64 {
    let unit = libm::pow(10.0, value.log10().floor() - 3.0);
    let rounded = (value / unit).round() * unit;
    (rounded * 1e6).round() / 1e6
}

/// The next knob: where the line through two points, in logarithms, meets what is wanted; no further than by a factor
/// of four.
fn secant(earlier: (f64, f64), later: (f64, f64), wanted: f64) -> f64 {
    let slope = libm::log(later.1 / earlier.1) / libm::log(later.0 / earlier.0);
    let slope = if slope.is_finite() { slope.clamp(0.25, 4.0) } else { 1.0 };
    later.0 * libm::exp(libm::log(wanted / later.1) / slope).clamp(0.25, 4.0)
}

/// A point before the first: half the knob is taken to give half the share.
fn half(point: (f64, f64)) -> (f64, f64) {
    (point.0 / 2.0, point.1 / 2.0)
}

impl Baseline {
    /// A first knob for every volume.
    fn start(&self, knob: f64) -> Vec<f64> {
        vec![knob; self.volumes.len()]
    }

    /// The knob and what came of it, a line a volume.
    fn report(&self, load: Load, found: &[Found]) {
        println!("{load:?}\n");
        for (volume, (knob, affected)) in self.volumes.iter().zip(found) {
            println!(
                "{:8} {:4.1}% wanted {:4.1}% met (reads {:4.1}, writes {:4.1})  'workload.arrival={}'",
                volume.name,
                volume.gc_affected,
                affected.all(),
                affected.reads,
                affected.writes,
                load.arrival(volume, *knob)
            );
        }
        let mean = mean(found);
        println!("{:8} reads {:.1}% and writes {:.1}% of all requests", "mean", mean.reads, mean.writes);
        println!("         published: {AFFECTED_READS}% and {AFFECTED_WRITES}%\n");
    }

    /// The bursts under which reads meet collection as much less often than writes as published, on average, and the
    /// rates under them.
    fn bursts(&self, length: u32) -> Result<(Load, Vec<f64>), Failure> {
        let wanted = AFFECTED_READS / AFFECTED_WRITES;
        let (mut share_of_time, mut earlier) = (FIRST_SHARE_OF_TIME, None);
        let mut rates = self.start(FIRST_RATE);
        for step in 1.. {
            let load = Load::Bursts { share_of_time, length };
            let found = self.calibrated(load, &rates)?;
            let mean = mean(&found);
            rates = found.iter().map(|(rate, _)| *rate).collect();
            let point = (share_of_time, mean.reads / mean.writes);
            eprintln!(
                "bursts take {share_of_time} of the time: reads over writes {:.4}, wanted {wanted:.4}",
                point.1
            );
            // Two digits are as much as 1.4% has.
            let next = secant(earlier.replace(point).unwrap_or(half(point)), point, wanted).clamp(0.01, 0.9);
            let next = (next * 100.0).round() / 100.0;
            let met = (point.1 / wanted - 1.0).abs() <= PROPORTION_MET;
            if met || next == share_of_time || step == STEPS {
                return Ok((load, rates));
            }
            share_of_time = next;
        }
        unreachable!("the last step returns")
    }

    /// For every volume the knob under which the published share meets collection, and what then does.
    fn calibrated(&self, load: Load, first: &[f64]) -> Result<Vec<Found>, Failure> {
        let mut found: Vec<Found> = first.iter().map(|&knob| (knob, Affected::default())).collect();
        let mut earlier = vec![None; self.volumes.len()];
        let mut off: Vec<usize> = (0..self.volumes.len()).collect();
        for step in 1.. {
            self.look(load, &off, &mut found)?;
            off.retain(|&index| (found[index].1.all() - self.volumes[index].gc_affected).abs() > MET);
            eprintln!("step {step}: {} volumes are off", off.len());
            if off.is_empty() || step == STEPS {
                return Ok(found);
            }
            for &index in &off {
                let point = (found[index].0, found[index].1.all());
                let before = earlier[index].replace(point).unwrap_or(half(point));
                found[index].0 = secant(before, point, self.volumes[index].gc_affected);
            }
        }
        unreachable!("the last step returns")
    }

    /// What meets collection in these volumes with the knobs they have.
    fn look(&self, load: Load, volumes: &[usize], found: &mut [Found]) -> Result<(), Failure> {
        let variants = volumes.iter().map(|&index| self.variant(&self.volumes[index], load, found[index].0));
        let variants = variants.collect::<Result<Vec<Variant>, Failure>>()?;
        let cancel = AtomicBool::new(false);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let options =
            RunOptions { threads, cancel: &cancel, cache: Some(&self.aged), ..RunOptions::default() };
        let runs = compare_seeds(&variants, self.seeds, &options)?.runs;
        let summaries: Vec<Summary> = runs.iter().map(Summary::from).collect();
        for (&index, runs) in volumes.iter().zip(summaries.chunks(self.seeds as usize)) {
            found[index].1 = over_seeds(runs);
        }
        Ok(())
    }

    fn variant(&self, volume: &Volume, load: Load, knob: f64) -> Result<Variant, Failure> {
        let arrival = format!("workload.arrival={}", load.arrival(volume, knob));
        let sets = [self.sets.as_slice(), &[arrival]].concat();
        let variants = self.experiment.variants();
        let name = variants.iter().find(|name| name.starts_with(volume.name) && name.ends_with("blocking"));
        let scenario = self.experiment.scenario(name.ok_or("no baseline")?, 1, &sets)?;
        Ok(Variant { label: volume.name.to_owned(), scenario })
    }
}

/// The means over the seeds of one volume.
fn over_seeds(runs: &[Summary]) -> Affected {
    let mean = |quantity: Quantity| {
        let values = runs.iter().filter_map(|run| quantity.of(run));
        100.0 * values.sum::<f64>() / runs.len() as f64
    };
    Affected { reads: mean(Quantity::MetGcReads), writes: mean(Quantity::MetGcWrites) }
}
