//! Tests of the SYSTOR '17 reader: literal lines, a table of malformed input, and a slow reader as oracle.

use harmonia_types::Operation::{Read, Write};
use proptest::prelude::*;

use super::super::testing::{assert_refused, detected, read, read_with};
use super::*;
use crate::{TraceOptions, TraceRecord};

const HEADER_LINE: &str = "Timestamp,Response,IOType,LUN,Offset,Size\n";

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

fn parse(line: &[u8]) -> Result<Parsed, String> {
    Systor::new(super::super::plain(&FORMAT)).row(line)
}

#[test]
fn reads_seconds_and_bytes_with_or_without_a_header() {
    let rows = "1456135200.013118000,0.000806000,R,4,899056122368,131072\r\n\
                1456135200.013118001,, w,0,0,0\n";
    let expected = [record(0, Read, 899_056_122_368, 131_072, 0), record(1, Write, 0, 0, 1)];
    for text in
        [rows.to_owned(), format!("{HEADER_LINE}{rows}"), format!("{}{rows}", HEADER_LINE.to_lowercase())]
    {
        assert_eq!(read(text.as_bytes(), "systor").unwrap(), expected);
        assert_eq!(detected(text.as_bytes()), Ok("systor"));
    }
}

#[test]
fn a_row_whose_response_was_lost_is_passed_over_and_counted() {
    let text = format!("{HEADER_LINE}2.5,,,4,,\n3,0.1,R,4,0,512\n4,-0.1, ,x,0,512\n5,0.1,W,3,0,512\n");
    let (records, reader) = read_with(text.as_bytes(), &TraceOptions::of_format("systor")).unwrap();
    // Not even its time counts: what is not known to be a request does not begin the trace.
    assert_eq!(records, [record(0, Read, 0, 512, 0), record(2_000_000_000, Write, 0, 512, 1)]);
    assert_eq!(reader.volumes().names(), ["4", "3"]);
    let skipped: Vec<_> = reader.log().skipped.iter().map(|noted| (&*noted.reason, noted.rows)).collect();
    assert_eq!(skipped, [(UNKNOWN, 2)]);
}

#[test]
fn rows_a_minute_late_are_sorted_in_and_later_ones_refused() {
    let rows = |late: &str| format!("100,1,R,0,0,512\n160,1,R,0,512,512\n{late},1,R,0,1024,512\n");
    let offsets = |text: String| {
        read(text.as_bytes(), "systor").map(|records| records.iter().map(|r| r.offset).collect::<Vec<_>>())
    };
    assert_eq!(offsets(rows("100")), Ok(vec![0, 1024, 512]));
    let error = offsets(rows("99.999999999")).unwrap_err();
    assert!(error.contains("t:3: found a time 60.000000001 s before that of an earlier row"), "{error}");
}

#[test]
fn a_lun_is_the_same_in_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let paths = [
        file("2016022219-LUN4.csv", "10,1,R,4,0,512\n"),
        file("2016022220-LUN4.csv", "20,1,R,4,512,512\n"),
        file("2016022219-LUN6.csv", "15,1,W,6,0,512\n"),
    ];
    let trace = crate::Trace::open(&paths, &TraceOptions::of_format("systor")).unwrap();
    let mut reader = trace.records().unwrap();
    let mut volumes = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        volumes.push(record.volume);
    }
    assert_eq!(
        (&volumes[..], reader.volumes().names()),
        (&[0, 1, 0][..], &["4".to_owned(), "6".to_owned()][..])
    );
}

/// (content, what the error must say).
#[test]
fn malformed_input_is_refused_with_its_place() {
    let late_header = format!("1,1,R,0,0,512\n{HEADER_LINE}");
    assert_refused(
        "systor",
        &[
            (b"", "t: is empty"),
            (HEADER_LINE.as_bytes(), "t: has no request in it"),
            (b"2.5,,,4,0,512\n", "t: has no request in it"),
            (
                late_header.as_bytes(),
                "t:2: found `Timestamp` in field 1 (Timestamp), expected seconds such as",
            ),
            (b"\nx", "t:1: found `` in field 1 (Timestamp)"),
            (b"-1,1,R,0,0,512\n", "t:1: found `-1` in field 1 (Timestamp)"),
            (b"NaN,1,R,0,0,512\n", "found `NaN` in field 1 (Timestamp)"),
            (b"18446744073.709551616,1,R,0,0,512\n", "found `18446744073.709551616` in field 1 (Timestamp)"),
            (
                b"1,x,R,0,0,512\n",
                "found `x` in field 2 (Response), expected seconds such as 0.000806, or nothing",
            ),
            (b"1,1,Read,0,0,512\n", "found `Read` in field 3 (IOType), expected R, W or nothing"),
            (b"1,1,R,,0,512\n", "found `` in field 4 (LUN)"),
            (b"1,1,R,0,-8,512\n", "found `-8` in field 5 (Offset), expected bytes"),
            (b"1,1,R,0,0\n", "found the end of the line `1,1,R,0,0`, expected field 6 (Size): bytes"),
            (b"1,1,,0,0\n", "found the end of the line `1,1,,0,0`, expected field 6 (Size): bytes"),
            (b"1,1,R,0,0,512,7\n", "found `7` behind the last field, expected 6 fields"),
            (b"1,1,,0,0,512,7\n", "found `7` behind the last field, expected 6 fields"),
            (b"1,1,R,0,0,1073741825\n", "found a request of 1073741825 x 1 bytes, expected at most 1 GiB"),
            (b"1,1,R,0,18446744073709551615,1\n", "expected an end below 2^64 bytes"),
        ],
    );
}

#[test]
fn content_tells_systor_from_other_csv() {
    assert_eq!(detected(b"1,0.5,R,0,0,512\n2,0.5,,0,0,512\n"), Ok("systor"));
    assert_eq!(detected(b"0,303567,3584,w,0.000000\n"), Ok("spc"));
    // Nothing but unknown rows is no trace.
    assert!(detected(b"1,0.5,,0,0,512\n").unwrap_err().contains("systor comes closest, but has no request"));
}

/// Reads a line by splitting it.
fn oracle(line: &str) -> Option<Parsed> {
    let fields: Vec<&str> = line.split(',').collect();
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
    let decimal = |text: &str| -> Option<u64> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        (!fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit())).then_some(())?;
        let ns = format!("{fraction:0<9}")[..9].parse::<u64>().ok()?;
        number(whole)?.checked_mul(1_000_000_000)?.checked_add(ns)
    };
    let [time, response, kind, lun, offset, size] = fields[..] else { return None };
    let time_ns = decimal(time.trim())?;
    let response = response.trim();
    (response.is_empty() || decimal(response.strip_prefix('-').unwrap_or(response)).is_some())
        .then_some(())?;
    let operation = match kind.trim() {
        "R" | "r" => Read,
        "W" | "w" => Write,
        "" => return Some(Parsed::Lose(UNKNOWN)),
        _ => return None,
    };
    number(lun)?;
    let (offset, length) = (number(offset)?, number(size)?);
    let fits = length <= 1 << 30 && offset.checked_add(length).is_some();
    fits.then_some(Parsed::Row(Row::new(time_ns, operation, offset, length)))
}

proptest! {
    /// Lines of plausible fields, some of them off: read as the oracle does, refused where it does.
    #[test]
    fn a_line_is_read_as_a_slow_reader_does(
        time in "[0-9]{1,11}(\\.[0-9]{0,12})?| 1 |[!-~]{0,3}",
        response in "-?[0-9]{1,2}(\\.[0-9]{1,9})?|[ -~]?",
        kind in prop::sample::select(vec!["R", "W", "r", "w", "", " ", " R ", "RW", "0"]),
        numbers in prop::collection::vec(prop_oneof![8 => "[0-9]{1,9}", 1 => "[0-9]{15,21}", 1 => "[ -~]{0,3}"], 2..5),
    ) {
        let line = format!("{time},{response},{kind},{}", numbers.join(","));
        prop_assert_eq!(parse(line.as_bytes()).ok(), oracle(&line), "{}", line);
    }
}
