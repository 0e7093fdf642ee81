//! The mapping state as bytes: how an aged device comes back from a file.
//!
//! ```text
//! entries | erases | closed_at | free ring | map        whole tables, in the byte order of the machine
//! ```
//!
//! What is small ([`UnitState`]) goes through serde, beside the tables. Not stored is what follows from the rest: the
//! best block of each group, and the reverse map. The latter is a hint that must point back only from live pages, so
//! it is rebuilt from the map unit by unit, in the cache, in less time than it takes to read; pages that are not live
//! get LPN 0, which the map sends elsewhere.
//!
//! Bytes are checked for what would make a simulation panic or loop: indices in range, counts that agree. Whether they
//! are the bytes once written is for the caller to know, by a checksum.

use std::io::{self, Read, Write};

use bytemuck::{cast_slice, cast_slice_mut};

use super::mapping::Ftl;
use super::state::{NONE, OpenBlock, UnitState};
use crate::block::{BlockState, GROUP, GroupKey, state_of, valid_of};
use crate::config::{Frontiers, SsdConfig};
use crate::shape::Shape;
use crate::table::HugeTable;

/// Why bytes are no mapping state.
#[derive(Debug)]
pub enum Damaged {
    /// They cannot be read, or end too early.
    Unreadable(io::Error),
    /// They contradict themselves or the device; says how.
    Contradiction(String),
}

impl From<io::Error> for Damaged {
    fn from(error: io::Error) -> Self {
        Damaged::Unreadable(error)
    }
}

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Damaged::Unreadable(error) => error.fmt(f),
            Damaged::Contradiction(what) => f.write_str(what),
        }
    }
}

fn wrong(what: String) -> Damaged {
    Damaged::Contradiction(what)
}

impl Ftl {
    /// What it keeps besides its tables, by unit.
    pub fn unit_states(&self) -> &[UnitState] {
        &self.units
    }

    /// Bytes that [`Ftl::write_tables`] writes for a device of this shape.
    pub fn table_bytes(shape: &Shape) -> u64 {
        let blocks = u64::from(shape.units()) * u64::from(shape.blocks_per_unit);
        blocks * (2 + 4 + 4 + 4) + u64::from(shape.logical_pages) * 4
    }

    /// Writes the tables.
    ///
    /// # Errors
    /// What the sink says.
    pub fn write_tables(&self, sink: &mut dyn Write) -> io::Result<()> {
        // Field by field: whoever adds one decides whether it is stored, derived or of no consequence.
        let Ftl {
            shape: _,       // follows from the configuration,
            gc_frontier: _, // likewise,
            free_list: _,   // likewise;
            units: _,       // stored beside the tables;
            reverse: _,     // follows from the map,
            best: _,        // follows from the entries;
            scratch: _,     // empty between calls
            map,
            entries,
            erases,
            closed_at,
            free_ring,
        } = self;
        sink.write_all(cast_slice(entries))?;
        sink.write_all(cast_slice(erases))?;
        sink.write_all(cast_slice(closed_at))?;
        sink.write_all(cast_slice(free_ring))?;
        sink.write_all(cast_slice::<u32, u8>(map))
    }

    /// The device of this configuration with these unit states and the tables in `source`, which are read straight
    /// into place.
    ///
    /// # Errors
    /// If the bytes end too early, or could not be the state of such a device.
    pub fn read_tables(
        config: &SsdConfig,
        units: Vec<UnitState>,
        source: &mut dyn Read,
    ) -> Result<Self, Damaged> {
        let shape = config.resolve().map_err(|error| wrong(error.to_string()))?;
        let (unit_count, blocks) = (shape.units() as usize, shape.blocks_per_unit as usize);
        if units.len() != unit_count {
            return Err(wrong(format!("{} units of {unit_count}", units.len())));
        }
        let mut entries = vec![0u16; unit_count * blocks];
        source.read_exact(cast_slice_mut(&mut entries))?;
        let mut table = || -> io::Result<Vec<u32>> {
            let mut table = vec![0u32; unit_count * blocks];
            source.read_exact(cast_slice_mut(&mut table))?;
            Ok(table)
        };
        let (erases, closed_at, free_ring) = (table()?, table()?, table()?);
        let mut ftl = Ftl {
            gc_frontier: usize::from(config.ftl.frontiers == Frontiers::Separate),
            free_list: config.ftl.free_list,
            map: HugeTable::zeroed(shape.logical_pages as usize),
            reverse: HugeTable::zeroed(unit_count * (blocks << shape.page_bits)),
            best: Vec::with_capacity(unit_count * blocks.div_ceil(GROUP)),
            entries,
            erases,
            closed_at,
            free_ring,
            units,
            scratch: Vec::new(),
            shape,
        };
        if ftl.shape.is_dynamic() {
            // The units share one map, as if they were one unit.
            ftl.read_map(0..unit_count, &mut vec![0; unit_count * blocks], source)?;
        }
        let mut valid = vec![0; blocks];
        for unit in 0..unit_count {
            ftl.check_blocks(unit)?;
            if !ftl.shape.is_dynamic() {
                ftl.read_map(unit..unit + 1, &mut valid, source)?;
            }
            let range = unit * blocks..(unit + 1) * blocks;
            let (entries, erases) = (&ftl.entries[range.clone()], &ftl.erases[range]);
            ftl.best
                .extend((0..blocks).step_by(GROUP).map(|block| GroupKey::best_of(entries, erases, block)));
        }
        Ok(ftl)
    }

    /// Block states, free ring and open blocks of a unit agree and stay within it.
    fn check_blocks(&self, unit: usize) -> Result<(), Damaged> {
        let state = &self.units[unit];
        let blocks = self.shape.blocks_per_unit;
        let range = unit * blocks as usize..(unit + 1) * blocks as usize;
        let mut states = [0u32; 5];
        for &entry in &self.entries[range.clone()] {
            states[state_of(entry) as usize] += 1;
        }
        let open = || state.frontiers.iter().flatten().chain(&state.partial);
        let within = |open: &OpenBlock| {
            let is_open =
                |block: u32| state_of(self.entries[range.start + block as usize]) == BlockState::Open;
            open.block < blocks && open.page < self.shape.data_pages && is_open(open.block)
        };
        let agree = states[BlockState::Free as usize] == state.free
            && states[BlockState::Open as usize] as usize == open().count()
            && states[BlockState::Collecting as usize] == 0
            && self.entries[range.clone()].iter().all(|entry| entry >> 15 == 0)
            && state.hidden == 0
            && state.free_head < blocks
            && open().all(within);
        // The ring is read from its head on: every block there must be free.
        let ring = &self.free_ring[range.clone()];
        let first_free = (0..state.free).map(|k| ring[((state.free_head + k) % blocks) as usize]);
        let mut is_free = first_free.map(|block| {
            let entry = self.entries[range.clone()].get(block as usize);
            entry.is_some_and(|&entry| state_of(entry) == BlockState::Free)
        });
        if agree && is_free.all(|free| free) && ring.iter().all(|&block| block < blocks) {
            return Ok(());
        }
        Err(wrong(format!("unit {unit}: block states, open blocks and free blocks contradict each other")))
    }

    /// Reads the map of units that share one and rebuilds their part of the reverse map. `valid` is room for a count by
    /// block.
    fn read_map(
        &mut self,
        units: std::ops::Range<usize>,
        valid: &mut [u32],
        source: &mut dyn Read,
    ) -> Result<(), Damaged> {
        let (pages, blocks) = (self.shape.unit_pages as usize, self.shape.blocks_per_unit as usize);
        let flash_pages = blocks << self.shape.page_bits;
        let unit = units.start;
        let map = &mut self.map[units.start * pages..units.end * pages];
        source.read_exact(cast_slice_mut(map))?;
        let reverse = &mut self.reverse[units.start * flash_pages..units.end * flash_pages];
        let page_mask = (1u32 << self.shape.page_bits) - 1;
        valid.fill(0);
        for (lpn, &ppn) in map.iter().enumerate().filter(|(_, ppn)| **ppn != NONE) {
            let block = valid.get_mut((ppn >> self.shape.page_bits) as usize);
            let Some(block) = block.filter(|_| ppn & page_mask < self.shape.data_pages) else {
                return Err(wrong(format!("unit {unit}: LPN {lpn} is mapped to a page that does not exist")));
            };
            *block += 1;
            let may_lie_in = |unit| self.shape.units_for(lpn as u32).contains(&unit);
            if self.shape.is_dynamic() && !may_lie_in(ppn / self.shape.flash_pages()) {
                return Err(wrong(format!("LPN {lpn} is mapped to a page of another die")));
            }
            reverse[ppn as usize] = lpn as u32;
        }
        let entries = &self.entries[units.start * blocks..units.end * blocks];
        let mapped: u32 = self.units[units].iter().map(|unit| unit.mapped).sum();
        let agree = entries.iter().zip(&*valid).all(|(&entry, &valid)| valid_of(entry) == valid);
        if !agree || valid.iter().sum::<u32>() != mapped {
            return Err(wrong(format!("unit {unit}: valid pages contradict the map")));
        }
        Ok(())
    }
}
