//! What devices tell while they run, to the report and to a run's observer.
//!
//! How each device stands is always watched. What planes do is watched of the first member only, and only in runs whose
//! observer asks for it: in others the device does not even look.

use harmonia_flash::Geometry;
use harmonia_metrics::recording::{MemberPlanes, PlaneRecorder};
use harmonia_metrics::{OverTime, OverTimeReport};
use harmonia_ssd::probe::Probe;
use harmonia_types::{DeviceId, Levels, PlaneWork, SimTime};

/// A probe that tells what it has seen.
pub(super) trait Told: Probe {
    /// Of a member with such dies.
    fn new(member: DeviceId, geometry: &Geometry) -> Self;

    /// How the device stood over time, up to `end`.
    fn over_time(&self, end: SimTime) -> OverTimeReport;

    /// What its planes did, if they were recorded.
    fn planes(&self) -> Option<MemberPlanes>;
}

/// Watches one member, and its planes if `PLANES`; has the device check its invariants too if `CHECKS`.
#[derive(Debug, Clone)]
pub(super) struct RunProbe<const PLANES: bool, const CHECKS: bool> {
    member: DeviceId,
    over_time: OverTime,
    planes: Option<Box<PlaneRecorder>>,
}

impl<const PLANES: bool, const CHECKS: bool> Told for RunProbe<PLANES, CHECKS> {
    fn new(member: DeviceId, geometry: &Geometry) -> Self {
        let recorder = || Box::new(PlaneRecorder::new(geometry.dies(), geometry.planes_per_die));
        RunProbe {
            member,
            over_time: OverTime::new(geometry.channels as usize),
            planes: (PLANES && member == DeviceId(0)).then(recorder),
        }
    }

    fn over_time(&self, end: SimTime) -> OverTimeReport {
        self.over_time.report(end)
    }

    fn planes(&self) -> Option<MemberPlanes> {
        let dies = self.planes.as_ref()?.finish();
        Some(MemberPlanes { member: self.member, dies })
    }
}

impl<const PLANES: bool, const CHECKS: bool> Probe for RunProbe<PLANES, CHECKS> {
    const AUDIT: bool = CHECKS;
    const WATCHES_PLANES: bool = PLANES;
    const WATCHES_LEVELS: bool = true;

    fn works(&mut self, at: SimTime, die: u32, plane: Option<u32>, work: PlaneWork) {
        if let Some(recorder) = &mut self.planes {
            recorder.works(at, die, plane, work);
        }
    }

    fn stops(&mut self, at: SimTime, die: u32) {
        if let Some(recorder) = &mut self.planes {
            recorder.stops(at, die);
        }
    }

    fn suspends(&mut self, at: SimTime, die: u32) {
        if let Some(recorder) = &mut self.planes {
            recorder.suspends(at, die);
        }
    }

    fn waits(&mut self, at: SimTime, die: u32, operations: u32) {
        if let Some(recorder) = &mut self.planes {
            recorder.waits(at, die, operations);
        }
    }

    #[inline]
    fn levels(&mut self, at: SimTime, levels: &Levels) {
        self.over_time.levels(at, levels);
    }

    fn window(&mut self, from: SimTime) {
        self.over_time.window(from);
        if let Some(recorder) = &mut self.planes {
            recorder.window(from);
        }
    }
}
