//! Every die that wants to collect may do so.
//!
//! Source: the MSR SSD model, in which elements know nothing of one another.
//!
//! Leaves out: any limit.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, no_keys};

use super::{Build, Concurrency, Limit, Load};

#[derive(Clone)]
struct Unlimited;

impl Concurrency for Unlimited {
    fn admits_all(&self) -> bool {
        true
    }

    fn limit(&self, _: SimTime, load: &Load<'_>) -> Limit {
        Limit { channels: load.depth.len() as u32, begins: false }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "unlimited",
    summary: "every die that wants to collect may do so",
    source: "MSR SSD model",
    keys: &no_keys,
    build: &|_| Ok(Box::new(Unlimited)),
};
