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
use super::{Copies, Level, MOST_COPIES, Pattern, Space, units, wrapped};

/// RAID-1 and RAID-10.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirrored {
    level: Level,
    space: Space,
    copies: u16,
    placement: Placement,
    /// Bytes that the host can use.
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
        // As md does: near copies may end within the last row, those of far and offset take whole groups of rows.
        let (logical_units, rows) = match pattern {
            Pattern::Near => (rows * members / count, rows),
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

    /// Whether every so many members hold the same, and nobody else holds any of it.
    pub fn is_of_groups(&self) -> bool {
        matches!(self.placement, Placement::Groups(_))
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

#[cfg(test)]
mod tests {
    use super::super::Striped;
    use super::*;
    use harmonia_engine::Rng;

    const UNIT: Bytes = 10;

    fn raid10(pattern: Pattern, count: u16, members: u16, rows: u64) -> Mirrored {
        let space = Space { members, stripe_unit: UNIT, page_size: 1, member_bytes: rows * UNIT };
        Mirrored::raid10(Copies { pattern, count }, space)
    }

    fn pieces(mirrored: &Mirrored, offset: Bytes, length: Bytes) -> Vec<(Vec<(u16, Bytes)>, Bytes)> {
        let mut pieces = Vec::new();
        mirrored.split(offset, length, |places, bytes| {
            pieces.push((places.iter().map(|&(device, start)| (device.0, start)).collect(), bytes));
        });
        pieces
    }

    /// The rows of all members: which unit of the array lies where, `-` for none.
    fn rows(mirrored: &Mirrored) -> Vec<String> {
        let members = usize::from(mirrored.space.members);
        let mut rows = vec![vec!["-".to_owned(); members]; (mirrored.space.member_bytes / UNIT) as usize];
        for unit in 0..mirrored.logical_bytes / UNIT {
            mirrored.split(unit * UNIT, UNIT, |places, _| {
                for &(device, offset) in places {
                    assert_eq!(offset % UNIT, 0);
                    rows[(offset / UNIT) as usize][device.index()] = unit.to_string();
                }
            });
        }
        rows.into_iter().map(|row| row.join(" ")).collect()
    }

    /// Worked out by hand from md's formulas: columns are members, rows are stripe units on them.
    #[test]
    fn copies_lie_as_md_places_them() {
        let table = |pattern, count, members, given| rows(&raid10(pattern, count, members, given));
        let near = ["0 0 1 1 2", "2 3 3 4 4", "5 5 6 6 7", "7 8 8 9 9", "10 10 11 11 -"];
        assert_eq!(table(Pattern::Near, 2, 5, 5), near);
        assert_eq!(table(Pattern::Near, 2, 4, 3), ["0 0 1 1", "2 2 3 3", "4 4 5 5"]);
        assert_eq!(table(Pattern::Near, 3, 5, 3), ["0 0 0 1 1", "1 2 2 2 3", "3 3 4 4 4"]);
        assert_eq!(table(Pattern::Near, 3, 5, 2), ["0 0 0 1 1", "1 2 2 2 -"]);
        // Two units in two rows of four members, and nothing of the second row on the last three.
        assert_eq!(table(Pattern::Near, 3, 4, 2), ["0 0 0 1", "1 1 - -"]);
        let far = ["0 1 2 3 4", "5 6 7 8 9", "10 11 12 13 14", "4 0 1 2 3", "9 5 6 7 8", "14 10 11 12 13"];
        assert_eq!(table(Pattern::Far, 2, 5, 6), far);
        assert_eq!(table(Pattern::Far, 2, 5, 7), far);
        let far3 = ["0 1 2 3", "4 5 6 7", "3 0 1 2", "7 4 5 6", "2 3 0 1", "6 7 4 5"];
        assert_eq!(table(Pattern::Far, 3, 4, 6), far3);
        let offset = ["0 1 2 3 4", "4 0 1 2 3", "5 6 7 8 9", "9 5 6 7 8", "10 11 12 13 14", "14 10 11 12 13"];
        assert_eq!(table(Pattern::Offset, 2, 5, 6), offset);
        let offset3 = ["0 1 2 3", "3 0 1 2", "2 3 0 1", "4 5 6 7", "7 4 5 6", "6 7 4 5"];
        assert_eq!(table(Pattern::Offset, 3, 4, 8), offset3);
        assert_eq!(table(Pattern::Far, 2, 2, 2), ["0 1", "1 0"]);
    }

    #[test]
    fn copies_come_in_md_s_order_and_merge_where_contiguous() {
        let near = raid10(Pattern::Near, 2, 5, 4);
        // Unit 2: the last member's first row, then the first member's second.
        assert_eq!(pieces(&near, 23, 4), [(vec![(4, 3), (0, 13)], 4)]);
        let wrapped = [(vec![(2, 8), (3, 8)], 2), (vec![(4, 0), (0, 10)], 10), (vec![(1, 10), (2, 10)], 1)];
        assert_eq!(pieces(&near, 18, 13), wrapped);
        // Three pairs: units 1, 4 and 7 are one piece of the second pair.
        let pairs = raid10(Pattern::Near, 2, 6, 4);
        let merged = [(vec![(2, 5), (3, 5)], 25), (vec![(4, 0), (5, 0)], 20), (vec![(0, 10), (1, 10)], 20)];
        assert_eq!(pieces(&pairs, 15, 65), merged);
        let far = raid10(Pattern::Far, 2, 3, 8);
        let thirds = [(vec![(2, 4), (0, 44)], 9), (vec![(0, 10), (1, 50)], 10), (vec![(1, 10), (2, 50)], 10)];
        assert_eq!(pieces(&far, 24, 29), thirds);
        let offset = raid10(Pattern::Offset, 2, 3, 8);
        let rows = [(vec![(2, 4), (0, 14)], 6), (vec![(0, 20), (1, 30)], 10), (vec![(1, 20), (2, 30)], 3)];
        assert_eq!(pieces(&offset, 24, 19), rows);
        assert_eq!(pieces(&raid10(Pattern::Near, 2, 2, 8), 7, 61), [(vec![(0, 7), (1, 7)], 61)]);
        let space = Space { members: 3, stripe_unit: UNIT, page_size: 1, member_bytes: 100 };
        assert_eq!(pieces(&Mirrored::raid1(space), 7, 61), [(vec![(0, 7), (1, 7), (2, 7)], 61)]);
    }

    #[test]
    fn near_copies_on_pairs_are_raid0_over_the_pairs() {
        let mut rng = Rng::stream(3, "pairs");
        for _ in 0..2000 {
            let (groups, rows) = (1 + rng.below(5) as u16, 1 + rng.below(30));
            let mirrored = raid10(Pattern::Near, 2, 2 * groups, rows);
            let striped = Striped::new(groups, UNIT, 1, rows * UNIT);
            assert_eq!(mirrored.logical_bytes, striped.logical_bytes());
            let offset = rng.below(striped.logical_bytes());
            let length = rng.below(striped.logical_bytes() - offset + 1);
            let mut doubled = Vec::new();
            striped.split(offset, length, |group, start, bytes| {
                doubled.push((vec![(2 * group.0, start), (2 * group.0 + 1, start)], bytes));
            });
            assert_eq!(pieces(&mirrored, offset, length), doubled, "{mirrored:?} {offset}+{length}");
        }
    }
}
