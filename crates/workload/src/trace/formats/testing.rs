//! What the tests of all formats share.

use super::super::{Trace, TraceOptions, TraceReader, TraceRecord};

/// The records of a text, with the reader behind the last.
pub(in crate::trace) fn read_with(
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
pub(in crate::trace) fn read(bytes: &[u8], format: &str) -> Result<Vec<TraceRecord>, String> {
    read_with(bytes, &TraceOptions::of_format(format)).map(|(records, _)| records)
}

/// The format that `auto` decides on, or why it does not.
pub(in crate::trace) fn detected(bytes: &[u8]) -> Result<&'static str, String> {
    let trace = Trace::from_bytes("t", bytes.to_vec(), &TraceOptions::default());
    trace.map(|trace| trace.format().name).map_err(|error| error.to_string())
}

/// Holds each (content, words) against the error that reading the content gives.
pub(in crate::trace) fn assert_refused(format: &str, table: &[(&[u8], &str)]) {
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
