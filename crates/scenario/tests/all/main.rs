//! All tests of the crate in one program, but for one that adds policies to what the process knows: each program would compile
//! the simulator anew.

mod bad_scenarios;
mod cache;
mod deadlines;
mod deletes;
mod determinism;
mod draid;
mod failures;
mod frozen;
mod gaftl;
mod gc_affected;
mod inside;
mod judgement;
mod ladder;
mod log;
mod long_times;
mod modern_drive;
mod never_panics;
mod overwrite_space;
mod pages;
mod paper_effect;
mod replays;
mod scenarios;
mod seeds;
mod stripe_cache;
mod swarm;
mod traces;
mod warmup;
mod write_amplification;
mod wrong_values;
