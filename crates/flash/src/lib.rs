//! Flash as hardware: geometry, timing, the buses between dies and controller, the host link, and presets.
//!
//! Knows nothing of mapping or garbage collection: given an operation and a start it says when things end.

mod bus;
mod config;
pub mod presets;

pub use bus::{Bus, Grant, Link, Turn, Urgency};
pub use config::{
    CommandOrder, Commands, Copyback, Geometry, LinkConfig, LinkOrder, PageTimes, ReadRetry, Timing,
};
