//! The rows of one file in the order of time: late ones sorted in, those that share a tick of a coarse clock spread.
//!
//! A row may be late by up to the sort window: it is held until no row that belongs before it can come. Later than that
//! is malformed, like a row that goes back in time where the window is 0. Rows with equal times keep the file's order.
//! What is held is bounded: a window with more rows than [`HELD_MAX`] is refused.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use super::super::record::{Row, VolumeNames};
use super::{Place, Problem, ReadLog, RowReader, TraceError, TraceInput};

/// Most rows held back at once: about 300 MB.
const HELD_MAX: usize = 1 << 22;

/// Why a row was mended here.
const SORTED: &str = "out of order, sorted by time";
const SPREAD: &str = "at the same tick of a coarse clock, spread evenly up to the next";

/// A row that is held back, where it stood, and how long it took when it was recorded.
#[derive(Debug, Clone, Copy)]
struct Placed {
    row: Row,
    place: Place,
    response_ns: u64,
}

/// What all files of a trace share while they are read.
#[derive(Debug, Default)]
pub(super) struct Tolerance {
    pub(super) log: ReadLog,
    /// Malformed rows that are still tolerated.
    pub(super) bad_left: u64,
}

/// The rows of one file in the order of time.
pub(super) struct Ordered {
    rows: Box<dyn RowReader>,
    input: Arc<TraceInput>,
    window_ns: u64,
    /// Ticks to spread the rows over; 0: not at all.
    tick_ns: u64,
    latest_ns: u64,
    rows_read: u64,
    late: BinaryHeap<Reverse<Held>>,
    ended: bool,
    /// Rows of one tick, spread already.
    tick: VecDeque<Placed>,
    /// The first row behind them.
    ahead: Option<Placed>,
    /// Where the row given last stood and how long it took, if rows are held back.
    at: (Place, u64),
}

/// A row held back: ordered by time, then by its place among the rows.
struct Held {
    key: (u64, u64),
    placed: Placed,
}

impl Ordered {
    pub(super) fn new(
        rows: Box<dyn RowReader>,
        input: Arc<TraceInput>,
        window_ns: u64,
        tick_ns: u64,
    ) -> Self {
        Ordered {
            rows,
            input,
            window_ns,
            tick_ns,
            latest_ns: 0,
            rows_read: 0,
            late: BinaryHeap::new(),
            ended: false,
            tick: VecDeque::new(),
            ahead: None,
            at: (Place::File, 0),
        }
    }

    /// The volumes of the rows so far.
    pub(super) fn volumes(&self) -> &VolumeNames {
        self.rows.volumes()
    }

    /// Whether rows may have placement handles.
    pub(super) fn has_handles(&self) -> bool {
        self.rows.has_handles()
    }

    /// UTC at time 0 of the rows, in ns since 1970, where the file has said so by now.
    pub(super) fn zero_utc_ns(&self) -> Option<i128> {
        self.rows.zero_utc_ns()
    }

    /// Words for a file that turned out to have no row.
    pub(super) fn no_rows(&self) -> String {
        self.rows.no_rows()
    }

    /// Ticks its rows are spread over, in ns; 0 if they are not.
    pub(super) fn tick_ns(&self) -> u64 {
        self.tick_ns
    }

    /// An error about a place of the file.
    pub(super) fn error(&self, place: Place, problem: String) -> TraceError {
        self.input.error_at(place, problem)
    }

    /// Where the row given last stood.
    pub(super) fn place(&self) -> Place {
        if self.holds_back() { self.at.0 } else { self.rows.place() }
    }

    /// How long the row given last took when it was recorded, in ns; 0 where the file does not say.
    pub(super) fn response_ns(&self) -> u64 {
        if self.holds_back() { self.at.1 } else { self.rows.response_ns() }
    }

    /// The next row; times never go back.
    #[inline]
    pub(super) fn next(&mut self, shared: &mut Tolerance) -> Result<Option<Row>, TraceError> {
        if self.holds_back() {
            return self.next_placed(shared);
        }
        let row = self.next_well_formed(shared)?;
        if let Some(row) = &row {
            self.latest_ns = row.time_ns;
        }
        Ok(row)
    }

    /// Whether rows are given later than they are read.
    #[inline]
    fn holds_back(&self) -> bool {
        self.window_ns > 0 || self.tick_ns > 0
    }

    #[inline(never)]
    fn next_placed(&mut self, shared: &mut Tolerance) -> Result<Option<Row>, TraceError> {
        let placed = if self.tick_ns > 0 { self.next_spread(shared)? } else { self.next_sorted(shared)? };
        self.at = placed.map_or((Place::File, 0), |placed| (placed.place, placed.response_ns));
        Ok(placed.map(|placed| placed.row))
    }

    fn next_spread(&mut self, shared: &mut Tolerance) -> Result<Option<Placed>, TraceError> {
        if let Some(placed) = self.tick.pop_front() {
            return Ok(Some(placed));
        }
        let first = match self.ahead.take() {
            Some(first) => first,
            None => match self.next_sorted(shared)? {
                Some(first) => first,
                None => return Ok(None),
            },
        };
        self.tick.push_back(first);
        while let Some(next) = self.next_sorted(shared)? {
            if next.row.time_ns / self.tick_ns != first.row.time_ns / self.tick_ns {
                self.ahead = Some(next);
                break;
            }
            self.tick.push_back(next);
            if self.tick.len() > HELD_MAX {
                let problem = format!(
                    "found more than {HELD_MAX} rows at one tick of {} ns: is the time unit right? (spread = false reads them as they are)",
                    self.tick_ns
                );
                return Err(self.error(next.place, problem));
            }
        }
        self.spread(shared);
        Ok(self.tick.pop_front())
    }

    /// Moves the rows of a tick apart: the k-th of n to k/n of it.
    fn spread(&mut self, shared: &mut Tolerance) {
        let count = self.tick.len() as u64;
        let start = self.tick.front().map_or(0, |first| first.row.time_ns / self.tick_ns * self.tick_ns);
        for (index, placed) in (0u64..).zip(&mut self.tick) {
            let shift = u128::from(self.tick_ns) * u128::from(index) / u128::from(count);
            let time_ns = start.saturating_add(shift as u64);
            if time_ns != placed.row.time_ns {
                shared.log.repair(SPREAD);
                placed.row.time_ns = time_ns;
            }
        }
    }

    fn next_sorted(&mut self, shared: &mut Tolerance) -> Result<Option<Placed>, TraceError> {
        if self.window_ns > 0 {
            return self.next_held(shared);
        }
        let row = self.next_well_formed(shared)?;
        self.latest_ns = row.map_or(self.latest_ns, |row| row.time_ns);
        Ok(row.map(|row| self.placed(row)))
    }

    /// The row just read, with what goes with it.
    fn placed(&self, row: Row) -> Placed {
        Placed { row, place: self.rows.place(), response_ns: self.rows.response_ns() }
    }

    fn next_held(&mut self, shared: &mut Tolerance) -> Result<Option<Placed>, TraceError> {
        loop {
            if let Some(Reverse(held)) = self.late.peek() {
                // A row to come may be as early as latest - window; one at that very time stands behind this one.
                if self.ended || held.key.0 <= self.latest_ns.saturating_sub(self.window_ns) {
                    return Ok(self.late.pop().map(|Reverse(held)| held.placed));
                }
            }
            if self.ended {
                return Ok(None);
            }
            let Some(row) = self.next_well_formed(shared)? else {
                self.ended = true;
                continue;
            };
            let (time_ns, placed) = (row.time_ns, self.placed(row));
            if time_ns < self.latest_ns {
                shared.log.repair(SORTED);
            }
            self.latest_ns = self.latest_ns.max(time_ns);
            self.late.push(Reverse(Held { key: (time_ns, self.rows_read), placed }));
            if self.late.len() > HELD_MAX {
                let problem = format!(
                    "found more than {HELD_MAX} rows within a sort window of {} ns: choose a smaller one",
                    self.window_ns
                );
                return Err(self.error(placed.place, problem));
            }
        }
    }

    /// The next row that is well formed and not too late, after tolerating those that are not.
    #[inline]
    fn next_well_formed(&mut self, shared: &mut Tolerance) -> Result<Option<Row>, TraceError> {
        loop {
            let problem = match self.rows.next_row(&mut shared.log) {
                Ok(Some(row))
                    if self.rows_read > 0 && row.time_ns < self.latest_ns.saturating_sub(self.window_ns) =>
                {
                    self.too_late(row.time_ns)
                }
                Ok(Some(row)) => {
                    self.rows_read += 1;
                    return Ok(Some(row));
                }
                Ok(None) => return Ok(None),
                Err(problem) => problem,
            };
            self.tolerate(problem, shared)?;
        }
    }

    #[cold]
    fn tolerate(&self, problem: Problem, shared: &mut Tolerance) -> Result<(), TraceError> {
        match problem {
            Problem::File(problem) => Err(self.input.error(problem)),
            Problem::Row(problem) => {
                let error = self.error(self.rows.place(), problem);
                if shared.bad_left == 0 {
                    return Err(error);
                }
                shared.bad_left -= 1;
                shared.log.tolerate(&error);
                Ok(())
            }
        }
    }

    #[cold]
    fn too_late(&self, time_ns: u64) -> Problem {
        let late = seconds(self.latest_ns - time_ns);
        Problem::Row(match self.window_ns {
            0 => format!(
                "found a time {late} before that of the row before, expected rows in time order: allow for it with sort_window"
            ),
            window => format!(
                "found a time {late} before that of an earlier row, expected at most {}: widen sort_window",
                seconds(window)
            ),
        })
    }
}

/// A length of time for a person.
fn seconds(ns: u64) -> String {
    format!("{} s", ns as f64 / 1e9)
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}
