//! A step of a collection goes before the host if no deadline is missed because of it.
//!
//! ```text
//!            | step |---- read A ----|-- write B --|      A's deadline ......|         B's deadline .....|
//! now ------>|      |                |             |                         ^ both are met: the step goes first
//!
//!            | step |---- read A ----|      A's deadline .|
//!            |---- read A ----| step |                    ^ only without the step before it: A goes first
//! ```
//!
//! Events start at the soft threshold and go step by step, as under preemptive. Before each step the die estimates when
//! everything that waits would be done, in the order of service, if the step went first. Then:
//!
//! - If everything meets its deadline, the step goes first.
//! - If an operation would miss its deadline only because of the step, the host goes first. The die waits for that operation
//!   even if its data is still on the link.
//! - If an operation is late anyway, the host goes first where it is ready.
//! - If nothing waits, collection goes on.
//! - At the hard threshold collection yields to nobody.
//!
//! Where the part can suspend a step, only a read that would otherwise be late suspends it.
//!
//! Deadlines are those of the requests (`workload.deadline`). A request without one is due `slack` after its arrival.
//! With a slack of 0 everything is late, and the schedule equals preemptive.
//!
//! Source: Jung et al., HIOS, ISCA 2014. We could read its abstract only. It says that the scheduler knows deadlines and
//! garbage collection, and spreads the cost of collecting over requests that are not critical. Steps within slack are our
//! reading. The size of a step, the estimate, and all rules for lateness, thresholds and suspension are ours.
//!
//! Leaves out: the paper's other half, which reorders host requests so that they do not contend for a channel. Requests of
//! several pages are late as soon as one page is. [estimate.rs](../crates/ssd/src/device/estimate.rs) says which delays the
//! estimate does not see.

use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocking::Blocking;
use super::preemptive::Preemptive;
use super::{Build, Class, Decision, DieView, Gc, GcPhase, Needs, Schedule, Token};

/// Steps of collection within the slack of what waits.
/// Keys of `[ssd.gc.schedule]` with `policy = "slack"`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Deadline of requests without one, counted from their arrival; at most 1 hour.
    slack: SimDuration,
}

impl Default for Config {
    fn default() -> Self {
        Config { slack: SimDuration::from_us(5_000) }
    }
}

const HOUR: SimDuration = SimDuration::from_us(3_600_000_000);

#[derive(Clone)]
struct Slack {
    slack: SimDuration,
    inner: Preemptive<Blocking>,
}

/// How what waits is off if the step comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outlook {
    /// On time, or no later than without it.
    Unharmed,
    /// Late, and only because of the step.
    Harmed,
    /// Late in any case.
    Late,
}

impl Schedule for Slack {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        let outlook = step_end(now, view).map(|ends| outlook(now, view, ends));
        match outlook {
            Some(Outlook::Unharmed) => self.inner.decide(now, view, true),
            Some(Outlook::Harmed) if view.lets_head_go() => match self.inner.next(now, view) {
                // Nothing is ready, and what will be has no time to lose.
                Decision::Single(Token::GcStep) | Decision::Erase => view.serve_head(now),
                host => host,
            },
            Some(Outlook::Harmed | Outlook::Late) | None => self.inner.next(now, view),
        }
    }

    fn needs(&self) -> Needs {
        Needs { deadlines: Some(self.slack), ..self.inner.needs() }
    }
}

/// When the step that runs, is suspended or is due would end; `None` where the host cannot go before it, or it takes
/// no time.
fn step_end(now: SimTime, view: &DieView<'_>) -> Option<SimTime> {
    let job = match &view.gc {
        Gc::Idle | Gc::Wanted { hard: true, .. } => return None,
        Gc::Wanted { hard: false, .. } => None,
        Gc::Job(job) => Some(job),
    };
    let is_bound =
        |job: &super::GcJob| job.hard || job.pinned || matches!(job.phase, GcPhase::Choose | GcPhase::Away);
    match view.running.or(view.suspended) {
        Some(running) => Some(running.ends),
        None if job.is_some_and(is_bound) => None,
        None => Some(now + view.queues.step(job).die),
    }
}

/// Reckons what waits with and without the step.
fn outlook(now: SimTime, view: &DieView<'_>, ends: SimTime) -> Outlook {
    let (mut alone, mut after, mut outlook) = (now, ends, Outlook::Unharmed);
    // Nothing but a read can go before a step that has begun.
    let has_begun = view.running.or(view.suspended).is_some();
    view.queues.each_waiting(&mut |op, work| {
        if has_begun && op.class != Class::Read {
            return true;
        }
        alone = alone.max(op.ready) + work.die;
        after = after.max(op.ready) + work.die;
        let deadline = op.deadline.unwrap_or(SimTime::NEVER);
        if after == alone {
            // From here on the step makes no difference.
            return false;
        }
        if after + work.link > deadline {
            let is_late = alone + work.link > deadline;
            outlook = if is_late { Outlook::Late } else { Outlook::Harmed };
        }
        outlook == Outlook::Unharmed
    });
    outlook
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "slack",
    summary: "a step of a collection waits if it would make a host operation miss its deadline (HIOS)",
    source: "Jung et al., ISCA 2014 (abstract)",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let Config { slack } = parameters.config()?;
        if slack > HOUR {
            return Err("slack is out of range, expected a time of at most 1h".to_owned());
        }
        Ok(Box::new(Slack { slack, inner: Preemptive { inner: Blocking } }))
    },
};
