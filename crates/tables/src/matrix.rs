//! A cross of two axes at a glance: what each cell changes against the first, and how the two axes go together.

use harmonia_metrics::{Comparison, Interaction, Joint, PerMetric, Report, Versus};

use crate::Emphasis;
use crate::cross::{Cross, Grid};
use crate::numbers::{self, NONE};
use crate::winners::Name;
use crate::{Cell, Style, Table, layout, seeds, titled};

/// In the first cell, which the others are held against.
const BASELINE: &str = "baseline";

/// One figure of all cells.
pub struct Matrix {
    /// The figure and what it is held against: "Mean response against blocking + local, 12.49 ms".
    pub title: String,
    /// What stands down and across: "schedule" and "policy".
    pub axes: [String; 2],
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// By row: its name, and its cells.
    pub rows: Vec<(String, Vec<Field>)>,
}

/// A change and what stands behind it.
pub struct Field {
    /// How the mean differs, and what qualifies that.
    pub change: seeds::Qualified,
    /// The only winner of this figure.
    pub wins: bool,
}

/// The matrices of mean and 99th percentile; none unless two axes are crossed. `runs` holds one report a variant.
pub fn matrices(comparison: &Comparison, cross: &Cross, runs: &[Report]) -> Vec<Matrix> {
    let Some(grid) = cross.grid().filter(|grid| grid.rows.values.len() > 1 && grid.columns.values.len() > 1)
    else {
        return Vec::new();
    };
    let Some(first) = runs.first() else { return Vec::new() };
    let all = &first.host.response_ns.all;
    let winners = &comparison.winners;
    let winner = |of: &Option<harmonia_metrics::Winner>| {
        of.as_ref().and_then(|winner| winner.name()).map(str::to_owned)
    };
    let figures: [(&str, Option<f64>, Change, Option<String>); 2] = [
        ("Mean response", all.mean, |versus| versus.mean, winner(&winners.mean)),
        ("p99", all.p99.map(|ns| ns as f64), |versus| versus.p99, winner(&winners.p99)),
    ];
    let known = figures.into_iter().filter_map(|(what, base, change, winner)| {
        let title = format!("{what} against {}, {} ms", first.label, numbers::ms(base?));
        let field = |run: usize| Field {
            change: field(comparison, run, change),
            wins: winner.as_ref().is_some_and(|winner| *winner == runs[run].label),
        };
        Some(Matrix { title, ..matrix(&grid, cross, &field) })
    });
    known.collect()
}

type Change = fn(&PerMetric<Option<Versus>>) -> Option<Versus>;

fn field(comparison: &Comparison, run: usize, change: Change) -> seeds::Qualified {
    match comparison.intervals.variants.get(run).map(|variant| &variant.versus_baseline) {
        Some(Some(versus)) => seeds::change(change(versus).as_ref()),
        _ => (BASELINE.to_owned(), String::new()),
    }
}

/// Rows and columns without a cell have no place in it.
fn matrix(grid: &Grid<'_>, cross: &Cross, field: &dyn Fn(usize) -> Field) -> Matrix {
    let missing = || Field { change: (NONE.to_owned(), String::new()), wins: false };
    let columns: Vec<usize> = (0..grid.columns.values.len())
        .filter(|&column| grid.cells.iter().any(|row| row[column].is_some()))
        .collect();
    let rows = grid.rows.values.iter().zip(&grid.cells);
    let rows = rows.filter(|(_, cells)| cells.iter().any(Option::is_some)).map(|(name, cells)| {
        (name.clone(), columns.iter().map(|&column| cells[column].map_or_else(missing, field)).collect())
    });
    Matrix {
        title: String::new(),
        axes: [grid.rows, grid.columns].map(|axis| cross.short(axis).to_owned()),
        columns: columns.iter().map(|&column| grid.columns.values[column].clone()).collect(),
        rows: rows.collect(),
    }
}

/// The matrices as tables and the sentence; `None` unless two axes are crossed.
pub(crate) fn section(
    comparison: &Comparison,
    cross: &Cross,
    runs: &[Report],
    style: Style,
) -> Option<String> {
    let matrices = matrices(comparison, cross, runs);
    if matrices.is_empty() {
        return None;
    }
    let tables = matrices.iter().map(|matrix| titled(&matrix.title, &table(matrix), style));
    let mut sections: Vec<String> = tables.collect();
    let said = sentence(comparison, cross, runs, str::to_owned);
    sections.extend(said.map(|said| layout::wrapped(&said, style.columns)));
    Some(sections.join("\n"))
}

fn table(matrix: &Matrix) -> Table {
    let [down, across] = &matrix.axes;
    let headings = [format!("{down} \\ {across}")].into_iter().chain(matrix.columns.iter().cloned());
    let mut table = Table::new(headings);
    let column =
        |at: usize| seeds::aligned(matrix.rows.iter().map(|(_, fields)| fields[at].change.clone()).collect());
    let columns: Vec<Vec<String>> = (0..matrix.columns.len()).map(column).collect();
    for (row, (name, fields)) in matrix.rows.iter().enumerate() {
        let cell = |(at, field): (usize, &Field)| {
            let cell = Cell::from(columns[at][row].clone());
            if field.wins { cell.with(Emphasis::Good) } else { cell }
        };
        let cells = fields.iter().enumerate().map(cell);
        table.push(std::iter::once(Cell::from(name.clone())).chain(cells).collect());
    }
    table
}

/// What each axis gains alone and what both gain together, for the value of each that is best alone.
pub fn sentence(comparison: &Comparison, cross: &Cross, runs: &[Report], name: Name) -> Option<String> {
    let grid = cross.grid()?;
    let buildable = |run: &usize| !runs[*run].is_ideal();
    let lowest = |runs_alone: &mut dyn Iterator<Item = (usize, usize)>| {
        runs_alone
            .filter_map(|(at, run)| Some((at, runs[run].host.response_ns.all.mean?)))
            .min_by(|(_, one), (_, other)| one.total_cmp(other))
            .map(|(at, _)| at)
    };
    let down = |row: usize| Some((row, grid.cells[row][0].filter(buildable)?));
    let across = |column: usize| Some((column, grid.cells[0][column].filter(buildable)?));
    let row = lowest(&mut (1..grid.rows.values.len()).filter_map(down))?;
    let column = lowest(&mut (1..grid.columns.values.len()).filter_map(across))?;
    let variants: Vec<&[Report]> = comparison.variants().collect();
    let of = |row: usize, column: usize| variants.get(grid.cells[row][column].filter(buildable)?).copied();
    let found = Interaction::of(of(0, 0)?, of(row, 0)?, of(0, column)?, of(row, column)?)?;
    let value = |axis: &harmonia_scenario::Axis, at: usize| match cross.names_itself(axis) {
        true => name(&axis.values[at]),
        false => name(&format!("{}={}", cross.short(axis), axis.values[at])),
    };
    Some(told(&found, &value(grid.rows, row), &value(grid.columns, column)))
}

fn told(found: &Interaction, first: &str, second: &str) -> String {
    let shown = |versus: &Versus| {
        let (change, behind) = seeds::change(Some(versus));
        let behind = behind.replace("n.s.", "(may be chance)");
        let gap = if behind.is_empty() { "" } else { " " };
        format!("{change}{gap}{behind}")
    };
    let independent = numbers::change(1.0 + found.independent, 1.0).unwrap_or_default();
    format!(
        "Mean response, the best value of each axis: {first} alone changes it by {}, {second} alone by {}, both by {}. {} With \
         {second} in place, {first} changes the mean by {}; with {first} in place, {second} changes it by {}.",
        shown(&found.first),
        shown(&found.second),
        shown(&found.both),
        together(found, &independent),
        shown(&found.first_after_second),
        shown(&found.second_after_first),
    )
}

/// How the two go together; of gains and losses only what the figures say.
fn together(found: &Interaction, independent: &str) -> String {
    let gains = |versus: &Versus| versus.difference.mean < 0.0 && versus.is_clear();
    let joint = found.joint();
    if joint == Joint::Independent {
        return format!(
            "That is what independent changes would give ({independent}), as far as one can tell."
        );
    }
    if !gains(&found.first) || !gains(&found.second) {
        let word = if joint == Joint::LeavesMore { "higher" } else { "lower" };
        return format!("Independent changes would give {independent}: together it is {word}.");
    }
    let than_better = [&found.first_after_second, &found.second_after_first]
        .into_iter()
        .max_by(|one, other| one.difference.mean.total_cmp(&other.difference.mean));
    let verdict = match (joint, than_better) {
        (Joint::LeavesLess, _) => "they reinforce each other",
        (_, Some(versus)) if !versus.is_clear() => {
            "they overlap, and both gain no more than the better one alone"
        }
        (_, Some(versus)) if versus.difference.mean > 0.0 => {
            "they get in each other's way: both gain less than the better one alone"
        }
        _ => "they overlap",
    };
    format!("Independent gains would give {independent}: {verdict}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;
    use crate::fixtures::axis;
    use crate::fixtures::run;

    const STYLE: Style = Style { columns: 100, color: Color(false) };

    fn two_axes() -> Vec<harmonia_scenario::Axis> {
        vec![
            axis("ssd.gc.schedule", &["blocking", "preemptive", "io-parallel"]),
            axis("array.coordination.policy", &["local", "reactive-selective"]),
        ]
    }

    /// Runs of a cross that wait so long for garbage collection and erase so many blocks, in units of the first.
    fn crossed(axes: Vec<harmonia_scenario::Axis>, of: &[(u64, u64)]) -> (Comparison, Cross) {
        let cross = Cross::full(axes);
        let runs = of
            .iter()
            .enumerate()
            .map(|(index, &(gc_us, erases))| run(&cross.name(index), "blocking", gc_us, erases, &[0.9, 0.1]));
        (Comparison::new(runs.collect(), 1), cross)
    }

    fn shown((comparison, cross): &(Comparison, Cross)) -> String {
        let runs = &seeds::means(comparison);
        let matrix = section(comparison, cross, runs, STYLE).unwrap_or_else(|| "no matrix\n".to_owned());
        let winners = crate::winners::section(comparison, runs, crate::winners::Notes::All, STYLE);
        format!("{matrix}\n{}", winners.unwrap_or_else(|| "no winners\n".to_owned()))
    }

    /// Coordination hardly pays once the die itself makes room for the host.
    #[test]
    fn a_cross_of_two_axes() {
        let of =
            [(40_000, 9_000), (6_000, 9_900), (5_000, 9_000), (4_000, 9_900), (9_000, 9_005), (8_000, 9_900)];
        insta::assert_snapshot!(shown(&crossed(two_axes(), &of)));
    }

    #[test]
    fn one_axis_and_three_have_winners_and_no_matrix() {
        let one = crossed(two_axes()[..1].to_vec(), &[(40_000, 9_000), (6_000, 9_000), (5_000, 8_000)]);
        let mut three = two_axes();
        three[0].values.pop();
        three.push(axis("array.devices", &["4", "8"]));
        let three =
            crossed(three, &[9, 8, 7, 6, 5, 4, 3, 2].map(|gc_ms| (gc_ms * 1_000, 9_000 + gc_ms * 90)));
        insta::assert_snapshot!(format!("{}\n{}", shown(&one), shown(&three)));
    }

    /// Too few samples for a 99th percentile: its matrix and its winner are left out, or who lacks it is named.
    #[test]
    fn what_is_not_known_is_not_shown() {
        let mut all = crossed(two_axes(), &[(40_000, 9_000); 6]);
        let forget = |all: &mut (Comparison, Cross), which: std::ops::Range<usize>| {
            all.0.runs[which].iter_mut().for_each(|run| run.host.response_ns.all.p99 = None);
            all.0 = Comparison::new(all.0.runs.clone(), 1);
        };
        forget(&mut all, 3..4);
        let one = shown(&all).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(one.contains("(preemptive + reactive-selective not ranked: too few requests)"), "{one}");
        assert!(one.contains("p99 against blocking + local, 76.81 ms"), "{one}");
        forget(&mut all, 0..6);
        let none = shown(&all).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!none.contains("p99") && none.contains("Mean response against"), "{none}");
        assert!(none.contains("all tie: ") && none.contains(" and 3 more"), "{none}");
        all.0.runs.iter_mut().for_each(|run| run.host = harmonia_metrics::HostReport::default());
        all.0 = Comparison::new(all.0.runs.clone(), 1);
        assert!(shown(&all).starts_with("no matrix"), "{}", shown(&all));
    }

    /// The sentence for each way in which two changes can go together, by means in ms.
    #[test]
    fn the_sentence_says_what_the_figures_say() {
        let said = |means: [f64; 4]| {
            let mut axes = two_axes();
            axes[0].values.pop();
            let mut all = crossed(axes, &[(0, 0); 4]);
            for (run, mean) in all.0.runs.iter_mut().zip(means) {
                run.host.response_ns.all.mean = Some(mean * 1e6);
                run.host.batches.mean.clear();
            }
            all.0 = Comparison::new(all.0.runs.clone(), 1);
            let runs = seeds::means(&all.0);
            sentence(&all.0, &all.1, &runs, str::to_owned).expect("two axes")
        };
        // Base, the second alone, the first alone, both.
        let text = [
            ("overlap", said([100.0, 40.0, 60.0, 38.0])),
            ("no more than the better one", said([100.0, 40.0, 60.0, 40.0])),
            ("worse than the better one", said([100.0, 40.0, 60.0, 45.0])),
            ("independent", said([100.0, 40.0, 60.0, 24.0])),
            ("more than independent", said([100.0, 40.0, 60.0, 20.0])),
            ("one gains nothing", said([100.0, 100.0, 60.0, 40.0])),
            ("one costs", said([100.0, 120.0, 60.0, 80.0])),
        ];
        let text: Vec<String> = text.iter().map(|(name, text)| format!("-- {name} --\n{text}\n")).collect();
        insta::assert_snapshot!(text.join("\n"));
    }
}
