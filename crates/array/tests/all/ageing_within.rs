//! Do overwrites that keep to the first bytes of an array leave the rest where the fill put it? And does ageing write as many pages
//! as it says before?

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::common::{PAGE, level, one_die, raid0};
use harmonia_array::layout::Rotation;
use harmonia_array::{
    AgedState, AgeingError, AgeingPlan, ArrayConfig, COUNTED_FROM, Level, age, ageing_pages,
};
use harmonia_ssd::{Allocation, Amount, Ftl};
use harmonia_types::IoCause;

const BLOCK: u64 = 8;

fn aged(config: &ArrayConfig, overwrite: f64, within: Option<u64>) -> Result<AgedState, AgeingError> {
    let plan = AgeingPlan {
        fill: 1.0,
        overwrite,
        within,
        counted_from: COUNTED_FROM,
        seed: 7,
        threads: 2,
        cancel: &AtomicBool::new(false),
        pages_done: &AtomicU64::new(0),
    };
    age(config, &plan)
}

/// Two dies of 70 blocks each.
fn array(members: u16, unit_pages: u64) -> ArrayConfig {
    let mut ssd = one_die(70, BLOCK as u32, 12);
    ssd.geometry.channels = 2;
    ssd.gc.hard_threshold = Amount::Blocks(3);
    raid0(&ssd, members, unit_pages * PAGE)
}

/// Where each page of a member lies.
fn places(ftl: &Ftl) -> Vec<(u32, Option<(u32, u32)>)> {
    let (units, pages) = (ftl.shape().units(), ftl.shape().unit_pages);
    let all = (0..units).flat_map(|unit| (0..pages).map(move |page| (unit, page)));
    let mut places: Vec<_> =
        all.map(|(unit, page)| (ftl.shape().device_lpn(unit, page).0, ftl.lookup(unit, page))).collect();
    places.sort_unstable();
    places
}

/// Host writes.
fn written(ftl: &Ftl) -> u64 {
    ftl.tally().programs[IoCause::Host as usize]
}

#[test]
fn what_is_not_overwritten_stays_where_it_was() {
    for (members, unit_pages, part) in [(1, 1, 0.25), (3, 1, 0.25), (3, 16, 0.1), (4, 16, 0.5)] {
        let config = array(members, unit_pages);
        let within = (config.layout().logical_bytes() as f64 * part) as u64 / PAGE * PAGE;
        let filled = aged(&config, 0.0, Some(within)).unwrap();
        let used = aged(&config, 20.0, Some(within)).unwrap();
        // A member's part of it is as large as that of another one, but for one stripe unit.
        let most = within / PAGE / u64::from(members) + unit_pages;
        for (before, after) in filled.devices.iter().zip(&used.devices) {
            let (units, all) = (u64::from(before.shape().units()), places(before).len() as u64);
            // Blocks that hold pages of both parts are collected: where the first part ends, and where the fill ended.
            let (first, last) = (most + units * BLOCK, all - units * BLOCK);
            let unmoved = places(before).into_iter().zip(places(after));
            for ((page, was), (_, is)) in
                unmoved.filter(|((page, _), _)| (first..last).contains(&u64::from(*page)))
            {
                assert!(was.is_some() && was == is, "{members} members, page {page}");
            }
            let moved = places(before).into_iter().zip(places(after)).filter(|(was, is)| was != is).count();
            assert!(moved as u64 * 10 > 9 * (most - 2 * unit_pages), "{moved} of {most} pages");
        }
        let host = |state: &AgedState| state.devices.iter().map(written).sum::<u64>();
        assert_eq!(host(&used) - host(&filled), 20 * within / PAGE, "20 times the part that is overwritten");
    }
}

#[test]
fn members_and_units_without_a_page_of_it_get_no_overwrites() {
    let config = array(4, 16);
    let filled = aged(&config, 0.0, None).unwrap();
    // One page of the first member.
    let used = aged(&config, 50.0, Some(PAGE)).unwrap();
    let added: Vec<u64> =
        filled.devices.iter().zip(&used.devices).map(|(a, b)| written(b) - written(a)).collect();
    assert_eq!(added, [50, 0, 0, 0]);
}

#[test]
fn dynamic_allocation_keeps_to_it_too() {
    let mut config = array(2, 1);
    for member in &mut config.members {
        member.ssd.ftl.allocation = Allocation::Dynamic;
    }
    let within = config.layout().logical_bytes() / 4 / PAGE * PAGE;
    let (filled, used) = (aged(&config, 0.0, None).unwrap(), aged(&config, 20.0, Some(within)).unwrap());
    for (before, after) in filled.devices.iter().zip(&used.devices) {
        let pages = before.shape().units() * before.shape().unit_pages;
        let moved = |&lpn: &u32| before.home(lpn) != after.home(lpn);
        let beyond = pages / 4 + 4 * BLOCK as u32..pages - 4 * BLOCK as u32;
        assert_eq!(beyond.filter(moved).count(), 0);
        assert!((0..pages / 4).filter(moved).count() > 0);
    }
}

#[test]
fn all_of_the_array_is_overwritten_as_much() {
    let config = array(3, 16);
    let whole = aged(&config, 3.0, Some(config.layout().logical_bytes())).unwrap();
    let usual = aged(&config, 3.0, None).unwrap();
    let host = |state: &AgedState| state.devices.iter().map(written).sum::<u64>();
    assert_eq!(host(&whole), host(&usual));
}

#[test]
fn only_raid_0_can() {
    for of in [Level::Raid1, Level::Raid4] {
        let config = ArrayConfig { level: of, ..level(of, &array(3, 16).members[0].ssd, 3, 16 * PAGE) };
        let why = aged(&config, 1.0, Some(PAGE)).map(|_| ()).unwrap_err();
        assert!(matches!(&why, AgeingError::Infeasible(why) if why.contains("RAID-0")), "{why:?}");
    }
}

/// Three members of which a half is filled, and five that are filled with data and parity.
#[test]
fn ageing_counts_the_pages_that_it_has_said_it_would_write() {
    let halves = (array(3, 16), 0.5);
    let mut raid5 = array(5, 16);
    raid5.level = Level::Raid5(Rotation::default());
    let mut dynamic = halves.clone();
    dynamic.0.members.iter_mut().for_each(|member| member.ssd.ftl.allocation = Allocation::Dynamic);
    for (config, fill) in [halves, (raid5, 1.0), dynamic] {
        let pages = config.layout().member_bytes() / PAGE * config.members.len() as u64;
        for overwrite in [0.0, 0.25, 3.0] {
            let pages_done = AtomicU64::new(0);
            let cancel = AtomicBool::new(false);
            let plan = AgeingPlan {
                fill,
                overwrite,
                within: None,
                counted_from: COUNTED_FROM,
                seed: 7,
                threads: 2,
                cancel: &cancel,
                pages_done: &pages_done,
            };
            let aged = age(&config, &plan).expect("spare suffices");
            let said = ageing_pages(&config, fill, overwrite);
            let exact = pages as f64 * (fill + fill * overwrite);
            assert!((said as f64 - exact).abs() <= 1.0, "{said} pages, {exact} expected");
            let done = pages_done.load(Ordering::Relaxed);
            assert!(done.abs_diff(said) <= 1, "{done} of {said} pages");
            let host: u64 = aged.devices.iter().map(written).sum();
            assert_eq!(host, done);
        }
    }
}
