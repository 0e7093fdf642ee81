//! Text traces: lines, and the checked reading of a line's comma-separated fields.
//!
//! The fast path does no allocation and words nothing; the cold functions below word the errors.

use std::sync::Arc;

use memchr::memchr;

use super::{TraceError, TraceInput};

/// Memory behind the reader is given back in steps of this many bytes.
const RELEASE_STEP: usize = 8 << 20;
/// An error quotes at most this many bytes of the file.
const EXCERPT_BYTES: usize = 60;
/// Any number of so many decimal digits is below 2^64.
const SAFE_DIGITS: usize = 19;

/// A text file, line by line.
#[derive(Debug)]
pub(super) struct Lines {
    input: Arc<TraceInput>,
    /// Where the current line starts.
    position: usize,
    /// Lines passed.
    passed: u64,
    released: usize,
}

/// One line, without its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) text: &'a [u8],
    /// Where the next line starts.
    next: usize,
    /// Whether a newline ends it; only the last line may lack one.
    terminated: bool,
}

impl Lines {
    pub(super) fn new(input: Arc<TraceInput>) -> Self {
        Lines { input, position: 0, passed: 0, released: 0 }
    }

    /// The current line; `None` at the end of the file. A carriage return before the newline is not part of it.
    #[inline]
    pub(super) fn current(&self) -> Option<Line<'_>> {
        let rest = self.input.bytes().get(self.position..).filter(|rest| !rest.is_empty())?;
        let (text, next, terminated) = match memchr(b'\n', rest) {
            Some(end) => (&rest[..end], self.position + end + 1, true),
            None => (rest, self.position + rest.len(), false),
        };
        Some(Line { text: text.strip_suffix(b"\r").unwrap_or(text), next, terminated })
    }

    /// Where to go to pass `line`; separate from [`Lines::pass`] because the line borrows from here.
    #[inline]
    pub(super) fn pass(&mut self, next: usize) {
        self.position = next;
        self.passed += 1;
        if self.position - self.released >= RELEASE_STEP {
            self.input.release(self.released, self.position);
            self.released = self.position;
        }
    }

    /// Number of the line passed last, counted from 1.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// An error about the current line, which could be read.
    #[cold]
    pub(super) fn error(&self, problem: String) -> TraceError {
        self.input.error(Some(self.passed + 1), problem)
    }

    /// An error about the current line, which could not be read.
    #[cold]
    pub(super) fn malformed(&self, problem: String) -> TraceError {
        let truncated = self.current().is_some_and(|line| !line.terminated);
        let note = if truncated { " (the last line has no newline: the file looks truncated)" } else { "" };
        self.error(problem + note)
    }
}

impl Line<'_> {
    #[inline]
    pub(super) fn next(&self) -> usize {
        self.next
    }
}

/// A column: its place, counted from 1, its name and what it holds, for errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) place: usize,
    pub(super) name: &'static str,
    pub(super) holds: &'static str,
}

/// The comma-separated fields of a line, read from the left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    line: &'a [u8],
    /// Start of the next field; beyond the line's end when there is none.
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        Fields { line, at: 0 }
    }

    /// The next field as a whole number below 2^64: digits only.
    #[inline]
    pub(super) fn number(&mut self, column: &Column) -> Result<u64, String> {
        let rest = self.line.get(self.at..).unwrap_or_default();
        let mut value = 0u64;
        let mut digits = 0;
        while let Some(&byte) = rest.get(digits) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // Cannot wrap below SAFE_DIGITS; a longer number is read again, with checks.
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            digits += 1;
        }
        let ends = matches!(rest.get(digits), None | Some(b','));
        if digits == 0 || !ends {
            return Err(self.unexpected(column));
        }
        if digits > SAFE_DIGITS {
            value = checked(&rest[..digits]).ok_or_else(|| self.unexpected(column))?;
        }
        self.at += digits + 1;
        Ok(value)
    }

    /// The next field as text: not empty, no control characters.
    #[inline]
    pub(super) fn text(&mut self, column: &Column) -> Result<&'a [u8], String> {
        let rest = self.line.get(self.at..).unwrap_or_default();
        let mut end = 0;
        while let Some(&byte) = rest.get(end) {
            if byte == b',' {
                break;
            }
            if byte < b' ' {
                return Err(self.unexpected(column));
            }
            end += 1;
        }
        if end == 0 {
            return Err(self.unexpected(column));
        }
        self.at += end + 1;
        Ok(&rest[..end])
    }

    /// The next field without the blanks and tabs around it; it may be empty, but must be there.
    #[inline]
    pub(super) fn padded(&mut self, column: &Column) -> Result<&'a [u8], String> {
        let Some(rest) = self.line.get(self.at..) else { return Err(self.unexpected(column)) };
        let end = memchr(b',', rest).unwrap_or(rest.len());
        self.at += end + 1;
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let start = rest[..end].iter().take_while(|byte| blank(byte)).count();
        let padding = rest[start..end].iter().rev().take_while(|byte| blank(byte)).count();
        Ok(&rest[start..end - padding])
    }

    /// Refuses fields behind the last `columns`.
    #[inline]
    pub(super) fn end(&self, columns: usize) -> Result<(), String> {
        if self.at > self.line.len() { Ok(()) } else { Err(self.surplus(columns)) }
    }

    #[cold]
    fn surplus(&self, columns: usize) -> String {
        let found = excerpt(self.line.get(self.at..).unwrap_or_default());
        format!("found `{found}` behind the last field, expected {columns} fields")
    }

    /// Words that the next field is not what `column` holds.
    #[cold]
    #[inline(never)]
    fn unexpected(&self, column: &Column) -> String {
        let Column { place, name, holds } = column;
        match self.line.get(self.at..) {
            None => format!(
                "found the end of the line `{}`, expected field {place} ({name}): {holds}",
                excerpt(self.line)
            ),
            Some(rest) => {
                let field = &rest[..memchr(b',', rest).unwrap_or(rest.len())];
                format!("found `{}` in field {place} ({name}), expected {holds}", excerpt(field))
            }
        }
    }
}

#[cold]
fn checked(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |value, byte| value.checked_mul(10)?.checked_add(u64::from(byte - b'0')))
}

/// The first line of `head`, without its end.
pub(super) fn first_line(head: &[u8]) -> &[u8] {
    let line = &head[..memchr(b'\n', head).unwrap_or(head.len())];
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Bytes of the file as an error may show them: escaped, and not too many.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    match bytes.get(..EXCERPT_BYTES) {
        Some(start) if bytes.len() > EXCERPT_BYTES => format!("{}...", start.escape_ascii()),
        _ => bytes.escape_ascii().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMN: Column = Column { place: 1, name: "n", holds: "a number" };

    fn number(text: &[u8]) -> Result<u64, String> {
        Fields::new(text).number(&COLUMN)
    }

    #[test]
    fn numbers_end_at_2_to_the_64() {
        assert_eq!(number(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(number(b"0000000000000000000000007"), Ok(7));
        for bad in
            [&b"18446744073709551616"[..], b"99999999999999999999", b"", b"-1", b"+1", b" 1", b"1 ", b"1e3"]
        {
            assert!(number(bad).is_err(), "{}", bad.escape_ascii());
        }
    }

    #[test]
    fn every_line_comes_once_and_the_last_needs_no_newline() {
        let input = TraceInput::from_bytes("t", b"a\r\n\nbc".to_vec()).unwrap();
        let mut lines = Lines::new(Arc::new(input));
        let mut seen = Vec::new();
        while let Some(line) = lines.current() {
            seen.push((line.text.to_vec(), line.terminated));
            let next = line.next();
            lines.pass(next);
        }
        assert_eq!(seen, [(b"a".to_vec(), true), (b"".to_vec(), true), (b"bc".to_vec(), false)]);
        assert_eq!(lines.passed(), 3);
    }

    #[test]
    fn excerpts_are_short_and_printable() {
        assert_eq!(excerpt(b"a\0\xff"), r"a\x00\xff");
        assert_eq!(excerpt(&[b'x'; 1000]).len(), EXCERPT_BYTES + 3);
    }
}
