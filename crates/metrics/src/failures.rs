//! What befell members of an array, and what requests felt of it: response times while all was whole, while a member was
//! missing, and while one was rebuilt.
//!
//! ```text
//!   failed, copied, replaced, rebuilt, slow --> FailureRecorder --> phases of the array --> response times by arrival
//!                                                      \--> spans of members ----> lanes of a picture
//! ```
//!
//! A request belongs to the phase in which it arrived. One that arrives just before a failure and waits for the member that
//! fails counts as whole.
//!
//! Leaves out: blame by phase, and members that are slow, which make no phase of their own: they hold everything.

use harmonia_types::{Completion, DeviceId, Operation, SimTime};
use serde::{Deserialize, Serialize};

use crate::distribution::{Distribution, DistributionSummary};

/// The report's `array.failures`; absent where nothing may befall members.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailuresReport {
    /// What befell members, and what the array did about it, in order of time; the warm-up included.
    pub events: Vec<FailureEvent>,
    /// Failures of the scenario that lie after the end of the run. Unit: count.
    pub not_reached: u64,
    /// Time of the measured window in which not all members held everything, rebuilding included. Unit: s.
    pub degraded_s: f64,
    /// Response times by what the array was when requests arrived.
    pub response_ns: PhaseResponses,
    /// How far rebuilding came over the whole run; absent where no spare took the place of a member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildReport>,
    /// How far copying of members that work came over the whole run; absent where no spare began to take such a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<RebuildReport>,
    /// How far the last resync came, over the whole run; absent where none began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resync: Option<ResyncReport>,
    /// How far scrubbing came over the whole run; absent where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrub: Option<BackgroundReport>,
    /// Pages that members could not read. Unit: pages.
    pub unreadable_pages: u64,
    /// Those of them that were written anew. Unit: pages.
    pub rewritten_pages: u64,
    /// Pages of the host read without the member that held them, because it failed or could not read them. Unit: pages.
    pub rebuilt_pages: u64,
    /// Pages read for that which the host did not ask for. Unit: pages.
    pub extra_pages: u64,
    /// What was lost over the whole run, the warm-up included.
    pub lost: LossReport,
}

impl FailuresReport {
    /// The member whose place a device took.
    pub fn place_taken_by(&self, device: u16) -> Option<u16> {
        let took = |event: &FailureEvent| event.what == Happening::Replaced { by: device };
        self.events.iter().find(|event| took(event)).and_then(|event| event.device)
    }
}

/// Something that befell a member, or that the array did about it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FailureEvent {
    /// When, since the run's start, the warm-up included. Unit: s.
    pub at_s: f64,
    /// The member: its place in the array; absent where it befell the whole array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<u16>,
    /// What happened, under the key `what`.
    #[serde(flatten)]
    pub what: Happening,
}

/// What happened to a member.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Happening {
    /// It failed.
    Failed,
    /// It refused a write, because its blocks are worn out; it fails at the same moment.
    ReadOnly,
    /// Its flash takes so many times as long from then on.
    Slow {
        /// Unit: ratio.
        factor: f64,
    },
    /// A spare took its place.
    Replaced {
        /// The spare: its place in the report's `devices`.
        by: u16,
    },
    /// Other members began to stand in for it with spare space.
    StoodIn {
        /// The distributed spare, by number.
        spare: u16,
    },
    /// No spare took its place: what it held began to be rebuilt on members that are free of its stripes.
    Distributed,
    /// So much of it could not be rebuilt there: they have no room, or too much is missing.
    Incomplete {
        /// Unit: bytes.
        bytes: u64,
    },
    /// A spare begins to take its place while it works.
    Copying {
        /// The spare: its place in the report's `devices`.
        to: u16,
    },
    /// What is in its place holds everything, or the other members do.
    Rebuilt,
    /// The array lost power.
    PowerLost {
        /// Requests that were not acknowledged and were submitted again. Unit: count.
        requests: u64,
    },
    /// All that was being written when power was lost agrees again.
    Resynced,
    /// Power was lost while an SSD was missing, and writes were under way or not yet flushed: it did not start again.
    Refused,
}

/// Response times of requests by what the array was when they arrived.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseResponses {
    /// All members held everything.
    pub whole: PhaseResponse,
    /// Likewise, and one was copied to a spare; absent where none was.
    #[serde(skip_serializing_if = "PhaseResponse::is_empty")]
    pub copying: PhaseResponse,
    /// A member was missing, and none was rebuilt.
    pub degraded: PhaseResponse,
    /// A replacement was rebuilt.
    pub rebuilding: PhaseResponse,
}

impl PhaseResponses {
    /// All with their names, in the order in which an array goes through them.
    pub fn all(&self) -> [(&'static str, &PhaseResponse); 4] {
        [
            ("whole", &self.whole),
            ("copying", &self.copying),
            ("degraded", &self.degraded),
            ("rebuilding", &self.rebuilding),
        ]
    }
}

/// Response times of the requests that arrived in one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseResponse {
    /// How long the phase was within the measured window. Unit: s.
    pub seconds: f64,
    /// Reads. Unit: ns.
    pub read: DistributionSummary,
    /// Writes. Unit: ns.
    pub write: DistributionSummary,
}

impl PhaseResponse {
    /// Whether the array was never like this.
    pub fn is_empty(&self) -> bool {
        self.seconds == 0.0 && self.read.count + self.write.count == 0
    }
}

/// How far rebuilding came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RebuildReport {
    /// How much of the last replacement was rebuilt: 1 is all of it. Unit: fraction.
    pub share: f64,
    /// What was rebuilt and how fast, over all replacements.
    #[serde(flatten)]
    pub work: BackgroundReport,
}

/// How far the resync after a loss of power came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResyncReport {
    /// How much was gone through the last time: 1 is all of it. Unit: fraction.
    pub share: f64,
    /// Rows, or pages where there is no parity, that were being written when power was lost or of which a write cache lost a part, and were
    /// written anew. Unit: count.
    pub rows_written: u64,
    /// What was gone through and how fast, over all losses of power.
    #[serde(flatten)]
    pub work: BackgroundReport,
}

/// What the array's own work has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackgroundReport {
    /// Bytes of members that were gone through. Unit: bytes.
    pub bytes: u64,
    /// Time that took. Unit: s.
    pub seconds: f64,
    /// The one by the other; null where it took no time. Unit: bytes/s.
    pub rate: Option<f64>,
}

impl BackgroundReport {
    /// So many bytes in so many nanoseconds.
    pub fn new(bytes: u64, ns: u64) -> Self {
        let seconds = ns as f64 / 1e9;
        BackgroundReport { bytes, seconds, rate: (ns > 0).then(|| bytes as f64 / seconds) }
    }
}

/// What was lost because too many members failed, or could not read a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LossReport {
    /// Pages that the host asked for and that could not be read. Unit: pages.
    pub unread_pages: u64,
    /// Pages that the host wrote and that no member could take. Unit: pages.
    pub unwritten_pages: u64,
    /// Pages that could not be rebuilt, because what they are made of could not be read. Unit: pages.
    pub lost_pages: u64,
}

impl LossReport {
    /// Pages lost in any way.
    pub fn pages(&self) -> u64 {
        self.unread_pages + self.unwritten_pages + self.lost_pages
    }
}

/// What is wrong with a member for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ailment {
    /// It is missing.
    Failed,
    /// What is in its place is rebuilt.
    Rebuilding,
    /// It is copied to a spare.
    Copying,
    /// It takes longer than its kind does.
    Slow,
}

/// A stretch of time in which something is wrong with a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AilingSpan {
    /// The member: its place in the array.
    pub member: DeviceId,
    /// What is wrong with it.
    pub ailment: Ailment,
    /// Since when.
    pub start: SimTime,
    /// Until when; [`SimTime::NEVER`] where that is not known yet.
    pub end: SimTime,
}

/// What the array is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Whole,
    Degraded,
    Rebuilding,
    Copying,
}

/// Hears what befalls members, and sees requests complete.
#[derive(Debug, Clone, Default)]
pub struct FailureRecorder {
    events: Vec<(SimTime, Option<DeviceId>, Happening)>,
    spans: Vec<AilingSpan>,
    /// When each phase began, in order of time; whole before the first.
    phases: Vec<(SimTime, Phase)>,
    /// By phase, reads and writes.
    responses: [[Distribution; 2]; 4],
}

impl FailureRecorder {
    /// Something happened to the member in a place, or to the array, not before what was told earlier.
    pub fn tell(&mut self, at: SimTime, device: Option<DeviceId>, what: Happening) {
        self.events.push((at, device, what));
        let Some(device) = device else { return };
        match what {
            Happening::Failed => {
                self.close(device, Ailment::Slow, at);
                self.close(device, Ailment::Copying, at);
                self.close(device, Ailment::Rebuilding, at);
                self.open(device, Ailment::Failed, at);
            }
            Happening::Copying { .. } => self.open(device, Ailment::Copying, at),
            Happening::Replaced { .. } if self.is_open(device, Ailment::Copying) => {
                // The spare holds everything, and is as fast as it was made.
                self.close(device, Ailment::Copying, at);
                self.close(device, Ailment::Slow, at);
            }
            Happening::Replaced { .. } | Happening::StoodIn { .. } | Happening::Distributed => {
                self.close(device, Ailment::Failed, at);
                self.open(device, Ailment::Rebuilding, at);
            }
            Happening::Rebuilt => self.close(device, Ailment::Rebuilding, at),
            Happening::Incomplete { .. } => {
                self.close(device, Ailment::Rebuilding, at);
                self.open(device, Ailment::Failed, at);
            }
            Happening::ReadOnly | Happening::PowerLost { .. } | Happening::Resynced | Happening::Refused => {}
            Happening::Slow { factor } => {
                self.close(device, Ailment::Slow, at);
                if factor > 1.0 {
                    self.open(device, Ailment::Slow, at);
                }
            }
        }
        let phase = self.phase_now();
        if self.phases.last().map_or(Phase::Whole, |&(_, last)| last) != phase {
            self.phases.push((at, phase));
        }
    }

    /// How many events it was told.
    pub fn events(&self) -> usize {
        self.events.len()
    }

    /// Takes in one completed request of the measured window; what happened before it arrived has been told.
    pub fn record(&mut self, completion: &Completion) {
        let kind = match completion.operation {
            Operation::Read => 0,
            Operation::Write => 1,
            Operation::Trim | Operation::Flush => return,
        };
        let phase = self.phase_at(completion.arrival);
        self.responses[phase as usize][kind].record(completion.response().as_ns());
    }

    /// What the measured window begins with forgets the responses of what came before.
    pub fn begin_window(&mut self) {
        self.responses = Default::default();
    }

    /// Stretches of time in which something was wrong with a member, in order of their beginnings.
    pub fn spans(&self) -> &[AilingSpan] {
        &self.spans
    }

    /// The device in a place at a time: its place among all that the array was given.
    pub fn device_at(&self, place: DeviceId, at: SimTime) -> DeviceId {
        let before = self.events.iter().take_while(|(time, ..)| *time <= at);
        let spare = before.filter_map(|&(_, device, what)| match what {
            Happening::Replaced { by } if device == Some(place) => Some(DeviceId(by)),
            _ => None,
        });
        spare.last().unwrap_or(place)
    }

    /// What it saw of the window that began at `from` and ended at `end`; what only the array knows is left to be filled in.
    pub fn report(&self, from: SimTime, end: SimTime) -> FailuresReport {
        let event = |&(at, device, what): &(SimTime, Option<DeviceId>, Happening)| FailureEvent {
            at_s: at.as_ns() as f64 / 1e9,
            device: device.map(|device| device.0),
            what,
        };
        let response = |phase: Phase| {
            let [read, write] = &self.responses[phase as usize];
            PhaseResponse {
                seconds: self.seconds(phase, from, end),
                read: read.summary(),
                write: write.summary(),
            }
        };
        FailuresReport {
            events: self.events.iter().map(event).collect(),
            degraded_s: self.seconds(Phase::Degraded, from, end) + self.seconds(Phase::Rebuilding, from, end),
            response_ns: PhaseResponses {
                whole: response(Phase::Whole),
                copying: response(Phase::Copying),
                degraded: response(Phase::Degraded),
                rebuilding: response(Phase::Rebuilding),
            },
            ..FailuresReport::default()
        }
    }

    fn open(&mut self, member: DeviceId, ailment: Ailment, start: SimTime) {
        self.spans.push(AilingSpan { member, ailment, start, end: SimTime::NEVER });
    }

    fn close(&mut self, member: DeviceId, ailment: Ailment, end: SimTime) {
        let is_it = |span: &&mut AilingSpan| {
            span.member == member && span.ailment == ailment && span.end == SimTime::NEVER
        };
        if let Some(span) = self.spans.iter_mut().find(is_it) {
            span.end = end;
        }
    }

    fn is_open(&self, member: DeviceId, ailment: Ailment) -> bool {
        let is_it = |span: &AilingSpan| {
            span.member == member && span.ailment == ailment && span.end == SimTime::NEVER
        };
        self.spans.iter().any(is_it)
    }

    fn phase_now(&self) -> Phase {
        let has =
            |ailment| self.spans.iter().any(|span| span.ailment == ailment && span.end == SimTime::NEVER);
        match (has(Ailment::Rebuilding), has(Ailment::Failed)) {
            (true, _) => Phase::Rebuilding,
            (false, true) => Phase::Degraded,
            (false, false) if has(Ailment::Copying) => Phase::Copying,
            (false, false) => Phase::Whole,
        }
    }

    fn phase_at(&self, at: SimTime) -> Phase {
        let begun = self.phases.partition_point(|(began, _)| *began <= at);
        begun.checked_sub(1).map_or(Phase::Whole, |last| self.phases[last].1)
    }

    /// How long a phase was between two moments. Unit: s.
    fn seconds(&self, phase: Phase, from: SimTime, end: SimTime) -> f64 {
        let begins = std::iter::once((SimTime::ZERO, Phase::Whole)).chain(self.phases.iter().copied());
        let ends = self.phases.iter().map(|(began, _)| *began).chain([SimTime::NEVER]);
        let ns = |((began, what), until): ((SimTime, Phase), SimTime)| {
            let time = until.min(end).saturating_since(began.max(from));
            if what == phase { time.as_ns() } else { 0 }
        };
        begins.zip(ends).map(ns).sum::<u64>() as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use harmonia_types::RequestBlame;

    use super::*;

    const MEMBER: DeviceId = DeviceId(2);

    /// Member 2 fails at 10, a spare takes its place at 12 and is complete at 20.
    fn history() -> FailureRecorder {
        let mut recorder = FailureRecorder::default();
        recorder.tell(SimTime(10), Some(MEMBER), Happening::Failed);
        recorder.tell(SimTime(12), Some(MEMBER), Happening::Replaced { by: 8 });
        recorder.tell(SimTime(20), Some(MEMBER), Happening::Rebuilt);
        recorder
    }

    fn read(arrival: u64, took: u64) -> Completion {
        Completion {
            id: 0,
            operation: Operation::Read,
            offset: 0,
            length: 1,
            arrival: SimTime(arrival),
            finish: SimTime(arrival + took),
            blame: RequestBlame::default(),
            met_gc: false,
            gc_wait: None,
        }
    }

    #[test]
    fn a_request_belongs_to_the_phase_in_which_it_arrived() {
        let mut recorder = history();
        for (arrival, took) in [(9, 100), (10, 200), (11, 300), (12, 400), (19, 500), (20, 600)] {
            recorder.record(&read(arrival, took));
        }
        let PhaseResponses { whole, degraded, rebuilding, .. } =
            recorder.report(SimTime(0), SimTime(30)).response_ns;
        let mean = |phase: &PhaseResponse| (phase.read.count, phase.read.mean);
        assert_eq!(mean(&whole), (2, Some(350.0)));
        assert_eq!(mean(&degraded), (2, Some(250.0)));
        assert_eq!(mean(&rebuilding), (2, Some(450.0)));
    }

    #[test]
    fn phases_are_as_long_as_the_window_sees_of_them() {
        let seconds = |from, end| {
            let report = history().report(SimTime(from), SimTime(end));
            let of = report.response_ns.all().map(|(_, phase)| (phase.seconds * 1e9).round() as u64);
            (of, (report.degraded_s * 1e9).round() as u64)
        };
        assert_eq!(seconds(0, 30), ([20, 0, 2, 8], 10));
        assert_eq!(seconds(11, 15), ([0, 0, 1, 3], 4));
        assert_eq!(seconds(25, 30), ([5, 0, 0, 0], 0));
    }

    /// A slow member is copied from 3 on; the spare takes its place at 9. Another one fails at 14, while it is copied.
    #[test]
    fn a_member_that_is_copied_is_a_phase_of_its_own_until_it_is_replaced_or_fails() {
        let mut recorder = FailureRecorder::default();
        let other = DeviceId(1);
        for (at, member, what) in [
            (1, MEMBER, Happening::Slow { factor: 3.0 }),
            (3, MEMBER, Happening::Copying { to: 8 }),
            (9, MEMBER, Happening::Replaced { by: 8 }),
            (12, other, Happening::Copying { to: 9 }),
            (14, other, Happening::Failed),
            (14, other, Happening::Replaced { by: 9 }),
            (17, other, Happening::Rebuilt),
        ] {
            recorder.tell(SimTime(at), Some(member), what);
        }
        assert_eq!(recorder.events(), 7);
        recorder.record(&read(4, 100));
        let report = recorder.report(SimTime(0), SimTime(20));
        let seconds = report.response_ns.all().map(|(_, phase)| (phase.seconds * 1e9).round() as u64);
        assert_eq!(seconds, [9, 8, 0, 3]);
        assert_eq!(report.response_ns.copying.read.mean, Some(100.0));
        assert_eq!((report.degraded_s * 1e9).round(), 3.0);
        assert!(recorder.spans().iter().all(|span| span.end != SimTime::NEVER), "nobody is slow any more");
        assert_eq!(recorder.device_at(MEMBER, SimTime(8)), MEMBER);
        assert_eq!(recorder.device_at(MEMBER, SimTime(9)), DeviceId(8));
    }

    #[test]
    fn a_second_failure_ends_rebuilding_and_slowness() {
        let mut recorder = FailureRecorder::default();
        recorder.tell(SimTime(1), Some(MEMBER), Happening::Slow { factor: 3.0 });
        recorder.tell(SimTime(2), Some(MEMBER), Happening::Failed);
        recorder.tell(SimTime(3), Some(MEMBER), Happening::Replaced { by: 8 });
        recorder.tell(SimTime(5), Some(MEMBER), Happening::Failed);
        let spans = recorder.spans().iter().map(|span| (span.ailment, span.start.0, span.end.0));
        let expected = [
            (Ailment::Slow, 1, 2),
            (Ailment::Failed, 2, 3),
            (Ailment::Rebuilding, 3, 5),
            (Ailment::Failed, 5, u64::MAX),
        ];
        assert_eq!(spans.collect::<Vec<_>>(), expected);
        assert_eq!(recorder.phase_at(SimTime(6)), Phase::Degraded);
    }

    #[test]
    fn who_is_in_a_place_is_known_at_every_time() {
        let recorder = history();
        assert_eq!(recorder.device_at(MEMBER, SimTime(11)), MEMBER);
        assert_eq!(recorder.device_at(MEMBER, SimTime(12)), DeviceId(8));
        assert_eq!(recorder.device_at(DeviceId(3), SimTime(12)), DeviceId(3));
        let report = recorder.report(SimTime(0), SimTime(30));
        assert_eq!((report.place_taken_by(8), report.place_taken_by(9)), (Some(2), None));
    }

    #[test]
    fn events_read_as_they_were_written() {
        let events = history().report(SimTime(0), SimTime(30)).events;
        let text = serde_json::to_string(&events[1]).expect("JSON");
        assert_eq!(text, r#"{"at_s":1.2e-8,"device":2,"what":"replaced","by":8}"#);
        assert_eq!(serde_json::from_str::<FailureEvent>(&text).expect("an event"), events[1]);
    }
}
