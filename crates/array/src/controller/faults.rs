//! What may befall members, what stands by for them, and pages that cannot be read. What happens then is in `failure`.
//!
//! An unreadable page is found when it is read. It is read in another way, as if the member were missing, and written anew
//! behind the request's back, from the others.

use harmonia_engine::Rng;
use harmonia_ssd::probe::Probe;
use harmonia_ssd::{Device, SubCompletion};
use harmonia_types::{Bytes, DeviceId, Operation, SimTime};
use serde::Serialize;

use super::Array;
use super::clean::Clean;
use super::messages::Message;
use super::payload::Payload;
use super::power::Power;
use super::states::{Progress, Purpose};
use super::tokens::Node;
use crate::config::Faults;
use crate::planner::{LossCounters, Refusal};

/// A failure of a member or of the array, or what the array has done about one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mishap {
    /// When.
    pub at: SimTime,
    /// The member; none if it concerns the whole array.
    pub device: Option<DeviceId>,
    /// What.
    pub what: MishapKind,
}

/// What it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MishapKind {
    /// It failed.
    Failed,
    /// It refused a write, because its blocks are worn out. It fails at the same moment.
    ReadOnly,
    /// It takes so many times as long.
    Slow(f64),
    /// A spare took its place: the number it was made with.
    Replaced(u16),
    /// Distributed spare space of this number takes its place.
    StoodIn(u16),
    /// No spare takes its place, and what it held is rebuilt on members that are free of its stripes.
    Distributed,
    /// No spare took its place, and so many bytes of it could not be rebuilt on other members.
    Incomplete(Bytes),
    /// A spare begins to take its place while it works: the number that was made with.
    Copying(u16),
    /// The replacement holds everything, or others do.
    Rebuilt,
    /// Power was lost, and so many requests had to be submitted again.
    PowerLost(u64),
    /// All that was being written when power was lost agrees again.
    Resynced,
    /// Power was lost while it was written and a member was missing: it does not start any more.
    Refused,
}

/// Faults that are configured, what stands by for them, and what they have led to.
#[derive(Clone)]
pub(super) struct Failures<P: Probe> {
    pub config: Faults,
    /// Requests that have arrived.
    pub requests: u64,
    /// Spares that are left, the next one last, with the numbers they were made with.
    pub spares: Vec<(u16, Device<P>)>,
    /// Members that failed and were replaced.
    pub retired: Vec<(u16, Device<P>)>,
    rng: Rng,
    /// Pages until the next one that cannot be read.
    readable: u64,
    pub log: Vec<Mishap>,
    pub unreadable_pages: u64,
    pub power: Power,
    /// When something was last written.
    pub last_write: Option<SimTime>,
    /// Only where members keep data for one another and forget what they cache: whether they have flushed it.
    pub clean: Option<Clean>,
    /// Members keep data for one another and forget what they cache.
    pub forgets: bool,
    /// Rows that were being written when power was lost are yet to be seen to.
    pub is_dirty: bool,
    /// What was lost because the array did not start any more, or with a member that nobody expected to fail.
    pub refused: LossCounters,
}

impl<P: Probe> Failures<P> {
    pub fn new(config: &Faults, members: usize, spares: Vec<Device<P>>) -> Self {
        let first = members as u16;
        let mut spares: Vec<_> = (first..).zip(spares).collect();
        spares.reverse();
        let mut rng = Rng::stream(config.seed, "array/page-errors");
        let readable = until_error(&mut rng, config.page_errors);
        Failures {
            config: config.clone(),
            requests: 0,
            spares,
            retired: Vec::new(),
            rng,
            readable,
            log: Vec::new(),
            unreadable_pages: 0,
            power: Power::default(),
            last_write: None,
            clean: None,
            forgets: false,
            is_dirty: false,
            refused: LossCounters::default(),
        }
    }

    /// Spares that are left, and members that were replaced.
    pub fn not_members(&mut self) -> impl Iterator<Item = &mut Device<P>> {
        self.spares.iter_mut().chain(&mut self.retired).map(|(_, device)| device)
    }

    /// Of so many pages that were read, the next one after the first `from` that could not be.
    fn unreadable(&mut self, from: u64, pages: u64) -> Option<u64> {
        let left = pages - from;
        if self.readable >= left {
            self.readable -= left;
            return None;
        }
        let page = from + self.readable;
        self.readable = until_error(&mut self.rng, self.config.page_errors);
        self.unreadable_pages += 1;
        Some(page)
    }
}

/// Pages that are read until one cannot be: geometrically distributed.
fn until_error(rng: &mut Rng, share: f64) -> u64 {
    if share <= 0.0 {
        return u64::MAX;
    }
    if share >= 1.0 {
        return 0;
    }
    libm::floor(rng.exponential(1.0) / -libm::log1p(-share)) as u64
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Whether pages may turn out to be unreadable.
    #[inline]
    pub(super) fn reads_may_fail(&self) -> bool {
        self.failures.as_deref().is_some_and(|failures| failures.config.page_errors > 0.0)
    }

    /// Pages of a read that turn out to be unreadable become operations of their own, which the member refuses when the rest
    /// of the read is done.
    #[cold]
    pub(super) fn find_unreadable(&mut self, node: &Node, done: &SubCompletion) {
        let Some(failures) =
            self.failures.as_deref_mut().filter(|failures| failures.config.page_errors > 0.0)
        else {
            return;
        };
        if node.operation.operation != Operation::Read || node.is_direct() || node.refused > 0 {
            return;
        }
        if self.transactions[node.transaction()].purpose == Purpose::Replay {
            return;
        }
        let size = self.page_size;
        let (start, end) = (node.operation.offset, node.operation.offset + node.operation.length);
        let pages = end.div_ceil(size) - start / size;
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(page) = failures.unreadable(from, pages) {
            found.push(page);
            from = page + 1;
        }
        for page in found {
            let offset: Bytes = ((start / size + page) * size).max(start);
            let length = ((start / size + page + 1) * size).min(end) - offset;
            let chain = self.chain_with(node, done.finish, node.operation.phase, &done.blame);
            let mut piece = Node { before: super::tokens::NONE, ..*node };
            (piece.operation.offset, piece.operation.length) = (offset, length);
            if self.payload.is_active() {
                self.tell_payload(node.parent, |payload, owner| {
                    payload.finds_unreadable(owner, &piece.planned(), done.token);
                });
            }
            self.add_to_step(&mut piece);
            piece.before = self.nodes.keep_before(chain);
            piece.progress = Progress::Begun;
            let place = self.nodes.insert(piece);
            let token = self.nodes.token(place);
            self.agenda.push(done.finish.max(self.latest), Message::Refused(token, Refusal::Unreadable));
        }
    }
}
