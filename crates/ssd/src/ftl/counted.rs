//! Ageing of a large device by the number of valid pages of each block. The map is neither read nor written until the end.
//!
//! ```text
//! overwrites   draw a page, all valid ones alike ─► its block loses a valid page, the open block of the next unit gains one
//! collection   choose a block by its numbers     ─► as many pages are programmed as are valid there
//! at the end   which pages of a block are valid, and the LPN of each, are drawn
//! ```
//!
//! If every mapped LPN is as likely to be overwritten next as any other, nothing that ageing decides depends on which LPN lies
//! where. So only numbers of valid pages are followed, which fit into a cache however large the device. Their distribution is that of
//! a device whose LPNs are overwritten one by one.
//!
//! At the end pages and LPNs are drawn uniformly among all that fit these numbers:
//!
//! - of a block that has been written up to some page, any set of its pages may be the valid ones;
//! - once all LPNs have been overwritten, any of them may lie at any valid page.
//!
//! Source: ours. Leaves out: LPNs that were never overwritten (a share of e^-n after n overwrites of all) would still lie beside their
//! neighbours; the first pages of a block have had a little more time to become invalid than the last; where in a block padding lies;
//! probes, placement by streams or age, policies that look at pages, and allocation where an LPN determines its unit or die.

use harmonia_engine::{Permutation, Rng, prefetch};
use harmonia_types::{IoCause, SimTime};

use super::Ftl;
use super::unit::{Goal, OutOfBlocks, UnitMut};
use crate::block::{BlockId, BlockState, GROUP, GroupKey, encode, fewest_valid, valid_of};
use crate::gc::victim::{NoReads, ValidPages, Victim};
use crate::probe::NoProbe;

/// Pages that are drawn at a time, so that what is noted of their blocks is on its way to the caches. Unit: count.
const TOGETHER: usize = 64;

/// If fewer than one page of flash in so many is valid, drawing one takes too long.
const SPARSE: u64 = 8;

/// LPNs that are placed before the map entry of the first of them is written. Unit: count.
const AHEAD: usize = 32;

/// A page that was drawn: its unit, its block, which counts through the device, and its rank there. It is a valid page if that is below
/// the number of valid pages.
#[derive(Debug, Clone, Copy, Default)]
struct Drawn {
    unit: u32,
    block: u32,
    page: u32,
}

/// What a unit keeps at hand until its open block is full.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    /// The block that the host writes to, which counts through the device, and how many pages of it can be written before the unit must
    /// be looked at again.
    open: u32,
    left: u32,
    /// Pages written so since the unit was looked at.
    written: u32,
    /// Live pages of the unit.
    live: u32,
}

/// A device of which only the numbers are followed.
pub struct Counted<'f> {
    ftl: &'f mut Ftl,
    rng: Rng,
    goal: Goal,
    victim: &'f dyn Victim,
    /// By unit.
    lanes: Vec<Lane>,
    /// Units in the order in which they take pages, and the place there of the next one.
    order: Vec<u32>,
    turn: usize,
    /// Draws, of which those before `next` have had their turn.
    drawn: [Drawn; TOGETHER],
    next: usize,
}

impl Ftl {
    /// Whether a device that is to hold so many pages can be aged by [`Counted`] numbers: it is empty, the LPN of a page says nothing
    /// about where it lies, there always is a unit that takes another page, and so many pages will be valid that one is soon drawn.
    pub fn can_be_counted(&self, pages: u64) -> bool {
        let shape = &self.shape;
        let lies_anywhere = if shape.is_dynamic() { !shape.names_die } else { shape.units() == 1 };
        let most = shape.most_live.map_or(u64::MAX, |most| u64::from(most) * u64::from(shape.units()));
        let all = u64::from(shape.units()) * u64::from(shape.blocks_per_unit) * u64::from(shape.data_pages);
        let is_possible = lies_anywhere && pages < most && pages >= all / SPARSE;
        self.placing.is_none() && is_possible && self.tally().data_programs() == 0
    }

    /// Follows the numbers of an empty device, whose [LPNs must be placed](Counted::place) when its ageing is over.
    ///
    /// # Panics
    /// If pages have been written, or a policy places them.
    pub fn counted<'f>(&'f mut self, rng: Rng, goal: Goal, victim: &'f dyn Victim) -> Counted<'f> {
        assert!(self.placing.is_none() && self.tally().data_programs() == 0, "the device needs its map");
        let lanes = vec![Lane::default(); self.units.len()];
        let order = (0..self.shape.units()).map(|position| self.shape.unit_at(position)).collect();
        let drawn = [Drawn::default(); TOGETHER];
        Counted { ftl: self, rng, goal, victim, lanes, order, turn: 0, drawn, next: TOGETHER }
    }
}

impl Counted<'_> {
    /// Flash data pages programmed so far.
    pub fn data_programs(&mut self) -> u64 {
        (0..self.lanes.len()).for_each(|unit| self.settle(unit));
        self.ftl.tally().data_programs()
    }

    /// Writes so many LPNs for the first time.
    ///
    /// # Errors
    /// As [`UnitMut::write_all`].
    pub fn fill(&mut self, pages: u64) -> Result<(), OutOfBlocks> {
        (0..pages).try_for_each(|_| {
            let unit = self.unit_with_room()?;
            self.program(unit)
        })
    }

    /// Overwrites so many mapped LPNs, each time any of them.
    ///
    /// # Errors
    /// As [`UnitMut::write_all`].
    ///
    /// # Panics
    /// If nothing is mapped.
    pub fn overwrite(&mut self, pages: u64) -> Result<(), OutOfBlocks> {
        assert!(self.lanes.iter().any(|lane| lane.live > 0), "there is nothing to overwrite");
        let mut left = pages;
        while left > 0 {
            left -= self.overwrite_plainly(left);
            if self.next == TOGETHER {
                self.draw();
            } else if left > 0 {
                let unit = self.unit_with_room()?;
                let Drawn { unit: home, block, .. } = self.draw_valid();
                self.invalidate(home as usize, block as usize);
                self.program(unit)?;
                left -= 1;
            }
        }
        Ok(())
    }

    /// The first of so many overwrites, until a unit must be looked at closely or all draws have had their turn; returns how many.
    fn overwrite_plainly(&mut self, pages: u64) -> u64 {
        let Ftl { shape, entries, best, erases, .. } = &mut *self.ftl;
        let (entries, best, erases) = (&mut entries[..], &mut best[..], &erases[..]);
        let (order, lanes) = (&self.order[..], &mut self.lanes[..]);
        let (blocks, most) = (shape.blocks_per_unit, shape.most_live.unwrap_or(u32::MAX));
        let groups = (blocks as usize).div_ceil(GROUP);
        let (mut turn, mut next, mut done) = (self.turn, self.next, 0);
        while done < pages && next < TOGETHER {
            let Drawn { unit: home, block, page } = self.drawn[next];
            if page >= valid_of(entries[block as usize]) {
                next += 1;
                continue;
            }
            let lane = &mut lanes[order[turn] as usize];
            if lane.live < most {
                if lane.left == 0 {
                    // Collection may come first. The page was accepted by what was valid before, so another one is drawn then.
                    next += 1;
                    break;
                }
                entries[lane.open as usize] += 1;
                (lane.left, lane.written, lane.live) = (lane.left - 1, lane.written + 1, lane.live + 1);
                lanes[home as usize].live -= 1;
                let of_unit = (block - home * blocks) as usize;
                let best = &mut best[home as usize * groups + of_unit / GROUP];
                lose(&mut entries[block as usize], erases[block as usize], of_unit, best);
                (next, done) = (next + 1, done + 1);
            }
            turn = if turn + 1 < order.len() { turn + 1 } else { 0 };
        }
        (self.turn, self.next) = (turn, next);
        done
    }

    /// The unit that takes the next page, which has collected if it had to.
    #[inline]
    fn unit_with_room(&mut self) -> Result<usize, OutOfBlocks> {
        let most = self.ftl.shape.most_live.unwrap_or(u32::MAX);
        loop {
            let unit = self.order[self.turn] as usize;
            self.turn = if self.turn + 1 < self.order.len() { self.turn + 1 } else { 0 };
            let lane = &self.lanes[unit];
            if lane.live < most {
                if lane.left == 0 {
                    self.settle(unit);
                    self.make_room(unit)?;
                }
                return Ok(unit);
            }
        }
    }

    /// Any pages of the flash, valid or not.
    #[inline(never)]
    fn draw(&mut self) {
        let (units, blocks) = (self.ftl.units.len() as u64, self.ftl.shape.blocks_per_unit);
        let pages = self.ftl.shape.data_pages;
        // The high half of the product is the choice. The low half serves for the next one. The error is at most one part in 2^32.
        let split = |number: u64, by: u64| {
            let product = u128::from(number) * u128::from(by);
            ((product >> 64) as u32, product as u64)
        };
        for drawn in &mut self.drawn {
            let (unit, rest) = split(self.rng.next_u64(), units);
            let (block, rest) = split(rest, blocks.into());
            *drawn = Drawn { unit, block: unit * blocks + block, page: split(rest, pages.into()).0 };
            prefetch(&self.ftl.entries, drawn.block as usize);
        }
        self.next = 0;
    }

    /// A valid page, each as likely as any other. How many a block has must be asked when its turn comes: that may have changed since it
    /// was drawn.
    #[inline]
    fn draw_valid(&mut self) -> Drawn {
        loop {
            if self.next == TOGETHER {
                self.draw();
            }
            let drawn = self.drawn[self.next];
            self.next += 1;
            if drawn.page < valid_of(self.ftl.entries[drawn.block as usize]) {
                return drawn;
            }
        }
    }

    /// A page of a block, which counts through the device, no longer holds live data.
    #[inline]
    fn invalidate(&mut self, unit: usize, block: usize) {
        let blocks = self.ftl.shape.blocks_per_unit as usize;
        let of_unit = block - unit * blocks;
        let best = &mut self.ftl.best[unit * blocks.div_ceil(GROUP) + of_unit / GROUP];
        lose(&mut self.ftl.entries[block], self.ftl.erases[block], of_unit, best);
        self.lanes[unit].live -= 1;
    }

    /// A unit programs a page of the host.
    #[inline]
    fn program(&mut self, unit: usize) -> Result<(), OutOfBlocks> {
        let lane = &mut self.lanes[unit];
        if lane.left == 0 {
            return self.program_apart(unit);
        }
        self.ftl.entries[lane.open as usize] += 1;
        (lane.left, lane.written, lane.live) = (lane.left - 1, lane.written + 1, lane.live + 1);
        Ok(())
    }

    /// The same of a page that opens or closes a block, or before which the unit collects.
    #[inline(never)]
    fn program_apart(&mut self, unit: usize) -> Result<(), OutOfBlocks> {
        self.settle(unit);
        let mut of_unit = self.ftl.unit(unit as u32);
        put(&mut of_unit, 0, 1)?;
        of_unit.state.mapped += 1;
        of_unit.state.tally.programs[IoCause::Host as usize] += 1;
        let (shape, free) = (of_unit.shape, of_unit.free());
        let lane = &mut self.lanes[unit];
        lane.live += 1;
        // The last page of a block closes it.
        if let Some(open) = of_unit.state.frontiers[0].filter(|_| free > shape.ages_at) {
            lane.open = unit as u32 * shape.blocks_per_unit + open.block;
            lane.left = shape.data_pages - 1 - open.page;
        }
        Ok(())
    }

    /// Tells a unit what its lane has written, and what it has lost. After that the next page is looked at closely.
    fn settle(&mut self, unit: usize) {
        let (state, lane) = (&mut self.ftl.units[unit], &mut self.lanes[unit]);
        state.mapped = lane.live;
        state.tally.programs[IoCause::Host as usize] += u64::from(lane.written);
        if let Some(open) = &mut state.frontiers[0] {
            open.page += lane.written;
        }
        (lane.left, lane.written) = (0, 0);
    }

    /// Collects if it must before a page of the host.
    #[inline(never)]
    fn make_room(&mut self, unit: usize) -> Result<(), OutOfBlocks> {
        if self.ftl.units[unit].free_or_aside() <= self.ftl.shape.ages_at {
            self.collect(unit)
        } else {
            Ok(())
        }
    }

    /// [`UnitMut::collect`], for which nobody waits.
    fn collect(&mut self, unit: usize) -> Result<(), OutOfBlocks> {
        let (mut unit, mut victims) = (self.ftl.unit(unit as u32), 0);
        while !self.goal.is_met(victims, unit.free()) {
            let chosen = unit.choose_among(Some(&Unknown), self.victim, &NoReads, SimTime::ZERO);
            let Some(block) = chosen else { break };
            relocate(&mut unit, block)?;
            unit.erase(block, &mut NoProbe);
            victims += 1;
        }
        Ok(())
    }

    /// Draws which pages are valid, and the LPN of each: `lpn(n)` is the n-th LPN that was filled, counted from 0. `goes_on` is asked for
    /// every block. If it says no, placing ends with `false`, and the device must be dropped.
    pub fn place(mut self, lpn: impl Fn(u32) -> u32, goes_on: impl Fn() -> bool) -> bool {
        (0..self.lanes.len()).for_each(|unit| self.settle(unit));
        let Ftl { units, shape, map, reverse, entries, .. } = &mut *self.ftl;
        let mapped = units.iter().map(|unit| u64::from(unit.mapped)).sum::<u64>();
        let order = Permutation::new(mapped.max(1), self.rng.clone());
        let flash_pages = shape.flash_pages() as usize;
        let (mut placed, mut lpns) = (0, Vec::new());
        for (block, &entry) in entries.iter().enumerate() {
            if !goes_on() {
                return false;
            }
            let (unit, of_unit) =
                (block as u32 / shape.blocks_per_unit, block as u32 % shape.blocks_per_unit);
            let state = &units[unit as usize];
            let mut open = state.frontiers.iter().flatten().chain(&state.partial);
            let written = open.find(|open| open.block == of_unit).map_or(shape.data_pages, |open| open.page);
            let first = of_unit << shape.page_bits;
            let reverse = &mut reverse[unit as usize * flash_pages + first as usize..][..written as usize];
            // The hint of a page that is not valid points nowhere: the map sends the first LPN elsewhere.
            reverse.fill(0);
            let mut left = valid_of(entry);
            lpns.clear();
            lpns.extend((placed..placed + u64::from(left)).map(|number| lpn(order.apply(number) as u32)));
            placed += u64::from(left);
            lpns.iter().take(AHEAD).for_each(|&lpn| prefetch(map, lpn as usize));
            for (page, of_page) in (0..).zip(reverse) {
                // So many are left to draw, of as many pages.
                if self.rng.below(u64::from(written - page)) < u64::from(left) {
                    let next = lpns.len() - left as usize;
                    if let Some(&ahead) = lpns.get(next + AHEAD) {
                        prefetch(map, ahead as usize);
                    }
                    *of_page = lpns[next];
                    map[*of_page as usize] = shape.ppn_base(unit) + first + page;
                    left -= 1;
                }
            }
        }
        true
    }
}

/// A block has one valid page less. `best` is that of its group, and `erases` are its own.
#[inline]
fn lose(entry: &mut u32, erases: u32, of_unit: usize, best: &mut GroupKey) {
    *entry -= 1;
    if *entry <= best.entry() {
        *best = GroupKey::of(*entry, erases, of_unit).min(*best);
    }
}

/// A frontier programs pages, as many as its block has room for; returns how many.
fn put(unit: &mut UnitMut<'_>, frontier: usize, pages: u32) -> Result<u32, OutOfBlocks> {
    let (page, bits) = (unit.next_page(frontier)?, unit.shape.page_bits);
    let run = pages.min(unit.shape.data_pages - (page & ((1 << bits) - 1)));
    unit.entries[(page >> bits) as usize] += run;
    unit.advance_frontier(frontier, run);
    Ok(run)
}

/// Programs so many pages that collection moves.
fn move_pages(unit: &mut UnitMut<'_>, mut pages: u32) -> Result<(), OutOfBlocks> {
    unit.state.tally.programs[unit.state.moves_for as usize] += u64::from(pages);
    let frontier = unit.gc_frontier;
    while pages > 0 {
        pages -= put(unit, frontier, pages)?;
    }
    Ok(())
}

/// Moves all live pages of a closed block, leaving it ready to erase.
fn relocate(unit: &mut UnitMut<'_>, victim: BlockId) -> Result<(), OutOfBlocks> {
    unit.begin(victim);
    move_pages(unit, valid_of(unit.entries[victim.index()]))?;
    unit.entries[victim.index()] = encode(BlockState::Collecting, 0);
    if unit.shape.packing.packs() {
        fill_program(unit)?;
        unit.pad(unit.gc_frontier, unit.state.moves_for);
    }
    Ok(())
}

/// The program that collection has begun takes live pages of the closed block that has the fewest, if the drive does so.
fn fill_program(unit: &mut UnitMut<'_>) -> Result<(), OutOfBlocks> {
    let (shape, frontier) = (unit.shape, unit.gc_frontier);
    let begun = unit.state.frontiers[frontier].map_or(0, |open| open.page);
    let room = shape.packing.left_of_program(begun) % shape.packing.slots_per_program();
    let Some((block, valid)) = fewest_valid(unit.best).filter(|_| shape.fills) else {
        return Ok(());
    };
    for _ in 0..room.min(valid) {
        unit.invalidate(block.0 << shape.page_bits);
        move_pages(unit, 1)?;
    }
    Ok(())
}

/// Nobody knows which pages are valid.
struct Unknown;

impl ValidPages for Unknown {
    fn is_valid(&self, _: BlockId, _: u32) -> bool {
        unreachable!("a policy of this crate looks at pages for the sake of reads alone, and none waits")
    }
}
