//! Collection that has a share of a die's work beside the writes of the host, instead of all of it or none.
//!
//! ```text
//! room of a unit   soft ........................ hard
//! proportional     0%   collection's share      100%
//! bursts           1 - host_share, from the start of an event to its end
//! ```
//!
//! When a die begins a program of the host while it has something to collect, collection owes it time: as long as the program, times
//! share / (1 - share). While it does, steps of collection go before writes. [`Debt`](crate::die::Die::debt) keeps the account, in which
//! what it takes to suspend and resume a step counts as the step's work. Otherwise
//! the schedule says what goes first, so that a die which has nothing else to do collects without being asked.
//!
//! Reads are in no account, because they take no room. They go first as the schedule says, at the hard threshold too, where writes
//! wait until collection has won a block.
//!
//! With a share that follows room, room settles where collection wins what the host takes. So nobody has to know how full victims are.
//! Room is that of free blocks, of the rest of open ones, and of the pages of a victim that have moved already. So it falls with each
//! write of the host and rises at each erase, and at nothing else.
//!
//! Each die has its own account and looks at its own units, because each unit has its own free blocks. Where writes go to the die with the
//! shortest queue, a die that is short of room keeps its writes longer and so gets fewer of them: dies even out without a common share.
//!
//! Source: a model that was fitted to measurements of three drives for data centres. Two of them collect in proportion to what the host
//! writes, and one in bursts. The account, and where the two ends of the share lie, are ours.

use harmonia_types::SimDuration;

use super::Device;
use crate::config::{GcConfig, Trigger};
use crate::gc::schedule::Class;
use crate::probe::Probe;

/// What collection has of a die's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// By the room of the die.
    Proportional,
    /// So many parts against so many of the host.
    Bursts(u64, u64),
}

impl Sharing {
    pub fn of(gc: &GcConfig) -> Option<Sharing> {
        const WHOLE: f64 = 1e6;
        let host = (gc.host_share * WHOLE).round().clamp(1.0, WHOLE) as u64;
        match gc.trigger {
            Trigger::Foreground | Trigger::Background => None,
            Trigger::Proportional => Some(Sharing::Proportional),
            Trigger::Bursts => Some(Sharing::Bursts(WHOLE as u64 - host, host)),
        }
    }

    /// Parts of collection against parts of the host, with so many pages of room `left` of a `span`.
    fn ratio(self, left: u64, span: u64) -> (u64, u64) {
        match self {
            Sharing::Proportional => (span.saturating_sub(left), left.max(1)),
            Sharing::Bursts(collection, host) => (collection, host),
        }
    }
}

impl<P: Probe> Device<P> {
    /// A die begins a program of the host, which takes so long.
    #[inline]
    pub(super) fn owe_for(&mut self, die: u32, work: SimDuration) {
        if let Some(sharing) = self.rules.sharing {
            self.grow_debt(die, sharing, work);
        }
    }

    #[inline(never)]
    fn grow_debt(&mut self, die: u32, sharing: Sharing, work: SimDuration) {
        if !self.dies[die as usize].collection.has_turn() {
            return self.dies[die as usize].debt.forget();
        }
        let shape = &self.rules.shape;
        let span = u64::from(shape.soft - shape.hard) * u64::from(shape.data_pages);
        let ratio = sharing.ratio(self.room_above_hard(die), span);
        self.dies[die as usize].debt.grow(work, ratio);
    }

    /// Pages that the unit of a die with the least room takes before all that it has free, beside its open blocks, are the blocks of the
    /// hard threshold.
    fn room_above_hard(&self, die: u32) -> u64 {
        if self.rules.by_parts {
            return self.room_without_parts(die);
        }
        let (unit, moved) = match self.dies[die as usize].collection.victim() {
            Some((unit, victim)) => (Some(self.rules.shape.unit(die, unit)), victim.moved),
            None => (None, 0),
        };
        let room = |other: u32| {
            self.ftl.room_above(other, self.rules.shape.hard, if unit == Some(other) { moved } else { 0 })
        };
        self.units_of(die).map(room).min().unwrap_or(0)
    }

    /// A die has collected for so long.
    #[inline]
    pub(super) fn has_collected_for(&mut self, die: u32, work: SimDuration) {
        if self.rules.sharing.is_some() {
            self.dies[die as usize].debt.work_off(work);
        }
    }

    /// Whether collection goes before the writes of a die, of which the unit with the fewest free blocks has `free`.
    #[inline]
    pub(super) fn writes_wait(&self, die: u32, free: u32) -> bool {
        if self.rules.sharing.is_none() {
            return false;
        }
        let slot = &self.dies[die as usize];
        let guest = slot.hosting.as_ref().or(slot.guests.front());
        let is_wanted = |of: u32| self.is_pressing(of, self.least_free(of));
        (slot.collection.has_turn() && (slot.debt.is_due() || self.is_pressing(die, free)))
            || guest.is_some_and(|guest| free <= self.rules.shape.hard || is_wanted(guest.die))
    }

    /// Whether collection at the hard threshold keeps operations of a class waiting.
    #[inline]
    pub(super) fn keeps_out(&self, class: Class) -> bool {
        self.rules.sharing.is_none() || class == Class::Write
    }
}

#[cfg(test)]
mod tests {
    use harmonia_flash::presets;

    use super::*;
    use crate::block::BlockId;
    use crate::config::SsdConfig;
    use crate::die::Guest;
    use crate::ftl::Ftl;
    use crate::probe::NoProbe;
    use crate::shape::UnitOfDie;

    /// Die 1 has room, and so does die 0, from which the page comes.
    #[test]
    fn writes_wait_for_the_page_of_another_die_at_the_hard_threshold_and_not_above() {
        for trigger in [Trigger::Bursts, Trigger::Background] {
            let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
            (config.gc.trigger, config.geometry.channels) = (trigger, 2);
            config.gc.schedule = "preemptive".into();
            let ftl = Ftl::new(&config, 1, "device").expect("it works");
            let mut device = Device::new(&config, ftl, NoProbe).expect("it works");
            let hard = device.rules.shape.hard;
            let waits = |device: &Device<NoProbe>| [hard, hard + 1].map(|free| device.writes_wait(1, free));
            assert_eq!(waits(&device), [false, false], "there is no page");
            let to = device.rules.shape.unit(1, UnitOfDie(0));
            let guest = Guest { die: 0, from: (0, BlockId(0), 0), to };
            device.dies[1].guests.push_back(guest);
            let shares = trigger == Trigger::Bursts;
            assert_eq!(waits(&device), [shares, false], "it waits");
            device.dies[1].hosting = device.dies[1].guests.pop_front();
            assert_eq!(waits(&device), [shares, false], "it is being programmed");
        }
    }

    #[test]
    fn the_share_goes_from_none_to_all() {
        let ratios = [500, 400, 100, 1, 0].map(|left| Sharing::Proportional.ratio(left, 400));
        assert_eq!(ratios, [(0, 500), (0, 400), (300, 100), (399, 1), (400, 1)]);
    }

    #[test]
    fn a_burst_leaves_the_host_its_share() {
        let shared = |host_share| {
            let gc = GcConfig { trigger: Trigger::Bursts, host_share, ..GcConfig::default() };
            Sharing::of(&gc).expect("bursts share").ratio(7, 400)
        };
        assert_eq!(shared(0.25), (750_000, 250_000));
        assert_eq!((shared(1.0), shared(0.0)), ((0, 1_000_000), (999_999, 1)));
    }
}
