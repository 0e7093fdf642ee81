//! Which units does a write read and program when something of its row is missing: exactly those that Linux md does?
//!
//! The oracle goes through md's rule step by step for one row (drivers/md/raid5.c: `handle_stripe`, `need_this_block`,
//! `handle_stripe_dirtying`). It keeps what md knows of the row, lets it ask for more until parity can be made, and calls no planner:
//!
//! 1. What is written in part is read, wherever it can be.
//! 2. Everything is read if that is needed to know a unit that has failed: one that is written in part, or one that is not written
//!    where a reconstruct-write is forced. It is forced by `rmw_level = 0`; or if two members have failed and one of them is written
//!    or holds parity.
//! 3. Otherwise units are counted that each way has yet to read. One that has failed counts as twice the members. The lower sum is
//!    read as far as it can be, a reconstruct-write if they are equal.
//!
//! Once all that is left is known, what has failed is known, too. Whatever was read, what is written goes to units and parities on
//! members that have not failed.
//!
//! Not verified: replacements that are partly built, and pages that cannot be read. The linear algebra of the planner's own tests
//! says that what is read is enough. What `degraded_writes = "fewest"` reads, `operation_counts` says as closed forms.

use std::collections::BTreeSet;

use crate::common::{PAGE, all_filled, level, one_die};
use crate::operation_counts::cost;
use harmonia_array::layout::{Groups, Layout, Rotation};
use harmonia_array::{Array, ArrayConfig, Befalls, DegradedWrites, Fault, Faults, Level, SmallWrite, When};
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{DeviceId, Operation, SimTime};

/// A write of one row. Units of data are numbered from 0; P and Q follow.
struct Write<'a> {
    data: usize,
    parities: usize,
    failed: &'a BTreeSet<usize>,
    written: std::ops::RangeInclusive<usize>,
    partial: &'a BTreeSet<usize>,
}

impl Write<'_> {
    fn units(&self) -> usize {
        self.data + self.parities
    }

    fn is_overwritten(&self, unit: &usize) -> bool {
        self.written.contains(unit) && !self.partial.contains(unit)
    }

    /// Whether md reads all it can in order to know what has failed.
    fn needs_all(&self, forced: bool) -> bool {
        let is_touched = |unit: &usize| *unit >= self.data || self.written.contains(unit);
        let forced = forced || (self.failed.len() >= 2 && self.failed.iter().any(is_touched));
        let is_kept = |unit: &usize| *unit < self.data && !self.is_overwritten(unit);
        self.failed.iter().any(|unit| self.partial.contains(unit))
            || (forced && self.failed.iter().any(is_kept))
    }

    /// What md reads; `forced` is its `rmw_level = 0`.
    fn reads_of_md(&self, forced: bool) -> BTreeSet<usize> {
        let alive: BTreeSet<usize> = (0..self.units()).filter(|unit| !self.failed.contains(unit)).collect();
        let mut known: BTreeSet<usize> = self.partial.intersection(&alive).copied().collect();
        loop {
            let all_known = known.is_superset(&alive);
            let missing = |unit: &usize| !all_known && !known.contains(unit);
            let modify: Vec<usize> = (0..self.units())
                .filter(|unit| *unit >= self.data || self.written.contains(unit))
                .filter(missing)
                .collect();
            let rest: Vec<usize> =
                (0..self.data).filter(|unit| !self.is_overwritten(unit)).filter(missing).collect();
            let cost = |units: &[usize]| -> usize {
                units.iter().map(|unit| if alive.contains(unit) { 1 } else { 2 * self.units() }).sum()
            };
            let (modify_cost, rest_cost) = if forced { (2, 1) } else { (cost(&modify), cost(&rest)) };
            let is_ready = rest.is_empty() || (!forced && modify.is_empty());
            if is_ready {
                return known.intersection(&alive).copied().collect();
            }
            let before = known.len();
            if self.needs_all(forced) {
                known.extend(&alive);
            } else if modify_cost < rest_cost {
                known.extend(modify.iter().filter(|unit| alive.contains(unit)));
            } else {
                known.extend(rest.iter().filter(|unit| alive.contains(unit)));
            }
            assert!(known.len() > before, "md would wait forever");
        }
    }

    fn reads(&self, small_write: SmallWrite) -> BTreeSet<usize> {
        let touched = || self.written.clone().chain(self.data..self.units());
        let is_whole = self.partial.is_empty() && self.written.clone().count() == self.data;
        match small_write {
            SmallWrite::Fewest => self.reads_of_md(false),
            SmallWrite::Reconstruct => self.reads_of_md(true),
            // md has no such rule: its own, wherever this one reads what has failed.
            SmallWrite::ReadModifyWrite
                if !is_whole && !touched().any(|unit| self.failed.contains(&unit)) =>
            {
                touched().collect()
            }
            SmallWrite::ReadModifyWrite => self.reads_of_md(false),
        }
    }
}

/// An array with stripe units of one row, without these members.
fn array(of: Level, members: u16, ways: (SmallWrite, DegradedWrites), failed: &[u16]) -> (Array, Layout) {
    let never = Fault { device: DeviceId(0), at: When::Request(u64::MAX), what: Befalls::Failure };
    let config = ArrayConfig {
        small_write: ways.0,
        degraded_writes: ways.1,
        faults: Faults { events: vec![never], ..Faults::default() },
        ..level(of, &one_die(24, 16, 6), members, PAGE)
    };
    let mut array = Array::new(&config, all_filled(&config, 1), None, |_| NoProbe).unwrap();
    for &member in failed {
        array.fail(DeviceId(member), SimTime::ZERO).unwrap();
    }
    (array, config.layout())
}

/// The members of the units of stripe 0: data, P, Q.
fn members_of_stripe(layout: &Layout) -> (usize, Vec<usize>) {
    let Layout::Parity(parity) = layout else { unreachable!("these levels have parity") };
    let data = (0..parity.data_units()).map(|unit| parity.data_member(0, unit));
    let parities = [Some(parity.p_member(0)), parity.q_member(0)].into_iter().flatten();
    let all = data.chain(parities).map(|member| member.index()).collect();
    (usize::from(parity.data_units()), all)
}

/// Nothing missing, each member, and where there are two parities each pair.
fn failures(members: u16, parities: u16) -> Vec<Vec<u16>> {
    let one = (0..members).map(|member| vec![member]);
    let two = (0..members).flat_map(|first| (first + 1..members).map(move |second| vec![first, second]));
    [Vec::new()].into_iter().chain(one).chain(two.filter(|_| parities == 2)).collect()
}

/// Every run of units, whole and cut at either end: the first and the last unit, bytes that are left out at both ends.
fn runs(data: usize) -> impl Iterator<Item = (usize, usize, u64, u64)> {
    let ends = (0..data).flat_map(move |first| (first..data).map(move |last| (first, last)));
    ends.flat_map(|(first, last)| (0..4).map(move |cuts| (first, last, 512 * (cuts & 1), 512 * (cuts >> 1))))
}

/// Reads and programs of one write, by the unit that a member holds.
fn measured(
    array: &mut Array,
    holders: &[usize],
    id: u64,
    (offset, end): (u64, u64),
) -> [BTreeSet<usize>; 2] {
    let cost = cost(array, id, Operation::Write, offset, end - offset);
    assert_eq!(cost.iter().map(|pages| pages[0]).sum::<u64>(), 0, "nothing is read for the host");
    assert!(cost.iter().all(|pages| pages[1] <= 1 && pages[2] + pages[3] <= 1), "every page once");
    let units = |counts: fn(&[u64; 4]) -> bool| {
        let touched = (0..cost.len()).filter(|&member| counts(&cost[member]));
        let unit = |member| holders.iter().position(|&holder| holder == member);
        touched.map(|member| unit(member).expect("only members of the stripe")).collect::<BTreeSet<usize>>()
    };
    [units(|pages| pages[1] > 0), units(|pages| pages[2] + pages[3] > 0)]
}

#[test]
fn degraded_writes_touch_the_units_that_md_touches() {
    let raid5 = |members| (Level::Raid5(Rotation::LeftSymmetric), members, 1);
    let raid6 = |members| (Level::Raid6(Rotation::LeftSymmetric), members, 2);
    let draid =
        |parities, data, members| (Level::Draid(Groups { parities, data, spares: 0 }), members, parities);
    let levels = (3..=7).map(raid5).chain((4..=8).map(raid6));
    let others = [(Level::Raid4, 5, 1), draid(1, 3, 8), draid(2, 3, 10)];
    for (of, members, parities) in levels.chain(others) {
        for small_write in [SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct] {
            for gone in failures(members, parities) {
                let (mut array, layout) = array(of, members, (small_write, DegradedWrites::Md), &gone);
                let (data, holders) = members_of_stripe(&layout);
                let has_failed = |unit: &usize| gone.contains(&(holders[*unit] as u16));
                let failed: BTreeSet<usize> = (0..holders.len()).filter(has_failed).collect();
                for (id, (first, last, head, tail)) in (0..).zip(runs(data)) {
                    let (offset, end) = (first as u64 * PAGE + head, (last as u64 + 1) * PAGE - tail);
                    let mut partial = BTreeSet::new();
                    partial.extend((head > 0).then_some(first));
                    partial.extend((tail > 0).then_some(last));
                    let (written, failed, partial) = (first..=last, &failed, &partial);
                    let usize_of = usize::from(parities);
                    let write = Write { data, parities: usize_of, failed, written: written.clone(), partial };
                    let programs: BTreeSet<usize> =
                        written.chain(data..holders.len()).filter(|unit| !failed.contains(unit)).collect();
                    let touched = measured(&mut array, &holders, id, (offset, end));
                    let what = format!(
                        "{of:?} {small_write:?} without {failed:?}: {first} to {last}, {partial:?} in part"
                    );
                    assert_eq!(touched, [write.reads(small_write), programs], "{what}");
                }
                let losses = array.counters().losses;
                assert_eq!(losses, Default::default(), "{of:?} without {gone:?}: nothing is lost");
            }
        }
    }
}

/// The rows in which both rules differ, and their neighbours: six members, units of data 0 to 3, P is 4 and Q 5 of RAID-6; on
/// RAID-5 units 0 to 4, P is 5.
#[test]
fn md_and_fewest_differ_in_these_rows() {
    let (raid5, raid6) = (Level::Raid5(Rotation::LeftSymmetric), Level::Raid6(Rotation::LeftSymmetric));
    type Units = &'static [usize];
    // Level, what has failed, first and last unit written, bytes left out at the end, what md reads, what fewest reads.
    type Row = (Level, Units, (usize, usize), u64, Units, Units);
    let rows: [Row; 17] = [
        (raid5, &[5], (0, 0), 0, &[1, 2, 3, 4], &[]),
        (raid5, &[5], (0, 2), 0, &[3, 4], &[]),
        (raid5, &[5], (0, 2), 512, &[2, 3, 4], &[2]),
        (raid5, &[5], (0, 4), 0, &[], &[]),
        (raid5, &[1], (0, 0), 0, &[0, 5], &[0, 5]),
        (raid5, &[1], (1, 1), 0, &[0, 2, 3, 4], &[0, 2, 3, 4]),
        (raid5, &[1], (1, 1), 512, &[0, 2, 3, 4, 5], &[0, 2, 3, 4, 5]),
        (raid6, &[4], (0, 0), 0, &[1, 2, 3], &[0, 5]),
        (raid6, &[5], (0, 1), 512, &[1, 2, 3], &[1, 2, 3]),
        (raid6, &[1], (0, 0), 0, &[0, 4, 5], &[0, 4, 5]),
        (raid6, &[3], (0, 1), 0, &[0, 1, 4, 5], &[0, 1, 2, 4]),
        (raid6, &[3], (0, 2), 0, &[0, 1, 2, 4, 5], &[0, 1, 2, 4]),
        (raid6, &[1], (1, 1), 512, &[0, 2, 3, 4, 5], &[0, 2, 3, 4]),
        (raid6, &[1, 4], (0, 0), 0, &[0, 2, 3, 5], &[0, 5]),
        (raid6, &[4, 5], (0, 0), 0, &[1, 2, 3], &[]),
        (raid6, &[2, 3], (0, 0), 0, &[0, 4, 5], &[0, 4, 5]),
        (raid6, &[2, 3], (1, 2), 0, &[0, 1, 4, 5], &[0, 1, 4, 5]),
    ];
    for (of, failed, (first, last), tail, mds, fewest) in rows {
        for (rule, expected) in [(DegradedWrites::Md, mds), (DegradedWrites::Fewest, fewest)] {
            let (_, layout) = array(of, 6, (SmallWrite::Fewest, rule), &[]);
            let (_, holders) = members_of_stripe(&layout);
            let gone: Vec<u16> = failed.iter().map(|&unit| holders[unit] as u16).collect();
            let (mut array, _) = array(of, 6, (SmallWrite::Fewest, rule), &gone);
            let range = (first as u64 * PAGE, (last as u64 + 1) * PAGE - tail);
            let [reads, _] = measured(&mut array, &holders, 1, range);
            let expected: BTreeSet<usize> = expected.iter().copied().collect();
            assert_eq!(reads, expected, "{of:?} {rule:?} without {failed:?}: {first} to {last}, less {tail}");
        }
    }
}
