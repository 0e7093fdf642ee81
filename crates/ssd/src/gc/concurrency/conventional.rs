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
//! Leaves out: nothing else that the text names.

use harmonia_types::registry::{Entry, no_keys};

use super::fixed::Fixed;
use super::{Build, Concurrency};

fn scheme(start: f64, channels: u32) -> Result<Box<dyn Concurrency>, String> {
    Ok(Box::new(Fixed { start, channels }))
}

const SOURCE: &str = "Electronics 2025, 4.3";

pub(super) const FROM_THE_START: Entry<Build> = Entry {
    name: "conv-0-allch",
    summary: "all channels collect whenever any block has an invalid page",
    source: SOURCE,
    keys: &no_keys,
    build: &|parameters| scheme(0.0, parameters.channels),
};

pub(super) const ALL_CHANNELS: Entry<Build> = Entry {
    name: "conv-0.7-allch",
    summary: "from utilisation 0.7 on all channels collect",
    source: SOURCE,
    keys: &no_keys,
    build: &|parameters| scheme(0.7, parameters.channels),
};

pub(super) const HALF_THE_CHANNELS: Entry<Build> = Entry {
    name: "conv-0.7-halfch",
    summary: "from utilisation 0.7 on half of the channels collect at once",
    source: SOURCE,
    keys: &no_keys,
    build: &|parameters| scheme(0.7, parameters.half()),
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
