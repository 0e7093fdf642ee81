//! Whose request an id is, while it is out.
//!
//! Ids go on one by one, so the requests that are out lie in a ring: an id is a place in it.

use std::collections::VecDeque;

/// What a request that is done leaves in its place.
const DONE: u16 = u16::MAX;

/// Owners of the requests that are out, by id.
#[derive(Debug, Clone, Default)]
pub struct Owners {
    /// The id of the first place.
    first: u64,
    owners: VecDeque<u16>,
}

impl Owners {
    /// The request `id` is out, and is `owner`'s. Ids come one after the other; the first may be any.
    pub fn begin(&mut self, id: u64, owner: u16) {
        if self.owners.is_empty() {
            self.first = id;
        }
        debug_assert_eq!(id, self.first + self.owners.len() as u64, "ids go on one by one");
        self.owners.push_back(owner);
    }

    /// The request `id` is done; whose it was, if it was known to be out.
    pub fn end(&mut self, id: u64) -> Option<u16> {
        let place = usize::try_from(id.checked_sub(self.first)?).ok()?;
        let owner = std::mem::replace(self.owners.get_mut(place)?, DONE);
        while self.owners.front() == Some(&DONE) {
            self.owners.pop_front();
            self.first += 1;
        }
        (owner != DONE).then_some(owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_its_owner_until_it_is_done() {
        let mut owners = Owners::default();
        for (id, owner) in [(7, 0), (8, 1), (9, 2)] {
            owners.begin(id, owner);
        }
        assert_eq!([8, 8, 6, 10].map(|id| owners.end(id)), [Some(1), None, None, None]);
        assert_eq!((owners.end(7), owners.owners.len()), (Some(0), 1), "what is done at the front goes");
        owners.begin(10, 3);
        assert_eq!([9, 10, 10].map(|id| owners.end(id)), [Some(2), Some(3), None]);
        owners.begin(11, 4);
        assert_eq!(owners.end(11), Some(4));
    }
}
