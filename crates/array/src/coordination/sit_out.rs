//! A member that answers reads far more slowly than the others for long enough is not read for ten minutes.
//!
//! 1. Every `interval`, when a read is answered, the array takes each member's mean latency of reads since the last look.
//!    Latencies are rounded down to powers of two nanoseconds.
//! 2. The fence is Q3 + `insensitivity` x IQR of these means, where the interquartile range IQR is at least Q1 / 4.
//! 3. If the slowest member lies outside, its count of outliers grows by its distance from the fence in IQRs: by 1 at least
//!    and by a quarter of `outliers` at most. When the counts of all members have grown by their number, each shrinks by 2.
//! 4. A member whose count exceeds `outliers` sits out for `sit_out`: it is written and not read. All counts begin anew.
//! 5. Nobody is judged while as many members sit out as redundancy allows, or where a member was not read at all.
//!
//! Members are only watched, so they need to reveal nothing. The rule looks for members that fail slowly. It does not know
//! of collection: a fence of 50 IQRs needs a mean more than 13.5 times the first quartile, which collection that comes and
//! goes seldom reaches. On an array without such a member it does nothing. As in OpenZFS it needs five members. With fewer,
//! or without redundancy, it is `local`.
//!
//! **Slow or collecting?** The rule cannot tell. Eight members of one die, four seeds each, 30 s; one member is slower from the
//! fifth second on ([sit_out.rs](../crates/array/tests/all/sit_out.rs) prints the table). Who sat out:
//!
//! | members collect | no slow member | slower by 2 | by 5 | by 20 |
//! |---|---|---|---|---|
//! | not at all, reads only | nobody | nobody | nobody | nobody |
//! | one block at a time, or eight | nobody | nobody | nobody | the slow one, 4 of 4 |
//! | an innocent one 48 at a time, 200 ms | the innocent one, 4 of 4 | the innocent one, 4 of 4 | nobody | the slow one, 4 of 4 |
//!
//! Flash that is 20 times as slow lengthens a read 11.6 times, because transfers keep their time, and stays below the fence.
//! It is found where reads also wait for slow writes. Members that collect alike are no outliers. One that collects in long
//! pauses looks like a slow one, and beside it a member that is 5 times as slow hides both.
//!
//! A member that fails counts among those that sit out, as rule 5 has it, until its replacement is rebuilt; nothing of it is held
//! against the replacement.
//!
//! Source: OpenZFS (`vdev_child_slow_outlier` in `module/zfs/vdev_raidz.c`, commit be7657e), the vdev property `autosit` and
//! the parameters `vdev_read_sit_out_secs`, `vdev_raidz_outlier_check_interval_ms`, `vdev_raidz_outlier_insensitivity`.
//!
//! Leaves out: clocks of whole seconds, scrubs (they read members that sit out), and sitting out by hand. OpenZFS looks when
//! a read of a whole stripe ends; here it is the read of a member. It does so for RAID-Z and dRAID only; here for every level
//! with redundancy.

use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{DeviceId, Operation, SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};
use crate::config::{Avoid, Interface, Reads};

/// Members from which quartiles say something.
const FEWEST_MEMBERS: u16 = 5;
/// Latencies from 2^36 ns on are counted alike.
const LARGEST_POWER: u32 = 36;

/// Keys of `[array.coordination]` with `policy = "sit-out"`.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Time between two looks, at least.
    interval: SimDuration,
    /// How many interquartile ranges above the third quartile a member's mean is an outlier.
    insensitivity: u64,
    /// The count of outliers above which a member sits out.
    outliers: u64,
    /// How long it is not read; 0: nobody ever sits out.
    sit_out: SimDuration,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            interval: SimDuration::from_ms(1_000),
            insensitivity: 50,
            outliers: 20,
            sit_out: SimDuration::from_ms(600_000),
        }
    }
}

/// What is known of one member.
#[derive(Debug, Clone, Copy, Default)]
struct Member {
    /// Reads since the last look, and the sum of their latencies in nanoseconds.
    reads: u64,
    latency_sum: u64,
    outliers: u64,
    /// Until when it sits out, if it does.
    sits_out: Option<SimTime>,
    /// It failed, and its replacement is not rebuilt.
    is_missing: bool,
}

impl Member {
    /// The mean latency since the last look, which begins anew.
    fn take_mean(&mut self) -> u64 {
        let mean = self.latency_sum / self.reads.max(1);
        (self.reads, self.latency_sum) = (0, 0);
        mean
    }
}

#[derive(Clone)]
struct SitOut {
    config: Config,
    redundancy: usize,
    looked_at: SimTime,
    members: Vec<Member>,
    /// By member, and in ascending order: means of the last look.
    means: Vec<u64>,
    sorted: Vec<u64>,
    /// By how much all counts together have grown since they last shrank.
    grown: u64,
    sit_outs: u64,
}

impl SitOut {
    fn new(config: Config, devices: u16, redundancy: u16) -> Self {
        let members = usize::from(devices);
        SitOut {
            config,
            redundancy: usize::from(redundancy),
            looked_at: SimTime::ZERO,
            members: vec![Member::default(); members],
            means: vec![0; members],
            sorted: vec![0; members],
            grown: 0,
            sit_outs: 0,
        }
    }

    /// Whether anybody can ever sit out.
    fn is_on(&self) -> bool {
        let enough = self.members.len() >= usize::from(FEWEST_MEMBERS);
        enough && self.redundancy > 0 && self.config.sit_out > SimDuration::ZERO
    }

    /// The member that is an outlier since the last look, and by how much its count grows.
    fn outlier(&mut self) -> Option<(usize, u64)> {
        for (mean, member) in self.means.iter_mut().zip(&mut self.members) {
            *mean = member.take_mean();
        }
        let is_out = |member: &Member| member.sits_out.is_some() || member.is_missing;
        let is_unread = |(member, mean): (&Member, &u64)| *mean == 0 && !is_out(member);
        if self.members.iter().filter(|member| is_out(member)).count() >= self.redundancy
            || self.members.iter().zip(&self.means).any(is_unread)
        {
            return None;
        }
        self.sorted.copy_from_slice(&self.means);
        self.sorted.sort_unstable();
        let (fence, iqr) = fence(&self.sorted, self.config.insensitivity);
        let slowest = (0..self.means.len()).rev().max_by_key(|&member| self.means[member])?;
        let excess = self.means[slowest].checked_sub(fence).filter(|&excess| excess > 0)?;
        let growth = (excess / iqr).min(self.config.outliers / 4).max(1);
        (!is_out(&self.members[slowest])).then_some((slowest, growth))
    }

    fn look(&mut self, now: SimTime, actions: &mut Vec<Action>) {
        self.looked_at = now;
        let Some((slowest, growth)) = self.outlier() else { return };
        self.grown += growth;
        if self.grown >= self.members.len() as u64 {
            self.grown = 0;
            self.members.iter_mut().for_each(|member| member.outliers = member.outliers.saturating_sub(2));
        }
        self.members[slowest].outliers += growth;
        if self.members[slowest].outliers > self.config.outliers {
            self.members.iter_mut().for_each(|member| member.outliers = 0);
            let until = now + self.config.sit_out;
            self.members[slowest].sits_out = Some(until);
            self.sit_outs += 1;
            actions.push(Action::Avoid(DeviceId(slowest as u16)));
            actions.push(Action::Timer(until, slowest as u64));
        }
    }
}

/// The median of values in ascending order; of none, 0.
fn median(values: &[u64]) -> u64 {
    match values.len() {
        0 => 0,
        n if n.is_multiple_of(2) => (values[n / 2 - 1] + values[n / 2]) / 2,
        n => values[n / 2],
    }
}

/// Tukey's fence of values in ascending order, and the interquartile range it is built with.
fn fence(values: &[u64], insensitivity: u64) -> (u64, u64) {
    let half = values.len() / 2;
    let (q1, q3) = (median(&values[..half]), median(&values[values.len() - half..]));
    let iqr = (q3 - q1).max(q1 / 4).max(1);
    (q3.saturating_add(iqr.saturating_mul(insensitivity)), iqr)
}

impl Coordinator for SitOut {
    fn interests(&self) -> Interests {
        Interests { answers: self.is_on(), ..Interests::default() }
    }

    fn interface(&self) -> Interface {
        Interface::Nothing
    }

    fn reads(&self) -> Option<Reads> {
        self.is_on().then_some(Reads::Avoid(Avoid::Longest))
    }

    fn cautions(&self) -> Vec<String> {
        let few = || {
            format!(
                "sit-out judges arrays of {FEWEST_MEMBERS} members or more; with {} nobody ever sits out",
                self.members.len()
            )
        };
        (self.members.len() < usize::from(FEWEST_MEMBERS)).then(few).into_iter().collect()
    }

    fn on(&mut self, now: SimTime, event: &Event, _: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        match *event {
            Event::Answered { device, operation: Operation::Read, latency } => {
                let member = &mut self.members[device.index()];
                member.reads += 1;
                member.latency_sum += 1 << latency.0.checked_ilog2().unwrap_or(0).min(LARGEST_POWER);
                if now.saturating_since(self.looked_at) >= self.config.interval {
                    self.look(now, actions);
                }
            }
            Event::Timer(number) => {
                let member = &mut self.members[number as usize];
                // The timer may be that of a member that failed since.
                if member.sits_out.take_if(|until| *until <= now).is_some() {
                    actions.push(Action::Use(DeviceId(number as u16)));
                }
            }
            Event::Failure(device) => {
                self.members[device.index()] = Member { is_missing: true, ..Member::default() };
            }
            Event::Rebuilt(device) => self.members[device.index()].is_missing = false,
            _ => {}
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("sit_outs", self.sit_outs)]
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "sit-out",
    summary: "a member that answers reads far more slowly than the others is not read for ten minutes",
    source: "OpenZFS, autosit",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let config: Config = parameters.config()?;
        if config.interval < SimDuration::from_us(1) {
            return Err("interval is too short, expected a time such as \"1s\", at least 1us".into());
        }
        Ok(Box::new(SitOut::new(config, parameters.devices, parameters.redundancy)))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::{decisions, failed, members, rebuilt, replaced};
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// One read of every member ends at `second`; the latencies in nanoseconds, by member.
    fn look(policy: &mut SitOut, second: u64, latencies: &[u64]) -> Vec<Action> {
        let (view, mut actions) = (members(&vec![true; latencies.len()]), Vec::new());
        for (device, &latency) in latencies.iter().enumerate() {
            // The look comes with the last answer.
            let now = SimTime(second * SECOND - u64::from(device + 1 < latencies.len()));
            let (device, latency) = (DeviceId(device as u16), SimDuration(latency));
            let event = Event::Answered { device, operation: Operation::Read, latency };
            policy.on(now, &event, &DeliveredView::of(&view), &mut actions);
        }
        actions
    }

    fn policy(devices: u16, redundancy: u16) -> SitOut {
        SitOut::new(Config::default(), devices, redundancy)
    }

    fn counts(policy: &SitOut) -> Vec<u64> {
        policy.members.iter().map(|member| member.outliers).collect()
    }

    #[test]
    fn the_fence_is_the_shipped_one() {
        // Values, Q3, IQR: halves of an odd number leave the middle out; IQR is at least Q1 / 4.
        for (values, q3, iqr) in [
            (&[100, 100, 100, 100, 900][..], 500, 400),
            (&[100, 100, 100, 100, 100, 900], 100, 25),
            (&[100, 200, 300, 400, 500, 600, 700, 900], 650, 400),
            (&[0, 0, 0, 0, 0], 0, 1),
        ] {
            assert_eq!(fence(values, 50), (q3 + 50 * iqr, iqr), "{values:?}");
        }
    }

    /// Q1 = Q3 = 1,024, IQR = 256: the fence is 13,824. Rounded to powers of two, 16,383 is 8,192 and 16,384 is itself,
    /// (16,384 - 13,824) / 256 = 10 IQRs beyond.
    #[test]
    fn an_outlier_is_counted_from_the_fence_on() {
        for (slow, count) in [(16_383, 0), (16_384, 5), (32_000, 5), (1_100, 0)] {
            let mut policy = policy(8, 1);
            assert_eq!(look(&mut policy, 1, &[1_024, 1_500, 1_024, slow, 1_024, 1_024, 2_047, 1_024]), []);
            assert_eq!(counts(&policy), [0, 0, 0, count, 0, 0, 0, 0], "{slow}");
        }
    }

    /// By 5 a look: 5; 10 >= 8 members: 5 - 2 + 5; 13; 13 - 2 + 5; 21 > 20.
    #[test]
    fn after_more_than_twenty_outliers_a_member_sits_out_for_ten_minutes() {
        let slow = [1_024, 1_024, 1_024, 1 << 20, 1_024, 1_024, 1_024, 1_024];
        let mut policy = policy(8, 1);
        for (second, count) in [(1, 5), (2, 8), (3, 13), (4, 16)] {
            assert_eq!(look(&mut policy, second, &slow), []);
            assert_eq!(counts(&policy)[3], count, "at {second} s");
        }
        let end = SimTime(605 * SECOND);
        assert_eq!(look(&mut policy, 5, &slow), [Action::Avoid(DeviceId(3)), Action::Timer(end, 3)]);
        assert_eq!(counts(&policy), [0; 8]);
        // One sits out, which is all that one parity allows: nobody else is judged.
        for second in 6..60 {
            assert_eq!(
                look(&mut policy, second, &[1 << 20, 1_024, 1_024, 1_024, 1_024, 1_024, 1_024, 1]),
                []
            );
        }
        assert_eq!(counts(&policy), [0; 8]);
        decisions(&mut policy, &[(end.0, Event::Timer(3), &[Action::Use(DeviceId(3))])]);
        assert_eq!(policy.counters(), [("sit_outs", 1)]);
    }

    #[test]
    fn with_two_parities_a_second_member_may_sit_out_and_a_failed_one_counts() {
        let mut policy = policy(8, 2);
        let first = [1_024, 1_024, 1_024, 1 << 20, 1_024, 1_024, 1_024, 1_024];
        (1..=5).for_each(|second| drop(look(&mut policy, second, &first)));
        let second = [1 << 20, 1_024, 1_024, 1_024, 1_024, 1_024, 1_024, 1_024];
        let sat: Vec<_> = (6..=10).flat_map(|at| look(&mut policy, at, &second)).collect();
        assert_eq!(sat[0], Action::Avoid(DeviceId(0)));
        assert_eq!((sat.len(), policy.sit_outs), (2, 2));
        let end = 610 * SECOND;
        decisions(&mut policy, &[(end, Event::Timer(0), &[Action::Use(DeviceId(0))])]);
        let mut second_at = 10;
        let mut events = |event| {
            policy.on(SimTime(end), &event, &DeliveredView::of(&members(&[true; 8])), &mut Vec::new());
            second_at += 1;
            look(&mut policy, second_at, &second);
            std::mem::take(&mut policy.members[0].outliers)
        };
        assert_eq!(events(failed(5)), 0, "one sits out and one has failed");
        assert_eq!(events(replaced(5)), 0, "nor while it is rebuilt");
        assert_eq!(events(rebuilt(5)), 5);
    }

    #[test]
    fn nobody_is_judged_before_the_interval_nor_while_a_member_is_unread() {
        let mut policy = policy(5, 1);
        let view = members(&[true; 5]);
        let mut answer = |now, device, operation| {
            let event =
                Event::Answered { device: DeviceId(device), operation, latency: SimDuration(1 << 30) };
            policy.on(SimTime(now), &event, &DeliveredView::of(&view), &mut Vec::new());
            policy.looked_at.0
        };
        assert_eq!(answer(SECOND - 1, 0, Operation::Read), 0);
        assert_eq!(answer(SECOND, 0, Operation::Write), 0, "a write");
        assert_eq!(answer(SECOND, 0, Operation::Read), SECOND);
        assert_eq!(answer(2 * SECOND - 1, 0, Operation::Read), SECOND);
        assert_eq!(counts(&policy), [0; 5], "four members were not read");
    }

    #[test]
    fn it_is_off_where_nobody_can_sit_out() {
        for (devices, redundancy, is_on) in [(5, 1, true), (4, 1, false), (8, 0, false)] {
            let policy = policy(devices, redundancy);
            assert_eq!((policy.is_on(), policy.reads().is_some()), (is_on, is_on), "{devices}, {redundancy}");
            assert_eq!(policy.interests(), Interests { answers: is_on, ..Interests::default() });
            assert_eq!(policy.cautions().len(), usize::from(devices < 5));
        }
    }

    #[test]
    fn a_replacement_does_not_sit_out_for_the_member_before_it() {
        let mut policy = policy(8, 1);
        let slow = [1_024, 1_024, 1_024, 1 << 20, 1_024, 1_024, 1_024, 1_024];
        (1..=5).for_each(|second| drop(look(&mut policy, second, &slow)));
        assert_eq!(policy.sit_outs, 1);
        decisions(
            &mut policy,
            &[(5 * SECOND, failed(3), &[]), (5 * SECOND, replaced(3), &[]), (5 * SECOND, rebuilt(3), &[])],
        );
        assert_eq!(look(&mut policy, 6, &slow), [], "it is judged from the beginning");
        assert_eq!(counts(&policy)[3], 5);
        let again: Vec<_> = (7..=10).flat_map(|second| look(&mut policy, second, &slow)).collect();
        let end = SimTime(610 * SECOND);
        assert_eq!(again, [Action::Avoid(DeviceId(3)), Action::Timer(end, 3)]);
        // The timer of the member before it rings first.
        let back = [Action::Use(DeviceId(3))];
        decisions(&mut policy, &[(605 * SECOND, Event::Timer(3), &[]), (end.0, Event::Timer(3), &back)]);
    }
}
