//! The bytes of a trace and the errors about them.
//!
//! A file is mapped, not read: pages come from the page cache as the reader reaches them and are given back behind
//! it, so that memory stays flat however long the trace. The file must not shrink while it is mapped (the operating
//! system would kill the process with SIGBUS): do not replay a file that something truncates.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use crate::SourceError;

/// What is wrong with a trace, worded for the person who has it. Displayed as `file:line: problem`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {problem}", .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct TraceError {
    /// The file, as it was named.
    pub file: String,
    /// Line (binary formats: record), counted from 1, if the problem is in one.
    pub line: Option<u64>,
    /// What was found and what is expected.
    pub problem: String,
}

impl From<TraceError> for SourceError {
    fn from(error: TraceError) -> Self {
        SourceError(error.to_string())
    }
}

/// The bytes of one trace, never empty, and the name errors give it.
#[derive(Debug)]
pub struct TraceInput {
    name: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Mapped(Mmap),
    Memory(Vec<u8>),
}

impl TraceInput {
    /// Maps a regular file.
    pub(super) fn open(path: &Path) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        let fail = |problem: String| TraceError { file: name.clone(), line: None, problem };
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
        Ok(TraceInput { name, content: Content::Mapped(mapping) })
    }

    /// Takes bytes that are already in memory.
    pub(super) fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, TraceError> {
        let input = TraceInput { name: name.to_owned(), content: Content::Memory(bytes) };
        if input.bytes().is_empty() { Err(input.error(None, EMPTY.into())) } else { Ok(input) }
    }

    /// All bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Mapped(mapping) => mapping,
            Content::Memory(bytes) => bytes,
        }
    }

    /// The file, as it was named.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// An error about this input, at `line` if given.
    pub fn error(&self, line: Option<u64>, problem: String) -> TraceError {
        TraceError { file: self.name.clone(), line, problem }
    }

    /// Gives back the memory of bytes `from..to`; they can still be read, from the file again.
    pub(super) fn release(&self, from: usize, to: usize) {
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
