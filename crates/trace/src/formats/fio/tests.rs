//! Tests of the fio reader and writer: literal logs, a table of malformed input, a slow reader as oracle, and what is
//! written read back.

use harmonia_types::Operation::{Flush, Read, Trim, Write};
use proptest::prelude::*;

use super::super::super::read::Place;
use super::super::testing::{assert_refused, detected, read, read_with, volumes_of, write};
use super::*;
use crate::{Trace, TraceOptions, TraceRecord, UnitOptions, Written};

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

fn options() -> TraceOptions {
    TraceOptions::of_format("fio")
}

fn of_unit(time_ns: u64) -> TraceOptions {
    TraceOptions { units: UnitOptions { time_ns: Some(time_ns), ..UnitOptions::default() }, ..options() }
}

fn times(text: &str, options: &TraceOptions) -> Vec<u64> {
    read_with(text.as_bytes(), options).unwrap().0.iter().map(|record| record.time_ns).collect()
}

#[test]
fn version_3_has_us_before_every_line() {
    let text = b"fio version 3 iolog\n\
                 23 /dev/sda add\n\
                 136 /dev/sda open\n\
                 142 /dev/sda read 0 4096\n\
                 142 /dev/sda write 18446744072635809791 1073741824\r\n\
                 500\tb \t add\n\
                 500 b trim 512 1\n\
                 530 /dev/sda sync 45056 4096\n\
                 531 b datasync\n\
                 532 b sync_file_range 0 4096\n\
                 533 b wait 7 0\n\
                 534 /dev/sda close";
    let expected = [
        record(0, Read, 0, 4096, 0),
        record(0, Write, 18_446_744_072_635_809_791, 1 << 30, 0),
        record(358_000, Trim, 512, 1, 1),
        record(388_000, Flush, 0, 0, 0),
        record(389_000, Flush, 0, 0, 1),
    ];
    let (records, reader) = read_with(text, &options()).unwrap();
    assert_eq!(records, expected);
    assert_eq!(reader.volumes().names(), ["/dev/sda", "b"]);
    let skipped: Vec<_> = reader.log().skipped.iter().map(|noted| (&*noted.reason, noted.rows)).collect();
    assert_eq!(skipped, [(NOT_REPLAYED, 1), (WAIT_IN_3, 1)]);
}

#[test]
fn version_2_has_no_time_but_what_it_waits_for() {
    let text = "fio version 2 iolog\nf add\nf open\nf read 0 1\nf wait 1500 0\nf write 1 1\nf sync 0 0\nf wait 4000\n\
                f read 2 1\nf close\n";
    // ms from the start of the run, not from the wait before.
    assert_eq!(times(text, &options()), [0, 1_500_000_000, 1_500_000_000, 4_000_000_000]);
    assert_eq!(times(text, &of_unit(1_000)), [0, 1_500_000, 1_500_000, 4_000_000]);
    assert_eq!(times("fio version 2 iolog\nf read 0 1\nf write 1 1\n", &options()), [0, 0]);
}

#[test]
fn a_wait_for_a_time_that_has_passed_does_nothing_and_is_counted() {
    let text = b"fio version 2 iolog\nf read 0 1\nf wait 9 0\nf wait 9 0\nf wait 3 0\nf read 0 1\n";
    let (records, reader) = read_with(text, &options()).unwrap();
    assert_eq!(records[1].time_ns, 9_000_000);
    let [noted] = &reader.log().skipped[..] else { panic!("{:?}", reader.log()) };
    assert_eq!((&*noted.reason, noted.rows), (WAIT_PASSED, 2));
}

#[test]
fn units_of_version_3_can_be_chosen() {
    let text = "fio version 3 iolog\n5 f read 0 1\n9 f read 0 1\n";
    assert_eq!(times(text, &options()), [0, 4_000]);
    assert_eq!(times(text, &of_unit(1)), [0, 4]);
}

#[test]
fn names_of_files_are_printable() {
    let names = |file: &[u8]| {
        let text = [b"fio version 2 iolog\n", file, b" read 0 1\n"].concat();
        read_with(&text, &options()).unwrap().1.volumes().names().to_vec()
    };
    assert_eq!(names(br"\\.\PhysicalDrive1"), [r"\\.\PhysicalDrive1"]);
    assert_eq!(names("/daten/größe".as_bytes()), ["/daten/größe"]);
    assert_eq!(names(b"a\x1bb\xff"), [r"a\x1bb\xff"]);
}

#[test]
fn the_first_line_decides() {
    let log = |first: &str| detected(format!("{first}\nf add\nf open\n").as_bytes());
    assert_eq!(log("fio version 2 iolog"), Ok("fio"));
    assert_eq!(log("fio version 3 iolog  \r"), Ok("fio"));
    assert!(log("fio version 1 iolog").unwrap_err().contains("none of the known"));
    let trace = Trace::from_bytes("t", b"fio version 2 iolog\n".to_vec(), &TraceOptions::default()).unwrap();
    let decision = trace.decision().unwrap();
    assert!(decision.contains("because its first line is `fio version 2 iolog` ("), "{decision}");
}

/// (content, what the error must say): each names file and line, what was found and what is expected.
#[test]
fn malformed_input_is_refused_with_its_place() {
    let first_line =
        "t:1: found `f read 0 1`, expected the first line `fio version 2 iolog` or `fio version 3 iolog`";
    assert_refused(
        "fio",
        &[
            (b"", "t: is empty"),
            (b"f read 0 1\n", first_line),
            (b"fio version 4 iolog\n", "t:1: found `fio version 4 iolog`, expected the first line"),
            (b"fio version 3 iolo", "t:1: found `fio version 3 iolo`, expected the first line"),
            (b"fio version 3 iolog\n", "t: has no request in it"),
            (b"fio version 2 iolog\nf add\nf open\nf wait 5 0\nf close\n", "t: has no request in it"),
            (
                b"fio version 3 iolog\n1 f read 0 1\nfio version 3 iolog\n1 f read 0 1\n",
                "t:3: found `fio version 3 iolog` again, expected one log a file",
            ),
            (b"fio version 3 iolog\n\nx", "t:2: found the end of the line ``, expected field 1 (timestamp)"),
            (b"fio version 2 iolog\n\nx", "t:2: found the end of the line ``, expected field 1 (file)"),
            (b"fio version 3 iolog\nf read 0 1\n", "t:2: found `f` in field 1 (timestamp), expected a whole"),
            (
                b"fio version 2 iolog\n5 f read 0 1\n",
                "t:2: found `f` in field 2 (action), expected add, open, close, read, write, trim, sync, datasync or wait",
            ),
            (
                b"fio version 3 iolog\n5 f Read 0 1\n",
                "t:2: found `Read` in field 3 (action), expected add, open",
            ),
            (
                b"fio version 3 iolog\n5 f\n",
                "t:2: found the end of the line `5 f`, expected field 3 (action)",
            ),
            (
                b"fio version 3 iolog\n5 f read\n",
                "expected field 4 (offset): bytes, a whole number below 2^64",
            ),
            (
                b"fio version 2 iolog\nf read 0\n",
                "expected field 4 (length): bytes, a whole number below 2^64",
            ),
            (
                b"fio version 2 iolog\nf read 0 1 2\n",
                "t:2: found `2` behind the last field, expected 4 fields",
            ),
            (
                b"fio version 3 iolog\n1 f read 0 1 2\n",
                "t:2: found `2` behind the last field, expected 5 fields",
            ),
            (
                b"fio version 3 iolog\n1 f add 0 1\n",
                "t:2: found `0 1` behind the last field, expected 3 fields",
            ),
            (b"fio version 3 iolog\n1 f sync 0\n", "expected field 5 (length)"),
            (b"fio version 3 iolog\n1 f sync a 0\n", "t:2: found `a` in field 4 (offset)"),
            (
                b"fio version 3 iolog\n1 f read 0 0\n",
                "t:2: found `0` in field 5 (length), expected bytes, a whole number below 2^64, at least 1",
            ),
            (b"fio version 3 iolog\n1 f read -1 9\n", "t:2: found `-1` in field 4 (offset)"),
            (b"fio version 3 iolog\n1 f read 0 1073741825\n", "t:2: found a request of 1073741825 x 1 bytes"),
            (b"fio version 3 iolog\n1 f read 18446744073709551615 1\n", "expected an end below 2^64 bytes"),
            (b"fio version 3 iolog\n1.5 f read 0 1\n", "t:2: found `1.5` in field 1 (timestamp)"),
            (
                b"fio version 3 iolog\n18446744073709552 f read 0 1\n",
                "in field 1 (timestamp), expected a whole number below 2^64, and below 2^64 ns",
            ),
            (
                b"fio version 2 iolog\nf wait 18446744073710 0\n",
                "t:2: found `18446744073710` in field 3 (time to wait for)",
            ),
            (
                b"fio version 2 iolog\nf wait\n",
                "expected field 3 (time to wait for): a whole number below 2^64",
            ),
            (
                b"fio version 3 iolog\n5 f read 0 1\n4 f read 0 1\n",
                "t:3: found a time 0.000001 s before that of the row before",
            ),
            (b"fio version 3 iolog\n5 f read 0 1\n5 f re", "truncated"),
        ],
    );
}

/// Time, operation, offset, length, file.
type Plain = (u64, Operation, u64, u64, String);

/// The rows of a log by splitting it; nothing if a line is wrong.
fn oracle(text: &str) -> Option<Vec<Plain>> {
    let mut lines = text.lines();
    let version = match lines.next()? {
        "fio version 2 iolog" => 2,
        "fio version 3 iolog" => 3,
        _ => return None,
    };
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
    let (mut rows, mut now) = (Vec::new(), 0);
    for line in lines {
        let mut words: Vec<&str> = line.split_ascii_whitespace().collect();
        let time =
            if version == 3 && !words.is_empty() { number(words.remove(0))?.checked_mul(1000)? } else { now };
        let file = words.first()?.to_string();
        let operation = match words.get(1..)? {
            ["add" | "open" | "close"] => continue,
            ["wait", ms, ..] if version == 2 => {
                now = now.max(number(ms)?.checked_mul(1_000_000)?);
                continue;
            }
            ["wait", ..] if version == 3 => continue,
            ["sync" | "datasync"] => Flush,
            ["sync" | "datasync", offset, length] if number(offset).and(number(length)).is_some() => Flush,
            ["read", _, _] => Read,
            ["write", _, _] => Write,
            ["trim", _, _] => Trim,
            _ => return None,
        };
        let (offset, length) =
            if operation == Flush { (0, 0) } else { (number(words[2])?, number(words[3])?) };
        let whole = operation == Flush || (length > 0 && length <= 1 << 30);
        rows.push((time, operation, offset, length, file));
        if !whole || offset.checked_add(length).is_none() || !rows.is_sorted_by_key(|row| row.0) {
            return None;
        }
    }
    (!rows.is_empty()).then_some(rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_log_is_read_as_a_slow_reader_does(
        version in prop_oneof![9 => 2..4, 1 => 1..5],
        lines in prop::collection::vec((
            0u64..50, "[a-c]",
            prop::sample::select(vec!["read", "write", "trim", "sync", "datasync", "wait", "add", "open", "close"]),
            0u64..1 << 40, 1u64..1 << 20, 0..200,
        ), 1..20),
        sorted in any::<bool>(),
    ) {
        let mut lines = lines;
        if sorted {
            lines.sort_by_key(|line| line.0);
        }
        let mut text = format!("fio version {version} iolog\n");
        for (time, file, action, offset, length, fault) in lines {
            let mut words = vec![file, action.to_owned()];
            if version == 3 {
                words.insert(0, time.to_string());
            }
            match action {
                "add" | "open" | "close" => {}
                "wait" => words.extend([time.to_string(), "0".to_owned()]),
                _ => words.extend([offset.to_string(), length.to_string()]),
            }
            let last = words.len() - 1;
            match fault {
                0 => _ = words.pop(),
                1 => words[last] = "x".to_owned(),
                2 => words.push("7".to_owned()),
                3 => words[last] = "0".to_owned(),
                4 => words[last] = u64::MAX.to_string(),
                _ => {}
            }
            text += &(words.join(" ") + "\n");
        }
        let rows = read_with(text.as_bytes(), &options()).ok().map(|(records, reader)| {
            let name = |volume: u16| reader.volumes().names()[usize::from(volume)].clone();
            let row = |r: &TraceRecord| (r.time_ns, r.operation, r.offset, r.length, name(r.volume));
            records.iter().map(row).collect::<Vec<_>>()
        });
        let expected = oracle(&text).map(|mut rows| {
            let first = rows[0].0;
            rows.iter_mut().for_each(|row| row.0 -= first);
            rows
        });
        prop_assert_eq!(rows, expected, "{}", text);
    }
}

/// What is written for these records, and what became of each.
fn written(records: &[TraceRecord], names: &[&str]) -> (String, Vec<Written>) {
    let (bytes, fates) = write(&FORMAT, records, &volumes_of(names));
    (String::from_utf8(bytes).unwrap(), fates)
}

#[test]
fn a_log_is_written_as_fio_replays_it() {
    let records = [
        record(0, Read, 0, 4096, 1),
        record(1_000, Write, 512, 1, 0),
        record(2_999, Flush, 0, 0, 1),
        record(3_000, Read, 5, 0, 0),
        record(4_000, Trim, 8, 8, 1),
    ];
    let (text, fates) = written(&records, &["web 0", "7"]);
    let expected = "fio version 3 iolog\n\
                    1 volume_7 add\n1 volume_7 open\n1 volume_7 read 0 4096\n\
                    2 web_0 add\n2 web_0 open\n2 web_0 write 512 1\n\
                    3 volume_7 sync 0 0\n\
                    5 volume_7 trim 8 8\n\
                    5 web_0 close\n5 volume_7 close\n";
    assert_eq!(text, expected);
    let changed = Written::Changed("times are cut to whole us");
    let dropped = Written::Dropped("fio has no empty requests");
    assert_eq!(fates, [Written::Exact, Written::Exact, changed, dropped, Written::Exact]);
}

#[test]
fn volumes_with_names_that_become_equal_stay_apart() {
    let names = ["a b", "a_b", "a\tb", "a_b_2", "", &"x".repeat(300), &"x".repeat(301)];
    let records: Vec<TraceRecord> = (0..7).map(|volume| record(0, Read, 0, 1, volume)).collect();
    let (text, _) = written(&records, &names);
    let (read, reader) = read_with(text.as_bytes(), &options()).unwrap();
    assert_eq!(read, records);
    let long = "x".repeat(200);
    let expected = ["a_b", "a_b_2", "a_b_3", "a_b_2_2", "volume_", &long, &format!("{long}_2")];
    assert_eq!(reader.volumes().names(), expected);
}

#[test]
fn errors_of_what_is_written_name_a_line() {
    let (text, _) = written(&[record(0, Read, 0, 1, 0)], &["f"]);
    let trace = Trace::from_bytes("t", (text + "x").into_bytes(), &options()).unwrap();
    let mut reader = trace.records().unwrap();
    assert!(reader.next_record().unwrap().is_some());
    assert_eq!(reader.next_record().unwrap_err().place, Place::Line(6));
}

fn any_record() -> impl Strategy<Value = TraceRecord> {
    let operation = prop::sample::select(vec![Read, Write, Trim, Flush]);
    let offset = prop_oneof![0u64..1 << 40, Just(u64::MAX - (1 << 30))];
    let length = prop_oneof![9 => 1u64..1 << 30, 1 => Just(0), 1 => Just(1 << 30)];
    (0u64..1 << 60, any::<bool>(), operation, offset, length, 0u16..4, any::<bool>()).prop_map(
        |(time_ns, whole, operation, offset, length, volume, plain)| {
            let time_ns = if whole { time_ns / 1000 * 1000 } else { time_ns };
            let (offset, length) = if operation == Flush && plain { (0, 0) } else { (offset, length) };
            TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
        },
    )
}

proptest! {
    /// Exact records come back as they were, changed ones with the change, dropped ones not at all.
    #[test]
    fn what_is_written_reads_back(records in prop::collection::vec(any_record(), 0..40)) {
        let mut records = records;
        records.sort_by_key(|record| record.time_ns);
        // Times are read back from the first record's on, which is that at 0 of every trace.
        records.insert(0, record(0, Read, 0, 1, 3));
        let names = ["sda", "12", "/dev/with blank", "disk_0"];
        let (text, fates) = written(&records, &names);
        let (back, reader) = read_with(text.as_bytes(), &options()).map_err(TestCaseError::fail)?;
        let kept = || records.iter().zip(&fates).filter(|(_, fate)| !matches!(fate, Written::Dropped(_)));
        prop_assert_eq!(back.len(), kept().count());
        for (read, (record, fate)) in back.iter().zip(kept()) {
            let file = ["sda", "volume_12", "/dev/with_blank", "disk_0"][usize::from(record.volume)];
            prop_assert_eq!(reader.volumes().names()[usize::from(read.volume)].as_str(), file);
            let read = TraceRecord { volume: record.volume, ..*read };
            let flush = record.operation == Flush;
            let (offset, length) = if flush { (0, 0) } else { (record.offset, record.length) };
            let changed = TraceRecord { time_ns: record.time_ns / 1000 * 1000, offset, length, ..*record };
            prop_assert_eq!(read, changed);
            prop_assert_eq!(*fate == Written::Exact, changed == *record);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(version in 2..4, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = [format!("fio version {version} iolog\n").as_bytes(), &bytes].concat();
        let _ = read(&text, "fio");
    }
}
