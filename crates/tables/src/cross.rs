//! What a comparison varies: its axes, where on them each run stands, and what runs are called for it.
//!
//! ```text
//!   --policies local,ideal --set ssd.gc.domain=die,device
//!
//!   axes      policy = local, ideal     domain = die, device
//!   points    (0, 0)       (0, 1)            (1, 0)        (1, 1)
//!   names     local + die  local + device    ideal + die   ideal + device
//! ```
//!
//! A value that is a word names itself; where an axis has others, such as numbers, the last part of its key stands in
//! front: `devices=4`. Whatever would make two axes look alike is written out, so that no two runs share a name.

use harmonia_scenario::Axis;

/// The key of the axis that `--policies` makes.
pub const POLICY_KEY: &str = "array.coordination.policy";

/// The axes, and by run where it stands.
#[derive(Debug, Clone, Default)]
pub struct Cross {
    axes: Vec<Axis>,
    points: Vec<Point>,
}

/// By axis which of its values a run has; none where the run has a say of its own about that key.
pub type Point = Vec<Option<usize>>;

/// A cross of two axes: which run stands in each cell.
#[derive(Debug)]
pub struct Grid<'a> {
    pub rows: &'a Axis,
    pub columns: &'a Axis,
    /// By row, by column: the position of the run.
    pub cells: Vec<Vec<Option<usize>>>,
}

impl Cross {
    /// Runs at these points.
    pub fn new(axes: Vec<Axis>, points: Vec<Point>) -> Self {
        Cross { axes, points }
    }

    /// A run at every combination, the last axis varying fastest.
    pub fn full(axes: Vec<Axis>) -> Self {
        let points = combinations(&axes);
        Cross { axes, points }
    }

    /// What is varied, as in "schedule + policy"; `None` if nothing is.
    pub fn heading(&self) -> Option<String> {
        let keys: Vec<&str> = self.axes.iter().map(|axis| self.short(axis)).collect();
        (!keys.is_empty()).then(|| keys.join(" + "))
    }

    /// What the run at this position is called; empty if nothing is varied.
    pub fn name(&self, run: usize) -> String {
        self.name_on(run, &|_| true)
    }

    /// The same on axes of some keys only; empty if the run stands on none of them.
    pub fn name_on(&self, run: usize, of_key: &dyn Fn(&str) -> bool) -> String {
        let values = self.values(run).filter(|(axis, _)| of_key(&axis.key));
        let parts = values.map(|(axis, value)| match self.names_itself(axis) {
            true => value.to_owned(),
            false => format!("{}={value}", self.short(axis)),
        });
        parts.collect::<Vec<_>>().join(" + ")
    }

    /// The same with every key written out, as in "ssd.gc.schedule=blocking, array.devices=4".
    pub fn pairs(&self, run: usize) -> String {
        let pairs = self.values(run).map(|(axis, value)| format!("{}={value}", axis.key));
        pairs.collect::<Vec<_>>().join(", ")
    }

    /// Rows and columns, if there are exactly two axes and the first run, the baseline, stands in their first cell.
    pub fn grid(&self) -> Option<Grid<'_>> {
        let [rows, columns] = &self.axes[..] else { return None };
        let run = |row: usize, column: usize| {
            self.points.iter().position(|point| *point == [Some(row), Some(column)])
        };
        let of_row = |row| (0..columns.values.len()).map(|column| run(row, column)).collect();
        let cells: Vec<Vec<Option<usize>>> = (0..rows.values.len()).map(of_row).collect();
        (cells[0][0] == Some(0)).then_some(Grid { rows, columns, cells })
    }

    /// The axis that matters most to a reader: the policies, or the first of more than one value.
    pub fn leading_axis(&self) -> Option<usize> {
        let varied = || self.axes.iter().enumerate().filter(|(_, axis)| axis.values.len() > 1);
        let policies = varied().find(|(_, axis)| axis.key == POLICY_KEY);
        policies.or_else(|| varied().next()).map(|(at, _)| at)
    }

    /// Which value of an axis a run has.
    pub fn value_at(&self, run: usize, axis: usize) -> Option<usize> {
        self.points.get(run).and_then(|point| point.get(axis).copied().flatten())
    }

    /// Where a run stands on all axes but one.
    pub fn values_but(&self, run: usize, but: Option<usize>) -> Point {
        let point = self.points.get(run).into_iter().flatten().enumerate();
        point.filter(|(axis, _)| Some(*axis) != but).map(|(_, value)| *value).collect()
    }

    /// The last part of a key, or all of it where that would be another axis' too.
    pub fn short<'a>(&self, axis: &'a Axis) -> &'a str {
        let last = |axis: &'a Axis| axis.key.rsplit('.').next().unwrap_or(&axis.key);
        let alike = self.axes.iter().filter(|other| other.key.rsplit('.').next() == Some(last(axis)));
        if alike.count() > 1 { &axis.key } else { last(axis) }
    }

    /// Whether values of this axis are words that no other axis has.
    pub fn names_itself(&self, axis: &Axis) -> bool {
        let elsewhere = |value: &String| {
            self.axes.iter().any(|other| other.key != axis.key && other.values.contains(value))
        };
        axis.values.iter().all(|value| is_word(value) && !elsewhere(value))
    }

    fn values(&self, run: usize) -> impl Iterator<Item = (&Axis, &str)> {
        let point = self.points.get(run).into_iter().flatten();
        let chosen = self.axes.iter().zip(point);
        chosen.filter_map(|(axis, at)| Some((axis, axis.values.get((*at)?)?.as_str())))
    }
}

/// All combinations of the axes' values, the last axis varying fastest; one empty one without axes.
pub fn combinations(axes: &[Axis]) -> Vec<Point> {
    axes.iter().fold(vec![Vec::new()], |points, axis| {
        let with = |point: &Point, at: usize| [&point[..], &[Some(at)]].concat();
        points.iter().flat_map(|point| (0..axis.values.len()).map(move |at| with(point, at))).collect()
    })
}

/// A name such as `reactive-selective`: no number, no truth value, nothing to compute.
fn is_word(value: &str) -> bool {
    let of_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    value.starts_with(|first: char| first.is_ascii_alphabetic())
        && value.bytes().all(of_word)
        && !["true", "false", "inf", "nan"].contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::axis;

    fn names(axes: Vec<Axis>) -> Vec<String> {
        let cross = Cross::full(axes);
        (0..cross.points.len()).map(|run| cross.name(run)).collect()
    }

    #[test]
    fn words_name_themselves_and_numbers_need_their_key() {
        let schedule = axis("ssd.gc.schedule", &["blocking", "ideal"]);
        let devices = axis("array.devices", &["2", "4"]);
        assert_eq!(
            names(vec![schedule.clone(), devices.clone()]),
            ["blocking + devices=2", "blocking + devices=4", "ideal + devices=2", "ideal + devices=4"]
        );
        assert_eq!(Cross::full(vec![schedule, devices]).heading().as_deref(), Some("schedule + devices"));
        let of_one = |values: &[&str]| names(vec![axis("ssd.gc.soft_threshold", values)]);
        assert_eq!(of_one(&["hard", "hard+1"]), ["soft_threshold=hard", "soft_threshold=hard+1"]);
        assert_eq!(of_one(&["true", "false"]), ["soft_threshold=true", "soft_threshold=false"]);
        assert_eq!(of_one(&["5%", "6%"]), ["soft_threshold=5%", "soft_threshold=6%"]);
    }

    #[test]
    fn what_would_look_alike_is_written_out() {
        let policies = axis("array.coordination.policy", &["local", "ideal"]);
        let schedule = axis("ssd.gc.schedule", &["blocking", "ideal"]);
        assert_eq!(names(vec![policies.clone(), schedule])[3], "policy=ideal + schedule=ideal");
        let concurrency = axis("ssd.gc.concurrency.policy", &["unlimited", "2"]);
        let cross = Cross::full(vec![policies, concurrency]);
        assert_eq!(cross.heading().as_deref(), Some("array.coordination.policy + ssd.gc.concurrency.policy"));
        assert_eq!(cross.name(0), "local + ssd.gc.concurrency.policy=unlimited");
        assert_eq!(cross.pairs(3), "array.coordination.policy=ideal, ssd.gc.concurrency.policy=2");
    }

    #[test]
    fn three_axes_vary_the_last_one_fastest_and_are_no_grid() {
        let three = ["a", "b", "c"].map(|key| axis(key, &["x", "1"]));
        let cross = Cross::full(three.to_vec());
        assert_eq!(cross.name(1), "a=x + b=x + c=1");
        assert_eq!(cross.points.len(), 8);
        assert!(cross.grid().is_none() && Cross::full(three[..1].to_vec()).grid().is_none());
        assert_eq!((Cross::default().name(0), Cross::default().heading()), (String::new(), None));
    }

    /// `ideal` is a schedule of its own, so it stands beside the grid.
    #[test]
    fn a_run_with_a_say_of_its_own_is_no_cell() {
        let axes =
            vec![axis("policy", &["local", "ideal"]), axis("ssd.gc.schedule", &["blocking", "preemptive"])];
        let points = vec![vec![Some(0), Some(0)], vec![Some(0), Some(1)], vec![Some(1), None]];
        let cross = Cross::new(axes, points);
        assert_eq!(cross.name(2), "ideal");
        let grid = cross.grid().expect("two axes");
        assert_eq!(grid.cells, [vec![Some(0), Some(1)], vec![None, None]]);
    }
}
