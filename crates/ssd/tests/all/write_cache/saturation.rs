//! What a full cache takes and absorbs, held against closed forms.

use super::*;

/// At saturation a cache takes as much as the dies program: the k-th write beyond its size is admitted with the k-th program of its die.
#[test]
fn at_saturation_the_rate_is_that_of_the_dies() {
    for (config, dies) in [(one_die(), 1), (two_dies(), 2)] {
        let mut bench = Bench::empty(&cached(config, 4));
        let pages = 12;
        for page in 0..pages {
            bench.write(0, page, page.into(), 1);
        }
        bench.advance(1_000_000);
        let mut admitted: Vec<u64> = bench.known.iter().map(|done| done.finish.0 - ACK).collect();
        admitted.sort_unstable();
        for (turn, admitted) in admitted[4..].iter().enumerate() {
            // Page `turn` of all was handed over when its die was free; pages take turns at the dies.
            let (die, round) = (turn as u64 % dies, turn as u64 / dies + 1);
            assert_eq!(*admitted, (die + 1) * LINK + round * PROGRAM, "{dies} dies, write {turn}");
        }
    }
}

/// One page of `n` is written again and again at random moments much closer than a program, one die. Between two hand-overs of a program time
/// the writes of `Poisson(rate)` find `n` pages; what is programmed is one page a program time as long as any waits.
/// So with `n` pages that all wait most of the time, the share absorbed is 1 - (program rate) / (write rate).
#[test]
fn what_is_absorbed_is_what_the_dies_cannot_program() {
    let mut config = cached(one_die(), 16);
    // A device that never collects within the run.
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (1_000, 64);
    let ftl = Ftl::new(&config, 1, "device").unwrap();
    let mut device = Device::new(&config, ftl, NoProbe).unwrap();
    let mut rng = Rng::stream(7, "absorbs");
    let (mut now, writes, gap) = (SimTime::ZERO, 20_000, 500.0);
    for token in 0..writes {
        now = SimTime(now.0 + rng.exponential(gap) as u64);
        device.advance_until(now, false).unwrap();
        device.submit(now, sub(token, Operation::Write, rng.below(8), 1)).unwrap();
    }
    device.advance_until(now, false).unwrap();
    let counters = device.counters().write_cache;
    let programmed = now.0 as f64 / PROGRAM as f64;
    let expected = 1.0 - programmed / f64::from(writes);
    let absorbed = counters.absorbed_pages as f64 / f64::from(writes);
    assert!((absorbed - expected).abs() < 0.002, "{absorbed} of writes are absorbed, not {expected}");
    assert_eq!(counters.waits, 0, "8 pages fit into 16 slots, on their way or not");
}

/// Overwrites by popularity into a cache that is always full. Of `slots` slots one a die is being programmed, and `waiting` wait in one list:
///
/// ```text
/// a write of a page that waits       goes over it, and the order stays
/// a write of any other page          waits until a program ends. The oldest page is handed over then, and this one comes behind the others
/// ```
///
/// So the list is a cache of `waiting` pages that evicts the first one in, and what is absorbed is its share of hits. If writes are drawn
/// independently, page i with the probability `p_i`, this is known exactly (King 1971, Gelenbe 1973). Any `c` pages in any order wait with a
/// probability proportional to the product of their `p_i`: whatever the order, a page is only replaced by one drawn afresh. With `e_c`, the
/// sum of these products over all sets of `c` pages,
///
/// ```text
/// misses = sum over sets S of c pages (product of S) (sum of p_i outside of S) / e_c = (c + 1) e_(c + 1) / e_c
/// ```
///
/// since each set of `c + 1` pages is met once for each of its pages. If all of `n` pages are as popular, `c / n` of the writes are absorbed.
///
/// Where the dies keep up, popularity does not matter: see `what_is_absorbed_is_what_the_dies_cannot_program`.
#[test]
fn what_a_full_cache_absorbs_of_popular_pages_is_what_a_queue_of_its_size_hits() {
    const PAGES: usize = 256;
    // Popularity falls with the rank: not, with its root, with the rank, and with the power 1.5 of it.
    let falls: [fn(f64) -> f64; 4] =
        [|_| 1.0, |rank| rank.sqrt().recip(), f64::recip, |rank| (rank * rank.sqrt()).recip()];
    for (falls, exponent) in falls.iter().zip(["0", "0.5", "1", "1.5"]) {
        let all: f64 = (1..=PAGES).map(|rank| falls(rank as f64)).sum();
        let popularity: Vec<f64> = (1..=PAGES).map(|rank| falls(rank as f64) / all).collect();
        for (dies, slots) in [(1, 8), (1, 64), (4, 36)] {
            let expected = hits_of_a_queue(&popularity, slots - dies);
            let absorbed = absorbed_when_full(&popularity, dies as u32, slots as u64);
            let case = format!("exponent {exponent}, {dies} dies, {slots} slots: {absorbed} of {expected}");
            eprintln!("{case}");
            assert!((absorbed - expected).abs() < 0.005, "{case}");
        }
    }
}

/// The closed form.
fn hits_of_a_queue(popularity: &[f64], length: usize) -> f64 {
    // By number of pages, the sum of products of sets of so many.
    let mut sums = vec![0.0; length + 2];
    sums[0] = 1.0;
    for p in popularity {
        for set in (1..sums.len()).rev() {
            sums[set] += p * sums[set - 1];
        }
    }
    1.0 - (length + 1) as f64 * sums[length + 1] / sums[length]
}

/// What a device absorbs whose host has more writes than fit at any time.
fn absorbed_when_full(popularity: &[f64], dies: u32, slots: u64) -> f64 {
    const WRITES: u32 = 100_000;
    let mut config = cached(one_die(), slots);
    // A device that never collects within the run, and a link that takes no time.
    (config.geometry.channels, config.geometry.blocks_per_plane, config.geometry.pages_per_block) =
        (dies, 2_000, 64);
    config.link.bandwidth = 1 << 60;
    (config.ftl.allocation, config.ftl.reserved_blocks) = (Allocation::Dynamic, Amount::Blocks(500));
    let ftl = Ftl::new(&config, 1, "device").unwrap();
    let mut device = Device::new(&config, ftl, NoProbe).unwrap();
    let mut rng = Rng::stream(7, "popular");
    let ends: Vec<f64> = popularity
        .iter()
        .scan(0.0, |end, p| {
            *end += p;
            Some(*end)
        })
        .collect();
    let (mut now, mut open, mut before) = (SimTime::ZERO, 0, WriteCacheCounters::default());
    for token in 0..WRITES {
        while open >= 2 * slots as usize {
            now = device.next_wakeup();
            device.advance_until(now, false).unwrap();
            open -= device.completions().drain(..).count();
        }
        if token == WRITES / 10 {
            before = device.counters().write_cache;
        }
        let drawn = rng.unit();
        let page = ends.partition_point(|&end| end <= drawn).min(ends.len() - 1);
        device.submit(now, sub(token, Operation::Write, page as u64, 1)).unwrap();
        open += 1;
    }
    let counters = device.counters().write_cache;
    assert_eq!((counters.high_water_pages, device.counters().gc_victims), (slots, 0));
    let admitted = counters.admitted_pages - before.admitted_pages;
    let absorbed = (counters.absorbed_pages - before.absorbed_pages) as f64;
    absorbed / (absorbed + admitted as f64)
}
