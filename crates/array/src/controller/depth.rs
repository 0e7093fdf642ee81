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

use harmonia_ssd::probe::Probe;
use harmonia_ssd::{Arbitration, ControllerConfig, Device, SsdConfig, SubRequest};
use harmonia_types::{RequestBlame, SimDuration, SimTime};

use super::messages::Message;
use super::payload::Payload;
use super::tokens::{NONE, Node, Parent};
use super::trails::What;
use super::transactions::Chain;
use super::{Array, ArrayFailure};
use crate::config::ArrayConfig;
use crate::layout::Layout;

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
}

/// One device's operations.
#[derive(Debug, Clone, Default)]
struct Queue {
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

/// What a device may have at once.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Given by the array.
    depth: Option<u32>,
    /// Fetched by the drive.
    window: Option<u32>,
}

impl Limits {
    fn of<P: Probe>(device: &Device<P>) -> Limits {
        Limits { depth: device.queue_depth(), window: device.controller().command_window }
    }

    fn have_room(&self, given: u32) -> bool {
        self.depth.is_none_or(|most| given < most) && self.window.is_none_or(|most| given < most)
    }
}

/// An operation that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    sub: SubRequest,
    since: SimTime,
    order: u64,
    /// The drive had as many commands as it fetches.
    for_window: bool,
}

impl Depth {
    /// Whether anything is limited.
    pub fn is_limited(config: &ArrayConfig) -> bool {
        let faults = &config.faults;
        let mut devices = config.members.iter().chain(&faults.spares).chain(&faults.journal);
        let limits = |ssd: &SsdConfig| ssd.link.queue_depth.or(ssd.controller.command_window).is_some();
        config.queue_depth.is_some() || devices.any(|device| limits(&device.ssd))
    }

    /// Nobody has anything; `None` if nothing is limited.
    pub fn new(config: &ArrayConfig, devices: usize) -> Option<Box<Depth>> {
        Depth::is_limited(config).then(|| {
            Box::new(Depth {
                most: config.queue_depth.unwrap_or(u32::MAX),
                given: 0,
                devices: vec![Queue::default(); devices],
                arrived: 0,
                leaving: BinaryHeap::new(),
            })
        })
    }

    /// There is one more device.
    pub fn add_slot(&mut self) {
        self.devices.push(Queue::default());
    }

    /// Two devices change places.
    pub fn exchange(&mut self, one: usize, other: usize) {
        self.devices.swap(one, other);
        let exchanged = |slot| match slot {
            _ if slot == one => other,
            _ if slot == other => one,
            _ => slot,
        };
        let leaving = std::mem::take(&mut self.leaving).into_iter();
        self.leaving = leaving.map(|Reverse((at, slot))| Reverse((at, exchanged(slot)))).collect();
    }

    /// Nobody has anything any more, and nobody waits.
    pub fn forget_all(&mut self) {
        self.given = 0;
        self.leaving.clear();
        self.devices.fill(Queue::default());
    }

    /// One device has nothing any more, and nobody waits for it; returns who did.
    fn forget(&mut self, slot: usize) -> impl Iterator<Item = Waiting> + use<> {
        let Queue { given, lines, .. } = std::mem::take(&mut self.devices[slot]);
        self.given -= given;
        self.leaving.retain(|&Reverse((_, of))| of != slot);
        lines.into_iter().flat_map(|line| line.waiting)
    }

    /// One from line `number` takes a place in the device in `slot`; `false` if there is none.
    fn enter(&mut self, slot: usize, number: u32, limits: Limits) -> bool {
        let queue = &mut self.devices[slot];
        let has_room = self.given < self.most && limits.have_room(queue.given);
        if has_room {
            self.given += 1;
            queue.given += 1;
            queue.turn = number;
        }
        has_room
    }

    /// An operation waits in line `number` of the device in `slot`, which has no room for it, or the controller has not.
    fn wait(&mut self, slot: usize, number: u32, (sub, since): (SubRequest, SimTime), limits: Limits) {
        self.arrived += 1;
        let queue = &mut self.devices[slot];
        let for_window = limits.window.is_some_and(|most| queue.given >= most);
        queue.wait(number, Waiting { sub, since, order: self.arrived, for_window });
    }

    /// What has finished by `now` has left.
    fn leave(&mut self, now: SimTime) {
        while let Some(&Reverse((at, slot))) = self.leaving.peek()
            && at <= now
        {
            self.leaving.pop();
            self.given -= 1;
            self.devices[slot].given -= 1;
        }
    }

    /// Of those whose turn it is at their device, the first to come that can have a place has it.
    fn next(&mut self, limits: impl Fn(usize) -> Limits) -> Option<(usize, Waiting)> {
        let first = |(slot, queue): (usize, &Queue)| {
            let (_, first) = queue.first().filter(|_| limits(slot).have_room(queue.given))?;
            Some((first.order, slot))
        };
        let (_, slot) = self.devices.iter().enumerate().filter_map(first).min()?;
        if self.given >= self.most {
            return None;
        }
        let (number, waiting) = self.devices[slot].take_first()?;
        let entered = self.enter(slot, number, limits(slot));
        debug_assert!(entered, "there is room");
        Some((slot, waiting))
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Gives an operation to the device in a slot, or has it wait until there is room.
    #[cold]
    pub(super) fn line_up(&mut self, slot: usize, sub: SubRequest, now: SimTime) -> Result<(), ArrayFailure> {
        let limits = Limits::of(&self.members.devices[slot]);
        let number = self.line_of(slot, sub.token);
        let Some(depth) = self.depth.as_deref_mut() else { return self.give(slot, sub, now) };
        if depth.enter(slot, number, limits) {
            return self.give(slot, sub, now);
        }
        depth.wait(slot, number, (sub, now), limits);
        Ok(())
    }

    /// The line in which an operation waits for the device in a slot.
    fn line_of(&self, slot: usize, token: u64) -> u32 {
        let ControllerConfig { command_window, arbitration, .. } = self.members.devices[slot].controller();
        // Copies and parked writes of one page must reach their members in one order, whatever queues they come from.
        let keeps_order = self.nvram.is_some() || !matches!(self.layout, Layout::Striped(_));
        if command_window.is_none() || *arbitration == Arbitration::Fifo || keeps_order {
            return OWN;
        }
        let node = self.nodes.place(token).map(|place| self.nodes.get(place));
        let request = node.and_then(|node| match node.parent {
            Parent::Request(request) => Some(request),
            Parent::Transaction(handle) => self.transactions[handle].purpose.request(),
        });
        request.map_or(OWN, |request| u32::from(self.requests[request].request.volume) + 1)
    }

    /// A device has nothing more to do with an operation from `at` on.
    #[cold]
    pub(super) fn makes_room(&mut self, node: &Node, at: SimTime) {
        if let Some(depth) = self.depth.as_deref_mut() {
            depth.leaving.push(Reverse((at, usize::from(node.slot))));
            self.agenda.push(at.max(self.latest), Message::Room);
        }
        if node.is_outrun() && node.before != NONE {
            self.nodes.take_before(node.before);
        }
    }

    /// A device is gone; what it had been given has been given up.
    #[cold]
    pub(super) fn is_emptied(&mut self, slot: usize, now: SimTime) {
        let Some(depth) = self.depth.as_deref_mut() else { return };
        for waiting in depth.forget(slot) {
            self.has_waited(&waiting, now);
        }
        self.agenda.push(now, Message::Room);
    }

    /// Operations have left their devices: others take their places.
    #[cold]
    pub(super) fn fill_room(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        if let Some(depth) = self.depth.as_deref_mut() {
            depth.leave(now);
        }
        loop {
            let devices = &self.members.devices;
            let next = |depth: &mut Depth| depth.next(|slot| Limits::of(&devices[slot]));
            let Some((slot, waiting)) = self.depth.as_deref_mut().and_then(next) else {
                return Ok(());
            };
            self.has_waited(&waiting, now);
            self.give(slot, waiting.sub, now)?;
        }
    }

    /// The wait of an operation becomes part of what it has behind it.
    fn has_waited(&mut self, waiting: &Waiting, now: SimTime) {
        let &Waiting { sub: SubRequest { token, .. }, since, for_window, .. } = waiting;
        let Some(place) = self.nodes.place(token).filter(|_| since < now) else { return };
        let node = *self.nodes.get(place);
        let mut chain = match node.before {
            NONE if node.is_direct() => match node.parent {
                Parent::Request(request) if self.trails.is_some() => {
                    Chain::default().with_trail(self.trail_to(request, since))
                }
                _ => Chain::default(),
            },
            NONE => self.transactions[node.transaction()].before,
            before => self.nodes.take_before(before),
        };
        let RequestBlame { depth_wait, window_wait, .. } = &mut chain.blame;
        *(if for_window { window_wait } else { depth_wait }) += (now - since).0;
        if self.trails.is_some() {
            let member = self.name_of(node.operation.device);
            chain.finish = since;
            let what = if for_window { What::Window(member) } else { What::Depth(member) };
            chain.trails_off(&mut self.trails, now, what);
        }
        chain.finish = now;
        self.nodes.get_mut(place).before = self.nodes.keep_before(chain);
    }

    /// Whether an operation has nothing behind it but what its step has, and a wait for its place.
    pub(super) fn only_waited(&self, node: &Node) -> bool {
        let (before, step) = (self.nodes.before(node.before), &self.transactions[node.transaction()].before);
        let of_queues = |blame: &RequestBlame| blame.depth_wait + blame.window_wait;
        let waited = of_queues(&before.blame).saturating_sub(of_queues(&step.blame));
        before.finish == step.finish + SimDuration(waited)
    }
}
