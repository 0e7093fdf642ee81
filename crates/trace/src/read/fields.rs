//! The checked reading of a line's fields. The fast path does no allocation; the cold functions word the errors.

use harmonia_types::Operation;
use memchr::memchr;

/// An error quotes at most this many bytes of the file.
const EXCERPT_BYTES: usize = 60;
/// Any number of so many decimal digits is below 2^64.
const SAFE_DIGITS: usize = 19;

/// A column: its place, counted from 1, its name and what it holds, for errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) place: usize,
    pub(crate) name: &'static str,
    pub(crate) holds: &'static str,
}

impl Column {
    /// Words that `found` is not what the column holds.
    #[cold]
    #[inline(never)]
    pub(crate) fn misread(&self, found: &[u8]) -> String {
        let Column { place, name, holds } = self;
        format!("found `{}` in field {place} ({name}), expected {holds}", excerpt(found))
    }

    /// Words that a time is beyond what the simulator can count.
    #[cold]
    #[inline(never)]
    pub(crate) fn too_late(&self, time: u64) -> String {
        self.misread(time.to_string().as_bytes()) + ", and below 2^64 ns"
    }

    /// Words that a size is 0 where no request is empty.
    #[cold]
    #[inline(never)]
    pub(crate) fn empty(&self) -> String {
        self.misread(b"0") + ", at least 1"
    }
}

/// The fields of a line, read from the left: separated by commas, each exactly one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a> {
    line: &'a [u8],
    /// Start of the next field; beyond the line's end when there is none.
    at: usize,
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) fn new(line: &'a [u8]) -> Self {
        Fields { line, at: 0 }
    }

    /// The next field as a whole number below 2^64: digits only.
    #[inline]
    pub(crate) fn number(&mut self, column: &Column) -> Result<u64, String> {
        let (value, digits) = leading_digits(self.line, self.at);
        if !matches!(digits, 1..=SAFE_DIGITS) || !matches!(self.line.get(self.at + digits), None | Some(b','))
        {
            return self.long_number(column);
        }
        self.at += digits + 1;
        Ok(value)
    }

    /// As [`Fields::number`], for what it cannot do at a glance: more digits than surely fit, and no number at all.
    #[cold]
    #[inline(never)]
    fn long_number(&mut self, column: &Column) -> Result<u64, String> {
        let rest = self.line.get(self.at..).unwrap_or_default();
        let field = &rest[..memchr(b',', rest).unwrap_or(rest.len())];
        let value = whole(field).ok_or_else(|| self.unexpected(column))?;
        self.at += field.len() + 1;
        Ok(value)
    }

    /// The next field as a whole number below 2^64 with blanks and tabs around it or without.
    #[inline(always)]
    pub(crate) fn padded_number(&mut self, column: &Column) -> Result<u64, String> {
        let (value, digits) = leading_digits(self.line, self.at);
        if matches!(digits, 1..=SAFE_DIGITS) && self.line.get(self.at + digits) == Some(&b',') {
            self.at += digits + 1;
            return Ok(value);
        }
        self.any_padded_number(column)
    }

    #[inline(never)]
    fn any_padded_number(&mut self, column: &Column) -> Result<u64, String> {
        let text = self.padded(column)?;
        whole(text).ok_or_else(|| column.misread(text))
    }

    /// The next field as one character, with blanks and tabs around it or without.
    #[inline]
    pub(crate) fn padded_letter(&mut self, column: &Column) -> Result<u8, String> {
        if let Some(&[letter, b',']) = self.line.get(self.at..self.at + 2) {
            self.at += 2;
            return Ok(letter);
        }
        match self.padded(column)? {
            &[letter] => Ok(letter),
            other => Err(column.misread(other)),
        }
    }

    /// The next field as a [`decimal`] in `unit`, with blanks and tabs around it or without.
    #[inline]
    pub(crate) fn padded_decimal(&mut self, unit: u64, column: &Column) -> Result<u64, String> {
        if let Some((value, length)) = plain_decimal(self.line, self.at, unit) {
            let end = self.at + length;
            if matches!(self.line.get(end), None | Some(b',')) {
                self.at = end + 1;
                return Ok(value);
            }
        }
        self.any_padded_decimal(unit, column)
    }

    #[inline(never)]
    fn any_padded_decimal(&mut self, unit: u64, column: &Column) -> Result<u64, String> {
        let text = self.padded(column)?;
        decimal(text, unit).ok_or_else(|| column.misread(text))
    }

    /// Passes over `fields`, with the commas behind each, if they come next.
    #[inline]
    pub(crate) fn pass(&mut self, fields: &[u8]) -> bool {
        let next = self.line.get(self.at..).is_some_and(|rest| rest.starts_with(fields));
        if next {
            self.at += fields.len();
        }
        next
    }

    /// The next field as text: not empty, no control characters.
    #[inline]
    pub(crate) fn text(&mut self, column: &Column) -> Result<&'a [u8], String> {
        let rest = self.line.get(self.at..).unwrap_or_default();
        let mut end = 0;
        while let Some(&byte) = rest.get(end) {
            if byte == b',' {
                break;
            }
            if byte < b' ' {
                return Err(self.unexpected(column));
            }
            end += 1;
        }
        if end == 0 {
            return Err(self.unexpected(column));
        }
        self.at += end + 1;
        Ok(&rest[..end])
    }

    /// The next field without the blanks and tabs around it; it may be empty, but must be there.
    #[inline]
    pub(crate) fn padded(&mut self, column: &Column) -> Result<&'a [u8], String> {
        let Some(rest) = self.line.get(self.at..) else { return Err(self.unexpected(column)) };
        let end = memchr(b',', rest).unwrap_or(rest.len());
        self.at += end + 1;
        Ok(trimmed(&rest[..end]))
    }

    /// Refuses fields behind the last `columns`.
    #[inline]
    pub(crate) fn end(&self, columns: usize) -> Result<(), String> {
        if self.at > self.line.len() { Ok(()) } else { Err(self.surplus(columns)) }
    }

    #[cold]
    fn surplus(&self, columns: usize) -> String {
        surplus(self.line.get(self.at..).unwrap_or_default(), columns)
    }

    /// Words that the next field is not what `column` holds.
    #[cold]
    #[inline(never)]
    fn unexpected(&self, column: &Column) -> String {
        match self.line.get(self.at..) {
            None => missing(self.line, column),
            Some(rest) => column.misread(&rest[..memchr(b',', rest).unwrap_or(rest.len())]),
        }
    }
}

/// The fields of a line, read from the left: separated by any number of blanks and tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    #[inline]
    pub(crate) fn new(line: &'a [u8]) -> Self {
        Words { line, at: 0 }
    }

    /// The next word; never empty.
    #[inline]
    pub(crate) fn word(&mut self, column: &Column) -> Result<&'a [u8], String> {
        self.next().ok_or_else(|| missing(self.line, column))
    }

    /// The next word as a whole number below 2^64: digits only.
    #[inline]
    pub(crate) fn number(&mut self, column: &Column) -> Result<u64, String> {
        let word = self.word(column)?;
        whole(word).ok_or_else(|| column.misread(word))
    }

    /// What is left of the line, without the blanks before it.
    pub(crate) fn rest(&self) -> &'a [u8] {
        trimmed(self.line.get(self.at..).unwrap_or_default())
    }

    /// Refuses words behind the last `columns`.
    #[inline]
    pub(crate) fn end(&self, columns: usize) -> Result<(), String> {
        match self.rest() {
            [] => Ok(()),
            rest => Err(surplus(rest, columns)),
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.line.get(self.at..)?;
        let start = rest.iter().position(|byte| !is_blank(byte))?;
        let rest = &rest[start..];
        let length = rest.iter().position(is_blank).unwrap_or(rest.len());
        self.at += start + length;
        Some(&rest[..length])
    }
}

#[inline]
fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// `text` without the blanks and tabs around it.
#[inline]
pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    let start = text.iter().take_while(|byte| is_blank(byte)).count();
    let padding = text[start..].iter().rev().take_while(|byte| is_blank(byte)).count();
    &text[start..text.len() - padding]
}

/// A whole number below 2^64: at least one decimal digit and nothing else.
#[inline]
pub(crate) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |value, byte| match byte {
        b'0'..=b'9' => value.checked_mul(10)?.checked_add(u64::from(byte - b'0')),
        _ => None,
    })
}

/// A whole number below 2^64 in decimal digits, or in hexadecimal ones behind `0x`.
#[inline]
pub(crate) fn number_or_hex(text: &[u8]) -> Option<u64> {
    whole(text).or_else(|| hexadecimal(text))
}

#[cold]
fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X"))?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u64::from_str_radix(digits, 16).ok()
}

/// The number that the bytes of `text` at `from` are the digits of, modulo 2^64, and how many digits it has.
///
/// Eight digits at a time: the bytes of a word less `0` are digits if adding 0x76 leaves their top bits clear (a carry
/// only spoils bytes behind the first that is none), and three multiplications join neighbours.
#[inline(always)]
fn leading_digits(text: &[u8], from: usize) -> (u64, usize) {
    let (mut value, mut at) = (0u64, from);
    loop {
        let word = eight_bytes(text, at) ^ 0x3030_3030_3030_3030;
        let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
        let digits = (others.trailing_zeros() / 8) as usize;
        if digits == 0 {
            return (value, at - from);
        }
        // The first digit is the lowest byte: moved up, zeros lead.
        let word = word << (64 - 8 * digits);
        let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
        let high = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
        let low = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
        value = value.wrapping_mul(POWERS_OF_TEN[digits]).wrapping_add(high.wrapping_add(low) >> 32);
        at += digits;
        if digits < 8 {
            return (value, at - from);
        }
    }
}

/// The bytes from `at` on, the first lowest; zeros behind the end.
#[inline(always)]
fn eight_bytes(text: &[u8], at: usize) -> u64 {
    if let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        return u64::from_le_bytes(*bytes);
    }
    let left = text.len().saturating_sub(at);
    match text.last_chunk::<8>() {
        Some(bytes) if left > 0 => u64::from_le_bytes(*bytes) >> (64 - 8 * left),
        _ => text.iter().skip(at).rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

const POWERS_OF_TEN: [u64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// A decimal number times `unit`, rounded down, if that is below 2^64: at least one digit before the point and, if
/// there is a point, one behind; no sign, no exponent.
#[inline]
pub(crate) fn decimal(text: &[u8], unit: u64) -> Option<u64> {
    match plain_decimal(text, 0, unit) {
        Some((value, length)) if length == text.len() => Some(value),
        _ => any_decimal(text, unit),
    }
}

/// The decimal number at `from` in the form that nearly every time of a trace has, seconds with one to nine decimals,
/// and its length.
#[inline(always)]
fn plain_decimal(text: &[u8], from: usize, unit: u64) -> Option<(u64, usize)> {
    let (units, point) = leading_digits(text, from);
    let (part, digits) = leading_digits(text, from + point + 1);
    let plain = matches!(point, 1..=9) && matches!(digits, 1..=9) && text.get(from + point) == Some(&b'.');
    (plain && unit == POWERS_OF_TEN[9])
        .then(|| (units * unit + part * POWERS_OF_TEN[9 - digits], point + 1 + digits))
}

#[inline(never)]
fn any_decimal(text: &[u8], unit: u64) -> Option<u64> {
    let point = text.iter().position(|&byte| byte == b'.');
    let (units, fraction) = point.map_or((text, &b"0"[..]), |point| (&text[..point], &text[point + 1..]));
    if fraction.is_empty() || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Further digits are worth less than one, as units are below 10^15.
    let kept = &fraction[..fraction.len().min(SAFE_DIGITS)];
    let scale = 10u64.pow(kept.len() as u32);
    let part = u128::from(whole(kept)?) * u128::from(unit) / u128::from(scale);
    whole(units)?.checked_mul(unit)?.checked_add(part as u64)
}

#[cold]
pub(crate) fn missing(line: &[u8], column: &Column) -> String {
    let Column { place, name, holds } = column;
    format!("found the end of the line `{}`, expected field {place} ({name}): {holds}", excerpt(line))
}

#[cold]
pub(crate) fn surplus(found: &[u8], columns: usize) -> String {
    format!("found `{}` behind the last field, expected {columns} fields", excerpt(found))
}

/// Bytes of the file as an error may show them: escaped, and not too many.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    match bytes.get(..EXCERPT_BYTES) {
        Some(start) if bytes.len() > EXCERPT_BYTES => format!("{}...", start.escape_ascii()),
        _ => bytes.escape_ascii().to_string(),
    }
}

/// The request `[address, address + length)` in bytes, checked: no block layer issues more than 1 GiB at once, and
/// nothing ends beyond 2^64.
#[inline]
pub(crate) fn extent(address: u64, unit: u64, size: u64, size_unit: u64) -> Result<(u64, u64), String> {
    let length = size.checked_mul(size_unit).filter(|&length| length <= super::super::record::MAX_LENGTH);
    let Some(length) = length else {
        return Err(format!(
            "found a request of {size} x {size_unit} bytes, expected at most 1 GiB: is the size unit right?"
        ));
    };
    placed(address, unit, length)
}

/// As [`extent`], of a request that does this: a trim may have any length, such as that of a whole disk.
#[inline]
pub(crate) fn extent_of(
    operation: Operation,
    (address, unit): (u64, u64),
    (size, size_unit): (u64, u64),
) -> Result<(u64, u64), String> {
    if operation != Operation::Trim {
        return extent(address, unit, size, size_unit);
    }
    let too_long = || format!("found a trim of {size} x {size_unit} bytes, expected less than 2^64 bytes");
    placed(address, unit, size.checked_mul(size_unit).ok_or_else(too_long)?)
}

#[inline]
fn placed(address: u64, unit: u64, length: u64) -> Result<(u64, u64), String> {
    let offset = address.checked_mul(unit).filter(|offset| offset.checked_add(length).is_some());
    let Some(offset) = offset else {
        return Err(format!(
            "found a request of {length} bytes at {address} x {unit}, expected an end below 2^64 bytes"
        ));
    };
    Ok((offset, length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COLUMN: Column = Column { place: 1, name: "n", holds: "a number" };

    fn number(text: &[u8]) -> Result<u64, String> {
        Fields::new(text).number(&COLUMN)
    }

    #[test]
    fn numbers_end_at_2_to_the_64() {
        for read in [number, |text: &[u8]| whole(text).ok_or_else(String::new)] {
            assert_eq!(read(b"18446744073709551615"), Ok(u64::MAX));
            assert_eq!(read(b"0000000000000000000000007"), Ok(7));
            for bad in [
                &b"18446744073709551616"[..],
                b"99999999999999999999",
                b"",
                b"-1",
                b"+1",
                b" 1",
                b"1 ",
                b"1e3",
            ] {
                assert!(read(bad).is_err(), "{}", bad.escape_ascii());
            }
        }
    }

    #[test]
    fn decimals_are_rounded_down_in_their_unit() {
        assert_eq!(decimal(b"1.5", 1_000_000_000), Some(1_500_000_000));
        assert_eq!(decimal(b"0.0000000019999999999999999999999999", 1_000_000_000), Some(1));
        assert_eq!(decimal(b"1234.567", 1_000_000), Some(1_234_567_000));
        assert_eq!(decimal(b"18446744073.709551615", 1_000_000_000), Some(u64::MAX));
        for bad in [
            &b"18446744073.709551616"[..],
            b".5",
            b"5.",
            b"",
            b".",
            b"-1.0",
            b"1e3",
            b"NaN",
            b"inf",
            b"1.2.3",
        ] {
            assert_eq!(decimal(bad, 1_000_000_000), None, "{}", bad.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn digits_are_read_as_one_by_one(text in "[0-9]{0,25}[ -~]{0,12}") {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let value = text.as_bytes()[..digits]
                .iter()
                .fold(0u64, |value, byte| value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')));
            for before in ["", ",", "1234567,"] {
                let line = format!("{before}{text}");
                prop_assert_eq!(leading_digits(line.as_bytes(), before.len()), (value, digits));
            }
        }

        #[test]
        fn the_short_way_to_a_decimal_is_the_long_way(text in "[0-9]{0,12}(\\.[0-9]{0,12})?[0-9. ]{0,2}") {
            for unit in [1, 1000, 1_000_000_000] {
                prop_assert_eq!(decimal(text.as_bytes(), unit), any_decimal(text.as_bytes(), unit));
            }
        }
    }

    #[test]
    fn words_are_separated_by_any_blanks() {
        let words: Vec<&[u8]> = Words::new(b"  a\tbc   d ").collect();
        assert_eq!(words, [&b"a"[..], b"bc", b"d"]);
        let mut words = Words::new(b" 5  java thread ");
        assert_eq!(words.number(&COLUMN), Ok(5));
        assert_eq!(words.rest(), b"java thread");
        assert!(words.end(1).unwrap_err().contains("`java thread` behind the last field"));
    }

    #[test]
    fn extents_are_bounded() {
        assert_eq!(extent(8, 512, 2, 512), Ok((4096, 1024)));
        assert!(extent(0, 1, (1 << 30) + 1, 1).unwrap_err().contains("size unit"));
        assert!(extent(u64::MAX / 512 + 1, 512, 1, 1).unwrap_err().contains("2^64"));
        assert!(extent(u64::MAX, 1, 1, 1).is_err());
    }

    #[test]
    fn a_trim_may_have_any_length() {
        let long = 1 << 50;
        assert_eq!(extent_of(Operation::Trim, (8, 512), (long, 512)), Ok((4096, long * 512)));
        assert!(extent_of(Operation::Trim, (0, 1), (u64::MAX, 2)).unwrap_err().contains("less than 2^64"));
        assert!(extent_of(Operation::Trim, (2, 1), (u64::MAX - 1, 1)).unwrap_err().contains("2^64"));
        assert!(extent_of(Operation::Write, (0, 1), ((1 << 30) + 1, 1)).unwrap_err().contains("1 GiB"));
    }

    #[test]
    fn numbers_may_be_hexadecimal() {
        let table: [(&[u8], Option<u64>); 7] = [
            (b"16", Some(16)),
            (b"0x10", Some(16)),
            (b"0XfF", Some(255)),
            (b"0xffffffffffffffff", Some(u64::MAX)),
            (b"0x10000000000000000", None),
            (b"0x", None),
            (b"0x+1", None),
        ];
        for (text, value) in table {
            assert_eq!(number_or_hex(text), value, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn excerpts_are_short_and_printable() {
        assert_eq!(excerpt(b"a\0\xff"), r"a\x00\xff");
        assert_eq!(excerpt(&[b'x'; 1000]).len(), EXCERPT_BYTES + 3);
    }
}
