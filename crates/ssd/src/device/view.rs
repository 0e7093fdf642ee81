//! A die's queue and frontiers as schedules and victims see them.

use harmonia_types::SimTime;

use super::Device;
use super::index::Index;
use super::lanes::{self, Lanes};
use super::owner::Owner;
use super::queue::{OpKind, PageOp};
use super::rules::Rules;
use super::subs::SubState;
use crate::die::Die;
use crate::die::command::{NO_OP, Paused};
use crate::ftl::Ftl;
use crate::gc::schedule::{Class, DieQueues, GcJob, HostToken, Queued, Work};
use crate::gc::victim::QueuedReads;
use crate::probe::Probe;
use crate::slab::Slab;

/// A die's queue and frontiers as schedules and victims see them.
pub(super) struct QueueView<'a> {
    pub die: &'a Die,
    pub index: u32,
    pub ops: &'a Slab<PageOp>,
    pub subs: &'a Slab<SubState>,
    pub rules: &'a Rules,
    pub lanes: Option<&'a Lanes>,
    pub indexed: Option<&'a Index>,
    pub ftl: &'a Ftl,
}

impl QueueView<'_> {
    #[inline]
    pub fn queued(&self, handle: u32) -> Queued {
        let op = &self.ops[handle];
        let deadline = self.rules.deadlines.then(|| self.deadline(op));
        Queued { token: HostToken(handle), class: op.kind.class(), ready: op.ready, deadline }
    }

    /// When an operation should be done: what the drive writes for itself, as soon as what has no deadline of its own.
    fn deadline(&self, op: &PageOp) -> SimTime {
        match op.owner.get() {
            Owner::Host(sub) => self.subs[sub].deadline,
            Owner::Cache(_) | Owner::Map(_) => op.ready + self.rules.slack,
        }
    }

    /// What the host gets served next: the head of the queue; where reads go first, the first of those that could start.
    #[inline]
    pub fn head(&self, now: SimTime, reads_first: bool) -> Option<Queued> {
        if self.die.head == NO_OP {
            return None;
        }
        let first = if reads_first { self.first_in(Class::Read, |op| op.ready <= now) } else { None };
        first.or_else(|| (self.die.head != NO_OP).then(|| self.queued(self.die.head)))
    }

    /// The first read of the host that could start now, though the command that runs is a program.
    pub fn host_read(&self, now: SimTime) -> Option<HostToken> {
        let runs = |op: &PageOp| self.die.running_ops().any(|other| self.ops[other].is_on(op.unit, op.lpn));
        let is_background = |op: &PageOp| !op.owner.is_map() && self.subs[op.owner.sub()].background;
        let is_due = |op: &PageOp| op.ready <= now && !is_background(op) && !runs(op);
        self.first_in(Class::Read, is_due).map(|read| read.token)
    }

    /// When the next read is ready of those that are on their way.
    pub fn read_after(&self, now: SimTime) -> Option<SimTime> {
        let reads = self.units().flat_map(|unit| self.lane(unit, Class::Read));
        reads.map(|(_, op)| op.ready).filter(|&ready| ready > now).min()
    }

    /// Whether reads wait, or are on their way.
    pub fn has_reads(&self) -> bool {
        self.units().any(|unit| self.lane(unit, Class::Read).next().is_some())
    }

    pub fn units(&self) -> std::ops::Range<u32> {
        self.ftl.shape().lanes_of(self.index)
    }

    /// The first operation of a class that is wanted and could go next.
    fn first_in(&self, class: Class, wanted: impl Fn(&PageOp) -> bool) -> Option<Queued> {
        let first = |unit| self.first_of(unit, class, &wanted);
        let found = self
            .units()
            .filter_map(first)
            .min_by_key(|&handle| (self.ops[handle].ready, self.ops[handle].order));
        found.map(|handle| self.queued(handle))
    }

    /// The first operation of a unit and class that is wanted and could go next: no earlier one on its LPN waits, nor
    /// is one suspended.
    fn first_of(&self, unit: u32, class: Class, wanted: impl Fn(&PageOp) -> bool) -> Option<u32> {
        let could = |op: &PageOp| !op.follows && !self.is_held_up(op);
        let mut lane = self.lane(unit, class);
        lane.find(|(_, op)| could(op) && wanted(op)).map(|(handle, _)| handle)
    }

    #[inline]
    pub fn lane(&self, unit: u32, class: Class) -> impl Iterator<Item = (u32, &PageOp)> {
        let head = self.lanes.map_or(NO_OP, |lanes| lanes.head(unit, class));
        lanes::from(head, self.ops)
    }

    /// Whether any operation of a class waits for a plane.
    pub fn waits_for(&self, plane: u32, class: Class) -> bool {
        let unit = self.unit_of_plane(plane);
        let one_unit = self.ftl.shape().units_per_die == 1;
        self.lane(unit, class).any(|(_, op)| match class {
            Class::Read if one_unit => self.place(op).is_some_and(|place| place.0 == plane),
            _ => true,
        })
    }

    /// Whether a write of a part of a page could go to a plane next, but for the rest of its page.
    pub fn partial_write_waits(&self, plane: u32) -> bool {
        let is_partial = |op: &PageOp| op.kind == OpKind::PartialWrite;
        self.first_of(self.unit_of_plane(plane), Class::Write, is_partial).is_some()
    }

    /// Whether all reads that wait for a plane could start.
    pub fn all_ready(&self, plane: u32, now: SimTime) -> bool {
        let unit = self.unit_of_plane(plane);
        let last = self.lanes.and_then(|lanes| lanes.last(unit, Class::Read));
        last.is_none_or(|last| self.ops[last].ready <= now)
    }

    /// Whether an operation waits for a suspended program of its page. Where a program carries several units none does: a write cache
    /// has what the host wrote, and the source of a copy is erased when all of its copies are programmed.
    fn is_held_up(&self, op: &PageOp) -> bool {
        let programs = |paused: &Paused| {
            let mut hosts = paused.parts.iter().filter(|part| part.op != NO_OP);
            paused.moves == Some((op.unit, op.lpn))
                || hosts.any(|part| self.ops[part.op].is_on(op.unit, op.lpn))
        };
        !self.rules.shape.packing.packs() && self.die.paused.as_deref().is_some_and(programs)
    }

    /// Plane and page offset of the data a read asks for.
    fn place(&self, op: &PageOp) -> Option<(u32, u32)> {
        let (block, page) = self.ftl.lookup(op.unit, op.lpn)?;
        Some((self.ftl.plane_of(op.unit, block), page))
    }

    fn unit_of_plane(&self, plane: u32) -> u32 {
        let units = self.ftl.shape().units_per_die;
        self.index * units + if units == 1 { 0 } else { plane }
    }
}

impl DieQueues for QueueView<'_> {
    fn len(&self, class: Class) -> usize {
        self.units().map(|unit| self.lane(unit, class).count()).sum()
    }

    fn first(&self, class: Class) -> Option<Queued> {
        self.first_in(class, |_| true)
    }

    fn find_read(&self, plane: u32, page: u32) -> Option<Queued> {
        let unit = self.unit_of_plane(plane);
        self.first_of(unit, Class::Read, |op| self.place(op) == Some((plane, page)))
            .map(|handle| self.queued(handle))
    }

    fn first_write(&self, plane: u32) -> Option<Queued> {
        let unit = self.unit_of_plane(plane);
        self.first_of(unit, Class::Write, |op| op.kind == OpKind::Write).map(|handle| self.queued(handle))
    }

    fn find_partial_write(&self, plane: u32, page: u32) -> Option<Queued> {
        let lies_there =
            |op: &PageOp| op.kind == OpKind::PartialWrite && self.place(op) == Some((plane, page));
        self.first_of(self.unit_of_plane(plane), Class::Write, lies_there).map(|handle| self.queued(handle))
    }

    fn can_write_at(&self, plane: u32, page: u32) -> bool {
        let unit = self.unit_of_plane(plane);
        let block = self.ftl.host_page_at(unit, page);
        // Nobody looks at the unit's thresholds before a write that goes along, so it leaves room to collect a block.
        block.is_some_and(|block| self.ftl.plane_of(unit, block) == plane)
            && self.ftl.has_room_to_collect(unit)
    }

    fn place_of(&self, token: HostToken) -> Option<(u32, u32)> {
        let op = &self.ops[token.0];
        match op.kind {
            OpKind::Read => self.place(op),
            OpKind::Write => {
                let (block, page) = self.ftl.next_host_page(op.unit)?;
                Some((self.ftl.plane_of(op.unit, block), page))
            }
            OpKind::PartialWrite | OpKind::Trim => None,
        }
    }

    fn on_moving_page(&self, job: &GcJob) -> Option<Queued> {
        let packs = self.rules.shape.packing.packs();
        if packs || self.rules.by_parts || self.die.waiting == 0 || !self.units().contains(&job.unit) {
            return None;
        }
        let lpn = self.ftl.lpn_at(job.unit, job.victim, job.cursor)?;
        self.indexed.and_then(|indexed| indexed.last_on(job.unit, lpn, self.ops))?;
        let same = |op: &PageOp| op.is_on(job.unit, lpn) && matches!(op.kind, OpKind::Read | OpKind::Write);
        let first = |class| self.first_of(job.unit, class, same);
        first(Class::Read).or_else(|| first(Class::Write)).map(|handle| self.queued(handle))
    }

    fn each_waiting(&self, visit: &mut dyn FnMut(Queued, Work) -> bool) {
        self.visit_waiting(visit);
    }

    fn step(&self, job: Option<&GcJob>) -> Work {
        self.rules.step(job)
    }
}

impl QueuedReads for QueueView<'_> {
    fn for_each(&self, visit: &mut dyn FnMut(u32, u32)) {
        for (_, op) in self.units().flat_map(|unit| self.lane(unit, Class::Read)) {
            if let Some((plane, page)) = self.place(op) {
                visit(plane, page);
            }
        }
    }
}

impl QueueView<'_> {
    /// Visits the operations in the order of service, as long as `visit` says to go on.
    pub fn visit_waiting(&self, visit: &mut dyn FnMut(Queued, Work) -> bool) {
        let mut go_on = |handle| visit(self.queued(handle), self.rules.host_work(self.ops[handle].kind));
        if self.rules.reads_first {
            _ = self.in_class(Class::Read).chain(self.in_class(Class::Write)).all(go_on);
        } else {
            _ = self.in_order().all(&mut go_on);
        }
    }

    fn in_order(&self) -> impl Iterator<Item = u32> {
        let some = |handle| (handle != NO_OP).then_some(handle);
        std::iter::successors(some(self.die.head), move |&handle| some(self.ops[handle].next))
    }

    /// The waiting operations of a class in order of readiness.
    fn in_class(&self, class: Class) -> impl Iterator<Item = u32> {
        let head_and_rest = |unit| {
            let mut lane = self.lane(unit, class);
            (lane.next(), lane)
        };
        let mut lanes: Vec<_> = self.units().map(head_and_rest).collect();
        std::iter::from_fn(move || {
            let heads = lanes.iter_mut().filter_map(|lane| {
                let (_, op) = lane.0?;
                Some(((op.ready, op.order), lane))
            });
            let (_, (head, rest)) = heads.min_by_key(|(turn, _)| *turn)?;
            std::mem::replace(head, rest.next()).map(|(handle, _)| handle)
        })
    }
}

impl<P: Probe> Device<P> {
    /// A die's queue as policies see it.
    #[inline]
    pub(super) fn queues(&self, die: u32) -> QueueView<'_> {
        let (slot, lanes, indexed) = (&self.dies[die as usize], self.lanes.as_deref(), self.index.as_deref());
        let (ops, subs, rules) = (&self.ops, &self.subs, &self.rules);
        QueueView { die: slot, index: die, ops, subs, rules, lanes, indexed, ftl: &self.ftl }
    }
}
