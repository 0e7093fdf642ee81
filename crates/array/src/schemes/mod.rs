//! Schemes that decide who collects and where data goes: one folder each, with a coordinator and a planner.
//!
//! Either half is one line in its registry ([`crate::coordination::REGISTRY`], [`crate::planner::REGISTRY`]). A policy that is a
//! coordinator alone is a file in `coordination`.

pub(crate) mod gaftl;
