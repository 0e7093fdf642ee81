//! One channel at a time, from a utilisation on.
//!
//! Source: an example of this project, for newcomers; no paper. Leaves out: any second channel.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Concurrency, Limit, Load, utilisation};

/// Keys of `[ssd.gc.concurrency]` with `policy = "example-concurrency"`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Utilisation from which dies start on their own.
    #[schemars(range(min = 0, max = 1))]
    from: f64,
}

impl Default for Config {
    fn default() -> Self {
        Config { from: 0.5 }
    }
}

#[derive(Clone)]
struct ExampleConcurrency {
    from: f64,
}

impl Concurrency for ExampleConcurrency {
    fn limit(&self, _: SimTime, load: &Load<'_>) -> Limit {
        Limit { channels: 1, begins: load.utilisation >= self.from }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "example-concurrency",
    summary: "one channel at a time",
    source: "an example, no paper",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let Config { from } = parameters.config()?;
        Ok(Box::new(ExampleConcurrency { from: utilisation("from", from)? }))
    },
};
