//! The encodings of values, each read one value at a time, with every step checked.
//!
//! Source: Apache Parquet, "Encodings".

use super::thrift::varint;

/// Largest block of differences that is accepted, in values; what is written has 128 to some thousands.
const BLOCK_MAX: u64 = 1 << 20;
/// Values in a group of a bit-packed run.
const GROUP: u64 = 8;

/// `width` bits, at most 64, from bit `at` on, the lowest first.
#[inline]
fn bits(bytes: &[u8], at: usize, width: u32) -> Option<u64> {
    let last = at.checked_add(width as usize)?.div_ceil(8);
    if last > bytes.len() {
        return None;
    }
    let (first, shift) = (at / 8, at % 8);
    let value = match bytes.get(first..first + 16) {
        Some(wide) => u128::from_le_bytes(wide.try_into().ok()?),
        None => bytes[first..last].iter().rev().fold(0, |value, &byte| value << 8 | u128::from(byte)),
    };
    Some((value >> shift) as u64 & mask(width))
}

#[inline]
fn mask(width: u32) -> u64 {
    1u64.checked_shl(width).map_or(u64::MAX, |bit| bit - 1)
}

/// Runs of one value and of bit-packed values (RLE): definition levels, and places in a dictionary.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Runs {
    /// Where the next run begins, and where the last ends.
    at: usize,
    end: usize,
    width: u32,
    /// Values left in this run.
    left: u64,
    run: Run,
}

#[derive(Debug, Clone, Copy)]
enum Run {
    Same(u64),
    /// The next value is at this bit.
    Packed(usize),
}

impl Default for Run {
    fn default() -> Self {
        Run::Same(0)
    }
}

impl Runs {
    /// Runs in `at..end`, which must lie within the bytes, of values of `width` bits, at most 32.
    pub(super) fn new(at: usize, end: usize, width: u32) -> Self {
        Runs { at, end, width, ..Runs::default() }
    }

    #[inline]
    pub(super) fn next(&mut self, bytes: &[u8]) -> Option<u64> {
        while self.left == 0 {
            self.next_run(bytes)?;
        }
        self.left -= 1;
        match &mut self.run {
            Run::Same(value) => Some(*value),
            Run::Packed(at) => {
                let value = bits(bytes.get(..self.end)?, *at, self.width)?;
                *at += self.width as usize;
                Some(value)
            }
        }
    }

    fn next_run(&mut self, bytes: &[u8]) -> Option<()> {
        let bytes = bytes.get(..self.end)?;
        let header = varint(bytes, &mut self.at)?;
        if header & 1 == 0 {
            self.left = header >> 1;
            let length = self.width.div_ceil(8) as usize;
            let value = bits(bytes, self.at.checked_mul(8)?, 8 * length as u32)?;
            self.at += length;
            self.run = Run::Same(value);
        } else {
            self.left = (header >> 1).checked_mul(GROUP)?;
            self.run = Run::Packed(self.at.checked_mul(8)?);
            // Some writers cut the last group short: the values that are there can be read.
            let length = usize::try_from((header >> 1).checked_mul(u64::from(self.width))?).ok()?;
            self.at = self.at.checked_add(length)?.min(self.end);
        }
        Some(())
    }
}

/// Differences of neighbours, bit-packed in blocks (DELTA_BINARY_PACKED).
#[derive(Debug, Clone, Copy)]
pub(super) struct Differences {
    /// Behind what has been read: the next block's start, once this one's values are passed.
    at: usize,
    /// Values left, the one at hand included.
    left: u64,
    miniblocks: usize,
    miniblock_values: usize,
    value: i64,
    least: i64,
    /// Where the widths of this block's miniblocks stand, and which is read.
    widths_at: usize,
    miniblock: usize,
    width: u32,
    /// Values left in the miniblock, and the bit where the next is.
    miniblock_left: usize,
    bit: usize,
    first: bool,
}

impl Differences {
    pub(super) fn new(bytes: &[u8], mut at: usize) -> Result<Self, String> {
        let damaged = || "its differences have no whole header".to_owned();
        let mut number = || varint(bytes, &mut at).ok_or_else(damaged);
        let (block, miniblocks, left) = (number()?, number()?, number()?);
        let first = number()?;
        let miniblock_values = block.checked_div(miniblocks).unwrap_or(0);
        if block > BLOCK_MAX || block % 128 != 0 || miniblock_values % 32 != 0 || miniblock_values == 0 {
            return Err(format!(
                "its differences have blocks of {block} values in {miniblocks} parts, expected multiples of 128 and 32"
            ));
        }
        Ok(Differences {
            at,
            left,
            miniblocks: miniblocks as usize,
            miniblock_values: miniblock_values as usize,
            value: unzigzag(first),
            least: 0,
            widths_at: 0,
            miniblock: miniblocks as usize,
            width: 0,
            miniblock_left: 0,
            bit: 0,
            first: true,
        })
    }

    /// Values to come.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// The first byte behind the values, once all are read.
    pub(super) fn end(&self) -> usize {
        self.at
    }

    #[inline]
    pub(super) fn next(&mut self, bytes: &[u8]) -> Option<i64> {
        self.left = self.left.checked_sub(1)?;
        if std::mem::take(&mut self.first) {
            return Some(self.value);
        }
        if self.miniblock_left == 0 {
            self.next_miniblock(bytes)?;
        }
        self.miniblock_left -= 1;
        let difference = if self.width == 0 { 0 } else { bits(bytes, self.bit, self.width)? };
        self.bit += self.width as usize;
        self.value = self.value.wrapping_add(self.least).wrapping_add(difference.cast_signed());
        Some(self.value)
    }

    fn next_miniblock(&mut self, bytes: &[u8]) -> Option<()> {
        self.miniblock += 1;
        if self.miniblock >= self.miniblocks {
            self.least = unzigzag(varint(bytes, &mut self.at)?);
            self.widths_at = self.at;
            self.at = self.at.checked_add(self.miniblocks)?;
            self.miniblock = 0;
        }
        self.width = u32::from(*bytes.get(self.widths_at.checked_add(self.miniblock)?)?);
        if self.width > 64 {
            return None;
        }
        self.bit = self.at.checked_mul(8)?;
        // A miniblock is whole even where its last values are not used.
        self.at = self.at.checked_add(self.miniblock_values / 8 * self.width as usize)?;
        self.miniblock_left = self.miniblock_values;
        Some(())
    }
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the documentation: 0 to 7 in three bits each.
    #[test]
    fn runs_of_both_kinds() {
        let bytes = [0x03, 0b1000_1000, 0b1100_0110, 0b1111_1010, 0x0a, 0x05];
        let mut runs = Runs::new(0, bytes.len(), 3);
        let values: Vec<u64> = std::iter::from_fn(|| runs.next(&bytes)).collect();
        assert_eq!(values, [0, 1, 2, 3, 4, 5, 6, 7, 5, 5, 5, 5, 5]);
        assert_eq!(Runs::new(0, 2, 3).next(&bytes), Some(0));
        assert_eq!(Runs::new(0, 0, 3).next(&bytes), None);
        assert_eq!(Runs::new(0, 1, 0).next(&[0xff]), None);
    }

    /// The example of the documentation: 7, 5, 3, 1, 2, 3, 4, 5.
    #[test]
    fn differences_in_a_block() {
        let mut bytes = vec![0x80, 0x01, 0x04, 0x08, 0x0e, 0x03, 2, 0, 0, 0];
        bytes.extend([0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0, 0xaa]);
        let mut differences = Differences::new(&bytes, 0).unwrap();
        let values: Vec<i64> = std::iter::from_fn(|| differences.next(&bytes)).collect();
        assert_eq!(values, [7, 5, 3, 1, 2, 3, 4, 5]);
        assert_eq!(differences.end(), bytes.len() - 1);
    }

    #[test]
    fn damaged_differences_end_or_are_refused() {
        assert!(Differences::new(&[0x80, 0x01], 0).is_err());
        assert!(Differences::new(&[0x80, 0x01, 0x00, 0x08, 0x0e], 0).is_err());
        assert!(Differences::new(&[0x81, 0x01, 0x01, 0x08, 0x0e], 0).is_err());
        assert!(Differences::new(&[0x00, 0x01, 0x08, 0x0e], 0).is_err());
        let bytes = [0x80, 0x01, 0x01, 0x08, 0x0e, 0x03, 200];
        let mut differences = Differences::new(&bytes, 0).unwrap();
        assert_eq!((differences.next(&bytes), differences.next(&bytes)), (Some(7), None));
    }

    #[test]
    fn bits_of_every_width_and_place() {
        let bytes: Vec<u8> = (0..40u8).map(|i| i.wrapping_mul(97) ^ 0x5a).collect();
        for width in 0..=64 {
            for at in 0..=(bytes.len() * 8 - width as usize) {
                let slow = (0..width as usize)
                    .fold(0u64, |value, i| value | u64::from(bytes[(at + i) / 8] >> ((at + i) % 8) & 1) << i);
                assert_eq!(bits(&bytes, at, width), Some(slow), "{width} {at}");
            }
            assert_eq!(bits(&bytes, bytes.len() * 8 - width as usize + 1, width), None);
        }
    }
}
