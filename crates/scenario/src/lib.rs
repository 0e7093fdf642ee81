//! From a scenario file to a report.
//!
//! A scenario passes through stages, each a type of its own:
//!
//! 1. *as written*: a tree of values, each with its place in the file or the flag it came from (`tree`, `set`);
//! 2. *validated*: [`Scenario`], plain numbers, nothing left to interpret (`workload`, `array`, `ssd`);
//! 3. *built and run*: devices, array and load.
//!
//! Whatever a person wrote either becomes a [`Scenario`] that can run or a [`BadInput`] that says where, which key,
//! which value, and what is allowed. [`schema::keys`] lists every key; [`presets`] and [`policies`] what can
//! be named.

mod addresses;
mod array;
mod bitmap;
mod draid;
mod error;
mod failures;
pub mod files;
mod hints;
mod kept;
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
mod run;
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
pub use error::{BadInput, nearest, printable};
pub use failures::SpareState;
pub use harmonia_metrics::Warning;
pub use kept::{Outcome, Store, VERSION, outcomes};
pub use own::PolicyKey;
pub use run::{
    AgedCache, CHEAP_SEEDS, CacheUsage, MOST_SEEDS, Observe, Progress, RunError, RunId, RunOptions, Silent,
    Stage, Unobserved, aged_arrays, aged_by, aged_state, compare, compare_seeds, compare_while,
    default_seeds, fits_in_memory, peak_rss_bytes, preflight, run, run_aged, run_forked,
};
pub use scenario::{
    FlagValue, OverwriteSpace, Precondition, ReadingFlag, Scenario, Template, TraceFile, Variant,
    WarmupPolicy, sweep,
};
pub use set::{Axis, axes, values_of};
