//! What a unit keeps besides the tables of its device.

use harmonia_engine::Rng;
use harmonia_types::IoCause;
use serde::{Deserialize, Serialize};

use super::leveling::UnitLeveling;
use super::placed::Placed;
use super::wear::UnitWear;
use crate::placement::MOST_FRONTIERS;
use crate::shape::Shape;

/// No page, no block.
pub(crate) const NONE: u32 = u32::MAX;

/// Counts of what happened to a unit or a device since it was empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Page programs by cause.
    #[serde(with = "by_cause")]
    pub programs: [u64; IoCause::COUNT],
    /// Block erases.
    pub erases: u64,
    /// Victims collected.
    pub victims: u64,
    /// Pages of open blocks left unwritten.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Numbers by cause, those of the last causes left out if they are zero: files of before a cause was added stay as they are.
mod by_cause {
    use harmonia_types::IoCause;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Causes that every file has.
    const LEAST: usize = 7;

    pub fn serialize<S: Serializer>(
        numbers: &[u64; IoCause::COUNT],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let told = numbers.iter().rposition(|&number| number > 0).map_or(0, |last| last + 1);
        serializer.collect_seq(&numbers[..told.max(LEAST)])
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<[u64; IoCause::COUNT], D::Error> {
        let told = Vec::<u64>::deserialize(deserializer)?;
        let mut numbers = [0; IoCause::COUNT];
        match numbers.get_mut(..told.len()).filter(|_| told.len() >= LEAST) {
            Some(known) => known.copy_from_slice(&told),
            None => return Err(D::Error::custom(format!("{} causes", told.len()))),
        }
        Ok(numbers)
    }
}

impl Tally {
    /// Adds `other`.
    pub fn add(&mut self, other: &Tally) {
        for (sum, n) in self.programs.iter_mut().zip(other.programs) {
            *sum += n;
        }
        self.erases += other.erases;
        self.victims += other.victims;
        self.skipped += other.skipped;
    }

    /// Page programs for valid pages of victims.
    pub fn moves(&self) -> u64 {
        self.programs[IoCause::Gc as usize] + self.programs[IoCause::Leveling as usize]
    }

    /// Flash data pages programmed, for whatever but metadata.
    pub fn data_programs(&self) -> u64 {
        self.programs.iter().sum::<u64>() - self.programs[IoCause::Metadata as usize]
    }
}

/// A partly written block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenBlock {
    pub(super) block: u32,
    pub(super) page: u32,
}

/// What one allocation unit keeps besides the big tables; opaque outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitState {
    /// Write frontiers, as the placement policy numbers them: those of the host come first.
    pub(super) frontiers: OpenBlocks,
    /// Partly written blocks set aside; used up before a new one is opened.
    pub(super) partial: Vec<OpenBlock>,
    /// Ring of free blocks, first erased first used: position of the first, and how many.
    pub(super) free_head: u32,
    pub(super) free: u32,
    /// Blocks erased by an event that is not over: free, but not yet visible to status.
    pub(crate) hidden: u32,
    /// Blocks closed so far.
    pub(super) closings: u32,
    /// LPNs mapped.
    pub(super) mapped: u32,
    /// Stream of the victim policy.
    pub(super) rng: Rng,
    /// Counts since the unit was empty.
    pub(crate) tally: Tally,
    /// What is remembered for a placement policy that asks for more than who writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) placed: Option<Box<Placed>>,
    /// How much its blocks last, where that is limited. A run sets it; an aged state has none.
    #[serde(skip)]
    pub(crate) wear: Option<Box<UnitWear>>,
    /// Where wear is levelled; as for `wear`.
    #[serde(skip)]
    pub(crate) leveling: Option<Box<UnitLeveling>>,
    /// What the pages of the last victim move for: collection, or levelling.
    #[serde(skip, default = "collection")]
    pub(crate) moves_for: IoCause,
}

fn collection() -> IoCause {
    IoCause::Gc
}

impl UnitState {
    /// Blocks that have worn out.
    #[inline]
    pub(crate) fn retired(&self) -> u32 {
        self.wear.as_ref().map_or(0, |wear| wear.retired)
    }

    /// Whether, one more host write taken, there surely is room for the live pages of a victim.
    pub(super) fn has_room_to_collect(&self, gc_frontier: usize, shape: &Shape) -> bool {
        if self.placed.is_some() {
            // A block for the host, and one for each frontier to which pages of a victim go.
            return self.free > shape.of_victim;
        }
        let left = |open: &OpenBlock| u64::from(shape.data_pages - open.page);
        let mut open: u64 = self.frontiers[gc_frontier].iter().map(left).sum();
        let mut free = self.free;
        if gc_frontier == 0 {
            open += self.partial.iter().map(left).sum::<u64>();
        } else if self.frontiers[0].is_none() {
            free = free.saturating_sub(1);
        }
        // One program of the host, and of a victim all but one.
        let taken = shape.data_pages - 1 + shape.packing.slots_per_program();
        u64::from(free) * u64::from(shape.data_pages) + open > u64::from(taken)
    }

    #[inline]
    pub(super) fn free_or_aside(&self) -> u32 {
        self.free + self.partial.len() as u32
    }

    /// Free blocks without those an unfinished event has erased.
    #[inline]
    pub(crate) fn visible_free(&self) -> u32 {
        let free = self.free_or_aside();
        free - self.hidden.min(free)
    }
}

/// The blocks that frontiers of a unit have open.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenBlocks {
    of: [Option<OpenBlock>; MOST_FRONTIERS],
    count: u8,
}

impl OpenBlocks {
    /// None is open yet, of so many. There are never fewer than two, so that states of before read alike.
    pub fn none(count: u8) -> OpenBlocks {
        OpenBlocks { of: [None; MOST_FRONTIERS], count: count.max(2) }
    }

    /// By frontier.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &Option<OpenBlock>> {
        self.of[..usize::from(self.count)].iter()
    }

    /// How many frontiers there are.
    pub fn len(&self) -> usize {
        self.count.into()
    }
}

impl std::ops::Index<usize> for OpenBlocks {
    type Output = Option<OpenBlock>;

    #[inline]
    fn index(&self, frontier: usize) -> &Option<OpenBlock> {
        &self.of[frontier]
    }
}

impl std::ops::IndexMut<usize> for OpenBlocks {
    #[inline]
    fn index_mut(&mut self, frontier: usize) -> &mut Option<OpenBlock> {
        &mut self.of[frontier]
    }
}

impl Serialize for OpenBlocks {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for OpenBlocks {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let open = Vec::<Option<OpenBlock>>::deserialize(deserializer)?;
        if !(2..=MOST_FRONTIERS).contains(&open.len()) {
            return Err(serde::de::Error::invalid_length(open.len(), &"2 to 18 frontiers"));
        }
        let mut all = OpenBlocks::none(open.len() as u8);
        all.of[..open.len()].copy_from_slice(&open);
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use harmonia_flash::presets;
    use harmonia_types::registry::PolicyConfig;

    use super::*;
    use crate::config::{Amount, SsdConfig};
    use crate::ftl::Ftl;
    use crate::placement::Frontiers;

    /// A unit of blocks of 16 pages, with so many free ones, and what frontiers have open: pages of them that are written.
    fn has_room(frontiers: Frontiers, free: u32, written: [Option<u32>; 2], aside: &[u32]) -> bool {
        let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        config.ftl.frontiers = frontiers;
        let ftl = Ftl::new(&config, 1, "device").expect("it works");
        assert_eq!(ftl.shape().data_pages, 16);
        let mut unit = ftl.units[0].clone();
        let open = |page: &u32| OpenBlock { block: 0, page: *page };
        unit.free = free;
        (0..).zip(written).for_each(|(frontier, page)| unit.frontiers[frontier] = page.as_ref().map(open));
        unit.partial = aside.iter().map(open).collect();
        let of_collection = usize::from(frontiers == Frontiers::Separate);
        unit.has_room_to_collect(of_collection, ftl.shape())
    }

    /// A write of the host and 15 live pages of a victim leave a page.
    #[test]
    fn there_is_room_to_collect_if_a_page_is_left() {
        let shared = |free, written, aside: &[u32]| has_room(Frontiers::Shared, free, [written, None], aside);
        assert!(shared(1, Some(15), &[]) && !shared(1, None, &[]) && !shared(1, Some(16), &[]));
        assert!(!shared(0, Some(0), &[]) && shared(2, None, &[]));
        assert!(shared(0, Some(8), &[7]) && !shared(0, Some(8), &[8]), "blocks set aside are used, too");
        // The host opens the first of the free blocks if it has none.
        let separate = |free, written| has_room(Frontiers::Separate, free, written, &[0]);
        assert!(separate(1, [Some(16), Some(15)]) && !separate(1, [Some(0), Some(16)]));
        assert!(separate(2, [None, Some(15)]) && !separate(1, [None, Some(15)]));
    }

    /// One for the host, and three to which pages of a victim go.
    #[test]
    fn a_placement_needs_a_block_for_each_frontier() {
        let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        (config.geometry.blocks_per_plane, config.ftl.reserved_blocks) = (64, Amount::Blocks(24));
        (config.ftl.frontiers, config.ftl.placement) = (Frontiers::Separate, PolicyConfig::named("sepbit"));
        let ftl = Ftl::new(&config, 1, "device").expect("it works");
        let mut unit = ftl.units[0].clone();
        let mut has_room = |free| {
            unit.free = free;
            unit.has_room_to_collect(1, ftl.shape())
        };
        assert_eq!([has_room(3), has_room(4)], [false, true]);
    }

    #[test]
    fn programs_are_told_apart_by_cause() {
        let mut tally = Tally::default();
        for (cause, programs) in
            [(IoCause::Host, 5), (IoCause::Gc, 20), (IoCause::Leveling, 300), (IoCause::Metadata, 1000)]
        {
            tally.programs[cause as usize] = programs;
        }
        assert_eq!((tally.moves(), tally.data_programs()), (320, 325));
        let more = Tally { erases: 1, victims: 2, skipped: 3, ..tally };
        tally.add(&more);
        tally.add(&more);
        assert_eq!((tally.moves(), tally.erases, tally.victims, tally.skipped), (960, 2, 4, 6));
    }
}
