//! The arrays of random histories, and what happens to their members.

use harmonia_engine::Rng;
use harmonia_flash::presets;
use harmonia_ssd::{Amount, Domain, FtlConfig, GcConfig, SsdConfig};
use harmonia_types::{DeviceId, SimDuration};

use super::PAGE;
use crate::ArrayConfig;
use crate::config::{Befalls, CoordinationConfig, Fault, Faults, Knowledge, MemberConfig, Rebuild, When};
use crate::layout::{Level, Rotation};

/// Requests of a history.
pub(super) const REQUESTS: u64 = 400;

fn device(domain: Domain, blocking: bool) -> SsdConfig {
    let flash = presets::find("tiny-test").expect("the preset for tests");
    SsdConfig {
        ftl: FtlConfig { reserved_blocks: Amount::Percent(30.0), ..FtlConfig::default() },
        gc: GcConfig {
            domain,
            soft_threshold: Amount::AboveHard(4),
            schedule: if blocking { "blocking" } else { "preemptive" }.into(),
            ..GcConfig::default()
        },
        ..SsdConfig::of(flash)
    }
}

/// Shares of parity where it moves, for half of the numbers.
fn shares(level: Level, devices: u16, number: u64) -> Vec<u16> {
    let stays = [Rotation::ParityFirst, Rotation::ParityLast];
    let moves = matches!(level, Level::Raid5(rotation) if !stays.contains(&rotation));
    let share = |member: u16| ((number >> (1 + 2 * member) & 3) as u16) + u16::from(member < 2);
    if moves && number % 2 == 1 { (0..devices).map(share).collect() } else { Vec::new() }
}

/// What happens to members in a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Befall {
    Nothing,
    /// One or two of them fail after one another. Not all have a spare.
    Failures,
    /// Pages cannot be read.
    PageErrors,
    /// Of RAID-6: two members fail, every pair in its turn, one while the other is missing or rebuilt or afterwards.
    Pairs,
    /// Of RAID-6: as with `Failures`, and pages cannot be read.
    FailuresAndPageErrors,
    /// Spares take the places of members that work, one or two after one another. In some histories pages cannot be read, or
    /// a member fails at that time: the one that is copied, or another.
    Copies,
}

impl Befall {
    pub fn has_page_errors(self, seed: u64) -> bool {
        match self {
            Befall::PageErrors | Befall::FailuresAndPageErrors => true,
            Befall::Copies => seed % 4 == 3,
            Befall::Nothing | Befall::Failures | Befall::Pairs => false,
        }
    }
}

fn faults(befalls: Befall, seed: u64, devices: u16, member: &MemberConfig) -> Faults {
    let mut rng = Rng::stream(seed, "gaftl/faults");
    let mut below = |bound: u64| rng.below(bound);
    match befalls {
        Befall::Nothing => Faults::default(),
        Befall::Pairs => {
            let (others, first) = (u64::from(devices) - 1, seed % u64::from(devices));
            let second = (first + 1 + seed / u64::from(devices) % others) % u64::from(devices);
            let at = 1 + below(REQUESTS - 100);
            let fault = |device: u64, at| {
                let device = DeviceId(device as u16);
                Fault { device, at: When::Request(at), what: Befalls::Failure }
            };
            let events = vec![fault(first, at), fault(second, at + below(2) * below(100))];
            let single = faults(Befall::Failures, seed, devices, member);
            Faults { events, ..single }
        }
        Befall::FailuresAndPageErrors => {
            Faults { page_errors: 1e-3, ..faults(Befall::Failures, seed, devices, member) }
        }
        Befall::PageErrors => Faults { page_errors: 1e-3, seed, ..Faults::default() },
        Befall::Copies => {
            let members = u64::from(devices);
            let (first, second, at) = (below(members), below(members), 1 + below(REQUESTS));
            let happens = |device: u64, at, what| Fault {
                device: DeviceId(device as u16),
                at: When::Request(at),
                what,
            };
            let mut events = vec![happens(first, at, Befalls::Replacement)];
            let later = at + below(100);
            match seed % 4 {
                0 => events.push(happens(second, later, Befalls::Replacement)),
                1 => events.push(happens(first, later, Befalls::Failure)),
                2 => events.push(happens(second, later, Befalls::Failure)),
                _ => {}
            }
            let page_errors = if befalls.has_page_errors(seed) { 1e-2 } else { 0.0 };
            let single = faults(Befall::Failures, seed, devices, member);
            Faults { events, page_errors, spares: vec![member.clone(); 3], ..single }
        }
        Befall::Failures => {
            let (device, at) = (DeviceId(below(u64::from(devices)) as u16), 1 + below(REQUESTS));
            let fault = |at| Fault { device, at: When::Request(at), what: Befalls::Failure };
            // The second one is of the spare: two members at a time are too much.
            let again = at + 1 + below(100);
            let spares = vec![member.clone(); below(3) as usize];
            let rate = 20_000_000 << below(4);
            let delay = SimDuration(below(2_000_000));
            let step = PAGE * (1 + below(32));
            let rebuild = Rebuild { min_rate: rate, max_rate: rate, depth: 1 + below(4) as u32, step, delay };
            Faults { events: vec![fault(at), fault(again)], spares, rebuild, seed, ..Faults::default() }
        }
    }
}

/// A random array, and how much it has to do.
pub(super) fn config(rng: &mut Rng, (befalls, is_dual): (Befall, bool), seed: u64) -> ArrayConfig {
    let devices = 3 + u16::from(is_dual) + rng.below(3) as u16;
    let domain = if rng.chance(0.5) { Domain::Device } else { Domain::Die };
    let member = MemberConfig { capable: true, ssd: device(domain, rng.chance(0.5)) };
    let level =
        if rng.chance(0.3) { Level::Raid4 } else { Level::Raid5(Rotation::ALL[rng.below(6) as usize]) };
    let level = if is_dual { Level::Raid6(Rotation::ALL[(seed % 6) as usize]) } else { level };
    let stripe_unit = PAGE * (1 + rng.below(3));
    ArrayConfig {
        parity_shares: shares(level, devices, rng.below(1 << 20)),
        knowledge: Knowledge { free_stripes: 1 + rng.below(20), ..Knowledge::default() },
        faults: faults(befalls, seed, devices, &member),
        coordination: in_rows(SimDuration::from_us(20 * rng.below(2))),
        ..ArrayConfig::of(level, stripe_unit, vec![member; usize::from(devices)])
    }
}

fn in_rows(message_latency: SimDuration) -> CoordinationConfig {
    let mut coordination = CoordinationConfig::of("gaftl", message_latency);
    coordination.own.insert("stripes".to_owned(), "rows".into());
    coordination
}
