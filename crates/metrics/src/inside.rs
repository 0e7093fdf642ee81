//! Garbage collection and the host inside a die: pages taken along, host operations let in, commands suspended.
//!
//! A schedule that pairs offers, with each page that garbage collection reads or programs, a place in every sibling
//! plane. Each place is matched by a host operation, or is not for one of three reasons; the four sum to the offers.
//!
//! The longest queue is a maximum, which no difference of two readings tells: devices count it anew where the measured
//! window begins, so a later reading *is* that of the window.

use serde::{Deserialize, Serialize};

use crate::device::ratio;

/// Places in commands of garbage collection; offered = matched + none_waiting + other_offset + not_ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// Places in sibling planes of the pages that garbage collection read, or programmed. Unit: count.
    pub offered: u64,
    /// Taken by a host operation. Unit: count.
    pub matched: u64,
    /// Empty: no operation of the type waited for the plane. Unit: count.
    pub none_waiting: u64,
    /// Empty: what waited was for another page offset. Unit: count.
    pub other_offset: u64,
    /// Empty: what fitted was not there yet, or had to wait for another on its page. Unit: count.
    pub not_ready: u64,
}

/// Running totals of what happened inside the dies of a device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InsideCounters {
    /// The schedule takes host operations along, so that what it offered means something.
    pub pairs: bool,
    /// Places for reads.
    pub reads: Pairing,
    /// Places for writes.
    pub writes: Pairing,
    /// Host reads answered by garbage collection's own read of their page. Unit: count.
    pub merged_reads: u64,
    /// Moves given up because the host overwrote the page meanwhile. Unit: count.
    pub superseded_moves: u64,
    /// Host commands run while an event of their die was under way. Unit: count.
    pub preemptions: u64,
    /// Times a program or erase of garbage collection was suspended. Unit: count.
    pub suspends: u64,
    /// GC events begun. Unit: count.
    pub events: u64,
    /// Host operations that waited at the dies when these began, in all. Unit: count.
    pub waiting: u64,
    /// Most that waited at once since the window began. Unit: count.
    pub most_waiting: u64,
}

/// The report's `inside` sections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct InsideReport {
    /// Host operations taken along in commands of garbage collection; null where the schedule never does that.
    pub pairing: Option<PairingReport>,
    /// Host reads answered by garbage collection's own read of their page. Unit: count.
    pub merged_reads: u64,
    /// Moves given up because the host overwrote the page meanwhile. Unit: count.
    pub superseded_moves: u64,
    /// Host commands run while an event of their die was under way. Unit: count.
    pub preemptions: u64,
    /// Times a program or erase of garbage collection was suspended. Unit: count.
    pub suspends: u64,
    /// Host operations waiting at a die when it began to collect.
    pub queue_depth_at_gc: QueueDepthReport,
}

/// The report's `pairing`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairingReport {
    /// Beside pages that garbage collection read.
    pub reads: Pairing,
    /// Beside pages that it programmed.
    pub writes: Pairing,
}

/// Host operations waiting at a die when it began to collect; null without an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueDepthReport {
    /// Mean over events. Unit: operations.
    pub mean: Option<f64>,
    /// Most at any event. Unit: operations.
    pub max: Option<u64>,
}

impl Pairing {
    fn zip(&self, other: &Pairing, combine: impl Fn(u64, u64) -> u64) -> Pairing {
        Pairing {
            offered: combine(self.offered, other.offered),
            matched: combine(self.matched, other.matched),
            none_waiting: combine(self.none_waiting, other.none_waiting),
            other_offset: combine(self.other_offset, other.other_offset),
            not_ready: combine(self.not_ready, other.not_ready),
        }
    }

    /// Both together.
    pub fn plus(&self, other: &Pairing) -> Pairing {
        self.zip(other, |a, b| a + b)
    }
}

impl InsideCounters {
    /// What was counted after `start`, where the device's maxima began anew.
    ///
    /// # Panics
    /// If a counter is below its value at `start`.
    pub fn since(&self, start: &InsideCounters) -> InsideCounters {
        let since = |now: u64, then| now.checked_sub(then).expect("a counter must never run backwards");
        InsideCounters { pairs: self.pairs, most_waiting: self.most_waiting, ..self.zip(start, since) }
    }

    /// Both together.
    pub fn plus(&self, other: &InsideCounters) -> InsideCounters {
        self.zip(other, |a, b| a + b)
    }

    /// Combines counter by counter; of maxima the larger stays, and it pairs if either does.
    fn zip(&self, other: &InsideCounters, combine: impl Fn(u64, u64) -> u64) -> InsideCounters {
        InsideCounters {
            pairs: self.pairs || other.pairs,
            reads: self.reads.zip(&other.reads, &combine),
            writes: self.writes.zip(&other.writes, &combine),
            merged_reads: combine(self.merged_reads, other.merged_reads),
            superseded_moves: combine(self.superseded_moves, other.superseded_moves),
            preemptions: combine(self.preemptions, other.preemptions),
            suspends: combine(self.suspends, other.suspends),
            events: combine(self.events, other.events),
            waiting: combine(self.waiting, other.waiting),
            most_waiting: self.most_waiting.max(other.most_waiting),
        }
    }
}

impl InsideReport {
    /// The report of what was counted in the measured window.
    pub fn new(counters: &InsideCounters) -> Self {
        let InsideCounters { pairs, reads, writes, merged_reads, superseded_moves, .. } = *counters;
        InsideReport {
            pairing: pairs.then_some(PairingReport { reads, writes }),
            merged_reads,
            superseded_moves,
            preemptions: counters.preemptions,
            suspends: counters.suspends,
            queue_depth_at_gc: QueueDepthReport {
                mean: ratio(counters.waiting, counters.events),
                max: (counters.events > 0).then_some(counters.most_waiting),
            },
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Every counter a different number, so that a swapped field shows.
    pub(crate) const COUNTED: InsideCounters = InsideCounters {
        pairs: true,
        reads: Pairing { offered: 10, matched: 1, none_waiting: 2, other_offset: 3, not_ready: 4 },
        writes: Pairing { offered: 26, matched: 5, none_waiting: 6, other_offset: 7, not_ready: 8 },
        merged_reads: 11,
        superseded_moves: 12,
        preemptions: 13,
        suspends: 14,
        events: 16,
        waiting: 40,
        most_waiting: 17,
    };

    #[test]
    fn what_came_before_the_window_is_discarded_and_a_maximum_is_the_windows_own() {
        let warm = InsideCounters { most_waiting: 900, ..COUNTED };
        let later = InsideCounters { most_waiting: 17, ..COUNTED.plus(&COUNTED) };
        assert_eq!(later.since(&warm), COUNTED);
    }

    #[test]
    fn of_several_devices_counts_add_up_and_the_longest_queue_stays() {
        let other = InsideCounters { pairs: false, most_waiting: 30, ..COUNTED };
        let both = COUNTED.plus(&other);
        assert_eq!((both.pairs, both.most_waiting, both.events), (true, 30, 32));
        assert_eq!((both.reads.matched, both.writes.not_ready, both.suspends), (2, 16, 28));
    }

    #[test]
    #[should_panic(expected = "never run backwards")]
    fn a_counter_that_runs_backwards_is_found() {
        COUNTED.since(&InsideCounters { suspends: 15, ..COUNTED });
    }

    #[test]
    fn each_counter_comes_under_its_key() {
        let report = InsideReport::new(&COUNTED);
        let InsideReport { pairing, merged_reads, superseded_moves, preemptions, suspends, .. } = report;
        assert_eq!(pairing, Some(PairingReport { reads: COUNTED.reads, writes: COUNTED.writes }));
        assert_eq!((merged_reads, superseded_moves, preemptions, suspends), (11, 12, 13, 14));
        assert_eq!(report.queue_depth_at_gc, QueueDepthReport { mean: Some(2.5), max: Some(17) });
    }

    #[test]
    fn a_schedule_that_never_pairs_and_a_run_without_events_say_so_by_null() {
        let none = InsideReport::new(&InsideCounters::default());
        assert_eq!((none.pairing, none.queue_depth_at_gc), (None, QueueDepthReport::default()));
    }
}
