//! How far members may run ahead of one another while a coordinator hears of them.
//!
//! ```text
//!            next message     earliest next notice of any member
//!                 |                 |-- latency --> controller -- latency --> a member
//! all members ────┴── horizon: whichever comes first ────────────────────────┴──►
//! ```
//!
//! Only directives and queries of the controller reach a member, and the controller acts only when a message reaches it. So
//! whatever is not on its way yet reaches a member no earlier than a notice that is still to be sent, and two message latencies.
//! Each member [knows](Device::quiet_until) until when it sends none, given the operations in its inbox. All members run up to
//! the horizon, then what they sent is told in the order in which members in step send it. Messages due at the horizon come next.
//!
//! Without a message latency, members go in step from the earliest possible notice on, one request at a time.
//!
//! Every horizon looks at every member. Where notices come so often that this costs more than it saves, as in arrays of many
//! members, all go in step for the rest of what has been gathered, and for some time after it.

use std::convert::Infallible;

use harmonia_engine::workers;
use harmonia_ssd::probe::Probe;
use harmonia_ssd::{Device, DeviceFailure, Slab, SubRequest};
use harmonia_types::{Bytes, DeviceId, SimTime};

use super::inboxes::{Begun, Quiet, Sent, Trials};
use super::messages::Message;
use super::payload::Payload;
use super::{Array, ArrayFailure};

/// Bytes of operations and of blocks to be collected that several threads share: fewer take less time than starting a thread.
/// Tests share small ones, too.
const SHARED: Bytes = if cfg!(debug_assertions) { 1 << 16 } else { 4 << 20 };

/// Whether so many threads share the work of members.
fn is_shared(work: impl Iterator<Item = Bytes>, threads: usize) -> bool {
    threads > 1 && work.sum::<Bytes>() >= SHARED
}

/// Bytes of the operations in an inbox that are due up to and including `last`.
fn bytes_due(inbox: &[(SimTime, SubRequest)], last: SimTime) -> Bytes {
    inbox.iter().take_while(|(at, _)| *at <= last).map(|(_, sub)| sub.length).sum()
}

/// Members that horizons may look at for each operation that has been gathered, before all go in step. Tests go in step often.
const LOOKS: usize = if cfg!(debug_assertions) { 1 } else { 4 };

/// How far a member runs.
#[derive(Debug, Clone, Copy)]
enum Limit {
    /// Up to, not including.
    Before(SimTime),
    /// Up to this moment, at which the request with this number arrives, if one does, and the last one of all. What follows at
    /// once from that is left.
    Through(SimTime, Option<u64>),
}

/// A member that runs.
struct Runner<'a, P: Probe> {
    index: u16,
    device: &'a mut Device<P>,
    quiet: &'a mut Quiet,
    inbox: &'a [(SimTime, SubRequest)],
    requests: &'a Slab<Begun>,
    /// The last operation it was handed: when, and of which request.
    last: Option<(SimTime, u64)>,
}

impl<P: Probe> Runner<'_, P> {
    fn run(&mut self, limit: Limit) -> Result<(), DeviceFailure> {
        let (end, until) = match limit {
            Limit::Before(horizon) => (horizon, SimTime(horizon.0 - 1)),
            Limit::Through(now, _) => (SimTime(now.0 + 1), now),
        };
        let due = self.inbox[self.quiet.taken..].partition_point(|&(at, _)| at < end);
        let operations = &self.inbox[self.quiet.taken..][..due];
        self.quiet.taken += due;
        let calm_end = self.quiet.until.min(end);
        let (calm, others) = operations.split_at(operations.partition_point(|&(at, _)| at < calm_end));
        if let Some(&(at, ref last)) = calm.last() {
            self.device.run_through(calm, at)?;
            self.last = Some((at, self.number(last)));
        }
        for (at, sub) in others {
            self.device.advance_until(*at, false)?;
            self.note_own();
            self.device.submit(*at, *sub)?;
            let number = self.number(sub);
            self.note(|_, _| (number, 0, (sub.token >> 32) as u32));
            self.last = Some((*at, number));
        }
        let is_last = matches!(limit, Limit::Through(now, Some(number)) if self.last == Some((now, number)));
        if !is_last {
            self.device.advance_until(until, false)?;
        }
        self.note_own();
        Ok(())
    }

    /// The number of an operation's request, from 1.
    fn number(&self, sub: &SubRequest) -> u64 {
        self.requests[sub.token as u32].id + 1
    }

    /// Notices of its own events.
    fn note_own(&mut self) {
        self.note(|runner, time| match runner.last {
            Some((at, number)) if at == time => (number, 1, runner.index.into()),
            _ => (0, 1, runner.index.into()),
        });
    }

    fn note(&mut self, place: impl Fn(&Self, SimTime) -> (u64, u8, u32)) {
        if self.device.notices().is_empty() {
            return;
        }
        let mut notices = std::mem::take(self.device.notices());
        for (time, notice) in notices.drain(..) {
            debug_assert!(
                time >= self.quiet.until,
                "member {} was to be quiet until {}",
                self.index,
                self.quiet.until
            );
            self.quiet.sent.push(Sent { time, place: place(self, time), member: self.index, notice });
        }
        *self.device.notices() = notices;
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// [`Array::catch_up`] where a coordinator hears of members.
    pub(super) fn catch_up_heard(&mut self, now: SimTime, threads: usize) -> Result<(), ArrayFailure> {
        let result = self.run_to(now, threads);
        if let Some(ahead) = self.ahead.as_deref_mut() {
            ahead.inboxes.iter_mut().for_each(Vec::clear);
            ahead.order.clear();
            for quiet in &mut ahead.quiet {
                // What has not arrived yet was not known.
                (quiet.until, quiet.taken) = (SimTime::ZERO, 0);
            }
        }
        result
    }

    fn run_to(&mut self, now: SimTime, threads: usize) -> Result<(), ArrayFailure> {
        let Some(ahead) = self.ahead.as_deref_mut() else { return Ok(()) };
        let most = LOOKS * ahead.order.len();
        if most < self.members.devices.len() || self.members.are_many() && !ahead.trials.is_a_try() {
            return self.step_all_requests(now);
        }
        let (mut reached, mut looks) = (SimTime::ZERO, 0);
        loop {
            let horizon = self.horizon(reached);
            if horizon > now {
                self.trials(Trials::held);
                return self.run_members(Limit::Through(now, self.last_request(now)), threads);
            }
            looks += self.members.devices.len();
            if looks > most {
                self.trials(Trials::failed);
                return self.step_all_requests(now);
            }
            if horizon > reached {
                self.run_members(Limit::Before(horizon), threads)?;
                reached = horizon;
            } else if self.agenda.next_time() <= reached {
                self.deliver(self.agenda.next_time())?;
            } else if let Some(arrival) = self.step_one_request(now)? {
                reached = arrival;
            } else {
                self.trials(Trials::held);
                return Ok(());
            }
        }
    }

    fn trials(&mut self, note: fn(&mut Trials)) {
        if let Some(ahead) = self.ahead.as_deref_mut() {
            note(&mut ahead.trials);
        }
    }

    /// Until when nothing can reach a member that is not on its way, given that all have come to `reached`.
    fn horizon(&mut self, reached: SimTime) -> SimTime {
        let message = self.agenda.next_time();
        let Some(ahead) = self.ahead.as_deref_mut() else { return message };
        let mut earliest = SimTime::NEVER;
        for ((device, quiet), inbox) in self.members.devices.iter().zip(&mut ahead.quiet).zip(&ahead.inboxes)
        {
            if quiet.until <= reached {
                quiet.until = device.quiet_until(&inbox[quiet.taken..], &mut quiet.room);
            }
            earliest = earliest.min(quiet.until);
        }
        let answer = SimTime(earliest.0.saturating_add(self.message_latency.0.saturating_mul(2)));
        message.min(answer)
    }

    /// The number of the last request, if it arrives now.
    fn last_request(&self, now: SimTime) -> Option<u64> {
        let ahead = self.ahead.as_deref()?;
        let last = ahead.inboxes.iter().filter_map(|inbox| inbox.last()).filter(|last| last.0 == now);
        last.map(|(_, sub)| ahead.requests[sub.token as u32].id + 1).max()
    }

    /// All members run up to a limit before which no message reaches them, and messages to the controller are delivered.
    fn run_members(&mut self, limit: Limit, threads: usize) -> Result<(), ArrayFailure> {
        let Some(ahead) = self.ahead.as_deref_mut() else { return Ok(()) };
        let last = match limit {
            Limit::Before(horizon) => SimTime(horizon.0 - 1),
            Limit::Through(now, _) => now,
        };
        let members = self.members.devices.iter().zip(&ahead.quiet).zip(&ahead.inboxes);
        let work = members.map(|((device, quiet), inbox)| {
            bytes_due(&inbox[quiet.taken..], last) + device.bytes_to_collect()
        });
        let is_shared = is_shared(work, threads);
        let requests = &ahead.requests;
        let members = self.members.devices.iter_mut().zip(&mut ahead.quiet).zip(&ahead.inboxes).zip(0..);
        let runners = members.map(|(((device, quiet), inbox), index)| Runner {
            index,
            device,
            quiet,
            inbox,
            requests,
            last: None,
        });
        let run = |mut runner: Runner<'_, P>| {
            let device = DeviceId(runner.index);
            runner.run(limit).err().map(|failure| ArrayFailure { device, failure })
        };
        let failed = if is_shared {
            let Ok(failed) = workers::each(runners, threads, |runner| Ok::<_, Infallible>(run(runner)));
            failed.into_iter().flatten().min_by_key(|failed| failed.failure.at)
        } else {
            runners.filter_map(run).min_by_key(|failed| failed.failure.at)
        };
        let mut sent = Vec::new();
        for quiet in &mut ahead.quiet {
            sent.append(&mut quiet.sent);
        }
        for device in 0..self.members.devices.len() {
            self.take_over_from(device)?;
        }
        if let Some(failed) = failed {
            return Err(failed);
        }
        self.tell(&mut sent, last)
    }

    /// Sends notices on their way and delivers messages to the controller, all in the order in which they come up to `last`.
    fn tell(&mut self, sent: &mut [Sent], last: SimTime) -> Result<(), ArrayFailure> {
        in_order(sent);
        for sent in sent {
            while self.agenda.next_time() <= sent.time {
                self.deliver(self.agenda.next_time())?;
            }
            if self.members.delivered[usize::from(sent.member)].capable {
                let notice = Message::Notice(DeviceId(sent.member), sent.notice);
                self.agenda.push(sent.time + self.message_latency, notice);
            }
        }
        while self.agenda.next_time() <= last {
            self.deliver(self.agenda.next_time())?;
        }
        Ok(())
    }

    /// All members go in step up to the next request, which they are handed: its arrival. `None` if there is none; then they
    /// go on to `now`.
    fn step_one_request(&mut self, now: SimTime) -> Result<Option<SimTime>, ArrayFailure> {
        let Some(ahead) = self.ahead.as_deref() else { return Ok(None) };
        let number = |sub: &SubRequest| ahead.requests[sub.token as u32].id;
        let heads = (0..ahead.inboxes.len()).map(|member| self.head(member));
        let next = heads.clone().flatten().min_by_key(|(at, sub)| (*at, number(sub)));
        let Some((arrival, SubRequest { token, .. })) = next else {
            self.advance_until(now)?;
            return Ok(None);
        };
        let parts = heads.enumerate().filter_map(|(member, head)| Some((member, head?.1)));
        let is_part = |sub: &SubRequest| sub.token as u32 == token as u32;
        let mut parts: Vec<(usize, SubRequest)> = parts.filter(|(_, sub)| is_part(sub)).collect();
        by_part(&mut parts);
        self.advance_until(arrival)?;
        parts.into_iter().try_for_each(|(member, sub)| self.hand(member, arrival, sub))?;
        Ok(Some(arrival))
    }

    /// All members go in step to `now`, and are handed all requests on the way.
    fn step_all_requests(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let Some(ahead) = self.ahead.as_deref_mut() else { return Ok(()) };
        let order = std::mem::take(&mut ahead.order);
        let mut passed: Vec<usize> = ahead.quiet.iter().map(|quiet| quiet.taken).collect();
        let mut begun = None;
        let mut result = Ok(());
        for (turn, &member) in order.iter().enumerate() {
            let member = usize::from(member);
            if passed[member] > 0 {
                // It has been taken before.
                passed[member] -= 1;
                continue;
            }
            self.ask_for(&order, turn);
            let Some((arrival, sub)) = self.head(member) else {
                unreachable!("the inboxes hold what `order` names")
            };
            // The operations of a request are handed over together.
            if begun.replace(sub.token as u32) != Some(sub.token as u32) {
                result = self.advance_until(arrival);
            }
            result = result.and_then(|()| self.hand(member, arrival, sub));
            if result.is_err() {
                break;
            }
        }
        if let Some(ahead) = self.ahead.as_deref_mut() {
            ahead.order = order;
        }
        result?;
        self.advance_until(now)
    }

    /// Asks the caches for the members that come to their turns soon.
    #[inline]
    fn ask_for(&self, order: &[u16], turn: usize) {
        const FAR: usize = 8;
        const NEAR: usize = 3;
        if !self.members.are_many() {
            return;
        }
        if let Some(&member) = order.get(turn + FAR) {
            self.members.devices[usize::from(member)].prefetch();
        }
        if let Some(&member) = order.get(turn + NEAR)
            && let Some((_, sub)) = self.head(usize::from(member))
        {
            self.members.devices[usize::from(member)].prefetch_for(sub.offset);
        }
    }

    /// The first operation of a member's inbox that it has not taken.
    #[inline]
    fn head(&self, member: usize) -> Option<(SimTime, SubRequest)> {
        let ahead = self.ahead.as_deref()?;
        ahead.inboxes[member].get(ahead.quiet[member].taken).copied()
    }

    /// A member takes the next operation of its inbox.
    fn hand(&mut self, member: usize, arrival: SimTime, sub: SubRequest) -> Result<(), ArrayFailure> {
        if let Some(ahead) = self.ahead.as_deref_mut() {
            ahead.quiet[member].taken += 1;
        }
        let handed = self.members.devices[member].submit(arrival, sub);
        handed.map_err(|failure| ArrayFailure { device: DeviceId(member as u16), failure })?;
        self.take_over_from(member)
    }
}

/// Sorts notices as they are sent: stable, since those of one event keep their order.
fn in_order(sent: &mut [Sent]) {
    sent.sort_by_key(|sent| (sent.time, sent.place));
}

/// Sorts what members are handed of one request.
fn by_part(parts: &mut [(usize, SubRequest)]) {
    parts.sort_unstable_by_key(|(_, sub)| sub.token >> 32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_types::Operation;

    #[test]
    fn threads_share_work_that_is_worth_it() {
        let inbox =
            [3, 7, 7, 9].map(|at| (SimTime(at), SubRequest::new(at, Operation::Write, 0, SHARED / 4)));
        assert_eq!(
            [2, 3, 6, 7, 9].map(|last| bytes_due(&inbox, SimTime(last)) / (SHARED / 4)),
            [0, 1, 1, 3, 4]
        );
        let of = |work: [Bytes; 2], threads| is_shared(work.into_iter(), threads);
        assert!(of([SHARED - 1, 1], 2) && of([0, SHARED + 1], 8));
        assert!(!of([SHARED - 2, 1], 2) && !of([SHARED, SHARED], 1));
    }
}
