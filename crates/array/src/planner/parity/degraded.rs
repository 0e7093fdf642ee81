//! Rows of which something is missing: written, rebuilt, compared.
//!
//! ```text
//! unit      0      1      2      P          1 is missing, 0 is written:
//!        ┌──────┬──────┬──────┬──────┐
//!        │ read │      │      │ read │      read-modify-write does not need 1
//!        └──────┴──────┴──────┴──────┘
//!        ┌──────┬──────┬──────┬──────┐      1 is written whole:
//!        │ read │      │ read │      │      reconstruct-write; on 1 nothing is written, P makes up for it
//!        └──────┴──────┴──────┴──────┘
//!        ┌──────┬──────┬──────┬──────┐      1 is written in part:
//!        │ read │      │ read │ read │      neither works, everything is read
//!        └──────┴──────┴──────┴──────┘
//! ```
//!
//! A write makes its parity in one of these ways, the first two as always:
//!
//! * *read-modify-write* reads the units written and every parity that is to be written;
//! * *reconstruct-write* reads the units that are not written and those written in part;
//! * *everything* reads all data that is left, and as many parities as data units are missing, P before Q;
//! * *every member* reads all data and all parities that are left.
//!
//! The first two work where nothing that they read is missing, the last two as long as no more places of the row are missing than
//! the level has parities. Which of these ways is taken, `array.degraded_writes` says. By default it is md's choice:
//!
//! | missing of the row | written | way |
//! |---|---|---|
//! | parity only | anything | reconstruct-write, although some of the parity, or all of it, cannot be written |
//! | data that is not written, no more | anything | read-modify-write |
//! | data that is all written whole, parity or none | anything | reconstruct-write |
//! | data that is written in part, anything else | anything | every member |
//! | data that is not written, and parity or data that is written | anything | every member |
//!
//! Where a reconstruct-write is forced (`array.small_write = "reconstruct"`), the second row reads every member, too. Where a
//! read-modify-write is, it is taken where no parity is missing and no unit that is written. More is missing than the level survives: md fails
//! the write, and here the rule below holds.
//!
//! With `"fewest"` it is the way with the fewest reads of the first three. A tie goes to reconstruct-write, then to everything. A
//! preference for read-modify-write or reconstruct-write goes first where it works, and everything counts as a reconstruct-write.
//! Where all members of parity have failed, only pages that are written in part are read. So it reads less than md where parity is
//! missing, and on RAID-6 one unit less where everything is read.
//!
//! Where reads avoid members that collect, a way that waits less goes before all of this. Units and parities on failed members
//! are not written, on replacements they are. Where no way works, nothing of the row is written, and the pages are counted.
//!
//! Pages that turn out unreadable are missing for the transaction that found out (`missing`); what makes up for them is read besides.
//! So they cost more reads than if they had been known, as everything that the page needs is read again. Each page of a row is found
//! unreadable once on a member, and a member that failed is not read again: new plans come to an end.
//!
//! Rebuilding reads, row by row, the data that is left and as many parities as data units are missing. What cannot be rebuilt is
//! not written; a page that turns out to be lost while the step reads is written as zeros.
//!
//! Source: Linux md, drivers/md/raid5.c (`handle_stripe_dirtying`, `need_this_block`, `handle_failed_stripe`), as of Linux 6.1. Leaves
//! out: rows that are not in sync after a loss of power, of which md reads every member as well; an array that is both dirty and
//! degraded does not start here.

use harmonia_types::{Bytes, Counters, DeviceId, Operation, ParityPages, Phase};

use super::declustered::Walk;
use super::{Method, ParityPlanner, Piece, WITHOUT};
use crate::config::{DegradedWrites, SmallWrite};
use crate::layout::Unit;
use crate::planner::missing::Missing;
use crate::planner::{Answer, Kind, Plan, PlannedOperation, Planner, Refusal, Transaction, View, join};

/// How the parity of rows is made of which something is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// As in rows that are whole: none of what is read is missing.
    Usual(Method),
    /// All data that is left of the rows is read, and as many parities as data units are missing.
    Everything,
    /// The same with every parity that is left.
    EveryMember,
    /// No member takes parity: pages that are written in part are read.
    NoParity,
    /// Too much is missing.
    None,
}

impl ParityPlanner {
    /// A member has failed, or cannot read a page.
    #[cold]
    pub(super) fn on_missing(
        &mut self,
        transaction: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
        view: &View<'_>,
        patch: &mut Plan,
    ) -> Answer {
        let PlannedOperation { device, offset, length, .. } = *operation;
        let holds_rows = transaction.rows.count > 0;
        match (operation.operation, transaction.operation) {
            (Operation::Write, _) => {
                if transaction.kind != Kind::Restore {
                    self.count_unwritten(device, (offset, offset + length), view);
                }
                Answer::Patch
            }
            (Operation::Read, Operation::Write) if transaction.kind == Kind::Resync => {
                if refusal == Refusal::Failed {
                    return Answer::Replan(transaction.rows);
                }
                patch.push(*operation);
                Answer::Patch
            }
            (Operation::Read, _) if transaction.kind == Kind::Check => Answer::Patch,
            (Operation::Read, _) if self.around.is_none() && refusal != Refusal::Failed => Answer::Patch,
            (Operation::Read, Operation::Read) if !holds_rows => {
                Answer::Instead(Transaction { tag: WITHOUT, ..self.without(operation) })
            }
            // Also where a spare has what is read: it has taken the place of a member that failed while it was copied.
            (Operation::Read, _) if refusal == Refusal::Failed => Answer::Replan(transaction.rows),
            (Operation::Read, _) => {
                let before = self.losses;
                let answer = self.read_in_another_way(transaction, operation, view, patch);
                self.counted.count(transaction, false, before, &mut self.losses);
                answer
            }
            _ => Answer::Patch,
        }
    }

    /// Takes note of a page that could not be read, and reads what makes up for it.
    fn read_in_another_way(
        &mut self,
        transaction: &Transaction,
        operation: &PlannedOperation,
        view: &View<'_>,
        patch: &mut Plan,
    ) -> Answer {
        let PlannedOperation { offset, length, .. } = *operation;
        let range = (offset / self.page * self.page, (offset + length).div_ceil(self.page) * self.page);
        let pages = (range.1 - range.0) / self.page;
        let row = range.0 / self.unit;
        let Some(stripe) = self.layout.stripe_on(operation.device, row) else { return Answer::Patch };
        let piece = Piece { stripe, from: range.0, to: range.1 };
        let walk = self.walk_of(transaction, piece);
        self.begin_step();
        if transaction.operation == Operation::Read {
            let lost = |planner: &mut Self, plan: &mut Plan| {
                let (before, collecting) = (planner.losses, planner.read_counters());
                planner.read_range_around(transaction, walk, view, plan);
                if let Some(around) = &mut planner.around {
                    around.counters = collecting;
                }
                std::mem::replace(&mut planner.losses, before).since(&before)
            };
            // What has been counted for this page, and what is when the member is missing, too.
            let mut scratch = std::mem::take(&mut self.scratch);
            scratch.clear();
            let counted = lost(self, &mut scratch);
            self.scratch = scratch;
            self.unreadable.note(transaction.rows, operation);
            let now = lost(self, patch);
            self.losses.rebuilt_pages += now.rebuilt_pages.saturating_sub(counted.rebuilt_pages);
            self.losses.unread_pages += now.unread_pages.saturating_sub(counted.unread_pages);
            self.losses.extra_pages += now.extra_pages;
            if now.unread_pages > 0 {
                patch.clear();
            }
        } else if transaction.kind == Kind::Restore {
            let could = self.can_restore(transaction, piece, view);
            self.unreadable.note(transaction.rows, operation);
            if !self.read_to_restore(transaction, piece, view, patch) && could {
                self.losses.lost_pages += pages;
            }
        } else {
            self.unreadable.note(transaction.rows, operation);
            match self.way(transaction, piece, view) {
                // What was planned to be written cannot be.
                Way::None | Way::NoParity => return Answer::Replan(transaction.rows),
                way => self.read_for(transaction, (piece, way), view, patch),
            }
        }
        Answer::Patch
    }

    /// Plans a write of rows of one stripe of which something is missing, or may be.
    #[cold]
    pub(super) fn write_degraded(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let mut ways = std::mem::take(&mut self.ways);
        ways.clear();
        self.cut(transaction, view, |planner, piece| {
            ways.push((piece, planner.way(transaction, piece, view)));
        });
        self.begin_step();
        for &(piece, way) in &ways {
            let rows = (piece.to - piece.from).div_ceil(self.row);
            match way {
                Way::Usual(Method::ReadModifyWrite) => self.counters.rows_read_modify_write += rows,
                Way::Usual(Method::Reconstruct) | Way::Everything | Way::EveryMember => {
                    self.counters.rows_reconstruct_write += rows;
                }
                Way::Usual(Method::Full) | Way::NoParity | Way::None => {}
            }
            self.read_for(transaction, (piece, way), view, plan);
        }
        plan.barrier();
        self.begin_step();
        for &(piece, way) in &ways {
            self.write_piece(transaction, (piece, way), view, plan);
        }
        self.ways = ways;
    }

    /// Calls `visit` for the rows of a write in parts, in each of which the same is missing and the same units are written in
    /// part.
    pub(super) fn cut(
        &mut self,
        transaction: &Transaction,
        view: &View<'_>,
        mut visit: impl FnMut(&mut Self, Piece),
    ) {
        let Transaction { rows, offset, length, .. } = *transaction;
        let Piece { stripe, from, to } = self.piece_of(rows);
        let mut cuts = std::mem::take(&mut self.cuts);
        cuts.clear();
        cuts.extend([from, to]);
        // The first and the last byte of the request may lie in pages that are written in part.
        for byte in [offset, offset + length - 1] {
            let row = self.layout.row_of(stripe) * self.unit + byte % self.unit / self.row * self.row;
            cuts.extend([row, row + self.row]);
        }
        let missing = Missing::of(transaction, view, &self.unreadable, None);
        missing.cuts(self.whole.members(), (from, to), self.row, |cut| cuts.push(cut));
        cuts.retain(|cut| (from..=to).contains(cut));
        cuts.sort_unstable();
        cuts.dedup();
        for pair in cuts.windows(2) {
            visit(self, Piece { stripe, from: pair[0], to: pair[1] });
        }
        self.cuts = cuts;
    }

    /// How the parity of a piece of a write is made.
    fn way(&self, transaction: &Transaction, piece: Piece, view: &View<'_>) -> Way {
        let Piece { stripe, from, to } = piece;
        let missing = Missing::of(transaction, view, &self.unreadable, None);
        let mds = match self.dodge.degraded_writes {
            DegradedWrites::Md => self.way_of_md(transaction, piece, &missing),
            DegradedWrites::Fewest => None,
        };
        if mds.is_none() && !self.parity_members(stripe).any(|member| view.health.takes_at(member, from)) {
            return Way::NoParity;
        }
        let reads = |way| self.reads_of(transaction, (piece, way), view);
        let (modify, reconstruct) = (Way::Usual(Method::ReadModifyWrite), Way::Usual(Method::Reconstruct));
        let will_do = |way: &Way| match way {
            Way::Everything => self.parities_left(piece, &missing).count() >= self.data_gone(piece, &missing),
            way => !reads(*way).any(|member| missing.has(member, from, to)),
        };
        let rank = |way| match (mds, self.small_write) {
            (Some(mds), _) => u8::from(way != mds),
            (None, SmallWrite::Fewest) => 0,
            (None, SmallWrite::ReadModifyWrite) => u8::from(way != modify),
            (None, SmallWrite::Reconstruct) => u8::from(way != reconstruct) + u8::from(way == modify),
        };
        let wait = |way| {
            let left = |member| view.left(member, from, to - from);
            let waits = reads(way).filter_map(left).max();
            self.dodge.avoid().and(waits).unwrap_or_default()
        };
        let usual = [reconstruct, Way::Everything, modify].into_iter().filter(will_do);
        let ways = usual.chain(mds);
        ways.min_by_key(|&way| (wait(way), rank(way), reads(way).count())).unwrap_or(Way::None)
    }

    /// The way that md takes; `None` where more is missing than the level survives, which md does not write.
    fn way_of_md(&self, transaction: &Transaction, piece: Piece, missing: &Missing<'_>) -> Option<Way> {
        let Transaction { units: (first, last), .. } = *transaction;
        let Piece { stripe, from, to } = piece;
        let is_written = |unit: u16| (first..=last).contains(&unit);
        let is_partial = |unit: u16| is_written(unit) && self.is_partial_in(transaction, piece, unit);
        let gone = || {
            let units = 0..self.data_units;
            units.filter(|&unit| missing.has(self.layout.data_member(stripe, unit), from, to))
        };
        let data = gone().count();
        let parities = usize::from(self.parities) - self.parities_left(piece, missing).count();
        if data + parities > usize::from(self.parities) {
            return None;
        }
        let is_kept = gone().any(|unit| !is_written(unit));
        let can_modify = parities == 0 && !gone().any(is_written);
        let may_modify = match self.small_write {
            SmallWrite::Fewest | SmallWrite::ReadModifyWrite => can_modify,
            SmallWrite::Reconstruct => false,
        };
        if gone().any(is_partial) || (is_kept && !may_modify) {
            return Some(Way::EveryMember);
        }
        let (written, partial) = (last - first + 1, (first..=last).filter(|&unit| is_partial(unit)).count());
        let method = match self.method(written, partial as u16) {
            _ if is_kept => Method::ReadModifyWrite,
            _ if !can_modify => Method::Reconstruct,
            method => method,
        };
        Some(Way::Usual(method))
    }

    /// The members whose rows a write reads first.
    pub(super) fn reads_of<'a>(
        &'a self,
        transaction: &'a Transaction,
        (piece, way): (Piece, Way),
        view: &'a View<'_>,
    ) -> impl Iterator<Item = DeviceId> + 'a {
        let Transaction { units: (first, last), .. } = *transaction;
        let Piece { stripe, from, to } = piece;
        let missing = Missing::of(transaction, view, &self.unreadable, None);
        let is_gone = move |member: DeviceId| missing.has(member, from, to);
        let is_read = move |unit: u16| {
            let is_written = (first..=last).contains(&unit);
            let is_partial = || is_written && self.is_partial_in(transaction, piece, unit);
            let member = self.layout.data_member(stripe, unit);
            match way {
                Way::Usual(Method::ReadModifyWrite) => is_written,
                Way::Usual(Method::Reconstruct) => !is_written || is_partial(),
                Way::Everything | Way::EveryMember => !is_gone(member),
                Way::NoParity => is_partial() && view.health.takes_at(member, from) && !is_gone(member),
                Way::Usual(Method::Full) | Way::None => false,
            }
        };
        let data = (0..self.data_units).filter(move |&unit| is_read(unit));
        let data = data.map(move |unit| self.layout.data_member(stripe, unit));
        let is_modify = way == Way::Usual(Method::ReadModifyWrite);
        let old = self
            .parity_members(stripe)
            .filter(move |&member| is_modify && view.health.takes_at(member, from));
        let needed = match way {
            Way::Everything => self.data_gone(piece, &missing),
            Way::EveryMember => usize::from(self.parities),
            _ => 0,
        };
        let others = self.parity_members(stripe).filter(move |&member| !is_gone(member)).take(needed);
        data.chain(old).chain(others)
    }

    /// Pushes what a piece of a write reads first.
    fn read_for(
        &mut self,
        transaction: &Transaction,
        (piece, way): (Piece, Way),
        view: &View<'_>,
        plan: &mut Plan,
    ) {
        let mut last = std::mem::take(&mut self.last);
        let mut reads = 0;
        for member in self.reads_of(transaction, (piece, way), view) {
            reads += 1;
            let operation = self.of_piece(piece, member, Operation::Read, Unit::P);
            join(&mut last, operation, plan);
        }
        self.last = last;
        self.counters.pre_read_bytes += reads * (piece.to - piece.from);
    }

    /// Pushes what a piece of a write writes, and counts what no member takes.
    fn write_piece(
        &mut self,
        transaction: &Transaction,
        (piece, way): (Piece, Way),
        view: &View<'_>,
        plan: &mut Plan,
    ) {
        let Piece { stripe, from, to } = piece;
        let pages = (to - from).div_ceil(self.page);
        let mut last = std::mem::take(&mut self.last);
        for unit in transaction.units.0..=transaction.units.1 {
            let member = self.layout.data_member(stripe, unit);
            let missing = Missing::of(transaction, view, &self.unreadable, None);
            // The rest of a page that is written in part would have to be read.
            let is_cut = way == Way::NoParity
                && missing.has(member, from, to)
                && self.is_partial_in(transaction, piece, unit);
            if way == Way::None || (is_cut && view.health.takes_at(member, from)) {
                self.losses.unwritten_pages += pages;
            } else if view.health.takes_at(member, from) {
                join(&mut last, self.of_piece(piece, member, Operation::Write, Unit::Data(unit)), plan);
            } else {
                self.count_unwritten(member, (from, to), view);
            }
        }
        for member in self.parity_members(stripe) {
            if way != Way::None && view.health.takes_at(member, from) {
                join(&mut last, self.of_piece(piece, member, Operation::Write, Unit::P), plan);
            }
        }
        self.last = last;
    }

    /// An operation of a write on a piece of a member that holds this unit, or is touched for its sake.
    pub(super) fn of_piece(
        &self,
        piece: Piece,
        member: DeviceId,
        operation: Operation,
        unit: Unit,
    ) -> PlannedOperation {
        let (phase, parity) = match unit {
            Unit::Data(_) => (Phase::Data, ParityPages::NONE),
            Unit::P | Unit::Q | Unit::None => (Phase::Parity, ParityPages::ALL),
        };
        let fast_fail = self.dodge.parks && operation == Operation::Write;
        let data = PlannedOperation::data(member, operation, piece.from, piece.to - piece.from);
        PlannedOperation { phase, parity, fast_fail, ..data }
    }

    /// Counts data of a range of a failed member that was to be written, where the rest of its row does not make up for it.
    fn count_unwritten(&mut self, member: DeviceId, (from, end): (Bytes, Bytes), view: &View<'_>) {
        let mut walk = Walk::Member(member, from, end);
        while let Some(Piece { stripe, from, to }) = walk.next(&self.layout, self.unit) {
            let members = (0..self.whole.members()).map(DeviceId);
            let members =
                members.filter(|&member| self.layout.stripe_on(member, from / self.unit) == Some(stripe));
            let gone = members.filter(|&member| !view.health.has(member, from, to)).count();
            let is_data = matches!(self.layout.unit_on(stripe, member), Unit::Data(_));
            if is_data && gone > usize::from(self.parities) {
                self.losses.unwritten_pages += (to - from).div_ceil(self.page);
            }
        }
    }

    /// Plans to write what a member is to hold, from the others.
    #[cold]
    pub(super) fn restore_range(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Transaction { offset, length, member: Some(target), .. } = *transaction else { return };
        if !view.health.takes_writes(target) {
            return;
        }
        // What can be written, in ranges as long as can be.
        let mut built: Vec<(DeviceId, Bytes, Bytes)> = Vec::new();
        let mut cuts = std::mem::take(&mut self.cuts);
        self.begin_step();
        let (mut next, end) = (offset, offset + length);
        while next < end {
            let (from, row) = (next, next / self.unit);
            let to = ((row + 1) * self.unit).min(end);
            next = to;
            // In spare space it may hold what another member was to.
            let holder = view.health.role(target, row).filter(|&holder| view.health.takes_at(holder, from));
            let held = holder.and_then(|holder| Some((holder, self.layout.stripe_on(holder, row)?)));
            let Some((holder, stripe)) = held else { continue };
            cuts.clear();
            cuts.extend([from, to]);
            let missing = Missing::of(transaction, view, &self.unreadable, Some(target));
            missing.cuts(self.whole.members(), (from, to), self.row, |cut| cuts.push(cut));
            cuts.sort_unstable();
            cuts.dedup();
            for pair in cuts.windows(2) {
                let piece = Piece { stripe, from: pair[0], to: pair[1] };
                if !self.read_to_restore(transaction, piece, view, plan) {
                    self.losses.lost_pages += (piece.to - piece.from).div_ceil(self.page);
                    continue;
                }
                let is_cut = piece.from.is_multiple_of(self.unit) && self.layout.declustered().is_some();
                match built.last_mut() {
                    Some(last) if last.2 == piece.from && !is_cut => last.2 = piece.to,
                    _ => built.push((holder, piece.from, piece.to)),
                }
            }
        }
        self.cuts = cuts;
        plan.barrier();
        for (holder, from, to) in built {
            let parity = self.whole.parity_pages(holder, from, to - from);
            let data = PlannedOperation::data(holder, Operation::Write, from, to - from);
            plan.push(PlannedOperation { parity, phase: Phase::Reconstruct, ..data });
        }
    }

    /// Whether a piece of a member can be rebuilt from the others.
    fn can_restore(&self, transaction: &Transaction, piece: Piece, view: &View<'_>) -> bool {
        let missing = Missing::of(transaction, view, &self.unreadable, transaction.member);
        self.parities_left(piece, &missing).count() >= self.data_gone(piece, &missing)
    }

    /// Pushes what rebuilds a piece of a member; `false` if it cannot be rebuilt.
    fn read_to_restore(
        &mut self,
        transaction: &Transaction,
        piece: Piece,
        view: &View<'_>,
        plan: &mut Plan,
    ) -> bool {
        if !self.can_restore(transaction, piece, view) {
            return false;
        }
        let Piece { stripe, from, to } = piece;
        let missing = Missing::of(transaction, view, &self.unreadable, transaction.member);
        let needed = self.data_gone(piece, &missing);
        let mut last = std::mem::take(&mut self.last);
        let data = (0..self.data_units).map(|unit| self.layout.data_member(stripe, unit));
        let data = data.filter(|&member| !missing.has(member, from, to));
        for member in data.chain(self.parities_left(piece, &missing).take(needed)) {
            let read = PlannedOperation::data(member, Operation::Read, from, to - from);
            join(&mut last, PlannedOperation { phase: Phase::Reconstruct, ..read }, plan);
        }
        self.last = last;
        true
    }

    /// Plans to read all that members hold of a range.
    #[cold]
    pub(super) fn read_all(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Transaction { offset, length, .. } = *transaction;
        if self.layout.declustered().is_some() {
            return self.read_all_declustered((offset, length), view, plan);
        }
        for member in (0..self.whole.members()).map(DeviceId) {
            if view.health.holds(member, offset + length) {
                let read = PlannedOperation::data(member, Operation::Read, offset, length);
                plan.push(PlannedOperation { phase: Phase::Reconstruct, ..read });
            }
        }
    }

    /// Data units of a piece that are missing.
    fn data_gone(&self, piece: Piece, missing: &Missing<'_>) -> usize {
        let data = (0..self.data_units).map(|unit| self.layout.data_member(piece.stripe, unit));
        data.filter(|&member| missing.has(member, piece.from, piece.to)).count()
    }

    /// The members of parities of a piece that are not missing.
    fn parities_left<'a>(
        &'a self,
        piece: Piece,
        missing: &'a Missing<'_>,
    ) -> impl Iterator<Item = DeviceId> + 'a {
        let is_left = move |member: &DeviceId| !missing.has(*member, piece.from, piece.to);
        self.parity_members(piece.stripe).filter(is_left)
    }

    /// The members of P and Q.
    pub(super) fn parity_members(&self, stripe: u64) -> impl Iterator<Item = DeviceId> + use<> {
        [Some(self.layout.p_member(stripe)), self.layout.q_member(stripe)].into_iter().flatten()
    }

    pub(super) fn begin_step(&mut self) {
        self.last.clear();
        self.last.resize(usize::from(self.whole.members()), u32::MAX);
    }
}
