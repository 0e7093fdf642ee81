//! RAID arrays of simulated SSDs and the coordination of their garbage collection.
//!
//! * [`coordination`]: who collects when (control), one file per policy;
//! * `planner`: which member operations a host request becomes (data);
//! * `Array`: the O-RAID controller that carries both out; sans-IO like its devices.

mod config;
pub mod coordination;

pub use config::{ArrayConfig, CoordinationConfig, Level, MemberConfig};
