//! Literal configurations: one die with one plane and nothing else, so that every closed form can be written down.

use harmonia_array::{ArrayConfig, CoordinationConfig, Level, MemberConfig, SmallWrite};
use harmonia_flash::{Copyback, Geometry, LinkConfig, Timing};
use harmonia_ssd::{
    Allocation, AllocationUnit, Amount, ConcurrencyConfig, Destination, Domain, Frontiers, FtlConfig,
    GcConfig, Priority, SsdConfig, Trigger,
};
use harmonia_types::SimDuration;

/// Bytes of a page of every device here.
pub const PAGE: u64 = 4096;

/// A device of one die and one plane with pins of its own: `blocks` of `data_pages`, `reserved` of them spare.
/// Collects when no block is free, until one is: the smallest free pool there can be. Its link takes no time.
pub fn one_die(blocks: u32, data_pages: u32, reserved: u32) -> SsdConfig {
    SsdConfig {
        preset: "literal".into(),
        geometry: Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: blocks,
            pages_per_block: data_pages,
            page_size: PAGE as u32,
            summary_pages: 0,
            own_pins: true,
        },
        timing: Timing {
            read: SimDuration::from_us(25),
            program: SimDuration::from_us(200),
            erase: SimDuration::from_us(1500),
            transfer: SimDuration::from_us(20),
            copyback: Copyback::Die,
            suspend_program: None,
            suspend_erase: None,
            resume: SimDuration::ZERO,
        },
        // Zero nanoseconds a page after rounding.
        link: LinkConfig { bandwidth: u64::MAX, latency: SimDuration::ZERO },
        ftl: FtlConfig {
            reserved_blocks: Amount::Blocks(reserved),
            allocation: Allocation::CWDP,
            allocation_unit: AllocationUnit::Die,
            frontiers: Frontiers::Shared,
            priority: Priority::Fifo,
            multi_plane: false,
            open_blocks: 2,
        },
        gc: GcConfig {
            domain: Domain::Die,
            trigger: Trigger::Foreground,
            hard_threshold: Amount::Blocks(0),
            soft_threshold: Amount::AboveHard(1),
            stop_threshold: Amount::AboveHard(0),
            min_victims: 1,
            victim: "greedy".into(),
            victim_d: 1,
            schedule: "blocking".into(),
            slack: SimDuration::from_us(5_000),
            destination: Destination::Unit,
            concurrency: ConcurrencyConfig::named("unlimited"),
        },
    }
}

/// A RAID-0 array of `members` equal devices, each collecting on its own.
pub fn raid0(ssd: &SsdConfig, members: u16, stripe_unit: u64) -> ArrayConfig {
    ArrayConfig {
        devices: members,
        level: Level::Raid0,
        stripe_unit,
        small_write: SmallWrite::Fewest,
        coordination: CoordinationConfig {
            policy: "local".into(),
            message_latency: SimDuration::ZERO,
            own: serde_json::Map::new(),
        },
        members: vec![MemberConfig { capable: true, ssd: ssd.clone() }; usize::from(members)],
    }
}
