//! Host requests under way: their plans, dependencies, and the chain of blame to the operation that finishes last.

use harmonia_ssd::probe::Probe;
use harmonia_ssd::{SubCompletion, SubRequest};
use harmonia_types::{Completion, DeviceId, GcWait, HostRequest, RequestBlame, SimTime};

use super::messages::Message;
use super::{Array, ArrayFailure};
use crate::coordination::{DeliveredView, Event};
use crate::planner::{Plan, PlannedOperation};

/// A host request some of whose operations are not done.
#[derive(Debug, Clone)]
pub(super) struct RequestState {
    request: HostRequest,
    remaining: u32,
    finish: SimTime,
    /// The operation that finished last so far; ties go to the lowest.
    last: u32,
    blame: RequestBlame,
    gc_affected: bool,
    gc_wait: Option<GcWait>,
}

/// One planned operation.
#[derive(Debug, Clone)]
pub(super) struct NodeState {
    request: u32,
    /// Position in the plan.
    index: u32,
    operation: PlannedOperation,
    /// Dependencies that are not done.
    waits_for: u32,
    /// Nodes that wait for this one. Empty for RAID-0: no allocation.
    dependents: Vec<u32>,
    /// When the last dependency so far was done, and the time up to then accounted for.
    start: SimTime,
    before: RequestBlame,
}

impl<P: Probe> Array<P> {
    /// Hands a host request to the array at its arrival. Everything due at or before that must have been advanced.
    ///
    /// # Errors
    /// If a member runs out of free blocks.
    pub fn submit(&mut self, request: HostRequest) -> Result<(), ArrayFailure> {
        self.start();
        let now = request.arrival;
        if self.interests.arrivals {
            self.consult(now, &Event::Arrival(request));
        }
        let mut plan = std::mem::take(&mut self.plan);
        plan.clear();
        let view = DeliveredView { members: &self.delivered };
        self.planner.plan(&request, &view, &self.layout, &mut plan);
        let handle = self.requests.insert(RequestState {
            request,
            remaining: plan.operations().len() as u32,
            finish: now,
            last: u32::MAX,
            blame: RequestBlame::default(),
            gc_affected: false,
            gc_wait: None,
        });
        if plan.operations().is_empty() {
            self.complete(handle);
        }
        let result = self.install(&plan, handle, 0, now, RequestBlame::default(), &[]);
        self.plan = plan;
        result
    }

    /// Creates a plan's nodes and submits those that wait for nothing. `inherited` wait for all of them.
    fn install(
        &mut self,
        plan: &Plan,
        request: u32,
        first_index: u32,
        now: SimTime,
        before: RequestBlame,
        inherited: &[u32],
    ) -> Result<(), ArrayFailure> {
        if plan.edges().is_empty() && inherited.is_empty() {
            // Nothing waits for anything: no second pass over the nodes.
            for (index, &operation) in plan.operations().iter().enumerate() {
                let node = self.node(request, first_index + index as u32, operation, now, before);
                self.submit_node(node, now)?;
            }
            return Ok(());
        }
        let mut nodes = Vec::with_capacity(plan.operations().len());
        for (index, &operation) in plan.operations().iter().enumerate() {
            nodes.push(self.node(request, first_index + index as u32, operation, now, before));
        }
        for (from, to) in plan.edges() {
            let (from, to) = (nodes[usize::from(from.0)], nodes[usize::from(to.0)]);
            self.nodes[from].dependents.push(to);
            self.nodes[to].waits_for += 1;
        }
        for &dependent in inherited {
            for &node in &nodes {
                self.nodes[node].dependents.push(dependent);
            }
            self.nodes[dependent].waits_for += nodes.len() as u32;
        }
        for node in nodes {
            if self.nodes[node].waits_for == 0 {
                self.submit_node(node, now)?;
            }
        }
        Ok(())
    }

    fn node(
        &mut self,
        request: u32,
        index: u32,
        operation: PlannedOperation,
        start: SimTime,
        before: RequestBlame,
    ) -> u32 {
        self.nodes.insert(NodeState {
            request,
            index,
            operation,
            waits_for: 0,
            dependents: Vec::new(),
            start,
            before,
        })
    }

    /// Hands a node to its member.
    pub(super) fn submit_node(&mut self, node: u32, now: SimTime) -> Result<(), ArrayFailure> {
        let operation = self.nodes[node].operation;
        let device = operation.device.index();
        let sub = SubRequest {
            token: node,
            operation: operation.operation,
            offset: operation.offset,
            length: operation.length,
            fast_fail: operation.fast_fail,
            deadline: self.deadlines.is_set().then(|| self.deadline_of(node)).flatten(),
        };
        let result = self.devices[device].submit(now, sub);
        result.map_err(|failure| ArrayFailure { device: DeviceId(device as u16), failure })?;
        self.collect_from(device)
    }

    /// When the request of a node should be done.
    fn deadline_of(&self, node: u32) -> Option<SimTime> {
        let request = &self.requests[self.nodes[node].request].request;
        Some(request.arrival + self.deadlines.of(request.operation)?)
    }

    /// A member is done with a node.
    pub(super) fn node_done(&mut self, done: &SubCompletion) -> Result<(), ArrayFailure> {
        let NodeState { request, index, operation, start, before, .. } = self.nodes[done.token];
        let dependents = std::mem::take(&mut self.nodes[done.token].dependents);
        self.nodes.release(done.token);
        let mut chain = before;
        chain.charge(operation.role, &done.blame);
        debug_assert_eq!(done.blame.total(), (done.finish - start).0);
        let mut patch = Plan::default();
        if let Some(remaining) = done.busy {
            let view = DeliveredView { members: &self.delivered };
            let host = self.requests[request].request;
            self.planner.on_busy(&host, &operation, remaining, &view, &self.layout, &mut patch);
        }
        let is_patched = !patch.operations().is_empty();
        if is_patched {
            self.requests[request].remaining += patch.operations().len() as u32;
            for &dependent in &dependents {
                self.nodes[dependent].waits_for -= 1;
            }
            self.install(&patch, request, index, done.finish, chain, &dependents)?;
        } else {
            for dependent in dependents {
                self.dependency_done(dependent, done.finish, &chain);
            }
        }
        let state = &mut self.requests[request];
        state.gc_affected |= done.gc_affected;
        let later = done.finish > state.finish || (done.finish == state.finish && index < state.last);
        if later && !is_patched {
            state.finish = done.finish;
            state.last = index;
            state.blame = chain;
            let ns = done.blame.queue_gc;
            state.gc_wait = (ns > 0).then_some(GcWait { member: operation.device, ns });
        }
        state.remaining -= 1;
        if state.remaining == 0 {
            self.complete(request);
        }
        Ok(())
    }

    /// One dependency of `node` finished at `finish`; the last one starts it.
    fn dependency_done(&mut self, node: u32, finish: SimTime, chain: &RequestBlame) {
        let state = &mut self.nodes[node];
        state.waits_for -= 1;
        if finish >= state.start {
            state.start = finish;
            state.before = *chain;
        }
        if state.waits_for == 0 {
            let start = state.start;
            self.agenda.push(start, Message::Release(node));
        }
    }

    fn complete(&mut self, handle: u32) {
        let state = &self.requests[handle];
        let completion = Completion {
            id: state.request.id,
            operation: state.request.operation,
            offset: state.request.offset,
            length: state.request.length,
            arrival: state.request.arrival,
            finish: state.finish,
            blame: state.blame,
            gc_affected: state.gc_affected,
            gc_wait: state.gc_wait,
        };
        debug_assert_eq!(completion.blame.total(), completion.response().0, "blame sums to latency");
        self.requests.release(handle);
        self.completions.push(completion);
        if self.interests.completions {
            self.agenda.push(completion.finish, Message::Completed(completion));
        }
    }
}
