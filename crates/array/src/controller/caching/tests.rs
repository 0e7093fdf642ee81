use harmonia_types::{DeviceId, GcWait};

use super::*;

/// Four entries. Once somebody has waited, the first one goes on when two are free.
#[test]
fn who_comes_is_let_go_in_order_once_a_quarter_is_free() {
    let (unit, config) = (4096, StripeCacheConfig { entries: 4, delays: true });
    let layout = Layout::new(crate::layout::Level::Raid4, 3, unit, unit, 64 * unit);
    let mut cache = Caching::of(config, &layout).expect("it has entries");
    let rows = |first, count| Rows { first, count };
    for (who, rows) in (1..).zip([rows(0, 1), rows(1, 1), rows(2, 2)]) {
        assert_eq!(cache.enter(who, rows), Gate::Goes);
        cache.table.take(rows, |_| {});
    }
    assert_eq!([cache.enter(4, rows(4, 1)), cache.enter(5, rows(5, 2))], [Gate::Waits; 2]);
    cache.table.release(rows(0, 1));
    assert_eq!(cache.let_go(), None, "three quarters are in use");
    cache.table.release(rows(1, 1));
    assert_eq!(cache.let_go(), Some(4));
    cache.table.take(rows(4, 1), |_| {});
    assert_eq!(
        (cache.let_go(), cache.enter(6, rows(9, 1))),
        (None, Gate::Waits),
        "one is free, and 5 needs two"
    );
    cache.table.release(rows(2, 2));
    assert_eq!(cache.let_go(), Some(5));
    cache.table.take(rows(5, 2), |_| {});
    assert_eq!((cache.let_go(), cache.counters().entry_waits), (Some(6), 3));
}

#[test]
fn who_is_put_off_goes_when_the_last_that_reads_is_done() {
    let layout = Layout::new(crate::layout::Level::Raid4, 3, 4096, 4096, 64 * 4096);
    let config = StripeCacheConfig { entries: 4, delays: true };
    let mut cache = Caching::of(config, &layout).expect("it has entries");
    (cache.reading, cache.delayed) = (2, vec![5, 7]);
    assert_eq!([cache.reads_no_more(), cache.reads_no_more()], [vec![], vec![5, 7]]);
}

/// The longest wait is told; of equal ones the later, whose chain goes on.
#[test]
fn of_two_chains_the_longer_wait_for_collection_is_told() {
    let chain = |wait: Option<(u16, u64)>| {
        let mut chain = Chain::default().at(0);
        chain.gc_wait = wait.map(|(member, ns)| GcWait { member: DeviceId(member), ns });
        chain
    };
    for (first, then, told) in [
        (None, None, None),
        (Some((1, 10)), None, Some((1, 10))),
        (None, Some((2, 10)), Some((2, 10))),
        (Some((1, 11)), Some((2, 10)), Some((1, 11))),
        (Some((1, 10)), Some((2, 11)), Some((2, 11))),
        (Some((1, 10)), Some((2, 10)), Some((2, 10))),
    ] {
        let whole = chain(first).followed_by(&chain(then));
        assert_eq!(whole.gc_wait, chain(told).gc_wait, "{first:?}, then {then:?}");
    }
}
