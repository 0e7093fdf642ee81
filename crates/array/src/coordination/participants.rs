//! The list of participants a selective policy keeps: who has sent PARTICIPATE_GGC and has not ended above soft since.
//!
//! Source: paper A (IEEE TC 2012, section 4.3.1), "registered in an O-RAID maintained list". Built from delivered
//! messages alone, so an incapable member, which sends none, is never on it. A member that fails leaves it, and its
//! replacement registers for itself.

use harmonia_types::DeviceId;

use super::Event;

#[derive(Clone)]
pub(super) struct Participants {
    /// By member.
    registered: Vec<bool>,
}

impl Participants {
    /// Nobody among `devices`.
    pub fn new(devices: u16) -> Self {
        Participants { registered: vec![false; usize::from(devices)] }
    }

    /// Takes note of an event.
    pub fn note(&mut self, event: &Event) {
        match *event {
            Event::SoftThreshold(member) => self.registered[member.index()] = true,
            Event::GcEnded { device, registered } => self.registered[device.index()] = registered,
            Event::Failure(member) => self.registered[member.index()] = false,
            _ => {}
        }
    }

    /// Whether a member is on the list.
    pub fn includes(&self, member: DeviceId) -> bool {
        self.registered[member.index()]
    }
}
