//! What every trace reader promises, whatever the content of the file.
//!
//! Times never go back, reads and writes are at most 1 GiB, nothing ends beyond 2^64, a volume has a name, an error is repeated and
//! names the file; a file read with tolerance gives no less than without; what was decided on by `auto` reads as the
//! format named; a replay stays inside the array whatever `remap` and `volumes`; a trace that is read to its end can be
//! described, and one that cannot be read cannot be described.

use harmonia_types::{Operation, SimDuration, SimTime};
use harmonia_trace::{Trace, TraceError, TraceOptions};
use harmonia_workload::{ArrayGeometryForLoad, Next, Remap, Source, TraceConfig, TraceSource, Volumes};

const ARRAY: ArrayGeometryForLoad =
    ArrayGeometryForLoad { logical_bytes: 1 << 30, member_bytes: 1 << 28, members: 4, page_size: 4096, scaled_from: None };

/// A sort window wider than any format's own.
const HOUR: SimDuration = SimDuration(3_600_000_000_000);

/// Reads, describes and replays `data` as a trace of that format.
pub fn check(data: &[u8], format: &str) {
    // Only msr refuses rows of no bytes.
    check_as(data, TraceOptions::of_format(format), u64::from(format == "msr"));
}

/// As `check` for the format csv: the first line of the data names the columns; the rest is the file.
pub fn check_table(data: &[u8]) {
    let end = data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len());
    let Ok(names) = std::str::from_utf8(&data[..end]) else { return };
    let Ok(columns) = names.parse() else { return };
    let options = TraceOptions { columns: Some(columns), ..TraceOptions::of_format("csv") };
    check_as(data.get(end + 1..).unwrap_or_default(), options, 0);
}

/// Rows are at least `shortest` bytes long.
fn check_as(data: &[u8], strict: TraceOptions, shortest: u64) {
    let open = |options: &TraceOptions| Trace::from_bytes("fuzz", data.to_vec(), options);
    if let Ok(trace) = open(&TraceOptions::default()) {
        let _ = trace.info();
    }
    let Ok(trace) = open(&strict) else { return };
    let rows = read(&trace, shortest);
    assert_eq!(trace.info().map(|info| info.rows), rows);
    let lenient = TraceOptions { skip_bad: 1000, sort_window: Some(HOUR), ..strict.clone() };
    let lenient = open(&lenient).expect("opens whatever is tolerated");
    if let (Ok(rows), Ok(tolerated)) = (&rows, read(&lenient, shortest)) {
        assert!(tolerated >= *rows, "{tolerated} < {rows}");
    }
    for remap in [Remap::Wrap, Remap::Scale, Remap::Reject] {
        for volumes in [Volumes::Apart, Volumes::Overlay] {
            replay(&trace, shortest, volumes, remap);
        }
    }
}

/// Rows read to the end, or the error.
fn read(trace: &Trace, shortest: u64) -> Result<u64, TraceError> {
    let mut reader = trace.records()?;
    let mut rows = 0;
    let mut time_ns = 0;
    loop {
        let record = match reader.next_record() {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(rows),
            Err(error) => {
                assert!(error.to_string().starts_with("fuzz:"));
                assert_eq!(reader.next_record(), Err(error.clone()));
                return Err(error);
            }
        };
        assert!(record.time_ns >= time_ns);
        let longest = if record.operation == Operation::Trim { u64::MAX } else { 1 << 30 };
        assert!((shortest..=longest).contains(&record.length));
        assert!(record.offset.checked_add(record.length).is_some());
        assert!(usize::from(record.volume) < reader.volumes().names().len());
        time_ns = record.time_ns;
        rows += 1;
    }
}

fn replay(trace: &Trace, shortest: u64, volumes: Volumes, remap: Remap) {
    let config = TraceConfig {
        time_scale: 1.5,
        volumes,
        remap,
        align: volumes == Volumes::Overlay,
        ..TraceConfig::of(Vec::new())
    };
    let Ok(mut source) = TraceSource::new(trace, &config, &ARRAY) else { return };
    let mut now = SimTime::ZERO;
    while let Ok(Next::At(request)) = source.next(now, &[]) {
        assert!(request.arrival >= now);
        assert!(request.length >= shortest && request.offset + request.length <= ARRAY.logical_bytes);
        now = request.arrival;
    }
}
