//! What an idle die does next, and whether what a die runs gives way to a read.
//!
//! With pins of its own a die never waits for the bus, so a command is one event; on a shared bus each turn is asked for
//! when it is needed (`run`).

use harmonia_types::SimTime;

use super::steps::Due;
use super::{Device, DeviceFailure};
use crate::die::Die;
use crate::die::collection::{Collection, Stepwise};
use crate::die::command::NO_OP;
use crate::gc::schedule::{Class, Decision, DieView, Gc, HostToken, Running, Token};
use crate::probe::Probe;

/// What has come of a decision.
enum Outcome {
    /// The die works, or waits for something.
    Settled,
    /// The die has nothing to do until something comes.
    Rests,
    /// It took no time: the schedule is asked again. Whether that looks at the thresholds before it serves the host.
    AskAgain { looks: bool },
}

/// When a schedule has to be asked how a job goes on that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Always,
    /// Where something that waits [may match](Device::may_match).
    OfMatches,
    Never,
}

impl<P: Probe> Device<P> {
    /// Starts something on an idle die, or leaves it waiting. `true` if the die has nothing to do.
    pub(super) fn dispatch(&mut self, die: u32, now: SimTime) -> Result<bool, DeviceFailure> {
        if self.dies[die as usize].held_since != SimTime::NEVER {
            self.end_hold(die, now);
        }
        if self.rules.suspends && self.dies[die as usize].pauses_host() {
            self.serve_suspended(die, now)?;
            return Ok(false);
        }
        // 1. Tell if a unit has come down to its hard threshold while an event goes on that began above it.
        self.report_hard(die, now);
        let mut looks = true;
        loop {
            // 2. Pages of other dies that cannot be programmed here go back.
            if self.rules.global {
                self.send_back_guests(die, now);
            }
            // 3. Ask the schedule, unless it is clear what it would say.
            if let Some(due) = self.due_unasked(die) {
                match self.go_on_unasked(die, due, now)? {
                    Outcome::Settled => return Ok(false),
                    Outcome::Rests => return Ok(true),
                    Outcome::AskAgain { looks: again } => looks = again,
                }
                continue;
            }
            let decision = self.next_of_queue(die, now).unwrap_or_else(|| self.ask(die, None, now));
            // 4. Look at the thresholds before the host is served. What they start goes first.
            let is_idle = matches!(decision, Decision::Wait(SimTime::NEVER));
            if looks && (decision.host_alone().is_some() || is_idle && self.looks_when_idle()) {
                looks = false;
                if self.check(die, now) {
                    continue;
                }
            }
            // 5. Hold back a write that might take the room which the die needs to collect.
            if self.governor.is_some()
                && let Some(HostToken(op)) = decision.host_alone()
                && self.must_wait(die, op, now)
            {
                if self.dies[die as usize].collection.is_admitted() {
                    continue;
                }
                self.stall(die, now);
                return Ok(false);
            }
            // 6. Do what was decided. If that took no time, begin again.
            match self.carry_out(die, &decision, now)? {
                Outcome::Settled => return Ok(false),
                Outcome::Rests => return Ok(true),
                Outcome::AskAgain { looks: again } => looks = again,
            }
        }
    }

    /// [`Device::dispatch`] where nobody asks whether the die rests. Only a cache that drains in part does, and it fills programs of
    /// several pages. They never begin when they enter a queue, and are neither [plain](Device::is_plain) nor
    /// [alone](Device::run_alone).
    #[inline]
    pub(super) fn begin_next(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        debug_assert!(!self.rules.drains_in_part, "the cache is asked for more when a die rests");
        self.dispatch(die, now).map(|_| ())
    }

    #[expect(clippy::inline_always, reason = "a part of dispatch, which every command passes")]
    #[inline(always)]
    fn carry_out(&mut self, die: u32, decision: &Decision, now: SimTime) -> Result<Outcome, DeviceFailure> {
        let has_guests = |device: &Self| device.rules.global && !device.dies[die as usize].guests.is_empty();
        match *decision {
            Decision::Wait(SimTime::NEVER) => {
                self.wakes.clear(die as usize);
                if self.waits_for_page(die) {
                    self.hold(die, now);
                }
                return Ok(Outcome::Rests);
            }
            Decision::Wait(until) => self.wakes.set(die as usize, until),
            Decision::Single(Token::Host(HostToken(op))) => {
                let packs = self.rules.shape.packing.packs() && !self.rules.shape.joins();
                if packs && self.reads_rest_first(die, op, now) {
                    return Ok(Outcome::Settled);
                }
                self.unlink(die, op);
                self.choose_plane(die, op);
                if !self.start_op(die, op, now)? {
                    return Ok(Outcome::AskAgain { looks: true });
                }
            }
            Decision::Atomic(pace) => {
                // Only an event of the device's own means that its thresholds were looked at.
                let looks = self.yields(die) || self.repeats_events();
                if !self.run_event(die, now, pace)? {
                    return Ok(Outcome::AskAgain { looks });
                }
            }
            Decision::Single(Token::GcStep | Token::GcMove) if has_guests(self) => {
                self.start_guest(die, None, now)?;
            }
            Decision::Single(token @ (Token::GcStep | Token::GcMove)) => {
                // Host operations that went along may have made a unit low whose turn was over.
                let looks = self.yields(die) || self.schedule_needs.queues || self.repeats_events();
                if !self.step_job(die, token, now)? {
                    return Ok(Outcome::AskAgain { looks });
                }
            }
            Decision::Multi(ref command) if !command.takes_gc() => self.start_joint(die, command, now)?,
            Decision::Multi(ref command) if has_guests(self) => self.start_guest(die, Some(command), now)?,
            Decision::Multi(ref command) => self.start_half_with(die, command, now)?,
            Decision::Erase => self.start_erase(die, now),
            Decision::Resume => self.resume(die, now),
            Decision::Suspend => unreachable!("only a running command can be suspended"),
        }
        Ok(Outcome::Settled)
    }

    /// What an idle die does that has nothing to collect, where that is clear without asking the schedule.
    #[inline]
    fn next_of_queue(&self, die: u32, now: SimTime) -> Option<Decision> {
        let slot = &self.dies[die as usize];
        let has_guests = slot.hosting.is_some() || !slot.guests.is_empty();
        let is_clear = self.schedule_needs.serves_head
            && matches!(slot.collection, Collection::Rest)
            && slot.paused.is_none()
            && !(self.rules.global && has_guests);
        match slot.head {
            _ if !is_clear => None,
            NO_OP => Some(Decision::Wait(SimTime::NEVER)),
            // Where reads go first the head may be another one, and where planes join it may not go alone.
            head if head != slot.tail && (self.rules.reads_first || self.rules.multi_plane) => None,
            head => match self.ops[head].ready {
                ready if ready <= now => Some(Decision::Single(Token::Host(HostToken(head)))),
                ready => Some(Decision::Wait(ready)),
            },
        }
    }

    /// When the schedule has to be asked how a die's job goes on.
    #[inline]
    pub(super) fn asked(&self, slot: &Die) -> Asked {
        let needs = &self.schedule_needs;
        match () {
            () if self.rules.global || slot.paused.is_some() => Asked::Always,
            () if needs.steps_alone && slot.head == NO_OP => Asked::Never,
            // Whoever checks a run has every schedule asked while something waits.
            () if self.probe.audits() => Asked::Always,
            () if needs.moves_unasked => Asked::Never,
            () if needs.steps_unmatched => Asked::OfMatches,
            () => Asked::Always,
        }
    }

    /// What a job does next that is under way, where the schedule need not be asked.
    #[inline]
    fn due_unasked(&self, die: u32) -> Option<Due> {
        let slot = &self.dies[die as usize];
        let Collection::Stepwise(Stepwise { job, .. }) = &slot.collection else { return None };
        let asked = self.asked(slot);
        if asked == Asked::Always {
            return None;
        }
        let unit = self.rules.shape.unit(die, job.unit);
        let due = self.due(die, unit, job.victim.as_ref());
        (asked == Asked::Never || !self.may_match(die, unit, due)).then_some(due)
    }

    /// Does it. Thresholds are looked at as after the same decision of a schedule.
    #[inline]
    fn go_on_unasked(&mut self, die: u32, due: Due, now: SimTime) -> Result<Outcome, DeviceFailure> {
        match due {
            Due::Read(page) if self.schedule_needs.moves_unasked => self.start_move(die, page, now)?,
            Due::Read(_) | Due::ReadAhead(..) | Due::Program(_) => self.start_half(die, due, now)?,
            Due::Erase => self.start_erase(die, now),
            Due::Choose => {
                let looks = self.yields(die) || self.schedule_needs.queues || self.repeats_events();
                self.choose_next(die, now)?;
                return Ok(Outcome::AskAgain { looks });
            }
        }
        Ok(Outcome::Settled)
    }

    /// Asks the schedule what an idle die does next, or whether what runs should be suspended.
    #[inline]
    pub(super) fn ask(&self, die: u32, running: Option<Running>, now: SimTime) -> Decision {
        let slot = &self.dies[die as usize];
        let queues = self.queues(die);
        let free = self.least_free(die);
        // A page that is programmed for another die, or waits for it, is as urgent as it is there.
        let guest = if self.rules.global { slot.hosting.as_ref().or(slot.guests.front()) } else { None };
        let gc = match (guest, &slot.collection) {
            (Some(guest), _) => Gc::Job(self.guest_view(guest, free)),
            (None, Collection::Stepwise(stepwise)) => Gc::Job(self.job_view(die, &stepwise.job, free)),
            (None, Collection::Admitted(_)) => {
                let hard = self.keeps_out(Class::Read) && self.is_pressing(die, free);
                Gc::Wanted { hard, moves_use_bus: self.rules.moves_use_bus }
            }
            (None, Collection::Rest | Collection::Waiting(_) | Collection::Atomic(_)) => Gc::Idle,
        };
        let view = DieView {
            head: queues.head(now, self.rules.reads_first),
            gc,
            writes_wait: self.writes_wait(die, free),
            running,
            suspended: slot.paused.as_deref().map(|paused| self.paused_view(paused, now)),
            free,
            hard: self.rules.shape.hard,
            soft: self.rules.shape.soft,
            planes: self.rules.geometry.planes_per_die,
            multi_plane: self.rules.multi_plane,
            bus_free_at: if self.rules.geometry.own_pins {
                SimTime::ZERO
            } else {
                self.buses[self.rules.channel_of(die)].free_at()
            },
            queues: &queues,
        };
        self.schedule.next(now, &view)
    }

    /// A die whose program of the host is suspended serves the next read, or goes on with the program.
    #[cold]
    fn serve_suspended(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        while let Some(HostToken(read)) = self.read_to_let_in(die, now) {
            self.unlink(die, read);
            if self.start_op(die, read, now)? {
                return Ok(());
            }
        }
        self.resume(die, now);
        Ok(())
    }

    /// Suspends what a die runs if something that waits is to go first. Looks again later if it is too early.
    pub(super) fn consider_suspending(&mut self, die: u32, now: SimTime) {
        let Some((due, ends)) = self.suspends_from(die) else { return };
        if due > now {
            return self.look_for_read_at(die, due, ends);
        }
        if self.suspend_host_program(die, ends, now) {
            return;
        }
        if let Some(cost) = self.cost_of_suspending_collection(die) {
            let running = Running { ends, remaining: ends.saturating_since(now), suspendable: true };
            if self.ask(die, Some(running), now) == Decision::Suspend {
                return self.suspend(die, running.remaining, cost, now);
            }
        }
        self.look_for_later_read(die, now);
    }
}
