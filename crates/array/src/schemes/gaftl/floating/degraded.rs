//! Rows of which something is missing, planned: a member failed or cannot read a page, or a replacement does not hold them yet. `hurt`
//! says what is read and what moves.
//!
//! ```text
//! member      0      1      2      3      4        1 has failed, and unit 1 is written:
//!          ┌──────┬──────┬──────┬──────┬──────┐
//! before   │  0   │ [1]  │  2   │  P   │      │
//! after    │  0   │      │  2   │  P'  │  1'  │    read 0 and 2; the stripe leaves the failed member free
//!          └──────┴──────┴──────┴──────┴──────┘
//! ```
//!
//! * What a failed member was to take goes to the free member of its row. Where that has failed, too, parity makes up for it.
//! * A read of what is missing reads the other units and as many parities as units are missing. What nobody has written is zeros
//!   as before, and is not rebuilt.
//! * A replacement takes writes at once. It is read as far as it is built. A row is rebuilt from where its slots lie at that
//!   moment: what a write has moved to another member is not rebuilt. Places of the replacement that hold nothing of the array are
//!   discarded, because a spare may be full.
//! * A plan says at once where slots will lie. If a member fails while the plan reads, nothing of it is written so far. What it
//!   changed in the map is taken back, and it is planned anew. Counters go on counting what was planned.
//! * A page that cannot be read is missing for the transaction that found out, which is planned anew without it. The page is
//!   written anew behind the request's back, as on other levels.
//! * Discards whose parity cannot be made are ignored.
//! * Beyond what the parities make up for, pages are counted as not read, not written or lost, as in rows of all members.
//!
//! * Without a replacement what a failed member held is rebuilt on the members that are free of its rows, as far as these have room. It
//!   stays failed, and is free of those rows from then on.
//!
//! Leaves out: copies of members that still work. Writes always take the fewest reads that `array.small_write` allows, whatever `array.degraded_writes` says.

use harmonia_types::{Bytes, DeviceId, Operation, ParityPages, Phase};

use super::hurt::{Hurt, Written};
use super::row::{Row, Way};
use super::stripe_map::{Slots, each};
use super::{FloatingPlanner, SWEEP};
use crate::planner::missing::Missing;
use crate::planner::{Answer, Kind, Plan, PlannedOperation, Restores, Rows, Transaction, View};

/// Where the slots of some rows were before a transaction was planned.
#[derive(Debug, Clone)]
pub(super) struct Before {
    /// Which transaction, as if it had been planned once.
    pub of: Transaction,
    pub places: Vec<u64>,
}

impl FloatingPlanner {
    /// Takes note of where a transaction finds its rows. If it is planned anew, they are put there again first.
    #[cold]
    pub(super) fn remember(&mut self, transaction: &Transaction) {
        let rows = transaction.rows;
        if let Some(place) = self.before.iter().position(|before| before.of.rows == rows) {
            let before = self.before.swap_remove(place);
            self.takes_back_return(&before.of, &before.places);
            self.map.put_back(rows, &before.places);
            self.left.take_back(rows);
        }
        let of = Transaction { attempt: 0, ..*transaction };
        self.before.push(Before { of, places: self.map.places(rows).to_vec() });
    }

    /// Where a transaction under way found its rows; nothing of others, which wait for the same rows.
    pub(super) fn take_before_of(&mut self, transaction: &Transaction) -> Option<Before> {
        let of = Transaction { attempt: 0, ..*transaction };
        let place = self.before.iter().position(|before| before.of == of)?;
        Some(self.before.swap_remove(place))
    }

    /// A transaction is done: what it has changed stays.
    pub(super) fn is_done(&mut self, transaction: &Transaction) {
        match transaction.kind {
            Kind::Resync => self.unsynced.are_written(transaction.rows),
            Kind::Tidy if transaction.tag == SWEEP => self.left.is_swept(),
            _ => {}
        }
        self.left.settle(transaction.rows);
        self.unreadable.forget(transaction.rows);
        self.forget_before(transaction.rows);
        self.counted.forget(transaction.rows);
    }

    fn forget_before(&mut self, rows: Rows) {
        if !self.before.is_empty() {
            self.before.retain(|before| before.of.rows != rows);
        }
    }

    /// A row, and what is missing of it; `None` if nothing of that matters. A free member that is missing, or holds nothing there yet,
    /// takes nothing.
    #[cold]
    pub(super) fn hurt(
        &self,
        row: u64,
        case: &mut Row,
        transaction: &Transaction,
        view: &View<'_>,
    ) -> Option<Hurt> {
        let of = |is: &dyn Fn(DeviceId) -> bool| {
            (0..self.members)
                .filter(|&slot| is(self.map.member(row, slot)))
                .fold(0, |slots, slot| slots | 1 << slot)
        };
        let (from, to) = (row * self.row, (row + 1) * self.row);
        let missing = Missing::of(transaction, view, &self.unreadable, None);
        let mut gone = of(&|member| missing.has(member, from, to));
        if self.unsynced.has(from, to) {
            let is_whole = gone & case.held == 0 && transaction.kind != Kind::Restore;
            match is_whole {
                true => gone |= case.parities,
                // Parity is relied on all the same, but not to go around who only collects.
                false => case.busy = 0,
            }
        }
        let refuses = of(&|member| !view.health.takes_writes(member));
        // Who is full takes nothing either, as long as it is free of the row.
        let refuses = refuses | u64::from(self.is_full(row)) << self.map.free();
        case.busy &= !refuses;
        let hurt = Hurt { row: *case, gone, refuses };
        if hurt.matters() {
            return Some(hurt);
        }
        case.busy |= (refuses | gone) & hurt.free();
        None
    }

    fn pages_of_row(&self) -> u64 {
        self.row.div_ceil(self.page)
    }

    fn pages(&self, slots: Slots) -> u64 {
        u64::from(slots.count_ones()) * self.pages_of_row()
    }

    /// Plans what may count losses; a new plan counts only what it loses besides.
    pub(super) fn counting(&mut self, transaction: &Transaction, plan: impl FnOnce(&mut Self)) {
        let before = self.losses;
        plan(self);
        self.counted.count(transaction, true, before, &mut self.losses);
    }

    /// Reads what a row that is written is made of, and takes note of what is written.
    fn remake(&mut self, row: u64, hurt: &Hurt, written: &Written, plan: &mut Plan) {
        for slot in each(written.reads) {
            self.push(self.on_slot(row, slot, Operation::Read, Phase::Parity), plan);
        }
        self.counters.pre_read_bytes += u64::from(written.reads.count_ones()) * self.row;
        self.own.waits_several += u64::from(written.waits);
        match written.moves {
            // Its member has nothing that could be left behind.
            Some(slot) if hurt.refuses >> slot & 1 == 1 => self.exchange(row, slot),
            Some(slot) => self.free_up(row, slot),
            None => {}
        }
        let units = (1 << self.map.units()) - 1;
        for slot in each(written.writes) {
            let phase = if units >> slot & 1 == 1 { Phase::Data } else { Phase::Parity };
            self.write_slot(row, slot, phase);
        }
    }

    /// Plans a row that is written.
    #[cold]
    pub(super) fn write_hurt(&mut self, row: u64, hurt: &Hurt, plan: &mut Plan) {
        let changed = hurt.row.changed;
        let Some(written) = hurt.written(self.small_write) else {
            self.losses.unwritten_pages += self.pages(changed);
            return;
        };
        match written.way {
            Some(Way::Modify) => self.counters.rows_read_modify_write += 1,
            Some(Way::Reconstruct) if written.reads == 0 => self.counters.rows_full += 1,
            Some(Way::Reconstruct) => self.counters.rows_reconstruct_write += 1,
            None => {}
        }
        self.losses.unwritten_pages += self.pages(written.lost);
        self.remake(row, hurt, &written, plan);
        self.map.write(row, self.map.written(row) | changed);
    }

    /// Plans parity without units that are discarded. Whether they are.
    #[cold]
    pub(super) fn discard_hurt(&mut self, row: u64, hurt: &Hurt, plan: &mut Plan) -> bool {
        let Some(written) = hurt.discarded(self.small_write) else {
            self.counters.trims_ignored_bytes += u64::from(hurt.row.changed.count_ones()) * self.row;
            return false;
        };
        self.remake(row, hurt, &written, plan);
        true
    }

    /// Plans what a transaction reads of a row.
    #[cold]
    pub(super) fn read_hurt(&mut self, row: u64, hurt: &Hurt, of: &Transaction, plan: &mut Plan) {
        let wanted = hurt.row.changed & hurt.row.held;
        let (slots, rebuilt) = hurt.read().unwrap_or_else(|| {
            self.losses.unread_pages += self.pages(wanted & hurt.gone);
            (wanted & !hurt.gone, 0)
        });
        let waits = slots & hurt.row.busy != 0;
        self.own.waits_several += u64::from(waits);
        self.reads.waited_pages += u64::from(waits);
        self.reads.rebuilt_pages += u64::from((rebuilt & !hurt.gone).count_ones());
        self.losses.rebuilt_pages += self.pages(rebuilt & hurt.gone);
        let extra = slots & !wanted;
        // Who goes around members that collect pays for it, unless something that is wanted is missing as well.
        if rebuilt & hurt.gone == 0 {
            self.reads.extra_pages += u64::from(extra.count_ones());
        } else {
            self.losses.extra_pages += self.pages(extra);
        }
        for slot in each(slots) {
            let phase = if rebuilt != 0 { Phase::Reconstruct } else { Phase::Data };
            let whole = self.on_slot(row, slot, Operation::Read, phase);
            let read = if rebuilt != 0 { whole } else { self.clipped(whole, row, slot, of) };
            self.push(read, plan);
        }
    }

    /// Plans to write what a replacement is to hold of some rows, and to discard what else it holds there. What a failed member held
    /// goes to the members that are free of the rows, if they take it.
    #[cold]
    pub(super) fn restore_rows(&mut self, of: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Some(member) = of.member else { return };
        let is_replaced = view.health.takes_writes(member);
        for row in of.rows.first..of.rows.end() {
            let mut case = self.row(row, 0, of, view);
            let Some(slot) = self.slot_on(row, member) else { continue };
            let is_held = case.held >> slot & 1 == 1;
            if is_replaced {
                self.left.is_written(member, row);
            }
            if !is_held {
                let free = self.map.member(row, self.map.free());
                if is_replaced {
                    let trim = PlannedOperation::data(member, Operation::Trim, row * self.row, self.row);
                    self.discards.push(trim);
                } else if self.map.room().is_none() && view.health.takes_writes(free) {
                    // When it is written, then not on a failed member.
                    self.map.free_up(row, slot);
                }
                continue;
            }
            let case_hurt = self.hurt(row, &mut case, of, view);
            let hurt = case_hurt.unwrap_or(Hurt { row: case, gone: 0, refuses: 0 });
            let Some(reads) = hurt.rebuilt(slot) else {
                self.losses.lost_pages += self.pages_of_row();
                continue;
            };
            if !is_replaced && hurt.free() & (hurt.refuses | hurt.gone) != 0 {
                continue;
            }
            for slot in each(reads) {
                self.push(self.on_slot(row, slot, Operation::Read, Phase::Reconstruct), plan);
            }
            if !is_replaced {
                self.map.free_up(row, slot);
                self.left.is_written(self.map.member(row, slot), row);
            }
            let is_parity = self.map.parities() >> slot & 1 == 1;
            let parity = if is_parity { ParityPages::ALL } else { ParityPages::NONE };
            let write = self.on_slot(row, slot, Operation::Write, Phase::Reconstruct);
            self.writes.push(PlannedOperation { parity, ..write });
        }
    }

    /// A member has failed, and a transaction has met that. What it has read is worth nothing now. What it was to write is lost if the
    /// parities do not make up for it.
    #[cold]
    pub(super) fn met_a_failure(
        &mut self,
        transaction: &Transaction,
        operation: &PlannedOperation,
        view: &View<'_>,
    ) -> Answer {
        match operation.operation {
            // What is left of it has been compared.
            Operation::Read if transaction.kind == Kind::Check => {}
            Operation::Read if transaction.rows.count > 0 => return Answer::Replan(transaction.rows),
            Operation::Write if transaction.kind != Kind::Restore => self.count_unwritten(operation, view),
            _ => {}
        }
        Answer::Patch
    }

    /// A member cannot read a page. A resync tries again: parity need not agree.
    #[cold]
    pub(super) fn met_unreadable(
        &mut self,
        transaction: &Transaction,
        operation: &PlannedOperation,
        patch: &mut Plan,
    ) -> Answer {
        match transaction.kind {
            Kind::Check => Answer::Patch,
            Kind::Resync => {
                patch.push(*operation);
                Answer::Patch
            }
            _ => {
                self.unreadable.note(transaction.rows, operation);
                Answer::Replan(transaction.rows)
            }
        }
    }

    /// Reads all that members hold of some rows.
    #[cold]
    pub(super) fn read_held(&mut self, rows: Rows, view: &View<'_>, plan: &mut Plan) {
        for row in rows.first..rows.end().min(self.map.rows()) {
            let (from, to) = (row * self.row, (row + 1) * self.row);
            for slot in each(self.map.held(row)) {
                if view.health.has(self.map.member(row, slot), from, to) {
                    self.push(self.on_slot(row, slot, Operation::Read, Phase::Reconstruct), plan);
                }
            }
        }
    }

    /// The rows of a range of all members.
    pub(super) fn rows_across(&self, offset: Bytes, length: Bytes) -> Rows {
        let (first, end) = (offset / self.row, (offset + length).div_ceil(self.row).min(self.map.rows()));
        Rows { first, count: end.saturating_sub(first) }
    }

    /// Counts what a failed member has not written, where nothing else says it.
    fn count_unwritten(&mut self, operation: &PlannedOperation, view: &View<'_>) {
        let PlannedOperation { device, offset, length, .. } = *operation;
        for row in offset / self.row..(offset + length).div_ceil(self.row) {
            let (from, to) = (row * self.row, (row + 1) * self.row);
            let member = |slot| self.map.member(row, slot);
            let is_unit = (0..self.map.units()).any(|slot| member(slot) == device);
            let gone = each(self.map.held(row)).filter(|&slot| !view.health.has(member(slot), from, to));
            if is_unit && gone.count() as u32 > self.map.parities().count_ones() {
                self.losses.unwritten_pages += self.pages_of_row();
            }
        }
    }
}

impl FloatingPlanner {
    /// The slot of a row that a member has.
    fn slot_on(&self, row: u64, member: DeviceId) -> Option<u16> {
        (0..self.members).find(|&slot| self.map.member(row, slot) == member)
    }
}

impl Restores for FloatingPlanner {
    fn missing(&self, member: DeviceId, offset: Bytes, length: Bytes) -> Option<Bytes> {
        let rows = self.rows_across(offset, length);
        // Of rows that have not been written as well: there may be no room for them when they are.
        let is_missing = |&row: &u64| self.map.member(row, self.map.free()) != member;
        Some((rows.first..rows.end()).filter(is_missing).count() as u64 * self.row)
    }

    fn restore(&self, member: DeviceId, offset: Bytes, length: Bytes) -> Option<Transaction> {
        let rows = self.rows_across(offset, length);
        let whole = Transaction::unlocked(Operation::Write, offset, length);
        let restore = Transaction { rows, member: Some(member), kind: Kind::Restore, ..whole };
        (rows.count > 0).then_some(restore)
    }

    fn check(&self, offset: Bytes, length: Bytes, _: bool) -> Option<Transaction> {
        // Every row is written under its lock, so that there is nothing to repair.
        let rows = self.rows_across(offset, length);
        let whole = Transaction::unlocked(Operation::Read, offset, length);
        (rows.count > 0).then_some(Transaction { rows, kind: Kind::Check, ..whole })
    }
}
