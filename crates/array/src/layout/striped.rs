//! RAID-0: stripe units dealt to the members in turn.
//!
//! ```text
//! array bytes   | u0 | u1 | u2 | u3 | u4 | u5 |      stripe unit u, three members
//! member 0      | u0 | u3 | ..                       row r, column c: unit r * members + c
//! member 1      | u1 | u4 | ..
//! member 2      | u2 | u5 | ..
//! ```
//!
//! Source: Linux md, `drivers/md/raid0.c` (`map_sector`) with one zone.

use harmonia_types::{Bytes, DeviceId, Divisor};

use super::{Space, units};

/// RAID-0 striping over some or all members of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Striped {
    space: Space,
    /// Members that take part in the stripe, in order.
    columns: Vec<DeviceId>,
    /// What requests within one unit are looked up by.
    unit: Divisor,
    width: Divisor,
}

impl Striped {
    /// Stripes over all `members`, each of `member_bytes`, of which whole stripe units are used.
    ///
    /// # Panics
    /// If there are no members or the stripe unit or the page size is 0.
    pub fn new(members: u16, stripe_unit: Bytes, page_size: Bytes, member_bytes: Bytes) -> Self {
        assert!(members > 0 && stripe_unit > 0, "a stripe needs members and a unit");
        assert!(page_size > 0, "a member has pages");
        let columns = (0..members).map(DeviceId).collect();
        let member_bytes = member_bytes / stripe_unit * stripe_unit;
        Striped {
            space: Space { members, stripe_unit, page_size, member_bytes },
            columns,
            unit: Divisor::new(stripe_unit),
            width: Divisor::new(members.into()),
        }
    }

    pub(super) fn all_but(mut self, excluded: DeviceId) -> Self {
        if self.space.members > 1 {
            self.columns.retain(|&device| device != excluded);
            self.width = Divisor::new(self.columns.len() as u64);
        }
        self
    }

    /// Members of the array, striped over or not.
    pub fn members(&self) -> u16 {
        self.space.members
    }

    /// Bytes that can be addressed through the stripe.
    pub fn logical_bytes(&self) -> Bytes {
        self.space.member_bytes * self.columns.len() as u64
    }

    /// Bytes of one member.
    pub fn member_bytes(&self) -> Bytes {
        self.space.member_bytes
    }

    pub(super) fn space(&self) -> &Space {
        &self.space
    }

    /// Calls `visit(member, offset on it, length)` once for every member that a range touches, the member of the
    /// first byte first. On a member the range is contiguous.
    #[inline]
    pub fn split(&self, offset: Bytes, length: Bytes, mut visit: impl FnMut(DeviceId, Bytes, Bytes)) {
        let (unit, within) = self.unit.divide(offset);
        if length > 0 && within + length <= self.space.stripe_unit {
            let (row, column) = self.width.divide(unit);
            return visit(self.columns[column as usize], row * self.space.stripe_unit + within, length);
        }
        interleaved(
            self.space.stripe_unit,
            self.columns.len() as u64,
            offset,
            length,
            |column, start, bytes| {
                visit(self.columns[column as usize], start, bytes);
            },
        );
    }

    pub(super) fn pinned(
        &self,
        member: DeviceId,
        offset: Bytes,
        length: Bytes,
        mut visit: impl FnMut(Bytes, Bytes),
    ) {
        let Some(column) = self.columns.iter().position(|&device| device == member) else { return };
        let (unit, columns) = (self.space.stripe_unit, self.columns.len() as u64);
        units(unit, offset, length, |row, within, bytes| {
            visit((row * columns + column as u64) * unit + within, bytes);
        });
    }
}

/// Deals the units of a range to columns in turn and calls `visit(column, offset in it, length)` once for every column
/// that the range touches, the column of the first byte first.
#[inline]
pub(super) fn interleaved(
    unit: Bytes,
    columns: u64,
    offset: Bytes,
    length: Bytes,
    mut visit: impl FnMut(u64, Bytes, Bytes),
) {
    if length == 0 {
        return;
    }
    let end = offset + length;
    let (first, last) = (offset / unit, (end - 1) / unit);
    if first == last {
        return visit(first % columns, first / columns * unit + offset % unit, length);
    }
    for first_unit in first..=last.min(first + columns - 1) {
        let column = first_unit % columns;
        let last_unit = last - (last % columns + columns - column) % columns;
        let row = |unit_index: u64| unit_index / columns * unit;
        let start = row(first_unit) + if first_unit == first { offset % unit } else { 0 };
        let stop = row(last_unit) + if last_unit == last { (end - 1) % unit + 1 } else { unit };
        visit(column, start, stop - start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_engine::Rng;
    use std::collections::BTreeMap;

    /// Byte by byte: unit u of the stripe is row u / columns on column u % columns.
    fn oracle(layout: &Striped, offset: u64, length: u64) -> BTreeMap<u16, (u64, u64)> {
        let mut ranges = BTreeMap::new();
        let (columns, stripe_unit) = (layout.columns.len() as u64, layout.space.stripe_unit);
        for byte in offset..offset + length {
            let (unit, within) = (byte / stripe_unit, byte % stripe_unit);
            let device = layout.columns[(unit % columns) as usize].0;
            let on_device = unit / columns * stripe_unit + within;
            let range = ranges.entry(device).or_insert((on_device, on_device));
            assert_eq!(range.1, on_device, "a range is contiguous on a member");
            range.1 += 1;
        }
        ranges
    }

    #[test]
    fn splits_as_a_byte_by_byte_oracle_does() {
        let mut rng = Rng::stream(7, "layout");
        for _ in 0..3000 {
            let members = 1 + rng.below(9) as u16;
            let mut layout = Striped::new(members, 1 + rng.below(20), 1, 10_000);
            if rng.chance(0.3) {
                layout = layout.all_but(DeviceId(rng.below(u64::from(members)) as u16));
            }
            let (offset, length) = (rng.below(500), 1 + rng.below(300));
            let mut split = BTreeMap::new();
            layout.split(offset, length, |device, start, bytes| {
                assert!(split.insert(device.0, (start, start + bytes)).is_none(), "one range a member");
            });
            assert_eq!(split, oracle(&layout, offset, length), "{layout:?} {offset}+{length}");
        }
    }
}
