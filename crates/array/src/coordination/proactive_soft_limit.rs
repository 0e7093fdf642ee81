//! The array estimates when each member will reach its hard threshold. It starts a joint collection at a quiet moment just
//! before that.
//!
//! 1. Every `poll` the array asks each capable member for its status (two messages each). If the answers take longer than
//!    that, it asks at the first multiple of `poll` after they have arrived.
//! 2. Two answers show how fast a member uses up the writes it has left until hard. From that follows when it will reach hard:
//!    its deadline.
//! 3. A collection is due once the soonest deadline is at most `horizon` away. The array orders it at the first moment with at
//!    most `quiet` requests outstanding.
//! 4. A member takes part if it is at soft or has a deadline within the horizon, and if at least `min_fragmentation` of its
//!    written pages are invalid. A member with `max_error_rate` or more correctable errors a page read always takes part.
//! 5. A member that reaches hard earlier ends the wait, as in reactive-selective.
//!
//! `collect` says how the array learns about its members. With `"pull"` it queries them. With `"push"` it asks nothing: a
//! member's soft notice alone makes a collection due. With `"both"`, the default, queries decide when to collect, and a member
//! that sent a notice counts as at soft.
//!
//! **When it wins.** A reactive collection starts because a request has reached the threshold. That request waits for all of
//! the collection, and so do the requests around it. A collection that starts in a gap is partly over when the next request
//! comes.
//!
//! **When it does not.** If requests are always outstanding, there is no quiet moment, and the policy is reactive-selective
//! plus messages. If gaps are shorter than a collection, some request waits all the same. Every collection starts up to
//! one horizon early, which costs erases.
//!
//! Polling stops while the array is silent, because only writes bring a member nearer to its threshold. The error rate is
//! unknown today, because bit errors are not modelled, so it decides nothing.
//!
//! The array does not wait for the answer of a member that failed. It measures the pace of its replacement anew.
//!
//! Source: IEEE TC 2012 (section 4.3.2) and MSST 2011 (section IV-C), "proactive soft-limit". Both papers describe it and
//! evaluate it nowhere. The periodic collection of state (fragmentation, free blocks, correctable error rate), pull or push,
//! and "an optimal point in the I/O stream" are theirs. The rule above is ours.
//!
//! Leaves out: a prediction of how long a gap lasts, and collecting in long idle time (proactive-idle does that).

use harmonia_ssd::interface::{Status, Stop};
use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{DeviceId, SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::participants::Participants;
use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};
use crate::config::Interface;

/// Keys of `[array.coordination]` with `policy = "proactive-soft-limit"`.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// How the members' state becomes known.
    collect: Collect,
    /// Time between two rounds of queries.
    poll: SimDuration,
    /// A collection is due this long before the first member would reach hard.
    horizon: SimDuration,
    /// Time over which a member's pace is averaged.
    memory: SimDuration,
    /// A moment is quiet with at most this many host requests outstanding.
    quiet: u64,
    /// Share of invalid pages among the written ones from which collecting pays.
    #[schemars(range(min = 0, max = 1))]
    min_fragmentation: f64,
    /// Correctable errors per page read from which a member takes part in every collection, so that its pages are rewritten.
    max_error_rate: f64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            collect: Collect::Both,
            poll: SimDuration::from_us(5_000),
            horizon: SimDuration::from_us(20_000),
            memory: SimDuration::from_us(100_000),
            quiet: 0,
            min_fragmentation: 0.05,
            max_error_rate: 0.001,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Collect {
    Pull,
    Push,
    Both,
}

/// What two answers told of a member.
#[derive(Debug, Clone, Copy, Default)]
struct Pace {
    /// Writes-until-hard at the last answer since it last collected.
    last: Option<(SimTime, u64)>,
    /// Decline of it, in pages a nanosecond.
    rate: f64,
}

impl Pace {
    /// An answer: `writes` are left at `now`.
    fn note(&mut self, now: SimTime, writes: u64, memory: SimDuration) {
        if let Some((then, before)) = self.last
            && before >= writes
            && now > then
        {
            let elapsed = (now - then).0 as f64;
            let observed = (before - writes) as f64 / elapsed;
            self.rate += (observed - self.rate) * elapsed / (elapsed + memory.0 as f64);
        }
        self.last = Some((now, writes));
    }

    /// When the member reaches hard if it goes on like this.
    fn deadline(&self) -> SimTime {
        match self.last {
            Some((now, 0)) => now,
            Some((now, writes)) if self.rate > 0.0 => {
                SimTime(now.0.saturating_add((writes as f64 / self.rate) as u64))
            }
            _ => SimTime::NEVER,
        }
    }
}

#[derive(Clone)]
struct ProactiveSoftLimit {
    config: Config,
    message_latency: SimDuration,
    participants: Participants,
    /// By member.
    paces: Vec<Pace>,
    /// Host requests that have arrived and not completed.
    outstanding: u64,
    /// Something has arrived since the last round of queries.
    is_active: bool,
    /// The timer of the next round is on its way.
    is_polling: bool,
    /// By member: its answer of this round is still to come.
    is_awaited: Vec<bool>,
    /// A collection waits for a quiet moment.
    is_due: bool,
    /// Answers up to here may not know of the last force yet.
    blind_until: SimTime,
    polls: u64,
    quiet_collections: u64,
    forced_when_quiet: u64,
    forced_at_hard: u64,
}

impl ProactiveSoftLimit {
    fn new(config: Config, devices: u16, message_latency: SimDuration) -> Self {
        ProactiveSoftLimit {
            config,
            message_latency,
            participants: Participants::new(devices),
            paces: vec![Pace::default(); usize::from(devices)],
            outstanding: 0,
            is_active: false,
            is_polling: false,
            is_awaited: vec![false; usize::from(devices)],
            is_due: false,
            blind_until: SimTime::ZERO,
            polls: 0,
            quiet_collections: 0,
            forced_when_quiet: 0,
            forced_at_hard: 0,
        }
    }

    /// Asks everybody, unless nothing has happened since the last time.
    fn poll(&mut self, now: SimTime, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        self.is_polling = false;
        if !self.is_active && self.outstanding == 0 {
            return;
        }
        if self.is_awaited.contains(&true) {
            // Answers of two rounds at once would never be complete; the last answer sets the timer again.
            return;
        }
        self.is_active = false;
        self.polls += 1;
        for member in view.capable() {
            self.is_awaited[member.index()] = true;
            actions.push(Action::Query(member));
        }
        self.arm(now, actions);
    }

    /// Sets the timer of the next round: rounds are at multiples of `poll`.
    fn arm(&mut self, now: SimTime, actions: &mut Vec<Action>) {
        if !self.is_polling && self.config.collect != Collect::Push {
            self.is_polling = true;
            let poll = self.config.poll.0;
            actions.push(Action::Timer(SimTime((now.0 / poll + 1) * poll), 0));
        }
    }

    /// Whether collecting wins enough; an unknown member is given the benefit of the doubt.
    fn is_worthwhile(&self, status: Option<Status>) -> bool {
        status.is_none_or(|status| status.fragmentation >= self.config.min_fragmentation)
    }

    /// Whether a member would reach hard within the horizon.
    fn is_near(&self, member: DeviceId, now: SimTime) -> bool {
        self.paces[member.index()].deadline() <= now + self.config.horizon
    }

    /// All answers of a round are there: is it time?
    fn judge(&mut self, now: SimTime, view: &DeliveredView<'_>) {
        self.is_due = view.capable().any(|member| {
            let known = &view.members[member.index()];
            !known.collecting
                && known.as_of >= self.blind_until
                && self.is_near(member, now)
                && self.is_worthwhile(known.status)
        });
    }

    /// A member's answer has come, or never will: is the round complete?
    fn answered(
        &mut self,
        member: DeviceId,
        now: SimTime,
        view: &DeliveredView<'_>,
        actions: &mut Vec<Action>,
    ) {
        self.is_awaited[member.index()] = false;
        if !self.is_awaited.contains(&true) {
            self.judge(now, view);
            self.seize(now, view, actions);
            self.arm(now, actions);
        }
    }

    /// Who would take part now.
    fn joins(&self, member: DeviceId, now: SimTime, view: &DeliveredView<'_>) -> bool {
        let status = view.members[member.index()].status;
        let errors = status.and_then(|status| status.correctable_error_rate);
        if errors.is_some_and(|rate| rate >= self.config.max_error_rate) {
            return true;
        }
        let told = self.config.collect != Collect::Pull && self.participants.includes(member);
        let asked = self.config.collect != Collect::Push
            && (self.is_near(member, now) || status.is_some_and(|status| status.below_soft));
        (told || asked) && self.is_worthwhile(status)
    }

    /// Orders the collection that is due if the moment is quiet.
    fn seize(&mut self, now: SimTime, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        if !self.is_due || self.outstanding > self.config.quiet {
            return;
        }
        let before = actions.len();
        let joining = view.capable().filter(|&member| self.joins(member, now, view));
        actions.extend(joining.map(|member| Action::Force(member, Stop::Internal)));
        self.quiet_collections += 1;
        self.forced_when_quiet += (actions.len() - before) as u64;
        self.settle(now);
    }

    /// A collection was ordered.
    fn settle(&mut self, now: SimTime) {
        self.is_due = false;
        self.blind_until = now + self.message_latency + self.config.poll;
    }
}

impl Coordinator for ProactiveSoftLimit {
    fn interests(&self) -> Interests {
        Interests { devices: true, arrivals: true, completions: true, answers: false }
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        self.participants.note(event);
        match *event {
            Event::Arrival(_) => {
                self.outstanding += 1;
                self.is_active = true;
                self.arm(now, actions);
            }
            Event::Completion(_) => {
                self.outstanding -= 1;
                self.seize(now, view, actions);
            }
            Event::Timer(_) => self.poll(now, view, actions),
            Event::Status(member) => {
                let known = &view.members[member.index()];
                if let Some(status) = known.status.filter(|status| !status.gc_active) {
                    self.paces[member.index()].note(
                        known.as_of,
                        status.writes_until_hard,
                        self.config.memory,
                    );
                }
                self.answered(member, now, view, actions);
            }
            Event::Failure(member) => {
                self.paces[member.index()] = Pace::default();
                if self.is_awaited[member.index()] {
                    self.answered(member, now, view, actions);
                }
            }
            Event::SoftThreshold(_) if self.config.collect == Collect::Push => {
                self.is_due = true;
                self.seize(now, view, actions);
            }
            Event::GcEnded { device, .. } => self.paces[device.index()].last = None,
            Event::HardThreshold(_) => {
                let before = actions.len();
                let registered = view.capable().filter(|&member| self.participants.includes(member));
                actions.extend(registered.map(|member| Action::Force(member, Stop::Internal)));
                self.forced_at_hard += (actions.len() - before) as u64;
                self.settle(now);
            }
            _ => {}
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("polls", self.polls),
            ("quiet_collections", self.quiet_collections),
            ("forced_when_quiet", self.forced_when_quiet),
            ("forced_at_hard", self.forced_at_hard),
        ]
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "proactive-soft-limit",
    summary: "members that will soon have to collect do so together, while few requests are outstanding",
    source: "IEEE TC 2012, 4.3.2; MSST 2011, IV-C; the rule is ours",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let config: Config = parameters.config()?;
        if config.poll < SimDuration::from_us(10) {
            return Err("poll is too short, expected a time such as \"5ms\", at least 10us".into());
        }
        if config.memory == SimDuration::ZERO {
            return Err("memory must be above 0, expected a time such as \"100ms\"".into());
        }
        for (name, value) in
            [("min_fragmentation", config.min_fragmentation), ("max_error_rate", config.max_error_rate)]
        {
            if !(0.0..=1.0).contains(&value) {
                return Err(format!("{name} is a share, expected a number from 0 to 1"));
            }
        }
        Ok(Box::new(ProactiveSoftLimit::new(config, parameters.devices, parameters.message_latency)))
    },
};

#[cfg(test)]
mod tests {
    use super::super::Delivered;
    use super::super::tests::{arrival, completion, members};
    use super::*;

    const MS: u64 = 1_000_000;

    /// A policy of members 0 to 3, of which 3 is incapable, and what has been delivered.
    struct Bench {
        policy: ProactiveSoftLimit,
        members: Vec<Delivered>,
    }

    impl Bench {
        fn new(collect: Collect) -> Self {
            let config = Config { collect, ..Config::default() };
            Bench {
                policy: ProactiveSoftLimit::new(config, 4, SimDuration::ZERO),
                members: members(&[true, true, true, false]),
            }
        }

        fn on(&mut self, now: u64, event: Event) -> Vec<Action> {
            let mut actions = Vec::new();
            let view = DeliveredView::of(&self.members);
            self.policy.on(SimTime(now), &event, &view, &mut actions);
            actions
        }

        /// The round of `now`: every capable member's writes until hard; all are full of invalid pages.
        fn round(&mut self, now: u64, writes: [u64; 3]) -> Vec<Action> {
            let queries = (0..3).map(|member| Action::Query(DeviceId(member)));
            let mut asked = self.on(now, Event::Timer(0));
            assert_eq!(asked.pop(), Some(Action::Timer(SimTime(now + 5 * MS), 0)));
            assert!(asked.into_iter().eq(queries));
            let mut actions = Vec::new();
            for (member, writes) in writes.into_iter().enumerate() {
                let status = Status { writes_until_hard: writes, fragmentation: 0.2, ..Status::default() };
                let known = &mut self.members[member];
                let kept = known.status.map_or(status, |old| Status { writes_until_hard: writes, ..old });
                (known.status, known.as_of) = (Some(kept), SimTime(now));
                assert_eq!(actions, [], "it waits for the last answer");
                actions = self.on(now, Event::Status(DeviceId(member as u16)));
            }
            actions
        }

        fn edit(&mut self, member: usize, change: impl Fn(&mut Status)) {
            change(self.members[member].status.as_mut().expect("a round has told it"));
        }
    }

    fn force(members: &[u16]) -> Vec<Action> {
        members.iter().map(|&member| Action::Force(DeviceId(member), Stop::Internal)).collect()
    }

    #[test]
    fn the_pace_gives_the_deadline() {
        let mut pace = Pace::default();
        let memory = SimDuration(30 * MS);
        assert_eq!(pace.deadline(), SimTime::NEVER);
        pace.note(SimTime(0), 100, memory);
        assert_eq!(pace.deadline(), SimTime::NEVER, "one answer tells no pace");
        // 40 pages in 10 ms, a quarter of the memory and itself: a page a millisecond.
        pace.note(SimTime(10 * MS), 60, memory);
        assert_eq!(pace.deadline(), SimTime(70 * MS));
        pace.note(SimTime(20 * MS), 80, memory);
        assert_eq!(pace.deadline(), SimTime(100 * MS), "blocks were freed: that is no pace");
        pace.note(SimTime(30 * MS), 0, memory);
        assert_eq!(pace.deadline(), SimTime(30 * MS));
    }

    /// With messages slower than the period rounds would overlap, and none would ever be complete.
    #[test]
    fn a_round_begins_when_the_answers_of_the_last_are_in() {
        let mut bench = Bench::new(Collect::Pull);
        bench.on(MS, arrival());
        assert_eq!(bench.on(5 * MS, Event::Timer(0)).len(), 4, "three queries and the next timer");
        assert_eq!(bench.on(10 * MS, Event::Timer(0)), [], "nor does it look again before they are");
        assert_eq!(bench.on(12 * MS, Event::Status(DeviceId(0))), []);
        assert_eq!(bench.on(12 * MS, Event::Status(DeviceId(1))), []);
        assert_eq!(bench.on(12 * MS, Event::Status(DeviceId(2))), [Action::Timer(SimTime(15 * MS), 0)]);
        assert_eq!(bench.on(15 * MS, Event::Timer(0)).len(), 4);
    }

    #[test]
    fn it_waits_for_the_horizon_and_then_for_a_quiet_moment() {
        let mut bench = Bench::new(Collect::Pull);
        assert_eq!(bench.on(MS, arrival()), [Action::Timer(SimTime(5 * MS), 0)]);
        bench.policy.paces[1].rate = 1e-6;
        // Member 1 will be at hard 20,000,001 ns from now, then 20 ms.
        assert_eq!(bench.round(5 * MS, [50, 21, 50]), []);
        assert!(!bench.policy.is_due);
        bench.policy.paces[1].last = None;
        assert_eq!(bench.round(10 * MS, [50, 20, 50]), [], "due, but a request is out");
        assert_eq!(bench.on(11 * MS, arrival()), []);
        assert_eq!(bench.on(12 * MS, completion()), [], "one is still out");
        assert_eq!(bench.on(13 * MS, completion()), force(&[1]), "the others are not near");
        assert_eq!(bench.on(14 * MS, arrival()), []);
        assert_eq!(bench.on(14 * MS, completion()), [], "once");
    }

    #[test]
    fn those_at_soft_take_part_if_it_wins_enough_and_those_with_errors_always() {
        let mut bench = Bench::new(Collect::Both);
        bench.on(0, arrival());
        assert_eq!(bench.round(5 * MS, [50, 0, 50]), []);
        bench.edit(0, |status| status.below_soft = true);
        assert_eq!(bench.on(6 * MS, completion()), force(&[0, 1]));

        // By notice, and an incapable member that cannot have sent one.
        let mut bench = Bench::new(Collect::Both);
        bench.on(0, arrival());
        bench.round(5 * MS, [50, 0, 50]);
        for member in [2, 3] {
            bench.on(6 * MS, Event::SoftThreshold(DeviceId(member)));
        }
        bench.edit(2, |status| status.fragmentation = 0.05);
        assert_eq!(bench.on(7 * MS, completion()), force(&[1, 2]));

        let mut bench = Bench::new(Collect::Pull);
        bench.on(0, arrival());
        bench.round(5 * MS, [50, 0, 50]);
        bench.on(6 * MS, Event::SoftThreshold(DeviceId(2)));
        bench.edit(0, |status| status.correctable_error_rate = Some(0.001));
        assert_eq!(bench.on(7 * MS, completion()), force(&[0, 1]), "a pull has no ear for notices");

        let mut bench = Bench::new(Collect::Both);
        bench.on(0, arrival());
        bench.round(5 * MS, [50, 0, 50]);
        bench.edit(0, |status| (status.below_soft, status.fragmentation) = (true, 0.049));
        bench.edit(2, |status| status.correctable_error_rate = Some(0.000_999));
        assert_eq!(bench.on(7 * MS, completion()), force(&[1]), "too little to win, too few errors");
    }

    #[test]
    fn a_push_makes_a_collection_due_without_any_query() {
        let mut bench = Bench::new(Collect::Push);
        assert_eq!(bench.on(0, arrival()), [], "no polling");
        bench.on(1, Event::SoftThreshold(DeviceId(2)));
        assert_eq!(bench.on(2, completion()), force(&[2]));
        // A notice that took its time and comes when all is quiet.
        assert_eq!(bench.on(3, Event::SoftThreshold(DeviceId(1))), force(&[1, 2]));
    }

    #[test]
    fn a_member_at_hard_ends_the_wait_as_in_reactive_selective() {
        let mut bench = Bench::new(Collect::Both);
        bench.on(0, arrival());
        bench.round(5 * MS, [50, 0, 50]);
        bench.on(6 * MS, Event::SoftThreshold(DeviceId(0)));
        assert_eq!(bench.on(6 * MS, Event::HardThreshold(DeviceId(1))), force(&[0]));
        assert_eq!(bench.on(7 * MS, completion()), [], "nothing is due any more");
        // An answer that may be older than the force makes nothing due; later ones may.
        bench.on(8 * MS, arrival());
        assert_eq!(bench.round(10 * MS, [50, 0, 50]), []);
        assert_eq!(bench.on(11 * MS, completion()), []);
        bench.on(12 * MS, arrival());
        bench.on(12 * MS, completion());
        assert_eq!(bench.round(15 * MS, [50, 0, 50]), force(&[0, 1]));
        let expected =
            [("polls", 3), ("quiet_collections", 1), ("forced_when_quiet", 2), ("forced_at_hard", 1)];
        assert_eq!(bench.policy.counters(), expected);
    }

    #[test]
    fn only_its_own_orders_are_counted() {
        let mut bench = Bench::new(Collect::Push);
        let view = DeliveredView::of(&bench.members);
        let mut actions = vec![Action::Query(DeviceId(2)); 3];
        for event in [Event::SoftThreshold(DeviceId(1)), Event::HardThreshold(DeviceId(0))] {
            bench.policy.on(SimTime(MS), &event, &view, &mut actions);
        }
        assert_eq!(actions[3..], force(&[1, 1]));
        let counters = bench.policy.counters();
        assert_eq!(
            counters[1..],
            [("quiet_collections", 1), ("forced_when_quiet", 1), ("forced_at_hard", 1)]
        );
    }

    #[test]
    fn polling_rests_while_the_array_is_silent() {
        let mut bench = Bench::new(Collect::Pull);
        assert_eq!(bench.on(MS, arrival()), [Action::Timer(SimTime(5 * MS), 0)]);
        assert_eq!(bench.on(2 * MS, completion()), []);
        bench.round(5 * MS, [50, 50, 50]);
        assert_eq!(bench.on(10 * MS, Event::Timer(0)), []);
        assert_eq!(bench.on(50 * MS, arrival()), [Action::Timer(SimTime(55 * MS), 0)]);
    }

    /// Polling went on for ever without its answer; and the round is judged by the others.
    #[test]
    fn the_answer_of_a_member_that_fails_is_not_waited_for() {
        let mut bench = Bench::new(Collect::Pull);
        bench.on(0, arrival());
        bench.on(0, completion());
        assert_eq!(bench.round(5 * MS, [1_000, 1_000, 1_000]), []);
        bench.on(6 * MS, arrival());
        bench.on(6 * MS, completion());
        assert_eq!(bench.on(10 * MS, Event::Timer(0)).len(), 4, "three queries, and a timer");
        for member in [0, 2] {
            let status = bench.members[member].status.expect("a round has told it");
            let status = Status { writes_until_hard: 100, ..status };
            (bench.members[member].status, bench.members[member].as_of) = (Some(status), SimTime(10 * MS));
            assert_eq!(bench.on(10 * MS, Event::Status(DeviceId(member as u16))), [], "one is awaited");
        }
        bench.members[1].capable = false;
        assert_eq!(bench.on(11 * MS, Event::Failure(DeviceId(1))), force(&[0, 2]));
        bench.members[1] = Delivered { status: None, capable: true, ..bench.members[1] };
        assert_eq!(bench.on(12 * MS, Event::Replacement(DeviceId(1))), []);
        bench.on(13 * MS, arrival());
        assert_eq!(bench.on(15 * MS, Event::Timer(0)).len(), 4, "the replacement is asked as well");
    }
}
