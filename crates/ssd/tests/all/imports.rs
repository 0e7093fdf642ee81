//! Which file of this crate names which, read from the sources: a circle is seen when it is made.
//!
//! A registry's lines do not count: `gc/victim/mod.rs` has the trait, which each policy names, and the list, which names
//! the entries of each policy, which are constants. That is how a policy is one file and one line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which file names which. `device` counts as one file: its files are chapters of one object, whose methods call one
/// another wherever they stand.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// A source without its comments, and without its tests: they come last and may name what they like.
pub fn code(source: &str) -> String {
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

pub fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("sources can be listed") {
        let path = entry.expect("sources can be listed").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// A module by the path of its file: `die/mod.rs` is `die`, and all of `device` is one.
pub fn module(file: &Path) -> String {
    let path = file.with_extension("");
    let mut parts: Vec<_> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts[0] == "device" {
        parts.truncate(1);
    }
    if parts.last().is_some_and(|last| last == "mod" || last == "lib") {
        parts.pop();
    }
    parts.join("/")
}

/// The names that follow `root` in `code`, each with those that follow it in turn: the module that they come to.
fn modules_named(
    code: &str,
    root: &str,
    at: &str,
    all: &BTreeSet<String>,
    exports: &Exports,
) -> BTreeSet<String> {
    let inside = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}/{name}") };
    let mut found = BTreeSet::new();
    for name in named(code, root).into_iter().filter(|name| name != "super") {
        let module = inside(&name);
        if all.contains(&module) {
            let deeper = modules_named(code, &format!("{root}{name}::"), &module, all, exports);
            found.extend(if deeper.is_empty() { BTreeSet::from([module]) } else { deeper });
        } else if let Some(from) = exports.get(&module) {
            found.insert(from.clone());
        } else {
            // Something of the module itself.
            found.insert(at.to_owned());
        }
    }
    found
}

/// What a `mod.rs` exports from the modules below it, by the path at which others find it.
type Exports = BTreeMap<String, String>;

/// Which module names which. What a folder exports belongs to the file that it comes from.
pub fn modules() -> Graph {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let read = |file: &PathBuf| -> (PathBuf, String) {
        let text = fs::read_to_string(file).expect("a source can be read");
        (file.strip_prefix(&root).expect("below src").to_path_buf(), code(&text))
    };
    let files: Vec<_> = files.iter().map(read).collect();
    let all: BTreeSet<_> = files.iter().map(|(file, _)| module(file)).collect();
    let mut exports = Exports::new();
    for (file, code) in files.iter().filter(|(file, _)| file.ends_with("mod.rs") || file.ends_with("lib.rs"))
    {
        let at = module(file);
        let inside = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}/{name}") };
        for below in all.iter().filter(|below| below.rsplit_once('/').map_or("", |(parent, _)| parent) == at)
        {
            let name = below.rsplit('/').next().unwrap_or_default();
            for export in named(code, &format!("pub use {name}::")) {
                exports.insert(inside(&export), below.clone());
            }
        }
    }
    // What `lib.rs` exports may be exported by the folder from one of its files.
    let direct = exports.clone();
    for (export, from) in &mut exports {
        let name = export.rsplit('/').next().unwrap_or_default();
        if let Some(file) = direct.get(&format!("{from}/{name}")) {
            from.clone_from(file);
        }
    }
    let mut graph: Graph = all.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
    for (file, code) in files.iter().filter(|(file, _)| !file.ends_with("lib.rs")) {
        let from = module(file);
        let is_folder = file.ends_with("mod.rs");
        let to = modules_named(code, "crate::", "", &all, &exports);
        // From a file each `super` leads to the folder around it; a folder's own file is that folder.
        let own = file.with_extension("");
        let own = if is_folder { own.parent().unwrap_or(Path::new("")) } else { &own };
        let around = own.ancestors().skip(1).zip(1..).map(|(folder, steps)| {
            let at = if folder.starts_with("device") { "device".into() } else { folder.to_string_lossy() };
            modules_named(code, &"super::".repeat(steps), &at, &all, &exports)
        });
        let beside: BTreeSet<String> = around.flatten().collect();
        // A folder names the files below it by their bare names.
        let below = all.iter().filter(|name| is_folder && name.starts_with(&format!("{from}/")));
        let is_named = |name: &&String| {
            let start = format!("{}::", name.rsplit('/').next().unwrap_or_default());
            named(code, &start).iter().any(|what| what.contains(char::is_lowercase))
        };
        let bare = below.filter(is_named);
        let to = to.iter().chain(&beside).chain(bare).filter(|to| **to != from && !to.is_empty());
        graph.get_mut(&from).expect("every module is there").extend(to.cloned());
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
    let graph = modules();
    assert!(graph["device"].contains("die"), "nothing was read: {graph:#?}");
    for die in graph.keys().filter(|module| module.starts_with("die")) {
        let reached = reached(&graph, die);
        assert!(!reached.contains("device"), "{die} reaches {reached:?}");
    }
}

#[test]
fn no_files_name_one_another_in_a_circle() {
    let graph = modules();
    let circles: Vec<_> = graph.keys().filter(|name| reached(&graph, name).contains(name.as_str())).collect();
    assert!(circles.is_empty(), "{circles:?} in {graph:#?}");
}

#[test]
fn paths_are_read_as_they_are_written() {
    let code = code(
        "use crate::{a::{b, c}, d};\n// crate::e::f\nx(crate::g::h());\n#[cfg(test)]\nmod tests { use crate::i; }",
    );
    assert_eq!(Vec::from_iter(named(&code, "crate::")), ["a", "d", "g"]);
    assert_eq!(Vec::from_iter(named("use super::super::j::K;\nuse super::l;", "super::super::")), ["j"]);
}
