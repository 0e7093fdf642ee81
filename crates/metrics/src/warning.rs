//! What a reader of a report should know before believing it.

use serde::{Deserialize, Serialize};

/// Something about a scenario or a run that explains its figures, or takes their meaning away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What kind it is, for programs: `parity-resonance`.
    pub code: String,
    /// The same for people, with the numbers.
    pub text: String,
    /// In a comparison, the variants it is true of; absent where it is true of the comparison as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

impl Warning {
    /// A warning about the run, or the comparison, in whose report it stands.
    pub fn new(code: &str, text: impl Into<String>) -> Self {
        Warning { code: code.to_owned(), text: text.into(), labels: Vec::new() }
    }
}
