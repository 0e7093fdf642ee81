//! The data half of the O-RAID controller: which member operations a host request becomes.
//!
//! ```text
//! request ─ split ─► transactions ─ rows held ─► plan: steps of member operations ─► done
//!                                                    ▲      │ refused
//!                                                    └──────┘ patch, or a new plan
//! ```
//!
//! A [`Transaction`] is what is locked, planned, completed and checked as one. A request is several of them, background
//! work is one without a request. A plan is a row of steps: the operations of a step start together, when all of the
//! step before are done. Planners never see undelivered device state, and control (who collects when) is a
//! [`crate::coordination::Coordinator`]'s business.
//!
//! * [`striped`]: RAID-0, each member one contiguous range;
//! * [`mirrored`]: RAID-1 and RAID-10, writes to every copy, reads from the member with least to do;
//! * [`parity`]: RAID-4, 5 and 6, read-modify-write, reconstruct-write and full stripes;
//! * `gaftl`: rows of parity arrays that lie away from home while members collect;
//! * `around`: reads of parity rows without the members that collect or are missing;
//! * `missing`: places that cannot be read;
//! * `resync`: rows that need not agree after a loss of power.

mod around;
mod gaftl;
pub mod mirrored;
mod missing;
pub mod parity;
mod resync;
pub mod striped;

use dyn_clone::DynClone;
use harmonia_types::{
    Bytes, DeviceId, HostRequest, Operation, ParityPages, Phase, ReadCounters, RedundancyCounters,
    SimDuration, SimTime,
};

use crate::config::{Avoid, DegradedWrites, Reads, SmallWrite};
use crate::coordination::{Delivered, Migration};
use crate::health::Health;
use crate::layout::Layout;
use crate::stripe_cache::StripeCache;
pub(crate) use gaftl::MOST_MEMBERS as MOST_MIGRATING;

/// Turns host requests into transactions, and transactions into member operations.
pub trait Planner: Send + DynClone {
    /// Cuts `request` into transactions, appended to the empty `into`. None at all completes the request at once.
    fn split(&mut self, request: &HostRequest, view: &View<'_>, into: &mut Vec<Transaction>);

    /// Plans a transaction that holds its rows: appends its steps to the empty `plan`. An empty plan completes it.
    fn plan(&mut self, now: SimTime, transaction: &Transaction, view: &View<'_>, plan: &mut Plan);

    /// A member refused an operation. The answer says what happens instead; operations for [`Answer::Patch`] are appended
    /// to the empty `patch` as one step, and become part of the step that the operation was of. By default the operation
    /// waits for a busy or reserved member, and does without a failed one.
    fn on_refused(
        &mut self,
        _now: SimTime,
        _transaction: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
        _view: &View<'_>,
        patch: &mut Plan,
    ) -> Answer {
        waits_or_parks(&Dodge::default(), operation, refusal, patch)
    }

    /// As `plan`, of a write whose rows have entries in the stripe cache; appends to `kept` the reads that these answer.
    fn plan_cached(
        &mut self,
        now: SimTime,
        transaction: &Transaction,
        view: &View<'_>,
        _cache: &StripeCache,
        plan: &mut Plan,
        _kept: &mut Vec<PlannedOperation>,
    ) {
        self.plan(now, transaction, view, plan);
    }

    /// Whether such a write has to read anything first.
    fn has_pre_reads(&mut self, _transaction: &Transaction, _view: &View<'_>, _cache: &StripeCache) -> bool {
        false
    }

    /// Two writes that wait for the same rows as one, if they can be. The second one came later.
    fn join(&self, _first: &Transaction, _second: &Transaction) -> Option<Transaction> {
        None
    }

    /// A transaction that finds out by other means what a read under way is to bring, for a race between the two; `None`
    /// if there are none.
    fn hedge(&mut self, _transaction: &Transaction, _operation: &PlannedOperation) -> Option<Transaction> {
        None
    }

    /// A transaction that writes anew what a member holds in a range, from the other members: to rebuild a replacement, or a page
    /// that cannot be read. `None` where the others do not have it.
    fn restore(&self, _member: DeviceId, _offset: Bytes, _length: Bytes) -> Option<Transaction> {
        None
    }

    /// Where else a member holds something of some rows, each a row long: what is copied together with them.
    fn elsewhere(&self, _member: DeviceId, _rows: Rows) -> Vec<(Bytes, Bytes)> {
        Vec::new()
    }

    /// A transaction that reads everything that all members hold in a range, to compare it; `repairs` writes parity or copies
    /// anew. `None` where there is nothing to compare.
    fn check(&self, _offset: Bytes, _length: Bytes, _repairs: bool) -> Option<Transaction> {
        None
    }

    /// A transaction that goes through a range of the members after a loss of power: what was cut short is written so that it
    /// agrees. `None` where there is nothing that must.
    fn resync(&self, _offset: Bytes, _length: Bytes) -> Option<Transaction> {
        None
    }

    /// Power is lost while a transaction runs, and it is forgotten. If it `writes`, its rows need not agree from now on.
    fn is_cut_short(&mut self, _transaction: &Transaction, _writes: bool) {}

    /// What lies below so many bytes of the members agrees since power was lost; everything if none are named.
    fn is_synced_to(&mut self, _from: Option<Bytes>) {}

    /// Of what was not gone through only these chunks of so many bytes of the members need not agree.
    fn is_unsynced_in(&mut self, _chunks: (Bytes, std::collections::BTreeSet<u64>)) {}

    /// Rows that were written anew because they were cut short. Unit: rows, or pages where there is no parity.
    fn resynced_rows(&self) -> u64 {
        0
    }

    /// Whether it has work of its own to do while the array is idle. Asked once, when the array is built.
    fn tidies(&self) -> bool {
        false
    }

    /// A transaction to begin now that no request is under way and no member is reserved; the next one is asked for when it is
    /// done.
    fn tidy(&mut self, _view: &View<'_>) -> Option<Transaction> {
        None
    }

    /// What failures have cost since the run began.
    fn loss_counters(&self) -> LossCounters {
        LossCounters::default()
    }

    /// A transaction is done, operations behind its request's back included.
    fn done(&mut self, _now: SimTime, _transaction: &Transaction) {}

    /// What it has counted since the run began.
    fn counters(&self) -> RedundancyCounters {
        RedundancyCounters::default()
    }

    /// What only this planner counts, for the report; the names are always the same, and those of no policy.
    fn own_counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// What reads around members that collect have cost since the run began.
    fn read_counters(&self) -> ReadCounters {
        ReadCounters::default()
    }

    /// Whether plans depend on which members collect ([`crate::coordination::Delivered::collecting`]); otherwise
    /// that is kept up to date only if the coordinator wants device events.
    fn watches_devices(&self) -> bool {
        false
    }

    /// Whether a request is always one transaction for its whole range that locks nothing, of one step that no open
    /// member refuses. Such a request is planned without being split, and members may run ahead of one another.
    fn is_flat(&self) -> bool {
        false
    }
}

dyn_clone::clone_trait_object!(Planner);

/// The planner of a layout's level.
pub(crate) fn of(layout: &Layout, small_write: SmallWrite, page: Bytes, dodge: Dodge) -> Box<dyn Planner> {
    match layout {
        Layout::Striped(striped) => {
            Box::new(striped::StripedPlanner::new(striped.clone()).dodging(page, dodge))
        }
        Layout::Mirrored(mirrored) => {
            Box::new(mirrored::MirroredPlanner::new(layout, mirrored.clone()).dodging(dodge))
        }
        Layout::Parity(parity) if dodge.free_stripes > 0 => {
            let plain = parity::ParityPlanner::new(layout, parity.clone(), small_write, page).dodging(dodge);
            let whole = (layout, parity.clone());
            let displacing = gaftl::GaftlPlanner::new(plain, whole, small_write, dodge.free_stripes);
            Box::new(displacing.parking(dodge.parks).failing(dodge.may_fail).placing(dodge.placing))
        }
        Layout::Parity(parity) => {
            Box::new(parity::ParityPlanner::new(layout, parity.clone(), small_write, page).dodging(dodge))
        }
    }
}

/// What reads and writes do about members that collect.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Dodge {
    /// The rule for reads.
    pub reads: Reads,
    /// Writes to members that collect go to NVRAM.
    pub parks: bool,
    /// Members may fail or be rebuilt, pages may be unreadable: writes hold their rows on every level.
    pub may_fail: bool,
    /// How a write of a row of which something is missing makes its parity.
    pub degraded_writes: DegradedWrites,
    /// Time that one page read costs a member, its transfer included.
    pub page_read: SimDuration,
    /// Stripes at the end of the members that take writes to members that collect; 0 if the policy does not displace.
    pub free_stripes: u64,
    /// How whole stripes and parity are placed where it does.
    pub placing: Placing,
}

/// How a policy that displaces places whole stripes, and parity whose member collects.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Placing {
    /// Whole stripes are written as two random writes.
    pub forces: bool,
    /// Where parity goes.
    pub migration: Migration,
    /// Share of the rows of parity that may lie off the shares of the layout before rows return.
    pub imbalance: f64,
}

impl Dodge {
    /// How reads avoid members, if they do.
    pub fn avoid(&self) -> Option<Avoid> {
        match self.reads {
            Reads::Avoid(avoid) => Some(avoid),
            Reads::Wait | Reads::Hedge(_) => None,
        }
    }

    /// Whether operations are planned, refused and answered as if all members were always free.
    pub fn is_idle(&self) -> bool {
        self.reads == Reads::Wait && !self.parks && !self.may_fail
    }
}

/// What the controller knows of the members.
pub struct View<'a> {
    /// What has been delivered, by member.
    pub members: &'a [Delivered],
    /// What members hold.
    pub health: &'a Health,
    /// Bytes of the operations handed to each member and not served yet.
    pub outstanding: &'a [u64],
    /// Who would keep operations waiting.
    pub look: &'a dyn Look,
}

/// What the controller can see of members that collect, at this moment.
pub trait Look {
    /// Calls `visit(from, to, time left)` for every part of a range of a member whose operations would wait for collection
    /// now, in order.
    fn busy(
        &self,
        device: DeviceId,
        offset: Bytes,
        length: Bytes,
        visit: &mut dyn FnMut(Bytes, Bytes, SimDuration),
    );

    /// Whether that is all there is to be known of a member; otherwise it may refuse what it was not seen to.
    fn sees(&self, device: DeviceId) -> bool;
}

impl View<'_> {
    /// The longest time that collection would keep operations on a range of a member waiting; `None` if it would not.
    pub fn left(&self, device: DeviceId, offset: Bytes, length: Bytes) -> Option<SimDuration> {
        let mut longest = None;
        self.look.busy(device, offset, length, &mut |_, _, left| longest = longest.max(Some(left)));
        longest
    }
}

/// Rows of the array that a transaction holds while it runs: row `r` is the same bytes on every member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rows {
    /// The first.
    pub first: u64,
    /// How many; none for a transaction that excludes nobody.
    pub count: u64,
}

impl Rows {
    /// No rows: nothing is locked.
    pub const NONE: Rows = Rows { first: 0, count: 0 };

    /// The row behind the last.
    pub const fn end(&self) -> u64 {
        self.first + self.count
    }
}

/// What is locked, planned, completed and checked as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transaction {
    /// What it does.
    pub operation: Operation,
    /// The rows it holds.
    pub rows: Rows,
    /// First byte of the logical range it belongs to; of a pinned RAID-0 request, on the member.
    pub offset: Bytes,
    /// Bytes of that range. Of a parity write only what lies in its rows and units is this transaction's.
    pub length: Bytes,
    /// Bypasses the stripe.
    pub member: Option<DeviceId>,
    /// First and last data unit that a parity write touches in each of its rows.
    pub units: (u16, u16),
    /// For the planner alone.
    pub tag: u64,
    /// How often it has been planned anew.
    pub attempt: u16,
}

impl Transaction {
    /// A transaction for a range that holds no rows.
    pub fn unlocked(operation: Operation, offset: Bytes, length: Bytes) -> Self {
        let (rows, member) = (Rows::NONE, None);
        Transaction { operation, rows, offset, length, member, units: (0, 0), tag: 0, attempt: 0 }
    }
}

/// One operation on one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedOperation {
    /// The member.
    pub device: DeviceId,
    /// What it does there.
    pub operation: Operation,
    /// First byte on the member.
    pub offset: Bytes,
    /// Bytes.
    pub length: Bytes,
    /// Answer at once instead of waiting for garbage collection.
    pub fast_fail: bool,
    /// What it is for; decides which part of the blame its time goes to. The time of a data operation whose last page is
    /// parity goes to parity.
    pub phase: Phase,
    /// Which of its pages are parity, or are touched for parity's sake.
    pub parity: ParityPages,
    /// The host does not wait for it: its request completes without, its rows stay held until it is done.
    pub behind: bool,
}

impl PlannedOperation {
    /// An operation on the host's own data, for which everybody waits.
    pub fn data(device: DeviceId, operation: Operation, offset: Bytes, length: Bytes) -> Self {
        let (phase, parity) = (Phase::Data, ParityPages::NONE);
        PlannedOperation { device, operation, offset, length, fast_fail: false, phase, parity, behind: false }
    }
}

/// Why a member did not take an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It collects garbage, for so long; only operations that ask to fail fast hear this.
    Busy(SimDuration),
    /// It is kept free of new operations.
    Reserved,
    /// It has failed.
    Failed,
    /// It cannot read these pages. They are rebuilt behind the request's back, as well.
    Unreadable,
}

/// What a refused operation becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The operations in the patch take its place; an empty patch does without it.
    Patch,
    /// The transaction is planned anew once its operations under way are done, holding these rows if it holds none yet.
    Replan(Rows),
    /// Another transaction of the same request does what this operation was for. This one does without it.
    Instead(Transaction),
    /// A write goes to NVRAM; where that is full, it waits for the member.
    Park,
    /// The operation waits until the member may be used again.
    Wait,
}

harmonia_types::counters! {
    /// What failures have cost.
    pub struct LossCounters {
        /// Pages of the host read without the member that held them, because it failed or could not read them.
        pub rebuilt_pages: u64 = Sum, "pages";
        /// Pages read for that which the host did not ask for.
        pub extra_pages: u64 = Sum, "pages";
        /// Pages of the host that could not be read, because too many members are gone.
        pub unread_pages: u64 = Sum, "pages";
        /// Pages of the host that no member could take.
        pub unwritten_pages: u64 = Sum, "pages";
        /// Pages that could not be rebuilt, because what they are made of could not be read.
        pub lost_pages: u64 = Sum, "pages";
    }
}

/// The steps of a transaction. Reused from one to the next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    operations: Vec<PlannedOperation>,
    /// Position of each barrier: operations behind it wait for all before it.
    barriers: Vec<u32>,
}

impl Plan {
    /// Appends an operation to the current step.
    #[inline]
    pub fn push(&mut self, operation: PlannedOperation) {
        self.operations.push(operation);
    }

    /// What is pushed from now on waits for everything pushed so far. Nothing if the current step is empty.
    pub fn barrier(&mut self) {
        let position = self.operations.len() as u32;
        if position > self.barriers.last().copied().unwrap_or(0) {
            self.barriers.push(position);
        }
    }

    /// Makes the operation at `index` longer by one that follows it on its member; `false` if there is none, or it is of
    /// another kind or step.
    pub(crate) fn extend(&mut self, index: u32, next: &PlannedOperation) -> bool {
        let step = self.barriers.last().copied().unwrap_or(0);
        let Some(last) = self.operations.get_mut(index as usize).filter(|_| index >= step) else {
            return false;
        };
        let follows = PlannedOperation { offset: last.offset + last.length, length: next.length, ..*last };
        let joins = follows == *next;
        last.length += if joins { next.length } else { 0 };
        joins
    }

    /// Inserts a step before the operation at `place`, with which a step begins.
    pub(crate) fn insert_step(&mut self, place: usize, operations: &[PlannedOperation]) {
        self.operations.splice(place..place, operations.iter().copied());
        let (place, count) = (place as u32, operations.len() as u32);
        self.barriers.iter_mut().filter(|barrier| **barrier > place).for_each(|barrier| *barrier += count);
        let after = self.barriers.partition_point(|&barrier| barrier <= place);
        self.barriers.insert(after, place + count);
    }

    /// All operations in the order they were added.
    pub fn operations(&self) -> &[PlannedOperation] {
        &self.operations
    }

    /// The operations by step.
    pub fn steps(&self) -> impl Iterator<Item = &[PlannedOperation]> {
        let ends = self.barriers.iter().map(|&end| end as usize).chain([self.operations.len()]);
        let mut begin = 0;
        ends.map(move |end| &self.operations[std::mem::replace(&mut begin, end)..end])
    }

    /// Empties the plan, keeping its memory.
    pub fn clear(&mut self) {
        self.operations.clear();
        self.barriers.clear();
    }
}

/// What an operation does that cannot be done without: a write is parked if it may be, anything else waits.
fn waits_or_parks(dodge: &Dodge, operation: &PlannedOperation, refusal: Refusal, patch: &mut Plan) -> Answer {
    match refusal {
        Refusal::Busy(_) | Refusal::Reserved if dodge.parks && operation.operation == Operation::Write => {
            return Answer::Park;
        }
        Refusal::Busy(_) => patch.push(PlannedOperation { fast_fail: false, ..*operation }),
        Refusal::Reserved => return Answer::Wait,
        Refusal::Failed | Refusal::Unreadable => {}
    }
    Answer::Patch
}

/// Pushes an operation, or makes the last one of its member longer by it; `last` has these by member.
fn join(last: &mut [u32], operation: PlannedOperation, plan: &mut Plan) {
    let last = &mut last[operation.device.index()];
    if !plan.extend(*last, &operation) {
        *last = plan.operations().len() as u32;
        plan.push(operation);
    }
}

/// A flush reaches every member.
pub(crate) fn flush(members: u16, plan: &mut Plan) {
    (0..members).for_each(|member| {
        plan.push(PlannedOperation::data(DeviceId(member), Operation::Flush, 0, 0));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lie_between_barriers_and_none_is_empty() {
        let operation = |offset| PlannedOperation::data(DeviceId(0), Operation::Read, offset, 1);
        let mut plan = Plan::default();
        plan.barrier();
        plan.push(operation(0));
        plan.push(operation(1));
        plan.barrier();
        plan.barrier();
        plan.push(operation(2));
        let steps: Vec<Vec<u64>> =
            plan.steps().map(|step| step.iter().map(|operation| operation.offset).collect()).collect();
        assert_eq!(steps, [vec![0, 1], vec![2]]);
        plan.insert_step(2, &[operation(7), operation(8)]);
        plan.insert_step(0, &[operation(9)]);
        let steps: Vec<usize> = plan.steps().map(<[_]>::len).collect();
        assert_eq!((steps, plan.operations()[3].offset), (vec![1, 2, 2, 1], 7));
    }
}
