//! What the runs show, in plain words: rules from the numbers of the report, and nothing else.
//!
//! ```text
//!   loads --> parts --> pair: who is held against whom --> headline, lead, why, titles
//!                          \-- asks verdicts: who wins, who ties, who keeps up
//! ```
//!
//! Runs are compared within one load only. The first run of a load is the baseline, *best* the run with the lowest mean
//! among those one could build (garbage collection that takes no time is a bound). No file here judges for itself
//! whether a difference is one: [`verdicts`] says it, so that the page cannot contradict the tables. Cautions say what a
//! reader must know before believing any of it.

mod cautions;
mod headline;
mod lead;
mod several;
mod titles;
mod why;

use harmonia_metrics::{Comparison, Report};
use harmonia_tables::choice::{
    ALIKE, ALIKE_TAIL, Pair, advice, alike, change, collected, mean_ns, more_than, p99, p999, percent,
    remarks, verdicts,
};
use harmonia_tables::loads::Part;
use harmonia_tables::{self as tables, capital, label, numbers};

use super::html::named;

/// All that is said on the page.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Words {
    /// The finding in a line.
    pub headline: String,
    /// What to know before believing it.
    pub cautions: Vec<String>,
    /// The sentences of the terminal: what collection costs, what to do, what that gains and needs.
    pub lead: Vec<String>,
    /// The finding with its interval, what was run, how the difference comes about and what it costs.
    pub why: Vec<String>,
    /// What the charts show.
    pub titles: Titles,
    /// The runs that headline and titles speak of, by their positions.
    pub spoken_of: Vec<usize>,
}

/// A finding for each chart, or its plain name where there is none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Titles {
    pub responses: String,
    pub overlap: String,
    pub blame: String,
    pub wear: String,
}

impl Default for Titles {
    fn default() -> Self {
        Titles {
            responses: "Distribution of response times".to_owned(),
            overlap: "How many SSDs collect at once".to_owned(),
            blame: "Where the response time goes".to_owned(),
            wear: "Erased blocks of each SSD".to_owned(),
        }
    }
}

/// What to say of these runs, load by load.
pub(super) fn of(comparison: &Comparison, runs: &[Report], parts: &[Part<'_>]) -> Words {
    let cautions = cautions::cautions(comparison, runs);
    let said = match parts {
        [only] => of_one(only),
        several => several::of(several),
    };
    match said {
        Some(words) => {
            let cost = tables::cost(comparison, runs, named);
            Words { cautions, lead: cost.into_iter().chain(words.lead).collect(), ..words }
        }
        None => Words {
            headline: "No request completed".to_owned(),
            lead: vec!["There is nothing to say: no request completed in the measured part.".to_owned()],
            ..Words::default()
        },
    }
}

/// One load; none if no request completed.
fn of_one(part: &Part<'_>) -> Option<Words> {
    let pair = Pair::of(part)?;
    if let Some(code) = verdicts::void(part) {
        return Some(of_nobody(&pair, code));
    }
    // The sentences of the terminal, and below the table what they leave out.
    let advice = advice(&pair, named);
    let is_advised = advice.is_some();
    let finding = lead::sentences(&pair);
    let (above, below) = if is_advised { (Vec::new(), finding) } else { (finding, Vec::new()) };
    Some(Words {
        headline: headline::headline(&pair),
        cautions: Vec::new(),
        lead: advice.into_iter().chain(remarks(&pair, named)).chain(above).collect(),
        why: below.into_iter().chain(why::paragraph(&pair, is_advised)).collect(),
        titles: titles::titles(&pair),
        spoken_of: pair.spoken_of(),
    })
}

/// A load whose figures name nobody: what was run, and nothing about who is better.
fn of_nobody(pair: &Pair<'_>, code: &str) -> Words {
    Words {
        headline: format!("No choice can be named: {}", tables::why_nobody(&pair.part.comparison, code)),
        lead: vec!["The figures below stand as measured. They do not rank the choices.".to_owned()],
        spoken_of: pair.spoken_of(),
        ..Words::default()
    }
}

fn name(run: &Report) -> String {
    named(label(run))
}

/// Share of the response time that was waiting behind garbage collection.
fn gc_share(run: &Report) -> f64 {
    match run.host.blame_ns.total() {
        0 => 0.0,
        total => run.host.blame_ns.queue_gc as f64 / total as f64,
    }
}

/// Share of the requests that waited for garbage collection.
fn gc_affected(run: &Report) -> f64 {
    let response = &run.host.response_ns;
    let waited = response.gc_affected_read.count + response.gc_affected_write.count;
    if run.host.requests == 0 { 0.0 } else { waited as f64 / run.host.requests as f64 }
}

/// Share of time with at least one member collecting.
fn any_collecting(run: &Report) -> f64 {
    1.0 - run.array.devices_in_gc_fraction.first().copied().unwrap_or(1.0)
}

fn ms(ns: f64) -> String {
    format!("{} ms", numbers::ms(ns))
}

/// "a", "a and b", "a, b and c", "a, b and 3 more".
pub(super) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 3;
    match names {
        [] => String::new(),
        [only] => only.clone(),
        few if few.len() <= SHOWN => {
            let (last, others) = (&few[few.len() - 1], &few[..few.len() - 1]);
            format!("{} and {last}", others.join(", "))
        }
        many => format!("{} and {} more", many[..SHOWN - 1].join(", "), many.len() - (SHOWN - 1)),
    }
}
