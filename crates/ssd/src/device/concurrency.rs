//! Limited concurrency: which dies get their turn, and what remains of an event between its turns.
//!
//! ```text
//! a host write opens a block ─┐
//! a victim is done ───────────┼─► govern: survey the dies ─► the last block of a die? ─► limit ─► best of the rest
//! an event is wanted ─────────┘
//! ```
//!
//! A turn is one victim ([`turns`](super::turns) has what happens in it), and a channel has one at a time. A die that is
//! down to its last free block may therefore have to wait for another die of its channel: that does not give way to the
//! host meanwhile, and if it has not begun because it serves the host, its turn goes to the die that cannot wait.
//!
//! A turn that nobody but the policy asks for begins on dies whose best block, as greedy sees it, has enough invalid pages.
//!
//! Source: Electronics 2025, 4 (one block at a time on a channel, most invalid pages first, none aborted, a channel with
//! one empty block left collects regardless); that the rule about the last block holds for every allocation unit is ours.
//! Not modelled: blocks that garbage collection opens change utilisation, too, but the policy sees that only with the
//! next question.

use harmonia_types::SimTime;

use super::Device;
use crate::die::event::Event;
use crate::follow::Why;
use crate::gc::concurrency::{Candidate, Concurrency, Load};
use crate::probe::Probe;

/// Free blocks of a unit at which its die collects whatever the policy says.
pub(super) const LAST_BLOCK: u32 = 1;

/// A policy that limits, and what a device keeps for it.
#[derive(Clone)]
pub(super) struct Governor {
    policy: Box<dyn Concurrency>,
    channels: Vec<Channel>,
    /// As [`Load`] has them.
    depth: Vec<u32>,
    idle_since: Vec<SimTime>,
    /// More could have started had the limit been higher.
    hungry: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Channel {
    /// A die of it has its turn.
    active: bool,
    /// The die that has its turn if it still serves the host, and so has not begun.
    promised: Option<u32>,
    /// A die of it waits with its last free block while another has its turn.
    pressed: bool,
    /// The die that has waited longest with its last free block, and how far it is from the last turn.
    urgent: Option<(u32, u32)>,
    /// Who would start next, and its rank.
    best: Option<(u64, Candidate)>,
    /// Place on the channel of the die after the one that had the last turn.
    next: u32,
}

impl Governor {
    /// `None` for a policy that limits nothing.
    pub fn new(policy: Box<dyn Concurrency>, channels: u32) -> Option<Box<Governor>> {
        let count = channels as usize;
        (!policy.admits_all()).then(|| {
            Box::new(Governor {
                policy,
                channels: vec![Channel::default(); count],
                depth: vec![0; count],
                idle_since: vec![SimTime::ZERO; count],
                hungry: false,
            })
        })
    }

    fn active(&self) -> u32 {
        self.channels.iter().filter(|channel| channel.active).count() as u32
    }

    fn load(&self, utilisation: f64) -> Load<'_> {
        Load { utilisation, active: self.active(), depth: &self.depth, idle_since: &self.idle_since }
    }
}

impl<P: Probe> Device<P> {
    /// Looks at all dies and starts those that must, and those that the policy lets start.
    pub(super) fn govern(&mut self, now: SimTime) {
        let Some(mut governor) = self.governor.take() else { return };
        if self.interrupted {
            // The host is back: idle-time events that have not begun are off.
            for slot in &mut self.dies {
                if slot.collection.wanted().is_some_and(Event::yields) {
                    slot.collection.call_off();
                }
            }
        }
        let utilisation = self.survey(&mut governor);
        for channel in 0..governor.channels.len() as u32 {
            let state = governor.channels[channel as usize];
            let Some((_, die)) = state.urgent else { continue };
            let idle = self.dies[die as usize].is_idle();
            match state.promised.filter(|_| idle) {
                Some(holder) => self.revoke(holder),
                None if state.active => continue,
                None => {}
            }
            let invalid = self.most_invalid(die).0;
            self.start_turn(&mut governor, Candidate { channel, die, invalid }, now);
        }
        self.start_allowed(&mut governor, utilisation, now);
        self.governor = Some(governor);
        self.told_to_collect = true;
    }

    /// Who has a turn and who is down to its last free block; returns the utilisation of the device.
    fn survey(&self, governor: &mut Governor) -> f64 {
        let (shape, count) = (&self.rules.shape, governor.channels.len() as u32);
        for channel in &mut governor.channels {
            (channel.active, channel.promised, channel.urgent) = (false, None, None);
        }
        let mut free = 0u64;
        for die in 0..shape.dies {
            let mut least = u32::MAX;
            for unit in self.units_of(die) {
                free += u64::from(self.visible_free(unit));
                least = least.min(self.ftl.free_blocks(unit));
            }
            let channel = &mut governor.channels[(die % count) as usize];
            let slot = &self.dies[die as usize];
            if self.has_turn(die) {
                channel.active = true;
                channel.promised = (!slot.collects() && !slot.is_idle()).then_some(die);
            } else if least <= LAST_BLOCK && self.could_collect(die) {
                let on_channel = shape.dies / count;
                let ahead = (die / count + on_channel - channel.next) % on_channel;
                // Who serves the host can still wait.
                let ahead = if slot.is_idle() { ahead } else { ahead + on_channel };
                if channel.urgent.is_none_or(|(first, _)| ahead < first) {
                    channel.urgent = Some((ahead, die));
                }
            }
        }
        for channel in &mut governor.channels {
            channel.pressed = channel.active && channel.urgent.is_some();
        }
        let blocks = u64::from(shape.units()) * u64::from(shape.blocks_per_unit);
        (blocks - free) as f64 / blocks as f64
    }

    /// Lets the best start as far as the policy allows.
    fn start_allowed(&mut self, governor: &mut Governor, utilisation: f64, now: SimTime) {
        governor.policy.see(utilisation);
        let limit = governor.policy.limit(now, &governor.load(utilisation));
        let begins = limit.begins && self.lets_policy_begin();
        let mut active = governor.active();
        if active < limit.channels {
            self.find_best(governor, utilisation, begins, now);
        }
        while active < limit.channels {
            let best = governor.channels.iter().filter_map(|channel| channel.best);
            // Of equals, the lowest channel.
            let Some((_, candidate)) = best.reduce(|a, b| if b.0 > a.0 { b } else { a }) else { break };
            self.start_turn(governor, candidate, now);
            active += 1;
        }
        governor.hungry = begins && active == limit.channels && active < governor.channels.len() as u32;
        let look = governor.policy.next_look(now, &governor.load(utilisation));
        let slot = governor.channels.len();
        match look {
            SimTime::NEVER => self.bus_wakes.clear(slot),
            look => self.bus_wakes.set(slot, look),
        }
    }

    /// The best die of every channel without a turn.
    fn find_best(&self, governor: &mut Governor, utilisation: f64, begins: bool, now: SimTime) {
        let Governor { policy, channels, depth, idle_since, .. } = governor;
        let active = channels.iter().filter(|channel| channel.active).count() as u32;
        let load = Load { utilisation, active, depth, idle_since };
        let count = channels.len() as u32;
        channels.iter_mut().for_each(|channel| channel.best = None);
        for die in 0..self.rules.shape.dies {
            let (slot, channel) = (&self.dies[die as usize], die % count);
            let state = &mut channels[channel as usize];
            let wanted = slot.collection.event().is_some();
            if state.active || !(wanted || begins && !slot.exhausted) {
                continue;
            }
            let (invalid, _) = self.most_invalid(die);
            let candidate = Candidate { channel, die, invalid };
            if invalid < policy.min_invalid() && !wanted {
                continue;
            }
            let Some(rank) = policy.rank(now, &candidate, &load) else { continue };
            if state.best.is_none_or(|(best, _)| rank > best) {
                state.best = Some((rank, candidate));
            }
        }
    }

    fn start_turn(&mut self, governor: &mut Governor, candidate: Candidate, now: SimTime) {
        let Candidate { channel, die, .. } = candidate;
        let count = governor.channels.len() as u32;
        let state = &mut governor.channels[channel as usize];
        (state.active, state.best) = (true, None);
        state.next = (die / count + 1) % (self.rules.shape.dies / count);
        governor.policy.started(&candidate);
        let slot = &mut self.dies[die as usize];
        if slot.collection.event().is_none() {
            slot.collection.want(Event::turn());
            self.follow_demand(die, Why::Turn, now);
        }
        let slot = &mut self.dies[die as usize];
        slot.collection.admit();
        slot.stalled = false;
        if self.dies[die as usize].is_idle() {
            self.wakes.set(die as usize, now);
        }
    }

    /// A turn that has not begun goes to a die that cannot wait.
    fn revoke(&mut self, die: u32) {
        let collection = &mut self.dies[die as usize].collection;
        match collection.event().is_some_and(Event::is_turn) {
            true => collection.call_off(),
            false => collection.revoke(),
        }
    }

    /// Invalid pages of the best victim of a die as greedy sees it, and its unit (ties: the lowest).
    pub(super) fn most_invalid(&self, die: u32) -> (u32, u32) {
        self.ftl.most_invalid(self.units_of(die))
    }

    /// Whether a die collects or is about to.
    pub(super) fn has_turn(&self, die: u32) -> bool {
        self.dies[die as usize].collection.has_turn()
    }

    /// Whether a turn could win anything, or somebody wants to know.
    fn could_collect(&self, die: u32) -> bool {
        let slot = &self.dies[die as usize];
        slot.collection.event().is_some() || (!slot.exhausted && self.most_invalid(die).0 > 0)
    }

    /// Whether collecting on a die must not give way to the host; `free`: the fewest free blocks of its units.
    #[inline]
    pub(super) fn is_pressing(&self, die: u32, free: u32) -> bool {
        let awaited = |governor: &Governor| {
            let channel = self.rules.geometry.channel_of(die);
            free <= LAST_BLOCK || governor.channels[channel as usize].pressed
        };
        free <= self.rules.shape.hard || self.governor.as_deref().is_some_and(awaited)
    }

    /// Whether another die of its channel has its turn.
    pub(super) fn is_pressed(&self, die: u32) -> bool {
        let step = self.buses.len() as u32;
        (die % step..self.rules.shape.dies)
            .step_by(step as usize)
            .any(|other| other != die && self.has_turn(other))
    }

    /// Whether nothing collects, nor is about to.
    pub(super) fn is_at_rest(&self) -> bool {
        let active = |governor: &Governor| governor.channels.iter().any(|channel| channel.active);
        self.collecting == 0 && !self.governor.as_deref().is_some_and(active)
    }

    /// A host operation has entered a die's queue.
    #[inline]
    pub(super) fn note_arrival(&mut self, die: u32) {
        if let Some(governor) = &mut self.governor {
            let channel = self.rules.geometry.channel_of(die) as usize;
            governor.depth[channel] += 1;
            governor.idle_since[channel] = SimTime::NEVER;
        }
    }

    /// A host operation of a die is done.
    #[inline]
    pub(super) fn note_done(&mut self, die: u32, now: SimTime) {
        if let Some(governor) = &mut self.governor {
            let channel = self.rules.geometry.channel_of(die) as usize;
            governor.depth[channel] -= 1;
            if governor.depth[channel] == 0 {
                governor.idle_since[channel] = now;
            }
            if governor.hungry && governor.policy.follows_host() {
                self.govern(now);
            }
        }
    }

    /// Checks that no channel has two turns, and that what the governor counts is so.
    pub(super) fn audit_channels(&self) {
        let Some(governor) = self.governor.as_deref() else { return };
        let mut turns = vec![0; governor.channels.len()];
        let mut depth = vec![0; governor.channels.len()];
        let walks = self.walks(self.dies.iter().map(|die| die.waiting).sum());
        for (index, die) in self.dies.iter().enumerate() {
            let channel = self.rules.geometry.channel_of(index as u32) as usize;
            turns[channel] += u32::from(self.has_turn(index as u32));
            assert!(turns[channel] <= 1, "channel {channel} holds two turns of garbage collection");
            depth[channel] += if walks { self.host_ops_of(die) } else { 0 };
        }
        assert!(!walks || depth == governor.depth, "host operations at the channels: {depth:?}");
    }
}

#[cfg(test)]
mod tests {
    use harmonia_flash::presets;

    use super::*;
    use crate::config::SsdConfig;
    use crate::ftl::Ftl;
    use crate::probe::NoProbe;

    /// Dies 0 and 2 are on one channel, and dies 1 and 3 on another.
    #[test]
    fn a_die_is_pressed_by_the_turn_of_another_die_of_its_channel() {
        let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        (config.geometry.channels, config.geometry.chips_per_channel) = (2, 2);
        config.geometry.dies_per_chip = 1;
        let ftl = Ftl::new(&config, 1, "device").expect("it works");
        let device = Device::new(&config, ftl, NoProbe).expect("it works");
        assert_eq!(device.dies.len(), 4);
        for (with_turn, pressed) in [(0, 2), (1, 3), (2, 0), (3, 1)] {
            let mut device = device.clone();
            let collection = &mut device.dies[with_turn].collection;
            collection.want(Event::turn());
            collection.admit();
            let found: Vec<u32> = (0..4).filter(|&die| device.is_pressed(die)).collect();
            assert_eq!(found, [pressed], "die {with_turn} has its turn");
        }
    }
}
