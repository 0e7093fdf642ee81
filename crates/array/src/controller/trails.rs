//! The way of single requests through the array, for whoever explains them: each operation and each wait on the chain that
//! ends in the operation which finished last.
//!
//! ```text
//! arrival |-- rows --|-- read of member 2 --|-- depth --|-- write of member 0 --| finish
//!  trail      1 <──────────── 2 <───────────── 3 <──────────── 4
//! ```
//!
//! Wherever a [`Chain`] grows, a step is added behind the trail of that chain. Steps follow one another without a gap, and each
//! has all the blame of its time. So those of a request sum to its response as its blame does.
//!
//! Steps are kept only while a followed request is under way. No chain of a request reaches back behind its arrival.

use std::collections::{BTreeMap, BTreeSet};

use harmonia_ssd::follow::{PageAccount, Switch};
use harmonia_ssd::probe::Probe;
use harmonia_types::{
    Blame, Bytes, Completion, DeviceId, IoCause, Operation, Phase, RequestBlame, SimDuration, SimTime,
};

use super::Array;
use super::payload::Payload;
use super::states::Purpose;
use super::tokens::{NONE, Node, Parent};
use super::transactions::Chain;

/// Which requests are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Followed {
    /// All of them.
    All,
    /// These ids.
    Only(BTreeSet<u64>),
}

impl Followed {
    fn has(&self, id: u64) -> bool {
        match self {
            Followed::All => true,
            Followed::Only(ids) => ids.contains(&id),
        }
    }
}

/// What a request did, or waited for, for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// From when on.
    pub from: SimTime,
    /// Until when.
    pub until: SimTime,
    /// What.
    pub what: What,
}

/// What a request does in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The array had lost power, and the host has not submitted the request again.
    Restart,
    /// A flush waits for writes that were acknowledged before it.
    EarlierWrites,
    /// Somebody else holds its rows; who held them last.
    Rows(Holder),
    /// The stripe cache has no entry for it, or lets others read first.
    Entries,
    /// The log has no room.
    Log,
    /// The write-intent bitmap is being written for others.
    Bitmap,
    /// The member, or the controller, has as many operations as it takes.
    Depth(DeviceId),
    /// The member has as many commands as it fetches.
    Window(DeviceId),
    /// The member is kept free so that it can collect.
    Reserved(DeviceId, Phase),
    /// A read of a member is late, and something else begins to find out the same. Whether the member collected then.
    Late(DeviceId, bool),
    /// A member works on an operation.
    Operation(Box<OperationAccount>),
}

/// Who held rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// Another request of the host: its id.
    Host(Option<u64>),
    /// Rebuild, copying to a spare, resync or scrub.
    Upkeep,
    /// Other work of the array.
    Array,
}

/// An operation on a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationAccount {
    /// The member.
    pub member: DeviceId,
    /// The number of the device in its place: its own, or that of a spare or the journal.
    pub device: DeviceId,
    /// What it does.
    pub operation: Operation,
    /// First byte, on the member.
    pub offset: Bytes,
    /// Length in bytes.
    pub length: Bytes,
    /// What it is for.
    pub phase: Phase,
    /// Why its first page is touched.
    pub cause: IoCause,
    /// Its member did not do it.
    pub is_refused: bool,
    /// Where its time went, a link that members share included.
    pub blame: Blame,
    /// Of its page that was done last, inside the member.
    pub page: Option<PageAccount>,
}

/// A request that was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followup {
    /// The request, with its blame.
    pub completion: Completion,
    /// From its arrival to its finish.
    pub steps: Vec<Step>,
}

impl Step {
    /// Where its time went.
    pub fn blame(&self) -> RequestBlame {
        let mut blame = RequestBlame::NONE;
        self.what.charge(self.until - self.from, &mut blame);
        blame
    }
}

impl What {
    /// Adds the time that it took to the part of blame that it belongs to.
    #[inline]
    fn charge(&self, SimDuration(ns): SimDuration, blame: &mut RequestBlame) {
        match self {
            What::Restart => blame.restart += ns,
            What::EarlierWrites => blame.data.queue_host += ns,
            What::Rows(_) => blame.stripe_wait += ns,
            What::Entries => blame.entry_wait += ns,
            What::Log | What::Bitmap => blame.log_wait += ns,
            What::Depth(_) => blame.depth_wait += ns,
            What::Window(_) => blame.window_wait += ns,
            What::Reserved(_, phase) => blame.charge(*phase, &Blame { queue_gc: ns, ..Blame::NONE }),
            What::Late(_, true) => blame.data.queue_gc += ns,
            What::Late(_, false) => blame.data.queue_host += ns,
            What::Operation(operation) => blame.charge(operation.phase, &operation.blame),
        }
    }
}

/// No step.
pub(super) const NO_TRAIL: u32 = 0;

/// Steps, and who is followed.
#[derive(Debug, Clone)]
pub(super) struct Trails {
    whom: Followed,
    switch: Switch,
    /// Those under way.
    open: BTreeSet<u64>,
    /// Each with the one before it. A trail is the number of its last step, counted from 1 through the whole run.
    steps: Vec<(u32, Step)>,
    /// Steps forgotten.
    forgotten: u32,
    /// By transaction under way: the request that it began for, also once that is complete.
    owners: BTreeMap<u32, u64>,
    /// The operation that a member answered last, and whether that was a refusal.
    pub answered: Option<(u64, bool)>,
    done: Vec<Followup>,
}

impl Trails {
    fn new(whom: Followed, switch: Switch) -> Self {
        Trails {
            whom,
            switch,
            open: BTreeSet::new(),
            steps: Vec::new(),
            forgotten: 0,
            owners: BTreeMap::new(),
            answered: None,
            done: Vec::new(),
        }
    }

    /// A request arrives.
    pub fn arrives(&mut self, id: u64) {
        if self.whom.has(id) {
            self.open.insert(id);
            self.switch.set(true);
        }
    }

    /// One more step behind a trail.
    pub fn goes(&mut self, before: u32, (from, until): (SimTime, SimTime), what: What) -> u32 {
        if self.open.is_empty() || until <= from {
            return before;
        }
        self.steps.push((before, Step { from, until, what }));
        self.forgotten + self.steps.len() as u32
    }

    /// A trail, and behind it another one.
    pub fn joined(&mut self, first: u32, then: u32) -> u32 {
        let steps = self.steps_of(then);
        steps.into_iter().fold(first, |trail, step| self.goes(trail, (step.from, step.until), step.what))
    }

    fn steps_of(&self, mut trail: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some(index) = trail.checked_sub(self.forgotten + 1) {
            let Some((before, step)) = self.steps.get(index as usize) else { break };
            steps.push(step.clone());
            trail = *before;
        }
        steps.reverse();
        steps
    }

    /// A transaction begins, of a request or of none.
    pub fn begins(&mut self, transaction: u32, request: Option<u64>) {
        match request {
            Some(request) => self.owners.insert(transaction, request),
            None => self.owners.remove(&transaction),
        };
    }

    /// Who a transaction of such a purpose is for.
    fn holder(&self, transaction: u32, purpose: Purpose) -> Holder {
        match purpose {
            purpose if purpose.is_upkeep() => Holder::Upkeep,
            purpose if purpose.is_host() => Holder::Host(self.owners.get(&transaction).copied()),
            _ => Holder::Array,
        }
    }

    /// A request is complete.
    fn completes(&mut self, completion: &Completion, trail: u32) {
        if !self.open.remove(&completion.id) {
            return;
        }
        self.done.push(Followup { completion: *completion, steps: self.steps_of(trail) });
        if self.open.is_empty() {
            self.forgotten += self.steps.len() as u32;
            self.steps.clear();
            self.switch.set(false);
        }
    }
}

impl Chain {
    /// This chain, along a trail.
    pub(super) fn with_trail(mut self, trail: u32) -> Chain {
        self.trail = trail;
        self
    }

    /// A wait from its end until now, along its trail.
    pub(super) fn trails_off(&mut self, trails: &mut Option<Box<Trails>>, now: SimTime, what: What) {
        if let Some(trails) = trails {
            self.trail = trails.goes(self.trail, (self.finish, now), what);
        }
    }

    /// A wait from its end until now, if that is later: it is in its blame and along its trail.
    #[inline]
    pub(super) fn waited(&mut self, trails: &mut Option<Box<Trails>>, now: SimTime, what: What) {
        what.charge(now.saturating_since(self.finish), &mut self.blame);
        self.trails_off(trails, now, what);
        self.finish = self.finish.max(now);
    }

    /// A wait for rows, which a transaction of such a purpose held last.
    pub(super) fn waited_for_rows(
        &mut self,
        trails: &mut Option<Box<Trails>>,
        (holder, purpose): (u32, Purpose),
        now: SimTime,
    ) {
        let of = trails.as_deref().map_or(Holder::Array, |trails| trails.holder(holder, purpose));
        self.waited(trails, now, What::Rows(of));
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Follows requests from now on; `switch` is that of the members' followers.
    pub fn follow(&mut self, whom: Followed, switch: Switch) {
        self.trails = Some(Box::new(Trails::new(whom, switch)));
        self.is_bare = false;
    }

    /// Requests that were followed and are complete; the caller empties it.
    pub fn followed(&mut self) -> Option<&mut Vec<Followup>> {
        self.trails.as_deref_mut().map(|trails| &mut trails.done)
    }

    /// A transaction of a request begins: what the request waited for before.
    #[cold]
    pub(super) fn trail_to(&mut self, request: u32, now: SimTime) -> u32 {
        let state = &self.requests[request];
        let arrival = state.request.arrival;
        let submitted = SimTime(arrival.0 + state.restart);
        let Some(trails) = self.trails.as_deref_mut() else { return NO_TRAIL };
        let trail = trails.goes(NO_TRAIL, (arrival, submitted), What::Restart);
        trails.goes(trail, (submitted, now), What::EarlierWrites)
    }

    /// What an operation has behind it, and the operation itself, which ended or was refused.
    #[cold]
    pub(super) fn trail_with(&mut self, node: &Node, finish: SimTime, phase: Phase, blame: &Blame) -> u32 {
        let (before, from) = match (node.before, node.parent) {
            (NONE, Parent::Transaction(handle)) => {
                let before = &self.transactions[handle].before;
                (before.trail, before.finish)
            }
            (NONE, Parent::Request(request)) => {
                let submitted = self.requests[request].request.arrival.0 + self.requests[request].restart;
                (self.trail_to(request, SimTime(submitted)), SimTime(submitted))
            }
            (before, _) => (self.nodes.before(before).trail, self.nodes.before(before).finish),
        };
        let operation = &node.operation;
        let answered = self.trails.as_deref().and_then(|trails| trails.answered);
        let account = OperationAccount {
            member: self.name_of(operation.device),
            device: self.members.number_of(usize::from(node.slot)),
            operation: operation.operation,
            offset: operation.offset,
            length: operation.length,
            phase,
            cause: operation.parity.cause_of(0),
            is_refused: answered.is_some_and(|(_, is_refused)| is_refused),
            blame: *blame,
            page: answered.and_then(|answer| self.page_of(answer, finish, blame)),
        };
        let Some(trails) = self.trails.as_deref_mut() else { return NO_TRAIL };
        trails.goes(before, (from, finish), What::Operation(Box::new(account)))
    }

    /// What an operation has behind it, and that its member is late.
    #[cold]
    pub(super) fn trail_of_late(&mut self, node: &Node, collects: bool, now: SimTime) -> u32 {
        let before = match node.before {
            NONE => self.transactions[node.transaction()].before,
            before => *self.nodes.before(before),
        };
        let late = What::Late(node.operation.device, collects);
        let trails = self.trails.as_deref_mut();
        trails.map_or(NO_TRAIL, |trails| trails.goes(before.trail, (before.finish, now), late))
    }

    /// What a member knows of the operation that it has answered, if that is where its time went. A link that members share
    /// comes on top.
    fn page_of(&self, (token, is_refused): (u64, bool), at: SimTime, blame: &Blame) -> Option<PageAccount> {
        let is_it = |page: &&PageAccount| {
            let own = Blame { link: page.blame.link, ..*blame };
            own == page.blame && page.blame.link <= blame.link
        };
        let of = |follower: &harmonia_ssd::follow::Follower| match is_refused {
            true => follower.pages_refused(token, at).iter().find(is_it).cloned(),
            false => follower.page_done(token).filter(is_it).cloned(),
        };
        self.every_device().into_iter().find_map(|device| of(device.probe().followed()?))
    }

    /// A member, or the journal by its number.
    pub(super) fn name_of(&self, device: DeviceId) -> DeviceId {
        let slot = device.index();
        if slot < self.members.delivered.len() { device } else { self.members.number_of(slot) }
    }

    /// A request is complete.
    #[cold]
    pub(super) fn trail_ends(&mut self, completion: &Completion, mut trail: u32) {
        let Some(trails) = self.trails.as_deref_mut() else { return };
        if trail == NO_TRAIL && completion.blame.restart > 0 {
            // It was answered without an operation.
            let submitted = SimTime(completion.arrival.0 + completion.blame.restart);
            trail = trails.goes(NO_TRAIL, (completion.arrival, submitted), What::Restart);
        }
        trails.completes(completion, trail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completion(id: u64) -> Completion {
        let (arrival, finish) = (SimTime::ZERO, SimTime::ZERO);
        let (operation, blame) = (Operation::Write, RequestBlame::NONE);
        Completion {
            id,
            operation,
            offset: 0,
            length: 0,
            arrival,
            finish,
            blame,
            met_gc: false,
            gc_wait: None,
        }
    }

    /// A chain of the array's own work may have its trail from the time of a request that is complete. What comes behind it belongs to
    /// no step of a later request.
    #[test]
    fn steps_of_requests_that_are_complete_are_forgotten() {
        let switch = Switch::default();
        let mut trails = Trails::new(Followed::All, switch);
        let goes =
            |trails: &mut Trails, before, at| trails.goes(before, (SimTime(at), SimTime(at + 1)), What::Log);
        let begins = |trails: &Trails| -> Vec<Vec<u64>> {
            trails.done.iter().map(|one| one.steps.iter().map(|step| step.from.0).collect()).collect()
        };
        [1, 2].into_iter().for_each(|id| trails.arrives(id));
        let first = goes(&mut trails, NO_TRAIL, 0);
        let old = goes(&mut trails, first, 1);
        trails.completes(&completion(1), first);
        trails.completes(&completion(1), old);
        assert_eq!(begins(&trails), [vec![0]], "it is complete once, and another one is under way");
        trails.completes(&completion(2), old);
        assert_eq!(goes(&mut trails, old, 2), old, "no request is under way");
        trails.arrives(3);
        let first = goes(&mut trails, NO_TRAIL, 10);
        goes(&mut trails, first, 11);
        let behind_old = goes(&mut trails, old, 12);
        trails.completes(&completion(3), behind_old);
        assert_eq!(begins(&trails), [vec![0], vec![0, 1], vec![12]]);
    }
}
