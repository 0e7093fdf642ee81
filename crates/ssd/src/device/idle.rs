//! Collecting in idle time: a forced event that gives way to the host, one victim at a time.
//!
//! ```text
//! FORCE_GC(all reserve)      an operation enters any queue of the device
//!        |                                  |
//!        [ victim ][ victim ][ victim .......]  every die stops at its own victim boundary
//! ```
//!
//! Source: paper A (IEEE TC 2012, section 4.3.2): a device "starts generating free blocks until the number of free
//! blocks reaches the total reserved free blocks (i.e. maximum number of free blocks) or until there is an incoming I/O
//! request in the queue". Ours: that the victim under way is finished first; that victims come from the unit of the die
//! with the fewest free blocks; that a device which has operations when the directive arrives does nothing.
//!
//! Background work of the array is not the host: it neither keeps such a collection from beginning nor ends it. At a die
//! that collects it waits, until the collection is over or the schedule lets operations go between its steps. So a rebuild
//! cannot keep a member from collecting in idle time, and waits for at most the reserve of each die.

use harmonia_types::SimTime;

use super::Device;
use crate::die::event::Event;
use crate::follow::Why;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// An idle-time force has arrived.
    pub(super) fn force_idle(&mut self, now: SimTime) {
        if self.serves_host() {
            return;
        }
        self.interrupted = false;
        let stop = self.rules.shape.reserved_blocks.saturating_sub(1);
        self.demand(0..self.rules.shape.dies, Event::idle(stop), Why::OrderedIdle, now);
    }

    /// Whether what a die should collect, or collects, gives way to the host.
    pub(super) fn yields(&self, die: u32) -> bool {
        self.dies[die as usize].collection.event().is_some_and(Event::yields)
    }
}
