//! Do intervals and winners hold on simulated SSDs? Coverage on an aged device, and winners where there are none.
//!
//! Short forms here; `make coverage` runs the long ones (`HARMONIA_REPLICATIONS`).

use harmonia_metrics::judgement::FIRST_LOOK;
use harmonia_metrics::{Comparison, Interval, Report};
use harmonia_run::{RunOptions, compare, compare_seeds, compare_while, run};
use harmonia_scenario::{Scenario, Variant};

/// How many times each is tried.
#[expect(clippy::disallowed_methods, reason = "how long a campaign is, is the caller's to say")]
fn replications(short: u64) -> u64 {
    std::env::var("HARMONIA_REPLICATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(short)
}

fn options() -> RunOptions<'static> {
    RunOptions::default()
}

fn scenario(keys: &str) -> Scenario {
    let text = format!(
        "name = \"t\"\nssd.preset = \"tiny-test\"\nworkload.size = {{ distribution = \"fixed\", mean = \"4KiB\" }}\n{keys}"
    );
    Scenario::parse(&text, "test", &[], None).unwrap_or_else(|error| panic!("{error}"))
}

const REQUESTS: u64 = 40_000;
const WARMUP: u64 = 2_000;

/// One aged SSD under small random requests, half of which write.
fn device(seed: u64, requests: u64) -> Report {
    let keys = format!(
        "seed = {seed}\narray.devices = 1\nworkload.requests = {requests}\nworkload.warmup = {WARMUP}\n\
         workload.read_fraction = 0.5\nworkload.arrival = {{ process = \"poisson\", rate = 2000.0 }}\n\
         precondition.overwrite = 3.0\n"
    );
    run(&scenario(&keys), &options()).unwrap_or_else(|error| panic!("{error}"))
}

/// The truth is a run a hundred times as long.
#[test]
#[ignore = "long: make simulations"]
fn intervals_of_one_run_hold_the_truth_of_an_aged_device() {
    let truth = device(1_000_000, 100 * REQUESTS);
    let p99 = |run: &Report| run.host.response_ns.all.p99.map(|ns| ns as f64);
    let truths = [
        truth.host.response_ns.all.mean,
        p99(&truth),
        truth.array.write_amplification,
        truth.array.write_amplification_whole_cycles,
        Some(truth.array.erases as f64 / truth.host.requests as f64 * (REQUESTS - WARMUP) as f64),
    ]
    .map(|figure| figure.expect("known"));
    let runs = replications(100);
    let (mut held, mut known) = ([0.0; 5], [0.0; 5]);
    for seed in 1..=runs {
        let metrics = Comparison::new(vec![device(seed, REQUESTS)], 1).intervals.variants[0].metrics.clone();
        let figures: [Option<Interval>; 5] = [
            metrics.mean,
            metrics.p99,
            metrics.write_amplification,
            metrics.write_amplification_whole_cycles,
            metrics.erases,
        ];
        for (figure, interval) in figures.into_iter().enumerate() {
            let interval = interval.expect("a figure");
            if interval.half_width.is_some() {
                known[figure] += 1.0;
                held[figure] += f64::from(u8::from(!interval.excludes(truths[figure])));
            }
        }
    }
    let shares: Vec<f64> = held.iter().zip(known).map(|(held, known)| held / known).collect();
    eprintln!(
        "mean, p99, write amplification, whole cycles, erases: {truths:?} held {shares:?} of {known:?}"
    );
    // Erases come event by event, which makes batches alternate and the intervals of what counts them too wide.
    let [mean, p99, in_window, whole_cycles, erases] = shares[..] else { panic!("five figures") };
    assert!(in_window >= 0.92 && erases >= 0.92, "{shares:?} of the intervals hold the truth");
    for share in [mean, p99, whole_cycles] {
        assert!((0.92..=0.98).contains(&share), "{shares:?} of the intervals hold the truth");
    }
}

/// The same policy twice under seeds of their own, with as many seeds as it takes, looked at 10, 20 and 40.
#[test]
#[ignore = "long: make simulations"]
fn a_winner_is_seldom_named_where_there_is_none() {
    const MOST: u64 = 40;
    let variant = |seed: u64| {
        let keys = format!(
            "seed = {seed}\narray.devices = 2\nworkload.requests = 2500\nworkload.warmup = 500\n\
             workload.read_fraction = 0.3\nworkload.arrival = {{ process = \"poisson\", rate = 2000.0 }}\n\
             precondition.overwrite = 2.0\n"
        );
        Variant { label: format!("seed {seed}"), scenario: scenario(&keys) }
    };
    let runs = replications(20);
    let mut named = 0;
    for pair in 0..runs {
        let variants = [variant(1 + 10_000 * pair), variant(5_001 + 10_000 * pair)];
        let more = |so_far: &Comparison| {
            let done = so_far.runs.len() as u64 / 2;
            if so_far.is_decided() || done >= MOST { 0 } else { done }
        };
        let comparison = compare_while(&variants, FIRST_LOOK, more, &options());
        let winners = comparison.unwrap_or_else(|error| panic!("{error}")).winners;
        let figures = [&winners.mean, &winners.p99, &winners.read_p99, &winners.erases];
        named += u64::from(figures.into_iter().flatten().any(|winner| winner.name().is_some()));
    }
    eprintln!("{named} of {runs} comparisons of equals named a winner");
    // 5% at most are meant to be: 1 of 20, 10 of 200; of which chance makes 5 and 17 once in a hundred times.
    let allowed = if runs < 200 { 4 } else { runs * 8 / 100 };
    assert!(named <= allowed, "{named} of {runs} comparisons of equals named a winner");
}

/// Seeds that were added until it was enough are the seeds that would have been asked for.
#[test]
fn seeds_added_one_look_after_the_other_give_the_same_bytes() {
    let variants = ["local", "reactive-inclusive"].map(|policy| {
        let keys = format!(
            "array.devices = 2\nworkload.requests = 1500\nworkload.arrival = {{ process = \"poisson\", rate = 2000.0 }}\n\
             array.coordination.policy = \"{policy}\"\nprecondition.overwrite = 1.0\n"
        );
        Variant { label: policy.to_owned(), scenario: scenario(&keys) }
    });
    let mut steps = [2, 1, 0].into_iter();
    let added = compare_while(&variants, 1, |_| steps.next().unwrap_or(0), &options());
    let asked = compare_seeds(&variants, 4, &options());
    let text = |comparison: Result<Comparison, _>| {
        let comparison = comparison.unwrap_or_else(|error: harmonia_run::RunError| panic!("{error}"));
        let runs = comparison.runs.iter().map(Report::without_engine).collect();
        serde_json::to_string(&Comparison::new(runs, 4)).expect("JSON")
    };
    assert_eq!(text(added), text(asked));
}

/// An array that cannot keep up, one that has too little to do, and one that is sound.
#[test]
fn what_means_nothing_names_nobody_and_says_why() {
    let judged = |keys: &str| {
        let variants = ["local", "reactive-inclusive"].map(|policy| {
            let keys = format!("{keys}array.devices = 4\narray.coordination.policy = \"{policy}\"\n");
            Variant { label: policy.to_owned(), scenario: scenario(&keys) }
        });
        compare(&variants, &options()).unwrap_or_else(|error| panic!("{error}"))
    };
    let load = |requests: u64, rate: f64| {
        format!(
            "workload.requests = {requests}\nworkload.arrival = {{ process = \"poisson\", rate = {rate:.1} }}\n"
        )
    };
    let code = |comparison: &Comparison| {
        comparison.winners.mean.as_ref().and_then(|winner| winner.void.clone()).unwrap_or_default()
    };
    let codes = |comparison: &Comparison| -> Vec<String> {
        comparison.warnings.iter().map(|warning| warning.code.clone()).collect()
    };
    for (keys, expected) in [
        (load(5_000, 1e6), "overload"),
        (load(500, 2_000.0), "few-requests"),
        (
            "workload.requests = 5000\nworkload.arrival = { process = \"fixed\", rate = 1e9 }\n".to_owned(),
            "overload",
        ),
    ] {
        let comparison = judged(&keys);
        assert_eq!(code(&comparison), expected, "{:?}", comparison.warnings);
        assert!(codes(&comparison).contains(&expected.to_owned()));
        assert!(comparison.winners.mean.is_some_and(|winner| winner.labels.is_empty()));
    }
    let sound = judged(&(load(20_000, 8_000.0) + "workload.read_fraction = 0.3\n"));
    assert_eq!(codes(&sound), ["one-seed"], "{:?}", sound.warnings);
}
