//! Sub-requests reach the device: they are cut into pages, and each page goes to its die, to the cache, or waits for the link.

use harmonia_types::{Operation, SimTime};

use super::owner::OwnerId;
use super::placement::UNBOUND;
use super::queue::{OpKind, PageOp, class_of};
use super::subs::Edges;
use super::{Device, DeviceFailure, SubRequest};
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The first of the sub-requests on their way reaches the device.
    pub(super) fn take_ingress(&mut self) -> Result<(), DeviceFailure> {
        if let Some((time, sub, issued)) = self.ingress.pop_front() {
            self.events += 1;
            self.accept(time, sub, issued)?;
            self.answer_everywhere(time);
            self.tell_queue(time);
        }
        Ok(())
    }

    /// A sub-request has reached the device: splits it into pages and queues them at their dies.
    pub(super) fn accept(
        &mut self,
        now: SimTime,
        sub: SubRequest,
        issued: SimTime,
    ) -> Result<(), DeviceFailure> {
        let page_size = self.rules.page_size;
        let (first, head) = page_size.divide(sub.offset);
        let (last, tail) = page_size.divide(sub.offset + sub.length);
        let (partial_head, partial_tail) = (head != 0, tail != 0);
        let end = last + u64::from(partial_tail);
        let pages = if sub.length == 0 { 0 } else { end - first };
        assert!(
            first + pages <= u64::from(self.rules.shape.logical_pages),
            "bytes {}+{} lie beyond the device",
            sub.offset,
            sub.length
        );
        if sub.operation == Operation::Flush || pages == 0 {
            if sub.operation == Operation::Flush && self.flush_waits(&sub, issued, now) {
                // What rests in the cache goes now.
                return if self.rules.shape.packing.packs() { self.pump(now) } else { Ok(()) };
            }
            // Every write is durable when it completes, so there is nothing to flush.
            self.finish_at_once(sub.token, issued, now);
            return Ok(());
        }
        let (first, pages) = (first as u32, pages as u32);
        let handle = self.open_sub(&sub, issued, pages);
        if !self.rules.enters_at_once {
            self.subs[handle].in_controller = self.in_controller(issued, now);
        }
        if (partial_head || partial_tail) && sub.operation == Operation::Write {
            let after = if partial_tail { page_size.by() - tail } else { 0 };
            self.subs[handle].edges = match pages {
                1 => Edges { last: 0, left_out: [(head + after) as u32, 0] },
                _ => Edges { last: pages - 1, left_out: [head as u32, after as u32] },
            };
        }
        if !sub.background {
            self.last_activity = now;
        }
        if self.cache.is_some() {
            return self.accept_before_cache(&sub, handle, now);
        }
        if self.rules.shape.is_dynamic() {
            let is_partial = |page| (page == 0 && partial_head) || (page == pages - 1 && partial_tail);
            return self.accept_anywhere(&sub, handle, (first, pages), is_partial, now);
        }
        if self.superblocks.is_some() {
            let is_partial = |page| (page == 0 && partial_head) || (page == pages - 1 && partial_tail);
            return self.accept_by_map(&sub, handle, (first, pages), is_partial, now);
        }
        if pages == 1 {
            let place = self.rules.shape.locate(first);
            // The page is looked up when its die is ready for it; until then the entry is on its way to the cache.
            self.ftl.prefetch(place.1, place.2);
            self.accept_page(&sub, (handle, 0), place, partial_head || partial_tail, now)?;
            if sub.operation == Operation::Write {
                self.ftl.prefetch_block_of(place.1, place.2);
            }
            return Ok(());
        }
        // Ask for all map entries at once, so that their cache misses overlap.
        let places = self.rules.shape.walk(first, pages);
        for (_, unit, lpn) in places.clone() {
            self.ftl.prefetch(unit, lpn);
        }
        for (page, place) in (0..).zip(places.clone()) {
            let edge = (page == 0 && partial_head) || (page == pages - 1 && partial_tail);
            self.accept_page(&sub, (handle, page), place, edge, now)?;
        }
        // By now the entries are there, and name the blocks whose pages become invalid.
        if sub.operation == Operation::Write {
            for (_, unit, lpn) in places {
                self.ftl.prefetch_block_of(unit, lpn);
            }
        }
        Ok(())
    }

    /// One page of a sub-request, which lies at this die, unit and LPN of the unit. `edge`: only a part of it is meant.
    #[inline]
    fn accept_page(
        &mut self,
        sub: &SubRequest,
        (handle, page): (u32, u32),
        (die, unit, lpn): (u32, u32, u32),
        edge: bool,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        let left = if sub.fast_fail { self.kept_waiting(die, class_of(sub.operation), now) } else { None };
        let (kind, ready) = match sub.operation {
            Operation::Write => {
                let kind = if edge { OpKind::PartialWrite } else { OpKind::Write };
                // What is refused does not go over the link.
                (kind, if left.is_some() { now } else { self.link.receive(now, self.rules.link_page) })
            }
            Operation::Trim if edge => {
                // A device may ignore the parts of pages at the edges of a trimmed range.
                self.finish_page_at(handle, page, now);
                return Ok(());
            }
            Operation::Trim => (OpKind::Trim, self.reaches_die(now)),
            Operation::Read | Operation::Flush => {
                if self.was_never_written((die, unit, lpn)) {
                    self.finish_unmapped_read(handle, page, unit, lpn, now);
                    return Ok(());
                }
                (OpKind::Read, self.reaches_die(now))
            }
        };
        if let Some(left) = left {
            self.refuse_arriving(handle, page, left, now);
            return Ok(());
        }
        let owner = OwnerId::host(handle);
        let op = PageOp::new(owner, lpn, unit, page, (kind, sub.parity.cause_of(page)), ready);
        self.pass_map(die, PageOp { fast_fail: sub.fast_fail, ..op }, now)
    }

    /// Whether a page that is to be read was never written, and no write of it waits at its die.
    #[inline]
    pub(super) fn was_never_written(&mut self, (die, unit, lpn): (u32, u32, u32)) -> bool {
        !self.ftl.fully_mapped(unit)
            && self.ftl.lookup(unit, lpn).is_none()
            && !self.waits_at(die, unit, lpn)
            && self.has_entry(unit, lpn)
    }

    /// The pages of a sub-request, where any die may take them.
    fn accept_anywhere(
        &mut self,
        sub: &SubRequest,
        handle: u32,
        (first, pages): (u32, u32),
        is_partial: impl Fn(u32) -> bool,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        for page in 0..pages {
            let lpn = first + page;
            let is_whole_write = sub.operation == Operation::Write && !is_partial(page);
            let bound = if sub.fast_fail { self.die_bound_to(lpn, is_whole_write) } else { None };
            let left = bound.and_then(|die| self.kept_waiting(die, class_of(sub.operation), now));
            let (kind, ready) = match sub.operation {
                Operation::Write => {
                    let kind = if is_partial(page) { OpKind::PartialWrite } else { OpKind::Write };
                    (kind, if left.is_some() { now } else { self.link.receive(now, self.rules.link_page) })
                }
                Operation::Trim if is_partial(page) => {
                    self.finish_page_at(handle, page, now);
                    continue;
                }
                Operation::Trim => (OpKind::Trim, self.reaches_die(now)),
                Operation::Read | Operation::Flush => {
                    if self.ftl.home(lpn).is_none() && !self.page_is_awaited(lpn) {
                        self.finish_unmapped_read(handle, page, 0, lpn, now);
                        continue;
                    }
                    (OpKind::Read, self.reaches_die(now))
                }
            };
            if let Some(left) = left {
                self.refuse_arriving(handle, page, left, now);
                continue;
            }
            let owner = OwnerId::host(handle);
            let op = PageOp::new(owner, lpn, UNBOUND, page, (kind, sub.parity.cause_of(page)), ready);
            self.place_later(PageOp { fast_fail: sub.fast_fail, ..op }, now)?;
        }
        Ok(())
    }

    /// The pages of a sub-request, where dies share their blocks.
    fn accept_by_map(
        &mut self,
        sub: &SubRequest,
        handle: u32,
        (first, pages): (u32, u32),
        is_partial: impl Fn(u32) -> bool,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        for (page, (_, unit, lpn)) in (0..).zip(self.rules.shape.walk(first, pages)) {
            let fast = if sub.fast_fail { self.die_for(unit, lpn, sub.operation) } else { None };
            let left = fast.and_then(|die| self.kept_waiting(die, class_of(sub.operation), now));
            let (kind, ready) = match sub.operation {
                Operation::Write => {
                    let kind = if is_partial(page) { OpKind::PartialWrite } else { OpKind::Write };
                    (kind, if left.is_some() { now } else { self.link.receive(now, self.rules.link_page) })
                }
                Operation::Trim if is_partial(page) => {
                    self.finish_page_at(handle, page, now);
                    continue;
                }
                Operation::Trim => (OpKind::Trim, self.reaches_die(now)),
                Operation::Read | Operation::Flush => {
                    if self.ftl.lookup(unit, lpn).is_none() && !self.is_on_link(unit, lpn) {
                        self.finish_unmapped_read(handle, page, unit, lpn, now);
                        continue;
                    }
                    (OpKind::Read, self.reaches_die(now))
                }
            };
            if let Some(left) = left {
                self.refuse_arriving(handle, page, left, now);
                continue;
            }
            let owner = OwnerId::host(handle);
            let op = PageOp::new(owner, lpn, unit, page, (kind, sub.parity.cause_of(page)), ready);
            self.interrupted |= !self.is_background(owner);
            match &mut self.superblocks {
                Some(blocks) if ready > now || blocks.lands.contains_key(&(unit, lpn)) => {
                    blocks.land_later(op)
                }
                _ => self.bind(op, now)?,
            }
        }
        Ok(())
    }
}
