//! All tests of the crate in one program, but for the registry's and those of contents: each program would compile the array
//! anew. [`common`] is what several of them use.

mod ageing_by;
mod ageing_by_numbers;
mod ageing_superblocks;
mod ageing_within;
mod behind_caches;
mod bitmap;
mod closed_forms;
mod command_window;
mod common;
mod declustered;
mod degraded_queues;
mod degraded_writes;
mod dodging;
mod forgetful;
mod fua;
mod handles;
mod imports;
mod lifetimes;
mod log;
mod lookahead;
mod messages;
mod metamorphic;
mod operation_counts;
mod parity_blame;
mod parts;
mod queue_depth;
mod rebuild;
mod replacement;
mod resync;
mod rounds;
mod shared_link;
mod sit_out;
#[path = "../../../../tests/sources.rs"]
mod sources;
mod stored;
mod stripe_cache;
mod trails;
mod transactions;
mod wear;
mod wide;
