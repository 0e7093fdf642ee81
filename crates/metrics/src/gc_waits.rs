//! Whose garbage collection requests waited for, device by device.
//!
//! A request that waited for several counts for the one it waited for longest, and only with that wait: the sum over devices is
//! at most the waiting for garbage collection that blame has. Waiting for a spare counts for the member whose place it took. The
//! journal is waited for under its own number.
//!
//! Not measured: waits that were not on the chain of operations that ended last.

use harmonia_types::Completion;

harmonia_types::counters! {
    /// An entry's `gc_waits` in the report's `devices`.
    pub struct GcWaitsReport {
        /// Requests whose longest wait for garbage collection was for this member or journal.
        pub requests: u64 = Sum, "count";
        /// Sum of those waits.
        pub ns: u128 = Sum, "ns";
    }
}

/// Watches whom requests wait for.
#[derive(Debug, Clone, Default)]
pub struct GcWaits {
    devices: Vec<GcWaitsReport>,
}

impl GcWaits {
    /// A recorder for an array of so many devices, spares and journal included, that has seen nothing.
    pub fn new(devices: usize) -> Self {
        GcWaits { devices: vec![GcWaitsReport::default(); devices] }
    }

    /// Takes in one completed request.
    ///
    /// # Panics
    /// If it waited for a device that the array does not have.
    pub fn record(&mut self, completion: &Completion) {
        let Some(wait) = completion.gc_wait else { return };
        debug_assert!(
            wait.ns <= completion.blame.queue_gc(),
            "request {} cannot have waited longer for one member than for all",
            completion.id
        );
        let device = &mut self.devices[wait.member.index()];
        device.requests += 1;
        device.ns += u128::from(wait.ns);
    }

    /// The sections of the report, in the order of the devices.
    pub fn report(self) -> Vec<GcWaitsReport> {
        self.devices
    }
}

#[cfg(test)]
mod tests {
    use harmonia_types::{Blame, DeviceId, GcWait, Operation, RequestBlame, SimTime};

    use super::*;

    /// A read that waited `data` ns for one member and `reconstruct` ns for others that had to rebuild for it.
    fn waited(data: u64, reconstruct: u64, gc_wait: Option<(u16, u64)>) -> Completion {
        let gc = |queue_gc| Blame { queue_gc, ..Blame::default() };
        let blame = RequestBlame { data: gc(data), reconstruct: gc(reconstruct), ..RequestBlame::default() };
        Completion {
            id: 7,
            operation: Operation::Read,
            offset: 0,
            length: 4096,
            arrival: SimTime(100),
            finish: SimTime(100 + blame.total()),
            blame,
            met_gc: true,
            gc_wait: gc_wait.map(|(member, ns)| GcWait { member: DeviceId(member), ns }),
        }
    }

    #[test]
    fn a_request_counts_for_the_member_it_waited_for_longest() {
        let mut waits = GcWaits::new(3);
        waits.record(&waited(500, 0, Some((2, 500))));
        waits.record(&waited(20, 300, Some((0, 200))));
        waits.record(&waited(40, 0, Some((2, 40))));
        waits.record(&waited(0, 0, None));
        let expected = [(1, 200), (0, 0), (2, 540)].map(|(requests, ns)| GcWaitsReport { requests, ns });
        assert_eq!(waits.report(), expected);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "request 7 cannot have waited longer")]
    fn a_wait_longer_than_the_blame_is_found() {
        GcWaits::new(1).record(&waited(20, 30, Some((0, 51))));
    }
}
