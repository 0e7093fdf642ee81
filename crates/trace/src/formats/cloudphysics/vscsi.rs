//! The binary records of a CloudPhysics trace, as VMware's vscsi tracing wrote them.
//!
//! ```text
//!   byte       0      4       8      12    14        16     24      32
//!   vscsi 1    | sn   | size  | nSG  | op  | version | lbn  | time  |
//!
//!   byte       0    2         4    8      12    16     24     32    40
//!   vscsi 2    | op | version | sn | size | nSG | lbn  | time | rt  |
//! ```

use std::fmt;
use std::sync::Arc;

use super::super::super::options::Setting;
use super::super::super::read::lines::Parsed;
use super::super::super::read::window::Window;
use super::super::super::read::{Clock, Place, Problem, ReadLog, RowReader, TraceInput};
use super::super::super::record::{Row, VolumeNames};
use super::{Command, disk};

/// The unit of times, in ns.
const TIME_NS: u64 = 1_000;

/// How records are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

/// What matters of a record.
struct Record {
    op: u16,
    version: u16,
    size: u32,
    lbn: u64,
    time: u64,
    /// Response time, in the unit of `time`; 0 where records have none.
    rt: u64,
}

impl Version {
    /// The version that most of these first bytes' whole records say they have, if there is one.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        [Version::Two, Version::One].into_iter().find(|version| {
            let records = head.chunks_exact(version.record_bytes());
            let plausible =
                |bytes: &&[u8]| version.record(bytes).is_some_and(|record| version.is_plausible(&record));
            records.len() > 0 && 2 * records.clone().filter(plausible).count() > records.len()
        })
    }

    /// The high byte of a record's version.
    fn number(self) -> u8 {
        match self {
            Version::One => 1,
            Version::Two => 2,
        }
    }

    fn record_bytes(self) -> usize {
        match self {
            Version::One => 32,
            Version::Two => 40,
        }
    }

    fn is_plausible(self, record: &Record) -> bool {
        record.version >> 8 == u16::from(self.number()) && u8::try_from(record.op).is_ok()
    }

    /// The record in the first of these bytes, if they hold one.
    #[inline]
    fn record(self, bytes: &[u8]) -> Option<Record> {
        let (op, version, size) = match self {
            Version::One => (12, 14, 4),
            Version::Two => (0, 2, 8),
        };
        Some(Record {
            op: u16::from_le_bytes(at(bytes, op)?),
            version: u16::from_le_bytes(at(bytes, version)?),
            size: u32::from_le_bytes(at(bytes, size)?),
            lbn: u64::from_le_bytes(at(bytes, 16)?),
            time: u64::from_le_bytes(at(bytes, 24)?),
            rt: match self {
                Version::One => 0,
                Version::Two => u64::from_le_bytes(at(bytes, 32)?),
            },
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.number())
    }
}

/// The `N` bytes from `start`.
#[inline]
fn at<const N: usize>(bytes: &[u8], start: usize) -> Option<[u8; N]> {
    bytes.get(start..)?.first_chunk().copied()
}

/// Reads records.
pub(super) struct Vscsi {
    window: Window,
    version: Version,
    setting: Setting,
    time_ns: u64,
    volumes: VolumeNames,
    /// Records behind the reader.
    passed: u64,
    /// Where the record begins that was read last.
    byte: u64,
    /// Of the row given last, in ns.
    response_ns: u64,
}

impl Vscsi {
    pub(super) fn new(input: &Arc<TraceInput>, version: Version, setting: Setting) -> Result<Self, String> {
        Ok(Vscsi {
            window: Window::new(input)?,
            version,
            time_ns: setting.asked_time_ns.unwrap_or(TIME_NS),
            setting,
            volumes: disk(),
            passed: 0,
            byte: 0,
            response_ns: 0,
        })
    }

    /// The next record; `None` at the end of the file.
    #[inline]
    fn next_record(&mut self) -> Result<Option<Record>, Problem> {
        let whole = self.version.record_bytes();
        self.byte = self.window.passed();
        let held = self.window.holds(whole).map_err(Problem::File)?;
        let Some(record) = self.version.record(self.window.bytes()).filter(|_| held) else {
            let left = self.window.bytes().len();
            if left == 0 {
                return Ok(None);
            }
            self.window.pass(left);
            self.passed += 1;
            return Err(Problem::Row(format!(
                "found {left} bytes, expected a record of {whole}: the file looks truncated"
            )));
        };
        self.window.pass(whole);
        self.passed += 1;
        Ok(Some(record))
    }

    #[inline]
    fn parsed(&self, record: &Record) -> Result<Parsed, String> {
        let &Record { op, size, lbn, time, .. } = record;
        let Some(code) = u8::try_from(op).ok().filter(|_| self.version.is_plausible(record)) else {
            return Err(self.implausible(record));
        };
        let time_ns = time.checked_mul(self.time_ns).ok_or_else(|| self.too_late(time))?;
        Command { code, time_ns, lbn, size: u64::from(size) }.parsed(&self.setting)
    }

    #[cold]
    fn implausible(&self, record: &Record) -> String {
        let Record { op, version, .. } = record;
        format!(
            "found version {version:#06x} and SCSI operation code {op:#04x}, expected a version of 0x{:02x}.. and a code of one byte: the record is damaged",
            self.version.number()
        )
    }

    #[cold]
    fn too_late(&self, time: u64) -> String {
        format!("found a time of {time} x {} ns, expected one below 2^64 ns", self.time_ns)
    }
}

impl RowReader for Vscsi {
    fn next_row(&mut self, log: &mut ReadLog) -> Result<Option<Row>, Problem> {
        loop {
            let Some(record) = self.next_record()? else {
                return Ok(None);
            };
            match self.parsed(&record).map_err(Problem::Row)? {
                Parsed::Row(row) => {
                    self.response_ns = record.rt.saturating_mul(self.time_ns);
                    return Ok(Some(row));
                }
                Parsed::Skip(reason) => log.skip(reason),
                Parsed::Lose(reason) => log.lose(reason),
                Parsed::Nothing => {}
            }
        }
    }

    fn place(&self) -> Place {
        Place::Record { number: self.passed, byte: self.byte }
    }

    fn response_ns(&self) -> u64 {
        self.response_ns
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }

    fn clock(&self) -> Option<Clock> {
        Some(Clock { tick_ns: self.time_ns, coarse: false })
    }
}
