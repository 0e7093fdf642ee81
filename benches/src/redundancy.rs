//! Arrays with parity beside RAID-0 on the same aged members, and an array of many members beside one of few.

use harmonia_metrics::Report;

use super::floor::Floor;
use super::{REPEATS, aged, load, measure, per_operation, row};

/// Rows against the floor, then ratios between runs that take turns.
pub fn bench(floor: &mut Floor) {
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
    for (name, scenario, warmup) in [
        ("HPC(W) on RAID-0, per page operation", hpc("raid0"), 1_000),
        ("HPC(W) on RAID-5, 4 KiB unit, per page operation", hpc("raid5"), 1_000),
        ("4 KiB, 20% reads, on RAID-0, per page operation", small("raid0"), 20_000),
        ("4 KiB, 20% reads, on RAID-5, per page operation", small("raid5"), 20_000),
        ("4 KiB, 20% reads, on RAID-6, per page operation", small("raid6"), 20_000),
    ] {
        row(floor, name, |_| per_operation(&measure(&scenario, state.clone()), warmup));
    }
    let (raid0, raid5) = (hpc("raid0"), hpc("raid5"));
    let run = |scenario| measure(scenario, state.clone());
    ratio("HPC(W): RAID-5 over RAID-0, a page operation", &|| {
        (per_operation(&run(&raid5), 1_000), per_operation(&run(&raid0), 1_000))
    });
    ratio("HPC(W): RAID-5 over RAID-0, a request", &|| {
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
    ratio("HPC(W): RAID-5, serial with NVRAM, over RAID-0, a request", &|| {
        (per_request(&run(&hpc_aware)), per_request(&run(&raid0)))
    });
    ratio("4 KiB: RAID-5 over RAID-0, a request", &|| {
        (per_request(&run(&small5)), per_request(&run(&small0)))
    });
    ratio("4 KiB: RAID-5, serial with NVRAM, over RAID-0, a request", &|| {
        (per_request(&run(&small_aware)), per_request(&run(&small0)))
    });
    drop(state);
    many_members();
}

/// The same load on the same 1,024 dies, as 8 members of 128 and as 1,024 members of one: what an event costs.
fn many_members() {
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
        ratio(&format!("the same dies as 1,024 members over 8, {level}, an event"), &|| {
            (per_event(&measure(&many, states.1.clone())), per_event(&measure(&few, states.0.clone())))
        });
    }
}

/// Prints median and extremes of a ratio of two figures taken in turns.
fn ratio(name: &str, pair: &dyn Fn() -> (f64, f64)) {
    let mut ratios: Vec<f64> = (0..REPEATS).map(|_| pair()).map(|(one, other)| one / other).collect();
    ratios.sort_by(f64::total_cmp);
    println!("{name:<58}{:>9.2}{:>9.2}{:>9.2}", ratios[REPEATS / 2], ratios[0], ratios[REPEATS - 1]);
}

fn per_request(report: &Report) -> f64 {
    report.engine.wall_ns as f64 / report.host.requests as f64
}

fn per_event(report: &Report) -> f64 {
    report.engine.wall_ns as f64 / report.engine.events as f64
}
