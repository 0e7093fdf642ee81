//! DiskSim ASCII.
//!
//! The columns that DiskSim scans with `%lf %d %d %d %x`: arrival in ms, device, first block, number of blocks, and
//! flags in hexadecimal, of which bit 0 says read. The other flags steer DiskSim's own schedulers (time critical 2, time
//! limited 4, mapped 20, read after write 40, synchronous 80, asynchronous 100, page I/O 200, ...) and are nothing to
//! the devices here. The manual has arrivals not negative and in order, and sizes positive; DiskSim itself reads block
//! numbers below 2^31, its 64-bit descendants as many as are read here.
//!
//! Those who took the columns over changed the units: us, ns or 100 ns, pages of 4 KiB, even 0 for read. Nothing in a
//! file says so, hence the options; and a file without a fraction in its times looks just like one of MQSim's. A time
//! with an exponent (`4.38e+08`, what awk makes of a large number) has lost digits already and is refused. A last line
//! cut off inside its count or its flags may pass for a whole one.
//!
//! Source: J. S. Bucy, J. Schindler, S. W. Schlosser, G. R. Ganger, "The DiskSim Simulation Environment Version 4.0
//! Reference Manual", CMU-PDL-08-101, 2008; `disksim_iotrace.c` and `disksim_global.h` of DiskSim 4.0.

use std::io::{self, BufWriter, Write};

use harmonia_types::Operation;

use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, Words, decimal, extent, whole};
use super::super::read::lines::{LineFormat, Lines, Parsed};
use super::super::record::{Row, TraceRecord, VolumeNames};
use super::super::write::{Out, TraceWriter, Written, buffered, unsaid};
use super::free::FreeNumbers;
use super::{Epoch, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "disksim",
    summary: "DiskSim ASCII: time (ms) device block count (512-byte sectors) flags (hexadecimal, bit 0 = read)",
    source: "The DiskSim Simulation Environment Version 4.0 Reference Manual, CMU-PDL-08-101",
    grammar: "\
time device block count flags        blanks between, no header
1234.567 0 20228000 8 1",
    rules: &[
        "Five fields; a request has 1 sector to 1 GiB.",
        "Times have no sign and no exponent; digits behind the nanosecond are dropped.",
        "Flags are hexadecimal, with or without 0x; all but bit 0 are dropped.",
        "A volume is a device.",
        "A file whose times are whole numbers and whose flags are 0 or 1 fits mqsim as well: auto asks which is meant.",
        "Written with times in ms to the nanosecond; what does not lie on whole sectors is widened; trims, flushes and empty requests are left out. A volume keeps its number if its name is one that is not taken, else it gets one that is free.",
    ],
    units: Units { time_ns: Some(1_000_000), address: Some(SECTOR), size: Some(SECTOR), read_is: Some(1) },
    epoch: Epoch::Unknown,
    has_actions: false,
    sort_window_ns: 0,
    spread: Spread::Never,
    global_volumes: false,
    open: |input, setting| Lines::boxed(input, DiskSim::new(setting)),
    sniff: |head| sniff_lines(head, DiskSim::new(head.setting(&FORMAT))),
    write: Some(|out, _| Ok(Box::new(DiskSimWriter::new(out)))),
};

const SECTOR: u64 = 512;

const COLUMNS: usize = 5;
const TIME: Column = Column {
    place: 1,
    name: "time",
    holds: "a number such as 1234.567: no sign, no exponent, below 2^64 ns",
};
const DEVICE: Column = Column { place: 2, name: "device", holds: "a whole number below 2^64" };
const BLOCK: Column = Column { place: 3, name: "block", holds: "a whole number below 2^64" };
const COUNT: Column =
    Column { place: 4, name: "count", holds: "a number of blocks, a whole number below 2^64, at least 1" };
const FLAGS: Column =
    Column { place: 5, name: "flags", holds: "a hexadecimal number below 2^32, bit 0 of which says read" };

/// Reads lines.
struct DiskSim {
    setting: Setting,
    volumes: VolumeNames,
}

impl DiskSim {
    fn new(setting: Setting) -> Self {
        DiskSim { setting, volumes: VolumeNames::default() }
    }
}

impl LineFormat for DiskSim {
    #[inline]
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        let Setting { time_ns, address, size, read_is, .. } = self.setting;
        let mut words = Words::new(line);
        let time = words.word(&TIME)?;
        let time_ns = decimal(time, time_ns).ok_or_else(|| TIME.misread(time))?;
        let device = words.number(&DEVICE)?;
        let block = words.number(&BLOCK)?;
        let count = words.number(&COUNT)?;
        let flags = words.word(&FLAGS)?;
        let flags = hexadecimal(flags).ok_or_else(|| FLAGS.misread(flags))?;
        words.end(COLUMNS)?;
        if count == 0 {
            return Err(COUNT.misread(b"0"));
        }
        let is_read = flags & 1 == u32::from(read_is);
        let operation = if is_read { Operation::Read } else { Operation::Write };
        let (offset, length) = extent(block, address, count, size)?;
        Ok(Parsed::Row(Row {
            volume: self.volumes.numbered(device)?,
            ..Row::new(time_ns, operation, offset, length)
        }))
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

/// A hexadecimal number below 2^32, as `%x` reads it, but for a sign.
#[inline]
fn hexadecimal(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u32, |value, &byte| {
        let digit = char::from(byte).to_digit(16)?;
        Some(value.checked_mul(16)? | digit)
    })
}

/// Whether this is a line of DiskSim's, for formats with the same columns.
pub(super) fn is_line(line: &[u8]) -> bool {
    DiskSim::new(super::plain(&FORMAT)).parse(line, &mut ReadLog::default()).is_ok()
}

/// Writes lines in the format's own units.
struct DiskSimWriter {
    out: BufWriter<Out>,
    /// The device of each volume, by its index.
    devices: Vec<u64>,
    taken: FreeNumbers,
}

/// DiskSim numbers devices below this.
const DEVICES: u64 = 1 << 31;

const WIDENED: Written = Written::Changed("widened to whole sectors of 512 bytes");
const TRIM: Written = Written::Dropped("a trim: DiskSim has reads and writes");
const FLUSH: Written = Written::Dropped("a flush: DiskSim has reads and writes");
const EMPTY: Written = Written::Dropped("an empty request: DiskSim's have a sector at least");
const BEYOND: Written = Written::Dropped("in whole sectors longer than 1 GiB or ending beyond 2^64 bytes");

impl DiskSimWriter {
    fn new(out: Out) -> Self {
        DiskSimWriter { out: buffered(out), devices: Vec::new(), taken: FreeNumbers::default() }
    }

    /// Gives a device to the volumes up to `volume` that have none yet.
    fn number_devices(&mut self, volume: usize, volumes: &VolumeNames) {
        while self.devices.len() <= volume {
            let index = self.devices.len();
            let name = volumes.names().get(index).and_then(|name| whole(name.as_bytes()));
            let device = name.filter(|&number| number < DEVICES).unwrap_or(index as u64);
            // Two volumes are never one device.
            self.devices.push(self.taken.take(device));
        }
    }
}

impl TraceWriter for DiskSimWriter {
    fn write(&mut self, record: &TraceRecord, volumes: &VolumeNames) -> io::Result<Written> {
        let flags = match record.operation {
            Operation::Read => 1,
            Operation::Write => 0,
            Operation::Trim => return Ok(TRIM),
            Operation::Flush => return Ok(FLUSH),
        };
        let TraceRecord { time_ns, offset, length, .. } = *record;
        if length == 0 {
            return Ok(EMPTY);
        }
        let block = offset / SECTOR;
        let count = offset.saturating_add(length).div_ceil(SECTOR) - block;
        let Ok(widened) = extent(block, SECTOR, count, SECTOR) else { return Ok(BEYOND) };
        let volume = usize::from(record.volume);
        if volume >= self.devices.len() {
            self.number_devices(volume, volumes);
        }
        let (ms, below) = (time_ns / 1_000_000, time_ns % 1_000_000);
        writeln!(self.out, "{ms}.{below:06} {} {block} {count} {flags}", self.devices[volume])?;
        let exact = if widened == (offset, length) { Written::Exact } else { WIDENED };
        Ok(unsaid(record).unwrap_or(exact))
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
#[path = "disksim_tests.rs"]
mod tests;
