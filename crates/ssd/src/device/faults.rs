//! Faults: a device that becomes slow, one that stops, and one that loses power for a moment.
//!
//! A slow device takes a multiple of the rated time for every read, program and erase that begins; it replaces its table of
//! times, so that estimates follow and a healthy device pays nothing. What runs goes on as it began: a command, and a
//! collection that is one command. Transfers, the link and suspending keep their times.
//!
//! A device that has failed is silent. What waited or ran is forgotten without an answer; the collection under way ends at
//! that moment. Its counters, its last status and its mapping can still be read.
//!
//! A mapping cache is empty after a loss of power, and nothing waits for it any more.
//!
//! A device that loses power forgets what waits at its dies and what is on its link. Reads and programs that have begun finish
//! on the power that it has stored, and nobody is told. What is in line for its write cache is forgotten. Collection goes on as it was.
//!
//! ```text
//! power_protected   in the cache       at a die, waiting    its program has begun
//! true              written later      written later        ends
//! false             lost               lost                 ends
//! ```
//!
//! What a write cache with stored power (`power_protected`) holds is written afterwards. Without, it is lost: reads then find what the host
//! had written before, and what a trim dropped from the cache is there again. The map changes when a program begins, and a program that
//! has begun ends, so the last copy on flash is always there: collection takes it for live until then. Where dies share their blocks the
//! map changes when a program is put together, and that counts as its begin. What a flush has answered for is programmed, and so is a write
//! with FUA that was answered; a trim with FUA that was answered has unmapped its pages. Another write whose answer is on its way is answered although it may be lost. Which pages were lost the
//! device tells to whoever [asks](Device::take_lost).
//!
//! Source: the NVM command set has a volatile write cache lose what no Flush or Force Unit Access has made non-volatile, and forbids no drive
//! to keep more. A program that is cut short may damage pages of its word line that were written long before, so drives without stored
//! power for their cache have some for what their dies have begun.
//!
//! Not modelled: pages that fail to read, dies that fail alone, what a program cut short leaves in its page, and the time a
//! device needs to find its mapping again when power is back.

use harmonia_flash::{Bus, Link, Timing};
use harmonia_types::{SimDuration, SimTime};

use super::Device;
use super::index::Index;
use super::lanes::Lanes;
use super::owner::Owner;
use super::placement::Placement;
use super::queue::PageOp;
use crate::die::Die;
use crate::die::command::NO_OP;
use crate::interface::Status;
use crate::probe::Probe;
use crate::slab::Slab;

/// The most that a device can slow down, so that times stay in range.
const SLOWEST: f64 = 1e6;

/// What is left of a device that has failed.
#[derive(Debug, Clone)]
pub(super) struct Remains {
    /// Its last status.
    pub status: Status,
    /// Pages moved out of victims that it will not erase.
    pub moved: u64,
}

impl<P: Probe> Device<P> {
    /// From `now` on every read, program and erase that begins takes `factor` times its rated time, to the nanosecond
    /// nearest; 1 ends it. What is below 1, or not a number, counts as 1, and what is above a million as that.
    pub fn slow_down(&mut self, now: SimTime, factor: f64) {
        debug_assert!(self.next_wakeup() >= now, "slowed down at {now} before earlier events ran");
        let factor = if factor.is_nan() { 1.0 } else { factor.clamp(1.0, SLOWEST) };
        let slow = |rated: SimDuration| SimDuration((rated.0 as f64 * factor).round() as u64);
        let Timing { read, program, erase, read_retry, .. } = self.rated;
        let timing = &mut self.rules.timing;
        (timing.read, timing.program, timing.erase) = (read.map(slow), program.map(slow), slow(erase));
        timing.read_retry.step = read_retry.step.map(slow);
    }

    /// The device fails at `now`: it does nothing and answers nothing any more. Completions, refusals and notices that
    /// nobody has drained are lost; an interval of collection that had begun ends.
    pub fn fail(&mut self, now: SimTime) {
        if self.failed.is_some() {
            return;
        }
        debug_assert!(self.next_wakeup() >= now, "failed at {now} before earlier events ran");
        self.takes_all = false;
        self.failed = Some(Box::new(Remains { status: self.status(now), moved: self.moved_of_unfinished() }));
        if self.collecting > 0 && now > self.collecting_since {
            self.intervals.push((self.collecting_since, now));
        }
        self.collecting = 0;
        self.forget_operations();
        self.forget_events();
        for die in 0..self.rules.shape.dies {
            self.stop_die(die, now);
        }
        self.tell_queue(now);
    }

    /// Power is lost at `now` and back at once: operations that have not begun are forgotten, and those that run finish
    /// without an answer. What nobody has drained yet stays to be drained.
    pub fn lose_power(&mut self, now: SimTime) {
        if self.failed.is_some() {
            return;
        }
        debug_assert!(self.next_wakeup() >= now, "lost power at {now} before earlier events ran");
        // What was lost before and nobody has asked for.
        self.take_lost();
        self.ingress.clear();
        self.forget_awaited();
        (self.link, self.controller) = (Link::default(), Link::default());
        let landing = self.placement.as_mut().map(|placement| placement.forget_landing());
        let by_map = self.superblocks.as_mut().map(|blocks| blocks.forget_landing());
        // The last first: each goes before all others.
        for op in landing.or(by_map).into_iter().flatten().rev() {
            match op.owner.get() {
                Owner::Host(sub) => self.forget_page(sub),
                Owner::Cache(slot) => self.takes_back(slot),
                Owner::Map(_) => {}
            }
        }
        self.forget_map();
        self.forget_line(now);
        for die in 0..self.rules.shape.dies {
            self.forget_waiting(die, now);
            self.silence_running(die);
        }
        self.feed_anew();
        self.tell_queue(now);
    }

    /// Nothing waits at a die any more.
    fn forget_waiting(&mut self, die: u32, now: SimTime) {
        let (had_any, is_volatile) = (self.dies[die as usize].head != NO_OP, self.cache_is_volatile());
        let mut next = self.dies[die as usize].head;
        while next != NO_OP {
            let handle = next;
            let PageOp { owner, next: behind, .. } = self.ops[handle];
            next = behind;
            if owner.is_cache() && (!is_volatile || self.superblocks.is_some()) {
                // Stored power keeps it; or dies share their blocks, and the map has changed when its program was put together.
                continue;
            }
            let is_background = self.is_background(owner);
            self.withdraw(die, handle);
            match owner.get() {
                Owner::Host(sub) => self.forget_page(sub),
                Owner::Cache(slot) => self.takes_back(slot),
                Owner::Map(_) => {}
            }
            if !is_background {
                self.note_done(die, now);
            }
        }
        if had_any {
            self.go_on_without(die, now);
            if self.dies[die as usize].is_idle() && now < self.wakes.time_of(die as usize) {
                // Nothing of the host keeps it from collecting any more.
                self.wakes.set(die as usize, now);
            }
        }
    }

    /// What runs at a die ends without an answer.
    fn silence_running(&mut self, die: u32) {
        let running: Vec<u32> = self.dies[die as usize].running_ops().collect();
        for op in running {
            if let Owner::Host(sub) = self.ops[op].owner.get() {
                self.subs[sub].is_silent = true;
            }
        }
    }

    /// Nobody wants to know any more that it collected before this moment.
    pub fn forget_collecting_before(&mut self, now: SimTime) {
        self.intervals.clear();
        self.collecting_since = self.collecting_since.max(now);
    }

    /// Forgets what waits, runs or is on its way, and what was not told yet.
    fn forget_operations(&mut self) {
        (self.ops, self.subs, self.background) = (Slab::default(), Slab::default(), None);
        if let Some(lanes) = &mut self.lanes {
            **lanes = Lanes::new(self.rules.shape.units().max(self.rules.shape.dies) as usize);
        }
        if let Some(index) = &mut self.index {
            **index = Index::new(self.dies.len());
        }
        if let Some(placement) = &mut self.placement {
            **placement = Placement::new(&self.rules.shape);
        }
        if let Some(blocks) = &mut self.superblocks {
            blocks.forget_all();
        }
        if let Some(cache) = &mut self.cache {
            cache.forget_all();
        }
        if let Some(mapping) = &mut self.mapping {
            mapping.forget_all();
        }
        self.fast_waiting = 0;
        self.ingress.clear();
        self.completions.clear();
        self.refusals.clear();
        self.notices.clear();
    }

    /// Nothing happens by itself any more.
    fn forget_events(&mut self) {
        (0..self.dies.len()).for_each(|die| self.wakes.clear(die));
        let others = 1 + usize::from(self.cache.is_some()) + usize::from(self.rules.suspends);
        (0..self.buses.len() + others).for_each(|slot| self.bus_wakes.clear(slot));
        if self.rules.suspends {
            (0..self.dies.len()).for_each(|die| self.looks.clear(die));
        }
        self.buses.fill(Bus::default());
        self.governor = None;
        self.settling = self.begin_settling();
    }

    /// A die stops; the time that it has spent collecting stays known.
    fn stop_die(&mut self, die: u32, now: SimTime) {
        let slot = &mut self.dies[die as usize];
        *slot = Die { gc_busy: slot.gc_busy, gc_plane_busy: slot.gc_plane_busy, ..Die::default() };
        self.watch_end(die, now);
        self.watch_queue(die, now);
        self.look_at(die, now);
    }
}
