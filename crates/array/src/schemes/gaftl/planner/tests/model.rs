//! Random histories on symbolic contents.
//!
//! Every half page that is written is a symbol of its own, and a place on a member holds a set of symbols: the sum of what it was
//! made of. A plan says only what is read and written. The model asks, in linear algebra, whether what was read says what is
//! written or wanted; it knows no way of making parity. After each transaction a stripe's parity is the sum of exactly the units that
//! the store says it has, and every unit is where the store says.
//!
//! Some transactions are planned and carried out later, so that a slot that is given away too early is overwritten before it is read.

use std::collections::{BTreeMap, BTreeSet};

use harmonia_engine::Rng;
use harmonia_types::{DeviceId, Operation, SimTime};

use super::sum::{Span, Sum};
use super::{PAGE, Stage, placing, rows_of};
use crate::config::SmallWrite;
use crate::layout::{Level, Rotation};
use crate::planner::{Kind, Plan, Planner, Rows, Transaction};

const HALF: u64 = PAGE / 2;
const STRIPES: u64 = 4;

type Row = [Sum; 2];

/// What a place is to hold.
#[derive(Clone, Debug)]
enum Held {
    Unit(u64, u16),
    /// A parity of a row by number, and the units it has.
    Parity(u64, u16, Vec<u16>),
}

/// Planned, and yet to be carried out.
struct Open {
    transaction: Transaction,
    plan: Plan,
    places: BTreeMap<(u16, u64), Held>,
    /// What is written anew: row, unit and half.
    fresh: BTreeMap<(u64, u16, usize), u32>,
}

struct World {
    stage: Stage,
    flash: BTreeMap<(u16, u64), Row>,
    truth: BTreeMap<(u64, u16), Row>,
    open: Vec<Open>,
    symbols: u32,
}

impl World {
    fn at(&self, place: (u16, u64)) -> Row {
        self.flash.get(&place).cloned().unwrap_or_default()
    }

    fn is_locked(&self, transaction: &Transaction) -> bool {
        let rows = self.touched(transaction);
        self.open
            .iter()
            .flat_map(|open| self.touched(&open.transaction))
            .any(|place| rows.iter().any(|other| other.0 == place.0))
    }

    /// Rows and units of a transaction, with the first logical byte of each.
    fn touched(&self, transaction: &Transaction) -> Vec<(u64, u16, u64)> {
        let Transaction { rows, offset, length, .. } = *transaction;
        let mut touched = Vec::new();
        for row in 0..self.stage.reserve {
            for unit in 0..self.stage.layout.data_units() {
                let logical = self.stage.planner.logical(row, unit);
                let is_within = rows.count == 0 || (rows.first..rows.end()).contains(&row);
                if is_within && logical < offset + length && offset < logical + PAGE {
                    touched.push((row, unit, logical));
                }
            }
        }
        touched
    }

    /// Plans a transaction. Nothing of it is done so far.
    fn begin(&mut self, transaction: Transaction) {
        let waits = |world: &World| {
            let counters = world.stage.planner.displaced.counters;
            counters.waits_full + counters.waits_several
        };
        let before = waits(self);
        let plan = self.stage.plan(&transaction);
        if waits(self) == before && transaction.operation != Operation::Trim {
            let collects = |place: &(u16, u64)| self.stage.collecting.0.contains(&place.0);
            let met: Vec<_> = plan.operations().iter().flat_map(rows_of).filter(collects).collect();
            assert!(met.is_empty() || self.stage.collecting.0.len() > 1, "{transaction:?} meets {met:?}");
        }
        let mut fresh = BTreeMap::new();
        let is_own = transaction.kind == Kind::Tidy;
        if transaction.operation == Operation::Write && !is_own {
            for (row, unit, logical) in self.touched(&transaction) {
                for half in 0..2 {
                    let start = logical + half * HALF;
                    if transaction.offset <= start && start < transaction.offset + transaction.length {
                        self.symbols += 1;
                        fresh.insert((row, unit, half as usize), self.symbols);
                    }
                }
            }
        }
        let writes = plan.operations().iter().filter(|operation| operation.operation == Operation::Write);
        let places = writes.flat_map(rows_of).map(|place| (place, self.held(&transaction, place))).collect();
        self.open.push(Open { transaction, plan, places, fresh });
        let (taken, slots) = (self.stage.planner.displaced.counters.high_water, self.stage.slots);
        assert!(taken <= slots, "{taken} of {slots} slots");
    }

    /// What a place is to hold when the transaction that has just been planned is done.
    fn held(&self, transaction: &Transaction, (member, row): (u16, u64)) -> Held {
        let store = &self.stage.planner.displaced;
        if row >= self.stage.reserve {
            let rows = transaction.rows;
            let owner = store.within(rows).find(|&(home, unit)| {
                store
                    .of(home, unit)
                    .is_some_and(|copy| copy.slot == row && copy.on.contains(&DeviceId(member)))
            });
            let (home, unit) = owner.unwrap_or_else(|| panic!("nobody has slot {row} on {member}"));
            return Held::Unit(home, unit);
        }
        match self.stage.planner.unit_of(row, member) {
            Some(unit) => Held::Unit(row, unit),
            None => {
                let is_q = self.stage.planner.parities_of(row)[0] != member;
                Held::Parity(row, u16::from(is_q), self.in_parity(row))
            }
        }
    }

    fn in_parity(&self, row: u64) -> Vec<u16> {
        let store = &self.stage.planner.displaced;
        let counts = |unit: &u16| store.of(row, *unit).is_none_or(|copy| copy.in_parity || copy.leaves);
        (0..self.stage.layout.data_units()).filter(counts).collect()
    }

    fn home(&self, row: u64, unit: u16) -> (u16, u64) {
        (self.stage.planner.home_of(row, unit), row)
    }

    /// Carries out what was planned.
    fn finish(&mut self, index: usize) {
        let Open { transaction, plan, places, fresh } = self.open.swap_remove(index);
        let mut known = [Span::default(), Span::default()];
        fresh.iter().for_each(|(&(_, _, half), &symbol)| known[half].add(&Sum::of(symbol)));
        let reads = plan.operations().iter().filter(|operation| operation.operation == Operation::Read);
        for place in reads.flat_map(rows_of) {
            let row = self.at(place);
            (0..2).for_each(|half| known[half].add(&row[half]));
        }
        let wanted = self.touched(&transaction);
        if transaction.operation == Operation::Read {
            for &(row, unit, logical) in &wanted {
                let truth = self.truth.get(&(row, unit)).cloned().unwrap_or_default();
                for half in 0..2 {
                    let start = logical + half as u64 * HALF;
                    if transaction.offset <= start && start < transaction.offset + transaction.length {
                        assert!(
                            known[half].says(&truth[half]),
                            "{transaction:?} reads {row} {unit} from {plan:?}"
                        );
                    }
                }
            }
        }
        for (&(row, unit, half), &symbol) in &fresh {
            self.truth.entry((row, unit)).or_default()[half] = Sum::of(symbol);
        }
        self.write(&transaction, &places, &known);
        if transaction.operation == Operation::Trim {
            for place in plan.operations().iter().flat_map(rows_of) {
                self.flash.remove(&place);
            }
            let gone = |row: &u64| (transaction.rows.first..transaction.rows.end()).contains(row);
            self.truth.retain(|(row, _), _| !gone(row));
        }
        self.stage.planner.done(SimTime::ZERO, &transaction);
        self.audit();
    }

    /// Units first: parity is the sum of what lies at home then.
    fn write(&mut self, of: &Transaction, places: &BTreeMap<(u16, u64), Held>, known: &[Span; 2]) {
        for (&place, held) in places {
            if let Held::Unit(row, unit) = *held {
                let row = self.truth.get(&(row, unit)).cloned().unwrap_or_default();
                assert!((0..2).all(|half| known[half].says(&row[half])), "{of:?}: {held:?} at {place:?}");
                self.flash.insert(place, row);
            }
        }
        for (&place, held) in places {
            if let Held::Parity(row, number, units) = held {
                let parity = self.sum(*row, *number, units);
                assert!((0..2).all(|half| known[half].says(&parity[half])), "{of:?}: {held:?} at {place:?}");
                self.flash.insert(place, parity);
            }
        }
    }

    /// What a parity of a row is to have.
    fn sum(&self, row: u64, parity: u16, units: &[u16]) -> Row {
        units.iter().fold(Row::default(), |[one, other], &unit| {
            let own = self.at(self.home(row, unit));
            [one.with_unit(parity, unit, &own[0]), other.with_unit(parity, unit, &own[1])]
        })
    }

    /// Without as many members as there are parities, `first` and the one so many behind it, all units of a row are known.
    fn outlives(&self, row: u64, first: u16, behind: u16) {
        let planner = &self.stage.planner;
        let second = (planner.parities_of(row).len() > 1).then_some((first + behind) % planner.members);
        let is_left = |member: u16| member != first && Some(member) != second;
        let mut known = [Span::default(), Span::default()];
        let of_row = (0..planner.members).map(|member| (member, row));
        let copies = planner.displaced.copies_within(Rows { first: row, count: 1 });
        let slots = copies.iter().flat_map(|(_, copy)| copy.on.iter().map(|member| (member.0, copy.slot)));
        for place in of_row.chain(slots).filter(|place| is_left(place.0)) {
            let held = self.at(place);
            (0..2).for_each(|half| known[half].add(&held[half]));
        }
        for unit in 0..self.stage.layout.data_units() {
            let truth = self.truth.get(&(row, unit)).cloned().unwrap_or_default();
            let is_known = (0..2).all(|half| known[half].says(&truth[half]));
            assert!(is_known, "unit {unit} of row {row} is lost without {first} and {second:?}");
        }
    }

    /// Everything is where the store says, but for what is under way.
    fn audit(&self) {
        let locked: BTreeSet<u64> =
            self.open.iter().flat_map(|open| self.touched(&open.transaction)).map(|place| place.0).collect();
        for row in (0..self.stage.reserve).filter(|row| !locked.contains(row)) {
            for (parity, number) in self.stage.planner.parities_of(row).into_iter().zip(0..) {
                let sum = self.sum(row, number, &self.in_parity(row));
                assert_eq!(self.at((parity, row)), sum, "parity {number} of row {row}");
            }
            // Every pair of members in its turn.
            let (turn, members) = (u64::from(self.symbols) + row, u64::from(self.stage.planner.members));
            self.outlives(row, (turn % members) as u16, (1 + turn / members % (members - 1)) as u16);
            for unit in 0..self.stage.layout.data_units() {
                let truth = self.truth.get(&(row, unit)).cloned().unwrap_or_default();
                match self.stage.planner.displaced.of(row, unit) {
                    None => assert_eq!(self.at(self.home(row, unit)), truth, "unit {unit} of row {row}"),
                    Some(copy) => {
                        for member in copy.on.iter() {
                            assert_eq!(
                                self.at((member.0, copy.slot)),
                                truth,
                                "unit {unit} of row {row}, away"
                            );
                        }
                    }
                }
            }
        }
    }

    fn request(&mut self, rng: &mut Rng) {
        let halves = STRIPES * self.stage.layout.stripe_bytes() / HALF;
        let kind = rng.below(20);
        let most = if rng.chance(0.7) { 4 } else { 24 };
        let offset = rng.below(halves);
        let length = (1 + rng.below(most)).min(halves - offset);
        let operation = match kind {
            0 => Operation::Trim,
            1..8 => Operation::Read,
            _ => Operation::Write,
        };
        for transaction in self.stage.split(operation, offset * HALF, length * HALF) {
            self.submit(transaction, rng);
        }
    }

    fn submit(&mut self, transaction: Transaction, rng: &mut Rng) {
        while self.is_locked(&transaction) || self.open.len() > 2 {
            self.finish(0);
        }
        self.begin(transaction);
        if rng.chance(0.7) {
            self.finish(self.open.len() - 1);
        }
    }
}

pub(super) fn history(stage: Stage, seed: u64) -> Stage {
    let mut rng = Rng::stream(seed, "gaftl/model");
    let members = stage.members.len() as u64;
    let (flash, truth, open) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let mut world = World { stage, flash, truth, open, symbols: 0 };
    for _ in 0..120 {
        match rng.below(10) {
            0 | 1 => {
                let mut collecting = vec![rng.below(members) as u16; usize::from(rng.chance(0.7))];
                if rng.chance(0.1) {
                    collecting.push(rng.below(members) as u16);
                    collecting.dedup();
                }
                world.stage.collects(&collecting);
            }
            2 => {
                if let Some(transaction) = world.stage.tidy() {
                    world.submit(transaction, &mut rng);
                }
            }
            _ => world.request(&mut rng),
        }
    }
    while !world.open.is_empty() {
        world.finish(0);
    }
    world.stage.collects(&[]);
    while let Some(transaction) = world.stage.tidy() {
        world.begin(transaction);
        world.finish(0);
    }
    assert_eq!(world.stage.planner.displaced.taken(), 0, "all is home");
    let placing = super::placing(seed);
    let returns = placing.migration == super::Migration::Back && placing.imbalance == 0.0;
    assert!(!returns || world.stage.planner.imbalance() == 0, "parity is back");
    world.stage
}

#[test]
fn every_read_returns_what_was_written_last_and_parity_has_what_the_store_says() {
    let (mut displaced, mut full, mut idle, mut home) = (0, 0, 0, 0);
    let (mut forced, mut away, mut back) = (0, 0, 0);
    for seed in 0..400 {
        let mut rng = Rng::stream(seed, "gaftl/shape");
        let rotation = Rotation::ALL[rng.below(6) as usize];
        let level = if rng.chance(0.2) { Level::Raid4 } else { Level::Raid5(rotation) };
        let small_write =
            [SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct][rng.below(3) as usize];
        let shape = (1 + rng.below(3), STRIPES, 1 + rng.below(8));
        let members = 3 + rng.below(4) as u16;
        let stage = Stage::preferring(small_write, level, members, shape).placing(placing(seed));
        let planner = history(stage, seed).planner;
        let counters = planner.displaced.counters;
        forced += counters.forced;
        if let Some(migrating) = &planner.migrating {
            away += migrating.map.counters.away;
            back += migrating.map.counters.back;
        }
        displaced += counters.displaced;
        full += counters.waits_full;
        idle += counters.home_in_idle;
        home += counters.home_by_write;
    }
    assert!(displaced > 1_000 && full > 100 && idle > 100 && home > 100, "{displaced} {full} {idle} {home}");
    assert!(forced > 100 && away > 100 && back > 30, "{forced} {away} {back}");
}
