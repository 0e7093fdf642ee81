//! Tests of the SPC reader: literal lines, a table of malformed input, and a slow reader as oracle.

use harmonia_types::Operation::{Read, Write};
use proptest::prelude::*;

use super::super::testing::{detected, read};
use super::*;
use crate::TraceRecord;

fn read_all(text: &[u8]) -> Result<Vec<TraceRecord>, String> {
    read(text, "spc")
}

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

fn parse(line: &[u8]) -> Result<Row, String> {
    match Spc::new(super::super::plain(&FORMAT)).parse(line, &mut ReadLog::default())? {
        Parsed::Row(row) => Ok(row),
        other => Err(format!("{other:?}")),
    }
}

#[test]
fn reads_blocks_bytes_seconds_and_counts_time_from_the_first_row() {
    let text = b"0,8,4096,R,2.5\r\n\
                 7,0,512,w,2.5000000019\n\
                 65535,36028797016866815,1,r,3,and,4,more\n\
                 1,1,0,W,18446744073.709551615";
    let expected = [
        record(0, Read, 4096, 4096, 0),
        record(1, Write, 0, 512, 1),
        record(500_000_000, Read, 36_028_797_016_866_815 * 512, 1, 2),
        record(18_446_744_071_209_551_615, Write, 512, 0, 3),
    ];
    assert_eq!(read_all(text).unwrap(), expected);
}

#[test]
fn blanks_around_fields_and_further_fields_do_not_matter() {
    let plain = read_all(b"3,8,512,W,0.25\n3,9,512,R,0.5\n").unwrap();
    assert_eq!(read_all(b" 3 , 8,\t512, W ,0.25 \n3,9 ,512,R, 0.5,,x y,\n").unwrap(), plain);
}

#[test]
fn what_is_malformed_is_named_with_line_and_expectation() {
    let table: &[(&str, &str)] = &[
        ("", "found `` in field 1 (ASU), expected a whole number below 2^64"),
        ("3,8,512,W", "found the end of the line `3,8,512,W`, expected field 5 (Timestamp): seconds"),
        ("-1,8,512,W,1", "found `-1` in field 1 (ASU)"),
        ("18446744073709551616,8,512,W,1", "found `18446744073709551616` in field 1 (ASU)"),
        ("3,8.0,512,W,1", "found `8.0` in field 2 (LBA), expected 512-byte blocks"),
        ("3,8 8,512,W,1", "found `8 8` in field 2 (LBA)"),
        ("3,,512,W,1", "found `` in field 2 (LBA)"),
        ("3,8,0x200,W,1", "found `0x200` in field 3 (Size), expected bytes"),
        ("3,8,1073741825,W,1", "found a request of 1073741825 x 1 bytes, expected at most 1 GiB"),
        ("3,8,512,Write,1", "found `Write` in field 4 (Opcode), expected R or W"),
        ("3,8,512,,1", "found `` in field 4 (Opcode)"),
        ("3,8,512,W,1e3", "found `1e3` in field 5 (Timestamp), expected seconds such as 0.011413"),
        ("3,8,512,W,.5", "found `.5` in field 5 (Timestamp)"),
        ("3,8,512,W,5.", "found `5.` in field 5 (Timestamp)"),
        ("3,8,512,W,1.2.3", "found `1.2.3` in field 5 (Timestamp)"),
        ("3,8,512,W,18446744073.709551616", "in field 5 (Timestamp), expected seconds"),
        ("3,8,512,W,nan", "found `nan` in field 5 (Timestamp)"),
        (
            "3,36028797018963968,0,W,1",
            "found a request of 0 bytes at 36028797018963968 x 512, expected an end below 2^64 bytes",
        ),
        ("3,36028797018963967,512,W,1", "expected an end below 2^64 bytes"),
        ("3,8,512,W,0.4", "found a time 0.1 s before that of the row before"),
    ];
    for (line, expected) in table {
        let error = read_all(format!("1,2,512,r,0.5\n{line}\n1,2,512,r,1.0\n").as_bytes()).unwrap_err();
        assert!(error.starts_with("t:2: ") && error.contains(expected), "{error}\n  not: {expected}");
    }
    let error = read_all(b"1,2,512,r,0.5\n1,2,51").unwrap_err();
    assert!(error.starts_with("t:2: ") && error.contains("truncated"), "{error}");
}

#[test]
fn content_tells_spc_from_msr() {
    assert_eq!(detected(b"0,303567,3584,w,0.000000\n"), Ok("spc"));
    // As many fields as msr has, and nothing but numbers around the type.
    assert_eq!(detected(b"0, 303567, 3584, W, 0, 1, 2\n"), Ok("spc"));
    assert_eq!(detected(b"0,303567,3584,Write,0,1,2\n"), Ok("msr"));
    assert!(detected(b"0,303567,3584,x,0,1,2\n").unwrap_err().contains("none of the known trace formats"));
}

/// Reads a line by splitting it, in arithmetic that cannot overflow.
fn oracle(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split(',').map(|field| field.trim_matches([' ', '\t'])).collect();
    let number = |text: &str| -> Option<u128> {
        let plain = !text.is_empty() && text.len() < 30 && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse().ok()).flatten()
    };
    let [asu, lba, size, opcode, time, ..] = fields[..] else { return None };
    let operation = match opcode {
        "r" | "R" => Read,
        "w" | "W" => Write,
        _ => return None,
    };
    let (whole, fraction) = match time.split_once('.') {
        Some((whole, fraction)) => {
            (whole, number(fraction).map(|_| format!("{fraction:0<9}")[..9].to_owned())?)
        }
        None => (time, "0".to_owned()),
    };
    let time_ns = number(whole)? * 1_000_000_000 + number(&fraction)?;
    let (offset, length) = (number(lba)? * 512, number(size)?);
    let fits = length <= 1 << 30 && offset + length < 1 << 64 && number(lba)? < 1 << 64;
    Some(Row {
        volume: u64::try_from(number(asu)?).map(|_| 0).ok()?,
        ..Row::new(
            u64::try_from(time_ns).ok()?,
            operation,
            u64::try_from(offset).ok().filter(|_| fits)?,
            length as u64,
        )
    })
}

proptest! {
    /// Lines of plausible fields, some of them off: read as the oracle does, refused where it does.
    #[test]
    fn a_line_is_read_as_a_slow_reader_does(fields in prop::collection::vec(
        prop_oneof![
            4 => "[0-9]{1,6}", 1 => "[0-9]{15,21}", 3 => "[rRwW]", 3 => "[0-9]{1,11}\\.[0-9]{1,12}",
            1 => "[ \t]{0,2}[0-9rw]{1,2}[ \t]{0,2}", 1 => "[ -+--~]{0,4}",
        ],
        3..8,
    )) {
        let line = fields.join(",");
        prop_assert_eq!(parse(line.as_bytes()).ok(), oracle(&line));
    }

    /// Whole lines that are right more often than not.
    #[test]
    fn a_good_line_is_read_as_a_slow_reader_does(
        asu in 0u32..70_000, lba in any::<u64>(), small in any::<bool>(), size in 0u64..1 << 31,
        opcode in "[rRwW]", seconds in 0u64..20_000_000_000, fraction in "(\\.[0-9]{1,11})?", rest in "(,[ -~]{0,5})?",
    ) {
        let lba = if small { lba % (1 << 40) } else { lba };
        let line = format!("{asu}, {lba},{size},{opcode},{seconds}{fraction}{rest}");
        prop_assert_eq!(parse(line.as_bytes()).ok(), oracle(&line));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 1..200)) {
        let _ = read_all(&bytes);
    }
}
