//! Keys of `[ssd]`, one member device: each with its place in the configuration.

use std::sync::LazyLock;

use harmonia_flash::{CommandOrder, Commands, Copyback, LinkOrder, PageTimes, ReadRetry};
use harmonia_ssd::{
    Allocation, AllocationUnit, Arbitration, BeginsAt, Destination, Domain, Drain, FreeList, Frontiers,
    LastProgram, LevelingConfig, MAPPING_ENTRY, Order, Pacing, PolicyConfig, Priority, Rating, Scale,
    SsdConfig, Superblock, Trigger, WearConfig, WriteCacheConfig,
};
use harmonia_types::{SimDuration, units};

use super::held::{Draft as _, Held, Place, at, by};
use super::kinds::{
    Kind, above, amount, choice, count, device_preset, flag, is_integer, is_list, meant, opened, policy,
    positive_time, rate, share, size, table, threshold, time,
};
use super::{Form, Key};
use crate::error::Parsed;
use crate::presets::device;
use crate::read::{Field, Section};
use crate::shown::Shown;
use crate::ssd::{CONCURRENCY, Draft, OLD_KEYS, PLACEMENT, SCHEDULE, VICTIM};

type Drafted = Draft;

/// Operations that a device, or an array, is given at once at most.
pub(super) const MOST_DEPTH: u32 = 65_535;

fn page_size() -> Kind<u32> {
    let is_page = |bytes: &u64| *bytes <= 1 << 20 && bytes.is_multiple_of(512);
    size(512, u64::MAX)
        .checked(is_page, "is not a page size")
        .map(|bytes| bytes as u32, |bytes| Some((*bytes).into()))
        .saying("a size such as \"4KiB\", a multiple of 512B, at most 1MiB")
}

/// One time for all pages, or a list of one for each type of page.
fn page_times() -> Kind<PageTimes> {
    let one = positive_time().map(PageTimes::same, |times| times.is_same().then(|| times.first()));
    let by_type = positive_time().list(1, PageTimes::MOST).map(
        |times| PageTimes::by_type(&times).expect("one to three times"),
        |times| Some(times.times().to_vec()),
    );
    one.or(is_list, by_type).saying(
        "a time above 0 such as \"25us\", or a list of 2 (MLC) or 3 (TLC) such as [\"50us\", \"78us\", \"106us\"]; each at most 1h",
    )
}

/// `1`, or one part in so many.
fn fraction() -> Kind<Scale> {
    const WORDS: &str = "\"1\" or a fraction such as \"1/16\", down to \"1/65536\"";
    let read = |text: &str| match text.trim().split_once('/') {
        None if text.trim() == "1" => Ok(Scale::default()),
        Some(("1", divisor)) => match divisor.parse() {
            Ok(divisor @ 1..=65_536) => Ok(Scale::one_in(divisor)),
            _ => Err("is out of range".to_owned()),
        },
        _ => Err("is not one part in a whole number of parts".to_owned()),
    };
    let whole = count(1, 1).map(|_| Scale::default(), |_| None);
    meant(WORDS, read, Scale::to_string).or(is_integer, whole).saying(WORDS).quiet()
}

/// `off`, `drive`, or so many dies.
fn superblock() -> Kind<Superblock> {
    const WORDS: &str = "\"off\", \"drive\" (all its dies) or a number of dies";
    let dies = count(1, 65_535).map(Superblock::Dies, |superblock| match superblock {
        Superblock::Dies(dies) => Some(*dies),
        Superblock::Off | Superblock::Drive => None,
    });
    let names = choice(&[("off", Superblock::Off), ("drive", Superblock::Drive)]);
    names.or(is_integer, dies).saying(WORDS).quiet()
}

fn suspend() -> Kind<Option<SimDuration>> {
    time().or_none().saying("\"none\" (it cannot) or a time such as \"20us\", at most 1h")
}

/// Terabytes written, shown in decimal units as data sheets have them.
fn written_bytes() -> Kind<u64> {
    const GIGABYTE: u64 = 1_000_000_000;
    let read = size(1_000_000, 1 << 62);
    Kind::new(
        Form::Size,
        "a size such as \"7008TB\", 1MB to 4EiB",
        move |field| read.read(field),
        |&bytes| {
            let is_plain = bytes.is_multiple_of(GIGABYTE) && bytes < 1 << 53;
            let terabytes = || format!("{}TB", bytes as f64 / 1e12);
            Some(if is_plain { terabytes() } else { units::format_bytes(bytes) }.into())
        },
    )
}

/// How long a page is on the bus.
pub(crate) enum Transfer {
    Page(SimDuration),
    /// Bytes a second: a page's time follows once its size is known.
    Rate(f64),
}

/// `105.6us` a page, or `166MT/s`: megatransfers, one byte each.
fn transfer() -> Kind<Transfer> {
    let page = time().map(Transfer::Page, |transfer| match transfer {
        Transfer::Page(time) => Some(*time),
        Transfer::Rate(_) => None,
    });
    let words = "a time per page (\"105.6us\") or a rate, one byte a transfer (\"166MT/s\")";
    let rate = Kind::new(Form::Transfers, words, transfers, |_| None);
    page.or(|value| value.text().and_then(scaled).is_some(), rate).saying(words)
}

/// A number of transfers, and how many a second its unit stands for.
fn scaled(text: &str) -> Option<(&str, f64)> {
    let units = [("GT/s", 1e9), ("MT/s", 1e6), ("kT/s", 1e3)];
    units.iter().find_map(|(unit, scale)| Some((text.trim().strip_suffix(unit)?.trim(), *scale)))
}

fn transfers(field: &Field<'_>) -> Parsed<Transfer> {
    let (number, scale) = field.node.value.text().and_then(scaled).unwrap_or_default();
    // The reader of bytes refuses signs, exponents and the like.
    let is_plain = units::parse_bytes(&format!("{number}B")).is_ok();
    match number.replace('_', "").parse::<f64>().unwrap_or(0.0) * scale {
        rate if is_plain && (1e3..=1e12).contains(&rate) => Ok(Transfer::Rate(rate)),
        _ => Err(field.fault("is out of range: 1kT/s to 1000GT/s")),
    }
}

/// `dynamic`, or the letters of an order; three of them leave the plane open.
fn allocation() -> Kind<Allocation> {
    meant(
        "\"dynamic\", or the letters c, w, d, p or c, w, d in any order, such as \"cwdp\", \"pdwc\" or \"cwd\"",
        |text| match text {
            "dynamic" => Ok(Allocation::Dynamic),
            letters => {
                let fixed = Order::parse(letters).map(Allocation::Static);
                let open = || Order::of_dies(letters).map(Allocation::DynamicPlane);
                let fault = "is not an order of the letters c, w, d and p, each once, nor of c, w and d";
                fixed.or_else(open).ok_or_else(|| fault.to_owned())
            }
        },
        |allocation| match allocation {
            Allocation::Static(order) => order.to_string(),
            Allocation::DynamicPlane(order) => order.dies(),
            Allocation::Dynamic => "dynamic".to_owned(),
        },
    )
}

const DOMAINS: &[(&str, Domain)] = &[
    ("die", Domain::Die),
    ("device", Domain::Device),
    ("plane", Domain::Plane),
    ("channel", Domain::Channel),
];

/// For a key that is read before all others, or with the table around it.
fn elsewhere(_: &mut Draft, (): (), _: &Section<'_>, _: &Field<'_>) -> Parsed<()> {
    Ok(())
}

/// Commands are not said where the preset does not say them either, so that scenarios of before read as they did.
fn says_commands(ssd: &SsdConfig) -> bool {
    let says = |ssd: &SsdConfig| ssd.timing.command != Commands::NONE;
    says(ssd) || device::find(&ssd.preset).is_some_and(|preset| says(&preset))
}

/// Programs of one page go without saying, unless the preset has others.
fn programs_planes(ssd: &SsdConfig) -> bool {
    let says = |ssd: &SsdConfig| ssd.geometry.program_planes != 1;
    says(ssd) || device::find(&ssd.preset).is_some_and(|preset| says(&preset))
}

fn programs_pages(ssd: &SsdConfig) -> bool {
    let says = |ssd: &SsdConfig| ssd.geometry.program_pages != 1;
    says(ssd) || device::find(&ssd.preset).is_some_and(|preset| says(&preset))
}

/// That programs of the host are not suspended is said where the preset suspends them.
fn says_host_programs(ssd: &SsdConfig) -> bool {
    let says = |ssd: &SsdConfig| ssd.timing.suspend_host_program.is_some();
    says(ssd) || device::find(&ssd.preset).is_some_and(|preset| says(&preset))
}

fn says_minimum_run(ssd: &SsdConfig) -> bool {
    let says = |ssd: &SsdConfig| ssd.timing.minimum_run != SimDuration::ZERO;
    says(ssd) || device::find(&ssd.preset).is_some_and(|preset| says(&preset))
}

fn has_bursts(ssd: &SsdConfig) -> bool {
    ssd.gc.trigger == Trigger::Bursts
}

/// Nothing but a burst leaves the host a share.
fn needs_bursts(ssd: &SsdConfig, _: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    if has_bursts(ssd) {
        return Ok(());
    }
    let problem = "only bursts of collection leave the host a share";
    Err(field.fault_allowing(problem, "no `host_share`, or ssd.gc.trigger = \"bursts\""))
}

/// Only a program that carries several mapping units can have a rest.
fn needs_joined(ssd: &SsdConfig, _: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    let geometry = &ssd.geometry;
    let is_joined =
        ssd.mapping_unit() < geometry.page_size || geometry.program_planes > 1 || geometry.program_pages > 1;
    if is_joined {
        return Ok(());
    }
    let problem = "a program carries one mapping unit, so the last one of a victim is full";
    Err(field.fault_allowing(problem, "no `last_program`, or a mapping unit smaller than a program"))
}

fn says_last_program(ssd: &SsdConfig) -> bool {
    let says = |ssd: &SsdConfig| ssd.gc.last_program != LastProgram::default();
    says(ssd) || device::find(&ssd.preset).is_some_and(|preset| says(&preset))
}

/// Where events begin is not said if the schedule says it, unless the preset says another thing.
fn says_begins_at(ssd: &SsdConfig) -> bool {
    let says = |ssd: &SsdConfig| ssd.gc.begins_at != BeginsAt::default();
    says(ssd) || device::find(&ssd.preset).is_some_and(|preset| says(&preset))
}

/// That commands take no time goes without saying.
fn says_overhead(ssd: &SsdConfig) -> bool {
    ssd.controller.command_overhead > SimDuration::ZERO
}

/// That no page is read again goes without saying.
fn reads_again(ssd: &SsdConfig) -> bool {
    !ssd.timing.read_retry.is_off()
}

/// What is never read again takes no steps.
fn needs_retries(ssd: &SsdConfig, _: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    if ssd.timing.read_retry.is_off() {
        let problem = "no page is read again without a `probability`";
        return Err(field.fault_allowing(problem, "no `step`, or a `probability` above 0%"));
    }
    Ok(())
}

fn needs_suspending(ssd: &SsdConfig, _: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    let timing = &ssd.timing;
    let any = timing.suspend_program.or(timing.suspend_erase).or(timing.suspend_host_program);
    if timing.most_suspends.is_some() && any.is_none() {
        let allowed =
            "no `most_suspends`, or a time for `suspend_program`, `suspend_erase` or `suspend_host_program`";
        return Err(field.fault_allowing("nothing of this drive is suspended", allowed));
    }
    Ok(())
}

/// Without a cache there is nothing to hold up.
fn says_cap(ssd: &SsdConfig) -> bool {
    ssd.controller.units_per_second.is_some() && !ssd.write_cache.is_none()
}

/// Units are counted where they leave the cache.
fn caps_cache(ssd: &SsdConfig, _: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    if ssd.write_cache.is_none() && field.node.value.text() != Some("none") {
        let problem = "only what leaves a write cache can be held up";
        return Err(field.fault_allowing(problem, "no `units_per_second`, or a `size` of ssd.write_cache"));
    }
    Ok(())
}

fn says_controller(ssd: &SsdConfig) -> bool {
    let says = |ssd: &SsdConfig| !ssd.controller.is_none();
    says(ssd) || device::find(&ssd.preset).is_some_and(|preset| says(&preset))
}

/// Nothing is said of a write cache where there is none, unless the preset has one.
fn says_cache(ssd: &SsdConfig) -> bool {
    let says = |ssd: &SsdConfig| ssd.write_cache != WriteCacheConfig::default();
    says(ssd) || device::find(&ssd.preset).is_some_and(|preset| says(&preset))
}

/// Programs of all their planes go without saying.
fn drains_in_part(ssd: &SsdConfig) -> bool {
    !ssd.write_cache.drain.is_full()
}

/// That nothing is paced goes without saying.
fn paces(ssd: &SsdConfig) -> bool {
    !ssd.write_cache.pacer.is_off()
}

/// Nothing but a cache takes writes before they are programmed.
fn needs_cache(ssd: &SsdConfig, _: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    if ssd.write_cache.is_none() {
        let problem = "only a write cache can be paced";
        return Err(field.fault_allowing(problem, "no `pacer`, or a `size` of ssd.write_cache"));
    }
    Ok(())
}

/// That memory holds the whole map goes without saying.
fn says_mapping_cache(ssd: &SsdConfig) -> bool {
    ssd.ftl.mapping_cache.is_some()
}

fn says_mapping_entry(ssd: &SsdConfig) -> bool {
    ssd.ftl.mapping_entry != MAPPING_ENTRY
}

/// A map that memory holds is not divided.
fn needs_mapping_cache(ssd: &SsdConfig, _: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
    if ssd.ftl.mapping_cache.is_none() {
        let problem = "the memory of this drive holds its whole map";
        return Err(field.fault_allowing(problem, "no `mapping_entry`, or a size as `mapping_cache`"));
    }
    Ok(())
}

/// A policy with its own keys.
fn table_of(policy: &PolicyConfig) -> Shown {
    let mut table = Shown::table();
    table.put("policy", Some(policy.policy.as_str().into()));
    table.own(&policy.own);
    table
}

/// A name alone where no key of the policy is written.
fn name_or_table(policy: &PolicyConfig) -> Shown {
    if policy.own.is_empty() { policy.policy.as_str().into() } else { table_of(policy) }
}

const PRESET: &str = "preset";

/// In the order in which they are documented.
#[rustfmt::skip]
pub(crate) static KEYS: LazyLock<Vec<Box<dyn Held<Drafted>>>> = LazyLock::new(|| vec![
    by! { "ssd.preset", device_preset("the name of a device preset"), elsewhere, |_, ssd| Some(ssd.preset.as_str().into()),
        "msr-slc-32g", "device preset, which the keys below change" },
    at! { "ssd.scale", scale, fraction(), "1",
        "the part of the drive that is simulated. It has fewer blocks, and where one program joins blocks of several planes shorter \
         ones; dies, channels and times stay. Addresses of a trace are folded, and years are those of the full drive" },
    at! { "ssd.geometry.channels", geometry.channels, count(1, 1024), PRESET, "channels of the device" },
    at! { "ssd.geometry.chips_per_channel", geometry.chips_per_channel, count(1, 1024), PRESET, "chips on a channel" },
    at! { "ssd.geometry.dies_per_chip", geometry.dies_per_chip, count(1, 1024), PRESET, "dies in a chip" },
    at! { "ssd.geometry.planes_per_die", geometry.planes_per_die, count(1, 64), PRESET, "planes in a die" },
    at! { "ssd.geometry.blocks_per_plane", geometry.blocks_per_plane, count(1, 1 << 20), PRESET, "raw blocks in a plane" },
    at! { "ssd.geometry.pages_per_block", geometry.pages_per_block, count(1, 65_535), PRESET, "raw pages in a block" },
    at! { "ssd.geometry.page_size", geometry.page_size, page_size(), PRESET, "size of a page" },
    at! { "ssd.geometry.summary_pages", geometry.summary_pages, count(0, 65_534).saying("a whole number below `pages_per_block`"),
        PRESET, "last pages of a block, which hold its summary and no data" },
    at! { "ssd.geometry.own_pins", geometry.own_pins, flag(), PRESET,
        "whether every die has its own pins; if so, dies share no bus" },
    at! { "ssd.geometry.program_planes", geometry.program_planes if programs_planes, count(1, 64), PRESET,
        "planes of a die that one program writes, a page of each; their blocks at one place are erased as one, and together they \
         count as one plane. Above 1 it needs a write cache" },
    at! { "ssd.geometry.program_pages", geometry.program_pages if programs_pages, count(1, PageTimes::MOST as u32), PRESET,
        "pages of a block that one program writes: those of all types that share cells, such as 3 of TLC. `read` may then have a \
         time for each type, and `program` has one. Above 1 it needs a write cache" },
    at! { "ssd.timing.read", timing.read, page_times(), PRESET,
        "array read of a page; a list: by the type of the page, least significant bits first. Of two types pages have one \
         after the other. Of three, pages 0 to 5 have the first, 6 and 7 the second, and then two pages each in turn (MQSim)" },
    at! { "ssd.timing.program", timing.program, page_times(), PRESET,
        "program of a page; a list as for `read`. With lists, a blocking collection goes page by page" },
    at! { "ssd.timing.erase", timing.erase, positive_time(), PRESET, "erase of a block" },
    by! { "ssd.timing.transfer", transfer(), Draft::transfer, |key, ssd| key.show(&Transfer::Page(ssd.timing.transfer)), PRESET,
        "time to move a page between die and controller" },
    by! { "ssd.timing.command",
        time().or_table()
            .saying("a time such as \"290ns\", or a table such as { read = \"290ns\", program = \"361ns\", erase = \"220ns\" \
                     }; at most 1h"), Draft::command, |_, _| None, PRESET,
        "time that a command and its address occupy the bus, of every kind or each kind apart" },
    at! { "ssd.timing.command.read", timing.command.read if says_commands, time(), PRESET,
        "command and address of a read, before the array works; once for each plane of a multi-plane read" },
    at! { "ssd.timing.command.program", timing.command.program if says_commands, time(), PRESET,
        "command and address of a program, on the bus together with the page; alone where collection copies a page back" },
    at! { "ssd.timing.command.erase", timing.command.erase if says_commands, time(), PRESET,
        "command and address of an erase" },
    at! { "ssd.timing.command.order", timing.command.order if says_commands,
        choice(&[("fifo", CommandOrder::Fifo), ("after-data", CommandOrder::AfterData)]), PRESET,
        "what a command waits for on a shared bus, programs and their pages included. fifo: what asked before it; after-data: \
         also every page that was read and waits to go out. Priorities (ssd.ftl.priority) hold among each" },
    at! { "ssd.timing.copyback", timing.copyback,
        choice(&[("none", Copyback::None), ("plane", Copyback::Plane), ("die", Copyback::Die)]), PRESET,
        "how far garbage collection can move a page without transferring it" },
    at! { "ssd.timing.suspend_program", timing.suspend_program, suspend(), PRESET,
        "suspending a program: time until the die takes another command" },
    at! { "ssd.timing.suspend_erase", timing.suspend_erase, suspend(), PRESET,
        "suspending an erase: time until the die takes another command" },
    at! { "ssd.timing.suspend_host_program", timing.suspend_host_program if says_host_programs, suspend(), PRESET,
        "suspending a program of the host for a read of the host, under any schedule: time until the die takes the read" },
    at! { "ssd.timing.minimum_run", timing.minimum_run if says_minimum_run, time(), PRESET,
        "how long the array of a program or an erase works at least before a read suspends it, since it began or was resumed" },
    at! { "ssd.timing.most_suspends", timing.most_suspends, needs needs_suspending, count(1, 65_535).optional(), "none",
        "how often a program or an erase is suspended at most. Reads that come later wait until it ends" },
    at! { "ssd.timing.resume", timing.resume, time(), PRESET,
        "time added to the rest of a suspended operation when it continues" },
    by! { "ssd.timing.read_retry", table("a table with `probability` and `step`"), Draft::read_retry, |_, _| None, "off",
        "how often a page is read again because what was read could not be corrected" },
    at! { "ssd.timing.read_retry.probability", timing.read_retry.probability if reads_again, share(0.0, ReadRetry::MOST), "0%",
        "that a die reads a page again after an attempt, and then again: k more reads have the probability p^k (1 - p), each page by \
         itself. Reads of collection are no different" },
    at! { "ssd.timing.read_retry.step", timing.read_retry.step if reads_again, needs needs_retries, positive_time().optional(), "as the first read",
        "how long the die works for each further read of a page" },
    at! { "ssd.link.bandwidth", link.bandwidth, rate("300MB/s"), PRESET, "bandwidth of the host link" },
    at! { "ssd.link.latency", link.latency, time(), PRESET, "latency of the host link, added once to every sub-request" },
    at! { "ssd.link.order", link.order, choice(&[("ready", LinkOrder::Ready), ("arrival", LinkOrder::Arrival)]).quiet(),
        "ready",
        "when an operation queues at its die. ready: a write when its data is over the link, a read at once, so that it may \
         overtake earlier writes; arrival: not before the data of every earlier write is over the link, as on a SCSI bus" },
    at! { "ssd.link.queue_depth", link.queue_depth, count(1, MOST_DEPTH).optional(), "none",
        "operations that the device has at once at most, each of any length; the rest wait in the array, in the order in \
         which they came, and an operation makes room when its last page is over the link; the array's own work, such as \
         rebuild, scrub and resync, counts and waits as the host's does (DiskSim's SSD model: 20)" },
    at! { "ssd.controller.command_window", controller.command_window if says_controller,
        count(1, MOST_DEPTH).or_none().saying("\"none\" or a whole number, 1 to 65535"), PRESET,
        "commands that the drive has fetched from the queues of its host and not completed at most, each of any length; the rest wait in \
         these queues. Beside `ssd.link.queue_depth`, which the array keeps in one line, the drive has a queue for each stream or volume of \
         the load and one for the array's own work, and chooses among them" },
    at! { "ssd.controller.arbitration", controller.arbitration if says_controller,
        choice(&[("round-robin", Arbitration::RoundRobin), ("fifo", Arbitration::Fifo)]), PRESET,
        "which command the drive fetches next. round-robin: the first of each queue in turn; fifo: the first that came" },
    at! { "ssd.controller.command_overhead", controller.command_overhead if says_overhead, time(), "0us",
        "what the controller needs for each command of the host or the array, one after the other, before the data of a write goes over \
         the link" },
    at! { "ssd.controller.units_per_second", controller.units_per_second if says_cap, needs caps_cache,
        count(1, 10_000_000).or_none().saying("\"none\" or a whole number, 1 to 10000000"), "none",
        "mapping units that the controller moves to dies in a second at most, copies of collection among them. What the write cache would \
         hand over waits there; copies do not wait" },
    at! { "ssd.write_cache.size", write_cache.size if says_cache, size(512, 1 << 40).or_none()
            .saying("\"none\" or a size such as \"12MiB\", at least a page, or where a program carries several mapping units at \
                     least a program for each allocation unit (two programs where ssd.ftl.allocation is \"dynamic\")"), PRESET,
        "what the write cache in front of the dies holds. A write is answered when it has a place there, and holds it until its \
         pages are programmed; the next one waits. It gathers what one program carries. none: a write is answered when it is programmed" },
    at! { "ssd.write_cache.power_protected", write_cache.power_protected if says_cache, flag(), PRESET,
        "whether the cache outlives a loss of power. If so, a flush has nothing to wait for; if not, it waits until all that \
         came before it is programmed, a write with FUA until it is itself, and a loss of power takes what no program has taken" },
    at! { "ssd.write_cache.ack", write_cache.ack if says_cache, time(), PRESET,
        "from the moment at which a page has a place in the cache until the write is answered" },
    at! { "ssd.write_cache.drain", write_cache.drain if drains_in_part,
        choice(&[("full", Drain::Full), ("partial", Drain::Partial)]), "full",
        "when pages leave the cache, where a program writes several planes. full: when they fill a program; partial: also when a die \
         idles and they fill the pages of one plane or more. Its program then writes these planes only and takes as long, and the next one \
         writes the others. Nothing is padded for that" },
    at! { "ssd.write_cache.pacer", write_cache.pacer if paces, needs needs_cache,
        choice(&[("off", Pacing::Off), ("collection", Pacing::Collection)]), "off",
        "how fast the cache takes writes. off: as they come, while it has room; collection: while something is to be collected, at the rate \
         at which collection wins pages, so that waits grow towards saturation" },
    at! { "ssd.ftl.reserved_blocks", ftl.reserved_blocks,
        amount().saying("a share of the raw blocks (\"15%\"), a number of blocks per allocation unit, or bytes of the device (\"64GiB\")"), PRESET,
        "over-provisioning, (T - U)/T of all T blocks" },
    at! { "ssd.ftl.allocation", ftl.allocation, allocation(), PRESET,
        "which die a logical page goes to; dynamic: the die with the shortest queue among those that do not collect, or of a superblock \
         the least loaded one; letters: \
         by page number, through channels, ways (chips), dies and planes, the first letter fastest (where dies own their \
         blocks, p has no effect); without p a write goes to the plane of that die with the most free pages (where planes own \
         their blocks)" },
    at! { "ssd.ftl.mapping_unit", ftl.mapping_unit, page_size().optional(), "preset, or the size of a page",
        "bytes that one entry of the map stands for, and of which a write of a part reads the rest: a page, an equal part of one, or k \
         pages, where k divides `ssd.geometry.program_planes`. Counts of pages are then counts of units. Below the size of a page it needs a \
         write cache. Above it pages of that size lie in fewer planes: the drive is shown and stored so, and a read of a part reads the whole \
         unit" },
    at! { "ssd.ftl.mapping_cache", ftl.mapping_cache if says_mapping_cache, size(512, 1 << 40).or_none()
            .saying("\"none\" or a size such as \"64MiB\", at least a mapping unit"), "none",
        "what the memory of the drive holds of its map, which has an entry for each mapping unit. The rest is read from flash when it is \
         needed, and changed pages of the map are written when they leave. It is empty when a run begins. With `ssd.scale` it keeps its share \
         of the map. What collection moves changes entries that are not there; when these take as much room as the cache, requests wait until some are read. Not with superblocks, an allocation that leaves the die or plane to the device, or a write cache that drains in part. \
         none: memory holds the whole map" },
    at! { "ssd.ftl.mapping_entry", ftl.mapping_entry if says_mapping_entry, needs needs_mapping_cache,
        count(1, 4096).saying("a number of bytes, 1 to 4096, at most a mapping unit"), "4",
        "what an entry of the map takes, which says how many entries are read together" },
    at! { "ssd.ftl.allocation_unit", ftl.allocation_unit,
        choice(&[("die", AllocationUnit::Die), ("plane", AllocationUnit::Plane)]), PRESET,
        "what owns a write frontier and free blocks" },
    at! { "ssd.ftl.superblock", ftl.superblock, superblock(), "off",
        "dies whose blocks are written, chosen and erased as one superblock, which has a block of every plane of these dies. Programs go \
         from die to die in turn, or with a dynamic allocation to the least loaded. Reclaim units of NVMe's flexible data placement are such superblocks" },
    at! { "ssd.ftl.frontiers", ftl.frontiers, choice(&[("shared", Frontiers::Shared), ("separate", Frontiers::Separate)]),
        PRESET, "whether host pages and collected pages share a write frontier" },
    by! { "ssd.ftl.placement", policy("the name of a placement policy, or a table with `policy` and the policy's own keys"),
        |draft, (), ftl, field| draft.policy(ftl, field, &PLACEMENT),
        |_, ssd| Some(name_or_table(&ssd.ftl.placement)).filter(|_| ssd.ftl.placement.policy != "frontiers"), "frontiers",
        "to which write frontier a page goes: by the handle of its stream, by its age, by how often it was written or moved. \
         Pages of different frontiers share no block. frontiers: as ssd.ftl.frontiers says, which all other policies leave out of account" },
    by! { "ssd.ftl.placement.policy", opened(Form::Policy, "the name of a placement policy"), elsewhere, |_, _| None, "frontiers",
        "placement policy" },
    at! { "ssd.ftl.priority", ftl.priority, choice(&[("fifo", Priority::Fifo), ("reads-first", Priority::ReadsFirst)]), PRESET,
        "order of host operations at a die, and of transfers on a shared bus; at a die collection goes before both" },
    at! { "ssd.ftl.multi_plane", ftl.multi_plane, flag(), PRESET,
        "whether host reads and programs of sibling planes with the same page offset share a multi-plane command" },
    at! { "ssd.ftl.open_blocks", ftl.open_blocks, count(1, 64), "2",
        "partly written blocks that a unit may have, for schedules that open one when they collect" },
    at! { "ssd.ftl.free_list", ftl.free_list, choice(FreeList::REGISTRY).quiet(), "fifo",
        "which free block is opened next. fifo: the one that was erased first; least-worn: the one with the fewest erases, which \
         is dynamic wear levelling" },
    at! { "ssd.gc.domain", gc.domain,
        choice(DOMAINS).saying("\"die\", \"device\", \"channel\" or \"plane\" (where planes own their blocks)"), PRESET,
        "what collects together" },
    at! { "ssd.gc.trigger", gc.trigger,
        choice(&[
            ("foreground", Trigger::Foreground), ("background", Trigger::Background),
            ("proportional", Trigger::Proportional), ("bursts", Trigger::Bursts),
        ]),
        PRESET,
        "when thresholds are checked, and whether collection shares a die's work with the host's writes. foreground: before a die \
         serves the host; background: also when it goes idle. proportional: as foreground, and collection's share grows from \
         nothing at the soft threshold to all at the hard one; bursts: as foreground, and from the soft threshold to the stop \
         threshold it has all but `host_share`. With these two reads go before collection even at the hard threshold, and the schedule \
         is one that lets the host go between steps, such as preemptive" },
    at! { "ssd.gc.host_share", gc.host_share if has_bursts, needs needs_bursts, share(0.01, 0.99), "15%",
        "with trigger \"bursts\": the share of a die's work that the host's writes have while it collects" },
    at! { "ssd.gc.hard_threshold", gc.hard_threshold,
        amount().saying("blocks per allocation unit (5), a share, floored (\"5%\"), or bytes of the device (\"8GiB\")"), PRESET,
        "a unit collects when it has this many free blocks or fewer" },
    at! { "ssd.gc.soft_threshold", gc.soft_threshold, threshold(), PRESET, "free blocks at or below which a device registers" },
    at! { "ssd.gc.stop_threshold", gc.stop_threshold, threshold(), PRESET, "an event ends when free exceeds this" },
    at! { "ssd.gc.begins_at", gc.begins_at if says_begins_at,
        choice(&[("schedule", BeginsAt::Schedule), ("soft", BeginsAt::Soft)]), PRESET,
        "threshold at which collection begins. schedule: hard, or soft under schedules that let the host go first until hard; \
         the device is aged at hard. soft: soft under every schedule, and the device is aged there" },
    at! { "ssd.gc.min_victims", gc.min_victims, count(1, 65_536), PRESET, "victims an event takes at least" },
    by! { "ssd.gc.victim", policy("the name of a victim policy, or a table with `policy` and the policy's own keys"),
        |draft, (), gc, field| draft.policy(gc, field, &VICTIM), |_, ssd| Some(name_or_table(&ssd.gc.victim)), PRESET,
        "which block to collect" },
    by! { "ssd.gc.victim.policy", opened(Form::Policy, "the name of a victim policy"), elsewhere, |_, _| None, PRESET,
        "victim policy" },
    by! { "ssd.gc.victim_d", count(1, 1000), |draft, d, gc, field| draft.old_key(gc, field, &OLD_KEYS[0], d.into()),
        |_, _| None, "none", "older spelling of ssd.gc.victim.d, of d-choices" },
    by! { "ssd.gc.schedule", policy("the name of a schedule, or a table with `policy` and the schedule's own keys"),
        |draft, (), gc, field| draft.policy(gc, field, &SCHEDULE), |_, ssd| Some(name_or_table(&ssd.gc.schedule)), PRESET,
        "whether a die serves the host or collects next" },
    by! { "ssd.gc.schedule.policy", opened(Form::Policy, "the name of a schedule"), elsewhere, |_, _| None, PRESET,
        "schedule" },
    by! { "ssd.gc.slack", time(), |draft, slack, gc, field| draft.old_key(gc, field, &OLD_KEYS[1], slack.to_string().into()),
        |_, _| None, "none", "older spelling of ssd.gc.schedule.slack, of the schedule slack" },
    at! { "ssd.gc.destination", gc.destination,
        choice(&[("unit", Destination::Unit), ("device", Destination::Device)])
            .saying("\"unit\" or (with allocation \"dynamic\") \"device\""),
        PRESET, "where moved pages go: to their own allocation unit, or to the unit of the device with the most free blocks" },
    at! { "ssd.gc.last_program", gc.last_program if says_last_program, needs needs_joined,
        choice(&[("padded", LastProgram::Padded), ("filled", LastProgram::Filled)]), PRESET,
        "what becomes of a victim's last program, which its live data does not fill, where a program carries several mapping units.          padded: the rest of it is padding; filled: live data of the full block that has the fewest goes along" },
    by! { "ssd.gc.concurrency", policy("the name of a policy, or a table with `policy` and the policy's own keys"),
        |draft, (), gc, field| draft.policy(gc, field, &CONCURRENCY), |_, ssd| Some(table_of(&ssd.gc.concurrency)), PRESET,
        "how many channels may collect at once" },
    by! { "ssd.gc.concurrency.policy", opened(Form::Policy, "the name of a policy"), elsewhere, |_, _| None, PRESET,
        "concurrency policy" },
    by! { "ssd.leveling.policy", choice(&[("none", false), ("least-worn", true)]),
        |draft, levels, _, field| {
            draft.config().leveling = levels.then(LevelingConfig::default);
            draft.note(field);
            Ok(())
        },
        |key, ssd| key.show(&ssd.leveling.as_ref().map(|_| true)?), "none",
        "static wear levelling. least-worn: when the erases of the blocks of a unit differ by more than the threshold, the next \
         block to be collected is the least worn full one, so that blocks with data that is never rewritten are used again" },
    by! { "ssd.leveling.threshold", count(1, 1_000_000),
        |draft, erases, _, field| draft.leveling(field, |leveling| leveling.threshold = erases),
        |key, ssd| key.show(&ssd.leveling.as_ref()?.threshold), "130",
        "erases by which the least worn block of a unit may be behind the most worn one" },
    by! { "ssd.leveling.budget", share(0.0, 1.0),
        |draft, share, _, field| draft.leveling(field, |leveling| leveling.budget = share),
        |key, ssd| key.show(&ssd.leveling.as_ref()?.budget), "10%",
        "most blocks that are collected for levelling, as a share of all that are collected" },
    by! { "ssd.wear.endurance", count(1, 10_000_000),
        |draft, endurance, _, field| {
            draft.config().wear.get_or_insert_with(|| WearConfig::of(endurance)).endurance = endurance;
            draft.note(field);
            Ok(())
        },
        |key, ssd| key.show(&ssd.wear.as_ref()?.endurance), "none",
        "erases that a block lasts, the mean of all blocks (program/erase cycles); a block that has had its own number of \
         erases is not used any more. Without it blocks last for ever" },
    by! { "ssd.wear.spread", share(0.0, 0.5), |draft, share, _, field| draft.wear(field, |wear| wear.spread = share),
        |key, ssd| key.show(&ssd.wear.as_ref()?.spread), "10%",
        "standard deviation of the endurance between blocks of a drive; an assumption, because no published measurement was \
         found" },
    by! { "ssd.wear.drive_spread", share(0.0, 0.5),
        |draft, share, _, field| draft.wear(field, |wear| wear.drive_spread = share),
        |key, ssd| key.show(&ssd.wear.as_ref()?.drive_spread), "3%",
        "standard deviation of the mean endurance between drives; an assumption as well. With 0% all drives of an array wear \
         out almost together" },
    by! { "ssd.wear.end_at_spare", share(0.0, 1.0),
        |draft, share, _, field| draft.wear(field, |wear| wear.end_at_spare = share),
        |key, ssd| key.show(&ssd.wear.as_ref()?.end_at_spare), "50%",
        "share of the spare blocks of an allocation unit: when a unit has lost so many, the drive takes no more writes and only \
         serves reads. At least 1 block, and never blocks that collection needs" },
    by! { "ssd.wear.used", share(0.0, 1.0), |draft, share, _, field| draft.wear(field, |wear| wear.used = share),
        |key, ssd| key.show(&ssd.wear.as_ref()?.used), "0%",
        "how old the drive is when the run begins: the share of the mean endurance that all of its blocks have behind them. \
         Erases of ageing come on top; a block that is past its own endurance retires at its next erase" },
    by! { "ssd.rating.dwpd", above(0.0, 1000.0),
        |draft, dwpd, _, field| draft.rated(field, |rated| rated.dwpd = Some(dwpd)),
        |key, ssd| match ssd.rating? {
            Rating::Dwpd { dwpd, .. } => key.show(&dwpd),
            _ => None,
        }, "none",
        "what the data sheet promises: drive writes a day, in usable capacities that the host may write each day of `years`. \
         Reports then say how many years it lasts; nothing else changes. A rating has one of the forms { dwpd = 1, years = 5 }, \
         { tbw = \"7008TB\" } and { cycles = 3000 }" },
    by! { "ssd.rating.years", above(0.0, 100.0),
        |draft, years, _, field| draft.rated(field, |rated| rated.years = Some(years)),
        |key, ssd| match ssd.rating? {
            Rating::Dwpd { years, .. } => key.show(&years),
            _ => None,
        }, "none",
        "years of 365 days for which `dwpd` holds; beside it" },
    by! { "ssd.rating.tbw", written_bytes(), |draft, tbw, _, field| draft.rated(field, |rated| rated.tbw = Some(tbw)),
        |key, ssd| match ssd.rating? {
            Rating::Tbw(bytes) => key.show(&bytes),
            _ => None,
        }, "none",
        "terabytes written: bytes that the host may write in all" },
    by! { "ssd.rating.cycles", count(1, 10_000_000),
        |draft, cycles, _, field| draft.rated(field, |rated| rated.cycles = Some(cycles)),
        |key, ssd| key.show(&ssd.rating?.cycles()?), "none",
        "erases that the blocks endure on average (program/erase cycles), without blocks that wear out as they do with \
         ssd.wear.endurance" },
]);
