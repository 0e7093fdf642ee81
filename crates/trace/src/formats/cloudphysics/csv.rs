//! The csv of a CloudPhysics trace: its header names the columns.

use super::super::super::options::Setting;
use super::super::super::read::ReadLog;
use super::super::super::read::fields::{Column, Fields, excerpt};
use super::super::super::read::lines::{HEADER, LineFormat, Parsed};
use super::super::super::record::VolumeNames;
use super::{Command, disk};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Version,
    Time,
    Op,
    Size,
    Lbn,
}

/// Columns by name.
const KINDS: [(&str, Kind, &str); 5] = [
    ("version", Kind::Version, "a whole number below 2^64"),
    ("time", Kind::Time, "seconds, a whole number below 2^64"),
    ("op", Kind::Op, "a SCSI operation code, two hex digits"),
    ("size", Kind::Size, "bytes, a whole number below 2^64"),
    ("lbn", Kind::Lbn, "512-byte sectors, a whole number below 2^64"),
];

/// Reads lines.
pub(super) struct Csv {
    setting: Setting,
    /// In the order of the file; empty before the header.
    columns: Vec<(Kind, Column)>,
    volumes: VolumeNames,
}

impl Csv {
    pub(super) fn new(setting: Setting) -> Self {
        Csv { setting, columns: Vec::new(), volumes: disk() }
    }

    #[inline]
    fn row(&self, line: &[u8]) -> Result<Parsed, String> {
        let mut fields = Fields::new(line);
        let mut command = Command { code: 0, time_ns: 0, lbn: 0, size: 0 };
        for (kind, column) in &self.columns {
            match kind {
                Kind::Op => command.code = code(fields.text(column)?, column)?,
                Kind::Version => _ = fields.number(column)?,
                Kind::Size => command.size = fields.number(column)?,
                Kind::Lbn => command.lbn = fields.number(column)?,
                Kind::Time => {
                    let time = fields.number(column)?;
                    let time_ns = time.checked_mul(self.setting.time_ns);
                    command.time_ns = time_ns.ok_or_else(|| column.too_late(time))?;
                }
            }
        }
        fields.end(self.columns.len())?;
        command.parsed(&self.setting)
    }
}

impl LineFormat for Csv {
    #[inline]
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        if self.columns.is_empty() {
            self.columns = header(line)?;
            return Ok(HEADER);
        }
        self.row(line)
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

const NO_HEADER: &str = "expected a header that names the columns, such as `version,time,op,size,lbn` (or the records of vscsi 1 or 2)";

/// The columns a header names: each of the five once, version perhaps not.
#[cold]
fn header(line: &[u8]) -> Result<Vec<(Kind, Column)>, String> {
    let mut columns: Vec<(Kind, Column)> = Vec::new();
    for (place, name) in (1..).zip(line.split(|&byte| byte == b',')) {
        let known = KINDS.iter().find(|(known, ..)| name.eq_ignore_ascii_case(known.as_bytes()));
        match known {
            Some(&(name, kind, holds)) if columns.iter().all(|(other, _)| *other != kind) => {
                columns.push((kind, Column { place, name, holds }));
            }
            _ => {
                return Err(format!(
                    "found `{}` in field {place} of the first line, {NO_HEADER}",
                    excerpt(name)
                ));
            }
        }
    }
    for (name, kind, _) in KINDS {
        if kind != Kind::Version && columns.iter().all(|(other, _)| *other != kind) {
            return Err(format!("found no column `{name}` in `{}`, {NO_HEADER}", excerpt(line)));
        }
    }
    Ok(columns)
}

/// A byte in one or two hex digits.
#[inline]
fn code(text: &[u8], column: &Column) -> Result<u8, String> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    let value = match *text {
        [low] => digit(low),
        [high, low] => digit(high).zip(digit(low)).map(|(high, low)| 16 * high + low),
        _ => None,
    };
    value.and_then(|value| u8::try_from(value).ok()).ok_or_else(|| column.misread(text))
}
