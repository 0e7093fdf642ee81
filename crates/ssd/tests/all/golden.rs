//! Does a device still do, to the nanosecond, what it did? Hashes of everything that random devices tell.
//!
//! `golden.txt` has one line for each seed. A device hashes what it answers, reports and counts, what its planes do, and
//! every touch of flash. So a change of the code that should change no behaviour can be held against all schedules, victims,
//! concurrency policies, domains and allocations at once.
//!
//! `golden-timing.txt` has such lines for devices with rules of timing that none has by default.
//!
//! A change that is meant to change results replaces the file: the failing test prints the new one.
//!
//! Not verified: that any of it is right. The other tests do that.

use std::fmt::Write;

use crate::random::pick;
use harmonia_engine::Rng;
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::probe::{AnyProbe, FlashPage, Origin, Probe, any, probe_as};
use harmonia_ssd::{Device, Ftl, SsdConfig, SubCompletion, SubRequest};
use harmonia_types::{DeviceCounters, IoCause, Levels, Lpn, Operation, PlaneWork, SimDuration, SimTime};

const SEEDS: u64 = 700;
/// From this seed on devices have what came later.
const LATER: u64 = 600;
const SEEDS_OF_TIMING: u64 = 200;
const OPERATIONS: u64 = 400;

/// FNV-1a.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

impl Hash {
    fn take(&mut self, told: std::fmt::Arguments<'_>) {
        self.write_fmt(told).expect("a hash takes everything");
    }
}

#[derive(Default)]
struct Ear(Hash, Levels);

impl Probe for Ear {
    fn audits(&self) -> bool {
        true
    }

    fn watches_planes(&self) -> bool {
        true
    }

    fn watches_levels(&self) -> bool {
        true
    }

    fn program(&mut self, to: FlashPage, lpn: Lpn, _: IoCause, _: Option<Origin>) {
        self.0.take(format_args!("p{} {} {}", to.unit, to.ppn.0, lpn.0));
    }
    fn copy(&mut self, from: FlashPage, to: FlashPage, lpn: Lpn) {
        self.0.take(format_args!("c{} {} {} {} {}", from.unit, from.ppn.0, to.unit, to.ppn.0, lpn.0));
    }
    fn read(&mut self, from: Option<FlashPage>, lpn: Lpn, origin: Origin) {
        let from = from.map(|from| (from.unit, from.ppn.0));
        self.0.take(format_args!("r{from:?} {} {} {}", lpn.0, origin.token, origin.page));
    }
    fn trim(&mut self, lpn: Lpn) {
        self.0.take(format_args!("t{}", lpn.0));
    }
    fn erase(&mut self, unit: u32, block: u32) {
        self.0.take(format_args!("e{unit} {block}"));
    }
    fn works(&mut self, at: SimTime, die: u32, plane: Option<u32>, work: PlaneWork) {
        self.0.take(format_args!("w{} {die} {plane:?} {work:?}", at.0));
    }
    fn stops(&mut self, at: SimTime, die: u32) {
        self.0.take(format_args!("s{} {die}", at.0));
    }
    fn suspends(&mut self, at: SimTime, die: u32) {
        self.0.take(format_args!("u{} {die}", at.0));
    }
    fn waits(&mut self, at: SimTime, die: u32, operations: u32) {
        self.0.take(format_args!("q{} {die} {operations}", at.0));
    }
    /// As they were when the file was written: without the write cache, whose changes alone nobody told of.
    fn levels(&mut self, at: SimTime, levels: &Levels) {
        let cached = |levels: &Levels| (levels.cached_pages, levels.cache_slots);
        let before = std::mem::replace(&mut self.1, *levels);
        let (cached_pages, cache_slots) = cached(&before);
        if cached(levels) != cached(&before) && before == (Levels { cached_pages, cache_slots, ..*levels }) {
            return;
        }
        let (cached_pages, cache_slots) = cached(levels);
        let told = format!("{levels:?}");
        let told = told.replace(&format!(", cached_pages: {cached_pages}, cache_slots: {cache_slots}"), "");
        self.0.take(format_args!("l{} {told}", at.0));
    }
}

/// Hashes what a device has told since it was last asked.
fn hear(device: &mut Device<AnyProbe>, heard: &mut Hash) {
    for refusal in device.refusals().drain(..) {
        heard.take(format_args!("{}", without_cache(&format!("{refusal:?}"))));
    }
    for done in device.completions().drain(..) {
        heard.take(format_args!("{}", as_told(&done)));
    }
    for notice in device.notices().drain(..) {
        heard.take(format_args!("{notice:?}"));
    }
    for interval in device.gc_intervals().drain(..) {
        heard.take(format_args!("{interval:?}"));
    }
}

fn random_sub(rng: &mut Rng, token: u64, bytes: u64, page_size: u64) -> SubRequest {
    let operations = [Operation::Write, Operation::Write, Operation::Write, Operation::Read, Operation::Trim];
    let operation = pick(rng, &operations);
    let most = bytes.min(6 * page_size);
    let whole = rng.chance(0.7);
    let unit = if whole { page_size } else { 1 };
    let length = (1 + rng.below(most / unit)) * unit;
    let offset = rng.below((bytes - length) / unit + 1) * unit;
    SubRequest {
        fast_fail: rng.chance(0.1),
        background: rng.chance(0.1),
        ..SubRequest::new(token, operation, offset, length)
    }
}

/// A completion as it was when the file was written: what is `met_gc` was called `gc_affected`.
fn as_told(done: &SubCompletion) -> String {
    without_cache(&format!("{done:?}")).replace(", met_gc: ", ", gc_affected: ")
}

/// Blame as it was when the file was written, without parts for waiting for a write cache, a controller and the map.
fn without_cache(told: &str) -> String {
    told.replace(", cache_wait: 0, controller: 0, map_wait: 0", "")
}

/// The counters as they were when the file was written: what needs a read first was then another offset, nothing skipped, and
/// nobody counted who met collection, nor handles, background work, rests of pages and write caches apart. What happened inside dies was not a struct.
fn as_counted(mut counters: DeviceCounters) -> String {
    for pairing in [&mut counters.paired_reads, &mut counters.paired_writes] {
        pairing.other_offset += std::mem::take(&mut pairing.needs_read);
    }
    counters.programs[IoCause::Host as usize] +=
        std::mem::take(&mut counters.programs[IoCause::Background as usize]);
    let met = format!(", met_gc: {:?}", counters.met_gc);
    let cached = format!(", write_cache: {:?}", counters.write_cache);
    let mapped = format!(", mapping_cache: {:?}", counters.mapping_cache);
    let (streams, unknown) = (counters.streams, counters.unknown_handle_pages);
    let streams = format!(", streams: {streams:?}, unknown_handle_pages: {unknown}");
    let padding = format!(", padding: {:?}", counters.padding);
    let text = format!("{counters:?}")
        .replace(", needs_read: 0, skipped: 0", "")
        .replace(&met, "")
        .replace(&streams, "")
        .replace(&padding, "")
        .replace(&cached, "")
        .replace(&mapped, "")
        .replace("inside: InsideCounters { ", "")
        .replace("superseded_moves: ", "superseded: ")
        .replace(", read_retries: 0", "")
        .replace(" }, depth_at_gc: ", ", depth_at_gc: ");
    text.replace(&format!("{:?}", counters.programs), &format!("{:?}", &counters.programs[..4]))
}

fn plain(seed: u64) -> SsdConfig {
    crate::random::config(&mut Rng::stream(seed, "golden/config"))
}

fn with_rules_of_timing(seed: u64) -> SsdConfig {
    let mut config = plain(seed);
    crate::random::timing(&mut config, &mut Rng::stream(seed, "golden/timing"));
    config
}

/// Drives one random device and hashes it.
fn hash_of(seed: u64, mut config: SsdConfig) -> u64 {
    let mut rng = Rng::stream(seed, "golden");
    let slack = pick(&mut rng, &[0, 40, 400, 4_000]);
    config.gc.schedule = crate::random::slack_of(slack, config.gc.schedule);
    if rng.chance(0.5) {
        config.gc.concurrency = crate::random::concurrency(&mut Rng::stream(seed, "golden/concurrency"));
    }
    if seed >= LATER {
        let mut later = Rng::stream(seed, "golden/later");
        config = crate::random::additions(&mut later, config);
        config.gc.concurrency = crate::random::later_keys(&mut later, config.gc.concurrency);
    }
    let explain = |why: String| -> String { format!("seed {seed}: {why}\n{config:#?}") };
    let ftl = Ftl::new(&config, seed, "device").unwrap_or_else(|why| panic!("{}", explain(why.to_string())));
    let (pages, page_size) = (u64::from(ftl.shape().logical_pages), u64::from(config.geometry.page_size));
    let mut device = Device::new(&config, ftl, any(Ear::default()))
        .unwrap_or_else(|why| panic!("{}", explain(why.to_string())));
    let (mut heard, mut now) = (Hash::default(), SimTime::ZERO);
    for token in 0..OPERATIONS {
        now += SimDuration(pick(&mut rng, &[0, 1, 40, 400, 4_000]) * rng.below(4));
        device.advance_until(now, false).unwrap_or_else(|why| panic!("{}", explain(why.to_string())));
        hear(&mut device, &mut heard);
        if rng.chance(0.06) {
            let directives = [
                Directive::Force(Stop::Internal),
                Directive::Force(Stop::AllReserve),
                Directive::Hold,
                Directive::Open,
                Directive::Release,
            ];
            device.direct(now, pick(&mut rng, &directives));
            heard.take(format_args!("{:?}", device.status(now)));
        }
        if rng.chance(0.01) {
            device.slow_down(now, pick(&mut rng, &[1.0, 3.0]));
        }
        if rng.chance(0.004) {
            device.lose_power(now);
        }
        let mut sub = random_sub(&mut rng, token, pages * page_size, page_size);
        sub.deadline = pick(&mut rng, &[None, None, Some(now), Some(now + SimDuration(900))]);
        device.submit(now, sub).unwrap_or_else(|why| panic!("{}", explain(why.to_string())));
    }
    // A part of the devices fails in the middle of its work, the others finish it.
    if rng.chance(0.1) {
        device.fail(now);
    }
    while device.next_wakeup() != SimTime::NEVER {
        let wakeup = device.next_wakeup();
        device.advance_until(wakeup, true).unwrap_or_else(|why| panic!("{}", explain(why.to_string())));
        hear(&mut device, &mut heard);
    }
    hear(&mut device, &mut heard);
    let Hash(touched) = probe_as::<Ear>(device.probe()).0;
    heard.take(format_args!("{} {:?} {touched}", as_counted(device.counters()), device.status(now)));
    heard.0
}

fn compare(golden: &str, seeds: u64, config: fn(u64) -> SsdConfig) {
    let table: String =
        (0..seeds).map(|seed| format!("{seed} {:016x}\n", hash_of(seed, config(seed)))).collect();
    let differs = |(line, golden): &(&str, &str)| line != golden;
    let differing = table.lines().zip(golden.lines()).filter(differs).count();
    assert!(table == golden, "{differing} of {seeds} devices differ; as they are now:\n{table}");
}

#[test]
fn every_random_device_does_what_it_did() {
    compare(include_str!("golden.txt"), SEEDS, plain);
}

#[test]
fn every_random_device_with_rules_of_timing_does_what_it_did() {
    compare(include_str!("golden-timing.txt"), SEEDS_OF_TIMING, with_rules_of_timing);
}
