//! What a coordinator tells a device to do, and what begins with another window.

use harmonia_types::SimTime;

use super::Device;
use super::windows::State;
use crate::die::event::UnitSet;
use crate::follow::Why;
use crate::interface::{Directive, Stop, Window};
use crate::probe::Probe;

/// A deterministic window warns when one of so many equal parts is left of the writes that it began with.
const PARTS: u64 = 8;

impl<P: Probe> Device<P> {
    /// A directive from the coordinator, delivered at `now`. A device that has failed ignores it.
    pub fn direct(&mut self, now: SimTime, directive: Directive) {
        if self.failed.is_some() {
            return;
        }
        self.follow(now, directive);
        self.answer_everywhere(now);
    }

    fn follow(&mut self, now: SimTime, directive: Directive) {
        match directive {
            Directive::Force(Stop::Internal) => {
                self.demand(0..self.rules.shape.dies, self.own_event(UnitSet::ALL), Why::Ordered, now)
            }
            Directive::Force(Stop::AllReserve) => self.force_idle(now),
            Directive::Hold => self.begin_period(Window::Deterministic, now),
            Directive::Open => self.begin_period(Window::NonDeterministic, now),
            Directive::Release => self.begin_period(Window::None, now),
        }
    }

    /// Another window begins, or none.
    fn begin_period(&mut self, window: Window, now: SimTime) {
        self.window = match window {
            Window::None => State::None,
            Window::NonDeterministic => State::NonDeterministic,
            Window::Deterministic => {
                // A look comes once a block, so it warns a block early rather than late.
                let block = u64::from(self.rules.shape.data_pages);
                let warns_at = self.writes_left_in_window() / PARTS + block;
                State::Deterministic { warns_at: Some(warns_at) }
            }
        };
        self.warn_of_end(now);
        self.call_off(now);
        if self.looks_when_idle() && !self.would_find_nothing() {
            // Dies that went idle before were not looked at.
            self.look_at_idle_dies(now);
        }
        self.govern(now);
    }

    /// Whether no die would find anything to do: nothing is under way or waits, and none is low. Whoever checks a run has every
    /// die looked at.
    fn would_find_nothing(&self) -> bool {
        let is_low = |die| self.least_free(die) <= self.rules.shape.soft;
        !self.probe.audits()
            && !self.caches_pages()
            && self.next_wakeup() == SimTime::NEVER
            && self.is_quiet()
            && !(0..self.rules.shape.dies).any(is_low)
    }

    /// Events that have not begun, and could not start now, are off.
    fn call_off(&mut self, now: SimTime) {
        for die in 0..self.rules.shape.dies {
            let wanted = self.dies[die as usize].collection.wanted();
            if wanted.is_some_and(|event| self.is_off(die, event)) {
                self.dies[die as usize].collection.call_off();
                if self.dies[die as usize].is_idle() {
                    self.wakes.set(die as usize, now);
                }
            }
        }
    }
}
