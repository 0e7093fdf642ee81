//! Does every read return what was last written? A tag in every flash page against a plain map.
//!
//! Random devices, random writes (whole and partial), reads, trims and forced collections; the oracle is a
//! `BTreeMap` updated when operations *arrive*, so reads that overtake writes on their die are checked too. The flash
//! itself refuses what flash cannot do: a program of a page that is not erased, or out of order within its block.
//!
//! Beside it, what the planes are said to do is held against what the device counts (`lanes`).
//!
//! Not verified: times, and which block was collected.

mod lanes;

use std::collections::BTreeMap;

use harmonia_engine::Rng;
use harmonia_flash::{Copyback, Geometry, LinkConfig, Timing};
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::probe::{FlashPage, Origin, Probe};
use harmonia_ssd::{
    Allocation, AllocationUnit, Amount, BeginsAt, ConcurrencyConfig, Destination, Device, Domain, Frontiers,
    Ftl, FtlConfig, GcConfig, Order, Priority, SsdConfig, SubRequest, Trigger,
};
use harmonia_types::registry::{Entry, names};
use harmonia_types::{IoCause, Lpn, Operation, ParityPages, PlaneWork, SimDuration, SimTime};
use lanes::Lanes;
use serde_json::json;

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
    lanes: Lanes,
}

impl TaggedFlash {
    fn store(&mut self, to: FlashPage, lpn: Lpn, tag: Tag) {
        let (block, page) = (to.ppn.0 >> self.page_bits, to.ppn.0 & ((1 << self.page_bits) - 1));
        assert!(page < self.data_pages, "{to:?}: data in a summary page");
        let next = self.written.entry((to.unit, block)).or_insert(0);
        assert_eq!(page, *next, "{to:?}: pages of a block are programmed in order, once between erases");
        *next += 1;
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
    const AUDIT: bool = true;
    const WATCHES_PLANES: bool = true;

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
        assert_eq!(cause, IoCause::Host);
        let origin = origin.expect("nothing is aged here");
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

fn name<F>(rng: &mut Rng, registry: &'static [Entry<F>]) -> String {
    let all: Vec<&str> = names(registry).collect();
    all[rng.below(all.len() as u64) as usize].to_owned()
}

fn pick<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.below(choices.len() as u64) as usize]
}

/// A random tiny device whose spare just suffices, or a little more.
fn config(rng: &mut Rng) -> SsdConfig {
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
        preset: "random".into(),
        geometry: Geometry {
            channels: draw(rng, 1, 2),
            chips_per_channel: draw(rng, 1, 2),
            dies_per_chip: 1,
            planes_per_die: draw(rng, 1, 3),
            blocks_per_plane: reserved + draw(rng, 1, 6),
            pages_per_block: draw(rng, 2, 9),
            page_size: 512,
            summary_pages: draw(rng, 0, 1),
            own_pins: rng.chance(0.5),
        },
        timing: Timing {
            read: SimDuration(u64::from(draw(rng, 1, 30))),
            program: SimDuration(u64::from(draw(rng, 1, 200))),
            erase: SimDuration(u64::from(draw(rng, 1, 900))),
            transfer: SimDuration(u64::from(draw(rng, 1, 60))),
            copyback: pick(rng, &[Copyback::None, Copyback::Plane, Copyback::Die]),
            suspend_program: pick(rng, &[None, Some(SimDuration(7))]),
            suspend_erase: pick(rng, &[None, Some(SimDuration(0))]),
            resume: SimDuration(pick(rng, &[0, 3])),
        },
        link: LinkConfig {
            bandwidth: 512_000_000_000 / u64::from(draw(rng, 1, 80)),
            latency: SimDuration(pick(rng, &[0, 0, 7, 300])),
        },
        ftl: FtlConfig {
            reserved_blocks: Amount::Blocks(reserved),
            allocation,
            allocation_unit,
            frontiers,
            priority: pick(rng, &[Priority::Fifo, Priority::ReadsFirst]),
            multi_plane: rng.chance(0.5),
            open_blocks: pick(rng, &[1, 2, 2, 5]),
        },
        gc: GcConfig {
            domain: match allocation_unit {
                AllocationUnit::Die => pick(rng, &[Domain::Die, Domain::Device, Domain::Channel]),
                AllocationUnit::Plane => pick(rng, &[Domain::Device, Domain::Channel, Domain::Plane]),
            },
            trigger: pick(rng, &[Trigger::Foreground, Trigger::Background]),
            hard_threshold: Amount::Blocks(hard),
            soft_threshold: Amount::Blocks(soft),
            begins_at: BeginsAt::Schedule,
            stop_threshold: Amount::Blocks(stop),
            min_victims: pick(rng, &[1, 1, 2, 5]),
            // Policies that may move a full block need a free one, and are refused without.
            victim: if hard == 0 { "greedy".to_owned() } else { name(rng, victim::REGISTRY) },
            victim_d: 3,
            schedule: name(rng, schedule::REGISTRY),
            slack: SimDuration(400),
            destination: if allocation == Allocation::Dynamic {
                pick(rng, &[Destination::Unit, Destination::Device])
            } else {
                Destination::Unit
            },
            concurrency: ConcurrencyConfig::named("unlimited"),
        },
    }
}

/// A third is unlimited; of the others, many begin far too early or never of themselves.
fn concurrency(rng: &mut Rng) -> ConcurrencyConfig {
    let policy = if rng.chance(0.33) { "unlimited".to_owned() } else { name(rng, concurrency::REGISTRY) };
    let mut config = ConcurrencyConfig::named(&policy);
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

/// What was last written to every page by operations that have arrived.
#[derive(Default)]
struct Oracle {
    last: BTreeMap<u32, Tag>,
    /// What each page of each read must find.
    expected: BTreeMap<Tag, Option<Tag>>,
    writes: Vec<Tag>,
}

impl Oracle {
    fn arrive(&mut self, sub: &SubRequest, page_size: u64) {
        let (start, end) = (sub.offset, sub.offset + sub.length);
        for (index, page) in (start / page_size..end.div_ceil(page_size)).enumerate() {
            let (lpn, tag) = (page as u32, (sub.token as u32, index as u32));
            let whole = page * page_size >= start && (page + 1) * page_size <= end;
            match sub.operation {
                Operation::Write => {
                    self.last.insert(lpn, tag);
                    self.writes.push(tag);
                }
                // A device may ignore the parts of pages at the edges of a trimmed range; ours does.
                Operation::Trim if whole => drop(self.last.remove(&lpn)),
                Operation::Read => drop(self.expected.insert(tag, self.last.get(&lpn).copied())),
                Operation::Trim | Operation::Flush => {}
            }
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
    SubRequest {
        token: token.into(),
        operation,
        offset,
        length,
        fast_fail: false,
        deadline: None,
        parity: ParityPages::NONE,
    }
}

/// Drives one random device and compares everything it read with the oracle; returns pages moved, those moved to
/// another unit, and what there was of planes to check.
fn check(seed: u64) -> [u64; 5] {
    let mut rng = Rng::stream(seed, "content");
    // Streams of their own, so that the devices of old seeds differ in nothing else.
    let mut hurry = Rng::stream(seed, "content/deadlines");
    let mut config = config(&mut rng);
    config.gc.slack = SimDuration(pick(&mut hurry, &[0, 40, 400, 4_000]));
    config.gc.concurrency = concurrency(&mut Rng::stream(seed, "content/concurrency"));
    let ftl = Ftl::new(&config, seed, "device").unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    let (shape, page_size) = (ftl.shape().clone(), u64::from(config.geometry.page_size));
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
        lanes: Lanes::default(),
    };
    let mut device = Device::new(&config, ftl, flash).expect("the policies are registered");
    let bytes = u64::from(shape.logical_pages) * page_size;
    let mut oracle = Oracle::default();
    let (mut now, mut done) = (SimTime::ZERO, 0);
    let operations = 400;
    for token in 0..operations {
        now += SimDuration(pick(&mut rng, &[0, 1, 40, 400]) * rng.below(4));
        device
            .advance_until(now, false)
            .unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{config:#?}"));
        done += device.completions().drain(..).count();
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
        let mut sub = random_sub(&mut rng, token, bytes, page_size);
        sub.deadline = pick(&mut hurry, &[None, None, Some(now), Some(now + SimDuration(900))]);
        oracle.arrive(&sub, page_size);
        device.submit(now, sub).unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{config:#?}"));
        device.audit();
    }
    // At last, everything.
    let all = SubRequest {
        token: operations.into(),
        operation: Operation::Read,
        offset: 0,
        length: bytes,
        fast_fail: false,
        deadline: None,
        parity: ParityPages::NONE,
    };
    device.advance_until(now, false).unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{config:#?}"));
    oracle.arrive(&all, page_size);
    device.submit(now, all).unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{config:#?}"));
    while device.next_wakeup() != SimTime::NEVER {
        let wakeup = device.next_wakeup();
        device
            .advance_until(wakeup, true)
            .unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{config:#?}"));
        device.notices().clear();
    }
    done += device.completions().drain(..).count();
    assert_eq!(done, operations as usize + 1, "seed {seed}: every sub-request completes");
    device.ftl().audit();

    let flash = device.probe();
    assert_eq!(
        flash.reads, oracle.expected,
        "seed {seed}: reads return the last write that arrived before\n{config:#?}"
    );
    let programmed: Vec<Tag> = flash.programs.keys().copied().collect();
    assert_eq!(programmed, oracle.writes, "seed {seed}: every page of every write is programmed");
    assert!(flash.programs.values().all(|&times| times == 1), "seed {seed}: and programmed once");
    flash.lanes.check(seed, &device.counters());
    let [known, along, suspends] = flash.lanes.told();
    [flash.copies, flash.copies_elsewhere, known, along, suspends]
}

#[test]
fn every_read_returns_the_last_write_that_arrived_before_it() {
    let sum = (0..600).map(check).reduce(|a, b| std::array::from_fn(|i| a[i] + b[i]));
    let [copies, elsewhere, known, along, suspends] = sum.expect("seeds");
    assert!(copies > 50_000, "garbage collection must have moved much, not {copies} pages");
    assert!(elsewhere > 1_500, "some of it elsewhere, not {elsewhere} pages");
    assert!(known > 100_000 && along > 500 && suspends > 100, "planes: {known}, {along}, {suspends}");
}
