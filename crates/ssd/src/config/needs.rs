//! What parts of a device need of one another: units and programs, maps on flash, superblocks, placement. What lacks it is refused with
//! what would work.

use harmonia_flash::{Copyback, Geometry, PageTimes};
use harmonia_types::units::format_bytes;

use super::{Allocation, AllocationUnit, Destination, Domain, Drain, Infeasible, SsdConfig, Superblock};
use crate::block::MOST_PAGES;
use crate::ftl::FreeList;
use crate::gc::{schedule, victim};
use crate::placement::Placement;
use crate::shape::Packing;

/// Units that one program carries at most.
const MOST_SLOTS: u32 = 192;

const SUPERBLOCK: &str = "ssd.ftl.superblock";
const MAPPING_CACHE: &str = "ssd.ftl.mapping_cache";
const PROGRAM_PLANES: &str = "ssd.geometry.program_planes";

impl SsdConfig {
    /// Planes that one program writes are equal parts of those of a die.
    pub(crate) fn planes_of_programs(&self) -> Result<(), Infeasible> {
        let g = &self.geometry;
        if g.program_planes == 0 || !g.planes_per_die.is_multiple_of(g.program_planes) {
            let why = format!("must divide the {} planes of a die", g.planes_per_die);
            return Err(Infeasible { key: PROGRAM_PLANES, why });
        }
        Ok(())
    }

    /// How units lie in pages and programs.
    pub(super) fn packing(&self) -> Result<Packing, Infeasible> {
        const UNIT: &str = "ssd.ftl.mapping_unit";
        const PLANES: &str = PROGRAM_PLANES;
        const PAGES: &str = "ssd.geometry.program_pages";
        let fail = |key, why: &str| Err(Infeasible { key, why: why.to_owned() });
        let g = &self.geometry;
        let unit = self.mapping_unit();
        if unit > g.page_size {
            return fail(
                UNIT,
                "a unit of several pages is a wide page, which `SsdConfig::widened` makes of it",
            );
        }
        if unit == 0 || !unit.is_multiple_of(512) || !g.page_size.is_multiple_of(unit) {
            let why =
                format!("a page of {} bytes must be a multiple of it, and it one of 512 bytes", g.page_size);
            return fail(UNIT, &why);
        }
        self.planes_of_programs()?;
        if g.program_planes > 1 && self.ftl.allocation_unit == AllocationUnit::Plane {
            return fail(
                PLANES,
                "a program of several planes writes blocks of all of them, which needs ssd.ftl.allocation_unit = \"die\"",
            );
        }
        if !(1..=PageTimes::MOST as u32).contains(&g.program_pages) {
            return fail(PAGES, "pages of one program are of 1 to 3 types");
        }
        if !g.data_pages_per_block().is_multiple_of(g.program_pages) {
            let (pages, shot) = (g.data_pages_per_block(), g.program_pages);
            let why = format!(
                "the {pages} data pages of a block must be a multiple of it; {} would be",
                pages / shot * shot
            );
            return fail(PAGES, &why);
        }
        let packing = Packing::new(g.page_size / unit, g.program_planes, g.program_pages);
        let packing = match self.write_cache.drain {
            Drain::Full => packing,
            Drain::Partial if g.program_planes == 1 => {
                return fail(
                    "ssd.write_cache.drain",
                    "`partial` writes some of the planes of a program, which needs ssd.geometry.program_planes above 1, or above the pages of a mapping unit",
                );
            }
            Drain::Partial => packing.in_parts(),
        };
        if !packing.packs() {
            return Ok(packing);
        }
        let key = match () {
            () if unit < g.page_size => UNIT,
            () if g.program_planes > 1 => PLANES,
            () => PAGES,
        };
        let slots = packing.slots_per_program();
        if slots > MOST_SLOTS {
            return fail(key, &format!("a program of {slots} units; at most {MOST_SLOTS} are supported"));
        }
        let slots = u64::from(g.pages_per_block) * u64::from(slots / g.program_pages);
        if slots > u64::from(MOST_PAGES) {
            let why = format!(
                "{slots} units in the blocks that are programmed together; at most {MOST_PAGES} are supported"
            );
            return fail(key, &why);
        }
        self.goes_with_packing(key)?;
        Ok(packing)
    }

    /// Refuses what cannot be where a program carries several units.
    fn goes_with_packing(&self, key: &'static str) -> Result<(), Infeasible> {
        let packs = "a program carries several units";
        let fail = |why: String| Err(Infeasible { key, why });
        if self.geometry.summary_pages > 0 {
            return fail(format!(
                "{packs}, which needs ssd.geometry.summary_pages = 0: a summary is a program by itself"
            ));
        }
        if self.timing.copyback != Copyback::None {
            return fail(format!(
                "{packs}, which needs ssd.timing.copyback = \"none\": collection packs units of several pages in the controller"
            ));
        }
        if self.ftl.multi_plane {
            return fail(format!(
                "{packs}, which needs ssd.ftl.multi_plane = false: programs of several planes are ssd.geometry.program_planes"
            ));
        }
        if self.gc.destination == Destination::Device {
            return fail(format!(
                "{packs}, which needs ssd.gc.destination = \"unit\": units that go to other dies are not packed"
            ));
        }
        if matches!(self.ftl.allocation, Allocation::DynamicPlane(_)) {
            return fail(format!(
                "{packs}, which needs an order of four letters or \"dynamic\" as ssd.ftl.allocation: one of three chooses \
                 the plane of each unit when its program begins"
            ));
        }
        if !self.timing.program.is_same() && self.geometry.program_pages > 1 {
            return fail(
                "one program writes pages of all types, which needs one time as ssd.timing.program".into(),
            );
        }
        // A schedule that cannot be built is refused elsewhere.
        if let Ok(schedule) = schedule::build(&self.gc.schedule) {
            let needs = schedule.needs();
            if needs.fresh_blocks || needs.pairs == schedule::Pairs::Always {
                return fail(format!(
                    "{packs}, which does not go with ssd.gc.schedule = \"{}\": it joins single pages of the host and of \
                     collection",
                    self.gc.schedule.policy
                ));
            }
        }
        Ok(())
    }

    /// Pages of the map that each of so many allocation units has on flash, of so many pages of the host in all. None where the memory of
    /// the drive holds the whole map.
    pub(super) fn map_pages_of_unit(&self, units: u64, host_pages: u64) -> Result<u64, Infeasible> {
        let Some(size) = self.ftl.mapping_cache else { return Ok(0) };
        let fail = |why: String| Err(Infeasible { key: MAPPING_CACHE, why });
        let page = self.mapping_unit();
        if size < u64::from(page) {
            return fail(format!(
                "a page of the map has {page} bytes, more than {}; {page}B works",
                format_bytes(size)
            ));
        }
        if !(1..=page).contains(&self.ftl.mapping_entry) {
            let (key, why) =
                ("ssd.ftl.mapping_entry", format!("1 to {page} bytes fit into a page of the map"));
            return Err(Infeasible { key, why });
        }
        let needs: &[(bool, &str)] = &[
            (
                !matches!(self.ftl.allocation, Allocation::Static(_)),
                "an order of four letters as ssd.ftl.allocation, such as \"cwdp\": a page of the map lies in the allocation unit that its \
                 number names, and where the drive chooses the die numbers name none",
            ),
            (
                !self.ftl.superblock.is_off(),
                "ssd.ftl.superblock = \"off\": programs of superblocks are put together of what leaves the write cache, which pages of the map do \
                 not pass",
            ),
            (
                !self.write_cache.drain.is_full(),
                "ssd.write_cache.drain = \"full\": pages of the map begin at whole programs",
            ),
        ];
        if let Some((_, what)) = needs.iter().find(|(lacks, _)| *lacks) {
            return fail(format!(
                "a map that lies on flash needs {what}; or \"none\", with which memory holds the whole map"
            ));
        }
        let pages = self.map_pages(host_pages);
        Ok(if size / u64::from(page) >= pages { 0 } else { pages.div_ceil(units) })
    }

    /// How many of so many dies have a superblock in common; `None` without superblocks.
    pub(super) fn dies_per_unit(&self, dies: u32) -> Result<Option<u32>, Infeasible> {
        let fail = |why| Err(Infeasible { key: SUPERBLOCK, why });
        let of_unit = match self.ftl.superblock {
            Superblock::Off => return Ok(None),
            Superblock::Drive => dies,
            Superblock::Dies(of_unit) => of_unit,
        };
        if of_unit == 0 || !dies.is_multiple_of(of_unit) {
            let works: Vec<String> =
                (1..=dies).filter(|n| dies.is_multiple_of(*n)).map(|n| n.to_string()).collect();
            return fail(format!(
                "{of_unit} does not divide the {dies} dies of a drive; {} work",
                works.join(", ")
            ));
        }
        if of_unit == 1 && self.ftl.allocation == Allocation::Dynamic {
            return fail(
                "superblocks of one die leave the device no die to choose: superblocks of two dies or more work, or an order of \
                 four letters as ssd.ftl.allocation"
                    .into(),
            );
        }
        match self.against_superblocks() {
            Some(why) => fail(format!("superblocks need {why}")),
            None => Ok(Some(of_unit)),
        }
    }

    /// Blocks that make one superblock of so many dies.
    pub(super) fn joined_by(&self, dies: u32) -> Result<u32, Infeasible> {
        let Geometry { planes_per_die, pages_per_block, page_size, .. } = self.geometry;
        let units = page_size / self.mapping_unit();
        let of_die = planes_per_die.saturating_mul(pages_per_block).saturating_mul(units);
        if dies.saturating_mul(of_die) > MOST_PAGES {
            let most = MOST_PAGES / of_die;
            let help = match most {
                0 => "pages_per_block or planes_per_die must be smaller".to_owned(),
                most => format!("at most {most} dies work"),
            };
            let why = format!(
                "{} pages in a superblock of {dies} dies; at most {MOST_PAGES} are supported, so {help}",
                u64::from(dies) * u64::from(of_die)
            );
            return Err(Infeasible { key: SUPERBLOCK, why });
        }
        Ok(dies * planes_per_die)
    }

    /// What superblocks need and this drive does not have.
    fn against_superblocks(&self) -> Option<String> {
        let (ftl, gc, timing) = (&self.ftl, &self.gc, &self.timing);
        let g = &self.geometry;
        let policies = (schedule::build(&gc.schedule), victim::build(&gc.victim));
        let packs = self.mapping_unit() < g.page_size || g.program_planes > 1 || g.program_pages > 1;
        // A policy that cannot be built is refused elsewhere.
        let (joins, by_steps) = policies.0.map_or((false, false), |schedule| {
            let needs = schedule.needs();
            (needs.fresh_blocks || needs.pairs == schedule::Pairs::Always, !needs.one_command)
        });
        let by_reads = policies.1.is_ok_and(|victim| victim.uses_reads());
        let needs: &[(bool, &str)] = &[
            (
                packs && self.write_cache.is_none(),
                "a write cache, which gathers what a program carries: ssd.write_cache.size",
            ),
            (
                matches!(ftl.allocation, Allocation::DynamicPlane(_)),
                "\"dynamic\" as ssd.ftl.allocation, or an order of four letters, with which programs go from die to die in turn",
            ),
            (
                ftl.allocation_unit == AllocationUnit::Plane,
                "ssd.ftl.allocation_unit = \"die\": they have blocks of all planes",
            ),
            (gc.destination == Destination::Device, "ssd.gc.destination = \"unit\""),
            (ftl.multi_plane, "ssd.ftl.multi_plane = false"),
            (g.summary_pages > 0, "ssd.geometry.summary_pages = 0"),
            (
                !timing.read.is_same() && g.program_pages == 1 || !timing.program.is_same(),
                "one time for all pages as ssd.timing.program, and as ssd.timing.read if a program has pages of one type",
            ),
            (
                joins,
                "a schedule that joins no operations of the host with collection: any but the I/O-parallel ones as ssd.gc.schedule",
            ),
            (
                by_steps && ftl.free_list != FreeList::Fifo,
                "ssd.ftl.free_list = \"fifo\" where collection goes step by step: a block that is being erased is written last",
            ),
            (
                by_steps && gc.min_victims > 1,
                "ssd.gc.min_victims = 1 where collection goes step by step: each die counts for itself",
            ),
            (
                by_steps && self.leveling.is_some(),
                "no [ssd.leveling] where collection goes step by step: it may take a block that is being erased",
            ),
            (by_reads, "a victim policy that does not look at the reads of one die: all but \"read-match\""),
            (
                !matches!(gc.domain, Domain::Die | Domain::Device),
                "ssd.gc.domain = \"die\", which stands for all dies of a superblock, or \"device\"",
            ),
            (
                gc.concurrency.policy != "unlimited",
                "ssd.gc.concurrency.policy = \"unlimited\": all dies of a superblock collect at once",
            ),
        ];
        needs.iter().find(|(lacks, _)| *lacks).map(|(_, what)| (*what).to_owned())
    }

    /// Checks that the rest of the device goes with its placement policy; `hard` is its hard threshold.
    pub(super) fn check_placement(&self, policy: &dyn Placement, hard: u32) -> Result<(), Infeasible> {
        let fail = |key, why: String| Err(Infeasible { key, why });
        let name = &self.ftl.placement.policy;
        if let Some(of_collection) = policy.by_cause() {
            let least = u32::from(of_collection > 0);
            if hard < least {
                return fail(
                    "ssd.gc.hard_threshold",
                    "0 blocks leave garbage collection without a frontier of its own; at least 1 works"
                        .into(),
                );
            }
            return Ok(());
        }
        let least = u32::from(policy.frontiers().of_victim);
        if hard < least {
            return fail(
                "ssd.gc.hard_threshold",
                format!(
                    "{hard} blocks are too few for ssd.ftl.placement = \"{name}\", by which the pages of a victim go to up to \
                     {least} frontiers; at least {least} work"
                ),
            );
        }
        // A schedule that cannot be built is refused elsewhere.
        let needs = schedule::build(&self.gc.schedule).map(|schedule| schedule.needs()).ok();
        let joins = needs.is_some_and(|needs| needs.fresh_blocks || needs.pairs == schedule::Pairs::Always);
        // The number of a page names its superblocks, whatever their dies.
        let names_unit =
            matches!(self.ftl.allocation, Allocation::Static(_)) || !self.ftl.superblock.is_off();
        let why = if !names_unit {
            "an order of four letters as ssd.ftl.allocation, or ssd.ftl.superblock: the frontiers of a page are those of the unit that \
             its number names"
        } else if self.ftl.multi_plane {
            "ssd.ftl.multi_plane = false: a command of several planes writes at one offset, and each frontier has its own"
        } else if joins {
            "a schedule that opens no blocks of its own and joins no host writes with collection"
        } else if self.leveling.is_some() {
            "no [ssd.leveling]: levelling moves blocks to the frontier of collection, of which there are several"
        } else {
            return Ok(());
        };
        fail("ssd.ftl.placement", format!("`{name}` needs {why}"))
    }
}
