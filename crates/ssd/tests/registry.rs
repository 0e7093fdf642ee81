//! Does every registered victim and schedule leave a device correct, whatever it decides?
//!
//! Iterates the registries, so a new policy is under test from the moment it has its line. Every device starts empty
//! and checks its own invariants after every event; a probe checks that every page holds what was last written to it.
//! Not verified here: that a policy does what its paper says (its own file does) or that it is any good.
#![expect(clippy::print_stdout, reason = "names the policies it ran")]

use std::collections::BTreeMap;

use harmonia_engine::Rng;
use harmonia_flash::presets;
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_ssd::placement;
use harmonia_ssd::probe::{FlashPage, Origin, Probe, any, probe_as};
use harmonia_ssd::{
    Allocation, AllocationUnit, Amount, Device, Domain, Frontiers, Ftl, FtlConfig, GcConfig, Order,
    PolicyConfig, SsdConfig, SubCompletion, SubRequest, Tally,
};
use harmonia_types::{IoCause, Lpn, Operation, SimTime};

const PAGE: u64 = 4096;

/// Knows what every flash page holds and where every logical page lives, and objects when the device disagrees.
#[derive(Debug, Default)]
struct Content {
    page_bits: u32,
    held: BTreeMap<FlashPage, Lpn>,
    lives: BTreeMap<Lpn, FlashPage>,
    reads: u64,
}

impl Probe for Content {
    fn audits(&self) -> bool {
        true
    }

    fn program(&mut self, to: FlashPage, lpn: Lpn, _: IoCause, _: Option<Origin>) {
        assert_eq!(self.held.insert(to, lpn), None, "{to:?} programmed twice without an erase");
        self.lives.insert(lpn, to);
    }

    fn copy(&mut self, from: FlashPage, to: FlashPage, lpn: Lpn) {
        assert_eq!(self.held.get(&from), Some(&lpn), "{from:?} does not hold what was moved");
        assert_eq!(self.lives.get(&lpn), Some(&from), "{lpn:?} was moved but lives elsewhere");
        assert_eq!(self.held.insert(to, lpn), None, "{to:?} programmed twice without an erase");
        self.lives.insert(lpn, to);
    }

    fn read(&mut self, from: Option<FlashPage>, lpn: Lpn, _: Origin) {
        assert_eq!(from.as_ref(), self.lives.get(&lpn), "{lpn:?} was read from the wrong page");
        self.reads += 1;
    }

    fn trim(&mut self, lpn: Lpn) {
        self.lives.remove(&lpn);
    }

    fn erase(&mut self, unit: u32, block: u32) {
        let in_block = |page: &FlashPage| page.unit == unit && page.ppn.0 >> self.page_bits == block;
        let erased: Vec<FlashPage> = self.held.keys().copied().filter(in_block).collect();
        for page in erased {
            let lpn = self.held.remove(&page).expect("just seen");
            assert_ne!(self.lives.get(&lpn), Some(&page), "{lpn:?} was erased while it lived there");
        }
    }
}

/// A quarter of the preset for tests, so that content can be followed page by page.
fn config() -> SsdConfig {
    let flash = presets::find("tiny-test").expect("the preset for tests");
    let mut geometry = flash.geometry.clone();
    geometry.pages_per_block = 8;
    geometry.blocks_per_plane = 16;
    SsdConfig {
        geometry,
        ftl: FtlConfig { reserved_blocks: Amount::Percent(25.0), ..FtlConfig::default() },
        gc: GcConfig { hard_threshold: Amount::Blocks(2), ..GcConfig::default() },
        ..SsdConfig::of(flash)
    }
}

/// Writes a device full and over again, with reads and trims between, and drives it until nothing is left to do.
fn exercise(config: &SsdConfig, what: &str) -> (Vec<SubCompletion>, Tally) {
    let ftl = Ftl::new(config, 5, "device/0").unwrap_or_else(|why| panic!("{what}: {why}"));
    let pages = u64::from(ftl.shape().logical_pages);
    let content = Content { page_bits: ftl.shape().page_bits, ..Content::default() };
    let mut device = Device::new(config, ftl, any(content)).unwrap_or_else(|why| panic!("{what}: {why}"));
    let mut rng = Rng::stream(5, "registry");
    let (mut now, mut done) = (SimTime::ZERO, Vec::new());
    let requests = 2 * pages;
    for token in 0..requests {
        now = SimTime(now.0 + rng.exponential(250_000.0) as u64);
        device.advance_until(now, false).unwrap_or_else(|why| panic!("{what}: {why}"));
        let length = 1 + rng.below(3);
        let operation = match rng.below(10) {
            _ if token < pages / 2 => Operation::Write,
            0 | 1 => Operation::Read,
            2 => Operation::Trim,
            _ => Operation::Write,
        };
        let sub = SubRequest {
            handle: (token % 11) as u16,
            ..SubRequest::new(token, operation, rng.below(pages - length) * PAGE, length * PAGE)
        };
        device.submit(now, sub).unwrap_or_else(|why| panic!("{what}: {why}"));
        done.append(device.completions());
    }
    while device.next_wakeup() != SimTime::NEVER {
        let wakeup = device.next_wakeup();
        device.advance_until(wakeup, false).unwrap_or_else(|why| panic!("{what}: {why}"));
    }
    done.append(device.completions());
    device.ftl().audit();
    let mut tokens: Vec<u64> = done.iter().map(|done| done.token).collect();
    tokens.sort_unstable();
    assert!(tokens.iter().copied().eq(0..requests), "{what}: each sub-request completes exactly once");
    assert!(
        probe_as::<Content>(device.probe()).reads > 0 && device.ftl().tally().erases > 0,
        "{what}: nothing was exercised"
    );
    (done, device.ftl().tally())
}

/// Static, dynamic, and where planes own their blocks only the plane dynamic.
fn allocations(unit: AllocationUnit) -> impl Iterator<Item = Allocation> {
    let of_planes = Order::of_dies("cwd").map(Allocation::DynamicPlane);
    let of_planes = of_planes.filter(|_| unit == AllocationUnit::Plane);
    [Allocation::CWDP, Allocation::Dynamic].into_iter().chain(of_planes)
}

/// Whether to test these policies together: always, unless HARMONIA_POLICY says how the name of one begins that somebody wants
/// to test.
#[expect(clippy::disallowed_methods, reason = "chooses what is tested, changes no result")]
fn are_tested(policies: [&str; 2]) -> bool {
    let wanted = std::env::var("HARMONIA_POLICY").unwrap_or_default();
    policies.iter().any(|name| name.starts_with(&wanted))
}

#[test]
fn every_placement_policy_keeps_all_data_under_every_schedule_that_goes_with_it() {
    for placement in placement::REGISTRY {
        let mut worked = 0;
        for schedule in schedule::REGISTRY {
            let mut config = config();
            config.gc.schedule = schedule.name.into();
            config.gc.hard_threshold = Amount::Blocks(3);
            config.ftl.placement = placement.name.into();
            if placement.name == "streams" {
                config.ftl.placement =
                    config.ftl.placement.with("handles", 2).with("isolation", "persistent");
            }
            config.ftl.reserved_blocks = Amount::Blocks(14);
            let what = format!("{} {}", placement.name, schedule.name);
            // Schedules that join writes with collection are refused.
            let works = config.resolve().is_ok();
            worked += u32::from(works);
            if works && are_tested([placement.name, schedule.name]) {
                println!("{what}");
                exercise(&config, &what);
            }
        }
        assert!(worked > 2, "{}: {worked} schedules", placement.name);
    }
}

#[test]
fn every_combination_of_victim_and_schedule_keeps_all_data() {
    for victim in victim::REGISTRY {
        for schedule in schedule::REGISTRY {
            if !are_tested([victim.name, schedule.name]) {
                continue;
            }
            println!("victim {}, schedule {}", victim.name, schedule.name);
            for frontiers in [Frontiers::Shared, Frontiers::Separate] {
                for domain in [Domain::Die, Domain::Device, Domain::Channel, Domain::Plane] {
                    let mut config = config();
                    config.gc.victim = victim.name.into();
                    config.gc.schedule = schedule.name.into();
                    config.gc.domain = domain;
                    if domain == Domain::Plane {
                        config.ftl.allocation_unit = AllocationUnit::Plane;
                        config.ftl.reserved_blocks = Amount::Blocks(7);
                    }
                    config.ftl.frontiers = frontiers;
                    for allocation in allocations(config.ftl.allocation_unit) {
                        config.ftl.allocation = allocation;
                        let axes = format!("{frontiers:?} {domain:?} {allocation:?}");
                        let what = format!("{} {} {axes}", victim.name, schedule.name);
                        let first = exercise(&config, &what);
                        if domain == Domain::Die {
                            assert_eq!(first, exercise(&config, &what), "{what}: the same run twice");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_combination_of_concurrency_and_schedule_keeps_all_data() {
    for policy in concurrency::REGISTRY {
        for schedule in schedule::REGISTRY {
            if !are_tested([policy.name, schedule.name]) {
                continue;
            }
            for (domain, allocation_unit) in
                [(Domain::Die, AllocationUnit::Die), (Domain::Device, AllocationUnit::Plane)]
            {
                for allocation in allocations(allocation_unit) {
                    let mut config = config();
                    config.gc.concurrency = PolicyConfig::named(policy.name);
                    config.gc.schedule = schedule.name.into();
                    (config.gc.domain, config.ftl.allocation_unit) = (domain, allocation_unit);
                    if allocation_unit == AllocationUnit::Plane {
                        config.ftl.reserved_blocks = Amount::Blocks(7);
                    }
                    config.ftl.allocation = allocation;
                    let what = format!("{} {} {domain:?} {allocation:?}", policy.name, schedule.name);
                    println!("concurrency {what}");
                    let first = exercise(&config, &what);
                    assert_eq!(first, exercise(&config, &what), "{what}: the same run twice");
                }
            }
        }
    }
}

#[test]
fn every_entry_says_what_it_is_and_where_it_comes_from() {
    let of = |name, summary, source| (name, summary, source);
    let victims = victim::REGISTRY.iter().map(|e| of(e.name, e.summary, e.source));
    let schedules = schedule::REGISTRY.iter().map(|e| of(e.name, e.summary, e.source));
    let concurrency = concurrency::REGISTRY.iter().map(|e| of(e.name, e.summary, e.source));
    for (name, summary, source) in victims.chain(schedules).chain(concurrency) {
        let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        assert!(!name.is_empty() && name.chars().all(kebab), "{name}");
        assert!(!summary.is_empty() && !source.is_empty(), "{name}");
    }
}
