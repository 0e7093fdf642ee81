//! What the planes of a die did from its first collection on, for so long as there is room.
//!
//! ```text
//!            begins here
//!   works    │ GC read, plane 0      works  │ GC program, plane 0 + host program, plane 1
//!   stops    ▼──────────────┤        stops  ▼──────────────────────────────┤        one span a plane and command
//!   waits    3      4          4      5                         host operations waiting at the die
//! ```
//!
//! Several dies are recorded, so that runs which are compared can be looked at on the same one.

use harmonia_types::{DeviceId, PlaneWork, SimTime};

/// Spans kept of a die.
pub const SPANS_MAX: usize = 2_000;
/// Changes kept of the number of operations waiting.
const WAITS_MAX: usize = 4_000;
/// Dies recorded of a device: those that collect first.
const DIES_MAX: usize = 16;

/// A plane at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaneSpan {
    /// The plane, counted from 0 in its die; `None` if it is not known which.
    pub plane: Option<u32>,
    /// What it does.
    pub work: PlaneWork,
    /// When its die's command began.
    pub start: SimTime,
    /// When that ended.
    pub end: SimTime,
}

/// A die from its first collection on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiePlanes {
    /// The die, counted from 0 in its device.
    pub die: u32,
    /// Planes it has. Unit: count.
    pub planes: u32,
    /// What they did, in order of beginnings. No span of the host stands before the first of garbage collection.
    pub spans: Vec<PlaneSpan>,
    /// Host operations waiting at the die, from each time on.
    pub waiting: Vec<(SimTime, u32)>,
}

/// The dies of one member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberPlanes {
    /// The member.
    pub member: DeviceId,
    /// Its dies that collected first, in the order of their indices.
    pub dies: Vec<DiePlanes>,
}

/// Records the dies of one device.
#[derive(Debug, Clone)]
pub struct PlaneRecorder {
    from: SimTime,
    begun: usize,
    dies: Vec<Die>,
}

#[derive(Debug, Clone, Default)]
struct Die {
    begun: bool,
    waiting: u32,
    working: Vec<(Option<u32>, PlaneWork, SimTime)>,
    suspended: Vec<(Option<u32>, PlaneWork, SimTime)>,
    record: DiePlanes,
}

impl PlaneRecorder {
    /// Of so many dies with so many planes each; nothing is recorded before [`window`](Self::window).
    pub fn new(dies: u32, planes: u32) -> Self {
        let record = |die| DiePlanes { die, planes, ..DiePlanes::default() };
        let dies = (0..dies).map(|die| Die { record: record(die), ..Die::default() });
        PlaneRecorder { from: SimTime::NEVER, begun: 0, dies: dies.collect() }
    }

    /// The measured window begins.
    pub fn window(&mut self, from: SimTime) {
        self.from = from;
    }

    /// A plane of a die begins to work.
    pub fn works(&mut self, at: SimTime, die: u32, plane: Option<u32>, work: PlaneWork) {
        let slot = &mut self.dies[die as usize];
        if !slot.begun && work.is_gc() && at >= self.from && self.begun < DIES_MAX {
            slot.begun = true;
            self.begun += 1;
            slot.record.waiting.push((at, slot.waiting));
        }
        if slot.is_recording() {
            slot.resume(work, at);
            slot.working.push((plane, work, at));
        }
    }

    /// All planes of a die stop.
    pub fn stops(&mut self, at: SimTime, die: u32) {
        self.dies[die as usize].stop(at);
    }

    /// All planes of a die stop until what it ran goes on: of a command with pages of collection, these are shown.
    pub fn suspends(&mut self, at: SimTime, die: u32) {
        let slot = &mut self.dies[die as usize];
        let work = suspended(&slot.working);
        let waiting = slot.working.iter().filter(|(_, was, _)| was.is_gc() == work.is_gc());
        slot.suspended = waiting.map(|&(plane, ..)| (plane, work, at)).collect();
        slot.stop(at);
    }

    /// So many host operations wait at a die from now on.
    pub fn waits(&mut self, at: SimTime, die: u32, operations: u32) {
        let slot = &mut self.dies[die as usize];
        let changes = slot.waiting != operations;
        slot.waiting = operations;
        if !changes || !slot.is_recording() {
            return;
        }
        let waiting = &mut slot.record.waiting;
        match waiting.last_mut() {
            Some(last) if last.0 == at => last.1 = operations,
            _ => waiting.push((at, operations)),
        }
    }

    /// The dies that collected.
    pub fn finish(&self) -> Vec<DiePlanes> {
        let begun = self.dies.iter().filter(|die| die.begun);
        let mut dies: Vec<DiePlanes> = begun.map(|die| die.record.clone()).collect();
        for die in &mut dies {
            die.spans.sort_by_key(|span| (span.start, span.plane, span.work));
        }
        dies.retain(|die| !die.spans.is_empty());
        dies
    }
}

impl Die {
    fn is_recording(&self) -> bool {
        self.begun && self.record.spans.len() < SPANS_MAX && self.record.waiting.len() < WAITS_MAX
    }

    fn stop(&mut self, at: SimTime) {
        for (plane, work, start) in self.working.drain(..) {
            self.record.spans.push(PlaneSpan { plane, work, start, end: at });
        }
    }

    /// What was suspended goes on, if this is it.
    fn resume(&mut self, goes_on: PlaneWork, at: SimTime) {
        for (plane, work, start) in self.suspended.extract_if(.., |(_, work, _)| resumes(goes_on, *work)) {
            self.record.spans.push(PlaneSpan { plane, work, start, end: at });
        }
    }
}

/// What planes that work so do when their die's command is suspended.
pub fn suspended(working: &[(Option<u32>, PlaneWork, SimTime)]) -> PlaneWork {
    let collects = working.iter().any(|(_, work, _)| work.is_gc());
    if collects { PlaneWork::Suspended } else { PlaneWork::HostSuspended }
}

/// Whether a plane that begins so means that what was suspended goes on. Only reads of the host are served in between.
pub fn resumes(work: PlaneWork, suspended: PlaneWork) -> bool {
    match suspended {
        PlaneWork::HostSuspended => work == PlaneWork::HostProgram,
        _ => work.is_gc(),
    }
}

/// The die that most of these runs recorded, of those the one that collected first in the first run that has it, then
/// the lowest. `None` if no die was recorded.
pub fn common_die<'a>(runs: impl IntoIterator<Item = &'a MemberPlanes>) -> Option<(DeviceId, u32)> {
    let runs: Vec<&MemberPlanes> = runs.into_iter().collect();
    let dies = runs.iter().flat_map(|run| run.dies.iter().map(|die| (run.member, die)));
    let of =
        |run: &MemberPlanes, (member, die)| run.member == member && run.dies.iter().any(|d| d.die == die);
    let rank = |&(member, die): &(DeviceId, &DiePlanes)| {
        let recorded = runs.iter().filter(|run| of(run, (member, die.die))).count();
        let first = die.spans.first().map_or(SimTime::NEVER, |span| span.start);
        (std::cmp::Reverse(recorded), first, member, die.die)
    };
    dies.min_by_key(rank).map(|(member, die)| (member, die.die))
}

#[cfg(test)]
mod tests {
    use super::*;
    use PlaneWork::*;

    const DIE: u32 = 1;

    fn at(us: u64) -> SimTime {
        SimTime(us * 1_000)
    }

    fn span(plane: u32, work: PlaneWork, start: u64, end: u64) -> PlaneSpan {
        PlaneSpan { plane: Some(plane), work, start: at(start), end: at(end) }
    }

    fn recorder() -> PlaneRecorder {
        let mut recorder = PlaneRecorder::new(2, 2);
        recorder.window(at(10));
        recorder
    }

    fn command(recorder: &mut PlaneRecorder, plane: u32, work: PlaneWork, start: u64, end: u64) {
        recorder.works(at(start), DIE, Some(plane), work);
        recorder.stops(at(end), DIE);
    }

    #[test]
    fn a_die_is_recorded_from_its_first_collection_in_the_window_on() {
        let mut recorder = recorder();
        command(&mut recorder, 0, GcRead, 9, 11);
        command(&mut recorder, 0, HostRead, 11, 12);
        recorder.waits(at(11), DIE, 3);
        command(&mut recorder, 1, GcRead, 12, 14);
        recorder.waits(at(13), DIE, 4);
        command(&mut recorder, 0, HostProgram, 14, 20);
        let dies = recorder.finish();
        assert_eq!(dies.len(), 1, "the other die never collected");
        assert_eq!((dies[0].die, dies[0].planes), (DIE, 2));
        assert_eq!(dies[0].spans, [span(1, GcRead, 12, 14), span(0, HostProgram, 14, 20)]);
        assert_eq!(dies[0].waiting, [(at(12), 3), (at(13), 4)]);
    }

    #[test]
    fn what_is_suspended_waits_until_garbage_collection_goes_on() {
        let mut recorder = recorder();
        recorder.works(at(10), DIE, Some(0), Erase);
        recorder.suspends(at(12), DIE);
        recorder.stops(at(12), DIE);
        command(&mut recorder, 0, HostRead, 12, 15);
        command(&mut recorder, 0, Erase, 16, 20);
        let spans = [
            span(0, Erase, 10, 12),
            span(0, HostRead, 12, 15),
            span(0, Suspended, 12, 16),
            span(0, Erase, 16, 20),
        ];
        assert_eq!(recorder.finish()[0].spans, spans);
    }

    #[test]
    fn a_program_of_the_host_that_is_suspended_waits_until_it_goes_on() {
        let mut recorder = recorder();
        command(&mut recorder, 1, Erase, 10, 20);
        recorder.works(at(20), DIE, Some(0), HostProgram);
        recorder.suspends(at(22), DIE);
        command(&mut recorder, 1, HostRead, 23, 25);
        command(&mut recorder, 0, HostRead, 25, 27);
        command(&mut recorder, 0, HostProgram, 27, 30);
        command(&mut recorder, 0, HostProgram, 30, 31);
        let spans = [
            span(1, Erase, 10, 20),
            span(0, HostProgram, 20, 22),
            span(0, HostSuspended, 22, 27),
            span(1, HostRead, 23, 25),
            span(0, HostRead, 25, 27),
            span(0, HostProgram, 27, 30),
            span(0, HostProgram, 30, 31),
        ];
        assert_eq!(recorder.finish()[0].spans, spans);
    }

    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let mut recorder = recorder();
        for command_of in 0..3 * SPANS_MAX as u64 {
            command(&mut recorder, 0, GcMove, 10 + command_of, 11 + command_of);
        }
        assert_eq!(recorder.finish()[0].spans.len(), SPANS_MAX);
        let mut dies = PlaneRecorder::new(100, 2);
        dies.window(at(0));
        for die in 0..100 {
            dies.works(at(1), die, None, GcEvent);
            dies.stops(at(2), die);
        }
        assert_eq!(dies.finish().len(), DIES_MAX);
    }

    fn member(dies: &[(u32, u64)]) -> MemberPlanes {
        let die = |&(die, start): &(u32, u64)| DiePlanes {
            die,
            planes: 2,
            spans: vec![span(0, GcMove, start, start + 1)],
            waiting: Vec::new(),
        };
        MemberPlanes { member: DeviceId(0), dies: dies.iter().map(die).collect() }
    }

    #[test]
    fn runs_are_looked_at_on_one_die() {
        let die = |runs: &[MemberPlanes]| common_die(runs).map(|(_, die)| die);
        assert_eq!(
            die(&[member(&[(3, 5), (4, 6)]), member(&[(4, 9), (5, 1)])]),
            Some(4),
            "the one both have"
        );
        assert_eq!(die(&[member(&[(3, 5), (4, 2)])]), Some(4), "the first to collect");
        assert_eq!(die(&[member(&[])]), None);
    }
}
