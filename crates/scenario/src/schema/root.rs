//! Keys of no table, and of `[precondition]`.

use std::sync::LazyLock;

use super::held::{Draft as _, Held, Place, at, by};
use super::kinds::{Kind, choice, number, text, whole};
use super::{Declared, Key, declare};
use crate::error::is_hidden;
use crate::scenario::{OverwriteSpace, Precondition, WarmupPolicy};

fn name(words: &str) -> Kind<String> {
    let is_name = |name: &String| (1..=200).contains(&name.chars().count()) && !name.contains(is_hidden);
    text(words).checked(is_name, "is not a name")
}

declare! {
    NAME: String = "name", name("text of 1 to 200 characters"), "the file's name", "names the scenario in reports";
    SEED: u64 = "seed", whole(0, u64::MAX), "1", "seed of all random numbers";
}

type Drafted = Precondition;

const SPACES: &[(&str, OverwriteSpace)] =
    &[("all", OverwriteSpace::All), ("load", OverwriteSpace::Load), ("footprint", OverwriteSpace::Footprint)];
const WARMUP_POLICIES: &[(&str, WarmupPolicy)] =
    &[("own", WarmupPolicy::Own), ("local", WarmupPolicy::Local)];

/// In the order in which they are documented.
#[rustfmt::skip]
pub(crate) static PRECONDITION: LazyLock<Vec<Box<dyn Held<Drafted>>>> = LazyLock::new(|| vec![
    at! { "precondition.fill", fill, number(0.0, 1.0), "1.0",
        "share of the logical space mapped before the run; 0: an empty device that was never written" },
    at! { "precondition.overwrite", overwrite, number(0.0, 1000.0).saying("a number from 0 to 1000; with `fill` = 0 only 0"),
        "3.0; 0 with `fill` = 0", "random overwrites of the mapped space before the run, in multiples of its size" },
    at! { "precondition.overwrite_space", overwrite_space,
        choice(SPACES).quiet().saying("\"all\"; \"load\" with overwrites, with neither files nor working sets; \
         \"footprint\" with raid0, overwrites, and a generated load without streams and without skew"), "all",
        "where the overwrites go. all: to all that is mapped. load: where the load writes, with copies, parity and trims, so that it \
         begins on an array that is used to it; `overwrite` counts all pages that members take, and a load that writes nothing \
         ages as with all. footprint: to the load's footprint, in multiples of it; the rest stays as `fill` wrote it" },
    at! { "precondition.warmup_policy", warmup_policy, choice(WARMUP_POLICIES).quiet(), "\"own\"",
        "coordination policy under which the load's warm-up runs; \"local\": variants of a comparison that differ in \
         coordination alone warm up once, then members come to rest, and each goes on from there" },
    at! { "precondition.seed", seed, whole(0, u64::MAX).optional(), "`seed`",
        "seed of ageing. With it, runs of several seeds begin with one aged array, which takes less time; what their results \
         vary by is then the load alone" },
]);
