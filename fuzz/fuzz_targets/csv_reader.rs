//! Does any content of a table, or any names of its columns, make the csv reader, the description or the replay panic, hang
//! or break a promise?
//!
//! The first line of the data names the columns; the rest is the file. The promises are those of `reader`; rows may be as
//! short as nothing.
#![no_main]

mod reader;

use harmonia_trace::{TraceOptions};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len());
    let Ok(names) = std::str::from_utf8(&data[..end]) else { return };
    let Ok(columns) = names.parse() else { return };
    let options = TraceOptions { columns: Some(columns), ..TraceOptions::of_format("csv") };
    reader::check_as(data.get(end + 1..).unwrap_or_default(), options, 0);
});
