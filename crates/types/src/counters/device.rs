//! What a device and a reader of traces count. They keep these themselves, and a report reads them: nobody converts.
//!
//! Counters only ever grow, so a measured window is the difference of two readings. The longest queue is a maximum, which no
//! difference tells: a device counts it anew where the window begins, so a later reading *is* that of the window.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Counters;
use crate::{IoCause, SimDuration};

crate::counters! {
    /// Counts since the device was created; ageing is not included unless a field says so.
    pub struct DeviceCounters {
        /// Pages read from flash for the host.
        pub host_pages_read: u64 = Sum, "pages";
        /// Pages read from flash for the array's parity: old data, old parity, the rest of a stripe.
        pub parity_pages_read: u64 = Sum, "pages";
        /// Reads of pages of which a write covered a part. Not those that an array needs for parity: to a device they are reads.
        pub read_modify_write_reads: u64 = Sum, "pages";
        /// Page programs by cause, ageing included: subtract an earlier reading.
        pub programs: [u64; IoCause::COUNT] = Sum, "pages";
        /// Bytes of those pages that nobody wrote, because a write covered its page in part, by cause.
        pub padding: [u64; IoCause::COUNT] = Sum, "bytes";
        /// Block erases, ageing included.
        pub erases: u64 = Sum, "count";
        /// Victims collected, ageing included.
        pub gc_victims: u64 = Sum, "count";
        /// Data pages these hold when full, ageing included.
        pub victim_pages: u64 = Sum, "pages";
        /// Pages moved out of them, to level wear or not; what has been moved of victims that are not erased yet is left out. Ageing
        /// included.
        pub victim_pages_moved: u64 = Sum, "pages";
        /// Time dies spent collecting, summed over dies.
        pub gc_busy: SimDuration = Sum, "ns";
        /// How long planes were busy in it, each through its own transfer, summed over planes.
        pub gc_plane_busy: SimDuration = Sum, "ns";
        /// Sibling planes that could have taken a host read along with a page garbage collection read.
        pub paired_reads: Pairing;
        /// The same for writes and the pages it programmed.
        pub paired_writes: Pairing;
        /// What collection did with the host inside the dies.
        pub inside: InsideCounters;
        /// Host operations waiting at a die when it began an event.
        pub depth_at_gc: QueueDepth;
        /// How long events of dies were expected to take, and took.
        pub estimated: Estimates;
        /// Operations of the host that met collection of their die: of the plane they are for, too, or of sibling planes only.
        /// Counted where every plane owns its blocks.
        pub met_gc: MetGc;
        /// What the write cache took and gave.
        pub write_cache: WriteCacheCounters;
        /// What the cache of its map found, read and wrote.
        pub mapping_cache: MappingCacheCounters;
        /// Pages by the handle they were written with, the default one first; zeros where the drive knows none. Ageing included.
        pub streams: [StreamCounters; StreamCounters::MOST];
        /// Pages written with a handle that the drive does not know.
        pub unknown_handle_pages: u64 = Sum, "pages";
    }

    /// What a handle of a drive wrote, and what collection moved of it.
    pub struct StreamCounters {
        /// Pages written with it.
        pub written_pages: u64 = Sum, "pages";
        /// Pages of it that collection moved.
        pub moved_pages: u64 = Sum, "pages";
    }

    /// The write cache of a drive: the report's `write_cache`.
    pub struct WriteCacheCounters {
        /// Pages of writes that got a place of their own.
        pub admitted_pages: u64 = Sum, "pages";
        /// Pages of writes that went over one that waited there, so that flash is programmed once for both.
        pub absorbed_pages: u64 = Sum, "pages";
        /// Pages that reads were answered with from it.
        pub answered_pages: u64 = Sum, "pages";
        /// Pages that were dropped because they were trimmed while they waited.
        pub trimmed_pages: u64 = Sum, "pages";
        /// Pages of writes that waited for a place, or behind another that did.
        pub waits: u64 = Sum, "pages";
        /// How long they waited, in all.
        pub wait_ns: u64 = Sum, "ns";
        /// Of these pages, those whose place was held by a page of a die that collected meanwhile.
        pub waits_for_gc: u64 = Sum, "pages";
        /// Most pages that it held at a time.
        pub high_water_pages: u64 = Peak, "pages";
        /// Pages that losses of power took from it before their programs began.
        pub lost_pages: u64 = Sum, "pages";
        /// Pages of writes with FUA that were answered when flash had them, because the cache has no stored power.
        pub fua_pages: u64 = Sum, "pages";
    }

    /// The cache of a drive that does not hold all of its map: the report's `mapping_cache`.
    pub struct MappingCacheCounters {
        /// Entries of pages of the host or the array that were there when they were asked for.
        pub hits: u64 = Sum, "count";
        /// Entries whose page of the map was not there. Those that are asked for while that page is read count, too.
        pub misses: u64 = Sum, "count";
        /// Pages of the map that were read from flash.
        pub read_pages: u64 = Sum, "pages";
        /// Changed pages of the map that were written to flash because another page needed their place, or together with such a page.
        pub written_pages: u64 = Sum, "pages";
        /// Pages of the map that were not there when garbage collection moved data of theirs. They are read later.
        pub pages_for_gc: u64 = Sum, "pages";
        /// Most pages of the map that had yet to be read because garbage collection had moved data of theirs.
        pub most_behind: u64 = Peak, "pages";
    }

    /// Places in the commands of garbage collection for operations of sibling planes. They sum up: offered = matched +
    /// none_waiting + other_offset + not_ready + needs_read.
    pub struct Pairing {
        /// Places there were.
        pub offered: u64 = Sum, "count";
        /// Taken by a host operation.
        pub matched: u64 = Sum, "count";
        /// No operation of the type waited for the plane.
        pub none_waiting: u64 = Sum, "count";
        /// Some did, but for another page offset (reads), or the plane's open blocks had another (writes); or they stood behind
        /// an earlier operation on their page.
        pub other_offset: u64 = Sum, "count";
        /// The first that fitted was not there yet.
        pub not_ready: u64 = Sum, "count";
        /// Only writes of parts of pages waited that could have gone to the plane: the rest of such a page must be read first.
        pub needs_read: u64 = Sum, "count";
        /// Of the places that were not taken, those whose plane left its next page unwritten to keep its write offset equal.
        pub skipped: u64 = Sum, "count";
    }

    /// Collection and the host inside a die: keys of the report's `inside`, in every device and in the array.
    pub struct InsideCounters {
        /// Host reads answered by garbage collection's own read of their page.
        pub merged_reads: u64 = Sum, "count";
        /// Moves given up because the host overwrote the page meanwhile.
        pub superseded_moves: u64 = Sum, "count";
        /// Host commands run while an event of their die was under way, those that took part in it left out.
        pub preemptions: u64 = Sum, "count";
        /// Times a program, or an erase of garbage collection, was suspended.
        pub suspends: u64 = Sum, "count";
        /// Times a die read a page again (`ssd.timing.read_retry`), for the host or for garbage collection.
        pub read_retries: u64 = Sum, "count";
    }

    /// Host operations waiting at a die when it begins to collect, summed over events.
    pub struct QueueDepth {
        /// Events begun.
        pub events: u64 = Sum, "count";
        /// Operations that waited, in all.
        pub waiting: u64 = Sum, "operations";
        /// Most that waited at once.
        pub most: u64 = Peak, "operations";
    }

    /// How well a device foresees how long the events of its dies take, those that take no time left out. Sums, so that the
    /// reading at the beginning of a window can be subtracted.
    pub struct Estimates {
        /// Events that have ended.
        pub events: u64 = Sum, "count";
        /// How long they were expected to take when they began.
        pub estimated: SimDuration = Sum, "ns";
        /// From their begin to their end, host operations between their steps included.
        pub actual: SimDuration = Sum, "ns";
        /// The differences of the two, each without its sign.
        pub error: SimDuration = Sum, "ns";
    }

    /// Operations that met collection of their die, by the planes that collected: an operation of several pages met its own
    /// plane's if one of the pages did.
    pub struct MetGc {
        /// Reads of a plane that collected.
        pub own_reads: Met;
        /// Writes to one.
        pub own_writes: Met;
        /// Reads that met nothing but collections of sibling planes.
        pub sibling_reads: Met;
        /// Such writes.
        pub sibling_writes: Met;
    }

    /// Operations and their time from submission to finish.
    pub struct Met {
        /// How many.
        pub count: u64 = Sum, "count";
        /// Their time, summed.
        pub time: SimDuration = Sum, "ns";
    }
}

/// A reason and how often it applied: what a reader did to a trace, and what a report says of that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// Why.
    pub reason: Cow<'static, str>,
    /// How often. Unit: count.
    pub rows: u64,
}

impl DeviceCounters {
    /// The counters of several devices, summed; times end at the longest there is, and the longest queue stays.
    pub fn sum<'a>(devices: impl IntoIterator<Item = &'a DeviceCounters>) -> DeviceCounters {
        let mut sum = DeviceCounters::default();
        devices.into_iter().for_each(|device| sum.add(device));
        sum
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

    /// Pages programmed for valid ones of victims, those included that its programs left without data. Unit: pages.
    pub fn gc_pages_moved(&self) -> u64 {
        self.programmed(IoCause::Gc)
    }

    /// The same for blocks that are collected to level wear. Unit: pages.
    pub fn leveled_pages_moved(&self) -> u64 {
        self.programmed(IoCause::Leveling)
    }

    /// Bytes of both that hold no data. Unit: bytes.
    pub fn padding_of_moves(&self) -> u64 {
        [IoCause::Gc, IoCause::Leveling].map(|cause| self.padding[cause as usize]).iter().sum()
    }

    /// Flash data pages programmed, for whatever but metadata. Unit: pages.
    pub fn data_pages_programmed(&self) -> u64 {
        self.programs.iter().sum::<u64>() - self.programmed(IoCause::Metadata)
    }
}

impl StreamCounters {
    /// Handles that are counted: the default one, and eight.
    pub const MOST: usize = 9;

    /// Pages programmed for each that was written; `None` if none was.
    pub fn write_amplification(&self) -> Option<f64> {
        let StreamCounters { written_pages, moved_pages } = *self;
        (written_pages > 0).then(|| (written_pages + moved_pages) as f64 / written_pages as f64)
    }
}

impl Met {
    /// Takes note of an operation that is done.
    pub fn add(&mut self, time: SimDuration) {
        self.count += 1;
        self.time += time;
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
}
