//! What planes did, from the device's probe to a run's observer.
//!
//! Only the first member is watched, and only in runs whose observer asks for it: others run with a probe that does
//! nothing.

use harmonia_flash::Geometry;
use harmonia_metrics::recording::{MemberPlanes, PlaneRecorder};
use harmonia_ssd::probe::{AuditProbe, NoProbe, Probe};
use harmonia_types::{DeviceId, PlaneWork, SimTime};

/// A probe that may have recorded planes.
pub(super) trait Told: Probe {
    /// What it recorded.
    fn planes(&self) -> Option<MemberPlanes> {
        None
    }
}

impl Told for NoProbe {}
impl Told for AuditProbe {}

/// Records the planes of one member, or nothing; checks the device's invariants too if `AUDIT`.
#[derive(Debug, Clone)]
pub(super) struct PlaneProbe<const AUDIT: bool> {
    member: DeviceId,
    recorder: Option<Box<PlaneRecorder>>,
}

impl<const AUDIT: bool> PlaneProbe<AUDIT> {
    /// Of a member with such dies.
    pub fn new(member: DeviceId, geometry: &Geometry) -> Self {
        let recorder = || Box::new(PlaneRecorder::new(geometry.dies(), geometry.planes_per_die));
        PlaneProbe { member, recorder: (member == DeviceId(0)).then(recorder) }
    }
}

impl<const AUDIT: bool> Told for PlaneProbe<AUDIT> {
    fn planes(&self) -> Option<MemberPlanes> {
        let dies = self.recorder.as_ref()?.finish();
        Some(MemberPlanes { member: self.member, dies })
    }
}

impl<const CHECKS: bool> Probe for PlaneProbe<CHECKS> {
    const AUDIT: bool = CHECKS;
    const WATCHES_PLANES: bool = true;

    fn works(&mut self, at: SimTime, die: u32, plane: Option<u32>, work: PlaneWork) {
        if let Some(recorder) = &mut self.recorder {
            recorder.works(at, die, plane, work);
        }
    }

    fn stops(&mut self, at: SimTime, die: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.stops(at, die);
        }
    }

    fn suspends(&mut self, at: SimTime, die: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.suspends(at, die);
        }
    }

    fn waits(&mut self, at: SimTime, die: u32, operations: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.waits(at, die, operations);
        }
    }

    fn window(&mut self, from: SimTime) {
        if let Some(recorder) = &mut self.recorder {
            recorder.window(from);
        }
    }
}
