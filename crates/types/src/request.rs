//! What a host asks for, why flash is touched, and how a completed request accounts for its time.

use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};

use crate::{Bytes, DeviceId, SimDuration, SimTime};

/// What a host request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Reads `length` bytes.
    Read,
    /// Writes `length` bytes.
    Write,
    /// Declares `length` bytes unused.
    Trim,
    /// Completes when everything before it is durable.
    Flush,
}

/// Whose writes a drive that takes placement handles keeps together: the number that a host gives, counted from 0.
///
/// A drive counts its default handle first, which has what comes without one. So it knows the host's handle n as n + 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct PlacementHandle(NonZeroU16);

impl PlacementHandle {
    /// The largest number of the host.
    pub const MOST: u16 = u16::MAX - 1;

    /// The handle with this number of the host; `None` if that is above [`MOST`](Self::MOST).
    #[inline]
    pub const fn new(number: u64) -> Option<PlacementHandle> {
        if number > PlacementHandle::MOST as u64 {
            return None;
        }
        match NonZeroU16::new(number as u16 + 1) {
            Some(of_drive) => Some(PlacementHandle(of_drive)),
            None => None,
        }
    }

    /// The number that the host gives.
    #[inline]
    pub const fn number(self) -> u16 {
        self.0.get() - 1
    }

    /// The number by which drives and their reports know it.
    #[inline]
    pub const fn of_drive(self) -> u16 {
        self.0.get()
    }
}

impl From<PlacementHandle> for u64 {
    fn from(handle: PlacementHandle) -> u64 {
        handle.number().into()
    }
}

impl TryFrom<u64> for PlacementHandle {
    type Error = String;

    fn try_from(number: u64) -> Result<Self, String> {
        PlacementHandle::new(number)
            .ok_or_else(|| format!("no placement handle is {number}: at most {}", PlacementHandle::MOST))
    }
}

/// One request as it arrives at the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRequest {
    /// Position in the workload, counted from 0; completions name it.
    pub id: u64,
    /// When it arrives at the array (in a closed loop: when it is issued).
    pub arrival: SimTime,
    /// What it does.
    pub operation: Operation,
    /// First byte, on the array; on the member where `member` is given.
    pub offset: Bytes,
    /// Length in bytes; 0 only for a flush.
    pub length: Bytes,
    /// Stream of a load, or volume of a trace (a disk number or ASU), it came from. Drives that place pages by handles take the
    /// volume for a handle, unless `handle` says one.
    pub volume: u16,
    /// The placement handle of a write, if its trace says one. Of anything else it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<PlacementHandle>,
    /// Pinned to one member, bypassing the stripe (skewed loads): `offset` is then on that member.
    pub member: Option<DeviceId>,
    /// A write with FUA (force unit access): it completes when it outlives a loss of power. Of anything else it says nothing.
    #[serde(default)]
    pub fua: bool,
}

impl HostRequest {
    /// A request of the first volume, on no member in particular, without handle and FUA.
    #[inline]
    pub const fn new(
        id: u64,
        arrival: SimTime,
        operation: Operation,
        offset: Bytes,
        length: Bytes,
    ) -> HostRequest {
        HostRequest {
            id,
            arrival,
            operation,
            offset,
            length,
            volume: 0,
            handle: None,
            member: None,
            fua: false,
        }
    }
}

/// Response times that requests should not exceed, by what they do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deadlines {
    /// Reads, if they have one.
    pub read: Option<SimDuration>,
    /// Writes, if they have one.
    pub write: Option<SimDuration>,
}

impl Deadlines {
    /// The response time that such a request should not exceed; trims and flushes may take as long as they like.
    pub fn of(&self, operation: Operation) -> Option<SimDuration> {
        match operation {
            Operation::Read => self.read,
            Operation::Write => self.write,
            Operation::Trim | Operation::Flush => None,
        }
    }

    /// Whether any request has one.
    pub fn is_set(&self) -> bool {
        *self != Deadlines::default()
    }
}

/// Why a flash page was read or programmed or a block erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum IoCause {
    /// Host data.
    Host = 0,
    /// Valid pages moved by garbage collection.
    Gc = 1,
    /// Parity of the array.
    Parity = 2,
    /// Block summary pages and the like; outside write amplification.
    Metadata = 3,
    /// The array's log or write-intent bitmap.
    Log = 4,
    /// What the array writes behind its host's back: rebuild, resync, scrub.
    Background = 5,
    /// Valid pages moved to level wear.
    Leveling = 6,
    /// Pages of the map of a drive whose memory does not hold all of it.
    Map = 7,
}

/// Whose write amplification counts bytes that are programmed for a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// That of the array and that of the drive; written by the host or the array.
    Written,
    /// Both, but nobody wrote them: the drive programs them besides.
    Added,
    /// That of the drive only, to which the array writes like a host.
    OfDrive,
    /// Neither.
    Apart,
}

/// What flash is programmed for, as reports tell it.
#[derive(Debug)]
pub struct Programmed {
    /// Its key in `flash_bytes`.
    pub name: &'static str,
    /// The cause; `None` for the rest of a page that a write covers in part, whatever the cause of the write.
    pub cause: Option<IoCause>,
    /// Who counts it.
    pub counts: Counts,
    /// What it means.
    pub meaning: &'static str,
}

impl Programmed {
    const fn of(
        name: &'static str,
        cause: Option<IoCause>,
        counts: Counts,
        meaning: &'static str,
    ) -> Programmed {
        Programmed { name, cause, counts, meaning }
    }
}

impl IoCause {
    /// Number of causes: the length of a table indexed by cause.
    pub const COUNT: usize = IoCause::TABLE.len() - 1;

    /// Everything that flash is programmed for, in the order of the report. A new cause is a line here and a variant above.
    pub const TABLE: [Programmed; 9] = [
        Programmed::of("host", Some(IoCause::Host), Counts::Written, "the host's data, with all copies"),
        Programmed::of(
            "padding",
            None,
            Counts::Added,
            "rests of pages that a write covers in part, and of programs that were not full",
        ),
        Programmed::of("parity", Some(IoCause::Parity), Counts::Written, "parity"),
        Programmed::of(
            "logs",
            Some(IoCause::Log),
            Counts::Written,
            "the journal, the partial parity log and the write-intent bitmap",
        ),
        Programmed::of(
            "collection",
            Some(IoCause::Gc),
            Counts::Added,
            "valid pages moved by garbage collection",
        ),
        Programmed::of(
            "leveling",
            Some(IoCause::Leveling),
            Counts::Added,
            "valid pages moved by static wear levelling",
        ),
        Programmed::of(
            "background",
            Some(IoCause::Background),
            Counts::OfDrive,
            "rebuild, copying to a spare, resync and scrub",
        ),
        Programmed::of("metadata", Some(IoCause::Metadata), Counts::Apart, "summary pages of blocks"),
        Programmed::of(
            "map",
            Some(IoCause::Map),
            Counts::Added,
            "changed pages of the map that left a mapping cache (`ssd.ftl.mapping_cache`); absent if 0",
        ),
    ];

    /// A list by cause of these numbers, in the order of the variants; zeros of all further causes.
    pub const fn by<const N: usize>(numbers: [u64; N]) -> [u64; IoCause::COUNT] {
        let (mut all, mut cause) = ([0; IoCause::COUNT], 0);
        while cause < N {
            all[cause] = numbers[cause];
            cause += 1;
        }
        all
    }
}

/// Which pages of a member operation are the array's own, parity or another: page `p`, counted from 0, is if
/// `(p + phase) % period < run`. One merged range may so cover several stripes, in some of which its member holds parity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParityPages {
    /// Pages into the pattern at which the operation begins.
    pub phase: u32,
    /// Pages after which the pattern repeats; not 0.
    pub period: u32,
    /// Parity pages at the beginning of each repetition.
    pub run: u32,
    /// What these are written for.
    pub cause: IoCause,
}

impl ParityPages {
    /// None of them.
    pub const NONE: ParityPages = ParityPages { phase: 0, period: 1, run: 0, cause: IoCause::Parity };
    /// All of them.
    pub const ALL: ParityPages = ParityPages { phase: 0, period: 1, run: 1, cause: IoCause::Parity };
    /// None is parity, all are the log's.
    pub const LOG: ParityPages = ParityPages { cause: IoCause::Log, ..ParityPages::ALL };
    /// All are written behind the host's back, whatever they hold.
    pub const BACKGROUND: ParityPages = ParityPages { cause: IoCause::Background, ..ParityPages::ALL };

    /// Why page `page` of the operation is touched.
    #[inline]
    pub const fn cause_of(&self, page: u32) -> IoCause {
        let is_own = self.run > 0 && (self.period == self.run || self.is_in_run(page));
        if is_own { self.cause } else { IoCause::Host }
    }

    /// Whether page `page` counts as parity where time is accounted for: it is that, or a log's.
    #[inline]
    pub const fn is_parity(&self, page: u32) -> bool {
        matches!(self.cause_of(page), IoCause::Parity | IoCause::Log)
    }

    #[inline]
    const fn is_in_run(&self, page: u32) -> bool {
        (page as u64 + self.phase as u64) % (self.period as u64) < self.run as u64
    }
}

impl Default for ParityPages {
    fn default() -> Self {
        ParityPages::NONE
    }
}

/// Where the time of one member operation went, in nanoseconds; the parts sum to it exactly.
///
/// Each waiting instant goes to what the awaited resource does at that instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blame {
    /// Flash array time of the operation itself (read, program); of a write that a cache takes, what the drive needs to say so.
    pub service: u64,
    /// The operation's own page transfer between die and controller.
    pub transfer: u64,
    /// Waiting for a die or bus that serves other host operations.
    pub queue_host: u64,
    /// Waiting for a die or bus that collects garbage.
    pub queue_gc: u64,
    /// Waiting for a die that serves the array's background work: rebuild, resync, scrub. Waiting for a bus or link that
    /// carries its pages stays in `queue_host` or `link`.
    #[serde(default)]
    pub queue_rebuild: u64,
    /// On the host link, or waiting for it; of a read or trim that stood in line at the write cache, that too.
    pub link: u64,
    /// Waiting until the drive's write cache has room, whatever its dies do but collecting, and while the controller holds nothing back; of a flush, until it is empty; of a write with FUA, until its die gets it, too.
    #[serde(default)]
    pub cache_wait: u64,
    /// In the drive's controller, or waiting for it: for what it does with each command, or until it moved what the cache holds.
    #[serde(default)]
    pub controller: u64,
    /// Waiting until the drive has read the page of its map that says where the data lies, whatever the die of that does but collecting; of a
    /// write, too, whose place in the write cache was held for that.
    #[serde(default)]
    pub map_wait: u64,
}

impl Blame {
    /// No time at all.
    pub const NONE: Blame = Blame {
        service: 0,
        transfer: 0,
        queue_host: 0,
        queue_gc: 0,
        queue_rebuild: 0,
        link: 0,
        cache_wait: 0,
        controller: 0,
        map_wait: 0,
    };

    /// Sum of all parts: the time they explain.
    #[inline]
    pub const fn total(&self) -> u64 {
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
        } = *self;
        service + transfer + queue_host + queue_gc + queue_rebuild + link + cache_wait + controller + map_wait
    }

    /// Adds `other` part by part.
    #[inline]
    pub fn add(&mut self, other: &Blame) {
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
        } = other;
        self.service += service;
        self.transfer += transfer;
        self.queue_host += queue_host;
        self.queue_gc += queue_gc;
        self.queue_rebuild += queue_rebuild;
        self.link += link;
        self.cache_wait += cache_wait;
        self.controller += controller;
        self.map_wait += map_wait;
    }
}

/// What a member operation is for: the phase of its request that its time belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The host's own data.
    Data,
    /// Reading or writing parity, or the old data that new parity is made of.
    Parity,
    /// Reading other members to rebuild data.
    Reconstruct,
}

/// Where the response time of one request went, in nanoseconds: by phase, and within a phase by resource. The parts sum
/// to the response time exactly.
///
/// Charged along the chain of operations that ends in the one that finished last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestBlame {
    /// Operations on the host's own data.
    pub data: Blame,
    /// Reading or writing parity.
    pub parity: Blame,
    /// Reading other members to rebuild data.
    pub reconstruct: Blame,
    /// Waiting for a stripe that another request is changing.
    pub stripe_wait: u64,
    /// From arrival until the host submitted it again, because the array had lost power.
    pub restart: u64,
    /// In the array, waiting until a member or the controller has room for one more operation.
    pub depth_wait: u64,
    /// Waiting until the array's log has room.
    pub log_wait: u64,
    /// In a queue of the host, waiting until a drive fetches one more command.
    pub window_wait: u64,
    /// Waiting until the stripe cache has entries, or lets it read for its parity.
    pub entry_wait: u64,
}

impl RequestBlame {
    /// No time at all.
    pub const NONE: RequestBlame = RequestBlame {
        data: Blame::NONE,
        parity: Blame::NONE,
        reconstruct: Blame::NONE,
        stripe_wait: 0,
        restart: 0,
        depth_wait: 0,
        log_wait: 0,
        window_wait: 0,
        entry_wait: 0,
    };

    /// Sum of all parts: the response time they explain.
    #[inline]
    pub const fn total(&self) -> u64 {
        let RequestBlame {
            data,
            parity,
            reconstruct,
            stripe_wait,
            restart,
            depth_wait,
            log_wait,
            window_wait,
            entry_wait,
        } = self;
        let phases = data.total() + parity.total() + reconstruct.total();
        phases + *stripe_wait + *restart + *depth_wait + *log_wait + *window_wait + *entry_wait
    }

    /// Adds `other` part by part.
    pub fn add(&mut self, other: &RequestBlame) {
        let RequestBlame {
            data,
            parity,
            reconstruct,
            stripe_wait,
            restart,
            depth_wait,
            log_wait,
            window_wait,
            entry_wait,
        } = other;
        self.data.add(data);
        self.parity.add(parity);
        self.reconstruct.add(reconstruct);
        self.stripe_wait += stripe_wait;
        self.restart += restart;
        self.depth_wait += depth_wait;
        self.log_wait += log_wait;
        self.window_wait += window_wait;
        self.entry_wait += entry_wait;
    }

    /// Adds the time of an operation that belongs to `phase`.
    #[inline]
    pub fn charge(&mut self, phase: Phase, operation: &Blame) {
        match phase {
            Phase::Data => self.data.add(operation),
            Phase::Parity => self.parity.add(operation),
            Phase::Reconstruct => self.reconstruct.add(operation),
        }
    }

    /// Waiting for garbage collection, in whatever phase.
    #[inline]
    pub const fn queue_gc(&self) -> u64 {
        self.data.queue_gc + self.parity.queue_gc + self.reconstruct.queue_gc
    }

    /// Waiting for rebuild, resync and scrub, in whatever phase.
    #[inline]
    pub const fn queue_rebuild(&self) -> u64 {
        self.data.queue_rebuild + self.parity.queue_rebuild + self.reconstruct.queue_rebuild
    }
}

/// The longest wait for garbage collection on the chain of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GcWait {
    /// The member that collected, whatever device is in its place; or the journal, by its place among the devices of the
    /// report.
    pub member: DeviceId,
    /// How long the request waited for it. Unit: ns.
    pub ns: u64,
}

/// A host request that is done. `finish` may lie after the moment it became known: see the device's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The request's id.
    pub id: u64,
    /// What it did.
    pub operation: Operation,
    /// Its first byte, as the request gave it.
    pub offset: Bytes,
    /// Its length in bytes.
    pub length: Bytes,
    /// When it arrived.
    pub arrival: SimTime,
    /// When its last operation finished, host link included.
    pub finish: SimTime,
    /// Where the time between went; `blame.total() == finish - arrival`.
    pub blame: RequestBlame,
    /// One of its page operations met garbage collection: its time from arrival to the start of service met a time in which its
    /// die collected, or it was kept from a member that was to collect. It need not have waited for that, and may have waited
    /// elsewhere; see [`is_gc_affected`](Self::is_gc_affected).
    pub met_gc: bool,
    /// Whose garbage collection it waited for longest, also behind a read that its write needed; `None` if for nobody's.
    pub gc_wait: Option<GcWait>,
}

impl Completion {
    /// Response time: from arrival to the finish of the last operation.
    pub fn response(&self) -> SimDuration {
        self.finish - self.arrival
    }

    /// Whether it waited for garbage collection, on whatever die, bus or log.
    #[inline]
    pub const fn is_gc_affected(&self) -> bool {
        self.blame.queue_gc() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_counts_placement_handles_from_its_default_one() {
        let handle = |number| PlacementHandle::new(number).map(|handle| (handle.number(), handle.of_drive()));
        assert_eq!([0, 65_534].map(handle), [Some((0, 1)), Some((65_534, 65_535))]);
        assert_eq!([65_535, u64::MAX].map(handle), [None, None]);
    }

    /// In its number of the host, and not at all where there is none.
    #[test]
    fn a_placement_handle_is_written_as_the_host_counts() {
        let request = HostRequest::new(1, SimTime::ZERO, Operation::Write, 0, 512);
        let plain = serde_json::to_string(&request).unwrap();
        assert!(!plain.contains("handle"), "{plain}");
        assert_eq!(serde_json::from_str::<HostRequest>(&plain).unwrap(), request);
        let with = HostRequest { handle: PlacementHandle::new(7), ..request };
        let text = serde_json::to_string(&with).unwrap();
        assert!(text.contains("\"handle\":7"), "{text}");
        assert_eq!(serde_json::from_str::<HostRequest>(&text).unwrap(), with);
        assert!(serde_json::from_str::<HostRequest>(&text.replace(":7", ":65535")).is_err());
    }
}
