//! A device as the scenario describes it, and the numbers that follow from it.
//!
//! [`SsdConfig`] is what was asked for; [`SsdConfig::resolve`] checks that it can work and gives [`Shape`](crate::Shape): blocks of
//! spare, thresholds and logical pages as whole numbers (`resolve`). What cannot work is refused with the number that would; what
//! parts of a device need of one another is in `needs`.

mod needs;
mod resolve;

use std::fmt;

use harmonia_flash::presets::Preset;
use harmonia_flash::{Geometry, LinkConfig, Timing};
use harmonia_types::registry::PolicyConfig;
use harmonia_types::units::format_bytes;
use harmonia_types::{Bytes, SimDuration};
use serde::{Serialize, Serializer};

use crate::endurance::WearConfig;
use crate::ftl::FreeList;
use crate::leveling::LevelingConfig;
use crate::order::Order;
use crate::placement::{self, Frontiers, Placement};
use crate::rating::Rating;

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
    /// Set by an array whose members have more page numbers than pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thin: Option<Thin>,
}

/// Thin provisioning: so many page numbers for so many pages that the drive can hold at once (NVMe: size and capacity of a namespace).
/// Whoever writes to the drive keeps to its capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Thin {
    /// Page numbers.
    pub numbers: u16,
    /// Pages that can be held.
    pub pages: u16,
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
            thin: None,
        }
    }

    /// The same drive, or part of one, with more page numbers than pages.
    pub fn provision_thinly(&mut self, thin: Thin) {
        self.thin = Some(thin);
        if let Some(full) = &mut self.scale.full {
            full.thin = Some(thin);
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

    /// Entries of one page of the map, which has the bytes of a mapping unit.
    pub(crate) fn entries_of_map_page(&self) -> u64 {
        u64::from((self.mapping_unit() / self.ftl.mapping_entry.max(1)).max(1))
    }

    /// Pages of the map of so many logical pages.
    pub(crate) fn map_pages(&self, logical_pages: u64) -> u64 {
        logical_pages.div_ceil(self.entries_of_map_page())
    }

    /// The policy that says to which frontier a page goes.
    ///
    /// # Errors
    /// If there is none of its name, or it refuses one of its keys.
    pub fn placement(&self) -> Result<Box<dyn Placement>, Infeasible> {
        placement::build(&self.ftl.placement, self.ftl.frontiers)
            .map_err(|why| Infeasible { key: "ssd.ftl.placement", why })
    }
}
