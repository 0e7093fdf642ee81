//! From what was asked for to whole numbers: dimensions, allocation units, thresholds, policies, spare, in this order. The first that
//! cannot be is what is told.

use super::{
    Allocation, AllocationUnit, BeginsAt, Blocks, Destination, Domain, Infeasible, SsdConfig, Superblock,
    Thin,
};
use crate::gc::{schedule, victim};
use crate::order::{Odometer, Order};
use crate::placement::{Count, Placement};
use crate::shape::{Noted, Numbers, Packing, Shape};

/// Pages that a write cache holds at most.
const MOST_CACHED: u32 = 1 << 24;

/// What shares a pool of free blocks, and how large it is.
struct Units {
    dies: u32,
    /// Of a die.
    per_die: u32,
    /// Of the device.
    all: u64,
    /// Dies and planes of one.
    dies_of_one: u32,
    planes: u32,
    /// Blocks of the flash that count as one.
    joined: u32,
    /// Dies share blocks.
    shares_blocks: bool,
    blocks: u32,
    data_pages: u32,
    page_bits: u32,
    /// Blocks as amounts have them.
    of: Blocks,
}

/// Free blocks at which collection begins and ends.
#[derive(Clone, Copy)]
struct Thresholds {
    hard: u32,
    soft: u32,
    stop: u32,
    /// Where it begins while ageing.
    ages_at: u32,
}

/// Blocks and pages of an allocation unit.
struct Spare {
    reserved: u32,
    /// Blocks without which collection could not go on, and with what the map and the allocation need besides.
    least: u32,
    needed: u32,
    /// Pages of the host, numbers of them, and pages of the map.
    host_pages: u64,
    numbers: u64,
    map_pages: u64,
}

fn fail<T>(key: &'static str, why: String) -> Result<T, Infeasible> {
    Err(Infeasible { key, why })
}

impl SsdConfig {
    /// Checks that the device can work and computes its whole numbers.
    ///
    /// # Errors
    /// Names the key at fault and a value that would work: a zero or absurd dimension, spare too small for the
    /// thresholds and frontiers, thresholds out of order, a logical space that is empty or too large.
    pub fn resolve(&self) -> Result<Shape, Infeasible> {
        let g = &self.geometry;
        let dies = self.dies()?;
        let packing = self.packing()?;
        self.check_write_cache(&packing)?;
        let units = self.units(dies, &packing)?;
        let at = self.thresholds(units.of)?;
        let policy = self.placement()?;
        let count = policy.frontiers();
        self.check_placement(&*policy, at.hard)?;
        self.check_collection(at.hard)?;
        let spare = self.spare(&units, at, &count, &packing)?;
        let Spare { reserved, least, needed, host_pages, numbers, map_pages } = spare;
        let logical = numbers * units.all;
        if logical + map_pages * units.all >= u64::from(u32::MAX) {
            return fail(
                "ssd.geometry.blocks_per_plane",
                format!("{logical} logical pages per device; fewer than 2^32 are supported"),
            );
        }
        let dynamic = self.is_dynamic(&units);
        if dynamic
            && (u64::from(units.blocks) << units.page_bits) * u64::from(units.dies) * u64::from(units.per_die)
                >= u64::from(u32::MAX)
        {
            return fail(
                "ssd.ftl.allocation",
                "dynamic allocation supports fewer than 2^32 flash pages per device; an order of four letters \
                 supports more"
                    .into(),
            );
        }
        let order = match self.ftl.allocation {
            Allocation::Static(order) | Allocation::DynamicPlane(order) => order,
            Allocation::Dynamic => Order::CWDP,
        };
        Ok(Shape {
            numbers: Numbers::new(units.per_die, units.dies_of_one, units.joined > 1),
            odometer: match self.ftl.superblock {
                Superblock::Off => Odometer::new(order, g, units.per_die),
                _ => Odometer::of_superblocks(units.dies, units.dies_of_one),
            },
            most_live: dynamic.then(|| (units.blocks - least) * units.data_pages),
            names_die: self.ftl.allocation != Allocation::Dynamic || units.shares_blocks,
            dies: units.dies,
            units_per_die: units.per_die,
            dies_per_unit: units.dies_of_one,
            joined: units.joined,
            planes_per_unit: units.planes,
            blocks_per_unit: units.blocks,
            reserved_blocks: reserved,
            may_retire: reserved - needed,
            of_victim: count.of_victim.into(),
            noted: noted(&*policy),
            data_pages: units.data_pages,
            summary_pages: g.summary_pages,
            page_bits: units.page_bits,
            page_size: self.mapping_unit(),
            packing,
            fills: packing.packs() && self.fills_programs(),
            unit_pages: (numbers + map_pages) as u32,
            logical_pages: logical as u32,
            capacity_pages: (host_pages * units.all) as u32,
            block_bytes: units.of.bytes,
            hard: at.hard,
            soft: at.soft,
            stop: at.stop,
            ages_at: at.ages_at,
        })
    }

    /// How many dies there are, where geometry, timing and link are within bounds.
    fn dies(&self) -> Result<u32, Infeasible> {
        let g = &self.geometry;
        for (key, value, most) in [
            ("ssd.geometry.channels", g.channels, 1024),
            ("ssd.geometry.chips_per_channel", g.chips_per_channel, 1024),
            ("ssd.geometry.dies_per_chip", g.dies_per_chip, 1024),
            ("ssd.geometry.planes_per_die", g.planes_per_die, 64),
            ("ssd.geometry.blocks_per_plane", g.blocks_per_plane, 1 << 20),
            ("ssd.geometry.pages_per_block", g.pages_per_block, 65_535),
            ("ssd.geometry.page_size", g.page_size, 1 << 20),
        ] {
            if value == 0 || value > most {
                return fail(key, format!("{value} is out of range: 1 to {most}"));
            }
        }
        if !g.page_size.is_multiple_of(512) {
            return fail("ssd.geometry.page_size", format!("{} is not a multiple of 512 bytes", g.page_size));
        }
        if g.summary_pages >= g.pages_per_block {
            return fail(
                "ssd.geometry.summary_pages",
                format!(
                    "{} summary pages leave no data page in a block of {}",
                    g.summary_pages, g.pages_per_block
                ),
            );
        }
        let dies = u64::from(g.channels) * u64::from(g.chips_per_channel) * u64::from(g.dies_per_chip);
        if dies > 65_535 {
            return fail("ssd.geometry.channels", format!("{dies} dies in all; at most 65535 are supported"));
        }
        let timing = &self.timing;
        let reads = timing.read.times().iter().map(|&time| ("ssd.timing.read", time));
        let programs = timing.program.times().iter().map(|&time| ("ssd.timing.program", time));
        for (key, value) in reads.chain(programs).chain([("ssd.timing.erase", timing.erase)]) {
            if value.0 == 0 || value.0 > 3_600_000_000_000 {
                return fail(key, format!("{value} is out of range: above 0, at most 1 hour"));
            }
        }
        if self.link.bandwidth < 1000 {
            return fail("ssd.link.bandwidth", "must be at least 1KB/s".into());
        }
        Ok(dies as u32)
    }

    /// A write cache holds a program, and no more than is supported.
    fn check_write_cache(&self, packing: &Packing) -> Result<(), Infeasible> {
        let program = packing.slots_per_program();
        let Some(pages) = self.write_cache.pages(self.mapping_unit()) else { return Ok(()) };
        if (program..=MOST_CACHED).contains(&pages) {
            return Ok(());
        }
        let (bytes, a_page) = (self.mapping_unit(), if packing.packs() { "units" } else { "pages" });
        let one = match packing.packs() {
            true => format!(", at least the {program} of one program"),
            false => String::new(),
        };
        fail(
            "ssd.write_cache.size",
            format!("holds {pages} {a_page} of {bytes} bytes; {program} to {MOST_CACHED} {a_page} work{one}"),
        )
    }

    /// The allocation units of so many dies.
    fn units(&self, dies: u32, packing: &Packing) -> Result<Units, Infeasible> {
        let g = &self.geometry;
        let (per_die, planes) = match self.ftl.allocation_unit {
            // The blocks that one program writes count as one, and their planes as one plane.
            AllocationUnit::Die => (1, g.planes_per_die / g.program_planes),
            AllocationUnit::Plane => (g.planes_per_die, 1),
        };
        self.check_allocation(per_die)?;
        let of_superblock = self.dies_per_unit(dies)?;
        // The blocks of a superblock count as one, and their planes as one plane.
        let (planes, joined) = match of_superblock {
            None => (planes, 1),
            Some(dies) => (1, self.joined_by(dies)?),
        };
        let shares_blocks = of_superblock.is_some();
        // The planes that one program writes are in its slots already.
        let parts = if shares_blocks { joined / g.program_planes } else { 1 };
        let dies_of_one = of_superblock.unwrap_or(1);
        let blocks = u64::from(planes) * u64::from(g.blocks_per_plane);
        let slots = packing.slots(g.pages_per_block) * parts;
        let page_bits = slots.next_power_of_two().trailing_zeros();
        if blocks << page_bits >= u64::from(u32::MAX) {
            return fail(
                "ssd.geometry.blocks_per_plane",
                format!("{blocks} blocks of {slots} pages in one allocation unit exceed 2^32 pages"),
            );
        }
        let blocks = blocks as u32;
        let data_pages = packing.slots(g.data_pages_per_block()) * parts;
        let all = u64::from(dies / dies_of_one) * u64::from(per_die);
        let bytes = u64::from(data_pages) * u64::from(self.mapping_unit()) * all;
        let of = Blocks { count: blocks, bytes };
        Ok(Units {
            dies,
            per_die,
            all,
            dies_of_one,
            planes,
            joined,
            shares_blocks,
            blocks,
            data_pages,
            page_bits,
            of,
        })
    }

    /// Domain, destination and allocation go with so many units in a die.
    fn check_allocation(&self, units_per_die: u32) -> Result<(), Infeasible> {
        if self.gc.domain == Domain::Plane && units_per_die == 1 && self.geometry.planes_per_die > 1 {
            return fail(
                "ssd.gc.domain",
                "`plane` needs ssd.ftl.allocation_unit = \"plane\": with one pool of free blocks a die no plane is ever \
                 low by itself"
                    .into(),
            );
        }
        if self.gc.destination == Destination::Device && self.ftl.allocation != Allocation::Dynamic {
            return fail(
                "ssd.gc.destination",
                "`device` needs ssd.ftl.allocation = \"dynamic\": with a static allocation the number of a page names \
                 its die, so a page moved elsewhere would not be found"
                    .into(),
            );
        }
        if let (Allocation::DynamicPlane(order), AllocationUnit::Die) =
            (self.ftl.allocation, self.ftl.allocation_unit)
        {
            return fail(
                "ssd.ftl.allocation",
                format!(
                    "`{}` leaves the plane to the device, which needs ssd.ftl.allocation_unit = \"plane\": with one \
                     pool of free blocks a die there is no plane to choose",
                    order.dies()
                ),
            );
        }
        Ok(())
    }

    fn thresholds(&self, of: Blocks) -> Result<Thresholds, Infeasible> {
        let hard = self.gc.hard_threshold.blocks(of, 0);
        let soft = self.gc.soft_threshold.blocks(of, hard);
        let stop = self.gc.stop_threshold.blocks(of, hard);
        if soft <= hard {
            return fail(
                "ssd.gc.soft_threshold",
                format!(
                    "soft is {soft} blocks but must exceed hard ({hard} blocks); `hard+1` is the default"
                ),
            );
        }
        if stop < hard {
            return fail(
                "ssd.gc.stop_threshold",
                format!(
                    "stop is {stop} blocks but must be at least hard ({hard}): an event would end at once"
                ),
            );
        }
        let ages_at = if self.gc.begins_at == BeginsAt::Soft { soft } else { hard };
        Ok(Thresholds { hard, soft, stop, ages_at })
    }

    /// Checks that the policies of collection can be built, and go with one another and the hard threshold.
    fn check_collection(&self, hard: u32) -> Result<(), Infeasible> {
        let victim = match victim::build(&self.gc.victim) {
            Ok(victim) => victim,
            Err(why) => return fail("ssd.gc.victim", why),
        };
        let schedule = match schedule::build(&self.gc.schedule) {
            Ok(schedule) => schedule,
            Err(why) => return fail("ssd.gc.schedule", why),
        };
        // Where collection takes no time there is nothing to share.
        let shares = matches!(
            schedule.needs().gives_way,
            schedule::GivesWay::BetweenSteps | schedule::GivesWay::Always
        );
        if self.gc.trigger.shares_work() && !shares {
            return fail(
                "ssd.gc.trigger",
                format!(
                    "collection shares a die's work with the host step by step, and \"{}\" lets the host's writes go before \
                     no step; ssd.gc.schedule = \"preemptive\" works",
                    self.gc.schedule.policy
                ),
            );
        }
        if hard == 0 && victim.may_take_full() {
            return fail(
                "ssd.gc.hard_threshold",
                format!(
                    "0 blocks are too few for `{}`, which may move a full block; at least 1 works",
                    self.gc.victim.policy
                ),
            );
        }
        if hard == 0 && self.wear.is_some() {
            return fail(
                "ssd.gc.hard_threshold",
                "0 blocks leave collection no room to do without a block that wears out; at least 1 works"
                    .into(),
            );
        }
        if self.leveling.is_some() && hard == 0 {
            return fail(
                "ssd.gc.hard_threshold",
                "0 blocks are too few to level wear, which moves a full block; at least 1 works".into(),
            );
        }
        if self.leveling.is_some() && self.gc.destination == Destination::Device {
            return fail(
                "ssd.gc.destination",
                "`device` does not go with levelling of wear, which is a matter of each allocation unit"
                    .into(),
            );
        }
        if self.ftl.open_blocks == 0 {
            return fail("ssd.ftl.open_blocks", "must be at least 1: writes need a block".into());
        }
        if self.gc.min_victims == 0 {
            return fail(
                "ssd.gc.min_victims",
                "must be at least 1: otherwise forced events do nothing".into(),
            );
        }
        Ok(())
    }

    /// Whether units differ in what they hold: the number of a page names none.
    fn is_dynamic(&self, units: &Units) -> bool {
        !matches!(self.ftl.allocation, Allocation::Static(_)) && !units.shares_blocks
    }

    /// Spare blocks, as many as collection needs, and the pages that they leave.
    fn spare(
        &self,
        units: &Units,
        at: Thresholds,
        count: &Count,
        packing: &Packing,
    ) -> Result<Spare, Infeasible> {
        let (blocks, data_pages) = (units.blocks, units.data_pages);
        let reserved = self.ftl.reserved_blocks.blocks(units.of, at.hard);
        let frontiers = u32::from(count.all);
        // The pool must be able to stand above `stop`, and above where events begin while ageing, with every frontier open and one block's worth of invalid
        // pages left to collect, or collecting could never reach its end.
        let (pool, rises_to) = if at.ages_at > at.stop { ("soft", at.ages_at) } else { ("stop", at.stop) };
        // Collecting a block wins whole programs. Blocks that lack less than one are won by none, so what all of them may lack
        // is spare that is of no use.
        let unused = u64::from(blocks) * u64::from(packing.slots_per_program() - 1);
        let unused = unused.div_ceil(u64::from(data_pages)) as u32;
        let least = rises_to + 1 + frontiers + unused;
        let host_pages = u64::from(blocks.saturating_sub(reserved)) * u64::from(data_pages);
        let numbers = self
            .thin
            .map_or(host_pages, |Thin { numbers, pages }| host_pages * u64::from(numbers) / u64::from(pages));
        let map_pages = self.map_pages_of_unit(units.all, numbers * units.all)?;
        // Pages of the map take spare.
        let for_map = map_pages.div_ceil(u64::from(data_pages)) as u32;
        // Units that differ in what they hold do so by a block.
        let needed = least + u32::from(self.is_dynamic(units)) + for_map;
        if reserved < needed || reserved >= blocks {
            let percent = (f64::from(needed) / f64::from(blocks) * 1000.0).ceil() / 10.0;
            let why = if needed >= blocks {
                format!("an allocation unit has only {blocks} blocks; more than {needed} are needed")
            } else if reserved >= blocks {
                format!("{reserved} of {blocks} blocks leave no room for data; at most {} work", blocks - 1)
            } else {
                let map = match for_map {
                    0 => String::new(),
                    blocks => format!(" and {blocks} block(s) of the map (ssd.ftl.mapping_cache)"),
                };
                format!(
                    "{reserved} spare blocks per allocation unit are too few for {pool} = {rises_to} blocks free and \
                     {frontiers} write frontier(s){map}; at least {needed} spare blocks ({percent}%) would work"
                )
            };
            return fail("ssd.ftl.reserved_blocks", why);
        }
        if let Some(wear) = &self.wear
            && reserved == needed
        {
            let percent = (f64::from(needed + 1) / f64::from(blocks) * 1000.0).ceil() / 10.0;
            return fail(
                "ssd.ftl.reserved_blocks",
                format!(
                    "{reserved} spare blocks per allocation unit are all needed for collection, so none may wear out \
                     (endurance = {}); at least {} spare blocks ({percent}%) would work",
                    wear.endurance,
                    needed + 1
                ),
            );
        }
        Ok(Spare { reserved, least, needed, host_pages, numbers, map_pages })
    }
}

/// What is noted of blocks and pages for a placement policy.
fn noted(policy: &dyn Placement) -> Noted {
    if policy.by_cause().is_some() {
        return Noted::default();
    }
    let (ages, handles) = (u64::from(policy.looks_at_ages()), u64::from(policy.handles() > 0));
    Noted { of_block: 1 + 4 * ages, of_page: 4 * ages + handles }
}
