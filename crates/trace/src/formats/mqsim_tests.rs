//! Tests of the MQSim reader: literal lines, a table of malformed input, and a slow reader as oracle. What content tells
//! it from DiskSim is tested there.

use harmonia_types::Operation::{Read, Write};
use proptest::prelude::*;

use super::super::testing::{assert_refused, detected, read, read_with};
use super::*;
use crate::{TraceOptions, TraceRecord, UnitOptions};

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

fn parse(line: &[u8]) -> Result<Row, String> {
    match MqSim::new(super::super::plain(&FORMAT)).parse(line, &mut ReadLog::default())? {
        Parsed::Row(row) => Ok(row),
        other => Err(format!("{other:?}")),
    }
}

#[test]
fn reads_ns_sectors_and_types() {
    let text = b"938513000 4 264719000 16 0\r\n\
                 938513001 13 0\t2097152  1\n\
                 18446744073709551615 4 36028797018963966 1 1";
    let expected = [
        record(0, Write, 264_719_000 * 512, 8192, 0),
        record(1, Read, 0, 1 << 30, 1),
        record(u64::MAX - 938_513_000, Read, u64::MAX - 1023, 512, 0),
    ];
    assert_eq!(read(text, "mqsim").unwrap(), expected);
}

#[test]
fn units_and_polarity_are_what_the_options_say() {
    let units = UnitOptions { time_ns: Some(1000), address: Some(4096), size: Some(1024), read_is: Some(0) };
    let options = TraceOptions { units, ..TraceOptions::of_format("mqsim") };
    let (records, _) = read_with(b"2 0 3 4 0\n979 0 3 4 1\n", &options).unwrap();
    assert_eq!(records, [record(0, Read, 12_288, 4096, 0), record(977_000, Write, 12_288, 4096, 0)]);
}

/// (content, what the error must say).
#[test]
fn malformed_input_is_refused_with_its_place() {
    assert_refused(
        "mqsim",
        &[
            (b"", "t: is empty"),
            (b"5 0 8 8 1\n\nx", "t:2: found the end of the line ``, expected field 1 (time): a whole number"),
            (b"5 0 8 8\n", "t:1: found the end of the line `5 0 8 8`, expected field 5 (type): 0 or 1"),
            (b"5 0 8 8 1 1\n", "t:1: found `1` behind the last field, expected 5 fields"),
            (b"5.5 0 8 8 1\n", "t:1: found `5.5` in field 1 (time), expected a whole number, below 2^64 ns"),
            (b"-5 0 8 8 1\n", "found `-5` in field 1 (time)"),
            (b"18446744073709551616 0 8 8 1\n", "found `18446744073709551616` in field 1 (time)"),
            (b"5 x 8 8 1\n", "found `x` in field 2 (device)"),
            (b"5 0 0x8 8 1\n", "found `0x8` in field 3 (sector)"),
            (b"5 0 8 0 1\n", "found `0` in field 4 (count), expected a number of sectors"),
            (b"5 0 8 2097153 1\n", "found a request of 2097153 x 512 bytes, expected at most 1 GiB"),
            (b"5 0 36028797018963967 1 1\n", "expected an end below 2^64 bytes"),
            (b"5 0 8 8 2\n", "found `2` in field 5 (type), expected 0 or 1"),
            (b"5 0 8 8 01\n", "found `01` in field 5 (type), expected 0 or 1"),
            (b"5 0 8 8 1\n4 0 8 8 1\n", "t:2: found a time 0.000000001 s before that of the row before"),
        ],
    );
    // A time that no longer fits when its unit is a longer one.
    let units = UnitOptions { time_ns: Some(1000), ..UnitOptions::default() };
    let options = TraceOptions { units, ..TraceOptions::of_format("mqsim") };
    let error = read_with(b"18446744073709552 0 8 8 1\n", &options).map(|_| ()).unwrap_err();
    assert!(error.contains("found `18446744073709552` in field 1 (time)"), "{error}");
}

#[test]
fn auto_never_decides_on_it_alone() {
    assert!(detected(b"5 0 8 8 1\n6 0 8 8 0\n").unwrap_err().contains("(disksim, mqsim)"));
    assert_eq!(detected(b"5 0 8 8 1\n6 0 8 8 2\n7 0 8 8 1\n"), Ok("disksim"));
    // Neither: one word more, one word less.
    for text in [&b"5 0 8 8 1 1\n"[..], b"5 0 8 8\n", b"5 0 4 8 8 W 6 0\n"] {
        assert!(!detected(text).is_ok_and(|name| name == "mqsim"), "{}", text.escape_ascii());
    }
}

/// Reads a line by splitting it, in arithmetic that cannot overflow.
fn oracle(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split([' ', '\t']).filter(|field| !field.is_empty()).collect();
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
    let [time, device, sector, count, kind] = fields[..] else { return None };
    number(device)?;
    let (offset, length) = (u128::from(number(sector)?) * 512, u128::from(number(count)?) * 512);
    let fits = (1..=1 << 30).contains(&length) && offset + length < 1 << 64;
    Some(Row::new(
        number(time)?,
        [Write, Read][["0", "1"].iter().position(|code| *code == kind)?],
        u64::try_from(offset).ok().filter(|_| fits)?,
        length as u64,
    ))
}

proptest! {
    /// Lines of plausible fields, some of them off: read as the oracle does, refused where it does.
    #[test]
    fn a_line_is_read_as_a_slow_reader_does(
        fields in prop::collection::vec(prop_oneof![5 => "[0-9]{1,7}", 1 => "[0-9]{15,21}", 1 => "[!-~]{0,4}"], 2..5),
        last in prop::sample::select(vec!["0", "1", "0", "1", "2", "00", "1 1", ""]),
        blank in prop::sample::select(vec![" ", "\t", "  "]),
    ) {
        let line = fields.join(blank) + blank + last;
        prop_assert_eq!(parse(line.as_bytes()).ok(), oracle(&line), "{}", line);
    }
}
