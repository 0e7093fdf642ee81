//! Random scenarios, each from a seed: the text of one, and the rows of its trace.

use std::fmt::Write as _;

use harmonia_array::coordination;
use harmonia_array::layout::{Copies, Layout, Pattern, Rotation, period_of_shares};
use harmonia_array::{Interface, Level};
use harmonia_engine::Rng;
use harmonia_scenario::policies::{Needs, needs};
use harmonia_ssd::Order;
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_types::DeviceId;
use harmonia_types::registry::names;

/// A scenario, and the trace that goes with it.
pub(super) struct Generated {
    pub toml: String,
    pub trace: Option<String>,
}

/// What is drawn.
pub(super) struct Draw(pub Rng);

impl Draw {
    pub fn range(&mut self, from: u64, to: u64) -> u64 {
        from + self.0.below(to - from + 1)
    }

    pub fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.0.below(choices.len() as u64) as usize]
    }

    pub fn name<F>(&mut self, registry: &'static [harmonia_types::registry::Entry<F>]) -> &'static str {
        let all: Vec<&str> = names(registry).collect();
        self.pick(&all)
    }

    pub fn interface(&mut self) -> Interface {
        Interface::ALL[self.0.below(Interface::ALL.len() as u64) as usize]
    }

    pub fn share(&mut self) -> f64 {
        (self.0.unit() * 100.0).round() / 100.0
    }
}

/// The scenario of a seed, some of whose arrays are aged by its load.
pub(super) fn generate(seed: u64) -> Generated {
    let Generated { toml, trace } = drawn(seed);
    let has = |text: &str| toml.contains(text);
    let overwrites = !(has("\noverwrite = 0\n") || has("\noverwrite = 0.0\n"));
    let can = overwrites && !(has("overwrite_space") || has("pattern = \"files\""));
    if !(can && Rng::stream(seed, "swarm/aged-by").chance(0.4)) {
        return Generated { toml, trace };
    }
    Generated { toml: toml.replacen("\noverwrite = ", &format!("\n{AGED_BY_LOAD}overwrite = "), 1), trace }
}

/// A line of some scenarios, which does not go with floating stripes.
pub(super) const AGED_BY_LOAD: &str = "overwrite_space = \"load\"\n";

/// Spare always suffices for the thresholds, so every scenario should run.
pub(super) fn drawn(seed: u64) -> Generated {
    let mut d = Draw(Rng::stream(seed, "swarm"));
    // A stream of its own, so that the scenarios of old seeds differ in nothing else.
    let mut inside = Draw(Rng::stream(seed, "swarm/die"));
    let mut hurry = Draw(Rng::stream(seed, "swarm/deadlines"));
    let mut warms = Draw(Rng::stream(seed, "swarm/warmup"));
    let mut deletes = Draw(Rng::stream(seed, "swarm/deletes"));
    let mut begins = Draw(Rng::stream(seed, "swarm/begins"));
    let (channels, chips, dies) = (d.range(1, 3), d.range(1, 2), d.range(1, 2));
    let (planes, per_plane, pages) = (d.range(1, 3), d.range(8, 24), d.range(2, 12));
    let page_size = [512, 4096, 8192][d.range(0, 2) as usize];
    let by_plane = d.0.chance(0.5);
    let separate = d.0.chance(0.4);
    let blocks = if by_plane { per_plane } else { per_plane * planes };
    let hard = d.range(u64::from(separate), 1 + blocks / 8);
    let soft = hard + d.range(1, 3);
    let stop = hard + d.range(0, 2);
    // What the device asks for at least: the pool above stop, the block being collected into, the frontiers, and what
    // units may differ by, also while a schedule opens a second block.
    let least = stop + 2 + u64::from(separate);
    let dynamic = d.0.chance(0.3) && least + 3 < blocks;
    let least = least + 2 * u64::from(dynamic);
    let reserved =
        (least + [0, 0, d.range(0, 4), d.range(0, blocks)][d.range(0, 3) as usize]).min(blocks - 1);
    let summary = d.range(0, 1);
    let mut cache = Draw(Rng::stream(seed, "swarm/write-cache"));
    let cached = cache.0.chance(0.3);
    // Mapping units of a half or a quarter of a page, which need spare for what blocks may lack of a program.
    let mut packs = Draw(Rng::stream(seed, "swarm/mapping-unit"));
    let units = [1, 2, 4][packs.range(0, 2) as usize];
    let unused = (blocks * (units - 1)).div_ceil(pages * units);
    let fits = cached && page_size >= 4096 && reserved.max(least) + unused < blocks;
    let (units, unused) = if fits { (units, unused) } else { (1, 0) };
    let reserved = reserved + unused;
    // Dies that share their blocks, of planes as large as units were. Much else does not go along.
    let mut shared = Draw(Rng::stream(seed, "swarm/superblocks"));
    let in_all = channels * chips * dies;
    let of_unit: Vec<u64> = (1..=in_all).filter(|dies| in_all.is_multiple_of(*dies)).collect();
    let of_unit = of_unit[shared.range(0, of_unit.len() as u64 - 1) as usize];
    let superblocks = shared.0.chance(0.5) && !(by_plane || dynamic && of_unit == 1);
    let per_plane = if superblocks { blocks } else { per_plane };
    // A map of which memory holds some pages, with spare for the rest.
    let mut maps = Draw(Rng::stream(seed, "swarm/mapping-cache"));
    let entries = [2, 4, 8][maps.range(0, 2) as usize];
    let for_map = (blocks - reserved) / entries + 2;
    let mapped = maps.0.chance(0.3) && !(dynamic || superblocks) && reserved + for_map < blocks;
    let for_map = if mapped { for_map } else { 0 };
    let reserved = reserved + for_map;
    let summary = if units > 1 || superblocks { 0 } else { summary };
    let member_pages =
        (blocks - reserved) * (pages - summary) * in_all * if by_plane || superblocks { planes } else { 1 };
    let devices = d.range(1, 6);
    let member_bytes = member_pages * page_size;
    let mut levels = Draw(Rng::stream(seed, "swarm/levels"));
    let stripe = page_size * [1, 1, d.range(1, 8), member_pages][d.range(0, 3) as usize].min(member_pages);
    let layout = layout(&mut levels, devices as u16, stripe, page_size, member_bytes);
    let stripe = layout.stripe_unit();
    let (free_stripes, layout) = reserve(&mut Draw(Rng::stream(seed, "swarm/reserve")), layout);
    let (shares, layout) = shares(&mut Draw(Rng::stream(seed, "swarm/shares")), layout);
    let mut text = String::new();
    let mut put = |line: std::fmt::Arguments<'_>| {
        text.write_fmt(line).expect("text grows");
        text.push('\n');
    };
    put(format_args!(
        "name = \"swarm-{seed}\"\nseed = {seed}\n[ssd]\npreset = \"tiny-test\"\n[ssd.geometry]"
    ));
    put(format_args!("channels = {channels}\nchips_per_channel = {chips}\ndies_per_chip = {dies}"));
    put(format_args!("planes_per_die = {planes}\nblocks_per_plane = {per_plane}\npages_per_block = {pages}"));
    put(format_args!(
        "page_size = \"{page_size}B\"\nsummary_pages = {summary}\nown_pins = {}",
        d.0.chance(0.5)
    ));
    let mut bus = Draw(Rng::stream(seed, "swarm/bus"));
    let (read, program) = (d.range(1, 60), d.range(1, 400));
    if bus.0.chance(0.3) && !superblocks {
        // Types of pages.
        put(format_args!("[ssd.timing]\nread = [\"{read}us\", \"{}us\"]", 2 * read));
        put(format_args!("program = [\"{program}us\", \"{}us\", \"{}us\"]", 2 * program, 3 * program));
    } else {
        put(format_args!("[ssd.timing]\nread = \"{read}us\"\nprogram = \"{program}us\""));
    }
    put(format_args!("erase = \"{}us\"\ntransfer = \"{}us\"", d.range(1, 2000), d.range(1, 100)));
    let copyback = d.pick(&["none", "plane", "die"]);
    put(format_args!("copyback = \"{}\"", if units > 1 { "none" } else { copyback }));
    put(format_args!("suspend_program = \"{}\"", inside.pick(&["none", "0us", "1us", "20us"])));
    put(format_args!("suspend_erase = \"{}\"", inside.pick(&["none", "0us", "3us", "50us"])));
    put(format_args!("resume = \"{}us\"", inside.range(0, 9)));
    put(format_args!("suspend_host_program = \"{}\"", bus.pick(&["none", "none", "0us", "7us"])));
    let mut retry = Draw(Rng::stream(seed, "swarm/read-retry"));
    if retry.0.chance(0.15) {
        put(format_args!("read_retry.probability = \"{}%\"", retry.range(0, 50)));
        if retry.0.chance(0.5) {
            put(format_args!("read_retry.step = \"{}us\"", retry.range(1, 90)));
        }
    }
    put(format_args!(
        "minimum_run = \"{}\"",
        Draw(Rng::stream(seed, "swarm/minimum-run")).pick(&["0us", "0us", "5us", "90us"])
    ));
    if bus.0.chance(0.5) {
        let order = bus.pick(&["fifo", "after-data"]);
        put(format_args!(
            "command = {{ read = \"{}us\", program = \"{}us\", erase = \"{}us\", order = \"{order}\" }}",
            bus.range(0, 9),
            bus.range(0, 9),
            bus.range(0, 9)
        ));
    }
    put(format_args!(
        "[ssd.link]\nbandwidth = \"{}MB/s\"\nlatency = \"{}us\"\norder = \"{}\"",
        d.range(5, 4000),
        d.range(0, 9) / 5 * 7,
        bus.pick(&["ready", "ready", "arrival"])
    ));
    let mut depth = Draw(Rng::stream(seed, "swarm/depth"));
    if depth.0.chance(0.2) {
        put(format_args!("queue_depth = {}", depth.range(1, 24)));
    }
    put(format_args!("[ssd.controller]"));
    let mut window = Draw(Rng::stream(seed, "swarm/command-window"));
    if window.0.chance(0.2) {
        let arbitration = window.pick(&["round-robin", "fifo"]);
        let most = window.range(1, 24);
        put(format_args!("command_window = {most}\narbitration = \"{arbitration}\""));
    }
    let mut controller = Draw(Rng::stream(seed, "swarm/controller"));
    if controller.0.chance(0.15) {
        put(format_args!("command_overhead = \"{}ns\"", controller.range(1, 30_000)));
    }
    if cached && controller.0.chance(0.2) {
        let most = controller.range(2, 2_000) * 1_000;
        put(format_args!("units_per_second = {most}"));
    }
    if cached {
        let size = page_size * [cache.range(1, 4), cache.range(1, 64)][cache.range(0, 1) as usize];
        let pools = if dynamic && !superblocks {
            2
        } else {
            channels * chips * dies * if by_plane { planes } else { 1 }
        };
        let size = if units > 1 { size.max(pools * page_size) } else { size };
        put(format_args!("[ssd.write_cache]\nsize = \"{size}B\"\nack = \"{}us\"", cache.range(0, 30)));
        put(format_args!("power_protected = {}", cache.0.chance(0.8)));
        if Rng::stream(seed, "swarm/pacer").chance(0.3) {
            put(format_args!("pacer = \"collection\""));
        }
    }
    put(format_args!("[ssd.ftl]\nreserved_blocks = {reserved}"));
    let order = Order::all().nth(inside.range(0, 23) as usize).expect("there are 24");
    let allocation = if dynamic { "dynamic".to_owned() } else { order.to_string() };
    put(format_args!("allocation = \"{allocation}\""));
    if units > 1 {
        put(format_args!("mapping_unit = \"{}B\"", page_size / units));
    }
    if mapped {
        let unit = page_size / units;
        put(format_args!("mapping_cache = \"{}B\"", unit * maps.range(1, 6)));
        put(format_args!("mapping_entry = {}", unit / entries));
    }
    put(format_args!("priority = \"{}\"", inside.pick(&["fifo", "reads-first"])));
    let multi_plane = inside.0.chance(0.5);
    put(format_args!("multi_plane = {}", multi_plane && units == 1 && !superblocks));
    if superblocks {
        let whole = of_unit == in_all && shared.0.chance(0.5);
        let dies = if whole { "\"drive\"".to_owned() } else { of_unit.to_string() };
        put(format_args!("superblock = {dies}"));
    }
    put(format_args!("open_blocks = {}", 1 + inside.0.below(4)));
    let mut lists = Draw(Rng::stream(seed, "swarm/free-list"));
    if lists.0.chance(0.3) && !superblocks {
        put(format_args!("free_list = \"least-worn\""));
    }
    put(format_args!("allocation_unit = \"{}\"", if by_plane { "plane" } else { "die" }));
    put(format_args!("frontiers = \"{}\"", if separate { "separate" } else { "shared" }));
    let domain = if by_plane || planes == 1 {
        d.pick(&["die", "device", "channel", "plane"])
    } else {
        d.pick(&["die", "device", "channel"])
    };
    let domain = if superblocks && domain == "channel" { "die" } else { domain };
    let domain = if superblocks && domain == "plane" { "device" } else { domain };
    put(format_args!("[ssd.gc]\ndomain = \"{}\"", domain));
    let trigger = d.pick(&["foreground", "background"]);
    put(format_args!("hard_threshold = {hard}\nsoft_threshold = {soft}\nstop_threshold = {stop}"));
    // A device that ages at soft has to come above it.
    let can_begin =
        reserved >= soft.max(stop) + 2 + u64::from(separate) + 2 * u64::from(dynamic) + unused + for_map;
    let begins = if can_begin { begins.pick(&["schedule", "soft"]) } else { "schedule" };
    put(format_args!("begins_at = \"{begins}\""));
    let least_victims = [1, 1, 2, d.range(1, 9)][d.range(0, 3) as usize];
    put(format_args!("min_victims = {}", if superblocks { 1 } else { least_victims }));
    // Policies that may move a full block need a free one, and are refused without.
    let victim = |d: &mut Draw| {
        let name =
            if hard == 0 { d.pick(&["greedy", "fifo", "cost-benefit"]) } else { d.name(victim::REGISTRY) };
        if superblocks && name == "read-match" { "greedy" } else { name }
    };
    put(format_args!("victim = {}", with_key(victim(&mut d), "d-choices", "d", &d.range(1, 5).to_string())));
    let (schedule, slack) = (d.name(schedule::REGISTRY), hurry.pick(&["0", "300", "2000", "100000"]));
    // Those that join single pages of host and collection are refused where a program carries several units.
    let schedule = if units > 1 && schedule.ends_with("io-parallel") { "preemptive" } else { schedule };
    let goes_along = ["blocking", "after-reads", "ideal", "preemptive", "stepwise", "slack"];
    let schedule = if superblocks { shared.pick(&goes_along) } else { schedule };
    let mut sharing = Draw(Rng::stream(seed, "swarm/sharing"));
    let shares_work = sharing.0.chance(0.5) && (schedule.starts_with("preemptive") || schedule == "slack");
    let trigger = if shares_work { sharing.pick(&["proportional", "bursts"]) } else { trigger };
    put(format_args!("trigger = \"{trigger}\""));
    if trigger == "bursts" {
        put(format_args!("host_share = \"{}%\"", sharing.pick(&["1", "15", "50", "99"])));
    }
    if units > 1 {
        let last = Draw(Rng::stream(seed, "swarm/last program")).pick(&["padded", "filled"]);
        put(format_args!("last_program = \"{last}\""));
    }
    put(format_args!("schedule = {}", with_key(schedule, "slack", "slack", &format!("\"{slack}us\""))));
    put(format_args!(
        "destination = \"{}\"",
        if dynamic && units == 1 && !superblocks { inside.pick(&["unit", "device"]) } else { "unit" }
    ));
    let limits = concurrency(&mut Draw(Rng::stream(seed, "swarm/channels")), channels);
    let limits = if superblocks { "policy = \"unlimited\"".to_owned() } else { limits };
    put(format_args!("[ssd.gc.concurrency]\n{limits}"));
    let mut wears = Draw(Rng::stream(seed, "swarm/wear"));
    let stands = stop.max(if begins == "soft" { soft } else { hard });
    let needed = stands + 2 + u64::from(separate) + u64::from(dynamic) + unused + for_map;
    let can_wear = hard > 0 && reserved > needed && wears.0.chance(0.25);
    if can_wear {
        put(format_args!("[ssd.wear]\nendurance = {}", wears.pick(&["1", "2", "4", "10", "20"])));
        put(format_args!("spread = \"{}\"", wears.pick(&["0%", "10%", "30%"])));
        put(format_args!("drive_spread = \"{}\"", wears.pick(&["0%", "3%", "30%"])));
        put(format_args!("end_at_spare = \"{}\"", wears.pick(&["0%", "50%", "100%"])));
        put(format_args!("used = \"{}\"", wears.pick(&["0%", "0%", "50%", "100%"])));
    }
    let mut rates = Draw(Rng::stream(seed, "swarm/rating"));
    if rates.0.chance(0.25) {
        let forms = ["dwpd = 0.3\nyears = 5", "tbw = \"1TB\"", "cycles = 3", "cycles = 3000"];
        put(format_args!("[ssd.rating]\n{}", rates.pick(&forms)));
    }
    let keys = level(&mut levels, layout.level());
    let has_cache = keys.contains("stripe_cache = ") && !keys.contains("stripe_cache = 0");
    put(format_args!("[array]\ndevices = {devices}\nstripe_unit = \"{stripe}B\"\n{keys}"));
    if depth.0.chance(0.2) {
        put(format_args!("queue_depth = {}", depth.range(1, 64)));
    }
    let mut link = Draw(Rng::stream(seed, "swarm/shared-link"));
    if link.0.chance(0.2) {
        put(format_args!("link.bandwidth = \"{}MB/s\"", link.range(20, 4000)));
    }
    let mut known = Draw(Rng::stream(seed, "swarm/knowledge"));
    let is_redundant = layout.level().redundancy(devices as u16) > 0;
    let interface = if known.0.chance(0.4) { Interface::Command } else { known.interface() };
    put(format_args!("{}", knowledge(&mut known, interface, is_redundant, page_size)));
    if !shares.is_empty() {
        put(format_args!("parity_shares = {shares:?}"));
    }
    if free_stripes > 0 {
        put(format_args!("free_stripes = {free_stripes}"));
    }
    let mut able = able(interface, is_redundant);
    able.retain(|&name| {
        name != "gaftl" || (free_stripes > 0 && !matches!(layout.level(), Level::Draid(_)) && !has_cache)
    });
    let policy = d.name(coordination::REGISTRY);
    let policy = if able.contains(&policy) { policy } else { known.pick(&able) };
    put(format_args!(
        "[array.coordination]\npolicy = \"{policy}\"\nmessage_latency = \"{}us\"",
        [0, 0, 1, d.range(0, 5000)][d.range(0, 3) as usize]
    ));
    if policy.starts_with("reactive-") && d.0.chance(0.6) {
        let delay = [0, d.range(0, 20_000)][d.range(0, 1) as usize];
        put(format_args!("fire_at = \"{}\"", if delay > 0 { "soft" } else { d.pick(&["hard", "soft"]) }));
        put(format_args!("delay = \"{delay}us\""));
    }
    if policy == "gaftl" {
        let mut moves = Draw(Rng::stream(seed, "swarm/gaftl"));
        let migration = moves.pick(&["none", "away", "back"]);
        let migration = if layout.level().parities() > 1 { "none" } else { migration };
        put(format_args!("stripes = \"rows\"\nmigration = \"{migration}\""));
        put(format_args!(
            "imbalance = {}\nforced = {}",
            moves.pick(&["0", "0.01", "1"]),
            moves.0.chance(0.5)
        ));
        put(format_args!("oldest_first = {}", moves.0.chance(0.5)));
    }
    if policy == "gcsync" {
        put(format_args!("window = \"{}us\"\nbuffer = \"{}us\"", d.range(10, 20_000), d.range(0, 9_000)));
    }
    if policy == "gclock" {
        put(format_args!("grace = \"{}us\"", d.range(1, 5_000)));
    }
    if policy == "ioda" {
        let window = d.range(1_000, 20_000);
        put(format_args!("window = \"{window}us\"\nbuffer = \"{}us\"", d.range(0, window - 1)));
        put(format_args!("mode = \"{}\"", known.pick(modes(interface, is_redundant))));
    }
    if policy == "plm" {
        put(format_args!("non_deterministic = \"{}us\"", d.range(10_000, 30_000)));
        put(format_args!("members = {}", known.range(1, layout.level().redundancy(devices as u16).into())));
        if known.0.chance(0.3) {
            put(format_args!("deterministic = \"{}us\"", known.range(1, 90_000)));
        }
    }
    if policy == "sit-out" {
        put(format_args!(
            "interval = \"{}us\"\nsit_out = \"{}us\"",
            known.range(1, 9_000),
            known.range(0, 90_000)
        ));
        put(format_args!("insensitivity = {}\noutliers = {}", known.range(0, 5), known.range(0, 20)));
    }
    if policy == "hedge" {
        put(format_args!("delay = \"{}us\"", d.range(1, 5_000)));
    }
    if policy == "proactive-idle" {
        put(format_args!("detect = \"{}\"", d.pick(&["poll", "event"])));
        put(format_args!("poll = \"{}us\"", [1000, 1, d.range(1, 5000)][d.range(0, 2) as usize]));
        put(format_args!("idle_threshold = \"{}us\"", [10_000, 0, d.range(0, 5000)][d.range(0, 2) as usize]));
    }
    if policy == "proactive-soft-limit" {
        put(format_args!("collect = \"{}\"", d.pick(&["pull", "push", "both"])));
        put(format_args!("poll = \"{}us\"", [5000, 100, d.range(10, 5000)][d.range(0, 2) as usize]));
        put(format_args!("horizon = \"{}us\"", [20_000, 0, d.range(0, 50_000)][d.range(0, 2) as usize]));
        put(format_args!("quiet = {}", d.range(0, 3)));
        put(format_args!("min_fragmentation = {}", [0.05, d.share()][d.range(0, 1) as usize]));
    }
    for index in 0..devices {
        if d.0.chance(0.2) {
            put(format_args!("[[array.member]]\nindex = {index}\ncapable = {}", d.0.chance(0.5)));
            if d.0.chance(0.3) {
                put(format_args!("gc = {{ victim = \"{}\" }}", victim(&mut d)));
            }
        }
    }
    let fill = if d.0.chance(0.6) { 1.0 } else { d.share().max(0.01) };
    let overwrite = if d.0.chance(0.3) { 0.0 } else { 3.0 * d.share() };
    let (fill, overwrite) = if deletes.0.chance(0.2) { (0.0, 0.0) } else { (fill, overwrite) };
    put(format_args!("[precondition]\nfill = {fill}\noverwrite = {overwrite}"));
    // Members that may fail do not come to rest behind a warm-up.
    if warms.0.chance(0.2) && !(can_wear && is_redundant) {
        put(format_args!("warmup_policy = \"local\""));
    }
    let requests = d.range(20, 300);
    let warmup = if d.0.chance(0.5) { 0 } else { d.range(0, requests / 2) };
    // About what the dies can take, from idle to hopelessly overloaded.
    let rate = 10f64.powi(d.range(1, 4) as i32) * (1.0 + 9.0 * d.share());
    put(format_args!("[workload]\nwarmup = {warmup}"));
    if hurry.0.chance(0.5) {
        put(format_args!(
            "deadline = {{ {} = \"{}us\" }}",
            hurry.pick(&["read", "write"]),
            hurry.range(1, 9_000)
        ));
    }
    // What fits anywhere: the array, and each member that requests may be pinned to.
    let array_bytes = layout.logical_bytes();
    let pinned: Vec<u64> = (0..devices).map(|member| layout.pinned_bytes(DeviceId(member as u16))).collect();
    let whole = pinned.iter().copied().filter(|&bytes| bytes > 0).min().unwrap_or(0).min(array_bytes);
    if d.0.chance(0.2) {
        let spc = d.0.chance(0.5);
        put(format_args!("kind = \"trace\"\nformat = \"{}\"", if spc { "spc" } else { "msr" }));
        put(format_args!("remap = \"{}\"", d.pick(&["wrap", "scale"])));
        put(format_args!("volumes = {}", d.pick(&["\"apart\"", "\"overlay\""])));
        let scale = [1.0, 0.3, 7.5][d.range(0, 2) as usize];
        let mut paces = Draw(Rng::stream(seed, "swarm/paces"));
        put(format_args!("repeat = {}", paces.range(1, 3)));
        let pace = match paces.range(0, 3) {
            0 => format!("replay = \"closed\"\nqueue_depth = {}", paces.range(1, 40)),
            1 => format!("replay = \"think-times\"\ntime_scale = {scale}"),
            _ => format!("time_scale = {scale}"),
        };
        put(format_args!("{pace}"));
        put(format_args!("align = {}", d.0.chance(0.3)));
        let mut trace = trace(&mut d, spc, requests, array_bytes, page_size, rate);
        let bad = if d.0.chance(0.3) { d.range(1, 5) } else { 0 };
        put(format_args!("skip_bad = {bad}"));
        for _ in 0..bad {
            let at = d.range(0, trace.len() as u64 - 1) as usize;
            trace.insert_str(trace[..at].rfind('\n').map_or(0, |end| end + 1), MALFORMED);
        }
        return Generated { toml: text, trace: Some(trace) };
    }
    put(format_args!("requests = {requests}"));
    let part = array_bytes / page_size / 2;
    if part >= LEAST_PART && deletes.0.chance(0.2) {
        let mut streams = Draw(Rng::stream(seed, "swarm/streams"));
        put(format_args!("time_scale = {}", streams.pick(&["1", "0.3", "7.5"])));
        put(format_args!("[workload.stream.a]\n{}", stream(&mut streams, page_size, part, rate)));
        put(format_args!("[workload.stream.b]\n{}", stream(&mut streams, page_size, part, rate / 3.0)));
        return Generated { toml: text, trace: None };
    }
    let process = d.pick(&["poisson", "fixed", "closed", "on-off", "write-bursts"]);
    match process {
        "closed" => {
            put(format_args!("arrival = {{ process = \"closed\", queue_depth = {} }}", d.range(1, 40)))
        }
        "on-off" | "write-bursts" => put(format_args!(
            "arrival = {{ process = \"{process}\", rate = {rate}, burst_rate = {}, burst_length = {} }}",
            rate * (1.01 + 50.0 * d.share()),
            d.range(2, 60)
        )),
        _ => put(format_args!("arrival = {{ process = \"{process}\", rate = {rate} }}")),
    }
    let most = (whole / page_size).min(12);
    let mean = match d.range(0, 2) {
        0 => page_size,
        1 => d.range(1, most) * page_size,
        _ => d.range(1, most * page_size),
    };
    let distribution = d.pick(&["fixed", "fixed", "exponential", "normal"]);
    match distribution {
        "exponential" => {
            let mean = mean.min(whole / 30).max(1);
            put(format_args!("size = {{ distribution = \"exponential\", mean = \"{mean}B\" }}"));
        }
        "normal" => {
            let mean = mean.min(whole / 8).max(1);
            put(format_args!(
                "size = {{ distribution = \"normal\", mean = \"{mean}B\", stddev = \"{}B\" }}",
                mean / 2
            ));
        }
        _ => put(format_args!("size = {{ mean = \"{mean}B\" }}")),
    }
    let reads = [0.0, d.share(), d.share()][d.range(0, 2) as usize];
    // Bursts of writes need something that writes.
    let reads = if process == "write-bursts" { reads.min(0.99) } else { reads };
    put(format_args!("read_fraction = {reads}\nalign = {}", d.0.chance(0.7)));
    if deletes.0.chance(0.4) {
        put(format_args!("trim_fraction = {}", trims(&mut deletes, reads)));
    }
    let mut through = Draw(Rng::stream(seed, "swarm/fua"));
    if through.0.chance(0.4) {
        put(format_args!("fua_fraction = {}", through.share()));
    }
    // Both parts of a hot spot have to hold the largest request.
    let divisible = distribution == "fixed" && mean.next_multiple_of(page_size) * 4 <= whole;
    let last = if divisible { "hotspot" } else { "uniform" };
    let pattern = d.pick(&["uniform", "sequential", "zipf", last]);
    let skew = if devices > 1 && d.0.chance(0.3) { d.share() } else { 0.0 };
    let member = d.range(0, devices - 1);
    // Members with parity only have nothing to prefer, and where each holds everything none can be.
    let skew = if (1..array_bytes).contains(&pinned[member as usize]) { skew } else { 0.0 };
    if distribution == "fixed" && deletes.0.chance(0.2) {
        put(format_args!("[workload.address]\n{}", files(&mut deletes, mean, whole)));
        return Generated { toml: text, trace: None };
    }
    put(format_args!("[workload.address]\npattern = \"{pattern}\"\nskew = {skew}\nskew_member = {member}"));
    match pattern {
        "zipf" => {
            put(format_args!("theta = {}", [0.99, 1.0, 0.05 + 3.0 * d.share()][d.range(0, 2) as usize]))
        }
        "hotspot" => put(format_args!("hot_space = {}\nhot_traffic = {}", 0.3 + 0.4 * d.share(), d.share())),
        _ => {}
    }
    let mut space = Draw(Rng::stream(seed, "swarm/footprint"));
    let least = 4.0 * mean as f64 / whole as f64;
    if skew == 0.0 && pattern != "hotspot" && distribution == "fixed" && least < 1.0 && space.0.chance(0.8) {
        let footprint = least + (1.0 - least) * space.share();
        put(format_args!("footprint = {footprint}"));
        if layout.level() == Level::Raid0 && overwrite > 0.0 && space.0.chance(0.9) {
            text = text.replacen("overwrite = ", "overwrite_space = \"footprint\"\noverwrite = ", 1);
        }
    }
    Generated { toml: text, trace: None }
}

/// A layout that holds something: of any level that so many members can have, every fourth of them RAID-0.
pub(super) fn layout(d: &mut Draw, devices: u16, stripe: u64, page_size: u64, member_bytes: u64) -> Layout {
    let rotation = |d: &mut Draw, raid6: bool| {
        let all = Rotation::ALL.into_iter().filter(|rotation| raid6 || !rotation.is_raid6_only());
        let all: Vec<Rotation> = all.collect();
        if d.0.chance(0.4) { Rotation::default() } else { all[d.0.below(all.len() as u64) as usize] }
    };
    let level = match d.range(0, 7) {
        0 | 1 => Level::Raid0,
        2 => Level::Raid1,
        3 => Level::Raid10(Copies {
            pattern: Pattern::ALL[d.range(0, 2) as usize],
            count: d.range(2, 3) as u16,
        }),
        4 => Level::Raid4,
        5 | 6 => Level::Raid5(rotation(d, false)),
        _ => Level::Raid6(rotation(d, true)),
    };
    let level = if level.least_members() > devices { Level::Raid0 } else { level };
    // Small units, so that members hold several rows of them; or whatever the seed drew for RAID-0.
    let unit = if d.0.chance(0.7) { stripe } else { (page_size * d.range(1, 4)).min(stripe) };
    let of = |level, unit| Layout::new(level, devices, unit, page_size, member_bytes);
    let fits = [of(level, unit), of(level, page_size)].into_iter().find(|layout| layout.logical_bytes() > 0);
    fits.unwrap_or_else(|| of(Level::Raid0, stripe))
}

/// The keys of a level, of which the defaults may be left out.
pub(super) fn level(d: &mut Draw, level: Level) -> String {
    let mut keys = format!("level = \"{}\"\n", level.name());
    if let Some(placement) = level.placement() {
        let usual = ["left-symmetric", "near-2"].contains(&placement.as_str());
        if !usual || d.0.chance(0.5) {
            writeln!(keys, "layout = \"{placement}\"").expect("text grows");
        }
    }
    if level.parities() > 0 && d.0.chance(0.7) {
        let small_write = d.pick(&["fewest", "read-modify-write", "reconstruct"]);
        writeln!(keys, "small_write = \"{small_write}\"").expect("text grows");
        let degraded_writes = d.pick(&["md", "fewest"]);
        writeln!(keys, "degraded_writes = \"{degraded_writes}\"").expect("text grows");
    }
    if level.parities() > 0 && d.0.chance(0.3) {
        writeln!(keys, "stripe_cache = {}", d.pick(&["0", "17", "256"])).expect("text grows");
        writeln!(keys, "delay_pre_reads = {}", d.0.chance(0.5)).expect("text grows");
    }
    keys
}

/// What members of a rung reveal, and what the array makes of it: NVRAM often none, or room for a page or a few.
pub(super) fn knowledge(d: &mut Draw, interface: Interface, is_redundant: bool, page_size: u64) -> String {
    let mut keys = format!("interface = \"{interface}\"\n");
    if interface == Interface::Log && d.0.chance(0.7) {
        writeln!(keys, "poll = \"{}us\"", [1_000, d.range(10, 50_000)][d.range(0, 1) as usize])
            .expect("text grows");
    }
    let tells = matches!(interface, Interface::Log | Interface::Busy | Interface::Command);
    let reads = if tells && is_redundant { d.pick(&["wait", "avoid", "avoid"]) } else { "wait" };
    let pages = [0, 0, 1, d.range(2, 6), 1_000_000][d.range(0, 4) as usize];
    writeln!(keys, "reads = \"{reads}\"\nnvram = \"{}B\"", pages * page_size).expect("text grows");
    keys
}

/// Modes of `ioda` that need no more than members offer.
pub(super) fn modes(interface: Interface, is_redundant: bool) -> &'static [&'static str] {
    match interface {
        Interface::Nothing | Interface::Log => &["off"],
        Interface::Busy | Interface::Command if is_redundant => {
            &["fast-fail", "remaining", "windows", "all", "off"]
        }
        Interface::Window | Interface::Busy | Interface::Command => &["windows", "off"],
    }
}

/// Policies that need no more than members and level offer. Whether `ioda` does depends on its mode.
pub(super) fn able(interface: Interface, is_redundant: bool) -> Vec<&'static str> {
    let works = |needs: &Needs| needs.interface <= interface && (is_redundant || !needs.redundancy);
    needs()
        .into_iter()
        .filter(|(name, needs)| *name == "ioda" || works(needs))
        .map(|(name, _)| name)
        .collect()
}

/// Stripes that are kept free on some arrays with parity, and the layout of the others.
pub(super) fn reserve(d: &mut Draw, layout: Layout) -> (u64, Layout) {
    let (unit, stripes) = (layout.stripe_unit(), layout.member_bytes() / layout.stripe_unit());
    let free =
        if layout.level().parities() > 0 && d.0.chance(0.6) { d.range(0, 3).min(stripes - 1) } else { 0 };
    let (level, members) = (layout.level(), layout.members());
    let left = layout.member_bytes() - free * unit;
    (free, if free > 0 { Layout::new(level, members, unit, layout.page_size(), left) } else { layout })
}

/// Shares of parity where it moves, in a third of the cases.
pub(super) fn shares(d: &mut Draw, layout: Layout) -> (Vec<u16>, Layout) {
    let moves = matches!(layout.level(), Level::Raid5(rotation)
        if ![Rotation::ParityFirst, Rotation::ParityLast].contains(&rotation));
    let shares: Vec<u16> = (0..layout.members()).map(|_| d.range(0, 4) as u16).collect();
    let stripes = layout.member_bytes() / layout.stripe_unit();
    let can_be =
        shares.iter().filter(|&&share| share > 0).count() > 1 && period_of_shares(&shares) <= stripes;
    if moves && can_be && d.0.chance(0.4) {
        (shares.clone(), layout.sharing(&shares))
    } else {
        (Vec::new(), layout)
    }
}

/// A policy, with this key if it is the one that has it.
pub(super) fn with_key(policy: &str, owner: &str, key: &str, value: &str) -> String {
    if policy == owner {
        format!("{{ policy = \"{policy}\", {key} = {value} }}")
    } else {
        format!("\"{policy}\"")
    }
}

/// A policy, half of the time the one that limits nothing, with keys of its own in two of three cases.
pub(super) fn concurrency(d: &mut Draw, channels: u64) -> String {
    let policy = if d.0.chance(0.5) { "unlimited" } else { d.name(concurrency::REGISTRY) };
    let low = 0.9 * d.share();
    let band = format!("low = {low}\nhigh = {}\nmax_channels = {}", low + 0.1, d.range(1, channels));
    let own = match policy {
        "fixed" => format!("start = {}\nchannels = {}", d.share(), d.range(1, channels)),
        "adaptive" => format!("{band}\nramp = \"{}\"", d.pick(&["floor", "ceil", "scaled"])),
        "queue-depth" => format!("{band}\ndepth = {}", d.range(1, 40)),
        "idle-time" => {
            format!(
                "{band}\nidle = \"{}us\"\nscope = \"{}\"",
                d.range(1, 3000),
                d.pick(&["device", "channel"])
            )
        }
        "rotation" => format!("start = {}\ngroup = \"{}\"", d.share(), d.pick(&["device", "channel"])),
        _ => String::new(),
    };
    let own = if d.0.chance(0.67) { own } else { String::new() };
    format!("policy = \"{policy}\"\n{own}")
}

/// A share of deletions that leaves something to write.
pub(super) fn trims(d: &mut Draw, reads: f64) -> f64 {
    (d.share() * (1.0 - reads) * 90.0).floor() / 100.0
}

/// Fewest pages that hold the requests and files of a stream.
pub(super) const LEAST_PART: u64 = 16;

/// A stream with half of an array that has twice `part` pages.
pub(super) fn stream(d: &mut Draw, page_size: u64, part: u64, rate: f64) -> String {
    let reads = d.share();
    let mean = d.range(1, page_size * (part / 4).min(12));
    let address = match d.range(0, 2) {
        0 => files(d, mean, part * page_size),
        1 => "pattern = \"sequential\"\n".to_owned(),
        _ => "pattern = \"zipf\"\n".to_owned(),
    };
    let address = address.replace('\n', ", ");
    format!(
        "arrival = {{ process = \"{}\", rate = {rate} }}\nsize.mean = \"{mean}B\"\nread_fraction = {reads}\n\
         trim_fraction = {}\naddress = {{ {address}footprint = 0.5 }}",
        d.pick(&["poisson", "fixed"]),
        trims(d, reads)
    )
}

/// Files that hold a request of `mean` bytes, in a space of so many.
pub(super) fn files(d: &mut Draw, mean: u64, space: u64) -> String {
    let largest = d.range(mean, space);
    format!(
        "pattern = \"files\"\nfile_size = \"{largest}B\"\nfile_size_min = \"{}B\"\nreads = \"{}\"\n\
         deletes = \"{}\"\ndelete_batch = {}\n",
        d.range(1, largest),
        d.pick(&["sequential", "random"]),
        d.pick(&["oldest", "random"]),
        d.range(1, 4)
    )
}

/// A line that is a row in no format.
pub(super) const MALFORMED: &str = "not a row\n";

/// Rows as the MSR or SPC format has them: unaligned, in order of time, partly beyond the array, of three volumes.
pub(super) fn trace(
    d: &mut Draw,
    spc: bool,
    requests: u64,
    array_bytes: u64,
    page_size: u64,
    rate: f64,
) -> String {
    let mut rows = String::new();
    let mut ticks: u64 = if spc { 0 } else { 128_166_372_003_061_629 };
    for _ in 0..requests {
        let kind = d.pick(&["Read", "Write", "Write"]);
        let length = d.range(1, (5 * page_size).min(array_bytes));
        let offset = d.range(0, array_bytes * 5 / 4) / 512 * 512;
        let volume = d.range(0, 2);
        let row = match spc {
            true => format!(
                "{volume},{},{length},{},{}.{:07}",
                offset / 512,
                &kind[..1],
                ticks / 10_000_000,
                ticks % 10_000_000
            ),
            false => format!("{ticks},swarm,{volume},{kind},{offset},{length},{}", ticks % 9973),
        };
        writeln!(rows, "{row}").expect("text grows");
        ticks += (d.0.exponential(1e7 / rate) as u64).min(10_000_000);
    }
    rows
}
