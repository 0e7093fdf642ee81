//! Writes and the stripe cache: they take entries, are merged while they wait, and put off their pre-reads.
//!
//! ```text
//! rows held ─► merged with who waits for them ─► entries? ─► pre-reads? ──no──────────────► planned ─► ... ─► end: entries idle
//!                                                  │ none      │ yes, and others pre-read        ▲
//!                                                  ▼           ▼                                 │
//!                                               waits       delayed ──nobody pre-reads any more──┘
//! ```
//!
//! * *Entries.* A write that holds its rows takes an entry for each. If there are too few it waits, first come, first served. Once
//!   somebody has had to wait, the first one goes on when less than three quarters are in use.
//! * *Merging.* A write joins another on the same rows that has not been planned, if what they write lies side by side. Both are
//!   then one transaction: each request is acknowledged when it is done, with its own waiting. The ticket of the one that joined
//!   stays in line, so whoever comes behind it waits for both. If one of them is with FUA, the members get both so.
//! * *Delay.* A write that has to read first is put off while another one reads (md's `IO_THRESHOLD` is 1). When none reads
//!   any more, all that were put off begin at once. A write that is complete by what joined it begins at once. md does not put
//!   off synchronous writes; `delays` says whether writes here are put off.
//! * *Kept units.* What a write reads and writes stays in its entries. Whatever else changes rows (discards, rebuilding, pages
//!   written anew) drops them; a read that does not bring what it should drops them, too. Parked writes are no exception, as the
//!   cache holds what NVRAM does. Host reads take no notice of the cache.
//!
//! While a member is missing, writes bypass all this: nothing is kept, merged or put off. What is kept is dropped when a member
//! fails. Nothing is kept during a resync either.
//!
//! Source: Linux md, drivers/md/raid5.c (`raid5_get_active_stripe`, `add_stripe_bio`, `handle_stripe_dirtying`,
//! `raid5_activate_delayed`). Leaves out: plugging, and batches of the thread, so a write goes as soon as it may;
//! `preread_bypass_threshold`, which orders stripes that the thread could handle at one moment; that a write in md joins one
//! whose pre-reads are under way; entries for rebuilding, scrubbing and reads around members; what stays in md's cache when a
//! member fails. A write of more rows than there are entries takes them all at once; md takes them one by one.

use std::collections::{BTreeMap, VecDeque};

use harmonia_ssd::probe::Probe;
use harmonia_types::{CacheCounters, Operation, RequestBlame, SimTime};

use super::Array;
use super::gate::Gate;
use super::payload::{Owner, Payload};
use super::states::Purpose;
use super::tokens::{NONE, Node, Parent};
use super::trails::{NO_TRAIL, What};
use super::transactions::{Chain, Running};
use crate::config::StripeCacheConfig;
use crate::layout::Layout;
use crate::planner::{Kind, Plan, PlannedOperation, Refusal, Rows, Transaction};
use crate::stripe_cache::StripeCache;

/// How far a write has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It waits for entries.
    Waits,
    /// Its pre-reads are put off.
    Delayed,
    /// It reads what it needs.
    Reads,
    /// It needs nothing more.
    Writes,
}

/// A write that is part of another transaction.
#[derive(Debug, Clone, Copy)]
struct Part {
    handle: u32,
    request: u32,
    position: u32,
    /// Up to the moment when the transaction was planned.
    before: Chain,
}

/// The table, and the writes that hold or wait for entries.
#[derive(Debug, Clone)]
pub(super) struct Caching {
    pub table: StripeCache,
    /// Reads that the entries answer, of the plan that is being made.
    pub kept: Vec<PlannedOperation>,
    row: u64,
    delays: bool,
    stages: BTreeMap<u32, Stage>,
    /// By first row: writes that hold it and are not planned, so that others can join them.
    open: BTreeMap<u64, u32>,
    /// The parts of a transaction, its own one first; nothing of most.
    parts: BTreeMap<u32, Vec<Part>>,
    /// Who waits for entries of which rows, and whether less than three quarters must be in use before the first one goes on.
    waiting: VecDeque<(u32, Rows)>,
    is_short: bool,
    delayed: Vec<u32>,
    reading: u32,
    counters: CacheCounters,
}

impl Caching {
    /// For an array with parity; `None` if it has no entries.
    pub fn of(config: StripeCacheConfig, layout: &Layout) -> Option<Box<Self>> {
        let Layout::Parity(parity) = layout else { return None };
        // Rows of declustered stripes are not rows of their members.
        (config.entries > 0 && parity.declustered().is_none()).then(|| {
            Box::new(Caching {
                table: StripeCache::new(config.entries, layout.members()),
                kept: Vec::new(),
                row: parity.row_bytes(),
                delays: config.delays,
                stages: BTreeMap::new(),
                open: BTreeMap::new(),
                parts: BTreeMap::new(),
                waiting: VecDeque::new(),
                is_short: false,
                delayed: Vec::new(),
                reading: 0,
                counters: CacheCounters { entries: config.entries.into(), ..CacheCounters::default() },
            })
        })
    }

    /// Power is lost, and everything with it.
    pub fn lose_power(&mut self) {
        self.table.empty_all();
        self.stages.clear();
        self.open.clear();
        self.parts.clear();
        self.waiting.clear();
        self.is_short = false;
        self.delayed.clear();
        self.reading = 0;
    }

    /// A write comes that holds its rows: it goes if there are entries for them.
    fn enter(&mut self, who: u32, rows: Rows) -> Gate {
        if self.waiting.is_empty() && self.table.has_room(rows) {
            return Gate::Goes;
        }
        self.waiting.push_back((who, rows));
        self.is_short = true;
        self.counters.entry_waits += 1;
        Gate::Waits
    }

    /// The first of those who wait, if it may have entries now. It takes them before the next one is asked for.
    fn let_go(&mut self) -> Option<u32> {
        let &(first, rows) = self.waiting.front()?;
        if self.is_short && !self.table.is_roomy() {
            return None;
        }
        self.is_short = !self.table.has_room(rows);
        if self.is_short {
            return None;
        }
        self.waiting.pop_front();
        Some(first)
    }

    pub fn counters(&self) -> CacheCounters {
        CacheCounters { high_water: self.table.high_water(), ..self.counters }
    }

    /// Whether a write is planned with what is kept of its rows.
    pub fn answers(&self, handle: u32, write: &Transaction) -> bool {
        write.attempt == 0 && self.stages.contains_key(&handle) && self.table.fits(write.rows)
    }

    /// One write less reads first. Those that were put off, if it was the last.
    fn reads_no_more(&mut self) -> Vec<u32> {
        self.reading -= 1;
        if self.reading > 0 { Vec::new() } else { std::mem::take(&mut self.delayed) }
    }

    pub fn audit(&self) {
        self.table.audit();
        let of_stage = |stage| self.stages.values().filter(|&&own| own == stage).count();
        assert_eq!(of_stage(Stage::Waits), self.waiting.len(), "who waits for entries is in line");
        assert_eq!(of_stage(Stage::Delayed), self.delayed.len(), "who is put off will be taken up");
        assert_eq!(of_stage(Stage::Reads), self.reading as usize, "who reads is counted");
        assert_eq!(
            self.open.len(),
            self.waiting.len() + self.delayed.len(),
            "who is not planned can be joined"
        );
    }

    /// The rows of a range of a member, those in part included.
    fn rows_of(&self, operation: &PlannedOperation) -> Rows {
        let first = operation.offset / self.row;
        Rows { first, count: (operation.offset + operation.length).div_ceil(self.row) - first }
    }
}

impl Chain {
    /// This chain and what came after it.
    fn followed_by(&self, rest: &Chain) -> Chain {
        let mut whole = *rest;
        whole.blame.add(&self.blame);
        whole.tells_longer(self.gc_wait);
        whole
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// A transaction has its rows: whether it is planned now. A write waits for entries, and for others that may join it.
    #[cold]
    pub(super) fn passes_cache(&mut self, handle: u32, now: SimTime) -> Gate {
        let spec = self.transactions[handle].spec;
        if !self.is_cached(handle) {
            if matches!(spec.operation, Operation::Write | Operation::Trim) {
                self.forget_rows(spec.rows);
            }
            return Gate::Goes;
        }
        self.merge_waiting(handle, now);
        let Some(cache) = self.cache.as_deref_mut() else { return Gate::Goes };
        if cache.enter(handle, spec.rows) == Gate::Goes {
            return self.enter_cache(handle, now);
        }
        self.put_off(handle, Stage::Waits);
        Gate::Waits
    }

    /// Whether entries may keep what rows hold: nothing is missing, and parity is known to agree.
    pub(super) fn is_sound(&self) -> bool {
        self.members.health.is_whole() && !self.is_resyncing()
    }

    /// Whether a transaction that holds or waits for its rows is a write of the host that takes entries.
    fn is_cached(&self, handle: u32) -> bool {
        let running = &self.transactions[handle];
        let is_host_write = running.spec.operation == Operation::Write && running.purpose.request().is_some();
        is_host_write && running.ticket != NONE && self.members.health.is_whole()
    }

    /// A write is not planned yet, so others can join it.
    fn put_off(&mut self, handle: u32, stage: Stage) {
        let first = self.transactions[handle].spec.rows.first;
        let Some(cache) = self.cache.as_deref_mut() else { return };
        cache.stages.insert(handle, stage);
        cache.open.insert(first, handle);
        // What follows concerns any member, so none may run ahead.
        self.waiting += 1;
    }

    /// A write takes entries. It is planned if it reads nothing, or nobody else does.
    fn enter_cache(&mut self, handle: u32, now: SimTime) -> Gate {
        let spec = self.transactions[handle].spec;
        let Array { cache: Some(cache), payload, .. } = self else { return Gate::Goes };
        cache.table.take(spec.rows, |row| {
            if payload.is_active() {
                payload.forgets(row);
            }
        });
        let fits = cache.table.fits(spec.rows);
        if self.payload.is_active() && fits {
            self.tell_payload(Parent::Transaction(handle), |payload, owner| payload.caches(owner));
        }
        if self.reads_first(handle, now) {
            let cache = self.cache.as_deref_mut().filter(|cache| cache.delays && cache.reading > 0);
            if let Some(cache) = cache {
                cache.delayed.push(handle);
                cache.counters.delays += 1;
                self.put_off(handle, Stage::Delayed);
                return Gate::Waits;
            }
        }
        self.has_entries(handle, now);
        Gate::Goes
    }

    /// Whether a write that has entries would have to read first if it were planned now.
    fn reads_first(&mut self, handle: u32, now: SimTime) -> bool {
        let spec = self.transactions[handle].spec;
        let look = self.members.look(self.nvram.as_deref(), now);
        let view = self.members.view(&look);
        let Some(cache) = self.cache.as_deref() else { return false };
        self.planner.uses_cache().is_some_and(|planner| planner.has_pre_reads(&spec, &view, &cache.table))
    }

    /// A write that has entries is about to be planned.
    fn has_entries(&mut self, handle: u32, now: SimTime) {
        let Array { cache: Some(cache), transactions, trails, .. } = self else { return };
        cache.stages.insert(handle, Stage::Writes);
        let before = &mut transactions[handle].before;
        before.waited(trails, now, What::Entries);
        if let Some(parts) = cache.parts.get_mut(&handle) {
            parts.iter_mut().for_each(|part| part.before.waited(trails, now, What::Entries));
            // What was before is told by the parts.
            parts[0].before = *before;
            (before.blame, before.gc_wait, before.trail) = (RequestBlame::default(), None, NO_TRAIL);
        }
    }

    /// A write that was put off is not any more.
    fn end_delay(&mut self, handle: u32) {
        let first = self.transactions[handle].spec.rows.first;
        if let Some(cache) = self.cache.as_deref_mut() {
            cache.open.remove(&first);
        }
        self.waiting -= 1;
    }

    /// A plan has been made: what it reads and writes will be kept, and what it did not have to read is known.
    #[cold]
    pub(super) fn note_plan(&mut self, handle: u32, plan: &Plan) {
        let (spec, is_sound) = (self.transactions[handle].spec, self.is_sound());
        let Some(cache) = self.cache.as_deref_mut() else { return };
        let Some(stage) = cache.stages.get_mut(&handle) else { return };
        if plan.steps().count() > 1 && *stage != Stage::Reads {
            *stage = Stage::Reads;
            cache.reading += 1;
        }
        if !is_sound || !cache.answers(handle, &spec) {
            return;
        }
        for operation in plan.operations() {
            let Rows { first, count } = cache.rows_of(operation);
            (first..first + count).for_each(|row| cache.table.keep(row, operation.device, true));
        }
        let kept = std::mem::take(&mut cache.kept);
        cache.counters.hits += kept.iter().map(|read| read.length / cache.row).sum::<u64>();
        if self.payload.is_active() {
            for read in &kept {
                let parent = Parent::Transaction(handle);
                self.tell_payload(parent, |payload, owner| payload.finds_kept(owner, read));
            }
        }
        if let Some(cache) = self.cache.as_deref_mut() {
            cache.kept = kept;
            cache.kept.clear();
        }
    }

    /// A write has begun a step behind its pre-reads. If nobody reads any more, those that were put off go: one after the other, by
    /// [`Self::ends_delay`].
    #[cold]
    pub(super) fn pre_reads_are_done(&mut self, handle: u32) -> Vec<u32> {
        let Some(cache) = self.cache.as_deref_mut() else { return Vec::new() };
        let Some(stage) = cache.stages.get_mut(&handle).filter(|stage| **stage == Stage::Reads) else {
            return Vec::new();
        };
        *stage = Stage::Writes;
        cache.reads_no_more()
    }

    /// A write that was put off is about to be planned.
    pub(super) fn ends_delay(&mut self, handle: u32, now: SimTime) {
        self.end_delay(handle);
        self.has_entries(handle, now);
    }

    /// A transaction is over: its entries become idle. Who was put off and goes now, as above; then [`Self::next_into_cache`] says
    /// who may have the entries.
    #[cold]
    pub(super) fn leave_cache(&mut self, handle: u32, rows: Rows) -> Vec<u32> {
        let Some(cache) = self.cache.as_deref_mut() else { return Vec::new() };
        let stage = cache.stages.remove(&handle);
        cache.parts.remove(&handle);
        let Some(stage) = stage else { return Vec::new() };
        cache.table.release(rows);
        if stage == Stage::Reads { cache.reads_no_more() } else { Vec::new() }
    }

    /// The next write that waits for entries and gets them, and is planned now.
    #[cold]
    pub(super) fn next_into_cache(&mut self, now: SimTime) -> Option<u32> {
        while let Some(next) = self.cache.as_deref_mut().and_then(Caching::let_go) {
            self.end_delay(next);
            if self.enter_cache(next, now) == Gate::Goes {
                return Some(next);
            }
        }
        None
    }
}

/// Merging.
impl<P: Probe, C: Payload> Array<P, C> {
    /// A transaction waits for its rows: it joins the write that holds them, if that is not planned yet. That write, if it need not
    /// be put off any more and is planned now.
    #[cold]
    pub(super) fn wait_in_line(&mut self, handle: u32, now: SimTime) -> Option<u32> {
        let first = self.transactions[handle].spec.rows.first;
        let &holder = self.cache.as_deref()?.open.get(&first)?;
        if self.merge_waiting(holder, now) == 0 {
            return None;
        }
        let is_delayed =
            self.cache.as_deref().and_then(|cache| cache.stages.get(&holder)) == Some(&Stage::Delayed);
        if is_delayed && !self.reads_first(holder, now) {
            // It is complete.
            if let Some(cache) = self.cache.as_deref_mut() {
                cache.delayed.retain(|&delayed| delayed != holder);
            }
            self.ends_delay(holder, now);
            return Some(holder);
        }
        None
    }

    /// Lets those who wait for the rows of a write join it, as far as they can. How many did.
    fn merge_waiting(&mut self, handle: u32, now: SimTime) -> usize {
        let parts = self.cache.as_deref().and_then(|cache| cache.parts.get(&handle));
        let last = parts.and_then(|parts| parts.last()).map_or(handle, |part| part.handle);
        let (mut ticket, mut count) = (self.transactions[last].ticket, 0);
        while let Some((next, other)) = self.locks.next_in_line(ticket) {
            let specs = (self.transactions[handle].spec, self.transactions[other].spec);
            let planner = if self.is_cached(other) { self.planner.uses_cache() } else { None };
            let Some(joined) = planner.and_then(|planner| planner.join(&specs.0, &specs.1)) else { break };
            self.merge(handle, other, joined, now);
            (ticket, count) = (next, count + 1);
        }
        count
    }

    fn merge(&mut self, handle: u32, other: u32, joined: Transaction, now: SimTime) {
        let Array { cache: Some(cache), transactions, requests, payload, trails, .. } = self else { return };
        // Until now it waited for its rows.
        let purpose = transactions[handle].purpose;
        transactions[other].before.waited_for_rows(trails, (handle, purpose), now);
        let part = |handle: u32| match transactions[handle] {
            Running { purpose: Purpose::Request { request, position }, before, .. } => {
                Some(Part { handle, request, position, before })
            }
            _ => None,
        };
        let (Some(own), Some(part)) = (part(handle), part(other)) else { return };
        cache.parts.entry(handle).or_insert_with(|| vec![own]).push(part);
        transactions[other].state.merge();
        cache.counters.merged += 1;
        if joined.kind == Kind::Plain && transactions[handle].spec.kind == Kind::Partial {
            cache.counters.rows_filled += joined.rows.count;
        }
        transactions[handle].spec = joined;
        if payload.is_active() {
            let request = Some(&requests[own.request].request);
            let owner = Owner { handle, transaction: &joined, request };
            payload.joins(owner, &requests[part.request].request);
        }
    }

    /// Acknowledges all parts of a transaction; `false` if it has no parts.
    #[cold]
    pub(super) fn acknowledge_merged(&mut self, handle: u32) -> bool {
        let parts = self.cache.as_deref_mut().and_then(|cache| cache.parts.remove(&handle));
        let Some(parts) = parts else { return false };
        let chain = *self.transactions[handle].host_chain();
        for part in &parts {
            let purpose = &mut self.transactions[part.handle].purpose;
            *purpose = purpose.answered();
            let mut whole = part.before.followed_by(&chain);
            if let Some(trails) = &mut self.trails {
                whole.trail = trails.joined(part.before.trail, chain.trail);
            }
            let chain = whole;
            if self.requests[part.request].is_acknowledged(part.position, &chain) {
                self.complete(part.request);
            }
        }
        true
    }

    /// Whether a write that has joined the transaction of an operation is with FUA.
    #[cold]
    pub(super) fn merged_has_fua(&self, parent: Parent) -> bool {
        let (Some(cache), Parent::Transaction(handle)) = (self.cache.as_deref(), parent) else {
            return false;
        };
        cache.parts.get(&handle).into_iter().flatten().any(|part| self.requests[part.request].request.fua)
    }

    /// An operation of a transaction waited for garbage collection, and with it all its requests.
    #[cold]
    pub(super) fn merged_are_affected(&mut self, handle: u32) {
        let Array { cache: Some(cache), requests, .. } = self else { return };
        for part in cache.parts.get(&handle).into_iter().flatten() {
            requests[part.request].met_gc = true;
        }
    }
}

/// What is kept no more.
impl<P: Probe, C: Payload> Array<P, C> {
    fn forget_rows(&mut self, rows: Rows) {
        let Array { cache: Some(cache), payload, .. } = self else { return };
        cache.table.forget(rows, |row| {
            if payload.is_active() {
                payload.forgets(row);
            }
        });
    }

    /// A member has failed.
    pub(super) fn forget_all_rows(&mut self) {
        let Array { cache: Some(cache), payload, .. } = self else { return };
        cache.table.forget_all(|row| {
            if payload.is_active() {
                payload.forgets(row);
            }
        });
    }

    /// A member did not take an operation: a read may not bring what was to be kept.
    #[cold]
    pub(super) fn forget_refused(&mut self, node: &Node, refusal: Refusal) {
        let Some(cache) = self.cache.as_deref_mut() else { return };
        let rows = cache.rows_of(&node.operation);
        match (refusal, node.operation.operation) {
            (Refusal::Failed | Refusal::Unreadable, _) => self.forget_rows(rows),
            (Refusal::Busy(_) | Refusal::Reserved, Operation::Read) => {
                let device = node.operation.device;
                (rows.first..rows.end()).for_each(|row| cache.table.keep(row, device, false));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
