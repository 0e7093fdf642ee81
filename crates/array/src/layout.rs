//! Where the bytes of a striped array lie on its members.
//!
//! ```text
//! array bytes   | u0 | u1 | u2 | u3 | u4 | u5 |      stripe unit u, three members
//! member 0      | u0 | u3 | ..                       row r, column c: unit r * members + c
//! member 1      | u1 | u4 | ..
//! member 2      | u2 | u5 | ..
//! ```

use harmonia_types::{Bytes, DeviceId};

/// RAID-0 striping over some or all members of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    members: u16,
    /// Members that take part in the stripe, in order.
    columns: Vec<DeviceId>,
    stripe_unit: Bytes,
    member_bytes: Bytes,
}

impl Layout {
    /// Stripes over all `members`, each of `member_bytes`, of which whole stripe units are used.
    ///
    /// # Panics
    /// If there are no members or the stripe unit is 0.
    pub fn raid0(members: u16, stripe_unit: Bytes, member_bytes: Bytes) -> Self {
        assert!(members > 0 && stripe_unit > 0, "a stripe needs members and a unit");
        let columns = (0..members).map(DeviceId).collect();
        Layout { members, columns, stripe_unit, member_bytes: member_bytes / stripe_unit * stripe_unit }
    }

    /// The same without one member: requests that are not pinned spread over the others (skewed loads). With one
    /// member only, nothing changes.
    #[must_use]
    pub fn all_but(mut self, excluded: DeviceId) -> Self {
        if self.members > 1 {
            self.columns.retain(|&device| device != excluded);
        }
        self
    }

    /// Members of the array, striped over or not.
    pub fn members(&self) -> u16 {
        self.members
    }

    /// Bytes that can be addressed through the stripe.
    pub fn logical_bytes(&self) -> Bytes {
        self.member_bytes * self.columns.len() as u64
    }

    /// Bytes of one member.
    pub fn member_bytes(&self) -> Bytes {
        self.member_bytes
    }

    /// Calls `visit(member, offset on it, length)` once for every member that a range touches, the member of the
    /// first byte first. On a member the range is contiguous.
    pub fn split(&self, offset: Bytes, length: Bytes, mut visit: impl FnMut(DeviceId, Bytes, Bytes)) {
        if length == 0 {
            return;
        }
        let (unit, columns) = (self.stripe_unit, self.columns.len() as u64);
        let end = offset + length;
        let (first, last) = (offset / unit, (end - 1) / unit);
        for first_unit in first..=last.min(first + columns - 1) {
            let column = first_unit % columns;
            let last_unit = last - (last % columns + columns - column) % columns;
            let row = |unit_index: u64| unit_index / columns * unit;
            let start = row(first_unit) + if first_unit == first { offset % unit } else { 0 };
            let stop = row(last_unit) + if last_unit == last { (end - 1) % unit + 1 } else { unit };
            visit(self.columns[column as usize], start, stop - start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_engine::Rng;
    use std::collections::BTreeMap;

    /// Byte by byte: unit u of the stripe is row u / columns on column u % columns.
    fn oracle(layout: &Layout, offset: u64, length: u64) -> BTreeMap<u16, (u64, u64)> {
        let mut ranges = BTreeMap::new();
        let columns = layout.columns.len() as u64;
        for byte in offset..offset + length {
            let (unit, within) = (byte / layout.stripe_unit, byte % layout.stripe_unit);
            let device = layout.columns[(unit % columns) as usize].0;
            let on_device = unit / columns * layout.stripe_unit + within;
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
            let mut layout = Layout::raid0(members, 1 + rng.below(20), 10_000);
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
