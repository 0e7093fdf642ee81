//! The scenario file: the load, and above it what trace and fit have in common and what not.

use std::path::Path;

use harmonia_tables::{
    numbers::{bytes, count, duration, or_none, percent},
    wrapped,
};
use harmonia_types::units::{format_bytes, format_duration};
use harmonia_workload::{
    AddressPattern, Arrival, Choices, Extent, SizeDistribution, StreamArrival, StreamConfig, StreamsConfig,
};
use harmonia_workload::{Measured, MeasuredKind, READS, TRIMS, TraceFit, WRITES};

use super::super::info::seconds;
use super::check::{Check, Checked};

/// Characters a line takes, the `# ` of a comment apart.
const COLUMNS: usize = 100;

/// What a load is made of.
type Kind = fn(&Measured) -> &MeasuredKind;
/// Streams by their names, and what was measured of them.
pub(super) const KINDS: [(&str, Kind); 3] =
    [(READS, |load| &load.reads), (WRITES, |load| &load.writes), (TRIMS, |load| &load.trims)];

/// The scenario file.
pub(super) fn scenario(fit: &TraceFit, checked: &Checked) -> String {
    let info = &fit.info;
    let mut text = comment(&format!(
        "A synthetic load like {}: {} requests over {} s, read as {}.",
        printable(&info.file),
        count(info.rows),
        seconds(info.span_s),
        info.format
    ));
    text += "#\n";
    text += &table(&figures(fit, checked));
    text += "#\n";
    text += &notes(fit, checked).iter().map(|note| comment(note)).collect::<String>();
    text += &format!("name = \"{}-fit\"\n", stem(&info.file));
    text + &load(&fit.load)
}

/// A figure of the trace and of the fit.
type Row = (String, String, String);

fn figures(fit: &TraceFit, checked: &Checked) -> Vec<Row> {
    let (trace, fitted) = (&fit.trace, &fit.fitted);
    let mut rows = vec![(String::new(), "trace".to_owned(), "fit".to_owned())];
    let mut row = |what: &str, show: &dyn Fn(&Measured) -> String| {
        rows.push((what.to_owned(), show(trace), show(fitted)));
    };
    for (name, of) in KINDS.into_iter().filter(|(_, of)| of(trace).requests > 0) {
        row(name, &|load| count(of(load).requests));
        row("  bytes", &|load| bytes(of(load).bytes));
        row("  footprint", &|load| bytes(of(load).footprint_bytes));
        row("  sequential", &|load| format!("{:.1}%", of(load).sequential_percent));
        row("  on the hottest fifth", &|load| percent(of(load).heat.hottest_fifth));
    }
    row("footprint of all", &|load| bytes(load.footprint_bytes));
    row("variation of gaps", &|load| format!("{:.2}", load.gap_cv));
    row("dispersion a second", &|load| format!("{:.2}", load.dispersion));
    if let Checked::Ran(check) = checked {
        let mut row = |what: &str, trace: Option<f64>, fitted: Option<f64>| {
            let show = |mean| or_none(mean, |ns: f64| duration(ns as u64));
            rows.push((what.to_owned(), show(trace), show(fitted)));
        };
        row("mean response time", Some(check.trace.all), Some(check.fitted.all));
        row("  of reads", check.trace.read, check.fitted.read);
        row("  of writes", check.trace.write, check.fitted.write);
    }
    rows
}

fn table(rows: &[Row]) -> String {
    let line = |(what, trace, fit): &Row| format!("# {what:22}{trace:>14}{fit:>14}\n");
    rows.iter().map(line).collect()
}

fn notes(fit: &TraceFit, checked: &Checked) -> Vec<String> {
    let mut notes = vec![
        "Footprint: distinct 4 KiB pages touched, whole ones however little of them. Sequential: requests that start where \
         the one before of their kind ended. Hottest fifth: share of the requests that start in it, of the extents in which \
         any do (20%: uniform). Variation: of the gaps between arrivals (coefficient of variation; 0 equal gaps, 1 poisson). \
         Dispersion: variance of the requests of a second by their mean (1: poisson; higher: bursts)."
            .to_owned(),
    ];
    if let Some(part) = fit.squeezed {
        notes.push(format!(
            "The footprint is {} of the trace's, as --array-bytes has room for.",
            percent(part)
        ));
    }
    notes.push(response(fit, checked));
    notes.push(lost(fit));
    notes
}

fn response(fit: &TraceFit, checked: &Checked) -> String {
    match checked {
        Checked::Not(why) => format!("Response times of trace and fit were not compared: {why}."),
        Checked::Ran(check) => {
            let why = if check.is_off() { format!(" {}", why(fit)) } else { String::new() };
            format!(
                "Response times: {} of either on {}, one seed; {}.{why}",
                check.extent(fit),
                check.array,
                check.sentence()
            )
        }
    }
}

impl Checked {
    /// What to warn of.
    pub(super) fn warning(&self, fit: &TraceFit) -> Option<String> {
        match self {
            Checked::Ran(check) if check.is_off() => Some(format!("{}. {}", check.sentence(), why(fit))),
            _ => None,
        }
    }
}

impl Check {
    /// Both means, and what the one is of the other.
    fn sentence(&self) -> String {
        format!(
            "the fitted load answers in {} on average, the trace in {} ({:.2} of it)",
            duration(self.fitted.all as u64),
            duration(self.trace.all as u64),
            self.ratio()
        )
    }
}

/// What probably makes a difference in response times.
fn why(fit: &TraceFit) -> String {
    let (trace, fitted) = (&fit.trace, &fit.fitted);
    let mut reasons = Vec::new();
    if !(0.67..1.5).contains(&(fitted.dispersion.max(0.01) / trace.dispersion.max(0.01))) {
        reasons.push(format!(
            "requests come together otherwise (dispersion a second {:.1}, in the trace {:.1})",
            fitted.dispersion, trace.dispersion
        ));
    }
    for (name, of) in KINDS.into_iter().filter(|(_, of)| of(trace).requests > 0) {
        let (trace, fitted) = (of(trace), of(fitted));
        if (trace.sequential_percent - fitted.sequential_percent).abs() > 10.0 {
            reasons.push(format!(
                "{:.0}% of the {name} are sequential, in the trace {:.0}%",
                fitted.sequential_percent, trace.sequential_percent
            ));
        }
        if (trace.heat.hottest_fifth - fitted.heat.hottest_fifth).abs() > 0.15 {
            reasons.push(format!(
                "the hottest fifth has {} of the {name}, in the trace {}",
                percent(fitted.heat.hottest_fifth),
                percent(trace.heat.hottest_fifth)
            ));
        }
    }
    if reasons.is_empty() {
        return "Bursts, sizes and places agree one by one; what they have to do with one another is lost."
            .into();
    }
    format!("What is lost: {}.", reasons.join("; "))
}

fn lost(fit: &TraceFit) -> String {
    let flushes = match fit.empty {
        0 => String::new(),
        empty => format!(", {} requests without bytes such as flushes", count(empty)),
    };
    let arrivals = match fit.load.arrival {
        Some(Arrival::Phases(_)) => "how requests come within a phase",
        _ => "bursts longer than a run of like gaps, change over time",
    };
    format!(
        "Lost: {arrivals}, what sizes and places have to do with time and with one another, volumes{flushes}."
    )
}

/// `[workload]` and what is below it.
fn load(load: &StreamsConfig) -> String {
    let requests = match load.limit {
        harmonia_workload::Limit::Requests(requests) => requests,
        harmonia_workload::Limit::Duration(_) => unreachable!("a fit has as many requests as its trace"),
    };
    let mut text = format!(
        "\n[workload]\nkind = \"synthetic\"\nrequests = {requests}\nwarmup = 0\nalign = false\n\
         stream_persistence = {:?}\n",
        load.persistence
    );
    if let Some(common) = &load.arrival {
        text += &("\n[workload.arrival]\n".to_owned() + &arrival(common));
    }
    load.streams.iter().fold(text, |text, (name, config)| text + &stream(name, config))
}

fn arrival(arrival: &Arrival) -> String {
    match arrival {
        Arrival::Fixed { rate } => format!("process = \"fixed\"\nrate = {}\n", number(*rate)),
        Arrival::Poisson { rate } => format!("process = \"poisson\"\nrate = {}\n", number(*rate)),
        Arrival::Gaps(gaps) => {
            let shown = gaps.values.iter().map(|&gap| format_duration(gap)).collect();
            "process = \"choices\"\n".to_owned() + &choices("gaps", shown, gaps)
        }
        Arrival::Phases(phases) => {
            let gaps = phases.iter().map(|phase| format!("\"{}\"", format_duration(phase.gap)));
            let counts = phases.iter().map(|phase| phase.count.to_string());
            let (gaps, counts): (Vec<_>, Vec<_>) = (gaps.collect(), counts.collect());
            "process = \"phases\"\n".to_owned() + &list("gaps", &gaps) + &list("counts", &counts)
        }
        Arrival::OnOff { .. } | Arrival::WriteBursts { .. } | Arrival::Closed { .. } => {
            unreachable!("a trace is fitted by its gaps")
        }
    }
}

fn choices<T>(key: &str, shown: Vec<String>, choices: &Choices<T>) -> String {
    let shown = shown.into_iter().map(|value| format!("\"{value}\"")).collect::<Vec<_>>();
    let counts = choices.counts.iter().map(u64::to_string).collect::<Vec<_>>();
    list(key, &shown) + &list("counts", &counts) + &format!("persistence = {:?}\n", choices.persistence)
}

/// A list, in one line if it fits.
fn list(key: &str, values: &[String]) -> String {
    let values = values.join(", ");
    let line = format!("{key} = [{values}]\n");
    if line.chars().count() <= COLUMNS {
        return line;
    }
    let lines: String = wrapped(&values, COLUMNS).lines().map(|line| format!("    {line}\n")).collect();
    format!("{key} = [\n{lines}]\n")
}

fn stream(name: &str, stream: &StreamConfig) -> String {
    let mut text = format!("\n[workload.stream.{name}]\n");
    match &stream.arrival {
        StreamArrival::Common(counts) if counts.len() == 1 => text += &format!("count = {}\n", counts[0]),
        StreamArrival::Common(counts) => {
            text += &list("count", &counts.iter().map(u64::to_string).collect::<Vec<_>>());
        }
        StreamArrival::Own(_) => unreachable!("streams of a fit arrive together"),
    }
    text += match name {
        READS => "read_fraction = 1.0\n",
        TRIMS => "trim_fraction = 1.0\n",
        _ => "",
    };
    if stream.fua_fraction > 0.0 {
        text += &format!("fua_fraction = {}\n", stream.fua_fraction);
    }
    text += &format!("\n[workload.stream.{name}.size]\n");
    text += &match &stream.size {
        SizeDistribution::Choices(sizes) => {
            let shown = sizes.values.iter().map(|&size| format_bytes(size)).collect();
            "distribution = \"choices\"\n".to_owned() + &choices("sizes", shown, sizes)
        }
        one => format!("mean = \"{}\"\n", format_bytes(one.mean())),
    };
    text + &address(name, stream)
}

fn address(name: &str, stream: &StreamConfig) -> String {
    let AddressPattern::WorkingSet(pattern) = stream.address else {
        unreachable!("a trace is a working set")
    };
    let shown = |extent: Extent| format_bytes(extent.of(0));
    format!(
        "\n[workload.stream.{name}.address]\npattern = \"working-set\"\nfirst_touch = {:?}\nsequential = {:?}\n\
         reuse = {:?}\nfootprint = \"{}\"\nstart = \"{}\"\nalign = \"{}\"\n",
        pattern.first_touch,
        pattern.sequential,
        pattern.reuse,
        shown(stream.footprint),
        stream.start.map_or_else(|| "0B".to_owned(), shown),
        format_bytes(stream.start_unit)
    )
}

fn comment(text: &str) -> String {
    wrapped(text, COLUMNS).lines().map(|line| format!("# {line}\n")).collect()
}

/// Nine significant digits, as TOML writes a float.
fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.8e}").parse().unwrap_or(value);
    format!("{rounded:?}")
}

/// A file's name without folders and extensions, in characters a name needs no escape for.
fn stem(file: &str) -> String {
    let first = file.split(" and ").next().unwrap_or(file);
    let name = Path::new(first).file_name().and_then(|name| name.to_str()).unwrap_or("trace");
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    let stem: String = stem.chars().take(100).map(plain).collect();
    if stem.is_empty() { "trace".to_owned() } else { stem }
}

/// Text that a comment may hold: no control characters.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
