//! Devices as data: hardware figures with, for each, where it comes from.
//!
//! Hardware only. What a preset says of mapping and garbage collection stands beside the scenario, which joins both
//! halves by name. To add a device, add a [`Preset`] to [`PRESETS`] with one provenance per figure; a test in the
//! scenario crate refuses a figure without one.

use std::fmt;

use harmonia_types::SimDuration;

use crate::{Copyback, Geometry, LinkConfig, Timing};

/// Where one figure of a preset comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Stated by a paper, a data sheet or the source of a simulator.
    Found(&'static str),
    /// Our reading of sources that do not state it.
    Inferred(&'static str),
    /// Made up, for tests and quick tries.
    Invented(&'static str),
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Provenance::Found(source) => write!(f, "found: {source}"),
            Provenance::Inferred(why) => write!(f, "inferred: {why}"),
            Provenance::Invented(why) => write!(f, "invented: {why}"),
        }
    }
}

/// The hardware of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preset {
    /// The name users write, kebab-case.
    pub name: &'static str,
    /// One sentence for lists.
    pub summary: &'static str,
    /// How many of everything.
    pub geometry: Geometry,
    /// How long flash commands take.
    pub timing: Timing,
    /// Its host link.
    pub link: LinkConfig,
    /// Where each figure comes from, by key below `ssd.`.
    pub provenance: &'static [(&'static str, Provenance)],
}

/// The hardware called `name`, if there is such a preset.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// All devices.
pub const PRESETS: &[Preset] = &[MSR_SLC_32G, TINY_TEST];

const TABLE_IX: Provenance = Provenance::Found("MSST 2011, Table IX; IEEE TC 2012, Table 7");
const MSR_SOURCE: Provenance = Provenance::Found("source of the MSR SSD extension of DiskSim");

/// The simulated SSD of both global garbage collection papers: 32 GiB raw, 26.8 GiB exported with 15% reserved.
const MSR_SLC_32G: Preset = Preset {
    name: "msr-slc-32g",
    summary: "32 GiB SLC device of the MSR SSD model, as both global garbage collection papers use it",
    geometry: Geometry {
        channels: 8,
        chips_per_channel: 8,
        dies_per_chip: 1,
        planes_per_die: 4,
        blocks_per_plane: 512,
        pages_per_block: 64,
        page_size: 4096,
        summary_pages: 1,
        own_pins: true,
    },
    timing: Timing {
        read: SimDuration(25_000),
        program: SimDuration(200_000),
        erase: SimDuration(1_500_000),
        transfer: SimDuration(105_600),
        copyback: Copyback::Die,
    },
    link: LinkConfig { bandwidth: 300_000_000, latency: SimDuration::ZERO },
    provenance: &[
        ("geometry.channels", SPLIT),
        ("geometry.chips_per_channel", SPLIT),
        ("geometry.dies_per_chip", SPLIT),
        ("geometry.planes_per_die", TABLE_IX),
        ("geometry.blocks_per_plane", TABLE_IX),
        ("geometry.pages_per_block", TABLE_IX),
        ("geometry.page_size", TABLE_IX),
        ("geometry.summary_pages", MSR_SOURCE),
        ("geometry.own_pins", MSR_SOURCE),
        ("timing.read", TABLE_IX),
        ("timing.program", TABLE_IX),
        ("timing.erase", TABLE_IX),
        ("timing.transfer", Provenance::Found("MSR SSD extension of DiskSim: 8 sectors x 528 B x 25 ns")),
        (
            "timing.copyback",
            Provenance::Inferred(
                "the MSR model charges no transfer inside a plane; taken for the whole element",
            ),
        ),
        ("link.bandwidth", Provenance::Inferred("SATA 3 Gb/s; neither paper states its link")),
        ("link.latency", Provenance::Inferred("neither paper states one")),
    ],
};

const SPLIT: Provenance = Provenance::Inferred(
    "both papers say 64 elements; 8 x 8 x 1 is our split, immaterial because every element has its own pins",
);

const FOR_TESTS: Provenance = Provenance::Invented("small enough to age in milliseconds");

/// Four dies on two shared channels, 16 MiB raw.
const TINY_TEST: Preset = Preset {
    name: "tiny-test",
    summary: "16 MiB device with shared buses, invented for tests and quick tries",
    geometry: Geometry {
        channels: 2,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 32,
        pages_per_block: 16,
        page_size: 4096,
        summary_pages: 0,
        own_pins: false,
    },
    timing: Timing {
        read: SimDuration(25_000),
        program: SimDuration(200_000),
        erase: SimDuration(1_500_000),
        transfer: SimDuration(25_000),
        copyback: Copyback::None,
    },
    link: LinkConfig { bandwidth: 300_000_000, latency: SimDuration::ZERO },
    provenance: &[
        ("geometry.channels", FOR_TESTS),
        ("geometry.chips_per_channel", FOR_TESTS),
        ("geometry.dies_per_chip", FOR_TESTS),
        ("geometry.planes_per_die", FOR_TESTS),
        ("geometry.blocks_per_plane", FOR_TESTS),
        ("geometry.pages_per_block", FOR_TESTS),
        ("geometry.page_size", FOR_TESTS),
        ("geometry.summary_pages", FOR_TESTS),
        ("geometry.own_pins", Provenance::Invented("false, so that transfers compete for a bus")),
        ("timing.read", FOR_TESTS),
        ("timing.program", FOR_TESTS),
        ("timing.erase", FOR_TESTS),
        ("timing.transfer", FOR_TESTS),
        ("timing.copyback", Provenance::Invented("none, so that every move costs two transfers")),
        ("link.bandwidth", FOR_TESTS),
        ("link.latency", FOR_TESTS),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The arithmetic of the base model: 64 elements x 4 planes x 512 blocks x 64 pages x 4 KiB = 32.0 GiB raw.
    #[test]
    fn the_msr_device_has_64_elements_and_32_gib() {
        let preset = find("msr-slc-32g").unwrap();
        assert_eq!(preset.geometry.dies(), 64);
        assert_eq!(preset.geometry.raw_bytes(), 32 << 30);
        assert_eq!(preset.geometry.data_pages_per_block(), 63);
        assert_eq!(preset.timing.transfer.0, 8 * 528 * 25);
    }

    #[test]
    fn names_are_unique() {
        for preset in PRESETS {
            assert_eq!(find(preset.name), Some(preset));
        }
    }
}
