//! Devices as data: the mapping and garbage collection that go with the hardware of [`harmonia_flash::presets`].

use harmonia_flash::presets::{self as hardware, Provenance, replaced};
use harmonia_ssd::{
    Allocation, AllocationUnit, Amount, Arbitration, BeginsAt, ControllerConfig, Destination, Domain, Drain,
    FreeList, Frontiers, FtlConfig, GcConfig, HOST_SHARE, LastProgram, MAPPING_ENTRY, Pacing, PolicyConfig,
    Priority, SsdConfig, Superblock, Trigger, WriteCacheConfig,
};
use harmonia_types::SimDuration;

/// One device; its hardware has the same name.
#[derive(Debug)]
pub(crate) struct DevicePreset {
    pub name: &'static str,
    /// Spare in percent.
    reserved: f64,
    allocation_unit: AllocationUnit,
    writes: Writes,
    priority: Priority,
    multi_plane: bool,
    domain: Domain,
    trigger: Trigger,
    last_program: LastProgram,
    /// Hard threshold in percent.
    hard: f64,
    collects: Collects,
    /// Where each figure comes from, by key below `ssd.`.
    provenance: &'static [(&'static str, Provenance)],
}

/// How writes find their place.
#[derive(Debug)]
struct Writes {
    allocation: Allocation,
    frontiers: Frontiers,
    /// `None`: a page.
    mapping_unit: Option<u32>,
    cache: Option<WriteCacheConfig>,
    /// How commands are fetched.
    controller: ControllerConfig,
}

/// A controller whose commands take no time.
const fn fetches(command_window: Option<u32>, arbitration: Arbitration) -> ControllerConfig {
    ControllerConfig {
        command_window,
        arbitration,
        command_overhead: SimDuration::ZERO,
        units_per_second: None,
    }
}

/// By their numbers, answered when they are programmed.
const BY_NUMBER: Writes = Writes {
    allocation: Allocation::CWDP,
    frontiers: Frontiers::Shared,
    mapping_unit: None,
    cache: None,
    controller: fetches(None, Arbitration::RoundRobin),
};

/// How a device collects, and from where on.
#[derive(Debug)]
struct Collects {
    schedule: &'static str,
    begins_at: BeginsAt,
    /// Soft threshold, in blocks above hard.
    soft_above_hard: u32,
}

/// As the papers' simulators do: an event begins at hard and keeps the host out.
const BLOCKING_AT_HARD: Collects =
    Collects { schedule: "blocking", begins_at: BeginsAt::Schedule, soft_above_hard: 1 };

/// As drives do: collection begins while there is room, and the host goes between its steps.
const PREEMPTIVE_AT_SOFT: Collects =
    Collects { schedule: "preemptive", begins_at: BeginsAt::Soft, soft_above_hard: 5 };

/// As FEMU does: it begins at 90% used, and what waits for it waits for a whole line; forced at 95%.
const BLOCKING_AT_SOFT: Collects =
    Collects { schedule: "blocking", begins_at: BeginsAt::Soft, soft_above_hard: 13 };

/// All devices.
pub(crate) const PRESETS: &[DevicePreset] = &[
    MSR_SLC_32G,
    TLC_NVME_1T,
    MODERN_TLC_1T,
    SAMSUNG_PM9A3_960G,
    SOLIDIGM_P5520_1_92T,
    MICRON_7450_PRO_960G,
    SK_HYNIX_PE8110_960G,
    KIOXIA_CM7_R_3_84T,
    MICRON_MLC_1T,
    MICRON_MLC_1T_4P,
    MT29F_8CH,
    MT29F_8CH_8K,
    FEMU_16G,
    TINY_TEST,
];

const TWO_ACTIVE_BLOCKS: Provenance = Provenance::Found("HPDC 2018, 4.2: two active blocks a plane");
const TABLE_IX: Provenance = Provenance::Found("MSST 2011, Table IX; IEEE TC 2012, Table 7");
const MSR_SOURCE: Provenance = Provenance::Found("source of the MSR SSD extension of DiskSim");

const MSR_SLC_32G: DevicePreset = DevicePreset {
    name: "msr-slc-32g",
    reserved: 15.0,
    allocation_unit: AllocationUnit::Die,
    writes: BY_NUMBER,
    priority: Priority::Fifo,
    multi_plane: false,
    domain: Domain::Device,
    trigger: Trigger::Foreground,
    last_program: LastProgram::Padded,
    hard: 5.0,
    collects: BLOCKING_AT_HARD,
    provenance: &[
        (
            "ftl.reserved_blocks",
            Provenance::Found("MSST 2011, Table IX; taken as (T - U)/T, as the MSR source does"),
        ),
        ("ftl.allocation", Provenance::Inferred("element = page modulo elements in the MSR source")),
        ("ftl.allocation_unit", Provenance::Found("MSR source: one frontier an element without copy-back")),
        ("ftl.frontiers", MSR_SOURCE),
        ("ftl.priority", MSR_SOURCE),
        ("ftl.multi_plane", Provenance::Inferred("neither paper names multi-plane commands")),
        ("ftl.open_blocks", TWO_ACTIVE_BLOCKS),
        ("gc.domain", Provenance::Inferred("IEEE TC 2012, 5.3 and MSST 2011, V-A speak of the whole device")),
        ("gc.trigger", MSR_SOURCE),
        ("gc.hard_threshold", Provenance::Found("MSST 2011, Table IX: minimum free blocks 5%")),
        ("gc.soft_threshold", Provenance::Inferred("the papers say only that soft lies above hard")),
        (
            "gc.stop_threshold",
            Provenance::Inferred("the MSR source stops at hard + 1; the papers name no figure"),
        ),
        (
            "gc.min_victims",
            Provenance::Inferred("a forced device must collect something, or nothing synchronises"),
        ),
        ("gc.victim", TABLE_IX),
        ("gc.schedule", MSR_SOURCE),
        ("gc.destination", Provenance::Inferred("as an element's frontier: pages stay in their element")),
        ("gc.concurrency.policy", MSR_SOURCE),
    ],
};

const CAPACITY: Provenance =
    Provenance::Inferred("960 GB of 1 TiB (Samsung PM983 data sheet): 130 of 1,024 blocks of a plane");

const TLC_NVME_1T: DevicePreset = DevicePreset {
    name: "tlc-nvme-1t",
    reserved: 12.7,
    allocation_unit: AllocationUnit::Plane,
    writes: BY_NUMBER,
    priority: Priority::Fifo,
    multi_plane: false,
    domain: Domain::Plane,
    trigger: Trigger::Background,
    last_program: LastProgram::Padded,
    hard: 0.5,
    collects: PREEMPTIVE_AT_SOFT,
    provenance: &[
        ("ftl.reserved_blocks", CAPACITY),
        (
            "ftl.allocation",
            Provenance::Inferred("no vendor tells; page by page over channels is the usual model"),
        ),
        ("ftl.allocation_unit", Provenance::Inferred("every plane can be written and erased for itself")),
        ("ftl.frontiers", Provenance::Inferred("no vendor tells; as in msr-slc-32g")),
        ("ftl.priority", Provenance::Inferred("the plainest; real firmware lets reads go first")),
        ("ftl.multi_plane", Provenance::Inferred("the plainest; real firmware joins planes where it can")),
        ("ftl.open_blocks", TWO_ACTIVE_BLOCKS),
        (
            "gc.domain",
            Provenance::Found("MQSim (FAST 2018): every plane has a pool of free blocks, checked by itself"),
        ),
        ("gc.trigger", Provenance::Inferred("a drive that is idle and low collects")),
        (
            "gc.hard_threshold",
            Provenance::Found("MQSim (FAST 2018): 0.5%, where preemptible collection no longer gives way"),
        ),
        (
            "gc.soft_threshold",
            Provenance::Inferred(
                "ten blocks: room for a burst above hard; MQSim's 5% would take 40% of a spare of 12.7%",
            ),
        ),
        (
            "gc.begins_at",
            Provenance::Inferred("firmware collects before it has to, and has done so all the drive's life"),
        ),
        ("gc.stop_threshold", Provenance::Inferred("as in msr-slc-32g")),
        ("gc.min_victims", Provenance::Inferred("as in msr-slc-32g; a victim holds 16 MiB")),
        ("gc.victim", Provenance::Inferred("the usual model")),
        (
            "gc.schedule",
            Provenance::Found("MQSim (FAST 2018), a model of modern NVMe drives: preemptible by default"),
        ),
        ("gc.destination", Provenance::Inferred("pages stay where their number puts them")),
        ("gc.concurrency.policy", Provenance::Inferred("no vendor tells of a limit")),
    ],
};

const HPDC_5: Provenance = Provenance::Found("HPDC 2018, section 5 and Table 1");
const ONE_ACTIVE_BLOCK: Provenance =
    Provenance::Found("HPDC 2018, section 2.2: one active block in each plane");

const MICRON_MLC_1T: DevicePreset = DevicePreset {
    name: "micron-mlc-1t",
    reserved: 15.0,
    allocation_unit: AllocationUnit::Plane,
    writes: BY_NUMBER,
    priority: Priority::ReadsFirst,
    multi_plane: true,
    domain: Domain::Plane,
    trigger: Trigger::Foreground,
    last_program: LastProgram::Padded,
    hard: 5.0,
    collects: BLOCKING_AT_HARD,
    provenance: &[
        ("ftl.reserved_blocks", Provenance::Inferred("the paper states none; as in msr-slc-32g")),
        ("ftl.allocation", HPDC_5),
        ("ftl.allocation_unit", ONE_ACTIVE_BLOCK),
        ("ftl.frontiers", ONE_ACTIVE_BLOCK),
        ("ftl.priority", HPDC_5),
        ("ftl.multi_plane", Provenance::Found("HPDC 2018, Table 1: multi-plane read/write support")),
        ("ftl.open_blocks", TWO_ACTIVE_BLOCKS),
        (
            "gc.domain",
            Provenance::Inferred(
                "one plane of a die collects while the others could work; 2.2.1 counts the clean blocks of the SSD",
            ),
        ),
        ("gc.trigger", Provenance::Inferred("as in msr-slc-32g, whose model the paper extends")),
        ("gc.hard_threshold", Provenance::Inferred("the paper names a threshold but no figure")),
        ("gc.soft_threshold", Provenance::Inferred("as in msr-slc-32g")),
        ("gc.stop_threshold", Provenance::Inferred("as in msr-slc-32g")),
        ("gc.min_victims", Provenance::Inferred("as in msr-slc-32g")),
        ("gc.victim", HPDC_5),
        (
            "gc.schedule",
            Provenance::Found("HPDC 2018, section 5, baseline: no request of the die while a plane collects"),
        ),
        (
            "gc.destination",
            Provenance::Found("HPDC 2018, 2.2.1: within a plane; 4.4 only discusses other places"),
        ),
        ("gc.concurrency.policy", Provenance::Inferred("the paper names no limit")),
    ],
};

const MICRON_MLC_1T_4P: DevicePreset = DevicePreset { name: "micron-mlc-1t-4p", ..MICRON_MLC_1T };

const MT29F_8CH: DevicePreset = DevicePreset {
    name: "mt29f-8ch",
    reserved: 15.0,
    allocation_unit: AllocationUnit::Die,
    writes: BY_NUMBER,
    priority: Priority::Fifo,
    multi_plane: false,
    domain: Domain::Die,
    trigger: Trigger::Foreground,
    last_program: LastProgram::Padded,
    hard: 0.2,
    collects: BLOCKING_AT_HARD,
    provenance: &[
        ("ftl.reserved_blocks", Provenance::Inferred("section 4 states none; as in msr-slc-32g")),
        (
            "ftl.allocation",
            Provenance::Found("Electronics 2025, 4.3: sequential data is striped across the channels"),
        ),
        (
            "ftl.allocation_unit",
            Provenance::Inferred("4.3 counts empty blocks by channel, which is a die here"),
        ),
        ("ftl.frontiers", Provenance::Inferred("section 4 names none; as in msr-slc-32g")),
        (
            "ftl.priority",
            Provenance::Inferred("section 4 names an order of collection and reads only: `gc.schedule`"),
        ),
        ("ftl.multi_plane", Provenance::Inferred("the paper names no multi-plane commands")),
        ("ftl.open_blocks", TWO_ACTIVE_BLOCKS),
        ("gc.domain", Provenance::Inferred("a channel collects for itself")),
        ("gc.trigger", Provenance::Inferred("not used by policies that begin at a utilisation")),
        (
            "gc.hard_threshold",
            Provenance::Inferred(
                "the paper's thresholds are utilisations; a few blocks, so that those decide",
            ),
        ),
        ("gc.soft_threshold", Provenance::Inferred("as in msr-slc-32g")),
        ("gc.stop_threshold", Provenance::Inferred("as in msr-slc-32g")),
        ("gc.min_victims", Provenance::Inferred("one block at a time")),
        ("gc.victim", Provenance::Inferred("most invalid pages first")),
        (
            "gc.schedule",
            Provenance::Found("Electronics 2025, 4.3 of Conv_0.7_AllCh: collection ahead of user reads"),
        ),
        ("gc.destination", Provenance::Inferred("pages stay in their channel")),
        (
            "gc.concurrency.policy",
            Provenance::Inferred("the paper's four configurations differ in it; as the other devices"),
        ),
    ],
};

const MT29F_8CH_8K: DevicePreset = DevicePreset { name: "mt29f-8ch-8k", ..MT29F_8CH };

const IODA_FEMU: Provenance =
    Provenance::Found("source of the FEMU device in the artifact of IODA (SOSP 2021)");
const LINES: Provenance =
    Provenance::Found("FEMU in the artifact of IODA: it collects lines, which are one block of every die");

const FEMU_16G: DevicePreset = DevicePreset {
    name: "femu-16g",
    reserved: 25.0,
    allocation_unit: AllocationUnit::Die,
    writes: BY_NUMBER,
    priority: Priority::Fifo,
    multi_plane: false,
    domain: Domain::Device,
    trigger: Trigger::Foreground,
    last_program: LastProgram::Padded,
    hard: 5.0,
    collects: BLOCKING_AT_SOFT,
    provenance: &[
        ("ftl.reserved_blocks", Provenance::Found("artifact of IODA (SOSP 2021): 12 of 16 GiB are exported")),
        (
            "ftl.allocation",
            Provenance::Inferred(
                "FEMU writes page by page over channels, then dies, wherever a page was before; the same order, by its number",
            ),
        ),
        (
            "ftl.allocation_unit",
            Provenance::Inferred("a line has one block of each die, so a die writes one block"),
        ),
        ("ftl.frontiers", IODA_FEMU),
        ("ftl.priority", IODA_FEMU),
        ("ftl.multi_plane", Provenance::Inferred("one plane a die")),
        ("ftl.open_blocks", TWO_ACTIVE_BLOCKS),
        ("gc.domain", LINES),
        (
            "gc.trigger",
            Provenance::Inferred("FEMU looks after each request; here before each that a die serves"),
        ),
        (
            "gc.hard_threshold",
            Provenance::Found("FEMU in the artifact of IODA: forced from 95% used, 12 of 256 lines"),
        ),
        (
            "gc.soft_threshold",
            Provenance::Found("FEMU in the artifact of IODA: from 90% used, 25 of 256 lines"),
        ),
        ("gc.begins_at", IODA_FEMU),
        ("gc.stop_threshold", Provenance::Inferred("one line, however many are free after it")),
        ("gc.min_victims", LINES),
        (
            "gc.victim",
            Provenance::Found(
                "FEMU in the artifact of IODA: most invalid pages; that a quarter must be invalid is left out",
            ),
        ),
        (
            "gc.schedule",
            Provenance::Found("FEMU in the artifact of IODA: a die is busy until its block is collected"),
        ),
        (
            "gc.destination",
            Provenance::Inferred(
                "FEMU spreads the pages of a line evenly over dies; here each stays in its own",
            ),
        ),
        ("gc.concurrency.policy", LINES),
    ],
};

const FITTED: Provenance = Provenance::Inferred(
    "a model fitted to measurements of three data-centre drives; as most of them have it",
);
const ASSUMED: Provenance =
    Provenance::Inferred("assumed; the measurements that the model was fitted to do not tell");

const MODERN_TLC_1T: DevicePreset = DevicePreset {
    name: "modern-tlc-1t",
    reserved: 20.0,
    allocation_unit: AllocationUnit::Die,
    writes: Writes {
        allocation: Allocation::Dynamic,
        frontiers: Frontiers::Separate,
        mapping_unit: Some(4_096),
        // 3,072 units of 4 KiB; 9 us to the answer, of which 8 are the latency of the link.
        cache: Some(WriteCacheConfig {
            size: Some(12 << 20),
            power_protected: true,
            ack: SimDuration::from_us(1),
            drain: Drain::Full,
            pacer: Pacing::Off,
        }),
        controller: fetches(Some(200), Arbitration::RoundRobin),
    },
    priority: Priority::ReadsFirst,
    multi_plane: false,
    domain: Domain::Die,
    trigger: Trigger::Proportional,
    last_program: LastProgram::Padded,
    hard: 2.5,
    collects: PREEMPTIVE_AT_SOFT,
    provenance: &MODERN_TLC,
};

const MODERN_TLC: [(&str, Provenance); 24] = [
    (
        "controller.command_window",
        Provenance::Inferred(
            "fitted: without it a read waits behind no backlog of writes, as measured drives have it do",
        ),
    ),
    (
        "controller.arbitration",
        Provenance::Inferred(
            "fitted: first come, first served would have reads near saturation wait five times as long",
        ),
    ),
    ("write_cache.size", Provenance::Inferred("assumed: 3,072 units; beyond 1,000 they make no difference")),
    ("write_cache.power_protected", Provenance::Inferred("drives for data centres have stored power")),
    (
        "write_cache.ack",
        Provenance::Inferred("fitted: 9 us from the command to the answer, less the latency of the link"),
    ),
    ("ftl.reserved_blocks", FITTED),
    (
        "ftl.allocation",
        Provenance::Inferred("fitted: to the die that is free; a strict round robin costs 5% of the rate"),
    ),
    ("ftl.mapping_unit", Provenance::Inferred("the 4 KiB that drives for data centres map")),
    (
        "ftl.allocation_unit",
        Provenance::Inferred("assumed: the planes of a die work together, as superblocks do"),
    ),
    (
        "ftl.frontiers",
        Provenance::Inferred("fitted: apart; shared ones cost a third of the rate under a Zipf load"),
    ),
    ("ftl.priority", Provenance::Inferred("fitted: reads need not wait for what has not begun")),
    ("ftl.multi_plane", Provenance::Inferred("one program writes all planes of a die")),
    ("ftl.open_blocks", TWO_ACTIVE_BLOCKS),
    ("gc.domain", ASSUMED),
    ("gc.trigger", Provenance::Inferred("fitted: collection in proportion to the host's writes")),
    ("gc.hard_threshold", Provenance::Inferred("fitted: a floor of 2.5% of free blocks")),
    (
        "gc.soft_threshold",
        Provenance::Inferred("assumed: five blocks above the floor, where the host still goes first"),
    ),
    (
        "gc.begins_at",
        Provenance::Inferred("firmware collects before it has to, and has done so all the drive's life"),
    ),
    ("gc.stop_threshold", ASSUMED),
    ("gc.min_victims", ASSUMED),
    ("gc.victim", FITTED),
    (
        "gc.schedule",
        Provenance::Inferred(
            "assumed: a collection gives way between its steps, or it could not have a share of a die",
        ),
    ),
    ("gc.destination", ASSUMED),
    ("gc.concurrency.policy", ASSUMED),
];

const ONCE: Provenance =
    Provenance::Inferred("as in modern-tlc-1t, where it was chosen once for all measured drives");
const APART: Provenance = Provenance::Inferred(
    "SSD-iq: it takes more writes under zipf 1.0 than under uniform ones, and with shared frontiers it would not",
);
const SHARES_DIES: Provenance = Provenance::Inferred(
    "SSD-iq: reads at saturation take less than 1 ms, so collection shares the dies with writes",
);

/// The provenance of a device, and of one more figure. `M` is one more than `N`.
const fn with_one_more<const N: usize, const M: usize>(
    all: [(&'static str, Provenance); N],
    more: (&'static str, Provenance),
) -> [(&'static str, Provenance); M] {
    assert!(M == N + 1, "one more");
    let mut longer = [more; M];
    let mut next = 0;
    while next < N {
        longer[next] = all[next];
        next += 1;
    }
    longer
}

/// `modern-tlc-1t` with collections that share a program.
const FILLING: [(&str, Provenance); MODERN_TLC.len() + 1] = with_one_more(
    MODERN_TLC,
    (
        "gc.last_program",
        Provenance::Inferred(
            "assumed: firmware collects many blocks at once, and needs no padding between them",
        ),
    ),
);

/// Drives that are sold; `harmonia_flash::presets` says how their figures were found.
const NAMED: [(&str, Provenance); MODERN_TLC.len() + 1] = replaced(
    FILLING,
    &[
        ("controller.command_window", ONCE),
        ("controller.arbitration", ONCE),
        ("write_cache.ack", ONCE),
        ("ftl.reserved_blocks", Provenance::Fitted("writes a second beyond the knee")),
        ("ftl.allocation", ONCE),
        ("ftl.frontiers", APART),
        ("ftl.priority", ONCE),
        ("gc.trigger", SHARES_DIES),
        ("gc.hard_threshold", ONCE),
        ("gc.victim", ONCE),
        ("gc.schedule", ONCE),
    ],
);

const SAMSUNG_PM9A3_960G: DevicePreset = DevicePreset {
    name: "samsung-pm9a3-960g",
    reserved: 17.0,
    last_program: LastProgram::Filled,
    provenance: &NAMED,
    ..MODERN_TLC_1T
};

/// Reads of the P5520 take half as long again from 30,000 writes/s on as at 10,000, which programs of part of the planes do.
const DRAINING: [(&str, Provenance); NAMED.len() + 1] = with_one_more(
    NAMED,
    (
        "write_cache.drain",
        Provenance::Inferred(
            "SSD-iq: the median of reads hardly rises from 30,000 to 100,000 writes/s, so most dies are busy at all of them",
        ),
    ),
);

const DRAINS_IN_PART: Writes = Writes {
    cache: Some(WriteCacheConfig {
        size: Some(12 << 20),
        power_protected: true,
        ack: SimDuration::from_us(1),
        drain: Drain::Partial,
        pacer: Pacing::Off,
    }),
    ..MODERN_TLC_1T.writes
};

const SOLIDIGM_P5520_1_92T: DevicePreset = DevicePreset {
    name: "solidigm-p5520-1.92t",
    reserved: 17.9,
    writes: DRAINS_IN_PART,
    last_program: LastProgram::Filled,
    provenance: &DRAINING,
    ..MODERN_TLC_1T
};

const MICRON_7450_PRO_960G: DevicePreset = DevicePreset {
    name: "micron-7450-pro-960g",
    reserved: 16.0,
    last_program: LastProgram::Filled,
    provenance: &NAMED,
    ..MODERN_TLC_1T
};

/// Reads beyond the knee take as long as writes, so all commands wait in one line.
const IN_ONE_LINE: Provenance =
    Provenance::Inferred("SSD-iq: beyond the knee reads take as long as writes, 5 ms");

const SK_HYNIX_PE8110_960G: DevicePreset = DevicePreset {
    name: "sk-hynix-pe8110-960g",
    reserved: 14.9,
    writes: Writes { controller: fetches(Some(64), Arbitration::Fifo), ..MODERN_TLC_1T.writes },
    last_program: LastProgram::Filled,
    provenance: &replaced(
        NAMED,
        &[
            ("controller.arbitration", IN_ONE_LINE),
            ("controller.command_window", Provenance::Fitted("reads beyond the knee")),
        ],
    ),
    ..MODERN_TLC_1T
};

const KIOXIA_CM7_R_3_84T: DevicePreset = DevicePreset {
    name: "kioxia-cm7-r-3.84t",
    reserved: 16.1,
    writes: DRAINS_IN_PART,
    last_program: LastProgram::Filled,
    provenance: &replaced(
        DRAINING,
        &[("write_cache.drain", Provenance::Fitted("p99 of reads at 10,000 writes a second"))],
    ),
    ..MODERN_TLC_1T
};

const FOR_TESTS: Provenance = Provenance::Invented("small enough to age in milliseconds");
const AS_MSR: Provenance = Provenance::Invented("as in msr-slc-32g");

const TINY_TEST: DevicePreset = DevicePreset {
    name: "tiny-test",
    reserved: 20.0,
    allocation_unit: AllocationUnit::Die,
    writes: BY_NUMBER,
    priority: Priority::Fifo,
    multi_plane: false,
    domain: Domain::Device,
    trigger: Trigger::Foreground,
    last_program: LastProgram::Padded,
    hard: 5.0,
    collects: BLOCKING_AT_HARD,
    provenance: &[
        ("ftl.reserved_blocks", FOR_TESTS),
        ("ftl.allocation", AS_MSR),
        ("ftl.allocation_unit", AS_MSR),
        ("ftl.frontiers", AS_MSR),
        ("ftl.priority", AS_MSR),
        ("ftl.multi_plane", AS_MSR),
        ("ftl.open_blocks", TWO_ACTIVE_BLOCKS),
        ("gc.domain", AS_MSR),
        ("gc.trigger", AS_MSR),
        ("gc.hard_threshold", AS_MSR),
        ("gc.soft_threshold", AS_MSR),
        ("gc.stop_threshold", AS_MSR),
        ("gc.min_victims", AS_MSR),
        ("gc.victim", AS_MSR),
        ("gc.schedule", AS_MSR),
        ("gc.destination", AS_MSR),
        ("gc.concurrency.policy", AS_MSR),
    ],
};

/// The device called `name`.
pub(crate) fn find(name: &str) -> Option<SsdConfig> {
    PRESETS.iter().find(|preset| preset.name == name).map(DevicePreset::config)
}

/// Their names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

impl DevicePreset {
    /// Its hardware.
    pub fn flash(&self) -> &'static hardware::Preset {
        hardware::find(self.name).expect("every device has its hardware")
    }

    /// The whole device.
    pub fn config(&self) -> SsdConfig {
        SsdConfig {
            write_cache: self.writes.cache.clone().unwrap_or_default(),
            ftl: FtlConfig {
                reserved_blocks: Amount::Percent(self.reserved),
                allocation: self.writes.allocation,
                mapping_unit: self.writes.mapping_unit,
                mapping_cache: None,
                mapping_entry: MAPPING_ENTRY,
                allocation_unit: self.allocation_unit,
                superblock: Superblock::Off,
                frontiers: self.writes.frontiers,
                placement: FtlConfig::by_frontiers(),
                priority: self.priority,
                multi_plane: self.multi_plane,
                // HPDC 2018, 4.2: one more active block for each plane.
                open_blocks: 2,
                free_list: FreeList::Fifo,
            },
            gc: GcConfig {
                domain: self.domain,
                trigger: self.trigger,
                host_share: HOST_SHARE,
                hard_threshold: Amount::Percent(self.hard),
                soft_threshold: Amount::AboveHard(self.collects.soft_above_hard),
                stop_threshold: Amount::AboveHard(0),
                begins_at: self.collects.begins_at,
                min_victims: 1,
                victim: "greedy".into(),
                schedule: self.collects.schedule.into(),
                destination: Destination::Unit,
                last_program: self.last_program,
                concurrency: PolicyConfig::named("unlimited"),
            },
            controller: self.writes.controller.clone(),
            ..SsdConfig::of(self.flash())
        }
    }

    /// Where the figure of `key` (below `ssd.`) comes from.
    pub fn provenance(&self, key: &str) -> Option<Provenance> {
        self.all().find(|(known, _)| *known == key).map(|(_, provenance)| provenance)
    }

    /// The keys that have a provenance.
    #[cfg(test)]
    pub fn cited(&self) -> impl Iterator<Item = &'static str> {
        self.all().map(|(key, _)| key)
    }

    fn all(&self) -> impl Iterator<Item = (&'static str, Provenance)> {
        self.flash().provenance.iter().chain(self.provenance).copied()
    }
}
