//! How long what waits at a die, and what its collection has to do next, would take: for schedules that weigh one
//! against the other.
//!
//! Array and transfer times, as if bus and link were free. Not estimated: the transfers of other dies to come, the queue
//! at the link, summary pages, several planes in one command; and a read is taken to be of a page that was written.

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
        let (timing, none) = (&self.timing, SimDuration::ZERO);
        let work = |array, transfer| Work { array, transfer, link: none };
        let leaves_plane = job.is_none_or(|job| job.source_plane != job.destination.0);
        match job.map_or(GcPhase::Read, |job| job.phase) {
            GcPhase::Read if self.global || self.is_far(leaves_plane) => work(timing.read, timing.transfer),
            // The page stays in the plane's register, and its program follows at once.
            GcPhase::Read => work(timing.read + timing.program, none),
            GcPhase::Program => work(timing.program, timing.transfer),
            GcPhase::Erase => work(timing.erase, none),
            GcPhase::Choose | GcPhase::Away => Work::default(),
        }
    }

    fn host_work(&self, kind: OpKind) -> Work {
        let (timing, none) = (&self.timing, SimDuration::ZERO);
        let work = |array, transfer| Work { array, transfer, link: none };
        match kind {
            OpKind::Read => Work { link: self.link_page, ..work(timing.read, timing.transfer) },
            OpKind::Write => work(timing.program, timing.transfer),
            OpKind::PartialWrite => work(timing.read + timing.program, timing.transfer * 2),
            OpKind::Trim => Work::default(),
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
