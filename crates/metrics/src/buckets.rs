//! Sums by bucket of time: when there are too many buckets, each two become one.
//!
//! ```text
//!   | 3 | 1 | 4 | 1 |        four buckets are the most: the next one needs room
//!   |   4   |   5   | open   twice as wide
//! ```
//!
//! How wide they are at the end depends on how long the window was and on nothing else, so that all lanes of a device,
//! and devices and runs of about one length, have them alike.

use harmonia_types::SimTime;

/// Buckets that are whole stay below this.
pub const BUCKETS_MAX: usize = 128;
/// How wide they are at the beginning. Unit: ns.
const FIRST_WIDTH_NS: u64 = 1 << 14;

#[derive(Debug, Clone)]
pub(crate) struct Buckets {
    from: SimTime,
    pub width_ns: u64,
    /// When the open one is whole.
    pub until: SimTime,
    pub open: u128,
    pub whole: Vec<u128>,
}

impl Buckets {
    pub fn new(from: SimTime) -> Self {
        let until = SimTime(from.0.saturating_add(FIRST_WIDTH_NS));
        Buckets { from, width_ns: FIRST_WIDTH_NS, until, open: 0, whole: Vec::with_capacity(BUCKETS_MAX) }
    }

    /// Puts so much in the bucket of a moment, which may be before those of earlier calls.
    #[inline]
    pub fn add(&mut self, at: SimTime, amount: u64) {
        if at >= self.until {
            self.close_before(at);
        }
        // The width is a power of two.
        let place = (at.0.saturating_sub(self.from.0) >> self.width_ns.trailing_zeros()) as usize;
        let bucket = self.whole.get_mut(place).unwrap_or(&mut self.open);
        *bucket += u128::from(amount);
    }

    /// Buckets that end by a moment are whole.
    #[cold]
    fn close_before(&mut self, at: SimTime) {
        while at >= self.until {
            self.close();
        }
    }

    /// The open bucket is whole.
    pub fn close(&mut self) {
        self.whole.push(std::mem::take(&mut self.open));
        if self.whole.len() == BUCKETS_MAX {
            self.halve();
        }
        let whole = self.whole.len() as u64 + 1;
        self.until = SimTime(self.from.0.saturating_add(whole.saturating_mul(self.width_ns)));
    }

    fn halve(&mut self) {
        for pair in 0..BUCKETS_MAX / 2 {
            self.whole[pair] = self.whole[2 * pair] + self.whole[2 * pair + 1];
        }
        self.whole.truncate(BUCKETS_MAX / 2);
        self.width_ns *= 2;
    }
}
