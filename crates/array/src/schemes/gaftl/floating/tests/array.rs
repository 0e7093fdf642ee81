//! Whole arrays of real devices with symbolic contents: what a page holds is a set of symbols, one for each write of a unit.
//!
//! The planner is watched. After each plan of a write the store says what every place that is written is to hold. What is written
//! must follow from what the transaction has read and what is new; what is read must say what the units held last. While nothing is under
//! way, every place that the map names holds what it should, the flash of every member has exactly these pages and those that wait
//! to be trimmed, and all parity covers its row.
//!
//! In some histories members fail, at most as many at a time as there are parities, and spares take their places, new ones or as full
//! as a member. What a failed member held, and what nobody has written of a spare, is a symbol that nobody knows. While members are
//! missing, the rest of each row must say all of its units.
//!
//! In others pages cannot be read, all is scrubbed, and power is lost. A page that was being written then holds what was there or what
//! it was to hold, as chance has it, and so does the unit until it is written again. Parity is compared again once resync has gone
//! through its row. A history ends where redundancy was not enough: two pages of a row that cannot be read, on RAID-5.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use harmonia_engine::Rng;
use harmonia_flash::presets;
use harmonia_ssd::probe::{AnyProbe, AuditProbe, any};
use harmonia_ssd::{Amount, Domain, Ftl, FtlConfig, GcConfig, SsdConfig, WriteCacheConfig};
use harmonia_types::{Completion, DeviceId, HostRequest, Operation, SimDuration, SimTime};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::super::FloatingPlanner;
use super::super::stripe_map::each;
use super::{PAGE, Place, rows_of};
use crate::config::{
    ArrayConfig, Befalls, CoordinationConfig, Fault, Faults, MemberConfig, Rebuild, Scrub, SmallWrite, When,
    WriteHole,
};
use crate::controller::payload::{self, AnyPayload, Owner, Payload};
use crate::controller::{Array, MishapKind, Parts, holds};
use crate::coordination::{Parameters, REGISTRY};
use crate::health::Condition;
use crate::layout::{Layout, Level, Rotation};
use crate::planner::parity::ParityPlanner;
use crate::planner::{
    Answer, Dodge, Kind, Logged, Migration, Placing, Plan, PlannedOperation, Planner, Refusal, Restores,
    Resyncs, Tidies, Torn, Transaction, View,
};
use crate::schemes::gaftl::planner::tests::sum::{Sum, says};
use crate::{AgeingPlan, age};

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

struct Shared {
    planner: FloatingPlanner,
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
    checked: u64,
    rests: u64,
    /// Rows that requests have had to do with.
    touched: BTreeSet<u64>,
    /// Rows that were compared while a member was missing.
    degraded: u64,
    /// Pages that were read, written and discarded on members.
    pages: u64,
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
    losses_of_power: u64,
    /// Transactions that were over when it was, but for their last answer.
    over: Vec<Transaction>,
    overs: u64,
    /// Requests that were answered.
    answered: BTreeSet<u64>,
    /// Transactions of which a log had nothing when power was lost: they have not been begun.
    undone: Vec<Transaction>,
    /// What a log has of transactions, the newest last: what each place that is written is to hold, and what it says.
    logged: Vec<(Transaction, BTreeMap<Place, Sum>, Vec<Sum>)>,
    /// It has of a row what the units add up to that are not written.
    has_partial_parity: bool,
    replays: u64,
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
    fn has_lost(&self) -> bool {
        let losses = self.planner.losses;
        losses.unread_pages + losses.unwritten_pages + losses.lost_pages > 0
    }

    /// Nothing is under way.
    fn check_at_rest(&mut self, array: &Array<AnyProbe, AnyPayload>) {
        self.check_rows(array, 0..self.planner.map.rows());
    }

    /// The same of rows that may differ from what they were at first: while members fail this is done often.
    fn check_touched(&mut self, array: &Array<AnyProbe, AnyPayload>) {
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

    fn torn(&self, transaction: &Transaction, row: u64) -> Option<Torn> {
        self.get().planner.torn(transaction, row)
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
            rest.fold(Sum::default(), |sum, unit| sum.plus(1, &shared.newest(*row, unit)))
        };
        let says = match shared.has_partial_parity {
            true => places.keys().map(rest).collect(),
            false => places.values().cloned().collect(),
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

fn device(rng: &mut Rng) -> SsdConfig {
    let flash = presets::find("tiny-test").expect("the preset for tests");
    let domain = if rng.chance(0.5) { Domain::Device } else { Domain::Die };
    SsdConfig {
        ftl: FtlConfig { reserved_blocks: Amount::Percent(30.0), ..FtlConfig::default() },
        gc: GcConfig {
            domain,
            soft_threshold: Amount::AboveHard(4),
            schedule: if rng.chance(0.5) { "blocking" } else { "preemptive" }.into(),
            ..GcConfig::default()
        },
        ..SsdConfig::of(flash)
    }
}

fn config(rng: &mut Rng, level: Level) -> ArrayConfig {
    let devices = 3 + level.parities() + rng.below(4) as u16;
    // Members that take no directives collect when they must, several at once.
    let turns = if level.parities() > 1 { 0.6 } else { 0.9 };
    let member = MemberConfig { capable: rng.chance(turns), ssd: device(rng) };
    let stripe_unit = PAGE * (1 + rng.below(3));
    let small_write = [SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct];
    let mut coordination = CoordinationConfig::of("gaftl", SimDuration::from_us(20 * rng.below(2)));
    coordination.own.insert("stripes".to_owned(), "floating".into());
    ArrayConfig {
        small_write: small_write[rng.below(3) as usize],
        coordination,
        ..ArrayConfig::of(level, stripe_unit, vec![member; usize::from(devices)])
    }
}

const REQUESTS: u64 = 500;

/// What happens in a history besides requests.
#[derive(Debug, Clone, Copy, Default)]
struct Happens {
    /// Members fail.
    fails: bool,
    /// Parity returns to its shares.
    returns: bool,
    /// Pages cannot be read, and all is scrubbed.
    errs: bool,
    /// Power is lost.
    loses_power: bool,
    /// A member fails for which there is no spare, and another one when what the first held is on the others.
    distributes: bool,
    /// A log is kept.
    logs: bool,
}

impl Happens {
    fn faults(self, seed: u64, config: &ArrayConfig) -> Faults {
        let plain = Faults { seed, ..Faults::default() };
        let faults = match self {
            Happens { distributes: true, .. } => distributed(seed, config, self.logs && seed % 4 < 2),
            Happens { fails: true, .. } => failures(seed, config),
            _ => plain,
        };
        let mut rng = Rng::stream(seed, "gaftl/floating/errors");
        let scrub = rng.chance(0.5).then(|| Scrub { at: SimTime(rng.below(200_000_000)), repairs: false });
        let page_errors = [0.0003, 0.001, 0.003][rng.below(3) as usize];
        let power_losses = (0..1 + rng.below(40)).map(|_| When::Request(1 + rng.below(REQUESTS))).collect();
        let bitmap =
            WriteHole::Bitmap { chunk: config.stripe_unit << rng.below(4), delay: SimDuration(1_000_000) };
        let write_hole = if rng.chance(0.5) { bitmap } else { WriteHole::Resync };
        let write_hole = if self.logs { log(seed, config) } else { write_hole };
        let journal = matches!(write_hole, WriteHole::Journal(_)).then(|| config.members[0].clone());
        let faults = Faults { journal, ..faults };
        let faults = if self.errs { Faults { page_errors, scrub, ..faults } } else { faults };
        if self.loses_power { Faults { power_losses, write_hole, ..faults } } else { faults }
    }

    /// Whether redundancy may be missing where it is needed.
    fn may_lose(self) -> bool {
        self.errs
    }
}

/// Members that fail, at most as many at a time as there are parities: one, and what takes its place, and on RAID-6 another one
/// between them.
fn failures(seed: u64, config: &ArrayConfig) -> Faults {
    let mut rng = Rng::stream(seed, "gaftl/floating/faults");
    let mut below = |bound: u64| rng.below(bound);
    let members = u64::from(config.devices);
    let (first, other) = (below(members), below(members));
    let mut at = 1 + below(REQUESTS / 2);
    let mut events = Vec::new();
    let devices = if config.level.parities() > 1 { vec![first, other, first] } else { vec![first, first] };
    for device in devices {
        let device = DeviceId(device as u16);
        events.push(Fault { device, at: When::Request(at), what: Befalls::Failure });
        at += 1 + below(100);
    }
    let spares = vec![config.members[0].clone(); below(3) as usize];
    let rate = 20_000_000 << below(4);
    let (delay, step) = (SimDuration(below(2_000_000)), PAGE * (1 + below(32)));
    let rebuild = Rebuild { min_rate: rate, max_rate: rate, depth: 1 + below(4) as u32, step, delay };
    Faults { events, spares, rebuild, seed, ..Faults::default() }
}

/// A journal, or on RAID-5 a partial parity log, often full.
fn log(seed: u64, config: &ArrayConfig) -> WriteHole {
    let mut rng = Rng::stream(seed, "gaftl/floating/log");
    let Layout::Parity(layout) = config.layout() else { unreachable!("it has parity") };
    let factor = [1, 1, 2, 5][rng.below(4) as usize];
    let size = |hole: WriteHole| hole.least(&layout, PAGE, config.stripe_unit) * factor;
    if config.level.parities() == 1 && seed.is_multiple_of(2) {
        WriteHole::PartialParityLog(size(WriteHole::PartialParityLog(0)))
    } else {
        WriteHole::Journal(size(WriteHole::Journal(0)))
    }
}

/// A member fails early, and what it held is rebuilt on the others as fast as they go, or slowly.
fn distributed(seed: u64, config: &ArrayConfig, slowly: bool) -> Faults {
    let mut rng = Rng::stream(seed, "gaftl/floating/distributed");
    let device = DeviceId(rng.below(config.devices.into()) as u16);
    let events = vec![Fault { device, at: When::Request(1 + rng.below(20)), what: Befalls::Failure }];
    let rate = if slowly { 1_000_000 } else { 1 << 40 };
    let (step, depth) = (PAGE * (1 + rng.below(64)), 1 + rng.below(8) as u32);
    let rebuild = Rebuild { min_rate: rate, max_rate: rate, depth, step, ..Rebuild::default() };
    Faults { events, rebuild, seed, ..Faults::default() }
}

/// What a history has come to.
#[derive(Debug, Clone, Copy, Default)]
struct Outcome {
    /// Units that were compared when they were read, what has moved, copies that were trimmed, moments of rest, pages that members
    /// have read, written and discarded.
    plain: [u64; 6],
    /// Failures, members rebuilt, rows that were compared while one was missing, pages read without it.
    failing: [u64; 4],
    /// Rows whose parity has returned.
    returned: u64,
    /// Histories in which another member failed when what the first held was on the others; rows that were rebuilt there.
    distributed: [u64; 2],
    /// Pages that could not be read, rows scrubbed, losses of power, rows that resync wrote, histories whose redundancy was not enough.
    faulty: [u64; 5],
    /// Transactions that were written again from a log; how often one waited for room there.
    logged: [u64; 2],
}

/// Shares of parity of so many members, the first with most of it.
fn shares(seed: u64, members: u16) -> Vec<u16> {
    let mut rng = Rng::stream(seed, "gaftl/floating/shares");
    (0..members)
        .map(|member| if member == 0 { 6 } else { rng.below(3) as u16 })
        .map(|share| share.max(1))
        .collect()
}

/// Runs random requests on an array to which this happens.
fn run(seed: u64, level: Level, happens: Happens) -> Outcome {
    let mut rng = Rng::stream(seed, "gaftl/floating");
    let config = config(&mut rng, level);
    let mut config = config;
    let mut cached = Rng::stream(seed, "gaftl/floating/cache");
    if happens.loses_power && cached.chance(0.5) {
        let (size, ack) = (PAGE * (4 + cached.below(60)), SimDuration(1_000 << cached.below(12)));
        let cache = WriteCacheConfig { size: Some(size), power_protected: true, ack, ..Default::default() };
        config.members.iter_mut().for_each(|member| member.ssd.write_cache = cache.clone());
    }
    let faults = happens.faults(seed, &config);
    let parity_shares = if happens.returns { shares(seed, config.devices) } else { Vec::new() };
    let mut config = ArrayConfig { faults, parity_shares, ..config };
    // What is being written of a full row may hold anything if a member is missing and parity is logged in part, as under md.
    let may_be_full = !(happens.returns || happens.logs && happens.distributes);
    if Rng::stream(seed, "gaftl/floating/thin").chance(0.5) && may_be_full {
        assert!(config.provision());
    }
    let whole = config.layout();
    let Layout::Parity(layout) = whole.clone() else { unreachable!("it has parity") };
    assert!(whole.is_floating());
    let plain =
        ParityPlanner::new(&whole, layout.clone(), config.small_write, PAGE).dodging(Dodge::default());
    let placing = Placing { migration: Migration::Back, imbalance: 0.0, ..Placing::default() };
    let planner = FloatingPlanner::new(plain, (&whole, layout), config.small_write, PAGE);
    let planner = planner.on(&config.members, config.area());
    let planner = planner.failing(!config.is_faultless()).returning(placing);
    let shared = Watched(Arc::new(Mutex::new(Shared {
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
    })));
    let entry = REGISTRY.iter().find(|entry| entry.name == "gaftl").expect("it is registered");
    let coordinator = (entry.build)(&Parameters {
        devices: config.devices,
        redundancy: level.parities(),
        members: &config.members,
        message_latency: config.coordination.message_latency,
        own: &config.coordination.own,
    });
    let (cancel, pages_done) = Default::default();
    let fill = if rng.chance(0.3) { 1.0 } else { 0.5 + 0.5 * rng.unit() };
    let plan = AgeingPlan {
        fill,
        overwrite: 1.0,
        within: None,
        seed,
        threads: 1,
        cancel: &cancel,
        pages_done: &pages_done,
    };
    let aged = age(&config, &plan).expect("the array for tests can be aged");
    let coordinator = coordinator.expect("these keys work");
    let parts =
        Parts { coordinator, planner: Box::new(shared.clone()), payload: payload::any(shared.clone()) };
    // Spares are new, or hold as much as a member.
    let of_spare = |(number, spare): (usize, &MemberConfig)| match seed % 2 {
        // A thin member has no room for what it held and what it is to hold.
        _ if config.thin().is_some() => {
            Ftl::new(&spare.ssd, seed, &format!("spare/{number}")).expect("a shape that works")
        }
        0 => Ftl::new(&spare.ssd, seed, &format!("spare/{number}")).expect("a shape that works"),
        _ => aged.devices[number].clone(),
    };
    let spares: Vec<Ftl> = config.faults.spares.iter().enumerate().map(of_spare).collect();
    let of_journal =
        |journal: &MemberConfig| Ftl::new(&journal.ssd, seed, "journal").expect("a shape that works");
    let journal = config.faults.journal.as_ref().map(of_journal);
    let states = aged.devices.into_iter().chain(spares).chain(journal).collect();
    let mut array = Array::with_parts(&config, states, parts, |_| any(AuditProbe)).expect("it can be built");
    // Few stripes, so that requests meet one another; some of them behind what is filled.
    let pages = whole.logical_bytes() / PAGE;
    let few = 60.min(pages);
    let start = ((pages as f64 * fill) as u64).saturating_sub(few / 2).min(pages - few);
    let mean = 100_000.0 * (1 + rng.below(80)) as f64;
    // More is under way when power is lost, and more of it are discards, which nobody does again.
    let (mean, writes) = if happens.loses_power { (mean / 8.0, 8..14) } else { (mean, 8..19) };
    let (mut now, mut left) = (SimTime::ZERO, REQUESTS as usize);
    let mut has_failed_again = false;
    for id in 0..REQUESTS {
        if happens.distributes
            && !has_failed_again
            && id > REQUESTS / 2
            && count(&array, |what| *what == MishapKind::Rebuilt) > 0
        {
            has_failed_again = true;
            let first = array.mishaps().iter().find(|mishap| mishap.what == MishapKind::Failed);
            let first = u64::from(first.and_then(|mishap| mishap.device).expect("a member failed").0);
            let members = u64::from(config.devices);
            let other = ((first + 1 + rng.below(members - 1)) % members) as u16;
            array.fail(DeviceId(other), now).expect("members go on");
        }
        now += SimDuration(rng.exponential(mean) as u64);
        array.advance_until(now).expect("members go on");
        if rng.chance(0.3) && array.transactions_under_way() == 0 {
            let mut shared = shared.get();
            match happens {
                Happens { fails: false, errs: false, loses_power: false, .. } => shared.check_at_rest(&array),
                _ if shared.has_lost() => {}
                _ => shared.check_touched(&array),
            }
        }
        let length = 1 + rng.below(9);
        let operation = match rng.below(20) {
            0..8 => Operation::Read,
            drawn if writes.contains(&drawn) => Operation::Write,
            _ => Operation::Trim,
        };
        let mut offset = (start + rng.below(few - length)) * PAGE;
        let mut bytes = length * PAGE;
        if rng.chance(0.2) {
            (offset, bytes) =
                (offset + 512 * rng.below(8), (bytes - 512 * rng.below(8)).min(pages * PAGE - offset - 4096));
        }
        let request = HostRequest::new(id, now, operation, offset, bytes);
        array.submit(request).expect("likewise");
        left -= std::mem::take(array.completions()).len();
    }
    let mut steps = 0;
    while left > 0 || array.transactions_under_way() > 0 || !is_final(&array, &config) {
        let wakeup = array.next_wakeup();
        assert!(wakeup != SimTime::NEVER && steps < 1_000_000, "{left} requests are lost");
        array.advance_until(wakeup).expect("members go on");
        left -= std::mem::take(array.completions()).len();
        steps += 1;
    }
    // Idle time is used, also after power was lost; a member that collects at the very end keeps its copies.
    let has_left = || (happens.loses_power || happens.distributes) && shared.get().planner.left.has(|_| true);
    while has_left() || array.transactions_under_way() > 0 {
        let wakeup = array.next_wakeup();
        assert!(steps < 1_000_000, "copies are left for ever");
        if wakeup == SimTime::NEVER {
            break;
        }
        array.advance_until(wakeup).expect("members go on");
        steps += 1;
    }
    let mut shared = shared.get();
    let has_failed = |member: DeviceId| array.health().of(member) == Condition::Failed;
    let has_left = shared.planner.left.has(|member| !has_failed(member));
    assert!(!happens.distributes || !has_left, "copies are left for ever");
    let (own, losses) = (shared.planner.own, shared.planner.losses);
    let is_enough = !shared.has_lost();
    assert!(is_enough || happens.may_lose(), "nothing is lost: {losses:?}");
    if is_enough {
        shared.check_at_rest(&array);
    }
    let failures = count(&array, |what| *what == MishapKind::Failed);
    let rebuilds = count(&array, |what| *what == MishapKind::Rebuilt);
    Outcome {
        plain: [shared.checked, own.units_moved, own.parity_moved, own.trimmed, shared.rests, shared.pages],
        failing: [failures as u64, rebuilds as u64, shared.degraded, losses.rebuilt_pages],
        distributed: [u64::from(has_failed_again), array.background_counters(now).rebuilt_bytes / PAGE],
        returned: shared.planner.shares.as_ref().map_or(0, |shares| shares.returned),
        logged: [shared.replays, array.log_counters().full_waits],
        faulty: [
            array.unreadable_pages(),
            array.background_counters(now).scrubbed_bytes / PAGE,
            shared.losses_of_power,
            shared.planner.unsynced.written(),
            u64::from(!is_enough),
        ],
    }
}

fn count(array: &Array<AnyProbe, AnyPayload>, is: impl Fn(&MishapKind) -> bool) -> usize {
    array.mishaps().iter().filter(|mishap| is(&mishap.what)).count()
}

/// Whether no member is yet to be replaced or rebuilt.
fn is_final(array: &Array<AnyProbe, AnyPayload>, config: &ArrayConfig) -> bool {
    let replaced = count(array, |what| matches!(what, MishapKind::Replaced(_)));
    let is_partial = |member| matches!(array.health().of(DeviceId(member)), Condition::Partial(_));
    // What a failed member held is on the others, or had no room there, unless that was begun anew.
    let began = array.mishaps().iter().rposition(|mishap| mishap.what == MishapKind::Distributed);
    let ended = array
        .mishaps()
        .iter()
        .rposition(|mishap| matches!(mishap.what, MishapKind::Rebuilt | MishapKind::NoRoom(_)));
    array.health().is_whole()
        || (began <= ended && replaced == config.faults.spares.len() && !(0..config.devices).any(is_partial))
}

const RAID5: Level = Level::Raid5(Rotation::LeftSymmetric);
const RAID6: Level = Level::Raid6(Rotation::LeftSymmetric);

fn histories(level: Level, seeds: std::ops::Range<u64>, least: [u64; 6]) {
    let mut sum = [0; 6];
    for seed in seeds {
        eprintln!("seed {seed}, so far {sum:?}");
        sum.iter_mut()
            .zip(run(seed, level, Happens::default()).plain)
            .for_each(|(sum, counted)| *sum += counted);
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
}

fn failing_histories(level: Level, seeds: std::ops::Range<u64>, least: [u64; 4]) {
    let mut sum = [0; 4];
    for seed in seeds {
        eprintln!("seed {seed} with failures, so far {sum:?}");
        sum.iter_mut()
            .zip(run(seed, level, Happens { fails: true, ..Happens::default() }).failing)
            .for_each(|(sum, counted)| *sum += counted);
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
}

/// Histories of arrays with shares of parity: rows that return while members may fail or not.
fn returning_histories(seeds: std::ops::Range<u64>, least: [u64; 2]) {
    let mut sum = [0; 2];
    for seed in seeds {
        eprintln!("seed {seed} with shares, so far {sum:?}");
        let returns = Happens { returns: true, ..Happens::default() };
        sum[0] += run(seed, RAID5, returns).returned;
        sum[1] += run(seed, RAID5, Happens { fails: true, ..returns }).returned;
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
}

/// Histories without spares, in which another member fails when what the first held is on the others.
fn distributed_histories(level: Level, seeds: std::ops::Range<u64>, least: [u64; 2]) {
    let mut sum = [0; 2];
    for seed in seeds {
        eprintln!("seed {seed} without spares, so far {sum:?}");
        let distributed = run(seed, level, Happens { distributes: true, ..Happens::default() }).distributed;
        sum.iter_mut().zip(distributed).for_each(|(sum, counted)| *sum += counted);
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
}

/// Histories with logs: a journal in every second one of RAID-5 and on RAID-6, otherwise partial parity. Power is lost while members may
/// be missing: with partial parity none of them is being replaced, because what is being written on a spare may hold anything then. What
/// was being written on a member that failed meanwhile may do so, too: parity says what.
fn logged_histories(level: Level, seeds: std::ops::Range<u64>, least: [u64; 2]) {
    let mut sum = [0; 2];
    for seed in seeds {
        eprintln!("seed {seed} with a log, so far {sum:?}");
        let has_journal = seed % 2 == 1 || level == RAID6;
        let (fails, distributes) = (has_journal && seed / 2 % 3 == 1, seed / 2 % 3 == 2);
        let happens = Happens { fails, distributes, loses_power: true, logs: true, ..Happens::default() };
        sum.iter_mut().zip(run(seed, level, happens).logged).for_each(|(sum, counted)| *sum += counted);
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
}

/// Histories with pages that cannot be read, and members that fail besides; and with losses of power. Both together open the write hole:
/// where a page is missing, parity is relied on that need not agree.
fn faulty_histories(level: Level, seeds: std::ops::Range<u64>, least: [u64; 4]) {
    let mut sum = [0; 5];
    for seed in seeds.clone() {
        eprintln!("seed {seed} with faults, so far {sum:?}");
        let (errs, loses_power) = (seed % 2 == 0, seed % 2 == 1);
        let (fails, returns) = (errs && seed / 2 % 3 == 0, level == RAID5 && seed / 2 % 3 == 1);
        let outcome = run(seed, level, Happens { fails, returns, errs, loses_power, ..Happens::default() });
        sum.iter_mut().zip(outcome.faulty).for_each(|(sum, counted)| *sum += counted);
    }
    assert!(sum.iter().zip(least).all(|(sum, least)| *sum >= least), "{sum:?}");
    assert!(least == [0; 4] || sum[4] <= (seeds.end - seeds.start) / 3, "{sum:?}: too little is compared");
}

#[test]
fn contents_are_right_whatever_cannot_be_read_and_whenever_power_is_lost() {
    faulty_histories(RAID5, 0..24, [100, 10_000, 200, 30]);
}

#[test]
fn contents_are_right_with_two_parities_whatever_goes_wrong() {
    faulty_histories(RAID6, 0..24, [100, 10_000, 200, 30]);
}

#[test]
fn contents_are_right_while_parity_returns_to_its_shares() {
    returning_histories(0..15, [100, 50]);
}

#[test]
fn contents_are_right_while_members_fail_and_are_rebuilt() {
    failing_histories(RAID5, 0..30, [40, 12, 20_000, 800]);
}

#[test]
fn contents_are_right_with_two_parities_while_members_fail_and_are_rebuilt() {
    failing_histories(RAID6, 0..30, [50, 12, 20_000, 800]);
}

#[test]
fn contents_are_right_when_another_member_fails_after_the_first_was_rebuilt_on_the_others() {
    distributed_histories(RAID5, 0..8, [2, 9_000]);
    distributed_histories(RAID6, 0..4, [1, 4_000]);
}

#[test]
fn contents_are_right_with_a_log_whenever_power_is_lost() {
    logged_histories(RAID5, 0..40, [200, 100]);
    logged_histories(RAID6, 0..10, [50, 100]);
}

#[test]
fn contents_are_right_at_every_moment_of_rest() {
    histories(RAID5, 0..20, [10_000, 300, 250, 500, 100, 50_000]);
}

#[test]
fn contents_are_right_with_two_parities_at_every_moment_of_rest() {
    histories(RAID6, 0..20, [10_000, 500, 800, 1_000, 100, 100_000]);
}

/// The long form: `make histories`.
#[test]
#[ignore = "takes minutes: make histories"]
fn contents_are_right_in_many_histories() {
    histories(RAID5, 20..600, [0; 6]);
    failing_histories(RAID5, 30..1_000, [0; 4]);
    returning_histories(15..300, [0; 2]);
    distributed_histories(RAID5, 8..300, [0; 2]);
}

/// Likewise.
#[test]
#[ignore = "takes minutes: make histories"]
fn contents_are_right_with_two_parities_in_many_histories() {
    histories(RAID6, 20..600, [0; 6]);
    failing_histories(RAID6, 30..1_000, [0; 4]);
    distributed_histories(RAID6, 4..200, [0; 2]);
}

/// Likewise.
#[test]
#[ignore = "takes minutes: make histories"]
fn contents_are_right_whatever_goes_wrong_in_many_histories() {
    for level in [RAID5, RAID6] {
        faulty_histories(level, 24..1_200, [0; 4]);
        logged_histories(level, 40..1_200, [0; 2]);
    }
}
