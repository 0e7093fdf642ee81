//! Which values of a scenario's keys suit a workload, and how sure that is.
//!
//! ```text
//!   --over key=range --> Space --.
//!                                +--> search: points and seeds to run --> campaign --> simulations
//!   --objective p99 ---> cost ---'         ^                                   |
//!                                          '------------- costs ---------------'
//!                                          |
//!                                          v
//!                                        Found --> verdict (plateau, doubts) --> TuneReport
//! ```
//!
//! * [`objective`]: what can be made small, a table of figures of a report;
//! * [`space`]: the keys that are varied and the values they take, a lattice of whole numbers;
//! * [`search`]: which point runs with which seed next, and who is out of the race; knows nothing of simulations;
//! * [`verdict`]: what a search shows: the best point, those that cannot be told from it, and reasons for doubt;
//! * [`campaign`]: runs what a search asks for, and keeps it in a folder;
//! * [`report`], [`picture`]: all of it as data, in words, and drawn.
//!
//! # Why a race over a grid, and no optimiser from elsewhere
//!
//! What is tuned here are two to four keys, some of them whole numbers or names; a run costs a second, and one run with
//! another seed differs by more than neighbouring points do. Of the crates there are, `argmin` needs continuous
//! parameters and an objective without noise; CMA-ES wants the same and populations of hundreds; TPE (`tpe`,
//! `optimizer`) and Bayesian optimisation (`egobox`) propose points well but take one value a point, have no notion of
//! the same seed at two points, and leave no evidence of what was ruled out and why. Pairs by seed are worth more here than
//! a clever proposal: they cancel what seeds contribute, so that three to five runs a point decide. Racing is built on
//! them (Birattari et al., A racing algorithm for configuring metaheuristics, GECCO 2002; Lopez-Ibanez et al., The irace
//! package, Operations Research Perspectives 3, 2016, whose paired t-test variant this is), is deterministic without a
//! random number, and its record is the evidence that a reader wants.

pub mod campaign;
pub mod objective;
pub mod picture;
pub mod report;
pub mod search;
pub mod space;
pub mod verdict;

pub use campaign::{Campaign, Request, Watch};
pub use objective::Objective;
pub use report::TuneReport;
pub use space::Space;
