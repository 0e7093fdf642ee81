//! Dynamic allocation, as `binding` asks for it: a write goes to the die with the shortest queue, or in the die that its number names to the plane with
//! the most free pages; chosen when its page leaves the link.
//!
//! The rule for dies, die by die in the order channel, way, die, plane, beginning behind the last one chosen: dies that neither
//! collect nor are about to first, among them the shortest queue, then the first in that order. So with idle dies it is
//! round robin. Where collection takes no time, dies that are about to collect are as good as others. Where it has a share of a die's work, dies
//! that collect are as good as others until they are at the hard threshold.
//!
//! Where a program carries several pages, the write cache hands over as many at a time, and one unit is chosen for all of them: one that has room
//! for as many live pages. If none has, each page is placed by itself.
//!
//! The rule for planes: the one with the most free pages; of equals the first behind the last one that the die wrote to. A
//! write looks when its page leaves the link, where pages that waiting writes will take do not count as free, and again when it
//! begins by itself. Then its die may have collected meanwhile, and what that won is used first.
//!
//! What binds it: operations on one page keep their order, so a write whose page has an operation waiting follows it to
//! its unit; a write of part of a page goes where the rest of the page lies; and a unit whose live pages have used up
//! all spare but what collecting needs takes no page from elsewhere. Reads and trims go where the page lies. Collected
//! pages stay in their unit.
//!
//! Source: SSDsim (Hu et al., ICS 2011), which hands writes to idle chips in round robin and serves collecting chips'
//! collection first; for planes, the MSR SSD extension of DiskSim, which chooses among the planes of an element so, but for
//! pages that its versions of blocks keep out of a plane. Ours: that a write is bound when its page leaves the link, not when a chip is idle, and therefore
//! looks at queues; the limit on live pages. Leaves out: moving data between units to even them out.

use std::collections::BTreeMap;

use harmonia_engine::EventQueue;
use harmonia_types::SimTime;

use super::Device;
use super::queue::{OpKind, PageOp};
use crate::gc::schedule::GivesWay;
use crate::probe::Probe;
use crate::shape::Shape;

/// No unit: the operation is not bound yet.
pub(super) const UNBOUND: u32 = u32::MAX;

/// What a device with dynamic allocation remembers.
#[derive(Debug, Clone)]
pub(super) struct Placement {
    /// Operations whose data is not over the link, and those behind them on the same page; in order of readiness.
    pub landing: EventQueue<PageOp>,
    /// Pages that operations wait for, begun ones not included.
    pub waiting: BTreeMap<u32, Waiting>,
    /// Live pages that each unit will have besides those it has: see [`Waiting::promised`].
    promised: Vec<u32>,
    /// Writes that wait at a die for each unit, begun ones not included.
    writes: Vec<u32>,
    /// Operations waiting at or running on each die.
    depth: Vec<u32>,
    /// Position at which the next search for a die begins. The number of units stands for position 0.
    next: u32,
    /// Where the next search for a plane of each die begins, as the die counts them.
    next_plane: Vec<u32>,
}

/// Operations that wait for a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    /// In `landing`.
    pub landing: u32,
    /// When the last of those can start.
    lands: SimTime,
    /// At a die, all at the same unit.
    pub bound: u32,
    /// Of these, writes.
    writes: u32,
    pub unit: u32,
    /// The first of its writes will add a live page to the unit: the page lies elsewhere, or nowhere.
    promised: bool,
}

impl Placement {
    pub fn new(shape: &Shape) -> Self {
        Placement {
            landing: EventQueue::default(),
            waiting: BTreeMap::new(),
            promised: vec![0; shape.units() as usize],
            writes: vec![0; shape.units() as usize],
            depth: vec![0; shape.dies as usize],
            next: 0,
            next_plane: vec![0; shape.dies as usize],
        }
    }

    /// When the next operation can be bound.
    pub fn next_landing(&self) -> SimTime {
        self.landing.next_time()
    }

    /// Operations not bound yet.
    pub fn landing(&self) -> usize {
        self.landing.len()
    }

    pub fn waiting(&mut self, lpn: u32) -> &mut Waiting {
        self.waiting.entry(lpn).or_insert(Waiting {
            landing: 0,
            lands: SimTime::ZERO,
            bound: 0,
            writes: 0,
            unit: UNBOUND,
            promised: false,
        })
    }

    /// Operations on a page that wait at a die.
    pub fn bound(&self, lpn: u32) -> u32 {
        self.waiting.get(&lpn).map_or(0, |waiting| waiting.bound)
    }

    /// Puts an operation behind everything ready no later, and behind earlier ones on the same page: no sooner than
    /// they, and of what is ready at one moment the first to come goes first.
    pub fn land_later(&mut self, mut op: PageOp) {
        let waiting = self.waiting(op.lpn);
        if waiting.landing > 0 {
            op.ready = op.ready.max(waiting.lands);
        }
        waiting.landing += 1;
        waiting.lands = op.ready;
        self.landing.push(op.ready, op);
    }

    /// An operation is bound to a unit of a die; its page lies in `home`.
    pub fn bind(&mut self, die: u32, op: &PageOp, home: Option<u32>) {
        let waiting = self.waiting(op.lpn);
        debug_assert!(waiting.bound == 0 || waiting.unit == op.unit, "operations on a page wait at one unit");
        waiting.bound += 1;
        waiting.writes += u32::from(op.kind.writes());
        waiting.unit = op.unit;
        self.writes[op.unit as usize] += u32::from(op.kind.writes());
        self.promise(op.lpn, home);
        self.depth[die as usize] += 1;
    }

    /// A bound operation begins: from now on its page lies where it writes it, or nowhere.
    pub fn begin(&mut self, op: &PageOp) {
        self.unbind(op);
        match op.kind {
            OpKind::Read => {}
            OpKind::Write | OpKind::PartialWrite => self.promise(op.lpn, Some(op.unit)),
            OpKind::Trim => self.promise(op.lpn, None),
        }
        self.forget_if_idle(op.lpn);
    }

    /// A bound operation is refused: its page stays in `home`.
    pub fn withdraw(&mut self, op: &PageOp, home: Option<u32>) {
        self.unbind(op);
        self.promise(op.lpn, home);
        self.forget_if_idle(op.lpn);
    }

    fn unbind(&mut self, op: &PageOp) {
        let waiting = self.waiting(op.lpn);
        waiting.bound -= 1;
        waiting.writes -= u32::from(op.kind.writes());
        self.writes[op.unit as usize] -= u32::from(op.kind.writes());
    }

    /// Nothing is on its way to a die any more; what was, in order of readiness.
    pub fn forget_landing(&mut self) -> Vec<PageOp> {
        let pop = || self.landing.pop_due(SimTime::NEVER).map(|(_, op)| op);
        let landing: Vec<PageOp> = std::iter::from_fn(pop).collect();
        for op in &landing {
            self.waiting(op.lpn).landing -= 1;
            self.forget_if_idle(op.lpn);
        }
        landing
    }

    fn forget_if_idle(&mut self, lpn: u32) {
        let waiting = self.waiting(lpn);
        if waiting.bound + waiting.landing == 0 {
            self.waiting.remove(&lpn);
        }
    }

    /// Counts the page among those its unit will have, or no longer.
    fn promise(&mut self, lpn: u32, home: Option<u32>) {
        let waiting = self.waiting(lpn);
        let (unit, before) = (waiting.unit as usize, waiting.promised);
        waiting.promised = waiting.writes > 0 && home != Some(waiting.unit);
        let now = waiting.promised;
        self.promised[unit] = self.promised[unit] + u32::from(now) - u32::from(before);
    }

    /// A bound operation is done.
    pub fn finish(&mut self, die: u32) {
        self.depth[die as usize] -= 1;
    }
}

impl<P: Probe> Device<P> {
    /// Whether a read must go to a die although its page is unmapped: something waits that may map it.
    pub(super) fn page_is_awaited(&self, lpn: u32) -> bool {
        self.placement.as_ref().is_some_and(|placement| placement.waiting.contains_key(&lpn))
    }

    /// Whether an operation on a page waits at a die or on its way there.
    pub(super) fn is_waited_for(&self, lpn: u32) -> bool {
        self.placement.as_ref().is_some_and(|placement| {
            placement.waiting.get(&lpn).is_some_and(|waiting| waiting.bound + waiting.landing > 0)
        })
    }

    /// The unit that an operation on a page goes to whatever the queues are; `None` for a write of a whole page for which
    /// nothing waits, and for what lies nowhere.
    fn unit_bound_to(&self, lpn: u32, is_whole_write: bool) -> Option<u32> {
        let waiting = self.placement.as_ref().and_then(|placement| placement.waiting.get(&lpn));
        let bound = waiting.filter(|waiting| waiting.bound > 0).map(|waiting| waiting.unit);
        bound.or_else(|| self.ftl.home(lpn).filter(|_| !is_whole_write))
    }

    /// The die that such an operation goes to whatever the queues are.
    pub(super) fn die_bound_to(&self, lpn: u32, is_whole_write: bool) -> Option<u32> {
        let shape = &self.rules.shape;
        if shape.names_die {
            return Some(shape.locate(lpn).0);
        }
        self.unit_bound_to(lpn, is_whole_write).map(|unit| shape.die_of(unit))
    }

    /// The unit a write should go to; `home` holds its page now.
    pub(super) fn choose_unit(&mut self, lpn: u32, home: Option<u32>) -> u32 {
        if self.rules.shape.names_die { self.roomiest(lpn, home) } else { self.soonest(home) }
    }

    /// In the die that the number of a page names, the plane with the most free pages.
    fn roomiest(&self, lpn: u32, home: Option<u32>) -> u32 {
        let shape = &self.rules.shape;
        let Some(placement) = &self.placement else { unreachable!("asked for with dynamic allocation only") };
        let die = shape.locate(lpn).0;
        let waiting = |unit: u32| (placement.writes[unit as usize], placement.promised[unit as usize]);
        let turn = placement.next_plane[die as usize];
        self.ftl.roomiest(die, turn, waiting).or(home).unwrap_or_else(|| {
            let held = |unit: &u32| self.ftl.live_pages(*unit) + placement.promised[*unit as usize];
            shape.units_of(die).min_by_key(held).unwrap_or(0)
        })
    }

    /// A write of a whole page that begins by itself chooses its plane anew, after what its die has collected meanwhile. Not
    /// if others wait for the page: they were sent to the same plane.
    #[inline]
    pub(super) fn choose_plane(&mut self, die: u32, handle: u32) {
        let Some(placement) = self.placement.as_deref() else { return };
        let op = &self.ops[handle];
        if op.kind != OpKind::Write || !self.rules.shape.names_die || placement.bound(op.lpn) > 0 {
            return;
        }
        let promised = |unit: u32| (0, placement.promised[unit as usize]);
        let roomiest = self.ftl.roomiest(die, placement.next_plane[die as usize], promised);
        if let Some(unit) = roomiest.filter(|&unit| self.ftl.has_room_to_collect(unit)) {
            self.ops[handle].unit = unit;
        }
    }

    /// When a write's page next leaves the link and its die must be chosen.
    #[inline]
    pub(super) fn next_landing(&self) -> SimTime {
        if !self.binds_late {
            return SimTime::NEVER;
        }
        match (&self.placement, &self.superblocks) {
            (Some(placement), _) => placement.next_landing(),
            (None, Some(blocks)) => blocks.next_landing(),
            (None, None) => SimTime::NEVER,
        }
    }

    /// A die writes a page of the host to a unit: of planes with equal room the next one comes first.
    #[inline]
    pub(super) fn note_plane(&mut self, die: u32, unit: u32) {
        if let Some(placement) = &mut self.placement {
            placement.next_plane[die as usize] = self.rules.shape.unit_in_die(unit).next().0;
        }
    }

    /// The unit at the die with the shortest queue.
    fn soonest(&mut self, home: Option<u32>) -> u32 {
        // If nobody has room for a page of another, it stays, or goes where there is most room.
        self.soonest_with_room(1).or(home).unwrap_or_else(|| self.least_held())
    }

    /// The unit that has the fewest live pages, or will have.
    #[cold]
    fn least_held(&self) -> u32 {
        let promised = |unit: u32| self.placement.as_ref().map_or(0, |it| it.promised[unit as usize]);
        let held = |unit: &u32| self.ftl.live_pages(*unit) + promised(*unit);
        (0..self.rules.shape.units()).min_by_key(held).unwrap_or(0)
    }

    /// The unit at the die with the shortest queue, among those that can hold so many more live pages; `None` if none can.
    pub(super) fn soonest_with_room(&mut self, pages: u32) -> Option<u32> {
        let shape = &self.rules.shape;
        let Some(placement) = &mut self.placement else {
            unreachable!("asked for with dynamic allocation only")
        };
        let most = shape.most_live.unwrap_or(0);
        // Nobody waits for a collection that takes no time.
        let avoids = self.schedule_needs.gives_way != GivesWay::Always;
        let held = |unit: u32| self.ftl.live_pages(unit) + placement.promised[unit as usize];
        let rank = |step: u32| {
            let position = (placement.next + step) % shape.units();
            let unit = shape.unit_at(position);
            let die = shape.die_of(unit);
            let slot = &self.dies[die as usize];
            let collects = if self.rules.sharing.is_some() {
                // It takes writes all the time, unless it is short of room.
                slot.collection.has_turn() && self.ftl.least_free(shape.units_of(die)) <= shape.hard
            } else {
                avoids && slot.collection.has_turn()
            };
            (held(unit) + pages <= most).then_some((collects, placement.depth[die as usize], step, position))
        };
        let (.., position) = (0..shape.units()).filter_map(rank).min()?;
        placement.next = position + 1;
        Some(shape.unit_at(position))
    }

    /// The next unit in turn that can hold so many more live pages, among those that idle.
    pub(super) fn next_idle_unit(&self, pages: u32, idles: impl Fn(u32) -> bool) -> Option<u32> {
        let (shape, placement) = (&self.rules.shape, self.placement.as_deref()?);
        let most = shape.most_live.unwrap_or(0);
        let has_room =
            |unit: u32| self.ftl.live_pages(unit) + placement.promised[unit as usize] + pages <= most;
        let in_turn = (0..shape.units()).map(|step| shape.unit_at((placement.next + step) % shape.units()));
        in_turn.filter(|&unit| idles(unit)).find(|&unit| has_room(unit))
    }

    /// The turn of a unit is over, where units take turns. [`UNBOUND`] has none.
    pub(super) fn is_chosen(&mut self, unit: u32) {
        let (shape, Some(placement)) = (&self.rules.shape, &mut self.placement) else { return };
        if let Some(position) = (0..shape.units()).find(|&position| shape.unit_at(position) == unit) {
            placement.next = position + 1;
        }
    }

    /// Checks that units are promised the pages that waiting writes will add to them.
    pub(super) fn audit_promises(&self) {
        let Some(placement) = &self.placement else { return };
        let mut promised = vec![0; placement.promised.len()];
        let mut writes = vec![0; placement.writes.len()];
        for (&lpn, waiting) in &placement.waiting {
            let adds = waiting.writes > 0 && self.ftl.home(lpn) != Some(waiting.unit);
            assert_eq!(waiting.promised, adds, "page {lpn} is promised to unit {}", waiting.unit);
            if adds {
                promised[waiting.unit as usize] += 1;
            }
            if waiting.writes > 0 {
                writes[waiting.unit as usize] += waiting.writes;
                let takes = self.rules.shape.units_for(lpn);
                assert!(takes.contains(&waiting.unit), "page {lpn} may not go to unit {}", waiting.unit);
            }
        }
        assert_eq!(promised, placement.promised, "pages promised to units");
        assert_eq!(writes, placement.writes, "writes on their way to units");
    }
}
