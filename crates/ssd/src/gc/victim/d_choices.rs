//! The block with the fewest valid pages among `d` closed blocks drawn at random. This is nearly as good as greedy, at a
//! constant cost.
//!
//! Blocks are drawn with replacement. Ties go to the block drawn first, as the mean-field model of the source assumes. If all
//! drawn blocks are full, a full one is taken. So the hard threshold must be at least 1.
//!
//! Source: Van Houdt, SIGMETRICS 2013; Li et al., SIGMETRICS 2013.
//!
//! Leaves out: wear.

use harmonia_engine::Rng;
use harmonia_types::registry::{Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Victim, VictimView};
use crate::block::BlockId;

/// Keys of `[ssd.gc.victim]` with `policy = "d-choices"`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Number of candidates.
    #[schemars(range(min = 1, max = 1000))]
    d: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config { d: 3 }
    }
}

#[derive(Clone)]
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
    summary: "the fewest valid pages among `d` random blocks",
    source: "Van Houdt, SIGMETRICS 2013",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let Config { d } = parameters.config()?;
        if !(1..=1000).contains(&d) {
            return Err("d is out of range, expected 1 to 1000".to_owned());
        }
        Ok(Box::new(DChoices { d }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::build;
    use super::super::tests::choose_often;
    use harmonia_types::registry::PolicyConfig;
    use serde_json::json;

    /// With d = 3 and one best block of two, the other is taken only if drawn three times: 1/8.
    #[test]
    fn takes_the_best_of_those_drawn() {
        let taken = choose_often("d-choices", 8, &[(7, 0), (1, 0)], 8000);
        assert!((taken[0] as i64 - 1000).abs() < 150, "{taken:?}");
    }

    #[test]
    fn a_number_of_candidates_that_cannot_be_is_refused() {
        let with = |key, value| build(&PolicyConfig::named("d-choices").with(key, value)).err();
        assert_eq!((with("d", json!(1)), with("d", json!(1000))), (None, None));
        for (key, value, why) in [
            ("d", json!(0), "1 to 1000"),
            ("d", json!(1001), "1 to 1000"),
            ("d", json!("3"), "u32"),
            ("slack", json!("1ms"), "d-choices has no key `slack`, expected d"),
        ] {
            let refused = with(key, value.clone()).unwrap_or_else(|| panic!("{key} = {value} is taken"));
            assert!(refused.contains(why), "{key} = {value}: {refused}");
        }
    }
}
