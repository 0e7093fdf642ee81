//! What a planner that displaces units needs of the controller: drains that let go on what has begun, and idle time.
//!
//! ```text
//! planned        reserved       second step      drained
//!    | reads, writes |  goes through   |  done      |
//! ```
//!
//! A plan is made for the members as they were. Its later steps begin when its reads are done, and a member may have been
//! reserved by then. Where the policy displaces ([`crate::coordination::Coordinator::displaces`]) such operations are
//! *promised*: a reserved member takes them, and is drained when they are done, too. A new plan goes around it.
//!
//! Displaced units are brought home one transaction at a time, while no request is under way and no member is reserved.

use harmonia_ssd::probe::Probe;
use harmonia_types::{DeviceId, SimTime};

use super::messages::Message;
use super::payload::Payload;
use super::{Access, Array};
use crate::planner::Transaction;

/// What has been promised, and what goes on in idle time.
#[derive(Debug, Clone)]
pub(super) struct Tidying {
    /// By member: operations of plans under way that are yet to begin.
    promised: Vec<u32>,
    is_under_way: bool,
}

impl Tidying {
    /// Nothing promised to so many members.
    pub fn new(members: usize) -> Self {
        Tidying { promised: vec![0; members], is_under_way: false }
    }

    /// Whether a member has been promised operations that are yet to begin.
    pub fn has_promised(&self, device: usize) -> bool {
        self.promised.get(device).is_some_and(|&promised| promised > 0)
    }

    /// What has been promised never begins. What that was.
    pub fn lose_power(&mut self) -> Tidying {
        let members = self.promised.len();
        std::mem::replace(self, Tidying::new(members))
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Promises an operation of a later step to its member. `false` if it has to take its chance.
    pub(super) fn promise(&mut self, device: DeviceId) -> bool {
        let is_open = self.members.health.access(device) == Access::Open;
        let Some(tidying) = self.tidying.as_deref_mut().filter(|_| is_open) else { return false };
        tidying.promised[device.index()] += 1;
        true
    }

    /// An operation that was promised begins, or never will.
    pub(super) fn keep_promise(&mut self, device: DeviceId) {
        if let Some(tidying) = self.tidying.as_deref_mut() {
            tidying.promised[device.index()] -= 1;
        }
    }

    /// The array may be idle from `at` on.
    #[inline]
    pub(super) fn may_tidy(&mut self, at: SimTime) {
        if self.tidying.is_some() && self.requests.live() == 0 {
            self.agenda.push(at, Message::Tidy);
        }
    }

    /// What is brought home now, if nobody wants anything: it is about to begin.
    #[must_use = "it has to be begun"]
    #[cold]
    pub(super) fn tidy(&mut self, now: SimTime) -> Option<Transaction> {
        let is_free = self.requests.live() == 0 && !self.members.health.reserves();
        let tidying = self.tidying.as_deref_mut().filter(|tidying| is_free && !tidying.is_under_way)?;
        let look = self.members.look(self.nvram.as_deref(), now);
        let transaction = self.planner.tidies()?.tidy(&self.members.view(&look))?;
        tidying.is_under_way = true;
        Some(transaction)
    }

    /// A member may be used again: what the planner has left to do there.
    #[cold]
    pub(super) fn sweep(&mut self, now: SimTime) -> Option<Transaction> {
        self.tidying.as_deref()?;
        let look = self.members.look(self.nvram.as_deref(), now);
        self.planner.tidies()?.sweep(&self.members.view(&look))
    }

    /// A transaction of idle time is done.
    #[cold]
    pub(super) fn is_tidied(&mut self, now: SimTime) {
        if let Some(tidying) = self.tidying.as_deref_mut() {
            tidying.is_under_way = false;
        }
        self.may_tidy(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_promised_or_under_way_after_a_loss_of_power() {
        let mut tidying = Tidying { promised: vec![0, 2], is_under_way: true };
        let lost = tidying.lose_power();
        assert!(lost.has_promised(1) && !lost.has_promised(0) && !lost.has_promised(7));
        assert!(!tidying.has_promised(1) && !tidying.is_under_way);
    }
}
