//! Copies on members that run ahead: which member a read goes to is known as soon as those that hold its copies have come to it.
//!
//! ```text
//!              w0   w1   w2   r3   w4   r5              a group: members that hold copies of the same data
//! member 0  ───●────●────●────?────●────?───►            ●  a write goes to all copies
//! member 1  ───●────●────●────?────●────?───►            ?  a read goes to the member with least to do by then
//! ```
//!
//! A write needs no decision, and neither waits for the other copies of it. A read goes to the member that has least to do when it
//! arrives. So the members of its copies come to that moment, and no others need to. Near copies on a multiple of their number make
//! groups that know nothing of one another, each of which goes alone through what has been gathered, and threads can share the groups.
//! Any other layout is one group.
//!
//! What a member has to do are the bytes of operations that are not known to be done. A completion may be known before its time where
//! writes are [settled](harmonia_ssd::Device::may_settle), and counts from that time on.

use std::collections::VecDeque;
use std::convert::Infallible;

use harmonia_engine::workers;
use harmonia_ssd::probe::Probe;
use harmonia_ssd::{Device, DeviceFailure, Passage, Slab, SubCompletion, SubRequest};
use harmonia_types::{Blame, Bytes, Completion, DeviceId, HostRequest, Operation, SimTime};

use super::inboxes::{Ahead, Begun, token};
use super::payload::Payload;
use super::transactions::known_as;
use super::{Array, ArrayFailure};
use crate::layout::{Layout, Mirrored};
use crate::planner::mirrored;

/// What is known of members that hold copies for one another and run ahead of all others.
#[derive(Debug, Clone, Default)]
pub(super) struct Mirrors {
    /// Members of a group.
    size: usize,
    copies: usize,
    groups: Vec<Choices>,
    members: Vec<Told>,
    /// By request, of those that are cut into several pieces: how long each operation is.
    lengths: Vec<Vec<Bytes>>,
}

/// The reads that a group has been given, in the order in which they came.
#[derive(Debug, Clone, Default)]
struct Choices {
    /// When each piece arrives, and of which request it is.
    pieces: Vec<(SimTime, u32)>,
    /// The copies of one piece after the other: which member of the group has it, and as which operation of its inbox.
    places: Vec<(u16, u32)>,
    /// Which copies of the pieces of a request are read.
    chosen: Vec<usize>,
}

/// What the array has been told by a member.
#[derive(Debug, Clone, Default)]
struct Told {
    /// Completions that are counted.
    counted: usize,
    /// Writes that are known to be done at these times, and how long they are.
    later: VecDeque<(SimTime, Bytes)>,
    /// Bytes of a read whose pieces are being chosen.
    planned: Bytes,
}

impl Mirrors {
    /// Of the members of such a layout.
    pub fn new(layout: &Mirrored, members: usize) -> Self {
        let size = if layout.is_of_groups() { usize::from(layout.copies()) } else { members };
        Mirrors {
            size,
            copies: layout.copies().into(),
            groups: vec![Choices::default(); members / size],
            members: vec![Told::default(); members],
            lengths: Vec::new(),
        }
    }

    /// A request has more than one piece. So many operations of the first are so long.
    #[cold]
    fn begin_lengths(&mut self, request: u32, count: u32, length: Bytes) {
        let request = request as usize;
        if self.lengths.len() <= request {
            self.lengths.resize(request + 1, Vec::new());
        }
        self.lengths[request].clear();
        self.add_lengths(request as u32, count, length);
    }

    /// So many more operations of it are so long.
    fn add_lengths(&mut self, request: u32, count: u32, length: Bytes) {
        self.lengths[request as usize].extend((0..count).map(|_| length));
    }
}

/// A group that goes through what has been gathered.
struct Group<'a, P: Probe> {
    /// Its first member.
    first: usize,
    copies: usize,
    devices: &'a mut [Device<P>],
    inboxes: &'a [Vec<(SimTime, SubRequest)>],
    outstanding: &'a mut [Bytes],
    told: &'a mut [Told],
    choices: &'a mut Choices,
    requests: &'a Slab<Begun>,
    lengths: &'a [Vec<Bytes>],
    until: SimTime,
}

impl<P: Probe> Group<'_, P> {
    fn run(mut self) -> Result<(), ArrayFailure> {
        let mut passages: Vec<Passage> = self
            .devices
            .iter()
            .zip(self.inboxes)
            .map(|(device, inbox)| device.begin_passage(inbox))
            .collect();
        let mut from = 0;
        while let Some(&(at, request)) = self.choices.pieces.get(from) {
            let pieces = &self.choices.pieces[from..];
            let count = pieces.iter().take_while(|piece| piece.1 == request).count();
            let places = from * self.copies..(from + count) * self.copies;
            for place in places.clone() {
                let (member, position) = self.choices.places[place];
                let come = self.come_to(usize::from(member), position as usize, at, &mut passages);
                come.map_err(|failure| self.first_failure(failure, from, &mut passages))?;
            }
            self.choose(places, at, &mut passages)
                .map_err(|failure| self.first_failure(failure, from + count, &mut passages))?;
            from += count;
        }
        for member in 0..self.devices.len() {
            let all = self.inboxes[member].len();
            let result = self.pass(member, all, &mut passages);
            let end = result.and_then(|()| {
                let ended = self.devices[member].end_passage(&passages[member], self.until);
                ended.map_err(|failure| self.failure(member, failure))
            });
            end.map_err(|failure| self.first_failure(failure, from, &mut passages))?;
            self.count(member, self.until);
        }
        Ok(())
    }

    /// A member is given the operations of its inbox up to the one at this place.
    fn pass(&mut self, member: usize, end: usize, passages: &mut [Passage]) -> Result<(), ArrayFailure> {
        let (inbox, passage) = (&self.inboxes[member], &mut passages[member]);
        let given: Bytes = inbox[passage.turn()..end].iter().map(|(_, sub)| sub.length).sum();
        self.outstanding[member] += given;
        let passed = self.devices[member].pass(passage, inbox, end, self.until);
        passed.map_err(|failure| self.failure(member, failure))
    }

    /// A member comes to a read of which it has a copy.
    fn come_to(
        &mut self,
        member: usize,
        position: usize,
        at: SimTime,
        passages: &mut [Passage],
    ) -> Result<(), ArrayFailure> {
        let (inbox, turn) = (&self.inboxes[member], passages[member].turn());
        let is_there = inbox[turn].1.token as u32 == inbox[position].1.token as u32;
        if is_there && turn < position {
            // It has a copy of another piece as well, and has come to that.
            return Ok(());
        }
        self.pass(member, position, passages)?;
        let advanced = self.devices[member].advance_until(at, false);
        advanced.map_err(|failure| self.failure(member, failure))?;
        self.count(member, at);
        Ok(())
    }

    /// Each piece of a read is given to the member that has least to do; of equal ones to the first.
    fn choose(
        &mut self,
        places: std::ops::Range<usize>,
        at: SimTime,
        passages: &mut [Passage],
    ) -> Result<(), ArrayFailure> {
        debug_assert!(places.clone().all(|place| {
            let (member, position) = self.choices.places[place];
            self.inboxes[usize::from(member)][position as usize].0 == at
        }));
        let Choices { places: all, chosen, .. } = &mut *self.choices;
        chosen.clear();
        for copies in all[places.clone()].chunks(self.copies) {
            let to_do = |&(member, _): &(u16, u32)| {
                let member = usize::from(member);
                self.outstanding[member] + self.told[member].planned
            };
            let best = (0..copies.len()).min_by_key(|&copy| to_do(&copies[copy])).unwrap_or(0);
            let (member, position) = copies[best];
            let member = usize::from(member);
            self.told[member].planned += self.inboxes[member][position as usize].1.length;
            chosen.push(best);
        }
        for (piece, first) in places.step_by(self.copies).enumerate() {
            for copy in 0..self.copies {
                let member = usize::from(self.choices.places[first + copy].0);
                self.told[member].planned = 0;
                if copy == self.choices.chosen[piece] {
                    self.pass(member, passages[member].turn() + 1, passages)?;
                } else {
                    self.devices[member].leave_out(&mut passages[member], &self.inboxes[member]);
                }
            }
        }
        Ok(())
    }

    /// What a member is known to have done by now, it need not do.
    #[inline]
    fn count(&mut self, member: usize, now: SimTime) {
        let (device, told) = (&mut self.devices[member], &mut self.told[member]);
        let outstanding = &mut self.outstanding[member];
        let may_settle = device.may_settle();
        let completions = device.completions();
        for done in &completions[told.counted..] {
            let (request, index) = (done.token as u32, (done.token >> 32) as usize);
            let begun = &self.requests[request];
            let length = begun.each.unwrap_or_else(|| self.lengths[request as usize][index]);
            if may_settle && begun.operation == Operation::Write && done.finish > now {
                told.later.push_back((done.finish, length));
            } else {
                *outstanding -= length;
            }
        }
        told.counted = completions.len();
        while let Some(&(_, length)) = told.later.front().filter(|later| later.0 <= now) {
            told.later.pop_front();
            *outstanding -= length;
        }
    }

    fn failure(&self, member: usize, failure: DeviceFailure) -> ArrayFailure {
        ArrayFailure { device: DeviceId((self.first + member) as u16), failure }
    }

    /// A member has failed. Another one may have done so before, which has not come as far: the first of them by time. Choices from this
    /// one on have not been made.
    #[cold]
    fn first_failure(&mut self, failed: ArrayFailure, from: usize, passages: &mut [Passage]) -> ArrayFailure {
        let (mut first, failed) = (failed, failed.device.index() - self.first);
        for member in (0..self.devices.len()).filter(|&member| member != failed) {
            let open = &self.choices.places[from * self.copies..];
            let next = open.iter().find(|place| usize::from(place.0) == member);
            let end = next.map_or(self.inboxes[member].len(), |place| place.1 as usize);
            let mut ended = self.pass(member, end.max(passages[member].turn()), passages);
            if ended.is_ok() {
                let advanced = self.devices[member].advance_until(first.failure.at, false);
                ended = advanced.map_err(|failure| self.failure(member, failure));
            }
            if let Err(other) = ended
                && other.failure.at < first.failure.at
            {
                first = other;
            }
        }
        first
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// [`Array::submit_ahead`] where members hold copies.
    pub(super) fn submit_copies(&mut self, request: &HostRequest) {
        let (Some(ahead), Layout::Mirrored(layout)) = (self.ahead.as_deref_mut(), &self.layout) else {
            return;
        };
        let HostRequest { arrival, operation, offset, length, member, volume, handle, fua, .. } = *request;
        let deadline = self.deadlines.of(operation).map(|within| arrival + within);
        let Ahead { requests, inboxes, mirrors, last, .. } = ahead;
        let Some(mirrors) = mirrors else { return };
        let owner = requests.insert(Begun::new(request));
        let (mut operations, mut pieces, mut each) = (0, 0, None);
        requests.prefetch_free(4);
        let handle = known_as(handle, volume);
        let sub = |operations, offset, length| SubRequest {
            deadline,
            handle,
            fua,
            ..SubRequest::new(token(owner, operations), operation, offset, length)
        };
        if operation == Operation::Flush {
            for (number, inbox) in (0..).zip(&mut *inboxes) {
                inbox.push((arrival, sub(number, 0, 0)));
                operations += 1;
            }
            each = Some(0);
        } else {
            mirrored::deal(&self.layout, layout, (offset, length), member, |places, length| {
                let before = operations;
                if operation == Operation::Read {
                    let choices = &mut mirrors.groups[places[0].0.index() / mirrors.size];
                    choices.pieces.push((arrival, owner));
                    for &(device, offset) in places {
                        let inbox = &mut inboxes[device.index()];
                        let member = (device.index() % mirrors.size) as u16;
                        choices.places.push((member, inbox.len() as u32));
                        inbox.push((arrival, sub(operations, offset, length)));
                    }
                    operations += 1;
                } else {
                    for &(device, offset) in places {
                        inboxes[device.index()].push((arrival, sub(operations, offset, length)));
                        operations += 1;
                    }
                }
                if let (1, Some(first)) = (pieces, each.take()) {
                    mirrors.begin_lengths(owner, before, first);
                }
                pieces += 1;
                match pieces {
                    1 => each = Some(length),
                    _ => mirrors.add_lengths(owner, operations - before, length),
                }
            });
        }
        if operations == 0 {
            let (token, finish, blame) = (0, arrival, Blame::default());
            let at_once = SubCompletion { token, finish, blame, met_gc: false, is_parity: false };
            self.completions.push(requests[owner].completion(DeviceId(0), &at_once));
            return requests.release(owner);
        }
        let begun = &mut requests[owner];
        (begun.remaining, begun.is_whole, begun.each) = (operations, operations == 1, each);
        if operations > 1 && last.len() <= owner as usize {
            last.resize(owner as usize + 1, None);
        }
    }

    /// [`Array::catch_up`] where members hold copies.
    pub(super) fn catch_up_copies(
        &mut self,
        now: SimTime,
        threads: usize,
        mut completes: impl FnMut(&Completion),
    ) -> Result<(), ArrayFailure> {
        self.completions.drain(..).for_each(|at_once| completes(&at_once));
        let Some(ahead) = self.ahead.as_deref_mut() else { return Ok(()) };
        let Ahead { requests, inboxes, mirrors: Some(mirrors), .. } = ahead else { return Ok(()) };
        let Mirrors { size, copies, ref mut groups, members: ref mut told, ref lengths } = *mirrors;
        let devices = self.members.devices.chunks_mut(size).zip(inboxes.chunks(size));
        let known = self.members.outstanding.chunks_mut(size).zip(told.chunks_mut(size));
        let all = devices.zip(known).zip(groups).enumerate();
        let requests = &*requests;
        let all = all.map(|(number, (((devices, inboxes), (outstanding, told)), choices))| {
            let (first, until) = (number * size, now);
            Group { first, copies, devices, inboxes, outstanding, told, choices, requests, lengths, until }
        });
        let Ok(results) = workers::each(all, threads, |group| Ok::<_, Infallible>(group.run()));
        let failed = results.into_iter().filter_map(Result::err).min_by_key(|failed| failed.failure.at);
        for member in 0..self.members.devices.len() {
            let Some(ahead) = self.ahead.as_deref_mut() else { break };
            let completions = self.members.devices[member].completions();
            for done in completions.iter() {
                ahead.complete(DeviceId(member as u16), done, &mut completes);
            }
            completions.clear();
            ahead.inboxes[member].clear();
            self.take_over_from(member)?;
        }
        if let Some(mirrors) = self.ahead.as_deref_mut().and_then(|ahead| ahead.mirrors.as_mut()) {
            mirrors.members.iter_mut().for_each(|told| told.counted = 0);
            for choices in &mut mirrors.groups {
                choices.pieces.clear();
                choices.places.clear();
            }
        }
        failed.map_or(Ok(()), Err)
    }
}
