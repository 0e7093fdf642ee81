//! How fast the controller of a drive moves what the cache holds to the dies.
//!
//! ```text
//! handed over   48 ─────────── 48 ── copies 20 ─────────────── 48       each keeps the gate closed for its units / rate
//! gate          closed........ closed.......................... closed
//! ```
//!
//! A program of the host leaves the cache while the gate is open, and closes it for as long as the controller needs for its units. Copies of
//! collection close it as well, for longer if it is closed. They never wait themselves: they are what the host's writes bring about. So the
//! host's share is what they leave, and units that are programmed come to `rate` at most, over time.
//!
//! A write that waits for its slot while the gate keeps a program back waits for the controller.
//!
//! Source: ours. Measured drives write small requests at random more slowly than their dies and their write amplification allow, and
//! a cap of all programs explains the difference. Not modelled: padding, which is not moved, and reads, which do not pass the gate.

use std::collections::VecDeque;

use harmonia_types::{SimDuration, SimTime};

/// When the controller takes the next units from the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gate {
    /// Units a second.
    rate: u64,
    opens_at: SimTime,
    /// Copies of collection that have closed it.
    copied: u64,
    /// When it kept a program back, as far as what stands in line has waited. In order, without overlap.
    kept: VecDeque<Kept>,
}

/// A time in which it kept a program back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kept {
    from: SimTime,
    until: SimTime,
    /// How long it had before.
    before: SimDuration,
}

impl Kept {
    /// For how long it has until `time`.
    fn by(&self, time: SimTime) -> SimDuration {
        self.before + time.min(self.until).saturating_since(self.from)
    }
}

impl Gate {
    /// One that lets so many units through in a second, of a drive that has copied so many.
    pub fn new(rate: u32, copied: u64) -> Gate {
        Gate { rate: u64::from(rate), opens_at: SimTime::ZERO, copied, kept: VecDeque::new() }
    }

    /// When it is open.
    pub fn opens_at(&self) -> SimTime {
        self.opens_at
    }

    /// So many units leave the cache at `now`, or are copied.
    pub fn pass(&mut self, units: u64, now: SimTime) {
        self.opens_at = self.opens_at.max(now) + SimDuration((units * 1_000_000_000).div_ceil(self.rate));
    }

    /// Collection has copied so many units so far.
    pub fn note_copies(&mut self, copied: u64, now: SimTime) {
        let units = copied - std::mem::replace(&mut self.copied, copied);
        if units > 0 {
            self.pass(units, now);
        }
    }

    /// It keeps a program back from `now` on until it opens.
    pub fn keep_back(&mut self, now: SimTime) {
        match self.kept.back_mut() {
            Some(last) if last.until >= now => last.until = self.opens_at,
            last => {
                let before = last.map_or(SimDuration::ZERO, |last| last.by(last.until));
                self.kept.push_back(Kept { from: now, until: self.opens_at, before });
            }
        }
    }

    /// For how long it has kept programs back between two moments. Nobody asks for earlier ones than `from` any more.
    pub fn kept_between(&mut self, from: SimTime, now: SimTime) -> SimDuration {
        while self.kept.len() > 1 && self.kept[0].until <= from {
            self.kept.pop_front();
        }
        let (first, last) = (self.kept.front(), self.kept.back());
        first.zip(last).map_or(SimDuration::ZERO, |(first, last)| last.by(now) - first.by(from))
    }

    /// Nothing is on its way any more.
    pub fn forget(&mut self, now: SimTime) {
        self.opens_at = now;
        self.kept.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten units a microsecond.
    fn gate() -> Gate {
        Gate::new(10_000_000, 0)
    }

    #[test]
    fn it_is_closed_for_as_long_as_its_units_take_and_copies_add_to_that() {
        let mut gate = gate();
        gate.pass(3, SimTime(50));
        assert_eq!(gate.opens_at(), SimTime(350));
        gate.note_copies(2, SimTime(100));
        assert_eq!(gate.opens_at(), SimTime(550));
        gate.note_copies(2, SimTime(120));
        assert_eq!(gate.opens_at(), SimTime(550), "the same two");
        gate.note_copies(3, SimTime(1_000));
        assert_eq!(gate.opens_at(), SimTime(1_100));
    }

    #[test]
    fn it_knows_how_long_it_kept_programs_back_between_two_moments() {
        let mut gate = gate();
        assert_eq!(gate.kept_between(SimTime(0), SimTime(10)), SimDuration(0));
        gate.pass(1, SimTime(0));
        gate.keep_back(SimTime(40));
        // Copies come while it does.
        gate.note_copies(1, SimTime(90));
        gate.keep_back(SimTime(90));
        assert_eq!(gate.kept_between(SimTime(10), SimTime(150)), SimDuration(110));
        gate.pass(1, SimTime(200));
        gate.keep_back(SimTime(200));
        gate.pass(1, SimTime(1_000));
        gate.keep_back(SimTime(1_030));
        assert_eq!(gate.kept.len(), 2, "the first two are one");
        assert_eq!(gate.kept_between(SimTime(60), SimTime(1_050)), SimDuration(240 + 20));
        assert_eq!(gate.kept_between(SimTime(1_035), SimTime(5_000)), SimDuration(65));
        assert_eq!(gate.kept.len(), 1, "what nobody asks for is forgotten");
        assert_eq!(gate.kept_between(SimTime(2_000), SimTime(5_000)), SimDuration(0));
    }
}
