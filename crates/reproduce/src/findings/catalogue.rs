//! What was asked, in the order of the page.

use super::Finding;
use super::write::{Reader, Shape, of};
use super::{adaptive, inside_the_die, soft_limit, trade_offs};
use crate::assessment::Assessment;
use crate::claims::{ENTERPRISE, POLICIES, RATE, RATES, SIZE, SSDS, Unit, sizes};
use crate::measure::Quantity::{Erases, Mean, Stddev, Variance};
use crate::measure::{Measure, Quantity, lowered, ratio};
use crate::results::Results;
use crate::verdict::Verdict;

/// Schemes as the figures show them.
const SCHEMES: [&str; 8] =
    ["local", "inclusive", "selective", "idle", "soft-limit", "gcsync", "gclock", "ideal"];
const READINGS: [&str; 9] = [
    "base",
    "link-3GB",
    "link-150MB",
    "latency-1ms",
    "victims-4",
    "victims-10",
    "stop-hard+4",
    "domain-die",
    "background",
];
/// Within this of 1, more SSDs change nothing.
const FLOOR: f64 = 0.1;

/// A policy's figure under a load of the matrix.
fn cell(quantity: Quantity, load: &str, policy: &str) -> Measure {
    of(quantity, POLICIES, format!("{load}/{policy}"))
}

fn gain(quantity: Quantity, load: &str, before: &str, after: &str) -> Measure {
    lowered(quantity, POLICIES, &format!("{load}/{before}"), &format!("{load}/{after}"))
}

fn over_local(quantity: Quantity, load: &str, policy: &str) -> Measure {
    ratio(quantity, POLICIES, &format!("{load}/{policy}"), &format!("{load}/local"))
}

/// All findings.
pub(super) fn findings(results: &Results, assessments: &[Assessment]) -> Vec<Finding> {
    let reader = Reader { results, assessments };
    let mut all = vec![
        response(&reader),
        variability(&reader),
        same_work(&reader),
        arrival_rate(&reader),
        array_size(&reader),
        enterprise(&reader),
        skew(&reader),
        idle(&reader),
        table_10(&reader),
        soft_limit::finding(&reader),
        trade_offs::victims(&reader),
        trade_offs::message_latency(&reader),
        trade_offs::mixed(&reader),
        trade_offs::idle_threshold(&reader),
        trade_offs::soft_threshold(&reader),
    ];
    all.extend(inside_the_die::findings(&reader));
    all.extend(adaptive::findings(&reader));
    all.push(hardware());
    all
}

fn response(reader: &Reader<'_>) -> Finding {
    let claims =
        ["response-hpc-w", "response-hpc-w-die", "response-hpc-r", "response-hpc-r-die", "response-average"];
    let say = |load, policy| reader.say(&cell(Mean, load, policy), Unit::Ns);
    Finding {
        id: "response",
        question: "By how much does global collection shorten responses?".into(),
        text: format!(
            "Under HPC(W) a request takes {} if every die collects alone, {} if every device collects as a whole, {} if \
             all devices collect together, and {} if collection took no time. Against devices that collect as a whole, \
             that is a gain of {} for HPC(W) and {} for HPC(R); against dies that collect alone, {} and {}.",
            say("hpc-w", "local-die"),
            say("hpc-w", "local"),
            say("hpc-w", "inclusive"),
            say("hpc-w", "ideal"),
            reader.claim(claims[0]),
            reader.claim(claims[2]),
            reader.claim(claims[1]),
            reader.claim(claims[3]),
        ),
        conclusions: vec![(
            reader.above(&gain(Mean, "hpc-w", "local-die", "local"), 0.0)
                && reader.above(&gain(Mean, "hpc-w", "local", "inclusive"), 0.0),
            "So more than half of the way is coordination inside a device; the papers' figures fit the step from there \
             to the array, although their text says that packages collect independently."
                .into(),
        )],
        figures: vec![
            reader.forest("How much lower the mean response time is under global collection", &claims),
            reader.chart(
                &Shape::lines("Mean response time under HPC loads", "load", "ms").kinds(),
                &["hpc-w", "hpc-r"],
                &["local-die", "local", "inclusive", "selective", "ideal"],
                |policy, load| cell(Mean, load, policy),
            ),
        ],
        claims: claims.to_vec(),
        table: String::new(),
    }
}

fn variability(reader: &Reader<'_>) -> Finding {
    let claims = ["variability-hpc-w", "variability-hpc-w-variance", "variability-hpc-r"];
    let p99 = gain(Quantity::P99, "hpc-w", "local", "inclusive");
    let say = |quantity| reader.say(&gain(quantity, "hpc-w", "local", "inclusive"), Unit::Percent);
    Finding {
        id: "variability",
        question: "By how much does global collection even out response times?".into(),
        text: format!(
            "Under HPC(W) the standard deviation of response times falls by {}, their variance by {}, their 99th \
             percentile by {}; the coefficient of variation, which is relative to a mean that falls more, changes from {} \
             to {}. The papers' figures plot the standard deviation, their text speaks of the variance.",
            say(Stddev),
            say(Variance),
            reader.say(&p99, Unit::Percent),
            reader.say(&cell(Quantity::Cv, "hpc-w", "local"), Unit::Plain),
            reader.say(&cell(Quantity::Cv, "hpc-w", "inclusive"), Unit::Plain),
        ),
        conclusions: vec![
            (
                reader.verdict("variability-hpc-w") != Verdict::Within
                    && reader.verdict("variability-hpc-w-variance") == Verdict::Within,
                "Read as the variance the claim is met, read as the standard deviation it is not.".into(),
            ),
            (
                reader.below(&p99, 5.0),
                "The tail hardly moves: a request that meets a collection waits as long as ever, there are only fewer \
                 of them."
                    .into(),
            ),
        ],
        figures: vec![
            reader.forest("How much lower the standard deviation is under global collection", &claims),
            reader.chart(
                &Shape::lines("Standard deviation of response times under HPC loads", "load", "ms").kinds(),
                &["hpc-w", "hpc-r"],
                &["local-die", "local", "inclusive", "selective", "ideal"],
                |policy, load| cell(Stddev, load, policy),
            ),
        ],
        claims: claims.to_vec(),
        table: String::new(),
    }
}

fn same_work(reader: &Reader<'_>) -> Finding {
    let claims = ["even-erases", "even-erases-die"];
    Finding {
        id: "even-erases",
        question: "Does global collection wear an evenly loaded array out?".into(),
        text: format!(
            "Under HPC(W) it erases {} of the blocks that uncoordinated devices erase, and {} of those that uncoordinated \
             dies erase.",
            reader.claim(claims[0]),
            reader.claim(claims[1])
        ),
        conclusions: vec![(
            reader.verdict("even-erases") == Verdict::Within,
            "Under an even load nobody is forced who would not have had to collect soon anyway.".into(),
        )],
        figures: vec![reader.forest("Erases of global collection over those of none", &claims)],
        claims: claims.to_vec(),
        table: String::new(),
    }
}

fn arrival_rate(reader: &Reader<'_>) -> Finding {
    let figure = |title: &str, quantity: Quantity, load: &'static str| {
        reader.chart(
            &Shape::lines(title, "requests a second", "ms").log(),
            &RATES,
            &["local", "inclusive"],
            move |policy, rate| of(quantity, RATE, format!("{load}/{rate}/{policy}")),
        )
    };
    let lowest = Measure::Lowest(
        RATES
            .map(|rate| {
                lowered(Stddev, RATE, &format!("hpc-w/{rate}/local"), &format!("hpc-w/{rate}/inclusive"))
            })
            .to_vec(),
    );
    Finding {
        id: "arrival-rate",
        question: "How do responses grow with the arrival rate?".into(),
        text: format!(
            "Under HPC(W), from 100 to 800 requests a second, the mean grows {} less under global collection and the \
             standard deviation {} less. With no coordination the smallest step from one rate to the next is {} of the \
             mean and {} of the standard deviation.",
            reader.claim("rate-response-gradual"),
            reader.claim("rate-variability-gradual"),
            reader.claim("rate-response-grows"),
            reader.claim("rate-variability-grows"),
        ),
        conclusions: vec![(
            reader.verdict("rate-variability-gradual") == Verdict::NotReproduced && reader.above(&lowest, 0.0),
            "The mean does what the papers say. The standard deviation is lower under global collection at every rate, \
             but it is not what grows without: a wait is at most about one collection, and already at the lowest rate \
             so many requests meet one that their spread has little room left."
                .into(),
        )],
        figures: vec![
            figure("HPC(W): mean response time by arrival rate", Mean, "hpc-w"),
            figure("HPC(W): standard deviation by arrival rate", Stddev, "hpc-w"),
            figure("HPC(R): mean response time by arrival rate", Mean, "hpc-r"),
            figure("HPC(R): standard deviation by arrival rate", Stddev, "hpc-r"),
        ],
        claims: vec![
            "rate-response-grows",
            "rate-variability-grows",
            "rate-response-gradual",
            "rate-variability-gradual",
            "rate-response-gradual-r",
        ],
        table: String::new(),
    }
}

fn array_size(reader: &Reader<'_>) -> Finding {
    let in_gc = ratio(Quantity::TimeInGc, SIZE, "18/base/inclusive", "4/base/inclusive");
    let floor = |reading: &str| sizes(reading, ("18", "inclusive"), ("4", "inclusive"));
    let is_floor = |reading: &str| {
        reader.interval(&floor(reading)).is_some_and(|value| (value.mean - 1.0).abs() <= FLOOR)
    };
    let measured = READINGS.iter().filter(|reading| reader.interval(&floor(reading)).is_some()).count();
    let found: Vec<&str> = READINGS.into_iter().filter(|reading| is_floor(reading)).collect();
    let asked = ["size-2", "size-18", "size-8-is-2", "size-18-over-4", "size-floor"];
    let claimed = asked.map(|id| reader.claimed(id)).join(" | ");
    let mut table = format!(
        "| reading | local / GGC, 2 SSDs | local / GGC, 18 SSDs | local 8 / GGC 2 | local 18 / GGC 4 | GGC 18 / GGC 4 |\n\
         |---|---|---|---|---|---|\n| *claimed* | {claimed} |\n",
    );
    for reading in READINGS {
        let pairs = [
            (("2", "local"), ("2", "inclusive")),
            (("18", "local"), ("18", "inclusive")),
            (("8", "local"), ("2", "inclusive")),
            (("18", "local"), ("4", "inclusive")),
            (("18", "inclusive"), ("4", "inclusive")),
        ];
        let cells = pairs.map(|(this, other)| reader.say(&sizes(reading, this, other), Unit::Times));
        table.push_str(&format!("| {reading} | {} |\n", cells.join(" | ")));
    }
    let verdict = match found.as_slice() {
        [] => format!("None of {measured} readings gives such a floor."),
        found => format!("Of {measured} readings, such a floor is given by: {}.", found.join(", ")),
    };
    Finding {
        id: "array-size",
        question: "How does the gain depend on the number of SSDs?".into(),
        text: format!(
            "The papers' four figures together imply that global collection with 18 SSDs is about as fast as with 4: a \
             floor that does not depend on the number. In configuration A/B it is {} of it. {verdict}",
            reader.claim("size-floor"),
        ),
        conclusions: vec![
            (
                found.is_empty() && reader.below(&in_gc, 0.5),
                format!(
                    "The load stays the same, so each member of a larger array collects less often, and members that \
                 collect together pass that on: the array spends {} of the time collecting with 18 members that it \
                 spends with 4. No choice we know of takes that away.",
                    reader.say(&in_gc, Unit::Times)
                ),
            ),
            (
                reader.verdict("size-18-over-4-times") == Verdict::Within,
                format!(
                    "The floor follows from one claim, `size-18-over-4`. Read as `size-18-over-4-times`, which is how \
                     loosely such figures are often put, it is met ({}) and nothing implies a floor.",
                    reader.claim("size-18-over-4-times"),
                ),
            ),
        ],
        figures: vec![
            reader.chart(
                &Shape::lines("HPC(W): mean response time by number of SSDs", "SSDs", "ms").log(),
                &SSDS,
                &["local", "inclusive"],
                |policy, ssds| of(Mean, SIZE, format!("{ssds}/base/{policy}")),
            ),
            reader.chart(
                &Shape::lines(
                    "Mean of global collection, as a multiple of that with 4 SSDs, by reading",
                    "SSDs",
                    "multiple of the mean with 4 SSDs",
                )
                .log()
                .scaled(1.0)
                .reference(1.0),
                &SSDS,
                &READINGS,
                |reading, ssds| sizes(reading, (ssds, "inclusive"), ("4", "inclusive")),
            ),
        ],
        claims: vec![
            "size-2",
            "size-18",
            "size-8-is-2",
            "size-18-over-4",
            "size-18-over-4-times",
            "size-floor",
            "size-always",
        ],
        table,
    }
}

fn enterprise(reader: &Reader<'_>) -> Finding {
    let met = ENTERPRISE.map(|load| over_local(Quantity::GcAffected, load, "inclusive"));
    Finding {
        id: "enterprise",
        question: "What does coordination do for enterprise loads?".into(),
        text: format!(
            "Averaged over five stand-ins, global collection lowers the mean of devices that collect as a whole by {}; \
             collection that takes no time would lower it further by at most {} on any of them.",
            reader.claim("enterprise-response"),
            reader.claim("enterprise-ideal"),
        ),
        conclusions: vec![
            (
                reader.below(&Measure::Highest(met.to_vec()), 0.5),
                "At such rates it is mostly the request that sets a collection off that waits for it. Global collection \
                 needs one such request for all members instead of one for each: on every load less than half as many \
                 requests meet a collection."
                    .into(),
            ),
            (
                reader.beyond("enterprise-ideal"),
                "What is left over the ideal is more than the papers report.".into(),
            ),
        ],
        figures: vec![
            reader.chart(
                &Shape::shares("Mean response time of enterprise loads, local = 100", "load", "% of local"),
                &ENTERPRISE,
                &SCHEMES,
                |policy, load| over_local(Mean, load, policy),
            ),
            reader.chart(
                &Shape::shares("Erases of enterprise loads, local = 100", "load", "% of local").log(),
                &ENTERPRISE,
                &SCHEMES,
                |policy, load| over_local(Erases, load, policy),
            ),
        ],
        claims: vec!["enterprise-response", "enterprise-ideal", "idle-baseline", "idle-ideal"],
        table: String::new(),
    }
}

fn skew(reader: &Reader<'_>) -> Finding {
    let claims = ["skew-erases", "skew-response", "skew-erases-others", "skew-response-others"];
    Finding {
        id: "skew",
        question: "What does collecting everywhere cost if half of the load goes to one SSD?".into(),
        text: format!(
            "Reactive-inclusive erases {} the blocks of reactive-selective, at {} its mean response, if the requests \
             that are not skewed go to all members; {} and {} if they go to the other members only.",
            reader.claim(claims[0]),
            reader.claim(claims[1]),
            reader.claim(claims[2]),
            reader.claim(claims[3]),
        ),
        conclusions: vec![
            (
                reader.above(&over_local(Erases, "skew-all", "inclusive"), 2.0)
                    && reader.verdict("skew-response") == Verdict::Within,
                "Forcing members that have nothing to collect costs erases and buys nothing.".into(),
            ),
            (
                reader.above(&ratio(Mean, POLICIES, "skew-others/inclusive", "skew-others/selective"), 1.0),
                "If the rest avoids the skewed member, forced collections are the only ones it meets, and inclusive is \
                 slower too; the papers see no difference, which fits the other reading."
                    .into(),
            ),
        ],
        figures: vec![
            reader.forest("Inclusive over selective under a skewed load", &claims),
            reader.chart(
                &Shape::shares(
                    "Mean response time under a skewed load, local = 100",
                    "reading",
                    "% of local",
                ),
                &["skew-all", "skew-others"],
                &SCHEMES,
                |policy, load| over_local(Mean, load, policy),
            ),
            reader.chart(
                &Shape::shares("Erases under a skewed load, local = 100", "reading", "% of local").log(),
                &["skew-all", "skew-others"],
                &SCHEMES,
                |policy, load| over_local(Erases, load, policy),
            ),
        ],
        claims: claims.to_vec(),
        table: String::new(),
    }
}

fn idle(reader: &Reader<'_>) -> Finding {
    let claims =
        ["idle-hpc-w", "idle-burst-m", "idle-burst-h", "idle-most-response", "idle-most-variability"];
    let loads = ["hpc-w", "hpc-w-burst-m", "hpc-w-burst-h", "financial"];
    let burst_less = Measure::Minus(
        Box::new(gain(Mean, "hpc-w-burst-m", "selective", "idle")),
        Box::new(gain(Mean, "hpc-w-burst-h", "selective", "idle")),
    );
    Finding {
        id: "idle",
        question: "What is idle time worth?".into(),
        text: format!(
            "Collecting in idle time lowers the mean of reactive-selective by {} under HPC(W), {} under bursts at ten \
             times its rate and {} at a hundred times; under the stand-in for Financial it lowers the erases of \
             reactive-inclusive by {} and its mean by {}.",
            reader.claim(claims[0]),
            reader.claim(claims[1]),
            reader.claim(claims[2]),
            reader.claim("financial-erases"),
            reader.claim("financial-response"),
        ),
        conclusions: vec![
            (
                reader.beyond("idle-burst-m") && reader.beyond("idle-burst-h"),
                "In bursts as we read them (100 requests, then silence) idle time is worth much more than the papers \
                 report."
                    .into(),
            ),
            (
                reader.above(&burst_less, 0.0) && reader.above(&cell(Mean, "hpc-w-burst-h", "ideal"), 5e6),
                "It is worth less at a hundred times the rate than at ten: there a burst waits in the queues of the \
                 array whether it collects or not."
                    .into(),
            ),
            (
                reader.verdict("financial-erases") == Verdict::NotReproduced,
                "The erases that the papers save under Financial cannot be saved under a stand-in that is even: \
                 inclusive wastes nothing there."
                    .into(),
            ),
        ],
        figures: vec![
            reader.forest("How much proactive-idle lowers the mean or deviation of selective", &claims),
            reader.chart(
                &Shape::shares("Mean response time of bursty loads, local = 100", "load", "% of local"),
                &loads,
                &SCHEMES,
                |policy, load| over_local(Mean, load, policy),
            ),
            reader.chart(
                &Shape::shares("Erases of bursty loads, local = 100", "load", "% of local").log(),
                &loads,
                &SCHEMES,
                |policy, load| over_local(Erases, load, policy),
            ),
        ],
        claims: [&claims[..], &["idle-monotone", "financial-erases", "financial-response"]].concat(),
        table: String::new(),
    }
}

fn table_10(reader: &Reader<'_>) -> Finding {
    let claims = [
        "table10-even-response",
        "table10-even-erases",
        "table10-skew-response",
        "table10-skew-erases",
        "table10-burst-erases",
    ];
    Finding {
        id: "table-10",
        question: "Does the papers' summary hold (Table 10)?".into(),
        text: format!(
            "The largest of the three coordinated schemes' means is {} the smallest under even load and {} under skewed \
             load; of their erases, {} under even load. Under skewed load inclusive erases {} as much as the nearest \
             other. Under bursts idle gains at least {} on the mean and erases at least {} as much.",
            reader.claim(claims[0]),
            reader.claim(claims[2]),
            reader.claim(claims[1]),
            reader.claim(claims[3]),
            reader.claim("table10-burst-response"),
            reader.claim(claims[4]),
        ),
        conclusions: vec![(
            reader.verdict("table10-burst-erases") == Verdict::NotReproduced
                && claims[..4]
                    .iter()
                    .chain(&["table10-burst-response"])
                    .all(|id| reader.verdict(id) == Verdict::Within),
            "All of the table holds but one cell: here collecting in idle time costs no more erases than the seeds \
             scatter, because only registered members are asked, and what they collect early they need not collect later."
                .into(),
        )],
        figures: vec![
            reader.forest("Table 10: ratios between the three coordinated schemes", &claims),
            reader.forest(
                "Table 10: the smallest gain of proactive-idle under bursts",
                &["table10-burst-response"],
            ),
        ],
        claims: [&claims[..], &["table10-burst-response"]].concat(),
        table: String::new(),
    }
}

fn hardware() -> Finding {
    Finding {
        id: "hardware",
        question: "What cannot be reproduced here?".into(),
        text:
            "The papers on global collection open with measurements of commercial SSDs. Their firmware is not published, so no \
               configuration of ours stands for them; only the arithmetic of their tables can be followed."
                .into(),
        claims: vec!["hardware-ssd", "hardware-array"],
        ..Finding::default()
    }
}
