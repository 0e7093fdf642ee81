//! Tables of counters and causes, from their declarations, within pages that are written by hand.
//!
//! Such a page has a pair of comments, `<!-- made: array.nvram -->` and `<!-- end -->`. What stands between them is made.

use std::fmt::Write;

use harmonia_metrics::{BlameSum, Part, ResourceSum, SECTIONS};
use harmonia_types::{Counter, Counters, Counts, IoCause};

const BEGIN: &str = "<!-- made: ";
const END: &str = "<!-- end -->\n";

/// The pages that have something of it.
pub fn pages() -> Vec<(String, String)> {
    let page = |path: &str| {
        let written = std::fs::read_to_string(super::root().join(path)).expect("a page");
        (path.to_owned(), filled(&written))
    };
    ["docs/files.md", "docs/glossary.md"].map(page).to_vec()
}

/// The page with all that is made in it made anew.
fn filled(page: &str) -> String {
    let mut pieces = page.split(BEGIN);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once(" -->\n").expect("a name");
        let (_, rest) = rest.split_once(END).unwrap_or_else(|| panic!("{name} has no end"));
        let _ = write!(text, "{BEGIN}{name} -->\n{}{END}{rest}", made(name));
    }
    text
}

fn made(name: &str) -> String {
    match name {
        "blame" => {
            let line = |part: &Part| format!("- *{}*: {}\n", part.counter.words, part.shown.meaning);
            Part::all().iter().map(line).collect()
        }
        "blame_ns" => named(BlameSum::TABLE),
        "blame_phases_ns" => named(ResourceSum::TABLE),
        "flash_bytes" => flash_bytes(),
        section => {
            let found = SECTIONS.iter().find(|(key, _)| *key == section);
            counters(found.unwrap_or_else(|| panic!("nobody knows how to make {section}")).1)
        }
    }
}

/// What a section counts.
fn counters(declared: &[Counter]) -> String {
    let row =
        |counter: &Counter| format!("| `{}` | {} | {} |\n", counter.name, meaning(counter), counter.unit);
    format!("| key | meaning | unit |\n|---|---|---|\n{}", declared.iter().map(row).collect::<String>())
}

/// Times, and what tables call them, with links to the glossary where it has that term.
fn named(declared: &[Counter]) -> String {
    let glossary = std::fs::read_to_string(super::root().join("docs/glossary.md")).expect("a page");
    let headings: Vec<_> = glossary.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let linked = |words: &str| match headings.iter().any(|heading| heading.eq_ignore_ascii_case(words)) {
        true => format!("[{words}](glossary.md#{})", words.to_lowercase().replace(' ', "-")),
        false => words.to_owned(),
    };
    let row = |counter: &Counter| {
        format!("| `{}` | {} | {} |\n", counter.name, linked(counter.words), meaning(counter))
    };
    format!("| key | in tables | meaning |\n|---|---|---|\n{}", declared.iter().map(row).collect::<String>())
}

fn flash_bytes() -> String {
    let mut table = String::from("| part | meaning | counts for |\n|---|---|---|\n");
    for part in &IoCause::TABLE {
        let counts = match part.counts {
            Counts::Written | Counts::Added => "array and SSD",
            Counts::OfDrive => "SSD",
            Counts::Apart => "neither",
        };
        let _ = writeln!(table, "| `{}` | {} | {counts} |", part.name, part.meaning);
    }
    table
}

/// A meaning as pages have it: it begins small and ends without a full stop.
fn meaning(counter: &Counter) -> String {
    let text = counter.meaning();
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}
