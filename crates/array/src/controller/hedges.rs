//! Reads that a host waits for are watched: one that takes too long is raced by another transaction, which finds out the same.
//!
//! ```text
//! read ─► its device ─────────────────► answered
//!   └──── delay ────► another way ────► answered: the first one counts
//! ```
//!
//! Whether there is another way is the planner's business. The answer that comes second is swallowed.

use harmonia_types::{Operation, SimDuration, SimTime};

use super::layers::{Command, Layer, Pass, Terms};
use crate::config::Reads;

/// After how long a read is begun a second time, and what came of that.
#[derive(Debug, Clone)]
pub(super) struct Hedges {
    delay: SimDuration,
    /// Reads that were begun a second time, and those that the second way answered.
    pub begun: u64,
    pub won: u64,
}

impl Hedges {
    /// `None` if reads follow another rule.
    pub fn new(reads: Reads) -> Option<Box<Hedges>> {
        match reads {
            Reads::Hedge(delay) => Some(Box::new(Hedges { delay, begun: 0, won: 0 })),
            Reads::Wait | Reads::Avoid(_) => None,
        }
    }
}

impl Layer for Hedges {
    fn down(&mut self, command: &Command, now: SimTime) -> Pass {
        let is_awaited = command.stream.is_some() && command.sub.operation == Operation::Read;
        if is_awaited { Pass::Watched(now + self.delay) } else { Pass::Goes }
    }

    fn add_slot(&mut self, _: Terms) {}

    fn exchange(&mut self, _: usize, _: usize) {}

    fn lose_power(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_ssd::SubRequest;

    #[test]
    fn reads_that_somebody_waits_for_are_watched() {
        assert!(Hedges::new(Reads::Wait).is_none());
        let mut hedges = Hedges::new(Reads::Hedge(SimDuration(30))).expect("reads are hedged");
        for (operation, stream, pass) in [
            (Operation::Read, Some(0), Pass::Watched(SimTime(37))),
            (Operation::Read, None, Pass::Goes),
            (Operation::Write, Some(0), Pass::Goes),
            (Operation::Flush, Some(0), Pass::Goes),
        ] {
            let sub = SubRequest::new(1, operation, 0, 4096);
            let command = Command { slot: 0, sub, place: 0, stream };
            assert_eq!(hedges.down(&command, SimTime(7)), pass, "{operation:?}");
        }
    }
}
