//! Whole arrays of real devices under the policy, with symbolic contents: what a page holds is a set of symbols, one for each
//! write of a unit, as in `model`.
//!
//! The planner is watched: after each plan the store says what every place that is written is to hold. Operations carry out what
//! was planned when the controller hands them over and hears of their end. So this finds what a plan alone cannot show: a read
//! that is begun before a unit moves and answered afterwards, a slot that is used while it is read, a step that begins when its
//! members have changed. A read that holds no rows may return any version from the last one that was done when it began.
//!
//! Members fail in some histories, and spares take their places, or pages cannot be read. A member that has failed, and a spare before
//! it is written, holds a symbol that nobody knows: whoever goes by it is found out. What a place should hold whatever has failed is
//! kept beside what it holds. A page that cannot be read while a member is missing is here on RAID-6 alone. Not here: power that is
//! lost.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use harmonia_engine::Rng;
use harmonia_ssd::Ftl;
use harmonia_ssd::probe::{AnyProbe, AuditProbe, any};
use harmonia_types::{Counters, DeviceId, HostRequest, Operation, SimDuration, SimTime};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::super::GaftlPlanner;
use super::copies::Copies;
use super::drawn::{Befall, REQUESTS, config};
use super::sum::{Sum, says};
use super::{PAGE, placing, rows_of};
use crate::config::{Avoid, Reads};
use crate::controller::payload::{self, AnyPayload, Owner, Payload};
use crate::controller::{Array, MishapKind, Parts};
use crate::coordination::{Parameters, REGISTRY};
use crate::health::Condition;
use crate::layout::{Layout, Parity, Unit};
use crate::planner::parity::ParityPlanner;
use crate::planner::{
    Answer, Dodge, Kind, LossCounters, Migration, Placing, Plan, PlannedOperation, Planner, Refusal,
    Restores, Rows, Tidies, Transaction, View,
};
use crate::{AgeingPlan, COUNTED_FROM, age};

pub(super) type Place = (u16, u64);

/// What places hold, looked up at each step.
type Held = HashMap<Place, Sum, FxBuildHasher>;

/// A transaction that was planned: what each place is to hold, and what it has read.
#[derive(Default, Clone)]
struct Run {
    places: BTreeMap<Place, Sum>,
    units: Vec<(u64, u16)>,
    read: Vec<Sum>,
}

struct Shared {
    planner: GaftlPlanner,
    layout: Parity,
    /// The first row of the reserve.
    reserve: u64,
    /// By device, and row.
    flash: Held,
    copies: Copies,
    /// What it would be if nothing had ever failed.
    ideal: Held,
    /// What the places of devices hold that are not written since they failed, or since they became spares.
    blank: BTreeMap<u16, u32>,
    /// Pages that are being read and cannot be.
    unreadable: BTreeSet<(u64, Place)>,
    /// First rows of transactions that have found two pages of a row that cannot be read: what they read is lost, and counted.
    given_up: BTreeSet<u64>,
    /// Two pages of a row could not be read, and what was to be written of them is lost: nothing is compared from here on.
    is_over: bool,
    /// By row and unit: all that was ever written, and how many of these are done.
    versions: HashMap<(u64, u16), (Vec<u32>, usize), FxBuildHasher>,
    planned: Option<(Transaction, Run)>,
    running: BTreeMap<u32, Run>,
    /// Reads that hold no rows: how many versions of each place were done when they began.
    begun: BTreeMap<(u64, Place), usize>,
    symbols: u32,
    checked: u64,
    /// How often all rows were compared while nothing was under way.
    rests: u64,
}

impl Shared {
    /// What a place of a member holds.
    fn at(&self, (member, row): Place) -> Sum {
        self.on_device((self.copies.device_of(member), row))
    }

    fn on_device(&self, place: Place) -> Sum {
        let blank = || self.blank.get(&place.0).map(|&blank| Sum::of(blank));
        self.flash.get(&place).cloned().or_else(blank).unwrap_or_default()
    }

    /// All that a device holds is lost, or nobody has written it.
    fn is_blank(&mut self, device: u16) {
        self.flash.retain(|place, _| place.0 != device);
        self.symbols += 1;
        let blank = self.symbols;
        self.blank.insert(device, blank);
    }

    /// What a copy writes: what it has read, or what it can tell of the others. Otherwise nobody knows, and nobody may need it.
    fn copied(&mut self, handle: u32, place: Place) -> Sum {
        if let Some(sum) = self.copies.read_of(handle, place) {
            return sum;
        }
        let ideal = self.ideal(place);
        if says(self.copies.others_of(handle), &ideal) {
            return ideal;
        }
        self.symbols += 1;
        Sum::of(self.symbols)
    }

    fn ideal(&self, place: Place) -> Sum {
        self.ideal.get(&place).cloned().unwrap_or_default()
    }

    /// Whether a unit is at home, or will be when what is under way is done.
    fn is_home(&self, (row, unit): (u64, u16)) -> bool {
        self.planner.displaced.of(row, unit).is_none_or(|copy| copy.leaves)
    }

    /// What the member of a parity is to have when a transaction is done.
    fn parity_after(&self, (member, row): Place, run: &Run) -> Sum {
        let number = u16::from(self.planner.parities_of(row)[0] != member);
        self.in_parity(row).into_iter().fold(Sum::default(), |sum, unit| {
            let home = self.home(row, unit);
            let is_written = run.units.contains(&(row, unit)) && self.is_home((row, unit));
            let written = || is_written.then(|| self.newest(row, unit));
            let held = run.places.get(&home).cloned().or_else(written).unwrap_or_else(|| self.ideal(home));
            sum.with_unit(number, unit, &held)
        })
    }

    fn note_loss(&mut self, of: &Transaction, before: LossCounters) {
        let lost = self.planner.loss_counters().since(&before);
        if lost.unread_pages > 0 {
            self.given_up.insert(of.rows.first);
        }
        self.is_over |= lost.unwritten_pages + lost.lost_pages > 0;
    }

    /// A write is done: what it was to leave behind also where nobody took it.
    fn idealise(&mut self, of: &Transaction, run: &Run) {
        for &(row, unit) in &run.units {
            if self.is_home((row, unit)) {
                self.ideal.insert(self.home(row, unit), self.newest(row, unit));
            }
        }
        self.ideal.extend(run.places.clone());
        for row in of.rows.first..of.rows.end() {
            for place in self.parities(row) {
                let parity = self.parity_after(place, run);
                self.ideal.insert(place, parity);
            }
        }
    }

    fn parities(&self, row: u64) -> Vec<Place> {
        self.planner.parities_of(row).into_iter().map(|member| (member, row)).collect()
    }

    fn home(&self, row: u64, unit: u16) -> Place {
        (self.planner.home_of(row, unit), row)
    }

    fn newest(&self, row: u64, unit: u16) -> Sum {
        let versions = self.versions.get(&(row, unit));
        versions.and_then(|(all, _)| all.last()).map(|&last| Sum::of(last)).unwrap_or_default()
    }

    /// The units of a transaction that holds rows.
    fn units_of(&self, of: &Transaction) -> Vec<(u64, u16)> {
        let rows = of.rows.first..of.rows.end();
        let all = rows.flat_map(|row| (0..self.layout.data_units()).map(move |unit| (row, unit)));
        all.filter(|&(row, unit)| match of.member {
            // It was planned for where the layout has them.
            Some(member) => self.layout.data_member(self.planner.stripe(row), unit) == member,
            None => {
                let logical = self.planner.logical(row, unit);
                logical < of.offset + of.length && of.offset < logical + PAGE
            }
        })
        .collect()
    }

    /// Takes note of what a plan is to leave behind.
    fn note(&mut self, of: &Transaction, plan: &Plan) {
        let mut run = Run { units: self.units_of(of), ..Run::default() };
        if of.operation == Operation::Write && !matches!(of.kind, Kind::Tidy | Kind::Restore) {
            for &place in &run.units {
                if of.attempt == 0 {
                    self.symbols += 1;
                    self.versions.entry(place).or_default().0.push(self.symbols);
                }
                run.read.push(self.newest(place.0, place.1));
            }
        }
        let writes = plan.operations().iter().filter(|operation| operation.operation == Operation::Write);
        if of.kind == Kind::Restore && of.operation == Operation::Write {
            run.units.clear();
            run.places = writes.flat_map(rows_of).map(|place| (place, self.ideal(place))).collect();
            self.planned = Some((*of, run));
            return;
        }
        let (parities, units): (Vec<Place>, Vec<Place>) =
            writes.flat_map(rows_of).partition(|&(member, row)| self.is_parity(member, row));
        for place in units {
            let (row, unit) = self.owner(place, of);
            run.places.insert(place, self.newest(row, unit));
        }
        for place in parities {
            let parity = self.parity_after(place, &run);
            run.places.insert(place, parity);
        }
        self.planned = Some((*of, run));
    }

    fn is_parity(&self, member: u16, row: u64) -> bool {
        row < self.reserve && self.planner.unit_of(row, member).is_none()
    }

    fn owner(&self, (member, row): Place, of: &Transaction) -> (u64, u16) {
        if row < self.reserve {
            return (row, self.planner.unit_of(row, member).expect("it is no parity"));
        }
        let store = &self.planner.displaced;
        let is_there = |&(home, unit): &(u64, u16)| {
            store.of(home, unit).is_some_and(|copy| copy.slot == row && copy.on.contains(&DeviceId(member)))
        };
        let owner = store.within(of.rows).find(is_there);
        owner.expect("a slot that is written belongs to a row of the transaction")
    }

    fn in_parity(&self, row: u64) -> Vec<u16> {
        let counts = |unit: &u16| {
            self.planner.displaced.of(row, *unit).is_none_or(|copy| copy.in_parity || copy.leaves)
        };
        (0..self.layout.data_units()).filter(counts).collect()
    }

    /// Nothing is under way: every unit that was ever written can be read, and every parity has what the store says.
    fn check_at_rest(&mut self) {
        if !self.is_over {
            self.versions.keys().for_each(|&(row, unit)| self.check_degraded(row, unit));
            self.rests += 1;
        }
    }

    /// A unit can be read without the member that is missing, and parity has what the store says.
    fn check_degraded(&self, row: u64, unit: u16) {
        let of_row = (0..self.planner.members).map(|member| self.at((member, row)));
        let copies = self.planner.displaced.copies_within(Rows { first: row, count: 1 });
        let slots = copies.iter().flat_map(|(_, copy)| copy.on.iter().map(|on| self.at((on.0, copy.slot))));
        let known: Vec<Sum> = of_row.chain(slots).collect();
        assert!(says(&known, &self.newest(row, unit)), "unit {unit} of row {row} is lost");
        for parity in self.parities(row) {
            let device = self.copies.device_of(parity.0);
            let is_there = self.flash.contains_key(&(device, parity.1)) || !self.blank.contains_key(&device);
            assert!(
                !is_there || self.at(parity) == self.parity_after(parity, &Run::default()),
                "{parity:?} is parity"
            );
        }
    }

    /// A read that holds no rows has an answer.
    fn check_plain(&mut self, token: u64, place: Place, held: &Sum) {
        let done = self.begun.remove(&(token, place)).unwrap_or(0);
        let Unit::Data(unit) = self.layout.unit_on(self.planner.stripe(place.1), DeviceId(place.0)) else {
            unreachable!("hosts read data")
        };
        let (versions, _) = self.versions.get(&(place.1, unit)).cloned().unwrap_or_default();
        let is_old = done == 0 && held.is_empty();
        let known = versions.iter().skip(done.saturating_sub(1)).any(|&version| *held == Sum::of(version));
        assert!(is_old || known, "{place:?} holds {held:?}, of {versions:?} {done} were done");
        self.checked += 1;
    }
}

/// The planner with somebody who looks at its plans, and who hears of what becomes of them.
#[derive(Clone)]
struct Watched(Arc<Mutex<Shared>>);

impl Watched {
    fn get(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().expect("nobody has panicked")
    }
}

impl Planner for Watched {
    fn split(&mut self, request: &HostRequest, view: &View<'_>, into: &mut Vec<Transaction>) {
        self.get().planner.split(request, view, into);
    }

    fn plan(&mut self, now: SimTime, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let mut shared = self.get();
        let before = shared.planner.loss_counters();
        shared.planner.plan(now, transaction, view, plan);
        shared.note_loss(transaction, before);
        shared.note(transaction, plan);
    }

    fn on_refused(
        &mut self,
        now: SimTime,
        transaction: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
        view: &View<'_>,
        patch: &mut Plan,
    ) -> Answer {
        let mut shared = self.get();
        let before = shared.planner.loss_counters();
        let answer = shared.planner.on_refused(now, transaction, operation, refusal, view, patch);
        shared.note_loss(transaction, before);
        answer
    }

    fn done(&mut self, now: SimTime, transaction: &Transaction) {
        self.get().planner.done(now, transaction);
    }

    fn restores(&self) -> Option<&dyn Restores> {
        Some(self)
    }

    fn tidies(&mut self) -> Option<&mut dyn Tidies> {
        Some(self)
    }

    fn loss_counters(&self) -> LossCounters {
        self.get().planner.loss_counters()
    }

    fn own_counters(&self) -> Vec<(&'static str, u64)> {
        self.get().planner.own_counters()
    }

    fn watches_devices(&self) -> bool {
        true
    }
}

impl Restores for Watched {
    fn restore(&self, member: DeviceId, offset: u64, length: u64) -> Option<Transaction> {
        self.get().planner.restore(member, offset, length)
    }

    fn check(&self, _: u64, _: u64, _: bool) -> Option<Transaction> {
        None
    }

    fn elsewhere(&self, member: DeviceId, rows: Rows) -> Vec<(u64, u64)> {
        self.get().planner.elsewhere(member, rows)
    }
}

impl Tidies for Watched {
    fn tidy(&mut self, view: &View<'_>) -> Option<Transaction> {
        self.get().planner.tidy(view)
    }
}

impl Payload for Watched {
    fn submits(&mut self, of: Owner<'_>, operation: &PlannedOperation, token: u64) {
        let mut shared = self.get();
        if shared.is_over {
            return;
        }
        if let Some((_, run)) = shared.planned.take_if(|(planned, _)| planned == of.transaction) {
            shared.running.insert(of.handle, run);
            shared.copies.is_over(of.handle);
        }
        shared.copies.submits(&of, operation, token);
        if shared.copies.is_copy(token) {
            if operation.operation == Operation::Write {
                let sums = rows_of(operation).map(|place| shared.copied(of.handle, place)).collect();
                shared.copies.writes(token, sums);
            }
            return;
        }
        assert!(shared.running.contains_key(&of.handle), "what begins has been planned");
        for place in rows_of(operation) {
            match operation.operation {
                Operation::Write => {
                    let run = &shared.running[&of.handle];
                    let sum = &run.places[&place];
                    assert!(says(&run.read, sum), "{:?}: {place:?} is to hold {sum:?}", of.transaction);
                }
                Operation::Read if of.transaction.rows.count == 0 => {
                    let layout = &shared.layout;
                    if let Unit::Data(unit) =
                        layout.unit_on(shared.planner.stripe(place.1), DeviceId(place.0))
                    {
                        let done = shared.versions.get(&(place.1, unit)).map_or(0, |(_, done)| *done);
                        shared.begun.insert((token, place), done);
                    }
                }
                Operation::Read | Operation::Trim | Operation::Flush => {}
            }
        }
    }

    fn done(&mut self, of: Owner<'_>, operation: &PlannedOperation, token: u64) {
        let mut shared = self.get();
        if shared.is_over {
            return;
        }
        let Some(told) = shared.copies.ends(token) else { return };
        for (index, place) in rows_of(operation).enumerate() {
            if shared.unreadable.remove(&(token, place)) {
                shared.begun.remove(&(token, place));
                continue;
            }
            if told.refused.contains(&place) {
                continue;
            }
            let on_device = (told.device, place.1);
            match operation.operation {
                Operation::Write => {
                    let planned = || shared.running[&of.handle].places[&place].clone();
                    let sum = told.sums.get(index).cloned().unwrap_or_else(planned);
                    shared.flash.insert(on_device, sum);
                }
                Operation::Read if told.is_copy => {
                    let sum = shared.on_device(on_device);
                    let is_own = of.transaction.member == Some(operation.device);
                    shared.copies.has_read(of.handle, is_own.then_some(place), sum);
                }
                Operation::Read if of.transaction.rows.count == 0 => {
                    let held = shared.on_device(on_device);
                    shared.check_plain(token, place, &held);
                }
                Operation::Read => {
                    let sum = shared.on_device(on_device);
                    shared.running.get_mut(&of.handle).expect("it runs").read.push(sum);
                }
                Operation::Trim | Operation::Flush => {}
            }
        }
    }

    fn finds_unreadable(&mut self, _: Owner<'_>, operation: &PlannedOperation, token: u64) {
        self.get().unreadable.extend(rows_of(operation).map(|place| (token, place)));
    }

    fn holds(&mut self, device: DeviceId, condition: Condition) {
        if condition == Condition::Failed {
            let mut shared = self.get();
            let device = shared.copies.device_of(device.0);
            shared.is_blank(device);
        }
    }

    fn refused(&mut self, _: Owner<'_>, operation: &PlannedOperation, token: u64) {
        self.get().copies.refuses(token, rows_of(operation));
    }

    fn is_copied(&mut self, member: DeviceId) {
        let mut shared = self.get();
        let spare = shared.copies.begins(member.0);
        shared.is_blank(spare);
    }

    fn retires(&mut self, member: DeviceId) {
        self.get().copies.takes_place(member.0);
    }

    fn fails_over(&mut self, member: DeviceId) {
        self.get().copies.takes_place(member.0);
    }

    fn ends(&mut self, of: Owner<'_>) {
        let mut shared = self.get();
        if shared.is_over {
            return;
        }
        shared.copies.is_over(of.handle);
        let is_lost = of.transaction.rows.count > 0 && shared.given_up.remove(&of.transaction.rows.first);
        // The last plan may have nothing to do, as where an exchange is given up: then nothing of it was submitted.
        let idle = shared.planned.take_if(|(planned, _)| planned == of.transaction).map(|(_, run)| run);
        let Some(run) = shared.running.remove(&of.handle).map(|run| idle.unwrap_or(run)) else { return };
        match of.transaction.operation {
            Operation::Read if is_lost => {}
            Operation::Read if of.transaction.rows.count > 0 => {
                for &(row, unit) in &run.units {
                    let newest = shared.newest(row, unit);
                    assert!(
                        says(&run.read, &newest),
                        "{:?}: unit {unit} of {row}: {newest:?} of {:?}",
                        of.transaction,
                        run.read
                    );
                    shared.checked += 1;
                }
            }
            Operation::Write => {
                if of.transaction.kind != Kind::Restore {
                    shared.idealise(of.transaction, &run);
                }
                for place in &run.units {
                    if let Some((versions, done)) = shared.versions.get_mut(place) {
                        *done = versions.len();
                    }
                }
            }
            _ => {}
        }
    }
}

/// Runs random requests on an array; returns the rows that were compared, displaced, and whose parity went away and back, and the
/// spares that have taken the place of a member that was copied.
fn run(seed: u64, befalls: Befall, is_dual: bool) -> [u64; 5] {
    let mut rng = Rng::stream(seed, "gaftl/array");
    let config = config(&mut rng, (befalls, is_dual), seed);
    let migration = if is_dual { Migration::None } else { placing(seed).migration };
    let placing = Placing { migration, ..placing(seed) };
    let whole = config.layout();
    let Layout::Parity(layout) = whole.clone() else { unreachable!("these levels have parity") };
    let free_stripes = config.knowledge.free_stripes;
    let dodge = Dodge { reads: Reads::Avoid(Avoid::Longest), free_stripes, ..Dodge::default() };
    let may_fail = befalls != Befall::Nothing;
    let dodge = Dodge { may_fail, ..dodge };
    let plain = ParityPlanner::new(&whole, layout.clone(), config.small_write, PAGE).dodging(dodge);
    let planner = GaftlPlanner::new(plain, (&whole, layout.clone()), config.small_write, free_stripes)
        .failing(may_fail)
        .placing(placing);
    let returns = placing.migration == Migration::Back && placing.imbalance == 0.0;
    let shared = Watched(Arc::new(Mutex::new(Shared {
        planner,
        layout,
        reserve: whole.member_bytes() / PAGE,
        flash: Held::default(),
        copies: Copies::of(config.devices),
        ideal: Held::default(),
        blank: BTreeMap::new(),
        unreadable: BTreeSet::new(),
        given_up: BTreeSet::new(),
        is_over: false,
        versions: HashMap::default(),
        planned: None,
        running: BTreeMap::new(),
        begun: BTreeMap::new(),
        symbols: 0,
        checked: 0,
        rests: 0,
    })));
    let entry = REGISTRY.iter().find(|entry| entry.name == "gaftl").expect("it is registered");
    let coordinator = (entry.build)(&Parameters {
        devices: config.devices,
        redundancy: config.level.redundancy(config.devices),
        members: &config.members,
        message_latency: config.coordination.message_latency,
        own: &config.coordination.own,
    });
    let coordinator = coordinator.expect("its defaults work");
    let (cancel, pages_done) = Default::default();
    let plan = AgeingPlan {
        fill: 1.0,
        overwrite: 1.0,
        within: None,
        counted_from: COUNTED_FROM,
        seed,
        threads: 1,
        cancel: &cancel,
        pages_done: &pages_done,
    };
    let aged = age(&config, &plan).expect("the array for tests can be aged");
    let parts =
        Parts { coordinator, planner: Box::new(shared.clone()), payload: payload::any(shared.clone()) };
    let spares = config.faults.spares.iter().zip(0..);
    let spares = spares.map(|(spare, number)| {
        Ftl::new(&spare.ssd, seed, &format!("spare/{number}")).expect("a shape that works")
    });
    let states = aged.devices.into_iter().chain(spares).collect();
    let mut array = Array::with_parts(&config, states, parts, |_| any(AuditProbe)).expect("it can be built");
    // Few stripes, so that requests meet one another.
    let pages = (whole.logical_bytes() / PAGE).min(60);
    let mut pinned = Rng::stream(seed, "gaftl/pinned");
    let mut looks = Rng::stream(seed, "gaftl/looks");
    let (mut now, mean, mut left) =
        (SimTime::ZERO, 100_000.0 * (1 + rng.below(20)) as f64, REQUESTS as usize);
    for id in 0..REQUESTS {
        now += SimDuration(rng.exponential(mean) as u64);
        array.advance_until(now).expect("members go on");
        let length = 1 + rng.below(6);
        let operation = if rng.chance(0.4) { Operation::Read } else { Operation::Write };
        let pinned = pinned.chance(0.1).then(|| DeviceId(pinned.below(u64::from(config.devices)) as u16));
        let most = pinned.map_or(0, |member| (whole.pinned_bytes(member) / PAGE).min(20));
        let member = pinned.filter(|_| most > length);
        let first = rng.below(pages - length);
        let first = if member.is_some() { first.min(most - length) } else { first };
        let (offset, length) = (first * PAGE, length * PAGE);
        array
            .submit(HostRequest { member, ..HostRequest::new(id, now, operation, offset, length) })
            .expect("likewise");
        left -= std::mem::take(array.completions()).len();
        if looks.chance(0.2) && array.transactions_under_way() == 0 {
            shared.get().check_at_rest();
        }
    }
    let mut steps = 0;
    let is_settled = || {
        let shared = shared.get();
        shared.planner.displaced.taken() == 0 && !(returns && shared.planner.imbalance() > 0)
    };
    // A member that failed for the last time has no spare left, or its spare is built in time.
    let is_final = |array: &Array<AnyProbe, AnyPayload>| {
        let failures = config.faults.spares.len() < 2 && config.faults.spares.len() < failed(array);
        failures || (array.health().is_whole() && is_settled())
    };
    while left > 0 || !is_final(&array) || array.transactions_under_way() > 0 {
        let wakeup = array.next_wakeup();
        assert!(wakeup != SimTime::NEVER && steps < 1_000_000, "{left} requests are lost, or rows stay away");
        array.advance_until(wakeup).expect("members go on");
        left -= std::mem::take(array.completions()).len();
        steps += 1;
    }
    let shared = shared.get();
    let slots = free_stripes * (whole.stripe_unit() / PAGE);
    assert!(shared.planner.displaced.counters.high_water <= slots, "the cap");
    let losses = shared.planner.loss_counters();
    let moved = shared.planner.migrating.as_ref().map(|migrating| migrating.map.counters).unwrap_or_default();
    let counts = [
        shared.checked,
        shared.planner.displaced.counters.displaced,
        moved.away,
        moved.back,
        shared.copies.taken,
    ];
    let has_page_errors = befalls.has_page_errors(seed);
    if has_page_errors && shared.is_over {
        return counts;
    }
    assert_eq!((losses.unwritten_pages, losses.lost_pages), (0, 0), "nothing is lost");
    // While members are copied a page in a hundred cannot be read, and now and then three of a row.
    let is_likely = !is_dual || befalls == Befall::Copies;
    let most_unread = 2 * u64::from(has_page_errors && is_likely);
    assert!(losses.unread_pages <= most_unread, "{} pages were not read", losses.unread_pages);
    for &(row, unit) in shared.versions.keys() {
        if !array.health().is_whole() {
            shared.check_degraded(row, unit);
            continue;
        }
        assert_eq!(shared.at(shared.home(row, unit)), shared.newest(row, unit), "all is home");
        for (parity, number) in shared.parities(row).into_iter().zip(0..) {
            let sum = (0..shared.layout.data_units()).fold(Sum::default(), |sum, unit| {
                sum.with_unit(number, unit, &shared.at(shared.home(row, unit)))
            });
            assert_eq!(shared.at(parity), sum, "{parity:?} is parity");
        }
    }
    counts
}

/// How often members have failed.
fn failed(array: &Array<AnyProbe, AnyPayload>) -> usize {
    array.mishaps().iter().filter(|mishap| mishap.what == MishapKind::Failed).count()
}

/// Histories from a seed on, of which something happened in each.
pub(super) fn histories(befalls: Befall, is_dual: bool, seeds: Range<u64>, least: [u64; 5]) {
    let mut sum = [0; 5];
    for seed in seeds {
        eprintln!("{befalls:?}, seed {seed}, {}", if is_dual { "two parities" } else { "one parity" });
        sum.iter_mut().zip(run(seed, befalls, is_dual)).for_each(|(sum, counted)| *sum += counted);
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
}

#[test]
fn contents_are_right_on_whole_arrays() {
    histories(Befall::Nothing, false, 0..36, [5_000, 250, 40, 10, 0]);
}

#[test]
fn contents_are_right_while_members_fail_and_are_rebuilt() {
    histories(Befall::Failures, false, 0..100, [10_000, 500, 80, 10, 0]);
}

#[test]
fn contents_are_right_while_pages_cannot_be_read() {
    histories(Befall::PageErrors, false, 0..50, [5_000, 250, 40, 10, 0]);
}

#[test]
#[ignore = "long: make simulations"]
fn contents_are_right_while_members_are_copied() {
    histories(Befall::Copies, false, 0..60, [8_000, 400, 60, 10, 40]);
    histories(Befall::Copies, true, 0..30, [4_000, 400, 0, 0, 20]);
    // Reads of a copy are held back, as the member is reserved, when it fails: the spare does not hold what they ask for.
    histories(Befall::Copies, true, 165..166, [0; 5]);
}

/// The long form: `make histories`.
#[test]
#[ignore = "takes minutes: make histories"]
fn contents_are_right_in_many_histories() {
    histories(Befall::Failures, false, 100..1_800, [0; 5]);
    histories(Befall::PageErrors, false, 50..650, [0; 5]);
    histories(Befall::Copies, false, 60..1_000, [0; 5]);
    histories(Befall::Copies, true, 30..1_000, [0; 5]);
}
