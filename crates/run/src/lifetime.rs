//! What bounds the life of a drive, as a scenario says it: for the years in the report.

use harmonia_array::MemberConfig;
use harmonia_metrics::{
    ArrayLifetime, DeviceReport, DriveLimits, Evenness, First, LifetimeReport, RateOf, Report,
};
use harmonia_ssd::SsdConfig;

/// The limits of a drive with this number, as the measured window begins; `None` where neither a rating nor the wear of blocks says
/// any. `seed`: that of what befalls members, by which the endurance of blocks is drawn.
fn limits(ssd: &SsdConfig, seed: u64, drive: u16, report: &DeviceReport) -> Option<DriveLimits> {
    if ssd.wear.is_none() && ssd.rating.is_none() {
        return None;
    }
    // Where the drive is scaled down, its blocks are worn as those of the full one, and the years are those of that.
    let simulated = ssd.resolve().ok()?;
    let shape = ssd.full().resolve().ok()?;
    let (blocks, page) = (u64::from(shape.blocks_per_unit), u64::from(shape.page_size));
    let capacity = u64::from(shape.logical_pages) * page;
    let rated = ssd.rating.and_then(|rating| rating.cycles());
    let wear = ssd.wear.as_ref();
    let cycles = rated.or(wear.map(|wear| wear.endurance));
    let all_blocks = blocks * u64::from(shape.units());
    // Blocks have these erases behind them, those of ageing and warm-up included.
    let erasable = u64::from(simulated.blocks_per_unit) * u64::from(simulated.units());
    let so_far = (report.wear.mean - report.erases as f64 / erasable as f64).max(0.0);
    let behind = so_far + wear.map_or(0.0, |wear| f64::from(wear.used_erases()));
    let endurance = wear.map(|wear| {
        let unit = |unit: u32| {
            let blocks = 0..shape.blocks_per_unit;
            let mut endurance: Vec<u32> =
                blocks.map(|block| wear.endurance_of(seed, drive, unit, block)).collect();
            endurance.iter_mut().for_each(|erases| *erases = erases.saturating_sub(behind.round() as u32));
            endurance.sort_unstable();
            endurance
        };
        (0..shape.units()).map(unit).collect()
    });
    Some(DriveLimits {
        capacity,
        flash: all_blocks * u64::from(shape.data_pages) * page,
        cycles: cycles.map(|cycles| (f64::from(cycles) - behind).max(0.0)),
        rates_cycles: rated.is_some(),
        rated_bytes: ssd.rating.and_then(|rating| rating.host_bytes(capacity)),
        endurance: endurance.unwrap_or_default(),
        ends_at: wear.map_or(0, |wear| wear.ends_at(shape.reserved_blocks, shape.may_retire) as usize),
    })
}

/// Puts lifetimes into a report, where something says what drives endure.
pub(crate) fn add<'a>(report: &mut Report, drives: impl Iterator<Item = &'a MemberConfig>, seed: u64) {
    for ((device, drive), index) in report.devices.iter_mut().zip(drives).zip(0..) {
        let limits = limits(&drive.ssd, seed, index, device);
        device.lifetime = limits.map(|limits| LifetimeReport::of(&limits, device, report.simulated_ns));
    }
    if report.devices.iter().any(|device| device.lifetime.is_some()) {
        report.array.lifetime = Some(of_array(report));
    }
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
