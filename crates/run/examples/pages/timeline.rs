//! Response times over a stretch of a run, with each member's garbage collection under them.
//!
//! ```text
//! ms |   .  . █  █        a dot per request, where it arrived
//!    |. .. ...    . ...   shaded: some member collects
//! SSD 0    ▬▬▬▬
//! SSD 1         ▬▬▬
//! ```

use harmonia_figure::{Anchor, Canvas};
use harmonia_metrics::Observer;
use harmonia_types::{Completion, DeviceId, RequestBlame, SimTime};

use super::{WIDTH, figure};

/// What is drawn: the beginning of the measured window.
pub const LENGTH_NS: u64 = 300_000_000;

/// The beginning of one run; times in ns since the measured window began.
#[derive(Debug, Clone, Default)]
pub struct Beginning {
    from: u64,
    /// Arrival, response time, met garbage collection.
    requests: Vec<(u64, u64, bool)>,
    /// By member: from, until.
    pub collecting: Vec<Vec<(u64, u64)>>,
    /// Writes that waited for collections both before and after their pre-reads were done.
    pub held_twice: Vec<Held>,
}

/// One write; times in ns since the measured window began.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    pub offset: u64,
    pub arrival: u64,
    pub finish: u64,
    pub blame: RequestBlame,
}

impl Observer for Beginning {
    fn begin(&mut self, from: SimTime, members: usize) {
        *self = Beginning { from: from.0, collecting: vec![Vec::new(); members], ..Beginning::default() };
    }

    fn completion(&mut self, completion: &Completion) {
        let arrival = completion.arrival.0 - self.from;
        if arrival < LENGTH_NS {
            self.requests.push((arrival, completion.response().0, completion.met_gc));
        }
        let (finish, blame) = (completion.finish.0 - self.from, completion.blame);
        if finish < LENGTH_NS && blame.parity.queue_gc > 0 && blame.data.queue_gc > 0 {
            self.held_twice.push(Held { offset: completion.offset, arrival, finish, blame });
        }
    }

    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        let (start, end) = (start.0 - self.from, end.0 - self.from);
        if start < LENGTH_NS {
            self.collecting[member.index()].push((start, end.min(LENGTH_NS)));
        }
    }

    fn end(&mut self, _: SimTime) {}
}

const LEFT: f64 = 62.0;
const PLOT_WIDTH: f64 = WIDTH - LEFT - 18.0;
const PLOT_HEIGHT: f64 = 110.0;
const ROW: f64 = 12.0;
/// Between a panel's plot and its rows.
const GAP: f64 = 10.0;
/// Between ticks of the response-time axis, in ms.
const MS_STEP: u64 = 5;

/// Draws runs below one another on one axis of time.
pub fn draw(title: &str, runs: &[(&str, &Beginning)]) -> String {
    let rows = |run: &Beginning| run.collecting.len() as f64 * ROW;
    let height: f64 = runs.iter().map(|(_, run)| 26.0 + PLOT_HEIGHT + GAP + rows(run) + 14.0).sum();
    let longest = runs.iter().flat_map(|(_, run)| &run.requests).map(|request| request.1).max().unwrap_or(0);
    let ms_max = (longest / 1_000_000 / MS_STEP + 1) * MS_STEP;
    let mut svg = figure(40.0 + height + 30.0, title);
    legend(&mut svg);
    let mut top = 40.0;
    for (label, run) in runs {
        svg.text(LEFT, top + 14.0, Anchor::Start, "head", label);
        top += 26.0;
        panel(&mut svg, top, ms_max, run);
        top += PLOT_HEIGHT + GAP + rows(run) + 14.0;
    }
    for ms in (0..=300).step_by(50) {
        svg.text(x(ms * 1_000_000), top + 4.0, Anchor::Middle, "tick", &ms.to_string());
    }
    svg.text(LEFT + PLOT_WIDTH / 2.0, top + 20.0, Anchor::Middle, "", "time of arrival, ms");
    svg.finish()
}

fn legend(svg: &mut Canvas) {
    svg.dots("free", [(LEFT + 4.0, 18.0)].into_iter());
    svg.text(LEFT + 12.0, 22.0, Anchor::Start, "", "a request");
    svg.dots("hit", [(LEFT + 96.0, 18.0)].into_iter());
    svg.text(LEFT + 104.0, 22.0, Anchor::Start, "", "one that met garbage collection");
    svg.rect("busy", LEFT + 316.0, 14.0, 22.0, ROW - 3.0);
    svg.text(LEFT + 344.0, 22.0, Anchor::Start, "", "this SSD collects");
    svg.rect("shade", LEFT + 470.0, 10.0, 22.0, 16.0);
    svg.text(LEFT + 498.0, 22.0, Anchor::Start, "", "at least one does");
}

fn x(ns: u64) -> f64 {
    LEFT + PLOT_WIDTH * ns as f64 / LENGTH_NS as f64
}

fn panel(svg: &mut Canvas, top: f64, ms_max: u64, run: &Beginning) {
    let bottom = top + PLOT_HEIGHT;
    let rows_bottom = bottom + GAP + run.collecting.len() as f64 * ROW;
    for (start, end) in union(&run.collecting) {
        svg.rect("shade", x(start), top, x(end) - x(start), rows_bottom - top);
    }
    let y = |ns: u64| bottom - PLOT_HEIGHT * ns as f64 / (ms_max * 1_000_000) as f64;
    for ms in (0..=ms_max).step_by(MS_STEP as usize) {
        svg.trace("grid", "", &[(LEFT, y(ms * 1_000_000)), (LEFT + PLOT_WIDTH, y(ms * 1_000_000))]);
        svg.text(LEFT - 6.0, y(ms * 1_000_000) + 4.0, Anchor::End, "tick", &format!("{ms} ms"));
    }
    for (class, affected) in [("free", false), ("hit", true)] {
        let of_class = run.requests.iter().filter(|request| request.2 == affected);
        svg.dots(class, of_class.map(|&(arrival, response, _)| (x(arrival), y(response))));
    }
    for (member, intervals) in run.collecting.iter().enumerate() {
        let row = bottom + GAP + member as f64 * ROW;
        svg.text(LEFT - 6.0, row + ROW / 2.0 + 4.0, Anchor::End, "tick", &format!("SSD {member}"));
        svg.trace("grid", "", &[(LEFT, row + ROW / 2.0), (LEFT + PLOT_WIDTH, row + ROW / 2.0)]);
        for &(start, end) in intervals {
            svg.rect("busy", x(start), row + 2.0, (x(end) - x(start)).max(0.5), ROW - 4.0);
        }
    }
}

/// When at least one member collects.
fn union(members: &[Vec<(u64, u64)>]) -> Vec<(u64, u64)> {
    let mut all: Vec<_> = members.iter().flatten().copied().collect();
    all.sort_unstable();
    let mut union: Vec<(u64, u64)> = Vec::new();
    for (start, end) in all {
        match union.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => union.push((start, end)),
        }
    }
    union
}

#[cfg(test)]
mod tests {
    #[test]
    fn intervals_that_touch_are_one() {
        let members = [vec![(5, 7), (20, 30)], vec![(0, 5), (22, 25)]];
        assert_eq!(super::union(&members), [(0, 7), (20, 30)]);
    }
}
