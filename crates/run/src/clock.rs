//! The clock of a run: pulls requests from a source, hands them to the array in order of time, and tells a listener what
//! comes of them.
//!
//! ```text
//!   source --next--> Clock --submit, advance--> array
//!                      |  <--completions, collections--
//!                      v
//!                  Listener    measures, watches, stops
//! ```
//!
//! What is measured is the listener's business, so whoever measures something else, or nothing, drives the same clock.
//!
//! A run ends as bad input as soon as anything would happen after [`SimTime::LATEST`].

use harmonia_array::Array;
use harmonia_engine::EventQueue;
use harmonia_metrics::judgement::sustained_rate;
use harmonia_ssd::probe::Probe;
use harmonia_types::{Bytes, Completion, DeviceId, Divisor, HostRequest, SimDuration, SimTime};
use harmonia_workload::{MOST_PAGES_AT_ONCE, Next, Source};

use crate::{RunError, bad_input, too_long};
use harmonia_scenario::Scenario;

/// What members that run ahead are given before they go on: so many requests for each on one thread, and on several so many
/// pages all together that starting threads costs a few hundredths of them.
const REQUESTS: u64 = 128;
const PAGES: u64 = 1 << 15;
/// So many requests at least, and at most, are taken from the load at a time; fewer at most where a coordinator hears of members, because
/// what completes is kept until all are done.
const LEAST: u64 = 256;
const MOST: u64 = 1 << 15;
const MOST_HEARD: u64 = 1 << 12;
/// Pages of them, each of which may be an operation of its own: what has been gathered takes about 20 MB, and the last request.
const MOST_PAGES: u64 = 1 << 18;

/// What a clock tells while it runs.
pub(crate) trait Listener<P: Probe> {
    /// Whether it looks at the array when a request arrives behind so many others.
    fn looks(&mut self, request: &HostRequest, before: u64) -> bool;

    /// Whether it follows requests: members go in step then.
    fn follows(&self) -> bool;

    /// It looks: a request is about to be submitted.
    ///
    /// # Errors
    /// If a time has become too long to be told.
    fn arrives(&mut self, array: &mut Array<P>, request: &HostRequest) -> Result<(), TooLong>;

    /// The array has gone on: what befell its members is known. What completed and who collected is told next.
    fn went_on(&mut self, array: &Array<P>);

    /// A request is known to complete, maybe at a time to come.
    fn completes(&mut self, completion: &Completion);

    /// A member began to collect, and was done.
    fn collected(&mut self, member: DeviceId, start: SimTime, end: SimTime);

    /// Time to fold what lies in the past, and to say how far things are: every few hundred requests.
    fn settles(&mut self, array: &Array<P>, now: SimTime, submitted: u64);

    /// Whether the run is to stop.
    fn stops(&self) -> bool;
}

/// A time is too long to be told.
pub(crate) struct TooLong;

/// A load, an array, and who listens to what comes of them.
pub(crate) struct Clock<'a, P: Probe, L> {
    scenario: &'a Scenario,
    pub source: Box<dyn Source>,
    /// Whether the source sees completions at their time.
    pub is_closed: bool,
    /// Members run ahead of one another, and what they have been given since; `None` if they may not.
    gathered: Option<Gathered>,
    /// Why they may not.
    pub why_in_step: Option<&'static str>,
    pub threads: usize,
    /// Requests that are gathered at a time.
    batch: u64,
    pub array: Array<P>,
    pub listener: L,
    outstanding: Outstanding,
    /// Completions a closed loop has yet to see, by the time they happen.
    pub completed: EventQueue<Completion>,
    pub submitted: u64,
    /// When the source was last asked, and what has completed since.
    now: SimTime,
    pub seen: Vec<Completion>,
    /// The source has no more.
    has_ended: bool,
}

/// What members have been given since the listener last looked how far things are.
#[derive(Debug, Clone, Copy, Default)]
struct Gathered {
    requests: u64,
    pages: u64,
}

/// What has been submitted and is not known to complete.
#[derive(Debug, Clone, Copy)]
struct Outstanding {
    requests: u64,
    /// Their pages.
    pages: u64,
    /// The last completion that is known.
    latest: SimTime,
    page_size: Divisor,
}

impl Outstanding {
    /// Pages that a range of so many bytes may touch.
    #[inline]
    fn pages_of(&self, bytes: Bytes) -> u64 {
        self.page_size.divide(bytes).0 + 1
    }

    /// One more request, of so many bytes; returns its pages.
    #[inline]
    fn begin(&mut self, bytes: Bytes) -> u64 {
        let pages = self.pages_of(bytes);
        self.requests += 1;
        self.pages += pages;
        pages
    }

    #[inline]
    fn end(&mut self, completion: &Completion) {
        self.requests -= 1;
        self.pages -= self.pages_of(completion.length);
        self.latest = self.latest.max(completion.finish);
    }
}

impl<'a, P: Probe, L: Listener<P>> Clock<'a, P, L> {
    /// At the beginning of time. The scenario says what is to be changed where time runs out. Members that may run ahead of
    /// one another share so many threads at most.
    pub fn new(
        scenario: &'a Scenario,
        source: Box<dyn Source>,
        mut array: Array<P>,
        listener: L,
        threads: usize,
    ) -> Self {
        let is_closed = source.wants_completions();
        let runs_ahead = match () {
            () if is_closed => Err("arrivals follow completions"),
            () if listener.follows() => Err("requests are followed on their way"),
            () => array.run_ahead(),
        };
        Clock {
            scenario,
            is_closed,
            gathered: runs_ahead.is_ok().then(Gathered::default),
            why_in_step: runs_ahead.err(),
            threads: threads.min(scenario.array.members.len()),
            batch: (REQUESTS * scenario.array.members.len() as u64)
                .clamp(LEAST, if array.is_heard() { MOST_HEARD } else { MOST }),
            source,
            array,
            listener,
            outstanding: Outstanding {
                requests: 0,
                pages: 0,
                latest: SimTime::ZERO,
                page_size: Divisor::new(scenario.array.page_size()),
            },
            completed: EventQueue::default(),
            submitted: 0,
            now: SimTime::ZERO,
            seen: Vec::new(),
            has_ended: false,
        }
    }

    /// The same once more: both go on from here, and neither knows of the other.
    ///
    /// # Errors
    /// If the load cannot be read a second time.
    pub fn fork(&self) -> Result<Self, RunError>
    where
        P: Clone,
        L: Clone,
    {
        Ok(Clock {
            scenario: self.scenario,
            source: self.source.fork().map_err(|error| bad_input(error.0, ""))?,
            is_closed: self.is_closed,
            gathered: self.gathered,
            why_in_step: self.why_in_step,
            threads: self.threads,
            batch: self.batch,
            array: self.array.clone(),
            listener: self.listener.clone(),
            outstanding: self.outstanding,
            completed: self.completed.clone(),
            submitted: self.submitted,
            now: self.now,
            seen: self.seen.clone(),
            has_ended: self.has_ended,
        })
    }

    /// Simulates the whole load: until nothing is outstanding behind its last request.
    ///
    /// # Errors
    /// If the load cannot be read, the array cannot keep up or has no blocks left, time runs out, or the listener stops it.
    pub fn run(&mut self) -> Result<(), RunError> {
        self.run_until(u64::MAX)?;
        while self.outstanding.requests > 0 {
            self.step()?;
        }
        Ok(())
    }

    /// Goes on until so many requests have been submitted, or the load has no more.
    ///
    /// # Errors
    /// As [`Clock::run`].
    pub fn run_until(&mut self, submitted: u64) -> Result<(), RunError> {
        self.gather_until(submitted)?;
        while self.submitted < submitted {
            let Some(request) = self.next_request()? else { break };
            self.submit(&request)?;
        }
        self.catch_up(self.now)
    }

    /// The same where members run ahead: requests are taken many at a time, as long as the source has as many.
    fn gather_until(&mut self, submitted: u64) -> Result<(), RunError> {
        let mut batch = Vec::new();
        while self.gathered.is_some() {
            let most = (submitted - self.submitted).min(self.batch) as usize;
            let filled = self.source.fill(self.now, most, &mut batch);
            for request in &batch {
                self.advance_to(request.arrival)?;
                self.now = request.arrival;
                self.submit(request)?;
            }
            filled.map_err(|error| bad_input(error.0, ""))?;
            if batch.is_empty() {
                break;
            }
            batch.clear();
        }
        Ok(())
    }

    /// Goes on to the first request that `stops` says is not to be submitted, given how many have been, and returns it;
    /// `None` if the load has no more. Then lets everything that is under way come to its end: no member works or collects.
    ///
    /// # Errors
    /// As [`Clock::run`].
    pub fn come_to_rest(
        &mut self,
        stops: impl Fn(u64, &HostRequest) -> bool,
    ) -> Result<Option<HostRequest>, RunError> {
        let mut first = None;
        while let Some(request) = self.next_request()? {
            if stops(self.submitted, &request) {
                first = Some(request);
                break;
            }
            self.submit(&request)?;
        }
        self.catch_up(self.now)?;
        while self.outstanding.requests > 0 || self.array.devices().iter().any(|device| !device.is_quiet()) {
            self.step()?;
        }
        Ok(first)
    }

    /// The load's next request, at its arrival; `None` if there are no more.
    #[inline]
    fn next_request(&mut self) -> Result<Option<HostRequest>, RunError> {
        while !self.has_ended {
            let next = self.source.next(self.now, &self.seen);
            self.seen.clear();
            match next.map_err(|error| bad_input(error.0, ""))? {
                Next::At(request) => {
                    self.array.prefetch_for(&request);
                    self.advance_to(request.arrival)?;
                    self.now = request.arrival;
                    return Ok(Some(request));
                }
                Next::AfterCompletion => match self.next_completion(SimTime::NEVER)? {
                    Some(completion) => self.see(completion),
                    None => {
                        return Err(RunError::Internal("the load waits for a request that is lost".into()));
                    }
                },
                Next::Until(time) if time <= self.now => {
                    return Err(RunError::Internal("the load waits for a time that has passed".into()));
                }
                Next::Until(time) => match self.next_completion(time)? {
                    Some(completion) => self.see(completion),
                    None => self.now = time,
                },
                Next::End => self.has_ended = true,
            }
        }
        Ok(None)
    }

    /// A completion comes that the source waits for.
    fn see(&mut self, completion: Completion) {
        self.now = self.now.max(completion.finish);
        self.seen.push(completion);
    }

    /// Lets time pass up to an arrival; a closed loop's completions up to then are gathered for the source.
    fn advance_to(&mut self, arrival: SimTime) -> Result<(), RunError> {
        if too_long::is_too_late(arrival) {
            return Err(self.too_long());
        }
        if self.gathered.is_some() {
            return Ok(());
        }
        let advanced = self.array.advance_until(arrival);
        advanced.map_err(out_of_blocks)?;
        self.record()?;
        while let Some((_, completion)) = self.completed.pop_due(arrival) {
            self.seen.push(completion);
        }
        Ok(())
    }

    /// Lets members that run ahead do what they have been given, and everything before `now`.
    fn catch_up(&mut self, now: SimTime) -> Result<(), RunError> {
        if self.gathered.is_none() {
            return Ok(());
        }
        let Clock { array, listener, outstanding, .. } = self;
        let caught_up = array.catch_up(now, self.threads, |completion| {
            outstanding.end(completion);
            listener.completes(completion);
        });
        caught_up.map_err(out_of_blocks)?;
        self.record()
    }

    /// The next completion in order of time, if it comes by `until`.
    fn next_completion(&mut self, until: SimTime) -> Result<Option<Completion>, RunError> {
        self.catch_up(self.now)?;
        let known = self.completed.next_time().min(until);
        while self.outstanding.requests == 0
            && self.array.next_wakeup() < known
            && !too_long::is_too_late(known)
        {
            // Nothing is to become known: the array may go on, however often it wakes up, until somebody may want to stop it.
            let hour = self.array.next_wakeup() + SimDuration::from_ms(3_600_000);
            self.array.advance_until(hour.min(SimTime(known.0 - 1))).map_err(out_of_blocks)?;
            self.record()?;
            if self.listener.stops() {
                return Err(RunError::Cancelled);
            }
        }
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
            return Err(RunError::Internal(format!(
                "{} requests never completed",
                self.outstanding.requests
            )));
        }
        if too_long::is_too_late(wakeup) {
            return Err(self.too_long());
        }
        self.array.advance_until(wakeup).map_err(out_of_blocks)?;
        self.record()?;
        if self.listener.stops() {
            return Err(RunError::Cancelled);
        }
        Ok(())
    }

    #[inline]
    fn submit(&mut self, request: &HostRequest) -> Result<(), RunError> {
        if self.listener.looks(request, self.submitted) {
            self.catch_up(request.arrival)?;
            let told = self.listener.arrives(&mut self.array, request);
            told.map_err(|TooLong| self.too_long())?;
        }
        self.submitted += 1;
        let pages = self.outstanding.begin(request.length);
        if self.outstanding.pages > MOST_PAGES_AT_ONCE {
            self.catch_up(request.arrival)?;
            if self.outstanding.pages > MOST_PAGES_AT_ONCE {
                return Err(self.overloaded(request.arrival));
            }
        }
        if let Some(gathered) = &mut self.gathered {
            gathered.requests += 1;
            gathered.pages += pages;
            let is_enough = match self.threads {
                1 => gathered.requests >= self.batch || gathered.pages >= MOST_PAGES,
                _ => gathered.pages >= PAGES,
            };
            self.array.submit_ahead(request);
            return if is_enough { self.settle(request.arrival) } else { Ok(()) };
        }
        self.array.submit(*request).map_err(out_of_blocks)?;
        self.record()?;
        if self.submitted.is_multiple_of(256) { self.settle(request.arrival) } else { Ok(()) }
    }

    /// Every few hundred requests, and at the arrival of the last: the listener looks how far things are.
    fn settle(&mut self, now: SimTime) -> Result<(), RunError> {
        self.catch_up(now)?;
        self.gathered = self.gathered.map(|_| Gathered::default());
        self.listener.settles(&self.array, now, self.submitted);
        if self.listener.stops() { Err(RunError::Cancelled) } else { Ok(()) }
    }

    /// Tells what completed and who collected. A completion may be known before it happens, so that the clock alone would
    /// not show that one comes too late.
    #[inline]
    fn record(&mut self) -> Result<(), RunError> {
        self.listener.went_on(&self.array);
        let is_news = !self.array.completions().is_empty() || !self.array.gc_intervals().is_empty();
        if is_news {
            self.record_news();
        }
        if too_long::is_too_late(self.outstanding.latest) { Err(self.too_long()) } else { Ok(()) }
    }

    fn record_news(&mut self) {
        let mut completions = std::mem::take(self.array.completions());
        for completion in &completions {
            self.outstanding.end(completion);
            self.listener.completes(completion);
            if self.is_closed {
                self.completed.push(completion.finish, *completion);
            }
        }
        completions.clear();
        *self.array.completions() = completions;
        let mut intervals = std::mem::take(self.array.gc_intervals());
        for (device, start, end) in intervals.drain(..) {
            self.listener.collected(device, start, end);
        }
        *self.array.gc_intervals() = intervals;
    }

    #[cold]
    fn overloaded(&self, at: SimTime) -> RunError {
        let Outstanding { requests, pages, .. } = self.outstanding;
        let (arrived, served) = (self.submitted as f64, self.submitted.saturating_sub(requests) as f64);
        let slower = match sustained_rate(served / at.as_ns() as f64 * 1e9) {
            Some(rate) => {
                let factor = (arrived / served * 10.0).ceil() / 10.0;
                format!(
                    "an arrival rate of at most {rate} requests a second, four fifths of what the array has served; a trace: a time_scale {factor} times as large"
                )
            }
            None => "a lower arrival rate, a larger time_scale of a trace".to_owned(),
        };
        bad_input(
            format!(
                "at {at} of simulated time {requests} requests ({pages} pages) wait: the array cannot keep up with the load"
            ),
            &format!("{slower}, or arrival = {{ process = \"closed\" }} (a trace: replay = \"closed\")"),
        )
    }

    #[cold]
    pub fn too_long(&self) -> RunError {
        too_long::refuse(self.scenario, self.submitted, self.outstanding.requests)
    }
}

fn out_of_blocks(failure: harmonia_array::ArrayFailure) -> RunError {
    bad_input(failure.to_string(), "more spare, or an earlier start of garbage collection")
}

#[cfg(test)]
mod tests {
    use harmonia_ssd::Ftl;
    use harmonia_ssd::probe::NoProbe;

    use super::*;

    /// Counts, measures nothing, and stops once so many requests have been submitted.
    struct Counts {
        submitted: u64,
        completed: u64,
        most: u64,
    }

    impl Listener<NoProbe> for Counts {
        fn looks(&mut self, _: &HostRequest, before: u64) -> bool {
            assert_eq!(before, self.submitted);
            self.submitted += 1;
            before.is_multiple_of(10)
        }

        fn follows(&self) -> bool {
            false
        }

        fn arrives(&mut self, array: &mut Array<NoProbe>, request: &HostRequest) -> Result<(), TooLong> {
            assert!(array.next_wakeup() > request.arrival, "nothing is left to happen before");
            Ok(())
        }

        fn went_on(&mut self, _: &Array<NoProbe>) {}

        fn completes(&mut self, completion: &Completion) {
            assert!(completion.id < self.submitted && completion.finish >= completion.arrival);
            self.completed += 1;
        }

        fn collected(&mut self, _: DeviceId, start: SimTime, end: SimTime) {
            assert!(start <= end);
        }

        fn settles(&mut self, _: &Array<NoProbe>, _: SimTime, _: u64) {}

        fn stops(&self) -> bool {
            self.submitted >= self.most
        }
    }

    /// Runs 5000 requests of `tiny` on new members; how it ended, and what was submitted and completed.
    fn run(most: u64) -> (Result<(), RunError>, u64, u64) {
        with_clock(most, |mut clock| (clock.run(), clock.listener.submitted, clock.listener.completed))
    }

    fn with_clock<T>(most: u64, then: impl FnOnce(Clock<'_, NoProbe, Counts>) -> T) -> T {
        let sets = ["workload.requests=5000".to_owned(), "workload.warmup=0".to_owned()];
        let scenario = Scenario::load("tiny", &sets, None).expect("a scenario");
        let array = &scenario.array;
        let states = array.members.iter().map(|member| Ftl::new(&member.ssd, 1, "new").expect("a device"));
        let array = Array::new(array, states.collect(), None, |_| NoProbe).expect("an array");
        let load = scenario.workload.prepare(&crate::drive::geometry(&scenario)).expect("a load");
        let listener = Counts { submitted: 0, completed: 0, most };
        then(Clock::new(&scenario, load.source(1).expect("a source"), array, listener, 1))
    }

    /// A rate is named where anything was served.
    #[test]
    fn an_overload_names_a_rate_that_was_served() {
        let said = |requests: u64| {
            with_clock(1, |mut clock| {
                (clock.submitted, clock.outstanding.requests) = (1_000, requests);
                clock.overloaded(SimTime(1_000_000_000)).to_string()
            })
        };
        assert!(said(500).contains("an arrival rate of at most 400 requests a second"), "{}", said(500));
        assert!(said(500).contains("a time_scale 2 times as large"), "{}", said(500));
        assert!(
            said(1_000).contains("a lower arrival rate, a larger time_scale of a trace, or"),
            "{}",
            said(1_000)
        );
    }

    #[test]
    fn whoever_listens_hears_of_every_request_twice() {
        let (result, submitted, completed) = run(u64::MAX);
        assert!(result.is_ok());
        assert_eq!((submitted, completed), (5000, 5000));
    }

    #[test]
    fn the_listener_stops_the_run() {
        let (result, submitted, completed) = run(256);
        assert!(matches!(result, Err(RunError::Cancelled)));
        assert!((256..5000).contains(&submitted) && completed <= submitted, "{submitted}");
    }
}
