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
//! An operation that waits is under way for everything else in the controller: a member that fails has it refused, and a
//! member that is reserved still takes it. Its wait is part of what its transaction has behind it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use harmonia_ssd::SubRequest;
use harmonia_ssd::probe::Probe;
use harmonia_types::{SimDuration, SimTime};

use super::messages::Message;
use super::payload::Payload;
use super::tokens::{NONE, Node, Parent};
use super::trails::What;
use super::transactions::Chain;
use super::{Array, ArrayFailure};
use crate::config::ArrayConfig;

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
    waiting: VecDeque<Waiting>,
}

/// An operation that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    sub: SubRequest,
    since: SimTime,
    order: u64,
}

impl Depth {
    /// Whether anything is limited.
    pub fn is_limited(config: &ArrayConfig) -> bool {
        let faults = &config.faults;
        let mut devices = config.members.iter().chain(&faults.spares).chain(&faults.journal);
        config.queue_depth.is_some() || devices.any(|device| device.ssd.link.queue_depth.is_some())
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
    fn forget(&mut self, slot: usize) -> VecDeque<Waiting> {
        let Queue { given, waiting } = std::mem::take(&mut self.devices[slot]);
        self.given -= given;
        self.leaving.retain(|&Reverse((_, of))| of != slot);
        waiting
    }

    /// Takes a place in the device in `slot`, which is given `most` at once; `false` if there is none.
    fn enter(&mut self, slot: usize, most: Option<u32>) -> bool {
        let queue = &mut self.devices[slot];
        let has_room = self.given < self.most && most.is_none_or(|most| queue.given < most);
        self.given += u32::from(has_room);
        queue.given += u32::from(has_room);
        has_room
    }

    fn wait(&mut self, slot: usize, sub: SubRequest, since: SimTime) {
        self.arrived += 1;
        self.devices[slot].waiting.push_back(Waiting { sub, since, order: self.arrived });
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

    /// The first to come of those that wait for a place and can have one has it; `most` is what a device is given at once.
    fn next(&mut self, most: impl Fn(usize) -> Option<u32>) -> Option<(usize, Waiting)> {
        let first = |(slot, queue): (usize, &Queue)| {
            let has_room = most(slot).is_none_or(|most| queue.given < most);
            queue.waiting.front().filter(|_| has_room).map(|first| (first.order, slot))
        };
        let (_, slot) = self.devices.iter().enumerate().filter_map(first).min()?;
        if !self.enter(slot, most(slot)) {
            return None;
        }
        let waiting = self.devices[slot].waiting.pop_front()?;
        Some((slot, waiting))
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Gives an operation to the device in a slot, or has it wait until there is room.
    #[cold]
    pub(super) fn line_up(&mut self, slot: usize, sub: SubRequest, now: SimTime) -> Result<(), ArrayFailure> {
        let most = self.members.devices[slot].queue_depth();
        let Some(depth) = self.depth.as_deref_mut() else { return self.give(slot, sub, now) };
        if depth.enter(slot, most) {
            return self.give(slot, sub, now);
        }
        depth.wait(slot, sub, now);
        Ok(())
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
            self.has_waited(waiting.sub.token, waiting.since, now);
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
            let next = |depth: &mut Depth| depth.next(|slot| devices[slot].queue_depth());
            let Some((slot, Waiting { sub, since, .. })) = self.depth.as_deref_mut().and_then(next) else {
                return Ok(());
            };
            self.has_waited(sub.token, since, now);
            self.give(slot, sub, now)?;
        }
    }

    /// The wait of an operation becomes part of what it has behind it.
    fn has_waited(&mut self, token: u64, since: SimTime, now: SimTime) {
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
        chain.blame.depth_wait += (now - since).0;
        if self.trails.is_some() {
            let member = self.name_of(node.operation.device);
            chain.finish = since;
            chain.trails_off(&mut self.trails, now, What::Depth(member));
        }
        chain.finish = now;
        self.nodes.get_mut(place).before = self.nodes.keep_before(chain);
    }

    /// Whether an operation has nothing behind it but what its step has, and a wait for its place.
    pub(super) fn only_waited(&self, node: &Node) -> bool {
        let (before, step) = (self.nodes.before(node.before), &self.transactions[node.transaction()].before);
        let waited = before.blame.depth_wait.saturating_sub(step.blame.depth_wait);
        before.finish == step.finish + SimDuration(waited)
    }
}
