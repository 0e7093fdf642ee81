//! What failures may have cost: which members hold what, and which rows the parity says nothing about any more.
//!
//! A place is *missing* while its member has failed, or is being built and has not been built up to there. While no more
//! places of a row are missing than redundancy allows, nothing is lost. Otherwise the row is *broken* for good: its
//! parity is not trusted again, and each of its data places is lost that is missing then or later. `truth` says what a
//! lost sector may hold, and when it is sound again.
//!
//! The rule is stricter than an array needs to be on one side only: a row that is written as a whole is sound again, and
//! stays broken here.

use harmonia_array::Condition;
use harmonia_array::layout::{Declustered, Held, Layout};
use harmonia_types::DeviceId;

use super::content::SECTOR;

/// Members by bit.
pub type Members = u64;

/// What the members hold.
pub struct Damage {
    conditions: Vec<Condition>,
    /// By the number a device was made with: the member it is.
    members: Vec<Option<DeviceId>>,
    next_spare: usize,
    /// Devices that are members and do not fail with them: spares that members are copied to, by member, and devices that
    /// have retired and still answer.
    copies: Vec<(DeviceId, usize)>,
    retired: Vec<usize>,
    page_sectors: u64,
    /// Places of a row, or copies of a page, that can be missing.
    redundancy: usize,
    /// By line.
    broken: Vec<bool>,
    layout: Layout,
    /// By member: the distributed spare that it has taken; and who has, in order.
    taken: Vec<Option<u16>>,
    takers: Vec<DeviceId>,
}

impl Damage {
    /// Whole members with spares behind them.
    pub fn new(
        members: u16,
        spares: usize,
        page_sectors: u64,
        redundancy: usize,
        (layout, lines): (Layout, u64),
    ) -> Self {
        let in_place = (0..members).map(|member| Some(DeviceId(member)));
        Damage {
            conditions: vec![Condition::Whole; usize::from(members)],
            members: in_place.chain((0..spares).map(|_| None)).collect(),
            next_spare: usize::from(members),
            copies: Vec::new(),
            retired: Vec::new(),
            page_sectors,
            redundancy,
            broken: vec![false; lines as usize],
            layout,
            taken: vec![None; usize::from(members)],
            takers: Vec::new(),
        }
    }

    /// A journal behind the spares, which is as a member behind the others.
    pub fn with_journal(mut self) -> Self {
        self.members.push(Some(DeviceId(self.conditions.len() as u16)));
        self
    }

    /// The member that a device is; none for a spare that waits and for one that has failed.
    pub fn member_of(&self, number: DeviceId) -> Option<DeviceId> {
        self.members[number.index()]
    }

    /// The next spare takes what a member takes.
    pub fn begin_copy(&mut self, member: DeviceId) {
        self.copies.push((member, self.next_spare));
        self.members[self.next_spare] = Some(member);
        self.next_spare += 1;
    }

    /// The spare is the member; the old device goes on as long as it has something to answer, if it has not failed.
    pub fn end_copy(&mut self, member: DeviceId, has_failed: bool) {
        let spare = self.copies.iter().position(|copy| copy.0 == member).expect("it is copied");
        let (_, spare) = self.copies.swap_remove(spare);
        let old = self.in_place(member).find(|&number| number != spare).expect("it was a member");
        if has_failed {
            self.members[old] = None;
        } else {
            self.retired.push(old);
        }
    }

    /// Devices that are a member, but for those that are none any more or yet.
    fn in_place(&self, member: DeviceId) -> impl Iterator<Item = usize> + '_ {
        let numbers = (0..self.members.len()).filter(move |&number| self.members[number] == Some(member));
        numbers.filter(|number| !self.retired.contains(number))
    }

    /// A member holds more or less than before; whether it is less.
    pub fn set(&mut self, member: DeviceId, condition: Condition) -> bool {
        let before = std::mem::replace(&mut self.conditions[member.index()], condition);
        match (before, condition) {
            (_, Condition::Failed) => {
                let number = self.in_place(member).next().expect("a member fails once");
                self.members[number] = None;
            }
            (Condition::Failed, _) if self.layout.level().distributed_spares() > 0 => {
                self.taken[member.index()] = Some(self.takers.len() as u16);
                self.takers.push(member);
            }
            (Condition::Failed, _) => {
                self.members[self.next_spare] = Some(member);
                self.next_spare += 1;
            }
            (Condition::Partial(built), Condition::Partial(more)) => {
                assert!(more >= built, "member {} was built up to {built}, now to {more}", member.0);
            }
            _ => {}
        }
        condition == Condition::Failed || before == Condition::Whole
    }

    fn table(&self) -> Option<(&Declustered, u64)> {
        let Layout::Parity(parity) = &self.layout else { return None };
        Some((parity.declustered()?, self.layout.stripe_unit() / SECTOR))
    }

    /// Who stands in for a member at a sector, if anybody does.
    fn next(&self, member: DeviceId, sector: u64) -> Option<DeviceId> {
        let spare = (*self.taken.get(member.index())?)?;
        let (table, unit) = self.table()?;
        Some(table.spare(sector / unit, spare)).filter(|&next| next != member)
    }

    /// The member that is to be found at a place of a member: itself, or who stands in for it there.
    pub fn place(&self, mut member: DeviceId, sector: u64) -> DeviceId {
        for _ in 0..=self.takers.len() {
            let Some(next) = self.next(member, sector) else { break };
            member = next;
        }
        member
    }

    /// Whose sector lies on a member: its own, or that of one it stands in for; `None` for spare space.
    pub fn role(&self, mut member: DeviceId, sector: u64) -> Option<DeviceId> {
        let Some((table, unit)) = self.table() else { return Some(member) };
        for _ in 0..=self.takers.len() {
            match table.held(sector / unit, member) {
                Held::Unit(..) => return Some(member),
                Held::Spare(spare) => member = *self.takers.get(usize::from(spare))?,
            }
        }
        None
    }

    /// A member, and with it those that stand in for it at a sector.
    pub fn with_stand_ins(&self, member: DeviceId, sector: u64) -> Members {
        let all = std::iter::successors(Some(member), |&member| self.next(member, sector));
        all.take(self.takers.len() + 1).fold(0, |all, member| all | 1 << member.0)
    }

    /// Whether a member holds a sector, or those who stand in for it do.
    pub fn holds(&self, member: DeviceId, sector: u64) -> bool {
        self.holds_itself(member, sector)
            && self.next(member, sector).is_none_or(|next| self.holds(next, sector))
    }

    fn holds_itself(&self, member: DeviceId, sector: u64) -> bool {
        match self.conditions[member.index()] {
            Condition::Whole => true,
            Condition::Failed => false,
            Condition::Partial(built) => {
                (sector / self.page_sectors + 1) * self.page_sectors * SECTOR <= built
            }
        }
    }

    pub fn has_failed(&self, member: DeviceId) -> bool {
        self.conditions[member.index()] == Condition::Failed
    }

    /// Members that are not whole.
    pub fn ailing(&self) -> Members {
        let ails = |&member: &usize| self.conditions[member] != Condition::Whole;
        (0..self.conditions.len()).filter(ails).map(|member| 1 << member).sum()
    }

    /// Whether so many places of a row can be missing without loss.
    pub fn allows(&self, gone: Members) -> bool {
        gone.count_ones() as usize <= self.redundancy
    }

    pub fn is_broken(&self, line: u64) -> bool {
        self.broken[line as usize]
    }

    /// The row at this line is broken.
    pub fn breaks(&mut self, line: u64) {
        self.broken[line as usize] = true;
    }

    pub fn lines(&self) -> u64 {
        self.broken.len() as u64
    }
}
