//! Does anything break when everything varies at once? Random small scenarios, each from a printed seed.
//!
//! A seed makes a whole scenario: geometry, allocation and its unit, priority, suspending, thresholds, spare, victim,
//! schedule, trigger, domain, level and layout, what members reveal, coordination, load, ageing, members. It runs with every invariant checked after every
//! event, and its report must add up. `HARMONIA_SWARM=100000` runs so many; `HARMONIA_SWARM_FIRST=4711` begins at that
//! seed.
//!
//! `faults` draws failures into the same scenarios, `own_keys` those keys of policies that nothing here knows, and `declared` any
//! keys by their declarations.
//! `explained` accounts for every nanosecond of their requests. `forks` cuts runs in two, `floating` gives them stripes that leave a member free, and
//! `windows` policies with windows and long gaps between requests.
//!
//! Not verified here: data content and exact times (the device's own tests do), trims of a trace (no format has them yet).

mod declared;
mod explained;
mod faults;
mod floating;
mod forks;
mod own_keys;
pub mod waits;
mod ways;
mod windows;

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use harmonia_array::coordination;
use harmonia_array::layout::{Copies, Layout, Pattern, Rotation, period_of_shares};
use harmonia_array::{Interface, Level, Reads};
use harmonia_engine::Rng;
use harmonia_metrics::{
    ArrayReport, DeviceReport, DistributionSummary, InsideReport, Replacements, Report, Years,
};
use harmonia_run::{RunError, RunOptions, run};
use harmonia_scenario::Scenario;
use harmonia_scenario::policies::{Needs, needs};
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_ssd::{Order, SsdConfig};
use harmonia_types::registry::names;
use harmonia_types::{DeviceId, IoCause};
use harmonia_workload::{Limit, StreamsConfig, SyntheticConfig, WorkloadConfig};

/// `make swarm` and `make nightly` run more.
const SCENARIOS: u64 = 400;

/// A scenario, and the trace that goes with it.
struct Generated {
    toml: String,
    trace: Option<String>,
}

/// What is drawn.
struct Draw(Rng);

impl Draw {
    fn range(&mut self, from: u64, to: u64) -> u64 {
        from + self.0.below(to - from + 1)
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.0.below(choices.len() as u64) as usize]
    }

    fn name<F>(&mut self, registry: &'static [harmonia_types::registry::Entry<F>]) -> &'static str {
        let all: Vec<&str> = names(registry).collect();
        self.pick(&all)
    }

    fn interface(&mut self) -> Interface {
        Interface::ALL[self.0.below(Interface::ALL.len() as u64) as usize]
    }

    fn share(&mut self) -> f64 {
        (self.0.unit() * 100.0).round() / 100.0
    }
}

/// The scenario of a seed, some of whose arrays are aged by its load.
fn generate(seed: u64) -> Generated {
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
const AGED_BY_LOAD: &str = "overwrite_space = \"load\"\n";

/// Spare always suffices for the thresholds, so every scenario should run.
fn drawn(seed: u64) -> Generated {
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
        put(format_args!("migration = \"{migration}\""));
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
fn layout(d: &mut Draw, devices: u16, stripe: u64, page_size: u64, member_bytes: u64) -> Layout {
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
fn level(d: &mut Draw, level: Level) -> String {
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
fn knowledge(d: &mut Draw, interface: Interface, is_redundant: bool, page_size: u64) -> String {
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
fn modes(interface: Interface, is_redundant: bool) -> &'static [&'static str] {
    match interface {
        Interface::Nothing | Interface::Log => &["off"],
        Interface::Busy | Interface::Command if is_redundant => {
            &["fast-fail", "remaining", "windows", "all", "off"]
        }
        Interface::Window | Interface::Busy | Interface::Command => &["windows", "off"],
    }
}

/// Policies that need no more than members and level offer. Whether `ioda` does depends on its mode.
fn able(interface: Interface, is_redundant: bool) -> Vec<&'static str> {
    let works = |needs: &Needs| needs.interface <= interface && (is_redundant || !needs.redundancy);
    needs()
        .into_iter()
        .filter(|(name, needs)| *name == "ioda" || works(needs))
        .map(|(name, _)| name)
        .collect()
}

/// Stripes that are kept free on some arrays with parity, and the layout of the others.
fn reserve(d: &mut Draw, layout: Layout) -> (u64, Layout) {
    let (unit, stripes) = (layout.stripe_unit(), layout.member_bytes() / layout.stripe_unit());
    let free =
        if layout.level().parities() > 0 && d.0.chance(0.6) { d.range(0, 3).min(stripes - 1) } else { 0 };
    let (level, members) = (layout.level(), layout.members());
    let left = layout.member_bytes() - free * unit;
    (free, if free > 0 { Layout::new(level, members, unit, layout.page_size(), left) } else { layout })
}

/// Shares of parity where it moves, in a third of the cases.
fn shares(d: &mut Draw, layout: Layout) -> (Vec<u16>, Layout) {
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
fn with_key(policy: &str, owner: &str, key: &str, value: &str) -> String {
    if policy == owner {
        format!("{{ policy = \"{policy}\", {key} = {value} }}")
    } else {
        format!("\"{policy}\"")
    }
}

/// A policy, half of the time the one that limits nothing, with keys of its own in two of three cases.
fn concurrency(d: &mut Draw, channels: u64) -> String {
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
fn trims(d: &mut Draw, reads: f64) -> f64 {
    (d.share() * (1.0 - reads) * 90.0).floor() / 100.0
}

/// Fewest pages that hold the requests and files of a stream.
const LEAST_PART: u64 = 16;

/// A stream with half of an array that has twice `part` pages.
fn stream(d: &mut Draw, page_size: u64, part: u64, rate: f64) -> String {
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
fn files(d: &mut Draw, mean: u64, space: u64) -> String {
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
const MALFORMED: &str = "not a row\n";

/// Rows as the MSR or SPC format has them: unaligned, in order of time, partly beyond the array, of three volumes.
fn trace(d: &mut Draw, spc: bool, requests: u64, array_bytes: u64, page_size: u64, rate: f64) -> String {
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

enum Ending {
    /// It ran; whether anything was collected.
    Report(bool),
    /// The text of a refusal that says the device ran out of blocks.
    OutOfBlocks(String),
}

/// Runs the scenario of a seed and checks its report.
fn check(seed: u64, generated: &Generated, folder: &std::path::Path) -> Ending {
    let file = generated.trace.as_ref().map(|rows| {
        let path = folder.join(format!("{seed}.csv"));
        std::fs::write(&path, rows).expect("the trace can be written");
        path
    });
    let mut toml = generated.toml.clone();
    if let Some(path) = &file {
        // The load's table is the last of a scenario with a trace.
        writeln!(toml, "path = {:?}", path.display().to_string()).expect("text grows");
    }
    let plain = Scenario::parse(&toml, "swarm.toml", &[], None).unwrap_or_else(|error| panic!("{error}"));
    let scenario = own_keys::drawn(seed, &toml, plain);
    let waits = waits::Waits::default();
    let options = RunOptions { checked: true, observe: &waits, ..RunOptions::default() };
    let result = run(&scenario, &options);
    if let Some(path) = file {
        std::fs::remove_file(path).expect("the trace can be removed");
    }
    match result {
        Ok(report) => {
            adds_up(&scenario, generated, &report);
            waits.agree_with(&report);
            Ending::Report(report.array.erases > 0)
        }
        Err(RunError::BadInput(error)) => {
            let text = error.to_string();
            assert!(text.contains("ran out of free blocks") && text.contains("device "), "refused: {text}");
            Ending::OutOfBlocks(text)
        }
        Err(error) => panic!("{error}"),
    }
}

/// A drive has a lifetime where something says what it endures, and its limits come in their order.
/// Members are replaced one after the other, and chances are chances.
fn replacements_add_up(scenario: &Scenario, of: &Replacements<f64>) {
    assert!(scenario.array.level.redundancy(scenario.array.devices) > 0);
    assert_eq!(of.years.len(), usize::from(scenario.array.devices), "{of:?}");
    assert!(
        of.years.is_sorted() && of.years.iter().all(|years| years.is_finite() && *years >= 0.0),
        "{of:?}"
    );
    assert!(of.per_year.is_finite() && of.per_year >= 0.0, "{of:?}");
    let Some(risk) = of.risk else { return };
    let chances = [risk.second_by_wear, risk.second_by_failure, risk.unreadable, risk.loss, of.unused];
    assert!(chances.iter().all(|chance| (0.0..=1.0).contains(chance)), "{of:?}");
    let losses =
        [risk.losses_by_wear, risk.losses_by_failure, risk.losses_by_unreadable, risk.losses_by_both];
    assert!(losses.iter().all(|losses| losses.is_finite() && *losses >= 0.0), "{of:?}");
}

/// Pages moved out of victims, to level wear or not.
fn moved_by(device: &DeviceReport) -> u64 {
    device.gc_pages_moved + device.leveled_pages_moved
}

fn life_adds_up(device: &DeviceReport, ssd: &SsdConfig) {
    assert_eq!(device.lifetime.is_some(), ssd.wear.is_some() || ssd.rating.is_some());
    let Some(life) = device.lifetime else { return };
    let Years { cycles, rated_bytes, first_block, read_only } = life.years;
    let all = [cycles, rated_bytes, first_block, read_only];
    assert!(all.into_iter().flatten().all(|years| years.is_finite() && years >= 0.0), "{life:?}");
    let is_in_order = |(first, last): (f64, f64)| first <= last * (1.0 + 1e-9);
    assert!(first_block.zip(read_only).is_none_or(is_in_order), "the first block is the first: {life:?}");
    let known = life.write_amplification.is_some() && device.host_bytes_written > 0;
    assert_eq!(read_only.is_some(), known && ssd.wear.is_some(), "{life:?}");
    assert_eq!(life.ends_after().is_some(), life.limit.is_some(), "{life:?}");
}

/// So many bytes were programmed for pages of the map, with what their programs lacked.
fn is_of_map(programmed: u64, bytes: &harmonia_metrics::FlashBytes) {
    let written = bytes[IoCause::Map];
    let is_right =
        if written == 0 { programmed == 0 } else { (written..=written + bytes[None]).contains(&programmed) };
    assert!(is_right, "programs are the sum over causes: {programmed} bytes of the map, not {written}");
}

fn adds_up(scenario: &Scenario, generated: &Generated, report: &Report) {
    let host = &report.host;
    let submitted = match (&scenario.workload, &generated.trace) {
        (WorkloadConfig::Trace(load), Some(rows)) => {
            let copies = u64::from(load.repeat);
            let bad = rows.matches(MALFORMED).count() as u64;
            let trace = report.trace.as_ref().expect("the load is a trace");
            assert_eq!(
                (trace.bad, trace.bad_examples.len() as u64),
                (bad * copies, bad),
                "malformed rows are counted"
            );
            let rows = (rows.lines().count() as u64 - bad) * copies;
            assert_eq!((trace.rows, &trace.skipped, &trace.repaired), (rows, &vec![], &vec![]));
            rows
        }
        (WorkloadConfig::Synthetic(SyntheticConfig { limit: Limit::Requests(requests), .. }), None)
        | (WorkloadConfig::Streams(StreamsConfig { limit: Limit::Requests(requests), .. }), None) => {
            *requests
        }
        _ => unreachable!("a trace has rows, and the swarm counts requests"),
    };
    let warmup = match &scenario.workload {
        WorkloadConfig::Synthetic(load) => load.warmup,
        WorkloadConfig::Streams(load) => load.warmup,
        WorkloadConfig::Trace(trace) => trace.warmup,
    };
    let Limit::Requests(warmup) = warmup else { unreachable!("the swarm counts requests") };
    assert_eq!(host.requests, submitted - warmup, "every request after the warm-up completes exactly once");
    let by_kind = host.read_requests + host.write_requests + host.trim_requests;
    assert_eq!(by_kind, host.requests, "reads, writes and trims are all there is");

    let response = &host.response_ns;
    assert_eq!(response.all.count, host.requests);
    assert_eq!((response.read.count, response.write.count), (host.read_requests, host.write_requests));
    for (what, summary) in [
        ("all", &response.all),
        ("read", &response.read),
        ("write", &response.write),
        ("gc-affected reads", &response.gc_affected_read),
        ("gc-affected writes", &response.gc_affected_write),
        ("reads that met collection", &response.met_gc_read),
        ("writes that met collection", &response.met_gc_write),
    ] {
        ordered(what, summary);
    }
    assert!(response.gc_affected_read.count <= response.read.count, "affected reads are reads");
    assert!(response.gc_affected_write.count <= response.write.count, "affected writes are writes");
    let summed = response.all.mean.unwrap_or(0.0) * response.all.count as f64;
    let blamed = host.blame_ns.total() as f64;
    assert!((summed - blamed).abs() <= 1e-9 * blamed.max(1.0), "blame {blamed} of {summed}");
    assert!(host.response_cdf.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
    assert!(host.response_cdf.last().is_none_or(|last| (last.1 - 1.0).abs() < 1e-9), "the CDF ends at 1");

    let array = &report.array;
    array.replacements.iter().for_each(|of| replacements_add_up(scenario, of));
    let copies = array.redundancy.map_or(0, |redundancy| redundancy.copy_pages_written);
    let shares = &array.devices_in_gc_fraction;
    assert_eq!(shares.len(), usize::from(scenario.array.devices) + 1);
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "shares of GC sum to 1: {shares:?}");
    let bytes = &array.flash_bytes;
    let page = scenario.array.page_size();
    let own = (bytes[IoCause::Log] + bytes[IoCause::Background]) / page;
    let moved = array.gc_pages_moved + array.leveled_pages_moved;
    let others = array.host_pages_written + copies + moved + array.parity_pages_written + own;
    let map = array.flash_pages_programmed.checked_sub(others);
    is_of_map(map.expect("programs are the sum over causes") * page, bytes);
    let all = bytes[IoCause::Host]
        + bytes[IoCause::Map]
        + bytes[None]
        + bytes[IoCause::Parity]
        + bytes[IoCause::Log]
        + bytes[IoCause::Gc]
        + bytes[IoCause::Leveling];
    assert_eq!(array.flash_bytes_programmed, all, "{bytes:?}");
    assert_eq!(array.flash_pages_programmed * page, all + bytes[IoCause::Background], "{bytes:?}");
    let ratio = array.flash_bytes_programmed as f64 / array.host_bytes_written as f64;
    assert_eq!(array.write_amplification, (array.host_bytes_written > 0).then_some(ratio));
    let of_warmup =
        array.host_bytes_written.checked_sub(host.bytes_written).expect("what is measured counts");
    assert!(warmup > 0 || of_warmup == 0, "{of_warmup} bytes of no warm-up");
    let drives: u64 = report.devices.iter().map(|device| device.flash_bytes_programmed).sum();
    assert_eq!(drives, all + bytes[IoCause::Background], "of all drives");
    for device in &report.devices {
        let ratio = device.flash_bytes_programmed as f64 / device.host_bytes_written as f64;
        assert_eq!(device.write_amplification, (device.host_bytes_written > 0).then_some(ratio));
    }
    let waited: u64 = report.devices.iter().map(|device| device.gc_waits.requests).sum();
    let waits: u128 = report.devices.iter().map(|device| device.gc_waits.ns).sum();
    assert!(waited <= host.requests, "a request waits longest for one member: {waited}");
    assert!(waits <= host.blame_ns.queue_gc, "{waits} ns are part of what blame has");
    assert_eq!(waited > 0, host.blame_ns.queue_gc > 0, "who waited for collection waited for somebody");
    let (mut erased_in_all, mut pages_in_all) = (0, 0);
    // Pages left unwritten are erased, too.
    let skipped = |inside: &InsideReport| inside.pairing.map_or(0, |pairing| pairing.writes.skipped);
    let mut sums = [0; 3];
    for (device, member) in report.devices.iter().zip(&scenario.array.members) {
        let shape = member.ssd.resolve().expect("it ran");
        assert_eq!(device.erases, device.gc_victims, "only collecting erases");
        let erased = device.erases * u64::from(shape.data_pages);
        let pages = u64::from(shape.units() * shape.blocks_per_unit * shape.data_pages);
        // How much parity each of them wrote is not in the report.
        if scenario.array.level.parities() == 0 {
            let map = device.flash_bytes[IoCause::Map];
            let written = device.host_pages_written + moved_by(device) + skipped(&device.inside) + map / page;
            // What programs of the map lack is not in the report by itself.
            let packs = map > 0 && shape.packing.packs();
            assert!(
                packs || written.abs_diff(erased) <= pages,
                "{written} written and {erased} erased of {pages} pages"
            );
        }
        erased_in_all += erased;
        pages_in_all += pages;
        let wear = &device.wear;
        assert!(wear.min as f64 <= wear.mean && wear.mean <= wear.max as f64, "{wear:?}");
        let erases = wear.mean * f64::from(shape.units() * shape.blocks_per_unit);
        assert!(erases + 1e-6 >= device.erases as f64, "{erases} erases in all, {} measured", device.erases);
        assert!(device.plane_utilisation_in_gc.is_none_or(|share| (0.0..=1.0).contains(&share)));
        life_adds_up(device, &member.ssd);
        let ideal = member.ssd.gc.schedule.policy == "ideal";
        assert!(!ideal || device.gc_busy_ns == 0, "ideal collection takes no time");
        for (sum, part) in sums.iter_mut().zip([device.erases, moved_by(device), device.host_pages_written]) {
            *sum += part;
        }
    }
    // Spares take the places of members that wear out, and a journal collects, too.
    let others = scenario.array.faults.spares.iter().chain(&scenario.array.faults.journal);
    for (device, other) in report.devices.iter().skip(scenario.array.members.len()).zip(others) {
        let shape = other.ssd.resolve().expect("it ran");
        erased_in_all += device.erases * u64::from(shape.data_pages);
        pages_in_all += u64::from(shape.units() * shape.blocks_per_unit * shape.data_pages);
        for (sum, part) in sums.iter_mut().zip([device.erases, moved_by(device), device.host_pages_written]) {
            *sum += part;
        }
    }
    let written = array.flash_pages_programmed + skipped(&array.inside);
    assert!(written.abs_diff(erased_in_all) <= pages_in_all, "{written} written and {erased_in_all} erased");
    parity_adds_up(scenario, array, warmup == 0);
    assert_eq!(sums, [array.erases, moved, array.host_pages_written + copies + own], "sums over devices");
    // A member that is kept free so that it can collect is waited for even where that takes no time.
    // So it is under floating stripes where something else is in the way, too.
    let waits = array.coordination.counters.get("waits_several").is_some_and(|&waits| waits > 0);
    let reserves = array.coordination.policy == "serial" || (waits && scenario.array.layout().is_floating());
    if !reserves && scenario.array.members.iter().all(|member| member.ssd.gc.schedule.policy == "ideal") {
        let affected = response.gc_affected_read.count + response.gc_affected_write.count;
        assert_eq!(affected, 0, "under ideal nobody waits for collection");
        // A trim of what a reserved member has waits for it: only writes are displaced.
        let trims = array.coordination.policy == "gaftl" && host.trim_requests > 0;
        assert!(trims || host.blame_ns.queue_gc == 0, "under ideal nobody waits for collection");
        assert_eq!(shares[0], 1.0);
    }
    knowledge_adds_up(scenario, array, warmup == 0);
    let counters = &array.coordination.counters;
    let capable = scenario.array.members.iter().filter(|member| member.capable).count() as u64;
    let notices = counters["soft_notices"] + counters["hard_notices"];
    // With status to be asked for as all they have, reads that avoid members have the array ask, whatever the policy.
    let asks = scenario.array.knowledge.interface == Interface::Log && counters["queries"] > 0;
    if asks {
        assert_ne!(scenario.array.knowledge.reads, Reads::Wait, "{counters:?}");
        assert_eq!(counters["queries"] % capable, 0, "all are asked at once: {counters:?}");
    }
    match array.coordination.policy.as_str() {
        "local" if asks => assert_eq!(counters.values().sum::<u64>(), counters["queries"], "{counters:?}"),
        "local" => assert!(counters.values().all(|&count| count == 0), "local sends nothing: {counters:?}"),
        // Who ends at or below soft may be forced again.
        "gcsync" | "gclock" | "serial" | "gaftl" | "ttflash" => {
            assert_eq!(counters["queries"], 0, "{counters:?}")
        }
        // Directives answer notices, or a period of idleness; a notice of the warm-up may be answered after it.
        policy => {
            let count = |name| counters.get(name).copied().unwrap_or(0);
            let answers = counters["forced"] - count("forced_in_idle") - count("forced_when_quiet");
            assert!(answers <= (notices + capable) * capable, "{counters:?}");
            assert!(count("forced_in_idle") <= count("idle_periods") * capable, "{counters:?}");
            assert!(count("forced_when_quiet") <= count("quiet_collections") * capable, "{counters:?}");
            if policy == "proactive-soft-limit" {
                assert_eq!(counters["queries"], count("polls") * capable, "{counters:?}");
            }
        }
    }
}

/// Of every row of a stripe that is written, all parity units are, and at least one data unit.
fn parity_adds_up(scenario: &Scenario, array: &ArrayReport, is_whole: bool) {
    let parities = u64::from(scenario.array.level.parities());
    let (parity, host) = (array.parity_pages_written, array.host_pages_written);
    if parities == 0 {
        assert_eq!(parity, 0, "no level without parity writes any");
    } else if is_whole {
        let data_units = u64::from(scenario.array.devices) - parities;
        // Pages that NVRAM held last, or that were overwritten there, were never programmed. The same goes for the caches of drives,
        // which may hold pages when the last request is answered.
        let nvram = array.nvram.unwrap_or_default();
        let cache = array.inside.write_cache.unwrap_or_default();
        let held = cache.admitted_pages.saturating_sub(parity + host);
        // Members that wear out take no more, parity or not.
        let lost = array.failures.as_ref().map_or(0, |failures| failures.lost.unwritten_pages);
        let kept = nvram.parked_pages - nvram.destaged_pages;
        let unwritten = kept + cache.absorbed_pages + cache.trimmed_pages + held + lost;
        // Where units lie away from home each has parity there, in its row without it, and in its row when it is home again.
        let displaces = array.coordination.policy == "gaftl";
        let times = if displaces { 3 } else { 1 };
        let moves = array.coordination.counters.get("migration_writes").copied().unwrap_or(0);
        let most = times * parities * (host + unwritten) + moves;
        assert_eq!(array.bounds.is_some(), displaces, "who goes around members promises how");
        // Where stripes float, a discard of a part of a row writes parity without it.
        let discards = scenario.array.layout().is_floating();
        let bounds = array.bounds.unwrap_or_default();
        assert!(bounds.reached + bounds.exceeded <= bounds.promised, "{bounds:?}");
        assert!(!discards || bounds.exceeded == 0, "floating stripes keep to the paper's counts: {bounds:?}");
        assert!(discards || parity <= most, "{parity} pages of parity for {host} of data");
        // Rows of members that have worn out are without their parity.
        let has_failed = array.failures.as_ref().is_some_and(|failures| !failures.events.is_empty());
        assert!(
            has_failed || (parity + unwritten) * data_units >= parities * host,
            "{parity} pages of parity for {host} of data"
        );
    }
}

/// NVRAM keeps its cap, reads go around members only where data is kept more than once, and nobody uses what members hide.
fn knowledge_adds_up(scenario: &Scenario, array: &ArrayReport, is_whole: bool) {
    let knowledge = &scenario.array.knowledge;
    let offered = Interface::ALL.map(Interface::name);
    let needed = offered.iter().position(|rung| *rung == array.coordination.interface);
    assert!(needed.is_some_and(|needed| needed <= knowledge.interface as usize), "{:?}", array.coordination);
    let nvram = array.nvram.unwrap_or_default();
    assert_eq!((array.nvram.is_some(), nvram.size_bytes), (knowledge.nvram > 0, knowledge.nvram));
    assert!(nvram.high_water_bytes <= knowledge.nvram, "NVRAM above its cap: {nvram:?}");
    let parked = nvram.parked_pages * scenario.array.page_size();
    assert!(!is_whole || nvram.high_water_bytes <= parked, "more held than parked: {nvram:?}");
    let gone = nvram.destaged_pages + nvram.superseded_pages;
    assert!(!is_whole || gone <= nvram.parked_pages, "pages leave once: {nvram:?}");
    let reads = array.reconstruct.unwrap_or_default();
    assert!(reads.hedges_won <= reads.hedges, "{reads:?}");
    if scenario.array.level.redundancy(scenario.array.devices) == 0 {
        assert_eq!(
            (reads.rebuilt_pages, reads.extra_pages, reads.hedges),
            (0, 0, 0),
            "there is no other way"
        );
    }
}

fn ordered(what: &str, summary: &DistributionSummary) {
    let percentiles = [summary.p50, summary.p75, summary.p95, summary.p99, summary.p999, summary.p9999];
    let mut steps: Vec<u64> = percentiles.iter().flatten().copied().collect();
    if let (Some(min), Some(mean), Some(max)) = (summary.min, summary.mean, summary.max) {
        assert!(min as f64 <= mean && mean <= max as f64, "{what}: mean {mean} of {min}..{max}");
        steps.insert(0, min);
        steps.push(max);
    } else {
        assert_eq!(summary.count, 0, "{what}: samples without moments");
    }
    assert!(steps.is_sorted(), "{what}: percentiles {steps:?}");
}

#[expect(clippy::disallowed_methods, reason = "a campaign's length is the caller's, not a scenario's")]
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn every_random_scenario_ends_and_adds_up() {
    let (first, count) = (setting("HARMONIA_SWARM_FIRST", 0), setting("HARMONIA_SWARM", SCENARIOS));
    let next = AtomicU64::new(first);
    let (collected, mapped) = (AtomicU64::new(0), AtomicU64::new(0));
    let failed = AtomicBool::new(false);
    let refused = Mutex::new(Vec::new());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let worker = || {
        while !failed.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                break;
            }
            let generated = generate(seed);
            let attempt = std::panic::AssertUnwindSafe(|| check(seed, &generated, folder.path()));
            match std::panic::catch_unwind(attempt) {
                Ok(Ending::Report(collects)) => {
                    collected.fetch_add(collects.into(), Ordering::Relaxed);
                    let is_mapped = generated.toml.contains("\nmapping_cache = ");
                    mapped.fetch_add(is_mapped.into(), Ordering::Relaxed);
                }
                Ok(Ending::OutOfBlocks(text)) => {
                    refused.lock().expect("no panic holds it").push((seed, text))
                }
                Err(panic) => {
                    failed.store(true, Ordering::Relaxed);
                    eprintln!("seed {seed} fails:\n{}", generated.toml);
                    eprintln!("{}", generated.trace.as_deref().unwrap_or_default());
                    std::panic::resume_unwind(panic);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..std::thread::available_parallelism().map_or(1, usize::from).min(8) {
            scope.spawn(worker);
        }
        worker();
    });
    let mut refused = refused.into_inner().expect("no panic holds it");
    refused.sort();
    let (collected, mapped) = (collected.into_inner(), mapped.into_inner());
    eprintln!(
        "{count} scenarios from seed {first}: {collected} collected garbage, {mapped} had a mapping cache, {} ran out of blocks",
        refused.len()
    );
    for (seed, text) in &refused {
        eprintln!("seed {seed}: {text}");
    }
    assert!(collected >= count / 2, "only {collected} of {count} scenarios collect garbage");
    assert!(mapped >= count / 20, "only {mapped} of {count} scenarios have a mapping cache");
    // Spare suffices in every one of them.
    assert!(refused.is_empty(), "feasible scenarios ran out of blocks");
}

/// Found beside the swarm: it aged the array first and refused then.
#[test]
fn skew_without_another_member_is_refused_before_anything_runs() {
    let toml = "[workload]\narrival = { rate = 1 }\nsize = { mean = \"4KiB\" }\naddress = { skew = 0.5 }\n\
                [array]\ndevices = 1\n";
    let error = Scenario::parse(toml, "skew.toml", &[], None).expect_err("one member cannot be skewed");
    assert_eq!(error.key(), Some("workload.address.skew"), "{error}");
    assert!(error.problem().contains("at least 2 devices"), "{error}");
}
