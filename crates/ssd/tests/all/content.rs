//! Does every read return what was last written? A tag in every flash page against a plain map.
//!
//! Random devices, random writes (whole and partial), reads, trims, forced collections, windows, and operations that fail
//! fast. The oracle is a list of what *arrived* for each page, so reads that overtake writes on their die are checked too,
//! and what was refused must have changed nothing. Each page is served or refused, once, and blame sums. The flash itself
//! refuses what flash cannot do: a program of a page that is not erased, or out of order within its block.
//!
//! Beside it, what the planes are said to do is held against what the device counts (`lanes`).
//!
//! Not verified: times, and which block was collected.

use std::collections::{BTreeMap, BTreeSet};

use crate::lanes::Lanes;
use crate::random::pick;
use harmonia_engine::Rng;
use harmonia_ssd::gc::schedule;
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::probe::{FlashPage, Origin, Probe, any, probe_as};
use harmonia_ssd::{Destination, Device, Ftl, LastProgram, SubRequest};
use harmonia_types::{IoCause, Lpn, Operation, PlaneWork, SimDuration, SimTime};

/// Which page of which write.
type Tag = (u32, u32);

/// Flash that holds tags.
struct TaggedFlash {
    page_bits: u32,
    data_pages: u32,
    /// What every written page holds.
    pages: BTreeMap<(u32, u32), (Lpn, Tag)>,
    /// Pages programmed since its last erase, by (unit, block).
    written: BTreeMap<(u32, u32), u32>,
    /// What each page of a read found, and where the device said it was.
    reads: BTreeMap<Tag, Option<Tag>>,
    programs: BTreeMap<Tag, u32>,
    /// Collected data may go to another unit, and how often it did.
    global: bool,
    copies: u64,
    copies_elsewhere: u64,
    /// Pages of the map that were read.
    maps: u64,
    /// Pages may be left unwritten.
    skips: bool,
    lanes: Lanes,
}

impl TaggedFlash {
    fn store(&mut self, to: FlashPage, lpn: Lpn, tag: Tag) {
        let (block, page) = (to.ppn.0 >> self.page_bits, to.ppn.0 & ((1 << self.page_bits) - 1));
        assert!(page < self.data_pages, "{to:?}: data in a summary page");
        let next = self.written.entry((to.unit, block)).or_insert(0);
        let in_order = if self.skips { page >= *next } else { page == *next };
        assert!(
            in_order,
            "{to:?}: pages of a block are programmed in order, once between erases, not after {next}"
        );
        *next = page + 1;
        self.pages.insert((to.unit, to.ppn.0), (lpn, tag));
    }

    fn load(&self, from: FlashPage, lpn: Lpn) -> Tag {
        let held = self.pages.get(&(from.unit, from.ppn.0));
        let &(owner, tag) = held.unwrap_or_else(|| panic!("{from:?} is erased, {lpn:?} was expected there"));
        assert_eq!(owner, lpn, "{from:?} holds another page's data");
        tag
    }
}

impl Probe for TaggedFlash {
    fn audits(&self) -> bool {
        true
    }

    fn watches_planes(&self) -> bool {
        true
    }

    fn works(&mut self, at: SimTime, die: u32, plane: Option<u32>, work: PlaneWork) {
        self.lanes.works(at, die, plane, work);
    }

    fn stops(&mut self, at: SimTime, die: u32) {
        self.lanes.stops(at, die);
    }

    fn suspends(&mut self, at: SimTime, die: u32) {
        self.lanes.suspends(at, die);
    }

    fn program(&mut self, to: FlashPage, lpn: Lpn, cause: IoCause, origin: Option<Origin>) {
        let origin = origin.expect("nothing is aged here");
        if origin.token == Origin::MAP {
            assert_eq!(cause, IoCause::Map);
            return self.store(to, lpn, (u32::MAX, origin.page));
        }
        assert_eq!(cause, IoCause::Host);
        let tag = (origin.token as u32, origin.page);
        *self.programs.entry(tag).or_insert(0) += 1;
        self.store(to, lpn, tag);
    }

    fn copy(&mut self, from: FlashPage, to: FlashPage, lpn: Lpn) {
        assert!(self.global || from.unit == to.unit, "collected data stays in its unit");
        self.copies_elsewhere += u64::from(from.unit != to.unit);
        let tag = self.load(from, lpn);
        self.copies += 1;
        self.store(to, lpn, tag);
    }

    fn read(&mut self, from: Option<FlashPage>, lpn: Lpn, origin: Origin) {
        let found = from.map(|from| self.load(from, lpn));
        if origin.token == Origin::MAP {
            assert_eq!(found, Some((u32::MAX, origin.page)), "a page of the map that was written");
            self.maps += 1;
            return;
        }
        let again = self.reads.insert((origin.token as u32, origin.page), found);
        assert_eq!(again, None, "{origin:?} is read once");
    }

    fn erase(&mut self, unit: u32, block: u32) {
        let range = (unit, block << self.page_bits)..(unit, (block + 1) << self.page_bits);
        let pages: Vec<_> = self.pages.range(range).map(|(&page, _)| page).collect();
        for page in pages {
            self.pages.remove(&page);
        }
        self.written.remove(&(unit, block));
    }
}

/// What operations on a page do to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Write,
    Trim,
    Read,
}

/// All operations on every page, in the order of their arrival.
#[derive(Default)]
struct Oracle {
    arrived: BTreeMap<u32, Vec<(Effect, Tag)>>,
    /// Pages of every sub-request, and when it was submitted.
    subs: BTreeMap<u32, (u32, SimTime)>,
}

impl Oracle {
    fn arrive(&mut self, sub: &SubRequest, page_size: u64, now: SimTime) {
        let (start, end) = (sub.offset, sub.offset + sub.length);
        let pages = start / page_size..end.div_ceil(page_size);
        self.subs.insert(sub.token as u32, ((pages.end - pages.start) as u32, now));
        for (index, page) in pages.enumerate() {
            let whole = page * page_size >= start && (page + 1) * page_size <= end;
            let effect = match sub.operation {
                Operation::Write => Effect::Write,
                Operation::Trim if whole => Effect::Trim,
                Operation::Read => Effect::Read,
                // A device may ignore the parts of pages at the edges of a trimmed range; ours does.
                Operation::Trim | Operation::Flush => continue,
            };
            self.arrived.entry(page as u32).or_default().push((effect, (sub.token as u32, index as u32)));
        }
    }

    fn writes_among(&self, tags: &BTreeSet<Tag>) -> u64 {
        let writes = self.arrived.values().flatten().filter(|(effect, _)| *effect == Effect::Write);
        writes.filter(|(_, tag)| tags.contains(tag)).count() as u64
    }

    /// What each page of each read must find, and the pages that must be programmed, if these pages were refused.
    fn expected(&self, refused: &BTreeSet<Tag>) -> (BTreeMap<Tag, Option<Tag>>, BTreeSet<Tag>) {
        let (mut reads, mut writes) = (BTreeMap::new(), BTreeSet::new());
        for arrived in self.arrived.values() {
            let mut last = None;
            for &(effect, tag) in arrived.iter().filter(|(_, tag)| !refused.contains(tag)) {
                match effect {
                    Effect::Write => {
                        last = Some(tag);
                        writes.insert(tag);
                    }
                    Effect::Trim => last = None,
                    Effect::Read => drop(reads.insert(tag, last)),
                }
            }
        }
        (reads, writes)
    }
}

/// Sub-requests that completed, and pages that were refused.
#[derive(Default)]
struct Answers {
    completed: Vec<u32>,
    refused: BTreeSet<Tag>,
    /// Of these, pages that had waited.
    waited: u64,
}

impl Answers {
    fn hear<P: Probe>(&mut self, device: &mut Device<P>, oracle: &Oracle) {
        for refusal in device.refusals().drain(..) {
            let (pages, issued) = oracle.subs[&(refusal.token as u32)];
            assert!(refusal.first + refusal.pages <= pages);
            assert_eq!(refusal.blame.total(), (refusal.at - issued).0, "blame sums: {refusal:?}");
            assert!(refusal.left > SimDuration::ZERO, "nobody is refused for nothing: {refusal:?}");
            self.waited += u64::from(refusal.blame.queue_host + refusal.blame.queue_gc > 0);
            for page in refusal.first..refusal.first + refusal.pages {
                let is_new = self.refused.insert((refusal.token as u32, page));
                assert!(is_new, "a page is refused once: {refusal:?}");
            }
        }
        for done in device.completions().drain(..) {
            let issued = oracle.subs[&(done.token as u32)].1;
            assert_eq!(done.blame.total(), (done.finish - issued).0, "blame sums: {done:?}");
            self.completed.push(done.token as u32);
        }
    }
}

fn random_sub(rng: &mut Rng, token: u32, bytes: u64, page_size: u64) -> SubRequest {
    let operation = pick(
        rng,
        &[
            Operation::Write,
            Operation::Write,
            Operation::Write,
            Operation::Read,
            Operation::Read,
            Operation::Trim,
        ],
    );
    let most = bytes.min(6 * page_size);
    let (unit, length) = if rng.chance(0.6) {
        (page_size, (1 + rng.below(most / page_size)) * page_size)
    } else {
        (1, 1 + rng.below(most))
    };
    // Half of all operations meet in the first pages, so that they wait for one another.
    let places = (bytes - length) / unit + 1;
    let near = if rng.chance(0.5) { places.min(8) } else { places };
    let offset = rng.below(near) * unit;
    SubRequest::new(token.into(), operation, offset, length)
}

/// How pages of the devices lie in programs and blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pages {
    Single,
    Packed,
    InSuperblocks,
}

/// Drives one random device and compares everything it read with the oracle; returns pages moved, those moved to
/// another unit, what there was of planes to check, and pages that were refused, after waiting and writes among them.
fn check(seed: u64, pages: Pages, maps: bool) -> [u64; 9] {
    let packs = pages == Pages::Packed;
    let mut rng = Rng::stream(seed, "content");
    // Streams of their own, so that the devices of old seeds differ in nothing else.
    let mut hurry = Rng::stream(seed, "content/deadlines");
    let mut windows = Rng::stream(seed, "content/windows");
    let mut impatience = Rng::stream(seed, "content/fast-fail");
    let fail_fast = pick(&mut impatience, &[0.0, 0.3, 1.0]);
    let config = crate::random::config(&mut rng);
    let mut config = crate::random::additions(&mut Rng::stream(seed, "content/additions"), config);
    let mut anywhere = Rng::stream(seed, "content/anywhere");
    if config.gc.destination == Destination::Device && anywhere.chance(0.5) {
        config.gc.schedule = crate::random::name(&mut anywhere, schedule::REGISTRY).as_str().into();
        let unmatched = pick(&mut anywhere, &["stay", "skip"]);
        if config.gc.schedule.policy.ends_with("io-parallel") {
            config.gc.schedule = config.gc.schedule.with("unmatched", unmatched);
        }
    }
    crate::random::timing(&mut config, &mut Rng::stream(seed, "content/timing"));
    crate::random::front(&mut config, &mut Rng::stream(seed, "content/front"));
    let slack = pick(&mut hurry, &[0, 40, 400, 4_000]);
    config.gc.schedule = crate::random::slack_of(slack, config.gc.schedule);
    config.gc.concurrency = crate::random::concurrency(&mut Rng::stream(seed, "content/concurrency"));
    let mut later = Rng::stream(seed, "content/later keys");
    config.gc.concurrency = crate::random::later_keys(&mut later, config.gc.concurrency);
    if packs {
        crate::random::pack(&mut config, &mut Rng::stream(seed, "content/packing"));
        config.gc.last_program =
            pick(&mut Rng::stream(seed, "content/last"), &[LastProgram::Padded, LastProgram::Filled]);
    }
    if pages == Pages::InSuperblocks {
        crate::random::superblocks(&mut config, &mut Rng::stream(seed, "content/superblocks"));
    }
    crate::random::sharing(&mut config, &mut Rng::stream(seed, "content/sharing"));
    if maps && !crate::random::mapping(&mut config, &mut Rng::stream(seed, "content/mapping")) {
        return [0; 9];
    }
    let ftl = Ftl::new(&config, seed, "device").unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    let (shape, page_size) = (ftl.shape().clone(), u64::from(config.mapping_unit()));
    let flash = TaggedFlash {
        page_bits: shape.page_bits,
        data_pages: shape.data_pages,
        pages: BTreeMap::new(),
        written: BTreeMap::new(),
        reads: BTreeMap::new(),
        programs: BTreeMap::new(),
        global: config.gc.destination == Destination::Device,
        copies: 0,
        copies_elsewhere: 0,
        maps: 0,
        skips: packs || config.gc.schedule.own.get("unmatched").is_some_and(|value| value == "skip"),
        lanes: if packs {
            Lanes::of_units()
        } else {
            Lanes::with_rests(
                config.gc.schedule.own.get("partial_writes").is_some_and(|value| value == "along"),
            )
        },
    };
    let mut device = Device::new(&config, ftl, any(flash)).expect("the policies are registered");
    let bytes = u64::from(shape.logical_pages) * page_size;
    let mut oracle = Oracle::default();
    let (mut now, mut answers) = (SimTime::ZERO, Answers::default());
    let operations = 400;
    for token in 0..operations {
        now += SimDuration(pick(&mut rng, &[0, 1, 40, 400]) * rng.below(4));
        device
            .advance_until(now, false)
            .unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{config:#?}"));
        answers.hear(&mut device, &oracle);
        if rng.chance(0.03) {
            let directive = pick(
                &mut rng,
                &[
                    Directive::Force(Stop::Internal),
                    Directive::Force(Stop::AllReserve),
                    Directive::Hold,
                    Directive::Release,
                ],
            );
            device.direct(now, directive);
        }
        if windows.chance(0.03) {
            device.direct(now, pick(&mut windows, &[Directive::Open, Directive::Hold, Directive::Release]));
        }
        let mut sub = random_sub(&mut rng, token, bytes, page_size);
        sub.deadline = pick(&mut hurry, &[None, None, Some(now), Some(now + SimDuration(900))]);
        sub.fast_fail = impatience.chance(fail_fast);
        oracle.arrive(&sub, page_size, now);
        device.submit(now, sub).unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{config:#?}"));
        device.audit();
    }
    // At last, everything.
    let all = SubRequest::new(operations.into(), Operation::Read, 0, bytes);
    device.advance_until(now, false).unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{config:#?}"));
    oracle.arrive(&all, page_size, now);
    device.submit(now, all).unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{config:#?}"));
    let mut rounds = 0;
    while device.next_wakeup() != SimTime::NEVER {
        let wakeup = device.next_wakeup();
        device
            .advance_until(wakeup, true)
            .unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{config:#?}"));
        device.notices().clear();
        rounds += 1;
        assert!(rounds < 1_000_000, "seed {seed}: it comes to no rest\n{config:#?}");
    }
    answers.hear(&mut device, &oracle);
    device.ftl().audit();
    let refused_of = |token| answers.refused.range((token, 0)..(token + 1, 0)).count() as u32;
    let served = oracle.subs.iter().filter(|&(&token, &(pages, _))| refused_of(token) < pages);
    let served: Vec<u32> = served.map(|(&token, _)| token).collect();
    answers.completed.sort_unstable();
    assert_eq!(answers.completed, served, "seed {seed}: what is not refused whole completes once");

    let flash: &TaggedFlash = probe_as(device.probe());
    let (reads, writes) = oracle.expected(&answers.refused);
    let wrong = reads.iter().find(|&(tag, expected)| flash.reads.get(tag) != Some(expected));
    if let Some((tag, expected)) = wrong {
        let of_page =
            oracle.arrived.iter().find(|(_, arrived)| arrived.iter().any(|(_, other)| other == tag));
        let found = flash.reads.get(tag);
        let refused = &answers.refused;
        panic!(
            "seed {seed}: {tag:?} found {found:?}, not {expected:?}: {of_page:?}, refused {refused:?}\n{config:#?}"
        );
    }
    assert_eq!(flash.reads.len(), reads.len(), "seed {seed}: what was refused is not read");
    let programmed: BTreeSet<Tag> = flash.programs.keys().copied().collect();
    assert_eq!(
        programmed, writes,
        "seed {seed}: every page of every write is programmed, unless it is refused\n{config:#?}"
    );
    assert!(flash.programs.values().all(|&times| times == 1), "seed {seed}: and programmed once");
    flash.lanes.check(seed, &device.counters());
    let [known, along, suspends] = flash.lanes.told();
    let refused = answers.refused.len() as u64;
    let (copies, elsewhere) = (flash.copies, flash.copies_elsewhere);
    [
        copies,
        elsewhere,
        known,
        along,
        suspends,
        refused,
        answers.waited,
        oracle.writes_among(&answers.refused),
        flash.maps,
    ]
}

#[test]
#[ignore = "long: make simulations"]
fn every_read_returns_the_last_write_that_arrived_before_it() {
    let sum = (0..600)
        .map(|seed| check(seed, Pages::Single, false))
        .reduce(|a, b| std::array::from_fn(|i| a[i] + b[i]));
    let [copies, elsewhere, known, along, suspends, refused, waited, writes, _] = sum.expect("seeds");
    assert!(copies > 50_000, "garbage collection must have moved much, not {copies} pages");
    assert!(elsewhere > 1_500, "some of it elsewhere, not {elsewhere} pages");
    assert!(refused > 10_000 && waited > 1_000 && writes > 1_000, "refused: {refused}, {waited}, {writes}");
    assert!(known > 100_000 && along > 500 && suspends > 100, "planes: {known}, {along}, {suspends}");
}

/// The same where a program carries several units: none is lost, doubled or found in another's place.
#[test]
#[ignore = "long: make simulations"]
fn every_read_returns_the_last_write_where_programs_carry_several_units() {
    let sum = (0..600)
        .map(|seed| check(seed, Pages::Packed, false))
        .reduce(|a, b| std::array::from_fn(|i| a[i] + b[i]));
    let [copies, _, known, _, suspends, refused, waited, writes, _] = sum.expect("seeds");
    assert!(copies > 50_000, "garbage collection must have moved much, not {copies} units");
    assert!(refused > 10_000 && waited > 500 && writes > 1_000, "refused: {refused}, {waited}, {writes}");
    assert!(known > 50_000 && suspends > 100, "planes: {known}, {suspends}");
}

/// The same where dies share their blocks. Collection is one command of each die, so no plane is told apart from its die.
#[test]
fn every_read_returns_the_last_write_where_dies_share_their_blocks() {
    let all = (0..600).map(|seed| check(seed, Pages::InSuperblocks, false));
    let sum = all.reduce(|a, b| std::array::from_fn(|i| a[i] + b[i]));
    let [copies, _, _, _, suspends, refused, _, writes, _] = sum.expect("seeds");
    assert!(copies > 50_000, "garbage collection must have moved much, not {copies} pages");
    assert!(refused > 1_000 && writes > 100, "refused: {refused}, {writes}");
    assert!(suspends > 10, "planes: {suspends}");
}

/// The same where memory does not hold the map: pages of the map are read and written between, and moved like others.
#[test]
#[ignore = "long: make simulations"]
fn every_read_returns_the_last_write_where_the_map_lies_on_flash() {
    for pages in [Pages::Single, Pages::Packed] {
        let all = (0..500).map(|seed| check(seed, pages, true));
        let sum = all.reduce(|a, b| std::array::from_fn(|i| a[i] + b[i]));
        let [copies, _, _, _, _, refused, _, writes, maps] = sum.expect("seeds");
        assert!(copies > 10_000, "garbage collection must have moved much, not {copies} pages");
        assert!(refused > 1_000 && writes > 100, "refused: {refused}, {writes}");
        assert!(maps > 5_000, "the map must have been read often, not {maps} times");
    }
}
