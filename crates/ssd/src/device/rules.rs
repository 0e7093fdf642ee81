//! Constants of a device, and how long a step takes by them.

use harmonia_flash::{Copyback, Geometry, Timing};
use harmonia_types::{Divisor, SimDuration, SimTime};

use super::queue::OpKind;
use super::sharing::Sharing;
use crate::block::BlockId;
use crate::config::{ControllerConfig, Domain};
use crate::gc::schedule::{GcJob, GcPhase, Work};
use crate::shape::{PageKind, Shape};

/// Constants of a device, looked up at every operation.
#[derive(Clone)]
pub(super) struct Rules {
    pub shape: Shape,
    /// Data bytes of a page.
    pub page_size: Divisor,
    pub geometry: Geometry,
    /// What dies are dealt to channels by.
    pub channels: Divisor,
    /// Its transfer is that of a mapping unit.
    pub timing: Timing,
    /// A page goes to the die: the command and its data. Where a program carries several pages its command goes before them.
    pub page_in: SimDuration,
    /// Pages differ in how long the array works for them.
    pub by_page: bool,
    /// Time of one page on the host link.
    pub link_page: SimDuration,
    pub link_latency: SimDuration,
    /// Neither link nor controller takes time before a sub-request is here.
    pub enters_at_once: bool,
    /// Reads and trims do not overtake writes on the link.
    pub link_in_order: bool,
    /// Operations that whoever uses the device gives it at once.
    pub queue_depth: Option<u32>,
    pub controller: ControllerConfig,
    pub domain: Domain,
    /// A die has several planes and each owns its blocks, so that it is known which of them collects.
    pub tells_planes: bool,
    pub background: bool,
    /// What collection has of a die's work beside the host's writes, where it has a share.
    pub sharing: Option<Sharing>,
    /// Free blocks at or below which an event begins: hard, or soft for policies that begin there.
    pub start: u32,
    /// Free blocks at or below which a die collects whatever a policy that limits says.
    pub last_block: u32,
    pub min_victims: u32,
    /// Garbage collection moves page by page: moves may have to take turns on a shared bus, or differ in their times.
    pub moves_use_bus: bool,
    /// Dies that share their blocks collect step by step.
    pub by_parts: bool,
    /// Every page that moves goes over a shared bus, on which commands take no time.
    pub moves_directly: bool,
    /// Host reads go before host writes, and a shared bus grants collection first, then reads.
    pub reads_first: bool,
    /// Host operations of sibling planes join in one command.
    pub multi_plane: bool,
    /// Commands of garbage collection take host operations along.
    pub pairs: bool,
    /// Collected pages may go to any unit.
    pub global: bool,
    /// Page moves may go the [short way](super::half): none leaves its unit, and no cache waits for a die that ends one.
    pub alone: bool,
    /// Partly written blocks a unit may set aside.
    pub set_aside: usize,
    /// What runs may be suspended when something arrives.
    pub suspends: bool,
    /// A die that idles may be given less than a whole program.
    pub drains_in_part: bool,
    /// The schedule looks at deadlines.
    pub deadlines: bool,
    /// From arrival to the deadline of an operation whose request has none.
    pub slack: SimDuration,
}

impl Rules {
    /// The channel of a die.
    #[inline]
    pub fn channel_of(&self, die: u32) -> usize {
        self.channels.divide(die.into()).1 as usize
    }

    /// Whether a page that leaves its plane, or does not, goes over the bus.
    pub fn is_far(&self, leaves_plane: bool) -> bool {
        match self.timing.copyback {
            Copyback::Die => false,
            Copyback::Plane => leaves_plane,
            Copyback::None => true,
        }
    }

    /// The step of a collection that is due, or the first one of an event yet to begin.
    pub fn step(&self, job: Option<&GcJob>) -> Work {
        let timing = &self.timing;
        let leaves_plane = job.is_none_or(|job| job.source_plane != job.destination.0);
        let die = match job.map_or(GcPhase::Read, |job| job.phase) {
            GcPhase::Read if self.global || self.is_far(leaves_plane) => self.page_read(),
            // The page stays in the plane's register, and its program follows at once.
            GcPhase::Read => {
                let cycles = self.bus_turn(timing.command.read) + self.bus_turn(timing.command.program);
                self.mean_read() + self.mean_program() + cycles
            }
            GcPhase::Program => self.page_program(),
            GcPhase::Erase => timing.erase + self.bus_turn(timing.command.erase),
            GcPhase::Choose | GcPhase::Away => SimDuration::ZERO,
        };
        Work { die, link: SimDuration::ZERO }
    }

    pub fn host_work(&self, kind: OpKind) -> Work {
        let die = match kind {
            OpKind::Read => self.page_read(),
            OpKind::Write => self.page_program(),
            OpKind::PartialWrite => self.page_read() + self.page_program(),
            OpKind::Trim => SimDuration::ZERO,
        };
        let link = if kind == OpKind::Read { self.link_page } else { SimDuration::ZERO };
        Work { die, link }
    }

    /// Read and program of a page that garbage collection moves, each transfer without waiting for the bus.
    pub fn move_time(&self, leaves_plane: bool) -> SimDuration {
        let transfers = if self.global || self.is_far(leaves_plane) { 2 } else { 0 };
        let Timing { transfer, command, .. } = self.timing;
        self.mean_read() + self.mean_program() + transfer * transfers + command.read + command.program
    }

    /// How long the array reads a page of a block, once. This, [`Rules::program_time`] and what they are on average are asked wherever
    /// a read or a program begins: that a page takes longer by its type, the wear of its block, or the moment, is said here.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub fn read_time(&self, (_block, page): (BlockId, u32), _now: SimTime) -> SimDuration {
        if !self.by_page {
            return self.only_read_time();
        }
        let (packing, read) = (&self.shape.packing, &self.timing.read);
        if !packing.packs() {
            return read.of(page);
        }
        match packing.kind_of(packing.page_of(page)) {
            PageKind::Offset(offset) => read.of(offset),
            PageKind::Type(kind) => read.of_type(kind),
        }
    }

    /// How long the array programs a page of a block, with the others of its program.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub fn program_time(&self, (_block, page): (BlockId, u32), _now: SimTime) -> SimDuration {
        if !self.by_page {
            return self.only_program_time();
        }
        let (packing, program) = (&self.shape.packing, &self.timing.program);
        if !packing.packs() {
            return program.of(page);
        }
        match packing.kind_of(packing.page_of(page)) {
            PageKind::Offset(offset) => program.of(offset),
            PageKind::Type(kind) => program.of_type(kind),
        }
    }

    /// How long the array reads a page, where it takes as long for each.
    #[inline]
    pub fn only_read_time(&self) -> SimDuration {
        self.timing.read.first()
    }

    /// A page comes from its die: the command and its data.
    #[inline]
    pub fn page_out(&self) -> SimDuration {
        self.timing.command.read + self.timing.transfer
    }

    /// How long the array programs a page, where it takes as long for each.
    #[inline]
    pub fn only_program_time(&self) -> SimDuration {
        self.timing.program.first()
    }

    /// How long the array reads a page of which nobody knows where it lies.
    pub fn mean_read(&self) -> SimDuration {
        let once = self.timing.read.mean();
        if self.timing.read_retry.is_off() { once } else { once + self.timing.read_retry.mean(once) }
    }

    /// How long the array programs a page of which nobody knows where it goes.
    pub fn mean_program(&self) -> SimDuration {
        self.timing.program.mean()
    }

    /// The same for a victim with so many live pages, which lie anywhere in it.
    pub fn victim_moves_time(&self, leaves_plane: bool, valid: u32) -> SimDuration {
        let packing = &self.shape.packing;
        if !packing.packs() {
            return self.move_time(leaves_plane) * u64::from(valid);
        }
        let reads = packing.pages_with_some(self.shape.data_pages, valid);
        self.moves_time((reads, valid.div_ceil(packing.slots_per_program())), valid)
    }

    /// Programs of so many summary pages, of which the first stands behind the data.
    pub fn summary_time(&self, pages: u32) -> SimDuration {
        self.timing.program.of(self.shape.data_pages) * u64::from(pages)
    }

    /// How long it takes to move so many pages of victims: reads, programs and what goes over the bus, without waiting for it.
    /// `far`: those that leave the die.
    pub fn moves_time(&self, (reads, programs): (u32, u32), far: u32) -> SimDuration {
        let command = &self.timing.command;
        let [reads, programs, far] = [reads, programs, far].map(u64::from);
        (self.mean_read() + command.read) * reads
            + (self.mean_program() + command.program) * programs
            + self.timing.transfer * (2 * far)
    }

    fn page_read(&self) -> SimDuration {
        let timing = &self.timing;
        self.bus_turn(timing.command.read) + self.mean_read() + self.bus_turn(timing.transfer)
    }

    fn page_program(&self) -> SimDuration {
        self.bus_turn(self.page_in) + self.mean_program()
    }

    /// A turn on the bus, behind one of every other die on it. What takes no time needs none.
    fn bus_turn(&self, length: SimDuration) -> SimDuration {
        let geometry = &self.geometry;
        if geometry.own_pins || length == SimDuration::ZERO {
            return length;
        }
        let others = geometry.chips_per_channel * geometry.dies_per_chip - 1;
        length + self.page_in.max(self.timing.command.read).max(self.timing.command.erase) * u64::from(others)
    }
}
