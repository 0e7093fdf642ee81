//! Collecting in idle time: a forced event that gives way to the host, one victim at a time.
//!
//! ```text
//! FORCE_GC(all reserve)      an operation enters any queue of the device
//!        |                                  |
//!        [ victim ][ victim ][ victim .......]  every die stops at its own victim boundary
//! ```
//!
//! Source: paper A (IEEE TC 2012, section 4.3.2): a device "starts generating free blocks until the number of free
//! blocks reaches the total reserved free blocks (i.e. maximum number of free blocks) or until there is an incoming I/O
//! request in the queue". Ours: that the victim under way is finished first; that victims come from the unit of the die
//! with the fewest free blocks; that a device which has operations when the directive arrives does nothing.
//!
//! Background work of the array is not the host: it neither keeps such a collection from beginning nor ends it. At a die
//! that collects it waits, until the collection is over or the schedule lets operations go between its steps. So a rebuild
//! cannot keep a member from collecting in idle time, and waits for at most the reserve of each die.

use harmonia_types::SimTime;

use super::collect::{Job, UnitSet, Want};
use super::die::{Activity, Command, Step};
use super::{Device, DeviceFailure};
use crate::block::BlockId;
use crate::ftl::{Collected, Goal};
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// An idle-time force has arrived.
    pub(super) fn force_idle(&mut self, now: SimTime) {
        if self.serves_host() {
            return;
        }
        self.interrupted = false;
        let goal = Goal { stop: self.rules.shape.reserved_blocks.saturating_sub(1), min_victims: 0 };
        let want = Want { yields: true, ..Want::event(goal, UnitSet::ALL) };
        self.demand(0..self.rules.shape.dies, want, now);
    }

    /// Whether what a die should collect, or collects, gives way to the host.
    pub(super) fn yields(&self, die: u32) -> bool {
        let slot = &self.dies[die as usize];
        slot.want.is_some_and(|want| want.yields) || slot.job.is_some_and(|job| job.yields)
    }

    /// The next victim of a die: of its units that are not done, the one with the fewest free blocks (ties: the lowest)
    /// goes first. `None` if the host is back or nothing is left to collect.
    pub(super) fn idle_victim(&mut self, die: u32, stop: u32, now: SimTime) -> Option<(u32, BlockId)> {
        if self.interrupted {
            return None;
        }
        let units = self.rules.shape.units_per_die;
        let mut tried = None;
        loop {
            let due = (die * units..(die + 1) * units).map(|unit| (self.ftl.free_blocks(unit), unit));
            let (free, unit) = due.filter(|&key| key.0 <= stop && tried < Some(key)).min()?;
            if let Some(block) = self.choose_victim(die, unit, now) {
                return Some((unit, block));
            }
            tried = Some((free, unit));
        }
    }

    /// Begins a die's event, or drops it. `false` if nothing was started.
    pub(super) fn start_idle_event(&mut self, die: u32, now: SimTime) -> Result<bool, DeviceFailure> {
        let going = self.next_idle_victim(die, Collected::default(), now)?;
        if going {
            self.start_collecting(die, now);
            self.foresee(die, now);
        }
        Ok(going)
    }

    /// At a victim boundary of an atomic event that has collected `sum`: takes the next victim if it yields and may go
    /// on. `false` if the event is over.
    pub(super) fn next_idle_victim(
        &mut self,
        die: u32,
        mut sum: Collected,
        now: SimTime,
    ) -> Result<bool, DeviceFailure> {
        if self.governor.is_some() {
            return Ok(false);
        }
        // An event that yields keeps its want until it ends.
        let Some(want) = self.dies[die as usize].want.filter(|want| want.yields) else { return Ok(false) };
        let units = self.rules.shape.units_per_die;
        for unit in die * units..(die + 1) * units {
            self.ftl.units[unit as usize].hidden = 0;
        }
        let Some((unit, block)) = self.idle_victim(die, want.goal.stop, now) else {
            self.dies[die as usize].want = None;
            return Ok(false);
        };
        let failure = self.failure(now);
        let collected = self.ftl.unit(unit).collect_one(block, &mut self.probe).map_err(failure)?;
        self.ftl.units[unit as usize].hidden = collected.victims;
        sum.add(&collected);
        let time = self.event_time(&collected);
        self.dies[die as usize].gc_until = now + time;
        self.begin(die, Activity::Event(sum), Command::new(now, &[Step::Array(time)]), now);
        Ok(true)
    }

    /// The same for a job.
    pub(super) fn choose_next_idle(&mut self, die: u32, job: Job, now: SimTime) {
        match self.idle_victim(die, job.goal.stop, now) {
            Some((unit, block)) => {
                self.ftl.unit(unit).begin(block);
                let unit = unit - die * self.rules.shape.units_per_die;
                self.dies[die as usize].job =
                    Some(Job { unit, victim: Some(block), cursor: 0, held: None, ..job });
            }
            None => {
                self.dies[die as usize].job = None;
                self.end_event(die, job.victims, now);
            }
        }
    }
}
