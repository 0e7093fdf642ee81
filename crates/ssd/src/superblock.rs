//! Superblocks: blocks of several dies that are written, chosen and erased as one.
//!
//! ```text
//!   page of a superblock    0  1  2  3 | 4  5  6  7 | ...      4 dies of 2 planes
//!   die                     0  1  2  3   0  1  2  3            a row is one page of every die
//!   plane                   0  0  0  0   1  1  1  1
//! ```
//!
//! A superblock has one block of every plane of its dies. To the mapping state it is a block like any other, only longer: an
//! allocation unit spans dies. So victims, frontiers, streams, wear and ageing need not know of it. A page number names the group
//! of dies that share their blocks, and no die.
//!
//! Pages of a frontier go from die to die in turn. The least loaded die would have to have room in the same superblock, so that
//! dies would fill it unequally, and the last ones to fill it would take all writes.
//!
//! Not modelled: superblocks that go on without a block that has worn out, or with a spare one in its place.

use harmonia_flash::Geometry;

use crate::config::{Allocation, AllocationUnit, Domain, Infeasible, SsdConfig, Superblock};
use crate::gc::{schedule, victim};

const KEY: &str = "ssd.ftl.superblock";

/// Pages of a block at most, as valid counts have room for them.
const MOST_PAGES: u32 = 8191;

impl SsdConfig {
    /// How many of so many dies have a superblock in common; `None` without superblocks.
    pub(crate) fn dies_per_unit(&self, dies: u32) -> Result<Option<u32>, Infeasible> {
        let fail = |why| Err(Infeasible { key: KEY, why });
        let of_unit = match self.ftl.superblock {
            Superblock::Off => return Ok(None),
            Superblock::Drive => dies,
            Superblock::Dies(of_unit) => of_unit,
        };
        if of_unit == 0 || !dies.is_multiple_of(of_unit) {
            let works: Vec<String> = (1..=dies).filter(|n| dies % n == 0).map(|n| n.to_string()).collect();
            return fail(format!(
                "{of_unit} does not divide the {dies} dies of a drive; {} work",
                works.join(", ")
            ));
        }
        match self.against_superblocks() {
            Some(why) => fail(format!("superblocks need {why}")),
            None => Ok(Some(of_unit)),
        }
    }

    /// Blocks that make one superblock of so many dies.
    pub(crate) fn joined_by(&self, dies: u32) -> Result<u32, Infeasible> {
        let Geometry { planes_per_die, pages_per_block, .. } = self.geometry;
        let of_die = planes_per_die.saturating_mul(pages_per_block);
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
            return Err(Infeasible { key: KEY, why });
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
        let by_steps = policies.0.is_ok_and(|schedule| !schedule.needs().one_command);
        let by_reads = policies.1.is_ok_and(|victim| victim.uses_reads());
        let needs: &[(bool, &str)] = &[
            (
                packs,
                "programs of one page: ssd.ftl.mapping_unit = the size of a page, ssd.geometry.program_planes = 1 and \
                 program_pages = 1",
            ),
            (
                ftl.allocation_unit == AllocationUnit::Plane,
                "ssd.ftl.allocation_unit = \"die\": they have blocks of all planes",
            ),
            (
                !matches!(ftl.allocation, Allocation::Static(_)),
                "an order of four letters as ssd.ftl.allocation, which then has no effect: pages go from die to die in turn",
            ),
            (ftl.multi_plane, "ssd.ftl.multi_plane = false"),
            (g.summary_pages > 0, "ssd.geometry.summary_pages = 0"),
            (
                !timing.read.is_same() || !timing.program.is_same(),
                "one time for all pages as ssd.timing.read and ssd.timing.program",
            ),
            (!self.write_cache.is_none(), "ssd.write_cache.size = \"none\""),
            (
                by_steps,
                "a schedule that collects in one command: ssd.gc.schedule = \"blocking\", \"after-reads\" or \"ideal\"",
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
}
