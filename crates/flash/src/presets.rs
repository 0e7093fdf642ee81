//! Devices as data: hardware figures with, for each, where it comes from.
//!
//! Hardware only. What a preset says of mapping and garbage collection stands beside the scenario, which joins both
//! halves by name. To add a device, add a [`Preset`] to [`PRESETS`] with one provenance per figure; a test in the
//! scenario crate refuses a figure without one. `named` has the drives that are sold.

mod named;

use std::fmt;

use harmonia_types::SimDuration;

use crate::{Commands, Copyback, Geometry, LinkConfig, PageTimes, Timing};

/// Where one figure of a preset comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Stated by a paper, a data sheet or the source of a simulator.
    Found(&'static str),
    /// Our reading of sources that do not state it.
    Inferred(&'static str),
    /// Chosen so that the drive agrees with measurements; on which of them.
    Fitted(&'static str),
    /// Made up, for tests and quick tries.
    Invented(&'static str),
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Provenance::Found(source) => write!(f, "found: {source}"),
            Provenance::Inferred(why) => write!(f, "inferred: {why}"),
            Provenance::Fitted(rows) => write!(f, "fitted: {rows}"),
            Provenance::Invented(why) => write!(f, "invented: {why}"),
        }
    }
}

/// The hardware of one device.
#[derive(Debug, Clone, PartialEq)]
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

/// Where the figures of a device come from that is another one with some figures of its own, whose sources are `own`.
///
/// # Panics
/// When compiled, if the other device has no such figure.
pub const fn replaced<const N: usize>(
    mut all: [(&'static str, Provenance); N],
    own: &[(&'static str, Provenance)],
) -> [(&'static str, Provenance); N] {
    let mut next = 0;
    while next < own.len() {
        let mut place = 0;
        while !is_same(all[place].0.as_bytes(), own[next].0.as_bytes()) {
            place += 1;
        }
        all[place] = own[next];
        next += 1;
    }
    all
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// All devices.
pub const PRESETS: &[Preset] = &[
    MSR_SLC_32G,
    TLC_NVME_1T,
    MODERN_TLC_1T,
    named::SAMSUNG_PM9A3_960G,
    named::SOLIDIGM_P5520_1_92T,
    named::MICRON_7450_PRO_960G,
    named::SK_HYNIX_PE8110_960G,
    MICRON_MLC_1T,
    MICRON_MLC_1T_4P,
    MT29F_8CH,
    MT29F_8CH_8K,
    FEMU_16G,
    TINY_TEST,
];

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
        ..Geometry::ONE_PLANE
    },
    timing: Timing {
        read: PageTimes::same(SimDuration(25_000)),
        program: PageTimes::same(SimDuration(200_000)),
        erase: SimDuration(1_500_000),
        transfer: SimDuration(105_600),
        copyback: Copyback::Die,
        ..Timing::PLAIN
    },
    link: LinkConfig::of(300_000_000),
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
        ("timing.suspend_program", UNNAMED),
        ("timing.suspend_erase", UNNAMED),
        ("timing.resume", NOTHING_SUSPENDS),
        ("link.bandwidth", Provenance::Inferred("SATA 3 Gb/s; neither paper states its link")),
        ("link.latency", Provenance::Inferred("neither paper states one")),
    ],
};

const SPLIT: Provenance = Provenance::Inferred(
    "both papers say 64 elements; 8 x 8 x 1 is our split, immaterial because every element has its own pins",
);

const UNNAMED: Provenance = Provenance::Inferred("neither paper names it");
const NOTHING_SUSPENDS: Provenance = Provenance::Inferred("not used where nothing suspends");

const V_NAND_5: Provenance =
    Provenance::Found("Samsung, start of production of its fifth V-NAND, 256 Gbit TLC (July 2018)");
const DIE_256_GBIT: Provenance = Provenance::Inferred(
    "2 x 1024 x 1024 pages of 16 KiB are the 256 Gbit of the die; no data sheet of it is public",
);

const PLAINEST: Provenance =
    Provenance::Inferred("the plainest; parts of its age can suspend, but no data sheet of it is public");

/// Commands of one plane on an NV-DDR2 bus, as MQSim adds them up, in ns. A read: chip select 20, six cycles of 25, busy 100,
/// ready 20. A program: 20, six cycles, 70 until data, postamble 6 and 15, busy 100. An erase: 20, four cycles, busy 100.
const NV_DDR2: Commands = Commands {
    read: SimDuration(20 + 6 * 25 + 100 + 20),
    program: SimDuration(20 + 6 * 25 + 70 + 6 + 15 + 100),
    erase: SimDuration(20 + 4 * 25 + 100),
    ..Commands::NONE
};

const MQSIM_NV_DDR2: Provenance =
    Provenance::Found("MQSim (FAST 2018), its NV-DDR2 channel: cycles of 25 ns and the waits around them");

/// A data-centre drive: 1 TiB raw, of which 960 GB are exported; 32 dies of 256 Gbit on eight shared channels.
///
/// Every program is one of a single plane and a third of a three-page word line; real parts join planes and pages.
const TLC_NVME_1T: Preset = Preset {
    name: "tlc-nvme-1t",
    summary: "960 GB TLC NVMe drive of 2018: eight shared channels, 32 dies of 256 Gbit, PCIe 3.0 x4",
    geometry: Geometry {
        channels: 8,
        chips_per_channel: 4,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 1024,
        pages_per_block: 1024,
        page_size: 16_384,
        own_pins: false,
        ..Geometry::ONE_PLANE
    },
    timing: Timing {
        read: PageTimes::same(SimDuration(50_000)),
        program: PageTimes::same(SimDuration(500_000)),
        erase: SimDuration(3_500_000),
        transfer: SimDuration(11_703),
        command: NV_DDR2,
        copyback: Copyback::None,
        ..Timing::PLAIN
    },
    link: LinkConfig { latency: SimDuration(21_500), ..LinkConfig::of(3_360_000_000) },
    provenance: &[
        ("geometry.channels", Provenance::Found("NVMeVirt (FAST 2023), its Samsung 970 Pro")),
        (
            "geometry.chips_per_channel",
            Provenance::Inferred("32 dies of 256 Gbit make the 1 TiB of a 960 GB drive"),
        ),
        ("geometry.dies_per_chip", Provenance::Inferred("how dies share packages changes nothing here")),
        ("geometry.planes_per_die", DIE_256_GBIT),
        ("geometry.blocks_per_plane", DIE_256_GBIT),
        ("geometry.pages_per_block", DIE_256_GBIT),
        ("geometry.page_size", Provenance::Inferred("usual of 3D TLC flash")),
        ("geometry.summary_pages", Provenance::Inferred("block summaries are not modelled for this drive")),
        (
            "geometry.own_pins",
            Provenance::Inferred("the dies of a channel share its wires, as the Toggle interface does"),
        ),
        ("timing.read", V_NAND_5),
        ("timing.program", V_NAND_5),
        ("timing.erase", Provenance::Found("AERO (ASPLOS 2024): 3.5 ms for modern 3D flash")),
        (
            "timing.transfer",
            Provenance::Inferred(
                "16 KiB at the 1.4 GB/s of the fifth V-NAND (Toggle DDR 4.0); spare bytes left out",
            ),
        ),
        ("timing.command.read", MQSIM_NV_DDR2),
        ("timing.command.program", MQSIM_NV_DDR2),
        ("timing.command.erase", MQSIM_NV_DDR2),
        ("timing.command.order", PLAINEST_ORDER),
        (
            "timing.copyback",
            Provenance::Inferred("TLC data passes the controller's error correction on every move"),
        ),
        ("timing.suspend_program", PLAINEST),
        ("timing.suspend_erase", PLAINEST),
        ("timing.resume", NOTHING_SUSPENDS),
        ("link.bandwidth", Provenance::Found("NVMeVirt (FAST 2023), its Samsung 970 Pro: PCIe 3.0 x4")),
        (
            "link.latency",
            Provenance::Found("NVMeVirt (FAST 2023), its Samsung 970 Pro: firmware time of a 4 KiB read"),
        ),
    ],
};

const SUSPENDS: Provenance =
    Provenance::Inferred("fitted: without it reads near saturation take five times as long");

/// A drive for data centres of about 2021, none in particular: 1 TiB raw, 16 dies on eight channels.
///
/// A program writes three pages of 16 KiB in each of four planes, 48 of the 4 KiB that the drive maps. The blocks of the four planes are erased
/// as one, and have a quarter of the word lines of real ones. Reads suspend programs and erases that have run for a while.
const MODERN_TLC_1T: Preset = Preset {
    name: "modern-tlc-1t",
    summary: "1 TiB TLC drive for data centres with a write cache: eight shared channels, 16 dies, PCIe 4.0 x4",
    geometry: Geometry {
        channels: 8,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 4,
        blocks_per_plane: 3641,
        pages_per_block: 288,
        page_size: 16_384,
        program_planes: 4,
        program_pages: 3,
        own_pins: false,
        ..Geometry::ONE_PLANE
    },
    timing: Timing {
        read: PageTimes::of_three([SimDuration(49_000), SimDuration(50_000), SimDuration(60_000)]),
        program: PageTimes::same(SimDuration(2_000_000)),
        erase: SimDuration(2_000_000),
        transfer: SimDuration(10_240),
        copyback: Copyback::None,
        suspend_program: Some(SimDuration(45_000)),
        suspend_erase: Some(SimDuration(45_000)),
        suspend_host_program: Some(SimDuration(45_000)),
        minimum_run: SimDuration(280_000),
        resume: SimDuration(20_000),
        ..Timing::PLAIN
    },
    link: LinkConfig { latency: SimDuration(8_000), ..LinkConfig::of(6_500_000_000) },
    provenance: &MODERN_TLC,
};

const MODERN_TLC: [(&str, Provenance); 23] = [
    ("geometry.channels", Provenance::Inferred("assumed; measurements hardly tell")),
    ("geometry.chips_per_channel", Provenance::Inferred("assumed: 16 dies; measurements hardly tell")),
    ("geometry.dies_per_chip", Provenance::Inferred("how dies share packages changes nothing here")),
    ("geometry.planes_per_die", Provenance::Inferred("assumed; measurements hardly tell")),
    ("geometry.blocks_per_plane", Provenance::Inferred("assumed: what makes 1 TiB")),
    (
        "geometry.pages_per_block",
        Provenance::Inferred(
            "assumed: 96 programs; a real block has about four times as many, which would be more than 8,191 units",
        ),
    ),
    ("geometry.page_size", Provenance::Inferred("usual of 3D TLC flash")),
    ("geometry.program_planes", Provenance::Inferred("assumed: the four planes of a die work together")),
    (
        "geometry.program_pages",
        Provenance::Inferred("3D TLC flash programs the three pages of a word line at once"),
    ),
    ("geometry.summary_pages", Provenance::Inferred("block summaries are not modelled for this drive")),
    (
        "geometry.own_pins",
        Provenance::Inferred("the dies of a channel share its wires, as the Toggle interface does"),
    ),
    (
        "timing.read",
        Provenance::Inferred(
            "read from measurements of a drive, whose reads without load fall into three groups",
        ),
    ),
    ("timing.program", Provenance::Inferred("fitted, for 48 units: three pages in four planes")),
    ("timing.erase", Provenance::Inferred("assumed: 8 ms for a real block, of which these are a quarter")),
    ("timing.transfer", Provenance::Inferred("assumed: 16 KiB at 1.6 GB/s; spare bytes left out")),
    (
        "timing.copyback",
        Provenance::Inferred("TLC data passes the controller's error correction on every move"),
    ),
    ("timing.suspend_program", SUSPENDS),
    ("timing.suspend_erase", Provenance::Inferred("assumed: as programs")),
    ("timing.suspend_host_program", SUSPENDS),
    (
        "timing.minimum_run",
        Provenance::Inferred("fitted: without it p99 of reads is a third of what was measured"),
    ),
    ("timing.resume", Provenance::Inferred("fitted, together with suspending")),
    ("link.bandwidth", Provenance::Inferred("assumed: PCIe 4.0 x4")),
    ("link.latency", Provenance::Inferred("fitted: what a read needs beyond its flash")),
];

/// Commands of one plane on an ONFI bus, in ns: a read and a program have a command, five cycles of address and a second
/// command, an erase three of address. Before them stands the chip select (tCS), behind them the wait for busy (tWB, 100) and, of
/// a read, for ready (tRR, 20). From the address of a program to its data passes tADL, 70.
const fn onfi(chip_select: u64, cycle: u64) -> Commands {
    let (busy, ready, to_data) = (100, 20, 70);
    Commands {
        read: SimDuration(chip_select + 7 * cycle + busy + ready),
        program: SimDuration(chip_select + 7 * cycle + to_data + busy),
        erase: SimDuration(chip_select + 5 * cycle + busy),
        ..Commands::NONE
    }
}

/// The simulated SSD of the paper on garbage collection beside host work in one die: 1 TiB raw, 871 GiB exported.
const MICRON_MLC_1T: Preset = Preset {
    name: "micron-mlc-1t",
    summary: "1 TiB MLC device of HPDC 2018: four shared channels, 64 dies of two planes",
    geometry: Geometry {
        channels: 4,
        chips_per_channel: 4,
        dies_per_chip: 4,
        planes_per_die: 2,
        blocks_per_plane: 1024,
        pages_per_block: 512,
        page_size: 16_384,
        own_pins: false,
        ..Geometry::ONE_PLANE
    },
    timing: Timing {
        read: PageTimes::same(SimDuration(115_000)),
        program: PageTimes::same(SimDuration(1_600_000)),
        erase: SimDuration(3_000_000),
        transfer: SimDuration(98_699),
        command: onfi(15, 25),
        copyback: Copyback::None,
        ..Timing::PLAIN
    },
    link: LinkConfig::of(12_000_000_000),
    provenance: &micron(HPDC_TABLE_1, HPDC_TABLE_1),
};

/// The four-plane device of the same paper (6.6), of which it says no more than that: half the dies, so that blocks
/// a plane and capacity stay.
const MICRON_MLC_1T_4P: Preset = Preset {
    name: "micron-mlc-1t-4p",
    summary: "the device of HPDC 2018 with four planes a die: 32 dies, the same capacity",
    geometry: Geometry { dies_per_chip: 2, planes_per_die: 4, ..MICRON_MLC_1T.geometry },
    timing: MICRON_MLC_1T.timing,
    link: MICRON_MLC_1T.link,
    provenance: &micron(
        Provenance::Inferred(
            "half of Table 1's, so that four planes a die leave 1 TiB of as many blocks a plane",
        ),
        Provenance::Found("HPDC 2018, 6.6: a four-plane device"),
    ),
};

const HPDC_TABLE_1: Provenance = Provenance::Found("HPDC 2018, Table 1");

const NV_DDR_4: Provenance = Provenance::Inferred(
    "ONFI, NV-DDR mode 4, the one of 166 MT/s: cycles of 25 ns (fast tCAD), tCS 15, tWB 100, tRR 20, tADL 70; the paper names \
     none, and the simulator it extends charges none",
);
const PLAINEST_ORDER: Provenance =
    Provenance::Inferred("the plainest; MQSim lets pages that were read go first");

/// Both devices: they differ in their dies and planes only.
const fn micron(dies: Provenance, planes: Provenance) -> [(&'static str, Provenance); 23] {
    [
        ("geometry.channels", HPDC_TABLE_1),
        ("geometry.chips_per_channel", HPDC_TABLE_1),
        ("geometry.dies_per_chip", dies),
        ("geometry.planes_per_die", planes),
        (
            "geometry.blocks_per_plane",
            Provenance::Found("HPDC 2018, section 5: 1024; Table 1 has the 1048 of the data sheet"),
        ),
        ("geometry.pages_per_block", HPDC_TABLE_1),
        ("geometry.page_size", HPDC_TABLE_1),
        ("geometry.summary_pages", Provenance::Inferred("the paper names none")),
        ("geometry.own_pins", Provenance::Inferred("Table 1: four chips on a channel, which they share")),
        ("timing.read", HPDC_TABLE_1),
        ("timing.program", HPDC_TABLE_1),
        ("timing.erase", HPDC_TABLE_1),
        (
            "timing.transfer",
            Provenance::Found("HPDC 2018, Table 1: 166 MT/s; one byte a transfer, spare bytes left out"),
        ),
        ("timing.command.read", NV_DDR_4),
        ("timing.command.program", NV_DDR_4),
        ("timing.command.erase", NV_DDR_4),
        ("timing.command.order", PLAINEST_ORDER),
        ("timing.copyback", Provenance::Inferred("the paper names none: a page is read and then written")),
        ("timing.suspend_program", Provenance::Inferred("the paper names no suspending")),
        ("timing.suspend_erase", Provenance::Inferred("the paper names no suspending")),
        ("timing.resume", NOTHING_SUSPENDS),
        ("link.bandwidth", Provenance::Found("HPDC 2018, Table 1: \"PCIe 3.0 4-lane (12GB/s)\"")),
        ("link.latency", Provenance::Inferred("the paper states none")),
    ]
}

/// The device of the paper on adaptive garbage-collection concurrency as far as its section 4 tells: eight channels of
/// the part it names, 4 GiB raw. Its tables, which had the figures, were not at hand.
const MT29F_8CH: Preset = Preset {
    name: "mt29f-8ch",
    summary: "4 GiB SLC device after Electronics 2025: eight channels, one Micron MT29F4G08 each, 4 KiB pages",
    geometry: Geometry {
        channels: 8,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 1024,
        pages_per_block: 64,
        page_size: 4096,
        own_pins: true,
        ..Geometry::ONE_PLANE
    },
    timing: Timing {
        read: PageTimes::same(SimDuration(25_000)),
        program: PageTimes::same(SimDuration(200_000)),
        erase: SimDuration(700_000),
        transfer: SimDuration(86_920),
        command: onfi(15, 20),
        copyback: Copyback::None,
        ..Timing::PLAIN
    },
    link: LinkConfig::of(600_000_000),
    provenance: &mt29f(
        "4 KiB: 2,048 blocks of 64 pages are the 512 MiB of the part, whose own pages have 2 KiB",
    ),
};

/// The same with pages twice as large and half the blocks.
const MT29F_8CH_8K: Preset = Preset {
    name: "mt29f-8ch-8k",
    summary: "the device after Electronics 2025 with 8 KiB pages: the same capacity in half the blocks",
    geometry: Geometry { blocks_per_plane: 512, page_size: 8192, ..MT29F_8CH.geometry },
    timing: Timing { transfer: SimDuration(173_840), ..MT29F_8CH.timing },
    link: MT29F_8CH.link,
    provenance: &mt29f("8 KiB as in its Table 9: 1,024 blocks of 64 pages are the 512 MiB of the part"),
};

const MT29F4G08: Provenance =
    Provenance::Found("Micron MT29F4G08ABADAH4 data sheet, which Electronics 2025, 4.1 names");

const SDR_5: Provenance = Provenance::Inferred(
    "ONFI, asynchronous mode 5, the one with the cycles of 20 ns of the part's data sheet: tCS 15, tWB 100, tRR 20, tADL 70; the \
     paper names none",
);

/// Both devices: they differ in their pages only.
const fn mt29f(page_size: &'static str) -> [(&'static str, Provenance); 23] {
    [
        ("geometry.channels", Provenance::Found("Electronics 2025, 4.1: eight channels")),
        ("geometry.chips_per_channel", Provenance::Inferred("section 4 counts channels and no chips")),
        ("geometry.dies_per_chip", MT29F4G08),
        ("geometry.planes_per_die", MT29F4G08),
        ("geometry.blocks_per_plane", Provenance::Inferred(page_size)),
        ("geometry.pages_per_block", MT29F4G08),
        ("geometry.page_size", Provenance::Inferred(page_size)),
        ("geometry.summary_pages", Provenance::Inferred("the paper names none")),
        (
            "geometry.own_pins",
            Provenance::Inferred("immaterial with one chip on a channel; with more, set it to false"),
        ),
        ("timing.read", MT29F4G08),
        ("timing.program", MT29F4G08),
        ("timing.erase", MT29F4G08),
        (
            "timing.transfer",
            Provenance::Inferred(
                "20 ns a byte (data sheet: tRC and tWC at 3.3 V), spare bytes left out, and 5 us for each 4 KiB in the \
                 controller's SRAM, of which 4.1 gives the part (16 bits, Spartan-7) and no figure",
            ),
        ),
        ("timing.command.read", SDR_5),
        ("timing.command.program", SDR_5),
        ("timing.command.erase", SDR_5),
        ("timing.command.order", Provenance::Inferred("immaterial with one chip on a channel")),
        ("timing.copyback", Provenance::Inferred("the paper names none: a page is read and then written")),
        ("timing.suspend_program", Provenance::Inferred("the part cannot")),
        ("timing.suspend_erase", Provenance::Inferred("the part cannot")),
        ("timing.resume", NOTHING_SUSPENDS),
        ("link.bandwidth", Provenance::Inferred("SATA 6 Gb/s; the paper states none")),
        ("link.latency", Provenance::Inferred("the paper states none")),
    ]
}

const IODA_FEMU: Provenance =
    Provenance::Found("source of the FEMU device in the artifact of IODA (SOSP 2021)");

/// The emulated SSD of IODA (SOSP 2021): 16 GiB raw, 12 GiB exported. The emulator charges dies alone: no transfer on a
/// channel, no host link.
const FEMU_16G: Preset = Preset {
    name: "femu-16g",
    summary: "16 GiB device that IODA (SOSP 2021) emulates with FEMU: eight channels of eight dies, transfers are free",
    geometry: Geometry {
        channels: 8,
        chips_per_channel: 8,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 256,
        pages_per_block: 256,
        page_size: 4096,
        own_pins: true,
        ..Geometry::ONE_PLANE
    },
    timing: Timing {
        read: PageTimes::same(SimDuration(40_000)),
        program: PageTimes::same(SimDuration(200_000)),
        erase: SimDuration(2_000_000),
        transfer: SimDuration::ZERO,
        copyback: Copyback::None,
        ..Timing::PLAIN
    },
    link: LinkConfig::of(1_000_000_000_000),
    provenance: &[
        ("geometry.channels", IODA_FEMU),
        ("geometry.chips_per_channel", IODA_FEMU),
        (
            "geometry.dies_per_chip",
            Provenance::Inferred("the emulator counts dies of a channel and no chips"),
        ),
        ("geometry.planes_per_die", IODA_FEMU),
        ("geometry.blocks_per_plane", IODA_FEMU),
        ("geometry.pages_per_block", IODA_FEMU),
        ("geometry.page_size", IODA_FEMU),
        ("geometry.summary_pages", Provenance::Inferred("the emulator writes none")),
        ("geometry.own_pins", Provenance::Inferred("immaterial, because transfers take no time")),
        ("timing.read", IODA_FEMU),
        ("timing.program", IODA_FEMU),
        ("timing.erase", IODA_FEMU),
        ("timing.transfer", IODA_FEMU),
        (
            "timing.copyback",
            Provenance::Found("FEMU in the artifact of IODA: a page that moves is read and then written"),
        ),
        (
            "timing.suspend_program",
            Provenance::Inferred("the emulator suspends nothing in the modes compared"),
        ),
        ("timing.suspend_erase", Provenance::Inferred("the emulator suspends nothing in the modes compared")),
        ("timing.resume", NOTHING_SUSPENDS),
        ("link.bandwidth", Provenance::Inferred("the emulator charges none: so fast that 64 KiB take 66 ns")),
        ("link.latency", Provenance::Inferred("the emulator charges none; that of its host is not known")),
    ],
};

const FOR_TESTS: Provenance = Provenance::Invented("small enough to age in milliseconds");
const AS_MSR: Provenance = Provenance::Invented("as in msr-slc-32g");

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
        own_pins: false,
        ..Geometry::ONE_PLANE
    },
    timing: Timing {
        read: PageTimes::same(SimDuration(25_000)),
        program: PageTimes::same(SimDuration(200_000)),
        erase: SimDuration(1_500_000),
        transfer: SimDuration(25_000),
        copyback: Copyback::None,
        ..Timing::PLAIN
    },
    link: LinkConfig::of(300_000_000),
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
        ("timing.suspend_program", AS_MSR),
        ("timing.suspend_erase", AS_MSR),
        ("timing.resume", AS_MSR),
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

    /// 32 dies of 256 Gbit are 1 TiB; 16 KiB at 1.4 GB/s take 11.7 us.
    #[test]
    fn the_tlc_drive_has_32_dies_of_256_gbit() {
        let preset = find("tlc-nvme-1t").unwrap();
        assert_eq!(preset.geometry.dies(), 32);
        assert_eq!(preset.geometry.raw_bytes() / 32, (256 << 30) / 8);
        assert_eq!(preset.timing.transfer.0, (16_384.0f64 / 1.4).round() as u64);
    }

    /// 16 chips of 64 GiB; 16 KiB at 166 MB/s take 98.7 us. With four planes a die the capacity stays.
    #[test]
    fn the_micron_devices_have_16_chips_of_64_gib() {
        for (name, dies) in [("micron-mlc-1t", 64), ("micron-mlc-1t-4p", 32)] {
            let preset = find(name).unwrap();
            assert_eq!(preset.geometry.dies(), dies);
            assert_eq!(preset.geometry.raw_bytes(), 16 * (64 << 30));
            assert_eq!(preset.timing.transfer.0, (16_384.0f64 / 0.166).round() as u64);
        }
    }

    /// 64 dies of 256 blocks of 256 pages of 4 KiB.
    #[test]
    fn the_emulated_device_has_64_dies_and_16_gib() {
        let preset = find("femu-16g").unwrap();
        assert_eq!((preset.geometry.dies(), preset.geometry.raw_bytes()), (64, 16 << 30));
    }

    #[test]
    fn names_are_unique() {
        for preset in PRESETS {
            assert_eq!(find(preset.name), Some(preset));
        }
    }
}
