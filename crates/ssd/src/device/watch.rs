//! What the planes of a die do, told to a probe that asks for it; for any other nothing here is compiled.
//!
//! ```text
//! begin, resume ─► works(plane, what) for each plane ─► wake-up at the command's end, suspend ─► stops
//! ```
//!
//! A plane works from the start of its die's command to the end of it, transfers and waiting for the bus included. A
//! move stands in the plane it reads from. A whole event in one command is known by the planes that gave a victim; how
//! they shared its time is not. Summary pages are not told apart by plane, nor is anything where one program writes several planes: most
//! commands keep all of these busy then.

use harmonia_types::{PlaneWork, SimTime};

use super::Device;
use super::queue::OpKind;
use crate::die::command::{Activity, NO_OP};
use crate::gc::schedule::Class;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// A die begins a command, or goes on with one.
    #[inline]
    pub(super) fn watch_begin(&mut self, die: u32, now: SimTime) {
        if self.probe.watches_planes() {
            self.tell_command(die, now);
        }
    }

    /// A die's command has ended.
    #[inline]
    pub(super) fn watch_end(&mut self, die: u32, now: SimTime) {
        if self.probe.watches_planes() {
            self.probe.stops(now, die);
        }
    }

    /// A die's command is suspended from `now` on.
    #[inline]
    pub(super) fn watch_suspended(&mut self, die: u32, now: SimTime) {
        if self.probe.watches_planes() {
            self.probe.suspends(now, die);
        }
    }

    /// Operations came to a die's queue or left it.
    #[inline]
    pub(super) fn watch_queue(&mut self, die: u32, now: SimTime) {
        if self.probe.watches_planes() {
            self.probe.waits(now, die, self.dies[die as usize].waiting);
        }
    }

    fn tell_command(&mut self, die: u32, now: SimTime) {
        self.watch_queue(die, now);
        let slot = &self.dies[die as usize];
        match slot.activity {
            Activity::Idle | Activity::Settled | Activity::Suspending => {}
            Activity::Host(op) => self.tell_host(die, op, now),
            Activity::Summary => self.probe.works(now, die, None, PlaneWork::Summary),
            Activity::Event => self.tell_event(die, now),
            Activity::Move => self.probe.works(now, die, self.victim_plane(die), PlaneWork::GcMove),
            Activity::Erase => self.probe.works(now, die, self.victim_plane(die), PlaneWork::Erase),
            Activity::Joint(class) => self.tell_parts(die, class, now),
        }
    }

    fn tell_parts(&mut self, die: u32, class: Class, now: SimTime) {
        for index in 0..self.dies[die as usize].parts.len() {
            let slot = &self.dies[die as usize];
            match (slot.parts[index].op, class) {
                (NO_OP, Class::Read) => {
                    self.probe.works(now, die, self.victim_plane(die), PlaneWork::GcRead);
                }
                (NO_OP, Class::Write) => {
                    self.probe.works(now, die, self.destination_plane(die), PlaneWork::GcProgram);
                }
                (op, _) if slot.parts[index].prepares => {
                    self.probe.works(now, die, self.plane_of_op(op), PlaneWork::HostRead);
                }
                // It shares the page that garbage collection reads.
                (op, Class::Read) if slot.has_gc_part() && self.plane_of_op(op) == self.victim_plane(die) => {
                }
                // Of a program that carries several units, one tells what the plane does.
                (..) if index > 0 && class == Class::Write && self.rules.shape.packing.packs() => {}
                (op, _) => self.tell_host(die, op, now),
            }
        }
    }

    fn tell_host(&mut self, die: u32, handle: u32, now: SimTime) {
        let reads = self.ops[handle].kind == OpKind::Read;
        let work = if reads { PlaneWork::HostRead } else { PlaneWork::HostProgram };
        self.probe.works(now, die, self.plane_of_op(handle), work);
    }

    /// The planes of units that gave a victim; which of a unit's several planes did is not known.
    fn tell_event(&mut self, die: u32, now: SimTime) {
        let shape = &self.rules.shape;
        for unit in shape.units_of(die) {
            if self.ftl.units[unit as usize].hidden > 0 {
                let knows = shape.units_per_die == self.rules.geometry.planes_per_die;
                let plane = knows.then(|| shape.unit_in_die(unit).0);
                self.probe.works(now, die, plane, PlaneWork::GcEvent);
            }
        }
    }

    /// The plane of the block that a die's job collects.
    fn victim_plane(&self, die: u32) -> Option<u32> {
        let (unit, victim) = self.dies[die as usize].collection.victim().filter(|_| self.knows_planes())?;
        Some(self.ftl.plane_of(self.rules.shape.unit(die, unit), victim.block.0))
    }

    /// The plane into which a die's job programs a page; not known if a host write of the same page goes along.
    fn destination_plane(&self, die: u32) -> Option<u32> {
        let slot = &self.dies[die as usize];
        let (unit, lpn) = slot.moving?;
        let is_overwritten = slot.running_ops().any(|op| self.ops[op].is_on(unit, lpn));
        if is_overwritten { None } else { self.plane_holding(unit, lpn) }
    }

    fn plane_of_op(&self, handle: u32) -> Option<u32> {
        if self.superblocks.is_some() {
            // The page may have moved since the operation was bound.
            return None;
        }
        self.plane_holding(self.ops[handle].unit, self.ops[handle].lpn)
    }

    /// Whether a block lies in one plane.
    fn knows_planes(&self) -> bool {
        !self.rules.shape.packing.joins_planes()
    }

    /// The plane in which a page's data lies, or is being written.
    fn plane_holding(&self, unit: u32, lpn: u32) -> Option<u32> {
        self.ftl
            .lookup(unit, lpn)
            .filter(|_| self.knows_planes())
            .map(|place| self.ftl.plane_of(unit, place.0))
    }
}
