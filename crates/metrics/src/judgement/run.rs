//! What makes the figures of one run say less than they seem to.

use crate::failures::{Happening, LossReport, RebuildReport};
use crate::feasibility::{FeasibilityReport, MeasuredIn};
use crate::report::Report;
use crate::trace;
use crate::warning::Warning;

/// Requests arrive faster than they are served.
pub const OVERLOAD: &str = "overload";
/// Too few requests were measured.
pub const FEW_REQUESTS: &str = "few-requests";
/// SSDs collected too seldom to judge a policy by.
pub const FEW_COLLECTIONS: &str = "few-collections";
/// The window is shorter than the time between two collections.
pub const SHORT_WINDOW: &str = "window-shorter-than-cycle";
/// Nothing was collected at all.
pub const NO_COLLECTION: &str = "no-collection";
/// The array was far from settled when the window began.
pub const NOT_SETTLED: &str = "not-settled";
/// The array was not quite settled, or that is not known.
pub const STILL_SETTLING: &str = "still-settling";
/// All requests arrived at the same moment.
pub const ALL_AT_ONCE: &str = "all-at-once";

/// Members that are to collect in turn need more time than there is.
pub const CANNOT_KEEP_UP: &str = "cannot-keep-up";
/// Too many members failed at once, or could not read what others were to be rebuilt from.
pub const DATA_LOST: &str = "data-lost";
/// A replacement was not complete when the run ended.
pub const REBUILD_UNFINISHED: &str = "rebuild-unfinished";
/// Not all was gone through after a loss of power when the run ended.
pub const RESYNC_UNFINISHED: &str = "resync-unfinished";
/// The array did not start again after a loss of power.
pub const NOT_STARTED: &str = "array-not-started";
/// Something was to befall a member after the end of the run.
pub const FAILURE_NOT_REACHED: &str = "failure-not-reached";
/// Write caches of scaled drives took in most of what a trace rewrites.
pub const FOLDED_INTO_CACHE: &str = "folded-into-cache";

/// Much of the response time went to pages of the map that were not in memory.
pub const MAP_WAIT: &str = "map-wait";

/// Whether a run with this warning can win nothing.
pub fn voids(code: &str) -> bool {
    [NOT_STARTED, OVERLOAD, FEW_REQUESTS, FEW_COLLECTIONS, SHORT_WINDOW, NOT_SETTLED, ALL_AT_ONCE]
        .contains(&code)
}

/// Fewer requests than this have no 99th percentile, and hardly a mean.
const REQUESTS_MIN: u64 = 1_000;
/// Fewer collections of each SSD than this are few events to judge by.
pub const EVENTS_MIN: f64 = 10.0;
/// With fewer there is no time between collections within the window.
const EVENTS_A_CYCLE: f64 = 2.0;
/// From this difference between the last two windows of ageing on an array is far from settled.
const UNSETTLED: f64 = 0.1;
/// From this growth of the response from the first to the last quarter on, a queue grows throughout.
const GROWTH: f64 = 3.0;
/// So many pairs of batches must rise for that, as a share.
const RISING: f64 = 0.75;
/// With more than this share of all requests waiting at once, on average, the figures are those of a queue being emptied.
const WAITING: f64 = 0.05;
/// Fewer batches than this show no growth.
const BATCHES_MIN: usize = 8;

/// All there is to say of a run; most serious first.
pub fn of_run(run: &Report) -> Vec<Warning> {
    let all = [
        (NOT_STARTED, not_started(run)),
        (DATA_LOST, data_lost(run)),
        (ALL_AT_ONCE, all_at_once(run)),
        (OVERLOAD, overload(run)),
        (FEW_REQUESTS, few_requests(run)),
        (NO_COLLECTION, no_collection(run)),
        (SHORT_WINDOW, short_window(run)),
        (FEW_COLLECTIONS, few_collections(run)),
        (NOT_SETTLED, not_settled(run)),
        (STILL_SETTLING, still_settling(run)),
        (CANNOT_KEEP_UP, cannot_keep_up(run)),
        (REBUILD_UNFINISHED, rebuild_unfinished(run)),
        (RESYNC_UNFINISHED, resync_unfinished(run)),
        (FAILURE_NOT_REACHED, failure_not_reached(run)),
        (FOLDED_INTO_CACHE, folded_into_cache(run)),
        (MAP_WAIT, map_wait(run)),
    ];
    let warning = |(code, text): (&str, Option<String>)| Some(Warning::new(code, text?));
    let of_trace =
        run.trace.as_ref().map(|trace| trace::warnings(trace, run.is_scaled())).unwrap_or_default();
    all.into_iter().filter_map(warning).chain(of_trace).collect()
}

/// Milliseconds with as many digits as matter.
fn ms(ns: f64) -> String {
    let ms = ns / 1e6;
    match ms {
        ms if ms >= 100.0 => format!("{ms:.0} ms"),
        ms if ms >= 10.0 => format!("{ms:.1} ms"),
        ms if ms >= 1.0 => format!("{ms:.2} ms"),
        ms => format!("{ms:.3} ms"),
    }
}

fn all_at_once(run: &Report) -> Option<String> {
    (run.host.arrivals_ns == Some(0) && run.host.requests > 1).then(|| {
        "all requests arrive at the same moment, so response times only say how long it takes to serve them all. A trace \
         without times needs a closed loop (workload.replay = \"closed\")"
            .to_owned()
    })
}

/// Growth throughout, or a backlog that is a part of the whole load. A closed loop waits and cannot be overloaded.
fn overload(run: &Report) -> Option<String> {
    let arrivals_ns = run.host.arrivals_ns.filter(|&arrivals_ns| arrivals_ns > 0)?;
    let mean = run.host.response_ns.all.mean.filter(|_| run.host.requests >= REQUESTS_MIN)?;
    let advice = format!(
        "Its response times mean nothing, because they grow with the length of the run. {}",
        remedy(run)
    );
    if let Some((first, last)) = growth(&run.host.batches.mean) {
        return Some(format!(
            "the array does not keep up with the load. The mean response grew from {} in the first quarter of the requests to {} \
             in the last. {advice}",
            ms(first),
            ms(last)
        ));
    }
    let waiting = mean / arrivals_ns as f64;
    (waiting > WAITING).then(|| {
        format!(
            "the array does not keep up with the load. All requests arrive within {}, but wait so long that the mean response is {}. {advice}",
            ms(arrivals_ns as f64),
            ms(mean)
        )
    })
}

/// Of the rate that an overloaded array serves, what it serves without long queues.
const HEADROOM: f64 = 0.8;

/// What lowers the load, by the key that it has.
fn remedy(run: &Report) -> String {
    if let Some(trace) = &run.trace {
        return match trace.time_scale {
            Some(scale) if scale < 1.0 => format!(
                "The trace is replayed faster than it was recorded. Try a larger workload.time_scale (now {scale}), until this \
                 warning is gone"
            ),
            scale => format!(
                "Try a larger workload.time_scale (now {}), until this warning is gone",
                scale.unwrap_or(1.0)
            ),
        };
    }
    let has_rate = run.scenario.pointer("/workload/arrival/rate").is_some();
    match run.served_requests().and_then(sustained_rate).filter(|_| has_rate) {
        Some(rate) => {
            format!(
                "One run does not tell the largest rate that the array keeps up with. Try \
                 --set workload.arrival.rate={rate} (about {:.0}% of what it serves), then less, until this warning is gone",
                HEADROOM * 100.0
            )
        }
        None => "Try a lower arrival rate, until this warning is gone".to_owned(),
    }
}

/// What an array that cannot keep up may be offered, where it serves so many requests a second: four fifths of it, rounded down to
/// two digits. `None` below one. Unit: requests a second.
pub fn sustained_rate(served: f64) -> Option<u64> {
    let sustained = (HEADROOM * served) as u64;
    let unit = 10_u64.pow(sustained.checked_ilog10()?.saturating_sub(1));
    Some(sustained / unit * unit)
}

/// Means of the first and of the last quarter, if the one rises to the other throughout.
fn growth(batches: &[f64]) -> Option<(f64, f64)> {
    let n = batches.len();
    if n < BATCHES_MIN {
        return None;
    }
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (mean(&batches[..n / 4]), mean(&batches[n - n / 4..]));
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let rising = pairs.filter(|&(i, j)| batches[j] > batches[i]).count() as f64 / (n * (n - 1) / 2) as f64;
    (last >= GROWTH * first && rising >= RISING).then_some((first, last))
}

fn few_requests(run: &Report) -> Option<String> {
    let requests = run.host.requests;
    (requests < REQUESTS_MIN).then(|| {
        format!(
            "only {requests} requests were measured. That is too few for a p99, and even the mean is rough"
        )
    })
}

/// Collections of an SSD in the window, on average; `None` where collecting takes no time, or nobody counted.
pub fn events(run: &Report) -> Option<f64> {
    let counted = run.devices.iter().map(|device| device.gc_events).sum::<u64>();
    let unknown = counted == 0 && run.array.erases > 0;
    (!run.is_ideal() && !unknown && !run.devices.is_empty()).then(|| counted as f64 / run.members() as f64)
}

fn no_collection(run: &Report) -> Option<String> {
    (events(run)? == 0.0)
        .then(|| "no garbage was collected. The load is too short or too light to need it".to_owned())
}

fn short_window(run: &Report) -> Option<String> {
    let events = events(run)?;
    (0.0 < events && events < EVENTS_A_CYCLE).then(|| {
        format!(
            "the run of {:.1} s is shorter than the time between two collections of an SSD. Each collected {events:.1} times \
             on average, and whether one falls into the run is chance. Lengthen the load (workload.requests, \
             workload.repeat)",
            run.simulated_ns as f64 / 1e9
        )
    })
}

fn few_collections(run: &Report) -> Option<String> {
    let events = events(run)?;
    (EVENTS_A_CYCLE..EVENTS_MIN).contains(&events).then(|| {
        format!(
            "each SSD collected only {events:.1} times on average, too few to judge a policy. It takes at least \
             {EVENTS_MIN:.0} collections. Lengthen the load (workload.requests, workload.repeat)"
        )
    })
}

/// By what share the write amplification of the last two windows of ageing differs.
fn drift(run: &Report) -> Option<(f64, f64, f64)> {
    let [Some(older), Some(newer)] = run.precondition.write_amplification_windows else { return None };
    (!run.precondition.steady).then(|| (older, newer, (newer / older - 1.0).abs()))
}

fn not_settled(run: &Report) -> Option<String> {
    let (older, newer, drift) = drift(run).filter(|&(_, _, drift)| drift >= UNSETTLED)?;
    Some(format!(
        "the array was far from settled when the run began. Write amplification went from {older:.2} to {newer:.2} \
         ({:.0}%) in the last two windows of ageing. Raise precondition.overwrite (now {})",
        drift * 100.0,
        run.precondition.overwrite
    ))
}

fn still_settling(run: &Report) -> Option<String> {
    let precondition = &run.precondition;
    match drift(run) {
        Some((older, newer, drift)) if drift < UNSETTLED => Some(format!(
            "the array was still settling when the run began. Write amplification went from {older:.2} to {newer:.2} in the \
             last two windows of ageing. Raise precondition.overwrite (now {})",
            precondition.overwrite
        )),
        Some(_) => None,
        // Who starts with an empty array means it.
        None if precondition.steady || precondition.fill == 0.0 => None,
        None => Some(format!(
            "ageing was too short to tell whether the array had settled (precondition.fill {}, precondition.overwrite {}). A \
             drive in use may behave otherwise",
            precondition.fill, precondition.overwrite
        )),
    }
}

/// What the host could not read or write, and what was not rebuilt.
fn data_lost(run: &Report) -> Option<String> {
    let lost = run.array.failures.as_ref()?.lost;
    let LossReport { unread_pages, unwritten_pages, lost_pages } = lost;
    let parts = [
        (unread_pages, "could not be read"),
        (unwritten_pages, "could not be written"),
        (lost_pages, "could not be rebuilt"),
    ];
    let told = parts.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, what)| format!("{} {what}", pages(*count))).collect();
    (lost.pages() > 0).then(|| {
        format!(
            "data was lost: {}. Requests for it were answered without it, so response times are those of an array that \
             does less than it was asked",
            told.join(", ")
        )
    })
}

fn pages(count: u64) -> String {
    if count == 1 { "1 page".to_owned() } else { format!("{count} pages") }
}

fn rebuild_unfinished(run: &Report) -> Option<String> {
    let failures = run.array.failures.as_ref()?;
    let is_partial = |work: &RebuildReport| work.share < 1.0;
    if let Some(told) = incomplete(failures) {
        return Some(told);
    }
    let rebuild = failures.rebuild.filter(is_partial).map(|rebuild| ("rebuilding", rebuild));
    // A copy that ended with its member's failure is a rebuild.
    let copy = || failures.copy.filter(is_partial).map(|copy| ("copying", copy));
    let (what, rebuild) = rebuild.or_else(|| copy().filter(|_| failures.rebuild.is_none()))?;
    Some(format!(
        "{what} was not over when the run ended: {:.1}% of it was done after {:.1} s. Lengthen the load \
         (workload.requests), or raise array.rebuild.min_rate",
        rebuild.share * 100.0,
        rebuild.work.seconds
    ))
}

/// What could not be rebuilt on other SSDs, if that was the last that was rebuilt.
fn incomplete(failures: &crate::failures::FailuresReport) -> Option<String> {
    let is_of_rebuild = |what: &Happening| {
        use Happening::{Distributed, Incomplete, Rebuilt, Replaced, StoodIn};
        matches!(what, Distributed | Incomplete { .. } | Rebuilt | Replaced { .. } | StoodIn { .. })
    };
    let last = failures.events.iter().rfind(|event| is_of_rebuild(&event.what))?;
    let (Happening::Incomplete { bytes }, Some(ssd)) = (last.what, last.device) else { return None };
    Some(format!(
        "{:.1} MB of SSD {ssd} could not be rebuilt on the other SSDs: they have no room for it, or too much is missing. A spare avoids that \
         (array.spares), or with one failure array.coordination.thin = false",
        bytes as f64 / 1e6
    ))
}

fn resync_unfinished(run: &Report) -> Option<String> {
    let resync = run.array.failures.as_ref()?.resync.filter(|resync| resync.share < 1.0)?;
    Some(format!(
        "the resync after a loss of power was not over when the run ended: {:.1}% of it was done after {:.1} s. Until it is, a \
         failure takes data with it. Lengthen the load (workload.requests), or raise array.rebuild.min_rate",
        resync.share * 100.0,
        resync.work.seconds
    ))
}

fn not_started(run: &Report) -> Option<String> {
    let refused = |event: &&crate::failures::FailureEvent| event.what == Happening::Refused;
    let event = run.array.failures.as_ref()?.events.iter().find(refused)?;
    Some(format!(
        "the array did not start again at {:.3} s: power was lost while an SSD was missing, and writes were under way or not \
         yet flushed, so parity may be wrong. Requests from then on were answered at once without their data, and no figure of them means anything",
        event.at_s
    ))
}

fn failure_not_reached(run: &Report) -> Option<String> {
    let not_reached = run.array.failures.as_ref()?.not_reached;
    let (what, lie) = if not_reached == 1 { ("a failure", "lies") } else { ("failures", "lie") };
    (not_reached > 0).then(|| {
        format!("{what} of the scenario {lie} after the end of the run, so nothing happened. Lengthen the load, or let it happen earlier (array.failure, array.power_loss)")
    })
}

/// A share of absorbed pages above which a full drive may absorb far fewer.
const MOSTLY: f64 = 0.5;

/// A trace that is folded onto small drives rewrites a page sooner, while it is still in the cache.
fn folded_into_cache(run: &Report) -> Option<String> {
    let scale = run
        .scenario
        .pointer("/ssd/scale")
        .and_then(serde_json::Value::as_str)
        .filter(|scale| *scale != "1")?;
    let cache = run.array.inside.write_cache.as_ref().filter(|_| run.trace.is_some())?;
    let share = cache.absorbed_pages as f64 / (cache.absorbed_pages + cache.admitted_pages).max(1) as f64;
    (share > MOSTLY).then(|| {
        format!(
            "{:.0}% of the pages written to the drives replaced one that was still in the write cache. On full drives it may be \
             fewer, and write amplification higher, because a trace that is folded onto scaled drives rewrites its pages sooner. \
             Try a larger ssd.scale (now {scale})",
            share * 100.0
        )
    })
}

/// A share of the response time above which waiting for the map hides what collection does.
const MUCH: f64 = 0.05;

/// What dies collected for others that waited for memory first is not told apart.
fn map_wait(run: &Report) -> Option<String> {
    let blame = &run.host.blame_ns;
    let share = blame.map_wait as f64 / blame.total().max(1) as f64;
    (share > MUCH).then(|| {
        format!(
            "{:.0}% of the response time was waiting for pages of the map. Where several wait for room in memory, collection that held up \
             those before is part of that, and not of waiting behind garbage collection. Compare with `ideal` to see what collection \
             costs, or raise ssd.ftl.mapping_cache",
            share * 100.0
        )
    })
}

/// A scheme that keeps members apart and has too little time for that.
fn cannot_keep_up(run: &Report) -> Option<String> {
    let FeasibilityReport { load, at_once, measured_in } = run.array.feasibility?;
    let place = match measured_in {
        MeasuredIn::Warmup => "the warm-up",
        MeasuredIn::Window => "the measured window, because the warm-up had too few collections to say",
    };
    let may = match at_once {
        1 => "one member may collect at a time".to_owned(),
        several => format!("{several} members may collect at a time"),
    };
    (load > 1.0).then(|| {
        format!(
            "{may}, and all members together need {load:.2} times the time which that leaves them. So some collect out of turn. \
             This was measured in {place}. More spare (ssd.ftl.reserved_blocks), fewer writes or a policy that lets members \
             collect together would help"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceReport;
    use crate::failures::{BackgroundReport, FailuresReport, ResyncReport};
    use harmonia_types::WriteCacheCounters;

    /// A sound run: 10,000 requests of 1 ms in 100 s, 50 collections of each of two SSDs, a steady array.
    fn sound() -> Report {
        let mut run = crate::report::tests::blank("local", 1);
        run.simulated_ns = 100_000_000_000;
        run.host.requests = 10_000;
        run.host.arrivals_ns = Some(100_000_000_000);
        run.host.response_ns.all.mean = Some(1e6);
        run.host.batches.mean = vec![1e6; 40];
        run.array.erases = 100;
        run.devices = vec![DeviceReport { gc_events: 50, ..DeviceReport::default() }; 2];
        run.precondition.steady = true;
        run.precondition.fill = 1.0;
        run.precondition.overwrite = 3.0;
        run.precondition.write_amplification_windows = [Some(4.0), Some(4.02)];
        run
    }

    #[test]
    fn much_waiting_for_the_map_is_told() {
        let told = |map_wait: u128| {
            let mut run = sound();
            (run.host.blame_ns.service, run.host.blame_ns.map_wait) = (1_000 - map_wait, map_wait);
            super::map_wait(&run)
        };
        assert_eq!((told(0), told(50)), (None, None), "a twentieth");
        let text = told(600).expect("most of it");
        assert!(text.starts_with("60% of the response time was waiting for pages of the map."), "{text}");
    }

    #[test]
    fn a_trace_that_fits_into_the_caches_of_scaled_drives_is_told() {
        let told = |absorbed_pages: u64, scale: &str, is_trace: bool| {
            let mut run = sound();
            run.scenario = serde_json::json!({"ssd": {"scale": scale}});
            run.trace = is_trace.then(crate::TraceReport::default);
            run.array.inside.write_cache = Some(WriteCacheCounters {
                absorbed_pages,
                admitted_pages: 100,
                ..WriteCacheCounters::default()
            });
            folded_into_cache(&run)
        };
        assert_eq!(told(100, "1/16", true), None, "half of them");
        assert_eq!(
            (told(900, "1", true), told(900, "1/16", false)),
            (None, None),
            "full drives; a generated load"
        );
        let text = told(900, "1/16", true).expect("nine of ten");
        assert!(text.starts_with("90% of the pages written") && text.ends_with("(now 1/16)"), "{text}");
    }

    #[test]
    fn ageing_that_says_nothing_is_named_unless_the_array_is_meant_to_be_empty() {
        let told = |change: &dyn Fn(&mut Report)| {
            let mut run = sound();
            run.precondition.write_amplification_windows = [None, None];
            change(&mut run);
            still_settling(&run)
        };
        assert_eq!(told(&|_| {}), None, "it is known to be steady");
        assert_eq!(told(&|run| (run.precondition.steady, run.precondition.fill) = (false, 0.0)), None);
        assert!(told(&|run| run.precondition.steady = false).expect("told").contains("too short"));
    }

    #[test]
    fn lost_data_is_named_by_what_became_of_it() {
        let lost = |unread_pages, unwritten_pages, lost_pages| {
            let mut run = sound();
            let lost = LossReport { unread_pages, unwritten_pages, lost_pages };
            run.array.failures = Some(FailuresReport { lost, ..FailuresReport::default() });
            data_lost(&run)
        };
        assert_eq!((lost(0, 0, 0), data_lost(&sound())), (None, None));
        let told = lost(1, 0, 7).expect("told");
        assert!(
            told.starts_with("data was lost: 1 page could not be read, 7 pages could not be rebuilt."),
            "{told}"
        );
    }

    fn codes(change: impl Fn(&mut Report)) -> Vec<String> {
        let mut run = sound();
        change(&mut run);
        of_run(&run).into_iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn a_sound_run_has_no_warnings() {
        assert_eq!(codes(|_| ()), [""; 0]);
    }

    #[test]
    fn a_queue_that_grows_throughout_is_overload() {
        let grows = |run: &mut Report| run.host.batches.mean = (1..=40).map(|k| k as f64 * 1e6).collect();
        assert_eq!(codes(grows), [OVERLOAD]);
        let closed = |run: &mut Report| {
            grows(run);
            run.host.arrivals_ns = None;
        };
        assert_eq!(codes(closed), [""; 0], "a closed loop waits");
        let bursts = |run: &mut Report| {
            run.host.batches.mean = (0..40).map(|k| if k % 4 == 3 { 9e6 } else { 1e6 }).collect();
        };
        assert_eq!(codes(bursts), [""; 0], "bursts come and go");
        let once = |run: &mut Report| run.host.batches.mean[30..].fill(9e6);
        assert_eq!(codes(once), [""; 0], "a step is no growth throughout");
        // 5% of 100 s.
        let waits = |mean: f64| codes(move |run| run.host.response_ns.all.mean = Some(mean));
        assert_eq!((waits(5.1e9), waits(4.9e9)), (vec![OVERLOAD.to_owned()], vec![]));
    }

    /// The remedy names the key that this load has, and a rate that the array served.
    #[test]
    fn an_overload_names_the_key_that_lowers_its_load() {
        let told = |scenario: serde_json::Value, trace: Option<f64>| {
            let mut run = sound();
            run.host.batches.mean = (1..=40).map(|k| k as f64 * 1e6).collect();
            run.scenario = scenario;
            run.trace =
                trace.map(|scale| crate::TraceReport { time_scale: Some(scale), ..Default::default() });
            overload(&run).expect("an overload")
        };
        let rate = serde_json::json!({"workload": {"arrival": {"rate": 60_000.0}}});
        let next = "Try --set workload.arrival.rate=80 (about 80% of what it serves), then less, until this warning is gone";
        assert!(told(rate, None).ends_with(next));
        let lower = "Try a lower arrival rate, until this warning is gone";
        assert!(told(serde_json::Value::Null, None).ends_with(lower));
        let longer = |scale: f64| {
            format!("Try a larger workload.time_scale (now {scale}), until this warning is gone")
        };
        for scale in [0.5, 2.0] {
            let text = told(serde_json::Value::Null, Some(scale));
            assert!(text.ends_with(&longer(scale)), "{text}");
            assert_eq!(text.contains("faster than it was recorded"), scale < 1.0, "{text}");
        }
        let rates = [67_901.0, 3_721.9, 125.0, 99.9, 1.4, 1.2, 0.0].map(sustained_rate);
        assert_eq!(rates, [Some(54_000), Some(2_900), Some(100), Some(79), Some(1), None, None]);
    }

    #[test]
    fn too_little_of_anything_is_told() {
        assert_eq!(codes(|run| run.host.requests = 999), [FEW_REQUESTS]);
        assert_eq!(codes(|run| run.host.requests = 1_000), [""; 0]);
        assert_eq!(codes(|run| run.host.arrivals_ns = Some(0)), [ALL_AT_ONCE]);
        let events = |first: u64, second: u64| {
            codes(move |run| {
                run.devices[0].gc_events = first;
                run.devices[1].gc_events = second;
                run.array.erases = first + second;
            })
        };
        assert_eq!(events(0, 0), [NO_COLLECTION]);
        assert_eq!(events(1, 2), [SHORT_WINDOW]);
        assert_eq!(events(2, 2), [FEW_COLLECTIONS]);
        assert_eq!(events(10, 9), [FEW_COLLECTIONS]);
        assert_eq!(events(19, 1), [""; 0], "10 on average");
        let ideal = |run: &mut Report| {
            run.scenario = serde_json::json!({"ssd": {"gc": {"schedule": "ideal"}}});
            run.devices.iter_mut().for_each(|device| device.gc_events = 0);
        };
        assert_eq!(codes(ideal), [""; 0], "collecting takes no time");
    }

    #[test]
    fn an_array_that_was_not_settled_is_told() {
        let ageing = |steady: bool, windows: [Option<f64>; 2], fill: f64| {
            codes(move |run| {
                run.precondition.steady = steady;
                run.precondition.write_amplification_windows = windows;
                run.precondition.fill = fill;
            })
        };
        assert_eq!(ageing(false, [Some(4.0), Some(4.1)], 1.0), [STILL_SETTLING]);
        assert_eq!(ageing(false, [Some(4.0), Some(4.4)], 1.0), [NOT_SETTLED]);
        assert_eq!(ageing(false, [None, None], 1.0), [STILL_SETTLING]);
        assert_eq!(ageing(false, [None, None], 0.0), [""; 0], "an empty array is meant to be one");
    }

    #[test]
    fn a_scheme_that_needs_more_time_than_there_is_is_told_by_how_much() {
        let found = |load: f64, measured_in: MeasuredIn| {
            let mut run = sound();
            run.array.feasibility = Some(FeasibilityReport { load, at_once: 1, measured_in });
            of_run(&run)
        };
        assert_eq!(found(1.0, MeasuredIn::Warmup), []);
        let warmup = found(1.4, MeasuredIn::Warmup).remove(0);
        assert_eq!(warmup.code, CANNOT_KEEP_UP);
        assert!(
            warmup.text.contains("1.40 times") && warmup.text.contains("in the warm-up."),
            "{}",
            warmup.text
        );
        assert!(found(1.4, MeasuredIn::Window)[0].text.contains("in the measured window"));
        assert!(!voids(CANNOT_KEEP_UP), "its figures are what it does");
    }

    #[test]
    fn texts_say_the_figures_and_what_to_do() {
        let text = |change: &dyn Fn(&mut Report)| {
            let mut run = sound();
            change(&mut run);
            of_run(&run).remove(0).text
        };
        let grown = text(&|run| run.host.batches.mean = (1..=40).map(|k| k as f64 * 1e6).collect());
        assert!(
            grown.contains("grew from 5.50 ms in the first quarter of the requests to 35.5 ms in the last"),
            "{grown}"
        );
        let few = text(&|run| run.devices.iter_mut().for_each(|device| device.gc_events = 3));
        assert!(few.contains("only 3.0 times") && few.contains("workload.repeat"), "{few}");
    }

    #[test]
    fn what_the_end_of_the_run_cut_off_is_told() {
        let failures = |change: &dyn Fn(&mut FailuresReport)| {
            let mut failures = FailuresReport::default();
            change(&mut failures);
            let mut run = sound();
            run.array.failures = Some(failures);
            of_run(&run).into_iter().map(|warning| (warning.code, warning.text)).collect::<Vec<_>>()
        };
        assert_eq!(failures(&|_| ()), []);
        let resync = |share: f64| {
            let work = BackgroundReport { seconds: 12.0, ..BackgroundReport::default() };
            failures(&move |failures| {
                failures.resync = Some(ResyncReport { share, work, ..ResyncReport::default() });
            })
        };
        assert_eq!(resync(1.0), []);
        let (code, text) = resync(0.999).remove(0);
        assert!(code == RESYNC_UNFINISHED && text.contains("99.9% of it was done after 12.0 s"), "{text}");
        for (count, begins) in [(1, "a failure of the scenario lies"), (2, "failures of the scenario lie")] {
            let (code, text) = failures(&|failures| failures.not_reached = count).remove(0);
            assert!(code == FAILURE_NOT_REACHED && text.starts_with(begins), "{text}");
        }
    }
}
