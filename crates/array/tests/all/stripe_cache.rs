//! What does a stripe cache save, and who waits for it? Literal times and counts, and random writes against a model of md's rule.
//!
//! Members of one die, left-symmetric RAID-5, one page a stripe unit:
//!
//! ```text
//! stripe   member 0   member 1   member 2   member 3   member 4      a read: 25 us and 20 us of transfer
//! 0        page 0     page 1     page 2     page 3     P             a write: 20 us of transfer and 200 us
//! 1        page 5     page 6     page 7     P          page 4
//! ```
//!
//! Not verified: contents (`contents` does).

use crate::common::{PAGE, all_filled, drain, level, one_die, request, us};
use harmonia_array::payload::{self, AnyPayload, Owner, Payload};
use harmonia_array::{
    Array, ArrayConfig, Befalls, Fault, Faults, Level, Rebuild, SmallWrite, StripeCacheConfig, When,
};
use harmonia_engine::Rng;
use harmonia_ssd::probe::{AnyProbe, NoProbe, any};
use harmonia_types::{Blame, Completion, DeviceId, HostRequest, IoCause, Operation, RequestBlame, SimTime};

const READS: Blame = Blame { service: 25_000, transfer: 20_000, ..Blame::NONE };
const WRITES: Blame = Blame { service: 200_000, transfer: 20_000, ..Blame::NONE };

fn array(entries: u32, small_write: SmallWrite) -> Array {
    let stripe_cache = StripeCacheConfig { entries, delays: true };
    let whole = level(Level::Raid5(Default::default()), &one_die(24, 16, 6), 5, PAGE);
    of(ArrayConfig { stripe_cache, small_write, ..whole })
}

fn of(config: ArrayConfig) -> Array {
    Array::new(&config, all_filled(&config, 1), None, |_| NoProbe).unwrap()
}

/// A write of pages of the array at a time in microseconds.
fn write(id: u64, at: u64, first: u64, count: u64) -> HostRequest {
    request(id, us(at), Operation::Write, first * PAGE, count * PAGE)
}

/// Submits requests in order of arrival; their completions by id.
fn run(array: &mut Array, requests: &[HostRequest]) -> Vec<Completion> {
    for &request in requests {
        array.advance_until(request.arrival).unwrap();
        array.submit(request).unwrap();
        array.audit();
    }
    let mut completions = drain(array);
    array.audit();
    completions.sort_unstable_by_key(|done| done.id);
    for done in &completions {
        assert_eq!(done.blame.total(), done.response().0, "blame sums to the response");
    }
    completions
}

/// Pages of all members: read for parity, programmed.
fn pages(array: &Array) -> (u64, u64) {
    let pages = |device: &harmonia_ssd::Device| {
        let counters = device.counters();
        let programs =
            counters.programs[IoCause::Host as usize] + counters.programs[IoCause::Parity as usize];
        // Every page had been written once.
        (counters.host_pages_read + counters.parity_pages_read, programs - 18 * 16)
    };
    array.devices().iter().map(pages).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
}

fn finishes(done: &[Completion]) -> Vec<SimTime> {
    done.iter().map(|done| done.finish).collect()
}

#[test]
fn two_writes_that_wait_for_one_row_become_one() {
    // The first holds the row from 0 to 265 us. The others arrive meanwhile, for units side by side.
    let requests = [write(0, 0, 3, 1), write(1, 10, 0, 1), write(2, 20, 1, 1)];
    let mut plain = array(0, SmallWrite::ReadModifyWrite);
    assert_eq!(finishes(&run(&mut plain, &requests)), [us(265), us(530), us(795)]);
    assert_eq!(pages(&plain), (6, 6));

    let mut cached = array(16, SmallWrite::ReadModifyWrite);
    let done = run(&mut cached, &requests);
    // Parity is kept, the old data of units 0 and 1 is not.
    assert_eq!(finishes(&done), [us(265), us(530), us(530)]);
    assert_eq!(pages(&cached), (2 + 2, 2 + 3));
    let blame = RequestBlame { data: WRITES, parity: READS, ..RequestBlame::default() };
    assert_eq!(done[1].blame, RequestBlame { stripe_wait: 255_000, ..blame });
    assert_eq!(done[2].blame, RequestBlame { stripe_wait: 245_000, ..blame });
    let counters = cached.counters();
    assert_eq!((counters.cache.merged, counters.cache.hits, counters.redundancy.stripe_waits), (1, 1, 2));
    assert_eq!(counters.redundancy.rows_read_modify_write, 2, "of the three writes two are one");
}

#[test]
fn sequential_units_become_a_full_stripe_without_pre_reads() {
    // Page 9 is of another stripe: while it reads, the write of page 0 is put off, and the others join it.
    let requests =
        [write(0, 0, 9, 1), write(1, 1, 0, 1), write(2, 2, 1, 1), write(3, 3, 2, 1), write(4, 4, 3, 1)];
    let mut cached = array(16, SmallWrite::Fewest);
    let done = run(&mut cached, &requests);
    let counters = cached.counters();
    assert_eq!((counters.redundancy.rows_full, counters.cache.rows_filled, counters.cache.merged), (1, 1, 3));
    assert_eq!(pages(&cached), (2, 2 + 5), "only the first write has read");
    assert_eq!(counters.cache.delays, 1);
    // The last of them makes it full, and it goes at once: behind the first one's reads at those members that have some.
    assert_eq!(finishes(&done[1..]), [done[1].finish; 4]);
    assert!(done[1].blame.entry_wait == 3_000 && done[4].blame.entry_wait == 0);
    assert!(done[1].finish <= us(4 + 45 + 220 + 220), "{:?}", done[1].finish);
    let mut plain = array(0, SmallWrite::Fewest);
    // One after the other, the first of them behind page 9 at a member that both use.
    assert_eq!(*finishes(&run(&mut plain, &requests)).last().unwrap(), us(5 * 265));
}

#[test]
fn writes_that_are_put_off_begin_together_when_nobody_reads() {
    // Stripes 0 to 3; the first reads until 45 us, and the others begin then.
    let requests = [write(0, 0, 0, 1), write(1, 1, 5, 1), write(2, 2, 10, 1), write(3, 44, 15, 1)];
    let mut cached = array(16, SmallWrite::ReadModifyWrite);
    let done = run(&mut cached, &requests);
    let waits: Vec<u64> = done.iter().map(|done| done.blame.entry_wait).collect();
    assert_eq!(waits, [0, 44_000, 43_000, 1_000]);
    assert_eq!(cached.counters().cache.delays, 3);
    // At 46 us three are reading, so one that comes then is put off as well, but not when they are done.
    let mut cached = array(16, SmallWrite::ReadModifyWrite);
    let done = run(&mut cached, &[write(0, 0, 0, 1), write(1, 45, 5, 1)]);
    assert_eq!((done[1].blame.entry_wait, cached.counters().cache.delays), (0, 0), "not put off at 45 us");
    // Synchronous writes are not put off.
    let whole = level(Level::Raid5(Default::default()), &one_die(24, 16, 6), 5, PAGE);
    let stripe_cache = StripeCacheConfig { entries: 16, delays: false };
    let mut cached = of(ArrayConfig { stripe_cache, small_write: SmallWrite::ReadModifyWrite, ..whole });
    let waits = run(&mut cached, &requests).iter().map(|done| done.blame.entry_wait).sum::<u64>();
    assert_eq!((waits, cached.counters().cache.delays), (0, 0));
}

#[test]
fn a_second_write_of_a_unit_reads_nothing() {
    let mut cached = array(16, SmallWrite::ReadModifyWrite);
    let done = run(&mut cached, &[write(0, 0, 2, 1), write(1, 1_000, 2, 1)]);
    assert_eq!(finishes(&done), [us(265), us(1_220)]);
    assert_eq!(done[1].blame, RequestBlame { data: WRITES, ..RequestBlame::default() });
    assert_eq!((pages(&cached), cached.counters().cache.hits), ((2, 4), 2));
}

/// What is kept decides which way reads less: of five units, 0 to 2 and P are kept after a reconstruct-write of 0.
#[test]
fn kept_units_cost_nothing_when_the_way_is_chosen() {
    let mut cached = array(16, SmallWrite::Fewest);
    // Of four data units three are written: reconstruct-write reads one. Then everything of the row is kept.
    run(&mut cached, &[write(0, 0, 0, 3)]);
    assert_eq!(pages(&cached), (1, 4));
    run(&mut cached, &[write(1, 1_000, 3, 1)]);
    assert_eq!(pages(&cached), (1, 6), "a read-modify-write would read two, and a reconstruct-write three");
    assert_eq!(cached.counters().redundancy.rows_reconstruct_write, 2, "a tie goes to reconstruct-write");
}

/// The one entry goes from one row to another, in the order of arrival.
#[test]
fn writes_wait_for_entries_in_the_order_they_came() {
    let requests = [write(0, 0, 0, 1), write(1, 1, 5, 1), write(2, 2, 10, 1), write(3, 3, 0, 1)];
    let mut cached = array(1, SmallWrite::ReadModifyWrite);
    let done = run(&mut cached, &requests);
    assert_eq!(finishes(&done), [us(265), us(530), us(795), us(1_060)]);
    // The last one waits for its row before it waits for an entry.
    let waits: Vec<_> = done.iter().map(|done| (done.blame.stripe_wait, done.blame.entry_wait)).collect();
    assert_eq!(waits, [(0, 0), (0, 264_000), (0, 528_000), (262_000, 530_000)]);
    let counters = cached.counters().cache;
    assert_eq!((counters.entry_waits, counters.high_water), (3, 1));
    assert_eq!(counters.hits, 0, "the entry of the first row was used again");
}

/// Once one has waited, the first goes on when less than three quarters are in use: one of four entries is free too few.
#[test]
fn who_waits_goes_on_below_three_quarters() {
    // Whole stripes, so nobody is put off. Stripes 0 to 3 take all entries and end one after the other.
    let stripe = |id, at, stripe: u64| write(id, at, 4 * stripe, 4);
    let requests = [stripe(0, 0, 0), stripe(1, 0, 1), stripe(2, 0, 2), stripe(3, 0, 3), stripe(4, 1, 4)];
    let mut cached = array(4, SmallWrite::Fewest);
    let done = run(&mut cached, &requests);
    assert_eq!(finishes(&done)[..4], [us(220), us(440), us(660), us(880)]);
    assert_eq!(done[4].blame.entry_wait, 439_000, "at 220 us three quarters are in use, at 440 us half");
}

#[test]
fn writes_that_overlap_are_not_merged() {
    let requests = [write(0, 0, 3, 1), write(1, 10, 0, 1), write(2, 20, 0, 1)];
    let mut cached = array(16, SmallWrite::ReadModifyWrite);
    let done = run(&mut cached, &requests);
    assert_eq!(cached.counters().cache.merged, 0);
    assert_eq!(finishes(&done), [us(265), us(530), us(750)], "the last one reads nothing");
}

/// Entries for two rows: of a write of three nothing is kept, and whoever checks contents is not told that something was.
#[test]
fn of_a_write_of_more_rows_than_there_are_entries_nothing_is_kept() {
    /// The rows of writes of which something is kept.
    #[derive(Default)]
    struct Kept(Vec<u64>);
    impl Payload for Kept {
        fn caches(&mut self, of: Owner<'_>) {
            self.0.push(of.transaction.rows.count);
        }
    }
    let stripe_cache = StripeCacheConfig { entries: 2, delays: true };
    let whole = level(Level::Raid5(Default::default()), &one_die(24, 16, 6), 5, PAGE);
    let config = ArrayConfig { stripe_cache, small_write: SmallWrite::ReadModifyWrite, ..whole };
    let kept = |pages| {
        let payload = payload::any(Kept::default());
        let mut array: Array<AnyProbe, AnyPayload> =
            Array::with_payload(&config, all_filled(&config, 1), payload, |_| any(NoProbe)).unwrap();
        for request in [write(0, 0, 0, pages), write(1, 10_000, 0, 1)] {
            array.advance_until(request.arrival).unwrap();
            array.submit(request).unwrap();
        }
        assert_eq!(drain(&mut array).len(), 2);
        let hits = array.counters().cache.hits;
        (std::mem::take(&mut payload::payload_as::<Kept>(array.payload_mut()).0), hits)
    };
    assert_eq!([kept(8), kept(12)], [(vec![2, 1], 2), (vec![1], 0)]);
}

#[test]
fn a_discard_drops_what_is_kept() {
    let mut cached = array(16, SmallWrite::ReadModifyWrite);
    let trim = request(1, us(1_000), Operation::Trim, 0, 4 * PAGE);
    run(&mut cached, &[write(0, 0, 0, 1), trim, write(2, 2_000, 0, 1)]);
    assert_eq!(cached.counters().cache.hits, 0);
}

#[test]
fn nothing_is_kept_while_a_member_is_missing() {
    let fails = Fault { device: DeviceId(3), at: When::Time(us(900)), what: Befalls::Failure };
    let faults = Faults { events: vec![fails], ..Faults::default() };
    let small_write = SmallWrite::ReadModifyWrite;
    let whole = level(Level::Raid5(Default::default()), &one_die(24, 16, 6), 5, PAGE);
    let stripe_cache = StripeCacheConfig { entries: 16, delays: true };
    let mut cached = of(ArrayConfig { stripe_cache, small_write, faults, ..whole });
    run(&mut cached, &[write(0, 0, 0, 1), write(1, 1_000, 0, 1), write(2, 2_000, 0, 1)]);
    assert_eq!((cached.counters().cache.hits, pages(&cached)), (0, (6, 6)));
}

/// After a loss of power parity is known to agree only where it was gone through, so nothing is kept until all of it was.
#[test]
fn nothing_is_kept_during_a_resync() {
    let rebuild =
        Rebuild { min_rate: 1 << 20, max_rate: 1 << 20, depth: 1, step: 4 * PAGE, ..Rebuild::default() };
    let power_losses = vec![When::Time(us(1_100))];
    let faults = Faults { power_losses, rebuild, ..Faults::default() };
    let small_write = SmallWrite::ReadModifyWrite;
    let whole = level(Level::Raid5(Default::default()), &one_die(24, 16, 6), 5, PAGE);
    let stripe_cache = StripeCacheConfig { entries: 16, delays: true };
    let mut cached = of(ArrayConfig { stripe_cache, small_write, faults, ..whole });
    // The first is under way as power is lost. A second of resync follows: of 1.2 MB of each member.
    cached.advance_until(us(1_000)).unwrap();
    cached.submit(write(0, 1_000, 40, 1)).unwrap();
    let mut hits = |id, at| {
        let before = cached.counters().cache.hits;
        for (id, at) in [(id, at), (id + 1, at + 10_000)] {
            cached.advance_until(us(at)).unwrap();
            cached.submit(write(id, at, 0, 1)).unwrap();
        }
        cached.advance_until(us(at + 20_000)).unwrap();
        cached.counters().cache.hits - before
    };
    assert_eq!([hits(1, 100_000), hits(3, 5_000_000)], [0, 2]);
}

/// md's rule with what the row's entry keeps, one write at a time, written down once more and without any of our types.
struct Model {
    parities: u64,
    data_units: u64,
    small_write: SmallWrite,
    size: usize,
    /// Rows with what is kept of each (units, then parities), the one used last at the end.
    entries: Vec<(u64, Vec<bool>)>,
    reads: u64,
    hits: u64,
}

impl Model {
    /// Writes some units of a row, the first and the last perhaps in part.
    fn write(&mut self, row: u64, covered: &[u64]) {
        let all = (self.data_units + self.parities) as usize;
        let place = self.entries.iter().position(|entry| entry.0 == row);
        let mut kept = place.map_or(vec![false; all], |place| self.entries.remove(place).1);
        let data = self.data_units as usize;
        let is_parity = |unit: usize| unit >= data;
        let modify: Vec<usize> = (0..all).filter(|&unit| is_parity(unit) || covered[unit] > 0).collect();
        let rebuild: Vec<usize> = (0..data).filter(|&unit| covered[unit] < PAGE).collect();
        let missing = |units: &[usize]| units.iter().filter(|&&unit| !kept[unit]).count() as u64;
        let modifies = match self.small_write {
            SmallWrite::Fewest => missing(&modify) < missing(&rebuild),
            way => way == SmallWrite::ReadModifyWrite,
        };
        let read = if rebuild.is_empty() {
            &rebuild
        } else if modifies {
            &modify
        } else {
            &rebuild
        };
        self.reads += missing(read);
        self.hits += read.len() as u64 - missing(read);
        read.iter().chain(&modify).for_each(|&unit| kept[unit] = true);
        self.entries.push((row, kept));
        if self.entries.len() > self.size {
            self.entries.remove(0);
        }
    }
}

#[test]
fn random_writes_one_at_a_time_read_what_the_model_says() {
    const STRIPES: u64 = 12;
    let mut hits = 0;
    for seed in 0..60 {
        let mut rng = Rng::stream(seed, "stripe-cache");
        let parities = 1 + seed % 2;
        let members = parities + 2 + rng.below(5);
        let small_write = [SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct];
        let small_write = small_write[rng.below(3) as usize];
        let size = [1, 3, 8, 100][rng.below(4) as usize];
        let data_units = members - parities;
        let of_level =
            if parities == 2 { Level::Raid6(Default::default()) } else { Level::Raid5(Default::default()) };
        let whole = level(of_level, &one_die(24, 16, 6), members as u16, PAGE);
        let stripe_cache = StripeCacheConfig { entries: size, delays: true };
        let mut cached = of(ArrayConfig { stripe_cache, small_write, ..whole });
        let mut model = Model {
            parities,
            data_units,
            small_write,
            size: size as usize,
            entries: Vec::new(),
            reads: 0,
            hits: 0,
        };
        let mut written = 0;
        for id in 0..60 {
            // Within a stripe, in units of 512 bytes.
            let stripe = rng.below(STRIPES) * data_units * PAGE;
            let sectors = data_units * PAGE / 512;
            let (one, other) = (rng.below(sectors), rng.below(sectors));
            let (from, to) = (one.min(other) * 512, (one.max(other) + 1) * 512);
            let part = |unit: u64| to.min((unit + 1) * PAGE).saturating_sub(from.max(unit * PAGE));
            let covered: Vec<u64> = (0..data_units).map(part).chain([0, 0]).collect();
            model.write(stripe, &covered);
            written += covered.iter().filter(|&&bytes| bytes > 0).count() as u64 + parities;
            let at = us(10_000 * (id + 1));
            run(&mut cached, &[request(id, at, Operation::Write, stripe + from, to - from)]);
        }
        assert_eq!(pages(&cached), (model.reads, written), "seed {seed}, {members} members, {size} entries");
        assert_eq!(cached.counters().cache.hits, model.hits, "seed {seed}");
        hits += model.hits;
    }
    assert!(hits > 2_000, "{hits} units were kept");
}
