//! Measurements to the report, and the engine section about the run itself.

use harmonia_array::coordination::Coordinator;
use harmonia_array::layout::Layout;
use harmonia_array::{ArrayConfig, Interface, Level, Reads, Steadiness, WriteHole};
use harmonia_metrics::{
    ArrayReport, CoordinationReport, DeviceReport, DieTraits, EngineReport, EventReport, EventsReport,
    FeasibilityReport, GcEstimateReport, GcWaitsReport, HostReport, PreconditionReport, Report, SCHEMA,
    StreamRecorder, TraceReport, Warning, WriteHoleReport,
};
use harmonia_ssd::SsdConfig;
use harmonia_trace::{Action, EventCount, EventsRead};
use harmonia_types::{Counters, DeviceCounters, IoCause, LogCounters, ReadCounters};
use harmonia_workload::{Limit, TraceAccount, TraceConfig, WorkloadConfig};

use crate::drive::Measured;
use crate::lifetime;
use harmonia_scenario::Variant;
use harmonia_scenario::policies::built;

/// Wall time, for the engine section alone: nothing else of a report may depend on it.
#[expect(clippy::disallowed_types, reason = "the engine section reports how long a run took")]
pub(crate) struct Stopwatch(std::time::Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_types, reason = "the engine section reports how long a run took")]
    pub fn start() -> Self {
        Stopwatch(std::time::Instant::now())
    }

    pub fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

pub(crate) fn build(
    variant: &Variant,
    steadiness: &Steadiness,
    ageing_ns: u64,
    measured: Measured,
) -> Report {
    let scenario = &variant.scenario;
    let faults = &scenario.array.faults;
    let spares = if scenario.array.is_faultless() { &[][..] } else { &faults.spares };
    let members = || scenario.array.members.iter().chain(spares).chain(&faults.journal);
    let messages = measured.messages.values();
    let of_messages = messages.iter().map(|(counter, count)| (counter.name, *count as u64));
    let policy = built(&scenario.array, &scenario.array.coordination.policy).ok();
    let policy = policy.as_deref();
    let name = scenario.array.coordination.policy.clone();
    let counters = of_messages.chain(measured.policy_counters.iter().copied());
    let coordination = CoordinationReport::new(name, rung(&scenario.array, policy).name(), counters);
    // Requests wait for a member, whatever device is in its place, or for the journal.
    let gc_waits = measured.gc_waits.into_iter().chain(std::iter::repeat(GcWaitsReport::default()));
    let watched = measured.over_time.into_iter().zip(gc_waits);
    let dies = members().zip(&measured.pairs);
    let dies = dies.map(|(member, &pairs)| DieTraits {
        // Planes that one program writes count as one.
        planes: member.ssd.geometry.planes_per_die / member.ssd.geometry.program_planes,
        pairs,
        page_size: u64::from(member.ssd.mapping_unit()),
    });
    let devices = measured
        .devices
        .iter()
        .zip(measured.wear.into_iter().zip(measured.life))
        .zip(watched)
        .zip(dies.clone());
    let page_operations = measured.devices.iter().map(|device| {
        // Each page moved is read as well as programmed.
        let programs: u64 = device.programs.iter().sum();
        programs
            + device.gc_pages_moved()
            + device.leveled_pages_moved()
            + device.host_pages_read
            + device.parity_pages_read
            + device.read_modify_write_reads
            + device.erases
    });
    let layout = scenario.array.layout();
    let intervals = measured.gc_intervals.iter().zip(&measured.devices).zip(members());
    let events = intervals.map(|((&intervals, device), member)| intervals.max(rounds(device, &member.ssd)));
    let copies = if let Layout::Mirrored(mirrored) = &layout { mirrored.copies() } else { 1 };
    let counted = measured.redundancy;
    let array = ArrayReport {
        usable_bytes: layout.logical_bytes(),
        redundancy: (scenario.array.level != Level::Raid0).then_some(counted.redundancy),
        stripe_cache: (scenario.array.stripe_cache.entries > 0).then_some(counted.cache),
        reconstruct: reconstruct(&scenario.array, policy, counted.reads),
        bounds: policy.filter(|policy| policy.displaces()).map(|_| counted.bounds),
        nvram: (scenario.array.knowledge.nvram > 0).then_some(counted.nvram),
        write_hole: write_hole(scenario.array.faults.write_hole, counted.log),
        bitmap: matches!(scenario.array.faults.write_hole, WriteHole::Bitmap { .. })
            .then_some(counted.bitmap),
        failures: measured.failures,
        feasibility: policy
            .filter(|policy| policy.keeps_apart())
            .map(|policy| FeasibilityReport::new(policy.at_once(), &measured.warmup_gc, &measured.gc_share)),
        ..ArrayReport::new(
            measured.devices.iter().zip(dies.clone()),
            measured.gc_share,
            coordination,
            measured.host_bytes_written,
        )
    }
    .with_copies(copies);
    let streams = measured.streams.as_ref().map(StreamRecorder::report).unwrap_or_default();
    let (warmup_requests, warmup_bytes) = measured.backlog;
    let mut host = HostReport {
        arrivals_ns: measured.arrivals_ns,
        warmup_requests,
        warmup_bytes,
        streams,
        ..measured.host.report()
    };
    measured.counter_batches.add_to(&mut host.batches, &array, host.requests);
    let is_gone_by = array.reconstruct.is_some() || array.nvram.is_some();
    let failures = array.failures.clone();
    let place_taken_by = |device: u16| failures.as_ref()?.place_taken_by(device);
    let count = measured.devices.len();
    let has_shares = !scenario.array.parity_shares.is_empty();
    let ended = measured.trace.as_ref().and_then(|trace| ended_early(&scenario.workload, trace.rows));
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: serde_json::to_value(scenario).unwrap_or(serde_json::Value::Null),
        seed: scenario.seed,
        simulated_ns: measured.window_ns,
        host,
        array,
        engine: EngineReport {
            wall_ns: measured.wall_ns,
            events: measured.events,
            page_operations: page_operations.sum(),
            peak_rss_bytes: peak_rss_bytes(),
            precondition_wall_ns: ageing_ns,
            threads: measured.threads.0 as u64,
            why_one_thread: measured.threads.1.map(str::to_owned),
        },
        devices: devices
            .zip(events)
            .zip(0..)
            .map(
                |(
                    ((((counters, (wear, (life, leveling))), (over_time, gc_waits)), dies), gc_events),
                    index,
                )| {
                    DeviceReport {
                        life,
                        leveling,
                        gc_events,
                        parity_pages_written: has_shares.then(|| counters.programmed(IoCause::Parity)),
                        over_time,
                        // Who goes by it is told how good it is.
                        gc_estimate: is_gone_by.then(|| GcEstimateReport::of(counters)).flatten(),
                        gc_waits,
                        spare: index >= scenario.array.devices,
                        in_place_of: place_taken_by(index),
                        journal: faults.journal.is_some() && usize::from(index) + 1 == count,
                        ..DeviceReport::new(counters, wear, dies)
                    }
                },
            )
            .collect(),
        precondition: PreconditionReport {
            steady: steadiness.is_steady(),
            write_amplification_windows: steadiness.windows,
            fill: scenario.precondition.fill,
            overwrite: scenario.precondition.overwrite,
            by_numbers: steadiness.by_numbers,
        },
        label: label(variant),
        trace: measured.trace.map(trace),
        warnings: scenario.warnings(),
        intervals: None,
    };
    lifetime::add(&mut report, members(), &scenario.array);
    report.warnings.extend(ended.map(|text| Warning::new("trace-ended", text)));
    report.warnings.extend(harmonia_metrics::judgement::of_run(&report));
    report
}

/// Whether there were more requests to replay than the trace has.
fn ended_early(workload: &WorkloadConfig, replayed: u64) -> Option<String> {
    let WorkloadConfig::Trace(TraceConfig { limit: Some(Limit::Requests(asked)), .. }) = workload else {
        return None;
    };
    (replayed < *asked).then(|| {
        format!("the trace ended after {replayed} of the {asked} requests that workload.requests asks for")
    })
}

/// How often a device collected in all of its parts: by how often its dies began to, and, as one event may go on for long
/// where the host is let in, by how many victims each of its allocation units gave.
fn rounds(device: &DeviceCounters, ssd: &SsdConfig) -> u64 {
    let dies = u64::from(ssd.geometry.dies());
    let units = ssd.resolve().map_or(dies, |shape| u64::from(shape.units()));
    let victims_a_round = units * u64::from(ssd.gc.min_victims.max(1));
    (device.depth_at_gc.events / dies).max(device.gc_victims / victims_a_round)
}

/// The rung of `array.interface` that a run uses: what its policy needs, and what tells its reads whom to avoid.
fn rung(array: &ArrayConfig, policy: Option<&dyn Coordinator>) -> Interface {
    let needed = policy.map_or(Interface::Nothing, |policy| policy.interface());
    match array.knowledge.reads {
        Reads::Avoid(_) if rule(policy).is_none() => {
            needed.max(array.knowledge.interface.min(Interface::Busy))
        }
        _ => needed,
    }
}

/// A policy's own rule for reads.
fn rule(policy: Option<&dyn Coordinator>) -> Option<Reads> {
    policy.and_then(|policy| policy.reads())
}

/// Reads around members that collect, if any may be.
fn reconstruct(
    array: &ArrayConfig,
    policy: Option<&dyn Coordinator>,
    counted: ReadCounters,
) -> Option<ReadCounters> {
    let reads = rule(policy).unwrap_or(array.knowledge.reads);
    // A policy that reserves members has reads around them without a rule for those that collect.
    (reads != Reads::Wait || counted != ReadCounters::default()).then_some(counted)
}

/// What a log has cost, if one is kept.
fn write_hole(kept: WriteHole, counters: LogCounters) -> Option<WriteHoleReport> {
    let kind = match kept {
        WriteHole::Journal(_) => "journal",
        WriteHole::PartialParityLog(_) => "ppl",
        WriteHole::Resync | WriteHole::Bitmap { .. } => return None,
    };
    Some(WriteHoleReport { kind: kind.to_owned(), counters })
}

/// What was done to a trace, in the report's terms.
fn trace(account: TraceAccount) -> TraceReport {
    let TraceAccount {
        files,
        format,
        reason,
        events,
        rows,
        begins_utc_ns,
        span_ns,
        time_scale,
        hash,
        log,
        remapped,
    } = account;
    TraceReport {
        files,
        format: format.to_owned(),
        format_reason: reason,
        rows,
        hash,
        skipped: log.skipped,
        repaired: log.repaired,
        bad: log.bad,
        bad_examples: log.bad_examples,
        moved: remapped.moved,
        cut: remapped.cut,
        widened: remapped.widened,
        lost: log.lost,
        begins_utc_ns,
        span_ns: Some(span_ns),
        // An exact comparison: 1 is the default and means "untouched".
        time_scale: Some(time_scale).filter(|&scale| scale != 1.0),
        events: events.map(events_read),
    }
}

/// Which event of a trace was read, in the report's terms.
fn events_read(events: EventsRead) -> EventsReport {
    let EventsRead { read, asked, counts } = events;
    let event = |action: Action| {
        let EventCount { requests, bytes } = counts.of(action);
        EventReport { event: action.name().to_owned(), requests, bytes }
    };
    EventsReport {
        read: read.name().to_owned(),
        asked,
        share: counts.completeness(read),
        all: counts.by_completeness().into_iter().map(event).collect(),
    }
}

/// A variant's own label, or else the name of its coordination.
fn label(variant: &Variant) -> String {
    let array = &variant.scenario.array;
    let ideal = array.members.iter().all(|member| member.ssd.gc.schedule.policy == "ideal");
    match variant.label.as_str() {
        "" if ideal && array.coordination.policy == "local" => "ideal".to_owned(),
        "" => array.coordination.policy.clone(),
        label => label.to_owned(),
    }
}

/// The most memory this process has held so far, in bytes; 0 where the system does not say.
pub fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.map_or(0, |kib| kib * 1024)
}
