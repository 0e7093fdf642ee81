//! Any closed block with an invalid page, each with the same probability.
//!
//! Source: closed form 1/(1 - rho) (Van Houdt, SIGMETRICS 2013, d = 1). Leaves out: everything.

use harmonia_engine::Rng;
use harmonia_types::registry::Entry;

use super::{Build, Victim, VictimView};
use crate::block::BlockId;

struct Random;

impl Victim for Random {
    fn choose(&self, view: &VictimView<'_>, rng: &mut Rng) -> Option<BlockId> {
        view.blocks.random_collectable(rng)
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "random",
    summary: "any closed block with an invalid page",
    source: "Van Houdt, SIGMETRICS 2013 (d = 1)",
    keys: &[],
    build: |_| Box::new(Random),
};

#[cfg(test)]
mod tests {
    use super::super::tests::{choose, choose_often};

    #[test]
    fn takes_every_block_that_frees_a_page_and_no_other() {
        let taken = choose_often("random", 8, &[(8, 0), (7, 0), (1, 0), (0, 0)], 4000);
        assert_eq!(taken[0], 0);
        assert!(taken[1..].iter().all(|&n| (n as i64 - 1333).abs() < 200), "{taken:?}");
        assert_eq!(choose("random", 8, &[(8, 0)]), None);
    }
}
