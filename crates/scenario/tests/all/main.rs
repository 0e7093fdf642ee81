//! All tests of the crate in one program.

mod bad_scenarios;
mod frozen;
mod never_panics;
mod readers;
mod scenarios;
mod wrong_values;
