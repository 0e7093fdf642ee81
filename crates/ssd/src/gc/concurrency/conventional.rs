//! The three conventional schemes that Electronics 2025 compares its adaptive scheme with. Each is the policy `fixed` with the
//! paper's figures.
//!
//! ```text
//!                     on their own from     channels at once
//! conv-0-allch        empty                 all        reclaims eagerly: a block with one invalid page is a victim
//! conv-0.7-allch      70% full              all
//! conv-0.7-halfch     70% full              half
//! ```
//!
//! Source: Electronics 2025, 4.3: Conv_0_AllCh, Conv_0.7_AllCh, Conv_0.7_HalfCh. The paper says that Conv_0.7_AllCh puts
//! garbage collection ahead of user reads, and does not say it of the others. Here the schedule decides that: `blocking`
//! collects ahead of reads, `after-reads` behind them.
//!
//! The paper is silent on which blocks are worth a victim and on when the schemes stop that start at 0.7. The keys
//! `min_invalid` and `release` are our readings. By default one invalid page is enough, and they stop below 0.7.
//!
//! Leaves out: nothing else that the text names.

use harmonia_types::registry::{Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fixed::Fixed;
use super::{Build, Concurrency, Parameters};

/// Keys of `[ssd.gc.concurrency]` with `policy = "conv-0-allch"`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct FromTheStart {
    /// Invalid pages that a victim needs for a turn that dies start on their own.
    #[schemars(range(min = 1))]
    min_invalid: u32,
}

impl Default for FromTheStart {
    fn default() -> Self {
        FromTheStart { min_invalid: 1 }
    }
}

/// Keys of `[ssd.gc.concurrency]` with `policy = "conv-0.7-allch"` or `"conv-0.7-halfch"`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct FromSeventy {
    /// How far below 0.7 utilisation falls before dies stop to start on their own.
    #[schemars(range(min = 0, max = 0.7))]
    release: f64,
    /// Invalid pages that a victim needs for a turn that dies start on their own.
    #[schemars(range(min = 1))]
    min_invalid: u32,
}

impl Default for FromSeventy {
    fn default() -> Self {
        FromSeventy { release: 0.0, min_invalid: 1 }
    }
}

fn from_seventy(parameters: &Parameters<'_>, channels: u32) -> Result<Box<dyn Concurrency>, String> {
    let FromSeventy { release, min_invalid } = parameters.config()?;
    Ok(Box::new(Fixed::new(0.7, release, channels, min_invalid)?))
}

const SOURCE: &str = "Electronics 2025, 4.3";

pub(super) const FROM_THE_START: Entry<Build> = Entry {
    name: "conv-0-allch",
    summary: "all channels collect whenever any block has an invalid page",
    source: SOURCE,
    keys: &own_keys::<FromTheStart>,
    build: &|parameters| {
        let FromTheStart { min_invalid } = parameters.config()?;
        Ok(Box::new(Fixed::new(0.0, 0.0, parameters.channels, min_invalid)?))
    },
};

pub(super) const ALL_CHANNELS: Entry<Build> = Entry {
    name: "conv-0.7-allch",
    summary: "from utilisation 0.7 on all channels collect",
    source: SOURCE,
    keys: &own_keys::<FromSeventy>,
    build: &|parameters| from_seventy(parameters, parameters.channels),
};

pub(super) const HALF_THE_CHANNELS: Entry<Build> = Entry {
    name: "conv-0.7-halfch",
    summary: "from utilisation 0.7 on half of the channels collect at once",
    source: SOURCE,
    keys: &own_keys::<FromSeventy>,
    build: &|parameters| from_seventy(parameters, parameters.half()),
};

#[cfg(test)]
mod tests {
    use super::super::Limit;
    use super::super::tests::limit_at;
    use serde_json::json;

    #[test]
    fn they_are_the_paper_s() {
        for (name, before, from, channels) in [
            ("conv-0-allch", None, 0.0, 8),
            ("conv-0.7-allch", Some(0.6999), 0.7, 8),
            ("conv-0.7-halfch", Some(0.6999), 0.7, 4),
        ] {
            assert_eq!(limit_at(name, json!({}), from), Limit { channels, begins: true }, "{name}");
            assert!(before.is_none_or(|before| !limit_at(name, json!({}), before).begins), "{name}");
        }
    }
}
