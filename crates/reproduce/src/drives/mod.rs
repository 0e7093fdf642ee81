//! Named drives, held against what was measured on them.
//!
//! ```text
//!   claims/drives.md --> measured (rows) --> split: fitted or judged, by rule --+
//!                           |                                                  v
//!                           +--> runs (a scenario a load) --> Shows --> judged (verdicts, baselines) --> tables
//! ```
//!
//! * [`measured`]: the rows that were published, from Markdown; [`accepted`](measured::Quantity::accepted) is fixed there;
//! * [`split`]: which of them a preset may be fitted on;
//! * [`runs`]: the scenario of each load, and what is kept of its run;
//! * [`judged`]: rows with verdicts, beside two baselines;
//! * [`tables`]: all of it as text;
//! * [`predicted`]: what the presets say of loads and of a drive that nobody here has seen measurements of.
//!
//! Drives are no papers: their rows are neither in the counts of claims nor on the page of findings.

pub mod judged;
pub mod measured;
pub mod predicted;
pub mod runs;
pub mod split;
pub mod tables;
