//! An array as the scenario describes it, validated.

use harmonia_ssd::SsdConfig;
use harmonia_types::{Bytes, SimDuration};
use serde::{Deserialize, Serialize};

use crate::layout::{Layout, Level};

/// The `[array]` table with its members resolved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArrayConfig {
    /// Number of member devices.
    pub devices: u16,
    /// RAID level.
    pub level: Level,
    /// Bytes that lie together on one member; a multiple of the page size.
    pub stripe_unit: Bytes,
    /// How parity is made where a stripe is written in part.
    pub small_write: SmallWrite,
    /// What members reveal, and what the array makes of it.
    pub knowledge: Knowledge,
    /// `[array.coordination]`
    pub coordination: CoordinationConfig,
    /// Every member's device, in order; they differ only where `[[array.member]]` says so.
    pub members: Vec<MemberConfig>,
}

impl ArrayConfig {
    /// How the array's bytes lie on its members: as many of each as the smallest has.
    pub fn layout(&self) -> Layout {
        let bytes = |member: &MemberConfig| {
            let pages = member.ssd.resolve().map_or(0, |shape| shape.logical_pages);
            u64::from(pages) * u64::from(member.ssd.geometry.page_size)
        };
        let least = self.members.iter().map(bytes).min().unwrap_or(0);
        Layout::new(self.level, self.devices, self.stripe_unit, self.page_size(), least)
    }

    /// Bytes of a page, the same in every member.
    pub fn page_size(&self) -> Bytes {
        self.members.first().map_or(1, |member| u64::from(member.ssd.geometry.page_size))
    }
}

/// One member of the array.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemberConfig {
    /// Whether it understands the O-SSD messages; an incapable member collects only on its own.
    pub capable: bool,
    /// The device.
    pub ssd: SsdConfig,
}

/// What members reveal of their collection, and what reads and writes make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Knowledge {
    /// What members reveal and accept.
    pub interface: Interface,
    /// How often members are asked for their status where [`Interface::Log`] is all they offer and reads avoid members.
    pub poll: SimDuration,
    /// What a read does when a member is known to collect; a coordination policy may have its own rule.
    pub reads: Reads,
    /// Room for writes to members that collect; none if 0.
    pub nvram: Bytes,
}

/// Everything is revealed, nothing made of it.
impl Default for Knowledge {
    fn default() -> Self {
        let poll = SimDuration::from_us(10_000);
        Knowledge { interface: Interface::default(), poll, reads: Reads::Wait, nvram: 0 }
    }
}

/// What a member reveals and accepts; each rung has all that those before it have.
///
/// A member that is not [`MemberConfig::capable`] stands on the lowest rung whatever the others do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interface {
    /// Only how long its answers take.
    Nothing,
    /// A status that can be asked for, as old as the last answer.
    Log,
    /// Windows in which it does or does not collect, as NVMe's predictable-latency mode has them.
    Window,
    /// An operation that would wait for collection can be refused at once, with the time left.
    Busy,
    /// It tells when it collects, and collects when it is told to.
    #[default]
    Command,
}

impl std::fmt::Display for Interface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Interface {
    /// All rungs, the lowest first.
    pub const ALL: [Interface; 5] =
        [Interface::Nothing, Interface::Log, Interface::Window, Interface::Busy, Interface::Command];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Interface::Nothing => "nothing",
            Interface::Log => "log",
            Interface::Window => "window",
            Interface::Busy => "busy",
            Interface::Command => "command",
        }
    }
}

/// What a read does about a member that collects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// It waits.
    #[default]
    Wait,
    /// The data is read from another copy, or rebuilt from the other members.
    Avoid(Avoid),
    /// The same begins when the member has not answered for so long; whichever is first wins.
    Hedge(SimDuration),
}

/// How reads avoid members that collect. There are never more members avoided at once than redundancy allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Avoid {
    /// Whichever refuses first.
    Any,
    /// Those that collect for longest yet.
    #[default]
    Longest,
    /// As `Longest`, where reading the rest of the row costs less time than waiting.
    Cheaper,
}

/// How parity is made where a stripe is written in part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmallWrite {
    /// Whichever reads fewer units; a tie goes to reconstruct-write, as in Linux md.
    #[default]
    Fewest,
    /// From the old data and the old parity.
    ReadModifyWrite,
    /// From the units that are not written.
    Reconstruct,
}

/// The `[array.coordination]` table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoordinationConfig {
    /// Policy, a name in the registry.
    pub policy: String,
    /// One way, between the O-RAID controller and a device.
    pub message_latency: SimDuration,
    /// The policy's own keys, as written (durations as text); the policy's `Config` reads them.
    #[serde(flatten)]
    pub own: serde_json::Map<String, serde_json::Value>,
}
