//! Rounds of windows in which nothing happens: they are counted, not simulated.
//!
//! ```text
//! the array rests    one round is simulated         so many go by          the rest is simulated
//! ───────────|next───────────────────────|=same?────────────────────────|────────► a request, a fault
//! ```
//!
//! A policy with windows directs members by the clock, and an array that goes by their logs asks them by the clock, whether anybody
//! wants something or not. If a [round](Coordinator::round) has left everything as it was before, so do those that follow, until
//! something else is due. What waits in the agenda then comes later by so many rounds, and their messages are counted.
//!
//! A round has left everything as it was if the same messages of its kind wait as before, each a round later, no other message has
//! come to them, and no member has told or done anything. Members see nothing of time but directives: what one of them
//! finds at its thresholds without telling, it does not find twice.
//!
//! Runs that are checked simulate every round, so they show whether any is missed.

use harmonia_ssd::Device;
use harmonia_ssd::interface::Directive;
use harmonia_ssd::probe::Probe;
use harmonia_types::{Counters as _, SimDuration, SimTime};

use super::Array;
use super::messages::{Message, MessageCounters};
use super::payload::Payload;
use crate::coordination::Coordinator;
use crate::delivered::Delivered;

/// What is known of the round under way; only where the coordinator has rounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounds {
    /// Members are asked from time to time.
    polls: bool,
    /// A member has told something since the round began.
    pub has_told: bool,
}

impl Rounds {
    /// Those of a coordinator, or of an array that `polls`, unless somebody checks what members do in them.
    pub fn of<P: Probe>(coordinator: &dyn Coordinator, polls: bool, devices: &[Device<P>]) -> Option<Rounds> {
        let are_checked = devices.iter().any(|device| device.probe().audits());
        ((coordinator.round().is_some() || polls) && !are_checked)
            .then_some(Rounds { polls, has_told: false })
    }
}

/// A round that begins while the array rests.
pub(super) struct Round {
    kind: Kind,
    /// When its first message is due.
    from: SimTime,
    length: SimDuration,
    /// Nothing but rounds comes up to and including this moment.
    end: SimTime,
    /// Messages of its kind that wait, in order, and how long after `from`; and how many messages wait in all.
    messages: Vec<(SimDuration, Message)>,
    waiting: usize,
    counted: MessageCounters,
    /// By member.
    known: Vec<Delivered>,
}

/// What goes round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The coordinator's windows.
    Windows,
    /// The array's questions to members.
    Polls,
}

impl Kind {
    /// Whether a message belongs to such a round.
    fn has(self, message: &Message) -> bool {
        match *message {
            Message::Timer(_) => self == Kind::Windows,
            Message::Directive(_, Directive::Hold | Directive::Open | Directive::Release) => {
                self == Kind::Windows
            }
            Message::Poll | Message::Query(_) | Message::Answer(..) => self == Kind::Polls,
            _ => false,
        }
    }
}

impl Round {
    /// Its last moment.
    pub fn last(&self) -> SimTime {
        SimTime((self.from + self.length).0 - 1)
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// The round that begins with the next message, due at `from`, if the array rests and others may follow up to and including
    /// `until`. No member has anything to do by itself, and all messages of earlier times have been delivered.
    pub(super) fn begin_round(&mut self, from: SimTime, until: SimTime) -> Option<Round> {
        let polls = self.rounds?.polls;
        let (kind, length) = self.kind_of_round(polls)?;
        let has_time = |end: SimTime| end.0.saturating_sub(from.0) / 2 >= length.0;
        if !has_time(until) || until == SimTime::NEVER {
            return None;
        }
        self.rounds = Some(Rounds { polls, has_told: false });
        if !self.has_rested_since(from) {
            return None;
        }
        let other = self.agenda.in_order().find(|(_, message)| !kind.has(message));
        // At one moment what is of no round comes before all that rounds bring there.
        let end = other.map_or(until, |(other, _)| until.min(SimTime(other.0 - 1)));
        has_time(end).then(|| Round {
            kind,
            from,
            length,
            end,
            messages: self.messages_from(from, kind),
            waiting: self.agenda.len(),
            counted: self.counters,
            known: self.members.delivered.clone(),
        })
    }

    /// What goes round, and after how long it does so again.
    fn kind_of_round(&self, polls: bool) -> Option<(Kind, SimDuration)> {
        let (kind, length) = match self.coordinator.round() {
            Some(length) if !polls => (Kind::Windows, length),
            // A policy that has asked members may do anything with their answers.
            None if polls && !self.asks => (Kind::Polls, self.knowledge.poll),
            _ => return None,
        };
        // Messages that are on their way for several rounds were sent before others that are due at the same moment.
        (length > self.message_latency * 2).then_some((kind, length))
    }

    /// A round has been simulated. If it has left everything as it was, as many more go by as there is time for.
    pub(super) fn pass_rounds(&mut self, round: &Round) {
        let Round { kind, from, length, end, ref messages, waiting, counted, ref known } = *round;
        let next = from + length;
        let is_same = self.has_rested_since(from)
            && self.wakes.next_time() == SimTime::NEVER
            && self.agenda.len() == waiting
            && self.messages_from(next, kind) == *messages
            && self.answers_are(known);
        if !is_same {
            return;
        }
        let rounds = (end.0 + 1 - next.0) / length.0;
        let time = length * rounds;
        for (now, before) in self.members.delivered.iter_mut().zip(known) {
            // Of those who do not answer nothing new is known.
            if now.as_of > before.as_of {
                now.as_of += time;
            }
        }
        for (_, message) in self.agenda.in_order() {
            if let Message::Answer(_, answer) = *message {
                self.answers[answer].1 += time;
            }
        }
        self.agenda.postpone(time, |message| kind.has(message));
        self.coordinator.pass_rounds(time);
        self.latest += time;
        let in_one = self.counters.since(&counted);
        self.counters.add_times(&in_one, rounds);
    }

    /// Whether nothing is under way, and no member has told or done anything from `since` on.
    fn has_rested_since(&self, since: SimTime) -> bool {
        let rests = |device: &Device<P>| device.last_activity() < since && device.rests_but_for_thresholds();
        self.rounds.is_some_and(|rounds| !rounds.has_told)
            && self.ahead.is_none()
            && self.requests.live() == 0
            && self.transactions.live() == 0
            && self.members.devices.iter().all(rests)
    }

    /// Whether members have answered, and will answer, what was known before.
    fn answers_are(&self, known: &[Delivered]) -> bool {
        let on_their_way = self.agenda.in_order().filter_map(|(_, message)| match *message {
            Message::Answer(device, answer) => Some((device.index(), Some(self.answers[answer].0))),
            _ => None,
        });
        let now = self.members.delivered.iter().enumerate().map(|(member, known)| (member, known.status));
        now.chain(on_their_way).all(|(member, status)| status == known[member].status)
    }

    /// Messages of rounds that wait, in order, and how long after a moment each is due. Where answers are kept does not matter.
    fn messages_from(&self, moment: SimTime, kind: Kind) -> Vec<(SimDuration, Message)> {
        let all = self.agenda.in_order().filter(|(_, message)| kind.has(message));
        let place_of = |message: &Message| match *message {
            Message::Answer(device, _) => Message::Answer(device, 0),
            other => other,
        };
        all.map(|(at, message)| (at - moment, place_of(message))).collect()
    }
}
