//! The sources of a crate as its tests read them: which file names which, and which calls which. Each crate whose parts are checked
//! has this file as a module of its tests.
//!
//! A file *names* another one by its path. A registry's lines do not count: `gc/victim/mod.rs` has the trait, which each policy
//! names, and the list, which names the entries of each policy, which are constants. That is how a policy is one file and one line.
//!
//! A file *calls* another one if it names it, or if a method in it calls, by `self.name(`, `Self::name(` or `self.field.name(`, a
//! method that stands in the other: an object whose methods stand in many files is one file, whatever the imports say.
//!
//! Not seen: calls through variables and arguments, and through fields of fields.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which file names, or calls, which.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// What a `mod.rs` exports from the modules below it, by the path at which others find it.
type Exports = BTreeMap<String, String>;

/// A source without its comments, and without the tests in it: they come last and may name what they like.
pub fn code(source: &str) -> String {
    let mut tests = source.match_indices("#[cfg(test)]\n");
    // A file of tests is only named, anywhere.
    let end = tests.find(|(at, start)| {
        let line = source[at + start.len()..].lines().next().unwrap_or_default();
        let item = ["pub(crate) ", "pub(super) ", "pub "].iter().find_map(|of| line.strip_prefix(of));
        let name = item.unwrap_or(line).strip_prefix("mod ");
        name.is_some_and(|name| name.trim_start_matches(is_of_a_name).starts_with(" {"))
    });
    let source = &source[..end.map_or(source.len(), |(at, _)| at)];
    source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The files of the crate that have no tests alone, by path from `src`, with what they say.
pub fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("sources can be listed") {
            let path = entry.expect("sources can be listed").path();
            if path.file_stem().is_some_and(|name| name == "tests") {
                continue;
            } else if path.is_dir() {
                walk(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                into.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    let below = |file: &PathBuf| file.strip_prefix(&root).expect("below src").to_path_buf();
    let read = |file: &PathBuf| fs::read_to_string(file).expect("a source can be read");
    files.iter().map(|file| (below(file), read(file))).collect()
}

/// The first names of what follows a `::`: one, or those of a list in braces.
fn heads(rest: &str) -> Vec<String> {
    let name = |text: &str| name_at(text.trim_start()).to_owned();
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
    let starts = code
        .match_indices(root)
        .filter(|(at, _)| !code[..*at].ends_with(|before| is_of_a_name(before) || before == ':'));
    starts.flat_map(|(at, _)| heads(&code[at + root.len()..])).collect()
}

/// A module by the path of its file: `die/mod.rs` is `die`, and all of the folder `one` is one.
fn module(file: &Path, one: &str) -> String {
    let path = file.with_extension("");
    let mut parts: Vec<_> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts[0] == one {
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

/// Which module names which. What a folder exports belongs to the file that it comes from. The folder `one` counts as one file: its
/// files are chapters of one object, whose methods call one another wherever they stand.
pub fn modules(one: &str) -> Graph {
    let files: Vec<_> = sources().into_iter().map(|(file, text)| (file, code(&text))).collect();
    let all: BTreeSet<_> = files.iter().map(|(file, _)| module(file, one)).collect();
    let mut exports = Exports::new();
    for (file, code) in files.iter().filter(|(file, _)| file.ends_with("mod.rs") || file.ends_with("lib.rs"))
    {
        let at = module(file, one);
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
        let from = module(file, one);
        let is_folder = file.ends_with("mod.rs");
        let to = modules_named(code, "crate::", "", &all, &exports);
        // From a file each `super` leads to the folder around it; a folder's own file is that folder.
        let own = file.with_extension("");
        let own = if is_folder { own.parent().unwrap_or(Path::new("")) } else { &own };
        let around = own.ancestors().skip(1).zip(1..).map(|(folder, steps)| {
            let at = if folder.starts_with(one) { one.into() } else { folder.to_string_lossy() };
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

/// Everything that a file reaches.
pub fn reached<'a>(graph: &'a Graph, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = graph[from].iter().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(graph[next].iter().map(String::as_str));
        }
    }
    found
}

/// Circles of files that reach one another, the largest first.
pub fn circles(graph: &Graph) -> Vec<BTreeSet<&str>> {
    let all: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|file| (file.as_str(), reached(graph, file))).collect();
    let circle = |file: &str| -> BTreeSet<&str> {
        all[file].iter().copied().filter(|other| all[other].contains(file)).collect()
    };
    let circles: BTreeSet<BTreeSet<&str>> =
        graph.keys().map(|file| circle(file)).filter(|circle| !circle.is_empty()).collect();
    let mut circles = Vec::from_iter(circles);
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

/// What stands in the sources of the crate.
#[derive(Default)]
pub struct Crate {
    /// By file, without comments and tests.
    code: BTreeMap<String, String>,
    /// By type and method: the file in which it stands.
    methods: BTreeMap<(String, String), String>,
    /// By type and field: the type of the field.
    fields: BTreeMap<(String, String), String>,
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name that stands at the beginning of a text.
fn name_at(text: &str) -> &str {
    let end = text.find(|c| !is_of_a_name(c)).unwrap_or(text.len());
    &text[..end]
}

/// The type that a header of an `impl` is for, without its parameters. What is left when `impl<..>` is taken away may have a
/// trait before `for`.
fn implemented(header: &str) -> Option<&str> {
    let mut rest = header.strip_prefix("impl")?;
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.find(|c| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0
        })?;
        rest = &rest[end + 1..];
    }
    let rest = rest.rsplit_once(" for ").map_or(rest, |(_, of)| of);
    Some(name_at(rest.trim_start()))
}

/// The innermost of the types `A<B<C>>` that has a name of ours: `Option<Box<Cache>>` is a `Cache`.
fn innermost(of: &str) -> &str {
    let inner = of.trim_end_matches(['>', ',', ' ']);
    let inner = inner.rsplit(['<', '&', ' ', ':']).next().unwrap_or(inner);
    name_at(inner)
}

/// The type, and the method or field, of each line of a file that belongs to one.
fn lines(code: &str) -> impl Iterator<Item = (Option<&str>, bool, &str)> {
    let (mut of, mut is_struct) = (None, false);
    code.lines().map(move |line| {
        if line.starts_with("impl") {
            (of, is_struct) = (implemented(line), false);
        } else if let Some(rest) =
            line.find("struct ").filter(|_| !line.starts_with(' ')).map(|at| &line[at + 7..])
        {
            (of, is_struct) = (Some(name_at(rest)), true);
        } else if line.starts_with('}') {
            of = None;
        }
        (of, is_struct, line)
    })
}

impl Crate {
    /// Reads the crate whose tests ask.
    pub fn read() -> Crate {
        let mut all = Crate::default();
        for (file, text) in sources() {
            all.add(file.with_extension("").to_string_lossy().into_owned(), code(&text));
        }
        all
    }

    fn add(&mut self, file: String, text: String) {
        for (of, is_struct, line) in lines(&text) {
            let Some(of) = of else { continue };
            let Some(inside) = line.strip_prefix("    ").filter(|inside| !inside.starts_with(' ')) else {
                continue;
            };
            let declared = inside.strip_prefix("pub").map_or(inside, |rest| match rest.strip_prefix('(') {
                Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
                None => rest,
            });
            let declared = declared.trim_start();
            if is_struct {
                if let Some((field, kind)) = declared.split_once(": ") {
                    self.fields.insert((of.to_owned(), field.to_owned()), innermost(kind).to_owned());
                }
            } else if let Some(rest) = declared.strip_prefix("const ").unwrap_or(declared).strip_prefix("fn ")
            {
                self.methods.insert((of.to_owned(), name_at(rest).to_owned()), file.clone());
            }
        }
        self.code.insert(file, text);
    }

    /// The files whose methods a file calls through `self`.
    fn called(&self, file: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (of, _, line) in lines(&self.code[file]) {
            let Some(of) = of else { continue };
            for (at, start) in line.match_indices("self.").chain(line.match_indices("Self::")) {
                let name = name_at(&line[at + start.len()..]);
                let behind = &line[at + start.len() + name.len()..];
                let field = || self.fields.get(&(of.to_owned(), name.to_owned()));
                let method = match behind.strip_prefix('.') {
                    Some(rest) => field().map(|kind| (kind.clone(), name_at(rest).to_owned())),
                    // A field may have the name of a method.
                    None if start == "self." && !behind.starts_with(['(', ':']) => None,
                    None => Some((of.to_owned(), name.to_owned())),
                };
                let stands_in = method.and_then(|method| self.methods.get(&method));
                found.extend(stands_in.filter(|other| *other != file).cloned());
            }
        }
        found
    }

    /// Which file calls which through `self`. A folder of the imports is its `mod.rs`.
    pub fn calls(&self) -> Graph {
        self.code.keys().map(|file| (file.clone(), self.called(file))).collect()
    }

    /// Which module names or calls which; the folder `one` counts as one file.
    pub fn calls_and_imports(&self, one: &str) -> Graph {
        let of = |file: &str| module(&Path::new(file).with_extension("rs"), one);
        let mut graph = modules(one);
        for (from, to) in self.calls() {
            let called = to.iter().map(|file| of(file)).filter(|to| *to != of(&from));
            graph.entry(of(&from)).or_default().extend(called);
        }
        graph
    }

    /// Prints the largest types: their fields and methods.
    pub fn print_largest(&self) {
        let mut sizes: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
        self.fields.keys().for_each(|(of, _)| sizes.entry(of).or_default()[0] += 1);
        self.methods.keys().for_each(|(of, _)| sizes.entry(of).or_default()[1] += 1);
        let mut sizes = Vec::from_iter(sizes);
        sizes.sort_by_key(|&(_, [fields, methods])| std::cmp::Reverse(fields + methods));
        for (of, [fields, methods]) in sizes.iter().take(10) {
            eprintln!("{of}: {fields} fields, {methods} methods");
        }
    }
}

#[test]
fn paths_are_read_as_they_are_written() {
    let code = code(
        "#[cfg(test)]\nmod tests;\nuse crate::{a::{b, c}, d};\n// crate::e::f\nx(crate::g::h());\n#[cfg(test)]\nmod tests { use crate::i; }",
    );
    assert_eq!(Vec::from_iter(named(&code, "crate::")), ["a", "d", "g"]);
    assert_eq!(Vec::from_iter(named("use super::super::j::K;\nuse super::l;", "super::super::")), ["j"]);
}

#[test]
fn headers_and_types_are_read_as_they_are_written() {
    assert_eq!(implemented("impl<P: Probe> Device<P> {"), Some("Device"));
    assert_eq!(implemented("impl<'de> Deserialize<'de> for OpenBlocks {"), Some("OpenBlocks"));
    assert_eq!(implemented("impl UnitMut<'_> {"), Some("UnitMut"));
    assert_eq!(["Option<Box<Cache>>,", "&'a Ftl,", "Ftl,"].map(innermost), ["Cache", "Ftl", "Ftl"]);
    let mut own = Crate::default();
    own.add(
        "a".into(),
        "struct A {\n    b: Option<B>,\n}\nimpl A {\n    fn x(&self) {\n        self.b.y();\n    }\n}".into(),
    );
    own.add(
        "c".into(),
        "impl B {\n    fn b(&self) {}\n}\nimpl A {\n    fn b(&self) {\n        self.x();\n    }\n}".into(),
    );
    own.add("b".into(), "struct B {}\nimpl B {\n    pub(super) fn y(&self) {}\n}\nimpl A {\n    fn z(&self) {\n        self.x();\n    }\n}".into());
    assert_eq!(circles(&own.calls()), [BTreeSet::from(["a", "b"])]);
}
