//! What every format is turned into.

use std::collections::BTreeMap;

use harmonia_types::{Bytes, Operation, PlacementHandle};

/// One request of a trace, in the units of the simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRecord {
    /// Arrival, in ns since the first record's (since the start of the window, if one was asked for); never less than
    /// the record before.
    pub time_ns: u64,
    /// What it does.
    pub operation: Operation,
    /// First byte; `offset + length` does not overflow.
    pub offset: Bytes,
    /// Length in bytes; 0 only where the format has such requests (a flush, an empty transfer).
    pub length: Bytes,
    /// Index of its volume in [`TraceReader::volumes`](super::TraceReader::volumes).
    pub volume: u16,
    /// A write with FUA (force unit access), as far as the format tells; never set on anything else.
    pub fua: bool,
    /// The placement handle of a write, if its row says one; never set on anything else.
    pub handle: Option<PlacementHandle>,
}

impl TraceRecord {
    /// A record of the first volume, without FUA and handle.
    #[inline]
    pub const fn new(time_ns: u64, operation: Operation, offset: Bytes, length: Bytes) -> TraceRecord {
        TraceRecord { time_ns, operation, offset, length, volume: 0, fua: false, handle: None }
    }

    /// Whether it has no bytes anywhere: a flush, or an empty transfer.
    #[inline]
    pub fn moves_nothing(&self) -> bool {
        self.operation == Operation::Flush || self.length == 0
    }
}

/// One row of one file, as its format understands it: as [`TraceRecord`], but with the file's own clock and volumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    /// In ns since the epoch of the file's clock.
    pub(crate) time_ns: u64,
    pub(crate) operation: Operation,
    pub(crate) offset: Bytes,
    pub(crate) length: Bytes,
    /// Index in the file's [`VolumeNames`].
    pub(crate) volume: u16,
    /// With FUA, if it is a write.
    pub(crate) fua: bool,
    /// Its placement handle; a format gives one to writes only.
    pub(crate) handle: Option<PlacementHandle>,
}

impl Row {
    /// A row of the file's first volume, without FUA and handle.
    #[inline]
    pub(crate) const fn new(time_ns: u64, operation: Operation, offset: Bytes, length: Bytes) -> Row {
        Row { time_ns, operation, offset, length, volume: 0, fua: false, handle: None }
    }
}

/// No block layer issues more at once; a larger size is a misread column.
pub(crate) const MAX_LENGTH: Bytes = 1 << 30;

/// Volumes (disks, ASUs, devices) by the names their trace gives them, numbered in the order they appear.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VolumeNames {
    names: Vec<String>,
    by_name: BTreeMap<String, u16>,
    /// Index of volumes whose name is a small number, less one; 0 where there is none.
    by_number: Vec<u16>,
}

/// Numbers below this are found without a search.
const SMALL: u64 = 4096;
/// A longer name is not one of a volume, in bytes.
const NAME_MAX: usize = 4096;
/// More would not fit a volume's index.
const MOST: usize = u16::MAX as usize;

impl VolumeNames {
    /// The names, by index.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The index of the volume called `name`, new or known. `name` should be printable.
    #[inline]
    pub(crate) fn named(&mut self, name: &str) -> Result<u16, String> {
        match self.by_name.get(name) {
            Some(&index) => Ok(index),
            None => self.add(name.to_owned()),
        }
    }

    /// The index of the volume with this number, new or known.
    #[inline]
    pub(crate) fn numbered(&mut self, number: u64) -> Result<u16, String> {
        match self.by_number.get(number as usize) {
            Some(&index) if number < SMALL && index > 0 => Ok(index - 1),
            _ => self.number_searched(number),
        }
    }

    #[cold]
    fn number_searched(&mut self, number: u64) -> Result<u16, String> {
        let index = self.named(&number.to_string())?;
        if number < SMALL {
            self.by_number.resize(SMALL as usize, 0);
            self.by_number[number as usize] = index + 1;
        }
        Ok(index)
    }

    #[cold]
    fn add(&mut self, name: String) -> Result<u16, String> {
        if name.len() > NAME_MAX {
            return Err(format!(
                "found a volume whose name has {} bytes, expected at most {NAME_MAX}",
                name.len()
            ));
        }
        if self.names.len() >= MOST {
            return Err(format!(
                "found volume `{name}` behind {MOST} others, expected no more: is this column the volume?"
            ));
        }
        let index = self.names.len() as u16;
        self.by_name.insert(name.clone(), index);
        self.names.push(name);
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_keeps_its_index_whether_named_or_numbered() {
        let mut names = VolumeNames::default();
        assert_eq!([7, 3, 7, 5_000_000_000, 3].map(|n| names.numbered(n).unwrap()), [0, 1, 0, 2, 1]);
        assert_eq!((names.named("3").unwrap(), names.named("sda").unwrap()), (1, 3));
        assert_eq!(names.names(), ["7", "3", "5000000000", "sda"]);
    }

    #[test]
    fn there_is_an_end_to_volumes() {
        let mut names = VolumeNames::default();
        for number in 0..MOST as u64 {
            names.numbered(number + 10_000).unwrap();
        }
        assert!(names.numbered(1).unwrap_err().contains("behind 65535 others"));
        assert_eq!(names.numbered(10_000), Ok(0));
    }
}
