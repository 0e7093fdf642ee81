//! Advice as one page: whether collection matters, what the drives take, what each change brings, what to do.

use harmonia_run::advice::{Advice, Drive, Figure, Load, Metric, NotTried, Tried, Verdict, is_sure};

use crate::cost::{self, signed};
use crate::lifetime::digits;
use crate::numbers::{self, NONE, or_none};
use crate::{Cell, Emphasis, Style, Table, capital, layout, titled, warned};

/// So many drives have a row.
const DRIVES_MOST: usize = 24;

/// The whole page.
pub fn advice(of: &Advice, style: Style) -> String {
    advice_first(of, style) + &advice_rest(of, style)
}

/// The page as far as the array as it is goes: whether collection matters there, and what its drives take.
pub fn advice_first(of: &Advice, style: Style) -> String {
    let mut sections = vec![layout::wrapped(&answer(of), style.columns)];
    // How long requests take that wait for an array which does not keep up means nothing.
    sections.extend((of.verdict != Verdict::Overload).then(|| collection(of, style)));
    sections.extend([layout::wrapped(&load(&of.load), style.columns), drives(&of.drives, style)]);
    sections.join("\n")
}

/// The page behind [`advice_first`]: what changes bring, and what to do.
pub fn advice_rest(of: &Advice, style: Style) -> String {
    let wrapped = |text: &str| layout::wrapped(text, style.columns);
    // A line is left free before it.
    let mut sections = vec![String::new()];
    if !of.levers.is_empty() {
        sections.push(levers(&of.levers, style));
    }
    if !of.not_tried.is_empty() {
        sections.push(not_tried(&of.not_tried).iter().map(|line| wrapped(line)).collect());
    }
    sections.push(wrapped(&format!("What to do: {}", of.recommendation.text)));
    let would = of.would_change_it.iter().map(|text| wrapped(text)).collect::<String>();
    if !would.is_empty() {
        sections.push(format!("What would change this answer\n{would}"));
    }
    let mut notes: Vec<String> = of.assumed.iter().map(|assumed| format!("Assumed: {assumed}.")).collect();
    // What the answer rests on is not said twice.
    let warnings = of.warnings.iter().filter(|warning| warning.text != of.why);
    notes.extend(warnings.map(|warning| format!("{}.", capital(&warned(warning)).trim_end_matches('.'))));
    notes.push(seeds(of.seeds.len()));
    sections.push(notes.iter().map(|note| wrapped(note)).collect());
    sections.join("\n")
}

/// A line for each reason.
fn not_tried(all: &[NotTried]) -> Vec<String> {
    let same = all.chunk_by(|one, next| one.why == next.why);
    let line = |some: &[NotTried]| {
        let names: Vec<&str> = some.iter().map(|one| one.name.as_str()).collect();
        format!("Not tried, because {}: {}.", some[0].why, names.join(", "))
    };
    same.map(line).collect()
}

fn answer(of: &Advice) -> String {
    let says = cost::says(of.verdict).unwrap_or_default().to_owned();
    let name = of.scenario.get("name").and_then(|name| name.as_str()).unwrap_or_default();
    let parts = [format!("{name}:"), says, format!("{}.", capital(of.why.trim_end_matches('.')))];
    parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn collection(of: &Advice, style: Style) -> String {
    let mut table = Table::new(["response time", "with collection", "without", "it costs"]);
    for Figure { metric, value, against, change } in &of.collection {
        table.push(vec![
            metric.name().trim_start_matches("the ").into(),
            format!("{} ms", numbers::ms(*value)).into(),
            format!("{} ms", numbers::ms(*against)).into(),
            signed(change.as_ref()).into(),
        ]);
    }
    titled("Does collection matter here?", &table, style)
}

fn load(of: &Load) -> String {
    let rate = |rate: f64| match rate {
        rate if rate < 10.0 => format!("{rate:.2}"),
        rate => numbers::count(rate.round() as u64),
    };
    let served = format!(
        "{} requests and {} MB a second are served",
        rate(of.served_iops),
        rate(of.bytes_per_second / 1e6)
    );
    let offered = match of.offered_iops {
        Some(offered) if offered > 1.05 * of.served_iops => {
            format!(", of {} requests that are offered", rate(offered))
        }
        Some(offered) => format!(", {} are offered", rate(offered)),
        None => ", as fast as the array takes them".to_owned(),
    };
    format!(
        "The load: {served}{offered}, in a window of {}. The array holds {} and is {:.0}% full. It writes {} bytes to flash for each byte of \
         the user.",
        numbers::duration((of.window_s * 1e9) as u64),
        numbers::bytes(of.usable_bytes),
        of.fill * 100.0,
        or_none(of.write_amplification, |ratio| format!("{ratio:.2}"))
    )
}

fn drives(of: &[Drive], style: Style) -> String {
    let has_years = of.iter().any(|drive| drive.lifetime.ends_after().is_some());
    let mut table =
        Table::new(["drive", "written a day", "DWPD", "TB a year", "write amp", "flash a day", "years"]);
    for Drive { device, lifetime } in of.iter().take(DRIVES_MOST) {
        table.push(vec![
            format!("SSD {device}").into(),
            numbers::decimal_bytes(lifetime.host_bytes_per_day).into(),
            digits(lifetime.drive_writes_per_day).into(),
            format!("{:.2}", lifetime.host_bytes_per_day * 365.0 / 1e12).into(),
            or_none(lifetime.write_amplification, |ratio| format!("{ratio:.2}")).into(),
            or_none(lifetime.flash_bytes_per_day, numbers::decimal_bytes).into(),
            or_none(lifetime.ends_after(), numbers::life).into(),
        ]);
    }
    let more = match of.len().saturating_sub(DRIVES_MOST) {
        0 => String::new(),
        more => format!("{more} more drives: --json.\n"),
    };
    let years = match has_years {
        true => String::new(),
        false => layout::wrapped(
            "Years: nothing says what the drives endure. Add --set 'ssd.rating={ dwpd = 1, years = 5 }' as the data sheet has it.",
            style.columns,
        ),
    };
    titled("What the drives take, if this goes on day and night", &table, style) + &more + &years
}

fn levers(of: &[Tried], style: Style) -> String {
    let has_years = of.iter().any(|tried| tried.years.is_some());
    let headings =
        ["change", "mean", "p99", "p99.9", "write amp"].into_iter().chain(has_years.then_some("years"));
    let mut table = Table::new(headings.chain(["drives offer", "it costs"]));
    for tried in of {
        let figure = |metric: Metric| {
            let figure = tried.figures.iter().find(|figure| figure.metric == metric);
            let text = signed(figure.and_then(|figure| figure.change.as_ref()));
            let is_better = figure
                .and_then(|figure| figure.change.as_ref())
                .is_some_and(|change| is_sure(change) && change.difference.mean < 0.0);
            match &tried.void {
                Some(code) if metric == Metric::Mean => Cell::from(code.clone()),
                Some(_) => Cell::from(NONE),
                None if is_better => Cell::from(text).with(Emphasis::Good),
                None => Cell::from(text),
            }
        };
        let mut row = vec![Cell::from(tried.name.clone())];
        row.extend([Metric::Mean, Metric::P99, Metric::P999].map(figure));
        row.push(or_none(tried.write_amplification, |ratio| format!("{ratio:.2}")).into());
        row.extend(has_years.then(|| Cell::from(or_none(tried.years, numbers::life))));
        row.push(if tried.needs == "nothing" { "-".into() } else { tried.needs.clone().into() });
        row.push(tried.costs.clone().into());
        table.push(row);
    }
    titled("What each change brings, against the array as it is", &table, style)
        + &layout::wrapped(
            "\u{b1}: half of an interval; all of them together hold with 95%. n.s.: the difference may be chance. Drives offer: what they must \
             reveal or accept (array.interface); -: any drive.",
            style.columns,
        )
}

fn seeds(seeds: usize) -> String {
    match seeds {
        1 => "One seed was run: the intervals cover this load on this aged array. --seeds 10 covers others."
            .to_owned(),
        seeds => format!("Every run had {seeds} seeds."),
    }
}
