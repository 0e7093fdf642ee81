//! Who has the lowest of each figure, and at what price, in words: what a table begins with, and a list on the page.
//!
//! Every percentage is held against the baseline, the first variant.

use harmonia_metrics::{Against, Comparison, Report, Versus, Winner, judgement};

use crate::Emphasis;
use crate::numbers;
use crate::{Style, capital, label, layout, needs};

const TITLE: &str = "Who is best";
/// Where there is a bound, which has the lowest figures of the table in most cases.
const TITLE_BESIDE_BOUND: &str = "Who is best (ideal, which nobody can build, is not ranked)";
/// Of a longer tie the rest is counted.
const TIED_SHOWN: usize = 3;
/// The code of the warning about erases, and of that about the only seed.
const FOOTNOTES: [&str; 2] =
    [harmonia_metrics::judgement::WEAR_AT_THE_EDGE, harmonia_metrics::judgement::ONE_SEED];

/// How a name is shown: as it is, or made to stand out.
pub type Name = fn(&str) -> String;

/// What there is to say of one figure.
pub struct Line {
    /// The figure.
    pub what: &'static str,
    /// Who has the lowest, and by how much.
    pub text: String,
    /// The first screen says it elsewhere: with the choice and in its table.
    pub is_detail: bool,
    /// On the first screen who tie, if that is all there is to say.
    ties: Option<Tie>,
}

/// Who tie.
#[derive(Clone, PartialEq, Eq)]
struct Tie {
    /// In the order of the alphabet.
    labels: Vec<String>,
    /// One of them, and how many more.
    text: String,
}

impl Line {
    fn new(what: &'static str, text: String) -> Self {
        Line { what, text, is_detail: false, ties: None }
    }

    fn detail(what: &'static str, text: String) -> Self {
        Line { is_detail: true, ..Line::new(what, text) }
    }
}

/// One line a figure, then what the winners cost; none where there is no choice. `runs` holds one report a variant.
pub fn lines(comparison: &Comparison, runs: &[Report], name: Name) -> Vec<Line> {
    told(&Said { comparison, runs, name, is_short: false })
}

fn told(said: &Said<'_>) -> Vec<Line> {
    let Said { comparison, runs, .. } = *said;
    let winners = &comparison.winners;
    let mixed = is_mixed(runs);
    let figures: [(&str, &Option<Winner>, Show); 5] = [
        ("mean", &winners.mean, milliseconds),
        ("p99", &winners.p99, milliseconds),
        ("p99 of reads", if mixed { &winners.read_p99 } else { &None }, milliseconds),
        ("p99.9 of reads", &winners.read_p999, milliseconds),
        ("erases", &winners.erases, erases),
    ];
    let known: Vec<(&str, &Winner, Show)> =
        figures.into_iter().filter_map(|(what, winner, show)| Some((what, winner.as_ref()?, show))).collect();
    if let Some(code) = void_of_all(&known) {
        let text = format!("no winner can be named: {}", why_nobody(comparison, code));
        return vec![Line::new("nobody", text)];
    }
    let mut left_out = Vec::new();
    let winner = |&(what, winner, show): &(&'static str, &Winner, Show)| {
        let mut line = Line::new(what, said.winner(winner, show));
        // The table has no others.
        let is_in_table = ["mean", "p99", "p99 of reads"].contains(&what);
        line.ties = said.those_that_tie(winner).filter(|_| is_in_table);
        // The first screen says once who takes no part in any figure.
        if !(said.is_short && left_out == winner.unknown) {
            line.text.push_str(&said.left_out(winner));
            line.ties = line.ties.filter(|_| winner.unknown.is_empty());
        }
        left_out.clone_from(&winner.unknown);
        line
    };
    // Nor does it say twice why the p99 of reads has no winner.
    let is_told = |at: usize| {
        let void = known[at].1.void.as_ref();
        said.is_short && at > 0 && void.is_some() && known[at - 1].1.void.as_ref() == void
    };
    let told = known.iter().enumerate().filter(|(at, _)| !is_told(*at)).map(|(_, figure)| figure);
    let figures: Vec<Line> = told.map(winner).collect();
    figures.into_iter().chain(said.prices()).chain(said.needs()).collect()
}

/// Why nobody wins anything, if it is the same for all figures.
fn void_of_all<'a>(known: &[(&str, &'a Winner, Show)]) -> Option<&'a str> {
    let (_, first, _) = known.first()?;
    let code = first.void.as_deref()?;
    known.iter().all(|(_, winner, _)| winner.void.as_deref() == Some(code)).then_some(code)
}

/// Whether any figure that is told has several winners.
fn has_ties(comparison: &Comparison) -> bool {
    let winners = &comparison.winners;
    let read_p99 = if is_mixed(&comparison.runs) { &winners.read_p99 } else { &None };
    let all = [&winners.mean, &winners.p99, read_p99, &winners.read_p999, &winners.erases];
    all.into_iter().flatten().any(|winner| winner.void.is_none() && winner.is_tie())
}

/// Whether a load reads and writes. Without writes a percentile of the reads is that of all requests.
fn is_mixed(runs: &[Report]) -> bool {
    runs.iter().any(|run| run.host.read_requests > 0 && run.host.write_requests > 0)
}

/// What a tie is, how sure all this is, and what one seed cannot know.
pub fn footnotes(comparison: &Comparison) -> Vec<String> {
    let tie = has_ties(comparison).then(|| {
        "Tie: the interval of the difference, absolute or relative, holds zero, or the difference is below 0.1%. All intervals of differences \
         together hold with 95% confidence."
            .to_owned()
    });
    tie.into_iter().chain(cautions(comparison)).collect()
}

/// What one seed cannot know, and what depends on when the run ended.
fn cautions(comparison: &Comparison) -> Vec<String> {
    let warned = comparison.warnings.iter().filter(|warning| FOOTNOTES.contains(&warning.code.as_str()));
    warned.map(|warning| capital(&warning.text) + ".").collect()
}

/// Whether a warning stands among the footnotes.
pub(crate) fn is_footnote(code: &str) -> bool {
    FOOTNOTES.contains(&code)
}

/// Which lines there are, and which footnotes stand below them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notes {
    /// None, and a line a figure. Prices and needs are left out, which stand beside the choice and in the table.
    None,
    /// All there are, and all lines.
    All,
}

/// The lines under one another, the figures in a column of their own; `None` where there is no choice.
pub(crate) fn section(
    comparison: &Comparison,
    runs: &[Report],
    notes: Notes,
    style: Style,
) -> Option<String> {
    let is_short = notes == Notes::None;
    let mut lines = told(&Said { comparison, runs, name: str::to_owned, is_short });
    if is_short {
        without_details(&mut lines);
        lines = with_ties_joined(lines);
    }
    let width = lines.iter().map(|line| line.what.chars().count()).max()? + 2;
    let title = if runs.iter().any(Report::is_ideal) { TITLE_BESIDE_BOUND } else { TITLE };
    let mut text = style.color.paint(Emphasis::Bold, title) + "\n";
    for Line { what, text: said, .. } in lines {
        let wrapped = layout::wrapped(&said, style.columns - width);
        let mut first = what;
        for line in wrapped.lines() {
            text.push_str(&format!("{first:<width$}{line}\n"));
            first = "";
        }
    }
    let shown = if is_short { Vec::new() } else { footnotes(comparison) };
    shown.iter().for_each(|note| text.push_str(&layout::wrapped(note, style.columns)));
    Some(text)
}

/// Leaves out details. A line that stood below one of them takes over its name.
fn without_details(lines: &mut Vec<Line>) {
    let mut name = "";
    lines.retain_mut(|line| {
        if !line.what.is_empty() {
            name = line.what;
        }
        if !line.is_detail {
            line.what = std::mem::take(&mut name);
        }
        !line.is_detail
    });
}

/// One line for successive figures in which the same policies tie. The table has the values.
fn with_ties_joined(lines: Vec<Line>) -> Vec<Line> {
    let mut joined: Vec<Line> = Vec::new();
    let mut run: Vec<Line> = Vec::new();
    let mut end = |run: &mut Vec<Line>| match run.last().and_then(|last| last.ties.clone()) {
        Some(Tie { text, .. }) if run.len() > 1 => {
            let figures: Vec<&str> = run.drain(..).map(|line| line.what).collect();
            joined.push(Line::new("ties", format!("{text} tie on {}", figures.join(" and on "))));
        }
        _ => joined.append(run),
    };
    for line in lines {
        if run.last().is_some_and(|last| last.ties.is_none() || last.ties != line.ties) {
            end(&mut run);
        }
        run.push(line);
    }
    end(&mut run);
    joined
}

type Show = fn(f64) -> String;

fn milliseconds(ns: f64) -> String {
    format!("{} ms", numbers::ms(ns))
}

fn erases(count: f64) -> String {
    numbers::count(count.round() as u64)
}

/// A comparison, about to be put into words.
struct Said<'a> {
    comparison: &'a Comparison,
    runs: &'a [Report],
    name: Name,
    /// Who comes next is left out, and of those that tie the first is named.
    is_short: bool,
}

impl Said<'_> {
    fn baseline(&self) -> &str {
        self.runs.first().map(label).unwrap_or_default()
    }

    fn winner(&self, winner: &Winner, show: Show) -> String {
        if let Some(code) = &winner.void {
            return format!("no winner can be named: {}", why_nobody(self.comparison, code));
        }
        if let Some(text) = self.most_tie(winner, show) {
            return text;
        }
        let name = |at: usize| (self.name)(&winner.labels[at]);
        let mut text = match winner.labels.len() {
            1 if winner.labels[0] == self.baseline() => {
                format!("{}, the baseline, is lowest: {}", name(0), show(winner.values[0]))
            }
            1 => format!("{} is lowest: {}", name(0), show(winner.values[0])),
            _ => format!("{} tie", self.tied(winner, show)),
        };
        if let Some(against) = winner.baseline.as_ref().filter(|base| !winner.labels.contains(&base.label)) {
            text.push_str(&format!(", {} {}", below(&against.versus), (self.name)(&against.label)));
        }
        if let Some(next) =
            winner.next.as_ref().filter(|next| next.label != self.baseline() && !self.is_short)
        {
            text.push_str(&self.next(next, winner));
        }
        text
    }

    /// Of figures in which all tie that one could build, or, in short, all but the baseline or some with it: what one of them has. One that
    /// the table shows to be lower than the baseline is named.
    fn most_tie(&self, winner: &Winner, show: Show) -> Option<String> {
        let buildable = self.runs.iter().filter(|run| !run.is_ideal()).count();
        let baseline = self.baseline();
        let has_baseline = winner.labels.iter().any(|one| one == baseline);
        match winner.labels.len() {
            ..2 => None,
            all if all == buildable && !self.is_short => {
                Some(format!("all tie: {}", self.tied(winner, show)))
            }
            all if all + 1 == buildable && self.is_short && !has_baseline => {
                let versus = below(&self.versus_baseline(&winner.labels[0], winner)?);
                let (name, baseline) = ((self.name)(&winner.labels[0]), (self.name)(baseline));
                let value = show(winner.values[0]);
                Some(format!("tie of all but {baseline}; lowest: {name}, {value}, {versus} {baseline}"))
            }
            _ if self.is_short && has_baseline => {
                let at = winner.labels.iter().position(|label| label == baseline)?;
                let (lowest, value) = (show(winner.values[0]), show(winner.values[at]));
                let (name, baseline) = ((self.name)(&winner.labels[0]), (self.name)(baseline));
                if lowest == value {
                    return Some(format!("no winner: nobody is clearly below {baseline} ({value})"));
                }
                let versus = below(&self.versus_baseline(&winner.labels[0], winner)?);
                let others = if show(winner.values[1]) == lowest { " and others" } else { "" };
                Some(format!(
                    "no winner; lowest: {name}{others}, {lowest}, {versus} {baseline} (may be chance)"
                ))
            }
            _ => None,
        }
    }

    /// Who takes no part in a figure, and why.
    fn left_out(&self, winner: &Winner) -> String {
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for of in &winner.unknown {
            let why = void_of(self.comparison, of).map_or("too few requests", in_words);
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, names)) => names.push((self.name)(of)),
                None => reasons.push((why, vec![(self.name)(of)])),
            }
        }
        let told: Vec<String> =
            reasons.iter().map(|(why, names)| format!("{} not ranked: {why}", names.join(", "))).collect();
        let all: Vec<&str> = reasons.iter().flat_map(|(_, names)| names).map(String::as_str).collect();
        match (told.is_empty(), self.is_short) {
            (true, _) => String::new(),
            // The warnings have the reasons.
            (false, true) => format!(" ({} not ranked)", all.join(", ")),
            (false, false) => format!(" ({})", told.join("; ")),
        }
    }

    /// The best of those that do not tie: how much it has, or how much more than the baseline where that is the lowest.
    fn next(&self, next: &Against, winner: &Winner) -> String {
        let of_baseline = self.versus_baseline(&next.label, winner);
        let name = (self.name)(&next.label);
        match of_baseline {
            Some(versus) if winner.labels[0] == self.baseline() => match times(&versus) {
                Some(times) => format!("; the next, {name}, has {times} times that"),
                None => format!("; the next, {name}, has {} more", size(&versus)),
            },
            _ => format!("; the next is {name}"),
        }
    }

    /// A figure of a variant held against the baseline's.
    fn versus_baseline(&self, of: &str, winner: &Winner) -> Option<Versus> {
        let winners = &self.comparison.winners;
        let variant = self.comparison.intervals.variants.iter().find(|variant| variant.label == of)?;
        let versus = variant.versus_baseline.as_ref()?;
        let is = |one: &Option<Winner>| one.as_ref().is_some_and(|one| std::ptr::eq(one, winner));
        match winners {
            winners if is(&winners.mean) => versus.mean,
            winners if is(&winners.p99) => versus.p99,
            winners if is(&winners.read_p99) => versus.read_p99,
            winners if is(&winners.read_p999) => versus.read_p999,
            _ => versus.erases,
        }
    }

    /// Who tie with the baseline; `None` where somebody is lowest.
    fn those_that_tie(&self, winner: &Winner) -> Option<Tie> {
        let baseline = self.baseline();
        let is_plain = winner.void.is_none() && winner.labels.iter().any(|label| label == baseline);
        (self.is_short && is_plain && winner.is_tie()).then(|| {
            let buildable = self.runs.iter().filter(|run| !run.is_ideal()).count();
            // Who is chosen is named, too, because the table shows another value.
            let chosen = self.comparison.winners.mean.as_ref().and_then(|mean| mean.labels.first());
            let chosen = chosen.filter(|one| *one != baseline && winner.labels.contains(one));
            let text = match (winner.labels.len(), chosen) {
                (all, _) if all == buildable => "all".to_owned(),
                (2, Some(one)) => format!("{} and {}", (self.name)(baseline), (self.name)(one)),
                (some, Some(one)) => {
                    format!("{}, {} and {} more", (self.name)(baseline), (self.name)(one), some - 2)
                }
                (some, None) => format!("{} and {} more", (self.name)(baseline), some - 1),
            };
            let mut labels = winner.labels.clone();
            labels.sort_unstable();
            Tie { labels, text }
        })
    }

    /// "a (1.2 ms), b (1.3 ms) and 2 more".
    fn tied(&self, winner: &Winner, show: Show) -> String {
        let Winner { labels, values, .. } = winner;
        let one = |(label, value): (&String, &f64)| format!("{} ({})", (self.name)(label), show(*value));
        let is_shown = |at: usize| at < if self.is_short { 1 } else { TIED_SHOWN };
        let all = labels.iter().zip(values).enumerate();
        let shown: Vec<String> = all.filter(|(at, _)| is_shown(*at)).map(|(_, tied)| one(tied)).collect();
        match (labels.len() - shown.len(), shown.split_last()) {
            (0, Some((last, others))) => format!("{} and {last}", others.join(", ")),
            (more, _) => format!("{} and {more} more", shown.join(", ")),
        }
    }

    /// Those that are lowest of some figure but erases, where the baseline is not.
    fn faster(&self) -> Vec<&str> {
        let winners = &self.comparison.winners;
        let mut faster: Vec<&str> = Vec::new();
        let figures = [&winners.mean, &winners.p99, &winners.read_p99, &winners.read_p999];
        for winner in figures.into_iter().flatten() {
            let gains = winner.baseline.as_ref().is_some_and(|base| !winner.labels.contains(&base.label));
            if let Some(best) = winner.labels.first().filter(|best| gains && !faster.contains(&best.as_str()))
            {
                faster.push(best);
            }
        }
        faster
    }

    /// What each that is faster than the baseline on some figure costs in erases and write amplification.
    fn prices(&self) -> Vec<Line> {
        let mut what = "price";
        let lines = self.faster().into_iter().filter_map(|of| self.price(of));
        lines.map(|text| Line::detail(std::mem::take(&mut what), text)).collect()
    }

    /// What the policies that are faster need of the SSDs, and what is best for SSDs that need reveal nothing.
    fn needs(&self) -> Vec<Line> {
        let mut rungs: Vec<(&str, Vec<String>)> = Vec::new();
        for of in self.faster() {
            let Some(run) = self.runs.iter().find(|run| label(run) == of) else { continue };
            match rungs.iter_mut().find(|(rung, _)| *rung == needs(run)) {
                Some((_, names)) => names.push((self.name)(of)),
                None => rungs.push((needs(run), vec![(self.name)(of)])),
            }
        }
        let lines = rungs.iter().filter_map(|(rung, names)| {
            let what = required(rung)?;
            let need = if names.len() == 1 { "needs" } else { "need" };
            Some(format!("{} {need} SSDs that {what}", names.join(", ")))
        });
        let mut lines: Vec<Line> = lines.map(|text| Line::detail("", text)).collect();
        let any = (!lines.is_empty()).then(|| self.for_any_ssd()).flatten();
        lines.extend(any.map(|text| Line::detail("", text)));
        if let Some(first) = lines.first_mut() {
            first.what = "needs";
        }
        lines
    }

    /// The lowest mean among policies for which any SSD will do, if one is clearly below the baseline.
    fn for_any_ssd(&self) -> Option<String> {
        if self.runs.first().is_none_or(|run| required(needs(run)).is_some()) {
            return None;
        }
        let is_for_any = |run: &Report| !run.is_ideal() && required(needs(run)).is_none();
        let variants = self.runs.iter().zip(&self.comparison.intervals.variants).skip(1);
        let clear = variants.filter_map(|(run, variant)| {
            let versus = variant.versus_baseline.as_ref()?.mean?;
            let is_faster = versus.is_clear() && versus.difference.mean < 0.0;
            (is_faster && is_for_any(run)).then_some((run, versus))
        });
        let best = clear.min_by(|(_, a), (_, b)| a.difference.mean.total_cmp(&b.difference.mean));
        Some(match best {
            Some((run, versus)) => format!(
                "any drive will do for {}: mean {} {}",
                (self.name)(label(run)),
                below(&versus),
                (self.name)(self.baseline())
            ),
            None if !self.runs[1..].iter().any(is_for_any) => {
                format!("all but {} need special drives", (self.name)(self.baseline()))
            }
            None => "with ordinary drives, nothing compared is measurably faster".to_owned(),
        })
    }

    fn price(&self, of: &str) -> Option<String> {
        let at = self.runs.iter().position(|run| label(run) == of)?;
        let versus = self.comparison.intervals.variants.get(at)?.versus_baseline.as_ref()?;
        let baseline = (self.name)(self.baseline());
        let erases = match versus.erases {
            Some(versus) if !versus.is_clear() => {
                format!("no measurable difference in erases from {baseline}")
            }
            Some(versus) if versus.difference.mean > 0.0 => match times(&versus) {
                Some(times) => format!("{times} times the erases of {baseline}"),
                None => format!("{} more erases than {baseline}", size(&versus)),
            },
            Some(versus) => format!("{} fewer erases than {baseline}", size(&versus)),
            None => return None,
        };
        let cycles = |run: &Report| run.array.write_amplification_whole_cycles;
        let amplification = cycles(&self.runs[at]).zip(cycles(&self.runs[0])).map(|(ours, theirs)| {
            format!(", write amplification {ours:.2} ({} {theirs:.2})", self.baseline())
        });
        Some(format!("{}: {erases}{}", (self.name)(of), amplification.unwrap_or_default()))
    }
}

/// What a rung of `array.interface` asks of the SSDs; `None` where any SSD will do.
pub(crate) fn required(rung: &str) -> Option<&'static str> {
    match rung {
        "log" => Some("report how many blocks are free"),
        "window" => Some("collect in windows (NVMe predictable latency mode)"),
        "busy" => Some("refuse at once what would wait for collection"),
        "command" => Some("collect when told and tell when they collect"),
        _ => None,
    }
}

/// What is left with drives that only take reads and writes, as a sentence; none where the faster policies need no others.
pub(crate) fn with_any_drive(comparison: &Comparison, runs: &[Report], name: Name) -> Option<String> {
    let said = Said { comparison, runs, name, is_short: true };
    let needs_more = |of: &str| runs.iter().any(|run| label(run) == of && required(needs(run)).is_some());
    let text = said.faster().into_iter().any(needs_more).then(|| said.for_any_ssd())??;
    Some(capital(&text) + ".")
}

/// The code of the warning for which a variant can win nothing.
fn void_of<'a>(comparison: &'a Comparison, of: &str) -> Option<&'a str> {
    let codes = comparison.warnings.iter().filter(|warning| warning.labels.iter().any(|label| label == of));
    codes.map(|warning| warning.code.as_str()).find(|code| judgement::voids(code))
}

/// Why no winner is named, with the number that it rests on.
pub fn why_nobody(comparison: &Comparison, code: &str) -> String {
    let runs = comparison.runs.iter().filter(|run| void_of(comparison, label(run)) == Some(code));
    let least = runs.filter_map(|run| Some((judgement::events(run)?, run)));
    match least.min_by(|(one, _), (other, _)| one.total_cmp(other)) {
        Some((events, run)) if code == judgement::FEW_COLLECTIONS => format!(
            "too few collections ({events:.1} an SSD under {}, {:.0} needed)",
            label(run),
            judgement::EVENTS_MIN
        ),
        _ => in_words(code).to_owned(),
    }
}

/// Why no winner is named, in a few words; the warning says more.
pub fn in_words(code: &str) -> &str {
    use harmonia_metrics::judgement::{
        ALL_AT_ONCE, FEW_COLLECTIONS, FEW_REQUESTS, NOT_SETTLED, OVERLOAD, SHORT_WINDOW,
    };
    match code {
        OVERLOAD => "the array does not keep up with the load",
        FEW_REQUESTS => "too few requests",
        FEW_COLLECTIONS => "too few collections",
        SHORT_WINDOW => "the run is shorter than the time between collections",
        NOT_SETTLED => "the array was not settled",
        ALL_AT_ONCE => "all requests arrive at once",
        code => code,
    }
}

/// "49.9% ±3.6 below".
fn below(versus: &Versus) -> String {
    let word = if versus.difference.mean <= 0.0 { "below" } else { "above" };
    format!("{} {word}", size(versus))
}

/// How many times as large a figure is, where that is the plainer word.
fn times(versus: &Versus) -> Option<String> {
    let relative = versus.relative.filter(|relative| relative.mean >= 1.0)?;
    let text = format!("{:.1}", 1.0 + relative.mean);
    let behind = relative.half_width.map(|half| format!(" {}", numbers::plus_minus(half, &text)));
    Some(text + &behind.unwrap_or_default())
}

/// The size of a change, without its direction: "49.9% ±3.6".
pub(crate) fn size(versus: &Versus) -> String {
    let Some(relative) = versus.relative else { return numbers::count(versus.difference.mean.abs() as u64) };
    match relative.mean {
        mean if mean <= -0.9995 => ">99.9%".to_owned(),
        mean => {
            let text = format!("{:.1}%", mean.abs() * 100.0);
            let half_width = relative.half_width.filter(|half| *half < 100.0);
            let behind = half_width.map(|half| format!(" {}", numbers::plus_minus(half * 100.0, &text)));
            text + &behind.unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{four_runs, run};

    /// Whoever ties, it has one form.
    #[test]
    fn successive_figures_have_one_line_if_the_same_policies_tie() {
        let line = |what: &'static str, labels: &[&str]| {
            let text = format!("local and {} more", labels.len() - 1);
            let labels = labels.iter().map(|label| (*label).to_owned()).collect();
            Line { ties: Some(Tie { labels, text }), ..Line::new(what, format!("of {what}")) }
        };
        let said = |lines: Vec<Line>| -> Vec<String> {
            with_ties_joined(lines).iter().map(|line| format!("{}: {}", line.what, line.text)).collect()
        };
        let (ab, ac) = (["a", "b", "local"], ["a", "c", "local"]);
        let three = || vec![line("mean", &ab), line("p99", &ab), Line::new("erases", "few".to_owned())];
        assert_eq!(said(three()), ["ties: local and 2 more tie on mean and on p99", "erases: few"]);
        assert_eq!(
            said(vec![line("mean", &ab), line("p99", &ac)]),
            ["mean: of mean", "p99: of p99"],
            "others"
        );
        let apart = vec![line("mean", &ab), Line::new("p99", "one".to_owned()), line("p99 of reads", &ab)];
        assert_eq!(said(apart), ["mean: of mean", "p99: one", "p99 of reads: of p99 of reads"]);
    }

    #[test]
    fn a_tie_is_said_in_one_form() {
        let said = |labels: &[&str], is_short: bool| {
            let runs = four_runs();
            let mut comparison = Comparison::new(runs.clone(), 1);
            let winner = comparison.winners.mean.as_mut().expect("a choice");
            winner.labels = labels.iter().map(|&label| label.into()).collect();
            winner.values = labels.iter().zip(1..).map(|(_, ms)| f64::from(ms) * 1e6).collect();
            winner.next = None;
            told(&Said { comparison: &comparison, runs: &runs, name: str::to_owned, is_short }).remove(0).text
        };
        let [local, all, some] = ["local", "reactive-inclusive", "reactive-selective"];
        assert_eq!(said(&[local, all, some], true), "no winner: nobody is clearly below local (1.000 ms)");
        assert!(
            said(&[all, some, local], true).starts_with("no winner; lowest: reactive-inclusive, 1.000 ms, ")
        );
        let each =
            "all tie: local (1.000 ms), reactive-inclusive (2.000 ms) and reactive-selective (3.000 ms)";
        assert_eq!(said(&[local, all, some], false), each);
        let but = "tie of all but local; lowest: reactive-inclusive, 1.000 ms, 68.0% \u{b1}0.3 below local";
        assert_eq!(said(&[all, some], true), but);
        assert_eq!(said(&[local, some], true), "no winner: nobody is clearly below local (1.000 ms)");
        let lower = "no winner; lowest: reactive-selective, 1.000 ms, ";
        let said_of_lower = said(&[some, local], true);
        assert!(
            said_of_lower.starts_with(lower),
            "the table shows one that is lower, so it is named: {said_of_lower}"
        );
        assert!(
            said(&[all, some], false)
                .starts_with("reactive-inclusive (1.000 ms) and reactive-selective (2.000 ms) tie, ")
        );
    }

    #[test]
    fn what_is_left_with_ordinary_drives_is_said_of_those_that_were_compared() {
        let said = |others: &[(&str, &str, u64)]| {
            let mut runs = vec![run("local", "blocking", 4_000, 12_000, &[1.0])];
            runs[0].array.coordination.interface = "nothing".into();
            runs.extend(others.iter().map(|&(label, interface, gc_us)| {
                let mut other = run(label, "blocking", gc_us, 12_000, &[1.0]);
                other.array.coordination.interface = interface.into();
                other
            }));
            with_any_drive(&Comparison::new(runs.clone(), 1), &runs, str::to_owned).expect("a sentence")
        };
        let commands = ("gcsync", "command", 1_000);
        assert_eq!(said(&[commands]), "All but local need special drives.");
        let nothing = "With ordinary drives, nothing compared is measurably faster.";
        assert_eq!(said(&[commands, ("hedge", "nothing", 4_000)]), nothing);
        assert!(
            said(&[commands, ("hedge", "nothing", 2_000)]).starts_with("Any drive will do for hedge: mean ")
        );
    }
}
