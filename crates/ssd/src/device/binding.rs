//! Operations whose die is known only when their data is over the link: they wait for that, and are then bound to a die.
//!
//! Which die takes a write, `placement` says where the allocation is dynamic, and `superblocks` where dies share their blocks.

use harmonia_types::{Lpn, SimTime};

use super::owner::Owner;
use super::placement::UNBOUND;
use super::queue::{OpKind, PageOp};
use super::{Device, DeviceFailure};
use crate::ftl::To;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// One page of a sub-request has arrived: it is bound at once, or when its data is over the link.
    pub(super) fn place_later(&mut self, op: PageOp, now: SimTime) -> Result<(), DeviceFailure> {
        self.interrupted |= !self.is_background(op.owner);
        let Some(placement) = &mut self.placement else {
            unreachable!("asked for with dynamic allocation only")
        };
        let follows = placement.waiting.get(&op.lpn).is_some_and(|waiting| waiting.landing > 0);
        if follows || op.ready > now {
            placement.land_later(PageOp { unit: UNBOUND, ..op });
            return Ok(());
        }
        self.place(op, now)
    }

    /// Binds an operation to a unit and queues it at its die. One that asks to fail fast is refused if that die collects: a
    /// write may have gone over the link for nothing, because its die is chosen after that.
    fn place(&mut self, op: PageOp, now: SimTime) -> Result<(), DeviceFailure> {
        let Some(placement) = &mut self.placement else { return Ok(()) };
        let bound =
            placement.waiting.get(&op.lpn).filter(|waiting| waiting.bound > 0).map(|waiting| waiting.unit);
        let nothing_waits = placement.waiting.get(&op.lpn).is_some_and(|w| w.bound + w.landing == 0);
        if nothing_waits {
            placement.waiting.remove(&op.lpn);
        }
        let home = self.ftl.home(op.lpn);
        let unit = match (bound, op.kind) {
            (Some(unit), _) => unit,
            (None, OpKind::Read | OpKind::Trim) if home.is_none() => {
                // What it waited for was trimmed.
                match op.kind {
                    OpKind::Read => self.finish_unmapped_read(op.owner.sub(), op.page, 0, op.lpn, now),
                    _ => {
                        self.probe.trim(Lpn(op.lpn));
                        match op.owner.get() {
                            Owner::Host(sub) => self.finish_page_at(sub, op.page, now),
                            Owner::Cache(slot) => self.is_unmapped(slot, now),
                            Owner::Map(_) => unreachable!("a map lies where the numbers of its pages say"),
                        }
                    }
                }
                return Ok(());
            }
            (None, OpKind::Write) if op.unit != UNBOUND => op.unit,
            (None, OpKind::Write) => self.choose_unit(op.lpn, home),
            (None, _) => match home {
                Some(home) => home,
                None if op.unit != UNBOUND => op.unit,
                None => self.choose_unit(op.lpn, None),
            },
        };
        let die = self.rules.shape.die_of(unit);
        let op = PageOp { unit, ..op };
        if op.fast_fail
            && let Some(left) = self.kept_waiting(die, op.kind.class(), now)
        {
            self.refuse_arriving(op.owner.sub(), op.page, left, now);
            return Ok(());
        }
        if let Some(placement) = &mut self.placement {
            placement.bind(die, &op, home);
        }
        if op.kind.writes() {
            self.ftl.prefetch_block_of(unit, op.lpn);
        }
        self.enqueue(die, op, now)
    }

    /// The first operation that waits for the link is due.
    pub(super) fn land(&mut self) -> Result<(), DeviceFailure> {
        let Some(placement) = &mut self.placement else { return self.land_by_map() };
        let Some((_, op)) = placement.landing.pop_due(SimTime::NEVER) else { return Ok(()) };
        placement.waiting(op.lpn).landing -= 1;
        self.events += 1;
        self.place(op, op.ready)
    }

    /// The first operation that waits for the link is due.
    fn land_by_map(&mut self) -> Result<(), DeviceFailure> {
        let Some(blocks) = &mut self.superblocks else { return Ok(()) };
        let Some((_, op)) = blocks.landing.pop_due(SimTime::NEVER) else { return Ok(()) };
        self.events += 1;
        if self.cache.is_some() {
            return self.enqueue(op.unit, op, op.ready);
        }
        blocks.has_landed(&op);
        self.bind(op, op.ready)
    }

    /// Looks up or changes the map for an operation, and queues it at the die that this names.
    pub(super) fn bind(&mut self, op: PageOp, now: SimTime) -> Result<(), DeviceFailure> {
        let PageOp { unit, lpn, .. } = op;
        let (die, kind) = match op.kind {
            OpKind::Read => {
                let Some(die) = self.die_by_map(unit, lpn) else {
                    self.finish_unmapped_read(op.owner.sub(), op.page, unit, lpn, now);
                    return Ok(());
                };
                self.read_page(&op);
                (die, OpKind::Read)
            }
            OpKind::Trim => {
                self.ftl.unit(unit).trim(lpn, &mut self.probe);
                self.is_worth_collecting(unit);
                match op.owner.get() {
                    Owner::Host(sub) => self.finish_page_at(sub, op.page, now),
                    Owner::Cache(slot) => self.is_unmapped(slot, now),
                    Owner::Map(_) => unreachable!("a map lies in blocks that no dies share"),
                }
                return Ok(());
            }
            OpKind::Write | OpKind::PartialWrite => {
                self.make_room(unit, now)?;
                let completes = op.kind == OpKind::PartialWrite && self.complete_page(&op);
                let to = self.to(&op);
                let die = self.choose_die(unit, self.ftl.next_page_to(unit, to).unwrap_or_default());
                self.write_page(die, &op, to, now)?;
                self.is_worth_collecting(unit);
                self.look_at_unit(unit, now);
                (die, if completes { OpKind::PartialWrite } else { OpKind::Write })
            }
        };
        // What waits at a die is told apart by it: the map is done with.
        let op = PageOp { unit: die, kind, ..op };
        match &mut self.superblocks {
            // Behind a cache its place is settled before that of later writes, and it goes on when the link lets it.
            Some(blocks) if op.ready > now => {
                blocks.landing.push(op.ready, op);
                Ok(())
            }
            _ => self.enqueue(die, op, now),
        }
    }

    /// A page from the cache is part of a program that a die is given: its place in the map is settled. It goes to the frontier of its list in
    /// the cache, as `to` says.
    pub(super) fn put_into(
        &mut self,
        (die, program): (u32, u32),
        op: PageOp,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        let completes = op.kind == OpKind::PartialWrite && self.complete_page(&op);
        let to = self.to(&op);
        self.write_page(die, &op, to, now)?;
        let kind = if completes { OpKind::PartialWrite } else { OpKind::Write };
        self.enqueue(die, PageOp { unit: die, page: program, kind, ..op }, now)
    }

    /// The next program of a frontier of the host, or the rest of one, is put together at `now`. Returns its die and its number.
    pub(super) fn next_program(
        &mut self,
        unit: u32,
        frontier: u8,
        now: SimTime,
    ) -> Result<(u32, u32), DeviceFailure> {
        self.make_room(unit, now)?;
        let to = To { frontier, handle: 0 };
        let die = self.choose_die(unit, self.ftl.next_page_to(unit, to).unwrap_or_default());
        let Some(blocks) = &mut self.superblocks else { return Ok((die, 0)) };
        blocks.programs = blocks.programs.wrapping_add(1);
        Ok((die, blocks.programs))
    }
}
