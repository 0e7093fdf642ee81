//! Refusing: a page operation that asks to fail fast does not wait for collection.
//!
//! ```text
//! arrives  ─► collection keeps it waiting? ─ yes ─► refused at once          its data does not cross the link
//!                        no
//! waits    ─► an event is admitted or begins ahead of it ──► refused then    its data stays where it is
//!                        no
//! runs     ─► served, whatever begins behind it
//! ```
//!
//! Whether collection keeps an operation waiting depends on what its schedule lets go first ([`GivesWay`]). An operation that
//! goes between the steps of an event waits for one step at most and is not refused, until a unit of the die is at its hard
//! threshold and nothing goes first any more. An event that runs as one command keeps everything waiting. Where nothing
//! goes first, an operation is refused although it might have found a place in a command of the collection (io-parallel).
//!
//! A refused operation changes nothing. Later operations on its page go on as if it had not come. With dynamic allocation they
//! were sent to the die of a write that they wait for; if their page lies elsewhere, that write is served in spite of all.
//!
//! Source: IODA (SOSP 2021), whose devices answer "fast-fail" to reads that would wait for collection; what that means page by
//! page, for writes, and for operations in the queue is ours. Not refused: what waits for a page that another die's
//! collection programs here, and what a die serves late because its bus or link is busy.

use harmonia_types::{Blame, Bytes, SimDuration, SimTime};

use super::Device;
use super::queue::{OpKind, PageOp};
use crate::die::collection::Collection;
use crate::die::command::{Activity, NO_OP};
use crate::gc::schedule::{Class, GivesWay};
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// How long a die is likely to collect yet, if that keeps an operation of a class waiting that is in its queue, or
    /// enters it now.
    pub(super) fn kept_waiting(&self, die: u32, class: Class, now: SimTime) -> Option<SimDuration> {
        let slot = &self.dies[die as usize];
        // One that gives way to the host is off as soon as an operation enters.
        let is_due = matches!(&slot.collection, Collection::Admitted(event) if !event.yields());
        let stalls = slot.stalled && class == Class::Write;
        if !(slot.collects() || is_due || stalls) {
            return None;
        }
        let goes_first = match self.schedule_needs.gives_way {
            GivesWay::Never => false,
            GivesWay::ToReads => class == Class::Read && !slot.collects(),
            GivesWay::BetweenSteps => slot.activity != Activity::Event,
            GivesWay::Always => true,
        };
        let least = self.least_free(die);
        if goes_first && !(self.keeps_out(class) && self.is_pressing(die, least)) {
            return None;
        }
        self.collection_left(die, now, true).filter(|left| *left > SimDuration::ZERO)
    }

    /// Calls `visit(from, to, time left)` for every part of a range of bytes that collection would keep waiting if it were read
    /// now, in order; the time is the longest of the part's dies.
    pub fn collection_in(
        &self,
        offset: Bytes,
        length: Bytes,
        now: SimTime,
        visit: &mut dyn FnMut(Bytes, Bytes, SimDuration),
    ) {
        let (size, end) = (u64::from(self.rules.shape.page_size), offset + length);
        let pages = offset / size..end.div_ceil(size);
        // Of a long range it is faster to ask first whether there is any such die.
        let mut dies = 0..self.dies.len() as u32;
        if pages.end - pages.start > u64::from(dies.end)
            && !dies.any(|die| self.kept_waiting(die, Class::Read, now).is_some())
        {
            return;
        }
        let mut part: Option<(Bytes, Bytes, SimDuration)> = None;
        for page in pages {
            let left = self.read_is_kept_waiting(page as u32, now);
            let (from, to) = ((page * size).max(offset), ((page + 1) * size).min(end));
            part = match (part, left) {
                (Some((start, _, longest)), Some(left)) => Some((start, to, longest.max(left))),
                (None, Some(left)) => Some((from, to, left)),
                (part, None) => {
                    part.into_iter().for_each(|(from, to, left)| visit(from, to, left));
                    None
                }
            };
        }
        part.into_iter().for_each(|(from, to, left)| visit(from, to, left));
    }

    /// How long collection would keep the read of a page waiting.
    pub(super) fn read_is_kept_waiting(&self, lpn: u32, now: SimTime) -> Option<SimDuration> {
        let die = match self.rules.shape.is_dynamic() {
            true => self.ftl.home(lpn).map(|home| self.rules.shape.die_of(home)),
            false if self.superblocks.is_some() => {
                let (_, unit, in_unit) = self.rules.shape.locate(lpn);
                self.die_by_map(unit, in_unit)
            }
            false => Some(self.rules.shape.locate(lpn).0),
        };
        // What is in the cache, or in line for it, waits for no die.
        let die = die.filter(|_| !self.is_cached(lpn));
        die.and_then(|die| self.kept_waiting(die, Class::Read, now))
    }

    /// The longest of them; `None` if nothing would wait.
    pub fn collection_left_in(&self, offset: Bytes, length: Bytes, now: SimTime) -> Option<SimDuration> {
        let mut longest = None;
        self.collection_in(offset, length, now, &mut |_, _, left| longest = longest.max(Some(left)));
        longest
    }

    /// Collection of a die may have begun, or be about to, ahead of what waits there.
    #[inline]
    pub(super) fn answer_waiting(&mut self, die: u32, now: SimTime) {
        if self.fast_waiting > 0 {
            self.refuse_waiting(die, now);
        }
    }

    /// The same for all dies, if any other than the one at work may have been told to collect.
    #[inline]
    pub(super) fn answer_everywhere(&mut self, now: SimTime) {
        if self.fast_waiting > 0 && std::mem::take(&mut self.told_to_collect) {
            self.refuse_everywhere(now);
        }
    }

    #[cold]
    fn refuse_everywhere(&mut self, now: SimTime) {
        for die in 0..self.rules.shape.dies {
            self.refuse_waiting(die, now);
        }
        self.tell_queue(now);
    }

    /// Takes out of a die's queue what asks to fail fast and would wait for collection.
    fn refuse_waiting(&mut self, die: u32, now: SimTime) {
        if self.dies[die as usize].fast_waiting == 0 {
            return;
        }
        let left_by_class = [Class::Read, Class::Write].map(|class| self.kept_waiting(die, class, now));
        if left_by_class == [None; 2] {
            return;
        }
        let before = self.dies[die as usize].waiting;
        let mut handle = self.dies[die as usize].head;
        while handle != NO_OP && self.dies[die as usize].fast_waiting > 0 {
            let op = &self.ops[handle];
            let next = op.next;
            if op.fast_fail
                && let Some(left) = left_by_class[op.kind.class() as usize]
                && !self.leads_others(handle, &left_by_class)
            {
                self.refuse(die, handle, left, now);
            }
            handle = next;
        }
        if self.dies[die as usize].waiting < before {
            self.go_on_without(die, now);
        }
    }

    /// Whether a write must go on because others that stay wait behind it, and were sent after it to a die where their page
    /// does not lie. Only with dynamic allocation.
    fn leads_others(&self, handle: u32, left_by_class: &[Option<SimDuration>; 2]) -> bool {
        let op = &self.ops[handle];
        let Some(placement) = self.placement.as_ref().filter(|_| op.kind.writes()) else { return false };
        let lies_elsewhere = self.ftl.home(op.lpn).is_some_and(|home| home != op.unit);
        let stays = |other: &PageOp| {
            let goes = other.fast_fail && left_by_class[other.kind.class() as usize].is_some();
            other.is_on(op.unit, op.lpn) && !goes
        };
        lies_elsewhere && placement.bound(op.lpn) > 1 && self.waiting_from(op.next).any(stays)
    }

    /// An operation leaves the queue without having been served.
    fn refuse(&mut self, die: u32, handle: u32, left: SimDuration, now: SimTime) {
        let op = self.ops[handle];
        let sub = op.owner.sub();
        let is_background = self.is_background(op.owner);
        let is_blank =
            op.kind == OpKind::Read && self.lies_nowhere(&op) && !self.follows_another(die, handle);
        self.withdraw(die, handle);
        if is_blank {
            // What would have written its page was refused: it is one that was never written.
            self.finish_unmapped_read(sub, op.page, op.unit, op.lpn, now);
        } else {
            // Of the time since it was issued, that until it was ready belongs to the link.
            let ready = op.ready.min(now);
            let queue_gc = self.collected_between(die, ready, now);
            let queue_rebuild = self.background_between(die, ready, now);
            if self.probe.audits() {
                self.audit_waiting(die, (ready, now), (queue_gc, queue_rebuild));
            }
            let mut blame = Blame {
                link: (ready - self.subs[sub].issued).0,
                queue_gc: queue_gc.0,
                queue_rebuild: queue_rebuild.0,
                queue_host: ((now - ready) - queue_gc - queue_rebuild).0,
                ..Blame::default()
            };
            self.account_for_map(handle, &mut blame);
            if self.probe.follower().is_some() {
                let told = self.subs[sub].with_controller(blame);
                self.follow_refused(die, (ready, now), &told);
            }
            self.refuse_page(sub, op.page, left, blame, now);
        }
        if !is_background {
            self.note_done(die, now);
        }
    }

    /// Takes an operation that has not begun away from its die.
    pub(super) fn withdraw(&mut self, die: u32, handle: u32) {
        let op = self.ops[handle];
        self.take_out(die, handle);
        self.ops.release(handle);
        if let Some(placement) = &mut self.placement {
            placement.withdraw(&op, self.ftl.home(op.lpn));
            placement.finish(die);
        }
    }

    fn lies_nowhere(&self, op: &PageOp) -> bool {
        if self.rules.shape.is_dynamic() {
            self.ftl.home(op.lpn).is_none()
        } else {
            self.ftl.lookup(op.unit, op.lpn).is_none()
        }
    }

    /// Whether an earlier operation on its page waits or runs.
    fn follows_another(&self, die: u32, handle: u32) -> bool {
        let op = &self.ops[handle];
        let earlier = |&handle: &u32| Some(self.ops[handle].previous).filter(|&previous| previous != NO_OP);
        let same = |handle: u32| self.ops[handle].is_on(op.unit, op.lpn);
        std::iter::successors(Some(handle), earlier).skip(1).any(same)
            || self.dies[die as usize].running_ops().any(same)
    }

    /// How long a die collected between two moments: what its log holds, and the command that runs.
    pub(super) fn collected_between(&self, die: u32, from: SimTime, until: SimTime) -> SimDuration {
        let slot = &self.dies[die as usize];
        let overlap = |begin: SimTime, end: SimTime| end.min(until).saturating_since(begin.max(from));
        // The end of a suspended command is logged already.
        let runs = slot.runs_collection() && slot.activity != Activity::Suspending;
        let since = if runs { slot.command_began } else { slot.held_since };
        let running = overlap(since, until);
        slot.collected_between(from, until) + running
    }

    /// Operations have left a die's queue: an idle die looks at what still waits.
    pub(super) fn go_on_without(&mut self, die: u32, now: SimTime) {
        self.watch_queue(die, now);
        let slot = &mut self.dies[die as usize];
        if slot.head == NO_OP {
            slot.stalled = false;
            if std::mem::replace(&mut slot.held_since, SimTime::NEVER) != SimTime::NEVER {
                self.note_rest(die, now);
            }
        }
        let slot = &self.dies[die as usize];
        if slot.is_idle() && slot.head != NO_OP && now < self.wakes.time_of(die as usize) {
            self.wakes.set(die as usize, now);
        }
    }
}
