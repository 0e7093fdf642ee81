//! Does any content of a trace file make the msr reader, the description or the replay panic, hang or break a promise?
//!
//! The promises are those of `reader`; rows are at least a byte long.
#![no_main]

mod reader;

libfuzzer_sys::fuzz_target!(|data: &[u8]| reader::check(data, "msr", 1));
