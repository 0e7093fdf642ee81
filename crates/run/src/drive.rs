//! One run: a clock drives the array with the load, and a meter listens to it and records what completes.
//!
//! The measured window begins with the arrival of the first request after the warm-up and ends with the last
//! completion. Requests of the warm-up are simulated and not recorded; counters are read at the window's beginning
//! and end. Garbage collection still running at the end is cut off there.

use std::sync::atomic::Ordering;

use harmonia_array::layout::Layout;
use harmonia_array::{Array, ArrayCounters, BackgroundCounters, MessageCounters};
use harmonia_engine::EventQueue;
use harmonia_metrics::{
    AilingSpan, CounterBatches, FailureRecorder, FailuresReport, GcOverlap, GcWaits, GcWaitsReport,
    HostRecorder, LevelingReport, LifeReport, Observer, OverTimeReport, StreamRecorder, WarmupGc, Wear,
};
use harmonia_ssd::follow::Switch;
use harmonia_ssd::probe::Probe;
use harmonia_ssd::{Device, Ftl};
use harmonia_types::{
    Completion, Counters, DeviceCounters, DeviceId, HostRequest, IoCause, Operation, SimTime,
};
use harmonia_workload::{
    ArrayGeometryForLoad, FullArray, Limit, Load, SkewRest, TraceAccount, WorkloadConfig,
};

use crate::clock::{Clock, Listener, TooLong};
use crate::failures::{self, Ending};
use crate::in_order::InOrder;
use crate::probe::{RunProbe, Told, Wanted};
use crate::report::Stopwatch;
use crate::warmup::{self, Rest, Start, Warm};
use crate::{RunError, RunId, RunOptions, Stage, bad_input, is_over, too_long, too_short};
use harmonia_scenario::{Scenario, Variant};

/// One run of a comparison.
pub(crate) struct Run<'a> {
    /// Its number among those that run at the same time.
    pub index: usize,
    pub id: RunId,
    /// What it is called while it goes on.
    pub name: &'a str,
    pub variant: &'a Variant,
    pub load: &'a Load,
    /// Threads that its members may share.
    pub threads: usize,
    pub options: &'a RunOptions<'a>,
}

/// What a run measured.
pub(crate) struct Measured {
    pub host: HostRecorder,
    /// Requests of the warm-up that completed in the window, and the bytes that they moved.
    pub backlog: (u64, u64),
    /// By stream, where the load is one of streams.
    pub streams: Option<StreamRecorder>,
    /// By member, and behind them by spare where anything may befall members; over the measured window. The same holds for
    /// all that is told by device.
    pub devices: Vec<DeviceCounters>,
    /// Whether schedules take host operations along.
    pub pairs: Vec<bool>,
    pub wear: Vec<Wear>,
    /// Where blocks wear out.
    pub life: Vec<(Option<LifeReport>, Option<LevelingReport>)>,
    pub over_time: Vec<OverTimeReport>,
    /// By device, who waited for it; for a spare they count as waiting for the member whose place it took.
    pub gc_waits: Vec<GcWaitsReport>,
    pub gc_share: Vec<f64>,
    /// Who collected before the measured window.
    pub warmup_gc: WarmupGc,
    /// Times each device began to collect or was collecting when the window began.
    pub gc_intervals: Vec<u64>,
    /// How counters changed from batch to batch of requests.
    pub counter_batches: CounterBatches,
    /// Bytes of the user's writes in the window: see [`UserBytes`].
    pub host_bytes_written: u64,
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
    /// Threads that the members shared; where it was one of several, why.
    pub threads: (usize, Option<&'static str>),
    /// Of a trace: what was replayed of it and what was done to it, warm-up included.
    pub trace: Option<TraceAccount>,
}

impl Run<'_> {
    /// Simulates the whole workload on members in the given states; only what somebody looks at is looked up.
    pub fn measure(&self, start: Start) -> Result<Measured, RunError> {
        let observer = self.options.observe.observer(self.id);
        let planes = observer.as_ref().is_some_and(|observer| observer.wants_planes());
        let levels = observer.as_ref().is_some_and(|observer| observer.wants_levels());
        let whom = self.options.observe.follows(self.id);
        let switch = Switch::default();
        let follows = whom.is_some().then_some(&switch);
        let levels = levels || self.limits_channels();
        let tape = whom.is_some().then(|| self.options.observe.tapes(self.id)).flatten();
        let wanted = Wanted { levels, planes, checks: self.options.checked, follows, tape };
        match wanted.levels || wanted.planes || wanted.checks || whom.is_some() {
            false => self.simulate::<RunProbe<false>>(wanted, start, observer),
            true => self.simulate::<RunProbe<true>>(wanted, start, observer),
        }
    }

    /// Whether a policy limits how many channels of a member collect at once.
    fn limits_channels(&self) -> bool {
        let members = &self.variant.scenario.array.members;
        members.iter().any(|member| member.ssd.gc.concurrency.policy != "unlimited")
    }

    /// Simulates it up to the arrival of request `at`, clones it, and lets both go on. Nobody observes them.
    pub fn measure_twice(&self, start: Start, at: u64) -> Result<[Measured; 2], RunError> {
        let wanted =
            Wanted { levels: self.limits_channels(), planes: false, checks: true, follows: None, tape: None };
        let began = Stopwatch::start();
        let mut clock = self.clock::<RunProbe<true>>(wanted, start, None)?;
        clock.run_until(at)?;
        let mut second = clock.fork()?;
        clock.run()?;
        second.run()?;
        Ok([Meter::finish(clock, began)?, Meter::finish(second, Stopwatch::start())?])
    }

    fn simulate<P: Told>(
        &self,
        wanted: Wanted<'_>,
        start: Start,
        observer: Option<Box<dyn Observer + '_>>,
    ) -> Result<Measured, RunError> {
        let began = Stopwatch::start();
        let mut clock = self.clock::<P>(wanted, start, observer)?;
        let result = clock.run();
        self.options.progress.end(self.index);
        result?;
        if let Some(followed) = clock.array.followed() {
            self.options.observe.followed(self.id, std::mem::take(followed));
        }
        if wanted.tape.is_some() {
            let members = clock.array.devices().iter().filter_map(|device| device.probe().taped());
            self.options.observe.taped(self.id, members.collect());
        }
        Meter::finish(clock, began)
    }

    /// Simulates the warm-up alone, and lets the members come to rest behind it.
    pub fn warm_up(&self, states: Vec<Ftl>) -> Result<Start, RunError> {
        let checks = self.options.checked;
        let wanted = Wanted { levels: false, planes: false, checks, follows: None, tape: None };
        let start = Start::aged(states);
        let warmed = match wanted.checks {
            false => self.come_to_rest::<RunProbe<false>>(wanted, start),
            true => self.come_to_rest::<RunProbe<true>>(wanted, start),
        };
        self.options.progress.end(self.index);
        warmed
    }

    fn come_to_rest<P: Told>(&self, wanted: Wanted<'_>, start: Start) -> Result<Start, RunError> {
        let mut clock = self.clock::<P>(wanted, start, None)?;
        let warmup = clock.listener.warmup;
        let first = clock.come_to_rest(|submitted, request| is_over(warmup, submitted, request.arrival))?;
        let Clock { array, source, submitted, seen, mut completed, listener: mut meter, .. } = clock;
        let Some(first) = first else { return Err(too_short(submitted)) };
        let begins = first.arrival;
        let mut later = EventQueue::default();
        while let Some((_, completion)) = completed.pop_due(SimTime::NEVER) {
            let completion = warmup::later(completion, begins);
            later.push(completion.finish, completion);
        }
        let gc = meter.warmed_up(&array, begins);
        let states = array.devices().iter().map(|device| device.ftl().clone()).collect();
        let source = Box::new(Rest::new(source, first, seen));
        Ok(Start { states, warm: Some(Warm { source, submitted, completed: later, gc }) })
    }

    /// The run at its beginning.
    fn clock<'b, P: Told>(
        &'b self,
        wanted: Wanted<'_>,
        Start { states, warm }: Start,
        observer: Option<Box<dyn Observer + 'b>>,
    ) -> Result<Clock<'b, P, Meter<'b>>, RunError> {
        let scenario = &self.variant.scenario;
        let (warmup, total) = match &scenario.workload {
            WorkloadConfig::Synthetic(load) => (load.warmup, Some(load.limit)),
            WorkloadConfig::Streams(load) => (load.warmup, Some(load.limit)),
            WorkloadConfig::Trace(trace) => (trace.warmup, trace.limit),
        };
        let excluded = excluded(scenario);
        let array = &scenario.array;
        let members: Vec<_> =
            array.members.iter().chain(&array.faults.spares).chain(&array.faults.journal).collect();
        let probe = |device: DeviceId| P::new(device, &members[device.index()].ssd.geometry, wanted);
        let states = failures::with_spares(scenario, states)?;
        let mut array = Array::new(array, states, excluded, probe)
            .map_err(|why| bad_input(why, "see `harmonia policies`"))?;
        array.set_deadlines(scenario.deadlines);
        if let Some((whom, switch)) = self.options.observe.follows(self.id).zip(wanted.follows) {
            array.follow(whom, switch.clone());
        }
        let (source, begun, warmed) = match warm {
            Some(Warm { source, submitted, completed, gc }) => {
                (source, Some((submitted, completed)), Some(gc))
            }
            None => (self.load.source(scenario.seed).map_err(|error| bad_input(error.0, ""))?, None, None),
        };
        array.set_clock(source.wall_clock());
        let total = match total {
            Some(Limit::Requests(requests)) => requests,
            _ => 0,
        };
        self.options.progress.begin(self.index, self.name, Stage::Simulate, total);
        let meter = Meter {
            run: self,
            warmup: if warmed.is_some() { Limit::Requests(0) } else { warmup },
            warmed,
            warmup_gc: GcOverlap::new(scenario.array.members.len(), SimTime::ZERO),
            warmup_gc_events: 0,
            window: None,
            user: UserBytes::new(&array, begun.as_ref().map_or(0, |begun| begun.0)),
            backlog: Backlog::default(),
            first_measured: u64::MAX,
            follows: wanted.follows.is_some(),
            host: HostRecorder::new(),
            streams: None,
            gc_waits: GcWaits::new(members.len()),
            failures: (!scenario.array.is_faultless()).then(Box::default),
            observer: observer.map(InOrder::new),
            last_finish: SimTime::ZERO,
        };
        let mut clock = Clock::new(scenario, source, array, meter, self.threads);
        if let Some((submitted, completed)) = begun {
            (clock.submitted, clock.completed) = (submitted, completed);
        }
        Ok(clock)
    }
}

/// The member that only pinned requests go to.
pub(crate) fn excluded(scenario: &Scenario) -> Option<DeviceId> {
    match &scenario.workload {
        WorkloadConfig::Synthetic(load) if load.skew_fraction > 0.0 => {
            (load.skew_rest == SkewRest::Others).then_some(DeviceId(load.skew_member))
        }
        _ => None,
    }
}

/// The array of a scenario as its load sees it.
pub(crate) fn geometry(scenario: &Scenario) -> ArrayGeometryForLoad {
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
        scaled_from: full_bytes(scenario).map(|bytes| FullArray { bytes, row: row_bytes(&layout) }),
    }
}

/// The data that a row of stripes holds.
fn row_bytes(layout: &Layout) -> u64 {
    let holding = layout.logical_bytes() as f64 / layout.member_bytes().max(1) as f64;
    (holding.round() as u64).max(1) * layout.stripe_unit()
}

/// What the array holds if its members are not scaled down; `None` if they are not.
pub(crate) fn full_bytes(scenario: &Scenario) -> Option<u64> {
    let is_scaled = scenario.array.members.iter().any(|member| member.ssd.scaling().is_some());
    is_scaled.then(|| {
        let mut full = scenario.array.clone();
        full.members.iter_mut().for_each(|member| member.ssd = member.ssd.full().clone());
        let (full, part) = (full.layout().logical_bytes(), scenario.array.layout().logical_bytes());
        // Of a part of the array that is addressed it is the same part.
        match scenario.space {
            Some(space) => (u128::from(full) * u128::from(space) / u128::from(part.max(1))) as u64,
            None => full,
        }
    })
}

/// The state of counters when the measured window began.
#[derive(Clone)]
struct Window {
    from: SimTime,
    /// The user's bytes so far.
    user: UserBytes,
    /// Bytes of the user's data that devices had programmed.
    user_programmed: u64,
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

/// Listens to the clock of a run, and measures.
struct Meter<'a> {
    run: &'a Run<'a>,
    warmup: Limit,
    /// Of a warm-up that is over when this run begins.
    warmed: Option<WarmupGc>,
    /// Until the window opens.
    warmup_gc: GcOverlap,
    warmup_gc_events: u64,
    window: Option<Window>,
    user: UserBytes,
    backlog: Backlog,
    /// Id of the first request that counts.
    first_measured: u64,
    /// Requests are followed on their way.
    follows: bool,
    host: HostRecorder,
    streams: Option<StreamRecorder>,
    gc_waits: GcWaits,
    /// Where anything may befall members.
    failures: Option<Box<FailureRecorder>>,
    observer: Option<InOrder<'a>>,
    /// Of the requests that count.
    last_finish: SimTime,
}

/// What it has measured so far, once more; whoever observes a run observes one.
impl Clone for Meter<'_> {
    fn clone(&self) -> Self {
        let Meter {
            run, warmup, warmed, warmup_gc, warmup_gc_events, window, first_measured, follows, ..
        } = self;
        let Meter { user, backlog, host, streams, gc_waits, failures, observer: _, last_finish, .. } = self;
        Meter {
            run,
            warmup: *warmup,
            warmed: warmed.clone(),
            warmup_gc: warmup_gc.clone(),
            warmup_gc_events: *warmup_gc_events,
            window: window.clone(),
            user: *user,
            backlog: backlog.clone(),
            first_measured: *first_measured,
            follows: *follows,
            host: host.clone(),
            streams: streams.clone(),
            gc_waits: gc_waits.clone(),
            failures: failures.clone(),
            observer: None,
            last_finish: *last_finish,
        }
    }
}

impl<P: Told> Listener<P> for Meter<'_> {
    #[inline]
    fn looks(&mut self, request: &HostRequest, before: u64) -> bool {
        if let Some(streams) = &mut self.streams {
            streams.arrives(request);
        }
        match &self.window {
            None => is_over(self.warmup, before, request.arrival),
            Some(window) => window.batches.is_due(request.id),
        }
    }

    fn follows(&self) -> bool {
        self.follows
    }

    fn arrives(&mut self, array: &mut Array<P>, request: &HostRequest) -> Result<(), TooLong> {
        if self.window.is_none() {
            self.open_window(array, request.arrival, request.id)?;
            self.first_measured = request.id;
            // It was looked at before there was a window.
            if let Some(streams) = &mut self.streams {
                streams.arrives(request);
            }
        }
        // Where a batch of requests begins.
        if let Some(window) = self.window.as_mut().filter(|window| window.batches.is_due(request.id)) {
            let counters = counters(array);
            window.batches.read(counters.iter().zip(page_sizes(array)));
        }
        Ok(())
    }

    fn went_on(&mut self, array: &Array<P>) {
        if let Some(recorder) = self.failures.as_deref_mut() {
            failures::hear(recorder, array);
        }
    }

    fn completes(&mut self, completion: &Completion) {
        self.user.completes(completion);
        if completion.id < self.first_measured {
            self.backlog.completes(completion);
            return;
        }
        self.host.record(completion);
        if let Some(streams) = &mut self.streams {
            streams.record(completion);
        }
        self.gc_waits.record(completion);
        if let Some(recorder) = self.failures.as_deref_mut() {
            recorder.record(completion);
        }
        if let Some(observer) = &mut self.observer {
            observer.completes(completion);
        }
        self.last_finish = self.last_finish.max(completion.finish);
    }

    fn collected(&mut self, device: DeviceId, start: SimTime, end: SimTime) {
        let Some(window) = &mut self.window else {
            self.warmup_gc.interval(device, start, end);
            self.warmup_gc_events += 1;
            return;
        };
        window.gc.interval(device, start, end);
        let row = row(self.failures.as_deref(), device, start);
        window.gc_intervals[row] += u64::from(end > window.from);
        if let Some(observer) = self.observer.as_mut().filter(|_| end > window.from) {
            observer.collected(device, start.max(window.from), end);
        }
    }

    fn settles(&mut self, array: &Array<P>, now: SimTime, submitted: u64) {
        self.run.options.progress.advance(self.run.index, submitted);
        // What lies safely in the past is folded, so that long runs need no more memory.
        let open = array.devices().iter().filter_map(|device| device.collecting_since()).min();
        let gc = self.window.as_mut().map_or(&mut self.warmup_gc, |window| &mut window.gc);
        gc.settle(open.map_or(now, |since| since.min(now)));
        if self.window.is_none() {
            self.backlog.cut(now);
        }
        if let Some(observer) = &mut self.observer {
            observer.tell_before(now);
        }
    }

    fn stops(&self) -> bool {
        self.run.options.cancel.load(Ordering::Relaxed)
    }
}

impl Meter<'_> {
    /// Who collected up to a time, where the warm-up ends.
    fn warmed_up<P: Probe>(&mut self, array: &Array<P>, end: SimTime) -> WarmupGc {
        let members = array.devices().len();
        let mut gc = std::mem::replace(&mut self.warmup_gc, GcOverlap::new(members, end));
        for (index, device) in array.devices().iter().enumerate() {
            if let Some(since) = device.collecting_since() {
                gc.interval(DeviceId(index as u16), since, SimTime::NEVER);
                self.warmup_gc_events += 1;
            }
        }
        WarmupGc::new(gc, self.warmup_gc_events, end)
    }

    fn open_window<P: Told>(
        &mut self,
        array: &mut Array<P>,
        from: SimTime,
        first: u64,
    ) -> Result<(), TooLong> {
        if let Some(observer) = &mut self.observer {
            observer.observer.begin(from, array.devices().len());
        }
        let (members, devices) = (array.devices().len(), array.every_device().len());
        let warmup_gc = self.warmed.take().unwrap_or_else(|| self.warmed_up(array, from));
        array.begin_window(from);
        self.backlog.cut(from);
        let deadlines = self.run.variant.scenario.deadlines;
        self.host = HostRecorder::starting_at(first).from(from).expecting(deadlines);
        if let WorkloadConfig::Streams(load) = &self.run.variant.scenario.workload {
            self.streams = Some(StreamRecorder::new(load.jobs().map(|(name, _)| name)));
        }
        let mut batches = CounterBatches::starting_at(first);
        if let WorkloadConfig::Synthetic(load) = &self.run.variant.scenario.workload
            && let Limit::Requests(all) = load.limit
        {
            batches = batches.of_all(all - first);
        }
        self.window = Some(Window {
            from,
            user: self.user,
            user_programmed: UserBytes::programmed(array),
            devices: told_counters(array)?,
            messages: *array.message_counters(),
            redundancy: array.counters(),
            background: array.background_counters(from),
            policy_counters: array.policy_counters(),
            gc: GcOverlap::new(members, from),
            warmup_gc,
            gc_intervals: vec![0; devices],
            batches,
            events: events(array),
        });
        Ok(())
    }

    /// What was measured, now that nothing is outstanding.
    fn finish<P: Told>(clock: Clock<'_, P, Self>, began: Stopwatch) -> Result<Measured, RunError> {
        let now = told_counters(&clock.array).map_err(|TooLong| clock.too_long());
        let Clock { array, source, is_closed, submitted, listener: mut this, why_in_step, threads, .. } =
            clock;
        let events = events(&array);
        let Some(mut window) = this.window.take() else {
            return Err(too_short(submitted));
        };
        let end = this.last_finish.max(window.from);
        for (index, device) in array.devices().iter().enumerate() {
            if let Some(since) = device.collecting_since() {
                let device = DeviceId(index as u16);
                window.gc.interval(device, since, SimTime::NEVER);
                window.gc_intervals[row(this.failures.as_deref(), device, since)] += u64::from(since < end);
                let since = since.max(window.from);
                if let Some(observer) = this.observer.as_mut().filter(|_| since < end) {
                    observer.collected(device, since, end);
                }
            }
        }
        if let Some(InOrder { observer, .. }) = this.observer.as_mut().map(InOrder::tell_all) {
            let spans = this.failures.iter().flat_map(|recorder| recorder.spans());
            spans.filter_map(|span| within(span, window.from, end)).for_each(|span| observer.ails(&span));
            let all = array.every_device();
            let planes = all.iter().find_map(|device| device.probe().planes());
            planes.iter().for_each(|planes| observer.planes(planes));
            observer.end(end);
        }
        let now = now?;
        let redundancy = array.counters().since(&window.redundancy);
        let background = array.background_counters(end);
        let ending = Ending {
            scenario: &this.run.variant.scenario,
            window: (window.from, end),
            requests: submitted,
            counters: [array.counters(), redundancy],
            background: [background, background.since(&window.background)],
        };
        let failures = this.failures.as_deref().map(|recorder| ending.report(recorder));
        let all = array.every_device();
        let of_warmup = this.user.completed - window.user.completed - this.host.bytes_written();
        let before = this.user.cut(of_warmup, &window, UserBytes::programmed(&array));
        let host_bytes_written = this.host.bytes_written() + of_warmup - before;
        Ok(Measured {
            arrivals_ns: (!is_closed).then(|| this.host.last_arrival().saturating_since(window.from).as_ns()),
            host: this.host,
            backlog: this.backlog.within(window.from, end),
            streams: this.streams,
            gc_intervals: window.gc_intervals,
            counter_batches: window.batches,
            host_bytes_written,
            devices: now.iter().zip(&window.devices).map(|(now, then)| now.since(then)).collect(),
            pairs: all.iter().map(|device| device.pairs()).collect(),
            wear: all.iter().map(|device| Wear::of(device.ftl().erase_counts().iter().copied())).collect(),
            life: all.iter().map(|device| (life(device), leveling(device))).collect(),
            over_time: all.iter().map(|device| device.probe().over_time(end)).collect(),
            gc_waits: this.gc_waits.report(),
            gc_share: window.gc.finish(end),
            warmup_gc: window.warmup_gc,
            messages: array.message_counters().since(&window.messages),
            redundancy,
            failures,
            policy_counters: array
                .policy_counters()
                .iter()
                .zip(&window.policy_counters)
                .map(|(&(name, now), &(_, then))| (name, now - then))
                .collect(),
            window_ns: (end - window.from).as_ns(),
            events: events - window.events,
            wall_ns: began.elapsed_ns(),
            threads: if why_in_step.is_some() {
                (1, why_in_step.filter(|_| threads > 1))
            } else {
                (threads, None)
            },
            trace: source.trace(),
        })
    }
}

/// How far the life of a device has come, where its blocks wear out.
fn life<P: Probe>(device: &Device<P>) -> Option<LifeReport> {
    let life = device.life()?;
    let (counters, page_size) = (device.counters(), device.page_size());
    let written = counters.host_pages_written() + counters.programmed(IoCause::Parity);
    let seconds = |at: SimTime| at.0 as f64 / 1e9;
    Some(LifeReport {
        erases_min: life.worn.erases_min.into(),
        erases_mean: life.worn.erases_mean,
        erases_max: life.worn.erases_max.into(),
        retired_blocks: life.worn.retired_blocks,
        available_spare: life.worn.available_spare,
        used: life.worn.used,
        host_bytes: written * page_size,
        media_bytes: counters.data_pages_programmed() * page_size,
        first_retired_s: life.first_retired.map(seconds),
        read_only_s: life.read_only.map(seconds),
        failed_pages: life.failed_pages,
    })
}

/// What levelling of wear has done, where it is done.
fn leveling<P: Probe>(device: &Device<P>) -> Option<LevelingReport> {
    let (blocks, pages) = device.ftl().leveled()?;
    Some(LevelingReport { blocks, pages })
}

/// What the user has written since the load began, warm-up included.
///
/// The window cuts writes of the warm-up that are under way when it opens. What had been programmed of them by then is what
/// had been programmed in all, less what the complete ones need; for that the whole load tells how many bytes are programmed
/// for one of the user, as nothing is under way at its ends.
#[derive(Debug, Clone, Copy)]
struct UserBytes {
    /// Id of the first request of the load.
    first: u64,
    /// Of writes that are complete.
    completed: u64,
    /// Programmed for the user's data before the load began.
    before: u64,
}

impl UserBytes {
    fn new<P: Probe>(array: &Array<P>, first: u64) -> Self {
        UserBytes { first, completed: 0, before: UserBytes::programmed(array) }
    }

    #[inline]
    fn completes(&mut self, completion: &Completion) {
        if completion.operation == Operation::Write && completion.id >= self.first {
            self.completed += completion.length;
        }
    }

    /// Bytes of the user's data that the devices have programmed.
    fn programmed<P: Probe>(array: &Array<P>) -> u64 {
        counters(array).iter().zip(page_sizes(array)).map(|(counters, page)| counters.host_bytes(page)).sum()
    }

    /// Of so many bytes of writes that were under way when the window opened, those that were programmed by then. `end`: what
    /// is programmed of the user's data at the end of the load.
    fn cut(&self, under_way: u64, window: &Window, end: u64) -> u64 {
        let so_far = u128::from(window.user_programmed - self.before) * u128::from(self.completed);
        let so_far = so_far.checked_div(u128::from(end - self.before)).unwrap_or(0) as u64;
        so_far.saturating_sub(window.user.completed).min(under_way)
    }
}

/// Requests of the warm-up that complete after a moment: when each does, and the bytes that it moved.
#[derive(Debug, Clone, Default)]
struct Backlog(Vec<(SimTime, u64)>);

impl Backlog {
    fn completes(&mut self, completion: &Completion) {
        let moves_data = matches!(completion.operation, Operation::Read | Operation::Write);
        self.0.push((completion.finish, if moves_data { completion.length } else { 0 }));
    }

    /// Only those that complete after `now` are kept. A completion may be told before it happens.
    fn cut(&mut self, now: SimTime) {
        self.0.retain(|&(finish, _)| finish > now);
    }

    /// How many complete after `from` and up to `end`, and the bytes that they moved.
    fn within(&self, from: SimTime, end: SimTime) -> (u64, u64) {
        let within = self.0.iter().filter(|&&(finish, _)| from < finish && finish <= end);
        within.fold((0, 0), |(count, sum), &(_, bytes)| (count + 1, sum + bytes))
    }
}

/// Bytes of every device's pages.
fn page_sizes<P: Probe>(array: &Array<P>) -> impl Iterator<Item = u64> + Clone {
    array.every_device().into_iter().map(|device| device.page_size())
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

/// Every device's counters; refused where the time its dies or planes collected for is too long to be summed up.
fn told_counters<P: Probe>(array: &Array<P>) -> Result<Vec<DeviceCounters>, TooLong> {
    let beyond = |device: &harmonia_ssd::Device<P>| {
        let counters = device.counters();
        too_long::is_beyond(counters.gc_busy) || too_long::is_beyond(counters.gc_plane_busy)
    };
    if array.every_device().into_iter().any(beyond) { Err(TooLong) } else { Ok(counters(array)) }
}

fn events<P: Probe>(array: &Array<P>) -> u64 {
    array.every_device().iter().map(|device| device.events()).sum()
}

/// Every device's counters.
fn counters<P: Probe>(array: &Array<P>) -> Vec<DeviceCounters> {
    array.every_device().into_iter().map(|device| device.counters()).collect()
}
