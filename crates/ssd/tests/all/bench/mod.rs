//! Literal devices, and a bench that says when something was done.
//!
//! ```text
//! tR 1,000   transfer 300   tPROG 5,000   tBERS 20,000   a page on the link 70
//! ```
//!
//! A unit is 8 blocks of 4 pages, half of them spare: 16 logical pages. Low means at most 1 free block, soft 2.

use harmonia_flash::{Copyback, Geometry, LinkConfig, Timing};
use harmonia_ssd::interface::{Directive, Notice, Stop};
use harmonia_ssd::probe::{AnyProbe, AuditProbe, NoProbe, any};
use harmonia_ssd::{
    AllocationUnit, Amount, Device, Domain, Ftl, FtlConfig, GcConfig, SsdConfig, SubCompletion, SubRequest,
};
use harmonia_types::{Blame, IoCause, Operation, SimDuration, SimTime};

pub const PAGE: u64 = 4096;
pub const LINK: u64 = 70;

/// One die on one channel, pins of its own, no transfer for moves.
pub fn one_die() -> SsdConfig {
    SsdConfig {
        geometry: Geometry {
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_size: PAGE as u32,
            own_pins: true,
            ..Geometry::ONE_PLANE
        },
        timing: Timing {
            read: SimDuration(1_000).into(),
            program: SimDuration(5_000).into(),
            erase: SimDuration(20_000),
            transfer: SimDuration(300),
            copyback: Copyback::Die,
            ..Timing::PLAIN
        },
        link: LinkConfig::of(PAGE * 1_000_000_000 / LINK),
        ftl: FtlConfig { reserved_blocks: Amount::Blocks(4), ..FtlConfig::default() },
        gc: GcConfig { hard_threshold: Amount::Blocks(1), ..GcConfig::default() },
        ..SsdConfig::plain("literal")
    }
}

/// Two dies on two channels: even pages on die 0, odd ones on die 1.
pub fn two_dies() -> SsdConfig {
    let mut config = one_die();
    config.geometry.channels = 2;
    config
}

/// Two dies that share one channel.
pub fn shared_bus() -> SsdConfig {
    let mut config = one_die();
    config.geometry.chips_per_channel = 2;
    config.geometry.own_pins = false;
    config
}

/// Pages of a unit written in this order leave 2 free blocks; the first 12 of the 16 mapped pages are then spread so:
///
/// ```text
/// block 0: 3   block 1: 7   block 2: 10 11   block 3: 12 13 14 15   block 4: 0 1 2 4   block 5: 5 6 8 9
/// ```
pub const TWO_FREE: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 4, 5, 6, 8, 9];

pub struct Bench {
    pub device: Device<AnyProbe>,
    pub known: Vec<SubCompletion>,
}

impl Bench {
    /// A device with nothing on it.
    pub fn empty(config: &SsdConfig) -> Self {
        Self::with(config, &[])
    }

    /// A device whose unit `u` was written in the order of `written[u]`.
    pub fn with(config: &SsdConfig, written: &[&[u32]]) -> Self {
        let mut ftl = Ftl::new(config, 1, "device").unwrap();
        for (unit, lpns) in (0..).zip(written) {
            for &lpn in *lpns {
                // Where a page may lie anywhere it is named by its LPN on the device.
                let dynamic = ftl.shape().is_dynamic();
                let lpn = if dynamic { lpn * ftl.shape().units() + unit } else { lpn };
                ftl.program(unit, lpn, IoCause::Host, None, &mut NoProbe).unwrap();
            }
        }
        Bench { device: Device::new(config, ftl, any(AuditProbe)).unwrap(), known: Vec::new() }
    }

    /// Every unit has 2 free blocks, those in `low` only 1: the next page was written, too.
    pub fn aged(config: &SsdConfig, low: &[u32]) -> Self {
        let units = config.resolve().unwrap().units();
        let lower = [TWO_FREE, &[12]].concat();
        let written: Vec<&[u32]> =
            (0..units).map(|unit| if low.contains(&unit) { &lower[..] } else { TWO_FREE }).collect();
        Self::with(config, &written)
    }

    pub fn advance(&mut self, to: u64) -> &mut Self {
        self.device.advance_until(SimTime(to), false).unwrap();
        self.known.append(self.device.completions());
        self
    }

    pub fn submit(&mut self, at: u64, sub: SubRequest) -> &mut Self {
        self.advance(at);
        self.device.submit(SimTime(at), sub).unwrap();
        self.device.audit();
        self.known.append(self.device.completions());
        self
    }

    pub fn read(&mut self, at: u64, token: u32, page: u64, pages: u64) -> &mut Self {
        self.submit(at, sub(token, Operation::Read, page, pages))
    }

    pub fn write(&mut self, at: u64, token: u32, page: u64, pages: u64) -> &mut Self {
        self.submit(at, sub(token, Operation::Write, page, pages))
    }

    pub fn force(&mut self, at: u64) -> &mut Self {
        self.advance(at).device.direct(SimTime(at), Directive::Force(Stop::Internal));
        self
    }

    pub fn force_idle(&mut self, at: u64) -> &mut Self {
        self.advance(at).device.direct(SimTime(at), Directive::Force(Stop::AllReserve));
        self
    }

    pub fn find(&self, token: u32) -> Option<SubCompletion> {
        self.known.iter().find(|done| done.token == u64::from(token)).copied()
    }

    /// Not known at `t - 1`, known at `t`; finishes at `finish`, with this blame.
    pub fn known_at(&mut self, t: u64, token: u32, finish: u64, blame: Blame) -> SubCompletion {
        if t > 0 {
            self.advance(t - 1);
            assert_eq!(self.find(token), None, "sub-request {token} is not done at {}", t - 1);
        }
        let done = self.advance(t).find(token).unwrap_or_else(|| panic!("{token} is not done at {t}"));
        assert_eq!((done.finish, done.blame), (SimTime(finish), blame), "sub-request {token}");
        done
    }

    pub fn notices(&mut self) -> Vec<(u64, Notice)> {
        self.device.notices().drain(..).map(|(time, notice)| (time.0, notice)).collect()
    }

    /// Known by `t`, as soon as it arrives or another is done; finishes at `finish`, with this blame.
    pub fn known_by(&mut self, t: u64, token: u32, finish: u64, blame: Blame) -> SubCompletion {
        let done = self.advance(t).find(token).unwrap_or_else(|| panic!("{token} is not done at {t}"));
        assert_eq!((done.finish, done.blame), (SimTime(finish), blame), "sub-request {token}");
        done
    }

    /// Runs until nothing is left to do; the intervals in which the device collected.
    pub fn collected(&mut self) -> Vec<(u64, u64)> {
        while self.device.next_wakeup() != SimTime::NEVER {
            self.advance(self.device.next_wakeup().0);
        }
        self.device.gc_intervals().drain(..).map(|(from, to)| (from.0, to.0)).collect()
    }
}

pub fn sub(token: u32, operation: Operation, page: u64, pages: u64) -> SubRequest {
    SubRequest::new(token.into(), operation, page * PAGE, pages * PAGE)
}

pub fn read_blame() -> Blame {
    Blame { service: 1_000, transfer: 300, link: LINK, ..Blame::default() }
}

pub fn write_blame() -> Blame {
    Blame { service: 5_000, transfer: 300, link: LINK, ..Blame::default() }
}

/// A die of so many planes, each with a pool of 9 blocks, 5 of them spare; low means at most 2 free, soft 3. Page p lies
/// in plane p mod `planes`, as page p / `planes` of its pool. A low plane collects alone; every move costs two transfers.
pub fn planes(planes: u32) -> SsdConfig {
    let mut config = one_die();
    config.geometry.planes_per_die = planes;
    config.geometry.blocks_per_plane = 9;
    config.timing.copyback = Copyback::None;
    config.ftl.reserved_blocks = Amount::Blocks(5);
    config.ftl.allocation_unit = AllocationUnit::Plane;
    config.gc.domain = Domain::Plane;
    config.gc.hard_threshold = Amount::Blocks(2);
    config
}

/// Leaves 2 of 9 blocks free. Every first victim holds two pages, at the offsets 2 and 3:
///
/// ```text
/// block 0: - - 2 3   1: - - 6 7   2: - - 10 11   3: - - 14 15   4: - 1 4 5   5: 8 9 12 13   open 6: 0
/// ```
pub const LOW: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 4, 5, 8, 9, 12, 13, 0];

/// Leaves 4 of 9 blocks free and none open.
///
/// ```text
/// block 0: - - 2 3   1: - - 6 7   2: 8 9 10 11   3: 12 13 14 15   4: 0 1 4 5
/// ```
pub const CALM: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 4, 5];

/// Leaves 2 of 8 blocks free and room in an open one, so that collecting opens none.
///
/// ```text
/// block 0: - - 2 3   1: - - 6 7   2: - 9 10 11   3: 12 13 14 15   4: 0 1 4 5   open 5: 8
/// ```
pub const SPREAD: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 4, 5, 8];

/// A partial write of a page.
pub fn partial(token: u32, page: u64) -> SubRequest {
    SubRequest { offset: page * PAGE + 512, length: 1_024, ..sub(token, Operation::Write, page, 1) }
}

/// The event of a unit with 1 free block under `config`, begun at 0 by a read: its length.
pub fn event(config: &SsdConfig) -> u64 {
    let mut bench = Bench::aged(config, &[0]);
    let intervals = bench.read(0, 1, 0, 1).collected();
    assert_eq!((intervals.len(), intervals[0].0), (1, 0), "one event, at once");
    intervals[0].1
}
