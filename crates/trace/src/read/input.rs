//! The bytes of a trace and the errors about them.
//!
//! A file is mapped, not read: pages come from the page cache as the reader reaches them and are given back behind
//! it, so that memory stays flat however long the trace. The file must not shrink while it is mapped (the operating
//! system would kill the process with SIGBUS): do not replay a file that something truncates.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use harmonia_types::text::one_line;
use memmap2::Mmap;

use super::Place;
use super::window::Window;

/// What is wrong with a trace, worded for the person who has it. Displayed as `file:line: problem`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{place}: {problem}", one_line(.file))]
pub struct TraceError {
    /// The file, as it was named.
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// What was found and what is expected.
    pub problem: String,
}

/// A way of packing, undone while reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// gzip, RFC 1952.
    Gzip,
    /// Zstandard, RFC 8878.
    Zstd,
}

/// First bytes of packed files that are not unpacked here, with what unpacks them.
const FOREIGN: [(&[u8], &str); 5] = [
    (b"\xfd7zXZ\0", "packed with xz: unpack it first (xz -d)"),
    (b"BZh", "packed with bzip2: unpack it first (bzip2 -d)"),
    (b"PK\x03\x04", "packed with zip: unpack it first (unzip)"),
    (b"\x04\x22\x4d\x18", "packed with lz4: unpack it first (lz4 -d)"),
    (b"7z\xbc\xaf\x27\x1c", "packed with 7-zip: unpack it first (7z x)"),
];
const UTF_16: &str = "UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)";

/// So many characters tell UTF-16 from a binary file that happens to begin like it.
const UTF_16_LOOKED_AT: usize = 8;

/// What the file is that is not unpacked here, if it is such a file.
fn foreign(bytes: &[u8]) -> Option<&'static str> {
    let packed = FOREIGN.iter().find(|(first, _)| bytes.starts_with(first));
    packed.map(|(_, what)| *what).or_else(|| is_utf_16(bytes).then_some(UTF_16))
}

/// Whether a mark of UTF-16 is followed by characters that a trace may begin with, all of which are ASCII.
fn is_utf_16(bytes: &[u8]) -> bool {
    let (high, rest) = match bytes {
        [0xff, 0xfe, rest @ ..] => (1, rest),
        [0xfe, 0xff, rest @ ..] => (0, rest),
        _ => return false,
    };
    let is_text = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    rest.chunks_exact(2).take(UTF_16_LOOKED_AT).all(|pair| pair[high] == 0 && is_text(pair[1 - high]))
}

impl Packing {
    fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            // The third byte is the method, of which there is one.
            [0x1f, 0x8b, 0x08, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            _ => None,
        }
    }

    /// The packing that a file's extension announces.
    pub fn of_extension(extension: &str) -> Option<Self> {
        [Packing::Gzip, Packing::Zstd]
            .into_iter()
            .find(|packing| extension.eq_ignore_ascii_case(packing.suffix()))
    }

    fn suffix(self) -> &'static str {
        match self {
            Packing::Gzip => "gz",
            Packing::Zstd => "zst",
        }
    }

    /// Words that unpacking stopped with `error` behind so many unpacked bytes.
    #[cold]
    pub(super) fn broken(self, byte: u64, error: &io::Error) -> String {
        let suffix = self.suffix();
        match error.kind() {
            io::ErrorKind::UnexpectedEof => format!(
                "its {suffix} data ends in the middle, behind {byte} unpacked bytes: the file is truncated"
            ),
            _ => format!("its {suffix} data is damaged behind {byte} unpacked bytes: {error}"),
        }
    }
}

/// The bytes of one trace, never empty, and the name errors give it.
#[derive(Debug)]
pub struct TraceInput {
    name: String,
    content: Content,
    packing: Option<Packing>,
    /// How far the last reader has come at most (columns are read side by side), in bytes of the file, to within a few MiB: for progress bars only.
    reached: AtomicU64,
}

#[derive(Debug)]
enum Content {
    Mapped(Mmap),
    Memory(Vec<u8>),
}

impl TraceInput {
    /// Maps a regular file.
    pub(crate) fn open(path: &Path) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        let fail = |problem: String| TraceError { file: name.clone(), place: Place::File, problem };
        // Asked before opening: opening a FIFO would wait for its writer.
        let metadata = path.metadata().map_err(|error| fail(format!("cannot be read: {error}")))?;
        if metadata.is_dir() {
            return Err(fail("is a directory: name a trace file in it".into()));
        }
        if !metadata.is_file() {
            return Err(fail(
                "is not a regular file (a FIFO, socket or device): save it to a file first".into(),
            ));
        }
        if metadata.len() == 0 {
            return Err(fail(EMPTY.into()));
        }
        let file = File::open(path).map_err(|error| fail(format!("cannot be opened: {error}")))?;
        // SAFETY: the mapping is read-only and private to this process; bytes that another process changes are only
        // ever parsed as untrusted text. Shrinking the file is excluded in the module's documentation.
        let mapping = unsafe { Mmap::map(&file) };
        let mapping = mapping.map_err(|error| fail(format!("cannot be mapped into memory: {error}")))?;
        Self::of(name, Content::Mapped(mapping))
    }

    /// Takes bytes that are already in memory.
    pub(crate) fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, TraceError> {
        Self::of(name.to_owned(), Content::Memory(bytes))
    }

    fn of(name: String, content: Content) -> Result<Self, TraceError> {
        let mut input = TraceInput { name, content, packing: None, reached: AtomicU64::new(0) };
        if input.bytes().is_empty() {
            return Err(input.error(EMPTY.into()));
        }
        if let Some(what) = foreign(input.bytes()) {
            return Err(input.error(format!("is {what}")));
        }
        input.packing = Packing::of(input.bytes());
        Ok(input)
    }

    /// How the bytes are packed, if they are.
    pub(crate) fn packing(&self) -> Option<Packing> {
        self.packing
    }

    /// The first bytes, unpacked, at most `count`; fewer where the file ends or is damaged before.
    pub(crate) fn head(self: &Arc<Self>, count: usize) -> Result<Vec<u8>, TraceError> {
        let mut window = Window::new(self).map_err(|problem| self.error(problem))?;
        // Damage further on is the reader's to report, with its place.
        match window.holds(count) {
            Err(problem) if window.bytes().is_empty() => return Err(self.error(problem)),
            _ => {}
        }
        let bytes = window.bytes();
        Ok(bytes[..bytes.len().min(count)].to_vec())
    }

    /// Refuses what is wrapped in something that is not undone here.
    pub(crate) fn refuse_wrapped(self: &Arc<Self>) -> Result<(), TraceError> {
        let head = self.head(TAR_MAGIC_AT + TAR_MAGIC.len())?;
        if head.is_empty() {
            return Err(self.error(EMPTY.into()));
        }
        if self.packing.is_some() && Packing::of(&head).is_some() {
            return Err(self.error("is packed twice: unpack it once".into()));
        }
        if head.ends_with(TAR_MAGIC) && head.len() == TAR_MAGIC_AT + TAR_MAGIC.len() {
            return Err(self.error("is a tar archive: unpack it first (tar -x)".into()));
        }
        Ok(())
    }

    /// All bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Mapped(mapping) => mapping,
            Content::Memory(bytes) => bytes,
        }
    }

    /// Bytes of the file behind its last reader, to within a few MiB.
    pub(crate) fn reached(&self) -> u64 {
        self.reached.load(Ordering::Relaxed)
    }

    /// A reader starts from the first byte again.
    pub(crate) fn restart(&self) {
        self.reached.store(0, Ordering::Relaxed);
    }

    /// The file, as it was named.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// An error about this input as a whole.
    #[cold]
    pub fn error(&self, problem: String) -> TraceError {
        self.error_at(Place::File, problem)
    }

    /// An error about a place of this input.
    #[cold]
    pub fn error_at(&self, place: Place, problem: String) -> TraceError {
        TraceError { file: self.name.clone(), place, problem }
    }

    /// Gives back the memory of bytes `from..to`; they can still be read, from the file again.
    pub(crate) fn release(&self, from: usize, to: usize) {
        self.reached.fetch_max(to as u64, Ordering::Relaxed);
        if let Content::Mapped(mapping) = &self.content {
            // SAFETY: the mapping is read-only and backed by a file, so dropped pages hold nothing that is not there.
            // Failure costs memory only.
            #[cfg(unix)]
            let _ = unsafe {
                mapping.unchecked_advise_range(
                    memmap2::UncheckedAdvice::DontNeed,
                    from,
                    to.saturating_sub(from),
                )
            };
            #[cfg(not(unix))]
            let _ = (mapping, from, to);
        }
    }
}

/// What stands at this place of a tar archive.
const TAR_MAGIC: &[u8] = b"ustar";
const TAR_MAGIC_AT: usize = 257;

const EMPTY: &str = "is empty: a trace has at least one request";

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path) -> String {
        TraceInput::open(path).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_a_readable_file_is_named_and_refused() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.csv");
        assert!(
            refusal(&missing).starts_with(&format!("{}: cannot be read: No such file", missing.display()))
        );
        assert!(refusal(folder.path()).contains("is a directory"));
        let empty = folder.path().join("empty.csv");
        File::create(&empty).unwrap();
        assert!(refusal(&empty).contains("is empty"));
    }

    /// Must answer at once: opening a FIFO nobody writes to would wait for ever.
    #[cfg(unix)]
    #[test]
    fn a_fifo_is_refused_without_waiting_for_its_writer() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo.csv");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        assert!(refusal(&fifo).contains("not a regular file"));
    }

    #[test]
    fn what_is_not_read_here_is_told_by_its_first_bytes() {
        let refused =
            |bytes: &[u8]| TraceInput::from_bytes("t", bytes.to_vec()).err().map(|error| error.problem);
        assert!(refused(b"BZh91AY").unwrap().starts_with("is packed with bzip2"));
        let text = "Timestamp,Hostname\r\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (mark, wide) in [(b"\xff\xfe", &little), (b"\xfe\xff", &big)] {
            for length in 0..=wide.len() {
                let refusal = refused(&[mark, &wide[..length]].concat());
                assert!(refusal.is_some_and(|words| words.starts_with("is UTF-16 text")), "{length}");
            }
        }
        // The number of a record, its length and what follows, in a binary trace.
        for binary in [
            &b"\xff\xfe\0\0\0\x10\0\0\x01\0\0\0"[..],
            b"\xff\xfe\x20\0\0\x10\0\0\x01\0\0\0",
            b"\xfe\xff\0\0\0\x10\0\0\x01\0\0\0",
            b"\xfe\xff1,2,3,4",
        ] {
            assert_eq!(refused(binary), None, "{}", binary.escape_ascii());
        }
    }

    #[test]
    fn packed_is_what_begins_with_the_whole_mark() {
        assert_eq!(Packing::of(b"\x1f\x8b\x08\0"), Some(Packing::Gzip));
        assert_eq!(Packing::of(b"\x28\xb5\x2f\xfd"), Some(Packing::Zstd));
        for other in [&b"\x1f\x8b"[..], b"\x1f\x8b\0\0", b"\x1f\x8b\x09\0", b"\x28\xb5\x2f"] {
            assert_eq!(Packing::of(other), None);
        }
    }

    /// As columns do that are read side by side.
    #[test]
    fn progress_never_goes_back() {
        let input = TraceInput::from_bytes("t", vec![1; 100]).unwrap();
        for (from, to, reached) in [(0, 40, 40), (40, 90, 90), (10, 20, 90)] {
            input.release(from, to);
            assert_eq!(input.reached(), reached);
        }
        input.restart();
        assert_eq!(input.reached(), 0);
    }

    #[test]
    fn released_bytes_read_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        let bytes: Vec<u8> = (0..100_000u32).map(|i| (i % 251) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let input = TraceInput::open(&path).unwrap();
        input.release(0, 65_536);
        assert_eq!(input.bytes(), bytes);
    }
}
