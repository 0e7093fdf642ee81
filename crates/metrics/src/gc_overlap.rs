//! How many devices collect garbage at once: the share of time with 0, 1, .., N of them in GC.
//!
//! ```text
//!   device 0   ....======........====......     = in GC
//!   device 1   ......====....=============.
//!   k          0000112222000011112222111110     each nanosecond of the window is charged to one k
//! ```
//!
//! Devices advance out of step, so begins and ends are kept as pending edges until [`GcOverlap::settle`] says
//! that none earlier can come; then they are folded into exact nanoseconds per k and forgotten. A device is
//! in GC while at least one of its intervals is open, so the dies of one device may report theirs separately
//! and overlap.
//!
//! Invariant: the nanoseconds over all k sum to the window. Not measured: which devices overlap, how much of
//! a device (how many dies) is in GC, and GC of zero length (the ideal schedule).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use harmonia_types::{DeviceId, SimTime};

/// A begin (`false`) or end (`true`) of GC, ordered by time; begins first, so that no depth falls below 0.
type Edge = (SimTime, bool, DeviceId);

/// Watches GC intervals of several devices within a window that begins at a given moment.
#[derive(Debug, Clone)]
pub struct GcOverlap {
    from: SimTime,
    /// Everything before this moment is folded.
    settled: SimTime,
    pending: BinaryHeap<Reverse<Edge>>,
    /// Open intervals per device at `settled`.
    open: Vec<u32>,
    /// Devices with an open interval at `settled`.
    collecting: usize,
    /// Time spent with k devices in GC, indexed by k. Unit: ns.
    time_ns: Vec<u64>,
}

impl GcOverlap {
    /// Watches `devices` devices from the moment `from` on (the end of warm-up).
    pub fn new(devices: usize, from: SimTime) -> Self {
        GcOverlap {
            from,
            settled: from,
            pending: BinaryHeap::new(),
            open: vec![0; devices],
            collecting: 0,
            time_ns: vec![0; devices + 1],
        }
    }

    /// `device` collects from `start` to `end`; [`SimTime::NEVER`] if it still does when the window closes.
    ///
    /// What lies before the window is cut off; a `start == end` counts for nothing.
    ///
    /// # Panics
    /// If `end < start`, or an edge within the window lies before the last [`settle`](Self::settle).
    pub fn interval(&mut self, device: DeviceId, start: SimTime, end: SimTime) {
        assert!(start <= end, "GC of device {} ends at {end} before it starts at {start}", device.0);
        if start < end && end > self.from {
            self.begin(device, start);
            self.end(device, end);
        }
    }

    /// `device` starts to collect at `at`; its end is told later, or never if the window closes before.
    ///
    /// # Panics
    /// As [`interval`](Self::interval) does.
    pub fn begin(&mut self, device: DeviceId, at: SimTime) {
        self.push(device, at, false);
    }

    /// An interval of `device` ends at `at`; its [`begin`](Self::begin) must have been told, in either order.
    ///
    /// # Panics
    /// As [`interval`](Self::interval) does.
    pub fn end(&mut self, device: DeviceId, at: SimTime) {
        self.push(device, at, true);
    }

    fn push(&mut self, device: DeviceId, at: SimTime, is_end: bool) {
        assert!(device.index() < self.open.len(), "GC of device {}: there are {}", device.0, self.open.len());
        // Before the window an edge counts as at its first instant: an open interval stays open, a closed one
        // is void.
        let at = at.max(self.from);
        assert!(
            at >= self.settled,
            "GC of device {} at {at}: all before {} is settled",
            device.0,
            self.settled
        );
        self.pending.push(Reverse((at, is_end, device)));
    }

    /// Promises that every begin and end before `until` has been told, for all devices; folds and forgets
    /// them.
    ///
    /// Ends at or after `until` stay pending. Where intervals are told only once they end, `until` must not
    /// exceed the start of one still open. Never required: it bounds memory.
    pub fn settle(&mut self, until: SimTime) {
        while self.pending.peek().is_some_and(|Reverse(edge)| edge.0 < until) {
            if let Some(Reverse((at, is_end, device))) = self.pending.pop() {
                self.charge_until(at);
                self.cross(device, is_end);
            }
        }
        if until > self.settled {
            self.charge_until(until);
        }
    }

    fn charge_until(&mut self, at: SimTime) {
        self.time_ns[self.collecting] += (at - self.settled).as_ns();
        self.settled = at;
    }

    fn cross(&mut self, device: DeviceId, is_end: bool) {
        let open = &mut self.open[device.index()];
        if is_end {
            assert!(*open > 0, "GC of device {} ends without having begun", device.0);
            *open -= 1;
            self.collecting -= usize::from(*open == 0);
        } else {
            self.collecting += usize::from(*open == 0);
            *open += 1;
        }
    }

    /// Edges that wait to be settled: what bounds memory.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Closes the window at `end`: nanoseconds with k devices in GC, indexed by k from 0 to N; they sum to
    /// the window.
    ///
    /// # Panics
    /// If time after `end` has been settled.
    pub fn finish_ns(mut self, end: SimTime) -> Vec<u64> {
        assert!(end >= self.settled, "the window ends at {end}, but all before {} is settled", self.settled);
        self.settle(end);
        self.time_ns
    }

    /// Closes the window at `end`: share of it with k devices in GC, indexed by k from 0 to N.
    ///
    /// The shares sum to 1. In an empty window no device was seen collecting: k = 0 has it all.
    ///
    /// # Panics
    /// If time after `end` has been settled.
    pub fn finish(self, end: SimTime) -> Vec<f64> {
        let mut time_ns = self.finish_ns(end);
        if time_ns.iter().all(|&ns| ns == 0) {
            time_ns[0] = 1;
        }
        let window_ns: u64 = time_ns.iter().sum();
        time_ns.iter().map(|&ns| ns as f64 / window_ns as f64).collect()
    }
}

#[cfg(test)]
mod tests;
