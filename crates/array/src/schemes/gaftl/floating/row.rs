//! How a row is written or discarded: what is read for its parity, and which of its slots moves to the free member.
//!
//! A function of sets of slots, which knows neither members nor operations. A row has `u` units, all of which have been written, and
//! `w` of them are written whole. One member collects at a time:
//!
//! | it holds | small writes reconstruct | they read the fewest | writes |
//! |---|---|---|---|
//! | nothing of the row | `u - w` reads | the fewer of `u - w` and `w + 1` | `w + 1` |
//! | a unit that is written, or parity | `u - w` | `u - w` | `w + 1`, one of them on the free member |
//! | a unit that is not written | `w + 1` | `w + 1` | `w + 1` |
//!
//! Units that have never been written are zeros, are in no parity and are not read: with fewer units the row is as one of an array
//! with so many members fewer. A unit that is written in part is read as well; if its member collects, the other units and parity say
//! what it held. Where two members of a row collect, or the free one does and something is in the way, operations wait for them.

use super::stripe_map::Slots;
use crate::config::SmallWrite;

/// A row, and what becomes of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// Slots that hold something: units that have been written, and parity if there are any.
    pub held: Slots,
    /// The slot of parity, above those of units.
    pub parity: u16,
    /// Units that are written, or discarded.
    pub changed: Slots,
    /// Those that are written in part.
    pub cut: Slots,
    /// Slots whose members collect; the free one is the one above parity.
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

impl Row {
    fn parity(&self) -> Slots {
        1 << self.parity
    }

    /// Units that have been written.
    fn units(&self) -> Slots {
        self.held & !self.parity()
    }

    fn is_free_busy(&self) -> bool {
        self.busy >> (self.parity + 1) & 1 == 1
    }

    /// What a read-modify-write reads: the units that change, as they were, and parity.
    fn modify(&self) -> Slots {
        self.held & (self.changed | self.parity())
    }

    /// What a reconstruct-write reads: the units that stay, and those that are written in part.
    fn reconstruct(&self) -> Slots {
        self.units() & (!self.changed | self.cut)
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

    /// How the row is written.
    pub fn written(&self, small_write: SmallWrite) -> Decision {
        let usual = self.usual(small_write);
        let blocked = self.busy & (self.held | self.changed | self.parity());
        match blocked.count_ones() {
            0 => usual,
            1 if blocked & (self.changed | self.parity()) == 0 => {
                Decision { way: Way::Modify, reads: self.modify(), ..usual }
            }
            1 if !self.is_free_busy() => {
                let says_rest = blocked & self.held & self.cut != 0;
                let reads = if says_rest { self.held & !blocked } else { self.reconstruct() };
                let moves = Some(blocked.trailing_zeros() as u16);
                Decision { way: Way::Reconstruct, reads, moves, waits: false }
            }
            _ => Decision { waits: true, ..usual },
        }
    }

    /// How units of the row are discarded: parity is made without them. Others stay.
    pub fn discarded(&self, small_write: SmallWrite) -> Decision {
        let usual = self.usual(small_write);
        let is_free = |slots: Slots| self.busy & slots == 0;
        let is_parity_blocked = !is_free(self.parity());
        if is_free(usual.reads | self.parity()) {
            usual
        } else if is_free(self.reconstruct()) && !(is_parity_blocked && self.is_free_busy()) {
            let moves = is_parity_blocked.then_some(self.parity);
            Decision { way: Way::Reconstruct, reads: self.reconstruct(), moves, waits: false }
        } else if is_free(self.modify()) {
            Decision { way: Way::Modify, reads: self.modify(), ..usual }
        } else {
            Decision { waits: true, ..usual }
        }
    }

    /// What is read for units that are wanted: themselves, and what makes up for the one whose member collects.
    /// The second is that unit; none if there is none, or nothing makes up for it.
    pub fn read(&self) -> (Slots, Option<u16>) {
        let wanted = self.changed & self.held;
        let blocked = wanted & self.busy;
        let others = self.held & !blocked;
        if blocked.count_ones() == 1 && self.busy & others == 0 {
            (others, Some(blocked.trailing_zeros() as u16))
        } else {
            (wanted, None)
        }
    }
}
