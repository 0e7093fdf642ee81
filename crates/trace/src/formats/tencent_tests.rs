//! Tests of the Tencent reader: literal lines, a table of malformed input, and a slow reader as oracle.

use harmonia_types::Operation::{Read, Write};
use proptest::prelude::*;

use super::super::testing::{assert_refused, detected, read, read_with};
use super::*;
use crate::{TraceOptions, TraceRecord, UnitOptions};

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

fn parse(line: &[u8]) -> Result<Row, String> {
    Tencent::new(super::super::plain(&FORMAT)).row(line)
}

#[test]
fn reads_sectors_and_spreads_the_rows_of_a_second() {
    let text = b"1538323199,105352008,584,1,1576\r\n\
                 1538323199,16,8,0,2313\n\
                 1538323199,0,2097152,0,1576\n\
                 1538323199,1,1,1,1576\n\
                 1538323200,2,1,1,1576";
    let expected = [
        record(0, Write, 105_352_008 * 512, 584 * 512, 0),
        record(250_000_000, Read, 8192, 4096, 1),
        record(500_000_000, Read, 0, 1 << 30, 0),
        record(750_000_000, Write, 512, 512, 0),
        record(1_000_000_000, Write, 1024, 512, 0),
    ];
    let (records, reader) = read_with(text, &TraceOptions::of_format("tencent")).unwrap();
    assert_eq!(records, expected);
    assert_eq!(reader.volumes().names(), ["1576", "2313"]);
    let together = TraceOptions { spread: Some(false), ..TraceOptions::of_format("tencent") };
    let times: Vec<u64> = read_with(text, &together).unwrap().0.iter().map(|record| record.time_ns).collect();
    assert_eq!(times, [0, 0, 0, 0, 1_000_000_000]);
}

#[test]
fn units_and_polarity_can_be_chosen() {
    let units = UnitOptions { time_ns: Some(1_000), address: Some(1), size: Some(4096), read_is: Some(1) };
    let options = TraceOptions { units, ..TraceOptions::of_format("tencent") };
    let (records, _) = read_with(b"100,5,2,1,0\n107,6,1,0,0\n", &options).unwrap();
    assert_eq!(records, [record(0, Read, 5, 8192, 0), record(7_000, Write, 6, 4096, 0)]);
}

#[test]
fn rows_late_by_one_tick_are_sorted_and_later_ones_refused() {
    let records = read(b"5,1,1,0,0\n6,2,1,0,0\n5,3,1,0,0\n", "tencent").unwrap();
    assert_eq!(records.iter().map(|record| record.offset / 512).collect::<Vec<_>>(), [1, 3, 2]);
    assert_refused(
        "tencent",
        &[(
            b"5,1,1,0,0\n6,2,1,0,0\n4,3,1,0,0\n",
            "t:3: found a time 2 s before that of an earlier row, expected at most 1 s",
        )],
    );
}

#[test]
fn a_header_is_passed_on_the_first_line_only() {
    let header = "Timestamp,Offset,Size,IOType,VolumeID\n";
    let text = format!("{header}5,0,1,0,9\n");
    assert_eq!(detected(text.as_bytes()), Ok("tencent"));
    assert_eq!(read(text.as_bytes(), "tencent").unwrap(), [record(0, Read, 0, 512, 0)]);
    let late = format!("5,0,1,0,9\n{header}");
    assert_refused("tencent", &[(late.as_bytes(), "t:2: found `Timestamp` in field 1 (Timestamp)")]);
}

/// (content, what the error must say): each names file and line, what was found and what is expected.
#[test]
fn malformed_input_is_refused_with_its_place() {
    assert_refused(
        "tencent",
        &[
            (b"", "t: is empty"),
            (b"Timestamp,Offset,Size,IOType,VolumeID\n", "t: has no request in it"),
            (b"1,0,1,0,0\n\nx", "t:2: found `` in field 1 (Timestamp), expected seconds, a whole number"),
            (b"1.5,0,1,0,0\n", "t:1: found `1.5` in field 1 (Timestamp)"),
            (
                b"18446744074,0,1,0,0\n",
                "t:1: found `18446744074` in field 1 (Timestamp), expected seconds, a whole number below 2^64, and below 2^64 ns",
            ),
            (b"1,0x5,1,0,0\n", "t:1: found `0x5` in field 2 (Offset), expected 512-byte sectors"),
            (b"1,36028797018963968,1,0,0\n", "t:1: found a request of 512 bytes at 36028797018963968 x 512"),
            (b"1,0,0,0,0\n", "t:1: found `0` in field 3 (Size)"),
            (b"1,0,2097153,0,0\n", "t:1: found a request of 2097153 x 512 bytes, expected at most 1 GiB"),
            (b"1,0,1,2,0\n", "t:1: found `2` in field 4 (IOType), expected 0 or 1"),
            (b"1,0,1,R,0\n", "t:1: found `R` in field 4 (IOType), expected 0 or 1"),
            (b"1,0,1,,0\n", "t:1: found `` in field 4 (IOType)"),
            (b"1,0,1,0,v5\n", "t:1: found `v5` in field 5 (VolumeID), expected a whole number below 2^64"),
            (b"1,0,1,0\n", "t:1: found the end of the line `1,0,1,0`, expected field 5 (VolumeID)"),
            (b"1,0,1,0,5,\n", "t:1: found `` behind the last field, expected 5 fields"),
            (b"1,0,1,0,5\n1,0,1,\xff,5\n", r"t:2: found `\xff` in field 4 (IOType)"),
            (b"1,0,1,0,5\n1,0,1", "t:2: found the end of the line `1,0,1`, expected field 4 (IOType)"),
        ],
    );
}

#[test]
fn content_tells_it_from_other_csv() {
    assert_eq!(detected(b"1538323199,105352008,584,1,1576\n"), Ok("tencent"));
    // What would be a Tencent row but for its fourth field is in no format.
    assert!(detected(b"1538323199,105352008,584,2,1576\n").unwrap_err().contains("none of the known"));
}

/// The rules of the format once more, slowly: the oracle.
fn oracle(line: &str) -> Option<Row> {
    let number = |text: &str| {
        text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok().map(u128::from))?
    };
    let [time, offset, size, io_type, volume] = line.split(',').collect::<Vec<_>>()[..] else { return None };
    let operation = match io_type {
        "0" => Read,
        "1" => Write,
        _ => return None,
    };
    number(volume)?;
    let (offset, length) = (number(offset)? * 512, number(size)? * 512);
    let fits = (1..=1 << 30).contains(&length) && offset + length < 1 << 64;
    Some(Row::new(
        u64::try_from(number(time)? * 1_000_000_000).ok()?,
        operation,
        u64::try_from(offset).ok().filter(|_| fits)?,
        length as u64,
    ))
}

/// Numbers around every limit, some that are none.
fn number_like() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => any::<u64>().prop_map(|n| n.to_string()),
        8 => (0u64..1 << 22).prop_map(|n| n.to_string()),
        1 => prop::sample::select(vec!["", "0", "18446744073709551615", "18446744073709551616", "18446744073",
            "18446744074", "36028797018963967", "36028797018963966", "2097152", "2097153", "007", "-1", "1.5", " 1"])
            .prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_line_is_read_as_the_oracle_reads_it(
        numbers in prop::collection::vec(number_like(), 3),
        io_type in prop::sample::select(vec!["0", "1", "0", "1", "2", "00", "R", ""]),
        volume in number_like(),
        rest in "(,[0-9]?)?",
        garbage in proptest::option::weighted(0.1, "[0-9,\\x00-\\x7f]{0,30}"),
    ) {
        let line = garbage.unwrap_or_else(|| format!("{},{io_type},{volume}{rest}", numbers.join(",")));
        prop_assert_eq!(parse(line.as_bytes()).ok(), oracle(&line));
    }
}
