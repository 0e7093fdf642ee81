//! Figures and sentences out of results.

use std::fmt::Write;

use harmonia_figure::{Chart, Forest, Row, Scale, Series};
use harmonia_metrics::Interval;

use crate::assessment::{Assessment, shown};
use crate::claims::{Test, Unit};
use crate::measure::{Measure, Quantity};
use crate::reading::readings;
use crate::results::Results;
use crate::verdict::{Expected, Verdict};

/// Reads results for the page.
pub(super) struct Reader<'a> {
    pub results: &'a Results,
    pub assessments: &'a [Assessment],
}

impl Reader<'_> {
    /// A measure's interval; `None` where runs are missing.
    pub fn interval(&self, measure: &Measure) -> Option<Interval> {
        measure.interval(self.results)
    }

    /// A measure in words: "73.7% ± 0.4".
    pub fn say(&self, measure: &Measure, unit: Unit) -> String {
        self.interval(measure).map_or_else(|| "(not measured)".to_owned(), |value| shown(&value, unit))
    }

    /// What a claim measured, in words.
    pub fn claim(&self, id: &str) -> String {
        let found = self.assessments.iter().find(|one| one.id == id);
        found
            .filter(|one| one.measured.is_some())
            .map_or_else(|| "(not measured)".into(), |one| one.shown.clone())
    }

    /// What a claim measured under another reading of its paper, in words.
    pub fn under(&self, reading: &str, id: &str) -> String {
        let reading = readings().unwrap_or_default().into_iter().find(|known| known.id == reading);
        let claims = reading.map(|reading| reading.claims()).unwrap_or_default();
        let measured = claims.iter().find(|claim| claim.id == id).map(|claim| (&claim.test, claim.unit));
        match measured {
            Some((Test::Measured(measure, _), unit)) => self.say(measure, unit),
            _ => "(not measured)".to_owned(),
        }
    }

    /// What a claim says, without what is said in brackets.
    pub fn claimed(&self, id: &str) -> &'static str {
        let found = self.assessments.iter().find(|one| one.id == id);
        found.map_or("-", |one| one.claimed.split(" (").next().unwrap_or_default())
    }

    /// What became of a claim.
    pub fn verdict(&self, id: &str) -> Verdict {
        let found = self.assessments.iter().find(|one| one.id == id);
        found.map_or(Verdict::NotMeasured, |one| one.verdict)
    }

    /// Whether a claim's measurement lies above all that is accepted.
    pub fn beyond(&self, id: &str) -> bool {
        let found = self.assessments.iter().find(|one| one.id == id);
        found.is_some_and(|one| match (one.expected, one.measured) {
            (Some(Expected::Between { high, .. }), Some(measured)) => measured.low() > high,
            _ => false,
        })
    }

    /// Whether a measure lies above a value with its whole interval.
    pub fn above(&self, measure: &Measure, bound: f64) -> bool {
        self.interval(measure).is_some_and(|value| value.low() > bound)
    }

    /// Whether a measure lies below a value with its whole interval.
    pub fn below(&self, measure: &Measure, bound: f64) -> bool {
        self.interval(measure).is_some_and(|value| value.high() < bound)
    }

    /// Claims of one unit as a picture.
    pub fn forest(&self, title: &str, ids: &[&str]) -> (String, String) {
        let chosen: Vec<&Assessment> =
            ids.iter().filter_map(|id| self.assessments.iter().find(|one| one.id == *id)).collect();
        let unit = chosen.first().map_or(Unit::Percent, |one| one.unit);
        let scale = if unit == Unit::Ns { 1e-6 } else { 1.0 };
        let range = |expected: Option<Expected>| match expected {
            Some(Expected::Between { low, high, .. }) => (low * scale, high * scale),
            Some(Expected::Above(bound)) => (bound * scale, f64::INFINITY),
            Some(Expected::Below(bound)) => (f64::NEG_INFINITY, bound * scale),
            None => (0.0, 0.0),
        };
        let row = |one: &&Assessment| Row {
            name: one.id.to_owned(),
            accepted: range(one.expected),
            measured: one.measured.map(|value| scaled(value, scale)),
            verdict: one.verdict.text().to_owned(),
        };
        let (x_title, no_effect) = match unit {
            Unit::Percent => ("per cent; 0 is no effect", 0.0),
            Unit::Times | Unit::Plain => ("times; 1 is no effect", 1.0),
            Unit::Ns => ("ms; 0 is no effect", 0.0),
        };
        let rows = chosen.iter().map(row).collect();
        let forest = Forest { title: title.to_owned(), x_title: x_title.to_owned(), no_effect, rows };
        (title.to_owned(), forest.draw())
    }

    /// A chart of values, by series and category; `of` says what to measure.
    pub fn chart(
        &self,
        shape: &Shape<'_>,
        categories: &[&str],
        series: &[&str],
        of: impl Fn(&str, &str) -> Measure,
    ) -> (String, String) {
        let one = |series: &&str| {
            let values = categories.iter().map(|category| {
                let value = self.interval(&of(series, category));
                value.map(|value| scaled(value, shape.scale))
            });
            Series { name: (*series).to_owned(), values: values.collect() }
        };
        let chart = Chart {
            title: shape.title.to_owned(),
            x_title: shape.x_title.to_owned(),
            y_title: shape.y_title.to_owned(),
            categories: categories.iter().map(|name| (*name).to_owned()).collect(),
            series: series.iter().map(one).collect(),
            lines: shape.lines,
            scale: shape.axis,
            reference: shape.reference,
        };
        (shape.title.to_owned(), chart.draw())
    }
}

/// How a chart looks.
pub(super) struct Shape<'a> {
    pub title: &'a str,
    pub x_title: &'a str,
    pub y_title: &'a str,
    pub lines: bool,
    pub axis: Scale,
    pub reference: Option<f64>,
    /// Values are multiplied by this.
    pub scale: f64,
}

/// Nanoseconds to milliseconds.
pub(super) const MS: f64 = 1e-6;

impl<'a> Shape<'a> {
    /// Steps of a quantity, joined by lines, in milliseconds from 0.
    pub fn lines(title: &'a str, x_title: &'a str, y_title: &'a str) -> Self {
        Shape { title, x_title, y_title, lines: true, axis: Scale::FromZero, reference: None, scale: MS }
    }

    /// Kinds side by side, as shares of a baseline.
    pub fn shares(title: &'a str, x_title: &'a str, y_title: &'a str) -> Self {
        Shape {
            title,
            x_title,
            y_title,
            lines: false,
            axis: Scale::Tight,
            reference: Some(100.0),
            scale: 100.0,
        }
    }

    /// Kinds side by side instead of steps.
    pub fn kinds(self) -> Self {
        Shape { lines: false, ..self }
    }

    /// With a logarithmic vertical axis.
    pub fn log(self) -> Self {
        Shape { axis: Scale::Log, ..self }
    }

    /// With other units.
    pub fn scaled(self, scale: f64) -> Self {
        Shape { scale, ..self }
    }

    /// With a rule at a value.
    pub fn reference(self, value: f64) -> Self {
        Shape { reference: Some(value), ..self }
    }
}

fn scaled(value: Interval, scale: f64) -> Interval {
    Interval {
        mean: value.mean * scale,
        half_width: value.half_width.map(|half_width| half_width * scale),
        ..value
    }
}

/// A figure of a variant.
pub(super) fn of(quantity: Quantity, experiment: &'static str, variant: String) -> Measure {
    Measure::Of(quantity, experiment, variant)
}

/// A measure as a cell of a table.
pub(super) fn entry(reader: &Reader<'_>, measure: &Measure, unit: Unit) -> String {
    reader.interval(measure).map_or_else(|| "-".to_owned(), |_| reader.say(measure, unit).replace(" ms", ""))
}

/// A time as such a cell, in milliseconds.
pub(super) fn ms(reader: &Reader<'_>, measure: &Measure) -> String {
    entry(reader, measure, Unit::Ns)
}

/// A whole number without its interval.
pub(super) fn count(reader: &Reader<'_>, measure: &Measure) -> String {
    reader.interval(measure).map_or_else(|| "-".to_owned(), |value| format!("{:.0}", value.mean))
}

/// A line of a Markdown table.
pub(super) fn line(table: &mut String, cells: impl IntoIterator<Item = String>) {
    let cells: Vec<String> = cells.into_iter().collect();
    let _ = writeln!(table, "| {} |", cells.join(" | "));
}

/// The head of a table with one column of text and the rest of numbers.
pub(super) fn head(columns: &[&str]) -> String {
    format!("| {} |\n|---|{}\n", columns.join(" | "), "--:|".repeat(columns.len() - 1))
}
