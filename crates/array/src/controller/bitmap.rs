//! The write-intent bitmap: which parts of the members may be being written, kept on the members themselves.
//!
//! ```text
//! a chunk  clean ─► wanted ─► on its way ─► set ─► aged ─► clean, and clear on the members a pass later
//!            write comes   block is written   │ ▲ pass     pass
//!                                             └─┘ writes
//! ```
//!
//! A bit stands for a *chunk*: so many bytes of every member, counted as the members' rows are, or for copies as the first copies
//! lie. It is on the members before anything of its chunk is written. It is cleared lazily: a pass that finds a set bit and
//! nobody who writes there marks it as aged, the next one clears it in memory, and the block is written in the pass after that,
//! or earlier with a bit that is set. After a loss of power the bits are those on the members; only their chunks are resynced.
//! Bits of such a chunk stay until it is gone through. No bit is cleared while a member is missing.
//!
//! The blocks lie behind all stripes of each member. A block is written to all members that are there, with FUA. Where a member
//! forgets what it caches, all of them flush first: a bit may only be cleared once no member can lose what was written under it. Its
//! chunk has had no writer for two passes then, and whoever comes meanwhile waits for the next write of the bitmap.
//!
//! Source: Linux md, drivers/md/md-bitmap.c (`md_bitmap_startwrite`, `md_bitmap_endwrite`, `md_bitmap_daemon_work`,
//! `md_bitmap_unplug`); md.c (`md_super_write`, with which blocks are written: `REQ_PREFLUSH | REQ_FUA`, whether bits are set or
//! cleared). md flushes each member before its own block; here all flush before the first block, since the bits of one member that are
//! clear say nothing of the caches of the others.
//!
//! Not modelled: the superblock of the bitmap, and its event counts; what a member that comes back has missed (members do not
//! come back); write-behind; that md counts chunks of RAID-10 along the array.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use harmonia_types::{BitmapCounters, Bytes, DeviceId, Operation, ParityPages, Phase, SimDuration, SimTime};

use super::gate::Gate;
use crate::config::{ArrayConfig, WriteHole, bitmap_block};
use crate::health::Health;
use crate::layout::{Layout, Level};
use crate::planner::{Plan, PlannedOperation, Transaction};

/// A bit in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Bit {
    #[default]
    Clean,
    /// Somebody wants to write; the next write of its block sets it.
    Wanted,
    /// That write is under way.
    OnItsWay,
    Set,
    /// A pass has found that nobody writes.
    Aged,
}

#[derive(Debug, Clone, Copy, Default)]
struct Chunk {
    /// Transactions that write, or wait until they may.
    writers: u32,
    bit: Bit,
    /// What the members say.
    is_on_disk: bool,
    /// It has to be gone through after a loss of power.
    is_dirty: bool,
}

/// What a transaction waits for that is about to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    /// Its bits are on the members.
    Set,
    /// The write under way sets the last of them.
    OnItsWay,
    /// The next one does.
    Wanted,
}

/// The bitmap of an array.
#[derive(Debug, Clone)]
pub(super) struct Bitmap {
    chunk: Bytes,
    pub delay: SimDuration,
    /// Members flush before it is written, because they forget.
    flushes: bool,
    layout: Layout,
    /// First byte of it on the members, bytes of a block, and bits in one.
    base: Bytes,
    block: Bytes,
    bits: u64,
    page: Bytes,
    chunks: Vec<Chunk>,
    /// Chunks that are not clean both in memory and on the members.
    untidy: BTreeSet<usize>,
    /// Blocks with bits that are wanted; with bits that the last pass cleared in memory, which the next one writes; and those that
    /// a pass has found to be written.
    wanted: BTreeSet<u64>,
    stale: BTreeSet<u64>,
    overdue: BTreeSet<u64>,
    /// Blocks that are being written, lowest first, the chunks of them whose bits that clears, and since when.
    pub flying: Vec<u64>,
    clearing: Vec<usize>,
    pub since: SimTime,
    /// Members collected where it waits for them.
    pub has_met_gc: bool,
    /// Transactions that the write under way lets go on, and those that the next one does; each the first to come first.
    let_go: Vec<u32>,
    waiting: VecDeque<u32>,
    /// A write, or a pass, is arranged.
    is_due: bool,
    pub has_pass: bool,
    pub counters: BitmapCounters,
}

impl Bitmap {
    /// The bitmap that an array is to keep, if any.
    ///
    /// # Errors
    /// If the level has no use for one, or its chunks cut rows.
    pub fn new(config: &ArrayConfig, layout: &Layout) -> Result<Option<Box<Self>>, String> {
        let WriteHole::Bitmap { chunk, delay } = config.faults.write_hole else { return Ok(None) };
        if config.level.redundancy(config.devices) == 0 || matches!(config.level, Level::Draid(_)) {
            return Err(format!("{} keeps no write-intent bitmap", config.level));
        }
        if chunk == 0 || !chunk.is_multiple_of(config.stripe_unit) {
            return Err(format!("a bit for {chunk} bytes does not stand for whole stripe units"));
        }
        let bitmap = Bitmap::of(layout, config.page_size(), chunk);
        Ok(Some(Box::new(Bitmap {
            delay,
            flushes: config.members_forget(),
            base: config.member_bytes(),
            ..bitmap
        })))
    }

    /// A bitmap with no bit set, from the first byte of the members on.
    fn of(layout: &Layout, page: Bytes, chunk: Bytes) -> Self {
        let block = bitmap_block(page);
        let count = layout.member_bytes().div_ceil(chunk);
        Bitmap {
            chunk,
            delay: SimDuration::ZERO,
            flushes: false,
            layout: layout.clone(),
            base: 0,
            block,
            bits: block * 8,
            page,
            chunks: vec![Chunk::default(); count as usize],
            untidy: BTreeSet::new(),
            wanted: BTreeSet::new(),
            stale: BTreeSet::new(),
            overdue: BTreeSet::new(),
            flying: Vec::new(),
            clearing: Vec::new(),
            since: SimTime::ZERO,
            has_met_gc: false,
            let_go: Vec::new(),
            waiting: VecDeque::new(),
            is_due: false,
            has_pass: false,
            counters: BitmapCounters { chunk_bytes: chunk, ..BitmapCounters::default() },
        }
    }

    /// Calls `visit` with the first and last chunk of every range of the members that a write belongs to.
    fn ranges(layout: &Layout, chunk: Bytes, spec: &Transaction, mut visit: impl FnMut(u64, u64)) {
        match layout {
            Layout::Parity(parity) if spec.rows.count > 0 => {
                let row = parity.row_bytes();
                visit(spec.rows.first * row / chunk, (spec.rows.end() * row - 1) / chunk);
            }
            Layout::Mirrored(copies) => copies.split(spec.offset, spec.length, |places, length| {
                visit(places[0].1 / chunk, (places[0].1 + length - 1) / chunk);
            }),
            // A discard of less than a stripe does nothing.
            Layout::Parity(_) | Layout::Striped(_) => {}
        }
    }

    /// A transaction comes that is about to write: it goes if its bits are on the members.
    pub fn enter(&mut self, who: u32, spec: &Transaction) -> Gate {
        match self.begin_write(spec) {
            Mark::Set => return Gate::Goes,
            Mark::OnItsWay => self.let_go.push(who),
            Mark::Wanted => self.waiting.push_back(who),
        }
        self.counters.waits += 1;
        Gate::Waits
    }

    /// Counts it among those who write: what it has to wait for.
    fn begin_write(&mut self, spec: &Transaction) -> Mark {
        let Bitmap { layout, chunk, chunks, wanted, untidy, bits, .. } = self;
        let mut mark = Mark::Set;
        Self::ranges(layout, *chunk, spec, |first, last| {
            for number in first..=last {
                let chunk = &mut chunks[number as usize];
                chunk.writers += 1;
                match chunk.bit {
                    Bit::Set => {}
                    Bit::Aged => chunk.bit = Bit::Set,
                    Bit::OnItsWay => mark = mark.max(Mark::OnItsWay),
                    Bit::Wanted => mark = Mark::Wanted,
                    Bit::Clean => {
                        untidy.insert(number as usize);
                        (chunk.bit, mark) = (Bit::Wanted, Mark::Wanted);
                        wanted.insert(number / *bits);
                    }
                }
            }
        });
        mark
    }

    /// It leaves: it has written.
    pub fn leave(&mut self, spec: &Transaction) {
        let chunks = &mut self.chunks;
        Self::ranges(&self.layout, self.chunk, spec, |first, last| {
            for chunk in &mut chunks[first as usize..=last as usize] {
                assert!(chunk.writers > 0, "who has written had begun to");
                chunk.writers -= 1;
            }
        });
    }

    /// Whether a write of the bitmap is to be arranged, which from now on it is.
    pub fn falls_due(&mut self) -> bool {
        self.has_to_write() && !std::mem::replace(&mut self.is_due, true)
    }

    /// The write that was arranged begins, if there is anything to write, at `now`: who has waited for it.
    pub fn begin(&mut self, now: SimTime) -> Option<&[u32]> {
        self.is_due = false;
        if !self.has_to_write() {
            return None;
        }
        self.take_blocks();
        (self.since, self.has_met_gc) = (now, false);
        let before = self.let_go.len();
        self.let_go.extend(self.waiting.drain(..));
        Some(&self.let_go[before..])
    }

    /// Takes the blocks that have to be written into the next write.
    fn take_blocks(&mut self) {
        let mut blocks = std::mem::take(&mut self.wanted);
        blocks.append(&mut self.overdue);
        for block in blocks {
            self.stale.remove(&block);
            for number in self.of_block(block) {
                let chunk = &mut self.chunks[number];
                match chunk.bit {
                    Bit::Wanted => chunk.bit = Bit::OnItsWay,
                    Bit::Clean if chunk.is_on_disk => self.clearing.push(number),
                    _ => {}
                }
            }
            self.flying.push(block);
        }
    }

    /// The chunks whose bits lie in a block.
    fn of_block(&self, block: u64) -> Range<usize> {
        let first = (block * self.bits) as usize;
        first..(first + self.bits as usize).min(self.chunks.len())
    }

    /// Whether a block has to be written, and none is being written.
    fn has_to_write(&self) -> bool {
        self.flying.is_empty() && !(self.wanted.is_empty() && self.overdue.is_empty())
    }

    /// The block that lies at a byte of the members, if one does.
    pub fn block_at(&self, offset: Bytes) -> Option<u64> {
        let block = offset.checked_sub(self.base)? / self.block;
        (block * self.bits < self.chunks.len() as u64).then_some(block)
    }

    /// Plans to write them, once members have flushed what was written before.
    pub fn plan(&mut self, health: &Health, members: u16, plan: &mut Plan) {
        let there = (0..members).map(DeviceId).filter(|&member| health.takes_writes(member));
        for member in there.clone().filter(|_| self.flushes) {
            let flush = PlannedOperation::data(member, Operation::Flush, 0, 0);
            plan.push(PlannedOperation { phase: Phase::Parity, ..flush });
        }
        plan.barrier();
        for member in there {
            let mut from = 0;
            while from < self.flying.len() {
                let mut to = from + 1;
                while to < self.flying.len() && self.flying[to] == self.flying[to - 1] + 1 {
                    to += 1;
                }
                let (offset, length) = (self.flying[from] * self.block, (to - from) as u64 * self.block);
                let write = PlannedOperation::data(member, Operation::Write, self.base + offset, length);
                plan.push(PlannedOperation { phase: Phase::Parity, parity: ParityPages::LOG, ..write });
                self.counters.pages += length / self.page;
                from = to;
            }
        }
        self.counters.writes += 1;
    }

    /// They are written: who is let go, the first to come first.
    pub fn are_written(&mut self) -> Vec<u32> {
        for block in std::mem::take(&mut self.flying) {
            let range = self.of_block(block);
            for chunk in self.chunks[range].iter_mut().filter(|chunk| chunk.bit == Bit::OnItsWay) {
                (chunk.bit, chunk.is_on_disk) = (Bit::Set, true);
            }
        }
        for number in self.clearing.drain(..) {
            let chunk = &mut self.chunks[number];
            chunk.is_on_disk = false;
            if chunk.bit == Bit::Clean {
                self.untidy.remove(&number);
            }
            self.counters.cleared += 1;
        }
        std::mem::take(&mut self.let_go)
    }

    /// A pass.
    pub fn pass(&mut self) {
        self.overdue.append(&mut self.stale);
        for &number in &self.untidy {
            let chunk = &mut self.chunks[number];
            if chunk.writers > 0 || chunk.is_dirty {
                continue;
            }
            match chunk.bit {
                Bit::Set => chunk.bit = Bit::Aged,
                Bit::Aged => {
                    chunk.bit = Bit::Clean;
                    let block = number as u64 / self.bits;
                    if !self.overdue.contains(&block) {
                        self.stale.insert(block);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether passes have anything left to do.
    pub fn is_untidy(&self) -> bool {
        !self.untidy.is_empty()
    }

    /// Power is lost: what is known are the bits on the members.
    pub fn lose_power(&mut self) {
        for chunk in &mut self.chunks {
            chunk.writers = 0;
            chunk.bit = if chunk.is_on_disk { Bit::Set } else { Bit::Clean };
        }
        let on_disk = |&number: &usize| self.chunks[number].is_on_disk;
        self.untidy = (0..self.chunks.len()).filter(on_disk).collect();
        self.wanted.clear();
        self.stale.clear();
        self.overdue.clear();
        self.flying.clear();
        self.clearing.clear();
        self.let_go.clear();
        self.waiting.clear();
        (self.is_due, self.has_met_gc) = (false, false);
    }

    /// Power was lost while the array was being written: all chunks whose bits are set are to be gone through.
    pub fn are_dirty(&mut self) {
        for chunk in self.chunks.iter_mut().filter(|chunk| chunk.is_on_disk) {
            self.counters.dirty_chunks += u64::from(!chunk.is_dirty);
            chunk.is_dirty = true;
        }
    }

    /// The members are gone through up to there.
    pub fn are_synced_to(&mut self, end: Bytes) {
        let whole =
            if end >= self.layout.member_bytes() { self.chunks.len() } else { (end / self.chunk) as usize };
        self.chunks[..whole].iter_mut().for_each(|chunk| chunk.is_dirty = false);
    }

    /// The first range of the members from there on that is to be gone through: its first byte, and its end.
    pub fn next_dirty(&self, from: Bytes) -> Option<(Bytes, Bytes)> {
        let chunks = self.chunks.iter().enumerate().skip((from / self.chunk) as usize);
        let (first, _) = chunks.clone().find(|(_, chunk)| chunk.is_dirty)?;
        let rest = self.chunks[first..].iter().take_while(|chunk| chunk.is_dirty).count();
        Some((from.max(first as u64 * self.chunk), (first + rest) as u64 * self.chunk))
    }

    /// Bytes of a chunk, and the chunks that are to be gone through.
    pub fn dirty(&self) -> (Bytes, BTreeSet<u64>) {
        let dirty = self.chunks.iter().enumerate().filter(|(_, chunk)| chunk.is_dirty);
        (self.chunk, dirty.map(|(chunk, _)| chunk as u64).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::Condition;

    /// Chunks 0 and 1 lie in one block. Whoever wants a bit waits for the next write of the bitmap; the bit that is on its way lets go
    /// with it, and one that is set lets go at once.
    #[test]
    fn who_comes_is_let_go_by_the_write_that_sets_its_bits() {
        let page = 4 << 10;
        let layout = Layout::new(Level::Raid1, 2, page, page, 64 * page);
        let mut bitmap = Bitmap::of(&layout, page, page);
        let write = |chunk| Transaction::unlocked(Operation::Write, chunk * page, page);
        assert!(!bitmap.falls_due() && bitmap.begin(SimTime(1)).is_none(), "nobody wants anything");
        assert_eq!([bitmap.enter(10, &write(0)), bitmap.enter(11, &write(0))], [Gate::Waits; 2]);
        assert_eq!([bitmap.falls_due(), bitmap.falls_due()], [true, false], "one write is arranged");
        assert_eq!(bitmap.begin(SimTime(2)), Some(&[10, 11][..]));
        assert_eq!([bitmap.enter(12, &write(1)), bitmap.enter(13, &write(0))], [Gate::Waits; 2]);
        assert!(!bitmap.falls_due() && bitmap.begin(SimTime(3)).is_none(), "one is under way");
        assert_eq!((bitmap.are_written(), bitmap.since), (vec![10, 11, 13], SimTime(2)));
        assert_eq!(bitmap.enter(14, &write(0)), Gate::Goes);
        assert!(bitmap.falls_due(), "12 still waits");
        assert_eq!(bitmap.begin(SimTime(4)), Some(&[12][..]));
        assert_eq!((bitmap.are_written(), bitmap.counters.waits), (vec![12], 4));
        (0..4).for_each(|_| bitmap.leave(&write(0)));
        bitmap.leave(&write(1));
        (0..2).for_each(|_| bitmap.pass());
        assert_eq!(bitmap.enter(15, &write(0)), Gate::Waits, "two passes have cleared its bit");
    }

    #[test]
    fn blocks_side_by_side_are_one_write_on_every_member_that_is_there() {
        let page = 4 << 10;
        let mut bitmap = Bitmap::of(&Layout::new(Level::Raid0, 3, page, page, 64 * page), page, page);
        bitmap.flying = vec![0, 1, 3, 5, 6, 7];
        let mut health = Health::new(3);
        health.set(DeviceId(1), Condition::Failed);
        let mut plan = Plan::default();
        bitmap.plan(&health, 3, &mut plan);
        let block = bitmap.block;
        let written: Vec<_> = plan
            .operations()
            .iter()
            .map(|write| (write.device.0, write.offset / block, write.length / block))
            .collect();
        assert_eq!(written, [(0, 0, 2), (0, 3, 1), (0, 5, 3), (2, 0, 2), (2, 3, 1), (2, 5, 3)]);
        assert_eq!((bitmap.counters.writes, bitmap.counters.pages), (1, 12 * block / page));
    }
}
