//! How each run looks, in every chart and in the table: decided here, and nowhere else.
//!
//! ```text
//!               colour and shape         dash
//!   one axis    its value                its value
//!   a cross     its first axis' value    the combination of the others' values
//!   a bound     a look of its own        the combination of the others' values
//! ```
//!
//! A cross takes colours from the policies if they are an axis, so that a policy keeps its colour whatever else is
//! varied. Up to [`COLOURS`] values of an axis no two share a colour, and up to [`DASHES`] combinations no two share a
//! dash. Beyond, colours begin again, each with the next value's shape and dash, so that 64 values are told apart.

use harmonia_metrics::Report;
use harmonia_tables::Cross;
use serde_json::{Value, json};

/// Colours of the style sheet, `--run-0` and so on, after Okabe and Ito.
const COLOURS: usize = 8;
/// Stroke patterns of lines, told apart at a width of two pixels.
const DASHES: [&str; 8] = ["", "8 4", "2 3", "12 3 2 3", "16 4", "5 2", "12 3 2 3 2 3", "8 3 8 3 2 3"];
/// Those of bounds: dots.
const DOTS: [&str; 4] = ["0.1 5", "0.1 8", "0.1 4 0.1 9", "0.1 12"];
/// Outlines around the middle of a box from -5 to 5.
const SHAPES: [&str; COLOURS] = [
    "M-3.5-3.5h7v7h-7z",
    "M0-4.5L4.5 3.5H-4.5z",
    "M0-4.8L4.8 0L0 4.8L-4.8 0z",
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M0 4.5L4.5-3.5H-4.5z",
    "M-1.4-4.5h2.8v3.1h3.1v2.8h-3.1v3.1h-2.8v-3.1h-3.1v-2.8h3.1z",
    "M-4.5-4L0-1.4L4.5-4V4L0 1.4L-4.5 4z",
    "M-4-4.5L-1.4 0L-4 4.5H4L1.4 0L4-4.5z",
];
/// An open ring.
const BOUND_SHAPE: &str =
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0zM-2 0a2 2 0 1 1 4 0a2 2 0 1 1-4 0z";

/// How one run looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// A colour of the style sheet.
    pub color: String,
    /// A stroke pattern.
    pub dash: &'static str,
    /// The outline of its point.
    pub shape: &'static str,
    /// Whether it is drawn as a bound.
    pub bound: bool,
}

impl Mark {
    /// For the charts.
    pub(super) fn data(&self) -> Value {
        json!({"color": self.color, "dash": self.dash, "shape": self.shape, "bound": self.bound})
    }

    /// A piece of its line with its point, as an element.
    pub(super) fn swatch(&self) -> String {
        let Mark { color, dash, shape, .. } = self;
        let cap = if self.bound { " stroke-linecap=\"round\"" } else { "" };
        format!(
            "<svg class=\"swatch\" width=\"34\" height=\"12\" aria-hidden=\"true\"><path d=\"M1 6H33\" style=\"stroke:{color}\" \
             stroke-width=\"2.5\" stroke-dasharray=\"{dash}\"{cap}/><path d=\"{shape}\" transform=\"translate(17 6)\" \
             style=\"fill:{color}\" class=\"point\"/></svg>"
        )
    }
}

/// The looks of all runs.
pub(super) fn marks(cross: &Cross, runs: &[Report]) -> Vec<Mark> {
    let axis = cross.leading_axis();
    let value_of = |run: usize| axis.map_or(Some(run), |axis| cross.value_at(run, axis));
    // A bound takes no colour from the others.
    let mut coloured: Vec<Option<usize>> = Vec::new();
    for value in (0..runs.len()).filter(|&run| !runs[run].is_ideal()).map(value_of) {
        if !coloured.contains(&value) {
            coloured.push(value);
        }
    }
    let first = |run: usize| coloured.iter().position(|value| *value == value_of(run)).unwrap_or(0);
    let rest = Combinations::of(cross, axis, runs.len());
    let is_crossed = rest.count > 1;
    let mark = |(index, run): (usize, &Report)| {
        let (value, bound) = (first(index), run.is_ideal());
        let place = match is_crossed {
            true => rest.of_run[index],
            false if bound => 0,
            false => value + value / COLOURS,
        };
        Mark {
            color: if bound { "var(--bound)".to_owned() } else { format!("var(--run-{})", value % COLOURS) },
            dash: if bound { DOTS[place % DOTS.len()] } else { DASHES[place % DASHES.len()] },
            shape: if bound { BOUND_SHAPE } else { SHAPES[(value + value / COLOURS) % COLOURS] },
            bound,
        }
    };
    runs.iter().enumerate().map(mark).collect()
}

/// Numbers of the combinations of all axes but one, in the order in which they appear.
struct Combinations {
    of_run: Vec<usize>,
    count: usize,
}

impl Combinations {
    fn of(cross: &Cross, but: Option<usize>, runs: usize) -> Combinations {
        let mut known: Vec<Vec<Option<usize>>> = Vec::new();
        let mut number = |run: usize| {
            let values = cross.values_but(run, but);
            known.iter().position(|other| *other == values).unwrap_or_else(|| {
                known.push(values);
                known.len() - 1
            })
        };
        let of_run = (0..runs).map(&mut number).collect();
        Combinations { of_run, count: known.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_tables::fixtures::axis;
    use harmonia_tables::fixtures::{four_runs, run};

    /// Colour, dash and whether it is a bound, as numbers.
    fn looks(marks: &[Mark]) -> Vec<(&str, usize, bool)> {
        let dash = |mark: &Mark| {
            let all: &[&str] = if mark.bound { &DOTS } else { &DASHES };
            all.iter().position(|dash| *dash == mark.dash).expect("a dash")
        };
        marks.iter().map(|mark| (mark.color.as_str(), dash(mark), mark.bound)).collect()
    }

    fn crossed(axes: Vec<harmonia_scenario::Axis>) -> Vec<Mark> {
        let count: usize = axes.iter().map(|axis| axis.values.len()).product();
        let cross = Cross::full(axes);
        let runs: Vec<Report> = (0..count)
            .map(|index| {
                let name = cross.name(index);
                run(&name, if name.contains("ideal") { "ideal" } else { "blocking" }, 1, 1, &[1.0])
            })
            .collect();
        marks(&cross, &runs)
    }

    #[test]
    fn one_axis_varies_colour_shape_and_dash_and_the_bound_is_no_run() {
        let marks = marks(&Cross::default(), &four_runs());
        assert_eq!(
            looks(&marks),
            [
                ("var(--run-0)", 0, false),
                ("var(--run-1)", 1, false),
                ("var(--run-2)", 2, false),
                ("var(--bound)", 0, true)
            ]
        );
        assert!(marks[3].shape == BOUND_SHAPE && marks[0].shape != marks[1].shape);
    }

    #[test]
    fn a_cross_takes_colours_from_the_policy_and_dashes_from_the_rest() {
        let policy = || axis("array.coordination.policy", &["local", "ideal"]);
        let devices = || axis("array.devices", &["2", "4", "6"]);
        let blue = |dash| ("var(--run-0)", dash, false);
        let bound = |dash| ("var(--bound)", dash, true);
        let by_policy = crossed(vec![policy(), devices()]);
        assert_eq!(looks(&by_policy), [blue(0), blue(1), blue(2), bound(0), bound(1), bound(2)]);
        let policy_last = crossed(vec![devices(), policy()]);
        assert_eq!(looks(&policy_last), [blue(0), bound(0), blue(1), bound(1), blue(2), bound(2)]);
    }

    /// Eight policies beside a bound are eight colours.
    #[test]
    fn a_bound_takes_no_colour_away() {
        let marks = crossed(vec![axis("array.coordination.policy", &["local", "ideal", "gclock"])]);
        let expected = [("var(--run-0)", 0, false), ("var(--bound)", 0, true), ("var(--run-1)", 1, false)];
        assert_eq!(looks(&marks), expected);
    }

    #[test]
    fn without_policies_the_first_axis_has_the_colours() {
        let marks =
            crossed(vec![axis("ssd.gc.victim", &["greedy", "fifo"]), axis("array.devices", &["2", "4"])]);
        let expected = [("var(--run-0)", 0), ("var(--run-0)", 1), ("var(--run-1)", 0), ("var(--run-1)", 1)];
        assert_eq!(looks(&marks), expected.map(|(color, dash)| (color, dash, false)));
    }

    #[test]
    fn eight_values_have_eight_looks() {
        let values: Vec<String> = (0..8).map(|n| format!("{n}")).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let marks = crossed(vec![axis("array.devices", &values)]);
        let distinct =
            |of: fn(&Mark) -> &str| marks.iter().map(of).collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!(distinct(|mark| &mark.color), 8);
        assert_eq!((distinct(|mark| mark.dash), distinct(|mark| mark.shape)), (8, 8));
    }

    #[test]
    fn values_that_share_a_colour_differ_in_shape_and_dash() {
        let values: Vec<String> = (0..64).map(|n| format!("{n}")).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let marks = crossed(vec![axis("array.devices", &values)]);
        for (index, mark) in marks.iter().enumerate() {
            for other in marks[..index].iter().filter(|other| other.color == mark.color) {
                assert!(other.shape != mark.shape && other.dash != mark.dash, "{index}");
            }
        }
    }
}
