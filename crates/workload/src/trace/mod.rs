//! Block traces: read, described, replayed.
//!
//! [`FORMATS`] is the registry. **A new format = one file + one line here**: the file holds what the format is and
//! where its definition comes from, its [`TraceReader`], its `FORMAT` entry and tests on literal lines. The command
//! line's list, `format = "auto"`, the replay and `trace info` iterate or use the registry and need no change.
//!
//! A reader turns its file into [`TraceRecord`]s in file order: bytes, nanoseconds since the first record, nothing
//! dropped. What it cannot read is an error that names file and line, what stands there and what should: a truncated
//! or malformed line is never skipped.
//!
//! Not modelled: the response times a trace recorded (its devices are not ours), host names, waiting of one traced
//! request for another. Compressed files and formats other than those listed are not read yet.

mod footprint;
mod info;
mod input;
mod lines;
mod msr;
mod remap;
mod replay;
mod spc;
mod volumes;

use std::path::Path;
use std::sync::Arc;

use harmonia_types::{Bytes, Operation};

pub use info::{MeanSizeBytes, TraceInfo};
pub use input::{TraceError, TraceInput};
pub use replay::{RemapCounts, TraceSource};

/// Every format, one line each.
pub const FORMATS: &[TraceFormat] = &[msr::FORMAT, spc::FORMAT];

/// Name that asks for the format to be found from the content.
pub const AUTO: &str = "auto";

/// How much of a file a format may look at to recognise itself, in bytes.
const SNIFF_BYTES: usize = 64 * 1024;

/// One row of a trace, in the units of the simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRecord {
    /// Arrival, in ns since the first record's; never less than the record before.
    pub time_ns: u64,
    /// What it does.
    pub operation: Operation,
    /// First byte; `offset + length` does not overflow.
    pub offset: Bytes,
    /// Length in bytes; 0 only where the format has such requests (a flush, an empty transfer).
    pub length: Bytes,
    /// Volume, disk number or ASU.
    pub volume: u16,
}

/// Reads one trace from its first record to its last.
pub trait TraceReader: Send {
    /// The next record; `None` behind the last.
    ///
    /// # Errors
    /// If the file does not go on as its format says. Asked again, the reader gives the same error.
    fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError>;

    /// Line (binary formats: record) the last record came from, counted from 1; 0 before the first.
    fn line(&self) -> u64;
}

/// One registered format.
#[derive(Debug, Clone, Copy)]
pub struct TraceFormat {
    /// What `format = "..."` says.
    pub name: &'static str,
    /// One line for `harmonia formats`: columns and units.
    pub summary: &'static str,
    /// Who publishes traces in it, or where it is defined.
    pub source: &'static str,
    /// A reader at the start of the input.
    pub open: fn(Arc<TraceInput>) -> Box<dyn TraceReader>,
    /// Whether content that begins with these bytes (at most 64 KiB) is in this format.
    pub sniff: fn(&[u8]) -> bool,
}

/// A trace whose format is known; can be read any number of times.
#[derive(Debug, Clone)]
pub struct Trace {
    input: Arc<TraceInput>,
    format: &'static TraceFormat,
    detected: bool,
}

impl Trace {
    /// Opens the file `path` as `format`: a name from [`FORMATS`], or `auto`.
    ///
    /// # Errors
    /// If the file is missing, unreadable, empty or not a regular file, the format unknown, or, with `auto`, no
    /// format or more than one fits the content.
    pub fn open(path: &Path, format: &str) -> Result<Self, TraceError> {
        Self::of(TraceInput::open(path)?, format)
    }

    /// A trace in memory; `name` stands for the file in errors. Behaves as [`Trace::open`] on a file of these bytes.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>, format: &str) -> Result<Self, TraceError> {
        Self::of(TraceInput::from_bytes(name, bytes)?, format)
    }

    fn of(input: TraceInput, format: &str) -> Result<Self, TraceError> {
        let detected = format == AUTO;
        let format = if detected { detect(&input)? } else { named(&input, format)? };
        Ok(Trace { input: Arc::new(input), format, detected })
    }

    /// The format it is read as.
    pub fn format(&self) -> &'static TraceFormat {
        self.format
    }

    /// What the person who wrote `format = "auto"` should be told: which format was decided on. `None` where the
    /// format was named.
    pub fn decision(&self) -> Option<String> {
        let Trace { input, format, detected } = self;
        detected.then(|| format!("{}: read as {} ({})", input.name(), format.name, format.summary))
    }

    /// A reader at the first record.
    pub fn records(&self) -> Box<dyn TraceReader> {
        (self.format.open)(Arc::clone(&self.input))
    }

    /// Reads the whole trace once and describes it.
    ///
    /// # Errors
    /// If any of it is malformed.
    pub fn info(&self) -> Result<TraceInfo, TraceError> {
        info::describe(self)
    }

    /// The bytes behind it, for errors of its users.
    pub(crate) fn input(&self) -> &Arc<TraceInput> {
        &self.input
    }
}

fn named(input: &TraceInput, name: &str) -> Result<&'static TraceFormat, TraceError> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
        input.error(None, format!("`{name}` is not a trace format: choose auto or one of {}", names(FORMATS)))
    })
}

fn detect(input: &TraceInput) -> Result<&'static TraceFormat, TraceError> {
    let head = &input.bytes()[..input.bytes().len().min(SNIFF_BYTES)];
    choose(FORMATS, head).map_err(|problem| input.error(None, problem))
}

/// The one format of `formats` that `head` fits.
fn choose<'a>(formats: &'a [TraceFormat], head: &[u8]) -> Result<&'a TraceFormat, String> {
    let fitting: Vec<&TraceFormat> = formats.iter().filter(|format| (format.sniff)(head)).collect();
    match fitting[..] {
        [format] => Ok(format),
        [] => Err(format!(
            "its first line `{}` is in none of the known trace formats ({}): name the format to see what is wrong",
            lines::excerpt(lines::first_line(head)),
            names(formats)
        )),
        _ => Err(format!("its content fits more than one format ({}): name the one meant", names(fitting))),
    }
}

fn names<'a>(formats: impl IntoIterator<Item = &'a TraceFormat>) -> String {
    formats.into_iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"128166372003061629,web,3,Read,0,4096,100\n";

    #[test]
    fn auto_says_what_it_decided_and_a_named_format_says_nothing() {
        let auto = Trace::from_bytes("t.csv", LINE.to_vec(), AUTO).unwrap();
        assert_eq!(auto.format().name, "msr");
        assert!(auto.decision().unwrap().starts_with("t.csv: read as msr ("));
        assert_eq!(Trace::from_bytes("t.csv", LINE.to_vec(), "msr").unwrap().decision(), None);
    }

    #[test]
    fn auto_refuses_none_and_two() {
        let twice = [FORMATS[0], TraceFormat { name: "other", ..FORMATS[0] }];
        let error = choose(&twice, LINE).unwrap_err();
        assert!(error.contains("more than one") && error.contains("msr, other"), "{error}");
        let error = choose(&twice, b"hello\0\nworld").unwrap_err();
        assert!(error.contains(r"`hello\x00`") && error.contains("none"), "{error}");
    }

    #[test]
    fn an_unknown_format_is_answered_with_the_known_ones() {
        let error = Trace::from_bytes("t.csv", LINE.to_vec(), "msrr").unwrap_err().to_string();
        assert_eq!(error, "t.csv: `msrr` is not a trace format: choose auto or one of msr, spc");
    }

    #[test]
    fn names_are_unique_and_none_is_auto() {
        for (index, format) in FORMATS.iter().enumerate() {
            assert_ne!(format.name, AUTO);
            assert!(FORMATS[..index].iter().all(|other| other.name != format.name), "{}", format.name);
        }
    }
}
