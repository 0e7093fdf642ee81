//! Shared wires: the channel bus between dies and controller, and the host link.
//!
//! Both carry one transfer at a time. First come, first served, a grant is known when it is asked for and needs no
//! event: [`Link::take`], [`Bus::take`]. With priorities it is known only when the wires are free, because something
//! more urgent may come until then: [`Bus::ask`], and [`Bus::grant`] at each end of a transfer. A transfer under way is
//! never interrupted. Not modelled: command and address cycles.

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
    /// Asked for and not granted, by urgency, each in order of asking.
    asked: [VecDeque<Asked>; 3],
    /// Transfer time granted to garbage collection so far, where there are priorities.
    total_gc: SimDuration,
}

/// How urgent a transfer is, where a bus has priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// Garbage collection: before all others.
    Gc,
    /// A host read.
    Read,
    /// A host write.
    Write,
}

/// A transfer that waits.
#[derive(Debug, Clone, Copy)]
struct Asked {
    die: u32,
    at: SimTime,
    /// What `gc_time` was then.
    gc: SimDuration,
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

impl Grant {
    /// A slot nobody had to wait for, on wires of one's own.
    #[inline]
    pub fn at_once(end: SimTime) -> Self {
        Grant { end, waited_gc: SimDuration::ZERO, waited_host: SimDuration::ZERO }
    }
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

    /// Asks for a slot with priorities: granted at once if the bus is free and nobody waits, otherwise by
    /// [`Bus::grant`] later.
    #[inline]
    pub fn ask(&mut self, now: SimTime, time: SimDuration, urgency: Urgency, die: u32) -> Option<Grant> {
        if self.free_at() <= now && !self.is_awaited() {
            return Some(self.occupy(now, time, urgency, Asked { die, at: now, gc: self.gc_time(now) }));
        }
        let gc = self.gc_time(now);
        self.asked[urgency as usize].push_back(Asked { die, at: now, gc });
        None
    }

    /// The transfer under way ends at `now`: gives the bus to the first of the most urgent that wait, if any does.
    /// Returns its die.
    pub fn grant(&mut self, now: SimTime, time: SimDuration) -> Option<(u32, Grant)> {
        debug_assert!(self.free_at() <= now, "granted while a transfer is under way");
        [Urgency::Gc, Urgency::Read, Urgency::Write].into_iter().find_map(|urgency| {
            let asked = self.asked[urgency as usize].pop_front()?;
            Some((asked.die, self.occupy(now, time, urgency, asked)))
        })
    }

    /// Whether a transfer waits for [`Bus::grant`].
    #[inline]
    pub fn is_awaited(&self) -> bool {
        self.asked.iter().any(|asked| !asked.is_empty())
    }

    fn occupy(&mut self, now: SimTime, time: SimDuration, urgency: Urgency, asked: Asked) -> Grant {
        let is_gc = urgency == Urgency::Gc;
        // The bus was busy all the time it was waited for.
        let waited_gc = self.gc_time(now) - asked.gc;
        let end = now + time;
        self.granted.clear();
        self.granted.push_back((now, end, is_gc));
        self.total_gc += if is_gc { time } else { SimDuration::ZERO };
        Grant { end, waited_gc, waited_host: (now - asked.at) - waited_gc }
    }

    /// Transfer time of garbage collection until `now`.
    fn gc_time(&self, now: SimTime) -> SimDuration {
        let ahead = match self.granted.back() {
            Some(&(_, end, true)) => end.saturating_since(now),
            _ => SimDuration::ZERO,
        };
        self.total_gc - ahead
    }

    /// When everything granted so far is done.
    #[inline]
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

    #[test]
    fn the_most_urgent_goes_first_and_nothing_is_interrupted() {
        let mut bus = Bus::default();
        assert_eq!(bus.ask(SimTime(0), PAGE, Urgency::Write, 0).unwrap().end, SimTime(100));
        assert_eq!(bus.ask(SimTime(10), PAGE, Urgency::Write, 1), None, "the bus is taken at t - 1");
        assert_eq!(bus.ask(SimTime(20), PAGE, Urgency::Read, 2), None);
        assert_eq!(bus.ask(SimTime(99), PAGE, Urgency::Gc, 3), None);
        let (die, grant) = bus.grant(SimTime(100), PAGE).unwrap();
        assert_eq!((die, grant.end), (3, SimTime(200)));
        assert_eq!((grant.waited_gc, grant.waited_host), (SimDuration(0), SimDuration(1)));
        let (die, grant) = bus.grant(SimTime(200), PAGE).unwrap();
        assert_eq!((die, grant.waited_gc, grant.waited_host), (2, PAGE, SimDuration(80)));
        let (die, grant) = bus.grant(SimTime(300), PAGE).unwrap();
        assert_eq!((die, grant.waited_gc, grant.waited_host), (1, PAGE, SimDuration(190)));
        assert_eq!(bus.grant(SimTime(400), PAGE), None);
    }

    #[test]
    fn who_asks_while_others_wait_does_not_jump_the_queue() {
        let mut bus = Bus::default();
        bus.ask(SimTime(0), PAGE, Urgency::Read, 0);
        bus.ask(SimTime(1), PAGE, Urgency::Read, 1);
        assert_eq!(bus.ask(SimTime(100), PAGE, Urgency::Read, 2), None, "free, but die 1 was first");
        assert_eq!(bus.grant(SimTime(100), PAGE).map(|(die, _)| die), Some(1));
    }

    #[test]
    fn a_wait_that_starts_within_a_transfer_is_charged_its_rest_only() {
        let mut bus = Bus::default();
        bus.ask(SimTime(0), PAGE, Urgency::Gc, 0);
        bus.ask(SimTime(70), PAGE, Urgency::Read, 1);
        let (_, grant) = bus.grant(SimTime(100), PAGE).unwrap();
        assert_eq!((grant.waited_gc, grant.waited_host), (SimDuration(30), SimDuration(0)));
    }
}
