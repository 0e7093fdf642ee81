//! Windows: when the device may begin to collect, and how much a deterministic one has left.
//!
//! ```text
//! Hold                              Open                                Hold
//!  | events start at hard only       | events start at soft while no host |  what runs ends, nothing more starts
//!  |        few writes left: warning | operation waits, at hard at once   |
//! ```
//!
//! In a window to collect in, the host goes first: it waits for the event that runs, and not for one after the other until the
//! window ends. At the hard threshold events start as they always do.
//!
//! Source: the predictable latency mode of NVMe, as libnvme's structures name it: deterministic and non-deterministic
//! windows, an estimate of the writes left, and an event when few are. The standard leaves to the device when a window
//! runs out; that it does at the hard threshold, and the eighth, are ours. Not modelled: limits on reads and on time, and a
//! device that ends a window by itself.

use harmonia_types::SimTime;

use super::Device;
use crate::die::event::Event;
use crate::interface::{Notice, Window};
use crate::probe::Probe;

/// A deterministic window warns when one of so many equal parts is left of the writes that it began with.
const PARTS: u64 = 8;

/// The window a device is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    None,
    Deterministic {
        /// Writes of the fullest unit at or below which it warns; `None` once it has.
        warns_at: Option<u64>,
    },
    NonDeterministic,
}

impl State {
    pub fn window(self) -> Window {
        match self {
            State::None => Window::None,
            State::Deterministic { .. } => Window::Deterministic,
            State::NonDeterministic => Window::NonDeterministic,
        }
    }
}

impl<P: Probe> Device<P> {
    /// Another window begins, or none.
    pub(super) fn begin_period(&mut self, window: Window, now: SimTime) {
        self.window = match window {
            Window::None => State::None,
            Window::NonDeterministic => State::NonDeterministic,
            Window::Deterministic => {
                // A look comes once a block, so it warns a block early rather than late.
                let block = u64::from(self.rules.shape.data_pages);
                let warns_at = self.writes_of_fullest() / PARTS + block;
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

    fn look_at_idle_dies(&mut self, now: SimTime) {
        for die in 0..self.rules.shape.dies {
            let slot = &self.dies[die as usize];
            if slot.is_idle() && now < self.wakes.time_of(die as usize) {
                self.wakes.set(die as usize, now);
            }
        }
    }

    /// Whether the host goes before an event that the window would let start at this many free blocks.
    #[inline]
    pub(super) fn lets_host_first(&self, free: u32) -> bool {
        self.window == State::NonDeterministic && free > self.rules.start && self.has_host_ops()
    }

    /// A host operation is done. If it was the last one, dies that let it go first are looked at.
    #[expect(clippy::inline_always, reason = "a part of every operation of the host")]
    #[inline(always)]
    pub(super) fn host_went_first(&mut self, now: SimTime) {
        if self.window == State::NonDeterministic && self.registered && !self.has_host_ops() {
            self.look_at_idle_dies(now);
        }
    }

    /// Free blocks at or below which an event starts.
    #[inline]
    pub(super) fn starts_at(&self) -> u32 {
        match self.window {
            State::None => self.rules.start,
            State::Deterministic { .. } => self.rules.shape.hard,
            State::NonDeterministic => self.rules.shape.soft,
        }
    }

    /// Whether a die that goes idle looks at its thresholds.
    #[inline]
    pub(super) fn looks_when_idle(&self) -> bool {
        match self.window {
            State::None => self.rules.background,
            State::Deterministic { .. } => false,
            State::NonDeterministic => true,
        }
    }

    /// Whether thresholds are looked at anew after an event of the device's own. That ends: one that frees nothing is the
    /// last until something is written.
    pub(super) fn repeats_events(&self) -> bool {
        self.window == State::NonDeterministic
    }

    /// Whether a concurrency policy may collect of itself.
    pub(super) fn lets_policy_begin(&self) -> bool {
        !matches!(self.window, State::Deterministic { .. })
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

    /// Whether the window forbids an event that has not begun: nobody forced it, and its die is above where one starts.
    pub(super) fn is_off(&self, die: u32, event: &Event) -> bool {
        let starts_at = self.starts_at().max(self.rules.last_block);
        let forbids = match self.window {
            State::Deterministic { .. } => event.at_soft || event.is_turn(),
            State::None => event.at_soft && self.rules.start < self.rules.shape.soft,
            State::NonDeterministic => false,
        };
        forbids && self.units_of(die).all(|unit| self.ftl.free_blocks(unit) > starts_at)
    }

    /// A write has taken a new block: few may be left in this window.
    #[inline]
    pub(super) fn warn_of_end(&mut self, now: SimTime) {
        if let State::Deterministic { warns_at: Some(warns_at) } = self.window
            && self.writes_of_fullest() <= warns_at
        {
            self.window = State::Deterministic { warns_at: None };
            self.notices.push((now, Notice::WindowWarning));
        }
    }

    /// Page writes that the unit with the least room takes before it is at its hard threshold.
    pub(super) fn writes_of_fullest(&self) -> u64 {
        let units = 0..self.rules.shape.units();
        units.map(|unit| self.ftl.writes_until_hard(unit)).min().unwrap_or(0)
    }
}
