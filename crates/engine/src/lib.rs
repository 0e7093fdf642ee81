//! Ordered simulated time and named random streams. Knows nothing of storage.
//!
//! Two queues order events by (time, sequence of insertion): [`SlotQueue`] where each of a few resources has at most
//! one pending event (dies, channels), [`EventQueue`] for anything else (messages, timers). Randomness comes from
//! [`Rng`], one stream per named component, so that adding a component shifts no other's numbers.
//! [`Permutation`] puts numbers into a random order without a table.
//!
//! [`prefetch`], [`prefetch_one_of_many`] and [`prefetch_whole`] ask the caches of the processor for what will be needed soon.
//!
//! [`workers`] does many things that have nothing to do with one another on a few threads.
//!
//! Not here: a global run loop. Devices and arrays are sans-IO and are advanced by whoever owns the clock.

mod cache;
mod events;
mod permutation;
mod rng;
mod slots;
pub mod workers;

pub use cache::{prefetch, prefetch_one_of_many, prefetch_whole};
pub use events::EventQueue;
pub use permutation::Permutation;
pub use rng::{Places, Rng};
pub use slots::SlotQueue;
