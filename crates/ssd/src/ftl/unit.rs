//! One allocation unit: programming, relocating, erasing.

use harmonia_types::{IoCause, Lpn, Ppn, SimTime};

use super::free_list::FreeList;
use super::placed::{PlacingMut, To};
use super::state::{NONE, OpenBlock, UnitState};
use super::wear::UnitWear;
use crate::block::{
    BlockId, BlockState, BlockTable, Erased, GROUP, GroupKey, encode, fewest_valid, state_of, valid_of,
};
use crate::gc::victim::{NoReads, QueuedReads, UnitPlanes, ValidPages, Victim, VictimView};
use crate::probe::{FlashPage, NoProbe, Origin, Probe};
use crate::shape::Shape;

/// A unit has no free block left where it needs one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfBlocks {
    /// The unit.
    pub unit: u32,
}

/// One allocation unit's part of all tables.
pub struct UnitMut<'a> {
    pub(super) unit: u32,
    pub(super) gc_frontier: usize,
    pub(super) free_list: FreeList,
    pub(super) placing: Option<PlacingMut<'a>>,
    pub(super) state: &'a mut UnitState,
    /// What the map adds to this unit's page numbers.
    pub(super) base: u32,
    pub(super) map: &'a mut [u32],
    pub(super) reverse: &'a mut [u32],
    pub(super) entries: &'a mut [u32],
    pub(super) best: &'a mut [GroupKey],
    pub(super) erases: &'a mut [u32],
    pub(super) closed_at: &'a mut [u32],
    pub(super) free_ring: &'a mut [u32],
    pub(super) scratch: &'a mut Vec<u32>,
    pub(super) shape: &'a Shape,
}

/// When a garbage-collection event of a unit is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Goal {
    /// Free blocks must exceed this.
    pub stop: u32,
    /// At least so many victims.
    pub min_victims: u32,
}

impl Goal {
    /// Whether a unit that has given so many victims and has so many free blocks needs no other one.
    #[inline]
    pub fn is_met(self, victims: u32, free: u32) -> bool {
        victims >= self.min_victims && free > self.stop
    }
}

/// What relocating a victim, or a whole event, cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collected {
    /// Blocks erased.
    pub victims: u32,
    /// Pages moved.
    pub moves: u32,
    /// Of these, moves that left their plane.
    pub between_planes: u32,
    /// Flash pages read for them.
    pub reads: u32,
    /// Programs that they took.
    pub programs: u32,
    /// Pages of the last program of each victim that were left without data.
    pub padded: u32,
    /// Summary pages programmed because destinations filled.
    pub summaries: u32,
}

impl Collected {
    /// Adds `other`.
    pub fn add(&mut self, other: &Collected) {
        self.victims += other.victims;
        self.moves += other.moves;
        self.between_planes += other.between_planes;
        self.reads += other.reads;
        self.programs += other.programs;
        self.padded += other.padded;
        self.summaries += other.summaries;
    }
}

/// One page moved by garbage collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Block and page offset that it went to.
    pub to: (u32, u32),
    /// It left its plane.
    pub between_planes: bool,
    /// Summary pages programmed because the destination filled.
    pub summaries: u32,
}

impl UnitMut<'_> {
    /// Index of the unit on its device.
    pub fn index(&self) -> u32 {
        self.unit
    }

    /// Free blocks, as thresholds count them: see [`super::Ftl::free_blocks`].
    #[inline]
    pub fn free(&self) -> u32 {
        self.state.free_or_aside()
    }

    /// Flash data pages programmed so far.
    pub fn data_programs(&self) -> u64 {
        self.state.tally.data_programs()
    }

    /// Writes `lpn` (of the unit) without a handle; returns how many summary pages closing its block cost.
    ///
    /// # Errors
    /// If a block must be opened and none is free.
    #[inline]
    pub fn program<P: Probe>(
        &mut self,
        lpn: u32,
        cause: IoCause,
        origin: Option<Origin>,
        probe: &mut P,
    ) -> Result<u32, OutOfBlocks> {
        if self.placing.is_some() {
            return self.program_placed(lpn, cause, origin, probe);
        }
        self.put(lpn, 0, cause, origin, probe)?;
        Ok(self.advance_frontier(0, 1))
    }

    /// Writes the first of some pages (of the unit), as [`UnitMut::program`] does without anybody watching: as many as the open block has
    /// room for; one if none is open, or a policy places pages. Returns how many.
    ///
    /// # Errors
    /// As [`UnitMut::program`].
    #[inline]
    pub fn program_first_of(&mut self, lpns: &[u32], cause: IoCause) -> Result<usize, OutOfBlocks> {
        let (Some(open), None) = (self.state.frontiers[0], &self.placing) else {
            let Some(&lpn) = lpns.first() else { return Ok(0) };
            self.program(lpn, cause, None, &mut NoProbe)?;
            return Ok(1);
        };
        let run = ((self.shape.data_pages - open.page) as usize).min(lpns.len());
        let first = open.block << self.shape.page_bits | open.page;
        // At once, and before pages of this block can become invalid.
        self.entries[open.block as usize] += run as u32;
        for (page, &lpn) in (first..).zip(&lpns[..run]) {
            self.map_to(lpn, page);
        }
        self.state.tally.programs[cause as usize] += run as u64;
        self.advance_frontier(0, run as u32);
        Ok(run)
    }

    /// Writes pages (of the unit) one after the other as ageing does: it collects before one if no more blocks are free than that begins
    /// at. Nobody watches, and nothing takes time.
    ///
    /// # Errors
    /// As [`UnitMut::program`] and [`UnitMut::collect`].
    #[inline]
    pub fn write_all(
        &mut self,
        mut lpns: &[u32],
        goal: Goal,
        victim: &dyn Victim,
    ) -> Result<(), OutOfBlocks> {
        while !lpns.is_empty() {
            let mut together = lpns.len();
            if self.free() <= self.shape.ages_at {
                self.collect(goal, victim, &NoReads, SimTime::ZERO, &mut NoProbe)?;
                // If blocks are as few as before, it collects before the next page again.
                together = if self.free() <= self.shape.ages_at { 1 } else { together };
            }
            lpns = &lpns[self.program_first_of(&lpns[..together], IoCause::Host)?..];
        }
        Ok(())
    }

    /// The same where the placement policy says to which frontier it goes.
    #[inline(never)]
    fn program_placed<P: Probe>(
        &mut self,
        lpn: u32,
        cause: IoCause,
        origin: Option<Origin>,
        probe: &mut P,
    ) -> Result<u32, OutOfBlocks> {
        self.program_to(lpn, self.to(lpn, 0), cause, origin, probe)
    }

    /// Writes `lpn` (of the unit) where it is [to go](super::Ftl::to).
    ///
    /// # Errors
    /// As [`UnitMut::program`].
    #[inline]
    pub(super) fn program_to<P: Probe>(
        &mut self,
        lpn: u32,
        to: To,
        cause: IoCause,
        origin: Option<Origin>,
        probe: &mut P,
    ) -> Result<u32, OutOfBlocks> {
        let frontier = usize::from(to.frontier);
        self.put(lpn, frontier, cause, origin, probe)?;
        if self.placing.is_some() {
            self.note_written(lpn, to);
        }
        Ok(self.advance_frontier(frontier, 1))
    }

    /// Writes `lpn` to the next page of a frontier, which is to be advanced then.
    #[expect(clippy::inline_always, reason = "ageing writes to one frontier")]
    #[inline(always)]
    fn put<P: Probe>(
        &mut self,
        lpn: u32,
        frontier: usize,
        cause: IoCause,
        origin: Option<Origin>,
        probe: &mut P,
    ) -> Result<(), OutOfBlocks> {
        let ppn = self.next_page(frontier)?;
        self.map_to(lpn, ppn);
        self.entries[(ppn >> self.shape.page_bits) as usize] += 1;
        self.state.tally.programs[cause as usize] += 1;
        probe.program(self.page(ppn), self.device_lpn(lpn), cause, origin);
        Ok(())
    }

    /// From now on `lpn` lies at a page, and no longer where it lay.
    #[expect(clippy::inline_always, reason = "a part of every program")]
    #[inline(always)]
    fn map_to(&mut self, lpn: u32, ppn: u32) {
        let old = std::mem::replace(&mut self.map[lpn as usize], self.base + ppn);
        if old == NONE {
            self.state.mapped += 1;
        } else {
            self.invalidate(old - self.base);
        }
        self.reverse[ppn as usize] = lpn;
    }

    /// Unmaps `lpn`.
    pub fn trim<P: Probe>(&mut self, lpn: u32, probe: &mut P) {
        self.forget(lpn);
        probe.trim(self.device_lpn(lpn));
    }

    /// Unmaps `lpn`, which this unit holds if any does.
    pub(super) fn forget(&mut self, lpn: u32) {
        let old = std::mem::replace(&mut self.map[lpn as usize], NONE);
        if old != NONE {
            self.invalidate(old - self.base);
            self.state.mapped -= 1;
        }
    }

    /// Runs a whole garbage-collection event: victims until the goal is reached or none would free a page.
    ///
    /// # Errors
    /// If live pages have nowhere to go.
    pub fn collect<P: Probe>(
        &mut self,
        goal: Goal,
        victim: &dyn Victim,
        queued_reads: &dyn QueuedReads,
        now: SimTime,
        probe: &mut P,
    ) -> Result<Collected, OutOfBlocks> {
        let (mut sum, mut asked) = (Collected::default(), None);
        while !goal.is_met(sum.victims, self.free()) {
            let Some(block) = self.choose(victim, queued_reads, now) else { break };
            asked = self.relocate(block, asked, true, &mut sum, probe)?;
            self.erase(block, probe);
            sum.victims += 1;
        }
        Ok(sum)
    }

    /// Collects one victim that the policy chose. `goes_on`: another one of this unit may come right after it.
    ///
    /// # Errors
    /// If live pages have nowhere to go.
    pub(crate) fn collect_one<P: Probe>(
        &mut self,
        victim: BlockId,
        goes_on: bool,
        probe: &mut P,
    ) -> Result<(Collected, Erased), OutOfBlocks> {
        let mut collected = Collected::default();
        self.relocate(victim, None, goes_on, &mut collected, probe)?;
        let erased = self.erase(victim, probe);
        collected.victims = 1;
        Ok((collected, erased))
    }

    /// Asks the policy for a victim.
    pub fn choose(
        &mut self,
        victim: &dyn Victim,
        queued_reads: &dyn QueuedReads,
        now: SimTime,
    ) -> Option<BlockId> {
        self.choose_among(None, victim, queued_reads, now)
    }

    /// The same; `valid` says which pages are, if map and reverse map do not.
    pub(super) fn choose_among(
        &mut self,
        valid: Option<&dyn ValidPages>,
        victim: &dyn Victim,
        queued_reads: &dyn QueuedReads,
        now: SimTime,
    ) -> Option<BlockId> {
        if self.state.leveling.is_some() {
            let to_level = self.choose_to_level();
            self.state.moves_for = if to_level.is_some() { IoCause::Leveling } else { IoCause::Gc };
            if to_level.is_some() {
                return to_level;
            }
        }
        let blocks = BlockTable {
            entries: self.entries,
            best: self.best,
            erases: self.erases,
            closed_at: self.closed_at,
            data_pages: self.shape.data_pages,
        };
        if self.shape.packing.packs() && !self.can_win() {
            return None;
        }
        let page_bits = self.shape.page_bits;
        let live = Live { base: self.base, map: self.map, reverse: self.reverse, page_bits };
        let planes = UnitPlanes {
            first: if self.shape.units_per_die == 1 { 0 } else { self.unit % self.shape.units_per_die },
            blocks_per_plane: self.shape.blocks_per_plane(),
        };
        let view = VictimView { blocks, planes, valid: valid.unwrap_or(&live), queued_reads, now };
        victim.choose(&view, &mut self.state.rng)
    }

    /// Whether collecting some block would win the pages of a program.
    fn can_win(&self) -> bool {
        let data_pages = self.shape.data_pages;
        fewest_valid(self.best).is_some_and(|(_, valid)| self.shape.packing.wins(data_pages, valid))
    }

    /// The block to collect next because it is too far behind in erases, if there is one: the least worn full block.
    #[cold]
    fn choose_to_level(&mut self) -> Option<BlockId> {
        let has_room = self.state.has_room_to_collect(self.gc_frontier, self.shape);
        let leveling = self.state.leveling.as_mut()?;
        let most = leveling.due().filter(|_| has_room)?;
        let blocks = (0..).map(BlockId).zip(self.entries.iter().zip(self.erases.iter()));
        let full = blocks.filter(|(_, (entry, _))| state_of(**entry) == BlockState::Closed);
        let (block, erases) =
            full.map(|(block, (_, &erases))| (block, erases)).min_by_key(|of| (of.1, of.0))?;
        (erases <= most).then(|| leveling.choose(block))?;
        self.open_most_worn();
        Some(block)
    }

    /// What levelling moves has not been rewritten for long, so it goes to the most worn free block. The block that is open waits
    /// meanwhile.
    fn open_most_worn(&mut self) {
        if self.state.free < 2 {
            return;
        }
        let (head, blocks) = (self.state.free_head as usize, self.free_ring.len());
        let erases = |place: usize| self.erases[self.free_ring[(head + place) % blocks] as usize];
        let most =
            (0..self.state.free as usize).max_by_key(|&place| (erases(place), std::cmp::Reverse(place)));
        self.free_ring.swap(head, (head + most.unwrap_or_default()) % blocks);
        if let Ok(fresh) = self.open_block() {
            self.state.partial.extend(self.state.frontiers[self.gc_frontier].replace(fresh));
        }
    }

    /// Moves all live pages of a closed block, leaving it ready to erase. `goes_on` as in [`collect_one`](Self::collect_one): then the
    /// caches have been asked for what moving the block takes that is returned. `asked` is what the call before returned.
    fn relocate<P: Probe>(
        &mut self,
        victim: BlockId,
        asked: Option<BlockId>,
        goes_on: bool,
        sum: &mut Collected,
        probe: &mut P,
    ) -> Result<Option<BlockId>, OutOfBlocks> {
        if self.placing.is_some() {
            return self.relocate_apart(victim, sum, probe).map(|()| None);
        }
        self.begin(victim);
        let pages = self.shape.data_pages as usize;
        let base = victim.0 << self.shape.page_bits;
        let mapped = self.base + base;
        // Ask for all map entries at once, gather without branches, then write: the cache misses overlap.
        if asked != Some(victim) {
            self.prefetch_pages(victim);
        }
        let next = if goes_on { fewest_valid(self.best).map(|(block, _)| block) } else { None };
        if let Some(next) = next {
            // Its pages are asked for here, and their map entries below, while this one moves.
            self.prefetch_reverse(next);
        }
        self.scratch.resize(2 * pages, 0);
        let (lpns, offsets) = self.scratch.split_at_mut(pages);
        let mut live = 0;
        for (offset, &lpn) in self.reverse[base as usize..][..pages].iter().enumerate() {
            lpns[live] = lpn;
            offsets[live] = offset as u32;
            live += usize::from(self.map[lpn as usize] == mapped + offset as u32);
        }
        if let Some(next) = next {
            self.prefetch_pages(next);
        }
        let packing = self.shape.packing;
        if packing.packs() {
            let mut end = 0;
            for &offset in &self.scratch[pages..][..live] {
                if offset >= end {
                    end = packing.end_of(packing.page_of(offset));
                    sum.reads += 1;
                }
            }
        } else {
            (sum.reads, sum.programs) = (sum.reads + live as u32, sum.programs + live as u32);
        }
        let mut done = 0;
        while done < live {
            let to = self.next_page(self.gc_frontier)?;
            let block = to >> self.shape.page_bits;
            let offset = to & ((1 << self.shape.page_bits) - 1);
            let run = ((self.shape.data_pages - offset) as usize).min(live - done);
            if packing.packs() {
                let begun = packing.slots_per_program() - packing.left_of_program(offset);
                sum.programs += (begun + run as u32).div_ceil(packing.slots_per_program());
            }
            let mapped_to = self.base + to;
            let targets = &mut self.reverse[to as usize..][..run];
            for (offset, (target, &lpn)) in
                targets.iter_mut().zip(&self.scratch[done..done + run]).enumerate()
            {
                *target = lpn;
                self.map[lpn as usize] = mapped_to + offset as u32;
            }
            let (lpns, offsets) = self.scratch.split_at(pages);
            for (k, (&lpn, &offset)) in (0..).zip(lpns[done..done + run].iter().zip(&offsets[done..])) {
                probe.copy(self.page(base | offset), self.page(to + k), self.device_lpn(lpn));
            }
            self.entries[block as usize] += run as u32;
            self.state.tally.programs[self.state.moves_for as usize] += run as u64;
            if self.plane(block) != self.plane(victim.0) {
                sum.between_planes += run as u32;
            }
            sum.summaries += self.advance_frontier(self.gc_frontier, run as u32);
            done += run;
        }
        if packing.packs() {
            self.fill(self.gc_frontier, sum, probe)?;
            sum.padded += self.pad(self.gc_frontier, self.state.moves_for);
        }
        sum.moves += live as u32;
        self.entries[victim.index()] = encode(BlockState::Collecting, 0);
        Ok(next)
    }

    /// The program that collection has begun at a frontier takes live pages of the closed block that has the fewest, if the drive
    /// does so.
    pub(super) fn fill<P: Probe>(
        &mut self,
        frontier: usize,
        sum: &mut Collected,
        probe: &mut P,
    ) -> Result<(), OutOfBlocks> {
        let packing = self.shape.packing;
        let begun = self.state.frontiers[frontier].map_or(0, |open| open.page);
        let mut room = packing.left_of_program(begun) % packing.slots_per_program();
        let Some((block, _)) = fewest_valid(self.best).filter(|_| self.shape.fills) else {
            return Ok(());
        };
        let base = self.base + (block.0 << self.shape.page_bits);
        let mut last = None;
        for offset in 0..self.shape.data_pages {
            if room == 0 {
                break;
            }
            let lpn = self.reverse[(base - self.base + offset) as usize];
            if lpn == NONE || self.map[lpn as usize] != base + offset {
                continue;
            }
            if self.placing.is_some() && self.moves_to(lpn) != frontier {
                break;
            }
            let page = packing.page_of(offset);
            sum.reads += u32::from(last.replace(page) != Some(page));
            self.move_ahead(block, offset, frontier, probe)?;
            room -= 1;
            sum.moves += 1;
        }
        Ok(())
    }

    /// Moves a live page of a closed block, which stays closed. That is done to fill programs of several pages, so there are no
    /// summaries, and no copies within a plane.
    pub(crate) fn move_ahead<P: Probe>(
        &mut self,
        block: BlockId,
        page: u32,
        frontier: usize,
        probe: &mut P,
    ) -> Result<(), OutOfBlocks> {
        let from = block.0 << self.shape.page_bits | page;
        let lpn = self.reverse[from as usize];
        assert!(self.map[lpn as usize] == self.base + from, "only a live page is moved");
        self.invalidate(from);
        self.state.mapped -= 1;
        let (to, _) = self.take_over_page(lpn, frontier)?;
        probe.copy(self.page(from), to, self.device_lpn(lpn));
        Ok(())
    }

    /// The program that a frontier has begun is programmed without the rest of its pages, which hold nothing; returns how many.
    pub(crate) fn pad(&mut self, frontier: usize, cause: IoCause) -> u32 {
        let Some(open) = self.state.frontiers[frontier] else { return 0 };
        let packing = self.shape.packing;
        let left = packing.left_of_program(open.page);
        if left == packing.slots_per_program() { 0 } else { self.leave_out(open, frontier, left, cause) }
    }

    /// The same for a program that writes as few planes as it needs.
    pub(super) fn pad_part(&mut self, frontier: usize, cause: IoCause) -> u32 {
        let Some(open) = self.state.frontiers[frontier] else { return 0 };
        let packing = self.shape.packing;
        let left = packing.left_of_part(open.page);
        if left == packing.slots_per_part() { 0 } else { self.leave_out(open, frontier, left, cause) }
    }

    /// The next pages of an open block hold nothing.
    fn leave_out(&mut self, open: OpenBlock, frontier: usize, left: u32, cause: IoCause) -> u32 {
        // Their hints point nowhere: the map sends the first LPN elsewhere.
        let first = (open.block << self.shape.page_bits | open.page) as usize;
        self.reverse[first..][..left as usize].fill(0);
        self.state.tally.programs[cause as usize] += u64::from(left);
        self.advance_frontier(frontier, left);
        left
    }

    /// Marks a closed block as being collected; its pages then move one by one with `move_page`.
    pub fn begin(&mut self, victim: BlockId) {
        let entry = self.entries[victim.index()];
        assert!(state_of(entry) == BlockState::Closed, "only a closed block can be collected");
        self.entries[victim.index()] = encode(BlockState::Collecting, valid_of(entry));
        self.best[victim.index() / GROUP] = GroupKey::best_of(self.entries, self.erases, victim.index());
    }

    /// Moves a live page of a block being collected.
    ///
    /// # Errors
    /// If it has nowhere to go.
    pub(crate) fn move_page<P: Probe>(
        &mut self,
        victim: BlockId,
        page: u32,
        probe: &mut P,
    ) -> Result<Moved, OutOfBlocks> {
        let frontier = match self.placing {
            None => self.gc_frontier,
            Some(_) => self.moves_to(self.reverse[(victim.0 << self.shape.page_bits | page) as usize]),
        };
        self.move_page_to(victim, page, frontier, probe)
    }

    /// A live page of a block being collected leaves it; returns where it lay, and its LPN. Its map entry still points
    /// there.
    pub(super) fn give_up(&mut self, victim: BlockId, page: u32) -> (FlashPage, u32) {
        let from = victim.0 << self.shape.page_bits | page;
        let lpn = self.reverse[from as usize];
        assert!(self.map[lpn as usize] == self.base + from, "only a live page is moved");
        self.entries[victim.index()] -= 1;
        self.state.mapped -= 1;
        (self.page(from), lpn)
    }

    /// Programs a page that garbage collection moves here; returns where it lies now and the summary pages that costs.
    pub(super) fn take_over_page(
        &mut self,
        lpn: u32,
        frontier: usize,
    ) -> Result<(FlashPage, u32), OutOfBlocks> {
        let to = self.next_page(frontier)?;
        self.map[lpn as usize] = self.base + to;
        self.reverse[to as usize] = lpn;
        self.entries[(to >> self.shape.page_bits) as usize] += 1;
        self.state.mapped += 1;
        self.state.tally.programs[self.state.moves_for as usize] += 1;
        if self.placing.is_some() {
            self.note_moved(lpn);
        }
        Ok((self.page(to), self.advance_frontier(frontier, 1)))
    }

    /// Erases a block being collected. It returns to the free blocks, unless it has reached its endurance.
    pub fn erase<P: Probe>(&mut self, victim: BlockId, probe: &mut P) -> Erased {
        let entry = self.entries[victim.index()];
        assert!(
            entry == encode(BlockState::Collecting, 0),
            "a block is erased when its live pages have moved"
        );
        self.erases[victim.index()] += 1;
        self.state.tally.erases += 1;
        self.state.tally.victims += 1;
        if self.placing.is_some() {
            self.note_collected(victim);
        }
        probe.erase(self.unit, victim.0);
        if let Some(leveling) = &mut self.state.leveling {
            leveling.erased(victim, self.erases[victim.index()] - 1);
        }
        let may_be_due = |wear: &UnitWear| wear.may_be_due(self.erases[victim.index()]);
        if self.state.wear.as_deref().is_some_and(may_be_due) && self.wears_out(victim) {
            self.entries[victim.index()] = encode(BlockState::Retired, 0);
            if let Some(leveling) = &mut self.state.leveling {
                leveling.retired(self.erases[victim.index()]);
            }
            return Erased::Retired;
        }
        self.entries[victim.index()] = encode(BlockState::Free, 0);
        let tail = (self.state.free_head + self.state.free) as usize % self.free_ring.len();
        self.free_ring[tail] = victim.0;
        self.state.free += 1;
        self.order_free();
        Erased::Free
    }

    /// Whether a block that was erased is not used any more. The last blocks that collection needs are kept, and so is one
    /// without which the next victim might find no room; that block retires when it is erased again.
    #[cold]
    fn wears_out(&mut self, block: BlockId) -> bool {
        let has_room = self.state.has_room_to_collect(self.gc_frontier, self.shape);
        let erases = self.erases[block.index()];
        self.state.wear.as_mut().is_some_and(|wear| wear.retires(block, erases, has_room))
    }

    /// Puts the block that is opened next at the head of the ring of free blocks.
    #[inline]
    fn order_free(&mut self) {
        if self.free_list != FreeList::Fifo {
            self.put_first();
        }
    }

    #[cold]
    fn put_first(&mut self) {
        if self.state.free > 1 {
            let (head, blocks) = (self.state.free_head as usize, self.free_ring.len());
            let free = (0..self.state.free as usize).map(|place| self.free_ring[(head + place) % blocks]);
            let first = self.free_list.first(free, self.erases);
            self.free_ring.swap(head, (head + first) % blocks);
        }
    }

    /// Garbage collection of the die begins with a new block here, the partly written one set aside, so that the write
    /// offsets of all planes are equal. `collects`: this unit's frontier of garbage collection, otherwise the host's.
    /// At most `most` blocks are set aside; with so many, as where only one block is free, the emptiest takes over.
    pub(crate) fn open_fresh(&mut self, collects: bool, most: usize) {
        let frontier = if collects { self.gc_frontier } else { 0 };
        if self.state.frontiers[frontier].is_some_and(|open| open.page == 0) {
            return;
        }
        // The last free block stays: a victim's live pages may need it.
        let may_open = self.state.partial.len() < most && self.state.free > 1;
        if may_open && let Ok(fresh) = self.open_block() {
            self.state.partial.extend(self.state.frontiers[frontier].replace(fresh));
            return;
        }
        let emptier = |open: &OpenBlock| open.page;
        if let Some(least) = (0..self.state.partial.len()).min_by_key(|&i| emptier(&self.state.partial[i]))
            && self.state.frontiers[frontier].is_none_or(|open| open.page > self.state.partial[least].page)
        {
            self.take_over(frontier, least);
        }
    }

    /// Garbage collection of the die is over: the fullest open block is used up first.
    pub(crate) fn use_up(&mut self) {
        let fullest = (0..self.state.partial.len()).max_by_key(|&i| self.state.partial[i].page);
        if let Some(fullest) = fullest
            && self.state.frontiers[0].is_none_or(|open| open.page < self.state.partial[fullest].page)
        {
            self.take_over(0, fullest);
        }
    }

    /// Makes the host write next at page offset `page`, which `Ftl::host_page_at` says it can.
    pub fn align(&mut self, page: u32) {
        if self.state.frontiers[0].is_some_and(|open| open.page == page) {
            return;
        }
        if let Some(found) = self.state.partial.iter().position(|open| open.page == page) {
            self.take_over(0, found);
        }
    }

    /// Leaves the page at offset `page` of an open block of the host unwritten, until the block is erased. Returns the summary
    /// pages that closing the block costs; `None` if no open block has that offset.
    pub(crate) fn skip(&mut self, page: u32) -> Option<u32> {
        self.align(page);
        let open = self.state.frontiers[0].filter(|open| open.page == page)?;
        // Its hint points nowhere: the map sends the first LPN elsewhere.
        self.reverse[((open.block << self.shape.page_bits) + page) as usize] = 0;
        self.state.tally.skipped += 1;
        Some(self.advance_frontier(0, 1))
    }

    /// A block set aside becomes a frontier, the frontier's is set aside.
    fn take_over(&mut self, frontier: usize, partial: usize) {
        let next = self.state.partial.swap_remove(partial);
        self.state.partial.extend(self.state.frontiers[frontier].replace(next));
    }

    /// The next page of a frontier, opening a block if there is none.
    #[expect(clippy::inline_always, reason = "a part of every program")]
    #[inline(always)]
    pub(super) fn next_page(&mut self, frontier: usize) -> Result<u32, OutOfBlocks> {
        let open = match self.state.frontiers[frontier] {
            Some(open) => open,
            None => self.open(frontier)?,
        };
        Ok(open.block << self.shape.page_bits | open.page)
    }

    /// A frontier gets a block. Apart, so that pages of an open one save no registers for it.
    #[inline(never)]
    fn open(&mut self, frontier: usize) -> Result<OpenBlock, OutOfBlocks> {
        let open = match self.state.partial.pop() {
            Some(partial) => partial,
            None => self.open_block()?,
        };
        if self.placing.is_some() {
            self.note_opened(frontier, open.block);
        }
        self.state.frontiers[frontier] = Some(open);
        Ok(open)
    }

    #[inline]
    fn open_block(&mut self) -> Result<OpenBlock, OutOfBlocks> {
        if self.state.free == 0 {
            return Err(OutOfBlocks { unit: self.unit });
        }
        let block = self.free_ring[self.state.free_head as usize];
        self.state.free_head = (self.state.free_head + 1) % self.free_ring.len() as u32;
        self.state.free -= 1;
        self.entries[block as usize] = encode(BlockState::Open, 0);
        self.order_free();
        Ok(OpenBlock { block, page: 0 })
    }

    /// Moves a frontier on by `pages`, closing its block when full; returns the summary pages that costs.
    #[expect(clippy::inline_always, reason = "a part of every program")]
    #[inline(always)]
    pub(super) fn advance_frontier(&mut self, frontier: usize, pages: u32) -> u32 {
        let Some(open) = &mut self.state.frontiers[frontier] else {
            unreachable!("a frontier that was just written is open")
        };
        open.page += pages;
        if open.page < self.shape.data_pages {
            return 0;
        }
        let block = open.block as usize;
        self.state.frontiers[frontier] = None;
        self.close(block)
    }

    /// An open block is full; returns the summary pages that this costs.
    #[inline(never)]
    fn close(&mut self, block: usize) -> u32 {
        let closed = encode(BlockState::Closed, valid_of(self.entries[block]));
        self.entries[block] = closed;
        let key = GroupKey::of(closed, self.erases[block], block);
        self.best[block / GROUP] = self.best[block / GROUP].min(key);
        self.closed_at[block] = self.state.closings;
        self.state.closings = self.state.closings.wrapping_add(1);
        self.state.tally.programs[IoCause::Metadata as usize] += u64::from(self.shape.summary_pages);
        self.shape.summary_pages
    }

    /// The page no longer holds live data.
    #[inline]
    pub(super) fn invalidate(&mut self, ppn: u32) {
        let block = (ppn >> self.shape.page_bits) as usize;
        let entry = self.entries[block] - 1;
        self.entries[block] = entry;
        let best = &mut self.best[block / GROUP];
        // Rarely true; only then is the block's wear worth a look.
        if entry <= best.entry() {
            *best = GroupKey::of(entry, self.erases[block], block).min(*best);
        }
    }

    #[inline]
    pub(super) fn plane(&self, block: u32) -> u32 {
        self.shape.plane_in_unit(block)
    }

    #[inline]
    fn page(&self, ppn: u32) -> FlashPage {
        FlashPage { unit: self.unit, ppn: Ppn(ppn) }
    }

    #[inline]
    pub(super) fn device_lpn(&self, lpn: u32) -> Lpn {
        self.shape.device_lpn(self.unit, lpn)
    }
}

/// The valid bitmap, derived from map and reverse map.
struct Live<'a> {
    base: u32,
    map: &'a [u32],
    reverse: &'a [u32],
    page_bits: u32,
}

impl ValidPages for Live<'_> {
    fn is_valid(&self, block: BlockId, page: u32) -> bool {
        let ppn = block.0 << self.page_bits | page;
        let lpn = self.reverse[ppn as usize];
        lpn != NONE && self.map[lpn as usize] == self.base + ppn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_victims_cost_adds_up() {
        let [mut sum, other, both] = [1, 10, 11].map(|by| Collected {
            victims: 2 * by,
            moves: 3 * by,
            between_planes: 4 * by,
            reads: 5 * by,
            programs: 6 * by,
            padded: 7 * by,
            summaries: 8 * by,
        });
        sum.add(&other);
        assert_eq!(sum, both);
    }
}
