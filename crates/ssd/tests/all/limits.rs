//! Where does a device stop working? The last value of a key that works, and the first one that is refused.

use crate::bench::one_die;
use crate::units::four;
use harmonia_flash::{Copyback, PageTimes};
use harmonia_ssd::{
    Allocation, AllocationUnit, Amount, BeginsAt, Destination, Domain, Drain, FreeList, Frontiers,
    LevelingConfig, Order, PolicyConfig, SsdConfig, Superblock, WearConfig, WriteCacheConfig,
};
use harmonia_types::SimDuration;

/// A value given to a device.
type Set<'a> = &'a dyn Fn(&mut SsdConfig, u64);
/// The key at fault, values that work and values that do not, and how one is given.
type Case<'a> = (&'a str, (&'a [u64], &'a [u64]), Set<'a>);

fn with(config: &SsdConfig, set: Set<'_>, value: u64) -> SsdConfig {
    let mut changed = config.clone();
    set(&mut changed, value);
    changed
}

/// Every value of the first list works. Those of the second one are refused, and the key at fault is named.
fn works(config: &SsdConfig, key: &str, (good, bad): (&[u64], &[u64]), set: Set<'_>) {
    for &value in good {
        let refused = with(config, set, value).resolve().err();
        assert_eq!(refused.map(|why| why.to_string()), None, "{key}: {value}");
    }
    for &value in bad {
        let refused = with(config, set, value).resolve().err();
        assert_eq!(refused.map(|why| why.key), Some(key), "{key}: {value}");
    }
}

#[test]
fn dimensions_and_times_have_bounds() {
    const HOUR: u64 = 3_600_000_000_000;
    let die = one_die();
    let geometry: &[Case<'_>] = &[
        ("ssd.geometry.channels", (&[1, 1024], &[0, 1025]), &|c, n| c.geometry.channels = n as u32),
        ("ssd.geometry.chips_per_channel", (&[1, 1024], &[0, 1025]), &|c, n| {
            c.geometry.chips_per_channel = n as u32
        }),
        ("ssd.geometry.dies_per_chip", (&[1, 1024], &[0, 1025]), &|c, n| c.geometry.dies_per_chip = n as u32),
        ("ssd.geometry.planes_per_die", (&[1, 64], &[0, 65]), &|c, n| c.geometry.planes_per_die = n as u32),
        ("ssd.geometry.blocks_per_plane", (&[1 << 20], &[0, (1 << 20) + 1]), &|c, n| {
            c.geometry.blocks_per_plane = n as u32
        }),
        ("ssd.geometry.pages_per_block", (&[1, 65_535], &[0, 65_536]), &|c, n| {
            c.geometry.pages_per_block = n as u32
        }),
        ("ssd.geometry.page_size", (&[512, 1 << 20], &[0, 1000, (1 << 20) + 512]), &|c, n| {
            c.geometry.page_size = n as u32
        }),
        ("ssd.geometry.summary_pages", (&[0, 3], &[4]), &|c, n| c.geometry.summary_pages = n as u32),
        // 65,535 dies, and 65,536.
        ("ssd.geometry.channels", (&[771], &[772]), &|c, n| {
            (c.geometry.channels, c.geometry.chips_per_channel) = (n as u32, 85)
        }),
        // Page numbers of an allocation unit have 32 bits.
        ("ssd.geometry.blocks_per_plane", (&[63], &[64]), &|c, n| {
            (c.geometry.planes_per_die, c.geometry.pages_per_block) = (n as u32, 64);
            c.geometry.blocks_per_plane = 1 << 20;
        }),
        // And so have those of all data: 65,535 dies of 65,536 pages each, or one more.
        ("ssd.geometry.blocks_per_plane", (&[65_540], &[65_541]), &|c, n| {
            (c.geometry.channels, c.geometry.chips_per_channel) = (771, 85);
            (c.geometry.blocks_per_plane, c.geometry.pages_per_block) = (n as u32, 1);
        }),
    ];
    let times: &[Case<'_>] = &[
        ("ssd.timing.read", (&[1, HOUR], &[0, HOUR + 1]), &|c, n| c.timing.read = SimDuration(n).into()),
        ("ssd.timing.program", (&[1, HOUR], &[0, HOUR + 1]), &|c, n| {
            c.timing.program = SimDuration(n).into()
        }),
        ("ssd.timing.erase", (&[1, HOUR], &[0, HOUR + 1]), &|c, n| c.timing.erase = SimDuration(n)),
        ("ssd.link.bandwidth", (&[1000], &[0, 999]), &|c, n| c.link.bandwidth = n),
    ];
    for (key, values, set) in geometry.iter().chain(times) {
        works(&die, key, *values, set);
    }
}

#[test]
fn units_programs_and_caches_have_bounds() {
    let (die, cached): (SsdConfig, Set<'_>) = (one_die(), &|c, n| {
        c.write_cache = WriteCacheConfig { size: Some(n * 4096), ..WriteCacheConfig::default() };
    });
    works(&die, "ssd.write_cache.size", (&[1, 1 << 24], &[0, (1 << 24) + 1]), cached);
    // It holds the units of a program at least.
    works(&four(), "ssd.write_cache.size", (&[4], &[3]), cached);
    works(&four(), "ssd.ftl.mapping_unit", (&[512, 4096, 16_384], &[0, 256, 768, 32_768]), &|c, n| {
        (c.ftl.mapping_unit, c.ftl.reserved_blocks) = (Some(n as u32), Amount::Blocks(6));
    });
    // 192 units in a program.
    works(&four(), "ssd.ftl.mapping_unit", (&[192], &[193]), &|c, n| {
        (c.geometry.page_size, c.ftl.mapping_unit) = (n as u32 * 512, Some(512));
    });
    works(&four(), "ssd.write_cache.drain", (&[2], &[1]), &|c, n| {
        let (size, drain) = (Some(64 * 4096), Drain::Partial);
        c.write_cache = WriteCacheConfig { size, drain, ..WriteCacheConfig::default() };
        (c.geometry.planes_per_die, c.geometry.program_planes) = (2, n as u32);
        c.ftl.reserved_blocks = Amount::Percent(70.0);
    });
    // 2^23 - 1 units in a block of 144 in a page. Half as many in a page are fewer, although a program takes two pages.
    works(&four(), "ssd.ftl.mapping_unit", (&[58_254], &[58_255]), &|c, pages| {
        (c.geometry.page_size, c.ftl.mapping_unit) = (144 * 512, Some(512));
        c.geometry.pages_per_block = pages as u32;
    });
    works(&four(), "ssd.ftl.mapping_unit", (&[58_256], &[]), &|c, pages| {
        (c.geometry.page_size, c.ftl.mapping_unit) = (72 * 512, Some(512));
        (c.geometry.program_pages, c.geometry.pages_per_block) = (2, pages as u32);
    });
    works(&four(), "ssd.geometry.program_planes", (&[1, 2, 4], &[0, 3, 8]), &|c, n| {
        (c.geometry.planes_per_die, c.geometry.program_planes) = (4, n as u32);
        c.ftl.reserved_blocks = Amount::Percent(70.0);
    });
    works(&four(), "ssd.geometry.program_planes", (&[1], &[2]), &|c, n| {
        (c.geometry.planes_per_die, c.geometry.program_planes) = (2, n as u32);
        c.ftl.allocation_unit = AllocationUnit::Plane;
    });
}

#[test]
fn thresholds_have_an_order_and_policies_need_room() {
    let die = one_die();
    works(&die, "ssd.gc.soft_threshold", (&[2], &[0, 1]), &|c, n| {
        c.gc.soft_threshold = Amount::Blocks(n as u32)
    });
    works(&die, "ssd.gc.stop_threshold", (&[1, 2], &[0]), &|c, n| {
        c.gc.stop_threshold = Amount::Blocks(n as u32)
    });
    works(&die, "ssd.ftl.open_blocks", (&[1], &[0]), &|c, n| c.ftl.open_blocks = n as u32);
    works(&die, "ssd.gc.min_victims", (&[1], &[0]), &|c, n| c.gc.min_victims = n as u32);
    let hard = |needs: &dyn Fn(&mut SsdConfig), (good, bad): (&[u64], &[u64])| {
        let set: Set<'_> = &|c, n| {
            (c.gc.hard_threshold, c.geometry.blocks_per_plane) = (Amount::Blocks(n as u32), 32);
            c.ftl.reserved_blocks = Amount::Blocks(12);
            needs(c);
        };
        works(&die, "ssd.gc.hard_threshold", (good, bad), set);
    };
    hard(&|_| {}, (&[0, 1], &[]));
    hard(&|c| c.gc.victim = "random".into(), (&[1], &[0]));
    hard(&|c| c.wear = Some(WearConfig::of(3000)), (&[1], &[0]));
    hard(&|c| c.leveling = Some(LevelingConfig::default()), (&[1], &[0]));
    hard(&|c| c.ftl.frontiers = Frontiers::Separate, (&[1], &[0]));
    // Pages of one victim go to up to three frontiers, or to one.
    hard(&|c| c.ftl.placement = PolicyConfig::named("sepbit"), (&[3], &[0, 1, 2]));
    hard(&|c| c.ftl.placement = PolicyConfig::named("dac"), (&[1], &[0]));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let die = one_die();
    let (destination, level): (Set<'_>, Set<'_>) = (
        &|c, is_dynamic| {
            c.gc.destination = Destination::Device;
            c.ftl.allocation = if is_dynamic == 1 { Allocation::Dynamic } else { Allocation::CWDP };
        },
        &|c, is_device| {
            (c.ftl.allocation, c.leveling) = (Allocation::Dynamic, Some(LevelingConfig::default()));
            c.gc.destination = if is_device == 1 { Destination::Device } else { Destination::Unit };
        },
    );
    works(&die, "ssd.gc.destination", (&[1], &[0]), destination);
    works(&die, "ssd.gc.destination", (&[0], &[1]), level);
    works(&die, "ssd.gc.domain", (&[1], &[2]), &|c, planes| {
        (c.gc.domain, c.geometry.planes_per_die) = (Domain::Plane, planes as u32);
    });
    // 2^32 flash pages of a device whose pages may lie anywhere.
    works(&die, "ssd.ftl.allocation", (&[1023], &[1024]), &|c, channels| {
        (c.geometry.channels, c.geometry.blocks_per_plane) = (channels as u32, 1 << 20);
        c.ftl.allocation = Allocation::Dynamic;
    });
    // Of two units in each die.
    works(&die, "ssd.ftl.allocation", (&[511], &[512]), &|c, channels| {
        (c.geometry.channels, c.geometry.blocks_per_plane) = (channels as u32, 1 << 20);
        (c.geometry.planes_per_die, c.ftl.allocation_unit) = (2, AllocationUnit::Plane);
        c.ftl.allocation = Allocation::Dynamic;
    });
    works(&die, "ssd.ftl.placement", (&[0], &[1]), &|c, is_dynamic| {
        (c.gc.hard_threshold, c.geometry.blocks_per_plane) = (Amount::Blocks(3), 32);
        (c.ftl.placement, c.ftl.reserved_blocks) = (PolicyConfig::named("sepbit"), Amount::Blocks(16));
        c.ftl.allocation = if is_dynamic == 1 { Allocation::Dynamic } else { Allocation::CWDP };
    });
}

/// What a drive needs, and a change that takes it away.
type Need<'a> = (&'a str, &'a dyn Fn(&mut SsdConfig));

/// This drive works, but not with any of these changes. The key at fault is named, and what is needed instead.
fn needs(drive: &SsdConfig, key: &str, changes: &[Need<'_>]) {
    assert_eq!(drive.resolve().err(), None);
    for (what, change) in changes {
        let mut changed = drive.clone();
        change(&mut changed);
        let why = changed.resolve().expect_err(what);
        assert!(why.key == key && why.why.contains(what), "{what}: {why}");
    }
}

fn chooses_planes(config: &mut SsdConfig) {
    config.ftl.allocation = Allocation::DynamicPlane(Order::of_dies("cwd").expect("three letters"));
}

/// Times of two types of pages.
fn two_times() -> PageTimes {
    PageTimes::by_type(&[SimDuration(1_000), SimDuration(2_000)]).expect("two times")
}

#[test]
fn what_programs_of_several_units_need() {
    let mut drive = four();
    (drive.geometry.program_pages, drive.geometry.blocks_per_plane) = (2, 16);
    drive.ftl.reserved_blocks = Amount::Blocks(10);
    let changes: &[Need<'_>] = &[
        ("ssd.geometry.summary_pages = 0", &|c| c.geometry.summary_pages = 2),
        ("ssd.timing.copyback = \"none\"", &|c| c.timing.copyback = Copyback::Die),
        ("ssd.ftl.multi_plane = false", &|c| (c.ftl.multi_plane, c.geometry.planes_per_die) = (true, 2)),
        ("ssd.gc.destination = \"unit\"", &|c| {
            (c.ftl.allocation, c.gc.destination) = (Allocation::Dynamic, Destination::Device);
        }),
        ("an order of four letters", &|c| {
            c.geometry.channels = 2;
            chooses_planes(c);
        }),
        ("one time as ssd.timing.program", &|c| c.timing.program = two_times()),
        ("ssd.gc.schedule = \"io-parallel\"", &|c| c.gc.schedule = "io-parallel".into()),
    ];
    needs(&drive, "ssd.ftl.mapping_unit", changes);
    // The key at fault is one by which a program carries several: planes, or types of pages.
    drive.ftl.mapping_unit = None;
    needs(&drive, "ssd.geometry.program_pages", &changes[..1]);
    (drive.geometry.planes_per_die, drive.geometry.program_planes) = (2, 2);
    needs(&drive, "ssd.geometry.program_planes", &changes[..1]);
}

#[test]
fn what_superblocks_need() {
    let mut drive = one_die();
    (drive.geometry.channels, drive.geometry.planes_per_die) = (2, 2);
    (drive.ftl.superblock, drive.timing.copyback) = (Superblock::Drive, Copyback::None);
    let changes: &[Need<'_>] = &[
        ("2 dies of a drive; 1, 2 work", &|c| c.ftl.superblock = Superblock::Dies(3)),
        ("ssd.write_cache.size", &|c| c.ftl.mapping_unit = Some(2048)),
        ("ssd.ftl.allocation_unit = \"die\"", &|c| c.ftl.allocation_unit = AllocationUnit::Plane),
        ("\"dynamic\" as ssd.ftl.allocation", &|c| {
            c.ftl.allocation_unit = AllocationUnit::Plane;
            chooses_planes(c);
        }),
        ("ssd.gc.destination = \"unit\"", &|c| {
            (c.ftl.allocation, c.gc.destination) = (Allocation::Dynamic, Destination::Device);
        }),
        ("ssd.ftl.multi_plane = false", &|c| c.ftl.multi_plane = true),
        ("ssd.geometry.summary_pages = 0", &|c| c.geometry.summary_pages = 1),
        ("one time for all pages", &|c| c.timing.read = two_times()),
        ("one time for all pages", &|c| c.timing.program = two_times()),
        ("joins no operations", &|c| c.gc.schedule = "io-parallel".into()),
        ("\"read-match\"", &|c| c.gc.victim = "read-match".into()),
        ("ssd.gc.domain = \"die\"", &|c| c.gc.domain = Domain::Channel),
        ("ssd.gc.concurrency.policy = \"unlimited\"", &|c| c.gc.concurrency = "fixed".into()),
    ];
    needs(&drive, "ssd.ftl.superblock", changes);
    // Step by step each die goes on by itself.
    drive.gc.schedule = "preemptive".into();
    let changes: &[Need<'_>] = &[
        ("ssd.ftl.free_list = \"fifo\"", &|c| c.ftl.free_list = FreeList::LeastWorn),
        ("ssd.gc.min_victims = 1", &|c| c.gc.min_victims = 2),
        ("no [ssd.leveling]", &|c| c.leveling = Some(LevelingConfig::default())),
    ];
    needs(&drive, "ssd.ftl.superblock", changes);
}

#[test]
fn what_placement_needs() {
    let mut drive = one_die();
    (drive.geometry.blocks_per_plane, drive.ftl.reserved_blocks) = (32, Amount::Blocks(16));
    (drive.ftl.placement, drive.gc.hard_threshold) = (PolicyConfig::named("sepbit"), Amount::Blocks(3));
    let changes: &[Need<'_>] = &[
        ("an order of four letters", &|c| c.ftl.allocation = Allocation::Dynamic),
        ("ssd.ftl.multi_plane = false", &|c| (c.ftl.multi_plane, c.geometry.planes_per_die) = (true, 2)),
        ("joins no host writes", &|c| c.gc.schedule = "io-parallel".into()),
        ("no [ssd.leveling]", &|c| c.leveling = Some(LevelingConfig::default())),
    ];
    needs(&drive, "ssd.ftl.placement", changes);
}

/// Collection ends at two free blocks, and a frontier takes a third one.
#[test]
fn spare_is_what_collection_needs() {
    type Change<'a> = &'a dyn Fn(&mut SsdConfig);
    let cases: [(u64, Change<'_>); 6] = [
        (3, &|_| {}),
        (4, &|c| c.ftl.frontiers = Frontiers::Separate),
        (4, &|c| c.gc.begins_at = BeginsAt::Soft),
        (4, &|c| c.ftl.allocation = Allocation::Dynamic),
        (5, &|c| c.gc.stop_threshold = Amount::AboveHard(2)),
        // Each of 16 blocks of four units may lack three: 12 blocks' worth.
        (15, &|c| {
            (c.geometry.page_size, c.ftl.mapping_unit, c.geometry.pages_per_block) = (16_384, Some(4096), 1);
            c.timing.copyback = Copyback::None;
        }),
    ];
    for (least, change) in cases {
        works(&one_die(), "ssd.ftl.reserved_blocks", (&[least, 15], &[least - 1, 16]), &|c, reserved| {
            c.geometry.blocks_per_plane = 16;
            c.ftl.reserved_blocks = Amount::Blocks(reserved as u32);
            change(c);
        });
    }
    let refused = |blocks, reserved| {
        let mut config = one_die();
        (config.geometry.blocks_per_plane, config.ftl.reserved_blocks) = (blocks, Amount::Blocks(reserved));
        config.resolve().unwrap_err().to_string()
    };
    let why = refused(8, 2);
    assert!(
        why.contains("stop = 1 blocks free and 1 write frontier(s); at least 3 spare blocks (37.5%)"),
        "{why}"
    );
    // Shares are rounded up to a tenth.
    let why = refused(7, 2);
    assert!(why.contains("at least 3 spare blocks (42.9%)"), "{why}");
    let mut wears = one_die();
    (wears.wear, wears.geometry.blocks_per_plane) = (Some(WearConfig::of(3000)), 7);
    wears.ftl.reserved_blocks = Amount::Blocks(3);
    let why = wears.resolve().unwrap_err().to_string();
    assert!(why.contains("3 spare blocks per allocation unit are all needed"), "{why}");
    assert!(why.contains("at least 4 spare blocks (57.2%) would work"), "{why}");
    let why = refused(4, 4);
    assert!(why.contains("4 of 4 blocks leave no room for data; at most 3 work"), "{why}");
    let why = refused(3, 3);
    assert!(why.contains("has only 3 blocks; more than 3 are needed"), "{why}");
}

/// Two dies of 8 blocks of 4 pages, 4 blocks spare, where collection needs 3, or 4 if pages may lie anywhere.
#[test]
fn the_numbers_of_a_device_follow_from_its_keys() {
    let mut config = one_die();
    config.geometry.channels = 2;
    let shape = config.resolve().unwrap();
    assert_eq!((shape.dies, shape.units(), shape.planes_per_unit, shape.joined), (2, 2, 1, 1));
    assert_eq!((shape.data_pages, shape.page_bits, shape.unit_pages, shape.logical_pages), (4, 2, 16, 32));
    assert_eq!((shape.hard, shape.soft, shape.stop, shape.ages_at), (1, 2, 1, 1));
    assert_eq!((shape.may_retire, shape.most_live, shape.block_bytes), (1, None, 2 * 4 * 4096));
    config.ftl.allocation = Allocation::Dynamic;
    let shape = config.resolve().unwrap();
    assert_eq!((shape.may_retire, shape.most_live, shape.is_dynamic()), (0, Some(20), true));
    config.gc.begins_at = BeginsAt::Soft;
    config.ftl.reserved_blocks = Amount::Blocks(5);
    assert_eq!(config.resolve().unwrap().ages_at, 2);
    // Pages that are not a power of two leave numbers out.
    config.geometry.pages_per_block = 5;
    assert_eq!(config.resolve().unwrap().page_bits, 3);
    // A unit of a page of 16 KiB takes a quarter of its time on the pins, to the nearest nanosecond.
    let mut packed = four();
    for (transfer, of_unit) in [(300, 75), (301, 75), (302, 76), (303, 76)] {
        packed.timing.transfer = SimDuration(transfer);
        assert_eq!(packed.unit_transfer(), SimDuration(of_unit));
    }
}

/// Shares are floored, bytes rounded up; more than there is counts as all.
#[test]
fn amounts_become_blocks() {
    let mut config = one_die();
    config.geometry.blocks_per_plane = 100;
    let mut spare = |amount| {
        config.ftl.reserved_blocks = amount;
        config.resolve().map(|shape| shape.reserved_blocks)
    };
    let block = 4 * 4096;
    for (amount, blocks) in [
        (Amount::Percent(15.0), 15),
        (Amount::Percent(15.99), 15),
        (Amount::Blocks(7), 7),
        (Amount::Bytes(9 * block), 9),
        (Amount::Bytes(9 * block + 1), 10),
        (Amount::AboveHard(6), 7),
        (Amount::BytesAboveHard(6 * block + 1), 8),
    ] {
        assert_eq!(spare(amount), Ok(blocks), "{amount}");
    }
    let why = spare(Amount::Bytes(u64::MAX)).unwrap_err().to_string();
    assert!(why.contains("100 of 100 blocks leave no room"), "{why}");
}

/// What a block endures is drawn about the mean, by drive and by block; and a drive lasts until a share of its spare is lost.
#[test]
fn blocks_endure_what_drives_and_blocks_draw() {
    let same = WearConfig { spread: 0.0, drive_spread: 0.0, ..WearConfig::of(1000) };
    assert_eq!(same.endurance_of(1, 2, 3, 4), 1000);
    let drives = WearConfig { spread: 0.0, ..WearConfig::of(1000) };
    let of_drive = drives.of_drive(1, 2);
    assert_eq!(drives.endurance_of(1, 2, 3, 4), (1000.0 * of_drive).round() as u32);
    let wide = WearConfig { spread: 0.5, drive_spread: 0.0, ..WearConfig::of(1000) };
    let drawn: Vec<f64> = (0..4000).map(|block| f64::from(wide.endurance_of(1, 0, 0, block))).collect();
    let mean = drawn.iter().sum::<f64>() / 4000.0;
    assert!((mean - 1000.0).abs() < 50.0 && drawn.iter().all(|&erases| erases >= 1.0), "{mean}");
    let used = WearConfig { used: 0.25, ..WearConfig::of(1001) };
    assert_eq!(used.used_erases(), 250);
    // Half of 9 spare blocks is 5 of them, but no more than a unit can do without.
    assert_eq!(
        [(9, 9), (10, 9), (9, 4), (1, 1)].map(|(spare, most)| same.ends_at(spare, most)),
        [5, 5, 4, 1]
    );
}
