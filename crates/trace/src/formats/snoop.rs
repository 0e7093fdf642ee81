//! What the texts of biosnoop and of both tools called iosnoop share: a header, then a line for each completed request.
//!
//! Columns are aligned by blanks, and the name of a process may have blanks of its own. So the columns before it are
//! counted from the left and those behind it from the right. Lines come in the order of completion. A request is issued
//! when its line says so or, where only its end is known, as long before that as it took.

use harmonia_types::Operation;

use super::super::read::ReadLog;
use super::super::read::fields::{Column, Words, decimal, excerpt, extent_of, whole};
use super::super::read::lines::{HEADER, LineFormat, Parsed, first_lines};
use super::super::record::{Row, VolumeNames};
use super::csv::{of_rwbs, operation};
use super::{Fit, Head, sniff_lines};

/// What a column holds. Times are in a unit of so many ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// When the request was issued.
    Start(u64),
    /// When it was completed.
    End(u64),
    /// How long it took.
    Took(u64),
    Operation,
    /// First sector, of 512 bytes.
    Sector,
    Bytes,
    Volume,
    /// The name of the process.
    Process,
    /// Something with blanks, which leaves no column to be counted.
    Blanks,
    Other,
}

/// How a tool writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    /// The words of its headers that mean something.
    pub(super) columns: &'static [(&'static str, Part)],
    /// How lines that are no requests begin.
    pub(super) asides: &'static [&'static str],
    /// A header, for errors.
    pub(super) example: &'static str,
    /// What to do about a text without times.
    pub(super) without_times: &'static str,
}

/// Completions lie behind this much time, so that requests issued before the first completion have a time above 0.
const BASE_NS: u64 = 86_400_000_000_000;
const SECTOR: u64 = 512;
/// The volume of a text without a column of them.
const ONLY_VOLUME: &str = "disk";
const EMPTY: &str = "has no bytes: a flush or a passthrough command";

const TIME: Column = Column { place: 0, name: "time", holds: "a number such as 0.000125, below 2^64 ns" };
const OPERATION: Column =
    Column { place: 0, name: "operation", holds: "letters of rwbs such as R, W, WS, RA or D" };
const PLACE: Column = Column { place: 0, name: "sector", holds: "a whole number below 2^64" };
const BYTES: Column = Column { place: 0, name: "bytes", holds: "a whole number below 2^64" };
const TOOK: Column = Column { place: 0, name: "latency", holds: "a number, below 2^64 ns" };
const VOLUME: Column = Column { place: 0, name: "disk", holds: "a name" };

/// What the columns of a text are.
#[derive(Debug)]
struct Layout {
    parts: Vec<Part>,
    /// Where the process stands.
    process: usize,
}

impl Layout {
    /// What a header says, if it is one of this tool; words if its columns cannot be read.
    fn of(line: &[u8], dialect: &Dialect) -> Option<Result<Layout, String>> {
        let part = |word: &[u8]| {
            let known = dialect.columns.iter().find(|(name, _)| name.as_bytes() == word);
            known.map_or(Part::Other, |(_, part)| *part)
        };
        let parts: Vec<Part> = Words::new(line).map(part).collect();
        let has = |part: Part| parts.contains(&part);
        if ![Part::Operation, Part::Sector, Part::Bytes, Part::Process].into_iter().all(has) {
            return None;
        }
        if has(Part::Blanks) {
            return Some(Err(
                "found a column whose times have blanks (-v), which cannot be read: record without it".into(),
            ));
        }
        let is_time = |part: &Part| matches!(part, Part::Start(_) | Part::End(_));
        if !parts.iter().any(is_time) {
            return Some(Err(format!("found no column of times, expected one: {}", dialect.without_times)));
        }
        let process = parts.iter().position(|part| *part == Part::Process)?;
        Some(Ok(Layout { parts, process }))
    }
}

/// The fields of a line.
struct Cells<'a> {
    layout: &'a Layout,
    words: Vec<&'a [u8]>,
}

impl<'a> Cells<'a> {
    /// The column at `index` and its field; `None` if the line is too short.
    fn at(&self, index: usize) -> Option<(usize, &'a [u8])> {
        let behind = self.layout.parts.len() - index;
        let place = if index < self.layout.process { index } else { self.words.len().checked_sub(behind)? };
        self.words.get(place).map(|word| (index + 1, *word))
    }

    fn find(&self, is: impl Fn(&Part) -> bool) -> Option<(usize, &'a [u8])> {
        self.at(self.layout.parts.iter().position(is)?)
    }

    /// The time of this kind in ns, if there is such a column.
    fn time(&self, column: &Column, unit: impl Fn(&Part) -> Option<u64>) -> Result<Option<u64>, String> {
        let Some(ns) = self.layout.parts.iter().find_map(&unit) else { return Ok(None) };
        let Some((place, word)) = self.find(|part| unit(part).is_some()) else { return Ok(None) };
        decimal(word, ns).map(Some).ok_or_else(|| Column { place, ..*column }.misread(word))
    }

    /// The field of a column that a header has.
    fn word(&self, part: Part, column: &Column) -> Result<(Column, &'a [u8]), String> {
        let (place, word) = self.find(|found| *found == part).ok_or_else(|| column.misread(b""))?;
        Ok((Column { place, ..*column }, word))
    }
}

/// Reads lines.
pub(super) struct Snoop {
    dialect: &'static Dialect,
    layout: Option<Layout>,
    volumes: VolumeNames,
    response_ns: u64,
}

impl Snoop {
    pub(super) fn new(dialect: &'static Dialect) -> Self {
        Snoop { dialect, layout: None, volumes: VolumeNames::default(), response_ns: 0 }
    }

    fn row(&mut self, line: &[u8]) -> Result<Parsed, String> {
        let Some(layout) = &self.layout else {
            return Err(format!(
                "found `{}`, expected a header such as `{}`",
                excerpt(line),
                self.dialect.example
            ));
        };
        let cells = Cells { layout, words: Words::new(line).collect() };
        // Behind the process nothing is counted where the last column may have blanks.
        if cells.words.len() < layout.parts.len().saturating_sub(2) {
            let columns = layout.parts.len();
            return Err(format!("found `{}`, expected {columns} columns as in the header", excerpt(line)));
        }
        let (column, word) = cells.word(Part::Bytes, &BYTES)?;
        let bytes = whole(word).ok_or_else(|| column.misread(word))?;
        let (column, word) = cells.word(Part::Operation, &OPERATION)?;
        let meant = operation(word, 2).filter(|_| whole(word).is_none()).map(|meant| Ok((meant, false)));
        let meant = meant.or_else(|| of_rwbs(word));
        let operation = meant.ok_or_else(|| column.misread(word))?;
        let (operation, fua) = match operation {
            Ok((Operation::Flush, _)) => (Operation::Flush, false),
            _ if bytes == 0 => return Ok(Parsed::Skip(EMPTY)),
            Err(reason) => return Ok(Parsed::Skip(reason)),
            Ok(meant) => meant,
        };
        let start = cells.time(&TIME, |part| match part {
            Part::Start(ns) => Some(*ns),
            _ => None,
        })?;
        let end = cells.time(&TIME, |part| match part {
            Part::End(ns) => Some(*ns),
            _ => None,
        })?;
        let took = cells.time(&TOOK, |part| match part {
            Part::Took(ns) => Some(*ns),
            _ => None,
        })?;
        let took_ns = took.or_else(|| end?.checked_sub(start?)).unwrap_or(0);
        let issued = start.or_else(|| Some(end?.checked_add(BASE_NS)?.saturating_sub(took_ns)));
        let time_ns = issued.ok_or_else(|| TIME.too_late(end.unwrap_or(0)))?;
        let (offset, length) = match operation {
            Operation::Flush => (0, 0),
            _ => {
                let (column, word) = cells.word(Part::Sector, &PLACE)?;
                let sector = whole(word).ok_or_else(|| column.misread(word))?;
                extent_of(operation, (sector, SECTOR), (bytes, 1))?
            }
        };
        let name = cells.find(|part| *part == Part::Volume).map(|(place, word)| match whole(word) {
            // What stands there is the process: the disk is left out where it is not known.
            Some(_) if layout.process < place => String::from("?"),
            _ => String::from_utf8_lossy(word).into_owned(),
        });
        let name = name.unwrap_or_else(|| ONLY_VOLUME.to_owned());
        if name.chars().any(char::is_control) {
            return Err(VOLUME.misread(name.as_bytes()));
        }
        self.response_ns = took_ns;
        Ok(Parsed::Row(Row {
            volume: self.volumes.named(&name)?,
            fua,
            ..Row::new(time_ns, operation, offset, length)
        }))
    }

    fn is_aside(&self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        line.is_empty() || self.dialect.asides.iter().any(|aside| line.starts_with(aside.as_bytes()))
    }
}

impl LineFormat for Snoop {
    fn parse(&mut self, line: &[u8], _: &mut ReadLog) -> Result<Parsed, String> {
        if self.is_aside(line) {
            return Ok(Parsed::Nothing);
        }
        if self.layout.is_none()
            && let Some(layout) = Layout::of(line, self.dialect)
        {
            self.layout = Some(layout?);
            return Ok(HEADER);
        }
        self.row(line)
    }

    fn response_ns(&self) -> u64 {
        self.response_ns
    }

    fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }
}

/// A text is of a tool if one of its first lines is a header of it.
pub(super) fn sniff(head: &Head<'_>, dialect: &'static Dialect) -> Fit {
    let header = first_lines(head.bytes, head.complete).take(20).find_map(|line| Layout::of(line, dialect));
    match header {
        Some(Ok(_)) => sniff_lines(head, Snoop::new(dialect)),
        Some(Err(_)) => Fit::Yes("it has the header of that tool".to_owned()),
        None => Fit::No { fitting: 0, problem: format!("no header such as `{}`", dialect.example) },
    }
}
