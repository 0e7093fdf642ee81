//! Records what the figures need of every run: its beginning, and all of it where an SSD fails.

use std::sync::{Mutex, MutexGuard};

use harmonia_metrics::{AilingSpan, Observer};
use harmonia_run::{Observe, RunId};
use harmonia_types::{Completion, DeviceId, SimTime};

use super::failing::Course;
use super::timeline::Beginning;

/// What was recorded of one run.
#[derive(Debug, Default)]
pub struct Recorded {
    pub beginning: Beginning,
    /// All of it; present where an SSD fails.
    pub course: Option<Course>,
}

/// Records every run of a comparison.
pub struct Recorder {
    runs: Vec<Mutex<Recorded>>,
}

impl Recorder {
    /// For runs of which some are recorded whole.
    pub fn new(whole: impl Iterator<Item = bool>) -> Self {
        let recorded = |whole: bool| Recorded { course: whole.then(Course::default), ..Recorded::default() };
        Recorder { runs: whole.map(|whole| Mutex::new(recorded(whole))).collect() }
    }

    /// What was recorded, in the order of the runs.
    pub fn into_recorded(self) -> impl Iterator<Item = Recorded> {
        self.runs.into_iter().map(|run| run.into_inner().expect("no observer panicked"))
    }
}

impl Observe for Recorder {
    fn observer(&self, run: RunId) -> Option<Box<dyn Observer + '_>> {
        Some(Box::new(Recording(&self.runs[run.variant])))
    }
}

struct Recording<'a>(&'a Mutex<Recorded>);

impl Recording<'_> {
    fn run(&self) -> MutexGuard<'_, Recorded> {
        self.0.lock().expect("no observer panicked")
    }

    fn tell(&self, what: impl Fn(&mut dyn Observer)) {
        let run = &mut *self.run();
        what(&mut run.beginning);
        if let Some(course) = &mut run.course {
            what(course);
        }
    }
}

impl Observer for Recording<'_> {
    fn begin(&mut self, from: SimTime, members: usize) {
        self.tell(|observer| observer.begin(from, members));
    }

    fn completion(&mut self, completion: &Completion) {
        self.tell(|observer| observer.completion(completion));
    }

    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        self.tell(|observer| observer.gc_interval(member, start, end));
    }

    fn ails(&mut self, span: &AilingSpan) {
        self.tell(|observer| observer.ails(span));
    }

    fn end(&mut self, end: SimTime) {
        self.tell(|observer| observer.end(end));
    }
}
