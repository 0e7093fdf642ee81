//! Members that take no operation, for now or because they failed, or that may refuse a part of one: what is told of them, and who waits for them.
//!
//! ```text
//! operation ─► its member takes operations? ─► it goes on
//!                 │ no: refused ─► planner ─► waits ─► let go when the member takes operations again
//! ```
//!
//! A reserved member takes what was promised to it before it was reserved, where the planner displaces units (`tidying`).

use harmonia_types::{DeviceId, Operation, SimTime};

use super::layers::Down;
use crate::config::Interface;
use crate::member::Access;
use crate::planner::{PlannedOperation, Refusal};

/// Who waits for which member, and which operations members may refuse.
#[derive(Debug, Clone)]
pub(super) struct Reserved {
    /// By member: operations that wait until it takes operations again, and since when.
    waiting: Vec<Vec<(u32, SimTime)>>,
    reads_fail_fast: bool,
    writes_fail_fast: bool,
}

impl Reserved {
    /// Nobody waits for any of so many devices. Reads and writes go by what members reveal up to these rungs.
    pub fn new(devices: usize, reads: Interface, writes: Interface) -> Reserved {
        Reserved {
            waiting: vec![Vec::new(); devices],
            reads_fail_fast: reads >= Interface::Busy,
            writes_fail_fast: writes >= Interface::Busy,
        }
    }

    /// What an operation is told whose member is accessed so; `is_promised` if it was planned before.
    #[inline]
    pub fn down(access: Access, is_promised: bool) -> Down {
        match access {
            Access::Open => Down::Goes,
            Access::Reserved if is_promised => Down::Goes,
            Access::Reserved => Down::Refused(Refusal::Reserved),
            Access::Failed => Down::Refused(Refusal::Failed),
        }
    }

    /// Whether a member that is able to refuses an operation at once instead of letting it wait for collection.
    #[inline]
    pub fn may_refuse(&self, operation: &PlannedOperation) -> bool {
        let fails_fast = match operation.operation {
            Operation::Read => self.reads_fail_fast,
            Operation::Write | Operation::Trim | Operation::Flush => self.writes_fail_fast,
        };
        operation.fast_fail && fails_fast
    }

    /// An operation, by its place among those under way, waits for a member.
    pub fn hold(&mut self, device: DeviceId, place: u32, since: SimTime) {
        self.waiting[device.index()].push((place, since));
    }

    /// Whether any operation waits for a member.
    pub fn is_awaited(&self, device: DeviceId) -> bool {
        !self.waiting[device.index()].is_empty()
    }

    /// A member takes operations again: those that waited for it, in the order in which they came, and since when.
    pub fn let_go(&mut self, device: DeviceId) -> Vec<(u32, SimTime)> {
        std::mem::take(&mut self.waiting[device.index()])
    }

    /// Nothing waits any more.
    pub fn lose_power(&mut self) {
        self.waiting.iter_mut().for_each(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserved_member_takes_what_was_promised_and_a_failed_one_nothing() {
        for (access, is_promised, down) in [
            (Access::Open, false, Down::Goes),
            (Access::Open, true, Down::Goes),
            (Access::Reserved, false, Down::Refused(Refusal::Reserved)),
            (Access::Reserved, true, Down::Goes),
            (Access::Failed, false, Down::Refused(Refusal::Failed)),
            (Access::Failed, true, Down::Refused(Refusal::Failed)),
        ] {
            assert_eq!(Reserved::down(access, is_promised), down, "{access:?}, promised: {is_promised}");
        }
    }

    #[test]
    fn who_waits_is_let_go_in_order_and_by_member() {
        let mut reserved = Reserved::new(2, Interface::Nothing, Interface::Nothing);
        let (one, other) = (DeviceId(0), DeviceId(1));
        for (device, place, since) in [(one, 5, 10), (other, 6, 11), (one, 4, 12)] {
            reserved.hold(device, place, SimTime(since));
        }
        assert_eq!(reserved.let_go(one), [(5, SimTime(10)), (4, SimTime(12))]);
        assert!(!reserved.is_awaited(one) && reserved.is_awaited(other));
        reserved.lose_power();
        assert!(!reserved.is_awaited(other));
    }

    #[test]
    fn only_what_asks_for_it_is_refused_and_only_by_members_that_reveal_enough() {
        let reserved = Reserved::new(1, Interface::Log, Interface::Busy);
        for (operation, fast_fail, may) in [
            (Operation::Read, true, false),
            (Operation::Write, true, true),
            (Operation::Trim, true, true),
            (Operation::Write, false, false),
        ] {
            let planned = PlannedOperation::data(DeviceId(0), operation, 0, 4096);
            let planned = PlannedOperation { fast_fail, ..planned };
            assert_eq!(reserved.may_refuse(&planned), may, "{operation:?}, {fast_fail}");
        }
        let reserved = Reserved::new(1, Interface::Busy, Interface::Log);
        let read = PlannedOperation::data(DeviceId(0), Operation::Read, 0, 4096);
        assert!(reserved.may_refuse(&PlannedOperation { fast_fail: true, ..read }));
    }
}
