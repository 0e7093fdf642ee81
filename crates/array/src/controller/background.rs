//! Work of the array itself: rebuilding replacements, resync after a loss of power, and scrubbing. The table of jobs is in `jobs`.
//!
//! A job goes through the members from their first byte to their last in steps. A step is a transaction without a request: it
//! holds its rows, so the host waits for it, and it for the host. So many steps are under way at a time. Two steps begin no
//! sooner after one another than the highest rate allows. While requests are under way a step begins only if the job has
//! fallen behind the lowest rate; when the last of them completes, it goes on at the highest. One job runs at a time;
//! rebuilding goes before distributing, that before resync, that before copying, and that before scrubbing. A resync that has to wait for
//! a missing member lets the others go first. Every byte of a replacement is built, whether or not it was ever written, as md does; but
//! for floating stripes ([`crate::schemes::gaftl`]), which discard what holds nothing.
//!
//! What a failed member held is *distributed* where stripes leave members free and no spare is left: rows move to the members that are
//! free of them, as far as these have room. The member stays failed.
//!
//! Source: Linux md, `drivers/md/md.c` (`md_do_sync`, with `speed_min` and `speed_max`). md measures its rate over seconds and
//! looks at the members' counters to find out whether somebody else uses them. Here every step counts, and the array's own
//! requests tell. Leaves out: a checkpoint of a job that is given up, and several replacements built in one pass.

use harmonia_ssd::probe::Probe;
use harmonia_types::{Bytes, DeviceId, SimDuration, SimTime};

use super::faults::{Mishap, MishapKind};
use super::jobs::{BackgroundCounters, Job, Step, Work, share};
use super::messages::Message;
use super::payload::Payload;
use super::states::Purpose;
use super::{Array, ArrayFailure};
use crate::coordination::Event;
use crate::layout::Layout;
use crate::member::Member;

/// A spare that has everything but what goes back from NVRAM is looked at again after this time.
const SWITCH_PAUSE: SimDuration = SimDuration::from_us(50);

impl<P: Probe, C: Payload> Array<P, C> {
    /// A replacement is to be built.
    pub(super) fn begin_rebuild(&mut self, device: DeviceId, now: SimTime) -> Result<(), ArrayFailure> {
        self.begin_job(Work::Rebuild(device), now)
    }

    /// Whether what a member holds can be rebuilt on members that are free of its rows.
    pub(super) fn distributes(&self, device: DeviceId) -> bool {
        self.missing(device, 0, self.page_size).is_some()
    }

    fn missing(&self, device: DeviceId, offset: Bytes, length: Bytes) -> Option<Bytes> {
        self.planner.restores()?.missing(device, offset, length)
    }

    /// No spare takes the place of a failed member: what it held is to be rebuilt on the others, if it can be.
    pub(super) fn begin_to_distribute(&mut self, device: DeviceId, now: SimTime) -> Result<(), ArrayFailure> {
        if !self.distributes(device) {
            return Ok(());
        }
        if let Some(failures) = self.failures.as_deref_mut() {
            failures.log.push(Mishap { at: now, device: Some(device), what: MishapKind::Distributed });
        }
        let missing = self.missing(device, 0, self.layout.member_bytes()).unwrap_or(0);
        if let Some(background) = self.background.as_deref_mut() {
            background.add(Work::Distribute(device), missing, now);
        }
        self.work_on(now)
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
        background.add(work, 0, now);
        self.work_on(now)
    }

    /// Whatever was being built in a member's place is not any more; the next job goes on.
    pub(super) fn give_up_jobs_of(&mut self, device: DeviceId, now: SimTime) {
        if let Some(background) = self.background.as_deref_mut() {
            background.count_time(now);
            let is_of = |work| matches!(work, Work::Rebuild(of) | Work::Copy(of) | Work::Distribute(of) if of == device);
            background.jobs.retain(|job| !is_of(job.work));
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
        let Some((work, Step { number, offset, length, .. })) = begun else { return Ok(()) };
        if let Work::Distribute(device) = work {
            let missing = self.missing(device, offset, length).unwrap_or(0);
            let job = self.background.as_deref_mut().and_then(|background| background.jobs.front_mut());
            job.into_iter().flat_map(|job| job.under_way.last_mut()).for_each(|step| step.missing = missing);
        }
        let transaction = match work {
            Work::Rebuild(device) | Work::Copy(device) | Work::Distribute(device) => {
                self.restoring(device, offset, length)
            }
            Work::Resync => self.planner.resyncs().and_then(|planner| planner.resync(offset, length)),
            Work::Scrub { repairs } => {
                self.planner.restores().and_then(|planner| planner.check(offset, length, repairs))
            }
        };
        match transaction {
            Some(transaction) => {
                self.begin_own(Purpose::Job { step: number }, transaction, now);
                self.carry_out(now)
            }
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
        let Step { offset, length: done, missing, .. } = job.under_way.swap_remove(place);
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
            Work::Distribute(device) => {
                background.counters.built = share(below, end);
                let left = self.missing(device, offset, done).unwrap_or(0);
                if let Some(background) = self.background.as_deref_mut() {
                    background.counters.rebuilt_bytes += missing.saturating_sub(left);
                }
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
            Work::Distribute(device) => {
                background.counters.rebuilds += 1;
                self.is_distributed(device, job.missing, now);
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
        background.add(Work::Resync, 0, now);
        self.agrees_to(Some(0));
        if let Some(bitmap) = self.bitmap.as_deref()
            && let Some(planner) = self.planner.resyncs()
        {
            planner.is_unsynced_in(bitmap.dirty());
        }
    }

    /// Whether a job has to wait until all members hold everything: parity cannot be compared with what is missing.
    fn has_to_wait(&self, work: Work) -> bool {
        work == Work::Resync && matches!(self.layout, Layout::Parity(_)) && !self.members.health.is_complete()
    }

    /// What the array's own work has done so far; `now` counts a job that is under way.
    pub fn background_counters(&self, now: SimTime) -> BackgroundCounters {
        let counters =
            self.background.as_deref().map_or_else(BackgroundCounters::default, |own| own.counted(now));
        BackgroundCounters { resynced_rows: self.planner.resynced_rows(), ..counters }
    }

    /// What lies below a byte of the members agrees again, or everything.
    pub(super) fn agrees_to(&mut self, from: Option<Bytes>) {
        if let Some(planner) = self.planner.resyncs() {
            planner.is_synced_to(from);
        }
    }

    /// All that was being written agrees again.
    pub(super) fn is_resynced(&mut self, now: SimTime) {
        self.agrees_to(None);
        if let Some(failures) = self.failures.as_deref_mut() {
            failures.log.push(Mishap { at: now, device: None, what: MishapKind::Resynced });
        }
        self.writes_itself(now);
    }

    /// A replacement is complete.
    pub(super) fn is_rebuilt(&mut self, device: DeviceId, now: SimTime) {
        self.holds_now(device, Member::complete);
        self.arrange_pass(now);
        if let Some(failures) = self.failures.as_deref_mut() {
            failures.log.push(Mishap { at: now, device: Some(device), what: MishapKind::Rebuilt });
        }
        self.consult(now, &Event::Rebuilt(device));
        self.may_tidy(now);
    }

    /// Others have taken of a failed member what they could, of so many bytes that were missing.
    fn is_distributed(&mut self, device: DeviceId, of: Bytes, now: SimTime) {
        let missing = self.missing(device, 0, self.layout.member_bytes()).unwrap_or(0);
        if let Some(background) = self.background.as_deref_mut() {
            let built = if missing == 0 { 1 << 32 } else { share(of.saturating_sub(missing), of) };
            background.counters.built = built;
        }
        if missing == 0 {
            self.members.health.is_distributed(device);
        }
        let what = if missing > 0 { MishapKind::Incomplete(missing) } else { MishapKind::Rebuilt };
        if let Some(failures) = self.failures.as_deref_mut() {
            failures.log.push(Mishap { at: now, device: Some(device), what });
        }
        self.may_tidy(now);
    }
}
