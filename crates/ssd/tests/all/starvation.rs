//! Can the host keep a collection that yields to it from ever ending? Under a closed loop that always has reads and
//! writes ready, free blocks come down to hard, from then on nothing goes between the steps, and the run completes.

use harmonia_engine::Rng;
use harmonia_ssd::interface::{Directive, Notice, Stop};
use harmonia_ssd::probe::{AnyProbe, AuditProbe, any};
use harmonia_ssd::{Device, SsdConfig};
use harmonia_types::{Operation, SimDuration, SimTime};

const DEPTH: u32 = 16;
const OPERATIONS: u32 = 3_000;
/// When the load begins: the collection begun before is between soft and hard.
const LOAD: SimTime = SimTime(100_000);

struct Loop {
    device: Device<AnyProbe>,
    rng: Rng,
    issued: u32,
    done: u32,
    notices: Vec<(SimTime, Notice)>,
    /// Moments at which the die collected at hard.
    at_hard: u32,
}

impl Loop {
    fn new(config: &SsdConfig) -> Self {
        let device = Device::new(config, crate::seams::used(config, 6), any(AuditProbe)).expect("able");
        let rng = Rng::stream(1, "closed loop");
        Loop { device, rng, issued: 0, done: 0, notices: Vec::new(), at_hard: 0 }
    }

    fn issue(&mut self, now: SimTime) {
        let pages = u64::from(self.device.ftl().shape().logical_pages);
        let operation = if self.issued.is_multiple_of(2) { Operation::Read } else { Operation::Write };
        let sub = crate::seams::page(self.issued, operation, self.rng.below(pages));
        self.device.submit(now, sub).expect("room");
        self.issued += 1;
    }

    /// Whether the die is in the middle of an event while a unit is at hard; and host commands run between its steps, and
    /// erases, as a write right after one may make it hard again.
    fn collects_at_hard(&self) -> (bool, (u64, u64)) {
        let (ftl, collects) = (self.device.ftl(), self.device.collecting_dies().next().is_some());
        let is_hard = (0..ftl.shape().units()).any(|unit| ftl.free_blocks(unit) <= ftl.shape().hard);
        let counters = self.device.counters();
        (collects && is_hard, (counters.inside.preemptions, counters.erases))
    }

    fn run(&mut self) {
        self.device.direct(SimTime::ZERO, Directive::Force(Stop::Internal));
        self.device.advance_until(LOAD, false).expect("room");
        (0..DEPTH).for_each(|_| self.issue(LOAD));
        while self.done < OPERATIONS {
            let (bound, before) = self.collects_at_hard();
            let now = self.device.next_wakeup();
            assert!(now < SimTime::NEVER, "{} of {OPERATIONS} are done, and nothing happens", self.done);
            self.device.advance_until(now, false).expect("never out of blocks");
            let (still_bound, after) = self.collects_at_hard();
            let goes_between = before.0 != after.0 && before.1 == after.1;
            assert!(!(bound && still_bound && goes_between), "something goes between steps at hard");
            self.at_hard += u32::from(still_bound);
            self.notices.append(self.device.notices());
            for _ in 0..self.device.completions().drain(..).count() {
                self.done += 1;
                self.issue(now);
            }
        }
    }

    fn first(&self, wanted: Notice) -> SimTime {
        let found = self.notices.iter().find(|(_, notice)| *notice == wanted);
        found.map_or(SimTime::NEVER, |&(time, _)| time)
    }
}

#[test]
fn a_load_that_never_pauses_cannot_starve_collection() {
    for schedule in ["preemptive", "preemptive-io-parallel", "slack"] {
        for (own_pins, suspend) in [(true, None), (false, None), (true, Some(5)), (false, Some(5))] {
            let case = format!("{schedule}, own pins {own_pins}, suspend {suspend:?}");
            let mut config = crate::seams::config(1);
            config.gc.schedule = schedule.into();
            if schedule == "slack" {
                // Nothing that waits has time to spare.
                config.gc.schedule = config.gc.schedule.with("slack", "0ns");
            }
            config.geometry.own_pins = own_pins;
            config.timing.copyback = harmonia_flash::Copyback::None;
            config.timing.suspend_erase = suspend.map(SimDuration::from_us);
            config.timing.suspend_program = suspend.map(SimDuration::from_us);
            let before = crate::seams::used(&config, 6).tally().victims;
            let mut run = Loop::new(&config);
            run.run();
            let (counters, hard) = (run.device.counters(), run.first(Notice::HardThreshold));
            assert!(counters.inside.preemptions > 50, "{case}: the host goes between while it may");
            assert!(LOAD < hard && hard < SimTime::NEVER, "{case}: free blocks come down to hard");
            assert!(run.first(Notice::GcStarted) < LOAD, "{case}: long after collecting began");
            assert!(run.at_hard > 10, "{case}: {} moments at hard", run.at_hard);
            assert!(counters.gc_victims > before + 50, "{case}: blocks are freed");
            assert_eq!(counters.inside.suspends > 0, suspend.is_some(), "{case}");
        }
    }
}
