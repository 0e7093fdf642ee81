//! Notices, directives, queries and timers, each delivered `message_latency` after it was sent (`delivery`), and what the coordinator
//! does about them.

use harmonia_ssd::interface::{Directive, Notice};
use harmonia_ssd::probe::Probe;
use harmonia_types::{DeviceId, Operation, SimDuration, SimTime};

use super::Array;
use super::payload::Payload;
use crate::coordination::{Action, DeliveredView, Event};
use crate::planner::Refusal;

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
    /// There are tokens for the first who waits for any.
    #[cfg(test)]
    Tokens,
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
    pub(super) fn poll(&mut self, now: SimTime) {
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

    /// The coordinator hears that a device is gone.
    #[cold]
    pub(super) fn tell_of_failure(&mut self, device: DeviceId, now: SimTime) {
        self.members.avoided[device.index()] = false;
        let known = &mut self.members.delivered[device.index()];
        known.capable = false;
        if std::mem::replace(&mut known.collecting, false) && self.interests.devices {
            self.consult(now, &Event::GcEnded { device, registered: false });
        }
        self.consult(now, &Event::Failure(device));
    }
}
