//! The next victim of an event, as the die's units and the reads that wait there show it to a victim policy.

use harmonia_types::SimTime;

use super::Device;
use crate::block::BlockId;
use crate::die::event::{Event, Units};
use crate::ftl::Ftl;
use crate::gc::victim::{QueuedReads, Victim};
use crate::probe::Probe;
use crate::shape::UnitOfDie;

impl<P: Probe> Device<P> {
    /// Asks an event for its next victim. `sees_reads`: a victim policy that looks at the reads which wait may do so.
    pub(super) fn next_victim(
        &mut self,
        die: u32,
        event: &mut Event,
        sees_reads: bool,
        now: SimTime,
    ) -> Option<(UnitOfDie, BlockId)> {
        // A choice borrows the whole mapping state, so the queue is looked at through a copy of what it asks for.
        let mut reads = Snapshot(std::mem::take(&mut self.queued_reads));
        reads.0.clear();
        if sees_reads && self.victim.uses_reads() {
            let queues = self.queues(die);
            QueuedReads::for_each(&queues, &mut |plane, page| reads.0.push((plane, page)));
        }
        let (ftl, victim) = (&mut self.ftl, &*self.victim);
        let mut units = DieUnits { ftl, victim, reads: &reads, die, now };
        let next = event.next_victim(&mut units, self.interrupted);
        self.queued_reads = reads.0;
        next
    }
}

/// Queued reads copied out of the queue.
struct Snapshot(Vec<(u32, u32)>);

impl QueuedReads for Snapshot {
    fn for_each(&self, visit: &mut dyn FnMut(u32, u32)) {
        for &(plane, page) in &self.0 {
            visit(plane, page);
        }
    }
}

/// The units of a die, as an event asks about them.
pub(super) struct DieUnits<'a> {
    pub ftl: &'a mut Ftl,
    pub victim: &'a dyn Victim,
    pub reads: &'a dyn QueuedReads,
    pub die: u32,
    pub now: SimTime,
}

impl DieUnits<'_> {
    fn number(&self, unit: UnitOfDie) -> u32 {
        self.ftl.shape().unit(self.die, unit)
    }
}

impl Units for DieUnits<'_> {
    fn count(&self) -> u32 {
        self.ftl.shape().units_per_die
    }

    fn free(&self, unit: UnitOfDie) -> u32 {
        self.ftl.free_blocks(self.number(unit))
    }

    fn most_invalid(&self) -> UnitOfDie {
        let unit = self.ftl.most_invalid(self.ftl.shape().units_of(self.die)).1;
        self.ftl.shape().unit_in_die(unit)
    }

    fn choose(&mut self, unit: UnitOfDie) -> Option<BlockId> {
        let unit = self.number(unit);
        self.ftl.unit(unit).choose(self.victim, self.reads, self.now)
    }
}
