//! fio iologs, versions 2 and 3: what `write_iolog` writes and `read_iolog` replays.
//!
//! Version 3 (fio 3.31) stamps every line with us since the start. Version 2 has no times at all but for `wait`, which
//! fio never writes: people and converters do. The manual calls its number us since the wait before; fio itself has at
//! all times slept until that many **ms after the start of the run** (`read_iolog_get` in iolog.c; measured with fio
//! 3.33), so that is what is read. A log without waits says "as fast as possible": all its requests arrive at time 0.
//!
//! fio appends to a log that exists, and jobs that share a name share the file: such a log is several logs, and refused
//! at the second first line. Not read: version 1, gone since 2008, which had no first line. A last line cut off inside
//! its length cannot be told from a whole one.
//!
//! Source: fio's HOWTO, "Trace file format v2" and "v3"; its iolog.c, where the two differ.

mod writer;

use std::str;

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Words, excerpt, extent_of, trimmed};
use super::super::read::lines::{HEADER, LineFormat, Lines, Parsed, first_lines};
use super::super::record::{Row, VolumeNames};
use super::{Epoch, Fit, Head, Spread, TraceFormat};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "fio",
    summary: "fio iolog: version 2, FILE ACTION OFFSET LENGTH (bytes); version 3, a timestamp (us) before that",
    source: "fio's HOWTO, Trace file format v2 and v3, and its iolog.c",
    grammar: "\
fio version 3 iolog                         first line; or `fio version 2 iolog`, with no TIMESTAMP in what follows
TIMESTAMP FILE add|open|close
TIMESTAMP FILE read|write|trim OFFSET LENGTH
TIMESTAMP FILE sync|datasync [OFFSET LENGTH]
FILE wait TIME [anything]                   version 2 only",
    rules: &[
        "Words are separated by blanks or tabs; a request has 1 byte to 1 GiB, a trim any length; sync and datasync are flushes, their OFFSET and LENGTH mean nothing.",
        "A volume is a FILE. It may be used without add and open.",
        "Version 2: `wait` sets the time of what follows to TIME ms from the start of the run, as fio does. (Its manual says us from the wait before.) A wait for a time that has passed is counted and does nothing. Without waits all requests arrive at time 0: as fast as possible.",
        "The time unit is that of a version's times unless chosen: us in version 3, ms in version 2.",
        "What fio passes over is passed over and counted: `wait` in version 3, sync_file_range and syncfs.",
        "Written as version 3, in whole us, which begin at 1: fio would not wait after a line at 0. add and open stand before the first use of a file, close at the end. A FILE is the volume's name with `_` for blanks; a bare number n becomes `volume_n`. fio replays trims since 3.34.",
    ],
    units: Units { time_ns: Some(V3_NS), address: Some(1), size: Some(1), read_is: None },
    epoch: Epoch::Unknown,
    has_actions: false,
    sort_window_ns: 0,
    spread: Spread::Never,
    global_volumes: true,
    open: |input, setting| Lines::boxed(input, Fio::new(setting)),
    sniff,
    write: Some(writer::FioWriter::boxed),
};

const FIRST_LINE_2: &str = "fio version 2 iolog";
const FIRST_LINE_3: &str = "fio version 3 iolog";
/// The unit of version 2's waits, in ns.
const V2_NS: u64 = 1_000_000;
/// The unit of version 3's timestamps, in ns.
const V3_NS: u64 = 1_000;

/// The columns of one version.
struct Columns {
    timestamp: Column,
    file: Column,
    action: Column,
    offset: Column,
    length: Column,
    wait: Column,
    count: usize,
}

impl Columns {
    /// With so many columns before the file's.
    const fn behind(before: usize, actions: &'static str) -> Self {
        const NUMBER: &str = "a whole number below 2^64";
        const BYTES: &str = "bytes, a whole number below 2^64";
        Columns {
            timestamp: Column { place: 1, name: "timestamp", holds: NUMBER },
            file: Column { place: before + 1, name: "file", holds: "a file name" },
            action: Column { place: before + 2, name: "action", holds: actions },
            offset: Column { place: before + 3, name: "offset", holds: BYTES },
            length: Column { place: before + 4, name: "length", holds: BYTES },
            wait: Column { place: before + 3, name: "time to wait for", holds: NUMBER },
            count: before + 4,
        }
    }
}

const V2: Columns = Columns::behind(0, "add, open, close, read, write, trim, sync, datasync or wait");
const V3: Columns = Columns::behind(1, "add, open, close, read, write, trim, sync or datasync");

const WAIT_PASSED: &str = "a wait for a time that has passed (fio's waits count from the start of the run)";
const WAIT_IN_3: &str = "a wait, which fio passes over in version 3";
const NOT_REPLAYED: &str = "sync_file_range or syncfs, which fio passes over";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Two,
    Three,
}

impl Version {
    fn of(first_line: &[u8]) -> Option<Self> {
        let first_line = trimmed(first_line);
        if first_line == FIRST_LINE_2.as_bytes() {
            Some(Version::Two)
        } else if first_line == FIRST_LINE_3.as_bytes() {
            Some(Version::Three)
        } else {
            None
        }
    }
}

/// Reads lines.
struct Fio {
    setting: Setting,
    /// Known behind the first line.
    version: Option<Version>,
    /// Version 2: when the requests arrive that follow.
    now_ns: u64,
    volumes: VolumeNames,
    /// File and volume of the request before: often those of the next.
    last: (Vec<u8>, u16),
}

impl Fio {
    fn new(setting: Setting) -> Self {
        Fio { setting, version: None, now_ns: 0, volumes: VolumeNames::default(), last: (Vec::new(), 0) }
    }

    #[inline]
    fn volume(&mut self, file: &[u8]) -> Result<u16, String> {
        let (last, volume) = &self.last;
        if last == file && !last.is_empty() { Ok(*volume) } else { self.other_volume(file) }
    }

    #[inline(never)]
    fn other_volume(&mut self, file: &[u8]) -> Result<u16, String> {
        let printable = str::from_utf8(file).ok().filter(|name| !name.chars().any(char::is_control));
        let volume = match printable {
            Some(name) => self.volumes.named(name)?,
            None => self.volumes.named(&file.escape_ascii().to_string())?,
        };
        let (last, last_volume) = &mut self.last;
        last.clear();
        last.extend_from_slice(file);
        *last_volume = volume;
        Ok(volume)
    }

    /// A line behind the first.
    #[inline]
    fn action(&mut self, line: &[u8], version: Version, log: &mut ReadLog) -> Result<Parsed, String> {
        let mut words = Words::new(line);
        let columns = match version {
            Version::Two => &V2,
            Version::Three => &V3,
        };
        let time_ns = match version {
            Version::Two => self.now_ns,
            Version::Three => {
                let time = words.number(&columns.timestamp)?;
                let unit = self.setting.asked_time_ns.unwrap_or(V3_NS);
                time.checked_mul(unit).ok_or_else(|| columns.timestamp.too_late(time))?
            }
        };
        let file = words.word(&columns.file)?;
        let operation = match words.word(&columns.action)? {
            b"read" => Operation::Read,
            b"write" => Operation::Write,
            b"trim" => Operation::Trim,
            b"sync" | b"datasync" => return self.flush(file, time_ns, words, columns),
            b"add" | b"open" | b"close" => {
                words.end(columns.count - 2)?;
                return Ok(Parsed::Nothing);
            }
            b"wait" if version == Version::Two => return self.wait(words.number(&columns.wait)?, log),
            b"wait" => return Ok(Parsed::Skip(WAIT_IN_3)),
            b"sync_file_range" | b"syncfs" => return Ok(Parsed::Skip(NOT_REPLAYED)),
            other => return Err(columns.action.misread(other)),
        };
        let offset = words.number(&columns.offset)?;
        let length = words.number(&columns.length)?;
        words.end(columns.count)?;
        if length == 0 {
            return Err(columns.length.empty());
        }
        let (offset, length) =
            extent_of(operation, (offset, self.setting.address), (length, self.setting.size))?;
        Ok(Parsed::Row(Row { volume: self.volume(file)?, ..Row::new(time_ns, operation, offset, length) }))
    }

    fn flush(
        &mut self,
        file: &[u8],
        time_ns: u64,
        mut words: Words<'_>,
        columns: &Columns,
    ) -> Result<Parsed, String> {
        if !words.rest().is_empty() {
            words.number(&columns.offset)?;
            words.number(&columns.length)?;
            words.end(columns.count)?;
        }
        let volume = self.volume(file)?;
        Ok(Parsed::Row(Row { volume, ..Row::new(time_ns, Operation::Flush, 0, 0) }))
    }

    /// What follows arrives at this time.
    fn wait(&mut self, time: u64, log: &mut ReadLog) -> Result<Parsed, String> {
        let unit = self.setting.asked_time_ns.unwrap_or(V2_NS);
        let time_ns = time.checked_mul(unit).ok_or_else(|| V2.wait.too_late(time))?;
        if time_ns <= self.now_ns {
            log.skip(WAIT_PASSED);
        } else {
            self.now_ns = time_ns;
        }
        Ok(Parsed::Nothing)
    }
}

impl LineFormat for Fio {
    #[inline]
    fn parse(&mut self, line: &[u8], log: &mut ReadLog) -> Result<Parsed, String> {
        match self.version {
            Some(_) if line.starts_with(b"fio version ") => Err(second_log(line)),
            Some(version) => self.action(line, version, log),
            None => {
                self.version = Version::of(line);
                if self.version.is_some() { Ok(HEADER) } else { Err(no_first_line(line)) }
            }
        }
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

#[cold]
fn no_first_line(line: &[u8]) -> String {
    format!("found `{}`, expected the first line `{FIRST_LINE_2}` or `{FIRST_LINE_3}`", excerpt(line))
}

#[cold]
fn second_log(line: &[u8]) -> String {
    format!("found `{}` again, expected one log a file (fio appends to one that exists)", excerpt(line))
}

/// The first line decides: hundreds of `add` may stand before the first request.
fn sniff(head: &Head<'_>) -> Fit {
    let first = first_lines(head.bytes, head.complete).next().unwrap_or_default();
    match Version::of(first) {
        Some(_) => Fit::Yes(format!("its first line is `{}`", excerpt(first))),
        None => Fit::No { fitting: 0, problem: no_first_line(first) },
    }
}

#[cfg(test)]
mod tests;
