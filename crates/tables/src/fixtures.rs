//! Reports that no simulation made.

use harmonia_metrics::{BatchReport, DeviceReport, Distribution, PreconditionReport, Report, SCHEMA, Wear};
use harmonia_scenario::Axis;
use serde_json::json;

/// Batches that know a figure to about half a percent.
fn around(figure: f64) -> Vec<f64> {
    (0..31).map(|batch| figure * [0.99, 1.01, 1.0][batch % 3]).collect()
}

/// A run of 2,000 requests on four devices, of which every fourth waits `gc_us` for garbage collection.
pub fn run(label: &str, schedule: &str, gc_us: u64, erases: u64, shares: &[f64]) -> Report {
    let requests = 2_000;
    let mut response = Distribution::new();
    let mut gc_affected = Distribution::new();
    let mut responses = Vec::new();
    let mut report: Report = serde_json::from_value(json!({
        "schema": SCHEMA, "version": "0.1.0", "seed": 7, "simulated_ns": 4_197_000_000_u64, "label": label,
        "scenario": {"name": "hpc-w", "ssd": {"gc": {"schedule": schedule}}},
        "host": harmonia_metrics::HostReport::default(), "array": harmonia_metrics::ArrayReport::default(),
        "devices": [], "engine": harmonia_metrics::EngineReport::default(),
        "precondition": PreconditionReport::default(),
    }))
    .expect("a report");
    let blame = &mut report.host.blame_ns;
    for request in 0..requests {
        let queue_host_ns = (request * 7_919 % requests) * 500;
        let queue_gc_ns = if request % 4 == 0 { gc_us * 1_000 * (1 + request % 13) / 7 } else { 0 };
        let response_ns = 200_000 + 100_000 + 1_700_000 + queue_host_ns + queue_gc_ns;
        blame.service += 200_000;
        blame.transfer += 100_000;
        blame.link += 1_700_000;
        blame.queue_host += u128::from(queue_host_ns);
        blame.queue_gc += u128::from(queue_gc_ns);
        response.record(response_ns);
        responses.push(response_ns as f64);
        if queue_gc_ns > 0 {
            gc_affected.record(response_ns);
        }
    }
    report.host.requests = requests;
    report.host.write_requests = requests;
    report.host.response_ns.all = response.summary();
    report.host.response_ns.gc_affected_write = gc_affected.summary();
    report.host.response_ns.met_gc_write = gc_affected.summary();
    let mean = |batch: &[f64]| batch.iter().sum::<f64>() / batch.len() as f64;
    report.host.batches = BatchReport {
        requests: 64,
        mean: responses.chunks_exact(64).map(mean).collect(),
        gc_affected: vec![if gc_us > 0 { 0.25 } else { 0.0 }; 31],
        p99: around(report.host.response_ns.all.p99.unwrap_or_default() as f64),
        erases: around(erases as f64),
        ..BatchReport::default()
    };
    report.host.response_cdf = response.cdf_points();
    report.array.erases = erases;
    report.array.write_amplification = Some(4.712);
    report.array.write_amplification_whole_cycles = Some(4.712);
    report.array.devices_in_gc_fraction = shares.to_vec();
    report.array.coordination.policy = label.replace("ideal", "local");
    let wear = Wear { min: 2, mean: 17.25, max: 31, stddev: 3.5 };
    let device = DeviceReport {
        erases: erases / 4,
        gc_victims: erases / 4,
        gc_pages_moved: 4_321,
        gc_events: 40,
        write_amplification: Some(3.1),
        write_amplification_whole_cycles: Some(4.712),
        wear,
        ..DeviceReport::default()
    };
    report.devices = vec![device; 4];
    report.devices[1].gc_busy_ns = 1_234_500_000;
    report.devices[1].plane_utilisation_in_gc = Some(0.2534);
    report.precondition = PreconditionReport {
        steady: true,
        write_amplification_windows: [Some(4.71), Some(4.72)],
        fill: 1.0,
        overwrite: 3.0,
        by_numbers: false,
    };
    report
}

/// A degraded array with parity: a run like others, of which parts go to parity, reconstruction and waiting for stripes.
#[cfg(test)]
pub(crate) fn redundant() -> Report {
    use harmonia_metrics::{BlamePhases, BlameSum, ResourceSum};

    let mut run = run("raid5", "blocking", 6_000, 12_000, &[0.5, 0.3, 0.2]);
    let requests = u128::from(run.host.requests);
    let us = |resources: [u128; 5]| {
        let [gc, queue, flash, bus, link] = resources.map(|us| us * 1_000 * requests);
        ResourceSum { gc, queue, flash, bus, link, rebuild: 0, cache: 0, controller: 0, map: 0 }
    };
    run.host.blame_phases_ns = BlamePhases {
        data: us([900, 400, 200, 100, 1_000]),
        parity: us([500, 100, 80, 20, 0]),
        reconstruct: us([100, 0, 55, 45, 0]),
    };
    let apart = BlameSum { stripe_wait: 499_000 * requests, ..BlameSum::default() };
    run.host.blame_ns = run.host.blame_phases_ns.parts(&apart);
    run.devices[2].gc_waits.requests = 300;
    run.devices[3].gc_waits.requests = 100;
    run
}

/// Three policies and the bound.
pub fn four_runs() -> Vec<Report> {
    vec![
        run("local", "blocking", 40_000, 12_000, &[0.31, 0.4, 0.2, 0.0896, 0.0004]),
        run("reactive-inclusive", "blocking", 6_000, 12_360, &[0.875, 0.02, 0.005, 0.0, 0.1]),
        run("reactive-selective", "blocking", 7_000, 12_060, &[0.85, 0.03, 0.01, 0.01, 0.1]),
        run("ideal", "ideal", 0, 12_000, &[1.0, 0.0, 0.0, 0.0, 0.0]),
    ]
}

/// An axis of these values.
pub fn axis(key: &str, values: &[&str]) -> Axis {
    Axis { key: key.to_owned(), values: values.iter().map(|value| (*value).to_owned()).collect() }
}
