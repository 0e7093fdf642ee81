//! One run: a random array under a random load, compared with the truth all the way and as a whole at the end.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex};

use harmonia_array::payload;
use harmonia_array::{ArrayConfig, ArrayFailure, Condition, Mishap, MishapKind, Reads, WriteHole};
use harmonia_engine::Rng;
use harmonia_ssd::Ftl;
use harmonia_ssd::probe::any;
use harmonia_types::{DeviceId, HostRequest, Operation, SimTime};

use super::content::Content;
use super::damage::Damage;
use super::flash::Flash;
use super::places::Places;
use super::power::{Outages, PowerCounts};
use super::rebuild::{Kept, check_copies, check_power_loss, check_row, flash};
use super::scenario::{Load, array, degraded_writes, faults, losses_of_power, stripe_cache};
use super::volatile::forgets;
use super::world::{Contents, World};

/// How to run.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub seed: u64,
    pub requests: u64,
    pub locks: Locks,
    /// Whether members fail, are slow, are replaced and rebuilt, and pages cannot be read.
    pub faults: bool,
    /// Whether power is lost, and a member fails afterwards.
    pub power: bool,
}

/// When transactions wait for one another's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locks {
    Always,
    /// Not from the moment on at which a member is being rebuilt.
    UntilRebuild,
    Never,
}

/// What went wrong, with everything needed to see it again.
pub struct Failure {
    pub options: Options,
    pub what: String,
    pub config: Box<ArrayConfig>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}\n{:#?}\n{:?}: {}", self.options, self.config, self.options, self.what)
    }
}

/// Says which run it was when an assertion fails in it, here or in the simulator.
struct OnPanic<'a>(&'a Options, &'a ArrayConfig);

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{:#?}\n{:?}", self.1, self.0);
        }
    }
}

/// What was exercised.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    pub requests: u64,
    pub flushes: u64,
    /// Writes with FUA.
    pub fua: u64,
    pub pinned: u64,
    pub page_reads: u64,
    pub programs: u64,
    pub merges: u64,
    pub moves: u64,
    pub trims: u64,
    pub erases: u64,
    /// Pages of maps that were read.
    pub maps: u64,
    /// Pages, and trims of pages, that losses of power took from write caches.
    pub forgotten: u64,
    pub row_waits: u64,
    pub rows_read_modify_write: u64,
    pub rows_reconstruct_write: u64,
    pub rows_full: u64,
    pub trims_ignored_bytes: u64,
    /// Sectors that host reads returned, all compared.
    pub sectors_read: u64,
    /// Rows of parity arrays checked before the end of their runs.
    pub rows_checked: u64,
    /// Sectors of members and of pairs of members rebuilt from the others.
    pub rebuilt: u64,
    /// Sectors of second and further copies compared with the first.
    pub copies_compared: u64,
    /// Sectors looked at as if the power had failed.
    pub power_losses: u64,
    /// Sectors that reads found out from other members than theirs.
    pub rebuilt_for_reads: u64,
    /// Pages of reads that were planned around members, and of those that waited all the same.
    pub rebuilt_pages: u64,
    pub waited_pages: u64,
    pub hedges: u64,
    pub hedges_won: u64,
    /// Pages parked, written back, overwritten while parked, and operations that found no room.
    pub parked: u64,
    pub destaged: u64,
    pub superseded: u64,
    pub full_waits: u64,
    /// What the stripe cache did: units not read, writes merged, rows filled by that, pre-reads put off, waits for entries.
    pub cache_hits: u64,
    pub merged: u64,
    pub rows_filled: u64,
    pub delays: u64,
    pub entry_waits: u64,
    /// Members that failed, of these those that were worn out, members that were replaced, and rebuilt.
    pub failures: u64,
    pub worn_out: u64,
    pub replacements: u64,
    pub rebuilds: u64,
    /// Members copied to spares as a whole, and members that failed while that went on.
    pub copies: u64,
    pub failovers: u64,
    /// Pages that could not be read, and pages written anew for that.
    pub unreadable: u64,
    pub rewritten: u64,
    /// Pages of members built in replacements, and compared.
    pub built: u64,
    pub scrubbed: u64,
    /// Pages of reads that were read without members that failed or could not read them.
    pub rebuilt_for_losses: u64,
    /// Sectors that failures took; sectors that reads did without.
    pub lost: u64,
    pub unread: u64,
    /// The array's own count of pages: not read, not written, not rebuilt.
    pub unread_pages: u64,
    pub unwritten_pages: u64,
    pub lost_pages: u64,
    /// Histories in which nothing was lost.
    pub without_loss: u64,
    /// What a log has cost, and rows that were made right by it.
    pub logged: u64,
    pub log_pages: u64,
    pub log_waits: u64,
    pub replayed_rows: u64,
    /// Writes of a write-intent bitmap, bits cleared, writers that waited for one, and chunks that were gone through.
    pub marks: u64,
    pub marks_cleared: u64,
    pub mark_waits: u64,
    pub dirty_chunks: u64,
    /// Sectors that at the end could hold either of several writes that had overlapped.
    pub uncertain: u64,
    /// All logical sectors of all arrays.
    pub sectors_at_end: u64,
    pub levels: BTreeSet<String>,
    pub policies: BTreeSet<String>,
    pub schedules: BTreeSet<String>,
    pub members: BTreeSet<u16>,
    pub power: PowerCounts,
    /// Reads that found again what another one had found since a loss of power.
    pub seen_again: u64,
}

impl Counts {
    /// Pages that members have read, programmed or moved.
    pub fn operations(&self) -> u64 {
        self.page_reads + self.programs + self.moves
    }

    pub fn add(&mut self, other: Counts) {
        self.requests += other.requests;
        self.flushes += other.flushes;
        self.fua += other.fua;
        self.pinned += other.pinned;
        self.page_reads += other.page_reads;
        self.programs += other.programs;
        self.merges += other.merges;
        self.moves += other.moves;
        self.trims += other.trims;
        self.erases += other.erases;
        self.maps += other.maps;
        self.forgotten += other.forgotten;
        self.row_waits += other.row_waits;
        self.rows_read_modify_write += other.rows_read_modify_write;
        self.rows_reconstruct_write += other.rows_reconstruct_write;
        self.rows_full += other.rows_full;
        self.trims_ignored_bytes += other.trims_ignored_bytes;
        self.sectors_read += other.sectors_read;
        self.rows_checked += other.rows_checked;
        self.rebuilt += other.rebuilt;
        self.copies_compared += other.copies_compared;
        self.power_losses += other.power_losses;
        self.rebuilt_for_reads += other.rebuilt_for_reads;
        self.rebuilt_pages += other.rebuilt_pages;
        self.waited_pages += other.waited_pages;
        self.hedges += other.hedges;
        self.hedges_won += other.hedges_won;
        self.parked += other.parked;
        self.destaged += other.destaged;
        self.superseded += other.superseded;
        self.full_waits += other.full_waits;
        self.cache_hits += other.cache_hits;
        self.merged += other.merged;
        self.rows_filled += other.rows_filled;
        self.delays += other.delays;
        self.entry_waits += other.entry_waits;
        self.failures += other.failures;
        self.worn_out += other.worn_out;
        self.replacements += other.replacements;
        self.rebuilds += other.rebuilds;
        self.copies += other.copies;
        self.failovers += other.failovers;
        self.unreadable += other.unreadable;
        self.rewritten += other.rewritten;
        self.built += other.built;
        self.scrubbed += other.scrubbed;
        self.rebuilt_for_losses += other.rebuilt_for_losses;
        self.lost += other.lost;
        self.unread += other.unread;
        self.unread_pages += other.unread_pages;
        self.unwritten_pages += other.unwritten_pages;
        self.lost_pages += other.lost_pages;
        self.without_loss += other.without_loss;
        self.logged += other.logged;
        self.log_pages += other.log_pages;
        self.log_waits += other.log_waits;
        self.replayed_rows += other.replayed_rows;
        self.marks += other.marks;
        self.marks_cleared += other.marks_cleared;
        self.mark_waits += other.mark_waits;
        self.dirty_chunks += other.dirty_chunks;
        self.uncertain += other.uncertain;
        self.sectors_at_end += other.sectors_at_end;
        self.levels.extend(other.levels);
        self.policies.extend(other.policies);
        self.schedules.extend(other.schedules);
        self.members.extend(other.members);
        self.power.add(&other.power);
        self.seen_again += other.seen_again;
    }
}

/// Members that failed while they were copied.
fn failovers(mishaps: &[Mishap]) -> u64 {
    let was_copied = |place: usize, device| {
        let mut before = mishaps[..place].iter().rev();
        let last = before.find(|mishap| mishap.device == device && !is_slow(mishap));
        last.is_some_and(|mishap| matches!(mishap.what, MishapKind::Copying(_)))
    };
    let failed = mishaps.iter().enumerate().filter(|(_, mishap)| mishap.what == MishapKind::Failed);
    failed.filter(|(place, mishap)| was_copied(*place, mishap.device)).count() as u64
}

fn is_slow(mishap: &Mishap) -> bool {
    matches!(mishap.what, MishapKind::Slow(_))
}

/// An array that is being driven.
pub(super) struct Run<C: Content> {
    pub array: Kept,
    pub world: Arc<Mutex<World<C>>>,
    pub now: SimTime,
    pub power: PowerCounts,
    /// A log says what was being written.
    pub(super) has_log: bool,
    /// The last acknowledgement; it may lie ahead.
    acknowledged: SimTime,
    /// Requests submitted, and those not complete.
    submitted: u64,
    under_way: usize,
    counts: Counts,
}

/// Runs one history.
///
/// # Errors
/// The first wrong contents found.
pub fn run<C: Content>(options: Options) -> Result<Counts, Failure> {
    run_on::<C>(config_of(options), options, |_| {})
}

/// The array of a history.
pub fn config_of(options: Options) -> ArrayConfig {
    let mut config = array(options.seed);
    config.degraded_writes = degraded_writes(options.seed);
    if options.locks == Locks::Always {
        config.stripe_cache = stripe_cache(options.seed, &config);
    }
    if options.faults {
        config.faults = faults(options.seed, options.requests, &config);
    }
    if options.power {
        config.faults = losses_of_power(options.seed, options.requests, &config);
    }
    config
}

/// Runs a history of this array, once it is as wanted.
///
/// # Errors
/// The first wrong contents found.
pub fn run_on<C: Content>(
    config: ArrayConfig,
    options: Options,
    prepare: impl FnOnce(&mut Kept),
) -> Result<Counts, Failure> {
    let _guard = OnPanic(&options, &config);
    let result = Run::<C>::new(&config, options).and_then(|mut run| {
        prepare(&mut run.array);
        run.drive(&config, options)
    });
    result.map_err(|what| Failure { options, what, config: Box::new(config.clone()) })
}

impl<C: Content> Run<C> {
    fn new(config: &ArrayConfig, options: Options) -> Result<Self, String> {
        let mut states = Vec::new();
        let faults = &config.faults;
        let devices = config.members.iter().chain(&faults.spares).chain(&faults.journal);
        for (index, member) in devices.enumerate() {
            let state = Ftl::new(&member.ssd, options.seed, &format!("device/{index}"));
            states.push(state.map_err(|why| why.to_string())?);
        }
        let shape = states[0].shape().clone();
        let places = Places::new(&config.layout(), config.page_size());
        let page_sectors = places.page_sectors;
        let redundancy = match config.level.parities() {
            0 => places.copies(0).len() - 1,
            parities => usize::from(parities),
        };
        let spares = config.faults.spares.len();
        let lines = (places.layout.clone(), places.lines());
        let damage = Damage::new(config.devices, spares, page_sectors, redundancy, lines);
        let damage = if faults.journal.is_some() { damage.with_journal() } else { damage };
        let mut world = World::new(places, damage);
        world.logs.is_bitmap = matches!(faults.write_hole, WriteHole::Bitmap { .. });
        // What was refused in part and then lost with its member is read again as a whole.
        world.races = matches!(config.knowledge.reads, Reads::Hedge(_))
            || config.coordination.policy == "hedge"
            || options.faults
            || options.power;
        world.truth.is_volatile = config.members.iter().any(|member| forgets(&member.ssd.write_cache));
        let world = Arc::new(Mutex::new(world));
        let flash = |member: DeviceId| any(Flash::new(world.clone(), member, &shape, page_sectors));
        let mut array = Kept::with_payload(config, states, payload::any(Contents(world.clone())), flash)?;
        if options.locks == Locks::Never {
            array.without_row_locks();
        }
        let (now, counts) = (SimTime::ZERO, Counts::default());
        let power = PowerCounts::default();
        let has_log = matches!(faults.write_hole, WriteHole::Journal(_) | WriteHole::PartialParityLog(_));
        Ok(Run { array, world, now, power, has_log, acknowledged: now, submitted: 0, under_way: 0, counts })
    }

    fn drive(mut self, config: &ArrayConfig, options: Options) -> Result<Counts, String> {
        let mut load = Load::new(options.seed, config);
        let mut rng = Rng::stream(options.seed, "contents/checks");
        self.array.set_deadlines(load.deadlines);
        let mut outages = Outages::new(options.seed, config);
        for id in 0..options.requests {
            if options.locks == Locks::UntilRebuild && self.is_building() {
                self.array.without_row_locks();
            }
            let next = self.now + load.pause();
            self.watch_nvram(next, &mut outages)?;
            self.advance(next)?;
            self.wait_for(load.depth - 1)?;
            let request = load.next(id, self.now);
            self.submit(request)?;
            if options.power {
                self.go_through(&mut outages)?;
            }
            if rng.chance(0.1) && !self.is_refused() {
                self.check_somewhere(&mut rng)?;
            }
            if rng.chance(0.03) && !self.is_refused() {
                self.counts.power_losses += check_power_loss(&self.array, &self.world, self.now)?;
            }
        }
        self.finish(rng.chance(0.5))?;
        Ok(self.tally(config))
    }

    fn submit(&mut self, request: HostRequest) -> Result<(), String> {
        self.counts.pinned += u64::from(request.member.is_some());
        self.counts.flushes += u64::from(request.operation == Operation::Flush);
        self.counts.fua += u64::from(request.fua);
        self.submitted += 1;
        self.under_way += 1;
        let result = self.array.submit(request);
        self.take_note(result)
    }

    pub(super) fn advance(&mut self, until: SimTime) -> Result<(), String> {
        let result = self.array.advance_until(until);
        self.now = until;
        self.take_note(result)
    }

    pub(super) fn take_note(&mut self, result: Result<(), ArrayFailure>) -> Result<(), String> {
        result.map_err(|failure| failure.to_string())?;
        for completion in self.array.completions().drain(..) {
            self.under_way -= 1;
            self.acknowledged = self.acknowledged.max(completion.finish);
        }
        self.array.gc_intervals().clear();
        self.array.audit();
        match self.world.lock().expect("one thread").wrong.take() {
            Some(wrong) => Err(wrong),
            None => Ok(()),
        }
    }

    /// Lets time pass until no more than so many requests are under way.
    fn wait_for(&mut self, under_way: usize) -> Result<(), String> {
        while self.under_way > under_way {
            let next = self.array.next_wakeup();
            if next == SimTime::NEVER {
                return Err(format!("{} requests never complete", self.under_way));
            }
            self.advance(next)?;
        }
        Ok(())
    }

    /// Checks a random row, or page, that nobody is changing.
    fn check_somewhere(&mut self, rng: &mut Rng) -> Result<(), String> {
        let (rows, pages) = {
            let world = self.world.lock().expect("one thread");
            let places = &world.places;
            let rows = places.parity().map(|_| places.lines() / places.row_sectors);
            (rows, places.logical_sectors / places.page_sectors)
        };
        let Some(rows) = rows else {
            let page = rng.below(pages);
            self.counts.copies_compared += check_copies(&self.array, &self.world, page, self.now)?;
            return Ok(());
        };
        // The first rows are hot: they are where others have just been.
        let row = if rng.chance(0.5) { rng.below(rows) } else { rng.below(rows.min(8)) };
        if !self.array.is_row_busy(row) {
            self.counts.rows_checked += 1;
            self.counts.rebuilt += check_row(&self.array, &self.world, row, self.now)?;
        }
        Ok(())
    }

    /// Whether a replacement is being built.
    fn is_building(&self) -> bool {
        let mut members = (0..self.array.devices().len() as u16).map(DeviceId);
        members.any(|member| {
            matches!(self.array.health().of(member), Condition::Partial(_)) || self.array.is_copied(member)
        })
    }

    /// Lets everything drain, reads the whole array, and checks every row and copy.
    fn finish(&mut self, rebuilds: bool) -> Result<(), String> {
        self.settle()?;
        while rebuilds && self.is_building() && !self.is_refused() {
            let next = self.array.next_wakeup();
            if next == SimTime::NEVER {
                return Err("a rebuild never ends".into());
            }
            self.advance(next)?;
        }
        self.wait_for_resync(rebuilds)?;
        self.settle()?;
        let request = HostRequest::new(
            self.submitted,
            self.now.max(self.acknowledged),
            Operation::Read,
            0,
            self.array.layout().logical_bytes(),
        );
        self.advance(request.arrival)?;
        self.submit(request)?;
        self.settle()?;
        self.check_holes()?;
        if self.is_refused() { Ok(()) } else { self.check_everything() }
    }

    /// Lets time pass until nothing is under way, what goes on behind requests included.
    pub(super) fn settle(&mut self) -> Result<(), String> {
        self.wait_for(0)?;
        while self.array.transactions_under_way() > 0 {
            let next = self.array.next_wakeup();
            self.advance(next)?;
        }
        Ok(())
    }

    /// Every row, or every page and its copies, now that nobody changes any.
    fn check_everything(&mut self) -> Result<(), String> {
        let (rows, pages, sectors) = {
            let world = self.world.lock().expect("one thread");
            let places = &world.places;
            let rows = places.lines() / places.row_sectors;
            let rows = if places.parity().is_some() { rows } else { 0 };
            (rows, places.logical_sectors / places.page_sectors, places.logical_sectors)
        };
        for row in 0..rows {
            if self.array.is_row_busy(row) {
                return Err(format!("row {row} is busy and nothing is under way"));
            }
            self.counts.rebuilt += check_row(&self.array, &self.world, row, self.now)?;
        }
        if rows == 0 {
            for page in 0..pages {
                self.counts.copies_compared += check_copies(&self.array, &self.world, page, self.now)?;
            }
        }
        let truth = &self.world.lock().expect("one thread").truth;
        if let Some(sector) = (0..sectors).find(|&sector| !truth.is_quiet(sector, self.now)) {
            return Err(format!("a write of logical sector {sector} never ended"));
        }
        self.counts.sectors_at_end = sectors;
        self.counts.uncertain =
            (0..sectors).filter(|&sector| !truth.is_certain(sector, self.now)).count() as u64;
        Ok(())
    }

    /// What the run has exercised.
    fn tally(mut self, config: &ArrayConfig) -> Counts {
        let power = self.tally_power();
        let counts = &mut self.counts;
        counts.power = power;
        counts.requests = self.submitted;
        for device in self.array.every_device() {
            device.ftl().audit();
            let flash = flash::<C>(device).counts;
            counts.page_reads += flash.reads;
            counts.programs += flash.programs;
            counts.merges += flash.merges;
            counts.moves += flash.moves;
            counts.trims += flash.trims;
            counts.erases += flash.erases;
            counts.maps += flash.maps;
            counts.forgotten += flash.lost;
        }
        let of_array = self.array.counters();
        let world = self.world.lock().expect("one thread");
        (counts.sectors_read, counts.rebuilt_for_reads) = (world.sectors_read, world.rebuilt_for_reads);
        (counts.lost, counts.unread, counts.seen_again) = (world.lost, world.unread, world.seen_again);
        let happened = |what: fn(&MishapKind) -> bool| {
            self.array.mishaps().iter().filter(|mishap| what(&mishap.what)).count() as u64
        };
        counts.failures = happened(|what| *what == MishapKind::Failed);
        counts.worn_out = happened(|what| *what == MishapKind::ReadOnly);
        counts.replacements =
            happened(|what| matches!(what, MishapKind::Replaced(_) | MishapKind::StoodIn(_)));
        counts.rebuilds = happened(|what| *what == MishapKind::Rebuilt);
        let (own, page) = (self.array.background_counters(self.now), config.page_size());
        counts.rewritten = own.rewritten_pages;
        counts.copies = own.copies;
        counts.failovers = failovers(self.array.mishaps());
        (counts.built, counts.scrubbed) = (own.rebuilt_bytes / page, own.scrubbed_bytes / page);
        counts.unreadable = of_array.unreadable_pages;
        counts.rebuilt_for_losses = of_array.losses.rebuilt_pages;
        counts.unread_pages = of_array.losses.unread_pages;
        counts.unwritten_pages = of_array.losses.unwritten_pages;
        counts.lost_pages = of_array.losses.lost_pages;
        // Where pages are unreadable, one that is lost may be parity, which no reader misses.
        let lost = if counts.unreadable > 0 { 0 } else { counts.lost_pages };
        let counted = counts.unread_pages + counts.unwritten_pages + lost;
        // A page that could not be written may be written when it is submitted again.
        let is_again = !config.faults.power_losses.is_empty();
        // Known fault: a hedge that finds nothing counts pages as not read, although the read that it races brings them.
        let is_raced = counts.unread_pages == counted && of_array.reads.hedges > 0;
        assert!(
            counted == 0
                || is_again
                || is_raced
                || counts.lost + counts.unread + world.lost_parity + world.half_read > 0,
            "pages were counted as lost, and none was: {:?}",
            of_array.losses
        );
        counts.without_loss = u64::from(counts.lost + counts.unread == 0);
        let log = self.array.log_counters();
        (counts.logged, counts.log_pages) = (log.log_writes, log.log_pages);
        (counts.log_waits, counts.replayed_rows) = (log.full_waits, log.replayed_rows);
        let bitmap = of_array.bitmap;
        (counts.marks, counts.marks_cleared) = (bitmap.writes, bitmap.cleared);
        (counts.mark_waits, counts.dirty_chunks) = (bitmap.waits, bitmap.dirty_chunks);
        counts.rebuilt_pages = of_array.reads.rebuilt_pages;
        counts.waited_pages = of_array.reads.waited_pages;
        (counts.hedges, counts.hedges_won) = (of_array.reads.hedges, of_array.reads.hedges_won);
        counts.parked = of_array.nvram.parked_pages;
        counts.destaged = of_array.nvram.destaged_pages;
        counts.superseded = of_array.nvram.superseded_pages;
        counts.full_waits = of_array.nvram.full_waits;
        counts.row_waits = of_array.redundancy.stripe_waits;
        let cache = of_array.cache;
        (counts.cache_hits, counts.merged, counts.rows_filled) =
            (cache.hits, cache.merged, cache.rows_filled);
        (counts.delays, counts.entry_waits) = (cache.delays, cache.entry_waits);
        counts.rows_read_modify_write = of_array.redundancy.rows_read_modify_write;
        counts.rows_reconstruct_write = of_array.redundancy.rows_reconstruct_write;
        counts.rows_full = of_array.redundancy.rows_full;
        counts.trims_ignored_bytes = of_array.redundancy.trims_ignored_bytes;
        counts.levels.insert(config.level.to_string());
        counts.policies.insert(config.coordination.policy.clone());
        counts.schedules.insert(config.members[0].ssd.gc.schedule.policy.clone());
        counts.members.insert(config.devices);
        self.counts
    }
}
