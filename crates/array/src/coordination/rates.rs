//! How fast a member can be written and win space back, as far as its configuration says. Bounds of windows follow.
//!
//! A collection takes `ssd.gc.min_victims` blocks of every allocation unit, each as full as the average written block.
//! Victims that are chosen well hold less, so a collection takes less time than this. Dies collect at the same time and
//! share the wires of their channel, unless each has pins of its own. Writes come as fast as link, wires and dies allow.
//!
//! Not estimated: host operations between those of a collection, and schedules that delay it.

use harmonia_flash::Copyback;
use harmonia_ssd::SsdConfig;
use harmonia_types::SimDuration;

use crate::config::MemberConfig;

/// Of the worst of some members in each respect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rates {
    /// The longest a collection takes.
    pub collection: SimDuration,
    /// Bytes that can be written between the soft and the hard threshold.
    pub spare: f64,
    /// Bytes written a second at most.
    pub written: f64,
    /// Bytes a second that a collection wins.
    pub reclaimed: f64,
}

impl Rates {
    /// The worst of these members; `None` if there is none whose device can work.
    pub fn of(members: &[MemberConfig]) -> Option<Rates> {
        members.iter().filter_map(|member| Rates::of_device(&member.ssd)).reduce(|a, b| Rates {
            collection: a.collection.max(b.collection),
            spare: a.spare.min(b.spare),
            written: a.written.max(b.written),
            reclaimed: a.reclaimed.min(b.reclaimed),
        })
    }

    fn of_device(ssd: &SsdConfig) -> Option<Rates> {
        let shape = ssd.resolve().ok()?;
        let (geometry, timing) = (&ssd.geometry, &ssd.timing);
        let page = f64::from(shape.page_size);
        let units = shape.packing.slots_per_program();

        // What a collection moves, and how long that takes.
        // Data may be too much for the soft threshold ever to be left; then blocks are full.
        let written_blocks = shape.blocks_per_unit.saturating_sub(shape.soft).max(1);
        let live = shape.unit_pages.div_ceil(written_blocks).min(shape.data_pages);
        let far = if timing.copyback == Copyback::None { live } else { 0 };
        let command = &timing.command;
        let (reads, programs) = if shape.packing.packs() {
            let reads = shape.packing.pages_with_some(shape.data_pages, live);
            (u64::from(reads), u64::from(live.div_ceil(units)))
        } else {
            (u64::from(live), u64::from(live))
        };
        let commands = command.read * reads + command.program * programs + command.erase;
        let transfers = ssd.unit_transfer() * u64::from(2 * far) + commands;
        let victim = timing.read.mean() * reads
            + timing.program.mean() * programs
            + transfers
            + timing.program.mean() * u64::from(shape.summary_pages)
            + timing.erase;
        let victims_of_die = u64::from(shape.units_per_die) * u64::from(ssd.gc.min_victims);
        let dies_on_bus = if geometry.own_pins { 1 } else { u64::from(shape.dies / geometry.channels) };
        let collection = (victim * victims_of_die).max(transfers * (victims_of_die * dies_on_bus));
        let won = f64::from(shape.dies) * victims_of_die as f64 * f64::from(shape.data_pages - live) * page;

        let page_in = if units == 1 { timing.transfer + command.program } else { ssd.unit_transfer() };
        let spare_blocks = f64::from(shape.units()) * f64::from(shape.soft - shape.hard);
        let at_once = if ssd.ftl.multi_plane { geometry.planes_per_die } else { 1 };
        let carried = f64::from(shape.dies * at_once * units);
        let programs = carried / seconds(timing.program.mean() + page_in * u64::from(units));
        let buses = f64::from(if geometry.own_pins { shape.dies } else { geometry.channels });
        let link = 1.0 / seconds(ssd.link.page_time(shape.page_size));
        Some(Rates {
            collection,
            spare: spare_blocks * f64::from(shape.data_pages) * page,
            written: programs.min(buses / seconds(page_in)).min(link) * page,
            reclaimed: won / seconds(collection),
        })
    }

    /// How long a window of each of `turns` may be at most, if writes never pause: between two windows of a member, and
    /// in its window beyond what it wins back, writes must not use up its spare space. `None`: as long as you like.
    pub fn longest_window(&self, turns: u16) -> Option<SimDuration> {
        let lost = f64::from(turns) * self.written - self.reclaimed;
        (lost > 0.0).then(|| duration(self.spare / lost))
    }

    /// How long writes that never pause may go on without collection.
    pub fn endurance(&self) -> SimDuration {
        duration(self.spare / self.written)
    }
}

fn seconds(time: SimDuration) -> f64 {
    time.0 as f64 / 1e9
}

/// An estimate deserves no more than whole microseconds.
fn duration(seconds: f64) -> SimDuration {
    SimDuration::from_us((seconds * 1e6) as u64)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use harmonia_flash::presets;
    use harmonia_ssd::{Amount, Domain, GcConfig};

    /// Members of the array papers: 64 dies of 2,048 blocks of 63 pages, 307 of them spare, hard at 102.
    pub fn members(count: usize, soft: u32) -> Vec<MemberConfig> {
        let flash = presets::find("msr-slc-32g").expect("the device of the array papers");
        let ssd = SsdConfig {
            gc: GcConfig {
                domain: Domain::Device,
                soft_threshold: Amount::Blocks(soft),
                ..GcConfig::default()
            },
            ..SsdConfig::of(flash)
        };
        vec![MemberConfig { capable: true, ssd }; count]
    }

    /// 1,741 blocks of 63 live pages in 1,945 written ones: 57 of 63 move. 57 x (25 + 200) + 200 + 1,500 us = 14.525 ms win
    /// 6 pages of every die. The link (300 MB/s) is slower than 64 dies. One block of every die is spare.
    #[test]
    fn the_rates_of_the_array_papers_device() {
        let rates = Rates::of(&members(2, 103)).expect("it works");
        assert_eq!(rates.collection, SimDuration(14_525_000));
        assert_eq!(rates.spare, BLOCK_OF_EVERY_DIE);
        assert!((rates.written / 300e6 - 1.0).abs() < 1e-4, "{}", rates.written);
        assert_eq!(rates.reclaimed.round(), (6.0 * 64.0 * 4096.0 / 0.014525_f64).round());
        // 16.5 MB / (8 x 300 MB/s - 108.3 MB/s) and 16.5 MB / 300 MB/s.
        assert_eq!(rates.longest_window(8).map(|window| window.0 / 10_000), Some(720));
        assert_eq!(rates.endurance().0 / 100_000, 550);
        let slow = Rates { written: 10e6, ..rates };
        assert_eq!(slow.longest_window(8), None, "collection wins more than eight turns of writes");
    }

    const BLOCK_OF_EVERY_DIE: f64 = 64.0 * 63.0 * 4096.0;

    #[test]
    fn thresholds_beyond_all_reason_have_rates_too() {
        for soft in [400, 5_000, u32::MAX] {
            let mut members = members(1, soft);
            members[0].ssd.gc.min_victims = u32::MAX;
            let rates = Rates::of(&members).expect("it works");
            assert_eq!(rates.reclaimed, 0.0, "every block is full");
            assert!(rates.longest_window(8).is_some() && rates.endurance() > SimDuration::ZERO);
        }
    }

    #[test]
    fn a_shared_bus_and_larger_collections_take_longer() {
        let mut members = members(1, 103);
        let ssd = &mut members[0].ssd;
        (ssd.geometry.own_pins, ssd.timing.copyback, ssd.gc.min_victims) = (false, Copyback::None, 3);
        // 8 dies on a bus, each with 3 x 57 moves of two transfers of 105.6 us: longer than 3 x 26.6 ms of each die.
        let rates = Rates::of(&members).expect("it works");
        assert_eq!(rates.collection, SimDuration(8 * 3 * 57 * 2 * 105_600));
    }

    #[test]
    fn the_worst_member_counts() {
        let mut mixed = members(2, 103);
        mixed[1].ssd.gc.min_victims = 2;
        mixed[0].ssd.gc.hard_threshold = Amount::Blocks(100);
        let rates = Rates::of(&mixed).expect("they work");
        assert_eq!((rates.collection, rates.spare), (SimDuration(2 * 14_525_000), BLOCK_OF_EVERY_DIE));
        assert_eq!(Rates::of(&[]), None);
    }
}
