//! Garbage collection in steps, each taken when nobody's deadline is lost by it.
//!
//! ```text
//!            | step |---- read A ----|-- write B --|      A's deadline ......|         B's deadline .....|
//! now ------>|      |                |             |                         ^ both are met: the step goes first
//!
//!            | step |---- read A ----|      A's deadline .|
//!            |---- read A ----| step |                    ^ only without the step before it: A goes first
//! ```
//!
//! The rule: events begin at the soft threshold and go step by step as under preemptive. Before each step the die
//! reckons, in the order of service, when everything that waits would be done if the step came first. If all of it
//! meets its deadline, the step comes first. If something would miss it by the step alone, the host goes first, and the
//! die waits for it even if its data is still on the link. If something is late anyway, the host goes first where it is
//! ready. With nothing waiting collection goes on; at the hard threshold it yields to nobody. Where the part can suspend,
//! it does only for a read that would otherwise be late.
//!
//! Deadlines are those of the requests (`workload.deadline`); a request without one should be done `ssd.gc.slack`
//! after its arrival. With a slack of 0 everything is late, and the schedule is preemptive.
//!
//! Source: Jung et al., HIOS, ISCA 2014. Its abstract says that the scheduler knows of deadlines and of garbage
//! collection, and spreads the cost of collecting over requests that are not critical; we could not read more of it than
//! that. Steps within slack are our reading. The size of a step, the reckoning, and all about lateness, thresholds and
//! suspension are ours. Leaves out: the paper's other half, host requests reordered so that they do not contend for a
//! channel; requests of several pages, which are late as soon as one page is; and what
//! [estimate.rs](../crates/ssd/src/device/estimate.rs) does not see coming.

use harmonia_types::SimTime;
use harmonia_types::registry::Entry;

use super::blocking::Blocking;
use super::preemptive::Preemptive;
use super::{Build, Class, Decision, DieView, Gc, GcPhase, Needs, Schedule, Token};

/// Steps of collection within the slack of what waits.
struct Slack {
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
            Some(Outlook::Harmed) => match self.inner.next(now, view) {
                // Nothing is ready, and what will be has no time to lose.
                Decision::Single(Token::GcStep) | Decision::Erase => view.serve_head(now),
                host => host,
            },
            Some(Outlook::Late) | None => self.inner.next(now, view),
        }
    }

    fn needs(&self) -> Needs {
        Needs { deadlines: true, ..self.inner.needs() }
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
    summary: "the next step of a collection waits where it would make a host operation miss its deadline (HIOS)",
    source: "Jung et al., ISCA 2014 (abstract)",
    keys: &["slack"],
    build: || Box::new(Slack { inner: Preemptive { inner: Blocking } }),
};
