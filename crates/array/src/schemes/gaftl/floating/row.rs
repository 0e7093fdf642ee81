//! How a row is written or discarded: what is read for its parity, and which of its slots moves to the free member.
//!
//! A function of sets of slots, which knows neither members nor operations. A row has `u` units, all of which have been written, and
//! `p` parities: one on RAID-5, two on RAID-6. `w` of the units are written whole. One member collects at a time:
//!
//! | it holds | small writes reconstruct | they read the fewest | writes |
//! |---|---|---|---|
//! | nothing of the row | `u - w` reads | the fewer of `u - w` and `w + p` | `w + p` |
//! | a unit that is written, or a parity | `u - w` | `u - w` | `w + p`, one of them on the free member |
//! | a unit that is not written | the fewer of `w + p` and `u` | the same | `w + p` |
//!
//! In the last line `w + p` are the old units and the parities, for a read-modify-write. `u` are all other units and P, which say
//! what the unit in the way holds. That is fewer only on RAID-6, where all other units are written. With `array.small_write = "read-modify-write"` the last
//! line is always `w + p`.
//!
//! Units that have never been written are zeros, are in no parity and are not read: with fewer units the row is as one of an array
//! with so many members fewer. A unit that is written in part is read as well; if its member collects, the other units and a parity say
//! what it held.
//!
//! On RAID-6 two members of a row may collect, and P and Q say what both hold. One of both may be written, because one member is
//! free. A row waits if more of its members collect than it has parities, if two of them are to be written, or if one is and the
//! free member collects, too.

use super::stripe_map::{Slots, without_first};
use crate::config::SmallWrite;

/// A row, and what becomes of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// Slots that hold something: units that have been written, and the parities if there are any.
    pub held: Slots,
    /// The slots of parity, above those of units.
    pub parities: Slots,
    /// Units that are written, or discarded.
    pub changed: Slots,
    /// Those that are written in part.
    pub cut: Slots,
    /// Slots whose members collect; the free one is the one above the parities.
    pub busy: Slots,
}

/// How parity is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// From what changes, as it was, and parity.
    Modify,
    /// From the units that do not change.
    Reconstruct,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decision {
    pub way: Way,
    /// Slots that are read.
    pub reads: Slots,
    /// The slot that moves to the free member.
    pub moves: Option<u16>,
    /// Something is in the way that cannot be gone around.
    pub waits: bool,
}

/// Whether there are more slots in a set than in another one.
fn are_more(mut slots: Slots, mut others: Slots) -> bool {
    while slots != 0 && others != 0 {
        (slots, others) = (without_first(slots), without_first(others));
    }
    slots != 0
}

impl Row {
    /// Units that have been written.
    fn units(&self) -> Slots {
        self.held & !self.parities
    }

    fn is_free_busy(&self) -> bool {
        self.busy & !self.parities & (self.parities << 1) != 0
    }

    /// What a read-modify-write reads: the units that change, as they were, and parity.
    fn modify(&self) -> Slots {
        self.held & (self.changed | self.parities)
    }

    /// What a reconstruct-write reads: the units that stay, and those that are written in part.
    fn reconstruct(&self) -> Slots {
        self.units() & (!self.changed | self.cut)
    }

    /// What says all units where some members collect: the others, and a parity for each unit that cannot be read. `None` if there are
    /// too few of these.
    pub fn all(&self) -> Option<Slots> {
        let mut reads = self.units() & !self.busy;
        let mut unknown = self.units() & self.busy;
        let mut parities = self.held & self.parities & !self.busy;
        while unknown != 0 {
            if parities == 0 {
                return None;
            }
            reads |= parities & !without_first(parities);
            (unknown, parities) = (without_first(unknown), without_first(parities));
        }
        Some(reads)
    }

    /// What a reconstruct-write reads around members that collect.
    fn reconstruct_around(&self) -> Option<Slots> {
        let reads = self.reconstruct();
        if self.busy & reads == 0 { Some(reads) } else { self.all() }
    }

    /// The usual way, as `array.small_write` has it.
    fn usual(&self, small_write: SmallWrite) -> Decision {
        let (modify, reconstruct) = (self.modify(), self.reconstruct());
        let prefers_modify = match small_write {
            SmallWrite::Fewest => modify.count_ones() < reconstruct.count_ones(),
            SmallWrite::ReadModifyWrite => reconstruct != 0,
            SmallWrite::Reconstruct => false,
        };
        let (way, reads) =
            if prefers_modify { (Way::Modify, modify) } else { (Way::Reconstruct, reconstruct) };
        Decision { way, reads, moves: None, waits: false }
    }

    /// Slots that are in the way of a write or a discard.
    pub fn blocked(&self) -> Slots {
        self.busy & (self.held | self.changed | self.parities)
    }

    /// The slot that moves if these are in the way of what is written; `None` if the free member does not take them.
    fn moved(&self, slots: Slots) -> Option<Option<u16>> {
        match slots {
            0 => Some(None),
            _ if without_first(slots) == 0 && !self.is_free_busy() => {
                Some(Some(slots.trailing_zeros() as u16))
            }
            _ => None,
        }
    }

    /// How the row is written.
    pub fn written(&self, small_write: SmallWrite) -> Decision {
        let usual = self.usual(small_write);
        let blocked = self.blocked();
        if blocked == 0 {
            return usual;
        }
        let waits = Decision { waits: true, ..usual };
        if are_more(blocked, self.parities) {
            return waits;
        }
        let in_place = blocked & (self.changed | self.parities);
        let Some(moves) = self.moved(in_place) else { return waits };
        let around = self.reconstruct_around();
        let remade = |reads| Decision { way: Way::Reconstruct, reads, moves, waits: false };
        if moves.is_some() {
            return around.map_or(waits, remade);
        }
        let modify = Decision { way: Way::Modify, reads: self.modify(), ..usual };
        match around {
            // Who always reads old data and parity does so here, too.
            Some(reads)
                if small_write != SmallWrite::ReadModifyWrite
                    && reads.count_ones() < modify.reads.count_ones() =>
            {
                remade(reads)
            }
            _ => modify,
        }
    }

    /// How units of the row are discarded: parity is made without them. Others stay.
    pub fn discarded(&self, small_write: SmallWrite) -> Decision {
        let usual = self.usual(small_write);
        let is_free = |slots: Slots| self.busy & slots == 0;
        if is_free(usual.reads | self.parities) {
            return usual;
        }
        let moves = self.moved(self.busy & self.parities);
        let waits = Decision { waits: true, ..usual };
        let remade = |reads, moves| Decision { way: Way::Reconstruct, reads, moves, waits: false };
        match moves {
            Some(moves) if is_free(self.reconstruct()) => remade(self.reconstruct(), moves),
            _ if is_free(self.modify()) => Decision { way: Way::Modify, reads: self.modify(), ..usual },
            Some(moves) => self.all().map_or(waits, |reads| remade(reads, moves)),
            None => waits,
        }
    }

    /// What is read for units that are wanted: themselves, and what makes up for those whose members collect.
    /// The second is these units; none if there are none, or nothing makes up for them.
    pub fn read(&self) -> (Slots, Slots) {
        let wanted = self.changed & self.held;
        let blocked = wanted & self.busy;
        let around = if blocked == 0 { None } else { self.all() };
        around.map_or((wanted, 0), |all| (all, blocked))
    }
}
