//! Tests of clock times: each format whose times are absolute has them, no other has.

use harmonia_types::format_utc;

use super::*;
use crate::{FORMATS, Trace, TraceInfo, TraceOptions, UnitOptions};

fn described(text: &str, options: &TraceOptions) -> TraceInfo {
    Trace::from_bytes("t", text.as_bytes().to_vec(), options).unwrap().info().unwrap()
}

fn begins(format: &str, text: &str) -> Option<String> {
    described(text, &TraceOptions::of_format(format)).begins_utc_ns.map(format_utc)
}

#[test]
fn a_time_is_believed_from_1990_to_2099() {
    let first = 631_152_000_000_000_000;
    let behind = 4_102_444_800_000_000_000;
    for (time_ns, expected) in
        [(first - 1, None), (first, Some(first)), (behind - 1, Some(behind - 1)), (behind, None)]
    {
        assert_eq!(Epoch::Unix.utc_ns(None, time_ns), expected);
        let windows_ns = time_ns + 11_644_473_600_000_000_000;
        assert_eq!(Epoch::Windows.utc_ns(None, windows_ns), expected);
        assert_eq!([time_ns, windows_ns].map(|time_ns| Epoch::ByValue.utc_ns(None, time_ns)), [expected; 2]);
        assert_eq!(Epoch::InFile.utc_ns(Some(-5), time_ns + 5), expected);
    }
    assert_eq!(Epoch::Unknown.utc_ns(Some(0), first), None);
    assert_eq!(Epoch::InFile.utc_ns(None, first), None);
    assert_eq!(of_filetime(128_166_372_000_000_000), 1_172_163_600_000_000_000);
}

#[test]
fn absolute_times_are_clock_times() {
    let table = [
        ("msr", "128166372030616290,web,3,Read,0,4096,1\n", "2007-02-22 17:00:03 UTC"),
        ("alibaba", "7,W,8192,4096,1577808000000626\n", "2019-12-31 16:00:00 UTC"),
        ("tencent", "1538323199,8,8,1,1576\n", "2018-09-30 15:59:59 UTC"),
        ("systor", "1456135200.013118000,0.0008,R,4,8192,4096\n", "2016-02-22 10:00:00 UTC"),
        ("baleen", "901 131072 131072 1625032767.5 3 3 11 5 1\n", "2021-06-30 05:59:27 UTC"),
        ("k5cloud", "3,1496300000.250000000,R,8192,4096\n", "2017-06-01 06:53:20 UTC"),
        (
            "thesios",
            "filename,file_offset,op_type,request_io_size_bytes,start_time\na,0,READ,4096,1705276800.5\n",
            "2024-01-15 00:00:00 UTC",
        ),
        (
            "srt",
            "# Extent, type='Trace::BlockIO::HP-UX'\nenter_driver bytes disk_offset is_read device_number\n\
             926942434.629034 4096 511213568 T 520183808\n",
            "1999-05-17 12:00:34 UTC",
        ),
        // Three seconds and a half behind the start of the recording; the request was issued half a second before.
        (
            "etw",
            "BeginHeader\nEndHeader\nOS Version: 6.0, Events Lost: 0, Trace Start: 128166372000000000, Trace Length: 9 sec\n\
             DiskRead, 3500000, a.exe (4), 12, 0xfa, 0x0, 0x1000, 500000, 0\n",
            "2007-02-22 17:00:03 UTC",
        ),
    ];
    for (format, text, expected) in table {
        assert_eq!(begins(format, text).as_deref(), Some(expected), "{format}");
    }
}

/// Whatever a number in them may look like, if the definition says that it counts from elsewhere.
#[test]
fn times_that_count_from_elsewhere_are_none() {
    let table = [
        ("disksim", "1700000000000 0 8 8 1\n"),
        ("mqsim", "1700000000000000000 0 8 8 1\n"),
        ("spc", "0,8,4096,R,1700000000.5\n"),
        ("fio", "fio version 3 iolog\n1700000000000000 /dev/x read 0 4096\n"),
        ("fiu", "1700000000000000000 4 sh 8 8 R 6 0\n"),
        ("replayer", "1700000000000.000000,0,0,4096,1\n"),
        ("cloudphysics", "time,op,size,lbn\n1700000000,2a,512,8\n"),
        ("blkparse", "  8,16   3        5     0.000025000  3645  D   R 2048 + 8 [java]\n"),
        ("biosnoop", "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n1700000000.5 a 7 sda R 8 512 0.4\n"),
        // Of a format with absolute times, but not absolute.
        ("msr", "50,web,3,Read,0,4096,1\n"),
        ("alibaba", "7,W,8192,4096,626\n"),
        ("k5cloud", "3,12.250000000,R,8192,4096\n"),
        ("srt", " 0.000000 3 7487 4096 R 499232 1f016000 40000002 null 11417\n"),
        ("etw", "DiskRead, 3500000, a.exe (4), 12, 0xfa, 0x0, 0x1000, 500000, 0\n"),
    ];
    for (format, text) in table {
        assert_eq!(begins(format, text), None, "{format}");
    }
}

#[test]
fn a_table_has_clock_times_if_its_numbers_give_a_plausible_year() {
    let of = |time: &str, unit_ns: u64| {
        let units = UnitOptions { time_ns: Some(unit_ns), ..UnitOptions::default() };
        let columns = Some("time,op,offset,size".parse().unwrap());
        let options = TraceOptions { columns, units, ..TraceOptions::default() };
        described(&format!("{time},R,0,512\n"), &options).begins_utc_ns.map(format_utc)
    };
    let at = Some("2007-02-22 17:00:03 UTC".to_owned());
    let table = [
        ("1172163603.5", 1_000_000_000),
        ("1172163603500", 1_000_000),
        ("1172163603500000", 1_000),
        ("1172163603500000000", 1),
        ("128166372035000000", 100),
        ("11721636035000000", 100),
        ("2007-02-22T17:00:03.5Z", 1_000_000_000),
        ("2007-02-22 17:00:03.5", 1),
        ("2007-02-23 02:00:03.5+09:00", 1_000),
    ];
    for (time, unit_ns) in table {
        assert_eq!(of(time, unit_ns), at, "{time}");
    }
    for (time, unit_ns) in
        [("1172163603", 1_000), ("12.5", 1_000_000_000), ("0", 1), ("300000000", 1_000_000_000)]
    {
        assert_eq!(of(time, unit_ns), None, "{time}");
    }
}

/// The clock time is that of the first request which is given, and time 0 is that of the window.
#[test]
fn windows_and_volumes_move_the_first_request() {
    let text = "1000,8,8,1,1\n1001,8,8,1,2\n1003,8,8,1,1\n1004,8,8,0,2\n";
    let text: String = text.lines().map(|line| format!("153832{line}\n")).collect();
    let tencent = |options: TraceOptions| {
        let options = TraceOptions { format: "tencent".to_owned(), ..options };
        let trace = Trace::from_bytes("t", text.clone().into_bytes(), &options).unwrap();
        let mut reader = trace.records().unwrap();
        assert_eq!(reader.origin_utc_ns(), None, "nothing has been read");
        let first = reader.next_record().unwrap().unwrap();
        let origin = reader.origin_utc_ns().unwrap();
        assert_eq!(trace.info().unwrap().begins_utc_ns, Some(origin + first.time_ns));
        let second = 1_000_000_000;
        (origin / second - 1_538_321_000, first.time_ns / second)
    };
    let seconds = |seconds: u64| Some(harmonia_types::SimDuration(seconds * 1_000_000_000));
    let only = || Some("2".to_owned());
    assert_eq!(tencent(TraceOptions::default()), (0, 0));
    assert_eq!(tencent(TraceOptions { start: seconds(2), ..TraceOptions::default() }), (2, 1));
    assert_eq!(tencent(TraceOptions { only: only(), ..TraceOptions::default() }), (0, 1));
    assert_eq!(tencent(TraceOptions { only: only(), start: seconds(2), ..TraceOptions::default() }), (2, 2));
}

/// A trace keeps its clock times where the target can say them, and gets none that it has not.
#[test]
fn a_conversion_keeps_clock_times() {
    let folder = tempfile::tempdir().unwrap();
    let written = |text: &str, format: &str| {
        let path = folder.path().join(format!("t.{format}"));
        let trace = Trace::from_bytes("t", text.as_bytes().to_vec(), &TraceOptions::default()).unwrap();
        let target = crate::Target::new(Some(format), &path, false).unwrap();
        crate::convert(&trace, target, std::fs::File::create(&path).unwrap(), &mut |_| true).unwrap();
        let info = Trace::open_file(&path, format).unwrap().info().unwrap();
        (info.begins_utc_ns, info.rows)
    };
    // The first request is a trim, which MSR has not.
    let absolute = "128166372030616290,web,3,Read,0,4096,1\n128166372130616290,web,3,Write,0,4096,1\n";
    let relative =
        "fio version 3 iolog\n5 /dev/x trim 0 4096\n90 /dev/x write 0 4096\n95 /dev/x read 0 4096\n";
    let at = Some(1_172_163_603_061_629_000);
    for (format, expected) in [("msr", at), ("harmonia", at), ("disksim", None), ("fio", None)] {
        assert_eq!(written(absolute, format), (expected, 2), "{format}");
    }
    for (format, rows) in [("msr", 2), ("harmonia", 3)] {
        assert_eq!(written(relative, format), (None, rows), "{format}");
    }
}

#[test]
fn a_format_says_since_when_it_counts() {
    for format in FORMATS {
        assert!(!format.epoch.meaning().is_empty(), "{}", format.name);
    }
}
