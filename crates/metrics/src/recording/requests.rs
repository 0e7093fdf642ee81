//! Single requests that are kept, and the even sample among them.

use harmonia_types::{Completion, sort_by_numbers};

/// Why a request was kept, as a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Why(u8);

impl Why {
    /// It belongs to the even sample.
    pub const SAMPLE: Why = Why(1);
    /// It is the slowest of those that arrived in its slice of time.
    pub const SLOWEST: Why = Why(2);
    /// It belongs to a window of which every request is kept.
    pub const WINDOW: Why = Why(4);

    /// The set as bits.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// A request that was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// The request.
    pub completion: Completion,
    /// What for.
    pub why: Why,
}

/// Whether one request took longer than another; of equals the earlier one counts as slower.
pub(super) fn slower(one: &Completion, other: &Completion) -> bool {
    (one.response(), other.id) > (other.response(), one.id)
}

/// In the order of ids, each once.
pub(super) fn joined(mut kept: Vec<Kept>) -> Vec<Kept> {
    sort_by_numbers(&mut kept, |kept| (kept.completion.id, 0));
    kept.dedup_by(|next, first| {
        let same = next.completion.id == first.completion.id;
        if same {
            first.why.0 |= next.why.0;
        }
        same
    });
    kept
}

/// Every request whose id is a multiple of a stride, which doubles whenever there are too many.
pub(super) struct Sample {
    kept: Vec<Completion>,
    limit: usize,
    stride: u64,
}

impl Sample {
    pub fn new(limit: usize) -> Self {
        Sample { kept: Vec::with_capacity(limit + 1), limit, stride: 1 }
    }

    pub fn stride(&self) -> u64 {
        self.stride
    }

    pub fn record(&mut self, completion: &Completion) {
        if completion.id & (self.stride - 1) != 0 {
            return;
        }
        self.kept.push(*completion);
        while self.kept.len() > self.limit {
            self.stride *= 2;
            let stride = self.stride;
            self.kept.retain(|kept| kept.id & (stride - 1) == 0);
        }
    }

    pub fn finish(self) -> Vec<Kept> {
        self.kept.into_iter().map(|completion| Kept { completion, why: Why::SAMPLE }).collect()
    }
}
