//! One column, read in the order of the rows: page by page, a batch of values at a time.
//!
//! Memory holds a page of data and a page of dictionary, neither larger than [`PAGE_MAX`], and up to [`VALUES_MAX`]
//! entries of the dictionary. The checksums that pages may
//! have are not checked.

use std::sync::Arc;

use harmonia_types::Operation;

use crate::trace::TraceInput;
use crate::trace::read::fields::excerpt;
use crate::trace::record::VolumeNames;

use super::encoding::{Differences, Runs};
use super::footer::{Chunk, Column, Holds};
use super::thrift::Thrift;
use super::unpack::Codec;

/// Largest page that is accepted, unpacked, in bytes; what is written has about 1 MiB.
const PAGE_MAX: usize = 32 << 20;
/// Most values in a page that are accepted; what is written has thousands.
const VALUES_MAX: u64 = 1 << 22;
/// Longest name of a volume, in bytes.
const NAME_MAX: usize = 1024;
/// Memory behind the reader is given back in steps of this many bytes.
const RELEASE_STEP: usize = 8 << 20;

/// Numbers of the encodings.
const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const RLE: i64 = 3;
const DELTA_BINARY_PACKED: i64 = 5;
const DELTA_LENGTH_BYTE_ARRAY: i64 = 6;
const DELTA_BYTE_ARRAY: i64 = 7;
const RLE_DICTIONARY: i64 = 8;
const BYTE_STREAM_SPLIT: i64 = 9;

/// Operations as they are written, in the order of their codes.
pub(super) const OPERATIONS: [(&str, Operation); 4] = [
    ("read", Operation::Read),
    ("write", Operation::Write),
    ("trim", Operation::Trim),
    ("flush", Operation::Flush),
];

/// What the texts of a column stand for.
pub(super) enum Texts {
    None,
    /// Indices of volumes.
    Volumes(Volumes),
    /// Indices in [`OPERATIONS`].
    Operations,
}

/// The names of volumes met so far.
#[derive(Default)]
pub(super) struct Volumes {
    names: VolumeNames,
    /// The row before's name and index: often those of the next.
    last: (Vec<u8>, u16),
}

/// Reads a column of one row group after another.
pub(super) struct ColumnReader {
    input: Arc<TraceInput>,
    column: Column,
    texts: Texts,
    /// What is left of this row group's chunk.
    chunk: Chunk,
    /// Where memory has been given back to.
    released: usize,
    /// Rows of the row group that no page has held yet.
    rows_left: u64,
    dictionary: Dictionary,
    page: Page,
    /// The batch: a value for each row, meaningless where it is wrong.
    pub(super) values: Vec<u64>,
    /// Rows of the batch that have no right value, with words; the first is last.
    pub(super) wrong: Vec<(usize, String)>,
}

/// The values that others refer to by their place.
#[derive(Default)]
struct Dictionary {
    there: bool,
    bytes: Vec<u8>,
    numbers: Vec<i64>,
    texts: Vec<Text>,
}

#[derive(Clone, Copy)]
struct Text {
    start: u32,
    end: u32,
    /// What it stands for, once that has been asked.
    code: Option<u16>,
}

/// A page of data, unpacked.
#[derive(Default)]
struct Page {
    bytes: Vec<u8>,
    /// Rows in it that are still to come.
    left: u64,
    /// Which rows have a value, if not all must.
    levels: Option<Runs>,
    values: Values,
}

/// How the values of a page are encoded, and where the next is.
#[derive(Default)]
enum Values {
    #[default]
    None,
    /// Next to one another, from here on.
    Plain(usize),
    /// Places in the dictionary.
    Places(Runs),
    Differences(Differences),
    /// All first bytes, all second bytes ...; the count of values and the next.
    Split {
        at: usize,
        count: usize,
        next: usize,
    },
    Strings(Strings),
}

/// Texts as lengths, then all bytes; each may begin with the first bytes of the one before.
struct Strings {
    shared: Vec<i32>,
    lengths: Vec<i32>,
    next: usize,
    /// The next text's own bytes.
    at: usize,
    text: Vec<u8>,
}

type Result<T> = std::result::Result<T, String>;

impl ColumnReader {
    pub(super) fn new(input: &Arc<TraceInput>, column: Column, texts: Texts) -> Self {
        ColumnReader {
            input: Arc::clone(input),
            column,
            texts,
            chunk: Chunk { start: 0, end: 0, codec: Codec::Plain },
            released: 0,
            rows_left: 0,
            dictionary: Dictionary::default(),
            page: Page::default(),
            values: Vec::new(),
            wrong: Vec::new(),
        }
    }

    /// The volumes met so far, if the column holds volumes.
    pub(super) fn volumes(&self) -> Option<&VolumeNames> {
        match &self.texts {
            Texts::Volumes(volumes) => Some(&volumes.names),
            _ => None,
        }
    }

    /// Goes to a row group.
    pub(super) fn begin(&mut self, chunk: Chunk, rows: u64) {
        self.chunk = chunk;
        self.released = chunk.start;
        self.rows_left = rows;
        self.page.left = 0;
        self.dictionary.there = false;
    }

    /// Reads the next `count` rows, which the row group must have.
    pub(super) fn fill(&mut self, count: usize) -> Result<()> {
        self.values.clear();
        self.wrong.clear();
        while self.values.len() < count {
            if self.page.left == 0 {
                let at = self.chunk.start;
                self.next_page().map_err(|problem| self.damaged(at, &problem))?;
                continue;
            }
            let run = self.page.left.min((count - self.values.len()) as u64);
            let read = match self.column.holds {
                Holds::Number { wide, unsigned } => self.fill_numbers(run, wide, unsigned),
                Holds::Text => self.fill_texts(run),
            };
            if read.is_none() {
                return Err(
                    self.damaged(self.chunk.start, "the values of the page before end or are damaged")
                );
            }
            self.page.left -= run;
        }
        self.wrong.reverse();
        Ok(())
    }

    #[cold]
    fn damaged(&self, at: usize, problem: &str) -> String {
        format!("column `{}` cannot be read at byte {at}: {problem}", self.column.name)
    }

    fn fill_numbers(&mut self, count: u64, wide: bool, unsigned: bool) -> Option<()> {
        for _ in 0..count {
            if !self.page.present()? {
                self.missing();
                continue;
            }
            let value = self.page.number(wide, &self.dictionary.numbers)?;
            let value = if wide { value } else { i64::from(value as i32) };
            if value < 0 && !unsigned {
                self.refuse(format!("found {value} in column `{}`, expected 0 or more", self.column.name));
                continue;
            }
            self.values.push(if wide { value.cast_unsigned() } else { u64::from(value as u32) });
        }
        Some(())
    }

    fn fill_texts(&mut self, count: u64) -> Option<()> {
        for _ in 0..count {
            if !self.page.present()? {
                self.missing();
                continue;
            }
            let code = match &mut self.page.values {
                Values::Places(runs) => {
                    let place = usize::try_from(runs.next(&self.page.bytes)?).ok()?;
                    let text = self.dictionary.texts.get_mut(place)?;
                    match text.code {
                        Some(code) => Ok(code),
                        None => {
                            let bytes = text.start as usize..text.end as usize;
                            let code = self.texts.code(self.dictionary.bytes.get(bytes)?);
                            text.code = code.as_ref().ok().copied();
                            code
                        }
                    }
                }
                _ => self.texts.code(self.page.text()?),
            };
            match code {
                Ok(code) => self.values.push(u64::from(code)),
                Err(problem) => self.refuse(problem),
            }
        }
        Some(())
    }

    #[cold]
    fn missing(&mut self) {
        self.refuse(format!("found no value (null) in column `{}`, expected one", self.column.name));
    }

    #[cold]
    fn refuse(&mut self, problem: String) {
        self.wrong.push((self.values.len(), problem));
        self.values.push(0);
    }

    /// Reads the next page of data, and of the dictionary before it.
    fn next_page(&mut self) -> Result<()> {
        loop {
            let input = Arc::clone(&self.input);
            let bytes = input.bytes().get(self.chunk.start..self.chunk.end).unwrap_or_default();
            if bytes.is_empty() {
                return Err(format!("its pages end {} rows before the row group", self.rows_left));
            }
            let (header, body) = Header::read(bytes)?;
            self.chunk.start += bytes.len() - body.len() + header.packed;
            let body = &body[..header.packed];
            match header.kind {
                Kind::Dictionary => self.read_dictionary(&header, body)?,
                Kind::Data => self.read_page(&header, body)?,
                Kind::Other => {}
            }
            if self.chunk.start - self.released >= RELEASE_STEP || self.chunk.start == self.chunk.end {
                input.release(self.released, self.chunk.start);
                self.released = self.chunk.start;
            }
            if header.kind == Kind::Data {
                return Ok(());
            }
        }
    }

    fn read_dictionary(&mut self, header: &Header, body: &[u8]) -> Result<()> {
        if self.dictionary.there {
            return Err("it has a second dictionary".into());
        }
        if !matches!(header.encoding, PLAIN | PLAIN_DICTIONARY) {
            return Err(unknown_encoding(header.encoding));
        }
        let Dictionary { there, bytes, numbers, texts } = &mut self.dictionary;
        *there = true;
        bytes.clear();
        numbers.clear();
        texts.clear();
        self.chunk.codec.unpack(body, header.unpacked, bytes)?;
        let mut at = 0;
        for place in 0..header.values {
            let cut_short = || format!("its dictionary ends behind {place} of {} values", header.values);
            match self.column.holds {
                Holds::Number { wide, .. } => {
                    numbers.push(plain(bytes, &mut at, wide).ok_or_else(cut_short)?)
                }
                Holds::Text => {
                    let (start, end) = plain_text(bytes, &mut at).ok_or_else(cut_short)?;
                    texts.push(Text { start: start as u32, end: end as u32, code: None });
                }
            }
        }
        Ok(())
    }

    fn read_page(&mut self, header: &Header, body: &[u8]) -> Result<()> {
        if header.values > self.rows_left {
            return Err(format!("a page has {} rows where {} are left", header.values, self.rows_left));
        }
        let page = &mut self.page;
        page.bytes.clear();
        let levels = body.get(..header.levels_v2).ok_or("the levels are longer than the page")?;
        page.bytes.extend_from_slice(levels);
        let codec = if header.plain { Codec::Plain } else { self.chunk.codec };
        let unpacked =
            header.unpacked.checked_sub(levels.len()).ok_or("the levels are longer than the page")?;
        // Where no row has a value, nothing need be packed.
        if unpacked > 0 {
            codec.unpack(&body[levels.len()..], unpacked, &mut page.bytes)?;
        }
        let mut at = levels.len();
        page.levels = None;
        if self.column.optional {
            page.levels = Some(match header.version_2 {
                true => Runs::new(header.repetition_v2, levels.len(), 1),
                false => levels_of(&page.bytes, header.level_encoding, &mut at)?,
            });
        }
        page.values = Values::new(header, &page.bytes, at, self.column.holds, self.dictionary.there)?;
        page.left = header.values;
        self.rows_left -= header.values;
        Ok(())
    }
}

/// The levels at the start of a page of the first kind: their length, then runs.
fn levels_of(bytes: &[u8], encoding: i64, at: &mut usize) -> Result<Runs> {
    if encoding != RLE {
        return Err(unknown_encoding(encoding));
    }
    let start = 4;
    let length = bytes.first_chunk().map(|length| u32::from_le_bytes(*length) as usize);
    let end = length.and_then(|length| length.checked_add(start)).filter(|&end| end <= bytes.len());
    *at = end.ok_or("the levels are longer than the page")?;
    Ok(Runs::new(start, *at, 1))
}

impl Values {
    fn new(header: &Header, bytes: &[u8], at: usize, holds: Holds, dictionary: bool) -> Result<Self> {
        Ok(match (header.encoding, holds) {
            (PLAIN, _) => Values::Plain(at),
            (PLAIN_DICTIONARY | RLE_DICTIONARY, _) if dictionary => match bytes.get(at) {
                Some(&width) if width <= 32 => {
                    Values::Places(Runs::new(at + 1, bytes.len(), u32::from(width)))
                }
                Some(width) => return Err(format!("places in the dictionary have {width} bits")),
                None => Values::Places(Runs::new(at, at, 0)),
            },
            (PLAIN_DICTIONARY | RLE_DICTIONARY, _) => return Err("it has no dictionary".into()),
            (DELTA_BINARY_PACKED, Holds::Number { .. }) => Values::Differences(Differences::new(bytes, at)?),
            (BYTE_STREAM_SPLIT, Holds::Number { wide, .. }) => {
                Values::Split { at, count: (bytes.len() - at) / width(wide), next: 0 }
            }
            (DELTA_LENGTH_BYTE_ARRAY | DELTA_BYTE_ARRAY, Holds::Text) => {
                Values::Strings(Strings::new(header, bytes, at)?)
            }
            (encoding, _) => return Err(unknown_encoding(encoding)),
        })
    }
}

fn unknown_encoding(encoding: i64) -> String {
    format!(
        "its encoding is number {encoding}, expected PLAIN, RLE_DICTIONARY, BYTE_STREAM_SPLIT or one of the DELTA encodings"
    )
}

impl Page {
    /// Whether the next row has a value.
    #[inline]
    fn present(&mut self) -> Option<bool> {
        match &mut self.levels {
            None => Some(true),
            Some(levels) => levels.next(&self.bytes).map(|level| level == 1),
        }
    }

    #[inline]
    fn number(&mut self, wide: bool, dictionary: &[i64]) -> Option<i64> {
        match &mut self.values {
            Values::Plain(at) => plain(&self.bytes, at, wide),
            Values::Places(runs) => dictionary.get(usize::try_from(runs.next(&self.bytes)?).ok()?).copied(),
            Values::Differences(differences) => differences.next(&self.bytes),
            Values::Split { at, count, next } => {
                if *next >= *count {
                    return None;
                }
                *next += 1;
                (0..width(wide)).rev().try_fold(0i64, |value, byte| {
                    Some(value << 8 | i64::from(*self.bytes.get(*at + byte * *count + *next - 1)?))
                })
            }
            Values::None | Values::Strings(_) => None,
        }
    }

    /// The next text, unless it is in the dictionary.
    fn text(&mut self) -> Option<&[u8]> {
        match &mut self.values {
            Values::Plain(at) => {
                let (start, end) = plain_text(&self.bytes, at)?;
                self.bytes.get(start..end)
            }
            Values::Strings(strings) => strings.next(&self.bytes),
            _ => None,
        }
    }
}

fn width(wide: bool) -> usize {
    if wide { 8 } else { 4 }
}

#[inline]
fn plain(bytes: &[u8], at: &mut usize, wide: bool) -> Option<i64> {
    let rest = bytes.get(*at..)?;
    let value = match wide {
        true => i64::from_le_bytes(*rest.first_chunk()?),
        false => i64::from(i32::from_le_bytes(*rest.first_chunk()?)),
    };
    *at += width(wide);
    Some(value)
}

#[inline]
fn plain_text(bytes: &[u8], at: &mut usize) -> Option<(usize, usize)> {
    let length = u32::from_le_bytes(*bytes.get(*at..)?.first_chunk()?) as usize;
    let start = *at + 4;
    *at = start.checked_add(length).filter(|&end| end <= bytes.len())?;
    Some((start, *at))
}

impl Strings {
    fn new(header: &Header, bytes: &[u8], mut at: usize) -> Result<Self> {
        let mut lengths = || {
            let mut differences = Differences::new(bytes, at)?;
            if differences.left() > header.values {
                return Err(format!("it has {} texts in {} rows", differences.left(), header.values));
            }
            let lengths = std::iter::from_fn(|| differences.next(bytes).map(|length| length as i32));
            let lengths: Vec<i32> = lengths.collect();
            at = differences.end();
            Ok(lengths)
        };
        let shared = if header.encoding == DELTA_BYTE_ARRAY { lengths()? } else { Vec::new() };
        let lengths = lengths()?;
        Ok(Strings { shared, lengths, next: 0, at, text: Vec::new() })
    }

    fn next(&mut self, bytes: &[u8]) -> Option<&[u8]> {
        let length = usize::try_from(*self.lengths.get(self.next)?).ok()?;
        let shared = self.shared.get(self.next).map_or(Some(0), |&shared| usize::try_from(shared).ok())?;
        if shared > self.text.len() {
            return None;
        }
        let end = self.at.checked_add(length)?;
        self.text.truncate(shared);
        self.text.extend_from_slice(bytes.get(self.at..end)?);
        self.at = end;
        self.next += 1;
        Some(&self.text)
    }
}

impl Texts {
    /// The number that a text stands for.
    #[inline]
    fn code(&mut self, text: &[u8]) -> Result<u16> {
        match self {
            Texts::Volumes(volumes) => volumes.index(text),
            Texts::Operations => operation(text),
            Texts::None => Ok(0),
        }
    }
}

#[inline]
fn operation(text: &[u8]) -> Result<u16> {
    let code = OPERATIONS.iter().position(|(name, _)| name.as_bytes().eq_ignore_ascii_case(text));
    code.map(|code| code as u16).ok_or_else(|| {
        format!("found `{}` in column `operation`, expected read, write, trim or flush", excerpt(text))
    })
}

impl Volumes {
    #[inline]
    fn index(&mut self, name: &[u8]) -> Result<u16> {
        if self.last.0 == name && !name.is_empty() { Ok(self.last.1) } else { self.other(name) }
    }

    #[cold]
    fn other(&mut self, name: &[u8]) -> Result<u16> {
        // The length first: a text may be as long as its page, and there may be as many as rows.
        let text = (1..=NAME_MAX).contains(&name.len()).then(|| std::str::from_utf8(name).ok()).flatten();
        let text = text.filter(|text| !text.contains(char::is_control));
        let text = text.ok_or_else(|| {
            format!(
                "found `{}` in column `device`, expected the name of a volume: 1 to {NAME_MAX} bytes of UTF-8 without control characters",
                excerpt(name)
            )
        })?;
        self.last = (name.to_vec(), self.names.named(text)?);
        Ok(self.last.1)
    }
}

/// What a page's header says.
struct Header {
    kind: Kind,
    /// Bytes behind the header, and after unpacking.
    packed: usize,
    unpacked: usize,
    /// Rows of data, or entries of a dictionary.
    values: u64,
    encoding: i64,
    /// Of a page of the first version.
    level_encoding: i64,
    version_2: bool,
    /// Of a page of the second version: bytes of all levels, and of those that come first.
    levels_v2: usize,
    repetition_v2: usize,
    /// Whether its values are not packed even if others of the column are.
    plain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Data,
    Dictionary,
    Other,
}

impl Header {
    /// The header at the start of `bytes`, checked, and what stands behind it.
    fn read(bytes: &[u8]) -> Result<(Self, &[u8])> {
        let mut thrift = Thrift::new(bytes);
        let (mut kind, mut packed, mut unpacked, mut values) = (0, 0, 0, 0);
        let (mut encoding, mut level_encoding, mut plain) = (0, RLE, false);
        let mut levels = [0, 0];
        let mut described = None;
        thrift.structure(|thrift, field, field_kind| {
            match field {
                1 => kind = thrift.integer(field_kind)?,
                2 => unpacked = thrift.count(field_kind)?,
                3 => packed = thrift.count(field_kind)?,
                5 | 7 | 8 if field_kind == super::thrift::STRUCT => {
                    described = Some(field);
                    thrift.structure(|thrift, inner, kind| {
                        match (field, inner) {
                            (_, 1) => values = thrift.count(kind)?,
                            (5 | 7, 2) | (8, 4) => encoding = thrift.integer(kind)?,
                            (5, 3) => level_encoding = thrift.integer(kind)?,
                            (8, 5) => levels[0] = thrift.count(kind)?,
                            (8, 6) => levels[1] = thrift.count(kind)?,
                            (8, 7) => plain = !thrift.flag(kind)?,
                            _ => thrift.skip(kind)?,
                        }
                        Ok(())
                    })?;
                }
                _ => thrift.skip(field_kind)?,
            }
            Ok(())
        })?;
        let body = &bytes[thrift.passed()..];
        let (kind, expected) = match kind {
            0 => (Kind::Data, Some(5)),
            2 => (Kind::Dictionary, Some(7)),
            3 => (Kind::Data, Some(8)),
            _ => (Kind::Other, described),
        };
        if described != expected {
            return Err("a page's header is not that of its kind".into());
        }
        if packed > body.len() as u64 {
            return Err(format!("a page has {packed} bytes where {} are left", body.len()));
        }
        if unpacked > PAGE_MAX as u64 || values > VALUES_MAX {
            return Err(format!(
                "a page has {values} values in {unpacked} bytes, expected at most {VALUES_MAX} in {PAGE_MAX}: write smaller pages"
            ));
        }
        let [definition, repetition] = levels.map(|length| length.min(PAGE_MAX as u64) as usize);
        let header = Header {
            kind,
            packed: packed as usize,
            unpacked: unpacked as usize,
            values,
            encoding,
            level_encoding,
            version_2: expected == Some(8),
            levels_v2: definition + repetition,
            repetition_v2: repetition,
            plain,
        };
        Ok((header, body))
    }
}
