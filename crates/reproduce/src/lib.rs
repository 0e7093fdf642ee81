//! What the papers claim, held against what the simulator measures.
//!
//! ```text
//!   experiments/*.toml --> experiment --> campaign --> results (one summary a run, kept in a folder)
//!                                                        |
//!   claims (the papers' figures, our tolerances) --> measure --> verdict --> tables, findings, figures
//! ```
//!
//! * [`experiment`], [`experiments`]: named configurations and what is varied in them;
//! * [`reading`]: what a paper leaves out, read otherwise, and all its claims asked again;
//! * [`campaign`]: runs what is missing, and keeps what is done; [`Choice`]: what was asked for by name;
//! * [`summary`], [`results`]: what is kept of a run, and all of it by name;
//! * [`claims`], [`measure`], [`verdict`]: what is claimed, what is asked of the results, what comes of it;
//! * `expression`: measures as claims and pages write them;
//! * `replacing`, `ages`: members that wear out and are replaced, with a run until each replacement, and what is asked of their ages;
//! * [`drives`]: what was measured on drives that are sold, and presets held against it;
//! * [`assessment`]: claims with their verdicts;
//! * [`findings`]: the page made of them, whose pictures are drawn by `harmonia-figure`.
//!
//! A verdict is a function of the results, and pages are a function of the results: both are made again at any time
//! without a simulation.

mod ages;
pub mod assessment;
pub mod campaign;
mod choice;
pub mod claims;
pub mod drives;
pub mod experiment;
mod expression;
pub mod findings;
pub mod measure;
pub mod reading;
mod replacing;
pub mod results;
pub mod summary;
pub mod verdict;

pub use assessment::{Assessment, assess};
pub use choice::Choice;
pub use experiment::{Experiment, experiments};
pub use reading::{Reading, readings};
pub use results::Results;
