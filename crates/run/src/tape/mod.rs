//! What every die did in a window of time, command by command, for whoever looks at it in a viewer of traces.
//!
//! ```text
//!                 window
//!   works  ──────[────────]────►  commands of planes that overlap it
//!   follower  ───[────────]────►  collections that overlap it, with their victims
//!   completions ─[────────]────►  measured requests that overlap it
//! ```
//!
//! A run that is taped ends like any other. What is kept is bounded by [`MOST`]; the rest is counted, so that a longer window is
//! refused by its size.
//!
//! Leaves out: transfers on buses and links, and what a write cache does.

mod perfetto;
mod wire;

use harmonia_metrics::recording::{PlaneSpan, resumes, suspended};
use harmonia_ssd::follow::Collection;
use harmonia_types::{Completion, DeviceId, PlaneWork, SimTime};

pub use perfetto::{Trace, perfetto};

/// Commands of planes, collections and requests that a window may have. Unit: count.
pub const MOST: u64 = 500_000;

/// A window of simulated time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TapeWindow {
    /// Its beginning.
    pub from: SimTime,
    /// Its end.
    pub until: SimTime,
}

impl TapeWindow {
    /// Whether something that took so long is seen in it.
    pub fn meets(&self, start: SimTime, end: SimTime) -> bool {
        start <= self.until && self.from <= end
    }
}

/// What one device did in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberTape {
    /// The device: a member, or behind them a spare.
    pub device: DeviceId,
    /// The channel of each die.
    pub channels: Vec<u32>,
    /// Commands of planes by die, as they ended.
    pub spans: Vec<(u32, PlaneSpan)>,
    /// Collections by die, as they ended; those under way come last.
    pub collections: Vec<(u32, Collection)>,
    /// All of them, those included that were not kept. Unit: count.
    pub seen: u64,
}

/// What an array did in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Taped {
    /// The window.
    pub window: TapeWindow,
    /// Device by device.
    pub members: Vec<MemberTape>,
    /// Members that collected, from when to when.
    pub collecting: Vec<(DeviceId, SimTime, SimTime)>,
    /// Measured requests, in order of their numbers.
    pub requests: Vec<Completion>,
    /// All of these, those included that were not kept. Unit: count.
    pub seen: u64,
}

/// Hears what the planes of one device do.
#[derive(Debug, Clone)]
pub(crate) struct Tape {
    window: TapeWindow,
    working: Vec<Vec<(Option<u32>, PlaneWork, SimTime)>>,
    suspended: Vec<Vec<(Option<u32>, PlaneWork, SimTime)>>,
    spans: Vec<(u32, PlaneSpan)>,
    seen: u64,
}

impl Tape {
    /// Of a device with so many dies.
    pub(crate) fn new(dies: u32, window: TapeWindow) -> Self {
        let dies = dies as usize;
        Tape {
            window,
            working: vec![Vec::new(); dies],
            suspended: vec![Vec::new(); dies],
            spans: Vec::new(),
            seen: 0,
        }
    }

    pub(crate) fn works(&mut self, at: SimTime, die: u32, plane: Option<u32>, work: PlaneWork) {
        self.resumes(work, at, die);
        self.working[die as usize].push((plane, work, at));
    }

    pub(crate) fn stops(&mut self, at: SimTime, die: u32) {
        let mut working = std::mem::take(&mut self.working[die as usize]);
        for (plane, work, start) in working.drain(..) {
            self.keep(die, PlaneSpan { plane, work, start, end: at });
        }
        self.working[die as usize] = working;
    }

    pub(crate) fn suspends(&mut self, at: SimTime, die: u32) {
        let working = &self.working[die as usize];
        let work = suspended(working);
        let waiting = working.iter().filter(|(_, was, _)| was.is_gc() == work.is_gc());
        self.suspended[die as usize] = waiting.map(|&(plane, ..)| (plane, work, at)).collect();
        self.stops(at, die);
    }

    fn resumes(&mut self, goes_on: PlaneWork, at: SimTime, die: u32) {
        let suspended = &mut self.suspended[die as usize];
        let ended: Vec<_> = suspended.extract_if(.., |(_, work, _)| resumes(goes_on, *work)).collect();
        for (plane, work, start) in ended {
            self.keep(die, PlaneSpan { plane, work, start, end: at });
        }
    }

    fn keep(&mut self, die: u32, span: PlaneSpan) {
        if self.window.meets(span.start, span.end) {
            self.seen += 1;
            if self.seen <= MOST {
                self.spans.push((die, span));
            }
        }
    }

    /// What was heard, with the collections of the same device.
    pub(crate) fn told(
        &self,
        device: DeviceId,
        channels: Vec<u32>,
        collections: Vec<(u32, Collection)>,
    ) -> MemberTape {
        let seen = self.seen + collections.len() as u64;
        MemberTape { device, channels, spans: self.spans.clone(), collections, seen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tape() -> Tape {
        Tape::new(2, TapeWindow { from: SimTime(100), until: SimTime(200) })
    }

    fn spans(tape: &Tape) -> Vec<(u32, PlaneWork, u64, u64)> {
        tape.spans.iter().map(|(die, span)| (*die, span.work, span.start.0, span.end.0)).collect()
    }

    #[test]
    fn what_meets_the_window_is_kept_whole() {
        let mut tape = tape();
        for (at, end) in [(0, 99), (10, 100), (150, 160), (200, 300), (201, 300)] {
            tape.works(SimTime(at), 1, Some(0), PlaneWork::HostRead);
            tape.stops(SimTime(end), 1);
        }
        let read = |from, to| (1, PlaneWork::HostRead, from, to);
        assert_eq!(spans(&tape), [read(10, 100), read(150, 160), read(200, 300)]);
        assert_eq!(tape.seen, 3);
    }

    #[test]
    fn a_suspended_command_is_seen_until_collection_goes_on() {
        let mut tape = tape();
        tape.works(SimTime(100), 0, Some(1), PlaneWork::Erase);
        tape.suspends(SimTime(120), 0);
        tape.works(SimTime(120), 0, Some(1), PlaneWork::HostRead);
        tape.stops(SimTime(130), 0);
        tape.works(SimTime(140), 0, Some(1), PlaneWork::Erase);
        tape.stops(SimTime(150), 0);
        let expected = [
            (0, PlaneWork::Erase, 100, 120),
            (0, PlaneWork::HostRead, 120, 130),
            (0, PlaneWork::Suspended, 120, 140),
            (0, PlaneWork::Erase, 140, 150),
        ];
        assert_eq!(spans(&tape), expected);
    }

    #[test]
    fn a_suspended_program_of_the_host_is_seen_until_it_goes_on() {
        let mut tape = tape();
        tape.works(SimTime(100), 0, Some(1), PlaneWork::HostProgram);
        tape.suspends(SimTime(120), 0);
        tape.works(SimTime(120), 0, Some(0), PlaneWork::HostRead);
        tape.stops(SimTime(130), 0);
        tape.works(SimTime(130), 0, Some(1), PlaneWork::HostProgram);
        let expected = [
            (0, PlaneWork::HostProgram, 100, 120),
            (0, PlaneWork::HostRead, 120, 130),
            (0, PlaneWork::HostSuspended, 120, 130),
        ];
        assert_eq!(spans(&tape), expected);
    }
}
