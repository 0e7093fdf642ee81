//! How a device asks its [placement policy](crate::placement) where pages go, and what is noted for it in the tables of
//! [`placed`](super::placed).

use harmonia_types::StreamCounters;

use super::Ftl;
use super::placed::{To, View, part};
use super::state::NONE;
use super::unit::{Collected, Moved, OutOfBlocks, UnitMut};
use crate::block::{BlockId, BlockState, encode};
use crate::placement::Gone;
use crate::probe::Probe;

impl UnitMut<'_> {
    fn view(&self) -> Option<View<'_>> {
        let (placing, placed) = (self.placing.as_ref()?, self.state.placed.as_deref()?);
        Some(View {
            policy: placing.policy,
            placed,
            frontier_of: placing.frontier_of,
            written_at: placing.written_at,
            handle_of: placing.handle_of,
        })
    }

    /// Where a page that is written with a handle goes.
    pub(super) fn to(&self, lpn: u32, handle: u16) -> To {
        let old = self.map[lpn as usize];
        let block = (old != NONE).then_some((old >> self.shape.page_bits) as usize);
        self.view().map_or_else(To::default, |view| view.of_host(lpn as usize, block, handle))
    }

    /// The frontier to which collection moves the live data of an LPN.
    pub(super) fn moves_to(&self, lpn: u32) -> usize {
        let block = (self.map[lpn as usize].wrapping_sub(self.base) >> self.shape.page_bits) as usize;
        self.view().map_or(self.gc_frontier, |view| view.of_collection(lpn as usize, block))
    }

    /// A page is written.
    #[cold]
    pub(super) fn note_written(&mut self, lpn: u32, to: To) {
        let (Some(placing), Some(placed)) = (&mut self.placing, &mut self.state.placed) else { return };
        if let Some(then) = placing.written_at.get_mut(lpn as usize) {
            *then = placed.written as u32;
        }
        if let Some(handle) = placing.handle_of.get_mut(lpn as usize) {
            *handle = to.handle;
        }
        if let Some(stream) = placed.streams.get_mut(usize::from(to.handle)) {
            stream.0 += 1;
        }
        placed.written += 1;
    }

    /// Collection has moved the page of an LPN.
    pub(super) fn note_moved(&mut self, lpn: u32) {
        let (Some(placing), Some(placed)) = (&mut self.placing, &mut self.state.placed) else { return };
        let handle = placing.handle_of.get(lpn as usize).copied().unwrap_or_default();
        if let Some(stream) = placed.streams.get_mut(usize::from(handle)) {
            stream.1 += 1;
        }
    }

    /// A frontier has opened a block.
    pub(super) fn note_opened(&mut self, frontier: usize, block: u32) {
        let (Some(placing), Some(placed)) = (&mut self.placing, &self.state.placed) else { return };
        placing.frontier_of[block as usize] = frontier as u8;
        if let Some(then) = placing.opened_at.get_mut(block as usize) {
            *then = placed.written as u32;
        }
    }

    /// A block has been collected.
    pub(super) fn note_collected(&mut self, block: BlockId) {
        let (Some(placing), Some(placed)) = (&mut self.placing, &mut self.state.placed) else { return };
        let opened = placing.opened_at.get(block.index());
        let age = opened.map_or(0, |&then| (placed.written as u32).wrapping_sub(then));
        let gone = Gone { frontier: placing.frontier_of[block.index()], age };
        placing.policy.collected(&gone, &mut placed.memory);
    }

    /// [`UnitMut::relocate`] page by page, each to its own frontier; where a program carries several, to that of the first.
    pub(super) fn relocate_apart<P: Probe>(
        &mut self,
        victim: BlockId,
        sum: &mut Collected,
        probe: &mut P,
    ) -> Result<(), OutOfBlocks> {
        self.begin(victim);
        let packing = self.shape.packing;
        let base = victim.0 << self.shape.page_bits;
        let (mut frontier, mut room, mut last) = (0, 0, None);
        for offset in 0..self.shape.data_pages {
            let from = base + offset;
            let lpn = self.reverse[from as usize];
            if lpn == NONE || self.map[lpn as usize] != from {
                continue;
            }
            let page = packing.page_of(offset);
            sum.reads += u32::from(last.replace(page) != Some(page));
            if room == 0 {
                frontier = self.moves_to(lpn);
                let next = self.state.frontiers[frontier].map_or(0, |open| open.page);
                room = packing.left_of_program(next);
                sum.programs += 1;
            }
            let moved = self.move_page_to(victim, offset, frontier, probe)?;
            room -= 1;
            sum.moves += 1;
            sum.between_planes += u32::from(moved.between_planes);
            sum.summaries += moved.summaries;
        }
        if room > 0 {
            self.fill(frontier, sum, probe)?;
            sum.padded += self.pad(frontier, self.state.moves_for);
        }
        self.entries[victim.index()] = encode(BlockState::Collecting, 0);
        Ok(())
    }

    /// [`UnitMut::move_page`] to a frontier.
    pub(super) fn move_page_to<P: Probe>(
        &mut self,
        victim: BlockId,
        page: u32,
        frontier: usize,
        probe: &mut P,
    ) -> Result<Moved, OutOfBlocks> {
        let (from, lpn) = self.give_up(victim, page);
        let (to, summaries) = self.take_over_page(lpn, frontier)?;
        probe.copy(from, to, self.device_lpn(lpn));
        let (block, offset) =
            (to.ppn.0 >> self.shape.page_bits, to.ppn.0 & ((1 << self.shape.page_bits) - 1));
        let between_planes = self.plane(block) != self.plane(victim.0);
        Ok(Moved { to: (block, offset), between_planes, summaries })
    }
}

impl Ftl {
    /// Whether more is looked at than who writes.
    #[inline]
    pub(crate) fn places(&self) -> bool {
        self.placing.is_some()
    }

    /// Frontiers to which the host writes.
    pub(crate) fn host_frontiers(&self) -> u32 {
        self.placing.as_ref().map_or(1, |placing| placing.count.host.into())
    }

    fn view(&self, unit: u32) -> Option<View<'_>> {
        let placing = self.placing.as_deref()?;
        let (blocks, pages) = (self.shape.blocks_per_unit, self.shape.unit_pages);
        Some(View {
            policy: &*placing.policy,
            placed: self.units[unit as usize].placed.as_deref()?,
            frontier_of: part(&placing.frontier_of, unit, blocks),
            written_at: part(&placing.written_at, unit, pages),
            handle_of: part(&placing.handle_of, unit, pages),
        })
    }

    /// Where a page of a unit goes that is written with a handle.
    #[inline]
    pub(crate) fn to(&self, unit: u32, lpn: u32, handle: u16) -> To {
        if self.places() { self.place(unit, lpn, handle) } else { To::default() }
    }

    #[cold]
    fn place(&self, unit: u32, lpn: u32, handle: u16) -> To {
        let block = self.lookup(unit, lpn).map(|place| place.0 as usize);
        self.view(unit).map_or_else(To::default, |view| view.of_host(lpn as usize, block, handle))
    }

    /// The frontier to which the first live page of a block at or after `page` moves.
    #[inline]
    pub(crate) fn moves_to(&self, unit: u32, block: u32, page: u32) -> usize {
        if !self.places() {
            return self.gc_frontier;
        }
        let lpn = self.next_live(unit, block, page).and_then(|page| self.lpn_at(unit, block, page));
        let to = lpn.zip(self.view(unit)).map(|(lpn, view)| view.of_collection(lpn as usize, block as usize));
        to.unwrap_or(self.gc_frontier)
    }

    /// Moves a live page of a closed block to a frontier; the block stays closed.
    ///
    /// # Errors
    /// If it has nowhere to go.
    pub(crate) fn move_ahead<P: Probe>(
        &mut self,
        (unit, block, page): (u32, BlockId, u32),
        frontier: usize,
        probe: &mut P,
    ) -> Result<(), OutOfBlocks> {
        self.unit(unit).move_ahead(block, page, frontier, probe)
    }

    /// Whether a handle is one that the drive knows.
    pub(crate) fn knows_handle(&self, handle: u16) -> bool {
        self.placing.as_ref().is_none_or(|placing| {
            placing.policy.handles() == 0 || handle <= u16::from(placing.policy.handles())
        })
    }

    /// What was written and moved by handle.
    pub fn streams(&self) -> [StreamCounters; StreamCounters::MOST] {
        let mut all = [StreamCounters::default(); StreamCounters::MOST];
        for placed in self.units.iter().filter_map(|unit| unit.placed.as_deref()) {
            for (sum, &(written, moved)) in all.iter_mut().zip(&placed.streams) {
                sum.written_pages += written;
                sum.moved_pages += moved;
            }
        }
        all
    }

    /// Handles that the host may name, besides the default one.
    pub fn handles(&self) -> u8 {
        self.placing.as_ref().map_or(0, |placing| placing.policy.handles())
    }

    /// Page writes that a unit takes at least before it has opened more than so many blocks, whichever frontiers they go to.
    #[cold]
    pub(super) fn least_writes(&self, unit: u32, blocks: u32) -> u64 {
        let data_pages = u64::from(self.shape.data_pages);
        let frontiers = &self.units[unit as usize].frontiers;
        let of_host = frontiers.iter().take(self.host_frontiers() as usize);
        let mut rooms: Vec<u64> =
            of_host.map(|open| open.map_or(0, |open| data_pages - u64::from(open.page))).collect();
        rooms.sort_unstable();
        let opened = blocks as usize + 1;
        let first: u64 = rooms.iter().take(opened).sum();
        first + opened.saturating_sub(rooms.len()) as u64 * data_pages
    }
}
