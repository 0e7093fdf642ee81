//! The one interface of everything that issues host requests.

use harmonia_trace::TraceError;
use harmonia_types::{Completion, HostRequest, SimTime, WallClock};

use crate::TraceAccount;

/// What a source answers when asked for its next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// This request arrives at `request.arrival`, which is not before the time of asking and not before the
    /// arrival of the source's previous request. The source has moved on to the one after it.
    At(HostRequest),
    /// Nothing until a request that is still out completes; ask again with that completion.
    AfterCompletion,
    /// Nothing before this time, later than the time of asking; ask again then, or when a request that is still out
    /// completes, whichever comes first. A closed loop with think times cannot commit itself to its next arrival while
    /// a completion may bring an earlier one; a live source has nothing to say until somebody writes to it.
    Until(SimTime),
    /// No more requests.
    End,
}

/// A workload: open-loop traces, closed loops, fio's `wait`, sweeps and a live block device alike.
///
/// The caller asks at the start, and again each time it has taken an `At` in hand, and after completions when the
/// last answer was `AfterCompletion` or `Until`. A source never reads a clock: `now` is simulated time.
pub trait Source: Send {
    /// The next request. `completed` holds the requests that finished since the last call (empty for sources that
    /// answered `false` to [`Source::wants_completions`]).
    ///
    /// # Errors
    /// When the input behind the source is malformed or unreadable; the text names file and line.
    fn next(&mut self, now: SimTime, completed: &[Completion]) -> Result<Next, SourceError>;

    /// The next requests of a source that wants no completions, as [`next`](Source::next) gives them: so many at most, put
    /// behind those in `into`. If there are none, `next` says why.
    ///
    /// # Errors
    /// As [`Source::next`]; the requests before that are there.
    fn fill(&mut self, now: SimTime, most: usize, into: &mut Vec<HostRequest>) -> Result<(), SourceError> {
        for _ in 0..most {
            let now = into.last().map_or(now, |request| request.arrival);
            match self.next(now, &[])? {
                Next::At(request) => into.push(request),
                Next::AfterCompletion | Next::Until(_) | Next::End => break,
            }
        }
        Ok(())
    }

    /// Whether the source must see completions at the time they happen (closed loops). Open-loop sources say `false`
    /// and let the simulator look further ahead.
    fn wants_completions(&self) -> bool {
        false
    }

    /// Another source that goes on from here as this one does. One over a file opens the file again and reads up to where
    /// this one stands.
    ///
    /// # Errors
    /// When the file cannot be read again.
    fn fork(&self) -> Result<Box<dyn Source>, SourceError>;

    /// Which moment of UTC the simulated times of its requests stand for; `None` where there is none, as for synthetic loads.
    fn wall_clock(&self) -> Option<WallClock> {
        None
    }

    /// What was done so far to the trace behind it, if there is one.
    fn trace(&self) -> Option<TraceAccount> {
        None
    }
}

/// Why a source cannot go on; always the input's fault, and worded for the person who wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);

impl From<TraceError> for SourceError {
    fn from(error: TraceError) -> Self {
        SourceError(error.to_string())
    }
}
