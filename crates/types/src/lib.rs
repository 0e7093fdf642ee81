//! The vocabulary of Harmonia: simulated time, addresses, host requests, causes and written-out units.
//!
//! Everything here is plain data shared by all other crates; nothing here decides or simulates anything. The one
//! exception is [`units`], which reads and prints quantities such as `25us` or `4KiB`, because policies' own keys
//! and the scenario file must read them alike.

pub mod counters;
mod divisor;
mod levels;
mod order;
mod own_keys;
mod owners;
mod plane;
pub mod registry;
mod request;
pub mod text;
mod time;
pub mod units;
mod wall_clock;

pub use counters::array::{
    BitmapCounters, BoundCounters, CacheCounters, LogCounters, NvramCounters, ReadCounters,
    RedundancyCounters,
};
pub use counters::device::{
    DeviceCounters, Estimates, InsideCounters, MappingCacheCounters, Met, MetGc, Noted, Pairing, QueueDepth,
    StreamCounters, WriteCacheCounters,
};
pub use counters::{Combine, Combines, Counter, Counters, Number};
pub use divisor::Divisor;
pub use levels::Levels;
pub use order::sort_by_numbers;
pub use owners::Owners;
pub use plane::PlaneWork;
pub use request::{
    Blame, Completion, Counts, Deadlines, GcWait, HostRequest, IoCause, Operation, ParityPages, Phase,
    PlacementHandle, Programmed, RequestBlame,
};
pub use time::{SimDuration, SimTime};
pub use wall_clock::{DAY_NS, WallClock, format_utc, midnight_utc_ns};

use serde::{Deserialize, Serialize};

/// A byte count or byte offset.
pub type Bytes = u64;

/// Index of a member SSD in its array, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeviceId(pub u16);

impl DeviceId {
    /// The index as a `usize`, for table look-ups.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Logical page number on one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lpn(pub u32);

/// Physical page number inside one allocation unit: `block << page_bits | page`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ppn(pub u32);
