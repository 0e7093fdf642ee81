//! RAID arrays of simulated SSDs and the coordination of their garbage collection.
//!
//! * [`coordination`]: who collects when (control), one file per policy;
//! * [`planner`]: which member operations a host request becomes (data), one file or folder per policy;
//! * `schemes`: policies that are both, one folder each;
//! * [`layout`]: where striped bytes lie;
//! * [`lifetimes`]: when members wear out by their shares of parity, a recursion;
//! * [`age`]: from empty devices to an aged state, a value cloned per run, which a file can keep;
//! * [`Array`]: the O-RAID controller that carries both out; sans-IO like its devices.

mod aged;
#[cfg(all(debug_assertions, not(test)))]
#[doc(hidden)]
pub mod compiled;
mod config;
mod controller;
pub mod coordination;
mod dealing;
mod delivered;
mod health;
pub mod layout;
pub mod lifetimes;
mod member;
mod placing;
pub mod planner;
mod rows;
mod schemes;
mod stand_ins;
mod stored;
pub mod stripe_cache;
mod stripes;
pub mod years;

pub use aged::{
    AGEING_VERSION, AgedState, AgeingError, AgeingPlan, COUNTED_FROM, Steadiness, age, age_by, ageing_pages,
};
pub use config::{
    ArrayConfig, Avoid, Befalls, CoordinationConfig, DegradedWrites, Fault, Faults, Interface, Knowledge,
    MemberConfig, Reads, Rebuild, Scrub, SmallWrite, StripeCacheConfig, When, WriteHole,
};
pub use controller::{
    Array, ArrayCounters, ArrayFailure, BackgroundCounters, Followed, Followup, Holder, MessageCounters,
    Mishap, MishapKind, OperationAccount, Parts, Step, What, payload,
};
pub use health::Health;
pub use layout::Level;
pub use member::{Access, Condition};
pub use planner::LossCounters;
pub use stand_ins::StandIns;
pub use stripes::member_bytes;
pub use years::YearsConfig;
