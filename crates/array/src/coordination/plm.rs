//! NVMe's predictable-latency mode: a member collects in its non-deterministic window, and reads avoid it for that time.
//!
//! 1. At most `members` members are in their non-deterministic window (NDWIN) at once, each for `non_deterministic`. All
//!    others are in their deterministic window (DTWIN), in which a member collects only at its hard threshold.
//! 2. Members take turns. After its window a member goes to the end of the queue.
//! 3. A member that warns that it must soon collect goes to the front of the queue.
//! 4. A member that reaches hard in its deterministic window has left it on its own (an autonomous change). It counts as
//!    non-deterministic at once, for a whole window, and later members wait if there is no room beside it.
//! 5. Reads do without members that are non-deterministic. Reads that wait in the queue of a member
//!    when it begins to collect are answered without it, too. If more
//!    members of a row collect than redundancy can replace, a read does without those with the longest time left.
//!
//! Turns are spaced so that each member is deterministic for `deterministic` between two windows. By default there is no
//! pause between turns, so that is (n / k - 1) x `non_deterministic` with n members, k at a time. The run warns where that
//! cannot work. Then the turns take longer than `deterministic`, a collection takes longer than a window, or writes at full
//! rate use up a member's space before its next window. [rates.rs](../crates/array/src/coordination/rates.rs) estimates the
//! last two.
//!
//! Without redundancy the policy does nothing, because a read has no way around a member. The turn of a member that fails goes to
//! the next one, and its replacement queues at the end. While failures leave redundancy for fewer than `members` members, only so
//! many are non-deterministic at once; while they leave none, nobody has a window and members collect as under `local`.
//!
//! Source: the standard names the two windows, their selection by the host (feature 14h of the NVM Express base
//! specification), the warnings and the autonomous change (feature 13h, log page 0Ah). It leaves open how an array uses them:
//! the rotation is ours.
//!
//! Leaves out: several NVM sets in a device, the budget of reads in a deterministic window, and estimates that a device gives
//! of its own budgets.

use std::collections::VecDeque;

use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{DeviceId, SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rates::Rates;
use super::redundancy::Redundancy;
use super::{Action, Build, Coordinator, DeliveredView, Event, Interests, Parameters};
use crate::config::{Avoid, Interface, Reads};

/// The number of the timer of the next turn; others are those of members.
const TURN: u64 = 1 << 16;

/// Keys of `[array.coordination]` with `policy = "plm"`.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Members that may be non-deterministic at once; at most as many as redundancy can replace.
    members: u16,
    /// Length of a non-deterministic window.
    non_deterministic: SimDuration,
    /// Time a member is deterministic between two windows; none: as short as the turns of the others allow.
    deterministic: Option<SimDuration>,
}

impl Default for Config {
    fn default() -> Self {
        Config { members: 1, non_deterministic: SimDuration::from_ms(50), deterministic: None }
    }
}

#[derive(Clone)]
struct Plm {
    is_on: bool,
    /// The turns go round: somebody was there to be told when the run began.
    rotates: bool,
    /// Members at once.
    most: usize,
    window: SimDuration,
    /// From turn to turn.
    spacing: SimDuration,
    /// Deterministic members, the next to have a window first.
    waiting: VecDeque<DeviceId>,
    /// Non-deterministic members, and until when.
    open: Vec<(DeviceId, SimTime)>,
    redundancy: Redundancy,
    cautions: Vec<String>,
    window_warnings: u64,
    autonomous_changes: u64,
}

impl Plm {
    fn new(config: Config, parameters: &Parameters<'_>) -> Self {
        let Config { members: most, non_deterministic: window, deterministic } = config;
        let capable =
            |&device: &DeviceId| parameters.members.get(device.index()).is_some_and(|member| member.capable);
        let waiting: VecDeque<_> = (0..parameters.devices).map(DeviceId).filter(capable).collect();
        let turns = waiting.len().div_ceil(usize::from(most)).max(1) as u64;
        let shortest = window * (turns - 1);
        let deterministic = deterministic.unwrap_or(shortest);
        let is_on = parameters.redundancy > 0;
        let rates = Rates::of(parameters.members).filter(|_| is_on);
        Plm {
            is_on,
            rotates: false,
            most: usize::from(most),
            window,
            spacing: SimDuration((deterministic + window).0 / turns).max(window),
            waiting,
            open: Vec::new(),
            redundancy: Redundancy::new(parameters.devices, parameters.redundancy),
            cautions: rates.map_or(Vec::new(), |rates| cautions(window, deterministic, shortest, &rates)),
            window_warnings: 0,
            autonomous_changes: 0,
        }
    }

    /// Gives windows to the first members in the queue, as many as there is room for.
    fn turn(&mut self, now: SimTime, actions: &mut Vec<Action>) {
        while self.open.len() < self.at_once_now()
            && let Some(member) = self.waiting.pop_front()
        {
            self.open(member, now, actions);
        }
        actions.push(Action::Timer(now + self.spacing, TURN));
    }

    fn open(&mut self, member: DeviceId, now: SimTime, actions: &mut Vec<Action>) {
        let until = now + self.window;
        self.open.push((member, until));
        actions.push(Action::Avoid(member));
        actions.push(Action::Window { device: member, from: now, until });
        actions.push(Action::Timer(until, u64::from(member.0)));
    }

    /// A window is over, unless it was that of a member that failed since.
    fn close(&mut self, member: DeviceId, now: SimTime, actions: &mut Vec<Action>) {
        let Some(place) = self.open.iter().position(|&open| open.0 == member && open.1 <= now) else {
            return;
        };
        self.open.remove(place);
        self.waiting.push_back(member);
        actions.push(Action::Use(member));
        if self.redundancy.left() == 0 {
            // The end of its window holds it.
            actions.push(Action::Release(member));
        }
    }

    /// A member has no turn any more. If reads can do without nobody now, windows make no sense.
    fn fail(&mut self, member: DeviceId, had: u16, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        self.leaves_queue(member);
        self.open.retain(|open| open.0 != member);
        if had > 0 && self.redundancy.left() == 0 {
            actions.extend(self.open.iter().map(|open| Action::Use(open.0)));
            actions.extend(view.capable().map(Action::Release));
        }
    }

    /// A replacement is rebuilt. If that makes windows possible again, whoever has none is deterministic.
    fn resume(&self, had: u16, actions: &mut Vec<Action>) {
        if had == 0 && self.redundancy.left() > 0 {
            actions.extend(self.waiting.iter().copied().map(Action::Hold));
        }
    }

    /// Members that have a window at the same time now.
    fn at_once_now(&self) -> usize {
        self.most.min(usize::from(self.redundancy.left()))
    }

    /// Takes a member out of the queue; whether it was there.
    fn leaves_queue(&mut self, member: DeviceId) -> bool {
        let place = self.waiting.iter().position(|&other| other == member);
        place.and_then(|place| self.waiting.remove(place)).is_some()
    }
}

/// Turns until the same members are next again, so many at once; 1 if nobody has a turn.
fn turns_of_round(members: usize, at_once: usize) -> u64 {
    let (mut divisor, mut rest) = (members, at_once);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    if at_once == 0 { 1 } else { (members / divisor) as u64 }
}

/// Which conditions of a rotation that works do not hold. `shortest` is how long the turns of the others take.
fn cautions(
    window: SimDuration,
    deterministic: SimDuration,
    shortest: SimDuration,
    rates: &Rates,
) -> Vec<String> {
    let (collection, endurance, between) = (rates.collection, rates.endurance(), deterministic.max(shortest));
    let turns = (deterministic < shortest).then(|| {
        format!(
            "array.coordination.deterministic is {deterministic}, but a member has to wait {shortest} for the turns of the \
             others"
        )
    });
    let overruns = (window < collection).then(|| {
        format!(
            "array.coordination.non_deterministic is {window}, but a collection takes up to {collection} and goes on when the \
             window is over"
        )
    });
    let runs_out = (between > endurance).then(|| {
        format!(
            "a member is deterministic for {between} at a time, but writes at full rate use up the space between its soft and \
             its hard threshold in {endurance}; then it collects outside its window"
        )
    });
    [turns, overruns, runs_out].into_iter().flatten().collect()
}

impl Coordinator for Plm {
    fn interests(&self) -> Interests {
        Interests { devices: self.is_on, ..Interests::default() }
    }

    fn interface(&self) -> Interface {
        if self.is_on { Interface::Window } else { Interface::Nothing }
    }

    fn keeps_apart(&self) -> bool {
        self.is_on
    }

    fn at_once(&self) -> u16 {
        self.most as u16
    }

    fn reads(&self) -> Option<Reads> {
        self.is_on.then_some(Reads::Avoid(Avoid::Longest))
    }

    fn cautions(&self) -> Vec<String> {
        self.cautions.clone()
    }

    /// Turns go round as soon as all who have a window have it of the same turn.
    fn round(&self) -> Option<SimDuration> {
        let members = self.waiting.len() + self.open.len();
        let at_once = self.at_once_now().min(members);
        let is_regular = match self.open.first() {
            Some(first) => self.open.len() == at_once && self.open.iter().all(|open| open.1 == first.1),
            None => true,
        };
        (self.is_on && is_regular).then(|| self.spacing * turns_of_round(members, at_once))
    }

    fn pass_rounds(&mut self, time: SimDuration) {
        self.open.iter_mut().for_each(|open| open.1 += time);
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        if !self.is_on {
            return;
        }
        let had = self.redundancy.left();
        self.redundancy.note(event);
        match *event {
            // Without a capable member there is nobody to tell.
            Event::Start if !self.waiting.is_empty() => {
                self.rotates = true;
                actions.extend(self.waiting.iter().skip(self.most).copied().map(Action::Hold));
                self.turn(now, actions);
            }
            Event::Timer(TURN) => self.turn(now, actions),
            Event::Timer(member) => self.close(DeviceId(member as u16), now, actions),
            Event::WindowWarning(member) if self.leaves_queue(member) => {
                self.window_warnings += 1;
                self.waiting.push_front(member);
            }
            Event::HardThreshold(member) if had > 0 && self.leaves_queue(member) => {
                self.autonomous_changes += 1;
                self.open(member, now, actions);
            }
            Event::Failure(member) => self.fail(member, had, view, actions),
            Event::Replacement(member) if self.rotates && view.members[member.index()].capable => {
                self.waiting.push_back(member);
                if had > 0 {
                    actions.push(Action::Hold(member));
                }
            }
            Event::Rebuilt(_) => self.resume(had, actions),
            _ => {}
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("window_warnings", self.window_warnings), ("autonomous_changes", self.autonomous_changes)]
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "plm",
    summary: "members collect in turn, in NVMe's non-deterministic windows, and are not read for that time",
    source: "NVMe predictable-latency mode; rotation ours",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let config: Config = parameters.config()?;
        let redundancy = parameters.redundancy;
        if config.members == 0 {
            return Err("members is too small, expected at least 1".into());
        }
        if redundancy > 0 && config.members > redundancy {
            return Err(format!(
                "members is too large, expected at most {redundancy}: reads can do without no more"
            ));
        }
        if config.non_deterministic < SimDuration::from_us(10) {
            return Err(
                "non_deterministic is too short, expected a time such as \"50ms\", at least 10us".into()
            );
        }
        Ok(Box::new(Plm::new(config, parameters)))
    },
};

#[cfg(test)]
mod tests {
    use super::super::rates;
    use super::super::tests::{
        built, decisions, ended, failed, follow_rounds, hard, members, rebuilt, replaced,
    };
    use super::*;

    /// In units of 1,000 ns.
    const US: u64 = 1_000;

    /// Four members of the array papers, the last of them incapable if so asked.
    fn policy(redundancy: u16, last_is_capable: bool, keys: &str) -> Box<dyn Coordinator> {
        let own = serde_json::from_str(keys).expect("a test writes JSON");
        let mut members = rates::tests::members(4, 103);
        members[3].capable = last_is_capable;
        let message_latency = SimDuration::ZERO;
        let parameters = Parameters { devices: 4, redundancy, members: &members, message_latency, own: &own };
        (ENTRY.build)(&parameters).expect("these keys will do")
    }

    const fn avoid(member: u16) -> Action {
        Action::Avoid(DeviceId(member))
    }

    const fn window(device: u16, from: u64, until: u64) -> Action {
        Action::Window { device: DeviceId(device), from: SimTime(from * US), until: SimTime(until * US) }
    }

    const fn timer(at: u64, number: u64) -> Action {
        Action::Timer(SimTime(at * US), number)
    }

    const fn back(member: u16) -> [Action; 1] {
        [Action::Use(DeviceId(member))]
    }

    const fn hold(member: u16) -> Action {
        Action::Hold(DeviceId(member))
    }

    fn warning(member: u16) -> Event {
        Event::WindowWarning(DeviceId(member))
    }

    fn closes(member: u64) -> Event {
        Event::Timer(member)
    }

    const NEXT: Event = Event::Timer(TURN);
    const KEYS: &str = r#"{"non_deterministic": "50us"}"#;

    #[test]
    fn members_take_turns_and_a_warning_wins_one() {
        decisions(
            &mut *policy(1, false, KEYS),
            &[
                (
                    0,
                    Event::Start,
                    &[hold(1), hold(2), avoid(0), window(0, 0, 50), timer(50, 0), timer(50, TURN)],
                ),
                (10 * US, ended(0, false), &[]),
                (50 * US, closes(0), &back(0)),
                (50 * US, NEXT, &[avoid(1), window(1, 50, 100), timer(100, 1), timer(100, TURN)]),
                (60 * US, warning(0), &[]),
                (61 * US, warning(1), &[]),
                (100 * US, closes(1), &back(1)),
                (100 * US, NEXT, &[avoid(0), window(0, 100, 150), timer(150, 0), timer(150, TURN)]),
                (150 * US, closes(0), &back(0)),
                (150 * US, NEXT, &[avoid(2), window(2, 150, 200), timer(200, 2), timer(200, TURN)]),
            ],
        );
    }

    #[test]
    fn an_autonomous_change_counts_at_once_and_takes_the_room_of_the_next() {
        let mut policy = policy(1, true, KEYS);
        decisions(
            &mut *policy,
            &[
                (
                    0,
                    Event::Start,
                    &[hold(1), hold(2), hold(3), avoid(0), window(0, 0, 50), timer(50, 0), timer(50, TURN)],
                ),
                (5 * US, hard(0), &[]),
                (20 * US, hard(2), &[avoid(2), window(2, 20, 70), timer(70, 2)]),
                (30 * US, hard(2), &[]),
                (50 * US, closes(0), &back(0)),
                (50 * US, NEXT, &[timer(100, TURN)]),
                (70 * US, closes(2), &back(2)),
                (100 * US, NEXT, &[avoid(1), window(1, 100, 150), timer(150, 1), timer(150, TURN)]),
            ],
        );
        assert_eq!(policy.counters(), [("window_warnings", 0), ("autonomous_changes", 1)]);
    }

    /// Two at a time make two turns: (110 + 50) / 2 = 80 from one to the next.
    #[test]
    fn turns_are_spaced_by_the_time_that_members_are_deterministic() {
        decisions(
            &mut *policy(2, true, r#"{"members": 2, "non_deterministic": "50us", "deterministic": "110us"}"#),
            &[
                (
                    0,
                    Event::Start,
                    &[
                        hold(2),
                        hold(3),
                        avoid(0),
                        window(0, 0, 50),
                        timer(50, 0),
                        avoid(1),
                        window(1, 0, 50),
                        timer(50, 1),
                        timer(80, TURN),
                    ],
                ),
                (50 * US, closes(0), &back(0)),
                (50 * US, closes(1), &back(1)),
                (
                    80 * US,
                    NEXT,
                    &[
                        avoid(2),
                        window(2, 80, 130),
                        timer(130, 2),
                        avoid(3),
                        window(3, 80, 130),
                        timer(130, 3),
                        timer(160, TURN),
                    ],
                ),
            ],
        );
    }

    /// A collection takes 14.525 ms, and 16.5 MB at 300 MB/s 55 ms.
    #[test]
    fn what_cannot_work_is_told() {
        for (keys, told) in [
            (r#"{"non_deterministic": "15ms"}"#, &[][..]),
            (r#"{"non_deterministic": "14ms"}"#, &["up to 14.525ms"]),
            (r#"{"non_deterministic": "20ms"}"#, &["deterministic for 60ms at a time"]),
            (
                r#"{"non_deterministic": "20ms", "deterministic": "50ms"}"#,
                &["has to wait 60ms", "deterministic for 60ms at a time"],
            ),
        ] {
            let cautions = policy(1, true, keys).cautions();
            assert_eq!(cautions.len(), told.len(), "{cautions:?}");
            assert!(cautions.iter().zip(told).all(|(text, part)| text.contains(part)), "{cautions:?}");
        }
    }

    #[test]
    fn times_that_just_work_are_told_of_no_more() {
        let rates = Rates::of(&rates::tests::members(4, 103)).expect("they have rates");
        let (window, endurance) = (rates.collection, rates.endurance());
        let told = |window, deterministic| cautions(window, deterministic, SimDuration::ZERO, &rates).len();
        assert_eq!([told(window, endurance), told(SimDuration(window.0 - 1), endurance)], [0, 1]);
        assert_eq!(told(window, SimDuration(endurance.0 + 1)), 1);
        assert!(policy(0, true, r#"{"non_deterministic": "14ms"}"#).cautions().is_empty(), "it does nothing");
    }

    #[test]
    fn no_more_members_at_once_than_reads_can_do_without() {
        let refused = |redundancy, keys| built(&ENTRY, 4, redundancy, keys).err().unwrap_or_default();
        assert!(refused(1, r#"{"members": 2}"#).contains("at most 1"));
        assert!(refused(0, r#"{"members": 0}"#).contains("at least 1"));
        assert!(refused(1, r#"{"non_deterministic": "9us"}"#).contains("at least 10us"));
        assert_eq!(refused(1, r#"{"non_deterministic": "10us"}"#), "");
        let told = |policy: Box<dyn Coordinator>| (policy.interface(), policy.round().is_some());
        assert_eq!(told(policy(1, true, KEYS)), (Interface::Window, true));
        assert_eq!(told(policy(0, true, KEYS)), (Interface::Nothing, false));
        assert_eq!(
            [1, 2].map(|most| policy(2, true, &format!(r#"{{"members": {most}}}"#)).at_once()),
            [1, 2]
        );
        let mut policy = policy(0, true, r#"{"members": 2}"#);
        assert_eq!(
            (policy.reads(), policy.interests(), policy.keeps_apart()),
            (None, Interests::default(), false)
        );
        decisions(&mut *policy, &[(0, Event::Start, &[])]);
    }

    const fn release(member: u16) -> Action {
        Action::Release(DeviceId(member))
    }

    /// Member 0 fails in its window. With no redundancy left nobody has a window, and one that member 2 took by itself is not
    /// read around.
    #[test]
    fn with_no_redundancy_left_nobody_has_a_window_until_the_replacement_is_rebuilt() {
        decisions(
            &mut *policy(1, true, KEYS),
            &[
                (
                    0,
                    Event::Start,
                    &[hold(1), hold(2), hold(3), avoid(0), window(0, 0, 50), timer(50, 0), timer(50, TURN)],
                ),
                (20 * US, hard(2), &[avoid(2), window(2, 20, 70), timer(70, 2)]),
                (30 * US, failed(0), &[Action::Use(DeviceId(2)), release(1), release(2), release(3)]),
                (40 * US, hard(3), &[]),
                (45 * US, replaced(0), &[]),
                (50 * US, closes(0), &[]),
                (50 * US, NEXT, &[timer(100, TURN)]),
                (70 * US, closes(2), &[Action::Use(DeviceId(2)), release(2)]),
                (80 * US, rebuilt(0), &[hold(1), hold(3), hold(0), hold(2)]),
                (100 * US, NEXT, &[avoid(1), window(1, 100, 150), timer(150, 1), timer(150, TURN)]),
                (150 * US, closes(1), &back(1)),
                (150 * US, NEXT, &[avoid(3), window(3, 150, 200), timer(200, 3), timer(200, TURN)]),
            ],
        );
    }

    /// The first of two replacements is rebuilt: reads still need every member.
    #[test]
    fn with_one_more_missing_a_rebuilt_replacement_brings_no_window_back() {
        decisions(
            &mut *policy(1, true, KEYS),
            &[
                (
                    0,
                    Event::Start,
                    &[hold(1), hold(2), hold(3), avoid(0), window(0, 0, 50), timer(50, 0), timer(50, TURN)],
                ),
                (30 * US, failed(0), &[release(1), release(2), release(3)]),
                (40 * US, failed(1), &[]),
                (60 * US, rebuilt(0), &[]),
                (70 * US, rebuilt(1), &[hold(2), hold(3)]),
            ],
        );
    }

    #[test]
    fn with_one_of_two_left_one_member_at_a_time_has_a_window() {
        decisions(
            &mut *policy(2, true, r#"{"members": 2, "non_deterministic": "50us"}"#),
            &[
                (
                    0,
                    Event::Start,
                    &[
                        hold(2),
                        hold(3),
                        avoid(0),
                        window(0, 0, 50),
                        timer(50, 0),
                        avoid(1),
                        window(1, 0, 50),
                        timer(50, 1),
                        timer(50, TURN),
                    ],
                ),
                (10 * US, failed(3), &[]),
                (50 * US, closes(0), &back(0)),
                (50 * US, closes(1), &back(1)),
                (50 * US, NEXT, &[avoid(2), window(2, 50, 100), timer(100, 2), timer(100, TURN)]),
                (60 * US, replaced(3), &[hold(3)]),
                (70 * US, rebuilt(3), &[]),
            ],
        );
    }

    /// Rounds that are left out change nothing of those that follow, with and without a pause between turns, also where turns
    /// and members do not go into one another.
    #[test]
    fn rounds_that_are_left_out_change_nothing() {
        let pause = r#"{"non_deterministic": "50us", "deterministic": "1ms"}"#;
        let two = r#"{"non_deterministic": "50us", "members": 2}"#;
        for (keys, devices, redundancy, missing) in [
            (KEYS, 4, 1, 0),
            (pause, 4, 1, 0),
            (two, 4, 2, 0),
            (two, 4, 3, 1),
            (two, 4, 2, 1),
            (KEYS, 4, 1, 1),
            (KEYS, 4, 1, 4),
        ] {
            let mut policy = policy(redundancy, true, keys);
            follow_rounds(&mut *policy, devices, (0..missing).map(failed));
        }
    }

    /// With room for one a second member has a window of the same end; with room for two both have windows that end at different times.
    #[test]
    fn there_is_no_round_while_windows_are_not_those_of_one_turn() {
        let mut one = policy(1, true, KEYS);
        let mut two = policy(2, true, r#"{"members": 2, "non_deterministic": "50us"}"#);
        let tell = |policy: &mut dyn Coordinator, at: u64, event: Event| {
            policy.on(SimTime(at * US), &event, &DeliveredView::of(&[]), &mut Vec::new());
        };
        tell(&mut *one, 0, Event::Start);
        assert!(one.round().is_some());
        tell(&mut *one, 0, hard(2));
        assert_eq!(one.round(), None);
        for (at, event) in [(0, Event::Start), (10, hard(3)), (50, closes(0)), (50, closes(1)), (50, NEXT)] {
            assert!(at != 50 || two.round().is_none(), "three have a window");
            tell(&mut *two, at, event);
        }
        assert_eq!(two.round(), None);
        tell(&mut *two, 60, closes(3));
        tell(&mut *two, 100, closes(2));
        tell(&mut *two, 100, NEXT);
        assert!(two.round().is_some());
    }

    /// Members that take no directives have no turns. Neither has a replacement that takes none, or one that comes where nobody had a turn.
    #[test]
    fn turns_are_for_members_that_can_be_told() {
        let own = serde_json::from_str(KEYS).expect("a test writes JSON");
        let message_latency = SimDuration::ZERO;
        let parameters = Parameters { devices: 4, redundancy: 1, members: &[], message_latency, own: &own };
        let mut nobody = (ENTRY.build)(&parameters).expect("these keys will do");
        decisions(&mut *nobody, &[(0, Event::Start, &[]), (10, replaced(1), &[])]);
        let mut policy = policy(2, true, KEYS);
        let known = members(&[true, false, true, true]);
        let mut told = |event| {
            let mut actions = Vec::new();
            policy.on(SimTime(0), &event, &DeliveredView::of(&known), &mut actions);
            actions
        };
        told(Event::Start);
        told(failed(1));
        assert_eq!(told(replaced(1)), []);
    }

    /// The window of member 0 ends a round later, and so does its timer. Another timer of this member is that of a window before.
    #[test]
    fn windows_end_later_by_the_rounds_that_are_left_out() {
        let mut policy = policy(1, true, KEYS);
        policy.on(SimTime::ZERO, &Event::Start, &DeliveredView::of(&[]), &mut Vec::new());
        policy.pass_rounds(SimDuration(200 * US));
        decisions(&mut *policy, &[(249 * US, closes(0), &[]), (250 * US, closes(0), &back(0))]);
    }

    #[test]
    fn there_is_no_round_beside_an_autonomous_change() {
        let mut policy = policy(1, true, KEYS);
        let own = [avoid(2), window(2, 10, 60), timer(60, 2)];
        decisions(
            &mut *policy,
            &[
                (
                    0,
                    Event::Start,
                    &[hold(1), hold(2), hold(3), avoid(0), window(0, 0, 50), timer(50, 0), timer(50, TURN)],
                ),
                (10 * US, hard(2), &own),
            ],
        );
        assert_eq!(policy.round(), None, "two have a window, and end it at different times");
        decisions(&mut *policy, &[(50 * US, closes(0), &back(0)), (50 * US, NEXT, &[timer(100, TURN)])]);
        assert_eq!(
            policy.round(),
            Some(SimDuration(4 * 50 * US)),
            "the messages of a round tell that it is not one"
        );
        assert_eq!([turns_of_round(6, 4), turns_of_round(5, 2), turns_of_round(3, 0)], [3, 5, 1]);
    }
}
