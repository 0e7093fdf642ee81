//! How many years drives last at the rate of the measured window.
//!
//! ```text
//! bytes to a drive in the window / length of the window                           rate
//! cycles x flash / (rate x W)               mean use of the cycles                all blocks alike
//! rated bytes / rate                        the rating in bytes
//! least endurance x flash / (rate x W)      the first block                       the endurance that was drawn
//! sum of (E(k+1) - E(k)) x flash of the blocks left / (rate x W(k))               read-only, k blocks of a unit lost
//! ```
//!
//! `W` is the write amplification of the drive over whole collection cycles, in bytes. `E(k)` is the `k`-th least endurance of the
//! blocks of an allocation unit, as `[ssd.wear]` draws it: an order statistic of the sample that a simulation to the end of the
//! drive would have. Both count from the beginning of the measured window: what a drive has behind it then is left out. A drive is
//! read-only when the first of its units has lost the blocks that it may lose.
//!
//! `W(k)` follows from `W`, because a unit that has lost blocks is a unit with less spare. Collection of the block that was written
//! longest ago, under uniform writes, finds the share `u` of its pages valid, where `u = exp(-a (1 - u))` and `a` is flash over data.
//! That law gives the `a` of the measured `W`, and `W(k)` from `a` less the blocks that are lost.
//!
//! Blocks that are erased as often as they endure are not all erased equally often, by an erase or more. Of few erases that is a
//! large share: of 20, half of them used, a simulated drive ended 10% before the closed form, of 50 1.3%, of 100 and more 0.6%.
//!
//! What this assumes: writes go on at this rate and as they are, they spread evenly over the units of a drive, and blocks of a unit
//! are erased equally often. The last is what wear levelling is for. It does not hold where data is never rewritten and wear is
//! not levelled: [`Evenness`] says what the run shows of it.
//!
//! Sources: Desnoyers, "Analytic Modeling of SSD Write Performance" (SYSTOR 2012), for the law; JESD218 for what a rating is.
//! Leaves out: errors that grow with wear, retention, failures by chance, members that are replaced.

use serde::{Deserialize, Serialize};

use harmonia_types::units::DAYS_PER_YEAR;

use crate::device::DeviceReport;
use crate::flash_bytes::Flash;

const DAY_NS: f64 = 86_400e9;

/// What bounds the life of a drive, as its configuration says it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DriveLimits {
    /// What its host can use. Unit: bytes.
    pub capacity: u64,
    /// Data that all of its blocks hold. Unit: bytes.
    pub flash: u64,
    /// Erases that its blocks have left on average.
    pub cycles: Option<f64>,
    /// Whether these are a rating of their own, and not the mean of what blocks endure.
    pub rates_cycles: bool,
    /// Bytes that its host may write by its rating.
    pub rated_bytes: Option<f64>,
    /// By allocation unit: erases left of its weakest blocks, ascending. There are as many as the unit may lose (at most `blocks`), and the
    /// last makes the drive read-only. Empty where blocks last for ever.
    pub endurance: Vec<Vec<u32>>,
    /// Blocks of an allocation unit.
    pub blocks: usize,
}

/// Keys of `lifetime`, in every entry of the report's `devices`: at the rate of the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LifetimeReport {
    /// Written to the drive by the array a day. Unit: bytes.
    pub host_bytes_per_day: f64,
    /// The same in usable capacities of the drive: DWPD. Unit: ratio.
    pub drive_writes_per_day: f64,
    /// Of the drive over whole collection cycles; null if no block was collected. Unit: ratio.
    pub write_amplification: Option<f64>,
    /// Programmed into its flash a day; null without write amplification. Unit: bytes.
    pub flash_bytes_per_day: Option<f64>,
    /// Years until each limit.
    pub years: Years<f64>,
    /// The limit that comes first.
    pub limit: Option<Limit>,
    /// Until a new drive of mean endurance in its place would be read-only, or have had its rated erases; absent where neither is
    /// known. Unit: years.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_drive: Option<f64>,
}

/// Years of 365 days until each limit; null where nothing says it, nothing was written, or write amplification is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Years<T> {
    /// Blocks have had the rated erases on average, or those that they endure on average. Unit: years.
    pub cycles: Option<T>,
    /// The host has written the rated bytes. Unit: years.
    pub rated_bytes: Option<T>,
    /// The first block of the drive retires. Unit: years.
    pub first_block: Option<T>,
    /// The drive has lost the spare that it may lose, and is read-only. Unit: years.
    pub read_only: Option<T>,
}

/// What ends the life of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Mean use of the cycles.
    Cycles,
    /// The rating in bytes.
    RatedBytes,
    /// The spare is gone.
    ReadOnly,
}

impl<T> Years<T> {
    /// Every value by its limit; the first block ends no drive.
    fn ends(&self, rates_cycles: bool) -> [(Limit, Option<&T>); 3] {
        // Where it is known when the spare is gone, the mean of all blocks ends nothing unless it is a rating.
        let cycles = self.cycles.as_ref().filter(|_| rates_cycles || self.read_only.is_none());
        [
            (Limit::Cycles, cycles),
            (Limit::RatedBytes, self.rated_bytes.as_ref()),
            (Limit::ReadOnly, self.read_only.as_ref()),
        ]
    }
}

impl LifetimeReport {
    /// How long a drive with these limits lasts, that reports this of a window of so many ns.
    pub fn of(limits: &DriveLimits, device: &DeviceReport, window_ns: u64) -> LifetimeReport {
        let days = window_ns as f64 / DAY_NS;
        let per_day = if days > 0.0 { device.host_bytes_written as f64 / days } else { 0.0 };
        let amplification = device.write_amplification_whole_cycles;
        let years_of = |host_bytes: f64| (per_day > 0.0).then(|| host_bytes / per_day / DAYS_PER_YEAR);
        let worn = |cycles: f64| years_of(cycles * limits.flash as f64 / amplification?);
        let years = Years {
            cycles: limits.cycles.and_then(worn),
            rated_bytes: limits.rated_bytes.and_then(years_of),
            first_block: limits.first_block().and_then(|erases| worn(erases.into())),
            read_only: amplification
                .and_then(|amplification| limits.host_bytes(amplification, before_collection(device)))
                .and_then(years_of),
        };
        let ends =
            years.ends(limits.rates_cycles).into_iter().filter_map(|(limit, years)| Some((limit, *years?)));
        LifetimeReport {
            host_bytes_per_day: per_day,
            drive_writes_per_day: per_day / limits.capacity.max(1) as f64,
            write_amplification: amplification,
            flash_bytes_per_day: amplification.map(|amplification| per_day * amplification),
            years,
            limit: ends.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(limit, _)| limit),
            new_drive: None,
        }
    }

    /// Years until it is worn out, whatever was rated in bytes: until it is read-only, or has had its erases.
    pub fn wears_out_after(&self) -> Option<f64> {
        self.years.read_only.or(self.years.cycles)
    }

    /// Years until the limit that comes first.
    pub fn ends_after(&self) -> Option<f64> {
        match self.limit? {
            Limit::Cycles => self.years.cycles,
            Limit::RatedBytes => self.years.rated_bytes,
            Limit::ReadOnly => self.years.read_only,
        }
    }
}

/// Bytes that a drive programs for one that is written, before anything is collected.
fn before_collection(device: &DeviceReport) -> f64 {
    Flash { bytes: device.flash_bytes, ..Flash::default() }.of_drive_before_collection().unwrap_or(1.0)
}

impl DriveLimits {
    /// Erases until the first block of the drive retires.
    fn first_block(&self) -> Option<u32> {
        self.endurance.iter().filter_map(|blocks| blocks.first()).min().copied()
    }

    /// Bytes that the host writes until the first unit has lost what it may lose. `amplification`: of the drive as it is, of which
    /// `before` is not due to collection.
    fn host_bytes(&self, amplification: f64, before: f64) -> Option<f64> {
        let block = self.flash as f64 / (self.blocks * self.endurance.len()).max(1) as f64;
        let law = Law::of(amplification / before);
        // By blocks lost, alike in all units: blocks left, and write amplification with them.
        let most = self.endurance.iter().map(Vec::len).max().unwrap_or_default();
        let with = |lost| {
            let left = (self.blocks - lost) as f64;
            (left, before * law.with(left / self.blocks as f64))
        };
        let by_lost: Vec<(f64, f64)> = (0..most).map(with).collect();
        let of_unit = |unit: &Vec<u32>| {
            let (mut erases, mut bytes) = (0, 0.0);
            for (&endures, (left, amplification)) in unit.iter().zip(&by_lost) {
                bytes += f64::from(endures - erases) * left * block / amplification;
                erases = endures;
            }
            bytes
        };
        let least = self.endurance.iter().map(of_unit).min_by(f64::total_cmp)?;
        Some(least * self.endurance.len() as f64)
    }
}

/// How write amplification grows when spare is lost.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Law {
    /// Flash over data, as the law has it; infinite where collection moves nothing.
    ratio: f64,
}

impl Law {
    /// The one that gives this write amplification of collection.
    fn of(amplification: f64) -> Law {
        let valid = 1.0 - 1.0 / amplification.max(1.0);
        Law { ratio: if valid > 0.0 { -libm::log(valid) / (1.0 - valid) } else { f64::INFINITY } }
    }

    /// Write amplification of collection with this share of the blocks.
    fn with(self, share: f64) -> f64 {
        let ratio = self.ratio * share;
        if ratio.is_infinite() {
            return 1.0;
        }
        // Of the two roots the one below 1, which is there for a ratio above 1: what is above it goes down to it.
        let step = |valid: f64| libm::exp(-ratio * (1.0 - valid));
        let (mut low, mut high) = (0.0, 1.0 - 1e-9);
        if step(high) >= high {
            return MOST_AMPLIFICATION;
        }
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if middle == low || middle == high {
                break;
            }
            if step(middle) > middle { low = middle } else { high = middle }
        }
        (1.0 / (1.0 - low)).min(MOST_AMPLIFICATION)
    }
}

/// A drive without room to collect writes nothing more of its host.
const MOST_AMPLIFICATION: f64 = 1e6;

/// The report's `array.lifetime`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ArrayLifetime {
    /// Where the rate comes from.
    pub rate: RateOf,
    /// Length of the window that it was taken in. Unit: s.
    pub window_s: f64,
    /// Written by the user a day. Unit: bytes.
    pub host_bytes_per_day: f64,
    /// The device whose limit comes first.
    pub first: Option<First>,
    /// How evenly blocks were erased.
    pub evenness: Evenness,
}

/// Where the rate of writes comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateOf {
    /// As fast as the array takes them.
    ClosedLoop,
    /// As the load's arrivals say.
    Arrivals,
    /// As a trace recorded them.
    Trace,
}

/// The device whose life ends first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct First {
    /// Its number.
    pub device: u16,
    /// What ends it.
    pub limit: Limit,
    /// After how long. Unit: years.
    pub years: f64,
}

/// Whether all blocks of a drive are erased equally often, as far as the run shows it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Evenness {
    /// Erases of a block since the device was new, the fewest; of the device whose blocks differ most. Unit: count.
    pub erases_min: u64,
    /// Their mean there. Unit: count.
    pub erases_mean: f64,
    /// Their standard deviation there. Unit: count.
    pub erases_stddev: f64,
    /// Static levelling keeps them together.
    pub leveled: bool,
}

/// Blocks whose erases have a standard deviation of this share of their mean are erased evenly.
const EVEN: f64 = 0.05;
/// So many erases a block say whether some are left out.
const SOME_ERASES: f64 = 8.0;
/// After so many the first erases, of which chance has a large part, weigh little.
const MANY_ERASES: f64 = 100.0;

impl Evenness {
    /// Of devices that have erased blocks so often.
    pub fn of<'a>(devices: impl Iterator<Item = &'a DeviceReport> + Clone) -> Evenness {
        let spread = |device: &DeviceReport| device.wear.stddev / device.wear.mean.max(1.0);
        let worst = devices.clone().max_by(|one, other| spread(one).total_cmp(&spread(other)));
        Evenness {
            erases_min: worst.map_or(0, |device| device.wear.min),
            erases_mean: worst.map_or(0.0, |device| device.wear.mean),
            erases_stddev: worst.map_or(0.0, |device| device.wear.stddev),
            leveled: worst.is_some() && devices.clone().all(|device| device.leveling.is_some()),
        }
    }

    /// Whether the closed form may be used; `None` if the run is too short to tell.
    pub fn is_even(&self) -> Option<bool> {
        let mean = self.erases_mean;
        let leaves_out = mean >= SOME_ERASES && 4.0 * (self.erases_min as f64) < mean;
        match () {
            () if self.leveled => Some(true),
            () if leaves_out => Some(false),
            () if mean >= SOME_ERASES && self.spread() <= EVEN => Some(true),
            () if mean >= MANY_ERASES => Some(false),
            () => None,
        }
    }

    /// Standard deviation of the erases as a share of their mean.
    pub fn spread(&self) -> f64 {
        self.erases_stddev / self.erases_mean.max(1.0)
    }
}

impl First {
    /// Of devices that have a lifetime.
    pub fn of(devices: &[DeviceReport]) -> Option<First> {
        let of = |(device, report): (u16, &DeviceReport)| {
            let lifetime = report.lifetime?;
            Some(First { device, limit: lifetime.limit?, years: lifetime.ends_after()? })
        };
        (0..).zip(devices).filter_map(of).min_by(|one, other| one.years.total_cmp(&other.years))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 GB in an hour, with a write amplification of 2.
    fn device() -> DeviceReport {
        let hour = 100_000_000_000;
        DeviceReport {
            host_bytes_written: hour,
            write_amplification_whole_cycles: Some(2.0),
            ..DeviceReport::default()
        }
    }

    const HOUR: u64 = 3_600_000_000_000;

    fn limits() -> DriveLimits {
        DriveLimits {
            capacity: 1_000_000_000_000,
            flash: 1_200_000_000_000,
            cycles: Some(3_000.0),
            ..DriveLimits::default()
        }
    }

    fn close(one: Option<f64>, other: f64) -> bool {
        one.is_some_and(|one| (one / other - 1.0).abs() < 1e-9)
    }

    #[test]
    fn years_by_hand() {
        let life =
            LifetimeReport::of(&DriveLimits { rated_bytes: Some(876e12), ..limits() }, &device(), HOUR);
        assert!(close(Some(life.host_bytes_per_day), 2.4e12), "{life:?}");
        assert!(close(Some(life.drive_writes_per_day), 2.4), "{life:?}");
        assert!(close(life.flash_bytes_per_day, 4.8e12), "{life:?}");
        // 3,600 TB of flash at 4.8 TB a day are 750 days; 876 TB of the host at 2.4 TB a day are 365.
        assert!(close(life.years.cycles, 750.0 / 365.0) && close(life.years.rated_bytes, 1.0), "{life:?}");
        assert_eq!((life.limit, life.ends_after()), (Some(Limit::RatedBytes), life.years.rated_bytes));
        assert_eq!((life.years.first_block, life.years.read_only), (None, None));
    }

    #[test]
    fn twice_the_rate_is_half_the_years() {
        let limits = DriveLimits {
            rated_bytes: Some(1e15),
            endurance: vec![vec![2_000, 3_000]],
            blocks: 2,
            ..limits()
        };
        let slow = LifetimeReport::of(&limits, &device(), 2 * HOUR);
        let fast = LifetimeReport::of(&limits, &device(), HOUR);
        let all = |years: Years<f64>| [years.cycles, years.rated_bytes, years.first_block, years.read_only];
        for (slow, fast) in all(slow.years).into_iter().zip(all(fast.years)) {
            assert!(close(slow, 2.0 * fast.expect("years")), "{slow:?} {fast:?}");
        }
    }

    /// The first of two units ends the drive, and both are written alike.
    #[test]
    fn the_spare_of_the_weakest_unit_ends_a_drive() {
        let endurance = vec![vec![100, 100], vec![50, 80]];
        let limits = DriveLimits { flash: 800, endurance, blocks: 4, ..limits() };
        // No collection: write amplification stays 1. 4 blocks of 100 bytes 50 times, then 3 of them 30 times.
        assert_eq!(limits.host_bytes(1.0, 1.0), Some(2.0 * (4.0 * 50.0 + 3.0 * 30.0) * 100.0));
        assert_eq!(limits.first_block(), Some(50));
        // What is programmed before collection counts in full.
        assert_eq!(limits.host_bytes(2.0, 2.0), Some((4.0 * 50.0 + 3.0 * 30.0) * 100.0));
        let grows = limits.host_bytes(2.0, 1.0).expect("bytes");
        assert!(
            grows < 2.0 * (4.0 * 50.0 + 3.0 * 30.0) * 100.0 / 2.0,
            "a unit with less spare amplifies more: {grows}"
        );
    }

    /// Flash is 1.2 times the data: 3.18 by the law. Greedy collection measures 3.16 there.
    #[test]
    fn the_law_of_collection_and_its_inverse() {
        let law = Law { ratio: 1.2 };
        assert!((law.with(1.0) - 3.18).abs() < 0.01, "{}", law.with(1.0));
        for amplification in [1.0, 1.01, 1.5, 3.0, 10.0, 100.0] {
            let again = Law::of(amplification).with(1.0);
            assert!((again / amplification - 1.0).abs() < 1e-6, "{amplification}: {again}");
        }
        assert!(Law::of(3.0).with(0.95) > 3.5);
        assert_eq!(Law::of(3.0).with(0.5), MOST_AMPLIFICATION, "there is less flash than data");
        assert_eq!(Law::of(1.0).with(0.5), 1.0);
    }

    /// Halving stops where a number has no other one between it and the next.
    #[test]
    fn the_law_is_what_a_hundred_halvings_find() {
        let plain = |ratio: f64| {
            let (mut low, mut high) = (0.0, 1.0 - 1e-9);
            for _ in 0..100 {
                let middle = (low + high) / 2.0;
                let step = libm::exp(-ratio * (1.0 - middle));
                if step > middle { low = middle } else { high = middle }
            }
            (1.0_f64 / (1.0 - low)).min(MOST_AMPLIFICATION)
        };
        for amplification in (0..2_000).map(|step| 1.0 + 1e-6 * 1.012_f64.powi(step)) {
            let law = Law::of(amplification);
            for share in [1.0, 0.99, 0.9, 0.6] {
                let (found, ratio) = (law.with(share), law.ratio * share);
                let has_room = libm::exp(-ratio * 1e-9) < 1.0 - 1e-9;
                assert!(!has_room || found.to_bits() == plain(ratio).to_bits(), "{amplification} {share}");
            }
        }
    }

    /// The mean of all blocks ends nothing where it is known when the spare is gone, unless it is a rating.
    #[test]
    fn what_ends_a_drive() {
        let wearing = DriveLimits { endurance: vec![vec![2_900, 3_100]], blocks: 3, ..limits() };
        let device = DeviceReport { write_amplification_whole_cycles: Some(1.0), ..device() };
        let limit = |limits: &DriveLimits| LifetimeReport::of(limits, &device, HOUR).limit;
        assert_eq!(limit(&limits()), Some(Limit::Cycles));
        let low = DriveLimits { cycles: Some(100.0), ..wearing };
        assert_eq!(limit(&low), Some(Limit::ReadOnly));
        assert_eq!(limit(&DriveLimits { rates_cycles: true, ..low }), Some(Limit::Cycles));
    }

    #[test]
    fn without_writes_or_collections_nothing_is_said() {
        let idle = DeviceReport { host_bytes_written: 0, ..device() };
        let life = LifetimeReport::of(&limits(), &idle, HOUR);
        assert_eq!((life.years, life.limit), (Years::default(), None));
        let fresh = DeviceReport { write_amplification_whole_cycles: None, ..device() };
        let life = LifetimeReport::of(&DriveLimits { rated_bytes: Some(1e15), ..limits() }, &fresh, HOUR);
        assert!(life.years.cycles.is_none() && life.years.rated_bytes.is_some());
        assert_eq!(LifetimeReport::of(&limits(), &device(), 0).years, Years::default());
    }

    #[test]
    fn whether_blocks_are_erased_evenly() {
        let device = |min, mean, stddev| DeviceReport {
            wear: crate::Wear { min, mean, stddev, ..crate::Wear::default() },
            ..DeviceReport::default()
        };
        let is_even = |devices: &[DeviceReport]| Evenness::of(devices.iter()).is_even();
        assert_eq!(is_even(&[device(17, 20.0, 1.0), device(9, 12.0, 0.1)]), Some(true));
        assert_eq!(is_even(&[device(17, 20.0, 1.1), device(9, 12.0, 0.1)]), None, "this may be chance");
        assert_eq!(is_even(&[device(80, 100.0, 6.0)]), Some(false), "this is not");
        assert_eq!(is_even(&[device(2, 12.0, 3.0)]), Some(false), "some are left out");
        assert_eq!(is_even(&[device(0, 7.0, 2.0)]), None);
        let leveled =
            DeviceReport { leveling: Some(crate::LevelingReport::default()), ..device(0, 100.0, 50.0) };
        assert_eq!(is_even(&[leveled]), Some(true));
    }
}
