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
    pub(super) fn look_at_idle_dies(&mut self, now: SimTime) {
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
            && self.writes_left_in_window() <= warns_at
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

    /// The same, less its share of what the cache holds.
    pub(super) fn writes_left_in_window(&self) -> u64 {
        let cached = self.cached_for_flash().div_ceil(self.rules.shape.units().into());
        self.writes_of_fullest().saturating_sub(cached)
    }
}
