//! MSR Cambridge csv.
//!
//! ```text
//! Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime        (header: optional, first line only)
//! 128166372003061629,web,3,Read,7014609920,24576,41286
//! ```
//!
//! Timestamp is a Windows FILETIME, ticks of 100 ns since 1601: about 1.28e17, beyond what a double holds exactly.
//! Offset and Size are bytes, Type is Read or Write in any case. Lines end in LF or CRLF; the last may have no end.
//!
//! Rules: seven fields; rows in time order (equal times are fine); 1 byte to 1 GiB a request; disk number below
//! 65536. A last line cut off before its response time is malformed; cut off inside it cannot be told from a whole
//! one, and matters to nothing, because host name and response time are checked and dropped.
//!
//! Source: D. Narayanan, A. Donnelly, A. Rowstron, "Write Off-Loading: Practical Power Management for Enterprise
//! Storage", FAST 2008; traces at SNIA IOTTA, set 388.

use std::sync::Arc;

use harmonia_types::{Bytes, Operation};

use super::lines::{Column, Fields, Lines, first_line};
use super::{TraceError, TraceFormat, TraceInput, TraceReader, TraceRecord};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "msr",
    summary: "MSR Cambridge csv: Timestamp (100 ns ticks),Hostname,DiskNumber,Type,Offset,Size (bytes),ResponseTime",
    source: "Narayanan et al., Write Off-Loading, FAST 2008; SNIA IOTTA set 388",
    open: |input| Box::new(MsrReader::new(input)),
    sniff: |head| {
        let line = first_line(head);
        is_header(line) || parse(line).is_ok()
    },
};

const NS_PER_TICK: u64 = 100;
/// No block layer issues more at once; a larger size is a misread column.
const MAX_SIZE: Bytes = 1 << 30;

const NUMBER: &str = "a whole number below 2^64";
const COLUMNS: usize = 7;
const TIMESTAMP: Column =
    Column { place: 1, name: "Timestamp", holds: "100 ns ticks, a whole number below 2^64" };
const HOSTNAME: Column = Column { place: 2, name: "Hostname", holds: "a name" };
const DISK: Column = Column { place: 3, name: "DiskNumber", holds: NUMBER };
const TYPE: Column = Column { place: 4, name: "Type", holds: "Read or Write" };
const OFFSET: Column = Column { place: 5, name: "Offset", holds: "bytes, a whole number below 2^64" };
const SIZE: Column = Column { place: 6, name: "Size", holds: "bytes, a whole number below 2^64" };
const RESPONSE: Column = Column { place: 7, name: "ResponseTime", holds: NUMBER };

/// One line, checked by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    ticks: u64,
    operation: Operation,
    offset: Bytes,
    length: Bytes,
    volume: u16,
}

#[derive(Debug)]
struct MsrReader {
    lines: Lines,
    /// Timestamps of the first row and of the one before, in ticks.
    ticks: Option<(u64, u64)>,
}

impl MsrReader {
    fn new(input: Arc<TraceInput>) -> Self {
        let mut reader = MsrReader { lines: Lines::new(input), ticks: None };
        let header = reader.lines.current().filter(|line| is_header(line.text)).map(|line| line.next());
        if let Some(next) = header {
            reader.lines.pass(next);
        }
        reader
    }

    /// The row's time since the first row.
    #[inline]
    fn time_ns(&self, ticks: u64) -> Result<u64, String> {
        let (first, previous) = self.ticks.unwrap_or((ticks, ticks));
        if ticks < previous {
            return Err(backwards(ticks, previous));
        }
        (ticks - first).checked_mul(NS_PER_TICK).ok_or_else(|| too_far(ticks, first))
    }
}

impl TraceReader for MsrReader {
    fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        let Some(line) = self.lines.current() else {
            return if self.ticks.is_some() { Ok(None) } else { Err(self.lines.error(NO_ROWS.into())) };
        };
        let row = parse(line.text).map_err(|problem| self.lines.malformed(problem))?;
        let time_ns = self.time_ns(row.ticks).map_err(|problem| self.lines.error(problem))?;
        let next = line.next();
        self.lines.pass(next);
        self.ticks = Some((self.ticks.map_or(row.ticks, |(first, _)| first), row.ticks));
        let Row { operation, offset, length, volume, .. } = row;
        Ok(Some(TraceRecord { time_ns, operation, offset, length, volume }))
    }

    fn line(&self) -> u64 {
        self.lines.passed()
    }
}

#[inline]
fn parse(line: &[u8]) -> Result<Row, String> {
    let mut fields = Fields::new(line);
    let ticks = fields.number(&TIMESTAMP)?;
    fields.text(&HOSTNAME)?;
    let disk = fields.number(&DISK)?;
    let operation = match fields.text(&TYPE)? {
        b"Read" => Operation::Read,
        b"Write" => Operation::Write,
        other => operation_in_any_case(other)?,
    };
    let offset = fields.number(&OFFSET)?;
    let length = fields.number(&SIZE)?;
    fields.number(&RESPONSE)?;
    fields.end(COLUMNS)?;
    if length == 0 || length > MAX_SIZE {
        return Err(absurd_size(length));
    }
    if offset.checked_add(length).is_none() {
        return Err(format!("a request of {length} bytes at {offset} ends beyond 2^64"));
    }
    let volume = u16::try_from(disk)
        .map_err(|_| format!("found {disk} in field 3 (DiskNumber), expected a disk number below 65536"))?;
    Ok(Row { ticks, operation, offset, length, volume })
}

#[cold]
fn operation_in_any_case(text: &[u8]) -> Result<Operation, String> {
    if text.eq_ignore_ascii_case(b"read") {
        Ok(Operation::Read)
    } else if text.eq_ignore_ascii_case(b"write") {
        Ok(Operation::Write)
    } else {
        Err(format!("found `{}` in field 4 (Type), expected Read or Write", super::lines::excerpt(text)))
    }
}

fn is_header(line: &[u8]) -> bool {
    line.eq_ignore_ascii_case(b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime")
}

const NO_ROWS: &str = "found the end of the file behind the header, expected at least one request";

#[cold]
fn absurd_size(length: Bytes) -> String {
    format!("found {length} in field 6 (Size), expected 1 to {MAX_SIZE} bytes (1 GiB)")
}

#[cold]
fn backwards(ticks: u64, previous: u64) -> String {
    format!(
        "found timestamp {ticks} behind {previous} of the row before, expected rows in time order: sort them by the first column"
    )
}

#[cold]
fn too_far(ticks: u64, first: u64) -> String {
    format!("found timestamp {ticks}, expected less than 2^64 ns (584 years) after the first row's {first}")
}

#[cfg(test)]
#[path = "msr_tests.rs"]
mod tests;
