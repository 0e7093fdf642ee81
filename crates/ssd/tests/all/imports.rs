//! Which file of this crate names which, read from the sources: a circle is seen when it is made. `device` counts as one file.

use crate::sources::{circles, modules, reached};

#[test]
fn a_die_reaches_no_device() {
    let graph = modules("device");
    assert!(graph["device"].contains("die"), "nothing was read: {graph:#?}");
    for die in graph.keys().filter(|module| module.starts_with("die")) {
        let reached = reached(&graph, die);
        assert!(!reached.contains("device"), "{die} reaches {reached:?}");
    }
}

#[test]
fn no_files_name_one_another_in_a_circle() {
    let graph = modules("device");
    let circles = circles(&graph);
    assert!(circles.is_empty(), "{circles:?} in {graph:#?}");
}
