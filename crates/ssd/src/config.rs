//! A device as the scenario describes it, and the numbers that follow from it.
//!
//! [`SsdConfig`] is what was asked for; [`SsdConfig::resolve`] checks that it can work and gives [`Shape`]: blocks of
//! spare, thresholds and logical pages as whole numbers. What cannot work is refused with the number that would.

use std::fmt;

use harmonia_flash::presets::Preset;
use harmonia_flash::{Copyback, Geometry, LinkConfig, PageTimes, Timing};
use harmonia_types::registry::PolicyConfig;
use harmonia_types::units::format_bytes;
use harmonia_types::{Bytes, SimDuration};
use serde::{Serialize, Serializer};

use crate::block::MOST_PAGES;
use crate::endurance::WearConfig;
use crate::ftl::FreeList;
use crate::gc::{schedule, victim};
use crate::leveling::LevelingConfig;
use crate::order::{Odometer, Order};
use crate::placement::{self, Frontiers, Placement};
use crate::rating::Rating;
use crate::shape::{Noted, Numbers, Packing, Shape};

/// Units that one program carries at most.
const MOST_SLOTS: u32 = 192;

const SUPERBLOCK: &str = "ssd.ftl.superblock";

const MAPPING_CACHE: &str = "ssd.ftl.mapping_cache";

/// Pages that a write cache holds at most.
const MOST_CACHED: u32 = 1 << 24;

/// The `[ssd]` table: one member device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SsdConfig {
    /// Name of the preset it started from.
    pub preset: String,
    /// The part of the drive that is simulated; see [`SsdConfig::scaled`].
    #[serde(skip_serializing_if = "Scale::is_whole")]
    pub scale: Scale,
    /// `[ssd.geometry]`
    pub geometry: Geometry,
    /// `[ssd.timing]`
    pub timing: Timing,
    /// `[ssd.link]`
    pub link: LinkConfig,
    /// `[ssd.controller]`
    #[serde(skip_serializing_if = "ControllerConfig::is_none")]
    pub controller: ControllerConfig,
    /// `[ssd.write_cache]`
    #[serde(skip_serializing_if = "WriteCacheConfig::is_none")]
    pub write_cache: WriteCacheConfig,
    /// `[ssd.ftl]`
    pub ftl: FtlConfig,
    /// `[ssd.gc]`
    pub gc: GcConfig,
    /// `[ssd.wear]`; without it blocks last for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wear: Option<WearConfig>,
    /// `[ssd.leveling]`, where wear is levelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leveling: Option<LevelingConfig>,
    /// `[ssd.rating]`, if a data sheet says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<Rating>,
}

impl SsdConfig {
    /// A device with the hardware of a flash preset, and the usual rest.
    pub fn of(flash: &Preset) -> SsdConfig {
        SsdConfig {
            geometry: flash.geometry.clone(),
            timing: flash.timing.clone(),
            link: flash.link.clone(),
            ..SsdConfig::plain(flash.name)
        }
    }

    /// One plane, and nothing takes time. Other devices say what is different.
    pub fn plain(name: &str) -> SsdConfig {
        SsdConfig {
            preset: name.to_owned(),
            geometry: Geometry::ONE_PLANE,
            timing: Timing::PLAIN,
            // Zero nanoseconds a page after rounding.
            link: LinkConfig::of(u64::MAX),
            scale: Scale::default(),
            controller: ControllerConfig::default(),
            write_cache: WriteCacheConfig::default(),
            ftl: FtlConfig::default(),
            gc: GcConfig::default(),
            wear: None,
            leveling: None,
            rating: None,
        }
    }
}

/// The `[ssd.controller]` table: how a drive takes commands from the queues of its host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ControllerConfig {
    /// Commands that it has fetched and not completed at most; any number if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_window: Option<u32>,
    /// Which command it fetches next.
    pub arbitration: Arbitration,
    /// What each command takes of it, one after the other.
    #[serde(skip_serializing_if = "takes_no_time")]
    pub command_overhead: SimDuration,
    /// Mapping units that it moves to dies at most, copies of collection among them; any number if `None`. Unit: units a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units_per_second: Option<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn takes_no_time(time: &SimDuration) -> bool {
    *time == SimDuration::ZERO
}

impl ControllerConfig {
    /// Whether it fetches every command at once, and none takes time.
    pub fn is_none(&self) -> bool {
        *self == ControllerConfig::default()
    }
}

/// Which of the commands that wait in the queues of a host a drive fetches next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// The first of each queue in turn. Every stream or volume of a load has a queue, and the array's own work another one.
    #[default]
    RoundRobin,
    /// The first that came.
    Fifo,
}

/// `ssd.scale`: one part in so many of a drive.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scale {
    /// 0 and 1 stand for the whole drive.
    pub(crate) divisor: u32,
    /// The drive as it was described, where this one is a part of it.
    pub(crate) full: Option<Box<SsdConfig>>,
}

impl Scale {
    /// One part in so many.
    pub fn one_in(divisor: u32) -> Scale {
        Scale { divisor: if divisor <= 1 { 0 } else { divisor }, full: None }
    }

    /// One part in so many.
    pub fn divisor(&self) -> u32 {
        self.divisor.max(1)
    }

    /// Whether this is the whole drive.
    pub fn is_whole(&self) -> bool {
        self.divisor() == 1
    }
}

/// As a scenario has it.
impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.divisor() {
            1 => write!(f, "1"),
            divisor => write!(f, "1/{divisor}"),
        }
    }
}

impl Serialize for Scale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The `[ssd.write_cache]` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WriteCacheConfig {
    /// What it holds; `None`: a write is answered when it is programmed. Unit: bytes.
    pub size: Option<Bytes>,
    /// What it holds outlives a loss of power, so that a flush has nothing to wait for.
    pub power_protected: bool,
    /// From the moment at which the cache takes a page until the host hears of it.
    pub ack: SimDuration,
    /// What leaves it for a die that idles.
    #[serde(skip_serializing_if = "Drain::is_full")]
    pub drain: Drain,
    /// How fast it takes writes.
    #[serde(skip_serializing_if = "Pacing::is_off")]
    pub pacer: Pacing,
}

/// How fast a write cache takes writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// As they come, while it has room.
    #[default]
    Off,
    /// While something is to be collected, at the rate at which collection wins pages.
    Collection,
}

impl Pacing {
    /// Whether it takes them as they come.
    pub fn is_off(&self) -> bool {
        *self == Pacing::Off
    }
}

/// When pages that wait in a write cache leave it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drain {
    /// When they fill a program of all its planes.
    #[default]
    Full,
    /// Also when a die idles and they fill the pages of one plane or more: its program writes these planes, and the rest of the same place is
    /// left for the next one.
    Partial,
}

impl Drain {
    /// Whether whole programs leave the cache only.
    pub fn is_full(&self) -> bool {
        *self == Drain::Full
    }
}

/// None; the rest is that of a drive for data centres.
impl Default for WriteCacheConfig {
    fn default() -> Self {
        WriteCacheConfig {
            size: None,
            power_protected: true,
            ack: SimDuration::from_us(10),
            drain: Drain::Full,
            pacer: Pacing::Off,
        }
    }
}

impl WriteCacheConfig {
    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        self.size.is_none()
    }

    /// Pages that it holds, if there is one.
    pub fn pages(&self, page_size: u32) -> Option<u32> {
        self.size.map(|size| u32::try_from(size / u64::from(page_size)).unwrap_or(u32::MAX))
    }
}

/// The `[ssd.ftl]` table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FtlConfig {
    /// Spare (T - U)/T over the raw blocks of an allocation unit.
    pub reserved_blocks: Amount,
    /// How an LPN finds its die and plane.
    pub allocation: Allocation,
    /// Bytes that one entry of the map stands for; those of a page if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping_unit: Option<u32>,
    /// What the memory of the drive holds of its map; `None`: all of it. Unit: bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping_cache: Option<Bytes>,
    /// What an entry of the map takes, where that counts. Unit: bytes.
    #[serde(skip_serializing_if = "is_usual_entry")]
    pub mapping_entry: u32,
    /// What owns a write frontier and a pool of free blocks.
    pub allocation_unit: AllocationUnit,
    /// How many dies share their blocks.
    #[serde(skip_serializing_if = "Superblock::is_off")]
    pub superblock: Superblock,
    /// Whether garbage collection writes to the host's frontier or to one of its own.
    pub frontiers: Frontiers,
    /// To which frontier each page goes: `ssd.ftl.placement`. By default as `frontiers` says.
    #[serde(serialize_with = "name_or_table", skip_serializing_if = "is_by_frontiers")]
    pub placement: PolicyConfig,
    /// What a die and a shared bus serve first.
    pub priority: Priority,
    /// Whether host reads and programs of sibling planes with the same page offset join in one multi-plane command.
    pub multi_plane: bool,
    /// Blocks an allocation unit may have open at once, where a schedule opens a new one at the start of collection.
    pub open_blocks: u32,
    /// Which free block is opened next.
    #[serde(skip_serializing_if = "FreeList::is_fifo")]
    pub free_list: FreeList,
}

/// Dies own their blocks, pages are placed by their numbers, one frontier, 15% of blocks in reserve.
impl Default for FtlConfig {
    fn default() -> Self {
        FtlConfig {
            reserved_blocks: Amount::Percent(15.0),
            allocation: Allocation::CWDP,
            mapping_unit: None,
            mapping_cache: None,
            mapping_entry: MAPPING_ENTRY,
            allocation_unit: AllocationUnit::Die,
            superblock: Superblock::Off,
            frontiers: Frontiers::Shared,
            placement: FtlConfig::by_frontiers(),
            priority: Priority::Fifo,
            multi_plane: false,
            open_blocks: 2,
            free_list: FreeList::Fifo,
        }
    }
}

/// What an entry of a map takes, if nothing else is said: the number of a mapping unit on flash. Unit: bytes.
pub const MAPPING_ENTRY: u32 = 4;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_usual_entry(entry: &u32) -> bool {
    *entry == MAPPING_ENTRY
}

impl FtlConfig {
    /// Placement as `frontiers` says.
    pub fn by_frontiers() -> PolicyConfig {
        PolicyConfig::named("frontiers")
    }
}

fn is_by_frontiers(placement: &PolicyConfig) -> bool {
    placement.policy == "frontiers"
}

/// A share (floored) or a number of blocks per allocation unit, or bytes of the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// Percent of the unit's raw blocks, floored.
    Percent(f64),
    /// So many blocks.
    Blocks(u32),
    /// The unit's share of so much flash of the device, in whole blocks, rounded up. A device that is scaled down has as much.
    Bytes(Bytes),
    /// So many blocks above the hard threshold (soft and stop thresholds only).
    AboveHard(u32),
    /// The unit's share of so much flash, above the hard threshold (soft and stop thresholds only).
    BytesAboveHard(Bytes),
}

/// The raw blocks of an allocation unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocks {
    pub count: u32,
    /// Data that one block of every unit of the device holds.
    pub bytes: Bytes,
}

impl Amount {
    /// The number of blocks of a unit that has these, and of which so many are its hard threshold.
    pub(crate) fn blocks(self, of: Blocks, hard: u32) -> u32 {
        // More than there are is refused; none is so many that a sum overflows.
        let of_bytes = |bytes: Bytes| bytes.div_ceil(of.bytes.max(1)).min(u64::from(of.count)) as u32;
        match self {
            // The product is exact enough for any real block count; the nudge keeps 15% of 100 at 15.
            Amount::Percent(percent) => (percent * f64::from(of.count) / 100.0 + 1e-9).floor() as u32,
            Amount::Blocks(blocks) => blocks,
            Amount::Bytes(bytes) => of_bytes(bytes),
            Amount::AboveHard(blocks) => hard + blocks,
            Amount::BytesAboveHard(bytes) => hard + of_bytes(bytes),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Percent(percent) => write!(f, "{percent}%"),
            Amount::Blocks(blocks) => write!(f, "{blocks}"),
            Amount::Bytes(bytes) => f.write_str(&format_bytes(*bytes)),
            Amount::AboveHard(0) => write!(f, "hard"),
            Amount::AboveHard(blocks) => write!(f, "hard+{blocks}"),
            Amount::BytesAboveHard(bytes) => write!(f, "hard+{}", format_bytes(*bytes)),
        }
    }
}

impl Serialize for Amount {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Amount::Blocks(blocks) => serializer.serialize_u32(*blocks),
            other => serializer.collect_str(other),
        }
    }
}

/// How an LPN finds its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// Its number names its die and plane.
    Static(Order),
    /// Its number names its die, by an order whose last part is the plane. A write goes to the plane of that die with the
    /// most free pages when its page leaves the link.
    DynamicPlane(Order),
    /// Every write goes where the device chooses when its page leaves the link.
    Dynamic,
}

impl Allocation {
    /// Static: channel, way (chip), die, plane.
    pub const CWDP: Allocation = Allocation::Static(Order::CWDP);
}

impl Serialize for Allocation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Allocation::Static(order) => serializer.collect_str(order),
            Allocation::DynamicPlane(order) => serializer.serialize_str(&order.dies()),
            Allocation::Dynamic => serializer.serialize_str("dynamic"),
        }
    }
}

/// What owns a write frontier and a pool of free blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AllocationUnit {
    /// Each die (the MSR model's element).
    Die,
    /// Each plane of a die.
    Plane,
}

/// How many dies share their blocks: `ssd.ftl.superblock`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Superblock {
    /// None does.
    #[default]
    Off,
    /// All dies of the drive.
    Drive,
    /// Groups of so many neighbours, as dies are numbered: channel first.
    Dies(u32),
}

impl Superblock {
    /// Whether every die has blocks of its own.
    pub fn is_off(&self) -> bool {
        *self == Superblock::Off
    }
}

/// As a scenario has it.
impl Serialize for Superblock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Superblock::Off => serializer.serialize_str("off"),
            Superblock::Drive => serializer.serialize_str("drive"),
            Superblock::Dies(dies) => serializer.serialize_u32(*dies),
        }
    }
}

/// The order of host operations at a die, and of transfers on a shared bus. Operations on one LPN keep their order, and
/// at a die collection comes before both kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// As they came.
    Fifo,
    /// Reads before writes; the bus grants collection first, then reads, then writes.
    ReadsFirst,
}

/// The `[ssd.gc]` table: four of the five axes of garbage collection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GcConfig {
    /// What collects together.
    pub domain: Domain,
    /// When the check runs.
    pub trigger: Trigger,
    /// With [`Trigger::Bursts`]: the share of a die's work that the host's writes have while it collects.
    #[serde(skip_serializing_if = "is_usual_share")]
    pub host_share: f64,
    /// Free blocks at or below which a unit is low.
    pub hard_threshold: Amount,
    /// Free blocks at or below which a device registers with its coordinator; above hard.
    pub soft_threshold: Amount,
    /// An event ends when free exceeds this.
    pub stop_threshold: Amount,
    /// Where events begin, while the device is aged and when it works.
    #[serde(skip_serializing_if = "BeginsAt::is_schedule")]
    pub begins_at: BeginsAt,
    /// Victims an event takes at least.
    pub min_victims: u32,
    /// `ssd.gc.victim`
    #[serde(serialize_with = "name_or_table")]
    pub victim: PolicyConfig,
    /// `ssd.gc.schedule`
    #[serde(serialize_with = "name_or_table")]
    pub schedule: PolicyConfig,
    /// Where moved pages go.
    pub destination: Destination,
    /// What becomes of a victim's last program.
    #[serde(skip_serializing_if = "LastProgram::is_padded")]
    pub last_program: LastProgram,
    /// `[ssd.gc.concurrency]`
    pub concurrency: PolicyConfig,
}

/// A die collects one greedy victim in one go as soon as 5% of its blocks are free.
impl Default for GcConfig {
    fn default() -> Self {
        GcConfig {
            domain: Domain::Die,
            trigger: Trigger::Foreground,
            host_share: HOST_SHARE,
            hard_threshold: Amount::Percent(5.0),
            soft_threshold: Amount::AboveHard(1),
            stop_threshold: Amount::AboveHard(0),
            begins_at: BeginsAt::Schedule,
            min_victims: 1,
            victim: "greedy".into(),
            schedule: "blocking".into(),
            destination: Destination::Unit,
            last_program: LastProgram::Padded,
            concurrency: PolicyConfig::named("unlimited"),
        }
    }
}

/// What the host's writes have of a die's work during a burst, if nothing else is said.
pub const HOST_SHARE: f64 = 0.15;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_usual_share(share: &f64) -> bool {
    *share == HOST_SHARE
}

/// A name alone where no key of the policy is written.
fn name_or_table<S: Serializer>(config: &PolicyConfig, serializer: S) -> Result<S::Ok, S::Error> {
    if config.own.is_empty() {
        serializer.serialize_str(&config.policy)
    } else {
        config.serialize(serializer)
    }
}

/// What collects together: when any unit of a domain is low, every unit of the domain starts an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Domain {
    /// Each die for itself.
    Die,
    /// All dies of the device.
    Device,
    /// Each plane for itself; only where planes own their blocks. The die still does nothing else meanwhile.
    Plane,
    /// All dies of a channel.
    Channel,
}

/// When the check for low units runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// When a die is about to serve a host request.
    Foreground,
    /// Also whenever a die goes idle: it does nothing, and no host operation waits at it or is on the link to it.
    Background,
    /// As foreground, and collection has a share of a die's work beside the host's writes. It grows from none at the soft threshold
    /// to all at the hard one.
    Proportional,
    /// As foreground, and while an event is under way collection has all of a die's work but [`GcConfig::host_share`].
    Bursts,
}

impl Trigger {
    /// Whether collection shares the work of a die with the host's writes, and keeps no read waiting.
    pub fn shares_work(self) -> bool {
        matches!(self, Trigger::Proportional | Trigger::Bursts)
    }
}

/// What becomes of a victim's last program, where the live data that is left does not fill it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LastProgram {
    /// The rest of it is padding.
    #[default]
    Padded,
    /// Live data of the full block that has the fewest fills it.
    Filled,
}

impl LastProgram {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_padded(&self) -> bool {
        *self == LastProgram::Padded
    }
}

/// The threshold at which events begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BeginsAt {
    /// The one that the schedule says: hard, or soft where it lets the host go first until hard. Ageing, which knows no
    /// schedule, collects at hard.
    #[default]
    Schedule,
    /// Soft under every schedule, and while the device is aged: a run goes on as the ageing left off.
    Soft,
}

impl BeginsAt {
    fn is_schedule(&self) -> bool {
        *self == BeginsAt::Schedule
    }
}

/// Where garbage collection moves pages to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Destination {
    /// Into the allocation unit they come from.
    Unit,
    /// To any die; only where no die is named by the number of a page.
    Device,
}

/// Why a device cannot work: the key to change, and what would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Infeasible {
    /// The key, from the scenario's root, such as `ssd.ftl.reserved_blocks`.
    pub key: &'static str,
    /// What is wrong and the number that would work.
    pub why: String,
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.why)
    }
}

const PROGRAM_PLANES: &str = "ssd.geometry.program_planes";

impl SsdConfig {
    /// Bytes that one entry of the map stands for: what all above the flash counts as a page.
    pub fn mapping_unit(&self) -> u32 {
        self.ftl.mapping_unit.unwrap_or(self.geometry.page_size)
    }

    /// Whether the last program of a victim is filled from another block.
    pub fn fills_programs(&self) -> bool {
        self.gc.last_program == LastProgram::Filled
    }

    /// Moving one mapping unit between die and controller: its share of the time of a page, to the nearest nanosecond.
    pub fn unit_transfer(&self) -> SimDuration {
        let units = u64::from((self.geometry.page_size / self.mapping_unit().max(1)).max(1));
        SimDuration((self.timing.transfer.0 + units / 2) / units)
    }

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
    fn packing(&self) -> Result<Packing, Infeasible> {
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

    /// Entries of one page of the map, which has the bytes of a mapping unit.
    pub(crate) fn entries_of_map_page(&self) -> u64 {
        u64::from((self.mapping_unit() / self.ftl.mapping_entry.max(1)).max(1))
    }

    /// Pages of the map of so many logical pages.
    pub(crate) fn map_pages(&self, logical_pages: u64) -> u64 {
        logical_pages.div_ceil(self.entries_of_map_page())
    }

    /// Pages of the map that each of so many allocation units has on flash, of so many pages of the host in all. None where the memory of
    /// the drive holds the whole map.
    fn map_pages_of_unit(&self, units: u64, host_pages: u64) -> Result<u64, Infeasible> {
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
    fn dies_per_unit(&self, dies: u32) -> Result<Option<u32>, Infeasible> {
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
    fn joined_by(&self, dies: u32) -> Result<u32, Infeasible> {
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

    /// The policy that says to which frontier a page goes.
    ///
    /// # Errors
    /// If there is none of its name, or it refuses one of its keys.
    pub fn placement(&self) -> Result<Box<dyn Placement>, Infeasible> {
        placement::build(&self.ftl.placement, self.ftl.frontiers)
            .map_err(|why| Infeasible { key: "ssd.ftl.placement", why })
    }

    /// Checks that the rest of the device goes with its placement policy; `hard` is its hard threshold.
    fn check_placement(&self, policy: &dyn Placement, hard: u32) -> Result<(), Infeasible> {
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

    /// Checks that the device can work and computes its whole numbers.
    ///
    /// # Errors
    /// Names the key at fault and a value that would work: a zero or absurd dimension, spare too small for the
    /// thresholds and frontiers, thresholds out of order, a logical space that is empty or too large.
    pub fn resolve(&self) -> Result<Shape, Infeasible> {
        let fail = |key, why: String| Err(Infeasible { key, why });
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
        let packing = self.packing()?;
        let program = packing.slots_per_program();
        if let Some(pages) = self.write_cache.pages(self.mapping_unit())
            && !(program..=MOST_CACHED).contains(&pages)
        {
            let (bytes, a_page) = (self.mapping_unit(), if packing.packs() { "units" } else { "pages" });
            let one = match packing.packs() {
                true => format!(", at least the {program} of one program"),
                false => String::new(),
            };
            return fail(
                "ssd.write_cache.size",
                format!(
                    "holds {pages} {a_page} of {bytes} bytes; {program} to {MOST_CACHED} {a_page} work{one}"
                ),
            );
        }
        let (units_per_die, planes_per_unit) = match self.ftl.allocation_unit {
            // The blocks that one program writes count as one, and their planes as one plane.
            AllocationUnit::Die => (1, g.planes_per_die / g.program_planes),
            AllocationUnit::Plane => (g.planes_per_die, 1),
        };
        if self.gc.domain == Domain::Plane && units_per_die == 1 && g.planes_per_die > 1 {
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
        let dies_per_unit = self.dies_per_unit(dies as u32)?;
        // The blocks of a superblock count as one, and their planes as one plane.
        let (planes_per_unit, joined) = match dies_per_unit {
            None => (planes_per_unit, 1),
            Some(dies) => (1, self.joined_by(dies)?),
        };
        let shares_blocks = dies_per_unit.is_some();
        // The planes that one program writes are in its slots already.
        let parts = if shares_blocks { joined / g.program_planes } else { 1 };
        let dies_per_unit = dies_per_unit.unwrap_or(1);
        let blocks = u64::from(planes_per_unit) * u64::from(g.blocks_per_plane);
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
        let units = dies / u64::from(dies_per_unit) * u64::from(units_per_die);
        let of =
            Blocks { count: blocks, bytes: u64::from(data_pages) * u64::from(self.mapping_unit()) * units };
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
        let policy = self.placement()?;
        let count = policy.frontiers();
        self.check_placement(&*policy, hard)?;
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
        let reserved = self.ftl.reserved_blocks.blocks(of, hard);
        let frontiers = u32::from(count.all);
        // The pool must be able to stand above `stop`, and above where events begin while ageing, with every frontier open and one block's worth of invalid
        // pages left to collect, or collecting could never reach its end.
        let ages_at = if self.gc.begins_at == BeginsAt::Soft { soft } else { hard };
        let (pool, rises_to) = if ages_at > stop { ("soft", ages_at) } else { ("stop", stop) };
        // Collecting a block wins whole programs. Blocks that lack less than one are won by none, so what all of them may lack
        // is spare that is of no use.
        let unused = u64::from(blocks) * u64::from(packing.slots_per_program() - 1);
        let unused = unused.div_ceil(u64::from(data_pages)) as u32;
        let least = rises_to + 1 + frontiers + unused;
        // With dynamic allocation units differ in what they hold; one more block is what they may differ by.
        let dynamic = !matches!(self.ftl.allocation, Allocation::Static(_)) && !shares_blocks;
        let host_pages = u64::from(blocks.saturating_sub(reserved)) * u64::from(data_pages);
        let map_pages = self.map_pages_of_unit(units, host_pages * units)?;
        // Pages of the map take spare.
        let for_map = map_pages.div_ceil(u64::from(data_pages)) as u32;
        let needed = least + u32::from(dynamic) + for_map;
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
        let logical = host_pages * units;
        if logical + map_pages * units >= u64::from(u32::MAX) {
            return fail(
                "ssd.geometry.blocks_per_plane",
                format!("{logical} logical pages per device; fewer than 2^32 are supported"),
            );
        }
        if dynamic
            && (u64::from(blocks) << page_bits) * dies * u64::from(units_per_die) >= u64::from(u32::MAX)
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
            numbers: Numbers::new(units_per_die, dies_per_unit, joined > 1),
            odometer: match self.ftl.superblock {
                Superblock::Off => Odometer::new(order, g, units_per_die),
                _ => Odometer::of_superblocks(dies as u32, dies_per_unit),
            },
            most_live: dynamic.then(|| (blocks - least) * data_pages),
            names_die: self.ftl.allocation != Allocation::Dynamic || shares_blocks,
            dies: dies as u32,
            units_per_die,
            dies_per_unit,
            joined,
            planes_per_unit,
            blocks_per_unit: blocks,
            reserved_blocks: reserved,
            may_retire: reserved - needed,
            of_victim: count.of_victim.into(),
            noted: noted(&*policy),
            data_pages,
            summary_pages: g.summary_pages,
            page_bits,
            page_size: self.mapping_unit(),
            packing,
            fills: packing.packs() && self.fills_programs(),
            unit_pages: (host_pages + map_pages) as u32,
            logical_pages: logical as u32,
            block_bytes: of.bytes,
            hard,
            soft,
            stop,
            ages_at,
        })
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
