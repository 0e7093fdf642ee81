//! What members that run ahead of one another have yet to do, and what is known of the notices that they will send: see `ahead` and
//! `horizon`.

use harmonia_ssd::interface::Notice;
use harmonia_ssd::{Room, Slab, SubCompletion, SubRequest};
use harmonia_types::{Bytes, Completion, DeviceId, GcWait, HostRequest, Operation, RequestBlame, SimTime};

use super::mirrors::Mirrors;

/// What members that run ahead have yet to do.
#[derive(Debug, Clone, Default)]
pub(super) struct Ahead {
    /// By member: its operations, in order of arrival.
    pub inboxes: Vec<Vec<(SimTime, SubRequest)>>,
    pub requests: Slab<Begun>,
    /// What is known of the notices of members; used where somebody hears of them.
    pub quiet: Vec<Quiet>,
    /// Where somebody does: the members of all operations in the inboxes, in the order in which these came.
    pub order: Vec<u16>,
    /// Whether horizons are tried, where members are many.
    pub trials: Trials,
    /// By request, of those that have several operations: the one that finished last so far, and where; ties go to the
    /// lowest.
    pub last: Vec<Option<(u32, DeviceId, SubCompletion)>>,
    /// Where members hold copies for one another: how reads are given to them.
    pub mirrors: Option<Mirrors>,
}

impl Ahead {
    /// A member is directed to do something: what it would have sent is not known any more.
    pub fn forget_quiet(&mut self, member: DeviceId) {
        self.quiet[member.index()].until = SimTime::ZERO;
    }

    /// A member is done with an operation.
    #[inline]
    pub fn complete(&mut self, member: DeviceId, done: &SubCompletion, completes: impl FnOnce(&Completion)) {
        let (request, index) = (done.token as u32, (done.token >> 32) as u32);
        let begun = &mut self.requests[request];
        begun.met_gc |= done.met_gc;
        begun.remaining -= 1;
        if begun.is_whole {
            completes(&begun.completion(member, done));
            return self.requests.release(request);
        }
        let last = &mut self.last[request as usize];
        if last.is_none_or(|(last, _, latest)| (done.finish, last) > (latest.finish, index)) {
            *last = Some((index, member, *done));
        }
        if begun.remaining == 0
            && let Some((_, member, latest)) = last.take()
        {
            completes(&begun.completion(member, &latest));
            self.requests.release(request);
        }
    }
}

/// Whether horizons are worth a try: where they were not, all members go in step for a while before the next one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trials {
    /// How many gatherings the last pause had.
    pause: u32,
    /// So many go in step before the next try.
    left: u32,
}

impl Trials {
    /// Tests try often.
    const LONGEST: u32 = if cfg!(debug_assertions) { 1 } else { 63 };

    /// Whether the members are to go by horizons in what has been gathered now.
    pub fn is_a_try(&mut self) -> bool {
        let is_due = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_due
    }

    /// Horizons cost more than they saved.
    pub fn failed(&mut self) {
        self.pause = (2 * self.pause + 1).min(Self::LONGEST);
        self.left = self.pause;
    }

    /// Horizons saved more than they cost.
    pub fn held(&mut self) {
        self.pause = 0;
    }
}

/// A request some of whose operations are not done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    pub id: u64,
    offset: Bytes,
    length: Bytes,
    arrival: SimTime,
    pub operation: Operation,
    met_gc: bool,
    /// How long each of its operations is, where members hold copies of one piece.
    pub each: Option<Bytes>,
    /// Operations that are not done.
    pub remaining: u32,
    /// It is one operation.
    pub is_whole: bool,
}

impl Begun {
    #[inline]
    pub fn new(request: &HostRequest) -> Self {
        let HostRequest { id, offset, length, arrival, operation, .. } = *request;
        let (each, remaining) = (None, 0);
        Begun { id, offset, length, arrival, operation, met_gc: false, each, remaining, is_whole: false }
    }

    /// Its completion, given the operation that finished last.
    #[inline]
    pub fn completion(&self, member: DeviceId, latest: &SubCompletion) -> Completion {
        let Begun { id, offset, length, arrival, operation, met_gc, .. } = *self;
        let SubCompletion { finish, blame, .. } = *latest;
        debug_assert_eq!(blame.total(), (finish - arrival).0, "blame sums to latency");
        let gc_wait = (blame.queue_gc > 0).then_some(GcWait { member, ns: blame.queue_gc });
        let blame = RequestBlame { data: blame, ..RequestBlame::default() };
        Completion { id, operation, offset, length, arrival, finish, blame, met_gc, gc_wait }
    }
}

/// The token of an operation: its request, and its number there.
#[inline]
pub(super) fn token(request: u32, index: u32) -> u64 {
    u64::from(index) << 32 | u64::from(request)
}

/// What is known of the notices of a member.
#[derive(Debug, Clone, Default)]
pub(super) struct Quiet {
    /// It sends none before this, unless it is directed to do something.
    pub until: SimTime,
    pub room: Room,
    /// Operations of its inbox that it has taken.
    pub taken: usize,
    pub sent: Vec<Sent>,
}

/// A notice, and its place among those of its time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub time: SimTime,
    /// Sent when request `.0` of this moment, counted from 1, was handed to members (`.1 = 0`, and as which operation), or
    /// after that by member `.2`; 0: before any.
    pub place: (u64, u8, u32),
    pub member: u16,
    pub notice: Notice,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_try_that_failed_is_put_off_twice_as_long_each_time_and_one_that_held_is_not() {
        let mut trials = Trials::default();
        for pause in [1, 3, 7].map(|pause: u32| pause.min(Trials::LONGEST)) {
            assert!(trials.is_a_try());
            trials.failed();
            assert!((0..pause).all(|_| !trials.is_a_try()), "{pause} go in step");
        }
        assert!(trials.is_a_try());
        trials.held();
        assert!(trials.is_a_try());
    }
}
