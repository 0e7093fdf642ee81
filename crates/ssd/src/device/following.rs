//! What becomes of pages, told to a probe that follows them; for any other nothing here is compiled.
//!
//! Everything is told before it counts: what is known of a page right before the page is done or refused.

use harmonia_types::{Blame, IoCause, SimDuration, SimTime};

use super::Device;
use super::account::Share;
use super::cache::ProgramEnded;
use super::owner::Owner;
use super::queue::{OpKind, PageOp};
use crate::block::BlockId;
use crate::die::command::Activity;
use crate::follow::{MapTouch, Met, PageAccount, Place, VictimTaken, Why, Work};
use crate::front::Awaited;
use crate::probe::{Origin, Probe};

impl<P: Probe> Device<P> {
    /// A die is to collect from now on.
    #[inline]
    pub(super) fn follow_demand(&mut self, die: u32, why: Why, now: SimTime) {
        if let Some(follower) = self.probe.follower() {
            follower.wants(die, why, now);
        }
    }

    /// A die collects a block, whose live pages have yet to move.
    #[inline]
    pub(super) fn follow_victim(&mut self, die: u32, unit: u32, block: BlockId, now: SimTime) {
        if let Some(follower) = self.probe.follower() {
            let live = self.ftl.blocks(unit).closed_valid(block).unwrap_or_default();
            let plane = self.ftl.plane_of(unit, block.0);
            let levels = self.ftl.units[unit as usize].moves_for == IoCause::Leveling;
            follower.takes(die, VictimTaken { at: now, plane, block: block.0, live, levels });
        }
    }

    /// A host operation of a die is done: where it was, and what it waited for.
    #[cold]
    pub(super) fn follow_op(&mut self, die: u32, op: &PageOp, share: &Share, blame: &Blame, now: SimTime) {
        let blame = &match op.owner.get() {
            Owner::Host(sub) => self.subs[sub].with_controller(*blame),
            Owner::Cache(_) | Owner::Map(_) => *blame,
        };
        let token = match op.owner.get() {
            Owner::Host(sub) => Some(self.subs[sub].token),
            Owner::Cache(_) | Owner::Map(_) => None,
        };
        let is_background = self.is_background(op.owner);
        let plane = token.and_then(|token| self.plane_followed(Origin { token, page: op.page }));
        let account = self.account_of((die, op.ready), share, plane, blame);
        let Some(follower) = self.probe.follower() else { return };
        let work = match op.kind {
            _ if is_background => Work::Background,
            OpKind::Read => Work::Read,
            OpKind::Write | OpKind::PartialWrite | OpKind::Trim => Work::Program,
        };
        if op.kind != OpKind::Trim {
            follower.serves(die, work, now);
        }
        match op.owner.get() {
            Owner::Host(_) => follower.says_of_next(account),
            Owner::Cache(_) => {}
            Owner::Map(frame) => self.follow_map(die, frame, op, account, now),
        }
    }

    /// A page of the map was read or written.
    fn follow_map(&mut self, die: u32, frame: u32, op: &PageOp, account: PageAccount, now: SimTime) {
        // What began before a loss of power is of no consequence after it.
        if self.mapping.as_ref().is_none_or(|mapping| mapping.losses != op.page) {
            return;
        }
        let (slot, ready) = (&self.dies[die as usize], op.ready);
        let start = slot.command.start;
        let met = slot.collected_since(ready).map(|(begin, end)| (begin.max(ready), end.min(start)));
        let collected = met.filter(|(begin, end)| begin < end).collect();
        let plane = self.ftl.lookup(op.unit, op.lpn).map(|(block, _)| self.ftl.plane_of(op.unit, block));
        let place = account.place.map(|place| Place { plane, ..place });
        let account = PageAccount { place, ..account };
        let is_read = op.kind == OpKind::Read;
        if let Some(follower) = self.probe.follower() {
            follower.map_touched(frame, MapTouch { is_read, ready, start, end: now, collected, account });
        }
    }

    /// A page goes on that has waited for the page of the map with this entry.
    #[cold]
    pub(super) fn follow_map_wait(&mut self, page: (u64, u32), lpn: u32, times: (SimTime, SimTime)) {
        let Some(follower) = self.probe.follower() else { return };
        let pages = self.mapping.as_ref().map(|mapping| &mapping.pages);
        if let Some(frame) = pages.and_then(|pages| pages.frame_of(pages.page_of(lpn))) {
            follower.waited_for_map(page, frame, times);
        }
    }

    /// The plane in which a page that was followed was read or programmed last.
    pub(super) fn plane_followed(&mut self, origin: Origin) -> Option<u32> {
        let (unit, page) = self.probe.follower()?.place_of(origin.token, origin.page)?;
        Some(self.ftl.plane_of(unit, page.0 >> self.rules.shape.page_bits))
    }

    /// What a page waited for that its die has served, for which it was ready at a time.
    fn account_of(
        &mut self,
        (die, ready): (u32, SimTime),
        share: &Share,
        plane: Option<u32>,
        blame: &Blame,
    ) -> PageAccount {
        let command = &self.dies[die as usize].command;
        let start = command.start;
        let (bus_host, bus_gc) = (command.bus_wait_host.0, command.bus_wait_gc.0);
        let account = self.waited_for(die, (ready, start), blame);
        let on_die: u64 = account.collections.iter().map(|met| met.ns).sum();
        let background = self.background_between(die, ready, start).0;
        let for_host = (start.saturating_since(ready).0).saturating_sub(on_die + background);
        let inside = blame.queue_host.saturating_sub(for_host);
        let host_on_bus = inside.min(bus_host);
        PageAccount {
            place: account.place.map(|place| Place { plane, ..place }),
            gc_on_bus: bus_gc,
            gc_in_command: share.gc_ahead.0,
            host_on_bus,
            host_in_command: inside - host_on_bus,
            ..account
        }
    }

    /// A write of the cache is answered because its program has ended. It waited for its die from its admission on. What it waited for
    /// collection before that, for its slot, is told without the collection.
    #[cold]
    pub(super) fn follow_awaited(
        &mut self,
        awaited: &Awaited,
        program: &ProgramEnded,
        plane: Option<u32>,
        blame: &Blame,
    ) {
        let &ProgramEnded { die, ready, share, .. } = program;
        let account = self.account_of((die, ready), &share, plane, blame);
        let start = self.dies[die as usize].command.start;
        let PageAccount { mut collections, before, .. } =
            self.waited_for(die, (awaited.admitted, start), blame);
        if awaited.collected > SimDuration::ZERO {
            collections.push(Met { ns: awaited.collected.0, collection: None });
        }
        if let Some(follower) = self.probe.follower() {
            follower.says_of_next(PageAccount { collections, before, ..account });
        }
    }

    /// An operation leaves the queue of a die without having been served.
    #[cold]
    pub(super) fn follow_refused(&mut self, die: u32, (ready, now): (SimTime, SimTime), blame: &Blame) {
        let account = self.waited_for(die, (ready, now), blame);
        if let Some(follower) = self.probe.follower() {
            follower.says_of_next(account);
        }
    }

    /// The page in a slot of the write cache is on flash: who waits for the slot has waited since `since` for its die.
    #[cold]
    pub(super) fn follow_slot(&mut self, die: u32, slot: u32, since: SimTime, share: &Share) {
        let command = &self.dies[die as usize].command;
        let (start, gc_on_bus) = (command.start, command.bus_wait_gc.0);
        let account = self.waited_for(die, (since.min(start), start), &Blame::NONE);
        let account = PageAccount { gc_on_bus, gc_in_command: share.gc_ahead.0, ..account };
        if let Some(follower) = self.probe.follower() {
            follower.frees_slot(slot, account);
        }
    }

    /// What an operation waited for at a die: its collections, and what else it served.
    fn waited_for(&mut self, die: u32, (from, until): (SimTime, SimTime), blame: &Blame) -> PageAccount {
        let slot = &self.dies[die as usize];
        let runs = slot.runs_collection() && slot.activity != Activity::Suspending;
        let since = if runs { slot.command_began } else { slot.held_since };
        let running = Some((since, until)).filter(|_| since < until);
        let logged = slot.collected_since(from).chain(running);
        let met = logged.map(|(begin, end)| (begin.max(from), end.min(until)));
        let collected: Vec<(SimTime, SimTime)> = met.filter(|(begin, end)| begin < end).collect();
        let channel = self.rules.channel_of(die) as u32;
        let Some(follower) = self.probe.follower() else { return PageAccount::default() };
        PageAccount {
            blame: *blame,
            place: Some(Place { channel, die, plane: None }),
            before: follower.served_between(die, from, until),
            collections: follower.met(die, &collected),
            ..PageAccount::default()
        }
    }
}
