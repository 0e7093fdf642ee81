//! How long what waits at a die, and what its collection has to do next, would take: for schedules that weigh one
//! against the other.
//!
//! A transfer is taken to wait for one transfer of every other die on its bus: with a bus that serves first come, first
//! served it never waits longer. Not estimated: priorities on the bus, the queue at the link, summary pages, several planes
//! in one command; and a read is taken to be of a page that was written.

use harmonia_flash::Copyback;
use harmonia_types::SimDuration;

use super::Rules;
use super::die::NO_OP;
use super::queue::{OpKind, QueueView};
use crate::gc::schedule::{Class, GcJob, GcPhase, Queued, Work};

impl Rules {
    /// Whether a page that leaves its plane, or does not, goes over the bus.
    pub fn is_far(&self, leaves_plane: bool) -> bool {
        match self.timing.copyback {
            Copyback::Die => false,
            Copyback::Plane => leaves_plane,
            Copyback::None => true,
        }
    }

    /// The step of a collection that is due, or the first one of an event yet to begin.
    pub fn step(&self, job: Option<&GcJob>) -> Work {
        let timing = &self.timing;
        let leaves_plane = job.is_none_or(|job| job.source_plane != job.destination.0);
        let die = match job.map_or(GcPhase::Read, |job| job.phase) {
            GcPhase::Read if self.global || self.is_far(leaves_plane) => timing.read + self.bus_turn(),
            // The page stays in the plane's register, and its program follows at once.
            GcPhase::Read => timing.read + timing.program,
            GcPhase::Program => timing.program + self.bus_turn(),
            GcPhase::Erase => timing.erase,
            GcPhase::Choose | GcPhase::Away => SimDuration::ZERO,
        };
        Work { die, link: SimDuration::ZERO }
    }

    fn host_work(&self, kind: OpKind) -> Work {
        let timing = &self.timing;
        let die = match kind {
            OpKind::Read => timing.read + self.bus_turn(),
            OpKind::Write => timing.program + self.bus_turn(),
            OpKind::PartialWrite => timing.read + timing.program + self.bus_turn() * 2,
            OpKind::Trim => SimDuration::ZERO,
        };
        let link = if kind == OpKind::Read { self.link_page } else { SimDuration::ZERO };
        Work { die, link }
    }

    /// A transfer, behind one of every other die on its bus.
    fn bus_turn(&self) -> SimDuration {
        let geometry = &self.geometry;
        let on_bus = if geometry.own_pins { 1 } else { geometry.chips_per_channel * geometry.dies_per_chip };
        self.timing.transfer * u64::from(on_bus)
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
