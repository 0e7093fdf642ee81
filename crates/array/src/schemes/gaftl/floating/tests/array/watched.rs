//! A planner that is watched, and what the places of an array hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use harmonia_engine::Rng;
use harmonia_ssd::probe::AnyProbe;
use harmonia_types::{Completion, DeviceId, HostRequest, Operation, SimTime};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::super::super::FloatingPlanner;
use super::super::super::stripe_map::each;
use super::super::{PAGE, Place, rows_of};
use crate::config::{ArrayConfig, WriteHole};
use crate::controller::payload::{AnyPayload, Owner, Payload};
use crate::controller::{Array, holds};
use crate::health::Condition;
use crate::planner::{
    Answer, Kind, Logged, Plan, PlannedOperation, Planner, Refusal, Restores, Resyncs, Tidies, Torn,
    Transaction, View,
};
use crate::schemes::gaftl::planner::tests::sum::{Sum, says};

/// What is known of a transaction under way.
#[derive(Default, Clone)]
struct Run {
    of: Option<Transaction>,
    request: Option<u64>,
    /// It writes again what a log says, and does so once more if power is lost.
    is_replay: bool,
    /// What each place that is written is to hold.
    places: BTreeMap<Place, Sum>,
    known: Vec<Sum>,
    wanted: Vec<Sum>,
}

/// What a log says, and the member that has this part of it; none if that is a journal.
type Said = (Option<u16>, Sum);

pub struct Shared {
    pub planner: FloatingPlanner,
    flash: HashMap<Place, Sum, FxBuildHasher>,
    /// What a member holds that has failed, and a replacement where nobody has written it: nobody knows it.
    blank: BTreeMap<u16, Sum>,
    newest: HashMap<(u64, u16), Sum, FxBuildHasher>,
    /// What units held before the last write or discard that was planned.
    before: HashMap<(u64, u16), Option<Sum>, FxBuildHasher>,
    /// What was written last of each unit, without the rest of its page.
    written: HashMap<(u64, u16), Sum, FxBuildHasher>,
    /// Plans of which no operation has been given to a member.
    planned: Vec<Run>,
    running: BTreeMap<u32, Run>,
    symbols: u32,
    pub checked: u64,
    pub rests: u64,
    /// Rows that requests have had to do with.
    touched: BTreeSet<u64>,
    /// Rows that were compared while a member was missing.
    pub degraded: u64,
    /// Pages that were read, written and discarded on members.
    pub pages: u64,
    /// Pages that reads under way could not bring, by the read's token.
    unreadable: BTreeSet<(u64, Place)>,
    /// The same by transaction: it does not read them again.
    avoided: BTreeSet<(u32, Place)>,
    /// Writes that members were given and have not answered.
    writing: BTreeMap<Place, Sum>,
    /// Decides what those have done when power is lost.
    chance: Rng,
    /// Members have write caches: what these hold need not be on flash.
    caches: bool,
    pub losses_of_power: u64,
    /// Transactions that were over when it was, but for their last answer.
    over: Vec<Transaction>,
    overs: u64,
    /// Requests that were answered.
    answered: BTreeSet<u64>,
    /// Transactions of which a log had nothing when power was lost: they have not been begun.
    undone: Vec<Transaction>,
    /// What a log has of transactions, the newest last: what each place that is written is to hold, and what it says.
    logged: Vec<(Transaction, BTreeMap<Place, Sum>, Vec<Said>)>,
    /// It has of a row what the units add up to that are not written.
    has_partial_parity: bool,
    pub replays: u64,
}

impl Shared {
    /// Whether an operation is one on a journal, or behind all rows.
    fn is_log(&self, operation: &PlannedOperation) -> bool {
        operation.device.0 >= self.planner.members || operation.offset >= self.planner.map.rows() * PAGE
    }

    fn symbol(&mut self) -> Sum {
        self.symbols += 1;
        Sum::of(self.symbols)
    }

    fn at(&self, place: Place) -> Sum {
        let blank = || self.blank.get(&place.0).cloned();
        self.flash.get(&place).cloned().or_else(blank).unwrap_or_default()
    }

    /// What parity and the other units of a row say of one.
    fn rest_of(&self, row: u64, unit: u16) -> Sum {
        let map = &self.planner.map;
        let at = |slot| self.at((map.member(row, slot).0, row));
        let others = each(map.written(row)).filter(|&other| other != unit);
        others.fold(at(map.units()), |sum, other| sum.minus(&at(other)))
    }

    fn newest(&self, row: u64, unit: u16) -> Sum {
        self.newest.get(&(row, unit)).cloned().unwrap_or_default()
    }

    /// What a slot of a row is to hold.
    fn slot(&self, row: u64, slot: u16) -> Sum {
        let map = &self.planner.map;
        let Some(parity) = slot.checked_sub(map.units()) else { return self.newest(row, slot) };
        each(map.written(row))
            .fold(Sum::default(), |sum, unit| sum.with_unit(parity, unit, &self.newest(row, unit)))
    }

    fn note(&mut self, of: &Transaction, plan: &Plan) {
        let mut run = Run { of: Some(*of), ..Run::default() };
        if !matches!(of.kind, Kind::Restore | Kind::Resync | Kind::Check) {
            self.touched.extend(of.rows.first..of.rows.end());
        }
        for row in of.rows.first..of.rows.end() {
            for unit in each(FloatingPlanner::units_of(of)) {
                let is_cut = self.planner.is_cut(row, unit, of);
                if of.attempt == 0 {
                    self.before.insert((row, unit), self.newest.get(&(row, unit)).cloned());
                }
                match of.operation {
                    // These write what is there.
                    Operation::Write if matches!(of.kind, Kind::Restore | Kind::Tidy | Kind::Resync) => {}
                    Operation::Read if of.kind == Kind::Check => {}
                    Operation::Write if of.attempt > 0 => run.known.push(self.written[&(row, unit)].clone()),
                    Operation::Write => {
                        let symbol = self.symbol();
                        self.written.insert((row, unit), symbol.clone());
                        // The rest of a page that is written in part must be known.
                        let rest = if is_cut { self.newest(row, unit) } else { Sum::default() };
                        self.newest.insert((row, unit), rest.plus(1, &symbol));
                        run.known.push(symbol);
                    }
                    Operation::Trim if !is_cut && of.attempt == 0 => drop(self.newest.remove(&(row, unit))),
                    Operation::Read => run.wanted.push(self.newest(row, unit)),
                    Operation::Trim | Operation::Flush => {}
                }
            }
        }
        for operation in plan.operations().iter().filter(|operation| operation.operation == Operation::Write)
        {
            for place in rows_of(operation) {
                let map = &self.planner.map;
                let slot = (0..map.free()).find(|&slot| map.member(place.1, slot).0 == place.0);
                let slot = slot.expect("the free member of a row is not written");
                run.places.insert(place, self.slot(place.1, slot));
            }
        }
        self.planned.push(run);
    }

    fn take_planned(&mut self, of: &Transaction) -> Option<Run> {
        let place = self.planned.iter().rposition(|run| run.of.as_ref() == Some(of))?;
        Some(self.planned.remove(place))
    }

    /// Whether redundancy was not enough.
    pub fn has_lost(&self) -> bool {
        let losses = self.planner.losses;
        losses.unread_pages + losses.unwritten_pages + losses.lost_pages > 0
    }

    /// Nothing is under way.
    pub fn check_at_rest(&mut self, array: &Array<AnyProbe, AnyPayload>) {
        self.check_rows(array, 0..self.planner.map.rows());
    }

    /// The same of rows that may differ from what they were at first: while members fail this is done often.
    pub fn check_touched(&mut self, array: &Array<AnyProbe, AnyPayload>) {
        self.check_rows(array, self.touched.clone());
    }

    fn check_rows(&mut self, array: &Array<AnyProbe, AnyPayload>, rows: impl IntoIterator<Item = u64>) {
        let map = &self.planner.map;
        for row in rows {
            let held = map.held(row);
            let is_synced = !self.planner.unsynced.has(row * PAGE, (row + 1) * PAGE);
            for slot in 0..self.planner.members {
                let (member, is_held) = (map.member(row, slot), held >> slot & 1 == 1);
                if array.health().of(member) != Condition::Whole {
                    continue;
                }
                let ftl = array.devices()[member.index()].ftl();
                let is_left = self.planner.left.lies_on(member, row);
                let is_sound = is_held && (is_synced || map.parities() >> slot & 1 == 0);
                // What is left may have been trimmed before power was lost.
                let must = is_sound || is_left && self.losses_of_power == 0;
                let is_right = self.caches || (must..=is_held || is_left).contains(&holds(ftl, row));
                assert!(is_right, "slot {slot} of row {row}, on {member:?}");
                assert!(!(is_held && is_left), "what is left counts no more");
                if is_sound {
                    assert_eq!(self.at((member.0, row)), self.slot(row, slot), "slot {slot} of row {row}");
                }
            }
            if !array.health().is_whole() {
                let known: Vec<Sum> =
                    each(held).map(|slot| self.at((map.member(row, slot).0, row))).collect();
                for unit in each(map.written(row)) {
                    assert!(says(&known, &self.newest(row, unit)), "unit {unit} of row {row} is lost");
                }
                self.degraded += 1;
            }
        }
        self.rests += 1;
    }
}

#[derive(Clone)]
pub struct Watched(Arc<Mutex<Shared>>);

impl Watched {
    /// Watches what a planner does on an array.
    pub fn new(planner: FloatingPlanner, config: &ArrayConfig, seed: u64) -> Watched {
        Watched(Arc::new(Mutex::new(Shared {
            planner,
            flash: HashMap::default(),
            blank: BTreeMap::new(),
            newest: HashMap::default(),
            before: HashMap::default(),
            written: HashMap::default(),
            planned: Vec::new(),
            running: BTreeMap::new(),
            symbols: 0,
            checked: 0,
            rests: 0,
            touched: BTreeSet::new(),
            degraded: 0,
            pages: 0,
            unreadable: BTreeSet::new(),
            avoided: BTreeSet::new(),
            writing: BTreeMap::new(),
            chance: Rng::stream(seed, "gaftl/floating/power"),
            caches: config.members[0].ssd.write_cache.size.is_some(),
            losses_of_power: 0,
            over: Vec::new(),
            overs: 0,
            answered: BTreeSet::new(),
            undone: Vec::new(),
            logged: Vec::new(),
            has_partial_parity: matches!(config.faults.write_hole, WriteHole::PartialParityLog(_)),
            replays: 0,
        })))
    }

    pub fn get(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().expect("nobody has panicked")
    }
}

impl Planner for Watched {
    fn split(&mut self, request: &HostRequest, view: &View<'_>, into: &mut Vec<Transaction>) {
        self.get().planner.split(request, view, into);
    }

    fn plan(&mut self, now: SimTime, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let mut shared = self.get();
        shared.planner.plan(now, transaction, view, plan);
        shared.note(transaction, plan);
    }

    fn begins_with(&mut self, holds: &dyn Fn(DeviceId, u64) -> bool) {
        let mut shared = self.get();
        shared.planner.begins_with(holds);
        for row in 0..shared.planner.map.rows() {
            let written = shared.planner.map.written(row);
            for unit in each(written) {
                let symbol = shared.symbol();
                shared.newest.insert((row, unit), symbol);
            }
            for slot in each(shared.planner.map.held(row)) {
                let (member, sum) = (shared.planner.map.member(row, slot), shared.slot(row, slot));
                shared.flash.insert((member.0, row), sum);
            }
        }
    }

    fn done(&mut self, now: SimTime, transaction: &Transaction) {
        self.get().planner.done(now, transaction);
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
        self.get().planner.on_refused(now, transaction, operation, refusal, view, patch)
    }

    fn tidies(&mut self) -> Option<&mut dyn Tidies> {
        Some(self)
    }

    fn restores(&self) -> Option<&dyn Restores> {
        Some(self)
    }

    fn resyncs(&mut self) -> Option<&mut dyn Resyncs> {
        Some(self)
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

    fn missing(&self, member: DeviceId, offset: u64, length: u64) -> Option<u64> {
        self.get().planner.missing(member, offset, length)
    }

    fn check(&self, offset: u64, length: u64, repairs: bool) -> Option<Transaction> {
        self.get().planner.check(offset, length, repairs)
    }
}

impl Resyncs for Watched {
    fn is_cut_short(&mut self, transaction: &Transaction, writes: bool) {
        self.get().planner.is_cut_short(transaction, writes);
    }

    fn is_over(&mut self, transaction: &Transaction, writes: bool) {
        let mut shared = self.get();
        shared.planner.is_over(transaction, writes);
        shared.over.push(*transaction);
    }

    fn is_logged(&mut self, transaction: &Transaction, log: Logged) {
        let mut shared = self.get();
        shared.planner.is_logged(transaction, log);
        match log {
            Logged::Nothing => shared.undone.push(*transaction),
            Logged::Parity if transaction.operation == Operation::Write => {}
            Logged::All | Logged::Parity => shared.over.push(*transaction),
        }
    }

    fn torn(&self, transaction: &Transaction, row: u64, is_gone: bool) -> Option<Torn> {
        self.get().planner.torn(transaction, row, is_gone)
    }

    fn is_lost(&mut self, member: DeviceId, offset: u64, length: u64) {
        self.get().planner.is_lost(member, offset, length);
    }

    fn resync(&self, offset: u64, length: u64) -> Option<Transaction> {
        self.get().planner.resync(offset, length)
    }

    fn is_synced_to(&mut self, from: Option<u64>) {
        self.get().planner.is_synced_to(from);
    }

    fn is_unsynced_in(&mut self, chunks: (u64, BTreeSet<u64>)) {
        self.get().planner.is_unsynced_in(chunks);
    }
}

impl Tidies for Watched {
    fn tidy(&mut self, view: &View<'_>) -> Option<Transaction> {
        self.get().planner.tidy(view)
    }

    fn sweep(&mut self, view: &View<'_>) -> Option<Transaction> {
        self.get().planner.sweep(view)
    }
}

impl Payload for Watched {
    fn submits(&mut self, of: Owner<'_>, operation: &PlannedOperation, _: u64) {
        let mut shared = self.get();
        if let Some(run) = shared.take_planned(of.transaction) {
            let request = of.request.map(|request| request.id);
            shared.running.insert(of.handle, Run { request, ..run });
        }
        shared.pages += rows_of(operation).count() as u64;
        if operation.operation == Operation::Read && !shared.avoided.is_empty() {
            let is_new = |place| !shared.avoided.contains(&(of.handle, place));
            assert!(rows_of(operation).all(is_new), "{:?} reads {operation:?} again", of.transaction);
        }
        if operation.operation == Operation::Trim {
            // Members serve what concerns a page in the order in which they are given it.
            rows_of(operation).for_each(|place| drop(shared.flash.remove(&place)));
        }
        // What holds no rows is of a bitmap.
        let is_log = shared.is_log(operation);
        if operation.operation == Operation::Write && of.transaction.rows.count > 0 && !is_log {
            let run = shared.running[&of.handle].clone();
            for place in rows_of(operation) {
                let sum = &run.places[&place];
                assert!(
                    says(&run.known, sum) || shared.has_lost(),
                    "{:?}: {place:?} is to hold {sum:?} of {:?}",
                    of.transaction,
                    run.known
                );
                shared.writing.insert(place, sum.clone());
            }
        }
    }

    fn finds_unreadable(&mut self, of: Owner<'_>, operation: &PlannedOperation, token: u64) {
        let mut shared = self.get();
        shared.unreadable.extend(rows_of(operation).map(|place| (token, place)));
        // A resync tries again.
        if of.transaction.kind != Kind::Resync {
            shared.avoided.extend(rows_of(operation).map(|place| (of.handle, place)));
        }
    }

    fn logs(&mut self, of: Owner<'_>, _: &[PlannedOperation], _: &[PlannedOperation]) {
        let mut shared = self.get();
        let planned = shared.planned.iter().rfind(|run| run.of.as_ref() == Some(of.transaction));
        let places = planned.unwrap_or_else(|| &shared.running[&of.handle]).places.clone();
        let changed = match of.transaction.operation {
            Operation::Write => FloatingPlanner::units_of(of.transaction),
            _ => 0,
        };
        let rest = |(_, row): &Place| {
            let rest = each(shared.planner.map.written(*row) & !changed);
            let sum = rest.fold(Sum::default(), |sum, unit| sum.plus(1, &shared.newest(*row, unit)));
            (Some(shared.planner.map.member(*row, shared.planner.map.units()).0), sum)
        };
        let says = match shared.has_partial_parity {
            true => places.keys().map(rest).collect(),
            false => places.values().map(|sum| (None, sum.clone())).collect(),
        };
        shared.logged.push((*of.transaction, places, says));
    }

    fn replays(&mut self, by: Owner<'_>, of: &Transaction, _: &[PlannedOperation], _: &[PlannedOperation]) {
        let mut shared = self.get();
        let (_, mut places, known) =
            shared.logged.iter().rfind(|logged| logged.0 == *of).expect("it was logged").clone();
        if shared.has_partial_parity && of.operation == Operation::Write {
            // Parity alone, where its row lies now.
            let parity = shared.planner.map.units();
            let place = |row| ((shared.planner.map.member(row, parity).0, row), shared.slot(row, parity));
            places = (of.rows.first..of.rows.end()).map(place).collect();
        }
        shared.replays += 1;
        // A member that has failed says nothing any more.
        let is_left = |on: &Option<u16>| on.is_none_or(|on| !shared.blank.contains_key(&on));
        let known = known.into_iter().filter(|(on, _)| is_left(on)).map(|(_, sum)| sum).collect();
        let run = Run { of: Some(*by.transaction), is_replay: true, places, known, ..Run::default() };
        shared.running.insert(by.handle, run);
    }

    fn done(&mut self, of: Owner<'_>, operation: &PlannedOperation, token: u64) {
        let mut shared = self.get();
        let is_log = shared.is_log(operation);
        for place in rows_of(operation) {
            match operation.operation {
                Operation::Write if of.transaction.rows.count == 0 || is_log => {}
                Operation::Write => {
                    let sum = shared.writing.remove(&place).expect("it was given to a member");
                    shared.flash.insert(place, sum);
                }
                Operation::Read if shared.unreadable.remove(&(token, place)) => {}
                Operation::Read => {
                    let sum = shared.at(place);
                    shared.running.get_mut(&of.handle).expect("it runs").known.push(sum);
                }
                Operation::Trim | Operation::Flush => {}
            }
        }
    }

    fn holds(&mut self, device: DeviceId, condition: Condition) {
        if condition == Condition::Failed {
            let mut shared = self.get();
            shared.flash.retain(|place, _| place.0 != device.0);
            let blank = shared.symbol();
            shared.blank.insert(device.0, blank);
        }
    }

    fn loses_power(&mut self) {
        let mut shared = self.get();
        let shared = &mut *shared;
        shared.losses_of_power += 1;
        shared.unreadable.clear();
        shared.avoided.clear();
        for (place, sum) in std::mem::take(&mut shared.writing) {
            if shared.chance.chance(0.5) {
                shared.flash.insert(place, sum);
            }
        }
        let planned = std::mem::take(&mut shared.planned);
        let (over, undone) = (std::mem::take(&mut shared.over), std::mem::take(&mut shared.undone));
        shared.overs += over.iter().filter(|of| of.operation == Operation::Write).count() as u64;
        for run in std::mem::take(&mut shared.running).into_values().chain(planned) {
            let of = run.of.expect("it was planned");
            if over.contains(&of) || run.is_replay {
                continue;
            }
            if (of.operation != Operation::Write && !undone.contains(&of))
                || matches!(of.kind, Kind::Restore | Kind::Tidy | Kind::Resync)
            {
                continue;
            }
            let is_answered = run.request.is_some_and(|id| shared.answered.contains(&id));
            assert!(!is_answered, "{of:?} is under way although its request was answered");
            for row in of.rows.first..of.rows.end() {
                for unit in each(FloatingPlanner::units_of(&of)) {
                    if undone.contains(&of) {
                        match shared.before[&(row, unit)].clone() {
                            Some(before) => drop(shared.newest.insert((row, unit), before)),
                            None => drop(shared.newest.remove(&(row, unit))),
                        }
                        continue;
                    }
                    let member = shared.planner.map.member(row, unit).0;
                    let there = match shared.blank.contains_key(&member) && shared.has_partial_parity {
                        true => shared.rest_of(row, unit),
                        false => shared.at((member, row)),
                    };
                    match shared.planner.map.written(row) >> unit & 1 {
                        1 => drop(shared.newest.insert((row, unit), there)),
                        _ => drop(shared.newest.remove(&(row, unit))),
                    }
                }
            }
        }
    }

    fn completes(&mut self, completion: &Completion) {
        self.get().answered.insert(completion.id);
    }

    fn ends(&mut self, of: Owner<'_>) {
        let mut shared = self.get();
        // What was never written is read without an operation. The last plan counts, and it may have none.
        let idle = shared.take_planned(of.transaction);
        let running = shared.running.remove(&of.handle);
        shared.avoided.retain(|(handle, _)| *handle != of.handle);
        let Some(run) = idle.or(running) else { return };
        for wanted in &run.wanted {
            let is_known = says(&run.known, wanted) || shared.has_lost();
            assert!(is_known, "{:?}: {wanted:?} of {:?}", of.transaction, run.known);
            shared.checked += 1;
        }
    }
}
