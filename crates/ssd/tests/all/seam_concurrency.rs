//! How many channels of a device collect at once, and which first (paper E, Electronics 2025, section 4)?
//!
//! Proves, on the real device, that a ramp over utilisation is a policy of a few lines, the device seeing to one turn a
//! channel and the best victim first; that it is asked again when utilisation changes; and that the emergency rule
//! completes all host work even under a policy that never lets anything start.

use std::sync::{Arc, Mutex};

use harmonia_engine::Rng;
use harmonia_ssd::gc::concurrency::{Candidate, Concurrency, Limit, Load};
use harmonia_ssd::probe::{AnyProbe, AuditProbe, any};
use harmonia_ssd::{Amount, Device, Domain, Ftl, Policies, SsdConfig, Trigger};
use harmonia_types::{Operation, SimTime};

const CHANNELS: u32 = 8;

/// One question and what came of it.
#[derive(Debug, Clone, Default)]
struct Asked {
    utilisation: f64,
    allowed: u32,
    active: u32,
    /// Candidates shown, and those that started, in order.
    shown: Vec<Candidate>,
    starts: Vec<Candidate>,
}

/// G(u): none below `low`, `most` channels from `high` on, a ramp between.
#[derive(Clone)]
struct Adaptive {
    low: f64,
    high: f64,
    most: u32,
    log: Arc<Mutex<Vec<Asked>>>,
}

impl Concurrency for Adaptive {
    fn limit(&self, _: SimTime, load: &Load<'_>) -> Limit {
        let ramp = ((load.utilisation - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let allowed = (f64::from(self.most) * ramp) as u32;
        let (utilisation, active) = (load.utilisation, load.active);
        let asked = Asked { utilisation, allowed, active, ..Asked::default() };
        self.log.lock().expect("one thread").push(asked);
        Limit::begin(allowed)
    }

    fn rank(&self, _: SimTime, candidate: &Candidate, _: &Load<'_>) -> Option<u64> {
        let mut log = self.log.lock().expect("one thread");
        log.last_mut().expect("asked before").shown.push(*candidate);
        Some(u64::from(candidate.invalid))
    }

    fn started(&mut self, candidate: &Candidate) {
        let mut log = self.log.lock().expect("one thread");
        log.last_mut().expect("asked before").starts.push(*candidate);
    }
}

/// Starts empty; utilisation alone decides when events are wanted (soft = everything free).
fn config() -> SsdConfig {
    let mut config = crate::seams::config(CHANNELS);
    config.ftl.reserved_blocks = Amount::Blocks(16);
    config.gc.soft_threshold = Amount::Blocks(31);
    config.gc.hard_threshold = Amount::Blocks(1);
    (config.gc.domain, config.gc.trigger) = (Domain::Device, Trigger::Background);
    config
}

/// `writes` random pages, one every 400 us, with what `check` sees after every event.
fn drive(
    concurrency: Box<dyn Concurrency>,
    config: &SsdConfig,
    writes: u32,
    mut check: impl FnMut(&Device<AnyProbe>),
) -> Device<AnyProbe> {
    let ftl = Ftl::new(config, 1, "device/0").expect("feasible");
    let shape = ftl.shape().clone();
    let policies = Policies { concurrency, ..crate::seams::policies() };
    let mut device =
        Device::with_policies(config, shape.clone(), ftl, policies, any(AuditProbe)).expect("able");
    let mut rng = Rng::stream(2, "writes");
    for write in 0..writes {
        let arrival = SimTime(u64::from(write) * 400_000);
        while device.next_wakeup() < arrival {
            device.advance_until(device.next_wakeup(), false).expect("room");
            check(&device);
        }
        device.advance_until(arrival, false).expect("room");
        let lpn = rng.below(u64::from(shape.logical_pages));
        device.submit(arrival, crate::seams::page(write, Operation::Write, lpn)).expect("room");
    }
    device.advance_until(SimTime(3_600_000_000_000), false).expect("room");
    assert_eq!(device.completions().len() as u32, writes, "host work completes");
    device
}

#[test]
fn no_more_channels_collect_than_the_ramp_allows_and_the_best_victim_goes_first() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let policy = Adaptive { low: 0.5, high: 0.85, most: 4, log: log.clone() };
    let mut most = 0;
    let device = drive(Box::new(policy), &config(), 12_000, |device| {
        most = most.max(device.collecting_dies().count());
    });
    assert!(device.counters().gc_victims > 0 && (1..=4).contains(&most), "{most} channels at once");
    let log = log.lock().expect("one thread");
    for asked in log.iter().filter(|asked| !asked.starts.is_empty()) {
        assert!(asked.active + asked.starts.len() as u32 <= asked.allowed, "{asked:?}");
        assert!(asked.starts.iter().all(|start| start.invalid > 0), "{asked:?}");
        let left = asked.shown.iter().filter(|shown| !asked.starts.contains(shown));
        let best_left = left.map(|left| left.invalid).max().unwrap_or(0);
        assert!(asked.starts.iter().all(|start| start.invalid >= best_left), "the best go first: {asked:?}");
    }
    for level in 0..=2 {
        assert!(log.iter().any(|asked| asked.allowed == level), "the ramp passes level {level}");
    }
    assert!(
        log.iter()
            .filter(|asked| asked.allowed == 0)
            .all(|asked| asked.utilisation < 0.5 + 0.35 / 4.0 + 1e-9)
    );
}

/// Never lets anything start.
#[derive(Clone)]
struct Never;
impl Concurrency for Never {
    fn limit(&self, _: SimTime, _: &Load<'_>) -> Limit {
        Limit::NONE
    }
}

#[test]
fn a_die_down_to_its_last_free_block_collects_whatever_the_policy_says() {
    for (domain, hard) in [(Domain::Die, 1), (Domain::Device, 1), (Domain::Device, 5)] {
        let mut config = config();
        config.gc.hard_threshold = Amount::Blocks(hard);
        config.gc.domain = domain;
        let device = drive(Box::new(Never), &config, 12_000, |device| {
            // Blocks that a running event has erased do not count as free yet.
            let collects = device.collecting_dies().next().is_some();
            assert!(!collects || device.status(SimTime::ZERO).free_min <= 1, "collects early");
        });
        assert!(device.counters().gc_victims > 0);
    }
}
