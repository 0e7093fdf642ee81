//! What a device is given to do: a sub-request at a time, or many of them at their times.

use harmonia_types::{Blame, Operation, SimTime};

use super::life::{AtEnd, Life};
use super::owner::OwnerId;
use super::queue::{OpKind, PageOp};
use super::settled::Place;
use super::{Device, DeviceFailure, SubCompletion, SubRefusal, SubRequest};
use crate::probe::Probe;

/// So many sub-requests ahead of its turn the map entry of a page is asked for, and so many what is noted of the block that it names.
const AHEAD: usize = 16;
const BLOCK: usize = 6;

/// How far a device is on its way through sub-requests that it is given with their times.
#[derive(Debug)]
pub struct Passage {
    /// The next of them.
    turn: usize,
    /// When the last one came that it has been given, if one has.
    last: Option<SimTime>,
    /// Where those that come next lie, if they are one page each.
    places: [Option<Place>; AHEAD],
}

/// Whether these are parts of one request.
#[inline]
fn is_of_one(one: &SubRequest, other: &SubRequest) -> bool {
    one.token as u32 == other.token as u32
}

impl Passage {
    /// The number of the next one.
    #[inline]
    pub fn turn(&self) -> usize {
        self.turn
    }
}

impl<P: Probe> Device<P> {
    /// Hands a sub-request to the device at `now`. One that has failed ignores it.
    ///
    /// # Errors
    /// If the device has no free block where it needs one.
    ///
    /// # Panics
    /// If the range lies beyond the logical space: the array's layout is wrong.
    #[inline]
    pub fn submit(&mut self, now: SimTime, sub: SubRequest) -> Result<(), DeviceFailure> {
        debug_assert!(self.next_wakeup() >= now, "submitted at {now} before earlier events ran");
        #[cfg(debug_assertions)]
        assert!(self.ran_to <= now, "submitted at {now} to a device that is {} already", self.ran_to);
        if !self.takes_all {
            return self.submit_at_end(now, sub);
        }
        self.take(now, sub)
    }

    #[inline]
    fn take(&mut self, now: SimTime, sub: SubRequest) -> Result<(), DeviceFailure> {
        if let Some(place) = self.plain_place(&sub) {
            // The page is looked up when its die is ready for it; until then the entry is on its way to the cache.
            self.ftl.prefetch(place.unit, place.lpn);
            return self.submit_plain(now, &sub, place);
        }
        if self.rules.enters_at_once {
            self.accept(now, sub, now)?;
            self.answer_everywhere(now);
            self.tell_queue(now);
            Ok(())
        } else {
            let overhead = self.rules.controller.command_overhead;
            let enters = self.controller.take(now + self.rules.link_latency, overhead);
            self.ingress.push_back((enters, sub, now));
            Ok(())
        }
    }

    /// A sub-request comes to a drive that does not take all of them: it has failed, or is read-only.
    #[cold]
    fn submit_at_end(&mut self, now: SimTime, sub: SubRequest) -> Result<(), DeviceFailure> {
        if self.failed.is_some() {
            return Ok(());
        }
        let (first, pages) = self.pages_of(&sub);
        let is_refused = matches!(sub.operation, Operation::Write | Operation::Trim) && pages > 0;
        let fails = |life: &&mut Box<Life>| is_refused && life.at_end != AtEnd::Takes;
        let Some(life) = self.life.as_mut().filter(fails) else { return self.take(now, sub) };
        debug_assert!(first + u64::from(pages) <= u64::from(self.rules.shape.logical_pages));
        life.failed_pages += u64::from(pages);
        if life.at_end == AtEnd::Refuses {
            self.refusals.push(SubRefusal {
                token: sub.token,
                first: 0,
                pages,
                at: now,
                left: harmonia_types::SimDuration::ZERO,
                blame: Blame::default(),
            });
        } else {
            self.completions.push(SubCompletion {
                token: sub.token,
                finish: now,
                blame: Blame::default(),
                met_gc: false,
                is_parity: sub.parity.is_parity(pages - 1),
            });
        }
        Ok(())
    }

    /// The first page of a sub-request, and how many it touches.
    fn pages_of(&self, sub: &SubRequest) -> (u64, u32) {
        let (first, _) = self.rules.page_size.divide(sub.offset);
        let (last, tail) = self.rules.page_size.divide(sub.offset + sub.length);
        let end = last + u64::from(tail != 0);
        (first, if sub.length == 0 { 0 } else { (end - first) as u32 })
    }

    /// [`Device::submit`] of one whole page that [goes the shorter way](Device::plain_place).
    #[inline]
    fn submit_plain(
        &mut self,
        now: SimTime,
        sub: &SubRequest,
        Place { die, unit, lpn, is_read }: Place,
    ) -> Result<(), DeviceFailure> {
        debug_assert!(self.next_wakeup() >= now, "submitted at {now} before earlier events ran");
        let handle = self.open_sub(sub, now, 1);
        // A write that was settled may begin later.
        self.last_activity = self.last_activity.max(now);
        if is_read && self.was_never_written((die, unit, lpn)) {
            self.finish_unmapped_read(handle, 0, unit, lpn, now);
        } else {
            let (kind, ready) = if is_read {
                (OpKind::Read, self.reaches_die(now))
            } else {
                (OpKind::Write, self.link.receive(now, self.rules.link_page))
            };
            let owner = OwnerId::host(handle);
            let op = PageOp::new(owner, lpn, unit, 0, (kind, sub.parity.cause_of(0)), ready);
            self.enqueue(die, op, now)?;
            if !is_read {
                self.ftl.prefetch_block_of(unit, lpn);
            }
        }
        self.answer_everywhere(now);
        self.tell_queue(now);
        Ok(())
    }

    /// Where a sub-request lies that reads or writes one whole page and goes the shorter way, which `plain` has.
    #[inline]
    fn plain_place(&self, sub: &SubRequest) -> Option<Place> {
        if self.goes_plain() { self.whole_page(sub) } else { None }
    }

    /// Whether reads and writes of one whole page go the shorter way now.
    #[inline]
    fn goes_plain(&self) -> bool {
        self.is_plain && self.rules.enters_at_once && self.background.is_none() && self.failed.is_none()
    }

    /// Where a sub-request lies that reads or writes one whole page in the usual way; `None` for all others, and where allocation is
    /// dynamic.
    #[inline]
    fn whole_page(&self, sub: &SubRequest) -> Option<Place> {
        let shape = &self.rules.shape;
        let (page, within) = self.rules.page_size.divide(sub.offset);
        let is_whole = within == 0 && sub.length == u64::from(shape.page_size);
        let is_read = sub.operation == Operation::Read;
        let is_usual = (is_read || sub.operation == Operation::Write) && !sub.fast_fail && !sub.background;
        let is_here = page < u64::from(shape.logical_pages) && !shape.is_dynamic();
        (is_whole && is_usual && is_here).then(|| {
            let (die, unit, lpn) = shape.locate(page as u32);
            Place { die, unit, lpn, is_read }
        })
    }

    /// Takes sub-requests at their times, in order, and lets time pass up to `until`: no earlier than the last of them. What
    /// happens at `until` by itself because of a sub-request of that moment is left for later, as after [`Device::submit`].
    ///
    /// # Errors
    /// As [`Device::submit`] and [`Device::advance_until`].
    pub fn run_through(
        &mut self,
        arriving: &[(SimTime, SubRequest)],
        until: SimTime,
    ) -> Result<(), DeviceFailure> {
        if arriving.is_empty() {
            return self.advance_until(until, false);
        }
        let mut passage = self.begin_passage(arriving);
        self.pass(&mut passage, arriving, arriving.len(), until)?;
        self.end_passage(&passage, until)
    }

    /// [`Device::run_through`] bit by bit, where some of these sub-requests may not be for this device after all. It
    /// [passes](Self::pass) as many as are known to be, [leaves one out](Self::leave_out) that is not, and so on to the
    /// [end](Self::end_passage).
    #[inline]
    pub fn begin_passage(&self, arriving: &[(SimTime, SubRequest)]) -> Passage {
        let mut passage = Passage { turn: 0, last: None, places: [None; AHEAD] };
        for turn in 0..AHEAD {
            passage.places[turn] = self.look_ahead(arriving, turn);
        }
        passage
    }

    /// Where a sub-request lies that reads or writes one page in the usual way, and asks the caches for its map entry.
    #[inline]
    fn look_ahead(&self, arriving: &[(SimTime, SubRequest)], turn: usize) -> Option<Place> {
        let place = arriving.get(turn).and_then(|(_, sub)| self.whole_page(sub));
        if let Some(Place { unit, lpn, .. }) = place {
            self.ftl.prefetch(unit, lpn);
        }
        place
    }

    /// The next sub-request is none for this device, or is dealt with: where it lies, if it is one page in the usual way.
    #[inline]
    pub(super) fn go_past(&self, passage: &mut Passage, arriving: &[(SimTime, SubRequest)]) -> Option<Place> {
        let turn = passage.turn;
        passage.turn += 1;
        let ahead = self.look_ahead(arriving, turn + AHEAD);
        let due = std::mem::replace(&mut passage.places[turn % AHEAD], ahead);
        if let Some(Place { unit, lpn, is_read: false, .. }) = passage.places[(turn + BLOCK) % AHEAD] {
            self.ftl.prefetch_block_of(unit, lpn);
        }
        due
    }

    /// The next sub-request is for another device.
    #[inline]
    pub fn leave_out(&self, passage: &mut Passage, arriving: &[(SimTime, SubRequest)]) {
        self.go_past(passage, arriving);
    }

    /// Lets time pass up to `until` when all have been passed or left out. What happens at `until` by itself because of a sub-request of
    /// that moment is left for later.
    ///
    /// # Errors
    /// As [`Device::advance_until`].
    pub fn end_passage(&mut self, passage: &Passage, until: SimTime) -> Result<(), DeviceFailure> {
        if passage.last != Some(until) {
            self.advance_until(until, false)?;
        }
        self.await_all_settled(until);
        Ok(())
    }

    /// Whether the completion of a write of one page may be known before its end.
    #[inline]
    pub fn may_settle(&self) -> bool {
        self.settling.is_possible()
    }

    /// Takes sub-requests at their times, in order, up to the one of this number. Nothing else reaches the device before `until`,
    /// which is no earlier than the last of all. Nothing happens between sub-requests of one moment whose tokens have the same lower
    /// half: they are parts of one request.
    ///
    /// A sub-request of one page is looked up some time before its turn, so that what it will need is on its way to the caches: first its map
    /// entry, then the block that this names.
    ///
    /// # Errors
    /// As [`Device::submit`] and [`Device::advance_until`].
    #[inline]
    pub fn pass(
        &mut self,
        passage: &mut Passage,
        arriving: &[(SimTime, SubRequest)],
        end: usize,
        until: SimTime,
    ) -> Result<(), DeviceFailure> {
        while passage.turn < end {
            let turn = passage.turn;
            let due = self.go_past(passage, arriving);
            let places = &passage.places;
            let (at, sub) = &arriving[turn];
            let joins = turn > 0 && arriving[turn - 1].0 == *at && is_of_one(&arriving[turn - 1].1, sub);
            if !joins {
                self.advance_until(*at, false)?;
            }
            passage.last = Some(*at);
            let Some(place) = due.filter(|_| self.goes_plain()) else {
                self.await_all_settled(*at);
                self.submit(*at, *sub)?;
                continue;
            };
            let is_write = |place: Option<Place>| place.is_some_and(|place| !place.is_read);
            let only_plain_before = |begin: SimTime| {
                for later in turn + 1..=turn + AHEAD {
                    match arriving.get(later) {
                        Some(&(at, _)) if at < begin && is_write(places[later % AHEAD]) => {}
                        next => return next.map_or(begin < until, |next| next.0 >= begin),
                    }
                }
                false
            };
            let may_settle = !place.is_read && self.settling.is_possible();
            if !(may_settle && self.settle_write(*at, sub, place, only_plain_before)) {
                self.await_settled(place.die, *at);
                self.submit_plain(*at, sub, place)?;
            }
        }
        Ok(())
    }
}
