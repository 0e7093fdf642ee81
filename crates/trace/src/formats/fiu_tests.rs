//! Tests of the FIU reader: literal lines, a table of malformed input, and a slow reader as oracle.

use harmonia_types::Operation::{Read, Write};
use proptest::prelude::*;

use super::super::testing::{assert_refused, detected, read, read_with};
use super::*;
use crate::{TraceOptions, TraceRecord};

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

fn parse(line: &[u8]) -> Result<Row, String> {
    match Fiu::new(super::super::plain(&FORMAT)).parse(line, &mut ReadLog::default())? {
        Parsed::Row(row) => Ok(row),
        other => Err(format!("{other:?}")),
    }
}

#[test]
fn reads_ns_and_sectors_with_or_without_a_digest() {
    let text = b"70000000000123 4321 gzip 283000000 8 R 6 0 00112233445566778899aabbccddeeff\r\n\
                 70000000000124 0 kjournald 0 2097152 W 6 1\n\
                 70000000000124 2 pdflush 36028797018963966 1 w 6 0 \n\
                 18446744073709551615 2 - 0 0 r 8 16 0";
    let expected = [
        record(0, Read, 283_000_000 * 512, 4096, 0),
        record(1, Write, 0, 1 << 30, 1),
        record(1, Write, u64::MAX - 1023, 512, 0),
        record(u64::MAX - 70_000_000_000_123, Read, 0, 0, 2),
    ];
    let (records, reader) = read_with(text, &TraceOptions::of_format("fiu")).unwrap();
    assert_eq!(records, expected);
    assert_eq!(reader.volumes().names(), ["6,0", "6,1", "8,16"]);
    assert_eq!(detected(text), Ok("fiu"));
}

#[test]
fn the_name_of_a_process_may_hold_blanks_and_numbers() {
    let expected = Row::new(5, Write, 4096, 512);
    for name in ["x", "Web Content", "a 1 2 W 3", "7 7 7 R", "1 2 R 3 4", "\t x ", "R"] {
        let several = " 00112233445566778899aabbccddeeff".repeat(8);
        for digest in ["", " 56f11b711d91a065", " 12", &several] {
            let line = format!("5 2 {name} 8 1 W 6 0{digest}");
            assert_eq!(parse(line.as_bytes()), Ok(expected), "{line}");
        }
    }
}

#[test]
fn rows_a_second_late_are_sorted_in_and_later_ones_refused() {
    let rows = |late: u64| {
        format!("0 2 x 0 1 W 6 0\n1000000000 2 x 1 1 W 6 0\n1000000001 2 x 2 1 W 6 0\n{late} 2 x 3 1 W 6 0\n")
    };
    let records = read(rows(1).as_bytes(), "fiu").unwrap();
    assert_eq!(records.iter().map(|record| record.offset / 512).collect::<Vec<_>>(), [0, 3, 1, 2]);
    let error = read(rows(0).as_bytes(), "fiu").unwrap_err();
    assert!(error.contains("t:4: found a time 1.000000001 s before that of an earlier row"), "{error}");
}

/// (content, what the error must say).
#[test]
fn malformed_input_is_refused_with_its_place() {
    assert_refused(
        "fiu",
        &[
            (b"", "t: is empty"),
            (
                b"\nx",
                "t:1: found the end of the line ``, expected field 1 (time): a whole number, below 2^64 ns",
            ),
            (b"5.5 2 x 8 1 W 6 0 f\n", "t:1: found `5.5` in field 1 (time)"),
            (b"-5 2 x 8 1 W 6 0 f\n", "found `-5` in field 1 (time)"),
            (b"18446744073709551616 2 x 8 1 W 6 0 f\n", "found `18446744073709551616` in field 1 (time)"),
            (b"5 root x 8 1 W 6 0 f\n", "found `root` in field 2 (pid)"),
            (b"5 2\n", "found the end of the line `5 2`, expected field 3 (process): a name"),
            (b"5 2 8 1 W 6 0 f\n", "found `W` in field 5 (size), expected a whole number below 2^64"),
            (b"5 2 x 0x8 1 W 6 0 f\n", "found `0x8` in field 4 (lba)"),
            (b"5 2 x 8 1 D 6 0 f\n", "found `D` in field 6 (type), expected R or W"),
            (b"5 2 x 8 1 W 6\n", "found the end of the line `5 2 x 8 1 W 6`, expected field 8 (minor)"),
            (b"5 2 x 8 1 W 6 sda f\n", "found `sda` in field 8 (minor)"),
            (b"5 2 x 8 1 W 6 0 f f\n", "found `f` behind the last field, expected 9 fields"),
            (b"5 2 x 8 2097153 W 6 0 f\n", "found a request of 2097153 x 512 bytes, expected at most 1 GiB"),
            (b"5 2 x 36028797018963967 1 W 6 0 f\n", "expected an end below 2^64 bytes"),
            (
                b"5 2 x 8 1 W 6 0 f\n6 2 x 8 1",
                "t:2: found the end of the line `6 2 x 8 1`, expected field 6 (type): R or W (the last",
            ),
        ],
    );
}

#[test]
fn content_tells_fiu_from_other_columns() {
    assert_eq!(detected(b"0 4892 syslogd 904265000 8 W 6 0 531e779e\n"), Ok("fiu"));
    for other in [&b"0 4892 904265000 8 1\n"[..], b"0.5 4 904265000 8 1\n", b"5 2 x 8 1 D 6 0\n"] {
        assert!(!detected(other).is_ok_and(|name| name == "fiu"), "{}", other.escape_ascii());
    }
}

/// Reads a line from the right, by splitting it.
fn oracle(line: &str) -> Option<Row> {
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
    let words: Vec<&str> = line.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
    let without = |words: &[&str]| {
        let [time, pid, _, .., lba, size, kind, major, minor] = words else { return None };
        for checked in [pid, major, minor] {
            number(checked)?;
        }
        let operation = match *kind {
            "R" | "r" => Read,
            "W" | "w" => Write,
            _ => return None,
        };
        let (offset, length) = (u128::from(number(lba)?) * 512, u128::from(number(size)?) * 512);
        let fits = length <= 1 << 30 && offset + length < 1 << 64;
        Some(Row::new(number(time)?, operation, u64::try_from(offset).ok().filter(|_| fits)?, length as u64))
    };
    without(&words).or_else(|| without(words.split_last()?.1))
}

proptest! {
    /// Lines of plausible fields, some of them off: read as the oracle does, refused where it does.
    #[test]
    fn a_line_is_read_as_a_slow_reader_does(
        words in prop::collection::vec(
            prop_oneof![6 => "[0-9]{1,7}", 1 => "[0-9]{15,21}", 2 => "[RWrw]", 1 => "[!-~]{1,4}"], 2..12,
        ),
        tail in prop_oneof![1 => Just(String::new()), 4 => "[0-9]{1,6} [0-9]{1,3} [RW] [0-9] [0-9]{1,2}( [0-9a-f]{1,8})?"],
        blank in prop::sample::select(vec![" ", "\t", "  "]),
    ) {
        let line = words.join(blank) + blank + &tail;
        prop_assert_eq!(parse(line.as_bytes()).ok(), oracle(&line), "{}", line);
    }
}
