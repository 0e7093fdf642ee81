//! Handles of the host on their way to frontiers.
//!
//! A sub-request has a handle, and the write cache keeps it with each page. What the array writes for itself has the default one. Behind a
//! write cache that gathers programs, the frontier is chosen when a page enters the cache: each list of the cache is for one frontier.

use harmonia_types::IoCause;

use super::Device;
use super::owner::Owner;
use super::queue::PageOp;
use super::subs::SubState;
use crate::ftl::To;
use crate::probe::Probe;

impl SubState {
    /// The handle of a page that is written for a cause.
    pub fn handle_of(&self, cause: IoCause) -> u16 {
        if cause == IoCause::Host { self.handle } else { 0 }
    }
}

impl<P: Probe> Device<P> {
    /// Where a write goes.
    #[inline]
    pub(super) fn to(&self, op: &PageOp) -> To {
        if self.ftl.places() { self.place_of_write(op) } else { To::default() }
    }

    #[cold]
    fn place_of_write(&self, op: &PageOp) -> To {
        let to = self.ftl.to(op.unit, op.lpn, self.handle_of(op));
        match op.owner.get() {
            Owner::Cache(slot) if self.rules.shape.packing.packs() || self.rules.shape.joins() => {
                To { frontier: (self.list_in_cache(slot) % self.ftl.host_frontiers()) as u8, ..to }
            }
            Owner::Host(_) | Owner::Cache(_) | Owner::Map(_) => to,
        }
    }

    fn handle_of(&self, op: &PageOp) -> u16 {
        match op.owner.get() {
            Owner::Host(sub) => self.subs[sub].handle_of(op.cause),
            Owner::Cache(slot) => self.handle_in_cache(slot),
            Owner::Map(_) => 0,
        }
    }

    /// A page is about to be written.
    #[cold]
    pub(super) fn note_handle(&mut self, op: &PageOp) {
        let is_known = self.ftl.knows_handle(self.handle_of(op));
        self.counters.unknown_handle_pages += u64::from(!is_known);
    }
}
