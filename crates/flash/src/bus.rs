//! Shared wires: the channel bus between dies and controller, and the host link.
//!
//! Both carry one transfer at a time. First come, first served, a grant is known when it is asked for and needs no
//! event: [`Link::take`], [`Bus::take`]. With priorities it is known only when the wires are free, because something
//! more urgent may come until then: [`Bus::ask`], and [`Bus::grant`] at each end of a transfer. A transfer under way is
//! never interrupted. A command with its address takes a turn as data does, a short one. Not modelled: the cycles that
//! choose a plane, ask for its status, or resume what was suspended.

use std::collections::VecDeque;

use harmonia_types::{SimDuration, SimTime};

/// The host link of a device: half-duplex, first come first served, page by page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Link {
    free_at: SimTime,
    received: SimTime,
}

impl Link {
    /// Takes the next slot of length `time` from `now` on; returns when the transfer ends.
    #[inline]
    pub fn take(&mut self, now: SimTime, time: SimDuration) -> SimTime {
        self.free_at = self.free_at.max(now) + time;
        self.free_at
    }

    /// Takes a slot for what the device receives.
    #[inline]
    pub fn receive(&mut self, now: SimTime, time: SimDuration) -> SimTime {
        self.received = self.take(now, time);
        self.received
    }

    /// When all that the device was to receive so far is there.
    #[inline]
    pub fn received(&self) -> SimTime {
        self.received
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
    /// Without priorities, transfers not over yet: (start, end, garbage collection), in order and without overlap.
    granted: VecDeque<(SimTime, SimTime, bool)>,
    /// The end of the last transfer granted, and whether that is one of garbage collection.
    last: (SimTime, bool),
    /// Asked for and not granted, by rank, each in order of asking.
    asked: [VecDeque<Asked>; RANKS],
    /// How many those are.
    waiting: u32,
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

/// Ranks of turns: by urgency what is data of a read, or all, then by urgency what comes after that.
const RANKS: usize = 6;

/// A turn that a die asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The die.
    pub die: u32,
    /// How long it takes.
    pub length: SimDuration,
    /// Whether it is one of garbage collection.
    pub is_gc: bool,
    rank: u8,
}

impl Turn {
    /// A turn of this urgency; `after_data`: it goes behind all that are not.
    #[inline]
    pub fn new(die: u32, length: SimDuration, urgency: Urgency, after_data: bool) -> Self {
        let rank = urgency as u8 + if after_data { 3 } else { 0 };
        Turn { die, length, is_gc: urgency == Urgency::Gc, rank }
    }

    /// The same, as urgent as any other.
    #[inline]
    pub fn in_line(self) -> Self {
        Turn { rank: self.rank / 3 * 3, ..self }
    }
}

/// A turn that waits.
#[derive(Debug, Clone, Copy)]
struct Asked {
    turn: Turn,
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
    #[inline]
    pub fn take(&mut self, now: SimTime, time: SimDuration, is_gc: bool) -> Grant {
        if self.free_at() > now {
            return self.take_behind(now, time, is_gc);
        }
        let end = now + time;
        self.granted.clear();
        self.granted.push_back((now, end, is_gc));
        self.last = (end, is_gc);
        Grant::at_once(end)
    }

    /// The same, of a bus that is taken.
    #[inline(never)]
    fn take_behind(&mut self, now: SimTime, time: SimDuration, is_gc: bool) -> Grant {
        while self.granted.front().is_some_and(|&(_, end, _)| end <= now) {
            self.granted.pop_front();
        }
        let start = self.free_at();
        let busy_gc = self.granted.iter().filter(|entry| entry.2);
        let waited_gc = busy_gc.map(|&(from, end, _)| end - from.max(now)).sum();
        let end = start + time;
        self.granted.push_back((start, end, is_gc));
        self.last = (end, is_gc);
        Grant { end, waited_gc, waited_host: (start - now) - waited_gc }
    }

    /// Asks for a turn with priorities: granted at once if the bus is free and nobody waits, otherwise by
    /// [`Bus::grant`] later.
    #[inline]
    pub fn ask(&mut self, now: SimTime, turn: Turn) -> Option<Grant> {
        let asked = Asked { turn, at: now, gc: self.gc_time(now) };
        if self.free_at() <= now && !self.is_awaited() {
            return Some(self.occupy(now, asked));
        }
        self.asked[usize::from(turn.rank)].push_back(asked);
        self.waiting += 1;
        None
    }

    /// The turn under way ends at `now`: gives the bus to the first of the most urgent that wait, if any does.
    pub fn grant(&mut self, now: SimTime) -> Option<(Turn, Grant)> {
        debug_assert!(self.free_at() <= now, "granted while a transfer is under way");
        let asked = self.asked.iter_mut().find_map(VecDeque::pop_front)?;
        self.waiting -= 1;
        Some((asked.turn, self.occupy(now, asked)))
    }

    /// Whether a turn waits for [`Bus::grant`].
    #[inline]
    pub fn is_awaited(&self) -> bool {
        self.waiting > 0
    }

    #[inline]
    fn occupy(&mut self, now: SimTime, Asked { turn, at, gc }: Asked) -> Grant {
        // The bus was busy all the time it was waited for.
        let waited_gc = self.gc_time(now) - gc;
        let end = now + turn.length;
        self.last = (end, turn.is_gc);
        self.total_gc += if turn.is_gc { turn.length } else { SimDuration::ZERO };
        Grant { end, waited_gc, waited_host: (now - at) - waited_gc }
    }

    /// Transfer time of garbage collection until `now`.
    #[inline]
    fn gc_time(&self, now: SimTime) -> SimDuration {
        let (end, is_gc) = self.last;
        if is_gc { self.total_gc - end.saturating_since(now) } else { self.total_gc }
    }

    /// When everything granted so far is done.
    #[inline]
    pub fn free_at(&self) -> SimTime {
        self.last.0
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
        assert_eq!((link.take(SimTime(500), PAGE), link.received()), (SimTime(600), SimTime::ZERO));
        assert_eq!((link.receive(SimTime(520), PAGE), link.received()), (SimTime(700), SimTime(700)));
        assert_eq!((link.take(SimTime(520), PAGE), link.received()), (SimTime(800), SimTime(700)));
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

    fn turn(die: u32, urgency: Urgency) -> Turn {
        Turn::new(die, PAGE, urgency, false)
    }

    #[test]
    fn the_most_urgent_goes_first_and_nothing_is_interrupted() {
        let mut bus = Bus::default();
        assert_eq!(bus.ask(SimTime(0), turn(0, Urgency::Write)).unwrap().end, SimTime(100));
        assert_eq!(bus.ask(SimTime(10), turn(1, Urgency::Write)), None, "the bus is taken at t - 1");
        assert_eq!(bus.ask(SimTime(20), turn(2, Urgency::Read)), None);
        assert_eq!(bus.ask(SimTime(99), turn(3, Urgency::Gc)), None);
        let (turn, grant) = bus.grant(SimTime(100)).unwrap();
        assert_eq!((turn.die, grant.end), (3, SimTime(200)));
        assert_eq!((grant.waited_gc, grant.waited_host), (SimDuration(0), SimDuration(1)));
        let (turn, grant) = bus.grant(SimTime(200)).unwrap();
        assert_eq!((turn.die, grant.waited_gc, grant.waited_host), (2, PAGE, SimDuration(80)));
        let (turn, grant) = bus.grant(SimTime(300)).unwrap();
        assert_eq!((turn.die, grant.waited_gc, grant.waited_host), (1, PAGE, SimDuration(190)));
        assert_eq!(bus.grant(SimTime(400)), None);
    }

    #[test]
    fn who_asks_while_others_wait_does_not_jump_the_queue() {
        let mut bus = Bus::default();
        bus.ask(SimTime(0), turn(0, Urgency::Read));
        bus.ask(SimTime(1), turn(1, Urgency::Read));
        assert_eq!(bus.ask(SimTime(100), turn(2, Urgency::Read)), None, "free, but die 1 was first");
        assert_eq!(bus.grant(SimTime(100)).map(|(turn, _)| turn.die), Some(1));
    }

    #[test]
    fn turns_after_data_go_last_and_each_takes_its_own_time() {
        let mut bus = Bus::default();
        let command = |die, urgency| Turn::new(die, SimDuration(3), urgency, true);
        bus.ask(SimTime(0), turn(0, Urgency::Read));
        bus.ask(SimTime(1), command(1, Urgency::Gc));
        bus.ask(SimTime(2), command(2, Urgency::Write).in_line());
        bus.ask(SimTime(3), turn(3, Urgency::Write).in_line());
        bus.ask(SimTime(4), turn(4, Urgency::Read));
        let mut now = SimTime(100);
        let mut order = Vec::new();
        while let Some((turn, grant)) = bus.grant(now) {
            assert_eq!(grant.end, now + turn.length, "a command takes 3, a page 100");
            now = grant.end;
            order.push(turn.die);
        }
        // In line: as urgent as the most urgent, and only the order of asking counts among those.
        assert_eq!((order, now), (vec![3, 4, 1, 2], SimTime(306)));
    }

    #[test]
    fn a_wait_that_starts_within_a_transfer_is_charged_its_rest_only() {
        let mut bus = Bus::default();
        bus.ask(SimTime(0), turn(0, Urgency::Gc));
        bus.ask(SimTime(70), turn(1, Urgency::Read));
        let (_, grant) = bus.grant(SimTime(100)).unwrap();
        assert_eq!((grant.waited_gc, grant.waited_host), (SimDuration(30), SimDuration(0)));
    }
}
