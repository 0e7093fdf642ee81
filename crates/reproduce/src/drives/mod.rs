//! Named drives, held against what was measured on them.
//!
//! ```text
//!   claims/drives.md --> measured (rows) --> split: fitted or judged, by rule
//!                                              |
//!   ssd.preset = "samsung-pm9a3-960g" ...      v
//! ```
//!
//! * [`measured`]: the rows that were published, from Markdown; [`accepted`](measured::Quantity::accepted) is fixed there;
//! * [`split`]: which of them a preset may be fitted on.
//!
//! Drives are no papers: their rows are neither in the counts of claims nor on the page of findings.

pub mod measured;
pub mod split;
