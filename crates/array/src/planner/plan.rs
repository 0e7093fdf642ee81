//! The steps of a transaction.

use harmonia_types::{DeviceId, Operation};

use super::transaction::PlannedOperation;

/// The steps of a transaction. Reused from one to the next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    operations: Vec<PlannedOperation>,
    /// Position of each barrier: operations behind it wait for all before it.
    barriers: Vec<u32>,
}

impl Plan {
    /// Appends an operation to the current step.
    #[inline]
    pub fn push(&mut self, operation: PlannedOperation) {
        self.operations.push(operation);
    }

    /// What is pushed from now on waits for everything pushed so far. Nothing if the current step is empty.
    pub fn barrier(&mut self) {
        let position = self.operations.len() as u32;
        if position > self.barriers.last().copied().unwrap_or(0) {
            self.barriers.push(position);
        }
    }

    /// Makes the operation at `index` longer by one that follows it on its member; `false` if there is none, or it is of
    /// another kind or step.
    pub(crate) fn extend(&mut self, index: u32, next: &PlannedOperation) -> bool {
        let step = self.barriers.last().copied().unwrap_or(0);
        let Some(last) = self.operations.get_mut(index as usize).filter(|_| index >= step) else {
            return false;
        };
        let follows = PlannedOperation { offset: last.offset + last.length, length: next.length, ..*last };
        let joins = follows == *next;
        last.length += if joins { next.length } else { 0 };
        joins
    }

    /// Inserts a step before the operation at `place`, with which a step begins.
    pub(crate) fn insert_step(&mut self, place: usize, operations: &[PlannedOperation]) {
        self.operations.splice(place..place, operations.iter().copied());
        let (place, count) = (place as u32, operations.len() as u32);
        self.barriers.iter_mut().filter(|barrier| **barrier > place).for_each(|barrier| *barrier += count);
        let after = self.barriers.partition_point(|&barrier| barrier <= place);
        self.barriers.insert(after, place + count);
    }

    /// All operations in the order they were added.
    pub fn operations(&self) -> &[PlannedOperation] {
        &self.operations
    }

    /// The operations by step.
    pub fn steps(&self) -> impl Iterator<Item = &[PlannedOperation]> {
        let ends = self.barriers.iter().map(|&end| end as usize).chain([self.operations.len()]);
        let mut begin = 0;
        ends.map(move |end| &self.operations[std::mem::replace(&mut begin, end)..end])
    }

    /// Empties the plan, keeping its memory.
    pub fn clear(&mut self) {
        self.operations.clear();
        self.barriers.clear();
    }
}

/// Pushes an operation, or makes the last one of its member longer by it; `last` has these by member.
pub(crate) fn join(last: &mut [u32], operation: PlannedOperation, plan: &mut Plan) {
    let last = &mut last[operation.device.index()];
    if !plan.extend(*last, &operation) {
        *last = plan.operations().len() as u32;
        plan.push(operation);
    }
}

/// A flush reaches every member.
pub(crate) fn flush(members: u16, plan: &mut Plan) {
    (0..members).for_each(|member| {
        plan.push(PlannedOperation::data(DeviceId(member), Operation::Flush, 0, 0));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lie_between_barriers_and_none_is_empty() {
        let operation = |offset| PlannedOperation::data(DeviceId(0), Operation::Read, offset, 1);
        let mut plan = Plan::default();
        plan.barrier();
        plan.push(operation(0));
        plan.push(operation(1));
        plan.barrier();
        plan.barrier();
        plan.push(operation(2));
        let steps: Vec<Vec<u64>> =
            plan.steps().map(|step| step.iter().map(|operation| operation.offset).collect()).collect();
        assert_eq!(steps, [vec![0, 1], vec![2]]);
        plan.insert_step(2, &[operation(7), operation(8)]);
        plan.insert_step(0, &[operation(9)]);
        let steps: Vec<usize> = plan.steps().map(<[_]>::len).collect();
        assert_eq!((steps, plan.operations()[3].offset), (vec![1, 2, 2, 1], 7));
    }
}
