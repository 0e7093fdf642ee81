//! All tests of the crate in one program, but for one that adds policies to what the process knows: each program would compile
//! the simulator anew.

mod ablation;
mod advice;
mod aged_by_load;
mod cache;
mod deadlines;
mod deletes;
mod determinism;
mod draid;
mod failures;
mod gaftl;
mod gc_affected;
mod inside;
mod judgement;
mod ladder;
mod lifetime;
mod log;
mod long_times;
mod modern_drive;
mod overwrite_space;
mod pages;
mod paper_effect;
mod rated_load;
mod replays;
mod scaled;
mod second_simulator;
mod seeds;
mod stripe_cache;
mod swarm;
mod traces;
mod warmup;
mod write_amplification;
