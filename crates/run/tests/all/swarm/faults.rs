//! The same scenarios with members that fail, are slow, are replaced while they work, and cannot read pages; with spares that
//! are rebuilt at any rate, and scrubs. Is every request answered once, and does what the report says of it add up?
//!
//! Not verified here: what is lost, and contents (the array's torture test does both).

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use harmonia_array::Level;
use harmonia_engine::Rng;
use harmonia_metrics::{FailuresReport, Happening, Report};
use harmonia_run::{RunError, RunOptions, run};
use harmonia_scenario::Scenario;
use harmonia_types::IoCause;

use super::floating::floating;
use super::forks::told;
use super::waits::Waits;
use super::{Draw, Generated, generate, ordered, setting};

const SCENARIOS: u64 = 200;

/// What befalls the members of a scenario, as keys of `[array]`.
fn keys(seed: u64, scenario: &Scenario) -> String {
    let mut d = Draw(Rng::stream(seed, "swarm/faults"));
    let devices = u64::from(scenario.array.devices);
    let is_redundant = scenario.array.level.redundancy(scenario.array.devices) > 0;
    let page = scenario.array.page_size();
    let spares = if is_redundant { d.range(0, 3) } else { 0 };
    let mut text = format!("page_errors = {}\n", d.pick(&["0", "0", "0.001", "0.05"]));
    let mut events = Vec::new();
    let (mut failed, mut replaced) = (Vec::new(), Vec::new());
    for _ in 0..d.range(0, 4) {
        let device = d.range(0, devices - 1);
        let kind = match d.range(0, 3) {
            0 => format!(", kind = \"slow\", factor = {}", d.pick(&["1", "1.5", "30"])),
            1 if (replaced.len() as u64) < spares && !replaced.contains(&device) => {
                replaced.push(device);
                ", kind = \"replace\"".to_owned()
            }
            _ if failed.contains(&device) => continue,
            _ => {
                failed.push(device);
                String::new()
            }
        };
        let when = match d.range(0, 1) {
            0 => format!("request = {}", d.range(1, 200)),
            _ => format!("at = \"{}us\"", d.range(0, 300_000)),
        };
        events.push(format!("{{ device = {device}, {when}{kind} }}"));
    }
    writeln!(text, "failure = [{}]", events.join(", ")).expect("text grows");
    if is_redundant {
        let most = d.range(1, 400_000);
        let (least, depth, step) = (d.range(1, most), d.range(1, 12), page * d.range(1, 20));
        writeln!(text, "spares = {spares}\nspare_state = \"{}\"", d.pick(&["new", "aged"]))
            .expect("text grows");
        writeln!(
            text,
            "rebuild = {{ min_rate = \"{least}KB/s\", max_rate = \"{most}KB/s\", depth = {depth}, step = \"{step}B\", \
             delay = \"{}us\" }}",
            d.pick(&["0", "0", "300", "50000"])
        )
        .expect("text grows");
        if d.0.chance(0.3) {
            let (at, mode) = (d.range(0, 200_000), d.pick(&["check", "repair"]));
            writeln!(text, "scrub = {{ at = \"{at}us\", mode = \"{mode}\" }}").expect("text grows");
        }
    }
    text + &losses_of_power(seed, scenario, spares)
}

/// Losses of power, in half of the scenarios that know them.
fn losses_of_power(seed: u64, scenario: &Scenario, spares: u64) -> String {
    let mut d = Draw(Rng::stream(seed, "swarm/power"));
    let is_known =
        !matches!(scenario.array.level, Level::Draid(_)) && scenario.array.coordination.policy != "gaftl";
    let mut caches = scenario.array.members.iter().map(|member| &member.ssd.write_cache);
    let forgets = caches.any(|cache| cache.size.is_some() && !cache.power_protected);
    let is_refused = forgets && spares > 0;
    if !is_known || is_refused || d.0.chance(0.5) {
        return String::new();
    }
    let losses: Vec<String> =
        (0..d.range(1, 3)).map(|_| format!("{{ request = {} }}", d.range(1, 200))).collect();
    format!("power_loss = [{}]\n", losses.join(", "))
}

/// What is kept against the write hole, in half of the scenarios that know something: a log that is often full, or a write-intent
/// bitmap whose bits come and go under any load, or stay.
fn write_hole(seed: u64, scenario: &Scenario) -> String {
    let array = &scenario.array;
    let mut d = Draw(Rng::stream(seed, "swarm/log"));
    let stripe = array.stripe_unit * u64::from(array.devices);
    if array.level.parities() > 0 && d.0.chance(0.3) {
        let size = (stripe * d.range(3, 9)).next_multiple_of(array.page_size());
        return match d.range(0, 1) {
            0 => format!("write_hole = \"ppl\"\nppl_size = \"{size}B\"\n"),
            _ => format!("write_hole = \"journal\"\njournal = {{ size = \"{size}B\" }}\n"),
        };
    }
    let mut d = Draw(Rng::stream(seed, "swarm/bitmap"));
    let is_known = array.level.redundancy(array.devices) > 0 && !matches!(array.level, Level::Draid(_));
    if !is_known || d.0.chance(0.5) {
        return String::new();
    }
    let chunk = match d.range(0, 2) {
        0 => String::new(),
        _ => format!("bitmap_chunk = \"{}B\"\n", array.stripe_unit * d.range(1, 40)),
    };
    let delay = d.pick(&["1ms", "4ms", "30ms", "5s"]);
    format!("write_hole = \"bitmap\"\n{chunk}bitmap_delay = \"{delay}\"\n")
}

fn parsed(toml: &str) -> Scenario {
    Scenario::parse(toml, "swarm.toml", &[], None).unwrap_or_else(|error| panic!("{error}\n{toml}"))
}

/// The scenario of a seed with faults; none where its load is a trace.
pub fn failing(seed: u64) -> Option<(String, Scenario)> {
    let Generated { toml, trace: None } = generate(seed) else { return None };
    let toml = toml.replace("warmup_policy = \"local\"\n", "");
    let plain = parsed(&toml);
    let (keys, hole) = (keys(seed, &plain), write_hole(seed, &plain));
    let with =
        |keys: String| toml.replacen("[array.coordination]", &format!("{keys}[array.coordination]"), 1);
    let marked = with(format!("{keys}{hole}"));
    // A load may need all of an array, and leave no room for a bitmap or a log, or the level know none.
    let toml = if Scenario::parse(&marked, "swarm.toml", &[], None).is_ok() { marked } else { with(keys) };
    let scenario = parsed(&toml);
    Some((toml, scenario))
}

fn report(scenario: &Scenario) -> Result<Report, RunError> {
    let (waits, cancel) = (Waits::default(), AtomicBool::new(false));
    let options = RunOptions { checked: true, cancel: &cancel, observe: &waits, ..RunOptions::default() };
    let report = run(scenario, &options)?;
    waits.agree_with(&report);
    Ok(report)
}

fn adds_up(scenario: &Scenario, report: &Report) {
    let (host, array) = (&report.host, &report.array);
    let by_kind = host.read_requests + host.write_requests + host.trim_requests;
    assert_eq!(by_kind, host.requests, "reads, writes and trims are all there is");
    let response = &host.response_ns;
    assert_eq!(response.all.count, host.requests);
    assert_eq!((response.read.count, response.write.count), (host.read_requests, host.write_requests));
    ordered("all", &response.all);
    let summed = response.all.mean.unwrap_or(0.0) * response.all.count as f64;
    let blamed = host.blame_ns.total() as f64;
    assert!((summed - blamed).abs() <= 1e-9 * blamed.max(1.0), "blame {blamed} of {summed}");
    let shares = &array.devices_in_gc_fraction;
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "shares of GC sum to 1: {shares:?}");
    let sum = |of: fn(&harmonia_metrics::DeviceReport) -> u64| report.devices.iter().map(of).sum::<u64>();
    assert_eq!(sum(|device| device.erases), array.erases);
    assert_eq!(sum(|device| device.gc_pages_moved), array.gc_pages_moved);
    assert_eq!(sum(|device| device.leveled_pages_moved), array.leveled_pages_moved);
    let moved = array.gc_pages_moved + array.leveled_pages_moved;
    let copies = array.redundancy.map_or(0, |redundancy| redundancy.copy_pages_written);
    let bytes = &array.flash_bytes;
    let page = scenario.array.page_size();
    // Logs and background work are whole pages, and where a program carries several units what these lack of programs.
    let own = sum(|device| device.host_pages_written) - array.host_pages_written - copies;
    let lacking = own - (bytes[IoCause::Log] + bytes[IoCause::Background]) / page;
    let packs = scenario.array.members.iter().any(|member| member.ssd.ftl.mapping_unit.is_some());
    assert!(lacking == 0 || packs && lacking * page <= bytes[None], "{lacking} pages without data");
    let others = array.host_pages_written + copies + own + moved + array.parity_pages_written;
    let map = array.flash_pages_programmed.checked_sub(others);
    super::is_of_map(map.expect("programs are the sum over causes") * page, bytes);
    let all = super::for_the_host(bytes);
    assert_eq!(
        (array.flash_bytes_programmed, sum(|device| device.flash_bytes_programmed)),
        (all, all + bytes[IoCause::Background])
    );
    assert_eq!(array.flash_pages_programmed * page, all + bytes[IoCause::Background], "{bytes:?}");
    if let Some(failures) = &array.failures {
        failures_add_up(scenario, report, failures);
    }
}

fn failures_add_up(scenario: &Scenario, report: &Report, failures: &FailuresReport) {
    let phases = failures.response_ns.all();
    let reads: u64 = phases.iter().map(|(_, phase)| phase.read.count).sum();
    let writes: u64 = phases.iter().map(|(_, phase)| phase.write.count).sum();
    assert_eq!((reads, writes), (report.host.read_requests, report.host.write_requests), "by phase");
    let seconds: f64 = phases.iter().map(|(_, phase)| phase.seconds).sum();
    assert!((seconds - report.simulated_ns as f64 / 1e9).abs() < 1e-6, "phases are all of the window");
    let events = &failures.events;
    assert!(events.is_sorted_by(|one, other| one.at_s <= other.at_s), "{events:?}");
    let count = |what: fn(&Happening) -> bool| events.iter().filter(|event| what(&event.what)).count();
    let failed = count(|what| *what == Happening::Failed);
    let replaced = count(|what| matches!(what, Happening::Replaced { .. }));
    let copying = count(|what| matches!(what, Happening::Copying { .. }));
    let rebuilt = count(|what| *what == Happening::Rebuilt);
    assert!(rebuilt <= failed && replaced <= failed + copying, "{events:?}");
    assert!(replaced <= scenario.array.faults.spares.len(), "{events:?}");
    assert_eq!(report.devices.iter().filter(|device| device.in_place_of.is_some()).count(), replaced);
    for work in [failures.rebuild, failures.copy].into_iter().flatten() {
        assert!((0.0..=1.0).contains(&work.share), "{work:?}");
        let rate = scenario.array.faults.rebuild.max_rate as f64;
        let steps = 2 * scenario.array.faults.rebuild.step * report.devices.len() as u64;
        assert!(work.work.bytes as f64 <= rate * work.work.seconds + steps as f64, "{work:?}");
    }
    let is_redundant = scenario.array.level.redundancy(scenario.array.devices) > 0;
    // A RAID-1 of one member writes anew what it cannot read, without its data; or it fails, and nothing more is read of it.
    let lost = failures.lost.lost_pages + failures.lost.unread_pages;
    let is_in_vain = failures.rebuilt_pages == 0 && failures.rewritten_pages <= lost;
    assert!(is_redundant || is_in_vain, "{failures:?}");
}

#[test]
fn every_random_scenario_with_failures_ends_and_adds_up() {
    let (first, count) = (setting("HARMONIA_SWARM_FIRST", 0), setting("HARMONIA_SWARM", SCENARIOS));
    let (mut failed, mut rebuilt, mut copied, mut lost_power) = (0, 0, 0, 0);
    let (mut marks, mut cleared, mut dirty, mut logged) = (0, 0, 0, 0);
    for seed in first..first + count {
        let Some((toml, scenario)) = failing(seed) else { continue };
        let attempt = std::panic::AssertUnwindSafe(|| {
            let report = self::report(&scenario).unwrap_or_else(|error| panic!("{error}"));
            adds_up(&scenario, &report);
            if seed.is_multiple_of(16) {
                let again = self::report(&scenario).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(report.without_engine(), again.without_engine(), "the same run twice");
            }
            report
        });
        let report = std::panic::catch_unwind(attempt).unwrap_or_else(|panic| {
            eprintln!("seed {seed} fails:\n{toml}");
            std::panic::resume_unwind(panic)
        });
        let bitmap = report.array.bitmap.unwrap_or_default();
        (marks, cleared, dirty) =
            (marks + bitmap.writes, cleared + bitmap.cleared, dirty + bitmap.dirty_chunks);
        logged += report.array.write_hole.map_or(0, |log| log.counters.log_writes);
        let events = report.array.failures.map_or_else(Vec::new, |failures| failures.events);
        failed += events.iter().filter(|event| event.what == Happening::Failed).count();
        rebuilt += events.iter().filter(|event| event.what == Happening::Rebuilt).count();
        copied += events.iter().filter(|event| matches!(event.what, Happening::Copying { .. })).count();
        lost_power += events.iter().filter(|event| matches!(event.what, Happening::PowerLost { .. })).count();
    }
    eprintln!(
        "{count} scenarios from seed {first}: {failed} failures, {rebuilt} rebuilds, {copied} copies, {lost_power} losses of power, {marks} writes of bitmaps, {cleared} bits cleared, {dirty} chunks gone through, {logged} entries of logs"
    );
    let happened = failed > 50 && rebuilt > 5 && copied > 5 && lost_power > 50;
    let happened = happened && marks > 500 && cleared > 500 && dirty > 20 && logged > 500;
    assert!(count < SCENARIOS || happened, "too little happened");
}

/// Failures of one or two members of an array whose stripes leave a member free, and what stands by.
fn keys_of_floating(seed: u64, scenario: &Scenario) -> String {
    let mut d = Draw(Rng::stream(seed, "swarm/floating/faults"));
    let (devices, page) = (u64::from(scenario.array.devices), scenario.array.page_size());
    let first = d.range(0, devices - 1);
    let other = (first + d.range(1, devices - 1)) % devices;
    let mut events = vec![format!("{{ device = {first}, request = {} }}", d.range(1, 200))];
    if d.range(0, 1) == 0 {
        events.push(format!("{{ device = {other}, at = \"{}us\" }}", d.range(0, 300_000)));
    }
    if d.range(0, 2) == 0 {
        events.push(format!("{{ device = {other}, request = 1, kind = \"slow\", factor = 3 }}"));
    }
    let most = d.range(1_000, 400_000);
    let (least, depth, step) = (d.range(1, most), d.range(1, 12), page * d.range(1, 20));
    let spares = d.range(0, 2);
    let state = d.pick(&["new", "aged"]);
    let state = if scenario.array.thin().is_some() { "new" } else { state };
    let mut text = format!(
        "failure = [{}]\nspares = {spares}\nspare_state = \"{}\"\n\
         rebuild = {{ min_rate = \"{least}KB/s\", max_rate = \"{most}KB/s\", depth = {depth}, step = \"{step}B\" }}\n",
        events.join(", "),
        state
    );
    // A stream of its own, so that old seeds fail in the same way.
    let mut d = Draw(Rng::stream(seed, "swarm/floating/errors"));
    if d.range(0, 1) == 0 {
        let (errors, at) = (d.pick(&["0.001", "0.03"]), d.range(0, 300_000));
        writeln!(text, "page_errors = {errors}\nscrub = {{ at = \"{at}us\" }}").expect("text grows");
    }
    if d.range(0, 1) == 0 && !scenario.array.members_forget() {
        let losses = (0..d.range(1, 3)).map(|_| format!("{{ request = {} }}", d.range(1, 200)));
        let losses: Vec<String> = losses.collect();
        writeln!(text, "power_loss = [{}]", losses.join(", ")).expect("text grows");
        if d.range(0, 1) == 0 {
            text += "write_hole = \"bitmap\"\n";
        }
    }
    text
}

/// Two failures may be too much on RAID-5, and then what is lost is counted.
#[test]
#[ignore = "long: make simulations"]
fn floating_stripes_whose_members_fail_end_and_add_up() {
    let (first, count) = (setting("HARMONIA_SWARM_FIRST", 0), setting("HARMONIA_SWARM_FLOATING", 200));
    let (mut ran, mut rebuilt, mut around, mut losing) = (0, 0, 0, 0);
    let (mut unreadable, mut lost_power) = (0, 0);
    for seed in first..first + count {
        let Some((Generated { toml, .. }, plain)) = floating(seed) else { continue };
        let keys = keys_of_floating(seed, &plain);
        let toml = toml.replacen("[array.coordination]", &format!("{keys}[array.coordination]"), 1);
        eprintln!("seed {seed}");
        // A load may need all of an array, and leave no room for a bitmap.
        let has_room = Scenario::parse(&toml, "swarm.toml", &[], None).is_ok();
        let toml = if has_room { toml } else { toml.replace("write_hole = \"bitmap\"\n", "") };
        let scenario = parsed(&toml);
        assert!(scenario.array.layout().is_floating());
        let report = self::report(&scenario).unwrap_or_else(|error| panic!("{error}\n{toml}"));
        adds_up(&scenario, &report);
        let unchecked = run(&scenario, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(told(&report), told(&unchecked), "seed {seed}");
        let failures = report.array.failures.unwrap_or_else(|| panic!("seed {seed}: something was to fail"));
        let failed = failures.events.iter().filter(|event| event.what == Happening::Failed).count();
        let lost = failures.lost.unread_pages + failures.lost.unwritten_pages + failures.lost.lost_pages;
        // What an array does not answer that was dirty and degraded is counted, too.
        let faults = &scenario.array.faults;
        let may_lose = faults.page_errors > 0.0 || !faults.power_losses.is_empty();
        assert!(
            lost == 0 || may_lose || failed > usize::from(scenario.array.level.parities()),
            "seed {seed}: {failures:?}"
        );
        ran += 1;
        rebuilt += failures.events.iter().filter(|event| event.what == Happening::Rebuilt).count();
        around += failures.rebuilt_pages;
        losing += u64::from(lost > 0);
        unreadable += failures.unreadable_pages;
        lost_power +=
            failures.events.iter().filter(|event| matches!(event.what, Happening::PowerLost { .. })).count();
    }
    eprintln!(
        "{ran} runs, {rebuilt} rebuilds, {around} pages read around, {losing} runs lost something, {unreadable} pages could not be read, {lost_power} losses of power"
    );
    let happened = ran > 50 && rebuilt > 10 && around > 500 && losing > 0;
    assert!(count < 200 || happened && unreadable > 100 && lost_power > 30, "too little happened");
}
