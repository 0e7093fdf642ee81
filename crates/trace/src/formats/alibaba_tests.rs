//! Tests of the Alibaba reader: literal lines, a table of malformed input, and a slow reader as oracle.

use harmonia_types::Operation::{Read, Write};
use proptest::prelude::*;

use super::super::testing::{assert_refused, detected, read, read_with};
use super::*;
use crate::{TraceOptions, TraceRecord, UnitOptions};

const HEADER_LINE: &str = "device_id,opcode,offset,length,timestamp";

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

fn parse(line: &[u8]) -> Result<Row, String> {
    Alibaba::new(super::super::plain(&FORMAT)).row(line)
}

#[test]
fn reads_bytes_and_us_with_the_time_last() {
    let text = b"7,W,8589934592,4096,1600000000000626\r\n\
                 419,R,0,1,1600000000000627\n\
                 7,R,18446744072635809791,1073741824,1600000000001000";
    let expected = [
        record(0, Write, 8_589_934_592, 4096, 0),
        record(1_000, Read, 0, 1, 1),
        record(374_000, Read, 18_446_744_072_635_809_791, 1 << 30, 0),
    ];
    let (records, reader) = read_with(text, &TraceOptions::of_format("alibaba")).unwrap();
    assert_eq!(records, expected);
    assert_eq!(reader.volumes().names(), ["7", "419"]);
}

#[test]
fn units_can_be_chosen() {
    let units = UnitOptions { time_ns: Some(1), address: Some(512), size: Some(4096), read_is: None };
    let options = TraceOptions { units, ..TraceOptions::of_format("alibaba") };
    let (records, _) = read_with(b"0,R,8,2,100\n0,R,16,1,107\n", &options).unwrap();
    assert_eq!(records, [record(0, Read, 4096, 8192, 0), record(7, Read, 8192, 4096, 0)]);
}

#[test]
fn a_header_is_passed_on_the_first_line_only() {
    let text = format!("{HEADER_LINE}\r\n5,R,0,512,10\n");
    assert_eq!(detected(text.as_bytes()), Ok("alibaba"));
    assert_eq!(read(text.as_bytes(), "alibaba").unwrap(), [record(0, Read, 0, 512, 0)]);
    let late = format!("5,R,0,512,10\n{HEADER_LINE}\n");
    assert_refused("alibaba", &[(late.as_bytes(), "t:2: found `device_id` in field 1 (device_id)")]);
}

#[test]
fn rows_that_are_late_by_100_ms_are_sorted_and_later_ones_refused() {
    let records = read(b"0,R,1,1,200000\n0,R,2,1,300000\n0,R,3,1,200000\n", "alibaba").unwrap();
    assert_eq!(records.iter().map(|record| record.offset).collect::<Vec<_>>(), [1, 3, 2]);
    assert_refused(
        "alibaba",
        &[(
            b"0,R,1,1,200000\n0,R,2,1,300000\n0,R,3,1,199999\n",
            "t:3: found a time 0.100001 s before that of an earlier row, expected at most 0.1 s",
        )],
    );
}

/// (content, what the error must say): each names file and line, what was found and what is expected.
#[test]
fn malformed_input_is_refused_with_its_place() {
    assert_refused(
        "alibaba",
        &[
            (b"", "t: is empty"),
            (b"device_id,opcode,offset,length,timestamp\n", "t: has no request in it"),
            (b"0,R,0,1,1\n\nx", "t:2: found `` in field 1 (device_id), expected a whole number below 2^64"),
            (b"sda,R,0,1,1\n", "t:1: found `sda` in field 1 (device_id)"),
            (b"0,r,0,1,1\n", "t:1: found `r` in field 2 (opcode), expected R or W"),
            (b"0,Read,0,1,1\n", "t:1: found `Read` in field 2 (opcode), expected R or W"),
            (b"0,,0,1,1\n", "t:1: found `` in field 2 (opcode)"),
            (b"0,R,-1,1,1\n", "t:1: found `-1` in field 3 (offset), expected bytes, a whole number"),
            (
                b"0,R,0,0,1\n",
                "t:1: found `0` in field 4 (length), expected bytes, a whole number below 2^64, at least 1",
            ),
            (b"0,R,0,1073741825,1\n", "t:1: found a request of 1073741825 x 1 bytes, expected at most 1 GiB"),
            (b"0,R,18446744073709551615,1,1\n", "expected an end below 2^64 bytes"),
            (b"0,R,0,1,1.5\n", "t:1: found `1.5` in field 5 (timestamp), expected us"),
            (
                b"0,R,0,1,18446744073709552\n",
                "t:1: found `18446744073709552` in field 5 (timestamp), expected us, a whole number below 2^64, and below 2^64 ns",
            ),
            (b"0,R,0,1\n", "t:1: found the end of the line `0,R,0,1`, expected field 5 (timestamp): us"),
            (b"0,R,0,1,1,2\n", "t:1: found `2` behind the last field, expected 5 fields"),
            (b"0,R,0,1,1\n0,R,0,\0,1\n", r"t:2: found `\x00` in field 4 (length)"),
            (b"0,R,0,1,1\n0,W,4096", "t:2: found the end of the line `0,W,4096`, expected field 4 (length)"),
        ],
    );
}

#[test]
fn content_tells_it_from_spc() {
    assert_eq!(detected(b"0,W,23979941888,4096,0\n"), Ok("alibaba"));
    assert_eq!(detected(b"0,23979941888,4096,W,0\n"), Ok("spc"));
}

/// The rules of the format once more, slowly: the oracle.
fn oracle(line: &str) -> Option<Row> {
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
    let [device, opcode, offset, length, time] = line.split(',').collect::<Vec<_>>()[..] else { return None };
    let operation = match opcode {
        "R" => Read,
        "W" => Write,
        _ => return None,
    };
    let row = Row {
        volume: number(device).map(|_| 0)?,
        ..Row::new(
            u64::try_from(u128::from(number(time)?) * 1000).ok()?,
            operation,
            number(offset)?,
            number(length)?,
        )
    };
    let ends = u128::from(row.offset) + u128::from(row.length) < 1 << 64;
    (ends && (1..=1 << 30).contains(&row.length)).then_some(row)
}

/// Numbers around every limit, some that are none.
fn number_like() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => any::<u64>().prop_map(|n| n.to_string()),
        8 => (0u64..1 << 31).prop_map(|n| n.to_string()),
        1 => prop::sample::select(vec!["", "0", "18446744073709551615", "18446744073709551616",
            "18446744073709551", "18446744073709552", "1073741824", "1073741825", "007", "-1", "+1", "1.5", " 1"])
            .prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_line_is_read_as_the_oracle_reads_it(
        device in number_like(),
        opcode in prop::sample::select(vec!["R", "W", "R", "W", "r", "RW", ""]),
        numbers in prop::collection::vec(number_like(), 3),
        rest in "(,[0-9]?)?",
        garbage in proptest::option::weighted(0.1, "[0-9,RW\\x00-\\x7f]{0,30}"),
    ) {
        let line = garbage.unwrap_or_else(|| format!("{device},{opcode},{}{rest}", numbers.join(",")));
        prop_assert_eq!(parse(line.as_bytes()).ok(), oracle(&line));
    }
}
