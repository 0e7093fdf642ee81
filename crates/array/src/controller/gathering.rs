//! What a device has to say when it has been given something, or when time has passed.

use harmonia_ssd::probe::Probe;
use harmonia_types::{DeviceId, SimTime};

use super::Array;
use super::payload::Payload;

impl<P: Probe, C: Payload> Array<P, C> {
    /// Takes over what a device has to say. Completions and refusals are left to the [pump](super::pump).
    #[inline]
    pub(super) fn gather(&mut self, device: usize) {
        self.hear(device);
        let own = &mut self.members.devices[device];
        if self.ahead.is_some() {
            self.complete_ahead(device);
        } else if self.is_dealing {
            // What follows from one outcome may bring others. Whoever deals with the first deals with all of them.
            self.finished.extend(own.completions().drain(..));
            self.finished_at.push(device);
        } else if !own.completions().is_empty() || !self.refused.is_empty() {
            debug_assert!(
                self.first.is_empty(),
                "what a device has done is dealt with before another is asked"
            );
            std::mem::swap(&mut self.first, own.completions());
            self.finished_at.push(device);
        } else {
            self.set_coupled_wake(device);
        }
    }

    /// A member that runs ahead is done with operations.
    #[inline(never)]
    fn complete_ahead(&mut self, device: usize) {
        let Some(ahead) = self.ahead.as_deref_mut() else { return };
        let id = DeviceId(device as u16);
        for done in self.members.devices[device].completions().drain(..) {
            ahead.complete(id, &done, |completion| self.completions.push(*completion));
        }
    }

    /// Times of collection, notices, refusals, and when the device next has something to do.
    #[inline]
    pub(super) fn hear(&mut self, device: usize) {
        if self.members.devices[device].has_told() {
            self.hear_what_it_told(device);
        }
        let wakeup = self.members.devices[device].next_wakeup();
        if wakeup != self.wakes.time_of(device) {
            self.wakes.set_ranked(device, wakeup);
        }
    }

    /// Times of collection, notices and refusals, of which there are any.
    #[cold]
    fn hear_what_it_told(&mut self, device: usize) {
        let id = DeviceId(device as u16);
        let intervals = self.members.devices[device].gc_intervals();
        if !intervals.is_empty() {
            let told = intervals.drain(..).filter(|_| device < self.members.delivered.len());
            self.intervals.extend(told.map(|(start, end)| (id, start, end)));
        }
        if !self.members.devices[device].notices().is_empty() {
            self.forward_notices(device);
        }
        self.refused.extend(self.members.devices[device].refusals().drain(..));
    }

    /// When a member next has something to do on which others wait. It is not kept where members always go in step: there nobody looks at it.
    #[inline]
    pub(super) fn set_coupled_wake(&mut self, device: usize) {
        if self.lookahead.in_step() {
            return;
        }
        let coupled = if self.coupled[device] > 0 { self.wakes.time_of(device) } else { SimTime::NEVER };
        if coupled != self.coupled_wakes.time_of(device) {
            self.coupled_wakes.set_ranked(device, coupled);
        }
    }
}
