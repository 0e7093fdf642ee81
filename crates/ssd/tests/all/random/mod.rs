//! Random tiny devices: every axis of a configuration, drawn from a seed.

use harmonia_engine::Rng;
use harmonia_flash::{
    CommandOrder, Commands, Copyback, Geometry, LinkConfig, LinkOrder, PageTimes, ReadRetry, Timing,
};
use harmonia_ssd::gc::{concurrency, victim};
use harmonia_ssd::{
    Allocation, AllocationUnit, Amount, Destination, Domain, Frontiers, FtlConfig, GcConfig, HOST_SHARE,
    Order, PolicyConfig, Priority, SsdConfig, Superblock, Trigger,
};
use harmonia_types::SimDuration;
use harmonia_types::registry::{Entry, names};
use serde_json::json;

/// The schedules that old seeds draw from. Those that came later are drawn by [`additions`].
const FIRST_SCHEDULES: [&str; 7] =
    ["blocking", "preemptive", "io-parallel", "preemptive-io-parallel", "slack", "after-reads", "ideal"];

pub fn name<F>(rng: &mut Rng, registry: &'static [Entry<F>]) -> String {
    let all: Vec<&str> = names(registry).collect();
    all[rng.below(all.len() as u64) as usize].to_owned()
}

pub fn pick<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.below(choices.len() as u64) as usize]
}

/// A random tiny device whose spare just suffices, or a little more.
pub fn config(rng: &mut Rng) -> SsdConfig {
    let draw = |rng: &mut Rng, from: u64, to: u64| (from + rng.below(to - from + 1)) as u32;
    let allocation_unit = pick(rng, &[AllocationUnit::Die, AllocationUnit::Plane]);
    let frontiers = pick(rng, &[Frontiers::Shared, Frontiers::Separate]);
    let least_hard = u64::from(frontiers == Frontiers::Separate);
    let hard = draw(rng, least_hard, 3);
    let (soft, stop) = (hard + draw(rng, 1, 2), hard + draw(rng, 0, 1));
    let order = pick(rng, &Order::all().collect::<Vec<_>>());
    let allocation = pick(rng, &[Allocation::Static(order), Allocation::Dynamic]);
    let least = stop + 2 + u32::from(frontiers == Frontiers::Separate);
    // Dynamic allocation needs a block more, and another one under schedules that open a second block.
    let reserved = least + 2 * u32::from(allocation == Allocation::Dynamic) + draw(rng, 0, 2);
    SsdConfig {
        geometry: Geometry {
            channels: draw(rng, 1, 2),
            chips_per_channel: draw(rng, 1, 2),
            planes_per_die: draw(rng, 1, 3),
            blocks_per_plane: reserved + draw(rng, 1, 6),
            pages_per_block: draw(rng, 2, 9),
            page_size: 512,
            summary_pages: draw(rng, 0, 1),
            own_pins: rng.chance(0.5),
            ..Geometry::ONE_PLANE
        },
        timing: Timing {
            read: SimDuration(u64::from(draw(rng, 1, 30))).into(),
            program: SimDuration(u64::from(draw(rng, 1, 200))).into(),
            erase: SimDuration(u64::from(draw(rng, 1, 900))),
            transfer: SimDuration(u64::from(draw(rng, 1, 60))),
            copyback: pick(rng, &[Copyback::None, Copyback::Plane, Copyback::Die]),
            suspend_program: pick(rng, &[None, Some(SimDuration(7))]),
            suspend_erase: pick(rng, &[None, Some(SimDuration(0))]),
            resume: SimDuration(pick(rng, &[0, 3])),
            ..Timing::PLAIN
        },
        link: LinkConfig {
            bandwidth: 512_000_000_000 / u64::from(draw(rng, 1, 80)),
            latency: SimDuration(pick(rng, &[0, 0, 7, 300])),
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
            schedule: slack_of(400, pick(rng, &FIRST_SCHEDULES).into()),
            destination: if allocation == Allocation::Dynamic {
                pick(rng, &[Destination::Unit, Destination::Device])
            } else {
                Destination::Unit
            },
            ..GcConfig::default()
        },
        ..SsdConfig::plain("random")
    }
}

/// The device with what came after old seeds were drawn, drawn from a stream of its own: such seeds differ in nothing else.
pub fn additions(rng: &mut Rng, mut config: SsdConfig) -> SsdConfig {
    // Devices whose pages go to other dies draw their schedules elsewhere (`content`).
    let stays = config.gc.destination == Destination::Unit;
    if rng.chance(0.4) && stays {
        config.gc.schedule = "stepwise".into();
    }
    if config.gc.schedule.policy.ends_with("io-parallel") && stays {
        let (unmatched, partial) = (pick(rng, &["stay", "skip"]), pick(rng, &["alone", "along"]));
        config.gc.schedule = config.gc.schedule.with("unmatched", unmatched).with("partial_writes", partial);
    }
    let is_static = matches!(config.ftl.allocation, Allocation::Static(_));
    if is_static && config.ftl.allocation_unit == AllocationUnit::Plane && rng.chance(0.7) {
        let letters = pick(rng, &["cwd", "cdw", "wcd", "wdc", "dcw", "dwc"]);
        config.ftl.allocation = Allocation::DynamicPlane(Order::of_dies(letters).expect("three letters"));
        // As for dynamic allocation.
        if let Amount::Blocks(reserved) = &mut config.ftl.reserved_blocks {
            *reserved += 2;
        }
        config.geometry.blocks_per_plane += 2;
    }
    config
}

/// Half of the devices get rules of timing that none has by default.
pub fn timing(config: &mut SsdConfig, rng: &mut Rng) {
    if rng.chance(0.5) {
        return;
    }
    let time = |rng: &mut Rng| SimDuration(pick(rng, &[0, 1, 5, 30]));
    config.timing.command = Commands {
        read: time(rng),
        program: time(rng),
        erase: time(rng),
        order: pick(rng, &[CommandOrder::Fifo, CommandOrder::AfterData]),
    };
    config.timing.suspend_host_program = pick(rng, &[None, None, Some(SimDuration(0)), Some(SimDuration(9))]);
    config.link.order = pick(rng, &[LinkOrder::Ready, LinkOrder::Arrival]);
    for times in [&mut config.timing.read, &mut config.timing.program] {
        let types = rng.below(3) as usize + 1;
        let each: Vec<SimDuration> = (0..types).map(|_| SimDuration(1 + rng.below(150))).collect();
        *times = PageTimes::by_type(&each).expect("one to three");
    }
    // Without a draw of its own, so that all other devices stay as they are.
    config.timing.minimum_run = SimDuration([0, 7, 60][config.timing.command.erase.0 as usize % 3]);
}

/// Half of the devices have a controller that takes time, half read pages again, and a quarter of the caches are held up.
pub fn front(config: &mut SsdConfig, rng: &mut Rng) {
    config.controller.command_overhead = SimDuration(pick(rng, &[0, 0, 1, 90]));
    config.controller.units_per_second = pick(rng, &[None, None, None, Some(10_000_000)]);
    let step = pick(rng, &[None, Some(SimDuration(11))]);
    config.timing.read_retry = ReadRetry { probability: pick(rng, &[0.0, 0.0, 0.1, 0.5]), step };
}

/// In half of the devices whose schedule lets the host go between steps, collection shares the work of dies.
pub fn sharing(config: &mut SsdConfig, rng: &mut Rng) {
    let trigger = pick(rng, &[Trigger::Proportional, Trigger::Bursts]);
    let mut shared = config.clone();
    (shared.gc.trigger, shared.gc.host_share) = (trigger, pick(rng, &[0.05, HOST_SHARE, 0.5, 0.95]));
    if rng.chance(0.5) && shared.resolve().is_ok() {
        *config = shared;
    }
}

/// The device with several mapping units in a page, or several pages in a program.
pub fn pack(config: &mut SsdConfig, rng: &mut Rng) {
    let geometry = &mut config.geometry;
    let units = pick(rng, &[1, 2, 3, 4, 8]);
    geometry.program_pages = pick(rng, &[1, 1, 2, 3]);
    let is_die = config.ftl.allocation_unit == AllocationUnit::Die;
    geometry.program_planes = if is_die && rng.chance(0.5) { geometry.planes_per_die } else { 1 };
    (geometry.page_size, config.ftl.mapping_unit) = (512 * units, Some(512));
    geometry.pages_per_block = (4 + geometry.pages_per_block / 2) * geometry.program_pages;
    geometry.summary_pages = 0;
    config.timing.copyback = Copyback::None;
    if geometry.program_pages > 1 {
        config.timing.program = config.timing.program.first().into();
    }
    config.ftl.multi_plane = false;
    config.gc.destination = Destination::Unit;
    if let Allocation::DynamicPlane(order) = config.ftl.allocation {
        config.ftl.allocation = Allocation::Static(order);
    }
    if config.gc.schedule.policy.ends_with("io-parallel") {
        config.gc.schedule = pick(rng, &["preemptive", "stepwise", "blocking"]).into();
    }
    // Spare for what blocks may lack of a program.
    for _ in 0..100 {
        if config.resolve().is_ok() {
            return;
        }
        let Amount::Blocks(reserved) = &mut config.ftl.reserved_blocks else { return };
        let pools = if is_die { config.geometry.planes_per_die / config.geometry.program_planes } else { 1 };
        *reserved += pools;
        config.geometry.blocks_per_plane += 1;
    }
}

/// The device with blocks that several dies share.
pub fn superblocks(config: &mut SsdConfig, rng: &mut Rng) {
    let geometry = &mut config.geometry;
    (geometry.dies_per_chip, geometry.summary_pages) = (pick(rng, &[1, 2, 3]), 0);
    let dies = geometry.channels * geometry.chips_per_channel * geometry.dies_per_chip;
    let divisors: Vec<Superblock> =
        (1..=dies).filter(|n| dies.is_multiple_of(*n)).map(Superblock::Dies).collect();
    config.ftl.superblock = if rng.chance(0.4) { Superblock::Drive } else { pick(rng, &divisors) };
    config.timing.program = config.timing.program.first().into();
    if geometry.program_pages == 1 {
        config.timing.read = config.timing.read.first().into();
    }
    config.ftl.multi_plane = false;
    config.ftl.allocation_unit = AllocationUnit::Die;
    config.ftl.allocation = pick(rng, &[Allocation::CWDP, Allocation::Dynamic]);
    if dies == 1 || config.ftl.superblock == Superblock::Dies(1) {
        config.ftl.allocation = Allocation::CWDP;
    }
    config.ftl.placement = match rng.chance(0.3) && config.gc.hard_threshold != Amount::Blocks(0) {
        true => PolicyConfig::named("streams").with("handles", 1).with("isolation", "initial"),
        false => FtlConfig::by_frontiers(),
    };
    config.gc.destination = Destination::Unit;
    config.gc.concurrency = PolicyConfig::named("unlimited");
    let schedules =
        ["blocking", "blocking", "after-reads", "ideal", "preemptive", "preemptive", "stepwise", "slack"];
    let schedule = pick(rng, &schedules);
    config.gc.schedule = slack_of(400, schedule.into());
    if matches!(schedule, "preemptive" | "stepwise" | "slack") {
        config.gc.min_victims = 1;
    }
    config.gc.domain = pick(rng, &[Domain::Die, Domain::Device]);
    if config.gc.victim.policy == "read-match" {
        config.gc.victim = "greedy".into();
    }
    // A superblock takes a block of each plane, and a unit of before has those of several. Spare for more frontiers, and for what
    // blocks may lack of a program.
    if let Amount::Blocks(reserved) = config.ftl.reserved_blocks {
        config.geometry.blocks_per_plane = config.geometry.blocks_per_plane.max(reserved + 4);
    }
    for round in 0..100 {
        let Amount::Blocks(reserved) = &mut config.ftl.reserved_blocks else { return };
        let more = if round == 0 { 3 } else { 1 };
        *reserved += more;
        config.geometry.blocks_per_plane += more;
        if config.resolve().is_ok() {
            return;
        }
    }
}

/// The schedule, with this slack in ns if it has one.
pub fn slack_of(slack: u64, schedule: PolicyConfig) -> PolicyConfig {
    if schedule.policy == "slack" { schedule.with("slack", format!("{slack}ns")) } else { schedule }
}

/// Keys that came after old seeds were drawn, for a policy that has them.
pub fn later_keys(rng: &mut Rng, policy: PolicyConfig) -> PolicyConfig {
    let (least, release) = (1 + rng.below(3), pick(rng, &[0.0, 0.05, 0.3]));
    match policy.policy.as_str() {
        "unlimited" => policy,
        "conv-0.7-allch" | "conv-0.7-halfch" => policy.with("min_invalid", least).with("release", release),
        _ => policy.with("min_invalid", least),
    }
}

/// A third is unlimited; of the others, many begin far too early or never of themselves.
pub fn concurrency(rng: &mut Rng) -> PolicyConfig {
    let policy = if rng.chance(0.33) { "unlimited".to_owned() } else { name(rng, concurrency::REGISTRY) };
    let mut config = PolicyConfig::named(&policy);
    let share = |rng: &mut Rng| pick(rng, &[0.0, 0.3, 0.5, 0.7, 0.9]);
    let own = match policy.as_str() {
        "fixed" => json!({ "start": pick(rng, &[0.0, 0.6, 1.0]), "channels": 1 }),
        "adaptive" => {
            json!({ "low": share(rng), "high": 1.0, "ramp": pick(rng, &["floor", "ceil", "scaled"]) })
        }
        "queue-depth" => json!({ "low": share(rng), "high": 1.0, "depth": 1 + rng.below(20) }),
        "idle-time" => {
            let scope = pick(rng, &["device", "channel"]);
            json!({ "low": share(rng), "high": 1.0, "idle": format!("{}ns", 1 + rng.below(900)), "scope": scope })
        }
        "rotation" => json!({ "start": share(rng), "group": pick(rng, &["device", "channel"]) }),
        _ => json!({}),
    };
    if rng.chance(0.8) {
        config.own = own.as_object().expect("a table").clone();
    }
    config
}

/// The device with a map of which memory holds some pages. `false` if it cannot be one.
pub fn mapping(config: &mut SsdConfig, rng: &mut Rng) -> bool {
    let page = config.mapping_unit();
    config.ftl.mapping_entry = page / pick(rng, &[2, 3, 4, 8]);
    let pages = pick(rng, &[1, 1, 2, 3, 7]);
    config.ftl.mapping_cache = Some(pages * u64::from(page));
    let Allocation::Static(_) = config.ftl.allocation else { return false };
    if !config.ftl.superblock.is_off() {
        return false;
    }
    // Spare for what the map takes.
    for _ in 0..200 {
        if config.resolve().is_ok() {
            return true;
        }
        let Amount::Blocks(reserved) = &mut config.ftl.reserved_blocks else { return false };
        let is_die = config.ftl.allocation_unit == AllocationUnit::Die;
        let pools = if is_die { config.geometry.planes_per_die / config.geometry.program_planes } else { 1 };
        *reserved += pools;
        config.geometry.blocks_per_plane += 1;
    }
    false
}
