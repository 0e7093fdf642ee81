//! `--parquet`: every measured request and every interval of garbage collection, as columns on disk.
//!
//! ```text
//! requests.parquet       run, seed, then the columns of `harmonia_metrics::rows::REQUESTS`
//! gc_intervals.parquet   run, seed, then the columns of `harmonia_metrics::rows::GC_INTERVALS`
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

use harmonia_metrics::rows::{self, GC_INTERVALS, Kind, NULL, OF_RUN, OPERATIONS, REQUESTS, Rows};
use harmonia_metrics::{Observer, Report};
use harmonia_run::{Observe, RunId};
use harmonia_types::{Completion, DeviceId, SimTime};
use parquet::basic::{Compression, Encoding};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaDataPtr};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, TypePtr};
use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::files::ResultFolder;

/// Rows that are encoded together: some megabytes of memory a run.
const GROUP_ROWS: usize = 1 << 16;

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
        let join = |table: &Rows, parts| {
            let joined =
                self.folder.temporary().map_err(ParquetError::from).and_then(|file| join(table, parts, file));
            joined
                .map(|file| (table.file, file))
                .map_err(|error| self.folder.cannot_write(table.file, &io_error(error)))
        };
        Ok(vec![join(&REQUESTS, requests)?, join(&GC_INTERVALS, intervals)?])
    }

    fn fail(&self, name: &'static str, error: ParquetError) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((name, error));
        self.cancel.store(true, Ordering::SeqCst);
    }
}

impl Observe for Columns<'_> {
    fn observer(&self, run: RunId) -> Option<Box<dyn Observer + '_>> {
        let requests = self.part(&REQUESTS)?;
        let intervals = self.part(&GC_INTERVALS)?;
        Some(Box::new(RunColumns { columns: self, run, parts: Some([requests, intervals]) }))
    }
}

impl Columns<'_> {
    fn part(&self, table: &'static Rows) -> Option<Part> {
        let part =
            self.folder.temporary().map_err(ParquetError::from).and_then(|file| Part::new(table, file));
        part.map_err(|error| self.fail(table.file, error)).ok()
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
            self.columns.fail(parts[which].table.file, error);
            self.parts = None;
        }
    }
}

impl Observer for RunColumns<'_> {
    fn begin(&mut self, _: SimTime, _: usize) {}

    fn completion(&mut self, completion: &Completion) {
        self.push(0, rows::request(completion));
    }

    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        self.push(1, rows::gc_interval(member, start, end));
    }

    fn end(&mut self, _: SimTime) {
        let Some([requests, intervals]) = self.parts.take() else { return };
        match (requests.close(), intervals.close()) {
            (Ok(requests), Ok(intervals)) => {
                let mut done = self.columns.done.lock().unwrap_or_else(PoisonError::into_inner);
                done.insert(self.run, [requests, intervals]);
            }
            (Err(error), _) => self.columns.fail(REQUESTS.file, error),
            (_, Err(error)) => self.columns.fail(GC_INTERVALS.file, error),
        }
    }
}

/// One run's rows of one table, on their way to a file.
struct Part {
    table: &'static Rows,
    file: NamedTempFile,
    writer: SerializedFileWriter<File>,
    columns: Vec<Vec<i64>>,
    /// By column: a chunk of a full group without anything but zeros, once there is one.
    zeros: Vec<Option<ColumnChunkMetaData>>,
}

/// A column of a full group that has nothing else. Most parts of blame are of this kind: what a drive or an array does not have
/// takes no time. Such chunks are encoded once and copied.
static ZEROS: [i64; GROUP_ROWS] = [0; GROUP_ROWS];

impl Part {
    fn new(table: &'static Rows, file: NamedTempFile) -> Result<Self> {
        let writer =
            SerializedFileWriter::new(file.reopen()?, schema(table.columns)?, properties(table.columns))?;
        let columns = table.columns.iter().map(|_| Vec::with_capacity(GROUP_ROWS)).collect();
        let zeros = vec![None; table.columns.len()];
        Ok(Part { table, file, writer, columns, zeros })
    }

    fn push<const N: usize>(&mut self, row: [i64; N]) -> Result<()> {
        rows::append(&mut self.columns, &row);
        if self.columns[0].len() < GROUP_ROWS { Ok(()) } else { self.flush() }
    }

    /// Writes the rows gathered as a row group.
    fn flush(&mut self) -> Result<()> {
        if self.columns[0].is_empty() {
            return Ok(());
        }
        // What earlier groups have is read from the file.
        self.writer.flush()?;
        let mut group = self.writer.next_row_group()?;
        let mut are_zeros = vec![false; self.columns.len()];
        for (number, values) in self.columns.iter_mut().enumerate() {
            if let Some(zeros) = self.zeros[number].as_ref().filter(|_| values[..] == ZEROS) {
                group.append_column(self.file.as_file(), encoded(zeros, GROUP_ROWS))?;
                values.clear();
                continue;
            }
            let mut column = group.next_column()?.ok_or_else(too_few_columns)?;
            are_zeros[number] = values[..] == ZEROS;
            match self.table.columns[number].1 {
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
                    let names = OPERATIONS.map(ByteArray::from);
                    let texts: Vec<ByteArray> =
                        values.iter().map(|&value| names[value as usize].clone()).collect();
                    column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
                }
            }
            column.close()?;
            values.clear();
        }
        let group = group.close()?;
        for (number, _) in are_zeros.into_iter().enumerate().filter(|(_, are_zeros)| *are_zeros) {
            self.zeros[number] = Some(group.column(number).clone());
        }
        Ok(())
    }

    fn close(mut self) -> Result<Written> {
        self.flush()?;
        Ok(Written { file: self.file, metadata: self.writer.close()? })
    }
}

/// Copies the row groups of all runs into one file, each with its run in front.
fn join(table: &Rows, parts: Vec<(&Report, Written)>, file: NamedTempFile) -> Result<NamedTempFile> {
    let columns = [&OF_RUN[..], table.columns].concat();
    let mut writer = SerializedFileWriter::new(file.reopen()?, schema(&columns)?, properties(&columns))?;
    // A run's parts go as soon as they are copied.
    for (report, part) in parts {
        let source = part.file.reopen()?;
        // A group of the same run with as many rows as the one before has the same label and seed in front of each.
        let mut before: Option<RowGroupMetaDataPtr> = None;
        for from in part.metadata.row_groups() {
            let rows = usize::try_from(from.num_rows()).unwrap_or_default();
            writer.flush()?;
            let mut group = writer.next_row_group()?;
            if let Some(before) = before.filter(|before| before.num_rows() == from.num_rows()) {
                for column in &before.columns()[..OF_RUN.len()] {
                    group.append_column(file.as_file(), encoded(column, rows))?;
                }
            } else {
                let mut column = group.next_column()?.ok_or_else(too_few_columns)?;
                let label = vec![ByteArray::from(report.label.as_str()); rows];
                column.typed::<ByteArrayType>().write_batch(&label, None, None)?;
                column.close()?;
                let mut column = group.next_column()?.ok_or_else(too_few_columns)?;
                column.typed::<Int64Type>().write_batch(
                    &vec![report.seed.cast_signed(); rows],
                    None,
                    None,
                )?;
                column.close()?;
            }
            for column in from.columns() {
                group.append_column(&source, encoded(column, rows))?;
            }
            before = Some(group.close()?);
        }
    }
    writer.close()?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// A column chunk that stands in a file, to be copied.
fn encoded(column: &ColumnChunkMetaData, rows: usize) -> ColumnCloseResult {
    ColumnCloseResult {
        bytes_written: column.compressed_size().unsigned_abs(),
        rows_written: rows as u64,
        metadata: column.clone(),
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    }
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
            // Nobody looks for the first and last of a few names, and comparing them takes longer than storing them.
            Kind::Operation | Kind::Text => properties
                .set_column_dictionary_enabled(path.clone(), true)
                .set_column_statistics_enabled(path, EnabledStatistics::None),
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
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    #[test]
    fn only_columns_of_zeros_are_copied() {
        let mut part = Part::new(&GC_INTERVALS, NamedTempFile::new().expect("a file")).expect("a table");
        // Full groups: of zeros; with one column of them; with none; of zeros; and a short one.
        let row = |group: i64, at: i64| match group {
            1 => [0, at, at + 1],
            2 => [3, at, at + 1],
            _ => [0, 0, 0],
        };
        let rows = (0..5).flat_map(|group| {
            let count = if group == 4 { 7 } else { GROUP_ROWS as i64 };
            (0..count).map(move |at| row(group, at))
        });
        rows.clone().for_each(|row| part.push(row).expect("room"));
        let Written { file, metadata } = part.close().expect("room");
        assert_eq!(metadata.num_row_groups(), 5);
        let read = SerializedFileReader::new(file.reopen().expect("there")).expect("a Parquet file");
        let found = read.get_row_iter(None).expect("rows").map(|row| {
            let row = row.expect("a row");
            [0, 1, 2].map(|column| row.get_long(column).expect("a number"))
        });
        assert!(found.eq(rows));
    }
}
