//! What a claim asks of the runs: a small expression over the results, evaluated seed by seed.
//!
//! Every seed has an aged array and a load of its own, which all variants share, so a comparison is one of pairs and
//! the interval is that of the values of the seeds (Student's t; see [`Interval`]).

use std::collections::BTreeMap;

use harmonia_metrics::{Interval, Pairing, PairingReport};
use serde::Deserialize;

use crate::ages;
use crate::claims::{Unit, inside_the_die};
use crate::results::Results;
use crate::summary::{SECOND_NS, Summary, Times};

/// A figure of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Mean response time. Unit: ns.
    Mean,
    /// Its standard deviation. Unit: ns.
    Stddev,
    /// Its variance. Unit: ns^2.
    Variance,
    /// Its coefficient of variation. Unit: ratio.
    Cv,
    /// 99th percentile. Unit: ns.
    P99,
    /// 99.9th percentile. Unit: ns.
    P999,
    /// Longest response time. Unit: ns.
    Max,
    /// Blocks erased. Unit: count.
    Erases,
    /// Mean response time of reads. Unit: ns.
    ReadMean,
    /// Median of reads. Unit: ns.
    ReadP50,
    /// 75th percentile of reads. Unit: ns.
    ReadP75,
    /// 95th percentile of reads. Unit: ns.
    ReadP95,
    /// 99th percentile of reads. Unit: ns.
    ReadP99,
    /// 99.9th percentile of reads. Unit: ns.
    ReadP999,
    /// 99.99th percentile of reads. Unit: ns.
    ReadP9999,
    /// Mean response time of writes. Unit: ns.
    WriteMean,
    /// 95th percentile of writes. Unit: ns.
    WriteP95,
    /// Longest response time of reads. Unit: ns.
    ReadMax,
    /// Of writes. Unit: ns.
    WriteMax,
    /// Mean response time of reads that met garbage collection. Unit: ns.
    MetGcReadMean,
    /// Of writes that did. Unit: ns.
    MetGcWriteMean,
    /// Mean response time of requests that met collection of their die, by kind and by the plane that collected. Unit: ns.
    #[serde(skip)]
    MetGcMean(Met),
    /// Share of requests that met garbage collection. Unit: fraction.
    MetGc,
    /// Reads that met garbage collection, as a share of all requests. Unit: fraction.
    MetGcReads,
    /// Writes that did. Unit: fraction.
    MetGcWrites,
    /// Busy planes of a die that collects. Unit: percent.
    PlaneUtilisation,
    /// The most that utilisation can be with so many planes and victims as full as these; see
    /// [`bound`](crate::claims::inside_the_die::bound). Unit: percent.
    #[serde(skip)]
    UtilisationBound(u32),
    /// Writes that met garbage collection, as a share of writes. Unit: percent.
    WritesMet,
    /// Time of writes that met garbage collection, as a share of the time of all writes. Unit: percent.
    WriteTimeMet,
    /// Host reads taken along, of the places that garbage collection offered. Unit: percent.
    ReadsPaired,
    /// Host writes taken along. Unit: percent.
    WritesPaired,
    /// Places beside a read of garbage collection for which no read waited. Unit: percent.
    NoReadWaiting,
    /// Places beside a program for which no write waited. Unit: percent.
    NoWriteWaiting,
    /// Places beside a program where the other plane's next page has another offset. Unit: percent.
    OtherOffset,
    /// Pages written along with garbage collection, for each write request that met it. Unit: percent.
    WritesAlong,
    /// Host operations that waited at a die when it began to collect. Unit: operations.
    WaitingAtGc,
    /// Valid pages moved per block erased. Unit: pages.
    PagesMoved,
    /// Host pages written for a page that garbage collection moved. Unit: percent.
    WritesPerMove,
    /// Requests completed. Unit: 1/s.
    Throughput,
    /// Bandwidth of a closed loop, the mean of its seconds. Unit: MB/s.
    Bandwidth,
    /// The same, of each SSD. Unit: MB/s.
    BandwidthPerSsd,
    /// Standard deviation of the bandwidth of a second. Unit: MB/s.
    BandwidthStddev,
    /// Its coefficient of variation. Unit: percent.
    BandwidthCv,
    /// Bandwidth of the second that had least, of the mean. Unit: percent.
    BandwidthLowest,
    /// Bandwidth of a second, counted from 1. Unit: MB/s.
    #[serde(skip)]
    BandwidthAt(usize),
    /// Share of time in which any member collects. Unit: fraction.
    TimeInGc,
    /// Erased blocks of a device, the mean over time. Unit: blocks.
    EmptyBlocks,
    /// Variance of the rate at which they come and go, from one stretch of [`STRETCH_NS`] to the next.
    /// Unit: (blocks/s)^2.
    EmptyBlocksVariance,
    /// Channels that collect, the mean over time. Unit: count.
    ChannelsInGc,
    /// Members that collect, the mean over time. Unit: count.
    MembersInGc,
    /// What the coordination policy counted under a name. Unit: count.
    #[serde(skip)]
    Counted(&'static str),
    /// Parity that a member wrote, of that of all members. Unit: percent.
    #[serde(skip)]
    ParityShare(usize),
    /// The same, in percent of the share that it was assigned, in percent of all parity. Unit: percent.
    #[serde(skip)]
    ParityOfAssigned(usize, usize),
    /// Age of a member, by age from 0, the oldest, at a replacement, counted from 1. Unit: percent of a life.
    #[serde(skip)]
    Age(usize, usize),
    /// Share of the parity that a member is assigned until a replacement, counted from 1. Members by age from 0, the oldest.
    /// Unit: percent.
    #[serde(skip)]
    Assigned(usize, usize),
    /// Replacements, of ten, at which the second oldest member is above its critical age. Unit: count.
    Critical,
    /// Replacement from which on the age of the second oldest member is stable. Unit: count.
    StableFrom,
}

/// Requests that met collection of their die, and of which plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Met {
    /// Reads of a plane that collected.
    OwnReads,
    /// Writes to one.
    OwnWrites,
    /// Reads that met nothing but collections of sibling planes.
    SiblingReads,
    /// Such writes.
    SiblingWrites,
}

/// Width at which changes of empty blocks are compared, the same in all runs: the narrowest that a report has of
/// windows of up to 36 minutes. Unit: ns.
pub const STRETCH_NS: u64 = 1 << 34;

impl Quantity {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Mean => "mean response time",
            Quantity::Stddev => "standard deviation",
            Quantity::Variance => "variance",
            Quantity::Cv => "coefficient of variation",
            Quantity::P99 => "99th percentile",
            Quantity::P999 => "99.9th percentile",
            Quantity::Max => "longest response time",
            Quantity::Erases => "erases",
            Quantity::ReadMean => "mean response time of reads",
            Quantity::ReadP50 => "median of reads",
            Quantity::ReadP75 => "75th percentile of reads",
            Quantity::ReadP95 => "95th percentile of reads",
            Quantity::ReadP99 => "99th percentile of reads",
            Quantity::ReadP999 => "99.9th percentile of reads",
            Quantity::ReadP9999 => "99.99th percentile of reads",
            Quantity::WriteMean => "mean response time of writes",
            Quantity::WriteP95 => "95th percentile of writes",
            Quantity::ReadMax => "longest response time of reads",
            Quantity::WriteMax => "longest response time of writes",
            Quantity::MetGcReadMean => "mean response time of reads that met garbage collection",
            Quantity::MetGcWriteMean => "mean response time of writes that met garbage collection",
            Quantity::MetGcMean(_) => "mean response time of requests that met collection of a plane",
            Quantity::MetGc => "requests that met garbage collection",
            Quantity::MetGcReads => "reads that met garbage collection",
            Quantity::MetGcWrites => "writes that met garbage collection",
            Quantity::PlaneUtilisation => "plane utilisation during garbage collection",
            Quantity::UtilisationBound(_) => "bound of plane utilisation",
            Quantity::WritesMet => "share of writes that met garbage collection",
            Quantity::WriteTimeMet => "share of the time of writes that met garbage collection",
            Quantity::ReadsPaired => "places beside reads that were taken",
            Quantity::WritesPaired => "places beside programs that were taken",
            Quantity::NoReadWaiting => "places beside reads for which nothing waited",
            Quantity::NoWriteWaiting => "places beside programs for which nothing waited",
            Quantity::OtherOffset => "places beside programs at another offset",
            Quantity::WritesAlong => "pages written along per write that met collection",
            Quantity::WaitingAtGc => "operations waiting when collection begins",
            Quantity::PagesMoved => "pages moved per block erased",
            Quantity::WritesPerMove => "host pages written per page moved",
            Quantity::Throughput => "throughput",
            Quantity::Bandwidth => "bandwidth",
            Quantity::BandwidthPerSsd => "bandwidth of an SSD",
            Quantity::BandwidthStddev => "standard deviation of bandwidth",
            Quantity::BandwidthCv => "coefficient of variation of bandwidth",
            Quantity::BandwidthLowest => "lowest bandwidth of a second, of the mean",
            Quantity::BandwidthAt(_) => "bandwidth of a second",
            Quantity::TimeInGc => "time with a member collecting",
            Quantity::EmptyBlocks => "empty blocks",
            Quantity::EmptyBlocksVariance => "variance of the change of empty blocks",
            Quantity::ChannelsInGc => "channels that collect",
            Quantity::MembersInGc => "members that collect",
            Quantity::Counted(name) => name,
            Quantity::ParityShare(_) => "share of the parity",
            Quantity::ParityOfAssigned(..) => "share of the parity, of the one that was assigned",
            Quantity::Age(..) => "age at a replacement",
            Quantity::Assigned(..) => "share of the parity that was assigned",
            Quantity::Critical => "replacements with a second member of critical age",
            Quantity::StableFrom => "replacement from which ages are stable",
        }
    }

    /// The unit that it is shown in.
    pub fn unit(self) -> Unit {
        use Quantity as Q;
        match self {
            Q::Mean | Q::Stddev | Q::P99 | Q::P999 | Q::Max => Unit::Ns,
            Q::ReadMean | Q::ReadP50 | Q::ReadP75 | Q::ReadP95 | Q::ReadP99 | Q::ReadP999 => Unit::Ns,
            Q::ReadP9999 | Q::ReadMax | Q::WriteMean | Q::WriteP95 | Q::WriteMax => Unit::Ns,
            Q::MetGcReadMean | Q::MetGcWriteMean | Q::MetGcMean(_) => Unit::Ns,
            Q::PlaneUtilisation | Q::UtilisationBound(_) | Q::WritesMet | Q::WriteTimeMet => Unit::Percent,
            Q::ReadsPaired | Q::WritesPaired | Q::NoReadWaiting | Q::NoWriteWaiting => Unit::Percent,
            Q::OtherOffset | Q::WritesAlong | Q::WritesPerMove => Unit::Percent,
            Q::ParityShare(_) | Q::ParityOfAssigned(..) | Q::Age(..) | Q::Assigned(..) => Unit::Percent,
            Q::Variance | Q::Cv | Q::Erases | Q::MetGc | Q::MetGcReads | Q::MetGcWrites => Unit::Plain,
            Q::WaitingAtGc | Q::PagesMoved | Q::Throughput | Q::TimeInGc | Q::EmptyBlocks => Unit::Plain,
            Q::EmptyBlocksVariance | Q::ChannelsInGc | Q::MembersInGc | Q::Counted(_) => Unit::Plain,
            Q::Critical | Q::StableFrom => Unit::Plain,
            Q::Bandwidth | Q::BandwidthPerSsd | Q::BandwidthStddev | Q::BandwidthAt(_) => Unit::Bandwidth,
            Q::BandwidthCv | Q::BandwidthLowest => Unit::Percent,
        }
    }

    /// Its value; `None` where the run has none.
    pub fn of(self, run: &Summary) -> Option<f64> {
        let ns = |ns: Option<u64>| ns.map(|ns| ns as f64);
        let (mean, stddev) = (ns(run.all.mean), ns(run.all.stddev));
        match self {
            Quantity::Mean => mean,
            Quantity::Stddev => stddev,
            Quantity::Variance => stddev.map(|stddev| stddev * stddev),
            Quantity::Cv => stddev.zip(mean).map(|(stddev, mean)| stddev / mean),
            Quantity::P99 => ns(run.all.p99),
            Quantity::P999 => ns(run.all.p999),
            Quantity::Max => ns(run.all.max),
            Quantity::Erases => Some(run.erases as f64),
            Quantity::ReadMean => ns(run.read.mean),
            Quantity::ReadP50 => ns(run.read.p50),
            Quantity::ReadP75 => ns(run.read.p75),
            Quantity::ReadP95 => ns(run.read.p95),
            Quantity::ReadP99 => ns(run.read.p99),
            Quantity::ReadP999 => ns(run.read.p999),
            Quantity::ReadP9999 => ns(run.read.p9999),
            Quantity::WriteMean => ns(run.write.mean),
            Quantity::WriteP95 => ns(run.write.p95),
            Quantity::ReadMax => ns(run.read.max),
            Quantity::WriteMax => ns(run.write.max),
            Quantity::MetGcReadMean => ns(run.met_gc_read.mean),
            Quantity::MetGcWriteMean => ns(run.met_gc_write.mean),
            Quantity::MetGcMean(met) => {
                let of = run.met_gc.as_ref()?;
                let of = match met {
                    Met::OwnReads => of.own_reads,
                    Met::OwnWrites => of.own_writes,
                    Met::SiblingReads => of.sibling_reads,
                    Met::SiblingWrites => of.sibling_writes,
                };
                of.mean_ns
            }
            Quantity::MetGc => Some(run.met_gc_share),
            Quantity::MetGcReads => of_all(run.met_gc_read.count, run),
            Quantity::MetGcWrites => of_all(run.met_gc_write.count, run),
            Quantity::PlaneUtilisation => run.plane_utilisation_in_gc.map(|share| 100.0 * share),
            Quantity::UtilisationBound(planes) => {
                let valid = Quantity::PagesMoved.of(run)?;
                let affected = Quantity::WritesMet.of(run)? / 100.0;
                Some(100.0 * inside_the_die::bound(f64::from(planes), valid, affected))
            }
            Quantity::WritesMet => {
                let (met, all) = (run.met_gc_write.count, run.write.count);
                (all > 0).then(|| 100.0 * met as f64 / all as f64)
            }
            Quantity::WriteTimeMet => {
                let time = |times: &Times| times.mean.map(|mean| mean as f64 * times.count as f64);
                let (met, all) = (time(&run.met_gc_write).unwrap_or_default(), time(&run.write)?);
                (all > 0.0).then(|| 100.0 * met / all)
            }
            Quantity::ReadsPaired => offered(run, |pairing| &pairing.reads, |places| places.matched),
            Quantity::WritesPaired => offered(run, |pairing| &pairing.writes, |places| places.matched),
            Quantity::NoReadWaiting => offered(run, |pairing| &pairing.reads, |places| places.none_waiting),
            Quantity::NoWriteWaiting => offered(run, |pairing| &pairing.writes, |places| places.none_waiting),
            Quantity::OtherOffset => offered(run, |pairing| &pairing.writes, |places| places.other_offset),
            Quantity::WritesAlong => {
                let along = run.pairing.as_ref()?.writes.matched as f64;
                (run.met_gc_write.count > 0).then(|| 100.0 * along / run.met_gc_write.count as f64)
            }
            Quantity::WaitingAtGc => run.waiting_at_gc,
            Quantity::PagesMoved => (run.erases > 0).then(|| run.gc_pages_moved as f64 / run.erases as f64),
            Quantity::WritesPerMove => {
                let (written, moved) = (run.host_pages_written as f64, run.gc_pages_moved as f64);
                (moved > 0.0).then(|| 100.0 * written / moved)
            }
            Quantity::Throughput => {
                (run.simulated_ns > 0).then(|| run.requests as f64 * 1e9 / run.simulated_ns as f64)
            }
            Quantity::Bandwidth => Some(bandwidth(run)?.0),
            Quantity::BandwidthPerSsd => {
                let members = run.devices_in_gc.len().checked_sub(1).filter(|members| *members > 0)?;
                Some(bandwidth(run)?.0 / members as f64)
            }
            Quantity::BandwidthStddev => Some(bandwidth(run)?.1),
            Quantity::BandwidthCv => bandwidth(run).map(|(mean, stddev)| 100.0 * stddev / mean),
            Quantity::BandwidthLowest => {
                let lowest = *run.bytes_by_second.iter().min()?;
                Some(100.0 * megabytes_a_second(lowest) / bandwidth(run)?.0)
            }
            Quantity::BandwidthAt(second) => {
                run.bytes_by_second.get(second.checked_sub(1)?).copied().map(megabytes_a_second)
            }
            Quantity::TimeInGc => run.devices_in_gc.first().map(|none| 1.0 - none),
            Quantity::EmptyBlocks => run.over_time.as_ref()?.empty_blocks,
            Quantity::EmptyBlocksVariance => {
                let mut by_width = run.over_time.as_ref()?.change_variance.iter();
                by_width.find(|(width, _)| *width == STRETCH_NS).map(|(_, variance)| *variance)
            }
            Quantity::ChannelsInGc => Some(run.over_time.as_ref()?.channels_in_gc),
            Quantity::MembersInGc => {
                let shares = run.devices_in_gc.iter().enumerate();
                Some(shares.map(|(members, share)| members as f64 * share).sum())
            }
            Quantity::Counted(name) => run.coordination.get(name).map(|&count| count as f64),
            Quantity::ParityShare(member) => {
                let all: u64 = run.members.iter().map(|member| member.parity_pages_written).sum();
                let own = run.members.get(member)?.parity_pages_written;
                (all > 0).then(|| 100.0 * own as f64 / all as f64)
            }
            Quantity::ParityOfAssigned(member, assigned) => {
                Some(100.0 * Quantity::ParityShare(member).of(run)? / assigned as f64)
            }
            Quantity::Age(slot, replacement) => {
                Some(100.0 * run.replaced.get(replacement.checked_sub(1)?)?.ages.get(slot)?)
            }
            Quantity::Assigned(slot, replacement) => {
                Some(f64::from(*run.replaced.get(replacement.checked_sub(1)?)?.shares.get(slot)?))
            }
            Quantity::Critical => ages::critical(&run.replaced).map(|count| count as f64),
            Quantity::StableFrom => ages::stable_from(&run.replaced).map(|first| first as f64),
        }
    }
}

/// Bytes of a stretch of [`SECOND_NS`] in MB/s.
fn megabytes_a_second(bytes: u64) -> f64 {
    bytes as f64 * 1000.0 / SECOND_NS as f64
}

/// Mean and standard deviation of a second's bandwidth in MB/s; `None` with fewer than two seconds, or where nothing moved.
fn bandwidth(run: &Summary) -> Option<(f64, f64)> {
    let n = run.bytes_by_second.len() as f64;
    let seconds = || run.bytes_by_second.iter().copied().map(megabytes_a_second);
    let mean = seconds().sum::<f64>() / n;
    let variance = seconds().map(|second| (second - mean) * (second - mean)).sum::<f64>() / n;
    (run.bytes_by_second.len() > 1 && mean > 0.0).then(|| (mean, variance.sqrt()))
}

/// `count` as a share of a run's requests.
fn of_all(count: u64, run: &Summary) -> Option<f64> {
    (run.requests > 0).then(|| count as f64 / run.requests as f64)
}

/// Some of the places that garbage collection offered, in percent of them.
fn offered(
    run: &Summary,
    kind: impl Fn(&PairingReport) -> &Pairing,
    count: impl Fn(&Pairing) -> u64,
) -> Option<f64> {
    let places = kind(run.pairing.as_ref()?);
    (places.offered > 0).then(|| 100.0 * count(places) as f64 / places.offered as f64)
}

/// By how many percent `after` is below `before`. What does not grow in the first place cannot grow less: where `before` is below 0
/// the answer is never that it was lowered.
fn percent_lowered(before: f64, after: f64) -> f64 {
    if before >= 0.0 {
        100.0 * (1.0 - after / before)
    } else {
        (100.0 * (before - after) / before.abs()).min(0.0)
    }
}

/// An expression over the results.
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    /// A figure of a variant of an experiment.
    Of(Quantity, &'static str, String),
    /// The first less the second.
    Minus(Box<Measure>, Box<Measure>),
    /// The first divided by the second.
    Over(Box<Measure>, Box<Measure>),
    /// By how many percent the second is below the first. Where the first is below 0 nothing is lowered.
    Lowered(Box<Measure>, Box<Measure>),
    /// Their mean.
    Average(Vec<Measure>),
    /// The highest of them.
    Highest(Vec<Measure>),
    /// The lowest of them.
    Lowest(Vec<Measure>),
    /// Of the first seed alone: what happens over time is no mean over seeds.
    First(Box<Measure>),
}

/// By how many percent `quantity` of `after` is below that of `before`, two variants of an experiment.
pub fn lowered(quantity: Quantity, experiment: &'static str, before: &str, after: &str) -> Measure {
    let of = |variant: &str| Box::new(Measure::Of(quantity, experiment, variant.to_owned()));
    Measure::Lowered(of(before), of(after))
}

/// `quantity` of `this` divided by that of `other`, two variants of an experiment.
pub fn ratio(quantity: Quantity, experiment: &'static str, this: &str, other: &str) -> Measure {
    let of = |variant: &str| Box::new(Measure::Of(quantity, experiment, variant.to_owned()));
    Measure::Over(of(this), of(other))
}

impl Measure {
    /// Its value for every seed that has all it needs.
    pub fn by_seed(&self, results: &Results) -> BTreeMap<u64, f64> {
        match self {
            Measure::Of(quantity, experiment, variant) => {
                let runs = results.runs(experiment, variant);
                runs.into_iter().filter_map(|(seed, run)| Some((seed, quantity.of(run)?))).collect()
            }
            Measure::Minus(a, b) => both(a, b, results, |a, b| a - b),
            Measure::Over(a, b) => both(a, b, results, |a, b| a / b),
            Measure::Lowered(before, after) => both(before, after, results, percent_lowered),
            Measure::Average(of) => {
                all(of, results, |values| values.iter().sum::<f64>() / values.len() as f64)
            }
            Measure::Highest(of) => {
                all(of, results, |values| values.iter().copied().fold(f64::MIN, f64::max))
            }
            Measure::Lowest(of) => all(of, results, |values| values.iter().copied().fold(f64::MAX, f64::min)),
            Measure::First(of) => of.by_seed(results).into_iter().filter(|(seed, _)| *seed == 1).collect(),
        }
    }

    /// Its interval over the seeds; `None` where a run is missing.
    pub fn interval(&self, results: &Results) -> Option<Interval> {
        let values: Vec<f64> =
            self.by_seed(results).into_values().filter(|value| value.is_finite()).collect();
        Interval::of(&values)
    }

    /// The geometric mean over the seeds, as an interval without a width, and the ends of the interval of its logarithm, which one
    /// seed has not; `None` where a run is missing.
    pub fn factor(&self, results: &Results) -> Option<(Interval, Option<(f64, f64)>)> {
        let values: Vec<f64> =
            self.by_seed(results).into_values().filter(|value| value.is_finite()).collect();
        if values.iter().any(|&value| value <= 0.0) {
            // Nothing has no logarithm.
            let plain = Interval::of(&values)?;
            let ends = plain.half_width.map(|_| (plain.low(), plain.high()));
            return Some((Interval { half_width: None, ..plain }, ends));
        }
        let logarithm = Interval::of(&values.into_iter().map(libm::log).collect::<Vec<f64>>())?;
        let mean = Interval { mean: libm::exp(logarithm.mean), half_width: None, ..logarithm };
        let ends = logarithm.half_width.map(|_| (libm::exp(logarithm.low()), libm::exp(logarithm.high())));
        Some((mean, ends))
    }

    /// Reads other variants instead: `name` gives that of an experiment's variant.
    pub fn rename(&mut self, name: &impl Fn(&str, &str) -> String) {
        match self {
            Measure::Of(_, experiment, variant) => *variant = name(experiment, variant),
            Measure::Minus(a, b) | Measure::Over(a, b) | Measure::Lowered(a, b) => {
                a.rename(name);
                b.rename(name);
            }
            Measure::First(of) => of.rename(name),
            Measure::Average(of) | Measure::Highest(of) | Measure::Lowest(of) => {
                of.iter_mut().for_each(|one| one.rename(name));
            }
        }
    }

    /// Experiments it reads.
    pub fn experiments(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> =
            self.cells().into_iter().map(|(experiment, _)| experiment).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Experiment and variant of everything it reads.
    pub fn cells(&self) -> Vec<(&'static str, &str)> {
        match self {
            Measure::Of(_, experiment, variant) => vec![(experiment, variant.as_str())],
            Measure::Minus(a, b) | Measure::Over(a, b) | Measure::Lowered(a, b) => {
                [a.cells(), b.cells()].concat()
            }
            Measure::First(of) => of.cells(),
            Measure::Average(of) | Measure::Highest(of) | Measure::Lowest(of) => {
                of.iter().flat_map(Measure::cells).collect()
            }
        }
    }
}

fn both(
    a: &Measure,
    b: &Measure,
    results: &Results,
    combine: impl Fn(f64, f64) -> f64,
) -> BTreeMap<u64, f64> {
    let b = b.by_seed(results);
    let pairs = a.by_seed(results).into_iter();
    pairs.filter_map(|(seed, a)| b.get(&seed).map(|&b| (seed, combine(a, b)))).collect()
}

fn all(of: &[Measure], results: &Results, combine: impl Fn(&[f64]) -> f64) -> BTreeMap<u64, f64> {
    let values: Vec<BTreeMap<u64, f64>> = of.iter().map(|measure| measure.by_seed(results)).collect();
    let Some(first) = values.first() else { return BTreeMap::new() };
    let of_seed =
        |seed: &u64| values.iter().map(|values| values.get(seed).copied()).collect::<Option<Vec<f64>>>();
    first.keys().filter_map(|seed| Some((*seed, combine(&of_seed(seed)?)))).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::summary::{MemberWear, Outcome, Replaced};

    /// Results of an experiment `x`: variants with the mean of each seed.
    pub(crate) fn means(variants: &[(&str, &[u64])]) -> Results {
        let mut results = Results::default();
        for (variant, means) in variants {
            for (index, &mean) in means.iter().enumerate() {
                let all = Times { mean: Some(mean), stddev: Some(mean / 2), ..Times::default() };
                let summary = Summary { all, ..Summary::default() };
                results.insert("0", "x", variant, index as u64 + 1, Outcome::Measured(summary));
            }
        }
        results
    }

    fn values(measure: &Measure, results: &Results) -> Vec<f64> {
        measure.by_seed(results).into_values().collect()
    }

    #[test]
    fn a_comparison_is_made_seed_by_seed() {
        let results = means(&[("before", &[100, 200]), ("after", &[30, 40])]);
        let lowered = lowered(Quantity::Mean, "x", "before", "after");
        assert_eq!(values(&lowered, &results), [70.0, 80.0]);
        assert_eq!(values(&ratio(Quantity::Variance, "x", "before", "after"), &results)[1], 25.0);
        assert_eq!(lowered.interval(&results).expect("two seeds").mean, 75.0);
    }

    #[test]
    fn ages_and_shares_are_those_until_a_replacement_counted_from_one() {
        let one = |shares: [u16; 2], second| Replaced {
            shares: shares.to_vec(),
            ages: vec![1.0, second],
            ..Replaced::default()
        };
        let replaced = vec![one([60, 40], 0.8), one([70, 30], 0.5), one([80, 20], 0.5)];
        let run = Summary { replaced, ..Summary::default() };
        let of = |quantity: Quantity| quantity.of(&run);
        assert_eq!((of(Quantity::Age(1, 1)), of(Quantity::Age(0, 2))), (Some(80.0), Some(100.0)));
        assert_eq!((of(Quantity::Assigned(0, 1)), of(Quantity::Assigned(1, 3))), (Some(60.0), Some(20.0)));
        assert_eq!((of(Quantity::Critical), of(Quantity::StableFrom)), (Some(1.0), Some(2.0)));
        // There is neither a replacement 0 nor a fourth one, nor a third member.
        let beyond =
            [Quantity::Age(1, 0), Quantity::Age(1, 4), Quantity::Age(2, 1), Quantity::Assigned(0, 0)];
        assert_eq!(beyond.map(of), [None; 4]);
        let single = Summary::default();
        assert_eq!((Quantity::Critical.of(&single), Quantity::StableFrom.of(&single)), (None, None));
    }

    /// It once was: a standard deviation that fell where it was said to grow, and grew under coordination, was lowered by 216%.
    #[test]
    fn what_does_not_grow_is_not_lowered() {
        assert_eq!(percent_lowered(10.0, 4.0), 60.0);
        assert_eq!(percent_lowered(10.0, -10.0), 200.0);
        assert_eq!(percent_lowered(-10.0, 11.6), -216.0);
        assert_eq!(percent_lowered(-10.0, -20.0), 0.0);
    }

    /// Two seconds of 100 and 300 MB/s on two SSDs.
    #[test]
    fn bandwidth_is_that_of_seconds() {
        let second = |megabytes: u64| megabytes * SECOND_NS / 1000;
        let run = Summary {
            bytes_by_second: vec![second(100), second(300)],
            devices_in_gc: vec![1.0, 0.0, 0.0],
            ..Summary::default()
        };
        for (quantity, expected) in [
            (Quantity::Bandwidth, 200.0),
            (Quantity::BandwidthPerSsd, 100.0),
            (Quantity::BandwidthStddev, 100.0),
            (Quantity::BandwidthCv, 50.0),
            (Quantity::BandwidthLowest, 50.0),
            (Quantity::BandwidthAt(2), 300.0),
        ] {
            let found = quantity.of(&run).expect("two seconds");
            assert!((found - expected).abs() < 1e-3, "{}: {found}", quantity.name());
            assert_eq!(quantity.of(&Summary::default()), None, "{}", quantity.name());
        }
        assert_eq!(Quantity::BandwidthAt(3).of(&run), None);
    }

    #[test]
    fn what_happens_over_time_is_that_of_the_first_seed() {
        let results = means(&[("a", &[7, 9])]);
        let of = Measure::Of(Quantity::Mean, "x", "a".to_owned());
        assert_eq!(values(&Measure::First(Box::new(of)), &results), [7.0]);
    }

    /// Half of the parity where 60% were assigned is 83% of that.
    #[test]
    fn a_share_of_parity_is_held_against_the_one_that_was_assigned() {
        let member = |parity_pages_written| MemberWear { erases: 0, parity_pages_written };
        let run = Summary { members: vec![member(50), member(50)], ..Summary::default() };
        assert_eq!(Quantity::ParityOfAssigned(1, 50).of(&run), Some(100.0));
        assert!(Quantity::ParityOfAssigned(0, 60).of(&run).is_some_and(|share| (share - 83.33).abs() < 0.01));
        assert_eq!(Quantity::ParityOfAssigned(0, 60).of(&Summary::default()), None);
    }

    /// A policy without such a counter has no value, which is not 0.
    #[test]
    fn what_a_policy_counts_is_found_by_its_name() {
        let coordination = [("entered_n".to_owned(), 7)].into();
        let run = Summary { coordination, devices_in_gc: vec![0.5, 0.3, 0.2], ..Summary::default() };
        assert_eq!(Quantity::Counted("entered_n").of(&run), Some(7.0));
        assert_eq!(Quantity::Counted("entered_p").of(&run), None);
        assert_eq!(Quantity::MembersInGc.of(&run), Some(0.7));
    }

    #[test]
    fn a_seed_that_lacks_a_run_is_left_out() {
        let results = means(&[("a", &[1, 2, 3]), ("b", &[1, 2])]);
        let of = |variant: &str| Measure::Of(Quantity::Mean, "x", variant.to_owned());
        assert_eq!(values(&Measure::Average(vec![of("a"), of("b")]), &results).len(), 2);
        assert_eq!(values(&Measure::Highest(vec![of("a"), of("none")]), &results), [0.0; 0]);
        assert_eq!(of("none").interval(&results), None);
    }

    #[test]
    fn extremes_and_averages_are_those_of_the_seed() {
        let results = means(&[("a", &[1, 9]), ("b", &[5, 5])]);
        let of = || ["a", "b"].map(|variant| Measure::Of(Quantity::Mean, "x", variant.to_owned())).to_vec();
        assert_eq!(values(&Measure::Highest(of()), &results), [5.0, 9.0]);
        assert_eq!(values(&Measure::Lowest(of()), &results), [1.0, 5.0]);
        assert_eq!(values(&Measure::Average(of()), &results), [3.0, 7.0]);
    }

    /// A run without writes has no share of them.
    #[test]
    fn time_is_shared_by_count_and_mean() {
        let times = |count, mean| Times { count, mean: Some(mean), ..Times::default() };
        let run = Summary { write: times(8, 100), met_gc_write: times(2, 300), ..Summary::default() };
        assert_eq!(Quantity::WritesMet.of(&run), Some(25.0));
        assert_eq!(Quantity::WriteTimeMet.of(&run), Some(75.0));
        assert_eq!(Quantity::WriteTimeMet.of(&Summary::default()), None);
    }

    /// Two hundred places beside programs, forty beside reads.
    #[test]
    fn places_are_counted_by_kind_and_in_percent_of_those_offered() {
        let writes = Pairing {
            offered: 200,
            matched: 50,
            none_waiting: 90,
            other_offset: 40,
            not_ready: 20,
            ..Pairing::default()
        };
        let reads = Pairing { offered: 40, matched: 10, none_waiting: 30, ..Pairing::default() };
        let run = Summary {
            pairing: Some(PairingReport { reads, writes }),
            erases: 4,
            gc_pages_moved: 1600,
            host_pages_written: 400,
            ..Summary::default()
        };
        for (quantity, expected) in [
            (Quantity::WritesPaired, 25.0),
            (Quantity::NoWriteWaiting, 45.0),
            (Quantity::OtherOffset, 20.0),
            (Quantity::ReadsPaired, 25.0),
            (Quantity::NoReadWaiting, 75.0),
            (Quantity::PagesMoved, 400.0),
            (Quantity::WritesPerMove, 25.0),
        ] {
            assert_eq!(quantity.of(&run), Some(expected), "{}", quantity.name());
            assert_eq!(quantity.of(&Summary::default()), None, "{}", quantity.name());
        }
    }
}
