//! Which reading of a paper explains which of its figures, and what each contradicts.
//!
//! All of it is computed: a reading *explains* a claim that is within under it and not under the frozen configuration, and
//! *contradicts* one of which the opposite holds. Only the sentences of `claims::reasons` are written by hand; a test asserts
//! that every claim that is missed has one.

use super::Finding;
use super::write::{Reader, head, line};
use crate::assessment::{Assessment, assess_reading, plain};
use crate::claims::{Paper, reasons};
use crate::reading::Reading;
use crate::verdict::Verdict;

/// One reading with the verdicts of all claims of its paper; the first of a list is the frozen configuration.
struct Column {
    reading: Option<Reading>,
    claims: Vec<Assessment>,
}

impl Column {
    fn name(&self) -> &str {
        self.reading.as_ref().map_or(FROZEN, |reading| reading.id.as_str())
    }

    /// How many claims are within, and how many there are; second readings are not counted.
    fn within(&self) -> (usize, usize) {
        let claims = || self.claims.iter().filter(|one| one.is_claim());
        (claims().filter(|one| one.verdict == Verdict::Within).count(), claims().count())
    }
}

const FROZEN: &str = "frozen";

/// The verdicts of a paper, the frozen configuration's first.
fn columns(reader: &Reader<'_>, paper: Paper) -> Vec<Column> {
    let names: Vec<&str> = paper.claims().iter().map(|claim| claim.id).collect();
    let frozen = reader.assessments.iter().filter(|one| names.contains(&one.id)).cloned().collect();
    let mut all = vec![Column { reading: None, claims: frozen }];
    for reading in reader.readings.iter().filter(|one| one.paper == paper) {
        let claims = assess_reading(reading, reader.results);
        all.push(Column { reading: Some(reading.clone()), claims });
    }
    all
}

/// The section of a paper.
pub(super) fn finding(reader: &Reader<'_>, paper: Paper) -> Finding {
    let (id, name, configuration) = match paper {
        Paper::GlobalCollection => ("readings-global", "IEEE TC 2012 and MSST 2011", "A/B"),
        Paper::InsideTheDie => ("readings-die", "HPDC 2018", "C"),
        Paper::Channels => ("readings-channels", "Electronics 2025", "E"),
        Paper::Gaftl => ("readings-gaftl", "IEEE Access 2019", "D"),
    };
    let columns = columns(reader, paper);
    let (frozen, read) = columns.split_first().expect("the frozen configuration");
    let measured = |column: &&Column| column.claims.iter().any(|one| one.measured.is_some());
    let best = read.iter().filter(measured).max_by_key(|column| column.within().0);
    let conclusions = best.map(|best| {
        let (most, (met, claims)) = (best.within().0, frozen.within());
        let text = if most > met {
            format!(
                "The reading `{}` meets most: {most} of {claims} claims are within, and {met} under configuration {configuration}. \
                 What it reads was chosen after measuring.",
                best.name(),
            )
        } else {
            format!("No reading meets more than configuration {configuration}, under which {met} of {claims} claims are within.")
        };
        (true, text)
    });
    Finding {
        id,
        question: format!("Which reading of {name} explains which figure?"),
        text: "Configuration and verdicts above are frozen. The readings here were added after measuring. Each rests on a sentence \
               or a silence of the paper. Each is held against all claims of the configuration, without tuning. The first table says \
               what a reading is, which claims are within under it alone, and which it loses. The second has all figures: ✓ within, \
               ~ direction only, ✗ not reproduced, · as under the reading it starts from. Where there is a third, it says why \
               claims are missed. A reading with one seed is judged by its value."
            .to_owned(),
        conclusions: conclusions.into_iter().collect(),
        table: [summary(&columns), matrix(&columns), missed(&columns)]
            .into_iter()
            .filter(|table| !table.is_empty())
            .collect::<Vec<_>>()
            .join("\n"),
        ..Finding::default()
    }
}

/// What each reading is, explains and contradicts.
fn summary(columns: &[Column]) -> String {
    let mut table =
        head(&["reading", "reads", "because", "within", "explains", "contradicts"]).replace("--:|", "---|");
    let frozen = &columns[0];
    for column in columns {
        let differ = |here: bool| {
            let pairs = column.claims.iter().zip(&frozen.claims);
            let is = |one: &Assessment| one.verdict == Verdict::Within;
            let measured = |one: &Assessment| one.measured.is_some();
            let found = pairs.filter(|(own, other)| measured(own) && is(own) == here && is(other) != here);
            let found: Vec<String> = found.map(|(own, _)| format!("`{}`", own.id)).collect();
            if found.is_empty() { "-".to_owned() } else { found.join(", ") }
        };
        let (name, reads, because) = match &column.reading {
            None => (FROZEN.to_owned(), "as measured above".to_owned(), "-".to_owned()),
            Some(reading) => (
                format!("[{0}](../experiments/readings/{0}.toml)", reading.id),
                reading.words.clone(),
                reading.rests_on.clone(),
            ),
        };
        let (within, claims) = column.within();
        let within = format!("{within} of {claims}");
        line(&mut table, [name, reads, because, within, differ(true), differ(false)]);
    }
    table
}

/// Claims by reading.
fn matrix(columns: &[Column]) -> String {
    let names = columns.iter().map(Column::name);
    let mut table = head(&["claim", "claimed"].into_iter().chain(names).collect::<Vec<_>>());
    for (index, claim) in columns[0].claims.iter().enumerate() {
        if claim.verdict == Verdict::NotReproducibleHere {
            continue;
        }
        let claimed = claim.claimed.split(" (").next().unwrap_or_default().to_owned();
        let cells = columns.iter().map(|column| {
            let own = &column.claims[index];
            let parent = column.reading.as_ref().map(|reading| reading.from.as_deref().unwrap_or(FROZEN));
            let parent = parent.and_then(|name| columns.iter().find(|one| one.name() == name));
            match parent {
                Some(parent) if parent.claims[index].measured == own.measured => "·".to_owned(),
                _ => cell(own),
            }
        });
        line(&mut table, [format!("`{}`", claim.id), claimed].into_iter().chain(cells));
    }
    table
}

/// A figure with its verdict.
fn cell(one: &Assessment) -> String {
    let mark = match one.verdict {
        Verdict::Within => "✓",
        Verdict::DirectionOnly => "~",
        Verdict::NotReproduced => "✗",
        Verdict::NotReproducibleHere | Verdict::NotMeasured => return "-".to_owned(),
    };
    one.measured.as_ref().map_or_else(|| "-".to_owned(), |value| format!("{} {mark}", plain(value, one.unit)))
}

/// Why claims are missed under the frozen configuration, and under which readings they are met; nothing for a paper whose
/// sections say it.
fn missed(columns: &[Column]) -> String {
    let mut table = head(&["missed", "what the paper says or leaves out, and what shows it", "within under"])
        .replace("--:|", "---|");
    for reason in reasons::reasons() {
        let of_paper = |id: &&&str| columns[0].claims.iter().any(|one| one.id == **id && missed_here(one));
        let claims: Vec<&str> = reason.claims.iter().filter(of_paper).copied().collect();
        if claims.is_empty() {
            continue;
        }
        let met = columns[1..].iter().filter_map(|column| {
            let is =
                |id: &&&str| column.claims.iter().any(|one| one.id == **id && one.verdict == Verdict::Within);
            let count = claims.iter().filter(is).count();
            match count {
                0 => None,
                _ if count == claims.len() => Some(column.name().to_owned()),
                _ => Some(format!("{} ({count} of {})", column.name(), claims.len())),
            }
        });
        let met: Vec<String> = met.collect();
        let met = if met.is_empty() { "none".to_owned() } else { met.join(", ") };
        let names: Vec<String> = claims.iter().map(|id| format!("`{id}`")).collect();
        line(&mut table, [names.join(", "), reason.text, met]);
    }
    if table.lines().count() > 2 { table } else { String::new() }
}

/// Whether a claim needs a reason.
pub(crate) fn missed_here(one: &Assessment) -> bool {
    matches!(one.verdict, Verdict::DirectionOnly | Verdict::NotReproduced)
}

#[cfg(test)]
mod tests {
    use harmonia_metrics::Interval;

    use super::*;
    use crate::claims::Unit;

    fn one(id: &'static str, value: f64, verdict: Verdict) -> Assessment {
        Assessment {
            id,
            reading: None,
            second_reading: None,
            source: "",
            words: "",
            claimed: "71% (a figure)",
            accepted: String::new(),
            measured: Some(Interval { mean: value, half_width: None, samples: 1 }),
            factor_ends: None,
            shown: String::new(),
            verdict,
            why: "",
            unit: Unit::Percent,
            expected: None,
        }
    }

    /// The frozen configuration, a reading that explains the second claim and loses the first, and one that starts from it.
    fn columns() -> Vec<Column> {
        let text = |from: &str| {
            format!(
                "paper = \"channels\"\nwords = \"w\"\nrests_on = \"r\"\n{from}\n[[change]]\nsets = [\"a=1\"]\n"
            )
        };
        let first = Reading::parse("first", &text(""), &[]).expect("a reading");
        let second = Reading::parse("second", &text("from = \"first\""), std::slice::from_ref(&first));
        let column = |reading, a: (f64, Verdict), b: (f64, Verdict)| Column {
            reading,
            claims: vec![one("channels-cassandra-read", a.0, a.1), one("channels-rocksdb-read", b.0, b.1)],
        };
        vec![
            column(None, (70.0, Verdict::Within), (10.0, Verdict::DirectionOnly)),
            column(Some(first), (-5.0, Verdict::NotReproduced), (71.0, Verdict::Within)),
            column(Some(second.expect("a reading")), (72.0, Verdict::Within), (71.0, Verdict::Within)),
        ]
    }

    #[test]
    fn a_reading_explains_what_is_within_under_it_alone_and_contradicts_what_it_loses() {
        let table = summary(&columns());
        let lines: Vec<&str> = table.lines().collect();
        assert!(
            lines[3].ends_with("| 1 of 2 | `channels-rocksdb-read` | `channels-cassandra-read` |"),
            "{table}"
        );
        assert!(lines[4].ends_with("| 2 of 2 | `channels-rocksdb-read` | - |"), "{table}");
    }

    #[test]
    fn a_figure_stands_with_its_verdict_and_not_twice() {
        let table = matrix(&columns());
        assert!(
            table.contains("| `channels-cassandra-read` | 71% | 70.0% ✓ | -5.0% ✗ | 72.0% ✓ |"),
            "{table}"
        );
        assert!(table.contains("| `channels-rocksdb-read` | 71% | 10.0% ~ | 71.0% ✓ | · |"), "{table}");
    }

    #[test]
    fn a_paper_without_reasons_has_no_third_table() {
        let one = one("gaftl-4kb", 1.0, Verdict::NotReproduced);
        assert_eq!(missed(&[Column { reading: None, claims: vec![one] }]), "");
    }

    /// A claim that is met needs no reason.
    #[test]
    fn a_reason_stands_for_what_is_missed_and_says_under_which_readings_it_is_met() {
        let table = missed(&columns());
        assert_eq!(table.lines().count(), 3, "{table}");
        let line = table.lines().nth(2).unwrap_or_default();
        assert!(
            line.starts_with("| `channels-rocksdb-read` |") && line.ends_with("| first, second |"),
            "{table}"
        );
    }
}
