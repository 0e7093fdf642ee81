//! Work of the array itself: rebuilding replacements, resync after a loss of power, and scrubbing.
//!
//! A job goes through the members from their first byte to their last in steps. A step is a transaction without a request: it
//! holds its rows, so the host waits for it, and it for the host. So many steps are under way at a time. Two steps begin no
//! sooner after one another than the highest rate allows. While requests are under way a step begins only if the job has
//! fallen behind the lowest rate; when the last of them completes, it goes on at the highest. One job runs at a time;
//! rebuilding goes before resync, that before copying, and that before scrubbing. A resync that has to wait for a missing member
//! lets the others go first. Every byte of a replacement is built, whether or not it was ever written, as md does.
//!
//! Source: Linux md, `drivers/md/md.c` (`md_do_sync`, with `speed_min` and `speed_max`). md measures its rate over seconds and
//! looks at the members' counters to find out whether somebody else uses them. Here every step counts, and the array's own
//! requests tell. Leaves out: a checkpoint of a job that is given up, and several replacements built in one pass.

use std::collections::VecDeque;

use harmonia_ssd::probe::Probe;
use harmonia_types::{Bytes, DeviceId, SimDuration, SimTime};

use super::bitmap::Bitmap;
use super::log::Log;
use super::messages::Message;
use super::payload::Payload;
use super::states::Purpose;
use super::{Array, ArrayFailure};
use crate::config::Rebuild;
use crate::layout::Layout;
use crate::planner::Transaction;

/// A spare that has everything but what goes back from NVRAM is looked at again after this time.
const SWITCH_PAUSE: SimDuration = SimDuration::from_us(50);

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
        built: u64 = Latest, "1/2^32";
        /// The same of the last member that was copied.
        copied: u64 = Latest, "1/2^32";
        /// The same of the last resync.
        synced: u64 = Latest, "1/2^32";
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
enum Work {
    Rebuild(DeviceId),
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
            Work::Resync => 1,
            Work::Copy(_) => 2,
            Work::Scrub { .. } => 3,
        }
    }
}

#[derive(Debug, Clone)]
struct Job {
    work: Work,
    /// First byte of a member that no step has begun with, and where the next step ends at the latest.
    next: Bytes,
    stop: Bytes,
    under_way: Vec<Step>,
    /// When the next step may begin at the highest rate, and when it must have at the lowest. Steps at the highest rate do not
    /// count in advance.
    soonest: SimTime,
    latest: SimTime,
}

impl Job {
    /// What lies below the first step under way is done.
    fn built(&self) -> Bytes {
        self.under_way.iter().map(|step| step.offset).min().unwrap_or(self.next)
    }
}

/// A step under way.
#[derive(Debug, Clone, Copy)]
struct Step {
    number: u64,
    /// Its first byte on a member, and its bytes there.
    offset: Bytes,
    length: Bytes,
}

/// Jobs, and how fast they may go.
#[derive(Debug, Clone)]
pub(super) struct Background {
    rates: Rebuild,
    /// Bytes of a member to go through.
    end: Bytes,
    /// The first one runs.
    jobs: VecDeque<Job>,
    /// Up to when the time of the first one is counted.
    counted_to: SimTime,
    /// Steps that have begun. A step is known by its number: its job may be given up before it ends.
    steps: u64,
    /// When it is next looked at, if that is arranged.
    due: Option<SimTime>,
    counters: BackgroundCounters,
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
    fn counted(&self, now: SimTime) -> BackgroundCounters {
        let (mut counters, time) = (self.counters, now.saturating_since(self.counted_to).0);
        match self.jobs.front().map(|job| job.work) {
            Some(Work::Rebuild(_)) => counters.rebuild_ns += time,
            Some(Work::Copy(_)) => counters.copy_ns += time,
            Some(Work::Resync) => counters.resync_ns += time,
            Some(Work::Scrub { .. }) => counters.scrub_ns += time,
            None => {}
        }
        counters
    }

    fn count_time(&mut self, now: SimTime) {
        self.counters = self.counted(now);
        self.counted_to = now;
    }

    fn add(&mut self, work: Work, now: SimTime) {
        let (under_way, stop) = (Vec::new(), self.end);
        self.insert(Job { work, next: 0, stop, under_way, soonest: now, latest: now }, now);
    }

    /// Rebuilding goes before resync, that before copying, and that before scrubbing.
    fn insert(&mut self, job: Job, now: SimTime) {
        self.count_time(now);
        let goes_before = |other: &Job| job.work.rank() < other.work.rank();
        let place = self.jobs.iter().position(goes_before).unwrap_or(self.jobs.len());
        self.jobs.insert(place, job);
    }

    /// A job that has to wait lets others go first.
    fn put_in_order(&mut self, waits: Option<Work>, now: SimTime) {
        if self.jobs.len() > 1 {
            self.count_time(now);
            let order = |job: &Job| (waits == Some(job.work), job.work.rank());
            self.jobs.make_contiguous().sort_by_key(order);
        }
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
    fn rebuild_the_rest(&mut self, device: DeviceId, now: SimTime) {
        self.count_time(now);
        let place = self.jobs.iter().position(|job| job.work == Work::Copy(device));
        if let Some(mut job) = place.and_then(|place| self.jobs.remove(place)) {
            job.work = Work::Rebuild(device);
            self.insert(job, now);
        }
    }

    /// A resync goes on with the next chunk whose bit was set when power was lost.
    fn skip_clean(&mut self, bitmap: &Bitmap) {
        let end = self.end;
        if let Some(job) = self.jobs.front_mut().filter(|job| job.work == Work::Resync && job.next < end) {
            let (next, stop) = bitmap.next_dirty(job.next).unwrap_or((end, end));
            (job.next, job.stop) = (next.min(end), stop.min(end));
        }
    }

    /// The first job begins a step at `now`: its number, and the range it is for.
    fn next_step(&mut self, now: SimTime) -> Option<(Work, Step)> {
        let (soon, late) = (self.pause(self.rates.max_rate), self.pause(self.rates.min_rate));
        let job = self.jobs.front_mut()?;
        let length = self.rates.step.min(job.stop - job.next);
        let step = Step { number: self.steps, offset: job.next, length };
        self.steps += 1;
        job.next += length;
        job.soonest = now + soon;
        job.latest = (job.latest + late).min(now + late);
        job.under_way.push(step);
        Some((job.work, step))
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// A replacement is to be built.
    pub(super) fn begin_rebuild(&mut self, device: DeviceId, now: SimTime) -> Result<(), ArrayFailure> {
        self.begin_job(Work::Rebuild(device), now)
    }

    /// A member is to be copied to its spare.
    pub(super) fn begin_job_of_copy(&mut self, device: DeviceId, now: SimTime) -> Result<(), ArrayFailure> {
        self.begin_job(Work::Copy(device), now)
    }

    /// The member that was being copied failed: its replacement is rebuilt, where the copy `counts` from there on.
    pub(super) fn rebuild_the_rest(
        &mut self,
        device: DeviceId,
        counts: bool,
        now: SimTime,
    ) -> Result<(), ArrayFailure> {
        if !counts {
            self.give_up_jobs_of(device, now);
            return self.begin_rebuild(device, now);
        }
        if let Some(background) = self.background.as_deref_mut() {
            background.rebuild_the_rest(device, now);
        }
        self.work_on(now)
    }

    /// All of the array is to be compared.
    pub(super) fn begin_scrub(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let scrub = self.failures.as_deref().and_then(|failures| failures.config.scrub);
        let repairs = scrub.is_some_and(|scrub| scrub.repairs);
        self.begin_job(Work::Scrub { repairs }, now)
    }

    fn begin_job(&mut self, work: Work, now: SimTime) -> Result<(), ArrayFailure> {
        let Some(background) = self.background.as_deref_mut() else { return Ok(()) };
        background.add(work, now);
        self.work_on(now)
    }

    /// Whether something may follow from any operation: another step, a page that is written anew, requests that wait until
    /// the log is replayed or the bitmap is written, or the end of a device that has retired.
    #[inline]
    pub(super) fn is_at_work(&self) -> bool {
        let marks = || self.bitmap.as_deref().is_some_and(|bitmap| !bitmap.flying.is_empty());
        self.background.as_deref().is_some_and(Background::is_working)
            || self.reads_may_fail()
            || self.log.as_deref().is_some_and(Log::is_replaying)
            || marks()
            || self.members.outstanding[self.members.fixed..].iter().any(|&bytes| bytes > 0)
    }

    /// Whatever was being built in a member's place is not any more; the next job goes on.
    pub(super) fn give_up_jobs_of(&mut self, device: DeviceId, now: SimTime) {
        if let Some(background) = self.background.as_deref_mut() {
            background.count_time(now);
            background
                .jobs
                .retain(|job| !matches!(job.work, Work::Rebuild(of) | Work::Copy(of) if of == device));
            self.agenda.push(now, Message::Background);
        }
    }

    /// Begins as many steps of the job as may be under way, and arranges to look again.
    #[cold]
    pub(super) fn work_on(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        loop {
            let is_idle = self.requests.live() == 0;
            let waits = Some(Work::Resync).filter(|&work| self.has_to_wait(work));
            let Some(background) = self.background.as_deref_mut() else { return Ok(()) };
            background.put_in_order(waits, now);
            if let Some(bitmap) = self.bitmap.as_deref() {
                background.skip_clean(bitmap);
            }
            background.due = background.due.filter(|&due| due > now);
            let Some(job) = background.jobs.front() else { return Ok(()) };
            if waits == Some(job.work) {
                return Ok(());
            }
            if job.next >= background.end && job.under_way.is_empty() {
                if let Work::Copy(device) = job.work
                    && self.lacks_parked(device)
                {
                    self.agenda.push(now + SWITCH_PAUSE, Message::Background);
                    return Ok(());
                }
                self.job_is_done(now);
                continue;
            }
            if job.next >= background.end || job.under_way.len() >= background.rates.depth as usize {
                return Ok(());
            }
            let earliest = if is_idle { job.soonest } else { job.soonest.max(job.latest) };
            if earliest > now {
                if background.due.is_none_or(|due| earliest < due) {
                    background.due = Some(earliest);
                    self.agenda.push(earliest, Message::Background);
                }
                return Ok(());
            }
            self.begin_step(now)?;
        }
    }

    fn begin_step(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let begun = self.background.as_deref_mut().and_then(|background| background.next_step(now));
        let Some((work, Step { number, offset, length })) = begun else { return Ok(()) };
        let transaction = match work {
            Work::Rebuild(device) | Work::Copy(device) => self.restoring(device, offset, length),
            Work::Resync => self.planner.resyncs().and_then(|planner| planner.resync(offset, length)),
            Work::Scrub { repairs } => {
                self.planner.restores().and_then(|planner| planner.check(offset, length, repairs))
            }
        };
        match transaction {
            Some(transaction) => self.begin_own(Purpose::Job { step: number }, transaction, now),
            None => {
                self.count_step(number, now);
                Ok(())
            }
        }
    }

    /// A step is over, and others may begin.
    #[cold]
    pub(super) fn step_is_over(&mut self, number: u64, now: SimTime) -> Result<(), ArrayFailure> {
        self.count_step(number, now);
        self.work_on(now)
    }

    /// A step is over: what lies below the first one under way is built. Nothing if its job was given up.
    fn count_step(&mut self, number: u64, now: SimTime) {
        let Some(background) = self.background.as_deref_mut() else { return };
        let end = background.end;
        let place = |job: &Job| job.under_way.iter().position(|step| step.number == number);
        let found = background.jobs.iter_mut().find_map(|job| place(job).map(|place| (job, place)));
        let Some((job, place)) = found else { return };
        let Step { length: done, .. } = job.under_way.swap_remove(place);
        let below = job.built();
        match job.work {
            Work::Copy(_) => {
                background.counters.copied_bytes += done;
                background.counters.copied = ((u128::from(below) << 32) / u128::from(end.max(1))) as u64;
            }
            Work::Rebuild(device) => {
                background.counters.rebuilt_bytes += done;
                background.counters.built = share(below, end);
                self.holds_now(device, |member| member.build_to(below));
            }
            Work::Resync => {
                background.counters.resynced_bytes += done;
                background.counters.synced = share(below, end);
                self.agrees_to(Some(below));
                self.bits_are_synced_to(below, now);
            }
            Work::Scrub { .. } => background.counters.scrubbed_bytes += done,
        }
    }

    fn job_is_done(&mut self, now: SimTime) {
        let Some(background) = self.background.as_deref_mut() else { return };
        background.count_time(now);
        let Some(job) = background.jobs.pop_front() else { return };
        if let Some(next) = background.jobs.front_mut() {
            (next.soonest, next.latest) = (next.soonest.max(job.soonest), next.latest.max(job.latest));
        }
        match job.work {
            Work::Rebuild(device) => {
                background.counters.rebuilds += 1;
                self.is_rebuilt(device, now);
            }
            Work::Copy(device) => {
                background.counters.copies += 1;
                self.copy_is_done(device, now);
            }
            Work::Resync => {
                background.counters.resyncs += 1;
                let end = background.end;
                self.bits_are_synced_to(end, now);
                self.is_resynced(now);
            }
            Work::Scrub { .. } => {}
        }
    }

    /// All of the array is to be gone through, from the beginning, because power was lost while it was written.
    pub(super) fn begin_resync(&mut self, now: SimTime) {
        let Some(background) = self.background.as_deref_mut() else { return };
        background.count_time(now);
        background.jobs.retain(|job| job.work != Work::Resync);
        background.counters.synced = 0;
        background.add(Work::Resync, now);
        self.agrees_to(Some(0));
        if let Some(bitmap) = self.bitmap.as_deref()
            && let Some(planner) = self.planner.resyncs()
        {
            planner.is_unsynced_in(bitmap.dirty());
        }
    }

    /// Whether all of the array is yet to be gone through.
    pub(super) fn is_resyncing(&self) -> bool {
        let mut jobs = self.background.as_deref().into_iter().flat_map(|background| &background.jobs);
        jobs.any(|job| job.work == Work::Resync)
    }

    /// Whether a job has to wait until all members hold everything: parity cannot be compared with what is missing.
    fn has_to_wait(&self, work: Work) -> bool {
        work == Work::Resync && matches!(self.layout, Layout::Parity(_)) && !self.members.health.is_whole()
    }

    /// What makes a range of a member anew from the others, if anything does.
    pub(super) fn restoring(&self, device: DeviceId, offset: Bytes, length: Bytes) -> Option<Transaction> {
        self.planner.restores()?.restore(device, offset, length)
    }

    /// A page that could not be read is written anew.
    #[cold]
    pub(super) fn rewrite(
        &mut self,
        device: DeviceId,
        offset: Bytes,
        length: Bytes,
        now: SimTime,
    ) -> Result<(), ArrayFailure> {
        let (first, end) = (offset / self.page_size, (offset + length).div_ceil(self.page_size));
        let (offset, length) = (first * self.page_size, (end - first) * self.page_size);
        let Some(transaction) = self.restoring(device, offset, length) else { return Ok(()) };
        if let Some(background) = self.background.as_deref_mut() {
            background.counters.rewritten_pages += end - first;
        }
        self.begin_own(Purpose::Rewrite, transaction, now)
    }

    /// What the array's own work has done so far; `now` counts a job that is under way.
    pub fn background_counters(&self, now: SimTime) -> BackgroundCounters {
        let counters =
            self.background.as_deref().map_or_else(BackgroundCounters::default, |own| own.counted(now));
        BackgroundCounters { resynced_rows: self.planner.resynced_rows(), ..counters }
    }
}

/// A share of so many bytes, in 1/2^32.
fn share(of: Bytes, all: Bytes) -> u64 {
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
