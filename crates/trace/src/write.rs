//! Writing a trace in another format, so that a workload can be replayed elsewhere.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use crate::{TraceRecord, VolumeNames};

/// Where a trace is written to: each call may be one of the operating system, so writers gather what they write.
pub type Out = Box<dyn Write + Send>;

/// Writers hand over line by line; files and packers like more at once.
const BUFFER: usize = 256 << 10;

/// The buffer of a writer that has none of its own: an output gathers nothing.
pub(crate) fn buffered(out: Out) -> BufWriter<Out> {
    BufWriter::with_capacity(BUFFER, out)
}

/// Writes one trace in one format, from its first record to its last.
pub trait TraceWriter: Send {
    /// Takes note of the clock time at time 0 of the records: UTC, in ns since 1970. Told before the first record that is
    /// written, where it is known; a format without such times has no use for it.
    fn begins(&mut self, utc_ns: u64) {
        let _ = utc_ns;
    }

    /// Writes the next record; its volume is an index into `volumes`, which grows as records come.
    ///
    /// # Errors
    /// If the output cannot be written.
    fn write(&mut self, record: &TraceRecord, volumes: &VolumeNames) -> io::Result<Written>;

    /// Writes what is still held back. Without it the output is not whole.
    ///
    /// # Errors
    /// If the output cannot be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// What a write says that a format of reads and writes alone cannot say.
pub(crate) fn unsaid(record: &TraceRecord) -> Option<Written> {
    match (record.fua, record.handle) {
        (true, None) => Some(Written::Changed("the format has no FUA")),
        (true, Some(_)) => Some(Written::Changed("the format has neither FUA nor placement handles")),
        (false, Some(_)) => Some(Written::Changed("the format has no placement handles")),
        (false, None) => None,
    }
}

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "reason", rename_all = "kebab-case")]
pub enum Written {
    /// It reads back as it was, but for the number of its volume.
    Exact,
    /// It reads back a little different, for this reason.
    Changed(&'static str),
    /// The format has no such request.
    Dropped(&'static str),
}
