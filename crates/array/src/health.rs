//! What each member holds: all of it, nothing because it failed, or a part because it is a replacement that is being built.

use harmonia_types::{Bytes, DeviceId};

/// What a member holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Everything.
    Whole,
    /// Nothing: it failed, and nothing has taken its place.
    Failed,
    /// What lies below so many bytes. What is written above is kept, too, but not known to be complete.
    Partial(Bytes),
}

/// What the members hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    members: Vec<Condition>,
    /// Members that are not whole.
    ailing: u16,
}

impl Health {
    /// Whole members.
    pub fn new(members: usize) -> Self {
        Health { members: vec![Condition::Whole; members], ailing: 0 }
    }

    /// Whether every member holds everything.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.ailing == 0
    }

    /// Members that are not whole.
    pub fn ailing(&self) -> u16 {
        self.ailing
    }

    /// What a member holds.
    #[inline]
    pub fn of(&self, device: DeviceId) -> Condition {
        self.members[device.index()]
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

    /// Whether writes to a member are kept.
    #[inline]
    pub fn takes_writes(&self, device: DeviceId) -> bool {
        self.of(device) != Condition::Failed
    }

    pub(crate) fn set(&mut self, device: DeviceId, condition: Condition) {
        self.members[device.index()] = condition;
        self.ailing = self.members.iter().filter(|&&member| member != Condition::Whole).count() as u16;
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
