//! What redundancy makes of writes: counters of an array whose level has parity or copies.
//!
//! The array crate counts and converts, as devices do. Warm-up is discarded by [`RedundancyReport::since`].
//!
//! Not measured: parity pages written, which [`ArrayReport`](crate::ArrayReport) takes from the members' programs.

use serde::{Deserialize, Serialize};

/// The report's `array.redundancy`, absent where the level has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedundancyReport {
    /// Times an operation on stripes waited because another one was changing one of them. Unit: count.
    pub stripe_waits: u64,
    /// Writes of a part of a stripe whose new parity was made of the old data and the old parity. Unit: count.
    pub small_writes_read_modify_write: u64,
    /// Writes of a part of a stripe whose new parity was made of the rest of the stripe, read for it. Unit: count.
    pub small_writes_reconstruct: u64,
    /// Writes of whole stripes, whose parity needs no reads. Unit: count.
    pub full_stripe_writes: u64,
    /// Pages read so that parity could be computed. Unit: pages.
    pub pre_reads: u64,
    /// Length of trims that did nothing, because parity would no longer match. Unit: bytes.
    pub trims_ignored_bytes: u64,
}

impl RedundancyReport {
    /// What was counted after `start`: the measured window, with warm-up discarded.
    ///
    /// # Panics
    /// If a counter is below its value at `start`.
    pub fn since(&self, start: &RedundancyReport) -> RedundancyReport {
        let since = |now: u64, then| now.checked_sub(then).expect("a counter must never run backwards");
        RedundancyReport {
            stripe_waits: since(self.stripe_waits, start.stripe_waits),
            small_writes_read_modify_write: since(
                self.small_writes_read_modify_write,
                start.small_writes_read_modify_write,
            ),
            small_writes_reconstruct: since(self.small_writes_reconstruct, start.small_writes_reconstruct),
            full_stripe_writes: since(self.full_stripe_writes, start.full_stripe_writes),
            pre_reads: since(self.pre_reads, start.pre_reads),
            trims_ignored_bytes: since(self.trims_ignored_bytes, start.trims_ignored_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every counter a different number, so that a swapped field shows.
    fn counted(times: u64) -> RedundancyReport {
        RedundancyReport {
            stripe_waits: times,
            small_writes_read_modify_write: 2 * times,
            small_writes_reconstruct: 3 * times,
            full_stripe_writes: 4 * times,
            pre_reads: 5 * times,
            trims_ignored_bytes: 6 * times,
        }
    }

    #[test]
    fn what_came_before_the_window_is_discarded() {
        assert_eq!(counted(5).since(&counted(3)), counted(2));
    }

    #[test]
    #[should_panic(expected = "never run backwards")]
    fn a_counter_that_runs_backwards_is_found() {
        counted(2).since(&RedundancyReport { pre_reads: 11, ..counted(2) });
    }
}
