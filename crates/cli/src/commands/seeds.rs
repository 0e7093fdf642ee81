//! How many seeds a comparison runs with: so many, as many as are cheap, or as many as a time limit and the question need.

use std::time::Duration;

use harmonia_metrics::Comparison;
use harmonia_metrics::judgement::FIRST_LOOK;
use harmonia_run::{RunError, RunOptions, compare_seeds, compare_while};
use harmonia_scenario::Variant;

/// What was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seeds {
    /// So many.
    Fixed(u64),
    /// As many as the time allows; fewer if that is enough to decide.
    Until(Duration),
}

impl Seeds {
    /// Runs every variant with these seeds.
    pub(super) fn compare(
        self,
        variants: &[Variant],
        options: &RunOptions<'_>,
    ) -> Result<Comparison, RunError> {
        match self {
            Seeds::Fixed(seeds) => compare_seeds(variants, seeds, options),
            Seeds::Until(limit) => {
                let clock = Clock::start();
                let more = |comparison: &Comparison| {
                    let done = seeds_of(comparison);
                    more(done, comparison.is_decided(), clock.elapsed(), limit)
                };
                compare_while(variants, 1, more, options)
            }
        }
    }

    /// How many, as far as that is known beforehand.
    pub(super) fn known(self) -> Option<u64> {
        if let Seeds::Fixed(seeds) = self { Some(seeds) } else { None }
    }
}

/// How many seeds each variant of a comparison ran with.
pub(super) fn seeds_of(comparison: &Comparison) -> u64 {
    comparison.variants().next().map_or(0, |runs| runs.len() as u64)
}

/// How many seeds to run next, after so many in so much time. What came out is looked at after 10, 20, 40, .. seeds only,
/// for which the intervals are made; in between only the time counts.
fn more(done: u64, is_decided: bool, elapsed: Duration, limit: Duration) -> u64 {
    let next_look = std::iter::successors(Some(FIRST_LOOK), |look| Some(look * 2)).find(|&look| look > done);
    let is_look =
        done >= FIRST_LOOK && (done / FIRST_LOOK).is_power_of_two() && done.is_multiple_of(FIRST_LOOK);
    if is_look && is_decided {
        return 0;
    }
    let each = elapsed.as_secs_f64() / done.max(1) as f64;
    let fit = (limit.saturating_sub(elapsed).as_secs_f64() / each.max(1e-9)) as u64;
    fit.min(next_look.unwrap_or(done) - done)
}

/// Real time, which decides how much is run and never what comes out.
#[expect(clippy::disallowed_types, reason = "a time limit is one of real time")]
pub(super) struct Clock(std::time::Instant);

impl Clock {
    #[expect(clippy::disallowed_types, reason = "a time limit is one of real time")]
    pub(super) fn start() -> Self {
        Clock(std::time::Instant::now())
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_limit_is_filled_up_to_the_next_look() {
        let seconds = Duration::from_secs;
        let limit = seconds(60);
        assert_eq!(more(1, true, seconds(1), limit), 9, "one seed is no look, however clear it seems");
        assert_eq!(more(10, true, seconds(10), limit), 0, "decided");
        assert_eq!(more(10, false, seconds(10), limit), 10);
        assert_eq!(more(20, false, seconds(20), limit), 20);
        assert_eq!(more(40, false, seconds(40), limit), 20, "what the time allows");
        assert_eq!(more(60, true, seconds(60), limit), 0);
        assert_eq!(more(1, false, seconds(31), limit), 0, "a second would take too long");
        assert_eq!(more(1, false, seconds(30), limit), 1);
        assert_eq!(more(30, true, seconds(1), limit), 10, "30 seeds are no look");
    }
}
