//! Background work of the array - rebuild, resync, scrub - that shares the dies with the host.
//!
//! ```text
//! die     [ background read ][ background program ][summary]        [ host read ]
//! host         ready |------- queue_rebuild -----------------|- ... -|
//! ```
//!
//! A die remembers when it served background work, as long as something that waits may have met it. An operation that
//! waited for the die then, the host's or another of the background, has that time in `queue_rebuild`. A command of
//! several planes counts if all its operations are of the background; one that serves the host too belongs to the host,
//! and one of garbage collection that takes background operations along belongs to collection.
//!
//! Background work is no activity of the host: it does not count for idleness, nor for what windows and concurrency
//! policies know of the host.
//!
//! Not told apart: waiting for a shared bus, which stays `queue_host`, and waiting for the link, which stays `link`.

use harmonia_types::{SimDuration, SimTime};

use super::Device;
use super::owner::{Owner, OwnerId};
use crate::die::Die;
use crate::die::command::Activity;
use crate::die::spans::Spans;
use crate::probe::Probe;

/// What a device knows of background work.
#[derive(Debug, Clone)]
pub(super) struct Background {
    /// Sub-requests that are not done.
    open: usize,
    /// When each die served background work, in order and without overlap.
    logs: Vec<Spans>,
}

impl<P: Probe> Device<P> {
    /// A sub-request of the background has arrived.
    #[cold]
    pub(super) fn open_background(&mut self) {
        let dies = self.dies.len();
        let new = || Box::new(Background { open: 0, logs: vec![Spans::default(); dies] });
        self.background.get_or_insert_with(new).open += 1;
    }

    /// A sub-request is done.
    #[inline]
    pub(super) fn close_background(&mut self, sub: u32) {
        if let Some(background) = &mut self.background {
            background.open -= usize::from(self.subs[sub].background);
        }
    }

    /// Whether an operation is background work.
    #[inline]
    pub(super) fn is_background(&self, owner: OwnerId) -> bool {
        self.background.is_some()
            && match owner.get() {
                Owner::Host(sub) => self.subs[sub].background,
                Owner::Cache(slot) => self.is_cached_background(slot),
                Owner::Map(_) => false,
            }
    }

    /// Whether the array writes the page in a slot behind its host's back.
    fn is_cached_background(&self, slot: u32) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.pages.slot(slot).write.is_background)
    }

    /// Whether the cache holds pages of the host.
    #[inline]
    fn caches_for_host(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.pages.works_for_host())
    }

    /// Whether any operation of the host is not done.
    pub(super) fn serves_host(&self) -> bool {
        self.subs.live() > self.background.as_ref().map_or(0, |background| background.open)
            || self.caches_for_host()
            || self.settling.awaited() > 0
    }

    /// Whether operations are at the dies and not all that is open is background work.
    #[inline]
    pub(super) fn has_host_ops(&self) -> bool {
        (self.ops.live() > 0 && (self.background.is_none() || self.serves_host()))
            || self.settling.awaited() > 0
    }

    /// Operations of the host that wait at a die or run there.
    pub(super) fn host_ops_of(&self, die: &Die) -> u32 {
        let running = die.running_ops().filter(|&op| !self.is_background(self.ops[op].owner)).count();
        let waiting = self.waiting_from(die.head).filter(|op| !self.is_background(op.owner)).count();
        (running + waiting) as u32
    }

    /// A die has served background work from `from`, and is done with it at `until`.
    #[cold]
    pub(super) fn log_background(&mut self, die: u32, from: SimTime, until: SimTime) {
        let slot = &self.dies[die as usize];
        let waiting = self.waiting_from(slot.head).next().map(|op| op.ready);
        // The operation itself, and parts of a suspended command.
        let running = slot.running_ops().map(|op| self.ops[op].ready);
        let oldest = waiting.into_iter().chain(running).min().unwrap_or(until);
        let Some(background) = &mut self.background else { return };
        let log = &mut background.logs[die as usize];
        log.forget(oldest);
        log.extend(from, until);
    }

    /// How long a die served background work between two moments: what its log holds, and the command that runs.
    #[inline]
    pub(super) fn background_between(&self, die: u32, after: SimTime, until: SimTime) -> SimDuration {
        match &self.background {
            None => SimDuration::ZERO,
            Some(background) => self.met_background(background, die, after, until),
        }
    }

    #[cold]
    fn met_background(
        &self,
        background: &Background,
        die: u32,
        after: SimTime,
        until: SimTime,
    ) -> SimDuration {
        let slot = &self.dies[die as usize];
        let runs = slot.command.background && matches!(slot.activity, Activity::Host(_) | Activity::Joint(_));
        let running =
            if runs { until.saturating_since(slot.command.start.max(after)) } else { SimDuration::ZERO };
        background.logs[die as usize].between(after, until) + running
    }
}
