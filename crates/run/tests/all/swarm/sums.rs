//! What every report of a random scenario must say of itself: parts are those of a whole, and nothing is out of bounds.

use harmonia_array::{Interface, Reads};
use harmonia_metrics::{
    ArrayReport, DeviceReport, DistributionSummary, InsideReport, Replacements, Report, Years,
};
use harmonia_scenario::Scenario;
use harmonia_ssd::SsdConfig;
use harmonia_types::IoCause;
use harmonia_workload::{Limit, StreamsConfig, SyntheticConfig, WorkloadConfig};

use super::drawn::{Generated, MALFORMED};

/// A drive has a lifetime where something says what it endures, and its limits come in their order.
/// Members are replaced one after the other, and chances are chances.
pub(super) fn replacements_add_up(scenario: &Scenario, of: &Replacements<f64>) {
    assert!(scenario.array.level.redundancy(scenario.array.devices) > 0);
    assert_eq!(of.years.len(), usize::from(scenario.array.devices), "{of:?}");
    assert!(
        of.years.is_sorted() && of.years.iter().all(|years| years.is_finite() && *years >= 0.0),
        "{of:?}"
    );
    assert!(of.per_year.is_finite() && of.per_year >= 0.0, "{of:?}");
    let Some(risk) = of.risk else { return };
    let chances = [risk.second_by_wear, risk.second_by_failure, risk.unreadable, risk.loss, of.unused];
    assert!(chances.iter().all(|chance| (0.0..=1.0).contains(chance)), "{of:?}");
    let losses =
        [risk.losses_by_wear, risk.losses_by_failure, risk.losses_by_unreadable, risk.losses_by_both];
    assert!(losses.iter().all(|losses| losses.is_finite() && *losses >= 0.0), "{of:?}");
}

/// Pages moved out of victims, to level wear or not.
pub(super) fn moved_by(device: &DeviceReport) -> u64 {
    device.gc_pages_moved + device.leveled_pages_moved
}

pub(super) fn life_adds_up(device: &DeviceReport, ssd: &SsdConfig) {
    assert_eq!(device.lifetime.is_some(), ssd.wear.is_some() || ssd.rating.is_some());
    let Some(life) = device.lifetime else { return };
    let Years { cycles, rated_bytes, first_block, read_only } = life.years;
    let all = [cycles, rated_bytes, first_block, read_only];
    assert!(all.into_iter().flatten().all(|years| years.is_finite() && years >= 0.0), "{life:?}");
    let is_in_order = |(first, last): (f64, f64)| first <= last * (1.0 + 1e-9);
    assert!(first_block.zip(read_only).is_none_or(is_in_order), "the first block is the first: {life:?}");
    let known = life.write_amplification.is_some() && device.host_bytes_written > 0;
    assert_eq!(read_only.is_some(), known && ssd.wear.is_some(), "{life:?}");
    assert_eq!(life.ends_after().is_some(), life.limit.is_some(), "{life:?}");
}

/// So many bytes were programmed for pages of the map, with what their programs lacked.
pub(super) fn is_of_map(programmed: u64, bytes: &harmonia_metrics::FlashBytes) {
    let written = bytes[IoCause::Map];
    let is_right =
        if written == 0 { programmed == 0 } else { (written..=written + bytes[None]).contains(&programmed) };
    assert!(is_right, "programs are the sum over causes: {programmed} bytes of the map, not {written}");
}

/// Flash bytes of all causes but the array's own work.
pub(super) fn for_the_host(bytes: &harmonia_metrics::FlashBytes) -> u64 {
    bytes[IoCause::Host]
        + bytes[IoCause::Map]
        + bytes[None]
        + bytes[IoCause::Parity]
        + bytes[IoCause::Log]
        + bytes[IoCause::Gc]
        + bytes[IoCause::Leveling]
}

pub(super) fn adds_up(scenario: &Scenario, generated: &Generated, report: &Report) {
    let host = &report.host;
    let submitted = match (&scenario.workload, &generated.trace) {
        (WorkloadConfig::Trace(load), Some(rows)) => {
            let copies = u64::from(load.repeat);
            let bad = rows.matches(MALFORMED).count() as u64;
            let trace = report.trace.as_ref().expect("the load is a trace");
            assert_eq!(
                (trace.bad, trace.bad_examples.len() as u64),
                (bad * copies, bad),
                "malformed rows are counted"
            );
            let rows = (rows.lines().count() as u64 - bad) * copies;
            assert_eq!((trace.rows, &trace.skipped, &trace.repaired), (rows, &vec![], &vec![]));
            rows
        }
        (WorkloadConfig::Synthetic(SyntheticConfig { limit: Limit::Requests(requests), .. }), None)
        | (WorkloadConfig::Streams(StreamsConfig { limit: Limit::Requests(requests), .. }), None) => {
            *requests
        }
        _ => unreachable!("a trace has rows, and the swarm counts requests"),
    };
    let warmup = match &scenario.workload {
        WorkloadConfig::Synthetic(load) => load.warmup,
        WorkloadConfig::Streams(load) => load.warmup,
        WorkloadConfig::Trace(trace) => trace.warmup,
    };
    let Limit::Requests(warmup) = warmup else { unreachable!("the swarm counts requests") };
    assert_eq!(host.requests, submitted - warmup, "every request after the warm-up completes exactly once");
    let by_kind = host.read_requests + host.write_requests + host.trim_requests;
    assert_eq!(by_kind, host.requests, "reads, writes and trims are all there is");

    let response = &host.response_ns;
    assert_eq!(response.all.count, host.requests);
    assert_eq!((response.read.count, response.write.count), (host.read_requests, host.write_requests));
    for (what, summary) in [
        ("all", &response.all),
        ("read", &response.read),
        ("write", &response.write),
        ("gc-affected reads", &response.gc_affected_read),
        ("gc-affected writes", &response.gc_affected_write),
        ("reads that met collection", &response.met_gc_read),
        ("writes that met collection", &response.met_gc_write),
    ] {
        ordered(what, summary);
    }
    assert!(response.gc_affected_read.count <= response.read.count, "affected reads are reads");
    assert!(response.gc_affected_write.count <= response.write.count, "affected writes are writes");
    let summed = response.all.mean.unwrap_or(0.0) * response.all.count as f64;
    let blamed = host.blame_ns.total() as f64;
    assert!((summed - blamed).abs() <= 1e-9 * blamed.max(1.0), "blame {blamed} of {summed}");
    assert!(host.response_cdf.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
    assert!(host.response_cdf.last().is_none_or(|last| (last.1 - 1.0).abs() < 1e-9), "the CDF ends at 1");

    let array = &report.array;
    array.replacements.iter().for_each(|of| replacements_add_up(scenario, of));
    let copies = array.redundancy.map_or(0, |redundancy| redundancy.copy_pages_written);
    let shares = &array.devices_in_gc_fraction;
    assert_eq!(shares.len(), usize::from(scenario.array.devices) + 1);
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "shares of GC sum to 1: {shares:?}");
    let bytes = &array.flash_bytes;
    let page = scenario.array.page_size();
    let own = (bytes[IoCause::Log] + bytes[IoCause::Background]) / page;
    let moved = array.gc_pages_moved + array.leveled_pages_moved;
    let others = array.host_pages_written + copies + moved + array.parity_pages_written + own;
    let map = array.flash_pages_programmed.checked_sub(others);
    is_of_map(map.expect("programs are the sum over causes") * page, bytes);
    let all = for_the_host(bytes);
    assert_eq!(array.flash_bytes_programmed, all, "{bytes:?}");
    assert_eq!(array.flash_pages_programmed * page, all + bytes[IoCause::Background], "{bytes:?}");
    let ratio = array.flash_bytes_programmed as f64 / array.host_bytes_written as f64;
    assert_eq!(array.write_amplification, (array.host_bytes_written > 0).then_some(ratio));
    let of_warmup =
        array.host_bytes_written.checked_sub(host.bytes_written).expect("what is measured counts");
    assert!(warmup > 0 || of_warmup == 0, "{of_warmup} bytes of no warm-up");
    let drives: u64 = report.devices.iter().map(|device| device.flash_bytes_programmed).sum();
    assert_eq!(drives, all + bytes[IoCause::Background], "of all drives");
    for device in &report.devices {
        let ratio = device.flash_bytes_programmed as f64 / device.host_bytes_written as f64;
        assert_eq!(device.write_amplification, (device.host_bytes_written > 0).then_some(ratio));
    }
    let waited: u64 = report.devices.iter().map(|device| device.gc_waits.requests).sum();
    let waits: u128 = report.devices.iter().map(|device| device.gc_waits.ns).sum();
    assert!(waited <= host.requests, "a request waits longest for one member: {waited}");
    assert!(waits <= host.blame_ns.queue_gc, "{waits} ns are part of what blame has");
    assert_eq!(waited > 0, host.blame_ns.queue_gc > 0, "who waited for collection waited for somebody");
    let (mut erased_in_all, mut pages_in_all) = (0, 0);
    // Pages left unwritten are erased, too.
    let skipped = |inside: &InsideReport| inside.pairing.map_or(0, |pairing| pairing.writes.skipped);
    let mut sums = [0; 3];
    for (device, member) in report.devices.iter().zip(&scenario.array.members) {
        let shape = member.ssd.resolve().expect("it ran");
        assert_eq!(device.erases, device.gc_victims, "only collecting erases");
        let erased = device.erases * u64::from(shape.data_pages);
        let pages = u64::from(shape.units() * shape.blocks_per_unit * shape.data_pages);
        // How much parity each of them wrote is not in the report.
        if scenario.array.level.parities() == 0 {
            let map = device.flash_bytes[IoCause::Map];
            let written = device.host_pages_written + moved_by(device) + skipped(&device.inside) + map / page;
            // What programs of the map lack is not in the report by itself.
            let packs = map > 0 && shape.packing.packs();
            assert!(
                packs || written.abs_diff(erased) <= pages,
                "{written} written and {erased} erased of {pages} pages"
            );
        }
        erased_in_all += erased;
        pages_in_all += pages;
        let wear = &device.wear;
        assert!(wear.min as f64 <= wear.mean && wear.mean <= wear.max as f64, "{wear:?}");
        let erases = wear.mean * f64::from(shape.units() * shape.blocks_per_unit);
        assert!(erases + 1e-6 >= device.erases as f64, "{erases} erases in all, {} measured", device.erases);
        assert!(device.plane_utilisation_in_gc.is_none_or(|share| (0.0..=1.0).contains(&share)));
        life_adds_up(device, &member.ssd);
        let ideal = member.ssd.gc.schedule.policy == "ideal";
        assert!(!ideal || device.gc_busy_ns == 0, "ideal collection takes no time");
        for (sum, part) in sums.iter_mut().zip([device.erases, moved_by(device), device.host_pages_written]) {
            *sum += part;
        }
    }
    // Spares take the places of members that wear out, and a journal collects, too.
    let others = scenario.array.faults.spares.iter().chain(&scenario.array.faults.journal);
    for (device, other) in report.devices.iter().skip(scenario.array.members.len()).zip(others) {
        let shape = other.ssd.resolve().expect("it ran");
        erased_in_all += device.erases * u64::from(shape.data_pages);
        pages_in_all += u64::from(shape.units() * shape.blocks_per_unit * shape.data_pages);
        for (sum, part) in sums.iter_mut().zip([device.erases, moved_by(device), device.host_pages_written]) {
            *sum += part;
        }
    }
    let written = array.flash_pages_programmed + skipped(&array.inside);
    assert!(written.abs_diff(erased_in_all) <= pages_in_all, "{written} written and {erased_in_all} erased");
    parity_adds_up(scenario, array, warmup == 0);
    assert_eq!(sums, [array.erases, moved, array.host_pages_written + copies + own], "sums over devices");
    // A member that is kept free so that it can collect is waited for even where that takes no time.
    // So it is under floating stripes where something else is in the way, too.
    let waits = array.coordination.counters.get("waits_several").is_some_and(|&waits| waits > 0);
    let reserves = array.coordination.policy == "serial" || (waits && scenario.array.layout().is_floating());
    if !reserves && scenario.array.members.iter().all(|member| member.ssd.gc.schedule.policy == "ideal") {
        let affected = response.gc_affected_read.count + response.gc_affected_write.count;
        assert_eq!(affected, 0, "under ideal nobody waits for collection");
        // A trim of what a reserved member has waits for it: only writes are displaced.
        let trims = array.coordination.policy == "gaftl" && host.trim_requests > 0;
        assert!(trims || host.blame_ns.queue_gc == 0, "under ideal nobody waits for collection");
        assert_eq!(shares[0], 1.0);
    }
    knowledge_adds_up(scenario, array, warmup == 0);
    let counters = &array.coordination.counters;
    let capable = scenario.array.members.iter().filter(|member| member.capable).count() as u64;
    let notices = counters["soft_notices"] + counters["hard_notices"];
    // With status to be asked for as all they have, reads that avoid members have the array ask, whatever the policy.
    let asks = scenario.array.knowledge.interface == Interface::Log && counters["queries"] > 0;
    if asks {
        assert_ne!(scenario.array.knowledge.reads, Reads::Wait, "{counters:?}");
        assert_eq!(counters["queries"] % capable, 0, "all are asked at once: {counters:?}");
    }
    match array.coordination.policy.as_str() {
        "local" if asks => assert_eq!(counters.values().sum::<u64>(), counters["queries"], "{counters:?}"),
        "local" => assert!(counters.values().all(|&count| count == 0), "local sends nothing: {counters:?}"),
        // Who ends at or below soft may be forced again.
        "gcsync" | "gclock" | "serial" | "gaftl" | "ttflash" => {
            assert_eq!(counters["queries"], 0, "{counters:?}")
        }
        // Directives answer notices, or a period of idleness; a notice of the warm-up may be answered after it.
        policy => {
            let count = |name| counters.get(name).copied().unwrap_or(0);
            let answers = counters["forced"] - count("forced_in_idle") - count("forced_when_quiet");
            assert!(answers <= (notices + capable) * capable, "{counters:?}");
            assert!(count("forced_in_idle") <= count("idle_periods") * capable, "{counters:?}");
            assert!(count("forced_when_quiet") <= count("quiet_collections") * capable, "{counters:?}");
            if policy == "proactive-soft-limit" {
                assert_eq!(counters["queries"], count("polls") * capable, "{counters:?}");
            }
        }
    }
}

/// Of every row of a stripe that is written, all parity units are, and at least one data unit.
pub(super) fn parity_adds_up(scenario: &Scenario, array: &ArrayReport, is_whole: bool) {
    let parities = u64::from(scenario.array.level.parities());
    let (parity, host) = (array.parity_pages_written, array.host_pages_written);
    if parities == 0 {
        assert_eq!(parity, 0, "no level without parity writes any");
    } else if is_whole {
        let data_units = u64::from(scenario.array.devices) - parities;
        // Pages that NVRAM held last, or that were overwritten there, were never programmed. The same goes for the caches of drives,
        // which may hold pages when the last request is answered.
        let nvram = array.nvram.unwrap_or_default();
        let cache = array.inside.write_cache.unwrap_or_default();
        let held = cache.admitted_pages.saturating_sub(parity + host);
        // Members that wear out take no more, parity or not.
        let lost = array.failures.as_ref().map_or(0, |failures| failures.lost.unwritten_pages);
        let kept = nvram.parked_pages - nvram.destaged_pages;
        let unwritten = kept + cache.absorbed_pages + cache.trimmed_pages + held + lost;
        // Where units lie away from home each has parity there, in its row without it, and in its row when it is home again.
        let displaces = array.coordination.policy == "gaftl";
        let times = if displaces { 3 } else { 1 };
        let moves = array.coordination.counters.get("migration_writes").copied().unwrap_or(0);
        let most = times * parities * (host + unwritten) + moves;
        assert_eq!(array.bounds.is_some(), displaces, "who goes around members promises how");
        // Where stripes float, a discard of a part of a row writes parity without it.
        let discards = scenario.array.layout().is_floating();
        let bounds = array.bounds.unwrap_or_default();
        assert!(bounds.reached + bounds.exceeded <= bounds.promised, "{bounds:?}");
        assert!(!discards || bounds.exceeded == 0, "floating stripes keep to the paper's counts: {bounds:?}");
        assert!(discards || parity <= most, "{parity} pages of parity for {host} of data");
        // Rows of members that have worn out are without their parity.
        let has_failed = array.failures.as_ref().is_some_and(|failures| !failures.events.is_empty());
        assert!(
            has_failed || (parity + unwritten) * data_units >= parities * host,
            "{parity} pages of parity for {host} of data"
        );
    }
}

/// NVRAM keeps its cap, reads go around members only where data is kept more than once, and nobody uses what members hide.
pub(super) fn knowledge_adds_up(scenario: &Scenario, array: &ArrayReport, is_whole: bool) {
    let knowledge = &scenario.array.knowledge;
    let offered = Interface::ALL.map(Interface::name);
    let needed = offered.iter().position(|rung| *rung == array.coordination.interface);
    assert!(needed.is_some_and(|needed| needed <= knowledge.interface as usize), "{:?}", array.coordination);
    let nvram = array.nvram.unwrap_or_default();
    assert_eq!((array.nvram.is_some(), nvram.size_bytes), (knowledge.nvram > 0, knowledge.nvram));
    assert!(nvram.high_water_bytes <= knowledge.nvram, "NVRAM above its cap: {nvram:?}");
    let parked = nvram.parked_pages * scenario.array.page_size();
    assert!(!is_whole || nvram.high_water_bytes <= parked, "more held than parked: {nvram:?}");
    let gone = nvram.destaged_pages + nvram.superseded_pages;
    assert!(!is_whole || gone <= nvram.parked_pages, "pages leave once: {nvram:?}");
    let reads = array.reconstruct.unwrap_or_default();
    assert!(reads.hedges_won <= reads.hedges, "{reads:?}");
    if scenario.array.level.redundancy(scenario.array.devices) == 0 {
        assert_eq!(
            (reads.rebuilt_pages, reads.extra_pages, reads.hedges),
            (0, 0, 0),
            "there is no other way"
        );
    }
}

pub(super) fn ordered(what: &str, summary: &DistributionSummary) {
    let percentiles = [summary.p50, summary.p75, summary.p95, summary.p99, summary.p999, summary.p9999];
    let mut steps: Vec<u64> = percentiles.iter().flatten().copied().collect();
    if let (Some(min), Some(mean), Some(max)) = (summary.min, summary.mean, summary.max) {
        assert!(min as f64 <= mean && mean <= max as f64, "{what}: mean {mean} of {min}..{max}");
        steps.insert(0, min);
        steps.push(max);
    } else {
        assert_eq!(summary.count, 0, "{what}: samples without moments");
    }
    assert!(steps.is_sorted(), "{what}: percentiles {steps:?}");
}
