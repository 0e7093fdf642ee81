//! What trades off against what: one key swept, the rest as in configuration A/B.

use super::Finding;
use super::write::{MS, Reader, Shape, of};
use crate::claims::Unit;
use crate::measure::Quantity::{Erases, Mean, Stddev};
use crate::measure::{Measure, lowered, ratio};

/// A trade-off: one key swept, mean, spread and erases.
fn sweep(
    reader: &Reader<'_>,
    experiment: &'static str,
    x_title: &str,
    categories: &[&str],
    series: &[&str],
    name: impl Fn(&str, &str) -> String + Copy,
) -> Vec<(String, String)> {
    let figure = |what: &str, unit: &str, quantity, scale| {
        let title = format!("{what} by {x_title}");
        reader.chart(
            &Shape::lines(&title, x_title, unit).scaled(scale),
            categories,
            series,
            move |series, category| of(quantity, experiment, name(series, category)),
        )
    };
    vec![
        figure("Mean response time", "ms", Mean, MS),
        figure("Standard deviation of response times", "ms", Stddev, MS),
        figure("Blocks erased", "thousands", Erases, 1e-3),
    ]
}

/// The smallest step of the mean from one variant to the next.
fn rising(experiment: &'static str, variants: &[String]) -> Measure {
    let mean = |variant: &String| Box::new(of(Mean, experiment, variant.clone()));
    let steps = variants.windows(2).map(|pair| Measure::Minus(mean(&pair[1]), mean(&pair[0])));
    Measure::Lowest(steps.collect())
}

/// Blocks collected at a time.
pub(super) fn victims(reader: &Reader<'_>) -> Finding {
    let smallest_step = |policy: &str| {
        rising("victims", &["1", "2", "4", "8", "16"].map(|victims| format!("{victims}/{policy}")))
    };
    let mean = |victims: &str, policy: &str| {
        reader.say(&of(Mean, "victims", format!("{victims}/{policy}")), Unit::Ns)
    };
    Finding {
        id: "victims",
        question: "How much should a device collect at a time?".into(),
        text: format!(
            "With 1, 4 and 16 blocks at a time, the mean is {}, {} and {} without coordination. It is {}, {} \
             and {} under global collection.",
            mean("1", "local"),
            mean("4", "local"),
            mean("16", "local"),
            mean("1", "inclusive"),
            mean("4", "inclusive"),
            mean("16", "inclusive"),
        ),
        conclusions: vec![(
            ["local", "inclusive"].iter().all(|policy| reader.above(&smallest_step(policy), 0.0))
                && !reader.below(&ratio(Erases, "victims", "16/inclusive", "1/inclusive"), 1.0),
            "One block at a time is best, with and without coordination. Longer collections lengthen the waits, \
             and the seeds show no erases saved."
                .into(),
        )],
        figures: sweep(
            reader,
            "victims",
            "blocks collected at a time",
            &["1", "2", "4", "8", "16"],
            &["local", "inclusive"],
            |policy, victims| format!("{victims}/{policy}"),
        ),
        ..Finding::default()
    }
}

/// Message latency.
pub(super) fn message_latency(reader: &Reader<'_>) -> Finding {
    let soft_limit = |latency: &str| {
        ratio(Mean, "message-latency", &format!("{latency}/soft-limit"), &format!("{latency}/selective"))
    };
    let gain = |latency: &str| {
        lowered(Mean, "message-latency", &format!("{latency}/local"), &format!("{latency}/inclusive"))
    };
    Finding {
        id: "message-latency",
        question: "How fast must messages be?".into(),
        text: format!(
            "Global collection cuts the mean by {} with messages that take no time, by {} at 100 us, by {} at 1 \
             ms and by {} at 10 ms.",
            reader.say(&gain("0"), Unit::Percent),
            reader.say(&gain("100us"), Unit::Percent),
            reader.say(&gain("1ms"), Unit::Percent),
            reader.say(&gain("10ms"), Unit::Percent),
        ),
        conclusions: vec![
            (
                reader.above(&Measure::Over(Box::new(gain("10ms")), Box::new(gain("0"))), 0.75),
                "Messages may be slow. If they take nearly as long as a collection, most of the gain remains, \
                 because collections that start late still overlap."
                    .into(),
            ),
            (
                reader.below(&soft_limit("1ms"), 1.0) && reader.below(&soft_limit("10ms"), 1.0),
                format!(
                    "The mean of proactive-soft-limit is {} that of reactive-selective at 1 ms and {} at 10 ms. \
                     A scheme that decides ahead of the threshold has time for messages.",
                    reader.say(&soft_limit("1ms"), Unit::Times),
                    reader.say(&soft_limit("10ms"), Unit::Times),
                ),
            ),
        ],
        figures: sweep(
            reader,
            "message-latency",
            "message latency",
            &["0", "100us", "1ms", "10ms"],
            &["local", "inclusive", "selective", "soft-limit"],
            |policy, latency| format!("{latency}/{policy}"),
        ),
        ..Finding::default()
    }
}

/// Members that cannot take part.
pub(super) fn mixed(reader: &Reader<'_>) -> Finding {
    let mean = |incapable: &str| reader.say(&of(Mean, "mixed", format!("{incapable}/inclusive")), Unit::Ns);
    let steps = [0, 1, 2, 3, 4, 5, 6, 7].map(|incapable| format!("{incapable}/inclusive"));
    let of_all = |incapable: &str| Box::new(of(Mean, "mixed", format!("{incapable}/inclusive")));
    let last = Measure::Minus(of_all("8"), of_all("7"));
    Finding {
        id: "mixed",
        question: "What is left of coordination if some members cannot take part?".into(),
        text: format!(
            "With eight members, the mean under reactive-inclusive is {} if all can take part, {} if one \
             cannot, {} if four cannot and {} if none can.",
            mean("0"),
            mean("1"),
            mean("4"),
            mean("8"),
        ),
        conclusions: vec![(
            reader.above(&rising("mixed", &steps), 0.0)
                && reader.interval(&last).is_some_and(|value| value.mean == 0.0),
            "Every incapable member takes its share of the gain away. A single capable member changes nothing, \
             because it has nobody to collect with."
                .into(),
        )],
        figures: sweep(
            reader,
            "mixed",
            "incapable members of 8",
            &["0", "1", "2", "3", "4", "5", "6", "7", "8"],
            &["inclusive", "selective"],
            |policy, incapable| format!("{incapable}/{policy}"),
        ),
        ..Finding::default()
    }
}

/// Idle threshold of proactive-idle.
pub(super) fn idle_threshold(reader: &Reader<'_>) -> Finding {
    let mean = |load: &str, threshold: &str| {
        reader.say(&of(Mean, "idle-threshold", format!("{load}/{threshold}")), Unit::Ns)
    };
    let over_default = |load: &str, threshold: &str| {
        ratio(Mean, "idle-threshold", &format!("{load}/{threshold}"), &format!("{load}/10ms"))
    };
    let settled = |load| {
        let interval = reader.interval(&over_default(load, "1ms"));
        interval.is_none_or(|interval| interval.excludes(1.0))
    };
    Finding {
        id: "idle-threshold",
        question: "How long must the array be silent before it is idle?".into(),
        text: format!(
            "With idle thresholds of 1 ms, 10 ms and 100 ms the mean is {}, {} and {} under HPC(W). Under \
             bursts at ten times its rate it is {}, {} and {}.",
            mean("hpc-w", "1ms"),
            mean("hpc-w", "10ms"),
            mean("hpc-w", "100ms"),
            mean("hpc-w-burst-m", "1ms"),
            mean("hpc-w-burst-m", "10ms"),
            mean("hpc-w-burst-m", "100ms"),
        ),
        conclusions: vec![
            (
                reader.above(
                    &Measure::Lowest(["1ms", "3ms"].map(|threshold| over_default("hpc-w", threshold)).to_vec()),
                    2.0,
                ),
                "Under HPC(W) a threshold of 1 or 3 ms more than doubles the mean. Most gaps there are shorter \
                 than a collection. The next request meets the collection that started in the gap, and members \
                 fall out of step."
                    .into(),
            ),
            (
                !settled("hpc-w-burst-m") && !settled("hpc-w-burst-h"),
                "Under bursts the seeds show no difference between 1 ms and 10 ms.".into(),
            ),
        ],
        figures: sweep(
            reader,
            "idle-threshold",
            "idle threshold",
            &["1ms", "3ms", "10ms", "30ms", "100ms"],
            &["hpc-w", "hpc-w-burst-m", "hpc-w-burst-h"],
            |load, threshold| format!("{load}/{threshold}"),
        ),
        ..Finding::default()
    }
}

/// Soft threshold of reactive-selective.
pub(super) fn soft_threshold(reader: &Reader<'_>) -> Finding {
    let say = |quantity, soft: &str, unit| {
        reader.say(&of(quantity, "soft-threshold", format!("skew-all/{soft}")), unit)
    };
    let erases = |soft: &str| {
        let measure = ratio(Erases, "soft-threshold", &format!("skew-all/{soft}"), "skew-all/hard+1");
        reader.say(&measure, Unit::Times)
    };
    Finding {
        id: "soft-threshold",
        question: "How early should a member register?".into(),
        text: format!(
            "Under skewed load the mean of reactive-selective is {} with soft = hard + 1, {} with hard + 4 and \
             {} with hard + 16. At hard + 16 it erases {} as many blocks as at hard + 1.",
            say(Mean, "hard+1", Unit::Ns),
            say(Mean, "hard+4", Unit::Ns),
            say(Mean, "hard+16", Unit::Ns),
            erases("hard+16"),
        ),
        conclusions: vec![(
            ["hpc-w", "skew-all"].iter().all(|load| {
                let response = ratio(
                    Mean,
                    "soft-threshold",
                    &format!("{load}/hard+16"),
                    &format!("{load}/hard+1"),
                );
                reader.interval(&response).is_some_and(|value| value.low() > 0.999 && value.high() < 1.001)
            }) && reader.above(&ratio(Erases, "soft-threshold", "skew-all/hard+16", "skew-all/hard+1"), 1.0),
            "The soft threshold matters little. Under an even load all members are registered anyway when one \
             reaches hard. Under a skewed load a higher soft threshold only adds erases."
                .into(),
        )],
        figures: sweep(
            reader,
            "soft-threshold",
            "soft threshold",
            &["hard+1", "hard+2", "hard+4", "hard+8", "hard+16"],
            &["hpc-w", "skew-all"],
            |load, soft| format!("{load}/{soft}"),
        ),
        ..Finding::default()
    }
}
