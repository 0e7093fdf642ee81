//! A policy that is faster than collection that takes no time: then not all of its gain is collection, and the first screen says what is.
//!
//! Leaves out: how much each cause gives; the parts of the response time say more (`--details`).

use harmonia_metrics::judgement::collection::{Metric, figures, is_sure};
use harmonia_metrics::{Comparison, Report};

use crate::cost::is_overloaded;
use crate::label;
use crate::numbers::{count, ms};
use crate::winners::Name;

/// Rows of read-modify-write beyond those of the bound, as a share of all, from which on they are named.
const OTHER_WAY: f64 = 0.1;

/// A smaller share of the gain is none.
const LEAST: f64 = 0.005;

/// That, where the variant of the lowest mean is below the bound beyond chance. `runs` holds one report a variant.
pub fn sentence(comparison: &Comparison, runs: &[Report], name: Name) -> Option<String> {
    let best = comparison.winners.mean.as_ref()?.labels.first()?;
    let variants: Vec<&[Report]> = comparison.variants().collect();
    let at = runs.iter().position(|run| label(run) == best)?;
    let bound = runs.iter().position(Report::is_ideal)?;
    let figure =
        figures(variants[at], variants[bound], 1).into_iter().find(|one| one.metric == Metric::Mean)?;
    let is_below = figure.change.as_ref().is_some_and(is_sure) && figure.value < figure.against;
    let first = runs.first()?.host.response_ns.all.mean?;
    (at > 0 && is_below && !is_overloaded(comparison, &runs[0])).then(|| {
        let (gain, collection) = (first - figure.value, (first - figure.against).max(0.0));
        let how = match collection < LEAST * gain {
            true => "does not come from collection but".to_owned(),
            false => format!("comes from collection for about {} ms. The rest comes", ms(collection)),
        };
        let elsewhere = elsewhere(&runs[at], &runs[bound], &runs[0], name);
        let over = name(label(&runs[0]));
        format!("The gain of {} over {over}, {} ms, {how} from {elsewhere}.", name(best), ms(gain))
    })
}

/// What a policy does that the bound does not; how often the first run does it, for comparison.
fn elsewhere(run: &Report, bound: &Report, first: &Report, name: Name) -> String {
    let rows = |run: &Report| {
        let redundancy = run.array.redundancy.as_ref();
        redundancy.map_or((0, 0), |made| (made.rows_read_modify_write, made.rows_reconstruct_write))
    };
    let ((modified, rebuilt), (before, _)) = (rows(run), rows(bound));
    let (unchanged, _) = rows(first);
    if modified.saturating_sub(before.max(unchanged)) as f64 > OTHER_WAY * (modified + rebuilt) as f64 {
        let (modified, unchanged, other) = (count(modified), count(unchanged), name(label(first)));
        return format!(
            "how parity is made: by read-modify-write in {modified} stripes ({other}: {unchanged}). With array.small_write = \
             \"read-modify-write\" {other} gains it, too"
        );
    }
    match run.array.reconstruct.as_ref().map_or(0, |reads| reads.rebuilt_pages) {
        0 => "elsewhere (--details)".to_owned(),
        pages => format!("reads that are rebuilt around busy members ({} pages)", count(pages)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::run;

    fn said(policy_gc_us: u64, bound_gc_us: u64, rows: u64) -> Option<String> {
        let mut runs = [
            run("local", "blocking", 4_000, 12_000, &[1.0]),
            run("plm", "blocking", policy_gc_us, 12_000, &[1.0]),
            run("ideal", "ideal", bound_gc_us, 12_000, &[1.0]),
        ];
        runs[1].array.redundancy = Some(Default::default());
        if let Some(made) = &mut runs[1].array.redundancy {
            made.rows_read_modify_write = rows;
        }
        sentence(&Comparison::new(runs.to_vec(), 1), &runs, str::to_owned)
    }

    #[test]
    fn a_policy_below_the_bound_says_what_else_it_gains_by() {
        let text = said(0, 3_000, 7).expect("below it");
        assert!(text.starts_with("The gain of plm over local, "), "{text}");
        assert!(
            text.contains("from how parity is made: by read-modify-write in 7 stripes (local: 0). With array.small_write"),
            "{text}"
        );
        assert!(text.contains(" ms. The rest comes from how parity is made"), "{text}");
        assert!(
            said(0, 4_000, 7)
                .expect("below it")
                .contains(" does not come from collection but from how parity is made")
        );
        assert!(said(0, 3_000, 0).expect("below it").ends_with("elsewhere (--details)."));
        assert_eq!((said(3_000, 0, 7), said(0, 0, 7)), (None, None), "above the bound, or like it");
    }
}
