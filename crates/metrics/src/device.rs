//! What one device did, as plain counters, and its section of the report.
//!
//! The device crate keeps its own counters and converts: these know nothing of a device. Warm-up is discarded
//! by keeping the counters as they stand where it ends and reporting [`DeviceCounters::since`].
//!
//! Not measured: reads by cause, counts per die or channel, wear within a window.

use harmonia_types::IoCause;
use serde::{Deserialize, Serialize};

use crate::gc_waits::GcWaitsReport;
use crate::inside::{InsideCounters, InsideReport};
use crate::over_time::OverTimeReport;
use crate::wear::Wear;

/// Running totals of one device; each only ever grows, but for a maximum among [`InsideCounters`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Pages read for the host. Unit: pages.
    pub host_pages_read: u64,
    /// Data pages written by the host: the denominator of write amplification; parity is not among them.
    /// Unit: pages.
    pub host_pages_written: u64,
    /// Flash pages programmed, by cause, indexed by `IoCause as usize`. Unit: pages.
    pub programs: [u64; IoCause::COUNT],
    /// Blocks erased, for whatever reason. Unit: count.
    pub erases: u64,
    /// Victim blocks collected by GC. Unit: count.
    pub gc_victims: u64,
    /// Valid pages moved out of victims. Unit: pages.
    pub gc_pages_moved: u64,
    /// Time in GC, summed over the dies: with d dies up to d times the time that passed. Unit: ns.
    pub gc_busy_ns: u64,
    /// Busy time of planes (read, program, erase, own transfers) within GC, summed over all planes. Unit: ns.
    pub gc_plane_busy_ns: u64,
    /// Pages read because a host write covered them only in part. Unit: pages.
    pub rmw_reads: u64,
    /// Data pages that the victims collected can hold. Unit: pages.
    pub victim_pages: u64,
    /// Valid pages moved out of these victims, those of unfinished ones left out. Unit: pages.
    pub victim_pages_moved: u64,
    /// Collections whose time was foretold as they began; how long they took, and by how much that was wrong, summed.
    pub foretold: u64,
    /// Unit: ns.
    pub foretold_ns: u64,
    /// Unit: ns.
    pub foretold_error_ns: u64,
    /// What garbage collection did with host operations inside the dies.
    pub inside: InsideCounters,
}

/// One entry of the report's `devices`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceReport {
    /// Blocks erased. Unit: count.
    pub erases: u64,
    /// Victim blocks collected by GC. Unit: count.
    pub gc_victims: u64,
    /// Valid pages moved out of victims. Unit: pages.
    pub gc_pages_moved: u64,
    /// Time in GC, summed over the dies. Unit: ns.
    pub gc_busy_ns: u64,
    /// Flash data pages programmed (host, GC and parity) per host data page written; null where none was.
    /// Unit: ratio.
    pub write_amplification: Option<f64>,
    /// Busy plane time / (planes of a die x GC time of the dies), from 0 to 1; null without GC time. Unit:
    /// ratio.
    pub plane_utilisation_in_gc: Option<f64>,
    /// Erase counts over the device's blocks. Unit: count.
    pub wear: Wear,
    /// Data pages written by the host. Unit: pages.
    pub host_pages_written: u64,
    /// Pages read for the host. Unit: pages.
    pub host_pages_read: u64,
    /// Pages of parity written; absent where all members have the same share of parity. Unit: pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_pages_written: Option<u64>,
    /// Collections: times the device, all of its dies together, began to collect. A device of which some die always
    /// collects is counted by how often its dies did on average, or by the victims of each allocation unit. Unit: count.
    #[serde(default)]
    pub gc_events: u64,
    /// Write amplification over whole collection cycles; null without a victim. Unit: ratio.
    #[serde(default)]
    pub write_amplification_whole_cycles: Option<f64>,
    /// What garbage collection did with host operations inside the dies; absent in reports of before it was counted.
    #[serde(default)]
    pub inside: InsideReport,
    /// Channels in GC, empty blocks, queue depth and victims erased over time; absent where nobody asked for it.
    #[serde(default, skip_serializing_if = "OverTimeReport::is_empty")]
    pub over_time: OverTimeReport,
    /// Requests that waited for its garbage collection; zeros in reports of before it was told whom they waited for.
    #[serde(default)]
    pub gc_waits: GcWaitsReport,
    /// How well the device foresees how long it will collect; absent where nobody asked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_estimate: Option<GcEstimateReport>,
    /// It stood by to take the place of a member; absent for members.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spare: bool,
    /// It is the journal of the array; absent for all others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub journal: bool,
    /// The member whose place it took; absent if it took none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<u16>,
}

/// The time left that a device tells as a collection begins, held against the time it then takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct GcEstimateReport {
    /// Collections that were foretold. Unit: count.
    pub events: u64,
    /// How long they took, on average. Unit: ns.
    pub mean_ns: f64,
    /// By how much the estimate was wrong, too long or too short, on average. Unit: ns.
    pub mean_error_ns: f64,
}

impl GcEstimateReport {
    /// What a device counted; `None` if nothing was foretold.
    pub fn of(counters: &DeviceCounters) -> Option<Self> {
        let DeviceCounters { foretold: events, foretold_ns, foretold_error_ns, .. } = *counters;
        let mean = |sum: u64| sum as f64 / events as f64;
        let (mean_ns, mean_error_ns) = (mean(foretold_ns), mean(foretold_error_ns));
        (events > 0).then_some(GcEstimateReport { events, mean_ns, mean_error_ns })
    }
}

impl DeviceCounters {
    /// What was counted after `start`: the measured window, with warm-up discarded.
    ///
    /// # Panics
    /// If a counter is below its value at `start`.
    pub fn since(&self, start: &DeviceCounters) -> DeviceCounters {
        let since = |now: u64, then| now.checked_sub(then).expect("a counter must never run backwards");
        DeviceCounters { inside: self.inside.since(&start.inside), ..self.zip(start, since) }
    }

    /// The counters of several devices, summed; times end at the longest there is.
    pub fn sum<'a>(devices: impl IntoIterator<Item = &'a DeviceCounters>) -> DeviceCounters {
        devices.into_iter().fold(DeviceCounters::default(), |sum, device| DeviceCounters {
            inside: sum.inside.plus(&device.inside),
            ..sum.zip(device, u64::saturating_add)
        })
    }

    /// Combines counter by counter, but for those inside; a literal of all fields, so that none can be forgotten.
    fn zip(&self, other: &DeviceCounters, combine: impl Fn(u64, u64) -> u64) -> DeviceCounters {
        DeviceCounters {
            host_pages_read: combine(self.host_pages_read, other.host_pages_read),
            host_pages_written: combine(self.host_pages_written, other.host_pages_written),
            programs: std::array::from_fn(|cause| combine(self.programs[cause], other.programs[cause])),
            erases: combine(self.erases, other.erases),
            gc_victims: combine(self.gc_victims, other.gc_victims),
            gc_pages_moved: combine(self.gc_pages_moved, other.gc_pages_moved),
            gc_busy_ns: combine(self.gc_busy_ns, other.gc_busy_ns),
            gc_plane_busy_ns: combine(self.gc_plane_busy_ns, other.gc_plane_busy_ns),
            rmw_reads: combine(self.rmw_reads, other.rmw_reads),
            victim_pages: combine(self.victim_pages, other.victim_pages),
            victim_pages_moved: combine(self.victim_pages_moved, other.victim_pages_moved),
            foretold: combine(self.foretold, other.foretold),
            foretold_ns: combine(self.foretold_ns, other.foretold_ns),
            foretold_error_ns: combine(self.foretold_error_ns, other.foretold_error_ns),
            inside: InsideCounters::default(),
        }
    }

    /// Flash pages programmed for `cause`. Unit: pages.
    pub fn programmed(&self, cause: IoCause) -> u64 {
        self.programs[cause as usize]
    }

    /// Flash data pages programmed: host, GC and parity, but not metadata. Unit: pages.
    pub fn data_pages_programmed(&self) -> u64 {
        self.programmed(IoCause::Host) + self.programmed(IoCause::Gc) + self.programmed(IoCause::Parity)
    }

    /// Flash data pages programmed per host data page written; `None` where none was. Unit: ratio.
    pub fn write_amplification(&self) -> Option<f64> {
        ratio(self.data_pages_programmed(), self.host_pages_written)
    }

    /// Write amplification over whole collection cycles: each victim's pages per page that collecting it freed, times the
    /// pages that the array programs for a page of the host (1 without parity). A victim's life is a whole cycle, so it
    /// does not matter where the window cuts, nor whether free blocks were built up in it. `None` without a victim, or
    /// where collecting freed nothing. Unit: ratio.
    pub fn write_amplification_whole_cycles(&self) -> Option<f64> {
        let cycles = ratio(self.victim_pages, self.victim_pages - self.victim_pages_moved)?;
        let own = self.programmed(IoCause::Host) + self.programmed(IoCause::Parity);
        (self.victim_pages > 0).then_some(cycles * ratio(own, self.host_pages_written).unwrap_or(1.0))
    }

    /// Busy plane time / (planes of a die x GC time of the dies); `None` without GC time. Unit: ratio.
    pub fn plane_utilisation_in_gc(&self, planes_per_die: u32) -> Option<f64> {
        utilisation([(self, planes_per_die)])
    }
}

impl DeviceReport {
    /// The report of a device that counted `counters` in the measured window and whose blocks have this
    /// `wear`; without its events, what it did over time and who waited for it, which others watch.
    pub fn new(counters: &DeviceCounters, wear: Wear, planes_per_die: u32) -> Self {
        DeviceReport {
            erases: counters.erases,
            gc_victims: counters.gc_victims,
            gc_pages_moved: counters.gc_pages_moved,
            gc_busy_ns: counters.gc_busy_ns,
            write_amplification: counters.write_amplification(),
            plane_utilisation_in_gc: counters.plane_utilisation_in_gc(planes_per_die),
            wear,
            host_pages_written: counters.host_pages_written,
            host_pages_read: counters.host_pages_read,
            parity_pages_written: None,
            gc_events: 0,
            write_amplification_whole_cycles: counters.write_amplification_whole_cycles(),
            inside: InsideReport::new(&counters.inside),
            over_time: OverTimeReport::default(),
            gc_waits: GcWaitsReport::default(),
            gc_estimate: None,
            spare: false,
            journal: false,
            in_place_of: None,
        }
    }
}

/// Busy plane time / plane time of several devices, each with the planes of one of its dies; `None` without GC time. In
/// 128 bits, because a device's GC time may come near 2^64 ns.
pub(crate) fn utilisation<'a>(devices: impl IntoIterator<Item = (&'a DeviceCounters, u32)>) -> Option<f64> {
    let (mut busy, mut whole) = (0, 0);
    for (counters, planes) in devices {
        busy += u128::from(counters.gc_plane_busy_ns);
        whole += u128::from(planes) * u128::from(counters.gc_busy_ns);
    }
    (whole > 0).then(|| busy as f64 / whole as f64)
}

/// `part / whole`, or `None` where there is no whole.
pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every counter a different number, so that a swapped field shows.
    const COUNTED: DeviceCounters = DeviceCounters {
        host_pages_read: 10,
        host_pages_written: 8,
        programs: [8, 12, 4, 100],
        erases: 5,
        gc_victims: 3,
        gc_pages_moved: 12,
        gc_busy_ns: 1_000,
        gc_plane_busy_ns: 1_500,
        rmw_reads: 2,
        victim_pages: 18,
        victim_pages_moved: 12,
        foretold: 4,
        foretold_ns: 800,
        foretold_error_ns: 60,
        inside: InsideCounters { pairs: false, ..crate::inside::tests::COUNTED },
    };

    #[test]
    fn write_amplification_counts_host_gc_and_parity_but_not_metadata() {
        assert_eq!(COUNTED.write_amplification(), Some(3.0));
        assert_eq!(DeviceCounters { host_pages_written: 0, ..COUNTED }.write_amplification(), None);
    }

    /// Three victims of 6 pages gave 12 valid ones: 18 pages programmed for each 6 of the array, which writes 12 for 8 of the
    /// host.
    #[test]
    fn whole_cycles_know_nothing_of_the_window() {
        assert_eq!(COUNTED.write_amplification_whole_cycles(), Some(4.5));
        let of = |victim_pages, victim_pages_moved| {
            DeviceCounters { victim_pages, victim_pages_moved, ..COUNTED }.write_amplification_whole_cycles()
        };
        assert_eq!((of(0, 0), of(18, 18)), (None, None));
    }

    #[test]
    fn plane_utilisation_is_per_plane_of_the_die() {
        assert_eq!(COUNTED.plane_utilisation_in_gc(4), Some(0.375));
        assert_eq!(DeviceCounters { gc_busy_ns: 0, ..COUNTED }.plane_utilisation_in_gc(4), None);
    }

    #[test]
    fn plane_utilisation_is_right_where_plane_time_is_beyond_64_bits() {
        let gc_busy_ns = u64::MAX / 2;
        let counted = DeviceCounters { gc_busy_ns, gc_plane_busy_ns: gc_busy_ns, ..COUNTED };
        assert_eq!(counted.plane_utilisation_in_gc(4), Some(0.25));
        assert_eq!(utilisation([(&counted, 4); 3]), Some(0.25));
        assert_eq!(DeviceCounters::sum([&counted; 3]).gc_busy_ns, u64::MAX);
    }

    #[test]
    fn what_came_before_the_window_is_discarded() {
        let twice = DeviceCounters::sum([&COUNTED, &COUNTED]);
        assert_eq!((twice.programs, twice.rmw_reads, twice.gc_plane_busy_ns), ([16, 24, 8, 200], 4, 3_000));
        assert_eq!(twice.since(&COUNTED), COUNTED);
        let nothing = DeviceCounters { inside: COUNTED.inside.since(&COUNTED.inside), ..Default::default() };
        assert_eq!(COUNTED.since(&COUNTED), nothing);
    }

    #[test]
    #[should_panic(expected = "never run backwards")]
    fn a_counter_that_runs_backwards_is_found() {
        COUNTED.since(&DeviceCounters { erases: 6, ..COUNTED });
    }

    #[test]
    fn a_device_report_takes_each_counter_to_its_key() {
        let wear = Wear { min: 1, mean: 2.0, max: 3, stddev: 0.5 };
        let expected = DeviceReport {
            erases: 5,
            gc_victims: 3,
            gc_pages_moved: 12,
            gc_busy_ns: 1_000,
            write_amplification: Some(3.0),
            plane_utilisation_in_gc: Some(0.75),
            wear: wear.clone(),
            host_pages_written: 8,
            host_pages_read: 10,
            parity_pages_written: None,
            gc_events: 0,
            write_amplification_whole_cycles: Some(4.5),
            inside: InsideReport::new(&COUNTED.inside),
            over_time: OverTimeReport::default(),
            gc_waits: GcWaitsReport::default(),
            gc_estimate: None,
            spare: false,
            journal: false,
            in_place_of: None,
        };
        assert_eq!(DeviceReport::new(&COUNTED, wear, 2), expected);
        let estimate = GcEstimateReport { events: 4, mean_ns: 200.0, mean_error_ns: 15.0 };
        assert_eq!(GcEstimateReport::of(&COUNTED), Some(estimate));
    }
}
