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

use super::mapping::{Ftl, parts};
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
        blocks * (4 + 4 + 4 + 4 + noted.of_block) + shape.entries() as u64 * (4 + noted.of_page)
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
            map: HugeTable::zeroed(shape.entries()),
            reverse: HugeTable::zeroed_in_parts(unit_count * (blocks << shape.page_bits), parts(&shape)),
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

#[cfg(test)]
mod tests {
    use harmonia_engine::Rng;
    use harmonia_flash::presets;
    use harmonia_types::registry::PolicyConfig;
    use harmonia_types::{IoCause, SimTime};

    use super::*;
    use crate::block::encode;
    use crate::config::{Allocation, AllocationUnit, Amount};
    use crate::ftl::Goal;
    use crate::ftl::state::OpenBlocks;
    use crate::gc::victim::{self, NoReads};
    use crate::order::Order;
    use crate::placement::Frontiers;
    use crate::probe::NoProbe;

    const BLOCKS: usize = 70;

    /// Two dies of one unit each, of blocks of six pages. A number of a page has room for eight.
    fn drive() -> SsdConfig {
        let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        let geometry = &mut config.geometry;
        (geometry.chips_per_channel, geometry.planes_per_die) = (1, 1);
        (geometry.blocks_per_plane, geometry.pages_per_block) = (BLOCKS as u32, 6);
        config.ftl.reserved_blocks = Amount::Blocks(20);
        config.gc.hard_threshold = Amount::Blocks(3);
        config
    }

    /// The same of two planes, one of which the device chooses for each page.
    fn choosing() -> SsdConfig {
        let mut config = drive();
        config.geometry.planes_per_die = 2;
        config.ftl.allocation = Allocation::DynamicPlane(Order::of_dies("cwd").expect("three letters"));
        config.ftl.allocation_unit = AllocationUnit::Plane;
        config
    }

    /// Three streams: two handles, and what names none.
    fn streams() -> SsdConfig {
        let mut config = drive();
        config.ftl.frontiers = Frontiers::Separate;
        config.ftl.placement = PolicyConfig::named("streams").with("handles", 2);
        config
    }

    /// Three times as many pages as there are were written, in a random order. Each unit has an open block.
    fn used(config: &SsdConfig) -> Ftl {
        let mut ftl = Ftl::new(config, 1, "device").expect("it works");
        let victim = victim::build(&config.gc.victim).expect("a policy");
        let (shape, mut rng) = (ftl.shape().clone(), Rng::stream(9, "stored"));
        let pages = u64::from(shape.logical_pages);
        let goal = Goal { stop: shape.stop, min_victims: 1 };
        let mut turn = 0;
        while turn < 3 * pages || ftl.units.iter().any(|unit| unit.frontiers[0].is_none()) {
            let lpn = if turn < pages { turn } else { rng.below(pages) } as u32;
            let (unit, lpn) = if shape.is_dynamic() {
                let emptiest = shape.units_for(lpn).max_by_key(|&unit| ftl.free_blocks(unit));
                (emptiest.expect("a unit"), lpn)
            } else {
                let (_, unit, in_unit) = shape.locate(lpn);
                (unit, in_unit)
            };
            if ftl.free_blocks(unit) <= shape.hard {
                let mut unit = ftl.unit(unit);
                unit.collect(goal, &*victim, &NoReads, SimTime::ZERO, &mut NoProbe).expect("room");
            }
            ftl.program(unit, lpn, IoCause::Host, None, &mut NoProbe).expect("room");
            turn += 1;
        }
        ftl
    }

    fn tables(ftl: &Ftl) -> Vec<u8> {
        let mut tables = Vec::new();
        ftl.write_tables(&mut tables).expect("memory takes everything");
        tables
    }

    fn read(config: &SsdConfig, units: &[UnitState], tables: &[u8]) -> Result<Ftl, String> {
        Ftl::read_tables(config, units.to_vec(), &mut &tables[..]).map_err(|why| why.to_string())
    }

    /// Writes one number of a table.
    fn put(tables: &mut [u8], place: usize, number: u32) {
        tables[4 * place..][..4].copy_from_slice(&number.to_ne_bytes());
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        for config in [drive(), choosing(), streams()] {
            let ftl = used(&config);
            let (units, written) = (ftl.unit_states(), tables(&ftl));
            assert_eq!(written.len() as u64, Ftl::table_bytes(ftl.shape()));
            let back = read(&config, units, &written).expect("whole");
            back.audit();
            assert_eq!((back.unit_states(), tables(&back)), (units, written.clone()));
            for unit in 0..ftl.shape().units() {
                assert_eq!(back.blocks(unit).fewest_valid(), ftl.blocks(unit).fewest_valid());
                // The reverse map is made anew.
                let live = |ftl: &Ftl, block| ftl.next_live(unit, block, 0);
                assert!((0..BLOCKS as u32).all(|block| live(&back, block) == live(&ftl, block)));
            }
            assert!(read(&config, units, &written[..written.len() - 1]).is_err(), "its end is missing");
            let why = read(&config, &units[1..], &written).unwrap_err();
            assert_eq!(why, format!("{} units of {}", units.len() - 1, units.len()));
        }
    }

    #[test]
    fn a_unit_that_contradicts_its_blocks_is_refused() {
        let (config, ftl) = (drive(), used(&drive()));
        let written = tables(&ftl);
        let of = |block: usize| state_of(ftl.entries[block]);
        let [closed, free] = [BlockState::Closed, BlockState::Free]
            .map(|state| (0..BLOCKS).find(|&block| of(block) == state).expect("one of them") as u32);
        let refused = |what: &str, edit: &dyn Fn(&mut UnitState)| {
            for unit in 0..2 {
                let mut units = ftl.unit_states().to_vec();
                edit(&mut units[unit]);
                let why = read(&config, &units, &written).map(|_| ()).unwrap_err();
                assert!(why.starts_with(&format!("unit {unit}: ")), "{what}: {why}");
            }
        };
        fn open(unit: &mut UnitState) -> &mut OpenBlock {
            unit.frontiers[0].as_mut().expect("it is open")
        }
        refused("a free block more", &|unit| unit.free += 1);
        refused("a hidden one", &|unit| unit.hidden = 1);
        refused("a ring that begins behind its end", &|unit| unit.free_head = BLOCKS as u32);
        // A ring that begins with its first entry, and one that is said to begin behind the last.
        let begins = |head: u32| {
            let (mut units, mut damaged) = (ftl.unit_states().to_vec(), tables(&ftl));
            let ring = 3 * 2 * BLOCKS;
            for step in 0..BLOCKS {
                let from = (units[0].free_head as usize + step) % BLOCKS;
                put(&mut damaged, ring + step, ftl.free_ring[from]);
            }
            units[0].free_head = head;
            read(&config, &units, &damaged).is_ok()
        };
        assert_eq!([0, BLOCKS as u32].map(begins), [true, false]);
        refused("an open block that does not exist", &|unit| open(unit).block = BLOCKS as u32);
        refused("a page that does not exist", &|unit| open(unit).page = 6);
        refused("nothing open", &|unit| unit.frontiers[0] = None);
        refused("one more set aside", &|unit| unit.partial.push(OpenBlock { block: free, page: 0 }));
        refused("a page more", &|unit| unit.mapped += 1);
        let mut units = ftl.unit_states().to_vec();
        open(&mut units[0]).block = closed;
        assert!(read(&config, &units, &written).is_err(), "a closed block for the open one");
    }

    #[test]
    fn blocks_that_contradict_one_another_are_refused() {
        let (config, ftl) = (drive(), used(&drive()));
        let (units, written) = (ftl.unit_states(), tables(&ftl));
        for (byte, bit) in (0..4 * 2 * BLOCKS).flat_map(|byte| (0..8).map(move |bit| (byte, bit))) {
            let mut damaged = written.clone();
            damaged[byte] ^= 1 << bit;
            assert!(read(&config, units, &damaged).is_err(), "bit {bit} of byte {byte} of states and counts");
        }
        // A closed block for a retired one, of which no page is live either.
        for state in [BlockState::Collecting, BlockState::Retired] {
            let closed = (0..BLOCKS).find(|&block| state_of(ftl.entries[block]) == BlockState::Closed);
            let closed = closed.expect("one of them");
            let mut damaged = written.clone();
            put(&mut damaged, closed, encode(state, valid_of(ftl.entries[closed])));
            assert!(read(&config, units, &damaged).is_err(), "{state:?}");
        }
        // Free blocks are those in the ring from its head on.
        let open = ftl.units[0].frontiers[0].expect("it is open").block;
        let in_ring = |step: u32, block: u32| {
            let place = ((ftl.units[0].free_head + step) % BLOCKS as u32) as usize;
            let mut damaged = written.clone();
            put(&mut damaged, 3 * 2 * BLOCKS + place, block);
            read(&config, units, &damaged).is_ok()
        };
        let free = ftl.units[0].free;
        assert_eq!([0, free - 1, free].map(|step| in_ring(step, open)), [false, false, true]);
        assert_eq!([BLOCKS as u32 - 1, BLOCKS as u32].map(|block| in_ring(free, block)), [true, false]);
    }

    #[test]
    fn a_map_that_contradicts_the_blocks_is_refused() {
        let (config, ftl) = (drive(), used(&drive()));
        let (units, written) = (ftl.unit_states(), tables(&ftl));
        let pages = ftl.shape().unit_pages as usize;
        for unit in 0..2 {
            let why = |ppn: u32| {
                let mut damaged = written.clone();
                put(&mut damaged, 4 * 2 * BLOCKS + unit * pages + 5, ppn);
                read(&config, units, &damaged).map(|_| ()).unwrap_err()
            };
            let nowhere = format!("unit {unit}: LPN 5 is mapped to a page that does not exist");
            let block = ftl.map[unit * pages + 5] >> 3;
            assert_eq!([block << 3 | 6, (BLOCKS as u32) << 3].map(why), [nowhere.clone(), nowhere]);
            let other = if block == 0 { 1 } else { block - 1 };
            let contradicts = format!("unit {unit}: valid pages contradict the map");
            assert_eq!([other << 3, NONE].map(why), [contradicts.clone(), contradicts]);
        }
    }

    /// Pages 0 and 1 lie on dies 0 and 1: after an exchange all counts agree.
    #[test]
    fn a_page_on_a_die_that_its_number_does_not_name_is_refused() {
        let (config, ftl) = (choosing(), used(&choosing()));
        let mut damaged = tables(&ftl);
        assert_ne!(ftl.shape().units_for(0), ftl.shape().units_for(1));
        let map = 4 * 4 * BLOCKS;
        put(&mut damaged, map, ftl.map[1]);
        put(&mut damaged, map + 1, ftl.map[0]);
        let why = read(&config, ftl.unit_states(), &damaged).map(|_| ()).unwrap_err();
        assert_eq!(why, "LPN 0 is mapped to a page of another die");
    }

    #[test]
    fn what_is_noted_for_placement_is_that_of_the_policy() {
        let (config, ftl) = (streams(), used(&streams()));
        let written = tables(&ftl);
        let placing = ftl.placing.as_deref().expect("it notes something");
        let frontiers = 4 * (4 * 2 * BLOCKS + ftl.shape().logical_pages as usize);
        let takes = |byte: usize, noted: u8| {
            let mut damaged = written.clone();
            damaged[byte] = noted;
            read(&config, ftl.unit_states(), &damaged).is_ok()
        };
        let count = placing.count.all;
        assert_eq!([count - 1, count].map(|noted| takes(frontiers + 1, noted)), [true, false]);
        assert_eq!([2, 3].map(|handle| takes(written.len() - 1, handle)), [true, false]);
        let with = |config: &SsdConfig, ftl: &Ftl, edit: &dyn Fn(&mut UnitState)| {
            let mut units = ftl.unit_states().to_vec();
            edit(&mut units[1]);
            read(config, &units, &tables(ftl)).is_ok()
        };
        assert!(!with(&config, &ftl, &|unit| unit.placed = None));
        assert!(!with(&config, &ftl, &|unit| {
            unit.placed.as_mut().expect("it notes something").streams.pop();
        }));
        assert!(!with(&config, &ftl, &|unit| unit.frontiers = OpenBlocks::none(count + 1)));
        let (plain, other) = (drive(), used(&drive()));
        assert!(!with(&plain, &other, &|unit| unit.placed = Some(Box::default())));
    }
}
