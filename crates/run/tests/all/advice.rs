//! Does advice say what is known beforehand? Small arrays whose answer is plain, three seeds each.

use std::cell::RefCell;

use harmonia_run::RunOptions;
use harmonia_run::advice::{Advice, Kind, Metric, Plan, Tried, Verdict, advise};
use harmonia_scenario::Template;

/// Four small drives.
const ARRAY: &str = r#"
workload = { requests = 12000, warmup = 1000, read_fraction = 0.5, size = { distribution = "fixed", mean = "4KiB" } }
array = { devices = 4, level = "raid5", stripe_unit = "16KiB", coordination.policy = "local" }
ssd.preset = "tiny-test"
ssd.geometry = { blocks_per_plane = 64 }
"#;

const SEEDS: [u64; 3] = [1, 2, 3];

/// The advice on this array with changes, of those levers that `wanted` keeps.
fn advice(seed: u64, sets: &[&str], wanted: impl Fn(Kind) -> bool) -> Advice {
    let template = Template::text(ARRAY, "array").expect("a text");
    let seed = format!("seed={seed}");
    let sets: Vec<String> = sets.iter().copied().chain([seed.as_str()]).map(str::to_owned).collect();
    let mut plan = Plan::new(&template, &sets, None).unwrap_or_else(|error| panic!("{error}"));
    plan.levers.retain(|lever| wanted(lever.kind));
    plan.doubled = None;
    let (advice, comparison) = advise(&plan, 1, &|_| (), &|_| true, &RunOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(comparison.runs.len(), 2 + advice.levers.len());
    advice
}

fn rate(rate: u64) -> String {
    format!("workload.arrival={{ process = \"poisson\", rate = {rate} }}")
}

fn change(tried: &Tried, metric: Metric) -> f64 {
    let figure = tried.figures.iter().find(|figure| figure.metric == metric).expect("a figure");
    figure.change.and_then(|change| change.relative).expect("an interval").mean
}

/// Collection in idle time, which a read suspends at once.
const PATIENT: [&str; 6] = [
    "ssd.gc.trigger=background",
    "ssd.gc.schedule=preemptive",
    "ssd.gc.begins_at=soft",
    "ssd.timing.suspend_program=10us",
    "ssd.timing.suspend_erase=10us",
    "workload.read_fraction=0.9",
];

#[test]
fn where_collection_is_seldom_met_nothing_is_to_be_done() {
    for seed in SEEDS {
        let rate = rate(100);
        let sets = [&PATIENT[..], &[&rate, "workload.requests=60000"]].concat();
        let advice = advice(seed, &sets, |_| false);
        assert_eq!(advice.verdict, Verdict::DoNothing, "{}", advice.why);
        assert_eq!(advice.recommendation.lever, None);
        assert!(advice.recommendation.text.starts_with("Do nothing"), "{}", advice.recommendation.text);
    }
}

/// Nothing is written, so nothing can be collected.
#[test]
fn where_nothing_is_written_nothing_is_to_be_done() {
    let advice = advice(1, &[&rate(100), "workload.read_fraction=1.0"], |_| false);
    assert_eq!(
        (advice.verdict, advice.why.as_str()),
        (Verdict::DoNothing, "nothing is written, so nothing is collected")
    );
}

/// Half of the requests write to full drives: collection is most of the tail, and less data on the drives makes it cheaper.
#[test]
fn where_collection_is_dear_spare_helps() {
    for seed in SEEDS {
        let advice = advice(seed, &[&rate(400)], |kind| kind == Kind::Spare);
        assert_eq!(advice.verdict, Verdict::Matters, "{}", advice.why);
        let costs = advice.collection[0].change.and_then(|change| change.relative).expect("a mean").mean;
        assert!(costs > 0.05, "collection costs {costs}");
        assert!(change(&advice.levers[1], Metric::Mean) < -0.05, "{:?}", advice.levers[1]);
        let amplification = |tried: &Tried| tried.write_amplification.expect("collected");
        assert!(amplification(&advice.levers[1]) < amplification(&advice.levers[0]));
        let lever = advice.recommendation.lever.as_deref();
        assert_eq!(lever, Some("80% full"), "{}", advice.recommendation.text);
    }
}

/// Drives that hold a part of their map read it for most requests: twice the memory is named beside what coordination brings.
#[test]
#[ignore = "long: make simulations"]
fn where_the_map_does_not_fit_more_memory_is_named() {
    let sets = [&rate(400) as &str, "ssd.ftl.mapping_cache=16KiB", "ssd.ftl.mapping_entry=64"];
    let advice = advice(1, &sets, |kind| matches!(kind, Kind::Map | Kind::Coordination));
    let text = &advice.recommendation.text;
    assert!(
        text.contains("drives with twice the memory for their map: mapping cache of 32KiB cuts p99"),
        "{text}"
    );
}

/// What is tried is the double of the whole drive, also where a part of it is simulated; and nothing where the map fits.
#[test]
fn twice_the_memory_is_that_of_a_whole_drive() {
    let tried = |cache: &str, scale: &str| {
        let text = format!(
            r#"
workload = {{ requests = 1000, arrival.rate = 1000, size = {{ distribution = "fixed", mean = "4KiB" }} }}
array = {{ devices = 1, level = "raid0" }}
ssd.preset = "samsung-pm9a3-960g"
ssd.scale = "{scale}"
ssd.ftl = {{ mapping_cache = "{cache}", allocation = "cwdp", superblock = "off" }}
ssd.write_cache.drain = "full"
"#
        );
        let template = Template::text(&text, "array").expect("a text");
        let plan = Plan::new(&template, &[], None).unwrap_or_else(|error| panic!("{error}"));
        let lever = plan.levers.into_iter().find(|lever| lever.kind == Kind::Map)?;
        let full = lever.variant.scenario.array.members[0].ssd.full().ftl.mapping_cache;
        Some((lever.name, full))
    };
    for scale in ["1", "1/50"] {
        assert_eq!(
            tried("64MiB", scale),
            Some(("mapping cache of 128MiB".into(), Some(128 << 20))),
            "{scale}"
        );
        assert_eq!(tried("64GiB", scale), None, "{scale}");
    }
}

/// Requests of four pages on RAID-0: whoever waits for one drive waits for all, and only drives that take commands can help it.
#[test]
fn where_only_commands_help_advice_says_so() {
    for seed in SEEDS {
        let rate = rate(100);
        let sets = [
            &rate,
            "array.level=raid0",
            "array.stripe_unit=4KiB",
            "workload.size.mean=64KiB",
            "workload.requests=6000",
        ];
        let advice = advice(seed, &sets, |kind| kind == Kind::Coordination);
        assert_eq!(advice.verdict, Verdict::Matters, "{}", advice.why);
        assert!(advice.levers.len() > 2 && advice.levers.iter().all(|tried| tried.needs == "command"));
        let lever = advice.recommendation.lever.as_deref();
        assert!(lever.is_some_and(|lever| lever.starts_with("proactive")), "{}", advice.recommendation.text);
        let text = &advice.recommendation.text;
        assert!(
            text.starts_with("Nothing that works with any drive") && text.contains("offer \"command\""),
            "{text}"
        );
    }
}

#[test]
fn an_array_that_does_not_keep_up_is_told_so() {
    for seed in SEEDS {
        let advice = advice(seed, &[&rate(40_000)], |_| false);
        assert_eq!(advice.verdict, Verdict::Overload, "{}", advice.why);
        assert!(advice.recommendation.text.starts_with("The array is too slow"));
        let load = advice.load;
        assert!(load.offered_iops.is_some_and(|offered| offered > 1.2 * load.served_iops), "{load:?}");
    }
}

#[test]
fn a_load_that_is_too_short_is_told_so() {
    for seed in SEEDS {
        let advice = advice(seed, &[&rate(400), "workload.requests=900", "workload.warmup=0"], |_| false);
        assert_eq!(advice.verdict, Verdict::TooShort, "{}", advice.why);
        assert_eq!(advice.recommendation.lever, None);
    }
}

/// What there was no time for is told, with what was tried before.
#[test]
fn what_there_is_no_time_for_is_told() {
    let template = Template::text(ARRAY, "array").expect("a text");
    let plan = Plan::new(&template, &[rate(400)], None).unwrap_or_else(|error| panic!("{error}"));
    let last = plan.levers[1].name.clone();
    let go_on = |name: &str| name != last;
    let early = RefCell::new(Vec::new());
    let first = |advice: &Advice| early.borrow_mut().push(advice.clone());
    let (advice, _) =
        advise(&plan, 1, &first, &go_on, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(advice.levers.len(), 1);
    let over: Vec<&str> = advice
        .not_tried
        .iter()
        .filter(|one| one.why == "the time was over")
        .map(|one| one.name.as_str())
        .collect();
    let planned: Vec<&str> = plan.levers[1..].iter().map(|lever| lever.name.as_str()).collect();
    assert_eq!((over, advice.at_twice_the_rate.is_none()), (planned, true));
    // Whether collection matters is said once, before any change is tried, and does not change any more.
    let [early] = &early.into_inner()[..] else { panic!("one first answer") };
    assert_eq!((early.levers.len(), early.verdict, &early.why), (0, advice.verdict, &advice.why));
    let known = |advice: &Advice| {
        serde_json::to_value((&advice.collection, &advice.load, &advice.drives, &advice.warnings))
            .expect("JSON")
    };
    assert_eq!(known(early), known(&advice));
}
