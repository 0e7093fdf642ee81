//! What the footer of a Parquet file says: where the pages of the wanted columns lie and what they hold.
//!
//! ```text
//! PAR1 | row group: a chunk of pages for each column | ... | footer | its length, 4 bytes | PAR1
//! ```
//!
//! Other columns may stand beside the wanted ones. What is kept of a footer is at most a few times as long as it is,
//! whatever it says: the wanted columns, and the row groups that have rows. Source: Apache Parquet, "File Format" and `parquet.thrift`.

use crate::read::fields::{excerpt, whole};

use super::thrift::{BINARY, STRUCT, Thrift};
use super::unpack::Codec;

/// The wanted columns, in this order wherever there is one of each. The last may be missing.
pub(super) const NAMES: [&str; COLUMNS] =
    ["time", "device", "offset", "size", "operation", "placement_handle"];
pub(super) const COLUMNS: usize = NEEDED + 1;
pub(super) const NEEDED: usize = 5;
pub(super) const DEVICE: usize = 1;
pub(super) const OPERATION: usize = 4;
pub(super) const HANDLE: usize = 5;

/// First and last bytes of every file.
pub(super) const MAGIC: &[u8] = b"PAR1";
/// The length of the footer and the magic behind it.
const TAIL: usize = 8;
/// Longest footer that is read, in bytes: that of some 20000 row groups, with ours 20 billion requests.
const FOOTER_MAX: usize = 16 << 20;

/// The key of what says that this program wrote the file; its value is the version of the format.
pub(super) const VERSION_KEY: &str = "harmonia.trace.version";
pub(super) const VERSION: &str = "1";
/// The key of the clock time at time 0: UTC, in ns since 1970.
pub(super) const BEGINS_KEY: &str = "harmonia.trace.begins_utc_ns";

pub(super) struct Footer {
    /// In the order of [`NAMES`]: those that are needed, and the last if it is there.
    pub(super) columns: Vec<Column>,
    pub(super) groups: Vec<Group>,
    /// UTC at time 0, in ns since 1970, if the file says so.
    pub(super) begins_utc_ns: Option<u64>,
}

/// What the schema says of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) holds: Holds,
    /// Whether rows without a value are possible.
    pub(super) optional: bool,
    /// Its place among all columns.
    place: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Numbers of 4 or 8 bytes.
    Number {
        wide: bool,
        unsigned: bool,
    },
    Text,
}

/// Rows that stand together.
pub(super) struct Group {
    pub(super) rows: u64,
    /// Of the columns that are there, in their order.
    pub(super) chunks: [Chunk; COLUMNS],
}

/// A column's pages in a group: `start..end` of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) codec: Codec,
}

type Result<T> = std::result::Result<T, String>;

impl Footer {
    /// Reads the footer of a whole file.
    pub(super) fn read(file: &[u8]) -> Result<Self> {
        let bytes = footer_bytes(file)?;
        let raw = Raw::parse(bytes, file.len()).map_err(|problem| {
            format!("its footer at byte {} cannot be read: {problem}", file.len() - TAIL - bytes.len())
        })?;
        if let Some(version) = raw.version.filter(|&version| version != VERSION.as_bytes()) {
            return Err(format!(
                "is version {} of the format harmonia, expected {VERSION}: read it with the program that wrote it",
                excerpt(version)
            ));
        }
        let columns = raw.columns.unwrap_or_else(|| Leaves::default().columns())?;
        Ok(Footer { columns, groups: raw.groups?, begins_utc_ns: raw.begins_utc_ns })
    }
}

fn footer_bytes(file: &[u8]) -> Result<&[u8]> {
    if !file.starts_with(MAGIC) {
        return Err(format!(
            "begins with `{}`, expected a Parquet file: PAR1",
            excerpt(&file[..file.len().min(MAGIC.len())])
        ));
    }
    let Some((rest, tail)) = file.split_last_chunk::<TAIL>().filter(|(rest, _)| rest.len() >= MAGIC.len())
    else {
        return Err("ends behind its first bytes: the file is truncated".into());
    };
    match &tail[4..] {
        MAGIC => {}
        b"PARE" => return Err("is encrypted: write it without encryption".into()),
        _ => {
            return Err(format!(
                "ends with `{}`, expected PAR1 as a Parquet file does: the file is truncated",
                excerpt(&tail[4..])
            ));
        }
    }
    let length = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]) as usize;
    let start = rest.len().checked_sub(length).filter(|&start| start >= MAGIC.len());
    let start = start.ok_or_else(|| {
        format!("has a footer of {length} bytes, expected less than its {} bytes", file.len())
    })?;
    if length > FOOTER_MAX {
        return Err(format!(
            "has a footer of {length} bytes, expected at most {FOOTER_MAX}: write larger row groups or fewer columns"
        ));
    }
    Ok(&rest[start..])
}

/// The footer, of which parts may be wrong.
struct Raw<'a> {
    columns: Option<Result<Vec<Column>>>,
    /// Those that have rows, up to one that is wrong.
    groups: Result<Vec<Group>>,
    version: Option<&'a [u8]>,
    begins_utc_ns: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct RawGroup {
    rows: u64,
    chunks: [RawChunk; COLUMNS],
}

#[derive(Debug, Clone, Copy, Default)]
struct RawChunk {
    /// In another file, or encrypted.
    elsewhere: bool,
    codec: i64,
    values: u64,
    length: u64,
    data_at: u64,
    dictionary_at: u64,
}

impl<'a> Raw<'a> {
    fn parse(bytes: &'a [u8], file_length: usize) -> Result<Self> {
        let mut raw = Raw { columns: None, groups: Ok(Vec::new()), version: None, begins_utc_ns: None };
        let mut leaves = Leaves::default();
        Thrift::new(bytes).structure(|thrift, field, kind| match field {
            2 => {
                leaves = read_schema(thrift, kind)?;
                Ok(())
            }
            // The schema stands before the groups: fields are written in the order of their numbers.
            4 => match raw.columns.insert(leaves.columns()) {
                Ok(columns) => {
                    let places: Vec<usize> = columns.iter().map(|column| column.place).collect();
                    for number in 1..=thrift.list(kind, STRUCT)? {
                        let group = read_group(thrift, &places)?;
                        add_group(&mut raw.groups, group.checked(number, places.len(), file_length));
                    }
                    Ok(())
                }
                Err(_) => thrift.skip(kind),
            },
            5 => {
                for _ in 0..thrift.list(kind, STRUCT)? {
                    let (key, value) = read_pair(thrift)?;
                    if key == VERSION_KEY.as_bytes() {
                        raw.version = Some(value);
                    } else if key == BEGINS_KEY.as_bytes() {
                        raw.begins_utc_ns = whole(value);
                    }
                }
                Ok(())
            }
            8 => Err("it is encrypted: write it without encryption".into()),
            _ => thrift.skip(kind),
        })?;
        Ok(raw)
    }
}

/// Adds a row group that has rows.
fn add_group(groups: &mut Result<Vec<Group>>, group: Result<Group>) {
    let Ok(known) = groups else { return };
    match group {
        Ok(group) if group.rows > 0 => known.push(group),
        Ok(_) => {}
        Err(problem) => *groups = Err(problem),
    }
}

fn read_pair<'a>(thrift: &mut Thrift<'a>) -> Result<(&'a [u8], &'a [u8])> {
    let (mut key, mut value) = (&[][..], &[][..]);
    thrift.structure(|thrift, field, kind| {
        match field {
            1 => key = thrift.binary(kind)?,
            2 => value = thrift.binary(kind)?,
            _ => thrift.skip(kind)?,
        }
        Ok(())
    })?;
    Ok((key, value))
}

/// An element of the schema.
#[derive(Debug, Clone, Copy, Default)]
struct Element<'a> {
    name: &'a [u8],
    /// Its physical type; a group has none.
    physical: Option<i64>,
    /// 0 required, 1 optional, 2 repeated.
    repetition: i64,
    children: u64,
    /// The old annotation.
    converted: Option<i64>,
    /// The number of the annotation that came after it.
    logical: Option<i64>,
    /// Whether that annotation says that an integer has a sign.
    signed: bool,
}

/// What is kept of the columns that are not inside of groups.
#[derive(Default)]
struct Leaves<'a> {
    /// The first of each wanted name, with its place among all columns.
    wanted: [Option<(usize, Element<'a>)>; COLUMNS],
    /// The names of the first few, for a message.
    shown: Vec<&'a [u8]>,
}

/// Reads the elements of the schema.
fn read_schema<'a>(thrift: &mut Thrift<'a>, kind: u8) -> Result<Leaves<'a>> {
    let mut leaves = Leaves::default();
    let mut places = 0;
    // Elements stand in the order of a walk through the tree. Still to come: those right below the root, and those
    // anywhere inside of the one of them that was last.
    let (mut outer, mut inner) = (0u64, 0u64);
    for index in 0..thrift.list(kind, STRUCT)? {
        let element = read_element(thrift)?;
        if index == 0 {
            outer = element.children;
            continue;
        }
        let inside = inner > 0;
        let left = if inside { &mut inner } else { &mut outer };
        *left = left.checked_sub(1).ok_or("its schema has more columns than it says")?;
        inner = inner.saturating_add(element.children);
        if element.children == 0 {
            if !inside {
                leaves.add(places, element);
            }
            places += 1;
        }
    }
    Ok(leaves)
}

impl<'a> Leaves<'a> {
    fn add(&mut self, place: usize, element: Element<'a>) {
        if self.shown.len() < NAMES_SHOWN {
            self.shown.push(element.name);
        }
        if let Some(column) = NAMES.iter().position(|name| name.as_bytes() == element.name) {
            self.wanted[column].get_or_insert((place, element));
        }
    }

    /// The wanted columns.
    fn columns(&self) -> Result<Vec<Column>> {
        let mut columns = Vec::new();
        for (found, name) in self.wanted.iter().zip(NAMES) {
            let Some((place, element)) = found else {
                if name == NAMES[HANDLE] {
                    break;
                }
                let needed = NAMES[..NEEDED].join(", ");
                return Err(format!(
                    "has no column `{name}`, expected the columns {needed}{}",
                    self.beside()
                ));
            };
            let holds = element.holds().filter(|holds| (*holds == Holds::Text) == is_text(name));
            let Some(holds) = holds.filter(|_| element.repetition < 2) else {
                return Err(format!(
                    "has {} in column `{name}`, expected {}",
                    element.words(),
                    if is_text(name) { "texts" } else { "whole numbers of 32 or 64 bits" }
                ));
            };
            columns.push(Column { name, holds, optional: element.repetition == 1, place: *place });
        }
        Ok(columns)
    }

    fn beside(&self) -> String {
        let names: Vec<String> = self.shown.iter().map(|name| format!("`{}`", excerpt(name))).collect();
        if names.is_empty() { String::new() } else { format!(": it has {}", names.join(", ")) }
    }
}

/// Names at most this many of the columns that are there.
const NAMES_SHOWN: usize = 12;

fn is_text(name: &str) -> bool {
    name == NAMES[DEVICE] || name == NAMES[OPERATION]
}

fn read_element<'a>(thrift: &mut Thrift<'a>) -> Result<Element<'a>> {
    let mut element = Element { signed: true, ..Element::default() };
    thrift.structure(|thrift, field, kind| {
        match field {
            1 => element.physical = Some(thrift.integer(kind)?),
            3 => element.repetition = thrift.integer(kind)?,
            4 => element.name = thrift.binary(kind)?,
            5 => element.children = thrift.count(kind)?,
            6 => element.converted = Some(thrift.integer(kind)?),
            10 if kind == STRUCT => thrift.structure(|thrift, field, kind| {
                element.logical = Some(field);
                if field != LOGICAL_INTEGER || kind != STRUCT {
                    return thrift.skip(kind);
                }
                thrift.structure(|thrift, field, kind| {
                    match field {
                        2 => element.signed = thrift.flag(kind)?,
                        _ => thrift.skip(kind)?,
                    }
                    Ok(())
                })
            })?,
            _ => thrift.skip(kind)?,
        }
        Ok(())
    })?;
    Ok(element)
}

const LOGICAL_STRING: i64 = 1;
const LOGICAL_ENUM: i64 = 4;
const LOGICAL_INTEGER: i64 = 10;

impl Element<'_> {
    /// What it holds, if that is a number without further meaning or a text: a date has a unit of its own.
    fn holds(&self) -> Option<Holds> {
        match (self.physical?, self.converted, self.logical) {
            (6, None | Some(0 | 4), None | Some(LOGICAL_STRING | LOGICAL_ENUM)) => Some(Holds::Text),
            (physical @ (1 | 2), converted @ (None | Some(11..=18)), None | Some(LOGICAL_INTEGER)) => {
                let unsigned = !self.signed || matches!(converted, Some(11..=14));
                Some(Holds::Number { wide: physical == 2, unsigned })
            }
            _ => None,
        }
    }

    fn words(&self) -> String {
        if self.repetition >= 2 {
            return "lists".into();
        }
        let physical = match self.physical {
            Some(0) => "flags",
            Some(1) => "32-bit numbers",
            Some(2) => "64-bit numbers",
            Some(3) => "96-bit numbers",
            Some(4 | 5) => "floating-point numbers",
            Some(6 | 7) => "byte strings",
            _ => "values of an unknown type",
        };
        match (self.logical, self.converted) {
            (Some(5), _) | (_, Some(5)) => "decimal numbers".into(),
            (Some(6), _) | (_, Some(6)) => "dates".into(),
            (Some(7), _) | (_, Some(7 | 8)) => "times of day".into(),
            (Some(8), _) | (_, Some(9 | 10)) => "timestamps".into(),
            _ => physical.into(),
        }
    }
}

fn read_group(thrift: &mut Thrift<'_>, places: &[usize]) -> Result<RawGroup> {
    let mut group = RawGroup::default();
    let mut found = 0;
    thrift.structure(|thrift, field, kind| {
        match field {
            1 => {
                for place in 0..thrift.list(kind, STRUCT)? {
                    match places.iter().position(|&wanted| wanted == place) {
                        Some(column) => {
                            group.chunks[column] = read_chunk(thrift)?;
                            found += 1;
                        }
                        None => thrift.skip(STRUCT)?,
                    }
                }
            }
            3 => group.rows = thrift.count(kind)?,
            _ => thrift.skip(kind)?,
        }
        Ok(())
    })?;
    if found == places.len() {
        Ok(group)
    } else {
        Err("a row group has fewer columns than the schema".into())
    }
}

fn read_chunk(thrift: &mut Thrift<'_>) -> Result<RawChunk> {
    let mut chunk = RawChunk::default();
    thrift.structure(|thrift, field, kind| match field {
        1 if kind == BINARY => {
            chunk.elsewhere |= !thrift.binary(kind)?.is_empty();
            Ok(())
        }
        3 if kind == STRUCT => thrift.structure(|thrift, field, kind| {
            match field {
                4 => chunk.codec = thrift.integer(kind)?,
                5 => chunk.values = thrift.count(kind)?,
                7 => chunk.length = thrift.count(kind)?,
                9 => chunk.data_at = thrift.count(kind)?,
                11 => chunk.dictionary_at = thrift.count(kind)?,
                _ => thrift.skip(kind)?,
            }
            Ok(())
        }),
        8 => {
            chunk.elsewhere = true;
            thrift.skip(kind)
        }
        _ => thrift.skip(kind),
    })?;
    Ok(chunk)
}

impl RawGroup {
    /// What it is of so many columns.
    fn checked(&self, number: usize, columns: usize, file_length: usize) -> Result<Group> {
        let mut chunks = [Chunk { start: 0, end: 0, codec: Codec::Plain }; COLUMNS];
        for ((chunk, raw), name) in chunks.iter_mut().zip(&self.chunks).zip(NAMES).take(columns) {
            *chunk = raw
                .checked(self.rows, file_length)
                .map_err(|problem| format!("column `{name}` of row group {number} {problem}"))?;
        }
        Ok(Group { rows: self.rows, chunks })
    }
}

impl RawChunk {
    fn checked(&self, rows: u64, file_length: usize) -> Result<Chunk> {
        if self.elsewhere {
            return Err("is encrypted or in another file, expected it in this one".into());
        }
        let codec = Codec::of(self.codec)?;
        if self.values != rows {
            return Err(format!("has {} values, expected one for each of {rows} rows", self.values));
        }
        if rows > 0 && self.length == 0 {
            return Err(format!("has no bytes, expected pages of {rows} rows"));
        }
        // Some writers say 0 where there is no dictionary.
        let start = if self.dictionary_at > 0 { self.dictionary_at.min(self.data_at) } else { self.data_at };
        let end = start.checked_add(self.length).and_then(|end| usize::try_from(end).ok());
        match end.filter(|&end| end <= file_length) {
            Some(end) => Ok(Chunk { start: start as usize, end, codec }),
            None => Err(format!(
                "lies at bytes {start} to {start} + {}, expected an end inside the file's {file_length}",
                self.length
            )),
        }
    }
}

#[cfg(test)]
#[path = "../harmonia_footer_tests.rs"]
mod tests;
