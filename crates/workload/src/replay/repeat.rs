//! A trace replayed several times, one copy behind the other.
//!
//! ```text
//!   copy 1: |r0 . r1 ..... r2|gap|r0 . r1 ..... r2|gap|r0 ...
//!            <------ period ----->
//! ```
//!
//! The first request of a copy comes one mean gap of the trace behind the last request of the copy before, so that the
//! rate goes on. A copy asks for the same addresses as the first. A trace of one request, or of one moment, has no mean
//! gap, and its copies all come at that moment. What reading a copy leaves in the log is counted for every copy.
//!
//! Every copy reads the files again from the start, so memory does not grow with their number.

use harmonia_trace::{ReadLog, Trace, TraceError, TraceReader, TraceRecord};

/// The records of all copies of a trace.
pub(super) struct Repeated {
    trace: Trace,
    reader: TraceReader,
    /// Copies behind this one.
    left: u32,
    /// Added to the times of this copy, in ns.
    shift_ns: u64,
    copy: Copy,
    /// Of the copies before this one.
    log: ReadLog,
}

/// What was read of a copy so far.
#[derive(Clone, Default)]
struct Copy {
    rows: u64,
    first_ns: u64,
    last_ns: u64,
}

impl Copy {
    #[inline]
    fn see(&mut self, time_ns: u64) {
        if self.rows == 0 {
            self.first_ns = time_ns;
        }
        self.last_ns = time_ns;
        self.rows += 1;
    }

    /// From its first request to the first of the copy behind it: its own length and a mean gap, rounded down.
    fn period_ns(&self) -> u64 {
        let length_ns = self.last_ns - self.first_ns;
        length_ns.saturating_add(length_ns / self.rows.saturating_sub(1).max(1))
    }
}

impl Repeated {
    /// At the first record of `copies` copies; at least 1.
    pub(super) fn new(trace: &Trace, copies: u32) -> Result<Self, TraceError> {
        Ok(Repeated {
            reader: trace.records()?,
            trace: trace.clone(),
            left: copies.saturating_sub(1),
            shift_ns: 0,
            copy: Copy::default(),
            log: ReadLog::default(),
        })
    }

    /// The same again, its file read up to where this one stands.
    pub(super) fn fork(&self) -> Result<Self, TraceError> {
        let mut reader = self.trace.records()?;
        for _ in 0..self.copy.rows {
            reader.next_record()?;
        }
        let Repeated { trace, left, shift_ns, copy, log, .. } = self;
        let (trace, copy, log) = (trace.clone(), copy.clone(), log.clone());
        Ok(Repeated { trace, reader, left: *left, shift_ns: *shift_ns, copy, log })
    }

    /// The next record, its time counted from the first record of the first copy; `None` behind the last copy.
    #[inline]
    pub(super) fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        loop {
            if let Some(record) = self.reader.next_record()? {
                self.copy.see(record.time_ns);
                let time_ns = record.time_ns.checked_add(self.shift_ns).ok_or_else(|| self.too_late())?;
                return Ok(Some(TraceRecord { time_ns, ..record }));
            }
            if self.left == 0 {
                return Ok(None);
            }
            self.begin_copy()?;
        }
    }

    #[cold]
    fn begin_copy(&mut self) -> Result<(), TraceError> {
        self.shift_ns = self.shift_ns.checked_add(self.copy.period_ns()).ok_or_else(|| self.too_late())?;
        self.log.absorb(self.reader.log());
        self.reader = self.trace.records()?;
        self.copy = Copy::default();
        self.left -= 1;
        Ok(())
    }

    #[cold]
    fn too_late(&self) -> TraceError {
        self.error("repeated so often, the trace goes on beyond 2^64 ns (584 years)".to_owned())
    }

    /// The reader of this copy: it knows the record given last.
    pub(super) fn reader(&self) -> &TraceReader {
        &self.reader
    }

    /// What was done so far to the rows of all copies beside reading them.
    pub(super) fn log(&self) -> ReadLog {
        let mut log = self.log.clone();
        log.absorb(self.reader.log());
        log
    }

    /// An error about the record given last.
    pub(super) fn error(&self, problem: String) -> TraceError {
        self.reader.error(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn period_ns(times: &[u64]) -> u64 {
        let mut copy = Copy::default();
        times.iter().for_each(|&time_ns| copy.see(time_ns));
        copy.period_ns()
    }

    #[test]
    fn a_copy_follows_one_mean_gap_behind() {
        assert_eq!(period_ns(&[0, 10, 40]), 40 + 20);
        assert_eq!(
            period_ns(&[100, 110, 145]),
            45 + 22,
            "rounded down; what comes before the first is no part"
        );
        assert_eq!(period_ns(&[7]), 0);
        assert_eq!(period_ns(&[7, 7, 7]), 0);
    }
}
