//! The data half of the O-RAID controller: which member operations a host request becomes.
//!
//! A plan is a small graph: operations on members, each after those it depends on. RAID-0 needs no dependency; a
//! degraded read, a read-modify-write of parity or a relocated write is the same shape with edges. Planners never see
//! undelivered device state, and control (who collects when) is a [`crate::coordination::Coordinator`]'s business.

use harmonia_types::{Bytes, DeviceId, HostRequest, Operation, Phase, SimDuration};

use crate::coordination::DeliveredView;
use crate::layout::Layout;

/// Turns host requests into member operations.
pub trait Planner: Send {
    /// Appends the operations of `request` to the empty `plan`.
    fn plan(&mut self, request: &HostRequest, view: &DeliveredView<'_>, layout: &Layout, plan: &mut Plan);

    /// A fast-failing operation found its member collecting for another `remaining`: appends what to do instead to
    /// the empty `patch`. Operations that depended on the failed one wait for the whole patch; an empty one does
    /// without the operation. The default tries the same operation again, this time waiting.
    fn on_busy(
        &mut self,
        _request: &HostRequest,
        operation: &PlannedOperation,
        _remaining: SimDuration,
        _view: &DeliveredView<'_>,
        _layout: &Layout,
        patch: &mut Plan,
    ) {
        patch.push(PlannedOperation { fast_fail: false, ..*operation }, &[]);
    }

    /// Whether plans depend on which members collect ([`crate::coordination::Delivered::collecting`]); otherwise
    /// that is kept up to date only if the coordinator wants device events.
    fn watches_devices(&self) -> bool {
        false
    }

    /// Whether plans never have dependencies nor fast-failing operations, so that members may run ahead of one
    /// another.
    fn is_flat(&self) -> bool {
        false
    }
}

/// One operation on one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedOperation {
    /// The member.
    pub device: DeviceId,
    /// What it does there.
    pub operation: Operation,
    /// First byte on the member.
    pub offset: Bytes,
    /// Bytes.
    pub length: Bytes,
    /// Answer at once instead of waiting for garbage collection.
    pub fast_fail: bool,
    /// What it is for; decides which part of the blame its time goes to when its request, or another operation of it,
    /// waits for it.
    pub role: Phase,
}

/// Index of an operation in its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeId(pub u16);

/// Member operations and their dependencies. Reused from request to request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    operations: Vec<PlannedOperation>,
    /// (before, after) pairs.
    edges: Vec<(NodeId, NodeId)>,
}

impl Plan {
    /// Appends an operation that starts when all of `after` are done.
    pub fn push(&mut self, operation: PlannedOperation, after: &[NodeId]) -> NodeId {
        let id = NodeId(self.operations.len() as u16);
        self.operations.push(operation);
        self.edges.extend(after.iter().map(|&before| (before, id)));
        id
    }

    /// The operations in the order they were added.
    pub fn operations(&self) -> &[PlannedOperation] {
        &self.operations
    }

    /// The dependencies, as (before, after) pairs.
    pub fn edges(&self) -> &[(NodeId, NodeId)] {
        &self.edges
    }

    /// Empties the plan, keeping its memory.
    pub fn clear(&mut self) {
        self.operations.clear();
        self.edges.clear();
    }
}

/// RAID-0: each member gets the one contiguous range that the stripe maps to it; all start at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Raid0Planner;

impl Planner for Raid0Planner {
    fn plan(&mut self, request: &HostRequest, _: &DeliveredView<'_>, layout: &Layout, plan: &mut Plan) {
        let operation = PlannedOperation {
            device: DeviceId(0),
            operation: request.operation,
            offset: request.offset,
            length: request.length,
            fast_fail: false,
            role: Phase::Data,
        };
        match request.member {
            Some(device) => {
                plan.push(PlannedOperation { device, ..operation }, &[]);
            }
            None if request.operation == Operation::Flush => {
                for device in 0..layout.members() {
                    plan.push(
                        PlannedOperation { device: DeviceId(device), offset: 0, length: 0, ..operation },
                        &[],
                    );
                }
            }
            None => layout.split(request.offset, request.length, |device, offset, length| {
                plan.push(PlannedOperation { device, offset, length, ..operation }, &[]);
            }),
        }
    }

    fn is_flat(&self) -> bool {
        true
    }
}
