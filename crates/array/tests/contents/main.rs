//! Does an array hold what was written to it? Contents in every flash page, parity computed, every read compared.
//!
//! Random small arrays of every level and placement under every coordination policy and schedule; random loads whose
//! requests collide, down to single sectors. Three things are checked all the way and once more at the end:
//!
//! * every sector that a read returns is one that it may return (`truth`);
//! * every member, and for RAID-6 every pair, can be rebuilt from the others, in every row that nobody is changing;
//! * all copies of a mirrored page are the same;
//! * whatever flash and NVRAM hold at a random moment, as if the power failed, are writes that were not superseded.
//!
//! Parity is computed from what a transaction has read, so a plan that does not read what it needs is found out, and
//! without row locks the same runs go wrong. The long form is `make torture`.
//!
//! Reads that do without members are rebuilt here from what was read in their place; parked writes are laid over flash.
//!
//! The same with members that fail, are slow, are replaced by spares full of garbage and rebuilt under load, with pages that
//! cannot be read and scrubs: while no more is missing than redundancy allows, nothing changes for the host. Beyond that
//! exactly what lay on missing places may be wrong or unread (`damage`), and requests complete all the same.
//!
//! Power is lost at random moments, and members fail then: what was acknowledged stands, and a write hole takes what flash said
//! at that moment and nothing else (`power`). Where caches have no stored power, what was neither flushed nor written with FUA may be older (`volatile`).
//!
//! What `gaftl` displaces and moves has free stripes, which no array here has: rows are compared in `schemes/gaftl/planner/tests`, as
//! symbols, on whole arrays and on plans alone, with members that fail and pages that cannot be read. Stripes that float are compared
//! in `schemes/gaftl/floating/tests` in the same way, on RAID-5 and RAID-6.
//!
//! Not verified: times; parity of rows while they are written; that two reads agree on the order of writes that overlapped;
//! what a hedge finds out after the race is over; that a row whose parity was lost is sound again once it is written as a
//! whole.

mod torture;

use std::collections::BTreeSet;

use harmonia_array::coordination;
use harmonia_ssd::gc::schedule;
use harmonia_types::registry::names;
use torture::content::{Content, Real, Tag};
use torture::history::{Counts, Failure, Locks, Options, run};
use torture::log::{Logged, run_logged, run_marked};
use torture::scenario::{CACHED, DECLUSTERED, levels};
use torture::volatile::{Hole, run_parked, run_volatile};
use torture::wear::run_worn;

/// Requests of a history: a few times what its devices hold.
const REQUESTS: u64 = 150;

/// Runs histories from a seed on until members have read, programmed and moved so many pages.
fn histories<C: Content>(first_seed: u64, operations: u64) -> Counts {
    let (mut sum, mut seed) = (Counts::default(), first_seed);
    while sum.operations() < operations {
        let options = Options { seed, requests: REQUESTS, locks: Locks::Always, faults: false, power: false };
        sum.add(run::<C>(options).unwrap_or_else(|failure| panic!("{failure}")));
        seed += 1;
    }
    sum
}

/// A run that exercises little proves little.
fn assert_exceed(sum: &Counts, counts: &[(&str, u64, u64)]) {
    for &(what, count, least) in counts {
        assert!(count > least, "only {count} {what}, not more than {least}: {sum:#?}");
    }
}

#[test]
fn a_million_page_operations_with_tags() {
    let sum = histories::<Tag>(0, 1_000_000);
    assert_exceed(
        &sum,
        &[
            ("pages moved by garbage collection", sum.moves, 80_000),
            ("pages of maps that were read", sum.maps, 20_000),
            ("erases", sum.erases, 40_000),
            ("writes of part of a page", sum.merges, 1_000),
            ("pages discarded", sum.trims, 20_000),
            ("bytes of discards ignored", sum.trims_ignored_bytes, 1_000_000),
            ("flushes", sum.flushes, 500),
            ("pinned requests", sum.pinned, 1_000),
            ("waits for rows", sum.row_waits, 4_000),
            ("read-modify-writes", sum.rows_read_modify_write, 7_000),
            ("reconstruct-writes", sum.rows_reconstruct_write, 7_000),
            ("full rows", sum.rows_full, 7_000),
            ("sectors read and compared", sum.sectors_read, 500_000),
            ("rows checked on the way", sum.rows_checked, 700),
            ("sectors rebuilt", sum.rebuilt, 1_000_000),
            ("copies compared", sum.copies_compared, 40_000),
            ("sectors as if the power had failed", sum.power_losses, 1_000_000),
            ("sectors rebuilt for reads", sum.rebuilt_for_reads, 10_000),
            ("pages read around members", sum.rebuilt_pages, 10_000),
            ("pages that waited all the same", sum.waited_pages, 1_000),
            ("hedges", sum.hedges, 1_500),
            ("hedges that won", sum.hedges_won, 30),
            ("pages parked", sum.parked, 3_000),
            ("pages written back", sum.destaged, 2_000),
            ("pages overwritten while parked", sum.superseded, 500),
            ("operations that found NVRAM full", sum.full_waits, 2_000),
        ],
    );
    // Where overlapping writes left a choice, less is checked.
    assert!(sum.uncertain < sum.sectors_at_end / 4, "{sum:#?}");
    assert_covers(&sum);
}

/// Every level and placement, policy, schedule and number of members was there.
fn assert_covers(sum: &Counts) {
    let missing: Vec<String> =
        levels().iter().map(ToString::to_string).filter(|level| !sum.levels.contains(level)).collect();
    assert!(missing.is_empty(), "no history of {missing:?}");
    let policies: BTreeSet<String> = names(coordination::REGISTRY).map(str::to_owned).collect();
    let schedules: BTreeSet<String> = names(schedule::REGISTRY).map(str::to_owned).collect();
    assert_eq!((&sum.policies, &sum.schedules), (&policies, &schedules));
    assert_eq!(sum.members, (1..=9).collect());
}

#[test]
fn a_hundred_thousand_page_operations_with_real_pages() {
    let sum = histories::<Real>(1_000_000, 100_000);
    assert_exceed(
        &sum,
        &[
            ("pages moved by garbage collection", sum.moves, 8_000),
            ("waits for rows", sum.row_waits, 300),
            ("read-modify-writes", sum.rows_read_modify_write, 800),
            ("reconstruct-writes", sum.rows_reconstruct_write, 700),
            ("sectors rebuilt", sum.rebuilt, 100_000),
        ],
    );
}

/// Parity made of what a stripe cache keeps, merged writes and all, with members that fail and writes that are parked.
#[test]
#[ignore = "long: make simulations"]
fn a_stripe_cache_keeps_what_rows_hold() {
    let cache = |seed| torture::scenario::stripe_cache(seed, &torture::scenario::array(seed));
    let has_cache = |&seed: &u64| cache(seed).entries > 0;
    let mut sum = [Counts::default(), Counts::default()];
    for (faults, sum) in [false, true].into_iter().zip(&mut sum) {
        for seed in (torture::scenario::CACHED..).filter(has_cache).take(40) {
            let options =
                Options { seed, requests: 2 * REQUESTS, locks: Locks::Always, faults, power: false };
            sum.add(run::<Tag>(options).unwrap_or_else(|failure| panic!("{failure}")));
        }
    }
    for sum in &sum {
        assert_exceed(
            sum,
            &[
                ("units that were not read", sum.cache_hits, 1_000),
                ("writes merged", sum.merged, 100),
                ("rows filled by merging", sum.rows_filled, 20),
                ("writes put off", sum.delays, 300),
                ("waits for entries", sum.entry_waits, 1_000),
                ("pages parked", sum.parked, 500),
            ],
        );
    }
    let failing = &sum[1];
    assert_exceed(
        failing,
        &[
            ("members rebuilt", failing.rebuilds, 10),
            ("unreadable pages", failing.unreadable, 100),
            ("pages written anew", failing.rewritten, 100),
        ],
    );
}

/// Where there is no parity, only NVRAM makes the order of writes matter: copies, and parts of pages.
#[test]
fn mirrors_and_stripes_keep_their_contents_through_nvram() {
    let mut sum = Counts::default();
    let has_nvram =
        |config: &harmonia_array::ArrayConfig| config.level.parities() == 0 && config.knowledge.nvram > 0;
    for seed in (2_000_000..).filter(|&seed| has_nvram(&torture::scenario::array(seed))).take(120) {
        let options =
            Options { seed, requests: 2 * REQUESTS, locks: Locks::Always, faults: false, power: false };
        sum.add(run::<Tag>(options).unwrap_or_else(|failure| panic!("{failure}")));
    }
    assert_exceed(
        &sum,
        &[
            ("pages parked", sum.parked, 4_000),
            ("pages written back", sum.destaged, 2_000),
            ("waits for rows", sum.row_waits, 500),
            ("writes of part of a page", sum.merges, 500),
        ],
    );
}

/// Histories with failures, from a seed on.
fn failing_histories<C: Content>(first_seed: u64, histories: u64) -> Counts {
    let mut sum = Counts::default();
    for seed in first_seed..first_seed + histories {
        let options = Options { seed, requests: REQUESTS, locks: Locks::Always, faults: true, power: false };
        sum.add(run::<C>(options).unwrap_or_else(|failure| panic!("{failure}")));
    }
    sum
}

#[test]
fn contents_outlive_members_that_fail() {
    let sum = failing_histories::<Tag>(0, 84);
    assert_exceed(
        &sum,
        &[
            ("failures", sum.failures, 90),
            ("replacements", sum.replacements, 45),
            ("members rebuilt", sum.rebuilds, 30),
            ("members copied", sum.copies, 5),
            ("members that failed while copied", sum.failovers, 3),
            ("pages built", sum.built, 3_000),
            ("pages scrubbed", sum.scrubbed, 500),
            ("unreadable pages", sum.unreadable, 500),
            ("pages written anew", sum.rewritten, 400),
            ("pages read without members that are gone", sum.rebuilt_for_losses, 3_000),
            ("sectors lost", sum.lost, 5_000),
            ("sectors not read", sum.unread, 2_000),
            ("pages counted as not read", sum.unread_pages, 500),
            ("pages counted as not written", sum.unwritten_pages, 500),
            ("pages counted as not rebuilt", sum.lost_pages, 100),
            ("histories in which nothing was lost", sum.without_loss, 40),
        ],
    );
}

/// Members become read-only at any moment, on every level with redundancy: a member that refuses a write fails, spares take its
/// place, and what the others hold is right.
#[test]
fn contents_outlive_members_that_wear_out() {
    let seeds = (0..60).chain(DECLUSTERED..DECLUSTERED + 15);
    let sum = sum(seeds.filter_map(|seed| run_worn::<Tag>(seed, REQUESTS)));
    eprintln!("{sum:#?}");
    assert_exceed(
        &sum,
        &[
            ("members that wore out", sum.worn_out, 60),
            ("replacements", sum.replacements, 20),
            ("members rebuilt", sum.rebuilds, 10),
            ("pages read without members that are gone", sum.rebuilt_for_losses, 600),
            ("histories in which nothing was lost", sum.without_loss, 10),
        ],
    );
    assert_eq!(sum.worn_out, sum.failures, "nothing else makes members fail");
    assert!(sum.levels.len() > 15, "{:?}", sum.levels);
}

#[test]
#[ignore = "long: make simulations"]
fn real_contents_outlive_members_that_fail() {
    let sum = failing_histories::<Real>(1_000_000, 10);
    assert_exceed(&sum, &[("failures", sum.failures, 8), ("pages built", sum.built, 200)]);
}

/// Histories of arrays that keep a log, from a seed on: what they were, or that they went wrong.
fn logged_histories<C: Content>(
    first_seed: u64,
    histories: usize,
    how: Logged,
) -> impl Iterator<Item = Result<Counts, Failure>> {
    (first_seed..).filter_map(move |seed| run_logged::<C>(seed, REQUESTS, how)).take(histories)
}

fn sum(histories: impl Iterator<Item = Result<Counts, Failure>>) -> Counts {
    let mut sum = Counts::default();
    histories.for_each(|counts| sum.add(counts.unwrap_or_else(|failure| panic!("{failure}"))));
    sum
}

#[test]
fn a_log_changes_nothing_for_the_host() {
    let how = Logged { faults: false, power: false, replays: true };
    let mut sum = sum(logged_histories::<Tag>(3_000_000, 30, how));
    sum.add(self::sum(logged_histories::<Tag>(4_000_000, 30, Logged { faults: true, ..how })));
    assert_exceed(
        &sum,
        &[
            ("transactions logged", sum.logged, 7_000),
            ("pages logged", sum.log_pages, 18_000),
            ("waits for a full log", sum.log_waits, 1_000),
            ("failures", sum.failures, 20),
        ],
    );
}

/// The journal's device is no member, and has no row in which others could stand in for it.
#[test]
fn contents_of_declustered_arrays_outlive_failures_beside_a_journal() {
    let how = Logged { faults: true, power: false, replays: true };
    let sum = sum(logged_histories::<Tag>(DECLUSTERED, 20, how));
    assert_exceed(
        &sum,
        &[
            ("failures", sum.failures, 15),
            ("members rebuilt", sum.rebuilds, 8),
            ("transactions logged", sum.logged, 2_000),
            ("waits for a full log", sum.log_waits, 100),
        ],
    );
}

/// Members of declustered arrays fail, their stand-ins fail, and what was read is compared all the same.
#[test]
#[ignore = "long: make simulations"]
fn contents_outlive_failures_into_distributed_spares() {
    let sum = failing_histories::<Tag>(DECLUSTERED, 77);
    assert_exceed(
        &sum,
        &[
            ("failures", sum.failures, 80),
            ("members that others stood in for, or spares replaced", sum.replacements, 60),
            ("members rebuilt", sum.rebuilds, 40),
            ("pages built", sum.built, 5_000),
            ("pages scrubbed", sum.scrubbed, 300),
            ("unreadable pages", sum.unreadable, 300),
            ("pages written anew", sum.rewritten, 300),
            ("pages parked", sum.parked, 600),
            ("pages read without members that are gone", sum.rebuilt_for_losses, 3_000),
            ("rows checked on the way", sum.rows_checked, 300),
            ("sectors lost", sum.lost, 5_000),
            ("pages counted as not rebuilt", sum.lost_pages, 100),
            ("histories in which nothing was lost", sum.without_loss, 40),
        ],
    );
}

#[test]
#[ignore = "long: make simulations"]
fn with_a_log_contents_outlive_losses_of_power() {
    let how = Logged { faults: false, power: true, replays: true };
    let mut sum = sum(logged_histories::<Tag>(5_000_000, 40, how));
    sum.add(self::sum(logged_histories::<Tag>(6_000_000, 60, Logged { faults: true, ..how })));
    assert_exceed(
        &sum,
        &[
            ("rows made right", sum.replayed_rows, 500),
            ("failures", sum.failures, 40),
            ("members rebuilt", sum.rebuilds, 10),
        ],
    );
}

/// Seeds that went wrong once. A row was written unlogged while the spare that was to hold its parity was built past it; members
/// ran ahead of the end of a replay, with which requests begin.
#[test]
fn what_was_lost_beside_a_log_once_is_kept() {
    let how = Logged { faults: true, power: true, replays: true };
    for seed in [6_000_106, 6_001_275, 8_000_570, 8_000_573] {
        if let Some(Err(failure)) = run_logged::<Tag>(seed, REQUESTS, how) {
            panic!("{failure}");
        }
    }
}

/// Torn rows stay torn: whatever is rebuilt from them is wrong.
#[test]
fn without_the_replay_contents_go_wrong() {
    let how = Logged { faults: false, power: true, replays: false };
    let wrong = logged_histories::<Tag>(5_000_000, 40, how).filter(Result::is_err).count();
    assert!(wrong > 4, "wrong contents in {wrong} of 40 histories");
}

/// A step of a rebuild and a host's write of the same rows do not wait for one another: one of them builds what is old.
#[test]
fn without_row_locks_during_rebuild_contents_go_wrong() {
    let options =
        |seed| Options { seed, requests: REQUESTS, locks: Locks::UntilRebuild, faults: true, power: false };
    let is_wrong = |&seed: &u64| run::<Tag>(options(seed)).is_err();
    let wrong = (0..40).filter(is_wrong).count();
    assert!(wrong > 3, "wrong contents in {wrong} of 40 histories");
}

/// Histories with losses of power, from a seed on.
fn histories_with_power_losses<C: Content>(first_seed: u64, histories: u64) -> Counts {
    let mut sum = Counts::default();
    for seed in first_seed..first_seed + histories {
        let options = Options { seed, requests: REQUESTS, locks: Locks::Always, faults: false, power: true };
        sum.add(run::<C>(options).unwrap_or_else(|failure| panic!("{failure}")));
    }
    sum
}

/// Power is lost at random moments. What was acknowledged stands, and a write hole takes exactly what flash says that it will.
#[test]
#[ignore = "long: make simulations"]
fn contents_outlive_losses_of_power() {
    let sum = histories_with_power_losses::<Tag>(0, 120);
    let power = &sum.power;
    eprintln!("{power:#?}");
    assert_exceed(
        &sum,
        &[
            ("losses of power", power.losses, 300),
            ("requests submitted again", power.again, 500),
            ("sectors in rows that did not add up", power.unlike, 1_000),
            ("resyncs", power.resyncs, 50),
            ("rows written anew", power.rewritten_rows, 100),
            ("arrays that did not start", power.refused, 3),
            ("members copied", sum.copies, 15),
            ("failures", power.failures, 50),
            ("sectors that a write hole has taken", power.predicted, 50),
            ("of which found at the end", power.wrong, 20),
        ],
    );
    assert!(power.left_open < power.predicted, "{power:#?}");
}

/// Histories of arrays whose drives forget what they cache: of every level, or of those that can keep something against it. Some
/// have a stripe cache.
fn forgetful_histories(hole: Hole, histories: usize) -> Counts {
    let seeds = (CACHED + 10_000_000..).filter_map(|seed| run_volatile::<Tag>(seed, 2 * REQUESTS, hole));
    let sum = sum(seeds.take(histories));
    let Counts { power, forgotten, flushes, fua, .. } = &sum;
    eprintln!(
        "{power:#?}, {forgotten} pages forgotten, {flushes} flushes, {fua} FUA, {} operations",
        sum.operations()
    );
    sum
}

/// Caches without stored power forget what was neither flushed nor written with FUA, and nothing else. Every page then holds what the host wrote there at some time.
#[test]
fn what_was_flushed_or_written_with_fua_outlives_losses_of_power_in_caches_without_stored_power() {
    let stripes = (0..).step_by(levels().len());
    let sum = sum(stripes.filter_map(|seed| run_volatile::<Tag>(seed, 2 * REQUESTS, Hole::Resync)).take(80));
    let power = &sum.power;
    eprintln!("{power:#?}, {} pages forgotten, {} flushes, {} FUA", sum.forgotten, sum.flushes, sum.fua);
    assert_exceed(
        &sum,
        &[
            ("losses of power", power.losses, 600),
            ("requests submitted again", power.again, 1_000),
            ("pages forgotten", sum.forgotten, 5_000),
            ("flushes", sum.flushes, 500),
            ("writes with FUA", sum.fua, 2_000),
            ("sectors looked at", sum.power_losses, 10_000),
            ("sectors read", sum.sectors_read, 100_000),
        ],
    );
}

/// On every level with redundancy all is gone through afterwards: parity and copies agree with what is there, and reads see one state of
/// it meanwhile.
#[test]
#[ignore = "long: make simulations"]
fn what_was_flushed_outlives_losses_of_power_below_redundancy() {
    let sum = forgetful_histories(Hole::Resync, 100);
    let power = &sum.power;
    assert_exceed(
        &sum,
        &[
            ("losses of power", power.losses, 500),
            ("losses of power without a loss", power.rests, 30),
            ("pages forgotten", sum.forgotten, 3_000),
            ("sectors in rows that did not add up", power.unlike, 5_000),
            ("sectors whose copies differed", power.apart, 4_000),
            ("resyncs", power.resyncs, 100),
            ("rows written anew", power.rewritten_rows, 1_000),
            ("flushes", sum.flushes, 500),
            ("writes with FUA", sum.fua, 2_000),
            ("reads that found the same again", sum.seen_again, 10_000),
            ("operations", sum.operations(), 500_000),
        ],
    );
    assert!(sum.levels.len() > 15, "{:?}", sum.levels);
}

/// NVRAM forgets a page when a member has it. By then what the member was told of it, data or a discard, is more than its cache has.
#[test]
#[ignore = "long: make simulations"]
fn what_nvram_has_handed_on_outlives_losses_of_power_in_caches_without_stored_power() {
    let seeds = CACHED + 20_000_600..;
    let sum = sum(seeds.filter_map(|seed| run_parked::<Tag>(seed, 2 * REQUESTS)).take(120));
    let power = &sum.power;
    eprintln!("{power:#?}, {} parked, {} destaged, {} superseded", sum.parked, sum.destaged, sum.superseded);
    assert_exceed(
        &sum,
        &[
            ("losses of power", power.losses, 500),
            ("pages forgotten", sum.forgotten, 1_500),
            ("pages parked", sum.parked, 5_000),
            ("pages written back", sum.destaged, 2_000),
            ("pages replaced while parked", sum.superseded, 500),
            ("pages discarded", sum.trims, 1_000),
            ("flushes", sum.flushes, 500),
        ],
    );
    assert!(sum.levels.len() > 15, "{:?}", sum.levels);
}

/// Bits are on the members with FUA before anything is written, and members flush before one is cleared.
#[test]
#[ignore = "long: make simulations"]
fn a_bitmap_knows_what_members_without_stored_power_may_have_lost() {
    let sum = forgetful_histories(Hole::Bitmap, 60);
    let power = &sum.power;
    assert_exceed(
        &sum,
        &[
            ("losses of power", power.losses, 300),
            ("pages forgotten", sum.forgotten, 1_200),
            ("bits that were cleared", sum.marks_cleared, 1_000),
            ("chunks gone through", sum.dirty_chunks, 300),
            ("sectors in rows that did not add up", power.unlike, 1_000),
            ("resyncs", power.resyncs, 50),
        ],
    );
}

/// Logs are written with FUA, and members flush before an entry is dropped.
#[test]
#[ignore = "long: make simulations"]
fn a_log_knows_what_members_without_stored_power_may_have_lost() {
    let sum = forgetful_histories(Hole::Log, 60);
    let power = &sum.power;
    assert_exceed(
        &sum,
        &[
            ("losses of power", power.losses, 300),
            ("losses of power without a loss", power.rests, 30),
            ("pages forgotten", sum.forgotten, 500),
            ("transactions logged", sum.logged, 5_000),
            ("rows made right", sum.replayed_rows, 300),
            ("sectors in rows that did not add up", power.unlike, 300),
        ],
    );
}

/// The same where a write-intent bitmap says which chunks are to be gone through.
#[test]
#[ignore = "long: make simulations"]
fn with_a_bitmap_contents_outlive_losses_of_power() {
    let sum = sum((7_000_000..).filter_map(|seed| run_marked::<Tag>(seed, REQUESTS)).take(100));
    let power = &sum.power;
    eprintln!("{power:#?}");
    assert_exceed(
        &sum,
        &[
            ("writes of the bitmap", sum.marks, 3_000),
            ("writers that waited for a bit", sum.mark_waits, 3_000),
            ("bits that were cleared", sum.marks_cleared, 1_500),
            ("chunks gone through", sum.dirty_chunks, 500),
            ("losses of power", power.losses, 300),
            ("requests submitted again", power.again, 500),
            ("sectors in rows that did not add up", power.unlike, 1_000),
            ("resyncs", power.resyncs, 50),
            ("rows written anew", power.rewritten_rows, 100),
            ("failures", power.failures, 40),
            ("sectors that a write hole has taken", power.predicted, 50),
            ("of which found at the end", power.wrong, 30),
        ],
    );
}

/// What resubmitted writes and resync do to one another without row locks.
#[test]
fn without_row_locks_contents_go_wrong_after_losses_of_power() {
    let options =
        |seed| Options { seed, requests: REQUESTS, locks: Locks::Never, faults: false, power: true };
    let wrong = (0..40).filter(|&seed| run::<Tag>(options(seed)).is_err()).count();
    assert!(wrong > 10, "wrong contents in {wrong} of 40 histories");
}

#[test]
#[ignore = "long: make simulations"]
fn real_contents_outlive_losses_of_power() {
    let sum = histories_with_power_losses::<Real>(1_000_000, 12);
    assert_exceed(&sum, &[("losses of power", sum.power.losses, 30)]);
}

/// Transactions that do not wait for one another's rows make parity of what others are changing.
#[test]
fn without_row_locks_contents_go_wrong() {
    let options =
        |seed| Options { seed, requests: REQUESTS, locks: Locks::Never, faults: false, power: false };
    let failures: Vec<_> = (0..100).filter_map(|seed| run::<Tag>(options(seed)).err()).collect();
    assert!(failures.len() > 30, "wrong contents in {} of 100 histories", failures.len());
    // Mirrors and stripes hold rows only where writes may be parked.
    let holds =
        |config: &harmonia_array::ArrayConfig| config.level.parities() > 0 || config.knowledge.nvram > 0;
    assert!(failures.iter().all(|failure| holds(&failure.config)));
}
