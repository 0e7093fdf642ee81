//! Declustered parity with distributed spares: stripes narrower than the array, spread over all members.
//!
//! Seven members in two groups of two data units and one parity, and one spare (`draid1:2d:1s`). A row of stripe units is cut
//! into slots; the permutation says which member each slot of a row is. The next row has the same members plus one:
//!
//! ```text
//! slots of a row      | P  D0 D1 | P  D0 D1 | S |      groups, then spares
//! permutation           1  5  3    4  2  0    6        row 0: member 1 holds P of stripe 0, member 6 is the spare
//!                       2  6  4    5  3  1    0        row 1: every member plus one
//!                       ..
//!                       0  4  2    3  1  6    5        row 6; row 7 begins the next permutation
//! ```
//!
//! After as many rows as members each member has been each slot once. So data, parity and spare space are the same on all
//! members, exactly. How evenly the reads of a rebuild fall on the survivors depends on the permutations: a survivor is
//! read in the rows in which it shares a group with the failed member. They are searched for: swaps of two slots
//! are kept while they make reads, and writes to each spare, more even over all pairs of members. [`Declustered::imbalance`] says what is left.
//!
//! Stripe `s` lies in row `s / groups`. All units of a row lie at the same offset of their members.
//!
//! Source: OpenZFS, module/zfs/vdev_draid.c (base permutations developed by adding 1, chosen by a search for the most even
//! rebuild); M. Holland and G. Gibson, "Parity Declustering for Continuous Operation in Redundant Disk Arrays", ASPLOS 1992.
//!
//! Leaves out: OpenZFS's fixed table of permutations (ours come from a search of our own, so places differ), groups that
//! begin in one row and end in the next (members without spares must be a multiple of a group), and triple parity.

use std::sync::OnceLock;

use harmonia_engine::Rng;
use harmonia_types::{Bytes, DeviceId};

use super::{Unit, units, wrapped};

/// Most members: as many as OpenZFS allows.
pub const MOST_CHILDREN: u16 = 255;
/// Most distributed spares, as in OpenZFS.
pub const MOST_SPARES: u16 = 100;
/// Permutations used in turn.
const PERMUTATIONS: usize = 16;
/// Swaps tried for each of them.
const TRIALS: usize = 400;

/// What a declustered level is made of, as OpenZFS writes it: `draid1:4d:1s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups {
    /// Parity units of a stripe, 1 or 2.
    pub parities: u16,
    /// Data units of a stripe.
    pub data: u16,
    /// Members' worth of space that is kept for rebuilding.
    pub spares: u16,
}

impl Groups {
    /// Units of a stripe.
    pub fn width(self) -> u16 {
        self.parities + self.data
    }

    /// Whether rows of so many members are whole groups and spares.
    pub fn fits(self, members: u16) -> bool {
        let used = members.saturating_sub(self.spares);
        used > 0 && used.is_multiple_of(self.width())
    }

    /// As it is written, without the level: `4d:1s`.
    pub fn name(self) -> String {
        format!("{}d:{}s", self.data, self.spares)
    }
}

/// What a member holds in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// A unit of a stripe.
    Unit(u64, Unit),
    /// Spare space, by number.
    Spare(u16),
}

/// Which member each slot of each row is.
#[derive(Debug, Clone)]
pub struct Declustered {
    members: u64,
    /// Groups of a row.
    groups: u64,
    shape: Groups,
    /// Every turn of all permutations begins with another member, so that rows of any distance leave all members free alike.
    shifts: bool,
    /// Searched for when a place is first asked for: whoever asks how much an array holds does not wait for it.
    permutations: OnceLock<Permutations>,
}

/// They follow from the numbers of a [`Declustered`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Permutations {
    /// By permutation and slot: the member in the first row of the permutation.
    member_of: Vec<u16>,
    /// By permutation and that member: its slot.
    slot_of: Vec<u16>,
}

impl Permutations {
    fn add(&mut self, permutation: &[u16]) {
        let first = self.slot_of.len();
        self.slot_of.resize(first + permutation.len(), 0);
        for (slot, &member) in (0..).zip(permutation) {
            self.slot_of[first + usize::from(member)] = slot;
        }
        self.member_of.extend(permutation);
    }
}

/// A number that looks drawn.
#[inline]
fn mixed(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29) >> 16
}

impl PartialEq for Declustered {
    fn eq(&self, other: &Self) -> bool {
        (self.members, self.shape, self.shifts) == (other.members, other.shape, other.shifts)
            && self.permutations() == other.permutations()
    }
}

impl Eq for Declustered {}

impl Declustered {
    /// The permutations for so many members: always the same for the same numbers.
    ///
    /// # Panics
    /// If rows of so many members are not whole groups and spares ([`Groups::fits`]).
    pub fn new(shape: Groups, members: u16) -> Self {
        assert!(shape.fits(members), "{members} members are not whole groups of {shape:?}");
        let groups = u64::from((members - shape.spares) / shape.width());
        Declustered {
            members: u64::from(members),
            groups,
            shape,
            shifts: false,
            permutations: OnceLock::new(),
        }
    }

    /// The same, shifted by a member from one turn of all permutations to the next. The members of one number in so many rows, whatever
    /// that number is, are then each slot as often as the others, or by chance.
    pub fn shifting(self) -> Self {
        Declustered { shifts: true, ..self }
    }

    /// Members by which a row is shifted.
    #[inline]
    fn shift(&self, row: u64) -> u64 {
        if !self.shifts {
            return 0;
        }
        let turn = row / (PERMUTATIONS as u64 * self.members);
        // As many turns as members have each shift once. Where these begin is drawn, or they would repeat.
        (turn + mixed(turn / self.members)) % self.members
    }

    #[inline]
    fn permutations(&self) -> &Permutations {
        self.permutations.get_or_init(|| {
            let mut found = Permutations::default();
            let mut rng = Rng::stream(self.members, "array/layout/declustered");
            let mut work = self.no_work();
            for _ in 0..PERMUTATIONS {
                found.add(&self.search(&mut rng, &mut work));
            }
            found
        })
    }

    /// As [`Declustered::new`] with permutations that are given, one after the other.
    #[cfg(test)]
    fn with(shape: Groups, members: u16, permutations: &[&[u16]]) -> Self {
        let mut given = Permutations::default();
        permutations.iter().for_each(|permutation| given.add(permutation));
        Declustered { permutations: given.into(), ..Self::new(shape, members) }
    }

    /// Data units, parities, spares.
    pub fn shape(&self) -> Groups {
        self.shape
    }

    /// Stripes of a row.
    #[inline]
    pub fn groups(&self) -> u64 {
        self.groups
    }

    /// The member in a slot of a row.
    #[inline]
    fn member(&self, row: u64, slot: u64) -> u64 {
        let (turn, step) = (row / self.members, row % self.members);
        let member_of = &self.permutations().member_of;
        let turn = turn % (member_of.len() as u64 / self.members);
        let first = u64::from(member_of[(turn * self.members + slot) as usize]);
        wrapped(wrapped(first + step, self.members) + self.shift(row), self.members)
    }

    /// The slot of a row that a member is.
    #[inline]
    fn slot(&self, row: u64, member: u64) -> u64 {
        let (turn, step) = (row / self.members, row % self.members);
        let slot_of = &self.permutations().slot_of;
        let turn = turn % (slot_of.len() as u64 / self.members);
        let first = wrapped(member + self.members - step, self.members);
        let first = wrapped(first + self.members - self.shift(row), self.members);
        u64::from(slot_of[(turn * self.members + first) as usize])
    }

    /// The member that holds the unit of a stripe at a position: its parities, then its data units.
    #[inline]
    pub fn at(&self, stripe: u64, position: u64) -> u64 {
        let (row, group) = (stripe / self.groups, stripe % self.groups);
        self.member(row, group * u64::from(self.shape.width()) + position)
    }

    /// What a member holds in a row.
    #[inline]
    pub fn held(&self, row: u64, member: DeviceId) -> Held {
        let (slot, width) = (self.slot(row, u64::from(member.0)), u64::from(self.shape.width()));
        let (group, position) = (slot / width, slot % width);
        if group >= self.groups {
            return Held::Spare((slot - self.groups * width) as u16);
        }
        Held::Unit(row * self.groups + group, self.unit(position))
    }

    /// The member that is a spare of a row.
    #[inline]
    pub fn spare(&self, row: u64, spare: u16) -> DeviceId {
        let first = self.groups * u64::from(self.shape.width());
        DeviceId(self.member(row, first + u64::from(spare)) as u16)
    }

    fn unit(&self, position: u64) -> Unit {
        match position {
            0 => Unit::P,
            1 if self.shape.parities == 2 => Unit::Q,
            _ => Unit::Data(position as u16 - self.shape.parities),
        }
    }

    /// Data units of a member in the rows before this one.
    pub(super) fn data_before(&self, member: DeviceId, row: u64) -> u64 {
        let (blocks, first) = (row / self.members, row - row % self.members);
        let rest = (first..row).filter(|&row| self.is_data(row, member)).count() as u64;
        blocks * self.data_of_block() + rest
    }

    /// Data units of a member in as many rows as there are members.
    fn data_of_block(&self) -> u64 {
        self.groups * u64::from(self.shape.data)
    }

    fn is_data(&self, row: u64, member: DeviceId) -> bool {
        matches!(self.held(row, member), Held::Unit(_, Unit::Data(_)))
    }

    /// Calls `visit(stripe, data unit, offset in it, length)` for a range of the data that lies on a member.
    pub(super) fn pinned(
        &self,
        member: DeviceId,
        unit: Bytes,
        (offset, length): (Bytes, Bytes),
        mut visit: impl FnMut(u64, u16, Bytes, Bytes),
    ) {
        let mut row = offset / unit / self.data_of_block() * self.members;
        let mut before = offset / unit / self.data_of_block() * self.data_of_block();
        units(unit, offset, length, |nth, within, bytes| {
            loop {
                let held = self.held(row, member);
                row += 1;
                if let Held::Unit(stripe, Unit::Data(index)) = held {
                    before += 1;
                    if before > nth {
                        return visit(stripe, index, within, bytes);
                    }
                }
            }
        });
    }

    /// How much more than the mean the survivor has to do that has most to do, over all members that may fail: 0.05 is 5%.
    /// First for what is read, then for what is written to the spare that is taken first. Each member is like every other
    /// one, and all permutations count alike.
    pub fn imbalance(&self) -> (f64, f64) {
        let members = self.members as usize;
        let mut work = self.no_work();
        for permutation in self.permutations().member_of.chunks(members) {
            self.each_pair(|failed, other| self.pair(permutation, (failed, other), |place| work[place] += 1));
        }
        let over = |kind: usize| {
            let work = &work[kind * members + 1..][..members - 1];
            let (most, sum) = (*work.iter().max().unwrap_or(&0), work.iter().sum::<i64>());
            if sum == 0 { 0.0 } else { most as f64 * work.len() as f64 / sum as f64 - 1.0 }
        };
        (over(0), if self.shape.spares > 0 { over(1) } else { 0.0 })
    }

    /// What a failed member costs another one, by their distance: pages read, then pages written to each of the spares.
    fn no_work(&self) -> Vec<i64> {
        vec![0; self.members as usize * (1 + usize::from(self.shape.spares))]
    }

    /// A permutation that spreads the work of a rebuild as evenly as a search finds. `work` is that of the permutations so far,
    /// and then with it.
    fn search(&self, rng: &mut Rng, work: &mut [i64]) -> Vec<u16> {
        let mut permutation: Vec<u16> = (0..self.members as u16).collect();
        for slot in (1..permutation.len()).rev() {
            permutation.swap(slot, rng.below(slot as u64 + 1) as usize);
        }
        self.each_pair(|failed, other| self.pair(&permutation, (failed, other), |place| work[place] += 1));
        for _ in 0..TRIALS {
            let swapped = (rng.below(self.members) as usize, rng.below(self.members) as usize);
            if self.swap(&mut permutation, swapped, work) > 0 {
                self.swap(&mut permutation, swapped, work);
            }
        }
        permutation
    }

    /// Swaps two slots; returns by how much the sum of squares of `work` grows.
    fn swap(&self, permutation: &mut [u16], (one, other): (usize, usize), work: &mut [i64]) -> i64 {
        let mut change = 0;
        let mut count = |permutation: &[u16], by: i64| {
            let mut add = |place: usize| {
                change += (work[place] + by).pow(2) - work[place].pow(2);
                work[place] += by;
            };
            for (changed, done) in [(one, usize::MAX), (other, one)] {
                // The pair of both is counted with the first.
                for slot in self.partners(changed).filter(|&slot| slot != changed && slot != done) {
                    self.pair(permutation, (changed, slot), &mut add);
                    self.pair(permutation, (slot, changed), &mut add);
                }
            }
        };
        count(permutation, -1);
        permutation.swap(one, other);
        count(permutation, 1);
        change
    }

    /// The slots that have to do with one when its member fails, or it is another's: its group and the spares, or all.
    fn partners(&self, slot: usize) -> impl Iterator<Item = usize> + use<> {
        let (width, members) = (usize::from(self.shape.width()), self.members as usize);
        let (spares, group) = (self.groups as usize * width, slot / width * width);
        let is_spare = slot >= spares;
        let near = if is_spare { 0..spares } else { group..group + width };
        near.chain(if is_spare { 0..0 } else { spares..members })
    }

    /// Calls `visit` with every slot and each of those that have to do with it.
    fn each_pair(&self, mut visit: impl FnMut(usize, usize)) {
        for slot in 0..(self.members - u64::from(self.shape.spares)) as usize {
            self.partners(slot).filter(|&other| other != slot).for_each(|other| visit(slot, other));
        }
    }

    /// Calls `visit` with the place in `work` of what the member of one slot does if that of another fails, if it does anything.
    fn pair(&self, permutation: &[u16], (failed, other): (usize, usize), visit: impl FnOnce(usize)) {
        let width = usize::from(self.shape.width());
        let spares = self.groups as usize * width;
        let unit = |slot: usize| self.unit((slot % width) as u64);
        let kind = match (failed < spares, other.checked_sub(spares)) {
            (false, _) => return,
            // One spare alone is as far from every member as from any other.
            (true, Some(_)) if self.shape.spares == 1 => return,
            (true, Some(spare)) => 1 + spare,
            (true, None) => match (unit(failed), unit(other)) {
                (_, Unit::Data(_)) | (Unit::Data(_), Unit::P) => 0,
                _ => return,
            },
        };
        let (members, failed, other) = (self.members as usize, permutation[failed], permutation[other]);
        visit(kind * members + (usize::from(other) + members - usize::from(failed)) % members);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of any distance, as parts of a member have them that pages are bound to by number, are free of each member about
    /// as often. Without shifts some part would have all its rows on one member.
    #[test]
    fn shifted_rows_of_any_distance_leave_all_members_free_alike() {
        const ROWS: u64 = 40_000;
        for members in [4, 5, 7, 8, 13] {
            let groups = Groups { parities: 1, data: members - 2, spares: 1 };
            let plain = Declustered::new(groups, members);
            let shifted = plain.clone().shifting();
            let worst = |table: &Declustered, parts: u64| {
                let mut free = vec![vec![0_u64; members.into()]; parts as usize];
                for row in 0..ROWS {
                    let on = table.member(row, u64::from(members) - 1);
                    free[(row % parts) as usize][on as usize] += 1;
                    assert_eq!(table.held(row, DeviceId(on as u16)), Held::Spare(0));
                }
                let mean = ROWS as f64 / parts as f64 / f64::from(members);
                let deviation = (mean * (1.0 - 1.0 / f64::from(members))).sqrt();
                let least = free.into_iter().flatten().min().unwrap_or(0);
                (mean - least as f64) / deviation
            };
            for parts in [1, 2, 3, 4, 5, 7, 8, 10, 12, 16, 25, 40, 64, 65, 80, 128, 400] {
                let off = worst(&shifted, parts);
                assert!(off < 5.0, "{members} members, {parts} parts: {off} deviations");
            }
            assert!(worst(&plain, 16) > 5.0, "{members} members beat with 16 parts");
        }
    }

    fn groups(parities: u16, data: u16, spares: u16) -> Groups {
        Groups { parities, data, spares }
    }

    /// What each member holds, row by row: the stripe within the row and the unit, `S0` for a spare.
    fn drawn(table: &Declustered, rows: std::ops::Range<u64>) -> Vec<String> {
        let shown = |row: u64, member: u16| match table.held(row, DeviceId(member)) {
            Held::Unit(stripe, Unit::Data(unit)) => format!("{stripe}.{unit}"),
            Held::Unit(stripe, Unit::P) => format!("{stripe}.P"),
            Held::Unit(stripe, _) => format!("{stripe}.Q"),
            Held::Spare(spare) => format!("S{spare}"),
        };
        let row =
            |row| (0..table.members as u16).map(|member| shown(row, member)).collect::<Vec<_>>().join(" ");
        rows.map(row).collect()
    }

    /// The picture at the top of this file, by hand.
    #[test]
    fn a_small_table_is_developed_by_adding_one() {
        let table = Declustered::with(groups(1, 2, 1), 7, &[&[1, 5, 3, 4, 2, 0, 6], &[0, 1, 2, 3, 4, 5, 6]]);
        assert_eq!(
            drawn(&table, 0..9),
            [
                "1.1 0.P 1.0 0.1 1.P 0.0 S0",
                "S0 3.1 2.P 3.0 2.1 3.P 2.0",
                "4.0 S0 5.1 4.P 5.0 4.1 5.P",
                "7.P 6.0 S0 7.1 6.P 7.0 6.1",
                "8.1 9.P 8.0 S0 9.1 8.P 9.0",
                "11.0 10.1 11.P 10.0 S0 11.1 10.P",
                "12.P 13.0 12.1 13.P 12.0 S0 13.1",
                "14.P 14.0 14.1 15.P 15.0 15.1 S0",
                "S0 16.P 16.0 16.1 17.P 17.0 17.1",
            ]
        );
        assert_eq!([0, 1, 6, 7].map(|row| table.spare(row, 0).0), [6, 0, 5, 6]);
        assert_eq!((0..3).map(|position| table.at(3, position)).collect::<Vec<_>>(), [5, 3, 1]);
    }

    #[test]
    fn two_parities_and_two_spares_lie_where_the_permutation_says() {
        let table = Declustered::with(groups(2, 2, 2), 6, &[&[5, 4, 3, 2, 1, 0]]);
        assert_eq!(
            drawn(&table, 0..3),
            ["S1 S0 0.1 0.0 0.Q 0.P", "1.P S1 S0 1.1 1.0 1.Q", "2.Q 2.P S1 S0 2.1 2.0"]
        );
    }

    const SHAPES: [(Groups, u16); 9] = [
        (Groups { parities: 1, data: 4, spares: 1 }, 6),
        (Groups { parities: 1, data: 4, spares: 1 }, 11),
        (Groups { parities: 1, data: 4, spares: 1 }, 21),
        (Groups { parities: 1, data: 2, spares: 0 }, 6),
        (Groups { parities: 1, data: 8, spares: 2 }, 38),
        (Groups { parities: 2, data: 4, spares: 2 }, 14),
        (Groups { parities: 2, data: 8, spares: 1 }, 51),
        (Groups { parities: 1, data: 1, spares: 1 }, 3),
        (Groups { parities: 2, data: 125, spares: 1 }, 255),
    ];

    /// Over as many rows as members, whatever the permutation, each member is spare, P, Q and data as often as every other.
    #[test]
    fn every_member_has_every_slot_once_in_as_many_rows_as_members() {
        for (shape, members) in SHAPES {
            let (table, rows) = (Declustered::new(shape, members), u64::from(members));
            for block in [0, 1, 17] {
                for member in (0..members).map(DeviceId) {
                    let held: Vec<Held> =
                        (block * rows..(block + 1) * rows).map(|row| table.held(row, member)).collect();
                    let count = |is: fn(&Held) -> bool| held.iter().filter(|held| is(held)).count() as u64;
                    let parity = |held: &Held| matches!(held, Held::Unit(_, Unit::P | Unit::Q));
                    assert_eq!(count(|held| matches!(held, Held::Spare(_))), u64::from(shape.spares));
                    assert_eq!(count(parity), table.groups * u64::from(shape.parities));
                    assert_eq!(
                        count(|held| matches!(held, Held::Unit(_, Unit::Data(_)))),
                        table.data_of_block()
                    );
                }
            }
        }
    }

    /// Where a stripe is asked for its members they are those that hold it, each once.
    #[test]
    fn no_member_holds_two_units_of_a_row() {
        for (shape, members) in SHAPES.into_iter().filter(|(_, members)| *members < 60) {
            let table = Declustered::new(shape, members);
            for row in 0..3 * u64::from(members) + 1 {
                let mut seen = vec![false; usize::from(members)];
                for stripe in row * table.groups..(row + 1) * table.groups {
                    for position in 0..u64::from(shape.width()) {
                        let member = table.at(stripe, position);
                        assert!(!std::mem::replace(&mut seen[member as usize], true), "row {row}");
                        let held = Held::Unit(stripe, table.unit(position));
                        assert_eq!(table.held(row, DeviceId(member as u16)), held);
                    }
                }
                for spare in 0..shape.spares {
                    let member = table.spare(row, spare);
                    assert!(!std::mem::replace(&mut seen[member.index()], true), "row {row}");
                    assert_eq!(table.held(row, member), Held::Spare(spare));
                }
            }
        }
    }

    /// Counted by failing a member, row by row, and not by the search's own arithmetic.
    #[test]
    fn the_work_of_a_rebuild_falls_evenly_on_survivors() {
        for (shape, members) in SHAPES {
            let table = Declustered::new(shape, members);
            let failed = DeviceId(members / 2);
            let (mut reads, mut writes) =
                (vec![0_u64; usize::from(members)], vec![0_u64; usize::from(members)]);
            for row in 0..u64::from(members) * PERMUTATIONS as u64 {
                let Held::Unit(stripe, lost) = table.held(row, failed) else { continue };
                if shape.spares > 0 {
                    writes[table.spare(row, 0).index()] += 1;
                }
                for position in 0..u64::from(shape.width()) {
                    let (unit, member) = (table.unit(position), table.at(stripe, position));
                    let reads_p = unit == Unit::P && matches!(lost, Unit::Data(_));
                    if member != u64::from(failed.0) && (matches!(unit, Unit::Data(_)) || reads_p) {
                        reads[member as usize] += 1;
                    }
                }
            }
            let over = |work: &[u64]| {
                let (most, sum) = (*work.iter().max().expect("survivors"), work.iter().sum::<u64>());
                if sum == 0 { 0.0 } else { most as f64 * f64::from(members - 1) / sum as f64 - 1.0 }
            };
            let (most, claimed) = ((over(&reads), over(&writes)), table.imbalance());
            assert!((most.0 - claimed.0).abs() < 1e-9, "{shape:?}: {most:?} {claimed:?}");
            assert!((most.1 - claimed.1).abs() < 1e-9, "{shape:?}: {most:?} {claimed:?}");
            assert!(most.0 < 0.05 && most.1 < 0.1, "{shape:?} of {members}: {most:?}");
        }
    }

    #[test]
    fn data_of_a_member_is_found_again() {
        let table = Declustered::new(groups(2, 3, 1), 11);
        for member in (0..11).map(DeviceId) {
            let mut nth = 0;
            for row in 0..100 {
                assert_eq!(table.data_before(member, row), nth);
                let Held::Unit(stripe, Unit::Data(unit)) = table.held(row, member) else { continue };
                table.pinned(member, 10, (nth * 10 + 3, 5), |found, index, within, length| {
                    assert_eq!((found, index, within, length), (stripe, unit, 3, 5));
                });
                nth += 1;
            }
            let mut pieces = 0;
            table.pinned(member, 10, (0, nth * 10), |_, _, within, length| {
                assert_eq!((within, length), (0, 10));
                pieces += 1;
            });
            assert_eq!(pieces, nth);
        }
    }
}
