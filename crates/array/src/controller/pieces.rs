//! Pieces of operations: what is cut off one, or refused of one, is an operation of the same step.

use harmonia_ssd::probe::Probe;
use harmonia_types::{Bytes, ParityPages};

use super::Array;
use super::payload::Payload;
use super::tokens::{NONE, Node};
use crate::planner::PlannedOperation;

impl<P: Probe, C: Payload> Array<P, C> {
    /// A part of an operation becomes one more operation of its step.
    pub(super) fn add_to_step(&mut self, piece: &mut Node) {
        if piece.before != NONE {
            let before = self.nodes.take_before(piece.before);
            // Both have the same behind them.
            let (one, other) = (self.nodes.keep_before(before), self.nodes.keep_before(before));
            debug_assert_eq!(one, piece.before, "the place is used again");
            piece.before = other;
        }
        let running = &mut self.transactions[piece.transaction()];
        piece.index = running.operations;
        running.operations += 1;
        running.pending += 1;
        running.awaited += u32::from(!piece.operation.behind);
        (piece.couples, piece.refused) = (false, 0);
    }

    /// Cuts an operation after so many bytes; returns the rest.
    pub(super) fn cut(&mut self, node: u32, bytes: Bytes) -> u32 {
        let whole = self.nodes.get_mut(node);
        let mut rest = *whole;
        rest.operation = cut(&mut whole.operation, bytes, self.page_size);
        self.add_to_step(&mut rest);
        self.nodes.insert(rest)
    }
}

/// An operation ends after so many bytes; returns the rest of it.
fn cut(whole: &mut PlannedOperation, bytes: Bytes, page_size: Bytes) -> PlannedOperation {
    let mut rest = *whole;
    (whole.length, rest.length) = (bytes, whole.length - bytes);
    rest.offset += bytes;
    let pages = rest.offset / page_size - whole.offset / page_size;
    rest.parity = shifted(rest.parity, pages as u32);
    rest
}

/// The pattern as it looks from a later page on.
pub(super) fn shifted(parity: ParityPages, pages: u32) -> ParityPages {
    let phase = (u64::from(parity.phase) + u64::from(pages)) % u64::from(parity.period);
    ParityPages { phase: phase as u32, ..parity }
}

#[cfg(test)]
mod tests {
    use harmonia_types::{DeviceId, Operation};

    use super::*;

    const PAGE: Bytes = 4096;

    /// From the middle of page 4 on, every third page is parity: pages 6 and 9.
    #[test]
    fn what_is_cut_off_has_its_own_part_of_the_pattern() {
        let parity = ParityPages { phase: 1, period: 3, run: 1, ..ParityPages::ALL };
        let data = PlannedOperation::data(DeviceId(2), Operation::Write, 4 * PAGE + 512, 6 * PAGE);
        for (end, is_parity) in
            [(4 * PAGE + 1024, false), (5 * PAGE, false), (6 * PAGE, true), (7 * PAGE, false)]
        {
            let mut whole = PlannedOperation { parity, ..data };
            let rest = cut(&mut whole, end - data.offset, PAGE);
            assert_eq!((whole.offset, whole.offset + whole.length), (data.offset, end));
            assert_eq!((rest.offset, rest.offset + rest.length), (end, data.offset + data.length));
            assert_eq!((whole.parity, rest.parity.is_parity(0)), (parity, is_parity), "from {end} on");
        }
    }
}
