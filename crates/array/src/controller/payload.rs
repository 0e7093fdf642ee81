//! A hook on what member operations carry, for whoever keeps or checks the contents of an array.
//!
//! Devices tell a [`harmonia_ssd::probe::Probe`] which page of which token they read or program. This hook says what a
//! token is: which transaction it belongs to, and when all the reads are done that a write's contents are made of. All
//! operations of a step are announced at one moment, after everything of the step before is done.

use std::any::Any;

use harmonia_types::{Completion, DeviceId, HostRequest};

use crate::health::Condition;
use crate::planner::{PlannedOperation, Transaction};

/// Hears of every member operation. All methods do nothing unless overridden; none can change anything.
pub trait Payload: Send + Any {
    /// Whether anything is called at all; must not change.
    #[inline]
    fn is_active(&self) -> bool {
        true
    }

    /// A request arrives; its transactions follow.
    fn arrives(&mut self, _request: &HostRequest) {}
    /// An operation of a transaction is handed to its member. `request` is `None` for background work.
    fn submits(&mut self, _of: Owner<'_>, _operation: &PlannedOperation, _token: u64) {}
    /// It is done.
    fn done(&mut self, _of: Owner<'_>, _operation: &PlannedOperation, _token: u64) {}
    /// Its member has read these pages of it and found them unreadable: what it brings of them is worth nothing. `done` follows.
    fn finds_unreadable(&mut self, _of: Owner<'_>, _operation: &PlannedOperation, _token: u64) {}
    /// Its member did not take it, or these pages of it, or cannot read them. A member that failed may have done a part of it.
    fn refused(&mut self, _of: Owner<'_>, _operation: &PlannedOperation, _token: u64) {}
    /// A write, or a part of one, goes to NVRAM instead. Its token is the one it was submitted with.
    fn parks(&mut self, _of: Owner<'_>, _operation: &PlannedOperation, _token: u64) {}
    /// A read, or a part of one, is answered from NVRAM; `done` follows.
    fn finds_parked(&mut self, _operation: &PlannedOperation, _token: u64) {}
    /// What is parked is written back to its member, instead of `submits`.
    fn destages(&mut self, _operation: &PlannedOperation, _token: u64) {}
    /// A page of a member is not parked any more.
    fn unparks(&mut self, _device: DeviceId, _page: u64) {}
    /// What these operations write is about to be written to the log by those, whose `submits` follow: behind a block that describes
    /// it, one after the other. A partial parity log has of a member's parity what the units that are not written add up to.
    fn logs(&mut self, _of: Owner<'_>, _writes: &[PlannedOperation], _log: &[PlannedOperation]) {}
    /// A transaction of after a power loss reads this log, and does again what it says that another one was to do.
    fn replays(
        &mut self,
        _by: Owner<'_>,
        _of: &Transaction,
        _writes: &[PlannedOperation],
        _log: &[PlannedOperation],
    ) {
    }
    /// From now on what a write transaction reads and writes stays in the stripe cache.
    fn caches(&mut self, _of: Owner<'_>) {}
    /// A read that a write would have begun with is answered from the stripe cache. It is no operation, and has no token.
    fn finds_kept(&mut self, _of: Owner<'_>, _operation: &PlannedOperation) {}
    /// The stripe cache keeps nothing of a row any more.
    fn forgets(&mut self, _row: u64) {}
    /// From now on a transaction writes what this request brings for its rows, too.
    fn joins(&mut self, _of: Owner<'_>, _request: &HostRequest) {}
    /// The transaction is done and gives its rows back.
    fn ends(&mut self, _of: Owner<'_>) {}
    /// From now on a member holds more or less than before: it failed, was replaced, or is built up to there.
    fn holds(&mut self, _device: DeviceId, _condition: Condition) {}
    /// Power is lost: no operation, transaction or request that is not complete is heard of any more. Requests that are not
    /// complete are submitted again, without arriving again.
    fn loses_power(&mut self) {}
    /// A spare, the next one, begins to take a member's place: what the member is given from now on that is no read goes to both.
    fn is_copied(&mut self, _device: DeviceId) {}
    /// All of a member is copied: the spare is the member. The old device answers what it was given, and no more.
    fn retires(&mut self, _device: DeviceId) {}
    /// A member fails while it is copied: the spare is the member. `holds` follows and says how much it has.
    fn fails_over(&mut self, _device: DeviceId) {}
    /// The array does not start any more: from now on requests complete without their data.
    fn refuses(&mut self) {}
    /// A request is complete.
    fn completes(&mut self, _completion: &Completion) {}
}

/// Whose operation it is.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// Names the transaction while it runs.
    pub handle: u32,
    /// The transaction.
    pub transaction: &'a Transaction,
    /// Its request; `None` for background work, and for what begins or ends behind the back of a request that does not
    /// wait for it any more.
    pub request: Option<&'a HostRequest>,
}

/// Hears nothing, costs nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPayload;

impl Payload for NoPayload {
    #[inline]
    fn is_active(&self) -> bool {
        false
    }
}

/// Any payload at all, at the cost of a call for everything it hears: see [`harmonia_ssd::probe::AnyProbe`].
pub type AnyPayload = Box<dyn Payload>;

/// This payload, as any.
pub fn any(payload: impl Payload) -> AnyPayload {
    Box::new(payload)
}

/// The payload of an array, as what it is.
///
/// # Panics
/// If it is none of that type.
pub fn payload_as<C: Payload>(payload: &mut AnyPayload) -> &mut C {
    let payload: &mut dyn Any = &mut **payload;
    payload.downcast_mut().expect("a payload of this type")
}

impl Payload for AnyPayload {
    fn is_active(&self) -> bool {
        (**self).is_active()
    }
    fn arrives(&mut self, request: &HostRequest) {
        (**self).arrives(request);
    }
    fn submits(&mut self, of: Owner<'_>, operation: &PlannedOperation, token: u64) {
        (**self).submits(of, operation, token);
    }
    fn done(&mut self, of: Owner<'_>, operation: &PlannedOperation, token: u64) {
        (**self).done(of, operation, token);
    }
    fn finds_unreadable(&mut self, of: Owner<'_>, operation: &PlannedOperation, token: u64) {
        (**self).finds_unreadable(of, operation, token);
    }
    fn refused(&mut self, of: Owner<'_>, operation: &PlannedOperation, token: u64) {
        (**self).refused(of, operation, token);
    }
    fn parks(&mut self, of: Owner<'_>, operation: &PlannedOperation, token: u64) {
        (**self).parks(of, operation, token);
    }
    fn finds_parked(&mut self, operation: &PlannedOperation, token: u64) {
        (**self).finds_parked(operation, token);
    }
    fn destages(&mut self, operation: &PlannedOperation, token: u64) {
        (**self).destages(operation, token);
    }
    fn unparks(&mut self, device: DeviceId, page: u64) {
        (**self).unparks(device, page);
    }
    fn logs(&mut self, of: Owner<'_>, writes: &[PlannedOperation], log: &[PlannedOperation]) {
        (**self).logs(of, writes, log);
    }
    fn replays(
        &mut self,
        by: Owner<'_>,
        of: &Transaction,
        writes: &[PlannedOperation],
        log: &[PlannedOperation],
    ) {
        (**self).replays(by, of, writes, log);
    }
    fn caches(&mut self, of: Owner<'_>) {
        (**self).caches(of);
    }
    fn finds_kept(&mut self, of: Owner<'_>, operation: &PlannedOperation) {
        (**self).finds_kept(of, operation);
    }
    fn forgets(&mut self, row: u64) {
        (**self).forgets(row);
    }
    fn joins(&mut self, of: Owner<'_>, request: &HostRequest) {
        (**self).joins(of, request);
    }
    fn ends(&mut self, of: Owner<'_>) {
        (**self).ends(of);
    }
    fn holds(&mut self, device: DeviceId, condition: Condition) {
        (**self).holds(device, condition);
    }
    fn loses_power(&mut self) {
        (**self).loses_power();
    }
    fn is_copied(&mut self, device: DeviceId) {
        (**self).is_copied(device);
    }
    fn retires(&mut self, device: DeviceId) {
        (**self).retires(device);
    }
    fn fails_over(&mut self, device: DeviceId) {
        (**self).fails_over(device);
    }
    fn refuses(&mut self) {
        (**self).refuses();
    }
    fn completes(&mut self, completion: &Completion) {
        (**self).completes(completion);
    }
}
