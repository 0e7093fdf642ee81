//! The records of a whole trace: its files merged by time, its window cut out, its volumes numbered.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use harmonia_types::Operation;

use super::super::epoch::Epoch;
use super::super::options::TraceOptions;
use super::super::record::{Row, TraceRecord, VolumeNames};
use super::order::{Ordered, Tolerance};
use super::{Place, ReadLog, RowReader, TraceError, TraceInput};

/// Reads a trace from its first record to its last.
///
/// Several files are merged by the times on their clocks, those that come first in the list first at equal times; so
/// parts of one long trace follow one another and traces of several disks run side by side.
pub struct TraceReader {
    files: Vec<File>,
    /// The file whose next row comes first; used where there are several files.
    queue: BinaryHeap<Reverse<(u64, usize)>>,
    /// Files whose next row is to be read: at first all, then the one that gave the last row.
    taken: Range<usize>,
    tolerance: Tolerance,
    volumes: VolumeNames,
    only: Only,
    start_ns: u64,
    end_ns: u64,
    /// The first record's time on the files' clock.
    first_ns: Option<u64>,
    /// Since when that clock counts.
    epoch: Epoch,
    given: u64,
    /// File of the record given last and, where files are merged, its place and how long it took.
    at: (usize, Option<(Place, u64)>),
    /// Set at the end (`Ok`) or at an error (`Err`): the answer from then on.
    finished: Option<Result<(), TraceError>>,
}

/// A file that its format's reader has begun.
pub(crate) struct OpenFile {
    pub(crate) rows: Box<dyn RowReader>,
    pub(crate) input: Arc<TraceInput>,
    /// Ticks of its clock to spread its rows over; 0: not at all.
    pub(crate) tick_ns: u64,
}

/// What reading on gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The next record.
    Record(TraceRecord),
    /// Nothing yet: many rows were passed over.
    Pause,
    /// The end.
    End,
}

/// So many rows are passed over at a time.
const PAUSE_AFTER: u32 = 65_536;

struct File {
    rows: Ordered,
    /// The row that is next where files are merged.
    head: Option<(Row, (Place, u64))>,
    /// Index in the trace's volumes, by index in the file's.
    volumes: Vec<u16>,
    /// What the names of its volumes begin with.
    prefix: String,
}

/// The one volume that is wanted.
struct Only {
    name: Option<String>,
    /// Its index, once it has been seen.
    index: Option<u16>,
}

impl Only {
    /// Takes note of a volume: wanted if it has the very name asked for, or if that is its last part (`3` for `web_3`)
    /// and nothing else's.
    fn meet(&mut self, name: &str, number: u16, volumes: &VolumeNames) -> Result<(), String> {
        let Some(asked) = self.name.as_deref() else { return Ok(()) };
        let is_last_part = || name.rsplit_once(['_', ':']).is_some_and(|(_, last)| last == asked);
        match self.index.filter(|&index| index != number).map(|index| &volumes.names()[usize::from(index)]) {
            Some(other) if other != asked && (name == asked || is_last_part()) => Err(format!(
                "found volume `{name}` beside `{other}`, and `{asked}` may mean either: write the name in full"
            )),
            Some(_) => Ok(()),
            None => {
                if name == asked || is_last_part() {
                    self.index = Some(number);
                }
                Ok(())
            }
        }
    }
}

impl TraceReader {
    /// Over files that are open, each with the tick its rows are spread over (0: they are not); `distinct` if each has
    /// volumes of its own.
    pub(crate) fn new(
        files: Vec<OpenFile>,
        distinct: bool,
        sort_window_ns: u64,
        epoch: Epoch,
        options: &TraceOptions,
    ) -> Self {
        let count = files.len();
        let distinct = distinct && count > 1;
        let prefixes = if distinct { prefixes(&files) } else { vec![String::new(); count] };
        let open = |(OpenFile { rows, input, tick_ns }, prefix): (OpenFile, String)| File {
            prefix,
            rows: Ordered::new(rows, input, sort_window_ns, tick_ns),
            head: None,
            volumes: Vec::new(),
        };
        TraceReader {
            files: files.into_iter().zip(prefixes).map(open).collect(),
            queue: BinaryHeap::new(),
            taken: 0..count,
            tolerance: Tolerance { log: ReadLog::default(), bad_left: options.skip_bad },
            volumes: VolumeNames::default(),
            only: Only { name: options.only.clone(), index: None },
            start_ns: options.start.map_or(0, |start| start.0),
            end_ns: options.end.map_or(u64::MAX, |end| end.0),
            first_ns: None,
            epoch,
            given: 0,
            at: (0, None),
            finished: None,
        }
    }

    /// The next record; `None` behind the last.
    ///
    /// # Errors
    /// If a file does not go on as its format says. Asked again, the reader gives the same error.
    pub fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        loop {
            match self.next_step()? {
                Step::Record(record) => return Ok(Some(record)),
                Step::Pause => {}
                Step::End => return Ok(None),
            }
        }
    }

    /// As [`TraceReader::next_record`], but comes back now and then while rows are passed over, so that whoever waits
    /// can be asked whether to go on.
    ///
    /// # Errors
    /// As [`TraceReader::next_record`].
    #[inline]
    pub fn next_step(&mut self) -> Result<Step, TraceError> {
        if self.finished.is_some() {
            return self.ended();
        }
        match self.advance() {
            Ok(Step::Record(record)) => {
                self.given += 1;
                Ok(Step::Record(record))
            }
            Ok(Step::Pause) => Ok(Step::Pause),
            Ok(Step::End) => self.finish(None),
            Err(error) => self.finish(Some(error)),
        }
    }

    /// Remembers how the trace ends: with this error, or as it should.
    #[cold]
    fn finish(&mut self, error: Option<TraceError>) -> Result<Step, TraceError> {
        self.finished = Some(error.map_or_else(|| self.end(), Err));
        self.ended()
    }

    #[cold]
    fn ended(&self) -> Result<Step, TraceError> {
        self.finished.clone().unwrap_or(Ok(())).map(|()| Step::End)
    }

    /// The volumes of the records so far.
    pub fn volumes(&self) -> &VolumeNames {
        &self.volumes
    }

    /// The longest tick, in ns, over which rows that share it are spread; 0 if they are not.
    pub fn tick_ns(&self) -> u64 {
        self.files.iter().map(|file| file.rows.tick_ns()).max().unwrap_or(0)
    }

    /// UTC at time 0 of the records, in ns since 1970: known once a row has been read, if at all. `None` where the trace does not
    /// tell, or tells what cannot be ([`Epoch`]).
    pub fn origin_utc_ns(&self) -> Option<u64> {
        let zero_utc_ns = self.files.iter().find_map(|file| file.rows.zero_utc_ns());
        self.epoch.utc_ns(zero_utc_ns, self.first_ns?)?.checked_add(self.start_ns)
    }

    /// What was done so far to the rows beside reading them.
    pub fn log(&self) -> &ReadLog {
        &self.tolerance.log
    }

    /// Whether records may have placement handles: a file has a column for them.
    pub fn has_handles(&self) -> bool {
        self.files.iter().any(|file| file.rows.has_handles())
    }

    /// Which of the files the record given last stands in, counted from 0.
    #[inline]
    pub fn file(&self) -> usize {
        self.at.0
    }

    /// How long the record given last took when it was recorded, in ns; 0 where the trace does not say.
    #[inline]
    pub fn response_ns(&self) -> u64 {
        let (file, at) = self.at;
        at.map_or_else(|| self.files[file].rows.response_ns(), |(_, response_ns)| response_ns)
    }

    /// An error about the record given last.
    pub fn error(&self, problem: String) -> TraceError {
        let (file, at) = self.at;
        let rows = &self.files[file].rows;
        rows.error(at.map_or_else(|| rows.place(), |(place, _)| place), problem)
    }

    #[inline]
    fn advance(&mut self) -> Result<Step, TraceError> {
        for _ in 0..PAUSE_AFTER {
            let Some(row) = self.next_row()? else { return Ok(Step::End) };
            let file = self.at.0;
            let first_ns = *self.first_ns.get_or_insert(row.time_ns);
            // Each file is in order and the earliest head comes first, so this cannot go below 0.
            let time_ns = row.time_ns - first_ns;
            if time_ns >= self.end_ns {
                return Ok(Step::End);
            }
            if time_ns < self.start_ns {
                self.tolerance.log.skip(BEFORE_START);
                continue;
            }
            let volume = match self.files[file].volumes.get(usize::from(row.volume)) {
                Some(&volume) => volume,
                None => self.learn(file, row.volume)?,
            };
            if self.only.name.is_some() && self.only.index != Some(volume) {
                self.tolerance.log.skip(OTHER_VOLUME);
                continue;
            }
            return Ok(Step::Record(TraceRecord {
                volume,
                fua: row.fua && row.operation == Operation::Write,
                handle: row.handle,
                ..TraceRecord::new(time_ns - self.start_ns, row.operation, row.offset, row.length)
            }));
        }
        Ok(Step::Pause)
    }

    /// The row that is next in time; where it stands is known from then on.
    #[inline]
    fn next_row(&mut self) -> Result<Option<Row>, TraceError> {
        if let [file] = &mut self.files[..] {
            return file.rows.next(&mut self.tolerance);
        }
        self.next_merged()
    }

    #[inline(never)]
    fn next_merged(&mut self) -> Result<Option<Row>, TraceError> {
        // Refilled only now: what is wrong with a row is of no concern before it is its turn.
        for index in std::mem::take(&mut self.taken) {
            self.refill(index)?;
        }
        let Some(Reverse((_, index))) = self.queue.pop() else { return Ok(None) };
        let Some((row, at)) = self.files[index].head.take() else { return Ok(None) };
        self.taken = index..index + 1;
        self.at = (index, Some(at));
        Ok(Some(row))
    }

    fn refill(&mut self, index: usize) -> Result<(), TraceError> {
        let file = &mut self.files[index];
        let row = file.rows.next(&mut self.tolerance)?;
        file.head = row.map(|row| (row, (file.rows.place(), file.rows.response_ns())));
        if let Some((row, _)) = &file.head {
            self.queue.push(Reverse((row.time_ns, index)));
        }
        Ok(())
    }

    /// Numbers the volumes of a file up to `volume`, which has not been met before.
    #[cold]
    fn learn(&mut self, index: usize, volume: u16) -> Result<u16, TraceError> {
        let file = &mut self.files[index];
        for name in &file.rows.volumes().names()[file.volumes.len()..] {
            let name = format!("{}{name}", file.prefix);
            let number = self.volumes.named(&name).and_then(|number| {
                self.only.meet(&name, number, &self.volumes)?;
                Ok(number)
            });
            file.volumes.push(number.map_err(|problem| file.rows.error(file.rows.place(), problem))?);
        }
        Ok(file.volumes[usize::from(volume)])
    }

    /// Whether the trace may end here: it must have given something.
    fn end(&self) -> Result<(), TraceError> {
        if self.given > 0 {
            return Ok(());
        }
        let problem = match &self.only.name {
            Some(name) if self.only.index.is_none() && !self.volumes.names().is_empty() => {
                let names = self.volumes.names();
                let shown: Vec<&str> = names.iter().take(NAMES_SHOWN).map(String::as_str).collect();
                let more = if names.len() > NAMES_SHOWN { ", ..." } else { "" };
                format!(
                    "has no request of volume `{name}`, the only one asked for: it has {}{more}",
                    shown.join(", ")
                )
            }
            _ if self.first_ns.is_none() => self.files[0].rows.no_rows() + &self.nor_others(),
            _ => "has no request in the window between start and end".to_owned(),
        };
        Err(self.files[0].rows.error(Place::File, problem))
    }

    /// That the files behind the first have nothing either.
    fn nor_others(&self) -> String {
        match self.files.len() {
            1 => String::new(),
            count => format!(" (nor has any of the {} files read with it)", count - 1),
        }
    }
}

const BEFORE_START: &str = "before the start of the window";
const OTHER_VOLUME: &str = "of another volume than the one asked for";
/// An error names at most this many volumes.
const NAMES_SHOWN: usize = 12;

/// What tells the volumes of one file from those of another: its name, and its number where names are the same.
fn prefixes(files: &[OpenFile]) -> Vec<String> {
    let stems: Vec<&str> = files.iter().map(|file| stem(file.input.name())).collect();
    let prefix = |(index, stem): (usize, &&str)| match stems.iter().filter(|other| *other == stem).count() {
        1 => format!("{stem}:"),
        _ => format!("{stem}#{}:", index + 1),
    };
    stems.iter().enumerate().map(prefix).collect()
}

/// The name of a file without folders and extensions.
fn stem(name: &str) -> &str {
    let name = Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or(name);
    name.split_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}
