//! Is what a probe hears of planes what the device counts? Spans of every plane against the device's own counters.
//!
//! Not verified: which plane an operation of a die-wide unit works in.

use std::collections::BTreeMap;

use harmonia_ssd::DeviceCounters;
use harmonia_types::{IoCause, PlaneWork, SimDuration, SimTime};

/// The planes of all dies.
#[derive(Debug, Default)]
pub struct Lanes {
    dies: BTreeMap<u32, Die>,
    /// Time commands with garbage collection in them took.
    gc: SimDuration,
    reads: u64,
    programs: u64,
    /// Host operations in commands of garbage collection.
    along: u64,
    suspends: u64,
    /// Spans whose plane is known.
    known: u64,
    /// Writes of parts of pages may have the rest read along with garbage collection.
    reads_rests: bool,
    /// A program carries several units.
    packs: bool,
}

#[derive(Debug, Default)]
struct Die {
    working: Vec<(Option<u32>, PlaneWork)>,
    since: SimTime,
    stopped: SimTime,
}

impl Lanes {
    /// Of a device under a schedule that may have the rest of a page read along for a write.
    pub fn with_rests(reads_rests: bool) -> Self {
        Lanes { reads_rests, ..Lanes::default() }
    }

    /// Of a device whose programs carry several units, and which has the rest of one read before it is written.
    pub fn of_units() -> Self {
        Lanes { packs: true, ..Lanes::with_rests(true) }
    }

    pub fn works(&mut self, at: SimTime, die: u32, plane: Option<u32>, work: PlaneWork) {
        let die = self.dies.entry(die).or_default();
        assert!(at >= die.stopped, "a die begins at {at} before it stopped at {}", die.stopped);
        assert!(die.working.is_empty() || die.since == at, "all planes of a command begin together");
        let busy = die.working.iter().any(|&(other, _)| plane.is_some() && other == plane);
        assert!(!busy, "plane {plane:?} does two things: {:?} and {work:?}", die.working);
        die.since = at;
        die.working.push((plane, work));
        self.known += u64::from(plane.is_some());
    }

    pub fn stops(&mut self, at: SimTime, die: u32) {
        let die = self.dies.entry(die).or_default();
        let with_gc = die.working.iter().any(|(_, work)| work.is_gc());
        let of = |wanted| die.working.iter().filter(|&&(_, work)| work == wanted).count() as u64;
        let (reads, programs) = (of(PlaneWork::HostRead), of(PlaneWork::HostProgram));
        self.reads += reads;
        self.programs += programs;
        if with_gc {
            self.gc += at - die.since;
            self.along += reads + programs;
        }
        if !die.working.is_empty() {
            die.stopped = at;
        }
        die.working.clear();
    }

    /// What is suspended comes again, whole.
    pub fn suspends(&mut self, at: SimTime, die: u32) {
        let slot = self.dies.entry(die).or_default();
        let with_gc = slot.working.iter().any(|(_, work)| work.is_gc());
        let programs = slot.working.iter().all(|&(_, work)| work == PlaneWork::HostProgram);
        assert!(with_gc || programs, "reads are never suspended");
        self.gc += if with_gc { at - slot.since } else { SimDuration::ZERO };
        slot.working.clear();
        slot.stopped = at;
        self.suspends += 1;
    }

    /// Of a device that has come to rest, new at the beginning.
    pub fn check(&self, seed: u64, counted: &DeviceCounters) {
        assert!(self.dies.values().all(|die| die.working.is_empty()), "seed {seed}: nothing works any more");
        assert_eq!(self.gc, counted.gc_busy, "seed {seed}: time in garbage collection");
        let reads = self.reads + counted.inside.merged_reads;
        let rests = if self.reads_rests { counted.read_modify_write_reads } else { 0 };
        // Of the map as of the host.
        let read = counted.host_pages_read + counted.mapping_cache.read_pages;
        let may_be = read..=read + rests;
        assert!(may_be.contains(&reads), "seed {seed}: {reads} host reads, not {may_be:?}");
        let programs = counted.programmed(IoCause::Host) + counted.programmed(IoCause::Map);
        let is_right = if self.packs { self.programs <= programs } else { self.programs == programs };
        assert!(is_right, "seed {seed}: {} host programs, not {programs}", self.programs);
        assert_eq!(
            self.along,
            counted.paired_reads.matched + counted.paired_writes.matched,
            "seed {seed}: operations taken along"
        );
        assert_eq!(self.suspends, counted.inside.suspends, "seed {seed}: suspends");
    }

    /// How much there was to check.
    pub fn told(&self) -> [u64; 3] {
        [self.known, self.along, self.suspends]
    }
}
