//! The shortest way of what most requests are: a host write, alone on its die.
//!
//! ```text
//! accept ─► queue of the die ─► data is there: page in, program ─► done
//!               `─ anything else: `dispatch`, `run`, `account`
//! ```
//!
//! Where dies have pins of their own and a die that has nothing to collect serves the head of its queue, such a write meets
//! few of the questions that a device has to answer in general. Here they are asked once, when the device is made
//! ([`Device::is_plain`]), and the others one by one. What is not plain goes the general way. Both ways lead to the same
//! state of the device after each event, so a die may change between them at any time. In a checked run, or where somebody
//! watches the planes, all go the general way.

use harmonia_types::{Blame, Operation, SimDuration, SimTime};

use super::owner::OwnerId;
use super::queue::{OpKind, PageOp};
use super::{Device, DeviceFailure, SubRequest};
use crate::die::collection::Collection;
use crate::die::command::{Activity, NO_OP};
use crate::probe::Probe;

/// Where a logical page lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub die: u32,
    pub unit: u32,
    /// In the unit.
    pub lpn: u32,
}

impl<P: Probe> Device<P> {
    /// Whether nothing of the device stands in the way of a write that is alone on its die.
    pub(super) fn is_plain(&self) -> bool {
        let rules = &self.rules;
        let is_watched = self.probe.audits() || self.probe.watches_planes();
        let has_queues = self.lanes.is_some()
            || self.placement.is_some()
            || self.superblocks.is_some()
            || self.cache.is_some();
        let packs = rules.shape.packing.packs();
        let has_rules = packs || rules.by_page || rules.reads_first || rules.multi_plane || rules.suspends;
        let by_head = rules.geometry.own_pins && self.schedule_needs.serves_head;
        let is_free = rules.controller.command_overhead == SimDuration::ZERO;
        by_head
            && is_free
            && !(is_watched || has_queues || has_rules || rules.global || self.governor.is_some())
    }

    /// Lets time pass up to and including `until`, or until it `stops`, where nothing but dies can have anything to do.
    #[inline]
    pub(super) fn advance_plain(
        &mut self,
        until: SimTime,
        stops: impl Fn(&Self) -> bool,
    ) -> Result<(), DeviceFailure> {
        while let Some((time, die)) = self.wakes.peek()
            && time <= until
            && !stops(self)
        {
            self.events += 1;
            #[cfg(debug_assertions)]
            {
                self.ran_to = time;
            }
            let die = die as u32;
            match self.dies[die as usize].activity {
                Activity::Host(op) => self.end_plain(die, op, time)?,
                Activity::Idle => self.begin_plain(die, time)?,
                Activity::Settled => self.end_settled(die, time)?,
                _ => self.wake(die, time)?,
            }
            self.answer_waiting(die, time);
            self.answer_everywhere(time);
            self.look_at(die, time);
        }
        Ok(())
    }

    /// A host operation that was alone on its die is done.
    #[inline]
    fn end_plain(&mut self, die: u32, handle: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let slot = &mut self.dies[die as usize];
        let op = &self.ops[handle];
        if op.kind != OpKind::Write || slot.command.summaries > 0 || self.background.is_some() {
            return self.wake(die, now);
        }
        let (sub, page, ready) = (op.owner.sub(), op.page, op.ready);
        let issued = self.subs[sub].issued;
        if self.rules.tells_planes && slot.has_collected_since(issued) {
            return self.wake(die, now);
        }
        let (start, array, transfer) = (slot.command.start, slot.command.array, slot.command.transfer);
        let met_gc = slot.has_collected_since(issued);
        let queue_gc = slot.collected_between(ready, start);
        slot.rest();
        let blame = Blame {
            service: array.0,
            transfer: transfer.0,
            queue_host: ((start - ready) - queue_gc).0,
            queue_gc: queue_gc.0,
            link: (ready - issued).0,
            ..Blame::NONE
        };
        self.ops.release(handle);
        self.finish_page(sub, page, now, blame, met_gc);
        self.last_activity = now;
        self.host_went_first(now);
        self.begin_plain(die, now)
    }

    /// A host write that was settled before is done.
    #[inline]
    fn end_settled(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        self.dies[die as usize].rest();
        self.last_activity = now;
        self.begin_plain(die, now)
    }

    /// An idle die begins what is at the head of its queue, if that is a write and nothing is to be collected.
    #[inline]
    fn begin_plain(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let slot = &self.dies[die as usize];
        let rests = matches!(slot.collection, Collection::Rest) && slot.held_since == SimTime::NEVER;
        let head = slot.head;
        if !rests || self.background.is_some() || (head == NO_OP && self.looks_when_idle()) {
            return self.dispatch(die, now);
        }
        if head == NO_OP {
            self.wakes.clear(die as usize);
            return Ok(());
        }
        let op = &self.ops[head];
        if op.ready > now {
            self.wakes.set(die as usize, op.ready);
            return Ok(());
        }
        if op.kind != OpKind::Write || self.index.is_some() || op.fast_fail || self.may_be_low(die) {
            return self.dispatch(die, now);
        }
        let (next, unit, lpn, cause, origin) = (op.next, op.unit, op.lpn, op.cause, Some(self.origin(op)));
        let slot = &mut self.dies[die as usize];
        slot.waiting -= 1;
        slot.head = next;
        match next {
            NO_OP => slot.tail = NO_OP,
            next => self.ops[next].previous = NO_OP,
        }
        self.last_activity = now;
        let is_within = self.ftl.program_within(unit, lpn, cause, origin, &mut self.probe);
        // Where a block is opened or closed, somebody may have to hear of it.
        let summaries = if is_within {
            0
        } else {
            let op = self.ops[head];
            self.write_page(die, &op, self.to(&op), now)?
        };
        self.dies[die as usize].exhausted = false;
        let (page_in, program) = (self.rules.page_in, self.rules.only_program_time());
        let command = self.dies[die as usize].begin(Activity::Host(head), now);
        // With pins of its own, nothing comes between its steps: they are over as soon as it has begun.
        command.pages = 1;
        (command.transfer, command.array, command.summaries) = (page_in, program, summaries);
        self.wakes.set(die as usize, now + page_in + program);
        Ok(())
    }

    /// Whether a look at a die's thresholds may change anything.
    #[inline]
    pub(super) fn may_be_low(&self, die: u32) -> bool {
        let free = self.least_free(die);
        free <= self.starts_at() || (free <= self.rules.shape.soft && !self.registered)
    }

    /// Where a sub-request lies that writes one whole page and goes the shortest way.
    #[inline]
    pub(super) fn plain_place(&self, sub: &SubRequest) -> Option<Place> {
        if self.goes_plain() { self.whole_page(sub) } else { None }
    }

    /// Whether writes of one whole page go the shortest way now.
    #[inline]
    fn goes_plain(&self) -> bool {
        self.is_plain && self.rules.enters_at_once && self.background.is_none() && self.failed.is_none()
    }

    /// Where a sub-request lies that writes one whole page in the usual way; `None` for all others, and where allocation is
    /// dynamic.
    #[inline]
    fn whole_page(&self, sub: &SubRequest) -> Option<Place> {
        let shape = &self.rules.shape;
        let (page, within) = self.rules.page_size.divide(sub.offset);
        let is_whole = within == 0 && sub.length == u64::from(shape.page_size);
        let is_usual = sub.operation == Operation::Write && !sub.fast_fail && !sub.background;
        let is_here = page < u64::from(shape.logical_pages) && !shape.is_dynamic();
        (is_whole && is_usual && is_here).then(|| {
            let (die, unit, lpn) = shape.locate(page as u32);
            Place { die, unit, lpn }
        })
    }

    /// Takes sub-requests at their times, in order, and lets time pass up to `until`: no earlier than the last of them. What
    /// happens at `until` by itself because of a sub-request of that moment is left for later, as after [`Device::submit`].
    ///
    /// Every write of one page is looked up some time before its turn, so that what it will need is on its way to the caches:
    /// first its map entry, then the block that this names.
    ///
    /// # Errors
    /// As [`Device::submit`] and [`Device::advance_until`].
    pub fn run_through(
        &mut self,
        arriving: &[(SimTime, SubRequest)],
        until: SimTime,
    ) -> Result<(), DeviceFailure> {
        const AHEAD: usize = 16;
        const BLOCK: usize = 6;
        let Some(&(last, _)) = arriving.last() else { return self.advance_until(until, false) };
        let mut places = [None; AHEAD];
        for turn in 0..arriving.len() + AHEAD {
            let place = arriving.get(turn).and_then(|(_, sub)| self.whole_page(sub));
            let due = std::mem::replace(&mut places[turn % AHEAD], place);
            if let Some(Place { unit, lpn, .. }) = place {
                self.ftl.prefetch(unit, lpn);
            }
            if let Some(Place { unit, lpn, .. }) = places[(turn + BLOCK) % AHEAD] {
                self.ftl.prefetch_block_of(unit, lpn);
            }
            let Some((at, sub)) = turn.checked_sub(AHEAD).map(|turn| &arriving[turn]) else { continue };
            self.advance_until(*at, false)?;
            let Some(place) = due.filter(|_| self.goes_plain()) else {
                self.await_all_settled(*at);
                self.submit(*at, *sub)?;
                continue;
            };
            let only_plain_before = |begin: SimTime| {
                for later in turn + 1 - AHEAD..=turn {
                    match arriving.get(later) {
                        Some(&(at, _)) if at < begin && places[later % AHEAD].is_some() => {}
                        next => return next.map_or(begin < until, |next| next.0 >= begin),
                    }
                }
                false
            };
            if !(self.settling.is_possible() && self.settle_write(*at, sub, place, only_plain_before)) {
                self.await_settled(place.die, *at);
                self.submit_plain(*at, sub, place)?;
            }
        }
        if last != until {
            self.advance_until(until, false)?;
        }
        self.await_all_settled(until);
        Ok(())
    }

    /// [`Device::submit`] of the write of one whole page that [goes the shortest way](Device::plain_place).
    #[inline]
    pub(super) fn submit_plain(
        &mut self,
        now: SimTime,
        sub: &SubRequest,
        Place { die, unit, lpn }: Place,
    ) -> Result<(), DeviceFailure> {
        debug_assert!(self.next_wakeup() >= now, "submitted at {now} before earlier events ran");
        let handle = self.open_sub(sub, now, 1);
        // A write that was settled may begin later.
        self.last_activity = self.last_activity.max(now);
        let ready = self.link.receive(now, self.rules.link_page);
        let owner = OwnerId::host(handle);
        let op = PageOp::new(owner, lpn, unit, 0, (OpKind::Write, sub.parity.cause_of(0)), ready);
        self.enqueue(die, op, now)?;
        self.answer_everywhere(now);
        self.tell_queue(now);
        Ok(())
    }

    /// Puts an operation at the end of its die's queue; `false` if it belongs elsewhere, or somebody has to hear of it.
    #[inline]
    pub(super) fn enqueue_plain(
        &mut self,
        die: u32,
        op: &PageOp,
        now: SimTime,
    ) -> Result<bool, DeviceFailure> {
        let slot = &self.dies[die as usize];
        let tail = slot.tail;
        let is_last = tail == NO_OP || self.ops[tail].ready <= op.ready;
        if !is_last || op.fast_fail || self.index.is_some() || self.background.is_some() {
            return Ok(false);
        }
        self.interrupted = true;
        let (ready, is_idle) = (op.ready, slot.is_idle());
        let handle = self.ops.insert(PageOp { previous: tail, ..*op });
        let slot = &mut self.dies[die as usize];
        slot.waiting += 1;
        slot.tail = handle;
        if tail != NO_OP {
            self.ops[tail].next = handle;
            return Ok(true);
        }
        slot.head = handle;
        if !is_idle {
            return Ok(true);
        }
        if ready <= now {
            self.begin_plain(die, now)?;
            self.answer_waiting(die, now);
            self.look_at(die, now);
        } else if ready < self.wakes.time_of(die as usize) {
            self.wakes.set(die as usize, ready);
        }
        Ok(true)
    }
}
