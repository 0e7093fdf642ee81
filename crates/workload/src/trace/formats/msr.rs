//! MSR Cambridge csv.
//!
//! Timestamp is a Windows FILETIME, ticks of 100 ns since 1601: about 1.28e17, beyond what a double holds exactly. A
//! last line cut off inside its response time cannot be told from a whole one, and matters to nothing.
//!
//! Source: D. Narayanan, A. Donnelly, A. Rowstron, "Write Off-Loading: Practical Power Management for Enterprise
//! Storage", FAST 2008; traces at SNIA IOTTA, set 388.

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Fields, extent};
use super::super::read::lines::{HEADER, LineFormat, Lines, Parsed};
use super::super::record::{Row, VolumeNames};
use super::{TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "msr",
    summary: "MSR Cambridge csv: Timestamp (100 ns ticks),Hostname,DiskNumber,Type,Offset,Size (bytes),ResponseTime",
    source: "Narayanan et al., Write Off-Loading, FAST 2008; SNIA IOTTA set 388",
    grammar: "\
Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime        header: optional, first line only
128166372003061629,web,3,Read,7014609920,24576,41286",
    rules: &[
        "Seven fields; Type is Read or Write in any case; a request has 1 byte to 1 GiB.",
        "A volume is a disk of a host: `web_3`.",
        "The response time is checked and dropped.",
    ],
    units: Units { time_ns: Some(100), address: Some(1), size: Some(1), read_is: None },
    has_actions: false,
    sort_window_ns: 0,
    coarse_clock: false,
    global_volumes: true,
    open: |input, setting| Lines::boxed(input, Msr::new(setting)),
    sniff: |head| sniff_lines(head, Msr::new(super::plain(&FORMAT))),
    write: None,
};

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

/// What no line begins with.
const NO_ROW: &[u8] = b"\n";

/// Reads lines.
struct Msr {
    setting: Setting,
    /// Whether the first line is still to come: only that may be a header.
    first: bool,
    volumes: VolumeNames,
    /// Host and disk of the row before as they are written (`web,3,`), and their volume: nearly always the next row's.
    last: (Vec<u8>, u16),
}

impl Msr {
    fn new(setting: Setting) -> Self {
        Msr { setting, first: true, volumes: VolumeNames::default(), last: (NO_ROW.to_vec(), 0) }
    }

    /// The volume of a row whose host and disk are next in `fields`.
    #[inline]
    fn volume(&mut self, fields: &mut Fields<'_>) -> Result<u16, String> {
        let (last, volume) = &self.last;
        if fields.pass(last) { Ok(*volume) } else { self.other_volume(fields) }
    }

    #[inline(never)]
    fn other_volume(&mut self, fields: &mut Fields<'_>) -> Result<u16, String> {
        let host = fields.text(&HOSTNAME)?;
        let disk = fields.number(&DISK)?;
        let volume = self.volumes.named(&format!("{}_{disk}", host.escape_ascii()))?;
        self.last = (format!("{},{disk},", String::from_utf8_lossy(host)).into_bytes(), volume);
        Ok(volume)
    }

    #[inline]
    fn row(&mut self, line: &[u8]) -> Result<Row, String> {
        let mut fields = Fields::new(line);
        let time = fields.number(&TIMESTAMP)?;
        let volume = self.volume(&mut fields)?;
        let operation = if fields.pass(b"Write,") {
            Operation::Write
        } else if fields.pass(b"Read,") {
            Operation::Read
        } else {
            operation_in_any_case(fields.text(&TYPE)?)?
        };
        let offset = fields.number(&OFFSET)?;
        let size = fields.number(&SIZE)?;
        fields.number(&RESPONSE)?;
        fields.end(COLUMNS)?;
        let time_ns = time.checked_mul(self.setting.time_ns).ok_or_else(|| too_late(time))?;
        if size == 0 {
            return Err(SIZE.misread(b"0") + ", at least 1");
        }
        let (offset, length) = extent(offset, self.setting.address, size, self.setting.size)?;
        Ok(Row { time_ns, operation, offset, length, volume })
    }
}

impl LineFormat for Msr {
    #[inline]
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        if std::mem::take(&mut self.first) && is_header(line) {
            return Ok(HEADER);
        }
        self.row(line).map(Parsed::Row)
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

#[cold]
fn operation_in_any_case(text: &[u8]) -> Result<Operation, String> {
    if text.eq_ignore_ascii_case(b"read") {
        Ok(Operation::Read)
    } else if text.eq_ignore_ascii_case(b"write") {
        Ok(Operation::Write)
    } else {
        Err(TYPE.misread(text))
    }
}

fn is_header(line: &[u8]) -> bool {
    line.eq_ignore_ascii_case(b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime")
}

#[cold]
fn too_late(time: u64) -> String {
    TIMESTAMP.misread(time.to_string().as_bytes()) + ", and below 2^64 ns"
}

#[cfg(test)]
#[path = "msr_tests.rs"]
mod tests;
