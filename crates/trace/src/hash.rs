//! A fingerprint of what a trace says, whatever the format it says it in.
//!
//! It covers time, operation with FUA, offset, length, volume and placement handle of each record in their order. Volumes are told apart by the
//! order in which they first appear, not by their names: formats differ in what they can call one. Where a request has
//! no bytes its offset means nothing and is left out. So a trace and its conversion have the same hash if nothing was
//! lost between them and their first records are the same (a conversion counts times from its first), and so have its
//! parts read as one.

use harmonia_types::{Operation, PlacementHandle};
use xxhash_rust::xxh3::Xxh3;

use crate::TraceRecord;

/// The hash of the records so far.
#[derive(Clone, Default)]
pub struct TraceHash {
    state: Xxh3,
    /// By index of a volume: its place among the volumes in the order they appear, from 1; 0 for one not met yet.
    places: Vec<u16>,
    met: u16,
}

/// Time, offset and length, 8 bytes each; volume, 2; operation, 1. A placement handle, 2, follows where there is one.
const RECORD_BYTES: usize = 27;
/// Added to the operation of a record with a placement handle.
const HAS_HANDLE: u8 = 0x80;

impl TraceHash {
    /// Takes in the next record.
    #[inline]
    pub fn add(&mut self, record: &TraceRecord) {
        let &TraceRecord { time_ns, operation, offset, length, .. } = record;
        let (offset, length) = if record.moves_nothing() { (0, 0) } else { (offset, length) };
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&time_ns.to_le_bytes());
        bytes[8..16].copy_from_slice(&offset.to_le_bytes());
        bytes[16..24].copy_from_slice(&length.to_le_bytes());
        bytes[24..26].copy_from_slice(&self.place(record.volume).to_le_bytes());
        bytes[26] = code(operation, record.fua);
        if record.handle.is_some() {
            bytes[26] |= HAS_HANDLE;
        }
        self.state.update(&bytes);
        if let Some(handle) = record.handle {
            self.add_handle(handle);
        }
    }

    #[cold]
    fn add_handle(&mut self, handle: PlacementHandle) {
        self.state.update(&handle.number().to_le_bytes());
    }

    /// The hash, 32 hexadecimal digits.
    pub fn text(&self) -> String {
        format!("{:032x}", self.state.digest128())
    }

    #[inline]
    fn place(&mut self, volume: u16) -> u16 {
        match self.places.get(usize::from(volume)) {
            Some(&place) if place > 0 => place,
            _ => self.meet(volume),
        }
    }

    #[cold]
    fn meet(&mut self, volume: u16) -> u16 {
        let index = usize::from(volume);
        if index >= self.places.len() {
            self.places.resize(index + 1, 0);
        }
        // There are fewer than 2^16 volumes.
        self.met += 1;
        self.places[index] = self.met;
        self.met
    }
}

/// What stands for an operation; never to be changed, as hashes are compared across versions.
fn code(operation: Operation, fua: bool) -> u8 {
    match operation {
        Operation::Read => 0,
        Operation::Write if fua => 4,
        Operation::Write => 1,
        Operation::Trim => 2,
        Operation::Flush => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: TraceRecord = TraceRecord::new(5, Operation::Write, 512, 4096);

    fn hash(records: &[TraceRecord]) -> String {
        let mut hash = TraceHash::default();
        records.iter().for_each(|record| hash.add(record));
        hash.text()
    }

    #[test]
    fn every_field_and_the_order_count() {
        let other = TraceRecord { time_ns: 6, ..RECORD };
        let mut hashes = vec![
            hash(&[]),
            hash(&[RECORD]),
            hash(&[RECORD, other]),
            hash(&[other, RECORD]),
            hash(&[TraceRecord { operation: Operation::Read, ..RECORD }]),
            hash(&[TraceRecord { operation: Operation::Trim, ..RECORD }]),
            hash(&[TraceRecord { fua: true, ..RECORD }]),
            hash(&[TraceRecord { handle: PlacementHandle::new(0), ..RECORD }]),
            hash(&[TraceRecord { handle: PlacementHandle::new(1), ..RECORD }]),
            hash(&[TraceRecord { handle: PlacementHandle::new(256), ..RECORD }]),
            hash(&[TraceRecord { handle: PlacementHandle::new(0), fua: true, ..RECORD }]),
            hash(&[TraceRecord { offset: 513, ..RECORD }]),
            hash(&[TraceRecord { length: 4095, ..RECORD }]),
            hash(&[RECORD, TraceRecord { volume: 1, ..other }]),
        ];
        let all = hashes.len();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), all);
    }

    #[test]
    fn neither_the_numbers_of_volumes_nor_the_offset_of_nothing_count() {
        let on = |volume| TraceRecord { volume, ..RECORD };
        assert_eq!(hash(&[on(7), on(2), on(7)]), hash(&[on(0), on(1), on(0)]));
        assert_ne!(hash(&[on(7), on(2), on(7)]), hash(&[on(0), on(1), on(1)]));
        let flush = |offset, length| TraceRecord { operation: Operation::Flush, offset, length, ..RECORD };
        assert_eq!(hash(&[flush(512, 8)]), hash(&[flush(0, 0)]));
        let empty = |offset| TraceRecord { offset, length: 0, ..RECORD };
        assert_eq!(hash(&[empty(8)]), hash(&[empty(0)]));
    }

    /// Reports of other versions hold it.
    #[test]
    fn the_hash_is_the_same_in_every_version() {
        assert_eq!(hash(&[RECORD, TraceRecord { volume: 3, ..RECORD }]), "e5415833fcff55c04bc526a0e38f199a");
        let with_handle = TraceRecord { handle: PlacementHandle::new(3), ..RECORD };
        assert_eq!(hash(&[RECORD, with_handle]), "b7402fb6bbc4426e474ae984cc552f10");
    }
}
