//! Members collect in time windows of their own, and a read of a busy member is answered without it.
//!
//! ```text
//! member 0   [may start  |buffer]                                        [may start  |buffer]
//! member 1                       [may start  |buffer]                                        [may ..
//!            |<---- window ---->|
//! ```
//!
//! 1. Member `i` of `n` may start to collect at time `t` if `i = floor(t / window) mod n` and the same holds at `t + buffer`.
//!    At its hard threshold it collects at any time.
//! 2. A read that would wait for collection is refused at once, with the time that is left. The data is then rebuilt from
//!    the other members.
//!    So is a read that waits in a member's queue when a collection begins ahead of it.
//! 3. If more members of a row refuse than redundancy can replace, the read does without those that are busy for longest,
//!    and waits for the others.
//!
//! `mode` says how much of that is on. `fast-fail` has rule 2 without the time, so reads do without whichever member
//! refuses first. `remaining` has rules 2 and 3, `windows` rule 1 alone, `all` everything, and `off` nothing: it equals
//! `local`.
//!
//! Where redundancy k is 2 or more, k members share a window: members 0 to k - 1 have the first one, the next k the second.
//! Reads can do without all of them at once, and the turn of each comes k times as often. Without redundancy the
//! policy does nothing in any mode, because a read has no way around a member.
//!
//! A member that failed and is not rebuilt counts against k: from the next window on, fewer members share one. While none are
//! left, windows are suspended, members collect as they would under `local`, and reads wait. A replacement has the windows of the
//! member before it.
//!
//! A window TW should be at least as long as a collection, T_gc, and at most S_p / (N B_w - B_gc). Within N windows a member
//! then never writes more than its spare space S_p between soft and hard plus what it wins back in its own. N is the number of
//! windows in a round, B_w the
//! highest rate of writes, and B_gc the rate at which collection wins space. The run warns if `window` is outside these bounds.
//! [rates.rs](../crates/array/src/coordination/rates.rs) estimates the terms.
//!
//! IODA's device collects lines, which are one block of every die. Here `ssd.gc.domain = "device"` with `min_victims = 1`
//! takes one victim in every allocation unit, each its own best. IODA's device starts below 10% of free lines and is forced
//! below 5%: `ssd.gc.soft_threshold = "10%"` and `hard_threshold = "5%"`.
//!
//! Source: IODA (Li et al., SOSP 2021) and its artifact, IODA-SOSP21-AE: the rule of the windows, `gc_sync_window` 100 ms,
//! `gc_sync_buffer` 50 ms and the thresholds. Its modes IOD1, IOD2 and IODA are `fast-fail`, `remaining` and `all`. Where too
//! many members refuse, its IOD1 does without a random one. Its IOD3 has windows and still rebuilds what the host reads, but
//! lets pre-reads of small writes wait. Under `windows` all reads wait, which shows what windows win alone.
//!
//! Leaves out: the least share of invalid pages (a quarter of a line) below which IODA's device does not collect unless
//! forced, and windows that a device computes and changes by itself.

use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{DeviceId, SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rates::Rates;
use super::redundancy::Redundancy;
use super::{Action, Build, Coordinator, DeliveredView, Event, Interests, Parameters};
use crate::config::{Avoid, Interface, Reads};

/// Keys of `[array.coordination]` with `policy = "ioda"`.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// What is on.
    mode: Mode,
    /// Length of a member's window, TW.
    window: SimDuration,
    /// Its last part, in which no collection starts, so that those under way can end.
    buffer: SimDuration,
}

impl Default for Config {
    fn default() -> Self {
        Config { mode: Mode::All, window: SimDuration::from_ms(100), buffer: SimDuration::from_ms(50) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    FastFail,
    Remaining,
    Windows,
    All,
    Off,
}

/// The rotation of windows: slot after slot, each of some members.
#[derive(Debug, Clone, Copy)]
struct Rotation {
    window: SimDuration,
    buffer: SimDuration,
    message_latency: SimDuration,
    devices: u16,
    /// Members that share a window.
    sharing: u16,
}

impl Rotation {
    /// Slots until it is a member's turn again.
    fn turns(&self) -> u16 {
        self.devices.div_ceil(self.sharing.max(1))
    }

    /// The members of a slot; none if nobody can be done without.
    fn members(&self, slot: u64) -> impl Iterator<Item = DeviceId> {
        let first = (slot % u64::from(self.turns())) as u16 * self.sharing;
        (first..self.devices.min(first + self.sharing)).map(DeviceId)
    }

    /// Tells the members of a slot of their window, and sets the timer of the next slot: so that word arrives in time.
    fn begin(&self, slot: u64, actions: &mut Vec<Action>) {
        let from = SimTime::ZERO + self.window * slot;
        let until = SimTime((from + self.window).0 - self.buffer.0);
        actions.extend(self.members(slot).map(|device| Action::Window { device, from, until }));
        let next = from + self.window;
        actions.push(Action::Timer(SimTime(next.0.saturating_sub(self.message_latency.0)), 0));
    }
}

#[derive(Clone)]
struct Ioda {
    reads: Option<Reads>,
    /// With all members whole.
    rotation: Option<Rotation>,
    redundancy: Redundancy,
    /// The slot that the next timer begins.
    next_slot: u64,
    /// There are windows: somebody was there to be told when the run began.
    is_on: bool,
    /// Too many members are missing for windows to help.
    is_suspended: bool,
    cautions: Vec<String>,
}

impl Ioda {
    fn new(config: Config, parameters: &Parameters<'_>) -> Self {
        let &Parameters { devices, redundancy, members, message_latency, .. } = parameters;
        let Config { mode, window, buffer } = config;
        let is_on = redundancy > 0 && mode != Mode::Off;
        let rotation = Rotation { window, buffer, message_latency, devices, sharing: redundancy };
        let rotation = (is_on && matches!(mode, Mode::Windows | Mode::All)).then_some(rotation);
        let reads = match mode {
            Mode::FastFail => Reads::Avoid(Avoid::Any),
            Mode::Remaining | Mode::All => Reads::Avoid(Avoid::Longest),
            Mode::Windows | Mode::Off => Reads::Wait,
        };
        let rates = Rates::of(members);
        let caution = rotation.zip(rates).and_then(|(rotation, rates)| caution(&rotation, &rates));
        Ioda {
            reads: is_on.then_some(reads),
            rotation,
            redundancy: Redundancy::new(devices, redundancy),
            next_slot: 0,
            is_on: false,
            is_suspended: false,
            cautions: caution.into_iter().collect(),
        }
    }

    /// The next slot begins, for as many members as reads can do without now.
    fn begin(&mut self, rotation: Rotation, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        let slot = self.next_slot;
        self.next_slot += 1;
        let sharing = self.redundancy.left();
        let was_suspended = std::mem::replace(&mut self.is_suspended, sharing == 0);
        match (was_suspended, self.is_suspended) {
            (false, true) => actions.extend(view.capable().map(Action::Release)),
            (true, false) => actions.extend(view.capable().map(Action::Hold)),
            _ => {}
        }
        Rotation { sharing, ..rotation }.begin(slot, actions);
    }
}

/// That a window is too short or too long, and which would do.
fn caution(rotation: &Rotation, rates: &Rates) -> Option<String> {
    let (window, shortest) = (rotation.window, rates.collection);
    let longest = rates.longest_window(rotation.turns()).unwrap_or(SimDuration::MAX);
    if (shortest..=longest).contains(&window) {
        return None;
    }
    let bounds = match longest {
        SimDuration::MAX => format!("at least {shortest}, the time of a collection"),
        _ => format!(
            "at least {shortest}, the time of a collection, and at most {longest}, after which writes at full rate have used \
             up the space between the soft and the hard threshold"
        ),
    };
    let advice = if shortest > longest {
        "; no window is both, but a higher soft threshold allows longer ones"
    } else {
        ""
    };
    Some(format!("array.coordination.window is {window} but should be {bounds}{advice}"))
}

impl Coordinator for Ioda {
    fn interests(&self) -> Interests {
        Interests::default()
    }

    fn interface(&self) -> Interface {
        match self.reads {
            Some(Reads::Avoid(_)) => Interface::Busy,
            Some(_) => Interface::Window,
            None => Interface::Nothing,
        }
    }

    fn keeps_apart(&self) -> bool {
        self.rotation.is_some()
    }

    fn at_once(&self) -> u16 {
        self.rotation.map_or(1, |rotation| rotation.sharing)
    }

    fn reads(&self) -> Option<Reads> {
        self.reads
    }

    fn cautions(&self) -> Vec<String> {
        self.cautions.clone()
    }

    fn round(&self) -> Option<SimDuration> {
        let sharing = self.redundancy.left();
        let rotation = self.rotation.filter(|_| self.is_suspended == (sharing == 0))?;
        Some(rotation.window * u64::from(Rotation { sharing, ..rotation }.turns()))
    }

    fn pass_rounds(&mut self, time: SimDuration) {
        let Some(rotation) = self.rotation else { return };
        self.next_slot += time.0 / rotation.window.0;
    }

    fn on(&mut self, _: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        let Some(rotation) = self.rotation else { return };
        self.redundancy.note(event);
        match *event {
            // Without a capable member there is nobody to tell.
            Event::Start if view.capable().next().is_some() => {
                self.is_on = true;
                let others = view.capable().filter(|member| member.0 >= rotation.sharing);
                actions.extend(others.map(Action::Hold));
                self.begin(rotation, view, actions);
            }
            Event::Timer(_) => self.begin(rotation, view, actions),
            Event::Replacement(member) if self.is_on && !self.is_suspended => {
                actions.push(Action::Hold(member))
            }
            _ => {}
        }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "ioda",
    summary: "members collect in time windows of their own, and reads rebuild what a busy member refuses",
    source: "IODA, SOSP 2021",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let config: Config = parameters.config()?;
        if config.window < SimDuration::from_us(10) {
            return Err("window is too short, expected a time such as \"100ms\", at least 10us".into());
        }
        if config.buffer >= config.window {
            return Err(format!("buffer is too long, expected less than the window, {}", config.window));
        }
        Ok(Box::new(Ioda::new(config, parameters)))
    },
};

#[cfg(test)]
mod tests {
    use super::super::rates::tests::members;
    use super::super::tests::{built, decisions, failed, follow_rounds, hard, rebuilt, replaced};
    use super::*;

    const KEYS: &str = r#"{"window": "100us", "buffer": "30us"}"#;
    const US: u64 = 1_000;

    const fn window(device: u16, from: u64, until: u64) -> Action {
        Action::Window { device: DeviceId(device), from: SimTime(from * US), until: SimTime(until * US) }
    }

    const fn timer(at: u64) -> Action {
        Action::Timer(SimTime(at * US), 0)
    }

    const NEXT: Event = Event::Timer(0);

    const fn hold(device: u16) -> Action {
        Action::Hold(DeviceId(device))
    }

    #[test]
    fn windows_go_round() {
        let mut policy = built(&ENTRY, 4, 1, KEYS).expect("these keys will do");
        decisions(
            &mut *policy,
            &[
                (0, Event::Start, &[hold(1), hold(2), hold(3), window(0, 0, 70), timer(100)]),
                (5, hard(2), &[]),
                (100 * US, NEXT, &[window(1, 100, 170), timer(200)]),
                (200 * US, NEXT, &[window(2, 200, 270), timer(300)]),
                (300 * US, NEXT, &[window(3, 300, 370), timer(400)]),
                (400 * US, NEXT, &[window(0, 400, 470), timer(500)]),
            ],
        );
    }

    #[test]
    fn two_parities_let_two_members_share_a_window() {
        let mut policy = built(&ENTRY, 4, 2, KEYS).expect("these keys will do");
        decisions(
            &mut *policy,
            &[
                (0, Event::Start, &[hold(2), hold(3), window(0, 0, 70), window(1, 0, 70), timer(100)]),
                (100 * US, NEXT, &[window(2, 100, 170), window(3, 100, 170), timer(200)]),
                (200 * US, NEXT, &[window(0, 200, 270), window(1, 200, 270), timer(300)]),
            ],
        );
        let rotation = |devices, sharing| Rotation { devices, sharing, ..ROTATION };
        assert_eq!(rotation(5, 2).turns(), 3);
        assert_eq!(rotation(5, 2).members(2).collect::<Vec<_>>(), [DeviceId(4)], "what is left over");
    }

    const ROTATION: Rotation = Rotation {
        window: SimDuration(100),
        buffer: SimDuration(30),
        message_latency: SimDuration(7),
        devices: 4,
        sharing: 1,
    };

    /// The rule as the artifact has it, moment by moment.
    #[test]
    fn a_member_may_start_exactly_when_the_rule_says_so() {
        let mut opens = vec![[false; 4]; 900];
        for slot in 0..9 {
            let mut actions = Vec::new();
            ROTATION.begin(slot, &mut actions);
            for action in actions {
                match action {
                    Action::Window { device, from, until } => {
                        (from.0..until.0).for_each(|now| opens[now as usize][device.index()] = true);
                    }
                    // Word takes 7 to arrive.
                    other => assert_eq!(other, Action::Timer(SimTime((slot + 1) * 100 - 7), 0)),
                }
            }
        }
        for (now, open) in opens.iter().enumerate() {
            let may = |member| member == now / 100 % 4 && member == (now + 30) / 100 % 4;
            assert_eq!(*open, [may(0), may(1), may(2), may(3)], "at {now}");
        }
    }

    #[test]
    fn every_mode_is_what_it_says() {
        let (any, longest) = (Some(Reads::Avoid(Avoid::Any)), Some(Reads::Avoid(Avoid::Longest)));
        for (mode, redundancy, reads, interface, has_windows) in [
            ("fast-fail", 1, any, Interface::Busy, false),
            ("remaining", 1, longest, Interface::Busy, false),
            ("windows", 1, Some(Reads::Wait), Interface::Window, true),
            ("all", 2, longest, Interface::Busy, true),
            ("off", 1, None, Interface::Nothing, false),
            ("all", 0, None, Interface::Nothing, false),
        ] {
            let keys = format!(r#"{{"mode": "{mode}"}}"#);
            let mut policy = built(&ENTRY, 4, redundancy, &keys).expect("these keys will do");
            assert_eq!((policy.reads(), policy.interface()), (reads, interface), "{mode} {redundancy}");
            assert_eq!((policy.interests(), policy.keeps_apart()), (Interests::default(), has_windows));
            if !has_windows {
                decisions(&mut *policy, &[(0, Event::Start, &[])]);
            }
        }
    }

    #[test]
    fn a_window_outside_the_bounds_is_told_them() {
        let told = |soft, window| {
            let own =
                serde_json::Map::from_iter([("window".into(), window), ("buffer".into(), "1ms".into())]);
            let members = members(8, soft);
            let message_latency = SimDuration::ZERO;
            let parameters =
                Parameters { devices: 8, redundancy: 1, members: &members, message_latency, own: &own };
            (ENTRY.build)(&parameters).expect("these keys will do").cautions().join("")
        };
        // Of 8 turns, with a block of every die between soft and hard: 14.525 ms to 7.2 ms. With 10 of them, about 72 ms.
        let told_none = told(103, "10ms".into());
        assert!(told_none.contains("14.525ms") && told_none.contains("at most 7.206ms"), "{told_none}");
        assert!(told_none.contains("no window is both"), "{told_none}");
        assert_eq!(told(112, "50ms".into()), "");
        for window in ["14ms", "100ms"] {
            let text = told(112, window.into());
            assert!(
                text.contains(window) && text.contains("at most 7") && !text.contains("no window"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_window_without_a_start_is_refused() {
        let why = built(&ENTRY, 4, 1, r#"{"window": "50ms"}"#).err();
        assert!(why.is_some_and(|why| why.contains("less than the window, 50ms")));
    }

    const fn release(device: u16) -> Action {
        Action::Release(DeviceId(device))
    }

    /// Member 1 fails in its window. What is said to it is lost on the way, so the window need not be taken back.
    #[test]
    fn with_no_redundancy_left_windows_are_suspended() {
        let mut policy = built(&ENTRY, 4, 1, KEYS).expect("these keys will do");
        decisions(
            &mut *policy,
            &[
                (0, Event::Start, &[hold(1), hold(2), hold(3), window(0, 0, 70), timer(100)]),
                (100 * US, NEXT, &[window(1, 100, 170), timer(200)]),
                (110 * US, failed(1), &[]),
                (200 * US, NEXT, &[release(0), release(2), release(3), timer(300)]),
                (210 * US, replaced(1), &[]),
                (300 * US, NEXT, &[timer(400)]),
                (310 * US, rebuilt(1), &[]),
                (400 * US, NEXT, &[hold(0), hold(1), hold(2), hold(3), window(0, 400, 470), timer(500)]),
                (500 * US, NEXT, &[window(1, 500, 570), timer(600)]),
            ],
        );
    }

    #[test]
    fn with_one_of_two_left_members_have_windows_alone_and_a_replacement_is_held() {
        let mut policy = built(&ENTRY, 4, 2, KEYS).expect("these keys will do");
        decisions(
            &mut *policy,
            &[
                (0, Event::Start, &[hold(2), hold(3), window(0, 0, 70), window(1, 0, 70), timer(100)]),
                (10 * US, failed(0), &[]),
                (100 * US, NEXT, &[window(1, 100, 170), timer(200)]),
                (110 * US, replaced(0), &[hold(0)]),
                (120 * US, rebuilt(0), &[]),
                (200 * US, NEXT, &[window(0, 200, 270), window(1, 200, 270), timer(300)]),
            ],
        );
        let mut policy = built(&ENTRY, 4, 2, KEYS).expect("these keys will do");
        decisions(&mut *policy, &[(10, replaced(0), &[])]);
    }

    /// Rounds that are left out change nothing of those that follow: by devices, and members that share a window.
    #[test]
    fn rounds_that_are_left_out_change_nothing() {
        for (devices, redundancy, missing) in [(4, 1, 0), (5, 2, 0), (4, 1, 1), (5, 2, 1), (5, 2, 2)] {
            let mut policy = built(&ENTRY, devices, redundancy, KEYS).expect("these keys will do");
            let failures = (0..missing).map(failed);
            follow_rounds(&mut *policy, devices, failures);
        }
    }

    #[test]
    fn there_is_no_round_while_windows_are_about_to_be_suspended() {
        let mut policy = built(&ENTRY, 4, 1, KEYS).expect("these keys will do");
        decisions(&mut *policy, &[(5, failed(2), &[])]);
        assert_eq!(policy.round(), None);
        let modes = ["fast-fail", "remaining", "off"].map(|mode| format!(r#"{{"mode": "{mode}"}}"#));
        for keys in modes {
            assert_eq!(built(&ENTRY, 4, 1, &keys).expect("these keys will do").round(), None, "{keys}");
        }
    }
}
