//! Write amplification: bytes programmed into flash per byte that was written.
//!
//! Bytes, not pages or units: these differ where a request, a unit and a page do. A 4 KiB write that lands on a page of 16 KiB
//! programs 4 bytes for each of its own before anything is collected.
//!
//! Who writes depends on whom the figure is of. To a drive its host is the array: data, copies, parity, logs and rebuilds are
//! all written to it, as its SMART log would say. The array's host is the user, so parity, copies and logs count in its figure,
//! and rebuild, resync and scrub stand apart. Summary pages of blocks stand apart in both.
//!
//! Source: Hu et al., "Write Amplification Analysis in Flash-Based Solid State Drives" (SYSTOR 2009), for the ratio.
//! Not measured: bytes of a partial page by who wrote them last.

use harmonia_types::{DeviceCounters, IoCause};
use serde::{Deserialize, Serialize};

use crate::device::ratio;

/// Bytes programmed into flash in the measured window, by what for. Unit: bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashBytes {
    /// The host's data, with all copies.
    pub host: u64,
    /// Rests of pages that a write covered in part.
    pub padding: u64,
    /// Parity.
    pub parity: u64,
    /// The journal, the partial parity log and the write-intent bitmap.
    pub logs: u64,
    /// Valid pages moved by garbage collection.
    pub collection: u64,
    /// Rebuild, copying to a spare, resync and scrub; outside the write amplification of the array.
    pub background: u64,
    /// Summary pages of blocks; outside write amplification.
    pub metadata: u64,
}

impl FlashBytes {
    /// What a device programmed, whose pages have so many bytes.
    pub(crate) fn of(counters: &DeviceCounters, page_size: u64) -> Self {
        let given =
            |cause: IoCause| counters.programmed(cause) * page_size - counters.padding[cause as usize];
        FlashBytes {
            host: given(IoCause::Host),
            padding: counters.padding.iter().sum(),
            parity: given(IoCause::Parity),
            logs: given(IoCause::Log),
            collection: given(IoCause::Gc),
            background: given(IoCause::Background),
            metadata: given(IoCause::Metadata),
        }
    }

    fn plus(self, other: Self) -> Self {
        FlashBytes {
            host: self.host + other.host,
            padding: self.padding + other.padding,
            parity: self.parity + other.parity,
            logs: self.logs + other.logs,
            collection: self.collection + other.collection,
            background: self.background + other.background,
            metadata: self.metadata + other.metadata,
        }
    }

    /// What was written to the device: by its host, the array.
    pub(crate) fn written(&self) -> u64 {
        self.host + self.parity + self.logs + self.background
    }

    /// What the array's writes programmed before anything was collected.
    fn before_collection(&self) -> u64 {
        self.host + self.padding + self.parity + self.logs
    }

    /// Flash bytes of the array's write amplification: all but background work and metadata.
    pub(crate) fn of_array(&self) -> u64 {
        self.before_collection() + self.collection
    }

    /// Flash bytes of a drive's write amplification: all but metadata.
    pub(crate) fn of_drive(&self) -> u64 {
        self.of_array() + self.background
    }
}

/// What the devices together programmed, and what of their collections says how much each cycle frees.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Flash {
    pub bytes: FlashBytes,
    /// Held by collected victims when full. Unit: bytes.
    pub victims: u64,
    /// Moved out of them. Unit: bytes.
    pub moved: u64,
}

impl Flash {
    /// What devices counted, each with the bytes of its pages.
    pub fn of<'a>(devices: impl IntoIterator<Item = (&'a DeviceCounters, u64)>) -> Self {
        devices.into_iter().fold(Flash::default(), |sum, (counters, page_size)| Flash {
            bytes: sum.bytes.plus(FlashBytes::of(counters, page_size)),
            victims: sum.victims + counters.victim_pages * page_size,
            moved: sum.moved + counters.victim_pages_moved * page_size,
        })
    }

    /// Write amplification of a drive; `None` if nothing was written. Unit: ratio.
    pub fn of_drive(&self) -> Option<f64> {
        ratio(self.bytes.of_drive(), self.bytes.written())
    }

    /// Write amplification of the array, whose user wrote so many bytes; `None` if none. Unit: ratio.
    pub fn of_array(&self, user: u64) -> Option<f64> {
        ratio(self.bytes.of_array(), user)
    }

    /// That of a drive over whole collection cycles. Unit: ratio.
    pub fn of_drive_over_cycles(&self) -> Option<f64> {
        let bytes = self.bytes;
        self.over_cycles(ratio(bytes.before_collection() + bytes.background, bytes.written()))
    }

    /// That of the array over whole collection cycles. Unit: ratio.
    pub fn of_array_over_cycles(&self, user: u64) -> Option<f64> {
        self.over_cycles(ratio(self.bytes.before_collection(), user))
    }

    /// Each victim's bytes per byte that collecting it freed, times what is programmed for a byte that is written. A victim's
    /// life is a whole cycle, so it does not matter where the window cuts, nor whether free blocks were built up in it. `None`
    /// without a victim, or where collecting freed nothing.
    fn over_cycles(&self, programmed: Option<f64>) -> Option<f64> {
        let cycles = ratio(self.victims, self.victims - self.moved)?;
        (self.victims > 0).then_some(cycles * programmed.unwrap_or(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of 16 KiB: 8 of the host, half of two of them left out; 12 moved, 4 of parity, one with a quarter left out, 2 of
    /// a log, 6 rebuilt, 100 summaries.
    const COUNTED: DeviceCounters = DeviceCounters {
        programs: [8, 12, 4, 100, 2, 6],
        padding: [16_384, 0, 4_096, 0, 0, 0],
        victim_pages: 18,
        victim_pages_moved: 12,
        ..crate::inside::tests::COUNTED
    };
    const KIB: u64 = 1_024;

    fn flash() -> Flash {
        Flash::of([(&COUNTED, 16 * KIB)])
    }

    #[test]
    fn each_part_is_bytes_that_somebody_wrote_and_the_rests_are_padding() {
        let parts = FlashBytes {
            host: 112 * KIB,
            padding: 20 * KIB,
            parity: 60 * KIB,
            logs: 32 * KIB,
            collection: 192 * KIB,
            background: 96 * KIB,
            metadata: 1_600 * KIB,
        };
        assert_eq!(flash().bytes, parts);
    }

    #[test]
    fn a_drive_counts_what_the_array_wrote_and_the_array_what_the_user_did() {
        // 32 pages and 300 KiB; 26 pages without what was rebuilt, and 40 KiB of a user.
        assert_eq!(flash().of_drive(), Some(512.0 / 300.0));
        assert_eq!(flash().of_array(40 * KIB), Some(416.0 / 40.0));
        assert_eq!((flash().of_array(0), Flash::default().of_drive()), (None, None));
    }

    /// Each victim gave a third of its pages free.
    #[test]
    fn whole_cycles_know_nothing_of_the_window() {
        assert_eq!(flash().of_drive_over_cycles(), Some(3.0 * (320.0 / 300.0)));
        assert_eq!(flash().of_array_over_cycles(56 * KIB), Some(3.0 * 4.0));
        let of = |victims, moved| Flash { victims, moved, ..flash() }.of_drive_over_cycles();
        assert_eq!((of(0, 0), of(18, 18)), (None, None));
    }
}
