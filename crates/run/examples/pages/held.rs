//! One small write over time: its pre-reads wait for a collecting member, and then its writes do.
//!
//! ```text
//! the write      |░░░░░░░░░▌|░░░░░▌|      waits, does its reads; waits, does its writes
//! SSD 0 (data)   ▬▬▬▬▬▬▬▬▬▬
//! SSD 1 (parity)        ▬▬▬▬▬▬▬▬▬▬▬
//! ```

use harmonia_array::layout::{Layout, Parity};
use harmonia_figure::{Anchor, Canvas};
use harmonia_types::DeviceId;

use super::timeline::{Beginning, Held};
use super::{WIDTH, figure};

/// A wait shorter than this could not be seen.
const LEAST_NS: u64 = 2_000_000;
const LEFT: f64 = 112.0;
const PLOT_WIDTH: f64 = WIDTH - LEFT - 18.0;
const LANE: f64 = 76.0;
const LANE_HEIGHT: f64 = 20.0;
const TOP: f64 = 114.0;
const ROW: f64 = 14.0;

/// A write and the members it needs.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    pub held: Held,
    pub data: DeviceId,
    pub parity: DeviceId,
}

impl Shown {
    /// The first write of a run that arrived while its parity member collected and its data member did not, and found the
    /// data member collecting when its pre-reads were done.
    ///
    /// # Panics
    /// If there is none.
    pub fn first(run: &Beginning, layout: &Layout) -> Shown {
        let Layout::Parity(layout) = layout else { panic!("a level with parity") };
        let shown = run.held_twice.iter().map(|&held| Shown::of(held, layout));
        let mut shown = shown.filter(|shown| shown.is_clear(run));
        shown.next().expect("a write that was held twice")
    }

    fn of(held: Held, layout: &Parity) -> Shown {
        let unit = layout.stripe_bytes() / u64::from(layout.data_units());
        let (stripe, within) = (held.offset / layout.stripe_bytes(), held.offset % layout.stripe_bytes());
        let data = layout.data_member(stripe, (within / unit) as u16);
        Shown { held, data, parity: layout.p_member(stripe) }
    }

    /// When its pre-reads were done. What waits behind them is charged to the data that finished last.
    pub fn pre_read(&self) -> u64 {
        self.held.finish - self.held.blame.data.total()
    }

    /// Both waits can be seen, and neither is for a collection that this write itself began.
    fn is_clear(&self, run: &Beginning) -> bool {
        let Held { arrival, blame, .. } = self.held;
        let began = |member: DeviceId, after: u64, until: u64| {
            let mut intervals = run.collecting[member.index()].iter();
            intervals.any(|&(start, end)| after <= start && start < until && end > until)
        };
        blame.stripe_wait == 0
            && blame.parity.queue_gc.min(blame.data.queue_gc) > LEAST_NS
            && began(self.parity, 0, arrival)
            && !began(self.data, 0, arrival)
            && began(self.data, arrival + 1, self.pre_read())
    }
}

/// Draws a write.
pub fn draw(run: &Beginning, shown: &Shown) -> String {
    let Shown { held, data, parity } = *shown;
    let response = held.finish - held.arrival;
    let (from, until) = (held.arrival.saturating_sub(response / 6), held.finish + response / 10);
    let x = |ns: u64| LEFT + PLOT_WIDTH * (ns.clamp(from, until) - from) as f64 / (until - from) as f64;
    let bottom = TOP + run.collecting.len() as f64 * ROW;
    let mut svg = figure(bottom + 44.0, "A small write to RAID-5 that waits for collections twice");
    legend(&mut svg);

    svg.text(LEFT - 8.0, LANE + 14.0, Anchor::End, "", "the write");
    let phases = [
        ("pre-reads", held.arrival, shown.pre_read(), held.blame.parity.queue_gc),
        ("writes", shown.pre_read(), held.finish, held.blame.data.queue_gc),
    ];
    for (name, start, end, waits) in phases {
        svg.rect("shade", x(start), LANE, x(start + waits) - x(start), LANE_HEIGHT);
        svg.rect("mark blue", x(start + waits), LANE + 1.0, x(end) - x(start + waits), LANE_HEIGHT - 2.0);
        let text = format!("{name}: {}", super::concepts::ms((end - start) as f64));
        svg.text((x(start) + x(end)) / 2.0, LANE - 8.0, Anchor::Middle, "", &text);
    }
    for (member, intervals) in run.collecting.iter().enumerate() {
        let row = TOP + member as f64 * ROW;
        let role = match member {
            member if member == data.index() => " (data)",
            member if member == parity.index() => " (parity)",
            _ => "",
        };
        let class = if role.is_empty() { "tick" } else { "" };
        svg.text(LEFT - 8.0, row + ROW / 2.0 + 4.0, Anchor::End, class, &format!("SSD {member}{role}"));
        svg.trace("grid", "", &[(LEFT, row + ROW / 2.0), (LEFT + PLOT_WIDTH, row + ROW / 2.0)]);
        for &(start, end) in intervals.iter().filter(|&&(start, end)| start < until && end > from) {
            svg.rect("busy", x(start), row + 2.0, x(end) - x(start), ROW - 4.0);
        }
    }
    for at in [held.arrival, shown.pre_read(), held.finish] {
        svg.trace("axis", "3 3", &[(x(at), LANE), (x(at), bottom + 4.0)]);
    }
    for ms in (0..=response / 1_000_000).step_by(5) {
        svg.text(x(held.arrival + ms * 1_000_000), bottom + 18.0, Anchor::Middle, "tick", &ms.to_string());
    }
    svg.text(LEFT + PLOT_WIDTH / 2.0, bottom + 36.0, Anchor::Middle, "", "ms since the write arrived");
    svg.finish()
}

fn legend(svg: &mut Canvas) {
    svg.rect("shade", LEFT, 12.0, 26.0, 12.0);
    svg.text(LEFT + 34.0, 22.0, Anchor::Start, "", "waits for collection");
    svg.rect("mark blue", LEFT + 180.0, 13.0, 26.0, 10.0);
    svg.text(LEFT + 214.0, 22.0, Anchor::Start, "", "reads, writes, or waits for other requests");
    svg.rect("busy", LEFT + 480.0, 13.0, 26.0, 10.0);
    svg.text(LEFT + 514.0, 22.0, Anchor::Start, "", "this SSD collects");
}
