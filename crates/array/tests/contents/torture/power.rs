//! Losses of power, and the write hole: what flash says at that moment is what a failure afterwards takes.
//!
//! ```text
//! power lost ─► rows that do not add up ─► resynced: none is left
//!                                     └─► a member fails before: its data in these rows becomes what the others say
//! ```
//!
//! Drives that forget what they cache make more rows that do not add up, and copies that differ: those are known when they have lost it.
//! Until all is gone through, reads find what the first copy had then. Where an array is left in peace before, it has nothing to lose.
//!
//! What a failure will take is computed from flash and NVRAM before the member fails, and again found by the last read of
//! the run: both must be the same, sector by sector. The host submits again what was cut short at once, so a hole is widest at
//! that moment: what a write does not cover is then made of parity that does not agree. Left open are rows that somebody has
//! gone on to write when the member fails later.

use harmonia_array::layout::Parity;
use harmonia_array::{ArrayConfig, WriteHole};
use harmonia_array::{Condition, MishapKind};
use harmonia_engine::Rng;
use harmonia_types::{DeviceId, SimDuration, SimTime};

use super::content::Content;
use super::history::Run;
use super::rebuild::{flash, held, position, rebuild};
use super::volatile::forgets;
use super::world::World;

/// What losses of power have exercised.
#[derive(Debug, Clone, Copy, Default)]
pub struct PowerCounts {
    pub losses: u64,
    /// Requests submitted again.
    pub again: u64,
    /// Sectors of members in rows that did not add up when power was lost, and logical sectors whose copies differed.
    pub unlike: u64,
    pub apart: u64,
    /// Times that power was lost when members had flushed, and lost nothing.
    pub rests: u64,
    /// Resyncs that came to their end, and rows that they wrote anew.
    pub resyncs: u64,
    pub rewritten_rows: u64,
    /// Arrays that did not start any more.
    pub refused: u64,
    /// Failures, and logical sectors that a write hole took with them; those of them that were read at the end.
    pub failures: u64,
    pub predicted: u64,
    pub wrong: u64,
    /// Sectors in rows that were being written when a member failed.
    pub left_open: u64,
}

impl PowerCounts {
    pub fn add(&mut self, other: &PowerCounts) {
        self.losses += other.losses;
        self.again += other.again;
        self.unlike += other.unlike;
        self.apart += other.apart;
        self.rests += other.rests;
        self.resyncs += other.resyncs;
        self.rewritten_rows += other.rewritten_rows;
        self.refused += other.refused;
        self.failures += other.failures;
        self.predicted += other.predicted;
        self.wrong += other.wrong;
        self.left_open += other.left_open;
    }
}

/// When power is lost and a member fails.
pub struct Outages {
    rng: Rng,
    members: u16,
    /// Requests until a member fails, once that is arranged.
    fails_in: Option<u64>,
    may_fail: bool,
    /// Power is lost again although a member is missing.
    is_reckless: bool,
    /// When the array is left in peace before. Only members that keep data for one another flush then.
    rests: Option<Rng>,
    /// When it is lost as NVRAM forgets a page that a write or a discard has replaced. Only caches that forget make that a risk.
    snatches: Option<Rng>,
}

impl Outages {
    pub fn new(seed: u64, config: &ArrayConfig) -> Self {
        let mut rng = Rng::stream(seed, "contents/power");
        // What a failure takes beside a log, `log` knows.
        let has_log =
            matches!(config.faults.write_hole, WriteHole::Journal(_) | WriteHole::PartialParityLog(_));
        let is_redundant = config.level.redundancy(config.devices) > 0;
        let may_fail = is_redundant && rng.chance(0.8) && !has_log;
        let is_reckless = rng.chance(0.2);
        let rests = config.members_forget().then(|| Rng::stream(seed, "contents/rests"));
        let forgets = config.members.iter().any(|member| forgets(&member.ssd.write_cache));
        let snatches =
            (forgets && config.knowledge.nvram > 0).then(|| Rng::stream(seed, "contents/snatches"));
        Outages { rng, members: config.devices, fails_in: None, may_fail, is_reckless, rests, snatches }
    }
}

impl<C: Content> Run<C> {
    /// Another request has arrived: power may be lost, or a member fail.
    pub fn go_through(&mut self, outages: &mut Outages) -> Result<(), String> {
        self.hear_of_resync()?;
        if outages.fails_in == Some(0) {
            outages.may_fail = false;
            let member = DeviceId(outages.rng.below(u64::from(outages.members)) as u16);
            self.lose_member(member, false)?;
        }
        outages.fails_in = outages.fails_in.and_then(|left| left.checked_sub(1));
        let may_lose = self.array.health().is_whole() || outages.is_reckless;
        if !self.is_refused() && outages.rests.as_mut().is_some_and(|rests| rests.chance(0.01)) {
            return self.rest_and_lose_power();
        }
        if may_lose && !self.is_refused() && outages.rng.chance(0.05) {
            self.lose_power()?;
            if outages.may_fail && outages.fails_in.is_none() {
                let (member, taken) = self.worst_to_lose(outages.members);
                if taken > 0 && outages.rng.chance(0.8) {
                    outages.may_fail = false;
                    return self.lose_member(member, true);
                }
            }
            if outages.may_fail && outages.fails_in.is_none() && outages.rng.chance(0.1) {
                let most = if outages.rng.chance(0.5) { 3 } else { 60 };
                outages.fails_in = Some(outages.rng.below(most));
            }
        }
        Ok(())
    }

    /// Lets time pass until then, event by event, and loses power at some of the moments at which NVRAM forgets what was replaced.
    pub fn watch_nvram(&mut self, until: SimTime, outages: &mut Outages) -> Result<(), String> {
        let Some(rng) = &mut outages.snatches else { return Ok(()) };
        let replaced = |run: &mut Self| run.array.counters().nvram.superseded_pages;
        while self.array.next_wakeup() < until && self.array.health().is_whole() && !self.is_refused() {
            let before = replaced(self);
            self.advance(self.array.next_wakeup())?;
            if replaced(self) > before && rng.chance(0.2) {
                return self.lose_power();
            }
        }
        Ok(())
    }

    /// The member whose failure at this moment takes most, and how much is known of that.
    fn worst_to_lose(&self, members: u16) -> (DeviceId, usize) {
        let known = |member| self.taken_with(member, true).iter().filter(|taken| taken.1.is_some()).count();
        let all = (0..members).map(|member| (DeviceId(member), known(DeviceId(member))));
        all.max_by_key(|&(_, known)| known).expect("an array has members")
    }

    /// Lets time pass until nothing is left that may not add up, if that is wanted.
    pub fn wait_for_resync(&mut self, is_wanted: bool) -> Result<(), String> {
        let is_over = |run: &mut Self| -> Result<bool, String> {
            run.hear_of_resync()?;
            Ok(run.world.lock().expect("one thread").unlike.is_empty())
        };
        let has_failed = self
            .array
            .mishaps()
            .iter()
            .any(|mishap| matches!(mishap.what, MishapKind::Failed | MishapKind::Refused));
        while is_wanted && !has_failed && !is_over(self)? {
            let next = self.array.next_wakeup();
            if next == SimTime::NEVER {
                return Err("a resync never ends".into());
            }
            self.advance(next)?;
        }
        Ok(())
    }

    pub fn is_refused(&self) -> bool {
        self.world.lock().expect("one thread").is_refused
    }

    /// Power is lost now.
    pub fn lose_power(&mut self) -> Result<(), String> {
        let mut unlike = self.unlike();
        let result = self.array.lose_power(self.now);
        let is_volatile = self.world.lock().expect("one thread").truth.is_volatile;
        if is_volatile {
            // What caches have lost is missing now.
            unlike.extend(self.unlike());
            unlike.sort_unstable();
            unlike.dedup();
        }
        self.power.unlike += unlike.len() as u64;
        let apart = if is_volatile { self.apart() } else { Vec::new() };
        self.power.apart += apart.len() as u64;
        // Until all is gone through, reads go by the first copy.
        let first: Vec<(u64, C)> = apart.iter().map(|&logical| (logical, self.first_copy(logical))).collect();
        self.world.lock().expect("one thread").are_to_find(first);
        if !self.has_log {
            // A log makes them add up before anybody is served.
            let mut world = self.world.lock().expect("one thread");
            world.unlike.extend(unlike);
            world.apart.extend(apart);
        }
        self.take_note(result)
    }

    /// Some time goes by without requests, so that members whose caches forget flush; then power is lost, and nothing with it unless
    /// the array is still gone through.
    fn rest_and_lose_power(&mut self) -> Result<(), String> {
        self.settle()?;
        let is_resynced = self.is_resynced();
        self.advance(self.now + SimDuration::from_us(250_000))?;
        self.settle()?;
        self.hear_of_resync()?;
        let before = self.forgotten();
        self.lose_power()?;
        let lost = self.forgotten() - before;
        if is_resynced && lost > 0 {
            return Err(format!("members had time to flush, and have lost {lost} pages"));
        }
        self.power.rests += u64::from(is_resynced);
        Ok(())
    }

    /// Whether all was gone through since power was lost. Nothing is where a log says what was being written.
    fn is_resynced(&self) -> bool {
        let mut mishaps = self.array.mishaps().iter().rev();
        let last =
            mishaps.find(|mishap| matches!(mishap.what, MishapKind::PowerLost(_) | MishapKind::Resynced));
        self.has_log || last.is_none_or(|mishap| mishap.what == MishapKind::Resynced)
    }

    /// Pages that members have lost from their caches.
    fn forgotten(&self) -> u64 {
        self.array.every_device().into_iter().map(|device| flash::<C>(device).counts.lost).sum()
    }

    /// What the first copy of a logical sector is that a member holds.
    fn first_copy(&self, logical: u64) -> C {
        let world = self.world.lock().expect("one thread");
        let mut copies = world.places.copies(logical).into_iter();
        let first = copies.find(|&(member, sector)| world.damage.holds(member, sector));
        first.map_or(C::ZERO, |(member, sector)| held(&self.array, &world, member, sector))
    }

    /// Logical sectors whose copies differ now.
    fn apart(&self) -> Vec<u64> {
        let world = self.world.lock().expect("one thread");
        if world.places.parity().is_some() {
            return Vec::new();
        }
        let differ = |&logical: &u64| {
            let mut copies = world.places.copies(logical);
            copies.retain(|&(member, sector)| world.damage.holds(member, sector));
            let mut all = copies.iter().map(|&(member, sector)| held(&self.array, &world, member, sector));
            let first = all.next();
            all.any(|other| Some(other) != first)
        };
        (0..world.places.logical_sectors).filter(differ).collect()
    }

    /// A member fails now, perhaps at the moment at which power was lost, and takes with it what does not add up.
    pub fn lose_member(&mut self, member: DeviceId, is_at_once: bool) -> Result<(), String> {
        let is_whole = self.array.health().is_whole();
        let taken = if is_whole { self.taken_with(member, is_at_once) } else { Vec::new() };
        {
            let mut world = self.world.lock().expect("one thread");
            for (logical, value) in taken {
                world.lose(logical);
                match value {
                    Some(value) => {
                        self.power.predicted += 1;
                        world.predicted.insert(logical, value);
                    }
                    None => self.power.left_open += 1,
                }
            }
        }
        self.power.failures += 1;
        let result = self.array.fail(member, self.now);
        self.take_note(result)
    }

    /// Everything is gone through: nothing is left that does not add up, but where somebody writes.
    pub fn hear_of_resync(&mut self) -> Result<(), String> {
        let last = self.array.mishaps().iter().rev().find(|mishap| {
            matches!(mishap.what, MishapKind::PowerLost(_) | MishapKind::Resynced | MishapKind::Failed)
        });
        if !last.is_some_and(|mishap| mishap.what == MishapKind::Resynced) {
            return Ok(());
        }
        let before = std::mem::take(&mut self.world.lock().expect("one thread").unlike);
        let were_apart = std::mem::take(&mut self.world.lock().expect("one thread").apart);
        if before.is_empty() && were_apart.is_empty() {
            return Ok(());
        }
        let (unlike, apart) = (self.unlike(), self.apart());
        let world = self.world.lock().expect("one thread");
        let is_left = |&&sector: &&u64| {
            let is_busy = self.array.is_row_busy(sector / world.places.row_sectors);
            before.contains(&sector) && !is_busy && !world.is_broken(sector)
        };
        let is_apart = |&&logical: &&u64| {
            were_apart.contains(&logical)
                && world.truth.is_quiet(logical, self.now)
                && !world.truth.is_lost(logical, self.now)
        };
        if let Some(logical) = apart.iter().find(is_apart) {
            return Err(format!("a resync is over, and copies of logical sector {logical} differ"));
        }
        match unlike.iter().find(is_left) {
            Some(sector) => {
                Err(format!("a resync is over, and sector {sector} of the members does not add up"))
            }
            None => Ok(()),
        }
    }

    /// What the last read found where a write hole has taken something is what flash said.
    pub fn check_holes(&mut self) -> Result<(), String> {
        let world = self.world.lock().expect("one thread");
        if world.is_refused {
            return Ok(());
        }
        for (&logical, value) in &world.predicted {
            let sector = world.places.copies(logical)[0].1;
            if !world.truth.is_lost(logical, self.now) || world.is_broken(sector) {
                continue;
            }
            if world.found_in_hole.get(&logical) != Some(value) {
                return Err(format!(
                    "a write hole has taken logical sector {logical}, and left something else"
                ));
            }
            self.power.wrong += 1;
        }
        Ok(())
    }

    /// What came of it.
    pub fn tally_power(&mut self) -> PowerCounts {
        for mishap in self.array.mishaps() {
            match mishap.what {
                MishapKind::PowerLost(requests) => {
                    self.power.losses += 1;
                    self.power.again += requests;
                }
                MishapKind::Resynced => self.power.resyncs += 1,
                MishapKind::Refused => self.power.refused += 1,
                _ => {}
            }
        }
        self.power.rewritten_rows = self.array.background_counters(self.now).resynced_rows;
        self.power
    }

    /// Sectors of the members in rows that do not add up now.
    fn unlike(&self) -> Vec<u64> {
        let world = self.world.lock().expect("one thread");
        let Some(parity) = world.places.parity() else { return Vec::new() };
        let is_unlike = |&sector: &u64| {
            let units = self.units(&world, parity, sector);
            let mut made = units.clone();
            made[usize::from(parity.data_units())..].fill(None);
            rebuild(&mut made, usize::from(parity.data_units()));
            units.iter().all(Option::is_some) && made != units
        };
        (0..world.damage.lines()).filter(is_unlike).collect()
    }

    /// What the members hold of a row, data first.
    fn units(&self, world: &World<C>, parity: &Parity, sector: u64) -> Vec<Option<C>> {
        let mut units = vec![None; usize::from(world.places.layout.members())];
        for member in (0..world.places.layout.members()).map(DeviceId) {
            let unit = position(parity, parity.unit_on(sector / world.places.unit_sectors, member));
            let is_there = self.array.health().of(member) != Condition::Failed;
            units[unit] = is_there.then(|| held(&self.array, world, member, sector));
        }
        units
    }

    /// Logical sectors of a member that the others say differently now, and what they say; nothing where that depends on how far
    /// somebody is who writes the row.
    fn taken_with(&self, member: DeviceId, is_at_once: bool) -> Vec<(u64, Option<C>)> {
        let unlike = self.unlike();
        let world = self.world.lock().expect("one thread");
        let Some(parity) = world.places.parity() else { return Vec::new() };
        let mut taken = Vec::new();
        for sector in unlike {
            let Some(logical) = world.places.logical(member, sector) else { continue };
            let is_busy = self.array.is_row_busy(sector / world.places.row_sectors);
            if is_busy && is_at_once && world.is_being_written(logical) {
                // Whoever writes it brings it back.
                continue;
            }
            if is_busy && !world.unlike.contains(&sector) {
                // It was not cut short, and whoever writes it makes it add up.
                continue;
            }
            // What was never written, or is parked, is read at once.
            let is_parked = world.parked(member, sector).is_some();
            let page = (sector / world.places.page_sectors) as u32;
            let device = &self.array.devices()[member.index()];
            let is_stored = flash::<C>(device).contents(device.ftl(), page).is_some() && !is_parked;
            let is_open = is_busy && !(is_at_once && is_stored);
            if is_open {
                taken.push((logical, None));
                continue;
            }
            let mut units = self.units(&world, parity, sector);
            let unit = position(parity, parity.unit_on(sector / world.places.unit_sectors, member));
            let held = units[unit].take();
            rebuild(&mut units, usize::from(parity.data_units()));
            if units[unit] != held {
                taken.push((logical, units[unit]));
            }
        }
        taken
    }
}
