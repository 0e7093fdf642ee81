//! What was done to a trace: the report's `trace` section.
//!
//! Nothing is dropped, mended or moved in silence: whatever the simulated requests differ in from the rows of the files
//! is counted here with its reason.

pub use harmonia_types::Noted;
use serde::{Deserialize, Serialize};

use crate::Warning;

/// The trace that was replayed, warm-up included, and what was done to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceReport {
    /// Its files, as they were named or found.
    pub files: Vec<String>,
    /// Format it was read as.
    pub format: String,
    /// Why `format = "auto"` decided on that format; null where it was named.
    pub format_reason: Option<String>,
    /// Records replayed. Unit: count.
    pub rows: u64,
    /// XXH3 of time, operation, offset, length, volume and placement handle of every record replayed, before `time_scale`, `volumes`,
    /// `remap` and `align`; 32 hexadecimal digits. The same for the same records in another format.
    pub hash: String,
    /// Rows that were passed over.
    pub skipped: Vec<Noted>,
    /// Rows that were mended.
    pub repaired: Vec<Noted>,
    /// Malformed rows that were tolerated. Unit: count.
    pub bad: u64,
    /// The first of them, with file and place.
    pub bad_examples: Vec<String>,
    /// Requests that `remap` gave another address. Unit: count.
    pub moved: u64,
    /// Requests that `remap` cut short at the array's end. Unit: count.
    pub cut: u64,
    /// Requests that `align` widened to whole pages. Unit: count.
    pub widened: u64,
    /// Of the rows passed over, requests that the trace does not tell enough of: the load lacks them. Unit: count.
    #[serde(default)]
    pub lost: u64,
    /// Clock time of the first request as it was recorded, in UTC; null where the trace does not tell. Unit: ns since 1970.
    #[serde(default)]
    pub begins_utc_ns: Option<u64>,
    /// From the first arrival to the last, before `time_scale`; null if not known. Unit: ns.
    #[serde(default)]
    pub span_ns: Option<u64>,
    /// What times were multiplied by; null where they were not.
    #[serde(default)]
    pub time_scale: Option<f64>,
    /// Which event of a request was read; null for formats that record one.
    #[serde(default)]
    pub events: Option<EventsReport>,
}

/// Which event in the life of a request was its arrival, of a format that records several (blkparse, blktrace).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EventsReport {
    /// The event: letter and word, such as `D (issued)`.
    pub read: String,
    /// Whether it was asked for; otherwise it was chosen, as the first that is about complete.
    pub asked: bool,
    /// How much it has of what the most complete event asks for. Unit: share of its bytes.
    pub share: f64,
    /// All events that the trace has, the most complete first.
    pub all: Vec<EventReport>,
}

/// One event that can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventReport {
    /// Letter and word.
    pub event: String,
    /// Its requests. Unit: count.
    pub requests: u64,
    /// What they ask for. Unit: bytes.
    pub bytes: u64,
}

impl TraceReport {
    /// Whether every row became a request as it stands.
    pub fn is_untouched(&self) -> bool {
        let TraceReport { skipped, repaired, bad, moved, cut, widened, time_scale, .. } = self;
        let counts = [bad, moved, cut, widened];
        skipped.is_empty() && repaired.is_empty() && counts == [&0; 4] && time_scale.is_none()
    }
}

/// Rows may be missing up to this share before a load counts as another than the one recorded.
const MISSED_MOST: f64 = 0.01;
/// Requests may be moved up to this share before overwrites are others than those recorded.
const MOVED_MOST: f64 = 0.1;
/// An event that has less than this share of the most complete one leaves out a part of the load.
const COMPLETE: f64 = 0.9;

/// What a reader of the figures should know about the trace behind them; none if all is well.
///
/// `is_scaled`: addresses were stretched to the array, because somebody asked for it.
pub(crate) fn warnings(report: &TraceReport, is_scaled: bool) -> Vec<Warning> {
    let all = [
        ("rows-passed-over", missed(report)),
        ("requests-moved", moved(report).filter(|_| !is_scaled)),
        ("incomplete-event", incomplete(report)),
    ];
    let warning = |(code, text): (&str, Option<String>)| Some(Warning::new(code, text?));
    all.into_iter().filter_map(warning).collect()
}

/// Requests of the trace that the load lacks.
fn missed(report: &TraceReport) -> Option<String> {
    let missed = report.lost + report.bad;
    let all = report.rows + missed;
    let share = missed as f64 / all.max(1) as f64;
    (share > MISSED_MOST).then(|| {
        format!(
            "{missed} of {all} requests of the trace ({:.1}%) could not be read and were passed over. The load is smaller \
             than the one recorded",
            100.0 * share
        )
    })
}

/// Requests that lie elsewhere than they were recorded.
fn moved(report: &TraceReport) -> Option<String> {
    let share = report.moved as f64 / report.rows.max(1) as f64;
    (share > MOVED_MOST).then(|| {
        format!(
            "{} of {} requests of the trace ({:.1}%) lie beyond the array and were moved to fit. They overwrite other data \
             than they did. A larger array, or workload.remap, changes that",
            report.moved,
            report.rows,
            100.0 * share
        )
    })
}

/// An event that was asked for, or looked complete from the start of the trace, and is not.
fn incomplete(report: &TraceReport) -> Option<String> {
    let events = report.events.as_ref().filter(|events| events.share < COMPLETE)?;
    let most = events.all.first()?;
    let requests =
        events.all.iter().find(|event| event.event == events.read).map_or(0, |event| event.requests);
    Some(format!(
        "event {} was read, which has {:.1}% of what event {} asks for ({requests} requests beside {}). Part of the load is \
         missing. Set workload.action to choose that event",
        events.read,
        100.0 * events.share,
        most.event,
        most.requests
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(report: &TraceReport) -> Vec<(String, String)> {
        warnings(report, false).into_iter().map(|warning| (warning.code, warning.text)).collect()
    }

    fn warning(code: &str, text: &str) -> Vec<(String, String)> {
        vec![(code.to_owned(), text.to_owned())]
    }

    fn trace(rows: u64) -> TraceReport {
        TraceReport { rows, span_ns: Some(5), ..TraceReport::default() }
    }

    #[test]
    fn one_row_in_a_hundred_may_be_missing() {
        assert_eq!(told(&trace(0)), []);
        assert_eq!(told(&TraceReport { lost: 1, ..trace(99) }), []);
        let text = "2 of 100 requests of the trace (2.0%) could not be read and were passed over. The load is smaller than \
                    the one recorded";
        let found = told(&TraceReport { lost: 1, bad: 1, ..trace(98) });
        assert_eq!(found, warning("rows-passed-over", text));
    }

    #[test]
    fn an_event_that_has_a_part_of_the_load_is_told() {
        let event = |event: &str, requests| EventReport { event: event.to_owned(), requests, bytes: 0 };
        let read = |share| {
            let all = vec![event("Q (queued)", 15_524), event("D (issued)", 170)];
            let events = EventsReport { read: "D (issued)".to_owned(), asked: true, share, all };
            TraceReport { events: Some(events), ..trace(170) }
        };
        assert_eq!(told(&read(0.9)), []);
        let text = "event D (issued) was read, which has 1.1% of what event Q (queued) asks for (170 requests beside \
                    15524). Part of the load is missing. Set workload.action to choose that event";
        assert_eq!(told(&read(0.011)), warning("incomplete-event", text));
    }
}
