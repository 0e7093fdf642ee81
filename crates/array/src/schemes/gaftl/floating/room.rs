//! Room for what moves, where members are thinly provisioned.
//!
//! ```text
//! page number   0   1   2   3   4   5   ..        a member with two parts that pages are bound to by number:
//! part          a   b   a   b   a   b             a and b each hold so many pages, and have more numbers than that
//! ```
//!
//! Of a row a member holds a page, or is the free one. What moves makes one member hold a page more and another one less. On average
//! that evens out, and an array has so many rows that chance hardly ever fills a part of a member (`stripes::member_bytes`). Where a part
//! is full all the same, nothing moves there: a write waits for the member that collects, and where one has failed parity makes
//! up for what it was to take. A failed member fills the others within the time that it takes to write all rows once.
//!
//! A row counts as a page of its members even if it has never been written. So what is written later always has its place. Copies that have
//! been left behind count until they are trimmed.

use harmonia_types::{Bytes, DeviceId};

use super::left::Left;
use crate::config::MemberConfig;

/// What members may take, by their parts.
#[derive(Debug, Clone)]
pub(super) struct Room {
    members: Vec<Parts>,
    /// Pages of a row on a member.
    pages: u64,
}

#[derive(Debug, Clone)]
struct Parts {
    /// Pages that a part holds at most.
    most: u64,
    /// By part: pages of rows that the member is not free of.
    kept: Vec<u64>,
}

impl Room {
    /// Of members that hold nothing of any row, of so many bytes each. `None` if they have room for all rows.
    pub fn of(members: &[MemberConfig], row: Bytes, taken: Bytes) -> Option<Room> {
        let parts = |member: &MemberConfig| {
            let shape = member.ssd.resolve().ok().filter(|_| member.ssd.thin.is_some())?;
            let parts = shape.lanes_of_numbers();
            let taken = taken.div_ceil(shape.page_size.into());
            let most = (u64::from(shape.capacity_pages) - taken) / u64::from(parts);
            Some(Parts { most, kept: vec![0; parts as usize] })
        };
        let page = members.first()?.ssd.mapping_unit();
        let members = members.iter().map(parts).collect::<Option<Vec<Parts>>>()?;
        Some(Room { members, pages: (row / u64::from(page)).max(1) })
    }

    /// So many members in one part each, which hold so many pages, for tests.
    #[cfg(test)]
    pub fn holding(members: u16, most: u64) -> Room {
        Room { members: vec![Parts { most, kept: vec![0] }; members.into()], pages: 1 }
    }

    /// The parts of a member that the pages of a row are in.
    fn parts(&self, member: DeviceId, row: u64) -> impl Iterator<Item = usize> + use<> {
        let parts = self.members[member.index()].kept.len() as u64;
        let pages = row * self.pages..(row + 1) * self.pages;
        pages.map(move |page| (page % parts) as usize)
    }

    /// A row has a page on a member from now on.
    pub fn keeps(&mut self, member: DeviceId, row: u64) {
        for part in self.parts(member, row) {
            let Parts { most, kept } = &mut self.members[member.index()];
            kept[part] += 1;
            debug_assert!(
                kept[part] <= *most,
                "part {part} of member {}: {} pages of {most}",
                member.0,
                kept[part]
            );
        }
    }

    /// A row leaves a member free from now on.
    pub fn frees(&mut self, member: DeviceId, row: u64) {
        self.parts(member, row).for_each(|part| self.members[member.index()].kept[part] -= 1);
    }

    /// Whether a member that is free of a row has no room for a page of it.
    #[inline]
    pub fn is_full(&self, member: DeviceId, row: u64, left: &Left) -> bool {
        let Parts { most, kept } = &self.members[member.index()];
        let fits = |left: u64| {
            let room = most.saturating_sub((left + 1) * self.pages);
            self.parts(member, row).all(|part| kept[part] <= room)
        };
        !fits(left.len()) && !fits(self.left_beside(member, row, left))
    }

    /// Copies on a member in parts that a row has pages in.
    #[cold]
    fn left_beside(&self, member: DeviceId, row: u64, left: &Left) -> u64 {
        let parts: Vec<usize> = self.parts(member, row).collect();
        let is_beside = |row: u64| self.parts(member, row).any(|part| parts.contains(&part));
        left.count_on(member, is_beside)
    }
}

#[cfg(test)]
mod tests {
    use harmonia_flash::presets;
    use harmonia_ssd::{AllocationUnit, Amount, FtlConfig, SsdConfig, Thin};

    use super::*;
    use crate::rows::Rows;

    /// A member of so many planes with eight data pages each.
    fn member(planes: u32, thin: Option<Thin>) -> MemberConfig {
        let mut ssd = SsdConfig::of(presets::find("tiny-test").expect("the preset for tests"));
        (ssd.geometry.channels, ssd.geometry.chips_per_channel, ssd.geometry.dies_per_chip) = (1, 1, 1);
        (ssd.geometry.planes_per_die, ssd.geometry.blocks_per_plane) = (planes, 12);
        (ssd.geometry.pages_per_block, ssd.geometry.page_size, ssd.geometry.summary_pages) = (2, 4096, 0);
        ssd.ftl = FtlConfig {
            allocation_unit: AllocationUnit::Plane,
            reserved_blocks: Amount::Blocks(8),
            ..FtlConfig::default()
        };
        ssd.gc.hard_threshold = Amount::Blocks(1);
        ssd.thin = thin;
        MemberConfig { capable: true, ssd }
    }

    const THIN: Option<Thin> = Some(Thin { numbers: 4, pages: 3 });

    #[test]
    fn each_part_of_a_member_has_room_of_its_own() {
        let left = Left::default();
        let mut room = Room::of(&[member(2, THIN), member(1, THIN)], 4096, 0).expect("they are thin");
        let member = DeviceId;
        (0..7).for_each(|nth| room.keeps(member(0), 2 * nth));
        assert!(!room.is_full(member(0), 14, &left) && !room.is_full(member(0), 15, &left));
        room.keeps(member(0), 14);
        assert!(room.is_full(member(0), 16, &left), "eight pages are in the first plane");
        assert!(!room.is_full(member(0), 17, &left) && !room.is_full(member(1), 16, &left));
        room.frees(member(0), 4);
        assert!(!room.is_full(member(0), 16, &left));
    }

    /// A copy takes room in its own part and on its own member, until it is trimmed.
    #[test]
    fn copies_take_room_until_they_are_trimmed() {
        let (mut left, on) = (Left::default(), DeviceId(0));
        let mut room = Room::of(&[member(2, THIN), member(2, THIN)], 4096, 0).expect("they are thin");
        (0..7).for_each(|nth| room.keeps(on, 2 * nth));
        let full = |left: &Left| (room.is_full(on, 14, left), room.is_full(DeviceId(1), 14, left));
        left.leaves(on, 1);
        assert_eq!(full(&left), (false, false), "it is in the other plane");
        left.leaves(on, 20);
        assert_eq!(full(&left), (true, false));
        left.settle(Rows { first: 0, count: 30 });
        assert_eq!(full(&left), (true, false));
        let taken = left.take(|member| member == on);
        assert_eq!((taken.len(), full(&left)), (2, (true, false)), "they are being trimmed");
        left.is_swept();
        assert_eq!(full(&left), (false, false));
    }

    #[test]
    fn what_the_array_keeps_for_itself_takes_room_and_members_with_a_page_for_each_number_have_it() {
        let mut room = Room::of(&[member(1, THIN)], 4096, 3 * 4096).expect("it is thin");
        (0..5).for_each(|row| room.keeps(DeviceId(0), row));
        assert!(room.is_full(DeviceId(0), 9, &Left::default()));
        assert!(Room::of(&[member(1, None)], 4096, 0).is_none());
        let mut two_pages = Room::of(&[member(1, THIN)], 8192, 0).expect("it is thin");
        (0..3).for_each(|row| two_pages.keeps(DeviceId(0), row));
        assert!(!two_pages.is_full(DeviceId(0), 9, &Left::default()));
        two_pages.keeps(DeviceId(0), 3);
        assert!(two_pages.is_full(DeviceId(0), 9, &Left::default()));
    }
}
