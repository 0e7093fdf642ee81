//! What bounds the life of a drive and of an array's members, as a scenario says it: for the years in the report.

use harmonia_array::layout::{Copies, Pattern};
use harmonia_array::lifetimes::Wear;
use harmonia_array::years::{Places, Rebuilding, Replace};
use harmonia_array::{ArrayConfig, Level, MemberConfig};
use harmonia_metrics::{
    ArrayLifetime, DeviceReport, DriveLimits, Evenness, First, Happening, LifetimeReport, RateOf,
    RebuildRisk, Replacements, Report,
};
use harmonia_ssd::{SsdConfig, WearConfig};
use harmonia_types::units::DAYS_PER_YEAR;

/// Erases that the blocks of a drive have behind them as the measured window begins, those of ageing and warm-up included.
fn behind(ssd: &SsdConfig, report: &DeviceReport) -> Option<f64> {
    let simulated = ssd.resolve().ok()?;
    let erasable = u64::from(simulated.blocks_per_unit) * u64::from(simulated.units());
    let so_far = (report.wear.mean - report.erases as f64 / erasable as f64).max(0.0);
    Some(so_far + ssd.wear.as_ref().map_or(0.0, |wear| f64::from(wear.used_erases())))
}

/// The limits of a drive with this number that has so many erases behind it, and of a new drive of mean endurance whose blocks differ in
/// the same way. `None` where neither a rating nor the wear of blocks says any. `seed`: that of what befalls
/// members, by which the endurance of blocks is drawn.
fn limits(ssd: &SsdConfig, seed: u64, drive: u16, behind: f64) -> Option<[DriveLimits; 2]> {
    if ssd.wear.is_none() && ssd.rating.is_none() {
        return None;
    }
    // Where the drive is scaled down, its blocks are worn as those of the full one, and the years are those of that.
    let shape = ssd.full().resolve().ok()?;
    let (blocks, page) = (u64::from(shape.blocks_per_unit), u64::from(shape.page_size));
    let capacity = u64::from(shape.capacity_pages) * page;
    let rated = ssd.rating.and_then(|rating| rating.cycles());
    let wear = ssd.wear.as_ref();
    let cycles = rated.or(wear.map(|wear| wear.endurance));
    let all_blocks = blocks * u64::from(shape.units());
    let after = |behind: f64| DriveLimits {
        capacity,
        flash: all_blocks * u64::from(shape.data_pages) * page,
        cycles: cycles.map(|cycles| (f64::from(cycles) - behind).max(0.0)),
        rates_cycles: rated.is_some(),
        rated_bytes: ssd.rating.and_then(|rating| rating.host_bytes(capacity)),
        endurance: Vec::new(),
        blocks: shape.blocks_per_unit as usize,
    };
    let mut both = [after(behind), after(0.0)];
    let Some(wear) = wear else { return Some(both) };
    let ends_at = wear.ends_at(shape.reserved_blocks, shape.may_retire) as usize;
    let drives =
        [wear.drawn(seed, drive), WearConfig { drive_spread: 0.0, ..wear.clone() }.drawn(seed, drive)];
    // A block lasts so much longer than the mean of its drive, whatever that is.
    let mut of_blocks = Vec::with_capacity(both[0].blocks);
    for unit in 0..shape.units() {
        let mut left = [const { Vec::new() }; 2];
        for of_flash in shape.of_flash(unit) {
            of_blocks.clear();
            of_blocks.extend(drives[0].of_blocks(of_flash, shape.blocks_per_unit));
            for ((left, drive), behind) in left.iter_mut().zip(&drives).zip([behind.round() as u32, 0]) {
                let of_flash =
                    of_blocks.iter().map(|&of_block| drive.erases(of_block).saturating_sub(behind));
                if left.is_empty() {
                    left.extend(of_flash);
                } else {
                    left.iter_mut().zip(of_flash).for_each(|(least, erases)| *least = erases.min(*least));
                }
            }
        }
        for (limits, left) in both.iter_mut().zip(left) {
            limits.endurance.push(weakest(left, ends_at));
        }
    }
    Some(both)
}

/// So many of the blocks with these erases left, those that have fewest, in ascending order.
fn weakest(mut left: Vec<u32>, count: usize) -> Vec<u32> {
    if count < left.len() {
        left.select_nth_unstable(count);
        left.truncate(count);
        left.shrink_to_fit();
    }
    left.sort_unstable();
    left
}

/// Puts lifetimes into a report, where something says what drives endure.
pub(crate) fn add<'a>(
    report: &mut Report,
    drives: impl Iterator<Item = &'a MemberConfig>,
    array: &ArrayConfig,
) {
    let (seed, window) = (array.faults.seed, report.simulated_ns);
    for ((device, drive), index) in report.devices.iter_mut().zip(drives).zip(0..) {
        let Some(behind) = behind(&drive.ssd, device) else { continue };
        let Some(limits) = limits(&drive.ssd, seed, index, behind) else { continue };
        let [life, of_new] = limits.map(|limits| LifetimeReport::of(&limits, device, window));
        device.lifetime = Some(LifetimeReport { new_drive: of_new.wears_out_after(), ..life });
    }
    if report.devices.iter().any(|device| device.lifetime.is_some()) {
        report.array.lifetime = Some(of_array(report));
        let rebuilt = report.array.failures.as_ref().and_then(|failures| failures.rebuild?.work.rate);
        replacements(report, array, rebuilt);
    }
}

/// Puts into a report when the members of its array are replaced, and what that risks if a member is rebuilt at so many bytes a
/// second. Takes that out where it is not known of every member, or where data is kept once.
pub fn replacements(report: &mut Report, array: &ArrayConfig, rebuilt: Option<f64>) {
    report.array.replacements = places(report, array).map(|places| {
        let rules = &array.lifetime;
        let histories = places.histories(rules, array.faults.seed);
        let risk = rebuilt.filter(|&rate| rate > 0.0 && knows_groups(array)).map(|rate| {
            let bytes = array.members.iter().map(capacity).min().unwrap_or_default() as f64;
            let seconds = bytes / rate + array.faults.rebuild.delay.as_ns() as f64 / 1e9;
            let redundancy = usize::from(array.level.redundancy(array.devices));
            let years = seconds / (DAYS_PER_YEAR * 86_400.0);
            let reads = match array.level {
                Level::Draid(groups) => groups.data.into(),
                _ => places.together - redundancy,
            };
            let rebuilding = Rebuilding { years, redundancy, reads, member_bytes: bytes };
            let risks = rebuilding.risks(&places, rules, &histories);
            RebuildRisk {
                rebuild_hours: seconds / 3_600.0,
                second_by_wear: risks.second_by_wear,
                second_by_failure: risks.second_by_failure,
                unreadable: risks.unreadable,
                loss: risks.loss(),
                losses_by_wear: risks.by_wear,
                losses_by_failure: risks.by_failure,
                losses_by_unreadable: risks.by_unreadable,
                losses_by_both: risks.by_both,
            }
        });
        let drawn: Vec<f64> = (0..array.devices).map(|member| of_drive(array, member)).collect();
        let all = || histories.iter().flatten();
        let count = all().count().max(1) as f64;
        let passed: f64 = histories.iter().filter_map(|ends| ends.last()).map(|last| last.at).sum();
        let drives = if rules.replace == Replace::AllAtOnce { drawn.len() } else { 1 };
        Replacements {
            years: places.first_replacements(rules, &drawn),
            per_year: if passed > 0.0 { drives as f64 * count / passed } else { 0.0 },
            unused: all().map(|end| end.unused).sum::<f64>() / count,
            next_oldest: all().map(|end| end.next_oldest).sum::<f64>() / count,
            risk,
        }
    });
}

/// How much longer than the mean this member lasts, as it was drawn.
fn of_drive(array: &ArrayConfig, member: u16) -> f64 {
    let wear = array.members[usize::from(member)].ssd.wear.as_ref();
    wear.map_or(1.0, |wear| wear.of_drive(array.faults.seed, member))
}

/// The members of an array and how they wear, as a run has measured it. Those that failed in the run take the mean of the others.
fn places(report: &Report, array: &ArrayConfig) -> Option<Places> {
    if array.level.redundancy(array.devices) == 0 {
        return None;
    }
    // A rate, and an age.
    let measured = |member: u16| {
        let life = report.devices.get(usize::from(member))?.lifetime.as_ref()?;
        let rate = 1.0 / life.new_drive.filter(|&years| years > 0.0)?;
        let age = of_drive(array, member) - life.wears_out_after()? * rate;
        Some((rate, age.max(0.0)))
    };
    let left = left(report);
    let stays: Vec<Option<(f64, f64)>> = (0..array.devices)
        .map(|member| if left.contains(&member) { Some(None) } else { measured(member).map(Some) })
        .collect::<Option<_>>()?;
    let known = || stays.iter().flatten().map(|(rate, _)| rate);
    known().next()?;
    let mean = known().sum::<f64>() / known().count() as f64;
    let used = |member: &MemberConfig| member.ssd.wear.as_ref().map_or(0.0, |wear| wear.used);
    let (rates, ages): (Vec<f64>, Vec<f64>) = stays
        .iter()
        .zip(&array.members)
        .map(|(stay, member)| stay.unwrap_or_else(|| (mean, used(member))))
        .unzip();
    let spread = array.members.iter().filter_map(|member| member.ssd.wear.as_ref());
    let spread = spread.map(|wear| wear.drive_spread).reduce(f64::max);
    Some(Places {
        wear: wear_by_share(array, &rates),
        ages,
        spread: spread.unwrap_or(WearConfig::of(1).drive_spread),
        together: together(array),
        rates,
    })
}

/// Members that failed in the run, or that a spare replaced: what they wrote stops there.
fn left(report: &Report) -> Vec<u16> {
    let events = report.array.failures.iter().flat_map(|failures| &failures.events);
    let ends = events.filter(|event| matches!(event.what, Happening::Failed | Happening::Replaced { .. }));
    ends.filter_map(|event| event.device).collect()
}

/// Whether it is known which members' data hang together, without which nobody knows what a rebuild risks.
pub fn knows_groups(array: &ArrayConfig) -> bool {
    together(array) > 1
}

/// Members whose data hang together; 1 where it is not told which.
fn together(array: &ArrayConfig) -> usize {
    match array.level {
        Level::Raid10(Copies { pattern: Pattern::Near, count }) if array.devices.is_multiple_of(count) => {
            count.into()
        }
        Level::Raid10(_) => 1,
        _ => array.devices.into(),
    }
}

/// What all of the parity wears a member, and none of it: the line through what the run measured at its shares. `None` where all
/// members have the same, or where parity wears no more than data.
fn wear_by_share(array: &ArrayConfig, rates: &[f64]) -> Option<Wear> {
    let (members, sum) =
        (rates.len() as f64, array.parity_shares.iter().copied().map(f64::from).sum::<f64>());
    let shares = || array.parity_shares.iter().map(|&share| f64::from(share) / sum - 1.0 / members);
    let square: f64 = shares().map(|off| off * off).sum();
    let slope = shares().zip(rates).map(|(off, rate)| off * rate).sum::<f64>() / square;
    let data = rates.iter().sum::<f64>() / members - slope / members;
    (square > 0.0 && slope > 0.0 && data > 0.0).then_some(Wear { data, parity: data + slope })
}

/// What a drive holds, of which a scaled one is a part. Unit: bytes.
fn capacity(member: &MemberConfig) -> u64 {
    let shape = member.ssd.full().resolve();
    shape.map_or(0, |shape| u64::from(shape.capacity_pages) * u64::from(shape.page_size))
}

fn of_array(report: &Report) -> ArrayLifetime {
    let days = report.simulated_ns as f64 / 86_400e9;
    let written = report.array.host_bytes_written as f64;
    ArrayLifetime {
        rate: match (report.host.arrivals_ns, &report.trace) {
            (None, _) => RateOf::ClosedLoop,
            (Some(_), Some(_)) => RateOf::Trace,
            (Some(_), None) => RateOf::Arrivals,
        },
        window_s: report.simulated_ns as f64 / 1e9,
        host_bytes_per_day: if days > 0.0 { written / days } else { 0.0 },
        first: First::of(&report.devices),
        evenness: Evenness::of(report.devices.iter().filter(|device| device.lifetime.is_some())),
    }
}

#[cfg(test)]
mod tests {
    use harmonia_scenario::Scenario;

    use super::*;

    /// Of a used drive and of one that is new and of mean endurance: the weakest of all blocks, drawn one by one.
    #[test]
    fn the_weakest_blocks_of_a_drive_are_the_first_of_all_in_order() {
        let sets = |spare: u32, superblock: &str| {
            let keys = ["ssd.wear.endurance=500", "ssd.wear.spread=20%", "ssd.wear.drive_spread=30%"];
            let others =
                [format!("ssd.wear.end_at_spare={spare}%"), format!("ssd.ftl.superblock={superblock}")];
            keys.map(String::from).into_iter().chain(others).collect::<Vec<_>>()
        };
        let cases = [
            (50, "off", 0, 0.0),
            (1, "off", 3, 37.4),
            (100, "off", 7, 480.6),
            (30, "off", 4, 1e6),
            (50, "2", 5, 3.5),
            (50, "drive", 2, 0.0),
        ];
        for (spare, superblock, drive, behind) in cases {
            let scenario = Scenario::load("tiny", &sets(spare, superblock), None)
                .unwrap_or_else(|error| panic!("{error}"));
            let ssd = &scenario.array.members[0].ssd;
            let (shape, wear) = (ssd.resolve().expect("it works"), ssd.wear.clone().expect("it wears out"));
            let mean = WearConfig { drive_spread: 0.0, ..wear.clone() };
            let ends_at = wear.ends_at(shape.reserved_blocks, shape.may_retire) as usize;
            let both = limits(ssd, 5, drive, behind).expect("limits");
            assert_eq!(shape.joined > 1, superblock != "off");
            for (of, wear, behind) in [(&both[0], &wear, f64::round(behind) as u32), (&both[1], &mean, 0)] {
                assert_eq!(of.blocks, shape.blocks_per_unit as usize);
                let units = (0..shape.units()).map(|unit| {
                    let blocks = 0..shape.blocks_per_unit;
                    let of_flash = unit * shape.joined..(unit + 1) * shape.joined;
                    let endures =
                        |block| of_flash.clone().map(|unit| wear.endurance_of(5, drive, unit, block)).min();
                    let all = blocks.map(|block| endures(block).expect("a block"));
                    let mut left: Vec<u32> = all.map(|erases| erases.saturating_sub(behind)).collect();
                    left.sort_unstable();
                    left.truncate(ends_at);
                    left
                });
                let units: Vec<Vec<u32>> = units.collect();
                assert_eq!(
                    of.endurance, units,
                    "{spare}% of the spare, drive {drive}, superblock {superblock}"
                );
            }
        }
    }

    #[test]
    fn the_weakest_are_in_order() {
        assert_eq!(weakest(vec![5, 1, 4, 1, 3], 3), [1, 1, 3]);
        assert_eq!(weakest(vec![5, 1, 4], 3), [1, 4, 5]);
        assert_eq!(weakest(vec![5, 1], 4), [1, 5]);
    }
}
