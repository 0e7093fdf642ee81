//! Writes that are settled when they arrive: their begin and their end are known, so that neither is an event.
//!
//! ```text
//! arrives ── link ──► begins ── page in, program ──► done
//!    `─ all of it is known here: no queue, no event, no bookkeeping of the operation
//! ```
//!
//! A plain write that finds its die free begins when its data is there and ends a fixed time later. Nothing can come between
//! if no other event of the device happens before it begins, and if what arrives until then are plain writes as well: their
//! data comes later over the same link. So the page is programmed at once. The die has no event, unless something else has to
//! wait for that end: then it works on a [settled](Activity::Settled) write from now on, and the end is an event.
//!
//! That end takes its place among events of the same moment as if it had been set when the write began. Only operations whose
//! data comes over the link in between are set earlier, and [`Device::begin_settling`] sees to it that none of them falls on it.
//!
//! Members that [run ahead](Device::run_through) settle writes, because only there what arrives next is known.

use harmonia_types::{Blame, SimDuration, SimTime};

use super::windows::State;
use super::{Device, SubCompletion, SubRequest};
use crate::die::Die;
use crate::die::collection::Collection;
use crate::die::command::{Activity, NO_OP};
use crate::probe::{Origin, Probe};

/// Where a logical page lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub die: u32,
    pub unit: u32,
    /// In the unit.
    pub lpn: u32,
    /// It is to be read, not written.
    pub is_read: bool,
}

/// What a device knows of writes that it has settled, if it may settle any.
#[derive(Debug, Clone, Default)]
pub(super) struct Settling {
    /// By die: until when it works on them; empty if none may be settled.
    ends: Vec<End>,
    /// The last of these times.
    last: SimTime,
    /// Dies that work on a settled write whose end is an event.
    awaited: u32,
}

/// Until when a die works on writes that are settled.
#[derive(Debug, Clone, Copy, Default)]
struct End {
    until: SimTime,
    /// Its place among events of the same moment.
    place: u64,
}

impl Settling {
    /// Whether any write may be settled.
    #[inline]
    pub fn is_possible(&self) -> bool {
        !self.ends.is_empty()
    }

    /// Writes that are no operations any more, though their dies work on them until an event.
    #[inline]
    pub fn awaited(&self) -> usize {
        self.awaited as usize
    }

    /// A die has come to the end of such a write.
    #[inline]
    pub fn has_ended(&mut self) {
        self.awaited -= 1;
    }
}

impl<P: Probe> Device<P> {
    /// Settles writes from now on, where any may be. No write of a later page may have its data at the moment at which this one
    /// ends: then the order of both would depend on when they were set.
    pub(super) fn begin_settling(&self) -> Settling {
        let rules = &self.rules;
        let (service, page) = (self.service(), rules.link_page);
        let comes_between = page == SimDuration::ZERO || service.0.is_multiple_of(page.0);
        let is_watched = self.probe.watches_levels() || self.probe.watches_planes();
        let is_possible = self.is_plain && !rules.background && !comes_between && !is_watched;
        Settling {
            ends: vec![End::default(); if is_possible { self.dies.len() } else { 0 }],
            ..Settling::default()
        }
    }

    /// How long a die works on a plain write.
    #[inline]
    fn service(&self) -> SimDuration {
        self.rules.page_in + self.rules.only_program_time()
    }

    /// Settles the plain write that arrives at `now`; `false` if that is not possible, and it has to go the way of all others.
    /// `only_plain_before`: whether nothing but plain writes arrives before a time.
    ///
    /// What the device does on the way to `now` has happened.
    #[inline]
    pub(super) fn settle_write(
        &mut self,
        now: SimTime,
        sub: &SubRequest,
        Place { die, unit, lpn, .. }: Place,
        only_plain_before: impl FnOnce(SimTime) -> bool,
    ) -> bool {
        let begin = self.link.free_at().max(now) + self.rules.link_page;
        let slot = &self.dies[die as usize];
        let is_idle = slot.is_idle() && slot.head == NO_OP && self.settling.ends[die as usize].until < begin;
        let is_free =
            is_idle && matches!(slot.collection, Collection::Rest) && slot.held_since == SimTime::NEVER;
        if !is_free
            || begin >= self.wakes.next_time()
            || self.window != State::None
            || self.may_be_low(die)
            || !only_plain_before(begin)
        {
            return false;
        }
        let origin = Some(Origin { token: sub.token, page: 0 });
        let cause = sub.parity.cause_of(0);
        if !self.ftl.program_within(unit, lpn, cause, origin, &mut self.probe) {
            // A block is opened or closed: somebody may have to hear of it.
            return false;
        }
        self.link.receive(now, self.rules.link_page);
        let (page_in, program) = (self.rules.page_in, self.rules.only_program_time());
        let until = begin + page_in + program;
        self.dies[die as usize].exhausted = false;
        self.settling.ends[die as usize] = End { until, place: self.wakes.reserve() };
        self.settling.last = self.settling.last.max(until);
        self.interrupted = true;
        self.last_activity = self.last_activity.max(begin);
        self.events += 2;
        let blame =
            Blame { service: program.0, transfer: page_in.0, link: (begin - now).0, ..Blame::default() };
        let is_parity = sub.parity.is_parity(0);
        self.completions.push(SubCompletion {
            token: sub.token,
            finish: until,
            blame,
            met_gc: false,
            is_parity,
        });
        true
    }

    /// From now on the end of what a die works on is an event, if it has yet to come.
    #[inline]
    pub(super) fn await_settled(&mut self, die: u32, now: SimTime) {
        if self.settling.last <= now {
            return;
        }
        let End { until, place } = self.settling.ends[die as usize];
        if until > now {
            let began = SimTime(until.0 - self.service().0);
            self.settling.ends[die as usize].until = SimTime::ZERO;
            self.dies[die as usize].begin(Activity::Settled, began);
            self.settling.awaited += 1;
            self.wakes.set_reserved(die as usize, until, place);
            self.events -= 1;
        } else {
            self.last_activity = self.last_activity.max(until);
        }
    }

    /// The same for every die: something comes that may concern any of them, or somebody may ask when the host was last served.
    #[inline]
    pub(super) fn await_all_settled(&mut self, now: SimTime) {
        if self.settling.last > now {
            (0..self.rules.shape.dies).for_each(|die| self.await_settled(die, now));
            self.settling.last = SimTime::ZERO;
        } else {
            self.last_activity = self.last_activity.max(self.settling.last);
        }
        let works = |die: &&Die| die.activity == Activity::Settled;
        debug_assert_eq!(self.dies.iter().filter(works).count(), self.settling.awaited());
    }
}
