//! Where the time of single requests went: each step on the way to the operation that finished last, on which member, die,
//! plane and bus, and which collections were in the way.
//!
//! ```text
//! first pass    every request ──► the slowest, by response time; ties by number
//! second pass   the same run, bit by bit, follows these ──► steps ──► parts
//! ```
//!
//! A run that follows requests takes the general way through the simulator, which is slower, and ends the same. So the slowest
//! are found first. The parts of a request sum to its response time exactly, and so do those of each phase and cause with its
//! blame: where they did not, there is a defect, and no explanation.
//!
//! Leaves out: which operation held a bus or a link that others waited for, and victims beyond the first 256 of a collection.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use harmonia_array::{AgedState, Followed, Followup, Holder, OperationAccount, Step, What};
use harmonia_metrics::rows::OPERATIONS;
use harmonia_metrics::{BlameSum, Observer, Report};
use harmonia_scenario::{Scenario, Variant};
use harmonia_ssd::follow::{Before, Collection, MapAccount, Met, PageAccount, Place, Why};
use harmonia_types::units::format_duration;
use harmonia_types::{
    Blame, Completion, Counter, Counters, DeviceId, IoCause, Operation, Phase, RequestBlame, SimDuration,
    SimTime, sort_by_numbers,
};
use serde::Serialize;

use crate::seeds::Job;
use crate::tape::{self, MemberTape, TapeWindow, Taped};
use crate::{
    Group, Observe, RunError, RunId, RunOptions, VERSION, age_or_load, bad_input, fits_in_memory, loads,
    no_report, rewrites,
};

/// The `schema` of every explanation.
pub const SCHEMA: &str = "harmonia-explanation/1";
/// Requests that can be explained at once. Unit: count.
pub const MOST: usize = 1000;

/// Which requests are explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// So many, the slowest first.
    Slowest(usize),
    /// This one.
    Request(u64),
    /// All that are measured, in order of their numbers; for tests.
    All,
}

/// Requests and where their time went.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of Harmonia that ran.
    pub version: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Root seed.
    pub seed: u64,
    /// Requests in the measured window. Unit: count.
    pub measured: u64,
    /// Those that were asked for.
    pub requests: Vec<Explained>,
    /// Who may order collections.
    #[serde(skip)]
    pub(crate) names: Names,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// Its number in the load, counted from 0.
    pub request: u64,
    /// What it did.
    pub operation: &'static str,
    /// Its first byte.
    pub offset: u64,
    /// Unit: bytes.
    pub length: u64,
    /// In simulated time, as in `requests.parquet`. Unit: ns.
    pub arrival_ns: u64,
    /// Unit: ns.
    pub finish_ns: u64,
    /// Unit: ns.
    pub response_ns: u64,
    /// One after the other, from arrival to finish.
    pub steps: Vec<ExplainedStep>,
}

/// An operation of a member that the request waited for, or a wait between operations.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ExplainedStep {
    /// When it began. Unit: ns.
    pub from_ns: u64,
    /// How long it took. Unit: ns.
    pub ns: u64,
    /// The member that the operation was for; absent of a wait in the array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<u16>,
    /// The device in its place, where that is a spare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<u16>,
    /// The operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<MemberOperation>,
    /// Where its time went; these sum to `ns`.
    pub parts: Vec<ExplainedPart>,
}

/// An operation on a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemberOperation {
    /// What it does.
    pub operation: &'static str,
    /// On the member.
    pub offset: u64,
    /// Unit: bytes.
    pub length: u64,
    /// Phase of the request: `data`, `parity` or `reconstruct`.
    pub phase: &'static str,
    /// What it carries: `host`, `parity`, `log` or `background`.
    pub carries: &'static str,
    /// Its member did not do it, and something else was done in its place.
    pub is_refused: bool,
}

/// Time that went to one thing at one place.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ExplainedPart {
    /// The cause, by its name in blame.
    pub cause: &'static str,
    /// Unit: ns.
    pub ns: u64,
    /// What the request used or waited for: `die`, `bus`, `command`, `link`, `shared-link`, `write-cache`, `mapping-cache`, `member`, `rows`,
    /// `stripe-cache`, `log`, `bitmap`, `queue`, `late`, `earlier-writes` or `power`.
    pub at: &'static str,
    /// Where in the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u32>,
    /// Counted through the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub die: Option<u32>,
    /// Counted in the die.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plane: Option<u32>,
    /// What the drive did with a page of its map meanwhile, which was not in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<MapOperation>,
    /// Pages that the die served meanwhile; at `mapping-cache`, pages of the map that the drive read and programmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<ServedBefore>,
    /// The collection that was waited for; absent where the die held writes back until its turn, programmed pages of another
    /// die's victim, or collected too long ago.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection: Option<ExplainedCollection>,
    /// Who held the rows: `host`, `upkeep` or `array`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_by: Option<&'static str>,
    /// The request that changed them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_by_request: Option<u64>,
}

/// What a drive did with a page of its map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MapOperation {
    /// `read`, or `write` of a changed page to make room for another.
    pub operation: &'static str,
    /// What that time went to, by its name in blame.
    pub cause: &'static str,
}

/// What a die served while a page waited for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ServedBefore {
    /// Pages read. Unit: count.
    pub reads: u32,
    /// Pages programmed. Unit: count.
    pub programs: u32,
    /// Pages of rebuild, resync or scrub. Unit: count.
    pub background: u32,
}

/// A collection of a die.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedCollection {
    /// Why: `hard-threshold`, `soft-threshold`, `ordered`, `ordered-while-idle` or `turn`.
    pub why: &'static str,
    /// Who ordered it: `drive`, or the policy.
    pub ordered_by: String,
    /// The die whose free blocks ran low.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_die: Option<u32>,
    /// How many it had then. Unit: blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_blocks: Option<u32>,
    /// Unit: ns.
    pub wanted_ns: u64,
    /// Unit: ns.
    pub began_ns: u64,
    /// Null if it went on when the request was served. Unit: ns.
    pub ended_ns: Option<u64>,
    /// Blocks that it collected in the time of the wait.
    pub victims: Vec<ExplainedVictim>,
}

/// A block that was collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExplainedVictim {
    /// When it was chosen. Unit: ns.
    pub at_ns: u64,
    /// In the die.
    pub plane: u32,
    /// In the allocation unit.
    pub block: u32,
    /// Live pages to be moved, counted in units of the mapping. Unit: count.
    pub live: u32,
    /// Whether it was chosen to level wear; absent if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub levels: bool,
}

/// Explains requests of a scenario.
///
/// # Errors
/// As [`run`](crate::run), if nothing is asked for, and if the request is not one of those that are measured.
pub fn explain(
    scenario: &Scenario,
    asked: &Asked,
    options: &RunOptions<'_>,
) -> Result<(Explanation, Report), RunError> {
    let (explanation, report, _) = explain_and_tape(scenario, asked, None, options)?;
    Ok((explanation, report))
}

/// Which window of a run is taped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapeAsked {
    /// Around the slowest request, or the one that is asked for: a tenth of its response time before and after it.
    Request,
    /// From and until these times.
    Window(TapeWindow),
}

/// The same, and what all devices did in a window of time.
///
/// # Errors
/// The same, and if there is more in the window than [`MOST`](tape::MOST).
pub fn explain_and_tape(
    scenario: &Scenario,
    asked: &Asked,
    taping: Option<TapeAsked>,
    options: &RunOptions<'_>,
) -> Result<(Explanation, Report, Option<Taped>), RunError> {
    if let Asked::Slowest(count) = asked
        && !(1..=MOST).contains(count)
    {
        return Err(bad_input(format!("{count} requests cannot be explained at once"), "1 to 1000"));
    }
    let run = Twice::new(scenario, options)?;
    let first = match asked {
        Asked::Slowest(count) => Watching::for_slowest(*count),
        Asked::Request(id) => Watching::for_request(*id),
        Asked::All => Watching::for_slowest(0),
    };
    let is_looked_for = taping == Some(TapeAsked::Request) && matches!(asked, Asked::Request(_));
    if is_looked_for || matches!(asked, Asked::Slowest(_)) {
        let _ = run.once(&first)?;
    }
    let whom = match asked {
        Asked::Slowest(_) => {
            Followed::Only(first.seen().slowest.iter().map(|completion| completion.id).collect())
        }
        Asked::Request(id) => Followed::Only(BTreeSet::from([*id])),
        Asked::All => Followed::All,
    };
    let window = taping.and_then(|taping| match taping {
        TapeAsked::Window(window) => Some(window),
        TapeAsked::Request => first.seen().slowest.first().map(around),
    });
    let second = Watching::follow(whom, window);
    let report = run.once(&second)?;
    let Seen { followups, ids, measured, members, collecting, met, requests: mut overlapping, .. } =
        second.into_seen();
    let (from, to) = ids.unwrap_or_default();
    let mut followups: Vec<Followup> =
        followups.into_iter().filter(|followup| (from..=to).contains(&followup.completion.id)).collect();
    match asked {
        Asked::Slowest(_) => {
            let slowest = &first.seen().slowest;
            let place = |followup: &Followup| slowest.iter().position(|one| *one == followup.completion);
            sort_by_numbers(&mut followups, |followup| {
                (place(followup).map_or(0, |place| 1 + place as u64), 0)
            });
            let same = followups.iter().map(|followup| followup.completion).eq(slowest.iter().copied());
            if !same {
                return Err(RunError::Internal("the second pass differs from the first".into()));
            }
        }
        Asked::Request(id) if followups.is_empty() => {
            return Err(bad_input(
                format!("request {id} is not among the {measured} that are measured"),
                &format!("{from} to {to}; requests before {from} belong to the warm-up"),
            ));
        }
        Asked::Request(_) | Asked::All => {
            sort_by_numbers(&mut followups, |followup| (followup.completion.id, 0));
        }
    }
    let names = Names::of(scenario);
    let requests: Result<Vec<_>, _> = followups.iter().map(|followup| explained(followup, &names)).collect();
    let explanation = Explanation {
        schema: SCHEMA.to_owned(),
        version: VERSION.to_owned(),
        scenario: scenario.name.clone(),
        seed: scenario.seed,
        measured,
        requests: requests?,
        names,
    };
    let taped = window.map(|window| {
        sort_by_numbers(&mut overlapping, |request| (request.id, 0));
        Taped { window, members, collecting, requests: overlapping, seen: met }
    });
    if let Some(taped) = &taped {
        fits(taped)?;
    }
    Ok((explanation, report, taped))
}

/// A request, and a tenth of its response time before and after it.
fn around(request: &Completion) -> TapeWindow {
    let margin = request.response().as_ns() / 10;
    let from = SimTime(request.arrival.as_ns().saturating_sub(margin));
    TapeWindow { from, until: SimTime(request.finish.as_ns() + margin) }
}

/// Whether all of a window was kept, and anything is in it.
fn fits(Taped { window, members, seen, .. }: &Taped) -> Result<(), RunError> {
    let all = seen + members.iter().map(|member| member.seen).sum::<u64>();
    let TapeWindow { from, until } = *window;
    let length = (until - from).as_ns();
    let shown = |ns: u64| format_duration(SimDuration(ns));
    if all == 0 {
        let (from, until) = (shown(from.as_ns()), shown(until.as_ns()));
        return Err(bad_input(
            format!("nothing was done in the window {from}..{until}"),
            "times of the run, as the explanation of a request has them",
        ));
    }
    if all <= tape::MOST {
        return Ok(());
    }
    let most = (u128::from(length) * u128::from(tape::MOST) / u128::from(all)) as u64;
    Err(bad_input(
        format!("the window of {} has {all} commands, collections and requests", shown(length)),
        &format!("at most {}: a window of about {}", tape::MOST, shown(most)),
    ))
}

/// A scenario whose array is aged once, to be run twice.
struct Twice<'a> {
    jobs: [Job; 1],
    loads: Vec<std::sync::Arc<harmonia_workload::Load>>,
    aged: AgedState,
    options: &'a RunOptions<'a>,
}

impl<'a> Twice<'a> {
    fn new(scenario: &Scenario, options: &'a RunOptions<'a>) -> Result<Self, RunError> {
        let jobs = [Job::only(0, Variant { label: String::new(), scenario: scenario.clone() })];
        let loads = loads(&jobs, options.cancel)?;
        fits_in_memory(scenario, 2)?;
        let load = rewrites(scenario).then_some(&*loads[0]);
        let (aged, _) = age_or_load(0, &jobs[0], load, options.threads, options)?;
        Ok(Twice { jobs, loads, aged, options })
    }

    fn once(&self, observe: &Watching) -> Result<Report, RunError> {
        let RunOptions { threads, checked, cancel, progress, cache, .. } = *self.options;
        let options = RunOptions { threads, checked, cancel, progress, observe, cache };
        let (jobs, loads) = (&self.jobs[..], &self.loads[..]);
        let group = Group { jobs, loads, alike: &[0], threads, ageing_ns: 0, options: &options };
        let reports = group.run(self.aged.clone())?;
        reports.into_iter().next().map(|(_, report)| report).ok_or_else(no_report)
    }
}

/// What is seen of a run.
#[derive(Default)]
struct Seen {
    /// The slowest first.
    slowest: Vec<Completion>,
    followups: Vec<Followup>,
    /// The first and the last id that was measured.
    ids: Option<(u64, u64)>,
    measured: u64,
    /// Of the window that is taped: what its devices did, which members collected, its requests and how many these are.
    members: Vec<MemberTape>,
    collecting: Vec<(DeviceId, SimTime, SimTime)>,
    requests: Vec<Completion>,
    met: u64,
}

/// Watches a run for its slowest requests, or follows some.
struct Watching {
    count: usize,
    /// The only one that is looked for.
    only: Option<u64>,
    whom: Option<Followed>,
    window: Option<TapeWindow>,
    seen: Mutex<Seen>,
}

impl Watching {
    fn for_slowest(count: usize) -> Self {
        Watching { count, only: None, whom: None, window: None, seen: Mutex::default() }
    }

    fn for_request(id: u64) -> Self {
        Watching { count: 1, only: Some(id), whom: None, window: None, seen: Mutex::default() }
    }

    fn follow(whom: Followed, window: Option<TapeWindow>) -> Self {
        Watching { count: 0, only: None, whom: Some(whom), window, seen: Mutex::default() }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn into_seen(self) -> Seen {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observe for Watching {
    fn observer(&self, _: RunId) -> Option<Box<dyn Observer + '_>> {
        Some(Box::new(Each(self)))
    }

    fn follows(&self, _: RunId) -> Option<Followed> {
        self.whom.clone()
    }

    fn followed(&self, _: RunId, followups: Vec<Followup>) {
        self.seen().followups.extend(followups);
    }

    fn tapes(&self, _: RunId) -> Option<TapeWindow> {
        self.window
    }

    fn taped(&self, _: RunId, members: Vec<MemberTape>) {
        self.seen().members = members;
    }
}

struct Each<'a>(&'a Watching);

impl Observer for Each<'_> {
    fn begin(&mut self, _: SimTime, _: usize) {}

    fn completion(&mut self, completion: &Completion) {
        let mut seen = self.0.seen();
        let Seen { slowest, ids, measured, requests, met, .. } = &mut *seen;
        *measured += 1;
        if self.0.window.is_some_and(|window| window.meets(completion.arrival, completion.finish)) {
            *met += 1;
            if *met <= tape::MOST {
                requests.push(*completion);
            }
        }
        let (first, last) = ids.unwrap_or((completion.id, completion.id));
        *ids = Some((first.min(completion.id), last.max(completion.id)));
        if self.0.only.is_some_and(|only| only != completion.id) {
            return;
        }
        let rank = |one: &Completion| (std::cmp::Reverse(one.response()), one.id);
        let place = slowest.partition_point(|one| rank(one) < rank(completion));
        if place < self.0.count {
            slowest.insert(place, *completion);
            slowest.truncate(self.0.count);
        }
    }

    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        if self.0.window.is_some_and(|window| window.meets(start, end)) {
            self.0.seen().collecting.push((member, start, end));
        }
    }

    fn end(&mut self, _: SimTime) {}
}

/// Policies that may order collections.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Names {
    coordination: String,
    /// By device.
    concurrency: Vec<String>,
}

impl Names {
    fn of(scenario: &Scenario) -> Self {
        let array = &scenario.array;
        let devices = array.members.iter().chain(&array.faults.spares).chain(&array.faults.journal);
        Names {
            coordination: array.coordination.policy.clone(),
            concurrency: devices.map(|device| device.ssd.gc.concurrency.policy.clone()).collect(),
        }
    }
}

/// A request, with every nanosecond of its response.
fn explained(followup: &Followup, names: &Names) -> Result<Explained, RunError> {
    let Followup { completion, steps } = followup;
    let mut blame = RequestBlame::NONE;
    steps.iter().for_each(|step| blame.add(&step.blame()));
    let begin = steps.iter().map(|step| step.from).chain([completion.finish]);
    let until = [completion.arrival].into_iter().chain(steps.iter().map(|step| step.until));
    let steps: Vec<ExplainedStep> = steps.iter().map(|step| explained_step(step, names)).collect();
    let adds_up = |step: &ExplainedStep| step.parts.iter().map(|part| part.ns).sum::<u64>() == step.ns;
    if blame != completion.blame || !begin.eq(until) || !steps.iter().all(adds_up) {
        return Err(RunError::Internal(format!(
            "request {} waited for something that nothing explains: {completion:?}, {followup:?}",
            completion.id
        )));
    }
    Ok(Explained {
        request: completion.id,
        operation: operation(completion.operation),
        offset: completion.offset,
        length: completion.length,
        arrival_ns: completion.arrival.as_ns(),
        finish_ns: completion.finish.as_ns(),
        response_ns: completion.response().as_ns(),
        steps,
    })
}

pub(crate) fn operation(operation: Operation) -> &'static str {
    OPERATIONS[match operation {
        Operation::Read => 0,
        Operation::Write => 1,
        Operation::Trim => 2,
        Operation::Flush => 3,
    }]
}

fn explained_step(step: &Step, names: &Names) -> ExplainedStep {
    let ns = (step.until - step.from).as_ns();
    let cause = BlameSum::of(&step.blame()).longest().name;
    let wait = |at| ExplainedPart { cause, ns, at, ..ExplainedPart::default() };
    let mut told = ExplainedStep {
        from_ns: step.from.as_ns(),
        ns,
        member: None,
        device: None,
        operation: None,
        parts: Vec::new(),
    };
    let part = match &step.what {
        What::Restart => wait("power"),
        What::EarlierWrites => wait("earlier-writes"),
        What::Rows(holder) => {
            let (held_by, held_by_request) = match *holder {
                Holder::Host(request) => ("host", request),
                Holder::Upkeep => ("upkeep", None),
                Holder::Array => ("array", None),
            };
            ExplainedPart { held_by: Some(held_by), held_by_request, ..wait("rows") }
        }
        What::Entries => wait("stripe-cache"),
        What::Log => wait("log"),
        What::Bitmap => wait("bitmap"),
        What::Depth(member) => {
            told.member = Some(member.0);
            wait("queue")
        }
        What::Window(member) => {
            told.member = Some(member.0);
            wait("queue")
        }
        What::Reserved(member, _) => {
            told.member = Some(member.0);
            wait("member")
        }
        What::Late(member, _) => {
            told.member = Some(member.0);
            wait("late")
        }
        What::Operation(account) => {
            told.member = Some(account.member.0);
            told.device = Some(account.device.0).filter(|device| *device != account.member.0);
            told.operation = Some(member_operation(account));
            told.parts = parts(account, names);
            return told;
        }
    };
    told.parts = vec![part];
    told
}

fn member_operation(account: &OperationAccount) -> MemberOperation {
    MemberOperation {
        operation: operation(account.operation),
        offset: account.offset,
        length: account.length,
        phase: match account.phase {
            Phase::Data => "data",
            Phase::Parity => "parity",
            Phase::Reconstruct => "reconstruct",
        },
        carries: match account.cause {
            IoCause::Host | IoCause::Gc | IoCause::Leveling | IoCause::Metadata | IoCause::Map => "host",
            IoCause::Parity => "parity",
            IoCause::Log => "log",
            IoCause::Background => "background",
        },
        is_refused: account.is_refused,
    }
}

/// The parts of an operation, in about the order in which they come, without those that took no time.
fn parts(account: &OperationAccount, names: &Names) -> Vec<ExplainedPart> {
    let (blame, none) = (&account.blame, PageAccount::default());
    let page = account.page.as_ref().unwrap_or(&none);
    let own_link = if account.page.is_some() { page.blame.link } else { blame.link };
    let wait = |cause, ns, at| ExplainedPart { cause, ns, at, ..ExplainedPart::default() };
    let mut all = vec![
        wait("link", own_link, "link"),
        wait("link", blame.link - own_link, "shared-link"),
        wait("controller", blame.controller, "controller"),
        wait("cache_wait", blame.cache_wait, "write-cache"),
    ];
    all.extend(on_map(&page.map, account, names));
    let queue_gc = blame.queue_gc.saturating_sub(page.map.collected());
    all.extend(on_flash(page, &Blame { queue_gc, ..*blame }, account, names));
    all.retain(|part| part.ns > 0);
    all.extend(of_no_place(blame, &all));
    all
}

/// What a drive did with its map before it could serve a page.
fn on_map(map: &MapAccount, account: &OperationAccount, names: &Names) -> Vec<ExplainedPart> {
    let cause = "map_wait";
    let room = ExplainedPart { before: served(&map.before), at: "mapping-cache", ..ExplainedPart::default() };
    let mut all = vec![ExplainedPart { cause, ns: map.room, ..room }];
    for (operation, page) in [("write", &map.write), ("read", &map.read)] {
        let Some(page) = page else { continue };
        let of_map = |part: ExplainedPart| ExplainedPart {
            map: Some(MapOperation { operation, cause: part.cause }),
            cause: if part.cause == "queue_gc" { part.cause } else { cause },
            ..part
        };
        all.extend(on_flash(page, &page.blame, account, names).into_iter().map(of_map));
    }
    all
}

/// The parts of the time that a page spent at its die, or at its cache.
fn on_flash(
    page: &PageAccount,
    blame: &Blame,
    account: &OperationAccount,
    names: &Names,
) -> Vec<ExplainedPart> {
    let place = page.place;
    let at = |cause, ns, at| {
        let Place { channel, die, plane } = place.unwrap_or(Place { channel: 0, die: 0, plane: None });
        let is_inside = place.is_some() && matches!(at, "die" | "bus" | "command");
        let (channel, die, plane) = match is_inside {
            true => (Some(channel), Some(die), plane),
            false => (None, None, None),
        };
        ExplainedPart { cause, ns, at, channel, die, plane, ..ExplainedPart::default() }
    };
    let inside = |at| if place.is_some() { at } else { "member" };
    let is_on_flash = place.is_some_and(|place| place.plane.is_some());
    let for_host = page.host_on_bus + page.host_in_command;
    let host = ExplainedPart {
        before: served(&page.before),
        ..at("queue_host", blame.queue_host - for_host, inside("die"))
    };
    let of_die = |met: &Met| ExplainedPart {
        collection: met
            .collection
            .as_ref()
            .map(|collection| explained_collection(collection, account, names)),
        ..at("queue_gc", met.ns, "die")
    };
    let known: u64 = page.collections.iter().map(|met| met.ns).sum();
    let rest = blame.queue_gc.saturating_sub(known + page.gc_on_bus + page.gc_in_command);
    let mut all = vec![host, at("queue_rebuild", blame.queue_rebuild, inside("die"))];
    all.extend(page.collections.iter().map(of_die));
    all.extend([
        at("queue_gc", rest, "member"),
        at("queue_gc", page.gc_on_bus, "bus"),
        at("queue_gc", page.gc_in_command, "command"),
        at("queue_host", page.host_on_bus, "bus"),
        at("queue_host", page.host_in_command, "command"),
        at("transfer", blame.transfer, inside("bus")),
        // A write cache answers before any die does.
        at("service", blame.service, if is_on_flash { "die" } else { "write-cache" }),
    ]);
    all
}

fn served(before: &Before) -> Option<ServedBefore> {
    let &Before { reads, programs, background } = before;
    (reads + programs + background > 0).then_some(ServedBefore { reads, programs, background })
}

/// What the time of an operation went to beyond these parts: of a cause for which nothing better is known than the member.
fn of_no_place(blame: &Blame, told: &[ExplainedPart]) -> Vec<ExplainedPart> {
    let all = BlameSum::of(&RequestBlame { data: *blame, ..RequestBlame::NONE });
    let rest = |cause: &'static Counter, ns: u128| {
        let told = told.iter().filter(|part| part.cause == cause.name).map(|part| u128::from(part.ns));
        let ns = ns.saturating_sub(told.sum()) as u64;
        (ns > 0).then(|| ExplainedPart { cause: cause.name, ns, at: "member", ..ExplainedPart::default() })
    };
    all.values().into_iter().filter_map(|(cause, ns)| rest(cause, ns)).collect()
}

fn explained_collection(
    collection: &Collection,
    account: &OperationAccount,
    names: &Names,
) -> ExplainedCollection {
    let (why, ordered_by, low) = ordered_by(collection.why, account.device, names);
    ExplainedCollection {
        why,
        ordered_by,
        low_die: low.map(|low| low.0),
        free_blocks: low.map(|low| low.1),
        wanted_ns: collection.wanted.as_ns(),
        began_ns: collection.began.as_ns(),
        ended_ns: collection.ended.map(SimTime::as_ns),
        victims: collection
            .victims
            .iter()
            .map(|victim| ExplainedVictim {
                at_ns: victim.at.as_ns(),
                plane: victim.plane,
                block: victim.block,
                live: victim.live,
                levels: victim.levels,
            })
            .collect(),
    }
}

/// Why a device collects, who ordered it, and the die that ran low with the free blocks it had.
pub(crate) fn ordered_by(
    why: Why,
    device: DeviceId,
    names: &Names,
) -> (&'static str, String, Option<(u32, u32)>) {
    let drive = || "drive".to_owned();
    let turns = || names.concurrency.get(device.index()).cloned().unwrap_or_else(drive);
    match why {
        Why::Threshold { die, free, is_hard: true } => ("hard-threshold", drive(), Some((die, free))),
        Why::Threshold { die, free, is_hard: false } => ("soft-threshold", drive(), Some((die, free))),
        Why::Ordered => ("ordered", names.coordination.clone(), None),
        Why::OrderedIdle => ("ordered-while-idle", names.coordination.clone(), None),
        Why::Turn => ("turn", turns(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 10 ms with so many commands and requests.
    fn refused(commands: u64, requests: u64) -> Option<String> {
        let window = TapeWindow { from: SimTime(0), until: SimTime(10_000_000) };
        let member = MemberTape {
            device: DeviceId(0),
            channels: Vec::new(),
            spans: Vec::new(),
            collections: Vec::new(),
            seen: commands,
        };
        let taped = Taped {
            window,
            members: vec![member],
            collecting: Vec::new(),
            requests: Vec::new(),
            seen: requests,
        };
        fits(&taped).err().map(|error| error.to_string())
    }

    #[test]
    fn a_window_with_too_much_or_nothing_is_refused_with_what_would_do() {
        assert_eq!(refused(tape::MOST - 1, 1), None);
        let text = refused(tape::MOST, tape::MOST).expect("too much");
        assert!(text.contains("1000000 commands") && text.contains("about 5ms"), "{text}");
        assert!(refused(0, 0).expect("nothing").contains("nothing was done in the window 0"), "nothing");
    }
}
