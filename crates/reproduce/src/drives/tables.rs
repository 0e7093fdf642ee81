//! Rows with verdicts as Markdown: a line a load, and a line for each figure that belongs to no load.

use std::fmt::Write;

use super::judged::{Judged, counts};
use super::measured::{COLUMNS, Load, NOISE, Quantity};
use super::runs::SCALE;
use super::split::{RULE, Side};
use crate::verdict::Verdict;

/// Counts of a drive, in words.
pub fn counted(judged: &[Judged]) -> String {
    let of = |side| counts(judged, side);
    let ((fitted, all_fitted), (within, all)) = (of(Side::Fitted), of(Side::Judged));
    format!(
        "{within} of {all} judged rows are within what is accepted, and {fitted} of {all_fitted} fitted rows"
    )
}

/// Counts of all drives together, for the README. Claims of papers are counted elsewhere.
pub fn total(judged: &[Vec<Judged>]) -> String {
    let sum = |side| {
        let all = judged.iter().map(|judged| counts(judged, side));
        all.fold((0, 0), |(within, ran), (more, others)| (within + more, ran + others))
    };
    let ((fitted, all_fitted), (within, all)) = (sum(Side::Fitted), sum(Side::Judged));
    format!(
        "{within} of {all} measurements not used for fitting, and {fitted} of {all_fitted} used for it, are met within stated limits"
    )
}

/// What stands above all tables.
pub fn opening() -> String {
    format!(
        "{RULE}\n\nAccepted: {}. All runs are at `ssd.scale = \"{SCALE}\"`, with one seed. A cell has what was simulated, what was measured and how far \
         off that is. Misses are bold. Times are us. Noise: {NOISE}.\n",
        accepted()
    )
}

/// What is accepted of each quantity, in words.
fn accepted() -> String {
    let all = [
        Quantity::ReadP50,
        Quantity::ReadP99,
        Quantity::ReadP999,
        Quantity::WriteP50,
        Quantity::WriteP99,
        Quantity::WritesDone,
        Quantity::Sequential,
        Quantity::Knee,
        Quantity::WriteAmplification,
        Quantity::FillOverUniform,
    ];
    let words = all.map(|quantity| format!("{} {}", quantity.text(), quantity.accepted()));
    format!("{}. Skewed over uniform writes have to lie on the same side of 1", words.join(", "))
}

/// The tables of a drive that has run.
pub fn markdown(judged: &[Judged]) -> String {
    let mut text = format!("{}.\n\n| writes/s offered | | ", counted(judged));
    let percentiles = &COLUMNS[1..];
    let names: Vec<&str> = percentiles.iter().map(|quantity| quantity.text()).collect();
    let _ = write!(text, "{} |\n|---|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let mut loads: Vec<Load> = Vec::new();
    for one in judged.iter().filter(|one| percentiles.contains(&one.row.quantity)) {
        if !loads.contains(&one.row.load) {
            loads.push(one.row.load);
        }
    }
    for load in loads {
        let of = |quantity: &Quantity| {
            judged.iter().find(|one| one.row.load == load && one.row.quantity == *quantity)
        };
        let side = of(&Quantity::ReadP50).map_or("", |one| one.row.side.text());
        let cells: Vec<String> =
            percentiles.iter().map(|quantity| of(quantity).map_or_else(String::new, cell)).collect();
        let _ = writeln!(text, "| {load} | {side} | {} |", cells.join(" | "));
    }
    text.push_str("\n| | | simulated / measured | closed form |\n|---|---|---|---|\n");
    for one in judged.iter().filter(|one| !percentiles.contains(&one.row.quantity)) {
        let formula = one.closed_form.map_or_else(|| "-".to_owned(), number);
        let _ = writeln!(text, "| {} | {} | {} | {formula} |", one.row, one.row.side.text(), cell(one));
    }
    text
}

/// The misses that have a reason, an item each.
pub fn misses(judged: &[Judged]) -> String {
    let mut text = String::new();
    let mut said: Vec<&str> = Vec::new();
    for one in judged.iter().filter(|one| !one.why.is_empty()) {
        if said.contains(&one.why) {
            continue;
        }
        said.push(one.why);
        let same: Vec<&Judged> = judged.iter().filter(|other| other.why == one.why).collect();
        let mut rows: Vec<String> = Vec::new();
        for other in &same {
            let quantity = other.row.quantity;
            let at: Vec<u32> = same
                .iter()
                .filter(|same| same.row.quantity == quantity)
                .filter_map(|same| offered(same))
                .collect();
            let row = match (at.first(), at.last()) {
                (Some(first), Some(last)) if at.len() > 2 && offered(other).is_some() => {
                    let within =
                        |row: &&Judged| offered(row).is_some_and(|rate| (*first..=*last).contains(&rate));
                    let all = judged.iter().filter(|row| row.row.quantity == quantity).filter(within).count();
                    match at.len() == all {
                        true => format!("{} at {first} to {last}", quantity.text()),
                        false => other.row.to_string(),
                    }
                }
                _ => other.row.to_string(),
            };
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        let why = one.why.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "- {}: {why}", rows.join(", "));
    }
    text
}

/// The load of a row, where the drive keeps up with it. Unit: writes/s.
fn offered(judged: &Judged) -> Option<u32> {
    match judged.row.load {
        Load::Offered(rate) => Some(rate),
        _ => None,
    }
}

/// How far apart the two baselines and the runs are from what was measured at judged loads: the median error of reads at each percentile.
pub fn beside_neighbours(judged: &[Judged]) -> String {
    let percentiles = [Quantity::ReadP50, Quantity::ReadP99, Quantity::ReadP999];
    let words = percentiles.map(|quantity| {
        let rows = judged.iter().filter(|one| {
            one.row.quantity == quantity && one.row.side == Side::Judged && one.neighbours.is_some()
        });
        let errors: Vec<(f64, f64)> = rows
            .filter_map(|one| Some((one.error()?.abs(), (one.neighbours? / one.row.measured - 1.0).abs())))
            .collect();
        let median =
            |errors| median(errors).map_or_else(|| "-".to_owned(), |error| format!("{:.0}%", error * 100.0));
        let (own, line) = errors.into_iter().unzip();
        format!("{} {} and {}", quantity.text(), median(own), median(line))
    });
    format!(
        "Median error at judged loads, of the simulation and of the line between neighbouring loads: {}.",
        words.join(", ")
    )
}

/// The middle of some figures; of an even number the mean of the two in the middle. `None` of none.
pub(super) fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    let upper = figures.get(figures.len() / 2)?;
    let lower = figures.get((figures.len() - 1) / 2)?;
    Some((lower + upper) / 2.0)
}

fn cell(one: &Judged) -> String {
    let Some(simulated) = one.simulated else { return format!("- / {}", number(one.row.measured)) };
    let error = one.error().map_or_else(String::new, |error| format!(" ({:+.0}%)", error * 100.0));
    let text = format!("{} / {}{error}", number(simulated), number(one.row.measured));
    match one.verdict {
        Verdict::NotReproduced => format!("**{text}**"),
        _ => text,
    }
}

/// A figure with as many digits as it can bear.
pub fn number(value: f64) -> String {
    let decimals = if value.abs() < 9.5 { 2 } else { 0 };
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some((whole, rest)) if rest.bytes().all(|digit| digit == b'0') => whole.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::judged::judge;
    use super::super::measured::drives;
    use super::super::runs::{Shown, Shows};
    use super::*;

    #[test]
    fn a_miss_is_bold_and_has_its_reason() {
        let drive = &drives()[0];
        let mut shows = Shows::default();
        let shown = Shown { read: Some([64.0, 2_370.0, 393.0]), ..Shown::default() };
        shows.insert(drive.name, Load::Offered(10_000), shown);
        let mut judged = judge(drive, &shows);
        let text = markdown(&judged);
        assert!(
            text.contains(
                "| 10000 | fitted | 64 / 64 (+0%) | **2370 / 237 (+900%)** | 393 / 393 (+0%) | - / 11 |"
            ),
            "{text}"
        );
        assert!(
            text.starts_with("0 of 0 judged rows are within what is accepted, and 2 of 3 fitted rows."),
            "{text}"
        );
        judged.iter_mut().find(|one| one.row.quantity == Quantity::ReadP99).expect("a row").why = "too long.";
        assert_eq!(misses(&judged), "- read p99 at 10000: too long.\n");
        let mut missed = |why: &'static str, loads: &[u32]| {
            let writes = judged.iter_mut().filter(|one| one.row.quantity == Quantity::WriteP99);
            let chosen = writes.filter(|one| offered(one).is_some_and(|rate| loads.contains(&rate)));
            chosen.for_each(|one| one.why = why);
            misses(&judged)
        };
        let all = missed("slow.", &[10_000, 30_000, 40_000, 60_000, 70_000]);
        assert!(all.contains("- write p99 at 10000 to 70000: slow.\n"), "{all}");
        let some = missed("", &[30_000]);
        assert!(some.contains("- write p99 at 10000, write p99 at 40000, write p99 at 60000"), "{some}");
    }

    #[test]
    fn numbers_have_as_many_digits_as_they_can_bear() {
        assert_eq!(
            [76_550.4, 11.2, 8.6, 3.196, 11.0, 2.0].map(number),
            ["76550", "11", "8.60", "3.20", "11", "2"]
        );
    }
}
