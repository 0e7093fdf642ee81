//! Places that cannot be read: on members that failed, on replacements above what is built, and pages that turned out
//! unreadable.
//!
//! A transaction that holds rows and meets an unreadable page does not read it from that member again. The member holds the
//! page as far as [`Health`] goes, so it is noted here until the transaction is done. Nobody else holds its rows meanwhile,
//! so their first one names it.

use harmonia_types::{Bytes, Counters, DeviceId};

use super::{LossCounters, PlannedOperation, Rows, Transaction, View};
use crate::health::{Condition, Health};

/// Pages that transactions under way could not read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unreadable(Vec<Page>);

#[derive(Debug, Clone, Copy)]
struct Page {
    /// The first row of the transaction that found out.
    first_row: u64,
    device: DeviceId,
    from: Bytes,
    to: Bytes,
}

impl Unreadable {
    /// A transaction could not read what an operation of it was to bring.
    pub fn note(&mut self, rows: Rows, operation: &PlannedOperation) {
        let PlannedOperation { device, offset: from, length, .. } = *operation;
        self.0.push(Page { first_row: rows.first, device, from, to: from + length });
    }

    /// Whether no transaction under way has met one.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A transaction is done.
    #[inline]
    pub fn forget(&mut self, rows: Rows) {
        if !self.0.is_empty() && rows.count > 0 {
            self.0.retain(|page| page.first_row != rows.first);
        }
    }
}

/// What transactions under way have counted as lost, by their first rows: a new plan counts only what it loses besides.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counted(Vec<(u64, LossCounters)>);

impl Counted {
    /// Takes note of what a plan or a patch has counted since `before`; a plan counts again what was counted for the same
    /// transaction.
    #[inline]
    pub fn count(
        &mut self,
        transaction: &Transaction,
        is_plan: bool,
        before: LossCounters,
        now: &mut LossCounters,
    ) {
        if *now != before && transaction.rows.count > 0 {
            self.note(transaction, is_plan, before, now);
        }
    }

    fn note(
        &mut self,
        transaction: &Transaction,
        is_plan: bool,
        before: LossCounters,
        now: &mut LossCounters,
    ) {
        let first_row = transaction.rows.first;
        let mut new = now.since(&before);
        let Some(place) = self.0.iter().position(|entry| entry.0 == first_row) else {
            return self.0.push((first_row, new));
        };
        let counted = &mut self.0[place].1;
        if is_plan {
            new.rebuilt_pages = new.rebuilt_pages.saturating_sub(counted.rebuilt_pages);
            new.unread_pages = new.unread_pages.saturating_sub(counted.unread_pages);
            new.unwritten_pages = new.unwritten_pages.saturating_sub(counted.unwritten_pages);
            new.lost_pages = new.lost_pages.saturating_sub(counted.lost_pages);
        }
        counted.add(&new);
        *now = before;
        now.add(&new);
    }

    /// A transaction is done.
    #[inline]
    pub fn forget(&mut self, rows: Rows) {
        if !self.0.is_empty() && rows.count > 0 {
            self.0.retain(|entry| entry.0 != rows.first);
        }
    }
}

/// What one transaction cannot read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Missing<'a> {
    health: &'a Health,
    unreadable: &'a [Page],
    first_row: u64,
    /// A member that is done without in any case.
    without: Option<DeviceId>,
    is_none: bool,
}

impl<'a> Missing<'a> {
    /// What a transaction that holds its rows cannot read now, and nothing of the member `without`.
    #[inline]
    pub fn of(
        transaction: &Transaction,
        view: &View<'a>,
        unreadable: &'a Unreadable,
        without: Option<DeviceId>,
    ) -> Self {
        let (health, unreadable, first_row) = (view.health, &unreadable.0[..], transaction.rows.first);
        let is_read = unreadable.iter().all(|page| page.first_row != first_row);
        let is_none = health.is_whole() && is_read && without.is_none();
        Missing { health, unreadable, first_row, without, is_none }
    }

    /// Whether everything can be read.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.is_none
    }

    /// Whether a range of a member cannot be read as a whole.
    #[inline]
    pub fn has(&self, member: DeviceId, from: Bytes, to: Bytes) -> bool {
        !self.is_none
            && (self.without == Some(member)
                || !self.health.has(member, from, to)
                || self.pages(from, to).any(|page| page.device == member))
    }

    /// Calls `visit` with every place in a range of the members at which other members become unreadable; `row` is what parity is
    /// made of at a time.
    pub fn cuts(&self, members: u16, (from, to): (Bytes, Bytes), row: Bytes, mut visit: impl FnMut(Bytes)) {
        if self.is_none {
            return;
        }
        for member in (0..members).map(DeviceId) {
            if let Condition::Partial(built) = self.health.of(member) {
                let built = built / row * row;
                if (from..to).contains(&built) {
                    visit(built);
                }
            }
        }
        for page in self.pages(from, to) {
            visit(page.from.max(from));
            visit(page.to.min(to));
        }
    }

    fn pages(&self, from: Bytes, to: Bytes) -> impl Iterator<Item = &Page> {
        let overlaps = move |page: &&Page| page.from < to && from < page.to;
        self.unreadable.iter().filter(move |page| page.first_row == self.first_row).filter(overlaps)
    }
}
