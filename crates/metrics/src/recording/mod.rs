//! A run kept in bounded memory, to be looked at: from the whole of it down to single requests.
//!
//! ```text
//!   every request --> slices of equal length: count, median, p99, slowest      (slices)
//!                 --> an even sample; the slowest of each slice                (requests)
//!                 --> every request of a few windows                          (windows)
//!   every GC interval --> exact, or near ones joined once there are too many  (intervals)
//!   commands of a die --> those from its first collection on, for some dies   (planes)
//! ```
//!
//! What is kept depends on the observations alone, never on threads or the clock, and on [`Limits`], never on the
//! length of the run. Requests stand at their arrival. The sample goes by request id, so runs of one load keep the
//! same requests and can be compared one by one.
//!
//! Leaves out: which operations of a die belong to which request, queue lengths, and anything before the measured window.

mod intervals;
mod planes;
mod requests;
mod slices;
#[cfg(test)]
mod tests;
mod windows;

use harmonia_types::{Completion, DeviceId, SimTime};

use crate::Observer;
use crate::failures::AilingSpan;
use intervals::Intervals;
pub use intervals::{GcSpan, NearGc};
pub use planes::{
    DiePlanes, MemberPlanes, PlaneRecorder, PlaneSpan, SPANS_MAX, common_die, resumes, suspended,
};
use requests::Sample;
pub use requests::{Kept, Why};
use slices::Slices;
pub use slices::{CELLS, CELLS_PER_OCTAVE, FIRST_OCTAVE, Level, Slice};
use windows::Windows;
pub use windows::{Reason, Window};

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Slices of the finest level, a power of two. Unit: count.
    pub slices: usize,
    /// Requests of the even sample, a power of two. Unit: count.
    pub sample: usize,
    /// Requests in each of the three parts of a window. Unit: count.
    pub window_part: u64,
    /// Garbage-collection intervals over all members. Unit: count.
    pub intervals: usize,
}

impl Default for Limits {
    /// About half a megabyte once encoded.
    fn default() -> Self {
        Limits { slices: 4096, sample: 8192, window_part: 1024, intervals: 24_576 }
    }
}

/// Records one run.
pub struct Recorder {
    from: SimTime,
    requests: u64,
    slices: Slices,
    sample: Sample,
    windows: Windows,
    intervals: Intervals,
    ailing: Vec<AilingSpan>,
    planes: Option<MemberPlanes>,
}

/// What was recorded of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The measured window's beginning.
    pub from: SimTime,
    /// Its end: the last completion.
    pub end: SimTime,
    /// Requests seen. Unit: count.
    pub requests: u64,
    /// Statistics of all requests by slice of time; the finest first, each further one of half as many slices.
    pub levels: Vec<Level>,
    /// Of the even sample one request in so many is kept; 1 means every request is. Unit: count.
    pub stride: u64,
    /// Requests kept, in the order of their ids.
    pub kept: Vec<Kept>,
    /// Windows of which every request is kept; none if every request of the run is.
    pub windows: Vec<Window>,
    /// When each member collected.
    pub gc: NearGc,
    /// When something was wrong with a member, in order of its beginning.
    pub ailing: Vec<AilingSpan>,
    /// What planes did, of some dies of one member.
    pub planes: Option<MemberPlanes>,
}

impl Recorder {
    /// A recorder that keeps so much.
    ///
    /// # Panics
    /// If a limit that must be a power of two is not, or one is 0.
    pub fn new(limits: Limits) -> Self {
        assert!(limits.slices.is_power_of_two() && limits.slices >= 2, "slices come in powers of two");
        assert!(limits.sample.is_power_of_two() && limits.window_part > 0 && limits.intervals > 0);
        Recorder {
            from: SimTime::ZERO,
            requests: 0,
            slices: Slices::new(limits.slices),
            sample: Sample::new(limits.sample),
            windows: Windows::new(limits.window_part),
            intervals: Intervals::new(limits.intervals),
            ailing: Vec::new(),
            planes: None,
        }
    }

    /// The recording of a run that is over at `end`.
    pub fn finish(self, end: SimTime) -> Recording {
        let complete = self.sample.stride() == 1;
        let mut windows = if complete { Vec::new() } else { self.windows.finish() };
        let stride = self.sample.stride();
        let mut kept = self.sample.finish();
        kept.extend(self.slices.slowest().map(|completion| Kept { completion, why: Why::SLOWEST }));
        for (window, requests, gc_known) in &mut windows {
            let requests = std::mem::take(requests).into_iter();
            kept.extend(requests.map(|completion| Kept { completion, why: Why::WINDOW }));
            window.gc = gc_known.then(|| self.intervals.exact(window.from, window.to));
        }
        Recording {
            from: self.from,
            end,
            requests: self.requests,
            levels: self.slices.levels(),
            stride,
            kept: requests::joined(kept),
            windows: windows.into_iter().map(|(window, ..)| window).collect(),
            gc: self.intervals.finish(),
            ailing: self.ailing,
            planes: self.planes,
        }
    }
}

impl Observer for Recorder {
    fn begin(&mut self, from: SimTime, members: usize) {
        self.from = from;
        self.slices.begin(from);
        self.intervals.begin(members);
    }

    fn completion(&mut self, completion: &Completion) {
        self.requests += 1;
        self.slices.record(completion);
        self.sample.record(completion);
        self.windows.record(completion, self.intervals.lost_until());
    }

    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        self.intervals.record(member, GcSpan::exact(start, end));
        if self.intervals.recent_is_full() {
            let windows = &self.windows;
            if let Some(until) = self.intervals.drop_recent(|span| windows.touch(span.start, span.end)) {
                self.windows.lose_gc_before(until);
            }
        }
    }

    fn ails(&mut self, span: &AilingSpan) {
        self.ailing.push(*span);
    }

    fn wants_planes(&self) -> bool {
        true
    }

    fn planes(&mut self, planes: &MemberPlanes) {
        self.planes = Some(planes.clone());
    }

    fn end(&mut self, _: SimTime) {}
}
