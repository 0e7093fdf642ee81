//! Writing: rows gathered to row groups, each encoded and written when it is full, so that memory holds one.
//!
//! Times and offsets are stored as differences of neighbours, texts and sizes, which are few, in dictionaries (sizes as
//! differences where they are many), pages compressed with LZ4.

use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use harmonia_types::PlacementHandle;

use crate::{Out, TraceRecord, TraceWriter, VolumeNames, Written};

use super::super::free::FreeNames;
use super::column::{NAME_MAX, OPERATIONS, volume_name};
use super::footer::{BEGINS_KEY, DEVICE, HANDLE, NAMES, NEEDED, OPERATION, VERSION, VERSION_KEY};

/// The columns of numbers, by their places in [`NAMES`].
const TIME: usize = 0;
const OFFSET: usize = 2;
const SIZE: usize = 3;

/// Rows that are encoded together: about 40 MB.
pub(super) const GROUP_ROWS: usize = 1 << 20;

/// Time and size fit the signed numbers that every tool computes with; an offset need not.
const SCHEMA: &str = "message harmonia {
    required int64 time;
    required binary device (STRING);
    required int64 offset (INTEGER(64,false));
    required int64 size;
    required binary operation (STRING);
}";
/// What stands before the end where there are placement handles.
const HANDLES: &str = "    optional int32 placement_handle (INTEGER(16,false));\n";

/// Writes records.
pub(super) struct Writer {
    file: SerializedFileWriter<Out>,
    group_rows: usize,
    numbers: [Vec<i64>; 3],
    devices: Vec<u16>,
    operations: Vec<u8>,
    /// `None` where the file has no column for them.
    handles: Option<Vec<Option<PlacementHandle>>>,
    volumes: Volumes,
    /// UTC at time 0, in ns since 1970, if it is known.
    begins_utc_ns: Option<u64>,
}

/// Volumes as they are written, by index.
#[derive(Default)]
struct Volumes {
    names: Vec<ByteArray>,
    /// Whether that is another name than the volume has.
    renamed: Vec<bool>,
    free: FreeNames,
}

/// Names that cannot be written are cut to this many bytes: some are left for telling equal ones apart.
const CUT_NAME: usize = NAME_MAX - 24;

const RENAMED: Written = Written::Changed(
    "its volume got another name: one has 1 to 1024 bytes, no control characters and is like no other",
);

impl Volumes {
    /// Adds a volume, under its own name if that can be read back and no other volume got it.
    fn add(&mut self, name: &str) {
        let own = volume_name(name.as_bytes()).filter(|name| self.free.is_free(name));
        let given = self.free.take(own.map_or_else(|| cleaned(name), str::to_owned));
        self.renamed.push(given != name);
        self.names.push(ByteArray::from(given.as_str()));
    }
}

/// A name like this one that can be read back, with room for a number behind it.
fn cleaned(name: &str) -> String {
    if name.is_empty() {
        return "volume".to_owned();
    }
    name[..name.floor_char_boundary(CUT_NAME)].replace(char::is_control, "_")
}

impl Writer {
    /// To an empty output; row groups have so many rows. Without placement handles the file has no column for them.
    pub(super) fn new(out: Out, has_handles: bool, group_rows: usize) -> io::Result<Self> {
        Self::with(out, has_handles, group_rows, properties(has_handles))
    }

    /// As [`Writer::new`], encoded as `properties` say.
    pub(super) fn with(
        out: Out,
        has_handles: bool,
        group_rows: usize,
        properties: WriterPropertiesPtr,
    ) -> io::Result<Self> {
        let schema = match (has_handles, SCHEMA.strip_suffix('}')) {
            (true, Some(columns)) => format!("{columns}{HANDLES}}}"),
            _ => SCHEMA.to_owned(),
        };
        let schema = parse_message_type(&schema).map(Arc::new).map_err(io_error)?;
        let file = SerializedFileWriter::new(out, schema, properties).map_err(io_error)?;
        Ok(Writer {
            file,
            group_rows,
            numbers: Default::default(),
            devices: Vec::new(),
            operations: Vec::new(),
            handles: has_handles.then(Vec::new),
            volumes: Volumes::default(),
            begins_utc_ns: None,
        })
    }

    /// Writes the rows gathered as a row group.
    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.devices.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        let mut index = 0;
        while let Some(mut column) = group.next_column()? {
            match index {
                DEVICE => {
                    let name = |&volume: &u16| self.volumes.names[usize::from(volume)].clone();
                    let names: Vec<ByteArray> = self.devices.iter().map(name).collect();
                    column.typed::<ByteArrayType>().write_batch(&names, None, None)?;
                }
                OPERATION => {
                    let texts = OPERATIONS.map(|(name, ..)| ByteArray::from(name));
                    let text = |&code: &u8| texts[usize::from(code)].clone();
                    let texts: Vec<ByteArray> = self.operations.iter().map(text).collect();
                    column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
                }
                HANDLE => {
                    let all = self.handles.as_deref().unwrap_or_default();
                    let said: Vec<i32> = all.iter().flatten().map(|handle| handle.number().into()).collect();
                    let is_said: Vec<i16> = all.iter().map(|handle| handle.is_some().into()).collect();
                    column.typed::<Int32Type>().write_batch(&said, Some(&is_said), None)?;
                }
                _ => {
                    let numbers = &self.numbers[number_index(index)];
                    column.typed::<Int64Type>().write_batch(numbers, None, None)?;
                }
            }
            column.close()?;
            index += 1;
        }
        group.close()?;
        self.numbers.iter_mut().for_each(Vec::clear);
        self.devices.clear();
        self.operations.clear();
        self.handles.iter_mut().for_each(Vec::clear);
        Ok(())
    }
}

/// Where the numbers of a column are gathered.
fn number_index(column: usize) -> usize {
    match column {
        TIME => 0,
        OFFSET => 1,
        _ => 2,
    }
}

impl TraceWriter for Writer {
    fn begins(&mut self, utc_ns: u64) {
        self.begins_utc_ns = Some(utc_ns);
    }

    fn write(&mut self, record: &TraceRecord, volumes: &VolumeNames) -> io::Result<Written> {
        let Ok(time) = i64::try_from(record.time_ns) else {
            return Ok(Written::Dropped("its time is not below 2^63 ns (292 years)"));
        };
        let known = self.volumes.names.len();
        volumes.names().iter().skip(known).for_each(|name| self.volumes.add(name));
        let Some(&renamed) = self.volumes.renamed.get(usize::from(record.volume)) else {
            return Err(io::Error::other("a record's volume has no name"));
        };
        match (&mut self.handles, record.handle) {
            (Some(handles), handle) => handles.push(handle),
            (None, Some(_)) => return Err(io::Error::other("a placement handle has no column")),
            (None, None) => {}
        }
        self.numbers[number_index(TIME)].push(time);
        self.numbers[number_index(OFFSET)].push(record.offset.cast_signed());
        self.numbers[number_index(SIZE)].push(record.length.cast_signed());
        self.devices.push(record.volume);
        let is_it = |&(_, operation, fua): &_| (operation, fua) == (record.operation, record.fua);
        let code = OPERATIONS.iter().position(is_it);
        self.operations.push(code.unwrap_or_default() as u8);
        if self.devices.len() >= self.group_rows {
            self.flush().map_err(io_error)?;
        }
        Ok(if renamed { RENAMED } else { Written::Exact })
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.flush().map_err(io_error)?;
        if let Some(utc_ns) = self.begins_utc_ns {
            let begins = KeyValue::new(BEGINS_KEY.to_owned(), utc_ns.to_string());
            self.file.append_key_value_metadata(begins);
        }
        // The output is flushed with the footer.
        self.file.close().map(drop).map_err(io_error)
    }
}

fn properties(has_handles: bool) -> WriterPropertiesPtr {
    let version = KeyValue::new(VERSION_KEY.to_owned(), VERSION.to_owned());
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .set_created_by(format!("harmonia {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![version]))
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false);
    let columns = NEEDED + usize::from(has_handles);
    for (column, name) in NAMES.into_iter().enumerate().take(columns) {
        let path = ColumnPath::from(name);
        properties = match column {
            // Nobody looks for the first and last of a few names, and comparing them takes longer than storing them.
            DEVICE | OPERATION | HANDLE => properties
                .set_column_dictionary_enabled(path.clone(), true)
                .set_column_statistics_enabled(path, EnabledStatistics::None),
            SIZE => properties
                .set_column_dictionary_enabled(path.clone(), true)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            _ => properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
        };
    }
    Arc::new(properties.build())
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
