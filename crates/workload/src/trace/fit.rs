//! A synthetic load with the statistics of a trace, for `harmonia trace fit`.
//!
//! One pass; memory does not grow with the trace, but for its footprint. What each parameter is fitted to:
//!
//! - *arrival*: the coefficient of variation (CV) of the gaps decides: below 0.5 fixed, up to 1.5 poisson, above on-off.
//!   Where requests were spread over the ticks of a coarse clock equal gaps are the spread's: poisson instead of fixed.
//!   For on-off a gap longer than the mean gap ends a burst: `burst_length` is the number of gaps for each long one,
//!   `burst_rate` the inverse of the mean of the others. Gaps are counted in classes of an eighth of an octave, so that one
//!   pass is enough.
//! - *size*: CV of the sizes (reads and writes with bytes): below 0.1 fixed, up to 0.75 normal, above exponential. A load that is
//!   rounded up to whole pages gets the parameters that have the measured mean after the rounding; a fixed size the nearest
//!   whole page.
//! - *address*: more than half of the requests strictly sequential: sequential. Otherwise the share of the traffic on the
//!   hottest fifth of the touched extents ([`Heat`]): up to 0.3 uniform (0.2 is what uniform traffic has), above it
//!   hotspot or zipf, whichever is nearer to the share of the hottest 4% as well. The exponent of zipf is the one whose
//!   law over as many pages has the measured share on its hottest fifth. An extent is a page or, where too few requests
//!   start in a page to tell hot ones, 64 KiB, 1 MiB or 16 MiB.
//! - *align*: whether at least half of the requests begin and end on 4 KiB, unless a fixed size in whole pages would be
//!   off by more than 2%.
//!
//! Lost: every correlation (of a request with the one before, of size or place with operation or time), trims and flushes,
//! volumes, several peaks of one distribution, change over time.

use std::collections::BTreeMap;

use harmonia_types::{Bytes, Operation};

use super::info::{Moments, NS_PER_S, Summary};
use super::{Trace, TraceError, TraceInfo, TraceRecord};
use crate::{AddressPattern, Arrival, SizeDistribution};

/// Unit of places and of rounding, in bytes.
const PAGE: Bytes = 4096;
const FIXED_CV: f64 = 0.5;
const POISSON_CV: f64 = 1.5;
const FIXED_SIZE_CV: f64 = 0.1;
const NORMAL_SIZE_CV: f64 = 0.75;
const SEQUENTIAL_PERCENT: f64 = 50.0;
/// The hottest fifth of the pages of uniform traffic has 0.2 of it.
const UNIFORM_SHARE: f64 = 0.3;
/// Extents whose heat is measured.
const EXTENTS_BYTES: [Bytes; 4] = [PAGE, 64 << 10, 1 << 20, 16 << 20];
/// With this share of whole pages, in percent, a load is one of whole pages.
const ALIGNED_PERCENT: f64 = 50.0;
/// With fewer requests an extent, hot ones are hardly known from others.
const STARTS_ENOUGH: f64 = 8.0;
/// A fixed size that whole pages miss by more than this part is not aligned.
const PAGES_MISS: f64 = 0.02;
/// Rates a scenario takes, in requests a second.
const RATE_MAX: f64 = 1e9;
/// Burst lengths a scenario takes.
const BURST_MAX: f64 = 1e9;

/// A synthetic load and what it was fitted to.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceFit {
    /// The trace.
    pub info: TraceInfo,
    /// When requests arrive.
    pub arrival: Arrival,
    /// How long they are.
    pub size: SizeDistribution,
    /// Share of reads among reads and writes.
    pub read_fraction: f64,
    /// Where they go.
    pub address: AddressPattern,
    /// Whether they are whole pages.
    pub align: bool,
    /// Mean size of the reads and writes that have bytes, in bytes.
    pub size_mean_bytes: f64,
    /// Coefficient of variation of these sizes.
    pub size_cv: f64,
    /// How the traffic spreads over the touched pages.
    pub heat: Heat,
}

impl TraceFit {
    /// Whether most requests are whole pages, but a fixed size in whole pages would miss their mean.
    pub fn whole_pages_miss(&self) -> bool {
        !self.align && self.info.aligned_percent >= ALIGNED_PERCENT
    }
}

/// How unevenly the starts of requests spread over the extents they lie in.
///
/// Extents are ranked by one half of the requests and their traffic is that of the other half, both ways: ranking and
/// counting the same requests would find hot extents in any traffic by chance. Where most are touched once or twice the
/// shares come out too low, down to 0; so the smallest extents are taken in which enough requests start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heat {
    /// Size of an extent, in bytes.
    pub extent_bytes: Bytes,
    /// Share of the traffic on the hottest fifth of the extents; 0.2 if it is uniform.
    pub hottest_fifth: f64,
    /// Share of the traffic on the hottest 4% of the extents.
    pub hottest_25th: f64,
    /// Extents in which a request starts.
    pub extents: f64,
    /// Requests that start in such an extent, on average.
    pub starts_per_extent: f64,
    /// Share of the extents that were counted: a sample where there are many.
    pub sampled: f64,
}

impl Heat {
    /// Pages in the extents.
    fn pages(&self) -> f64 {
        self.extents * (self.extent_bytes / PAGE) as f64
    }
}

/// Reads `trace` to its end.
pub(super) fn fit(trace: &Trace, go_on: &mut dyn FnMut(u64) -> bool) -> Result<Option<TraceFit>, TraceError> {
    let mut summary = Summary::new(trace);
    let mut statistics = Statistics::default();
    let reader = trace.scan(go_on, |record, reader| {
        let gap_ns = summary.add(record, reader.file());
        statistics.add(record, gap_ns);
    })?;
    let Some(reader) = reader else { return Ok(None) };
    let info = summary.into_info(trace, &reader);
    statistics.fit(info).map(Some).map_err(|problem| trace.error(problem))
}

/// What is counted beside the summary.
#[derive(Debug, Default)]
struct Statistics {
    gaps: GapClasses,
    sizes: Moments,
    starts: [Starts; EXTENTS_BYTES.len()],
}

impl Statistics {
    fn add(&mut self, record: &TraceRecord, gap_ns: Option<u64>) {
        if let Some(gap_ns) = gap_ns {
            self.gaps.add(gap_ns);
        }
        if record.length > 0 && matches!(record.operation, Operation::Read | Operation::Write) {
            self.sizes.add(record.length as f64);
            for (starts, extent_bytes) in self.starts.iter_mut().zip(EXTENTS_BYTES) {
                starts.add(record.volume, record.offset / extent_bytes);
            }
        }
    }

    fn fit(self, info: TraceInfo) -> Result<TraceFit, String> {
        let size_cv = self.sizes.cv().ok_or("has no read or write with bytes: there is no size to fit")?;
        let (size, align) = fit_size(self.sizes.mean, size_cv, info.aligned_percent >= ALIGNED_PERCENT);
        let heat = self.heat();
        let data = info.operations.reads + info.operations.writes;
        Ok(TraceFit {
            arrival: self.gaps.fit(&info)?,
            size,
            read_fraction: info.operations.reads as f64 / data.max(1) as f64,
            address: fit_address(info.sequential_percent, &heat),
            align,
            size_mean_bytes: self.sizes.mean,
            size_cv,
            heat,
            info,
        })
    }
}

impl Statistics {
    /// Over the smallest extents in which enough requests start to tell hot ones, or over the largest.
    fn heat(&self) -> Heat {
        let sizes = self.starts.iter().zip(EXTENTS_BYTES);
        let enough = sizes.clone().find(|(starts, _)| starts.per_extent() >= STARTS_ENOUGH);
        let largest = || (&self.starts[EXTENTS_BYTES.len() - 1], EXTENTS_BYTES[EXTENTS_BYTES.len() - 1]);
        let (starts, extent_bytes) = enough.unwrap_or_else(largest);
        starts.heat(extent_bytes)
    }
}

/// Gaps between arrivals by their length, in classes of eight an octave.
#[derive(Debug)]
struct GapClasses {
    /// Number and sum in ns.
    classes: Vec<(u64, f64)>,
}

const CLASSES_AN_OCTAVE: u32 = 8;

impl Default for GapClasses {
    fn default() -> Self {
        GapClasses { classes: vec![(0, 0.0); (64 * CLASSES_AN_OCTAVE) as usize] }
    }
}

impl GapClasses {
    fn add(&mut self, gap_ns: u64) {
        let class = &mut self.classes[class_of(gap_ns)];
        class.0 += 1;
        class.1 += gap_ns as f64;
    }

    fn fit(&self, info: &TraceInfo) -> Result<Arrival, String> {
        let (count, sum_ns) = self.classes.iter().fold((0, 0.0), |(n, s), class| (n + class.0, s + class.1));
        let Some(cv) = info.interarrival_cv.filter(|_| count > 0) else {
            return Err("has no span: without gaps between arrivals there is no rate to fit".into());
        };
        let mean_ns = sum_ns / count as f64;
        let rate = NS_PER_S / mean_ns;
        if rate >= RATE_MAX {
            return Err(format!(
                "has {rate:.0} requests a second, expected fewer than {RATE_MAX:.0}: is the time unit right?"
            ));
        }
        // Equal gaps within the tick of a coarse clock are the reader's doing.
        if cv < FIXED_CV && info.spread_tick_ns.is_none() {
            return Ok(Arrival::Fixed { rate });
        }
        if cv <= POISSON_CV {
            return Ok(Arrival::Poisson { rate });
        }
        let short = |class: &&(u64, f64)| class.1 <= mean_ns * class.0 as f64;
        let (shorts, short_ns) =
            self.classes.iter().filter(short).fold((0, 0.0), |(n, s), class| (n + class.0, s + class.1));
        let longs = (count - shorts).max(1);
        let burst_length = (count as f64 / longs as f64).round().clamp(2.0, BURST_MAX);
        // Gaps of 0 are bursts without end in sight; a scenario stops at 10^9.
        let burst_rate = (NS_PER_S * shorts as f64 / short_ns.max(1.0)).min(RATE_MAX).max(rate * 1.01);
        Ok(Arrival::OnOff { rate, burst_rate, burst_length: burst_length as u32 })
    }
}

/// The class of a gap: its octave, and the eighth of the octave.
fn class_of(gap_ns: u64) -> usize {
    let Some(octave) = gap_ns.checked_ilog2() else { return 0 };
    // The three bits behind the leading one.
    let eighth = if octave >= 3 { (gap_ns >> (octave - 3)) & 7 } else { (gap_ns << (3 - octave)) & 7 };
    (octave * CLASSES_AN_OCTAVE) as usize + eighth as usize
}

/// The distribution of this mean and coefficient of variation, before rounding up to whole pages if the answer's flag says
/// so: if `align`, and the mean is not missed by it.
fn fit_size(mean: f64, cv: f64, align: bool) -> (SizeDistribution, bool) {
    if cv < FIXED_SIZE_CV {
        return fit_fixed_size(mean, align);
    }
    let page = PAGE as f64;
    let bytes = |size: f64| (size.round() as Bytes).max(1);
    let stddev = mean * cv;
    if cv <= NORMAL_SIZE_CV {
        let (mean, variance) = match align {
            true => ((mean - page / 2.0).max(1.0), (stddev * stddev - page * page / 12.0).max(0.0)),
            false => (mean, stddev * stddev),
        };
        return (SizeDistribution::Normal { mean: bytes(mean), stddev: bytes(variance.sqrt()) }, align);
    }
    // Exponential sizes of mean m are page / (1 - e^(-page/m)) on average after rounding up.
    let mean = if align && mean > page { -page / libm::log1p(-page / mean) } else { mean };
    (SizeDistribution::Exponential { mean: bytes(mean) }, align)
}

/// One size. A byte above a whole page would be rounded up to twice its size: it is the nearest page that is aligned.
fn fit_fixed_size(mean: f64, align: bool) -> (SizeDistribution, bool) {
    let page = PAGE as f64;
    let paged = (mean / page).round().max(1.0) * page;
    let aligned = align && (paged / mean - 1.0).abs() <= PAGES_MISS;
    let size = if aligned { paged } else { mean };
    (SizeDistribution::Fixed { mean: (size.round() as Bytes).max(1) }, aligned)
}

fn fit_address(sequential_percent: f64, heat: &Heat) -> AddressPattern {
    if sequential_percent > SEQUENTIAL_PERCENT {
        return AddressPattern::Sequential;
    }
    if heat.hottest_fifth <= UNIFORM_SHARE {
        return AddressPattern::Uniform;
    }
    let theta = zipf_exponent(heat.hottest_fifth, heat.pages());
    let zipf = zipf_share(theta, heat.pages(), 0.04);
    // Within the hot part all is alike: a fifth of it has a fifth of its traffic.
    let hotspot = heat.hottest_fifth * 0.2;
    let distance = |expected: f64| libm::log(heat.hottest_25th.max(1e-9) / expected).abs();
    if distance(zipf) < distance(hotspot) {
        AddressPattern::Zipf { theta }
    } else {
        AddressPattern::Hotspot { hot_space: 0.2, hot_traffic: heat.hottest_fifth }
    }
}

/// The exponent with which the hottest fifth of `pages` has this share of the requests.
fn zipf_exponent(share: f64, pages: f64) -> f64 {
    let (mut low, mut high) = (0.01, 5.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if zipf_share(middle, pages, 0.2) < share { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The share of the requests on the hottest `part` of `pages` under a zipf law.
fn zipf_share(theta: f64, pages: f64, part: f64) -> f64 {
    weights(theta, (pages * part).max(1.0)) / weights(theta, pages.max(1.0))
}

/// The sum of `k^-theta` over the ranks up to `ranks`: the first one by one, the others as an integral (midpoint rule).
fn weights(theta: f64, ranks: f64) -> f64 {
    const ONE_BY_ONE: f64 = 256.0;
    let first = ranks.floor().min(ONE_BY_ONE);
    let sum: f64 = (1..=first as u64).map(|rank| libm::pow(rank as f64, -theta)).sum();
    let (from, to) = (first + 0.5, ranks + 0.5);
    let rest = if (theta - 1.0).abs() < 1e-6 {
        libm::log(to / from)
    } else {
        (libm::pow(to, 1.0 - theta) - libm::pow(from, 1.0 - theta)) / (1.0 - theta)
    };
    sum + rest
}

/// Requests by the extent they start in, for a sample of extents: those whose hash is below a limit that falls as they
/// become many, so that each is counted from its first request on or not at all.
#[derive(Debug)]
struct Starts {
    /// Requests of either half, by hash, volume and number of the extent.
    extents: BTreeMap<(u64, u16, u64), [u32; 2]>,
    limit: u64,
    requests: u64,
}

/// Extents that are counted at once: about 20 MB.
const EXTENTS_MAX: usize = 1 << 18;

impl Default for Starts {
    fn default() -> Self {
        Starts { extents: BTreeMap::new(), limit: u64::MAX, requests: 0 }
    }
}

impl Starts {
    fn add(&mut self, volume: u16, extent: u64) {
        self.requests += 1;
        let hash = mixed(extent ^ mixed(u64::from(volume) + 1));
        if hash > self.limit {
            return;
        }
        // By a hash of the request's number: a load that alternates must not fall into two halves of a kind.
        let half = (mixed(self.requests) & 1) as usize;
        let counts = self.extents.entry((hash, volume, extent)).or_default();
        counts[half] = counts[half].saturating_add(1);
        if self.extents.len() > EXTENTS_MAX {
            self.limit /= 2;
            let _ = self.extents.split_off(&(self.limit.saturating_add(1), 0, 0));
        }
    }

    /// Requests that start in an extent that has any, on average.
    fn per_extent(&self) -> f64 {
        let starts: u64 = self.extents.values().flatten().map(|&count| u64::from(count)).sum();
        starts as f64 / self.extents.len().max(1) as f64
    }

    fn heat(&self, extent_bytes: Bytes) -> Heat {
        let counts: Vec<[u32; 2]> = self.extents.values().copied().collect();
        let fifth = counts.len().div_ceil(5);
        let twenty_fifth = counts.len().div_ceil(25);
        let both = |hottest: usize| {
            let (by_first, by_second) = (share(&counts, 0, hottest), share(&counts, 1, hottest));
            (by_first + by_second) / 2.0
        };
        let sampled = if self.limit == u64::MAX { 1.0 } else { self.limit as f64 / u64::MAX as f64 };
        Heat {
            extent_bytes,
            hottest_fifth: both(fifth),
            hottest_25th: both(twenty_fifth),
            extents: counts.len() as f64 / sampled,
            starts_per_extent: self.per_extent(),
            sampled,
        }
    }
}

/// The share of one half's requests on the extents that have the most of the other half's, `ranking`.
fn share(counts: &[[u32; 2]], ranking: usize, hottest: usize) -> f64 {
    // Stable: equals stay in the order of their hashes, which says nothing about their traffic.
    let mut extents: Vec<&[u32; 2]> = counts.iter().collect();
    extents.sort_by_key(|counts| std::cmp::Reverse(counts[ranking]));
    let sum =
        |extents: &[&[u32; 2]]| extents.iter().map(|counts| u64::from(counts[1 - ranking])).sum::<u64>();
    sum(&extents[..hottest.min(extents.len())]) as f64 / sum(&extents).max(1) as f64
}

/// Spreads the bits of a number evenly (the finaliser of MurmurHash3).
fn mixed(mut value: u64) -> u64 {
    value ^= value >> 33;
    value = value.wrapping_mul(0xff51_afd7_ed55_8ccd);
    value ^= value >> 33;
    value = value.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
