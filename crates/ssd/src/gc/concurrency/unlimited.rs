//! Every die that wants to collect does.
//!
//! Source: the MSR SSD model, where elements know nothing of one another. Leaves out: everything.

use harmonia_types::SimTime;
use harmonia_types::registry::Entry;

use super::{Build, Concurrency, ConcurrencyView};

struct Unlimited;

impl Concurrency for Unlimited {
    fn admits_all(&self) -> bool {
        true
    }

    fn choose(&mut self, _: SimTime, view: &ConcurrencyView<'_>, starts: &mut Vec<u32>) {
        for (channel, &wanting) in view.wanting.iter().enumerate() {
            starts.extend(std::iter::repeat_n(channel as u32, usize::from(wanting)));
        }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "unlimited",
    summary: "every die that wants to collect does",
    source: "MSR SSD model",
    keys: &[],
    build: || Box::new(Unlimited),
};
