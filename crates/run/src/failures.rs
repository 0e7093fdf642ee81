//! Failures of one run: the spares it begins with, what it hears from the array, and what it reports.

use harmonia_array::{Array, ArrayCounters, BackgroundCounters, MishapKind, When};
use harmonia_metrics::{
    BackgroundReport, FailureRecorder, FailuresReport, Happening, LossReport, RebuildReport, ResyncReport,
};
use harmonia_ssd::Ftl;
use harmonia_ssd::probe::Probe;
use harmonia_types::SimTime;

use crate::{RunError, bad_input};
use harmonia_scenario::{Scenario, SpareState};

/// The states of the members, and behind them those of the spares and of the journal.
pub(crate) fn with_spares(scenario: &Scenario, mut states: Vec<Ftl>) -> Result<Vec<Ftl>, RunError> {
    let array = &scenario.array;
    let members = array.members.len();
    let spares = array.faults.spares.iter().map(|spare| (spare, scenario.spare_state));
    let journal = array.faults.journal.iter().map(|journal| (journal, scenario.journal_state));
    for (number, (spare, begins)) in spares.chain(journal).enumerate() {
        let alike = (0..members).filter(|&member| array.members[member].ssd == spare.ssd);
        // Each like another member, so that they do not collect in step.
        let like = alike.cycle().nth(number).and_then(|member| states.get(member));
        let state = match (begins, like) {
            (SpareState::Aged, Some(like)) => like.clone(),
            (SpareState::Aged, None) | (SpareState::New, _) => {
                Ftl::new(&spare.ssd, scenario.seed, &format!("device/{}", members + number))
                    .map_err(|error| bad_input(error.to_string(), "a device that can work"))?
            }
        };
        states.push(state);
    }
    Ok(states)
}

/// Passes on what the array has logged since the last time.
pub(crate) fn hear<P: Probe>(recorder: &mut FailureRecorder, array: &Array<P>) {
    for mishap in &array.mishaps()[recorder.events()..] {
        let what = match mishap.what {
            MishapKind::Failed => Happening::Failed,
            MishapKind::ReadOnly => Happening::ReadOnly,
            MishapKind::Slow(factor) => Happening::Slow { factor },
            MishapKind::Replaced(by) => Happening::Replaced { by },
            MishapKind::StoodIn(spare) => Happening::StoodIn { spare },
            MishapKind::Distributed => Happening::Distributed,
            MishapKind::Incomplete(bytes) => Happening::Incomplete { bytes },
            MishapKind::Copying(to) => Happening::Copying { to },
            MishapKind::Rebuilt => Happening::Rebuilt,
            MishapKind::PowerLost(requests) => Happening::PowerLost { requests },
            MishapKind::Resynced => Happening::Resynced,
            MishapKind::Refused => Happening::Refused,
        };
        recorder.tell(mishap.at, mishap.device, what);
    }
}

/// What is to be known about a run for its report.
pub(crate) struct Ending<'a> {
    pub scenario: &'a Scenario,
    /// The measured window.
    pub window: (SimTime, SimTime),
    /// Requests that arrived, the warm-up included.
    pub requests: u64,
    /// Over the whole run, and over the window.
    pub counters: [ArrayCounters; 2],
    pub background: [BackgroundCounters; 2],
}

impl Ending<'_> {
    /// The report's `array.failures`.
    pub fn report(&self, recorder: &FailureRecorder) -> FailuresReport {
        let faults = &self.scenario.array.faults;
        let (from, end) = self.window;
        let [run, window] = &self.counters;
        let [work, work_in_window] = &self.background;
        let is_ahead = |at: When| match at {
            When::Time(at) => at > end,
            When::Request(request) => request > self.requests,
        };
        let losses = faults.power_losses.iter().copied();
        let moments = faults.events.iter().map(|fault| fault.at).chain(losses);
        let report = recorder.report(from, end);
        let happened = |what: fn(&Happening) -> bool| report.events.iter().any(|event| what(&event.what));
        let was_copied = happened(|what| matches!(what, Happening::Copying { .. }));
        let is_rebuilt = |what: &Happening| {
            matches!(what, Happening::Replaced { .. } | Happening::StoodIn { .. } | Happening::Distributed)
        };
        let was_replaced = happened(is_rebuilt) && happened(|what| matches!(what, Happening::Failed));
        FailuresReport {
            not_reached: moments.filter(|&at| is_ahead(at)).count() as u64,
            rebuild: was_replaced.then(|| RebuildReport {
                share: work.share_built(),
                work: BackgroundReport::new(work.rebuilt_bytes, work.rebuild_ns),
            }),
            copy: was_copied.then(|| RebuildReport {
                share: work.share_copied(),
                work: BackgroundReport::new(work.copied_bytes, work.copy_ns),
            }),
            resync: (work.resync_ns > 0 || work.resyncs > 0).then(|| ResyncReport {
                share: work.share_synced(),
                rows_written: work.resynced_rows,
                work: BackgroundReport::new(work.resynced_bytes, work.resync_ns),
            }),
            scrub: faults.scrub.map(|_| BackgroundReport::new(work.scrubbed_bytes, work.scrub_ns)),
            unreadable_pages: window.unreadable_pages,
            rewritten_pages: work_in_window.rewritten_pages,
            rebuilt_pages: window.losses.rebuilt_pages,
            extra_pages: window.losses.extra_pages,
            lost: LossReport {
                unread_pages: run.losses.unread_pages,
                unwritten_pages: run.losses.unwritten_pages,
                lost_pages: run.losses.lost_pages,
            },
            ..report
        }
    }
}
