//! Does a result depend on anything but the scenario? Reports are compared as bytes, without the engine section.

use harmonia_metrics::Report;
use harmonia_run::{RunOptions, aged_arrays, compare};
use harmonia_scenario::{Scenario, Variant};

/// The toy scenario, shorter, with these keys changed.
fn variant(label: &str, sets: &[&str]) -> Variant {
    let mut all = vec!["workload.requests=1500".to_owned(), "precondition.overwrite=1.5".to_owned()];
    all.extend(sets.iter().map(|set| (*set).to_owned()));
    let scenario = Scenario::load("tiny", &all, None).unwrap_or_else(|error| panic!("{error}"));
    Variant { label: label.into(), scenario }
}

/// Policies on one aged array, and runs that need arrays of their own.
fn variants() -> Vec<Variant> {
    let policy = "array.coordination.policy";
    vec![
        variant("local", &[&format!("{policy}=local")]),
        variant(
            "inclusive",
            &[&format!("{policy}=reactive-inclusive"), "array.coordination.message_latency=80us"],
        ),
        variant("selective", &[&format!("{policy}=reactive-selective")]),
        variant("ideal", &[&format!("{policy}=local"), "ssd.gc.schedule=ideal"]),
        variant("closed", &["workload.arrival={ process = \"closed\", queue_depth = 9 }"]),
        // Shares the aged state of the lines before; where load is even, how far off soft lies changes nothing.
        variant(
            "soft",
            &[
                &format!("{policy}=reactive-selective"),
                "ssd.gc.soft_threshold=hard+3",
                "workload.address.skew=0.5",
            ],
        ),
        variant("random victims", &["ssd.gc.victim=random", "ssd.gc.trigger=background"]),
        variant("three", &["array.devices=3", "workload.address.skew=0.3", "workload.align=false"]),
        variant("raid5", &["array.level=raid5", &format!("{policy}=reactive-inclusive")]),
        variant(
            "raid6",
            &["array.level=raid6", "array.devices=5", "array.stripe_unit=8KiB", "workload.align=false"],
        ),
        variant(
            "raid5 skewed",
            &["array.level=raid5", "workload.address.skew=0.4", "workload.trim_fraction=0.2"],
        ),
        variant("raid10", &["array.level=raid10", "array.layout=far-2", "workload.size.mean=9000B"]),
        // Alike but for parity behind the data.
        variant("half", &["precondition.fill=0.5"]),
        variant("raid5 half", &["array.level=raid5", "precondition.fill=0.5"]),
        variant("dynamic", &["ssd.ftl.allocation=dynamic", "ssd.gc.domain=channel"]),
        variant(
            "planes",
            &["ssd.ftl.allocation_unit=plane", "ssd.ftl.frontiers=separate", "ssd.geometry.own_pins=true"],
        ),
    ]
}

fn bytes(report: &Report) -> String {
    serde_json::to_string(&report.without_engine()).expect("a report is JSON")
}

/// Label and bytes of every run, in the order asked for.
fn reports(variants: &[Variant], threads: usize, checked: bool) -> Vec<(String, String)> {
    let options = RunOptions { threads, checked, ..RunOptions::default() };
    let comparison = compare(variants, &options).unwrap_or_else(|error| panic!("{error}"));
    comparison.runs.iter().map(|report| (report.label.clone(), bytes(report))).collect()
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let variants = variants();
    let first = reports(&variants, 1, false);
    assert_eq!(first, reports(&variants, 1, false), "run twice");
    assert_eq!(first, reports(&variants, 2, false), "two threads");
    assert_eq!(first, reports(&variants, 5, false), "five threads");
    let labels: Vec<&str> = first.iter().map(|(label, _)| label.as_str()).collect();
    let asked: Vec<&str> = variants.iter().map(|variant| variant.label.as_str()).collect();
    assert_eq!(labels, asked, "in the order asked for");
}

#[test]
fn checking_changes_no_byte() {
    let variants = variants();
    assert_eq!(reports(&variants, 2, false), reports(&variants, 2, true));
}

/// Neither the others it is compared with nor its place among them shows in a run's report.
#[test]
fn the_order_of_a_comparison_changes_no_run() {
    let mut variants = variants();
    let mut together = reports(&variants, 2, false);
    for (variant, report) in variants.iter().zip(&together) {
        let alone = reports(std::slice::from_ref(variant), 1, false);
        assert_eq!(alone.first(), Some(report), "alone");
    }
    variants.reverse();
    together.reverse();
    assert_eq!(reports(&variants, 2, false), together, "reversed");
    variants.rotate_left(3);
    together.rotate_left(3);
    assert_eq!(reports(&variants, 1, false), together, "rotated");
}

/// Full members are as full under every level that uses as much of them.
#[test]
fn levels_share_an_aged_array_where_all_of_it_is_filled() {
    let levels = ["raid0", "raid10", "raid4", "raid5", "raid6"].map(|level| format!("array.level={level}"));
    let variants = |more: &str| levels.iter().map(|level| variant(level, &[level, more])).collect::<Vec<_>>();
    assert_eq!(aged_arrays(&variants("array.stripe_unit=4KiB")), 1);
    assert_eq!(
        aged_arrays(&variants("precondition.fill=0.5")),
        4,
        "raid0 and raid10 have no parity to write"
    );
    let empty = variants("precondition={ fill = 0 }");
    assert_eq!(aged_arrays(&empty), 1);
}

#[test]
fn another_seed_gives_another_run() {
    let host = |seed: &str| {
        let variant = variant("seeds", &[seed]);
        let options = RunOptions::default();
        let report = compare(&[variant], &options).unwrap_or_else(|error| panic!("{error}")).runs.remove(0);
        (report.host.read_requests, report.devices[0].wear.clone(), report.host.blame_ns.total())
    };
    let (one, two) = (host("seed=1"), host("seed=2"));
    assert_ne!(one.0, two.0, "load");
    assert_ne!(one.1, two.1, "ageing");
    assert_ne!(one.2, two.2, "response times");
    assert_eq!(one, host("seed=1"));
}

/// The report of a run without the scenario, the policy's name, and its counters that count nothing.
fn nameless(sets: &[&str]) -> Report {
    let options = RunOptions { checked: true, ..RunOptions::default() };
    let mut report = compare(&[variant("nameless", sets)], &options)
        .unwrap_or_else(|error| panic!("{error}"))
        .runs
        .remove(0);
    report.scenario = serde_json::Value::Null;
    report.array.coordination.policy.clear();
    report.array.coordination.counters.retain(|_, count| *count > 0);
    report
}

/// A load that makes members collect, on levels without, with one and with two members to spare.
const LEVELS: [&str; 3] = ["array.level=raid0", "array.level=raid5", "array.level=raid6"];

#[test]
fn ioda_that_is_off_reports_as_local_does() {
    for level in LEVELS {
        let of = |policy: &str, mode: &str| nameless(&[level, "array.devices=5", policy, mode]);
        let local = of("array.coordination.policy=local", "seed=1");
        assert!(local.host.blame_ns.queue_gc > 0, "{level}: somebody waits for collection");
        let off = of("array.coordination.policy=ioda", "array.coordination.mode=off");
        assert_eq!(bytes(&local), bytes(&off), "{level}");
    }
}

/// On a fresh array nothing collects, and nobody is slow for long.
#[test]
fn sit_out_without_outliers_reports_as_local_does() {
    for (devices, level) in LEVELS.iter().zip([3, 6, 6]).map(|(level, devices)| (devices, level)) {
        let devices = format!("array.devices={devices}");
        let of = |policy: &str| {
            let fresh = ["precondition={ fill = 0 }", "workload.requests=300", "workload.arrival.rate=300"];
            nameless(&[&[level, devices.as_str(), policy], fresh.as_slice()].concat())
        };
        let local = of("array.coordination.policy=local");
        let mut watched = of("array.coordination.policy=sit-out");
        let reads = watched.array.reconstruct.take().unwrap_or_default();
        assert_eq!((reads.rebuilt_pages, reads.waited_pages), (0, 0), "{level}");
        assert!(local.array.erases == 0 && local.host.read_requests > 0, "{level}");
        // Three members are too few to judge, which the report says.
        watched.warnings.retain(|warning| !warning.text.contains("sit-out judges"));
        assert_eq!(bytes(&local), bytes(&watched), "{level}");
    }
}

#[test]
fn what_no_keys_give_is_everything_revealed_and_nothing_made_of_it() {
    for level in LEVELS {
        let usual = ["array.interface=command", "array.reads=wait", "array.nvram=0B"];
        let written = nameless(&[&[level], usual.as_slice()].concat());
        assert_eq!(bytes(&nameless(&[level])), bytes(&written), "{level}");
    }
}

/// What members reveal beyond the rung that a policy needs is not used by its own rule for reads.
#[test]
fn policies_with_a_rule_for_reads_use_no_more_than_they_need() {
    for (policy, rung) in [("sit-out", "nothing"), ("hedge", "nothing"), ("plm", "window"), ("ioda", "busy")]
    {
        let policy = format!("array.coordination.policy={policy}");
        let of = |offered: &str| {
            let offered = format!("array.interface={offered}");
            nameless(&["array.level=raid5", "array.devices=5", &policy, &offered])
        };
        let least = of(rung);
        assert!(least.host.blame_ns.queue_gc > 0, "{policy}: somebody waits for collection");
        assert_eq!(bytes(&least), bytes(&of("command")), "{policy}");
    }
}

/// All that differs between a policy nobody can hear and none is the name, and counters of its own that count nothing.
#[test]
fn reactive_policies_without_capable_members_report_as_local_does() {
    let deaf = "array.member=[{ index = 0, capable = false }, { index = 1, capable = false }, \
                { index = 2, capable = false }, { index = 3, capable = false }]";
    let sections = |policy: &str| {
        let mut report = nameless(&[deaf, &format!("array.coordination.policy={policy}")]);
        // They would need members to obey.
        report.array.coordination.interface.clear();
        bytes(&report)
    };
    let local = sections("local");
    assert_eq!(local, sections("reactive-inclusive"));
    assert_eq!(local, sections("reactive-selective"));
}
