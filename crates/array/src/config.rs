//! An array as the scenario describes it, validated.

use harmonia_ssd::gc::schedule;
use harmonia_ssd::{BeginsAt, SsdConfig};
use harmonia_types::{Bytes, DeviceId, SimDuration, SimTime};
use serde::{Deserialize, Serialize};

use crate::layout::Level;
use crate::years::YearsConfig;

/// The `[array]` table with its members resolved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArrayConfig {
    /// Number of member devices.
    pub devices: u16,
    /// RAID level.
    pub level: Level,
    /// Bytes that lie together on one member; a multiple of the page size.
    pub stripe_unit: Bytes,
    /// RAID-5: the share of parity of each member, in proportion; empty where all have the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parity_shares: Vec<u16>,
    /// How parity is made where a stripe is written in part.
    pub small_write: SmallWrite,
    /// How parity is made where something of a row is missing.
    pub degraded_writes: DegradedWrites,
    /// What is kept of rows of parity.
    pub stripe_cache: StripeCacheConfig,
    /// Operations that all members together are given at once; any number if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Bytes a second of a link that all members share; each has only its own if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_bandwidth: Option<Bytes>,
    /// What members reveal, and what the array makes of it.
    pub knowledge: Knowledge,
    /// What befalls members, and what the array does about it.
    pub faults: Faults,
    /// What the years of an array are reckoned with; it changes nothing in a simulation.
    #[serde(skip_serializing_if = "YearsConfig::is_usual")]
    pub lifetime: YearsConfig,
    /// `[array.coordination]`
    pub coordination: CoordinationConfig,
    /// Every member's device, in order; they differ only where `[[array.member]]` says so.
    pub members: Vec<MemberConfig>,
}

impl ArrayConfig {
    /// An array of such members under `local`, to which nothing happens.
    pub fn of(level: Level, stripe_unit: Bytes, members: Vec<MemberConfig>) -> ArrayConfig {
        ArrayConfig {
            devices: members.len() as u16,
            level,
            stripe_unit,
            parity_shares: Vec::new(),
            small_write: SmallWrite::Fewest,
            degraded_writes: DegradedWrites::default(),
            stripe_cache: StripeCacheConfig::default(),
            queue_depth: None,
            link_bandwidth: None,
            knowledge: Knowledge::default(),
            faults: Faults::default(),
            lifetime: YearsConfig::default(),
            coordination: CoordinationConfig::of("local", SimDuration::ZERO),
            members,
        }
    }

    /// Whether no member can fail: nothing is configured to befall one, and none can wear out whose data the array has elsewhere
    /// as well. Without redundancy, a member that is worn out is no failure: it still serves reads.
    pub fn is_faultless(&self) -> bool {
        let wears = |member: &MemberConfig| member.ssd.wear.is_some();
        let keeps_more = self.level.redundancy(self.devices) > 0;
        self.faults.is_none() && !(keeps_more && self.members.iter().any(wears))
    }

    /// Whether members keep data for one another, and some of them forget what they cache when power is lost: then the array flushes
    /// them for what it keeps for itself.
    pub fn members_forget(&self) -> bool {
        let forgets = |member: &MemberConfig| {
            let cache = &member.ssd.write_cache;
            !cache.is_none() && !cache.power_protected
        };
        let journal = &self.faults.journal;
        self.level.redundancy(self.devices) > 0 && self.members.iter().chain(journal).any(forgets)
    }

    /// Bytes of a page, the same in every member.
    pub fn page_size(&self) -> Bytes {
        self.members.first().map_or(1, |member| u64::from(member.ssd.mapping_unit()))
    }
}

/// One member of the array.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemberConfig {
    /// Whether it understands the O-SSD messages; an incapable member collects only on its own.
    pub capable: bool,
    /// The device.
    pub ssd: SsdConfig,
}

impl MemberConfig {
    /// Whether its collections begin at the soft threshold: `ssd.gc.begins_at` says so, or its schedule does.
    pub fn begins_at_soft(&self) -> bool {
        let gc = &self.ssd.gc;
        gc.begins_at == BeginsAt::Soft
            || schedule::build(&gc.schedule).is_ok_and(|schedule| schedule.needs().begins_at_soft)
    }
}

/// What members reveal of their collection, and what reads and writes make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Knowledge {
    /// What members reveal and accept.
    pub interface: Interface,
    /// How often members are asked for their status where [`Interface::Log`] is all they offer and reads avoid members.
    pub poll: SimDuration,
    /// What a read does when a member is known to collect; a coordination policy may have its own rule.
    pub reads: Reads,
    /// Room for writes to members that collect; none if 0.
    pub nvram: Bytes,
    /// Stripes at the end of the members that are kept free for writes to members that collect.
    pub free_stripes: u64,
}

/// Everything is revealed, nothing made of it.
impl Default for Knowledge {
    fn default() -> Self {
        let poll = SimDuration::from_us(10_000);
        Knowledge { interface: Interface::default(), poll, reads: Reads::Wait, nvram: 0, free_stripes: 0 }
    }
}

/// What a member reveals and accepts; each rung has all that those before it have.
///
/// A member that is not [`MemberConfig::capable`] stands on the lowest rung whatever the others do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interface {
    /// Only how long its answers take.
    Nothing,
    /// A status that can be asked for, as old as the last answer.
    Log,
    /// Windows in which it does or does not collect, as NVMe's predictable-latency mode has them.
    Window,
    /// An operation that would wait for collection can be refused at once, with the time left.
    Busy,
    /// It tells when it collects, and collects when it is told to.
    #[default]
    Command,
}

impl std::fmt::Display for Interface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Interface {
    /// All rungs, the lowest first.
    pub const ALL: [Interface; 5] =
        [Interface::Nothing, Interface::Log, Interface::Window, Interface::Busy, Interface::Command];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Interface::Nothing => "nothing",
            Interface::Log => "log",
            Interface::Window => "window",
            Interface::Busy => "busy",
            Interface::Command => "command",
        }
    }
}

/// What a read does about a member that collects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// It waits.
    #[default]
    Wait,
    /// The data is read from another copy, or rebuilt from the other members.
    Avoid(Avoid),
    /// The same begins when the member has not answered for so long; whichever is first wins.
    Hedge(SimDuration),
}

/// How reads avoid members that collect. There are never more members avoided at once than redundancy allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Avoid {
    /// Whichever refuses first.
    Any,
    /// Those that collect for longest yet.
    #[default]
    Longest,
    /// As `Longest`, where reading the rest of the row costs less time than waiting.
    Cheaper,
}

/// What befalls members, and what the array does about it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Faults {
    /// What happens, in no particular order.
    pub events: Vec<Fault>,
    /// Share of page reads of members that find the page unreadable. It is rebuilt from the others and written anew.
    pub page_errors: f64,
    /// Devices that stand by to take the place of members. Their states follow those of the members.
    pub spares: Vec<MemberConfig>,
    /// How members are rebuilt; scrubbing goes by the same rates.
    pub rebuild: Rebuild,
    /// All of the array is read and compared.
    pub scrub: Option<Scrub>,
    /// When the array loses power.
    pub power_losses: Vec<When>,
    /// What is done about rows that were being written when it did.
    pub write_hole: WriteHole,
    /// The device of [`WriteHole::Journal`]. Its state follows those of the members and spares.
    pub journal: Option<MemberConfig>,
    /// Decides which pages cannot be read.
    pub seed: u64,
}

impl Faults {
    /// Whether nothing ever happens.
    pub fn is_none(&self) -> bool {
        let Faults {
            events,
            page_errors,
            scrub,
            power_losses,
            write_hole,
            // What stands by for faults, and how they are drawn and made good.
            spares: _,
            rebuild: _,
            journal: _,
            seed: _,
        } = self;
        let happens = !events.is_empty() || !power_losses.is_empty();
        !happens && *page_errors == 0.0 && scrub.is_none() && *write_hole == WriteHole::Resync
    }

    /// Members that may be replaced while they work.
    pub fn replacements(&self) -> usize {
        self.events.iter().filter(|event| event.what == Befalls::Replacement).count()
    }
}

/// What is done about rows that were being written when power was lost: their parity or copies need not agree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteHole {
    /// All of the array is gone through afterwards, while requests go on.
    #[default]
    Resync,
    /// Writes go to a journal first, of which so many bytes are used, over and over again.
    Journal(Bytes),
    /// Before a stripe is written in part, what parity says of the rest is logged: in so many bytes at the end of each member.
    PartialParityLog(Bytes),
    /// Members say which chunks of so many bytes may be being written; only these are gone through afterwards.
    Bitmap {
        /// Bytes of a member that a bit stands for.
        chunk: Bytes,
        /// From one pass that looks for bits to clear to the next.
        delay: SimDuration,
    },
}

/// Something that befalls a member.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fault {
    /// The member.
    pub device: DeviceId,
    /// When it happens.
    pub at: When,
    /// What happens.
    pub what: Befalls,
}

/// A moment of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// At a time since the run began, warm-up included.
    Time(SimTime),
    /// When so many requests have arrived, warm-up included, the last of them as well.
    Request(u64),
}

/// What befalls a member.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Befalls {
    /// It fails: whatever it holds is lost. The next spare takes its place.
    Failure,
    /// It works, and the next spare begins to take its place.
    Replacement,
    /// Its flash takes so many times as long from now on; 1 ends that.
    Slow(f64),
}

/// How members are rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rebuild {
    /// Bytes of a member a second while requests are under way, at least where members can deliver them.
    pub min_rate: Bytes,
    /// Bytes of a member a second at most.
    pub max_rate: Bytes,
    /// Steps under way at a time.
    pub depth: u32,
    /// Bytes of a member that are rebuilt at a time, under one lock.
    pub step: Bytes,
    /// From a failure to the moment at which a spare is in its place.
    pub delay: SimDuration,
}

/// md's rates: 1,000 and 200,000 KiB a second.
impl Default for Rebuild {
    fn default() -> Self {
        Rebuild {
            min_rate: 1_000 << 10,
            max_rate: 200_000 << 10,
            depth: 4,
            step: 512 << 10,
            delay: SimDuration::ZERO,
        }
    }
}

/// Reading all of the array, and comparing parity or copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Scrub {
    /// When it begins.
    pub at: SimTime,
    /// Whether what does not agree is written anew; otherwise it is counted.
    pub repairs: bool,
}

impl WriteHole {
    /// Bytes that it takes at the end of each member of so many bytes; a bitmap whose chunks are not known has one block.
    pub fn area(&self, member: Bytes, page: Bytes) -> Bytes {
        let block = bitmap_block(page);
        match self {
            WriteHole::PartialParityLog(bytes) => *bytes,
            WriteHole::Bitmap { chunk: 0, .. } => block,
            WriteHole::Bitmap { chunk, .. } => member.div_ceil(*chunk).div_ceil(block * 8) * block,
            WriteHole::Resync | WriteHole::Journal(_) => 0,
        }
    }
}

/// Bytes of a block of a write-intent bitmap: whole pages, and at least what md writes at a time.
pub(crate) fn bitmap_block(page: Bytes) -> Bytes {
    4096_u64.next_multiple_of(page)
}

/// The stripe cache of levels with parity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StripeCacheConfig {
    /// Entries, each a row of all members; none if 0.
    pub entries: u32,
    /// Whether a write that has to read first is put off while another one reads. md puts off what is not synchronous.
    pub delays: bool,
}

/// No entries.
impl Default for StripeCacheConfig {
    fn default() -> Self {
        StripeCacheConfig { entries: 0, delays: true }
    }
}

/// How parity is made where a stripe is written in part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmallWrite {
    /// Whichever reads fewer units; a tie goes to reconstruct-write, as in Linux md.
    #[default]
    Fewest,
    /// From the old data and the old parity.
    ReadModifyWrite,
    /// From the units that are not written.
    Reconstruct,
}

/// How parity is made where something of a row is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DegradedWrites {
    /// As Linux md makes it, which at times reads more than it needs.
    #[default]
    Md,
    /// In the way that reads the fewest units, and without reads for parity that no member takes.
    Fewest,
}

/// The `[array.coordination]` table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoordinationConfig {
    /// Policy, a name in the registry.
    pub policy: String,
    /// One way, between the O-RAID controller and a device.
    pub message_latency: SimDuration,
    /// The policy's own keys, as written (durations as text); the policy's `Config` reads them.
    #[serde(flatten)]
    pub own: serde_json::Map<String, serde_json::Value>,
}

impl CoordinationConfig {
    /// A policy with its defaults.
    pub fn of(policy: &str, message_latency: SimDuration) -> CoordinationConfig {
        CoordinationConfig { policy: policy.into(), message_latency, own: serde_json::Map::new() }
    }
}

#[cfg(test)]
mod tests {
    use harmonia_ssd::WearConfig;

    use super::*;
    use crate::layout::{Copies, Rotation};

    /// So many members of 64 pages of 4 KiB.
    fn array(level: Level, members: usize) -> ArrayConfig {
        let mut ssd = SsdConfig::plain("literal");
        ssd.geometry.blocks_per_plane = 20;
        ssd.ftl.reserved_blocks = harmonia_ssd::Amount::Blocks(4);
        for time in [&mut ssd.timing.read, &mut ssd.timing.program] {
            *time = SimDuration(1).into();
        }
        ssd.timing.erase = SimDuration(1);
        ArrayConfig::of(level, 8192, vec![MemberConfig { capable: true, ssd }; members])
    }

    #[test]
    fn an_array_is_faultless_if_nothing_befalls_it_and_no_redundant_member_wears_out() {
        let raid5 = Level::Raid5(Rotation::default());
        let mut config = array(raid5, 3);
        assert!(config.is_faultless());
        config.members[2].ssd.wear = Some(WearConfig::of(10));
        assert!(!config.is_faultless());
        for (level, is_faultless) in [
            (Level::Raid0, true),
            (Level::Raid1, false),
            (Level::Raid10(Copies::default()), false),
            (Level::Raid4, false),
        ] {
            assert_eq!(ArrayConfig { level, ..config.clone() }.is_faultless(), is_faultless, "{level}");
        }
        let fault = Fault { device: DeviceId(0), at: When::Request(1), what: Befalls::Failure };
        let befall: [fn(&mut Faults); 5] = [
            |faults| faults.page_errors = 1e-9,
            |faults| faults.scrub = Some(Scrub { at: SimTime::ZERO, repairs: true }),
            |faults| faults.power_losses = vec![When::Request(1)],
            |faults| faults.write_hole = WriteHole::Journal(1 << 20),
            |faults| faults.rebuild.depth = 0,
        ];
        let found = befall.map(|befall| {
            let mut config = array(raid5, 3);
            befall(&mut config.faults);
            config.is_faultless()
        });
        assert_eq!(found, [false, false, false, false, true], "a rate of rebuilding is no fault");
        let events = vec![fault, Fault { what: Befalls::Replacement, ..fault }, fault];
        let faults = Faults { events, ..Faults::default() };
        assert_eq!((faults.is_none(), faults.replacements()), (false, 1));
    }

    /// A bitmap of a block of 4096 bytes has 32,768 bits.
    #[test]
    fn what_an_array_keeps_for_itself_lies_behind_its_data() {
        let bitmap = |chunk| WriteHole::Bitmap { chunk, delay: SimDuration::ZERO };
        let chunks = |count: u64| bitmap(512).area(count * 512, 4096);
        assert_eq!([1, 32_768, 32_769, 65_537].map(chunks), [4096, 4096, 8192, 12_288]);
        assert_eq!((bitmap(513).area(32_768 * 513 + 1, 4096), bitmap(0).area(1 << 40, 4096)), (8192, 4096));
        assert_eq!([512, 4096, 8192, 3072].map(bitmap_block), [4096, 4096, 8192, 6144]);
        let (log, journal) = (WriteHole::PartialParityLog(12_288), WriteHole::Journal(1 << 20));
        let area = |hole: WriteHole| hole.area(1 << 40, 4096);
        assert_eq!([log, journal, WriteHole::Resync].map(area), [12_288, 0, 0]);

        let mut config = array(Level::Raid5(Rotation::default()), 3);
        config.members[1].ssd.geometry.blocks_per_plane = 21;
        assert_eq!((config.member_bytes(), config.page_size()), (64 * 4096, 4096));
        config.faults.write_hole = log;
        config.knowledge.free_stripes = 2;
        assert_eq!(config.member_bytes(), 64 * 4096 - 12_288 - 2 * 8192);
        config.knowledge.free_stripes = 1000;
        assert_eq!(config.member_bytes(), 0);
    }

    #[test]
    fn rungs_of_the_interface_are_in_order() {
        assert!(Interface::ALL.is_sorted());
        let names = Interface::ALL.map(|rung| rung.to_string());
        assert_eq!(names, ["nothing", "log", "window", "busy", "command"]);
    }
}
