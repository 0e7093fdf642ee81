//! Jobs that go through the members from their first byte to their last: which there are, and what they have come to. The array
//! works on them in `background`.

use std::collections::VecDeque;

use harmonia_types::{Bytes, DeviceId, SimDuration, SimTime};

use super::bitmap::Bitmap;
use crate::config::Rebuild;

harmonia_types::counters! {
    /// What the array's own work has done.
    pub struct BackgroundCounters {
        /// Bytes of replacements that have been built.
        pub rebuilt_bytes: Bytes = Sum, "bytes of a member";
        /// Time during which a replacement was being built.
        pub rebuild_ns: u64 = Sum, "ns";
        /// Bytes that have been compared.
        pub scrubbed_bytes: Bytes = Sum, "bytes of a member";
        /// Time during which that went on.
        pub scrub_ns: u64 = Sum, "ns";
        /// Replacements that are complete.
        pub rebuilds: u64 = Sum, "count";
        /// Bytes of members that have been copied to spares.
        pub copied_bytes: Bytes = Sum, "bytes of a member";
        /// Time during which that went on.
        pub copy_ns: u64 = Sum, "ns";
        /// Members copied as a whole.
        pub copies: u64 = Sum, "count";
        /// Bytes that were gone through after losses of power.
        pub resynced_bytes: Bytes = Sum, "bytes of a member";
        /// Time during which that went on.
        pub resync_ns: u64 = Sum, "ns";
        /// Times that all was gone through.
        pub resyncs: u64 = Sum, "count";
        /// Rows, or pages where there is no parity, that were written anew because power was lost while they were written.
        pub resynced_rows: u64 = Sum, "rows";
        /// Pages written anew because they could not be read.
        pub rewritten_pages: u64 = Sum, "pages";
        /// Share of the last replacement's bytes that are built: see [`BackgroundCounters::share_built`].
        pub(super) built: u64 = Latest, "1/2^32";
        /// The same of the last member that was copied.
        pub(super) copied: u64 = Latest, "1/2^32";
        /// The same of the last resync.
        pub(super) synced: u64 = Latest, "1/2^32";
    }
}

impl BackgroundCounters {
    /// How much of the last member is copied, 0..=1.
    pub fn share_copied(&self) -> f64 {
        self.copied as f64 / (1u64 << 32) as f64
    }

    /// How much of the last replacement is built, 0..=1.
    pub fn share_built(&self) -> f64 {
        self.built as f64 / (1u64 << 32) as f64
    }

    /// How much the last resync has gone through, 0..=1.
    pub fn share_synced(&self) -> f64 {
        self.synced as f64 / (1u64 << 32) as f64
    }
}

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Rebuild(DeviceId),
    /// What a failed member held, on others that are free of its rows.
    Distribute(DeviceId),
    /// Of a member that works, to a spare.
    Copy(DeviceId),
    /// After a loss of power.
    Resync,
    Scrub {
        repairs: bool,
    },
}

impl Work {
    /// What is lower goes first.
    fn rank(self) -> u8 {
        match self {
            Work::Rebuild(_) => 0,
            Work::Distribute(_) => 1,
            Work::Resync => 2,
            Work::Copy(_) => 3,
            Work::Scrub { .. } => 4,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Job {
    pub work: Work,
    /// First byte of a member that no step has begun with, and where the next step ends at the latest.
    pub next: Bytes,
    pub stop: Bytes,
    pub under_way: Vec<Step>,
    /// Bytes of a failed member that were to be distributed when the job began.
    pub missing: Bytes,
    /// When the next step may begin at the highest rate, and when it must have at the lowest. Steps at the highest rate do not
    /// count in advance.
    pub soonest: SimTime,
    pub latest: SimTime,
}

impl Job {
    /// What lies below the first step under way is done.
    pub fn built(&self) -> Bytes {
        self.under_way.iter().map(|step| step.offset).min().unwrap_or(self.next)
    }
}

/// A step under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub number: u64,
    /// Its first byte on a member, and its bytes there.
    pub offset: Bytes,
    pub length: Bytes,
    /// What of that was missing, where a failed member is distributed.
    pub missing: Bytes,
}

/// Jobs, and how fast they may go.
#[derive(Debug, Clone)]
pub(super) struct Background {
    pub rates: Rebuild,
    /// Bytes of a member to go through.
    pub end: Bytes,
    /// The first one runs.
    pub jobs: VecDeque<Job>,
    /// Up to when the time of the first one is counted.
    pub counted_to: SimTime,
    /// Steps that have begun. A step is known by its number: its job may be given up before it ends.
    pub steps: u64,
    /// When it is next looked at, if that is arranged.
    pub due: Option<SimTime>,
    pub counters: BackgroundCounters,
}

impl Background {
    /// For members of which so many bytes are used.
    pub fn new(rates: Rebuild, end: Bytes) -> Self {
        Background {
            rates,
            end,
            jobs: VecDeque::new(),
            counted_to: SimTime::ZERO,
            steps: 0,
            due: None,
            counters: BackgroundCounters::default(),
        }
    }

    /// Whether there is anything to do.
    pub fn is_working(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// From one step to the next at a rate.
    fn pause(&self, rate: Bytes) -> SimDuration {
        let pause = u128::from(self.rates.step) * 1_000_000_000 / u128::from(rate.max(1));
        SimDuration(u64::try_from(pause).unwrap_or(u64::MAX).min(u64::MAX / 4))
    }

    /// What has been counted until `now`: the time since the last count is that of the job that runs.
    pub fn counted(&self, now: SimTime) -> BackgroundCounters {
        let (mut counters, time) = (self.counters, now.saturating_since(self.counted_to).0);
        match self.jobs.front().map(|job| job.work) {
            Some(Work::Rebuild(_) | Work::Distribute(_)) => counters.rebuild_ns += time,
            Some(Work::Copy(_)) => counters.copy_ns += time,
            Some(Work::Resync) => counters.resync_ns += time,
            Some(Work::Scrub { .. }) => counters.scrub_ns += time,
            None => {}
        }
        counters
    }

    pub fn count_time(&mut self, now: SimTime) {
        self.counters = self.counted(now);
        self.counted_to = now;
    }

    pub fn add(&mut self, work: Work, missing: Bytes, now: SimTime) {
        let (under_way, stop) = (Vec::new(), self.end);
        self.insert(Job { work, next: 0, stop, under_way, missing, soonest: now, latest: now }, now);
    }

    /// Rebuilding goes before distributing, that before resync, that before copying, and that before scrubbing.
    pub fn insert(&mut self, job: Job, now: SimTime) {
        self.count_time(now);
        let goes_before = |other: &Job| job.work.rank() < other.work.rank();
        let place = self.jobs.iter().position(goes_before).unwrap_or(self.jobs.len());
        self.jobs.insert(place, job);
    }

    /// A job that has to wait lets others go first.
    pub fn put_in_order(&mut self, waits: Option<Work>, now: SimTime) {
        if self.jobs.len() > 1 {
            self.count_time(now);
            let order = |job: &Job| (waits == Some(job.work), job.work.rank());
            self.jobs.make_contiguous().sort_by_key(order);
        }
    }

    /// So many pages are written anew because they could not be read.
    pub fn rewrites(&mut self, pages: u64) {
        self.counters.rewritten_pages += pages;
    }

    /// Whether all of the array is yet to be gone through.
    pub fn is_resyncing(&self) -> bool {
        self.jobs.iter().any(|job| job.work == Work::Resync)
    }

    /// Nothing is done any more.
    pub fn give_up_all(&mut self, now: SimTime) {
        self.count_time(now);
        self.jobs.clear();
    }

    /// No step is under way any more: power was lost. Jobs go on where the first of them began.
    pub fn forget_steps(&mut self) {
        for job in &mut self.jobs {
            let first = job.under_way.drain(..).map(|step| step.offset).min();
            job.next = first.unwrap_or(job.next);
        }
    }

    /// What lies above a byte of the members may not be on spares as it is on the members.
    pub fn copy_again_from(&mut self, offset: Bytes) {
        let step = self.rates.step;
        for job in self.jobs.iter_mut().filter(|job| matches!(job.work, Work::Copy(_))) {
            job.next = job.next.min(offset / step * step);
        }
    }

    /// How far a member is copied to its spare.
    pub fn copied(&self, device: DeviceId) -> Option<Bytes> {
        self.jobs.iter().find(|job| job.work == Work::Copy(device)).map(Job::built)
    }

    /// The copy of a member becomes a rebuild that goes on where the copy was.
    pub fn rebuild_the_rest(&mut self, device: DeviceId, now: SimTime) {
        self.count_time(now);
        let place = self.jobs.iter().position(|job| job.work == Work::Copy(device));
        if let Some(mut job) = place.and_then(|place| self.jobs.remove(place)) {
            job.work = Work::Rebuild(device);
            self.insert(job, now);
        }
    }

    /// A resync goes on with the next chunk whose bit was set when power was lost.
    pub fn skip_clean(&mut self, bitmap: &Bitmap) {
        let end = self.end;
        if let Some(job) = self.jobs.front_mut().filter(|job| job.work == Work::Resync && job.next < end) {
            let (next, stop) = bitmap.next_dirty(job.next).unwrap_or((end, end));
            (job.next, job.stop) = (next.min(end), stop.min(end));
        }
    }

    /// The first job begins a step at `now`: its number, and the range it is for.
    pub fn next_step(&mut self, now: SimTime) -> Option<(Work, Step)> {
        let (soon, late) = (self.pause(self.rates.max_rate), self.pause(self.rates.min_rate));
        let job = self.jobs.front_mut()?;
        let length = self.rates.step.min(job.stop - job.next);
        let step = Step { number: self.steps, offset: job.next, length, missing: 0 };
        self.steps += 1;
        job.next += length;
        job.soonest = now + soon;
        job.latest = (job.latest + late).min(now + late);
        job.under_way.push(step);
        Some((job.work, step))
    }
}

/// A share of so many bytes, in 1/2^32.
pub(super) fn share(of: Bytes, all: Bytes) -> u64 {
    ((u128::from(of) << 32) / u128::from(all.max(1))) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_parts_of_two_to_the_power_of_32() {
        let counters =
            BackgroundCounters { built: 1 << 31, copied: 1 << 30, synced: 3 << 30, ..Default::default() };
        let shares = [counters.share_built(), counters.share_copied(), counters.share_synced()];
        assert_eq!(shares, [0.5, 0.25, 0.75]);
    }
}
