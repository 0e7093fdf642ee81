//! Tests of the reader of SRT's text: literal lines in both layouts, and a table of malformed input.

use harmonia_types::Operation::{Read, Write};
use proptest::prelude::*;

use super::super::testing::{assert_refused, detected, read, read_with};
use super::*;
use crate::{TraceOptions, TraceRecord, UnitOptions};

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

/// As dssrt2txt prints it, widths of columns and all.
const TEN: &[u8] = b"\
# created  start   stop  bytes disk_offset(k) device#   lv#  thrid pid
 0.000000      3   7487   4096 R     499232 1f016000 40000002 null 11417
 0.007832     10   5283   8192 W    2219296 1f018400 4001000f 7 null
 0.007832      4      8      0 R          0 1f016000 40000002 null     0
";

#[test]
fn ten_fields_are_seconds_bytes_and_kib() {
    let expected = [
        record(0, Read, 499_232 << 10, 4096, 0),
        record(7_832_000, Write, 2_219_296 << 10, 8192, 1),
        record(7_832_000, Read, 0, 0, 0),
    ];
    let (records, reader) = read_with(TEN, &TraceOptions::of_format("srt")).unwrap();
    assert_eq!(records, expected);
    assert_eq!(reader.volumes().names(), ["1f016000", "1f018400"]);
    assert_eq!(detected(TEN), Ok("srt"));
    let units = UnitOptions { address: Some(512), ..UnitOptions::default() };
    let (records, _) = read_with(TEN, &TraceOptions { units, ..TraceOptions::of_format("srt") }).unwrap();
    assert_eq!(records[0].offset, 499_232 * 512);
}

/// As ds2txt prints a file: types, extents with names, an index at the end.
const NAMED: &[u8] = b"\
# Extent Types ...
<ExtentType name=\"Trace::BlockIO::HP-UX\" version=\"2.0\" >
  <field type=\"int64\" name=\"enter_driver\" />
</ExtentType>

# Extent, type='Trace::BlockIO::SRTMetadata'
start_time header_text
5 \"SRT\"
# Extent, type='Trace::BlockIO::HP-UX'
enter_driver is_suspect bytes device_major device_minor disk_offset is_read
926942434.629034000 F 4096 31 6 511213568 T
926942434.629534 F 8192 31 7 1024 F
926942434.700000 T 8192 31 7 1024 F
# Extent, type='DataSeries: ExtentIndex'
offset extenttype
40 Trace::BlockIO::HP-UX
";

#[test]
fn named_columns_are_bytes_and_suspects_are_lost() {
    let expected = [record(0, Read, 511_213_568, 4096, 0), record(500_000, Write, 1024, 8192, 1)];
    let (records, reader) = read_with(NAMED, &TraceOptions::of_format("srt")).unwrap();
    assert_eq!(records, expected);
    assert_eq!(reader.volumes().names(), ["31,6", "31,7"]);
    assert_eq!(reader.log().lost, 1);
    assert_eq!(detected(NAMED), Ok("srt"));
}

#[test]
fn whole_times_are_units_of_2_to_the_minus_32_seconds_and_commas_separate() {
    let text = b"\"is_read\",\"enter_driver\",\"disk_offset\",\"bytes\"\nT,4294967296,512,4096\nF,6442450944,0,512\n";
    let expected = [record(0, Read, 512, 4096, 0), record(500_000_000, Write, 0, 512, 0)];
    assert_eq!(read(text, "srt"), Ok(expected.to_vec()));
}

/// (content, what the error must say).
#[test]
fn malformed_input_is_refused_with_its_place() {
    assert_refused(
        "srt",
        &[
            (b"", "t: is empty"),
            (b"# created\n", "t: has no request in it"),
            (
                b"x 1 2 4096 R 8 1f a null 1\n",
                "t:1: found `x` in field 1 (created), expected seconds such as",
            ),
            (b"0.5 1 2 4k R 8 1f a null 1\n", "found `4k` in field 4 (bytes)"),
            (b"0.5 1 2 4096 r 8 1f a null 1\n", "found `r` in field 5 (R or W)"),
            (b"0.5 1 2 4096 R -8 1f a null 1\n", "found `-8` in field 6 (disk_offset)"),
            (b"0.5 1 2 4096 R 8 1.f a null 1\n", "found `1.f` in field 7 (device)"),
            (b"0.5 1 -2 4096 R 8 1f a null 1\n", "found `-2` in field 3 (start)"),
            (b"0.5 1 2 4096 R 8 1f a null x\n", "found `x` in field 10 (pid)"),
            (
                b"0.5 1 2 4096 R 8 1f a null\n",
                "found the end of the line `0.5 1 2 4096 R 8 1f a null`, expected field 10",
            ),
            (b"0.5 1 2 4096 R 8 1f a null 1 2\n", "found `2` behind the last field, expected 10 fields"),
            (b"0.5 1 2 1073741825 R 8 1f a null 1\n", "expected at most 1 GiB"),
            (
                b"enter_driver bytes is_read\n",
                "t:1: found columns without `disk_offset`, expected enter_driver, bytes",
            ),
            (b"enter_driver bytes disk_offset is_read\n1.5 1 1 R\n", "t:2: found `R` in field 4 (R or W)"),
            (b"2.5 1 2 1 R 8 1f a null 1\n1.4 1 2 1 R 8 1f a null 1\n", "t:2: found a time 1.1 s before"),
        ],
    );
}

#[test]
fn content_tells_srt_from_other_columns() {
    for other in [&b"0.5 4 904265000 8 1\n"[..], b"5 2 x 8 1 W 6 0\n", b"# a comment\n1 2 3\n"] {
        assert!(!detected(other).is_ok_and(|name| name == "srt"), "{}", other.escape_ascii());
    }
}

proptest! {
    /// Names of columns, rows and other lines in any order: read or refused, never more.
    #[test]
    fn no_lines_make_it_panic(lines in prop::collection::vec(
        prop_oneof![
            4 => "[0-9]{1,4}\\.[0-9]{1,9} [0-9]{1,3} [0-9]{1,3} [0-9]{1,5} [RW] [0-9]{1,12} [0-9a-f]{1,4} null null [0-9]",
            1 => "enter_driver( bytes| disk_offset| is_read| is_suspect| device_major| device_minor){2,9}",
            2 => "[0-9TF. ]{0,30}",
            1 => "# Extent, type='(Trace::BlockIO::HP-UX|other)'",
        ],
        0..20,
    )) {
        let _ = read(lines.join("\n").as_bytes(), "srt");
    }
}
