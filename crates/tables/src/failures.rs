//! What befell SSDs, and what requests felt of it: response times by the state of the array when they arrived. Nothing is
//! said of runs in which nothing may befall any.

use harmonia_metrics::{
    BackgroundReport, DistributionSummary, FailureEvent, FailuresReport, Happening, PhaseResponse, Report,
};

use crate::numbers::{self, or_none};
use crate::{Cell, Style, Table, label, layout, titled};

/// The title of the table.
pub const TITLE: &str =
    "While SSDs fail: response time in ms by the state of the array when requests arrived";
/// Its columns.
pub const HEADINGS: [&str; 8] = ["run", "time", "reads", "mean", "p99", "writes", "mean", "p99"];
/// What they mean.
pub const LEGEND: &str = "Whole: nothing is missing. Copying: likewise, and one is copied to a spare. Degraded: one is missing, and none is rebuilt. Rebuilding: one \
                                 is being rebuilt. Time: of the measured part of the run.";

/// The table, and what befell SSDs of each run; `None` where nothing may.
pub(crate) fn section(runs: &[Report], style: Style) -> Option<String> {
    let rows = rows(runs);
    if rows.is_empty() {
        return None;
    }
    let mut table = Table::new(HEADINGS);
    rows.into_iter().for_each(|row| table.push(row.into_iter().map(Cell::from).collect()));
    let said = sentences(runs).into_iter().map(|sentence| layout::wrapped(&sentence, style.columns));
    let said: String = said.collect();
    Some(titled(TITLE, &table, style) + &layout::wrapped(LEGEND, style.columns) + &said)
}

/// For the first screen: what befell SSDs of the first run, and what its reads felt of it.
pub(crate) fn short(runs: &[Report], style: Style) -> Option<String> {
    let first = runs.first()?;
    let failures = first.array.failures.as_ref()?;
    let state = |(name, phase): &(&str, &PhaseResponse)| {
        Some(format!("{} ms while {name}", numbers::ms(phase.read.mean?)))
    };
    let states: Vec<String> = failures.response_ns.all().iter().filter_map(state).collect();
    let reads = (!states.is_empty()).then(|| format!("reads took {} on average", states.join(", ")));
    let told: Vec<String> = std::iter::once(events(failures)?).chain(reads).collect();
    Some(layout::wrapped(&format!("{}: {}.", label(first), told.join("; ")), style.columns))
}

/// A row for each run and state that its array was in.
pub fn rows(runs: &[Report]) -> Vec<[String; 8]> {
    let of = |run: &Report| -> Vec<[String; 8]> {
        let responses = run.array.failures.as_ref().map(|failures| failures.response_ns.all());
        let states = responses.into_iter().flatten();
        let was_in = |(_, phase): &(_, &PhaseResponse)| {
            phase.seconds > 0.0 || phase.read.count + phase.write.count > 0
        };
        states.filter(was_in).map(|(name, phase)| row(run, name, phase)).collect()
    };
    runs.iter().flat_map(of).collect()
}

fn row(run: &Report, name: &str, phase: &PhaseResponse) -> [String; 8] {
    let count = |of: &DistributionSummary| numbers::count(of.count);
    let mean = |of: &DistributionSummary| or_none(of.mean, numbers::ms);
    let p99 = |of: &DistributionSummary| or_none(of.p99, |ns| numbers::ms(ns as f64));
    let PhaseResponse { seconds, read, write } = phase;
    [
        format!("{}, {name}", label(run)),
        seconds_shown(*seconds),
        count(read),
        mean(read),
        p99(read),
        count(write),
        mean(write),
        p99(write),
    ]
}

/// What befell SSDs, and what the array did about it; one paragraph a run.
pub fn sentences(runs: &[Report]) -> Vec<String> {
    let of = |run: &Report| {
        let failures = run.array.failures.as_ref()?;
        let told = [events(failures), work(failures), around(failures)];
        let told: Vec<String> = told.into_iter().flatten().collect();
        (!told.is_empty()).then(|| format!("{}: {}.", label(run), told.join(". ")))
    };
    runs.iter().filter_map(of).collect()
}

fn seconds_shown(seconds: f64) -> String {
    numbers::duration((seconds * 1e9).round() as u64)
}

fn events(failures: &FailuresReport) -> Option<String> {
    let of = |event: &FailureEvent| {
        let (ssd, at) = (event.device.unwrap_or_default(), format!("{:.3} s", event.at_s));
        match event.what {
            Happening::Failed => format!("SSD {ssd} failed at {at}"),
            Happening::ReadOnly => format!("SSD {ssd} was worn out and refused a write at {at}"),
            Happening::Slow { factor } if factor > 1.0 => {
                format!("SSD {ssd} took {factor} times as long from {at} on")
            }
            Happening::Slow { .. } => format!("SSD {ssd} was as fast as before from {at} on"),
            Happening::Replaced { by } => format!("spare {by} took the place of SSD {ssd} at {at}"),
            Happening::StoodIn { spare } => {
                format!("distributed spare {spare} took the place of SSD {ssd} at {at}")
            }
            Happening::Distributed => {
                format!("its contents began to be rebuilt on the other SSDs at {at}")
            }
            Happening::Incomplete { bytes } => {
                format!("{} of SSD {ssd} could not be rebuilt there ({at})", numbers::bytes(bytes))
            }
            Happening::Copying { to } => format!("SSD {ssd} was copied to spare {to} from {at} on"),
            Happening::Rebuilt => format!("it was rebuilt by {at}"),
            Happening::PowerLost { requests } => {
                format!(
                    "power was lost at {at}, and {} requests were submitted again",
                    numbers::count(requests)
                )
            }
            Happening::Resynced => format!("the array was resynced by {at}"),
            Happening::Refused => format!("the array did not start again at {at}"),
        }
    };
    let told: Vec<String> = failures.events.iter().map(of).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// What the array's own work did.
fn work(failures: &FailuresReport) -> Option<String> {
    let is_elsewhere = failures.events.iter().any(|event| event.what == Happening::Distributed);
    let of = if is_elsewhere { "contents" } else { "spare" };
    let rebuilt = failures.rebuild.map(|rebuild| {
        let share = match rebuild.share {
            share if share < 1.0 => format!(", {} of the {of}", numbers::percent(share)),
            _ => String::new(),
        };
        format!("{} were rebuilt{share}, {}", numbers::bytes(rebuild.work.bytes), pace(&rebuild.work))
    });
    let copied = failures.copy.map(|copy| {
        let share = match copy.share {
            share if share < 1.0 => format!(", {} of the SSD", numbers::percent(share)),
            _ => String::new(),
        };
        format!("{} were copied{share}, {}", numbers::bytes(copy.work.bytes), pace(&copy.work))
    });
    let resynced = failures.resync.map(|resync| {
        let share = match resync.share {
            share if share < 1.0 => format!(", {} of the last time", numbers::percent(share)),
            _ => String::new(),
        };
        let (bytes, rows) = (numbers::bytes(resync.work.bytes), numbers::count(resync.rows_written));
        format!(
            "{bytes} of each SSD were resynced{share}, {}, and {rows} rows written anew",
            pace(&resync.work)
        )
    });
    let scrubbed = failures
        .scrub
        .map(|scrub| format!("{} of SSDs were scrubbed, {}", numbers::bytes(scrub.bytes), pace(&scrub)));
    let told: Vec<String> = copied.into_iter().chain(rebuilt).chain(resynced).chain(scrubbed).collect();
    (!told.is_empty()).then(|| told.join(". "))
}

fn pace(work: &BackgroundReport) -> String {
    let rate = or_none(work.rate, |rate| format!("{}/s", numbers::bytes(rate as u64)));
    format!("in {} ({rate})", seconds_shown(work.seconds))
}

/// Reads without the SSD that holds what they ask for.
fn around(failures: &FailuresReport) -> Option<String> {
    let FailuresReport { unreadable_pages, rewritten_pages, rebuilt_pages, extra_pages, .. } = failures;
    let unreadable = (*unreadable_pages > 0).then(|| {
        format!(
            "{} pages could not be read by the SSD that holds them, and {} were written anew",
            numbers::count(*unreadable_pages),
            numbers::count(*rewritten_pages)
        )
    });
    let rebuilt = (*rebuilt_pages > 0).then(|| {
        format!(
            "{} pages were answered without the SSD that holds them, for which {} pages of others were read",
            numbers::count(*rebuilt_pages),
            numbers::count(*extra_pages)
        )
    });
    let told: Vec<String> = unreadable.into_iter().chain(rebuilt).collect();
    (!told.is_empty()).then(|| told.join(". "))
}

#[cfg(test)]
mod tests {
    use harmonia_metrics::{LossReport, PhaseResponses, RebuildReport};

    use super::*;
    use crate::Color;
    use crate::fixtures::run;

    /// A run of which SSD 2 failed; half of the spare was rebuilt.
    fn failing() -> Report {
        let of = |count: u64, ms: f64| DistributionSummary {
            count,
            mean: Some(ms * 1e6),
            p99: (count > 1_000).then_some((ms * 3e6) as u64),
            ..DistributionSummary::default()
        };
        let phase = |seconds, count, ms| PhaseResponse {
            seconds,
            read: of(count, ms),
            write: of(2 * count, 2.0 * ms),
        };
        let event = |at_s, what| FailureEvent { at_s, device: Some(2), what };
        let mut run = run("local", "blocking", 40_000, 12_000, &[1.0]);
        run.array.failures = Some(FailuresReport {
            events: vec![event(10.0, Happening::Failed), event(12.0, Happening::Replaced { by: 8 })],
            degraded_s: 10.0,
            response_ns: PhaseResponses {
                whole: phase(10.0, 5_000, 1.0),
                copying: PhaseResponse::default(),
                degraded: phase(2.0, 900, 2.0),
                rebuilding: phase(8.0, 4_000, 4.0),
            },
            rebuild: Some(RebuildReport { share: 0.5, work: BackgroundReport::new(8 << 20, 8_000_000_000) }),
            rebuilt_pages: 1_000,
            extra_pages: 7_000,
            lost: LossReport::default(),
            ..FailuresReport::default()
        });
        run
    }

    /// Nothing took its place, and a tenth could not be rebuilt.
    #[test]
    fn what_was_rebuilt_on_other_ssds_is_said() {
        let mut run = failing();
        let failures = run.array.failures.as_mut().expect("SSD 2 failed");
        let event = |at_s, what| FailureEvent { at_s, device: Some(2), what };
        failures.events = vec![
            event(10.0, Happening::Failed),
            event(12.0, Happening::Distributed),
            event(14.0, Happening::Incomplete { bytes: 1 << 20 }),
        ];
        let said = sentences(&[run]);
        let start = "local: SSD 2 failed at 10.000 s, its contents began to be rebuilt on the other SSDs at 12.000 s, 1.00 MiB \
                     of SSD 2 could not be rebuilt there (14.000 s). 8.00 MiB were rebuilt, 50.0% of the contents, in 8.000 s";
        assert!(said[0].starts_with(start), "{said:?}");
    }

    #[test]
    fn each_state_of_the_array_has_a_row_and_each_run_says_what_befell_it() {
        let healthy = run("healthy", "blocking", 0, 0, &[1.0]);
        let style = Style { columns: 120, color: Color(false) };
        let text = section(&[healthy.clone(), failing()], style).expect("a table");
        let rows: Vec<String> = text
            .lines()
            .skip(2)
            .take(3)
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            rows,
            [
                "local, whole 10.00 s 5,000 1.000 3.000 10,000 2.000 6.000",
                "local, degraded 2.000 s 900 2.000 - 1,800 4.000 12.00",
                "local, rebuilding 8.000 s 4,000 4.000 12.00 8,000 8.000 24.00",
            ]
        );
        assert_eq!(
            sentences(&[failing()]),
            [
                "local: SSD 2 failed at 10.000 s, spare 8 took the place of SSD 2 at 12.000 s. 8.00 MiB were rebuilt, 50.0% of \
              the spare, in 8.000 s (1.00 MiB/s). 1,000 pages were answered without the SSD that holds them, for which 7,000 \
              pages of others were read."
            ]
        );
        assert_eq!(section(&[healthy], style), None);
    }
}
