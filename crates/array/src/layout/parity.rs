//! RAID-4, RAID-5 and RAID-6: stripes of data units and one or two parity units. Declustered stripes are asked for here, too;
//! where they lie is the business of `declustered`.
//!
//! Five members; rows are stripes, columns are members, numbers are data units of the stripe:
//!
//! ```text
//! RAID-5 left-symmetric   RAID-5 left-asymmetric   RAID-6 left-symmetric   RAID-6 left-symmetric-6
//! 0  1  2  3  P           0  1  2  3  P            Q  0  1  2  P           0  1  2  P  Q
//! 1  2  3  P  0           0  1  2  P  3            0  1  2  P  Q           1  2  P  0  Q
//! 2  3  P  0  1           0  1  P  2  3            1  2  P  Q  0           2  P  0  1  Q
//! 3  P  0  1  2           0  P  1  2  3            2  P  Q  0  1           P  0  1  2  Q
//! P  0  1  2  3           P  0  1  2  3            P  Q  0  1  2           0  1  2  P  Q
//! ```
//!
//! All of md's rotations are four choices: the member of P in stripe 0, which way it turns, over how many members,
//! where Q lies, and whether data follows parity (symmetric) or the members.
//!
//! Parity is computed in rows of 4 KiB, md's unit of work, or of one page where pages are larger or units smaller:
//! to write a row of a stripe, only that row of the other units is needed.
//!
//! RAID-4 is RAID-5 with parity last. Members of RAID-5 may have shares of parity of their own (`shares`).
//!
//! Source: Linux md, `drivers/md/raid5.c` (`raid5_compute_sector`, and `raid5_size` for the capacity).
//!
//! Not modelled: the order in which DDF's rotations weigh data in Q (md's `ddf_layout`), because no unit's place
//! depends on it.

use std::sync::Arc;

use harmonia_types::{Bytes, DeviceId};

use super::shares::Shares;
use super::{Declustered, Groups, Held, Level, Rotation, Space, units, wrapped};

/// RAID-4, RAID-5 and RAID-6, and declustered parity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parity {
    level: Level,
    space: Space,
    row_bytes: Bytes,
    /// Data units of a stripe.
    data_units: u64,
    parities: u16,
    /// Where stripes lie that do not take all members.
    table: Option<Arc<Declustered>>,
    /// Who has the parity of how many stripes, where `turn` says so.
    shares: Option<Arc<Shares>>,
    /// The member of P in stripe 0.
    first: u64,
    turn: Turn,
    second: Second,
    /// Data begins after parity and wraps around; otherwise it lies in the order of the members.
    is_symmetric: bool,
}

/// Where P goes from one stripe to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nowhere.
    Stays,
    /// To the member before, over the first so many members.
    Left(u64),
    /// To the member after.
    Right(u64),
    /// Where shares of parity put it.
    Shared,
}

/// Where Q lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Second {
    /// There is none.
    None,
    /// On the member after P's.
    After,
    /// On the member before P's.
    Before,
    /// On the last member, always.
    Last,
}

/// What a member holds of a stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A data unit, by its number in the stripe.
    Data(u16),
    /// The first parity.
    P,
    /// The second parity.
    Q,
    /// Nothing: the stripe lies on other members.
    None,
}

/// Stripes of which a member holds parity: stripe s if and only if `(s + phase) % period < run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParityPattern {
    /// Where in the pattern stripe 0 is, less than `period`.
    pub phase: u64,
    /// Stripes until the pattern repeats.
    pub period: u64,
    /// Stripes of it with parity, one after the other.
    pub run: u64,
}

impl ParityPattern {
    const NEVER: ParityPattern = ParityPattern { phase: 0, period: 1, run: 0 };
    const ALWAYS: ParityPattern = ParityPattern { phase: 0, period: 1, run: 1 };

    /// Whether the member holds parity of this stripe.
    #[inline]
    pub fn has(self, stripe: u64) -> bool {
        (stripe + self.phase) % self.period < self.run
    }

    /// Stripes before this one of which the member holds data.
    fn data_before(self, stripe: u64) -> u64 {
        self.data_from_start(stripe + self.phase) - self.data_from_start(self.phase)
    }

    /// The stripe of which the member holds data for the time `nth`, counted from 0. The member must hold data.
    fn data_stripe(self, nth: u64) -> u64 {
        let (data, nth) = (self.period - self.run, nth + self.data_from_start(self.phase));
        nth / data * self.period + self.run + nth % data - self.phase
    }

    /// Data among so many stripes from the start of the pattern.
    fn data_from_start(self, stripes: u64) -> u64 {
        stripes / self.period * (self.period - self.run) + (stripes % self.period).saturating_sub(self.run)
    }
}

impl Parity {
    pub(super) fn new(level: Level, mut space: Space) -> Self {
        let (rotation, parities) = match level {
            Level::Raid6(rotation) => (rotation, 2),
            Level::Raid5(rotation) => (rotation, 1),
            Level::Raid4 => (Rotation::ParityLast, 1),
            Level::Draid(groups) => (Rotation::default(), u64::from(groups.parities)),
            Level::Raid0 | Level::Raid1 | Level::Raid10(_) => panic!("{level} has no parity"),
        };
        assert!(parities == 2 || !rotation.is_raid6_only(), "RAID-5 cannot be {}", rotation.name());
        let Space { members, stripe_unit, page_size, member_bytes } = space;
        assert!(stripe_unit > 0 && page_size > 0, "a stripe unit and pages are not empty");
        space.member_bytes = member_bytes / stripe_unit * stripe_unit;
        let table = match level {
            Level::Draid(groups) => Some(Arc::new(Declustered::new(groups, members))),
            _ => None,
        };
        let (members, data_units) = (u64::from(members), u64::from(members) - parities);
        let last = members - 1;
        // The rotations of RAID-5 with Q added turn over the members without the last one.
        let (first, turn) = match rotation {
            Rotation::LeftSymmetric | Rotation::LeftAsymmetric => (last, Turn::Left(members)),
            Rotation::RightSymmetric | Rotation::RightAsymmetric => (0, Turn::Right(members)),
            Rotation::ParityFirst | Rotation::ParityFirst6 => (0, Turn::Stays),
            Rotation::ParityLast => (data_units, Turn::Stays),
            Rotation::RotatingZeroRestart => (0, Turn::Right(members)),
            Rotation::RotatingNRestart => (last - 1, Turn::Left(members)),
            Rotation::RotatingNContinue => (last, Turn::Left(members)),
            Rotation::LeftSymmetric6 | Rotation::LeftAsymmetric6 => (last - 1, Turn::Left(last)),
            Rotation::RightSymmetric6 | Rotation::RightAsymmetric6 => (0, Turn::Right(last)),
        };
        let (second, is_symmetric) = match rotation {
            Rotation::LeftSymmetric | Rotation::RightSymmetric => (Second::After, true),
            Rotation::LeftAsymmetric
            | Rotation::RightAsymmetric
            | Rotation::ParityFirst
            | Rotation::ParityLast
            | Rotation::RotatingZeroRestart
            | Rotation::RotatingNRestart => (Second::After, false),
            Rotation::RotatingNContinue => (Second::Before, true),
            Rotation::LeftSymmetric6 | Rotation::RightSymmetric6 => (Second::Last, true),
            Rotation::LeftAsymmetric6 | Rotation::RightAsymmetric6 | Rotation::ParityFirst6 => {
                (Second::Last, false)
            }
        };
        let second = if parities == 2 { second } else { Second::None };
        let row_bytes = if 4096 % page_size == 0 && stripe_unit % 4096 == 0 { 4096 } else { page_size };
        let data_units = table.as_ref().map_or(data_units, |table| u64::from(table.shape().data));
        let parities = parities as u16;
        let shares = None;
        Parity {
            level,
            space,
            row_bytes,
            data_units,
            parities,
            table,
            shares,
            first,
            turn,
            second,
            is_symmetric,
        }
    }

    /// RAID-5 of which each member has such a share of the parity.
    pub(super) fn sharing(mut self, shares: &[u16]) -> Self {
        assert!(shares.len() == usize::from(self.space.members), "every member has a share");
        assert!(self.parities == 1 && self.table.is_none(), "{} has no shares of parity", self.level);
        let (members, last) = (self.space.members, self.space.members - 1);
        let shares = match self.turn {
            Turn::Left(_) => Shares::new(shares, (0..members).map(|step| last - step)),
            Turn::Right(_) => Shares::new(shares, 0..members),
            Turn::Stays | Turn::Shared => panic!("parity of {} stays where it is", self.level),
        };
        (self.shares, self.turn) = (Some(Arc::new(shares)), Turn::Shared);
        self
    }

    /// Whether stripes can leave a member free and still have a data unit.
    pub(super) fn may_float(&self) -> bool {
        matches!(self.level, Level::Raid5(_) | Level::Raid6(_)) && self.space.members > self.parities + 1
    }

    /// RAID-5 or RAID-6 of which each stripe leaves one member free: a data unit less, and places that turn over all members alike.
    /// These are the places with which an array begins. Members that are `thin` hold as much in each of their parts that pages are
    /// bound to by number.
    pub(super) fn floating(mut self, thin: bool) -> Self {
        let (members, parities) = (self.space.members, self.parities);
        assert!(self.may_float(), "stripes of {} on {members} members do not float", self.level);
        let groups = Groups { parities, data: members - parities - 1, spares: 1 };
        self.data_units = u64::from(groups.data);
        let table = Declustered::new(groups, members);
        self.table = Some(Arc::new(if thin { table.shifting() } else { table }));
        self
    }

    /// Whether stripes leave one member free each, which holds nothing of them for now.
    pub fn is_floating(&self) -> bool {
        self.table.is_some() && !matches!(self.level, Level::Draid(_))
    }

    /// The share of parity that a member is to have, as so many stripes of so many; `None` where all have the same.
    pub fn share(&self, member: DeviceId) -> Option<(u64, u64)> {
        let pattern = self.shares.as_ref()?.pattern(member);
        Some((pattern.run, pattern.period))
    }

    /// Where stripes lie that do not take all members.
    #[inline]
    pub fn declustered(&self) -> Option<&Declustered> {
        self.table.as_deref()
    }

    /// The row of stripe units that a stripe lies in.
    #[inline]
    pub fn row_of(&self, stripe: u64) -> u64 {
        self.table.as_ref().map_or(stripe, |table| stripe / table.groups())
    }

    /// Stripes of a row of stripe units.
    #[inline]
    pub fn stripes_of_row(&self) -> u64 {
        self.table.as_ref().map_or(1, |table| table.groups())
    }

    /// The stripe of which a member holds something in a row of stripe units; `None` where that is spare space.
    #[inline]
    pub fn stripe_on(&self, member: DeviceId, row: u64) -> Option<u64> {
        match self.table.as_ref().map(|table| table.held(row, member)) {
            None => Some(row),
            Some(Held::Unit(stripe, _)) => Some(stripe),
            Some(Held::Spare(_)) => None,
        }
    }

    /// RAID-4, RAID-5 or RAID-6, or declustered.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Parity units of a stripe.
    #[inline]
    pub fn parities(&self) -> u16 {
        self.parities
    }

    /// Data units of a stripe.
    #[inline]
    pub fn data_units(&self) -> u16 {
        self.data_units as u16
    }

    /// Bytes of a unit that are computed and locked together.
    #[inline]
    pub fn row_bytes(&self) -> Bytes {
        self.row_bytes
    }

    /// Bytes of a stripe on each member.
    #[inline]
    pub fn unit_bytes(&self) -> Bytes {
        self.space.stripe_unit
    }

    /// Data bytes of a stripe.
    #[inline]
    pub fn stripe_bytes(&self) -> Bytes {
        self.data_units * self.space.stripe_unit
    }

    pub(super) fn space(&self) -> &Space {
        &self.space
    }

    pub(super) fn logical_bytes(&self) -> Bytes {
        self.space.member_bytes * self.data_units * self.stripes_of_row()
    }

    /// As [`Layout::written`](super::Layout::written), of whole rows.
    pub(super) fn written(&self, start: Bytes, length: Bytes, mut visit: impl FnMut(DeviceId, Bytes, Bytes)) {
        let (unit, stripe_bytes, end) = (self.unit_bytes(), self.stripe_bytes(), start + length);
        for stripe in start / stripe_bytes..end.div_ceil(stripe_bytes) {
            let begin = stripe * stripe_bytes;
            let (from, to) = (start.max(begin) - begin, end.min(begin + stripe_bytes) - begin);
            let base = self.row_of(stripe) * unit;
            units(unit, from, to - from, |index, within, length| {
                visit(self.data_member(stripe, index as u16), base + within, length);
            });
            // A short range of two units leaves out rows between the end of the one and the start of the other.
            let (first, last) = (from % unit, (to - 1) % unit + 1);
            let rows = match (from / unit == (to - 1) / unit, to - from < unit) {
                (true, _) => [first..last, 0..0],
                (false, true) => [0..last, first..unit],
                (false, false) => [0..unit, 0..0],
            };
            for rows in rows.into_iter().filter(|rows| !rows.is_empty()) {
                let parities = [Some(self.p_member(stripe)), self.q_member(stripe)];
                parities.into_iter().flatten().for_each(|member| {
                    visit(member, base + rows.start, rows.end - rows.start);
                });
            }
        }
    }

    /// The member that holds a data unit of a stripe.
    #[inline]
    pub fn data_member(&self, stripe: u64, unit: u16) -> DeviceId {
        debug_assert!(u64::from(unit) < self.data_units, "a stripe has {} data units", self.data_units);
        if let Some(table) = &self.table {
            return DeviceId(table.at(stripe, u64::from(self.parities + unit)) as u16);
        }
        let (p, unit) = (self.p(stripe), u64::from(unit));
        let member = if self.is_symmetric {
            wrapped(p + self.data_distance() + unit, self.ring())
        } else {
            let (low, high) = match self.q(p) {
                Some(q) => (p.min(q), p.max(q)),
                None => (p, u64::MAX),
            };
            let member = unit + u64::from(unit >= low);
            member + u64::from(member >= high)
        };
        DeviceId(member as u16)
    }

    /// The member that holds P of a stripe.
    #[inline]
    pub fn p_member(&self, stripe: u64) -> DeviceId {
        let p = self.table.as_ref().map_or_else(|| self.p(stripe), |table| table.at(stripe, 0));
        DeviceId(p as u16)
    }

    /// The member that holds Q of a stripe.
    #[inline]
    pub fn q_member(&self, stripe: u64) -> Option<DeviceId> {
        if let Some(table) = &self.table {
            return (self.parities == 2).then(|| DeviceId(table.at(stripe, 1) as u16));
        }
        self.q(self.p(stripe)).map(|q| DeviceId(q as u16))
    }

    /// What a member holds of a stripe.
    #[inline]
    pub fn unit_on(&self, stripe: u64, member: DeviceId) -> Unit {
        if let Some(table) = &self.table {
            return match table.held(stripe / table.groups(), member) {
                Held::Unit(held, unit) if held == stripe => unit,
                Held::Unit(..) | Held::Spare(_) => Unit::None,
            };
        }
        let (p, member) = (self.p(stripe), u64::from(member.0));
        let q = self.q(p);
        if member == p {
            return Unit::P;
        }
        if Some(member) == q {
            return Unit::Q;
        }
        let unit = if self.is_symmetric {
            wrapped(member + self.ring() - p, self.ring()) - self.data_distance()
        } else {
            member - u64::from(member > p) - u64::from(q.is_some_and(|q| member > q))
        };
        Unit::Data(unit as u16)
    }

    /// The stripes of which a member holds parity, P or Q. Declustered parity has no such pattern.
    pub fn parity_pattern(&self, member: DeviceId) -> ParityPattern {
        debug_assert!(self.table.is_none(), "declustered parity comes in no pattern");
        let (member, members) = (u64::from(member.0), u64::from(self.space.members));
        if let Some(shares) = &self.shares {
            return shares.pattern(DeviceId(member as u16));
        }
        let (first, last) = (self.first, members - 1);
        if self.second == Second::Last && member == last {
            return ParityPattern::ALWAYS;
        }
        // Stripes in which this member and then its neighbour are P's; the neighbour's Q lies on this member.
        let pattern = |phase: u64, period, run| ParityPattern { phase: phase % period, period, run };
        match (self.turn, self.second) {
            (Turn::Stays | Turn::Shared, _) => {
                let q = self.q(first);
                if member == first || Some(member) == q {
                    ParityPattern::ALWAYS
                } else {
                    ParityPattern::NEVER
                }
            }
            (Turn::Left(ring), Second::None | Second::Last) => pattern(member + ring - first, ring, 1),
            (Turn::Left(ring), Second::After) => pattern(member + ring - first, ring, 2),
            (Turn::Left(ring), Second::Before) => pattern(member + 1 + ring - first, ring, 2),
            (Turn::Right(ring), Second::None | Second::Last) => pattern(ring - member, ring, 1),
            (Turn::Right(ring), Second::After) => pattern(ring + 1 - member, ring, 2),
            (Turn::Right(ring), Second::Before) => pattern(ring - member, ring, 2),
        }
    }

    pub(super) fn pinned_bytes(&self, member: DeviceId) -> Bytes {
        if let Some(table) = &self.table {
            let unit = self.space.stripe_unit;
            return table.data_before(member, self.space.member_bytes / unit) * unit;
        }
        let (unit, pattern) = (self.space.stripe_unit, self.parity_pattern(member));
        pattern.data_before(self.space.member_bytes / unit) * unit
    }

    pub(super) fn pinned(
        &self,
        member: DeviceId,
        offset: Bytes,
        length: Bytes,
        mut visit: impl FnMut(Bytes, Bytes),
    ) {
        if let Some(table) = &self.table {
            let unit = self.space.stripe_unit;
            return table.pinned(member, unit, (offset, length), |stripe, index, within, bytes| {
                visit(stripe * self.stripe_bytes() + u64::from(index) * unit + within, bytes);
            });
        }
        let (unit, pattern) = (self.space.stripe_unit, self.parity_pattern(member));
        units(unit, offset, length, |nth, within, bytes| {
            let stripe = pattern.data_stripe(nth);
            let Unit::Data(index) = self.unit_on(stripe, member) else {
                unreachable!("the pattern says that member {} holds data of stripe {stripe}", member.0)
            };
            visit(stripe * self.stripe_bytes() + u64::from(index) * unit + within, bytes);
        });
    }

    #[inline]
    fn p(&self, stripe: u64) -> u64 {
        match self.turn {
            Turn::Stays => self.first,
            Turn::Left(ring) => wrapped(self.first + ring - stripe % ring, ring),
            Turn::Right(ring) => stripe % ring,
            Turn::Shared => self.shares.as_ref().map_or(self.first, |shares| shares.p(stripe)),
        }
    }

    #[inline]
    fn q(&self, p: u64) -> Option<u64> {
        let members = u64::from(self.space.members);
        match self.second {
            Second::None => None,
            Second::After => Some(wrapped(p + 1, members)),
            Second::Before => Some(wrapped(p + members - 1, members)),
            Second::Last => Some(members - 1),
        }
    }

    /// Members that data and P turn over.
    #[inline]
    fn ring(&self) -> u64 {
        u64::from(self.space.members) - u64::from(self.second == Second::Last)
    }

    /// Members from P to the first data unit, where data follows parity.
    #[inline]
    fn data_distance(&self) -> u64 {
        1 + u64::from(self.second == Second::After)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parity(level: Level, members: u16) -> Parity {
        let space = Space { members, stripe_unit: 4096, page_size: 4096, member_bytes: 4096 * 1000 };
        Parity::new(level, space)
    }

    /// One stripe as the tables below write it, asked from both sides: by member and by unit.
    fn row(parity: &Parity, stripe: u64) -> String {
        let mut by_unit = vec![String::new(); usize::from(parity.space.members)];
        for unit in 0..parity.data_units() {
            by_unit[parity.data_member(stripe, unit).index()] += &unit.to_string();
        }
        by_unit[parity.p_member(stripe).index()] += "P";
        if let Some(q) = parity.q_member(stripe) {
            by_unit[q.index()] += "Q";
        }
        let by_member =
            (0..parity.space.members).map(|member| match parity.unit_on(stripe, DeviceId(member)) {
                Unit::Data(unit) => unit.to_string(),
                Unit::P => "P".into(),
                Unit::Q => "Q".into(),
                Unit::None => ".".into(),
            });
        assert_eq!(by_member.collect::<Vec<_>>(), by_unit, "{parity:?} stripe {stripe}");
        by_unit.join(" ")
    }

    /// Worked out by hand from md's formulas for five members: columns are members, rows are stripes.
    #[test]
    fn raid5_lies_as_md_places_it() {
        #[rustfmt::skip]
        let tables = [
            (Rotation::LeftAsymmetric,
             ["0 1 2 3 P", "0 1 2 P 3", "0 1 P 2 3", "0 P 1 2 3", "P 0 1 2 3", "0 1 2 3 P"]),
            (Rotation::LeftSymmetric,
             ["0 1 2 3 P", "1 2 3 P 0", "2 3 P 0 1", "3 P 0 1 2", "P 0 1 2 3", "0 1 2 3 P"]),
            (Rotation::RightAsymmetric,
             ["P 0 1 2 3", "0 P 1 2 3", "0 1 P 2 3", "0 1 2 P 3", "0 1 2 3 P", "P 0 1 2 3"]),
            (Rotation::RightSymmetric,
             ["P 0 1 2 3", "3 P 0 1 2", "2 3 P 0 1", "1 2 3 P 0", "0 1 2 3 P", "P 0 1 2 3"]),
            (Rotation::ParityFirst,
             ["P 0 1 2 3", "P 0 1 2 3", "P 0 1 2 3", "P 0 1 2 3", "P 0 1 2 3", "P 0 1 2 3"]),
            (Rotation::ParityLast,
             ["0 1 2 3 P", "0 1 2 3 P", "0 1 2 3 P", "0 1 2 3 P", "0 1 2 3 P", "0 1 2 3 P"]),
        ];
        for (rotation, table) in tables {
            let parity = parity(Level::Raid5(rotation), 5);
            assert_eq!([0, 1, 2, 3, 4, 5].map(|stripe| row(&parity, stripe)), table, "{}", rotation.name());
        }
        assert_eq!(tables.len(), Rotation::ALL.iter().filter(|rotation| !rotation.is_raid6_only()).count());
        let raid4 = parity(Level::Raid4, 5);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|stripe| row(&raid4, stripe)), tables[5].1);
    }

    /// As above.
    #[test]
    fn raid6_lies_as_md_places_it() {
        #[rustfmt::skip]
        let tables = [
            (Rotation::LeftAsymmetric,
             ["Q 0 1 2 P", "0 1 2 P Q", "0 1 P Q 2", "0 P Q 1 2", "P Q 0 1 2", "Q 0 1 2 P"]),
            (Rotation::LeftSymmetric,
             ["Q 0 1 2 P", "0 1 2 P Q", "1 2 P Q 0", "2 P Q 0 1", "P Q 0 1 2", "Q 0 1 2 P"]),
            (Rotation::RightAsymmetric,
             ["P Q 0 1 2", "0 P Q 1 2", "0 1 P Q 2", "0 1 2 P Q", "Q 0 1 2 P", "P Q 0 1 2"]),
            (Rotation::RightSymmetric,
             ["P Q 0 1 2", "2 P Q 0 1", "1 2 P Q 0", "0 1 2 P Q", "Q 0 1 2 P", "P Q 0 1 2"]),
            (Rotation::ParityFirst,
             ["P Q 0 1 2", "P Q 0 1 2", "P Q 0 1 2", "P Q 0 1 2", "P Q 0 1 2", "P Q 0 1 2"]),
            (Rotation::ParityLast,
             ["0 1 2 P Q", "0 1 2 P Q", "0 1 2 P Q", "0 1 2 P Q", "0 1 2 P Q", "0 1 2 P Q"]),
            (Rotation::RotatingZeroRestart,
             ["P Q 0 1 2", "0 P Q 1 2", "0 1 P Q 2", "0 1 2 P Q", "Q 0 1 2 P", "P Q 0 1 2"]),
            (Rotation::RotatingNRestart,
             ["0 1 2 P Q", "0 1 P Q 2", "0 P Q 1 2", "P Q 0 1 2", "Q 0 1 2 P", "0 1 2 P Q"]),
            (Rotation::RotatingNContinue,
             ["0 1 2 Q P", "1 2 Q P 0", "2 Q P 0 1", "Q P 0 1 2", "P 0 1 2 Q", "0 1 2 Q P"]),
            (Rotation::LeftAsymmetric6,
             ["0 1 2 P Q", "0 1 P 2 Q", "0 P 1 2 Q", "P 0 1 2 Q", "0 1 2 P Q", "0 1 P 2 Q"]),
            (Rotation::LeftSymmetric6,
             ["0 1 2 P Q", "1 2 P 0 Q", "2 P 0 1 Q", "P 0 1 2 Q", "0 1 2 P Q", "1 2 P 0 Q"]),
            (Rotation::RightAsymmetric6,
             ["P 0 1 2 Q", "0 P 1 2 Q", "0 1 P 2 Q", "0 1 2 P Q", "P 0 1 2 Q", "0 P 1 2 Q"]),
            (Rotation::RightSymmetric6,
             ["P 0 1 2 Q", "2 P 0 1 Q", "1 2 P 0 Q", "0 1 2 P Q", "P 0 1 2 Q", "2 P 0 1 Q"]),
            (Rotation::ParityFirst6,
             ["P 0 1 2 Q", "P 0 1 2 Q", "P 0 1 2 Q", "P 0 1 2 Q", "P 0 1 2 Q", "P 0 1 2 Q"]),
        ];
        for (rotation, table) in tables {
            let parity = parity(Level::Raid6(rotation), 5);
            assert_eq!([0, 1, 2, 3, 4, 5].map(|stripe| row(&parity, stripe)), table, "{}", rotation.name());
        }
        assert_eq!(tables.len(), Rotation::ALL.len());
    }

    fn all(members: u16) -> impl Iterator<Item = Parity> {
        let levels = Rotation::ALL.into_iter().flat_map(|rotation| {
            let raid5 = (!rotation.is_raid6_only()).then_some(Level::Raid5(rotation));
            [raid5, Some(Level::Raid6(rotation))]
        });
        let levels = levels.flatten().chain([Level::Raid4]);
        levels.filter(move |level| level.least_members() <= members).map(move |level| parity(level, members))
    }

    /// Rotations over which parity moves, with shares of it.
    fn shared(members: u16) -> impl Iterator<Item = Parity> {
        let turns = [
            Rotation::LeftSymmetric,
            Rotation::LeftAsymmetric,
            Rotation::RightSymmetric,
            Rotation::RightAsymmetric,
        ];
        turns.into_iter().zip(1..).map(move |(rotation, first)| {
            let shares: Vec<u16> = (0..members).map(|member| (member * 7 + first * 3) % 5).collect();
            parity(Level::Raid5(rotation), members).sharing(&shares)
        })
    }

    #[test]
    fn equal_shares_are_the_rotation() {
        for parity in (3..=9).flat_map(all) {
            if !matches!(parity.level, Level::Raid5(_)) || parity.turn == Turn::Stays {
                continue;
            }
            let shared = parity.clone().sharing(&vec![20; usize::from(parity.space.members)]);
            assert!((0..100).all(|stripe| row(&shared, stripe) == row(&parity, stripe)), "{}", parity.level);
            let patterns = |of: &Parity| {
                (0..of.space.members).map(|member| of.parity_pattern(DeviceId(member))).collect::<Vec<_>>()
            };
            assert_eq!(patterns(&shared), patterns(&parity), "{}", parity.level);
        }
    }

    /// By hand: parity stays on members for 1, 1 and 3 stripes, and data follows it.
    #[test]
    fn shares_move_the_rotation_on_later() {
        let shared = |rotation| {
            let parity = parity(Level::Raid5(rotation), 3).sharing(&[3, 1, 1]);
            [0, 1, 2, 3, 4, 5].map(|stripe| row(&parity, stripe))
        };
        assert_eq!(shared(Rotation::LeftSymmetric), ["0 1 P", "1 P 0", "P 0 1", "P 0 1", "P 0 1", "0 1 P"]);
        assert_eq!(shared(Rotation::RightAsymmetric), ["P 0 1", "P 0 1", "P 0 1", "0 P 1", "0 1 P", "P 0 1"]);
    }

    #[test]
    fn the_pattern_has_parity_where_the_stripe_does() {
        for parity in (3..=9).flat_map(|members| all(members).chain(shared(members))) {
            for member in (0..parity.space.members).map(DeviceId) {
                let pattern = parity.parity_pattern(member);
                assert!(pattern.phase < pattern.period && pattern.run <= pattern.period, "{pattern:?}");
                let mut data = 0;
                for stripe in 0..200 {
                    let is_data = matches!(parity.unit_on(stripe, member), Unit::Data(_));
                    let place = format!("{} of {member:?}, stripe {stripe}: {pattern:?}", parity.level);
                    assert_eq!(pattern.has(stripe), !is_data, "{place}");
                    assert_eq!(pattern.data_before(stripe), data, "{place}");
                    if is_data {
                        assert_eq!(pattern.data_stripe(data), stripe, "{place}");
                        data += 1;
                    }
                }
            }
        }
    }

    /// md's usual ones, so that a reader sees what a pattern looks like.
    #[test]
    fn patterns_of_left_symmetric() {
        let patterns = |level| {
            let parity = parity(level, 5);
            [0, 1, 2, 3, 4].map(|member| {
                let ParityPattern { phase, period, run } = parity.parity_pattern(DeviceId(member));
                (phase, period, run)
            })
        };
        let raid5 = patterns(Level::Raid5(Rotation::LeftSymmetric));
        assert_eq!(raid5, [(1, 5, 1), (2, 5, 1), (3, 5, 1), (4, 5, 1), (0, 5, 1)]);
        let raid6 = patterns(Level::Raid6(Rotation::LeftSymmetric));
        assert_eq!(raid6, [(1, 5, 2), (2, 5, 2), (3, 5, 2), (4, 5, 2), (0, 5, 2)]);
        let raid4 = patterns(Level::Raid4);
        assert_eq!(raid4, [(0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 1, 1)]);
    }

    #[test]
    fn the_most_members_and_far_stripes_do_not_overflow() {
        for parity in all(u16::MAX) {
            for stripe in [0, 1, 65_533, 65_534, 65_535, u64::MAX / 65_536] {
                for unit in [0, 1, parity.data_units() / 2, parity.data_units() - 1] {
                    let member = parity.data_member(stripe, unit);
                    assert_eq!(parity.unit_on(stripe, member), Unit::Data(unit), "{} {stripe}", parity.level);
                    assert!(!parity.parity_pattern(member).has(stripe), "{} {stripe}", parity.level);
                }
                assert_eq!(parity.unit_on(stripe, parity.p_member(stripe)), Unit::P);
                let q = parity.q_member(stripe).map(|q| parity.unit_on(stripe, q));
                assert_eq!(q, (parity.parities() == 2).then_some(Unit::Q));
            }
        }
    }

    #[test]
    fn a_row_is_4_kib_or_a_page() {
        // (page, stripe unit) -> row
        let rows = [
            (4096, 4096, 4096),
            (4096, 524_288, 4096),
            (16_384, 16_384, 16_384),
            (8192, 524_288, 8192),
            (512, 8192, 4096),
            (512, 6144, 512),
            (2048, 2048, 2048),
            (1536, 12_288, 1536),
        ];
        for (page_size, stripe_unit, row) in rows {
            let space = Space { members: 4, stripe_unit, page_size, member_bytes: 1 << 30 };
            let parity = Parity::new(Level::Raid5(Rotation::default()), space);
            assert_eq!(parity.row_bytes(), row, "page {page_size}, unit {stripe_unit}");
            assert_eq!(parity.stripe_bytes(), 3 * stripe_unit);
        }
    }
}
