//! Are the figures of a drive found again, if all that is known of it are files with measurements?
//!
//! A drive with drawn figures is simulated under the loads of a plan, and what it shows is written as fio and counters would write it. The
//! calibration reads these files and nothing else. What tells of the spare differs: counters, rates, or the place of the cliff.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use harmonia_calibrate::drive::{Drive, PROGRAM_TRANSFER_US};
use harmonia_calibrate::estimate::Known;
use harmonia_calibrate::measured::{Experiment, Stream};
use harmonia_calibrate::{Calibration, HoldOut, calibrate, read, simulate};
use harmonia_engine::Rng;
use harmonia_metrics::{Observer, Report};
use harmonia_run::{Observe, RunId, RunOptions, run};
use harmonia_scenario::Scenario;
use harmonia_types::{Completion, DeviceId, Operation, SimTime};

/// What tells of its spare.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Spare {
    Counters,
    Rates,
    Cliff,
}

/// A drive whose figures are drawn: so many dies at least.
fn drawn(seed: u64, dies: &[u32]) -> Drive {
    let mut rng = Rng::stream(seed, "hidden drive");
    let mut within = |low: f64, high: f64| low + (high - low) * rng.unit();
    let (first, second, third) = (within(35.0, 55.0), within(0.0, 10.0), within(3.0, 14.0));
    let dies = dies[within(0.0, dies.len() as f64) as usize];
    Drive {
        dies,
        read_us: [first, first + second, first + second + third],
        program_us: within(1_600.0, 2_600.0),
        latency_us: within(5.0, 12.0),
        reserved: within(12.0, 24.0),
        window: within(30.0, 400.0) as u32,
        minimum_run_us: within(80.0, 500.0),
        ..Drive::default()
    }
    .with_capacity(capacity(dies))
}

/// Of a drive of so many dies. Unit: bytes.
fn capacity(dies: u32) -> u64 {
    u64::from(dies) * 60_000_000_000
}

fn stream(reads: f64, depth: u32, rate: Option<f64>) -> Stream {
    let (is_random, block, jobs, is_poisson) = (true, 4096, 1, false);
    Stream { reads, is_random, block, depth, jobs, rate, is_poisson, read: None, write: None }
}

/// The loads of a plan, scaled to what a drive of few dies takes.
fn loads(dies: u32) -> Vec<(&'static str, Experiment)> {
    let rate = |per_die: f64| Some(per_die * f64::from(dies));
    let writers =
        |rate: Option<f64>| Stream { jobs: if rate.is_none() { 4 } else { 1 }, ..stream(0.0, 64, rate) };
    let rate_of_reads = rate(1_200.0);
    let beside = |rate| vec![stream(1.0, 64, rate_of_reads), writers(rate)];
    let fill = Stream { is_random: false, block: 512 << 10, ..stream(0.0, 4, None) };
    [
        ("fill", vec![fill]),
        ("uniform", vec![writers(None)]),
        ("idle-writes", vec![stream(0.0, 1, Some(1_000.0))]),
        ("idle-reads", vec![stream(1.0, 1, None)]),
        ("beside", beside(rate(1_500.0))),
        ("window", vec![stream(1.0, 1, None), Stream { jobs: 4, ..stream(1.0, 256, None) }]),
        ("held-out", beside(rate(2_500.0))),
    ]
    .map(|(name, streams)| (name, Experiment { name: name.to_owned(), streams }))
    .into()
}

/// All latencies of reads and of writes in ns, and when so many bytes were written.
#[derive(Default)]
struct Seen(Mutex<[Vec<u64>; 2]>, Mutex<Vec<(u64, u64)>>);

struct Watch<'a>(&'a Seen);

impl Observe for Seen {
    fn observer(&self, _: RunId) -> Option<Box<dyn Observer + '_>> {
        Some(Box::new(Watch(self)))
    }
}

impl Observer for Watch<'_> {
    fn begin(&mut self, _: SimTime, _: usize) {}
    fn completion(&mut self, completion: &Completion) {
        let kind = usize::from(completion.operation == Operation::Write);
        self.0.0.lock().expect("no panic")[kind].push(completion.response().0);
        self.0.1.lock().expect("no panic").push((completion.finish.0, completion.length));
    }
    fn gc_interval(&mut self, _: DeviceId, _: SimTime, _: SimTime) {}
    fn end(&mut self, _: SimTime) {}
}

/// A hidden drive under one load.
fn measure(scenario: &Scenario) -> (Report, Seen) {
    let seen = Seen::default();
    let options = RunOptions { observe: &seen, ..RunOptions::default() };
    let report = run(scenario, &options).expect("the hidden drive takes its load");
    (report, seen)
}

/// The bin of fio that a latency falls into: 64 of them between two powers of two.
fn bin(ns: u64) -> u64 {
    let width = ns.max(1).ilog2().saturating_sub(6);
    (ns >> width << width) + (1 << width) / 2
}

/// The jobs of one experiment as fio writes them.
fn jobs(experiment: &Experiment, report: &Report, seen: &Seen) -> Vec<String> {
    let seconds = report.simulated_ns as f64 / 1e9;
    let latencies = seen.0.lock().expect("no panic");
    let job = |(at, stream): (usize, &Stream)| {
        let own = report.host.streams.get(&format!("s{at}"));
        let kind = usize::from(stream.writes_only());
        let summary = own.map(|own| if kind == 0 { &own.read } else { &own.write });
        let count = summary.map_or(latencies[kind].len() as u64, |summary| summary.count);
        let latency = match summary.filter(|_| experiment.streams.len() > 1) {
            Some(summary) => {
                let percentile = |name, ns: Option<u64>| Some(format!("\"{name}\": {}", ns?));
                let all = [percentile("50.000000", summary.p50), percentile("99.000000", summary.p99)];
                let all = all.into_iter().flatten().collect::<Vec<_>>().join(", ");
                format!("\"mean\": {}, \"percentile\": {{{all}}}", summary.mean.expect("requests"))
            }
            None => {
                let mut bins = std::collections::BTreeMap::<u64, u64>::new();
                latencies[kind].iter().for_each(|ns| *bins.entry(bin(*ns)).or_default() += 1);
                let all: Vec<String> = bins.iter().map(|(ns, count)| format!("\"{ns}\": {count}")).collect();
                format!("\"bins\": {{{}}}", all.join(", "))
            }
        };
        let mode = [["read", "write"], ["randread", "randwrite"]][usize::from(stream.is_random)][kind];
        // fio has the rate of each job, and an entry for each; here one stands for all, whose depth is theirs together.
        let rate = stream.rate.map_or_else(String::new, |rate| format!(", \"rate_iops\": \"{rate}\""));
        let wall = if at == 0 { ", \"stonewall\": \"\"" } else { "" };
        let (name, jobs) = (format!("{}-{at}", experiment.name), stream.jobs);
        (0..jobs)
            .map(|_| {
                format!(
                    "{{\"jobname\": \"{name}\", \"job options\": {{\"rw\": \"{mode}\", \"bs\": \"{}\", \"iodepth\": \"{}\"{rate}{wall}}},\n\
                     \"{}\": {{\"iops\": {:.3}, \"clat_ns\": {{{latency}}}}}}}",
                    stream.block,
                    stream.depth,
                    ["read", "write"][kind],
                    count as f64 / seconds / f64::from(jobs),
                )
            })
            .collect::<Vec<_>>()
            .join(",\n")
    };
    experiment.streams.iter().enumerate().map(job).collect()
}

/// Bytes of a part whose cache of 12 MiB is hardly a part of it, as that of the whole drive.
const LARGE: u64 = 4_000_000_000;
/// Points of a bandwidth over time.
const POINTS: u64 = 400;

/// The rate of random writes from the erased state on, as CSV. A part of the drive is simulated, and its time stretched.
fn over_time(drive: &Drive) -> String {
    let divisor = (capacity(drive.dies) / LARGE) as u32;
    let bytes = drive.part(divisor).expect("a drive");
    let stretched = capacity(drive.dies) as f64 / bytes as f64;
    let writes = bytes / 4096 * 8 / 5;
    let text = format!(
        "[workload]\nrequests = {writes}\narrival = {{ process = \"closed\", queue_depth = 64 }}\nread_fraction = 0.0\n\
         size = {{ distribution = \"fixed\", mean = \"4KiB\" }}\naddress = {{ pattern = \"uniform\", footprint = 1.0 }}\n\
         [precondition]\nfill = 0.0\n[array]\ndevices = 1\nlevel = \"raid0\"\n{}",
        drive.table(divisor)
    );
    let scenario = Scenario::parse(&text, "over time", &[], None).expect("a scenario");
    let (report, seen) = measure(&scenario);
    let step = report.simulated_ns / POINTS;
    let mut written = vec![0_u64; POINTS as usize + 1];
    for (finish, length) in seen.1.lock().expect("no panic").iter() {
        written[(finish / step).min(POINTS) as usize] += length;
    }
    let mut text = "time_s,bytes_per_s\n".to_owned();
    for (at, bytes) in written[..POINTS as usize].iter().enumerate() {
        let seconds = step as f64 / 1e9;
        let _ = writeln!(text, "{},{}", (at + 1) as f64 * seconds * stretched, *bytes as f64 / seconds);
    }
    text
}

/// Files with what a hidden drive shows.
fn files(drive: &Drive, spare: Spare, folder: &Path) -> Vec<PathBuf> {
    let sheet = format!("[drive]\nname = \"hidden\"\ncapacity = \"{}B\"\n", capacity(drive.dies));
    let (mut sheet, mut all, mut files) = (sheet, Vec::new(), Vec::new());
    for (name, load) in loads(drive.dies) {
        if name == "uniform" && spare == Spare::Cliff {
            continue;
        }
        // Rates say how long it is measured.
        let mut offered = load.clone();
        for stream in &mut offered.streams {
            let as_usual = f64::from(drive.dies) * if stream.writes_only() { 6_000.0 } else { 9_000.0 };
            let rate = stream.rate.unwrap_or(as_usual);
            let side = Some(harmonia_calibrate::measured::Side { rate, ..Default::default() });
            *(if stream.writes_only() { &mut stream.write } else { &mut stream.read }) = side;
        }
        let (report, seen) = measure(&simulate::scenario(drive, &offered).expect("a scenario"));
        all.extend(jobs(&load, &report, &seen));
        if name == "uniform" && spare == Spare::Counters {
            let media = report.array.write_amplification_whole_cycles.expect("it collects");
            let _ =
                writeln!(sheet, "[counters.uniform]\nhost = \"1000GB\"\nmedia = \"{:.1}GB\"", media * 1000.0);
        }
    }
    let mut put = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        files.push(path);
    };
    put("measured.json", format!("{{\"jobs\": [\n{}\n]}}\n", all.join(",\n")));
    put("sheet.toml", sheet);
    if spare == Spare::Cliff {
        put("over-time.csv", over_time(drive));
    }
    files
}

fn found(calibration: &Calibration, key: &str) -> (Vec<f64>, bool) {
    let key = calibration.keys.iter().find(|known| known.key == key).expect("a key of the file");
    let number = |text: &str| {
        let text = text.trim().trim_matches('"');
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
        let unit = if text.ends_with("ms") {
            1e3
        } else if text.ends_with("ns") {
            1e-3
        } else {
            1.0
        };
        digits.parse::<f64>().expect("a number") * unit
    };
    let values = key.value.trim_matches(['[', ']']).split(',').map(number).collect();
    (values, matches!(key.known, Known::Identified(_)))
}

/// One figure that was found, beside the hidden one. Unit: that of the figure.
struct Figure {
    name: &'static str,
    found: f64,
    hidden: f64,
    /// Relative.
    within: f64,
}

impl Figure {
    fn error(&self) -> f64 {
        self.found / self.hidden - 1.0
    }

    fn is_near(&self) -> bool {
        self.error().abs() <= self.within
    }
}

/// What came of the calibration of a hidden drive.
struct Outcome {
    /// Those that the files identify.
    figures: Vec<Figure>,
    /// Those that they do not.
    unknown: Vec<&'static str>,
    /// Reads of the experiment that was held out.
    held_out: Vec<Figure>,
    /// For whom a test fails.
    told: String,
}

/// Calibrates a hidden drive.
fn outcome(seed: u64, spare: Spare, dies: &[u32]) -> Outcome {
    let hidden = drawn(seed, dies);
    let folder = tempfile::tempdir().expect("temporary folder");
    let measured = read(&files(&hidden, spare, folder.path())).expect("files of fio");
    let result = calibrate(&measured, &HoldOut::Last, &RunOptions::default(), &|_| {}).expect("calibrated");
    let file = result.device_file();
    let told = format!("seed {seed}, {spare:?}\n{hidden:#?}\n{file}\n{:#?}", result.checks);
    let (mut figures, mut unknown) = (Vec::new(), Vec::new());
    let mut note = |name, key, found: f64, hidden: f64, within| {
        if self::found(&result, key).1 {
            figures.push(Figure { name, found, hidden, within });
        } else {
            unknown.push(name);
        }
    };
    let values = |key| found(&result, key).0;
    let latency = values("link.latency")[0] + hidden.write_rest_us();
    note("write constant", "link.latency", latency, hidden.latency_us + hidden.write_rest_us(), 0.1);
    for (found, hidden) in values("timing.read").into_iter().zip(hidden.read_us) {
        note("read", "timing.read", found, hidden, 0.1);
    }
    let dies = values("geometry.channels")[0] * values("geometry.chips_per_channel")[0];
    let media = |dies: f64, program: f64| dies / (program + PROGRAM_TRANSFER_US);
    let program = media(dies, values("timing.program")[0]);
    note("program rate", "timing.program", program, media(f64::from(hidden.dies), hidden.program_us), 0.1);
    note("spare", "ftl.reserved_blocks", values("ftl.reserved_blocks")[0], hidden.reserved, 0.1);
    let window = values("controller.command_window")[0];
    note("window", "controller.command_window", window, f64::from(hidden.window), 0.1);
    let minimum = values("timing.minimum_run")[0];
    note("minimum run", "timing.minimum_run", minimum, hidden.minimum_run_us, 0.25);
    let held_out = result.checks.iter().filter(|check| check.held_out && check.figure.starts_with("read"));
    let held_out = held_out
        .map(|check| Figure {
            name: check.figure,
            found: check.simulated.expect("simulated"),
            hidden: check.measured,
            within: 0.15,
        })
        .collect();
    let text = format!("workload.preset = \"hpc-w\"\n[array]\ndevices = 1\n{file}");
    Scenario::parse(&text, "the device file", &[], None).unwrap_or_else(|bad| panic!("{bad}\n{told}"));
    Outcome { figures, unknown, held_out, told }
}

/// Figures that every plan tells.
const ALWAYS: [&str; 5] = ["read", "program rate", "write constant", "spare", "window"];

/// Calibrates a hidden drive, and holds what was found against it.
fn is_found(seed: u64, spare: Spare, dies: &[u32]) {
    let Outcome { figures, unknown, held_out, told } = outcome(seed, spare, dies);
    for name in ALWAYS {
        assert!(!unknown.contains(&name), "{name} is not identified\n{told}");
    }
    assert!(held_out.len() == 2, "{told}");
    for figure in figures.iter().chain(&held_out) {
        assert!(figure.is_near(), "{}: {} for {}\n{told}", figure.name, figure.found, figure.hidden);
    }
}

#[test]
#[ignore = "long: make simulations"]
fn a_drive_with_counters_is_found() {
    is_found(1, Spare::Counters, &[2]);
}

#[test]
#[ignore = "long: make simulations"]
fn a_drive_with_rates_alone_is_found() {
    is_found(2, Spare::Rates, &[2]);
}

#[test]
#[ignore = "long: make simulations"]
fn a_drive_with_a_cliff_is_found() {
    is_found(3, Spare::Cliff, &[2]);
}

/// Ten drives of two, three and four dies, and each way to tell the spare.
#[test]
#[ignore = "longer: make calibrations"]
fn ten_drives_are_found() {
    let (mut table, mut failed, mut predicted) = (String::new(), Vec::new(), 0);
    for seed in 11..21 {
        let spare = [Spare::Counters, Spare::Rates, Spare::Cliff][seed as usize % 3];
        let Outcome { figures, unknown, held_out, told } = outcome(seed, spare, &[2, 3, 4]);
        let _ = write!(table, "\nseed {seed}, {spare:?}:");
        for figure in figures.iter().chain(&held_out) {
            let _ = write!(table, " {} {:+.1}%,", figure.name, 100.0 * figure.error());
        }
        let _ = write!(table, " unknown: {unknown:?}");
        assert!(held_out.len() == 2, "{told}");
        if !figures.iter().all(Figure::is_near) || ALWAYS.iter().any(|name| unknown.contains(name)) {
            failed.push(told);
        }
        let p99 = held_out.iter().find(|figure| figure.name.starts_with("read p99")).expect("a percentile");
        predicted += usize::from(p99.error().abs() <= 0.1);
    }
    eprintln!("{predicted} of 10 predicted{table}");
    assert!(failed.is_empty() && predicted >= 9, "{}", failed.join("\n"));
}
