//! Programs and moves that neither open nor close a block: nearly all. They touch three tables only, so that the other parts
//! of the unit are not looked up.

use harmonia_types::{IoCause, Ppn};

use super::Ftl;
use super::state::NONE;
use super::unit::{Moved, OutOfBlocks};
use crate::block::{BlockId, GROUP, GroupKey};
use crate::probe::{FlashPage, Origin, Probe};

impl Ftl {
    /// [`UnitMut::program`] of a page that is not the last of an open block, which needs three tables only. `false` if it
    /// is not such a page.
    #[inline]
    pub(crate) fn program_within<P: Probe>(
        &mut self,
        unit: u32,
        lpn: u32,
        cause: IoCause,
        origin: Option<Origin>,
        probe: &mut P,
    ) -> bool {
        let (shape, state) = (&self.shape, &mut self.units[unit as usize]);
        let Some(open) = &mut state.frontiers[0] else { return false };
        if open.page + 1 >= shape.data_pages || !self.is_simple {
            return false;
        }
        let ppn = open.block << shape.page_bits | open.page;
        open.page += 1;
        let first_block = unit as usize * shape.blocks_per_unit as usize;
        self.entries[first_block + open.block as usize] += 1;
        self.reverse[(first_block << shape.page_bits) + ppn as usize] = lpn;
        state.tally.programs[cause as usize] += 1;
        let entry = &mut self.map[unit as usize * shape.unit_pages as usize + lpn as usize];
        let old = std::mem::replace(entry, ppn);
        if old == NONE {
            state.mapped += 1;
        } else {
            let block = (old >> shape.page_bits) as usize;
            let entry = &mut self.entries[first_block + block];
            *entry -= 1;
            let groups = (shape.blocks_per_unit as usize).div_ceil(GROUP);
            let best = &mut self.best[unit as usize * groups + block / GROUP];
            if *entry <= best.entry() {
                *best = GroupKey::of(*entry, self.erases[first_block + block], block).min(*best);
            }
        }
        probe.program(FlashPage { unit, ppn: Ppn(ppn) }, shape.device_lpn(unit, lpn), cause, origin);
        true
    }

    /// [`UnitMut::move_page`].
    ///
    /// # Errors
    /// If it has nowhere to go.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(crate) fn move_page<P: Probe>(
        &mut self,
        unit: u32,
        victim: BlockId,
        page: u32,
        probe: &mut P,
    ) -> Result<Moved, OutOfBlocks> {
        match self.move_within(unit, victim, page, probe) {
            Some(moved) => Ok(moved),
            None => self.unit(unit).move_page(victim, page, probe),
        }
    }

    /// [`Ftl::move_page`] to the frontier that [`Ftl::moves_to`] names.
    ///
    /// # Errors
    /// If it has nowhere to go.
    pub(crate) fn move_page_to<P: Probe>(
        &mut self,
        (unit, victim, page): (u32, BlockId, u32),
        frontier: usize,
        probe: &mut P,
    ) -> Result<Moved, OutOfBlocks> {
        if self.places() {
            return self.unit(unit).move_page_to(victim, page, frontier, probe);
        }
        self.move_page(unit, victim, page, probe)
    }

    /// [`UnitMut::move_page`] to a page that is not the last of an open block, which needs three tables only; `None` if it
    /// would not go there.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    fn move_within<P: Probe>(
        &mut self,
        unit: u32,
        victim: BlockId,
        page: u32,
        probe: &mut P,
    ) -> Option<Moved> {
        let (shape, state) = (&self.shape, &mut self.units[unit as usize]);
        let open = state.frontiers[self.gc_frontier].as_mut()?;
        if open.page + 1 >= shape.data_pages || !self.is_simple {
            return None;
        }
        let first_block = unit as usize * shape.blocks_per_unit as usize;
        let reverse = &mut self.reverse[first_block << shape.page_bits..];
        let (from, to) = (victim.0 << shape.page_bits | page, open.block << shape.page_bits | open.page);
        let lpn = reverse[from as usize];
        let entry = &mut self.map[unit as usize * shape.unit_pages as usize + lpn as usize];
        assert!(*entry == from, "only a live page is moved");
        (*entry, reverse[to as usize]) = (to, lpn);
        let destination = (open.block, open.page);
        open.page += 1;
        self.entries[first_block + victim.index()] -= 1;
        self.entries[first_block + open.block as usize] += 1;
        state.tally.programs[state.moves_for as usize] += 1;
        let between_planes = shape.plane_in_unit(open.block) != shape.plane_in_unit(victim.0);
        let place = |ppn| FlashPage { unit, ppn: Ppn(ppn) };
        probe.copy(place(from), place(to), shape.device_lpn(unit, lpn));
        Some(Moved { to: destination, between_planes, summaries: 0 })
    }
}
