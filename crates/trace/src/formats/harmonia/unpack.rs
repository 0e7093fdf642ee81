//! Undoing the compression of a page. What comes out is never larger than the page's header says.
//!
//! Source: Apache Parquet, "Compression".

use std::io::{self, Read};

/// Largest zstd window that is accepted, as a power of two: no page is larger.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// How the pages of a column are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Plain,
    Snappy,
    Gzip,
    Zstd,
    Lz4,
}

impl Codec {
    /// By its number in the footer.
    pub(super) fn of(number: i64) -> Result<Self, String> {
        let name = match number {
            0 => return Ok(Codec::Plain),
            1 => return Ok(Codec::Snappy),
            2 => return Ok(Codec::Gzip),
            6 => return Ok(Codec::Zstd),
            7 => return Ok(Codec::Lz4),
            3 => "LZO",
            4 => "BROTLI",
            5 => "LZ4 (the old one with Hadoop's frames)",
            _ => "unknown to this program",
        };
        Err(format!(
            "is compressed by codec {number}, {name}: write it with NONE, SNAPPY, GZIP, ZSTD or LZ4_RAW"
        ))
    }

    /// Appends the `length` bytes that `packed` stands for to `out`.
    pub(super) fn unpack(self, packed: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), String> {
        let end = out.len() + length;
        let done = match self {
            Codec::Plain => {
                out.extend_from_slice(&packed[..packed.len().min(length)]);
                Some(())
            }
            Codec::Snappy => fill(length, out, |out| snap::raw::Decoder::new().decompress(packed, out).ok()),
            Codec::Lz4 => fill(length, out, |out| lz4_flex::block::decompress_into(packed, out).ok()),
            Codec::Gzip => read(flate2::read::MultiGzDecoder::new(packed), length, out),
            Codec::Zstd => zstd::Decoder::with_buffer(packed).ok().and_then(|mut decoder| {
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).ok()?;
                read(decoder, length, out)
            }),
        };
        match done {
            Some(()) if out.len() == end => Ok(()),
            _ => Err(format!("its {self:?} data is damaged")),
        }
    }
}

fn read(decoder: impl Read, length: usize, out: &mut Vec<u8>) -> Option<()> {
    // One more would be too many.
    let done: io::Result<usize> = decoder.take(length as u64 + 1).read_to_end(out);
    done.ok().map(drop)
}

/// Appends `length` bytes, written by what says how many it wrote.
fn fill(length: usize, out: &mut Vec<u8>, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Option<()> {
    let start = out.len();
    out.resize(start + length, 0);
    (write(&mut out[start..])? == length).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack(codec: Codec, packed: &[u8], length: usize) -> Result<Vec<u8>, String> {
        let mut out = b"before".to_vec();
        codec.unpack(packed, length, &mut out)?;
        assert!(out.starts_with(b"before"));
        Ok(out.split_off(6))
    }

    #[test]
    fn literals_and_overlapping_repeats_of_lz4() {
        // "ab", then 6 bytes from 2 before, then "end!!".
        let packed = [0x22, b'a', b'b', 2, 0, 0x50, b'e', b'n', b'd', b'!', b'!'];
        assert_eq!(unpack(Codec::Lz4, &packed, 13).unwrap(), b"ababababend!!");
        // 15 + 255 + 3 literals.
        let long = [&[0xf0, 255, 3][..], &[b'x'; 273]].concat();
        assert_eq!(unpack(Codec::Lz4, &long, 273).unwrap(), [b'x'; 273]);
    }

    #[test]
    fn literals_and_repeats_of_snappy() {
        // 9 bytes: literal "ab", copies of 4 from 2 and of 3 from 1 before.
        let packed = [9, 0x04, b'a', b'b', 0x01, 2, 0x0a, 1, 0];
        assert_eq!(unpack(Codec::Snappy, &packed, 9).unwrap(), b"abababbbb");
        let long = [&[0xac, 0x02, 0xf4, 0x2b, 0x01][..], &[b'x'; 300]].concat();
        assert_eq!(unpack(Codec::Snappy, &long, 300).unwrap(), [b'x'; 300]);
    }

    #[test]
    fn damage_is_an_error_and_nothing_grows_beyond_its_length() {
        let lz4 = [0x22, b'a', b'b', 2, 0, 0x50, b'e', b'n', b'd', b'!', b'!'];
        let snappy = [9, 0x04, b'a', b'b', 0x01, 2, 0x0a, 1, 0];
        for (codec, packed, length) in [(Codec::Lz4, &lz4[..], 13), (Codec::Snappy, &snappy[..], 9)] {
            for end in 0..packed.len() {
                assert!(unpack(codec, &packed[..end], length).is_err(), "{codec:?} {end}");
            }
            assert!(unpack(codec, packed, length - 1).is_err());
            assert!(unpack(codec, packed, length + 1).is_err());
        }
        // A distance of 0, and one that reaches before the page.
        assert!(unpack(Codec::Lz4, &[0x10, b'a', 0, 0, 0x10, b'b'], 6).is_err());
        assert!(unpack(Codec::Lz4, &[0x10, b'a', 2, 0, 0x10, b'b'], 6).is_err());
        assert!(unpack(Codec::Gzip, b"no gzip", 6).is_err());
        assert!(unpack(Codec::Zstd, b"no zstd", 6).is_err());
        assert!(unpack(Codec::Plain, b"12", 6).is_err());
    }

    #[test]
    fn a_bomb_is_cut_short() {
        let bomb = zstd::encode_all(&vec![0u8; 1 << 24][..], 1).unwrap();
        let mut out = Vec::new();
        assert!(Codec::Zstd.unpack(&bomb, 1000, &mut out).is_err());
        assert_eq!(out.len(), 1001);
    }
}
