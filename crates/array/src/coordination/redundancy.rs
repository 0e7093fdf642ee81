//! How many members reads can do without at this moment: what the level allows, less the members that are missing.
//!
//! A member is missing from its failure until its replacement is rebuilt. What a replacement does not hold yet has to be read
//! around it, too. On RAID-10 a failure uses up the redundancy of its own copies alone; here it counts for all.

use super::Event;

#[derive(Clone)]
pub(super) struct Redundancy {
    /// With all members whole.
    most: u16,
    /// By member.
    is_missing: Vec<bool>,
}

impl Redundancy {
    /// Of `devices` whole members, reads can do without `most`.
    pub fn new(devices: u16, most: u16) -> Self {
        Redundancy { most, is_missing: vec![false; usize::from(devices)] }
    }

    /// Takes note of an event.
    pub fn note(&mut self, event: &Event) {
        match *event {
            Event::Failure(member) => self.is_missing[member.index()] = true,
            Event::Rebuilt(member) => self.is_missing[member.index()] = false,
            _ => {}
        }
    }

    /// Members that reads can do without now.
    pub fn left(&self) -> u16 {
        let missing = self.is_missing.iter().filter(|&&is_missing| is_missing).count();
        self.most.saturating_sub(missing as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{failed, rebuilt, replaced};
    use super::*;

    #[test]
    fn a_member_is_missing_until_it_is_rebuilt() {
        let mut redundancy = Redundancy::new(4, 2);
        for (event, left) in [
            (failed(1), 1),
            (replaced(1), 1),
            (failed(1), 1),
            (failed(3), 0),
            (failed(0), 0),
            (rebuilt(1), 0),
            (rebuilt(0), 1),
            (rebuilt(3), 2),
        ] {
            redundancy.note(&event);
            assert_eq!(redundancy.left(), left, "{event:?}");
        }
    }
}
