//! Which plane's collection did an operation meet in its die: that of its own plane, or only that of a sibling?
//!
//! Plane 0 of `LOW` collects from 0 on, begun by a read of it, as in `pairing.rs`. Even pages lie in plane 0, odd ones in plane 1.

use crate::bench::*;
use harmonia_types::{Met, MetGc, SimTime};

/// Reads 1 and 2 and write 4 are for the plane that collects, read 3 and write 5 for its sibling, and all wait for it. Read 6
/// of both planes comes after it.
fn collecting(schedule: &str) -> Bench {
    let mut config = crate::bench::planes(2);
    config.gc.schedule = schedule.into();
    config.gc.min_victims = 2;
    let mut bench = Bench::with(&config, &[LOW, CALM]);
    bench.read(0, 1, 24, 1).read(100, 2, 14, 1).read(100, 3, 7, 1).write(100, 4, 0, 1).write(100, 5, 1, 1);
    bench.collected();
    bench.read(200_000, 6, 14, 2).collected();
    bench
}

/// Those of these operations that met collection, as the device should have counted them.
fn met(bench: &Bench, tokens: &[u32]) -> Met {
    let mut met = Met::default();
    for &token in tokens {
        let done = bench.find(token).expect("done");
        assert!(done.met_gc, "{token}");
        met.add(done.finish - SimTime(if token == 1 { 0 } else { 100 }));
    }
    met
}

#[test]
fn operations_are_counted_by_whether_their_own_plane_collected() {
    for schedule in ["blocking", "stepwise", "io-parallel", "preemptive", "preemptive-io-parallel"] {
        let bench = collecting(schedule);
        assert!(!bench.find(6).expect("done").met_gc, "{schedule}: it came later");
        let expected = MetGc {
            own_reads: met(&bench, &[1, 2]),
            own_writes: met(&bench, &[4]),
            sibling_reads: met(&bench, &[3]),
            sibling_writes: met(&bench, &[5]),
        };
        assert_eq!(bench.device.counters().met_gc, expected, "{schedule}");
    }
}

/// Going along ends a wait before the collection ends; the operation met it all the same.
#[test]
fn what_goes_along_met_a_siblings_collection() {
    let (alone, along) =
        (collecting("blocking").device.counters().met_gc, collecting("io-parallel").device.counters().met_gc);
    assert!(along.sibling_reads.time < alone.sibling_reads.time, "{along:?}");
    assert!(along.sibling_writes.time < alone.sibling_writes.time, "{along:?}");
    assert!(along.own_reads.time >= alone.own_reads.time, "{along:?}");
    assert_eq!((along.sibling_reads.count, along.own_writes.count), (1, 1));
}

/// An operation of several pages met its own plane's collection if one page did, be it the first or the last to be done.
#[test]
fn of_several_pages_one_is_enough() {
    let mut config = crate::bench::planes(2);
    config.gc.min_victims = 2;
    let mut bench = Bench::with(&config, &[LOW, CALM]);
    bench.read(0, 1, 24, 1).read(100, 2, 13, 2).read(100, 3, 14, 2).collected();
    let expected = MetGc { own_reads: met(&bench, &[1, 2, 3]), ..MetGc::default() };
    assert_eq!(bench.device.counters().met_gc, expected);
}

#[test]
fn where_planes_share_their_blocks_nobody_is_counted() {
    let mut config = one_die();
    (config.geometry.planes_per_die, config.geometry.blocks_per_plane) = (2, 4);
    let mut bench = Bench::aged(&config, &[0]);
    bench.read(0, 1, 0, 2).collected();
    assert!(bench.find(1).expect("done").met_gc, "it met the collection");
    assert_eq!(bench.device.counters().met_gc, MetGc::default());
}

/// Collection that takes no time is met by nobody.
#[test]
fn ideal_collection_is_not_met() {
    let bench = collecting("ideal");
    assert_eq!(bench.device.counters().met_gc, MetGc::default());
}
