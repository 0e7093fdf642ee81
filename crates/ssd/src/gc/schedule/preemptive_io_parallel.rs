//! Io-parallel combined with preemptive. A host operation that finds a partner shares the collection's command; one that finds
//! none goes between its steps.
//!
//! It has no rule of its own: it is `preemptive` around `io-parallel`. A step that io-parallel pairs stays together. A step
//! that it would take alone lets the host go first while every unit of the die is above its hard threshold.
//!
//! Source: HPDC 2018, 4.4, which proposes it and does not evaluate it.
//!
//! Leaves out: waiting a little for a partner before the host goes first.

use harmonia_types::registry::{Entry, own_keys};

use super::Build;
use super::io_parallel::{Config, IoParallel};
use super::preemptive::Preemptive;

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "preemptive-io-parallel",
    summary: "io-parallel; host operations without a partner go between its steps, until a unit reaches its hard threshold",
    source: "HPDC 2018, 4.4",
    keys: &own_keys::<Config>,
    build: &|parameters| Ok(Box::new(Preemptive { inner: IoParallel::new(parameters)? })),
};
