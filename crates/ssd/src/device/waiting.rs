//! Waiting is counted: in a checked run every moment that a page operation waited is held against what its die did then.
//!
//! ```text
//! die     [ host ][  collection  ][ background ][ host: the operation itself ]
//! operation   ready |── gc ──────|── rebuild ──|start: array, transfers, bus ─|
//! ```
//!
//! Blame takes waiting for the host to be the time that nothing else explains (`account`). That is right only if a die
//! never rests while an operation is ready there, and if no moment is counted twice. So a checked run keeps a diary of
//! every die, and asserts at each operation's end that
//!
//! * no moment of its waiting was one at which the die rested;
//! * collection and background work took exactly the time that the operation is told;
//! * its command took its array time, its transfers, its waiting for the bus and its suspensions, and nothing else.
//!
//! Not checked: the link, which serves pages in the order in which they ask.

use std::collections::VecDeque;

use harmonia_types::{SimDuration, SimTime};

use super::Device;
use crate::die::command::NO_OP;
use crate::probe::Probe;

/// What a die does, as far as an operation that waits for it is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// Nothing.
    Rest,
    /// It serves the host, or programs a summary page for it.
    Host,
    /// It serves background work of the array.
    Background,
    /// It collects, or holds everything back for collection.
    Collection,
}

/// How long a die did what.
type Times = [SimDuration; 4];

/// From when on a die did something, and how long it had done what until then.
#[derive(Debug, Clone, Copy)]
struct Entry {
    from: SimTime,
    doing: Doing,
    before: Times,
}

impl Entry {
    fn times_at(&self, time: SimTime) -> Times {
        let mut times = self.before;
        times[self.doing as usize] += time - self.from;
        times
    }
}

/// What a die did, as long ago as an operation there has waited.
#[derive(Debug, Clone)]
struct Diary {
    entries: VecDeque<Entry>,
    /// Entries at which the old ones are looked for.
    looks_at: usize,
    /// How long the running command was suspended, with what that cost.
    suspended: SimDuration,
    /// Of the command that is suspended: since when, and how long it had been before.
    paused: Option<(SimTime, SimDuration)>,
}

impl Default for Diary {
    fn default() -> Self {
        let first = Entry { from: SimTime::ZERO, doing: Doing::Rest, before: Times::default() };
        let entries = VecDeque::from([first]);
        Diary { entries, looks_at: 64, suspended: SimDuration::ZERO, paused: None }
    }
}

impl Diary {
    fn note(&mut self, doing: Doing, now: SimTime) {
        let Some(last) = self.entries.back_mut() else { unreachable!("a die always does something") };
        let entry = Entry { from: now, doing, before: last.times_at(now) };
        if last.from == now {
            *last = entry;
        } else if last.doing != doing {
            self.entries.push_back(entry);
        }
    }

    fn forget(&mut self, before: SimTime) {
        while self.entries.get(1).is_some_and(|next| next.from <= before) {
            self.entries.pop_front();
        }
        self.looks_at = (2 * self.entries.len()).max(64);
    }

    fn times_at(&self, time: SimTime) -> Times {
        let next = self.entries.partition_point(|entry| entry.from <= time);
        self.entries[next.checked_sub(1).expect("the diary goes back far enough")].times_at(time)
    }

    fn between(&self, from: SimTime, until: SimTime, doing: Doing) -> SimDuration {
        self.times_at(until)[doing as usize] - self.times_at(from)[doing as usize]
    }
}

/// The diaries of a device's dies; empty unless the run is checked.
#[derive(Debug, Clone, Default)]
pub(super) struct Diaries(Vec<Diary>);

impl Diaries {
    pub fn new(dies: usize) -> Self {
        Diaries((0..dies).map(|_| Diary::default()).collect())
    }
}

impl<P: Probe> Device<P> {
    /// A die does something else from now on.
    #[inline]
    pub(super) fn note_doing(&mut self, die: u32, doing: Doing, now: SimTime) {
        if self.probe.audits() {
            self.diaries.0[die as usize].note(doing, now);
            if self.diaries.0[die as usize].entries.len() > self.diaries.0[die as usize].looks_at {
                self.forget_old_entries(die, now);
            }
        }
    }

    /// A die has nothing to do from now on, unless something else is noted at the same moment.
    #[inline]
    pub(super) fn note_rest(&mut self, die: u32, now: SimTime) {
        self.note_doing(die, Doing::Rest, now);
    }

    /// A die begins a command.
    #[inline]
    pub(super) fn note_command(&mut self, die: u32, now: SimTime) {
        if self.probe.audits() {
            self.diaries.0[die as usize].suspended = SimDuration::ZERO;
            self.note_doing(die, self.doing(die), now);
        }
    }

    /// What the command that runs is for.
    fn doing(&self, die: u32) -> Doing {
        let slot = &self.dies[die as usize];
        match slot.runs_collection() {
            true => Doing::Collection,
            false if slot.command.background => Doing::Background,
            false => Doing::Host,
        }
    }

    /// A die's command is suspended.
    #[inline]
    pub(super) fn note_suspended(&mut self, die: u32, now: SimTime) {
        if self.probe.audits() {
            let diary = &mut self.diaries.0[die as usize];
            diary.paused = Some((now, diary.suspended));
        }
    }

    /// A die's suspended command goes on; what it still has to do takes longer by `cost`.
    #[inline]
    pub(super) fn note_resumed(&mut self, die: u32, cost: SimDuration, now: SimTime) {
        if self.probe.audits() {
            self.note_doing(die, self.doing(die), now);
            let diary = &mut self.diaries.0[die as usize];
            let (since, before) = diary.paused.take().expect("only what is suspended goes on");
            diary.suspended = before + (now - since) + cost;
        }
    }

    /// Nobody asks any more for what came before the oldest operation that waits or runs.
    #[cold]
    fn forget_old_entries(&mut self, die: u32, now: SimTime) {
        let slot = &self.dies[die as usize];
        let first = (slot.head != NO_OP).then_some(slot.head);
        let oldest = first.into_iter().chain(slot.running_ops()).map(|op| self.ops[op].ready).min();
        self.diaries.0[die as usize].forget(oldest.unwrap_or(now).min(now));
    }

    /// An operation, ready at `ready` and told these times of waiting for collection and background work until `until`,
    /// has begun or is refused then.
    ///
    /// # Panics
    /// If its die did something else.
    pub(super) fn audit_waiting(
        &self,
        die: u32,
        (ready, until): (SimTime, SimTime),
        (queue_gc, queue_rebuild): (SimDuration, SimDuration),
    ) {
        let diary = &self.diaries.0[die as usize];
        let spent = |doing| diary.between(ready, until, doing);
        let about = || format!("an operation of die {die} that waited from {ready} to {until}");
        assert_eq!(spent(Doing::Rest), SimDuration::ZERO, "{}: the die rested", about());
        assert_eq!(spent(Doing::Collection), queue_gc, "{}: waiting for collection", about());
        assert_eq!(spent(Doing::Background), queue_rebuild, "{}: waiting for background work", about());
    }

    /// An operation of the running command is done at `now`: its command has taken the time of its parts.
    ///
    /// # Panics
    /// If something else took time.
    pub(super) fn audit_command(&self, die: u32, now: SimTime) {
        let command = &self.dies[die as usize].command;
        if command.len == 0 {
            return assert_eq!(now, command.start, "die {die} has nothing to do for an operation");
        }
        let waited = command.bus_wait_gc + command.bus_wait_host + self.diaries.0[die as usize].suspended;
        let parts = command.array + command.transfer + waited;
        assert_eq!(now - command.start, parts, "a command of die {die} since {}", command.start);
    }

    /// Whether operations wait at a die that rests, because a page of its victim is programmed elsewhere.
    pub(super) fn waits_for_page(&self, die: u32) -> bool {
        let slot = &self.dies[die as usize];
        slot.head != NO_OP && slot.collection.is_away()
    }
}
