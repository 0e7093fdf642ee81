//! Does a device that ages by numbers of valid pages alone become what it becomes page by page?
//!
//! Random numbers differ, and the distribution is to be the same. So both are compared over seeds, by means and the variances of
//! these. What was drawn at the end is held against what any page of a device that was overwritten often would be.
//!
//! Not verified: how long it takes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::ageing_superblocks::{measures, moments};
use crate::common::{PAGE, level, one_die, raid0};
use harmonia_array::layout::Rotation;
use harmonia_array::{AgedState, AgeingError, AgeingPlan, ArrayConfig, COUNTED_FROM, Level, age};
use harmonia_ssd::block::valid_of;
use harmonia_ssd::gc::victim;
use harmonia_ssd::{
    Allocation, AllocationUnit, Amount, Frontiers, LastProgram, Order, PolicyConfig, SsdConfig, Superblock,
};
use harmonia_types::IoCause;

const SEEDS: u64 = 40;

fn plan<'a>(counted_from: u32, pages_done: &'a AtomicU64, cancel: &'a AtomicBool) -> AgeingPlan<'a> {
    AgeingPlan {
        fill: 1.0,
        overwrite: 3.0,
        within: None,
        counted_from,
        seed: 1,
        threads: 2,
        cancel,
        pages_done,
    }
}

fn aged(config: &ArrayConfig, counted_from: u32, seed: u64, fill: f64) -> AgedState {
    let (done, cancel) = Default::default();
    age(config, &AgeingPlan { seed, fill, ..plan(counted_from, &done, &cancel) }).expect("it works")
}

/// Four dies of 80 blocks of 64 pages, whose pages may lie anywhere.
fn anywhere() -> SsdConfig {
    let mut ssd = one_die(80, 64, 20);
    ssd.geometry.channels = 4;
    ssd.gc.hard_threshold = Amount::Blocks(2);
    ssd.ftl.allocation = Allocation::Dynamic;
    ssd
}

/// The same, whose programs have 12 pages: those of collection are padded, or filled with pages of another block.
fn packed(last: LastProgram) -> SsdConfig {
    let mut ssd = anywhere();
    ssd.geometry.page_size = 4 * PAGE as u32;
    (ssd.geometry.pages_per_block, ssd.geometry.program_pages) = (24, 3);
    ssd.ftl.mapping_unit = Some(PAGE as u32);
    (ssd.ftl.frontiers, ssd.gc.last_program) = (Frontiers::Separate, last);
    ssd.timing.copyback = harmonia_flash::Copyback::None;
    ssd
}

/// Dies that share their blocks, all of which are one unit.
fn superblocks() -> SsdConfig {
    let mut ssd = one_die(80, 16, 20);
    ssd.geometry.channels = 4;
    ssd.gc.hard_threshold = Amount::Blocks(2);
    ssd.ftl.superblock = Superblock::Drive;
    ssd
}

/// The variance of live pages over units, and the variance of erases over blocks, averaged over units.
fn of_units(state: &AgedState) -> Vec<f64> {
    let ftl = &state.devices[0];
    let most = ftl.shape().most_live.unwrap_or(u32::MAX);
    let live: Vec<u32> = (0..ftl.shape().units()).map(|unit| ftl.live_pages(unit)).collect();
    assert!(live.iter().all(|&live| live <= most), "{live:?} live pages of units, which take {most}");
    let live: Vec<f64> = live.into_iter().map(f64::from).collect();
    let erases: Vec<f64> = (0..ftl.shape().units())
        .map(|unit| ftl.blocks(unit).erases.iter().map(|&erases| f64::from(erases)).collect::<Vec<_>>())
        .map(|erases| moments(&erases).1)
        .collect();
    let spread = if live.len() > 1 { moments(&live).1 } else { 0.0 };
    vec![spread, erases.iter().sum::<f64>() / erases.len() as f64]
}

#[test]
fn numbers_are_those_of_devices_that_age_page_by_page() {
    let devices = [
        ("anywhere", anywhere(), ["greedy", "fifo", "d-choices"].as_slice()),
        ("superblocks", superblocks(), &["greedy", "random"]),
        ("padded", packed(LastProgram::Padded), &["greedy"]),
        ("filled", packed(LastProgram::Filled), &["greedy"]),
    ];
    for (name, ssd, policies) in devices {
        for &policy in policies {
            for (frontiers, fill) in
                [(Frontiers::Shared, 1.0), (Frontiers::Separate, 1.0), (ssd.ftl.frontiers, 0.8)]
            {
                let mut ssd = ssd.clone();
                (ssd.ftl.frontiers, ssd.gc.victim) = (frontiers, policy.into());
                let config = raid0(&ssd, 1, PAGE);
                let of = |counted_from| {
                    let all = (0..SEEDS).map(|seed| aged(&config, counted_from, seed, fill));
                    all.map(|state| {
                        assert_eq!(state.steadiness.by_numbers, counted_from == 0);
                        [measures(&state), of_units(&state)].concat()
                    })
                    .collect::<Vec<_>>()
                };
                let (numbers, pages) = (of(0), of(COUNTED_FROM));
                for measure in 0..numbers[0].len() {
                    let [one, other] = [&numbers, &pages].map(|all| {
                        moments(&all.iter().map(|measures| measures[measure]).collect::<Vec<_>>())
                    });
                    let (apart, variance) = (one.0 - other.0, (one.1 + other.1) / SEEDS as f64);
                    let about = format!("{name} {policy} {frontiers:?} {fill}, measure {measure}");
                    assert!(
                        apart * apart <= 20.0 * variance,
                        "{about}: {} and {} ({variance})",
                        one.0,
                        other.0
                    );
                }
            }
        }
    }
}

/// Every LPN that was filled lies somewhere, none that was not does, and each is as likely in one block as in another: sixteenths of
/// the space have their share of every block, and lie in any half of what was written of it.
#[test]
fn any_lpn_lies_anywhere() {
    for ssd in [anywhere(), superblocks(), packed(LastProgram::Filled)] {
        let (mut chi, mut cells, mut halves) = (0.0, 0.0, [0.0; 2]);
        for seed in 0..10 {
            let state = aged(&raid0(&ssd, 1, PAGE), 0, seed, 0.9);
            let ftl = &state.devices[0];
            ftl.audit();
            let shape = ftl.shape();
            let filled = (f64::from(shape.logical_pages) * 0.9).round() as u32;
            let blocks = shape.blocks_per_unit;
            let mut counts = vec![[0.0; 16]; (shape.units() * blocks) as usize];
            for lpn in 0..shape.logical_pages {
                let unit = if shape.is_dynamic() { ftl.home(lpn) } else { Some(0) };
                let place = unit.and_then(|unit| Some((unit, ftl.lookup(unit, lpn)?)));
                assert_eq!(place.is_some(), lpn < filled, "LPN {lpn}, of which {filled} were filled");
                let Some((unit, (block, page))) = place else { continue };
                counts[(unit * blocks + block) as usize]
                    [(u64::from(lpn) * 16 / u64::from(filled)) as usize] += 1.0;
                halves[usize::from(page >= shape.data_pages / 2)] += 1.0;
            }
            let entries = (0..shape.units()).flat_map(|unit| ftl.blocks(unit).entries);
            for (counts, &entry) in counts.iter().zip(entries).filter(|(_, entry)| valid_of(**entry) >= 16) {
                let expected = f64::from(valid_of(entry)) / 16.0;
                chi += counts.iter().map(|count| (count - expected).powi(2) / expected).sum::<f64>();
                cells += 15.0;
            }
        }
        assert!((chi - cells).abs() < 5.0 * (2.0f64 * cells).sqrt(), "chi square {chi:.0}, {cells} expected");
        let [first, second]: [f64; 2] = halves;
        assert!(
            (first / (first + second) - 0.5).abs() < 0.01,
            "{first} and {second} pages of halves of blocks"
        );
    }
}

/// The same bytes on any number of threads, of which all are read back, and every page that is written is told as progress.
#[test]
fn it_is_told_stored_and_the_same_on_any_number_of_threads() {
    let config = raid0(&anywhere(), 2, 4 * PAGE);
    let of = |threads| {
        let (done, cancel) = Default::default();
        let state = age(&config, &AgeingPlan { threads, ..plan(0, &done, &cancel) }).expect("it works");
        let mut bytes = Vec::new();
        state.write("numbers", &mut bytes).expect("memory takes everything");
        let host: u64 = state.devices.iter().map(|ftl| ftl.tally().programs[IoCause::Host as usize]).sum();
        assert_eq!(done.into_inner(), host);
        bytes
    };
    let bytes = of(1);
    assert_eq!(bytes, of(3));
    let read =
        AgedState::read("numbers", &config, bytes.len() as u64, &mut &bytes[..]).expect("it was written");
    assert!(read.steadiness.by_numbers);
    read.devices.iter().for_each(harmonia_ssd::Ftl::audit);
}

/// Where the number of a page says where it lies, where a policy looks at more than numbers, and where not all is overwritten alike.
#[test]
fn what_needs_its_pages_keeps_them() {
    let by_numbers = |config: &ArrayConfig, fill| {
        let state = aged(config, 0, 1, fill);
        state.devices.iter().for_each(harmonia_ssd::Ftl::audit);
        state.steadiness.by_numbers
    };
    let one = |ssd: &SsdConfig| raid0(ssd, 1, PAGE);
    for policy in victim::REGISTRY {
        let mut ssd = anywhere();
        ssd.gc.victim = policy.name.into();
        assert!(by_numbers(&one(&ssd), 1.0), "{} asks for numbers alone", policy.name);
    }
    let mut named = anywhere();
    named.ftl.allocation = Allocation::DynamicPlane(Order::of_dies("cwd").expect("three letters"));
    (named.geometry.planes_per_die, named.ftl.allocation_unit) = (2, AllocationUnit::Plane);
    assert!(!by_numbers(&one(&named), 1.0), "its number names a die");
    let mut fixed = anywhere();
    fixed.ftl.allocation = Allocation::CWDP;
    assert!(!by_numbers(&one(&fixed), 1.0), "its number names a unit");
    assert!(by_numbers(&one(&superblocks()), 1.0));
    let mut placed = superblocks();
    (placed.ftl.frontiers, placed.gc.hard_threshold) = (Frontiers::Separate, Amount::Blocks(3));
    placed.ftl.placement = PolicyConfig::named("sepbit");
    assert!(!by_numbers(&one(&placed), 1.0), "where it goes depends on its age");
    let parity = level(Level::Raid5(Rotation::LeftSymmetric), &anywhere(), 3, PAGE);
    assert!(
        by_numbers(&parity, 1.0) && !by_numbers(&parity, 0.4),
        "parity beyond what is filled is written once"
    );
    let (done, cancel) = Default::default();
    let part = AgeingPlan { within: Some(64 * PAGE), ..plan(0, &done, &cancel) };
    assert!(!age(&one(&anywhere()), &part).expect("it works").steadiness.by_numbers, "a part is overwritten");
    let seldom = AgeingPlan { overwrite: 2.0, ..plan(0, &done, &cancel) };
    assert!(
        !age(&one(&anywhere()), &seldom).expect("it works").steadiness.by_numbers,
        "much lies where it was filled"
    );
    assert!(!by_numbers(&one(&anywhere()), 0.05), "a page that is drawn is seldom valid");
    let empty = AgeingPlan { fill: 0.0, ..plan(0, &done, &cancel) };
    assert!(!age(&one(&anywhere()), &empty).expect("it works").steadiness.by_numbers);
}

#[test]
fn it_stops_when_it_is_cancelled() {
    let (done, cancel) = (AtomicU64::new(0), AtomicBool::new(false));
    let config = raid0(&anywhere(), 1, PAGE);
    let filled = u64::from(config.members[0].ssd.resolve().expect("it works").logical_pages);
    let ended = std::thread::scope(|scope| {
        let ageing = scope.spawn(|| age(&config, &AgeingPlan { overwrite: 1e6, ..plan(0, &done, &cancel) }));
        while done.load(Ordering::Relaxed) <= filled {
            std::thread::yield_now();
        }
        cancel.store(true, Ordering::Relaxed);
        ageing.join().expect("no panic")
    });
    assert_eq!(ended.map(|_| ()), Err(AgeingError::Cancelled));
}
