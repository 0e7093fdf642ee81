//! Whether a scheme that lets few members collect at a time can keep up.
//!
//! With n members, each of which collects for a share g of the time, n x g members collect at once on average. A scheme
//! that allows k at once is loaded to n x g / k. Above 1 it cannot keep its promise: some members collect out of turn.
//!
//! ```text
//!   n x g  =  sum over j of  j x (share of time with j members in GC)
//! ```
//!
//! The warm-up is asked first, so that the answer does not hang on the window it explains.

use serde::{Deserialize, Serialize};

use crate::gc_overlap::GcOverlap;
use harmonia_types::SimTime;

/// The report's `array.feasibility`; absent where the policy lets all members collect at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct FeasibilityReport {
    /// Members that collect at once on average, for each that may. Unit: ratio.
    pub load: f64,
    /// Members that the policy lets collect at once. Unit: count.
    pub at_once: u16,
    /// Where it was measured.
    pub measured_in: MeasuredIn,
}

/// A part of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredIn {
    /// Before the measured window.
    Warmup,
    /// The measured window: there was too little before it.
    #[default]
    Window,
}

/// What happened before the measured window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WarmupGc {
    /// Share of the warm-up with 0, 1, .., N members in GC.
    pub shares: Vec<f64>,
    /// Times that members began to collect, all together.
    pub events: u64,
}

impl WarmupGc {
    /// Of members whose GC was watched from the start of the run to `end`, and began so often.
    pub fn new(gc: GcOverlap, events: u64, end: SimTime) -> Self {
        WarmupGc { shares: gc.finish(end), events }
    }
}

/// Fewer collections of each member than this say little of how long it collects.
const EVENTS_MIN: u64 = 5;

impl FeasibilityReport {
    /// Of a scheme under which `at_once` members may collect at the same time. `window` has the shares of the measured
    /// window with 0, 1, .., N members in GC.
    pub fn new(at_once: u16, warmup: &WarmupGc, window: &[f64]) -> Self {
        let members = window.len().saturating_sub(1) as u64;
        let is_enough = warmup.events >= EVENTS_MIN * members.max(1);
        let (shares, measured_in) = match is_enough {
            true => (&warmup.shares[..], MeasuredIn::Warmup),
            false => (window, MeasuredIn::Window),
        };
        let collecting: f64 = shares.iter().enumerate().map(|(members, share)| members as f64 * share).sum();
        FeasibilityReport {
            load: collecting / f64::from(at_once.max(1)),
            at_once: at_once.max(1),
            measured_in,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_types::DeviceId;

    /// Two members in 100 ns: one collects for 60, the other for 50, together for 20.
    fn warmup(events: u64) -> WarmupGc {
        let mut gc = GcOverlap::new(2, SimTime::ZERO);
        gc.interval(DeviceId(0), SimTime(0), SimTime(60));
        gc.interval(DeviceId(1), SimTime(40), SimTime(90));
        WarmupGc::new(gc, events, SimTime(100))
    }

    #[test]
    fn the_load_is_the_time_all_members_collect_for_each_that_may() {
        let of = |at_once| FeasibilityReport::new(at_once, &warmup(10), &[1.0, 0.0, 0.0]);
        assert!((of(1).load - 1.1).abs() < 1e-12 && (of(2).load - 0.55).abs() < 1e-12);
        assert_eq!((of(2).measured_in, of(2).at_once), (MeasuredIn::Warmup, 2));
    }

    #[test]
    fn a_warm_up_of_few_collections_leaves_it_to_the_window() {
        let of = |events| FeasibilityReport::new(1, &warmup(events), &[0.25, 0.25, 0.5]);
        assert_eq!((of(9).load, of(9).measured_in), (1.25, MeasuredIn::Window));
        assert_eq!(of(10).measured_in, MeasuredIn::Warmup, "five of each member");
    }
}
