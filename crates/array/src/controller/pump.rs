//! The pump: what is ready is handed to members, and what devices have done is dealt with, one after the other.
//!
//! ```text
//! somebody lets a transaction go on ─► ready ─► handed over ─► its device has done or refused something at once?
//!                                        ▲                        │ yes: dealt with before the next is handed over
//!                                        └── patch, new plan ◄────┘
//! ```
//!
//! What is handed over while outcomes are dealt with, because a device has refused something, has its own outcomes wait behind them.
//! Planning and refusals say what is ready and return; gates say who goes. So they know nothing of devices, nor of one another
//! through them. Whoever lets something go on calls [`Array::carry_out`] before it looks at anything else.

use harmonia_ssd::SubCompletion;
use harmonia_ssd::probe::Probe;
use harmonia_types::SimTime;

use super::messages::Message;
use super::path::Way;
use super::payload::Payload;
use super::planning::Ready;
use super::tokens::{Node, Parent};
use super::transactions::in_step;
use super::{Array, ArrayFailure};

impl<P: Probe, C: Payload> Array<P, C> {
    /// Hands over what is ready, in order, with all that follows from it at once.
    #[inline]
    pub(super) fn carry_out(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        match self.ready.len() {
            0 => Ok(()),
            1 => self.ready.pop().map_or(Ok(()), |ready| self.begin_ready(ready, now)),
            _ => self.carry_out_all(now),
        }
    }

    /// What is ready is usually one step. More of it comes from refusals.
    #[cold]
    fn carry_out_all(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        std::mem::take(&mut self.ready).into_iter().try_for_each(|ready| self.begin_ready(ready, now))
    }

    fn begin_ready(&mut self, ready: Ready, now: SimTime) -> Result<(), ArrayFailure> {
        match ready {
            Ready::First { handle, index } => self.begin_plan(handle, index, now),
            Ready::Later { handle, first, count } => self.begin_later(handle, (first, count), now),
            Ready::Next(handle) => {
                self.next_step(handle, now);
                self.carry_out(now)
            }
            Ready::Patch { parent, index, before } => self.begin_patch((parent, index), before, now),
            Ready::Rewrite { device, offset, length } => {
                self.rewrite(device, offset, length, now);
                self.carry_out(now)
            }
        }
    }

    /// The first step of a plan.
    fn begin_plan(&mut self, handle: u32, index: u32, now: SimTime) -> Result<(), ArrayFailure> {
        let plan = std::mem::take(&mut self.plan);
        let operations = plan.steps().next().unwrap_or_default();
        if self.members.are_many() {
            for operation in operations {
                self.members.devices[operation.device.index()].prefetch_for(operation.offset);
            }
        }
        for (index, &operation) in (index..).zip(operations) {
            let node = self.nodes.insert(in_step(Parent::Transaction(handle), index, operation));
            self.hand_in(node, now)?;
        }
        self.plan = plan;
        Ok(())
    }

    /// A later step: so many operations, from the first of them on.
    fn begin_later(
        &mut self,
        handle: u32,
        (first, count): (u32, u32),
        now: SimTime,
    ) -> Result<(), ArrayFailure> {
        let mut node = first;
        for _ in 0..count {
            let begun = self.nodes.get_mut(node);
            begun.progress.begin();
            let Node { next, operation, is_promised, .. } = *begun;
            if is_promised {
                self.keep_promise(operation.device);
            }
            self.hand_in(node, now)?;
            if is_promised && self.is_drained(operation.device.index()) {
                self.agenda.push(now, Message::Drained(operation.device));
            }
            node = next;
        }
        if self.cache.is_some() {
            let delayed = self.pre_reads_are_done(handle);
            self.begin_delayed(delayed, now)?;
        }
        Ok(())
    }

    /// Operations in the place of a refused one.
    fn begin_patch(
        &mut self,
        (parent, index): (Parent, u32),
        before: u32,
        now: SimTime,
    ) -> Result<(), ArrayFailure> {
        let patch = std::mem::take(&mut self.patch);
        let refused = self.nodes.take_before(before);
        for (index, &operation) in (index..).zip(patch.operations()) {
            let before = self.nodes.keep_before(refused);
            let patched = self.nodes.insert(Node { before, ..in_step(parent, index, operation) });
            self.hand_in(patched, now)?;
        }
        self.patch = patch;
        Ok(())
    }

    /// Writes that the stripe cache has put off, one after the other.
    #[cold]
    pub(super) fn begin_delayed(&mut self, delayed: Vec<u32>, now: SimTime) -> Result<(), ArrayFailure> {
        for handle in delayed {
            self.ends_delay(handle, now);
            self.plan(handle, now);
            self.carry_out(now)?;
        }
        Ok(())
    }

    /// Hands an operation over, piece by piece, and deals with what is done or refused at once.
    #[inline]
    pub(super) fn hand_in(&mut self, node: u32, now: SimTime) -> Result<(), ArrayFailure> {
        if self.is_bare {
            self.hand_over::<true>(node, self.nodes.get(node).operation.device.index(), now)?;
            return self.deal();
        }
        let mut way = Way::of(node);
        while let Some(piece) = self.next_piece(&mut way) {
            self.submit_piece(piece, &mut way, now)?;
            self.deal()?;
        }
        Ok(())
    }

    /// Takes over what a device has to say, and deals with it.
    #[inline]
    pub(super) fn take_over_from(&mut self, device: usize) -> Result<(), ArrayFailure> {
        self.gather(device);
        self.deal()
    }

    /// Deals with what devices have done and refused since, unless whoever called is about to.
    #[inline]
    pub(super) fn deal(&mut self) -> Result<(), ArrayFailure> {
        if self.is_dealing || self.finished_at.is_empty() {
            return Ok(());
        }
        self.deal_with_outcomes()
    }

    /// Deals with what was refused and with the first completions, then with what followed from them. Refusals go before
    /// completions: of what a completion is of, some pages may have been refused.
    #[inline(never)]
    fn deal_with_outcomes(&mut self) -> Result<(), ArrayFailure> {
        let mut first = std::mem::take(&mut self.first);
        self.is_dealing = true;
        let result = self.deal_with_all(&first);
        self.is_dealing = false;
        first.clear();
        self.first = first;
        while let Some(device) = self.finished_at.pop() {
            self.set_coupled_wake(device);
        }
        result
    }

    fn deal_with_all(&mut self, first: &[SubCompletion]) -> Result<(), ArrayFailure> {
        for done in first {
            if !self.refused.is_empty() {
                self.deal_with_refusals()?;
            }
            self.completed(done);
        }
        while !(self.refused.is_empty() && self.finished.is_empty()) {
            self.deal_with_refusals()?;
            let Some(done) = self.finished.pop_front() else { return Ok(()) };
            self.completed(&done);
        }
        Ok(())
    }

    #[inline(never)]
    fn deal_with_refusals(&mut self) -> Result<(), ArrayFailure> {
        while let Some(refusal) = self.refused.pop_front() {
            self.pages_refused(&refusal);
            self.carry_out(refusal.at)?;
        }
        Ok(())
    }
}
