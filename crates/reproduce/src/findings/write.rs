//! Figures and sentences out of results.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;

use harmonia_figure::{Chart, Forest, Row, Scale, Series};
use harmonia_metrics::Interval;

use crate::assessment::{Assessment, assess, shown};
use crate::claims::{Test, Unit};
use crate::expression::{measure, unit};
use crate::measure::Measure;
use crate::reading::{Reading, readings};
use crate::results::Results;
use crate::verdict::{Expected, Verdict};

/// Reads results for the page.
pub(super) struct Reader<'a> {
    pub results: &'a Results,
    pub assessments: &'a [Assessment],
    /// All readings of papers.
    pub readings: Vec<Reading>,
    /// Variants of experiments that were asked for.
    pub asked: RefCell<BTreeSet<(&'static str, String)>>,
}

impl<'a> Reader<'a> {
    pub fn new(results: &'a Results, assessments: &'a [Assessment]) -> Self {
        Reader { results, assessments, readings: readings().unwrap_or_default(), asked: RefCell::default() }
    }

    /// A measure, as a page writes it.
    pub fn measure(&self, text: &str) -> Measure {
        measure(text, &self.readings)
    }

    /// A measure's interval; `None` where runs are missing.
    pub fn interval(&self, measure: &Measure) -> Option<Interval> {
        let asked = measure.cells().into_iter().map(|(experiment, variant)| (experiment, variant.to_owned()));
        self.asked.borrow_mut().extend(asked);
        measure.interval(self.results)
    }

    /// A measure in words: "73.7% ± 0.4".
    pub fn say(&self, measure: &Measure) -> String {
        let said = |value: Interval| shown(&value, unit(measure));
        self.interval(measure).map_or_else(|| "(not measured)".to_owned(), said)
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
        let reading = self.readings.iter().find(|known| known.id == reading);
        let claims = reading.map(|reading| reading.claims()).unwrap_or_default();
        let Some(claim) = claims.into_iter().find(|claim| claim.id == id) else {
            return "(not measured)".to_owned();
        };
        if let Test::Measured(measure, _) = &claim.test {
            self.interval(measure);
        }
        match &assess(&[claim], self.results)[..] {
            [one] if one.measured.is_some() => one.shown.clone(),
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
        found.is_some_and(|one| match (one.expected, one.ends()) {
            (Some(Expected::Between { high, .. } | Expected::Factor { high, .. }), Some((low, _))) => {
                low > high
            }
            _ => false,
        })
    }

    /// Claims of one unit as a picture.
    pub fn forest(&self, title: &str, ids: &[&str]) -> (String, String) {
        let chosen: Vec<&Assessment> =
            ids.iter().filter_map(|id| self.assessments.iter().find(|one| one.id == *id)).collect();
        let unit = chosen.first().map_or(Unit::Percent, |one| one.unit);
        let scale = if unit == Unit::Ns { 1e-6 } else { 1.0 };
        let range = |expected: Option<Expected>| match expected {
            Some(Expected::Between { low, high, .. } | Expected::Factor { low, high }) => {
                (low * scale, high * scale)
            }
            Some(Expected::Above(bound)) => (bound * scale, f64::INFINITY),
            Some(Expected::Below(bound)) => (f64::NEG_INFINITY, bound * scale),
            None => (0.0, 0.0),
        };
        let row = |one: &&Assessment| Row {
            name: one.id.to_owned(),
            accepted: range(one.expected),
            measured: one
                .measured
                .zip(one.ends())
                .map(|(value, (low, high))| [low * scale, value.mean * scale, high * scale]),
            verdict: one.verdict.text().to_owned(),
        };
        let (x_title, no_effect) = match unit {
            Unit::Percent => ("per cent; 0 is no effect", 0.0),
            Unit::Times | Unit::Plain => ("times; 1 is no effect", 1.0),
            Unit::Ns => ("ms; 0 is no effect", 0.0),
            Unit::Bandwidth => ("MB/s; 0 is no effect", 0.0),
        };
        let rows = chosen.iter().map(row).collect();
        let forest = Forest { title: title.to_owned(), x_title: x_title.to_owned(), no_effect, rows };
        (title.to_owned(), forest.draw())
    }

    /// A chart of values, by series and category, each what it is called and what it is; `of` says what to measure.
    pub fn chart(
        &self,
        shape: &Shape<'_>,
        categories: &[(String, String)],
        series: &[(String, String)],
        of: impl Fn(&str, &str) -> Measure,
    ) -> (String, String) {
        let one = |(name, series): &(String, String)| {
            let values = categories.iter().map(|(_, category)| {
                let value = self.interval(&of(series, category));
                value.map(|value| scaled(value, shape.scale))
            });
            Series { name: name.clone(), values: values.collect() }
        };
        let chart = Chart {
            title: shape.title.to_owned(),
            x_title: shape.x_title.to_owned(),
            y_title: shape.y_title.to_owned(),
            categories: categories.iter().map(|(name, _)| name.clone()).collect(),
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

fn scaled(value: Interval, scale: f64) -> Interval {
    Interval {
        mean: value.mean * scale,
        half_width: value.half_width.map(|half_width| half_width * scale),
        ..value
    }
}

/// A measure as a cell of a table.
pub(super) fn cell(reader: &Reader<'_>, measure: &Measure) -> String {
    let said = |_| reader.say(measure).replace(" ms", "").replace(" MB/s", "");
    reader.interval(measure).map_or_else(|| "-".to_owned(), said)
}

/// A share of a whole in percent, without its interval.
pub(super) fn share(reader: &Reader<'_>, measure: &Measure) -> String {
    reader.interval(measure).map_or_else(|| "-".to_owned(), |share| format!("{:.1}%", 100.0 * share.mean))
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
