//! Hooks on every touch of flash: content tags for checking, real bytes for a live device, observers for metrics.
//!
//! A probe is a type parameter, so the default [`NoProbe`] costs nothing. A device is compiled for each type, which takes seconds:
//! tests share [`AnyProbe`], whose devices [`crate::compiled`] has.

use std::any::Any;

use harmonia_types::{IoCause, Levels, Lpn, PlaneWork, Ppn, SimTime};

use crate::follow::Follower;

/// A physical page or block of a device: allocation unit and page (or block) inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlashPage {
    /// Allocation unit of the device.
    pub unit: u32,
    /// Page inside it.
    pub ppn: Ppn,
}

/// Which page of which sub-request an operation serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The sub-request's token.
    pub token: u64,
    /// Page of the sub-request, counted from 0.
    pub page: u32,
}

impl Origin {
    /// The token of no sub-request: pages of the map of a drive that does not hold it in memory have it.
    pub const MAP: u64 = u64::MAX;

    /// What a drive reads and writes of its map: this logical page of an allocation unit.
    pub(crate) fn of_map(lpn: u32) -> Origin {
        Origin { token: Origin::MAP, page: lpn }
    }
}

/// Observes what happens to flash. All methods do nothing unless overridden; none can change anything.
///
/// What it wants must not change while a device runs.
pub trait Probe: Send + Any {
    /// Whether it has the device check its own invariants after every event (slow; tests).
    #[inline]
    fn audits(&self) -> bool {
        false
    }
    /// Whether `works`, `stops`, `suspends` and `waits` are called: what a die's planes do is then looked up at every command.
    #[inline]
    fn watches_planes(&self) -> bool {
        false
    }
    /// Whether `levels` is called: how a die stands is then looked up after each of its events.
    #[inline]
    fn watches_levels(&self) -> bool {
        false
    }
    /// Who follows single pages, if anybody does: what it is told is looked up for it.
    #[inline]
    fn follower(&mut self) -> Option<&mut Follower> {
        None
    }
    /// The same, to be asked.
    #[inline]
    fn followed(&self) -> Option<&Follower> {
        None
    }
    /// Data of `lpn` is programmed for a host (or parity) write. `origin` is `None` while ageing.
    #[inline]
    fn program(&mut self, _to: FlashPage, _lpn: Lpn, _cause: IoCause, _origin: Option<Origin>) {}
    /// The old data of `lpn` is read to fill up a write of part of a page; its `program` follows at once.
    #[inline]
    fn merge(&mut self, _from: FlashPage, _lpn: Lpn, _origin: Origin) {}
    /// Data of `lpn` enters this slot of the write cache; over what the slot holds, if it `absorbs`.
    #[inline]
    fn admit(&mut self, _slot: u32, _lpn: Lpn, _cause: IoCause, _origin: Origin, _absorbs: bool) {}
    /// The data of a slot is about to be programmed; its `program` follows at once.
    #[inline]
    fn drain(&mut self, _slot: u32, _lpn: Lpn) {}
    /// `lpn` is declared unused, and its latest data was in the cache: that is dropped. Its `trim` follows when flash has dropped it, too.
    #[inline]
    fn discard(&mut self, _lpn: Lpn) {}
    /// Power was lost, and with it what a slot holds, or the news that `lpn` is unused, of which flash has not heard.
    #[inline]
    fn lose(&mut self, _slot: u32, _lpn: Lpn) {}
    /// A host reads `lpn` from a slot of the write cache.
    #[inline]
    fn answer(&mut self, _slot: u32, _lpn: Lpn, _origin: Origin) {}
    /// A host reads `lpn` from what a write has brought that waits for a slot.
    #[inline]
    fn answer_in_line(&mut self, _lpn: Lpn, _written: Origin, _origin: Origin) {}
    /// Garbage collection moves the live data of `lpn`.
    #[inline]
    fn copy(&mut self, _from: FlashPage, _to: FlashPage, _lpn: Lpn) {}
    /// The data of `lpn` is read for a host; `None` if it was never written or trimmed.
    #[inline]
    fn read(&mut self, _from: Option<FlashPage>, _lpn: Lpn, _origin: Origin) {}
    /// `lpn` is declared unused.
    #[inline]
    fn trim(&mut self, _lpn: Lpn) {}
    /// A block of `unit` is erased.
    #[inline]
    fn erase(&mut self, _unit: u32, _block: u32) {}
    /// A plane of a die begins to work in a command; `None` if it is not known which one does.
    #[inline]
    fn works(&mut self, _at: SimTime, _die: u32, _plane: Option<u32>, _work: PlaneWork) {}
    /// All planes of a die stop: its command has ended.
    #[inline]
    fn stops(&mut self, _at: SimTime, _die: u32) {}
    /// All planes of a die stop, for now: its command goes on when garbage collection next works.
    #[inline]
    fn suspends(&mut self, _at: SimTime, _die: u32) {}
    /// So many host operations wait at a die now.
    #[inline]
    fn waits(&mut self, _at: SimTime, _die: u32, _operations: u32) {}
    /// How the device stands from now on: called after events that changed something.
    #[inline]
    fn levels(&mut self, _at: SimTime, _levels: &Levels) {}
    /// The same, where only the depth of the queue is another one than was told last.
    #[inline]
    fn queue(&mut self, at: SimTime, levels: &Levels) {
        self.levels(at, levels);
    }
    /// The measured window begins.
    #[inline]
    fn window(&mut self, _from: SimTime) {}
}

/// Observes nothing, costs nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProbe;

impl Probe for NoProbe {}

/// Observes nothing, but has the device check its invariants after every event.
#[derive(Debug, Clone, Copy, Default)]
pub struct AuditProbe;

impl Probe for AuditProbe {
    #[inline]
    fn audits(&self) -> bool {
        true
    }
}

/// Any probe at all, at the cost of a call for everything it hears.
pub type AnyProbe = Box<dyn Probe>;

/// This probe, as any.
pub fn any(probe: impl Probe) -> AnyProbe {
    Box::new(probe)
}

/// The probe of a device, as what it is.
///
/// # Panics
/// If it is none of that type.
pub fn probe_as<P: Probe>(probe: &AnyProbe) -> &P {
    let probe: &dyn Any = &**probe;
    probe.downcast_ref().expect("a probe of this type")
}

impl Probe for AnyProbe {
    fn audits(&self) -> bool {
        (**self).audits()
    }
    fn watches_planes(&self) -> bool {
        (**self).watches_planes()
    }
    fn watches_levels(&self) -> bool {
        (**self).watches_levels()
    }
    fn follower(&mut self) -> Option<&mut Follower> {
        (**self).follower()
    }
    fn followed(&self) -> Option<&Follower> {
        (**self).followed()
    }
    fn program(&mut self, to: FlashPage, lpn: Lpn, cause: IoCause, origin: Option<Origin>) {
        (**self).program(to, lpn, cause, origin);
    }
    fn merge(&mut self, from: FlashPage, lpn: Lpn, origin: Origin) {
        (**self).merge(from, lpn, origin);
    }
    fn admit(&mut self, slot: u32, lpn: Lpn, cause: IoCause, origin: Origin, absorbs: bool) {
        (**self).admit(slot, lpn, cause, origin, absorbs);
    }
    fn drain(&mut self, slot: u32, lpn: Lpn) {
        (**self).drain(slot, lpn);
    }
    fn discard(&mut self, lpn: Lpn) {
        (**self).discard(lpn);
    }
    fn lose(&mut self, slot: u32, lpn: Lpn) {
        (**self).lose(slot, lpn);
    }
    fn answer(&mut self, slot: u32, lpn: Lpn, origin: Origin) {
        (**self).answer(slot, lpn, origin);
    }
    fn answer_in_line(&mut self, lpn: Lpn, written: Origin, origin: Origin) {
        (**self).answer_in_line(lpn, written, origin);
    }
    fn copy(&mut self, from: FlashPage, to: FlashPage, lpn: Lpn) {
        (**self).copy(from, to, lpn);
    }
    fn read(&mut self, from: Option<FlashPage>, lpn: Lpn, origin: Origin) {
        (**self).read(from, lpn, origin);
    }
    fn trim(&mut self, lpn: Lpn) {
        (**self).trim(lpn);
    }
    fn erase(&mut self, unit: u32, block: u32) {
        (**self).erase(unit, block);
    }
    fn works(&mut self, at: SimTime, die: u32, plane: Option<u32>, work: PlaneWork) {
        (**self).works(at, die, plane, work);
    }
    fn stops(&mut self, at: SimTime, die: u32) {
        (**self).stops(at, die);
    }
    fn suspends(&mut self, at: SimTime, die: u32) {
        (**self).suspends(at, die);
    }
    fn waits(&mut self, at: SimTime, die: u32, operations: u32) {
        (**self).waits(at, die, operations);
    }
    fn levels(&mut self, at: SimTime, levels: &Levels) {
        (**self).levels(at, levels);
    }
    fn queue(&mut self, at: SimTime, levels: &Levels) {
        (**self).queue(at, levels);
    }
    fn window(&mut self, from: SimTime) {
        (**self).window(from);
    }
}
