//! Which room of this crate names which, read from the sources, so that a path back is seen when it is made.
//!
//! ```text
//! rows, delivered, placing ◄── coordination ◄──┐
//!                          ◄── planner ◄───────┴── schemes ◄── lines of both registries
//!                                  ▲
//!                              controller: names both by their traits, and reads no planner's tag
//! ```

use crate::sources::{self, code};

/// The sources below a folder or of a file, without files of tests, by path from `src`.
fn sources(below: &str) -> Vec<(String, String)> {
    let all = sources::sources().into_iter().filter(|(file, _)| file.starts_with(below));
    all.map(|(file, source)| (file.to_string_lossy().into_owned(), source)).collect()
}

/// Lines of the sources below a folder that have one of these words.
fn lines_with(below: &str, words: &[&str]) -> Vec<String> {
    let files = sources(below);
    assert!(!files.is_empty(), "{below} is there");
    let found = files.into_iter().flat_map(|(name, source)| {
        let code = code(&source);
        let lines = code.lines().filter(|line| words.iter().any(|word| line.contains(word)));
        lines.map(|line| format!("{name}: {}", line.trim())).collect::<Vec<_>>()
    });
    found.collect()
}

#[test]
fn leaves_name_nothing_of_the_crate() {
    for leaf in ["rows.rs", "delivered.rs", "placing.rs"] {
        assert_eq!(lines_with(leaf, &["crate::", "super::"]), [""; 0], "{leaf}");
    }
}

/// But for the lines of the registries.
#[test]
fn coordinators_and_planners_do_not_know_one_another() {
    let line = |registry| vec![format!("{registry}/mod.rs: use crate::schemes::gaftl;")];
    for (room, others) in [("coordination", "crate::planner"), ("planner", "crate::coordination")] {
        let found = lines_with(room, &[others, "crate::controller", "crate::schemes"]);
        assert_eq!(found, line(room), "{room}");
    }
    assert_eq!(lines_with("schemes", &["crate::controller"]), [""; 0]);
}

/// What a transaction is about is its kind, and whose work it is its purpose.
#[test]
fn a_controller_reads_no_tag() {
    assert_eq!(lines_with("controller", &[".tag", "Tag"]), [""; 0]);
    assert!(!lines_with("planner", &["tag: "]).is_empty(), "tags are found where there are some");
}

/// A gate or a layer is built and tested alone. What an array does with it stands elsewhere.
#[test]
fn gates_and_layers_know_no_array() {
    let words = ["Array<", "ArrayFailure", "super::Array"];
    let gates = ["gate", "locks", "bitmap", "log"];
    let layers = ["layers", "standing_in", "nvram", "reserved", "depth", "hedges", "link"];
    for part in gates.into_iter().chain(layers) {
        assert_eq!(lines_with(&format!("controller/{part}.rs"), &words), [""; 0], "{part}");
    }
    assert!(!lines_with("controller/path.rs", &words).is_empty(), "an array is found where there is one");
}

#[test]
fn every_planner_opens_with_its_rule_and_its_source() {
    let mut planners = sources("planner");
    planners.extend(sources("schemes"));
    planners.retain(|(_, source)| source.contains("const ENTRY: Entry<Build>"));
    assert!(planners.len() > 3, "planners are found");
    for (name, source) in planners {
        let comment: Vec<&str> = source.lines().take_while(|line| line.starts_with("//!")).collect();
        assert!(comment.iter().any(|line| line.starts_with("//! Source: ")), "{name}");
    }
}
