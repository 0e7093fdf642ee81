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

use harmonia_ssd::probe::Probe;
use harmonia_types::{Operation, SimTime};

use super::payload::Payload;
use super::tokens::Node;
use super::{Array, ArrayFailure};

impl<P: Probe, C: Payload> Array<P, C> {
    /// Hands an operation to the members that have its place, in as many parts as there are.
    #[cold]
    pub(super) fn submit_in_places(&mut self, mut node: u32, now: SimTime) -> Result<(), ArrayFailure> {
        loop {
            let whole = *self.nodes.get(node);
            let Some(all) =
                self.members.health.stand_ins().filter(|_| whole.operation.operation != Operation::Flush)
            else {
                return self.submit_here(node, now);
            };
            let (offset, length) = (whole.operation.offset, whole.operation.length);
            let (device, mut end) = all.place(whole.role, offset);
            let goes_back = self.is_destage(&whole);
            if goes_back {
                end = end.min(self.end_of_unit(offset));
            }
            let rest = (end - offset < length).then(|| self.cut(node, end - offset));
            self.nodes.get_mut(node).operation.device = device;
            if goes_back {
                self.tell_parity(node);
            }
            self.submit_here(node, now)?;
            match rest {
                Some(rest) => node = rest,
                None => return Ok(()),
            }
        }
    }

    fn end_of_unit(&self, offset: u64) -> u64 {
        let unit = self.layout.stripe_unit();
        (offset / unit + 1) * unit
    }

    /// Whether what goes back is parity depends on whose place it is.
    fn tell_parity(&mut self, node: u32) {
        let Node { operation, .. } = *self.nodes.get(node);
        let row = operation.offset / self.layout.stripe_unit();
        let holder = self.members.health.role(operation.device, row).unwrap_or(operation.device);
        let parity = self.layout.parity_pages(holder, operation.offset, operation.length);
        self.nodes.get_mut(node).operation.parity = parity;
    }
}
