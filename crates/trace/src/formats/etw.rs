//! Disk rows of Event Tracing for Windows as xperf writes them: the traces of Exchange and of Microsoft's production servers.
//!
//! A header names the columns of every event. Offsets and sizes are hexadecimal. TimeStamp, in us, is of completion, so a
//! request was issued ElapsedTime before. Files of the traces at SNIA IOTTA hold other events too.
//!
//! Source: SNIA IOTTA, Microsoft Production Server and Microsoft Enterprise (Exchange) traces, their READMEs; S. Kavalanekar
//! et al., "Characterization of Storage Workload Traces from Production Windows Servers", IISWC 2008.

use harmonia_types::Operation;

use super::super::epoch::of_filetime;
use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, excerpt, extent, number_or_hex, trimmed, whole};
use super::super::read::lines::{LineFormat, Lines, Parsed, first_lines};
use super::super::record::{Row, VolumeNames};
use super::{Epoch, Fit, Head, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "etw",
    summary: "disk rows of Event Tracing for Windows (xperf): DiskRead or DiskWrite,TimeStamp (us),..,ByteOffset,IOSize,ElapsedTime,DiskNum",
    source: "SNIA IOTTA, Microsoft Production Server Traces and Exchange Server Traces; Kavalanekar et al., IISWC 2008",
    grammar: "\
BeginHeader                                                         header: optional, names the columns of each event
DiskRead,  TimeStamp,  Process Name ( PID),  ThreadID,  IrpPtr,  ByteOffset,  IOSize,  ElapsedTime,  DiskNum, ...
EndHeader
DiskRead,       2500,      server.exe (2040),     1200,    0xfa,  0x00100000,  0x2000,          300,        0, ...",
    rules: &[
        "DiskRead and DiskWrite are read, and DiskFlush if it is there. All other events are skipped and counted.",
        "TimeStamp is when a request completed: it was issued ElapsedTime before. ElapsedTime is the response time, which only `replay = \"think-times\"` uses.",
        "Numbers are decimal, or hexadecimal behind 0x. Rows come in the order of completion: requests may be a minute late.",
        "TimeStamp counts from `Trace Start`, a FILETIME in the line behind the header, which gives the trace its clock time.",
        "A volume is a DiskNum.",
    ],
    units: Units { time_ns: Some(1_000), address: Some(1), size: Some(1), read_is: None },
    epoch: Epoch::InFile,
    has_actions: false,
    sort_window_ns: 60_000_000_000,
    spread: Spread::Never,
    global_volumes: false,
    open: |input, setting| Lines::boxed(input, Etw::new(setting)),
    sniff,
    write: None,
};

/// Completions lie behind this much time, so that requests issued before the first completion have a time above 0.
const BASE_NS: u64 = 86_400_000_000_000;
/// What begins the line behind the header, and the field of it that says when TimeStamp is 0.
const SYSTEM: &[u8] = b"OS Version:";
const TRACE_START: &[u8] = b"Trace Start:";
const OTHER: &str = "another event than DiskRead, DiskWrite and DiskFlush";
const NUMBER: &str = "a whole number below 2^64, in digits or as 0x1f";

/// The events that are read.
const EVENTS: [(&[u8], Operation); 3] =
    [(b"DiskRead", Operation::Read), (b"DiskWrite", Operation::Write), (b"DiskFlush", Operation::Flush)];

/// Where the columns of an event are, counted from 0.
#[derive(Debug, Clone, Copy)]
struct Places {
    time: usize,
    offset: usize,
    size: usize,
    elapsed: usize,
    disk: usize,
}

/// As in the published traces.
const OF_DATA: Places = Places { time: 1, offset: 5, size: 6, elapsed: 7, disk: 8 };
const OF_FLUSH: Places = Places { time: 1, offset: 0, size: 0, elapsed: 5, disk: 6 };

impl Places {
    fn named(words: &[&[u8]], flush: bool) -> Result<Places, String> {
        let find = |name: &str| {
            words.iter().position(|word| word.eq_ignore_ascii_case(name.as_bytes())).ok_or_else(|| {
                format!("found a header of {} without {name}, expected that column", excerpt(words[0]))
            })
        };
        let (offset, size) = if flush { (0, 0) } else { (find("ByteOffset")?, find("IOSize")?) };
        Ok(Places {
            time: find("TimeStamp")?,
            offset,
            size,
            elapsed: find("ElapsedTime")?,
            disk: find("DiskNum")?,
        })
    }
}

fn event_of(word: &[u8]) -> Option<usize> {
    EVENTS.iter().position(|(name, _)| word == *name)
}

fn fields(line: &[u8]) -> Vec<&[u8]> {
    line.split(|&byte| byte == b',').map(trimmed).collect()
}

/// Text with commas in it is common; two numbers in hexadecimal where disk rows have them are not.
fn sniff(head: &Head<'_>) -> Fit {
    let is_row = |line: &[u8]| {
        let fields = fields(line);
        event_of(fields[0]).is_some() && fields.len() > OF_FLUSH.disk && number_or_hex(fields[1]).is_some()
    };
    if first_lines(head.bytes, head.complete).any(is_row) {
        sniff_lines(head, Etw::new(head.setting(&FORMAT)))
    } else {
        Fit::No { fitting: 0, problem: "no row of DiskRead or DiskWrite in its first lines".to_owned() }
    }
}

/// Reads lines.
struct Etw {
    setting: Setting,
    places: [Places; 3],
    in_header: bool,
    /// When TimeStamp is 0, in ns since 1970.
    start_utc_ns: Option<i128>,
    volumes: VolumeNames,
    response_ns: u64,
}

impl Etw {
    fn new(setting: Setting) -> Self {
        let places = [OF_DATA, OF_DATA, OF_FLUSH];
        Etw {
            setting,
            places,
            in_header: false,
            start_utc_ns: None,
            volumes: VolumeNames::default(),
            response_ns: 0,
        }
    }

    fn row(&mut self, event: usize, fields: &[&[u8]]) -> Result<Row, String> {
        let Places { time, offset, size, elapsed, disk } = self.places[event];
        let Setting { time_ns: unit, address, size: size_unit, .. } = self.setting;
        let number = |index: usize, name: &'static str| {
            let column = Column { place: index + 1, name, holds: NUMBER };
            let field = fields.get(index).copied().unwrap_or_default();
            number_or_hex(field).ok_or_else(|| column.misread(field))
        };
        let in_ns = |index: usize, name: &'static str| {
            let value = number(index, name)?;
            let column = Column { place: index + 1, name, holds: NUMBER };
            value.checked_mul(unit).ok_or_else(|| column.too_late(value))
        };
        let (completed, elapsed) = (in_ns(time, "TimeStamp")?, in_ns(elapsed, "ElapsedTime")?);
        let column = Column { place: time + 1, name: "TimeStamp", holds: NUMBER };
        let issued = completed.checked_add(BASE_NS).ok_or_else(|| column.too_late(completed / unit))?;
        let operation = EVENTS[event].1;
        let (offset, length) = match operation {
            Operation::Flush => (0, 0),
            _ => extent(number(offset, "ByteOffset")?, address, number(size, "IOSize")?, size_unit)?,
        };
        let volume = self.volumes.numbered(number(disk, "DiskNum")?)?;
        self.response_ns = elapsed;
        Ok(Row { volume, ..Row::new(issued.saturating_sub(elapsed), operation, offset, length) })
    }
}

impl LineFormat for Etw {
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        let fields = fields(line);
        match (event_of(fields[0]), fields[0]) {
            (_, b"BeginHeader") => self.in_header = true,
            (_, b"EndHeader") => self.in_header = false,
            (Some(event), _) if self.in_header => {
                self.places[event] = Places::named(&fields, EVENTS[event].1 == Operation::Flush)?;
            }
            (Some(event), _) => return self.row(event, &fields).map(Parsed::Row),
            (None, b"") => {}
            (None, _) if self.in_header => {}
            (None, word) => {
                if word.starts_with(SYSTEM) {
                    self.start_utc_ns = self.start_utc_ns.or_else(|| trace_start(&fields));
                }
                return Ok(Parsed::Skip(OTHER));
            }
        }
        Ok(Parsed::Nothing)
    }

    fn response_ns(&self) -> u64 {
        self.response_ns
    }

    fn zero_utc_ns(&self) -> Option<i128> {
        Some(self.start_utc_ns? - i128::from(BASE_NS))
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

/// When the recording began, in ns since 1970, as the line behind the header says.
fn trace_start(fields: &[&[u8]]) -> Option<i128> {
    let start = fields.iter().find_map(|field| field.strip_prefix(TRACE_START))?;
    whole(trimmed(start)).map(of_filetime)
}

#[cfg(test)]
mod tests {
    use harmonia_types::Operation::{Flush, Read, Write};

    use super::super::testing::{assert_refused, detected, read_with};
    use crate::TraceOptions;

    const HEADER: &str = "BeginHeader\n\
        DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum\n\
        DiskWrite, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, IOSize, ByteOffset, ElapsedTime, DiskNum\n\
        Process, TimeStamp, Name\n\
        EndHeader\n";

    #[test]
    fn disk_rows_are_requests_issued_before_they_completed() {
        let text = HEADER.to_owned()
            + "OS Version: 6.0\n"
            + "   DiskRead,   1000, a.exe (4),  12, 0xfa, 0x0000100000, 0x00002000,  300,  0\n"
            + "  DiskWrite,   1100, a.exe (4),  12, 0xfa, 4096, 0x100000,  500,  1, 0x43, \"C:\\x\"\n"
            + "  DiskFlush,   1200, a.exe (4),  12, 0xfa,  200,  1, 0x43\n"
            + "    Process,   1300, b.exe\n";
        assert_eq!(detected(text.as_bytes()), Ok("etw"));
        let (records, reader) = read_with(text.as_bytes(), &TraceOptions::default()).unwrap();
        let found: Vec<_> =
            records.iter().map(|r| (r.time_ns, r.operation, r.offset, r.length, r.volume)).collect();
        assert_eq!(
            found,
            [(0, Write, 1 << 20, 4096, 1), (100_000, Read, 1 << 20, 8192, 0), (400_000, Flush, 0, 0, 1)]
        );
        assert_eq!(reader.volumes().names(), ["0", "1"]);
        assert_eq!(reader.log().skipped[0].rows, 2);
    }

    #[test]
    fn malformed_input_is_refused_with_its_place() {
        let row = |line: &str| format!("DiskRead, 1, a, 2, 0, 0, 512, 1, 0\n{line}\n");
        let table = [
            (row("DiskRead, x, a, 2, 0, 0, 512, 1, 0"), "t:2: found `x` in field 2 (TimeStamp)"),
            (
                row("DiskRead, 1, a, 2, 0, q, 512, 1, 0"),
                "found `q` in field 6 (ByteOffset), expected a whole number below 2^64, in digits or as",
            ),
            (row("DiskRead, 1, a, 2, 0, 0, 512"), "found `` in field 8 (ElapsedTime)"),
            (row("DiskRead, 1, a, 2, 0, 0, 0x40000001, 1, 0"), "expected at most 1 GiB"),
            (row("DiskRead, 18446744073709551615, a, 2, 0, 0, 512, 1, 0"), "below 2^64 ns"),
            (
                "BeginHeader\nDiskRead, TimeStamp\nEndHeader\n".to_owned(),
                "t:2: found a header of DiskRead without ByteOffset",
            ),
        ];
        for (text, expected) in table {
            assert_refused("etw", &[(text.as_bytes(), expected)]);
        }
    }
}
