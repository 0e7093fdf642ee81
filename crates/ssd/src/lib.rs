//! One simulated SSD: mapping, block states, write frontiers, garbage collection and the O-SSD interface.
//!
//! * [`Ftl`] is the bare flash translation layer: state without time. Ageing drives it directly.
//! * [`Device`] adds time: dies with queues, the link, garbage-collection events. It is sans-IO: whoever owns the
//!   clock submits operations, asks for the next wake-up, advances it and drains completions and notices.

pub mod block;
#[cfg(debug_assertions)]
#[doc(hidden)]
pub mod compiled;
mod config;
mod device;
mod die;
mod endurance;
pub mod follow;
mod front;
mod ftl;
pub mod gc;
pub mod interface;
mod leveling;
mod map_cache;
mod order;
pub mod placement;
pub mod probe;
mod rating;
mod scale;
mod shape;
mod slab;
mod stripes;
mod table;
mod wide_units;

pub use config::{
    Allocation, AllocationUnit, Amount, Arbitration, BeginsAt, ControllerConfig, Destination, Domain, Drain,
    FtlConfig, GcConfig, HOST_SHARE, Infeasible, LastProgram, MAPPING_ENTRY, Pacing, Priority, Scale,
    SsdConfig, Superblock, Thin, Trigger, WriteCacheConfig,
};
pub use device::{
    AtEnd, Device, DeviceCounters, DeviceFailure, Estimates, LifeReport, Pairing, Passage, Policies,
    QueueDepth, Room, SubCompletion, SubRefusal, SubRequest,
};
pub use endurance::{DriveEndurance, WearConfig};
pub use ftl::{
    Collected, Counted, Damaged, FreeList, Ftl, Goal, Moved, OutOfBlocks, RandomOverwrites, Tally, UnitMut,
    UnitState, Worn,
};
pub use harmonia_types::registry::PolicyConfig;
pub use leveling::LevelingConfig;
pub use order::{Order, Part};
pub use placement::Frontiers;
pub use rating::Rating;
pub use scale::Scaling;
pub use shape::{FlashPageOfBlock, Noted, Packing, Shape};
pub use slab::Slab;
pub use table::HugeTable;
