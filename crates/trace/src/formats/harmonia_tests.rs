//! Tests of the Parquet reader and writer. The library that writes is the oracle: it writes with every encoding what we
//! must read, and reads what we say is in a file.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use harmonia_types::Operation;
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use proptest::prelude::*;

use super::super::testing::{assert_refused, detected, read, read_with};
use super::footer::{NAMES, NEEDED};
use super::write::Writer;
use crate::{Trace, TraceOptions, TraceRecord, TraceWriter, Written};

use super::*;

/// An output that can be looked at.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

fn have_handles(records: &[TraceRecord]) -> bool {
    records.iter().any(|record| record.handle.is_some())
}

/// Bytes of a trace in row groups of so many rows.
fn written(records: &[TraceRecord], names: &[&str], group_rows: usize) -> Vec<u8> {
    let out = Shared::default();
    let writer = Writer::new(Box::new(out.clone()), have_handles(records), group_rows).unwrap();
    finished(Box::new(writer), records, names);
    out.bytes()
}

fn written_with(records: &[TraceRecord], names: &[&str], properties: WriterPropertiesBuilder) -> Vec<u8> {
    let out = Shared::default();
    let properties = Arc::new(properties.build());
    let writer = Writer::with(Box::new(out.clone()), have_handles(records), 100, properties).unwrap();
    finished(Box::new(writer), records, names);
    out.bytes()
}

fn finished(mut writer: Box<dyn TraceWriter>, records: &[TraceRecord], names: &[&str]) {
    let mut volumes = VolumeNames::default();
    names.iter().for_each(|name| assert!(volumes.named(name).is_ok()));
    for record in records {
        assert_eq!(writer.write(record, &volumes).unwrap(), Written::Exact);
    }
    writer.finish().unwrap();
}

/// The records with the names of their volumes, which are what is the same after writing and reading.
fn read_named(bytes: &[u8]) -> Result<Vec<(TraceRecord, String)>, String> {
    let (records, reader) = read_with(bytes, &TraceOptions::of_format("harmonia"))?;
    let names = reader.volumes().names();
    Ok(records.into_iter().map(|record| (record, names[usize::from(record.volume)].clone())).collect())
}

fn same(bytes: &[u8], records: &[TraceRecord], names: &[&str]) -> Result<(), TestCaseError> {
    let found = read_named(bytes).map_err(TestCaseError::fail)?;
    prop_assert_eq!(found.len(), records.len());
    for ((found, name), record) in found.into_iter().zip(records) {
        prop_assert_eq!(TraceRecord { volume: record.volume, ..found }, *record);
        prop_assert_eq!(name, names[usize::from(record.volume)]);
    }
    Ok(())
}

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

const VOLUMES: [&str; 5] = ["web_3", "0", "Zürich: Platte 7", "x", "a name, with \"quotes\""];

fn operations() -> impl Strategy<Value = Operation> {
    prop::sample::select(vec![Operation::Read, Operation::Write, Operation::Trim, Operation::Flush])
}

fn record_like() -> impl Strategy<Value = TraceRecord> {
    let gap = prop_oneof![4 => 0u64..1000, 2 => Just(0), 1 => 0u64..1 << 50];
    let length = prop_oneof![0u64..=1 << 30, Just(4096u64), Just(0u64), Just(1 << 30)];
    let offset = prop_oneof![0u64..1 << 40, any::<u64>(), Just(u64::MAX - (1 << 30))];
    let handle = prop_oneof![Just(u64::MAX), Just(0), 0u64..8, Just(65_534)];
    (gap, operations(), any::<bool>(), handle, offset, length, 0..VOLUMES.len() as u16).prop_map(
        |(gap, operation, fua, handle, offset, length, volume)| {
            let is_write = operation == Operation::Write;
            let handle = PlacementHandle::new(handle).filter(|_| is_write);
            TraceRecord {
                fua: fua && is_write,
                handle,
                ..record(gap, operation, offset.min(u64::MAX - length), length, volume)
            }
        },
    )
}

/// Records in the order of time, from 0 on.
fn records_like(most: usize) -> impl Strategy<Value = Vec<TraceRecord>> {
    prop::collection::vec(record_like(), 1..most).prop_map(|mut records| {
        let mut time_ns = 0;
        records[0].time_ns = 0;
        for record in &mut records {
            time_ns += record.time_ns;
            record.time_ns = time_ns;
        }
        records
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back(records in records_like(3000), group_rows in 1usize..4000) {
        same(&written(&records, &VOLUMES, group_rows), &records, &VOLUMES)?;
    }

    /// Each encoding, page size and version that the library writes.
    #[test]
    fn every_encoding_is_read(
        records in records_like(400),
        numbers in prop::sample::select(vec![Some(Encoding::PLAIN), Some(Encoding::DELTA_BINARY_PACKED), Some(Encoding::BYTE_STREAM_SPLIT), None]),
        texts in prop::sample::select(vec![Some(Encoding::PLAIN), Some(Encoding::DELTA_LENGTH_BYTE_ARRAY), Some(Encoding::DELTA_BYTE_ARRAY), None]),
        compression in prop::sample::select(vec![Compression::UNCOMPRESSED, Compression::LZ4_RAW]),
        version in prop::sample::select(vec![WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]),
        page_rows in 1usize..200,
    ) {
        let mut properties = WriterProperties::builder()
            .set_compression(compression)
            .set_writer_version(version)
            .set_write_batch_size(7)
            .set_data_page_row_count_limit(page_rows);
        for (column, name) in NAMES.into_iter().enumerate() {
            let path = ColumnPath::from(name);
            let encoding = if matches!(column, DEVICE | OPERATION) { texts } else { numbers };
            properties = properties.set_column_dictionary_enabled(path.clone(), encoding.is_none());
            if let Some(encoding) = encoding {
                properties = properties.set_column_encoding(path, encoding);
            }
        }
        same(&written_with(&records, &VOLUMES, properties), &records, &VOLUMES)?;
    }
}

/// A column of a table that is written for a test.
enum Cells<'a> {
    Wide(Vec<Option<i64>>),
    Narrow(Vec<Option<i32>>),
    Texts(Vec<Option<&'a str>>),
}

fn wide(values: &[i64]) -> Cells<'static> {
    Cells::Wide(values.iter().copied().map(Some).collect())
}

fn texts<'a>(values: &[&'a str]) -> Cells<'a> {
    Cells::Texts(values.iter().copied().map(Some).collect())
}

/// A table of one row group. A column that is optional in the schema may have holes.
fn table(schema: &str, columns: &[Cells<'_>]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(&format!("message table {{ {schema} }}")).unwrap());
    let out = Shared::default();
    let mut file = SerializedFileWriter::new(out.clone(), schema, Arc::default()).unwrap();
    let optional: Vec<bool> =
        file.schema_descr().columns().iter().map(|column| column.max_def_level() > 0).collect();
    let mut group = file.next_row_group().unwrap();
    for (cells, optional) in columns.iter().zip(optional) {
        let there: Vec<i16> = match cells {
            Cells::Wide(values) => values.iter().map(|value| value.is_some().into()).collect(),
            Cells::Narrow(values) => values.iter().map(|value| value.is_some().into()).collect(),
            Cells::Texts(values) => values.iter().map(|value| value.is_some().into()).collect(),
        };
        assert!(optional || !there.contains(&0));
        let levels = optional.then_some(&there[..]);
        let mut column = group.next_column().unwrap().unwrap();
        match cells {
            Cells::Wide(values) => {
                let values: Vec<i64> = values.iter().flatten().copied().collect();
                column.typed::<Int64Type>().write_batch(&values, levels, None).unwrap();
            }
            Cells::Narrow(values) => {
                let values: Vec<i32> = values.iter().flatten().copied().collect();
                column.typed::<Int32Type>().write_batch(&values, levels, None).unwrap();
            }
            Cells::Texts(values) => {
                let values: Vec<ByteArray> =
                    values.iter().flatten().map(|text| ByteArray::from(*text)).collect();
                column.typed::<ByteArrayType>().write_batch(&values, levels, None).unwrap();
            }
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    file.close().unwrap();
    out.bytes()
}

const SCHEMA: &str = "required int64 time; required binary device (STRING); required int64 offset; required int64 size; required binary operation (STRING);";

/// A table with our schema but for one column.
fn table_but(column: &str, declared: &str, cells: Cells<'_>) -> Vec<u8> {
    let schema: String = SCHEMA
        .split_inclusive(';')
        .map(|line| if line.contains(&format!(" {column}")) { declared } else { line })
        .collect();
    let rows = match &cells {
        Cells::Wide(cells) => cells.len(),
        Cells::Narrow(cells) => cells.len(),
        Cells::Texts(cells) => cells.len(),
    };
    let mut columns = vec![
        wide(&(0..rows as i64).collect::<Vec<_>>()),
        texts(&vec!["d"; rows]),
        wide(&vec![4096; rows]),
        wide(&vec![512; rows]),
        texts(&vec!["read"; rows]),
    ];
    columns[NAMES.iter().position(|name| *name == column).unwrap()] = cells;
    table(&schema, &columns)
}

#[test]
fn columns_may_stand_anywhere_among_others_and_be_narrow() {
    let schema = "optional binary operation (STRING); required int32 latency; optional int32 size (INTEGER(32,false));
        required group more { required int64 time; required binary device; }
        optional int64 offset (INTEGER(64,false)); required binary device; required int32 time (INTEGER(32,true));";
    let columns = [
        texts(&["Read", "FLUSH"]),
        Cells::Narrow(vec![Some(1), Some(2)]),
        Cells::Narrow(vec![Some(512), Some(0)]),
        wide(&[7, 7]),
        texts(&["a", "b"]),
        wide(&[-4096, 0]),
        texts(&["one", "two"]),
        Cells::Narrow(vec![Some(10), Some(25)]),
    ];
    let bytes = table(schema, &columns);
    let found = read_named(&bytes).unwrap();
    assert_eq!(
        found,
        [
            (record(0, Operation::Read, 4096u64.wrapping_neg(), 512, 0), "one".to_owned()),
            (record(15, Operation::Flush, 0, 0, 1), "two".to_owned()),
        ]
    );
}

#[test]
fn the_file_is_what_other_tools_expect() {
    let records =
        [record(0, Operation::Write, u64::MAX - 5, 5, 1), record(9, Operation::Trim, 0, 1 << 30, 0)];
    let bytes = written(&records, &["a", "b"], 10);
    let file = tempfile::tempfile().unwrap();
    (&file).write_all(&bytes).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap();
    assert_eq!(*pairs, [KeyValue::new("harmonia.trace.version".to_owned(), "1".to_owned())]);
    let names: Vec<&str> = reader
        .metadata()
        .file_metadata()
        .schema_descr()
        .columns()
        .iter()
        .map(|column| column.name())
        .collect();
    assert_eq!(names, NAMES[..NEEDED]);
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let [first, second] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((first.get_long(0).unwrap(), first.get_string(1).unwrap().as_str()), (0, "b"));
    assert_eq!((first.get_ulong(2).unwrap(), first.get_long(3).unwrap()), (u64::MAX - 5, 5));
    assert_eq!((second.get_long(0).unwrap(), second.get_string(4).unwrap().as_str()), (9, "trim"));
}

#[test]
fn a_time_beyond_292_years_is_dropped_and_said() {
    let volumes = {
        let mut volumes = VolumeNames::default();
        volumes.named("v").unwrap();
        volumes
    };
    let mut writer = Writer::new(Box::new(io::sink()), false, 10).unwrap();
    let late = record(1 << 63, Operation::Read, 0, 1, 0);
    assert!(matches!(writer.write(&late, &volumes).unwrap(), Written::Dropped(_)));
    let latest = record((1 << 63) - 1, Operation::Read, 0, 1, 0);
    assert_eq!(writer.write(&latest, &volumes).unwrap(), Written::Exact);
}

/// Writes a record for each of these volumes: what became of it, and the name that reads back.
fn renamed(names: &[&str]) -> Vec<(Written, String)> {
    let mut volumes = VolumeNames::default();
    let out = Shared::default();
    let mut writer = Box::new(Writer::new(Box::new(out.clone()), false, 1000).unwrap());
    let write = |(index, name): (usize, &&str)| {
        let volume = volumes.named(name).unwrap();
        writer.write(&record(index as u64, Operation::Read, 0, 512, volume), &volumes).unwrap()
    };
    let written: Vec<Written> = names.iter().enumerate().map(write).collect();
    writer.finish().unwrap();
    let read = read_named(&out.bytes()).unwrap();
    assert_eq!(read.len(), names.len());
    written.into_iter().zip(read.into_iter().map(|(_, name)| name)).collect()
}

#[test]
fn a_name_that_cannot_be_read_back_is_cleaned_or_cut_and_stays_apart() {
    let long = "x".repeat(1025);
    let longer = "x".repeat(4000);
    let longer_cut = format!("{}_2", &long[..1000]);
    let wide = "\u{2116}".repeat(400);
    let whole = "y".repeat(1024);
    let cases = [
        ("a_b", "a_b"),
        ("a\tb", "a_b_2"),
        ("a\u{85}b", "a_b_3"),
        ("a_b_2", "a_b_2_2"),
        ("", "volume"),
        ("\0", "_"),
        (&whole, &whole),
        (&long, &long[..1000]),
        (&longer, &longer_cut),
        (&wide, &wide[..999]),
    ];
    let names = cases.map(|(name, _)| name);
    for ((name, expected), (written, read)) in cases.iter().zip(renamed(&names)) {
        assert_eq!(read, *expected, "{name:?}");
        assert_eq!(written == Written::Exact, name == expected, "{name:?}: {written:?}");
    }
}

/// A name that another volume got is made longer, but never too long.
#[test]
fn names_do_not_grow_beyond_what_is_read() {
    let stem = "s".repeat(1000);
    let mut names = vec!["s".repeat(1025)];
    names.extend((0..13).map(|twos| stem.clone() + &"_2".repeat(twos)));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(names.iter().map(|name| name.len()).max(), Some(1025));
    let read: BTreeSet<String> = renamed(&names).into_iter().map(|(_, name)| name).collect();
    assert_eq!(read.len(), names.len());
}

proptest! {
    /// Any names read back as they are, or their records are said to be changed; no two become one.
    #[test]
    fn every_name_reads_back_or_is_said_to_be_another(
        names in prop::collection::btree_set(
            prop_oneof![any::<String>(), "[a\t\r_2]{0,5}", "(a|\u{e9}|\u{1}){995,1030}"],
            1..30,
        ),
        first in any::<prop::sample::Index>(),
    ) {
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        let first = first.index(names.len());
        names.rotate_left(first);
        let done = renamed(&names);
        for (name, (written, read)) in names.iter().zip(&done) {
            prop_assert_eq!(*written == Written::Exact, name == read);
            prop_assert!(!matches!(written, Written::Dropped(_)));
        }
        let distinct: BTreeSet<&String> = done.iter().map(|(_, read)| read).collect();
        prop_assert_eq!(distinct.len(), names.len());
    }
}

fn small() -> Vec<u8> {
    let records: Vec<TraceRecord> =
        (0..40).map(|i| record(i * 7 % 5 + i * 10, Operation::Read, i * 4096, 512, (i % 2) as u16)).collect();
    written(&records, &["a", "b"], 25)
}

#[test]
fn detected_by_its_first_bytes_and_refused_when_packed() {
    let bytes = small();
    assert_eq!(detected(&bytes), Ok("harmonia"));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&bytes).unwrap();
    assert_refused(
        "harmonia",
        &[(&gz.finish().unwrap(), "t: is packed, but Parquet is read from its end: unpack it")],
    );
}

#[test]
fn a_malformed_row_is_named_and_can_be_skipped() {
    let cases: [(Vec<u8>, &str); 8] = [
        (
            table_but("size", "optional int64 size;", Cells::Wide(vec![Some(1), None, Some(3)])),
            "t: row 2: found no value (null) in column `size`, expected one",
        ),
        (
            table_but(
                "operation",
                "optional binary operation;",
                Cells::Texts(vec![Some("read"), None, Some("read")]),
            ),
            "t: row 2: found no value (null) in column `operation`",
        ),
        (
            table_but("offset", "required int64 offset;", wide(&[0, -5, 0])),
            "t: row 2: found -5 in column `offset`, expected 0 or more",
        ),
        (
            table_but("size", "required int64 size;", wide(&[0, (1 << 30) + 1, 0])),
            "t: row 2: found a request of 1073741825 x 1 bytes, expected at most 1 GiB",
        ),
        (
            table_but("offset", "required int64 offset (INTEGER(64,false));", wide(&[0, -5, 0])),
            "t: row 2: found a request of 512 bytes at 18446744073709551611 x 1, expected an end below 2^64",
        ),
        (
            table_but(
                "operation",
                "required binary operation (STRING);",
                texts(&["read", "discard", "trim"]),
            ),
            "t: row 2: found `discard` in column `operation`, expected read, write, write fua, trim or flush",
        ),
        (
            table_but("device", "required binary device (STRING);", texts(&["a", "", "a"])),
            "t: row 2: found `` in column `device`, expected the name of a volume",
        ),
        (
            table_but("time", "required int64 time;", wide(&[10, 9, 11])),
            "t: row 2: found a time 0.000000001 s before that of the row before",
        ),
    ];
    for (bytes, words) in &cases {
        assert_refused("harmonia", &[(bytes, words)]);
        let options = TraceOptions { skip_bad: 1, ..TraceOptions::of_format("harmonia") };
        let (records, reader) = read_with(bytes, &options).unwrap();
        assert_eq!((records.len(), reader.log().bad), (2, 1), "{words}");
    }
}

const TYPE_OF_HANDLES: &str = "optional int32 placement_handle (INTEGER(16,false));";

/// A file of three writes with a column more.
fn writes_with(column: &str, cells: Cells<'_>) -> Vec<u8> {
    let zeros = || wide(&[0, 0, 0]);
    let schema = format!("{SCHEMA_OF_FIVE} {column}");
    table(
        &schema,
        &[zeros(), texts(&["a", "a", "a"]), zeros(), zeros(), texts(&["write", "write fua", "read"]), cells],
    )
}

const SCHEMA_OF_FIVE: &str = "required int64 time; required binary device (STRING); required int64 offset; \
                              required int64 size; required binary operation (STRING);";

#[test]
fn a_column_of_placement_handles_may_be_there_and_have_holes() {
    let handles = |bytes: &[u8]| {
        let (records, reader) = read_with(bytes, &TraceOptions::of_format("harmonia")).unwrap();
        let handles: Vec<_> = records.iter().map(|record| record.handle.map(|it| it.number())).collect();
        (handles, reader.has_handles())
    };
    let some = [Some(65_534), None, Some(3)];
    let expected = (vec![Some(65_534), None, None], true);
    assert_eq!(
        handles(&writes_with(TYPE_OF_HANDLES, Cells::Narrow(some.to_vec()))),
        expected,
        "a read has none"
    );
    let wide_ones = Cells::Wide(some.iter().map(|handle| handle.map(i64::from)).collect());
    assert_eq!(handles(&writes_with("optional int64 placement_handle;", wide_ones)), expected);
    let required = handles(&writes_with("required int64 placement_handle;", wide(&[0, 1, 2])));
    assert_eq!(required, (vec![Some(0), Some(1), None], true));
    let other = handles(&writes_with("required binary handle;", texts(&["0xffff", "x", ""])));
    assert_eq!(other, (vec![None; 3], false), "a column of another name");
    let refused = |column: &str, cells, expected: &str| {
        assert_refused("harmonia", &[(&writes_with(column, cells), expected)]);
    };
    refused(
        "required int64 placement_handle;",
        wide(&[1, -1, 0]),
        "t: row 2: found -1 in column `placement_handle`, expected 0 to 65534 or no value (null)",
    );
    refused(
        "required int64 placement_handle (INTEGER(64,false));",
        wide(&[1, -1, 0]),
        "t: row 2: found 18446744073709551615 in column `placement_handle`, expected 0 to 65534",
    );
    refused(
        TYPE_OF_HANDLES,
        Cells::Narrow(vec![Some(1), None, Some(65_535)]),
        "t: row 3: found 65535 in column `placement_handle`, expected 0 to 65534",
    );
    refused(
        "required binary placement_handle (STRING);",
        texts(&["0", "1", "2"]),
        "t: has byte strings in column `placement_handle`, expected whole numbers of 32 or 64 bits",
    );
}

/// So a trace without handles has the bytes it always had.
#[test]
fn only_a_file_with_placement_handles_has_the_column() {
    let with = |handle| {
        [TraceRecord { handle: PlacementHandle::new(handle), ..record(0, Operation::Write, 0, 512, 0) }]
    };
    let has_column = |bytes: &[u8]| bytes.windows(16).any(|window| window == b"placement_handle");
    assert!(has_column(&written(&with(0), &["a"], 10)));
    assert!(!has_column(&written(&with(u64::MAX), &["a"], 10)));
    let mut writer = Writer::new(Box::new(io::sink()), false, 10).unwrap();
    let mut volumes = VolumeNames::default();
    volumes.named("a").unwrap();
    assert!(writer.write(&with(0)[0], &volumes).is_err());
}

#[test]
fn a_file_that_is_no_trace_is_told_what_a_trace_has() {
    let whole = small();
    let version = |version: &str| {
        let pair = KeyValue::new("harmonia.trace.version".to_owned(), version.to_owned());
        let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![pair]));
        written_with(&[record(0, Operation::Read, 0, 1, 0)], &["v"], properties)
    };
    assert!(read(&version("1"), "harmonia").is_ok());
    assert_refused(
        "harmonia",
        &[
            (b"", "t: is empty"),
            (b"PAR", "t: begins with `PAR`, expected a Parquet file: PAR1"),
            (b"1,h,0,Read,0,512,1\n", "t: begins with `1,h,`, expected a Parquet file"),
            (b"PAR1", "t: ends behind its first bytes: the file is truncated"),
            (&whole[..whole.len() - 1], "expected PAR1 as a Parquet file does: the file is truncated"),
            (b"PAR1\xff\0\0\0PAR1", "t: has a footer of 255 bytes, expected less than its 12 bytes"),
            (
                b"PAR1\0\0\0\0PAR1",
                "t: its footer at byte 4 cannot be read: 1 bytes are expected where 0 are left",
            ),
            (b"PAR1\0\0\0\0\0PARE", "t: is encrypted"),
            (&version("2"), "t: is version 2 of the format harmonia, expected 1"),
            (
                &table("required int64 time; required int64 lba;", &[wide(&[1]), wide(&[1])]),
                "t: has no column `device`, expected the columns time, device, offset, size, operation: it has `time`, `lba`",
            ),
            (
                &table_but("time", "required int64 time (TIMESTAMP(MICROS,true));", wide(&[1])),
                "t: has timestamps in column `time`, expected whole numbers of 32 or 64 bits",
            ),
            (
                &table_but("size", "required binary size (STRING);", texts(&["512"])),
                "t: has byte strings in column `size`, expected whole numbers",
            ),
            (
                &table_but("device", "required int64 device;", wide(&[3])),
                "t: has 64-bit numbers in column `device`, expected texts",
            ),
            (
                &table(SCHEMA, &[wide(&[]), texts(&[]), wide(&[]), wide(&[]), texts(&[])]),
                "t: has no request in it, expected at least one",
            ),
        ],
    );
}

#[test]
fn units_can_be_told() {
    let mut options = TraceOptions::of_format("harmonia");
    options.units.time_ns = Some(1000);
    options.units.address = Some(512);
    options.units.size = Some(4096);
    let bytes = table_but("offset", "required int64 offset;", wide(&[8, 9]));
    let (records, _) = read_with(&bytes, &options).unwrap();
    let length = 512 * 4096;
    assert_eq!(
        records,
        [record(0, Operation::Read, 4096, length, 0), record(1000, Operation::Read, 4608, length, 0)]
    );
}

/// Whatever one byte is changed to, and wherever the file is cut, the answer is records or an error.
#[test]
fn damage_anywhere_is_survived() {
    let whole = small();
    for at in 0..whole.len() {
        assert!(read(&whole[..at], "harmonia").is_err(), "cut at {at}");
        for change in [1, 0x80, 0xff, whole[at], whole[at] ^ 0x0f] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            let _ = read(&bytes, "harmonia");
        }
    }
}

/// Small files of pyarrow, polars and DuckDB, and of our own: each holds the same twelve requests.
#[test]
fn files_of_other_tools_hold_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/harmonia_reader");
    let expected: Vec<_> = (0..12u64)
        .map(|i| {
            let operation = OPERATIONS[(i % 4) as usize].1;
            let length = if i % 4 == 3 { 0 } else { 512 << (i % 5) };
            (
                record(i * i * 1000, operation, (i * 37 % 11) << 20, length, (i % 3) as u16),
                format!("disk{}", i % 3),
            )
        })
        .collect();
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("twelve")) {
            assert_eq!(read_named(&std::fs::read(&path).unwrap()).unwrap(), expected, "{}", path.display());
            files += 1;
        }
    }
    assert!(files >= 6, "{files}");
}

#[test]
fn memory_given_back_reads_the_same_from_a_file() {
    let records: Vec<TraceRecord> =
        (0..4000).map(|i| record(i * 3, Operation::Write, i << 12, 4096, 0)).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().write_all(&written(&records, &["v"], 700)).unwrap();
    let trace = Trace::open_file(file.path(), "harmonia").unwrap();
    let mut reader = trace.records().unwrap();
    for record in &records {
        assert_eq!(reader.next_record().unwrap().as_ref(), Some(record));
    }
    assert_eq!(reader.next_record(), Ok(None));
}
