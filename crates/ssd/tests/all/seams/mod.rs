//! What the seam tests share: a small device, and a way to use it up.

use harmonia_engine::Rng;
use harmonia_flash::{Copyback, Geometry, LinkConfig, Timing};
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{
    AllocationUnit, Amount, Ftl, FtlConfig, GcConfig, Policies, PolicyConfig, SsdConfig, SubRequest,
};
use harmonia_types::{IoCause, Operation, SimDuration};

pub const PAGE: u64 = 4096;
pub const READ: SimDuration = SimDuration::from_us(25);
pub const PROGRAM: SimDuration = SimDuration::from_us(200);
pub const ERASE: SimDuration = SimDuration::from_us(1500);

/// `channels` dies of two planes, 32 blocks of 8 pages each, pins of their own; free blocks: hard 2, soft 6.
pub fn config(channels: u32) -> SsdConfig {
    SsdConfig {
        geometry: Geometry {
            channels,
            planes_per_die: 2,
            blocks_per_plane: 32,
            pages_per_block: 8,
            page_size: PAGE as u32,
            own_pins: true,
            ..Geometry::ONE_PLANE
        },
        timing: Timing {
            read: READ.into(),
            program: PROGRAM.into(),
            erase: ERASE,
            transfer: SimDuration::from_us(25),
            copyback: Copyback::Die,
            ..Timing::PLAIN
        },
        link: LinkConfig::of(1_000_000_000),
        ftl: FtlConfig {
            reserved_blocks: Amount::Blocks(10),
            allocation_unit: AllocationUnit::Plane,
            ..FtlConfig::default()
        },
        gc: GcConfig {
            hard_threshold: Amount::Blocks(2),
            soft_threshold: Amount::Blocks(6),
            ..GcConfig::default()
        },
        ..SsdConfig::plain("seams")
    }
}

/// The device full of data, then overwritten at random until every unit has `free` blocks left.
pub fn used(config: &SsdConfig, free: u32) -> Ftl {
    let mut ftl = Ftl::new(config, 1, "device/0").expect("feasible");
    let mut rng = Rng::stream(1, "used");
    let (units, pages) = (ftl.shape().units(), ftl.shape().unit_pages);
    for unit in 0..units {
        let mut write = |lpn| ftl.unit(unit).program(lpn, IoCause::Host, None, &mut NoProbe).expect("room");
        (0..pages).for_each(|lpn| _ = write(lpn));
        while ftl.free_blocks(unit) > free {
            let lpn = rng.below(u64::from(pages)) as u32;
            ftl.unit(unit).program(lpn, IoCause::Host, None, &mut NoProbe).expect("room");
        }
    }
    ftl
}

/// Greedy, blocking, unlimited: a test puts its own policy in its place.
pub fn policies() -> Policies {
    Policies {
        victim: victim::build(&"greedy".into()).expect("registered"),
        schedule: schedule::build(&"blocking".into()).expect("registered"),
        concurrency: concurrency::build(&PolicyConfig::named("unlimited"), 1).expect("registered"),
    }
}

/// One page to or from the device.
pub fn page(token: u32, operation: Operation, lpn: u64) -> SubRequest {
    SubRequest::new(token.into(), operation, lpn * PAGE, PAGE)
}
