//! The compact protocol of Apache Thrift, as far as Parquet's footer and page headers use it.
//!
//! Every element of a list takes at least one byte, so no count is believed that the bytes left cannot hold; nesting
//! is bounded. Reading takes time in proportion to the bytes and no memory.
//!
//! Source: Apache Thrift, "Thrift compact protocol encoding".

/// Types of fields and elements, as they are written.
pub(super) const BINARY: u8 = 8;
pub(super) const STRUCT: u8 = 12;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const UUID: u8 = 13;

/// Nothing in Parquet is nested half as deep.
const DEPTH_MAX: u32 = 32;
/// A varint of 64 bits has at most this many bytes.
const VARINT_MAX: u32 = 10;

/// Reads values one behind the other.
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

type Result<T> = std::result::Result<T, String>;

impl<'a> Thrift<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Thrift { bytes, at: 0 }
    }

    /// Bytes that are read.
    pub(super) fn passed(&self) -> usize {
        self.at
    }

    /// Reads a struct: `field` is given the number and the type of each field and reads or skips it.
    pub(super) fn structure(
        &mut self,
        mut field: impl FnMut(&mut Self, i64, u8) -> Result<()>,
    ) -> Result<()> {
        let mut number = 0i64;
        loop {
            let header = self.byte()?;
            let kind = header & 0x0f;
            if kind == 0 {
                return Ok(());
            }
            number = match header >> 4 {
                0 => self.zigzag()?,
                step => number.saturating_add(i64::from(step)),
            };
            field(self, number, kind)?;
        }
    }

    /// The number of elements of a list of such elements; they follow.
    pub(super) fn list(&mut self, kind: u8, element: u8) -> Result<usize> {
        let (found, count) = self.list_start()?;
        if kind != LIST || (found != element && count > 0) {
            return Err(format!("a list has elements of type {found} where {element} is expected"));
        }
        Ok(count)
    }

    /// A whole number of any width.
    pub(super) fn integer(&mut self, kind: u8) -> Result<i64> {
        match kind {
            BYTE => Ok(i64::from(self.byte()?.cast_signed())),
            I16..=I64 => self.zigzag(),
            _ => Err(format!("a field has type {kind} where a number is expected")),
        }
    }

    /// A number or length that must not be negative.
    pub(super) fn count(&mut self, kind: u8) -> Result<u64> {
        let value = self.integer(kind)?;
        u64::try_from(value).map_err(|_| format!("a count or an offset is {value}"))
    }

    pub(super) fn flag(&mut self, kind: u8) -> Result<bool> {
        match kind {
            TRUE => Ok(true),
            FALSE => Ok(false),
            _ => Err(format!("a field has type {kind} where a flag is expected")),
        }
    }

    pub(super) fn binary(&mut self, kind: u8) -> Result<&'a [u8]> {
        if kind != BINARY {
            return Err(format!("a field has type {kind} where a text is expected"));
        }
        let length = self.varint()?;
        self.take(length)
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self, kind: u8) -> Result<()> {
        self.skip_nested(kind, DEPTH_MAX)
    }

    fn skip_nested(&mut self, kind: u8, depth: u32) -> Result<()> {
        if depth == 0 {
            return Err(format!("values are nested more than {DEPTH_MAX} deep"));
        }
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.byte().map(drop),
            I16..=I64 => self.varint().map(drop),
            DOUBLE => self.take(8).map(drop),
            UUID => self.take(16).map(drop),
            BINARY => self.binary(kind).map(drop),
            LIST | SET => {
                let (element, count) = self.list_start()?;
                (0..count).try_for_each(|_| self.skip_element(element, depth - 1))
            }
            MAP => {
                let count = self.fitting()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth - 1)?;
                    self.skip_element(kinds & 0x0f, depth - 1)
                })
            }
            STRUCT => self.structure(|thrift, _, kind| thrift.skip_nested(kind, depth - 1)),
            _ => Err(format!("a field has type {kind}, which does not exist")),
        }
    }

    /// As a field, but a flag takes a byte.
    fn skip_element(&mut self, kind: u8, depth: u32) -> Result<()> {
        match kind {
            TRUE | FALSE => self.byte().map(drop),
            _ => self.skip_nested(kind, depth),
        }
    }

    fn list_start(&mut self) -> Result<(u8, usize)> {
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.fitting()?,
            count => usize::from(count),
        };
        Ok((header & 0x0f, count))
    }

    /// A number of elements that the bytes left can hold.
    fn fitting(&mut self) -> Result<usize> {
        let count = self.varint()?;
        match usize::try_from(count) {
            Ok(count) if count <= self.bytes.len() - self.at => Ok(count),
            _ => Err(format!("a list has {count} elements in {} bytes", self.bytes.len() - self.at)),
        }
    }

    fn zigzag(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn varint(&mut self) -> Result<u64> {
        varint(self.bytes, &mut self.at).ok_or_else(|| "a number does not end or is beyond 2^64".to_owned())
    }

    fn byte(&mut self) -> Result<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(length).ok().and_then(|length| rest.get(..length));
        let taken =
            taken.ok_or_else(|| format!("{length} bytes are expected where {} are left", rest.len()))?;
        self.at += taken.len();
        Ok(taken)
    }
}

/// The variable-length number at `at`, which moves behind it: seven bits a byte, the lowest first.
#[inline]
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for index in 0..VARINT_MAX {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let bits = u64::from(byte & 0x7f);
        if index + 1 == VARINT_MAX && bits > 1 {
            return None;
        }
        value |= bits << (7 * index);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_zigzag_varints() {
        let mut read = Thrift::new(&[0x00, 0x01, 0x02, 0xff, 0x01]);
        assert_eq!([0; 4].map(|_: i32| read.integer(I64).unwrap()), [0, -1, 1, -128]);
        let widest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(varint(&widest, &mut 0), Some(u64::MAX));
        let wider = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03];
        assert_eq!(varint(&wider, &mut 0), None);
    }

    /// {1: 5, 3: "ab", 4: [true, false], 20: {}}.
    #[test]
    fn fields_are_read_or_skipped() {
        let bytes = [0x15, 0x0a, 0x28, 0x02, b'a', b'b', 0x19, 0x21, 0x01, 0x02, 0x0c, 0x28, 0x00, 0x00];
        let mut seen = Vec::new();
        let mut read = Thrift::new(&bytes);
        read.structure(|thrift, number, kind| {
            seen.push(number);
            thrift.skip(kind)
        })
        .unwrap();
        assert_eq!(seen, [1, 3, 4, 20]);
        assert_eq!(read.passed(), bytes.len());
    }

    /// Neither a count that the bytes cannot hold, nor nesting without end, nor a cut anywhere does harm.
    #[test]
    fn damage_is_an_error() {
        assert!(Thrift::new(&[0xf1, 0xff, 0xff, 0xff, 0xff, 0x07]).skip(LIST).is_err());
        assert!(Thrift::new(&[0x19; 100_000]).skip(LIST).is_err());
        assert!(Thrift::new(&[0x1c; 100_000]).skip(STRUCT).unwrap_err().contains("nested"));
        let bytes = [0x15, 0x0a, 0x28, 0x02, b'a', b'b', 0x19, 0x21, 0x01, 0x02, 0x0c, 0x28, 0x00, 0x00];
        for length in 0..bytes.len() {
            assert!(Thrift::new(&bytes[..length]).skip(STRUCT).is_err(), "{length}");
        }
    }
}
