//! Operations on a failed member whose place others have taken, row by row: the one place where they go elsewhere.
//!
//! ```text
//! planned    read member 1, rows 0 to 2
//! handed     read member 4, row 0 | member 0, row 1 | member 3, row 2
//! ```
//!
//! Planners, health and payload go on to speak of the failed member. Members, NVRAM and blame speak of the one that took the
//! operation: that one keeps it waiting. Which member that is, is said when the operation is handed over, as it may have been
//! planned before.
//!
//! Writes that go back from NVRAM are cut where stripe units end, because declustered units of one member follow no pattern that
//! says which of them are parity.

use harmonia_types::Operation;

use super::layers::Down;
use super::tokens::Node;
use crate::stand_ins::StandIns;

/// Which member takes the beginning of an operation, or how long that beginning is; `goes_back` if it was parked in NVRAM.
pub(super) fn down(all: &StandIns, node: &Node, goes_back: bool) -> Down {
    let operation = &node.operation;
    if operation.operation == Operation::Flush {
        return Down::Goes;
    }
    let (device, mut end) = all.place(node.role, operation.offset);
    if goes_back {
        end = end.min(all.end_of_unit(operation.offset));
    }
    let head = end - operation.offset;
    if head < operation.length { Down::Cut(head) } else { Down::To(device) }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::Parent;
    use super::super::transactions::in_step;
    use super::*;
    use crate::layout::{Groups, Layout, Level};
    use crate::planner::PlannedOperation;
    use harmonia_types::DeviceId;

    /// Five members in one group of three, with two spares; a unit is 10 bytes.
    #[test]
    fn an_operation_is_cut_by_rows_where_others_stand_in_and_goes_whole_elsewhere() {
        let level = Level::Draid(Groups { parities: 1, data: 2, spares: 2 });
        let mut all = StandIns::new(&Layout::new(level, 5, 10, 10, 1000)).expect("spare space");
        all.take(DeviceId(1));
        let ask = |all: &StandIns, member, operation, offset, length, goes_back| {
            let planned = PlannedOperation::data(DeviceId(member), operation, offset, length);
            down(all, &in_step(Parent::Transaction(0), 0, planned), goes_back)
        };
        let (read, write, flush) = (Operation::Read, Operation::Write, Operation::Flush);
        assert_eq!(ask(&all, 1, read, 23, 20, false), Down::Cut(7));
        for row in 0..20 {
            let (device, _) = all.place(DeviceId(1), row * 10);
            assert_eq!(ask(&all, 1, read, row * 10, 10, false), Down::To(device), "row {row}");
        }
        assert_eq!(ask(&all, 2, read, 23, 20, false), Down::To(DeviceId(2)), "nobody stands in for it");
        assert_eq!(ask(&all, 2, write, 23, 20, true), Down::Cut(7), "it goes back");
        assert_eq!(ask(&all, 2, write, 23, 7, true), Down::To(DeviceId(2)));
        assert_eq!(ask(&all, 1, flush, 0, 0, false), Down::Goes);
    }
}
