//! Does a drive whose dies share their blocks age as one die with blocks as long?
//!
//! The drive draws pages of its flash, the die logical pages: other random numbers, and the same distribution. So both are compared over seeds, by means
//! and the variances of these. That either ends where its writes lead is a test of the FTL.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::common::{PAGE, level, one_die, raid0};
use harmonia_array::layout::Rotation;
use harmonia_array::{AgedState, AgeingError, AgeingPlan, ArrayConfig, COUNTED_FROM, Level, age};
use harmonia_ssd::block::{BlockState, state_of, valid_of};
use harmonia_ssd::{Amount, Frontiers, Ftl, SsdConfig, Superblock};
use harmonia_types::IoCause;

const SEEDS: u64 = 40;

/// Blocks of 64 pages: a die's own, or those of four dies of two planes.
fn device(dies: u32) -> SsdConfig {
    let mut ssd = one_die(80, 64 / dies / dies.min(2), 20);
    (ssd.geometry.channels, ssd.geometry.planes_per_die) = (dies, dies.min(2));
    ssd.gc.hard_threshold = Amount::Blocks(2);
    if dies > 1 {
        ssd.ftl.superblock = Superblock::Drive;
    }
    ssd
}

fn plan<'a>(seed: u64, fill: f64, pages_done: &'a AtomicU64, cancel: &'a AtomicBool) -> AgeingPlan<'a> {
    AgeingPlan {
        fill,
        overwrite: 3.0,
        within: None,
        counted_from: COUNTED_FROM,
        seed,
        threads: 2,
        cancel,
        pages_done,
    }
}

fn aged(config: &ArrayConfig, seed: u64, fill: f64) -> AgedState {
    age(config, &plan(seed, fill, &AtomicU64::new(0), &AtomicBool::new(false))).expect("it works")
}

/// What is compared: write amplification of both windows, live pages of a victim on average, and mean and variance of the live
/// pages of blocks of the first unit, by quarters of their age.
pub(super) fn measures(state: &AgedState) -> Vec<f64> {
    let ftl = &state.devices[0];
    ftl.audit();
    let tally = ftl.tally();
    let mut found: Vec<f64> = state.steadiness.windows.iter().map(|window| window.expect("enough")).collect();
    found.push(tally.moves() as f64 / tally.victims as f64);
    let blocks = ftl.blocks(0);
    let closed = |block: &usize| state_of(blocks.entries[*block]) == BlockState::Closed;
    let mut by_age: Vec<usize> = (0..blocks.entries.len()).filter(closed).collect();
    by_age.sort_unstable_by_key(|&block| blocks.closed_at[block]);
    for quarter in by_age.chunks(by_age.len().div_ceil(4)) {
        let live = quarter.iter().map(|&block| f64::from(valid_of(blocks.entries[block])));
        let (mean, variance) = moments(&live.collect::<Vec<_>>());
        found.extend([mean, variance]);
    }
    found
}

pub(super) fn moments(samples: &[f64]) -> (f64, f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum::<f64>();
    (mean, squares / (count - 1.0))
}

#[test]
fn superblocks_age_as_blocks_of_one_die_that_are_as_long() {
    for policy in ["greedy", "fifo", "d-choices"] {
        for (frontiers, fill) in
            [(Frontiers::Shared, 1.0), (Frontiers::Separate, 1.0), (Frontiers::Shared, 0.8)]
        {
            let of = |dies: u32| {
                let mut ssd = device(dies);
                (ssd.ftl.frontiers, ssd.gc.victim) = (frontiers, policy.into());
                let config = raid0(&ssd, 1, PAGE);
                (0..SEEDS).map(|seed| measures(&aged(&config, seed, fill))).collect::<Vec<_>>()
            };
            let (drive, die) = (of(4), of(1));
            for measure in 0..drive[0].len() {
                let [one, other] = [&drive, &die]
                    .map(|all| moments(&all.iter().map(|measures| measures[measure]).collect::<Vec<_>>()));
                let (apart, variance) = (one.0 - other.0, (one.1 + other.1) / SEEDS as f64);
                let about = format!("{policy} {frontiers:?} {fill}, measure {measure}");
                assert!(apart * apart <= 20.0 * variance, "{about}: {} and {} ({variance})", one.0, other.0);
            }
        }
    }
}

/// What is mapped stays mapped, wherever the fill ends, and what was never filled stays empty.
#[test]
fn what_is_filled_is_what_is_mapped() {
    for fill in [0.3, 1.0] {
        let state = aged(&raid0(&device(4), 2, 4 * PAGE), 1, fill);
        for ftl in &state.devices {
            let pages = ftl.shape().unit_pages;
            let filled = (f64::from(pages) * fill).round() as u32;
            let mapped: Vec<bool> = (0..pages).map(|lpn| ftl.lookup(0, lpn).is_some()).collect();
            assert_eq!(mapped.iter().filter(|&&is_mapped| is_mapped).count(), filled as usize);
            assert!(mapped[..filled as usize].iter().all(|&is_mapped| is_mapped), "the first of them");
            let host = ftl.tally().programs[IoCause::Host as usize];
            assert!(host > 3 * u64::from(filled), "{host} pages written, {filled} filled");
            ftl.audit();
        }
    }
}

/// Parity of stripes that hold nothing, and what lies beyond the part that a load addresses, is written once. Such a drive ages
/// with its map.
#[test]
fn what_is_not_overwritten_stays_where_it_was() {
    let places = |ftl: &Ftl| (0..ftl.shape().unit_pages).map(|lpn| ftl.lookup(0, lpn)).collect::<Vec<_>>();
    let config = raid0(&device(4), 1, PAGE);
    let pages = config.layout().logical_bytes() / PAGE;
    let part = |overwrite| {
        let (cancel, done) = Default::default();
        let within = Some(pages / 4 * PAGE);
        let plan = AgeingPlan { within, overwrite, ..plan(1, 1.0, &done, &cancel) };
        age(&config, &plan).expect("it works")
    };
    let (filled, used) = (part(0.0), part(8.0));
    let beyond = (pages / 4) as usize + 64..(pages - 64) as usize;
    assert_eq!(places(&filled.devices[0])[beyond.clone()], places(&used.devices[0])[beyond]);
    let parity = level(Level::Raid5(Rotation::LeftSymmetric), &device(4), 3, PAGE);
    for ftl in &aged(&parity, 1, 0.4).devices {
        ftl.audit();
        let beyond = ftl.shape().unit_pages as usize / 2;
        assert!(places(ftl)[beyond..].iter().any(Option::is_some), "parity beyond what is filled");
    }
}

/// The same for any number of threads, and every page that is written is told as progress.
#[test]
fn threads_do_not_show_and_progress_is_told() {
    let of = |threads| {
        let (cancel, done) = (AtomicBool::new(false), AtomicU64::new(0));
        let plan = AgeingPlan { threads, ..plan(5, 1.0, &done, &cancel) };
        let state = age(&raid0(&device(4), 2, PAGE), &plan).expect("it works");
        let mut bytes = Vec::new();
        state.write("superblocks", &mut bytes).expect("memory takes everything");
        let host: u64 = state.devices.iter().map(|ftl| ftl.tally().programs[IoCause::Host as usize]).sum();
        assert_eq!(done.into_inner(), host);
        bytes
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn it_stops_when_it_is_cancelled() {
    let cancelled =
        age(&raid0(&device(4), 1, PAGE), &plan(1, 1.0, &AtomicU64::new(0), &AtomicBool::new(true)));
    assert_eq!(cancelled.map(|_| ()), Err(AgeingError::Cancelled));
    // While its only unit ages.
    let mut ssd = device(4);
    ssd.geometry.pages_per_block = 4_096;
    let (cancel, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let filled = u64::from(ssd.resolve().expect("it works").unit_pages);
    let config = raid0(&ssd, 1, PAGE);
    let ended = std::thread::scope(|scope| {
        let ageing =
            scope.spawn(|| age(&config, &AgeingPlan { overwrite: 1e6, ..plan(1, 1.0, &done, &cancel) }));
        while done.load(Ordering::Relaxed) <= filled {
            std::thread::yield_now();
        }
        cancel.store(true, Ordering::Relaxed);
        ageing.join().expect("no panic")
    });
    assert_eq!(ended.map(|_| ()), Err(AgeingError::Cancelled));
}
