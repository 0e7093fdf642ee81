//! The sections of a page, from Markdown with measures in it.
//!
//! A section has a heading with its name and its question, `## victims: How much should a device collect at a time?`. A heading
//! without a question stands for a section that code makes. In a section, a line of text is text, in paragraphs, and a line
//! that begins with one of these words is not:
//!
//! * `claims:` names the claims that the section answers.
//! * `if:` is a condition of the paragraph below it ([`holds`]). That paragraph is a conclusion, and is left out if one of its
//!   conditions fails.
//! * `chart: title | x title | y title | style` is a figure of `measure:`, for every `$x` and `$series` of the lists `x:` and
//!   `series:`, which hold until others are named.
//! * `forest: title | claims` is a figure of claims, of all of the section if none is named.
//! * `|` is a line of a table. Below `for: a in LIST; b in LIST` it stands once for every item: `$a` is the item, `@a` what it is
//!   called. `table:` is a table that code makes.
//! * `let: name = text` has the text stand for `$name` from there to the end of the page.
//!
//! A line that begins with two spaces goes on with the line above. What stands in braces is written from the results
//! ([`shown`]).

use harmonia_figure::Scale;

use super::write::{MS, Reader, Shape, cell, count, share};
use super::{Finding, bound, computed, siblings};
use crate::claims::bandwidth;
use crate::claims::inside_the_die::{AFFECTED_READS, AFFECTED_WRITES, PLACES_NEEDED, VOLUMES};
use crate::expression::list;
use crate::verdict::Verdict;

/// Names, with their sign, and what stands for them; the last first.
type Names = Vec<(String, String)>;

/// The findings of a page.
pub(super) fn read(page: &'static str, reader: &Reader<'_>) -> Vec<Finding> {
    let (mut findings, mut names) = (Vec::new(), Names::new());
    let (opening, sections) = page.split_once("\n## ").unwrap_or(("", page));
    for line in lines(opening) {
        define(&line, &mut names);
    }
    for text in sections.split("\n## ") {
        let (heading, body) = text.split_once('\n').unwrap_or((text, ""));
        findings.push(match heading.split_once(": ") {
            Some((id, question)) => section(id, question, body, reader, &mut names),
            None => computed::section(heading, reader),
        });
    }
    findings
}

/// Lines, each with those that go on with it.
fn lines(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("  "), all.last_mut()) {
            (Some(rest), Some(last)) => *last = format!("{last} {}", rest.trim()),
            _ => all.push(line.to_owned()),
        }
    }
    all
}

/// Takes a line that defines a name.
fn define(line: &str, names: &mut Names) -> bool {
    let Some(definition) = line.strip_prefix("let: ") else { return false };
    let (name, text) = definition.split_once(" = ").expect("findings: let: a name = a text");
    names.insert(0, (format!("${name}"), text.to_owned()));
    true
}

fn section(
    id: &'static str,
    question: &str,
    body: &'static str,
    reader: &Reader<'_>,
    names: &mut Names,
) -> Finding {
    let claims = body.split_once("claims: ").and_then(|(_, rest)| rest.split("\n\n").next());
    let claims: Vec<&str> = claims.map(|ids| ids.split_whitespace().collect()).unwrap_or_default();
    let mut finding = Finding { id, question: question.to_owned(), claims, ..Finding::default() };
    let (mut x, mut series) = (Vec::new(), Vec::new());
    let (mut conditions, mut paragraph) = (Vec::new(), Vec::new());
    let (mut loops, mut chart) = (vec![Names::new()], String::new());
    let mut is_table_over = false;
    for line in lines(body).into_iter().chain([String::new()]) {
        if define(&line, names) {
            continue;
        }
        let line = fill(&line, names);
        match line.split_once(": ").unwrap_or((&line, "")) {
            ("", _) if !paragraph.is_empty() => {
                let text = write(&paragraph.join(" "), reader);
                paragraph.clear();
                if conditions.is_empty() {
                    let gap = if finding.text.is_empty() { "" } else { "\n\n" };
                    finding.text = format!("{}{gap}{text}", finding.text);
                } else {
                    let holds = conditions.iter().all(|condition: &String| holds(condition, reader));
                    conditions.clear();
                    finding.conclusions.push((holds, text));
                }
            }
            ("", _) => is_table_over = !finding.table.is_empty(),
            ("claims", _) => {}
            ("if", condition) => conditions.push(condition.to_owned()),
            ("x", items) => x = list(items),
            ("series", items) => series = list(items),
            ("chart", about) => about.clone_into(&mut chart),
            ("measure", text) => finding.figures.push(draw(&chart, text, &x, &series, reader)),
            ("forest", about) => {
                let (title, ids) = about.split_once(" | ").unwrap_or((about, ""));
                let named: Vec<&str> = ids.split_whitespace().collect();
                let ids = if named.is_empty() { &finding.claims } else { &named };
                finding.figures.push(reader.forest(title, ids));
            }
            ("for", text) => loops = product(text),
            ("table", "bound") => finding.table.push_str(&bound::table(reader)),
            ("table", "siblings") => finding.table.push_str(&siblings::table(reader)),
            _ if line.starts_with('|') => {
                if std::mem::take(&mut is_table_over) {
                    finding.table.push('\n');
                }
                for items in std::mem::replace(&mut loops, vec![Names::new()]) {
                    finding.table.push_str(&write(&fill(&line, &items), reader));
                    finding.table.push('\n');
                }
            }
            _ => paragraph.push(line),
        }
    }
    finding
}

/// Puts what stands for a name in its place. What stands there may have names in it.
fn fill(text: &str, names: &Names) -> String {
    let known = |text: &str| names.iter().find(|(name, _)| is_called(text, name));
    let mut text = text.to_owned();
    let mut at = 0;
    while let Some(found) = text[at..].find(['$', '@']) {
        at += found;
        match known(&text[at..]) {
            Some((name, value)) => text.replace_range(at..at + name.len(), value),
            None => at += 1,
        }
    }
    text
}

/// Whether a text begins with a name, and not with a longer one.
fn is_called(text: &str, name: &str) -> bool {
    text.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphabetic()))
}

/// The items of loops, `a in LIST; b in LIST`, the last loop fastest.
fn product(text: &str) -> Vec<Names> {
    text.split("; ").fold(vec![Names::new()], |all, one| {
        let (name, items) = one.split_once(" in ").expect("findings: for: a name in a list");
        let items = list(items);
        let with = |names: Names| {
            let called = |(label, item): &(String, String)| {
                [&names[..], &[(format!("${name}"), item.clone()), (format!("@{name}"), label.clone())]]
                    .concat()
            };
            items.iter().map(called).collect::<Vec<_>>()
        };
        all.into_iter().flat_map(with).collect()
    })
}

/// Whether a condition holds:
///
/// * `MEASURE > 1` and `MEASURE < 1`: with its whole interval; `not MEASURE < 1` is the opposite;
/// * `MEASURE = 1`: its mean is that; `MEASURE ~ 1`: its interval has that in it;
/// * `claim ID VERDICT`: the claim's verdict; `claim ID beyond`: it lies above all that is accepted;
/// * `no-floor` and `waits-only-where-full`: code says so.
///
/// With `for a in LIST` behind it a condition is asked for every item.
fn holds(condition: &str, reader: &Reader<'_>) -> bool {
    if let Some((condition, loops)) = condition.split_once(" for ") {
        return product(loops).iter().all(|items| holds(&fill(condition, items), reader));
    }
    let words: Vec<&str> = condition.split(' ').collect();
    match words[..] {
        ["no-floor"] => computed::floors(reader).1.is_empty(),
        ["waits-only-where-full"] => computed::waits_only_where_full(reader),
        ["claim", id, "beyond"] => reader.beyond(id),
        ["claim", id, verdict] => reader.verdict(id) == verdict_called(verdict),
        ["not", ..] => !holds(&words[1..].join(" "), reader),
        [ref asked @ .., sign, bound] => {
            let asked = reader.measure(&asked.join(" "));
            let bound = number(bound);
            match (sign, reader.interval(&asked)) {
                (">", value) => value.is_some_and(|value| value.low() > bound),
                ("<", value) => value.is_some_and(|value| value.high() < bound),
                ("=", value) => value.is_some_and(|value| value.mean == bound),
                ("~", value) => value.is_some_and(|value| !value.excludes(bound)),
                _ => panic!("findings: {condition}: no sign {sign}"),
            }
        }
        _ => panic!("findings: {condition}: no condition"),
    }
}

fn verdict_called(name: &str) -> Verdict {
    match name {
        "within" => Verdict::Within,
        "not-reproduced" => Verdict::NotReproduced,
        _ => panic!("findings: no verdict {name}"),
    }
}

/// A bound: a number, or one of the numbers of a paper.
fn number(text: &str) -> f64 {
    match text {
        "places-needed" => PLACES_NEEDED,
        "half-places-needed" => 0.5 * PLACES_NEEDED,
        _ => text.parse().unwrap_or_else(|_| panic!("findings: no number {text}")),
    }
}

/// A text with what stands in braces written from the results.
fn write(text: &str, reader: &Reader<'_>) -> String {
    let mut parts = text.split('{');
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (asked, rest) = part.split_once('}').unwrap_or_else(|| panic!("findings: no end of {part}"));
        written.push_str(&shown(asked, reader));
        written.push_str(rest);
    }
    written
}

/// What stands for braces: a measure with its interval, or
///
/// * `cell`, `count` and `share MEASURE`: as in a table; as a whole number; in percent without its interval;
/// * `published FIGURE TABLE VARIANT`: what a table of section 3 of IEEE TC 2012 has;
/// * `claim ID`, `under READING ID` and `claimed ID`: what was measured for a claim, under a reading too; what the paper says;
/// * what code writes.
fn shown(asked: &str, reader: &Reader<'_>) -> String {
    let (kind, rest) = asked.split_once(' ').unwrap_or((asked, ""));
    match kind {
        "cell" => cell(reader, &reader.measure(rest)),
        "count" => count(reader, &reader.measure(rest)),
        "share" => share(reader, &reader.measure(rest)),
        "claim" => reader.claim(rest),
        "claimed" => reader.claimed(rest).to_owned(),
        "under" => {
            let (reading, id) = rest.split_once(' ').unwrap_or((rest, ""));
            reader.under(reading, id)
        }
        "published" => bandwidth::shown(rest),
        "floors" => computed::floors_in_words(reader),
        "volume" => computed::volume(rest),
        "affected-reads" => AFFECTED_READS.to_string(),
        "affected-writes" => AFFECTED_WRITES.to_string(),
        "affected" => format!("{:.1}", AFFECTED_READS + AFFECTED_WRITES),
        "affected-by-volume" => {
            let all: f64 = VOLUMES.iter().map(|volume| volume.gc_affected).sum();
            format!("{:.1}", all / VOLUMES.len() as f64)
        }
        "places-needed" => format!("{PLACES_NEEDED:.1}"),
        _ => reader.say(&reader.measure(asked)),
    }
}

/// A figure with its description. Styles are `kinds` side by side instead of lines, `tight` and `log` axes, `rule N`, and `by N`,
/// which values are multiplied by; milliseconds, thousands and percent of another scheme are known by the title of their axis.
fn draw(
    about: &str,
    text: &str,
    x: &[(String, String)],
    series: &[(String, String)],
    reader: &Reader<'_>,
) -> (String, String) {
    let mut parts = about.split(" | ");
    let mut part = || parts.next().unwrap_or_default();
    let (title, x_title, y_title, style) = (part(), part(), part(), part());
    let words: Vec<&str> = style.split_whitespace().collect();
    let after = |word: &str| {
        words
            .iter()
            .position(|known| *known == word)
            .and_then(|at| words.get(at + 1))
            .map(|text| number(text))
    };
    let (scale, reference) = match y_title {
        "ms" => (MS, None),
        "thousands" => (1e-3, None),
        "% of local" => (100.0, Some(100.0)),
        _ => (1.0, None),
    };
    let axis = match () {
        () if words.contains(&"log") => Scale::Log,
        () if words.contains(&"tight") => Scale::Tight,
        () => Scale::FromZero,
    };
    let shape = Shape {
        title,
        x_title,
        y_title,
        lines: !words.contains(&"kinds"),
        axis,
        reference: after("rule").or(reference),
        scale: after("by").unwrap_or(scale),
    };
    let of = |series: &str, x: &str| {
        reader.measure(&fill(
            text,
            &vec![("$series".to_owned(), series.to_owned()), ("$x".to_owned(), x.to_owned())],
        ))
    };
    reader.chart(&shape, x, series, of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assessment::assess;
    use crate::claims::claims;
    use crate::results::Results;

    const PAGE: &str = "\
let: named = mean victims $load/local

## first: Is it so?

claims: even-erases
  even-erases-die

if: mean victims 1/local > 5 for load in 1 2
if: claim even-erases within
So it is.

The mean is {mean victims
1/local}.

And more.

| load | mean |
|---|--:|
for: load in one = 1 | 2
| @load | {cell $named} |

| alone |

## second: And this?

Text.
";

    fn page(results: &Results) -> Vec<Finding> {
        read(PAGE, &Reader::new(results, &assess(&claims(), results)))
    }

    #[test]
    fn a_page_is_text_with_measures() {
        let findings = page(&Results::default());
        assert_eq!(findings[0].text, "The mean is (not measured).\n\nAnd more.");
        assert_eq!(findings[0].claims, ["even-erases", "even-erases-die"]);
        assert_eq!(findings[0].conclusions, [(false, "So it is.".to_owned())]);
        assert_eq!(findings[0].table, "| load | mean |\n|---|--:|\n| one | - |\n| 2 | - |\n\n| alone |\n");
        assert_eq!((findings[1].id, findings[1].text.as_str()), ("second", "Text."));
    }
}
