//! Geometry, timing and host link of one device, as plain numbers.

use harmonia_types::{Bytes, SimDuration, units};
use serde::{Serialize, Serializer};

/// How many of everything one device has. `channels x chips x dies x planes x blocks x pages`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
}

impl Geometry {
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// Array read of a page, tR.
    pub read: SimDuration,
    /// Program of a page, tPROG.
    pub program: SimDuration,
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
    /// Added to what remained of a suspended operation when it goes on.
    pub resume: SimDuration,
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
    /// Time one page of `page_size` bytes occupies the link, to the nearest nanosecond.
    pub fn page_time(&self, page_size: u32) -> SimDuration {
        let bandwidth = u128::from(self.bandwidth.max(1));
        let ns = (u128::from(page_size) * 1_000_000_000 + bandwidth / 2) / bandwidth;
        SimDuration(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}
