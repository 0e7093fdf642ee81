//! What is each part of a drive with a write cache for? Each is taken away, and the figures that get worse are those that it is there for.
//!
//! `cargo test --locked -p harmonia-run --test all -- --ignored --nocapture ablation` prints two tables. Figures of docs/write-cache.md come
//! from the first. The second holds the example drive against an ablation of another model.

use harmonia_metrics::{Report, StreamReport};
use harmonia_run::{RunOptions, run};
use harmonia_scenario::Scenario;

/// A part of the drive, blocks of a twelfth of the pages, and reads and writes in streams of their own.
const DRIVE: &str = r#"
    name = "ablation"
    seed = 1
    [workload]
    requests = 600000
    warmup = 100000
    [workload.stream.reads]
    arrival = { process = "poisson", rate = 30000 }
    size = { distribution = "fixed", mean = "4KiB" }
    read_fraction = 1
    address = { pattern = "uniform", footprint = 0.5 }
    [workload.stream.writes]
    arrival = { process = "poisson", rate = 45000 }
    size = { distribution = "fixed", mean = "4KiB" }
    read_fraction = 0
    address = { pattern = "uniform", footprint = 0.5 }
    [precondition]
    fill = 1.0
    overwrite = 2.0
    [array]
    devices = 1
    level = "raid0"
    stripe_unit = "64KiB"
    [ssd]
    preset = "modern-tlc-1t"
    geometry = { blocks_per_plane = 512, pages_per_block = 24 }
    timing.erase = "167us"
"#;

const FAST: &str = "workload.stream.writes.arrival.rate=50000";

/// Figures of one run. Unit: ns.
struct Figures {
    read_p50: u64,
    read_p99: u64,
    write_p99: u64,
}

fn figures(name: &str, sets: &[&str]) -> Figures {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::parse(DRIVE, "ablation", &sets, None).unwrap_or_else(|error| panic!("{error}"));
    let report: Report = run(&scenario, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let response = &report.host.response_ns;
    let known = |value: Option<u64>| value.expect("there are enough requests");
    let figures = Figures {
        read_p50: known(response.read.p50),
        read_p99: known(response.read.p99),
        write_p99: known(response.write.p99),
    };
    let us = |ns: u64| ns as f64 / 1e3;
    let Figures { read_p50, read_p99, write_p99 } = &figures;
    eprintln!("{name:40} {:12.1} {:12.1} {:12.1}", us(*read_p50), us(*read_p99), us(*write_p99));
    figures
}

#[test]
#[ignore = "long: make simulations"]
fn what_each_part_of_a_drive_is_for() {
    eprintln!("{:40} {:>12} {:>12} {:>12}", "us", "read p50", "read p99", "write p99");
    let whole = figures("45,000 writes/s", &[]);
    let suspends = ["suspend_program", "suspend_erase", "suspend_host_program"];
    let none: Vec<String> = suspends.iter().map(|key| format!("ssd.timing.{key}=none")).collect();
    let without = figures("  without suspending", &none.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(without.read_p50 > 2 * whole.read_p50, "the median of reads doubles");
    assert!(without.read_p99 > 4 * whole.read_p99, "reads wait for whole programs");
    let without = figures("  without the minimum run", &["ssd.timing.minimum_run=0us"]);
    assert!(2 * without.read_p99 < whole.read_p99, "the tail is what programs run before they give way");
    let fast = figures("50,000 writes/s", &[FAST]);
    let small = figures("  with a cache of 200 units", &[FAST, "ssd.write_cache.size=800KiB"]);
    assert!(small.write_p99 > 100 * fast.write_p99, "bursts of writes find no room");
    let calm = ["workload.stream.writes.arrival.rate=30000", "workload.stream.reads.arrival.rate=5000"];
    let whole = figures("30,000 writes/s and 5,000 reads/s", &calm);
    let parts = figures(
        "  with programs of part of the planes",
        &[&calm[..], &["ssd.write_cache.drain=partial"]].concat(),
    );
    assert!(5 * parts.read_p50 > 7 * whole.read_p50, "half of the reads meet a program");
    let saturated = ["workload.stream.writes.arrival.rate=80000", "workload.stream.reads.arrival.rate=10000"];
    let full = figures("80,000 writes/s and 10,000 reads/s", &saturated);
    let ahead = figures(
        "  with collection ahead of the host",
        &[&saturated[..], &["ssd.gc.trigger=foreground"]].concat(),
    );
    assert!(
        20 * full.read_p50 < ahead.read_p50,
        "reads wait for steps of collection, not for blocks that it wins"
    );
    assert!(20 * full.read_p99 < ahead.read_p99, "nor does one in a hundred");
    let without =
        figures("  without a window", &[&saturated[..], &["ssd.controller.command_window=none"]].concat());
    assert!(without.read_p50 < full.read_p50, "reads wait behind a backlog of writes");
    let without = figures(
        "  first come, first served",
        &[&saturated[..], &["ssd.controller.arbitration=fifo"]].concat(),
    );
    assert!(without.read_p50 > 10 * full.read_p50, "reads have no turn of their own");
}

/// What is read off a run: of the probe in ns, or of all streams.
#[derive(Debug, Clone, Copy)]
enum Of {
    ReadP50,
    ReadP99,
    WriteP99,
    WritesPerSecond,
}

impl Of {
    fn value(self, report: &Report) -> f64 {
        let StreamReport { read, write, .. } = &report.host.streams["probe"];
        let known = |value: Option<u64>| value.expect("there are enough requests") as f64;
        match self {
            Of::ReadP50 => known(read.p50),
            Of::ReadP99 => known(read.p99),
            Of::WriteP99 => known(write.p99),
            Of::WritesPerSecond => report.host.write_requests as f64 / (MEASURED_NS / 1e9),
        }
    }
}

/// What the ablation of the other model has of a row. Times in us.
#[derive(Debug, Clone, Copy)]
enum Found {
    /// From here to there. The quotient is the size of the effect.
    FromTo(f64, f64),
    Falls,
    Nothing,
}

/// Within this factor a size is the same, and by less than this share nothing has changed.
const FACTOR: f64 = 1.5;
const NOTHING: f64 = 0.05;

impl Found {
    fn agrees(self, effect: f64) -> bool {
        match self {
            Found::FromTo(from, to) => {
                let ratio = effect / (to / from);
                self.has_direction(effect) && (1.0 / FACTOR..=FACTOR).contains(&ratio)
            }
            Found::Falls | Found::Nothing => self.has_direction(effect),
        }
    }

    fn has_direction(self, effect: f64) -> bool {
        match self {
            Found::FromTo(from, to) if to > from => effect > 1.0 + NOTHING,
            Found::FromTo(..) | Found::Falls => effect < 1.0 - NOTHING,
            Found::Nothing => (effect - 1.0).abs() < NOTHING,
        }
    }

    fn told(self) -> String {
        match self {
            Found::FromTo(from, to) => format!("{from:.0} -> {to:.0} ({:.2})", to / from),
            Found::Falls | Found::Nothing => format!("{self:?}").to_lowercase(),
        }
    }
}

/// A part of the drive is taken away.
struct Row {
    name: &'static str,
    load: &'static [&'static str],
    changes: &'static [&'static str],
    of: Of,
    found: Found,
    /// Why the size is another one here, where it is.
    misses: Option<&'static str>,
}

const fn row(
    name: &'static str,
    load: &'static [&'static str],
    changes: &'static [&'static str],
    of: Of,
    found: Found,
) -> Row {
    Row { name, load, changes, of, found, misses: None }
}

/// The drive is offered R writes a second if the loaders have a rate of R - 5,000. All are beyond the knee at 200,000.
const AT_30K: &[&str] = &["workload.stream.loaders.arrival.rate=25000"];
const AT_60K: &[&str] = &["workload.stream.loaders.arrival.rate=55000"];
const AT_70K: &[&str] = &["workload.stream.loaders.arrival.rate=65000"];
const SATURATED: &[&str] = &["workload.stream.loaders.arrival.rate=200000"];
const P5520_AT_60K: &[&str] =
    &["workload.stream.loaders.arrival.rate=55000", "ssd.preset=solidigm-p5520-1.92t"];
/// A drive that is used to it.
const SATURATED_BY_ZIPF: &[&str] = &[
    "workload.stream.loaders.arrival.rate=200000",
    "workload.stream.loaders.address.pattern=zipf",
    "workload.stream.loaders.address.theta=1.0",
    "workload.stream.probe.address.pattern=zipf",
    "workload.stream.probe.address.theta=1.0",
    "precondition.overwrite_space=load",
];

const NO_SUSPENDING: &[&str] = &[
    "ssd.timing.suspend_program=none",
    "ssd.timing.suspend_erase=none",
    "ssd.timing.suspend_host_program=none",
];
const FREE_SUSPENDING: &[&str] = &[
    "ssd.timing.suspend_program=0us",
    "ssd.timing.suspend_erase=0us",
    "ssd.timing.suspend_host_program=0us",
    "ssd.timing.resume=0us",
];
const SMALL_CACHE: &[&str] = &["ssd.write_cache.size=800KiB"];
const PACER: &[&str] = &["ssd.write_cache.pacer=collection"];

/// DRIVES.md's ablation, a model of a PM9A3, and what the table above it has of its pacer.
const ROWS: &[Row] = &[
    row("suspending", AT_70K, NO_SUSPENDING, Of::ReadP50, Found::FromTo(107.0, 554.0)),
    row("suspending", AT_70K, NO_SUSPENDING, Of::ReadP99, Found::FromTo(381.0, 2_043.0)),
    row("minimum run", AT_70K, &["ssd.timing.minimum_run=0us"], Of::ReadP99, Found::FromTo(381.0, 131.0)),
    row("the time it takes to suspend", AT_70K, FREE_SUSPENDING, Of::ReadP50, Found::Falls),
    row(
        "window",
        SATURATED,
        &["ssd.controller.command_window=none"],
        Of::ReadP50,
        Found::FromTo(921.0, 107.0),
    ),
    Row {
        misses: Some(
            "here a read that the drive has fetched waits for no write. Outstanding are 384 requests of the loaders and some 43 of the probe, 200 of \
             them in the window: 227 at 80,000/s are 2.8 ms, and the read itself. The 4.9 ms are what all that is outstanding takes, as if the \
             window were near nothing: see the next row",
        ),
        ..row(
            "round robin",
            SATURATED,
            &["ssd.controller.arbitration=fifo"],
            Of::ReadP50,
            Found::FromTo(921.0, 4_884.0),
        )
    },
    row(
        "round robin, with a window of 32",
        SATURATED,
        &["ssd.controller.arbitration=fifo", "ssd.controller.command_window=32"],
        Of::ReadP50,
        Found::FromTo(921.0, 4_884.0),
    ),
    row("programs in parts", P5520_AT_60K, &["ssd.write_cache.drain=full"], Of::ReadP50, Found::Falls),
    // Those of the host are taken away with them, which are a fortieth of a die's time.
    row(
        "time of reads, which are collection's",
        SATURATED,
        &["ssd.timing.read=1ns"],
        Of::WritesPerSecond,
        Found::FromTo(77_000.0, 89_000.0),
    ),
    Row {
        misses: Some(
            "200 slots are saturated here: a slot is held for 3.0 ms on average, and 200 / 3.0 ms are 67,000 a second. So a write waits for as long \
             as the host's 448 requests take. The model took 77,000 writes/s and this drive takes 74,400, so 70,000 are nearer to all it has",
        ),
        ..row("cache of more than 200 units", AT_70K, SMALL_CACHE, Of::WriteP99, Found::FromTo(11.0, 3_757.0))
    },
    row("cache of more than 200 units", AT_30K, SMALL_CACHE, Of::WriteP99, Found::Nothing),
    row("no pacer", AT_60K, PACER, Of::WriteP99, Found::FromTo(11.0, 96.0)),
    row("no pacer", AT_70K, PACER, Of::WriteP99, Found::FromTo(11.0, 271.0)),
    row("no pacer", SATURATED, PACER, Of::ReadP50, Found::Falls),
    row("frontiers apart", SATURATED, &["ssd.ftl.frontiers=shared"], Of::WritesPerSecond, Found::Nothing),
    // Of what it takes of uniform writes.
    row(
        "frontiers apart, zipf 1.0",
        SATURATED_BY_ZIPF,
        &["ssd.ftl.frontiers=shared"],
        Of::WritesPerSecond,
        Found::FromTo(77_000.0, 0.65 * 77_000.0),
    ),
];

const MEASURED_NS: f64 = 2e9;

fn of_example(sets: &[&[&str]]) -> Report {
    let own = ["workload.duration=3s", "workload.warmup=1s"];
    let sets: Vec<String> =
        own.iter().chain(sets.iter().copied().flatten()).map(|&set| set.to_owned()).collect();
    let text = include_str!("../../../../examples/ssd-iq.toml");
    let scenario = Scenario::parse(text, "ssd-iq", &sets, None).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The load that the rows come from: the probe and the six loaders of the built-in scenario `ssd-iq`, on its drive. Another drive than the
/// model's, so what is compared is by how much a figure changes. A row that misses is asserted to miss, so that its reason is looked at again
/// when it no longer does.
#[test]
#[ignore = "long: make simulations"]
fn the_ablation_of_another_model_has_its_directions_and_sizes_here() {
    let mut runs: Vec<(Vec<&[&str]>, Report)> = Vec::new();
    let mut run_once = |sets: &[&'static [&'static str]], of: Of| {
        let known = runs.iter().position(|(known, _)| known == sets).unwrap_or_else(|| {
            runs.push((sets.to_vec(), of_example(sets)));
            runs.len() - 1
        });
        of.value(&runs[known].1)
    };
    eprintln!(
        "{:40} {:>16} {:>10} {:>10} {:>7}  the other model",
        "taken away", "", "with", "without", "effect"
    );
    let mut wrong = Vec::new();
    for Row { name, load, changes, of, found, misses } in ROWS {
        let (with, without) = (run_once(&[load], *of), run_once(&[load, changes], *of));
        let (effect, unit) = (without / with, if matches!(of, Of::WritesPerSecond) { 1.0 } else { 1e3 });
        let name_of = format!("{of:?}");
        let line = format!(
            "{name:40} {name_of:>16} {:10.1} {:10.1} {effect:7.2}  {}{}",
            with / unit,
            without / unit,
            found.told(),
            misses.map(|why| format!(", missed: {why}")).unwrap_or_default()
        );
        eprintln!("{line}");
        if !found.has_direction(effect) || found.agrees(effect) == misses.is_some() {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
