//! How a device stands, told to a probe that asks for it; for any other nothing here is compiled.
//!
//! ```text
//! event of a die ─► what that die holds, against what it held ─► sums of the device ─► probe.levels
//! arrival, pump ────────────────────► queue depth, slots of the write cache ───────────────┘
//! ```
//!
//! A die opens blocks, erases them and collects in its own events only, so it is enough to look at the die whose event
//! it was. What begins and ends within one event, as collecting does that takes no time, is not seen.
//!
//! Not told: which channels collect, and blocks of single units.

use harmonia_types::{Levels, SimTime};

use super::Device;
use crate::ftl::Ftl;
use crate::probe::Probe;
use crate::shape::Shape;

/// The sums, and the parts they are made of.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    sums: Levels,
    dies: Vec<DieStanding>,
    /// Dies that collect, by channel.
    collecting: Vec<u32>,
    /// The event that is going on has changed at most the queue.
    only_queue: bool,
}

/// What one die adds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct DieStanding {
    empty: u32,
    erased: u64,
    collects: bool,
}

impl Standing {
    /// Of a device that does nothing yet.
    pub fn new(ftl: &Ftl, shape: &Shape, channels: usize) -> Self {
        let units =
            |die: u32| if die.is_multiple_of(shape.dies_per_unit) { shape.units_of(die) } else { 0..0 };
        let die = |die| DieStanding {
            empty: units(die).map(|unit| ftl.free_blocks(unit)).sum(),
            erased: units(die).map(|unit| ftl.units[unit as usize].tally.victims).sum(),
            collects: false,
        };
        let dies: Vec<DieStanding> = (0..shape.dies).map(die).collect();
        let sums = Levels {
            empty_blocks: dies.iter().map(|die| u64::from(die.empty)).sum(),
            victims_erased: dies.iter().map(|die| die.erased).sum(),
            ..Levels::default()
        };
        Standing { sums, dies, collecting: vec![0; channels], only_queue: false }
    }

    fn change(&mut self, die: usize, channel: usize, is: DieStanding) {
        let was = std::mem::replace(&mut self.dies[die], is);
        self.sums.empty_blocks = self.sums.empty_blocks - u64::from(was.empty) + u64::from(is.empty);
        self.sums.victims_erased += is.erased - was.erased;
        let dies = &mut self.collecting[channel];
        let before = *dies;
        *dies = before - u32::from(was.collects) + u32::from(is.collects);
        self.sums.channels_in_gc = self.sums.channels_in_gc - u32::from(before > 0) + u32::from(*dies > 0);
    }
}

impl<P: Probe> Device<P> {
    /// The event of a die that is going on changes at most the queue: [`Device::look_at`], which comes next, need not look.
    #[inline]
    pub(super) fn changes_only_queue(&mut self) {
        if self.probe.watches_levels() {
            self.standing.only_queue = true;
        }
    }

    /// A die has done what it had to do when it was woken, or when an operation came to it while it was idle: tells what that
    /// has changed.
    #[inline]
    pub(super) fn look_at(&mut self, die: u32, now: SimTime) {
        if self.probe.watches_levels() {
            if std::mem::take(&mut self.standing.only_queue) {
                self.tell_queue(now);
            } else {
                self.look_closer(die, now);
            }
        }
    }

    /// If it goes on with a command, nothing but the queue can be different.
    fn look_closer(&mut self, die: u32, now: SimTime) {
        let slot = &self.dies[die as usize];
        let goes_on = !slot.is_idle() && slot.command.start < now;
        let is = if goes_on { None } else { Some(self.die_standing(die)) };
        match is.filter(|is| *is != self.standing.dies[die as usize]) {
            Some(is) => self.change(die, is, now),
            None => self.tell_queue(now),
        }
    }

    /// Blocks of a unit that dies share may have changed, whatever these dies do; they count as the first one's.
    pub(super) fn look_at_unit(&mut self, unit: u32, now: SimTime) {
        let die = self.rules.shape.die_of(unit);
        if self.probe.watches_levels() && self.die_standing(die) != self.standing.dies[die as usize] {
            self.change(die, self.die_standing(die), now);
        }
    }

    /// Operations may have come or gone.
    #[inline]
    pub(super) fn tell_queue(&mut self, now: SimTime) {
        if self.probe.watches_levels() {
            let depth = self.waiting_or_running() as u64;
            let is_other = depth != std::mem::replace(&mut self.standing.sums.queue_depth, depth);
            if self.look_at_cache() {
                self.probe.levels(now, &self.standing.sums);
            } else if is_other {
                self.probe.queue(now, &self.standing.sums);
            }
        }
    }

    /// Whether the write cache holds more or less than when it was looked at last.
    #[inline]
    fn look_at_cache(&mut self) -> bool {
        let Some(cache) = &self.cache else { return false };
        let sums = &mut self.standing.sums;
        let before = (sums.cached_pages, sums.cache_slots);
        // Slots of a device that is no part of the array are not counted.
        let takes_part = self.failed.is_none() && !self.stands_by;
        (sums.cached_pages, sums.cache_slots) =
            if takes_part { (cache.pages.held(), cache.pages.size()) } else { (0, 0) };
        (sums.cached_pages, sums.cache_slots) != before
    }

    /// It is a spare, and no part of the array until it [takes part](Self::takes_part).
    pub fn stands_by(&mut self) {
        self.stands_by = true;
    }

    /// It takes the place of a member from `now` on, or begins to.
    pub fn takes_part(&mut self, now: SimTime) {
        if std::mem::take(&mut self.stands_by) {
            self.tell_levels(now);
        }
    }

    /// How things stand, changed or not.
    #[inline]
    pub(super) fn tell_levels(&mut self, now: SimTime) {
        if self.probe.watches_levels() {
            self.standing.sums.queue_depth = self.waiting_or_running() as u64;
            self.look_at_cache();
            self.probe.levels(now, &self.standing.sums);
        }
    }

    #[cold]
    fn change(&mut self, die: u32, is: DieStanding, now: SimTime) {
        let channel = self.rules.geometry.channel_of(die) as usize;
        self.standing.change(die as usize, channel, is);
        self.tell_levels(now);
    }

    #[inline]
    fn die_standing(&self, die: u32) -> DieStanding {
        let collects = self.dies[die as usize].collects();
        let mut standing = DieStanding { collects, ..DieStanding::default() };
        let shape = &self.rules.shape;
        let of_die = if die.is_multiple_of(shape.dies_per_unit) { shape.units_of(die) } else { 0..0 };
        for state in of_die.map(|unit| &self.ftl.units[unit as usize]) {
            standing.empty += state.visible_free();
            standing.erased += state.tally.victims - u64::from(state.hidden);
        }
        standing
    }

    /// Checks that no die has changed unseen.
    pub(super) fn audit_levels(&self) {
        for die in 0..if self.probe.watches_levels() { self.rules.shape.dies } else { 0 } {
            let seen = self.standing.dies[die as usize];
            assert_eq!(self.die_standing(die), seen, "die {die} changed in an event that was not its own");
        }
    }

    /// Page operations that have arrived and are not done. Pages in a write cache count until they are on flash, but for those that wait there
    /// for others to make up a program with them.
    #[inline]
    pub(super) fn waiting_or_running(&self) -> usize {
        if self.is_plain {
            return self.ops.live() + self.settling.awaited();
        }
        let landing = self.placement.as_ref().map_or(0, |placement| placement.landing());
        let by_map = self.superblocks.as_ref().map_or(0, |blocks| blocks.landing());
        let parked = self.mapping.as_ref().map_or(0, |mapping| mapping.parked());
        self.ops.live() + landing + by_map + parked + self.not_handed_over() + self.settling.awaited()
    }
}
