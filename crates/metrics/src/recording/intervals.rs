//! When members collected: exact at first, near intervals joined once there are too many.
//!
//! A joined interval knows how much of it was spent collecting. Beside it the recent intervals are held as they came, for
//! the windows of which everything is shown: beyond [`RECENT_MAX`] those go that touch no window.

use std::collections::VecDeque;

use harmonia_types::{DeviceId, SimTime};

/// Recent intervals held at once.
const RECENT_MAX: usize = 1 << 16;
/// The youngest of them stay whatever touches them: requests that wait for them are yet to complete.
const YOUNG: usize = 1 << 14;
/// The first gap across which intervals are joined. Unit: ns.
const FIRST_GAP_NS: u64 = 1 << 12;

/// A stretch of time in which a member collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcSpan {
    /// Its beginning.
    pub start: SimTime,
    /// Its end.
    pub end: SimTime,
    /// Time spent collecting: all of it, unless intervals were joined. Unit: ns.
    pub busy_ns: u64,
}

impl GcSpan {
    pub(super) fn exact(start: SimTime, end: SimTime) -> Self {
        GcSpan { start, end, busy_ns: (end - start).as_ns() }
    }
}

/// All intervals of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NearGc {
    /// Intervals no further apart than this were joined; 0 if every interval is exact. Unit: ns.
    pub gap_ns: u64,
    /// By member, in order of time.
    pub members: Vec<Vec<GcSpan>>,
}

pub(super) struct Intervals {
    limit: usize,
    near: NearGc,
    held: usize,
    recent: VecDeque<(DeviceId, GcSpan)>,
    lost_until: SimTime,
}

impl Intervals {
    pub fn new(limit: usize) -> Self {
        let recent = VecDeque::new();
        Intervals { limit, near: NearGc::default(), held: 0, recent, lost_until: SimTime::ZERO }
    }

    pub fn begin(&mut self, members: usize) {
        self.near.members = vec![Vec::new(); members];
    }

    pub fn record(&mut self, member: DeviceId, span: GcSpan) {
        self.recent.push_back((member, span));
        let gap_ns = self.near.gap_ns;
        let spans = &mut self.near.members[member.index()];
        self.held += usize::from(!joins(spans, span, gap_ns));
        let members = self.near.members.len();
        while self.held > self.limit.max(members) {
            self.widen();
        }
    }

    /// Joins across gaps twice as wide.
    fn widen(&mut self) {
        self.near.gap_ns = (self.near.gap_ns * 2).max(FIRST_GAP_NS);
        for spans in &mut self.near.members {
            let all = std::mem::take(spans);
            for span in all {
                joins(spans, span, self.near.gap_ns);
            }
        }
        self.held = self.near.members.iter().map(Vec::len).sum();
    }

    pub fn recent_is_full(&self) -> bool {
        self.recent.len() >= RECENT_MAX
    }

    /// Forgets recent intervals that nothing needs, the young ones apart; if that is not enough, the oldest. The
    /// answer is the end of the last needed one forgotten.
    pub fn drop_recent(&mut self, needed: impl Fn(&GcSpan) -> bool) -> Option<SimTime> {
        let young_from = self.recent.len().saturating_sub(YOUNG);
        let mut position = 0;
        let mut lost_until = self.lost_until;
        self.recent.retain(|(_, span)| {
            position += 1;
            let stays = position > young_from || needed(span);
            if !stays {
                lost_until = lost_until.max(span.end);
            }
            stays
        });
        let too_many = self.recent.len().saturating_sub(RECENT_MAX / 2);
        let forced = self.recent.drain(..too_many).map(|(_, span)| span.end).max();
        self.lost_until = forced.map_or(lost_until, |end| end.max(lost_until));
        forced
    }

    /// Exact intervals that ended before may be lost.
    pub fn lost_until(&self) -> SimTime {
        self.lost_until
    }

    /// By member, the intervals held that touch this stretch of time.
    pub fn exact(&self, from: SimTime, to: SimTime) -> Vec<Vec<GcSpan>> {
        let mut members = vec![Vec::new(); self.near.members.len()];
        for (member, span) in self.recent.iter().filter(|(_, span)| span.start <= to && span.end >= from) {
            members[member.index()].push(*span);
        }
        members
    }

    pub fn finish(self) -> NearGc {
        self.near
    }
}

/// Adds a span to those before it; true if it joined the last one.
fn joins(spans: &mut Vec<GcSpan>, span: GcSpan, gap_ns: u64) -> bool {
    match spans.last_mut() {
        Some(last) if gap_ns > 0 && span.start.saturating_since(last.end).as_ns() <= gap_ns => {
            last.end = last.end.max(span.end);
            last.busy_ns += span.busy_ns;
            true
        }
        _ => {
            spans.push(span);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Intervals {
        let mut intervals = Intervals::new(usize::MAX);
        intervals.begin(1);
        for at in 0..RECENT_MAX as u64 {
            assert!(!intervals.recent_is_full());
            intervals.record(DeviceId(0), GcSpan::exact(SimTime(10 * at), SimTime(10 * at + 5)));
        }
        assert!(intervals.recent_is_full());
        intervals
    }

    #[test]
    fn what_nothing_needs_is_forgotten_but_the_young() {
        let mut intervals = full();
        assert_eq!(
            intervals.drop_recent(|span| span.start == SimTime(70)),
            None,
            "nothing needed is forgotten"
        );
        assert_eq!(intervals.recent.len(), YOUNG + 1);
        assert_eq!(intervals.recent[0].1.start, SimTime(70));
        let last = 10 * (RECENT_MAX - YOUNG - 1) as u64 + 5;
        assert_eq!(intervals.lost_until, SimTime(last));
    }

    #[test]
    fn where_all_is_needed_the_oldest_half_goes_and_its_end_is_told() {
        let mut intervals = full();
        let last = 10 * (RECENT_MAX / 2 - 1) as u64 + 5;
        assert_eq!(intervals.drop_recent(|_| true), Some(SimTime(last)));
        assert_eq!((intervals.recent.len(), intervals.lost_until), (RECENT_MAX / 2, SimTime(last)));
    }
}
