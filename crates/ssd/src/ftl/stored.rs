//! The mapping state as bytes: how an aged device comes back from a file.
//!
//! ```text
//! entries | erases | closed_at | free ring | map | what is noted for placement      whole tables, in the byte order of the machine
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
use super::placed::{Placed, Placing};
use super::state::{NONE, OpenBlock, UnitState};
use crate::block::{BlockState, GROUP, GroupKey, state_of, valid_of};
use crate::config::SsdConfig;
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
        let noted = shape.noted;
        blocks * (4 + 4 + 4 + 4 + noted.of_block) + u64::from(shape.logical_pages) * (4 + noted.of_page)
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
            free_list: _,   // likewise,
            is_simple: _,   // likewise;
            units: _,       // stored beside the tables;
            reverse: _,     // follows from the map,
            best: _,        // follows from the entries;
            scratch: _,     // empty between calls
            map,
            entries,
            erases,
            closed_at,
            free_ring,
            placing,
        } = self;
        sink.write_all(cast_slice(entries))?;
        sink.write_all(cast_slice(erases))?;
        sink.write_all(cast_slice(closed_at))?;
        sink.write_all(cast_slice(free_ring))?;
        sink.write_all(cast_slice::<u32, u8>(map))?;
        if let Some(placing) = placing {
            sink.write_all(&placing.frontier_of)?;
            sink.write_all(cast_slice(&placing.opened_at))?;
            sink.write_all(cast_slice(&placing.written_at))?;
            sink.write_all(&placing.handle_of)?;
        }
        Ok(())
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
        let policy = config.placement().map_err(|error| wrong(error.to_string()))?;
        let placing = Placing::new(&*policy, &shape);
        let count = policy.frontiers().all;
        let (unit_count, blocks) = (shape.units() as usize, shape.blocks_per_unit as usize);
        if units.len() != unit_count {
            return Err(wrong(format!("{} units of {unit_count}", units.len())));
        }
        let mut entries = vec![0u32; unit_count * blocks];
        source.read_exact(cast_slice_mut(&mut entries))?;
        let mut table = || -> io::Result<Vec<u32>> {
            let mut table = vec![0u32; unit_count * blocks];
            source.read_exact(cast_slice_mut(&mut table))?;
            Ok(table)
        };
        let (erases, closed_at, free_ring) = (table()?, table()?, table()?);
        let mut ftl = Ftl {
            gc_frontier: policy.by_cause().unwrap_or(count - 1).into(),
            free_list: config.ftl.free_list,
            is_simple: !shape.is_dynamic() && placing.is_none(),
            placing,
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
        ftl.read_noted(count, source)?;
        Ok(ftl)
    }

    /// Reads what is noted for placement, and checks what would be looked up with it.
    fn read_noted(&mut self, count: u8, source: &mut dyn Read) -> Result<(), Damaged> {
        let frontiers = usize::from(count.max(2));
        let Some(placing) = &mut self.placing else {
            let alike = |unit: &UnitState| unit.frontiers.len() == frontiers && unit.placed.is_none();
            return self
                .units
                .iter()
                .all(alike)
                .then_some(())
                .ok_or_else(|| wrong("frontiers differ".into()));
        };
        source.read_exact(&mut placing.frontier_of)?;
        source.read_exact(cast_slice_mut(&mut placing.opened_at))?;
        source.read_exact(cast_slice_mut(&mut placing.written_at))?;
        source.read_exact(&mut placing.handle_of)?;
        let alike = |unit: &UnitState| {
            let streams = |placed: &Placed| placed.streams() == placing.unit().streams();
            unit.frontiers.len() == frontiers && unit.placed.as_deref().is_some_and(streams)
        };
        let agree = self.units.iter().all(alike)
            && placing.frontier_of.iter().all(|&frontier| frontier < count)
            && placing.handle_of.iter().all(|&handle| usize::from(handle) < placing.unit().streams());
        if agree {
            Ok(())
        } else {
            Err(wrong("what is noted of blocks and pages contradicts the device".into()))
        }
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
            && self.entries[range.clone()].iter().all(|&entry| state_of(entry) != BlockState::Retired)
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
