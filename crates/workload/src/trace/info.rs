//! What a trace holds, for `harmonia trace info`.
//!
//! Sequential is strict: a request counts that starts at the very byte where the row before ended, on the same volume,
//! whatever either does. The footprint counts distinct 4 KiB pages, volume by volume: a request that touches a byte of a
//! page touches the page. Sizes are in bytes; whoever prints them picks KB or KiB and says which.

use harmonia_types::{Bytes, Operation};
use serde::Serialize;

use super::footprint::Footprint;
use super::{Trace, TraceError, TraceRecord};

/// Above this the time unit is probably wrong, in bytes a second.
const IMPLAUSIBLE_BANDWIDTH: f64 = 100e9;
const NS_PER_S: f64 = 1e9;

/// A summary of a whole trace. `None` is what its requests do not determine (a rate without a span).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceInfo {
    /// The file, as it was named.
    pub file: String,
    /// Name of the format it was read as.
    pub format: &'static str,
    /// Number of requests.
    pub rows: u64,
    /// From the first arrival to the last, in seconds.
    pub span_s: f64,
    /// Requests that read, in percent.
    pub read_percent: f64,
    /// Mean size of requests, in bytes.
    pub mean_size_bytes: MeanSizeBytes,
    /// Requests a second over the span.
    pub rate_per_s: Option<f64>,
    /// Coefficient of variation of the gaps between arrivals: 0 evenly spaced, 1 Poisson, above 1 bursty.
    pub interarrival_cv: Option<f64>,
    /// Distinct 4 KiB pages touched over all volumes, in bytes.
    pub footprint_bytes: Bytes,
    /// First byte behind the highest address.
    pub end_address_bytes: Bytes,
    /// Requests that start where the row before ended on the same volume, in percent.
    pub sequential_percent: f64,
    /// Number of distinct volumes.
    pub volumes: usize,
    /// What a person should look at before trusting the rest.
    pub warnings: Vec<String>,
}

/// Mean sizes in bytes; `None` where there is no such request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanSizeBytes {
    /// All requests.
    pub all: Option<f64>,
    /// Reads.
    pub read: Option<f64>,
    /// Writes.
    pub write: Option<f64>,
}

/// Sums of one kind of request.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    requests: u64,
    bytes: u128,
}

impl Sum {
    fn add(&mut self, record: &TraceRecord) {
        self.requests += 1;
        self.bytes += u128::from(record.length);
    }

    fn mean_bytes(self) -> Option<f64> {
        (self.requests > 0).then(|| self.bytes as f64 / self.requests as f64)
    }
}

/// Mean and spread of gaps, updated one by one (Welford), in ns.
#[derive(Debug, Clone, Copy, Default)]
struct Gaps {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Gaps {
    fn add(&mut self, gap: f64) {
        self.count += 1;
        let delta = gap - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (gap - self.mean);
    }

    fn cv(self) -> Option<f64> {
        (self.mean > 0.0).then(|| (self.squares / self.count as f64).sqrt() / self.mean)
    }
}

#[derive(Debug, Default)]
struct Summary {
    all: Sum,
    read: Sum,
    write: Sum,
    gaps: Gaps,
    footprint: Footprint,
    end: Bytes,
    sequential: u64,
    last: Option<TraceRecord>,
}

impl Summary {
    fn add(&mut self, record: TraceRecord) {
        self.all.add(&record);
        match record.operation {
            Operation::Read => self.read.add(&record),
            Operation::Write => self.write.add(&record),
            Operation::Trim | Operation::Flush => {}
        }
        let end = record.offset + record.length;
        self.end = self.end.max(end);
        if record.length > 0 {
            self.footprint.touch(record.volume, record.offset, end);
        }
        if let Some(last) = self.last.replace(record) {
            self.gaps.add((record.time_ns - last.time_ns) as f64);
            let follows = record.volume == last.volume && record.offset == last.offset + last.length;
            self.sequential += u64::from(follows);
        }
    }

    fn percent(&self, requests: u64) -> f64 {
        100.0 * requests as f64 / self.all.requests.max(1) as f64
    }

    fn warnings(&self, span_s: f64) -> Vec<String> {
        let mut warnings = Vec::new();
        let bandwidth = self.all.bytes as f64 / span_s;
        if span_s == 0.0 && self.all.requests > 1 {
            warnings.push("all requests arrive at the same time: is the time column right?".into());
        } else if span_s > 0.0 && bandwidth > IMPLAUSIBLE_BANDWIDTH {
            warnings.push(format!("it asks for {:.0} GB/s: is the time unit right?", bandwidth / 1e9));
        }
        for (kind, sum) in [("reads", self.read), ("writes", self.write)] {
            if sum.requests == self.all.requests {
                warnings.push(format!("all requests are {kind}: is the type column right?"));
            }
        }
        warnings
    }
}

/// Reads `trace` to its end.
pub(super) fn describe(trace: &Trace) -> Result<TraceInfo, TraceError> {
    let mut reader = trace.records()?;
    let mut summary = Summary::default();
    while let Some(record) = reader.next_record()? {
        summary.add(record);
    }
    let span_s = summary.last.map_or(0.0, |last| last.time_ns as f64 / NS_PER_S);
    let (footprint_bytes, volumes) = summary.footprint.total();
    Ok(TraceInfo {
        file: trace.name(),
        format: trace.format().name,
        rows: summary.all.requests,
        span_s,
        read_percent: summary.percent(summary.read.requests),
        mean_size_bytes: MeanSizeBytes {
            all: summary.all.mean_bytes(),
            read: summary.read.mean_bytes(),
            write: summary.write.mean_bytes(),
        },
        rate_per_s: (span_s > 0.0).then(|| summary.all.requests as f64 / span_s),
        interarrival_cv: summary.gaps.cv(),
        footprint_bytes,
        end_address_bytes: summary.end,
        sequential_percent: summary.percent(summary.sequential),
        volumes,
        warnings: summary.warnings(span_s),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TraceOptions;

    fn info(text: &str) -> TraceInfo {
        Trace::from_bytes("t", text.as_bytes().to_vec(), &TraceOptions::of_format("msr"))
            .unwrap()
            .info()
            .unwrap()
    }

    #[test]
    fn counts_what_is_there() {
        // Gaps 1 s and 3 s: mean 2, deviation 1. Row 2 follows row 1; row 3 starts where row 2 ended, on another disk.
        let info =
            info("0,h,0,Read,1000,1000,1\n10000000,h,0,Write,2000,500,1\n40000000,h,1,Write,2500,4500,1\n");
        assert_eq!((info.rows, info.span_s, info.volumes), (3, 4.0, 2));
        assert_eq!(
            info.mean_size_bytes,
            MeanSizeBytes { all: Some(2000.0), read: Some(1000.0), write: Some(2500.0) }
        );
        assert_eq!((info.rate_per_s, info.interarrival_cv), (Some(0.75), Some(0.5)));
        assert_eq!((info.footprint_bytes, info.end_address_bytes), (3 * 4096, 7000));
        assert!(
            (info.read_percent - 100.0 / 3.0).abs() < 1e-9
                && (info.sequential_percent - 100.0 / 3.0).abs() < 1e-9
        );
        assert_eq!(info.warnings, Vec::<String>::new());
    }

    #[test]
    fn warns_of_what_looks_wrong() {
        let first = |text: &str| info(text).warnings.first().cloned().unwrap_or_default();
        assert!(first("5,h,0,Read,0,9,1\n5,h,0,Write,0,9,1\n").contains("same time"));
        // 0.1 ms for 10 MB and one byte: just above 100 GB/s. For 10 MB exactly: not above.
        assert!(
            first("0,h,0,Read,0,9999999,1\n1000,h,0,Write,0,2,1\n")
                .contains("100 GB/s: is the time unit right?")
        );
        assert_eq!(first("0,h,0,Read,0,9999999,1\n1000,h,0,Write,0,1,1\n"), "");
        assert!(first("0,h,0,Read,0,9,1\n9,h,0,Read,0,9,1\n").contains("all requests are reads"));
        assert!(first("0,h,0,Write,0,9,1\n9,h,0,Write,0,9,1\n").contains("all requests are writes"));
    }

    #[test]
    fn what_a_single_request_does_not_determine_is_null() {
        let json = serde_json::to_value(info("7,h,0,Write,0,4096,1\n")).unwrap();
        for key in ["rate_per_s", "interarrival_cv"] {
            assert!(json[key].is_null(), "{key}");
        }
        assert!(json["mean_size_bytes"]["read"].is_null());
        assert_eq!(json["mean_size_bytes"]["write"], 4096.0);
    }
}
