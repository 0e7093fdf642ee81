//! When a reactive policy fires: at which threshold, and after which delay.
//!
//! ```text
//! soft notice                                          fires
//!      |<----------------- delay --------------------->|
//!      ?          ?          ?          ?                    how many writes are left? (4 looks)
//!      hard notice of anybody, or a look too late next time: fires at once
//! ```
//!
//! A delay needs `fire_at = "soft"`. A member at hard collects without an order, and a delay would only let the others start
//! later. The member's own estimate bounds the delay. The array asks for it when the member registers and after every quarter
//! of the delay (two messages each). The wait ends if the member would, at its pace since the last answer, be at hard by the
//! next look.
//!
//! Source: IEEE TC 2012 (section 4.3.1) and MSST 2011 (section IV-C). The O-RAID "can optionally delay this initiation in
//! order to allow more O-SSDs to register their need of GC". It "can use the additional information from the notification",
//! how much can be written before the hard threshold, "to avoid triggering uncoordinated GC". Both papers fire when a member
//! says that it "will soon need" to collect, which is `fire_at = "soft"`. The evaluation in MSST 2011 and the selective scheme
//! of IEEE TC 2012 fire at hard.

use harmonia_types::{DeviceId, SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Action, DeliveredView, Event};

/// Looks during a delay.
const LOOKS: u64 = 4;

/// Keys of `[array.coordination]` that both reactive policies have.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {
    /// Which threshold makes the array fire.
    fire_at: FireAt,
    /// How long the array waits after a soft notice, at most; 0: it fires at once.
    delay: SimDuration,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum FireAt {
    Soft,
    #[default]
    Hard,
}

#[derive(Clone)]
pub(super) struct Trigger {
    config: Config,
    wait: Option<Wait>,
    /// Number of the last wait, and of its timers.
    waits: u64,
    delayed: u64,
    cut_short: u64,
}

/// A delay under way.
#[derive(Debug, Clone, Copy)]
struct Wait {
    /// The member whose notice began it.
    member: DeviceId,
    until: SimTime,
    /// Writes it had left at the last look.
    left: Option<u64>,
}

impl Trigger {
    /// A trigger with these keys.
    ///
    /// # Errors
    /// If there is a delay without a soft threshold to begin it.
    pub fn new(config: Config) -> Result<Self, String> {
        if config.delay > SimDuration::ZERO && config.fire_at == FireAt::Hard {
            return Err("a member at hard collects without an order, so a delay needs the soft threshold, \
                        expected fire_at = \"soft\" with a delay"
                .into());
        }
        Ok(Trigger { config, wait: None, waits: 0, delayed: 0, cut_short: 0 })
    }

    /// Whether FORCE_GC goes out now.
    pub fn fires(
        &mut self,
        now: SimTime,
        event: &Event,
        view: &DeliveredView<'_>,
        actions: &mut Vec<Action>,
    ) -> bool {
        let fires = match *event {
            Event::HardThreshold(_) => true,
            Event::SoftThreshold(_) if self.config.fire_at == FireAt::Hard => false,
            Event::SoftThreshold(_) if self.config.delay == SimDuration::ZERO => true,
            Event::SoftThreshold(member) => {
                self.begin(now, member, actions);
                false
            }
            Event::Timer(number) if number == self.waits => self.look(now, actions),
            Event::Status(member) => self.on_answer(member, view),
            _ => false,
        };
        if fires {
            self.wait = None;
        }
        fires
    }

    /// Begins a wait, unless there is one.
    fn begin(&mut self, now: SimTime, member: DeviceId, actions: &mut Vec<Action>) {
        if self.wait.is_none() {
            self.delayed += 1;
            self.waits += 1;
            self.wait = Some(Wait { member, until: now + self.config.delay, left: None });
            self.look(now, actions);
        }
    }

    /// A timer rang: is the wait over? If not, asks and sets the next one.
    fn look(&mut self, now: SimTime, actions: &mut Vec<Action>) -> bool {
        let Some(wait) = self.wait else { return false };
        if now >= wait.until {
            return true;
        }
        let step = SimDuration(self.config.delay.0.div_ceil(LOOKS));
        actions.push(Action::Query(wait.member));
        actions.push(Action::Timer((now + step).min(wait.until), self.waits));
        false
    }

    /// An answer: would the next one come too late?
    fn on_answer(&mut self, member: DeviceId, view: &DeliveredView<'_>) -> bool {
        let status = view.members[member.index()].status;
        let (Some(wait), Some(status)) = (&mut self.wait, status) else { return false };
        if wait.member != member {
            return false;
        }
        let left = status.writes_until_hard;
        let sunk = wait.left.map_or(0, |before| before.saturating_sub(left));
        wait.left = Some(left);
        self.cut_short += u64::from(left <= sunk);
        left <= sunk
    }

    /// Delays begun, and those that ended because the member had too few writes left.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("delays", self.delayed), ("delays_cut_short", self.cut_short)]
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::members;
    use super::*;
    use harmonia_ssd::interface::Status;

    const SOFT: Event = Event::SoftThreshold(DeviceId(0));

    pub fn at_hard() -> Trigger {
        Trigger::new(Config::default()).expect("the default")
    }

    pub fn at_soft(delay: u64) -> Trigger {
        let config = Config { fire_at: FireAt::Soft, delay: SimDuration(delay) };
        Trigger::new(config).expect("soft may be delayed")
    }

    /// Whether it fires at `now`, and what else it does; member 0 has so many writes `left`.
    fn on(trigger: &mut Trigger, now: u64, event: Event, left: u64) -> (bool, Vec<Action>) {
        let mut members = members(&[true; 2]);
        members[0].status = Some(Status { writes_until_hard: left, ..Status::default() });
        let mut actions = Vec::new();
        let fires = trigger.fires(SimTime(now), &event, &DeliveredView::of(&members), &mut actions);
        (fires, actions)
    }

    fn look(next: u64, number: u64) -> Vec<Action> {
        vec![Action::Query(DeviceId(0)), Action::Timer(SimTime(next), number)]
    }

    #[test]
    fn without_a_delay_the_threshold_fires_at_once() {
        for at_soft in [true, false] {
            let mut trigger = if at_soft { self::at_soft(0) } else { at_hard() };
            assert_eq!(on(&mut trigger, 0, SOFT, 9), (at_soft, vec![]));
            assert_eq!(on(&mut trigger, 1, Event::HardThreshold(DeviceId(1)), 9), (true, vec![]));
        }
        let config = Config { fire_at: FireAt::Hard, delay: SimDuration(1) };
        assert!(Trigger::new(config).is_err());
    }

    #[test]
    fn a_delay_ends_when_it_is_over() {
        let mut trigger = at_soft(400);
        assert_eq!(on(&mut trigger, 1_000, SOFT, 9), (false, look(1_100, 1)));
        let second = Event::SoftThreshold(DeviceId(1));
        assert_eq!(on(&mut trigger, 1_050, second, 9), (false, vec![]), "it joins the wait");
        for now in [1_100, 1_200, 1_300] {
            assert_eq!(on(&mut trigger, now, Event::Timer(1), 9), (false, look(now + 100, 1)));
        }
        assert_eq!(on(&mut trigger, 1_400, Event::Timer(1), 9), (true, vec![]));
        assert_eq!(trigger.counters(), [("delays", 1), ("delays_cut_short", 0)]);
    }

    #[test]
    fn a_delay_ends_when_the_next_look_would_be_too_late() {
        let mut trigger = at_soft(400);
        on(&mut trigger, 1_000, SOFT, 9);
        let answer = Event::Status(DeviceId(0));
        assert!(!on(&mut trigger, 1_000, answer, 9).0, "one answer tells no pace");
        assert!(!on(&mut trigger, 1_100, Event::Status(DeviceId(1)), 0).0, "not its answer");
        assert!(!on(&mut trigger, 1_100, answer, 5).0, "4 in 100 ns, 5 are left");
        assert!(!on(&mut trigger, 1_200, answer, 3).0);
        assert!(on(&mut trigger, 1_300, answer, 1).0, "2 in 100 ns, 1 is left");
        assert_eq!(on(&mut trigger, 1_400, Event::Timer(1), 0), (false, vec![]), "it has fired");

        let mut trigger = at_soft(400);
        on(&mut trigger, 1_000, SOFT, 0);
        assert!(on(&mut trigger, 1_000, answer, 0).0, "nothing is left");
    }

    #[test]
    fn a_hard_threshold_ends_a_delay_and_its_timer_does_not_end_the_next() {
        let mut trigger = at_soft(400);
        on(&mut trigger, 1_000, SOFT, 9);
        assert!(on(&mut trigger, 1_010, Event::HardThreshold(DeviceId(1)), 9).0);
        assert_eq!(on(&mut trigger, 1_020, SOFT, 9), (false, look(1_120, 2)));
        assert_eq!(on(&mut trigger, 1_100, Event::Timer(1), 9), (false, vec![]), "the old one");
    }
}
