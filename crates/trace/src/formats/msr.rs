//! MSR Cambridge csv.
//!
//! Timestamp is a Windows FILETIME, ticks of 100 ns since 1601: about 1.28e17, beyond what a double holds exactly. A
//! last line cut off inside its response time cannot be told from a whole one.
//!
//! Source: D. Narayanan, A. Donnelly, A. Rowstron, "Write Off-Loading: Practical Power Management for Enterprise
//! Storage", FAST 2008; traces at SNIA IOTTA, set 388.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use harmonia_types::Operation;
use memchr::memchr;

use super::super::epoch::{NO_CLOCK_UTC_NS, WINDOWS_TO_UNIX_NS, to_filetime};
use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Fields, extent};
use super::super::read::lines::{HEADER, LineFormat, Lines, Parsed};
use super::super::record::{Row, TraceRecord, VolumeNames};
use super::super::write::{Out, TraceWriter, Written, buffered, unsaid};
use super::free::FreeNumbers;
use super::{Epoch, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "msr",
    summary: "MSR Cambridge csv: Timestamp (100 ns ticks),Hostname,DiskNumber,Type,Offset,Size (bytes),ResponseTime",
    source: "Narayanan et al., Write Off-Loading, FAST 2008; SNIA IOTTA set 388",
    grammar: "\
Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime        header: optional, first line only
128166372003061629,web,3,Read,7014609920,24576,41286",
    rules: &[
        "Some copies have an index column before the first; it is passed over where the first line, header or row, has it.",
        "Seven fields; Type is Read or Write in any case; a request has 1 byte to 1 GiB.",
        "A volume is a disk of a host: `web_3`.",
        "The response time counts the same ticks as Timestamp. Only `replay = \"think-times\"` uses it; 0 means that none was recorded.",
        "Written with the clock times of the trace, rounded down to 100 ns, and response times of 0; trims, flushes and empty requests are left out. A trace without clock times gets those from exactly 2007-02-22 17:00 UTC on, and a file that begins then is read as one without. A volume not named like `web_3` becomes disk 0 of a host of its name, or the first disk of it that is free.",
    ],
    units: Units { time_ns: Some(100), address: Some(1), size: Some(1), read_is: None },
    epoch: Epoch::Windows,
    has_actions: false,
    sort_window_ns: 0,
    spread: Spread::IfAsked,
    global_volumes: true,
    open: |input, setting| Lines::boxed(input, Msr::new(setting)),
    sniff: |head| sniff_lines(head, Msr::new(head.setting(&FORMAT))),
    write: Some(|out, _| Ok(Box::new(MsrWriter::new(out)))),
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
    /// Whether the first line is still to come: it tells what the lines are, and only it may be a header.
    first: bool,
    /// Whether lines begin with an index.
    indexed: bool,
    volumes: VolumeNames,
    /// Host and disk of the row before as they are written (`web,3,`), and their volume: nearly always the next row's.
    last: (Vec<u8>, u16),
    /// Response time of the row before, in ticks.
    response: u64,
}

impl Msr {
    fn new(setting: Setting) -> Self {
        Msr {
            setting,
            first: true,
            indexed: false,
            volumes: VolumeNames::default(),
            last: (NO_ROW.to_vec(), 0),
            response: 0,
        }
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
        // The host's own bytes, which need not be text.
        self.last = ([host, format!(",{disk},").as_bytes()].concat(), volume);
        Ok(volume)
    }

    /// Reads the first line, and every line that begins with an index.
    #[cold]
    fn unusual(&mut self, line: &[u8]) -> Result<Parsed, String> {
        let behind_index = memchr(b',', line).map(|comma| &line[comma + 1..]);
        if std::mem::take(&mut self.first) {
            if is_header(line) {
                return Ok(HEADER);
            }
            let is_row = |line: &[u8]| Msr::new(self.setting.clone()).row(line).is_ok();
            self.indexed = behind_index.is_some_and(|line| is_header(line) || is_row(line));
            if behind_index.is_some_and(is_header) {
                return Ok(HEADER);
            }
        }
        let row = match behind_index {
            Some(line) if self.indexed => {
                self.row(line).map_err(|problem| problem + " (fields are counted behind the index)")
            }
            _ => self.row(line),
        };
        row.map(Parsed::Row)
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
        let response = fields.number(&RESPONSE)?;
        fields.end(COLUMNS)?;
        let time_ns = time.checked_mul(self.setting.time_ns).ok_or_else(|| too_late(time))?;
        if size == 0 {
            return Err(SIZE.misread(b"0") + ", at least 1");
        }
        let (offset, length) = extent(offset, self.setting.address, size, self.setting.size)?;
        self.response = response;
        Ok(Row { volume, ..Row::new(time_ns, operation, offset, length) })
    }
}

impl LineFormat for Msr {
    #[inline]
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        if self.first || self.indexed {
            return self.unusual(line);
        }
        self.row(line).map(Parsed::Row)
    }

    fn response_ns(&self) -> u64 {
        self.response.saturating_mul(self.setting.time_ns)
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

/// Writes lines in the format's own units.
struct MsrWriter {
    out: BufWriter<Out>,
    /// Host and disk of each volume, by its index, as a line has them.
    disks: Vec<String>,
    /// Disks by host.
    taken: BTreeMap<String, FreeNumbers>,
    /// The tick that is time 0.
    begins_ticks: u64,
}

/// The tick that is time 0 where nobody knows when that was: the hour in which the published traces begin, so that whoever
/// expects dates finds plausible ones. [`NO_CLOCK_UTC_NS`] says what a reader makes of it.
const NO_CLOCK_TICKS: u64 = (NO_CLOCK_UTC_NS as i128 + WINDOWS_TO_UNIX_NS) as u64 / TICK_NS;
const TICK_NS: u64 = 100;
/// The last tick that is read back.
const LAST_TICK: u64 = u64::MAX / TICK_NS;

const ROUNDED: Written = Written::Changed("arrival rounded down to 100 ns");
const TRIM: Written = Written::Dropped("a trim: MSR has reads and writes");
const FLUSH: Written = Written::Dropped("a flush: MSR has reads and writes");
const EMPTY: Written = Written::Dropped("an empty request: MSR's have a byte at least");
const TOO_LATE: Written = Written::Dropped("more than 178 years behind the first, beyond the format's clock");

impl MsrWriter {
    fn new(out: Out) -> Self {
        MsrWriter {
            out: buffered(out),
            disks: Vec::new(),
            taken: BTreeMap::new(),
            begins_ticks: NO_CLOCK_TICKS,
        }
    }

    /// Gives a host and a disk to the volumes up to `volume` that have none yet.
    fn name_disks(&mut self, volume: usize, volumes: &VolumeNames) {
        while self.disks.len() <= volume {
            let name = volumes.names().get(self.disks.len()).map_or("", String::as_str);
            let (host, disk) = host_and_disk(name);
            // Two volumes are never one disk, whatever their names become.
            let disk = self.taken.entry(host.clone()).or_default().take(disk);
            self.disks.push(format!("{host},{disk}"));
        }
    }
}

impl TraceWriter for MsrWriter {
    fn begins(&mut self, utc_ns: u64) {
        self.begins_ticks = u64::try_from(to_filetime(utc_ns)).unwrap_or(NO_CLOCK_TICKS);
    }

    fn write(&mut self, record: &TraceRecord, volumes: &VolumeNames) -> io::Result<Written> {
        let kind = match record.operation {
            Operation::Read => "Read",
            Operation::Write => "Write",
            Operation::Trim => return Ok(TRIM),
            Operation::Flush => return Ok(FLUSH),
        };
        let TraceRecord { time_ns, offset, length, .. } = *record;
        if length == 0 {
            return Ok(EMPTY);
        }
        let tick = self.begins_ticks + time_ns / TICK_NS;
        if tick > LAST_TICK {
            return Ok(TOO_LATE);
        }
        let volume = usize::from(record.volume);
        if volume >= self.disks.len() {
            self.name_disks(volume, volumes);
        }
        writeln!(self.out, "{tick},{},{kind},{offset},{length},0", self.disks[volume])?;
        let exact = if time_ns.is_multiple_of(TICK_NS) { Written::Exact } else { ROUNDED };
        Ok(unsaid(record).unwrap_or(exact))
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

/// Host and disk for a volume: those that its name was made of, if this format made it, else disk 0 of a host of that
/// name.
fn host_and_disk(name: &str) -> (String, u64) {
    let own = name.rsplit_once('_').and_then(|(host, disk)| {
        let number = disk.parse().ok()?;
        (!host.is_empty() && format!("{number}") == disk).then_some((host, number))
    });
    let (host, disk) = own.unwrap_or((name, 0));
    (host_of(host), disk)
}

/// `name` with what a csv or a shell may trip over replaced.
fn host_of(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.:+".contains(c) { c } else { '-' };
    if name.is_empty() { "volume".to_owned() } else { name.chars().map(safe).collect() }
}

#[cfg(test)]
#[path = "msr_tests.rs"]
mod tests;
