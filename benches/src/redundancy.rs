//! Arrays with parity beside RAID-0 on the same aged members, and an array of many members beside one of few.

use harmonia_metrics::Report;

use super::table::{Aim, Floors, Tables};
use super::{aged, load, measure, per_operation};

/// Rows against the floor, then ratios between runs that take turns.
pub fn bench(tables: &mut Tables, floors: &mut Floors) {
    let hpc_keys = |level: &str| {
        vec![
            format!("array.level={level}"),
            "array.stripe_unit=4KiB".into(),
            "workload.requests=12000".into(),
            "workload.warmup=1000".into(),
        ]
    };
    let small_keys = |level: &str| {
        vec![
            format!("array.level={level}"),
            "array.stripe_unit=512KiB".into(),
            "workload.requests=1000000".into(),
            "workload.warmup=20000".into(),
            "workload.size={distribution='fixed', mean='4KiB'}".into(),
            "workload.read_fraction=0.2".into(),
            // Parity at this rate keeps the members about as busy as hpc-w does.
            "workload.arrival={process='poisson', rate=20000}".into(),
        ]
    };
    let hpc = |level: &str| load("hpc-w", &hpc_keys(level));
    let small = |level: &str| load("hpc-w", &small_keys(level));
    let state = aged(&hpc("raid0"), 2);
    tables.section("a page operation on levels");
    let aim = Some(Aim::AtMost(2.5));
    for (name, scenario, warmup, aim) in [
        ("HPC(W) on RAID-0", hpc("raid0"), 1_000, None),
        ("HPC(W) on RAID-5, 4 KiB unit", hpc("raid5"), 1_000, aim),
        ("4 KiB, 20% reads, on RAID-0", small("raid0"), 20_000, None),
        ("4 KiB, 20% reads, on RAID-5", small("raid5"), 20_000, aim),
        ("4 KiB, 20% reads, on RAID-6", small("raid6"), 20_000, None),
    ] {
        tables.row(floors, name, aim, |_| per_operation(&measure(&scenario, state.clone()), warmup));
    }
    let (raid0, raid5) = (hpc("raid0"), hpc("raid5"));
    let run = |scenario| measure(scenario, state.clone());
    tables.section("one run over another");
    let operation = Some(Aim::AtMost(1.5));
    tables.ratio("HPC(W), RAID-5 over RAID-0, a page operation", operation, &|| {
        (per_operation(&run(&raid5), 1_000), per_operation(&run(&raid0), 1_000))
    });
    tables.ratio("HPC(W), RAID-5 over RAID-0, a request", Some(Aim::AtMost(1.35)), &|| {
        (per_request(&run(&raid5)), per_request(&run(&raid0)))
    });
    // Reads around members that collect, and writes parked: what the array that knows most does.
    let aware = |mut keys: Vec<String>| {
        let knows = ["policy='serial'", "array.reads=avoid", "array.nvram=64MiB"];
        keys.extend(knows.map(|key| key.replace("policy=", "array.coordination.policy=")));
        keys
    };
    let (hpc_aware, small_aware) =
        (load("hpc-w", &aware(hpc_keys("raid5"))), load("hpc-w", &aware(small_keys("raid5"))));
    let (small0, small5) = (small("raid0"), small("raid5"));
    tables.ratio(
        "HPC(W), RAID-5, `serial` with NVRAM, over RAID-0, a request",
        Some(Aim::AtMost(1.6)),
        &|| (per_request(&run(&hpc_aware)), per_request(&run(&raid0))),
    );
    tables.ratio("4 KiB, RAID-5 over RAID-0, a page operation", operation, &|| {
        (per_operation(&run(&small5), 20_000), per_operation(&run(&small0), 20_000))
    });
    tables.ratio("4 KiB, RAID-5 over RAID-0, a request", None, &|| {
        (per_request(&run(&small5)), per_request(&run(&small0)))
    });
    tables.ratio(
        "4 KiB, RAID-5, `serial` with NVRAM, over RAID-0, a request",
        Some(Aim::AtMost(3.2)),
        &|| (per_request(&run(&small_aware)), per_request(&run(&small0))),
    );
    drop(state);
    many_members(tables);
}

/// The same load on the same 1,024 dies, as 8 members of 128 and as 1,024 members of one: what an event costs.
fn many_members(tables: &mut Tables) {
    let array = |devices: u32, level: &str| {
        let dies = 1_024 / devices;
        let channels = dies.min(16);
        load(
            "tiny",
            &[
                format!("array.devices={devices}"),
                format!("array.level={level}"),
                "array.stripe_unit=4KiB".into(),
                "workload.requests=400000".into(),
                "workload.warmup=20000".into(),
                "workload.size={distribution='fixed', mean='4KiB'}".into(),
                "workload.arrival={process='poisson', rate=4000}".into(),
                "precondition.overwrite=1".into(),
                "ssd.geometry.own_pins=true".into(),
                format!("ssd.geometry.channels={channels}"),
                format!("ssd.geometry.chips_per_channel={}", dies / channels),
            ],
        )
    };
    for level in ["raid0", "raid5"] {
        let (few, many) = (array(8, level), array(1_024, level));
        let states = (aged(&few, 2), aged(&many, 2));
        let case = format!("the same dies as 1,024 members over 8, {level}, an event");
        tables.ratio(&case, Some(Aim::AtMost(1.5)), &|| {
            (per_event(&measure(&many, states.1.clone())), per_event(&measure(&few, states.0.clone())))
        });
    }
}

fn per_request(report: &Report) -> f64 {
    report.engine.wall_ns as f64 / report.host.requests as f64
}

fn per_event(report: &Report) -> f64 {
    report.engine.wall_ns as f64 / report.engine.events as f64
}
