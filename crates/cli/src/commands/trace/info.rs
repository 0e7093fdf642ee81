//! `harmonia trace info`: what a block trace holds.

use harmonia_tables::{
    Emphasis,
    numbers::{bytes, count, or_none},
};
use harmonia_trace::{Action, EventsRead, Handles, Operations, TraceInfo};
use harmonia_types::format_utc;
use harmonia_types::text::one_line;

use super::{Session, bad_input, log_lines};
use crate::failure::Failure;
use crate::output::Output;

/// Volumes that are named.
const VOLUMES_NAMED: usize = 5;

/// Prints the summary of a trace.
pub(super) fn info(session: &Session, json: bool, output: &Output) -> Result<(), Failure> {
    let info = session.reading(|trace, go_on| trace.info_while(go_on)).map_err(bad_input)?;
    let info = info.ok_or(Failure::Interrupted)?;
    if json {
        let text =
            serde_json::to_string_pretty(&info).map_err(|error| Failure::Internal(error.to_string()))?;
        return output.data(&(text + "\n"));
    }
    let warnings = info
        .warnings
        .iter()
        .map(|warning| format!("{} {warning}\n", output.stdout_color().paint(Emphasis::Warning, "warning:")));
    output.data(&(text(&info) + &warnings.collect::<String>()))
}

/// The figures, one a line.
fn text(info: &TraceInfo) -> String {
    let size = &info.mean_size_bytes;
    let kib = |mean: Option<f64>| or_none(mean, |mean| format!("{:.1}", mean / 1024.0));
    let mut rows = vec![("format", info.format.to_owned())];
    rows.extend(info.events.as_ref().map(|events| ("event", event(events))));
    rows.push(("requests", count(info.rows)));
    rows.extend(info.begins_utc_ns.map(|utc_ns| ("begins", format_utc(utc_ns))));
    rows.extend([
        ("span", span(info.span_s)),
        ("rate", or_none(info.rate_per_s, |rate| format!("{rate:.4} requests/s"))),
        ("bandwidth", bandwidth(info)),
        (
            "gaps",
            or_none(info.interarrival_cv, |cv| format!("coefficient of variation {cv:.2} (Poisson: 1)")),
        ),
        ("reads", format!("{:.1}%", info.read_percent)),
    ]);
    let Operations { trims, flushes, fua, .. } = info.operations;
    for (name, requests) in [("trims", trims), ("flushes", flushes), ("writes (FUA)", fua)] {
        if requests > 0 {
            rows.push((name, count(requests)));
        }
    }
    rows.extend(info.handles.as_ref().map(|handles| ("handles", placement(handles))));
    rows.extend([
        (
            "mean size",
            format!("{} KiB (reads {}, writes {})", kib(size.all), kib(size.read), kib(size.write)),
        ),
        ("footprint", format!("{} in distinct 4 KiB pages", bytes(info.footprint_bytes))),
        ("end address", format!("{} ({})", count(info.end_address_bytes), bytes(info.end_address_bytes))),
        (
            "sequential",
            format!(
                "{:.1}% (behind one of the last 32: {:.1}%)",
                info.sequential_percent, info.near_sequential_percent
            ),
        ),
        ("aligned", format!("{:.1}% begin and end on 4 KiB", info.aligned_percent)),
        ("volumes", volumes(info)),
    ]);
    rows.extend(log_lines(&info.log));
    let lines = rows.into_iter().map(|(name, value)| format!("  {name:<12} {}\n", one_line(&value)));
    format!("{}\n{}", info.file, lines.collect::<String>())
}

/// Which event of a request was read, and what the others have.
fn event(events: &EventsRead) -> String {
    let EventsRead { read, asked, counts } = events;
    let has = |action: Action| {
        let has = counts.of(action);
        format!("{} {} of {}", action.name(), count(has.requests), bytes(has.bytes))
    };
    let others = counts.by_completeness().into_iter().filter(|action| action != read);
    let others: Vec<String> = others.map(has).collect();
    let why = if *asked { "as asked" } else { "by default" };
    match others.join(", ").as_str() {
        "" => format!("{}, read {why}", has(*read)),
        others => format!("{}, read {why}; not read: {others}", has(*read)),
    }
}

/// Seconds, and what they are in larger units.
fn span(span_s: f64) -> String {
    let units = [("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0)];
    let larger = units.iter().find(|(_, unit)| span_s >= 2.0 * unit);
    let larger = larger.map(|(name, unit)| format!(" ({:.1} {name})", span_s / unit)).unwrap_or_default();
    format!("{} s{larger}", seconds(span_s))
}

fn bandwidth(info: &TraceInfo) -> String {
    let per_s = |value: f64| format!("{}/s", bytes(value.round() as u64));
    or_none(info.bandwidth_bytes_per_s, |mean| match info.span_s >= 1.0 {
        true => format!("{} (busiest second: {})", per_s(mean), per_s(info.busiest_second_bytes as f64)),
        false => per_s(mean),
    })
}

/// How many placement handles there are, and how many writes have one.
fn placement(handles: &Handles) -> String {
    let Handles { writes, different, highest } = handles;
    format!("{} (the highest is {highest}), in {} of the writes", count(*different as u64), count(*writes))
}

/// How many there are and, of several, which have most.
fn volumes(info: &TraceInfo) -> String {
    let name = |share: &harmonia_trace::VolumeShare| format!("{} {:.1}%", share.name, share.percent);
    let names: Vec<String> = info.busiest_volumes.iter().take(VOLUMES_NAMED).map(name).collect();
    let more = if info.volumes > names.len() { ", ..." } else { "" };
    match (&names[..], info.volumes) {
        ([], volumes) => volumes.to_string(),
        ([_], 1) => format!("1 ({})", info.busiest_volumes[0].name),
        (_, volumes) => format!("{volumes} ({}{more})", names.join(", ")),
    }
}

/// Seconds with separators, and decimals where they say something.
pub(super) fn seconds(seconds: f64) -> String {
    if seconds >= 1e4 { count(seconds.round() as u64) } else { format!("{seconds:.3}") }
}

#[cfg(test)]
mod tests {
    use harmonia_trace::{Trace, TraceOptions};

    fn page(text: String, options: &TraceOptions) -> String {
        let trace = Trace::from_bytes("web_3.csv", text.into_bytes(), options).expect("a trace");
        super::text(&trace.info().expect("well formed"))
    }

    #[test]
    fn a_trace_is_one_short_page() {
        let row = |i: u64| {
            let kind = if i.is_multiple_of(3) { "Read" } else { "Write" };
            format!("{},web,3,{kind},{},{},1\n", i * i * 1_000_000, i % 40 * 8192, 4096 + i % 2 * 512)
        };
        insta::assert_snapshot!(page((0..200).map(row).collect(), &TraceOptions::of_format("msr")));
    }

    #[test]
    fn the_event_that_is_read_and_what_the_others_hold_are_told() {
        let row = |i: u64| format!("8,0 0 {i} {}.000000000 7 Q W {} + 8 [java]\n", i * 100, i * 8);
        let issued = "8,0 0 9 990.000000000 7 D W 8 + 8 [java]\n";
        let text = (0..10).map(row).collect::<String>() + issued;
        let chosen = page(text.clone(), &TraceOptions::default());
        let line =
            "event        Q (queued) 10 of 40.0 KiB, read by default; not read: D (issued) 1 of 4.00 KiB\n";
        assert!(
            chosen.contains(line) && chosen.contains("span         900.000 s (15.0 minutes)\n"),
            "{chosen}"
        );
        let action = Some(harmonia_trace::Action::Issued);
        let asked = page(text, &TraceOptions { action, ..TraceOptions::default() });
        assert!(
            asked.contains("event        D (issued) 1 of 4.00 KiB, read as asked; not read: Q (queued) 10"),
            "{asked}"
        );
    }

    #[test]
    fn placement_handles_are_told_where_writes_have_them() {
        let columns = Some("op,offset,size,handle".parse().expect("columns"));
        let options = TraceOptions { columns, ..TraceOptions::default() };
        let told = page("W,0,512,7\nW,0,512,\nR,0,512,9\nW,0,512,0\nW,0,512,7\n".to_owned(), &options);
        assert!(told.contains("handles      2 (the highest is 7), in 3 of the writes\n"), "{told}");
        assert!(!page("W,0,512,\n".to_owned(), &options).contains("handles"));
    }

    #[test]
    fn many_volumes_and_what_was_done_to_rows_are_named() {
        let row = |i: u64| format!("{},web,{},Read,{},4096,1\n", i ^ 1, i % 7, i * 4096);
        let rows: String = (0..70).map(row).collect();
        let mut options = TraceOptions::of_format("msr");
        options.skip_bad = 1;
        options.sort_window = Some(harmonia_types::SimDuration(100));
        insta::assert_snapshot!(page(format!("{rows}nonsense\n"), &options));
    }
}
