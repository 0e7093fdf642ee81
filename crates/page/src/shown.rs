//! Which runs the charts begin with, and which have a recording on the page: of many runs a few.
//!
//! Headline and titles must find their lines in the charts, so the runs they speak of come first. The reader may add
//! others, which is up to the scripts.

use harmonia_metrics::{Winner, Winners};

use harmonia_tables::loads::Part;

/// As many runs are shown at once.
const FEW: usize = 8;
/// As many runs have recordings on the page.
const RECORDED: usize = 24;

/// By run, whether the charts begin with it.
pub(super) fn shown(parts: &[Part<'_>], spoken_of: &[usize], runs: usize) -> Vec<bool> {
    if runs <= FEW {
        return vec![true; runs];
    }
    let mut shown = vec![false; runs];
    let mut wanted = spoken_of.to_vec();
    wanted.extend(
        parts.iter().filter(|part| part.indices.iter().any(|run| spoken_of.contains(run))).flat_map(winners),
    );
    if parts.len() == 1 {
        wanted.push(0);
    }
    let mut room = FEW;
    for run in wanted {
        if room > 0 && run < runs && !shown[run] {
            (shown[run], room) = (true, room - 1);
        }
    }
    shown
}

/// Those with the lowest p99 and the fewest erases.
fn winners(part: &Part<'_>) -> Vec<usize> {
    let figures: [fn(&Winners) -> &Option<Winner>; 2] = [|winners| &winners.p99, |winners| &winners.erases];
    let lowest =
        figures.iter().filter_map(|figure| figure(&part.comparison.winners).as_ref()?.labels.first());
    lowest.filter_map(|label| part.position(part.runs.iter().find(|run| run.label == *label)?)).collect()
}

/// By run, whether its recording is on the page: those that are shown first, then the others in their order.
pub(super) fn recorded(shown: &[bool]) -> Vec<bool> {
    let first = (0..shown.len()).filter(|&run| shown[run]);
    let rest = (0..shown.len()).filter(|&run| !shown[run]);
    let mut recorded = vec![false; shown.len()];
    first.chain(rest).take(RECORDED).for_each(|run| recorded[run] = true);
    recorded
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_metrics::Comparison;
    use harmonia_tables::Cross;
    use harmonia_tables::fixtures::run;
    use harmonia_tables::loads::parts;

    #[test]
    fn of_many_runs_those_spoken_of_and_the_winners_are_shown() {
        let mean = [90, 50, 70, 60, 40, 30, 80, 20, 65, 75];
        let runs = mean.iter().enumerate().map(|(at, &gc_us)| {
            run(&format!("run {at}"), "blocking", gc_us * 100, 5_000 - at as u64, &[1.0])
        });
        let comparison = Comparison::new(runs.collect(), 1);
        let all = parts(&comparison, &Cross::default(), &comparison.runs);
        let of = |spoken_of: &[usize]| {
            let shown = shown(&all, spoken_of, 10);
            (0..10).filter(|&run| shown[run]).collect::<Vec<_>>()
        };
        // Run 7 has the lowest p99, run 9 the fewest erases, run 0 is the baseline.
        assert_eq!(of(&[3]), [0, 3, 7, 9]);
        assert_eq!(of(&[1, 2, 3, 4, 5, 6, 8, 9, 7]), [1, 2, 3, 4, 5, 6, 8, 9], "no more than eight");
        assert_eq!(shown(&all, &[], 8), [true; 8]);
    }

    #[test]
    fn recordings_are_kept_of_those_shown_wherever_they_stand() {
        let mut shown = vec![false; 100];
        shown[99] = true;
        let recorded = recorded(&shown);
        assert!(recorded[99] && recorded[22] && !recorded[23]);
        assert_eq!(recorded.iter().filter(|kept| **kept).count(), 24);
    }
}
