//! Alibaba block traces, 2020.
//!
//! A month of 1,000 virtual disks in one file (`io_traces.csv`); parts of it, such as one disk's rows, circulate in the
//! same columns, some with the columns' names as first line. The timestamp comes last: a last line cut off inside it
//! cannot be told from a whole one unless that puts it before the row above.
//!
//! Source: github.com/alibaba/block-traces, "Schema"; J. Li, Q. Wang, P. Lee, C. Shi, "An In-Depth Analysis of Cloud
//! Block Storage Workloads in Large-Scale Production", IISWC 2020.

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Fields, extent};
use super::super::read::lines::{HEADER, LineFormat, Lines, Parsed};
use super::super::record::{Row, VolumeNames};
use super::{Epoch, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "alibaba",
    summary: "Alibaba block traces: device_id,opcode (R or W),offset,length (bytes),timestamp (us)",
    source: "github.com/alibaba/block-traces; Li et al., An In-Depth Analysis of Cloud Block Storage Workloads, IISWC 2020",
    grammar: "\
device_id,opcode,offset,length,timestamp        header: optional, first line only
7,W,8589934592,4096,1600000000000626",
    rules: &[
        "Five fields; opcode is R or W; a request has 1 byte to 1 GiB.",
        "A volume is a device_id.",
        "Rows may be late by up to 100 ms: each was stamped by the server that received the request, and the clocks of a cluster's servers differ.",
    ],
    units: Units { time_ns: Some(1_000), address: Some(1), size: Some(1), read_is: None },
    epoch: Epoch::Unix,
    has_actions: false,
    sort_window_ns: 100_000_000,
    spread: Spread::IfAsked,
    global_volumes: true,
    open: |input, setting| Lines::boxed(input, Alibaba::new(setting)),
    sniff: |head| sniff_lines(head, Alibaba::new(head.setting(&FORMAT))),
    write: None,
};

const COLUMNS: usize = 5;
const BYTES: &str = "bytes, a whole number below 2^64";
const DEVICE: Column = Column { place: 1, name: "device_id", holds: "a whole number below 2^64" };
const OPCODE: Column = Column { place: 2, name: "opcode", holds: "R or W" };
const OFFSET: Column = Column { place: 3, name: "offset", holds: BYTES };
const LENGTH: Column = Column { place: 4, name: "length", holds: BYTES };
const TIMESTAMP: Column = Column { place: 5, name: "timestamp", holds: "us, a whole number below 2^64" };

/// Reads lines.
struct Alibaba {
    setting: Setting,
    /// Whether the first line is still to come: only that may be a header.
    first: bool,
    volumes: VolumeNames,
}

impl Alibaba {
    fn new(setting: Setting) -> Self {
        Alibaba { setting, first: true, volumes: VolumeNames::default() }
    }

    #[inline]
    fn row(&mut self, line: &[u8]) -> Result<Row, String> {
        let mut fields = Fields::new(line);
        let device = fields.number(&DEVICE)?;
        let operation = match fields.text(&OPCODE)? {
            b"R" => Operation::Read,
            b"W" => Operation::Write,
            other => return Err(OPCODE.misread(other)),
        };
        let offset = fields.number(&OFFSET)?;
        let length = fields.number(&LENGTH)?;
        let time = fields.number(&TIMESTAMP)?;
        fields.end(COLUMNS)?;
        let time_ns = time.checked_mul(self.setting.time_ns).ok_or_else(|| TIMESTAMP.too_late(time))?;
        if length == 0 {
            return Err(LENGTH.empty());
        }
        let (offset, length) = extent(offset, self.setting.address, length, self.setting.size)?;
        Ok(Row { volume: self.volumes.numbered(device)?, ..Row::new(time_ns, operation, offset, length) })
    }
}

impl LineFormat for Alibaba {
    #[inline]
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        if std::mem::take(&mut self.first)
            && line.eq_ignore_ascii_case(b"device_id,opcode,offset,length,timestamp")
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
#[path = "alibaba_tests.rs"]
mod tests;
