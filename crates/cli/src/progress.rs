//! Progress bars on stderr, one a run or one for a file that is read, for whoever watches a terminal.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use harmonia_run::{Progress, Stage};
use harmonia_tune::Watch;
use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressState, ProgressStyle};

/// Redrawing a counter less often than the eye notices costs nothing.
const REDRAWS_PER_SECOND: u64 = 10;

/// Bars on stderr.
pub(crate) struct Bars {
    all: MultiProgress,
    by_run: Mutex<BTreeMap<usize, ProgressBar>>,
    whole: Option<Whole>,
}

/// How far all runs are together, in thousandths of a run.
struct Whole {
    bar: ProgressBar,
    runs: u64,
    state: Mutex<WholeState>,
}

#[derive(Default)]
struct WholeState {
    done: u64,
    /// Of runs that are being simulated: requests in all, and thousandths done.
    going_on: BTreeMap<usize, (u64, u64)>,
}

impl Whole {
    const RUN: u64 = 1000;

    fn of(runs: u64) -> Self {
        let template = "{msg:31} {bar:24} {percent:>3}%                ETA {left}";
        let bar = ProgressBar::new(runs * Self::RUN).with_style(styled(template));
        let whole = Whole { bar, runs, state: Mutex::default() };
        whole.show(&WholeState::default());
        whole
    }

    /// The first run that is simulated starts the clock: how long ageing took says nothing of the runs.
    fn begin(&self, run: usize, total: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.done == 0 && state.going_on.is_empty() {
            self.bar.reset_elapsed();
        }
        state.going_on.insert(run, (total, 0));
    }

    fn advance(&self, run: usize, requests: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((total, thousandths)) = state.going_on.get_mut(&run) {
            // How long a trace is need not be known.
            *thousandths = (requests * Self::RUN).checked_div(*total).unwrap_or(0).min(Self::RUN);
            self.show(&state);
        }
    }

    fn end(&self, run: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.going_on.remove(&run).is_some() {
            state.done += 1;
            self.show(&state);
        }
    }

    fn known(&self, runs: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += runs;
        self.show(&state);
        // They say nothing of how long the others take.
        self.bar.reset_eta();
    }

    fn show(&self, state: &WholeState) {
        let going_on: u64 = state.going_on.values().map(|(_, thousandths)| thousandths).sum();
        self.bar.set_position(state.done * Self::RUN + going_on);
        self.bar.set_message(format!("{} of {} runs done", state.done, self.runs));
    }
}

impl Bars {
    /// No bars yet; they appear as runs begin.
    pub(crate) fn new() -> Self {
        let target = indicatif::ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND as u8);
        Bars { all: MultiProgress::with_draw_target(target), by_run: Mutex::default(), whole: None }
    }

    /// Besides, one for all of so many runs.
    pub(crate) fn of(runs: u64) -> Self {
        let bars = Bars { whole: Some(Whole::of(runs)), ..Bars::new() };
        bars.whole.iter().for_each(|whole| drop(bars.all.add(whole.bar.clone())));
        bars
    }

    /// Takes all bars off the screen, so that what is printed next stands alone.
    pub(crate) fn clear(&self) {
        let mut by_run = self.by_run.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *by_run).into_values().for_each(|bar| bar.finish_and_clear());
        self.whole.iter().for_each(|whole| whole.bar.finish_and_clear());
        let _ = self.all.clear();
    }

    /// Does `print` while no bar is on the screen.
    pub(crate) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.all.suspend(print)
    }

    fn with_bar(&self, run: usize, act: impl FnOnce(&ProgressBar)) {
        let by_run = self.by_run.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = by_run.get(&run) {
            act(bar);
        }
    }
}

impl Progress for Bars {
    fn begin(&self, run: usize, label: &str, stage: Stage, total: u64) {
        let bar = self.all.add(ProgressBar::new(total).with_style(style(stage)));
        bar.set_prefix(label.to_owned());
        bar.enable_steady_tick(Duration::from_millis(1000 / REDRAWS_PER_SECOND));
        let mut by_run = self.by_run.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(previous) = by_run.insert(run, bar) {
            previous.finish_and_clear();
        }
        if let Some(whole) = self.whole.as_ref().filter(|_| stage == Stage::Simulate) {
            whole.begin(run, total);
        }
    }

    fn advance(&self, run: usize, done: u64) {
        self.with_bar(run, |bar| bar.set_position(done));
        self.whole.iter().for_each(|whole| whole.advance(run, done));
    }

    fn end(&self, run: usize) {
        let mut by_run = self.by_run.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = by_run.remove(&run) {
            bar.finish_and_clear();
        }
        self.whole.iter().for_each(|whole| whole.end(run));
    }
}

impl Watch for Bars {
    fn known(&self, runs: usize) {
        self.whole.iter().for_each(|whole| whole.known(runs as u64));
    }
}

/// How many points of a sweep are there.
pub(crate) struct Points(ProgressBar);

impl Points {
    /// A bar that shows once it is known how many there are.
    pub(crate) fn new() -> Self {
        let target = indicatif::ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND as u8);
        let template = "points {bar:24} {pos} of {len}  {rate:>10}  ETA {left}";
        let bar = ProgressBar::with_draw_target(None, target);
        Points(bar.with_style(styled(template)))
    }
}

impl harmonia_sweep::Watch for Points {
    fn begin(&self, points: usize) {
        self.0.set_length(points as u64);
        self.0.reset();
        self.0.enable_steady_tick(Duration::from_millis(1000 / REDRAWS_PER_SECOND));
    }

    fn done(&self) {
        self.0.inc(1);
    }
}

impl Drop for Points {
    /// What is printed next stands alone.
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Nobody watches.
pub(crate) struct Silent;

impl Watch for Silent {
    fn known(&self, _: usize) {}
}

impl Progress for Silent {
    fn begin(&self, _: usize, _: &str, _: Stage, _: u64) {}
    fn advance(&self, _: usize, _: u64) {}
    fn end(&self, _: usize) {}
}

/// Files below this are read before a bar could be looked at, in bytes.
const SHORT_BYTES: u64 = 32 << 20;

/// How far the reading of files is.
pub(crate) struct Bytes(ProgressBar);

impl Bytes {
    /// A bar over so many bytes; none where they take no time.
    pub(crate) fn new(total: u64) -> Option<Self> {
        if total < SHORT_BYTES {
            return None;
        }
        let target = indicatif::ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND as u8);
        let template = "reading {bar:24} {percent:>3}%  {bytes_per_sec:>14}  ETA {left}  {msg}";
        let bar = ProgressBar::with_draw_target(Some(total), target);
        Some(Bytes(bar.with_style(styled(template))))
    }

    /// So many bytes and rows are read.
    pub(crate) fn advance(&self, bytes: u64, rows: u64) {
        self.0.set_message(format!("{} rows", harmonia_tables::numbers::count(rows)));
        self.0.set_position(bytes);
    }
}

impl Drop for Bytes {
    /// What is printed next stands alone.
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn style(stage: Stage) -> ProgressStyle {
    let template = match stage {
        Stage::Precondition => "{prefix:20} ageing     {bar:24} {percent:>3}%  {rate:>12}  ETA {left}",
        Stage::Simulate => "{prefix:20} simulating {bar:24} {percent:>3}%  {rate:>12}  ETA {left}",
    };
    styled(template)
}

/// A style with two keys of our own: `rate`, in figures that can be read while they change, and `left`, which is not known before
/// anything is done.
fn styled(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the template is a constant");
    let write_rate = |state: &ProgressState, text: &mut dyn Write| {
        let _ = text.write_str(&rate(state.per_sec()));
    };
    let write_left = |state: &ProgressState, text: &mut dyn Write| {
        let _ = text.write_str(&left(state.pos(), state.eta()));
    };
    style.with_key("rate", write_rate).with_key("left", write_left).progress_chars("██░")
}

fn rate(per_second: f64) -> String {
    if per_second < 100.0 {
        return format!("{per_second:.1}/s");
    }
    format!("{}/s", harmonia_tables::numbers::count(per_second as u64))
}

fn left(done: u64, left: Duration) -> String {
    if done == 0 { "unknown".to_owned() } else { format!("{:#}", HumanDuration(left)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_runs_have_a_bar_that_ageing_does_not_move() {
        let bars = Bars::of(3);
        let position = || bars.whole.as_ref().map(|whole| whole.bar.position());
        bars.begin(0, "a", Stage::Precondition, 10);
        bars.advance(0, 5);
        bars.end(0);
        assert_eq!(position(), Some(0));
        bars.begin(0, "a", Stage::Simulate, 20);
        bars.begin(1, "b", Stage::Simulate, 0);
        bars.advance(0, 15);
        bars.advance(1, 15);
        assert_eq!(position(), Some(750), "a total of 0 is not known");
        bars.end(1);
        assert_eq!(position(), Some(1750));
    }

    #[test]
    fn a_rate_can_be_read_and_nothing_is_foretold_before_anything_is_done() {
        assert_eq!([rate(0.25), rate(29_167.471_528_996_928)], ["0.2/s", "29,167/s"]);
        assert_eq!(left(0, Duration::ZERO), "unknown");
        assert_eq!(left(1, Duration::from_millis(61_400)), "61s");
    }

    #[test]
    fn a_run_has_one_bar_through_its_stages_and_none_after() {
        let bars = Bars::new();
        bars.begin(3, "local", Stage::Precondition, 10);
        bars.begin(3, "local", Stage::Simulate, 20);
        bars.advance(3, 7);
        let positions = |bars: &Bars| -> Vec<(u64, Option<u64>)> {
            bars.by_run
                .lock()
                .expect("not poisoned")
                .values()
                .map(|bar| (bar.position(), bar.length()))
                .collect()
        };
        assert_eq!(positions(&bars), [(7, Some(20))]);
        bars.advance(4, 1);
        bars.end(3);
        assert_eq!(positions(&bars), []);
    }
}
