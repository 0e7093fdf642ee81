//! One SSD with time: sans-IO, so a simulator, a test or a wall clock can drive it alike.
//!
//! ```text
//! submit ─► link (writes) ─► die queue ─► die: array and bus steps ─► link (reads) ─► completion
//!                               ▲  schedule: host operation or garbage collection?
//! directive ─► forced events ───┘
//! ```
//!
//! The contract: `submit` and `direct` at times that never go back and never pass `next_wakeup`; `advance_until` to
//! let time pass; then drain completions, notices and collecting intervals. A completion may be known before it
//! happens: its `finish` may lie after the time advanced to (a read's slot on the link is granted when its die is
//! done). Events at one moment run in the order they were set; submissions come after them.
//!
//! * `submit`: what the device is given to do, a sub-request at a time or many at their times;
//! * `directive`: what a coordinator tells the device to do;
//! * `advance`: the events of the device in the order of time;
//! * `wake`: the event of a die, which ends what the die ran;
//! * `accept`: sub-requests that reach the device, and their pages;
//! * `lookup`: operations that look into the map and may wait for a page of it, where memory does not hold all of it;
//! * `mapping`: what is remembered of them;
//! * `enter`: operations that enter the queue of a die;
//! * `queue`: operations waiting at the dies;
//! * `lanes`: the same by allocation unit and class, where somebody asks;
//! * `index`: the same by page, where there are lanes or a queue is long;
//! * `dispatch`: what a die does next;
//! * `plain`: the shorter way of a read or write that is alone on its die;
//! * `settled`: a still shorter one, of such a write, if nothing can come between its arrival and its end;
//! * `serve`: operations of the host that become commands;
//! * `run`: commands, step by step;
//! * `estimate`: how long what waits would take, and what is left of a collection;
//! * `sharing`: collection that has a share of a die's work;
//! * `suspend`: programs of the host that give way to reads;
//! * `half`: page moves with which nothing goes along, in halves or whole;
//! * `joint`: commands of several planes, halves with which something goes along, and suspending;
//! * `thresholds`: free blocks, and at how many of them the device collects;
//! * `trigger`: when a die should collect;
//! * `victims`: which block an event takes next;
//! * `collect`: an event of a die begins, takes its victims, and ends;
//! * `steps`: an event that goes step by step;
//! * `concurrency`: which dies collect, where a policy limits how many channels do;
//! * `turns`: events wait for their turns;
//! * `units`: programs that carry several mapping units;
//! * `global`: collected pages that go to another unit;
//! * `idle`: collecting that gives way to the host;
//! * `refuse`: operations that fail fast instead of waiting for collection;
//! * `retry`: pages that are read again;
//! * `subs`: sub-requests that are not done, and their answers;
//! * `account`: where the time of an operation went;
//! * `background`: work of the array that is not the host's, and the time dies spend on it;
//! * `faults`: a device that becomes slow, and one that stops;
//! * `life`: blocks that wear out, and a device that only serves reads;
//! * `placement`: which die takes a write, where the allocation is dynamic;
//! * `superblocks`: the same where dies share their blocks;
//! * `binding`: operations that wait for the link, and then for either of these to say where they go;
//! * `parts`: what each die has of a collection, where dies share their blocks;
//! * `cache`: the write cache in front of the dies, where there is one;
//! * `pump`: what enters that cache, and what leaves it for a die;
//! * `owner`: whose a page operation is;
//! * `status`: the O-SSD interface and counters;
//! * `quiet`: until when it has nothing to report;
//! * `watch`: what the planes do, for a probe that asks;
//! * `following`: what becomes of single pages, for a probe that asks;
//! * `windows`: when it may begin to collect.
//!
//! Calls between these files go one way, to the right and down; a file may also call those further on. So an operation that enters a
//! queue may begin at once, and nothing that begins puts another one into a queue.
//!
//! ```text
//! submit, directive, faults ─► advance ─┬─► accept ─┬─► pump ─► lookup, binding ─► enter ─► plain ─► dispatch
//!                                       └─► wake ───┘
//! dispatch ─► trigger, collect, steps, serve, joint ─► run
//! ```
//!
//! Without a write cache a write is durable, and answered, when its program ends.
//!
//! The controller takes commands one after the other, each for `ssd.controller.command_overhead`, before the data of a write goes over the
//! link.
//!
//! Not modelled: cache-mode commands and power limits.

mod accept;
mod account;
mod advance;
mod background;
mod binding;
mod cache;
mod collect;
mod concurrency;
mod directive;
mod dispatch;
mod enter;
mod estimate;
mod faults;
mod following;
mod global;
mod half;
mod idle;
mod index;
mod joint;
mod lanes;
mod levels;
mod life;
mod lookup;
mod mapping;
mod messages;
mod owner;
mod pairing;
mod parts;
mod placement;
mod plain;
mod pump;
mod queue;
mod quiet;
mod refuse;
mod retry;
mod rules;
mod run;
mod serve;
mod settled;
mod sharing;
mod status;
mod steps;
mod streams;
mod submit;
mod subs;
mod superblocks;
mod suspend;
mod thresholds;
mod trigger;
mod turns;
mod units;
mod victims;
mod view;
mod waiting;
mod wake;
mod watch;
mod windows;

use std::collections::VecDeque;

use harmonia_engine::{Rng, SlotQueue, prefetch_whole};
use harmonia_flash::{Bus, Copyback, Link, LinkOrder, Timing};
use harmonia_types::{Bytes, Divisor, SimDuration, SimTime};

use crate::config::{Allocation, ControllerConfig, Destination, Priority, SsdConfig, Trigger};
use crate::die::Die;
use crate::ftl::Ftl;
use crate::gc::concurrency::{self as policies, Concurrency};
use crate::gc::schedule::{self, Needs, Pairs, Schedule};
use crate::gc::victim::{self, Victim};
use crate::interface::Notice;
use crate::probe::{NoProbe, Probe};
use crate::shape::Shape;
use crate::slab::Slab;
use background::Background;
use cache::Cache;
use concurrency::{Governor, LAST_BLOCK};
use faults::Remains;
use index::Index;
use lanes::Lanes;
use levels::Standing;
use life::Life;
pub use life::{AtEnd, LifeReport};
use mapping::Mapping;
use placement::Placement;
use queue::PageOp;
use rules::Rules;
use settled::Settling;
use sharing::Sharing;
use subs::SubState;
use superblocks::Superblocks;
use waiting::Diaries;

pub use messages::{DeviceFailure, SubCompletion, SubRefusal, SubRequest};
pub use pairing::{Pairing, QueueDepth};
pub use quiet::Room;
pub use status::{DeviceCounters, Estimates};
pub use submit::Passage;

/// One simulated SSD.
#[derive(Clone)]
pub struct Device<P: Probe = NoProbe> {
    rules: Rules,
    /// Reads and writes that are alone on their dies go the shorter way, see `plain`.
    is_plain: bool,
    settling: Settling,
    ftl: Ftl,
    victim: Box<dyn Victim>,
    schedule: Box<dyn Schedule>,
    schedule_needs: Needs,
    /// Who may collect, where not everybody may.
    governor: Option<Box<Governor>>,
    dies: Vec<Die>,
    ops: Slab<PageOp>,
    /// Operations by unit and class, where somebody asks for them so.
    lanes: Option<Box<Lanes>>,
    /// Operations by page, since somebody needed it; wherever there are lanes.
    index: Option<Box<Index>>,
    /// Reused: queued reads as a victim policy sees them.
    queued_reads: Vec<(u32, u32)>,
    subs: Slab<SubState>,
    /// What it knows of background work, since there was any.
    background: Option<Box<Background>>,
    /// What writes pass on their way to the dies, where there is a cache.
    cache: Option<Box<Cache>>,
    /// What it holds of its map, where that is not all.
    mapping: Option<Box<Mapping>>,
    /// It has one of these: what an event has changed for them is looked at after it.
    pumps: bool,
    /// Which die takes a write, where that is not fixed.
    placement: Option<Box<Placement>>,
    /// Either of these: the die of an operation is known when its data is over the link.
    binds_late: bool,
    /// Where dies share their blocks.
    superblocks: Option<Box<Superblocks>>,
    /// One slot per die: when it next has something to do.
    wakes: SlotQueue,
    /// One slot per channel: when a bus that is waited for is free. One more: when the governor looks again. Where there is a
    /// cache, another one: when what is in line for it goes on. Where commands are suspended, the last one: the first of `looks`.
    bus_wakes: SlotQueue,
    /// One slot per die, where commands are suspended: when to look whether a read that waits suspends what runs.
    looks: SlotQueue,
    link: Link,
    /// By die, where pages are read again: what says how often.
    retries: Vec<Rng>,
    buses: Vec<Bus>,
    /// Takes one command after the other, as a link does.
    controller: Link,
    /// Sub-requests still on their way: link latency, and the controller.
    ingress: VecDeque<(SimTime, SubRequest, SimTime)>,
    completions: Vec<SubCompletion>,
    refusals: Vec<SubRefusal>,
    notices: Vec<(SimTime, Notice)>,
    intervals: Vec<(SimTime, SimTime)>,
    /// Until when each allocation unit last collected.
    collected_until: Vec<SimTime>,
    /// Dies that collect now, and since when at least one does.
    collecting: u32,
    collecting_since: SimTime,
    /// It has reported that it collects.
    told_started: bool,
    /// It has told that a unit is at its soft threshold or below.
    registered: bool,
    window: windows::State,
    /// Operations that ask to fail fast and wait at a die.
    fast_waiting: u32,
    /// A die may have been told to collect since that was last looked at.
    told_to_collect: bool,
    /// A host operation has entered a queue since the last order to collect in idle time: such a collection gives way after its
    /// victim. No command is broken off, and any other collection goes on.
    interrupted: bool,
    stops_at_completions: bool,
    /// When something last happened by itself: nothing may be handed to it before that.
    #[cfg(debug_assertions)]
    ran_to: SimTime,
    /// When the host last gave it work, or it last did some.
    last_activity: SimTime,
    /// Its timing when it is not slowed down.
    rated: Timing,
    /// What is left of it, since it failed.
    failed: Option<Box<Remains>>,
    /// It is no part of the array yet.
    stands_by: bool,
    /// Where its blocks wear out.
    life: Option<Box<Life>>,
    /// It has neither failed nor become read-only.
    takes_all: bool,
    counters: DeviceCounters,
    /// Times an event was processed.
    events: u64,
    /// Of each unit that checks have seen, its version then; empty without checks.
    audited: Vec<Option<u64>>,
    /// As last told to a probe that asks for it.
    standing: Standing,
    /// What its dies did, where that is checked.
    diaries: Diaries,
    probe: P,
}

impl<P: Probe> Device<P> {
    /// A device in the state `ftl`, idle at time 0.
    ///
    /// # Errors
    /// If it cannot work, a policy is unknown, or one needs what the flash cannot do.
    pub fn new(config: &SsdConfig, ftl: Ftl, probe: P) -> Result<Self, String> {
        // Not the state's own: devices that age alike may still differ in their soft threshold.
        let shape = config.resolve().map_err(|error| error.to_string())?;
        let mut ftl = ftl;
        if let Some(leveling) = &config.leveling {
            ftl.level_wear(leveling);
        }
        let gc = &config.gc;
        let policies = Policies {
            victim: victim::build(&gc.victim)?,
            schedule: schedule::build(&gc.schedule)?,
            concurrency: policies::build(&gc.concurrency, config.geometry.channels)?,
        };
        Self::with_policies(config, shape, ftl, policies, probe)
    }

    /// As [`Device::new`], with policies that need not be registered.
    ///
    /// # Errors
    /// If the schedule needs what the flash cannot do.
    pub fn with_policies(
        config: &SsdConfig,
        shape: Shape,
        ftl: Ftl,
        policies: Policies,
        probe: P,
    ) -> Result<Self, String> {
        let mut needs = policies.schedule.needs();
        // A single plane has no sibling whose write offset could be equal.
        needs.fresh_blocks &= config.geometry.planes_per_die > 1;
        let (ftl_config, timing) = (&config.ftl, &config.timing);
        // What is a page to all that follows is a mapping unit.
        let transfer = config.unit_transfer();
        let by_page = !timing.read.is_same() || !timing.program.is_same() || !timing.read_retry.is_off();
        let global = config.gc.destination == Destination::Device;
        let reads_first = ftl_config.priority == Priority::ReadsFirst;
        let by_lane = shape.packing.packs()
            || reads_first
            || ftl_config.multi_plane
            || needs.queues
            || policies.victim.uses_reads()
            || timing.suspend_host_program.is_some();
        let has_cache = !config.write_cache.is_none();
        let can_suspend = timing.suspend_program.is_some() || timing.suspend_erase.is_some();
        let suspends = (needs.suspend && can_suspend) || timing.suspend_host_program.is_some();
        let (dies, units) = (shape.dies as usize, shape.units() as usize);
        let placement = shape.is_dynamic().then(|| Box::new(Placement::new(&shape)));
        let chooses = config.ftl.allocation == Allocation::Dynamic;
        let superblocks = shape.joins().then(|| Box::new(Superblocks::new(&shape, &ftl, chooses)));
        let by_parts = superblocks.is_some() && !needs.one_command;
        let cache = Cache::new(config, &shape, &ftl).map(Box::new);
        let mapping = Mapping::new(config, &shape).map(Box::new);
        let channels = config.geometry.channels;
        let standing = if probe.watches_levels() {
            Standing::new(&ftl, &shape, channels as usize)
        } else {
            Standing::default()
        };
        let governor = Governor::new(policies.concurrency, channels);
        let mut device = Device {
            is_plain: false,
            settling: Settling::default(),
            rules: Rules {
                geometry: config.geometry.clone(),
                channels: Divisor::new(config.geometry.channels.into()),
                timing: Timing { transfer, ..config.timing.clone() },
                by_page,
                page_in: if shape.packing.packs() { transfer } else { transfer + timing.command.program },
                link_page: config.link.page_time(shape.page_size),
                link_latency: config.link.latency,
                enters_at_once: config.link.latency + config.controller.command_overhead == SimDuration::ZERO,
                link_in_order: config.link.order == LinkOrder::Arrival,
                queue_depth: config.link.queue_depth,
                controller: config.controller.clone(),
                domain: config.gc.domain,
                tells_planes: shape.units_per_die > 1
                    && shape.units_per_die == config.geometry.planes_per_die,
                background: config.gc.trigger == Trigger::Background,
                sharing: Sharing::of(&config.gc)
                    .filter(|_| needs.gives_way == schedule::GivesWay::BetweenSteps),
                start: if needs.begins_at_soft { shape.soft } else { shape.ages_at },
                last_block: if governor.is_some() { LAST_BLOCK } else { 0 },
                min_victims: config.gc.min_victims,
                by_parts,
                moves_use_bus: by_parts
                    || superblocks.is_none()
                        && (global
                            || (!config.geometry.own_pins
                                && (timing.copyback != Copyback::Die || timing.command.take_time()))
                            || by_page),
                moves_directly: config.controller.units_per_second.is_none()
                    && !shape.packing.packs()
                    && !config.geometry.own_pins
                    && timing.copyback == Copyback::None
                    && !timing.command.take_time()
                    && !global,
                global,
                alone: !(global || has_cache || mapping.is_some()),
                set_aside: ftl_config.open_blocks as usize - 1,
                reads_first,
                multi_plane: ftl_config.multi_plane && config.geometry.planes_per_die > 1,
                pairs: match needs.pairs {
                    Pairs::Never => false,
                    Pairs::WithMultiPlane => ftl_config.multi_plane,
                    Pairs::Always => true,
                },
                suspends,
                drains_in_part: has_cache && !config.write_cache.drain.is_full(),
                deadlines: needs.deadlines.is_some(),
                slack: needs.deadlines.unwrap_or_default(),
                page_size: Divisor::new(shape.page_size.into()),
                shape,
            },
            ftl,
            victim: policies.victim,
            schedule: policies.schedule,
            schedule_needs: needs,
            governor,
            dies: vec![Die::default(); dies],
            pumps: cache.is_some() || mapping.is_some(),
            cache,
            mapping,
            binds_late: placement.is_some() || superblocks.is_some(),
            placement,
            superblocks,
            background: None,
            ops: Slab::default(),
            lanes: by_lane.then(|| Box::new(Lanes::new(units.max(dies)))),
            index: by_lane.then(|| Box::new(Index::new(dies))),
            queued_reads: Vec::new(),
            subs: Slab::default(),
            wakes: SlotQueue::new(dies),
            bus_wakes: SlotQueue::new(channels as usize + 1 + usize::from(has_cache) + usize::from(suspends)),
            looks: SlotQueue::new(if suspends { dies } else { 0 }),
            link: Link::default(),
            controller: Link::default(),
            retries: Vec::new(),
            buses: vec![Bus::default(); channels as usize],
            ingress: VecDeque::new(),
            completions: Vec::new(),
            refusals: Vec::new(),
            notices: Vec::new(),
            intervals: Vec::new(),
            collected_until: vec![SimTime::ZERO; units],
            collecting: 0,
            collecting_since: SimTime::ZERO,
            told_started: false,
            registered: false,
            window: windows::State::None,
            fast_waiting: 0,
            told_to_collect: false,
            interrupted: false,
            stops_at_completions: false,
            #[cfg(debug_assertions)]
            ran_to: SimTime::ZERO,
            last_activity: SimTime::ZERO,
            rated: config.timing.clone(),
            failed: None,
            stands_by: false,
            life: None,
            takes_all: true,
            counters: DeviceCounters::default(),
            events: 0,
            audited: Vec::new(),
            standing,
            diaries: Diaries::new(if probe.audits() { dies } else { 0 }),
            probe,
        };
        device.retry_reads(0, 0);
        device.is_plain = device.is_plain();
        device.settling = device.begin_settling();
        Ok(device)
    }

    /// Asks the caches for what any operation looks at: of a device that is one of many, and about to be handed one.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_whole(self);
    }

    /// The same for what an operation on this byte looks at, of a device that has been [asked for](Self::prefetch) some time before.
    #[inline]
    pub fn prefetch_for(&self, offset: Bytes) {
        let shape = &self.rules.shape;
        let (page, _) = self.rules.page_size.divide(offset);
        if page >= u64::from(shape.logical_pages) {
            return;
        }
        self.prefetch_page(page as u32);
        if shape.is_dynamic() {
            // Its die is not known yet.
            return;
        }
        let (die, unit, _) = shape.locate(page as u32);
        if let Some(slot) = self.dies.get(die as usize) {
            prefetch_whole(slot);
            self.wakes.prefetch(die as usize);
        }
        self.ops.prefetch_free(0);
        self.subs.prefetch_free(0);
        self.ftl.prefetch_unit(unit);
    }

    /// The same for the map entry of the page at this byte alone.
    #[inline]
    pub fn prefetch_entry(&self, offset: Bytes) {
        let (page, _) = self.rules.page_size.divide(offset);
        if page < u64::from(self.rules.shape.logical_pages) {
            self.prefetch_page(page as u32);
        }
    }

    /// The same for the map entry of a page of the device.
    #[inline]
    fn prefetch_page(&self, lpn: u32) {
        let (_, unit, lpn) =
            if self.rules.shape.is_dynamic() { (0, 0, lpn) } else { self.rules.shape.locate(lpn) };
        self.ftl.prefetch(unit, lpn);
    }

    /// Sub-requests that completed, in the order they became known; the caller empties the vector.
    pub fn completions(&mut self) -> &mut Vec<SubCompletion> {
        &mut self.completions
    }

    /// Pages that were refused, in order of time, to be heard of before the completions; the caller empties it.
    pub fn refusals(&mut self) -> &mut Vec<SubRefusal> {
        &mut self.refusals
    }

    /// What the device has reported since they were last drained, in order of time.
    pub fn notices(&mut self) -> &mut Vec<(SimTime, Notice)> {
        &mut self.notices
    }

    /// Intervals during which some die collected, in order of time, zero-length ones left out.
    pub fn gc_intervals(&mut self) -> &mut Vec<(SimTime, SimTime)> {
        &mut self.intervals
    }

    /// Whether there are refusals, notices or intervals to be heard of.
    #[inline]
    pub fn has_told(&self) -> bool {
        (self.refusals.len() | self.notices.len() | self.intervals.len()) != 0
    }

    /// Since when some die has been collecting, if one is.
    pub fn collecting_since(&self) -> Option<SimTime> {
        (self.collecting > 0).then_some(self.collecting_since)
    }

    /// How many operations it is to be given at once, if that is limited. Whoever submits them keeps the rest.
    pub fn queue_depth(&self) -> Option<u32> {
        self.rules.queue_depth
    }

    /// How it takes commands from the queues of whoever submits them, who keeps the rest.
    pub fn controller(&self) -> &ControllerConfig {
        &self.rules.controller
    }

    /// The mapping state.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// The dies that collect now, lowest first.
    pub fn collecting_dies(&self) -> impl Iterator<Item = u32> + '_ {
        let collects = |(index, die): (usize, &Die)| die.collects().then_some(index as u32);
        self.dies.iter().enumerate().filter_map(collects)
    }

    /// The probe.
    pub fn probe(&self) -> &P {
        &self.probe
    }
}

/// The policies of a device.
pub struct Policies {
    /// Which block to collect.
    pub victim: Box<dyn Victim>,
    /// What a die does next.
    pub schedule: Box<dyn Schedule>,
    /// How many channels collect at once.
    pub concurrency: Box<dyn Concurrency>,
}
