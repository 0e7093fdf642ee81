//! An array as the scenario describes it, validated.

use harmonia_ssd::SsdConfig;
use harmonia_types::{Bytes, SimDuration};
use serde::Serialize;

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
