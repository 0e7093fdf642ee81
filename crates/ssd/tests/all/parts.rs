//! Which file of this crate calls which, through `self.` as well: `sources` says how that is read, and what it does not see.

use crate::sources::{Crate, circles};

/// The circles there are, the largest first, by their files. They may only become smaller: who adds a file to one has not made a part of
/// its own.
const CIRCLES: &[&[&str]] = &[&["ftl/mapping", "ftl/placing", "ftl/prefetch", "ftl/unit", "ftl/within"]];

#[test]
fn circles_of_calls_only_become_smaller() {
    let all = Crate::read();
    all.print_largest();
    let calls = all.calls();
    let found: Vec<Vec<&str>> = circles(&calls).into_iter().map(Vec::from_iter).collect();
    let pinned: Vec<Vec<&str>> = CIRCLES.iter().map(|circle| circle.to_vec()).collect();
    assert_eq!(
        found, pinned,
        "a file has joined a circle of calls, or has left one: then strike it off the list"
    );
}

/// Between the parts of the crate there is no circle of imports and calls together.
#[test]
fn no_part_calls_one_that_calls_or_names_it() {
    let graph = Crate::read().calls_and_imports("device");
    for circle in circles(&graph) {
        let is_pinned = |file: &str| CIRCLES.iter().any(|circle| circle.contains(&file));
        assert!(circle.iter().all(|file| is_pinned(file)), "these are in a circle: {circle:?}");
    }
}
