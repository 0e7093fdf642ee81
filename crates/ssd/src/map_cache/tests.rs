//! The cache of the map by itself: whoever asks is a number.

use harmonia_engine::Rng;
use harmonia_flash::presets;

use super::*;

/// A cache of so many frames for a map of 16 pages at least, whose programs carry so many of them.
fn cache(frames: u64, program: u32) -> MapCache<u32> {
    let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
    let shape = config.resolve().expect("it works");
    config.ftl.mapping_entry = shape.page_size / 8;
    config.ftl.mapping_cache = Some(frames * u64::from(shape.page_size));
    let cache = MapCache::new(&config, &shape).expect("it has one");
    assert!(cache.pages.len() >= 16 && cache.size == frames as usize);
    MapCache { program, ..cache }
}

/// What is done, one thing after the other, each as soon as it has begun.
fn done(cache: &mut MapCache<u32>) -> Vec<Next<u32>> {
    let mut done = Vec::new();
    while let Some(next) = cache.next(|_| true) {
        match next {
            Next::Read { frame, .. } => cache.is_there(frame),
            Next::Write { frame, .. } => cache.is_written(frame),
            Next::Blank { .. } | Next::GoesOn(_) => {}
        }
        done.push(next);
    }
    cache.audit();
    done
}

fn pages(done: &[Next<u32>]) -> (Vec<u32>, Vec<u32>) {
    let reads = done.iter().filter_map(|next| match next {
        Next::Read { page, .. } => Some(*page),
        _ => None,
    });
    let writes = done.iter().filter_map(|next| match next {
        Next::Write { page, .. } => Some(*page),
        _ => None,
    });
    (reads.collect(), writes.collect())
}

fn asks(cache: &mut MapCache<u32>, page: u32, changes: bool, who: u32) -> bool {
    let is_there = cache.ask(page, changes);
    if !is_there {
        cache.park(page, changes, who);
    }
    is_there
}

/// A list in the order of use, and which of its pages flash has not.
#[test]
fn it_is_a_list_in_the_order_of_use() {
    let mut rng = Rng::stream(3, "map cache");
    for frames in 1..6_usize {
        let (mut cache, mut list) = (cache(frames as u64, 1), Vec::<(u32, bool)>::new());
        let (mut hits, mut written) = (0, 0);
        for who in 0..5_000 {
            let (page, changes) = (rng.below(8) as u32, rng.chance(0.3));
            let at = list.iter().position(|&(held, _)| held == page);
            assert_eq!(asks(&mut cache, page, changes, who), at.is_some(), "{frames} frames, {who}");
            let (reads, writes) = pages(&done(&mut cache));
            let dirty = match at {
                Some(at) => list.remove(at).1,
                None => {
                    let leaves = (list.len() == frames).then(|| list.remove(0));
                    let expected: Vec<u32> = leaves.into_iter().filter(|of| of.1).map(|of| of.0).collect();
                    assert_eq!((reads, writes), (vec![page], expected.clone()));
                    written += expected.len() as u64;
                    false
                }
            };
            hits += u64::from(at.is_some());
            list.push((page, dirty | changes));
        }
        let MappingCacheCounters { hits: counted, misses, read_pages, written_pages, .. } = cache.counters();
        assert_eq!((counted, misses, read_pages, written_pages), (hits, 5_000 - hits, 5_000 - hits, written));
    }
}

#[test]
fn who_waits_goes_on_in_order_when_the_page_is_there() {
    let mut cache = cache(1, 1);
    for who in 0..3 {
        assert!(!asks(&mut cache, 5, false, who));
    }
    assert!(!asks(&mut cache, 6, false, 3));
    let Some(Next::Read { page: 5, frame }) = cache.next(|_| true) else { panic!("page 5 is read") };
    assert_eq!(cache.next(|_| true), None, "the only frame is in use");
    cache.is_there(frame);
    assert!(!asks(&mut cache, 5, true, 4), "nobody overtakes who is parked");
    let next: Vec<_> = (0..4).map(|_| cache.next(|_| true)).collect();
    assert_eq!(next, [0, 1, 2, 4].map(|who| Some(Next::GoesOn(who))));
    // Page 6 takes its place. The last one has changed page 5.
    assert_eq!(cache.next(|_| true), Some(Next::Write { page: 5, frame }));
    assert_eq!(cache.next(|_| true), None);
    cache.is_written(frame);
    assert_eq!(cache.next(|_| true), Some(Next::Read { page: 6, frame }));
    cache.audit();
}

/// Units have map pages in turn, and a program carries those of one.
#[test]
fn changed_pages_of_the_same_unit_go_along() {
    let mut cache = cache(6, 3);
    let units = cache.units.by() as u32;
    let of_one = [0, units, 2 * units, 3 * units].map(|page| page % cache.pages.len() as u32);
    assert!(units == 1 || of_one.iter().all(|&page| cache.place_of(page).0 == 0));
    for page in of_one {
        asks(&mut cache, page, true, 0);
        done(&mut cache);
    }
    let clean: Vec<u32> = (0..16).filter(|page| !of_one.contains(page)).take(3).collect();
    asks(&mut cache, clean[0], false, 0);
    asks(&mut cache, clean[1], false, 0);
    assert_eq!(pages(&done(&mut cache)).1, Vec::<u32>::new());
    asks(&mut cache, clean[2], false, 0);
    let (reads, writes) = pages(&done(&mut cache));
    assert_eq!((reads, writes), (vec![clean[2]], of_one[..3].to_vec()));
    assert!(cache.ask(of_one[1], false) && !cache.ask(of_one[0], false), "only the first one leaves");
}

#[test]
fn a_page_that_is_not_on_flash_is_there_at_once() {
    let mut cache = cache(1, 1);
    asks(&mut cache, 3, false, 9);
    let places = std::cell::Cell::new(None);
    let blank = |place| {
        places.set(Some(place));
        false
    };
    assert!(matches!(cache.next(blank), Some(Next::Blank { .. })));
    assert_eq!(cache.next(blank), Some(Next::GoesOn(9)));
    assert_eq!((places.get(), cache.counters().read_pages), (Some(cache.place_of(3)), 0));
    assert!(cache.ask(3, false));
}

#[test]
fn only_changed_pages_of_the_same_unit_go_along() {
    let mut cache = MapCache { units: Divisor::new(2), ..cache(5, 4) };
    for (page, changes) in [(0, true), (1, true), (2, false), (4, true)] {
        asks(&mut cache, page, changes, 0);
        done(&mut cache);
    }
    cache.write_with_others(cache.oldest);
    assert_eq!(pages(&done(&mut cache)).1, [0, 4], "page 1 is of another unit, and page 2 clean");
}

#[test]
fn a_page_stays_changed_for_whoever_waits_behind_others() {
    let mut cache = cache(1, 1);
    asks(&mut cache, 0, true, 0);
    let Some(Next::Read { page: 0, frame }) = cache.next(|_| true) else { panic!("page 0 is read") };
    cache.is_there(frame);
    assert!(!asks(&mut cache, 0, false, 1), "nobody overtakes who is parked");
    done(&mut cache);
    asks(&mut cache, 1, false, 0);
    assert_eq!(pages(&done(&mut cache)), (vec![1], vec![0]));
}

/// Pages that are there, on the way, written and behind are forgotten, with who waits and what the host has allowed.
#[test]
fn nothing_is_left_when_power_is_lost() {
    let mut cache = cache(3, 1);
    moves(&mut cache, 8..20);
    for page in [0, 1] {
        asks(&mut cache, page, true, 0);
        done(&mut cache);
    }
    moves(&mut cache, 8..20);
    for page in [3, 4] {
        asks(&mut cache, page, true, 1);
    }
    let begun: Vec<_> = std::iter::from_fn(|| cache.next(|_| true)).collect();
    let Some(&Next::Write { frame, .. }) = begun.first() else { panic!("a page leaves: {begun:?}") };
    cache.is_written(frame);
    while cache.next(|_| true).is_some() {}
    assert!(
        cache.leaving > 0 && cache.behind > 0 && cache.moved > 0 && cache.for_gc > 0 && cache.allowed > 0
    );
    cache.forget_all();
    let MapCache { leaving, behind, moved, for_gc, allowed, .. } = cache;
    assert_eq!((leaving, behind, moved, for_gc, allowed, cache.waiting()), (0, 0, 0, 0, 0, 0));
    assert_eq!(done(&mut cache), []);
    // It goes on as a new one.
    for page in [0, 1, 2] {
        asks(&mut cache, page, false, 7);
        assert_eq!(done(&mut cache).last(), Some(&Next::GoesOn(7)));
    }
    assert_eq!((cache.ask(0, false), cache.ask(8, false)), (true, false));
}

/// It leaves when it is written, though collection changes it meanwhile. If it is used first, it stays, and is written again.
#[test]
fn collection_does_not_keep_a_page_that_leaves() {
    for is_used in [false, true] {
        let mut cache = cache(1, 1);
        asks(&mut cache, 0, true, 0);
        done(&mut cache);
        asks(&mut cache, 1, false, 1);
        assert_eq!(cache.next(|_| true), Some(Next::Write { page: 0, frame: 0 }));
        moves(&mut cache, [0]);
        assert_eq!((cache.behind, cache.counters().pages_for_gc), (0, 0), "it is still there");
        if is_used {
            assert!(cache.ask(0, false));
        }
        cache.is_written(0);
        let next = if is_used { Next::Write { page: 0, frame: 0 } } else { Next::Read { page: 1, frame: 0 } };
        assert_eq!(cache.next(|_| true), Some(next));
        let counted = if is_used { (0, 0) } else { (1, 1) };
        assert_eq!((cache.behind as u64, cache.counters().pages_for_gc), counted);
        cache.audit();
    }
}

/// A write has all that has changed before it.
#[test]
fn a_page_that_is_written_again_is_not_behind() {
    let mut cache = cache(1, 1);
    asks(&mut cache, 0, true, 0);
    done(&mut cache);
    asks(&mut cache, 1, false, 1);
    assert_eq!(cache.next(|_| true), Some(Next::Write { page: 0, frame: 0 }));
    moves(&mut cache, [0]);
    cache.is_written(0);
    moves(&mut cache, [0]);
    assert_eq!(pages(&done(&mut cache)), (vec![1], vec![0]));
    assert_eq!(cache.behind, 0);
}

/// One that goes along is dirty again, and stays.
#[test]
fn collection_changes_a_page_that_goes_along() {
    let mut cache = cache(2, 2);
    let units = cache.units.by() as u32;
    for page in [0, units] {
        asks(&mut cache, page, true, 0);
        done(&mut cache);
    }
    asks(&mut cache, 1 + units, false, 1);
    let writes: Vec<_> = std::iter::from_fn(|| cache.next(|_| true)).collect();
    assert_eq!(pages(&writes).1, [0, units]);
    moves(&mut cache, [units]);
    cache.is_written(0);
    cache.is_written(1);
    done(&mut cache);
    asks(&mut cache, 0, false, 0);
    assert_eq!(pages(&done(&mut cache)), (vec![0], vec![units]), "written again when it leaves");
}

/// Frames are looked at from the oldest on, the one that leaves among them.
#[test]
fn few_frames_are_looked_at_to_fill_a_program() {
    for (looks_at, written) in [(1, 1), (2, 1), (3, 2), (4, 3)] {
        let mut cache = MapCache { looks_at, ..cache(5, 4) };
        let of_one = [0, 1, 2].map(|index| index * cache.units.by() as u32);
        let clean = (0..16).find(|page| !of_one.contains(page)).expect("another page");
        for (page, changes) in [(of_one[0], true), (clean, false), (of_one[1], true), (of_one[2], true)] {
            asks(&mut cache, page, changes, 0);
            done(&mut cache);
        }
        cache.write_with_others(cache.oldest);
        assert_eq!(pages(&done(&mut cache)).1, of_one[..written], "{looks_at} frames");
    }
}

/// Units have pages of the map in turn, behind those of the host.
#[test]
fn the_number_of_a_map_page_names_its_place() {
    let cache = MapCache { units: Divisor::new(3), first: 100, ..cache(1, 1) };
    assert_eq!(
        [0, 1, 2, 3, 10].map(|page| cache.place_of(page)),
        [(0, 100), (1, 100), (2, 100), (0, 101), (1, 103)]
    );
    assert_eq!([0, 7, 8, 15, 16].map(|lpn| cache.page_of(lpn)), [0, 0, 1, 1, 2]);
}

#[test]
fn one_page_leaves_for_each_that_waits() {
    let mut cache = cache(2, 1);
    for page in [0, 1] {
        asks(&mut cache, page, true, 0);
        done(&mut cache);
    }
    asks(&mut cache, 2, false, 0);
    assert_eq!(cache.next(|_| true), Some(Next::Write { page: 0, frame: 0 }));
    assert_eq!(cache.next(|_| true), None, "page 1 stays");
    asks(&mut cache, 3, false, 1);
    assert_eq!(cache.next(|_| true), Some(Next::Write { page: 1, frame: 1 }), "until another one waits");
    cache.audit();
    cache.is_written(1);
    assert_eq!(cache.next(|_| true), Some(Next::Read { page: 2, frame: 1 }), "where room is first");
}

/// The same for pages that come for collection: as many as may be read more, and no more than the host has allowed.
#[test]
fn pages_leave_for_those_that_are_behind_as_many_as_may_come() {
    let wanted =
        |for_gc, allowed, behind| MapCache { for_gc, allowed, behind, ..cache(2, 1) }.frames_wanted();
    assert_eq!([wanted(0, 3, 5), wanted(0, 8, 5), wanted(6, 8, 5), wanted(8, 8, 5)], [3, 5, 2, 0]);
}

/// What collection changes is dirty, whether its page is there or on the way; such a page is not behind.
#[test]
fn collection_changes_what_is_there_and_what_comes() {
    let mut cache = cache(2, 1);
    asks(&mut cache, 0, false, 0);
    done(&mut cache);
    moves(&mut cache, [0]);
    asks(&mut cache, 1, false, 0);
    let Some(Next::Read { page: 1, frame }) = cache.next(|_| true) else { panic!("page 1 is read") };
    moves(&mut cache, [1]);
    cache.is_there(frame);
    assert_eq!((cache.behind, cache.counters().pages_for_gc), (0, 0));
    done(&mut cache);
    for (page, leaves) in [(2, 0), (3, 1)] {
        asks(&mut cache, page, false, 0);
        assert_eq!(pages(&done(&mut cache)), (vec![page], vec![leaves]));
    }
}

/// Each after others, and for each entry that the host changes one: without that nothing is read.
#[test]
fn collection_asks_for_each_page_once_and_behind_others() {
    let mut cache = cache(16, 1);
    for _ in 0..2 {
        // Entries 8 p to 8 p + 7 are in page p.
        (0..12 * 8).filter(|lpn| lpn % 8 < 2).for_each(|lpn| cache.moves(lpn));
    }
    assert_eq!((cache.counters().pages_for_gc, cache.counters().most_behind), (12, 12));
    asks(&mut cache, 13, false, 0);
    assert_eq!(pages(&done(&mut cache)).0, [13], "a read of the host lets none come");
    asks(&mut cache, 13, true, 0);
    asks(&mut cache, 14, true, 0);
    assert_eq!(pages(&done(&mut cache)).0, [14, 0, 1]);
    (0..20).for_each(|_| _ = asks(&mut cache, 13, true, 0));
    let mut begun = Vec::new();
    while let Some(next) = cache.next(|_| true) {
        begun.push(next);
    }
    assert_eq!(pages(&begun), ((2..2 + AT_ONCE).collect(), vec![]), "eight at a time");
    let Next::Read { frame, .. } = begun[0] else { panic!("page 2") };
    cache.is_there(frame);
    assert_eq!(cache.next(|_| true), None, "and no more than that before the host writes again");
    assert!(cache.frames[frame as usize].dirty, "its entries have changed");
}

/// Entries 8 p to 8 p + 7 are in page p.
fn moves(cache: &mut MapCache<u32>, pages: impl IntoIterator<Item = u32>) {
    pages.into_iter().for_each(|page| cache.moves(8 * page));
}

/// Memory has eight entries beside two frames. Of twelve pages with one each the first four come before what the host wants.
#[test]
fn what_is_behind_the_limit_comes_before_the_host() {
    let mut cache = cache(2, 1);
    moves(&mut cache, 0..12);
    asks(&mut cache, 13, false, 0);
    assert_eq!(pages(&done(&mut cache)).0, [13], "a read of the host lets none come");
    asks(&mut cache, 14, true, 0);
    assert_eq!(pages(&done(&mut cache)).0, [0, 1, 2, 3, 14, 4, 5, 6, 7]);
    assert_eq!((cache.behind, cache.allowed), (4, 0));
    // Eight are not too many: one for each change, after the host.
    moves(&mut cache, 0..4);
    asks(&mut cache, 15, true, 0);
    assert_eq!((pages(&done(&mut cache)).0, cache.behind), (vec![15, 8], 7));
}

/// As many entries as take half of the frames' room: each has two numbers.
#[test]
fn many_pages_beyond_the_limit_are_read_eight_at_a_time() {
    let mut cache = cache(10, 1);
    moves(&mut cache, (0..20).chain(0..20));
    assert_eq!((cache.limit, cache.moved, cache.behind), (40, 40, 20));
    cache.ask(31, true);
    assert_eq!(cache.allowed, 1, "not too many");
    moves(&mut cache, [0]);
    let allowed = [(); 3].map(|()| {
        cache.ask(31, true);
        cache.allowed
    });
    assert_eq!(allowed, [9, 17, 20], "all that are behind");
    moves(&mut cache, (0..20).chain(0..20));
    cache.park(31, true, 0);
    let begun: Vec<_> = std::iter::from_fn(|| cache.next(|_| true)).collect();
    assert_eq!(pages(&begun).0, [0, 1, 2, 3, 4, 5, 6, 7, 31], "others go on");
    cache.audit();
}

/// The host changes entries, and collection those of seven pages of the map for each. When the limit has been passed, the next change of
/// the host lets more come than collection adds.
#[test]
fn collection_that_changes_seven_pages_for_each_of_the_host_is_not_left_behind() {
    for frames in [1, 4, 12] {
        let (mut cache, mut rng) = (cache(frames, 1), Rng::stream(frames, "behind"));
        let (map, mut most, mut behind) = (cache.pages.len() as u64, 0, 0);
        for who in 0..3_000 {
            asks(&mut cache, rng.below(map) as u32, true, who);
            let changed: Vec<u32> = (0..7).map(|_| rng.below(map) as u32).collect();
            moves(&mut cache, changed);
            (most, behind) = (most.max(cache.moved), behind.max(cache.behind));
            done(&mut cache);
        }
        let limit = cache.limit;
        assert!(most <= limit + 2 * 7 && most > limit, "{most} entries and not {limit}, {frames} frames");
        assert_eq!(cache.counters().most_behind, behind as u64);
    }
}

/// It comes for the host, and collection need not read it.
#[test]
fn who_comes_for_the_host_is_no_more_behind() {
    let mut cache = cache(1, 1);
    moves(&mut cache, [3, 4]);
    asks(&mut cache, 3, false, 0);
    assert_eq!((cache.behind, pages(&done(&mut cache)).0), (1, vec![3]));
    // It has changed, so it is written when it leaves. Page 4 comes for the change of page 5.
    asks(&mut cache, 5, true, 0);
    assert_eq!((pages(&done(&mut cache)), cache.behind), ((vec![5, 4], vec![3, 5]), 0));
    moves(&mut cache, [3]);
    cache.begin_window();
    assert_eq!((cache.counters().pages_for_gc, cache.counters().most_behind), (3, 1));
}

#[test]
fn a_cache_that_is_larger_than_the_map_is_as_large() {
    let cache = cache(16, 1);
    let map = cache.pages.len();
    let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
    config.ftl.mapping_cache = Some(u64::MAX);
    let shape = config.resolve().expect("it works");
    config.ftl.mapping_entry = shape.page_size / 8;
    assert_eq!(MapCache::<u32>::new(&config, &shape).expect("one").size, map);
    assert_eq!(config.map_pages(17), 3);
}
