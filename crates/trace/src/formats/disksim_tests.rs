//! Tests of the DiskSim reader and writer: literal lines, a table of malformed input, a slow reader as oracle, and what
//! is written read back.

use harmonia_types::Operation::{Flush, Read, Trim, Write};
use proptest::prelude::*;

use super::super::testing::{assert_refused, detected, read, read_with, volumes_of, write};
use super::*;
use crate::{TraceOptions, UnitOptions};

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

fn parse(line: &[u8]) -> Result<Row, String> {
    match DiskSim::new(super::super::plain(&FORMAT)).parse(line, &mut ReadLog::default())? {
        Parsed::Row(row) => Ok(row),
        other => Err(format!("{other:?}")),
    }
}

fn read_in(text: &[u8], units: UnitOptions) -> Vec<TraceRecord> {
    read_with(text, &TraceOptions { units, ..TraceOptions::of_format("disksim") }).unwrap().0
}

#[test]
fn reads_ms_sectors_and_hexadecimal_flags() {
    let text = b"1234.567 0 20228000 8 0\r\n\
                 1234.5670019 7 1 2097152 1\n\
                 \t1234.734   7\t36028797018963966 1 0x1aB \n\
                 18446744073709.551615 65535 0 1 FFFFFFFE";
    let expected = [
        record(0, Write, 20_228_000 * 512, 4096, 0),
        record(1, Read, 512, 1 << 30, 1),
        record(167_000, Read, u64::MAX - 1023, 512, 1),
        record(u64::MAX - 1_234_567_000, Write, 0, 512, 2),
    ];
    assert_eq!(read(text, "disksim").unwrap(), expected);
}

#[test]
fn a_volume_is_a_device_by_its_number() {
    let (records, reader) =
        read_with(b"0 12 0 1 1\n0 3 0 1 1\n1 12 0 1 1\n", &TraceOptions::of_format("disksim")).unwrap();
    assert_eq!(records.iter().map(|record| record.volume).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(reader.volumes().names(), ["12", "3"]);
}

#[test]
fn units_and_polarity_are_what_the_options_say() {
    let text = b"2 0 3 4 0\n979.5 0 3 4 1\n";
    let us = UnitOptions { time_ns: Some(1000), ..UnitOptions::default() };
    assert_eq!(read_in(text, us)[1].time_ns, 977_500);
    let pages = UnitOptions { address: Some(4096), size: Some(1024), ..UnitOptions::default() };
    assert_eq!(
        read_in(text, pages),
        [record(0, Write, 12_288, 4096, 0), record(977_500_000, Read, 12_288, 4096, 0)]
    );
    let reversed = UnitOptions { read_is: Some(0), ..UnitOptions::default() };
    let operations = |units| read_in(text, units).iter().map(|record| record.operation).collect::<Vec<_>>();
    assert_eq!(operations(reversed), [Read, Write]);
}

/// (content, what the error must say).
#[test]
fn malformed_input_is_refused_with_its_place() {
    assert_refused(
        "disksim",
        &[
            (b"", "t: is empty"),
            (b"\nx", "t:1: found the end of the line ``, expected field 1 (time): a number such as 1234.567"),
            (b"1.5 0 8 8 1\n\nx", "t:2: found the end of the line"),
            (
                b"1.5 0 8 8\n",
                "t:1: found the end of the line `1.5 0 8 8`, expected field 5 (flags): a hexade",
            ),
            (b"1.5 0 8 8 1 1\n", "t:1: found `1` behind the last field, expected 5 fields"),
            (b"1.5,0,8,8,1\n", "t:1: found `1.5,0,8,8,1` in field 1 (time)"),
            (
                b"-1.5 0 8 8 1\n",
                "t:1: found `-1.5` in field 1 (time), expected a number such as 1234.567: no sign",
            ),
            (b"+1.5 0 8 8 1\n", "found `+1.5` in field 1 (time)"),
            (b"nan 0 8 8 1\n", "found `nan` in field 1 (time)"),
            (b"inf 0 8 8 1\n", "found `inf` in field 1 (time)"),
            (
                b"4.38e+08 0 8 8 1\n",
                "found `4.38e+08` in field 1 (time), expected a number such as 1234.567: no sign, no exponent",
            ),
            (b".5 0 8 8 1\n", "found `.5` in field 1 (time)"),
            (b"5. 0 8 8 1\n", "found `5.` in field 1 (time)"),
            (b"18446744073709.551616 0 8 8 1\n", "found `18446744073709.551616` in field 1 (time)"),
            (b"1.5 -1 8 8 1\n", "found `-1` in field 2 (device)"),
            (b"1.5 sda 8 8 1\n", "found `sda` in field 2 (device)"),
            (b"1.5 0 8.0 8 1\n", "found `8.0` in field 3 (block)"),
            (b"1.5 0 18446744073709551616 8 1\n", "found `18446744073709551616` in field 3 (block)"),
            (
                b"1.5 0 8 0 1\n",
                "found `0` in field 4 (count), expected a number of blocks, a whole number below 2^64, at least 1",
            ),
            (b"1.5 0 8 8\x00 1\n", r"found `8\x00` in field 4 (count)"),
            (
                b"1.5 0 8 2097153 1\n",
                "found a request of 2097153 x 512 bytes, expected at most 1 GiB: is the size unit",
            ),
            (b"1.5 0 36028797018963967 1 1\n", "expected an end below 2^64 bytes"),
            (b"1.5 0 8 8 g\n", "found `g` in field 5 (flags)"),
            (b"1.5 0 8 8 0x\n", "found `0x` in field 5 (flags)"),
            (b"1.5 0 8 8 -1\n", "found `-1` in field 5 (flags)"),
            (
                b"1.5 0 8 8 100000000\n",
                "found `100000000` in field 5 (flags), expected a hexadecimal number below 2^32",
            ),
            (b"1.5 0 8 8 1\n1.4 0 8 8 1\n", "t:2: found a time 0.0001 s before that of the row before"),
            (
                b"1.5 0 8 8 1\n1.6 0 8",
                "t:2: found the end of the line `1.6 0 8`, expected field 4 (count): a number of blocks, a whole number below 2^64, at least 1 (the last",
            ),
        ],
    );
}

#[test]
fn what_could_be_one_of_mqsims_is_asked_about_and_the_rest_is_not() {
    // Whole numbers and flags of one bit: as traces in us and MQSim's own have them.
    for text in [
        &b"0 0 280605000 2 1\n979 0 287641000 128 1\n3976 0 8347000 8 0\n"[..],
        b"938513000 4 264719000 16 0\n938828000 3 197570000 16 1\n938944000 13 93230000 32 0\n",
    ] {
        let error = detected(text).unwrap_err();
        assert!(error.contains("fits more than one format (disksim, mqsim): name the one meant"), "{error}");
    }
    assert_eq!(detected(b"1234.567 0 20228000 8 0\n1300.500 0 6397000 496 1\n"), Ok("disksim"));
    // One line with a fraction, or flags of more than a bit, among many that could be either.
    let whole = "5 0 8 8 1\n".repeat(150);
    for line in ["5.5 0 8 8 1\n", "5 0 8 8 81\n", "5 0 8 8 0x1\n", "5 0 8 8 0a\n"] {
        assert_eq!(detected(format!("{whole}{line}").as_bytes()), Ok("disksim"), "{line}");
    }
    // A line that is neither's does not decide.
    assert!(detected(format!("{whole}5 0 8 8 x\n").as_bytes()).unwrap_err().contains("disksim, mqsim"));
}

/// Reads a line by splitting it, in arithmetic that cannot overflow.
fn oracle(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split([' ', '\t']).filter(|field| !field.is_empty()).collect();
    let number = |text: &str| -> Option<u128> {
        let plain = !text.is_empty() && text.len() < 36 && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse().ok()).flatten()
    };
    let [time, device, block, count, flags] = fields[..] else { return None };
    let (whole, fraction) = match time.split_once('.') {
        Some((whole, fraction)) => {
            (whole, number(fraction).map(|_| format!("{fraction:0<6}")[..6].to_owned())?)
        }
        None => (time, "0".to_owned()),
    };
    let time_ns = number(whole)? * 1_000_000 + number(&fraction)?;
    let digits = flags.strip_prefix("0x").or(flags.strip_prefix("0X")).unwrap_or(flags);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let flags = u32::from_str_radix(digits, 16).ok()?;
    let (offset, length) = (number(block)?.checked_mul(512)?, number(count)?.checked_mul(512)?);
    let fits = (1..=1 << 30).contains(&length) && offset + length < 1 << 64;
    Some(Row {
        volume: u64::try_from(number(device)?).map(|_| 0).ok()?,
        ..Row::new(
            u64::try_from(time_ns).ok()?,
            if flags % 2 == 1 { Read } else { Write },
            u64::try_from(offset).ok().filter(|_| fits)?,
            length as u64,
        )
    })
}

proptest! {
    /// Lines of plausible fields, some of them off: read as the oracle does, refused where it does.
    #[test]
    fn a_line_is_read_as_a_slow_reader_does(
        fields in prop::collection::vec(
            prop_oneof![
                5 => "[0-9]{1,6}", 1 => "[0-9]{15,21}", 2 => "[0-9]{1,14}\\.[0-9]{1,12}",
                1 => "(0x|0X)?[0-9a-fA-F]{0,9}", 1 => "[!-~]{0,4}",
            ],
            4..7,
        ),
        blank in prop::sample::select(vec![" ", "\t", "  "]),
    ) {
        let line = fields.join(blank);
        prop_assert_eq!(parse(line.as_bytes()).ok(), oracle(&line), "{}", line);
    }

    /// Whole lines that are right more often than not.
    #[test]
    fn a_good_line_is_read_as_a_slow_reader_does(
        time in any::<u64>(), digits in 0usize..12, device in any::<u16>(), block in any::<u64>(),
        small in any::<bool>(), count in 0u64..1 << 22, flags in any::<u32>(),
    ) {
        let block = if small { block >> 10 } else { block };
        let line = format!("{}.{:0digits$} {device} {block} {count} {flags:x}", time >> 20, time % 100_000);
        prop_assert_eq!(parse(line.as_bytes()).ok(), oracle(&line), "{}", line);
    }
}

#[test]
fn a_volume_is_written_as_a_device_of_its_own() {
    // Numbers are kept; what is none, or is taken, gets the next free one from its index on.
    let cases = [
        ("12", 12),
        ("sda", 1),
        ("1", 2),
        ("2", 3),
        ("sdb", 4),
        ("2147483647", 2_147_483_647),
        ("2147483648", 6),
        ("012", 13),
        ("", 8),
    ];
    // The last volume first: all before it must be numbered, too.
    let records: Vec<TraceRecord> =
        (0..cases.len() as u16).rev().map(|volume| record(0, Read, 0, 512, volume)).collect();
    let (text, _) = write(&FORMAT, &records, &volumes_of(&cases.map(|(name, _)| name)));
    let expected: String =
        cases.iter().rev().map(|(_, device)| format!("0.000000 {device} 0 1 1\n")).collect();
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

#[test]
fn writes_ms_sectors_and_says_what_it_changed_or_left_out() {
    let records = [
        record(0, Read, 0, 4096, 1),
        record(1, Write, 513, 511, 0),
        record(1_000_001, Write, 511, 2, 0),
        record(2_500_000, Trim, 0, 4096, 0),
        record(2_500_000, Flush, 0, 0, 0),
        record(2_500_000, Read, 512, 0, 0),
        record(u64::MAX, Read, 1, 1 << 30, 0),
        record(u64::MAX, Read, u64::MAX - 1, 1, 0),
        record(u64::MAX, Read, u64::MAX - 1023, 512, 0),
    ];
    let (text, written) = write(&FORMAT, &records, &volumes_of(&["sda", "sdb"]));
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "0.000000 1 0 8 1\n\
         0.000001 0 1 1 0\n\
         1.000001 0 0 2 0\n\
         18446744073709.551615 0 36028797018963966 1 1\n"
    );
    let expected = [Written::Exact, WIDENED, WIDENED, TRIM, FLUSH, EMPTY, BEYOND, BEYOND, Written::Exact];
    assert_eq!(written, expected);
}

fn records_like() -> impl Strategy<Value = Vec<TraceRecord>> {
    let operation = prop::sample::select(vec![Read, Write, Read, Write, Read, Write, Trim, Flush]);
    let sectors = |most: u64| prop_oneof![3 => (0..=most / 512).prop_map(|n| n * 512), 1 => 0..=most];
    let row = (0u64..1 << 40, operation, sectors(u64::MAX), sectors(1 << 30), 0u16..4);
    prop::collection::vec(row, 1..40).prop_map(|rows| {
        let mut time_ns = 0;
        let timed = rows.into_iter().map(|(gap, operation, offset, length, volume)| {
            time_ns += gap;
            record(time_ns, operation, offset.min(u64::MAX - length), length, volume)
        });
        timed.collect()
    })
}

proptest! {
    /// What is written is read back as it was, or on the whole sectors around it; nothing else is left out.
    #[test]
    fn what_is_written_is_read_back(records in records_like()) {
        let (text, written) = write(&FORMAT, &records, &volumes_of(&["sda", "7", "sdc", "2"]));
        let kept: Vec<_> = records.iter().zip(&written).filter(|(_, fate)| !matches!(fate, Written::Dropped(_))).collect();
        let Some(&(first, _)) = kept.first() else {
            prop_assert!(text.is_empty());
            return Ok(());
        };
        let (read, reader) = read_with(&text, &TraceOptions::of_format("disksim")).unwrap();
        prop_assert_eq!(read.len(), kept.len());
        for (read, (record, fate)) in read.iter().zip(&kept) {
            let device = ["0", "7", "2", "3"][usize::from(record.volume)];
            prop_assert_eq!(&reader.volumes().names()[usize::from(read.volume)], device);
            let mut expected = TraceRecord { time_ns: record.time_ns - first.time_ns, volume: read.volume, ..**record };
            if **fate == WIDENED {
                expected.offset -= record.offset % 512;
                expected.length = (record.offset + record.length).next_multiple_of(512) - expected.offset;
            }
            prop_assert_eq!(*read, expected);
            prop_assert_eq!(**fate == Written::Exact, record.offset % 512 == 0 && record.length % 512 == 0);
        }
    }
}
