//! What is due is done: messages are delivered, and transactions end.
//!
//! At its end a transaction gives back its rows and its entries. Who waited for them goes on, one after the other: what one hands
//! to members is seen by the next when it is planned.

use harmonia_ssd::interface::Notice;
use harmonia_ssd::probe::Probe;
use harmonia_types::{Blame, Operation, SimTime};

use super::messages::Message;
use super::payload::Payload;
use super::states::{Purpose, State};
use super::tokens::NONE;
use super::transactions::Running;
use super::{Access, Array, ArrayFailure};
use crate::coordination::Event;
use crate::planner::{Refusal, Transaction};

impl<P: Probe, C: Payload> Array<P, C> {
    /// Delivers the next message, due at `now`.
    pub(super) fn deliver(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let Some((now, message)) = self.agenda.pop_due(now) else { return Ok(()) };
        self.latest = self.latest.max(now);
        match message {
            // What a member that failed had sent is lost, and so is what was sent to it.
            Message::Notice(device, _) | Message::Directive(device, _) | Message::Query(device)
                if !self.members.delivered[device.index()].capable => {}
            Message::Answer(device, answer) if !self.members.delivered[device.index()].capable => {
                self.answers.release(answer);
            }
            Message::Notice(device, notice) => {
                let event = match notice {
                    Notice::SoftThreshold => {
                        self.counters.soft_notices += 1;
                        Event::SoftThreshold(device)
                    }
                    Notice::HardThreshold => {
                        self.counters.hard_notices += 1;
                        Event::HardThreshold(device)
                    }
                    Notice::WindowWarning => Event::WindowWarning(device),
                    Notice::GcStarted => {
                        self.members.delivered[device.index()].collecting = true;
                        Event::GcStarted(device)
                    }
                    Notice::GcEnded { registered } => {
                        self.members.delivered[device.index()].collecting = false;
                        self.arrange_destage(device, now);
                        self.may_tidy(now);
                        Event::GcEnded { device, registered }
                    }
                };
                if self.interests.devices {
                    self.consult(now, &event);
                }
            }
            Message::Directive(device, directive) => {
                if let Some(ahead) = self.ahead.as_deref_mut() {
                    ahead.forget_quiet(device);
                }
                self.members.devices[device.index()].direct(now, directive);
                self.take_over_from(device.index())?;
            }
            Message::Query(device) => {
                let status = self.members.devices[device.index()].status(now);
                let answer = self.answers.insert((status, now));
                self.agenda.push(now + self.message_latency, Message::Answer(device, answer));
            }
            Message::Answer(device, answer) => {
                let (status, as_of) = self.answers[answer];
                self.answers.release(answer);
                let known = &mut self.members.delivered[device.index()];
                known.status = Some(status);
                known.as_of = as_of;
                known.collecting = status.gc_active;
                if self.asks {
                    self.consult(now, &Event::Status(device));
                }
            }
            Message::Completed(told) => {
                let completion = self.told[told];
                self.told.release(told);
                self.consult(now, &Event::Completion(completion));
            }
            Message::Timer(number) => self.consult(now, &Event::Timer(number)),
            Message::NextStep(transaction) => self.next_step(transaction, now),
            Message::End(transaction) => self.end(transaction, now)?,
            Message::WriteFailed(token) => self.write_failed(token, now)?,
            Message::Refused(token, refusal) => {
                // What has been answered otherwise at this moment is not refused any more.
                if let Some(node) = self.nodes.take(token).filter(|node| !node.is_outrun()) {
                    // A reserved member may have failed at the same moment: nothing waits for its successor.
                    let has_failed = self.members.health.access(node.operation.device) == Access::Failed;
                    let refusal = if has_failed { Refusal::Failed } else { refusal };
                    // A member that failed had it since then.
                    let waited = (now - self.begun(&node)).0;
                    self.refuse(node, token, refusal, now, &Blame { queue_host: waited, ..Blame::default() });
                }
            }
            Message::Served(token) => {
                if let Some(node) = self.nodes.take(token) {
                    if let Some(trails) = &mut self.trails {
                        trails.answered = None;
                    }
                    if self.payload.is_active() {
                        self.tell_payload(node.parent, |payload, owner| {
                            payload.done(owner, &node.planned(), token);
                        });
                    }
                    self.operation_is_done(&node, false, now, &Blame::default());
                }
            }
            Message::Won(token, chain) => {
                self.chains.release(chain);
                self.race_is_over(token, self.chains[chain]);
            }
            Message::Hedge(token) => self.hedge(token, now),
            Message::Answered(device, operation, latency) => {
                self.consult(now, &Event::Answered { device, operation, latency });
            }
            Message::Drained(device) => {
                if self.is_drained(device.index()) {
                    self.consult(now, &Event::Drained(device));
                }
            }
            Message::Open(device) => {
                self.readmit(device, now)?;
                if let Some(left) = self.sweep(now) {
                    self.begin_own(Purpose::Unawaited, left, now);
                    self.carry_out(now)?;
                }
                self.may_tidy(now);
            }
            Message::Destage(device) => self.destage(device, now)?,
            Message::Poll => self.poll(now),
            Message::Fault(index) => self.inject_fault(index, now)?,
            Message::PowerLoss => self.lose_power(now)?,
            Message::Replace(device) => self.replace(device, now)?,
            Message::Arrived(device) => self.announce(device, now),
            Message::Left(slot) => self.has_left(usize::from(slot), now)?,
            Message::Scrub => self.begin_scrub(now)?,
            Message::Background => self.work_on(now)?,
            Message::Tidy => {
                if let Some(displaced) = self.tidy(now) {
                    self.begin_own(Purpose::Tidying, displaced, now);
                }
            }
            Message::Mark => {
                if self.mark(now) {
                    self.write_marks(now);
                }
            }
            Message::Room => self.fill_room(now)?,
            Message::Passes(waiting) => self.passes_on(waiting, now)?,
            Message::Pass => {
                if self.pass(now) {
                    self.write_marks(now);
                    self.carry_out(now)?;
                }
                self.arrange_pass(now);
            }
            #[cfg(test)]
            Message::Tokens => {
                if let Some(next) = self.next_with_tokens(now) {
                    self.admit(next, now);
                }
            }
            Message::Clean => {
                if self.may_be_clean(self.is_resyncing() || self.is_refused(), now) {
                    self.begin_own(Purpose::Clean, Transaction::unlocked(Operation::Flush, 0, 0), now);
                }
            }
        }
        self.carry_out(now)
    }

    /// A transaction is over: its rows go to whoever waits for them.
    pub(super) fn end(&mut self, handle: u32, now: SimTime) -> Result<(), ArrayFailure> {
        let Running { ticket, unsettled, purpose, spec, .. } = self.transactions[handle];
        if purpose == Purpose::Marks {
            let chain = self.transactions[handle].end;
            self.forget(handle, now);
            for waiter in self.marks_are_set(&chain, now) {
                self.admit(waiter, now);
                self.carry_out(now)?;
            }
            self.arrange_pass(now);
            return Ok(());
        }
        self.forget(handle, now);
        if self.cache.is_some() {
            let delayed = self.leave_cache(handle, spec.rows);
            self.begin_delayed(delayed, now)?;
            while let Some(next) = self.next_into_cache(now) {
                self.plan(next, now);
                self.carry_out(now)?;
            }
        }
        if ticket != NONE {
            let mut granted = std::mem::take(&mut self.granted);
            self.locks.release(ticket, &mut granted);
            self.waiting -= granted.len() as u32;
            for &waiter in &granted {
                if self.transactions[waiter].state == State::Merged {
                    // What it was to write has been written.
                    self.end(waiter, now)?;
                    continue;
                }
                let running = &mut self.transactions[waiter];
                running.state.grant();
                let before = &mut running.before;
                before.waited_for_rows(&mut self.trails, (handle, purpose), now);
                self.admit(waiter, now);
                self.carry_out(now)?;
            }
            granted.clear();
            self.granted = granted;
        }
        if unsettled != 0 {
            self.unsettled.remove(&unsettled);
            if !self.flushes.is_empty() {
                self.let_flushes_go(now)?;
            }
        }
        match purpose {
            Purpose::Replay => {
                if self.replay_is_over(&spec, now) {
                    self.take_up_again(now)?;
                }
                self.work_on(now)
            }
            Purpose::Job { step } => self.step_is_over(step, now),
            Purpose::Rewrite => self.work_on(now),
            Purpose::Tidying => {
                self.is_tidied(now);
                Ok(())
            }
            Purpose::Clean => {
                self.are_flushed();
                Ok(())
            }
            Purpose::Request { .. }
            | Purpose::Race { .. }
            | Purpose::Unawaited
            | Purpose::Destage
            | Purpose::Marks => Ok(()),
        }
    }
}
