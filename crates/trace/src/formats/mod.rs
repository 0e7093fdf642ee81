//! The formats, one file each.
//!
//! A file holds what the format is and where its definition comes from (its module documentation), the grammar and
//! rules that `docs/traces.md` shows, the columns, and what one row means. Lines, time order, tolerance, files and
//! compression are the business of [`super::read`]. Tests on literal content stand beside it.

mod alibaba;
mod baleen;
mod biosnoop;
mod blkparse;
mod blkparse_format;
mod blktrace;
mod block_events;
mod cloudphysics;
pub(super) mod csv;
mod disksim;
mod dtrace;
mod etw;
mod fio;
mod fiu;
mod free;
mod ftrace;
mod harmonia;
mod iosnoop;
mod k5cloud;
mod mqsim;
mod msr;
mod nvme;
mod regions;
mod replayer;
mod snoop;
mod spc;
mod srt;
mod systor;
mod tencent;
mod thesios;
mod trace_events;
mod unread;

#[cfg(test)]
pub(super) mod testing;

use std::io;
use std::sync::Arc;

pub use blkparse::NAME as BLKPARSE;
pub(super) use block_events::most_complete_action;
pub use csv::NAME as CSV;
pub(super) use unread::named as unread;

use super::epoch::Epoch;
use super::options::{Setting, TraceOptions, Units};
use super::read::lines::{LineFormat, Parsed, first_lines};
use super::read::{ReadLog, RowReader, TraceInput};
use super::write::{Out, TraceWriter};

/// Every format, one line each.
pub const FORMATS: &[TraceFormat] = &[
    alibaba::FORMAT,
    baleen::FORMAT,
    biosnoop::FORMAT,
    blkparse::FORMAT,
    blktrace::FORMAT,
    cloudphysics::FORMAT,
    csv::FORMAT,
    disksim::FORMAT,
    dtrace::FORMAT,
    etw::FORMAT,
    fio::FORMAT,
    fiu::FORMAT,
    ftrace::FORMAT,
    harmonia::FORMAT,
    iosnoop::FORMAT,
    k5cloud::FORMAT,
    mqsim::FORMAT,
    msr::FORMAT,
    nvme::FORMAT,
    replayer::FORMAT,
    spc::FORMAT,
    srt::FORMAT,
    systor::FORMAT,
    tencent::FORMAT,
    thesios::FORMAT,
];

/// Opens a file for reading; words where it is not what the format says from its first bytes on.
pub(super) type Open = fn(&Arc<TraceInput>, Setting) -> Result<Box<dyn RowReader>, String>;
/// Opens an output for writing, given whether a record has a placement handle.
pub type OpenWriter = fn(Out, bool) -> io::Result<Box<dyn TraceWriter>>;

/// One registered format.
#[derive(Debug, Clone, Copy)]
pub struct TraceFormat {
    /// What `format = "..."` says.
    pub name: &'static str,
    /// One line for `harmonia formats`: columns and units.
    pub summary: &'static str,
    /// Who publishes traces in it, or where it is defined.
    pub source: &'static str,
    /// What a file looks like: shown as it is on the format's page.
    pub grammar: &'static str,
    /// Rules that the grammar does not show, one sentence or two each.
    pub rules: &'static [&'static str],
    /// What can be chosen, with the values it has unless chosen.
    pub units: Units,
    /// Since when its times count.
    pub epoch: Epoch,
    /// Whether it records several events of a request, of which one is its arrival.
    pub has_actions: bool,
    /// How late rows may be unless told otherwise, in ns.
    pub sort_window_ns: u64,
    /// Whether requests of one tick of its clock are spread over it.
    pub spread: Spread,
    /// Whether a volume's name means the same volume in every file.
    pub global_volumes: bool,
    /// A reader at the start of the input.
    pub(super) open: Open,
    /// How well content fits.
    pub(super) sniff: fn(&Head<'_>) -> Fit,
    /// A writer to an output that is empty, if it can be written.
    pub write: Option<OpenWriter>,
}

/// Whether requests that share a tick of a clock are spread over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Unless told otherwise: the clock ticks in seconds.
    ByItself,
    /// If told so.
    IfAsked,
    /// Cannot be asked for: times have fractions, or are exact.
    Never,
}

/// The first bytes of a file, unpacked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head<'a> {
    /// At most 64 KiB.
    pub(super) bytes: &'a [u8],
    /// Whether that is all.
    pub(super) complete: bool,
    /// What has been said about the file.
    pub(super) options: &'a TraceOptions,
}

impl Head<'_> {
    /// The setting that `format` would read it with.
    fn setting(&self, format: &TraceFormat) -> Setting {
        Setting::new(format, self.options).unwrap_or_else(|_| plain(format))
    }
}

/// How well content fits a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fit {
    /// It does, for this reason.
    Yes(String),
    /// All of it does, but there is no request in it.
    NoRequest,
    /// It does not: words for the first line that does not fit, and how many of the first lines do.
    No {
        /// Lines or records that fit.
        fitting: usize,
        /// What is wrong with the first that does not.
        problem: String,
    },
}

/// At most so many lines are looked at.
const SNIFF_LINES: usize = 200;

/// A text fits if at least half of its first lines do, one of them a request: a file with a malformed line still is what it is,
/// and the reader says where it is malformed. A first line that names other columns says that it is something else.
fn sniff_lines(head: &Head<'_>, mut format: impl LineFormat) -> Fit {
    let (mut rows, mut lines, mut fitting, mut first_problem) = (0, 0, 0, None);
    let mut log = ReadLog::default();
    for line in first_lines(head.bytes, head.complete).take(SNIFF_LINES) {
        lines += 1;
        match format.parse(line, &mut log) {
            Ok(parsed) => {
                fitting += 1;
                rows += usize::from(matches!(parsed, Parsed::Row(_)));
            }
            Err(problem) if lines == 1 && names_columns(line) => {
                return Fit::No { fitting: 0, problem };
            }
            Err(problem) => {
                first_problem.get_or_insert_with(|| format!("line {lines}: {problem}"));
            }
        }
    }
    let complete = head.complete && lines < SNIFF_LINES;
    if rows > 0 && 2 * fitting >= lines {
        return Fit::Yes(match first_problem {
            None if lines == 1 => "its only line fits".to_owned(),
            None if complete => format!("its {lines} lines all fit"),
            None => format!("its first {lines} lines all fit"),
            Some(problem) => format!("{fitting} of its first {lines} lines fit; {problem}"),
        });
    }
    match first_problem {
        None if lines > 0 => Fit::NoRequest,
        None => Fit::No { fitting, problem: "there is no line in its first 64 KiB".to_owned() },
        Some(problem) => Fit::No { fitting, problem },
    }
}

/// Whether a line is one of words, each of which may name a column.
fn names_columns(line: &[u8]) -> bool {
    let is_word = |field: &[u8]| csv::plain(field).first().is_some_and(u8::is_ascii_alphabetic);
    let separators = [b',', b';', b'\t'];
    separators.iter().any(|separator| {
        let words = || line.split(|byte| byte == separator);
        words().count() >= 3 && words().all(is_word)
    })
}

/// The setting of a format that nobody changed.
const fn plain(format: &TraceFormat) -> Setting {
    const fn or(value: Option<u64>, default: u64) -> u64 {
        match value {
            Some(value) => value,
            None => default,
        }
    }
    let Units { time_ns, address, size, read_is } = format.units;
    let read_is = match read_is {
        Some(value) => value,
        None => 0,
    };
    Setting {
        time_ns: or(time_ns, 1),
        address: or(address, 1),
        size: or(size, 1),
        read_is,
        asked_time_ns: None,
        action: None,
        columns: None,
        ops: None,
        event_format: None,
    }
}
