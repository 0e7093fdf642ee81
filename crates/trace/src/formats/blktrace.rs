//! The binary files that blktrace writes, one a processor.
//!
//! A file is a sequence of records, each followed by as many bytes of payload as it says. All fields are in the byte order
//! of the machine that recorded; the magic number at the start of each record tells which. Its last byte is the version:
//! 7, with records of 48 bytes, or 8, with records of 64, which blktrace asks for since December 2025.
//!
//! ```text
//!   7:  0 magic, version   4 sequence   8 time, ns (u64)   16 sector (u64)   24 bytes   28 action
//!      32 pid             36 device    40 cpu             44 error (u16)    46 bytes of payload (u16)
//!   8:  0 magic, version   4 sequence   8 time, ns (u64)   16 sector (u64)   24 bytes   28 pid
//!      32 action (u64)    40 device    44 cpu             48 error (u16)    50 bytes of payload (u16)   52 nothing
//! ```
//!
//! Action has the event in its low 16 bits (256 more where a control group follows as payload) and its categories in
//! the high ones: read, write, flush, discard, a note, and so on. Version 8 has room for operations on zones and for writes
//! of zeroes, which version 7 shows as writes. Device is major << 20 | minor. The records of a
//! processor are in the order of time, as the kernel takes time and place with interrupts off; `blktrace -o -` writes
//! those of all processors into one file, handing them over every 50 ms. The sort window of 1 s is for that.
//!
//! A processor without an event leaves an empty file, one without a request a file of notes: both are as they should
//! be if another file has a request.
//!
//! **Damage.** A record is found from the length of the one before it, so behind a wrong magic number nothing can be
//! found with certainty: the bytes of one may occur inside a payload. Reading ends there with an error, tolerated or
//! not.
//!
//! Not read: versions before 7, which the blktrace of today refuses too.
//!
//! Source: blktrace's and Linux's `blktrace_api.h` (`blk_io_trace`, `blk_io_trace2`); blktrace's `blktrace.c` and `blkparse.c`.

use std::sync::Arc;

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::window::Window;
use super::super::read::{Place, Problem, ReadLog, RowReader, TraceInput};
use super::super::record::{Row, VolumeNames};
use super::block_events::{
    ACTION_RULE, Asked, Choice, Does, Event, OPERATION_RULE, Rwbs, SECTOR, count_unread,
};
use super::{Epoch, Fit, Head, Spread, TraceFormat};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "blktrace",
    summary: "blktrace binary, versions 7 and 8: records of 48 or 64 bytes and payload, one file a processor, either byte order",
    source: "Linux, include/uapi/linux/blktrace_api.h; blktrace(8)",
    grammar: "\
magic 0x65617407, sequence: u32; time (ns), sector (512 bytes): u64; bytes, action, pid, device, cpu: u32;
error, length of payload: u16; payload                                  repeated, in either byte order
magic 0x65617408, sequence: u32; time (ns), sector (512 bytes): u64; bytes, pid: u32; action: u64; device, cpu: u32;
error, length of payload: u16; 12 bytes; payload                        the same for version 8",
    rules: &[
        ACTION_RULE,
        OPERATION_RULE,
        "The files of one recording are read as one and merged by time: name them all, or `NAME` for NAME.blktrace.0 and so on. Empty ones among them, and ones without a request, are those of idle processors.",
        "Notes (names of processes, messages, time of day) are skipped and counted. The first that tells the time of day, which the kernel leaves when a recording starts, gives the trace its clock time.",
        "Behind a record without the magic number nothing can be found again: an error even where malformed records are tolerated.",
        "A volume is a device, `8,16`.",
    ],
    units: Units::NONE,
    epoch: Epoch::InFile,
    has_actions: true,
    sort_window_ns: 1_000_000_000,
    spread: Spread::Never,
    global_volumes: true,
    open: |input, setting| Ok(Box::new(Blktrace::new(input, setting)?)),
    sniff,
    write: None,
};

/// "eat" and the version.
const MAGIC: u32 = 0x6561_7400;
/// Bits of a device's minor number.
const MINOR_BITS: u32 = 20;
/// The note that tells the time of day: seconds since 1970 and ns, each of 32 bits.
const NOTE_OF_TIME: u16 = 1;
/// Set beside the event where a control group is in the payload.
const WITH_GROUP: u16 = 0x100;

/// Bits of the categories.
mod category {
    pub(super) const WRITE: u64 = 1 << 1;
    pub(super) const FLUSH: u64 = 1 << 2;
    pub(super) const PASSTHROUGH: u64 = 1 << 9;
    pub(super) const NOTE: u64 = 1 << 10;
    pub(super) const DISCARD: u64 = 1 << 13;
    pub(super) const FUA: u64 = 1 << 15;
    /// To set the zone of, or all zones, back. From here on in version 8 only.
    pub(super) const RESET: u64 = 1 << 17 | 1 << 18;
    /// To finish, open or close a zone.
    pub(super) const MANAGES: u64 = 1 << 19 | 1 << 20 | 1 << 21;
    pub(super) const ZEROES: u64 = 1 << 22;
}

/// Recognises a file by its first record's magic number. Another version is recognised and refused by the reader.
fn sniff(head: &Head<'_>) -> Fit {
    match Order::of(head.bytes) {
        Some((order, version)) => Fit::Yes(format!(
            "it begins with the magic number of blktrace, version {version}, {}",
            order.name()
        )),
        None => Fit::No { fitting: 0, problem: "no magic number of blktrace".to_owned() },
    }
}

/// How records are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Seven,
    Eight,
}

impl Version {
    fn of(number: u32) -> Option<Self> {
        match number {
            7 => Some(Version::Seven),
            8 => Some(Version::Eight),
            _ => None,
        }
    }

    fn magic(self) -> u32 {
        MAGIC
            | match self {
                Version::Seven => 7,
                Version::Eight => 8,
            }
    }

    /// Bytes of a record before its payload.
    fn header(self) -> usize {
        match self {
            Version::Seven => 48,
            Version::Eight => 64,
        }
    }
}

/// The order of bytes in a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Order {
    /// That of the file which begins so, and its version.
    fn of(bytes: &[u8]) -> Option<(Self, u32)> {
        let first = bytes.first_chunk::<4>()?;
        [(Order::Little, u32::from_le_bytes(*first)), (Order::Big, u32::from_be_bytes(*first))]
            .into_iter()
            .find(|(_, magic)| magic & !0xff == MAGIC)
            .map(|(order, magic)| (order, magic & 0xff))
    }

    fn name(self) -> &'static str {
        match self {
            Order::Little => "little-endian",
            Order::Big => "big-endian",
        }
    }
}

/// What is used of a record.
#[derive(Debug, Clone, Copy)]
struct Record {
    magic: u32,
    time_ns: u64,
    sector: u64,
    bytes: u32,
    event: u16,
    categories: u64,
    device: u32,
    payload: u16,
}

impl Record {
    #[inline]
    fn of(window: &[u8], order: Order, version: Version) -> Option<Self> {
        let mut numbers = Numbers { rest: window.get(..version.header())?, order };
        let magic = numbers.u32()?;
        let _sequence = numbers.u32()?;
        let (time_ns, sector) = (numbers.u64()?, numbers.u64()?);
        let bytes = numbers.u32()?;
        let action = match version {
            Version::Seven => {
                let action = numbers.u32()?;
                let _pid = numbers.u32()?;
                u64::from(action)
            }
            Version::Eight => {
                let _pid = numbers.u32()?;
                numbers.u64()?
            }
        };
        let device = numbers.u32()?;
        let _cpu_and_error = (numbers.u32()?, numbers.u16()?);
        let payload = numbers.u16()?;
        let (event, categories) = (action as u16 & !WITH_GROUP, action >> 16);
        Some(Record { magic, time_ns, sector, bytes, event, categories, device, payload })
    }

    fn is(&self, category: u64) -> bool {
        self.categories & category != 0
    }

    #[inline]
    fn event(&self) -> Event {
        if self.is(category::NOTE) { Event::NOTE } else { Event::numbered(self.event) }
    }

    /// As blkparse would print it.
    #[inline]
    fn rwbs(&self) -> Rwbs {
        let does = if self.is(category::DISCARD | category::ZEROES) {
            Does::This(Operation::Trim)
        } else if self.is(category::RESET) {
            Does::RESET
        } else if self.is(category::MANAGES) {
            Does::MANAGES
        } else if self.is(category::WRITE) {
            Does::This(Operation::Write)
        } else if self.bytes > 0 {
            Does::This(Operation::Read)
        } else {
            Does::Nothing
        };
        let fua = does == Does::This(Operation::Write) && self.is(category::FUA);
        Rwbs { flush: self.is(category::FLUSH), does, fua }
    }

    /// First sector and bytes, if it has any.
    #[inline]
    fn place(&self) -> Option<(u64, u64)> {
        let bytes = u64::from(self.bytes);
        (bytes >= SECTOR && !self.is(category::PASSTHROUGH)).then_some((self.sector, bytes))
    }
}

/// Numbers one behind the other.
struct Numbers<'a> {
    rest: &'a [u8],
    order: Order,
}

impl Numbers<'_> {
    #[inline]
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        let mut bytes = *first;
        if self.order == Order::Big {
            bytes.reverse();
        }
        Some(bytes)
    }

    #[inline]
    fn u16(&mut self) -> Option<u16> {
        self.bytes().map(u16::from_le_bytes)
    }

    #[inline]
    fn u32(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    #[inline]
    fn u64(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_le_bytes)
    }
}

/// Reads records.
struct Blktrace {
    window: Window,
    order: Order,
    version: Version,
    choice: Choice,
    volumes: VolumeNames,
    /// UTC at time 0 of the records, in ns since 1970, once a note has told it.
    zero_utc_ns: Option<i128>,
    /// Device and volume of the row before.
    last: Option<(u32, u16)>,
    /// Records behind the reader.
    passed: u64,
    /// Where the last of them begins.
    byte: u64,
}

impl Blktrace {
    fn new(input: &Arc<TraceInput>, setting: Setting) -> Result<Self, String> {
        let mut window = Window::new(input)?;
        window.holds(Version::Seven.header())?;
        let (order, version) = match Order::of(window.bytes()) {
            Some((order, version)) => {
                let unknown =
                    || format!("is a file of blktrace in version {version}, expected version 7 or 8");
                (order, Version::of(version).ok_or_else(unknown)?)
            }
            None => {
                let found = window.bytes().get(..4).unwrap_or(window.bytes());
                return Err(format!(
                    "found `{}` at its start, expected the magic number of blktrace: {:#010x} in either byte order",
                    found.escape_ascii(),
                    Version::Seven.magic()
                ));
            }
        };
        let (choice, volumes) = (Choice::new(&setting), VolumeNames::default());
        Ok(Blktrace {
            window,
            order,
            version,
            choice,
            volumes,
            zero_utc_ns: None,
            last: None,
            passed: 0,
            byte: 0,
        })
    }

    /// Passes over the next record; `None` behind the last.
    #[inline]
    fn record(&mut self) -> Result<Option<Record>, Problem> {
        let header = self.version.header();
        self.window.holds(header).map_err(Problem::File)?;
        let Some(record) = Record::of(self.window.bytes(), self.order, self.version) else {
            return if self.window.bytes().is_empty() { Ok(None) } else { Err(self.truncated(header)) };
        };
        if record.magic != self.version.magic() {
            return Err(self.lost(record.magic));
        }
        let whole = header + usize::from(record.payload);
        if !self.window.holds(whole).map_err(Problem::File)? {
            return Err(self.truncated(whole));
        }
        if record.is(category::NOTE) && record.event == NOTE_OF_TIME {
            self.note_time(&record, header..whole);
        }
        self.pass(whole);
        Ok(Some(record))
    }

    /// Takes note of the time of day that a note's payload tells, behind the control group if there is one.
    #[cold]
    fn note_time(&mut self, record: &Record, payload: std::ops::Range<usize>) {
        let payload = &self.window.bytes()[payload];
        let mut numbers = Numbers { rest: &payload[payload.len().saturating_sub(8)..], order: self.order };
        if let (Some(seconds), Some(ns), None) = (numbers.u32(), numbers.u32(), self.zero_utc_ns) {
            let utc_ns = i128::from(seconds) * 1_000_000_000 + i128::from(ns);
            self.zero_utc_ns = Some(utc_ns - i128::from(record.time_ns));
        }
    }

    #[inline]
    fn pass(&mut self, bytes: usize) {
        self.byte = self.window.passed();
        self.passed += 1;
        self.window.pass(bytes);
    }

    #[cold]
    fn truncated(&mut self, whole: usize) -> Problem {
        let left = self.window.bytes().len();
        self.pass(left);
        Problem::Row(format!("found {left} bytes of a record of {whole}: the file is truncated"))
    }

    #[cold]
    fn lost(&self, magic: u32) -> Problem {
        Problem::File(format!(
            "found {magic:#010x} at byte {}, the start of record {}, expected the magic number {:#010x}: \
             nothing behind it can be read",
            self.window.passed(),
            self.passed + 1,
            self.version.magic()
        ))
    }

    #[inline]
    fn volume(&mut self, device: u32) -> Result<u16, String> {
        match self.last {
            Some((last, volume)) if last == device => Ok(volume),
            _ => self.other_volume(device),
        }
    }

    #[cold]
    fn other_volume(&mut self, device: u32) -> Result<u16, String> {
        let (major, minor) = (device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1));
        let volume = self.volumes.named(&format!("{major},{minor}"))?;
        self.last = Some((device, volume));
        Ok(volume)
    }
}

impl RowReader for Blktrace {
    fn next_row(&mut self, log: &mut ReadLog) -> Result<Option<Row>, Problem> {
        while let Some(record) = self.record()? {
            let action = match record.event() {
                Event::Of(action) => action,
                Event::Other(reason) => {
                    log.skip(reason);
                    continue;
                }
            };
            let rwbs = record.rwbs();
            let asked = rwbs.asks(record.place());
            if let Some(reason) = self.choice.passes_over(action) {
                count_unread(&mut log.events, action, asked);
                log.skip(reason);
                continue;
            }
            match asked.map_err(Problem::Row)? {
                Asked::Nothing(reason) => log.skip(reason),
                Asked::Request(operation, offset, length) => {
                    log.events.add(action, length);
                    let volume = self.volume(record.device).map_err(Problem::Row)?;
                    return Ok(Some(Row {
                        volume,
                        fua: rwbs.fua,
                        ..Row::new(record.time_ns, operation, offset, length)
                    }));
                }
            }
        }
        Ok(None)
    }

    fn place(&self) -> Place {
        Place::Record { number: self.passed, byte: self.byte }
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }

    fn zero_utc_ns(&self) -> Option<i128> {
        self.zero_utc_ns
    }

    fn no_rows(&self) -> String {
        self.choice.missing()
    }
}

#[cfg(test)]
#[path = "blktrace_tests.rs"]
mod tests;
