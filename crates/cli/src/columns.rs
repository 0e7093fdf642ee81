//! `--parquet`: every measured request and every interval of garbage collection, as columns on disk.
//!
//! ```text
//! requests.parquet       run, seed, request, arrival_ns, finish_ns, response_ns, operation, offset, length,
//!                        the parts of blame in ns, gc_affected, stripe_wait_ns, gc_member,
//!                        queue_rebuild_ns, restart_ns
//! gc_intervals.parquet   run, seed, device, start_ns, end_ns
//! ```
//!
//! Runs go on at the same time, so each writes row groups to temporary files of its own in the folder of results; at
//! the end these are joined in the order of the runs, already encoded, with the run's label and seed in front. The
//! bytes do not depend on the number of threads, and memory holds one row group a run. Nothing is renamed until all of
//! it is written.
//!
//! Integers are stored as differences, compressed with LZ4: pages of Zstandard are smaller, but its C sources cost more
//! to build than the rest of this format. Parquet is written column by column without Arrow, for the same reason.
//! Leaves out: page indexes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use harmonia_metrics::{Observer, Report};
use harmonia_scenario::{Observe, RunId};
use harmonia_types::{Completion, DeviceId, Operation, SimTime};
use parquet::basic::{Compression, Encoding};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, TypePtr};
use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::files::ResultFolder;

/// Rows that are encoded together: some megabytes of memory a run.
const GROUP_ROWS: usize = 1 << 16;

const OPERATIONS: [&str; 4] = ["read", "write", "trim", "flush"];

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    /// Below 2^64.
    Unsigned,
    /// An integer, or null, which rows have as [`NULL`].
    Optional,
    Flag,
    Operation,
    Text,
}

/// What a row has where an optional column has nothing.
const NULL: i64 = -1;

/// One of the two files.
struct Table {
    name: &'static str,
    columns: &'static [(&'static str, Kind)],
}

/// What the joined files have in front of each run's own columns.
const OF_RUN: [(&str, Kind); 2] = [("run", Kind::Text), ("seed", Kind::Unsigned)];

const REQUESTS: Table = Table {
    name: "requests.parquet",
    columns: &[
        ("request", Kind::Integer),
        ("arrival_ns", Kind::Integer),
        ("finish_ns", Kind::Integer),
        ("response_ns", Kind::Integer),
        ("operation", Kind::Operation),
        ("offset", Kind::Unsigned),
        ("length", Kind::Unsigned),
        ("service_ns", Kind::Integer),
        ("transfer_ns", Kind::Integer),
        ("queue_host_ns", Kind::Integer),
        ("queue_gc_ns", Kind::Integer),
        ("parity_ns", Kind::Integer),
        ("reconstruct_ns", Kind::Integer),
        ("link_ns", Kind::Integer),
        ("gc_affected", Kind::Flag),
        ("stripe_wait_ns", Kind::Integer),
        ("gc_member", Kind::Optional),
        ("queue_rebuild_ns", Kind::Integer),
        ("restart_ns", Kind::Integer),
    ],
};

const INTERVALS: Table = Table {
    name: "gc_intervals.parquet",
    columns: &[("device", Kind::Integer), ("start_ns", Kind::Integer), ("end_ns", Kind::Integer)],
};

/// Writes the columns of all runs of a comparison.
pub(crate) struct Columns<'a> {
    folder: &'a ResultFolder,
    /// Set when the disk gives out: hours of simulating should not follow.
    cancel: &'a AtomicBool,
    done: Mutex<BTreeMap<RunId, [Written; 2]>>,
    failed: Mutex<Option<(&'static str, ParquetError)>>,
}

/// A finished file of one run.
struct Written {
    file: NamedTempFile,
    metadata: ParquetMetaData,
}

impl<'a> Columns<'a> {
    /// Columns for files of this folder.
    pub(crate) fn of(folder: &'a ResultFolder, cancel: &'a AtomicBool) -> Self {
        Columns { folder, cancel, done: Mutex::default(), failed: Mutex::default() }
    }

    /// What went wrong while runs wrote, if anything did.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map(|(name, error)| self.folder.cannot_write(name, &io_error(error)))
    }

    /// The two whole files, still under temporary names, with what these reports say of the runs.
    pub(crate) fn finish(
        self,
        runs: &[Report],
    ) -> std::result::Result<Vec<(&'static str, NamedTempFile)>, Failure> {
        let done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut requests = Vec::new();
        let mut intervals = Vec::new();
        // Every variant has all seeds, so the runs come in the order of their ids.
        for (run, [of_requests, of_intervals]) in runs.iter().zip(done.into_values()) {
            requests.push((run, of_requests));
            intervals.push((run, of_intervals));
        }
        let join = |table: &Table, parts| {
            let joined =
                self.folder.temporary().map_err(ParquetError::from).and_then(|file| join(table, parts, file));
            joined
                .map(|file| (table.name, file))
                .map_err(|error| self.folder.cannot_write(table.name, &io_error(error)))
        };
        Ok(vec![join(&REQUESTS, requests)?, join(&INTERVALS, intervals)?])
    }

    fn fail(&self, name: &'static str, error: ParquetError) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((name, error));
        self.cancel.store(true, Ordering::SeqCst);
    }
}

impl Observe for Columns<'_> {
    fn observer(&self, run: RunId) -> Option<Box<dyn Observer + '_>> {
        let requests = self.part(&REQUESTS)?;
        let intervals = self.part(&INTERVALS)?;
        Some(Box::new(RunColumns { columns: self, run, parts: Some([requests, intervals]) }))
    }
}

impl Columns<'_> {
    fn part(&self, table: &'static Table) -> Option<Part> {
        let part =
            self.folder.temporary().map_err(ParquetError::from).and_then(|file| Part::new(table, file));
        part.map_err(|error| self.fail(table.name, error)).ok()
    }
}

/// Writes the columns of one run.
struct RunColumns<'a> {
    columns: &'a Columns<'a>,
    run: RunId,
    /// None once they are closed or have failed.
    parts: Option<[Part; 2]>,
}

impl RunColumns<'_> {
    fn push<const N: usize>(&mut self, which: usize, row: [i64; N]) {
        let Some(parts) = &mut self.parts else { return };
        if let Err(error) = parts[which].push(row) {
            self.columns.fail(parts[which].table.name, error);
            self.parts = None;
        }
    }
}

impl Observer for RunColumns<'_> {
    fn begin(&mut self, _: SimTime, _: usize) {}

    fn completion(&mut self, completion: &Completion) {
        self.push(0, request(completion));
    }

    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        self.push(1, [u64::from(member.0), start.0, end.0].map(u64::cast_signed));
    }

    fn end(&mut self, _: SimTime) {
        let Some([requests, intervals]) = self.parts.take() else { return };
        match (requests.close(), intervals.close()) {
            (Ok(requests), Ok(intervals)) => {
                let mut done = self.columns.done.lock().unwrap_or_else(PoisonError::into_inner);
                done.insert(self.run, [requests, intervals]);
            }
            (Err(error), _) => self.columns.fail(REQUESTS.name, error),
            (_, Err(error)) => self.columns.fail(INTERVALS.name, error),
        }
    }
}

/// The row of a request, in the order of the columns.
fn request(completion: &Completion) -> [i64; REQUESTS.columns.len()] {
    let blame = &completion.blame;
    let operation = match completion.operation {
        Operation::Read => 0,
        Operation::Write => 1,
        Operation::Trim => 2,
        Operation::Flush => 3,
    };
    let member = completion.gc_wait.map_or(NULL, |wait| wait.member.0.into());
    let row = [
        completion.id,
        completion.arrival.0,
        completion.finish.0,
        completion.response().as_ns(),
        operation,
        completion.offset,
        completion.length,
        blame.data.service,
        blame.data.transfer,
        blame.data.queue_host,
        blame.queue_gc(),
        blame.parity.without_gc_and_rebuild(),
        blame.reconstruct.without_gc_and_rebuild(),
        blame.data.link,
        u64::from(completion.gc_affected),
        blame.stripe_wait,
        member.cast_unsigned(),
        blame.queue_rebuild(),
        blame.restart,
    ];
    row.map(u64::cast_signed)
}

/// One run's rows of one table, on their way to a file.
struct Part {
    table: &'static Table,
    file: NamedTempFile,
    writer: SerializedFileWriter<File>,
    columns: Vec<Vec<i64>>,
}

impl Part {
    fn new(table: &'static Table, file: NamedTempFile) -> Result<Self> {
        let writer =
            SerializedFileWriter::new(file.reopen()?, schema(table.columns)?, properties(table.columns))?;
        let columns = table.columns.iter().map(|_| Vec::with_capacity(GROUP_ROWS)).collect();
        Ok(Part { table, file, writer, columns })
    }

    fn push<const N: usize>(&mut self, row: [i64; N]) -> Result<()> {
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(value);
        }
        if self.columns[0].len() < GROUP_ROWS { Ok(()) } else { self.flush() }
    }

    /// Writes the rows gathered as a row group.
    fn flush(&mut self) -> Result<()> {
        if self.columns[0].is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for ((_, kind), values) in self.table.columns.iter().zip(&mut self.columns) {
            let mut column = group.next_column()?.ok_or_else(too_few_columns)?;
            match kind {
                Kind::Integer | Kind::Unsigned => {
                    column.typed::<Int64Type>().write_batch(values, None, None)?;
                }
                Kind::Optional => {
                    let present: Vec<i16> = values.iter().map(|&value| i16::from(value != NULL)).collect();
                    values.retain(|&value| value != NULL);
                    column.typed::<Int64Type>().write_batch(values, Some(&present), None)?;
                }
                Kind::Flag => {
                    let flags: Vec<bool> = values.iter().map(|&value| value != 0).collect();
                    column.typed::<BoolType>().write_batch(&flags, None, None)?;
                }
                Kind::Operation | Kind::Text => {
                    let texts: Vec<ByteArray> =
                        values.iter().map(|&value| ByteArray::from(OPERATIONS[value as usize])).collect();
                    column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
                }
            }
            column.close()?;
            values.clear();
        }
        group.close().map(|_| ())
    }

    fn close(mut self) -> Result<Written> {
        self.flush()?;
        Ok(Written { file: self.file, metadata: self.writer.close()? })
    }
}

/// Copies the row groups of all runs into one file, each with its run in front.
fn join(table: &Table, parts: Vec<(&Report, Written)>, file: NamedTempFile) -> Result<NamedTempFile> {
    let columns = [&OF_RUN[..], table.columns].concat();
    let mut writer = SerializedFileWriter::new(file.reopen()?, schema(&columns)?, properties(&columns))?;
    // A run's parts go as soon as they are copied.
    for (report, part) in parts {
        let source = part.file.reopen()?;
        for from in part.metadata.row_groups() {
            let rows = usize::try_from(from.num_rows()).unwrap_or_default();
            let mut group = writer.next_row_group()?;
            let mut column = group.next_column()?.ok_or_else(too_few_columns)?;
            let label = vec![ByteArray::from(report.label.as_str()); rows];
            column.typed::<ByteArrayType>().write_batch(&label, None, None)?;
            column.close()?;
            let mut column = group.next_column()?.ok_or_else(too_few_columns)?;
            column.typed::<Int64Type>().write_batch(&vec![report.seed.cast_signed(); rows], None, None)?;
            column.close()?;
            for column in from.columns() {
                let encoded = ColumnCloseResult {
                    bytes_written: column.compressed_size().unsigned_abs(),
                    rows_written: rows as u64,
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                group.append_column(&source, encoded)?;
            }
            group.close()?;
        }
    }
    writer.close()?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn schema(columns: &[(&str, Kind)]) -> Result<TypePtr> {
    let column = |(name, kind): &(&str, Kind)| match kind {
        Kind::Integer => format!("required int64 {name};"),
        Kind::Unsigned => format!("required int64 {name} (INTEGER(64,false));"),
        Kind::Optional => format!("optional int64 {name};"),
        Kind::Flag => format!("required boolean {name};"),
        Kind::Operation | Kind::Text => format!("required binary {name} (STRING);"),
    };
    let columns: String = columns.iter().map(column).collect();
    parse_message_type(&format!("message harmonia {{ {columns} }}")).map(Arc::new)
}

/// Integers as differences of neighbours; texts, of which there are few, in a dictionary.
fn properties(columns: &[(&str, Kind)]) -> WriterPropertiesPtr {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .set_created_by(format!("harmonia {}", env!("CARGO_PKG_VERSION")))
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false);
    for (name, kind) in columns {
        let path = ColumnPath::from(*name);
        properties = match kind {
            Kind::Integer | Kind::Unsigned | Kind::Optional => {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            Kind::Flag => properties,
            Kind::Operation | Kind::Text => properties.set_column_dictionary_enabled(path, true),
        };
    }
    Arc::new(properties.build())
}

fn too_few_columns() -> ParquetError {
    ParquetError::General("the table has fewer columns than its rows".into())
}

/// The error of the disk, where it is one.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source.to_string()),
        },
        other => io::Error::other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use harmonia_types::{Blame, GcWait, RequestBlame};

    use super::*;

    /// A degraded write that waited for everything there is.
    fn completion(gc_wait: Option<GcWait>) -> Completion {
        let blame = RequestBlame {
            data: Blame {
                service: 1,
                transfer: 2,
                queue_host: 4,
                queue_gc: 8,
                queue_rebuild: 1_024,
                link: 16,
            },
            parity: Blame { service: 32, queue_gc: 64, queue_rebuild: 2_048, ..Blame::default() },
            reconstruct: Blame { transfer: 128, queue_gc: 256, ..Blame::default() },
            stripe_wait: 512,
            restart: 4_096,
        };
        Completion {
            id: 7,
            operation: Operation::Write,
            offset: 4096,
            length: 512,
            arrival: SimTime(1_000),
            finish: SimTime(1_000 + blame.total()),
            blame,
            gc_affected: true,
            gc_wait,
        }
    }

    #[test]
    fn each_part_stands_in_its_column_and_all_sum_to_the_response() {
        let row = request(&completion(Some(GcWait { member: DeviceId(3), ns: 200 })));
        let value = |name: &str| {
            let column = REQUESTS.columns.iter().position(|(column, _)| *column == name);
            row[column.expect("a column")]
        };
        let parts = [
            ("service_ns", 1),
            ("transfer_ns", 2),
            ("queue_host_ns", 4),
            ("queue_gc_ns", 8 + 64 + 256),
            ("parity_ns", 32),
            ("reconstruct_ns", 128),
            ("link_ns", 16),
            ("stripe_wait_ns", 512),
            ("queue_rebuild_ns", 1_024 + 2_048),
            ("restart_ns", 4_096),
        ];
        assert_eq!(parts.map(|(name, _)| value(name)), parts.map(|(_, expected)| expected));
        assert_eq!(parts.map(|(name, _)| value(name)).iter().sum::<i64>(), value("response_ns"));
        assert_eq!((value("gc_affected"), value("gc_member")), (1, 3));
    }

    #[test]
    fn who_waited_for_no_collection_has_no_member() {
        let member = REQUESTS.columns.iter().position(|(column, _)| *column == "gc_member");
        assert_eq!(request(&completion(None))[member.expect("a column")], NULL);
    }
}
