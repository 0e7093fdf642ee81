//! What a run begins with: aged members, or members that a warm-up under `local` left at rest.
//!
//! ```text
//!   aged members --> load's warm-up under local --> members at rest --+--> array of its own, policy 1, rest of the load
//!                                                                     +--> array of its own, policy 2, rest of the load
//! ```
//!
//! The array of the measured window begins at its first request, which is the beginning of its time. Requests of the warm-up
//! that were still under way then are done by the other array, and a closed loop sees them complete when they would have.
//! The members go on to rest beside that, without time passing in the window: this is what such a run leaves out. What the
//! first array held of its own (a stripe cache, writes in memory) is gone.

use harmonia_engine::EventQueue;
use harmonia_metrics::WarmupGc;
use harmonia_ssd::Ftl;
use harmonia_types::{Completion, HostRequest, SimTime, WallClock};
use harmonia_workload::{Next, Source, SourceError, TraceAccount};

use crate::{RunError, bad_input};
use harmonia_scenario::WarmupPolicy;
use harmonia_scenario::{Scenario, Variant};

/// The members of a run before its first request, and what has happened to them.
pub(crate) struct Start {
    pub states: Vec<Ftl>,
    pub warm: Option<Warm>,
}

/// A load that has warmed up elsewhere.
pub(crate) struct Warm {
    pub source: Box<dyn Source>,
    /// Requests so far.
    pub submitted: u64,
    /// Of a closed loop: what it has yet to see complete, in the time of the run that goes on.
    pub completed: EventQueue<Completion>,
    /// Who collected meanwhile.
    pub gc: WarmupGc,
}

impl Start {
    pub fn aged(states: Vec<Ftl>) -> Start {
        Start { states, warm: None }
    }

    /// The same once more.
    ///
    /// # Errors
    /// If the load cannot be read a second time.
    pub fn fork(&self) -> Result<Start, RunError> {
        let warm = match &self.warm {
            Some(Warm { source, submitted, completed, gc }) => Some(Warm {
                source: source.fork().map_err(|error| bad_input(error.0, ""))?,
                submitted: *submitted,
                completed: completed.clone(),
                gc: gc.clone(),
            }),
            None => None,
        };
        Ok(Start { states: self.states.clone(), warm })
    }
}

/// The scenario whose warm-up this one begins with; `None` if that is its own. Runs with equal ones share it.
pub(crate) fn warms_up_as(scenario: &Scenario) -> Option<Variant> {
    if scenario.precondition.warmup_policy == WarmupPolicy::Own {
        return None;
    }
    let mut scenario = Scenario { name: String::new(), ..scenario.clone() };
    let coordination = &mut scenario.array.coordination;
    "local".clone_into(&mut coordination.policy);
    coordination.own.clear();
    Some(Variant { label: String::new(), scenario })
}

/// A load from one of its requests on, in the time of a run that begins with that request.
pub(crate) struct Rest {
    source: Box<dyn Source>,
    /// The arrival of the first request, in the load's own time.
    begins: SimTime,
    /// The first request, until it is asked for.
    first: Option<HostRequest>,
    /// What completed before, until the load is asked for the next.
    before: Vec<Completion>,
    /// Completions in the load's own time.
    seen: Vec<Completion>,
}

impl Rest {
    /// `before` has completed by the time the first request arrives, and the source does not know yet.
    pub fn new(source: Box<dyn Source>, first: HostRequest, before: Vec<Completion>) -> Self {
        Rest { source, begins: first.arrival, first: Some(first), before, seen: Vec::new() }
    }

    fn of_run(&self, request: HostRequest) -> HostRequest {
        HostRequest { arrival: SimTime(request.arrival.0 - self.begins.0), ..request }
    }
}

/// A completion told in the time of a run that begins at a moment. It may have arrived before that moment: the difference
/// wraps around, and [`earlier`] takes it back.
pub(crate) fn later(completion: Completion, begins: SimTime) -> Completion {
    let Completion { arrival, finish, .. } = completion;
    let (arrival, finish) = (arrival.0.wrapping_sub(begins.0), finish.0.wrapping_sub(begins.0));
    Completion { arrival: SimTime(arrival), finish: SimTime(finish), ..completion }
}

fn earlier(completion: &Completion, begins: SimTime) -> Completion {
    let Completion { arrival, finish, .. } = completion;
    let (arrival, finish) = (arrival.0.wrapping_add(begins.0), finish.0.wrapping_add(begins.0));
    Completion { arrival: SimTime(arrival), finish: SimTime(finish), ..*completion }
}

impl Source for Rest {
    fn next(&mut self, now: SimTime, completed: &[Completion]) -> Result<Next, SourceError> {
        if let Some(first) = self.first.take() {
            return Ok(Next::At(self.of_run(first)));
        }
        let begins = self.begins;
        self.seen.clear();
        self.seen.append(&mut self.before);
        self.seen.extend(completed.iter().map(|completion| earlier(completion, begins)));
        let next = self.source.next(SimTime(now.0.saturating_add(begins.0)), &self.seen)?;
        Ok(match next {
            Next::At(request) => Next::At(self.of_run(request)),
            Next::Until(time) => Next::Until(SimTime(time.0 - begins.0)),
            Next::AfterCompletion | Next::End => next,
        })
    }

    fn wants_completions(&self) -> bool {
        self.source.wants_completions()
    }

    fn fork(&self) -> Result<Box<dyn Source>, SourceError> {
        let Rest { source, begins, first, before, seen: _ } = self;
        let source = source.fork()?;
        Ok(Box::new(Rest {
            source,
            begins: *begins,
            first: *first,
            before: before.clone(),
            seen: Vec::new(),
        }))
    }

    fn wall_clock(&self) -> Option<WallClock> {
        Some(self.source.wall_clock()?.beginning_at(self.begins))
    }

    fn trace(&self) -> Option<TraceAccount> {
        self.source.trace()
    }
}

#[cfg(test)]
mod tests {
    use harmonia_types::{Operation, RequestBlame};

    use super::*;

    fn request(id: u64, at: u64) -> HostRequest {
        let (operation, member) = (Operation::Read, None);
        HostRequest { member, ..HostRequest::new(id, SimTime(at), operation, 0, 1) }
    }

    fn completion(id: u64, arrival: u64, finish: u64) -> Completion {
        let (arrival, finish) = (SimTime(arrival), SimTime(finish));
        let blame = RequestBlame::default();
        let (operation, met_gc, gc_wait) = (Operation::Read, false, None);
        Completion { id, operation, offset: 0, length: 1, arrival, finish, blame, met_gc, gc_wait }
    }

    /// Asked for the first time at 1,200 with two completions in its own time, then at 1,300 with none.
    #[derive(Clone)]
    struct Asked(u64);

    impl Source for Asked {
        fn next(&mut self, now: SimTime, completed: &[Completion]) -> Result<Next, SourceError> {
            self.0 += 1;
            let seen: Vec<_> =
                completed.iter().map(|done| (done.id, done.arrival.0, done.finish.0)).collect();
            match self.0 {
                1 => {
                    assert_eq!((now.0, &seen[..]), (1_200, &[(3, 800, 990), (4, 900, 1_150)][..]));
                    Ok(Next::Until(SimTime(1_300)))
                }
                _ => {
                    assert_eq!((now.0, seen.len()), (1_300, 0));
                    Ok(Next::At(request(6, 1_350)))
                }
            }
        }

        fn fork(&self) -> Result<Box<dyn Source>, SourceError> {
            Ok(Box::new(self.clone()))
        }
    }

    #[test]
    fn the_load_goes_on_in_its_own_time_and_the_run_in_that_of_its_first_request() {
        let begins = SimTime(1_000);
        let later = later(completion(4, 900, 1_150), begins);
        assert_eq!(later.finish, SimTime(150), "when the run sees it");
        let mut rest = Rest::new(Box::new(Asked(0)), request(5, begins.0), vec![completion(3, 800, 990)]);
        assert_eq!(rest.next(SimTime::ZERO, &[]), Ok(Next::At(request(5, 0))));
        for mut rest in [rest.fork().expect("a source"), Box::new(rest)] {
            assert_eq!(rest.next(SimTime(200), &[later]), Ok(Next::Until(SimTime(300))));
            assert_eq!(rest.next(SimTime(300), &[]), Ok(Next::At(request(6, 350))));
        }
    }
}
