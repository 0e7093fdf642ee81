//! The block with the fewest valid pages among `victim_d` closed blocks drawn at random. This is nearly as good as greedy, at a
//! constant cost.
//!
//! Blocks are drawn with replacement. Ties go to the block drawn first, as the mean-field model of the source assumes. If all
//! drawn blocks are full, a full one is taken. So the hard threshold must be at least 1.
//!
//! Source: Van Houdt, SIGMETRICS 2013; Li et al., SIGMETRICS 2013.
//!
//! Leaves out: wear.

use harmonia_engine::Rng;
use harmonia_types::registry::Entry;

use super::{Build, Victim, VictimView};
use crate::block::BlockId;

struct DChoices {
    d: u32,
}

impl Victim for DChoices {
    fn choose(&self, view: &VictimView<'_>, rng: &mut Rng) -> Option<BlockId> {
        let mut best = view.blocks.random_closed(rng)?;
        for _ in 1..self.d {
            let other = view.blocks.random_closed(rng)?;
            if view.blocks.closed_valid(other) < view.blocks.closed_valid(best) {
                best = other;
            }
        }
        Some(best)
    }

    fn may_take_full(&self) -> bool {
        true
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "d-choices",
    summary: "the fewest valid pages among `victim_d` random blocks",
    source: "Van Houdt, SIGMETRICS 2013",
    keys: &["victim_d"],
    build: |parameters| Box::new(DChoices { d: parameters.d.max(1) }),
};

#[cfg(test)]
mod tests {
    use super::super::tests::choose_often;

    /// With d = 3 and one best block of two, the other is taken only if drawn three times: 1/8.
    #[test]
    fn takes_the_best_of_those_drawn() {
        let taken = choose_often("d-choices", 8, &[(7, 0), (1, 0)], 8000);
        assert!((taken[0] as i64 - 1000).abs() < 150, "{taken:?}");
    }
}
