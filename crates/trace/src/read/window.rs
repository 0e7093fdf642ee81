//! The bytes of a file as a window that moves forward: the mapped file itself, or what a decompressor gives, chunk by
//! chunk. Memory stays flat however long the file is.

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use super::TraceInput;
use super::input::Packing;

/// Memory behind the reader is given back in steps of this many bytes.
const RELEASE_STEP: usize = 8 << 20;
/// A decompressor is asked for so many bytes at once: they stay in the second-level cache until they are parsed.
const CHUNK: usize = 256 << 10;
/// Largest zstd window that is accepted, as a power of two: 128 MiB, what the zstd command accepts by itself.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// A window on the bytes of a file.
pub(crate) struct Window {
    content: Content,
    /// Bytes behind the window.
    passed: u64,
}

enum Content {
    Plain {
        input: Arc<TraceInput>,
        start: usize,
        released: usize,
    },
    Packed {
        decoder: Box<dyn Read + Send>,
        packing: Packing,
        buffer: Vec<u8>,
        start: usize,
        end: Option<End>,
    },
}

/// How the unpacked bytes end: with the file, or where it is damaged.
type End = Result<(), String>;

impl Window {
    /// At the first byte.
    pub(crate) fn new(input: &Arc<TraceInput>) -> Result<Self, String> {
        let packed = || Mapped { input: Arc::clone(input), at: 0, released: 0 };
        let decoder: Box<dyn Read + Send> = match input.packing() {
            None => {
                let content = Content::Plain { input: Arc::clone(input), start: 0, released: 0 };
                return Ok(Window { content, passed: 0 });
            }
            Some(Packing::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(packed())),
            Some(Packing::Zstd) => {
                let broken = |error: io::Error| format!("cannot be unpacked as zst: {error}");
                let mut decoder = zstd::Decoder::with_buffer(packed()).map_err(broken)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(broken)?;
                Box::new(decoder)
            }
        };
        let packing = input.packing().unwrap_or(Packing::Gzip);
        let content = Content::Packed { decoder, packing, buffer: Vec::new(), start: 0, end: None };
        Ok(Window { content, passed: 0 })
    }

    /// The bytes in the window. There may be more behind them.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Plain { input, start, .. } => input.bytes().get(*start..).unwrap_or_default(),
            Content::Packed { buffer, start, .. } => buffer.get(*start..).unwrap_or_default(),
        }
    }

    /// Widens the window at its end; `false` if there is nothing more. What is in it stays.
    #[cold]
    #[inline(never)]
    pub(crate) fn widen(&mut self) -> Result<bool, String> {
        let passed = self.passed;
        let Content::Packed { decoder, packing, buffer, start, end } = &mut self.content else {
            return Ok(false);
        };
        if let Some(end) = end {
            return end.clone().map(|()| false);
        }
        buffer.drain(..*start);
        *start = 0;
        let kept = buffer.len();
        buffer.resize(kept + CHUNK, 0);
        let mut filled = kept;
        while filled < buffer.len() && end.is_none() {
            match decoder.read(&mut buffer[filled..]) {
                Ok(0) => *end = Some(Ok(())),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => *end = Some(Err(packing.broken(passed + filled as u64, &error))),
            }
        }
        buffer.truncate(filled);
        // What came before the damage is read first.
        match end {
            Some(Err(problem)) if filled == kept => Err(problem.clone()),
            _ => Ok(filled > kept),
        }
    }

    /// Moves the window's start on by `count` of its bytes.
    #[inline]
    pub(crate) fn pass(&mut self, count: usize) {
        self.passed += count as u64;
        match &mut self.content {
            Content::Plain { input, start, released } => {
                *start += count;
                if *start - *released >= RELEASE_STEP {
                    input.release(*released, *start);
                    *released = *start;
                }
            }
            Content::Packed { start, .. } => *start += count,
        }
    }

    /// Bytes behind the window, unpacked.
    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    /// Whether at least `count` bytes are in the window, after widening it if need be.
    #[inline]
    pub(crate) fn holds(&mut self, count: usize) -> Result<bool, String> {
        while self.bytes().len() < count {
            if !self.widen()? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The packed bytes of a file, for a decompressor.
struct Mapped {
    input: Arc<TraceInput>,
    at: usize,
    released: usize,
}

impl BufRead for Mapped {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let rest = self.input.bytes().get(self.at..).unwrap_or_default();
        Ok(&rest[..rest.len().min(CHUNK)])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
        if self.at - self.released >= RELEASE_STEP {
            self.input.release(self.released, self.at);
            self.released = self.at;
        }
    }
}

impl Read for Mapped {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn text() -> Vec<u8> {
        (0..100_000u32)
            .flat_map(|i| format!("{i},{}\n", i.wrapping_mul(2_654_435_761)).into_bytes())
            .collect()
    }

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zst(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        // As the zstd command does; without it damage may go unnoticed.
        encoder.include_checksum(true).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Why reading fails; the bytes themselves would fill a screen.
    fn refusal(bytes: &[u8]) -> String {
        read(bytes.to_vec())
            .map(|bytes| format!("{} bytes were read", bytes.len()))
            .unwrap_or_else(|error| error)
    }

    fn read(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        let input = Arc::new(TraceInput::from_bytes("t", bytes).map_err(|error| error.to_string())?);
        let mut window = Window::new(&input)?;
        let mut all = Vec::new();
        loop {
            let count = window.bytes().len().min(1000);
            all.extend_from_slice(&window.bytes()[..count]);
            window.pass(count);
            if window.bytes().is_empty() && !window.widen()? {
                assert_eq!(window.passed(), all.len() as u64);
                return Ok(all);
            }
        }
    }

    #[test]
    fn plain_and_packed_bytes_are_the_same() {
        let text = text();
        assert_eq!(read(text.clone()).unwrap(), text);
        assert_eq!(read(gz(&text)).unwrap(), text);
        assert_eq!(read(zst(&text)).unwrap(), text);
        // Several members one behind the other, as gzip and zstd allow.
        assert_eq!(read([gz(&text), gz(b"more")].concat()).unwrap(), [&text[..], b"more"].concat());
        let twice = [zst(&text), zst(b"more")].concat();
        assert_eq!(read(twice).unwrap(), [&text[..], b"more"].concat());
    }

    #[test]
    fn truncated_and_damaged_files_say_so() {
        for packed in [gz(&text()), zst(&text())] {
            let half = refusal(&packed[..packed.len() / 2]);
            assert!(half.contains("truncated"), "{half}");
            let mut damaged = packed.clone();
            let middle = damaged.len() / 2;
            damaged[middle..middle + 64].fill(0xaa);
            let error = refusal(&damaged);
            assert!(error.contains("damaged") || error.contains("truncated"), "{error}");
        }
    }
}
