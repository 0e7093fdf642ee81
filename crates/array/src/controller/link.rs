//! One link between the controller and all members, beside each member's own.
//!
//! ```text
//! others  given ─► waits for the link ─► crosses ─► its member, over its own link ─► done
//! read    given ─► its member, over its own link ─► waits for the link ─► crosses ─► done
//! ```
//!
//! The link stores and forwards: data crosses it as a whole, the whole pages of one operation at a time, in either direction.
//! The first that has come goes first. Pages of a read that its member refuses do not cross. Trims and flushes carry no data, and
//! wait for what came before them, because copies must see writes and trims in one order. A read is given at once, and may
//! overtake a write that waits. Everything between controller and devices crosses: parity, the array's own work, and what goes to
//! spares and to the journal. What is answered from the controller's memory does not.
//!
//! An operation that crosses is under way at its member for everything else in the controller. A read that has come to the link
//! is answered even if its member fails while it waits, as on a member's own link. The time on the link, and waiting for it, is
//! `link` of the operation's blame.
//!
//! Source: the bus between controller and devices in DiskSim's configurations. Leaves out: arbitration, and commands, which take
//! no time.

use harmonia_ssd::probe::Probe;
use harmonia_ssd::{Slab, SubCompletion, SubRequest};
use harmonia_types::{Bytes, Operation, SimDuration, SimTime};

use super::messages::Message;
use super::payload::Payload;
use super::states::Progress;
use super::{Array, ArrayFailure};
use crate::config::ArrayConfig;

/// Who is on the link, and until when.
#[derive(Debug, Clone)]
pub(super) struct SharedLink {
    bandwidth: Bytes,
    page_size: Bytes,
    /// When it is free.
    free: SimTime,
    waiting: Slab<Crossing>,
    /// Operations that are not at their members yet.
    outbound: u32,
    /// By place of an operation under way: what it has spent here.
    spent: Vec<SimDuration>,
}

/// An operation that is on the link or waits for it.
#[derive(Debug, Clone, Copy)]
enum Crossing {
    /// One that will be at its member.
    ToMember(SubRequest),
    /// A read that its member is done with, of so many pages.
    FromMember(SubCompletion, u64),
}

impl SharedLink {
    /// A free link; `None` if members have only their own.
    pub fn new(config: &ArrayConfig) -> Option<Box<SharedLink>> {
        let bandwidth = config.link_bandwidth?;
        let (page_size, free) = (config.page_size(), SimTime::ZERO);
        let (waiting, spent) = (Slab::default(), Vec::new());
        Some(Box::new(SharedLink { bandwidth, page_size, free, waiting, outbound: 0, spent }))
    }

    /// Nobody is on it any more.
    pub fn forget_all(&mut self) {
        self.free = SimTime::ZERO;
        self.waiting.release_all();
        self.outbound = 0;
    }

    /// What an operation under way has spent here on its way to its member.
    pub fn spent(&self, place: u32) -> SimDuration {
        self.spent.get(place as usize).copied().unwrap_or_default()
    }

    fn spends(&mut self, place: u32, time: SimDuration) {
        let place = place as usize;
        if place >= self.spent.len() {
            self.spent.resize(place + 1, SimDuration::ZERO);
        }
        self.spent[place] = time;
    }

    fn pages(&self, offset: Bytes, length: Bytes) -> u64 {
        (offset + length).div_ceil(self.page_size) - offset / self.page_size
    }

    /// How long so many pages are on it, to the nearest nanosecond.
    fn time(&self, pages: u64) -> SimDuration {
        let bandwidth = u128::from(self.bandwidth.max(1));
        let bytes = u128::from(pages) * u128::from(self.page_size);
        let ns = (bytes * 1_000_000_000 + bandwidth / 2) / bandwidth;
        SimDuration(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// Whether it keeps so many pages at `now` for no time at all.
    fn is_instant(&self, pages: u64, now: SimTime) -> bool {
        self.free <= now && self.time(pages) == SimDuration::ZERO
    }

    /// So many pages come to it at `now`; when they are over.
    fn cross(&mut self, pages: u64, now: SimTime) -> SimTime {
        self.free = self.free.max(now) + self.time(pages);
        self.free
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// An operation is given to its member, anything but a read when it is over the link.
    #[cold]
    pub(super) fn send_over(
        &mut self,
        slot: usize,
        sub: SubRequest,
        now: SimTime,
    ) -> Result<(), ArrayFailure> {
        if let Some(link) = self.link.as_deref_mut()
            && let Some(place) = self.nodes.place(sub.token)
        {
            let over = match sub.operation {
                Operation::Read => now,
                Operation::Write => link.cross(link.pages(sub.offset, sub.length), now),
                Operation::Trim | Operation::Flush => link.cross(0, now),
            };
            link.spends(place, over - now);
            // Nothing but a read goes before what is due at this moment.
            if over > now || (link.outbound > 0 && sub.operation != Operation::Read) {
                link.outbound += 1;
                let crossing = link.waiting.insert(Crossing::ToMember(sub));
                self.agenda.push(over, Message::Crosses(crossing));
                return Ok(());
            }
        }
        self.submit_to_device(slot, sub, now)
    }

    /// A member is done with an operation, with a read when its data is over the link.
    #[cold]
    pub(super) fn comes_back(&mut self, done: &SubCompletion) -> Result<(), ArrayFailure> {
        let (Some(place), Some(link)) = (self.nodes.place(done.token), self.link.as_deref_mut()) else {
            return self.node_done(done);
        };
        let mut done = *done;
        done.blame.link += link.spent(place).0;
        let node = self.nodes.get(place);
        let operation = &node.operation;
        let pages = link.pages(operation.offset, operation.length).saturating_sub(u64::from(node.refused));
        if operation.operation == Operation::Read && !link.is_instant(pages, done.finish) {
            let crossing = link.waiting.insert(Crossing::FromMember(done, pages));
            self.agenda.push(done.finish.max(self.latest), Message::Crosses(crossing));
            return Ok(());
        }
        self.node_done(&done)
    }

    /// An operation is over the link to its member, or a read comes to it.
    #[cold]
    pub(super) fn crosses(&mut self, crossing: u32, now: SimTime) -> Result<(), ArrayFailure> {
        let Some(link) = self.link.as_deref_mut() else { return Ok(()) };
        let what = link.waiting[crossing];
        link.waiting.release(crossing);
        let token = match &what {
            Crossing::ToMember(sub) => {
                link.outbound -= 1;
                sub.token
            }
            Crossing::FromMember(done, _) => done.token,
        };
        // Its member may have failed meanwhile, and so may one whose place another device has taken since it was given.
        let node = self.nodes.place(token).map(|place| self.nodes.get(place));
        let Some(node) = node.filter(|node| node.progress != Progress::Begun) else { return Ok(()) };
        match what {
            Crossing::ToMember(sub) => self.submit_to_device(usize::from(node.slot), sub, now),
            Crossing::FromMember(mut done, pages) => {
                let over = link.cross(pages, now);
                done.blame.link += (over - done.finish).0;
                done.finish = over;
                self.node_done(&done)
            }
        }
    }
}
