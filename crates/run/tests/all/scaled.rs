//! Does a drive that is scaled down say what the full drive says?

use std::io::Write;

use harmonia_metrics::Report;
use harmonia_run::{RunOptions, run};
use harmonia_scenario::Scenario;

/// Four dies of 512 blocks.
const DRIVE: &str = r#"
workload = { requests = 300000, warmup = 20000, read_fraction = 0.4, size = { distribution = "fixed", mean = "4KiB" } }
array = { devices = 1, coordination.policy = "local" }
ssd.preset = "tiny-test"
ssd.geometry = { planes_per_die = 1, blocks_per_plane = 512, pages_per_block = 16 }
ssd.ftl = { reserved_blocks = "15%" }
ssd.gc = { hard_threshold = "2%", domain = "die" }
ssd.rating.cycles = 3000
"#;

const UNIFORM: &str = "workload.arrival={ process = \"poisson\", rate = 900 }";
const SKEWED: &str = "workload.address={ pattern = \"hotspot\", hot_space = 0.2, hot_traffic = 0.8 }";

fn scenario(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    Scenario::parse(DRIVE, "drive", &sets, None).unwrap_or_else(|error| panic!("{error}"))
}

fn report(sets: &[&str]) -> Report {
    run(&scenario(sets), &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn ratio(one: Option<f64>, other: Option<f64>) -> f64 {
    one.zip(other).map_or(f64::NAN, |(one, other)| one / other - 1.0)
}

/// Write amplification within what is printed, and what the batches of both runs leave open; percentiles of reads within 3%; the same
/// years.
#[test]
fn parts_of_a_drive_say_what_the_drive_says() {
    for load in [vec![UNIFORM], vec![UNIFORM, SKEWED]] {
        let full = report(&load);
        for scale in ["ssd.scale=1/2", "ssd.scale=1/4", "ssd.scale=1/8"] {
            let sets = [&load[..], &[scale]].concat();
            let part = report(&sets);
            let scaling = scenario(&sets).array.members[0].ssd.scaling().expect("it is scaled");
            let error = if load.len() == 1 { scaling.uniform } else { scaling.error };
            let amplification = |run: &Report| run.array.write_amplification_whole_cycles;
            let off = ratio(amplification(&part), amplification(&full));
            assert!(off.abs() < error + 0.005, "{load:?} {scale}: {off:.4}, and {error:.4} is printed");
            let of_reads = |of: fn(&Report) -> Option<u64>| {
                ratio(of(&part).map(|ns| ns as f64), of(&full).map(|ns| ns as f64))
            };
            for off in [
                of_reads(|run| run.host.response_ns.read.p50),
                of_reads(|run| run.host.response_ns.read.p95),
                of_reads(|run| run.host.response_ns.read.p99),
            ] {
                assert!(off.abs() < 0.03, "{load:?} {scale}: {off:.4}");
            }
            let life = |run: &Report| run.devices[0].lifetime.expect("it has a rating");
            let (part, full) = (life(&part), life(&full));
            let years = ratio(part.years.cycles, full.years.cycles);
            assert!(years.abs() < error + 0.01, "{load:?} {scale}: {years:.4}");
            assert!((part.drive_writes_per_day / full.drive_writes_per_day - 1.0).abs() < 1e-3);
        }
    }
}

/// Two dies, blocks of two planes and 64 programs of eight units, of which a part has fewer and shorter ones.
const JOINED: [&str; 5] = [
    "ssd.geometry={ channels = 1, chips_per_channel = 2, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 1024, \
     pages_per_block = 64, page_size = \"16KiB\", program_planes = 2 }",
    "ssd.ftl={ reserved_blocks = \"15%\", mapping_unit = \"4KiB\" }",
    "ssd.write_cache.size=\"256KiB\"",
    "ssd.gc.last_program=\"filled\"",
    "workload={ requests = 150000, warmup = 20000, read_fraction = 0.0, size = { distribution = \"fixed\", mean = \"4KiB\" }, \
     arrival = { process = \"poisson\", rate = 900 } }",
];

/// Where the last program of a victim is filled, shorter blocks amplify writes as long ones do. Padded, they would be 8% off.
#[test]
fn a_part_with_shorter_blocks_says_what_the_drive_says() {
    let full = report(&JOINED);
    for scale in ["ssd.scale=1/8", "ssd.scale=1/16"] {
        let sets = [&JOINED[..], &[scale]].concat();
        let part = report(&sets);
        let scaling = scenario(&sets).array.members[0].ssd.scaling().expect("it is scaled");
        assert!(scaling.programs.0 < scaling.programs.1, "{scaling:?}");
        let off =
            ratio(part.array.write_amplification_whole_cycles, full.array.write_amplification_whole_cycles);
        eprintln!("{scale}: {off:.4}, {:.4} is printed", scaling.uniform);
        assert!(
            off.abs() < scaling.uniform + 0.005,
            "{scale}: {off:.4}, and {:.4} is printed",
            scaling.uniform
        );
    }
}

/// A fraction of 1 is no word too many: the same bytes as without the key.
#[test]
fn the_whole_drive_is_the_drive() {
    let json = |sets: &[&str]| {
        let mut report = report(&[&[UNIFORM, "workload.requests=3000", "workload.warmup=0"], sets].concat());
        report.engine = Default::default();
        serde_json::to_string(&report).expect("a report")
    };
    assert_eq!(json(&["ssd.scale=1"]), json(&[]));
}

/// Requests of a trace keep their lengths and alignment, and their places shrink with the drives.
#[test]
fn a_trace_is_folded() {
    let mut file = tempfile::NamedTempFile::with_suffix(".csv").expect("a file");
    for request in 0..4_000_u64 {
        // The last quarter of the drive and a bit of its beginning.
        let offset = if request % 2 == 0 { (72 << 20) + request % 64 * 65_536 } else { request % 16 * 4_096 };
        writeln!(file, "0,W,{offset},8192,{}", request * 1_000).expect("a line");
    }
    let text = format!(
        "{}\nworkload = {{ kind = \"trace\", path = {:?} }}",
        &DRIVE[DRIVE.find("array").unwrap()..],
        file.path()
    );
    let of = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let scenario = Scenario::parse(&text, "drive", &sets, None).unwrap_or_else(|error| panic!("{error}"));
        run(&scenario, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"))
    };
    let (full, part) = (of(&[]), of(&["ssd.scale=1/4"]));
    assert_eq!((full.host.requests, full.host.bytes_written), (part.host.requests, part.host.bytes_written));
    let moved = |run: &Report| run.trace.as_ref().map(|trace| trace.moved);
    assert_eq!(moved(&part), moved(&full), "folding is no remapping");
    assert!(part.warnings.iter().any(|warning| warning.code == "scaled"), "{:?}", part.warnings);
    assert!(!full.warnings.iter().any(|warning| warning.code == "scaled"));
}
