//! What must always hold in the mapping state. Slow; for tests and `--checked` runs.
//!
//! Does not verify: that data content is right (a content probe does), nor anything about time.

use super::mapping::Ftl;
use super::state::{NONE, Tally};
use crate::block::{BlockState, GROUP, GroupKey, state_of, valid_of};
use harmonia_types::IoCause;

impl Ftl {
    /// A number that is another one after whatever changes what a unit keeps, so that checks can leave out units that stayed as they
    /// were.
    pub(crate) fn version(&self, unit: u32) -> u64 {
        let state = &self.units[unit as usize];
        let Tally { programs, erases, victims, skipped } = &state.tally;
        let now = [state.mapped, state.free, state.hidden, state.closings, state.retired()].map(u64::from);
        let all = programs.iter().chain([erases, victims, skipped]).chain(&now);
        all.fold(0, |version: u64, &count| {
            (version ^ count).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        })
    }

    /// Cheap invariants of one unit, in the number of its blocks.
    ///
    /// # Panics
    /// Says which invariant is broken.
    pub fn audit_unit(&self, unit: u32) {
        let state = &self.units[unit as usize];
        let table = self.blocks(unit);
        let mut states = [0u32; 5];
        let mut valid = 0;
        for &entry in table.entries {
            states[state_of(entry) as usize] += 1;
            valid += valid_of(entry);
            assert!(valid_of(entry) <= table.data_pages, "unit {unit}: more valid pages than a block has");
        }
        for (group, &best) in table.best.iter().enumerate() {
            let fresh = GroupKey::best_of(table.entries, table.erases, group * GROUP);
            let closed = |key: GroupKey| Some(key).filter(|key| state_of(key.entry()) == BlockState::Closed);
            assert_eq!(closed(best), closed(fresh), "unit {unit} group {group}: best victim");
        }
        let open = state.frontiers.iter().flatten().count() + state.partial.len();
        assert_eq!(states[BlockState::Free as usize], state.free, "unit {unit}: free blocks");
        assert_eq!(states[BlockState::Open as usize] as usize, open, "unit {unit}: open blocks");
        assert_eq!(states[BlockState::Retired as usize], state.retired(), "unit {unit}: retired blocks");
        if let Some(wear) = &state.wear {
            wear.audit(unit, &table);
        }
        assert_eq!(valid, state.mapped, "unit {unit}: sum of valid counts = mapped LPNs");
        // Every page went somewhere: what was ever written or skipped is what erased blocks held and what stands so now.
        let erased = state.tally.erases * u64::from(table.data_pages);
        let programs = state.tally.data_programs();
        assert_eq!(
            programs + state.tally.skipped,
            erased + self.written_pages(unit),
            "unit {unit}: programs and skipped pages = written + erased pages"
        );
        let erases: u64 = table.erases.iter().map(|&n| u64::from(n)).sum();
        assert_eq!(erases, state.tally.erases, "unit {unit}: erases");
        let closed = (states[BlockState::Closed as usize] + states[BlockState::Collecting as usize]) as u64;
        assert_eq!(
            state.tally.programs[IoCause::Metadata as usize],
            (closed + state.tally.erases) * u64::from(self.shape.summary_pages),
            "unit {unit}: one summary per block ever closed"
        );
    }

    /// All invariants of all units, in the number of pages.
    ///
    /// # Panics
    /// Says which invariant is broken.
    pub fn audit(&self) {
        let shape = &self.shape;
        if shape.is_dynamic() {
            let mapped: u32 = self.units.iter().map(|unit| unit.mapped).sum();
            let homes = (0..shape.logical_pages).filter_map(|lpn| Some((lpn, self.home(lpn)?)));
            let of_die =
                |(lpn, home)| assert!(shape.units_for(lpn).contains(&home), "LPN {lpn} lies in unit {home}");
            assert_eq!(
                homes.inspect(|&home| of_die(home)).count() as u32,
                mapped,
                "every mapped LPN has a home"
            );
        }
        let lanes = shape.lanes_of_numbers();
        let most = shape.capacity_pages / lanes + shape.map_pages().len() as u32;
        for (lane, units) in self.units.chunks((shape.units() / lanes) as usize).enumerate() {
            let mapped: u32 = units.iter().map(|unit| unit.mapped).sum();
            assert!(mapped <= most, "lane {lane}: {mapped} pages lie where {most} may");
        }
        let mut counts = vec![0u32; shape.blocks_per_unit as usize];
        for unit in 0..shape.units() {
            self.audit_unit(unit);
            counts.fill(0);
            for lpn in 0..shape.map_range(unit).len() as u32 {
                let Some((block, page)) = self.lookup(unit, lpn) else { continue };
                counts[block as usize] += 1;
                let ppn =
                    (unit as usize * shape.blocks_per_unit as usize + block as usize) << shape.page_bits;
                let back = self.reverse[ppn + page as usize];
                assert!(
                    back != NONE && back == lpn,
                    "unit {unit}: no live LPN has two PPNs; {lpn} and {back} meet"
                );
                assert!(page < shape.data_pages, "unit {unit}: data in a summary page");
            }
            let entries = self.blocks(unit).entries;
            for (block, &count) in counts.iter().enumerate() {
                assert_eq!(valid_of(entries[block]), count, "unit {unit} block {block}: valid count");
            }
        }
    }
}
