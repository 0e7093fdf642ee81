//! Which file of this crate may know which: read from the sources, so that a circle is seen when it is made.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Who names whom.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Rooms that still name one another: the keys of a policy stand in `config`, and a policy is built from them. The list
/// may only become shorter.
const CIRCLE: [&str; 2] = ["config", "gc"];

/// A source without its comments, and without its tests: they come last and may name what they like.
fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The first names of what follows a `::`: one, or those of a list in braces.
fn heads(rest: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(list) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let mut found = vec![name(list)];
    let mut depth = 0;
    for (at, sign) in list.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => found.push(name(&list[at + 1..])),
            _ => {}
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// The rooms that a source names by a path that begins with `root`.
fn named(code: &str, root: &str) -> BTreeSet<String> {
    let starts = code.match_indices(root).filter(|(at, _)| {
        !code[..*at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':')
    });
    starts.flat_map(|(at, _)| heads(&code[at + root.len()..])).collect()
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("sources can be listed") {
        let path = entry.expect("sources can be listed").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// Which room names which. A room is a file beside `lib.rs`, or a folder with all that is in it. What `lib.rs` exports
/// belongs to the room that it comes from.
fn rooms() -> Graph {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let within: Vec<_> = files.iter().map(|file| file.strip_prefix(&root).expect("below src")).collect();
    let room = |file: &Path| -> String {
        let first = file.iter().next().expect("a file has a name");
        Path::new(first).with_extension("").to_string_lossy().into_owned()
    };
    let names: BTreeSet<_> = within.iter().map(|file| room(file)).filter(|name| name != "lib").collect();
    let lib = code(&fs::read_to_string(root.join("lib.rs")).expect("a source can be read"));
    let exports: BTreeMap<_, _> = names
        .iter()
        .flat_map(|room| named(&lib, &format!("{room}::")).into_iter().map(|export| (export, room.clone())))
        .collect();
    let mut graph: Graph = names.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
    for file in within.iter().filter(|file| *file != &Path::new("lib.rs")) {
        let code = code(&fs::read_to_string(root.join(file)).expect("a source can be read"));
        // From a file of a room, so many `super` lead out of it.
        let is_top = file.file_name().is_some_and(|name| name == "mod.rs");
        let out = "super::".repeat(file.iter().count() - usize::from(is_top));
        let from = room(file);
        let to: BTreeSet<_> = named(&code, "crate::").union(&named(&code, &out)).cloned().collect();
        for to in to {
            let to = exports.get(&to).unwrap_or(&to);
            assert!(names.contains(to), "{}: {to} is no room", file.display());
            if *to != from {
                graph.get_mut(&from).expect("every room is there").insert(to.clone());
            }
        }
    }
    graph
}

/// Everything that `from` reaches.
fn reached<'a>(graph: &'a Graph, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = graph[from].iter().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(graph[next].iter().map(String::as_str));
        }
    }
    found
}

#[test]
fn a_die_reaches_no_device() {
    let graph = rooms();
    assert!(graph["device"].contains("die"), "nothing was read: {graph:?}");
    let reached = reached(&graph, "die");
    assert!(!reached.contains("device"), "a die reaches {reached:?}");
}

#[test]
fn rooms_that_name_one_another_are_on_the_list() {
    let graph = rooms();
    let circles: Vec<_> = graph.keys().filter(|room| reached(&graph, room).contains(room.as_str())).collect();
    assert_eq!(circles, CIRCLE, "{graph:#?}");
}

#[test]
fn paths_are_read_as_they_are_written() {
    let code = code(
        "use crate::{a::{b, c}, d};\n// crate::e::f\nx(crate::g::h());\n#[cfg(test)]\nmod tests { use crate::i; }",
    );
    assert_eq!(Vec::from_iter(named(&code, "crate::")), ["a", "d", "g"]);
    assert_eq!(Vec::from_iter(named("use super::super::j::K;\nuse super::l;", "super::super::")), ["j"]);
}
