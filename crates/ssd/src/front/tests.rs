//! The write cache by itself: a line, slots and lists, without dies.

use harmonia_engine::Rng;
use harmonia_types::IoCause;

use super::*;

const PAGE: u32 = 4_096;

/// With lists of which so many pages may be away at a time, in programs of one page.
fn cache(size: u32, lists: &[u32]) -> WriteCache {
    WriteCache::new(size, PAGE, lists.iter().map(|&most| Feeds::whole(most, 1, 1)))
}

/// With as many lists, of which one program of so many pages may be away.
fn by_program(size: u32, lists: usize, program: u32) -> WriteCache {
    let feeds = Feeds::whole(program, program, program);
    WriteCache::new(size, PAGE, std::iter::repeat_n(feeds, lists))
}

/// A write of a page, in the list of its number modulo `lists`.
fn write(lpn: u32, token: u64, lists: u32, ready: u64) -> InLine {
    let write = Write {
        written: Written::of(0, PAGE, PAGE),
        cause: IoCause::Host,
        token,
        list: lpn % lists,
        is_background: false,
        handle: 0,
        is_awaited: false,
    };
    InLine { sub: token as u32, page: 0, lpn, ready: SimTime(ready), turn: Turn::Write(write) }
}

/// What happens at a moment: the page of each effect, with a letter for its kind.
fn happens(cache: &mut WriteCache, now: u64) -> Vec<String> {
    let mut told = Vec::new();
    while let Some(effect) = cache.next(SimTime(now)) {
        told.push(match effect {
            Effect::Admitted { page, absorbs: false, .. } => format!("in {}", page.lpn),
            Effect::Admitted { page, .. } => format!("over {}", page.lpn),
            Effect::Turn(what) => format!("turn {}", what.lpn),
            Effect::HandOver(program) => {
                let slots = take(cache, program);
                let pages: Vec<_> = slots.iter().map(|&slot| cache.slot(slot).lpn.to_string()).collect();
                format!("out {}", pages.join(" "))
            }
            Effect::Flushed(flush) => format!("flushed {}", flush.token),
        });
    }
    told
}

/// The slots of what is handed over for a program.
fn take(cache: &mut WriteCache, program: Program) -> Vec<u32> {
    let slots = (0..program.pages).map(|_| cache.take_first(program.list).expect("a page")).collect();
    cache.end_program(program.list);
    slots
}

fn ends(cache: &mut WriteCache, lpn: u32) {
    let slot = cache.slots.iter().position(|slot| slot.lpn == lpn && slot.state == State::Away);
    cache.is_on_flash(slot.expect("a page on its way") as u32, SimDuration::ZERO);
}

#[test]
fn pages_are_admitted_in_order_and_go_to_their_dies_one_by_one() {
    let mut cache = cache(3, &[1, 1]);
    for (turn, lpn) in [0, 2, 1, 4].into_iter().enumerate() {
        cache.arrive(write(lpn, turn as u64, 2, 10 * turn as u64));
    }
    assert_eq!(happens(&mut cache, 0), ["in 0", "out 0"]);
    assert_eq!([0, 1].map(|list| cache.is_away(list)), [true, false]);
    assert_eq!((cache.next_time(SimTime(9)), happens(&mut cache, 9)), (SimTime(10), vec![]));
    assert_eq!(happens(&mut cache, 20), ["in 2", "in 1", "out 1"], "page 2 waits for the die of page 0");
    assert_eq!(
        (cache.next_time(SimTime(30)), happens(&mut cache, 30)),
        (SimTime::NEVER, vec![]),
        "it is full"
    );
    assert_eq!([30, 31].map(|now| cache.waits_since(SimTime(now))), [None, Some(SimTime(30))]);
    ends(&mut cache, 0);
    assert_eq!(happens(&mut cache, 40), ["out 2", "in 4"]);
    assert_eq!((cache.held(), cache.waits_since(SimTime(41))), (3, None));
    cache.audit(2..=2);
}

#[test]
fn a_page_that_waits_is_gone_over_even_where_no_slot_is_free() {
    let mut cache = cache(2, &[1]);
    for (token, lpn) in [(0, 7), (1, 8), (2, 8), (3, 7)] {
        cache.arrive(write(lpn, token, 1, 0));
    }
    assert_eq!(happens(&mut cache, 0), ["in 7", "out 7", "in 8", "over 8"], "page 7 is on its way");
    ends(&mut cache, 7);
    assert_eq!(happens(&mut cache, 1), ["out 8", "in 7"]);
    let counters = cache.counters();
    assert_eq!((counters.admitted_pages, counters.absorbed_pages, counters.waits), (3, 1, 1));
}

#[test]
fn a_page_that_comes_back_goes_again_before_all_others() {
    let mut cache = cache(3, &[1]);
    for (token, lpn) in [(0, 1), (1, 2), (2, 3)] {
        cache.arrive(write(lpn, token, 1, 0));
    }
    assert_eq!(happens(&mut cache, 0), ["in 1", "out 1", "in 2", "in 3"]);
    cache.take_back(0);
    cache.audit(0..=0);
    assert_eq!(happens(&mut cache, 1), ["out 1"]);
}

/// Page 1 is trimmed while it is on its way, and page 2 before that.
#[test]
fn a_page_that_comes_back_is_found_and_what_was_dropped_is_not() {
    let mut cache = cache(3, &[1]);
    (1..3).for_each(|lpn| cache.arrive(write(lpn, lpn.into(), 1, 0)));
    assert_eq!(happens(&mut cache, 0), ["in 1", "out 1", "in 2"]);
    assert_eq!([1, 2].map(|lpn| cache.trim(lpn)), [Trimmed::Elsewhere, Trimmed::Dropped(1)]);
    [1, 0].into_iter().for_each(|slot| cache.take_back(slot));
    assert_eq!([1, 2].map(|lpn| cache.holds(lpn)), [Some(0), None]);
    cache.audit(0..=0);
}

#[test]
fn a_flush_is_done_with_the_last_write_before_it() {
    let mut cache = cache(2, &[1]);
    for token in 0..3 {
        cache.arrive(write(token as u32, token, 1, 0));
    }
    assert!(cache.flush(99, SimTime(0), SimTime(0)), "all three are in line");
    cache.arrive(write(3, 3, 1, 0));
    assert_eq!(happens(&mut cache, 0), ["in 0", "out 0", "in 1"]);
    ends(&mut cache, 0);
    assert_eq!(happens(&mut cache, 1), ["out 1", "in 2"]);
    ends(&mut cache, 1);
    assert_eq!(happens(&mut cache, 2), ["out 2", "in 3"]);
    ends(&mut cache, 2);
    assert_eq!(happens(&mut cache, 3), ["flushed 99", "out 3"]);
    ends(&mut cache, 3);
    assert!(!cache.flush(100, SimTime(4), SimTime(4)), "nothing is left");
}

#[test]
fn a_list_gives_nothing_until_it_has_a_program_and_then_all_of_it() {
    let mut cache = by_program(8, 1, 4);
    (0..3).for_each(|lpn| cache.arrive(write(lpn, lpn.into(), 1, 0)));
    assert_eq!(happens(&mut cache, 0), ["in 0", "in 1", "in 2"]);
    assert_eq!((cache.not_handed_over(), cache.works_for_host()), (0, false), "they rest");
    (3..9).for_each(|lpn| cache.arrive(write(lpn, lpn.into(), 1, 0)));
    assert_eq!(happens(&mut cache, 1), ["in 3", "out 0 1 2 3", "in 4", "in 5", "in 6", "in 7"]);
    assert_eq!((cache.not_handed_over(), cache.works_for_host()), (4 + 1, true), "a program, and the line");
    (0..3).for_each(|lpn| ends(&mut cache, lpn));
    assert_eq!(happens(&mut cache, 2), ["in 8"], "the program has not ended as a whole");
    ends(&mut cache, 3);
    assert_eq!(happens(&mut cache, 3), ["out 4 5 6 7"]);
    assert_eq!((cache.not_handed_over(), cache.works_for_host()), (0, true));
    cache.audit(4..=4);
}

/// Planes of four pages, two in a program. Pages that a program lacks count as away, so nothing is given beside it; then the other plane
/// is filled first.
#[test]
fn a_place_has_one_program_at_a_time_and_its_other_plane_is_next() {
    let feeds = Feeds { part: 4, ..Feeds::whole(8, 8, 8) };
    let mut cache = WriteCache::new(16, PAGE, std::iter::once(feeds));
    (0..5).for_each(|lpn| cache.arrive(write(lpn, lpn.into(), 1, 0)));
    assert_eq!(happens(&mut cache, 0), ["in 0", "in 1", "in 2", "in 3", "in 4"]);
    assert_eq!((cache.lists_with_parts().collect::<Vec<_>>(), cache.not_handed_over()), (vec![(0, 5)], 4));
    let part = cache.begin_part(0, 4, 8);
    let slots = (0..part.pages).map(|_| cache.take_first(0).expect("a page")).collect::<Vec<_>>();
    cache.lacks(slots[0], 4);
    cache.end_program(0);
    cache.audit(4..=4);
    assert_eq!((cache.lists_with_parts().count(), cache.not_handed_over()), (0, 0), "one page rests");
    (5..14).for_each(|lpn| cache.arrive(write(lpn, lpn.into(), 1, 1)));
    assert_eq!(happens(&mut cache, 1).last().expect("they are admitted"), "in 13");
    (0..4).for_each(|lpn| ends(&mut cache, lpn));
    assert_eq!(happens(&mut cache, 2), ["out 4 5 6 7"]);
    (4..8).for_each(|lpn| ends(&mut cache, lpn));
    assert_eq!(happens(&mut cache, 3), Vec::<String>::new(), "six of eight");
    cache.audit(0..=0);
}

/// Each of the slots that one program frees is waited for by the write that gets it. A paced first one then waits for its pace.
#[test]
fn a_line_waits_for_slots_until_it_goes_on_or_its_first_write_is_paced() {
    for is_paced in [false, true] {
        let mut cache = cache(1, &[1]);
        cache.pacer = is_paced.then(|| Pacer::new(1, SimDuration(100), 1));
        [(1, 10), (2, 10), (3, 15)]
            .into_iter()
            .for_each(|(lpn, at)| cache.arrive(write(lpn, lpn.into(), 1, at)));
        assert_eq!(happens(&mut cache, 10), ["in 1", "out 1"]);
        let since = |cache: &WriteCache, now: u64| {
            [cache.waits_since(SimTime(now)), cache.next_waits_since(0, SimTime(now))]
        };
        assert_eq!(since(&cache, 20), [Some(SimTime(10)); 2]);
        ends(&mut cache, 1);
        let waits = [10, 15].map(|since| Some(SimTime(since)).filter(|_| !is_paced));
        assert_eq!(since(&cache, 20), waits);
        assert_eq!(cache.next_waits_since(0, SimTime(15)), None, "the next slot is nobody's yet");
    }
}

/// A page keeps the gate closed for 1,000. The owner asks whether it may hand over parts of a program.
#[test]
fn a_gate_is_open_until_something_passes_and_again_when_its_time_is_over() {
    let mut cache = cache(2, &[2]);
    assert!(cache.gate_is_open(SimTime::ZERO), "there is none");
    cache.gate = Some(Gate::new(1_000_000, 0));
    assert!(cache.gate_is_open(SimTime::ZERO));
    if let Some(gate) = &mut cache.gate {
        gate.pass(1, SimTime(10));
    }
    assert_eq!([10, 1_009, 1_010].map(|now| cache.gate_is_open(SimTime(now))), [false, false, true]);
}

/// Two pages of the background for a place that takes one at a time.
#[test]
fn what_the_background_writes_is_no_work_for_the_host() {
    for is_background in [true, false] {
        let mut cache = cache(3, &[1]);
        for lpn in 0..2 {
            let mut page = write(lpn, lpn.into(), 1, 0);
            if let Turn::Write(write) = &mut page.turn {
                write.is_background = is_background;
            }
            cache.arrive(page);
        }
        assert_eq!(happens(&mut cache, 0), ["in 0", "out 0", "in 1"]);
        assert_eq!((cache.not_handed_over(), cache.works_for_host()), (1, !is_background));
    }
}

#[test]
fn what_ageing_began_is_filled_first() {
    let feeds = Feeds::whole(4, 4, 1);
    let mut cache = WriteCache::new(8, PAGE, std::iter::once(feeds));
    (0..6).for_each(|lpn| cache.arrive(write(lpn, lpn.into(), 1, 0)));
    assert_eq!(happens(&mut cache, 0), ["in 0", "out 0", "in 1", "in 2", "in 3", "in 4", "in 5"]);
    ends(&mut cache, 0);
    assert_eq!(happens(&mut cache, 1), ["out 1 2 3 4"]);
}

#[test]
fn a_flush_takes_what_there_is_of_a_program() {
    let mut cache = by_program(8, 2, 4);
    for lpn in [0, 2, 4, 1] {
        cache.arrive(write(lpn, lpn.into(), 2, 0));
    }
    assert_eq!(happens(&mut cache, 0).len(), 4);
    assert!(cache.flush(99, SimTime(0), SimTime(0)));
    assert_eq!((cache.not_handed_over(), cache.works_for_host()), (4, true));
    assert_eq!(happens(&mut cache, 1), ["out 0 2 4", "out 1"]);
    // What comes behind the flush rests.
    cache.arrive(write(6, 6, 2, 1));
    assert_eq!(happens(&mut cache, 1), ["in 6"]);
    [0, 2, 4, 1].into_iter().for_each(|lpn| ends(&mut cache, lpn));
    assert_eq!(happens(&mut cache, 2), ["flushed 99"]);
    assert_eq!((cache.held(), cache.not_handed_over()), (1, 0));
    cache.audit(0..=0);
}

/// Two lists with less than a program each, no free slot: one of them gives what it has. The line goes on when its data is there.
#[test]
fn a_full_cache_gives_part_of_a_program_rather_than_nothing() {
    let mut cache = by_program(4, 2, 4);
    for lpn in [0, 1, 3, 2, 5] {
        cache.arrive(write(lpn, lpn.into(), 2, if lpn == 5 { 10 } else { 0 }));
    }
    assert_eq!(happens(&mut cache, 0), ["in 0", "in 1", "in 3", "in 2"]);
    assert_eq!((cache.next_time(SimTime(9)), happens(&mut cache, 9)), (SimTime(10), vec![]));
    assert_eq!(happens(&mut cache, 10), ["out 0 2"]);
    assert_eq!(
        (cache.next_time(SimTime(11)), happens(&mut cache, 11)),
        (SimTime::NEVER, vec![]),
        "one at a time"
    );
    ends(&mut cache, 0);
    assert_eq!(happens(&mut cache, 12), ["in 5"]);
}

#[test]
fn a_page_that_goes_out_of_turn_takes_along_what_waits() {
    let mut cache = by_program(8, 1, 4);
    (0..3).for_each(|lpn| cache.arrive(write(lpn, lpn.into(), 1, 0)));
    assert_eq!(happens(&mut cache, 0).len(), 3);
    let with = cache.hand_over_now(1).expect("it waits");
    assert_eq!(take(&mut cache, with), [0, 2]);
    assert_eq!(cache.hand_over_now(1), None, "it is on its way");
    cache.audit(3..=3);
}

/// Random arrivals, ends, trims and losses of power, with an audit after each.
#[test]
fn every_page_stays_where_it_should_be_whatever_happens() {
    for seed in 0..100 {
        let mut rng = Rng::stream(seed, "front");
        let program = 1 + (seed / 50 * rng.below(4)) as u32;
        let lists = [1, 2, 1].map(|most| Feeds::whole(most * program, program, 1));
        let size = program + rng.below(6) as u32;
        let mut cache = WriteCache::new(size, PAGE, lists.into_iter());
        let mut away: Vec<u32> = Vec::new();
        for now in 0..400 {
            let lpn = rng.below(9) as u32;
            match rng.below(10) {
                0..=4 => cache.arrive(write(lpn, now, 3, now + rng.below(3))),
                5 if !cache.is_in_line(lpn) => {
                    if let Trimmed::Dropped(slot) = cache.trim(lpn) {
                        away.push(slot);
                    }
                }
                6 => _ = cache.flush(now, SimTime(now), SimTime(now)),
                7 if rng.chance(0.1) => cache.lose_power(SimTime(now), |_| ()),
                8 if !away.is_empty() && rng.chance(0.1) => {
                    // What is on its way for a page comes back last first; so only the single one does.
                    let of_page = |lpn| away.iter().filter(|&&slot| cache.slot(slot).lpn == lpn).count();
                    if of_page(cache.slot(away[0]).lpn) == 1 {
                        cache.take_back(away.swap_remove(0));
                    }
                }
                8 if rng.chance(0.3) => {
                    let held = cache.holds(lpn);
                    if let Some((slot, with)) = held.and_then(|slot| Some((slot, cache.hand_over_now(slot)?)))
                    {
                        away.push(slot);
                        away.append(&mut take(&mut cache, with));
                    }
                }
                _ if !away.is_empty() => {
                    let slot = away.swap_remove(rng.below(away.len() as u64) as usize);
                    cache.is_on_flash(slot, SimDuration::ZERO);
                }
                _ => {}
            }
            while let Some(effect) = cache.next(SimTime(now)) {
                if let Effect::HandOver(program) = effect {
                    away.append(&mut take(&mut cache, program));
                }
            }
            cache.audit(away.len()..=away.len());
        }
        // Whatever is left comes to an end: nothing is in line, and what has not been programmed rests.
        let end = SimTime(1_000);
        loop {
            while let Some(effect) = cache.next(end) {
                if let Effect::HandOver(program) = effect {
                    away.append(&mut take(&mut cache, program));
                }
            }
            let Some(slot) = away.pop() else { break };
            cache.is_on_flash(slot, SimDuration::ZERO);
        }
        assert_eq!(cache.not_handed_over(), 0, "seed {seed}");
        assert!(!cache.works_for_host() && cache.held() < 3 * program, "seed {seed}");
    }
}
