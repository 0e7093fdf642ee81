//! Harmonia's own compact format: a Parquet file that other tools (DuckDB, pandas, polars) read and write.
//!
//! ```text
//!   footer     which bytes are pages of which column          thrift    numbers and structs of headers
//!   column     pages to a batch of values                     unpack    LZ4, Snappy, gzip, zstd
//!   page       what a page says it holds, and its values      encoding  runs, differences
//!   write      rows to row groups
//! ```
//!
//! Five columns make a trace, and a sixth may have placement handles. Files of other programs with those columns are read as well,
//! whatever else they have.
//! Reading is our own: a trace may be damaged or made with ill intent, and here no count of a file is believed before
//! the bytes have shown it, nothing panics, and memory is bounded by two pages a column and a few times the footer. The
//! reader of the library that writes (parquet 59.3) panics on about one file in fifty in which a byte has changed, and
//! allocates what a page's header asks for. Its writer is held against our reader in the tests.
//!
//! Leaves out: encryption, nested columns, several files to one footer, checksums and indexes of pages.
//!
//! Source: Apache Parquet, "File Format", "Encodings", "Compression" and `parquet.thrift`, format version 2.

mod column;
mod encoding;
mod footer;
mod page;
mod thrift;
mod unpack;
#[cfg(any(feature = "parquet", test))]
mod write;

use std::sync::Arc;

use harmonia_types::{Operation, PlacementHandle};

use super::super::options::{Setting, Units};
use super::super::read::fields::extent_of;
use super::super::read::{Place, Problem, ReadLog, RowReader, TraceInput};
use super::super::record::{Row, VolumeNames};
use super::{Epoch, Fit, Head, OpenWriter, Spread, TraceFormat};
use column::{ColumnReader, OPERATIONS, Texts};
use footer::{DEVICE, Footer, Group, HANDLE, MAGIC, OPERATION};

/// The registry's entry.
pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "harmonia",
    summary: "Parquet, our own: columns time (ns), device, offset, size (bytes), operation; compact, read by DuckDB, pandas and polars",
    source: "this project; Apache Parquet format version 2",
    grammar: "\
required int64  time                             ns since the trace's start
required binary device    (STRING)               name of the volume
required int64  offset    (INTEGER(64,false))    bytes
required int64  size                             bytes
required binary operation (STRING)               read, write, write fua, trim or flush
optional int32  placement_handle (INTEGER(16,false))   of a write; only in files in which one has it",
    rules: &[
        "The columns may stand in any order among others, which are not read. Numbers may have 32 or 64 bits, with or without a sign; dates and timestamps are refused, as they have a unit of their own.",
        "Any encoding of Parquet but BIT_PACKED, which is obsolete; pages plain or compressed with LZ4_RAW, SNAPPY, GZIP or ZSTD, up to 32 MiB and 4194304 values each. A footer of up to 16 MiB.",
        "A row without a value (null) in one of the columns is malformed, as is a negative number. Only `placement_handle` may have none, or be missing: it is what `handle` is in a [table](#csv), 0 to 65534. A request has at most 1 GiB, a trim any length, and may be empty.",
        "The key `harmonia.trace.version` of the file's metadata, if it is there, must be 1. `harmonia.trace.begins_utc_ns`, if it is there, is the clock time at time 0, in ns since 1970.",
        "The name of a volume has 1 to 1024 bytes of UTF-8 and no control characters. Any other is written cut to 1000 bytes, with `_` for each control character, and numbered where two would be the same.",
        "Not to be packed as a whole: Parquet is read from its end, and is compressed inside.",
    ],
    units: Units { time_ns: Some(1), address: Some(1), size: Some(1), read_is: None },
    epoch: Epoch::InFile,
    has_actions: false,
    sort_window_ns: 0,
    spread: Spread::IfAsked,
    global_volumes: true,
    open: |input, setting| Ok(Box::new(Harmonia::new(input, setting)?)),
    sniff,
    write: WRITE,
};

/// Writing takes a library that reading does without.
#[cfg(any(feature = "parquet", test))]
const WRITE: Option<OpenWriter> =
    Some(|out, has_handles| Ok(Box::new(write::Writer::new(out, has_handles, write::GROUP_ROWS)?)));
#[cfg(not(any(feature = "parquet", test)))]
const WRITE: Option<OpenWriter> = None;

/// Rows that are decoded together.
const BATCH: u64 = 1024;

fn sniff(head: &Head<'_>) -> Fit {
    if head.bytes.starts_with(MAGIC) {
        return Fit::Yes("it begins with PAR1, as a Parquet file does".into());
    }
    Fit::No { fitting: 0, problem: "it does not begin with PAR1".into() }
}

/// Reads rows.
struct Harmonia {
    setting: Setting,
    columns: [ColumnReader; footer::NEEDED],
    /// Placement handles, if there is a column for them.
    handles: Option<ColumnReader>,
    /// Row groups to come.
    groups: std::vec::IntoIter<Group>,
    /// Rows of this row group behind the batch.
    group_left: u64,
    /// Rows of the batch, and which is next.
    batch: usize,
    next: usize,
    /// Rows behind the reader.
    passed: u64,
    volumes: VolumeNames,
    begins_utc_ns: Option<u64>,
}

impl Harmonia {
    fn new(input: &Arc<TraceInput>, setting: Setting) -> Result<Self, String> {
        if input.packing().is_some() {
            return Err(
                "is packed, but Parquet is read from its end: unpack it first (gzip -d, zstd -d)".into()
            );
        }
        let Footer { columns, groups, begins_utc_ns } = Footer::read(input.bytes())?;
        let reader = |index: usize| {
            let texts = match index {
                DEVICE => Texts::Volumes(Default::default()),
                OPERATION => Texts::Operations,
                _ => Texts::None,
            };
            ColumnReader::new(input, columns[index], texts)
        };
        let handles = (columns.len() > HANDLE).then(|| reader(HANDLE));
        let columns = std::array::from_fn(reader);
        Ok(Harmonia {
            setting,
            columns,
            handles,
            groups: groups.into_iter(),
            group_left: 0,
            batch: 0,
            next: 0,
            passed: 0,
            volumes: VolumeNames::default(),
            begins_utc_ns,
        })
    }

    /// Decodes the next batch; `false` behind the last.
    fn fill(&mut self) -> Result<bool, String> {
        while self.group_left == 0 {
            let Some(group) = self.groups.next() else { return Ok(false) };
            self.group_left = group.rows;
            for (column, chunk) in self.columns.iter_mut().chain(&mut self.handles).zip(group.chunks) {
                column.begin(chunk, group.rows);
            }
        }
        let batch = self.group_left.min(BATCH);
        let mut columns = self.columns.iter_mut().chain(&mut self.handles);
        columns.try_for_each(|column| column.fill(batch as usize))?;
        self.group_left -= batch;
        self.batch = batch as usize;
        self.next = 0;
        Ok(true)
    }

    /// The row at `index` of the batch.
    #[inline]
    fn row(&mut self, index: usize) -> Result<Row, String> {
        if self.columns.iter().chain(&self.handles).any(|column| !column.wrong.is_empty()) {
            self.right(index)?;
        }
        let [time, device, offset, size, operation] =
            self.columns.each_ref().map(|column| column.values[index]);
        let Setting { time_ns, address, size: size_unit, .. } = self.setting;
        let time_ns = time.checked_mul(time_ns).ok_or_else(|| too_late(time))?;
        let (_, operation, fua) = OPERATIONS[operation as usize];
        let (offset, length) = extent_of(operation, (offset, address), (size, size_unit))?;
        let handle = match &self.handles {
            Some(handles) if operation == Operation::Write => PlacementHandle::new(handles.values[index]),
            _ => None,
        };
        Ok(Row { volume: device as u16, fua, handle, ..Row::new(time_ns, operation, offset, length) })
    }

    /// Whether all columns have a right value there.
    #[cold]
    fn right(&mut self, index: usize) -> Result<(), String> {
        let mut problem = None;
        for column in self.columns.iter_mut().chain(&mut self.handles) {
            if column.wrong.last().is_some_and(|(wrong, _)| *wrong == index) {
                problem = problem.or(column.wrong.pop().map(|(_, problem)| problem));
            }
        }
        problem.map_or(Ok(()), Err)
    }
}

impl RowReader for Harmonia {
    fn next_row(&mut self, _: &mut ReadLog) -> Result<Option<Row>, Problem> {
        if self.next == self.batch && !self.fill().map_err(Problem::File)? {
            return if self.passed > 0 { Ok(None) } else { Err(Problem::File(NO_ROWS.into())) };
        }
        let index = self.next;
        self.next += 1;
        self.passed += 1;
        self.row(index).map(Some).map_err(Problem::Row)
    }

    fn place(&self) -> Place {
        Place::Row(self.passed)
    }

    fn has_handles(&self) -> bool {
        self.handles.is_some()
    }

    fn zero_utc_ns(&self) -> Option<i128> {
        self.begins_utc_ns.map(i128::from)
    }

    fn volumes(&self) -> &VolumeNames {
        self.columns[DEVICE].volumes().unwrap_or(&self.volumes)
    }
}

const NO_ROWS: &str = "has no request in it, expected at least one";

#[cold]
fn too_late(time: u64) -> String {
    format!("found {time} in column `time`, expected a time below 2^64 ns: is the time unit right?")
}

#[cfg(test)]
#[path = "../harmonia_tests.rs"]
mod tests;
