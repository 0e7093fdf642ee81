//! What a reader of a report should know about the scenario behind it.

use serde::{Deserialize, Serialize};

/// A choice in the scenario that can be run and probably is not what was meant, or that explains the figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What kind it is, for programs: `parity-resonance`.
    pub code: String,
    /// The same for people, with the numbers.
    pub text: String,
}
