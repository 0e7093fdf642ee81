//! Which file of this crate calls which, through `self.` as well: an object whose methods stand in many files is one file, whatever the
//! imports say.
//!
//! A file calls another one if it names it (`imports`, here with the files of `device` one by one), or if a method in it calls, by
//! `self.name(`, `Self::name(` or `self.field.name(`, a method that stands in the other. Files that reach one another so are a
//! circle.
//!
//! Not seen: calls through variables and arguments, and through fields of fields.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::imports::{code, module, modules, sources};

/// The circles there are, the largest first, by their files. They may only become smaller: who adds a file to one has not made a part of
/// its own.
const CIRCLES: &[&[&str]] = &[
    &[
        "device/account",
        "device/advance",
        "device/background",
        "device/cache",
        "device/collect",
        "device/concurrency",
        "device/dispatch",
        "device/estimate",
        "device/faults",
        "device/following",
        "device/global",
        "device/half",
        "device/idle",
        "device/joint",
        "device/lanes",
        "device/levels",
        "device/life",
        "device/mod",
        "device/pairing",
        "device/placement",
        "device/plain",
        "device/queue",
        "device/refuse",
        "device/run",
        "device/settled",
        "device/sharing",
        "device/status",
        "device/steps",
        "device/streams",
        "device/superblocks",
        "device/suspend",
        "device/trigger",
        "device/turns",
        "device/units",
        "device/windows",
    ],
    &["ftl/mapping", "ftl/placing", "ftl/prefetch", "ftl/unit", "ftl/within"],
];

/// What stands in the sources of the crate.
#[derive(Default)]
struct Crate {
    /// By file, without comments and tests.
    code: BTreeMap<String, String>,
    /// By type and method: the file in which it stands.
    methods: BTreeMap<(String, String), String>,
    /// By type and field: the type of the field.
    fields: BTreeMap<(String, String), String>,
}

/// The name that stands at the beginning of a text.
fn name_at(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
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
    fn read() -> Crate {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files: Vec<PathBuf> = Vec::new();
        sources(&root, &mut files);
        let mut all = Crate::default();
        for file in files {
            let text = code(&fs::read_to_string(&file).expect("a source can be read"));
            let name = file.strip_prefix(&root).expect("below src").with_extension("");
            all.add(name.to_string_lossy().into_owned(), text);
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
    fn called<'a>(&'a self, file: &str) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        for (of, _, line) in lines(&self.code[file]) {
            let Some(of) = of else { continue };
            for (at, start) in line.match_indices("self.").chain(line.match_indices("Self::")) {
                let name = name_at(&line[at + start.len()..]);
                let behind = &line[at + start.len() + name.len()..];
                let field = || self.fields.get(&(of.to_owned(), name.to_owned()));
                let method = match behind.strip_prefix('.') {
                    Some(rest) => field().map(|kind| (kind.clone(), name_at(rest).to_owned())),
                    None => Some((of.to_owned(), name.to_owned())),
                };
                let stands_in = method.and_then(|method| self.methods.get(&method));
                found.extend(stands_in.map(String::as_str).filter(|other| *other != file));
            }
        }
        found
    }

    /// Which file calls which. A folder of the imports is its `mod.rs`.
    fn graph(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        self.code.keys().map(|file| (file.as_str(), self.called(file))).collect()
    }

    /// Circles of files that reach one another, the largest first.
    fn circles(&self) -> Vec<BTreeSet<&str>> {
        let graph = self.graph();
        let all: BTreeMap<&str, BTreeSet<&str>> =
            graph.keys().map(|&file| (file, reached(&graph, file))).collect();
        let circle = |file: &str| -> BTreeSet<&str> {
            all[file].iter().copied().filter(|other| all[other].contains(file)).collect()
        };
        let circles: BTreeSet<BTreeSet<&str>> =
            graph.keys().map(|file| circle(file)).filter(|circle| !circle.is_empty()).collect();
        let mut circles = Vec::from_iter(circles);
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }
}

/// Everything that a file reaches.
fn reached<'a>(graph: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        open.extend(graph[next].iter().filter(|&&to| found.insert(to)));
    }
    found
}

#[test]
fn circles_of_calls_only_become_smaller() {
    let all = Crate::read();
    let mut sizes: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    all.fields.keys().for_each(|(of, _)| sizes.entry(of).or_default()[0] += 1);
    all.methods.keys().for_each(|(of, _)| sizes.entry(of).or_default()[1] += 1);
    let mut sizes = Vec::from_iter(sizes);
    sizes.sort_by_key(|&(_, [fields, methods])| std::cmp::Reverse(fields + methods));
    for (of, [fields, methods]) in sizes.iter().take(10) {
        eprintln!("{of}: {fields} fields, {methods} methods");
    }
    let found: Vec<Vec<&str>> = all.circles().into_iter().map(Vec::from_iter).collect();
    let pinned: Vec<Vec<&str>> = CIRCLES.iter().map(|circle| circle.to_vec()).collect();
    assert_eq!(
        found, pinned,
        "a file has joined a circle of calls, or has left one: then strike it off the list"
    );
}

/// Between the parts of the crate there is no circle of imports and calls together.
#[test]
fn no_part_calls_one_that_calls_or_names_it() {
    let all = Crate::read();
    let mut graph = modules();
    for (from, to) in all.graph() {
        let of = |file: &str| module(&Path::new(file).with_extension("rs"));
        let called = to.into_iter().map(of).filter(|to| *to != of(from));
        graph.entry(of(from)).or_default().extend(called);
    }
    let graph: BTreeMap<&str, BTreeSet<&str>> =
        graph.iter().map(|(from, to)| (from.as_str(), to.iter().map(String::as_str).collect())).collect();
    for &file in graph.keys() {
        let reached = reached(&graph, file);
        let pinned = CIRCLES.iter().any(|circle| circle.contains(&file));
        assert!(pinned || !reached.contains(file), "{file} is in a circle: {:?}", graph[file]);
    }
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
    own.add("b".into(), "struct B {}\nimpl B {\n    pub(super) fn y(&self) {}\n}\nimpl A {\n    fn z(&self) {\n        self.x();\n    }\n}".into());
    assert_eq!(own.circles(), [BTreeSet::from(["a", "b"])]);
}
