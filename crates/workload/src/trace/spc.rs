//! SPC trace file format.
//!
//! ```text
//! ASU,LBA,Size,Opcode,Timestamp[,anything]        (no header)
//! 3,20941264,8192,W,0.011413
//! ```
//!
//! ASU is the application storage unit, an address space of its own. LBA counts blocks of 512 bytes from the ASU's
//! start; Size is in bytes and may be 0; Opcode is R or W in either case; Timestamp is in seconds since the start of
//! the trace, with a fraction or without. Blanks and tabs around a field are allowed (since revision 1.0.1). Fields
//! behind the fifth are allowed, may differ in number from line to line, and are dropped. Lines end in LF or CRLF; the
//! last may have no end.
//!
//! Rules: five fields or more; rows in time order (equal times are usual); at most 1 GiB a request; ASU below 65536.
//! Digits behind the nanosecond are dropped. A last line cut off inside its timestamp cannot be told from a whole one.
//!
//! The format leaves the size of a block to the description of a trace; 512 bytes is what those that were published
//! have. What becomes of the ASUs is decided where the trace is replayed (`volumes`), not here.
//!
//! Source: Storage Performance Council, "SPC Trace File Format Specification", revision 1.0.1, 2002; traces
//! Financial and WebSearch at the UMass Trace Repository.

use harmonia_types::{Bytes, Operation};

use super::lines::{Column, Fields, Lines, excerpt, first_line};
use super::{TraceError, TraceFormat, TraceReader, TraceRecord};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "spc",
    summary: "SPC trace file: ASU,LBA (512-byte blocks),Size (bytes),Opcode (R or W),Timestamp (seconds)",
    source: "Storage Performance Council, SPC Trace File Format Specification 1.0.1; UMass Trace Repository",
    open: |input| Box::new(SpcReader { lines: Lines::new(input), times_ns: None }),
    sniff: |head| parse(first_line(head)).is_ok(),
};

const BLOCK: Bytes = 512;
/// No block layer issues more at once; a larger size is a misread column.
const MAX_SIZE: Bytes = 1 << 30;
const NS_PER_S: u64 = 1_000_000_000;
/// Decimals of a nanosecond.
const DECIMALS: usize = 9;

const ASU: Column = Column { place: 1, name: "ASU", holds: "a whole number below 65536" };
const LBA: Column = Column { place: 2, name: "LBA", holds: "512-byte blocks, a whole number below 2^64" };
const SIZE: Column = Column { place: 3, name: "Size", holds: "bytes, a whole number below 2^64" };
const OPCODE: Column = Column { place: 4, name: "Opcode", holds: "R or W" };
const TIMESTAMP: Column =
    Column { place: 5, name: "Timestamp", holds: "seconds such as 0.011413, below 2^64 ns" };

/// One line, checked by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    time_ns: u64,
    operation: Operation,
    offset: Bytes,
    length: Bytes,
    volume: u16,
}

#[derive(Debug)]
struct SpcReader {
    lines: Lines,
    /// Timestamps of the first row and of the one before, in ns.
    times_ns: Option<(u64, u64)>,
}

impl TraceReader for SpcReader {
    fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        let Some(line) = self.lines.current() else { return Ok(None) };
        let row = parse(line.text).map_err(|problem| self.lines.malformed(problem))?;
        let (first, previous) = self.times_ns.unwrap_or((row.time_ns, row.time_ns));
        if row.time_ns < previous {
            return Err(self.lines.error(backwards(row.time_ns, previous)));
        }
        let next = line.next();
        self.lines.pass(next);
        self.times_ns = Some((first, row.time_ns));
        let Row { time_ns, operation, offset, length, volume } = row;
        Ok(Some(TraceRecord { time_ns: time_ns - first, operation, offset, length, volume }))
    }

    fn line(&self) -> u64 {
        self.lines.passed()
    }
}

#[inline]
fn parse(line: &[u8]) -> Result<Row, String> {
    let mut fields = Fields::new(line);
    let asu = whole(&mut fields, &ASU)?;
    let lba = whole(&mut fields, &LBA)?;
    let length = whole(&mut fields, &SIZE)?;
    let operation = match fields.padded(&OPCODE)? {
        b"R" | b"r" => Operation::Read,
        b"W" | b"w" => Operation::Write,
        other => return Err(misread(&OPCODE, other)),
    };
    let timestamp = fields.padded(&TIMESTAMP)?;
    let time_ns = nanoseconds(timestamp).ok_or_else(|| misread(&TIMESTAMP, timestamp))?;
    if length > MAX_SIZE {
        return Err(format!("found {length} in field 3 (Size), expected at most {MAX_SIZE} bytes (1 GiB)"));
    }
    let offset = lba.checked_mul(BLOCK).filter(|offset| offset.checked_add(length).is_some());
    let offset =
        offset.ok_or_else(|| format!("a request of {length} bytes at block {lba} ends beyond 2^64 bytes"))?;
    let volume = u16::try_from(asu).map_err(|_| misread(&ASU, asu.to_string().as_bytes()))?;
    Ok(Row { time_ns, operation, offset, length, volume })
}

/// The next field as a whole number below 2^64.
#[inline]
fn whole(fields: &mut Fields<'_>, column: &Column) -> Result<u64, String> {
    let text = fields.padded(column)?;
    digits(text).filter(|_| !text.is_empty()).ok_or_else(|| misread(column, text))
}

/// Any number of decimal digits, if the number is below 2^64; 0 for none.
#[inline]
fn digits(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0u64, |value, byte| match byte {
        b'0'..=b'9' => value.checked_mul(10)?.checked_add(u64::from(byte - b'0')),
        _ => None,
    })
}

/// Seconds with an optional fraction; at least one digit before the point and, if there is a point, one behind.
#[inline]
fn nanoseconds(text: &[u8]) -> Option<u64> {
    let point = text.iter().position(|&byte| byte == b'.');
    let (seconds, fraction) = point.map_or((text, &b"0"[..]), |point| (&text[..point], &text[point + 1..]));
    if seconds.is_empty() || fraction.is_empty() || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let kept = &fraction[..fraction.len().min(DECIMALS)];
    let fraction_ns = digits(kept)? * 10u64.pow((DECIMALS - kept.len()) as u32);
    digits(seconds)?.checked_mul(NS_PER_S)?.checked_add(fraction_ns)
}

#[cold]
fn misread(column: &Column, found: &[u8]) -> String {
    let Column { place, name, holds } = column;
    format!("found `{}` in field {place} ({name}), expected {holds}", excerpt(found))
}

#[cold]
fn backwards(time_ns: u64, previous: u64) -> String {
    format!(
        "found a timestamp of {time_ns} ns behind {previous} ns of the row before, expected rows in time order: sort them by the fifth column"
    )
}

#[cfg(test)]
#[path = "spc_tests.rs"]
mod tests;
