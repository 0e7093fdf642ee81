//! Programs of the host that are suspended for reads of the host.
//!
//! ```text
//! die   [in][array tPROG ...|suspend][read of another page][resume, the rest of tPROG]
//!                           ^ a read arrives
//! ```
//!
//! A read of the host that is ready suspends the program whose array works when it arrives, whatever schedule there is. It
//! may overtake writes that came before it, except on its own page. All reads that are ready by then go, one by one, and
//! the program goes on. Reads do not go first where collection is about to begin, or under way, and gives way to nobody.
//! Programs of background work are not suspended, nor does its reading suspend any.
//!
//! Source: MQSim (FAST 2018), which suspends programs for reads. Its threshold for what remains of a program, and a limit on
//! how often one is suspended, are left out. So are reads that were there before the array began to work: they go when
//! another one arrives, or when the program has ended.

use harmonia_types::SimTime;

use super::{Device, DeviceFailure};
use crate::die::command::Activity;
use crate::gc::schedule::{Class, GivesWay, HostToken};
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Suspends the program of the host whose array works at a die, if a read waits for it that may go first.
    pub(super) fn suspend_host_program(&mut self, die: u32, now: SimTime) -> bool {
        let Some(cost) = self.rules.timing.suspend_host_program else { return false };
        let slot = &self.dies[die as usize];
        let is_host = match slot.activity {
            Activity::Host(_) => true,
            Activity::Joint(Class::Write) => !slot.has_gc_part(),
            _ => false,
        };
        let remaining = self.wakes.time_of(die as usize).saturating_since(now);
        let works = slot.command.is_in_last_step(remaining) && !slot.command.background;
        // One that ends now is over, and there is one place for what is suspended.
        if !is_host || !works || remaining.0 == 0 || slot.paused.is_some() {
            return false;
        }
        if self.read_to_let_in(die, now).is_none() {
            return false;
        }
        self.counters.inside.suspends += 1;
        self.dies[die as usize].suspend(remaining);
        self.watch_suspended(die, now + cost);
        self.note_suspended(die, now);
        self.wakes.set(die as usize, now + cost);
        true
    }

    /// A die whose program of the host is suspended serves the next read, or goes on with the program.
    #[cold]
    pub(super) fn serve_suspended(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        while let Some(HostToken(read)) = self.read_to_let_in(die, now) {
            self.unlink(die, read);
            if self.start_op(die, read, now)? {
                return Ok(());
            }
        }
        self.resume(die, now);
        Ok(())
    }

    /// The first read of the host that is ready, if reads go before what its die would do next.
    fn read_to_let_in(&self, die: u32, now: SimTime) -> Option<HostToken> {
        let slot = &self.dies[die as usize];
        let gives_way = matches!(self.schedule_needs.gives_way, GivesWay::BetweenSteps | GivesWay::Always);
        let collects = slot.collection.has_turn() || !slot.guests.is_empty();
        if collects && (!gives_way || self.is_pressing(die, self.least_free(die))) {
            return None;
        }
        self.queues(die).host_read(now)
    }
}
