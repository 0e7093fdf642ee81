//! The most page operations that GAFTL promises for a read or a write of a row, and whether plans keep to it.
//!
//! A stripe has `u` units and `p` parities, of which `w` units are written or `r` are read. One member collects, or none:
//!
//! | it holds | a read | a write: reads | writes |
//! |---|---|---|---|
//! | nothing that matters | `r` | `u - w` | `w + p` |
//! | a unit that is read, or something that is written | `u` | `u - w` | `w + p`, in rows `w + 2 p` |
//! | a unit that is not written | - | `w + p` | `w + p` |
//!
//! Floating stripes of RAID-6 take one read less than the last line has where all but that unit are written.
//!
//! Algorithm 5 reads all that is left of a stripe: the `u - 1` other units and parity. Algorithm 1 reads the units that are not
//! written. Where a stripe leaves a member free, what is in the way is one page there (figures 5 and 6). In rows of all members it
//! is a random write of its own, with parity for itself (figure 7). Where a unit cannot be read that parity is made of, the paper
//! is silent, and read-modify-write does without it. A whole stripe that is forced takes its parities twice (figure 8).
//!
//! The promise holds
//!
//! * while at most one member of a row collects, which is the states S and P (section IV), and all members are whole;
//! * for whole pages, which is what the paper's requests and stripes are made of;
//! * where a page is free for what is in the way;
//! * where small writes do not always read old data and parity (`array.small_write`): Algorithm 1 does not.
//!
//! The rule does not know how plans are made. It is held against what they have when they are done, by [`Bounds::judge`].
//!
//! Source: IEEE Access 2019 (McEwan and Komsul), Algorithms 1 to 5 and section IV: no instruction waits for collection, and each
//! costs a read or a write at most (Table 2, of which the text that we have lacks the cells). That bound is of a page operation
//! once it is served. Here it is counted how many of them there are. Whether they wait for collection is measured as for all
//! requests. For RAID-6, which the paper does not have, the rule is the same with two parities. Leaves out: discards, homecoming and
//! parity that returns, which no request waits for, and what members refuse.

use harmonia_types::{BoundCounters, Bytes, Operation};

use crate::config::SmallWrite;
use crate::planner::{Kind, Plan, Transaction};

/// Page operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Pages {
    reads: u64,
    writes: u64,
}

/// What the member that collects holds of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InTheWay {
    /// Nothing that matters.
    Nothing,
    /// A unit that is read, or a unit or parity that is written.
    Wanted,
    /// A unit that is not written.
    Other,
}

/// What is done with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    /// Units that are read or written.
    pub wanted: u64,
    /// Others that hold something.
    pub others: u64,
    pub in_the_way: InTheWay,
}

/// What stripes are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stripes {
    pub parities: u64,
    /// Pages that something in the way costs besides itself.
    pub extra: u64,
    /// Whole stripes are written as two random writes.
    pub forces: bool,
}

impl Stripes {
    fn read(self, row: Row) -> Pages {
        let reads = match row.in_the_way {
            InTheWay::Wanted => row.wanted + row.others,
            InTheWay::Nothing | InTheWay::Other => row.wanted,
        };
        Pages { reads, writes: 0 }
    }

    fn written(self, row: Row) -> Pages {
        let Stripes { parities, extra, forces } = self;
        let usual = Pages { reads: row.others, writes: row.wanted + parities };
        match row.in_the_way {
            InTheWay::Nothing if forces && row.others == 0 => {
                Pages { writes: usual.writes + parities, ..usual }
            }
            InTheWay::Nothing => usual,
            InTheWay::Wanted => Pages { writes: usual.writes + extra, ..usual },
            InTheWay::Other => Pages { reads: usual.writes, ..usual },
        }
    }
}

/// Holds plans against the rule.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    stripes: Stripes,
    /// Bytes of a page of a stripe.
    row: Bytes,
    /// Whether the scheme promises anything for the plan being made.
    is_promised: bool,
    /// Whether it promises anything at all.
    promises: bool,
    /// What it promises for the rows planned so far.
    promised: Pages,
    counters: BoundCounters,
}

impl Bounds {
    pub fn new(stripes: Stripes, row: Bytes, small_write: SmallWrite) -> Self {
        let promises = small_write != SmallWrite::ReadModifyWrite;
        let (promised, counters) = (Pages::default(), BoundCounters::default());
        Bounds { stripes, row, is_promised: false, promises, promised, counters }
    }

    /// With stripes that may be forced.
    pub fn forcing(self, forces: bool) -> Self {
        Bounds { stripes: Stripes { forces, ..self.stripes }, ..self }
    }

    pub fn counters(&self) -> BoundCounters {
        self.counters
    }

    /// A plan is begun. Nothing is promised of what no request waits for, nor of parts of pages.
    pub fn begin(&mut self, of: &Transaction) {
        let is_asked = matches!(of.kind, Kind::Plain | Kind::Partial | Kind::Around) && of.member.is_none();
        let is_whole = of.offset.is_multiple_of(self.row) && of.length.is_multiple_of(self.row);
        let is_known = matches!(of.operation, Operation::Read | Operation::Write) && of.length > 0;
        self.is_promised = self.promises && is_asked && is_whole && is_known && of.attempt == 0;
        self.promised = Pages::default();
    }

    /// The condition does not hold for the plan being made.
    pub fn gives_up(&mut self) {
        self.is_promised = false;
    }

    /// Whether the plan being made may be held to anything.
    pub fn is_asked(&self) -> bool {
        self.is_promised
    }

    /// Of the plan being made, so many rows are read.
    pub fn reads(&mut self, row: Row, count: u64) {
        self.adds(self.stripes.read(row), count);
    }

    /// Of the plan being made, so many rows are written.
    pub fn writes(&mut self, row: Row, count: u64) {
        self.adds(self.stripes.written(row), count);
    }

    fn adds(&mut self, Pages { reads, writes }: Pages, count: u64) {
        self.promised.reads += reads * count;
        self.promised.writes += writes * count;
    }

    /// The plan is made.
    pub fn judge(&mut self, of: &Transaction, plan: &Plan) {
        if !self.is_promised {
            return;
        }
        let taken = self.taken(plan);
        let Bounds { promised, counters, .. } = self;
        counters.promised += 1;
        counters.reached += u64::from(taken == *promised);
        counters.exceeded += u64::from(taken.reads > promised.reads || taken.writes > promised.writes);
        if of.rows.count > 0 {
            let of_row = (taken.reads + taken.writes).div_ceil(of.rows.count);
            let most = match of.operation {
                Operation::Read => &mut counters.most_pages_of_read,
                _ => &mut counters.most_pages_of_write,
            };
            *most = of_row.max(*most);
        }
    }

    /// Page operations of a plan.
    fn taken(&self, plan: &Plan) -> Pages {
        let mut taken = Pages::default();
        for operation in plan.operations() {
            let end = operation.offset + operation.length;
            let pages = end.div_ceil(self.row) - operation.offset / self.row;
            match operation.operation {
                Operation::Read => taken.reads += pages,
                Operation::Write => taken.writes += pages,
                Operation::Trim | Operation::Flush => {}
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::{PlannedOperation, Rows};
    use harmonia_types::DeviceId;

    const PAGE: Bytes = 4096;

    /// Five members. In rows a stripe has four units, else three.
    #[test]
    fn the_paper_s_figures_are_within_the_rule() {
        let rows = Stripes { parities: 1, extra: 1, forces: false };
        let floating = Stripes { extra: 0, ..rows };
        let row = |wanted, others, in_the_way| Row { wanted, others, in_the_way };
        // Figure 9: X3 is read from X1, X2, X4 and XP.
        assert_eq!(rows.read(row(1, 3, InTheWay::Wanted)), Pages { reads: 4, writes: 0 });
        // Figure 6: X1 and X2 are written to a stripe of three units, X3 is read.
        let partial = floating.written(row(2, 1, InTheWay::Wanted));
        assert_eq!(partial, Pages { reads: 1, writes: 3 });
        // Figure 7: the same of a full stripe takes one more write.
        let full = rows.written(row(2, 2, InTheWay::Wanted));
        assert_eq!(full, Pages { reads: 2, writes: 4 });
        // Figure 8c: a whole stripe that is forced writes parity twice.
        let forced = Stripes { forces: true, ..rows }.written(row(4, 0, InTheWay::Nothing));
        assert_eq!(forced, Pages { reads: 0, writes: 6 });
        assert_eq!(rows.written(row(4, 0, InTheWay::Nothing)), Pages { reads: 0, writes: 5 });
    }

    /// One read more is beyond it, one less within; parts of pages, discards and work of nobody are not judged.
    #[test]
    fn a_plan_is_held_to_the_rule_exactly() {
        let stripes = Stripes { parities: 1, extra: 0, forces: false };
        let mut bounds = Bounds::new(stripes, PAGE, SmallWrite::Fewest);
        let write = Transaction::unlocked(Operation::Write, 0, PAGE);
        let write = Transaction { rows: Rows { first: 0, count: 1 }, ..write };
        let mut judge = |of: &Transaction, reads: u16| {
            let mut plan = Plan::default();
            for member in 0..reads {
                plan.push(PlannedOperation::data(DeviceId(member), Operation::Read, 0, PAGE));
            }
            plan.barrier();
            (0..2).for_each(|member| {
                plan.push(PlannedOperation::data(DeviceId(member), Operation::Write, 0, PAGE));
            });
            bounds.begin(of);
            bounds.writes(Row { wanted: 1, others: 2, in_the_way: InTheWay::Nothing }, 1);
            bounds.judge(of, &plan);
            let BoundCounters { promised, reached, exceeded, .. } = bounds.counters();
            (promised, reached, exceeded, bounds.counters().most_pages_of_write)
        };
        assert_eq!(judge(&write, 1), (1, 0, 0, 3));
        assert_eq!(judge(&write, 2), (2, 1, 0, 4));
        assert_eq!(judge(&write, 3), (3, 1, 1, 5));
        for of in [
            Transaction { length: 512, ..write },
            Transaction { offset: 512, ..write },
            Transaction { kind: Kind::Tidy, ..write },
            Transaction { attempt: 1, ..write },
            Transaction { operation: Operation::Trim, ..write },
            Transaction { length: 0, ..write },
        ] {
            assert_eq!(judge(&of, 9), (3, 1, 1, 5), "{of:?}");
        }
        let mut bounds = Bounds::new(stripes, PAGE, SmallWrite::ReadModifyWrite);
        bounds.begin(&write);
        assert!(!bounds.is_asked(), "Algorithm 1 does not read old data");
    }
}
