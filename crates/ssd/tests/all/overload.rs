//! What does a device do with more than it can ever catch up with? The same as ever, and in no more time an operation.
//!
//! A queue that is too long to be walked is indexed. Nothing but speed may depend on it, so the order of service is
//! held against a list that is walked, and a device that had a long queue once against one that had none.

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_ssd::probe::{FlashPage, NoProbe, Origin, Probe, any, probe_as};
use harmonia_ssd::{Allocation, Amount, Device, Ftl, Priority, SsdConfig};
use harmonia_types::{IoCause, Lpn, Operation, SimTime};

const BLOCKS: u32 = 4_000;
const PAGES_PER_BLOCK: u32 = 256;

/// One die with room for half a million pages, and as much to spare.
fn large() -> SsdConfig {
    let mut config = one_die();
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (BLOCKS, PAGES_PER_BLOCK);
    config.ftl.reserved_blocks = Amount::Blocks(BLOCKS / 2);
    config
}

/// The device with all its pages written, or none.
fn device<P: Probe>(config: &SsdConfig, is_full: bool, probe: P) -> Device<P> {
    let mut ftl = Ftl::new(config, 1, "device").unwrap();
    for lpn in 0..if is_full { ftl.shape().logical_pages } else { 0 } {
        ftl.program(0, lpn, IoCause::Host, None, &mut NoProbe).unwrap();
    }
    Device::new(config, ftl, probe).unwrap()
}

/// A million writes at once, each with something that has to find its place among those that wait. Where the queue was
/// walked for it, 65,536 of them took 24 seconds, growing with the square: a million would take more than an hour.
/// Found by an index they take less than a second a case.
#[test]
fn an_arrival_costs_no_more_behind_a_million_others() {
    let (mut reads_first, mut dynamic) = (large(), large());
    reads_first.ftl.priority = Priority::ReadsFirst;
    dynamic.ftl.allocation = Allocation::Dynamic;
    let cases = [
        ("reads of pages never written", large(), false, Operation::Read, 1),
        ("reads that overtake writes on the link", large(), true, Operation::Read, 1),
        ("trims that overtake writes on the link", large(), true, Operation::Trim, 1),
        ("trims that overtake writes in their lane", reads_first, true, Operation::Trim, 1),
        ("reads of what is on the link to a die yet to be chosen", dynamic, false, Operation::Read, 0),
    ];
    for (case, config, is_full, operation, half) in cases {
        let mut device = device(&config, is_full, NoProbe);
        let pages = u64::from(device.ftl().shape().logical_pages);
        for token in 0..1 << 20 {
            let page = u64::from(token) * 7 % (pages / 2);
            device.submit(SimTime::ZERO, sub(token, Operation::Write, page, 1)).unwrap();
            let other = sub(token, operation, half * pages / 2 + page / 2, 1);
            device.submit(SimTime::ZERO, other).unwrap();
        }
        let waiting = device.status(SimTime::ZERO).queue_depth;
        assert!(waiting >= 1 << 20, "{case}: {waiting} wait");
    }
}

/// What a die serves, in order.
#[derive(Default)]
struct Served(Vec<u32>);

impl Probe for Served {
    fn program(&mut self, _: FlashPage, _: Lpn, _: IoCause, origin: Option<Origin>) {
        self.0.extend(origin.map(|origin| origin.token as u32));
    }
    fn read(&mut self, _: Option<FlashPage>, _: Lpn, origin: Origin) {
        self.0.push(origin.token as u32);
    }
}

/// 2,000 operations arrive while the die is busy with the first: a new one goes behind everything ready no later, and
/// behind what waits for its page.
#[test]
fn a_long_queue_is_served_in_the_order_of_a_list_that_is_walked() {
    for seed in 0..10 {
        let mut rng = Rng::stream(seed, "order of a long queue");
        let mut device = device(&large(), true, any(Served::default()));
        let mut list: Vec<(u32, u64, u64)> = Vec::new();
        let mut link = 0;
        for token in 0..2_000 {
            let now = u64::from(token) * 2;
            let (is_write, page) = (token == 0 || rng.chance(0.5), rng.below(1_000));
            let operation = if is_write { Operation::Write } else { Operation::Read };
            device.advance_until(SimTime(now), false).unwrap();
            device.submit(SimTime(now), sub(token, operation, page, 1)).unwrap();
            link += if is_write { LINK } else { 0 };
            let mut ready = if is_write { link } else { now };
            let stops = |&(_, other, waits): &(u32, u64, u64)| other == page || waits <= ready;
            let place = list.iter().rposition(stops).map_or(0, |before| before + 1);
            // The first has begun by the time its data is over the link.
            if let Some(&(before, _, waits)) = place.checked_sub(1).map(|before| &list[before])
                && (before != 0 || now < LINK)
            {
                ready = ready.max(waits);
            }
            list.insert(place, (token, page, ready));
        }
        while device.next_wakeup() != SimTime::NEVER {
            device.advance_until(device.next_wakeup(), false).unwrap();
        }
        let expected: Vec<u32> = list.iter().map(|&(token, ..)| token).collect();
        assert_eq!(probe_as::<Served>(device.probe()).0, expected, "seed {seed}");
    }
}

/// 100 writes and a read that overtakes them, all at once or one after the other; then the same load on both.
#[test]
fn after_a_long_queue_a_device_goes_on_as_if_there_had_been_none() {
    let observe = |apart: u64, seed: u64| {
        let mut bench = Bench::aged(&two_dies(), &[]);
        for token in 0..101 {
            let operation = if token < 100 { Operation::Write } else { Operation::Read };
            bench.submit(u64::from(token) * apart, sub(token, operation, u64::from(token) % 24, 1));
        }
        let mut rng = Rng::stream(seed, "after a long queue");
        let mut now = 100_000_000;
        bench.advance(now).known.clear();
        for token in 0..400 {
            now += rng.below(2) * rng.below(9_000);
            let operation = [Operation::Read, Operation::Write, Operation::Trim][rng.below(3) as usize];
            bench.submit(now, sub(token, operation, rng.below(31), 1 + rng.below(2)));
        }
        bench.collected();
        bench.known
    };
    for seed in 0..20 {
        let (once, never) = (observe(0, seed), observe(200_000, seed));
        assert_eq!(once.len(), 400);
        let differs = once.iter().zip(&never).find(|(once, never)| once != never);
        assert_eq!(differs, None, "seed {seed}");
    }
}
