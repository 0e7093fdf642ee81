//! Tests of the CloudPhysics readers: literal rows and records, tables of malformed input, slow readers as oracles, and
//! the three kinds of file held against each other.

use harmonia_types::Operation::{Flush, Read, Write};
use proptest::prelude::*;

use super::super::testing::{assert_refused, detected, read, read_with};
use super::*;
use crate::{TraceOptions, TraceRecord, UnitOptions};

const HEADER_LINE: &str = "version,time,op,size,lbn\n";

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64) -> TraceRecord {
    TraceRecord::new(time_ns, operation, offset, length)
}

fn options() -> TraceOptions {
    TraceOptions::of_format("cloudphysics")
}

/// What a record of vscsi says: version 1 or 2, operation code, size, lbn, time.
type Said = (u16, u16, u32, u64, u64);

/// A vscsi record, field by field.
fn vscsi(&(version, op, size, lbn, time): &Said) -> Vec<u8> {
    let (sn, segments, rt) = (0x8000_00f4u32, 3u32, 777u64);
    let mut bytes = Vec::new();
    if version == 1 {
        bytes.extend([sn, size, segments].map(u32::to_le_bytes).concat());
        bytes.extend([op, version << 8].map(u16::to_le_bytes).concat());
        bytes.extend([lbn, time].map(u64::to_le_bytes).concat());
    } else {
        bytes.extend([op, version << 8 | 7].map(u16::to_le_bytes).concat());
        bytes.extend([sn, size, segments].map(u32::to_le_bytes).concat());
        bytes.extend([lbn, time, rt].map(u64::to_le_bytes).concat());
    }
    bytes
}

fn file(records: &[Said]) -> Vec<u8> {
    records.iter().flat_map(vscsi).collect()
}

#[test]
fn csv_has_seconds_scsi_codes_bytes_and_sectors() {
    let text = b"version,time,op,size,lbn\r\n\
                 1,1000000,2a,512,2097152\n\
                 1,1000000,28,0,2097153\n\
                 2,1000002,0A,1073741824,0\n\
                 2,1000002,42,24,0\n\
                 2,1000002,8,4096,8\n\
                 1,1000002,35,0,99\n\
                 1,1000002,0,0,0\n\
                 1,1000003,93,512,16";
    let expected = [
        record(0, Write, 2_097_152 * 512, 512),
        record(500_000_000, Read, 2_097_153 * 512, 0),
        record(2_000_000_000, Write, 0, 1 << 30),
        record(2_333_333_333, Read, 4096, 4096),
        record(2_666_666_666, Flush, 0, 0),
    ];
    let (records, reader) = read_with(text, &options()).unwrap();
    assert_eq!(records, expected);
    assert_eq!(reader.volumes().names(), ["disk"]);
    let skipped: Vec<_> =
        reader.log().skipped.iter().map(|noted| (&noted.reason[..11], noted.rows)).collect();
    assert_eq!(skipped, [("SCSI UNMAP:", 1), ("SCSI comman", 1), ("SCSI WRITE ", 1)]);
}

#[test]
fn records_of_vscsi_2_say_how_long_they_took() {
    for (version, expected) in [(1, 0), (2, 777_000)] {
        let (_, reader) = read_with(&file(&[(version, 0x28, 512, 8, 5); 3]), &options()).unwrap();
        assert_eq!(reader.response_ns(), expected, "vscsi {version}");
    }
}

#[test]
fn the_header_names_the_columns() {
    let expected = [record(0, Read, 4096, 512)];
    for text in ["lbn,size,op,time\n8,512,28,5\n", "Op,Version,LBN,Time,Size\n28,1,8,5,512\n"] {
        assert_eq!(detected(text.as_bytes()), Ok("cloudphysics"));
        assert_eq!(read(text.as_bytes(), "cloudphysics").unwrap(), expected, "{text}");
    }
}

#[test]
fn every_code_of_sbc_that_transfers_or_flushes_is_known() {
    let operation = |code: u8| {
        let command = Command { code, time_ns: 0, lbn: 1, size: 512 };
        match command.parsed(&super::super::plain(&FORMAT)).unwrap() {
            Parsed::Row(row) => Some(row.operation),
            _ => None,
        }
    };
    let of = |wanted| (0..=255).filter(|&code| operation(code) == Some(wanted)).collect::<Vec<u8>>();
    assert_eq!(of(Read), [0x08, 0x28, 0x88, 0xa8]);
    assert_eq!(of(Write), [0x0a, 0x2a, 0x2e, 0x8a, 0x8e, 0xaa, 0xae]);
    assert_eq!(of(Flush), [0x35, 0x91]);
}

#[test]
fn vscsi_has_us_and_is_not_spread() {
    for version in [1, 2] {
        let rows = [
            (version, 0x2a, 512, 2_097_152, 5_633_898_337_058),
            (version, 0x12, 36, 0, 5_633_898_337_059),
            (version, 0x28, 1 << 30, 0, 5_633_898_337_060),
            (version, 0x88, 0, 7, 5_633_898_337_060),
            (version, 0x91, 8, 7, 5_633_898_337_061),
        ];
        let bytes = file(&rows);
        assert_eq!(detected(&bytes), Ok("cloudphysics"));
        let (records, reader) = read_with(&bytes, &options()).unwrap();
        let expected = [
            record(0, Write, 2_097_152 * 512, 512),
            record(2_000, Read, 0, 1 << 30),
            record(2_000, Read, 3584, 0),
            record(3_000, Flush, 0, 0),
        ];
        assert_eq!(records, expected, "vscsi {version}");
        assert_eq!(reader.log().skipped.len(), 1);
        assert_eq!(reader.log().repaired, []);
    }
}

/// A clock that a person knows better than the format: chosen, it is the tick to spread over as well.
#[test]
fn units_and_spreading_can_be_chosen_for_either() {
    let units = UnitOptions { time_ns: Some(10), address: Some(1), size: Some(2), read_is: None };
    let csv = format!("{HEADER_LINE}1,5,28,8,3\n1,5,28,8,3\n").into_bytes();
    let vscsi = file(&[(1, 0x28, 8, 3, 5), (1, 0x28, 8, 3, 5)]);
    for (bytes, spread, second_ns) in
        [(&csv, None, 5), (&csv, Some(false), 0), (&vscsi, None, 0), (&vscsi, Some(true), 5)]
    {
        let options = TraceOptions { units, spread, ..options() };
        let records = read_with(bytes, &options).unwrap().0;
        assert_eq!(records, [record(0, Read, 3, 16), record(second_ns, Read, 3, 16)]);
    }
}

/// (content, what the error must say): each names file and line, what was found and what is expected.
#[test]
fn malformed_csv_is_refused_with_its_place() {
    let no_header = "expected a header that names the columns, such as `version,time,op,size,lbn`";
    let row = |row: &str| format!("{HEADER_LINE}1,5,28,8,3\n{row}").into_bytes();
    assert_refused(
        "cloudphysics",
        &[
            (b"", "t: is empty"),
            (b"1,5,28,8,3\n", &format!("t:1: found `1` in field 1 of the first line, {no_header}")),
            (b"time,op,size,lbn,time\n", "t:1: found `time` in field 5 of the first line"),
            (b"time,op,size,lbn,host\n", "t:1: found `host` in field 5 of the first line"),
            (
                b"version,time,op,size\n",
                "t:1: found no column `lbn` in `version,time,op,size`, expected a header",
            ),
            (b"\nx", "t:1: found `` in field 1 of the first line"),
            (b"\0\0\0\0\n", r"t:1: found `\x00\x00\x00\x00` in field 1 of the first line"),
            (HEADER_LINE.as_bytes(), "t: has no request in it"),
            (b"time,op,size,lbn\n5,42,8,3\n", "t: has no request in it"),
            (&row("\nx"), "t:3: found `` in field 1 (version)"),
            (
                &row("1,5,28,8\n"),
                "t:3: found the end of the line `1,5,28,8`, expected field 5 (lbn): 512-byte",
            ),
            (&row("1,5,28,8,3,4\n"), "t:3: found `4` behind the last field, expected 5 fields"),
            (&row("x,5,28,8,3\n"), "t:3: found `x` in field 1 (version)"),
            (&row("1,5.5,28,8,3\n"), "t:3: found `5.5` in field 2 (time), expected seconds, a whole number"),
            (
                &row("1,18446744074,28,8,3\n"),
                "t:3: found `18446744074` in field 2 (time), expected seconds, a whole number below 2^64, and below 2^64 ns",
            ),
            (
                &row("1,5,2g,8,3\n"),
                "t:3: found `2g` in field 3 (op), expected a SCSI operation code, two hex digits",
            ),
            (&row("1,5,028,8,3\n"), "t:3: found `028` in field 3 (op)"),
            (&row("1,5,,8,3\n"), "t:3: found `` in field 3 (op)"),
            (&row("1,5,28,-8,3\n"), "t:3: found `-8` in field 4 (size), expected bytes"),
            (
                &row("1,5,28,1073741825,3\n"),
                "t:3: found a request of 1073741825 x 1 bytes, expected at most 1 GiB",
            ),
            (&row("1,5,28,512,36028797018963967\n"), "expected an end below 2^64 bytes"),
            (&row("1,4,28,8,3\n"), "t:3: found a time 1 s before that of the row before"),
            (&row(HEADER_LINE), "t:3: found `version` in field 1 (version)"),
            (&row("1,5,2"), "truncated"),
        ],
    );
}

#[test]
fn malformed_records_are_refused_with_their_place() {
    for (version, length) in [(1, 32), (2, 40)] {
        let good = file(&[(version, 0x28, 8, 3, 5), (version, 0x2a, 8, 3, 6), (version, 0x12, 8, 3, 6)]);
        let and = |said: Said| [&good[..], &vscsi(&said)].concat();
        let place = format!("t: record 4 at byte {}: ", 3 * length);
        let mut damaged = and((version, 0x28, 8, 3, 7));
        damaged[3 * length..].fill(0);
        let said = |words: &str| format!("{place}{words}");
        let table: &[(&[u8], &str)] = &[
            (&damaged, "found version 0x0000 and SCSI operation code 0x00, expected a version of 0x"),
            (&and((version, 0x128, 8, 3, 7)), "and SCSI operation code 0x128, expected"),
            (&and((version, 0x28, u32::MAX, 3, 7)), "found a request of 4294967295 x 1 bytes"),
            (&and((version, 0x28, 512, u64::MAX, 7)), "found a request of 512 bytes at"),
            (
                &and((version, 0x28, 8, 3, u64::MAX)),
                "found a time of 18446744073709551615 x 1000 ns, expected one below 2^64 ns",
            ),
            (&and((version, 0x28, 8, 3, 5)), "found a time 0.000001 s before that of the row before"),
            (
                &[&good[..], b"0123456"].concat(),
                &format!("found 7 bytes, expected a record of {length}: the file looks truncated"),
            ),
        ];
        let table: Vec<(&[u8], String)> = table.iter().map(|(bytes, words)| (*bytes, said(words))).collect();
        for (bytes, words) in &table {
            let error = read(bytes, "cloudphysics").unwrap_err();
            assert!(
                error.starts_with(&place) && error.contains(&words[place.len()..]),
                "{error}\n  not: {words}"
            );
        }
        assert!(read(&file(&[(version, 0x12, 8, 3, 5)]), "cloudphysics").unwrap_err().contains("no request"));
    }
}

#[test]
fn malformed_records_can_be_passed_over() {
    let mut bytes = file(&[(1, 0x28, 8, 3, 5), (1, 0x2a, 8, 3, 6), (1, 0x28, 8, 3, 7), (1, 0x28, 8, 3, 8)]);
    bytes[32 + 15] = 9;
    bytes.truncate(4 * 32 - 1);
    let (records, reader) = read_with(&bytes, &TraceOptions { skip_bad: 2, ..options() }).unwrap();
    assert_eq!(records, [record(0, Read, 1536, 8), record(2_000, Read, 1536, 8)]);
    assert_eq!(reader.log().bad, 2);
    assert!(reader.log().bad_examples[1].starts_with("t: record 4 at byte 96: found 31 bytes"));
}

/// Two ways to say whole seconds, three ways to lay them out.
fn csv(rows: &[Said], order: &[usize]) -> String {
    let line = |fields: [String; 5]| order.iter().map(|&at| fields[at].clone()).collect::<Vec<_>>().join(",");
    let mut text = line(["version", "time", "op", "size", "lbn"].map(str::to_owned));
    for (version, op, size, lbn, seconds) in rows {
        let fields =
            [version.to_string(), seconds.to_string(), format!("{op:x}"), size.to_string(), lbn.to_string()];
        text += &format!("\n{}", line(fields));
    }
    text + "\n"
}

/// The rows that are requests, slowly; `None` if there is none or one is wrong.
fn oracle(rows: &[Said], second_ns: u64) -> Option<Vec<TraceRecord>> {
    let mut records = Vec::new();
    for &(_, op, size, lbn, time) in rows {
        let operation = match op {
            0x08 | 0x28 | 0x88 | 0xa8 => Read,
            0x0a | 0x2a | 0x8a | 0xaa => Write,
            0x35 => Flush,
            _ => continue,
        };
        let (offset, length) =
            if operation == Flush { (0, 0) } else { (u128::from(lbn) * 512, u64::from(size)) };
        if length > 1 << 30 || offset + u128::from(length) >= 1 << 64 {
            return None;
        }
        records.push(record(time * second_ns, operation, offset as u64, length));
    }
    let first = records.first()?.time_ns;
    records.iter_mut().for_each(|record| record.time_ns -= first);
    Some(records)
}

fn rows() -> impl Strategy<Value = Vec<Said>> {
    let op =
        prop::sample::select(vec![0x08u16, 0x0a, 0x28, 0x2a, 0x88, 0x8a, 0xa8, 0xaa, 0x35, 0x00, 0x12, 0x42]);
    let size = prop_oneof![50 => 0u32..1 << 22, 1 => Just(1 << 30), 1 => Just((1 << 30) + 1)];
    let lbn = prop_oneof![50 => 0u64..1 << 40, 1 => Just(u64::MAX / 512), 1 => Just(u64::MAX / 512 + 1)];
    prop::collection::vec((Just(1u16), op, size, lbn, 0u64..1000), 1..30).prop_map(|mut rows| {
        rows.sort_by_key(|row| row.4);
        rows
    })
}

proptest! {
    #[test]
    fn csv_and_vscsi_are_read_as_a_slow_reader_does(
        rows in rows(), order in Just(vec![0, 1, 2, 3, 4]).prop_shuffle(),
    ) {
        let together = TraceOptions { spread: Some(false), ..options() };
        let text = csv(&rows, &order);
        let read_csv = read_with(text.as_bytes(), &together).ok().map(|(records, _)| records);
        prop_assert_eq!(read_csv, oracle(&rows, 1_000_000_000), "{}", text);
        for version in [1, 2] {
            let records: Vec<Said> = rows.iter().map(|&(_, a, b, c, d)| (version, a, b, c, d)).collect();
            let bytes = file(&records);
            prop_assert_eq!(detected(&bytes), Ok("cloudphysics"));
            prop_assert_eq!(read(&bytes, "cloudphysics").ok(), oracle(&rows, 1_000));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200), head in 0..4, at in any::<prop::sample::Index>(),
    ) {
        let mut all = match head {
            0 => HEADER_LINE.as_bytes().to_vec(),
            1 => file(&[(1, 0x28, 8, 3, 5); 5]),
            2 => file(&[(2, 0x28, 8, 3, 5); 5]),
            _ => Vec::new(),
        };
        let at = at.index(all.len() + 1);
        all.splice(at..at, bytes);
        let _ = read(&all, "cloudphysics");
    }
}
