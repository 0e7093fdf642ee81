//! What each member holds: all of it, nothing because it failed, or a part because it is a replacement that is being built. The
//! states of a member, and what leads from one to another, are in `member`.

use harmonia_types::{Bytes, DeviceId};

use crate::layout::Layout;
pub use crate::member::Condition;
use crate::member::{Access, Member};
use crate::stand_ins::StandIns;

/// What the members hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    members: Vec<Member>,
    /// Members that are not whole.
    ailing: u16,
    /// Some member is reserved or has failed.
    refuses: bool,
    /// Members that others stand in for; only where the layout keeps spare space.
    stand_ins: Option<Box<StandIns>>,
    /// Failed members of which others hold everything.
    distributed: Vec<DeviceId>,
}

impl Health {
    /// Whole members.
    pub fn new(members: usize) -> Self {
        Health {
            members: vec![Member::NEW; members],
            ailing: 0,
            refuses: false,
            stand_ins: None,
            distributed: Vec::new(),
        }
    }

    /// Whole members of a layout, whose spare space is free.
    pub fn of_layout(layout: &Layout) -> Self {
        let stand_ins = StandIns::new(layout).map(Box::new);
        Health { stand_ins, ..Health::new(usize::from(layout.members())) }
    }

    /// Whether every member holds everything.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.ailing == 0
    }

    /// Whether nothing is missing: every member holds everything, or others hold it.
    #[cold]
    pub fn is_complete(&self) -> bool {
        usize::from(self.ailing) == self.distributed.len()
    }

    /// Others hold everything of a failed member, for good: nothing takes its place.
    pub(crate) fn is_distributed(&mut self, device: DeviceId) {
        self.distributed.push(device);
    }

    /// Members that are not whole.
    pub fn ailing(&self) -> u16 {
        self.ailing
    }

    /// What a member holds.
    #[inline]
    pub fn of(&self, device: DeviceId) -> Condition {
        self.members[device.index()].condition()
    }

    /// Whether a member takes operations. A device that is no member, such as a journal, does.
    #[inline]
    pub(crate) fn access(&self, device: DeviceId) -> Access {
        if !self.refuses {
            return Access::Open;
        }
        self.members.get(device.index()).map_or(Access::Open, |member| member.access())
    }

    /// Whether some member is reserved or has failed.
    #[inline]
    pub(crate) fn refuses(&self) -> bool {
        self.refuses
    }

    /// Whether some member is reserved.
    #[cold]
    pub(crate) fn reserves(&self) -> bool {
        self.members.iter().any(|member| member.access() == Access::Reserved)
    }

    /// The slot of the spare that a member is copied to.
    #[inline]
    pub(crate) fn spare_of(&self, device: DeviceId) -> Option<usize> {
        self.members.get(device.index())?.spare()
    }

    /// Whether some member is copied to the device in a slot.
    pub(crate) fn is_spare(&self, slot: usize) -> bool {
        self.members.iter().any(|member| member.spare() == Some(slot))
    }

    /// Whether a member holds what lies below `end`.
    #[inline]
    pub fn holds(&self, device: DeviceId, end: Bytes) -> bool {
        match self.of(device) {
            Condition::Whole => true,
            Condition::Failed => false,
            Condition::Partial(built) => end <= built,
        }
    }

    /// Whether a member holds a range within one row of stripe units, or whoever stands in for it there does.
    #[inline]
    pub fn has(&self, device: DeviceId, from: Bytes, to: Bytes) -> bool {
        self.holds(device, to)
            && self
                .stand_ins
                .as_deref()
                .is_none_or(|all| all.chain(device, from, to).all(|one| self.holds(one, to)))
    }

    /// Whether writes to a place of a member are kept, by it or by whoever stands in for it.
    #[inline]
    pub fn takes_at(&self, device: DeviceId, at: Bytes) -> bool {
        self.takes_writes(device)
            && self
                .stand_ins
                .as_deref()
                .is_none_or(|all| all.chain(device, at, at + 1).all(|one| self.takes_writes(one)))
    }

    /// Whose unit a member holds in a row of stripe units: its own, or one that it stands in for; `None` for spare space.
    pub fn role(&self, device: DeviceId, row: u64) -> Option<DeviceId> {
        self.stand_ins.as_deref().map_or(Some(device), |all| all.role(device, row))
    }

    /// Who stands in for members.
    #[inline]
    pub fn stand_ins(&self) -> Option<&StandIns> {
        self.stand_ins.as_deref()
    }

    /// Members stand in for one that has failed from now on, as far as spare space goes.
    pub(crate) fn take_stand_ins(&mut self, device: DeviceId) -> Option<u16> {
        self.stand_ins.as_deref_mut()?.take(device)
    }

    /// Whether writes to a member are kept.
    #[inline]
    pub fn takes_writes(&self, device: DeviceId) -> bool {
        self.of(device) != Condition::Failed
    }

    /// A member comes into another state.
    ///
    /// # Panics
    /// If the transition does not lead out of the state in which it is.
    pub(crate) fn change(&mut self, device: DeviceId, transition: impl FnOnce(&mut Member)) {
        transition(&mut self.members[device.index()]);
        self.ailing =
            self.members.iter().filter(|member| member.condition() != Condition::Whole).count() as u16;
        self.refuses = self.members.iter().any(|member| member.access() != Access::Open);
    }

    /// A member that holds so much, however it came to that.
    #[cfg(test)]
    pub(crate) fn set(&mut self, device: DeviceId, condition: Condition) {
        let access = Access::Open;
        self.change(device, |member| {
            *member = match condition {
                Condition::Whole => Member::NEW,
                Condition::Failed => Member::Failed,
                Condition::Partial(built) => Member::Rebuilding { access, built },
            };
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_holds_what_has_been_built() {
        let (one, other) = (DeviceId(0), DeviceId(1));
        let mut health = Health::new(2);
        assert!(health.is_whole() && health.holds(one, u64::MAX));
        health.set(one, Condition::Failed);
        assert!(!health.is_whole() && !health.holds(one, 1) && !health.takes_writes(one));
        health.set(one, Condition::Partial(8192));
        assert!(health.holds(one, 8192) && !health.holds(one, 8193) && health.takes_writes(one));
        assert!(health.holds(other, 8193));
        health.set(one, Condition::Whole);
        assert!(health.is_whole());
    }
}
