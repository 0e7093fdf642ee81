//! Notices, directives, queries and timers, each delivered `message_latency` after it was sent.

use harmonia_ssd::interface::{Directive, Notice};
use harmonia_ssd::probe::Probe;
use harmonia_types::{Blame, DeviceId, Operation, SimDuration, SimTime};

use super::looking::Sight;
use super::payload::Payload;
use super::states::Purpose;
use super::{Access, Array, ArrayFailure};
use crate::coordination::{Action, DeliveredView, Event};
use crate::planner::{Refusal, Transaction};

/// Something on its way. Small, because a heap moves it about: what is large waits in a slab.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Message {
    /// From a member to the controller.
    Notice(DeviceId, Notice),
    /// From the controller to a member.
    Directive(DeviceId, Directive),
    /// A question to a member, and its answer: which of those on their way.
    Query(DeviceId),
    Answer(DeviceId, u32),
    /// To the controller from itself.
    Timer(u64),
    /// A request the coordinator wants to hear of completed: which of those on their way.
    Completed(u32),
    /// All operations of a transaction's step are done, and there is another step.
    NextStep(u32),
    /// All operations of a transaction are done.
    End(u32),
    /// A member that has become read-only did not take the write with this token.
    WriteFailed(u64),
    /// A reserved or failed member did not take the operation with this token.
    Refused(u64, Refusal),
    /// The operation with this token was answered from NVRAM.
    Served(u64),
    /// Another transaction has found out what the read with this token was to bring: how it came to that.
    Won(u64, u32),
    /// The read with this token should be done by now.
    Hedge(u64),
    /// A member has answered an operation: which, and how long it took.
    Answered(DeviceId, Operation, SimDuration),
    /// A reserved member has nothing left to do.
    Drained(DeviceId),
    /// A member may be used again.
    Open(DeviceId),
    /// What is parked for a member may go back.
    Destage(DeviceId),
    /// All members are asked for their status.
    Poll,
    /// One of the configured faults happens.
    Fault(u32),
    /// Power is lost.
    PowerLoss,
    /// A spare takes the place of a failed member.
    Replace(DeviceId),
    /// A device has taken a member's place, and messages to and from it are on their way from now on.
    Arrived(DeviceId),
    /// A device that retired may have answered everything: its slot.
    Left(u16),
    /// All of the array is to be compared.
    Scrub,
    /// The array's own work may go on.
    Background,
    /// The array may be idle.
    Tidy,
    /// Blocks of the write-intent bitmap are to be written.
    Mark,
    /// Operations may have left their members, so that others have room.
    Room,
    /// A layer has held a command or an answer until now: which of those that wait.
    Passes(u32),
    /// The bits of the bitmap are looked through: those that no write needs any more are cleared.
    Pass,
    /// Nothing may have been written for so long that members are to flush, and the array is clean.
    Clean,
}

harmonia_types::counters! {
    /// Messages sent so far; keys of the report's `array.coordination`.
    pub struct MessageCounters {
        /// Soft-threshold notices (PARTICIPATE_GGC) delivered.
        pub soft_notices: u64 = Sum, "count";
        /// Hard-threshold notices delivered.
        pub hard_notices: u64 = Sum, "count";
        /// Forced collections ordered (FORCE_GC).
        pub forced: u64 = Sum, "count";
        /// Status queries.
        pub queries: u64 = Sum, "count";
        /// Holds.
        pub holds: u64 = Sum, "count";
        /// Releases.
        pub releases: u64 = Sum, "count";
        /// Windows to collect in.
        pub windows: u64 = Sum, "count";
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Tells the coordinator once that the run begins.
    pub(super) fn start(&mut self) {
        if !self.started {
            self.started = true;
            self.arrange_faults();
            self.consult(SimTime::ZERO, &Event::Start);
            if self.members.sight == Sight::Answers && self.dodges {
                self.agenda.push(SimTime::ZERO, Message::Poll);
            }
        }
    }

    /// Sends a member's notices on their way, if it is capable and anyone listens.
    pub(super) fn forward_notices(&mut self, device: usize) {
        if let Some(rounds) = &mut self.rounds {
            rounds.has_told = true;
        }
        let id = DeviceId(device as u16);
        let notices = self.members.devices[device].notices();
        if !self.listens || !self.members.delivered.get(device).is_some_and(|known| known.capable) {
            notices.clear();
            return;
        }
        for (time, notice) in notices.drain(..) {
            self.agenda.push(time + self.message_latency, Message::Notice(id, notice));
        }
    }

    /// Delivers the next message, due at `now`.
    pub(super) fn deliver(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let Some((now, message)) = self.agenda.pop_due(now) else { return Ok(()) };
        self.latest = self.latest.max(now);
        match message {
            // What a member that failed had sent is lost, and so is what was sent to it.
            Message::Notice(device, _) | Message::Directive(device, _) | Message::Query(device)
                if !self.members.delivered[device.index()].capable => {}
            Message::Answer(device, answer) if !self.members.delivered[device.index()].capable => {
                self.answers.release(answer);
            }
            Message::Notice(device, notice) => {
                let event = match notice {
                    Notice::SoftThreshold => {
                        self.counters.soft_notices += 1;
                        Event::SoftThreshold(device)
                    }
                    Notice::HardThreshold => {
                        self.counters.hard_notices += 1;
                        Event::HardThreshold(device)
                    }
                    Notice::WindowWarning => Event::WindowWarning(device),
                    Notice::GcStarted => {
                        self.members.delivered[device.index()].collecting = true;
                        Event::GcStarted(device)
                    }
                    Notice::GcEnded { registered } => {
                        self.members.delivered[device.index()].collecting = false;
                        self.arrange_destage(device, now);
                        self.may_tidy(now);
                        Event::GcEnded { device, registered }
                    }
                };
                if self.interests.devices {
                    self.consult(now, &event);
                }
            }
            Message::Directive(device, directive) => {
                if let Some(ahead) = self.ahead.as_deref_mut() {
                    ahead.forget_quiet(device);
                }
                self.members.devices[device.index()].direct(now, directive);
                self.collect_from(device.index())?;
            }
            Message::Query(device) => {
                let status = self.members.devices[device.index()].status(now);
                let answer = self.answers.insert((status, now));
                self.agenda.push(now + self.message_latency, Message::Answer(device, answer));
            }
            Message::Answer(device, answer) => {
                let (status, as_of) = self.answers[answer];
                self.answers.release(answer);
                let known = &mut self.members.delivered[device.index()];
                known.status = Some(status);
                known.as_of = as_of;
                known.collecting = status.gc_active;
                if self.asks {
                    self.consult(now, &Event::Status(device));
                }
            }
            Message::Completed(told) => {
                let completion = self.told[told];
                self.told.release(told);
                self.consult(now, &Event::Completion(completion));
            }
            Message::Timer(number) => self.consult(now, &Event::Timer(number)),
            Message::NextStep(transaction) => self.next_step(transaction, now)?,
            Message::End(transaction) => self.end(transaction, now)?,
            Message::WriteFailed(token) => self.write_failed(token, now)?,
            Message::Refused(token, refusal) => {
                // What has been answered otherwise at this moment is not refused any more.
                if let Some(node) = self.nodes.take(token).filter(|node| !node.is_outrun()) {
                    // A reserved member may have failed at the same moment: nothing waits for its successor.
                    let has_failed = self.members.health.access(node.operation.device) == Access::Failed;
                    let refusal = if has_failed { Refusal::Failed } else { refusal };
                    // A member that failed had it since then.
                    let waited = (now - self.begun(&node)).0;
                    self.refuse(
                        node,
                        token,
                        refusal,
                        now,
                        &Blame { queue_host: waited, ..Blame::default() },
                    )?;
                }
            }
            Message::Served(token) => {
                if let Some(node) = self.nodes.take(token) {
                    if let Some(trails) = &mut self.trails {
                        trails.answered = None;
                    }
                    if self.payload.is_active() {
                        self.tell_payload(node.parent, |payload, owner| {
                            payload.done(owner, &node.planned(), token);
                        });
                    }
                    self.operation_is_done(&node, false, now, &Blame::default())?;
                }
            }
            Message::Won(token, chain) => {
                self.chains.release(chain);
                self.race_is_over(token, self.chains[chain])?;
            }
            Message::Hedge(token) => self.hedge(token, now)?,
            Message::Answered(device, operation, latency) => {
                self.consult(now, &Event::Answered { device, operation, latency });
            }
            Message::Drained(device) => {
                if self.is_drained(device.index()) {
                    self.consult(now, &Event::Drained(device));
                }
            }
            Message::Open(device) => {
                self.readmit(device, now)?;
                if let Some(left) = self.sweep(now) {
                    self.begin_own(Purpose::Unawaited, left, now)?;
                }
                self.may_tidy(now);
            }
            Message::Destage(device) => self.destage(device, now)?,
            Message::Poll => self.poll(now),
            Message::Fault(index) => self.inject_fault(index, now)?,
            Message::PowerLoss => self.lose_power(now)?,
            Message::Replace(device) => self.replace(device, now)?,
            Message::Arrived(device) => self.announce(device, now),
            Message::Left(slot) => self.has_left(usize::from(slot), now)?,
            Message::Scrub => self.begin_scrub(now)?,
            Message::Background => self.work_on(now)?,
            Message::Tidy => {
                if let Some(displaced) = self.tidy(now) {
                    self.begin_own(Purpose::Tidying, displaced, now)?;
                }
            }
            Message::Mark => {
                if self.mark(now) {
                    self.write_marks(now)?;
                }
            }
            Message::Room => self.fill_room(now)?,
            Message::Passes(waiting) => self.passes_on(waiting, now)?,
            Message::Pass => {
                if self.pass(now) {
                    self.write_marks(now)?;
                }
                self.arrange_pass(now);
            }
            Message::Clean => {
                let never = self.is_resyncing() || self.is_refused();
                if self.may_be_clean(never, now) {
                    self.begin_own(Purpose::Clean, Transaction::unlocked(Operation::Flush, 0, 0), now)?;
                }
            }
        }
        Ok(())
    }

    /// Lets the coordinator react and carries out its actions.
    pub(super) fn consult(&mut self, now: SimTime, event: &Event) {
        let mut actions = std::mem::take(&mut self.actions);
        let view = DeliveredView { members: &self.members.delivered, clock: self.clock };
        self.coordinator.on(now, event, &view, &mut actions);
        for action in actions.drain(..) {
            self.act(now, action);
        }
        self.actions = actions;
    }

    /// Asks every member for its status, now and from time to time.
    fn poll(&mut self, now: SimTime) {
        for device in 0..self.members.delivered.len() as u16 {
            self.query(DeviceId(device), now + self.message_latency);
        }
        self.agenda.push(now + self.knowledge.poll, Message::Poll);
    }

    fn query(&mut self, device: DeviceId, arrival: SimTime) {
        if self.members.delivered[device.index()].capable {
            self.counters.queries += 1;
            self.agenda.push(arrival, Message::Query(device));
        }
    }

    fn act(&mut self, now: SimTime, action: Action) {
        let arrival = now + self.message_latency;
        match action {
            Action::Force(device, stop) => self.send(arrival, device, Directive::Force(stop)),
            Action::Hold(device) => self.send(arrival, device, Directive::Hold),
            Action::Release(device) => self.send(arrival, device, Directive::Release),
            Action::Query(device) => {
                self.asks = true;
                self.query(device, arrival);
            }
            Action::Timer(at, number) => self.agenda.push(at.max(now), Message::Timer(number)),
            Action::Reserve(device) => self.reserve(device, now),
            Action::Return(device) => self.open(device, now),
            Action::Avoid(device) => self.members.avoided[device.index()] = true,
            Action::Use(device) => self.members.avoided[device.index()] = false,
            Action::Window { device, from, until } => {
                if from > arrival {
                    self.send(arrival, device, Directive::Hold);
                }
                self.send(from.max(arrival), device, Directive::Open);
                self.send(until.max(arrival), device, Directive::Hold);
            }
        }
    }

    /// Directives to a member that does not understand them are lost, and not counted.
    fn send(&mut self, arrival: SimTime, device: DeviceId, directive: Directive) {
        if self.members.delivered[device.index()].capable {
            match directive {
                Directive::Force(_) => self.counters.forced += 1,
                Directive::Hold => self.counters.holds += 1,
                Directive::Release => self.counters.releases += 1,
                Directive::Open => self.counters.windows += 1,
            }
            self.agenda.push(arrival, Message::Directive(device, directive));
        }
    }
}
