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

    /// [`Ftl::program`] where a page may lie in several units. Where the map counts through all of them so do the other tables, and one
    /// page number finds a place in each.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub(super) fn program_anywhere<P: Probe>(
        &mut self,
        unit: u32,
        lpn: u32,
        cause: IoCause,
        origin: Option<Origin>,
        probe: &mut P,
    ) -> Result<u32, OutOfBlocks> {
        let (shape, state) = (&self.shape, &mut self.units[unit as usize]);
        let open = state.frontiers[0].as_mut().filter(|open| open.page + 1 < shape.data_pages);
        let (Some(open), None) = (open, &self.placing) else {
            return self.program_at_end(unit, lpn, cause, origin, probe);
        };
        let in_unit = open.block << shape.page_bits | open.page;
        open.page += 1;
        state.mapped += 1;
        state.tally.programs[cause as usize] += 1;
        let ppn = shape.ppn_base(unit) + in_unit;
        let old = std::mem::replace(&mut self.map[lpn as usize], ppn);
        if old != NONE {
            let block = old >> shape.page_bits;
            let home = (block / shape.blocks_per_unit) as usize;
            self.units[home].mapped -= 1;
            let entry = &mut self.entries[block as usize];
            *entry -= 1;
            let of_unit = block as usize - home * shape.blocks_per_unit as usize;
            let groups = (shape.blocks_per_unit as usize).div_ceil(GROUP);
            let best = &mut self.best[home * groups + of_unit / GROUP];
            if *entry <= best.entry() {
                *best = GroupKey::of(*entry, self.erases[block as usize], of_unit).min(*best);
            }
        }
        self.entries[(ppn >> shape.page_bits) as usize] += 1;
        self.reverse[ppn as usize] = lpn;
        probe.program(FlashPage { unit, ppn: Ppn(in_unit) }, shape.device_lpn(unit, lpn), cause, origin);
        Ok(0)
    }

    /// The same of a page that opens or closes a block, or that a policy places.
    #[inline(never)]
    fn program_at_end<P: Probe>(
        &mut self,
        unit: u32,
        lpn: u32,
        cause: IoCause,
        origin: Option<Origin>,
        probe: &mut P,
    ) -> Result<u32, OutOfBlocks> {
        if let Some(home) = self.home(lpn).filter(|&home| home != unit) {
            self.unit(home).forget(lpn);
        }
        self.unit(unit).program(lpn, cause, origin, probe)
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

#[cfg(test)]
mod tests {
    use harmonia_engine::Rng;
    use harmonia_flash::presets;

    use super::*;
    use crate::config::{Allocation, Amount, SsdConfig};
    use crate::gc::victim::{self, NoReads};
    use crate::probe::NoProbe;
    use harmonia_types::SimTime;

    /// Two dies of 70 blocks of six pages, any of which may hold any page.
    fn anywhere() -> SsdConfig {
        let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        let geometry = &mut config.geometry;
        (geometry.chips_per_channel, geometry.planes_per_die) = (1, 1);
        (geometry.blocks_per_plane, geometry.pages_per_block) = (70, 6);
        config.ftl.reserved_blocks = Amount::Blocks(20);
        config.ftl.allocation = Allocation::Dynamic;
        config.gc.hard_threshold = Amount::Blocks(3);
        config
    }

    /// The same pages, in the same units, by the way that all can go. Some come back to the unit that holds them, others move.
    #[test]
    fn what_is_written_within_a_block_is_what_the_long_way_writes() {
        let config = anywhere();
        let victim = victim::build(&config.gc.victim).expect("a policy");
        let mut short = Ftl::new(&config, 1, "device").expect("it works");
        let mut long = short.clone();
        let (shape, mut rng) = (short.shape().clone(), Rng::stream(9, "within"));
        let goal = crate::ftl::Goal { stop: shape.stop, min_victims: 1 };
        for _ in 0..5 * shape.logical_pages {
            let (unit, lpn) = (rng.below(2) as u32, rng.below(shape.logical_pages.into()) as u32);
            if short.live_pages(unit) >= shape.most_live.expect("units share pages") {
                continue;
            }
            for ftl in [&mut short, &mut long].into_iter().filter(|ftl| ftl.free_blocks(unit) <= shape.hard) {
                let mut unit = ftl.unit(unit);
                unit.collect(goal, &*victim, &NoReads, SimTime::ZERO, &mut NoProbe).expect("room");
            }
            short.program(unit, lpn, IoCause::Host, None, &mut NoProbe).expect("room");
            long.program_at_end(unit, lpn, IoCause::Host, None, &mut NoProbe).expect("room");
        }
        let tables = |ftl: &Ftl| {
            let mut tables = Vec::new();
            ftl.write_tables(&mut tables).expect("memory takes everything");
            tables
        };
        short.audit();
        assert_eq!((short.unit_states(), tables(&short)), (long.unit_states(), tables(&long)));
        assert!(short.reverse[..] == long.reverse[..] && short.best == long.best);
        assert!(short.tally().erases > 100, "blocks were collected");
    }
}
