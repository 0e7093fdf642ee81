//! Stub.
use super::Device;
use crate::probe::Probe;
use harmonia_types::SimTime;

impl<P: Probe> Device<P> {
    /// Stub.
    pub fn fail(&mut self, _now: SimTime) {}
    /// Stub.
    pub fn slow_down(&mut self, _now: SimTime, _factor: f64) {}
}
