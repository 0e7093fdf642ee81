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
//! step before are done. Planners see of members what has been delivered, and what a [`Look`] at them reveals. Control (who
//! collects when) is a [`crate::coordination::Coordinator`]'s business.
//!
//! A [`Planner`] is a policy: one file or folder, and one line in [`REGISTRY`]. What only some planners can do is a capability
//! of its own ([`Restores`], [`Resyncs`], [`UsesCache`], [`Tidies`]), so that a planner has all of it or none.
//!
//! * [`striped`]: RAID-0, each member one contiguous range;
//! * [`mirrored`]: RAID-1 and RAID-10, writes to every copy, reads from the member with least to do;
//! * [`parity`]: RAID-4, 5 and 6, read-modify-write, reconstruct-write and full stripes;
//! * `schemes::gaftl`: rows of parity arrays that lie away from home while members collect, and stripes that leave a member free.
//!
//! What they share:
//!
//! * `transaction` and `plan`: what they are given, and what they make of it;
//! * `around`: reads of parity rows without the members that collect or are missing;
//! * `missing`: places that cannot be read;
//! * `resync`: rows that need not agree after a loss of power.

mod around;
pub mod mirrored;
pub(crate) mod missing;
pub mod parity;
mod plan;
pub(crate) mod resync;
pub mod striped;
mod transaction;

use std::collections::BTreeSet;

use dyn_clone::DynClone;
use harmonia_types::registry::{Entry, Registry};
use harmonia_types::{
    BoundCounters, Bytes, DeviceId, HostRequest, Operation, ReadCounters, RedundancyCounters, SimDuration,
    SimTime,
};

use crate::config::{Avoid, DegradedWrites, MemberConfig, Reads, SmallWrite};
use crate::delivered::Delivered;
use crate::health::Health;
use crate::layout::Layout;
pub use crate::placing::{Migration, Placing, Stripes};
pub use crate::rows::Rows;
use crate::schemes::gaftl;
use crate::stripe_cache::StripeCache;
pub use plan::Plan;
pub(crate) use plan::{flush, join};
pub use transaction::{Answer, Kind, PlannedOperation, Refusal, Tag, Transaction};

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

    /// A transaction that finds out by other means what a read under way is to bring, for a race between the two; `None`
    /// if there are none.
    fn hedge(&mut self, _transaction: &Transaction, _operation: &PlannedOperation) -> Option<Transaction> {
        None
    }

    /// The array is built, and its members hold these bytes, and no others: for a planner that keeps account of what has been written.
    fn begins_with(&mut self, _holds: &dyn Fn(DeviceId, Bytes) -> bool) {}

    /// A transaction is done, operations behind its request's back included.
    fn done(&mut self, _now: SimTime, _transaction: &Transaction) {}

    /// Whether plans depend on which members collect ([`Delivered::collecting`]); otherwise that is kept up to date only if the
    /// coordinator wants device events.
    fn watches_devices(&self) -> bool {
        false
    }

    /// Whether a request is always one transaction for its whole range that locks nothing, of one step that no open
    /// member refuses. Such a request is planned without being split, and members may run ahead of one another.
    fn is_flat(&self) -> bool {
        false
    }

    /// If members hold redundancy for one another: how what one holds is made anew from the others.
    fn restores(&self) -> Option<&dyn Restores> {
        None
    }

    /// If a loss of power can leave rows that do not agree: how they are made to.
    fn resyncs(&mut self) -> Option<&mut dyn Resyncs> {
        None
    }

    /// If writes can go by what the stripe cache keeps: how.
    fn uses_cache(&mut self) -> Option<&mut dyn UsesCache> {
        None
    }

    /// If it has work of its own to do while the array is idle: which. Whether it has is asked once, when the array is built.
    fn tidies(&mut self) -> Option<&mut dyn Tidies> {
        None
    }

    /// What it has counted since the run began.
    fn counters(&self) -> RedundancyCounters {
        RedundancyCounters::default()
    }

    /// What reads around members that collect have cost since the run began.
    fn read_counters(&self) -> ReadCounters {
        ReadCounters::default()
    }

    /// What it promises at most, and what its plans took since the run began; nothing if it promises nothing.
    fn bound_counters(&self) -> BoundCounters {
        BoundCounters::default()
    }

    /// What failures have cost since the run began.
    fn loss_counters(&self) -> LossCounters {
        LossCounters::default()
    }

    /// Rows that were written anew because they were cut short. Unit: rows, or pages where there is no parity.
    fn resynced_rows(&self) -> u64 {
        0
    }

    /// What only this planner counts, for the report; the names are always the same, and those of no policy.
    fn own_counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

dyn_clone::clone_trait_object!(Planner);

/// Of a planner for arrays with redundancy: rebuilds, copies, repairs and scrubs.
pub trait Restores {
    /// A transaction that writes anew what a member holds in a range, from the other members: to rebuild a replacement, or a page
    /// that cannot be read. `None` where the others do not have it. Of a failed member it writes nothing, or rebuilds it on other members
    /// ([`Restores::missing`]).
    fn restore(&self, member: DeviceId, offset: Bytes, length: Bytes) -> Option<Transaction>;

    /// Bytes of a failed member in a range that no other member has taken over. `None` unless [`Restores::restore`] rebuilds what a
    /// failed member held on others: on members that its stripes leave free.
    fn missing(&self, _member: DeviceId, _offset: Bytes, _length: Bytes) -> Option<Bytes> {
        None
    }

    /// A transaction that reads everything that all members hold in a range, to compare it; `repairs` writes parity or copies
    /// anew. `None` where there is nothing to compare.
    fn check(&self, offset: Bytes, length: Bytes, repairs: bool) -> Option<Transaction>;

    /// Where else a member holds something of some rows, each a row long: what is copied together with them.
    fn elsewhere(&self, _member: DeviceId, _rows: Rows) -> Vec<(Bytes, Bytes)> {
        Vec::new()
    }
}

/// Of a planner for arrays that may lose power.
pub trait Resyncs {
    /// Power is lost while a transaction runs, and it is forgotten. If it `writes`, its rows need not agree from now on.
    fn is_cut_short(&mut self, transaction: &Transaction, writes: bool);

    /// Power is lost when all operations of a transaction have been answered, and before it gives its rows back: its request may have
    /// been answered. Those that are over come first. By default they count as cut short, which only has their rows written anew.
    fn is_over(&mut self, transaction: &Transaction, writes: bool) {
        self.is_cut_short(transaction, writes);
    }

    /// Power is lost while a transaction runs for which a log is kept. By default that is as without one: it is written again.
    fn is_logged(&mut self, transaction: &Transaction, log: Logged) {
        self.is_cut_short(transaction, log != Logged::Nothing);
    }

    /// Of a transaction of which a log has the parity, where stripes move: where the units that it wrote in one of its rows lie, and
    /// their parity; all of its units if the log `is_gone`. Nothing of a row that holds nothing.
    fn torn(&self, _transaction: &Transaction, _row: u64, _is_gone: bool) -> Option<Torn> {
        None
    }

    /// A member that forgets has lost what it cached of so many bytes from an offset on: those rows need not agree from now on.
    fn is_lost(&mut self, member: DeviceId, offset: Bytes, length: Bytes);

    /// A transaction that goes through a range of the members after a loss of power: what was cut short is written so that it
    /// agrees. `None` where there is nothing that must.
    fn resync(&self, offset: Bytes, length: Bytes) -> Option<Transaction>;

    /// What lies below so many bytes of the members agrees since power was lost; everything if none are named.
    fn is_synced_to(&mut self, from: Option<Bytes>);

    /// Of what was not gone through only these chunks of so many bytes of the members need not agree.
    fn is_unsynced_in(&mut self, chunks: (Bytes, BTreeSet<u64>));
}

/// What a log has of a transaction when power is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logged {
    /// Nothing that counts, and no member has been given what it writes.
    Nothing,
    /// All that it writes, and it is written again.
    All,
    /// What the units that it does not write add up to: its parity is made of that and of the units that it was writing.
    Parity,
}

/// Where a row lies whose parity is made to agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// The members of the units that were being written, without units that hold nothing.
    pub units: Vec<DeviceId>,
    /// The member of parity.
    pub parity: DeviceId,
}

/// Of a planner whose writes read first: what the stripe cache keeps need not be read.
pub trait UsesCache {
    /// As [`Planner::plan`], of a write whose rows have entries in the cache; appends to `kept` the reads that these answer.
    fn plan_cached(
        &mut self,
        now: SimTime,
        transaction: &Transaction,
        view: &View<'_>,
        cache: &StripeCache,
        plan: &mut Plan,
        kept: &mut Vec<PlannedOperation>,
    );

    /// Whether such a write has to read anything first.
    fn has_pre_reads(&mut self, transaction: &Transaction, view: &View<'_>, cache: &StripeCache) -> bool;

    /// Two writes that wait for the same rows as one, if they can be. The second one came later.
    fn join(&self, first: &Transaction, second: &Transaction) -> Option<Transaction>;
}

/// Of a planner that puts things elsewhere for a time.
pub trait Tidies {
    /// A transaction to begin now that no request is under way and no member is reserved; the next one is asked for when it is
    /// done.
    fn tidy(&mut self, view: &View<'_>) -> Option<Transaction>;

    /// A transaction to begin now that a member may be used again, whatever else is under way.
    fn sweep(&mut self, _view: &View<'_>) -> Option<Transaction> {
        None
    }
}

/// What a planner is built from.
#[derive(Clone, Copy)]
pub struct Parameters<'a> {
    /// How the array's bytes lie on its members.
    pub layout: &'a Layout,
    /// How a small write makes its parity.
    pub small_write: SmallWrite,
    /// Bytes of a page of the members.
    pub page: Bytes,
    /// What reads and writes do about members that collect.
    pub dodge: Dodge,
    /// The name of the coordination policy, for a planner that goes with one.
    pub coordination: &'a str,
    /// Members, for a planner that may fill them unevenly.
    pub members: &'a [MemberConfig],
    /// Bytes of each that the array keeps there for itself.
    pub area: Bytes,
}

/// Builds a planner, if it is one for this array.
pub type Build = &'static (dyn Fn(&Parameters<'_>) -> Option<Box<dyn Planner>> + Send + Sync);

/// All planners, from the general to the special: of those that are for an array the last one plans it.
pub const REGISTRY: &[Entry<Build>] =
    &[striped::ENTRY, mirrored::ENTRY, parity::ENTRY, gaftl::PLANNER, gaftl::FLOATING];

/// Those, and what a program has added, which goes before all that are built in.
pub static POLICIES: Registry<Build> = Registry::new("planner", REGISTRY);

/// The planner of an array.
///
/// # Errors
/// If no planner is for it.
pub fn of(parameters: &Parameters<'_>) -> Result<Box<dyn Planner>, String> {
    let mut entries = POLICIES.entries().into_iter().rev();
    let level = parameters.layout.level();
    entries.find_map(|entry| (entry.build)(parameters)).ok_or_else(|| format!("nothing plans {level}"))
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

/// What an operation does that cannot be done without: a write is parked if it may be, anything else waits.
pub(crate) fn waits_or_parks(
    dodge: &Dodge,
    operation: &PlannedOperation,
    refusal: Refusal,
    patch: &mut Plan,
) -> Answer {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Copies, Level, Pattern, Rotation};
    use harmonia_types::registry::no_keys;

    /// The registry's name of the planner that an array with these free stripes gets, found out by building each alone.
    fn planners(level: Level, members: u16, free_stripes: u64) -> Vec<&'static str> {
        let layout = Layout::new(level, members, 4096, 4096, 4096 * 64);
        let parameters = Parameters {
            layout: &layout,
            small_write: SmallWrite::Fewest,
            page: 4096,
            dodge: Dodge { free_stripes, ..Dodge::default() },
            coordination: "local",
            members: &[],
            area: 0,
        };
        assert!(of(&parameters).is_ok(), "{level}");
        REGISTRY.iter().filter(|entry| (entry.build)(&parameters).is_some()).map(|entry| entry.name).collect()
    }

    #[test]
    fn every_level_has_one_general_planner_and_a_scheme_goes_before_it() {
        let mirrored = Level::Raid10(Copies { pattern: Pattern::Near, count: 2 });
        let parity = Level::Raid5(Rotation::LeftSymmetric);
        for (level, members, free_stripes, names) in [
            (Level::Raid0, 4, 0, &["striped"][..]),
            (Level::Raid0, 4, 8, &["striped"]),
            (Level::Raid1, 2, 8, &["mirrored"]),
            (mirrored, 4, 0, &["mirrored"]),
            (parity, 5, 0, &["parity"]),
            (parity, 5, 8, &["parity", "gaftl"]),
        ] {
            assert_eq!(planners(level, members, free_stripes), names, "{level}");
        }
    }

    /// A scheme of a program's own: its planner is asked first, and takes the arrays of its own coordination policy alone.
    #[test]
    fn a_planner_that_is_added_goes_before_all_others() {
        static OWN: Entry<Build> = Entry {
            name: "test-of-an-added-planner",
            summary: "A test's.",
            source: "none",
            keys: &no_keys,
            build: &|parameters| {
                let layout = parameters.layout.clone();
                let Layout::Striped(layout) = layout else { return None };
                let parks = Dodge { parks: true, ..Dodge::default() };
                let own = striped::StripedPlanner::new(layout).dodging(4096, parks);
                (parameters.coordination == "its-own").then(|| Box::new(own) as Box<dyn Planner>)
            },
        };
        POLICIES.lend(&OWN).expect("its name is free");
        let layout = Layout::new(Level::Raid0, 4, 4096, 4096, 4096 * 64);
        let is_flat = |coordination: &str| {
            let (small_write, dodge) = (SmallWrite::Fewest, Dodge::default());
            let (members, area) = (&[][..], 0);
            let parameters =
                Parameters { layout: &layout, small_write, page: 4096, dodge, coordination, members, area };
            of(&parameters).map(|planner| planner.is_flat())
        };
        assert_eq!((is_flat("its-own"), is_flat("local")), (Ok(false), Ok(true)));
        POLICIES.take_back(OWN.name);
        assert_eq!(is_flat("its-own"), Ok(true));
    }
}
