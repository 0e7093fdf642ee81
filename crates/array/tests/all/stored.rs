//! Does an aged state come back from a file as it went in, or else not at all?
//!
//! And does ageing still mean what the files of [`AGEING_VERSION`] hold?

use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::common::{PAGE, level, one_die, raid0};
use harmonia_array::{AGEING_VERSION, AgedState, AgeingPlan, ArrayConfig, COUNTED_FROM, Level, age};
use harmonia_ssd::gc::victim;
use harmonia_ssd::{Allocation, AllocationUnit, Amount, Frontiers, Order, SsdConfig, Superblock};
use xxhash_rust::xxh3::xxh3_64;

const KEY: &str = "two members";

fn aged(config: &ArrayConfig, fill: f64) -> AgedState {
    let plan = AgeingPlan {
        fill,
        overwrite: 3.0,
        within: None,
        counted_from: COUNTED_FROM,
        seed: 7,
        threads: 2,
        cancel: &AtomicBool::new(false),
        pages_done: &AtomicU64::new(0),
    };
    age(config, &plan).expect("a device that can work")
}

/// Two planes, two dies, groups of blocks that do not come out even.
fn device() -> SsdConfig {
    let mut ssd = one_die(70, 8, 20);
    ssd.geometry.channels = 2;
    ssd.geometry.planes_per_die = 2;
    ssd.gc.hard_threshold = Amount::Blocks(3);
    ssd
}

fn bytes(state: &AgedState) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.write(KEY, &mut bytes).expect("memory takes everything");
    bytes
}

fn read(config: &ArrayConfig, bytes: &[u8]) -> Result<AgedState, String> {
    AgedState::read(KEY, config, bytes.len() as u64, &mut &bytes[..]).map_err(|error| error.to_string())
}

/// As nothing is filled, there is no parity either: arrays of all levels may begin with the same state.
#[test]
fn a_share_that_rounds_to_no_page_fills_nothing() {
    let config = level(Level::Raid5(Default::default()), &one_die(16, 4, 4), 3, PAGE);
    let state = aged(&config, 1e-9);
    assert!(state.devices.iter().all(|ftl| ftl.tally().data_programs() == 0));
}

fn dynamic_plane() -> Allocation {
    Allocation::DynamicPlane(Order::of_dies("cwd").expect("three letters"))
}

/// Every unit in turn: shared and separate frontiers, all and half of the space in use.
#[test]
fn what_is_read_back_is_what_was_aged() {
    for (allocation, frontiers, unit, fill) in [
        (Allocation::CWDP, Frontiers::Shared, AllocationUnit::Die, 1.0),
        (Allocation::CWDP, Frontiers::Separate, AllocationUnit::Plane, 1.0),
        (Allocation::CWDP, Frontiers::Separate, AllocationUnit::Die, 0.5),
        (Allocation::CWDP, Frontiers::Shared, AllocationUnit::Plane, 0.0),
        (Allocation::Dynamic, Frontiers::Shared, AllocationUnit::Plane, 1.0),
        (dynamic_plane(), Frontiers::Separate, AllocationUnit::Plane, 1.0),
        (dynamic_plane(), Frontiers::Shared, AllocationUnit::Plane, 0.5),
        (Allocation::Dynamic, Frontiers::Separate, AllocationUnit::Die, 0.5),
    ] {
        let mut ssd = device();
        (ssd.ftl.allocation, ssd.ftl.frontiers, ssd.ftl.allocation_unit) = (allocation, frontiers, unit);
        let config = raid0(&ssd, 2, 4096);
        let state = aged(&config, fill);
        let written = bytes(&state);
        let back = read(&config, &written).expect("whole");
        assert_eq!(bytes(&back), written);
        assert_eq!(back.steadiness, state.steadiness);
        for (one, other) in state.devices.iter().zip(&back.devices) {
            other.audit();
            for unit in 0..one.shape().units() {
                let best = |ftl: &harmonia_ssd::Ftl| ftl.blocks(unit).fewest_valid();
                assert_eq!(best(one), best(other), "greedy victim of unit {unit}");
                for block in 0..one.shape().blocks_per_unit {
                    // The reverse map, rebuilt, finds the same live pages.
                    let live = |ftl: &harmonia_ssd::Ftl| {
                        let mut next = ftl.next_live(unit, block, 0);
                        let mut pages = Vec::new();
                        while let Some(page) = next {
                            pages.push(page);
                            next = ftl.next_live(unit, block, page + 1);
                        }
                        pages
                    };
                    assert_eq!(live(one), live(other), "unit {unit} block {block}");
                }
            }
        }
    }
}

#[test]
fn any_byte_changed_and_any_end_missing_is_noticed() {
    let config = raid0(&device(), 2, 4096);
    let whole = bytes(&aged(&config, 1.0));
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(read(&config, &damaged).is_err(), "byte {at} of {}", whole.len());
    }
    for length in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        assert!(read(&config, &whole[..length]).is_err(), "cut at {length}");
    }
    assert!(read(&config, &[&whole[..], b"more"].concat()).is_err());
    assert!(read(&config, b"").is_err());
}

/// A checksum that happens to fit must not lead to a panic: tables and units that contradict each other are refused.
#[test]
fn tables_that_cannot_be_are_refused_without_their_checksum_too() {
    let ssd = device();
    let config = raid0(&ssd, 1, 4096);
    let state = aged(&config, 1.0);
    let device = &state.devices[0];
    let mut tables = Vec::new();
    device.write_tables(&mut tables).expect("memory takes everything");
    let read =
        |tables: &[u8]| harmonia_ssd::Ftl::read_tables(&ssd, device.unit_states().to_vec(), &mut &tables[..]);
    read(&tables).expect("whole");
    let blocks = device.shape().units() as usize * device.shape().blocks_per_unit as usize;
    for at in 0..tables.len() {
        for bit in [0, 4, 7] {
            let mut damaged = tables.clone();
            damaged[at] ^= 1 << bit;
            // No change of a block's state or valid count agrees with the rest; one of its wear may.
            assert!(read(&damaged).is_err() || at >= 2 * blocks, "byte {at}");
        }
    }
    assert!(read(&tables[..tables.len() - 1]).is_err());
}

/// The first half of the space and a little more is what is filled, whichever units its pages are in.
#[test]
fn a_part_is_filled_from_its_first_page_on_in_every_order() {
    for order in Order::all() {
        for unit in [AllocationUnit::Die, AllocationUnit::Plane] {
            let mut ssd = device();
            (ssd.geometry.chips_per_channel, ssd.geometry.dies_per_chip) = (3, 2);
            (ssd.ftl.allocation, ssd.ftl.allocation_unit) = (Allocation::Static(order), unit);
            let state = aged(&raid0(&ssd, 1, 4096), 0.5035);
            let (ftl, shape) = (&state.devices[0], state.devices[0].shape());
            let filled = (f64::from(shape.logical_pages) * 0.5035).round() as u32;
            for page in 0..shape.logical_pages {
                let (_, unit, lpn) = shape.locate(page);
                assert_eq!(ftl.lookup(unit, lpn).is_some(), page < filled, "{order}: page {page}");
            }
        }
    }
}

#[test]
fn the_state_of_another_array_is_not_taken() {
    let config = raid0(&device(), 2, 4096);
    let whole = bytes(&aged(&config, 1.0));
    let other = AgedState::read("three members", &config, whole.len() as u64, &mut &whole[..]);
    assert!(other.expect_err("refused").to_string().contains("another array"));
    assert!(read(&raid0(&device(), 3, 4096), &whole).is_err());
}

/// What [`AGEING_VERSION`] stands for. If this fails because ageing has changed, raise `AGEING_VERSION` and put the new
/// hashes here in the same commit: files of the old meaning are then left alone. A new policy only gets a row.
#[cfg(target_endian = "little")]
#[test]
fn the_same_version_ages_alike() {
    const VERSION: u32 = 5;
    const GOLDEN: &[(&str, u64)] = &[
        ("greedy", 0xe89c_0905_c85c_122b),
        ("cost-benefit", 0x81b5_580f_0143_94e0),
        ("fifo", 0x068c_8dc5_3556_f9d3),
        ("random", 0xbabd_3fac_3844_2a54),
        ("d-choices", 0xe74b_0a32_6d72_9a27),
        ("read-match", 0xe89c_0905_c85c_122b),
    ];
    assert_eq!(AGEING_VERSION, VERSION, "the hashes here are those of another version");
    let mut found = Vec::new();
    for entry in victim::REGISTRY {
        let mut all = Vec::new();
        for (frontiers, unit, fill) in
            [(Frontiers::Shared, AllocationUnit::Die, 1.0), (Frontiers::Separate, AllocationUnit::Plane, 0.7)]
        {
            let mut ssd = device();
            (ssd.ftl.frontiers, ssd.ftl.allocation_unit) = (frontiers, unit);
            ssd.gc.victim = entry.name.into();
            all.extend(bytes(&aged(&raid0(&ssd, 2, 4096), fill)));
        }
        found.push((entry.name, xxh3_64(&all)));
    }
    let golden = |name| GOLDEN.iter().find(|golden| golden.0 == name).map(|golden| golden.1);
    let other: Vec<_> = found.iter().filter(|(name, hash)| golden(*name) != Some(*hash)).collect();
    assert!(other.is_empty(), "has ageing changed? {other:#018x?}");
}

/// The same of drives whose dies share their blocks.
#[cfg(target_endian = "little")]
#[test]
fn the_same_version_ages_superblocks_alike() {
    const GOLDEN: u64 = 0xb55f_e6f5_3f42_a027;
    let mut all = Vec::new();
    for policy in ["greedy", "cost-benefit", "fifo", "random", "d-choices"] {
        for (frontiers, fill) in [(Frontiers::Shared, 1.0), (Frontiers::Separate, 0.7)] {
            let mut ssd = device();
            (ssd.ftl.superblock, ssd.ftl.frontiers) = (Superblock::Drive, frontiers);
            ssd.gc.victim = policy.into();
            all.extend(bytes(&aged(&raid0(&ssd, 2, 4096), fill)));
        }
    }
    assert_eq!(xxh3_64(&all), GOLDEN, "has ageing changed? {:#018x}", xxh3_64(&all));
}
