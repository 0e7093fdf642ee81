//! What a journal or a partial parity log holds: from the moment on at which it is written, until it is read after a power loss.
//!
//! ```text
//! journal   | header | contents of the first write | of the second | ...
//! PPL       | header | parity less the units that are written, row by row     (nothing where rows are written as a whole)
//! ```
//!
//! The contents lie on flash like all others, so an entry that is overwritten too soon, or read in the wrong place, makes wrong
//! members. A replay writes what it has read and nothing else.
//!
//! Not verified: how entries are found; the array knows where they are.

use std::collections::BTreeMap;

use harmonia_array::layout::{Layout, Unit};
use harmonia_array::payload::Owner;
use harmonia_array::planner::{Kind, PlannedOperation, Transaction};
use harmonia_array::{ArrayConfig, Befalls, Fault, Faults, Level, SmallWrite, When, WriteHole};
use harmonia_engine::Rng;
use harmonia_types::{DeviceId, Operation, SimDuration, SimTime};

use super::content::{Content, SECTOR, Stamp};
use super::history::{Counts, Failure, Locks, Options, config_of, run_on};
use super::scenario::{Load, draw, pick};
use super::world::World;

/// Losses of power in a history.
const LOSSES: u64 = 20;

/// How an array that keeps a log is run.
#[derive(Debug, Clone, Copy)]
pub struct Logged {
    pub faults: bool,
    /// Power is lost.
    pub power: bool,
    /// The log is replayed when it is back.
    pub replays: bool,
}

/// Runs a history of an array that keeps a log; none where the seed's array cannot, or has too little to do when it loses power.
pub fn run_logged<C: Content>(seed: u64, requests: u64, how: Logged) -> Option<Result<Counts, Failure>> {
    let options = Options { seed, requests, locks: Locks::Always, faults: how.faults, power: false };
    let mut config = config_of(options);
    if !keep(seed, &mut config) || (how.power && Load::new(seed, &config).depth < 16) {
        return None;
    }
    if how.power {
        lose_power(seed, requests, &mut config);
    }
    Some(run_on::<C>(config, options, |array| {
        if !how.replays {
            array.without_replay();
        }
    }))
}

/// Runs a history with losses of power of an array that keeps a write-intent bitmap; none where the seed's array cannot. Passes
/// are so frequent that bits come and go while writes are under way.
pub fn run_marked<C: Content>(seed: u64, requests: u64) -> Option<Result<Counts, Failure>> {
    let options = Options { seed, requests, locks: Locks::Always, faults: false, power: true };
    let mut config = config_of(options);
    mark(seed, &mut config).then(|| run_on::<C>(config, options, |_| {}))
}

/// A write-intent bitmap for an array. `false` if the level has no use for one, or members have no room.
pub fn mark(seed: u64, config: &mut ArrayConfig) -> bool {
    let mut rng = Rng::stream(seed, "contents/bitmap");
    let chunk = config.stripe_unit * pick(&mut rng, &[1, 1, 2, 3, 8]);
    let delay = SimDuration::from_us(pick(&mut rng, &[5, 40, 300, 3_000, 100_000]));
    let whole = config.layout();
    config.faults.write_hole = WriteHole::Bitmap { chunk, delay };
    let is_redundant = config.level.redundancy(config.devices) > 0;
    let fits =
        config.layout().logical_bytes() * 2 >= whole.logical_bytes() && config.layout().logical_bytes() > 0;
    is_redundant && fits && !matches!(config.level, Level::Draid(_))
}

/// A log that is often full for an array with parity: a journal, or for RAID-5 a partial parity log. `false` if the level has no
/// use for one, or members have no room.
pub fn keep(seed: u64, config: &mut ArrayConfig) -> bool {
    let mut rng = Rng::stream(seed, "contents/log");
    let Layout::Parity(parity) = config.layout() else { return false };
    let (page, unit) = (config.page_size(), config.stripe_unit);
    let with = |config: &ArrayConfig, hole: WriteHole| {
        let journal = matches!(hole, WriteHole::Journal(_)).then(|| config.members[0].clone());
        ArrayConfig {
            faults: Faults { write_hole: hole, journal, ..config.faults.clone() },
            ..config.clone()
        }
    };
    let sizes = |hole: WriteHole, factor| hole.least(&parity, page, unit) * factor;
    let factor = pick(&mut rng, &[1, 1, 2, 5]);
    let journal = sizes(WriteHole::Journal(0), factor);
    let ppl = sizes(WriteHole::PartialParityLog(0), factor);
    let is_ppl = matches!(config.level, Level::Raid5(_)) && rng.chance(0.6);
    let room = config.member_bytes();
    let fits = if is_ppl { ppl + 3 * unit <= room } else { journal <= room };
    if fits {
        let hole = if is_ppl { WriteHole::PartialParityLog(ppl) } else { WriteHole::Journal(journal) };
        *config = with(config, hole);
        // A reconstruct-write mends what is torn.
        config.small_write = pick(&mut rng, &[SmallWrite::ReadModifyWrite, config.small_write]);
    }
    fits
}

/// An array loses power again and again. One of its members is slow, so that others are ahead of it when that happens. Members
/// that fail mostly do so with one of the losses, or a request later.
pub fn lose_power(seed: u64, requests: u64, config: &mut ArrayConfig) {
    let mut rng = Rng::stream(seed, "contents/losses");
    let moment = |_| match rng.below(3) {
        0 => When::Time(SimTime(draw(&mut rng, 1, 60_000_000))),
        _ => When::Request(draw(&mut rng, 1, requests)),
    };
    let losses: Vec<When> = (0..LOSSES).map(moment).collect();
    for fault in config.faults.events.iter_mut().filter(|fault| fault.what == Befalls::Failure) {
        fault.at = match pick(&mut rng, &losses) {
            When::Request(request) => When::Request(request + rng.below(2)),
            When::Time(_) => fault.at,
        };
    }
    config.faults.power_losses = losses;
    let device = DeviceId(rng.below(u64::from(config.devices)) as u16);
    let what = Befalls::Slow(pick(&mut rng, &[1.0, 5.0, 20.0]));
    config.faults.events.push(Fault { device, at: When::Time(SimTime::ZERO), what });
}

/// What is on its way to the log and back.
pub struct Logs<C> {
    /// What the log is to hold.
    images: BTreeMap<(DeviceId, u64), C>,
    /// What lies there is a write-intent bitmap, and nobody looks at what it holds.
    pub is_bitmap: bool,
    /// By handle: transactions that write again what the log says.
    replays: BTreeMap<u32, Replay<C>>,
}

struct Replay<C> {
    /// The transaction whose entry it is.
    of: Transaction,
    writes: Vec<PlannedOperation>,
    log: Vec<PlannedOperation>,
    read: BTreeMap<(DeviceId, u64), C>,
}

impl<C> Default for Logs<C> {
    fn default() -> Self {
        Logs { images: BTreeMap::new(), is_bitmap: false, replays: BTreeMap::new() }
    }
}

/// The sectors of an operation.
fn sectors(operation: &PlannedOperation) -> impl Iterator<Item = (DeviceId, u64)> + use<> {
    let (device, from, to) =
        (operation.device, operation.offset / SECTOR, (operation.offset + operation.length) / SECTOR);
    (from..to).map(move |sector| (device, sector))
}

/// The sectors of a log that come after its header, when so many do.
fn behind_header<'a>(
    log: impl Iterator<Item = &'a PlannedOperation> + Clone,
    carried: u64,
) -> impl Iterator<Item = (DeviceId, u64)> {
    let all: u64 = log.clone().map(|log| log.length / SECTOR).sum();
    let header = all.checked_sub(carried).expect("a log has room for what it carries");
    assert!(header > 0, "an entry begins with a header");
    log.flat_map(sectors).skip(header as usize)
}

impl<C: Content> Logs<C> {
    /// What a write of the log carries.
    pub fn fill(&mut self, operation: &PlannedOperation, contents: &mut Vec<C>) {
        if self.is_bitmap {
            return contents.extend(sectors(operation).map(|place| C::of(Stamp::garbage(u16::MAX, place.1))));
        }
        for place in sectors(operation) {
            contents.push(*self.images.get(&place).expect("the log is written as it was announced"));
        }
    }

    pub fn is_replay(&self, handle: u32) -> bool {
        self.replays.contains_key(&handle)
    }

    pub fn replays(
        &mut self,
        handle: u32,
        of: &Transaction,
        writes: &[PlannedOperation],
        log: &[PlannedOperation],
    ) {
        let read = self.replays.remove(&handle).map(|replay| replay.read).unwrap_or_default();
        let (writes, log) = (writes.to_vec(), log.to_vec());
        self.replays.insert(handle, Replay { of: *of, writes, log, read });
    }

    /// A part of the log has been read.
    pub fn is_read(&mut self, handle: u32, operation: &PlannedOperation, contents: &[C]) {
        let replay = self.replays.get_mut(&handle).expect("a log is read for a replay");
        replay.read.extend(sectors(operation).zip(contents.iter().copied()));
    }

    /// Transactions that read the log begin anew.
    pub fn loses_power(&mut self) {
        self.replays.clear();
    }

    pub fn ends(&mut self, handle: u32) {
        self.replays.remove(&handle);
    }
}

impl<C: Content> Replay<C> {
    /// What has been read of the log for a sector of a member, the writes that carry something given in their order.
    fn logged<'a>(
        &self,
        log: impl Iterator<Item = &'a PlannedOperation> + Clone,
        writes: impl Iterator<Item = &'a PlannedOperation> + Clone,
        place: (DeviceId, u64),
    ) -> Option<C> {
        let carried = writes.clone().map(|write| write.length / SECTOR).sum();
        let mut pairs = writes.flat_map(sectors).zip(behind_header(log, carried));
        let (_, at) = pairs.find(|(written, _)| *written == place)?;
        Some(*self.read.get(&at).expect("a replay has read the log"))
    }
}

impl<C: Content> World<C> {
    /// A transaction is about to write this to the log.
    pub fn keep_log(&mut self, of: Owner<'_>, writes: &[PlannedOperation], log: &[PlannedOperation]) {
        let carry = |write: &&PlannedOperation| write.operation == Operation::Write;
        for place in log.iter().flat_map(sectors) {
            // Whatever was there is overwritten by this.
            self.logs.images.insert(place, C::of(Stamp::garbage(u16::MAX, place.1)));
        }
        if log.iter().all(|log| usize::from(log.device.0) == usize::from(self.places.layout.members())) {
            let mut contents = Vec::new();
            writes.iter().filter(carry).for_each(|write| self.fill_write(of, write, &mut contents));
            let places = behind_header(log.iter(), contents.len() as u64);
            self.logs.images.extend(places.zip(contents));
            return;
        }
        let Some(parity) = self.places.parity().cloned() else { unreachable!("only parity is logged") };
        if of.transaction.kind == Kind::Plain {
            return;
        }
        let mut contents = Vec::new();
        let device = log[0].device;
        for write in writes.iter().filter(|write| write.device == device) {
            let first = contents.len();
            self.fill_write(of, write, &mut contents);
            for unit in of.transaction.units.0..=of.transaction.units.1 {
                let stripe = write.offset / SECTOR / self.places.unit_sectors;
                let data = PlannedOperation { device: parity.data_member(stripe, unit), ..*write };
                let mut written = Vec::new();
                self.fill_write(of, &data, &mut written);
                contents[first..].iter_mut().zip(&written).for_each(|(sum, data)| sum.add(data));
            }
        }
        let places = behind_header(log.iter(), contents.len() as u64);
        self.logs.images.extend(places.zip(contents));
    }

    /// A transaction does again what another one was to do. What a partial parity log says nothing of may be anything: units
    /// that were being written to members which are missing.
    pub fn begin_replay(
        &mut self,
        by: Owner<'_>,
        of: &Transaction,
        writes: &[PlannedOperation],
        log: &[PlannedOperation],
    ) {
        self.logs.replays(by.handle, of, writes, log);
        let Some(parity) = self.places.parity().cloned() else { unreachable!("only parity is logged") };
        if log[0].device.0 == self.places.layout.members() || of.operation == Operation::Trim {
            return;
        }
        for sector in of.rows.first * self.places.row_sectors..of.rows.end() * self.places.row_sectors {
            for unit in of.units.0..=of.units.1 {
                let member = parity.data_member(sector / self.places.unit_sectors, unit);
                if !self.damage.holds(member, sector)
                    && let Some(logical) = self.places.logical(member, sector)
                {
                    self.lose(logical);
                }
            }
        }
    }

    /// What a replay writes.
    pub(super) fn fill_replay(&mut self, of: Owner<'_>, write: &PlannedOperation, contents: &mut Vec<C>) {
        for place in sectors(write) {
            contents.push(self.replayed(of, place));
        }
    }

    fn replayed(&self, of: Owner<'_>, (device, sector): (DeviceId, u64)) -> C {
        let replay = &self.logs.replays[&of.handle];
        let Replay { writes, log, .. } = replay;
        let carry = |write: &&PlannedOperation| write.operation == Operation::Write;
        if log[0].device.0 == self.places.layout.members() {
            let logged = replay.logged(log.iter(), writes.iter().filter(carry), (device, sector));
            return logged.expect("a replay writes what was written");
        }
        if !self.damage.holds(device, sector) {
            // It has failed with the log that it kept, and what is written there is restored later.
            return C::of(Stamp::garbage(device.0, sector));
        }
        let Some(parity) = self.places.parity() else { unreachable!("only parity is logged") };
        let stripe = sector / self.places.unit_sectors;
        assert_eq!(parity.unit_on(stripe, device), Unit::P, "a partial parity log has parity alone");
        let of_member = |operation: &&PlannedOperation| operation.device == device;
        let is_partial = replay.of.kind == Kind::Partial;
        let units = replay.of.units;
        let logged = is_partial.then(|| {
            let (log, writes) = (log.iter().filter(of_member), writes.iter().filter(of_member));
            replay.logged(log, writes, (device, sector)).expect("a replay writes what was written")
        });
        let mut sum = logged.unwrap_or(C::ZERO);
        for unit in units.0..=units.1 {
            let known = self.known(of.handle, parity.data_member(stripe, unit), sector);
            sum.add(&known.expect("a replay has read the units that were being written"));
        }
        sum
    }
}
