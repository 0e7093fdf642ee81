//! Random small arrays that collect garbage often, and random loads that collide.

use harmonia_array::layout::{Copies, Groups, Layout, MOST_COPIES, Pattern, Rotation};
use harmonia_array::{
    ArrayConfig, Avoid, Befalls, CoordinationConfig, DegradedWrites, Fault, Faults, Interface, Knowledge,
    Level, MemberConfig, Reads, Rebuild, Scrub, SmallWrite, StripeCacheConfig, When, coordination,
};
use harmonia_engine::Rng;
use harmonia_flash::{Copyback, Geometry, LinkConfig, ReadRetry, Timing};
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_ssd::{
    Allocation, AllocationUnit, Amount, ControllerConfig, Destination, Domain, Frontiers, FtlConfig,
    GcConfig, HOST_SHARE, Order, Pacing, PolicyConfig, Priority, SsdConfig, Superblock, Trigger,
    WriteCacheConfig,
};
use harmonia_types::registry::{Entry, names};
use harmonia_types::{Deadlines, DeviceId, HostRequest, Operation, SimDuration, SimTime};

use super::content::SECTOR;
use super::volatile::forgets;

/// Members at most.
const MOST_MEMBERS: u64 = 9;

pub(super) fn pick<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.below(choices.len() as u64) as usize]
}

pub(super) fn draw(rng: &mut Rng, from: u64, to: u64) -> u64 {
    from + rng.below(to - from + 1)
}

fn name<F>(rng: &mut Rng, registry: &'static [Entry<F>]) -> String {
    let all: Vec<&str> = names(registry).collect();
    pick(rng, &all).to_owned()
}

/// Every level with every placement; near, far and offset copies with two copies.
pub fn levels() -> Vec<Level> {
    let raid10 = Pattern::ALL.map(|pattern| Level::Raid10(Copies { pattern, count: 2 }));
    let raid5 = Rotation::ALL.into_iter().filter(|rotation| !rotation.is_raid6_only()).map(Level::Raid5);
    let raid6 = Rotation::ALL.map(Level::Raid6);
    let plain = [Level::Raid0, Level::Raid1, Level::Raid4];
    plain.into_iter().chain(raid10).chain(raid5).chain(raid6).collect()
}

/// Declustered parity, with distributed spares and without.
pub fn declustered_levels() -> Vec<Level> {
    let shapes = [(1, 2, 1), (1, 1, 1), (1, 2, 2), (2, 1, 1), (2, 2, 2), (1, 2, 0), (1, 1, 3)];
    shapes.map(|(parities, data, spares)| Level::Draid(Groups { parities, data, spares })).to_vec()
}

/// Seeds from here on are those of declustered arrays.
pub const DECLUSTERED: u64 = 1 << 40;

/// A random array of the level that the seed's turn it is.
pub fn array(seed: u64) -> ArrayConfig {
    let mut rng = Rng::stream(seed, "contents/array");
    let levels = if seed < DECLUSTERED { levels() } else { declustered_levels() };
    let level = levels[(seed % levels.len() as u64) as usize];
    loop {
        let mut config = draw_array(&mut rng, level);
        config.parity_shares = shares(seed, &config);
        write_cache(seed, &mut config);
        sharing(seed, &mut config);
        superblocks(seed, &mut config);
        retries(seed, &mut config);
        mapping(seed, &mut config);
        let layout = config.layout();
        // Units so large that members hold only one or two make arrays without rows to speak of.
        if layout.member_bytes() >= 3 * layout.stripe_unit() && layout.logical_bytes() > 0 {
            return config;
        }
    }
}

/// Shares of parity where it moves, in half of the histories.
fn shares(seed: u64, config: &ArrayConfig) -> Vec<u16> {
    let mut rng = Rng::stream(seed, "contents/shares");
    let stays = [Rotation::ParityFirst, Rotation::ParityLast];
    let moves = matches!(config.level, Level::Raid5(rotation) if !stays.contains(&rotation));
    if !moves || rng.chance(0.5) {
        return Vec::new();
    }
    // The first two have some in any case.
    (0..config.devices).map(|member| rng.below(4) as u16 + u16::from(member < 2)).collect()
}

/// Write caches in the drives of a third of the histories, of a few pages or of many. They have stored power; `volatile` takes it
/// away.
fn write_cache(seed: u64, config: &mut ArrayConfig) {
    let mut rng = Rng::stream(seed, "contents/write cache");
    let pages = pick(&mut rng, &[1, 2, 5, 30, 300]);
    let ack = SimDuration(pick(&mut rng, &[0, 3_000, 50_000]));
    // Drives with a cache refuse no write, so nothing is parked for them.
    let chance = if config.knowledge.nvram > 0 { 0.15 } else { 0.4 };
    if rng.chance(chance) {
        for member in &mut config.members {
            let size = Some(pages * u64::from(member.ssd.geometry.page_size));
            member.ssd.write_cache = WriteCacheConfig { size, ack, ..WriteCacheConfig::default() };
        }
        if Rng::stream(seed, "contents/pacer").chance(0.3) {
            config.members.iter_mut().for_each(|member| member.ssd.write_cache.pacer = Pacing::Collection);
        }
        let mut gate = Rng::stream(seed, "contents/gate");
        if gate.chance(0.3) {
            let most = Some(pick(&mut gate, &[500, 5_000, 100_000]));
            config.members.iter_mut().for_each(|member| member.ssd.controller.units_per_second = most);
        }
        let mut programs = Rng::stream(seed, "contents/programs");
        if programs.chance(0.4) {
            let pages = pick(&mut programs, &[2, 3]);
            config.members.iter_mut().for_each(|member| gather(&mut member.ssd, pages));
        }
    }
}

/// In half of the histories whose schedule lets the host go between steps, collection shares the work of dies.
fn sharing(seed: u64, config: &mut ArrayConfig) {
    let mut rng = Rng::stream(seed, "contents/sharing");
    let trigger = pick(&mut rng, &[Trigger::Proportional, Trigger::Bursts]);
    let host_share = pick(&mut rng, &[0.05, HOST_SHARE, 0.5, 0.95]);
    if rng.chance(0.5) {
        for member in &mut config.members {
            let mut shared = member.ssd.clone();
            (shared.gc.trigger, shared.gc.host_share) = (trigger, host_share);
            if shared.resolve().is_ok() {
                member.ssd = shared;
            }
        }
    }
}

/// In a fifth of the histories dies of a drive share their blocks, all of them or each the planes of its own.
fn superblocks(seed: u64, config: &mut ArrayConfig) {
    let mut rng = Rng::stream(seed, "contents/superblocks");
    let superblock = pick(&mut rng, &[Superblock::Drive, Superblock::Drive, Superblock::Dies(1)]);
    let schedule =
        pick(&mut rng, &["blocking", "after-reads", "ideal", "preemptive", "stepwise", "preemptive"]);
    let allocation = pick(&mut rng, &[Allocation::CWDP, Allocation::Dynamic]);
    if rng.chance(0.8) {
        return;
    }
    for SsdConfig { geometry, ftl, gc, timing, .. } in config.members.iter_mut().map(|member| &mut member.ssd)
    {
        (ftl.superblock, ftl.multi_plane, geometry.summary_pages) = (superblock, false, 0);
        let dies = geometry.channels * geometry.chips_per_channel * geometry.dies_per_chip;
        let alone = dies == 1 || superblock == Superblock::Dies(1);
        ftl.allocation = if alone { Allocation::CWDP } else { allocation };
        ftl.allocation_unit = AllocationUnit::Die;
        (timing.read, timing.program) = (timing.read.first().into(), timing.program.first().into());
        (gc.destination, gc.schedule) = (Destination::Unit, schedule.into());
        gc.concurrency = PolicyConfig::named("unlimited");
        if matches!(schedule, "preemptive" | "stepwise") {
            gc.min_victims = 1;
        }
        gc.domain = if gc.domain == Domain::Device { Domain::Device } else { Domain::Die };
        if gc.trigger.shares_work() && schedule != "preemptive" {
            gc.trigger = Trigger::Foreground;
        }
        if gc.victim.policy == "read-match" {
            gc.victim = "greedy".into();
        }
    }
}

/// A sixth of the histories read pages again.
fn retries(seed: u64, config: &mut ArrayConfig) {
    let mut rng = Rng::stream(seed, "contents/read retry");
    if rng.chance(1.0 / 6.0) {
        let (probability, step) =
            (pick(&mut rng, &[0.01, 0.3, 0.5]), pick(&mut rng, &[None, Some(SimDuration(5_000))]));
        config
            .members
            .iter_mut()
            .for_each(|member| member.ssd.timing.read_retry = ReadRetry { probability, step });
    }
}

/// In a quarter of the histories memory holds one to five pages of the map of a drive that can be so.
fn mapping(seed: u64, config: &mut ArrayConfig) {
    let mut rng = Rng::stream(seed, "contents/mapping");
    let (entries, pages) = (pick(&mut rng, &[2, 4, 8]), pick(&mut rng, &[1, 2, 5]));
    if rng.chance(0.75) {
        return;
    }
    for ssd in config.members.iter_mut().map(|member| &mut member.ssd) {
        let is_static = matches!(ssd.ftl.allocation, Allocation::Static(_));
        if !is_static || !ssd.ftl.superblock.is_off() {
            continue;
        }
        let page = ssd.mapping_unit();
        ssd.ftl.mapping_entry = page / entries;
        ssd.ftl.mapping_cache = Some(pages * u64::from(page));
        let pools = match ssd.ftl.allocation_unit {
            AllocationUnit::Die => ssd.geometry.planes_per_die / ssd.geometry.program_planes,
            AllocationUnit::Plane => 1,
        };
        // Spare for the map, and for what it may lose where blocks wear out.
        let mut more = 2;
        while more > 0 {
            more -= u32::from(ssd.resolve().is_ok());
            let Amount::Blocks(reserved) = &mut ssd.ftl.reserved_blocks else { return };
            *reserved += pools;
            ssd.geometry.blocks_per_plane += 1;
            assert!(ssd.geometry.blocks_per_plane < 200, "{ssd:#?}");
        }
    }
}

/// The drive programs so many pages of a die at once, which its cache gathers: a program at least.
fn gather(ssd: &mut SsdConfig, pages: u32) {
    let geometry = &mut ssd.geometry;
    (geometry.program_pages, geometry.summary_pages) = (pages, 0);
    geometry.pages_per_block *= pages;
    let program = u64::from(geometry.page_size) * u64::from(pages);
    ssd.write_cache.size = ssd.write_cache.size.map(|size| size.max(program));
    ssd.timing.copyback = Copyback::None;
    ssd.ftl.multi_plane = false;
    ssd.gc.destination = Destination::Unit;
    if ssd.gc.schedule.policy.ends_with("io-parallel") {
        ssd.gc.schedule = "preemptive".into();
    }
    // Spare for what blocks may lack of a program.
    while ssd.resolve().is_err() {
        let Amount::Blocks(reserved) = &mut ssd.ftl.reserved_blocks else { return };
        *reserved += 1;
        ssd.geometry.blocks_per_plane += 1;
        assert!(ssd.geometry.blocks_per_plane < 100, "{ssd:#?}");
    }
    // And for what it grows by where blocks wear out.
    if let Amount::Blocks(reserved) = &mut ssd.ftl.reserved_blocks {
        *reserved += 2;
        ssd.geometry.blocks_per_plane += 2;
    }
}

/// A limit of operations at once. Other draws stay as they are.
fn depth(rng: &Rng, chance: f64, most: u64) -> Option<u32> {
    let mut rng = rng.clone();
    rng.chance(chance).then(|| draw(&mut rng, 1, most) as u32)
}

/// Commands that a drive fetches at once. Other draws stay as they are.
fn window(rng: &Rng, chance: f64, most: u64) -> Option<u32> {
    let mut rng = rng.clone();
    // Not the draws that say whether operations are limited and whether members share a link.
    rng.next_u64();
    rng.next_u64();
    depth(&rng, chance, most)
}

/// What a command takes of a drive's controller. Other draws stay as they are.
fn overhead(rng: &Rng, chance: f64) -> SimDuration {
    let mut rng = rng.clone();
    // Not the draws that say how many commands are fetched.
    (0..4).for_each(|_| _ = rng.next_u64());
    SimDuration(if rng.chance(chance) { 1 + rng.below(30_000) } else { 0 })
}

/// A link that members share, on which a page of 4 KiB is 1 to 60 us. Other draws stay as they are.
fn shared_link(rng: &Rng, chance: f64) -> Option<u64> {
    let mut rng = rng.clone();
    // Not the draw that says whether operations are limited.
    rng.next_u64();
    rng.chance(chance).then(|| 4096 * 1_000_000 / draw(&mut rng, 1, 60))
}

fn draw_array(rng: &mut Rng, level: Level) -> ArrayConfig {
    let most = MOST_MEMBERS.min(u64::from(level.most_members()));
    let devices = draw(rng, u64::from(level.least_members()), most) as u16;
    let devices = match level {
        Level::Draid(groups) => {
            let most = (MOST_MEMBERS as u16 - groups.spares) / groups.width();
            groups.spares + groups.width() * draw(rng, 1, u64::from(most)) as u16
        }
        _ => devices,
    };
    let level = match level {
        Level::Raid10(copies) if rng.chance(0.3) => Level::Raid10(Copies {
            count: draw(rng, 2, u64::from(devices.min(MOST_COPIES))) as u16,
            ..copies
        }),
        other => other,
    };
    let page_size = pick(rng, &[512, 512, 4096, 4096, 8192]);
    let ssd = ssd(rng, page_size);
    let stripe_unit = match rng.below(3) {
        0 => page_size,
        // Not a multiple of 4 KiB where pages are smaller: rows of one page.
        1 => page_size * draw(rng, 2, 7),
        _ => page_size.max(4096) * draw(rng, 1, 4),
    };
    let members = (0..devices).map(|_| MemberConfig { capable: rng.chance(0.9), ssd: ssd.clone() }).collect();
    ArrayConfig {
        knowledge: knowledge(rng, level, devices, page_size),
        queue_depth: depth(rng, 0.3, 12),
        link_bandwidth: shared_link(rng, 0.3),
        small_write: pick(
            rng,
            &[SmallWrite::Fewest, SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct],
        ),
        coordination: in_rows(CoordinationConfig::of(
            &name(rng, coordination::REGISTRY),
            SimDuration(pick(rng, &[0, 0, 3_000, 200_000])),
        )),
        ..ArrayConfig::of(level, stripe_unit, members)
    }
}

/// Stripes that float have tests of their own.
fn in_rows(mut coordination: CoordinationConfig) -> CoordinationConfig {
    if coordination.policy == "gaftl" {
        coordination.own.insert("stripes".to_owned(), "rows".into());
    }
    coordination
}

/// Histories from this seed on may have a stripe cache; those before it are as they were without.
pub const CACHED: u64 = 3_000_000;

/// A stripe cache: none, or so few entries that writes wait for them, or enough.
pub fn stripe_cache(seed: u64, config: &ArrayConfig) -> StripeCacheConfig {
    let mut rng = Rng::stream(seed, "contents/cache");
    let sizes =
        if config.level.parities() == 0 || seed < CACHED { &[0][..] } else { &[0, 0, 0, 1, 2, 5, 17, 200] };
    StripeCacheConfig { entries: pick(&mut rng, sizes), delays: rng.chance(0.7) }
}

/// How rows of which something is missing are written.
pub fn degraded_writes(seed: u64) -> DegradedWrites {
    pick(&mut Rng::stream(seed, "contents/degraded"), &[DegradedWrites::Md, DegradedWrites::Fewest])
}

/// What befalls the members of an array: a failure or more at random moments, mostly no more than redundancy allows, spares
/// for some of them, slow members, pages that cannot be read, a scrub.
pub fn faults(seed: u64, requests: u64, config: &ArrayConfig) -> Faults {
    let mut rng = Rng::stream(seed, "contents/faults");
    let rng = &mut rng;
    let moment = |rng: &mut Rng| match rng.below(3) {
        0 => {
            let within = pick(rng, &[2_000_000, 20_000_000, 200_000_000]);
            When::Time(SimTime(rng.below(within)))
        }
        _ => When::Request(draw(rng, 1, requests)),
    };
    let (members, redundancy) =
        (u64::from(config.devices), u64::from(config.level.redundancy(config.devices)));
    let failures = match rng.below(10) {
        0 => 0,
        1..8 => redundancy.clamp(1, 3),
        8 => redundancy + 1,
        _ => draw(rng, 1, 5),
    };
    let mut events = Vec::new();
    for _ in 0..failures {
        let device = DeviceId(rng.below(members) as u16);
        events.push(Fault { device, at: moment(rng), what: Befalls::Failure });
        if rng.chance(0.2) {
            // Its replacement fails as well.
            events.push(Fault { device, at: moment(rng), what: Befalls::Failure });
        }
    }
    while rng.chance(0.3) {
        let what = Befalls::Slow(pick(rng, &[1.0, 1.5, 5.0, 20.0]));
        events.push(Fault { device: DeviceId(rng.below(members) as u16), at: moment(rng), what });
    }
    let mut own = Rng::stream(seed, "contents/replacements");
    let delay = SimDuration::from_us(pick(&mut own, &[0, 0, 100, 20_000]));
    while own.chance(0.35) {
        let device = DeviceId(own.below(members) as u16);
        events.push(Fault { device, at: moment(&mut own), what: Befalls::Replacement });
        if own.chance(0.3) {
            // It fails meanwhile.
            let at = moment(&mut own);
            events.push(Fault { device, at, what: Befalls::Failure });
        }
    }
    let layout = config.layout();
    let page = config.page_size();
    let grain = match &layout {
        Layout::Parity(parity) => parity.row_bytes(),
        Layout::Striped(_) | Layout::Mirrored(_) => page,
    };
    let spare = MemberConfig { capable: rng.chance(0.9), ..config.members[0].clone() };
    let spares = pick(rng, &[0, 1, 1, 2, 5]);
    let distributed = config.level.distributed_spares();
    let rate = |rng: &mut Rng| page * pick(rng, &[50, 1_000, 20_000, 1_000_000]);
    Faults {
        events,
        page_errors: pick(rng, &[0.0, 0.0, 0.001, 0.02]),
        spares: vec![spare; if distributed > 0 { 0 } else { spares }],
        rebuild: Rebuild {
            min_rate: rate(rng),
            max_rate: rate(rng),
            depth: pick(rng, &[1, 2, 4, 16]),
            step: grain * pick(rng, &[1, 1, 3, 16]),
            delay,
        },
        scrub: rng
            .chance(0.2)
            .then(|| Scrub { at: SimTime(rng.below(20_000_000)), repairs: rng.chance(0.5) }),
        seed,
        ..Faults::default()
    }
}

/// Members that are slow or replaced while they work, pages that cannot be read and scrubs as in [`faults`]; when power is lost
/// and members fail is for the history to say.
pub fn losses_of_power(seed: u64, requests: u64, config: &ArrayConfig) -> Faults {
    let mut faults = faults(seed, requests, config);
    faults.events.retain(|event| event.what != Befalls::Failure);
    faults.power_losses = vec![When::Request(u64::MAX)];
    faults
}

/// Any rung, any rule for reads that the level has a use for, and NVRAM that is often full.
fn knowledge(rng: &mut Rng, level: Level, devices: u16, page_size: u64) -> Knowledge {
    let avoids = Reads::Avoid(pick(rng, &[Avoid::Any, Avoid::Longest, Avoid::Longest, Avoid::Cheaper]));
    let hedges = Reads::Hedge(SimDuration::from_us(draw(rng, 1, 400)));
    let reads = match level.redundancy(devices) {
        0 => Reads::Wait,
        _ => pick(rng, &[Reads::Wait, avoids, avoids, hedges]),
    };
    Knowledge {
        interface: pick(
            rng,
            &[Interface::Command, Interface::Busy, Interface::Busy, Interface::Log, Interface::Window],
        ),
        poll: SimDuration::from_us(pick(rng, &[20, 500])),
        reads,
        nvram: page_size * pick(rng, &[0, 0, 1, 3, 20, 500]),
        free_stripes: 0,
    }
}

/// A random tiny device whose spare just suffices, or a little more.
fn ssd(rng: &mut Rng, page_size: u64) -> SsdConfig {
    let small = |rng: &mut Rng, from, to| draw(rng, from, to) as u32;
    let allocation_unit = pick(rng, &[AllocationUnit::Die, AllocationUnit::Plane]);
    let frontiers = pick(rng, &[Frontiers::Shared, Frontiers::Separate]);
    let hard = small(rng, u64::from(frontiers == Frontiers::Separate), 3);
    let (soft, stop) = (hard + small(rng, 1, 2), hard + small(rng, 0, 1));
    let order = pick(rng, &Order::all().collect::<Vec<_>>());
    let allocation = pick(rng, &[Allocation::Static(order), Allocation::Dynamic]);
    let least = stop + 2 + u32::from(frontiers == Frontiers::Separate);
    // Dynamic allocation needs a block more, and another one under schedules that open a second block.
    let reserved = least + 2 * u32::from(allocation == Allocation::Dynamic) + small(rng, 0, 2);
    let us = |rng: &mut Rng, most| SimDuration::from_us(draw(rng, 1, most));
    SsdConfig {
        geometry: Geometry {
            channels: small(rng, 1, 2),
            chips_per_channel: small(rng, 1, 2),
            planes_per_die: small(rng, 1, 2),
            blocks_per_plane: reserved + small(rng, 2, 8),
            pages_per_block: small(rng, 3, 10),
            page_size: page_size as u32,
            summary_pages: small(rng, 0, 1),
            own_pins: rng.chance(0.5),
            ..Geometry::ONE_PLANE
        },
        timing: Timing {
            read: us(rng, 30).into(),
            program: us(rng, 200).into(),
            erase: us(rng, 900),
            transfer: us(rng, 60),
            copyback: pick(rng, &[Copyback::None, Copyback::Plane, Copyback::Die]),
            suspend_program: pick(rng, &[None, Some(SimDuration(7_000))]),
            suspend_erase: pick(rng, &[None, Some(SimDuration(0))]),
            resume: SimDuration(pick(rng, &[0, 3_000])),
            ..Timing::PLAIN
        },
        link: LinkConfig {
            bandwidth: page_size * 1_000_000 / draw(rng, 1, 80),
            latency: SimDuration(pick(rng, &[0, 0, 7_000, 300_000])),
            queue_depth: depth(rng, 0.2, 6),
            ..LinkConfig::of(0)
        },
        ftl: FtlConfig {
            reserved_blocks: Amount::Blocks(reserved),
            allocation,
            allocation_unit,
            frontiers,
            priority: pick(rng, &[Priority::Fifo, Priority::ReadsFirst]),
            multi_plane: rng.chance(0.5),
            open_blocks: pick(rng, &[1, 2, 2, 5]),
            ..FtlConfig::default()
        },
        gc: GcConfig {
            domain: match allocation_unit {
                AllocationUnit::Die => pick(rng, &[Domain::Die, Domain::Device, Domain::Channel]),
                AllocationUnit::Plane => pick(rng, &[Domain::Device, Domain::Channel, Domain::Plane]),
            },
            trigger: pick(rng, &[Trigger::Foreground, Trigger::Background]),
            hard_threshold: Amount::Blocks(hard),
            soft_threshold: Amount::Blocks(soft),
            stop_threshold: Amount::Blocks(stop),
            min_victims: pick(rng, &[1, 1, 2, 5]),
            // Policies that may move a full block need a free one, and are refused without.
            victim: if hard == 0 { "greedy".into() } else { (&*name(rng, victim::REGISTRY)).into() },
            schedule: scheduled(rng),
            destination: if allocation == Allocation::Dynamic {
                pick(rng, &[Destination::Unit, Destination::Device])
            } else {
                Destination::Unit
            },
            concurrency: if rng.chance(0.5) {
                PolicyConfig::named("unlimited")
            } else {
                PolicyConfig::named(&name(rng, concurrency::REGISTRY))
            },
            ..GcConfig::default()
        },
        controller: ControllerConfig {
            command_window: window(rng, 0.2, 6),
            command_overhead: overhead(rng, 0.2),
            ..ControllerConfig::default()
        },
        ..SsdConfig::plain("random")
    }
}

/// Any schedule, with any slack where it has one.
fn scheduled(rng: &mut Rng) -> PolicyConfig {
    let schedule = PolicyConfig::named(&name(rng, schedule::REGISTRY));
    let slack = SimDuration(pick(rng, &[0, 40_000, 4_000_000]));
    if schedule.policy == "slack" { schedule.with("slack", slack.to_string()) } else { schedule }
}

/// Requests one after the other.
pub struct Load {
    rng: Rng,
    layout: Layout,
    page_size: u64,
    /// Bytes that belong together: of a stripe, or of a stripe unit of each member.
    stripe: u64,
    /// Longest request.
    most: u64,
    /// Bytes in which half of the requests meet.
    hot: u64,
    /// Mean time between requests.
    gap: SimDuration,
    /// Requests under way at most.
    pub depth: usize,
    pub deadlines: Deadlines,
    /// Where the last write ended. For arrays with a stripe cache many writes go on from there.
    end: u64,
    goes_on: Option<Rng>,
    /// Which writes are with FUA, and how many.
    fua: Rng,
    through: f64,
    /// In a hundred requests, discards in the place of writes: many where NVRAM may hold what the cache of a member forgets.
    more_trims: u64,
}

impl Load {
    pub fn new(seed: u64, config: &ArrayConfig) -> Self {
        let mut rng = Rng::stream(seed, "contents/load");
        let layout = config.layout();
        let stripe = match &layout {
            Layout::Parity(parity) => parity.stripe_bytes(),
            Layout::Striped(_) | Layout::Mirrored(_) => layout.stripe_unit() * u64::from(layout.members()),
        };
        let page_size = config.page_size();
        let logical = layout.logical_bytes();
        let some = |rng: &mut Rng| rng.chance(0.5).then(|| SimDuration::from_us(draw(rng, 1, 2_000)));
        let is_volatile = config.members.iter().any(|member| forgets(&member.ssd.write_cache));
        let (through, more_trims) =
            if is_volatile && config.knowledge.nvram > 0 { (0.5, 20) } else { (0.2, 0) };
        Load {
            through,
            more_trims,
            // Requests of several stripes, but not of hundreds of pages.
            most: (4 * stripe).min(96 * page_size).min(logical),
            hot: (pick(&mut rng, &[1, 2, 3]) * stripe).min(logical),
            gap: SimDuration::from_us(pick(&mut rng, &[0, 5, 50, 500])),
            depth: pick(&mut rng, &[1, 4, 16, 64]),
            deadlines: Deadlines { read: some(&mut rng), write: some(&mut rng) },
            end: 0,
            fua: Rng::stream(seed, "contents/fua"),
            goes_on: (config.stripe_cache.entries > 0).then(|| Rng::stream(seed, "contents/goes-on")),
            rng,
            layout,
            page_size,
            stripe,
        }
    }

    /// Time until the next request.
    pub fn pause(&mut self) -> SimDuration {
        if self.rng.chance(0.3) {
            return SimDuration::ZERO;
        }
        SimDuration(self.rng.below(2 * self.gap.0 + 1))
    }

    /// The next request.
    pub fn next(&mut self, id: u64, arrival: SimTime) -> HostRequest {
        let operation = match self.rng.below(100) {
            at @ 0..58 if at + self.more_trims < 58 => Operation::Write,
            0..58 => Operation::Trim,
            58..88 => Operation::Read,
            88..96 => Operation::Trim,
            _ => Operation::Flush,
        };
        let member = DeviceId(self.rng.below(u64::from(self.layout.members())) as u16);
        let pinned = self.layout.pinned_bytes(member);
        let member = (pinned > 0 && self.rng.chance(0.08)).then_some(member);
        let space = if member.is_some() { pinned } else { self.layout.logical_bytes() };
        let (offset, length) =
            if operation == Operation::Flush { (0, 0) } else { self.range(operation, space) };
        let (offset, length) = match operation {
            Operation::Write if member.is_none() => self.going_on(offset, length, space),
            _ => (offset, length),
        };
        let fua = self.fua.chance(self.through) && operation == Operation::Write;
        HostRequest { member, fua, ..HostRequest::new(id, arrival, operation, offset, length) }
    }

    /// The range of a write, or a page or less behind the last one.
    fn going_on(&mut self, mut offset: u64, mut length: u64, space: u64) -> (u64, u64) {
        if let Some(rng) = self.goes_on.as_mut()
            && rng.chance(0.6)
        {
            length = length.min(pick(rng, &[self.page_size, self.page_size, SECTOR, 2 * self.page_size]));
            offset = if self.end + length <= space { self.end } else { 0 };
        }
        self.end = offset + length;
        (offset, length)
    }

    /// A range of sectors, pages or stripes.
    fn range(&mut self, operation: Operation, space: u64) -> (u64, u64) {
        let rng = &mut self.rng;
        let most = self.most.min(space);
        let grain = match rng.below(10) {
            0..4 => SECTOR,
            4..8 => self.page_size,
            _ => self.stripe.min(most),
        };
        // Discards that never cover a stripe do nothing.
        let longest = match rng.below(10) {
            0..5 if operation != Operation::Trim => (2 * self.page_size).min(most),
            0..8 => (2 * self.stripe).min(most),
            _ => most,
        };
        let length = draw(rng, 1, (longest / grain).max(1)) * grain;
        let within = if rng.chance(0.5) { space.min(self.hot.max(length)) } else { space };
        (draw(rng, 0, (within - length) / grain) * grain, length)
    }
}
