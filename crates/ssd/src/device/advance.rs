//! The events of a device in the order of time: of its dies, of its buses, and what arrives from outside.

use harmonia_flash::Turn;
use harmonia_types::SimTime;

use super::{Device, DeviceFailure};
use crate::die::command::Activity;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The next moment at which something happens by itself; [`SimTime::NEVER`] if nothing will.
    #[inline]
    pub fn next_wakeup(&self) -> SimTime {
        if self.is_plain && self.ingress.is_empty() {
            // Nothing but dies can have anything to do.
            return self.wakes.next_time();
        }
        let ingress = self.ingress.front().map_or(SimTime::NEVER, |entry| entry.0);
        self.wakes.next_time().min(self.bus_wakes.next_time()).min(ingress).min(self.next_landing())
    }

    /// From now on `advance_until` with `stop_at_notice` returns at a completion or a refusal, too.
    pub fn stop_at_completions(&mut self) {
        self.stops_at_completions = true;
    }

    /// Lets time pass up to and including `until`. With `stop_at_notice` it returns as soon as there is a notice, so
    /// that a coordinator can react at that moment. After [`Device::stop_at_completions`] it then also returns as soon as there
    /// is a completion or a refusal.
    ///
    /// # Errors
    /// If the device has no free block where it needs one; it must not be used again.
    pub fn advance_until(&mut self, until: SimTime, stop_at_notice: bool) -> Result<(), DeviceFailure> {
        let stop_at_completion = stop_at_notice && self.stops_at_completions;
        let stops = |device: &Self| {
            let has_outcome = !device.completions.is_empty() || !device.refusals.is_empty();
            (stop_at_notice && !device.notices.is_empty()) || (stop_at_completion && has_outcome)
        };
        if self.is_plain && self.ingress.is_empty() {
            return self.advance_plain(until, stops);
        }
        while !stops(self) {
            let arrival = self.ingress.front().map_or(SimTime::NEVER, |entry| entry.0);
            let landing = self.next_landing();
            let outside = arrival.min(landing);
            let (time, bus) = (self.wakes.next_time(), self.bus_wakes.next_time());
            let now = match self.wakes.first() {
                // What the device does by itself comes before what arrives at the same moment; a bus is granted when all
                // who want it at that moment have asked.
                die if time <= outside && time <= bus => {
                    if time > until || time == SimTime::NEVER {
                        break;
                    }
                    let (die, last) = if self.dies[die].command.is_alone {
                        self.run_alone(outside.min(until))?
                    } else {
                        self.count_event(time);
                        self.wake(die as u32, time)?;
                        (die as u32, time)
                    };
                    // Whoever waits for an answer ends the run of events, so only the last die can be asked for one.
                    self.answer_waiting(die, last);
                    self.answer_everywhere(last);
                    self.look_at(die, last);
                    last
                }
                _ if bus <= outside && bus != SimTime::NEVER => {
                    if bus > until {
                        break;
                    }
                    self.events += 1;
                    self.grant_bus(bus);
                    self.answer_everywhere(bus);
                    bus
                }
                _ if outside > until || outside == SimTime::NEVER => break,
                _ if landing <= arrival => {
                    self.land()?;
                    self.answer_everywhere(landing);
                    self.tell_queue(landing);
                    landing
                }
                _ => {
                    self.take_ingress()?;
                    arrival
                }
            };
            if self.pumps {
                self.pump(now)?;
                self.answer_everywhere(now);
                self.tell_queue(now);
            }
            if self.probe.audits() {
                self.audit_event();
            }
        }
        Ok(())
    }

    /// Lets time pass up to and including `until`, or until it `stops`, where nothing but dies can have anything to do.
    #[inline]
    fn advance_plain(&mut self, until: SimTime, stops: impl Fn(&Self) -> bool) -> Result<(), DeviceFailure> {
        while let Some((time, die)) = self.wakes.peek()
            && time <= until
            && !stops(self)
        {
            self.events += 1;
            #[cfg(debug_assertions)]
            {
                self.ran_to = time;
            }
            let die = die as u32;
            match self.dies[die as usize].activity {
                Activity::Host(op) => self.end_plain(die, op, time)?,
                Activity::Idle => self.begin_plain(die, time)?,
                Activity::Settled => self.end_settled(die, time)?,
                _ => self.wake(die, time)?,
            }
            self.answer_waiting(die, time);
            self.answer_everywhere(time);
            self.look_at(die, time);
        }
        Ok(())
    }

    /// The transfer on a channel ends at `now`, and others wait for it.
    fn grant_bus(&mut self, now: SimTime) {
        let Some((_, channel)) = self.bus_wakes.peek() else { return };
        let Some(bus) = self.buses.get_mut(channel) else {
            if channel == self.buses.len() {
                return self.govern(now);
            }
            if channel == self.slot_of_looks() {
                return self.look_at_reads(now);
            }
            // What is in line for the cache goes on when this event is over.
            return self.bus_wakes.clear(channel);
        };
        let granted = bus.grant(now);
        if bus.is_awaited() {
            self.bus_wakes.set(channel, bus.free_at());
        } else {
            self.bus_wakes.clear(channel);
        }
        let Some((Turn { die, length, .. }, grant)) = granted else { return };
        let slot = &mut self.dies[die as usize];
        if slot.command.is_alone && self.rules.moves_directly {
            return self.sent_alone(die, grant.end, now);
        }
        let time = slot.transferred(grant, length);
        self.run_from(die, time, now);
    }

    /// It is time to look at dies whose commands reads wait for.
    #[cold]
    fn look_at_reads(&mut self, now: SimTime) {
        while let Some((due, die)) = self.looks.peek()
            && due <= now
        {
            self.looks.clear(die);
            self.consider_suspending(die as u32, now);
        }
        self.set_looks();
    }
}
