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

use std::collections::BTreeMap;
use std::ops::Index;

use harmonia_types::{Counts, DeviceCounters, IoCause, Programmed};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::device::ratio;

/// Bytes programmed into flash in the measured window, by what for: in the JSON a key for each line of [`IoCause::TABLE`].
/// Unit: bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlashBytes([u64; IoCause::TABLE.len()]);

/// What was programmed for a cause, or, with `None`, the rests of pages that a write covered in part.
impl Index<Option<IoCause>> for FlashBytes {
    type Output = u64;

    fn index(&self, cause: Option<IoCause>) -> &u64 {
        let place = IoCause::TABLE.iter().position(|of| of.cause == cause);
        &self.0[place.expect("the table has a line for every cause")]
    }
}

impl Index<IoCause> for FlashBytes {
    type Output = u64;

    fn index(&self, cause: IoCause) -> &u64 {
        &self[Some(cause)]
    }
}

impl Serialize for FlashBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        // Few drives keep a part of their map on flash.
        let is_told = |(of, bytes): &(&Programmed, &u64)| of.cause != Some(IoCause::Map) || **bytes > 0;
        let told = IoCause::TABLE.iter().zip(&self.0).filter(is_told);
        { told }.try_for_each(|(of, bytes)| map.serialize_entry(of.name, bytes))?;
        map.end()
    }
}

/// A cause that a report of before does not know was not programmed for.
impl<'de> Deserialize<'de> for FlashBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = BTreeMap::<String, u64>::deserialize(deserializer)?;
        Ok(FlashBytes(IoCause::TABLE.map(|of| bytes.get(of.name).copied().unwrap_or_default())))
    }
}

impl FlashBytes {
    /// What a device programmed, whose pages have so many bytes.
    pub(crate) fn of(counters: &DeviceCounters, page_size: u64) -> Self {
        FlashBytes(IoCause::TABLE.map(|of| match of.cause {
            Some(cause) => counters.programmed(cause) * page_size - counters.padding[cause as usize],
            None => counters.padding.iter().sum(),
        }))
    }

    fn plus(self, other: Self) -> Self {
        FlashBytes(std::array::from_fn(|of| self.0[of] + other.0[of]))
    }

    /// Bytes that count in one of these ways.
    fn counting(&self, ways: &[Counts]) -> u64 {
        let parts = IoCause::TABLE.iter().zip(self.0).filter(|(of, _)| ways.contains(&of.counts));
        parts.map(|(_, bytes)| bytes).sum()
    }

    /// What was written to the device: by its host, the array.
    pub(crate) fn written(&self) -> u64 {
        self.counting(&[Counts::Written, Counts::OfDrive])
    }

    /// What the array's writes programmed before anything was collected.
    fn before_collection(&self) -> u64 {
        self.of_array() - self.moved()
    }

    /// Moved out of victims, to level wear or not.
    fn moved(&self) -> u64 {
        self[IoCause::Gc] + self[IoCause::Leveling]
    }

    /// Flash bytes of the array's write amplification: all but background work and metadata.
    pub(crate) fn of_array(&self) -> u64 {
        self.counting(&[Counts::Written, Counts::Added])
    }

    /// Flash bytes of a drive's write amplification: all but metadata.
    pub(crate) fn of_drive(&self) -> u64 {
        self.of_array() + self.counting(&[Counts::OfDrive])
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
        self.over_cycles(self.of_drive_before_collection())
    }

    /// What a drive programs for a byte that is written, before anything is collected. Unit: ratio.
    pub fn of_drive_before_collection(&self) -> Option<f64> {
        let bytes = self.bytes;
        ratio(bytes.of_drive() - bytes.moved(), bytes.written())
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

    /// Pages of 16 KiB: 8 of the host, half of two of them left out; 9 collected and 3 moved to level wear, 4 of parity, one
    /// with a quarter left out, 2 of a log, 6 rebuilt, 100 summaries.
    const COUNTED: DeviceCounters = DeviceCounters {
        programs: IoCause::by([8, 9, 4, 100, 2, 6, 3]),
        padding: IoCause::by([16_384, 0, 4_096]),
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
        let text = serde_json::to_value(flash().bytes).expect("JSON");
        let expected = serde_json::json!({"host": 112 * KIB, "padding": 20 * KIB, "parity": 60 * KIB, "logs": 32 * KIB,
            "collection": 144 * KIB, "leveling": 48 * KIB, "background": 96 * KIB, "metadata": 1_600 * KIB});
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_value::<FlashBytes>(text).expect("bytes"), flash().bytes);
    }

    /// Pages of the map count as added, and are told where there are any.
    #[test]
    fn pages_of_the_map_are_told_where_they_were_programmed() {
        let counted = DeviceCounters { programs: IoCause::by([8, 9, 4, 100, 2, 6, 3, 5]), ..COUNTED };
        let bytes = Flash::of([(&counted, 16 * KIB)]).bytes;
        let text = serde_json::to_value(bytes).expect("JSON");
        assert_eq!(text["map"], 80 * KIB);
        assert_eq!(serde_json::from_value::<FlashBytes>(text).expect("bytes"), bytes);
        assert_eq!(bytes.of_array() - flash().bytes.of_array(), 80 * KIB);
        assert_eq!(bytes.written(), flash().bytes.written());
    }

    #[test]
    fn every_cause_has_a_line_and_all_that_is_programmed_is_in_one() {
        let causes: Vec<_> = IoCause::TABLE.iter().filter_map(|of| of.cause).collect();
        assert_eq!(causes.len(), IoCause::COUNT);
        assert!((0..IoCause::COUNT).all(|cause| causes.iter().any(|&of| of as usize == cause)), "{causes:?}");
        let programmed: u64 = COUNTED.programs.iter().sum();
        assert_eq!(flash().bytes.0.iter().sum::<u64>(), programmed * 16 * KIB);
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
