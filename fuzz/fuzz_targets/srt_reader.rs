//! Does any content of a trace file make the srt reader, the description or the replay panic, hang or break a promise?
//!
//! The promises are those of `reader`; rows may be as short as nothing.
#![no_main]

mod reader;

libfuzzer_sys::fuzz_target!(|data: &[u8]| reader::check(data, "srt", 0));
