//! The whole numbers of a device: how many of what it has, and how they are counted.

use harmonia_types::{Bytes, Lpn};

use crate::order::Odometer;

/// How mapping units lie in flash pages, and flash pages in programs.
///
/// ```text
/// slot      0 1 2 3 | 4 5 6 7 | 8 9 ...        what the map, valid counts and all above the flash call a page
/// page      0       | 1       | 2              read at once; here 4 slots
/// program   0                 | 1              programmed at once; here 2 pages: of 2 planes, or of 2 types
/// ```
///
/// Planes that one program writes count as one plane: a block has the slots of all of them, and is erased as one. Pages of a
/// program go from plane to plane, and then to the next type.
///
/// Where a program may write some of its planes only, the pages of a program go from type to type, and then to the next plane. So what each
/// plane has of a program, its *part*, is slots that follow one another. Otherwise a program has one part.
///
/// Where a program carries one slot (`1:1:1`), slot, page and program are one, and nothing is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    slots_per_page: u32,
    planes: u32,
    shot: u32,
    slots_per_program: u32,
    slots_per_part: u32,
}

/// A page of a block that is read at once, counted in the order in which pages are programmed. Slots are counted by plain
/// numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlashPageOfBlock(u32);

/// What decides how long the array works for a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageKind {
    /// The offset of the page in its block.
    Offset(u32),
    /// The type that the page has in its program.
    Type(u32),
}

impl Packing {
    /// So many slots in a page, and in a program a page of each of so many planes and types.
    pub(crate) fn new(slots_per_page: u32, planes: u32, shot: u32) -> Packing {
        let slots_per_program = slots_per_page.saturating_mul(planes).saturating_mul(shot);
        Packing { slots_per_page, planes, shot, slots_per_program, slots_per_part: slots_per_program }
    }

    /// The same where a program may write some of its planes only.
    pub(crate) fn in_parts(self) -> Packing {
        Packing { slots_per_part: self.slots_per_program / self.planes, ..self }
    }

    /// Whether a program carries several slots.
    #[inline]
    pub fn packs(&self) -> bool {
        self.slots_per_program > 1
    }

    /// Whether a block lies in several planes, which one program writes.
    pub(crate) fn joins_planes(&self) -> bool {
        self.planes > 1
    }

    /// Slots of a flash page.
    pub fn slots_per_page(&self) -> u32 {
        self.slots_per_page
    }

    /// Slots of a program.
    #[inline]
    pub fn slots_per_program(&self) -> u32 {
        self.slots_per_program
    }

    /// Slots of the least that one program writes.
    #[inline]
    pub fn slots_per_part(&self) -> u32 {
        self.slots_per_part
    }

    /// Of so many slots that wait for a program with this `room`, those that whole parts of it take.
    pub(crate) fn in_whole_parts(&self, waiting: u32, room: u32) -> u32 {
        let lacking = room.saturating_sub(waiting);
        room.saturating_sub(lacking.next_multiple_of(self.slots_per_part))
    }

    /// Slots of so many pages of each of the planes that are programmed together.
    pub(crate) fn slots(&self, pages: u32) -> u32 {
        pages.saturating_mul(self.slots_per_page).saturating_mul(self.planes)
    }

    /// The page that a slot lies in.
    pub fn page_of(&self, slot: u32) -> FlashPageOfBlock {
        FlashPageOfBlock(slot / self.slots_per_page)
    }

    /// The slot behind the last one of a page.
    pub fn end_of(&self, page: FlashPageOfBlock) -> u32 {
        (page.0 + 1) * self.slots_per_page
    }

    /// Slots that are left of a program from this slot on.
    #[inline]
    pub fn left_of_program(&self, slot: u32) -> u32 {
        self.slots_per_program - slot % self.slots_per_program
    }

    /// Slots that are left of a part of a program from this slot on.
    #[inline]
    pub(crate) fn left_of_part(&self, slot: u32) -> u32 {
        self.slots_per_part - slot % self.slots_per_part
    }

    /// What a page has its time by.
    #[inline]
    pub(crate) fn kind_of(&self, page: FlashPageOfBlock) -> PageKind {
        let is_by_plane = self.slots_per_part < self.slots_per_program && self.shot > 1;
        let row = if self.planes == 1 || is_by_plane { page.0 } else { page.0 / self.planes };
        if self.shot == 1 { PageKind::Offset(row) } else { PageKind::Type(row % self.shot) }
    }

    /// Flash pages of a block of so many slots in which one of `valid` lies, if they lie anywhere.
    pub fn pages_with_some(&self, data_slots: u32, valid: u32) -> u32 {
        let invalid = data_slots - valid.min(data_slots);
        let share = |slot: u32| f64::from(invalid.saturating_sub(slot)) / f64::from(data_slots - slot);
        let none: f64 = (0..self.slots_per_page).map(share).product();
        (f64::from(data_slots / self.slots_per_page) * (1.0 - none)).round() as u32
    }

    /// Whether collecting a block of so many slots wins any: the slots it leaves free fill a program.
    #[inline]
    pub(crate) fn wins(&self, data_slots: u32, valid: u32) -> bool {
        data_slots - valid >= self.slots_per_program
    }
}

/// The whole numbers that follow from an [`SsdConfig`](crate::SsdConfig).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Dies of the device.
    pub dies: u32,
    /// Allocation units of a die: 1, or its planes.
    pub units_per_die: u32,
    /// Dies that share the blocks of a unit: 1, unless there are superblocks.
    pub dies_per_unit: u32,
    /// Blocks of the flash that make one of a unit, each with an endurance of its own: 1, unless there are superblocks. Blocks of planes that one
    /// program writes count as one.
    pub joined: u32,
    /// Planes inside an allocation unit.
    pub planes_per_unit: u32,
    /// Raw blocks of a unit.
    pub blocks_per_unit: u32,
    /// Blocks of a unit kept back from the logical space.
    pub reserved_blocks: u32,
    /// Of these, blocks that a unit can do without: it still has what collection needs.
    pub may_retire: u32,
    /// Frontiers to which the pages of one victim may go.
    pub of_victim: u32,
    /// What is noted for placement.
    pub noted: Noted,
    /// Data pages of a block.
    pub data_pages: u32,
    /// Programs that closing a block costs besides its data.
    pub summary_pages: u32,
    /// Physical page number = block << page_bits | page.
    pub page_bits: u32,
    /// Data bytes of a page.
    pub page_size: u32,
    /// How pages, which are mapping units here, lie in those of the flash.
    pub packing: Packing,
    /// The last program of a victim is filled from another block.
    pub fills: bool,
    /// Logical pages of a unit; where the allocation is dynamic, its share of them. Behind those of the host are pages of the map, where
    /// memory does not hold all of it.
    pub unit_pages: u32,
    /// Where the allocation is dynamic: live pages of a unit above which it takes no further write, because it needs
    /// its last spare to collect.
    pub most_live: Option<u32>,
    /// The number of a logical page names its die, and, where the allocation is static, its unit there. Where dies share their blocks it
    /// names the unit only.
    pub names_die: bool,
    /// Logical pages of the device that its host sees: numbers of pages.
    pub logical_pages: u32,
    /// How many of them can hold data at once; as many as there are, unless the drive is thinly provisioned.
    pub capacity_pages: u32,
    /// Data that one block of every allocation unit holds.
    pub block_bytes: Bytes,
    /// Free blocks at or below which a unit is low.
    pub hard: u32,
    /// Free blocks at or below which a device registers.
    pub soft: u32,
    /// An event ends when free exceeds this.
    pub stop: u32,
    /// Free blocks at or below which a unit collects while it is aged.
    pub ages_at: u32,
    /// Which units a die has, and the other way round.
    pub(crate) numbers: Numbers,
    /// Which unit a logical page is in, where the allocation is static; where only its plane is dynamic, which die.
    pub(crate) odometer: Odometer,
}

/// Bytes that are noted of each block and page for a placement policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Noted {
    /// Of a block.
    pub of_block: u64,
    /// Of a page.
    pub of_page: u64,
}

/// An allocation unit as its die counts them, from 0. Plain numbers of units count through the whole device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UnitOfDie(pub u32);

impl UnitOfDie {
    /// The one after it.
    pub fn next(self) -> UnitOfDie {
        UnitOfDie(self.0 + 1)
    }
}

/// Numbers of units and dies as multiples of one another. Either is a multiple, or a part: of several units of a die, or of several
/// dies that share a unit. Both are a product here, which takes the same time; there are fewer than 2^16 dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Units for each die, and dies for each unit, times 2^32, rounded up.
    units: u64,
    dies: u64,
    /// Lanes of operations for each die: those of units, unless dies share them.
    lanes: u64,
}

impl Numbers {
    /// Of dies that have so many units each, or of which so many share one.
    pub fn new(units_per_die: u32, dies_per_unit: u32, has_lanes_of_dies: bool) -> Numbers {
        let part = |of: u32, by: u32| (u64::from(of) << 32).div_ceil(u64::from(by));
        let units = part(units_per_die, dies_per_unit);
        let lanes = if has_lanes_of_dies { part(1, 1) } else { units };
        Numbers { units, dies: part(dies_per_unit, units_per_die), lanes }
    }

    #[inline]
    fn first_unit(self, die: u32) -> u32 {
        ((u64::from(die) * self.units) >> 32) as u32
    }

    #[inline]
    fn first_die(self, unit: u32) -> u32 {
        ((u64::from(unit) * self.dies) >> 32) as u32
    }
}

impl Shape {
    /// The numbers, among blocks of the flash, of those that make a block of this unit. Such a block is used no more when the first of them
    /// has worn out.
    pub fn of_flash(&self, unit: u32) -> std::ops::Range<u32> {
        unit * self.joined..(unit + 1) * self.joined
    }

    /// Allocation units of the device.
    pub fn units(&self) -> u32 {
        self.numbers.first_unit(self.dies)
    }

    /// Logical pages of a unit that the host sees.
    pub fn host_pages(&self) -> u32 {
        self.logical_pages / self.units()
    }

    /// Parts of the device that pages are bound to by number: the allocation units, or one where pages may lie anywhere. Pages are
    /// dealt to them in turn.
    pub fn lanes_of_numbers(&self) -> u32 {
        if self.is_dynamic() { 1 } else { self.units() }
    }

    /// Logical pages of a unit with pages of the map, as the unit counts them.
    pub fn map_pages(&self) -> std::ops::Range<u32> {
        self.host_pages()..self.unit_pages
    }

    /// Entries of the map of all units.
    pub fn entries(&self) -> usize {
        self.units() as usize * self.unit_pages as usize
    }

    /// The device's number of a unit of a die.
    #[inline]
    pub(crate) fn unit(&self, die: u32, unit: UnitOfDie) -> u32 {
        self.numbers.first_unit(die) + unit.0
    }

    /// The device's numbers of all units of a die.
    #[inline]
    pub(crate) fn units_of(&self, die: u32) -> std::ops::Range<u32> {
        let first = self.numbers.first_unit(die);
        first..first + self.units_per_die
    }

    /// The lanes in which operations wait at a die: of its units, or where dies share their blocks of the die itself.
    #[inline]
    pub(crate) fn lanes_of(&self, die: u32) -> std::ops::Range<u32> {
        let first = ((u64::from(die) * self.numbers.lanes) >> 32) as u32;
        first..first + self.units_per_die
    }

    /// The die that has a unit of the device; of several the first.
    #[inline]
    pub(crate) fn die_of(&self, unit: u32) -> u32 {
        self.numbers.first_die(unit)
    }

    /// The dies that have a unit of the device.
    pub(crate) fn dies_of(&self, unit: u32) -> std::ops::Range<u32> {
        let first = self.die_of(unit);
        first..first + self.dies_per_unit
    }

    /// Whether dies share blocks, or planes of one die do, so that operations are bound to a die by the map.
    #[inline]
    pub(crate) fn joins(&self) -> bool {
        self.joined > 1
    }

    /// The number that a unit of the device has in its die.
    #[inline]
    pub(crate) fn unit_in_die(&self, unit: u32) -> UnitOfDie {
        UnitOfDie(unit % self.units_per_die)
    }

    /// Whether a logical page may lie in several units: those of its die if its number names that, or else all.
    #[inline]
    pub fn is_dynamic(&self) -> bool {
        self.most_live.is_some()
    }

    /// Raw blocks of a plane.
    pub(crate) fn blocks_per_plane(&self) -> u32 {
        self.blocks_per_unit / self.planes_per_unit
    }

    /// The plane of a unit in which one of its blocks lies, counted from the unit's first.
    #[inline]
    pub(crate) fn plane_in_unit(&self, block: u32) -> u32 {
        // Dividing takes time, and most units are planes.
        if self.planes_per_unit == 1 { 0 } else { block / self.blocks_per_plane() }
    }

    /// Flash pages of a unit, as its page numbers count them.
    #[inline]
    pub fn flash_pages(&self) -> u32 {
        self.blocks_per_unit << self.page_bits
    }

    /// What the map adds to the page numbers of a unit: it counts through the whole device where a logical page may
    /// lie anywhere.
    #[inline]
    pub(crate) fn ppn_base(&self, unit: u32) -> u32 {
        if self.is_dynamic() { unit * self.flash_pages() } else { 0 }
    }

    /// The part of the map a unit's logical pages lie in: all of it where they may lie anywhere.
    #[inline]
    pub(crate) fn map_range(&self, unit: u32) -> std::ops::Range<usize> {
        let (first, pages) = if self.is_dynamic() {
            (0, self.logical_pages)
        } else {
            (unit * self.unit_pages, self.unit_pages)
        };
        first as usize..(first + pages) as usize
    }

    /// The unit at `position` of the rotation of dynamic allocation: channel, way, die, then plane.
    #[inline]
    pub fn unit_at(&self, position: u32) -> u32 {
        position % self.dies * self.units_per_die + position / self.dies
    }

    /// The die and allocation unit that the number of a logical page names, and its number inside the unit.
    #[inline]
    pub fn locate(&self, lpn: u32) -> (u32, u32, u32) {
        self.odometer.read(lpn)
    }

    /// The units of the die that the number of a logical page names; where it names none, all.
    pub fn units_for(&self, lpn: u32) -> std::ops::Range<u32> {
        if self.names_die { self.units_of(self.locate(lpn).0) } else { 0..self.units() }
    }

    /// [`Shape::locate`] of `count` logical pages from `first` on.
    #[inline]
    pub fn walk(&self, first: u32, count: u32) -> impl Iterator<Item = (u32, u32, u32)> + Clone + use<> {
        self.odometer.walk(first, count)
    }

    /// The LPN on the device of page `lpn` of `unit`: the inverse of [`Shape::locate`].
    #[inline]
    pub fn device_lpn(&self, unit: u32, lpn: u32) -> Lpn {
        if self.is_dynamic() {
            return Lpn(lpn);
        }
        Lpn(self.odometer.first_of(unit) + self.units() * lpn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four slots a page; a program has pages of two planes and three types. In parts, each plane has its own half of it.
    #[test]
    fn slots_lie_in_pages_parts_and_programs() {
        let whole = Packing::new(4, 2, 3);
        let parts = whole.in_parts();
        assert_eq!((whole.slots_per_program(), whole.slots_per_part(), parts.slots_per_part()), (24, 24, 12));
        assert_eq!([0, 3, 4, 23].map(|slot| whole.page_of(slot).0), [0, 0, 1, 5]);
        assert_eq!((whole.end_of(FlashPageOfBlock(2)), whole.slots(5)), (12, 40));
        assert_eq!([0, 5, 23, 24].map(|slot| whole.left_of_program(slot)), [24, 19, 1, 24]);
        assert_eq!([0, 5, 11, 12].map(|slot| parts.left_of_part(slot)), [12, 7, 1, 12]);
        let in_parts = [0, 11, 12, 23, 24, 30].map(|waiting| parts.in_whole_parts(waiting, 24));
        assert_eq!(in_parts, [0, 0, 12, 12, 24, 24]);
        assert_eq!(
            [(96, 71), (96, 72), (96, 73)].map(|(of, valid)| whole.wins(of, valid)),
            [true, true, false]
        );
        assert!(Packing::new(1, 1, 2).packs() && !Packing::new(1, 1, 1).packs());
    }

    /// Planes first and then types; in parts the other way round. Where a program has one type, the row says it.
    #[test]
    fn pages_have_their_time_by_type_or_by_row() {
        let kinds = |packing: Packing| {
            [0, 1, 2, 3, 6].map(|page| match packing.kind_of(FlashPageOfBlock(page)) {
                PageKind::Offset(row) => ("row", row),
                PageKind::Type(kind) => ("type", kind),
            })
        };
        assert_eq!(kinds(Packing::new(4, 2, 3)), [0, 0, 1, 1, 0].map(|kind| ("type", kind)));
        assert_eq!(kinds(Packing::new(4, 2, 3).in_parts()), [0, 1, 2, 0, 0].map(|kind| ("type", kind)));
        assert_eq!(kinds(Packing::new(4, 2, 1).in_parts()), [0, 0, 1, 1, 3].map(|row| ("row", row)));
        assert_eq!(kinds(Packing::new(4, 1, 1)), [0, 1, 2, 3, 6].map(|row| ("row", row)));
    }

    /// Two pages of two slots: one live slot lies in one page, two lie in one page in one of three cases.
    #[test]
    fn live_slots_lie_in_so_many_pages() {
        let pages = |valid| Packing::new(2, 1, 1).pages_with_some(4, valid);
        assert_eq!([0, 1, 2, 3, 4, 9].map(pages), [0, 1, 2, 2, 2, 2]);
        // 16 pages of four: 48/64 x 47/63 x 46/62 x 45/61 of them have none.
        assert_eq!(Packing::new(4, 1, 1).pages_with_some(64, 16), 11);
    }

    /// Products find what divisions do.
    #[test]
    fn dies_and_units_are_multiples_of_one_another() {
        for units_per_die in [1, 2, 3, 5, 7, 64] {
            let numbers = Numbers::new(units_per_die, 1, false);
            for die in (0..65_536).step_by(13).chain([65_535]) {
                let first = die * units_per_die;
                assert_eq!(numbers.first_unit(die), first);
                for unit in first..first + units_per_die {
                    assert_eq!(numbers.first_die(unit), die, "{units_per_die} units a die");
                }
            }
        }
        for dies_per_unit in [2, 3, 6, 7, 641, 21_845, 65_535] {
            let numbers = Numbers::new(1, dies_per_unit, true);
            for die in 0..65_536 {
                let unit = numbers.first_unit(die);
                assert_eq!(unit, die / dies_per_unit, "{dies_per_unit} dies a unit");
                assert_eq!(numbers.first_die(unit), unit * dies_per_unit);
            }
        }
    }
}
