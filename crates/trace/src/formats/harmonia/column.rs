//! One column, read in the order of the rows: page by page, a batch of values at a time.
//!
//! Memory holds a page of data and a page of dictionary, neither larger than [`PAGE_MAX`](super::page::PAGE_MAX), and up to [`VALUES_MAX`](super::page::VALUES_MAX)
//! entries of the dictionary. The checksums that pages may
//! have are not checked.

use std::sync::Arc;

use harmonia_types::{Operation, PlacementHandle};

use crate::TraceInput;
use crate::read::fields::excerpt;
use crate::record::VolumeNames;

use super::encoding::Runs;
use super::footer::{Chunk, Column, HANDLE, Holds, NAMES};
use super::page::{
    Header, Kind, PLAIN, PLAIN_DICTIONARY, Page, Values, levels_of, plain, plain_text, unknown_encoding,
};
use super::unpack::Codec;

/// Longest name of a volume, in bytes.
pub(super) const NAME_MAX: usize = 1024;
/// The value of a row without a placement handle.
const NO_HANDLE: u64 = u64::MAX;
/// Memory behind the reader is given back in steps of this many bytes.
const RELEASE_STEP: usize = 8 << 20;

/// Operations as they are written, in the order of their codes, and whether they are with FUA.
pub(super) const OPERATIONS: [(&str, Operation, bool); 5] = [
    ("read", Operation::Read, false),
    ("write", Operation::Write, false),
    ("trim", Operation::Trim, false),
    ("flush", Operation::Flush, false),
    ("write fua", Operation::Write, true),
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
                Holds::Number { wide, unsigned } if self.column.name == NAMES[HANDLE] => {
                    self.fill_handles(run, wide, unsigned)
                }
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
            let value = self.number(wide)?;
            if value < 0 && !unsigned {
                self.refuse(format!("found {value} in column `{}`, expected 0 or more", self.column.name));
                continue;
            }
            self.values.push(if wide { value.cast_unsigned() } else { u64::from(value as u32) });
        }
        Some(())
    }

    #[inline]
    fn number(&mut self, wide: bool) -> Option<i64> {
        let value = self.page.number(wide, &self.dictionary.numbers)?;
        Some(if wide { value } else { i64::from(value as i32) })
    }

    /// Placement handles, where a row need not have one.
    fn fill_handles(&mut self, count: u64, wide: bool, unsigned: bool) -> Option<()> {
        for _ in 0..count {
            if !self.page.present()? {
                self.values.push(NO_HANDLE);
                continue;
            }
            let value = self.number(wide)?;
            let number = if wide { value.cast_unsigned() } else { u64::from(value as u32) };
            match PlacementHandle::new(number) {
                Some(_) => self.values.push(number),
                None => self.refuse(format!(
                    "found {} in column `{}`, expected 0 to {} or no value (null)",
                    if unsigned { i128::from(number) } else { i128::from(value) },
                    self.column.name,
                    PlacementHandle::MOST
                )),
            }
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
    let code = OPERATIONS.iter().position(|(name, ..)| name.as_bytes().eq_ignore_ascii_case(text));
    code.map(|code| code as u16).ok_or_else(|| {
        format!(
            "found `{}` in column `operation`, expected read, write, write fua, trim or flush",
            excerpt(text)
        )
    })
}

/// The name of a volume, if it can be one: both reader and writer ask.
pub(super) fn volume_name(name: &[u8]) -> Option<&str> {
    // The length first: a text may be as long as its page, and there may be as many as rows.
    let text = (1..=NAME_MAX).contains(&name.len()).then(|| std::str::from_utf8(name).ok()).flatten();
    text.filter(|text| !text.contains(char::is_control))
}

impl Volumes {
    #[inline]
    fn index(&mut self, name: &[u8]) -> Result<u16> {
        if self.last.0 == name && !name.is_empty() { Ok(self.last.1) } else { self.other(name) }
    }

    #[cold]
    fn other(&mut self, name: &[u8]) -> Result<u16> {
        let text = volume_name(name).ok_or_else(|| {
            format!(
                "found `{}` in column `device`, expected the name of a volume: 1 to {NAME_MAX} bytes of UTF-8 without control characters",
                excerpt(name)
            )
        })?;
        self.last = (name.to_vec(), self.names.named(text)?);
        Ok(self.last.1)
    }
}
