//! Collecting: an event of a die begins, takes its victims, and ends. What an event is, [`Event`] says.
//!
//! Here an event is one command, or one for each victim where it gives way to the host between them. `steps` has events
//! that go step by step.

use harmonia_types::{SimDuration, SimTime};

use super::{Device, DeviceFailure};
use crate::block::Erased;
use crate::die::collection::{Atomic, Collection, Course};
use crate::die::command::{Activity, Step};
use crate::die::event::Event;
use crate::ftl::Collected;
use crate::gc::schedule::Pace;
use crate::interface::Notice;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Begins the event of a die that may begin, or its turn, as one command. `false` if it took no time.
    pub(super) fn run_event(&mut self, die: u32, now: SimTime, pace: Pace) -> Result<bool, DeviceFailure> {
        let Collection::Admitted(mut event) = self.dies[die as usize].collection else { return Ok(false) };
        let takes_turns = self.governor.is_some();
        if pace == Pace::Instant && !takes_turns {
            event = event.at_once();
        }
        let gives_way = event.yields() && !takes_turns;
        let sum = self.take_victims(die, &mut event, gives_way || takes_turns, now)?;
        if gives_way && sum.victims == 0 {
            // Idle time has passed, or there was nothing to use it for.
            self.dies[die as usize].collection.call_off();
            return Ok(false);
        }
        let time = match pace {
            Pace::Timed => self.event_time(&sum),
            Pace::Instant => SimDuration::ZERO,
        };
        self.note_won(sum.victims, sum.moves + sum.padded, time);
        let (course, until) = (Course::from(now), now + time);
        self.dies[die as usize].collection.begin_command(Atomic {
            event,
            course,
            victims: sum.victims,
            until,
        });
        self.start_collecting(die, now);
        if time == SimDuration::ZERO {
            self.end_event(die, now);
            return Ok(false);
        }
        self.dies[die as usize].begin(Activity::Event, now).then(Step::Array(time));
        self.start(die, now);
        self.foresee(die, now);
        Ok(true)
    }

    /// The command of a die's event has ended: begins the next one, if the event gives way to the host between its victims
    /// and needs another. `false` if the event is over.
    pub(super) fn go_on_with_event(&mut self, die: u32, now: SimTime) -> Result<bool, DeviceFailure> {
        let Collection::Atomic(Atomic { mut event, .. }) = self.dies[die as usize].collection else {
            return Ok(false);
        };
        if self.governor.is_some() || !event.yields() {
            return Ok(false);
        }
        self.show_erased(die, now);
        let sum = self.take_victims(die, &mut event, true, now)?;
        if sum.victims == 0 {
            return Ok(false);
        }
        let time = self.event_time(&sum);
        self.note_won(sum.victims, sum.moves + sum.padded, time);
        self.dies[die as usize].collection.go_on(event, sum.victims, now + time);
        self.dies[die as usize].begin(Activity::Event, now).then(Step::Array(time));
        self.start(die, now);
        Ok(true)
    }

    /// Collects the victims of one command: one, or all that the event needs. The blocks they free are hidden from status
    /// until the command ends. An event that chooses all its victims at once does not look at the reads that wait.
    fn take_victims(
        &mut self,
        die: u32,
        event: &mut Event,
        only_one: bool,
        now: SimTime,
    ) -> Result<Collected, DeviceFailure> {
        if self.superblocks.is_some() {
            return self.take_part(die, event, only_one, now);
        }
        let failure = self.failure(now);
        let mut sum = Collected::default();
        while let Some((unit, block)) = self.next_victim(die, event, only_one, now) {
            let unit = self.rules.shape.unit(die, unit);
            // The victim frees a block.
            let goes_on = !only_one && !event.goal().is_met(event.given(), self.ftl.free_blocks(unit) + 1);
            if !goes_on {
                self.prefetch_victims_after(die, unit, event);
            }
            self.follow_victim(die, unit, block, now);
            if let Some(mapping) = &mut self.mapping {
                mapping.will_move(&self.ftl, unit, block);
            }
            let mut collecting = self.ftl.unit(unit);
            let (collected, erased) =
                collecting.collect_one(block, goes_on, &mut self.probe).map_err(&failure)?;
            // A block that retires counts as one that is not visible yet, so that the unit is known to collect.
            self.ftl.units[unit as usize].hidden += 1;
            if erased == Erased::Retired {
                self.note_retired(unit, now);
            }
            self.count_padding(self.ftl.units[unit as usize].moves_for, collected.padded);
            sum.add(&collected);
            if only_one {
                break;
            }
        }
        Ok(sum)
    }

    /// A unit has given its last victim for now. If the next units are about to give theirs, asks the caches for what that takes:
    /// units of the same die, or of the next dies, where a whole device or channel collects. Changes nothing.
    fn prefetch_victims_after(&self, die: u32, unit: u32, event: &Event) {
        let shape = &self.rules.shape;
        let collects = |next: u32| {
            let other = shape.die_of(next);
            if other == die {
                return event.units().has(shape.unit_in_die(next));
            }
            next < shape.units() && {
                let slot = &self.dies[other as usize];
                slot.is_idle() && slot.collection.is_admitted()
            }
        };
        if collects(unit + 3) {
            self.ftl.prefetch_best(unit + 3);
        }
        if collects(unit + 2) {
            self.ftl.prefetch_victim(unit + 2);
        }
        if collects(unit + 1) {
            self.ftl.prefetch_victim_pages(unit + 1);
        }
    }

    /// Blocks that the last command has erased count for status from now on.
    fn show_erased(&mut self, die: u32, now: SimTime) {
        if self.superblocks.is_some() {
            return self.end_part(die, now);
        }
        for unit in self.units_of(die) {
            let hidden = &mut self.ftl.units[unit as usize].hidden;
            if std::mem::take(hidden) > 0 {
                self.collected_until[unit as usize] = now;
            }
        }
    }

    /// A die begins to collect.
    pub(super) fn start_collecting(&mut self, die: u32, now: SimTime) {
        if let Some(follower) = self.probe.follower() {
            follower.begins(die, now);
        }
        self.count_depth(die);
        self.collecting += 1;
        if self.collecting == 1 {
            self.collecting_since = now;
            if !std::mem::replace(&mut self.told_started, true) {
                self.notices.push((now, Notice::GcStarted));
            }
        }
    }

    /// The event of a die, its garbage collection from the first victim to the last, is over.
    pub(super) fn end_event(&mut self, die: u32, now: SimTime) {
        if let Some(follower) = self.probe.follower() {
            follower.ends(die, now);
        }
        self.show_erased(die, now);
        let slot = &mut self.dies[die as usize];
        let (event, course, victims) = slot.collection.end();
        (slot.exhausted, slot.has_told_hard) = (victims == 0, false);
        self.compare_foreseen(course, now);
        let slot = &mut self.dies[die as usize];
        if slot.activity == Activity::Event {
            let began = course.since;
            slot.gc_busy += now - began;
            slot.gc_plane_busy += now - began;
            self.log_collecting(die, began, now);
        } else {
            slot.gc_busy += std::mem::take(&mut slot.job_busy);
            slot.gc_plane_busy += std::mem::take(&mut slot.job_plane_busy);
            if self.schedule_needs.fresh_blocks {
                self.units_of(die).for_each(|unit| self.ftl.unit(unit).use_up());
            }
        }
        self.collecting -= 1;
        if self.collecting == 0 && now > self.collecting_since {
            self.intervals.push((self.collecting_since, now));
        }
        if self.superblocks.is_some() {
            self.go_on_with_part(die, now);
        }
        if self.governor.is_some() {
            self.settle(die, event, victims, now);
            self.govern(now);
        }
        if self.is_at_rest() {
            self.told_started = false;
            // Who hears that it rests forgets that it was at hard.
            self.dies.iter_mut().for_each(|die| die.has_told_hard = false);
            let soft = self.rules.shape.soft;
            self.registered = (0..self.rules.shape.units()).any(|unit| self.ftl.free_blocks(unit) <= soft);
            self.notices.push((now, Notice::GcEnded { registered: self.registered }));
        }
    }
}
