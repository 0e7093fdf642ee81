//! What goes into a device and what comes out of it.

use harmonia_types::{Blame, Bytes, Operation, ParityPages, SimDuration, SimTime};

use super::Device;
use crate::ftl::OutOfBlocks;
use crate::probe::Probe;

/// Part of a host request for one device: a range of bytes of its logical space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubRequest {
    /// Names it in its completion.
    pub token: u64,
    /// What to do.
    pub operation: Operation,
    /// First byte on the device.
    pub offset: Bytes,
    /// Bytes; partial pages of a write cost a read before the program.
    pub length: Bytes,
    /// Refuse pages that would wait for collection instead of letting them wait: see [`SubRefusal`]. Reads of pages that
    /// were never written are never refused.
    pub fast_fail: bool,
    /// When its request should be done, if the host said so.
    pub deadline: Option<SimTime>,
    /// Which of its pages are the array's own: parity, a log's, written behind the host's back.
    pub parity: ParityPages,
    /// It is background work of the array (rebuild, resync, scrub): the host does not wait for it, only behind it.
    pub background: bool,
    /// The handle of its request, for drives that place by it; 0 if it has none. Pages that are the array's own go without it.
    pub handle: u16,
    /// A write or trim with FUA (force unit access): it is answered when it outlives a loss of power. Of anything else it says nothing. The NVM
    /// command set has no such trim: a host gets the same from a trim and a flush, which waits for all else, too.
    pub fua: bool,
}

impl SubRequest {
    /// One of a host's own data, that waits for as long as it takes, has no handle and asks for nothing else.
    #[inline]
    pub const fn new(token: u64, operation: Operation, offset: Bytes, length: Bytes) -> SubRequest {
        SubRequest {
            token,
            operation,
            offset,
            length,
            fast_fail: false,
            deadline: None,
            parity: ParityPages::NONE,
            background: false,
            handle: 0,
            fua: false,
        }
    }
}

/// A sub-request of which every page is served or refused, and at least one is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubCompletion {
    /// The sub-request's token.
    pub token: u64,
    /// When its last page operation finished, link included; refused pages do not count.
    pub finish: SimTime,
    /// Where the time since submission went.
    pub blame: Blame,
    /// A page operation met garbage collection of its die between arrival and service, whether it waited for it or not.
    pub met_gc: bool,
    /// The page that finished last is the array's parity, or of its log.
    pub is_parity: bool,
}

/// Pages of a sub-request that asks to fail fast and would wait for collection: nothing of them was done, nothing will be.
///
/// Each page is refused by itself, when it arrives at a die whose collection would keep it waiting, or when such a collection
/// is due ahead of it while it waits. The others are served, and so is an operation that has begun. A refused write leaves
/// the page's old data, a refused trim its mapping, and operations behind it on the same page find that. A write that is
/// refused on arrival does not go over the link; one that waited at a die, or whose die was chosen after the link, has spent
/// that time. An operation that the schedule lets go between the steps of the collection, or before it begins, is not
/// refused unless a unit of the die is at its hard threshold; under the schedule `ideal` none is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubRefusal {
    /// The sub-request's token.
    pub token: u64,
    /// The first of the pages, counted from 0 in the sub-request.
    pub first: u32,
    /// How many, one behind the other.
    pub pages: u32,
    /// When they were refused.
    pub at: SimTime,
    /// For how long yet their dies are likely to collect; the longest of them. Of an event that has not begun, how long it
    /// will take.
    pub left: SimDuration,
    /// Where the time since submission went.
    pub blame: Blame,
}

/// Why a device cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceFailure {
    /// The allocation unit that has no free block.
    pub unit: u32,
    /// When it needed one.
    pub at: SimTime,
}

impl std::fmt::Display for DeviceFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ran out of free blocks in allocation unit {} at {}: garbage collection found no block to free before the \
             last one was written; raise ssd.ftl.reserved_blocks or ssd.gc.hard_threshold",
            self.unit, self.at
        )
    }
}

impl<P: Probe> Device<P> {
    pub(super) fn failure(&self, at: SimTime) -> impl Fn(OutOfBlocks) -> DeviceFailure + use<P> {
        move |error| DeviceFailure { unit: error.unit, at }
    }
}
