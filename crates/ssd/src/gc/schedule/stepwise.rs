//! A collection goes step by step, and its steps come first.
//!
//! ```text
//! plane 0   read C   program D   read E   program F ...   erase           the collection, one step after the other
//! plane 1      -     program L   read I      -              -             the host, in the collection's commands only
//! blocking  [ ......................... one busy time ......................... ]    nothing of the host goes along
//! preemptive  read  [host]  program  [host]  read  [host] ...                        the host goes between the steps
//! ```
//!
//! Page reads, programs and erases of a collection are commands of their own. The die begins something else only when none of
//! them is left. So a host operation waits for the end of the event, as under `blocking`, with one exception. With
//! `ssd.ftl.multi_plane` the first host operation of a sibling plane that fits goes along in the collection's command. It must
//! be of the same type and have the same page offset.
//!
//! The bus is held page by page: by the transfer out of each page and, when that has ended, by the transfer in. A block is
//! free when its own erase ends, not when the event does. Where nothing of the host goes along, the host is served exactly when
//! `blocking` would serve it.
//!
//! Unlike io-parallel it opens no new blocks when a collection begins. Write offsets of sibling planes are equal only where
//! they happen to be.
//!
//! Source: MQSim (FAST 2018), whose transaction scheduler serves the collection's queues of a chip before the host's while
//! collection cannot be preempted, which is its default.
//!
//! Leaves out: reading all pages of a victim before the first is programmed; collections of several planes that share commands;
//! a whole chip held by the collection of one of its dies.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, no_keys};

use super::{Build, Decision, DieView, MultiPlane, Needs, Pairs, Schedule, Token};

#[derive(Clone)]
struct Stepwise;

impl Schedule for Stepwise {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        let (class, place) = match view.half_due(now) {
            Ok(half) => half,
            Err(decision) => return decision,
        };
        let mut command = MultiPlane::new(Token::GcStep);
        if view.multi_plane {
            view.join(now, &mut command, class, place);
        }
        command.decision()
    }

    fn needs(&self) -> Needs {
        Needs {
            queues: true,
            serves_head: true,
            steps_alone: true,
            steps_unmatched: true,
            pairs: Pairs::WithMultiPlane,
            ..Needs::default()
        }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "stepwise",
    summary: "as blocking, but each step of a collection is a command of its own, in which host operations may go along",
    source: "MQSim (FAST 2018), its default",
    keys: &no_keys,
    build: &|_| Ok(Box::new(Stepwise)),
};
