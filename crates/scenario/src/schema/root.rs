//! Keys of no table, and of `[precondition]`.

use super::Form::{Number, OneOf, Text, Whole};
use super::{Key, MOST, key};

/// In the order in which they are documented.
pub(super) const KEYS: &[Key] = &[
    key("name", Text, "text of 1 to 200 characters", "the file's name", "names the scenario in reports"),
    key("seed", Whole(0, MOST), "a whole number, 0 to 2^64 - 1", "1", "seed of all random numbers"),
    key(
        "precondition.fill",
        Number(0.0, 1.0),
        "a number from 0 to 1",
        "1.0",
        "share of the logical space mapped before the run; 0: an empty device that was never written",
    ),
    key(
        "precondition.overwrite",
        Number(0.0, 1000.0),
        "a number from 0 to 1000; with `fill` = 0 only 0",
        "3.0; 0 with `fill` = 0",
        "random overwrites of the mapped space before the run, in multiples of its size",
    ),
    key(
        "precondition.overwrite_space",
        OneOf(&["all", "footprint"]),
        "\"all\"; \"footprint\" with raid0, overwrites, and a generated load without streams and without skew",
        "all",
        "where the random overwrites go: to all that is mapped, or to the load's footprint only, and then `overwrite` counts in \
         multiples of it; the rest stays as `fill` wrote it, so that a load with a small footprint begins on a device that is used \
         to it",
    ),
    key(
        "precondition.warmup_policy",
        OneOf(&["own", "local"]),
        "\"own\" or \"local\"",
        "\"own\"",
        "coordination policy under which the load's warm-up runs; \"local\": variants of a comparison that differ in \
         coordination alone warm up once, then members come to rest, and each goes on from there",
    ),
];
