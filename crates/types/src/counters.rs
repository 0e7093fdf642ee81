//! What a device and a reader of traces count. They keep these themselves, and a report reads them: nobody converts.
//!
//! Counters only ever grow, so a measured window is the difference of two readings. The longest queue is a maximum, which no
//! difference tells: a device counts it anew where the window begins, so a later reading *is* that of the window.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{IoCause, SimDuration};

/// Counts since the device was created; ageing is not included unless a field says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Pages read from flash for the host.
    pub host_pages_read: u64,
    /// Pages read from flash for the array's parity: old data, old parity, the rest of a stripe.
    pub parity_pages_read: u64,
    /// Reads of pages of which a write covered a part. Not those that an array needs for parity: to a device they are reads.
    pub read_modify_write_reads: u64,
    /// Page programs by cause, ageing included: subtract an earlier reading.
    pub programs: [u64; IoCause::COUNT],
    /// Bytes of those pages that nobody wrote, because a write covered its page in part, by cause.
    pub padding: [u64; IoCause::COUNT],
    /// Block erases, ageing included.
    pub erases: u64,
    /// Victims collected, ageing included.
    pub gc_victims: u64,
    /// Data pages these hold when full, ageing included.
    pub victim_pages: u64,
    /// Pages moved out of them; what has been moved of victims that are not erased yet is left out. Ageing included.
    pub victim_pages_moved: u64,
    /// Time dies spent collecting, summed over dies.
    pub gc_busy: SimDuration,
    /// How long planes were busy in it, each through its own transfer, summed over planes.
    pub gc_plane_busy: SimDuration,
    /// Sibling planes that could have taken a host read along with a page garbage collection read.
    pub paired_reads: Pairing,
    /// The same for writes and the pages it programmed.
    pub paired_writes: Pairing,
    /// Host reads answered by garbage collection's own read of their page.
    pub merged_reads: u64,
    /// Pages read by garbage collection and overwritten by the host before they were programmed.
    pub superseded: u64,
    /// Host commands run while an event of their die was under way, those that took part in it left out.
    pub preemptions: u64,
    /// Times a program, or an erase of garbage collection, was suspended.
    pub suspends: u64,
    /// Host operations waiting at a die when it began an event.
    pub depth_at_gc: QueueDepth,
    /// How long events of dies were expected to take, and took.
    pub estimated: Estimates,
    /// Operations of the host that met collection of their die: of the plane they are for, too, or of sibling planes only.
    /// Counted where every plane owns its blocks.
    pub met_gc: MetGc,
}

/// Places in the commands of garbage collection for operations of sibling planes. They sum up: offered = matched +
/// none_waiting + other_offset + not_ready + needs_read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// Places there were. Unit: count.
    pub offered: u64,
    /// Taken by a host operation. Unit: count.
    pub matched: u64,
    /// No operation of the type waited for the plane. Unit: count.
    pub none_waiting: u64,
    /// Some did, but for another page offset (reads), or the plane's open blocks had another (writes); or they stood behind
    /// an earlier operation on their page. Unit: count.
    pub other_offset: u64,
    /// The first that fitted was not there yet. Unit: count.
    pub not_ready: u64,
    /// Only writes of parts of pages waited that could have gone to the plane: the rest of such a page must be read first.
    /// Unit: count.
    #[serde(default)]
    pub needs_read: u64,
    /// Of the places that were not taken, those whose plane left its next page unwritten to keep its write offset equal.
    /// Unit: count.
    #[serde(default)]
    pub skipped: u64,
}

/// Host operations waiting at a die when it begins to collect, summed over events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueDepth {
    /// Events begun.
    pub events: u64,
    /// Operations that waited, in all.
    pub waiting: u64,
    /// Most that waited at once.
    pub most: u64,
}

/// How well a device foresees how long the events of its dies take, those that take no time left out. Sums, so that the
/// reading at the beginning of a window can be subtracted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimates {
    /// Events that have ended.
    pub events: u64,
    /// How long they were expected to take when they began.
    pub estimated: SimDuration,
    /// From their begin to their end, host operations between their steps included.
    pub actual: SimDuration,
    /// The differences of the two, each without its sign.
    pub error: SimDuration,
}

/// Operations that met collection of their die, by the planes that collected: an operation of several pages met its own
/// plane's if one of the pages did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MetGc {
    /// Reads of a plane that collected.
    pub own_reads: Met,
    /// Writes to one.
    pub own_writes: Met,
    /// Reads that met nothing but collections of sibling planes.
    pub sibling_reads: Met,
    /// Such writes.
    pub sibling_writes: Met,
}

/// Operations and their time from submission to finish.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Met {
    /// How many.
    pub count: u64,
    /// Their time, summed.
    pub time: SimDuration,
}

/// A reason and how often it applied: what a reader did to a trace, and what a report says of that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// Why.
    pub reason: Cow<'static, str>,
    /// How often. Unit: count.
    pub rows: u64,
}

/// How two readings are combined, counter by counter.
type Combine = fn(u64, u64) -> u64;

fn since(now: u64, then: u64) -> u64 {
    now.checked_sub(then).expect("a counter must never run backwards")
}

fn times(combine: Combine, one: SimDuration, other: SimDuration) -> SimDuration {
    SimDuration(combine(one.0, other.0))
}

impl DeviceCounters {
    /// What was counted after `start`, where the device's maximum began anew.
    ///
    /// # Panics
    /// If a counter is below its value at `start`.
    pub fn since(&self, start: &DeviceCounters) -> DeviceCounters {
        let mut counted = self.zip(start, since);
        counted.depth_at_gc.most = self.depth_at_gc.most;
        counted
    }

    /// The counters of several devices, summed; times end at the longest there is, and the longest queue stays.
    pub fn sum<'a>(devices: impl IntoIterator<Item = &'a DeviceCounters>) -> DeviceCounters {
        devices
            .into_iter()
            .fold(DeviceCounters::default(), |sum, device| sum.zip(device, u64::saturating_add))
    }

    /// Combines counter by counter; of the maximum the larger stays. A literal of all fields, so that none can be forgotten.
    fn zip(&self, other: &DeviceCounters, combine: Combine) -> DeviceCounters {
        DeviceCounters {
            host_pages_read: combine(self.host_pages_read, other.host_pages_read),
            parity_pages_read: combine(self.parity_pages_read, other.parity_pages_read),
            read_modify_write_reads: combine(self.read_modify_write_reads, other.read_modify_write_reads),
            programs: std::array::from_fn(|cause| combine(self.programs[cause], other.programs[cause])),
            padding: std::array::from_fn(|cause| combine(self.padding[cause], other.padding[cause])),
            erases: combine(self.erases, other.erases),
            gc_victims: combine(self.gc_victims, other.gc_victims),
            victim_pages: combine(self.victim_pages, other.victim_pages),
            victim_pages_moved: combine(self.victim_pages_moved, other.victim_pages_moved),
            gc_busy: times(combine, self.gc_busy, other.gc_busy),
            gc_plane_busy: times(combine, self.gc_plane_busy, other.gc_plane_busy),
            paired_reads: self.paired_reads.zip(&other.paired_reads, combine),
            paired_writes: self.paired_writes.zip(&other.paired_writes, combine),
            merged_reads: combine(self.merged_reads, other.merged_reads),
            superseded: combine(self.superseded, other.superseded),
            preemptions: combine(self.preemptions, other.preemptions),
            suspends: combine(self.suspends, other.suspends),
            depth_at_gc: self.depth_at_gc.zip(&other.depth_at_gc, combine),
            estimated: self.estimated.zip(&other.estimated, combine),
            met_gc: self.met_gc.zip(&other.met_gc, combine),
        }
    }

    /// Flash pages programmed for `cause`. Unit: pages.
    pub fn programmed(&self, cause: IoCause) -> u64 {
        self.programs[cause as usize]
    }

    /// Pages of the host's data, and of the array's logs and background work: all that was written to the device but parity.
    /// Unit: pages.
    pub fn host_pages_written(&self) -> u64 {
        [IoCause::Host, IoCause::Log, IoCause::Background].map(|cause| self.programmed(cause)).iter().sum()
    }

    /// Programmed of the host's data, if its pages have so many bytes. Unit: bytes.
    pub fn host_bytes(&self, page_size: u64) -> u64 {
        self.programmed(IoCause::Host) * page_size - self.padding[IoCause::Host as usize]
    }

    /// Valid pages moved out of victims. Unit: pages.
    pub fn gc_pages_moved(&self) -> u64 {
        self.programmed(IoCause::Gc)
    }

    /// Flash data pages programmed, for whatever but metadata. Unit: pages.
    pub fn data_pages_programmed(&self) -> u64 {
        self.programs.iter().sum::<u64>() - self.programmed(IoCause::Metadata)
    }
}

impl Pairing {
    fn zip(&self, other: &Pairing, combine: Combine) -> Pairing {
        Pairing {
            offered: combine(self.offered, other.offered),
            matched: combine(self.matched, other.matched),
            none_waiting: combine(self.none_waiting, other.none_waiting),
            other_offset: combine(self.other_offset, other.other_offset),
            not_ready: combine(self.not_ready, other.not_ready),
            needs_read: combine(self.needs_read, other.needs_read),
            skipped: combine(self.skipped, other.skipped),
        }
    }

    /// Both together.
    pub fn plus(&self, other: &Pairing) -> Pairing {
        self.zip(other, |one, other| one + other)
    }
}

impl QueueDepth {
    fn zip(&self, other: &QueueDepth, combine: Combine) -> QueueDepth {
        QueueDepth {
            events: combine(self.events, other.events),
            waiting: combine(self.waiting, other.waiting),
            most: self.most.max(other.most),
        }
    }
}

impl MetGc {
    fn zip(&self, other: &MetGc, combine: Combine) -> MetGc {
        MetGc {
            own_reads: self.own_reads.zip(&other.own_reads, combine),
            own_writes: self.own_writes.zip(&other.own_writes, combine),
            sibling_reads: self.sibling_reads.zip(&other.sibling_reads, combine),
            sibling_writes: self.sibling_writes.zip(&other.sibling_writes, combine),
        }
    }
}

impl Met {
    /// Takes note of an operation that is done.
    pub fn add(&mut self, time: SimDuration) {
        self.count += 1;
        self.time += time;
    }

    fn zip(&self, other: &Met, combine: Combine) -> Met {
        Met { count: combine(self.count, other.count), time: times(combine, self.time, other.time) }
    }
}

impl Estimates {
    /// Takes note of an event that has ended.
    pub fn add(&mut self, estimated: SimDuration, actual: SimDuration) {
        self.events += 1;
        self.estimated += estimated;
        self.actual += actual;
        self.error += actual.max(estimated) - actual.min(estimated);
    }

    fn zip(&self, other: &Estimates, combine: Combine) -> Estimates {
        Estimates {
            events: combine(self.events, other.events),
            estimated: times(combine, self.estimated, other.estimated),
            actual: times(combine, self.actual, other.actual),
            error: times(combine, self.error, other.error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every counter a different number, so that a swapped field shows.
    const COUNTED: DeviceCounters = DeviceCounters {
        host_pages_read: 10,
        parity_pages_read: 11,
        read_modify_write_reads: 12,
        programs: [13, 14, 15, 16, 41, 42],
        padding: [43, 44, 45, 46, 47, 48],
        erases: 17,
        gc_victims: 18,
        victim_pages: 20,
        victim_pages_moved: 19,
        gc_busy: SimDuration(1_000),
        gc_plane_busy: SimDuration(1_500),
        paired_reads: Pairing {
            offered: 10,
            matched: 1,
            none_waiting: 2,
            other_offset: 3,
            not_ready: 4,
            needs_read: 0,
            skipped: 0,
        },
        paired_writes: Pairing {
            offered: 45,
            matched: 5,
            none_waiting: 6,
            other_offset: 7,
            not_ready: 8,
            needs_read: 19,
            skipped: 20,
        },
        merged_reads: 21,
        superseded: 22,
        preemptions: 23,
        suspends: 24,
        depth_at_gc: QueueDepth { events: 25, waiting: 40, most: 17 },
        estimated: Estimates {
            events: 4,
            estimated: SimDuration(700),
            actual: SimDuration(800),
            error: SimDuration(60),
        },
        met_gc: MetGc {
            own_reads: Met { count: 26, time: SimDuration(27) },
            own_writes: Met { count: 28, time: SimDuration(29) },
            sibling_reads: Met { count: 31, time: SimDuration(32) },
            sibling_writes: Met { count: 33, time: SimDuration(34) },
        },
    };

    #[test]
    fn what_came_before_the_window_is_discarded_and_a_maximum_is_the_windows_own() {
        let mut warm = COUNTED;
        warm.depth_at_gc.most = 900;
        let mut later = DeviceCounters::sum([&COUNTED, &COUNTED]);
        assert_eq!((later.programs, later.gc_plane_busy), ([26, 28, 30, 32, 82, 84], SimDuration(3_000)));
        assert_eq!(later.padding, [86, 88, 90, 92, 94, 96]);
        assert_eq!((later.paired_reads.matched, later.paired_writes.not_ready), (2, 16));
        assert_eq!((later.estimated.error, later.depth_at_gc.events), (SimDuration(120), 50));
        assert_eq!(later.met_gc.sibling_writes, Met { count: 66, time: SimDuration(68) });
        later.depth_at_gc.most = 17;
        assert_eq!(later.since(&warm), COUNTED);
    }

    #[test]
    fn of_several_devices_the_longest_queue_stays_and_times_end_at_the_longest() {
        let mut other = COUNTED;
        other.depth_at_gc.most = 30;
        other.gc_busy = SimDuration(u64::MAX);
        let both = DeviceCounters::sum([&COUNTED, &other]);
        assert_eq!((both.depth_at_gc.most, both.gc_busy), (30, SimDuration(u64::MAX)));
    }

    #[test]
    #[should_panic(expected = "never run backwards")]
    fn a_counter_that_runs_backwards_is_found() {
        COUNTED.since(&DeviceCounters { suspends: 25, ..COUNTED });
    }
}
