//! Response times of all requests by slice of time: a small histogram a slice.
//!
//! When time runs out of slices each two become one, so their number is bounded and none is estimated: counts are
//! exact and a percentile is the cell that holds the request of that rank. Cells divide each octave into eight.

use harmonia_types::{Completion, SimTime};

use super::requests::slower;

/// Cells of a slice's histogram.
pub const CELLS: usize = 256;
/// Cells of an octave.
pub const CELLS_PER_OCTAVE: u32 = 8;
/// The first cell begins at 2 to this power of nanoseconds; shorter responses are counted in it.
pub const FIRST_OCTAVE: u32 = 8;

/// Length of a slice at the beginning. Unit: ns.
const FIRST_WIDTH_NS: u64 = 1 << 14;

/// One slice; cells are those of the response times of the requests that arrived in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Slice {
    /// Requests. Unit: count.
    pub count: u64,
    /// Cell of the median; 0 where there is no request, as below.
    pub p50: u8,
    /// Cell of the 99th percentile: the slowest, if there are under 100 requests.
    pub p99: u8,
    /// Cell of the slowest.
    pub max: u8,
}

/// The whole run in slices of one length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Length of a slice. Unit: ns.
    pub width_ns: u64,
    /// From the beginning of the measured window; the last one may reach beyond its end.
    pub slices: Vec<Slice>,
}

/// The cell of a response time.
pub(super) fn cell(ns: u64) -> u8 {
    let octave = ns.max(1).ilog2();
    if octave < FIRST_OCTAVE {
        return 0;
    }
    let part = (ns >> (octave - CELLS_PER_OCTAVE.ilog2())) as u32 & (CELLS_PER_OCTAVE - 1);
    ((octave - FIRST_OCTAVE) * CELLS_PER_OCTAVE + part).min(CELLS as u32 - 1) as u8
}

pub(super) struct Slices {
    from: SimTime,
    width_ns: u64,
    /// A row of [`CELLS`] for each slice.
    counts: Vec<u32>,
    slowest: Vec<Option<Completion>>,
    used: usize,
}

impl Slices {
    pub fn new(slices: usize) -> Self {
        let (counts, slowest) = (vec![0; slices * CELLS], vec![None; slices]);
        Slices { from: SimTime::ZERO, width_ns: FIRST_WIDTH_NS, counts, slowest, used: 0 }
    }

    pub fn begin(&mut self, from: SimTime) {
        self.from = from;
    }

    pub fn record(&mut self, completion: &Completion) {
        let since = completion.arrival.saturating_since(self.from).as_ns();
        while since / self.width_ns >= self.slowest.len() as u64 {
            self.halve();
        }
        let slice = (since / self.width_ns) as usize;
        self.used = self.used.max(slice + 1);
        let count = &mut self.counts[slice * CELLS + usize::from(cell(completion.response().as_ns()))];
        *count = count.saturating_add(1);
        let slowest = &mut self.slowest[slice];
        if slowest.is_none_or(|kept| slower(completion, &kept)) {
            *slowest = Some(*completion);
        }
    }

    /// Each two slices become one.
    fn halve(&mut self) {
        join_rows(&mut self.counts);
        let slices = self.slowest.len();
        for pair in 0..slices / 2 {
            let (first, second) = (self.slowest[2 * pair], self.slowest[2 * pair + 1]);
            self.slowest[pair] = match (first, second) {
                (Some(first), Some(second)) => Some(if slower(&second, &first) { second } else { first }),
                (one, other) => one.or(other),
            };
        }
        self.slowest[slices / 2..].fill(None);
        self.used = self.used.div_ceil(2);
        self.width_ns *= 2;
    }

    /// The slowest request of each slice of the finest level.
    pub fn slowest(&self) -> impl Iterator<Item = Completion> {
        self.slowest.iter().filter_map(|slowest| *slowest)
    }

    /// From the finest down to one of at most 64 slices.
    pub fn levels(mut self) -> Vec<Level> {
        let mut levels = Vec::new();
        loop {
            let rows = self.counts.chunks_exact(CELLS).take(self.used);
            levels.push(Level { width_ns: self.width_ns, slices: rows.map(slice_of).collect() });
            if self.used <= 64 {
                return levels;
            }
            self.halve();
        }
    }
}

/// Adds each second row to the one before it, and moves them together.
fn join_rows(counts: &mut [u32]) {
    let half = counts.len() / 2;
    for target in 0..half {
        let (pair, cell) = (target / CELLS, target % CELLS);
        let source = 2 * pair * CELLS + cell;
        counts[target] = counts[source].saturating_add(counts[source + CELLS]);
    }
    counts[half..].fill(0);
}

fn slice_of(row: &[u32]) -> Slice {
    let count: u64 = row.iter().map(|&count| u64::from(count)).sum();
    let at = |rank: u64| {
        let mut below = 0;
        let reached = row.iter().position(|&count| {
            below += u64::from(count);
            below >= rank
        });
        reached.unwrap_or(0) as u8
    };
    if count == 0 {
        return Slice::default();
    }
    Slice { count, p50: at(count.div_ceil(2)), p99: at((count * 99).div_ceil(100)), max: at(count) }
}
