//! A drive whose memory does not hold its map: operations wait for the pages of the map that they need, and the drive reads and writes these
//! pages like others.
//!
//! ```text
//! accept, pump ─► map ─┬─ there ────────────────────────────────► queue of the die
//!                      └─ read of the map page, at its own die ─► queue of the die        the wait between is `map_wait` or `queue_gc`
//! write cache ─► queue of the die ─► program ends ─┬─► the slot is free
//!           └──► the map page is there ────────────┘
//! ```
//!
//! [`MapCache`](crate::map_cache::MapCache) says which pages of the map are there, what leaves, and what is read and written. Here that is carried out, in the queues
//! of the dies, where reads and programs of the map count as any other operation of the drive's host: for priorities, suspending, thresholds,
//! and what idles.
//!
//! * Reads, and trims and writes without a write cache, look into the map when they reach the device, and enter the queue of their die when the
//!   map page is there. While a write is on the link, that costs no time of its own.
//! * What leaves a write cache looks into the map then, and its program does not wait for it: the controller knows where it puts a page. Its
//!   slot is kept until the entry is changed, so that waits of the host for slots show what the map costs. A write of part of a
//!   unit would need the entry before; its read for the rest does not wait for it.
//! * A trim behind a write cache waits for the map no more than a program does: a later write of its page must not overtake it.
//! * A read of a page that was never written costs the link only, as on other drives, once the map has said so.
//! * An operation that asks to fail fast is refused for collection of its own die, when it arrives and when its map page is there. It is not
//!   refused because it needs a map page, whatever that one's die does.
//!
//! * The part of the wait in which the die of the map page collected is `queue_gc`. If another page was written first to make room, what
//!   delayed that write counts, too.
//!
//! Not modelled, beside what `MapCache` says: where several pages wait for one frame, collection that held up those before is `map_wait`, and a
//! write with FUA that waits for a slot has all of that wait in `cache_wait`. `map_wait` does not tell apart what else the die of the map page did
//! meanwhile; who follows single pages is [told](super::following).

use harmonia_types::{Blame, IoCause, SimDuration, SimTime};

use super::mapping::{MapWait, Parked, Programmed, Slot};
use super::owner::OwnerId;
use super::queue::{OpKind, PageOp};
use super::{Device, DeviceFailure};
use crate::map_cache::Next;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// An operation goes on to the queue of its die, as soon as the page of the map that it needs is there.
    #[inline]
    pub(super) fn pass_map(&mut self, die: u32, op: PageOp, now: SimTime) -> Result<(), DeviceFailure> {
        if self.mapping.is_some() { self.ask_map(die, op, now) } else { self.enqueue(die, op, now) }
    }

    #[cold]
    fn ask_map(&mut self, die: u32, op: PageOp, now: SimTime) -> Result<(), DeviceFailure> {
        self.interrupted |= !self.is_background(op.owner);
        let lpn = self.ftl.device_lpn(op.unit, op.lpn).0;
        let Some(mapping) = &mut self.mapping else { return Ok(()) };
        let (page, changes) = (mapping.pages.page_of(lpn), op.kind != OpKind::Read);
        if mapping.pages.ask(page, changes) {
            return self.leave_map(die, op, now);
        }
        mapping.operations += 1;
        mapping.pages.park(page, changes, Parked::Operation { die, op });
        self.serve_map(now).map(|_| ())
    }

    /// The page in a slot of the write cache goes to its die: its entry is to be changed.
    #[inline]
    pub(super) fn map_slot(&mut self, slot: u32, lpn: u32) {
        let Some(mapping) = &mut self.mapping else { return };
        let page = mapping.pages.page_of(lpn);
        mapping.slots[slot as usize] = Slot::Free;
        if !mapping.pages.ask(page, true) {
            mapping.slots[slot as usize] = Slot::Mapping;
            mapping.pages.park(page, true, Parked::Slot { slot, page });
        }
    }

    /// The entry of a page changes, and nobody waits for that.
    pub(super) fn change_entry(&mut self, lpn: u32) {
        let Some(mapping) = &mut self.mapping else { return };
        let page = mapping.pages.page_of(lpn);
        if !mapping.pages.ask(page, true) {
            mapping.pages.park(page, true, Parked::Entry);
        }
    }

    /// Whether it is known without a read of the map that a page was never written, if it was not: its entry is in memory.
    #[inline]
    pub(super) fn has_entry(&mut self, unit: u32, lpn: u32) -> bool {
        if self.mapping.is_none() {
            return true;
        }
        let lpn = self.ftl.device_lpn(unit, lpn).0;
        self.mapping.as_mut().is_some_and(|mapping| {
            let page = mapping.pages.page_of(lpn);
            mapping.pages.has(page) && mapping.pages.ask(page, false)
        })
    }

    /// Reads and writes what is to be read and written of the map, and lets go on what has waited for it. `false` if there is nothing to do.
    pub(super) fn serve_map(&mut self, now: SimTime) -> Result<bool, DeviceFailure> {
        let mut any = false;
        while let Some(mapping) = &mut self.mapping {
            let (ftl, shape) = (&self.ftl, &self.rules.shape);
            let on_flash = |(unit, lpn)| shape.map_pages().contains(&lpn) && ftl.lookup(unit, lpn).is_some();
            let Some(next) = mapping.pages.next(on_flash) else { break };
            any = true;
            match next {
                Next::Read { page, frame } => {
                    self.frame_is_given(frame, now);
                    self.touch_map(OpKind::Read, page, frame, now)?;
                }
                Next::Blank { frame } => self.frame_is_given(frame, now),
                Next::Write { page, frame } => self.touch_map(OpKind::Write, page, frame, now)?,
                Next::GoesOn(Parked::Operation { die, op }) => {
                    mapping.operations -= 1;
                    self.leave_map(die, op, now)?;
                }
                Next::GoesOn(Parked::Slot { slot, page }) => self.slot_is_mapped(slot, page, now),
                Next::GoesOn(Parked::Entry) => {}
            }
        }
        Ok(any)
    }

    /// A page of the map is read into a frame or written from it, at the die where it lies.
    fn touch_map(&mut self, kind: OpKind, page: u32, frame: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let Some(mapping) = &self.mapping else { return Ok(()) };
        let (unit, lpn) = mapping.pages.place_of(page);
        let op = PageOp::new(OwnerId::map(frame), lpn, unit, mapping.losses, (kind, IoCause::Map), now);
        self.enqueue(self.rules.shape.die_of(unit), op, now)
    }

    /// An operation goes on whose page of the map is there.
    fn leave_map(&mut self, die: u32, op: PageOp, now: SimTime) -> Result<(), DeviceFailure> {
        let lpn = self.ftl.device_lpn(op.unit, op.lpn).0;
        let wait = self.mapping.as_ref().map_or_else(MapWait::default, |mapping| {
            mapping.wait_for(mapping.pages.page_of(lpn), op.ready, now)
        });
        let sub = op.owner.sub();
        if wait.all > SimDuration::ZERO {
            self.follow_map_wait((self.subs[sub].token, op.page), lpn, (op.ready, now));
        }
        let is_blank = op.kind == OpKind::Read
            && self.ftl.lookup(op.unit, op.lpn).is_none()
            && !self.waits_at(die, op.unit, op.lpn);
        if is_blank {
            self.finish_blank_read(&op, wait, now);
            return Ok(());
        }
        if op.fast_fail
            && let Some(left) = self.kept_waiting(die, op.kind.class(), now)
        {
            let link = now - self.subs[sub].issued - wait.all;
            let mut blame = Blame { link: link.0, ..Blame::default() };
            wait.add_to(&mut blame);
            self.refuse_page(sub, op.page, left, blame, now);
            return Ok(());
        }
        if let Some(mapping) = &mut self.mapping {
            mapping.entering = wait;
        }
        self.enqueue(die, PageOp { ready: op.ready.max(now), ..op }, now)
    }

    /// The map has said that the page of a read was never written.
    fn finish_blank_read(&mut self, op: &PageOp, wait: MapWait, now: SimTime) {
        let (sub, page) = (op.owner.sub(), op.page);
        self.probe.read(None, self.ftl.device_lpn(op.unit, op.lpn), self.origin(op));
        let finish = self.link.take(now.max(op.ready), self.rules.link_page);
        let link = (finish - self.subs[sub].issued) - wait.all;
        let mut blame = Blame { link: link.0, ..Blame::default() };
        let met_gc = wait.add_to(&mut blame);
        self.finish_page(sub, page, finish, blame, met_gc);
    }

    /// The entry of the page in a slot of the write cache is changed.
    fn slot_is_mapped(&mut self, slot: u32, page: u32, now: SimTime) {
        let (Some(mapping), Some(cache)) = (&mut self.mapping, &mut self.cache) else { return };
        mapping.slots[slot as usize] = match mapping.slots[slot as usize] {
            Slot::Programmed(Programmed { at, first, collected }) => {
                mapping.kept -= 1;
                let waits = cache.pages.next_waits_since(0, now);
                // Who gets it now need not be who was to get it then.
                let is_same = waits.is_some() && waits == first;
                cache.pages.is_on_flash(slot, if is_same { collected } else { SimDuration::ZERO });
                let from = waits.map_or(now, |from| from.max(at));
                let frame = mapping.pages.frame_of(page);
                if let Some((follower, frame)) = self.probe.follower().zip(frame) {
                    follower.slot_waited_for_map(slot, frame, (from, now));
                }
                Slot::Kept(mapping.wait_for(page, from, now))
            }
            Slot::Free | Slot::Mapping | Slot::Kept(_) => Slot::Free,
        };
    }
}
