//! Mapping units of several pages: a drive that has them is one with wide pages.
//!
//! ```text
//! plane     0        1        2        3
//! page      a        a        a        a         a unit of four pages, programmed, read and erased together:
//!           ─────────── one wide page ──         a page of four times the size, in one plane
//! ```
//!
//! A unit of k pages lies at one place of k planes that one program writes. So these planes act as one, with pages of the size of a unit,
//! whose transfer takes k times as long and whose sensing and programming take as long as those of a page.
//! [`SsdConfig::widened`] makes that drive of the one that was written; all else knows pages only. Large drives map 16 or 64 KiB
//! at once, so that their map takes a quarter or a sixteenth of the memory, and pay with a read and a wide program for each write of less.
//!
//! Not modelled: reads of only those pages of a unit that are needed, units in pages that are programmed one after the other, and
//! endurance by plane: blocks of the k planes wear out as one. The time of a command and read retries count once for a unit.

use crate::config::{AllocationUnit, Infeasible, SsdConfig};

impl SsdConfig {
    /// The same drive with pages that are as large as a mapping unit, where that is larger than a page.
    ///
    /// # Errors
    /// If such a unit does not lie in planes that one program writes.
    pub fn widened(mut self) -> Result<SsdConfig, Infeasible> {
        let (unit, page) = (self.mapping_unit(), self.geometry.page_size);
        if unit <= page || page == 0 {
            return Ok(self);
        }
        let fail = |why: String| Err(Infeasible { key: "ssd.ftl.mapping_unit", why });
        if !unit.is_multiple_of(page) {
            return fail(format!("a unit of more than a page must be a multiple of its {page} bytes"));
        }
        let (pages, geometry) = (unit / page, &mut self.geometry);
        if self.ftl.allocation_unit == AllocationUnit::Plane {
            return fail(format!(
                "a unit of {pages} pages lies in as many planes, which needs ssd.ftl.allocation_unit = \"die\""
            ));
        }
        if geometry.program_planes == 0 || !geometry.program_planes.is_multiple_of(pages) {
            return fail(format!(
                "a unit of {pages} pages lies in as many planes that one program writes, so ssd.geometry.program_planes must be \
                 a multiple of {pages}, not {}; at most {} bytes work",
                geometry.program_planes,
                u64::from(page) * u64::from(geometry.program_planes.max(1)),
            ));
        }
        self.planes_of_programs()?;
        let geometry = &mut self.geometry;
        geometry.page_size = unit;
        geometry.planes_per_die /= pages;
        geometry.program_planes /= pages;
        self.timing.transfer = self.timing.transfer * u64::from(pages);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use harmonia_flash::presets;
    use harmonia_types::SimDuration;

    use super::*;

    /// Eight planes of 16 KiB, of which one program writes four.
    fn drive(unit: u32) -> SsdConfig {
        let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        let geometry = &mut config.geometry;
        (geometry.page_size, geometry.planes_per_die, geometry.program_planes) = (16_384, 8, 4);
        config.timing.transfer = SimDuration(10_000);
        config.ftl.allocation_unit = AllocationUnit::Die;
        config.ftl.mapping_unit = Some(unit);
        config
    }

    #[test]
    fn a_unit_of_several_pages_is_a_wide_page() {
        for (unit, planes, program) in [(32_768, 4, 2), (65_536, 2, 1)] {
            let wide = drive(unit).widened().expect("it works");
            let geometry = &wide.geometry;
            assert_eq!((geometry.page_size, wide.mapping_unit()), (unit, unit));
            assert_eq!((geometry.planes_per_die, geometry.program_planes), (planes, program));
            assert_eq!(wide.unit_transfer(), SimDuration(10_000 * u64::from(unit) / 16_384));
            let bytes = |config: &SsdConfig| {
                u64::from(config.geometry.page_size) * u64::from(config.geometry.planes_per_die)
            };
            assert_eq!(bytes(&wide), bytes(&drive(unit)), "the flash is as large as before");
        }
    }

    #[test]
    fn units_of_at_most_a_page_stay() {
        for unit in [4_096, 16_384] {
            assert_eq!(drive(unit).widened(), Ok(drive(unit)));
        }
    }

    #[test]
    fn what_lies_in_no_planes_of_one_program_is_refused_with_what_would_work() {
        let why = |config: SsdConfig| config.widened().expect_err("it is refused").to_string();
        let says = |config: SsdConfig, words: &str| {
            let why = why(config);
            assert!(why.contains(words), "{why}");
        };
        says(
            drive(24_576),
            "ssd.ftl.mapping_unit: a unit of more than a page must be a multiple of its 16384 bytes",
        );
        says(drive(131_072), "must be a multiple of 8, not 4");
        says(drive(49_152), "must be a multiple of 3, not 4");
        let mut of_planes = drive(32_768);
        of_planes.ftl.allocation_unit = AllocationUnit::Plane;
        says(of_planes, "ssd.ftl.allocation_unit = \"die\"");
        let mut odd = drive(32_768);
        odd.geometry.planes_per_die = 6;
        says(odd, "ssd.geometry.program_planes: must divide the 6 planes of a die");
    }
}
