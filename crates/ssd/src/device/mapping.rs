//! What a drive remembers whose memory does not hold its map: which operations wait for a page of the map, and how long they did.
//!
//! `lookup` says how operations come here and go on. Others tell this part what has ended, and what moves.

use harmonia_types::{Blame, MappingCacheCounters, SimDuration, SimTime};

use super::Device;
use super::owner::Owner;
use super::queue::{OpKind, PageOp};
use crate::block::BlockId;
use crate::config::SsdConfig;
use crate::ftl::Ftl;
use crate::map_cache::MapCache;
use crate::probe::Probe;
use crate::shape::Shape;

/// What waits for a page of the map.
#[derive(Debug, Clone, Copy)]
pub(super) enum Parked {
    /// An operation on its way to a die.
    Operation { die: u32, op: PageOp },
    /// The entry of the page in a slot of the write cache, in this page of the map.
    Slot { slot: u32, page: u32 },
    /// An entry for which nobody waits.
    Entry,
}

/// What a slot of the write cache waits for besides its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Nothing.
    Free,
    /// The page of the map is not there.
    Mapping,
    /// Nor was it when the program ended.
    Programmed(Programmed),
    /// The map kept it for so long after its program, before somebody else got it.
    Kept(MapWait),
}

/// The end of a program whose slot the map keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Programmed {
    pub at: SimTime,
    /// Since when the first in line had waited for a slot, and how long of that the die had collected.
    pub first: Option<SimTime>,
    pub collected: SimDuration,
}

/// How long somebody waited for a page of the map.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MapWait {
    pub all: SimDuration,
    /// As long as the die of that page collected before it was read, or written to make room, at most all of it.
    pub collected: SimDuration,
}

impl MapWait {
    /// The last part of it.
    pub fn of_last(self, time: SimDuration) -> MapWait {
        let all = self.all.min(time);
        MapWait { all, collected: self.collected.min(all) }
    }

    /// Adds it to what a page waited for. Whether that met collection by it.
    pub fn add_to(self, blame: &mut Blame) -> bool {
        blame.map_wait += (self.all - self.collected).0;
        blame.queue_gc += self.collected.0;
        self.collected > SimDuration::ZERO
    }
}

/// What a read or a write of a page of the map met of collection.
#[derive(Debug, Clone, Default)]
pub(super) struct HeldUp {
    /// When its die collected while it waited; the latest first.
    collected: Vec<(SimTime, SimTime)>,
    /// When its command began, and how long it waited for collection then, as for a bus.
    began: SimTime,
    inside: SimDuration,
}

impl HeldUp {
    /// It was ready for its die, which had collected so, and its command began.
    fn note(
        &mut self,
        collected: impl Iterator<Item = (SimTime, SimTime)>,
        (ready, began): (SimTime, SimTime),
        inside: SimDuration,
    ) {
        let met = collected.map(|(from, end)| (from.max(ready), end.min(began)));
        self.collected.clear();
        self.collected.extend(met.filter(|(from, end)| from < end));
        (self.began, self.inside) = (began, inside);
    }

    fn forget(&mut self) {
        self.collected.clear();
        self.inside = SimDuration::ZERO;
    }

    /// What somebody met of it who waited since a time.
    fn since(&self, from: SimTime) -> SimDuration {
        let met = |&(begin, end): &(SimTime, SimTime)| end.saturating_since(begin.max(from));
        let inside = if from <= self.began { self.inside } else { SimDuration::ZERO };
        self.collected.iter().map(met).sum::<SimDuration>() + inside
    }
}

/// What a frame of the map waited for because dies collected.
#[derive(Debug, Clone, Default)]
struct FrameWait {
    /// When its page had been written last, and what that met.
    written_at: SimTime,
    written: HeldUp,
    /// What was met by the write that made room for the page which is in it now.
    before: HeldUp,
    /// What was met by the read of that page.
    read: HeldUp,
}

/// The map of a drive as its memory has it, and what waits for it.
#[derive(Debug, Clone)]
pub(super) struct Mapping {
    pub pages: MapCache<Parked>,
    /// Operations that are parked.
    pub operations: usize,
    /// How long the operation waited that enters a queue now; by handle, how long those did that have entered one.
    pub entering: MapWait,
    waited: Vec<MapWait>,
    /// By frame.
    frames: Vec<FrameWait>,
    /// By slot of the write cache.
    pub slots: Vec<Slot>,
    /// Slots whose program has ended.
    pub kept: usize,
    /// Losses of power: what began before one is of no consequence after it.
    pub losses: u32,
}

impl Mapping {
    /// Of a drive whose memory does not hold its map.
    pub fn new(config: &SsdConfig, shape: &Shape) -> Option<Mapping> {
        let slots = config.write_cache.pages(shape.page_size).unwrap_or(0);
        Some(Mapping {
            pages: MapCache::new(config, shape)?,
            operations: 0,
            entering: MapWait::default(),
            waited: Vec::new(),
            frames: Vec::new(),
            slots: vec![Slot::Free; slots as usize],
            kept: 0,
            losses: 0,
        })
    }

    /// An operation has entered a queue and has got a handle.
    pub fn enters(&mut self, handle: u32) {
        let handle = handle as usize;
        if self.waited.len() <= handle {
            self.waited.resize(handle + 1, MapWait::default());
        }
        self.waited[handle] = std::mem::take(&mut self.entering);
    }

    /// A page of the map has got a frame. If its turn comes because another one was written, it has waited for that.
    pub fn gets(&mut self, frame: u32, now: SimTime) {
        let FrameWait { written_at, written, before, read } = self.frame(frame);
        before.forget();
        read.forget();
        if *written_at == now {
            std::mem::swap(written, before);
        }
    }

    fn frame(&mut self, frame: u32) -> &mut FrameWait {
        let frame = frame as usize;
        if self.frames.len() <= frame {
            self.frames.resize(frame + 1, FrameWait::default());
        }
        &mut self.frames[frame]
    }

    /// A page of the map has been read into a frame, or written. Its die had collected so, and it waited so long for collection when its
    /// command had begun.
    pub fn has_ended(
        &mut self,
        (frame, op): (u32, &PageOp),
        collected: impl Iterator<Item = (SimTime, SimTime)>,
        (began, inside): (SimTime, SimDuration),
        now: SimTime,
    ) {
        if op.page != self.losses {
            return;
        }
        let wait = self.frame(frame);
        match op.kind {
            OpKind::Read => {
                wait.read.note(collected, (op.ready, began), inside);
                self.pages.is_there(frame);
            }
            OpKind::Write | OpKind::PartialWrite | OpKind::Trim => {
                wait.written_at = now;
                wait.written.note(collected, (op.ready, began), inside);
                self.pages.is_written(frame);
            }
        }
    }

    /// How long somebody waited for a page of the map that is there now.
    pub fn wait_for(&self, page: u32, from: SimTime, now: SimTime) -> MapWait {
        let all = now.saturating_since(from);
        let frame = self.pages.frame_of(page).and_then(|frame| self.frames.get(frame as usize));
        let collected =
            frame.map_or(SimDuration::ZERO, |frame| frame.before.since(from) + frame.read.since(from));
        MapWait { all, collected }.of_last(all)
    }

    /// All that is live in a block is about to move.
    #[cold]
    pub fn will_move(&mut self, ftl: &Ftl, unit: u32, block: BlockId) {
        let mut next = ftl.next_live(unit, block.0, 0);
        while let Some(page) = next {
            if let Some(lpn) = ftl.lpn_at(unit, block.0, page) {
                self.moves(ftl, unit, lpn);
            }
            next = ftl.next_live(unit, block.0, page + 1);
        }
    }

    /// A logical page of a unit is about to move. Where pages of the map lie, the directory says.
    pub fn moves(&mut self, ftl: &Ftl, unit: u32, lpn: u32) {
        let shape = ftl.shape();
        if !shape.map_pages().contains(&lpn) {
            self.pages.moves(shape.device_lpn(unit, lpn).0);
        }
    }

    /// The program of the page in a slot of the write cache has ended: whether the slot is kept until the page of the map is there.
    pub fn keeps(&mut self, slot: u32, program: Programmed) -> bool {
        let keeps = self.will_keep(slot);
        if keeps {
            self.slots[slot as usize] = Slot::Programmed(program);
            self.kept += 1;
        }
        keeps
    }

    /// Whether it would, if the program ended now.
    pub fn will_keep(&self, slot: u32) -> bool {
        self.slots[slot as usize] == Slot::Mapping
    }

    /// Slots that are kept although their programs have ended.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Operations and slots that wait for a page of the map, and do not count elsewhere.
    pub fn parked(&self) -> usize {
        self.operations + self.kept
    }

    /// Nothing is there any more, and nobody waits.
    pub fn forget_all(&mut self) {
        self.pages.forget_all();
        self.slots.fill(Slot::Free);
        (self.operations, self.kept) = (0, 0);
        self.losses = self.losses.wrapping_add(1);
    }
}

impl<P: Probe> Device<P> {
    /// A page of the map has got a frame.
    pub(super) fn frame_is_given(&mut self, frame: u32, now: SimTime) {
        if let Some(mapping) = &mut self.mapping {
            mapping.gets(frame, now);
        }
        if let Some(follower) = self.probe.follower() {
            follower.map_gets(frame, now);
        }
    }

    /// How long the map kept a slot of the write cache that somebody gets now.
    pub(super) fn held_for_map(&mut self, slot: u32) -> MapWait {
        let Some(mapping) = &mut self.mapping else { return MapWait::default() };
        match mapping.slots[slot as usize] {
            Slot::Kept(time) => {
                mapping.slots[slot as usize] = Slot::Free;
                time
            }
            Slot::Free | Slot::Mapping | Slot::Programmed(..) => MapWait::default(),
        }
    }

    /// Takes what an operation waited for a page of the map out of `blame.link`. Whether it met collection by that.
    #[inline]
    pub(super) fn account_for_map(&self, handle: u32, blame: &mut Blame) -> bool {
        let Some(mapping) = &self.mapping else { return false };
        let wait = mapping.waited[handle as usize];
        blame.link -= wait.all.0;
        wait.add_to(blame)
    }

    /// What the mapping cache has counted.
    pub(super) fn counted_by_mapping(&self) -> MappingCacheCounters {
        self.mapping.as_ref().map(|mapping| mapping.pages.counters()).unwrap_or_default()
    }

    /// Power is lost: nothing of the map is there, and what waited for it is forgotten. Slots of the write cache whose programs have ended
    /// are free.
    pub(super) fn forget_map(&mut self) {
        let Some(mapping) = &mut self.mapping else { return };
        let parked: Vec<Parked> = mapping.pages.parked().copied().collect();
        let programmed: Vec<bool> =
            mapping.slots.iter().map(|slot| matches!(slot, Slot::Programmed(..))).collect();
        mapping.forget_all();
        for what in parked {
            match what {
                Parked::Operation { op, .. } => match op.owner.get() {
                    Owner::Host(sub) => self.forget_page(sub),
                    Owner::Cache(_) | Owner::Map(_) => unreachable!("only operations of the host are parked"),
                },
                Parked::Slot { slot, .. } if programmed[slot as usize] => {
                    if let Some(cache) = &mut self.cache {
                        cache.pages.is_on_flash(slot, SimDuration::ZERO);
                    }
                }
                Parked::Slot { .. } | Parked::Entry => {}
            }
        }
    }

    /// Checks the mapping cache against the operations that read and write the map.
    pub(super) fn audit_mapping(&self) {
        let Some(mapping) = &self.mapping else { return };
        // Four pages of the map an event, on average, however many there are.
        if self.events.is_multiple_of(u64::from(mapping.pages.map_pages() / 4).max(1)) {
            mapping.pages.audit();
        }
        let operations = mapping.pages.parked().filter(|what| matches!(what, Parked::Operation { .. }));
        assert_eq!(operations.count(), mapping.operations, "operations that wait for the map");
        let kept = mapping.slots.iter().filter(|slot| matches!(slot, Slot::Programmed(..))).count();
        assert_eq!(kept, mapping.kept, "slots that are kept for the map");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The die collected from 20 to 100 and from 150 to 200 and served others between and after that; the command began at 300.
    #[test]
    fn who_comes_later_has_met_what_was_left_of_collection() {
        let collected = [(SimTime(150), SimTime(200)), (SimTime(20), SimTime(100))];
        let mut held_up = HeldUp::default();
        held_up.note(collected.into_iter(), (SimTime(50), SimTime(300)), SimDuration(7));
        for (from, met) in [(0, 107), (50, 107), (80, 77), (120, 57), (180, 27), (250, 7), (301, 0)] {
            assert_eq!(held_up.since(SimTime(from)), SimDuration(met), "since {from}");
        }
        held_up.forget();
        assert_eq!(held_up.since(SimTime(0)), SimDuration::ZERO);
    }
}
