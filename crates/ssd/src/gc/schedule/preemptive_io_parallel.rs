//! The composition of io-parallel and preemptive: what finds a partner goes along in the collection's commands, what finds
//! none goes between them.
//!
//! Nothing of its own: [`Preemptive`] around [`IoParallel`]. A step that io-parallel pairs is not taken apart; a step it
//! would take alone gives way to the host while every unit of the die is above its hard threshold.
//!
//! Source: HPDC 2018, 4.4, which proposes it and does not evaluate it. Leaves out: waiting a little for a partner instead
//! of preempting at once.

use harmonia_types::registry::Entry;

use super::Build;
use super::io_parallel::IoParallel;
use super::preemptive::Preemptive;

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "preemptive-io-parallel",
    summary: "io-parallel, and what finds no partner goes between its steps until a unit reaches its hard threshold",
    source: "HPDC 2018, 4.4",
    keys: &[],
    build: || Box::new(Preemptive { inner: IoParallel }),
};
