//! Tests of the blktrace reader: records put together here in both byte orders, a table of malformed files, sets of
//! files, and the same events as blkparse prints them.

use std::slice::from_ref;

use harmonia_types::Operation::{self, Flush, Read, Trim, Write};
use proptest::prelude::*;

use super::super::testing::{assert_refused, detected, read, read_with};
use super::*;
use crate::options::Action;
use crate::{Trace, TraceOptions, TraceRecord};

/// Categories, as in `blktrace_api.h`; those the reader does not look at too.
mod tc {
    pub(super) const READ: u16 = 1 << 0;
    pub(super) const WRITE: u16 = 1 << 1;
    pub(super) const FLUSH: u16 = 1 << 2;
    pub(super) const SYNC: u16 = 1 << 3;
    pub(super) const QUEUE: u16 = 1 << 4;
    pub(super) const ISSUE: u16 = 1 << 6;
    pub(super) const COMPLETE: u16 = 1 << 7;
    pub(super) const PC: u16 = 1 << 9;
    pub(super) const NOTIFY: u16 = 1 << 10;
    pub(super) const AHEAD: u16 = 1 << 11;
    pub(super) const META: u16 = 1 << 12;
    pub(super) const DISCARD: u16 = 1 << 13;
    pub(super) const FUA: u16 = 1 << 15;
}

const Q: u16 = 1;
const D: u16 = 7;
const C: u16 = 8;
const SDB: u32 = (8 << 20) | 16;

/// One record, before it is written in a byte order.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sample {
    time_ns: u64,
    sector: u64,
    bytes: u32,
    event: u16,
    categories: u16,
    device: u32,
    cpu: u32,
    payload: Vec<u8>,
}

fn sample(time_ns: u64, event: u16, categories: u16, sector: u64, bytes: u32) -> Sample {
    Sample { time_ns, sector, bytes, event, categories, device: SDB, cpu: 0, payload: Vec::new() }
}

impl Sample {
    fn bytes(&self, order: Order) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |number: &[u8]| match order {
            Order::Big => out.extend_from_slice(number),
            Order::Little => out.extend(number.iter().rev()),
        };
        put(&0x6561_7407u32.to_be_bytes());
        put(&77u32.to_be_bytes());
        put(&self.time_ns.to_be_bytes());
        put(&self.sector.to_be_bytes());
        put(&self.bytes.to_be_bytes());
        put(&self
            .categories
            .to_be_bytes()
            .iter()
            .chain(&self.event.to_be_bytes())
            .copied()
            .collect::<Vec<u8>>());
        put(&3645u32.to_be_bytes());
        put(&self.device.to_be_bytes());
        put(&self.cpu.to_be_bytes());
        put(&5u16.to_be_bytes());
        put(&(self.payload.len() as u16).to_be_bytes());
        assert_eq!(out.len(), 48);
        out.extend_from_slice(&self.payload);
        out
    }
}

/// A record of version 8, with categories that version 7 has no room for.
fn eighth(order: Order, sample: &Sample, more: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut put = |number: &[u8]| match order {
        Order::Big => out.extend_from_slice(number),
        Order::Little => out.extend(number.iter().rev()),
    };
    put(&0x6561_7408u32.to_be_bytes());
    put(&77u32.to_be_bytes());
    put(&sample.time_ns.to_be_bytes());
    put(&sample.sector.to_be_bytes());
    put(&sample.bytes.to_be_bytes());
    put(&3645u32.to_be_bytes());
    put(&((u64::from(sample.categories) | more) << 16 | u64::from(sample.event)).to_be_bytes());
    put(&sample.device.to_be_bytes());
    put(&sample.cpu.to_be_bytes());
    put(&5u16.to_be_bytes());
    put(&(sample.payload.len() as u16).to_be_bytes());
    put(&[0; 12]);
    assert_eq!(out.len(), 64);
    out.extend_from_slice(&sample.payload);
    out
}

fn eighth_file(order: Order, samples: &[Sample]) -> Vec<u8> {
    samples.iter().flat_map(|sample| eighth(order, sample, 0)).collect()
}

fn file(order: Order, samples: &[Sample]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.bytes(order)).collect()
}

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

fn whole() -> Vec<Sample> {
    let name = Sample { payload: b"java\0\0\0\0".to_vec(), ..sample(0, 0, tc::NOTIFY, 0, 0) };
    let message = Sample { payload: vec![7; 300], ..sample(0, 2 | WITH_GROUP, tc::NOTIFY, 0, 0) };
    let cdb =
        Sample { payload: vec![0x12; 16], ..sample(80, D, tc::ISSUE | tc::PC | tc::READ, u64::MAX, 36) };
    let group =
        Sample { payload: vec![1; 8], ..sample(1_070, D | WITH_GROUP, tc::ISSUE | tc::WRITE, 4, 1024) };
    let other = Sample {
        device: (259 << 20) | 1_048_575,
        ..sample(1_060, D, tc::ISSUE | tc::DISCARD | tc::WRITE, 8, 1 << 31)
    };
    vec![
        name,
        sample(1_000, Q, tc::QUEUE | tc::READ, 6000, 4096),
        sample(1_010, 12, tc::QUEUE | tc::READ, 6000, 4096),
        sample(1_020, D, tc::ISSUE | tc::READ, 6000, 4096),
        message,
        sample(1_050, D, tc::ISSUE | tc::FLUSH, 0, 0),
        sample(1_040, D, tc::ISSUE | tc::FLUSH | tc::WRITE | tc::FUA | tc::SYNC, 1, 512),
        other,
        group,
        cdb,
        sample(1_080, D, tc::ISSUE, 0, 0),
        sample(1_090, D, tc::ISSUE | tc::AHEAD | tc::META | tc::READ, 2, 512),
        sample(2_000, C, tc::COMPLETE | tc::READ, 6000, 4096),
        sample(2_010, 19, tc::QUEUE, 0, 0),
    ]
}

#[test]
fn reads_what_was_issued_in_either_byte_order() {
    let expected = [
        record(0, Read, 6000 * 512, 4096, 0),
        TraceRecord { fua: true, ..record(20, Write, 512, 512, 0) },
        record(30, Flush, 0, 0, 0),
        record(40, Trim, 4096, 1 << 31, 1),
        record(50, Write, 2048, 1024, 0),
        record(70, Read, 1024, 512, 0),
    ];
    for order in [Order::Little, Order::Big] {
        let bytes = file(order, &whole());
        assert_eq!(detected(&bytes), Ok("blktrace"));
        let (records, reader) = read_with(&bytes, &TraceOptions::of_format("blktrace")).unwrap();
        assert_eq!(records, expected);
        assert_eq!(reader.volumes().names(), ["8,16", "259,1048575"]);
        let skipped: Vec<(&str, u64)> =
            reader.log().skipped.iter().map(|noted| (&*noted.reason, noted.rows)).collect();
        assert_eq!(
            skipped,
            [
                ("a note (message, name of a process, time of day)", 2),
                ("event Q (queued) where D is read", 1),
                ("event I (inserted) where D is read", 1),
                ("has no sectors: a passthrough command or an empty request", 1),
                ("carries no data (N)", 1),
                ("event C (completed) where D is read", 1),
                ("an event blkparse has no letter for", 1),
            ]
        );
        assert_eq!(reader.log().repaired[0].rows, 1);
    }
}

#[test]
fn version_8_has_the_same_requests_and_those_on_zones() {
    for order in [Order::Little, Order::Big] {
        let bytes = eighth_file(order, &whole());
        assert_eq!(detected(&bytes), Ok("blktrace"));
        assert_eq!(read(&bytes, "blktrace"), read(&file(order, &whole()), "blktrace"));
    }
    let write = |bytes| sample(0, D, tc::ISSUE | tc::WRITE, 8, bytes);
    let kinds: [(u32, u32, Option<Operation>); 7] = [
        (16, 4096, Some(Write)), // append
        (17, 512, Some(Trim)),   // reset
        (18, 0, None),           // reset all
        (19, 0, None),
        (20, 0, None),
        (21, 0, None),
        (22, 8192, Some(Trim)), // zeroes
    ];
    let bytes: Vec<u8> =
        kinds.iter().flat_map(|&(bit, bytes, _)| eighth(Order::Little, &write(bytes), 1 << bit)).collect();
    let (records, reader) = read_with(&bytes, &TraceOptions::of_format("blktrace")).unwrap();
    let found: Vec<(u64, Operation)> =
        records.iter().map(|record| (record.length, record.operation)).collect();
    let expected: Vec<(u64, Operation)> =
        kinds.iter().filter_map(|&(_, bytes, operation)| Some((bytes.into(), operation?))).collect();
    assert_eq!(found, expected);
    assert_eq!(reader.log().skipped.iter().map(|noted| noted.rows).collect::<Vec<_>>(), [1, 3]);
    let cut = &eighth_file(Order::Little, &whole()[1..2])[..63];
    assert_refused("blktrace", &[(cut, "t: record 1 at byte 0: found 63 bytes of a record of 64")]);
}

#[test]
fn the_magic_number_at_the_start_is_that_of_the_header_file() {
    assert_eq!(whole()[0].bytes(Order::Little)[..4], *b"\x07tae");
    assert_eq!(whole()[0].bytes(Order::Big)[..4], *b"eat\x07");
}

#[test]
fn packed_files_are_read_the_same() {
    let bytes = file(Order::Little, &whole());
    let packed = zstd::encode_all(&bytes[..], 1).unwrap();
    assert_eq!(detected(&packed), Ok("blktrace"));
    assert_eq!(read(&packed, "blktrace").unwrap(), read(&bytes, "blktrace").unwrap());
}

/// A payload may be longer than what a decompressor gives at once has left.
#[test]
fn records_across_the_chunks_of_a_decompressor_are_whole() {
    let samples: Vec<Sample> = (0..40)
        .map(|n| Sample { payload: vec![n as u8; 65_535], ..sample(n, D, tc::ISSUE | tc::WRITE, n, 512) })
        .collect();
    let packed = zstd::encode_all(&file(Order::Big, &samples)[..], 1).unwrap();
    let offsets: Vec<u64> =
        read(&packed, "blktrace").unwrap().iter().map(|record| record.offset / 512).collect();
    assert_eq!(offsets, (0..40).collect::<Vec<u64>>());
}

/// (content, what the error must say).
#[test]
fn malformed_input_is_refused_with_its_place() {
    let good = sample(1, D, tc::ISSUE | tc::READ, 8, 4096);
    let with_payload = Sample { payload: vec![1; 8], ..good.clone() };
    let le = |samples: &[Sample]| file(Order::Little, samples);
    let cut = |bytes: Vec<u8>, by: usize| bytes[..bytes.len() - by].to_vec();
    let one = le(from_ref(&good));
    let version = |version: u8| [&[version], &one[1..]].concat();
    let mut wrong = le(&[good.clone(), good.clone(), good.clone()]);
    wrong[48] = 8;
    let table: &[(Vec<u8>, &str)] = &[
        (
            b"hello".to_vec(),
            "t: found `hell` at its start, expected the magic number of blktrace: 0x65617407 in either",
        ),
        (b"ea".to_vec(), "t: found `ea` at its start"),
        (version(9), "t: is a file of blktrace in version 9, expected version 7 or 8"),
        (version(6), "version 6"),
        (
            cut(one.clone(), 1),
            "t: record 1 at byte 0: found 47 bytes of a record of 48: the file is truncated",
        ),
        (
            cut(le(&[with_payload.clone(), with_payload]), 3),
            "t: record 2 at byte 56: found 53 bytes of a record of 56",
        ),
        (
            wrong.clone(),
            "t: found 0x65617408 at byte 48, the start of record 2, expected the magic number 0x65617407",
        ),
        (
            [one, file(Order::Big, from_ref(&good))].concat(),
            "t: found 0x07746165 at byte 48, the start of record 2",
        ),
        (
            le(&[good.clone(), Sample { bytes: (1 << 30) + 1, ..good.clone() }]),
            "t: record 2 at byte 48: found a request of 1073741825 x 1 bytes, expected at most 1 GiB",
        ),
        (
            le(&[Sample { sector: 1 << 55, ..good.clone() }]),
            "t: record 1 at byte 0: found a request of 4096 bytes at 36028797018963968 x 512, expected an end below 2^64",
        ),
        (
            le(&[Sample { time_ns: 1_000_000_002, ..good.clone() }, good.clone()]),
            "t: record 2 at byte 48: found a time 1.000000001 s before that of an earlier row",
        ),
        (
            le(&[sample(1, 4, tc::QUEUE, 8, 4096)]),
            "t: has no request with event D (issued), expected at least one: of the events that can be read it has none",
        ),
    ];
    for (bytes, expected) in table {
        assert_refused("blktrace", &[(bytes, expected)]);
    }
    // Behind what is malformed reading goes on, but not where records are lost.
    let tolerant = TraceOptions { skip_bad: 9, ..TraceOptions::of_format("blktrace") };
    let long = le(&[Sample { bytes: 1 << 31, ..good.clone() }, good.clone()]);
    assert_eq!(read_with(&cut(long, 0), &tolerant).unwrap().0.len(), 1);
    assert_eq!(read_with(&cut(le(&[good.clone(), good]), 5), &tolerant).unwrap().0.len(), 1);
    assert!(read_with(&wrong, &tolerant).is_err());
}

/// The times and addresses, in sectors, of the trace that these files are.
fn read_files(
    files: &[(&str, Vec<u8>)],
    named: &[&str],
    options: &TraceOptions,
) -> Result<Vec<(u64, u64)>, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let paths: Vec<_> = named.iter().map(|name| folder.path().join(name)).collect();
    let trace = Trace::open(&paths, options).map_err(|error| error.to_string())?;
    let mut reader = trace.records().map_err(|error| error.to_string())?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().map_err(|error| error.to_string())? {
        records.push((record.time_ns, record.offset / 512));
        assert_eq!(reader.volumes().names(), ["8,16"], "processors share the device");
    }
    Ok(records)
}

fn issued(times: &[u64]) -> Vec<u8> {
    let samples: Vec<Sample> =
        times.iter().map(|&time| sample(time, D, tc::ISSUE | tc::WRITE, time, 512)).collect();
    file(Order::Little, &samples)
}

#[test]
fn the_files_of_processors_are_merged_by_time() {
    let notes = file(Order::Little, &[sample(5, 1, tc::NOTIFY, 0, 0)]);
    let completions =
        file(Order::Little, &[sample(5, Q, tc::QUEUE, 9, 512), sample(6, C, tc::COMPLETE, 9, 512)]);
    let files = [
        ("sdb.blktrace.0", notes),
        ("sdb.blktrace.1", issued(&[10, 40, 50])),
        ("sdb.blktrace.2", Vec::new()),
        ("sdb.blktrace.3", completions),
        ("sdb.blktrace.10", issued(&[20, 45, 30, 60])),
    ];
    let expected = [10, 20, 30, 40, 45, 50, 60].map(|time| (time - 10, time));
    let names = files.each_ref().map(|(name, _)| *name);
    for named in [&["sdb"][..], &["sdb.blktrace.*"], &names] {
        assert_eq!(read_files(&files, named, &TraceOptions::default()), Ok(expected.to_vec()));
    }
    // Had each file chosen for itself, the queued request of the fourth would be among them.
    let queued = TraceOptions { action: Some(Action::Queued), ..TraceOptions::default() };
    assert_eq!(read_files(&files, &["sdb"], &queued), Ok(vec![(0, 9)]));
    assert_eq!(
        read_files(&files[2..], &["sdb"], &TraceOptions::default()),
        Ok([20, 30, 45, 60].map(|time| (time - 20, time)).to_vec())
    );
}

#[test]
fn a_set_without_a_request_is_refused() {
    let idle = file(Order::Little, &[sample(5, Q, tc::QUEUE | tc::READ, 9, 512)]);
    let files = [("sdb.blktrace.0", idle.clone()), ("sdb.blktrace.1", idle)];
    let issued = TraceOptions { action: Some(Action::Issued), ..TraceOptions::default() };
    let error = read_files(&files, &["sdb"], &issued).unwrap_err();
    assert!(
        error.ends_with(
            "sdb.blktrace.0: has no request with event D (issued), expected at least one: \
             of the events that can be read it has Q (queued) (nor has any of the 1 files read with it)"
        ),
        "{error}"
    );
    let error =
        read_files(&[("sdb.blktrace.0", Vec::new())], &["sdb"], &TraceOptions::default()).unwrap_err();
    assert!(error.contains("sdb.blktrace.0: is empty"), "{error}");
}

/// The line blkparse prints of a record, by its rules; none of those that have no letter.
fn printed(sample: &Sample) -> Option<String> {
    let has = |category: u16| sample.categories & category != 0;
    let (time, sectors, sector, bytes) = (sample.time_ns, sample.bytes / 512, sample.sector, sample.bytes);
    let header = |event: &str, rwbs: &str| {
        let (major, minor) = (sample.device >> 20, sample.device & 0xf_ffff);
        let (seconds, ns) = (time / 1_000_000_000, time % 1_000_000_000);
        format!(
            "{major:3},{minor:<3} {:2} {:8} {seconds:5}.{ns:09} {:5} {event:>2} {rwbs:>3} ",
            sample.cpu, 1, 3645
        )
    };
    if has(tc::NOTIFY) {
        return (sample.event == 2).then(|| header("m", "N") + "a message [x] + 1");
    }
    let event = match sample.event {
        Q => "Q",
        D => "D",
        C => "C",
        12 => "I",
        2 => "M",
        _ => return None,
    };
    let mut rwbs = String::new();
    let mut flag = |on: bool, letter: char| {
        if on {
            rwbs.push(letter)
        }
    };
    flag(has(tc::FLUSH), 'F');
    flag(has(tc::DISCARD), 'D');
    flag(has(tc::WRITE) && !has(tc::DISCARD), 'W');
    flag(!has(tc::WRITE) && !has(tc::DISCARD) && bytes > 0, 'R');
    flag(!has(tc::WRITE) && !has(tc::DISCARD) && bytes == 0, 'N');
    flag(has(tc::FUA), 'F');
    flag(has(tc::AHEAD), 'A');
    flag(has(tc::SYNC), 'S');
    flag(has(tc::META), 'M');
    let end = if event == "C" { "[0]" } else { "[kworker/u8:1 x]" };
    Some(
        header(event, &rwbs)
            + &match event {
                "C" if has(tc::PC) => format!("(12 00 ..) {end}"),
                _ if has(tc::PC) => format!("{bytes} (12 00 ..) {end}"),
                "M" => end.to_owned(),
                _ if sectors > 0 => format!("{sector} + {sectors} {end}"),
                "C" => format!("{sector} {end}"),
                _ => end.to_owned(),
            },
    )
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let event = prop::sample::select(vec![Q, D, D, D, C, 12, 2, 0, 18]);
    let flags = prop::sample::select(vec![tc::SYNC, tc::AHEAD, tc::META, tc::FUA, tc::FLUSH, tc::PC]);
    let kind = prop::sample::select(vec![
        tc::READ,
        tc::WRITE,
        tc::WRITE,
        tc::DISCARD | tc::WRITE,
        tc::DISCARD,
        tc::NOTIFY,
    ]);
    let size = prop_oneof![2 => Just(0u32), 6 => (1u32..2048).prop_map(|sectors| sectors * 512)];
    let one = (0u64..1_000_000_000, event, kind, prop::collection::vec(flags, 0..3), 0u64..1 << 40, size);
    let payload = prop::collection::vec(any::<u8>(), 0..20);
    let one =
        (one, 0u32..3, payload).prop_map(|((time, event, kind, flags, sector, bytes), minor, payload)| {
            // The kernel sets a passthrough command or a flush, not both.
            let flags = flags.iter().fold(0, |all, flag| all | flag);
            let flags = if flags & tc::PC != 0 { flags & !tc::FLUSH } else { flags };
            let device = (8 << 20) | (minor * 1000);
            Sample { device, payload, ..sample(time, event, kind | flags, sector, bytes) }
        });
    prop::collection::vec(one, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The same events as text and in either byte order are the same requests.
    #[test]
    fn text_and_binary_are_the_same_trace(samples in samples()) {
        let text: String = samples.iter().filter_map(printed).map(|line| line + "\n").collect();
        let text = format!("# not empty\n{text}");
        for action in [None, Some(Action::Queued), Some(Action::Issued), Some(Action::Completed)] {
            let of = |format| TraceOptions { action, ..TraceOptions::of_format(format) };
            let named = |bytes: &[u8], format| {
                let read = read_with(bytes, &of(format));
                read.map(|(records, reader)| (records, reader.volumes().clone(), reader.log().repaired.clone()))
            };
            let of_text = named(text.as_bytes(), "blkparse");
            for order in [Order::Little, Order::Big] {
                prop_assert_eq!(&named(&file(order, &samples), "blktrace"), &of_text);
                prop_assert_eq!(&named(&eighth_file(order, &samples), "blktrace"), &of_text);
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(
        mut samples in samples(),
        harm in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..9),
        cut in any::<prop::sample::Index>(),
    ) {
        samples.truncate(9);
        let mut bytes = file(Order::Little, &samples);
        for (at, byte) in harm {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        for skip_bad in [0, 9] {
            let _ = read_with(&bytes, &TraceOptions { skip_bad, ..TraceOptions::of_format("blktrace") });
        }
    }
}

proptest! {
    // Each case writes files.
    #![proptest_config(ProptestConfig::with_cases(50))]

    /// Whichever files the records of a trace stand in, they come in the order of time.
    #[test]
    fn a_trace_is_the_same_however_it_is_divided(
        places in prop::collection::vec((0usize..4, 0u64..1000), 1..100),
    ) {
        let mut files = vec![Vec::new(); 4];
        let mut times = Vec::new();
        for (order, (cpu, time)) in places.into_iter().enumerate() {
            // No two at the same time: the order of those is the files'.
            let time = time * 100 + order as u64;
            files[cpu].push(time);
            times.push(time);
        }
        times.sort_unstable();
        let names = ["x.blktrace.0", "x.blktrace.1", "x.blktrace.2", "x.blktrace.3"];
        let files: Vec<(&str, Vec<u8>)> = names.into_iter().zip(files.iter().map(|times| issued(times))).collect();
        let expected: Vec<(u64, u64)> = times.iter().map(|time| (time - times[0], *time)).collect();
        prop_assert_eq!(read_files(&files, &["x"], &TraceOptions::default()), Ok(expected));
    }
}

/// The kernel notes the time of day where a recording starts, before its first event.
#[test]
fn a_note_of_the_time_of_day_is_the_clock_time() {
    let note = |time_ns: u64, order: Order, group: bool| {
        let number = |number: u32| match order {
            Order::Little => number.to_le_bytes(),
            Order::Big => number.to_be_bytes(),
        };
        let time_of_day = [number(1_172_163_603), number(500)].concat();
        let payload = if group { [&[9; 8][..], &time_of_day].concat() } else { time_of_day };
        Sample { payload, ..sample(time_ns, 1 | if group { WITH_GROUP } else { 0 }, tc::NOTIFY, 0, 0) }
    };
    let request = sample(2_000_000_900, D, tc::ISSUE | tc::READ, 8, 4096);
    let begins = |bytes: Vec<u8>| {
        let trace = Trace::from_bytes("t", bytes, &TraceOptions::default()).unwrap();
        trace.info().unwrap().begins_utc_ns
    };
    for order in [Order::Little, Order::Big] {
        for group in [false, true] {
            // A restart has a note of its own: the first counts.
            let later = Sample { time_ns: 1, ..note(1, order, group) };
            let samples = [note(1_000_000_400, order, group), later, request.clone()];
            assert_eq!(begins(file(order, &samples)), Some(1_172_163_604_000_001_000));
            assert_eq!(begins(eighth_file(order, &samples)), Some(1_172_163_604_000_001_000));
        }
    }
    assert_eq!(begins(file(Order::Little, from_ref(&request))), None);
    let cut = Sample { payload: vec![1; 4], ..note(5, Order::Little, false) };
    assert_eq!(begins(file(Order::Little, &[cut, request])), None);
}
