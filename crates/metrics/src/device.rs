//! The report's section of one device, made of what it counted.
//!
//! Warm-up is discarded by keeping the counters as they stand where it ends and reporting [`DeviceCounters::since`].
//!
//! Not measured: reads by cause, counts per die or channel, wear within a window.

use harmonia_types::{DeviceCounters, Estimates, SimDuration};
use serde::{Deserialize, Serialize};

use crate::flash_bytes::{Flash, FlashBytes};
use crate::gc_waits::GcWaitsReport;
use crate::handles::HandleReport;
use crate::inside::InsideReport;
use crate::life::{LevelingReport, LifeReport};
use crate::lifetime::LifetimeReport;
use crate::over_time::OverTimeReport;
use crate::wear::Wear;

/// One entry of the report's `devices`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceReport {
    /// Blocks erased. Unit: count.
    pub erases: u64,
    /// Victim blocks collected by GC. Unit: count.
    pub gc_victims: u64,
    /// Valid pages moved out of victims. Unit: pages.
    pub gc_pages_moved: u64,
    /// Valid pages moved to level wear; absent if 0. Unit: pages.
    #[serde(default, skip_serializing_if = "crate::host::is_zero")]
    pub leveled_pages_moved: u64,
    /// Time in GC, summed over the dies. Unit: ns.
    pub gc_busy_ns: u64,
    /// The drive's own, as its SMART log would have it: flash bytes programmed per byte that the array wrote to it, be it data,
    /// parity, a log or a rebuild; null where none was. Unit: ratio.
    pub write_amplification: Option<f64>,
    /// Busy plane time / (planes of a die x GC time of the dies), from 0 to 1; null without GC time. Unit:
    /// ratio.
    pub plane_utilisation_in_gc: Option<f64>,
    /// Erase counts over the device's blocks. Unit: count.
    pub wear: Wear,
    /// How far its life has come; absent where blocks last for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<LifeReport>,
    /// What levelling of wear has done; absent where wear is not levelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leveling: Option<LevelingReport>,
    /// How many years it lasts at the rate of the window; absent unless a rating or the wear of its blocks says what it endures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<LifetimeReport>,
    /// What each handle wrote; absent where the drive places by none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<HandleReport>,
    /// Pages written with a handle that the drive does not know; absent if none was. Unit: pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_handle_pages: Option<u64>,
    /// Data pages written to it, parity left out. Unit: pages.
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
    /// The drive's own write amplification over whole collection cycles; null without a victim. Unit: ratio.
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
    /// What the array wrote to it; 0 in reports of before it was counted. Unit: bytes.
    #[serde(default)]
    pub host_bytes_written: u64,
    /// Programmed for whatever but metadata: what `write_amplification` divides by the former. Unit: bytes.
    #[serde(default)]
    pub flash_bytes_programmed: u64,
    /// Its parts, and metadata.
    #[serde(default)]
    pub flash_bytes: FlashBytes,
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
        let Estimates { events, actual, error, .. } = counters.estimated;
        let mean = |sum: SimDuration| sum.as_ns() as f64 / events as f64;
        let (mean_ns, mean_error_ns) = (mean(actual), mean(error));
        (events > 0).then_some(GcEstimateReport { events, mean_ns, mean_error_ns })
    }
}

/// What a report has to know of a device beside what it counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DieTraits {
    /// Planes of one of its dies.
    pub planes: u32,
    /// Whether its schedule takes host operations along, so that what it offered them means something.
    pub pairs: bool,
    /// Of its pages. Unit: bytes.
    pub page_size: u64,
}

impl DeviceReport {
    /// The report of a device that counted `counters` in the measured window and whose blocks have this
    /// `wear`; without its events, what it did over time and who waited for it, which others watch.
    pub fn new(counters: &DeviceCounters, wear: Wear, dies: DieTraits) -> Self {
        let flash = Flash::of([(counters, dies.page_size)]);
        DeviceReport {
            erases: counters.erases,
            gc_victims: counters.gc_victims,
            gc_pages_moved: counters.gc_pages_moved(),
            leveled_pages_moved: counters.leveled_pages_moved(),
            gc_busy_ns: counters.gc_busy.as_ns(),
            write_amplification: flash.of_drive(),
            plane_utilisation_in_gc: utilisation([(counters, dies)]),
            wear,
            life: None,
            leveling: None,
            lifetime: None,
            streams: HandleReport::of(counters),
            unknown_handle_pages: Some(counters.unknown_handle_pages).filter(|&pages| pages > 0),
            host_pages_written: counters.host_pages_written(),
            host_pages_read: counters.host_pages_read,
            parity_pages_written: None,
            gc_events: 0,
            write_amplification_whole_cycles: flash.of_drive_over_cycles(),
            inside: InsideReport::new(counters, dies.pairs),
            over_time: OverTimeReport::default(),
            gc_waits: GcWaitsReport::default(),
            gc_estimate: None,
            spare: false,
            journal: false,
            in_place_of: None,
            host_bytes_written: flash.bytes.written(),
            flash_bytes_programmed: flash.bytes.of_drive(),
            flash_bytes: flash.bytes,
        }
    }
}

/// Busy plane time / plane time of several devices, each with the planes of one of its dies; `None` without GC time. In
/// 128 bits, because a device's GC time may come near 2^64 ns.
pub(crate) fn utilisation<'a>(
    devices: impl IntoIterator<Item = (&'a DeviceCounters, DieTraits)>,
) -> Option<f64> {
    let (mut busy, mut whole) = (0, 0);
    for (counters, dies) in devices {
        busy += u128::from(counters.gc_plane_busy.as_ns());
        whole += u128::from(dies.planes) * u128::from(counters.gc_busy.as_ns());
    }
    (whole > 0).then(|| busy as f64 / whole as f64)
}

/// `part / whole`, or `None` where there is no whole.
pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use harmonia_types::IoCause;

    use super::*;

    /// Every counter a different number, so that a swapped field shows.
    const COUNTED: DeviceCounters = DeviceCounters {
        host_pages_read: 10,
        parity_pages_read: 9,
        programs: IoCause::by([8, 12, 4, 100]),
        erases: 5,
        gc_victims: 3,
        gc_busy: SimDuration(1_000),
        gc_plane_busy: SimDuration(1_500),
        read_modify_write_reads: 2,
        victim_pages: 18,
        victim_pages_moved: 12,
        estimated: Estimates {
            events: 4,
            estimated: SimDuration(700),
            actual: SimDuration(800),
            error: SimDuration(60),
        },
        ..crate::inside::tests::COUNTED
    };

    fn dies(planes: u32) -> DieTraits {
        DieTraits { planes, pairs: false, page_size: 4_096 }
    }

    #[test]
    fn plane_utilisation_is_per_plane_of_the_die() {
        assert_eq!(utilisation([(&COUNTED, dies(4))]), Some(0.375));
        assert_eq!(utilisation([(&DeviceCounters { gc_busy: SimDuration(0), ..COUNTED }, dies(4))]), None);
    }

    #[test]
    fn plane_utilisation_is_right_where_plane_time_is_beyond_64_bits() {
        let gc_busy = SimDuration(u64::MAX / 2);
        let counted = DeviceCounters { gc_busy, gc_plane_busy: gc_busy, ..COUNTED };
        assert_eq!(utilisation([(&counted, dies(4))]), Some(0.25));
        assert_eq!(utilisation([(&counted, dies(4)); 3]), Some(0.25));
    }

    #[test]
    fn a_device_report_takes_each_counter_to_its_key() {
        let wear = Wear { min: 1, mean: 2.0, max: 3, stddev: 0.5 };
        let expected = DeviceReport {
            erases: 5,
            gc_victims: 3,
            gc_pages_moved: 12,
            leveled_pages_moved: 0,
            gc_busy_ns: 1_000,
            write_amplification: Some(2.0),
            plane_utilisation_in_gc: Some(0.75),
            wear: wear.clone(),
            life: None,
            leveling: None,
            lifetime: None,
            streams: Vec::new(),
            unknown_handle_pages: None,
            host_pages_written: 8,
            host_pages_read: 10,
            parity_pages_written: None,
            gc_events: 0,
            write_amplification_whole_cycles: Some(3.0),
            inside: InsideReport::new(&COUNTED, false),
            over_time: OverTimeReport::default(),
            gc_waits: GcWaitsReport::default(),
            gc_estimate: None,
            spare: false,
            journal: false,
            in_place_of: None,
            host_bytes_written: 12 * 4_096,
            flash_bytes_programmed: 24 * 4_096,
            flash_bytes: FlashBytes::of(&COUNTED, 4_096),
        };
        assert_eq!(DeviceReport::new(&COUNTED, wear, dies(2)), expected);
        let estimate = GcEstimateReport { events: 4, mean_ns: 200.0, mean_error_ns: 15.0 };
        assert_eq!(GcEstimateReport::of(&COUNTED), Some(estimate));
    }
}
