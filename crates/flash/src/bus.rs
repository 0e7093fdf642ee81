//! Shared wires: the channel bus between dies and controller, and the host link.
//!
//! Both carry one transfer at a time, first come first served, so a grant is known when it is asked for: no event is
//! needed. Not modelled: command and address cycles, priorities among transfers (a later device will need a queue).

use std::collections::VecDeque;

use harmonia_types::{SimDuration, SimTime};

/// The host link of a device: half-duplex, first come first served, page by page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Link {
    free_at: SimTime,
}

impl Link {
    /// Takes the next slot of length `time` from `now` on; returns when the transfer ends.
    #[inline]
    pub fn take(&mut self, now: SimTime, time: SimDuration) -> SimTime {
        self.free_at = self.free_at.max(now) + time;
        self.free_at
    }

    /// When everything asked for so far is done.
    pub fn free_at(&self) -> SimTime {
        self.free_at
    }
}

/// A channel bus shared by several dies. Remembers which of the outstanding transfers belong to garbage collection,
/// so that waiting for the bus can be charged to what it was doing.
#[derive(Debug, Clone, Default)]
pub struct Bus {
    /// Transfers not over yet: (start, end, garbage collection), in order and without overlap.
    granted: VecDeque<(SimTime, SimTime, bool)>,
}

/// A slot on a bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// When the transfer ends.
    pub end: SimTime,
    /// Part of the waiting before it that garbage collection's transfers caused.
    pub waited_gc: SimDuration,
    /// The rest of the waiting.
    pub waited_host: SimDuration,
}

impl Bus {
    /// Takes the next slot of length `time` from `now` on, behind everything granted before.
    pub fn take(&mut self, now: SimTime, time: SimDuration, is_gc: bool) -> Grant {
        while self.granted.front().is_some_and(|&(_, end, _)| end <= now) {
            self.granted.pop_front();
        }
        let start = self.free_at().max(now);
        let busy_gc = self.granted.iter().filter(|entry| entry.2);
        let waited_gc = busy_gc.map(|&(from, end, _)| end - from.max(now)).sum();
        let end = start + time;
        self.granted.push_back((start, end, is_gc));
        Grant { end, waited_gc, waited_host: (start - now) - waited_gc }
    }

    /// When everything granted so far is done.
    pub fn free_at(&self) -> SimTime {
        self.granted.back().map_or(SimTime::ZERO, |&(_, end, _)| end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: SimDuration = SimDuration(100);

    #[test]
    fn the_link_serves_in_order_and_idles_in_between() {
        let mut link = Link::default();
        assert_eq!(link.take(SimTime(10), PAGE), SimTime(110));
        assert_eq!(link.take(SimTime(10), PAGE), SimTime(210));
        assert_eq!(link.take(SimTime(500), PAGE), SimTime(600));
    }

    #[test]
    fn waiting_for_the_bus_is_split_by_what_the_bus_did() {
        let mut bus = Bus::default();
        bus.take(SimTime(0), PAGE, true);
        bus.take(SimTime(0), PAGE, false);
        let grant = bus.take(SimTime(40), PAGE, false);
        assert_eq!(grant, Grant { end: SimTime(300), waited_gc: SimDuration(60), waited_host: PAGE });
        let later = bus.take(SimTime(300), PAGE, false);
        assert_eq!(
            (later.end, later.waited_gc, later.waited_host),
            (SimTime(400), SimDuration(0), SimDuration(0))
        );
    }
}
