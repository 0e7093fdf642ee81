//! Text traces: line by line, each line one row or none.
//!
//! The fast path does no allocation and words nothing.

use memchr::memchr;

use super::super::record::{Row, VolumeNames};
use super::log::ReadLog;
use super::rows::NO_ROWS;
use super::window::Window;
use super::{Place, Problem, RowReader, TraceInput};
use std::sync::Arc;

/// A longer line is not one of a trace, in bytes.
pub(crate) const LINE_MAX: usize = 64 << 10;
/// What some editors write before the first character of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A text format: what its lines mean. The state of a reader (columns found in a header, a running clock, the names of
/// volumes) lives in the implementing type.
pub(crate) trait LineFormat: Send {
    /// Reads one line, without its end. The words of an error say what was found and what is expected; file and line
    /// are added.
    fn parse(&mut self, line: &[u8], log: &mut ReadLog) -> Result<Parsed, String>;

    /// How long the request of the line before took when it was recorded, in ns; 0 where the line does not say.
    fn response_ns(&self) -> u64 {
        0
    }

    /// The volumes of the rows so far.
    fn volumes(&self) -> &VolumeNames;

    /// As [`RowReader::has_handles`].
    fn has_handles(&self) -> bool {
        false
    }

    /// As [`RowReader::zero_utc_ns`].
    fn zero_utc_ns(&self) -> Option<i128> {
        None
    }

    /// Words for a file that turned out to have no row.
    fn no_rows(&self) -> String {
        NO_ROWS.to_owned()
    }
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// A request.
    Row(Row),
    /// Not a request, or not one that is asked for, for this reason; counted.
    Skip(&'static str),
    /// A request that cannot be replayed, for this reason; counted, and missed.
    Lose(&'static str),
    /// Part of the format but nothing to count: a header, a blank line.
    Nothing,
}

const BLANK: &str = "a blank line at the end";

/// A line that names the columns.
pub(crate) const HEADER: Parsed = Parsed::Nothing;

/// The reader of a text format.
pub(crate) struct Lines<F> {
    window: Window,
    format: F,
    /// Lines behind the reader.
    passed: u64,
    /// Inside a line that was too long.
    overlong: bool,
}

impl<F: LineFormat> Lines<F> {
    pub(crate) fn new(input: &Arc<TraceInput>, format: F) -> Result<Self, String> {
        let mut window = Window::new(input)?;
        if window.holds(BYTE_ORDER_MARK.len())? && window.bytes().starts_with(BYTE_ORDER_MARK) {
            window.pass(BYTE_ORDER_MARK.len());
        }
        Ok(Lines { window, format, passed: 0, overlong: false })
    }

    /// Boxed, as the registry wants it.
    pub(crate) fn boxed(input: &Arc<TraceInput>, format: F) -> Result<Box<dyn RowReader>, String>
    where
        F: 'static,
    {
        Ok(Box::new(Lines::new(input, format)?))
    }

    /// Bytes of the line at the start of the window, without and with its end; `None` at the end of the file.
    #[inline]
    fn measure(&mut self) -> Result<Option<(usize, usize)>, Problem> {
        loop {
            let bytes = self.window.bytes();
            let searched = &bytes[..bytes.len().min(LINE_MAX + 1)];
            if let Some(end) = memchr(b'\n', searched) {
                return Ok(Some((end, end + 1)));
            }
            let length = searched.len();
            if length > LINE_MAX {
                return Err(self.too_long(length));
            }
            if !self.window.widen().map_err(Problem::File)? {
                return Ok((length > 0).then_some((length, length)));
            }
        }
    }

    #[cold]
    fn too_long(&mut self, length: usize) -> Problem {
        self.window.pass(length);
        self.passed += 1;
        self.overlong = true;
        Problem::Row(format!(
            "found a line of more than {LINE_MAX} bytes, expected a request: is this a trace?"
        ))
    }

    /// Passes over the rest of a line that was too long.
    #[cold]
    fn pass_overlong(&mut self) -> Result<(), Problem> {
        self.overlong = false;
        loop {
            let bytes = self.window.bytes();
            match memchr(b'\n', bytes) {
                Some(end) => {
                    self.window.pass(end + 1);
                    return Ok(());
                }
                None => self.window.pass(bytes.len()),
            }
            if !self.window.widen().map_err(Problem::File)? {
                return Ok(());
            }
        }
    }

    /// Whether nothing but blank lines follows.
    #[cold]
    fn rest_is_blank(&mut self) -> Result<bool, String> {
        let mut seen = 0;
        loop {
            let rest = &self.window.bytes()[seen..];
            if !rest.iter().all(u8::is_ascii_whitespace) {
                return Ok(false);
            }
            seen += rest.len();
            // So many blank lines are not the end of a text.
            if seen > LINE_MAX || !self.window.widen()? {
                return Ok(seen <= LINE_MAX);
            }
        }
    }

    #[cold]
    fn malformed(&self, problem: String, terminated: bool) -> Problem {
        let note = if terminated { "" } else { " (the last line has no newline: the file looks truncated)" };
        Problem::Row(problem + note)
    }
}

impl<F: LineFormat> RowReader for Lines<F> {
    fn next_row(&mut self, log: &mut ReadLog) -> Result<Option<Row>, Problem> {
        if self.overlong {
            self.pass_overlong()?;
        }
        loop {
            let Some((length, whole)) = self.measure()? else {
                return Ok(None);
            };
            let line = &self.window.bytes()[..length];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let parsed = self.format.parse(line, log);
            let is_blank = parsed.is_err() && line.iter().all(u8::is_ascii_whitespace);
            self.window.pass(whole);
            self.passed += 1;
            match parsed {
                Ok(Parsed::Row(row)) => return Ok(Some(row)),
                Ok(Parsed::Skip(reason)) => log.skip(reason),
                Ok(Parsed::Lose(reason)) => log.lose(reason),
                Ok(Parsed::Nothing) => {}
                Err(_) if is_blank && self.rest_is_blank().map_err(Problem::File)? => log.skip(BLANK),
                Err(problem) => return Err(self.malformed(problem, whole > length)),
            }
        }
    }

    fn place(&self) -> Place {
        Place::Line(self.passed)
    }

    fn has_handles(&self) -> bool {
        self.format.has_handles()
    }

    fn zero_utc_ns(&self) -> Option<i128> {
        self.format.zero_utc_ns()
    }

    fn no_rows(&self) -> String {
        self.format.no_rows()
    }

    fn response_ns(&self) -> u64 {
        self.format.response_ns()
    }

    fn volumes(&self) -> &VolumeNames {
        self.format.volumes()
    }
}

/// The whole lines of `head`, without their ends; the last line of the file counts without a newline if
/// `head` is `complete`.
pub(crate) fn first_lines(head: &[u8], complete: bool) -> impl Iterator<Item = &[u8]> {
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    head.split_inclusive(|&byte| byte == b'\n')
        .filter(move |line| complete || line.ends_with(b"\n"))
        .map(|line| line.strip_suffix(b"\n").unwrap_or(line))
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
