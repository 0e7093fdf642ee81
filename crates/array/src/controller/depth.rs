//! Operations that wait in the array, because their member or the controller has as many as it takes at once.
//!
//! ```text
//! operation ─► member and controller have room? ─► given to the member ─► done or refused ─► room for another
//!                 │ no: waits                                                                    │
//!                 └──────────── goes when both have room, the first that came first ◄────────────┘
//! ```
//!
//! The unit is one operation of a member, of any length. A member's operations go in the order in which they came. One that
//! waits for its own member holds up no operation on another. An operation counts until it is finished, its data over the
//! link. The array's own work counts and waits like the host's.
//!
//! A drive's command window is such a limit, too, which the drive keeps itself: it fetches a command from the queues of its host only
//! while fewer than that are fetched and not complete. Every stream or volume has a queue, and the array's own work another one. With
//! round robin the next command is the first of the next queue that has one. Without a window there is one queue, and so there is in
//! arrays with redundancy or NVRAM, where writes of one page must not pass one another.
//!
//! ```text
//! queue of stream 0   w w w w w ──┐
//! queue of stream 1   r ──────────┼─► in turn ─► window ─► drive
//! queue of the array  ────────────┘
//! ```
//!
//! An operation that waits is under way for everything else in the controller: a member that fails has it refused, and a
//! member that is reserved still takes it. Its wait is part of what its transaction has behind it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use harmonia_ssd::{SsdConfig, SubRequest};
use harmonia_types::SimTime;

use super::layers::{Command, Layer, Pass, Terms};
use crate::config::ArrayConfig;
use crate::layout::Level;

/// Who has how many operations, and who waits.
#[derive(Debug, Clone)]
pub(super) struct Depth {
    /// Operations that all devices together are given at once.
    most: u32,
    /// What they have.
    given: u32,
    /// By slot.
    devices: Vec<Queue>,
    /// Operations that have waited or wait so far.
    arrived: u64,
    /// When operations finish that are known to, and which slot has room then.
    leaving: BinaryHeap<Reverse<(SimTime, usize)>>,
    /// Copies and parked writes of one page must reach their members in one order, whatever queues they come from.
    keeps_order: bool,
}

/// One device's operations.
#[derive(Debug, Clone, Default)]
struct Queue {
    /// What the device says of itself.
    terms: Terms,
    given: u32,
    /// By number, those that have ever had one.
    lines: Vec<Line>,
    /// Number of the line of which one went last.
    turn: u32,
}

/// What waits in one queue of the host.
#[derive(Debug, Clone)]
struct Line {
    number: u32,
    waiting: VecDeque<Waiting>,
}

/// The line of the array's own work, and the only one where lines are not told apart.
const OWN: u32 = 0;

impl Queue {
    /// Nothing is given, and nobody waits.
    fn of(terms: Terms) -> Queue {
        Queue { terms, ..Queue::default() }
    }

    fn has_room(&self) -> bool {
        let Queue { terms, given, .. } = self;
        terms.depth.is_none_or(|most| *given < most) && terms.window.is_none_or(|most| *given < most)
    }

    fn wait(&mut self, number: u32, waiting: Waiting) {
        let place = self.lines.binary_search_by_key(&number, |line| line.number).unwrap_or_else(|place| {
            self.lines.insert(place, Line { number, waiting: VecDeque::new() });
            place
        });
        self.lines[place].waiting.push_back(waiting);
    }

    /// The line whose turn it is, and who is the first in it.
    fn first(&self) -> Option<(usize, &Waiting)> {
        let after = self.lines.partition_point(|line| line.number <= self.turn);
        let mut in_turn = (after..self.lines.len()).chain(0..after);
        in_turn.find_map(|place| Some((place, self.lines[place].waiting.front()?)))
    }

    /// Takes it, with the number of its line.
    fn take_first(&mut self) -> Option<(u32, Waiting)> {
        let (place, _) = self.first()?;
        let line = &mut self.lines[place];
        line.waiting.pop_front().map(|waiting| (line.number, waiting))
    }
}

/// An operation that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub sub: SubRequest,
    pub since: SimTime,
    order: u64,
    /// The drive had as many commands as it fetches.
    pub for_window: bool,
}

impl Depth {
    /// Whether anything is limited.
    pub fn is_limited(config: &ArrayConfig) -> bool {
        let faults = &config.faults;
        let mut devices = config.members.iter().chain(&faults.spares).chain(&faults.journal);
        let limits = |ssd: &SsdConfig| ssd.link.queue_depth.or(ssd.controller.command_window).is_some();
        config.queue_depth.is_some() || devices.any(|device| limits(&device.ssd))
    }

    /// Nobody has anything of the devices that say this; `None` if nothing is limited.
    pub fn new(config: &ArrayConfig, terms: Vec<Terms>) -> Option<Box<Depth>> {
        Depth::is_limited(config).then(|| {
            Box::new(Depth {
                most: config.queue_depth.unwrap_or(u32::MAX),
                given: 0,
                devices: terms.into_iter().map(Queue::of).collect(),
                arrived: 0,
                leaving: BinaryHeap::new(),
                keeps_order: config.knowledge.nvram > 0 || config.level != Level::Raid0,
            })
        })
    }

    /// One device has nothing any more, and nobody waits for it; returns who did.
    pub fn forget(&mut self, slot: usize) -> impl Iterator<Item = Waiting> + use<> {
        let own = &mut self.devices[slot];
        let empty = Queue::of(own.terms);
        let Queue { given, lines, .. } = std::mem::replace(own, empty);
        self.given -= given;
        self.leaving.retain(|&Reverse((_, of))| of != slot);
        lines.into_iter().flat_map(|line| line.waiting)
    }

    /// The line in which a command waits for its device.
    fn line_of(&self, command: &Command) -> u32 {
        let takes_turns = self.devices[command.slot].terms.takes_turns && !self.keeps_order;
        command.stream.filter(|_| takes_turns).map_or(OWN, |stream| u32::from(stream) + 1)
    }

    /// One from line `number` takes a place in the device in `slot`; `false` if there is none.
    fn enter(&mut self, slot: usize, number: u32) -> bool {
        let queue = &mut self.devices[slot];
        let has_room = self.given < self.most && queue.has_room();
        if has_room {
            self.given += 1;
            queue.given += 1;
            queue.turn = number;
        }
        has_room
    }

    /// The device in a slot has nothing more to do with one of its operations from `at` on.
    pub fn leaves(&mut self, slot: usize, at: SimTime) {
        self.leaving.push(Reverse((at, slot)));
    }

    /// What has finished by `now` has left.
    pub fn make_room(&mut self, now: SimTime) {
        while let Some(&Reverse((at, slot))) = self.leaving.peek()
            && at <= now
        {
            self.leaving.pop();
            self.given -= 1;
            self.devices[slot].given -= 1;
        }
    }

    /// Of those whose turn it is at their device, the first to come that can have a place has it.
    pub fn next(&mut self) -> Option<(usize, Waiting)> {
        let first = |(slot, queue): (usize, &Queue)| {
            let (_, first) = queue.first().filter(|_| queue.has_room())?;
            Some((first.order, slot))
        };
        let (_, slot) = self.devices.iter().enumerate().filter_map(first).min()?;
        if self.given >= self.most {
            return None;
        }
        let (number, waiting) = self.devices[slot].take_first()?;
        let entered = self.enter(slot, number);
        debug_assert!(entered, "there is room");
        Some((slot, waiting))
    }
}

impl Layer for Depth {
    fn down(&mut self, command: &Command, now: SimTime) -> Pass {
        let (slot, number) = (command.slot, self.line_of(command));
        if self.enter(slot, number) {
            return Pass::Goes;
        }
        self.arrived += 1;
        let queue = &mut self.devices[slot];
        let for_window = queue.terms.window.is_some_and(|most| queue.given >= most);
        queue.wait(number, Waiting { sub: command.sub, since: now, order: self.arrived, for_window });
        Pass::Held
    }

    fn add_slot(&mut self, terms: Terms) {
        self.devices.push(Queue::of(terms));
    }

    fn replace(&mut self, slot: usize, terms: Terms) {
        self.devices[slot].terms = terms;
    }

    fn exchange(&mut self, one: usize, other: usize) {
        self.devices.swap(one, other);
        let exchanged = |slot| match slot {
            _ if slot == one => other,
            _ if slot == other => one,
            _ => slot,
        };
        let leaving = std::mem::take(&mut self.leaving).into_iter();
        self.leaving = leaving.map(|Reverse((at, slot))| Reverse((at, exchanged(slot)))).collect();
    }

    fn lose_power(&mut self) {
        self.given = 0;
        self.leaving.clear();
        self.devices.iter_mut().for_each(|queue| *queue = Queue::of(queue.terms));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_types::Operation;

    /// Of devices that take so many, or fetch so many in turn, under a controller that takes `most`.
    fn depth(most: u32, terms: &[Terms]) -> Depth {
        Depth {
            most,
            given: 0,
            devices: terms.iter().copied().map(Queue::of).collect(),
            arrived: 0,
            leaving: BinaryHeap::new(),
            keeps_order: false,
        }
    }

    const ONE: Terms = Terms { depth: Some(1), window: None, takes_turns: false };
    const IN_TURN: Terms = Terms { depth: None, window: Some(1), takes_turns: true };

    /// A command with this token comes to a device.
    fn comes(depth: &mut Depth, token: u64, slot: usize, stream: Option<u16>) -> Pass {
        let sub = SubRequest::new(token, Operation::Read, 0, 4096);
        depth.down(&Command { slot, sub, place: 0, stream }, SimTime(token))
    }

    /// The token of the next that goes, and its slot.
    fn next(depth: &mut Depth) -> Option<(u64, usize)> {
        depth.next().map(|(slot, waiting)| (waiting.sub.token, slot))
    }

    #[test]
    fn the_first_that_can_have_a_place_goes_when_one_is_free_and_not_before() {
        let mut depth = depth(2, &[ONE, ONE, ONE]);
        assert_eq!([0, 1].map(|slot| comes(&mut depth, 1, slot, None)), [Pass::Goes; 2]);
        for (token, slot) in [(2, 0), (3, 2), (4, 0)] {
            assert_eq!(comes(&mut depth, token, slot, None), Pass::Held, "{token}");
        }
        depth.leaves(1, SimTime(50));
        depth.make_room(SimTime(49));
        assert_eq!(next(&mut depth), None);
        depth.make_room(SimTime(50));
        assert_eq!(next(&mut depth), Some((3, 2)), "the device of 2 is full");
        depth.leaves(0, SimTime(60));
        depth.make_room(SimTime(60));
        assert_eq!((next(&mut depth), next(&mut depth)), (Some((2, 0)), None));
    }

    #[test]
    fn a_window_is_filled_from_the_queues_of_its_host_in_turn() {
        let order = |keeps_order| {
            let mut depth = Depth { keeps_order, ..depth(u32::MAX, &[IN_TURN]) };
            assert_eq!(comes(&mut depth, 1, 0, Some(0)), Pass::Goes);
            for (token, stream) in [(2, Some(0)), (3, Some(0)), (4, Some(1)), (5, None)] {
                assert_eq!(comes(&mut depth, token, 0, stream), Pass::Held);
            }
            let mut tokens = Vec::new();
            while tokens.len() < 4 {
                depth.leaves(0, SimTime(9));
                depth.make_room(SimTime(9));
                tokens.extend(depth.next().map(|(_, waiting)| (waiting.sub.token, waiting.for_window)));
            }
            tokens
        };
        assert_eq!(order(false), [(4, true), (5, true), (2, true), (3, true)]);
        assert_eq!(order(true), [(2, true), (3, true), (4, true), (5, true)]);
    }

    #[test]
    fn a_device_that_is_gone_gives_back_its_places_and_who_waits_for_it() {
        let mut depth = depth(3, &[ONE, ONE]);
        let pass = [(1, 0), (2, 1), (3, 0), (4, 1)].map(|(token, slot)| comes(&mut depth, token, slot, None));
        assert_eq!(pass, [Pass::Goes, Pass::Goes, Pass::Held, Pass::Held]);
        depth.leaves(0, SimTime(5));
        let waited: Vec<u64> = depth.forget(0).map(|waiting| waiting.sub.token).collect();
        assert_eq!(waited, [3]);
        depth.make_room(SimTime(5));
        assert_eq!((depth.given, next(&mut depth)), (1, None), "it left once; the device of 4 is full");
        assert_eq!((comes(&mut depth, 5, 0, None), comes(&mut depth, 6, 0, None)), (Pass::Goes, Pass::Held));
    }

    #[test]
    fn a_device_keeps_its_terms_and_what_it_has_wherever_it_is() {
        let mut depth = depth(u32::MAX, &[ONE]);
        depth.add_slot(Terms::default());
        assert_eq!([1, 2].map(|token| comes(&mut depth, token, 1, None)), [Pass::Goes; 2], "no limit");
        comes(&mut depth, 3, 0, None);
        depth.leaves(0, SimTime(5));
        depth.exchange(0, 1);
        assert_eq!(comes(&mut depth, 4, 1, None), Pass::Held, "the one with the limit is here now");
        depth.make_room(SimTime(5));
        assert_eq!(next(&mut depth), Some((4, 1)), "what was leaving has left here");
        depth.replace(0, ONE);
        assert_eq!(comes(&mut depth, 5, 0, None), Pass::Held, "two are given, and one is the limit now");
        depth.lose_power();
        assert_eq!((comes(&mut depth, 6, 0, None), depth.given), (Pass::Goes, 1));
        assert_eq!(comes(&mut depth, 7, 0, None), Pass::Held, "the limit outlives the loss");
    }
}
