//! Does the JSON of a report hold exactly the promised keys, in order, and does it read back unchanged?

use std::borrow::Cow;

use harmonia_metrics::{
    ArrayReport, BandwidthReport, BatchReport, BlamePhases, BlameSum, Comparison, CoordinationReport,
    DeviceReport, DieTraits, DistributionSummary, EngineReport, EventReport, EventsReport, GcWaitsReport,
    HostReport, InsideReport, Intervals, Noted, OverTimeReport, PreconditionReport, Report, ResourceSum,
    ResponseReport, SCHEMA, SECTIONS, TraceReport, Wear, Winners,
};
use harmonia_types::{
    Counters, DeviceCounters, InsideCounters, IoCause, Met, MetGc, Number, Pairing, QueueDepth,
    RedundancyCounters, SimDuration,
};

/// A schedule that never pairs, and no event.
const NONE: DeviceCounters = DeviceCounters::ZERO;

/// Two devices; the second wrote parity and metadata too.
const DEVICES: [DeviceCounters; 2] = [
    DeviceCounters {
        host_pages_read: 7,
        programs: IoCause::by([4, 2]),
        erases: 3,
        gc_victims: 2,
        gc_busy: SimDuration(100),
        gc_plane_busy: SimDuration(50),
        read_modify_write_reads: 1,
        victim_pages: 8,
        victim_pages_moved: 2,
        paired_reads: Pairing {
            offered: 10,
            matched: 1,
            none_waiting: 2,
            other_offset: 3,
            not_ready: 4,
            ..Pairing::ZERO
        },
        paired_writes: Pairing {
            offered: 45,
            matched: 5,
            none_waiting: 6,
            other_offset: 7,
            not_ready: 8,
            needs_read: 19,
            skipped: 20,
        },
        inside: InsideCounters {
            merged_reads: 11,
            superseded_moves: 12,
            preemptions: 13,
            suspends: 14,
            read_retries: 15,
        },
        depth_at_gc: QueueDepth { events: 2, waiting: 5, most: 4 },
        met_gc: MetGc {
            own_reads: Met { count: 2, time: SimDuration(9) },
            sibling_reads: Met { count: 1, time: SimDuration(3) },
            sibling_writes: Met { count: 4, time: SimDuration(6) },
            ..NONE.met_gc
        },
        ..NONE
    },
    DeviceCounters {
        host_pages_read: 9,
        programs: IoCause::by([6, 3, 5, 11]),
        erases: 4,
        read_modify_write_reads: 2,
        ..NONE
    },
];

/// Only the first one's schedule pairs.
const DIES: [DieTraits; 2] = [
    DieTraits { planes: 2, pairs: true, page_size: 4_096 },
    DieTraits { planes: 2, pairs: false, page_size: 4_096 },
];

fn report() -> Report {
    let counters = [("messages", 12), ("forced", 3)];
    let wear = Wear { min: 1, mean: 2.5, max: 4, stddev: 0.1 };
    let all = DistributionSummary {
        count: 20,
        mean: Some(0.1 + 0.2),
        stddev: Some(1.5),
        cv: Some(0.25),
        min: Some(1),
        p50: Some(5),
        max: Some(9),
        ..DistributionSummary::default()
    };
    Report {
        schema: SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        scenario: serde_json::json!({"name": "hpc-write"}),
        seed: u64::MAX,
        simulated_ns: 1000,
        host: HostReport {
            requests: 20,
            read_requests: 5,
            write_requests: 12,
            bytes_read: 4096,
            bytes_written: 8192,
            trim_requests: 2,
            bytes_trimmed: 65536,
            flush_requests: 1,
            response_ns: ResponseReport { all, ..ResponseReport::default() },
            blame_ns: BlameSum { service: 50, link: 40, parity: 6, stripe_wait: 4, ..BlameSum::default() },
            response_cdf: vec![(5, 0.5), (9, 1.0)],
            batches: BatchReport {
                requests: 64,
                mean: vec![1.5],
                gc_affected: vec![0.25],
                ..BatchReport::default()
            },
            blame_phases_ns: BlamePhases {
                data: ResourceSum { flash: 50, link: 40, ..ResourceSum::default() },
                parity: ResourceSum { queue: 1, flash: 2, bus: 3, ..ResourceSum::default() },
                ..BlamePhases::default()
            },
            arrivals_ns: Some(900),
            warmup_requests: 40,
            warmup_bytes: 163_840,
            bandwidth: BandwidthReport {
                bucket_ns: 500,
                bytes: vec![4096, 8192],
                variation: Some(0.5),
                variation_by_width: vec![(500, 0.5)],
            },
            deadlines: None,
            streams: std::collections::BTreeMap::default(),
        },
        array: ArrayReport::new(
            DEVICES.iter().zip(DIES),
            vec![0.5, 0.25, 0.25],
            CoordinationReport::new("reactive-selective", "command", counters),
            20_480,
        ),
        devices: devices(&wear),
        engine: EngineReport {
            wall_ns: 1,
            events: 2,
            page_operations: 3,
            peak_rss_bytes: 4,
            precondition_wall_ns: 5,
            threads: 6,
            why_one_thread: None,
        },
        precondition: PreconditionReport {
            steady: true,
            write_amplification_windows: [None, Some(2.25)],
            fill: 1.0,
            overwrite: 3.0,
            by_numbers: false,
        },
        label: "selective".to_owned(),
        trace: None,
        warnings: Vec::new(),
        intervals: None,
    }
}

/// The first of them was watched over time.
fn devices(wear: &Wear) -> Vec<DeviceReport> {
    let mut devices: Vec<DeviceReport> = DEVICES
        .iter()
        .zip(DIES)
        .map(|(device, dies)| DeviceReport::new(device, wear.clone(), dies))
        .collect();
    devices[0].gc_waits = GcWaitsReport { requests: 3, ns: 700 };
    devices[0].over_time = OverTimeReport {
        bucket_ns: 16_384,
        channels_in_gc: vec![0.5],
        empty_blocks: vec![12.125],
        queue_depth: vec![3.0],
        victims_erased: vec![2],
        channels_in_gc_fraction: vec![0.5, 0.5],
        empty_blocks_least: 11,
        empty_blocks_change_variance: Some(1.5),
        empty_blocks_change_variance_by_width: vec![(16_384, 1.5), (32_768, 0.25)],
        queue_depth_mean: Some(3.0),
        queue_depth_max: 9,
        // Absent without a write cache.
        write_cache_filled: Vec::new(),
    };
    devices
}

fn trace() -> TraceReport {
    let noted = |reason, rows| Noted { reason: Cow::Borrowed(reason), rows };
    TraceReport {
        files: vec!["a.csv".to_owned()],
        format: "msr".to_owned(),
        format_reason: None,
        rows: 9,
        hash: "00ff".to_owned(),
        skipped: vec![noted("not a request", 1)],
        repaired: vec![noted("out of order", 2)],
        bad: 3,
        bad_examples: vec!["a.csv:7: found".to_owned()],
        moved: 4,
        cut: 5,
        widened: 6,
        lost: 7,
        begins_utc_ns: Some(1_172_163_603_000_000_000),
        span_ns: Some(8),
        time_scale: Some(0.5),
        events: Some(EventsReport {
            read: "D (issued)".to_owned(),
            asked: true,
            share: 0.25,
            all: vec![EventReport { event: "Q (queued)".to_owned(), requests: 9, bytes: 10 }],
        }),
    }
}

/// The whole text, line by line: any renamed, missing, added or moved key fails here.
#[test]
fn the_json_is_the_contract() {
    let few = r#"{"count":0,"mean":null,"stddev":null,"cv":null,"min":null,"p50":null,"p95":null,"p99":null,"p999":null,"p9999":null,"max":null,"p75":null}"#;
    let inside = concat!(
        r#""inside":{"pairing":{"reads":{"offered":10,"matched":1,"none_waiting":2,"other_offset":3,"not_ready":4,"#,
        r#""needs_read":0,"skipped":0},"#,
        r#""writes":{"offered":45,"matched":5,"none_waiting":6,"other_offset":7,"not_ready":8,"needs_read":19,"#,
        r#""skipped":20}},"merged_reads":11,"#,
        r#""superseded_moves":12,"preemptions":13,"suspends":14,"read_retries":15,"queue_depth_at_gc":{"mean":2.5,"max":4},"#,
        r#""met_gc":{"own_reads":{"count":2,"mean_ns":4.5},"own_writes":{"count":0,"mean_ns":null},"#,
        r#""sibling_reads":{"count":1,"mean_ns":3.0},"sibling_writes":{"count":4,"mean_ns":1.5}}}"#,
    );
    let expected = [
        r#"{"schema":"harmonia-report/1","version":"0.1.0","scenario":{"name":"hpc-write"},"#,
        r#""seed":18446744073709551615,"simulated_ns":1000,"#,
        r#""host":{"requests":20,"read_requests":5,"write_requests":12,"bytes_read":4096,"bytes_written":8192,"#,
        r#""trim_requests":2,"bytes_trimmed":65536,"flush_requests":1,"response_ns":{"#,
        r#""all":{"count":20,"mean":0.30000000000000004,"stddev":1.5,"cv":0.25,"min":1,"p50":5,"p95":null,"#,
        r#""p99":null,"p999":null,"p9999":null,"max":9,"p75":null},"#,
        &format!(r#""read":{few},"write":{few},"gc_affected_read":{few},"gc_affected_write":{few},"#),
        &format!(r#""met_gc_read":{few},"met_gc_write":{few}}},"#),
        r#""blame_ns":{"service":50,"transfer":0,"queue_host":0,"queue_gc":0,"parity":6,"reconstruct":0,"#,
        r#""link":40,"stripe_wait":4,"queue_rebuild":0},"response_cdf":[[5,0.5],[9,1.0]],"#,
        r#""batches":{"requests":64,"mean":[1.5],"gc_affected":[0.25]},"#,
        r#""blame_phases_ns":{"data":{"gc":0,"queue":0,"flash":50,"bus":0,"link":40,"rebuild":0},"#,
        r#""parity":{"gc":0,"queue":1,"flash":2,"bus":3,"link":0,"rebuild":0},"#,
        r#""reconstruct":{"gc":0,"queue":0,"flash":0,"bus":0,"link":0,"rebuild":0}},"arrivals_ns":900,"warmup_requests":40,"warmup_bytes":163840,"#,
        r#""bandwidth":{"bucket_ns":500,"bytes":[4096,8192],"variation":0.5,"variation_by_width":[[500,0.5]]}},"#,
        r#""array":{"write_amplification":4.0,"erases":7,"gc_pages_moved":5,"host_pages_written":10,"#,
        r#""flash_pages_programmed":20,"parity_pages_written":5,"devices_in_gc_fraction":[0.5,0.25,0.25],"#,
        r#""coordination":{"policy":"reactive-selective","interface":"command","forced":3,"messages":12},"#,
        r#""metadata_pages_programmed":11,"read_modify_write_reads":3,"#,
        r#""plane_utilisation_in_gc":0.25,"#,
        inside,
        r#","write_amplification_whole_cycles":4.0,"#,
        r#""host_bytes_written":20480,"flash_bytes_programmed":81920,"flash_bytes":{"host":40960,"padding":0,"parity":20480,"logs":0,"collection":20480,"leveling":0,"background":0,"metadata":45056}},"#,
        r#""devices":[{"erases":3,"gc_victims":2,"gc_pages_moved":2,"gc_busy_ns":100,"write_amplification":1.5,"#,
        r#""plane_utilisation_in_gc":0.25,"wear":{"min":1,"mean":2.5,"max":4,"stddev":0.1},"#,
        r#""host_pages_written":4,"host_pages_read":7,"gc_events":0,"write_amplification_whole_cycles":1.3333333333333333,"#,
        inside,
        r#","over_time":{"bucket_ns":16384,"channels_in_gc":[0.5],"empty_blocks":[12.125],"queue_depth":[3.0],"#,
        r#""victims_erased":[2],"channels_in_gc_fraction":[0.5,0.5],"empty_blocks_least":11,"#,
        r#""empty_blocks_change_variance":1.5,"#,
        r#""empty_blocks_change_variance_by_width":[[16384,1.5],[32768,0.25]],"#,
        r#""queue_depth_mean":3.0,"queue_depth_max":9},"gc_waits":{"requests":3,"ns":700},"#,
        r#""host_bytes_written":16384,"flash_bytes_programmed":24576,"flash_bytes":{"host":16384,"padding":0,"parity":0,"logs":0,"collection":8192,"leveling":0,"background":0,"metadata":0}},"#,
        r#"{"erases":4,"gc_victims":0,"gc_pages_moved":3,"gc_busy_ns":0,"write_amplification":1.2727272727272727,"#,
        r#""plane_utilisation_in_gc":null,"wear":{"min":1,"mean":2.5,"max":4,"stddev":0.1},"#,
        r#""host_pages_written":6,"host_pages_read":9,"gc_events":0,"write_amplification_whole_cycles":null,"inside":{"pairing":null,"merged_reads":0,"#,
        r#""superseded_moves":0,"preemptions":0,"suspends":0,"read_retries":0,"queue_depth_at_gc":{"mean":null,"max":null}},"#,
        r#""gc_waits":{"requests":0,"ns":0},"#,
        r#""host_bytes_written":45056,"flash_bytes_programmed":57344,"flash_bytes":{"host":24576,"padding":0,"parity":20480,"logs":0,"collection":12288,"leveling":0,"background":0,"metadata":45056}}],"#,
        r#""engine":{"wall_ns":1,"events":2,"page_operations":3,"peak_rss_bytes":4,"precondition_wall_ns":5,"threads":6},"#,
        r#""precondition":{"steady":true,"write_amplification_windows":[null,2.25],"fill":1.0,"overwrite":3.0},"#,
        r#""label":"selective"}"#,
    ]
    .concat();
    assert_eq!(serde_json::to_string(&report()).unwrap(), expected);
}

/// A replayed trace has a section of its own behind everything else.
#[test]
fn what_was_done_to_a_trace_follows_the_label() {
    let text = serde_json::to_string(&Report { trace: Some(trace()), ..report() }).unwrap();
    let expected = [
        r#""label":"selective","trace":{"files":["a.csv"],"format":"msr","format_reason":null,"rows":9,"#,
        r#""hash":"00ff","skipped":[{"reason":"not a request","rows":1}],"#,
        r#""repaired":[{"reason":"out of order","rows":2}],"bad":3,"bad_examples":["a.csv:7: found"],"#,
        r#""moved":4,"cut":5,"widened":6,"lost":7,"begins_utc_ns":1172163603000000000,"#,
        r#""span_ns":8,"time_scale":0.5,"#,
        r#""events":{"read":"D (issued)","asked":true,"share":0.25,"#,
        r#""all":[{"event":"Q (queued)","requests":9,"bytes":10}]}}}"#,
    ]
    .concat();
    assert!(text.ends_with(&expected), "{text}");
}

/// Capacity and redundancy end the array's section, where there is any; see above where there is none.
#[test]
fn what_redundancy_costs_follows_the_inside_of_dies() {
    let redundancy = RedundancyCounters {
        stripe_waits: 1,
        rows_read_modify_write: 2,
        rows_reconstruct_write: 3,
        rows_full: 4,
        pre_read_bytes: 5,
        copy_pages_written: 6,
        trims_ignored_bytes: 7,
    };
    let redundant =
        ArrayReport { usable_bytes: 4096, redundancy: Some(redundancy), ..ArrayReport::default() };
    let text = serde_json::to_string(&redundant).unwrap();
    let expected = [
        r#","usable_bytes":4096,"redundancy":{"stripe_waits":1,"rows_read_modify_write":2,"#,
        r#""rows_reconstruct_write":3,"rows_full":4,"pre_read_bytes":5,"copy_pages_written":6,"#,
        r#""trims_ignored_bytes":7},"write_amplification_whole_cycles":null,"#,
        r#""host_bytes_written":0,"flash_bytes_programmed":0,"flash_bytes":{"host":0,"padding":0,"parity":0,"logs":0,"collection":0,"leveling":0,"background":0,"metadata":0}}"#,
    ]
    .concat();
    assert!(text.ends_with(&expected), "{text}");
    assert_eq!(serde_json::from_str::<ArrayReport>(&text).unwrap(), redundant);
}

/// A report of before phases were told apart, members named whom requests waited for, and meeting a collection and waiting for
/// one told apart.
#[test]
fn what_was_written_before_there_were_redundant_arrays_can_be_read() {
    let mut value = serde_json::to_value(report()).unwrap();
    value["host"].as_object_mut().unwrap().remove("blame_phases_ns");
    value["host"]["blame_ns"].as_object_mut().unwrap().remove("stripe_wait");
    value["host"]["blame_ns"].as_object_mut().unwrap().remove("queue_rebuild");
    value["devices"][0].as_object_mut().unwrap().remove("gc_waits");
    value["host"]["response_ns"].as_object_mut().unwrap().remove("met_gc_read");
    value["host"]["response_ns"].as_object_mut().unwrap().remove("met_gc_write");
    let read = Report::read(&value.to_string()).unwrap();
    assert_eq!((read.host.blame_ns.service, read.host.blame_ns.stripe_wait), (50, 0));
    assert_eq!(read.host.blame_phases_ns, BlamePhases::default());
    assert_eq!(read.devices[0].gc_waits, GcWaitsReport::default());
    assert_eq!((read.array.usable_bytes, read.array.redundancy), (0, None));
}

/// A report of before `inside` was counted and `over_time` kept.
#[test]
fn what_was_written_before_dies_were_looked_into_can_be_read() {
    let mut value = serde_json::to_value(report()).unwrap();
    value["array"].as_object_mut().unwrap().remove("inside");
    value["array"].as_object_mut().unwrap().remove("plane_utilisation_in_gc");
    value["devices"][0].as_object_mut().unwrap().remove("inside");
    value["devices"][0].as_object_mut().unwrap().remove("over_time");
    let read = Report::read(&value.to_string()).unwrap();
    assert_eq!((read.array.plane_utilisation_in_gc, read.devices[0].inside.pairing), (None, None));
    assert_eq!(read.devices[0].over_time, OverTimeReport::default());
}

#[test]
fn a_trace_is_untouched_only_if_nothing_at_all_was_done() {
    let none = TraceReport { rows: 9, hash: "00ff".to_owned(), ..TraceReport::default() };
    assert!(none.is_untouched());
    let noted = trace().skipped;
    for touched in [
        TraceReport { skipped: noted.clone(), ..none.clone() },
        TraceReport { repaired: noted, ..none.clone() },
        TraceReport { bad: 1, ..none.clone() },
        TraceReport { moved: 1, ..none.clone() },
        TraceReport { cut: 1, ..none.clone() },
        TraceReport { widened: 1, ..none.clone() },
        TraceReport { time_scale: Some(2.0), ..none.clone() },
    ] {
        assert!(!touched.is_untouched(), "{touched:?}");
    }
}

/// A comparison of before there were intervals.
#[test]
fn what_was_written_without_intervals_can_be_read() {
    let mut value = serde_json::to_value(Comparison::new(vec![report()], 1)).unwrap();
    value.as_object_mut().unwrap().remove("intervals");
    value.as_object_mut().unwrap().remove("winners");
    value.as_object_mut().unwrap().remove("warnings");
    value["runs"][0]["host"].as_object_mut().unwrap().remove("batches");
    let read = Comparison::read(&value.to_string()).unwrap();
    assert_eq!(
        (read.runs.len(), read.intervals, read.winners),
        (1, Intervals::default(), Winners::default())
    );
}

/// The keys of the intervals, in order; one seed has no interval of erases, and says so by null.
#[test]
fn the_intervals_follow_the_runs() {
    let value = serde_json::to_value(Comparison::new(vec![report(), report()], 1)).unwrap();
    let keys =
        |value: &serde_json::Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&value), ["intervals", "runs", "warnings", "winners"], "sorted by the reader");
    let intervals = &value["intervals"];
    assert_eq!((&intervals["method"], &intervals["confidence"]), (&"batch-means".into(), &0.95.into()));
    assert_eq!(
        (&intervals["baseline"], &intervals["variants"][0]["label"]),
        (&"selective".into(), &"selective".into())
    );
    assert_eq!(intervals["variants"][0]["seeds"], serde_json::json!([u64::MAX]));
    assert_eq!(intervals["variants"][0]["versus_baseline"], serde_json::Value::Null);
    let erases = serde_json::json!({"mean": 7.0, "half_width": null, "samples": 1});
    assert_eq!(intervals["variants"][0]["metrics"]["erases"], erases);
    assert_eq!(intervals["variants"][1]["metrics"]["p99"], serde_json::Value::Null);
    let none = serde_json::json!({"mean": 0.0, "half_width": null, "samples": 1});
    let versus =
        serde_json::json!({"difference": none, "relative": none, "significant": null, "paired": true});
    assert_eq!(intervals["variants"][1]["versus_baseline"]["erases"], versus);
    let erases = serde_json::json!({"labels": ["selective", "selective"], "values": [7.0, 7.0], "next": null,
        "baseline": null, "ties": [{"label": "selective", "difference": none, "relative": none, "significant": null,
        "paired": true}], "unknown": []});
    assert_eq!(value["winners"]["erases"], erases, "equals tie");
    assert_eq!(value["warnings"][0]["code"], "one-seed");
    assert_eq!(value["winners"]["p99"], serde_json::Value::Null, "too few requests");
}

#[test]
fn a_report_reads_back_unchanged() {
    let other = Report { seed: 2, trace: Some(trace()), ..report() };
    let comparison = Comparison::new(vec![report(), other], 1);
    let text = serde_json::to_string_pretty(&comparison).unwrap();
    assert_eq!(Comparison::read(&text).unwrap(), comparison);
    let value = serde_json::to_value(&comparison).unwrap();
    assert_eq!(Comparison::read(&value.to_string()).unwrap(), comparison);
}

/// 0.1 + 0.2 and thirds survive; a few thousand further floats too, whose last bit a fast parser would lose.
#[test]
fn floats_read_back_to_the_last_bit() {
    let floats: Vec<f64> = (1..5_000u32).map(|i| f64::from(i).sqrt() * 1e5 / 7.0).collect();
    let text = serde_json::to_string(&floats).unwrap();
    assert_eq!(serde_json::from_str::<Vec<f64>>(&text).unwrap(), floats);
}

#[test]
fn only_the_engine_section_is_forgotten() {
    let slow = Report { engine: EngineReport { wall_ns: 99, ..EngineReport::default() }, ..report() };
    assert_ne!(slow, report());
    assert_eq!(slow.without_engine(), report().without_engine());
    assert_eq!(slow.without_engine().engine, EngineReport::default());
    let other = Report { simulated_ns: 1001, ..report() };
    assert_ne!(other.without_engine(), report().without_engine());
}

#[test]
#[should_panic(expected = "must not be named `policy`")]
fn a_counter_cannot_hide_the_policy() {
    CoordinationReport::new("local", "nothing", [("policy", 1)]);
}

#[test]
#[should_panic(expected = "must not be named `windows`")]
fn a_counter_cannot_hide_another_one() {
    CoordinationReport::new("local", "nothing", [("windows", 1), ("turns", 2), ("windows", 3)]);
}

/// Every counter that is declared stands in its section, in the order of the declarations, and so does every cause and part.
#[test]
fn what_is_declared_is_reported() {
    let array = ArrayReport {
        redundancy: Some(Default::default()),
        stripe_cache: Some(Default::default()),
        reconstruct: Some(Default::default()),
        bounds: Some(Default::default()),
        nvram: Some(Default::default()),
        write_hole: Some(Default::default()),
        bitmap: Some(Default::default()),
        inside: InsideReport {
            write_cache: Some(Default::default()),
            mapping_cache: Some(Default::default()),
            ..InsideReport::default()
        },
        ..ArrayReport::default()
    };
    let text = serde_json::to_string(&Report { array, ..report() }).unwrap();
    let in_order = |section: &str, names: &mut dyn Iterator<Item = &'static str>| {
        let begin = text.find(&format!("\"{section}\":{{")).unwrap_or_else(|| panic!("{section} is missing"));
        names.fold(begin, |at, name| {
            let found = text[at..].find(&format!("\"{name}\":"));
            at + found.unwrap_or_else(|| panic!("{section} has no {name} in its place"))
        });
    };
    for (section, declared) in SECTIONS {
        let key = section.rsplit('.').next().unwrap();
        in_order(key, &mut declared.iter().map(|counter| counter.name));
    }
    let always = IoCause::TABLE.iter().filter(|of| !of.meaning.contains("absent if 0"));
    in_order("flash_bytes", &mut always.map(|of| of.name));
    let always = BlameSum::TABLE.iter().filter(|part| !part.meaning().contains("absent if 0"));
    in_order("blame_ns", &mut always.map(|part| part.name));
}
