//! Ageing: from empty devices to a used array, at the speed of the bare FTL.
//!
//! The logical space is filled in order and then overwritten by random single pages through the array's layout. For
//! a stripe that spreads evenly this means: each member, and on it each allocation unit, gets a multinomial share of
//! the overwrites, and within a unit they are uniform. So units can be aged one after the other, each in the cache,
//! by any number of threads, with the same result. Every member has random streams of its own: members differ.
//!
//! A unit of a superblock spans dies, often all of a drive, and lies in no cache. If all that it holds is overwritten alike, pages of the
//! flash are drawn instead of logical ones ([`UnitMut::overwrite_at_random`]): other random numbers, and the same distribution.
//!
//! Where a device allocates dynamically its units are not independent: it is aged by one thread, in the order of its
//! writes, again with the same result for any number of threads.
//!
//! Of a device of hundreds of gigabytes, whose pages may lie anywhere and are overwritten alike and often, only the numbers of valid
//! pages are followed ([`harmonia_ssd::Counted`]): the same distribution again, in a sixth of the time.
//! [`Steadiness::by_numbers`] says so.
//!
//! On a redundant array every page of a member is overwritten alike, data, copies and parity: what is aged are the
//! members, so that arrays of all levels can begin with the same ones. The parity of every stripe is written before.
//! (Under single-page writes parity is overwritten more often than data; how much that matters is in docs/raid.md.)
//!
//! The overwrites may be kept to the first bytes of a RAID-0 array, such as those that a load addresses. Members and units then
//! get shares in proportion to their pages of it.
//!
//! Or an array of any level is overwritten as a load writes to it ([`age_by`]).
//!
//! Where the memory of a drive does not hold its map, each page of the map is written once when all is over.
//!
//! Collection while ageing is local and per unit; domain, schedule and coordination are no part of the aged state.

mod rewritten;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use harmonia_engine::Rng;
use harmonia_engine::workers::{self, CancelOnPanic};
use harmonia_ssd::gc::victim::{self, NoReads};
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{Ftl, Goal, OutOfBlocks, Shape, UnitMut};
use harmonia_types::registry::PolicyConfig;
use harmonia_types::{Bytes, DeviceId, IoCause, SimTime};

use crate::config::ArrayConfig;
use crate::dealing::dealt;
use crate::layout::{Held, Layout, Unit};
pub use rewritten::age_by;

/// Counts the meanings of ageing: goes up by one whenever the same configuration and seed come to age otherwise, so that
/// states kept in files are not taken for what would come out now. `tests/all/stored.rs` notices.
pub const AGEING_VERSION: u32 = 5;

/// A used array as a value: clone it for every run that should start alike.
#[derive(Debug, Clone)]
pub struct AgedState {
    /// The members' mapping state. (No level keeps layout state of its own.)
    pub devices: Vec<Ftl>,
    /// How steady it is.
    pub steadiness: Steadiness,
}

/// Whether ageing reached a steady state.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Steadiness {
    /// Write amplification of the last two windows of half the capacity, the older first; `None` where there were
    /// too few overwrites.
    pub windows: [Option<f64>; 2],
    /// Of some devices only the numbers of valid pages were followed, because they are large ([`COUNTED_FROM`]). Which pages those
    /// are, and the LPN of each, was drawn at the end.
    pub by_numbers: bool,
}

impl Steadiness {
    /// Steady: the two windows differ by less than 1%.
    pub fn is_steady(&self) -> bool {
        match self.windows {
            [Some(older), Some(newer)] => (newer / older - 1.0).abs() < 0.01,
            _ => false,
        }
    }
}

/// How to age.
#[derive(Debug, Clone, Copy)]
pub struct AgeingPlan<'a> {
    /// Share of the logical space to fill, 0..=1.
    pub fill: f64,
    /// Random overwrites, in multiples of the space that they go to.
    pub overwrite: f64,
    /// They go to what is filled of the first so many bytes, whole pages; to all that is filled if `None`. Of RAID-0 only.
    pub within: Option<Bytes>,
    /// Devices of at least so many logical pages are aged by numbers of valid pages, where that is possible. Only tests use another
    /// value than [`COUNTED_FROM`].
    pub counted_from: u32,
    /// Root seed.
    pub seed: u64,
    /// Threads to use.
    pub threads: usize,
    /// Set to stop early.
    pub cancel: &'a AtomicBool,
    /// Counts host pages written, for progress.
    pub pages_done: &'a AtomicU64,
}

/// Devices of at least so many logical pages are aged by numbers alone: 256 GiB of 4 KiB each. A smaller one ages with all its pages in
/// a minute.
pub const COUNTED_FROM: u32 = 1 << 26;

/// Overwrites of everything after which a device may be aged by numbers: one page in twelve still lies where it was filled.
const OFTEN: f64 = 2.5;

/// More threads than this gain nothing, and a system may refuse them.
const MOST_THREADS: usize = 256;

/// Why ageing did not finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgeingError {
    /// Stopped on request.
    Cancelled,
    /// The configuration cannot work.
    Infeasible(String),
    /// The load cannot be had; the text says why.
    Load(String),
    /// A unit of this member ran out of free blocks.
    OutOfBlocks(u16, OutOfBlocks),
}

/// Host pages that ageing will write where overwrites go to all that is filled.
pub fn ageing_pages(config: &ArrayConfig, fill: f64, overwrite: f64) -> u64 {
    let pages = config.layout().member_bytes() / config.page_size() * config.members.len() as u64;
    (pages as f64 * fill * (1.0 + overwrite)) as u64
}

/// Ages an array from empty.
///
/// # Errors
/// If it is cancelled, cannot work, or a device runs out of free blocks.
pub fn age(config: &ArrayConfig, plan: &AgeingPlan<'_>) -> Result<AgedState, AgeingError> {
    let (mut devices, layout, mut filled) = empty(config, plan)?;
    let page = config.page_size();
    if let Some(within) = plan.within {
        let Layout::Striped(striped) = &layout else {
            let problem = "only RAID-0 can be overwritten in a part of its space";
            return Err(AgeingError::Infeasible(problem.to_owned()));
        };
        let mut first = vec![0; filled.len()];
        striped.split(0, within, |member, _, length| first[member.index()] = length / page);
        filled.iter_mut().zip(first).for_each(|(filled, first)| filled.overwrite_below(first));
    }
    let overwritten: Vec<u64> = filled.iter().map(Filled::overwritten).collect();
    let overwrites = (overwritten.iter().sum::<u64>() as f64 * plan.overwrite).round() as u64;
    let mut rng = Rng::stream(plan.seed, "age/layout");
    let shares = dealt(&mut rng, overwrites, &overwritten, plan.within.is_some());
    let mut marks = Marks::default();
    for (index, (ftl, (filled, &writes))) in devices.iter_mut().zip(filled.iter().zip(&shares)).enumerate() {
        marks.add(&age_device(&config.members[index].ssd, ftl, index as u16, filled, writes, plan)?);
    }
    write_maps(config, &mut devices)?;
    Ok(AgedState { devices, steadiness: marks.steadiness() })
}

/// Devices that nobody has written to, and what each is to hold before it is overwritten.
fn empty(
    config: &ArrayConfig,
    plan: &AgeingPlan<'_>,
) -> Result<(Vec<Ftl>, Layout, Vec<Filled>), AgeingError> {
    let mut devices = Vec::with_capacity(config.members.len());
    for (index, member) in config.members.iter().enumerate() {
        let ftl = Ftl::new(&member.ssd, plan.seed, &format!("device/{index}"))
            .map_err(|error| AgeingError::Infeasible(error.to_string()))?;
        devices.push(ftl);
    }
    let layout = config.layout();
    let filled = (0..config.devices)
        .map(|member| Filled::new(&layout, DeviceId(member), config.page_size(), plan.fill))
        .collect();
    Ok((devices, layout, filled))
}

/// What a member holds before it is overwritten: the filled part of each zone, and the parity of every stripe, as after
/// md's first synchronisation.
struct Filled {
    /// Filled pages, lowest first.
    zones: Vec<Range<u64>>,
    /// Those below this one are overwritten.
    below: u64,
    /// Pages the layout uses; what it does not reach stays unwritten, as it would on a real array.
    used: u64,
    /// Whether a page is parity, where there is any.
    parity: Option<Box<dyn Fn(u64) -> bool + Sync>>,
}

impl Filled {
    fn new(layout: &Layout, member: DeviceId, page: Bytes, share: f64) -> Self {
        let zones: Vec<Range<u64>> =
            layout.filled_zones(share).map(|zone| zone.start / page..zone.end / page).collect();
        let parity = match layout {
            // A share of less than half a page fills nothing, as no share does.
            // Stripes that leave a member free have no parity before they have data.
            Layout::Parity(parity) if parity.is_floating() => None,
            Layout::Parity(parity) if zones.iter().any(|zone| !zone.is_empty()) => {
                let (parity, unit) = (parity.clone(), layout.stripe_unit() / page);
                Some(match parity.declustered() {
                    None => {
                        let pattern = parity.parity_pattern(member);
                        Box::new(move |page| pattern.has(page / unit)) as Box<dyn Fn(u64) -> bool + Sync>
                    }
                    Some(_) => Box::new(move |page| {
                        let table = parity.declustered().expect("it was asked");
                        matches!(table.held(page / unit, member), Held::Unit(_, Unit::P | Unit::Q))
                    }),
                })
            }
            _ => None,
        };
        let zones = without_spare_space(layout, member, page, zones);
        Filled { zones, below: u64::MAX, used: layout.member_bytes() / page, parity }
    }

    /// Only filled pages below this one are overwritten.
    fn overwrite_below(&mut self, page: u64) {
        self.below = page;
    }

    /// Pages that are filled and then overwritten.
    fn overwritten(&self) -> u64 {
        self.zones.iter().map(|zone| zone.end.min(self.below).saturating_sub(zone.start)).sum()
    }

    fn end(&self) -> u64 {
        self.zones.last().map_or(0, |zone| zone.end)
    }

    /// Whether there may be parity behind what is filled.
    fn has_parity_beyond(&self) -> bool {
        self.parity.is_some() && self.end() < self.used
    }

    fn is_parity(&self, page: u64) -> bool {
        self.parity.as_ref().is_some_and(|is_parity| is_parity(page))
    }
}

/// Spare space is empty until a member fails: the pages of these ranges that are not spare space.
fn without_spare_space(
    layout: &Layout,
    member: DeviceId,
    page: Bytes,
    zones: Vec<Range<u64>>,
) -> Vec<Range<u64>> {
    let Layout::Parity(parity) = layout else { return zones };
    let Some(table) = parity.declustered() else { return zones };
    let unit = layout.stripe_unit() / page;
    let mut kept: Vec<Range<u64>> = Vec::new();
    for zone in zones {
        let mut from = zone.start;
        while from < zone.end {
            let (row, to) = (from / unit, ((from / unit + 1) * unit).min(zone.end));
            match (table.held(row, member), kept.last_mut()) {
                (Held::Spare(_), _) => {}
                (Held::Unit(..), Some(last)) if last.end == from => last.end = to,
                (Held::Unit(..), _) => kept.push(from..to),
            }
            from = to;
        }
    }
    kept
}

/// The part of it that one allocation unit has.
struct Share {
    zones: Vec<Range<u32>>,
    /// By zone: the filled pages up to its end.
    ends: Vec<u32>,
    /// The first so many of the filled pages are overwritten.
    overwritten: u32,
    /// Pages with the parity of stripes that are not filled, written once.
    parity: Vec<u32>,
}

impl Share {
    /// `below` is the lowest filled page that is not overwritten.
    fn new(zones: Vec<Range<u32>>, below: u32, parity: Vec<u32>) -> Self {
        let mut pages = 0;
        let up_to = |zone: &Range<u32>| {
            pages += zone.end - zone.start;
            pages
        };
        let overwritten =
            zones.iter().map(|zone: &Range<u32>| zone.end.min(below).saturating_sub(zone.start)).sum();
        Share { ends: zones.iter().map(up_to).collect(), zones, overwritten, parity }
    }

    /// All that a device has.
    fn of_device(filled: &Filled, parity: Vec<u32>) -> Self {
        let zones = filled.zones.iter().map(|zone| zone.start as u32..zone.end as u32).collect();
        Share::new(zones, u32::try_from(filled.below).unwrap_or(u32::MAX), parity)
    }

    fn pages(&self) -> u32 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The filled page of this index, which lies below the number of filled pages.
    #[inline]
    fn page(&self, index: u32) -> u32 {
        // Declustered parity leaves spare space between many zones.
        let zone = self.ends.partition_point(|&end| end <= index);
        self.zones[zone].end - (self.ends[zone] - index)
    }
}

fn age_device(
    config: &harmonia_ssd::SsdConfig,
    ftl: &mut Ftl,
    device: u16,
    filled: &Filled,
    overwrites: u64,
    plan: &AgeingPlan<'_>,
) -> Result<Marks, AgeingError> {
    // Devices whose policies age alike become the same.
    let own = victim::build(&config.gc.victim).map_err(AgeingError::Infeasible)?;
    let ages_as = own.ages_as().map_or_else(|| config.gc.victim.clone(), PolicyConfig::named);
    let policy = victim::build(&ages_as).map_err(AgeingError::Infeasible)?;
    if let Some(share) = counted(&ages_as, ftl, filled, overwrites, plan) {
        return age_by_numbers(config, ftl, device, (&share, overwrites), &*policy, plan);
    }
    if ftl.shape().is_dynamic() {
        return age_dynamic(config, ftl, device, (filled, overwrites), &*policy, plan);
    }
    let mut rng = Rng::stream(plan.seed, &format!("age/device/{device}"));
    ftl.with_units(|units, shape| {
        // LPNs are dealt to units in turn, so every range of them reaches every unit alike.
        let units_in_all = u64::from(shape.units());
        let below = |unit: u32, page: u64| {
            let first = u64::from(shape.device_lpn(unit, 0).0);
            let pages = page.saturating_add(units_in_all - 1).saturating_sub(first) / units_in_all;
            pages.min(u64::from(shape.host_pages())) as u32
        };
        let in_unit = |unit: u32| -> u64 {
            let zones = filled.zones.iter().map(|zone| zone.start..zone.end.min(filled.below));
            zones.map(|zone| u64::from(below(unit, zone.end).saturating_sub(below(unit, zone.start)))).sum()
        };
        let weights: Vec<u64> = (0..shape.units()).map(in_unit).collect();
        let shares = dealt(&mut rng, overwrites, &weights, plan.within.is_some());
        let share_of = |unit: u32| {
            let below = |page: u64| below(unit, page);
            let zones: Vec<_> = filled.zones.iter().map(|zone| below(zone.start)..below(zone.end)).collect();
            let parity = below(filled.end())..below(filled.used);
            let is_parity = |lpn: &u32| filled.is_parity(u64::from(shape.device_lpn(unit, *lpn).0));
            let has_parity = filled.has_parity_beyond();
            let parity = if has_parity { parity.filter(is_parity).collect() } else { Vec::new() };
            Share::new(zones, below(filled.below), parity)
        };
        let ageing = Ageing::new(config, device, shape, &*policy, plan);
        let age = |(mut unit, writes): (UnitMut<'_>, u64)| {
            let _stop = CancelOnPanic(plan.cancel);
            let rng = Rng::stream(plan.seed, &format!("age/device/{device}/unit/{}", unit.index()));
            let share = share_of(unit.index());
            ageing.age(&mut unit, &share, writes, rng)
        };
        let aged = workers::each(units.into_iter().zip(shares), plan.threads.min(MOST_THREADS), age)?;
        let mut marks = Marks::default();
        aged.iter().for_each(|of_unit| marks.add(of_unit));
        Ok(marks)
    })
}

/// What a device is to hold, if its ageing may go by numbers alone: it is large, all that it holds is overwritten alike and often enough
/// that little lies where it was filled, and its victim policy is none that a program has added, which may look at pages.
fn counted(
    policy: &PolicyConfig,
    ftl: &Ftl,
    filled: &Filled,
    overwrites: u64,
    plan: &AgeingPlan<'_>,
) -> Option<Share> {
    let is_large = ftl.shape().logical_pages >= plan.counted_from;
    let is_known = victim::POLICIES.is_built_in(&policy.policy);
    if !is_large || !is_known || filled.has_parity_beyond() {
        return None;
    }
    let share = Share::of_device(filled, Vec::new());
    let is_alike = share.overwritten > 0 && share.overwritten == share.pages();
    let is_often = overwrites as f64 >= OFTEN * f64::from(share.pages());
    (is_alike && is_often && ftl.can_be_counted(share.pages().into())).then_some(share)
}

/// Ages a device by numbers of valid pages alone: one thread, nearly all of whose time goes to drawing pages and to placing LPNs at the end.
fn age_by_numbers(
    config: &harmonia_ssd::SsdConfig,
    ftl: &mut Ftl,
    device: u16,
    (share, overwrites): (&Share, u64),
    policy: &dyn victim::Victim,
    plan: &AgeingPlan<'_>,
) -> Result<Marks, AgeingError> {
    let ageing = Ageing::new(config, device, ftl.shape(), policy, plan);
    let rng = Rng::stream(plan.seed, &format!("age/device/{device}/numbers"));
    let mut counted = ftl.counted(rng, ageing.goal, policy);
    ageing.steps(share.pages().into(), |step| counted.fill(step))?;
    let marks = windows(share, overwrites, |count| {
        ageing.steps(count, |step| counted.overwrite(step))?;
        Ok(counted.data_programs())
    })?;
    let goes_on = || !plan.cancel.load(Ordering::Relaxed);
    let is_placed = counted.place(|index| share.page(index), goes_on);
    is_placed.then_some(Marks { by_numbers: true, ..marks }).ok_or(AgeingError::Cancelled)
}

/// Ages a device whose pages may lie anywhere: one thread, page by page, because what a unit holds depends on all others. Nearly all of
/// the time goes to map entries that no cache holds, of pages that are overwritten and of all pages of victims; they are asked for ahead.
///
/// Nothing takes time here, so no die collects when a page comes and no queue is longer than another: what is left of the
/// rule for dies is round robin over the units that have room. The rule for planes stays whole.
fn age_dynamic(
    config: &harmonia_ssd::SsdConfig,
    ftl: &mut Ftl,
    device: u16,
    (filled, overwrites): (&Filled, u64),
    policy: &dyn victim::Victim,
    plan: &AgeingPlan<'_>,
) -> Result<Marks, AgeingError> {
    let mut rng = Rng::stream(plan.seed, &format!("age/device/{device}/anywhere"));
    let mut anywhere = Anywhere::new(ftl.shape());
    let ageing = Ageing::new(config, device, ftl.shape(), policy, plan);
    let parity = filled.end()..if filled.has_parity_beyond() { filled.used } else { 0 };
    let parity = parity.filter(|&page| filled.is_parity(page)).map(|page| page as u32).collect();
    let share = Share::of_device(filled, parity);
    if share.pages() == 0 {
        return Ok(Marks::default());
    }
    for &lpn in &share.parity {
        let unit = anywhere.unit(ftl, lpn);
        let written = write_to(ftl, unit, lpn, (ageing.goal, IoCause::Host), policy);
        written.map_err(|error| AgeingError::OutOfBlocks(device, error))?;
    }
    let mut pages = share.zones.iter().cloned().flatten();
    let pages = || pages.next().expect("as many pages as the zones have");
    ageing.write_anywhere(ftl, &mut anywhere, share.pages().into(), pages)?;
    let mut draw = || share.page(rng.below(u64::from(share.overwritten)) as u32);
    windows(&share, overwrites, |count| {
        ageing.write_anywhere(ftl, &mut anywhere, count, &mut draw)?;
        Ok(ftl.tally().data_programs())
    })
}

/// Where pages go that may lie anywhere.
struct Anywhere {
    shape: Shape,
    /// Units in the order in which they take pages, and the place there of the next one.
    order: Vec<u32>,
    next: usize,
    /// By die.
    next_plane: Vec<u32>,
}

impl Anywhere {
    fn new(shape: &Shape) -> Anywhere {
        let order = (0..shape.units()).map(|position| shape.unit_at(position)).collect();
        Anywhere { shape: shape.clone(), order, next: 0, next_plane: vec![0; shape.dies as usize] }
    }

    /// The unit that takes a page.
    #[inline]
    fn unit(&mut self, ftl: &Ftl, lpn: u32) -> u32 {
        let room = if self.shape.names_die { self.plane(ftl, lpn) } else { self.in_turn(ftl) };
        // Where nobody has room for another unit's page, it stays where it is.
        room.or_else(|| ftl.home(lpn)).unwrap_or_else(|| self.shape.units_for(lpn).start)
    }

    /// Of the die that a page number names, the unit with the most room.
    fn plane(&mut self, ftl: &Ftl, lpn: u32) -> Option<u32> {
        let die = self.shape.locate(lpn).0;
        let turn = &mut self.next_plane[die as usize];
        let unit = ftl.roomiest(die, *turn, |_| (0, 0))?;
        *turn = (unit + 1) % self.shape.units_per_die;
        Some(unit)
    }

    /// The next unit that has room.
    #[inline]
    fn in_turn(&mut self, ftl: &Ftl) -> Option<u32> {
        let most = self.shape.most_live.unwrap_or(u32::MAX);
        for _ in 0..self.order.len() {
            let unit = self.order[self.next];
            self.next = if self.next + 1 < self.order.len() { self.next + 1 } else { 0 };
            if ftl.live_pages(unit) < most {
                return Some(unit);
            }
        }
        None
    }
}

/// Writes a page of a unit, which collects before if it has to.
#[inline]
fn write_to(
    ftl: &mut Ftl,
    unit: u32,
    lpn: u32,
    (goal, cause): (Goal, IoCause),
    policy: &dyn victim::Victim,
) -> Result<(), OutOfBlocks> {
    if ftl.free_blocks(unit) <= ftl.shape().ages_at {
        collect(ftl, unit, goal, policy)?;
    }
    ftl.program(unit, lpn, cause, None, &mut NoProbe).map(|_| ())
}

/// Apart, so that pages that need no room save no registers for it.
#[inline(never)]
fn collect(ftl: &mut Ftl, unit: u32, goal: Goal, policy: &dyn victim::Victim) -> Result<(), OutOfBlocks> {
    ftl.unit(unit).collect(goal, policy, &NoReads, SimTime::ZERO, &mut NoProbe).map(|_| ())
}

/// Pages of the map that memory does not hold come to flash, each once, where anything was written.
fn write_maps(config: &ArrayConfig, devices: &mut [Ftl]) -> Result<(), AgeingError> {
    for (index, (ftl, member)) in (0..).zip(devices.iter_mut().zip(&config.members)) {
        let (shape, gc) = (ftl.shape().clone(), &member.ssd.gc);
        if shape.map_pages().is_empty() || ftl.tally().data_programs() == 0 {
            continue;
        }
        let policy = victim::build(&gc.victim).map_err(AgeingError::Infeasible)?;
        let goal = Goal { stop: shape.stop, min_victims: gc.min_victims };
        for (unit, lpn) in (0..shape.units()).flat_map(|unit| shape.map_pages().map(move |lpn| (unit, lpn))) {
            write_to(ftl, unit, lpn, (goal, IoCause::Map), &*policy)
                .map_err(|error| AgeingError::OutOfBlocks(index, error))?;
        }
    }
    Ok(())
}

/// How the units of a device age, one by one.
struct Ageing<'a> {
    device: u16,
    ages_at: u32,
    goal: Goal,
    policy: &'a dyn victim::Victim,
    /// A unit is that of several dies, and so too large for the caches.
    is_shared: bool,
    plan: &'a AgeingPlan<'a>,
}

impl<'a> Ageing<'a> {
    fn new(
        config: &harmonia_ssd::SsdConfig,
        device: u16,
        shape: &Shape,
        policy: &'a dyn victim::Victim,
        plan: &'a AgeingPlan<'a>,
    ) -> Ageing<'a> {
        Ageing {
            device,
            ages_at: shape.ages_at,
            goal: Goal { stop: shape.stop, min_victims: config.gc.min_victims },
            policy,
            is_shared: shape.dies_per_unit > 1,
            plan,
        }
    }

    fn age(
        &self,
        unit: &mut UnitMut<'_>,
        share: &Share,
        overwrites: u64,
        mut rng: Rng,
    ) -> Result<Marks, AgeingError> {
        let mut pages = share.zones.iter().cloned().flatten();
        self.write(unit, share.pages().into(), || pages.next().expect("as many pages as the zones have"))?;
        let parity = unit.write_all(&share.parity, self.goal, self.policy);
        parity.map_err(|error| AgeingError::OutOfBlocks(self.device, error))?;
        if share.overwritten == 0 {
            return Ok(Marks::default());
        }
        if self.is_shared && unit.mapped() == share.overwritten {
            let aged = unit.overwrite_at_random(rng.clone(), |all| {
                windows(share, overwrites, |count| {
                    self.steps(count, |step| {
                        (0..step).try_for_each(|_| {
                            if all.free() <= self.ages_at {
                                all.collect(self.goal, self.policy)?;
                            }
                            all.overwrite().map(|_| ())
                        })
                    })?;
                    Ok(all.data_programs())
                })
            });
            if let Some(aged) = aged {
                return aged;
            }
        }
        let mut draw = || rng.below(u64::from(share.overwritten)) as u32;
        windows(share, overwrites, |count| {
            match &*share.zones {
                // Nearly always; this is the loop that ageing spends its time in.
                [zone] => self.write(unit, count, || zone.start + draw())?,
                _ => self.write(unit, count, || share.page(draw()))?,
            }
            Ok(unit.data_programs())
        })
    }

    /// Writes so many pages that `next` gives: some are asked for before their turn, so that their map entries are on their way to
    /// the caches.
    #[inline]
    fn write(
        &self,
        unit: &mut UnitMut<'_>,
        count: u64,
        mut next: impl FnMut() -> u32,
    ) -> Result<(), AgeingError> {
        let mut pages = [0; TOGETHER];
        self.steps(count, |step| {
            let mut left = step as usize;
            while left > 0 {
                let pages = &mut pages[..left.min(TOGETHER)];
                for page in &mut *pages {
                    *page = next();
                    unit.prefetch(*page);
                }
                unit.write_all(pages, self.goal, self.policy)?;
                left -= pages.len();
            }
            Ok(())
        })
    }

    /// The same where pages may lie anywhere. A page's map entry is asked for [`TOGETHER`] pages ahead, and what is noted of the block in
    /// which its old data lies half as many.
    #[inline]
    fn write_anywhere(
        &self,
        ftl: &mut Ftl,
        anywhere: &mut Anywhere,
        count: u64,
        mut next: impl FnMut() -> u32,
    ) -> Result<(), AgeingError> {
        const HALF: usize = TOGETHER / 2;
        let mut known = [0; TOGETHER];
        let ahead = count.min(TOGETHER as u64) as usize;
        for lpn in &mut known[..ahead] {
            *lpn = next();
            ftl.prefetch_entry(*lpn);
        }
        let (mut left, mut at) = (count - ahead as u64, 0);
        self.steps(count, |step| {
            for _ in 0..step {
                ftl.prefetch_home(known[(at + HALF) % TOGETHER]);
                let unit = anywhere.unit(ftl, known[at]);
                write_to(ftl, unit, known[at], (self.goal, IoCause::Host), self.policy)?;
                if left > 0 {
                    left -= 1;
                    known[at] = next();
                    ftl.prefetch_entry(known[at]);
                }
                at = (at + 1) % TOGETHER;
            }
            Ok(())
        })
    }

    /// Writes so many pages, in steps: between them it may be cancelled, and says how far it is.
    #[inline]
    fn steps(
        &self,
        count: u64,
        mut write: impl FnMut(u64) -> Result<(), OutOfBlocks>,
    ) -> Result<(), AgeingError> {
        let mut left = count;
        while left > 0 {
            if self.plan.cancel.load(Ordering::Relaxed) {
                return Err(AgeingError::Cancelled);
            }
            let step = left.min(STEP);
            write(step).map_err(|error| AgeingError::OutOfBlocks(self.device, error))?;
            self.plan.pages_done.fetch_add(step, Ordering::Relaxed);
            left -= step;
        }
        Ok(())
    }
}

/// Pages drawn before the first of them is written. Unit: count.
const TOGETHER: usize = 32;

/// Pages written between two looks at whether ageing was cancelled. Unit: count.
const STEP: u64 = 1 << 16;

/// Overwrites a unit, with readings before the last two windows of half the capacity, and at the end. `overwrite` does so many,
/// and tells the programs so far.
fn windows(
    share: &Share,
    overwrites: u64,
    mut overwrite: impl FnMut(u64) -> Result<u64, AgeingError>,
) -> Result<Marks, AgeingError> {
    let mut marks = Marks::default();
    let window = u64::from(share.overwritten) / 2;
    let stops = [overwrites.saturating_sub(2 * window), overwrites.saturating_sub(window), overwrites];
    let mut done = 0;
    for (mark, stop) in stops.into_iter().enumerate() {
        marks.programs[mark] = overwrite(stop - done)?;
        marks.host[mark] = stop;
        done = stop;
    }
    marks.complete = overwrites >= 2 * window;
    marks.units = 1;
    Ok(marks)
}

/// Programs and host writes so far, at the ends of the last windows.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    programs: [u64; 3],
    host: [u64; 3],
    units: u64,
    complete: bool,
    by_numbers: bool,
}

impl Marks {
    fn add(&mut self, other: &Marks) {
        if other.units == 0 {
            return;
        }
        self.by_numbers |= other.by_numbers;
        self.complete = other.complete && (self.complete || self.units == 0);
        self.units += other.units;
        for mark in 0..3 {
            self.programs[mark] += other.programs[mark];
            self.host[mark] += other.host[mark];
        }
    }

    fn steadiness(&self) -> Steadiness {
        let amplification = |from: usize| {
            let host = self.host[from + 1] - self.host[from];
            let programs = self.programs[from + 1] - self.programs[from];
            (self.complete && host > 0).then(|| programs as f64 / host as f64)
        };
        Steadiness { windows: [amplification(0), amplification(1)], by_numbers: self.by_numbers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_steady_if_two_windows_differ_by_less_than_a_hundredth() {
        let steady = |older, newer| Steadiness { windows: [older, newer], by_numbers: false }.is_steady();
        assert!(steady(Some(2.0), Some(2.019)) && steady(Some(2.0), Some(1.981)));
        assert!(!steady(Some(2.0), Some(2.021)) && !steady(Some(2.0), Some(1.979)));
        assert!(!steady(None, Some(2.0)) && !steady(Some(2.0), None));
    }

    /// Units that were not overwritten say nothing; one that was overwritten too little leaves the windows open.
    #[test]
    fn windows_have_the_programs_of_all_units() {
        let marks =
            |programs, host, complete| Marks { programs, host, units: 1, complete, by_numbers: false };
        let mut all = Marks::default();
        all.add(&Marks::default());
        all.add(&marks([10, 40, 90], [5, 15, 25], true));
        all.add(&marks([0, 10, 40], [0, 10, 20], true));
        all.add(&Marks::default());
        assert_eq!(all.steadiness().windows, [Some(40.0 / 20.0), Some(80.0 / 20.0)]);
        let mut short = all;
        short.add(&marks([1, 2, 3], [1, 2, 3], false));
        assert_eq!(short.steadiness().windows, [None, None]);
        short.add(&marks([1, 2, 3], [1, 2, 3], true));
        assert_eq!(short.steadiness().windows, [None, None]);
        assert_eq!(marks([1, 2, 3], [4, 4, 5], true).steadiness().windows, [None, Some(1.0)]);
    }

    /// Zones of 3 and 2 pages, of which the first 4 pages of all are overwritten below page 11.
    #[test]
    fn filled_pages_are_counted_through_zones() {
        let share = Share::new(vec![2..5, 10..12], 11, Vec::new());
        assert_eq!((share.pages(), share.overwritten), (5, 4));
        assert_eq!((0..5).map(|index| share.page(index)).collect::<Vec<_>>(), [2, 3, 4, 10, 11]);
        assert_eq!(Share::new(Vec::new(), 0, vec![7]).pages(), 0);
    }
}
