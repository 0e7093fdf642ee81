//! What devices tell while they run, to the report and to a run's observer.
//!
//! What nobody wants to know the device does not even look at: it costs a tenth of the time of a run. How devices stand
//! over time is wanted by an observer that draws or keeps, and wherever a policy limits how many channels collect; what
//! planes do by an observer alone, and of the first member only. Single pages are followed for whoever explains requests.

use harmonia_flash::Geometry;
use harmonia_metrics::recording::{MemberPlanes, PlaneRecorder};
use harmonia_metrics::{OverTime, OverTimeReport};
use harmonia_ssd::follow::{Follower, Switch};
use harmonia_ssd::probe::{FlashPage, Origin, Probe};
use harmonia_types::{DeviceId, IoCause, Levels, Lpn, PlaneWork, SimTime};

use crate::tape::{MemberTape, Tape, TapeWindow};

/// What a run wants to know of its devices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// How each stands over time.
    pub levels: bool,
    /// What the planes of the first one do.
    pub planes: bool,
    /// Whether each checks its invariants after every event.
    pub checks: bool,
    /// Says when single pages are followed, if they are.
    pub follows: Option<&'a Switch>,
    /// The window of which all commands and collections are wanted; only where pages are followed.
    pub tape: Option<TapeWindow>,
}

/// A probe that tells what it has seen.
pub(crate) trait Told: Probe {
    /// Of a member with such dies.
    fn new(member: DeviceId, geometry: &Geometry, wanted: Wanted<'_>) -> Self;

    /// How the device stood over time, up to `end`; empty if that was not wanted.
    fn over_time(&self, end: SimTime) -> OverTimeReport;

    /// What its planes did, if they were recorded.
    fn planes(&self) -> Option<MemberPlanes>;

    /// All that it did in a window, if that was wanted.
    fn taped(&self) -> Option<MemberTape>;
}

/// Watches one member, and has it check its invariants if that is wanted; does neither, at no cost, unless `WATCHES`.
#[derive(Debug, Clone)]
pub(crate) struct RunProbe<const WATCHES: bool> {
    member: DeviceId,
    wants_levels: bool,
    checks: bool,
    follower: Option<Box<Follower>>,
    over_time: OverTime,
    planes: Option<Box<PlaneRecorder>>,
    /// With the channel of each die.
    tape: Option<Box<(Tape, Vec<u32>)>>,
}

impl<const WATCHES: bool> Told for RunProbe<WATCHES> {
    fn new(member: DeviceId, geometry: &Geometry, wanted: Wanted<'_>) -> Self {
        let recorder = || Box::new(PlaneRecorder::new(geometry.dies(), geometry.planes_per_die));
        let follower = wanted.follows.map(|switch| {
            let mut follower = Box::new(Follower::new(geometry.dies(), switch));
            if let Some(window) = wanted.tape {
                follower.keep(window.from, window.until);
            }
            follower
        });
        let channels = || (0..geometry.dies()).map(|die| geometry.channel_of(die)).collect();
        RunProbe {
            member,
            wants_levels: wanted.levels,
            checks: wanted.checks,
            follower,
            over_time: OverTime::new(geometry.channels as usize),
            planes: (wanted.planes && member == DeviceId(0)).then(recorder),
            tape: wanted.tape.map(|window| Box::new((Tape::new(geometry.dies(), window), channels()))),
        }
    }

    fn over_time(&self, end: SimTime) -> OverTimeReport {
        if self.wants_levels { self.over_time.report(end) } else { OverTimeReport::default() }
    }

    fn planes(&self) -> Option<MemberPlanes> {
        let dies = self.planes.as_ref()?.finish();
        Some(MemberPlanes { member: self.member, dies })
    }

    fn taped(&self) -> Option<MemberTape> {
        let (tape, channels) = self.tape.as_deref()?;
        let collections = self.follower.as_ref().map_or_else(Vec::new, |follower| follower.kept());
        Some(tape.told(self.member, channels.clone(), collections))
    }
}

impl<const WATCHES: bool> Probe for RunProbe<WATCHES> {
    #[inline]
    fn audits(&self) -> bool {
        WATCHES && self.checks
    }

    #[inline]
    fn watches_planes(&self) -> bool {
        let is_told = self.planes.is_some() || self.tape.is_some() || self.follower.is_some();
        WATCHES && (is_told || self.checks)
    }

    #[inline]
    fn watches_levels(&self) -> bool {
        WATCHES
    }

    #[inline]
    fn follower(&mut self) -> Option<&mut Follower> {
        if WATCHES { self.follower.as_deref_mut() } else { None }
    }

    #[inline]
    fn followed(&self) -> Option<&Follower> {
        if WATCHES { self.follower.as_deref() } else { None }
    }

    #[inline]
    fn program(&mut self, to: FlashPage, _: Lpn, _: IoCause, origin: Option<Origin>) {
        if let Some((follower, origin)) = self.follower().zip(origin) {
            follower.touches(origin.token, origin.page, to.unit, to.ppn);
        }
    }

    #[inline]
    fn read(&mut self, from: Option<FlashPage>, _: Lpn, origin: Origin) {
        if let Some((follower, from)) = self.follower().zip(from) {
            follower.touches(origin.token, origin.page, from.unit, from.ppn);
        }
    }

    fn works(&mut self, at: SimTime, die: u32, plane: Option<u32>, work: PlaneWork) {
        if let Some(recorder) = &mut self.planes {
            recorder.works(at, die, plane, work);
        }
        if let Some(tape) = &mut self.tape {
            tape.0.works(at, die, plane, work);
        }
    }

    fn stops(&mut self, at: SimTime, die: u32) {
        if let Some(recorder) = &mut self.planes {
            recorder.stops(at, die);
        }
        if let Some(tape) = &mut self.tape {
            tape.0.stops(at, die);
        }
    }

    fn suspends(&mut self, at: SimTime, die: u32) {
        if let Some(recorder) = &mut self.planes {
            recorder.suspends(at, die);
        }
        if let Some(tape) = &mut self.tape {
            tape.0.suspends(at, die);
        }
    }

    fn waits(&mut self, at: SimTime, die: u32, operations: u32) {
        if let Some(recorder) = &mut self.planes {
            recorder.waits(at, die, operations);
        }
    }

    #[inline]
    fn levels(&mut self, at: SimTime, levels: &Levels) {
        self.over_time.levels(at, levels);
    }

    fn window(&mut self, from: SimTime) {
        self.over_time.window(from);
        if let Some(recorder) = &mut self.planes {
            recorder.window(from);
        }
    }
}
