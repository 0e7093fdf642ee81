//! A row of which something is missing: what is read, what is written, and what moves. Sets of slots, as in `row`.
//!
//! A slot is *gone* if its member cannot be read there: it failed, or is a replacement that is not built that far. A slot *refuses*
//! if its member takes no writes: it failed. A row of `u` units and `p` parities is written in the first of these ways that works
//! and that `array.small_write` prefers, otherwise with the fewest reads:
//!
//! | way | reads | works if |
//! |---|---|---|
//! | reconstruct-write | units that stay, and those that are written in part | none of these is gone |
//! | everything | units that are left, and a parity for each that is gone | no more units are gone than parities are left |
//! | read-modify-write | units that change, as they were, and the parities that are written | none of these is gone |
//!
//! These are the ways around members that collect, with the same counts. Of what is to be written and refused the first goes to the
//! free member, if that takes it: the row then has all that it had. Otherwise the parities that are left make up for it. Where
//! nothing refuses, what is to be written on a member that collects moves, as usual, but not what has to be read there. Where no
//! parity can be written, units are written alone.

use super::row::{Row, Way};
use super::stripe_map::{Slots, without_first};
use crate::config::SmallWrite;

/// A row, and what is missing of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hurt {
    pub row: Row,
    /// Slots that cannot be read.
    pub gone: Slots,
    /// Slots that take no writes.
    pub refuses: Slots,
}

/// How such a row is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    /// How parity is made; none if no member takes it.
    pub way: Option<Way>,
    /// Slots that are read.
    pub reads: Slots,
    /// The slot that moves to the free member.
    pub moves: Option<u16>,
    /// Slots that are written.
    pub writes: Slots,
    /// Units that are to be written and of which nothing is left: no member takes them, and parity does not make up for it.
    pub lost: Slots,
    /// Some member keeps it waiting.
    pub waits: bool,
}

/// The lowest of some slots, as a set.
fn first(slots: Slots) -> Slots {
    slots & !without_first(slots)
}

impl Hurt {
    /// Whether what is missing matters to what is done with the row.
    pub fn matters(&self) -> bool {
        let Row { held, changed, parities, .. } = self.row;
        self.gone & (held | changed | parities) != 0
    }

    pub fn free(&self) -> Slots {
        let parities = self.row.parities;
        (parities << 1) & !parities
    }

    /// What says all units without these slots.
    fn around(&self, out: Slots) -> Option<Slots> {
        Row { busy: out, ..self.row }.all()
    }

    /// The same without what is gone, and without members that collect where that is possible.
    fn everything(&self, besides: Slots) -> Option<Slots> {
        let gone = self.gone | besides;
        self.around(gone | self.row.busy).or_else(|| self.around(gone))
    }

    /// What is read for units that are wanted, and which of these it makes up for. `None` if they are lost.
    pub fn read(&self) -> Option<(Slots, Slots)> {
        let wanted = self.row.changed & self.row.held;
        let (gone, out) = (wanted & self.gone, wanted & (self.gone | self.row.busy));
        match self.around(self.gone | self.row.busy) {
            _ if out == 0 => Some((wanted, 0)),
            Some(all) => Some((all, out)),
            None if gone == 0 => Some((wanted, 0)),
            None => self.around(self.gone).map(|all| (all, gone)),
        }
    }

    /// What a slot is rebuilt from.
    pub fn rebuilt(&self, slot: u16) -> Option<Slots> {
        self.everything(1 << slot)
    }

    /// How units are written. `None` if too much is missing.
    pub fn written(&self, small_write: SmallWrite) -> Option<Written> {
        self.made_anew(self.row.changed | self.row.parities, small_write)
    }

    /// How parity is made without units that are discarded.
    pub fn discarded(&self, small_write: SmallWrite) -> Option<Written> {
        self.made_anew(self.row.parities, small_write)
    }

    fn made_anew(&self, slots: Slots, small_write: SmallWrite) -> Option<Written> {
        let Row { held, parities, changed, cut, busy } = self.row;
        let refused = slots & self.refuses;
        let moved = match self.free() {
            free if free & self.refuses != 0 => 0,
            // What only collects stays where it is rather than to be missing.
            free if refused == 0 && free & (busy | self.gone) != 0 => 0,
            _ if refused == 0 => first(slots & busy),
            _ => first(refused),
        };
        let writes = slots & !(refused & !moved);
        let kept = writes & parities;
        let gone_after = (held | changed | parities) & self.gone & !moved;
        let is_lost = gone_after.count_ones() > parities.count_ones();
        let lost = if is_lost { slots & changed & !writes } else { 0 };
        let (way, reads) = match kept {
            0 => (None, self.rest_of(held & cut & writes)?),
            _ => self.way(kept, small_write).map(|(way, reads)| (Some(way), reads))?,
        };
        // What has to be read where it lies is written there as well, when its member has collected.
        let moved = if refused == 0 && reads & moved != 0 { 0 } else { moved };
        let moves = (moved != 0).then(|| moved.trailing_zeros() as u16);
        let goes_to = if moved != 0 { self.free() } else { 0 };
        let waits = busy & (reads | writes & !moved | goes_to) != 0;
        Some(Written { way, reads, moves, writes, lost, waits })
    }

    /// What says these slots.
    fn rest_of(&self, slots: Slots) -> Option<Slots> {
        if slots & self.gone == 0 { Some(slots) } else { self.everything(0) }
    }

    /// How these parities are made, and what is read for it.
    fn way(&self, parities: Slots, small_write: SmallWrite) -> Option<(Way, Slots)> {
        let Row { held, changed, cut, busy, .. } = self.row;
        let is_left = |reads: &Slots| reads & self.gone == 0;
        let units = held & !self.row.parities;
        let reconstruct = Some(units & (!changed | cut)).filter(is_left);
        let modify = Some(held & (changed | parities)).filter(is_left);
        let prefers = |way: Way, is_everything: bool| match small_write {
            SmallWrite::Fewest => true,
            SmallWrite::ReadModifyWrite => way == Way::Modify || reconstruct == Some(0),
            SmallWrite::Reconstruct => way == Way::Reconstruct && !is_everything,
        };
        let ways = [
            (Way::Reconstruct, false, reconstruct),
            (Way::Reconstruct, true, self.everything(0)),
            (Way::Modify, false, modify),
        ];
        let ways = ways.into_iter().filter_map(|(way, is_all, reads)| Some((way, is_all, reads?)));
        let rank = |&(way, is_all, reads): &(Way, bool, Slots)| {
            (reads & busy != 0, !prefers(way, is_all), reads.count_ones())
        };
        ways.min_by_key(rank).map(|(way, _, reads)| (way, reads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEWEST: SmallWrite = SmallWrite::Fewest;

    /// Five members: units 0 to 2, P in slot 3, the free member in slot 4; six members of RAID-6: Q in slot 4, free is 5.
    fn row(parities: Slots, changed: Slots, failed: Slots) -> Hurt {
        let held = 0b111 | parities;
        Hurt { row: Row { held, parities, changed, cut: 0, busy: 0 }, gone: failed, refuses: failed }
    }

    fn decided(hurt: Hurt) -> Option<(Slots, Option<u16>, Slots)> {
        hurt.written(FEWEST).map(|written| (written.reads, written.moves, written.writes))
    }

    #[test]
    fn what_a_failed_member_was_to_take_goes_to_the_free_member_or_parity_makes_up_for_it() {
        let of = |changed, failed| decided(row(0b1000, changed, failed));
        // Unit 1, parity, the free member, a unit that stays.
        assert_eq!(of(0b010, 0b00010), Some((0b0101, Some(1), 0b1010)));
        assert_eq!(of(0b010, 0b01000), Some((0b0101, Some(3), 0b1010)));
        assert_eq!(of(0b010, 0b10000), Some((0b0101, None, 0b1010)));
        assert_eq!(of(0b010, 0b00100), Some((0b1010, None, 0b1010)));
        // The free member has failed, too: unit 1 is written nowhere, parity says it.
        assert_eq!(of(0b010, 0b10010), Some((0b0101, None, 0b1000)));
        assert_eq!(of(0b010, 0b11000), Some((0, None, 0b0010)), "no parity is left");
        // Two units of a stripe that has one parity.
        assert_eq!(of(0b010, 0b00110), None);
        assert_eq!(
            of(0b010, 0b00101),
            Some((0b1010, None, 0b1010)),
            "those that stay are lost, this one is not"
        );
        assert_eq!(
            of(0b011, 0b00011),
            Some((0b0100, Some(0), 0b1001)),
            "both are written, and parity says one"
        );
    }

    #[test]
    fn on_raid_6_one_of_two_moves_and_parities_make_up_for_the_other() {
        let of = |changed, failed| decided(row(0b11000, changed, failed));
        assert_eq!(of(0b010, 0b000110), Some((0b01001 | 0b10000, Some(1), 0b11010)), "unit 2 is gone, too");
        assert_eq!(of(0b010, 0b001010), Some((0b00101, Some(1), 0b10010)), "P is not written");
        assert_eq!(of(0b010, 0b011000), Some((0b00101, Some(3), 0b01010)), "P moves, Q is not written");
        assert_eq!(of(0b010, 0b100010), Some((0b00101, None, 0b11000)));
        assert_eq!(of(0b010, 0b000101), Some((0b11010, None, 0b11010)), "two units that stay");
        assert_eq!(of(0b010, 0b000111), None);
    }

    #[test]
    fn a_replacement_is_written_and_not_read() {
        let mut hurt = row(0b1000, 0b010, 0b00010);
        hurt.refuses = 0;
        assert_eq!(decided(hurt), Some((0b0101, None, 0b1010)));
        hurt.row.changed = 0b001;
        assert_eq!(decided(hurt), Some((0b1001, None, 0b1001)));
        assert_eq!((hurt.read(), hurt.rebuilt(1)), (Some((0b001, 0)), Some(0b1101)));
        hurt.row.changed = 0b011;
        assert_eq!(hurt.read(), Some((0b1101, 0b010)));
        hurt.gone |= 0b1000;
        assert_eq!((hurt.read(), hurt.rebuilt(1)), (None, None));
        assert_eq!(hurt.rebuilt(3), None);
    }

    #[test]
    fn nothing_is_read_where_nothing_has_to_be_whatever_is_preferred() {
        // P and the free member have failed: Q could be made of what it was.
        let of = |changed| {
            let written = row(0b11000, changed, 0b101000).written(SmallWrite::ReadModifyWrite);
            written.map(|written| (written.way, written.reads, written.writes))
        };
        assert_eq!(of(0b111), Some((Some(Way::Reconstruct), 0, 0b10111)));
        assert_eq!(of(0b011), Some((Some(Way::Modify), 0b10011, 0b10011)));
    }

    #[test]
    fn what_nothing_is_left_of_is_lost() {
        let lost = |changed, failed| row(0b1000, changed, failed).written(FEWEST).map(|written| written.lost);
        assert_eq!(lost(0b010, 0b10010), Some(0), "parity says it");
        assert_eq!(lost(0b010, 0b01010), Some(0), "it is on the free member");
        assert_eq!(
            lost(0b011, 0b11010),
            Some(0b010),
            "its member, the free one and that of parity have failed"
        );
        assert_eq!(lost(0b011, 0b10011), Some(0b011));
        assert_eq!(lost(0b111, 0b00011), Some(0));
    }

    /// P and a member that collects: RAID-6 goes around both.
    #[test]
    fn reads_and_writes_go_around_members_that_collect_as_far_as_parities_reach() {
        let mut hurt = row(0b11000, 0b010, 0b00010);
        hurt.row.busy = 0b00001;
        assert_eq!(hurt.read(), Some((0b11100, 0b010)));
        assert_eq!(decided(hurt), Some((0b11100, Some(1), 0b11010)));
        let mut hurt = row(0b1000, 0b010, 0b00010);
        hurt.row.busy = 0b00001;
        assert_eq!(hurt.read(), Some((0b1101, 0b010)), "it waits");
        assert_eq!(hurt.written(FEWEST).map(|written| (written.reads, written.waits)), Some((0b0101, true)));
        // What stays is gone, and what is written collects: it moves.
        let mut hurt = row(0b11000, 0b010, 0b00001);
        hurt.row.busy = 0b00010;
        assert_eq!(decided(hurt), Some((0b11100, Some(1), 0b11010)));
    }

    #[test]
    fn units_are_discarded_from_the_parity_that_is_left() {
        let of = |changed, failed| {
            let written = row(0b1000, changed, failed).discarded(FEWEST);
            written.map(|written| (written.reads, written.moves, written.writes))
        };
        assert_eq!(of(0b010, 0b00010), Some((0b0101, None, 0b1000)));
        assert_eq!(of(0b010, 0b00100), Some((0b1010, None, 0b1000)));
        assert_eq!(of(0b010, 0b01000), Some((0b0101, Some(3), 0b1000)));
        assert_eq!(of(0b010, 0b11000), Some((0, None, 0)));
    }
}
