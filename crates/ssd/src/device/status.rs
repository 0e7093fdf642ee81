//! What a device tells: the O-SSD status, and counters for the report.

use harmonia_types::SimTime;
pub use harmonia_types::{DeviceCounters, Estimates};

use super::Device;
use crate::die::command::NO_OP;
use crate::interface::Status;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Counters as of now.
    pub fn counters(&self) -> DeviceCounters {
        let tally = self.ftl.tally();
        DeviceCounters {
            programs: tally.programs,
            erases: tally.erases,
            gc_victims: tally.victims,
            victim_pages: tally.victims * u64::from(self.rules.shape.data_pages),
            victim_pages_moved: tally.moves()
                - self.moved_of_unfinished()
                - self.counters.padding_of_moves() / self.rules.page_size.by(),
            gc_busy: self.dies.iter().map(|die| die.gc_busy).sum(),
            gc_plane_busy: self.dies.iter().map(|die| die.gc_plane_busy).sum(),
            write_cache: self.counted_by_cache(),
            mapping_cache: self.counted_by_mapping(),
            streams: self.ftl.streams(),
            ..self.counters
        }
    }

    /// Pages moved so far of victims that are still to be erased.
    pub(super) fn moved_of_unfinished(&self) -> u64 {
        let of_jobs: u64 = self
            .dies
            .iter()
            .filter_map(|die| die.collection.victim())
            .map(|(_, victim)| u64::from(victim.moved))
            .sum();
        of_jobs + self.failed.as_ref().map_or(0, |remains| remains.moved)
    }

    /// The measured window begins: maxima count anew, and the probe is told, of how things stand first.
    pub fn begin_window(&mut self, from: SimTime) {
        self.counters.depth_at_gc.most = 0;
        self.begin_window_of_cache();
        if let Some(mapping) = &mut self.mapping {
            mapping.pages.begin_window();
        }
        self.tell_levels(from);
        self.probe.window(from);
    }

    /// Whether its schedule takes host operations along in commands of garbage collection.
    pub fn pairs(&self) -> bool {
        self.rules.pairs
    }

    /// Of one of its pages. Unit: bytes.
    pub fn page_size(&self) -> u64 {
        self.rules.page_size.by()
    }

    /// Events processed so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The O-SSD status at `now`; of a device that has failed, its last.
    pub fn status(&self, now: SimTime) -> Status {
        if let Some(remains) = &self.failed {
            return remains.status;
        }
        let shape = &self.rules.shape;
        let units = 0..shape.units();
        let free_min = units.clone().map(|unit| self.visible_free(unit)).min().unwrap_or(0);
        let written: u64 = units.clone().map(|unit| self.ftl.written_pages(unit)).sum();
        let invalid: u64 = units.clone().map(|unit| self.ftl.invalid_pages(unit)).sum();
        let collecting = (0..shape.dies).filter(|&die| self.dies[die as usize].collects());
        Status {
            free_min,
            free_total: units.clone().map(|unit| u64::from(self.visible_free(unit))).sum(),
            below_soft: free_min <= shape.soft,
            below_hard: free_min <= shape.hard,
            gc_active: self.collecting > 0,
            gc_remaining: collecting
                .filter_map(|die| self.collection_left(die, now, self.interrupted))
                .max()
                .unwrap_or_default(),
            writes_until_hard: self.writes_of_fullest().saturating_sub(self.cached_for_flash()),
            fragmentation: if written == 0 { 0.0 } else { invalid as f64 / written as f64 },
            correctable_error_rate: None,
            queue_depth: self.waiting_or_running() as u32,
            last_activity: self.last_activity,
            wear_mean: self.ftl.tally().erases as f64 / self.ftl.erase_counts().len() as f64,
            window: self.window.window(),
            window_writes: (self.writes_of_fullest() * u64::from(shape.units()))
                .saturating_sub(self.cached_for_flash()),
        }
    }

    /// Whether nothing is under way or waits to be: no operation of the host, no collection, no work in the background.
    pub fn is_quiet(&self) -> bool {
        self.waiting_or_running() == 0 && self.collecting == 0 && self.dies.iter().all(|die| die.is_idle())
    }

    /// When the host last gave it work, or it last did some.
    pub fn last_activity(&self) -> SimTime {
        self.last_activity
    }

    /// Whether it does nothing, and begins nothing in a window but collections that its thresholds ask for: no policy limits
    /// how many channels collect, and chooses the time.
    pub fn rests_but_for_thresholds(&self) -> bool {
        self.governor.is_none() && self.is_quiet()
    }

    /// Checks what must hold after every event.
    ///
    /// # Panics
    /// Says which invariant is broken.
    pub fn audit(&self) {
        self.ftl.audit();
        self.audit_dies();
    }

    /// [`audit`](Self::audit) after an event: block counts of the units that it changed and of one more, in turn, so that what a unit
    /// did to another one is found, too; every page now and then.
    pub(super) fn audit_event(&mut self) {
        let units = self.rules.shape.units();
        self.audited.resize(units as usize, None);
        let in_turn = (self.events % u64::from(units)) as u32;
        for unit in 0..units {
            let version = Some(self.ftl.version(unit));
            if std::mem::replace(&mut self.audited[unit as usize], version) != version || unit == in_turn {
                self.ftl.audit_unit(unit);
            }
        }
        // A page an event, on average, however large the device.
        if self.events.is_multiple_of(u64::from(self.rules.shape.logical_pages).max(256)) {
            self.ftl.audit();
        }
        self.audit_dies();
    }

    fn audit_dies(&self) {
        for (index, die) in self.dies.iter().enumerate() {
            self.audit_lanes(index as u32, die);
        }
        self.audit_index();
        self.audit_promises();
        self.audit_superblocks();
        self.audit_levels();
        self.audit_cache();
        self.audit_mapping();
        self.audit_channels();
        let collecting = self.dies.iter().filter(|die| die.collects()).count();
        assert_eq!(collecting as u32, self.collecting, "dies that collect");
        for (index, die) in self.dies.iter().enumerate() {
            let channel = self.rules.geometry.channel_of(index as u32) as usize;
            let for_bus = self.buses[channel].is_awaited();
            let is_away = die.collection.is_away();
            die.audit(index as u32);
            let stalls = die.stalled && self.is_pressed(index as u32);
            let due = self.wakes.time_of(index) != SimTime::NEVER || for_bus || is_away || stalls;
            assert!(die.is_idle() || due, "die {index} works but will never finish");
            assert!(
                !(die.is_idle() && die.collection.is_admitted()) || due,
                "die {index} should collect but will not wake"
            );
            assert!(die.head == NO_OP || due, "die {index} has work but will not wake");
        }
    }
}
