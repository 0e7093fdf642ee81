//! The end of a drive: blocks wear out, and then it only serves reads.
//!
//! ```text
//! a block retires ─► the unit has lost the share of its spare that it can ─► read-only: later writes are refused
//! ```
//!
//! A drive becomes read-only when the first of its allocation units is worn out, not when all of the drive's spare is. Data does
//! not move between units, so a unit without spare cannot take writes, whatever room other units have. NVMe drives say so in bit
//! 3 of the critical warning, and the JEDEC life of a drive ends there.
//!
//! Writes and discards that the drive was given before are carried out: collection always keeps the blocks that it needs. Those
//! that come later fail at once, and change nothing. The failure reaches the host without the latency of the link. A drive tells
//! of it either as a [refusal](super::SubRefusal), so that an array can do without it, or as a completion, and counts the pages.

use harmonia_types::SimTime;

use super::Device;
use crate::endurance::WearConfig;
use crate::ftl::Worn;
use crate::probe::Probe;

/// What a drive knows of its end.
#[derive(Debug, Clone)]
pub(super) struct Life {
    config: WearConfig,
    /// Since when it has taken no more writes.
    ended: Option<SimTime>,
    /// When the first block retired.
    first_retired: Option<SimTime>,
    pub at_end: AtEnd,
    /// Pages of writes and discards that have failed.
    pub failed_pages: u64,
}

/// What becomes of a write or discard that comes to a drive which is worn out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEnd {
    /// It fails, and completes at once: nobody has the data elsewhere.
    Completes,
    /// It fails, and is refused: whoever uses the drive does something about it.
    Refuses,
    /// It is carried out: for a drive that nobody can do without yet.
    Takes,
}

/// The end of a drive, as far as it has come.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LifeReport {
    /// How worn the drive is.
    pub worn: Worn,
    /// When the first block retired in this run.
    pub first_retired: Option<SimTime>,
    /// Since when it has been read-only.
    pub read_only: Option<SimTime>,
    /// Pages of writes and discards that have failed since.
    pub failed_pages: u64,
}

impl<P: Probe> Device<P> {
    /// Its blocks wear out from now on. `drive`: its number among those of the array, which the endurance of its blocks depends
    /// on, as on the seed.
    pub fn wear_out(&mut self, config: &WearConfig, seed: u64, drive: u16) {
        self.ftl.wear_out(config, seed, drive);
        let life = Life {
            config: config.clone(),
            ended: None,
            first_retired: None,
            at_end: AtEnd::Completes,
            failed_pages: 0,
        };
        self.life = Some(Box::new(life));
        for unit in 0..self.rules.shape.units() {
            if self.ftl.is_worn_out(unit) {
                self.end_life(SimTime::ZERO);
            }
        }
    }

    /// What becomes of writes that come when it is worn out, from now on; at first they complete.
    pub fn set_at_end(&mut self, at_end: AtEnd) {
        if let Some(life) = &mut self.life {
            life.at_end = at_end;
        }
    }

    /// How far its life has come, if its blocks wear out.
    pub fn life(&self) -> Option<LifeReport> {
        self.life.as_deref().map(|life| LifeReport {
            worn: self.ftl.worn(&life.config),
            first_retired: life.first_retired,
            read_only: life.ended,
            failed_pages: life.failed_pages,
        })
    }

    /// Since when it has taken no more writes.
    pub fn read_only_since(&self) -> Option<SimTime> {
        self.life.as_deref().and_then(|life| life.ended)
    }

    /// A block of a unit has retired.
    #[cold]
    pub(super) fn note_retired(&mut self, unit: u32, now: SimTime) {
        if let Some(life) = &mut self.life {
            life.first_retired.get_or_insert(now);
        }
        if self.ftl.is_worn_out(unit) {
            self.end_life(now);
        }
    }

    /// It takes no more writes from now on.
    #[cold]
    pub fn end_life(&mut self, now: SimTime) {
        let Some(life) = &mut self.life else { return };
        life.ended.get_or_insert(now);
        self.takes_all = false;
        // Writes go the general way, which looks at this.
        self.is_plain = false;
    }
}
