//! All tests of the crate in one program, but for the registry's: each program would compile the device anew.
//!
//! What several of them use: [`bench`] (literal devices, driven by hand), [`random`] (random devices), [`seams`] (a small device,
//! and a way to use it up) and [`lanes`] (what a probe hears of planes, held against the device's counters).

mod anywhere;
mod background;
mod bench;
mod bus_oracle;
mod commands;
mod concurrency;
mod content;
mod controller;
mod dynamic_plane;
mod equivalence;
mod estimates;
mod fast_fail;
mod faults;
mod figure_5;
mod follow;
mod golden;
mod imports;
mod io_parallel;
mod lanes;
mod levels;
mod limits;
mod link_order;
mod mapping;
mod met_gc;
mod multi_plane;
mod overload;
mod overwrites;
mod pacing;
mod page_types;
mod pairing;
mod parts;
mod placement;
mod power;
mod preemption;
mod preemptive;
mod quiet;
mod random;
mod retry;
mod seam_concurrency;
mod seam_schedule;
mod seams;
mod settled;
mod sharing;
mod slack;
#[path = "../../../../tests/sources.rs"]
mod sources;
mod starvation;
mod stepwise;
mod superblocks;
mod suspend_host;
mod thresholds;
mod timing;
mod units;
mod watched;
mod wear;
mod windows;
mod write_cache;
