//! Drives that are sold, and that were measured by others.
//!
//! Each is `modern-tlc-1t` with figures of its own. A measurement from the outside does not tell dies, planes and rules of suspending, so
//! many other drives would do. At most five figures of a drive are fitted, and only on the rows that the split of
//! `harmonia reproduce drives` gives to the fit. Fits hold at `ssd.scale = "1/100"`.

use harmonia_types::SimDuration;

use super::{MODERN_TLC, MODERN_TLC_1T, Preset, Provenance, replaced};
use crate::{Geometry, LinkConfig, PageTimes, Timing};

const ONCE: Provenance =
    Provenance::Inferred("as in modern-tlc-1t, where it was chosen once for all measured drives");
const SEQUENTIAL: Provenance = Provenance::Fitted("the rate of the sequential fill");
const TAILS: Provenance = Provenance::Fitted("p99 of reads at the loads that are fitted");
const MEDIANS: Provenance = Provenance::Fitted("the medians at 10,000 writes a second");

const AS_PROGRAMS: Provenance = Provenance::Inferred("as long as `suspend_program`: one figure, not three");

/// What all of them have from `modern-tlc-1t` because it was chosen for them.
const COMMON: [(&str, Provenance); MODERN_TLC.len()] = replaced(
    MODERN_TLC,
    &[
        ("timing.suspend_program", ONCE),
        ("timing.suspend_host_program", ONCE),
        ("timing.suspend_erase", ONCE),
        ("timing.resume", ONCE),
        ("timing.minimum_run", TAILS),
        ("timing.program", SEQUENTIAL),
        ("link.latency", MEDIANS),
    ],
);

pub(super) const SAMSUNG_PM9A3_960G: Preset = Preset {
    name: "samsung-pm9a3-960g",
    summary: "Samsung PM9A3, 960 GB, fitted to measurements: 16 dies assumed, PCIe 4.0 x4",
    geometry: Geometry { blocks_per_plane: 3831, ..MODERN_TLC_1T.geometry },
    timing: Timing {
        read: PageTimes::of_three([SimDuration(49_000), SimDuration(51_000), SimDuration(60_000)]),
        program: PageTimes::same(SimDuration(1_920_000)),
        minimum_run: SimDuration(180_000),
        ..MODERN_TLC_1T.timing
    },
    link: LinkConfig { latency: SimDuration(9_000), ..MODERN_TLC_1T.link },
    provenance: &replaced(
        COMMON,
        &[
            (
                "geometry.blocks_per_plane",
                Provenance::Inferred("what makes the 894 GiB of the drive with its reserved blocks"),
            ),
            (
                "timing.read",
                Provenance::Inferred(
                    "SSD-iq: reads without load fall into groups at 61, 63 and 72 us, less link and bus",
                ),
            ),
            ("link.bandwidth", Provenance::Found("data sheet, in SSD-iq: 6.5 GB/s of sequential reads")),
        ],
    ),
};

pub(super) const SOLIDIGM_P5520_1_92T: Preset = Preset {
    name: "solidigm-p5520-1.92t",
    summary: "Solidigm D7-P5520, 1.92 TB, fitted to measurements: 32 dies assumed, PCIe 4.0 x4",
    geometry: Geometry { chips_per_channel: 4, blocks_per_plane: 3873, ..MODERN_TLC_1T.geometry },
    timing: Timing {
        read: PageTimes::of_three([SimDuration(37_000), SimDuration(49_000), SimDuration(61_000)]),
        program: PageTimes::same(SimDuration(3_080_000)),
        suspend_program: Some(SimDuration(70_000)),
        suspend_host_program: Some(SimDuration(70_000)),
        suspend_erase: Some(SimDuration(70_000)),
        minimum_run: SimDuration(265_000),
        ..MODERN_TLC_1T.timing
    },
    link: LinkConfig { latency: SimDuration(6_000), bandwidth: 5_300_000_000, ..MODERN_TLC_1T.link },
    provenance: &replaced(
        COMMON,
        &[
            (
                "geometry.chips_per_channel",
                Provenance::Inferred("32 dies: with 16 a fill at 2 GB/s would leave a program 1.5 ms"),
            ),
            (
                "geometry.blocks_per_plane",
                Provenance::Inferred("what makes the 1,788 GiB of the drive with its reserved blocks"),
            ),
            (
                "timing.read",
                Provenance::Inferred(
                    "SSD-iq: reads without load fall into groups at 46, 58 and 70 us, less link and bus",
                ),
            ),
            (
                "timing.suspend_program",
                Provenance::Fitted("the median of reads at the loads that are fitted"),
            ),
            ("timing.suspend_host_program", AS_PROGRAMS),
            ("timing.suspend_erase", AS_PROGRAMS),
            ("link.bandwidth", Provenance::Found("data sheet, in SSD-iq: 5.3 GB/s of sequential reads")),
        ],
    ),
};

pub(super) const MICRON_7450_PRO_960G: Preset = Preset {
    name: "micron-7450-pro-960g",
    summary: "Micron 7450 PRO, 960 GB, fitted to measurements: 16 dies assumed, PCIe 4.0 x4",
    geometry: Geometry { blocks_per_plane: 3785, ..MODERN_TLC_1T.geometry },
    timing: Timing {
        read: PageTimes::of_three([SimDuration(52_000), SimDuration(55_000), SimDuration(66_000)]),
        program: PageTimes::same(SimDuration(2_030_000)),
        minimum_run: SimDuration(180_000),
        ..MODERN_TLC_1T.timing
    },
    link: LinkConfig { latency: SimDuration(7_000), bandwidth: 6_800_000_000, ..MODERN_TLC_1T.link },
    provenance: &replaced(
        COMMON,
        &[
            (
                "geometry.blocks_per_plane",
                Provenance::Inferred("what makes the 894 GiB of the drive with its reserved blocks"),
            ),
            (
                "timing.read",
                Provenance::Inferred(
                    "SSD-iq: reads without load fall into groups at 62, 65 and 76 us, less link and bus",
                ),
            ),
            ("link.bandwidth", Provenance::Found("data sheet, in SSD-iq: 6.8 GB/s of sequential reads")),
        ],
    ),
};

pub(super) const SK_HYNIX_PE8110_960G: Preset = Preset {
    name: "sk-hynix-pe8110-960g",
    summary: "SK hynix PE8110, 960 GB, fitted to measurements: 16 dies assumed, PCIe 4.0 x4",
    geometry: Geometry { blocks_per_plane: 3736, ..MODERN_TLC_1T.geometry },
    timing: Timing {
        read: PageTimes::of_three([SimDuration(44_000), SimDuration(44_000), SimDuration(55_000)]),
        program: PageTimes::same(SimDuration(1_635_000)),
        minimum_run: SimDuration(230_000),
        ..MODERN_TLC_1T.timing
    },
    link: LinkConfig { latency: SimDuration(8_000), ..MODERN_TLC_1T.link },
    provenance: &replaced(
        COMMON,
        &[
            (
                "geometry.blocks_per_plane",
                Provenance::Inferred("what makes the 894 GiB of the drive with its reserved blocks"),
            ),
            (
                "timing.read",
                Provenance::Inferred(
                    "SSD-iq: reads without load fall into groups at 55 and 66 us, less link and bus",
                ),
            ),
            ("link.bandwidth", Provenance::Found("data sheet, in SSD-iq: 6.5 GB/s of sequential reads")),
        ],
    ),
};

pub(super) const KIOXIA_CM7_R_3_84T: Preset = Preset {
    name: "kioxia-cm7-r-3.84t",
    summary: "Kioxia CM7-R, 3.84 TB, fitted to measurements: 64 dies assumed, PCIe 5.0 x4",
    geometry: Geometry {
        channels: 16,
        chips_per_channel: 4,
        blocks_per_plane: 3789,
        ..MODERN_TLC_1T.geometry
    },
    timing: Timing {
        read: PageTimes::of_three([SimDuration(40_000), SimDuration(63_000), SimDuration(63_000)]),
        program: PageTimes::same(SimDuration(1_640_000)),
        minimum_run: SimDuration(390_000),
        ..MODERN_TLC_1T.timing
    },
    link: LinkConfig { latency: SimDuration(7_000), bandwidth: 14_000_000_000, ..MODERN_TLC_1T.link },
    provenance: &replaced(
        COMMON,
        &[
            (
                "geometry.channels",
                Provenance::Inferred("14 GB/s of reads are more than eight channels of 1.6 GB/s carry"),
            ),
            (
                "geometry.chips_per_channel",
                Provenance::Inferred("64 dies of 64 GiB, as large as those of the other drives"),
            ),
            (
                "geometry.blocks_per_plane",
                Provenance::Inferred("what makes the 3,577 GiB of the drive with its reserved blocks"),
            ),
            (
                "timing.read",
                Provenance::Inferred(
                    "SSD-iq: reads without load fall into groups at 50 and 73 us, 3 of 10 and 7 of 10, less link and bus",
                ),
            ),
            ("link.bandwidth", Provenance::Found("data sheet, in SSD-iq: 14 GB/s of sequential reads")),
        ],
    ),
};
