//! Block traces: read, described, written. Which load a trace is, and how it is replayed, is the business of the workload.
//!
//! ```text
//!   formats/   one file a format: what one row means                   [`FORMATS`] is the registry
//!   read/      files to records: unpacking, lines, order, merging, tolerance
//!   options    how a trace is to be read where files of one format differ
//!   info       what a trace holds
//!   write      a trace in another format (convert: from the first record to the last, packed or not)
//!   hash       a fingerprint of what it says
//! ```
//!
//! Parquet files are read by code of our own. Only writing them takes the library, which the feature `parquet` adds;
//! without it the format `harmonia` is read only.
//!
//! **A new format = one file + one line in `formats`.** The command line's list, `format = "auto"`, the replay,
//! `trace info` and the page of formats use the registry and need no change.
//!
//! A trace is one or more files of one format, plain or packed (gz, zst), turned into [`TraceRecord`]s in the order of
//! time: bytes, nanoseconds since the first record, nothing dropped in silence. What cannot be read is an error that
//! names file and line, what stands there and what should; what is passed over, mended or tolerated is counted with its
//! reason ([`ReadLog`]).
//!
//! Not modelled: dependences between requests that a trace does not show.

mod columns;
mod convert;
mod epoch;
mod event_format;
mod events;
mod footprint;
mod formats;
mod guess;
mod hash;
mod header;
mod info;
mod ops;
mod options;
mod read;
mod record;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use harmonia_types::text::one_line;

pub use columns::Columns;
pub use convert::{Conversion, ConvertError, Target, convert};
pub use epoch::Epoch;
pub use event_format::EventFormat;
pub use events::{EventCount, EventCounts, EventsRead};
pub use footprint::Footprint;
pub use formats::{BLKPARSE, CSV, FORMATS, Spread, TraceFormat};
pub use hash::TraceHash;
pub use info::{Handles, MeanSizeBytes, Moments, Operations, PAGE, Summary, TraceInfo, VolumeShare};
pub use ops::OperationCodes;
pub use options::{Action, TraceOptions, UnitOptions, Units};
pub use read::{Noted, Packing, Place, ReadLog, Step, TraceError, TraceInput, TraceReader};
pub use record::{TraceRecord, VolumeNames};
pub use write::{Out, TraceWriter, Written};

use formats::{Fit, Head};
use options::Setting;
use read::Clock;
use read::OpenFile;
use read::fields::excerpt;

/// The name or pattern `name` of a trace's files in `folder`, whose own name is taken as it is.
pub fn within(folder: &Path, name: &str) -> PathBuf {
    read::paths::within(folder, name)
}

/// Name that asks for the format to be found from the content.
pub const AUTO: &str = "auto";

/// How much of a file a format may look at to recognise itself, in bytes.
const SNIFF_BYTES: usize = 64 * 1024;

/// Rows between two questions whether to go on: a few milliseconds.
pub const ASK_EVERY: u64 = 1 << 16;

/// A trace whose format is known; can be read any number of times.
#[derive(Debug, Clone)]
pub struct Trace {
    inputs: Vec<Arc<TraceInput>>,
    format: &'static TraceFormat,
    options: TraceOptions,
    /// Why `auto` decided as it did.
    reason: Option<String>,
    /// The event of a request that is read, once that is known: to choose it, the files are read.
    action: Arc<OnceLock<Action>>,
}

impl Trace {
    /// Opens the files that `paths` name (patterns and sets of blktrace included) as one trace.
    ///
    /// # Errors
    /// If a file is missing, unreadable, empty or not a regular file, the format or an option unknown to it, or, with
    /// `auto`, no format or more than one fits the content.
    pub fn open(paths: &[PathBuf], options: &TraceOptions) -> Result<Self, TraceError> {
        let files = read::paths::expand(paths)?;
        let inputs = files.iter().map(|file| TraceInput::open(file)).collect::<Result<Vec<_>, _>>()?;
        Self::of(inputs, options)
    }

    /// Opens one file in the format of this name, or `auto`, with nothing else to be said.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn open_file(path: &Path, format: &str) -> Result<Self, TraceError> {
        Self::open(&[path.to_owned()], &TraceOptions::of_format(format))
    }

    /// A trace in memory; `name` stands for the file in errors. Behaves as [`Trace::open`] on a file of these bytes.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>, options: &TraceOptions) -> Result<Self, TraceError> {
        Self::of(vec![TraceInput::from_bytes(name, bytes)?], options)
    }

    fn of(inputs: Vec<TraceInput>, options: &TraceOptions) -> Result<Self, TraceError> {
        let inputs: Vec<Arc<TraceInput>> = inputs.into_iter().map(Arc::new).collect();
        let Some(first) = inputs.first() else {
            return Err(TraceError {
                file: "trace".into(),
                place: Place::File,
                problem: "no file is named".into(),
            });
        };
        inputs.iter().try_for_each(|input| input.refuse_wrapped())?;
        let (format, reason) = if options.format == AUTO && options.columns.is_some() {
            (named(first, CSV)?, None)
        } else if options.format == AUTO && options.event_format.is_some() {
            (named(first, BLKPARSE)?, None)
        } else if options.format == AUTO {
            let (format, reason) = detect(&inputs, options)?;
            (format, Some(reason))
        } else {
            (named(first, &options.format)?, None)
        };
        Setting::new(format, options).map_err(|problem| match options.columns {
            None if format.name == CSV => first.error(problem + &or_empty(suggestion(first))),
            _ => first.error(problem),
        })?;
        Ok(Trace { inputs, format, options: options.clone(), reason, action: Arc::default() })
    }

    /// The format it is read as.
    pub fn format(&self) -> &'static TraceFormat {
        self.format
    }

    /// What the person who wrote `format = "auto"` should be told: which format was decided on and why. `None` where the
    /// format was named.
    pub fn decision(&self) -> Option<String> {
        let Trace { format, reason, .. } = self;
        let reason = reason.as_ref()?;
        Some(format!("{}: read as {}, because {reason} ({})", self.name(), format.name, format.summary))
    }

    /// Why `auto` decided on the format; `None` where it was named.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// A reader at the first record.
    ///
    /// # Errors
    /// If a file is not what its format says from its first bytes on.
    pub fn records(&self) -> Result<TraceReader, TraceError> {
        let Trace { format, options, .. } = self;
        let setting = self.setting()?;
        self.inputs.iter().for_each(|input| input.restart());
        let open = |input: &Arc<TraceInput>| {
            let rows = (format.open)(input, setting.clone()).map_err(|problem| input.error(problem))?;
            let clock = Clock { tick_ns: setting.time_ns, coarse: format.spread == Spread::ByItself };
            let clock = rows.clock().unwrap_or(clock);
            let tick_ns = if options.spread.unwrap_or(clock.coarse) { clock.tick_ns } else { 0 };
            Ok(OpenFile { rows, input: Arc::clone(input), tick_ns })
        };
        let files = self.inputs.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let distinct = !options.same_volumes.unwrap_or(format.global_volumes);
        let sort_window_ns = options.sort_window.map_or(format.sort_window_ns, |window| window.0);
        Ok(TraceReader::new(files, distinct, sort_window_ns, format.epoch, options))
    }

    /// Reads the whole trace once and describes it.
    ///
    /// # Errors
    /// If any of it is malformed.
    pub fn info(&self) -> Result<TraceInfo, TraceError> {
        self.info_while(&mut |_| true)?.ok_or_else(|| self.error("reading it was stopped".to_owned()))
    }

    /// As [`Trace::info`], asking `go_on` with the number of rows so far every now and then: `None` if it says no.
    ///
    /// # Errors
    /// The same.
    pub fn info_while(&self, go_on: &mut dyn FnMut(u64) -> bool) -> Result<Option<TraceInfo>, TraceError> {
        info::describe(self, go_on)
    }

    /// Reads from the first record to the last, handing each to `take`. The answer is the reader behind the last, or
    /// `None` if `go_on`, asked with the number of rows so far every now and then, says no.
    ///
    /// # Errors
    /// If any of it is malformed.
    pub fn scan(
        &self,
        go_on: &mut dyn FnMut(u64) -> bool,
        mut take: impl FnMut(&TraceRecord, &TraceReader),
    ) -> Result<Option<TraceReader>, TraceError> {
        let mut reader = self.records()?;
        let mut rows = 0u64;
        loop {
            let ask = match reader.next_step()? {
                Step::Record(record) => {
                    take(&record, &reader);
                    rows += 1;
                    rows.is_multiple_of(ASK_EVERY)
                }
                Step::Pause => true,
                Step::End => return Ok(Some(reader)),
            };
            if ask && !go_on(rows) {
                return Ok(None);
            }
        }
    }

    /// How many bytes of its files lie behind the last reader, to within a few MiB, and how many there are.
    pub fn progress_bytes(&self) -> (u64, u64) {
        let total = |of: fn(&TraceInput) -> u64| self.inputs.iter().map(|input| of(input)).sum();
        (total(TraceInput::reached), total(|input| input.bytes().len() as u64))
    }

    /// The file, or the first and how many more; on one line, to be shown.
    pub fn name(&self) -> String {
        match &self.inputs[..] {
            [only] => one_line(only.name()).into_owned(),
            [first, rest @ ..] => format!("{} and {} more", one_line(first.name()), rest.len()),
            [] => String::new(),
        }
    }

    /// The names of its files.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().map(|input| input.name())
    }

    /// An error about the trace as a whole.
    pub fn error(&self, problem: String) -> TraceError {
        TraceError { file: self.name(), place: Place::File, problem }
    }

    fn setting(&self) -> Result<Setting, TraceError> {
        let setting = Setting::new(self.format, &self.options).map_err(|problem| self.error(problem))?;
        if !self.format.has_actions || setting.action.is_some() {
            return Ok(setting);
        }
        // One event for all files: decided one by one, a request may be read as Q in one and as C in the next.
        let choose = || formats::most_complete_action(&self.inputs, self.format, setting.clone());
        Ok(Setting { action: Some(*self.action.get_or_init(choose)), ..setting })
    }

    /// What its times count, in ns, where that can be chosen.
    fn time_unit_ns(&self) -> Option<u64> {
        self.format.units.time_ns.map(|own| self.options.units.time_ns.unwrap_or(own))
    }

    /// Which event of a request a reader with this log read, if the format records several.
    pub fn events_read(&self, log: &ReadLog) -> Option<EventsRead> {
        let asked = self.options.action;
        let read = asked.or_else(|| self.action.get().copied()).filter(|_| self.format.has_actions)?;
        Some(EventsRead { read, asked: asked.is_some(), counts: log.events })
    }
}

fn named(input: &TraceInput, name: &str) -> Result<&'static TraceFormat, TraceError> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
        input.error(format!("`{name}` is not a trace format: choose auto or one of {}", names(FORMATS)))
    })
}

/// The one format all files fit, and why the first does. A file without a request (a header, summaries) fits what the
/// others are in.
fn detect(
    inputs: &[Arc<TraceInput>],
    options: &TraceOptions,
) -> Result<(&'static TraceFormat, String), TraceError> {
    let mut decided: Option<(&TraceInput, &'static TraceFormat, String)> = None;
    let mut undecided = Vec::new();
    let plain = TraceOptions::default();
    for input in inputs {
        let bytes = input.head(SNIFF_BYTES + 1)?;
        let complete = bytes.len() <= SNIFF_BYTES;
        let head = Head { bytes: &bytes[..bytes.len().min(SNIFF_BYTES)], complete, options };
        if let Some(what) = formats::unread(head.bytes) {
            return Err(input.error(format!("is {what}")));
        }
        // Units that are wrong must not hide what a file is: the reader says what is wrong with them.
        let plain = Head { options: &plain, ..head };
        let choice = choose(FORMATS, &head).or_else(|problem| choose(FORMATS, &plain).map_err(|_| problem));
        match (choice, &decided) {
            (Ok((format, _)), Some((first, other, _))) if other.name != format.name => {
                return Err(input.error(format!(
                    "its content is in format {}, but that of {} in {}: files read as one are of one format",
                    format.name,
                    first.name(),
                    other.name
                )));
            }
            (Ok(_), Some(_)) => {}
            (Ok((format, reason)), None) => decided = Some((input, format, reason)),
            (Err(problem), _) => undecided.push((input, bytes, complete, problem)),
        }
    }
    for (input, bytes, complete, problem) in undecided {
        let head = Head { bytes: &bytes[..bytes.len().min(SNIFF_BYTES)], complete, options };
        let is_without_request = |format: &TraceFormat| (format.sniff)(&head) == Fit::NoRequest;
        if !decided.as_ref().is_some_and(|(_, format, _)| is_without_request(format)) {
            return Err(input.error(problem));
        }
    }
    match decided {
        Some((_, format, reason)) => Ok((format, reason)),
        None => {
            Err(TraceError { file: "trace".into(), place: Place::File, problem: "no file is named".into() })
        }
    }
}

/// What a file's columns may be called, if it looks like a table.
fn suggestion(input: &Arc<TraceInput>) -> Option<String> {
    let bytes = input.head(SNIFF_BYTES + 1).ok()?;
    let (complete, bytes) = (bytes.len() <= SNIFF_BYTES, &bytes[..bytes.len().min(SNIFF_BYTES)]);
    guess::suggestion(&Head { bytes, complete, options: &TraceOptions::default() })
}

/// A further half of a sentence, if there is one.
fn or_empty(more: Option<String>) -> String {
    more.map(|more| format!("; {more}")).unwrap_or_default()
}

/// The one format of `formats` that `head` fits, and why.
fn choose<'a>(formats: &'a [TraceFormat], head: &Head<'_>) -> Result<(&'a TraceFormat, String), String> {
    let mut fitting = Vec::new();
    let mut closest: Option<(usize, &TraceFormat, String)> = None;
    for format in formats {
        match (format.sniff)(head) {
            Fit::Yes(reason) => fitting.push((format, reason)),
            Fit::NoRequest => {
                closest = Some((usize::MAX, format, "has no request in its first lines".to_owned()));
            }
            Fit::No { fitting, problem } => {
                if fitting > closest.as_ref().map_or(0, |closest| closest.0) {
                    closest = Some((fitting, format, problem));
                }
            }
        }
    }
    match (&mut fitting[..], closest) {
        ([_], _) => Ok(fitting.remove(0)),
        ([], Some((_, format, problem))) => Err(format!(
            "its content is in none of the known trace formats ({}); {} comes closest, but {problem}{}",
            names(formats),
            format.name,
            or_empty(guess::suggestion(head))
        )),
        ([], None) => Err(format!(
            "its first line `{}` is in none of the known trace formats ({}): name the format to see what is wrong{}",
            excerpt(first_line(head.bytes)),
            names(formats),
            or_empty(guess::suggestion(head))
        )),
        _ => {
            let names: Vec<&str> = fitting.into_iter().map(|(format, _)| format.name).collect();
            Err(format!(
                "its content fits more than one format ({}): name the one meant, with --format {} (workload.format)",
                names.join(", "),
                names.join(" or --format ")
            ))
        }
    }
}

fn first_line(head: &[u8]) -> &[u8] {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn names<'a>(formats: impl IntoIterator<Item = &'a TraceFormat>) -> String {
    formats.into_iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"128166372003061629,web,3,Read,0,4096,100\n";

    fn open(bytes: &[u8], format: &str) -> Result<Trace, String> {
        Trace::from_bytes("t.csv", bytes.to_vec(), &TraceOptions::of_format(format))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn auto_says_what_it_decided_and_a_named_format_says_nothing() {
        let auto = open(LINE, AUTO).unwrap();
        assert_eq!(auto.format().name, "msr");
        assert!(auto.decision().unwrap().starts_with("t.csv: read as msr, because its only line fits ("));
        assert_eq!(open(LINE, "msr").unwrap().decision(), None);
    }

    #[test]
    fn auto_refuses_none_and_two() {
        let msr = *FORMATS.iter().find(|format| format.name == "msr").unwrap();
        let twice = [msr, TraceFormat { name: "other", ..msr }];
        let error = choose(&twice, &Head { bytes: LINE, complete: true, options: &TraceOptions::default() })
            .unwrap_err();
        assert!(error.contains("more than one") && error.contains("msr, other"), "{error}");
        let error = choose(
            &twice,
            &Head { bytes: b"hello\0\nworld", complete: true, options: &TraceOptions::default() },
        )
        .unwrap_err();
        assert!(error.contains(r"`hello\x00`") && error.contains("none"), "{error}");
    }

    #[test]
    fn an_unknown_format_is_answered_with_the_known_ones() {
        let error = open(LINE, "msrr").unwrap_err();
        assert!(
            error.starts_with("t.csv: `msrr` is not a trace format: choose auto or one of alibaba"),
            "{error}"
        );
    }

    #[test]
    fn names_are_unique_and_none_is_auto() {
        for (index, format) in FORMATS.iter().enumerate() {
            assert_ne!(format.name, AUTO);
            assert!(FORMATS[..index].iter().all(|other| other.name != format.name), "{}", format.name);
        }
    }
}
