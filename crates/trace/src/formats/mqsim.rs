//! MQSim ASCII.
//!
//! DiskSim's columns with the arrival in ns and a type instead of flags, 0 for write and 1 for read; all whole numbers.
//! MQSim reads the device column and ignores it, and takes the namespace from its workload file instead; the published
//! traces tell devices by it, so here it is the volume. Three habits of MQSim are not followed: it stops without a word
//! at the first line that has not five fields, takes any type but 0 for a read, and reads addresses and sizes that begin
//! with 0 as octal or hexadecimal.
//!
//! A file in this format is one in DiskSim's, too, with times a million times as long. The reverse is not true: times
//! with a point or flags other than 0 and 1 are DiskSim's alone.
//!
//! Source: `ASCII_Trace_Definition.h` and `IO_Flow_Trace_Based.cpp` of MQSim; A. Tavakkol et al., "MQSim: A Framework
//! for Enabling Realistic Studies of Modern Multi-Queue SSD Devices", FAST 2018.

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Words, extent};
use super::super::read::lines::{LineFormat, Lines, Parsed, first_lines};
use super::super::record::{Row, VolumeNames};
use super::{Epoch, Fit, Head, SNIFF_LINES, Spread, TraceFormat, disksim, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "mqsim",
    summary: "MQSim ASCII: time (ns) device sector count (512-byte sectors) type (0 = write, 1 = read)",
    source: "Tavakkol et al., MQSim, FAST 2018; ASCII_Trace_Definition.h of its sources",
    grammar: "\
time device sector count type        blanks between, no header
938513000 4 264719034 16 1",
    rules: &[
        "Five fields, whole numbers; a request has 1 sector to 1 GiB.",
        "A volume is a device.",
        "Every such file fits disksim as well: auto asks which is meant.",
    ],
    units: Units { time_ns: Some(1), address: Some(512), size: Some(512), read_is: Some(1) },
    epoch: Epoch::Unknown,
    has_actions: false,
    sort_window_ns: 0,
    spread: Spread::IfAsked,
    global_volumes: false,
    open: |input, setting| Lines::boxed(input, MqSim::new(setting)),
    sniff,
    write: None,
};

const COLUMNS: usize = 5;
const TIME: Column = Column { place: 1, name: "time", holds: "a whole number, below 2^64 ns" };
const DEVICE: Column = Column { place: 2, name: "device", holds: "a whole number below 2^64" };
const SECTOR: Column = Column { place: 3, name: "sector", holds: "a whole number below 2^64" };
const COUNT: Column =
    Column { place: 4, name: "count", holds: "a number of sectors, a whole number below 2^64, at least 1" };
const TYPE: Column = Column { place: 5, name: "type", holds: "0 or 1" };

/// Reads lines.
struct MqSim {
    setting: Setting,
    volumes: VolumeNames,
}

impl MqSim {
    fn new(setting: Setting) -> Self {
        MqSim { setting, volumes: VolumeNames::default() }
    }
}

impl LineFormat for MqSim {
    #[inline]
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        let Setting { time_ns, address, size, read_is, .. } = self.setting;
        let mut words = Words::new(line);
        let time = words.number(&TIME)?;
        let time_ns = time.checked_mul(time_ns).ok_or_else(|| TIME.misread(time.to_string().as_bytes()))?;
        let device = words.number(&DEVICE)?;
        let sector = words.number(&SECTOR)?;
        let count = words.number(&COUNT)?;
        let kind = match words.word(&TYPE)? {
            b"0" => 0,
            b"1" => 1,
            other => return Err(TYPE.misread(other)),
        };
        words.end(COLUMNS)?;
        if count == 0 {
            return Err(COUNT.misread(b"0"));
        }
        let operation = if kind == read_is { Operation::Read } else { Operation::Write };
        let (offset, length) = extent(sector, address, count, size)?;
        Ok(Parsed::Row(Row {
            volume: self.volumes.numbered(device)?,
            ..Row::new(time_ns, operation, offset, length)
        }))
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

/// A single line that only DiskSim could have written makes the file one of DiskSim's: its other times may well be
/// whole by chance.
fn sniff(head: &Head<'_>) -> Fit {
    let fit = sniff_lines(head, MqSim::new(head.setting(&FORMAT)));
    if !matches!(fit, Fit::Yes(_)) {
        return fit;
    }
    let mut format = MqSim::new(head.setting(&FORMAT));
    for (fitting, line) in first_lines(head.bytes, head.complete).take(SNIFF_LINES).enumerate() {
        match format.parse(line, &mut ReadLog::default()) {
            Err(problem) if disksim::is_line(line) => {
                return Fit::No { fitting, problem: format!("line {}: {problem}", fitting + 1) };
            }
            _ => {}
        }
    }
    fit
}

#[cfg(test)]
#[path = "mqsim_tests.rs"]
mod tests;
