//! Geometry, timing and host link of one device, as plain numbers.

use std::fmt;

use harmonia_types::{Bytes, SimDuration, units};
use serde::{Serialize, Serializer};

/// How many of everything one device has. `channels x chips x dies x planes x blocks x pages`.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Geometry {
    /// Channels of the device.
    pub channels: u32,
    /// Chips (packages) on a channel.
    pub chips_per_channel: u32,
    /// Dies in a chip. A die runs one command at a time.
    pub dies_per_chip: u32,
    /// Planes in a die; they work together only inside one multi-plane command.
    pub planes_per_die: u32,
    /// Raw erase blocks in a plane.
    pub blocks_per_plane: u32,
    /// Raw pages in a block, summary pages included.
    pub pages_per_block: u32,
    /// Data bytes in a page.
    #[serde(serialize_with = "units::as_size")]
    pub page_size: u32,
    /// Pages at the end of each block that hold its summary instead of data (MSR SSD model: 1).
    pub summary_pages: u32,
    /// Every die has pins of its own, so transfers never wait for a channel (MSR SSD model).
    pub own_pins: bool,
    /// Planes that one program writes, a page of each. Their blocks at one place are erased as one.
    #[serde(skip_serializing_if = "is_one")]
    pub program_planes: u32,
    /// Pages of a block that one program writes: the types of pages that share their cells (3 for TLC).
    #[serde(skip_serializing_if = "is_one")]
    pub program_pages: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

/// Programs of one page go without saying, as in files: what is kept by such a text stays found.
impl fmt::Debug for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Geometry {
            channels,
            chips_per_channel,
            dies_per_chip,
            planes_per_die,
            blocks_per_plane,
            pages_per_block,
            page_size,
            summary_pages,
            own_pins,
            program_planes,
            program_pages,
        } = self;
        let mut shown = f.debug_struct("Geometry");
        shown
            .field("channels", channels)
            .field("chips_per_channel", chips_per_channel)
            .field("dies_per_chip", dies_per_chip)
            .field("planes_per_die", planes_per_die)
            .field("blocks_per_plane", blocks_per_plane)
            .field("pages_per_block", pages_per_block)
            .field("page_size", page_size)
            .field("summary_pages", summary_pages)
            .field("own_pins", own_pins);
        if *program_planes != 1 {
            shown.field("program_planes", program_planes);
        }
        if *program_pages != 1 {
            shown.field("program_pages", program_pages);
        }
        shown.finish()
    }
}

impl Geometry {
    /// One plane of 8 blocks of 4 pages of 4 KiB, which shares its pins. Other geometries say what is different.
    pub const ONE_PLANE: Geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 8,
        pages_per_block: 4,
        page_size: 4096,
        summary_pages: 0,
        own_pins: false,
        program_planes: 1,
        program_pages: 1,
    };

    /// Dies of the device.
    pub fn dies(&self) -> u32 {
        self.channels * self.chips_per_channel * self.dies_per_chip
    }

    /// Blocks of a die.
    pub fn blocks_per_die(&self) -> u32 {
        self.planes_per_die * self.blocks_per_plane
    }

    /// Pages of a block that hold data.
    pub fn data_pages_per_block(&self) -> u32 {
        self.pages_per_block - self.summary_pages
    }

    /// Raw pages of the device, summary pages included.
    pub fn raw_pages(&self) -> u64 {
        u64::from(self.dies()) * u64::from(self.blocks_per_die()) * u64::from(self.pages_per_block)
    }

    /// Raw bytes of the device.
    pub fn raw_bytes(&self) -> Bytes {
        self.raw_pages() * u64::from(self.page_size)
    }

    /// The channel a die sits on. Dies are numbered channel first: die = channel + channels x (chip + chips x die).
    pub fn channel_of(&self, die: u32) -> u32 {
        die % self.channels
    }
}

/// How long flash commands take.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timing {
    /// Array read of a page, tR.
    pub read: PageTimes,
    /// Program of a page, tPROG.
    pub program: PageTimes,
    /// Erase of a block, tBERS.
    pub erase: SimDuration,
    /// Moving one page between die and controller.
    pub transfer: SimDuration,
    /// How long commands and their addresses take before that, or before the array works.
    #[serde(skip)]
    pub command: Commands,
    /// How far garbage collection moves a page without transferring it.
    pub copyback: Copyback,
    /// From suspending a program until the die takes another command; `None` where the part cannot suspend one.
    #[serde(serialize_with = "or_none")]
    pub suspend_program: Option<SimDuration>,
    /// From suspending an erase until the die takes another command; `None` where the part cannot suspend one.
    #[serde(serialize_with = "or_none")]
    pub suspend_erase: Option<SimDuration>,
    /// From suspending a program of the host for a read until the die takes that; `None` where that is not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend_host_program: Option<SimDuration>,
    /// How long the array of a program or an erase works at least before it is suspended, since it began or was resumed.
    #[serde(skip_serializing_if = "is_no_time")]
    pub minimum_run: SimDuration,
    /// How often a program or an erase is suspended at most; `None`: as often as reads come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_suspends: Option<u32>,
    /// Added to what remained of a suspended operation when it goes on.
    pub resume: SimDuration,
    /// How often a page is read again.
    #[serde(skip_serializing_if = "ReadRetry::is_off")]
    pub read_retry: ReadRetry,
}

/// How often the array reads a page again, because what it read could not be corrected: after each attempt with the same probability, so
/// that k more reads have the probability p^k (1 - p).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReadRetry {
    /// That an attempt is followed by another one; from 0 to [`ReadRetry::MOST`].
    pub probability: f64,
    /// How long the array works for each of them; `None`: as long as for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<SimDuration>,
}

impl ReadRetry {
    /// No page is read again.
    pub const OFF: ReadRetry = ReadRetry { probability: 0.0, step: None };
    /// The highest probability.
    pub const MOST: f64 = 0.5;

    /// Whether no page is read again.
    pub fn is_off(&self) -> bool {
        self.probability <= 0.0
    }

    /// What further attempts add to a read whose first takes so long, on average.
    pub fn mean(&self, first: SimDuration) -> SimDuration {
        let attempts = self.probability / (1.0 - self.probability);
        SimDuration((self.step.unwrap_or(first).0 as f64 * attempts).round() as u64)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_no_time(time: &SimDuration) -> bool {
    *time == SimDuration::ZERO
}

impl Timing {
    /// Nothing takes time, nothing can be suspended, and every page is transferred. Other parts say what is different.
    pub const PLAIN: Timing = Timing {
        read: PageTimes::same(SimDuration::ZERO),
        program: PageTimes::same(SimDuration::ZERO),
        erase: SimDuration::ZERO,
        transfer: SimDuration::ZERO,
        command: Commands::NONE,
        copyback: Copyback::None,
        suspend_program: None,
        suspend_erase: None,
        suspend_host_program: None,
        minimum_run: SimDuration::ZERO,
        most_suspends: None,
        resume: SimDuration::ZERO,
        read_retry: ReadRetry::OFF,
    };
}

/// How long the array works for a page: as long for each, or by the type of the page.
///
/// Cells of several bits hold pages of several types, least significant bits first. Of two types the pages of a block have
/// one after the other. Of three the pages 0 to 5 have the first, 6 and 7 the second, and from page 8 on each type has two
/// pages in turn.
///
/// Source: MQSim (FAST 2018), which has the order of three types from Yaakobi et al., ICNC 2012.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageTimes {
    by_type: [SimDuration; PageTimes::MOST],
    types: u8,
}

impl PageTimes {
    /// Types of pages that are known: those of TLC flash.
    pub const MOST: usize = 3;

    /// The same time for every page.
    pub const fn same(time: SimDuration) -> Self {
        PageTimes { by_type: [time; Self::MOST], types: 1 }
    }

    /// A time for each of three types.
    pub const fn of_three(times: [SimDuration; Self::MOST]) -> Self {
        PageTimes { by_type: times, types: Self::MOST as u8 }
    }

    /// A time for each type; `None` if they are none, or more than there are types.
    pub fn by_type(times: &[SimDuration]) -> Option<Self> {
        let (&first, types) = (times.first()?, times.len());
        if types > Self::MOST {
            return None;
        }
        let mut by_type = [first; Self::MOST];
        by_type[..types].copy_from_slice(times);
        Some(PageTimes { by_type, types: types as u8 })
    }

    /// Whether it is as long for every page.
    #[inline]
    pub fn is_same(&self) -> bool {
        self.types == 1
    }

    /// For the page at this offset of its block.
    #[inline]
    pub fn of(&self, page: u32) -> SimDuration {
        let kind = match self.types {
            1 => 0,
            2 => page % 2,
            _ => match page {
                0..=5 => 0,
                6..=7 => 1,
                _ => (page - 8) / 2 % 3,
            },
        };
        self.by_type[kind as usize]
    }

    /// For a page of this type, counted from 0 in the order of the times.
    #[inline]
    pub fn of_type(&self, kind: u32) -> SimDuration {
        self.by_type[(kind as usize).min(usize::from(self.types) - 1)]
    }

    /// For the first page of a block, and for every other if it is as long for all.
    #[inline]
    pub fn first(&self) -> SimDuration {
        self.by_type[0]
    }

    /// Of a page of which nobody knows the type: the mean of the types.
    #[inline]
    pub fn mean(&self) -> SimDuration {
        if self.is_same() {
            return self.by_type[0];
        }
        let sum: SimDuration = self.times().iter().copied().sum();
        SimDuration(sum.0 / u64::from(self.types))
    }

    /// One for each type.
    pub fn times(&self) -> &[SimDuration] {
        &self.by_type[..usize::from(self.types)]
    }

    /// Each of them changed.
    pub fn map(self, change: impl Fn(SimDuration) -> SimDuration) -> Self {
        PageTimes { by_type: self.by_type.map(change), ..self }
    }
}

impl From<SimDuration> for PageTimes {
    fn from(time: SimDuration) -> Self {
        PageTimes::same(time)
    }
}

impl Serialize for PageTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.times() {
            [time] => time.serialize(serializer),
            times => times.serialize(serializer),
        }
    }
}

/// How long a command with its address occupies the wires of its die, apart from all data.
///
/// ```text
/// read  [command][array tR][page out]     program  [command, page in][array tPROG]     erase  [command][array tBERS]
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Commands {
    /// Before an array read: once for each plane of the command.
    pub read: SimDuration,
    /// Before the data of a page that is programmed, or before a program of what lies in the register.
    pub program: SimDuration,
    /// Before an erase.
    pub erase: SimDuration,
    /// What they wait for on a shared bus.
    pub order: CommandOrder,
}

impl Commands {
    /// No command takes time, and none has a place of its own in the order of a bus.
    pub const NONE: Commands = Commands {
        read: SimDuration::ZERO,
        program: SimDuration::ZERO,
        erase: SimDuration::ZERO,
        order: CommandOrder::Fifo,
    };

    /// Whether some command takes time.
    pub fn take_time(&self) -> bool {
        [self.read, self.program, self.erase] != [SimDuration::ZERO; 3]
    }
}

/// What a command waits for on a shared bus, within the priority of its operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandOrder {
    /// For what asked before it.
    #[default]
    Fifo,
    /// For every page that was read and waits to go out.
    AfterData,
}

/// As a scenario file says it: a time, or `none`.
fn or_none<S: Serializer>(time: &Option<SimDuration>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => time.serialize(serializer),
        None => serializer.serialize_str("none"),
    }
}

/// How far garbage collection moves a page without transferring it to the controller and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Copyback {
    /// Every move costs two transfers.
    None,
    /// Moves inside a plane cost none.
    Plane,
    /// Moves inside a die cost none.
    Die,
}

/// The host link of one device: half-duplex, first come first served, page by page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkConfig {
    /// Bytes a second.
    #[serde(serialize_with = "units::as_rate")]
    pub bandwidth: Bytes,
    /// Added once to every sub-request on its way to the device.
    pub latency: SimDuration,
    /// When operations reach their dies.
    #[serde(skip_serializing_if = "LinkOrder::is_ready")]
    pub order: LinkOrder,
    /// Operations that the device is given at once; any number if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
}

/// When an operation reaches the queue of its die.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkOrder {
    /// A write when its data is over the link, all else at once: it may overtake writes that came before it.
    #[default]
    Ready,
    /// No sooner than the data of every write that came before it.
    Arrival,
}

impl LinkOrder {
    fn is_ready(&self) -> bool {
        *self == LinkOrder::Ready
    }
}

impl LinkConfig {
    /// A link of so many bytes a second, without latency, that takes any number of operations.
    pub const fn of(bandwidth: Bytes) -> LinkConfig {
        LinkConfig { bandwidth, latency: SimDuration::ZERO, order: LinkOrder::Ready, queue_depth: None }
    }

    /// Time one page of `page_size` bytes occupies the link, to the nearest nanosecond.
    pub fn page_time(&self, page_size: u32) -> SimDuration {
        let bandwidth = u128::from(self.bandwidth.max(1));
        let ns = (u128::from(page_size) * 1_000_000_000 + bandwidth / 2) / bandwidth;
        SimDuration(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_one_page_go_without_saying() {
        let geometry = crate::presets::PRESETS[0].geometry.clone();
        let shown = format!("{geometry:?}");
        assert!(shown.ends_with("summary_pages: 1, own_pins: true }"), "{shown}");
        let shown = format!("{:?}", Geometry { program_planes: 4, program_pages: 3, ..geometry });
        assert!(shown.ends_with("own_pins: true, program_planes: 4, program_pages: 3 }"), "{shown}");
    }

    fn types(times: &[u64], pages: u32) -> Vec<u64> {
        let times: Vec<SimDuration> = times.iter().copied().map(SimDuration).collect();
        let times = PageTimes::by_type(&times).expect("one to three");
        (0..pages).map(|page| times.of(page).0).collect()
    }

    #[test]
    fn pages_take_the_times_of_their_types() {
        assert_eq!(types(&[7], 3), [7, 7, 7]);
        assert_eq!(types(&[1, 2], 5), [1, 2, 1, 2, 1]);
        let tlc = [1, 1, 1, 1, 1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3, 1];
        assert_eq!(types(&[1, 2, 3], 21), tlc);
    }

    #[test]
    fn equal_types_are_as_one_and_their_mean_is_exact() {
        assert_eq!(types(&[9, 9, 9], 40), [9; 40]);
        let of =
            |times: &[u64]| PageTimes::by_type(&times.iter().copied().map(SimDuration).collect::<Vec<_>>());
        assert_eq!(of(&[10, 20, 60]).map(|times| times.mean()), Some(SimDuration(30)));
        assert_eq!(of(&[5]), Some(PageTimes::same(SimDuration(5))));
        assert_eq!((of(&[]), of(&[1, 2, 3, 4])), (None, None));
    }
}
