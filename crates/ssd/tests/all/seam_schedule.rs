//! What does a schedule see of the queue of its die?

use std::sync::{Arc, Mutex};

use crate::bench::*;
use harmonia_ssd::gc::schedule::{Class, Decision, DieView, Gc, GcPhase, Needs, Schedule, Token};
use harmonia_ssd::probe::{AuditProbe, NoProbe, any};
use harmonia_ssd::{Device, Policies};
use harmonia_types::{Operation, SimTime};

/// When it was asked, and how many reads and writes waited then.
type Seen = (u64, [usize; 2]);

/// Serves the head of the queue, and notes how many reads and writes waited.
#[derive(Clone, Default)]
struct Counts(Arc<Mutex<Vec<Seen>>>);

impl Schedule for Counts {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        let waiting = [Class::Read, Class::Write].map(|class| view.queues.len(class));
        self.0.lock().expect("one thread").push((now.0, waiting));
        view.serve_head(now)
    }

    fn needs(&self) -> Needs {
        Needs { queues: true, ..Needs::default() }
    }
}

/// Reads and writes of all planes are counted, the operation whose turn it is among them. A trim counts as a write.
#[test]
fn what_waits_is_counted_by_class() {
    let config = planes(2);
    let counts = Counts::default();
    let policies = Policies { schedule: Box::new(counts.clone()), ..crate::seams::policies() };
    let bench = Bench::with(&config, &[CALM, CALM]);
    let (shape, ftl) = (config.resolve().unwrap(), bench.device.ftl().clone());
    let device = Device::with_policies(&config, shape, ftl, policies, any(AuditProbe)).unwrap();
    let mut bench = Bench { device, ..bench };
    bench.read(0, 1, 0, 1).read(0, 2, 1, 1).read(0, 3, 2, 1);
    bench.write(0, 4, 3, 1).submit(0, sub(5, Operation::Trim, 5, 1)).advance(100_000);
    let seen = counts.0.lock().expect("one thread").clone();
    // The trim has no data to wait for, so it goes before the write, and takes no time.
    let read = 1_300;
    let expected = [(0, [1, 0]), (read, [2, 2]), (2 * read, [1, 2]), (3 * read, [0, 2]), (3 * read, [0, 1])];
    let busy: Vec<_> = seen.into_iter().filter(|(_, waiting)| *waiting != [0, 0]).collect();
    assert_eq!(busy, expected);
}

/// Collects page by page whatever waits, and counts how often it is asked while it does.
#[derive(Clone)]
struct Unmoved {
    asked: Arc<Mutex<u32>>,
    unasked: bool,
}

impl Schedule for Unmoved {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        *self.asked.lock().expect("one thread") += u32::from(matches!(view.gc, Gc::Job(_)));
        match view.gc {
            Gc::Idle => view.serve_head(now),
            Gc::Job(job) if job.phase == GcPhase::Erase => Decision::Erase,
            Gc::Wanted { .. } | Gc::Job(_) => Decision::Single(Token::GcMove),
        }
    }

    fn needs(&self) -> Needs {
        Needs { moves_unasked: self.unasked, ..Needs::default() }
    }
}

/// The event of a low die while a read waits; how often its schedule was asked meanwhile, without anybody who checks the run.
#[test]
fn a_schedule_that_goes_on_whatever_waits_is_not_asked_how() {
    let config = one_die();
    let collected = |unasked| {
        let asked = Arc::default();
        let schedule = Box::new(Unmoved { asked: Arc::clone(&asked), unasked });
        let policies = Policies { schedule, ..crate::seams::policies() };
        let (shape, bench) = (config.resolve().unwrap(), Bench::aged(&config, &[0]));
        let ftl = bench.device.ftl().clone();
        let device = Device::with_policies(&config, shape, ftl, policies, any(NoProbe)).unwrap();
        let intervals = Bench { device, ..bench }.read(0, 1, 0, 1).collected();
        (intervals, *asked.lock().expect("one thread"))
    };
    let [(alone, never), (told, often)] = [true, false].map(collected);
    assert_eq!((alone.len(), &alone), (1, &told));
    assert!(never == 0 && often > 1, "{never} and {often} times");
}
