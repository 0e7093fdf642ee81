//! How transactions begin, are planned, and go from step to step.
//!
//! ```text
//! begin ─► rows ─► bits, entries ─► plan ─► ready: its first step ─► pump ─► members
//!                                             ▲                       │ the last operation of a step is done
//!                                             └── ready: the next ◄───┘
//! ```
//!
//! Nothing here touches a member. What is to be handed over is said as [`Ready`], in order, and the [pump](super::pump) does it
//! before anything else happens: whoever lets a transaction go on calls it.

use harmonia_ssd::probe::Probe;
use harmonia_types::{Bytes, DeviceId, Operation, SimTime};

use super::Array;
use super::gate::Gate;
use super::payload::Payload;
use super::states::{Progress, Purpose};
use super::tokens::{NONE, Node, Parent};
use super::transactions::{Chain, Running, in_step};
use crate::planner::{Plan, Rows, Transaction};

/// What is to be handed to members now.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ready {
    /// The first step of the plan that was made last, which is handed over before another is made.
    First {
        /// The transaction.
        handle: u32,
        /// What the first operation is among those of the transaction.
        index: u32,
    },
    /// The first step of this transaction, which writes the log, once that has room.
    Next(u32),
    /// A later step of this transaction, known since it was planned: so many operations, the first at this place.
    Later {
        /// The transaction.
        handle: u32,
        /// The first operation.
        first: u32,
        /// Operations.
        count: u32,
    },
    /// The patch that was made last: operations in the place of one that was refused.
    Patch {
        /// Whose they are.
        parent: Parent,
        /// What the first one is among those of the transaction.
        index: u32,
        /// What is kept of the way up to the refusal.
        before: u32,
    },
    /// A range of a member that could not be read is written anew.
    Rewrite {
        /// The member.
        device: DeviceId,
        /// First byte.
        offset: Bytes,
        /// Bytes.
        length: Bytes,
    },
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Begins work that no request waits for.
    pub(super) fn begin_own(&mut self, purpose: Purpose, spec: Transaction, now: SimTime) {
        self.begin_and_take_rows(Running::new(purpose, spec, Chain::from(now)), now);
    }

    /// Begins to write blocks of the bitmap.
    pub(super) fn write_marks(&mut self, now: SimTime) {
        self.begin_own(Purpose::Marks, Transaction::unlocked(Operation::Write, 0, 0), now);
    }

    /// Begins a transaction of a request: planned at once if it holds no rows or gets them, otherwise when it gets them.
    pub(super) fn begin(&mut self, spec: Transaction, request: u32, position: u32, now: SimTime) {
        let mut before = Chain::from(now);
        let state = &self.requests[request];
        before.blame.restart = state.restart;
        // A flush that had to wait did so for writes of other requests.
        before.blame.data.queue_host = (now - state.request.arrival).0 - state.restart;
        if self.trails.is_some() {
            before.trail = self.trail_to(request, now);
        }
        self.begin_and_take_rows(Running::new(Purpose::Request { request, position }, spec, before), now);
    }

    /// Begins a transaction: it takes its rows and is admitted, or waits in line for them.
    pub(super) fn begin_and_take_rows(&mut self, running: Running, now: SimTime) {
        let rows = running.spec.rows;
        let request = running.purpose.request();
        let handle = self.transactions.insert(running);
        if let Some(trails) = &mut self.trails {
            trails.begins(handle, request.map(|request| self.requests[request].request.id));
        }
        if self.take_rows(handle, rows) {
            self.admit(handle, now);
        } else if self.cache.is_some()
            && let Some(holder) = self.wait_in_line(handle, now)
        {
            self.plan(holder, now);
        }
    }

    /// Takes rows for a transaction that has none. `false` if it has to wait for them.
    fn take_rows(&mut self, handle: u32, rows: Rows) -> bool {
        if rows.count == 0 || !self.locks_rows {
            return true;
        }
        let (ticket, gate) = self.locks.take(rows, handle);
        let is_held = gate == Gate::Goes;
        let running = &mut self.transactions[handle];
        running.ticket = ticket;
        if !is_held {
            running.state.line_up();
        }
        self.row_waits += u64::from(!is_held);
        self.waiting += u32::from(!is_held);
        is_held
    }

    /// A transaction holds its rows: it is planned, unless a gate behind them keeps it.
    #[inline]
    pub(super) fn admit(&mut self, handle: u32, now: SimTime) {
        #[cfg(test)]
        if self.takes_tokens(handle, now) == Gate::Waits {
            return;
        }
        if self.bitmap.is_some() && !self.may_write(handle, now) {
            return;
        }
        if self.cache.is_none() || self.passes_cache(handle, now) == Gate::Goes {
            self.plan(handle, now);
        }
    }

    /// Plans a transaction that holds its rows. Its first step is ready.
    pub(super) fn plan(&mut self, handle: u32, now: SimTime) {
        debug_assert!(
            !self.ready.iter().any(|ready| matches!(ready, Ready::First { .. })),
            "a plan is handed over before another is made"
        );
        let mut plan = std::mem::take(&mut self.plan);
        plan.clear();
        let running = &self.transactions[handle];
        let (spec, mut index) = (running.spec, running.operations);
        if running.purpose.is_own() || self.cache.is_some() {
            self.plan_own_or_cached(handle, now, &mut plan);
        } else {
            let look = self.members.look(self.nvram.as_deref(), now);
            let view = self.members.view(&look);
            self.planner.plan(now, &spec, &view, &mut plan);
        }
        let is_logged_first = self.log.is_some() && self.log_first(handle, &mut plan);
        let mut steps = plan.steps();
        let first = if is_logged_first { &[][..] } else { steps.next().unwrap_or_default() };
        let first_index = index;
        index += first.len() as u32;
        let mut last = NONE;
        for step in steps {
            for (place, &operation) in step.iter().enumerate() {
                let is_promised = self.tidying.is_some() && self.promise(operation.device);
                let begins_step = place == 0;
                let first = in_step(Parent::Transaction(handle), index, operation);
                let later = Node { begins_step, is_promised, progress: Progress::Planned, ..first };
                let node = self.nodes.insert(later);
                match std::mem::replace(&mut last, node) {
                    NONE => self.transactions[handle].later = node,
                    before => self.nodes.get_mut(before).next = node,
                }
                index += 1;
            }
        }
        let behind = plan.operations().iter().filter(|operation| operation.behind).count();
        let may_be_refused = self.members.health.refuses()
            || plan.operations().iter().any(|operation| self.reserved.may_refuse(operation));
        let running = &mut self.transactions[handle];
        running.operations = index;
        running.pending = first.len() as u32;
        running.awaited = (plan.operations().len() - behind) as u32;
        running.may_be_refused = may_be_refused;
        running.end = Chain { index: u32::MAX, ..running.before };
        let has_behind = behind > 0 || running.front.is_some();
        running.front = has_behind.then(|| Box::new(running.end));
        if is_logged_first {
            self.ready.push(Ready::Next(handle));
        } else if first.is_empty() {
            self.host_is_served(handle);
            self.step_is_done(handle);
        } else {
            running.state.begin_step();
            if running.awaited == 0 {
                self.host_is_served(handle);
            }
            self.ready.push(Ready::First { handle, index: first_index });
        }
        self.plan = plan;
    }

    /// Plans the array's own work, or a transaction that the stripe cache may know something of.
    #[cold]
    fn plan_own_or_cached(&mut self, handle: u32, now: SimTime, plan: &mut Plan) {
        let Running { spec, purpose, .. } = self.transactions[handle];
        if purpose.is_own() && !purpose.is_bookkeeping() && spec.operation == Operation::Write {
            self.writes_itself(now);
        }
        let is_sound = self.cache.is_some() && self.is_sound();
        let look = self.members.look(self.nvram.as_deref(), now);
        let view = self.members.view(&look);
        if purpose == Purpose::Replay {
            self.plan_replay(handle, plan);
        } else if purpose == Purpose::Marks {
            self.plan_marks(plan);
        } else if self.is_copy(handle) {
            self.plan_copy(&spec, plan);
        } else if let Some(cache) =
            self.cache.as_deref_mut().filter(|cache| is_sound && cache.answers(handle, &spec))
            && let Some(planner) = self.planner.uses_cache()
        {
            planner.plan_cached(now, &spec, &view, &cache.table, plan, &mut cache.kept);
        } else {
            self.planner.plan(now, &spec, &view, plan);
        }
        if self.cache.is_some() {
            self.note_plan(handle, plan);
        }
    }

    /// The last step of a transaction is done: the next one is ready, or it is planned anew.
    pub(super) fn next_step(&mut self, handle: u32, now: SimTime) {
        let running = &mut self.transactions[handle];
        running.before = running.end;
        if let Some(rows) = running.replan.take() {
            return self.plan_anew(handle, rows, now);
        }
        if self.log.is_some() && !self.may_begin_step(handle) {
            return;
        }
        let running = &mut self.transactions[handle];
        running.end.index = u32::MAX;
        let (first, mut node) = (running.later, running.later);
        let mut count = 0;
        // All of the step are counted before the first is handed over: it may be done at once.
        while node != NONE && (count == 0 || !self.nodes.get(node).begins_step) {
            count += 1;
            node = self.nodes.get(node).next;
        }
        let running = &mut self.transactions[handle];
        running.state.begin_step();
        (running.later, running.pending) = (node, count);
        // Members may have been reserved or have failed since it was planned.
        running.may_be_refused |= self.members.health.refuses();
        self.ready.push(Ready::Later { handle, first, count });
    }

    /// What was planned and has not begun is dropped; the transaction is planned again, holding `rows` if it holds none.
    #[cold]
    fn plan_anew(&mut self, handle: u32, rows: Rows, now: SimTime) {
        let running = &mut self.transactions[handle];
        running.spec.attempt += 1;
        running.state.plan_anew();
        let mut node = std::mem::replace(&mut running.later, NONE);
        let needs_rows = running.ticket == NONE && rows.count > 0;
        while node != NONE {
            let Node { next, operation, is_promised, .. } = *self.nodes.get(node);
            if is_promised {
                self.keep_promise(operation.device);
            }
            self.nodes.release(node);
            node = next;
        }
        if needs_rows {
            self.transactions[handle].spec.rows = rows;
            if !self.take_rows(handle, rows) {
                return;
            }
        }
        self.plan(handle, now);
    }

    /// What makes a range of a member anew from the others, if anything does.
    pub(super) fn restoring(&self, device: DeviceId, offset: Bytes, length: Bytes) -> Option<Transaction> {
        self.planner.restores()?.restore(device, offset, length)
    }
}
