//! One run: pulls requests from the source, hands them to the array in order of time, and records what completes.
//!
//! The measured window begins with the arrival of the first request after the warm-up and ends with the last
//! completion. Requests of the warm-up are simulated and not recorded; counters are read at the window's beginning
//! and end. Garbage collection still running at the end is cut off there.
//!
//! A run ends as bad input as soon as anything would happen after [`SimTime::LATEST`].

use std::sync::atomic::Ordering;

use harmonia_array::{Array, ArrayCounters, BackgroundCounters, MessageCounters};
use harmonia_engine::EventQueue;
use harmonia_metrics::{
    AilingSpan, CounterBatches, FailureRecorder, FailuresReport, GcOverlap, GcWaits, GcWaitsReport,
    HostRecorder, Observer, OverTimeReport, WarmupGc, Wear,
};
use harmonia_ssd::Ftl;
use harmonia_ssd::probe::Probe;
use harmonia_types::{Completion, DeviceCounters, DeviceId, HostRequest, SimTime};
use harmonia_workload::{
    ArrayGeometryForLoad, Limit, Load, Next, SkewRest, Source, TraceAccount, WorkloadConfig,
};

use super::failures::{self, Ending};
use super::probe::{RunProbe, Told, Wanted};
use super::report::Stopwatch;
use super::{RunError, RunId, RunOptions, Stage, bad_input, is_over, too_long, too_short};
use crate::{Scenario, Variant};

/// One run of a comparison.
pub(super) struct Run<'a> {
    /// Its number among those that run at the same time.
    pub index: usize,
    pub id: RunId,
    /// What it is called while it goes on.
    pub name: &'a str,
    pub variant: &'a Variant,
    pub load: &'a Load,
    pub options: &'a RunOptions<'a>,
}

/// What a run measured.
pub(super) struct Measured {
    pub host: HostRecorder,
    /// By member, and behind them by spare where anything may befall members; over the measured window. The same holds for
    /// all that is told by device.
    pub devices: Vec<DeviceCounters>,
    /// Whether schedules take host operations along.
    pub pairs: Vec<bool>,
    pub wear: Vec<Wear>,
    pub over_time: Vec<OverTimeReport>,
    /// By member, who waited for it.
    pub gc_waits: Vec<GcWaitsReport>,
    pub gc_share: Vec<f64>,
    /// Who collected before the measured window.
    pub warmup_gc: WarmupGc,
    /// Times each device began to collect or was collecting when the window began.
    pub gc_intervals: Vec<u64>,
    /// How counters changed from batch to batch of requests.
    pub counter_batches: CounterBatches,
    /// From the window's beginning to the last arrival; `None` in a closed loop.
    pub arrivals_ns: Option<u64>,
    pub messages: MessageCounters,
    pub redundancy: ArrayCounters,
    /// What befell members, where anything may.
    pub failures: Option<FailuresReport>,
    /// The coordination policy's own.
    pub policy_counters: Vec<(&'static str, u64)>,
    pub window_ns: u64,
    pub events: u64,
    pub wall_ns: u64,
    /// Of a trace: what was replayed of it and what was done to it, warm-up included.
    pub trace: Option<TraceAccount>,
}

impl Run<'_> {
    /// Simulates the whole workload on members in the given states; only what somebody looks at is looked up.
    pub fn measure(&self, states: Vec<Ftl>) -> Result<Measured, RunError> {
        let observer = self.options.observe.observer(self.id);
        let planes = observer.as_ref().is_some_and(|observer| observer.wants_planes());
        let wanted = Wanted { levels: planes || self.limits_channels(), planes };
        match (wanted.levels, self.options.checked) {
            (false, false) => self.simulate::<RunProbe<false, false>>(wanted, states, observer),
            (true, false) => self.simulate::<RunProbe<true, false>>(wanted, states, observer),
            (_, true) => self.simulate::<RunProbe<true, true>>(wanted, states, observer),
        }
    }

    /// Whether a policy limits how many channels of a member collect at once.
    fn limits_channels(&self) -> bool {
        let members = &self.variant.scenario.array.members;
        members.iter().any(|member| member.ssd.gc.concurrency.policy != "unlimited")
    }

    fn simulate<P: Told>(
        &self,
        wanted: Wanted,
        states: Vec<Ftl>,
        observer: Option<Box<dyn Observer + '_>>,
    ) -> Result<Measured, RunError> {
        let scenario = &self.variant.scenario;
        let (warmup, total, excluded) = match &scenario.workload {
            WorkloadConfig::Synthetic(load) => {
                let apart = load.skew_fraction > 0.0 && load.skew_rest == SkewRest::Others;
                let skewed = apart.then_some(DeviceId(load.skew_member));
                (load.warmup, Some(load.limit), skewed)
            }
            WorkloadConfig::Streams(load) => (load.warmup, Some(load.limit), None),
            WorkloadConfig::Trace(trace) => (trace.warmup, trace.limit, None),
        };
        let clock = Stopwatch::start();
        let array = &scenario.array;
        let members: Vec<_> =
            array.members.iter().chain(&array.faults.spares).chain(&array.faults.journal).collect();
        let probe = |device: DeviceId| P::new(device, &members[device.index()].ssd.geometry, wanted);
        let states = failures::with_spares(scenario, states)?;
        let mut array = Array::new(array, states, excluded, probe)
            .map_err(|why| bad_input(why, "see `harmonia policies`"))?;
        array.set_deadlines(scenario.deadlines);
        let source = self.load.source(scenario.seed).map_err(|error| bad_input(error.0, ""))?;
        let total = match total {
            Some(Limit::Requests(requests)) => requests,
            _ => 0,
        };
        self.options.progress.begin(self.index, self.name, Stage::Simulate, total);
        let mut drive = Drive {
            run: self,
            wants_completions: source.wants_completions(),
            source,
            array,
            warmup,
            warmup_gc: GcOverlap::new(scenario.array.members.len(), SimTime::ZERO),
            warmup_gc_events: 0,
            window: None,
            first_measured: u64::MAX,
            host: HostRecorder::new(),
            gc_waits: GcWaits::new(scenario.array.members.len()),
            failures: (!scenario.array.faults.is_none()).then(Box::default),
            observer,
            outstanding: 0,
            outstanding_pages: 0,
            page_size: scenario.array.page_size(),
            completed: EventQueue::default(),
            submitted: 0,
            last_finish: SimTime::ZERO,
            latest: SimTime::ZERO,
        };
        let result = drive.go();
        self.options.progress.end(self.index);
        result?;
        drive.finish(clock)
    }
}

/// The array of a scenario as its load sees it.
pub(super) fn geometry(scenario: &Scenario) -> ArrayGeometryForLoad {
    let layout = scenario.array.layout();
    let skewed = match &scenario.workload {
        WorkloadConfig::Synthetic(load) if load.skew_fraction > 0.0 => Some(DeviceId(load.skew_member)),
        _ => None,
    };
    ArrayGeometryForLoad {
        logical_bytes: scenario.space.unwrap_or(layout.logical_bytes()),
        member_bytes: skewed.map_or(layout.member_bytes(), |member| layout.pinned_bytes(member)),
        members: scenario.array.devices,
        page_size: scenario.array.page_size(),
    }
}

/// More page operations waiting at once than an array catches up with: 32 GiB of 4 KiB pages, half a gigabyte of
/// bookkeeping.
const MOST_OUTSTANDING_PAGES: u64 = 1 << 23;

/// The state of counters when the measured window began.
struct Window {
    from: SimTime,
    devices: Vec<DeviceCounters>,
    messages: MessageCounters,
    redundancy: ArrayCounters,
    background: BackgroundCounters,
    policy_counters: Vec<(&'static str, u64)>,
    gc: GcOverlap,
    warmup_gc: WarmupGc,
    gc_intervals: Vec<u64>,
    batches: CounterBatches,
    events: u64,
}

struct Drive<'a, P: Told> {
    run: &'a Run<'a>,
    source: Box<dyn Source>,
    wants_completions: bool,
    array: Array<P>,
    warmup: Limit,
    /// Until the window opens.
    warmup_gc: GcOverlap,
    warmup_gc_events: u64,
    window: Option<Window>,
    /// Id of the first request that counts.
    first_measured: u64,
    host: HostRecorder,
    gc_waits: GcWaits,
    /// Where anything may befall members.
    failures: Option<Box<FailureRecorder>>,
    observer: Option<Box<dyn Observer + 'a>>,
    outstanding: u64,
    /// Pages of the requests outstanding.
    outstanding_pages: u64,
    page_size: u64,
    /// Completions a closed loop has yet to see, by the time they happen.
    completed: EventQueue<Completion>,
    submitted: u64,
    /// Of the requests that count.
    last_finish: SimTime,
    /// Of all.
    latest: SimTime,
}

impl<P: Told> Drive<'_, P> {
    fn go(&mut self) -> Result<(), RunError> {
        let mut now = SimTime::ZERO;
        let mut seen: Vec<Completion> = Vec::new();
        loop {
            let next = self.source.next(now, &seen);
            seen.clear();
            match next.map_err(|error| bad_input(error.0, ""))? {
                Next::At(request) => {
                    self.advance_to(request.arrival, &mut seen)?;
                    now = request.arrival;
                    self.submit(request)?;
                }
                Next::AfterCompletion => match self.next_completion(SimTime::NEVER)? {
                    Some(completion) => {
                        now = now.max(completion.finish);
                        seen.push(completion);
                    }
                    None => {
                        return Err(RunError::Internal("the load waits for a request that is lost".into()));
                    }
                },
                Next::Until(time) if time <= now => {
                    return Err(RunError::Internal("the load waits for a time that has passed".into()));
                }
                Next::Until(time) => match self.next_completion(time)? {
                    Some(completion) => {
                        now = now.max(completion.finish);
                        seen.push(completion);
                    }
                    None => now = time,
                },
                Next::End => break,
            }
        }
        while self.outstanding > 0 {
            self.step()?;
        }
        Ok(())
    }

    /// Lets time pass up to an arrival; a closed loop's completions up to then are gathered for the source.
    fn advance_to(&mut self, arrival: SimTime, seen: &mut Vec<Completion>) -> Result<(), RunError> {
        if too_long::is_too_late(arrival) {
            return Err(self.too_long());
        }
        let advanced = self.array.advance_until(arrival);
        advanced.map_err(out_of_blocks)?;
        self.record()?;
        while let Some((_, completion)) = self.completed.pop_due(arrival) {
            seen.push(completion);
        }
        Ok(())
    }

    /// The next completion in order of time, if it comes by `until`.
    fn next_completion(&mut self, until: SimTime) -> Result<Option<Completion>, RunError> {
        // What is known is final as soon as nothing can happen before it.
        while self.completed.next_time().min(until) > self.array.next_wakeup() {
            self.step()?;
        }
        Ok(self.completed.pop_due(until.min(SimTime(u64::MAX - 1))).map(|(_, completion)| completion))
    }

    /// Lets the next event happen.
    fn step(&mut self) -> Result<(), RunError> {
        let wakeup = self.array.next_wakeup();
        if wakeup == SimTime::NEVER {
            return Err(RunError::Internal(format!("{} requests never completed", self.outstanding)));
        }
        if too_long::is_too_late(wakeup) {
            return Err(self.too_long());
        }
        self.array.advance_until(wakeup).map_err(out_of_blocks)?;
        self.record()?;
        if self.run.options.cancel.load(Ordering::Relaxed) {
            return Err(RunError::Cancelled);
        }
        Ok(())
    }

    fn submit(&mut self, request: HostRequest) -> Result<(), RunError> {
        if self.window.is_none() && is_over(self.warmup, self.submitted, request.arrival) {
            self.open_window(request.arrival, request.id)?;
            self.first_measured = request.id;
        }
        self.read_counters(request.id);
        self.submitted += 1;
        self.outstanding += 1;
        self.outstanding_pages += request.length / self.page_size + 1;
        if self.outstanding_pages > MOST_OUTSTANDING_PAGES {
            return Err(bad_input(
                format!(
                    "at {} of simulated time {} requests ({} pages) wait: the array cannot keep up with the load",
                    request.arrival, self.outstanding, self.outstanding_pages
                ),
                "a lower arrival rate, a larger time_scale of a trace, or arrival = { process = \"closed\" } (a trace: replay = \"closed\")",
            ));
        }
        self.array.submit(request).map_err(out_of_blocks)?;
        self.record()?;
        if self.submitted.is_multiple_of(256) {
            self.run.options.progress.advance(self.run.index, self.submitted);
            if self.run.options.cancel.load(Ordering::Relaxed) {
                return Err(RunError::Cancelled);
            }
            self.settle(request.arrival);
        }
        Ok(())
    }

    /// Reads the counters where a batch of requests begins.
    fn read_counters(&mut self, id: u64) {
        if let Some(window) = self.window.as_mut().filter(|window| window.batches.is_due(id)) {
            window.batches.read(&counters(&self.array));
        }
    }

    fn too_long(&self) -> RunError {
        too_long::refuse(&self.run.variant.scenario, self.submitted, self.outstanding)
    }

    /// Takes note of what completed and who collected. A completion may be known before it happens, so that the clock
    /// alone would not show that one comes too late.
    fn record(&mut self) -> Result<(), RunError> {
        if let Some(recorder) = self.failures.as_deref_mut() {
            failures::hear(recorder, &self.array);
        }
        let mut completions = std::mem::take(self.array.completions());
        for completion in &completions {
            self.outstanding -= 1;
            self.outstanding_pages -= completion.length / self.page_size + 1;
            self.latest = self.latest.max(completion.finish);
            if completion.id >= self.first_measured {
                self.host.record(completion);
                self.gc_waits.record(completion);
                if let Some(recorder) = self.failures.as_deref_mut() {
                    recorder.record(completion);
                }
                if let Some(observer) = &mut self.observer {
                    observer.completion(completion);
                }
                self.last_finish = self.last_finish.max(completion.finish);
            }
            if self.wants_completions {
                self.completed.push(completion.finish, *completion);
            }
        }
        completions.clear();
        *self.array.completions() = completions;
        let mut intervals = std::mem::take(self.array.gc_intervals());
        for (device, start, end) in intervals.drain(..) {
            if let Some(window) = &mut self.window {
                window.gc.interval(device, start, end);
                let row = row(self.failures.as_deref(), device, start);
                window.gc_intervals[row] += u64::from(end > window.from);
                if let Some(observer) = self.observer.as_mut().filter(|_| end > window.from) {
                    observer.gc_interval(device, start.max(window.from), end);
                }
            } else {
                self.warmup_gc.interval(device, start, end);
                self.warmup_gc_events += 1;
            }
        }
        *self.array.gc_intervals() = intervals;
        if too_long::is_too_late(self.latest) { Err(self.too_long()) } else { Ok(()) }
    }

    /// Folds what lies safely in the past, so that long runs need no more memory.
    fn settle(&mut self, now: SimTime) {
        let open = self.array.devices().iter().filter_map(|device| device.collecting_since()).min();
        let gc = self.window.as_mut().map_or(&mut self.warmup_gc, |window| &mut window.gc);
        gc.settle(open.map_or(now, |since| since.min(now)));
    }

    fn open_window(&mut self, from: SimTime, first: u64) -> Result<(), RunError> {
        if let Some(observer) = &mut self.observer {
            observer.begin(from, self.array.devices().len());
        }
        let (members, devices) = (self.array.devices().len(), self.array.every_device().len());
        let mut warmup_gc = std::mem::replace(&mut self.warmup_gc, GcOverlap::new(members, from));
        for (index, device) in self.array.devices().iter().enumerate() {
            if let Some(since) = device.collecting_since() {
                warmup_gc.interval(DeviceId(index as u16), since, SimTime::NEVER);
                self.warmup_gc_events += 1;
            }
        }
        self.array.begin_window(from);
        self.host = HostRecorder::starting_at(first).expecting(self.run.variant.scenario.deadlines);
        self.window = Some(Window {
            from,
            devices: self.counters()?,
            messages: *self.array.message_counters(),
            redundancy: self.array.counters(),
            background: self.array.background_counters(from),
            policy_counters: self.array.policy_counters(),
            gc: GcOverlap::new(members, from),
            warmup_gc: WarmupGc::new(warmup_gc, self.warmup_gc_events, from),
            gc_intervals: vec![0; devices],
            batches: CounterBatches::starting_at(first),
            events: self.events(),
        });
        Ok(())
    }

    /// Every device's counters; refused where the time its dies or planes collected for is too long to be summed up.
    fn counters(&self) -> Result<Vec<DeviceCounters>, RunError> {
        let beyond = |device: &harmonia_ssd::Device<P>| {
            let counters = device.counters();
            too_long::is_beyond(counters.gc_busy) || too_long::is_beyond(counters.gc_plane_busy)
        };
        if self.array.every_device().into_iter().any(beyond) {
            Err(self.too_long())
        } else {
            Ok(counters(&self.array))
        }
    }

    fn events(&self) -> u64 {
        self.array.every_device().iter().map(|device| device.events()).sum()
    }

    fn finish(mut self, clock: Stopwatch) -> Result<Measured, RunError> {
        let events = self.events();
        let Some(mut window) = self.window.take() else {
            return Err(too_short(self.submitted));
        };
        let end = self.last_finish.max(window.from);
        for (index, device) in self.array.devices().iter().enumerate() {
            if let Some(since) = device.collecting_since() {
                let device = DeviceId(index as u16);
                window.gc.interval(device, since, SimTime::NEVER);
                window.gc_intervals[row(self.failures.as_deref(), device, since)] += u64::from(since < end);
                let since = since.max(window.from);
                if let Some(observer) = self.observer.as_mut().filter(|_| since < end) {
                    observer.gc_interval(device, since, end);
                }
            }
        }
        if let Some(observer) = &mut self.observer {
            let spans = self.failures.iter().flat_map(|recorder| recorder.spans());
            spans.filter_map(|span| within(span, window.from, end)).for_each(|span| observer.ails(&span));
            let all = self.array.every_device();
            let planes = all.iter().find_map(|device| device.probe().planes());
            planes.iter().for_each(|planes| observer.planes(planes));
            observer.end(end);
        }
        let now = self.counters()?;
        let redundancy = self.array.counters().since(&window.redundancy);
        let background = self.array.background_counters(end);
        let ending = Ending {
            scenario: &self.run.variant.scenario,
            window: (window.from, end),
            requests: self.submitted,
            counters: [self.array.counters(), redundancy],
            background: [background, background.since(&window.background)],
        };
        let failures = self.failures.as_deref().map(|recorder| ending.report(recorder));
        let all = self.array.every_device();
        Ok(Measured {
            arrivals_ns: (!self.wants_completions)
                .then(|| self.host.last_arrival().saturating_since(window.from).as_ns()),
            host: self.host,
            gc_intervals: window.gc_intervals,
            counter_batches: window.batches,
            devices: now.iter().zip(&window.devices).map(|(now, then)| now.since(then)).collect(),
            pairs: all.iter().map(|device| device.pairs()).collect(),
            wear: all.iter().map(|device| Wear::of(device.ftl().erase_counts().iter().copied())).collect(),
            over_time: all.iter().map(|device| device.probe().over_time(end)).collect(),
            gc_waits: self.gc_waits.report(),
            gc_share: window.gc.finish(end),
            warmup_gc: window.warmup_gc,
            messages: self.array.message_counters().since(&window.messages),
            redundancy,
            failures,
            policy_counters: self
                .array
                .policy_counters()
                .iter()
                .zip(&window.policy_counters)
                .map(|(&(name, now), &(_, then))| (name, now - then))
                .collect(),
            window_ns: (end - window.from).as_ns(),
            events: events - window.events,
            wall_ns: clock.elapsed_ns(),
            trace: self.source.trace(),
        })
    }
}

/// The row of the device that was in a place at a time.
fn row(failures: Option<&FailureRecorder>, place: DeviceId, at: SimTime) -> usize {
    failures.map_or(place, |recorder| recorder.device_at(place, at)).index()
}

/// The part of a span within the measured window, if there is any.
fn within(span: &AilingSpan, from: SimTime, end: SimTime) -> Option<AilingSpan> {
    let (start, end) = (span.start.max(from), span.end.min(end));
    (start < end).then_some(AilingSpan { start, end, ..*span })
}

fn out_of_blocks(failure: harmonia_array::ArrayFailure) -> RunError {
    bad_input(failure.to_string(), "more spare, or an earlier start of garbage collection")
}

/// Every device's counters.
fn counters<P: Probe>(array: &Array<P>) -> Vec<DeviceCounters> {
    array.every_device().into_iter().map(|device| device.counters()).collect()
}
