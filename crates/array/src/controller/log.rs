//! A log that is written before the members: the journal, and the partial parity log.
//!
//! ```text
//! plan      read ─► write data, parity              rows are torn if power is lost during the last step
//! logged    read ─► write log ─► write data, parity ─► end: the log's space is given back
//! restart   read log ─► write data, parity (journal)
//!           read log and data ─► write parity (partial parity log) ─► requests are taken up
//! ```
//!
//! Every transaction that writes rows for the host has one more step. The host waits for it, and its time is that of parity.
//!
//! * *journal*: everything that the transaction writes, behind a block that describes it, goes to a device of its own. Space is
//!   taken at the head and given back at the tail, around and around. After a power loss everything is written again.
//! * *partial parity log* (RAID-5): a header and the sum of the units that are not written go to the member that holds parity,
//!   to an area behind all stripes. A row that is written as a whole has nothing but the header. After a power loss the
//!   units that were being written are read, and added to that sum they make parity. Where one of these units is missing, nothing
//!   is done, as in md: what was being written of it may hold anything.
//!
//! Where stripes move ([`crate::schemes::gaftl`]), the journal holds a transaction whole or not at all. If whole, its rows lie in their
//! new places, otherwise in their old ones. A partial parity log goes to the members on which parity is written. After a power loss the rows
//! of a write lie in their old places, and their parity is made there. If the member with the log has failed meanwhile, parity is made of
//! all units of the row.
//!
//! A discard is logged as a header and repeated. Where stripes move, its parity is logged, too. A log without room makes writers wait, the first to come first.
//!
//! The log is written with FUA. Where a member forgets what it caches, the members that an entry is about flush once they are
//! written, behind the host's back, and the entry is worth something until they have. So do they after a replay. The transaction
//! holds its rows until then, so no two entries of a row are in the log at once.
//!
//! Source: Linux md, Documentation/driver-api/md/raid5-cache and drivers/md/raid5-cache.c (`r5l_log_stripe`, write-through;
//! `r5l_payload_data_parity`: 203 pages a block), Documentation/driver-api/md/raid5-ppl and drivers/md/raid5-ppl.c
//! (`ppl_log_stripe`, `ppl_recover_entry`; `ppl_submit_iounit` writes with `REQ_FUA`, `ppl_do_flush` flushes the disks of a unit before
//! it is over). The journal's tail moves with the superblock (`r5l_write_super`), whose write flushes its members (md.c,
//! `md_super_write`). md does that when the journal runs full; here each entry has its flush.
//!
//! Not modelled: the journal as a write-back cache; its superblock; one block for several transactions, and several stripes in one
//! header (md gathers what comes while a unit is under way); the order in which md lets transactions go on (that of the log;
//! here each goes on when its own part is written); a journal that fails; log pages that cannot be read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use harmonia_types::{Bytes, DeviceId, LogCounters, Operation, ParityPages, Phase, SimTime};

use super::gate::Gate;
use crate::config::{ArrayConfig, WriteHole};
use crate::health::{Condition, Health};
use crate::layout::{Layout, Level, Parity};
use crate::planner::{Kind, Logged, Plan, PlannedOperation, Rows, Torn, Transaction};

/// No entry of the log.
pub(super) const UNLOGGED: u64 = 0;
/// Bytes that md writes at a time.
const BLOCK: Bytes = 4096;
/// Blocks of data and parity that one block of the journal describes.
const DESCRIBED: u64 = 203;
/// Stripes that one header of the partial parity log describes.
const ENTRIES: u64 = 148;

/// A range of bytes that is written around and around. Positions count on and on.
#[derive(Debug, Clone, Default)]
struct Ring {
    size: Bytes,
    head: Bytes,
    /// What is taken, in order: from there, up to there, and whether it is given back.
    taken: VecDeque<(Bytes, Bytes, bool)>,
}

impl Ring {
    /// Where so many bytes would begin and end. Unless they may be cut at the end of the range, they begin anew there.
    fn next(&self, length: Bytes, is_cut: bool) -> (Bytes, Bytes) {
        let left = self.size - self.head % self.size;
        let begin = if is_cut || length <= left { self.head } else { self.head + left };
        (begin, begin + length)
    }

    fn has_room(&self, length: Bytes, is_cut: bool) -> bool {
        let (begin, end) = self.next(length, is_cut);
        end - self.taken.front().map_or(begin, |first| first.0) <= self.size
    }

    fn take(&mut self, length: Bytes, is_cut: bool) -> Bytes {
        let (begin, end) = self.next(length, is_cut);
        // What is left over before it is free with whatever lies there, or at once.
        let from = if self.taken.is_empty() { begin } else { self.head };
        self.taken.push_back((from, end, false));
        self.head = end;
        begin
    }

    /// What ends there is given back, and free once everything before it is.
    fn give_back(&mut self, end: Bytes) {
        if let Some(taken) = self.taken.iter_mut().find(|taken| taken.1 == end) {
            taken.2 = true;
        }
        while self.taken.front().is_some_and(|first| first.2) {
            self.taken.pop_front();
        }
    }
}

/// A transaction in the log.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub spec: Transaction,
    /// What it writes to members.
    pub writes: Vec<PlannedOperation>,
    /// What it writes to the log, once that has a place.
    pub log: Vec<PlannedOperation>,
    /// Rings and the ends of what it has taken there; empty while it waits.
    pub taken: Vec<(usize, Bytes)>,
    /// The log has it: its rows may be torn from now on.
    pub is_durable: bool,
}

impl Entry {
    fn is_trim(&self) -> bool {
        self.spec.operation == Operation::Trim
    }
}

/// The log of an array.
#[derive(Debug, Clone)]
pub(super) struct Log {
    layout: Parity,
    /// The journal's number among the devices; `None` if members keep the log.
    journal: Option<DeviceId>,
    /// First byte of it on its devices.
    base: Bytes,
    block: Bytes,
    page: Bytes,
    /// One for each device that has a part of it.
    rings: Vec<Ring>,
    /// Rows that a transaction may write at most.
    most_rows: u64,
    pub entries: BTreeMap<u64, Entry>,
    pub last: u64,
    /// Transactions that wait for room, with the numbers of their entries, the first to come first.
    waiting: VecDeque<(u32, u64)>,
    /// Entries that are being replayed, and since when.
    pub replaying: usize,
    pub since: SimTime,
    pub replays: bool,
    /// An entry is dropped when members have flushed what it says, because they forget.
    flushes: bool,
    pub counters: LogCounters,
}

impl Log {
    /// The log that an array is to keep, if any.
    ///
    /// # Errors
    /// If the level has no use for it, or it is too small for one stripe.
    pub fn new(config: &ArrayConfig, layout: &Layout) -> Result<Option<Box<Self>>, String> {
        let hole = &config.faults.write_hole;
        let (journal, base, size) = match *hole {
            WriteHole::Journal(size) => (Some(DeviceId(config.devices)), 0, size),
            WriteHole::PartialParityLog(size) => (None, config.member_bytes(), size),
            WriteHole::Resync | WriteHole::Bitmap { .. } => return Ok(None),
        };
        if journal.is_none() && !matches!(config.level, Level::Raid5(_)) {
            return Err("a partial parity log is for RAID-5".to_owned());
        }
        if journal.is_some() != config.faults.journal.is_some() {
            return Err("a journal is kept on a device of its own".to_owned());
        }
        let Layout::Parity(layout) = layout else {
            return Err(format!("{} has no parity to be logged", config.level));
        };
        let least = hole.least(layout, config.page_size(), config.stripe_unit);
        if size < least || !size.is_multiple_of(config.page_size()) {
            return Err(format!("a log of {size} bytes has no room for a stripe"));
        }
        let rings = if journal.is_some() { 1 } else { usize::from(config.devices) };
        let ring = || Ring { size, ..Ring::default() };
        let rows = config.stripe_unit / layout.row_bytes();
        Ok(Some(Box::new(Log {
            layout: layout.clone(),
            journal,
            base,
            block: block_of(config.page_size()),
            page: config.page_size(),
            rings: std::iter::repeat_with(ring).take(rings).collect(),
            most_rows: if journal.is_some() { (size / least).max(1) * rows } else { u64::MAX },
            entries: BTreeMap::new(),
            last: UNLOGGED,
            waiting: VecDeque::new(),
            replaying: 0,
            since: SimTime::ZERO,
            replays: true,
            flushes: config.members_forget(),
            counters: LogCounters::default(),
        })))
    }

    /// First byte of the members in rows of which parity alone is written again. A spare that a member is copied to may have of
    /// such a row what the member has not, or the other way round.
    pub fn parity_from(&self) -> Option<Bytes> {
        let rows = self.entries.values().map(|entry| entry.spec.rows.first).min()?;
        self.journal.is_none().then(|| rows * self.layout.row_bytes())
    }

    /// What it has of the transaction of an entry; `None` if there is none.
    pub fn has_of(&self, number: u64) -> Option<Logged> {
        let entry = self.entries.get(&number)?;
        Some(match self.journal {
            _ if !entry.is_durable => Logged::Nothing,
            Some(_) => Logged::All,
            None => Logged::Parity,
        })
    }

    /// Whether entries are being replayed.
    #[inline]
    pub fn is_replaying(&self) -> bool {
        self.replaying > 0
    }

    pub fn counters(&self) -> LogCounters {
        self.counters
    }

    /// Whether an operation is one on the log.
    #[inline]
    pub fn has(&self, operation: &PlannedOperation) -> bool {
        match self.journal {
            Some(journal) => operation.device == journal,
            None => operation.offset >= self.base && operation.operation != Operation::Flush,
        }
    }

    /// Cuts transactions that the log would have no room for.
    pub fn cut(&self, split: &mut Vec<Transaction>) {
        let most = self.most_rows;
        if split.iter().all(|whole| whole.rows.count <= most || !is_logged(whole)) {
            return;
        }
        for whole in std::mem::take(split) {
            let step = if is_logged(&whole) { most } else { u64::MAX };
            let mut rows = whole.rows;
            loop {
                let part = Rows { count: rows.count.min(step), ..rows };
                split.push(Transaction { rows: part, ..whole });
                rows = Rows { first: part.end(), count: rows.count - part.count };
                if rows.count == 0 {
                    break;
                }
            }
        }
    }

    /// What an entry writes to the log, without its place.
    pub fn operations(
        &self,
        spec: &Transaction,
        writes: &[PlannedOperation],
        health: &Health,
    ) -> Vec<PlannedOperation> {
        let of = |device, length| PlannedOperation {
            phase: Phase::Parity,
            parity: ParityPages::LOG,
            ..PlannedOperation::data(device, Operation::Write, self.base, length)
        };
        let carried = |writes: &mut dyn Iterator<Item = &PlannedOperation>| -> Bytes {
            writes.filter(|write| write.operation == Operation::Write).map(|write| write.length).sum()
        };
        if let Some(journal) = self.journal {
            let carried = carried(&mut writes.iter());
            let described = carried.div_ceil(self.block).div_ceil(DESCRIBED).max(1);
            return vec![of(journal, described * self.block + carried.next_multiple_of(self.page))];
        }
        if self.layout.is_floating() {
            return self.operations_by_place(spec, writes, of);
        }
        let mut found: Vec<(DeviceId, u64)> = Vec::new();
        for (stripe, ..) in self.stripes(spec.rows) {
            let device = self.layout.p_member(stripe);
            // Nothing depends on the parity of a member that is missing. One that is being rebuilt may be built up to here before
            // the rows are written.
            if !health.takes_writes(device) {
                continue;
            }
            match found.iter_mut().find(|found| found.0 == device) {
                Some(found) => found.1 += 1,
                None => found.push((device, 1)),
            }
        }
        let partial = |device| {
            if spec.kind == Kind::Partial {
                carried(&mut writes.iter().filter(|write| write.device == device))
            } else {
                0
            }
        };
        let length = |device, stripes: u64| stripes.div_ceil(ENTRIES) * self.block + partial(device);
        found.into_iter().map(|(device, stripes)| of(device, length(device, stripes))).collect()
    }

    /// The same of a partial parity log where stripes move: for each member that parity is written on. A discard that leaves units has
    /// what these add up to.
    fn operations_by_place(
        &self,
        spec: &Transaction,
        writes: &[PlannedOperation],
        of: impl Fn(DeviceId, Bytes) -> PlannedOperation,
    ) -> Vec<PlannedOperation> {
        let is_partial = spec.kind == Kind::Partial || spec.operation == Operation::Trim;
        let mut found: BTreeMap<DeviceId, (u64, Bytes)> = BTreeMap::new();
        for write in writes.iter().filter(|write| is_parity(write)) {
            let (stripes, partial) = found.entry(write.device).or_default();
            let unit = self.layout.unit_bytes();
            *stripes += (write.offset + write.length).div_ceil(unit) - write.offset / unit;
            *partial += if is_partial { write.length } else { 0 };
        }
        let length = |(stripes, partial): (u64, Bytes)| stripes.div_ceil(ENTRIES) * self.block + partial;
        found.into_iter().map(|(device, sums)| of(device, length(sums))).collect()
    }

    /// The stripes of rows, and their first and last bytes there on the members.
    fn stripes(&self, rows: Rows) -> impl Iterator<Item = (u64, Bytes, Bytes)> + use<> {
        let (row, unit) = (self.layout.row_bytes(), self.layout.unit_bytes());
        let (from, to) = (rows.first * row, rows.end() * row);
        (from / unit..to.div_ceil(unit))
            .map(move |stripe| (stripe, from.max(stripe * unit), to.min((stripe + 1) * unit)))
    }

    fn ring_of(&self, operation: &PlannedOperation) -> usize {
        if self.journal.is_some() { 0 } else { operation.device.index() }
    }

    /// A transaction comes with an entry: it goes if there is room for that, or has been given before.
    pub fn enter(&mut self, who: u32, number: u64) -> Gate {
        let is_let_go = self.entries.get(&number).is_some_and(|entry| !entry.taken.is_empty());
        if is_let_go || (self.waiting.is_empty() && self.take_room(number)) {
            return Gate::Goes;
        }
        self.counters.full_waits += 1;
        self.waiting.push_back((who, number));
        Gate::Waits
    }

    /// An entry is worth nothing any more: the next transaction that has room now, if one does, and so on.
    pub fn leave(&mut self, number: u64) -> impl Iterator<Item = u32> {
        self.drop_entry(number);
        std::iter::from_fn(move || {
            let &(first, number) = self.waiting.front()?;
            if !self.take_room(number) {
                return None;
            }
            self.waiting.pop_front();
            Some(first)
        })
    }

    /// Power is lost: nobody waits any more.
    pub fn lose_power(&mut self) {
        self.waiting.clear();
    }

    /// Takes room for an entry, in all rings or none.
    fn take_room(&mut self, number: u64) -> bool {
        let Some(mut entry) = self.entries.remove(&number) else { return true };
        let is_cut = self.journal.is_some();
        let fits = entry.taken.is_empty()
            && entry.log.iter().all(|log| self.rings[self.ring_of(log)].has_room(log.length, is_cut));
        if fits {
            for log in std::mem::take(&mut entry.log) {
                let ring = self.ring_of(&log);
                let Ring { size, .. } = self.rings[ring];
                let position = self.rings[ring].take(log.length, is_cut);
                entry.taken.push((ring, position + log.length));
                let within = position % size;
                let first = log.length.min(size - within);
                entry.log.push(PlannedOperation { offset: self.base + within, length: first, ..log });
                if first < log.length {
                    entry.log.push(PlannedOperation { length: log.length - first, ..log });
                }
                self.counters.log_pages += log.length / self.page;
            }
            self.counters.log_writes += 1;
        }
        let has_room = !entry.taken.is_empty();
        self.entries.insert(number, entry);
        has_room
    }

    /// Plans a last step, for which nobody waits: members that are written flush, so that the log may forget what it says of them.
    pub fn plan_flush(&self, plan: &mut Plan) {
        if !self.flushes {
            return;
        }
        let writes = |operation: &&PlannedOperation| {
            matches!(operation.operation, Operation::Write | Operation::Trim) && !self.has(operation)
        };
        let written: BTreeSet<DeviceId> =
            plan.operations().iter().filter(writes).map(|write| write.device).collect();
        plan.barrier();
        for device in written {
            let flush = PlannedOperation::data(device, Operation::Flush, 0, 0);
            plan.push(PlannedOperation { phase: Phase::Parity, behind: true, ..flush });
        }
    }

    /// An entry is worth nothing any more.
    pub fn drop_entry(&mut self, number: u64) {
        let Some(entry) = self.entries.remove(&number) else { return };
        for (ring, end) in entry.taken {
            self.rings[ring].give_back(end);
        }
    }

    /// Plans to write again what an entry says. `torn` says where its rows lie if stripes move.
    pub fn plan_replay(
        &mut self,
        number: u64,
        health: &Health,
        torn: impl Fn(&Transaction, u64, bool) -> Option<Torn>,
        plan: &mut Plan,
    ) {
        let Some(entry) = self.entries.get(&number) else { return };
        let holds_log = |log: &&PlannedOperation| self.journal.is_some() || health.takes_writes(log.device);
        for log in entry.log.iter().filter(holds_log) {
            plan.push(own(PlannedOperation {
                operation: Operation::Read,
                parity: ParityPages::NONE,
                ..*log
            }));
        }
        let mut writes = Vec::new();
        if self.journal.is_some() || entry.is_trim() {
            let taken = entry.writes.iter().filter(|write| health.takes_writes(write.device));
            writes.extend(taken.map(|&write| own(write)));
        } else if self.layout.is_floating() {
            let (spec, row) = (entry.spec, self.layout.row_bytes());
            let torn = |at: u64| {
                let covers = |write: &&PlannedOperation| {
                    is_parity(write) && (write.offset..write.offset + write.length).contains(&(at * row))
                };
                let log = entry.writes.iter().find(covers)?;
                // Its member may have failed since. Then nothing else of the row is missing.
                Some((at, torn(&spec, at, !health.takes_writes(log.device))?))
            };
            for (at, torn) in (spec.rows.first..spec.rows.end()).filter_map(torn) {
                plan_torn(&torn, (at * row, (at + 1) * row), health, plan, &mut writes);
            }
        } else {
            for piece in self.pieces(entry, health) {
                self.plan_parity(entry, piece, health, plan, &mut writes);
            }
        }
        plan.barrier();
        self.counters.replayed_pages += writes.iter().map(|write| write.length / self.page).sum::<u64>();
        writes.into_iter().for_each(|write| plan.push(write));
        self.plan_flush(plan);
    }

    /// The ranges of members in which an entry writes parity, cut by stripe and where replacements are built up to.
    fn pieces(&self, entry: &Entry, health: &Health) -> Vec<(u64, Bytes, Bytes)> {
        let written = |(stripe, from, to): (u64, Bytes, Bytes)| {
            let device = self.layout.p_member(stripe);
            let parity = entry.writes.iter().filter(move |write| write.device == device);
            parity.filter_map(move |write| {
                let (from, to) = (from.max(write.offset), to.min(write.offset + write.length));
                (from < to).then_some((stripe, from, to))
            })
        };
        let mut pieces = Vec::new();
        for (stripe, from, to) in self.stripes(entry.spec.rows).flat_map(written) {
            let mut cuts = vec![from, to];
            for member in (0..self.rings.len() as u16).map(DeviceId) {
                if let Condition::Partial(built) = health.of(member) {
                    cuts.push(built / self.layout.row_bytes() * self.layout.row_bytes());
                }
            }
            cuts.retain(|cut| (from..=to).contains(cut));
            cuts.sort_unstable();
            cuts.dedup();
            pieces.extend(cuts.windows(2).map(|pair| (stripe, pair[0], pair[1])));
        }
        pieces
    }

    /// Plans to read the units of a piece that were being written, and to write its parity, unless one of these is missing.
    fn plan_parity(
        &self,
        entry: &Entry,
        (stripe, from, to): (u64, Bytes, Bytes),
        health: &Health,
        plan: &mut Plan,
        writes: &mut Vec<PlannedOperation>,
    ) {
        let units = entry.spec.units;
        let units = (units.0..=units.1).map(|unit| self.layout.data_member(stripe, unit)).collect();
        plan_torn(&Torn { units, parity: self.layout.p_member(stripe) }, (from, to), health, plan, writes);
    }
}

/// Plans to read the units of a range that were being written, and to write their parity, unless one of these is missing.
fn plan_torn(
    torn: &Torn,
    (from, to): (Bytes, Bytes),
    health: &Health,
    plan: &mut Plan,
    writes: &mut Vec<PlannedOperation>,
) {
    let Torn { units, parity } = torn;
    if !units.iter().chain([parity]).all(|&member| health.holds(member, to)) {
        return;
    }
    let of = |member, operation| own(PlannedOperation::data(member, operation, from, to - from));
    units.iter().for_each(|&member| plan.push(of(member, Operation::Read)));
    writes.push(PlannedOperation { parity: ParityPages::ALL, ..of(*parity, Operation::Write) });
}

/// Whether an operation writes parity.
fn is_parity(operation: &PlannedOperation) -> bool {
    operation.operation == Operation::Write && operation.parity == ParityPages::ALL
}

impl WriteHole {
    /// Bytes that a log needs at least.
    pub fn least(&self, layout: &Parity, page: Bytes, unit: Bytes) -> Bytes {
        let block = block_of(page);
        match self {
            WriteHole::Resync | WriteHole::Bitmap { .. } => 0,
            WriteHole::Journal(_) => {
                let stripe = unit * u64::from(layout.data_units() + layout.parities());
                let described = stripe.div_ceil(block).div_ceil(DESCRIBED);
                2 * (described * block + stripe)
            }
            WriteHole::PartialParityLog(_) => block + unit,
        }
    }
}

/// Bytes of a block of the log: whole pages, and at least what md writes.
fn block_of(page: Bytes) -> Bytes {
    BLOCK.next_multiple_of(page)
}

/// The array's own work.
fn own(operation: PlannedOperation) -> PlannedOperation {
    PlannedOperation { phase: Phase::Reconstruct, fast_fail: false, ..operation }
}

/// Whether a transaction of the host writes rows.
pub(super) fn is_logged(transaction: &Transaction) -> bool {
    matches!(transaction.operation, Operation::Write | Operation::Trim) && transaction.rows.count > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_full_until_its_first_part_is_given_back() {
        let mut ring = Ring { size: 100, ..Ring::default() };
        assert_eq!([ring.take(40, true), ring.take(40, true)], [0, 40]);
        assert!(ring.has_room(20, true) && !ring.has_room(21, true));
        ring.give_back(80);
        assert!(!ring.has_room(21, true), "space is given back in order");
        ring.give_back(40);
        assert!(ring.has_room(100, true) && !ring.has_room(101, true));
        assert_eq!(ring.take(50, true), 80, "it may be cut at the end");
    }

    /// What a log reads and writes again is the array's own work, and waits for collection.
    #[test]
    fn what_is_replayed_is_the_array_s_own() {
        let data = PlannedOperation::data(DeviceId(0), Operation::Write, 0, 4096);
        let operation = own(PlannedOperation { fast_fail: true, ..data });
        assert_eq!((operation.phase, operation.fast_fail), (Phase::Reconstruct, false));
    }

    /// A journal with room for two of three entries.
    #[test]
    fn who_comes_is_let_go_by_who_leaves_in_order() {
        let page = 4 << 10;
        let layout = Layout::new(Level::Raid4, 3, page, page, 64 * page);
        let Layout::Parity(layout) = layout else { unreachable!("RAID-4 has parity") };
        let mut log = Log {
            layout,
            journal: Some(DeviceId(3)),
            base: 0,
            block: page,
            page,
            rings: vec![Ring { size: 10 * page, ..Ring::default() }],
            most_rows: 1,
            entries: BTreeMap::new(),
            last: UNLOGGED,
            waiting: VecDeque::new(),
            replaying: 0,
            since: SimTime::ZERO,
            replays: true,
            flushes: false,
            counters: LogCounters::default(),
        };
        let spec = Transaction::unlocked(Operation::Write, 0, page);
        for (number, pages) in (1..).zip([4, 4, 6, 2]) {
            let write = PlannedOperation::data(DeviceId(3), Operation::Write, 0, pages * page);
            let entry =
                Entry { spec, writes: Vec::new(), log: vec![write], taken: Vec::new(), is_durable: false };
            log.entries.insert(number, entry);
        }
        let gates = (1..).zip(10..).take(4).map(|(number, who)| log.enter(who, number));
        assert_eq!(
            Vec::from_iter(gates),
            [Gate::Goes, Gate::Goes, Gate::Waits, Gate::Waits],
            "the last would fit"
        );
        assert_eq!(Vec::from_iter(log.leave(2)), [0; 0], "room is given back in order");
        assert_eq!(Vec::from_iter(log.leave(1)), [12, 13]);
        assert_eq!(log.enter(12, 3), Gate::Goes, "it has its room");
        assert_eq!((log.counters.full_waits, log.counters.log_pages), (2, 16));
    }

    #[test]
    fn what_may_not_be_cut_begins_anew_and_takes_the_rest_along() {
        let mut ring = Ring { size: 100, ..Ring::default() };
        ring.take(60, false);
        ring.give_back(60);
        ring.take(10, false);
        assert_eq!(ring.take(50, false), 100);
        assert!(ring.has_room(10, false) && !ring.has_room(11, false));
        ring.give_back(70);
        assert!(ring.has_room(20, false) && !ring.has_room(21, false));
        ring.give_back(150);
        assert!(ring.has_room(100, false), "an empty one has room for all that it can hold");
    }
}
