//! What the tests of all formats share.

use std::io;
use std::sync::{Arc, Mutex};

use super::super::{Trace, TraceOptions, TraceReader, TraceRecord, VolumeNames, Written};
use super::TraceFormat;

/// The records of a text, with the reader behind the last.
pub(crate) fn read_with(
    bytes: &[u8],
    options: &TraceOptions,
) -> Result<(Vec<TraceRecord>, TraceReader), String> {
    let words = |error: super::super::TraceError| error.to_string();
    let trace = Trace::from_bytes("t", bytes.to_vec(), options).map_err(words)?;
    let mut reader = trace.records().map_err(words)?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().map_err(words)? {
        records.push(record);
    }
    Ok((records, reader))
}

/// The records of a text in a format with its own units.
pub(crate) fn read(bytes: &[u8], format: &str) -> Result<Vec<TraceRecord>, String> {
    read_with(bytes, &TraceOptions::of_format(format)).map(|(records, _)| records)
}

/// The format that `auto` decides on, or why it does not.
pub(crate) fn detected(bytes: &[u8]) -> Result<&'static str, String> {
    let trace = Trace::from_bytes("t", bytes.to_vec(), &TraceOptions::default());
    trace.map(|trace| trace.format().name).map_err(|error| error.to_string())
}

/// Holds each (content, words) against the error that reading the content gives.
pub(crate) fn assert_refused(format: &str, table: &[(&[u8], &str)]) {
    for (bytes, expected) in table {
        match read(bytes, format) {
            Ok(records) => panic!("`{}` was read: {records:?}", bytes.escape_ascii()),
            Err(error) => {
                assert!(
                    error.contains(expected),
                    "{}\n  said: {error}\n  not:  {expected}",
                    bytes.escape_ascii()
                );
            }
        }
    }
}

/// What the writer of a format makes of records whose volumes have these names, and what became of each.
pub(crate) fn write(
    format: &TraceFormat,
    records: &[TraceRecord],
    names: &VolumeNames,
) -> (Vec<u8>, Vec<Written>) {
    let bytes = Shared::default();
    let has_handles = records.iter().any(|record| record.handle.is_some());
    let mut writer = (format.write.expect("has a writer"))(Box::new(bytes.clone()), has_handles).unwrap();
    let written = records.iter().map(|record| writer.write(record, names).unwrap()).collect();
    writer.finish().unwrap();
    let bytes = bytes.0.lock().unwrap().clone();
    (bytes, written)
}

/// Volumes of these names, numbered as they stand.
pub(crate) fn volumes_of(names: &[&str]) -> VolumeNames {
    let mut volumes = VolumeNames::default();
    for name in names {
        volumes.named(name).unwrap();
    }
    volumes
}

/// An output that can be looked at after the writer is gone.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
