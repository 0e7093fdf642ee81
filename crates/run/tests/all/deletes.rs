//! Do loads that delete run on a device that starts empty, and does what they free come back?

use harmonia_metrics::Report;
use harmonia_run::{RunOptions, run};
use harmonia_scenario::Scenario;
use harmonia_scenario::presets::{self, Kind};
use harmonia_workload::WorkloadConfig;

/// A run on one toy device, with every table checked as it goes.
fn checked(load: &str, fill: f64, sets: &[&str]) -> Report {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let text = format!("ssd.preset = \"tiny-test\"\narray.devices = 1\nprecondition.fill = {fill}\n{load}");
    let scenario =
        Scenario::parse(&text, "deletes.toml", &sets, None).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions { checked: true, ..RunOptions::default() };
    run(&scenario, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn pages_written(report: &Report) -> u64 {
    report.host.bytes_written / 4096
}

#[test]
fn an_empty_device_takes_what_it_has_room_for_without_collecting() {
    // 2 MiB of 13 MiB or so.
    let load = "workload = { requests = 500, warmup = 0, arrival.rate = 500, size.mean = \"4KiB\" }";
    let report = checked(load, 0.0, &[]);
    assert_eq!(report.precondition.fill, 0.0);
    assert_eq!((pages_written(&report), report.array.erases, report.array.gc_pages_moved), (500, 0, 0));
    assert_eq!(report.array.write_amplification, Some(1.0));
}

#[test]
fn reads_of_an_empty_device_touch_no_flash() {
    let load = "workload = { requests = 500, warmup = 0, arrival.rate = 500, size.mean = \"4KiB\", read_fraction = 1 }";
    let report = checked(load, 0.0, &[]);
    assert_eq!((report.host.read_requests, report.host.blame_ns.service), (500, 0));
}

/// A footprint written over and over on a device that starts empty comes to the same collections, in the long run, as on
/// one that was filled so far beforehand.
#[test]
fn an_empty_device_ends_where_a_filled_one_does() {
    let load = "workload = { requests = 40000, warmup = 20000, arrival.rate = 500, size.mean = \"4KiB\", \
                address.footprint = 0.9 }";
    let amplification = |fill| checked(load, fill, &[]).array.write_amplification.unwrap();
    let (empty, filled) = (amplification(0.0), amplification(0.9));
    assert!(empty > 1.2, "{empty}: it collects");
    assert!((empty / filled - 1.0).abs() < 0.05, "{empty} and {filled}");
}

const FILES: &str = "workload = { requests = 30000, warmup = 5000, arrival.rate = 300, size.mean = \"16KiB\", \
                     read_fraction = 0.25, address = { pattern = \"files\", file_size = \"256KiB\", footprint = 0.75 } }";

/// Files deleted whole, oldest first, leave whole blocks of garbage; the same writes in the same places without the
/// deletions would have to be told page by page. And every byte trimmed was written.
#[test]
fn deleted_files_come_back_as_room() {
    let report = checked(FILES, 0.0, &[]);
    let host = &report.host;
    assert!(host.trim_requests > 500 && host.bytes_trimmed > (3 * 13) << 20, "{host:?}");
    assert!(host.bytes_written.abs_diff(host.bytes_trimmed) <= 512 << 10, "what is live stays the same");
    assert!(report.array.erases > 0);
    let amplification = report.array.write_amplification.unwrap();
    assert!(amplification < 1.1, "{amplification}: a deleted file is a garbage block");
}

/// Trims of an ordinary load leave pages nobody has to move.
#[test]
fn trims_save_collection_work() {
    let load = "workload = { requests = 30000, warmup = 10000, arrival.rate = 300, size.mean = \"16KiB\" }";
    let moved = |trims| {
        let report = checked(load, 1.0, &[&format!("workload.trim_fraction={trims}")]);
        report.array.gc_pages_moved as f64 / pages_written(&report) as f64
    };
    let (without, with) = (moved(0.0), moved(0.3));
    assert!(with < 0.6 * without, "{with} pages moved for one written, {without} without trims");
}

/// Every stand-in on a device a thousandth of the size it was made for.
#[test]
fn every_stand_in_runs_from_empty_until_it_collects() {
    let mut deleting = 0;
    for preset in presets::list().iter().filter(|preset| preset.kind == Kind::Workload) {
        let load = format!("workload = {{ preset = \"{}\" }}", preset.name);
        let scenario = Scenario::parse(&load, "stand-in.toml", &[], None).unwrap();
        let WorkloadConfig::Streams(streams) = &scenario.workload else { continue };
        let mut load = format!(
            "[workload]\npreset = \"{}\"\nrequests = 20000\nwarmup = 0\ntime_scale = 5\n",
            preset.name
        );
        for (name, stream) in &streams.streams {
            if let harmonia_workload::AddressPattern::Files(_) = stream.address {
                load += &format!(
                    "[workload.stream.{name}.address]\nfile_size = \"32KiB\"\nfile_size_min = \"32KiB\"\n"
                );
                load += &format!("[workload.stream.{name}.size]\nmean = \"4KiB\"\n");
            }
        }
        let report = checked(&load, 0.0, &[]);
        // 20,000 requests write a device of 4,096 pages at least twice.
        assert!(pages_written(&report) > 8192 && report.array.erases > 0, "{}", preset.name);
        deleting += u32::from(report.host.trim_requests > 0);
    }
    assert_eq!(deleting, 6, "all but mysql-like delete");
}

#[test]
fn a_preset_of_streams_is_changed_key_by_key() {
    let load = |sets: &[&str]| {
        let mut all = vec!["workload.preset=cassandra-like".to_owned()];
        all.extend(sets.iter().map(|&set| set.to_owned()));
        match Scenario::parse("", "x.toml", &all, None).unwrap_or_else(|error| panic!("{error}")).workload {
            WorkloadConfig::Streams(load) => load,
            other => panic!("not streams: {other:?}"),
        }
    };
    use harmonia_workload::{AddressPattern, Arrival, Extent, StreamArrival};
    let plain = load(&[]);
    let faster = load(&["workload.stream.tables.arrival.rate=200"]);
    assert!(matches!(
        faster.streams["tables"].arrival,
        StreamArrival::Own(Arrival::OnOff { rate: 200.0, burst_rate: 500.0, .. })
    ));
    assert_eq!(faster.streams["tables"].address, plain.streams["tables"].address);
    // Another process, another pattern: what belonged to those of the preset goes with them.
    let other = load(&[
        "workload.stream.tables.arrival.process=poisson",
        "workload.stream.tables.address.pattern=uniform",
    ]);
    assert_eq!(other.streams["tables"].arrival, StreamArrival::Own(Arrival::Poisson { rate: 62.0 }));
    assert_eq!(
        (other.streams["tables"].address, other.streams["tables"].footprint),
        (AddressPattern::Uniform, Extent::Share(0.75))
    );
    let more =
        load(&["workload.stream.log={ arrival.rate = 5, size.mean = \"4KiB\", address.footprint = 0.1 }"]);
    assert_eq!(more.streams.keys().collect::<Vec<_>>(), ["log", "tables"]);
    assert_eq!(load(&["workload.time_scale=0.5"]).time_scale, 0.5);
}
