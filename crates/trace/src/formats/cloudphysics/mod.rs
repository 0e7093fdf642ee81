//! CloudPhysics traces: SCSI commands of virtual disks, as csv or as the binary records they were collected in.
//!
//! ```text
//!   csv       version,time,op,size,lbn     whole seconds    `csv`
//!   vscsi 1   32-byte records              us               `vscsi`
//!   vscsi 2   40-byte records              us               `vscsi`
//! ```
//!
//! A file is one virtual disk. Commands that neither read, write nor flush are passed over and counted: what an UNMAP
//! or WRITE SAME covers is in data that was not traced.
//!
//! Source: C. Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST 2015 (the traces); the reader of
//! libCacheSim (vscsi.h: the records) and its sample cloudPhysicsIO; SCSI Block Commands (SBC-3: operation codes).

mod csv;
mod vscsi;

use std::sync::Arc;

use harmonia_types::Operation;

use self::csv::Csv;
use self::vscsi::{Version, Vscsi};
use super::super::options::{Setting, Units};
use super::super::read::fields::extent;
use super::super::read::lines::{Lines, Parsed};
use super::super::read::{RowReader, TraceInput};
use super::super::record::{Row, VolumeNames};
use super::{Epoch, Fit, Head, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "cloudphysics",
    summary: "CloudPhysics: csv version,time (s),op (SCSI code, hex),size (bytes),lbn (512-byte sectors), or binary vscsi 1 and 2",
    source: "Waldspurger et al., SHARDS, FAST 2015; libCacheSim's vscsi.h and sample cloudPhysicsIO",
    grammar: "\
version,time,op,size,lbn        header: required, names the columns, in any order; version may be missing
1,1000000,2a,512,2097152

vscsi 1, little-endian: sn u32, size u32, nSG u32, op u16, version u16 (0x01..), lbn u64, time u64
vscsi 2, little-endian: op u16, version u16 (0x02..), sn u32, size u32, nSG u32, lbn u64, time u64, rt u64",
    rules: &[
        "op is a SCSI operation code: 08, 28, 88, a8 read; 0a, 2a, 8a, aa and, with verification, 2e, 8e, ae write; 35, 91 flush. Others are passed over and counted, UNMAP (42) and WRITE SAME among them: the trace does not tell which blocks they cover.",
        "A request has at most 1 GiB and may be empty; a flush is of the whole disk.",
        "csv counts whole seconds, and rows of one second are spread over it; vscsi counts us, and they are not. The time unit is that of the file at hand unless chosen.",
        "rt is the response time, in us. Only `replay = \"think-times\"` uses it; 0 means that none was recorded.",
        "sn, nSG and csv's version are dropped. vscsi is told from csv by the versions of its first records.",
        "A file is one volume, `disk`; several files are several volumes.",
    ],
    units: Units { time_ns: Some(1_000_000_000), address: Some(512), size: Some(1), read_is: None },
    epoch: Epoch::Unknown,
    has_actions: false,
    sort_window_ns: 0,
    spread: Spread::ByItself,
    global_volumes: false,
    open,
    sniff,
    write: None,
};

/// First bytes whose versions tell vscsi from csv: those of 64 to 80 records.
const VERSION_BYTES: usize = 64 * 40;

fn open(input: &Arc<TraceInput>, setting: Setting) -> Result<Box<dyn RowReader>, String> {
    let head = input.head(VERSION_BYTES).map_err(|error| error.problem)?;
    match Version::of(&head) {
        Some(version) => Ok(Box::new(Vscsi::new(input, version, setting)?)),
        None => Lines::boxed(input, Csv::new(setting)),
    }
}

fn sniff(head: &Head<'_>) -> Fit {
    let records = head.bytes.get(..VERSION_BYTES).unwrap_or(head.bytes);
    match Version::of(records) {
        Some(version) => Fit::Yes(format!("most of its first records say vscsi {version}")),
        None => sniff_lines(head, Csv::new(head.setting(&FORMAT))),
    }
}

/// A command of the disk: its SCSI operation code, its time, its first block and its size as the trace has them.
#[derive(Debug, Clone, Copy)]
struct Command {
    code: u8,
    time_ns: u64,
    lbn: u64,
    size: u64,
}

impl Command {
    /// The request it is, if it is one.
    #[inline]
    fn parsed(self, setting: &Setting) -> Result<Parsed, String> {
        let Command { code, time_ns, lbn, size } = self;
        let operation = match code {
            0x08 | 0x28 | 0x88 | 0xa8 => Operation::Read,
            0x0a | 0x2a | 0x8a | 0xaa | 0x2e | 0x8e | 0xae => Operation::Write,
            0x35 | 0x91 => Operation::Flush,
            0x42 => return Ok(Parsed::Lose("SCSI UNMAP: the trace does not tell which blocks")),
            0x41 | 0x93 => {
                return Ok(Parsed::Lose("SCSI WRITE SAME: the trace does not tell how many blocks"));
            }
            _ => return Ok(Parsed::Skip("SCSI command that neither reads, writes nor flushes")),
        };
        let (offset, length) = match operation {
            Operation::Flush => (0, 0),
            _ => extent(lbn, setting.address, size, setting.size)?,
        };
        Ok(Parsed::Row(Row::new(time_ns, operation, offset, length)))
    }
}

/// The one volume of a file.
fn disk() -> VolumeNames {
    let mut volumes = VolumeNames::default();
    // The first name is always taken, and has index 0.
    let _ = volumes.named("disk");
    volumes
}

#[cfg(test)]
mod tests;
