//! Members that run ahead of one another: where nothing that a member does concerns another one, or anybody who listens.
//!
//! ```text
//! requests     a   b   c   d   e   ...        gathered, an inbox for each member
//! member 0     a0  b0      d0      ─► all the way to e, alone
//! member 1         b1  c1      e1  ─► then this one
//! ```
//!
//! A member then finds its own tables in the caches, and does not wait for the others event by event. What it does is the
//! same: operations reach it at the times at which they arrive, and everything due by then has happened before. Completions
//! are told member by member.
//!
//! That holds for a stripe without redundancy, where no member can fail, refuse or wait for another. If a coordinator hears of
//! members, they run ahead up to a [horizon](super::horizon) that they share. Where members hold copies for one another, those of a
//! read come to it [together](super::mirrors). Whoever looks at the array [catches up](Array::catch_up) first.

use std::convert::Infallible;

use harmonia_engine::workers;
use harmonia_ssd::probe::Probe;
use harmonia_ssd::{Device, SubCompletion, SubRequest};
use harmonia_types::{Blame, Completion, DeviceId, HostRequest, SimTime};

use super::inboxes::{Ahead, Begun, Quiet, token};
use super::mirrors::Mirrors;
use super::payload::Payload;
use super::transactions::known_as;
use super::{Array, ArrayFailure};
use crate::layout::Layout;
use crate::planner::striped;

impl<P: Probe, C: Payload> Array<P, C> {
    /// Lets members run ahead of one another from now on; to be asked before the first request. Requests then come by
    /// [`submit_ahead`](Self::submit_ahead).
    ///
    /// # Errors
    /// If they may not: why.
    pub fn run_ahead(&mut self) -> Result<(), &'static str> {
        self.start();
        self.may_run_ahead()?;
        let members = self.members.devices.len();
        let (inboxes, quiet) = (vec![Vec::new(); members], vec![Quiet::default(); members]);
        let mirrors = match &self.layout {
            Layout::Mirrored(layout) => Some(Mirrors::new(layout, members)),
            Layout::Striped(_) | Layout::Parity(_) => None,
        };
        self.ahead = Some(Box::new(Ahead { inboxes, quiet, mirrors, ..Ahead::default() }));
        Ok(())
    }

    /// Takes a request that arrives no earlier than the one before it. Its operations wait in the inboxes of their members.
    #[inline]
    pub fn submit_ahead(&mut self, request: &HostRequest) {
        let HostRequest { arrival, operation, offset, length, member, volume, handle, fua, .. } = *request;
        self.latest = arrival;
        if let Layout::Mirrored(_) = self.layout {
            return self.submit_copies(request);
        }
        let (Some(ahead), Layout::Striped(stripe)) = (self.ahead.as_deref_mut(), &self.layout) else {
            unreachable!("members run ahead")
        };
        let deadline = self.deadlines.of(operation).map(|within| arrival + within);
        ahead.requests.prefetch_free(4);
        let owner = ahead.requests.insert(Begun::new(request));
        let (inboxes, order, mut operations) = (&mut ahead.inboxes, &mut ahead.order, 0);
        // Asked for here, the closure is small enough to be compiled into its caller.
        let (is_heard, handle) = (self.listens, known_as(handle, volume));
        let give = |device: DeviceId, offset, length| {
            let sub = SubRequest {
                deadline,
                handle,
                fua,
                ..SubRequest::new(token(owner, operations), operation, offset, length)
            };
            inboxes[device.index()].push((arrival, sub));
            if is_heard {
                order.push(device.0);
            }
            operations += 1;
        };
        striped::deal(stripe, operation, (offset, length), member, give);
        if operations > 0 {
            let begun = &mut ahead.requests[owner];
            (begun.remaining, begun.is_whole) = (operations, operations == 1);
            if operations > 1 && ahead.last.len() <= owner as usize {
                ahead.last.resize(owner as usize + 1, None);
            }
        } else {
            let (token, finish, blame) = (0, arrival, Blame::default());
            let at_once = SubCompletion { token, finish, blame, met_gc: false, is_parity: false };
            self.completions.push(ahead.requests[owner].completion(DeviceId(0), &at_once));
            ahead.requests.release(owner);
        }
    }

    /// Every member does what it has been given, and everything before `now`: the arrival of the last request, or a time
    /// before which nothing else arrives. At most so many threads share the members; their number changes nothing.
    /// `completes` hears of requests that complete, in no order.
    ///
    /// # Errors
    /// If members run out of free blocks: the first of them, by time.
    pub fn catch_up(
        &mut self,
        now: SimTime,
        threads: usize,
        mut completes: impl FnMut(&Completion),
    ) -> Result<(), ArrayFailure> {
        if self.listens && self.ahead.is_some() {
            return self.catch_up_heard(now, threads);
        }
        let Some(ahead) = self.ahead.as_deref_mut() else { return Ok(()) };
        if ahead.mirrors.is_some() {
            return self.catch_up_copies(now, threads, completes);
        }
        let run_inbox = |((device, inbox), index): ((&mut Device<P>, &mut Vec<_>), u16)| {
            let result = device.run_through(inbox, now);
            inbox.clear();
            result.err().map(|failure| ArrayFailure { device: DeviceId(index), failure })
        };
        let mut failed: Option<ArrayFailure> = None;
        let one_by_one = threads <= 1;
        if !one_by_one {
            let members = self.members.devices.iter_mut().zip(&mut ahead.inboxes).zip(0..);
            let Ok(all) = workers::each(members, threads, |member| Ok::<_, Infallible>(run_inbox(member)));
            failed = all.into_iter().flatten().min_by_key(|failed| failed.failure.at);
        }
        self.completions.drain(..).for_each(|at_once| completes(&at_once));
        let (mut room, are_many) = (std::mem::take(&mut self.first), self.members.are_many());
        for member in 0..self.members.devices.len() {
            let Some(ahead) = self.ahead.as_deref_mut() else { break };
            if let Some(next) = self.members.devices.get(member + 1).filter(|_| are_many) {
                next.prefetch();
            }
            let device = &mut self.members.devices[member];
            if one_by_one {
                // What follows finds the member at hand, and the room for completions as well, which goes from member to member.
                std::mem::swap(&mut room, device.completions());
                let now_failed = run_inbox(((device, &mut ahead.inboxes[member]), member as u16));
                failed = failed.into_iter().chain(now_failed).min_by_key(|failed| failed.failure.at);
            }
            // Freed places are used again last first, so that requests which complete one after the other lie apart.
            const AHEAD: usize = 8;
            let completions = device.completions();
            for (next, done) in completions.iter().enumerate() {
                if let Some(later) = completions.get(next + AHEAD) {
                    ahead.requests.prefetch(later.token as u32);
                }
                ahead.complete(DeviceId(member as u16), done, &mut completes);
            }
            completions.clear();
            if one_by_one {
                std::mem::swap(&mut room, completions);
            }
            self.take_over_from(member)?;
        }
        self.first = room;
        failed.map_or(Ok(()), Err)
    }
}
