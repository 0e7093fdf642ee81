//! Writing the log before the members, and writing again what it says; the table is in `log`.

use harmonia_ssd::probe::Probe;
use harmonia_types::{LogCounters, Operation, SimTime};

use super::Array;
use super::gate::Gate;
use super::log::{Entry, Log, UNLOGGED, is_logged};
use super::messages::Message;
use super::payload::{Owner, Payload};
use super::states::Purpose;
use super::tokens::Node;
use super::trails::What;
use super::transactions::Running;
use crate::planner::{Plan, PlannedOperation, Transaction};

impl<P: Probe, C: Payload> Array<P, C> {
    /// Forgets to replay the log: contents are then wrong after a power loss, which is what tests want to see.
    pub fn without_replay(&mut self) {
        if let Some(log) = self.log.as_deref_mut() {
            log.replays = false;
        }
    }

    /// What a log has cost so far.
    pub fn log_counters(&self) -> LogCounters {
        self.log.as_deref().map_or_else(LogCounters::default, Log::counters)
    }

    /// Whether an operation is one on the log.
    #[inline]
    pub(super) fn is_log(&self, operation: &PlannedOperation) -> bool {
        self.log.as_deref().is_some_and(|log| log.has(operation))
    }

    /// Whether an operation is a flush that makes an entry of the log worth nothing.
    #[cold]
    pub(super) fn is_flush_of_entry(&self, node: &Node) -> bool {
        self.log.is_some()
            && node.operation.operation == Operation::Flush
            && self.transactions[node.transaction()].spec.operation != Operation::Flush
    }

    /// Has a plan write the log before the members. Whether that is the first thing it does.
    #[cold]
    pub(super) fn log_first(&mut self, handle: u32, plan: &mut Plan) -> bool {
        let Running { spec, log: before, purpose, .. } = self.transactions[handle];
        let is_logged = purpose.is_host() && is_logged(&spec);
        let Some(log) = self.log.as_deref_mut().filter(|_| is_logged) else { return false };
        log.drop_entry(before);
        self.transactions[handle].log = UNLOGGED;
        let is_write = |operation: &PlannedOperation| operation.operation != Operation::Read;
        let Some(place) = plan.operations().iter().position(is_write) else { return false };
        let writes = plan.operations()[place..].to_vec();
        let operations = log.operations(&spec, &writes, &self.members.health);
        if operations.is_empty() {
            return false;
        }
        plan.insert_step(place, &operations);
        log.plan_flush(plan);
        log.last += 1;
        let entry = Entry { spec, writes, log: operations, taken: Vec::new(), is_durable: false };
        log.entries.insert(log.last, entry);
        self.transactions[handle].log = log.last;
        place == 0
    }

    /// Plans to write again what the log says.
    #[cold]
    pub(super) fn plan_replay(&mut self, handle: u32, plan: &mut Plan) {
        let number = self.transactions[handle].log;
        let Array { log: Some(log), members, planner, .. } = self else { return };
        let planner = planner.resyncs();
        let torn = |of: &Transaction, row, is_gone| {
            planner.as_deref().and_then(|planner| planner.torn(of, row, is_gone))
        };
        log.plan_replay(number, &members.health, torn, plan);
        if self.payload.is_active()
            && let Some(entry) = log.entries.get(&number)
        {
            let running = &self.transactions[handle];
            let owner = Owner { handle, transaction: &running.spec, request: None };
            self.payload.replays(owner, &entry.spec, &entry.writes, &entry.log);
        }
    }

    /// The next step of a transaction begins: whether it may, or waits because the log is full.
    #[cold]
    pub(super) fn may_begin_step(&mut self, handle: u32) -> bool {
        let Running { log: number, later, purpose, .. } = self.transactions[handle];
        let is_logged = number != UNLOGGED && purpose != Purpose::Replay;
        let Some(log) = self.log.as_deref_mut().filter(|_| is_logged) else { return true };
        let operation = self.nodes.get(later).operation;
        if !log.has(&operation) {
            if operation.operation != Operation::Read
                && let Some(entry) = log.entries.get_mut(&number)
            {
                entry.is_durable = true;
            }
            return true;
        }
        if log.enter(handle, number) == Gate::Waits {
            self.transactions[handle].state.lack_room();
            self.waiting += 1;
            return false;
        }
        self.place(handle, later);
        true
    }

    /// The operations of a step on the log go to the places that were taken for them.
    fn place(&mut self, handle: u32, mut node: u32) {
        let number = self.transactions[handle].log;
        let Some(log) = self.log.as_deref() else { return };
        let Some(entry) = log.entries.get(&number) else { return };
        let running = &mut self.transactions[handle];
        let mut left = 0;
        for &operation in &entry.log {
            let is_rest = left > 0;
            if is_rest {
                // The head came to the end of the range.
                let first = *self.nodes.get(node);
                let index = running.operations;
                let rest = Node { index, operation, begins_step: false, is_promised: false, ..first };
                running.operations += 1;
                running.awaited += 1;
                let rest = self.nodes.insert(rest);
                self.nodes.get_mut(node).next = rest;
                left = 0;
                node = self.nodes.get(rest).next;
                continue;
            }
            let place = self.nodes.get_mut(node);
            left = place.operation.length - operation.length;
            place.operation = operation;
            if left == 0 {
                node = place.next;
            }
        }
        if self.payload.is_active() {
            let (writes, log) = (&entry.writes, &entry.log);
            let running = &self.transactions[handle];
            let request = running.purpose.request().map(|request| &self.requests[request].request);
            self.payload.logs(Owner { handle, transaction: &running.spec, request }, writes, log);
        }
    }

    /// A transaction is over: its part of the log is free, and whoever waits for room may go on.
    #[cold]
    pub(super) fn give_back_log(&mut self, number: u64, now: SimTime) {
        let Some(log) = self.log.as_deref_mut().filter(|_| number != UNLOGGED) else { return };
        for first in log.leave(number) {
            let running = &mut self.transactions[first];
            running.state.has_room();
            self.waiting -= 1;
            running.end.waited(&mut self.trails, now, What::Log);
            self.agenda.push(now, Message::NextStep(first));
        }
    }

    /// After a power loss: what the log says was being written, and is about to be written again, by the number of its entry.
    /// [`Array::replay_is_over`] then says when.
    #[must_use = "they have to be begun"]
    pub(super) fn replays(&mut self, now: SimTime) -> Vec<(u64, Transaction)> {
        let Some(log) = self.log.as_deref_mut() else { return Vec::new() };
        log.lose_power();
        let replays = log.replays;
        let torn = |entry: &Entry| entry.is_durable && replays;
        let dropped: Vec<u64> =
            log.entries.iter().filter(|(_, entry)| !torn(entry)).map(|(&number, _)| number).collect();
        dropped.into_iter().for_each(|number| log.drop_entry(number));
        let entries: Vec<(u64, Transaction)> =
            log.entries.iter().map(|(&number, entry)| (number, entry.spec)).collect();
        (log.replaying, log.since) = (entries.len(), now);
        if let Some(from) = log.parity_from()
            && let Some(background) = self.background.as_deref_mut()
        {
            background.copy_again_from(from);
        }
        entries
    }

    /// A transaction has written again what the log says. Whether it was the last one.
    pub(super) fn replay_is_over(&mut self, spec: &Transaction, now: SimTime) -> bool {
        let Some(log) = self.log.as_deref_mut() else { return false };
        log.counters.replayed_rows += spec.rows.count;
        log.replaying -= 1;
        let is_last = log.replaying == 0;
        if is_last {
            log.counters.replay_ns += (now - log.since).0;
        }
        is_last
    }
}
