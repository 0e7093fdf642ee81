//! Every member collects on its own. No member is told anything. Failures change nothing about that.
//!
//! Source: the uncoordinated baseline of IEEE TC 2012 (section 3) and MSST 2011 (section II).
//!
//! Leaves out: all coordination. Members never interact, so the simulator runs each as far ahead as it likes.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, no_keys};

use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};
use crate::config::Interface;

#[derive(Clone)]
struct Local;

impl Coordinator for Local {
    fn interests(&self) -> Interests {
        Interests::default()
    }

    fn interface(&self) -> Interface {
        Interface::Nothing
    }

    fn on(&mut self, _: SimTime, _: &Event, _: &DeliveredView<'_>, _: &mut Vec<Action>) {}
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "local",
    summary: "every member collects on its own",
    source: "IEEE TC 2012, 3; MSST 2011, II",
    keys: &no_keys,
    build: &|parameters| {
        parameters.config::<Config>()?;
        Ok(Box::new(Local))
    },
};

/// No keys of its own.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {}
