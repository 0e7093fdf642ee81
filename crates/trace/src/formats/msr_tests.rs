//! Tests of the MSR reader and writer: literal lines, a table of malformed input, a slow reader as oracle, and what is
//! written read back.

use harmonia_types::Operation::{Flush, Read, Trim, Write};
use proptest::prelude::*;

use super::super::testing::{assert_refused, detected, read, read_with, volumes_of, write};
use super::*;
use crate::{Trace, TraceOptions};

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

fn parse(line: &[u8]) -> Result<Row, String> {
    Msr::new(super::super::plain(&FORMAT)).row(line)
}

#[test]
fn reads_ticks_bytes_and_either_case_and_line_end() {
    let text = b"128166465299039421,web,3,Read,32256,8192,112509\r\n\
                 128166465299039421,web,0,WRITE,1,1,0\n\
                 128166465299119535,h,65535,wRite,18446744072635809791,1073741824,7";
    let expected = [
        record(0, Read, 32256, 8192, 0),
        record(0, Write, 1, 1, 1),
        record(8_011_400, Write, 18446744072635809791, 1 << 30, 2),
    ];
    assert_eq!(read(text, "msr").unwrap(), expected);
}

#[test]
fn a_volume_is_a_disk_of_a_host() {
    let text = b"1,web,3,Read,0,1,0\n2,prxy,3,Read,0,1,0\n3,web,0,Read,0,1,0\n4,web,3,Read,0,1,0\n";
    let trace = Trace::from_bytes("t", text.to_vec(), &TraceOptions::of_format("msr")).unwrap();
    let mut reader = trace.records().unwrap();
    let mut volumes = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        volumes.push(record.volume);
    }
    assert_eq!(volumes, [0, 1, 2, 0]);
    assert_eq!(reader.volumes().names(), ["web_3", "prxy_3", "web_0"]);
}

#[test]
fn a_header_is_passed_on_the_first_line_only_and_counted() {
    let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n";
    let row = "10,h,0,Read,0,512,1\n";
    let text = format!("{header}{row}");
    assert_eq!(detected(text.as_bytes()), Ok("msr"));
    assert_eq!(read(text.as_bytes(), "msr").unwrap(), [record(0, Read, 0, 512, 0)]);
    assert_refused(
        "msr",
        &[
            (format!("{header}{row}x").as_bytes(), "t:3: found `x`"),
            (format!("{row}{header}").as_bytes(), "t:2: found `Timestamp`"),
        ],
    );
}

#[test]
fn an_index_before_the_first_column_is_passed_over() {
    let header = ",Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    let rows = "0,10,h,0,Read,0,512,1\n1,20,h,0,Write,512,512,1\n";
    let expected = [record(0, Read, 0, 512, 0), record(1000, Write, 512, 512, 0)];
    for text in [rows.to_owned(), format!("{header}{rows}"), format!("Index{header}{rows}")] {
        assert_eq!(detected(text.as_bytes()), Ok("msr"));
        assert_eq!(read(text.as_bytes(), "msr").unwrap(), expected);
    }
    let mixed = format!("{rows}30,h,0,Read,0,512,1\n");
    assert_refused(
        "msr",
        &[(mixed.as_bytes(), "t:3: found `h` in field 1 (Timestamp), expected 100 ns ticks")],
    );
}

/// (content, what the error must say): each names file and line, what was found and what is expected.
#[test]
fn malformed_input_is_refused_with_its_place() {
    assert_refused(
        "msr",
        &[
            (b"", "t: is empty"),
            (b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n", "t: has no request in it"),
            (b"\nx", "t:1: found `` in field 1 (Timestamp), expected 100 ns ticks"),
            (b"1,h,0,Read,0,512,1\n\nx", "t:2: found ``"),
            (
                b"1,h,0,Read,0,512,1\n0,h,0,Read,0,512,1\n",
                "t:2: found a time 0.0000001 s before that of the row before",
            ),
            (
                b"1,h,0,Read,0,512\n",
                "t:1: found the end of the line `1,h,0,Read,0,512`, expected field 7 (Resp",
            ),
            (b"1,h,0,Read,0,512,1,9\n", "t:1: found `9` behind the last field, expected 7 fields"),
            (b"1,h,0,Read,0,512,1,\n", "t:1: found `` behind the last field, expected 7 fields"),
            (b"1,h,0,Reed,0,512,1\n", "t:1: found `Reed` in field 4 (Type), expected Read or Write"),
            (
                b"1,h,0,Read,0,0,1\n",
                "t:1: found `0` in field 6 (Size), expected bytes, a whole number below 2^64, at least 1",
            ),
            (
                b"1,h,0,Read,0,1073741825,1\n",
                "t:1: found a request of 1073741825 x 1 bytes, expected at most 1 GiB",
            ),
            (b"1,h,0,Read,-5,512,1\n", "t:1: found `-5` in field 5 (Offset)"),
            (b"1,h,0,Read,18446744073709551615,1,1\n", "expected an end below 2^64 bytes"),
            (b"18446744073709551616,h,0,Read,0,1,1\n", "t:1: found `18446744073709551616` in field 1"),
            (
                b"0,h,0,Read,0,1,1\n184467440737095517,h,0,Read,0,1,1\n",
                "t:2: found `184467440737095517` in field 1",
            ),
            (b"1,,0,Read,0,512,1\n", "t:1: found `` in field 2 (Hostname)"),
            (b"1,h\0,0,Read,0,512,1\n", r"t:1: found `h\x00` in field 2 (Hostname)"),
            (b"1,h,0,Read,0,51\x002,1\n", r"t:1: found `51\x002` in field 6 (Size)"),
            (
                b"1,h,0,Read,0,512,1\n2,h,0,Re",
                "t:2: found `Re` in field 4 (Type), expected Read or Write (the last",
            ),
            (b"1,h,0,Read,0,512,1\n2,h,0,Read,0,512,", "truncated"),
            (b"1,h,0,Read,0,512,1\n2,h,0,Read,0,512", "truncated"),
        ],
    );
}

#[test]
fn asked_again_the_reader_gives_the_same_error() {
    let text = b"5,h,0,Read,0,512,1\n4,h,0,Read,0,512,1\n6,h,0,Read,0,512,1\n".to_vec();
    let mut reader =
        Trace::from_bytes("t", text, &TraceOptions::of_format("msr")).unwrap().records().unwrap();
    assert!(reader.next_record().is_ok());
    let first = reader.next_record();
    assert!(first.is_err());
    assert_eq!(reader.next_record(), first);
}

/// The rules of the format once more, slowly: the oracle.
fn oracle(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split(',').collect();
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
    let [ticks, host, disk, kind, offset, length, response] = fields[..] else { return None };
    number(response)?;
    let operation = match kind.to_ascii_lowercase().as_str() {
        "read" => Read,
        "write" => Write,
        _ => return None,
    };
    let row = Row {
        volume: number(disk).map(|_| 0)?,
        ..Row::new(number(ticks)?.checked_mul(100)?, operation, number(offset)?, number(length)?)
    };
    let sizes = row.length > 0 && row.length <= 1 << 30 && row.offset.checked_add(row.length).is_some();
    (sizes && !host.is_empty() && !host.contains(|c: char| c < ' ')).then_some(row)
}

/// Numbers around every limit, some that are none, and anything.
fn number_like() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => any::<u64>().prop_map(|n| n.to_string()),
        8 => (0u64..1 << 31).prop_map(|n| n.to_string()),
        4 => (0u64..100_000).prop_map(|n| n.to_string()),
        1 => prop::sample::select(vec!["", "0", "18446744073709551615", "18446744073709551616", "1073741824",
            "1073741825", "65535", "65536", "00000000000000000000001", "-1", "+1", "1.5", "0x1", " 1", "1\0"])
            .prop_map(str::to_owned),
    ]
}

fn line_like() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec!["Read", "Write", "READ", "wRITE", "Reads", "R", ""]);
    let whole =
        (number_like(), "[ -~]{0,5}", 0u32..70_000, kind, number_like(), number_like(), number_like());
    prop_oneof![
        6 => whole.prop_map(|(t, h, d, k, o, s, r)| format!("{t},{h},{d},{k},{o},{s},{r}")),
        1 => "[0-9]{1,3},h,[0-9],(Read|Write),[0-9]{1,6},[0-9]{1,6},[0-9]{0,2}(,[0-9]{0,2})?",
        1 => "[0-9,Readw\\x00-\\x7f]{0,40}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn a_line_is_read_as_the_oracle_reads_it(line in line_like()) {
        prop_assert_eq!(parse(line.as_bytes()).ok(), oracle(&line));
    }
}

proptest! {
    /// Whole files: the records are the oracle's rows up to the first line that is wrong or goes back in time.
    #[test]
    fn a_file_is_read_as_the_oracle_reads_it(
        rows in prop::collection::vec((0u64..1000, 0u64..5000, any::<bool>()), 1..60),
        crlf in any::<bool>(),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let lines: Vec<String> =
            rows.iter().map(|(t, o, w)| format!("{t},h,1,{},{o},512,0", if *w { "Write" } else { "Read" })).collect();
        let text = lines.iter().map(|line| format!("{line}{end}")).collect::<String>();
        let expected: Vec<Row> = lines.iter().map(|line| oracle(line).unwrap()).collect();
        let wrong = expected.windows(2).position(|pair| pair[1].time_ns < pair[0].time_ns);
        match (read(text.as_bytes(), "msr"), wrong) {
            (Ok(records), None) => {
                prop_assert_eq!(records.len(), expected.len());
                for (record, row) in records.iter().zip(&expected) {
                    prop_assert_eq!(record.time_ns, row.time_ns - expected[0].time_ns);
                    prop_assert_eq!((record.operation, record.offset), (row.operation, row.offset));
                }
            }
            (Err(error), Some(index)) => {
                prop_assert!(error.starts_with(&format!("t:{}: found a time", index + 2)), "{}", error);
            }
            (read, wrong) => prop_assert!(false, "{read:?} {wrong:?}"),
        }
    }
}

#[test]
fn writes_ticks_and_bytes_and_says_what_it_changed_or_left_out() {
    let records = [
        record(0, Read, 0, 1, 0),
        record(199, Write, 4096, 512, 0),
        record(200, Trim, 0, 4096, 0),
        record(200, Flush, 0, 0, 0),
        record(200, Read, 512, 0, 0),
        record(200, Read, u64::MAX - (1 << 30), 1 << 30, 0),
        record(u64::MAX, Read, 0, 1, 0),
    ];
    let (text, written) = write(&FORMAT, &records, &volumes_of(&["web_3"]));
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "128166372000000000,web,3,Read,0,1,0\n\
         128166372000000001,web,3,Write,4096,512,0\n\
         128166372000000002,web,3,Read,18446744072635809791,1073741824,0\n"
    );
    assert_eq!(written, [Written::Exact, ROUNDED, TRIM, FLUSH, EMPTY, Written::Exact, TOO_LATE]);
}

#[test]
fn a_volume_is_written_as_a_disk_of_its_own() {
    let cases = [
        ("web_3", "web,3"),
        ("src1_0", "src1,0"),
        ("a:prxy_10", "a:prxy,10"),
        ("7", "7,0"),
        ("8,16", "8-16,0"),
        ("sda", "sda,0"),
        // Taken by the one before, so the next free disk.
        ("sda_0", "sda,1"),
        ("sda_1", "sda,2"),
        // Not as this format writes a disk's number.
        ("web_03", "web_03,0"),
        ("web_-3", "web_-3,0"),
        ("web_18446744073709551616", "web_18446744073709551616,0"),
        ("web_18446744073709551615", "web,18446744073709551615"),
        ("_3", "_3,0"),
        ("Ü b\\n", "--b-n,0"),
        ("", "volume,0"),
    ];
    let names = cases.map(|(name, _)| name);
    // The last volume first: all before it must be named, too.
    let records: Vec<TraceRecord> =
        (0..names.len() as u16).rev().map(|volume| record(0, Read, 0, 1, volume)).collect();
    let (text, _) = write(&FORMAT, &records, &volumes_of(&names));
    let lines: Vec<String> = String::from_utf8(text).unwrap().lines().rev().map(str::to_owned).collect();
    for ((name, disk), line) in cases.iter().zip(&lines) {
        assert_eq!(line, &format!("128166372000000000,{disk},Read,0,1,0"), "{name}");
    }
    assert_eq!(lines.len(), cases.len());
}

/// A byte that is no text is not the sign that stands for such bytes.
#[test]
fn hosts_that_look_alike_are_volumes_of_their_own() {
    let text = b"1,\xff,0,Read,0,512,1\n2,\xef\xbf\xbd,0,Read,0,512,1\n3,\xff,0,Read,0,512,1\n";
    let (records, reader) = read_with(text, &TraceOptions::of_format("msr")).unwrap();
    assert_eq!(records.iter().map(|record| record.volume).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(reader.volumes().names(), ["\\xff_0", "\\xef\\xbf\\xbd_0"]);
}

fn records_like() -> impl Strategy<Value = Vec<TraceRecord>> {
    let operation = prop::sample::select(vec![Read, Write, Read, Write, Read, Write, Trim, Flush]);
    let gap =
        prop_oneof![2 => (0u64..1 << 30).prop_map(|ticks| ticks * 100), 1 => 0u64..1000, 1 => 0u64..1 << 60];
    let row = (gap, operation, any::<u64>(), prop_oneof![0u64..3, 0u64..=1 << 30], 0u16..4);
    prop::collection::vec(row, 1..40).prop_map(|rows| {
        let mut time_ns = 0u64;
        let timed = rows.into_iter().map(|(gap, operation, offset, length, volume)| {
            time_ns = time_ns.saturating_add(gap);
            record(time_ns, operation, offset.min(u64::MAX - length), length, volume)
        });
        timed.collect()
    })
}

proptest! {
    /// What is written is read back as it was, or with its arrival rounded; nothing else is left out.
    #[test]
    fn what_is_written_is_read_back(records in records_like()) {
        let names = volumes_of(&["web_3", "web", "web_0", "8,16"]);
        let disks = ["web_3", "web_0", "web_1", "8-16_0"];
        let (text, written) = write(&FORMAT, &records, &names);
        let kept: Vec<_> = records.iter().zip(&written).filter(|(_, fate)| !matches!(fate, Written::Dropped(_))).collect();
        let Some(&(first, _)) = kept.first() else {
            prop_assert!(text.is_empty());
            return Ok(());
        };
        let (read, reader) = read_with(&text, &TraceOptions::of_format("msr")).unwrap();
        prop_assert_eq!(read.len(), kept.len());
        for (read, (record, fate)) in read.iter().zip(&kept) {
            prop_assert_eq!(&reader.volumes().names()[usize::from(read.volume)], disks[usize::from(record.volume)]);
            let time_ns = record.time_ns / 100 * 100 - first.time_ns / 100 * 100;
            prop_assert_eq!(*read, TraceRecord { time_ns, volume: read.volume, ..**record });
            prop_assert_eq!(**fate == Written::Exact, record.time_ns % 100 == 0);
        }
    }
}
