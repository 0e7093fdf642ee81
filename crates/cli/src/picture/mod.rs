//! `comparison.svg`: three panels that stand on their own.
//!
//! ```text
//!   +---------------------------------------+
//!   | (a) response times, cumulative, log x |
//!   +-------------------+-------------------+
//!   | (b) where the     | (c) share of time |
//!   |  time went        |  with k in GC     |
//!   +-------------------+-------------------+
//! ```
//!
//! Plain SVG without scripts, fonts or anything fetched. Colours are Okabe and Ito's, which people who see few colours
//! tell apart; runs also differ by dashes. Light by default; a viewer in dark mode gets light ink on dark paper.

mod axis;
mod blame;
mod canvas;
mod cdf;
mod overlap;

use harmonia_metrics::Report;

use crate::tables;
use canvas::{Anchor, Canvas, Frame};

/// Size of the picture, in pixels.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 700.0;
/// More runs than this are a sweep: the picture shows the first ones and says so.
const RUNS_MAX: usize = 12;

/// Colour and dashes of one run.
#[derive(Debug, Clone, Copy)]
struct Pen {
    color: &'static str,
    dashes: &'static str,
}

/// Okabe and Ito's colours for runs; those of the blame panel are others where possible.
const RUN_COLORS: [&str; 4] = ["#D55E00", "#0072B2", "#009E73", "#CC79A7"];
const DASHES: [&str; 3] = ["", "7 3", "2 3"];

fn pen(run: usize) -> Pen {
    let color = RUN_COLORS[run % RUN_COLORS.len()];
    Pen { color, dashes: DASHES[run / RUN_COLORS.len() % DASHES.len()] }
}

/// Draws the runs.
pub(crate) fn draw(runs: &[Report]) -> String {
    let shown = &runs[..runs.len().min(RUNS_MAX)];
    let mut canvas = Canvas::new(WIDTH, HEIGHT, &tables::headline(runs));
    canvas.text(20.0, 30.0, Anchor::Start, "title", &tables::headline(runs));
    let subtitle = if shown.len() < runs.len() {
        format!("Garbage collection in an array of SSDs; the first {} of {} runs", shown.len(), runs.len())
    } else {
        "Garbage collection in an array of SSDs, simulated by Harmonia".to_owned()
    };
    canvas.text(20.0, 50.0, Anchor::Start, "soft", &subtitle);
    cdf::draw(&mut canvas, Frame { left: 70.0, top: 95.0, width: 610.0, height: 235.0 }, shown);
    legend(&mut canvas, 705.0, 110.0, shown);
    blame::draw(&mut canvas, Frame { left: 150.0, top: 425.0, width: 270.0, height: 165.0 }, shown);
    overlap::draw(&mut canvas, Frame { left: 510.0, top: 425.0, width: 370.0, height: 165.0 }, shown);
    canvas.finish()
}

/// Which line is which run.
fn legend(canvas: &mut Canvas, left: f64, top: f64, runs: &[Report]) {
    for (index, run) in runs.iter().enumerate() {
        let y = top + index as f64 * 19.0;
        canvas.line((left, y), (left + 24.0, y), pen(index).color, pen(index).dashes, 2.5);
        canvas.text(left + 31.0, y + 4.0, Anchor::Start, "label", &shortened(tables::label(run), 22));
    }
}

/// A label of at most `characters`.
fn shortened(label: &str, characters: usize) -> String {
    if label.chars().count() <= characters {
        return label.to_owned();
    }
    label.chars().take(characters - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::tests::{four_runs, run};

    #[test]
    fn picture_of_four_runs() {
        insta::assert_snapshot!(draw(&four_runs()));
    }

    /// Writes the picture where a person can look at it: `HARMONIA_PICTURE=/tmp/x.svg cargo test -- --ignored`.
    #[test]
    #[ignore = "for looking at, not for checking"]
    #[expect(clippy::disallowed_methods, reason = "asked for by hand")]
    fn picture_to_look_at() {
        let path = std::env::var("HARMONIA_PICTURE").expect("HARMONIA_PICTURE names the file to write");
        std::fs::write(path, draw(&four_runs())).expect("written");
    }

    #[test]
    fn names_cannot_break_out_of_the_picture() {
        let mut runs = vec![run("<script>&\"", "blocking", 10, 5, &[0.9, 0.1])];
        runs[0].scenario["name"] = "a<b".into();
        let text = draw(&runs);
        assert!(!text.contains("<script>") && text.contains("&lt;script&gt;&amp;&quot;"), "{text}");
        assert!(text.contains("a&lt;b"));
    }

    #[test]
    fn runs_without_requests_and_sweeps_are_drawn_without_nonsense() {
        let mut empty = run("local", "blocking", 0, 0, &[]);
        empty.host = harmonia_metrics::HostReport::default();
        let sweep: Vec<_> =
            (0..30).map(|i| run(&format!("run {i}"), "blocking", i * 10, i, &[0.5; 65])).collect();
        for runs in [vec![], vec![empty], sweep] {
            let text = draw(&runs);
            assert!(!text.contains("NaN") && !text.contains("inf"), "{} runs", runs.len());
        }
    }

    #[test]
    fn the_first_pens_all_differ() {
        let pens: std::collections::BTreeSet<_> =
            (0..RUNS_MAX).map(|run| (pen(run).color, pen(run).dashes)).collect();
        assert_eq!(pens.len(), RUNS_MAX);
    }
}
