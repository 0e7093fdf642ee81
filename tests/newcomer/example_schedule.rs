//! Collection first, or the host first above the hard threshold.
//!
//! Source: an example of this project, for newcomers; no paper. Leaves out: any way between the two.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocking::Blocking;
use super::{Build, Decision, DieView, Gc, Schedule};

/// Keys of `[ssd.gc.schedule]` with `policy = "example-schedule"`.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Whether operations that wait go before an event while there is room.
    polite: bool,
}

#[derive(Clone)]
struct ExampleSchedule {
    polite: bool,
}

impl Schedule for ExampleSchedule {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        let has_time = self.polite && matches!(view.gc, Gc::Wanted { hard: false, .. });
        let waits = view.head.is_some_and(|head| head.ready <= now);
        if has_time && waits { view.serve_head(now) } else { Blocking.next(now, view) }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "example-schedule",
    summary: "collection first, or the host first while there is room",
    source: "an example, no paper",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let Config { polite } = parameters.config()?;
        Ok(Box::new(ExampleSchedule { polite }))
    },
};
