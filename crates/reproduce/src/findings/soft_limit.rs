//! Proactive-soft-limit, which both papers describe and neither evaluates, against every other scheme on every load.

use std::fmt::Write;

use harmonia_figure::{Grid, Outcome};
use harmonia_metrics::Interval;

use super::Finding;
use super::write::Reader;
use crate::claims::POLICIES;
use crate::measure::{Quantity, lowered};

/// Its name in the experiment.
const SUBJECT: &str = "soft-limit";
/// Whom it is held against.
const OTHERS: [&str; 8] =
    ["local", "local-die", "inclusive", "selective", "idle", "gcsync", "gclock", "ideal"];
/// Loads of the experiment.
pub(super) const LOADS: [&str; 12] = [
    "hpc-w",
    "hpc-r",
    "hpc-w-burst-m",
    "hpc-w-burst-h",
    "skew-others",
    "skew-all",
    "zipf",
    "financial",
    "tpc-c",
    "cello",
    "tpc-h",
    "openmail",
];
/// Less than this is no difference that matters, whatever the seeds say, in percent.
const MATTERS: f64 = 0.1;

/// What it does to a figure, against another scheme under a load: by how many percent it is lower, and whether that
/// is settled.
fn against(reader: &Reader<'_>, quantity: Quantity, load: &str, other: &str) -> (Outcome, Option<Interval>) {
    let measure = lowered(quantity, POLICIES, &format!("{load}/{other}"), &format!("{load}/{SUBJECT}"));
    let interval = reader.interval(&measure);
    (interval.map_or(Outcome::Missing, |interval| judged(&interval)), interval)
}

/// A difference counts if the interval leaves 0 out and it is large enough to matter.
fn judged(lowered: &Interval) -> Outcome {
    match lowered {
        lowered if lowered.excludes(0.0) && lowered.mean >= MATTERS => Outcome::Wins,
        lowered if lowered.excludes(0.0) && lowered.mean <= -MATTERS => Outcome::Loses,
        _ => Outcome::Even,
    }
}

/// The section.
pub(super) fn finding(reader: &Reader<'_>) -> Finding {
    let asked = [
        (Quantity::Mean, "mean response time"),
        (Quantity::P99, "99th percentile of the response time"),
        (Quantity::Erases, "erases"),
    ];
    let mut text = format!(
        "Both papers on global collection describe a scheme in which the controller gathers the members' state \
         and picks the moment. They evaluate neither form of it. Here it runs against every other scheme on \
         every load. A difference counts if the interval of the paired differences excludes 0 and the \
         difference is at least {MATTERS}%. By chance alone one pairing in twenty would exclude 0."
    );
    let mut figures = Vec::new();
    for (quantity, name) in asked {
        let title = format!("proactive-soft-limit against every scheme: {name}");
        let row = |load: &&str| {
            let cells = OTHERS.iter().map(|other| {
                let (outcome, interval) = against(reader, quantity, load, other);
                (outcome, interval.map_or_else(|| "-".to_owned(), |interval| change(-interval.mean)))
            });
            ((*load).to_owned(), cells.collect())
        };
        let grid = Grid {
            title: title.clone(),
            subtitle: "its change relative to the scheme of the column; below 0 it is better".to_owned(),
            columns: OTHERS.map(str::to_owned).to_vec(),
            rows: LOADS.iter().map(row).collect(),
        };
        figures.push((title, grid.draw()));
        let count = |wanted: Outcome| {
            let pairs = LOADS.iter().flat_map(|load| OTHERS.iter().map(move |other| (load, other)));
            pairs.filter(|(load, other)| against(reader, quantity, load, other).0 == wanted).count()
        };
        let _ = write!(
            text,
            " By {name} it wins {} of {} pairings and loses {}.",
            count(Outcome::Wins),
            LOADS.len() * OTHERS.len() - count(Outcome::Missing),
            count(Outcome::Loses)
        );
    }
    let outcomes = |quantity: Quantity, others: &[&str], wanted: Outcome| -> Vec<(&str, &str)> {
        let pairs = LOADS.iter().flat_map(|load| OTHERS.iter().map(move |other| (*load, *other)));
        let of_others = pairs.filter(|(_, other)| others.contains(other));
        of_others.filter(|(load, other)| against(reader, quantity, load, other).0 == wanted).collect()
    };
    let reactive = ["inclusive", "selective"];
    let wins_all = outcomes(Quantity::Mean, &reactive, Outcome::Wins).len() == 2 * LOADS.len();
    let lost = outcomes(Quantity::Mean, &OTHERS[..7], Outcome::Loses);
    let conclusions = vec![
        (
            wins_all,
            "Proactive-soft-limit is faster than both reactive schemes on every load. It starts to collect in a \
             gap, just before a request would have reached the threshold. So fewer requests wait for a whole \
             collection."
                .into(),
        ),
        (
            lost == [("hpc-w-burst-m", "idle"), ("hpc-w-burst-h", "idle")],
            "Of the schemes that can be built, only proactive-idle under bursts is faster. The silence between \
             bursts is long enough to collect ahead for the next one, which proactive-soft-limit does not do."
                .into(),
        ),
        (
            outcomes(Quantity::Erases, &reactive, Outcome::Loses).is_empty(),
            "It costs no more erases than the reactive schemes.".into(),
        ),
    ];
    Finding {
        id: "soft-limit",
        question: "When does proactive-soft-limit win, and when does it lose?".into(),
        text,
        conclusions,
        figures,
        claims: Vec::new(),
        table: table(reader),
    }
}

/// For every other scheme, the loads on which it wins and loses.
fn table(reader: &Reader<'_>) -> String {
    let mut table = String::from(
        "| against | mean: wins on | mean: loses on | erases: wins on | erases: loses on |\n|---|---|---|---|---|\n",
    );
    for other in OTHERS {
        let on = |quantity: Quantity, wanted: Outcome| {
            let loads = LOADS.iter().filter_map(|load| {
                let (outcome, interval) = against(reader, quantity, load, other);
                let change = change(-interval?.mean);
                (outcome == wanted).then(|| format!("{load} ({change})"))
            });
            let loads: Vec<String> = loads.collect();
            if loads.is_empty() { "-".to_owned() } else { loads.join(", ") }
        };
        let _ = writeln!(
            table,
            "| {other} | {} | {} | {} | {} |",
            on(Quantity::Mean, Outcome::Wins),
            on(Quantity::Mean, Outcome::Loses),
            on(Quantity::Erases, Outcome::Wins),
            on(Quantity::Erases, Outcome::Loses)
        );
    }
    table
}

/// A change in percent with its sign.
fn change(percent: f64) -> String {
    match percent {
        percent if percent.abs() < 0.05 => "0.0%".to_owned(),
        percent if percent >= 999.5 => format!("+{:.0}x", percent / 100.0 + 1.0),
        percent if percent.abs() >= 99.95 => format!("{percent:+.0}%"),
        percent => format!("{percent:+.1}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_counts_if_it_is_settled_and_matters() {
        let interval = |mean, half_width| Interval { mean, half_width: Some(half_width), samples: 3 };
        assert_eq!(judged(&interval(5.0, 4.9)), Outcome::Wins);
        assert_eq!(judged(&interval(5.0, 5.0)), Outcome::Even);
        assert_eq!(judged(&interval(-5.0, 4.9)), Outcome::Loses);
        assert_eq!(judged(&interval(0.05, 0.01)), Outcome::Even, "too small to matter");
        assert_eq!(judged(&Interval { mean: 50.0, half_width: None, samples: 1 }), Outcome::Even, "one seed");
    }

    #[test]
    fn a_change_has_a_sign_unless_there_is_none() {
        assert_eq!([-73.66, 0.01, 250.0, 1400.0].map(change), ["-73.7%", "0.0%", "+250%", "+15x"]);
    }
}
