//! SPC trace file format.
//!
//! ASU is the application storage unit, an address space of its own. LBA counts blocks from the ASU's start; the format
//! leaves their size to the description of a trace, and 512 bytes is what those that were published have. Blanks and
//! tabs around a field are allowed since revision 1.0.1. A last line cut off inside its timestamp cannot be told from a
//! whole one.
//!
//! Source: Storage Performance Council, "SPC Trace File Format Specification", revision 1.0.1, 2002; traces
//! Financial and WebSearch at the UMass Trace Repository.

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Fields, extent};
use super::super::read::lines::{LineFormat, Lines, Parsed};
use super::super::record::{Row, VolumeNames};
use super::{Epoch, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "spc",
    summary: "SPC trace file: ASU,LBA (512-byte blocks),Size (bytes),Opcode (R or W),Timestamp (seconds)",
    source: "Storage Performance Council, SPC Trace File Format Specification 1.0.1; UMass Trace Repository",
    grammar: "\
ASU,LBA,Size,Opcode,Timestamp[,anything]        no header
3,20941264,8192,W,0.011413",
    rules: &[
        "Five fields or more; those behind the fifth may differ in number from line to line and are dropped. Blanks and tabs around a field are allowed.",
        "Opcode is R or W in either case; a request has at most 1 GiB and may be empty.",
        "Digits of a timestamp behind the nanosecond are dropped.",
        "A volume is an ASU, an address space of its own.",
    ],
    units: Units { time_ns: Some(1_000_000_000), address: Some(512), size: Some(1), read_is: None },
    epoch: Epoch::Unknown,
    has_actions: false,
    sort_window_ns: 0,
    spread: Spread::Never,
    global_volumes: false,
    open: |input, setting| Lines::boxed(input, Spc::new(setting)),
    sniff: |head| sniff_lines(head, Spc::new(head.setting(&FORMAT))),
    write: None,
};

const ASU: Column = Column { place: 1, name: "ASU", holds: "a whole number below 2^64" };
const LBA: Column = Column { place: 2, name: "LBA", holds: "512-byte blocks, a whole number below 2^64" };
const SIZE: Column = Column { place: 3, name: "Size", holds: "bytes, a whole number below 2^64" };
const OPCODE: Column = Column { place: 4, name: "Opcode", holds: "R or W" };
const TIMESTAMP: Column =
    Column { place: 5, name: "Timestamp", holds: "seconds such as 0.011413, below 2^64 ns" };

/// Reads lines.
struct Spc {
    setting: Setting,
    volumes: VolumeNames,
}

impl Spc {
    fn new(setting: Setting) -> Self {
        Spc { setting, volumes: VolumeNames::default() }
    }
}

impl LineFormat for Spc {
    #[inline]
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        let mut fields = Fields::new(line);
        let asu = fields.padded_number(&ASU)?;
        let lba = fields.padded_number(&LBA)?;
        let size = fields.padded_number(&SIZE)?;
        let operation = match fields.padded_letter(&OPCODE)? {
            b'R' | b'r' => Operation::Read,
            b'W' | b'w' => Operation::Write,
            other => return Err(OPCODE.misread(&[other])),
        };
        let time_ns = fields.padded_decimal(self.setting.time_ns, &TIMESTAMP)?;
        let (offset, length) = extent(lba, self.setting.address, size, self.setting.size)?;
        Ok(Parsed::Row(Row {
            volume: self.volumes.numbered(asu)?,
            ..Row::new(time_ns, operation, offset, length)
        }))
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

#[cfg(test)]
#[path = "spc_tests.rs"]
mod tests;
