//! The concept page's section on failures: one run in which an SSD fails and a spare is rebuilt, drawn whole.
//!
//! ```text
//! ms |      ___----\__      mean response time of reads and of writes, by second
//! SSD 1  ▁▂▁▂▁▂▁▂▁▂▁▂▁      how much of each second it collects
//! SSD 2  ▁▂▁·····░░░▁▂      missing; rebuilt
//! ```

use std::fmt::Write;

use harmonia_figure::{Anchor, Canvas};
use harmonia_metrics::{AilingSpan, Ailment, Observer, PhaseResponse};
use harmonia_types::{Completion, DeviceId, Operation, RequestBlame, SimTime};

use super::concepts::{ms, percent};
use super::runs::{FAILING_POLICIES, Runs};

use super::{WIDTH, figure};

/// The run whose parts of response times the section shows.
const RUN: &str = "failing local";
/// Response times and collections are drawn as means over so long.
const SLICE_NS: u64 = 1_000_000_000;

/// All of one run; times in ns since the measured window began.
#[derive(Debug, Clone, Default)]
pub struct Course {
    from: u64,
    requests: Vec<Request>,
    /// By member: from, until.
    collecting: Vec<Vec<(u64, u64)>>,
    ailing: Vec<Ailing>,
    end: u64,
}

#[derive(Debug, Clone, Copy)]
struct Request {
    arrival: u64,
    response: u64,
    write: bool,
    blame: RequestBlame,
}

#[derive(Debug, Clone, Copy)]
struct Ailing {
    member: DeviceId,
    ailment: Ailment,
    start: u64,
    end: u64,
}

impl Observer for Course {
    fn begin(&mut self, from: SimTime, members: usize) {
        *self = Course { from: from.0, collecting: vec![Vec::new(); members], ..Course::default() };
    }

    fn completion(&mut self, completion: &Completion) {
        self.requests.push(Request {
            arrival: completion.arrival.0 - self.from,
            response: completion.response().0,
            write: completion.operation == Operation::Write,
            blame: completion.blame,
        });
    }

    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        self.collecting[member.index()].push((start.0 - self.from, end.0 - self.from));
    }

    fn ails(&mut self, span: &AilingSpan) {
        let AilingSpan { member, ailment, start, end } = *span;
        self.ailing.push(Ailing { member, ailment, start: start.0 - self.from, end: end.0 - self.from });
    }

    fn end(&mut self, end: SimTime) {
        self.end = end.0 - self.from;
    }
}

impl Course {
    /// Mean response time of the reads or writes that arrived in each slice.
    fn means(&self, write: bool) -> Vec<f64> {
        let mut sums = vec![(0u64, 0u64); self.end.div_ceil(SLICE_NS) as usize];
        for request in self.requests.iter().filter(|request| request.write == write) {
            let (sum, count) = &mut sums[(request.arrival / SLICE_NS) as usize];
            *sum += request.response;
            *count += 1;
        }
        sums.into_iter().map(|(sum, count)| sum as f64 / count.max(1) as f64).collect()
    }

    /// Share of each slice in which a member collected.
    fn shares(&self, member: usize) -> Vec<f64> {
        let mut shares = vec![0.0; self.end.div_ceil(SLICE_NS) as usize];
        for &(start, end) in &self.collecting[member] {
            for (slice, share) in shares.iter_mut().enumerate() {
                let from = slice as u64 * SLICE_NS;
                let overlap = end.min(from + SLICE_NS).saturating_sub(start.max(from));
                *share += overlap as f64 / SLICE_NS as f64;
            }
        }
        shares
    }

    /// What was wrong when a request arrived.
    fn ailment(&self, request: &Request) -> Option<Ailment> {
        let spans = self.ailing.iter().find(|span| (span.start..span.end).contains(&request.arrival));
        spans.map(|span| span.ailment)
    }

    /// Mean of a part of the response times of reads that arrived in a state. Unit: ns.
    fn part(&self, state: Option<Ailment>, of: impl Fn(&RequestBlame) -> u64) -> f64 {
        let reads = self.requests.iter().filter(|request| !request.write);
        let reads: Vec<_> = reads.filter(|request| self.ailment(request) == state).collect();
        reads.iter().map(|request| of(&request.blame)).sum::<u64>() as f64 / reads.len() as f64
    }
}

/// The states of the array, in the order in which it goes through them.
const STATES: [(&str, Option<Ailment>); 3] =
    [("whole", None), ("degraded", Some(Ailment::Failed)), ("rebuilding", Some(Ailment::Rebuilding))];

fn responses<'a>(runs: &'a Runs, policy: &str) -> [&'a PhaseResponse; 3] {
    let failures = runs.report(&format!("failing {policy}")).array.failures.as_ref();
    let responses = &failures.expect("an SSD fails in this run").response_ns;
    [&responses.whole, &responses.degraded, &responses.rebuilding]
}

fn reads(runs: &Runs, policy: &str) -> [f64; 3] {
    responses(runs, policy).map(|state| state.read.mean.unwrap_or(0.0))
}

fn writes(runs: &Runs, policy: &str) -> [f64; 3] {
    responses(runs, policy).map(|state| state.write.mean.unwrap_or(0.0))
}

/// Every number of the section by its name in the text.
pub fn facts(runs: &Runs) -> Vec<(String, String)> {
    let failures = runs.report(RUN).array.failures.as_ref().expect("an SSD fails in this run");
    let rebuild = failures.rebuild.expect("a spare is rebuilt").work;
    let course = runs.course(RUN);
    let span = |ailment| course.ailing.iter().find(|span| span.ailment == ailment).expect("it happens");
    let seconds = |ns: u64| format!("{:.0} s", ns as f64 / 1e9);
    let mut facts = vec![
        ("failing policies".to_owned(), policy_table(runs)),
        ("failing parts".to_owned(), part_table(runs)),
        ("failing at".to_owned(), seconds(span(Ailment::Failed).start)),
        ("failing replaced".to_owned(), seconds(span(Ailment::Failed).end)),
        ("failing rebuilt".to_owned(), seconds(span(Ailment::Rebuilding).end)),
        ("failing rate".to_owned(), format!("{:.0} MB/s", rebuild.rate.unwrap_or(0.0) / 1e6)),
        ("failing bytes".to_owned(), format!("{:.1} GB", rebuild.bytes as f64 / 1e9)),
    ];
    let rise = |value: f64, from: f64| percent(value / from - 1.0);
    for policy in FAILING_POLICIES {
        let ([whole, degraded, rebuilding], writes) = (reads(runs, policy), writes(runs, policy));
        let mut add = |name: &str, value: String| facts.push((format!("failing {name} {policy}"), value));
        add("reads whole", ms(whole));
        add("reads degraded", ms(degraded));
        add("reads rebuilding", ms(rebuilding));
        add("reads rise", rise(degraded, whole));
        add("writes whole", ms(writes[0]));
        add("writes degraded", ms(writes[1]));
        add("writes rise", rise(writes[2], writes[0]));
    }
    facts
}

fn policy_table(runs: &Runs) -> String {
    let mut table = String::from(
        "| policy | reads, whole | reads, degraded | reads, rebuilding | writes, whole | writes, degraded | writes, \
         rebuilding |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for policy in FAILING_POLICIES {
        let cells = [reads(runs, policy), writes(runs, policy)].concat();
        let cells: Vec<_> = cells.into_iter().map(ms).collect();
        let avoids = if policy == "gclock" { ", reads avoid" } else { "" };
        let _ = writeln!(table, "| `{policy}`{avoids} | {} |", cells.join(" | "));
    }
    table.trim_end().to_owned()
}

fn part_table(runs: &Runs) -> String {
    let mut table = String::from(
        "| state | waits for collection | waits for the rebuild | waits for a stripe | waits for other requests | flash, bus and \
         link | mean of reads |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let course = runs.course(RUN);
    for (name, state) in STATES {
        let queue_host = |blame: &RequestBlame| {
            blame.data.queue_host + blame.parity.queue_host + blame.reconstruct.queue_host
        };
        let work = |blame: &RequestBlame| {
            let waits = blame.queue_gc() + blame.queue_rebuild() + blame.stripe_wait + queue_host(blame);
            blame.total() - waits
        };
        let parts = [
            course.part(state, RequestBlame::queue_gc),
            course.part(state, RequestBlame::queue_rebuild),
            course.part(state, |blame| blame.stripe_wait),
            course.part(state, queue_host),
            course.part(state, work),
            course.part(state, RequestBlame::total),
        ];
        let _ = writeln!(table, "| {name} | {} |", parts.map(ms).join(" | "));
    }
    table.trim_end().to_owned()
}

/// What the section says in words, and whether the runs show it.
pub fn statements(runs: &Runs) -> Vec<(&'static str, bool)> {
    let course = runs.course(RUN);
    let [_, degraded, rebuilding] = STATES.map(|(_, state)| {
        course.part(state, RequestBlame::queue_gc) / course.part(state, RequestBlame::total)
    });
    let rises = |policy: &str| {
        let [whole, degraded, _] = reads(runs, policy);
        degraded / whole
    };
    vec![
        ("a missing SSD slows reads", rises("local") > 1.15),
        ("with an SSD missing writes are hardly slower", {
            FAILING_POLICIES[..2]
                .iter()
                .all(|policy| writes(runs, policy)[1] < 1.05 * writes(runs, policy)[0])
        }),
        (
            "a rebuild slows writes",
            FAILING_POLICIES.iter().all(|policy| writes(runs, policy)[2] > 1.1 * writes(runs, policy)[0]),
        ),
        ("nearly all of the waiting is still for collection", degraded.min(rebuilding) > 0.6),
        ("reads that avoid collection lose what they gained", {
            reads(runs, "gclock")[0] < 0.3 * reads(runs, "local")[0] && rises("gclock") > 3.0
        }),
        ("collecting together keeps its gain", {
            (0..3).all(|state| reads(runs, "reactive-inclusive")[state] < 0.55 * reads(runs, "local")[state])
        }),
        ("a member that is missing collects nothing", {
            let missing = course.ailing.iter().find(|span| span.ailment == Ailment::Failed);
            missing.is_some_and(|span| {
                let mut intervals = course.collecting[span.member.index()].iter();
                intervals.all(|&(start, end)| end <= span.start + 1 || start >= span.end)
            })
        }),
    ]
}

const LEFT: f64 = 62.0;
const PLOT_WIDTH: f64 = WIDTH - LEFT - 18.0;
const PLOT_HEIGHT: f64 = 150.0;
const TOP: f64 = 54.0;
const ROW: f64 = 16.0;
/// Between the plot and the members' rows.
const GAP: f64 = 12.0;
/// Share of the time that fills a member's row; more is drawn as this.
const FULL: f64 = 0.2;
/// Between ticks of the axis of time.
const TICK_S: u64 = 10;

/// The figure with its path.
pub fn figures(runs: &Runs) -> Vec<(String, String)> {
    vec![("docs/concepts/failure.svg".into(), draw(runs.course(RUN)))]
}

fn draw(course: &Course) -> String {
    let bottom = TOP + PLOT_HEIGHT;
    let rows_bottom = bottom + GAP + course.collecting.len() as f64 * ROW;
    let x = |ns: u64| LEFT + PLOT_WIDTH * ns as f64 / course.end as f64;
    let mut svg = figure(
        rows_bottom + 44.0,
        "Response times while an SSD of a RAID-5 is missing, and while a spare is rebuilt",
    );
    legend(&mut svg);
    for span in &course.ailing {
        let class = if span.ailment == Ailment::Failed { "shade" } else { "tint" };
        svg.rect(class, x(span.start), TOP, x(span.end) - x(span.start), PLOT_HEIGHT);
        let name = if span.ailment == Ailment::Failed { "degraded" } else { "rebuilding" };
        svg.text((x(span.start) + x(span.end)) / 2.0, TOP - 5.0, Anchor::Middle, "head", name);
    }
    let lines = [("blue", "", course.means(false)), ("red", "7 3", course.means(true))];
    let most = lines.iter().flat_map(|(_, _, means)| means).copied().fold(0.0, f64::max);
    let most = (most / 1e6).ceil() as u64;
    let y = |ns: f64| bottom - PLOT_HEIGHT * ns / (most as f64 * 1e6);
    for ms in (0..=most).step_by(if most > 8 { 4 } else { 2 }) {
        svg.trace("grid", "", &[(LEFT, y(ms as f64 * 1e6)), (LEFT + PLOT_WIDTH, y(ms as f64 * 1e6))]);
        svg.text(LEFT - 6.0, y(ms as f64 * 1e6) + 4.0, Anchor::End, "tick", &format!("{ms} ms"));
    }
    let middle = |slice: usize| (slice as u64 * SLICE_NS + SLICE_NS / 2).min(course.end);
    for (class, dashes, means) in &lines {
        let points: Vec<_> =
            means.iter().enumerate().map(|(slice, &mean)| (x(middle(slice)), y(mean))).collect();
        svg.trace(&format!("line {class}"), dashes, &points);
    }
    for member in 0..course.collecting.len() {
        let (row, foot) =
            (bottom + GAP + member as f64 * ROW, bottom + GAP + (member + 1) as f64 * ROW - 2.0);
        svg.text(LEFT - 6.0, row + ROW / 2.0 + 4.0, Anchor::End, "tick", &format!("SSD {member}"));
        for span in course.ailing.iter().filter(|span| span.member.index() == member) {
            let class = if span.ailment == Ailment::Failed { "shade" } else { "tint" };
            svg.rect(class, x(span.start), row, x(span.end) - x(span.start), ROW - 2.0);
        }
        svg.trace("grid", "", &[(LEFT, foot), (LEFT + PLOT_WIDTH, foot)]);
        for (slice, share) in course.shares(member).into_iter().enumerate().filter(|&(_, share)| share > 0.0)
        {
            let (from, height) = (slice as u64 * SLICE_NS, (share / FULL).min(1.0) * (ROW - 2.0));
            svg.rect("busy", x(from), foot - height, x((from + SLICE_NS).min(course.end)) - x(from), height);
        }
    }
    for second in (0..=course.end / 1_000_000_000).step_by(TICK_S as usize) {
        svg.text(x(second * 1_000_000_000), rows_bottom + 16.0, Anchor::Middle, "tick", &second.to_string());
    }
    svg.text(LEFT + PLOT_WIDTH / 2.0, rows_bottom + 34.0, Anchor::Middle, "", "time, s");
    svg.finish()
}

fn legend(svg: &mut Canvas) {
    svg.trace("line blue", "", &[(LEFT, 18.0), (LEFT + 26.0, 18.0)]);
    svg.text(LEFT + 32.0, 22.0, Anchor::Start, "", "mean of reads");
    svg.trace("line red", "7 3", &[(LEFT + 132.0, 18.0), (LEFT + 158.0, 18.0)]);
    svg.text(LEFT + 164.0, 22.0, Anchor::Start, "", "mean of writes");
    svg.rect("busy", LEFT + 268.0, 13.0, 22.0, 10.0);
    svg.text(LEFT + 296.0, 22.0, Anchor::Start, "", &format!("collects (full height: {})", percent(FULL)));
    svg.rect("shade", LEFT + 508.0, 11.0, 22.0, 14.0);
    svg.text(LEFT + 536.0, 22.0, Anchor::Start, "", "missing");
    svg.rect("tint", LEFT + 592.0, 11.0, 22.0, 14.0);
    svg.text(LEFT + 620.0, 22.0, Anchor::Start, "", "rebuilt");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_counts_in_every_slice_that_it_touches() {
        let collecting = vec![vec![(SLICE_NS / 2, SLICE_NS * 2)]];
        let course = Course { collecting, end: SLICE_NS * 3, ..Course::default() };
        assert_eq!(course.shares(0), [0.5, 1.0, 0.0]);
    }
}
