//! Where response times went, summed over requests.
//!
//! Two views of the same nanoseconds. [`BlameSum`] has eleven parts for whoever asks "what did requests wait for?";
//! [`BlamePhases`] tells for each phase of a request which resource it used or waited for. A redundant array needs
//! both: waiting for garbage collection is one part of the first, whether it held up the host's own data or a read that
//! parity needed, and the second tells these apart. Waiting for rebuild, resync and scrub is another such part.
//!
//! ```text
//!                 GC         rebuild         queue       flash    bus       link
//! data            queue_gc   queue_rebuild   queue_host  service  transfer  link
//! parity          queue_gc   queue_rebuild   `---------- parity ----------------'
//! reconstruct     queue_gc   queue_rebuild   `---------- reconstruct -----------'
//! (no phase)      stripe_wait, restart, depth_wait
//! ```
//!
//! Invariant: both sum to the summed response time, to the nanosecond.

use harmonia_types::{Blame, RequestBlame};
use serde::{Deserialize, Serialize};

/// Summed blame of all requests, in nanoseconds.
///
/// 128 bits, because response times of an overloaded array can sum past 2^64 ns (584 years); written to JSON
/// as plain integers, exact at any size (a reader that holds numbers as doubles rounds above 2^53).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlameSum {
    /// Flash array time of the requests' own operations. Unit: ns.
    pub service: u128,
    /// The operations' own page transfers between die and controller. Unit: ns.
    pub transfer: u128,
    /// Waiting for a die or bus that serves other host operations. Unit: ns.
    pub queue_host: u128,
    /// Waiting for a die or bus that collects garbage, in any phase. Unit: ns.
    pub queue_gc: u128,
    /// Reading or writing parity, without its waiting for garbage collection or rebuild. Unit: ns.
    pub parity: u128,
    /// Reading other members to reconstruct data, without its waiting for garbage collection or rebuild. Unit: ns.
    pub reconstruct: u128,
    /// On the host link, or waiting for it. Unit: ns.
    pub link: u128,
    /// Waiting for a stripe that another request is changing. Unit: ns.
    #[serde(default)]
    pub stripe_wait: u128,
    /// Waiting for a die that serves rebuild, resync or scrub of the array, in any phase. Unit: ns.
    #[serde(default)]
    pub queue_rebuild: u128,
    /// From arrival until the host submitted the request again after a loss of power; absent if 0. Unit: ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restart: u128,
    /// In the array, waiting until a member or the controller has room for one more operation; absent if 0. Unit: ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub depth_wait: u128,
}

fn is_zero(ns: &u128) -> bool {
    *ns == 0
}

/// The report's `host.blame_phases_ns`: summed blame of all requests by phase, without waiting for stripes or
/// places in queues and restarts, which belong to none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlamePhases {
    /// Operations on the host's own data. Unit: ns.
    pub data: ResourceSum,
    /// Reading or writing parity, or the old data that new parity is made of. Unit: ns.
    pub parity: ResourceSum,
    /// Reading other members to reconstruct data. Unit: ns.
    pub reconstruct: ResourceSum,
}

/// The time of one phase by resource, summed over all requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceSum {
    /// Waiting for a die or bus that collects garbage. Unit: ns.
    pub gc: u128,
    /// Waiting for a die or bus that serves other host operations. Unit: ns.
    pub queue: u128,
    /// Flash array time of the phase's own operations. Unit: ns.
    pub flash: u128,
    /// Their page transfers between die and controller. Unit: ns.
    pub bus: u128,
    /// On the host link, or waiting for it. Unit: ns.
    pub link: u128,
    /// Waiting for a die that serves rebuild, resync or scrub of the array. Unit: ns.
    #[serde(default)]
    pub rebuild: u128,
}

impl BlameSum {
    /// Adds the blame of one request.
    pub fn add(&mut self, blame: &RequestBlame) {
        let RequestBlame { data, parity, reconstruct, stripe_wait, restart, depth_wait } = blame;
        self.service += u128::from(data.service);
        self.transfer += u128::from(data.transfer);
        self.queue_host += u128::from(data.queue_host);
        self.queue_gc += u128::from(blame.queue_gc());
        self.parity += u128::from(parity.without_gc_and_rebuild());
        self.reconstruct += u128::from(reconstruct.without_gc_and_rebuild());
        self.link += u128::from(data.link);
        self.stripe_wait += u128::from(*stripe_wait);
        self.queue_rebuild += u128::from(blame.queue_rebuild());
        self.restart += u128::from(*restart);
        self.depth_wait += u128::from(*depth_wait);
    }

    /// Sum of all parts: the summed response time they explain. Unit: ns.
    pub fn total(&self) -> u128 {
        let BlameSum { service, transfer, queue_host, queue_gc, parity, reconstruct, link, .. } = self;
        let own = service + transfer + link + parity + reconstruct;
        own + queue_host + queue_gc + self.queue_rebuild + self.stripe_wait + self.restart + self.depth_wait
    }
}

impl BlamePhases {
    /// Adds the blame of one request.
    pub fn add(&mut self, blame: &RequestBlame) {
        self.data.add(&blame.data);
        self.parity.add(&blame.parity);
        self.reconstruct.add(&blame.reconstruct);
    }

    /// The same time in eleven parts, with those of `whole` that belong to no phase.
    pub fn parts(&self, whole: &BlameSum) -> BlameSum {
        let BlamePhases { data, parity, reconstruct } = self;
        BlameSum {
            service: data.flash,
            transfer: data.bus,
            queue_host: data.queue,
            queue_gc: data.gc + parity.gc + reconstruct.gc,
            parity: parity.total() - parity.gc - parity.rebuild,
            reconstruct: reconstruct.total() - reconstruct.gc - reconstruct.rebuild,
            link: data.link,
            stripe_wait: whole.stripe_wait,
            queue_rebuild: data.rebuild + parity.rebuild + reconstruct.rebuild,
            restart: whole.restart,
            depth_wait: whole.depth_wait,
        }
    }
}

impl ResourceSum {
    /// Adds the time of one request's operations.
    pub fn add(&mut self, blame: &Blame) {
        let Blame { service, transfer, queue_host, queue_gc, queue_rebuild, link } = *blame;
        self.gc += u128::from(queue_gc);
        self.rebuild += u128::from(queue_rebuild);
        self.queue += u128::from(queue_host);
        self.flash += u128::from(service);
        self.bus += u128::from(transfer);
        self.link += u128::from(link);
    }

    /// Sum over the resources. Unit: ns.
    pub fn total(&self) -> u128 {
        let ResourceSum { gc, queue, flash, bus, link, rebuild } = self;
        gc + queue + flash + bus + link + rebuild
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A degraded write in which every part of every phase is another power of two, so that a swapped one shows.
    pub(crate) const EVERY_PART: RequestBlame = RequestBlame {
        data: Blame { service: 1, transfer: 2, queue_host: 4, queue_gc: 8, link: 16, queue_rebuild: 65536 },
        parity: Blame {
            service: 32,
            transfer: 64,
            queue_host: 128,
            queue_gc: 256,
            link: 512,
            queue_rebuild: 131072,
        },
        reconstruct: Blame {
            service: 1024,
            transfer: 2048,
            queue_host: 4096,
            queue_gc: 8192,
            link: 16384,
            queue_rebuild: 262144,
        },
        stripe_wait: 32768,
        restart: 524288,
        depth_wait: 1048576,
    };

    #[test]
    fn waiting_for_collection_or_rebuild_is_one_part_in_all_phases() {
        let mut sum = BlameSum::default();
        sum.add(&EVERY_PART);
        let expected = BlameSum {
            service: 1,
            transfer: 2,
            queue_host: 4,
            queue_gc: 8 + 256 + 8192,
            parity: 32 + 64 + 128 + 512,
            reconstruct: 1024 + 2048 + 4096 + 16384,
            link: 16,
            stripe_wait: 32768,
            queue_rebuild: 65536 + 131072 + 262144,
            restart: 524288,
            depth_wait: 1048576,
        };
        assert_eq!(sum, expected);
        assert_eq!(sum.total(), u128::from(EVERY_PART.total()));
    }

    #[test]
    fn each_resource_of_each_phase_has_its_place() {
        let mut phases = BlamePhases::default();
        phases.add(&EVERY_PART);
        let expected = BlamePhases {
            data: ResourceSum { gc: 8, queue: 4, flash: 1, bus: 2, link: 16, rebuild: 65536 },
            parity: ResourceSum { gc: 256, queue: 128, flash: 32, bus: 64, link: 512, rebuild: 131072 },
            reconstruct: ResourceSum {
                gc: 8192,
                queue: 4096,
                flash: 1024,
                bus: 2048,
                link: 16384,
                rebuild: 262144,
            },
        };
        assert_eq!(phases, expected);
        assert_eq!(phases.parity.total(), 992 + 131072);
    }

    #[test]
    fn both_views_are_of_the_same_time() {
        let (mut sum, mut phases) = (BlameSum::default(), BlamePhases::default());
        for _ in 0..3 {
            sum.add(&EVERY_PART);
            phases.add(&EVERY_PART);
        }
        assert_eq!(phases.parts(&sum), sum);
    }

    #[test]
    fn sums_beyond_64_bits_stay_exact_and_survive_json() {
        let service = |service| RequestBlame { data: Blame { service, ..Blame::default() }, ..EVERY_PART };
        let mut sum = BlameSum::default();
        sum.add(&service(u64::MAX));
        sum.add(&service(u64::MAX));
        assert_eq!(sum.service, 36_893_488_147_419_103_230);
        let text = serde_json::to_string(&sum).unwrap();
        assert!(text.starts_with(r#"{"service":36893488147419103230,"#), "{text}");
        assert_eq!(serde_json::from_str::<BlameSum>(&text).unwrap(), sum);
    }
}
