//! The O-RAID controller: carries out plans on the members and delivers messages between them and the coordinator.
//!
//! Like its devices it is sans-IO. Order at one moment: messages, then devices (lowest member first, each in its own
//! order), then whatever the caller submits. Members influence one another through what follows a completion: the next
//! step of a transaction, rows that somebody waits for, a coordinator's reaction. Where nobody listens, a member that has no
//! operation with such a consequence runs on its own, up to the next event of one that has any. A member that has any runs up to
//! the next event of any other one.
//!
//! * `arrivals`: how requests begin, and `requests`: how they end;
//! * `access`: members are reserved and opened, and what they had is done;
//! * `ahead`: members that run ahead of one another, each through the operations of many requests;
//! * `mirrors`: the same where they hold copies, of which reads choose one;
//! * `horizon`: how far, where a coordinator hears of members; `inboxes` is what they have yet to do;
//! * `lookahead`: whether they may, option by option;
//! * `planning`: how transactions begin, and what of them is ready;
//! * `pump`: hands over what is ready, and deals with what devices have done; `gathering` is what they say;
//! * `delivery`: messages that are due, and the end of transactions;
//! * `transactions`: what is known of them, chains of blame; `owners` is whose an operation is;
//! * `states`: whose work a transaction is, and how far it and its operations are;
//! * `gate`: what rows, bits, entries and the log are to who comes;
//! * `locks`: who holds which rows;
//! * `tokens`: operations under way, as members know them;
//! * `path`: the way of an operation to its member and back, through `layers`:
//!   * `standing_in`: members whose places others have taken;
//!   * `nvram`: the table of writes that are parked;
//!   * `reserved`: members that take nothing for now, and who waits for them;
//!   * `depth`: operations that wait until a member, or all of them, are given one more;
//!   * `hedges`: reads that take too long;
//!   * `link`: data on its way over a link that all members share;
//! * `refusals`: pages that a member refuses, reads that are answered otherwise, races; `pieces` is what is cut off operations;
//! * `resuming`: what has waited for a member or a place goes on;
//! * `members`: the devices, and what the controller knows of them;
//! * `looking`: what can be seen of members that collect;
//! * `parking`: writes that go to NVRAM, and back;
//! * `caching`: writes and the stripe cache: waiting for entries, merged, delayed; `crate::stripe_cache` is the table;
//! * `failure`: failures of members, and spares that take their places; `faults` is the table;
//! * `power`: losses of power, and how the array starts again; `clean`: whether members have flushed what was written;
//! * `background`: rebuilding, copying, resyncing and scrubbing; `jobs` is the table;
//! * `logging`: what is written before the members, so that a power loss tears no row; `log` is the table;
//! * `marking`: bits that say what may be being written, before it is; `bitmap` is the table;
//! * `copying`: spares that take the places of members that still work;
//! * `tidying`: drains that let go on what has begun, and idle time, for planners that displace units;
//! * `messages`: notices, directives, queries, timers, and what the coordinator does about them;
//! * `rounds`: windows that go by while nothing happens;
//! * `payload`: a hook on what operations carry;
//! * `trails`: the way of single requests, where somebody follows them.
//!
//! Not modelled: time of the controller itself.

mod access;
mod ahead;
mod arrivals;
mod background;
mod bitmap;
mod caching;
mod clean;
mod copying;
mod delivery;
mod depth;
mod failure;
mod faults;
mod gate;
mod gathering;
mod hedges;
mod horizon;
mod inboxes;
mod jobs;
mod layers;
mod link;
mod locks;
mod log;
mod logging;
mod lookahead;
mod looking;
mod marking;
mod members;
mod messages;
mod mirrors;
mod nvram;
mod owners;
mod parking;
mod path;
pub mod payload;
mod pieces;
mod planning;
mod power;
mod pump;
mod refusals;
mod requests;
mod reserved;
mod resuming;
mod rounds;
mod standing_in;
mod states;
mod tidying;
mod tokens;
mod trails;
mod transactions;

use std::collections::{BTreeSet, VecDeque};

use harmonia_engine::{EventQueue, SlotQueue};
use harmonia_ssd::interface::Status;
use harmonia_ssd::probe::{NoProbe, Probe};
use harmonia_ssd::{AtEnd, Device, DeviceFailure, Ftl, SubCompletion, SubRefusal};
use harmonia_types::{
    BitmapCounters, BoundCounters, Bytes, CacheCounters, Completion, Deadlines, DeviceId, HostRequest,
    LogCounters, NvramCounters, ReadCounters, RedundancyCounters, SimDuration, SimTime, WallClock,
};

use crate::config::{ArrayConfig, Knowledge, Reads};
use crate::coordination::{self, Action, Coordinator, Delivered, Event, Interests, Parameters};
use crate::health::Health;
use crate::layout::{Layout, Level};
use crate::member::Access;
use crate::planner::{self, Dodge, LossCounters, Plan, Planner, Transaction};
use arrivals::WaitingFlush;
use bitmap::Bitmap;
use caching::Caching;
use clean::Clean;
use depth::Depth;
use faults::Failures;
pub use faults::{Mishap, MishapKind};
use inboxes::Ahead;
use jobs::Background;
pub use jobs::BackgroundCounters;
use layers::{CommandLayers, Terms};
use locks::RowLocks;
use log::Log;
use lookahead::Lookahead;
use looking::Sight;
use members::Members;
use messages::Message;
pub use messages::MessageCounters;
use nvram::Nvram;
use payload::{NoPayload, Payload};
use planning::Ready;
use requests::RequestState;
use reserved::Reserved;
use rounds::Rounds;
use states::Purpose;
use tidying::Tidying;
use tokens::Nodes;
use trails::Trails;
pub use trails::{Followed, Followup, Holder, OperationAccount, Step, What};
use transactions::{Chain, Running};

/// A whole array of simulated SSDs.
#[derive(Clone)]
pub struct Array<P: Probe = NoProbe, C: Payload = NoPayload> {
    members: Members<P>,
    layout: Layout,
    planner: Box<dyn Planner>,
    coordinator: Box<dyn Coordinator>,
    /// Faults, and the array's own work; only where any may happen.
    failures: Option<Box<Failures<P>>>,
    background: Option<Box<Background>>,
    /// Writes of rows go there first.
    log: Option<Box<Log>>,
    /// Says which parts of the members may be being written.
    bitmap: Option<Box<Bitmap>>,
    #[cfg(test)]
    bucket: Option<Box<gate::tests::TokenBucket>>,
    /// Only where the planner displaces units.
    tidying: Option<Box<Tidying>>,
    interests: Interests,
    /// Somebody wants to know who collects.
    listens: bool,
    /// Requests need no transactions: see [`Planner::is_flat`]. Over as soon as a member may refuse operations.
    is_flat: bool,
    /// Nobody but transactions and requests has to do with the way of an operation: see [`Array::has_no_options`].
    is_bare: bool,
    /// What keeps members together, of the options.
    lookahead: Lookahead,
    /// Only where members run ahead of one another.
    ahead: Option<Box<Ahead>>,
    /// Only where the coordinator or the array does the same round after round.
    rounds: Option<Rounds>,
    message_latency: SimDuration,
    /// Messages on their way, timers, and what follows the end of a step.
    agenda: EventQueue<Message>,
    /// Which moment of UTC a simulated time stands for, if the load has clock times.
    clock: Option<WallClock>,
    /// Answers, and completions that the coordinator wants to hear of, on their way.
    answers: harmonia_ssd::Slab<(Status, SimTime)>,
    told: harmonia_ssd::Slab<Completion>,
    requests: harmonia_ssd::Slab<RequestState>,
    transactions: harmonia_ssd::Slab<Running>,
    nodes: Nodes,
    /// Transactions that found out what a read was to bring, on their way.
    chains: harmonia_ssd::Slab<Chain>,
    locks: RowLocks,
    locks_rows: bool,
    /// Transactions that had to wait for rows so far.
    row_waits: u64,
    /// Requests acknowledged so far with operations under way behind them, and which of these are not done.
    acknowledged: u64,
    unsettled: BTreeSet<u64>,
    flushes: Vec<WaitingFlush>,
    knowledge: Knowledge,
    /// Reads avoid members.
    dodges: bool,
    /// The coordinator has asked members for their status.
    asks: bool,
    /// On the way of operations to members and back. `layers` has those that commands pass.
    reserved: Reserved,
    layers: CommandLayers,
    nvram: Option<Box<Nvram>>,
    cache: Option<Box<Caching>>,
    page_size: Bytes,
    /// The last moment at which a message was delivered, a request arrived, or a member refused something.
    latest: SimTime,
    /// One slot a member: when it next has something to do.
    wakes: SlotQueue,
    /// By device: operations it has on which hangs what their transactions do next; and when those members that have any
    /// next have something to do, which is kept only where members may be ahead of one another.
    coupled: Vec<u32>,
    coupled_wakes: SlotQueue,
    /// Transactions that wait for rows.
    waiting: u32,
    payload: C,
    /// Only where requests are followed.
    trails: Option<Box<Trails>>,
    /// What members are told about how much time there is.
    deadlines: Deadlines,
    completions: Vec<Completion>,
    /// Collecting intervals by member, as (member, start, end).
    intervals: Vec<(DeviceId, SimTime, SimTime)>,
    counters: MessageCounters,
    plan: Plan,
    patch: Plan,
    split: Vec<Transaction>,
    granted: Vec<u32>,
    actions: Vec<Action>,
    /// Room for the completions of the member that is dealt with first.
    first: Vec<SubCompletion>,
    /// Completions and refusals of members that follow from these, and are yet to be dealt with.
    finished: VecDeque<SubCompletion>,
    refused: VecDeque<SubRefusal>,
    /// The members that these come from.
    finished_at: Vec<usize>,
    /// What is to be handed to members before anything else happens.
    ready: Vec<Ready>,
    /// Completions are being dealt with: what follows from them is left to whoever does that.
    is_dealing: bool,
    /// The coordinator knows that the run has begun.
    started: bool,
}

/// What decides and what listens.
pub struct Parts<C> {
    /// Who collects when.
    pub coordinator: Box<dyn Coordinator>,
    /// What requests become.
    pub planner: Box<dyn Planner>,
    /// Who hears of operations.
    pub payload: C,
}

harmonia_types::counters! {
    /// What an array with redundancy has counted.
    pub struct ArrayCounters {
        /// What parity makes of writes.
        pub redundancy: RedundancyCounters;
        /// Reads around members that collect.
        pub reads: ReadCounters;
        /// Page operations beside what a scheme promises.
        pub bounds: BoundCounters;
        /// Writes parked in NVRAM.
        pub nvram: NvramCounters;
        /// What failures have cost.
        pub losses: LossCounters;
        /// Pages that members could not read.
        pub unreadable_pages: u64 = Sum, "pages";
        /// What the stripe cache did.
        pub cache: CacheCounters;
        /// What a log has cost.
        pub log: LogCounters;
        /// What a write-intent bitmap has cost.
        pub bitmap: BitmapCounters;
    }
}

/// A member that cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayFailure {
    /// The member.
    pub device: DeviceId,
    /// What happened to it.
    pub failure: DeviceFailure,
}

impl std::fmt::Display for ArrayFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "device {} {}", self.device.0, self.failure)
    }
}

impl std::error::Error for ArrayFailure {}

impl<P: Probe> Array<P, NoPayload> {
    /// An array whose members start in the given states. `excluded` is left out of the stripe (skewed loads reach it
    /// by pinned requests only).
    ///
    /// # Errors
    /// If a policy is unknown or refuses its keys, or the number of states is not that of the members.
    pub fn new(
        config: &ArrayConfig,
        states: Vec<Ftl>,
        excluded: Option<DeviceId>,
        mut probe: impl FnMut(DeviceId) -> P,
    ) -> Result<Self, String> {
        let layout = laid_out(config, excluded);
        let coordinator = coordinator(config)?;
        let planner = planner_of(config, &layout, &*coordinator)?;
        let parts = Parts { coordinator, planner, payload: NoPayload };
        Self::build(config, layout, states, parts, &mut probe)
    }
}

/// How far `device` may run while another member has an event at such a time: at equal times the lowest goes first.
#[inline]
fn before(other: Option<(SimTime, usize)>, device: usize) -> SimTime {
    match other {
        Some((time, other)) if other < device => SimTime(time.0.saturating_sub(1)),
        Some((time, _)) => time,
        None => SimTime::NEVER,
    }
}

/// Whether a device has been written a page.
pub(crate) fn holds(ftl: &Ftl, page: u64) -> bool {
    let (page, shape) = (page as u32, ftl.shape());
    if shape.is_dynamic() {
        return ftl.home(page).is_some();
    }
    let (_, unit, own) = shape.locate(page);
    ftl.lookup(unit, own).is_some()
}

/// The layout of an array, without a member that requests reach by pinning only.
fn laid_out(config: &ArrayConfig, excluded: Option<DeviceId>) -> Layout {
    let layout = config.layout();
    match excluded {
        Some(excluded) => layout.all_but(excluded),
        None => layout,
    }
}

/// Whether a loss of power may take something from one member that others of the row keep.
fn loses_rows(config: &ArrayConfig) -> bool {
    config.members_forget() && !config.faults.power_losses.is_empty()
}

/// Builds the coordinator an array is configured with.
fn coordinator(config: &ArrayConfig) -> Result<Box<dyn Coordinator>, String> {
    let policy = &config.coordination.policy;
    let entry = coordination::POLICIES
        .find(policy)
        .ok_or_else(|| format!("unknown coordination policy `{policy}`"))?;
    (entry.build)(&Parameters {
        devices: config.devices,
        redundancy: config.level.redundancy(config.devices),
        members: &config.members,
        message_latency: config.coordination.message_latency,
        own: &config.coordination.own,
    })
}

/// Builds the planner of an array that is configured so.
fn planner_of(
    config: &ArrayConfig,
    layout: &Layout,
    coordinator: &dyn Coordinator,
) -> Result<Box<dyn Planner>, String> {
    planner::of(&planner::Parameters {
        layout,
        small_write: config.small_write,
        page: config.page_size(),
        dodge: dodge(config, coordinator),
        coordination: &config.coordination.policy,
        members: &config.members,
        area: config.area(),
    })
}

/// What reads and writes do about members that collect: as the coordinator has it, or else the array.
fn dodge(config: &ArrayConfig, coordinator: &dyn Coordinator) -> Dodge {
    let page_read = |member: &crate::MemberConfig| {
        let timing = &member.ssd.timing;
        timing.command.read
            + timing.read.mean()
            + member.ssd.unit_transfer()
            + member.ssd.link.page_time(member.ssd.mapping_unit())
    };
    Dodge {
        reads: coordinator.reads().unwrap_or(config.knowledge.reads),
        parks: config.knowledge.nvram > 0,
        may_fail: !config.is_faultless(),
        degraded_writes: config.degraded_writes,
        page_read: config.members.first().map_or(SimDuration::ZERO, page_read),
        free_stripes: if coordinator.displaces() { config.knowledge.free_stripes } else { 0 },
        placing: coordinator.placing(),
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// As [`Array::new`], with somebody who hears of operations.
    ///
    /// # Errors
    /// As [`Array::new`].
    pub fn with_payload(
        config: &ArrayConfig,
        states: Vec<Ftl>,
        payload: C,
        mut probe: impl FnMut(DeviceId) -> P,
    ) -> Result<Self, String> {
        let layout = config.layout();
        let coordinator = coordinator(config)?;
        let planner = planner_of(config, &layout, &*coordinator)?;
        Self::build(config, layout, states, Parts { coordinator, planner, payload }, &mut probe)
    }

    /// As [`Array::new`], with parts that need not be registered.
    ///
    /// # Errors
    /// If the members cannot be built.
    pub fn with_parts(
        config: &ArrayConfig,
        states: Vec<Ftl>,
        parts: Parts<C>,
        mut probe: impl FnMut(DeviceId) -> P,
    ) -> Result<Self, String> {
        Self::build(config, config.layout(), states, parts, &mut probe)
    }

    fn build(
        config: &ArrayConfig,
        layout: Layout,
        states: Vec<Ftl>,
        Parts { coordinator, mut planner, payload }: Parts<C>,
        probe: &mut dyn FnMut(DeviceId) -> P,
    ) -> Result<Self, String> {
        let faults = &config.faults;
        let journal = faults.journal.as_ref();
        let log = Log::new(config, &layout)?;
        let bitmap = Bitmap::new(config, &layout)?;
        let expected = config.members.len() + faults.spares.len() + journal.iter().len();
        if states.len() != expected || config.members.is_empty() {
            let (states, members, spares) = (states.len(), config.members.len(), faults.spares.len());
            return Err(format!("{states} states for {members} members and {spares} spares"));
        }
        if !faults.power_losses.is_empty() && matches!(config.level, Level::Draid(_)) {
            return Err("declustered arrays lose no power".to_owned());
        }
        if loses_rows(config) && !faults.spares.is_empty() {
            return Err("members that forget what they cache lose power without spares".to_owned());
        }
        if config.level.distributed_spares() > 0 && !faults.spares.is_empty() {
            return Err(format!(
                "{} has distributed spares, and no device takes the place of a member",
                config.level
            ));
        }
        let mut devices = Vec::with_capacity(states.len());
        let configs = config.members.iter().chain(&faults.spares).chain(journal);
        for (index, (member, state)) in configs.zip(states).enumerate() {
            let mut device = Device::new(&member.ssd, state, probe(DeviceId(index as u16)))?;
            let is_watched = Depth::is_limited(config) || config.link_bandwidth.is_some();
            if coordinator.interests().completions || !planner.is_flat() || is_watched {
                // What is made of one may concern this device the moment after.
                device.stop_at_completions();
            }
            device.retry_reads(faults.seed, index as u16);
            if let Some(wear) = &member.ssd.wear {
                device.wear_out(wear, faults.seed, index as u16);
            }
            if index >= config.members.len() {
                // A spare is worn out when it is a member, a journal never.
                device.set_at_end(AtEnd::Takes);
                if index < config.members.len() + faults.spares.len() {
                    device.stands_by();
                }
            } else if config.level.redundancy(config.devices) > 0 {
                device.set_at_end(AtEnd::Refuses);
            }
            devices.push(device);
        }
        planner.begins_with(&|member, byte| {
            let page = byte / config.page_size();
            devices.get(member.index()).is_some_and(|device| holds(device.ftl(), page))
        });
        let mut spares = devices.split_off(config.members.len());
        let journal = journal.and_then(|_| spares.pop());
        let mut failures =
            (!config.is_faultless()).then(|| Box::new(Failures::new(faults, devices.len(), spares)));
        if let Some(failures) = &mut failures {
            failures.forgets = config.members_forget();
            failures.clean = (log.is_none() && loses_rows(config)).then(Clean::default);
        }
        devices.extend(journal);
        let background =
            failures.is_some().then(|| Box::new(Background::new(faults.rebuild, layout.member_bytes())));
        let unknown = |member: &crate::MemberConfig| Delivered {
            status: None,
            as_of: SimTime::ZERO,
            capable: member.capable,
            collecting: false,
        };
        let reads = coordinator.reads().unwrap_or(config.knowledge.reads);
        let offered = config.knowledge.interface;
        // A policy with a rule of its own for reads goes by no more than it says that it needs.
        let rung = coordinator.reads().map_or(offered, |_| offered.min(coordinator.interface()));
        let no_time = SimDuration::ZERO;
        let is_prompt = config.coordination.message_latency == no_time
            && config.members.iter().all(|member| {
                let ssd = &member.ssd;
                ssd.link.latency + ssd.controller.command_overhead == no_time
            });
        let slots = devices.len() + faults.replacements();
        let mut wakes = SlotQueue::new(slots);
        for (index, device) in devices.iter().enumerate() {
            wakes.set_ranked(index, device.next_wakeup());
        }
        let sight = Sight::of(rung, is_prompt);
        let dodges = matches!(reads, Reads::Avoid(_));
        let rounds = Rounds::of(&*coordinator, sight == Sight::Answers && dodges, &devices);
        let layers = CommandLayers::new(config, devices.iter().map(Terms::of).collect(), reads);
        let (slot_count, members) = (devices.len(), config.members.len() as u16);
        // A journal follows the members, and has the number behind the spares.
        let number = |slot| if slot < members { slot } else { slot + faults.spares.len() as u16 };
        Ok(Array {
            members: Members {
                health: Health::of_layout(&layout),
                delivered: config.members.iter().map(unknown).collect(),
                numbers: (0..slot_count as u16).map(number).collect(),
                fixed: devices.len(),
                avoided: vec![false; devices.len()],
                outstanding: vec![0; devices.len()],
                sight,
                devices,
            },
            failures,
            background,
            log,
            bitmap,
            #[cfg(test)]
            bucket: None,
            tidying: planner.tidies().map(|_| Box::new(Tidying::new(slot_count))),
            answers: harmonia_ssd::Slab::default(),
            told: harmonia_ssd::Slab::default(),
            transactions: harmonia_ssd::Slab::default(),
            locks: RowLocks::default(),
            locks_rows: true,
            row_waits: 0,
            acknowledged: 0,
            unsettled: BTreeSet::new(),
            flushes: Vec::new(),
            reserved: Reserved::new(slot_count, rung, offered),
            layers,
            dodges,
            asks: false,
            nvram: (config.knowledge.nvram > 0)
                .then(|| Box::new(Nvram::new(config.knowledge.nvram, config.page_size(), slot_count))),
            cache: Caching::of(config.stripe_cache, &layout),
            knowledge: config.knowledge,
            page_size: config.page_size(),
            latest: SimTime::ZERO,
            refused: VecDeque::new(),
            coupled: vec![0; slot_count],
            coupled_wakes: SlotQueue::new(slots),
            waiting: 0,
            wakes,
            payload,
            trails: None,
            patch: Plan::default(),
            split: Vec::new(),
            granted: Vec::new(),
            layout,
            listens: coordinator.interests().devices || planner.watches_devices(),
            is_flat: planner.is_flat(),
            is_bare: false,
            lookahead: Lookahead::of(config, reads, &*coordinator, planner.watches_devices()),
            ahead: None,
            rounds,
            planner,
            interests: coordinator.interests(),
            coordinator,
            message_latency: config.coordination.message_latency,
            agenda: EventQueue::default(),
            clock: None,
            requests: harmonia_ssd::Slab::default(),
            nodes: Nodes::default(),
            chains: harmonia_ssd::Slab::default(),
            deadlines: Deadlines::default(),
            completions: Vec::new(),
            intervals: Vec::new(),
            counters: MessageCounters::default(),
            plan: Plan::default(),
            actions: Vec::new(),
            first: Vec::new(),
            finished: VecDeque::new(),
            finished_at: Vec::new(),
            ready: Vec::new(),
            is_dealing: false,
            started: false,
        })
    }

    /// Requests submitted from now on should be done within these times of their arrival; members are told.
    pub fn set_deadlines(&mut self, deadlines: Deadlines) {
        self.deadlines = deadlines;
        self.is_bare = self.has_no_options();
    }

    /// Which moment of UTC a simulated time stands for: told before time passes, for coordinators that mind the time of day.
    pub fn set_clock(&mut self, clock: Option<WallClock>) {
        self.clock = clock;
    }

    /// Tells the coordinator once that the run begins.
    pub(super) fn start(&mut self) {
        if !self.started {
            self.started = true;
            self.is_bare = self.has_no_options();
            self.arrange_faults();
            self.consult(SimTime::ZERO, &Event::Start);
            if self.members.sight == Sight::Answers && self.dodges {
                self.agenda.push(SimTime::ZERO, Message::Poll);
            }
        }
    }

    /// Hands a host request to the array at its arrival. Everything due at or before that must have been advanced.
    ///
    /// # Errors
    /// If a member runs out of free blocks.
    pub fn submit(&mut self, request: HostRequest) -> Result<(), ArrayFailure> {
        debug_assert!(self.ahead.is_none(), "members run ahead: requests come by `submit_ahead`");
        self.start();
        let now = request.arrival;
        self.latest = self.latest.max(now);
        if let Some(trails) = &mut self.trails {
            trails.arrives(request.id);
        }
        if self.failures.is_some() {
            self.count_request(now)?;
        }
        if self.interests.arrivals {
            self.consult(now, &Event::Arrival(request));
        }
        if self.payload.is_active() {
            self.payload.arrives(&request);
        }
        if self.failures.is_some() && self.holds_until_restart(&request, now) {
            return Ok(());
        }
        self.take_up(request, now)
    }

    /// Begins work that belongs to no request.
    ///
    /// # Errors
    /// If a member runs out of free blocks.
    pub fn submit_background(&mut self, now: SimTime, transaction: Transaction) -> Result<(), ArrayFailure> {
        self.start();
        self.begin_own(Purpose::Unawaited, transaction, now);
        self.carry_out(now)
    }

    /// The next moment at which something happens by itself; [`SimTime::NEVER`] if nothing will.
    pub fn next_wakeup(&self) -> SimTime {
        self.wakes.next_time().min(self.agenda.next_time())
    }

    /// Lets time pass up to and including `until`.
    ///
    /// # Errors
    /// If a member runs out of free blocks; the array must not be used again.
    pub fn advance_until(&mut self, until: SimTime) -> Result<(), ArrayFailure> {
        self.start();
        let in_step = self.lookahead.in_step();
        loop {
            let message = self.agenda.next_time();
            let (time, device) = self.wakes.peek().unwrap_or((SimTime::NEVER, 0));
            if message.min(time) > until || message.min(time) == SimTime::NEVER {
                return Ok(());
            }
            if message <= time {
                let may_rest = time == SimTime::NEVER && self.rounds.is_some();
                if !(may_rest && self.let_rounds_pass(message, until)?) {
                    self.deliver(message)?;
                }
                continue;
            }
            // A message is delivered before anything that members do at its time.
            let bound = until.min(SimTime(message.0.saturating_sub(1)));
            let is_at_work = !self.is_bare && self.is_at_work();
            let in_step = in_step || self.waiting > 0 || !self.flushes.is_empty() || is_at_work;
            if in_step {
                // What follows may concern any member, so none may be behind.
                let limit = before(self.wakes.peek_second(), device);
                self.advance_device(device, limit.min(bound), true)?;
            } else if self.coupled[device] > 0 {
                // The same holds for it. Most of its events end something, and then it stops in any case.
                self.advance_device(device, time, true)?;
            } else {
                let limit = before(self.coupled_wakes.peek(), device);
                self.advance_device(device, limit.min(bound), false)?;
            }
        }
    }

    /// The array rests: the round that begins with the next message is simulated, and those that follow go by. `false` if there is none.
    #[cold]
    fn let_rounds_pass(&mut self, message: SimTime, until: SimTime) -> Result<bool, ArrayFailure> {
        let Some(round) = self.begin_round(message, until) else { return Ok(false) };
        self.advance_until(round.last())?;
        self.pass_rounds(&round);
        Ok(true)
    }

    fn advance_device(&mut self, device: usize, until: SimTime, stop: bool) -> Result<(), ArrayFailure> {
        let result = self.members.devices[device].advance_until(until, stop);
        result.map_err(|failure| ArrayFailure { device: DeviceId(device as u16), failure })?;
        self.take_over_from(device)
    }

    /// Requests that completed, in the order they became known (a `finish` may lie ahead); the caller empties it.
    pub fn completions(&mut self) -> &mut Vec<Completion> {
        &mut self.completions
    }

    /// Intervals in which members collected, in order of time for each member; the caller empties it.
    pub fn gc_intervals(&mut self) -> &mut Vec<(DeviceId, SimTime, SimTime)> {
        &mut self.intervals
    }

    /// The members.
    pub fn devices(&self) -> &[Device<P>] {
        &self.members.devices[..self.members.delivered.len()]
    }

    /// The measured window begins: members count their maxima anew, and their probes are told.
    pub fn begin_window(&mut self, from: SimTime) {
        self.members.devices.iter_mut().for_each(|device| device.begin_window(from));
        if let Some(failures) = self.failures.as_deref_mut() {
            failures.not_members().for_each(|device| device.begin_window(from));
        }
    }

    /// What members hold.
    pub fn health(&self) -> &Health {
        &self.members.health
    }

    /// How the array's bytes lie on its members.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Opens a member to operations, or keeps them from it; those it has go on.
    ///
    /// # Panics
    /// If members [run ahead](Self::run_ahead): then none may refuse anything. If the member has failed, and no device is in its place.
    pub fn set_access(&mut self, device: DeviceId, access: Access) {
        self.members.health.change(device, |member| member.set_access(access));
        self.access_has_changed(device);
    }

    /// Who hears of operations.
    pub fn payload_mut(&mut self) -> &mut C {
        &mut self.payload
    }

    /// Checks what must always hold of parked writes and the stripe cache, and that nobody waits where nothing is under way.
    ///
    /// # Panics
    /// Says what is broken.
    pub fn audit(&self) {
        if let Some(nvram) = &self.nvram {
            nvram.audit();
        }
        if let Some(cache) = &self.cache {
            cache.audit();
        }
        let is_over = self.transactions.live() == 0;
        assert!(!is_over || self.waiting == 0, "{} wait, and no transaction is under way", self.waiting);
    }

    /// What an array with redundancy has counted so far.
    pub fn counters(&self) -> ArrayCounters {
        let hedges = self.layers.hedges.as_deref();
        let (hedges, hedges_won) = hedges.map_or((0, 0), |hedges| (hedges.begun, hedges.won));
        ArrayCounters {
            redundancy: RedundancyCounters { stripe_waits: self.row_waits, ..self.planner.counters() },
            reads: ReadCounters { hedges, hedges_won, ..self.planner.read_counters() },
            bounds: self.planner.bound_counters(),
            nvram: self.nvram.as_ref().map_or_else(NvramCounters::default, |nvram| nvram.counters()),
            losses: self.losses(),
            unreadable_pages: self.unreadable_pages(),
            cache: self.cache.as_deref().map_or_else(CacheCounters::default, Caching::counters),
            log: self.log_counters(),
            bitmap: self.bitmap_counters(),
        }
    }

    /// Messages between controller and members so far.
    pub fn message_counters(&self) -> &MessageCounters {
        &self.counters
    }

    /// What the coordination policy has counted so far; see [`Coordinator::counters`] and [`Planner::own_counters`].
    pub fn policy_counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.coordinator.counters();
        counters.extend(self.planner.own_counters());
        counters
    }
}
