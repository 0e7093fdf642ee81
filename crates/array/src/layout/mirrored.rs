//! RAID-1 and RAID-10: every stripe unit several times, on different members.
//!
//! Five members, two copies; columns are members, rows are stripe units on them, numbers are units of the array:
//!
//! ```text
//! near-2               far-2                    offset-2
//! 0  0  1  1  2        0  1  2  3  4            0  1  2  3  4
//! 2  3  3  4  4        5  6  7  8  9            4  0  1  2  3
//! 5  5  6  6  7        ..                       5  6  7  8  9
//! 7  8  8  9  9        4  0  1  2  3   half     9  5  6  7  8
//! ..                   9  5  6  7  8   way      ..
//! ```
//!
//! Near deals the copies out one after the other. Far fills the first part of all members as RAID-0 does and the next
//! part again, one member further. Offset does the same row by row. RAID-1 is all members the same.
//!
//! Where a range is contiguous on the same members, it is one piece: near copies on a multiple of their number are
//! RAID-0 over groups of members, and far copies are RAID-0 over all. The other cases have pieces of one unit.
//!
//! Source: Linux md, `drivers/md/raid10.c` (`__raid10_find_phys` with a far set of all members, `raid10_find_virt`,
//! `raid10_size` and `calc_sectors`). md's RAID-10 wants chunks of a power of two and pages; here any unit will do.

use harmonia_types::{Bytes, DeviceId};

use super::striped::interleaved;
use super::{Copies, Level, MOST_COPIES, Pattern, Space, units};

/// RAID-1 and RAID-10.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirrored {
    level: Level,
    space: Space,
    copies: u16,
    placement: Placement,
    /// Stripe units of the array (RAID-1: bytes).
    logical_bytes: Bytes,
}

/// How copies are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placement {
    /// RAID-1: the same offset on all members.
    Whole,
    /// Near, members a multiple of copies: RAID-0 over so many groups.
    Groups(u64),
    /// Near, copies that wrap around from the last member to the next row of the first.
    Near,
    /// Far: the next copy lies so many bytes further on the next member.
    Far(Bytes),
    /// Offset: the next copy lies one row further on the next member.
    Offset,
}

/// Places of the copies of one byte; only the first [`Mirrored::copies`] count.
type Places = [(DeviceId, Bytes); MOST_COPIES as usize];

impl Mirrored {
    pub(super) fn raid1(mut space: Space) -> Self {
        assert!(space.stripe_unit > 0 && space.page_size > 0, "a stripe unit and pages are not empty");
        space.member_bytes -= space.member_bytes % space.page_size;
        let (copies, logical_bytes) = (space.members, space.member_bytes);
        Mirrored { level: Level::Raid1, space, copies, placement: Placement::Whole, logical_bytes }
    }

    pub(super) fn raid10(copies: Copies, mut space: Space) -> Self {
        let Copies { pattern, count } = copies;
        assert!(space.stripe_unit > 0 && space.page_size > 0, "a stripe unit and pages are not empty");
        assert!((2..=MOST_COPIES).contains(&count), "RAID-10 has 2 to {MOST_COPIES} copies");
        let (unit, members, count) = (space.stripe_unit, u64::from(space.members), u64::from(count));
        let rows = space.member_bytes / unit;
        // As md does: copies of near may end within a row, those of far and offset take whole groups of rows.
        let (logical_units, rows) = match pattern {
            Pattern::Near => {
                let logical = rows * members / count;
                (logical, (logical * count).div_ceil(members))
            }
            Pattern::Far | Pattern::Offset => (rows / count * members, rows / count * count),
        };
        let placement = match pattern {
            Pattern::Near if members % count == 0 => Placement::Groups(members / count),
            Pattern::Near => Placement::Near,
            Pattern::Far => Placement::Far(rows / count * unit),
            Pattern::Offset => Placement::Offset,
        };
        space.member_bytes = rows * unit;
        let logical_bytes = logical_units * unit;
        Mirrored { level: Level::Raid10(copies), space, copies: copies.count, placement, logical_bytes }
    }

    /// RAID-1 or RAID-10.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Copies of each byte.
    pub fn copies(&self) -> u16 {
        self.copies
    }

    pub(super) fn space(&self) -> &Space {
        &self.space
    }

    pub(super) fn logical_bytes(&self) -> Bytes {
        self.logical_bytes
    }

    /// Parts of a member that are filled from their own beginning.
    pub(super) fn zones(&self) -> u16 {
        if matches!(self.placement, Placement::Far(_)) { self.copies } else { 1 }
    }

    /// Calls `visit(places, length)` for each contiguous piece of a range, in the order of their first bytes. The
    /// places are (member, offset on it) of every copy.
    ///
    /// A piece is contiguous on each of its members, not in the array: on groups of members it takes every unit of
    /// the range that lies on the group, as RAID-0 over the groups would.
    pub fn split(&self, offset: Bytes, length: Bytes, mut visit: impl FnMut(&[(DeviceId, Bytes)], Bytes)) {
        let (unit, members) = (self.space.stripe_unit, u64::from(self.space.members));
        let copies = u64::from(self.copies);
        let mut places: Places = [(DeviceId(0), 0); MOST_COPIES as usize];
        let places = &mut places[..usize::from(self.copies)];
        match self.placement {
            Placement::Whole => {
                if length > 0 {
                    set(places, |copy| (copy, offset));
                    visit(places, length);
                }
            }
            Placement::Groups(groups) => interleaved(unit, groups, offset, length, |group, start, bytes| {
                set(places, |copy| (group * copies + copy, start));
                visit(places, bytes);
            }),
            Placement::Far(stride) => interleaved(unit, members, offset, length, |first, start, bytes| {
                set(places, |copy| (wrapped(first + copy, members), start + copy * stride));
                visit(places, bytes);
            }),
            Placement::Near => units(unit, offset, length, |index, within, bytes| {
                let (first, row) = (index * copies % members, index * copies / members);
                set(places, |copy| {
                    let member = wrapped(first + copy, members);
                    (member, (row + u64::from(member < first)) * unit + within)
                });
                visit(places, bytes);
            }),
            Placement::Offset => units(unit, offset, length, |index, within, bytes| {
                let (first, row) = (index % members, index / members * copies);
                set(places, |copy| (wrapped(first + copy, members), (row + copy) * unit + within));
                visit(places, bytes);
            }),
        }
    }

    pub(super) fn pinned_bytes(&self, member: DeviceId) -> Bytes {
        let Placement::Near = self.placement else { return self.space.member_bytes };
        // The copies of the last units need not fill a row.
        let (unit, members) = (self.space.stripe_unit, u64::from(self.space.members));
        let places = self.logical_bytes / unit * u64::from(self.copies);
        (places / members + u64::from(u64::from(member.0) < places % members)) * unit
    }

    pub(super) fn pinned(
        &self,
        member: DeviceId,
        offset: Bytes,
        length: Bytes,
        mut visit: impl FnMut(Bytes, Bytes),
    ) {
        let (unit, members) = (self.space.stripe_unit, u64::from(self.space.members));
        let (member, copies) = (u64::from(member.0), u64::from(self.copies));
        // The member that holds copy 0 of what `member` holds as copy `copy`.
        let first = |copy: u64| wrapped(member + members - copy, members);
        let logical = |row: u64| match self.placement {
            Placement::Whole => row,
            Placement::Groups(_) | Placement::Near => (row * members + member) / copies,
            Placement::Far(stride) => {
                let rows = stride / unit;
                row % rows * members + first(row / rows)
            }
            Placement::Offset => row / copies * members + first(row % copies),
        };
        units(unit, offset, length, |row, within, bytes| visit(logical(row) * unit + within, bytes));
    }
}

/// Sets the places of all copies by their number.
#[inline]
fn set(places: &mut [(DeviceId, Bytes)], place: impl Fn(u64) -> (u64, Bytes)) {
    for (copy, entry) in places.iter_mut().enumerate() {
        let (member, offset) = place(copy as u64);
        *entry = (DeviceId(member as u16), offset);
    }
}

/// `member` modulo `members`, for one that is less than twice as large.
#[inline]
fn wrapped(member: u64, members: u64) -> u64 {
    if member >= members { member - members } else { member }
}
