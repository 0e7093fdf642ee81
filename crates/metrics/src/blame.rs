//! Where response times went, summed over requests.
//!
//! Two views of the same nanoseconds. [`BlameSum`] has a number of parts for whoever asks "what did requests wait for?";
//! [`BlamePhases`] tells for each phase of a request which resource it used or waited for. A redundant array needs
//! both: waiting for garbage collection is one part of the first, whether it held up the host's own data or a read that
//! parity needed, and the second tells these apart. Waiting for rebuild, resync and scrub is another such part.
//!
//! ```text
//!                 GC         rebuild         queue       flash    bus       link
//! data            queue_gc   queue_rebuild   queue_host  service  transfer  link, cache_wait, map_wait
//! parity          queue_gc   queue_rebuild   `---------- parity ----------------'
//! reconstruct     queue_gc   queue_rebuild   `---------- reconstruct -----------'
//! (no phase)      stripe_wait, restart, depth_wait, log_wait, window_wait, entry_wait
//! ```
//!
//! Invariant: both sum to the summed response time, to the nanosecond.

use harmonia_types::{Blame, Counter, Counters, RequestBlame, sort_by_numbers};

harmonia_types::counters! {
    /// The report's `host.blame_ns`: summed blame of all requests.
    ///
    /// 128 bits, because response times of an overloaded array can sum past 2^64 ns (584 years); written to JSON
    /// as plain integers, exact at any size (a reader that holds numbers as doubles rounds above 2^53).
    pub struct BlameSum {
        /// Flash reads and programs of the host's own data.
        pub service: u128 = Sum, "ns" as "flash";
        /// Page transfers of the host's own data between die and controller.
        pub transfer: u128 = Sum, "ns";
        /// Waiting of the host's own data for a die or bus that served other host operations.
        pub queue_host: u128 = Sum, "ns" as "host queue";
        /// Waiting for a die or bus that collected garbage, including operations for parity and reconstruction, and collections that
        /// level wear.
        pub queue_gc: u128 = Sum, "ns" as "GC queue";
        /// Operations on parity, less the waiting that counts as `queue_gc` or `queue_rebuild`; 0 without redundancy.
        pub parity: u128 = Sum, "ns";
        /// Reads of other members to rebuild data, less the waiting that counts as `queue_gc` or `queue_rebuild`; 0 without
        /// redundancy.
        pub reconstruct: u128 = Sum, "ns";
        /// The host link of the host's own data, with the wait for it.
        pub link: u128 = Sum, "ns";
        /// Waiting for a stripe that another request was changing; 0 without redundancy.
        pub stripe_wait: u128 = Sum, "ns" as "stripe wait";
        /// Waiting for a die that served rebuild, resync or scrub of the array, in any phase; 0 without such work.
        pub queue_rebuild: u128 = Sum, "ns" as "rebuild wait";
        /// From arrival until the host submitted the request again after a loss of power; absent if 0.
        pub restart: u128 = Sum, "ns", [serde(skip_serializing_if = "is_zero")];
        /// Waiting in the array until a member or the controller had room for one more operation (`ssd.link.queue_depth`,
        /// `array.queue_depth`), whatever kept the others there; absent if 0.
        pub depth_wait: u128 = Sum, "ns" as "depth wait", [serde(skip_serializing_if = "is_zero")];
        /// Waiting until the log of the array had room, or until its write-intent bitmap could be written (`array.write_hole`);
        /// absent if 0.
        pub log_wait: u128 = Sum, "ns" as "log wait", [serde(skip_serializing_if = "is_zero")];
        /// Waiting of the host's own data until the write cache of a drive (`ssd.write_cache`) had room, or was written to flash for
        /// a flush or a write with FUA, less the waiting that counts as `queue_gc`; absent if 0.
        pub cache_wait: u128 = Sum, "ns" as "cache wait", [serde(skip_serializing_if = "is_zero")];
        /// Waiting in a queue of the host until a drive fetched one more command (`ssd.controller.command_window`), whatever kept
        /// the others there; absent if 0.
        pub window_wait: u128 = Sum, "ns" as "window wait", [serde(skip_serializing_if = "is_zero")];
        /// The host's own data in the controller of a drive, or waiting for it: for what each command takes
        /// (`ssd.controller.command_overhead`), or until it moved what the write cache holds (`units_per_second`); absent if 0.
        pub controller: u128 = Sum, "ns", [serde(skip_serializing_if = "is_zero")];
        /// Waiting of a write until the stripe cache had an entry for each of its rows (`array.stripe_cache`), or let it read for its
        /// parity (`array.delay_pre_reads`); absent if 0.
        pub entry_wait: u128 = Sum, "ns" as "entry wait", [serde(skip_serializing_if = "is_zero")];
        /// Waiting of the host's own data until a drive had read the page of its map that it needed (`ssd.ftl.mapping_cache`),
        /// less the waiting that counts as `queue_gc`; absent if 0.
        pub map_wait: u128 = Sum, "ns" as "map wait", [serde(skip_serializing_if = "is_zero")];
    }

    /// The time of one phase by resource, summed over all requests.
    pub struct ResourceSum {
        /// Waiting for a die or bus that collected garbage.
        pub gc: u128 = Sum, "ns" as "GC queue";
        /// Waiting for a die or bus that served other host operations.
        pub queue: u128 = Sum, "ns" as "host queue";
        /// Flash reads and programs of the phase's own operations.
        pub flash: u128 = Sum, "ns";
        /// Their page transfers between die and controller.
        pub bus: u128 = Sum, "ns" as "transfer";
        /// The host link, with the wait for it.
        pub link: u128 = Sum, "ns";
        /// Waiting for a die that served rebuild, resync or scrub of the array.
        pub rebuild: u128 = Sum, "ns" as "rebuild wait";
        /// Waiting until a drive's write cache had room; absent if 0.
        pub cache: u128 = Sum, "ns" as "cache wait", [serde(skip_serializing_if = "is_zero")];
        /// In a drive's controller, or waiting for it; absent if 0.
        pub controller: u128 = Sum, "ns", [serde(skip_serializing_if = "is_zero")];
        /// Waiting until a drive had read a page of its map; absent if 0.
        pub map: u128 = Sum, "ns" as "map wait", [serde(skip_serializing_if = "is_zero")];
    }

    /// The report's `host.blame_phases_ns`: summed blame of all requests by phase, without the parts that belong to none.
    pub struct BlamePhases {
        /// Operations on the host's own data.
        pub data: ResourceSum;
        /// Reading or writing parity, or the old data that new parity is made of.
        pub parity: ResourceSum;
        /// Reading other members to reconstruct data.
        pub reconstruct: ResourceSum;
    }
}

fn is_zero(ns: &u128) -> bool {
    *ns == 0
}

/// How a part is shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// What a request did or waited for in that time.
    pub meaning: &'static str,
    /// Its colour on the page.
    pub color: &'static str,
    /// Drawn before those that are not: the request's own work, which nobody else prolongs.
    pub is_own: bool,
}

const fn own(meaning: &'static str, color: &'static str) -> Shown {
    Shown { meaning, color, is_own: true }
}

const fn other(meaning: &'static str, color: &'static str) -> Shown {
    Shown { meaning, color, is_own: false }
}

/// By part, in the order of [`BlameSum`].
const SHOWN: [Shown; BlameSum::TABLE.len()] = [
    own("the request's own flash reads and programs", "#56b4e9"),
    own("its page transfers inside the device", "#8d949c"),
    other("waiting behind other host operations", "#e3d53a"),
    other("waiting behind garbage collection, which also levels wear", "#e69f00"),
    other("reading or writing parity, without garbage collection", "#cc79a7"),
    other("reading other members to rebuild data, without garbage collection", "#009e73"),
    own("the host link, or waiting for it", "#c3c8cd"),
    other("waiting for a stripe that another request was changing", "#0072b2"),
    other("waiting behind rebuild, resync or scrub of the array", "#d55e00"),
    other("waiting to be submitted again after a loss of power", "#5b2a86"),
    other("waiting in the array for a place in the queue of a member or the controller", "#7a4a21"),
    other("waiting until the log of the array had room, or its bitmap could be written", "#a6d854"),
    other("waiting until the write cache of a drive had room", "#17becf"),
    other("waiting in a queue of the host until a drive fetched one more command", "#b15928"),
    other("in the controller of a drive, or waiting for it", "#66789a"),
    other("waiting until the stripe cache had an entry, or let a write read for its parity", "#9b1b30"),
    other("waiting for pages of the map of a drive", "#3b528b"),
];

/// A part of the response time, as tables, figures and the page show it.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Its declaration: names, and what it means in full.
    pub counter: &'static Counter,
    /// How it is shown.
    pub shown: Shown,
    index: usize,
}

impl Part {
    /// All parts, in the order in which they are drawn.
    pub fn all() -> Vec<Part> {
        let all = BlameSum::TABLE.iter().zip(SHOWN).enumerate();
        let mut parts: Vec<Part> =
            all.map(|(index, (counter, shown))| Part { counter, shown, index }).collect();
        sort_by_numbers(&mut parts, |part| (u64::from(!part.shown.is_own), 0));
        parts
    }

    /// The part with this name in JSON.
    pub fn named(name: &str) -> Option<Part> {
        Part::all().into_iter().find(|part| part.counter.name == name)
    }

    /// Its time. Unit: ns.
    pub fn of(&self, blame: &BlameSum) -> u128 {
        blame.parts()[self.index]
    }
}

impl BlameSum {
    /// Where the response time of one request went.
    pub fn of(blame: &RequestBlame) -> Self {
        let (mut apart, mut phases) = (BlameSum::default(), BlamePhases::default());
        apart.add_apart(blame);
        phases.add(blame);
        phases.parts(&apart)
    }

    /// Adds the parts of one request's blame that belong to no phase.
    pub(crate) fn add_apart(&mut self, blame: &RequestBlame) {
        let RequestBlame {
            data: _,
            parity: _,
            reconstruct: _,
            stripe_wait,
            restart,
            depth_wait,
            log_wait,
            window_wait,
            entry_wait,
        } = *blame;
        // Most requests have none of it.
        if stripe_wait | restart | depth_wait | log_wait | window_wait | entry_wait == 0 {
            return;
        }
        self.stripe_wait += u128::from(stripe_wait);
        self.restart += u128::from(restart);
        self.depth_wait += u128::from(depth_wait);
        self.log_wait += u128::from(log_wait);
        self.window_wait += u128::from(window_wait);
        self.entry_wait += u128::from(entry_wait);
    }

    /// The parts, in the order of [`Self::TABLE`]. Unit: ns.
    pub fn parts(&self) -> [u128; BlameSum::TABLE.len()] {
        let mut parts = [0; BlameSum::TABLE.len()];
        let mut left = parts.iter_mut();
        self.each(|_, ns| {
            if let Some(part) = left.next() {
                *part = ns;
            }
        });
        parts
    }

    /// Sum of all parts: the summed response time they explain. Unit: ns.
    pub fn total(&self) -> u128 {
        self.parts().iter().sum()
    }

    /// The part that took longest; of several the last.
    pub fn longest(&self) -> &'static Counter {
        let longest = self.values().into_iter().max_by_key(|(_, ns)| *ns);
        longest.map_or(&BlameSum::TABLE[0], |(counter, _)| counter)
    }
}

impl BlamePhases {
    /// Adds the blame of one request.
    pub fn add(&mut self, blame: &RequestBlame) {
        self.data.add(&blame.data);
        self.add_redundancy(blame);
    }

    /// Adds the phases of one request's blame that are for redundancy.
    pub(crate) fn add_redundancy(&mut self, blame: &RequestBlame) {
        for (sum, phase) in [(&mut self.parity, &blame.parity), (&mut self.reconstruct, &blame.reconstruct)] {
            if *phase != Blame::default() {
                sum.add(phase);
            }
        }
    }

    /// The same time as parts, with those of `apart` that belong to no phase.
    pub fn parts(&self, apart: &BlameSum) -> BlameSum {
        let BlamePhases { data, parity, reconstruct } = self;
        let others = |phase: &ResourceSum| phase.total() - phase.gc - phase.rebuild;
        BlameSum {
            service: data.flash,
            transfer: data.bus,
            queue_host: data.queue,
            queue_gc: data.gc + parity.gc + reconstruct.gc,
            parity: others(parity),
            reconstruct: others(reconstruct),
            link: data.link,
            queue_rebuild: data.rebuild + parity.rebuild + reconstruct.rebuild,
            cache_wait: data.cache,
            controller: data.controller,
            map_wait: data.map,
            ..*apart
        }
    }
}

impl ResourceSum {
    /// Adds the time of one request's operations.
    #[inline]
    pub fn add(&mut self, blame: &Blame) {
        let Blame {
            service,
            transfer,
            queue_host,
            queue_gc,
            queue_rebuild,
            link,
            cache_wait,
            controller,
            map_wait,
        } = *blame;
        self.flash += u128::from(service);
        self.bus += u128::from(transfer);
        self.link += u128::from(link);
        // Most operations wait for nothing.
        if queue_gc | queue_rebuild | queue_host > 0 {
            self.gc += u128::from(queue_gc);
            self.rebuild += u128::from(queue_rebuild);
            self.queue += u128::from(queue_host);
        }
        // Most drives have none of these.
        if cache_wait | controller | map_wait > 0 {
            self.cache += u128::from(cache_wait);
            self.controller += u128::from(controller);
            self.map += u128::from(map_wait);
        }
    }

    /// Sum over the resources. Unit: ns.
    pub fn total(&self) -> u128 {
        self.values().into_iter().map(|(_, ns)| ns).sum()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::Value;

    use super::*;

    /// A degraded write in which every part of every phase is another power of two, so that a swapped or forgotten one shows.
    pub(crate) fn every_part() -> RequestBlame {
        fn number(value: &mut Value, next: &mut u64) {
            match value {
                Value::Object(fields) => fields.values_mut().for_each(|field| number(field, next)),
                _ => {
                    *value = (*next).into();
                    *next *= 2;
                }
            }
        }
        let mut value = serde_json::to_value(RequestBlame::NONE).expect("JSON");
        number(&mut value, &mut 1);
        serde_json::from_value(value).expect("blame")
    }

    #[test]
    fn waiting_for_collection_or_rebuild_is_one_part_in_all_phases() {
        let blame = every_part();
        let RequestBlame { data, parity, reconstruct, .. } = blame;
        let sum = BlameSum::of(&blame);
        assert_eq!(sum.queue_gc, u128::from(blame.queue_gc()));
        assert_eq!(sum.queue_rebuild, u128::from(blame.queue_rebuild()));
        let own = [data.service, data.transfer, data.queue_host, data.link, data.cache_wait, data.controller];
        let summed = [sum.service, sum.transfer, sum.queue_host, sum.link, sum.cache_wait, sum.controller];
        assert_eq!(summed, own.map(u128::from));
        assert_eq!(sum.map_wait, u128::from(data.map_wait));
        let others = |phase: Blame| u128::from(phase.total() - phase.queue_gc - phase.queue_rebuild);
        assert_eq!((sum.parity, sum.reconstruct), (others(parity), others(reconstruct)));
    }

    #[test]
    fn every_part_of_every_request_is_in_exactly_one_sum() {
        let (blame, mut twice) = (every_part(), every_part());
        twice.add(&blame);
        assert_eq!(twice.total(), 2 * blame.total());
        let sum = BlameSum::of(&blame);
        let bits = |ns: u128| (0..64).filter(move |bit| ns & 1 << bit != 0).count();
        assert_eq!(sum.total(), u128::from(blame.total()));
        assert_eq!(sum.parts().map(bits).iter().sum::<usize>(), bits(blame.total().into()), "{sum:?}");
        assert!(sum.parts().iter().all(|&ns| ns > 0), "{sum:?}");
        let mut phases = BlamePhases::default();
        phases.add(&blame);
        let resources: u128 = phases.values().iter().map(|(_, ns)| ns).sum();
        assert!(resources < sum.total(), "some parts belong to no phase");
    }

    #[test]
    fn each_resource_of_each_phase_has_its_place() {
        let (blame, mut phases) = (every_part(), BlamePhases::default());
        phases.add(&blame);
        let expected = |phase: Blame| {
            let Blame {
                service,
                transfer,
                queue_host,
                queue_gc,
                queue_rebuild,
                link,
                cache_wait,
                controller,
                map_wait,
            } = phase;
            [queue_gc, queue_host, service, transfer, link, queue_rebuild, cache_wait, controller, map_wait]
                .map(u128::from)
        };
        let BlamePhases { data, parity, reconstruct } = phases;
        for (sum, phase) in [(data, blame.data), (parity, blame.parity), (reconstruct, blame.reconstruct)] {
            let ResourceSum { gc, queue, flash, bus, link, rebuild, cache, controller, map } = sum;
            assert_eq!([gc, queue, flash, bus, link, rebuild, cache, controller, map], expected(phase));
        }
    }

    #[test]
    fn the_requests_own_work_is_drawn_first_and_every_part_once() {
        let names = Part::all().into_iter().map(|part| part.counter.name).collect::<Vec<_>>();
        assert_eq!(names[..4], ["service", "transfer", "link", "queue_host"]);
        assert_eq!(names.len(), BlameSum::TABLE.len());
        let sum = BlameSum::of(&every_part());
        assert_eq!(Part::all().iter().map(|part| part.of(&sum)).sum::<u128>(), sum.total());
        let colors: std::collections::BTreeSet<_> = Part::all().iter().map(|part| part.shown.color).collect();
        assert_eq!(colors.len(), names.len(), "two parts have one colour");
    }

    #[test]
    fn sums_beyond_64_bits_stay_exact_and_survive_json() {
        let (mut apart, mut phases) = (BlameSum::default(), BlamePhases::default());
        for _ in 0..2 {
            let service = RequestBlame { data: Blame { service: u64::MAX, ..Blame::NONE }, ..every_part() };
            apart.add_apart(&service);
            phases.add(&service);
        }
        let sum = phases.parts(&apart);
        assert_eq!(sum.service, 36_893_488_147_419_103_230);
        let text = serde_json::to_string(&sum).unwrap();
        assert!(text.starts_with(r#"{"service":36893488147419103230,"#), "{text}");
        assert_eq!(serde_json::from_str::<BlameSum>(&text).unwrap(), sum);
    }
}
