use super::*;

const D0: DeviceId = DeviceId(0);
const D1: DeviceId = DeviceId(1);

fn overlap(devices: usize, from: u64, intervals: &[(u16, u64, u64)]) -> GcOverlap {
    let mut overlap = GcOverlap::new(devices, SimTime(from));
    for &(device, start, end) in intervals {
        overlap.interval(DeviceId(device), SimTime(start), SimTime(end));
    }
    overlap
}

#[test]
fn the_picture_of_the_module() {
    let overlap = overlap(2, 0, &[(0, 4, 10), (0, 18, 22), (1, 6, 10), (1, 14, 27)]);
    assert_eq!(overlap.clone().finish_ns(SimTime(26)), [8, 10, 8]);
    assert_eq!(overlap.finish(SimTime(26)), [8.0 / 26.0, 10.0 / 26.0, 8.0 / 26.0]);
}

#[test]
fn intervals_are_clipped_to_the_window() {
    assert_eq!(overlap(1, 100, &[(0, 0, 50), (0, 90, 110), (0, 190, 250)]).finish_ns(SimTime(200)), [80, 20]);
    assert_eq!(overlap(1, 100, &[(0, 0, 500)]).finish_ns(SimTime(200)), [0, 100]);
    assert_eq!(overlap(1, 100, &[(0, 200, 500)]).finish_ns(SimTime(200)), [100, 0]);
}

#[test]
fn an_interval_may_be_open_at_the_end() {
    assert_eq!(overlap(1, 0, &[(0, 30, u64::MAX)]).finish_ns(SimTime(100)), [30, 70]);
    let mut begun = GcOverlap::new(1, SimTime(0));
    begun.begin(D0, SimTime(30));
    assert_eq!(begun.finish_ns(SimTime(100)), [30, 70]);
}

#[test]
fn an_interval_begun_before_the_window_counts_from_its_start() {
    let mut overlap = GcOverlap::new(1, SimTime(100));
    overlap.begin(D0, SimTime(60));
    overlap.end(D0, SimTime(120));
    assert_eq!(overlap.finish_ns(SimTime(200)), [80, 20]);
}

#[test]
fn zero_length_and_empty_window_count_for_nothing() {
    assert_eq!(overlap(2, 0, &[(0, 5, 5), (1, 5, 5)]).finish(SimTime(10)), [1.0, 0.0, 0.0]);
    assert_eq!(overlap(2, 7, &[(0, 0, 50)]).finish(SimTime(7)), [1.0, 0.0, 0.0]);
}

#[test]
fn overlapping_dies_make_one_device() {
    // Two dies of device 0: [10, 30) and [20, 40), touching [40, 50): one device for 40 ns.
    assert_eq!(overlap(2, 0, &[(0, 10, 30), (0, 20, 40), (0, 40, 50)]).finish_ns(SimTime(100)), [60, 40, 0]);
}

#[test]
fn settling_folds_what_is_past_and_keeps_what_is_not() {
    let mut overlap = overlap(2, 0, &[(0, 10, 20), (0, 30, 60)]);
    overlap.interval(D1, SimTime(15), SimTime(40));
    assert_eq!(overlap.pending(), 6);
    overlap.settle(SimTime(50));
    assert_eq!(overlap.pending(), 1, "only the end at 60 is still to come");
    overlap.settle(SimTime(20));
    overlap.interval(D1, SimTime(50), SimTime(70));
    // 0: [0,10) and [70,100); 2: [15,20), [30,40), [50,60); 1: the rest.
    assert_eq!(overlap.finish_ns(SimTime(100)), [40, 35, 25]);
}

#[test]
#[should_panic(expected = "is settled")]
fn a_broken_promise_is_found() {
    let mut overlap = GcOverlap::new(1, SimTime(0));
    overlap.settle(SimTime(50));
    overlap.interval(D0, SimTime(49), SimTime(60));
}

#[test]
#[should_panic(expected = "without having begun")]
fn an_end_without_a_begin_is_found() {
    let mut overlap = GcOverlap::new(1, SimTime(0));
    overlap.end(D0, SimTime(5));
    overlap.finish(SimTime(10));
}

/// A small generator of its own, so that the test depends on nothing but its seed.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Counts, nanosecond by nanosecond, the devices with an interval over it.
fn oracle(devices: usize, from: u64, end: u64, intervals: &[(u16, u64, u64)]) -> Vec<u64> {
    let mut time_ns = vec![0; devices + 1];
    for ns in from..end {
        let covered =
            |device: u16| intervals.iter().any(|&(d, start, end)| d == device && start <= ns && ns < end);
        time_ns[(0..devices as u16).filter(|&device| covered(device)).count()] += 1;
    }
    time_ns
}

/// Random devices, windows, gaps (0 included) and lengths (0 included), fed out of step, settled at random.
#[test]
fn equals_a_count_of_every_nanosecond() {
    for seed in 0..500 {
        let mut rng = Lcg(seed);
        let devices = 1 + rng.below(5) as usize;
        let from = rng.below(60);
        let end = from + rng.below(400);
        let mut overlap = GcOverlap::new(devices, SimTime(from));
        let mut reached = vec![0; devices];
        let mut fed = Vec::new();
        while reached.iter().any(|&time| time < end) {
            let device = rng.below(devices as u64) as usize;
            let start = reached[device] + rng.below(30);
            let stop = start + rng.below(40);
            reached[device] = stop;
            overlap.interval(DeviceId(device as u16), SimTime(start), SimTime(stop));
            fed.push((device as u16, start, stop));
            if rng.below(4) == 0 {
                // Every device has told all that starts before the slowest one's last end.
                let until = *reached.iter().min().unwrap();
                overlap.settle(SimTime(until.min(end)));
            }
        }
        let expected = oracle(devices, from, end, &fed);
        assert_eq!(overlap.clone().finish_ns(SimTime(end)), expected, "seed {seed}, {from}..{end}: {fed:?}");
        let shares = overlap.finish(SimTime(end));
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "seed {seed}: {shares:?}");
    }
}
