//! The seam for whoever wants to see a run's measured window request by request: pictures, columns on disk.
//!
//! An observer sees what the report counts, no more and no less: completions of the measured window as they become
//! known (a `finish` may lie ahead of one seen later), and intervals in which members collected, each member's in
//! order of time, cut to the window's beginning. Nothing it does can change a result.

use harmonia_types::{Completion, DeviceId, SimTime};

/// Watches one run.
pub trait Observer: Send {
    /// The measured window of an array with so many members begins.
    fn begin(&mut self, from: SimTime, members: usize);

    /// A measured request completed.
    fn completion(&mut self, completion: &Completion);

    /// A member collected from `start` to `end`; not called for an empty interval.
    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime);

    /// The window is over; `end` is its last completion. Intervals still open were told with `end` as theirs.
    fn end(&mut self, end: SimTime);
}
