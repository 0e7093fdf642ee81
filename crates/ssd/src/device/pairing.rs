//! What garbage collection could have taken along, what it did, and why not.
//!
//! Counted for schedules that pair: every page read and every page programmed of a collection offers a place in each
//! sibling plane. Also counted, for all schedules: how many host operations wait at a die when it begins to collect.

use super::Device;
use super::queue::PageOp;
use super::steps::Due;
use crate::block::BlockId;
use crate::die::command::NO_OP;
use crate::gc::schedule::{Class, DieQueues, HostToken, MultiPlane};
use crate::probe::Probe;
use harmonia_types::{Counters, SimTime};
pub use harmonia_types::{Pairing, QueueDepth};

/// For each plane of a die, the blocks whose pages it may skip before any victim wins one.
const BLOCKS_IN_ADVANCE: u32 = 4;

impl<P: Probe> Device<P> {
    /// Whether a host operation that waits may go along in what is due of a die's job, ready or not. Asking the schedule tells;
    /// this only tells when it need not be asked.
    #[inline]
    pub(super) fn may_match(&self, die: u32, unit: u32, due: Due) -> bool {
        let Some(lanes) = &self.lanes else { return true };
        let shares_unit = self.rules.shape.units_per_die == 1;
        let mut siblings = self.units_of(die).filter(|&sibling| shares_unit || sibling != unit);
        match due {
            Due::Choose | Due::Erase | Due::ReadAhead(..) => false,
            Due::Read(page) => siblings.any(|sibling| {
                let lies_there =
                    |op: &PageOp| self.ftl.lookup(op.unit, op.lpn).is_some_and(|place| place.1 == page);
                lanes.iter(sibling, Class::Read, &self.ops).any(|(_, op)| lies_there(op))
            }),
            Due::Program(_) => {
                let page = self.ftl.next_gc_page(unit).map_or(0, |next| next.1);
                siblings.any(|sibling| {
                    let waits = lanes.head(sibling, Class::Write) != NO_OP;
                    waits && self.ftl.host_page_at(sibling, page).is_some()
                })
            }
        }
    }

    /// Counts the places that a half of a page move, in `plane` at page offset `page`, offers, and what becomes of them.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn count_pairing(
        &mut self,
        die: u32,
        class: Class,
        place: (u32, u32),
        along: Option<&MultiPlane>,
        now: SimTime,
    ) {
        if !self.rules.pairs {
            return;
        }
        if self.dies[die as usize].head == NO_OP {
            let siblings = u64::from(self.rules.geometry.planes_per_die - 1);
            let counter = self.paired(class);
            counter.offered += siblings;
            counter.none_waiting += siblings;
        } else {
            self.count_places(die, class, place, along, now);
        }
    }

    fn count_places(
        &mut self,
        die: u32,
        class: Class,
        (plane, page): (u32, u32),
        along: Option<&MultiPlane>,
        now: SimTime,
    ) {
        let queues = self.queues(die);
        let planes = self.rules.geometry.planes_per_die;
        let mut pairing = Pairing { offered: u64::from(planes - 1), ..Pairing::default() };
        for sibling in (0..planes).filter(|&sibling| sibling != plane) {
            let takes = |HostToken(handle): HostToken| {
                let op = &self.ops[handle];
                let block = match class {
                    Class::Read => self.ftl.lookup(op.unit, op.lpn).map(|place| place.0),
                    // Not where its unit would write next: that is aligned to the command, maybe in another plane.
                    Class::Write => self.ftl.host_page_at(op.unit, page),
                };
                block.map(|block| self.ftl.plane_of(op.unit, block)) == Some(sibling)
            };
            if along.is_some_and(|along| along.hosts().any(takes)) {
                pairing.matched += 1;
                continue;
            }
            if !queues.waits_for(sibling, class) {
                pairing.none_waiting += 1;
                continue;
            }
            let fits = match class {
                // One that was there and fitted has come along.
                Class::Read if queues.all_ready(sibling, now) => None,
                Class::Read => queues.find_read(sibling, page),
                Class::Write => queues.first_write(sibling).filter(|_| queues.can_write_at(sibling, page)),
            };
            let needs_read = || {
                let has_place = class == Class::Write && queues.can_write_at(sibling, page);
                has_place && queues.first_write(sibling).is_none() && queues.partial_write_waits(sibling)
            };
            *match fits {
                Some(_) => &mut pairing.not_ready,
                None if needs_read() => &mut pairing.needs_read,
                None => &mut pairing.other_offset,
            } += 1;
        }
        let counter = self.paired(class);
        counter.add(&pairing);
    }

    fn paired(&mut self, class: Class) -> &mut Pairing {
        match class {
            Class::Read => &mut self.counters.paired_reads,
            Class::Write => &mut self.counters.paired_writes,
        }
    }

    /// Sibling planes without a part in the program that a die begins leave a page unwritten if they have its offset, `page`:
    /// so their offsets stay equal to that of `plane`, in which garbage collection programs. A unit whose next victim would
    /// lack room does not, and none does where the die's budget is spent. Returns the summary pages of blocks that this fills.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn skip_pages(&mut self, die: u32, (plane, page): (u32, u32)) -> u32 {
        if self.schedule_needs.skips { self.skip_unmatched(die, (plane, page)) } else { 0 }
    }

    fn skip_unmatched(&mut self, die: u32, (plane, page): (u32, u32)) -> u32 {
        if self.rules.shape.units_per_die != self.rules.geometry.planes_per_die {
            return 0;
        }
        let budget = BLOCKS_IN_ADVANCE * self.rules.shape.units_per_die * self.rules.shape.data_pages;
        let mut summaries = 0;
        for unit in self.units_of(die) {
            let parts = self.dies[die as usize].parts.iter().filter(|part| part.op != NO_OP);
            let takes_part = parts.map(|part| self.ops[part.op].unit).any(|other| other == unit);
            let collects = self.rules.shape.unit_in_die(unit).0 == plane;
            let may_skip = self.dies[die as usize].skips.may_skip(budget);
            if takes_part || collects || !may_skip || !self.ftl.has_room_to_collect(unit) {
                continue;
            }
            if let Some(cost) = self.ftl.unit(unit).skip(page) {
                summaries += cost;
                self.counters.paired_writes.skipped += 1;
                self.dies[die as usize].skips.skip();
            }
        }
        summaries
    }

    /// Collection of a block begins: the pages that it wins may be skipped, most of them.
    pub(super) fn win_skips(&mut self, die: u32, unit: u32, block: BlockId) {
        if self.schedule_needs.skips {
            let pages = self.rules.shape.data_pages;
            let valid = self.ftl.blocks(unit).closed_valid(block).unwrap_or(pages);
            self.dies[die as usize].skips.win(pages - valid);
        }
    }

    /// A die begins an event.
    pub(super) fn count_depth(&mut self, die: u32) {
        let waiting = u64::from(self.dies[die as usize].waiting);
        let depth = &mut self.counters.depth_at_gc;
        depth.events += 1;
        depth.waiting += waiting;
        depth.most = depth.most.max(waiting);
    }
}
