//! The recordings of a comparison: one recorder a run, sharing what the page may weigh.

use std::sync::Mutex;

use harmonia_metrics::recording::{Kept, Limits, MemberPlanes, Recorder, Recording, Why};
use harmonia_metrics::{AilingSpan, Observer};
use harmonia_run::{Observe, RunId};
use harmonia_types::{Completion, DeviceId, SimTime};

/// Runs that are recorded in full detail: more of them share as much.
const FULL_RUNS: usize = 6;
/// Detail is halved so many times at most.
const HALVINGS_MAX: u32 = 3;
/// A longer sweep is recorded up to this run: recordings are kept in memory until it is known which the page shows.
const RECORDED_MAX: usize = 512;

/// So many of the slowest requests are listed on the page, and kept wherever they fall.
const SLOWEST: usize = 10;

/// What was recorded, variant by variant.
pub struct Recordings {
    limits: Limits,
    variants: Vec<Mutex<Option<Recording>>>,
}

impl Recordings {
    /// Recorders for so many variants; of several seeds the first is recorded.
    pub fn of(variants: usize) -> Self {
        let halvings = variants.div_ceil(FULL_RUNS).max(1).next_power_of_two().ilog2().min(HALVINGS_MAX);
        let full = Limits::default();
        let limits = Limits {
            slices: full.slices >> halvings,
            sample: full.sample >> halvings,
            window_part: full.window_part >> halvings,
            intervals: full.intervals >> halvings,
        };
        let recorded = variants.min(RECORDED_MAX);
        Recordings { limits, variants: (0..recorded).map(|_| Mutex::new(None)).collect() }
    }

    /// By variant, what was recorded of it.
    pub fn finish(self) -> Vec<Option<Recording>> {
        let inner =
            |slot: Mutex<Option<Recording>>| slot.into_inner().unwrap_or_else(|lock| lock.into_inner());
        self.variants.into_iter().map(inner).collect()
    }
}

impl Observe for Recordings {
    fn observer(&self, run: RunId) -> Option<Box<dyn Observer + '_>> {
        let slot = self.variants.get(run.variant).filter(|_| run.seed == 0)?;
        let recorder = Some(Recorder::new(self.limits));
        Some(Box::new(Delivering { slot, recorder, slowest: Vec::with_capacity(SLOWEST + 1) }))
    }
}

/// A recorder that leaves its recording where it belongs.
struct Delivering<'a> {
    slot: &'a Mutex<Option<Recording>>,
    recorder: Option<Recorder>,
    /// The slowest first; of equals the earlier one.
    slowest: Vec<Completion>,
}

/// Adds requests that are not there yet to those that are kept.
fn keep(slowest: &[Completion], kept: &mut Vec<Kept>) {
    for completion in slowest {
        if let Err(at) = kept.binary_search_by_key(&completion.id, |kept| kept.completion.id) {
            kept.insert(at, Kept { completion: *completion, why: Why::SLOWEST });
        }
    }
}

impl Observer for Delivering<'_> {
    fn begin(&mut self, from: SimTime, members: usize) {
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(from, members);
        }
    }

    fn completion(&mut self, completion: &Completion) {
        let rank = |one: &Completion| (std::cmp::Reverse(one.response()), one.id);
        let place = self.slowest.partition_point(|one| rank(one) < rank(completion));
        if place < SLOWEST {
            self.slowest.insert(place, *completion);
            self.slowest.truncate(SLOWEST);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.completion(completion);
        }
    }

    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        if let Some(recorder) = &mut self.recorder {
            recorder.gc_interval(member, start, end);
        }
    }

    fn ails(&mut self, span: &AilingSpan) {
        if let Some(recorder) = &mut self.recorder {
            recorder.ails(span);
        }
    }

    fn wants_planes(&self) -> bool {
        self.recorder.as_ref().is_some_and(Recorder::wants_planes)
    }

    fn planes(&mut self, planes: &MemberPlanes) {
        if let Some(recorder) = &mut self.recorder {
            recorder.planes(planes);
        }
    }

    fn end(&mut self, end: SimTime) {
        if let (Some(recorder), Ok(mut slot)) = (self.recorder.take(), self.slot.lock()) {
            let mut recording = recorder.finish(end);
            keep(&self.slowest, &mut recording.kept);
            *slot = Some(recording);
        }
    }
}
