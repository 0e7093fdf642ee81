//! What a drive remembers whose memory does not hold its map: which operations wait for a page of the map, and how long they did.
//!
//! `lookup` says how operations come here and go on. Others tell this part what has ended, and what moves.

use harmonia_types::{MappingCacheCounters, SimDuration, SimTime};

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
    /// The entry of the page in a slot of the write cache.
    Slot(u32),
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
    /// Nor is it now, and the program ended at this moment.
    Programmed(SimTime),
    /// The map kept it for so long after its program, before somebody else got it.
    Kept(SimDuration),
}

/// The map of a drive as its memory has it, and what waits for it.
#[derive(Debug, Clone)]
pub(super) struct Mapping {
    pub pages: MapCache<Parked>,
    /// Operations that are parked.
    pub operations: usize,
    /// How long the operation waited that enters a queue now; by handle, how long those did that have entered one.
    pub entering: SimDuration,
    waited: Vec<SimDuration>,
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
            entering: SimDuration::ZERO,
            waited: Vec::new(),
            slots: vec![Slot::Free; slots as usize],
            kept: 0,
            losses: 0,
        })
    }

    /// An operation has entered a queue and has got a handle.
    pub fn enters(&mut self, handle: u32) {
        let handle = handle as usize;
        if self.waited.len() <= handle {
            self.waited.resize(handle + 1, SimDuration::ZERO);
        }
        self.waited[handle] = std::mem::take(&mut self.entering);
    }

    /// A page of the map has been read into a frame, or written.
    pub fn has_ended(&mut self, frame: u32, op: &PageOp) {
        match op.kind {
            _ if op.page != self.losses => {}
            OpKind::Read => self.pages.is_there(frame),
            OpKind::Write | OpKind::PartialWrite | OpKind::Trim => self.pages.is_written(frame),
        }
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

    /// The program of the page in a slot of the write cache has ended at `now`: whether the slot is kept until the page of the map is there.
    pub fn keeps(&mut self, slot: u32, now: SimTime) -> bool {
        let of = &mut self.slots[slot as usize];
        let keeps = *of == Slot::Mapping;
        if keeps {
            *of = Slot::Programmed(now);
            self.kept += 1;
        }
        keeps
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
    /// How long the map kept a slot of the write cache that somebody gets now.
    pub(super) fn held_for_map(&mut self, slot: u32) -> SimDuration {
        let Some(mapping) = &mut self.mapping else { return SimDuration::ZERO };
        match mapping.slots[slot as usize] {
            Slot::Kept(time) => {
                mapping.slots[slot as usize] = Slot::Free;
                time
            }
            Slot::Free | Slot::Mapping | Slot::Programmed(_) => SimDuration::ZERO,
        }
    }

    /// How long an operation in a queue, or at work, had waited for a page of the map before. Unit: ns.
    #[inline]
    pub(super) fn waited_for_map(&self, handle: u32) -> u64 {
        self.mapping.as_ref().map_or(0, |mapping| mapping.waited[handle as usize].0)
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
            mapping.slots.iter().map(|slot| matches!(slot, Slot::Programmed(_))).collect();
        mapping.forget_all();
        for what in parked {
            match what {
                Parked::Operation { op, .. } => match op.owner.get() {
                    Owner::Host(sub) => self.forget_page(sub),
                    Owner::Cache(_) | Owner::Map(_) => unreachable!("only operations of the host are parked"),
                },
                Parked::Slot(slot) if programmed[slot as usize] => {
                    if let Some(cache) = &mut self.cache {
                        cache.pages.is_on_flash(slot, SimDuration::ZERO);
                    }
                }
                Parked::Slot(_) | Parked::Entry => {}
            }
        }
    }

    /// Checks the mapping cache against the operations that read and write the map.
    pub(super) fn audit_mapping(&self) {
        let Some(mapping) = &self.mapping else { return };
        mapping.pages.audit();
        let operations = mapping.pages.parked().filter(|what| matches!(what, Parked::Operation { .. }));
        assert_eq!(operations.count(), mapping.operations, "operations that wait for the map");
        let kept = mapping.slots.iter().filter(|slot| matches!(slot, Slot::Programmed(_))).count();
        assert_eq!(kept, mapping.kept, "slots that are kept for the map");
    }
}
