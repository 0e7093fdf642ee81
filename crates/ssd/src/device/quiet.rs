//! Until when a device surely has nothing to report: a lower bound of the time of its next notice, for whoever wants to let
//! other devices run ahead meanwhile.
//!
//! ```text
//! now                     arrivals: page writes of each unit are counted
//!  |--- room of the unit ------------------------------------x------>
//!                                                            the write that opens the block which makes it low
//! ```
//!
//! A die that rests reports when a unit of it comes down to a threshold. A page is written no earlier than its request
//! arrives, and pages of one unit are programmed one after the other. A die that collects in one command does nothing before
//! that ends, and the device reports its end when the last die is done.
//!
//! No bound beyond the next event: where an event goes step by step, may be begun in idle time or by a policy that limits
//! channels, where data goes to any unit, where a command writes several planes, in a window, behind a write cache, where the map is not in memory, and over a link
//! or through a controller that takes time.

use harmonia_types::{Bytes, Operation, SimDuration, SimTime};

use super::{Device, SubRequest, windows};
use crate::die::collection::Collection;
use crate::probe::Probe;

/// Counts of page writes, reused from one question to the next.
#[derive(Debug, Clone, Default)]
pub struct Room {
    /// By unit: which of the page writes to come would make it low.
    units: Vec<u64>,
    /// By die: before when that cannot be.
    dies: Vec<SimTime>,
}

impl<P: Probe> Device<P> {
    /// A time before which it reports nothing, given all it will be handed until then, and no directive. It may be
    /// [`SimTime::NEVER`], if nothing of `arriving` can bring a report.
    pub fn quiet_until(&self, arriving: &[(SimTime, SubRequest)], room: &mut Room) -> SimTime {
        let first = arriving.first().map_or(SimTime::NEVER, |first| first.0);
        let next = self.next_wakeup().min(first);
        if !self.is_foreseeable() || !self.notices.is_empty() {
            return next;
        }
        let Some(bound) = self.measure_room(first, room) else { return next };
        let writes = arriving.iter().filter(|(_, sub)| sub.operation == Operation::Write);
        let mut quiet = bound;
        for (at, sub) in writes {
            if *at >= quiet {
                break;
            }
            let end = (sub.offset + sub.length).div_ceil(self.rules.shape.page_size.into());
            let (page, _) = self.rules.page_size.divide(sub.offset);
            for (die, unit, _) in self.rules.shape.walk(page as u32, (end - page) as u32) {
                let left = &mut room.units[unit as usize];
                *left -= u64::from(*left > 0);
                if *left == 0 {
                    quiet = quiet.min(room.dies[die as usize].max(*at));
                }
            }
        }
        quiet.max(next)
    }

    /// Bytes of the blocks that its dies are about to collect, one each: what makes the device work that nobody submits.
    pub fn bytes_to_collect(&self) -> Bytes {
        let shape = &self.rules.shape;
        let due = self.dies.iter().filter(|die| die.collection.is_admitted()).count();
        due as Bytes * Bytes::from(shape.data_pages) * Bytes::from(shape.page_size)
    }

    /// Whether more than the next event can be foreseen.
    fn is_foreseeable(&self) -> bool {
        let has_rules = self.rules.global || self.rules.background || self.lanes.is_some();
        let takes_turns = self.governor.is_some() || self.placement.is_some() || self.background.is_some();
        let binds = self.superblocks.is_some();
        let is_free = self.window == windows::State::None && self.failed.is_none();
        let at_once = self.ingress.is_empty() && self.rules.enters_at_once;
        // A cache says when pages are written, not their arrival, and so does a page of the map that must be read.
        let at_arrival = !self.pumps;
        is_free
            && at_once
            && at_arrival
            && !(has_rules || takes_turns || binds || self.schedule_needs.fresh_blocks)
    }

    /// How much room each unit has before its die may report, and when what is at the dies already may bring a report. `None`
    /// if a die has begun to do so, or is about to, in a way that is not known.
    fn measure_room(&self, first: SimTime, room: &mut Room) -> Option<SimTime> {
        room.units.clear();
        room.dies.clear();
        // The thresholds at which a die has something to tell.
        let own = self.starts_at().max(self.rules.last_block);
        let level = if self.registered { own } else { own.max(self.rules.shape.soft) };
        let program = if self.rules.by_page { SimDuration::ZERO } else { self.rules.only_program_time() };
        let (mut quiet, mut all_end) = (SimTime::NEVER, SimTime::ZERO);
        for (die, slot) in self.dies.iter().enumerate() {
            let wake = self.wakes.time_of(die);
            let free_at = match &slot.collection {
                Collection::Rest if slot.is_idle() && slot.waiting == 0 => SimTime::ZERO,
                Collection::Rest if !slot.is_idle() || wake == SimTime::NEVER => wake,
                // Its data is on the way. An operation that arrives later may be ready first.
                Collection::Rest => wake.min(first),
                Collection::Atomic(atomic) => {
                    all_end = all_end.max(atomic.until);
                    if atomic.event.yields() {
                        quiet = quiet.min(atomic.until);
                    }
                    atomic.until
                }
                // It begins at the next event of the die.
                Collection::Admitted(_) if wake == SimTime::NEVER => return None,
                Collection::Admitted(_) => {
                    let begins = if slot.is_idle() { wake.min(first) } else { wake };
                    quiet = quiet.min(begins);
                    begins
                }
                Collection::Waiting(_) | Collection::Stepwise(_) => return None,
            };
            if free_at == SimTime::NEVER {
                // It waits for a bus, or is held.
                return None;
            }
            let mut least = SimTime::NEVER;
            for unit in self.units_of(die as u32) {
                let free = self.ftl.free_blocks(unit);
                let waiting = u64::from(slot.waiting);
                if free <= level {
                    // Whatever it does next may report.
                    let arrives = if slot.waiting > 0 || !slot.is_idle() { free_at } else { first };
                    quiet = quiet.min(arrives.max(free_at));
                    room.units.push(0);
                    continue;
                }
                let due = self.ftl.writes_until(unit, free, level) + 1;
                let at = SimTime(free_at.0.saturating_add((due - 1).saturating_mul(program.0)));
                if due <= waiting {
                    quiet = quiet.min(at);
                }
                least = least.min(at);
                room.units.push(due.saturating_sub(waiting));
            }
            room.dies.push(if least == SimTime::NEVER { free_at } else { least });
        }
        if self.collecting > 0 {
            quiet = quiet.min(all_end);
        }
        Some(quiet)
    }
}
