//! Sub-requests that are not done: each is open until all its pages are served or refused, and is answered then.

use harmonia_types::{Blame, Operation, ParityPages, SimDuration, SimTime};

use super::owner::OwnerId;
use super::{Device, SubCompletion, SubRefusal, SubRequest};
use crate::probe::{Origin, Probe};

/// A sub-request some of whose pages are not done.
#[derive(Debug, Clone, Copy)]
pub(super) struct SubState {
    pub token: u64,
    /// When it was submitted, before any link latency.
    pub issued: SimTime,
    /// When it should be done.
    pub deadline: SimTime,
    pub remaining: u32,
    pub parity: ParityPages,
    pub edges: Edges,
    pub background: bool,
    pub handle: u16,
    /// The page operation that finished last so far (ties: the lowest page).
    finish: SimTime,
    last_page: u32,
    blame: Blame,
    met_gc: bool,
    /// A page met a collection of its own plane; known where every plane owns its blocks.
    pub met_own_plane: bool,
    operation: Operation,
    /// Power was lost since it was submitted: nobody waits for it.
    pub is_silent: bool,
    /// How long the controller had it before its pages went on.
    pub in_controller: SimDuration,
}

impl SubState {
    /// Of what the blame of a page has on the link, the controller's part is apart.
    #[inline]
    pub fn with_controller(&self, mut blame: Blame) -> Blame {
        if self.in_controller > SimDuration::ZERO {
            blame.link -= self.in_controller.0;
            blame.controller += self.in_controller.0;
        }
        blame
    }
}

/// Where a write covers pages in part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Edges {
    /// Its last page, counted from 0.
    pub last: u32,
    /// Bytes of the first page, and of the last if that is another, that it does not write.
    pub left_out: [u32; 2],
}

impl Edges {
    /// Bytes of a page that it does not write.
    pub fn left_out_of(&self, page: u32) -> u32 {
        match page {
            0 => self.left_out[0],
            page if page == self.last => self.left_out[1],
            _ => 0,
        }
    }
}

impl<P: Probe> Device<P> {
    #[inline]
    pub(super) fn open_sub(&mut self, sub: &SubRequest, issued: SimTime, pages: u32) -> u32 {
        if sub.background {
            self.open_background();
        }
        self.subs.insert(SubState {
            token: sub.token,
            issued,
            deadline: sub.deadline.unwrap_or(issued + self.rules.slack),
            remaining: pages,
            parity: sub.parity,
            edges: Edges::default(),
            background: sub.background,
            handle: sub.handle,
            finish: SimTime::ZERO,
            last_page: u32::MAX,
            blame: Blame::default(),
            met_gc: false,
            met_own_plane: false,
            operation: sub.operation,
            is_silent: false,
            in_controller: SimDuration::ZERO,
        })
    }

    /// A sub-request without page operations is done; only the link's latency was spent.
    pub(super) fn finish_at_once(&mut self, token: u64, issued: SimTime, now: SimTime) {
        let blame = self.entered(issued, now);
        self.completions.push(SubCompletion { token, finish: now, blame, met_gc: false, is_parity: false });
    }

    /// Where the time went until a sub-request reached the dies or the cache: on the link, and in the controller.
    pub(super) fn entered(&self, issued: SimTime, now: SimTime) -> Blame {
        let controller = self.in_controller(issued, now);
        Blame { link: ((now - issued) - controller).0, controller: controller.0, ..Blame::default() }
    }

    /// How much of that was in the controller.
    pub(super) fn in_controller(&self, issued: SimTime, now: SimTime) -> SimDuration {
        (now - issued) - self.rules.link_latency
    }

    /// A page that touches neither flash nor link is done.
    pub(super) fn finish_page_at(&mut self, sub: u32, page: u32, now: SimTime) {
        let blame = Blame { link: (now - self.subs[sub].issued).0, ..Blame::default() };
        self.finish_page(sub, page, now, blame, false);
    }

    /// A read of a page that was never written costs the link only.
    pub(super) fn finish_unmapped_read(&mut self, sub: u32, page: u32, unit: u32, lpn: u32, now: SimTime) {
        let token = self.subs[sub].token;
        self.probe.read(None, self.ftl.device_lpn(unit, lpn), Origin { token, page });
        let finish = self.link.take(now, self.rules.link_page);
        let blame = Blame { link: (finish - self.subs[sub].issued).0, ..Blame::default() };
        self.finish_page(sub, page, finish, blame, false);
    }

    /// Counts an operation of the host that met collection and is done.
    #[cold]
    fn count_met(&mut self, handle: u32) {
        let sub = &self.subs[handle];
        let met_gc = &mut self.counters.met_gc;
        let of = match (sub.operation, sub.met_own_plane) {
            (Operation::Read, true) => &mut met_gc.own_reads,
            (Operation::Read, false) => &mut met_gc.sibling_reads,
            (Operation::Write, true) => &mut met_gc.own_writes,
            (Operation::Write, false) => &mut met_gc.sibling_writes,
            (Operation::Trim | Operation::Flush, _) => return,
        };
        of.add(sub.finish - sub.issued);
    }

    /// A page of a sub-request is done, and where the time since its submission went.
    #[inline]
    pub(super) fn finish_page(
        &mut self,
        handle: u32,
        page: u32,
        finish: SimTime,
        blame: Blame,
        met_gc: bool,
    ) {
        self.finish_plain_page(handle, page, finish, blame, met_gc);
    }

    /// The same on the way that most pages take.
    #[expect(clippy::inline_always, reason = "a part of every page that is alone on its die")]
    #[inline(always)]
    pub(super) fn finish_plain_page(
        &mut self,
        handle: u32,
        page: u32,
        finish: SimTime,
        blame: Blame,
        met_gc: bool,
    ) {
        let sub = &mut self.subs[handle];
        let blame = sub.with_controller(blame);
        debug_assert_eq!(blame.total(), (finish - sub.issued).0, "blame sums to latency");
        if let Some(follower) = self.probe.follower() {
            follower.is_done(sub.token, page, finish, &blame);
        }
        let is_only = sub.remaining == 1 && sub.last_page == u32::MAX;
        if is_only && !sub.is_silent && !(met_gc && self.rules.tells_planes) {
            return self.finish_only_page(handle, page, finish, &blame, met_gc);
        }
        sub.met_gc |= met_gc;
        // Later, or as late and a lower page; before the first, `last_page` is the highest number.
        if (finish, sub.last_page) > (sub.finish, page) {
            sub.finish = finish;
            sub.last_page = page;
            sub.blame = blame;
        }
        sub.remaining -= 1;
        if sub.remaining == 0 {
            self.close_sub(handle);
        }
    }

    /// The only page of a sub-request is done. Apart, so that a page of several saves no registers for it.
    #[inline(never)]
    fn finish_only_page(&mut self, handle: u32, page: u32, finish: SimTime, blame: &Blame, met_gc: bool) {
        let sub = &self.subs[handle];
        let done = SubCompletion {
            token: sub.token,
            finish,
            blame: *blame,
            met_gc: met_gc || sub.met_gc,
            is_parity: sub.parity.is_parity(page),
        };
        self.completions.push(done);
        self.forget_sub(handle);
    }

    /// A page that asks to fail fast would wait for collection when it arrives.
    pub(super) fn refuse_arriving(&mut self, handle: u32, page: u32, left: SimDuration, now: SimTime) {
        let blame = Blame { link: (now - self.subs[handle].issued).0, ..Blame::default() };
        self.refuse_page(handle, page, left, blame, now);
    }

    /// A page that asks to fail fast would wait for collection that goes on for `left`; the time since its submission went
    /// as `blame` says.
    pub(super) fn refuse_page(
        &mut self,
        handle: u32,
        page: u32,
        left: SimDuration,
        blame: Blame,
        now: SimTime,
    ) {
        // The host is there, though it is turned away.
        self.interrupted |= !self.is_background(OwnerId::host(handle));
        let sub = &mut self.subs[handle];
        let blame = sub.with_controller(blame);
        debug_assert_eq!(blame.total(), (now - sub.issued).0, "blame sums to the time until the refusal");
        if let Some(follower) = self.probe.follower() {
            follower.is_refused(sub.token, page, now, &blame);
        }
        sub.remaining -= 1;
        let joins = |last: &&mut SubRefusal| {
            (last.token, last.at, last.blame, last.first + last.pages) == (sub.token, now, blame, page)
        };
        match self.refusals.last_mut().filter(joins) {
            Some(last) => {
                last.pages += 1;
                last.left = last.left.max(left);
            }
            None => {
                let token = sub.token;
                self.refusals.push(SubRefusal { token, first: page, pages: 1, at: now, left, blame });
            }
        }
        if sub.remaining == 0 {
            self.close_sub(handle);
        }
    }

    /// All pages of a sub-request are served or refused.
    fn close_sub(&mut self, handle: u32) {
        let sub = &self.subs[handle];
        let is_served = sub.last_page != u32::MAX && !sub.is_silent;
        if is_served {
            let done = SubCompletion {
                token: sub.token,
                finish: sub.finish,
                blame: sub.blame,
                met_gc: sub.met_gc,
                is_parity: sub.parity.is_parity(sub.last_page),
            };
            let counts = sub.met_gc && self.rules.tells_planes && !sub.background;
            self.completions.push(done);
            if counts {
                self.count_met(handle);
            }
        }
        self.forget_sub(handle);
    }

    #[inline]
    fn forget_sub(&mut self, handle: u32) {
        self.close_background(handle);
        self.subs.release(handle);
    }

    /// A page of a sub-request will not be served.
    pub(super) fn forget_page(&mut self, sub: u32) {
        self.subs[sub].remaining -= 1;
        if self.subs[sub].remaining == 0 {
            self.close_background(sub);
            self.subs.release(sub);
        }
    }
}
