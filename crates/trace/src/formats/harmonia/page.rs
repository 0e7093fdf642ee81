//! The pages of a column: what their headers say, and their values one by one.

use super::encoding::{Differences, Runs};
use super::footer::Holds;
use super::thrift::{STRUCT, Thrift};

/// Largest page that is accepted, unpacked, in bytes; what is written has about 1 MiB.
pub(super) const PAGE_MAX: usize = 32 << 20;
/// Most values in a page that are accepted; what is written has thousands.
pub(super) const VALUES_MAX: u64 = 1 << 22;
/// Numbers of the encodings.
pub(super) const PLAIN: i64 = 0;
pub(super) const PLAIN_DICTIONARY: i64 = 2;
const RLE: i64 = 3;
const DELTA_BINARY_PACKED: i64 = 5;
const DELTA_LENGTH_BYTE_ARRAY: i64 = 6;
const DELTA_BYTE_ARRAY: i64 = 7;
const RLE_DICTIONARY: i64 = 8;
const BYTE_STREAM_SPLIT: i64 = 9;

/// A page of data, unpacked.
#[derive(Default)]
pub(super) struct Page {
    pub(super) bytes: Vec<u8>,
    /// Rows in it that are still to come.
    pub(super) left: u64,
    /// Which rows have a value, if not all must.
    pub(super) levels: Option<Runs>,
    pub(super) values: Values,
}

/// How the values of a page are encoded, and where the next is.
#[derive(Default)]
pub(super) enum Values {
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
pub(super) struct Strings {
    shared: Vec<i32>,
    lengths: Vec<i32>,
    next: usize,
    /// The next text's own bytes.
    at: usize,
    text: Vec<u8>,
}

type Result<T> = std::result::Result<T, String>;

/// What a page's header says.
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Bytes behind the header, and after unpacking.
    pub(super) packed: usize,
    pub(super) unpacked: usize,
    /// Rows of data, or entries of a dictionary.
    pub(super) values: u64,
    pub(super) encoding: i64,
    /// Of a page of the first version.
    pub(super) level_encoding: i64,
    pub(super) version_2: bool,
    /// Of a page of the second version: bytes of all levels, and of those that come first.
    pub(super) levels_v2: usize,
    pub(super) repetition_v2: usize,
    /// Whether its values are not packed even if others of the column are.
    pub(super) plain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Data,
    Dictionary,
    Other,
}

impl Header {
    /// The header at the start of `bytes`, checked, and what stands behind it.
    pub(super) fn read(bytes: &[u8]) -> Result<(Self, &[u8])> {
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
                5 | 7 | 8 if field_kind == STRUCT => {
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

/// The levels at the start of a page of the first kind: their length, then runs.
pub(super) fn levels_of(bytes: &[u8], encoding: i64, at: &mut usize) -> Result<Runs> {
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
    pub(super) fn new(
        header: &Header,
        bytes: &[u8],
        at: usize,
        holds: Holds,
        dictionary: bool,
    ) -> Result<Self> {
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

pub(super) fn unknown_encoding(encoding: i64) -> String {
    format!(
        "its encoding is number {encoding}, expected PLAIN, RLE_DICTIONARY, BYTE_STREAM_SPLIT or one of the DELTA encodings"
    )
}

impl Page {
    /// Whether the next row has a value.
    #[inline]
    pub(super) fn present(&mut self) -> Option<bool> {
        match &mut self.levels {
            None => Some(true),
            Some(levels) => levels.next(&self.bytes).map(|level| level == 1),
        }
    }

    #[inline]
    pub(super) fn number(&mut self, wide: bool, dictionary: &[i64]) -> Option<i64> {
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
    pub(super) fn text(&mut self) -> Option<&[u8]> {
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
pub(super) fn plain(bytes: &[u8], at: &mut usize, wide: bool) -> Option<i64> {
    let rest = bytes.get(*at..)?;
    let value = match wide {
        true => i64::from_le_bytes(*rest.first_chunk()?),
        false => i64::from(i32::from_le_bytes(*rest.first_chunk()?)),
    };
    *at += width(wide);
    Some(value)
}

#[inline]
pub(super) fn plain_text(bytes: &[u8], at: &mut usize) -> Option<(usize, usize)> {
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
