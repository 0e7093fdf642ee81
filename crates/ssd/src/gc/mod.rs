//! Garbage collection inside one device: the axes a scenario can move independently.
//!
//! * when and what together: `domain`, `trigger` and thresholds ([`crate::GcConfig`]), checked by the device;
//! * which block: [`victim`];
//! * when among host work: [`schedule`];
//! * how many at once: [`concurrency`].

pub mod concurrency;
pub mod schedule;
pub mod victim;
