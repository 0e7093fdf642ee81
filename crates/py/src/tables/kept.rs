//! Keeps every request and every interval of collection of some runs in memory, up to a bound.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use harmonia_metrics::Observer;
use harmonia_metrics::rows::{self, GC_INTERVALS, REQUESTS, Rows};
use harmonia_run::{Observe, RunId};
use harmonia_types::{Completion, DeviceId, SimTime};

use super::Table;
use super::columns::Builder;

/// What is kept of the runs of one call.
pub(crate) struct Kept {
    /// Most rows of each table of each run.
    most: usize,
    done: Mutex<BTreeMap<RunId, [Part; 2]>>,
}

impl Kept {
    pub fn new(most: usize) -> Self {
        Kept { most, done: Mutex::default() }
    }

    /// Requests and intervals of each run, in the order of the runs.
    pub fn finish(self) -> Vec<[Table; 2]> {
        let done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.into_values().map(|parts| parts.map(Part::finish)).collect()
    }
}

impl Observe for Kept {
    fn observer(&self, run: RunId) -> Option<Box<dyn Observer + '_>> {
        let parts = [&REQUESTS, &GC_INTERVALS].map(|rows| Part::new(rows, self.most));
        Some(Box::new(Watch { kept: self, run, parts }))
    }
}

/// One table of one run while it grows.
struct Part {
    builder: Builder,
    most: usize,
    /// Rows that were seen, kept or not.
    seen: usize,
}

impl Part {
    fn new(rows: &'static Rows, most: usize) -> Self {
        Part { builder: Builder::new(rows), most, seen: 0 }
    }

    fn push<const N: usize>(&mut self, row: [i64; N]) {
        self.seen += 1;
        if self.builder.count < self.most {
            self.builder.push(row);
        }
    }

    fn finish(self) -> Table {
        let batch = self.builder.finish().expect("as many values in each column, of the type that it says");
        Table::new(batch.schema(), vec![batch], self.seen)
    }
}

struct Watch<'a> {
    kept: &'a Kept,
    run: RunId,
    parts: [Part; 2],
}

impl Observer for Watch<'_> {
    fn begin(&mut self, _: SimTime, _: usize) {}

    fn wants_levels(&self) -> bool {
        true
    }

    fn completion(&mut self, completion: &Completion) {
        self.parts[0].push(rows::request(completion));
    }

    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        self.parts[1].push(rows::gc_interval(member, start, end));
    }

    fn end(&mut self, _: SimTime) {
        let empty = [&REQUESTS, &GC_INTERVALS].map(|rows| Part::new(rows, 0));
        let parts = std::mem::replace(&mut self.parts, empty);
        self.kept.done.lock().unwrap_or_else(PoisonError::into_inner).insert(self.run, parts);
    }
}
