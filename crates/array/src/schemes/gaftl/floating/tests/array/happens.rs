//! Arrays drawn at random, and what happens to them besides requests.

use harmonia_engine::Rng;
use harmonia_flash::presets;
use harmonia_ssd::{Amount, Domain, FtlConfig, GcConfig, SsdConfig};
use harmonia_types::{DeviceId, SimDuration, SimTime};

use super::super::PAGE;
use crate::config::{
    ArrayConfig, Befalls, CoordinationConfig, Fault, Faults, MemberConfig, Rebuild, Scrub, SmallWrite, When,
    WriteHole,
};
use crate::layout::{Layout, Level};

fn device(rng: &mut Rng) -> SsdConfig {
    let flash = presets::find("tiny-test").expect("the preset for tests");
    let domain = if rng.chance(0.5) { Domain::Device } else { Domain::Die };
    SsdConfig {
        ftl: FtlConfig { reserved_blocks: Amount::Percent(30.0), ..FtlConfig::default() },
        gc: GcConfig {
            domain,
            soft_threshold: Amount::AboveHard(4),
            schedule: if rng.chance(0.5) { "blocking" } else { "preemptive" }.into(),
            ..GcConfig::default()
        },
        ..SsdConfig::of(flash)
    }
}

pub fn config(rng: &mut Rng, level: Level) -> ArrayConfig {
    let devices = 3 + level.parities() + rng.below(4) as u16;
    // Members that take no directives collect when they must, several at once.
    let turns = if level.parities() > 1 { 0.6 } else { 0.9 };
    let member = MemberConfig { capable: rng.chance(turns), ssd: device(rng) };
    let stripe_unit = PAGE * (1 + rng.below(3));
    let small_write = [SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct];
    let mut coordination = CoordinationConfig::of("gaftl", SimDuration::from_us(20 * rng.below(2)));
    coordination.own.insert("stripes".to_owned(), "floating".into());
    ArrayConfig {
        small_write: small_write[rng.below(3) as usize],
        coordination,
        ..ArrayConfig::of(level, stripe_unit, vec![member; usize::from(devices)])
    }
}

pub const REQUESTS: u64 = 500;

/// What happens in a history besides requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct Happens {
    /// Members fail.
    pub fails: bool,
    /// Parity returns to its shares.
    pub returns: bool,
    /// Pages cannot be read, and all is scrubbed.
    pub errs: bool,
    /// Power is lost.
    pub loses_power: bool,
    /// A member fails for which there is no spare, and another one when what the first held is on the others.
    pub distributes: bool,
    /// A log is kept.
    pub logs: bool,
}

impl Happens {
    pub fn faults(self, seed: u64, config: &ArrayConfig) -> Faults {
        let plain = Faults { seed, ..Faults::default() };
        let faults = match self {
            Happens { distributes: true, .. } => distributed(seed, config, self.logs && seed % 4 < 2),
            Happens { fails: true, .. } => failures(seed, config),
            _ => plain,
        };
        let mut rng = Rng::stream(seed, "gaftl/floating/errors");
        let scrub = rng.chance(0.5).then(|| Scrub { at: SimTime(rng.below(200_000_000)), repairs: false });
        let page_errors = [0.0003, 0.001, 0.003][rng.below(3) as usize];
        let power_losses = (0..1 + rng.below(40)).map(|_| When::Request(1 + rng.below(REQUESTS)));
        let mut power_losses: Vec<When> = power_losses.collect();
        if self.logs && self.distributes {
            // The member fails with what it was given, and power is lost at the same moment.
            power_losses.push(faults.events[0].at);
        }
        let bitmap =
            WriteHole::Bitmap { chunk: config.stripe_unit << rng.below(4), delay: SimDuration(1_000_000) };
        let write_hole = if rng.chance(0.5) { bitmap } else { WriteHole::Resync };
        let write_hole = if self.logs { log(seed, config) } else { write_hole };
        let journal = matches!(write_hole, WriteHole::Journal(_)).then(|| config.members[0].clone());
        let faults = Faults { journal, ..faults };
        let faults = if self.errs { Faults { page_errors, scrub, ..faults } } else { faults };
        if self.loses_power { Faults { power_losses, write_hole, ..faults } } else { faults }
    }

    /// Whether redundancy may be missing where it is needed.
    pub fn may_lose(self) -> bool {
        self.errs
    }
}

/// Members that fail, at most as many at a time as there are parities: one, and what takes its place, and on RAID-6 another one
/// between them.
fn failures(seed: u64, config: &ArrayConfig) -> Faults {
    let mut rng = Rng::stream(seed, "gaftl/floating/faults");
    let mut below = |bound: u64| rng.below(bound);
    let members = u64::from(config.devices);
    let (first, other) = (below(members), below(members));
    let mut at = 1 + below(REQUESTS / 2);
    let mut events = Vec::new();
    let devices = if config.level.parities() > 1 { vec![first, other, first] } else { vec![first, first] };
    for device in devices {
        let device = DeviceId(device as u16);
        events.push(Fault { device, at: When::Request(at), what: Befalls::Failure });
        at += 1 + below(100);
    }
    let spares = vec![config.members[0].clone(); below(3) as usize];
    let rate = 20_000_000 << below(4);
    let (delay, step) = (SimDuration(below(2_000_000)), PAGE * (1 + below(32)));
    let rebuild = Rebuild { min_rate: rate, max_rate: rate, depth: 1 + below(4) as u32, step, delay };
    Faults { events, spares, rebuild, seed, ..Faults::default() }
}

/// A journal, or on RAID-5 a partial parity log, often full.
fn log(seed: u64, config: &ArrayConfig) -> WriteHole {
    let mut rng = Rng::stream(seed, "gaftl/floating/log");
    let Layout::Parity(layout) = config.layout() else { unreachable!("it has parity") };
    let factor = [1, 1, 2, 5][rng.below(4) as usize];
    let size = |hole: WriteHole| hole.least(&layout, PAGE, config.stripe_unit) * factor;
    if config.level.parities() == 1 && seed.is_multiple_of(2) {
        WriteHole::PartialParityLog(size(WriteHole::PartialParityLog(0)))
    } else {
        WriteHole::Journal(size(WriteHole::Journal(0)))
    }
}

/// A member fails early, and what it held is rebuilt on the others as fast as they go, or slowly.
fn distributed(seed: u64, config: &ArrayConfig, slowly: bool) -> Faults {
    let mut rng = Rng::stream(seed, "gaftl/floating/distributed");
    let device = DeviceId(rng.below(config.devices.into()) as u16);
    let at = When::Request(1 + rng.below(if slowly { REQUESTS } else { 20 }));
    let events = vec![Fault { device, at, what: Befalls::Failure }];
    let rate = if slowly { 1_000_000 } else { 1 << 40 };
    let (step, depth) = (PAGE * (1 + rng.below(64)), 1 + rng.below(8) as u32);
    let rebuild = Rebuild { min_rate: rate, max_rate: rate, depth, step, ..Rebuild::default() };
    Faults { events, rebuild, seed, ..Faults::default() }
}

/// Shares of parity of so many members, the first with most of it.
pub fn shares(seed: u64, members: u16) -> Vec<u16> {
    let mut rng = Rng::stream(seed, "gaftl/floating/shares");
    (0..members)
        .map(|member| if member == 0 { 6 } else { rng.below(3) as u16 })
        .map(|share| share.max(1))
        .collect()
}
