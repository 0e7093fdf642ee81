//! What is locked and planned as one, what becomes of it on one member, and what a planner says when a member refuses that.

use harmonia_types::{Bytes, DeviceId, Operation, ParityPages, Phase, SimDuration};

use super::Planner;
use crate::rows::Rows;

/// What is locked, planned, completed and checked as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transaction {
    /// What it does.
    pub operation: Operation,
    /// The rows it holds.
    pub rows: Rows,
    /// First byte of the logical range it belongs to; of a pinned RAID-0 request, on the member.
    pub offset: Bytes,
    /// Bytes of that range. Of a parity write only what lies in its rows and units is this transaction's.
    pub length: Bytes,
    /// Bypasses the stripe.
    pub member: Option<DeviceId>,
    /// First and last data unit that a parity write touches in each of its rows.
    pub units: (u16, u16),
    /// What it is about.
    pub kind: Kind,
    /// What its planner noted down about it.
    pub tag: Tag,
    /// How often it has been planned anew.
    pub attempt: u16,
}

impl Transaction {
    /// A transaction for a range that holds no rows.
    pub fn unlocked(operation: Operation, offset: Bytes, length: Bytes) -> Self {
        let (rows, member) = (Rows::NONE, None);
        let (kind, tag) = (Kind::Plain, Tag::default());
        Transaction { operation, rows, offset, length, member, units: (0, 0), kind, tag, attempt: 0 }
    }

    /// A write of rows becomes a read of the same rows around members.
    pub(crate) fn read_around(&mut self) {
        (self.operation, self.kind, self.tag) = (Operation::Read, Kind::Around, Tag::default());
    }
}

/// What a transaction is about, for everybody to see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// What a request asks for, without anything to be read first: reads, discards, flushes, copies, rows written whole.
    #[default]
    Plain,
    /// Rows are written in part, so that what their parity is made of is read first.
    Partial,
    /// What some members hold is read from others, because the first ones collect, are missing or are late.
    Around,
    /// All that members hold is read and compared.
    Check,
    /// What a member is to hold is written, from what the others hold.
    Restore,
    /// Rows or copies that need not agree after a loss of power are written so that they do.
    Resync,
    /// What lies elsewhere goes back to where the layout has it, in idle time.
    Tidy,
}

/// What a planner notes down about a transaction, for itself: only a planner can [read](Tag::read) it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tag(u64);

impl Tag {
    /// A note whose meaning the planner knows that makes it.
    pub const fn of(note: u64) -> Self {
        Tag(note)
    }

    /// The note. Whoever reads it shows the planner that it is: a controller has none but a `dyn Planner`, which will not do.
    pub fn read(self, _by: &impl Planner) -> u64 {
        self.0
    }
}

/// One operation on one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedOperation {
    /// The member.
    pub device: DeviceId,
    /// What it does there.
    pub operation: Operation,
    /// First byte on the member.
    pub offset: Bytes,
    /// Bytes.
    pub length: Bytes,
    /// Answer at once instead of waiting for garbage collection.
    pub fast_fail: bool,
    /// What it is for; decides which part of the blame its time goes to. The time of a data operation whose last page is
    /// parity goes to parity.
    pub phase: Phase,
    /// Which of its pages are parity, or are touched for parity's sake.
    pub parity: ParityPages,
    /// The host does not wait for it: its request completes without, its rows stay held until it is done.
    pub behind: bool,
}

impl PlannedOperation {
    /// An operation on the host's own data, for which everybody waits.
    pub fn data(device: DeviceId, operation: Operation, offset: Bytes, length: Bytes) -> Self {
        let (phase, parity) = (Phase::Data, ParityPages::NONE);
        PlannedOperation { device, operation, offset, length, fast_fail: false, phase, parity, behind: false }
    }
}

/// Why a member did not take an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It collects garbage, for so long; only operations that ask to fail fast hear this.
    Busy(SimDuration),
    /// It is kept free of new operations.
    Reserved,
    /// It has failed.
    Failed,
    /// It cannot read these pages. They are rebuilt behind the request's back, as well.
    Unreadable,
}

/// What a refused operation becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The operations in the patch take its place; an empty patch does without it.
    Patch,
    /// The transaction is planned anew once its operations under way are done, holding these rows if it holds none yet.
    Replan(Rows),
    /// Another transaction of the same request does what this operation was for. This one does without it.
    Instead(Transaction),
    /// A write goes to NVRAM; where that is full, it waits for the member.
    Park,
    /// The operation waits until the member may be used again.
    Wait,
}
