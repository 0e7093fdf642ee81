//! Which file of this crate calls which, through `self.` as well: `sources` says how that is read, and what it does not see.

use crate::sources::{Crate, Graph, circles};

/// The circles there are, the largest first, by their files. They may only become smaller: who adds a file to one has not made a part of
/// its own.
const CIRCLES: &[&[&str]] = &[
    &[
        "schemes/gaftl/planner",
        "schemes/gaftl/planner/degraded",
        "schemes/gaftl/planner/dual",
        "schemes/gaftl/planner/migration",
        "schemes/gaftl/planner/promised",
        "schemes/gaftl/planner/row",
    ],
    &[
        "planner/parity",
        "planner/parity/cached",
        "planner/parity/declustered",
        "planner/parity/degraded",
        "planner/parity/resync",
    ],
    &["planner/mirrored", "planner/mirrored/resync"],
];

/// The same by rooms, which are the folders and files of `src`: there is none.
const CIRCLES_OF_ROOMS: &[&[&str]] = &[];

#[track_caller]
fn assert_pinned(graph: &Graph, pinned: &[&[&str]]) {
    let found: Vec<Vec<&str>> = circles(graph).into_iter().map(Vec::from_iter).collect();
    let pinned: Vec<Vec<&str>> = pinned.iter().map(|circle| circle.to_vec()).collect();
    assert_eq!(found, pinned, "something has joined a circle, or has left one: then strike it off the list");
}

#[test]
fn circles_of_calls_only_become_smaller() {
    let all = Crate::read();
    all.print_largest();
    assert_pinned(&all.calls(), CIRCLES);
}

/// Imports and calls together. The lines of the registries do not count: `imports` sees to it that they are all there is.
#[test]
fn circles_of_rooms_only_become_smaller() {
    let room = |file: &str| file.split('/').next().unwrap_or_default().to_owned();
    let mut rooms = Graph::new();
    for (file, named) in Crate::read().calls_and_imports("controller") {
        let from = room(&file);
        let has_registry = ["coordination", "planner"].contains(&from.as_str());
        let named = named.iter().map(|file| room(file));
        let named = named.filter(|to| *to != from && !(has_registry && to == "schemes"));
        rooms.entry(from.clone()).or_default().extend(named);
    }
    assert!(rooms["controller"].contains("planner"), "nothing was read: {rooms:#?}");
    assert_pinned(&rooms, CIRCLES_OF_ROOMS);
}
