//! From a scenario file to what can be run.
//!
//! A scenario passes through stages, each a type of its own:
//!
//! 1. *as written*: a tree of values, each with its place in the file or the flag it came from (`tree`, `set`);
//! 2. *validated*: [`Scenario`], plain numbers, nothing left to interpret (`workload`, `array`, `ssd`);
//! 3. *built and run*, by the crate `run`: devices, array and load.
//!
//! Whatever a person wrote either becomes a [`Scenario`] that can run or a [`BadInput`] that says where, which key,
//! which value, and what is allowed. [`schema::keys`] lists every key; [`presets`] and [`policies`] what can
//! be named.

mod addresses;
mod array;
mod bitmap;
mod bought;
mod draid;
mod error;
mod failures;
pub mod files;
mod hints;
mod knowledge;
mod level;
mod log;
mod own;
pub mod policies;
mod power;
pub mod presets;
mod read;
mod reserve;
mod resolved;
mod scenario;
pub mod schema;
mod set;
mod shares;
mod shown;
mod ssd;
mod streams;
mod trace;
mod tree;
mod warnings;
mod workload;

pub use addresses::share_addresses;
pub use bought::{Assumed, Bought};
pub use error::{BadInput, nearest, printable};
pub use failures::SpareState;
pub use harmonia_metrics::Warning;
pub use own::PolicyKey;
pub use scenario::{
    FlagValue, OverwriteSpace, Precondition, ReadingFlag, Scenario, Template, TraceFile, Variant,
    WarmupPolicy, sweep,
};
pub use set::{Axis, axes, says, values_of};
