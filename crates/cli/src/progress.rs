//! Progress bars on stderr, one a run or one for a file that is read, for whoever watches a terminal.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use harmonia_scenario::{Progress, Stage};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// Redrawing a counter less often than the eye notices costs nothing.
const REDRAWS_PER_SECOND: u64 = 10;

/// Bars on stderr.
pub(crate) struct Bars {
    all: MultiProgress,
    by_run: Mutex<BTreeMap<usize, ProgressBar>>,
}

impl Bars {
    /// No bars yet; they appear as runs begin.
    pub(crate) fn new() -> Self {
        let target = indicatif::ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND as u8);
        Bars { all: MultiProgress::with_draw_target(target), by_run: Mutex::new(BTreeMap::new()) }
    }

    /// Takes all bars off the screen, so that what is printed next stands alone.
    pub(crate) fn clear(&self) {
        let mut by_run = self.by_run.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *by_run).into_values().for_each(|bar| bar.finish_and_clear());
        let _ = self.all.clear();
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
    }

    fn advance(&self, run: usize, done: u64) {
        self.with_bar(run, |bar| bar.set_position(done));
    }

    fn end(&self, run: usize) {
        let mut by_run = self.by_run.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = by_run.remove(&run) {
            bar.finish_and_clear();
        }
    }
}

/// Nobody watches.
pub(crate) struct Silent;

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
        let template = "reading {bar:24} {percent:>3}%  {bytes_per_sec:>14}  ETA {eta}  {msg}";
        let style = ProgressStyle::with_template(template).expect("the template is a constant");
        let bar = ProgressBar::with_draw_target(Some(total), target);
        Some(Bytes(bar.with_style(style.progress_chars("██░"))))
    }

    /// So many bytes and rows are read.
    pub(crate) fn advance(&self, bytes: u64, rows: u64) {
        self.0.set_message(format!("{} rows", crate::numbers::count(rows)));
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
        Stage::Precondition => "{prefix:20} ageing     {bar:24} {percent:>3}%  {per_sec:>12}  ETA {eta}",
        Stage::Simulate => "{prefix:20} simulating {bar:24} {percent:>3}%  {per_sec:>12}  ETA {eta}",
    };
    ProgressStyle::with_template(template).expect("the template is a constant").progress_chars("██░")
}

#[cfg(test)]
mod tests {
    use super::*;

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
