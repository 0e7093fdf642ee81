//! Whatever the format: are files merged, sorted, spread, cut and tolerated as the options say?

use std::io::Write;
use std::path::PathBuf;

use harmonia_trace::{CSV, FORMATS, Trace, TraceError, TraceOptions};
use harmonia_trace::{Place, ReadLog, TraceRecord};
use harmonia_types::{Operation, SimDuration};
use proptest::prelude::*;

fn msr() -> TraceOptions {
    TraceOptions::of_format("msr")
}

/// A row of disk 0 of host `h`.
fn row(ticks: u64, offset: u64) -> String {
    format!("{ticks},h,0,Read,{offset},512,0\n")
}

struct All {
    records: Vec<TraceRecord>,
    volumes: Vec<String>,
    log: ReadLog,
}

fn drain(trace: &Trace) -> Result<All, TraceError> {
    let mut reader = trace.records()?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        records.push(record);
    }
    Ok(All { records, volumes: reader.volumes().names().to_vec(), log: reader.log().clone() })
}

fn read(text: &str, options: &TraceOptions) -> Result<All, TraceError> {
    drain(&Trace::from_bytes("t", text.as_bytes().to_vec(), options)?)
}

/// Times in ticks of 100 ns, and offsets.
fn places(all: &All) -> Vec<(u64, u64)> {
    all.records.iter().map(|record| (record.time_ns / 100, record.offset)).collect()
}

/// A folder with these files, and their paths.
fn files(contents: &[(&str, Vec<u8>)]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, bytes): &(&str, Vec<u8>)| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let paths = contents.iter().map(write).collect();
    (folder, paths)
}

#[test]
fn late_rows_are_sorted_in_and_counted_and_those_too_late_are_named() {
    let text = [row(10, 1), row(30, 2), row(20, 3), row(30, 4), row(40, 5)].concat();
    let window = |ticks: u64| TraceOptions { sort_window: Some(SimDuration(100 * ticks)), ..msr() };
    let all = read(&text, &window(10)).unwrap();
    assert_eq!(places(&all), [(0, 1), (10, 3), (20, 2), (20, 4), (30, 5)]);
    assert_eq!((all.log.repaired.len(), all.log.repaired[0].rows), (1, 1));
    for (options, says) in
        [(window(9), "at most 0.0000009 s"), (window(0), "time order"), (msr(), "time order")]
    {
        let error = read(&text, &options).err().unwrap();
        assert!(error.place == Place::Line(3) && error.problem.contains(says), "{error}");
    }
}

/// A row that comes first in the file but not in time: time 0 is the earliest.
#[test]
fn time_0_is_the_earliest_record() {
    let options = TraceOptions { sort_window: Some(SimDuration(1000)), ..msr() };
    assert_eq!(places(&read(&[row(17, 1), row(12, 2)].concat(), &options).unwrap()), [(0, 2), (5, 1)]);
}

#[test]
fn tolerated_rows_are_counted_and_quoted_and_the_next_is_an_error() {
    let text = format!("{}x\n{}y\n{}z\n", row(10, 1), row(20, 2), row(15, 3));
    let tolerate = |skip_bad| read(&text, &TraceOptions { skip_bad, ..msr() });
    let all = tolerate(4).unwrap();
    assert_eq!(places(&all), [(0, 1), (10, 2)], "the row that goes back is malformed too");
    assert_eq!((all.log.bad, all.log.bad_examples.len()), (4, 4));
    assert!(all.log.bad_examples[0].starts_with("t:2: found `x` in field 1 (Timestamp)"));
    assert!(all.log.bad_examples[2].starts_with("t:5: found a time 0.0000005 s before"));
    for (skip_bad, line) in [(0, 2), (1, 4), (2, 5), (3, 6)] {
        assert_eq!(tolerate(skip_bad).err().unwrap().place, Place::Line(line), "{skip_bad}");
    }
}

#[test]
fn rows_of_a_tick_are_spread_over_it() {
    // Ticks of 1 us for the test: MSR's clock is not coarse, but may be read as if it were.
    let text = [row(0, 1), row(0, 2), row(0, 3), row(0, 4), row(2, 5), row(3, 6), row(3, 7)].concat();
    let mut options = TraceOptions { spread: Some(true), ..msr() };
    options.units.time_ns = Some(1000);
    let all = read(&text, &options).unwrap();
    let times: Vec<u64> = all.records.iter().map(|record| record.time_ns).collect();
    assert_eq!(times, [0, 250, 500, 750, 2000, 3000, 3500]);
    assert_eq!(all.log.repaired[0].rows, 4);
    options.spread = None;
    assert_eq!(read(&text, &options).unwrap().records[3].time_ns, 0);
}

#[test]
fn files_are_merged_by_time_and_the_first_named_comes_first() {
    let other = |ticks, offset| format!("{ticks},h,1,Write,{offset},512,0\n");
    let (_folder, paths) = files(&[
        ("a.csv", [row(10, 1), row(30, 2)].concat().into_bytes()),
        ("b.csv", [other(5, 3), other(10, 4), other(40, 5)].concat().into_bytes()),
    ]);
    let all = drain(&Trace::open(&paths, &TraceOptions::default()).unwrap()).unwrap();
    assert_eq!(places(&all), [(0, 3), (5, 1), (5, 4), (25, 2), (35, 5)]);
    assert_eq!(all.volumes, ["h_1", "h_0"]);
    let swapped = [paths[1].clone(), paths[0].clone()];
    let all = drain(&Trace::open(&swapped, &TraceOptions::default()).unwrap()).unwrap();
    assert_eq!(places(&all)[1..3], [(5, 4), (5, 1)]);
}

/// Parts of one trace are one trace; two traces of SPC are not, as their ASUs have nothing in common but numbers.
#[test]
fn volumes_of_the_same_name_are_one_only_where_names_are_global() {
    let parts = [("a.csv", row(10, 1).into_bytes()), ("b.csv", row(20, 2).into_bytes())];
    let (_folder, paths) = files(&parts);
    let names = |paths: &[PathBuf], options: &TraceOptions| {
        drain(&Trace::open(paths, options).unwrap()).unwrap().volumes
    };
    assert_eq!(names(&paths, &msr()), ["h_0"]);
    let distinct = TraceOptions { same_volumes: Some(false), ..msr() };
    assert_eq!(names(&paths, &distinct), ["a:h_0", "b:h_0"]);
    let (_folder, paths) =
        files(&[("f1.spc", b"0,1,512,r,0\n".to_vec()), ("f2.spc", b"0,1,512,r,0\n".to_vec())]);
    assert_eq!(names(&paths, &TraceOptions::default()), ["f1:0", "f2:0"]);
    let (_other, same_name) = files(&[("f1.spc", b"0,1,512,r,0\n".to_vec())]);
    let alike = [paths[0].clone(), same_name[0].clone()];
    assert_eq!(names(&alike, &TraceOptions::default()), ["f1#1:0", "f1#2:0"]);
    let same = TraceOptions { same_volumes: Some(true), ..TraceOptions::default() };
    assert_eq!(names(&paths, &same), ["0"]);
    let only = TraceOptions { only: Some("f2:0".into()), ..TraceOptions::default() };
    assert_eq!(drain(&Trace::open(&paths, &only).unwrap()).unwrap().records.len(), 1);
}

/// `3` means `web_3` where nothing else ends so.
#[test]
fn one_volume_may_be_named_by_its_last_part() {
    let row = |time, host, disk| format!("{time},{host},{disk},Read,0,512,0\n");
    let text = [row(1, "web", 3), row(2, "web", 0), row(3, "web", 3)].concat();
    let only = |text: &str, name: &str| read(text, &TraceOptions { only: Some(name.into()), ..msr() });
    assert_eq!(only(&text, "3").unwrap().records.len(), 2);
    assert_eq!(only(&text, "web_3").unwrap().records.len(), 2);
    assert_eq!(only(&text, "3").unwrap().log.skipped[0].rows, 1);
    let both = text + &row(4, "prxy", 3);
    let error = only(&both, "3").err().unwrap();
    assert!(error.place == Place::Line(4) && error.problem.contains("`prxy_3` beside `web_3`"), "{error}");
    assert_eq!(only(&both, "prxy_3").unwrap().records.len(), 1);
}

/// Rows of `web_3` have been given when `3` itself appears: neither silently instead of the other.
#[test]
fn a_volume_called_what_was_taken_for_a_last_part_is_asked_about() {
    let text = "fio version 3 iolog\n1 web_3 read 0 512\n2 3 read 0 512\n";
    let only = TraceOptions { only: Some("3".into()), ..TraceOptions::of_format("fio") };
    let error = read(text, &only).err().unwrap();
    assert!(error.place == Place::Line(3) && error.problem.contains("`3` beside `web_3`"), "{error}");
    let exact_first = "fio version 3 iolog\n1 3 read 0 512\n2 web_3 read 0 512\n";
    assert_eq!(read(exact_first, &only).unwrap().records.len(), 1);
}

#[test]
fn what_was_asked_for_and_is_not_there_is_said_for_what_it_is() {
    let text = [row(10, 1), row(20, 2)].concat();
    let options = TraceOptions { only: Some("h_0".into()), start: Some(SimDuration(5000)), ..msr() };
    assert_eq!(
        read(&text, &options).err().unwrap().problem,
        "has no request in the window between start and end"
    );
}

/// Times with fractions have no tick: spreading would move them.
#[test]
fn exact_times_are_not_spread() {
    for format in ["spc", "disksim", "systor", "blkparse", "fio"] {
        let options = TraceOptions { spread: Some(true), ..TraceOptions::of_format(format) };
        assert!(read("x", &options).err().unwrap().problem.contains("no ticks to spread"), "{format}");
    }
}

/// The second row of the first file is malformed, but not before its turn has come.
#[test]
fn a_malformed_row_of_one_of_several_files_is_met_in_its_turn() {
    let (_folder, paths) = files(&[
        ("a.csv", [row(10, 1), "nonsense\n".into()].concat().into_bytes()),
        ("b.csv", [row(20, 2), row(30, 3)].concat().into_bytes()),
    ]);
    let mut reader = Trace::open(&paths, &msr()).unwrap().records().unwrap();
    assert!(reader.next_record().unwrap().is_some());
    assert!(reader.next_record().is_err());
}

/// An hour in which nothing happened.
#[test]
fn a_file_without_a_request_may_stand_among_others() {
    let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    let (_folder, paths) =
        files(&[("a.csv", header.into()), ("b.csv", format!("{header}{}", row(20, 2)).into_bytes())]);
    for options in [msr(), TraceOptions::default()] {
        assert_eq!(places(&drain(&Trace::open(&paths, &options).unwrap()).unwrap()), [(0, 2)]);
        let alone = Trace::open(&paths[..1], &options).and_then(|trace| drain(&trace).map(|_| ()));
        assert!(alone.unwrap_err().problem.contains("has no request"));
    }
}

/// Whoever waits is asked while rows are only passed over.
#[test]
fn reading_comes_back_while_rows_are_passed_over() {
    use harmonia_trace::Step;
    let text: String = (0..200_000).map(|time| row(time, 0)).collect::<String>() + "300000,h,1,Read,0,1,0\n";
    let only = TraceOptions { only: Some("h_1".into()), ..msr() };
    let mut reader = Trace::from_bytes("t", text.into_bytes(), &only).unwrap().records().unwrap();
    let mut pauses = 0;
    loop {
        match reader.next_step().unwrap() {
            Step::Pause => pauses += 1,
            Step::Record(record) => assert_eq!(record.time_ns, 300_000 * 100),
            Step::End => break,
        }
    }
    assert_eq!(pauses, 3);
}

#[test]
fn files_of_two_formats_are_not_one_trace() {
    let (_folder, paths) = files(&[("a.csv", row(10, 1).into_bytes()), ("b.spc", b"0,1,512,r,0\n".to_vec())]);
    let error = Trace::open(&paths, &TraceOptions::default()).unwrap_err();
    assert!(error.file.ends_with("b.spc") && error.problem.contains("format spc, but that of "), "{error}");
}

/// Units that are told are those that a format is recognised by.
#[test]
fn content_is_recognised_in_the_units_it_has() {
    let us = b"1538323199000000,0,8,0,1\n1538323199000400,8,8,1,1\n";
    let mut options = TraceOptions::default();
    assert!(Trace::from_bytes("t", us.to_vec(), &options).is_err());
    options.units.time_ns = Some(1000);
    assert_eq!(Trace::from_bytes("t", us.to_vec(), &options).unwrap().format().name, "tencent");
}

#[test]
fn what_is_packed_twice_or_an_archive_or_nothing_is_said_to_be() {
    let gz = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let mut archive = vec![b'x'; 1024];
    archive[257..262].copy_from_slice(b"ustar");
    for (bytes, says) in [
        (gz(&gz(b"x")), "packed twice"),
        (gz(b""), "is empty"),
        (archive.clone(), "a tar archive"),
        (gz(&archive), "a tar archive"),
    ] {
        for options in [msr(), TraceOptions::default()] {
            let error = Trace::from_bytes("t", bytes.clone(), &options).err().unwrap().problem;
            assert!(error.contains(says), "{error}");
        }
    }
}

#[test]
fn an_error_in_a_second_file_names_it() {
    let (_folder, paths) = files(&[
        ("a.csv", [row(10, 1), row(50, 2)].concat().into_bytes()),
        ("b.csv", [row(20, 1), row(30, 2), "1,2\n".into()].concat().into_bytes()),
    ]);
    let error = drain(&Trace::open(&paths, &msr()).unwrap()).err().unwrap();
    assert!(error.file.ends_with("b.csv") && error.place == Place::Line(3), "{error}");
}

#[test]
fn options_a_format_does_not_have_are_refused_by_name() {
    let refused = |change: fn(&mut TraceOptions)| {
        let mut options = msr();
        change(&mut options);
        read(&row(1, 1), &options).err().unwrap().problem
    };
    assert_eq!(
        refused(|options| options.units.read_is = Some(1)),
        "format `msr` has no value for reads to choose"
    );
    assert!(refused(|options| options.units.size = Some(0)).contains("size unit of 0"));
    assert!(refused(|options| options.units.time_ns = Some(u64::MAX)).contains("time unit"));
    assert!(
        refused(|options| options.action = Some(harmonia_trace::Action::Issued)).contains("only blkparse")
    );
}

/// A pattern, packed files among plain ones.
#[test]
fn packed_and_plain_files_are_read_alike() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(row(20, 2).as_bytes()).unwrap();
    let (folder, _) = files(&[
        ("web.1.csv", row(10, 1).into_bytes()),
        ("web.2.csv.gz", encoder.finish().unwrap()),
        ("web.3.csv.zst", zstd::encode_all(row(30, 3).as_bytes(), 1).unwrap()),
    ]);
    let trace = Trace::open(&[folder.path().join("web.*")], &TraceOptions::default()).unwrap();
    assert_eq!(places(&drain(&trace).unwrap()), [(0, 1), (10, 2), (20, 3)]);
}

proptest! {
    /// Rows in any order: sorted by a window as wide as they are late, as a stable sort would; one narrower refuses.
    #[test]
    fn a_window_as_wide_as_rows_are_late_is_a_stable_sort(times in prop::collection::vec(0u64..60, 1..60)) {
        let text: String = (0..).zip(&times).map(|(index, &time)| row(time, index * 512)).collect();
        let mut sorted: Vec<(u64, u64)> = times.iter().copied().zip((0..).step_by(512)).collect();
        sorted.sort_by_key(|&(time, _)| time);
        let first = sorted[0].0;
        let expected: Vec<(u64, u64)> = sorted.iter().map(|&(time, offset)| (time - first, offset)).collect();
        let mut latest = 0;
        let late = times.iter().map(|&time| { latest = latest.max(time); latest - time }).max().unwrap_or(0);
        let window = |ticks: u64| TraceOptions { sort_window: Some(SimDuration(ticks * 100)), ..msr() };
        prop_assert_eq!(places(&read(&text, &window(late)).unwrap()), expected);
        if late > 0 {
            prop_assert!(read(&text, &window(late - 1)).is_err());
        }
    }

    /// One trace cut into files in any way, and read as one: the same records.
    #[test]
    fn a_trace_dealt_out_to_files_is_the_trace(deal in prop::collection::vec((0u64..20, 0usize..3), 1..50)) {
        let mut parts = vec![String::new(); 3];
        let (mut whole, mut time) = (String::new(), 0);
        for (index, &(gap, part)) in (0..).zip(&deal) {
            // Strictly later: the order of rows at one moment is that of the files.
            time += gap + 1;
            whole += &row(time, index * 512);
            parts[part] += &row(time, index * 512);
        }
        let contents: Vec<(&str, Vec<u8>)> =
            ["a", "b", "c"].into_iter().zip(&parts).filter(|(_, text)| !text.is_empty())
                .map(|(name, text)| (name, text.clone().into_bytes())).collect();
        let (_folder, paths) = files(&contents);
        let merged = drain(&Trace::open(&paths, &msr()).unwrap()).unwrap();
        prop_assert_eq!(merged.records, read(&whole, &msr()).unwrap().records);
    }

    /// The window of time gives what falls into it, counted from its start.
    #[test]
    fn a_window_of_time_is_a_filter(gaps in prop::collection::vec(0u64..9, 1..40), start in 0u64..100, length in 1u64..100) {
        let times: Vec<u64> = gaps.iter().scan(7, |time, gap| { *time += gap; Some(*time) }).collect();
        let text: String = times.iter().map(|&time| row(time, 0)).collect();
        let options = TraceOptions {
            start: Some(SimDuration(start * 100)),
            end: Some(SimDuration((start + length) * 100)),
            ..msr()
        };
        let expected: Vec<u64> = times.iter().map(|time| time - times[0])
            .filter(|time| (start..start + length).contains(time)).map(|time| time - start).collect();
        match read(&text, &options) {
            Ok(all) => prop_assert_eq!(places(&all).iter().map(|place| place.0).collect::<Vec<_>>(), expected),
            Err(error) => prop_assert!(expected.is_empty() && error.problem.contains("window"), "{error}"),
        }
    }
}

#[test]
fn records_carry_what_the_row_says() {
    let all = read("5,h,0,wRiTe,1024,512,0\n", &msr()).unwrap();
    let expected = TraceRecord::new(0, Operation::Write, 1024, 512);
    assert_eq!(all.records, [expected]);
}

/// The sample files of every format with bytes changed, cut out and doubled: read, described or refused, never a panic, and
/// what is read keeps what every reader promises.
#[test]
fn harmed_samples_are_read_or_refused() {
    let seeds = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds"));
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below.max(1) as u64) as usize
    };
    let harms: [&[u8]; 8] = [b"0", b"9", b"18446744073709551615", b" ", b",", b".", b"\xff", b"\n"];
    for format in FORMATS {
        let folder = std::fs::read_dir(seeds.join(format!("{}_reader", format.name))).unwrap();
        for file in folder {
            let sample = std::fs::read(file.unwrap().path()).unwrap();
            let first = sample.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let columns = std::str::from_utf8(first).ok().filter(|_| format.name == CSV);
            let columns = columns.map(|names| names.parse().unwrap());
            for _ in 0..100 {
                let mut bytes = sample.clone();
                for _ in 0..=next(3) {
                    let (from, to) = (next(bytes.len()), next(bytes.len()));
                    let harm: Vec<u8> = match next(3) {
                        0 => harms[next(harms.len())].to_vec(),
                        1 => bytes[from.min(to)..from.max(to)].to_vec(),
                        _ => Vec::new(),
                    };
                    let end = (from + next(4)).min(bytes.len());
                    bytes.splice(from..end, harm);
                }
                if let Ok(trace) = Trace::from_bytes("t", bytes.clone(), &TraceOptions::default()) {
                    let _ = trace.info();
                }
                let options = TraceOptions { columns, skip_bad: 3, ..TraceOptions::of_format(format.name) };
                let Ok(trace) = Trace::from_bytes("t", bytes, &options) else { continue };
                let all = drain(&trace);
                assert_eq!(all.is_ok(), trace.info().is_ok());
                let records = all.map(|all| all.records).unwrap_or_default();
                assert!(records.windows(2).all(|pair| pair[0].time_ns <= pair[1].time_ns));
                let is_long =
                    |record: &TraceRecord| record.length > 1 << 30 && record.operation != Operation::Trim;
                assert!(!records.iter().any(is_long));
                assert!(records.iter().all(|record| record.offset.checked_add(record.length).is_some()));
            }
        }
    }
}
