//! The flash of one member: what every page of it holds.
//!
//! It refuses what flash cannot do: a program of a page that is not erased, or out of order within its block, and
//! finding another page's data where a page was expected.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use harmonia_ssd::probe::{FlashPage, Origin, Probe};
use harmonia_ssd::{Ftl, Shape};
use harmonia_types::{DeviceId, IoCause, Lpn, Ppn};

use super::content::{Content, Stamp};
use super::world::World;

const NOBODY: u32 = u32::MAX;

/// Page operations of a member.
#[derive(Debug, Clone, Copy, Default)]
pub struct FlashCounts {
    pub reads: u64,
    pub programs: u64,
    /// Programs of part of a page that read the rest before.
    pub merges: u64,
    /// Pages moved by garbage collection.
    pub moves: u64,
    /// Pages discarded.
    pub trims: u64,
    pub erases: u64,
    /// Pages of the map that were read.
    pub maps: u64,
    /// Pages in a write cache, and pages trimmed there, that losses of power took.
    pub lost: u64,
}

/// What a slot of a member's write cache holds of a page.
struct Held<C> {
    lpn: Lpn,
    page: Vec<C>,
    /// By sector: it is there.
    is_there: Vec<bool>,
}

/// What a write cache has yet to do to a page on flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Program(u32),
    Unmap,
}

/// A member's flash.
pub struct Flash<C: Content> {
    world: Arc<Mutex<World<C>>>,
    /// The number the device was made with.
    number: DeviceId,
    /// By logical page: holds garbage until something is written or discarded there, as all pages of a spare do, and spare space.
    is_spare: Vec<bool>,
    /// By logical page.
    touched: Vec<bool>,
    page_sectors: usize,
    page_bits: u32,
    data_pages: u32,
    blocks: usize,
    /// By unit, flash page and sector.
    held: Vec<C>,
    /// By unit and flash page: whose data it is.
    owner: Vec<u32>,
    /// By unit and block: pages programmed since it was erased.
    written: Vec<u32>,
    /// Programs may go without pages, which hold nothing.
    skips: bool,
    /// By logical page: what a write of part of it found there, until it is programmed.
    merged: BTreeMap<u32, Vec<C>>,
    page: Vec<C>,
    /// A page that is not mapped.
    blank: Vec<C>,
    /// By slot of its write cache.
    slots: BTreeMap<u32, Held<C>>,
    /// By page: what the cache has yet to do to flash, in order.
    due: BTreeMap<u32, Vec<Due>>,
    /// The slot whose page is programmed next.
    drained: Option<u32>,
    pub counts: FlashCounts,
}

impl<C: Content> Flash<C> {
    pub fn new(world: Arc<Mutex<World<C>>>, number: DeviceId, shape: &Shape, page_sectors: u64) -> Self {
        let is_spare = {
            let World { damage, places, .. } = &*world.lock().expect("one thread");
            let is_device = damage.member_of(number).is_none();
            let is_space = |page: u64| !is_device && places.line(number, page * page_sectors).is_none();
            (0..u64::from(shape.logical_pages)).map(|page| is_device || is_space(page)).collect()
        };
        let pages = (shape.units() * shape.flash_pages()) as usize;
        let page_sectors = page_sectors as usize;
        Flash {
            world,
            number,
            is_spare,
            touched: vec![false; shape.logical_pages as usize],
            page_sectors,
            page_bits: shape.page_bits,
            data_pages: shape.data_pages,
            blocks: shape.blocks_per_unit as usize,
            held: vec![C::ZERO; pages * page_sectors],
            owner: vec![NOBODY; pages],
            written: vec![0; (shape.units() * shape.blocks_per_unit) as usize],
            skips: shape.packing.packs(),
            merged: BTreeMap::new(),
            page: vec![C::ZERO; page_sectors],
            blank: vec![C::ZERO; page_sectors],
            slots: BTreeMap::new(),
            due: BTreeMap::new(),
            drained: None,
            counts: FlashCounts::default(),
        }
    }

    /// What a logical page holds now, as the mapping says; `None` if it is not mapped.
    pub fn contents(&self, ftl: &Ftl, lpn: u32) -> Option<Vec<C>> {
        let mut page = self.on_flash(ftl, lpn).map(<[C]>::to_vec);
        for due in self.due.get(&lpn).into_iter().flatten() {
            page = match due {
                Due::Unmap => None,
                Due::Program(slot) => {
                    let held = &self.slots[slot];
                    let mut over = page.unwrap_or_else(|| self.unmapped_page(lpn));
                    for sector in (0..self.page_sectors).filter(|&sector| held.is_there[sector]) {
                        over[sector] = held.page[sector];
                    }
                    Some(over)
                }
            };
        }
        page
    }

    fn unmapped_page(&self, lpn: u32) -> Vec<C> {
        (0..self.page_sectors).map(|sector| self.unmapped(Lpn(lpn), sector)).collect()
    }

    /// The first time that this is due, it is done.
    fn is_done(&mut self, lpn: Lpn, done: Due) {
        if let Some(due) = self.due.get_mut(&lpn.0)
            && let Some(at) = due.iter().position(|due| *due == done)
        {
            due.remove(at);
        }
    }

    fn on_flash(&self, ftl: &Ftl, lpn: u32) -> Option<&[C]> {
        let shape = ftl.shape();
        let (unit, in_unit) = if shape.is_dynamic() {
            (ftl.home(lpn)?, lpn)
        } else {
            let (_, unit, in_unit) = shape.locate(lpn);
            (unit, in_unit)
        };
        let (block, page) = ftl.lookup(unit, in_unit)?;
        let place = FlashPage { unit, ppn: Ppn(block << self.page_bits | page) };
        Some(&self.held[self.load(place, Lpn(lpn))..][..self.page_sectors])
    }

    /// What a sector of a page holds that is not mapped.
    pub fn unmapped(&self, lpn: Lpn, sector: usize) -> C {
        if !self.is_spare[lpn.0 as usize] || self.touched[lpn.0 as usize] {
            return C::ZERO;
        }
        C::of(Stamp::garbage(self.number.0, u64::from(lpn.0) * self.page_sectors as u64 + sector as u64))
    }

    /// Fills `blank` with what a page holds that is not mapped.
    fn fill_blank(&mut self, lpn: Lpn) {
        for sector in 0..self.page_sectors {
            self.blank[sector] = self.unmapped(lpn, sector);
        }
    }

    fn index(&self, page: FlashPage) -> usize {
        ((page.unit as usize * self.blocks) << self.page_bits) + page.ppn.0 as usize
    }

    /// Where the sectors of a page that must hold `lpn` begin.
    fn load(&self, from: FlashPage, lpn: Lpn) -> usize {
        let index = self.index(from);
        assert_eq!(self.owner[index], lpn.0, "{from:?} of member {} is not {lpn:?}", self.number.0);
        index * self.page_sectors
    }

    /// Where the sectors of a page begin that is programmed now.
    fn store(&mut self, to: FlashPage, lpn: Lpn) -> usize {
        let (block, page) = (to.ppn.0 >> self.page_bits, to.ppn.0 & ((1 << self.page_bits) - 1));
        assert!(page < self.data_pages, "{to:?}: data in a summary page");
        let next = &mut self.written[to.unit as usize * self.blocks + block as usize];
        let is_next = page == *next || self.skips && page > *next;
        assert!(is_next, "{to:?}: pages of a block are programmed in order, once between erases");
        *next = page + 1;
        let index = self.index(to);
        self.owner[index] = lpn.0;
        // Pages of the map lie behind those that the array sees.
        if let Some(touched) = self.touched.get_mut(lpn.0 as usize) {
            *touched = true;
        }
        index * self.page_sectors
    }
}

impl<C: Content> Probe for Flash<C> {
    fn program(&mut self, to: FlashPage, lpn: Lpn, cause: IoCause, origin: Option<Origin>) {
        let origin = origin.expect("nothing is aged here");
        if origin.token == Origin::MAP {
            self.store(to, lpn);
            return;
        }
        self.counts.programs += 1;
        let mut page = std::mem::take(&mut self.page);
        match self.merged.remove(&lpn.0) {
            Some(rest) => page.copy_from_slice(&rest),
            None => {
                self.fill_blank(lpn);
                page.copy_from_slice(&self.blank);
            }
        }
        let start = self.store(to, lpn);
        if let Some(slot) = self.drained.take() {
            let held = &self.slots[&slot];
            for sector in (0..self.page_sectors).filter(|&sector| held.is_there[sector]) {
                page[sector] = held.page[sector];
            }
            self.is_done(lpn, Due::Program(slot));
            self.held[start..start + self.page_sectors].copy_from_slice(&page);
            self.page = page;
            return;
        }
        let mut world = self.world.lock().expect("one thread");
        // What has failed may go on, and nobody listens.
        if let Some(member) = world.damage.member_of(self.number) {
            world.programs(member, lpn, cause, origin, &mut page);
        }
        drop(world);
        self.held[start..start + self.page_sectors].copy_from_slice(&page);
        self.page = page;
    }

    fn merge(&mut self, from: FlashPage, lpn: Lpn, _: Origin) {
        self.counts.merges += 1;
        let start = self.load(from, lpn);
        let rest = self.held[start..start + self.page_sectors].to_vec();
        assert!(self.merged.insert(lpn.0, rest).is_none(), "the rest of {lpn:?} is read once");
    }

    fn admit(&mut self, slot: u32, lpn: Lpn, cause: IoCause, origin: Origin, absorbs: bool) {
        let mut world = self.world.lock().expect("one thread");
        let new =
            || Held { lpn, page: vec![C::ZERO; self.page_sectors], is_there: vec![false; self.page_sectors] };
        if !absorbs {
            self.slots.insert(slot, new());
        }
        let held = self.slots.get_mut(&slot).expect("a slot that holds something");
        assert_eq!(held.lpn, lpn, "a slot holds one page");
        if let Some(member) = world.damage.member_of(self.number) {
            let covers = world.covers(lpn, origin);
            world.programs(member, lpn, cause, origin, &mut held.page);
            held.is_there[covers].fill(true);
        }
        drop(world);
        if !absorbs {
            self.due.entry(lpn.0).or_default().push(Due::Program(slot));
        }
    }

    fn drain(&mut self, slot: u32, lpn: Lpn) {
        assert_eq!(self.slots[&slot].lpn, lpn, "a slot holds one page");
        self.drained = Some(slot);
    }

    fn discard(&mut self, lpn: Lpn) {
        // What was written last goes, and what flash has.
        let due = self.due.entry(lpn.0).or_default();
        assert!(matches!(due.pop(), Some(Due::Program(_))), "the latest data waited");
        due.push(Due::Unmap);
        self.touched[lpn.0 as usize] = true;
    }

    fn lose(&mut self, slot: u32, lpn: Lpn) {
        self.counts.lost += 1;
        let due = self.due.get_mut(&lpn.0).expect("what is lost was due");
        let is_it = |due: &Due| *due == Due::Program(slot);
        let at = due.iter().position(is_it).or_else(|| due.iter().position(|due| *due == Due::Unmap));
        due.remove(at.expect("it had not begun"));
        self.merged.remove(&lpn.0);
    }

    fn answer(&mut self, slot: u32, lpn: Lpn, origin: Origin) {
        let held = &self.slots[&slot];
        let mut world = self.world.lock().expect("one thread");
        if let Some(member) = world.damage.member_of(self.number) {
            assert_eq!((held.lpn, held.is_there.contains(&false)), (lpn, false), "all of the page is there");
            world.reads(member, lpn, origin, &held.page);
        }
    }

    fn answer_in_line(&mut self, lpn: Lpn, written: Origin, origin: Origin) {
        let mut world = self.world.lock().expect("one thread");
        if let Some(member) = world.damage.member_of(self.number) {
            let page = world.carried_page(lpn, written);
            world.reads(member, lpn, origin, &page);
        }
    }

    fn copy(&mut self, from: FlashPage, to: FlashPage, lpn: Lpn) {
        self.counts.moves += 1;
        let start = self.load(from, lpn);
        let to = self.store(to, lpn);
        self.held.copy_within(start..start + self.page_sectors, to);
    }

    fn read(&mut self, from: Option<FlashPage>, lpn: Lpn, origin: Origin) {
        if origin.token == Origin::MAP {
            self.counts.maps += 1;
            self.load(from.expect("it was written"), lpn);
            return;
        }
        self.counts.reads += 1;
        let found = from.map(|from| self.load(from, lpn));
        if found.is_none() {
            self.fill_blank(lpn);
        }
        let found = found.map_or(&self.blank[..], |start| &self.held[start..start + self.page_sectors]);
        let mut world = self.world.lock().expect("one thread");
        if let Some(member) = world.damage.member_of(self.number) {
            world.reads(member, lpn, origin, found);
        }
    }

    fn trim(&mut self, lpn: Lpn) {
        self.is_done(lpn, Due::Unmap);
        self.touched[lpn.0 as usize] = true;
        self.counts.trims += 1;
    }

    fn erase(&mut self, unit: u32, block: u32) {
        self.counts.erases += 1;
        let first = (unit as usize * self.blocks + block as usize) << self.page_bits;
        self.owner[first..first + (1 << self.page_bits)].fill(NOBODY);
        self.written[unit as usize * self.blocks + block as usize] = 0;
    }
}
