//! Work of the array itself: rebuilding replacements, and scrubbing.
//!
//! A job goes through the members from their first byte to their last in steps. A step is a transaction without a request: it
//! holds its rows, so the host waits for it, and it for the host. So many steps are under way at a time, and a step begins no
//! sooner than the rate allows: the lowest while requests are under way, the highest otherwise. One job runs at a time.
//!
//! Source: Linux md, `drivers/md/md.c` (`md_do_sync`, with `speed_min` and `speed_max`). md measures its rate over seconds and
//! looks at the member's counters to find out whether somebody else uses them; here every step counts, and the array's own requests
//! tell.

use std::collections::VecDeque;

use harmonia_ssd::probe::Probe;
use harmonia_types::{Bytes, DeviceId, SimDuration, SimTime};

use super::messages::Message;
use super::payload::Payload;
use super::{Array, ArrayFailure};
use crate::config::Rebuild;
use crate::health::Condition;

/// What the array's own work has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackgroundCounters {
    /// Bytes of replacements that have been built. Unit: bytes of a member.
    pub rebuilt_bytes: Bytes,
    /// Time during which a replacement was being built. Unit: ns.
    pub rebuild_ns: u64,
    /// Bytes that have been compared. Unit: bytes of a member.
    pub scrubbed_bytes: Bytes,
    /// Time during which that went on. Unit: ns.
    pub scrub_ns: u64,
    /// Replacements that are complete.
    pub rebuilds: u64,
    /// Pages written anew because they could not be read.
    pub rewritten_pages: u64,
    /// Share of the last replacement's bytes that are built, in 1/2^32: see [`BackgroundCounters::share_built`].
    built: u64,
}

impl BackgroundCounters {
    /// What was counted after `start`.
    pub fn since(&self, start: &BackgroundCounters) -> BackgroundCounters {
        BackgroundCounters {
            rebuilt_bytes: self.rebuilt_bytes - start.rebuilt_bytes,
            rebuild_ns: self.rebuild_ns - start.rebuild_ns,
            scrubbed_bytes: self.scrubbed_bytes - start.scrubbed_bytes,
            scrub_ns: self.scrub_ns - start.scrub_ns,
            rebuilds: self.rebuilds - start.rebuilds,
            rewritten_pages: self.rewritten_pages - start.rewritten_pages,
            built: self.built,
        }
    }

    /// How much of the last replacement is built, 0..=1.
    pub fn share_built(&self) -> f64 {
        self.built as f64 / (1u64 << 32) as f64
    }
}

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Rebuild(DeviceId),
    Scrub { repairs: bool },
}

#[derive(Debug)]
struct Job {
    work: Work,
    /// First byte of a member that no step has begun with.
    next: Bytes,
    /// Steps under way, by their first bytes.
    under_way: Vec<Bytes>,
    began: SimTime,
    last_step: Option<SimTime>,
}

/// Jobs, and how fast they may go.
#[derive(Debug)]
pub(super) struct Background {
    rates: Rebuild,
    /// Bytes of a member to go through, and of the last step that fits.
    end: Bytes,
    /// The first one runs.
    jobs: VecDeque<Job>,
    /// When it is next looked at, if that is arranged.
    due: Option<SimTime>,
    counters: BackgroundCounters,
}

impl Background {
    /// For members of which so many bytes are used.
    pub fn new(rates: Rebuild, end: Bytes) -> Self {
        Background { rates, end, jobs: VecDeque::new(), due: None, counters: BackgroundCounters::default() }
    }

    /// When the job may begin its next step.
    fn earliest(&self, job: &Job, is_idle: bool) -> SimTime {
        let rate = if is_idle { self.rates.max_rate } else { self.rates.min_rate.min(self.rates.max_rate) };
        let pause = u128::from(self.rates.step) * 1_000_000_000 / u128::from(rate.max(1));
        let pause = SimDuration(u64::try_from(pause).unwrap_or(u64::MAX / 4).min(u64::MAX / 4));
        job.last_step.map_or(job.began, |last| last + pause)
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// A replacement is to be built.
    pub(super) fn begin_rebuild(&mut self, device: DeviceId, now: SimTime) -> Result<(), ArrayFailure> {
        self.begin_job(Work::Rebuild(device), now)
    }

    /// All of the array is to be compared.
    pub(super) fn begin_scrub(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let scrub = self.fate.as_deref().and_then(|fate| fate.config.scrub);
        let repairs = scrub.is_some_and(|scrub| scrub.repairs);
        self.begin_job(Work::Scrub { repairs }, now)
    }

    fn begin_job(&mut self, work: Work, now: SimTime) -> Result<(), ArrayFailure> {
        let Some(background) = self.background.as_deref_mut() else { return Ok(()) };
        let job = Job { work, next: 0, under_way: Vec::new(), began: now, last_step: None };
        background.jobs.push_back(job);
        self.work_on(now)
    }

    /// Whatever was being built in a member's place is not any more.
    pub(super) fn give_up_jobs_of(&mut self, device: DeviceId) {
        if let Some(background) = self.background.as_deref_mut() {
            background.jobs.retain(|job| job.work != Work::Rebuild(device));
        }
    }

    /// Begins as many steps of the job as may be under way, and arranges to look again.
    pub(super) fn work_on(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        loop {
            let is_idle = self.requests.live() == 0;
            let Some(background) = self.background.as_deref_mut() else { return Ok(()) };
            if background.due.is_some_and(|due| due <= now) {
                background.due = None;
            }
            let Some(job) = background.jobs.front() else { return Ok(()) };
            if job.next >= background.end {
                if job.under_way.is_empty() {
                    self.job_is_done(now);
                    continue;
                }
                return Ok(());
            }
            if job.under_way.len() >= background.rates.depth as usize {
                return Ok(());
            }
            let earliest = background.earliest(job, is_idle);
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
        let Some(background) = self.background.as_deref_mut() else { return Ok(()) };
        let (end, step) = (background.end, background.rates.step);
        let Some(job) = background.jobs.front_mut() else { return Ok(()) };
        let (offset, work) = (job.next, job.work);
        let length = step.min(end - offset);
        job.next += length;
        job.last_step = Some(now);
        job.under_way.push(offset);
        let transaction = match work {
            Work::Rebuild(device) => self.planner.restore(device, offset, length),
            Work::Scrub { repairs } => self.planner.check(offset, length, repairs),
        };
        match transaction {
            Some(transaction) => self.begin_own(transaction, offset, now),
            None => {
                self.count_step(offset);
                Ok(())
            }
        }
    }

    /// A step is over, and others may begin.
    pub(super) fn step_is_over(&mut self, offset: Bytes, now: SimTime) -> Result<(), ArrayFailure> {
        self.count_step(offset);
        self.work_on(now)
    }

    /// A step is over: what lies below the first one under way is built.
    fn count_step(&mut self, offset: Bytes) {
        let Some(background) = self.background.as_deref_mut() else { return };
        let (end, step) = (background.end, background.rates.step);
        let Some(job) = background.jobs.front_mut() else { return };
        // Neither a page that was written anew nor a step of a job that was given up.
        let Some(place) = job.under_way.iter().position(|&first| first == offset) else { return };
        job.under_way.swap_remove(place);
        let done = step.min(end - offset);
        let below = job.under_way.iter().copied().min().unwrap_or(job.next);
        match job.work {
            Work::Rebuild(device) => {
                background.counters.rebuilt_bytes += done;
                background.counters.built = ((u128::from(below) << 32) / u128::from(end.max(1))) as u64;
                self.set_condition(device, Condition::Partial(below));
            }
            Work::Scrub { .. } => background.counters.scrubbed_bytes += done,
        }
    }

    fn job_is_done(&mut self, now: SimTime) {
        let Some(background) = self.background.as_deref_mut() else { return };
        let Some(job) = background.jobs.pop_front() else { return };
        let counters = &mut background.counters;
        let took = (now - job.began).0;
        if let Some(next) = background.jobs.front_mut() {
            next.began = now;
        }
        match job.work {
            Work::Rebuild(device) => {
                counters.rebuild_ns += took;
                counters.rebuilds += 1;
                self.is_rebuilt(device, now);
            }
            Work::Scrub { .. } => counters.scrub_ns += took,
        }
    }

    /// A page that could not be read is written anew.
    pub(super) fn rewrite(
        &mut self,
        device: DeviceId,
        offset: Bytes,
        length: Bytes,
        now: SimTime,
    ) -> Result<(), ArrayFailure> {
        let (first, end) = (offset / self.page_size, (offset + length).div_ceil(self.page_size));
        let (offset, length) = (first * self.page_size, (end - first) * self.page_size);
        if let Some(background) = self.background.as_deref_mut() {
            background.counters.rewritten_pages += end - first;
        }
        match self.planner.restore(device, offset, length) {
            Some(transaction) => self.begin_own(transaction, Bytes::MAX, now),
            None => Ok(()),
        }
    }

    /// What the array's own work has done so far; `now` counts a job that is under way.
    pub fn background_counters(&self, now: SimTime) -> BackgroundCounters {
        let Some(background) = self.background.as_deref() else { return BackgroundCounters::default() };
        let mut counters = background.counters;
        if let Some(job) = background.jobs.front() {
            let so_far = now.saturating_since(job.began).0;
            match job.work {
                Work::Rebuild(_) => counters.rebuild_ns += so_far,
                Work::Scrub { .. } => counters.scrub_ns += so_far,
            }
        }
        counters
    }
}
