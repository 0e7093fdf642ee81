//! An array as the scenario describes it, validated.

use harmonia_ssd::SsdConfig;
use harmonia_types::{Bytes, SimDuration};
use serde::Serialize;

/// The `[array]` table with its members resolved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArrayConfig {
    /// Number of member devices.
    pub devices: u16,
    /// RAID level.
    pub level: Level,
    /// Bytes that lie together on one member; a multiple of the page size.
    pub stripe_unit: Bytes,
    /// `[array.coordination]`
    pub coordination: CoordinationConfig,
    /// Every member's device, in order; they differ only where `[[array.member]]` says so.
    pub members: Vec<MemberConfig>,
}

impl ArrayConfig {
    /// Bytes of each member that the stripe uses: whole stripe units of the smallest.
    pub fn member_bytes(&self) -> Bytes {
        let bytes = |member: &MemberConfig| {
            let pages = member.ssd.resolve().map_or(0, |shape| shape.logical_pages);
            u64::from(pages) * u64::from(member.ssd.geometry.page_size)
        };
        let least = self.members.iter().map(bytes).min().unwrap_or(0);
        least / self.stripe_unit.max(1) * self.stripe_unit
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

/// RAID level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Striping without redundancy.
    Raid0,
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
