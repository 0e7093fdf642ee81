//! Keys of `[array]`: members, level, failures, coordination.

use std::sync::LazyLock;

use harmonia_array::layout::{Copies, Pattern, Rotation};
use harmonia_array::years::{Replace, Shares};
use harmonia_array::{
    ArrayConfig, Avoid, Befalls, DegradedWrites, Interface, Level, Reads, Rebuild, SmallWrite, WriteHole,
};
use harmonia_types::{Bytes, SimDuration, units};

use super::held::{Draft, Held, Place, at, by, documented};
use super::kinds::{
    ANY, Kind, below, choice, count, device_preset, flag, like, long_time, members, number, opened,
    positive_time, rate, share, size, table, text, time, whole,
};
use super::ssd::MOST_DEPTH;
use super::{Declared, Form, Key, MOST_REQUESTS, declare};
use crate::draid::{self, Parts};
use crate::error::Parsed;
use crate::failures::SpareState;
use crate::knowledge::{self, REDUNDANT};
use crate::read::{Field, Section};

/// Most members of an array, whatever its level.
pub(crate) const MOST_DEVICES: u16 = 1024;

/// A level as it is named.
pub(crate) enum Named {
    Plain(Level),
    Draid(Parts),
}

const LEVELS: &[(&str, Level)] = &[
    ("raid0", Level::Raid0),
    ("raid1", Level::Raid1),
    ("raid10", Level::Raid10(Copies { pattern: Pattern::Near, count: 2 })),
    ("raid4", Level::Raid4),
    ("raid5", Level::Raid5(Rotation::LeftSymmetric)),
    ("raid6", Level::Raid6(Rotation::LeftSymmetric)),
];

fn level(words: &str) -> Kind<Named> {
    let plain = choice(LEVELS).map(Named::Plain, |_| None);
    let draid = Kind::new(Form::Text, words, |field| draid::parts(field).map(Named::Draid), |_| None);
    plain.or(|value| value.text().is_some_and(|text| text.starts_with("draid")), draid).saying(words)
}

const SMALL_WRITES: &[(&str, SmallWrite)] = &[
    ("fewest", SmallWrite::Fewest),
    ("read-modify-write", SmallWrite::ReadModifyWrite),
    ("reconstruct", SmallWrite::Reconstruct),
];

/// Entries that md's stripe cache may have.
fn entries() -> Kind<u32> {
    let is_cache = |entries: &u32| !(1..17).contains(entries);
    count(0, 32_768).checked(is_cache, "is too few").saying("0, or a whole number, 17 to 32768")
}

const INTERFACES: &[(&str, Interface)] = &[
    ("nothing", Interface::Nothing),
    ("log", Interface::Log),
    ("window", Interface::Window),
    ("busy", Interface::Busy),
    ("command", Interface::Command),
];

const EVENTS: &[(&str, Befalls)] =
    &[("failure", Befalls::Failure), ("slow", Befalls::Slow(1.0)), ("replace", Befalls::Replacement)];

const REPLACE: &[(&str, Replace)] = &[
    ("death", Replace::Death),
    ("age", Replace::Age),
    ("in-turn", Replace::InTurn),
    ("all-at-once", Replace::AllAtOnce),
];

const SHARES: &[(&str, Shares)] =
    &[("fixed", Shares::Fixed), ("by-age", Shares::ByAge), ("target-ages", Shares::TargetAges)];

/// How large a log is, and what a bit stands for, follows.
const WRITE_HOLES: &[(&str, WriteHole)] = &[
    ("resync", WriteHole::Resync),
    ("bitmap", WriteHole::Bitmap { chunk: 0, delay: SimDuration::ZERO }),
    ("journal", WriteHole::Journal(0)),
    ("ppl", WriteHole::PartialParityLog(0)),
];

fn bitmap_delay() -> Kind<SimDuration> {
    let is_mds = |delay: &SimDuration| *delay >= SimDuration::from_us(1_000);
    positive_time()
        .checked(is_mds, "is too short: md looks no more often than once a millisecond")
        .saying("a duration such as \"5s\", at least 1ms; with write_hole = \"bitmap\"")
}

const SPARE_STATES: &[(&str, SpareState)] = &[("new", SpareState::New), ("aged", SpareState::Aged)];

// What is declared here is read in files of its own, because what it may be, or what is usual, follows from more than the key.
declare! {
    DEVICES: u16 = "array.devices", members(1, MOST_DEVICES), "8", "member devices";
    LEVEL: Named = "array.level",
        level("\"raid0\", \"raid1\", \"raid10\", \"raid4\", \"raid5\", \"raid6\", or declustered parity as OpenZFS writes it, such \
         as \"draid1:4d:1s\": one or two parities, data units of a group, distributed spares"), "raid0",
        "RAID level; raid1 keeps a copy on every member; draid spreads groups narrower than the array over all members, which \
         must be whole groups and spares";
    LAYOUT: String = "array.layout",
        text("raid5: a rotation of md such as \"left-symmetric\" or \"right-asymmetric\"; raid6: these and \"left-symmetric-6\" \
         and the like; raid10: \"near-2\", \"far-2\", \"offset-2\", or with up to 8 copies"), "left-symmetric; raid10: near-2",
        "where parity or copies lie, by the names of Linux md (raid5, raid6, raid10)";
    PARITY_SHARES: Vec<u16> = "array.parity_shares",
        members(0, 1000).list(0, MOST_DEVICES.into())
            .saying("a list of whole numbers from 0 to 1000, one for each member, two of them or more above 0, such as [70, \
                     10, 10, 10]; divided by what divides all of them they sum to at most 1024 and at most the stripes of a \
                     member (raid5)"),
        "equal shares",
        "the shares of parity that members have, in proportion, so that they do not wear out at one time; equal shares are \
         the rotation of `array.layout`";
    STRIPE_UNIT: Bytes = "array.stripe_unit",
        size(1, ANY).saying("a size, a multiple of the page size, at most a member's logical size"),
        "4KiB, or one page where pages are larger; raid4, raid5, raid6: 512KiB, or as much of it as a member holds in whole \
         pages", "bytes that lie together on one member, md's chunk; raid1 has none and ignores this";
    FREE_STRIPES: u64 = "array.free_stripes",
        whole(0, u32::MAX.into()).quiet().saying("a whole number from 0 to below the stripes of a member (raid4, raid5, raid6)"),
        "0",
        "stripes at the end of the members that hold nothing of the host's, so that the policy gaftl can write there what \
         belongs to a member that collects; they are taken from the capacity under every policy";
    FAILURE: () = "array.failure",
        opened(Form::Tables, "an array of at most 64 tables: [[array.failure]] with `device`, and `at` or `request`"), "none",
        "what happens to members; a coordinator hears of it, and the next spare takes the place of a member that failed";
    FAILURE_DEVICE: u16 = "array.failure.device", members(0, u16::MAX).saying("a whole number below `array.devices`"),
        "required", "which member";
    FAILURE_AT: SimDuration = "array.failure.at", long_time(0).saying("a time such as \"10s\"; not together with `request`"),
        "required, or `request`", "when it happens, counted from the run's start, warm-up included";
    FAILURE_REQUEST: u64 = "array.failure.request",
        whole(1, MOST_REQUESTS).saying("a whole number of requests, 1 to 10^12; not together with `at`"), "required, or `at`",
        "it happens as that request arrives, counted from the run's start, warm-up included";
    FAILURE_KIND: Befalls = "array.failure.kind",
        choice(EVENTS).saying("\"failure\", \"slow\" or \"replace\"; \"replace\" needs a spare"), "failure",
        "whether the member fails, and all it holds is lost, or its flash becomes slow, or the next spare begins to take its \
         place while it works";
    FAILURE_FACTOR: f64 = "array.failure.factor",
        number(1.0, 1000.0).saying("a number from 1 to 1000, with kind = \"slow\" only"), "required with kind = \"slow\"",
        "reads, programs and erases of the member take so many times as long from then on; 1 ends it";
    POWER_LOSS: () = "array.power_loss",
        opened(Form::Tables, "an array of at most 16 tables: [[array.power_loss]] with `at` or `request`"), "none",
        "when the array loses power; it is back at once, and the host submits again what was not acknowledged";
    POWER_LOSS_AT: SimDuration = "array.power_loss.at",
        long_time(0).saying("a time such as \"10s\"; not together with `request`"), "required, or `request`",
        "when it happens, counted from the run's start, warm-up included";
    POWER_LOSS_REQUEST: u64 = "array.power_loss.request",
        whole(1, MOST_REQUESTS).saying("a whole number of requests, 1 to 10^12; not together with `at`"), "required, or `at`",
        "it happens as that request arrives, counted from the run's start, warm-up included";
    WRITE_HOLE: WriteHole = "array.write_hole",
        choice(WRITE_HOLES)
            .saying("\"resync\", on a level with redundancy; \"bitmap\", on one but draid; \"journal\", on a level with \
                     parity; \"ppl\", on raid5"), "resync",
        "what the array does about rows that were being written when power was lost, whose parity or copies need not agree: \
         it goes through all of the array while requests go on, or through what a write-intent bitmap says, or has logged \
         what it was about to write, in a journal or in a partial parity log";
    JOURNAL: () = "array.journal", table("a table with `preset`, `size` and `state`, with write_hole = \"journal\""),
        "a device like most members",
        "the device that data and parity are written to before the members; nobody coordinates when it collects";
    JOURNAL_PRESET: () = "array.journal.preset",
        device_preset("a preset with pages like those of the members, see `harmonia presets`"), "as most members",
        "what kind of device it is";
    JOURNAL_SIZE: Bytes = "array.journal.size",
        size(1, ANY).saying("a size such as \"1GiB\", a multiple of the page size, at least two stripes, at most the device"),
        "the whole device", "bytes of it that are written, around and around; writes wait while the journal is full";
    JOURNAL_STATE: SpareState = "array.journal.state",
        choice(SPARE_STATES).saying("\"new\", or \"aged\" without a preset of its own"), "new",
        "whether it was never written, or is in the state in which members begin the run";
    PPL_SIZE: Bytes = "array.ppl_size",
        size(1, ANY)
            .saying("a size such as \"1MiB\", a multiple of the page size, at least a stripe unit and a block, at most half of \
                     a member; with write_hole = \"ppl\""), "1MiB",
        "bytes at the end of each member that the partial parity log takes; writes wait while it is full";
    BITMAP_CHUNK: Bytes = "array.bitmap_chunk",
        size(1, ANY)
            .saying("a size such as \"1MiB\", a multiple of the stripe unit, at most 1,048,576 of them in a member; with \
                     write_hole = \"bitmap\""), "a 1024th of a member in whole stripe units, at most 64MiB",
        "bytes of a member that a bit of the write-intent bitmap stands for; the first write to them waits until it is set on \
         all members";
    BITMAP_DELAY: SimDuration = "array.bitmap_delay", bitmap_delay(), "5s",
        "from one pass that looks for bits to clear to the next; a bit is cleared by the third one after the last write";
    SPARES: u32 = "array.spares",
        count(0, 64).saying("a whole number, 0 to 64, on a level with redundancy and without distributed spares"), "0",
        "devices that stand by, like most members; the next one takes the place of a member that fails and is rebuilt";
    SPARE_STATE: SpareState = "array.spare_state", choice(SPARE_STATES), "new",
        "whether spares were never written, or are in the state in which members begin the run";
    REBUILD: () = "array.rebuild",
        table("a table with `min_rate`, `max_rate`, `depth`, `step` and `delay`, on a level with redundancy"), "md's rates",
        "how fast replacements are rebuilt; scrubbing goes by the same";
    SCRUB: () = "array.scrub", table("a table with `at` and `mode`, on a level with redundancy"), "none",
        "all of the array is read once, and parity or copies compared";
    SCRUB_AT: SimDuration = "array.scrub.at", long_time(0).saying("a time such as \"10s\""), "required",
        "when it begins, counted from the run's start, warm-up included";
    SCRUB_MODE: bool = "array.scrub.mode", choice(&[("check", false), ("repair", true)]), "check",
        "whether what does not agree is left, or written anew; nothing ever disagrees in a simulation, so both cost the same";
    COORDINATION: () = "array.coordination", table("a table with `policy`, `message_latency` and the policy's own keys"),
        "local", "which members collect when";
    POLICY: () = "array.coordination.policy", opened(Form::Policy, "the name of a policy"), "local", "coordination policy";
    MEMBER: () = "array.member",
        opened(Form::Tables, "an array of tables: [[array.member]] with `index`, `capable` and [ssd] overrides"),
        "none: all members alike", "members that differ from [ssd]";
    MEMBER_INDEX: u16 = "array.member.index", members(0, u16::MAX).saying("a whole number below `array.devices`"), "required",
        "which member";
    MEMBER_CAPABLE: bool = "array.member.capable", flag(), "true",
        "whether the member understands the coordinator's messages";
    MEMBER_SSD: () = "array.member.ssd", like("ssd", "a table like [ssd]"), "[ssd]",
        "the member's overrides of [ssd]; a preset replaces [ssd] altogether";
}

/// Whether parity is kept.
fn has_parity(array: &ArrayConfig) -> bool {
    array.level.parities() > 0
}

/// What writes to rows of which something is missing do matters only if something can be missing.
fn may_degrade(array: &ArrayConfig) -> bool {
    has_parity(array) && (!array.is_faultless() || array.degraded_writes != DegradedWrites::default())
}

fn has_cache(array: &ArrayConfig) -> bool {
    array.stripe_cache.entries > 0
}

fn never_delays(array: &ArrayConfig) -> bool {
    has_cache(array) && !array.stripe_cache.delays
}

fn asks(array: &ArrayConfig) -> bool {
    array.knowledge.interface == Interface::Log
}

fn avoids(array: &ArrayConfig) -> bool {
    matches!(array.knowledge.reads, Reads::Avoid(_))
}

/// Whether something is rebuilt, or gone through at the same rates.
fn says_rebuild(array: &ArrayConfig) -> bool {
    let faults = &array.faults;
    !faults.spares.is_empty() || faults.scrub.is_some() || faults.rebuild != Rebuild::default()
}

/// Whether anything is said of the years.
fn says_years(array: &ArrayConfig) -> bool {
    !array.lifetime.is_usual()
}

/// Members that are replaced need something to be rebuilt from.
fn needs_redundancy(array: &ArrayConfig, _: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    if array.level.redundancy(array.devices) > 0 {
        return Ok(());
    }
    let problem = format!("{} keeps data once, so no member is rebuilt", array.level);
    Err(field.fault_allowing(problem, format!("no `{}`, or {REDUNDANT}", field.name())))
}

/// Only parity is made one way or the other.
fn needs_parity(array: &ArrayConfig, _: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    if has_parity(array) {
        return Ok(());
    }
    let problem = format!("{} has no parity, so there is nothing to choose", array.level);
    let name = field.name();
    let allowed = format!("no `{name}`, or array.level = \"raid4\", \"raid5\", \"raid6\" or \"draid1\"");
    Err(field.fault_allowing(problem, allowed))
}

/// A stripe cache keeps rows of all members.
fn needs_rows(array: &ArrayConfig, _: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    let problem = match array.level {
        Level::Draid(_) => "declustered stripes have no rows of all members that could be kept".to_owned(),
        level if level.parities() == 0 => format!("{level} has no parity, so there are no rows to keep"),
        _ => return Ok(()),
    };
    let allowed = "no `stripe_cache`, or array.level = \"raid4\", \"raid5\" or \"raid6\"";
    Err(field.fault_allowing(problem, allowed))
}

fn needs_cache(_: &ArrayConfig, table: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    match table.named("stripe_cache") {
        Some(_) => Ok(()),
        None => {
            let allowed = "no `delay_pre_reads`, or array.stripe_cache above 0";
            Err(field.fault_allowing("there is no stripe cache", allowed))
        }
    }
}

fn needs_log(array: &ArrayConfig, _: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    if asks(array) {
        return Ok(());
    }
    let interface = array.knowledge.interface;
    let problem = format!(
        "members are asked for their status with array.interface = \"log\" only, not \"{interface}\""
    );
    Err(field.fault_allowing(problem, "no `poll`, or array.interface = \"log\""))
}

/// A size in whole pages.
fn whole_pages(field: &Field<'_>, size: Bytes, page: Bytes) -> Parsed<Bytes> {
    if size.is_multiple_of(page) {
        return Ok(size);
    }
    Err(field.fault(format!("is not a multiple of the page size, {}", units::format_bytes(page))))
}

impl Draft for ArrayConfig {
    type Config = Self;

    fn config(&mut self) -> &mut Self {
        self
    }
}

type Drafted = ArrayConfig;

/// All keys of `[array]` and of the tables in it, in the order in which they are documented. Those with a place in the
/// configuration stand here, each group behind the key that it is documented after; where they need others, these come first.
#[rustfmt::skip]
pub(crate) static KEYS: LazyLock<Vec<Box<dyn Held<Drafted>>>> = LazyLock::new(|| documented(ALL, vec![
    (&*PARITY_SHARES, vec![
        at! { "array.small_write", small_write if has_parity, needs needs_parity, choice(SMALL_WRITES), "fewest",
            "how parity is made for a stripe written in part: by the way that reads fewer units, as md does, or always by one way \
             (raid4, raid5, raid6)" },
        at! { "array.degraded_writes", degraded_writes if may_degrade, needs needs_parity, choice(&[("md", DegradedWrites::Md), ("fewest", DegradedWrites::Fewest)]), "md",
            "how a write makes the parity of a row of which something is missing: as Linux md does, or by the way that reads the \
             fewest units (raid4, raid5, raid6; without effect on floating stripes)" },
        at! { "array.stripe_cache", stripe_cache.entries if has_cache, needs needs_rows, entries(), "0",
            "entries of a stripe cache as in Linux md, each a row of parity: what small writes read and write is kept, writes \
             that wait for one row are merged, pre-reads are put off so that more can join; none with 0 (raid4, raid5, raid6)" },
        at! { "array.delay_pre_reads", stripe_cache.delays if never_delays, needs needs_cache, flag(), "true",
            "whether a write that has to read first is put off while another one reads, as md does with writes that are not \
             synchronous (with stripe_cache)" },
    ]),
    (&*STRIPE_UNIT, vec![
        at! { "array.queue_depth", queue_depth, count(1, MOST_DEPTH).optional(), "none",
            "operations that all members together have at once at most, each an operation on one member and of any length; of the \
             rest the first to come goes next whose member takes one more by ssd.link.queue_depth. The array's own work counts \
             and waits as the host's does. DiskSim's controllers take 100; RAID-0 there joins all that a request has on one \
             device, as RAID-0 does here, so a request counts once for each member that it touches" },
        at! { "array.link.bandwidth", link_bandwidth, rate("2147MB/s").optional(), "none",
            "a link between the controller and all members, beside each member's own, and its bandwidth; without it members have \
             only their own. The pages of one operation of a member cross it at a time, in either direction and as a whole, and \
             the first that has come goes first: those of a write before its member is given it, those of a read after its member \
             is done. Trims and flushes take no time on it, but go in their turn. The array's own work and its parity cross it as \
             the host's data does. The time counts as link, and an operation on it or waiting for it still counts for \
             queue_depth. DiskSim's bus between the controller and the devices is such a link" },
        at! { "array.interface", knowledge.interface, choice(INTERFACES).quiet(), "command",
            "what members reveal and accept, each with all that comes before it: only how long answers take; a status that can be \
             asked for; windows to collect in; operations refused at once instead of waiting for collection; word of when they \
             collect, and orders to do so" },
        at! { "array.poll", knowledge.poll if asks, needs needs_log, positive_time(), "10ms",
            "how often members are asked for their status so that reads can avoid those that collect (interface = \"log\")" },
        by! { "array.reads",
            choice(&[("wait", Reads::Wait), ("avoid", Reads::Avoid(Avoid::Longest))])
                .saying("\"wait\" or \"avoid\"; \"avoid\" needs redundancy, and interface = \"log\", \"busy\" or \"command\""),
            |array, reads, _, field| {
                array.knowledge.reads = knowledge::reads(array, reads, field)?;
                Ok(())
            },
            |key, array| if avoids(array) { key.show(&array.knowledge.reads) } else { None },
            "wait",
            "what a read does when its member is known to collect: it waits, or its data is read from another copy or rebuilt \
             from the other members; a policy with a rule of its own for reads goes by that" },
        by! { "array.nvram",
            size(0, ANY).quiet().saying("a size such as \"64MiB\", a multiple of the page size; \"0B\": none"),
            |array, size, _, field| {
                array.knowledge.nvram = whole_pages(field, size, array.page_size())?;
                Ok(())
            },
            |key, array| key.show(&array.knowledge.nvram),
            "0B", "room in which writes to members that collect are kept until these have time" },
    ]),
    (&*BITMAP_DELAY, vec![
        at! { "array.page_errors", faults.page_errors, below(0.0, 1.0, "leaves no page that can be read").quiet(), "0",
            "share of page reads that find the page unreadable; with redundancy it is read from the other members and written \
             anew" },
    ]),
    (&*REBUILD, vec![
        at! { "array.rebuild.min_rate", faults.rebuild.min_rate if says_rebuild,
            rate("").saying("a rate such as \"1MB/s\", at least 1KB/s, at most `max_rate`"), "1000KiB/s",
            "bytes of a member a second while requests are under way; md's sync_speed_min" },
        at! { "array.rebuild.max_rate", faults.rebuild.max_rate if says_rebuild, rate("200MB/s"), "200000KiB/s",
            "bytes of a member a second while there are no requests; md's sync_speed_max" },
        at! { "array.rebuild.depth", faults.rebuild.depth if says_rebuild, count(1, 256), "4", "steps under way at a time" },
        by! { "array.rebuild.step",
            size(1, 64 << 20).saying("a size such as \"512KiB\", a multiple of the page size, at most 64MiB"),
            |array, step, _, field| {
                array.faults.rebuild.step = whole_pages(field, step, array.page_size())?;
                Ok(())
            },
            |key, array| if says_rebuild(array) { key.show(&array.faults.rebuild.step) } else { None },
            "512KiB", "bytes of a member that are rebuilt at a time, during which requests for them wait" },
        at! { "array.rebuild.delay", faults.rebuild.delay if says_rebuild, long_time(0).quiet().saying("a time such as \"30s\""), "0s",
            "time from a failure until a spare is in its place, besides two messages to it" },
        at! { "array.lifetime.replace", lifetime.replace if says_years, needs needs_redundancy, choice(REPLACE), "death",
            "when the years of an array have members replaced: each when it is worn out; each at an age; in turn, so that a \
             member at the mean rate serves until that age; all when the first has that age" },
        at! { "array.lifetime.replace_at", lifetime.replace_at if says_years, needs needs_redundancy, share(0.01, 1.0), "90%",
            "that age, as a share of the mean life of a drive" },
        at! { "array.lifetime.shares", lifetime.shares if says_years, needs needs_redundancy, choice(SHARES), "fixed",
            "who has which of array.parity_shares over the years: each place its own; the oldest member the largest (Diff-RAID); \
             or shares chosen at each replacement so that ages come closest to those which then repeat" },
        at! { "array.lifetime.failure_rate", lifetime.failure_rate if says_years, needs needs_redundancy, share(0.0, 1.0), "0.44%",
            "failures of a drive a year that have nothing to do with wear; an assumption: 2 million hours between failures, as data \
             sheets have it" },
        at! { "array.lifetime.unreadable", lifetime.unreadable if says_years, needs needs_redundancy, number(0.0, 1.0), "1e-16",
            "probability that a bit cannot be read in a rebuild; an assumption: the most that JESD218 allows enterprise drives" },
    ]),
    (&*POLICY, vec![
        at! { "array.coordination.message_latency", coordination.message_latency, time(), "0us",
            "time of a message between controller and device, one way" },
    ]),
]));
