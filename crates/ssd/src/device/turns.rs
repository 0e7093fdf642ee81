//! Turns: one victim of a die, and what remains of an event between them.
//!
//! ```text
//! event of five victims   [ turn ]      [ turn ][ turn ]   [ turn ]     [ turn ]
//! the host                        ▬ ▬ ▬                  ▬          ▬ ▬
//! ```
//!
//! An event that thresholds or a directive ask for keeps its goal and goes on turn by turn; a turn that the concurrency
//! policy began of itself ends with its victim. A die that waits for its turn serves the host, but no write that could take
//! the room which the live pages of its next victim need.
//!
//! Source: Electronics 2025, 4 (one block at a time); that events are cut into turns, and that writes wait rather than
//! let a device run out of blocks, is ours.

use harmonia_types::{SimDuration, SimTime};

use super::collect::{Job, UnitSet, Want};
use super::concurrency::LAST_BLOCK;
use super::die::{Activity, Command, Step};
use super::{Device, DeviceFailure};
use crate::block::BlockId;
use crate::ftl::Goal;
use crate::gc::schedule::Pace;
use crate::probe::Probe;

impl Want {
    /// One victim, because the policy says so.
    pub(super) fn turn() -> Want {
        Want { by_policy: true, ..Want::event(Goal { stop: 0, min_victims: 1 }, UnitSet::ALL) }
    }
}

impl<P: Probe> Device<P> {
    /// Events wanted of dies whose turns the policy decides on. One that has its turn, or waits, absorbs the demand.
    pub(super) fn demand_turns(&mut self, dies: impl Iterator<Item = u32>, want: Want, now: SimTime) {
        for die in dies {
            let slot = &mut self.dies[die as usize];
            match &mut slot.want {
                Some(waiting) if !waiting.by_policy => waiting.absorb(&want),
                // What the policy began goes on as the first turn of the event, but does not count towards its goal.
                Some(turn) => *turn = Want { admitted: turn.admitted, ..want },
                None => {
                    slot.want = Some(want);
                    slot.began_soft = false;
                }
            }
        }
        self.govern(now);
    }

    /// The victim of a die's turn.
    pub(super) fn turn_victim(&mut self, die: u32, now: SimTime) -> Option<(u32, BlockId)> {
        let mut want = self.dies[die as usize].want?;
        if want.yields {
            return self.idle_victim(die, want.goal.stop, now);
        }
        if want.by_policy {
            let (_, unit) = self.most_invalid(die);
            return self.choose_victim(die, unit, now).map(|block| (unit, block));
        }
        while self.is_due(die, &mut want) {
            let unit = die * self.rules.shape.units_per_die + want.unit;
            if let Some(block) = self.choose_victim(die, unit, now) {
                want.counts = true;
                self.dies[die as usize].want = Some(want);
                return Some((unit, block));
            }
            (want.unit, want.unit_victims) = (want.unit + 1, 0);
        }
        None
    }

    /// Whether an event has a unit, from the one whose turn it is, that has not reached its goal; goes on to that.
    fn is_due(&self, die: u32, want: &mut Want) -> bool {
        let units = self.rules.shape.units_per_die;
        if want.yields {
            return self.units_of(die).any(|unit| self.ftl.free_blocks(unit) <= want.goal.stop);
        }
        let due = |want: &Want| {
            let free = self.ftl.free_blocks(die * units + want.unit);
            want.units.has(want.unit) && (want.unit_victims < want.goal.min_victims || free <= want.goal.stop)
        };
        while want.unit < units && !due(want) {
            (want.unit, want.unit_victims) = (want.unit + 1, 0);
        }
        want.unit < units
    }

    /// Runs a die's turn as one command. `false` if it took no time.
    pub(super) fn run_turn(&mut self, die: u32, now: SimTime, pace: Pace) -> Result<bool, DeviceFailure> {
        let Some((unit, block)) = self.turn_victim(die, now) else {
            self.start_collecting(die, now);
            self.end_event(die, 0, now);
            return Ok(false);
        };
        let failure = self.failure(now);
        let collected = self.ftl.unit(unit).collect_one(block, &mut self.probe).map_err(failure)?;
        self.ftl.units[unit as usize].hidden = collected.victims;
        self.start_collecting(die, now);
        let time = match pace {
            Pace::Timed => self.event_time(&collected),
            Pace::Instant => SimDuration::ZERO,
        };
        if time == SimDuration::ZERO {
            self.end_event(die, collected.victims, now);
            return Ok(false);
        }
        self.dies[die as usize].gc_until = now + time;
        self.begin(die, Activity::Event(collected), Command::new(now, &[Step::Array(time)]), now);
        self.foresee(die, now);
        Ok(true)
    }

    /// The turn of a die is over: what remains of its event waits for the next one.
    pub(super) fn settle(&mut self, die: u32, victims: u32) {
        self.dies[die as usize].activity = Activity::Idle;
        let Some(mut want) = self.dies[die as usize].want.take() else { return };
        want.unit_victims += if want.counts { victims } else { 0 };
        (want.admitted, want.counts) = (false, false);
        // An idle-time event may end though there is more to win.
        self.dies[die as usize].exhausted &= !want.yields;
        let gives_way = want.yields && self.interrupted;
        let over = victims == 0 || want.by_policy || gives_way || self.is_off(die, &want);
        if !over && self.is_due(die, &mut want) {
            self.dies[die as usize].want = Some(want);
        }
    }

    /// A die is about to program a host page: whether that has to wait for its turn, because it might take the room
    /// that the live pages of its next victim need.
    #[inline]
    pub(super) fn must_wait(&mut self, die: u32, handle: u32, now: SimTime) -> bool {
        self.governor.is_some() && self.has_no_room(die, handle) && {
            let slot = &self.dies[die as usize];
            if slot.want.is_none() {
                self.demand_turns(die..die + 1, self.own_event(UnitSet::ALL), now);
            } else {
                self.govern(now);
            }
            true
        }
    }

    /// A die serves no host write until its turn.
    pub(super) fn stall(&mut self, die: u32, now: SimTime) {
        self.dies[die as usize].stalled.get_or_insert(now);
        self.wakes.clear(die as usize);
    }

    fn has_no_room(&self, die: u32, handle: u32) -> bool {
        let (op, slot) = (&self.ops[handle], &self.dies[die as usize]);
        op.kind.writes()
            && !self.has_turn(die)
            && !slot.exhausted
            && self.ftl.free_blocks(op.unit) <= LAST_BLOCK
            && !self.ftl.has_room_to_collect(op.unit)
    }

    /// Gives a die's job the victim of its turn, or ends it: the job ends with that.
    pub(super) fn choose_in_turn(&mut self, die: u32, job: Job, now: SimTime) {
        let next = if job.victims == 0 { self.turn_victim(die, now) } else { None };
        let Some((unit, block)) = next else {
            self.dies[die as usize].job = None;
            return self.end_event(die, job.victims, now);
        };
        self.ftl.unit(unit).begin(block);
        let unit = unit - die * self.rules.shape.units_per_die;
        self.dies[die as usize].job = Some(Job { unit, victim: Some(block), ..job });
    }
}
