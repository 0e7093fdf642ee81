//! Who waited for garbage collection, and who met one: does what is told of each request agree with the report?
//!
//! Not verified here: whether a wait is charged to the right cause; devices check that themselves where runs are checked.

use std::sync::Mutex;

use harmonia_metrics::rows::{self, NULL, REQUESTS};
use harmonia_metrics::{Observer, Report, ResponseReport};
use harmonia_run::{Observe, RunId};
use harmonia_types::{Completion, DeviceId, Operation, SimTime};

/// Adds up what completions of one run say of garbage collection.
#[derive(Default)]
pub struct Waits(Mutex<Seen>);

/// Numbers of requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Reads that waited for collection, and writes.
    pub affected: [u64; 2],
    /// Reads that met collection of their die, and writes.
    pub met: [u64; 2],
    /// Reads and writes that met collection and did not wait for any.
    pub only_met: u64,
    /// Reads and writes that waited for collection and met none.
    pub only_affected: u64,
    /// By device, requests of any kind that waited for it longest, and for how long.
    pub longest: Vec<(u64, u128)>,
    queue_gc: u128,
}

impl Waits {
    pub fn seen(&self) -> Seen {
        self.0.lock().expect("no completion panicked").clone()
    }

    /// Holds the report against what completions said.
    pub fn agree_with(&self, report: &Report) {
        let seen = self.seen();
        let counts = |[read, write]: [&harmonia_metrics::DistributionSummary; 2]| [read.count, write.count];
        let ResponseReport { gc_affected_read, gc_affected_write, met_gc_read, met_gc_write, .. } =
            &report.host.response_ns;
        assert_eq!(counts([gc_affected_read, gc_affected_write]), seen.affected, "GC-affected requests");
        assert_eq!(counts([met_gc_read, met_gc_write]), seen.met, "requests that met collection");
        assert_eq!(report.host.blame_ns.queue_gc, seen.queue_gc);
        for (index, device) in report.devices.iter().enumerate() {
            let longest = seen.longest.get(index).copied().unwrap_or_default();
            assert_eq!((device.gc_waits.requests, device.gc_waits.ns), longest, "device {index}");
        }
        assert!(seen.longest.len() <= report.devices.len(), "whoever was waited for is in the report");
    }
}

impl Observe for Waits {
    fn observer(&self, _: RunId) -> Option<Box<dyn Observer + '_>> {
        Some(Box::new(Watching(self)))
    }
}

struct Watching<'a>(&'a Waits);

impl Observer for Watching<'_> {
    fn begin(&mut self, _: SimTime, _: usize) {}

    fn completion(&mut self, completion: &Completion) {
        let row = rows::request(completion);
        let value = |name: &str| {
            let column = REQUESTS.columns.iter().position(|(column, _)| *column == name);
            row[column.expect("a column")]
        };
        let queue_gc = value("queue_gc_ns");
        let (is_affected, met) = (value("gc_affected") == 1, value("met_gc") == 1);
        assert_eq!(is_affected, queue_gc > 0, "{completion:?}");
        assert_eq!(
            value("gc_member") != NULL,
            queue_gc > 0,
            "who waited did so for somebody: {completion:?}"
        );
        let mut seen = self.0.0.lock().expect("no completion panicked");
        seen.queue_gc += queue_gc.unsigned_abs() as u128;
        if let Some(wait) = completion.gc_wait {
            let index = wait.member.index();
            let length = seen.longest.len().max(index + 1);
            seen.longest.resize(length, (0, 0));
            seen.longest[index].0 += 1;
            seen.longest[index].1 += u128::from(wait.ns);
        }
        let kind = match completion.operation {
            Operation::Read => 0,
            Operation::Write => 1,
            Operation::Trim | Operation::Flush => return,
        };
        seen.affected[kind] += u64::from(is_affected);
        seen.met[kind] += u64::from(met);
        seen.only_met += u64::from(met && !is_affected);
        seen.only_affected += u64::from(is_affected && !met);
    }

    fn gc_interval(&mut self, _: DeviceId, _: SimTime, _: SimTime) {}
    fn end(&mut self, _: SimTime) {}
}
