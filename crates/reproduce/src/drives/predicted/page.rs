//! Predictions as Markdown. The text stands in `predictions.md`, in which `{{name}}` is a table.

use std::fmt::Write;

use super::super::judged::{Judged, judge};
use super::super::measured::{Drive, Load, Quantity, drives, knee};
use super::super::runs::Shows;
use super::super::split::Side;
use super::super::tables::{median, number};
use super::asked::{MICRON_7450_MAX_800G, SKEWS, between, footprints, ladder_of_max};
use super::{Figure, Prediction, Predictions};
use crate::verdict::Verdict;

const TEXT: &str = include_str!("predictions.md");

/// Quantities whose errors say how far predictions are to be trusted.
const TRUSTED: [Quantity; 6] = [
    Quantity::ReadP50,
    Quantity::ReadP99,
    Quantity::ReadP999,
    Quantity::WriteP99,
    Quantity::Knee,
    Quantity::OverUniform,
];

/// The page below its title.
pub fn page(predictions: &Predictions, shows: &Shows) -> String {
    let all = All { predictions, shows };
    let mut text = TEXT.to_owned();
    for (name, table) in all.tables() {
        text = text.replace(&format!("{{{{{name}}}}}"), table.trim_end());
    }
    text
}

/// All tables that have rows, one after the other, for a terminal.
pub fn tables(predictions: &Predictions, shows: &Shows) -> String {
    let tables = All { predictions, shows }.tables().map(|(_, table)| table);
    tables.into_iter().filter(|table| has_rows(table)).collect::<Vec<_>>().join("\n")
}

/// Whether a table has more than its heading and the line below that.
fn has_rows(table: &str) -> bool {
    table.lines().filter(|line| line.starts_with('|')).count() > 2
}

struct All<'a> {
    predictions: &'a Predictions,
    shows: &'a Shows,
}

impl All<'_> {
    fn tables(&self) -> [(&'static str, String); 6] {
        let mut others = String::new();
        for (name, loads) in between() {
            let table = self.by_load(name, loads.into_iter());
            if has_rows(&table) {
                let _ = write!(others, "### `{name}`\n\n{table}\n");
            }
        }
        [
            ("max-loads", self.by_load(MICRON_7450_MAX_800G.name, ladder_of_max())),
            ("max-footprints", self.by_footprint()),
            ("other-drives", others),
            ("knees", self.knees()),
            ("skews", self.skews()),
            ("trust", trust(self.shows)),
        ]
    }

    fn by_load(&self, drive: &str, loads: impl Iterator<Item = Load>) -> String {
        let mut text = String::from(
            "| writes/s offered | done | read p50 | read p99 | read p99.9 | write p99 |\n|---:|---:|---:|---:|---:|---:|\n",
        );
        for load in loads {
            let Some(prediction) = self.predictions.of(drive, load) else { continue };
            let read = prediction.read.unwrap_or_default().map(with_half).join(" | ");
            let write = prediction.write_p99.map_or_else(|| "-".to_owned(), number);
            let _ = writeln!(text, "| {load} | {} | {read} | {write} |", with_half(prediction.writes));
        }
        text
    }

    fn by_footprint(&self) -> String {
        let mut text =
            String::from("| footprint | write amplification | writes/s, nothing reads |\n|---:|---:|---:|\n");
        for load in footprints() {
            let Some(prediction) = self.predictions.of(MICRON_7450_MAX_800G.name, load) else { continue };
            let share = load.to_string().replace("footprint ", "");
            let writes = with_half(prediction.writes);
            let _ = writeln!(text, "| {share} | {} | {writes} |", amplification(prediction));
        }
        text
    }

    fn knees(&self) -> String {
        let mut text = String::from("| drive | knee, writes/s | saturated, writes/s |\n|---|---:|---:|\n");
        let max: Vec<Load> = ladder_of_max().collect();
        let mut all = vec![(MICRON_7450_MAX_800G.name, max)];
        for (name, loads) in between() {
            let drive = drives().into_iter().find(|drive| drive.name == name);
            let mut loads = [loads, drive.map(|drive| drive.ladder()).unwrap_or_default()].concat();
            loads.sort_by_key(|load| load.offered());
            all.push((name, loads));
        }
        for (name, loads) in all {
            let points: Vec<(f64, f64)> =
                loads.into_iter().filter_map(|load| self.point(name, load)).collect();
            let Some(&(most, _)) = points.last() else { continue };
            let above = || format!("above {}", number(most));
            let (knee, most) = match knee(&points) {
                Some(knee) => (number(knee), number(most)),
                None => (above(), above()),
            };
            let _ = writeln!(text, "| `{name}` | {knee} | {most} |");
        }
        text
    }

    /// Writes done in a second and p99 of writes, of a load that is predicted or was judged.
    fn point(&self, drive: &str, load: Load) -> Option<(f64, f64)> {
        let predicted = self.predictions.of(drive, load).map(|one| (one.writes.0, one.write_p99));
        let judged = || self.shows.of(drive, load).map(|one| (one.writes, one.write.map(|write| write[1])));
        let (writes, p99) = predicted.or_else(judged)?;
        Some((writes, p99?))
    }

    fn skews(&self) -> String {
        let mut text = String::from("| drive | uniform, write amplification |");
        for load in SKEWS {
            let _ = write!(text, " {load} over uniform, rates | write amplification |");
        }
        let _ = write!(text, "\n|---|---:|{}\n", "---:|---:|".repeat(SKEWS.len()));
        for (name, _) in between() {
            let Some(uniform) = self.predictions.of(name, Load::UNIFORM) else { continue };
            let _ = write!(text, "| `{name}` | {} |", amplification(uniform));
            for skewed in SKEWS.map(|load| self.predictions.of(name, load)).into_iter().flatten() {
                let over = ratio(skewed.writes, uniform.writes);
                let _ = write!(text, " {} | {} |", with_half(over), amplification(skewed));
            }
            text.push('\n');
        }
        text
    }
}

/// One figure over another that was found independently of it: relative errors add as squares.
fn ratio(of: Figure, over: Figure) -> Figure {
    let value = of.0 / over.0;
    let half = of.1.zip(over.1).map(|(of_half, over_half)| {
        let (one, other) = (of_half / of.0, over_half / over.0);
        value * (one * one + other * other).sqrt()
    });
    Figure(value, half)
}

fn amplification(prediction: &Prediction) -> String {
    prediction.write_amplification.map_or_else(|| "-".to_owned(), with_half)
}

fn with_half(Figure(value, half): Figure) -> String {
    match half {
        Some(half) => format!("{} ± {}", number(value), number(half)),
        None => number(value),
    }
}

/// How many judged rows of each drive were met, and the median of their errors.
fn trust(shows: &Shows) -> String {
    let names = TRUSTED.map(Quantity::text).join(" | ");
    let mut text = format!("| drive | {names} |\n|---|{}\n", "---|".repeat(TRUSTED.len()));
    for drive in drives() {
        let judged = judge(&drive, shows);
        let cells = TRUSTED.map(|quantity| met(&drive, &judged, quantity)).join(" | ");
        let _ = writeln!(text, "| `{}` | {cells} |", drive.name);
    }
    text
}

fn met(drive: &Drive, judged: &[Judged], quantity: Quantity) -> String {
    debug_assert_eq!(drive.rows.len(), judged.len());
    let rows = judged.iter().filter(|one| one.row.quantity == quantity && one.row.side == Side::Judged);
    let ran: Vec<(&Judged, f64)> = rows.filter_map(|one| Some((one, one.error()?))).collect();
    let Some(median) = median(ran.iter().map(|(_, error)| *error).collect()) else { return "-".to_owned() };
    let within = ran.iter().filter(|(one, _)| one.verdict == Verdict::Within).count();
    format!("{within} of {}, {:+.0}%", ran.len(), median * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicted(writes: f64, write_p99: f64) -> Prediction {
        let read = Some([Figure(61.2, Some(0.4)), Figure(250.4, Some(12.0)), Figure(400.5, None)]);
        let writes = Figure(writes, Some(30.0));
        Prediction { read, write_p99: Some(write_p99), writes, ..Prediction::default() }
    }

    #[test]
    fn a_load_is_a_row_with_intervals() {
        let mut predictions = Predictions::default();
        predictions.insert(MICRON_7450_MAX_800G.name, Load::Offered(20_000), predicted(19_998.0, 9.0));
        let all = All { predictions: &predictions, shows: &Shows::default() };
        let text = all.by_load(MICRON_7450_MAX_800G.name, ladder_of_max());
        let row = "| 20000 | 19998 ± 30 | 61 ± 0.40 | 250 ± 12 | 400 | 9 |\n";
        assert!(text.ends_with(row) && text.lines().count() == 3, "{text}");
    }

    /// p99 passes 1 ms between 10 us at 20,000 and 100 ms at 30,000 where half of its decades are done.
    #[test]
    fn the_knee_lies_among_all_loads() {
        let mut predictions = Predictions::default();
        for (load, p99) in [(10_000, 9.0), (20_000, 10.0), (30_000, 100_000.0)] {
            let prediction = predicted(f64::from(load), p99);
            predictions.insert(MICRON_7450_MAX_800G.name, Load::Offered(load), prediction);
        }
        let all = All { predictions: &predictions, shows: &Shows::default() };
        assert!(all.knees().contains("| `micron-7450-max-800g` | 25000 | 30000 |"), "{}", all.knees());
    }

    /// 3% and 4% are 5%.
    #[test]
    fn relative_errors_of_a_ratio_add_as_squares() {
        let Figure(value, half) = ratio(Figure(150.0, Some(4.5)), Figure(100.0, Some(4.0)));
        assert_eq!(value, 1.5);
        assert!(half.is_some_and(|half| (half - 0.075).abs() < 1e-9), "{half:?}");
        assert_eq!(ratio(Figure(1.0, None), Figure(2.0, Some(1.0))), Figure(0.5, None));
    }

    #[test]
    fn every_table_has_its_place_in_the_text() {
        for (name, _) in (All { predictions: &Predictions::default(), shows: &Shows::default() }).tables() {
            assert_eq!(TEXT.matches(&format!("{{{{{name}}}}}")).count(), 1, "{name}");
        }
        assert!(!page(&Predictions::default(), &Shows::default()).contains("{{"));
    }
}
