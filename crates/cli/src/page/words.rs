//! What the runs show, in plain words: rules from the numbers of the report, and nothing else.
//!
//! The first run is the baseline, *best* the run with the lowest mean among those one could build (garbage collection
//! that takes no time is a bound). A difference under [`ALIKE`] is called none; one whose interval holds zero is said
//! to be possibly chance. Cautions say what a reader must know before believing any of it.

use std::fmt::Write as _;

use harmonia_metrics::{Intervals, Method, Report, Versus, Warning};

use super::html::named;
use crate::numbers;
use crate::tables::{ADDRESS_SPACE, label, notes};

/// Differences below this share are called none.
const ALIKE: f64 = 0.01;
/// Beyond this share a run is no peer of the best, whatever chance may have done.
const PEER: f64 = 0.05;
/// Differences of a 99th percentile below this share are called none: a tail is known less well than a mean.
const ALIKE_TAIL: f64 = 0.02;
/// Fewer collected blocks than this over all members are few to judge a policy by.
const VICTIMS_FEW: u64 = 200;
/// Median response of the last quarter over that of the first, from which the array is said not to keep up.
const GROWTH_OVERLOADED: f64 = 3.0;
/// The code of the warning that begins with the name of a policy.
const KEEPS_APART: &str = "keeps-apart";

/// All that is said on the page.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Words {
    /// The finding in a line.
    pub headline: String,
    /// The finding in some sentences: what, then why and at what price.
    pub paragraphs: Vec<String>,
    /// What to know before believing it.
    pub cautions: Vec<String>,
    /// What the charts show.
    pub titles: Titles,
}

/// A finding for each chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Titles {
    pub responses: String,
    pub overlap: String,
    pub blame: String,
    pub wear: String,
}

/// What to say of these runs; `growth` has, by run, how much the median response grew from the first to the last
/// quarter of the run, where that is known.
pub(super) fn of(runs: &[Report], intervals: &Intervals, growth: &[Option<f64>]) -> Words {
    let Some(pair) = Pair::of(runs, intervals) else {
        return Words {
            headline: "No request completed".to_owned(),
            paragraphs: vec![
                "There is nothing to say: no request completed in the measured part.".to_owned(),
            ],
            cautions: Vec::new(),
            titles: Titles {
                responses: "How long requests took".to_owned(),
                overlap: "How many SSDs collected at once".to_owned(),
                blame: "Where the time went".to_owned(),
                wear: "Erased blocks".to_owned(),
            },
        };
    };
    Words {
        headline: headline(runs, &pair, &overloaded(runs, growth)),
        paragraphs: paragraphs(runs, &pair),
        cautions: cautions(runs, intervals, growth),
        titles: titles(&pair),
    }
}

/// Who is held against whom.
struct Pair<'a> {
    best: &'a Report,
    /// The baseline, or, where that is the best, the worst one could build; none if there is nothing to choose.
    other: Option<&'a Report>,
    bound: Option<&'a Report>,
    /// Others whose mean differs from the best by less than [`ALIKE`], or than either's interval is wide and [`PEER`].
    peers: Vec<&'a Report>,
    /// How the two differ in their mean and in their 99th percentile, where one of them is the baseline.
    versus: [Option<Versus>; 2],
}

impl<'a> Pair<'a> {
    fn of(runs: &'a [Report], intervals: &Intervals) -> Option<Self> {
        let ran: Vec<&Report> = runs.iter().filter(|run| mean(run).is_some()).collect();
        let (ideal, buildable): (Vec<&Report>, Vec<&Report>) = ran.iter().partition(|run| run.is_ideal());
        let choices = if buildable.is_empty() { &ideal } else { &buildable };
        let best = lowest(choices)?;
        let bound = ideal.iter().copied().find(|run| !best.is_ideal() && alike(run, best));
        let worst = choices.iter().copied().max_by(|a, b| mean(a).total_cmp_to(mean(b)))?;
        let base = choices.first().copied()?;
        let other = if std::ptr::eq(base, best) { worst } else { base };
        let half_width = |run: &Report| {
            let index = runs.iter().position(|other| std::ptr::eq(other, run));
            index.and_then(|index| intervals.variants.get(index)?.metrics.mean?.half_width).unwrap_or(0.0)
        };
        let is_peer = |run: &&'a Report| {
            let more = mean_ns(run) - mean_ns(best);
            let chance = half_width(run).max(half_width(best)).max(ALIKE * mean_ns(best));
            let chance = chance.min(PEER * mean_ns(best));
            !std::ptr::eq(*run, best) && !std::ptr::eq(*run, other) && more < chance
        };
        let peers = choices.iter().copied().filter(is_peer).collect();
        let index = |wanted: &Report| runs.iter().position(|run| std::ptr::eq(run, wanted));
        let held = if index(best) == Some(0) { other } else { best };
        let versus = index(held)
            .and_then(|index| intervals.variants.get(index))
            .and_then(|variant| variant.versus_baseline.as_ref())
            .filter(|_| [best, other].iter().any(|run| index(run) == Some(0)));
        let versus = [versus.and_then(|versus| versus.mean), versus.and_then(|versus| versus.p99)];
        Some(Pair { best, other: (!std::ptr::eq(other, best)).then_some(other), bound, peers, versus })
    }
}

fn name(run: &Report) -> String {
    named(label(run))
}

impl Pair<'_> {
    /// Whether the difference of the means may be chance.
    fn may_be_chance(&self) -> bool {
        self.versus[0].is_some_and(|versus| versus.significant == Some(false))
    }
}

fn lowest<'a>(runs: &[&'a Report]) -> Option<&'a Report> {
    runs.iter().copied().min_by(|a, b| mean(a).total_cmp_to(mean(b)))
}

/// Orders means that may be missing.
trait TotalCmp {
    fn total_cmp_to(self, other: Self) -> std::cmp::Ordering;
}

impl TotalCmp for Option<f64> {
    fn total_cmp_to(self, other: Self) -> std::cmp::Ordering {
        self.unwrap_or(f64::MAX).total_cmp(&other.unwrap_or(f64::MAX))
    }
}

fn mean(run: &Report) -> Option<f64> {
    run.host.response_ns.all.mean
}

fn mean_ns(run: &Report) -> f64 {
    mean(run).unwrap_or_default()
}

/// Share of the response time that was waiting behind garbage collection.
fn gc_share(run: &Report) -> f64 {
    match run.host.blame_ns.total() {
        0 => 0.0,
        total => run.host.blame_ns.queue_gc as f64 / total as f64,
    }
}

/// Share of the requests that met garbage collection.
fn met_gc(run: &Report) -> f64 {
    let response = &run.host.response_ns;
    let met = response.gc_affected_read.count + response.gc_affected_write.count;
    if run.host.requests == 0 { 0.0 } else { met as f64 / run.host.requests as f64 }
}

/// Share of time with at least one member collecting.
fn any_collecting(run: &Report) -> f64 {
    1.0 - run.array.devices_in_gc_fraction.first().copied().unwrap_or(1.0)
}

fn collected(run: &Report) -> bool {
    run.array.erases > 0 || run.devices.iter().any(|device| device.gc_busy_ns > 0)
}

fn change(value: f64, base: f64) -> f64 {
    if base > 0.0 { value / base - 1.0 } else { 0.0 }
}

fn ms(ns: f64) -> String {
    format!("{} ms", numbers::ms(ns))
}

/// A share as a whole percentage, with a decimal where it is small.
fn percent(share: f64) -> String {
    match share.abs() * 100.0 {
        0.0 => "0%".to_owned(),
        size if size < 0.05 => "under 0.1%".to_owned(),
        size if size < 10.0 => format!("{size:.1}%"),
        size if size < 100.0 && size.round() == 100.0 => ">99%".to_owned(),
        size => format!("{size:.0}%"),
    }
}

/// "2.4 times" or "37% more", whichever reads better.
fn more(ratio: f64) -> String {
    if ratio >= 2.0 { format!("{ratio:.1} times as many") } else { format!("{} more", percent(ratio - 1.0)) }
}

fn headline(runs: &[Report], pair: &Pair<'_>, overloaded: &[&Report]) -> String {
    let Pair { best, other, bound, peers, .. } = pair;
    if !runs.iter().any(collected) {
        return "No garbage collection happened, so there was nothing to coordinate".to_owned();
    }
    let grows = |run: &Report| overloaded.iter().any(|grows| std::ptr::eq(*grows, run));
    if grows(best) {
        return "The array does not keep up with the load".to_owned();
    }
    let Some(other) = other else {
        return match bound {
            Some(bound) if mean_ns(bound) > 0.0 && mean_ns(best) / mean_ns(bound) >= 1.0 + ALIKE => format!(
                "Garbage collection makes requests {:.1} times as slow under {}",
                mean_ns(best) / mean_ns(bound),
                name(best)
            ),
            _ if gc_share(best) < 0.05 => "Garbage collection hardly slows requests here".to_owned(),
            _ => format!(
                "Requests spend {} of their time waiting for garbage collection",
                percent(gc_share(best))
            ),
        };
    };
    if grows(other) {
        return format!("{} keeps up with the load, {} does not", name(best), name(other));
    }
    let gain = -change(mean_ns(best), mean_ns(other));
    if gain < ALIKE {
        return "The choice makes no difference to the mean response time here".to_owned();
    }
    if pair.may_be_chance() {
        return "No choice is clearly better here: the differences may be chance".to_owned();
    }
    if std::ptr::eq(*best, &runs[0]) {
        return format!("{} answers fastest, {} ahead of {}", name(best), percent(gain), name(other));
    }
    let tail = tail_besides(pair, other);
    match peers.as_slice() {
        [] => format!("{} cuts the mean response time by {}{tail}", name(best), percent(gain)),
        [peer] => {
            format!("{} and {} cut the mean response time by {}{tail}", name(best), name(peer), percent(gain))
        }
        _ => format!(
            "{} and {} others cut the mean response time by {}{tail}",
            name(best),
            peers.len(),
            percent(gain)
        ),
    }
}

/// What a better mean must not hide: a tail that is not better.
fn tail_besides(pair: &Pair<'_>, other: &Report) -> &'static str {
    let p99 = |run: &Report| run.host.response_ns.all.p99.map(|ns| ns as f64);
    let Some((ours, theirs)) = p99(pair.best).zip(p99(other)) else { return "" };
    match change(ours, theirs) {
        d if d.abs() < ALIKE_TAIL => ", but not the tail",
        _ if pair.versus[1].is_some_and(|versus| versus.significant == Some(false)) => "",
        d if d > 0.0 => ", but lengthens the tail",
        _ => "",
    }
}

fn paragraphs(runs: &[Report], pair: &Pair<'_>) -> Vec<String> {
    let Pair { best, other, bound, .. } = pair;
    let (mut what, mut why) = (vec![setting(runs)], Vec::new());
    match other {
        Some(other) => {
            what.push(on_average(pair, other));
            what.extend(slowest_hundredth(runs, pair, other));
            why.extend(mechanism(best, other));
            why.extend(price(runs, best));
        }
        None => {
            what.push(alone(best));
            why.extend(collecting(best));
        }
    }
    why.extend(bound.filter(|_| runs.iter().any(collected)).map(|bound| to_the_bound(best, *other, bound)));
    let paragraphs = [what, why].into_iter().filter(|sentences| !sentences.is_empty());
    paragraphs.map(|sentences| sentences.join(" ")).collect()
}

/// What was run.
fn setting(runs: &[Report]) -> String {
    let first = &runs[0];
    let devices = first.devices.len();
    let level = first.scenario.pointer("/array/level").and_then(serde_json::Value::as_str);
    let ssds = match level {
        _ if devices == 1 => "one SSD".to_owned(),
        Some(level) => format!("a {} array of {devices} SSDs", level.replace("raid", "RAID-")),
        None => format!("an array of {devices} SSDs"),
    };
    let requests = numbers::count(first.host.requests);
    if runs.len() == 1 {
        return format!(
            "{} was simulated serving {requests} requests under {}{}.",
            capital(&ssds),
            name(first),
            load(runs)
        );
    }
    if runs.iter().all(|run| alike(run, first)) {
        return format!(
            "{} served the same {requests} requests {}, each time from the same used state and under another policy \
             for garbage collection{}.",
            capital(&ssds),
            if runs.len() == 2 { "twice".to_owned() } else { format!("{} times", runs.len()) },
            load(runs)
        );
    }
    format!("{} runs were compared; they differ in what their names say.", runs.len())
}

/// What the requests are, as in ": 80% writes, 500 KiB each on average, 477 a second"; the rate where all runs had the
/// same.
fn load(runs: &[Report]) -> String {
    let host = &runs[0].host;
    let (moving, bytes) = (host.read_requests + host.write_requests, host.bytes_read + host.bytes_written);
    if moving == 0 || bytes == 0 {
        return String::new();
    }
    let mut text = match host.write_requests as f64 / moving as f64 {
        0.0 => ": all reads".to_owned(),
        1.0 => ": all writes".to_owned(),
        writes => format!(": {} writes", percent(writes)),
    };
    let _ = write!(text, ", {} KiB each on average", figure(bytes as f64 / moving as f64 / 1024.0));
    let rate = |run: &Report| run.host.requests as f64 / (run.simulated_ns as f64 / 1e9);
    let first = rate(&runs[0]);
    if first.is_finite() && runs.iter().all(|run| change(rate(run), first).abs() < ALIKE) {
        let _ = write!(text, ", {} a second", figure(first));
    }
    text
}

/// A number of moderate size, with a decimal where it is small.
fn figure(value: f64) -> String {
    if value < 10.0 { format!("{value:.1}") } else { numbers::count(value.round() as u64) }
}

/// Whether two runs differ in policy alone.
fn alike(run: &Report, other: &Report) -> bool {
    let bare = |run: &Report| {
        let mut scenario = run.scenario.clone();
        for path in ["/array/coordination", "/ssd/gc/schedule", "/name"] {
            if let Some(value) = scenario.pointer_mut(path) {
                *value = serde_json::Value::Null;
            }
        }
        (scenario, run.seed, run.host.requests, run.devices.len())
    };
    bare(run) == bare(other)
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

fn on_average(pair: &Pair<'_>, other: &Report) -> String {
    let Pair { best, peers, .. } = pair;
    let gain = -change(mean_ns(best), mean_ns(other));
    let mut text = format!(
        "Under {} a request takes {} on average, under {} {}",
        name(best),
        ms(mean_ns(best)),
        name(other),
        ms(mean_ns(other))
    );
    let _ = match pair.versus[0].and_then(|versus| versus.relative) {
        _ if gain < ALIKE => write!(text, ": no real difference"),
        _ if pair.may_be_chance() => write!(text, ": {} less, which may be chance", percent(gain)),
        Some(relative) if relative.half_width.is_some() && relative.mean < 0.0 => write!(
            text,
            ": {} less (with 95% confidence between {} and {})",
            percent(gain),
            percent((-relative.high()).max(0.0)),
            percent(-relative.low())
        ),
        _ => write!(text, ": {} less", percent(gain)),
    };
    if !peers.is_empty() {
        let names: Vec<String> = peers.iter().map(|run| name(run)).collect();
        let verb = if peers.len() == 1 { "does" } else { "do" };
        let _ = write!(text, "; {} {verb} as well, as far as one can tell", names.join(", "));
    }
    text + "."
}

/// What the slowest one in a hundred takes.
fn slowest_hundredth(runs: &[Report], pair: &Pair<'_>, other: &Report) -> Option<String> {
    let best = pair.best;
    let p99 = |run: &Report| run.host.response_ns.all.p99.map(|ns| ns as f64);
    let (ours, theirs) = (p99(best)?, p99(other)?);
    let difference = change(ours, theirs);
    let mut text = format!("The slowest one in a hundred takes {} or more", ms(ours));
    let chance = pair.versus[1].is_some_and(|versus| versus.significant == Some(false));
    let _ = match difference {
        d if chance && d.abs() >= ALIKE_TAIL => {
            write!(text, " against {} under {}, a difference that may be chance", ms(theirs), name(other))
        }
        d if d.abs() < ALIKE_TAIL => {
            write!(text, ", as under {} ({}): no clear difference in the tail", name(other), ms(theirs))
        }
        d if d < 0.0 => write!(text, " against {}: {} less", ms(theirs), percent(d)),
        d => write!(text, " against {}: {} more, so the average hides a worse tail", ms(theirs), percent(d)),
    };
    let buildable = runs.iter().filter(|run| !run.is_ideal()).filter_map(|run| Some((run, p99(run)?)));
    let (winner, lowest) = buildable.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    if !std::ptr::eq(winner, best) && !std::ptr::eq(winner, other) && change(lowest, ours) < -ALIKE_TAIL {
        let _ = write!(text, "; {} has the lowest, {}", name(winner), ms(lowest));
    }
    Some(text + ".")
}

/// The mechanism: how often a request can meet a member that collects.
fn mechanism(best: &Report, other: &Report) -> Option<String> {
    if !collected(best) && !collected(other) {
        return None;
    }
    Some(format!(
        "Some SSD was collecting garbage {} of the time under {}, {} under {}. In that order, it held up {} and {} of \
         the requests, and waiting for it was {} and {} of the response time.",
        percent(any_collecting(other)),
        name(other),
        percent(any_collecting(best)),
        name(best),
        percent(met_gc(other)),
        percent(met_gc(best)),
        percent(gc_share(other)),
        percent(gc_share(best))
    ))
}

/// What was paid in erased blocks, which wear flash out: by the best, and by whoever paid much more.
fn price(runs: &[Report], best: &Report) -> Option<String> {
    let base = &runs[0];
    let erases = |run: &Report| run.array.erases as f64;
    if base.array.erases == 0 || !alike(best, base) {
        return None;
    }
    let mut text = match erases(best) / erases(base) {
        _ if std::ptr::eq(best, base) => {
            format!("{} erased {} blocks", name(best), numbers::count(best.array.erases))
        }
        ratio if (ratio - 1.0).abs() < ALIKE => format!(
            "It costs hardly any wear: {} erased blocks against {}",
            numbers::count(best.array.erases),
            numbers::count(base.array.erases)
        ),
        ratio if ratio > 1.0 => {
            format!("The price is wear: {} erased blocks than under {}", more(ratio), name(base))
                .replace("times as many erased blocks than", "times as many erased blocks as")
        }
        ratio => format!(
            "It also wears the flash less: {} fewer erased blocks than {}",
            percent(1.0 - ratio),
            name(base)
        ),
    };
    let costly =
        runs.iter().filter(|run| alike(run, base) && !std::ptr::eq(*run, best) && !std::ptr::eq(*run, base));
    let costly = costly.max_by_key(|run| run.array.erases).filter(|run| erases(run) / erases(base) > 1.05);
    if let Some(run) = costly.filter(|run| erases(run) > erases(best) * 1.05) {
        let ratio = more(erases(run) / erases(base));
        let than = if ratio.ends_with("many") { "as" } else { "than" };
        let _ =
            write!(text, "; the most wearing is {}, with {ratio} erases {than} {}", name(run), name(base));
    }
    Some(text + ".")
}

/// One choice only: how long it takes.
fn alone(run: &Report) -> String {
    let all = &run.host.response_ns.all;
    let mut text = format!("A request takes {} on average", ms(mean_ns(run)));
    if let (Some(p50), Some(p99)) = (all.p50, all.p99) {
        let _ = write!(
            text,
            "; half of them finish within {}, one in a hundred takes {} or more",
            ms(p50 as f64),
            ms(p99 as f64)
        );
    }
    text + "."
}

/// One choice only: what garbage collection does to it.
fn collecting(run: &Report) -> Option<String> {
    collected(run).then(|| {
        format!(
            "Some SSD was collecting garbage {} of the time, and waiting for that was {} of the response time. {} \
             blocks were erased.",
            percent(any_collecting(run)),
            percent(gc_share(run)),
            numbers::count(run.array.erases)
        )
    })
}

/// How much of what garbage collection costs is won back.
fn to_the_bound(best: &Report, other: Option<&Report>, bound: &Report) -> String {
    let mut text = format!(
        "If collecting took no time at all ({}), a request would take {}",
        name(bound),
        ms(mean_ns(bound))
    );
    if let Some(other) = other.filter(|other| alike(other, bound)) {
        let (cost, left) = (mean_ns(other) - mean_ns(bound), mean_ns(best) - mean_ns(bound));
        if cost > ALIKE * mean_ns(bound) && left >= 0.0 {
            let _ = write!(
                text,
                ": {} wins back {} of what garbage collection costs under {}",
                name(best),
                percent(1.0 - left / cost),
                name(other)
            );
        }
    }
    text + "."
}

/// The runs whose responses grow throughout.
fn overloaded<'a>(runs: &'a [Report], growth: &[Option<f64>]) -> Vec<&'a Report> {
    let grows = |growth: &Option<f64>| growth.is_some_and(|growth| growth >= GROWTH_OVERLOADED);
    runs.iter().zip(growth).filter(|(_, growth)| grows(growth)).map(|(run, _)| run).collect()
}

fn cautions(runs: &[Report], intervals: &Intervals, growth: &[Option<f64>]) -> Vec<String> {
    let mut cautions = Vec::new();
    let names = |which: &[&Report]| match which.len() {
        n if n == runs.len() => "".to_owned(),
        _ => format!(" ({})", which.iter().map(|run| name(run)).collect::<Vec<_>>().join(", ")),
    };
    let of = |test: &dyn Fn(&Report) -> bool| runs.iter().filter(|run| test(run)).collect::<Vec<_>>();
    let overloaded = overloaded(runs, growth);
    if !overloaded.is_empty() {
        cautions.push(format!(
            "The array does not keep up with the load{}: requests arrive faster than they are served and response \
             times grow throughout. The figures say how long the run was, not how good the policy is.",
            names(&overloaded)
        ));
    }
    let windows = |run: &Report| run.precondition.write_amplification_windows;
    let unsteady = of(&|run| !run.precondition.steady && windows(run).iter().all(Option::is_some));
    if !unsteady.is_empty() {
        cautions.push(format!(
            "The array was still settling when the measurement began{}: results would drift with longer ageing \
             (precondition.overwrite).",
            names(&unsteady)
        ));
    }
    // Who starts with an empty array means it.
    let unknown = of(&|run| {
        let precondition = &run.precondition;
        precondition.fill > 0.0 && !precondition.steady && windows(run).contains(&None)
    });
    if !unknown.is_empty() {
        cautions.push(format!(
            "The array was aged too little to tell whether it had settled{}: a drive in use may behave otherwise.",
            names(&unknown)
        ));
    }
    let few = of(&|run| run.host.requests < 1_000);
    if !few.is_empty() {
        cautions.push(format!(
            "Fewer than 1,000 requests were measured{}: too few for a 99th percentile, and even means are rough.",
            names(&few)
        ));
    }
    let none = of(&|run| !collected(run));
    if !none.is_empty() {
        cautions.push(format!(
            "No garbage was collected{}: the load is too short or too light to need it.",
            names(&none)
        ));
    }
    let victims = |run: &Report| run.devices.iter().map(|device| device.gc_victims).sum::<u64>();
    let rare = of(&|run| collected(run) && !run.is_ideal() && victims(run) < VICTIMS_FEW);
    if !rare.is_empty() {
        cautions.push(format!(
            "Fewer than {VICTIMS_FEW} blocks were collected{}: few events to judge a policy by; try a longer load.",
            names(&rare)
        ));
    }
    for (warning, of) in warned(runs) {
        // Its first word is the name of a policy, which keeps its letters.
        let text = match warning.code.as_str() {
            KEEPS_APART => warning.text.clone(),
            _ => capital(&warning.text),
        };
        cautions.push(format!("{text}{}.", names(&of)));
    }
    cautions.extend(notes(runs));
    let has_interval =
        intervals.variants.first().and_then(|variant| variant.metrics.mean?.half_width).is_some();
    if runs.len() > 1 && intervals.method == Method::BatchMeans {
        cautions.push(match has_interval {
            true => "One random seed: the intervals say how much chance there is in this load, not what another used \
                     array would do. Run it again with --seeds 5 to see that too."
                .to_owned(),
            false => "One random seed and too few requests to tell chance from policy: run it again with --seeds 5, or with a \
                      longer load."
                .to_owned(),
        });
    }
    cautions
}

/// What the scenarios warn of, each once, with the runs that do. Space that a load leaves alone is noted beside the tables.
fn warned(runs: &[Report]) -> Vec<(&Warning, Vec<&Report>)> {
    let mut found: Vec<(&Warning, Vec<&Report>)> = Vec::new();
    for run in runs {
        for warning in run.warnings.iter().filter(|warning| warning.code != ADDRESS_SPACE) {
            match found.iter_mut().find(|(known, _)| *known == warning) {
                Some((_, of)) => of.push(run),
                None => found.push((warning, vec![run])),
            }
        }
    }
    found
}

fn titles(pair: &Pair<'_>) -> Titles {
    let Pair { best, other, bound, .. } = *pair;
    let p50 = |run: &Report| run.host.response_ns.all.p50.map(|ns| ms(ns as f64));
    let p99 = |run: &Report| run.host.response_ns.all.p99.map(|ns| ms(ns as f64));
    let both = |begin: &str, figure: &dyn Fn(&Report) -> Option<String>, other: &Report| {
        let figures = figure(best).zip(figure(other));
        figures.map(|(ours, theirs)| {
            format!("{begin} {ours} under {}, {theirs} under {}", name(best), name(other))
        })
    };
    let median = |run: &Report| run.host.response_ns.all.p50.unwrap_or(0) as f64;
    let responses = match other {
        Some(other) if change(median(best), median(other)).abs() >= ALIKE_TAIL => {
            both("Half of all requests finish within", &p50, other)
        }
        Some(other) => both("99 of 100 requests finish within", &p99, other),
        None => p50(best).zip(p99(best)).map(|(half, hundredth)| {
            format!("Half of all requests finish within {half}, one in a hundred takes {hundredth} or more")
        }),
    };
    let responses = responses.unwrap_or_else(|| "How long requests took".to_owned());
    let collecting = |run: &Report| percent(any_collecting(run));
    let overlap = match other {
        Some(other) if !collected(best) && !collected(other) && name(other) != name(best) => {
            format!("No SSD collected garbage under {} and {}", name(other), name(best))
        }
        other if !collected(best) && !other.is_some_and(collected) => "No SSD collected garbage".to_owned(),
        Some(other) => format!(
            "Some SSD is collecting {} of the time under {}, {} under {}",
            collecting(other),
            name(other),
            collecting(best),
            name(best)
        ),
        None => format!(
            "Some SSD is collecting {} of the time, all of them at once {}",
            collecting(best),
            percent(best.array.devices_in_gc_fraction.last().copied().unwrap_or(0.0))
        ),
    };
    let blame = match other.or(bound) {
        Some(other) if !collected(best) && !collected(other) && name(other) != name(best) => {
            format!("Nothing waits for garbage collection under {} and {}", name(other), name(best))
        }
        other if !collected(best) && !other.is_some_and(collected) => {
            "Nothing waits for garbage collection".to_owned()
        }
        Some(other) if !other.is_ideal() => format!(
            "Waiting for garbage collection is {} of the response time under {}, {} under {}",
            percent(gc_share(other)),
            name(other),
            percent(gc_share(best)),
            name(best)
        ),
        _ => format!("Waiting for garbage collection is {} of the response time", percent(gc_share(best))),
    };
    Titles { responses, overlap, blame, wear: wear_title(best, other) }
}

fn wear_title(best: &Report, other: Option<&Report>) -> String {
    let erases = |run: &Report| numbers::count(run.array.erases);
    match other {
        Some(other) if other.array.erases > 0 => {
            let difference = change(best.array.erases as f64, other.array.erases as f64);
            let than = match difference {
                d if d.abs() < ALIKE => format!("as many as {}, within 1%", name(other)),
                d if d > 0.0 => format!("{} more than {}", percent(d), name(other)),
                d => format!("{} fewer than {}", percent(d), name(other)),
            };
            format!("{} erased {} blocks, {than}", name(best), erases(best))
        }
        _ => format!("{} blocks were erased", erases(best)),
    }
}
