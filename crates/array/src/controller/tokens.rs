//! Member operations under way, and the tokens that members know them by.
//!
//! A token is the place of an operation in a slab and the generation of that place, so that a completion that comes after
//! its operation was given up is recognised instead of being taken for another's.

use super::states::Progress;
use super::transactions::Chain;
use crate::planner::PlannedOperation;
use harmonia_ssd::Slab;
use harmonia_types::DeviceId;

pub(super) const NONE: u32 = u32::MAX;

/// What an operation belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parent {
    Transaction(u32),
    /// The plan of the request is flat.
    Request(u32),
}

/// One planned operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub parent: Parent,
    /// How far it is.
    pub progress: Progress,
    /// Position in its transaction, counted through all steps and patches.
    pub index: u32,
    /// On the member that takes it, which may stand in for another.
    pub operation: PlannedOperation,
    /// The member that it was planned for.
    pub role: DeviceId,
    /// Which device has it, or had it last: the member's own number, or one behind the members (`copying`).
    pub slot: u16,
    /// It does to a spare what another operation does to the member.
    pub is_twin: bool,
    /// The next one of the steps that have not begun; `begins_step` says that it begins a step.
    pub next: u32,
    pub begins_step: bool,
    /// A member that is reserved takes it all the same: it was planned before.
    pub is_promised: bool,
    /// What its transaction does next hangs on it.
    pub couples: bool,
    /// Pages of it that its member refused.
    pub refused: u32,
    /// Of a write, the last change of NVRAM before it was submitted.
    pub change: u32,
    /// Where the time before it went, if it began after its step did; otherwise the step says.
    pub before: u32,
}

impl Node {
    /// The operation as it was planned.
    #[inline]
    pub fn planned(&self) -> PlannedOperation {
        PlannedOperation { device: self.role, ..self.operation }
    }

    /// Its transaction. One whose request's plan is flat has none, and nobody asks.
    #[inline]
    pub fn transaction(&self) -> u32 {
        match self.parent {
            Parent::Transaction(handle) => handle,
            Parent::Request(_) => unreachable!("an operation of a flat plan has no transaction"),
        }
    }

    /// Whether its request's plan is flat.
    #[inline]
    pub fn is_direct(&self) -> bool {
        matches!(self.parent, Parent::Request(_))
    }

    /// Whether another transaction has answered it.
    #[inline]
    pub fn is_outrun(&self) -> bool {
        self.progress == Progress::Outrun
    }
}

/// Operations by token.
#[derive(Debug, Clone, Default)]
pub(super) struct Nodes {
    slab: Slab<Node>,
    generations: Vec<u32>,
    /// What operations that take the place of refused ones have behind them.
    before: Slab<Chain>,
}

impl Nodes {
    #[inline]
    pub fn insert(&mut self, node: Node) -> u32 {
        let handle = self.slab.insert(node);
        if handle as usize == self.generations.len() {
            self.generations.push(0);
        }
        handle
    }

    /// The token of a node.
    #[inline]
    pub fn token(&self, handle: u32) -> u64 {
        u64::from(self.generations[handle as usize]) << 32 | u64::from(handle)
    }

    #[inline]
    pub fn get(&self, handle: u32) -> &Node {
        &self.slab[handle]
    }

    #[inline]
    pub fn get_mut(&mut self, handle: u32) -> &mut Node {
        &mut self.slab[handle]
    }

    /// The place of the node that a token names; `None` if that was given up.
    #[inline]
    pub fn place(&self, token: u64) -> Option<u32> {
        let (handle, generation) = (token as u32, (token >> 32) as u32);
        (self.generations.get(handle as usize) == Some(&generation)).then_some(handle)
    }

    /// Takes out the node that a token names, as it was; `None` if that was given up.
    #[expect(clippy::inline_always, reason = "a part of every operation of a member")]
    #[inline(always)]
    pub fn take(&mut self, token: u64) -> Option<Node> {
        let handle = self.place(token)?;
        let progress = self.slab[handle].progress;
        self.release(handle);
        Some(Node { progress, ..self.slab[handle] })
    }

    /// Gives a node up: its token is worth nothing any more.
    #[inline]
    pub fn release(&mut self, handle: u32) {
        self.slab[handle].progress.take();
        self.generations[handle as usize] = self.generations[handle as usize].wrapping_add(1);
        self.slab.release(handle);
    }

    /// Gives all nodes up: what members know of them is worth nothing any more.
    pub fn forget_all(&mut self) {
        for (handle, generation) in (0..).zip(&mut self.generations) {
            self.slab[handle].progress = Progress::Over;
            *generation = generation.wrapping_add(1);
        }
        self.slab.release_all();
        self.before.release_all();
    }

    /// The operations that the device in a slot has.
    pub fn under_way_at(&self, slot: usize) -> Vec<u32> {
        let all = 0..self.generations.len() as u32;
        let is_given = |node: &Node| matches!(node.progress, Progress::Given | Progress::Outrun);
        let is_there = |node: &Node| is_given(node) && usize::from(node.slot) == slot;
        all.filter(|&handle| is_there(&self.slab[handle])).collect()
    }

    /// Two devices change places; each keeps what it was given.
    pub fn exchange(&mut self, one: usize, other: usize) {
        let (of_one, of_other) = (self.under_way_at(one), self.under_way_at(other));
        of_one.into_iter().for_each(|handle| self.slab[handle].slot = other as u16);
        of_other.into_iter().for_each(|handle| self.slab[handle].slot = one as u16);
    }

    /// Keeps what the operations of a patch have behind them.
    pub fn keep_before(&mut self, before: Chain) -> u32 {
        self.before.insert(before)
    }

    pub fn before(&self, handle: u32) -> &Chain {
        &self.before[handle]
    }

    pub fn take_before(&mut self, handle: u32) -> Chain {
        self.before.release(handle);
        self.before[handle]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_types::Operation;

    #[test]
    fn a_token_that_was_given_up_names_nothing() {
        let operation = PlannedOperation::data(DeviceId(0), Operation::Read, 0, 1);
        let node = |index| Node {
            parent: Parent::Transaction(0),
            progress: Progress::Begun,
            index,
            operation,
            role: DeviceId(0),
            slot: 0,
            is_twin: false,
            next: NONE,
            begins_step: false,
            is_promised: false,
            couples: false,
            refused: 0,
            change: 0,
            before: NONE,
        };
        let mut nodes = Nodes::default();
        let first = nodes.insert(node(1));
        let old = nodes.token(first);
        nodes.release(first);
        let second = nodes.insert(node(2));
        assert_eq!(first, second, "the place is used again");
        assert!(nodes.take(old).is_none());
        let token = nodes.token(second);
        assert_eq!(nodes.take(token).map(|node| node.index), Some(2));
        assert!(nodes.take(token).is_none());
    }
}
