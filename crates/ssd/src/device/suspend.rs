//! Programs and erases that are suspended for reads of the host.
//!
//! ```text
//! die   [in][array tPROG .......|suspend][read of another page][resume, the rest of tPROG]
//!        ^  |-- minimum run --->^
//!        a read arrives         it goes
//! ```
//!
//! A command is suspended while its array works for the last time, and not before it has done so for `minimum_run`, counted from the
//! moment at which it began or was resumed. A read that comes earlier waits until then. So it waits at most for the rest of a
//! transfer, the minimum run and the time that suspending takes. What has been suspended as often as `most_suspends` says runs to
//! its end.
//!
//! A program of the host is suspended under any schedule. Its read may overtake writes that came before it, except on its own
//! page. All reads that are ready by then go, one by one, and the program goes on. Reads do not go first where collection is about
//! to begin, or under way, and gives way to nobody. Whether a program or an erase of garbage collection is suspended, the
//! schedule says. Programs of background work are not suspended, nor does its reading suspend any.
//!
//! A read of a page whose program is suspended waits for it. Not so where a program carries several mapping units: the write cache has
//! what the host wrote, and the source of a copy is erased only when its copies are programmed. Such a read takes as long as any other.
//!
//! `dispatch` weighs what runs against what waits. Nobody looks at a die all the time. It is looked at when an operation arrives, and at one moment to come (`looks`): when the least
//! time is over, or when a read that is on its way is ready.
//!
//! Source: MQSim (FAST 2018), which suspends programs for reads. Its threshold for what remains of a program is left out.

use harmonia_types::{SimDuration, SimTime};

use super::Device;
use crate::die::command::Activity;
use crate::gc::schedule::{Class, GivesWay, HostToken};
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// From when on what a die runs may be suspended, and when it ends. `None` if it may not, or that is not known yet.
    pub(super) fn suspends_from(&self, die: u32) -> Option<(SimTime, SimTime)> {
        let command = &self.dies[die as usize].command;
        let length = command.last_step()?;
        if self.rules.timing.most_suspends.is_some_and(|most| u32::from(command.suspends) >= most) {
            return None;
        }
        let is_suspendable = self.cost_of_suspending_collection(die).is_some() || self.runs_host_program(die);
        let ends = self.wakes.time_of(die as usize);
        is_suspendable.then(|| (SimTime(ends.0 - length.0) + self.rules.timing.minimum_run, ends))
    }

    /// What suspending costs if a die runs a program or an erase of garbage collection that the part can suspend and the
    /// schedule might.
    pub(super) fn cost_of_suspending_collection(&self, die: u32) -> Option<SimDuration> {
        let (slot, timing) = (&self.dies[die as usize], &self.rules.timing);
        match slot.activity {
            _ if !self.schedule_needs.suspend => None,
            Activity::Erase => timing.suspend_erase,
            Activity::Joint(Class::Write) if slot.has_gc_part() => timing.suspend_program,
            _ => None,
        }
    }

    /// Whether a die runs a program of the host that may be suspended.
    fn runs_host_program(&self, die: u32) -> bool {
        let slot = &self.dies[die as usize];
        let is_host = match slot.activity {
            Activity::Host(_) => true,
            Activity::Joint(Class::Write) => !slot.has_gc_part(),
            _ => false,
        };
        is_host && self.rules.timing.suspend_host_program.is_some() && !slot.command.background
    }

    /// Suspends the program of the host whose array works at a die until `ends`, if a read waits for it that may go first.
    pub(super) fn suspend_host_program(&mut self, die: u32, ends: SimTime, now: SimTime) -> bool {
        let Some(cost) = self.rules.timing.suspend_host_program else { return false };
        // One that ends now is over, and there is one place for what is suspended.
        if !self.runs_host_program(die) || ends == now || self.dies[die as usize].paused.is_some() {
            return false;
        }
        if self.read_to_let_in(die, now).is_none() {
            return false;
        }
        self.counters.inside.suspends += 1;
        self.dies[die as usize].suspend(ends - now);
        self.watch_suspended(die, now + cost);
        self.note_suspended(die, now);
        self.wakes.set(die as usize, now + cost);
        true
    }

    /// The first read of the host that is ready, if reads go before what its die would do next.
    pub(super) fn read_to_let_in(&self, die: u32, now: SimTime) -> Option<HostToken> {
        let slot = &self.dies[die as usize];
        let gives_way = matches!(self.schedule_needs.gives_way, GivesWay::BetweenSteps | GivesWay::Always);
        let collects = slot.collection.has_turn() || !slot.guests.is_empty();
        let is_kept_out = || self.keeps_out(Class::Read) && self.is_pressing(die, self.least_free(die));
        if collects && (!gives_way || is_kept_out()) {
            return None;
        }
        self.queues(die).host_read(now)
    }

    /// A die's command goes on. If its array works from now on, or from a known moment on, reads that wait may suspend it then.
    pub(super) fn look_when_array_works(&mut self, die: u32, now: SimTime) {
        if self.dies[die as usize].waiting > 0
            && let Some((due, ends)) = self.suspends_from(die)
        {
            // Not at once: who begins a command may not find it suspended.
            self.look_for_read_at(die, due.max(now), ends);
        }
    }

    /// What a die runs may be suspended when the next read is ready that is on its way.
    pub(super) fn look_for_later_read(&mut self, die: u32, now: SimTime) {
        let later = self.queues(die).read_after(now);
        if let Some(later) = later
            && let Some((due, ends)) = self.suspends_from(die)
        {
            self.look_for_read_at(die, due.max(later), ends);
        }
    }

    /// Looks at a die at `due` if a read waits, unless its command has ended by then.
    pub(super) fn look_for_read_at(&mut self, die: u32, due: SimTime, ends: SimTime) {
        if due < ends && self.queues(die).has_reads() {
            self.looks.set(die as usize, due);
            self.set_looks();
        }
    }

    pub(super) fn set_looks(&mut self) {
        let slot = self.slot_of_looks();
        match self.looks.next_time() {
            SimTime::NEVER => self.bus_wakes.clear(slot),
            next => self.bus_wakes.set(slot, next),
        }
    }

    /// The slot of `bus_wakes` for the first of `looks`.
    pub(super) fn slot_of_looks(&self) -> usize {
        self.buses.len() + 1 + usize::from(self.cache.is_some())
    }
}
