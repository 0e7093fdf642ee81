//! Text of HP's SRT traces (Cello, Openmail and others of HP Laboratories).
//!
//! SRT is binary; what is read here is what HP's tools print of it, in either of two layouts:
//!
//! ```text
//!   SRT2txt, dssrt2txt    ten fields, blanks between, one line a request
//!   ds2txt                of a DataSeries file: a line of columns' names before the rows of each extent
//! ```
//!
//! A request is created when it enters the driver, starts when the driver hands it to the disk, and stops when it
//! returns; it arrives when it is created. DataSeries has times in units of 2^-32 s unless told to print seconds, and
//! marks requests that the kernel's trace has damaged (`is_suspect`): these are passed over and counted.
//!
//! Not read: SRT and DataSeries themselves (convert them with DataSeries: srt2ds, ds2txt), and a column with blanks in
//! its text, as `buffertype_text` may have (leave it out with ds2txt's `--select`, or print with `--csv`).
//!
//! Source: github.com/dataseries/DataSeries, its `dssrt2txt` (columns, their units and the header), `srt2ds.cpp` (types
//! of the columns) and `DStoTextModule.cpp` (how they are printed); C. Ruemmler, J. Wilkes, "UNIX disk access patterns",
//! USENIX Winter 1993.

use harmonia_types::Operation;

use super::super::columns::Delimiter;
use super::super::options::{Setting, Units};
use super::super::read::ReadLog;
use super::super::read::fields::{Column, decimal, extent, missing, surplus, trimmed, whole};
use super::super::read::lines::{LineFormat, Lines, Parsed, first_lines};
use super::super::record::{Row, VolumeNames};
use super::csv::{Split, plain};
use super::{Epoch, Fit, Head, Spread, TraceFormat, sniff_lines};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "srt",
    summary: "HP SRT as text (Cello, Openmail): created (s) start stop (us) bytes R|W offset (KiB) device lv thread pid",
    source: "HP Laboratories: dssrt2txt and ds2txt of DataSeries; SNIA IOTTA, traces of HP",
    grammar: "\
# created  start   stop  bytes disk_offset(k) device#   lv#  thrid pid        lines with # are passed over
 0.000000      3   7487   4096 R     499232 1f016000 40000002 null 11417

# Extent, type='Trace::BlockIO::HP-UX'                                        or as ds2txt prints it
enter_driver bytes disk_offset is_read device_number [others]                 names the columns, in any order
926942434.629034 4096 511213568 T 520183808",
    rules: &[
        "Without names of columns a line has ten fields. start, stop, thread and pid are passed over, as is the logical volume.",
        "With them, enter_driver, bytes, disk_offset and is_read (T or F) are needed. A time without a point is in units of 2^-32 s. Fields are separated by blanks or by commas, as the names are. Extents of other types are passed over.",
        "A request has at most 1 GiB and may be empty. One that is marked as suspect is passed over and counted as lost.",
        "A volume is a device, in all files the same: `1f016000`, or of ds2txt `31,1,6,0` from the parts device_major, device_minor and so on.",
        "Rows may be late by up to 1 s: the traces do not promise the order of creation.",
    ],
    units: Units { time_ns: Some(NS), address: Some(1024), size: Some(1), read_is: None },
    epoch: Epoch::ByValue,
    has_actions: false,
    sort_window_ns: NS,
    spread: Spread::Never,
    global_volumes: true,
    open: |input, setting| Lines::boxed(input, Srt::new(setting)),
    sniff,
    write: None,
};

/// Comments and empty lines, which other texts have too, make no trace.
fn sniff(head: &Head<'_>) -> Fit {
    let mut srt = Srt::new(head.setting(&FORMAT));
    let mut log = ReadLog::default();
    let mut is_row = |line: &[u8]| matches!(srt.parse(line, &mut log), Ok(Parsed::Row(_)));
    if first_lines(head.bytes, head.complete).any(&mut is_row) {
        sniff_lines(head, Srt::new(head.setting(&FORMAT)))
    } else {
        Fit::No { fitting: 0, problem: "no request in its first lines".to_owned() }
    }
}

const NS: u64 = 1_000_000_000;
const SUSPECT: &str = "marked as suspect: the kernel's trace has damaged it";
/// A line with more fields is not one of SRT's.
const MOST: usize = 96;

const NUMBER: &str = "a whole number below 2^64";
const CREATED: Column = Column {
    place: 1,
    name: "created",
    holds: "seconds such as 12.000125, or units of 2^-32 s, below 2^64 ns",
};
const BYTES: Column = Column { place: 4, name: "bytes", holds: NUMBER };
const KIND: Column = Column { place: 5, name: "R or W", holds: "R or W; of is_read, T or F" };
const OFFSET: Column = Column { place: 6, name: "disk_offset", holds: NUMBER };
const DEVICE: Column = Column { place: 7, name: "device", holds: "a number, hexadecimal digits" };
const PID: Column = Column { place: 10, name: "pid", holds: "a whole number, or null" };
const MICROSECONDS: Column = Column { place: 2, name: "start", holds: "us, a whole number" };

/// Where the fields of a line stand, counted from 0.
#[derive(Debug, Clone)]
struct Layout {
    fields: usize,
    delimiter: Delimiter,
    created: usize,
    bytes: usize,
    kind: usize,
    offset: usize,
    devices: Vec<usize>,
    suspect: Option<usize>,
    /// Whether columns were named, so that offsets are in bytes.
    named: bool,
}

impl Layout {
    /// That of SRT2txt.
    fn ten() -> Self {
        Layout {
            fields: 10,
            delimiter: Delimiter::Blanks,
            created: 0,
            bytes: 3,
            kind: 4,
            offset: 5,
            devices: vec![6],
            suspect: None,
            named: false,
        }
    }

    /// That of a line of names, if it is one.
    fn named(line: &[u8]) -> Option<Result<Self, String>> {
        let delimiter = if line.contains(&b',') { Delimiter::Comma } else { Delimiter::Blanks };
        let names: Vec<&[u8]> = Split::new(line, delimiter).map(plain).collect();
        let place = |name: &str| names.iter().position(|known| *known == name.as_bytes());
        let created = place("enter_driver")?;
        let needed = |name: &str| {
            place(name).ok_or_else(|| {
                format!(
                    "found columns without `{name}`, expected enter_driver, bytes, disk_offset and is_read"
                )
            })
        };
        let parts = ["device_major", "device_minor", "device_controller", "device_disk", "device_partition"];
        let whole_device = place("device_number");
        let devices =
            whole_device.map_or_else(|| parts.iter().filter_map(|part| place(part)).collect(), |at| vec![at]);
        let layout = || {
            if names.len() > MOST {
                return Err(format!("found {} columns, expected at most {MOST}", names.len()));
            }
            Ok(Layout {
                fields: names.len(),
                delimiter,
                created,
                bytes: needed("bytes")?,
                kind: needed("is_read")?,
                offset: needed("disk_offset")?,
                devices,
                suspect: place("is_suspect"),
                named: true,
            })
        };
        Some(layout())
    }
}

/// Reads lines.
struct Srt {
    setting: Setting,
    layout: Layout,
    /// Inside an extent of another type.
    foreign: bool,
    volumes: VolumeNames,
    /// Name and volume of the row before: nearly always those of the next.
    last: (Vec<u8>, u16),
    /// The device of the row at hand, as its name.
    device: Vec<u8>,
}

impl Srt {
    fn new(setting: Setting) -> Self {
        Srt {
            setting,
            layout: Layout::ten(),
            foreign: false,
            volumes: VolumeNames::default(),
            last: (Vec::new(), 0),
            device: Vec::new(),
        }
    }

    /// A line with `#` before it, or of the description of types at the start of what ds2txt prints.
    #[cold]
    fn aside(&mut self, line: &[u8]) -> Parsed {
        const EXTENT: &[u8] = b"# Extent, type='";
        if let Some(kind) = line.strip_prefix(EXTENT) {
            self.foreign = !["Trace::BlockIO::HP-UX", "Trace::BlockIO::SRT", "I/O trace: SRT"]
                .iter()
                .any(|known| kind.starts_with(known.as_bytes()))
                || kind.starts_with(b"Trace::BlockIO::SRTMetadata")
                || kind.starts_with(b"Trace::BlockIO::SRTHeader");
        }
        Parsed::Nothing
    }

    fn row(&mut self, line: &[u8]) -> Result<Parsed, String> {
        let mut fields: [&[u8]; MOST] = [&[]; MOST];
        let count = self.split(line, &mut fields)?;
        let at = |place: usize, column: Column| (fields[place], Column { place: place + 1, ..column });
        let Layout { created, bytes, kind, offset, suspect, named, .. } = self.layout;
        if suspect.is_some_and(|place| is_true(fields[place]) == Some(true)) {
            return Ok(Parsed::Lose(SUSPECT));
        }
        let (time, column) = at(created, CREATED);
        let time_ns = self.nanoseconds(time).ok_or_else(|| column.misread(time))?;
        let number = |(field, column): (&[u8], Column)| whole(field).ok_or_else(|| column.misread(field));
        let length = number(at(bytes, BYTES))?;
        let (word, column) = at(kind, KIND);
        let operation = if named { is_true(word).map(operation) } else { letter(word) };
        let operation = operation.ok_or_else(|| column.misread(word))?;
        let start = number(at(offset, OFFSET))?;
        if !named {
            for place in [1, 2] {
                number(at(place, MICROSECONDS))?;
            }
            let (pid, column) = at(count - 1, PID);
            if pid != b"null" {
                number((pid, column))?;
            }
        }
        // DataSeries has offsets in bytes; the unit is that of the ten fields unless another was asked for.
        let unit = if named && self.setting.address == 1024 { 1 } else { self.setting.address };
        let (offset, length) = extent(start, unit, length, self.setting.size)?;
        let volume = self.volume(&fields)?;
        Ok(Parsed::Row(Row { volume, ..Row::new(time_ns, operation, offset, length) }))
    }

    /// Takes a line apart; how many fields it has, which is as many as it should.
    fn split<'a>(&self, line: &'a [u8], fields: &mut [&'a [u8]; MOST]) -> Result<usize, String> {
        let Layout { fields: expected, delimiter, .. } = self.layout;
        let mut split = Split::new(line, delimiter);
        for (place, field) in fields.iter_mut().enumerate().take(expected) {
            let column =
                Column { place: place + 1, name: "of SRT", holds: "as many fields as there are columns" };
            *field = plain(split.next().ok_or_else(|| missing(line, &column))?);
        }
        match split.next() {
            None => Ok(expected),
            Some(rest) => Err(surplus(rest, expected)),
        }
    }

    fn nanoseconds(&self, time: &[u8]) -> Option<u64> {
        if time.contains(&b'.') || !self.layout.named {
            return decimal(time, self.setting.time_ns);
        }
        let nanoseconds = (u128::from(whole(time)?) * u128::from(NS)) >> 32;
        u64::try_from(nanoseconds).ok()
    }

    fn volume(&mut self, fields: &[&[u8]; MOST]) -> Result<u16, String> {
        self.device.clear();
        for (index, &place) in self.layout.devices.iter().enumerate() {
            let field = fields[place];
            if field.is_empty() || !field.iter().all(u8::is_ascii_alphanumeric) {
                return Err(Column { place: place + 1, ..DEVICE }.misread(field));
            }
            if index > 0 {
                self.device.push(b',');
            }
            self.device.extend_from_slice(field);
        }
        if self.device.is_empty() {
            self.device.extend_from_slice(b"disk");
        }
        let (last, volume) = &self.last;
        if *last == self.device {
            return Ok(*volume);
        }
        let volume = self.volumes.named(&String::from_utf8_lossy(&self.device))?;
        self.last = (self.device.clone(), volume);
        Ok(volume)
    }
}

impl LineFormat for Srt {
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        match trimmed(line).first() {
            None => return Ok(Parsed::Nothing),
            Some(b'#' | b'<') => return Ok(self.aside(line)),
            Some(_) if self.foreign => return Ok(Parsed::Nothing),
            Some(b'e' | b'l' | b'"' | b'b' | b'd' | b'i') => {
                if let Some(layout) = Layout::named(line) {
                    self.layout = layout?;
                    return Ok(Parsed::Nothing);
                }
            }
            Some(_) => {}
        }
        self.row(line)
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

fn letter(word: &[u8]) -> Option<Operation> {
    match word {
        b"R" => Some(Operation::Read),
        b"W" => Some(Operation::Write),
        _ => None,
    }
}

fn operation(is_read: bool) -> Operation {
    if is_read { Operation::Read } else { Operation::Write }
}

/// A truth as DataSeries prints it.
fn is_true(word: &[u8]) -> Option<bool> {
    match word {
        b"T" | b"true" | b"1" => Some(true),
        b"F" | b"false" | b"0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
#[path = "srt_tests.rs"]
mod tests;
