//! Garbage collection and the host inside a die: pages taken along, host operations let in, commands suspended.
//!
//! A schedule that pairs offers, with each page that garbage collection reads or programs, a place in every sibling
//! plane. Each place is matched by a host operation, or is not for one of four reasons; the five sum to the offers.

use harmonia_types::{
    DeviceCounters, InsideCounters, MappingCacheCounters, Met, MetGc, Pairing, QueueDepth, WriteCacheCounters,
};
use serde::{Deserialize, Serialize};

use crate::device::ratio;

/// The report's `inside` sections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct InsideReport {
    /// Host operations taken along in commands of garbage collection; null where the schedule never does that.
    pub pairing: Option<PairingReport>,
    /// What devices count of it, each a key of its own.
    #[serde(flatten)]
    pub counts: InsideCounters,
    /// Host operations waiting at a die when it began to collect.
    pub queue_depth_at_gc: QueueDepthReport,
    /// Operations that met collection of their die, by the planes that collected; absent if none did, and where planes share
    /// their blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met_gc: Option<MetGcReport>,
    /// What write caches took and gave; absent where no drive has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<WriteCacheCounters>,
    /// What mapping caches found, read and wrote; absent where every drive holds its whole map without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping_cache: Option<MappingCacheCounters>,
}

/// The report's `met_gc`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MetGcReport {
    /// Reads of a plane that collected.
    pub own_reads: MetReport,
    /// Writes to one.
    pub own_writes: MetReport,
    /// Reads that met nothing but collections of sibling planes.
    pub sibling_reads: MetReport,
    /// Such writes.
    pub sibling_writes: MetReport,
}

/// Operations of a device and how long they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MetReport {
    /// How many. Unit: count.
    pub count: u64,
    /// From submission to the device until the end, mean; null if there was none. Unit: ns.
    pub mean_ns: Option<f64>,
}

impl From<Met> for MetReport {
    fn from(met: Met) -> Self {
        MetReport { count: met.count, mean_ns: ratio(met.time.as_ns(), met.count) }
    }
}

impl MetGcReport {
    /// What a device counted; `None` if nothing met collection.
    fn of(counters: &DeviceCounters) -> Option<Self> {
        let MetGc { own_reads, own_writes, sibling_reads, sibling_writes } = counters.met_gc;
        (counters.met_gc != MetGc::default()).then(|| MetGcReport {
            own_reads: own_reads.into(),
            own_writes: own_writes.into(),
            sibling_reads: sibling_reads.into(),
            sibling_writes: sibling_writes.into(),
        })
    }
}

harmonia_types::counters! {
    /// The report's `pairing`.
    pub struct PairingReport {
        /// Beside pages that garbage collection read.
        pub reads: Pairing;
        /// Beside pages that it programmed.
        pub writes: Pairing;
    }
}

/// Host operations waiting at a die when it began to collect; null without an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueDepthReport {
    /// Mean over events. Unit: operations.
    pub mean: Option<f64>,
    /// Most at any event. Unit: operations.
    pub max: Option<u64>,
}

impl InsideReport {
    /// The report of what was counted in the measured window. `pairs`: whether the schedule takes host operations along.
    pub fn new(counters: &DeviceCounters, pairs: bool) -> Self {
        let DeviceCounters { paired_reads: reads, paired_writes: writes, .. } = *counters;
        let QueueDepth { events, waiting, most } = counters.depth_at_gc;
        InsideReport {
            pairing: pairs.then_some(PairingReport { reads, writes }),
            counts: counters.inside,
            queue_depth_at_gc: QueueDepthReport {
                mean: ratio(waiting, events),
                max: (events > 0).then_some(most),
            },
            met_gc: MetGcReport::of(counters),
            write_cache: Some(counters.write_cache)
                .filter(|counted| *counted != WriteCacheCounters::default()),
            mapping_cache: Some(counters.mapping_cache)
                .filter(|counted| *counted != MappingCacheCounters::default()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use harmonia_types::{Number, SimDuration};

    use super::*;

    /// Every counter of what happens inside a different number, so that a swapped field shows.
    pub(crate) const COUNTED: DeviceCounters = DeviceCounters {
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
            ..Pairing::ZERO
        },
        inside: InsideCounters {
            merged_reads: 11,
            superseded_moves: 12,
            preemptions: 13,
            suspends: 14,
            read_retries: 15,
        },
        depth_at_gc: QueueDepth { events: 16, waiting: 40, most: 17 },
        met_gc: MetGc {
            own_reads: Met { count: 2, time: SimDuration(10) },
            own_writes: Met { count: 2, time: SimDuration(12) },
            sibling_reads: Met { count: 2, time: SimDuration(14) },
            sibling_writes: Met::ZERO,
        },
        write_cache: WriteCacheCounters {
            admitted_pages: 21,
            absorbed_pages: 22,
            high_water_pages: 28,
            ..WriteCacheCounters::ZERO
        },
        mapping_cache: MappingCacheCounters { hits: 31, misses: 32, ..MappingCacheCounters::ZERO },
        ..DeviceCounters::ZERO
    };

    #[test]
    fn each_counter_comes_under_its_key() {
        let report = InsideReport::new(&COUNTED, true);
        let InsideReport { pairing, counts, .. } = report;
        let reads = COUNTED.paired_reads;
        assert_eq!(pairing, Some(PairingReport { reads, writes: COUNTED.paired_writes }));
        assert_eq!(counts, COUNTED.inside);
        assert_eq!(report.write_cache, Some(COUNTED.write_cache));
        assert_eq!(report.mapping_cache, Some(COUNTED.mapping_cache));
        assert_eq!(report.queue_depth_at_gc, QueueDepthReport { mean: Some(2.5), max: Some(17) });
        let met = report.met_gc.expect("some met collection");
        let means =
            [met.own_reads, met.own_writes, met.sibling_reads, met.sibling_writes].map(|met| met.mean_ns);
        assert_eq!(means, [Some(5.0), Some(6.0), Some(7.0), None]);
        assert_eq!((met.own_reads.count, met.sibling_writes.count), (2, 0));
    }

    #[test]
    fn a_schedule_that_never_pairs_and_a_run_without_events_say_so_by_null() {
        let none = InsideReport::new(&DeviceCounters::default(), false);
        assert_eq!((none.pairing, none.queue_depth_at_gc), (None, QueueDepthReport::default()));
        assert_eq!((none.met_gc, none.write_cache), (None, None));
    }
}
