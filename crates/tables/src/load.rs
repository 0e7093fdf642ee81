//! What became of the load on its way to the array: rows of a trace that were not read as they stand, requests that were
//! changed to fit, pages that had to be read because a write covers them in part. Nothing is said of what is not there.

use harmonia_metrics::{EventReport, EventsReport, Noted, Report, TraceReport};
use harmonia_types::text::one_line;

use crate::numbers::{self, bytes, count};
use crate::{Style, label, layout};

/// A paragraph a note; `None` without any.
pub(crate) fn section(runs: &[Report], style: Style) -> Option<String> {
    let notes = notes(runs);
    let text: String = notes.iter().map(|note| layout::wrapped(note, style.columns)).collect();
    (!notes.is_empty()).then_some(text)
}

/// All there is to say, a sentence each.
pub fn notes(runs: &[Report]) -> Vec<String> {
    let mut notes = traces(runs);
    notes.extend(partial_pages(runs));
    notes
}

/// One sentence if the trace was treated alike in all runs, otherwise one for each.
fn traces(runs: &[Report]) -> Vec<String> {
    let alike = runs.iter().all(|run| run.trace == runs[0].trace);
    let told = if alike { &runs[..runs.len().min(1)] } else { runs };
    let of = |run: &Report| if alike { String::new() } else { format!(" under {}", label(run)) };
    let touched = told.iter().filter_map(|run| Some((run, run.trace.as_ref()?)));
    touched
        .filter(|(_, trace)| !trace.is_untouched())
        .map(|(run, trace)| format!("Trace {}{}: {}.", file(trace), of(run), treatment(trace)))
        .collect()
}

/// What makes the requests of a trace another load than the one recorded, in a few words; empty if nothing does.
pub(crate) fn changes(trace: &TraceReport, is_scaled: bool) -> String {
    let rows = trace.rows as f64;
    let share = |requests: u64, what: &str| {
        let share = requests as f64 / (rows + if what == "lost" { requests as f64 } else { 0.0 });
        (requests > 0).then(|| format!("{} {what}", numbers::percent(share)))
    };
    let faster = |scale: f64| match scale {
        scale if scale < 1.0 => format!("{} times as fast as recorded", significant(1.0 / scale)),
        scale => format!("{} times as slow as recorded", significant(scale)),
    };
    let parts = [
        if is_scaled {
            Some("scaled to the array".to_owned())
        } else {
            share(trace.moved, "moved to fit the array")
        },
        share(trace.cut, "cut short"),
        share(trace.lost + trace.bad, "lost"),
        trace.time_scale.map(faster),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A factor with three digits at most.
fn significant(factor: f64) -> String {
    let digits = (2.0 - factor.log10().floor()).max(0.0) as usize;
    let text = format!("{factor:.digits$}");
    if digits > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The file, or the first and how many more.
fn file(trace: &TraceReport) -> String {
    match trace.files.as_slice() {
        [] => trace.format.clone(),
        [only] => one_line(only).into_owned(),
        [first, rest @ ..] => format!("{} and {} more", one_line(first), rest.len()),
    }
}

fn treatment(trace: &TraceReport) -> String {
    let TraceReport { skipped, repaired, bad, bad_examples, moved, cut, widened, .. } = trace;
    let mut parts = Vec::new();
    parts.extend(trace.time_scale.map(|scale| format!("times multiplied by {scale}")));
    parts.extend(trace.events.as_ref().map(event));
    let sum = |list: &[Noted]| list.iter().map(|noted| noted.rows).sum::<u64>();
    if !skipped.is_empty() {
        parts.push(format!("{} passed over ({})", counted(sum(skipped), "row"), reasons(skipped)));
    }
    if !repaired.is_empty() {
        parts.push(format!("{} mended ({})", counted(sum(repaired), "row"), reasons(repaired)));
    }
    if *bad > 0 {
        let first = bad_examples.first().map(|first| format!(", the first at {first}")).unwrap_or_default();
        parts.push(format!("{} tolerated{first}", counted(*bad, "malformed row")));
    }
    if *moved > 0 {
        parts.push(format!("{} moved to fit the array", counted(*moved, "request")));
    }
    if *cut > 0 {
        parts.push(format!("{} cut short at its end", counted(*cut, "request")));
    }
    if *widened > 0 {
        parts.push(format!("{} widened to whole pages", counted(*widened, "request")));
    }
    parts.join("; ")
}

/// Which event was read, and what the others have.
fn event(events: &EventsReport) -> String {
    let has =
        |event: &EventReport| format!("{} of {}", counted(event.requests, "request"), bytes(event.bytes));
    let (read, others): (Vec<_>, Vec<_>) = events.all.iter().partition(|event| event.event == events.read);
    let read = read.first().map(|read| format!(", which has {}", has(read))).unwrap_or_default();
    let others: Vec<String> =
        others.iter().map(|other| format!("{} has {}", other.event, has(other))).collect();
    let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
    format!("read by event {}{read}{others}", events.read)
}

/// Why, and how often where there is more than one reason.
fn reasons(list: &[Noted]) -> String {
    match list {
        [only] => only.reason.to_string(),
        several => {
            let told = several.iter().map(|noted| format!("{} {}", count(noted.rows), noted.reason));
            told.collect::<Vec<_>>().join(", ")
        }
    }
}

pub(crate) fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// What writes of parts of pages cost.
fn partial_pages(runs: &[Report]) -> Option<String> {
    let reads = |run: &Report| run.array.read_modify_write_reads;
    let first = runs.first().map(reads)?;
    if runs.iter().all(|run| reads(run) == first) {
        return (first > 0).then(|| {
            format!(
                "Writes that cover a page in part cost {} before their programs.",
                counted(first, "page read")
            )
        });
    }
    let each = runs.iter().map(|run| format!("{} under {}", count(reads(run)), label(run)));
    Some(format!(
        "Writes that cover a page in part cost page reads before their programs: {}.",
        each.collect::<Vec<_>>().join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::run;

    fn noted(reason: &str, rows: u64) -> Noted {
        Noted { reason: reason.to_owned().into(), rows }
    }

    fn plain() -> Report {
        let trace = TraceReport { files: vec!["web.csv".to_owned()], rows: 10, ..TraceReport::default() };
        Report { trace: Some(trace), ..run("local", "blocking", 0, 0, &[1.0]) }
    }

    #[test]
    fn nothing_is_said_of_a_trace_read_as_it_stands() {
        assert_eq!(notes(&[plain(), plain()]), Vec::<String>::new());
        assert_eq!(notes(&[]), Vec::<String>::new());
    }

    #[test]
    fn all_that_was_done_stands_in_one_sentence() {
        let mut all = plain();
        all.trace = Some(TraceReport {
            files: vec!["web.csv".to_owned(), "web2.csv".to_owned()],
            rows: 1_000,
            skipped: vec![
                noted("of another volume than the one asked for", 4_000),
                noted("not a request", 1),
            ],
            repaired: vec![noted("out of order, sorted by time", 3)],
            bad: 1,
            bad_examples: vec!["web.csv:7: found `x`".to_owned()],
            moved: 5,
            cut: 1,
            widened: 7,
            ..TraceReport::default()
        });
        all.array.read_modify_write_reads = 1;
        let said = [
            "Trace web.csv and 1 more: 4,001 rows passed over (4,000 of another volume than the one asked for, 1 not a \
             request); 3 rows mended (out of order, sorted by time); 1 malformed row tolerated, the first at \
             web.csv:7: found `x`; 5 requests moved to fit the array; 1 request cut short at its end; 7 requests \
             widened to whole pages.",
            "Writes that cover a page in part cost 1 page read before their programs.",
        ];
        assert_eq!(notes(&[all.clone(), all]), said);
    }

    #[test]
    fn what_makes_it_another_load_is_said_in_a_few_words() {
        let trace = TraceReport { rows: 900, lost: 100, moved: 504, ..TraceReport::default() };
        assert_eq!(changes(&trace, true), "scaled to the array, 10.0% lost");
        assert_eq!(changes(&trace, false), "56.0% moved to fit the array, 10.0% lost");
        let scaled = |scale| {
            changes(&TraceReport { rows: 1, time_scale: Some(scale), ..TraceReport::default() }, false)
        };
        assert_eq!(scaled(0.005), "200 times as fast as recorded");
        assert_eq!(scaled(0.03), "33.3 times as fast as recorded");
        assert_eq!(scaled(2.5), "2.5 times as slow as recorded");
        assert_eq!(changes(&TraceReport { rows: 9, ..TraceReport::default() }, false), "");
    }

    #[test]
    fn the_event_that_was_read_and_a_scale_of_times_are_told() {
        let event = |event: &str, requests, bytes| EventReport { event: event.to_owned(), requests, bytes };
        let mut run = plain();
        let trace = run.trace.as_mut().expect("replayed");
        trace.time_scale = Some(0.005);
        let all = vec![event("Q (queued)", 15_524, 63_586_304), event("D (issued)", 1, 4096)];
        trace.events = Some(EventsReport { read: "Q (queued)".to_owned(), asked: false, share: 1.0, all });
        let said = "Trace web.csv: times multiplied by 0.005; read by event Q (queued), which has 15,524 requests of \
                    60.6 MiB (D (issued) has 1 request of 4.00 KiB).";
        assert_eq!(notes(&[run]), [said]);
    }

    #[test]
    fn runs_that_differ_are_told_apart() {
        let mut other = Report { label: "scaled".to_owned(), ..plain() };
        if let Some(trace) = &mut other.trace {
            trace.moved = 2;
        }
        other.array.read_modify_write_reads = 9;
        let said = [
            "Trace web.csv under scaled: 2 requests moved to fit the array.",
            "Writes that cover a page in part cost page reads before their programs: 0 under local, 9 under scaled.",
        ];
        assert_eq!(notes(&[plain(), other]), said);
    }
}
