//! Does another simulator, written from the definitions, find the same response times on the same requests?
//!
//! Both replay one trace. They share no code, and each ages its drive by itself, so what they have in common are the rules.
//!
//! Left out: reads beyond saturation that wait in a queue of their own for a window that writes fill. There p99 of reads is 8% to 11% longer
//! in the product (six runs of each), and 7% shorter where nothing is suspended (one run). Writes agree within 1%. Why is not known.
//!
//! `cargo test --locked -p harmonia-run --test all -- --include-ignored --nocapture second_simulator` prints both.

mod drive;

use std::io::Write;

use drive::{Collection, Drive, Random, Request, Simulator, Suspending, Window};
use harmonia_metrics::Report;
use harmonia_run::{RunOptions, run};
use harmonia_scenario::Scenario;

const SIZE: u64 = 4096;

/// A drive of 16 dies, with blocks of eight programs of 48 units.
const KEYS: &str = r#"
    name = "second"
    [precondition]
    fill = 1.0
    overwrite = 3.0
    [array]
    devices = 1
    level = "raid0"
    stripe_unit = "64KiB"
    [ssd]
    preset = "modern-tlc-1t"
    geometry = { blocks_per_plane = 256, pages_per_block = 24 }
    timing.erase = "167us"
    ftl.reserved_blocks = 52
    gc.hard_threshold = 6
    gc.soft_threshold = 11
    gc.stop_threshold = 6
"#;

fn same_drive() -> Drive {
    Drive {
        channels: 8,
        dies: 16,
        blocks: 256,
        programs_per_block: 8,
        units_per_page: 4,
        planes: 4,
        read: vec![49_000, 50_000, 60_000],
        program: 2_000_000,
        erase: 167_000,
        transfer: 2_560,
        // 4 KiB at 6.5 GB/s.
        link: 630,
        latency: 8_000,
        suspending: Some(Suspending { cost: 45_000, resume: 20_000, minimum_run: 280_000 }),
        reserved: 52,
        hard: 6,
        soft: 11,
        cache: 3_072,
        ack: 1_000,
        dynamic: true,
        frontiers_apart: true,
        collection: Collection::Preemptive,
        window: Some(Window { commands: 200, round_robin: true }),
    }
}

/// What is offered: reads and writes a second, in streams of their own.
#[derive(Clone, Copy)]
struct Load {
    reads: f64,
    writes: f64,
    requests: usize,
    warmup: usize,
}

impl Load {
    /// Poisson arrivals at whole microseconds, at random places of the drive.
    fn requests(self, units: usize, seed: u64) -> Vec<Request> {
        let mut random = Random(seed);
        let (all, mut at) = (self.reads + self.writes, 0.0);
        let mut request = |_| {
            at += -libm::log(random.unit()) / all * 1e6;
            let is_write = random.unit() * all < self.writes;
            let unit = random.below(units) as u32;
            Request { arrival: at as u64 * 1_000, unit, is_write, stream: usize::from(is_write) }
        };
        (0..self.requests + self.warmup).map(&mut request).collect()
    }
}

fn by_product(requests: &[Request], load: Load, keys: &str, seed: u64) -> Report {
    let mut file = tempfile::NamedTempFile::with_suffix(".csv").expect("a file");
    for &Request { arrival, unit, is_write, stream } in requests {
        let operation = if is_write { 'W' } else { 'R' };
        let offset = u64::from(unit) * SIZE;
        writeln!(file, "{stream},{operation},{offset},{SIZE},{}", arrival / 1_000).expect("a line");
    }
    file.flush().expect("all lines");
    let text = format!(
        "seed = {seed}\nworkload = {{ kind = \"trace\", format = \"alibaba\", volumes = \"overlay\", path = {:?}, warmup = {} }}\n\
         {KEYS}\n{keys}",
        file.path(),
        load.warmup
    );
    let scenario = Scenario::parse(&text, "second", &[], None).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Response times of reads and of writes, in order.
fn by_second(requests: &[Request], load: Load, drive: &Drive, seed: u64) -> [Vec<u64>; 2] {
    let mut simulator = Simulator::aged(drive, requests, 3, seed);
    simulator.run();
    let mut times = [Vec::new(), Vec::new()];
    for (request, done) in requests.iter().zip(&simulator.done).skip(load.warmup) {
        times[usize::from(request.is_write)].push(done - request.arrival);
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    times
}

const PERCENTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

fn percentiles(times: &[u64]) -> [f64; 4] {
    let rank = |share: f64| ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len());
    PERCENTILES.map(|share| times[rank(share) - 1] as f64)
}

/// Percentiles agree: up to p99 within 1%, p99.9 within this. Means over so many aged drives and lists of requests.
fn agree(name: &str, load: Load, drive: &Drive, keys: &str, (far, seeds): (f64, u64)) {
    let mut sums = [[[0.0; 4]; 2]; 2];
    for seed in 1..=seeds {
        let requests = load.requests(drive.units(), seed);
        let response = by_product(&requests, load, keys, seed).host.response_ns;
        let second = by_second(&requests, load, drive, 100 + seed);
        for (kind, summary) in [&response.read, &response.write].into_iter().enumerate() {
            let of_product = [summary.p50, summary.p95, summary.p99, summary.p999];
            let of_product = of_product.map(|value| value.expect("there are enough requests") as f64);
            for (sum, found) in sums[kind].iter_mut().zip([of_product, percentiles(&second[kind])]) {
                sum.iter_mut().zip(found).for_each(|(sum, value)| *sum += value / seeds as f64);
            }
        }
    }
    let mut wrong = 0;
    for (what, [product, second]) in ["read", "write"].into_iter().zip(sums) {
        for (at, share) in PERCENTILES.into_iter().enumerate() {
            let allowed = if share > 0.99 { far } else { 0.01 };
            let off = product[at] / second[at] - 1.0;
            let verdict = if off.abs() > allowed { "apart" } else { "" };
            wrong += u32::from(off.abs() > allowed);
            let (of, us) = (format!("{name}, {what} p{}", share * 100.0), |ns: f64| ns / 1e3);
            eprintln!(
                "{of:40} {:12.1} us {:12.1} us {:+7.2}% {verdict}",
                us(product[at]),
                us(second[at]),
                off * 100.0
            );
        }
    }
    assert_eq!(wrong, 0, "{name}: percentiles are apart");
}

#[test]
fn a_second_simulator_agrees_where_reads_suspend_programs() {
    let load = Load { reads: 40_000.0, writes: 40_000.0, requests: 400_000, warmup: 100_000 };
    agree("suspending", load, &same_drive(), "", (0.03, 1));
}

#[test]
#[ignore = "long: make simulations"]
fn a_second_simulator_agrees_where_collection_shares_dies() {
    let load = Load { reads: 30_000.0, writes: 50_000.0, requests: 800_000, warmup: 100_000 };
    let drive = Drive { collection: Collection::Proportional, ..same_drive() };
    // Of four such sets of runs p99.9 of reads was 3.0 to 3.6% longer in the product.
    agree("proportional", load, &drive, "gc.trigger = \"proportional\"", (0.05, 2));
}

#[test]
#[ignore = "long: make simulations"]
fn a_second_simulator_agrees_beyond_saturation() {
    let load = Load { reads: 10_000.0, writes: 90_000.0, requests: 800_000, warmup: 200_000 };
    let window = Some(Window { commands: 200, round_robin: false });
    let drive = Drive { collection: Collection::Proportional, window, ..same_drive() };
    let keys = "gc.trigger = \"proportional\"\ncontroller.arbitration = \"fifo\"";
    agree("beyond saturation", load, &drive, keys, (0.03, 2));
}

#[test]
#[ignore = "long: make simulations"]
fn a_second_simulator_agrees_where_collection_blocks() {
    let load = Load { reads: 20_000.0, writes: 30_000.0, requests: 800_000, warmup: 100_000 };
    let drive = Drive {
        collection: Collection::Blocking,
        dynamic: false,
        suspending: None,
        window: None,
        frontiers_apart: false,
        cache: 1_000,
        ..same_drive()
    };
    let keys = "
        gc.schedule = \"blocking\"
        gc.begins_at = \"schedule\"
        ftl.allocation = \"cwdp\"
        ftl.frontiers = \"shared\"
        write_cache.size = \"4000KiB\"
        controller.command_window = \"none\"
        timing.suspend_program = \"none\"
        timing.suspend_erase = \"none\"
        timing.suspend_host_program = \"none\"
    ";
    agree("blocking", load, &drive, keys, (0.03, 1));
}
