//! Any closed block, each with the same probability, full ones included.
//!
//! Collecting a full victim fills a block before it frees one. So a device needs a free block when collection starts, and the
//! hard threshold must be at least 1.
//!
//! Source: the closed form 1/(1 - rho) (Van Houdt, SIGMETRICS 2013, d = 1).
//!
//! Leaves out: everything that distinguishes blocks.

use harmonia_engine::Rng;
use harmonia_types::registry::{Entry, no_keys};

use super::{Build, Victim, VictimView};
use crate::block::BlockId;

#[derive(Clone)]
struct Random;

impl Victim for Random {
    fn choose(&self, view: &VictimView<'_>, rng: &mut Rng) -> Option<BlockId> {
        view.blocks.random_closed(rng)
    }

    fn may_take_full(&self) -> bool {
        true
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "random",
    summary: "any closed block",
    source: "Van Houdt, SIGMETRICS 2013 (d = 1)",
    keys: &no_keys,
    build: &|_| Ok(Box::new(Random)),
};

#[cfg(test)]
mod tests {
    use super::super::tests::{choose, choose_often};

    #[test]
    fn takes_every_closed_block_alike_unless_none_frees_a_page() {
        let taken = choose_often("random", 8, &[(8, 0), (7, 0), (1, 0), (0, 0)], 4000);
        assert!(taken.iter().all(|&n| (n as i64 - 1000).abs() < 150), "{taken:?}");
        assert_eq!(choose("random", 8, &[(8, 0)]), None);
    }
}
