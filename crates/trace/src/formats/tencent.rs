//! Tencent CBS traces, 2018.
//!
//! Ten days of 5,584 volumes of a cloud block store, an hour a file. The clock ticks once a second, while thousands of
//! requests arrive in it: read as they stand they would arrive in bursts of a second's worth, so they are spread. The
//! published files are tar archives: unpack them first (`tar -xzf`).
//!
//! Source: README of the traces at SNIA IOTTA, set 27917; Y. Zhang et al., "OSCA: An Online-Model Based Cache
//! Allocation Scheme in Cloud Block Storage Systems", ATC 2020.

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Fields, extent};
use super::super::read::lines::{HEADER, LineFormat, Lines, Parsed};
use super::super::record::{Row, VolumeNames};
use super::{Epoch, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "tencent",
    summary: "Tencent CBS: Timestamp (s),Offset,Size (512-byte sectors),IOType (0 = read, 1 = write),VolumeID",
    source: "SNIA IOTTA set 27917; Zhang et al., OSCA, ATC 2020",
    grammar: "\
Timestamp,Offset,Size,IOType,VolumeID        header: optional, first line only
1538323199,105352008,584,1,1576",
    rules: &[
        "Five whole numbers; IOType is 0 or 1; a request has 1 sector to 1 GiB.",
        "A volume is a VolumeID.",
        "Rows may be late by up to 1 s, one tick of the clock.",
    ],
    units: Units { time_ns: Some(1_000_000_000), address: Some(512), size: Some(512), read_is: Some(0) },
    epoch: Epoch::Unix,
    has_actions: false,
    sort_window_ns: 1_000_000_000,
    spread: Spread::ByItself,
    global_volumes: true,
    open: |input, setting| Lines::boxed(input, Tencent::new(setting)),
    sniff: |head| sniff_lines(head, Tencent::new(head.setting(&FORMAT))),
    write: None,
};

const COLUMNS: usize = 5;
const SECTORS: &str = "512-byte sectors, a whole number below 2^64";
const TIMESTAMP: Column = Column { place: 1, name: "Timestamp", holds: "seconds, a whole number below 2^64" };
const OFFSET: Column = Column { place: 2, name: "Offset", holds: SECTORS };
const SIZE: Column = Column { place: 3, name: "Size", holds: SECTORS };
const IO_TYPE: Column = Column { place: 4, name: "IOType", holds: "0 or 1" };
const VOLUME: Column = Column { place: 5, name: "VolumeID", holds: "a whole number below 2^64" };

/// Reads lines.
struct Tencent {
    setting: Setting,
    /// Whether the first line is still to come: only that may be a header.
    first: bool,
    volumes: VolumeNames,
}

impl Tencent {
    fn new(setting: Setting) -> Self {
        Tencent { setting, first: true, volumes: VolumeNames::default() }
    }

    #[inline]
    fn row(&mut self, line: &[u8]) -> Result<Row, String> {
        let mut fields = Fields::new(line);
        let time = fields.number(&TIMESTAMP)?;
        let offset = fields.number(&OFFSET)?;
        let size = fields.number(&SIZE)?;
        let io_type = match fields.text(&IO_TYPE)? {
            b"0" => 0,
            b"1" => 1,
            other => return Err(IO_TYPE.misread(other)),
        };
        let operation = if io_type == self.setting.read_is { Operation::Read } else { Operation::Write };
        let volume = fields.number(&VOLUME)?;
        fields.end(COLUMNS)?;
        let time_ns = time.checked_mul(self.setting.time_ns).ok_or_else(|| TIMESTAMP.too_late(time))?;
        if size == 0 {
            return Err(SIZE.empty());
        }
        let (offset, length) = extent(offset, self.setting.address, size, self.setting.size)?;
        Ok(Row { volume: self.volumes.numbered(volume)?, ..Row::new(time_ns, operation, offset, length) })
    }
}

impl LineFormat for Tencent {
    #[inline]
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        if std::mem::take(&mut self.first)
            && line.eq_ignore_ascii_case(b"Timestamp,Offset,Size,IOType,VolumeID")
        {
            return Ok(HEADER);
        }
        self.row(line).map(Parsed::Row)
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

#[cfg(test)]
#[path = "tencent_tests.rs"]
mod tests;
