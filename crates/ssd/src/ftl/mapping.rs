//! The mapping state of a device: its tables, and its units as parts of them.

use harmonia_engine::Rng;
use harmonia_types::{IoCause, Lpn};

use super::free_list::FreeList;
use super::leveling::UnitLeveling;
use super::placed::{Placing, To};
use super::state::{NONE, OpenBlocks, Tally, UnitState};
use super::unit::{OutOfBlocks, UnitMut};
use crate::block::{BlockId, BlockState, BlockTable, GROUP, GroupKey, encode};
use crate::config::{Infeasible, SsdConfig};
use crate::leveling::LevelingConfig;
use crate::probe::{Origin, Probe};
use crate::shape::Shape;
use crate::table::{HugeTable, Parts};

/// The mapping state of one device. Cloning it is how an aged device is shared by runs.
#[derive(Debug, Clone)]
pub struct Ftl {
    pub(super) shape: Shape,
    /// Index of the frontier garbage collection writes to.
    pub(super) gc_frontier: usize,
    pub(super) free_list: FreeList,
    /// A page lies in the unit that its number names, and only who writes it decides to which frontier it goes.
    pub(super) is_simple: bool,
    /// What is noted for a placement policy that looks at more.
    pub(super) placing: Option<Box<Placing>>,
    pub(super) map: HugeTable,
    pub(super) reverse: HugeTable,
    pub(super) entries: Vec<u32>,
    /// Best block of each group of blocks of a unit.
    pub(super) best: Vec<GroupKey>,
    pub(super) erases: Vec<u32>,
    pub(super) closed_at: Vec<u32>,
    pub(super) free_ring: Vec<u32>,
    pub(crate) units: Vec<UnitState>,
    /// Reused by relocation: the live LPNs of a victim.
    pub(super) scratch: Vec<u32>,
}

/// Bytes that are kept of a block.
const OF_BLOCK: u64 = 16;

/// What blocks use of the reverse map: the upper bits of a page number are the block, the lower ones the page in it.
pub(super) fn parts(shape: &Shape) -> Parts {
    Parts { used: shape.data_pages as usize, of: 1 << shape.page_bits }
}

impl Ftl {
    /// An empty device. `name` (such as `device/3`) keys its random streams under `seed`.
    ///
    /// # Errors
    /// If the configuration cannot work.
    pub fn new(config: &SsdConfig, seed: u64, name: &str) -> Result<Self, Infeasible> {
        let shape = config.resolve()?;
        let units = shape.units() as usize;
        let blocks = shape.blocks_per_unit as usize;
        let policy = config.placement()?;
        let (count, placing) = (policy.frontiers(), Placing::new(&*policy, &shape));
        let unit_state = |unit| UnitState {
            frontiers: OpenBlocks::none(count.all),
            partial: Vec::new(),
            free_head: 0,
            free: shape.blocks_per_unit,
            hidden: 0,
            closings: 0,
            mapped: 0,
            rng: Rng::stream(seed, &format!("{name}/unit/{unit}/victim")),
            tally: Tally::default(),
            placed: placing.as_ref().map(|placing| Box::new(placing.unit())),
            wear: None,
            leveling: None,
            moves_for: IoCause::Gc,
        };
        Ok(Ftl {
            gc_frontier: policy.by_cause().unwrap_or(count.all - 1).into(),
            free_list: config.ftl.free_list,
            is_simple: !shape.is_dynamic() && placing.is_none(),
            map: HugeTable::new(shape.entries(), NONE),
            reverse: HugeTable::in_parts(units * (blocks << shape.page_bits), NONE, parts(&shape)),
            entries: vec![encode(BlockState::Free, 0); units * blocks],
            best: vec![GroupKey::NONE; units * blocks.div_ceil(GROUP)],
            erases: vec![0; units * blocks],
            closed_at: vec![0; units * blocks],
            free_ring: (0..units).flat_map(|_| 0..shape.blocks_per_unit).collect(),
            units: (0..units).map(unit_state).collect(),
            placing,
            scratch: Vec::new(),
            shape,
        })
    }

    /// Bytes of memory that the tables of a device of this shape take.
    pub fn memory_bytes(shape: &Shape) -> u64 {
        let flash_pages = u64::from(shape.units()) * u64::from(shape.flash_pages());
        let blocks = u64::from(shape.units()) * u64::from(shape.blocks_per_unit);
        let maps = HugeTable::memory_bytes(shape.entries() as u64)
            + HugeTable::memory_bytes_in_parts(flash_pages, parts(shape));
        maps + blocks * OF_BLOCK
    }

    /// Bytes of address space that they take.
    pub fn address_bytes(shape: &Shape) -> u64 {
        let flash_pages = u64::from(shape.units()) * u64::from(shape.flash_pages());
        let blocks = u64::from(shape.units()) * u64::from(shape.blocks_per_unit);
        HugeTable::address_bytes(shape.entries() as u64)
            + HugeTable::address_bytes(flash_pages)
            + blocks * OF_BLOCK
    }

    /// Wear is levelled from now on. Nothing happens if it is already.
    pub fn level_wear(&mut self, config: &LevelingConfig) {
        let blocks = self.shape.blocks_per_unit as usize;
        let erases = self.erases.chunks(blocks);
        for (state, erases) in self.units.iter_mut().zip(erases).filter(|(state, _)| state.leveling.is_none())
        {
            state.leveling = Some(Box::new(UnitLeveling::new(config, erases)));
        }
    }

    /// Blocks collected to level wear, and pages moved out of them; `None` where it is not levelled.
    pub fn leveled(&self) -> Option<(u64, u64)> {
        let of_unit = |state: &UnitState| {
            let moved = state.tally.programs[IoCause::Leveling as usize];
            state.leveling.as_deref().map(|leveling| (leveling.leveled, moved))
        };
        self.units.iter().filter_map(of_unit).reduce(|sum, of| (sum.0 + of.0, sum.1 + of.1))
    }

    /// The device's whole numbers.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// One allocation unit, to be read or changed.
    #[inline(always)]
    pub fn unit(&mut self, unit: u32) -> UnitMut<'_> {
        let shape = &self.shape;
        let u = unit as usize;
        let blocks = shape.blocks_per_unit as usize;
        let groups = blocks.div_ceil(GROUP);
        let flash_pages = blocks << shape.page_bits;
        UnitMut {
            unit,
            gc_frontier: self.gc_frontier,
            free_list: self.free_list,
            placing: self.placing.as_deref_mut().map(|placing| placing.of_unit(unit, shape)),
            state: &mut self.units[u],
            base: shape.ppn_base(unit),
            map: &mut self.map[shape.map_range(unit)],
            reverse: &mut self.reverse[u * flash_pages..][..flash_pages],
            entries: &mut self.entries[u * blocks..][..blocks],
            best: &mut self.best[u * groups..][..groups],
            erases: &mut self.erases[u * blocks..][..blocks],
            closed_at: &mut self.closed_at[u * blocks..][..blocks],
            free_ring: &mut self.free_ring[u * blocks..][..blocks],
            scratch: &mut self.scratch,
            shape,
        }
    }

    /// Calls `work` on every unit in order, each with a scratch buffer of its own, so that callers may hand units to
    /// threads. `work` receives the units as an iterator of independent views.
    ///
    /// # Panics
    /// If the allocation is dynamic: then units share their map.
    pub fn with_units<R>(&mut self, work: impl FnOnce(Vec<UnitMut<'_>>, &Shape) -> R) -> R {
        let shape = &self.shape;
        assert!(!shape.is_dynamic(), "units that share their map are not independent");
        let pages = shape.unit_pages as usize;
        let blocks = shape.blocks_per_unit as usize;
        let mut scratches: Vec<Vec<u32>> = vec![Vec::new(); self.units.len()];
        let mut map = self.map.chunks_mut(pages);
        let mut reverse = self.reverse.chunks_mut(blocks << shape.page_bits);
        let mut entries = self.entries.chunks_mut(blocks);
        let mut best = self.best.chunks_mut(blocks.div_ceil(GROUP));
        let mut erases = self.erases.chunks_mut(blocks);
        let mut closed_at = self.closed_at.chunks_mut(blocks);
        let mut free_ring = self.free_ring.chunks_mut(blocks);
        let mut placing = self.placing.as_deref_mut().map(|placing| placing.units(shape));
        let mut units = Vec::with_capacity(self.units.len());
        for (unit, (state, scratch)) in self.units.iter_mut().zip(&mut scratches).enumerate() {
            let (
                Some(map),
                Some(reverse),
                Some(entries),
                Some(best),
                Some(erases),
                Some(closed_at),
                Some(free_ring),
            ) = (
                map.next(),
                reverse.next(),
                entries.next(),
                best.next(),
                erases.next(),
                closed_at.next(),
                free_ring.next(),
            )
            else {
                unreachable!("every table has one chunk per unit");
            };
            units.push(UnitMut {
                unit: unit as u32,
                gc_frontier: self.gc_frontier,
                free_list: self.free_list,
                placing: placing.as_mut().and_then(Iterator::next),
                state,
                base: 0,
                map,
                reverse,
                entries,
                best,
                erases,
                closed_at,
                free_ring,
                scratch,
                shape,
            });
        }
        work(units, shape)
    }

    /// Free blocks of a unit, as thresholds count them: erased ones, and those set aside partly written, which stand in
    /// for the erased ones that were opened in their place. Other open blocks do not count.
    #[inline]
    pub fn free_blocks(&self, unit: u32) -> u32 {
        self.units[unit as usize].free_or_aside()
    }

    /// The fewest free blocks of any of some units.
    #[inline]
    pub(crate) fn least_free(&self, units: std::ops::Range<u32>) -> u32 {
        let free = |unit: u32| self.free_blocks(unit);
        match units.end - units.start {
            1 => free(units.start),
            2 => free(units.start).min(free(units.start + 1)),
            _ => units.map(free).fold(u32::MAX, u32::min),
        }
    }

    /// Pages of a unit that hold invalid data: what collecting could win.
    pub(crate) fn invalid_pages(&self, unit: u32) -> u64 {
        let state = &self.units[unit as usize];
        self.written_pages(unit) - u64::from(state.mapped)
    }

    /// Data pages of a unit written since their blocks were last erased.
    pub fn written_pages(&self, unit: u32) -> u64 {
        let state = &self.units[unit as usize];
        let data_pages = u64::from(self.shape.data_pages);
        let used = u64::from(self.shape.blocks_per_unit - state.free - state.retired()) * data_pages;
        let open = state.frontiers.iter().flatten().chain(&state.partial);
        used - open.map(|open| data_pages - u64::from(open.page)).sum::<u64>()
    }

    /// Page writes a unit can take before its free blocks reach the hard threshold: the write after them opens the
    /// block that makes it low. 0 if it is low already.
    pub fn writes_until_hard(&self, unit: u32) -> u64 {
        let state = &self.units[unit as usize];
        self.writes_until(unit, state.free_or_aside() - state.hidden.min(state.free), self.shape.hard)
    }

    /// Page writes that a unit takes before so many `free` blocks of it have become `level`.
    pub(crate) fn writes_until(&self, unit: u32, free: u32, level: u32) -> u64 {
        let state = &self.units[unit as usize];
        let data_pages = u64::from(self.shape.data_pages);
        let Some(blocks) = free.checked_sub(level + 1) else { return 0 };
        if self.places() {
            return self.least_writes(unit, blocks);
        }
        let room = state.frontiers[0].map_or(0, |open| data_pages - u64::from(open.page));
        // Those set aside are used up first.
        let written: u64 = state.partial.iter().take(blocks as usize).map(|open| u64::from(open.page)).sum();
        u64::from(blocks) * data_pages + room - written
    }

    /// Pages that a unit has room for before so many free blocks beside its open ones are all that is left. Of the victim under way
    /// so many pages have `moved`, and are as good as free.
    pub(crate) fn room_above(&self, unit: u32, free: u32, moved: u32) -> u64 {
        let state = &self.units[unit as usize];
        let data_pages = u64::from(self.shape.data_pages);
        let open = state.frontiers.iter().flatten().chain(&state.partial);
        let open: u64 = open.map(|open| data_pages - u64::from(open.page)).sum();
        let kept = u64::from(free) + 1 + self.gc_frontier as u64;
        (u64::from(state.free) * data_pages + open + u64::from(moved)).saturating_sub(kept * data_pages)
    }

    /// Whether every LPN of a unit is mapped.
    #[inline]
    pub(crate) fn fully_mapped(&self, unit: u32) -> bool {
        self.units[unit as usize].mapped == self.shape.unit_pages
    }

    /// Block and page offset that hold an LPN of a unit, if it is mapped; where the allocation is dynamic, if the unit
    /// holds it.
    #[inline]
    pub fn lookup(&self, unit: u32, lpn: u32) -> Option<(u32, u32)> {
        let ppn = self.map[self.map_index(unit, lpn)].wrapping_sub(self.shape.ppn_base(unit));
        (ppn < self.shape.flash_pages())
            .then(|| (ppn >> self.shape.page_bits, ppn & ((1 << self.shape.page_bits) - 1)))
    }

    #[inline]
    pub(super) fn map_index(&self, unit: u32, lpn: u32) -> usize {
        self.shape.map_range(unit).start + lpn as usize
    }

    /// Where the allocation is dynamic: the unit that holds an LPN, if it is mapped.
    pub fn home(&self, lpn: u32) -> Option<u32> {
        let ppn = self.map[lpn as usize];
        (ppn != NONE).then(|| ppn / self.shape.flash_pages())
    }

    /// The open blocks of a unit, and pages written of each.
    pub(crate) fn open_blocks(&self, unit: u32) -> impl Iterator<Item = (u32, u32)> {
        let state = &self.units[unit as usize];
        state.frontiers.iter().flatten().chain(&state.partial).map(|open| (open.block, open.page))
    }

    /// Pages of a unit that can be written before a block must be erased.
    pub fn free_pages(&self, unit: u32) -> u64 {
        let blocks = self.shape.blocks_per_unit - self.units[unit as usize].retired();
        u64::from(blocks) * u64::from(self.shape.data_pages) - self.written_pages(unit)
    }

    /// Where the allocation leaves only the plane open: of the units of a die that take another live page, the one with
    /// the most free pages (ties: the first from `turn` on, which counts in the die). `waiting` gives the writes and the
    /// live pages that are on their way to a unit.
    pub fn roomiest(&self, die: u32, turn: u32, waiting: impl Fn(u32) -> (u32, u32)) -> Option<u32> {
        let (shape, most) = (&self.shape, self.shape.most_live.unwrap_or(u32::MAX));
        let units = (0..shape.units_per_die)
            .map(|step| shape.units_of(die).start + (turn + step) % shape.units_per_die);
        let rank = |unit: u32| {
            let (writes, pages) = waiting(unit);
            let takes = self.live_pages(unit) + pages < most;
            takes.then(|| (self.free_pages(unit) as i64 - i64::from(writes), unit))
        };
        units
            .filter_map(rank)
            .reduce(|best, other| if other.0 > best.0 { other } else { best })
            .map(|best| best.1)
    }

    /// Live pages of a unit.
    #[inline]
    pub fn live_pages(&self, unit: u32) -> u32 {
        self.units[unit as usize].mapped
    }

    /// Writes an LPN to a unit; returns how many summary pages closing its block cost.
    ///
    /// # Errors
    /// If a block must be opened and none is free.
    #[inline]
    pub fn program<P: Probe>(
        &mut self,
        unit: u32,
        lpn: u32,
        cause: IoCause,
        origin: Option<Origin>,
        probe: &mut P,
    ) -> Result<u32, OutOfBlocks> {
        if self.shape.is_dynamic() {
            return self.program_anywhere(unit, lpn, cause, origin, probe);
        }
        if self.program_within(unit, lpn, cause, origin, probe) {
            return Ok(0);
        }
        self.unit(unit).program(lpn, cause, origin, probe)
    }

    /// [`Ftl::program`] with a handle, where a page lies in the unit that its number names.
    ///
    /// # Errors
    /// As there.
    pub fn program_with<P: Probe>(
        &mut self,
        (unit, lpn): (u32, u32),
        handle: u16,
        cause: IoCause,
        probe: &mut P,
    ) -> Result<u32, OutOfBlocks> {
        let to = self.to(unit, lpn, handle);
        self.program_to((unit, lpn), to, cause, None, probe)
    }

    /// [`Ftl::program`] of a page that is [to go](Ftl::to) somewhere.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn program_to<P: Probe>(
        &mut self,
        (unit, lpn): (u32, u32),
        to: To,
        cause: IoCause,
        origin: Option<Origin>,
        probe: &mut P,
    ) -> Result<u32, OutOfBlocks> {
        self.unit(unit).program_to(lpn, to, cause, origin, probe)
    }

    /// Moves a live page of a block being collected to another unit, where any unit may hold any page; returns the summary
    /// pages that costs.
    ///
    /// # Errors
    /// If it has nowhere to go.
    pub(crate) fn move_to<P: Probe>(
        &mut self,
        (unit, victim, page): (u32, BlockId, u32),
        to: u32,
        probe: &mut P,
    ) -> Result<u32, OutOfBlocks> {
        let (from, lpn) = self.unit(unit).give_up(victim, page);
        let frontier = self.gc_frontier;
        let (now_at, summaries) = self.unit(to).take_over_page(lpn, frontier)?;
        probe.copy(from, now_at, self.device_lpn(to, lpn));
        Ok(summaries)
    }

    /// Block and page offset the next host write of a unit goes to; `None` if a block must be opened and none is free.
    pub fn next_host_page(&self, unit: u32) -> Option<(u32, u32)> {
        self.next_page(unit, 0)
    }

    /// The same of a write that is [to go](Ftl::to) somewhere.
    pub(crate) fn next_page_to(&self, unit: u32, to: To) -> Option<(u32, u32)> {
        self.next_page(unit, to.frontier.into())
    }

    /// Block and page offset the next moved page goes to; `None` if a block must be opened and none is free.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub fn next_gc_page(&self, unit: u32) -> Option<(u32, u32)> {
        self.next_page(unit, self.gc_frontier)
    }

    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    fn next_page(&self, unit: u32, frontier: usize) -> Option<(u32, u32)> {
        let state = &self.units[unit as usize];
        if let Some(open) = state.frontiers[frontier].or_else(|| state.partial.last().copied()) {
            return Some((open.block, open.page));
        }
        let first_free = unit * self.shape.blocks_per_unit + state.free_head;
        (state.free > 0).then(|| (self.free_ring[first_free as usize], 0))
    }

    /// Pages that the next program of the host takes in a unit: what is left of the one that ageing began, or all of one.
    pub(crate) fn room_for_host(&self, unit: u32, frontier: u8) -> u32 {
        self.room_of_program(unit, frontier.into())
    }

    /// Pages that the next program of a frontier of garbage collection takes in a unit.
    pub(crate) fn room_for_gc(&self, unit: u32, frontier: usize) -> u32 {
        self.room_of_program(unit, frontier)
    }

    fn room_of_program(&self, unit: u32, frontier: usize) -> u32 {
        self.shape.packing.left_of_program(self.next_page(unit, frontier).map_or(0, |next| next.1))
    }

    /// The program of a frontier of a unit goes without the rest of its pages; returns how many.
    pub(crate) fn pad(&mut self, unit: u32, frontier: usize, cause: IoCause) -> u32 {
        self.unit(unit).pad(frontier, cause)
    }

    /// A program of the host of a frontier of a unit goes without the rest of the planes that it writes; returns how many pages that is.
    pub(crate) fn pad_part(&mut self, unit: u32, frontier: usize, cause: IoCause) -> u32 {
        self.unit(unit).pad_part(frontier, cause)
    }

    /// Whether, one more host write taken, a unit surely has room for the live pages of a victim.
    pub(crate) fn has_room_to_collect(&self, unit: u32) -> bool {
        self.units[unit as usize].has_room_to_collect(self.gc_frontier, &self.shape)
    }

    /// The block to which a host write of a unit can go at page offset `page`: an open one with that offset, or, for page
    /// 0 where no block is open, the next free one.
    pub(crate) fn host_page_at(&self, unit: u32, page: u32) -> Option<u32> {
        let state = &self.units[unit as usize];
        let mut open = state.frontiers[0].iter().chain(&state.partial);
        match open.find(|open| open.page == page) {
            Some(open) => Some(open.block),
            None => self.next_host_page(unit).filter(|next| next.1 == page).map(|next| next.0),
        }
    }

    /// The LPN of a unit whose live data a page holds, if it does.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(crate) fn lpn_at(&self, unit: u32, block: u32, page: u32) -> Option<u32> {
        let flash_pages = (self.shape.blocks_per_unit as usize) << self.shape.page_bits;
        let ppn = block << self.shape.page_bits | page;
        let lpn = self.reverse[unit as usize * flash_pages + ppn as usize];
        let is_there = |lpn| self.map[self.map_index(unit, lpn)] == self.shape.ppn_base(unit) + ppn;
        (lpn != NONE && is_there(lpn)).then_some(lpn)
    }

    /// Page offset of the first live page of a block at or after `cursor`, if there is one.
    pub fn next_live(&self, unit: u32, block: u32, cursor: u32) -> Option<u32> {
        (cursor..self.shape.data_pages).find(|&page| self.lpn_at(unit, block, page).is_some())
    }

    /// The plane of the die in which a block of a unit lies.
    #[inline]
    pub(crate) fn plane_of(&self, unit: u32, block: u32) -> u32 {
        if self.shape.units_per_die == 1 {
            self.shape.plane_in_unit(block)
        } else {
            unit % self.shape.units_per_die
        }
    }

    /// The LPN on the device of an LPN of a unit: the inverse of [`Shape::locate`].
    #[inline]
    pub fn device_lpn(&self, unit: u32, lpn: u32) -> Lpn {
        self.shape.device_lpn(unit, lpn)
    }

    /// The blocks of a unit.
    pub fn blocks(&self, unit: u32) -> BlockTable<'_> {
        let blocks = self.shape.blocks_per_unit as usize;
        let range = unit as usize * blocks..(unit as usize + 1) * blocks;
        let groups = blocks.div_ceil(GROUP);
        BlockTable {
            entries: &self.entries[range.clone()],
            best: &self.best[unit as usize * groups..][..groups],
            erases: &self.erases[range.clone()],
            closed_at: &self.closed_at[range],
            data_pages: self.shape.data_pages,
        }
    }

    /// Of some units, the one whose best block as greedy sees it has the most invalid pages (ties: the lowest): how many,
    /// and the unit.
    pub(crate) fn most_invalid(&self, units: std::ops::Range<u32>) -> (u32, u32) {
        let mut most = (0, units.start);
        for unit in units {
            let table = self.blocks(unit);
            let invalid = table.fewest_valid().map_or(0, |(_, valid)| table.data_pages - valid);
            if invalid > most.0 {
                most = (invalid, unit);
            }
        }
        most
    }

    /// Erases so far of every block of the device.
    pub fn erase_counts(&self) -> &[u32] {
        &self.erases
    }

    /// Counts since the device was empty.
    pub fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        for unit in &self.units {
            sum.add(&unit.tally);
        }
        sum
    }
}
