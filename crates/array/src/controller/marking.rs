//! Setting bits of the write-intent bitmap before members are written, and clearing them; the table is in `bitmap`.
//!
//! A write of the host that holds its rows waits here before it is planned, as stripes do in md (`STRIPE_BIT_DELAY`). Whoever
//! wants a bit at one moment waits for one write of the bitmap, and whoever comes while that is under way for the next one. The
//! time is that of parity.

use harmonia_ssd::probe::Probe;
use harmonia_types::{BitmapCounters, Bytes, Operation, SimTime};

use super::Array;
use super::gate::Gate;
use super::messages::Message;
use super::payload::Payload;
use super::trails::What;
use super::transactions::Chain;
use crate::planner::{Plan, Transaction};

impl<P: Probe, C: Payload> Array<P, C> {
    /// What a bitmap has cost so far.
    pub fn bitmap_counters(&self) -> BitmapCounters {
        self.bitmap.as_deref().map_or_else(BitmapCounters::default, |bitmap| bitmap.counters)
    }

    /// Whether a transaction that holds its rows may go on, or waits until its bits are set.
    pub(super) fn may_write(&mut self, handle: u32, now: SimTime) -> bool {
        let Some(bitmap) = self.bitmap.as_deref_mut() else { return true };
        let running = &mut self.transactions[handle];
        let writes = matches!(running.spec.operation, Operation::Write | Operation::Trim);
        if !writes || !running.purpose.is_host() || running.is_marked {
            return true;
        }
        running.is_marked = true;
        if bitmap.enter(handle, &running.spec) == Gate::Goes {
            return true;
        }
        if bitmap.falls_due() {
            // Whoever comes at this moment is taken along.
            self.agenda.push(now, Message::Mark);
        }
        self.waiting += 1;
        false
    }

    /// Whether blocks of the bitmap have to be written: they are about to be.
    #[must_use = "it has to be begun"]
    pub(super) fn mark(&mut self, now: SimTime) -> bool {
        let Some(bitmap) = self.bitmap.as_deref_mut() else { return false };
        let Some(waiters) = bitmap.begin(now) else { return false };
        for &waiter in waiters {
            self.transactions[waiter].before.waited(&mut self.trails, now, What::Bitmap);
        }
        true
    }

    /// Plans to write them.
    pub(super) fn plan_marks(&mut self, plan: &mut Plan) {
        let members = self.members.delivered.len() as u16;
        if let Some(bitmap) = self.bitmap.as_deref_mut() {
            bitmap.plan(&self.members.health, members, plan);
        }
    }

    /// Members collected where the bitmap waited for them.
    pub(super) fn marks_are_affected(&mut self) {
        if let Some(bitmap) = self.bitmap.as_deref_mut() {
            bitmap.has_met_gc = true;
        }
    }

    /// The blocks are written, and `chain` says where the time went: whoever waited for them, and is let go.
    #[must_use = "they have to go on"]
    pub(super) fn marks_are_set(&mut self, chain: &Chain, now: SimTime) -> Vec<u32> {
        let Some(bitmap) = self.bitmap.as_deref_mut() else { return Vec::new() };
        let (waiters, since, is_affected) = (bitmap.are_written(), bitmap.since, bitmap.has_met_gc);
        if bitmap.falls_due() {
            self.agenda.push(now, Message::Mark);
        }
        for &waiter in &waiters {
            self.waiting -= 1;
            let running = &mut self.transactions[waiter];
            let before = &mut running.before;
            if before.finish == since {
                before.blame.add(&chain.blame);
                if let Some(trails) = &mut self.trails {
                    before.trail = trails.joined(before.trail, chain.trail);
                }
                before.tells_longer(chain.gc_wait);
                before.finish = now;
            } else {
                // It came later, and waited for what others had begun.
                before.waited(&mut self.trails, now, What::Bitmap);
            }
            if let Some(request) = running.purpose.request() {
                self.requests[request].met_gc |= is_affected;
            }
        }
        waiters
    }

    /// A transaction that was let go is over.
    pub(super) fn has_written(&mut self, spec: &Transaction, now: SimTime) {
        if let Some(bitmap) = self.bitmap.as_deref_mut() {
            bitmap.leave(spec);
        }
        self.arrange_pass(now);
    }

    /// Arranges the next pass, if there is anything to clear.
    pub(super) fn arrange_pass(&mut self, now: SimTime) {
        let is_whole = self.members.health.is_whole();
        let Some(bitmap) = self.bitmap.as_deref_mut().filter(|bitmap| !bitmap.has_pass) else { return };
        if is_whole && bitmap.is_untidy() {
            bitmap.has_pass = true;
            self.agenda.push(now + bitmap.delay, Message::Pass);
        }
    }

    /// Clears what nobody has written for a while. Whether blocks are about to be written for that; then the next pass is arranged.
    #[must_use = "it has to be begun"]
    pub(super) fn pass(&mut self, now: SimTime) -> bool {
        let is_whole = self.members.health.is_whole();
        let Some(bitmap) = self.bitmap.as_deref_mut() else { return false };
        bitmap.has_pass = false;
        if is_whole {
            bitmap.pass();
        }
        is_whole && self.mark(now)
    }

    /// The array starts again after a loss of power; if it was being written, what the bits say is to be gone through.
    pub(super) fn read_bitmap(&mut self, is_dirty: bool, now: SimTime) {
        if let Some(bitmap) = self.bitmap.as_deref_mut()
            && is_dirty
        {
            bitmap.are_dirty();
        }
        self.arrange_pass(now);
    }

    /// Members are gone through up to there.
    pub(super) fn bits_are_synced_to(&mut self, end: Bytes, now: SimTime) {
        if let Some(bitmap) = self.bitmap.as_deref_mut() {
            bitmap.are_synced_to(end);
        }
        self.arrange_pass(now);
    }
}
