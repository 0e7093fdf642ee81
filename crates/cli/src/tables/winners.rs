//! Who has the lowest of each figure, in words; the table's last lines and a list on the page.

use harmonia_metrics::{Against, Comparison, Report, Winner};

use super::{Style, label, layout, seeds, verdict};
use crate::numbers;
use crate::output::Emphasis;

const TITLE: &str = "Winners";
/// Of a longer tie the rest is counted.
const TIED_SHOWN: usize = 4;
const TIE: &str =
    "A tie: the interval of the difference from the lowest holds zero, or the difference is below 0.1%.";
const ONE_SEED: &str = "Percentiles and erases of one seed have no interval: there any difference from 0.1% on counts. \
                        --seeds 5 can tell more.";

/// How a name is shown: as it is, or made to stand out.
pub(crate) type Name = fn(&str) -> String;

/// What there is to say of one figure.
pub(crate) struct Line {
    /// The figure.
    pub what: &'static str,
    /// Who has the lowest, and by how much.
    pub text: String,
}

/// One line a figure; none where there is no choice. `runs` holds one report a variant.
pub(crate) fn lines(comparison: &Comparison, runs: &[Report], name: Name) -> Vec<Line> {
    let winners = &comparison.winners;
    let say = |winner: &Winner, show: Show, count: usize| Saying { winner, show, count, runs, name }.text();
    let buildable = runs.iter().filter(|run| !run.is_ideal()).count();
    // Without writes a percentile of the reads is that of all requests.
    let mixed = runs.iter().any(|run| run.host.read_requests > 0 && run.host.write_requests > 0);
    let mut lines = Vec::new();
    let mut line = |what, winner: &Option<Winner>, show: Show| {
        lines.extend(winner.as_ref().map(|winner| Line { what, text: say(winner, show, buildable) }));
    };
    line("lowest mean", &winners.mean, milliseconds);
    line("lowest p99", &winners.p99, milliseconds);
    line("p99 of reads", if mixed { &winners.read_p99 } else { &None }, milliseconds);
    line("fewest erases", &winners.erases, erases);
    if let (Some(first), Some(winner)) =
        (lines.first_mut(), winners.mean.as_ref().filter(|won| !won.is_tie()))
    {
        let best = runs.iter().find(|run| run.label == winner.labels[0]);
        first.text.push_str(&best.map(|best| verdict::erases(&runs[0], best, name)).unwrap_or_default());
    }
    lines
}

/// What a tie is, and what one seed cannot know.
pub(crate) fn footnotes(comparison: &Comparison) -> Vec<&'static str> {
    let winners = &comparison.winners;
    let all = || [&winners.mean, &winners.p99, &winners.read_p99, &winners.erases].into_iter().flatten();
    let unsure = |winner: &Winner| winner.next.as_ref().is_some_and(|next| next.versus.significant.is_none());
    let ties = all().any(Winner::is_tie).then_some(TIE);
    ties.into_iter().chain(all().any(unsure).then_some(ONE_SEED)).collect()
}

/// The lines under one another, the figures in a column of their own; `None` where there is no choice.
pub(super) fn section(comparison: &Comparison, runs: &[Report], style: Style) -> Option<String> {
    let lines = lines(comparison, runs, str::to_owned);
    let width = lines.iter().map(|line| line.what.chars().count()).max()? + 2;
    let mut text = style.color.paint(Emphasis::Bold, TITLE) + "\n";
    for Line { what, text: said } in lines {
        let wrapped = layout::wrapped(&said, style.columns - width);
        let mut first = what;
        for line in wrapped.lines() {
            text.push_str(&format!("{first:<width$}{line}\n"));
            first = "";
        }
    }
    footnotes(comparison).iter().for_each(|note| text.push_str(&layout::wrapped(note, style.columns)));
    Some(text)
}

type Show = fn(f64) -> String;

fn milliseconds(ns: f64) -> String {
    format!("{} ms", numbers::ms(ns))
}

fn erases(count: f64) -> String {
    numbers::count(count.round() as u64)
}

/// One winner, about to be put into words.
struct Saying<'a> {
    winner: &'a Winner,
    show: Show,
    /// How many could have won.
    count: usize,
    runs: &'a [Report],
    name: Name,
}

impl Saying<'_> {
    fn text(&self) -> String {
        let Winner { labels, next, baseline, unknown, .. } = self.winner;
        let mut text = match (self.winner.is_tie(), next) {
            (false, _) => self.named(0),
            (true, Some(_)) => format!("no winner: {} tie", self.tied()),
            (true, None) if labels.len() == self.count => format!("no winner, all tie: {}", self.tied()),
            (true, None) => format!("no winner: {} tie", self.tied()),
        };
        let first = self.runs.first().map(label).unwrap_or_default();
        let of_baseline = baseline.as_ref().filter(|against| !labels.contains(&against.label));
        let mut distances = Vec::new();
        if labels[0] == first && (next.is_some() || !self.winner.is_tie()) {
            distances.push("the baseline".to_owned());
        }
        distances.extend(of_baseline.map(|against| self.distance(against, "")));
        let is_other = |next: &&Against| of_baseline.is_none_or(|base| base.label != next.label);
        distances.extend(next.as_ref().filter(is_other).map(|next| self.distance(next, "the next, ")));
        if !distances.is_empty() {
            text.push_str(if self.winner.is_tie() { "; the lowest is " } else { ": " });
            text.push_str(&distances.join(", "));
        }
        if !unknown.is_empty() {
            let names: Vec<String> = unknown.iter().map(|label| (self.name)(label)).collect();
            text.push_str(&format!("; too few requests to say of {}", names.join(", ")));
        }
        text
    }

    /// "-68.0% ±0.2 against local".
    fn distance(&self, against: &Against, role: &str) -> String {
        let (change, behind) = seeds::change(Some(&against.versus));
        let gap = if behind.is_empty() { "" } else { " " };
        format!("{change}{gap}{behind} against {role}{}", (self.name)(&against.label))
    }

    fn named(&self, at: usize) -> String {
        format!("{}, {}", (self.name)(&self.winner.labels[at]), (self.show)(self.winner.values[at]))
    }

    /// "a (1.2 ms), b (1.3 ms) and 2 more".
    fn tied(&self) -> String {
        let Winner { labels, values, .. } = self.winner;
        let one =
            |(label, value): (&String, &f64)| format!("{} ({})", (self.name)(label), (self.show)(*value));
        let shown: Vec<String> = labels.iter().zip(values).take(TIED_SHOWN).map(one).collect();
        match (labels.len() - shown.len(), shown.split_last()) {
            (0, Some((last, others))) => format!("{} and {last}", others.join(", ")),
            (more, _) => format!("{} and {more} more", shown.join(", ")),
        }
    }
}
