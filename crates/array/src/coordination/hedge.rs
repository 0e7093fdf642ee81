//! A read that waits too long is answered a second way. Members collect as they like.
//!
//! When a member has not answered a read for `delay`, the data is also read from another copy, or rebuilt from the other
//! members of its row. The first answer wins. A command that has started is not cancelled, so the slower answer costs its
//! member the same work as without hedging.
//!
//! Nobody tells the array anything. It acts on waiting alone, whatever the cause: collection, a queue, or a member that
//! is about to fail. A short `delay` answers sooner and reads more. The load of the second reads can cost more than they win.
//!
//! Without redundancy there is no second way, and the policy is `local`. If failures leave no redundancy, reads wait.
//!
//! Source: "hedged requests" of Dean and Barroso, *The Tail at Scale* (CACM 2013). They send the second request after the
//! 95th percentile of the response time. `delay` is that time as a constant.
//!
//! Leaves out: a delay that follows the measured percentile, and the cancelling of the slower request.

use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};
use crate::config::{Interface, Reads};

/// Keys of `[array.coordination]` with `policy = "hedge"`.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// How long a member may take for a read before the data is also read a second way.
    delay: SimDuration,
}

impl Default for Config {
    fn default() -> Self {
        Config { delay: SimDuration::from_ms(1) }
    }
}

#[derive(Clone)]
struct Hedge {
    /// `None` without redundancy.
    delay: Option<SimDuration>,
}

impl Coordinator for Hedge {
    fn interests(&self) -> Interests {
        Interests::default()
    }

    fn interface(&self) -> Interface {
        Interface::Nothing
    }

    fn reads(&self) -> Option<Reads> {
        self.delay.map(Reads::Hedge)
    }

    fn on(&mut self, _: SimTime, _: &Event, _: &DeliveredView<'_>, _: &mut Vec<Action>) {}
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "hedge",
    summary: "a read that waits too long is answered a second way too; the first answer wins",
    source: "hedged requests, CACM 2013 (The Tail at Scale)",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let Config { delay } = parameters.config()?;
        if delay < SimDuration::from_us(1) {
            return Err("delay is too short, expected a time such as \"1ms\", at least 1us".into());
        }
        Ok(Box::new(Hedge { delay: (parameters.redundancy > 0).then_some(delay) }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::{built, decisions, failed, replaced};
    use super::*;

    #[test]
    fn reads_are_hedged_where_there_is_a_second_way() {
        for (redundancy, keys, reads) in [
            (0, r#"{"delay": "2ms"}"#, None),
            (1, "{}", Some(Reads::Hedge(SimDuration::from_ms(1)))),
            (2, r#"{"delay": "2ms"}"#, Some(Reads::Hedge(SimDuration::from_ms(2)))),
        ] {
            let mut policy = built(&ENTRY, 4, redundancy, keys).expect("these keys will do");
            assert_eq!((policy.reads(), policy.interests()), (reads, Interests::default()), "{redundancy}");
            decisions(&mut *policy, &[(0, Event::Start, &[]), (1, failed(2), &[]), (2, replaced(2), &[])]);
        }
    }

    #[test]
    fn no_delay_at_all_is_refused() {
        let why = built(&ENTRY, 5, 1, r#"{"delay": "0us"}"#).err();
        assert!(why.is_some_and(|why| why.contains("at least 1us")));
    }
}
