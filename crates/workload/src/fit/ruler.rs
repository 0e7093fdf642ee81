//! What a fit and its trace are compared by: one measure for both.

use harmonia_trace::{Footprint, Moments, PAGE, TraceRecord};
use harmonia_types::{Bytes, Operation};
use serde::Serialize;

use super::gaps::GapClasses;
use super::heat::{Heat, Places};
use super::phases::Phases;
use super::sizes::SizeHistogram;

const SECOND_NS: u64 = 1_000_000_000;

/// A load as it was measured. Requests without bytes do not count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Its reads.
    pub reads: MeasuredKind,
    /// Its writes.
    pub writes: MeasuredKind,
    /// Its trims.
    pub trims: MeasuredKind,
    /// Distinct 4 KiB pages that any of them touches, in bytes.
    pub footprint_bytes: Bytes,
    /// Coefficient of variation of the gaps between arrivals: 0 evenly spaced, 1 Poisson, above 1 bursty.
    pub gap_cv: f64,
    /// Index of dispersion: variance of the numbers of requests of whole seconds by their mean; 1 Poisson.
    pub dispersion: f64,
}

/// Requests of one operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredKind {
    /// How many.
    pub requests: u64,
    /// Bytes they ask for.
    pub bytes: Bytes,
    /// Distinct 4 KiB pages they touch, in bytes.
    pub footprint_bytes: Bytes,
    /// Those that start where the one before of this kind ended, in percent.
    pub sequential_percent: f64,
    /// How their starts spread.
    pub heat: Heat,
}

/// How often a value repeats the one before.
#[derive(Debug)]
pub(super) struct Repeats<T> {
    last: Option<T>,
    pairs: u64,
    alike: u64,
}

impl<T> Default for Repeats<T> {
    fn default() -> Self {
        Repeats { last: None, pairs: 0, alike: 0 }
    }
}

impl<T: PartialEq> Repeats<T> {
    pub(super) fn add(&mut self, value: T) {
        if let Some(last) = &self.last {
            self.pairs += 1;
            self.alike += u64::from(*last == value);
        }
        self.last = Some(value);
    }

    /// Share of repeats that is not chance, for values that occur so often each.
    pub(super) fn persistence(&self, counts: impl Iterator<Item = u64> + Clone) -> f64 {
        let sum: u64 = counts.clone().sum();
        let by_chance: f64 = counts.map(|n| (n as f64 / sum.max(1) as f64).powi(2)).sum();
        if self.pairs == 0 || by_chance >= 1.0 {
            return 0.0;
        }
        let alike = self.alike as f64 / self.pairs as f64;
        ((alike - by_chance) / (1.0 - by_chance)).clamp(0.0, 0.999)
    }
}

/// One operation, while it is counted.
#[derive(Debug, Default)]
pub(super) struct Kind {
    pub(super) requests: u64,
    pub(super) bytes: Bytes,
    /// 4 KiB pages touched, each as often as it is.
    pub(super) touches: u64,
    pub(super) sizes: SizeHistogram,
    pub(super) size_repeats: Repeats<Bytes>,
    /// Of these, writes with FUA.
    pub(super) fua: u64,
    /// Starts on 4 KiB, and on 512 bytes.
    pub(super) on_pages: u64,
    pub(super) on_sectors: u64,
    pub(super) footprint: Footprint,
    pub(super) places: Places,
    sequential: u64,
    end: Option<(u16, Bytes)>,
}

impl Kind {
    fn add(&mut self, record: &TraceRecord) {
        let TraceRecord { volume, offset, length, .. } = *record;
        let end = offset + length;
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(length);
        self.touches = self.touches.saturating_add(end.div_ceil(PAGE) - offset / PAGE);
        self.sizes.add(length);
        self.fua += u64::from(record.fua);
        self.size_repeats.add(length);
        self.on_pages += u64::from(offset.is_multiple_of(PAGE));
        self.on_sectors += u64::from(offset.is_multiple_of(512));
        self.footprint.touch(volume, offset, end);
        self.places.add(volume, offset);
        self.sequential += u64::from(self.end == Some((volume, offset)));
        self.end = Some((volume, end));
    }

    /// Share of requests that start where the one before ended.
    pub(super) fn sequential(&self) -> f64 {
        self.sequential as f64 / self.requests.max(1) as f64
    }

    fn measured(&mut self) -> MeasuredKind {
        MeasuredKind {
            requests: self.requests,
            bytes: self.bytes,
            footprint_bytes: self.footprint.total().0,
            sequential_percent: 100.0 * self.sequential(),
            heat: self.places.heat(),
        }
    }
}

/// Requests by the second they arrive in.
#[derive(Debug, Default)]
struct Seconds {
    counts: Moments,
    second: u64,
    requests: u64,
}

impl Seconds {
    fn add(&mut self, since_first_ns: u64) {
        let second = since_first_ns / SECOND_NS;
        if second != self.second {
            self.counts.add(self.requests as f64);
            self.counts.add_zeros(second - self.second - 1);
            (self.second, self.requests) = (second, 0);
        }
        self.requests += 1;
    }

    /// Over the whole seconds; 1 where there are not two.
    fn dispersion(&self) -> f64 {
        self.counts.cv().filter(|_| self.counts.count > 1).map_or(1.0, |cv| cv * cv * self.counts.mean)
    }
}

/// How evenly requests arrive, while they are counted.
#[derive(Debug, Default)]
pub(super) struct Evenness {
    gaps: Moments,
    seconds: Seconds,
    /// When the first and the last arrived.
    times: Option<(u64, u64)>,
}

impl Evenness {
    /// One more request. Returns the gap before it; `None` of the first.
    pub(super) fn add(&mut self, time_ns: u64) -> Option<u64> {
        let (first, last) = self.times.unwrap_or((time_ns, time_ns));
        let gap_ns = self.times.map(|_| time_ns - last);
        if let Some(gap_ns) = gap_ns {
            self.gaps.add(gap_ns as f64);
        }
        self.seconds.add(time_ns - first);
        self.times = Some((first, time_ns));
        gap_ns
    }

    /// Coefficient of variation of the gaps, and index of dispersion: see [`Measured`].
    pub(super) fn measured(&self) -> [f64; 2] {
        [self.gaps.cv().unwrap_or(0.0), self.seconds.dispersion()]
    }
}

/// Measures a load, request by request.
#[derive(Debug, Default)]
pub(super) struct Ruler {
    pub(super) reads: Kind,
    pub(super) writes: Kind,
    pub(super) trims: Kind,
    pub(super) gaps: GapClasses,
    /// Of a load that is to be fitted.
    pub(super) phases: Option<Phases>,
    pub(super) order: Repeats<Operation>,
    /// Requests without bytes.
    pub(super) empty: u64,
    evenness: Evenness,
}

/// The pages of several operations that are the same.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared {
    pub(super) reads_writes: Bytes,
    /// Of trims and the other two.
    pub(super) trims_others: Bytes,
}

impl Ruler {
    /// For a load that is to be fitted.
    pub(super) fn of_trace() -> Self {
        Ruler { phases: Some(Phases::default()), ..Ruler::default() }
    }

    /// For a load that is held against another one: over extents as large as those of that one.
    pub(super) fn like(other: &Measured) -> Self {
        let kind = |like: &MeasuredKind| Kind { places: Places::like(&like.heat), ..Kind::default() };
        let [reads, writes, trims] = [&other.reads, &other.writes, &other.trims].map(kind);
        Ruler { reads, writes, trims, ..Ruler::default() }
    }

    pub(super) fn add(&mut self, record: &TraceRecord) {
        let kind = match record.operation {
            _ if record.length == 0 => None,
            Operation::Read => Some(&mut self.reads),
            Operation::Write => Some(&mut self.writes),
            Operation::Trim => Some(&mut self.trims),
            Operation::Flush => None,
        };
        let Some(kind) = kind else {
            self.empty += 1;
            return;
        };
        kind.add(record);
        self.order.add(record.operation);
        let gap_ns = self.evenness.add(record.time_ns);
        if let Some(gap_ns) = gap_ns {
            self.gaps.add(gap_ns);
        }
        if let Some(phases) = &mut self.phases {
            phases.add(gap_ns.unwrap_or(0), record.operation);
        }
    }

    pub(super) fn requests(&self) -> u64 {
        self.reads.requests + self.writes.requests + self.trims.requests
    }

    pub(super) fn gap_cv(&self) -> Option<f64> {
        self.evenness.gaps.cv()
    }

    /// The result, and the pages its operations share.
    pub(super) fn measured(&mut self) -> (Measured, Shared) {
        let [reads, writes, trims] = [&mut self.reads, &mut self.writes, &mut self.trims].map(Kind::measured);
        let mut all = std::mem::take(&mut self.reads.footprint);
        let reads_writes = all.unite(std::mem::take(&mut self.writes.footprint));
        let trims_others = all.unite(std::mem::take(&mut self.trims.footprint));
        let [gap_cv, dispersion] = self.evenness.measured();
        let measured = Measured { reads, writes, trims, footprint_bytes: all.total().0, gap_cv, dispersion };
        (measured, Shared { reads_writes, trims_others })
    }
}
