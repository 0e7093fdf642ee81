//! Does an array that a load ages hold what the load wrote, where the load wrote it?

use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::common::{PAGE, level, one_die};
use harmonia_array::layout::Rotation;
use harmonia_array::{AgedState, AgeingError, AgeingPlan, ArrayConfig, COUNTED_FROM, Level, age_by};
use harmonia_engine::Rng;
use harmonia_ssd::{Allocation, Amount, Ftl};
use harmonia_types::{DeviceId, HostRequest, IoCause, Operation, SimTime};

const RAID5: Level = Level::Raid5(Rotation::LeftSymmetric);

/// Two dies of 70 blocks of eight pages each.
fn array(of: Level, members: u16) -> ArrayConfig {
    let mut ssd = one_die(70, 8, 12);
    ssd.geometry.channels = 2;
    ssd.gc.hard_threshold = Amount::Blocks(3);
    level(of, &ssd, members, 2 * PAGE)
}

fn request(operation: Operation, page: u64, pages: u64, member: Option<u16>) -> HostRequest {
    let (offset, length) = (page * PAGE, pages * PAGE);
    let request = HostRequest::new(0, SimTime::ZERO, operation, offset, length);
    HostRequest { member: member.map(DeviceId), ..request }
}

fn aged(
    config: &ArrayConfig,
    threads: usize,
    overwrite: f64,
    mut next: impl FnMut() -> Result<HostRequest, String>,
) -> Result<AgedState, AgeingError> {
    let plan = AgeingPlan {
        fill: 1.0,
        overwrite,
        within: None,
        counted_from: COUNTED_FROM,
        seed: 7,
        threads,
        cancel: &AtomicBool::new(false),
        pages_done: &AtomicU64::new(0),
    };
    age_by(config, &plan, None, &mut next)
}

/// Host writes.
fn written(ftl: &Ftl) -> u64 {
    ftl.tally().programs[IoCause::Host as usize]
}

/// What each member was written beyond its fill.
fn beyond_fill(config: &ArrayConfig, state: &AgedState) -> Vec<u64> {
    let filled = aged(config, 1, 0.0, || Err("it is only filled".to_owned())).unwrap();
    state.devices.iter().zip(&filled.devices).map(|(ftl, filled)| written(ftl) - written(filled)).collect()
}

#[test]
fn a_hot_page_takes_its_parity_along() {
    for (of, members, hot) in [
        // Unit 1 of stripe 0 of three data units.
        (RAID5, 4, vec![1, 3]),
        (Level::Raid6(Rotation::LeftSymmetric), 4, vec![0, 2, 3]),
        (Level::Raid1, 2, vec![0, 1]),
        (Level::Raid0, 4, vec![1]),
    ] {
        let config = array(of, members);
        let state = aged(&config, 2, 2.0, || Ok(request(Operation::Write, 2, 1, None))).unwrap();
        let added = beyond_fill(&config, &state);
        let pages = written(&aged(&config, 1, 0.0, || Err(String::new())).unwrap().devices[0]);
        let each = (2 * pages * u64::from(members)).div_ceil(hot.len() as u64);
        let wanted: Vec<u64> =
            (0..members).map(|member| if hot.contains(&member) { each } else { 0 }).collect();
        assert_eq!(added, wanted, "{of}");
    }
}

/// A row of three data pages that are each written once has its parity written three times.
#[test]
fn parity_is_written_as_often_as_all_data_of_its_row() {
    let config = array(Level::Raid4, 4);
    let pages = config.layout().logical_bytes() / PAGE;
    let mut rng = Rng::stream(3, "pages");
    let state = aged(&config, 1, 3.0, || Ok(request(Operation::Write, rng.below(pages), 1, None))).unwrap();
    let added = beyond_fill(&config, &state);
    let data = added[..3].iter().sum::<u64>();
    assert_eq!(data, added[3], "the last member has the parity");
}

#[test]
fn requests_to_one_member_stay_there_and_take_its_parity_along() {
    let config = array(Level::Raid0, 3);
    let state = aged(&config, 2, 1.0, || Ok(request(Operation::Write, 9, 1, Some(2)))).unwrap();
    let added = beyond_fill(&config, &state);
    assert_eq!(added[..2], [0, 0]);
    let config = array(Level::Raid4, 4);
    let state = aged(&config, 2, 1.0, || Ok(request(Operation::Write, 9, 1, Some(2)))).unwrap();
    let added = beyond_fill(&config, &state);
    assert!(added[2] > 0 && added[2] == added[3] && added[..2] == [0, 0], "{added:?}");
}

#[test]
fn what_is_trimmed_is_unmapped() {
    for allocation in [None, Some(Allocation::Dynamic)] {
        let mut config = array(RAID5, 4);
        if let Some(allocation) = allocation {
            config.members.iter_mut().for_each(|member| member.ssd.ftl.allocation = allocation);
        }
        let mut trims = false;
        // Stripes are six pages; the first one is trimmed, the half of the second one is not.
        let state = aged(&config, 2, 1.0, || {
            trims = !trims;
            Ok(if trims {
                request(Operation::Trim, 0, 9, None)
            } else {
                request(Operation::Write, 60, 1, None)
            })
        });
        for ftl in state.unwrap().devices {
            let pages = ftl.shape().logical_pages;
            let live: u32 = (0..ftl.shape().units()).map(|unit| ftl.live_pages(unit)).sum();
            assert_eq!(pages - live, 2, "a unit of two pages, data or parity");
        }
    }
}

#[test]
fn threads_do_not_show() {
    for allocation in [None, Some(Allocation::Dynamic)] {
        let mut config = array(RAID5, 4);
        if let Some(allocation) = allocation {
            config.members.iter_mut().for_each(|member| member.ssd.ftl.allocation = allocation);
        }
        let pages = config.layout().logical_bytes() / PAGE;
        let of = |threads| {
            let mut rng = Rng::stream(3, "pages");
            let mut next = || Ok(request(Operation::Write, rng.below(pages - 9), 1 + rng.below(9), None));
            let state = aged(&config, threads, 3.0, &mut next).unwrap();
            assert!(state.steadiness.windows[1].is_some_and(|window| window > 1.0));
            let bytes = |ftl: &Ftl| {
                let mut bytes = Vec::new();
                ftl.write_tables(&mut bytes).unwrap();
                bytes
            };
            (state.steadiness, state.devices.iter().map(bytes).collect::<Vec<_>>())
        };
        assert!(of(1) == of(3));
    }
}

#[test]
fn what_is_wrong_with_the_load_is_passed_on() {
    let why =
        aged(&array(RAID5, 4), 2, 1.0, || Err("row 7 is not a row".to_owned())).map(|_| ()).unwrap_err();
    assert_eq!(why, AgeingError::Load("row 7 is not a row".to_owned()));
}
