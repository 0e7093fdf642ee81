//! GAFTL on whole arrays: does a request wait for collection where it should not, and are its keys kept and counted? Shares of
//! parity under it and other policies.

use std::collections::BTreeMap;

use harmonia_metrics::{Happening, Report};
use harmonia_run::{RunOptions, Silent, Unobserved, run};
use harmonia_scenario::Scenario;
use harmonia_types::IoCause;

const TINY: &str = "name = \"t\"\nssd.preset = \"tiny-test\"\nssd.gc.soft_threshold = \"hard+6\"\n\
    array = { devices = 4, level = \"raid5\", stripe_unit = \"8KiB\" }\n\
    workload = { size.mean = \"4KiB\", arrival.rate = 80, requests = 3000, warmup = 800, read_fraction = 0.5 }";
const GAFTL: &str = "array.coordination.policy=gaftl";
const ROWS: &str = "array.coordination.stripes=rows";

fn scenario(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(TINY, "test", &sets, None).unwrap_or_else(|error| panic!("{error}"))
}

fn report(sets: &[&str], checked: bool) -> Report {
    let (progress, observe) = (&Silent, &Unobserved);
    let options = RunOptions { checked, progress, observe, ..RunOptions::default() };
    run(&scenario(sets), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// Requests that met collection, and what the policy counted.
fn met(report: &Report) -> (u64, &BTreeMap<String, u64>) {
    let response = &report.host.response_ns;
    let met = response.met_gc_read.count + response.met_gc_write.count;
    (met, &report.array.coordination.counters)
}

#[test]
fn the_reserve_is_kept_when_written_out_and_taken_from_the_capacity() {
    let (plain, kept) = (scenario(&[]), scenario(&["array.free_stripes=5", GAFTL, ROWS]));
    assert!(kept.to_toml().contains("free_stripes = 5") && !plain.to_toml().contains("free_stripes"));
    let again = Scenario::parse(&kept.to_toml(), "test", &[], None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, kept);
    let bytes = |scenario: &Scenario| scenario.array.layout().logical_bytes();
    // Three units of data in each stripe of 8 KiB units.
    assert_eq!(bytes(&plain) - bytes(&kept), 5 * 3 * 8192);
    assert_eq!(bytes(&scenario(&["array.free_stripes=5"])), bytes(&kept), "under every policy");
}

/// Without NVRAM. Where several collect, or no slot is free, some do.
#[test]
fn no_request_waits_for_collection_while_members_take_turns_and_slots_are_free() {
    let mut calm_runs = 0;
    for (level, seed) in
        ["raid4", "raid5", "raid6"].into_iter().flat_map(|level| (1..=6).map(move |seed| (level, seed)))
    {
        let (level, seed) = (format!("array.level={level}"), format!("seed={seed}"));
        let report = report(&[&level, &seed, "array.free_stripes=16", GAFTL, ROWS], true);
        let (met, counters) = met(&report);
        assert!(counters["grants"] > 10 && counters["displaced"] > 0, "{level} {seed}: {counters:?}");
        assert_eq!(report.array.flash_bytes[IoCause::Background], 0, "bringing home is no rebuild");
        assert_eq!(counters["displaced"] > 0, counters["home_by_write"] + counters["home_in_idle"] > 0);
        if counters["hard_notices"] + counters["waits_full"] + counters["waits_several"] > 0 {
            // A member that is aged down to hard collects at once.
            continue;
        }
        calm_runs += 1;
        assert_eq!((met, report.host.blame_ns.queue_gc), (0, 0), "{level} {seed}: {counters:?}");
    }
    assert!(calm_runs >= 9, "only {calm_runs} of 18 runs are calm");
}

/// Requests of one page and of three, so that rows are written in part and whole.
#[test]
fn no_plan_exceeds_what_is_promised_and_some_reach_it() {
    let bounds = |size: &str, own: &[&str]| {
        let size = format!("workload.size.mean={size}");
        report(&[&[&size, "array.stripe_unit=4KiB"][..], own].concat(), true).array.bounds
    };
    assert_eq!(bounds("4KiB", &["array.free_stripes=16"]), None, "who waits promises nothing");
    for (size, own) in [
        ("4KiB", &["array.free_stripes=16", GAFTL, ROWS][..]),
        ("4KiB", &["array.free_stripes=16", GAFTL, ROWS, "array.level=raid6", "array.devices=5"]),
        ("4KiB", &[GAFTL, "array.small_write=reconstruct"]),
        ("12KiB", &[GAFTL, "array.devices=6"]),
        ("4KiB", &[GAFTL, "array.level=raid6", "array.devices=5", "array.small_write=reconstruct"]),
        ("12KiB", &[GAFTL, "array.level=raid6", "array.devices=7"]),
    ] {
        let of = bounds(size, own).expect("it promises something");
        assert_eq!(of.exceeded, 0, "{own:?}: {of:?}");
        assert!(of.promised > 2_000 && of.reached > 500 && of.most_pages_of_read > 0, "{own:?}: {of:?}");
    }
    // Parity is in the way of three units: six writes, where the paper's algorithms make five.
    let wide = ["workload.size.mean=12KiB", "array.devices=6", "array.free_stripes=64", GAFTL, ROWS];
    let of = bounds("12KiB", &wide).expect("it promises something");
    assert!(of.exceeded > 0 && of.exceeded < of.promised / 4, "{of:?}");
}

#[test]
fn with_few_slots_writes_wait_and_are_counted_or_are_parked() {
    let busy = ["array.free_stripes=1", "workload.arrival.rate=600", "array.stripe_unit=4KiB", GAFTL, ROWS];
    let waiting = report(&busy, true);
    let (waits, counters) = met(&waiting);
    assert!(waits > 0 && counters["waits_full"] > 0, "{waits} {counters:?}");
    let parking = report(&[&busy[..], &["array.nvram=1MiB"]].concat(), true);
    assert!(parking.array.nvram.is_some_and(|nvram| nvram.parked_pages > 0));
    assert!(met(&parking).0 < waits);
}

/// Under the same load: nothing of migration is counted without it, parity drifts with "away", and comes back with "back".
#[test]
fn parity_moves_where_it_may() {
    let run = |migration: &str, seed: u64| {
        let (seed, migration) = (format!("seed={seed}"), format!("array.coordination.migration={migration}"));
        let shares = "array.parity_shares=[70, 10, 10, 10]";
        let sets = [
            shares,
            "array.stripe_unit=4KiB",
            "array.free_stripes=32",
            "array.coordination.imbalance=0",
            // What moved in a warm-up would come back uncounted.
            "workload.warmup=0",
        ];
        let report = report(&[&sets[..], &[GAFTL, ROWS, &migration, &seed]].concat(), true);
        let (met, counters) = met(&report);
        (met, counters.clone())
    };
    let mut calm_runs = 0;
    for seed in 1..=4 {
        let counters = run("none", seed).1;
        assert!(
            !counters.contains_key("migrated_away") && !counters.contains_key("forced_stripes"),
            "{counters:?}"
        );
        for migration in ["away", "back"] {
            let (met, counters) = run(migration, seed);
            let [away, back, reads, writes] =
                ["migrated_away", "migrated_back", "migration_reads", "migration_writes"]
                    .map(|name| counters[name]);
            assert!(away > 10 && (back > 0) == (migration == "back"), "{counters:?}");
            assert!(back <= away && reads >= 2 * back && writes >= away + 2 * back, "{counters:?}");
            if counters["hard_notices"] + counters["waits_full"] + counters["waits_several"] == 0 {
                calm_runs += 1;
                assert_eq!(met, 0, "{migration} {seed}: {counters:?}");
            }
        }
    }
    assert!(calm_runs >= 2, "only {calm_runs} of 8 runs are calm");
}

#[test]
fn forced_writes_cost_a_page_a_stripe() {
    let figures = |forced: &str| {
        let whole = [
            "workload.size.mean=12KiB",
            "workload.read_fraction=0",
            "workload.requests=600",
            "workload.warmup=0",
        ];
        let calm = ["array.stripe_unit=4KiB", "array.free_stripes=32", "workload.arrival.rate=20"];
        let sequential = "workload.address={pattern = \"sequential\"}";
        let forced = format!("array.coordination.forced={forced}");
        let report = report(&[&whole[..], &calm[..], &[sequential, GAFTL, ROWS, &forced]].concat(), true);
        let counters = report.array.coordination.counters.clone();
        (report.array.parity_pages_written, counters.get("forced_stripes").copied(), counters["displaced"])
    };
    let (usual, none, before) = figures("false");
    let (twice, forced, displaced) = figures("true");
    let forced = forced.expect("it is counted");
    assert!(none.is_none() && forced > 500, "{forced} of 600 stripes");
    // A displaced unit has a parity of its own at most.
    assert!(
        twice.abs_diff(usual + forced) <= before + displaced,
        "{usual} {twice} {forced} {before} {displaced}"
    );
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let sets = ["array.free_stripes=4", "workload.arrival.rate=400", "workload.requests=1600", GAFTL, ROWS];
    let figures = |report: &Report| (report.host.clone(), report.array.coordination.counters.clone());
    let (one, other) = (report(&sets, false), report(&sets, true));
    assert_eq!(figures(&one), figures(&other));
}

/// Single-page writes: a member with the share p of parity has p of the parity and (1 - p) / (n - 1) of the data.
#[test]
fn parity_is_written_by_its_shares_under_every_policy() {
    for policy in ["local", "gaftl", "reactive-inclusive"] {
        let policy = format!("array.coordination.policy={policy}");
        let shares = "array.parity_shares=[70, 10, 10, 10]";
        let sets = [shares, "array.free_stripes=4", "array.stripe_unit=4KiB", &policy, ROWS];
        let report = report(&sets[..if policy.ends_with("gaftl") { 5 } else { 4 }], true);
        let of = |pages: fn(&harmonia_metrics::DeviceReport) -> u64| {
            let pages: Vec<f64> = report.devices.iter().map(|device| pages(device) as f64).collect();
            let sum: f64 = pages.iter().sum();
            pages.into_iter().map(|pages| pages / sum).collect::<Vec<f64>>()
        };
        let parity = of(|device| device.parity_pages_written.unwrap_or(0));
        let data = of(|device| device.host_pages_written);
        // Displaced data has parity of its own, on any member.
        let slack = if policy.ends_with("gaftl") { 0.15 } else { 0.04 };
        for (member, share) in [0.7, 0.1, 0.1, 0.1].into_iter().enumerate() {
            assert!((parity[member] - share).abs() < slack, "{policy}: {parity:?}");
            assert!((data[member] - (1.0 - share) / 3.0).abs() < slack, "{policy}: {data:?}");
        }
        // Where members collect together, erases follow other rules.
        let erases = |member: usize| report.devices[member].erases;
        assert!(policy.ends_with("inclusive") || erases(0) > erases(1), "{policy}");
    }
    let plain = report(&["workload.requests=1000"], true);
    assert!(plain.devices.iter().all(|device| device.parity_pages_written.is_none()));
    let written = scenario(&["array.parity_shares=[3, 1, 0, 1]"]);
    assert!(written.to_toml().contains("parity_shares = [3, 1, 0, 1]"));
    assert_eq!(Scenario::parse(&written.to_toml(), "test", &[], None).ok(), Some(written));
}

/// Stripes of three units, P and Q on six members.
const FLOATING6: [&str; 3] = [GAFTL, "array.level=raid6", "array.devices=6"];
/// Members have a page for each number.
const WHOLE: &str = "array.coordination.thin=false";

/// Four members: stripes of two units, a parity, and a member that is free.
#[test]
fn stripes_that_leave_a_member_free_hold_two_members_less_and_age_apart() {
    let (rows, floating) = (scenario(&["array.free_stripes=0"]), scenario(&[GAFTL, WHOLE]));
    let bytes = |scenario: &Scenario| scenario.array.layout().logical_bytes();
    assert_eq!(bytes(&floating) * 3, bytes(&rows) * 2);
    let again =
        Scenario::parse(&floating.to_toml(), "test", &[], None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, floating);
    let declustered = scenario(&["array.level=draid1:2d:1s"]);
    assert_eq!(bytes(&declustered), bytes(&floating), "the same stripes that stay where they are");
    let keys = [&rows, &floating, &declustered].map(harmonia_run::aged_by);
    assert!(keys[0] != keys[1] && keys[1] != keys[2], "{keys:?}");
    let six = ["array.level=raid6", "array.devices=6"];
    let dual = [&six[..], &[GAFTL, WHOLE, six[0], six[1]]];
    let [rows, dual] = dual.map(scenario);
    assert_eq!(bytes(&dual) * 4, bytes(&rows) * 3);
    assert_eq!(bytes(&dual), bytes(&scenario(&["array.level=draid2:3d:1s", six[1]])));
    assert!(dual.array.layout().is_floating());
    assert!(!scenario(&[GAFTL, ROWS, "array.free_stripes=1"]).array.layout().is_floating());
}

/// Three quarters of the rows of four members are on each, and it is as full as in rows but for chance. Requests that are
/// compared go to what the smallest array holds.
#[test]
fn thin_members_hold_nearly_all_that_they_can() {
    let single = "array.stripe_unit=4KiB";
    let [rows, whole, thin] =
        [&[][..], &[GAFTL, WHOLE], &[GAFTL]].map(|own| scenario(&[own, &[single]].concat()));
    let bytes = |scenario: &Scenario| scenario.array.layout().logical_bytes() as f64;
    // Of n - 2 units a row, and n / (n - 1) rows for each page: 8 / 9 of three members' worth.
    let share = bytes(&thin) / bytes(&rows);
    assert!((0.8..8.0 / 9.0).contains(&share) && bytes(&thin) > bytes(&whole) * 1.2, "{share}");
    let again = Scenario::parse(&thin.to_toml(), "test", &[], None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, thin);
    let keys = [&rows, &whole, &thin].map(harmonia_run::aged_by);
    assert!(keys[0] != keys[1] && keys[1] != keys[2], "{keys:?}");
    let large = scenario(&[GAFTL, single, "ssd.geometry.blocks_per_plane=600"]);
    let of_all = scenario(&[single, "ssd.geometry.blocks_per_plane=600"]);
    let share = bytes(&large) / bytes(&of_all);
    assert!((0.86..8.0 / 9.0).contains(&share), "chance counts for less on a larger drive: {share}");
}

/// Nobody waits, nothing comes home, and what is left behind does not stay: flash holds what it held when the run began.
#[test]
fn no_request_waits_for_collection_while_stripes_float_and_members_take_turns() {
    for own in [&[GAFTL][..], &FLOATING6] {
        nobody_waits(own);
    }
}

fn nobody_waits(own: &[&str]) {
    let mut calm_runs = 0;
    for seed in 1..=8 {
        let seed = format!("seed={seed}");
        let report = report(&[own, &[&seed]].concat(), true);
        let (met, counters) = met(&report);
        let moved = counters["units_moved"] + counters["parity_moved"];
        assert!(counters["grants"] > 10 && moved > 0, "{seed}: {counters:?}");
        assert_eq!(report.array.flash_bytes[IoCause::Background], 0);
        assert!(counters["trimmed"] <= moved && counters["trimmed"] * 2 > moved, "{seed}: {counters:?}");
        if counters["hard_notices"] + counters["waits_several"] > 0 {
            continue;
        }
        calm_runs += 1;
        assert_eq!((met, report.host.blame_ns.queue_gc), (0, 0), "{seed}: {counters:?}");
    }
    assert!(calm_runs >= 4, "only {calm_runs} of 8 runs are calm");
}

/// Single-page writes: a page of each parity whoever collects.
#[test]
fn floating_stripes_write_one_page_of_each_parity_a_page_whoever_collects() {
    for (own, parities) in [(&[GAFTL][..], 1), (&FLOATING6, 2)] {
        let own = [own, &["array.stripe_unit=4KiB", "workload.warmup=0", "workload.align=true"]].concat();
        let report = report(&own, true);
        assert!(report.array.coordination.counters["units_moved"] > 0);
        assert_eq!(report.array.parity_pages_written, parities * report.array.host_pages_written);
    }
}

/// One failure on RAID-5 and two on RAID-6 lose nothing, with spares and without. One more than that does, and is counted.
#[test]
fn floating_stripes_lose_nothing_while_parities_make_up_for_what_failed() {
    let (one, two) = ("{ device = 1, request = 900 }", "{ device = 3, request = 1500 }");
    for (own, failures, is_enough) in [
        (&[GAFTL][..], one.to_owned(), true),
        (&[GAFTL], format!("{one}, {two}"), false),
        (&FLOATING6, format!("{one}, {two}"), true),
        (&FLOATING6, format!("{one}, {two}, {{ device = 0, request = 1600 }}"), false),
    ] {
        for spares in [0, 1, 2] {
            let failure = format!("array.failure=[{failures}]");
            let spares = format!("array.spares={spares}");
            // Slow enough for the second failure to come while the first spare is rebuilt.
            let rebuild = "array.rebuild={ min_rate = \"20KB/s\", max_rate = \"20KB/s\" }";
            let report = report(&[own, &[&failure, &spares, rebuild]].concat(), true);
            let found = report.array.failures.unwrap_or_else(|| panic!("{failure}: nothing failed"));
            let lost = found.lost.unread_pages + found.lost.unwritten_pages + found.lost.lost_pages;
            assert_eq!(lost == 0, is_enough, "{own:?} {failure} {spares}: {:?}", found.lost);
            assert!(found.rebuilt_pages > 0, "{own:?} {failure} {spares}: something is read around");
        }
    }
}

/// What befalls members, in order: the member, and what.
fn story(report: &Report) -> Vec<(u16, Happening)> {
    let failures = report.array.failures.as_ref().expect("a member fails");
    failures.events.iter().map(|event| (event.device.expect("of a member"), event.what)).collect()
}

/// Without a spare, as far as the others have room: they have it for everything unless they are thinly provisioned. What was rebuilt is
/// not lost with the next member.
#[test]
fn what_a_failed_member_held_is_rebuilt_on_the_others_without_a_spare() {
    use Happening::{Distributed, Failed, Incomplete, Rebuilt, Replaced};
    let quick = "array.rebuild={ min_rate = \"100MB/s\", max_rate = \"100MB/s\" }";
    let of = |own: &[&str]| report(&[&[GAFTL, quick][..], own].concat(), true);
    let one = "array.failure=[{ device = 1, request = 900 }]";
    let thick = of(&[one, "array.coordination.thin=false"]);
    assert_eq!(story(&thick), [(1, Failed), (1, Distributed), (1, Rebuilt)]);
    let rebuild =
        thick.array.failures.as_ref().and_then(|failures| failures.rebuild).expect("it was rebuilt");
    assert!(rebuild.share == 1.0 && rebuild.work.bytes > 0, "{rebuild:?}");
    let thin = of(&[one]);
    let [(1, Failed), (1, Distributed), (1, Incomplete { bytes })] = story(&thin)[..] else {
        panic!("{:?}", story(&thin))
    };
    let found =
        thin.array.failures.as_ref().and_then(|failures| failures.rebuild).expect("something was rebuilt");
    assert!(bytes > 0 && (0.0..1.0).contains(&found.share), "{found:?}");
    // The next one fails.
    let two = "array.failure=[{ device = 1, request = 900 }, { device = 3, request = 2500 }]";
    let twice = of(&[two, "array.coordination.thin=false"]);
    assert!(
        matches!(story(&twice)[2..], [(1, Rebuilt), (3, Failed), (3, Distributed), (3, Incomplete { .. })]),
        "{:?}",
        story(&twice)
    );
    assert_eq!(twice.array.failures.as_ref().expect("members fail").lost.pages(), 0);
    // The first of two gets the spare, which then takes what the second one had where it was to be.
    let spare = of(&[
        "array.level=raid6",
        "array.devices=5",
        "array.spares=1",
        "array.coordination.thin=false",
        "array.failure=[{ device = 1, request = 900 }, { device = 3, request = 901 }]",
    ]);
    let expected =
        [(1, Failed), (1, Replaced { by: 5 }), (3, Failed), (3, Distributed), (1, Rebuilt), (3, Rebuilt)];
    assert_eq!(story(&spare), expected);
}

/// Nothing is missing although an SSD is: the array starts again, and is resynced.
#[test]
fn an_array_whose_ssd_was_rebuilt_on_the_others_starts_again_after_a_loss_of_power() {
    let quick = "array.rebuild={ min_rate = \"100MB/s\", max_rate = \"100MB/s\" }";
    let of =
        |own: &[&str]| report(&[&[GAFTL, "array.coordination.thin=false", quick][..], own].concat(), true);
    // Power is lost while the SSD fails, and when all is rebuilt.
    for (failure, loss) in [(1505, 1500), (900, 2500)] {
        let failure = format!("array.failure=[{{ device = 1, request = {failure} }}]");
        let report = of(&[
            &failure,
            &format!("array.power_loss=[{{ request = {loss} }}]"),
            "workload.arrival.rate=400",
        ]);
        let failures = report.array.failures.expect("an SSD fails");
        let happened = |what| failures.events.iter().any(|event| event.what == what);
        assert!(happened(Happening::Rebuilt) && happened(Happening::Resynced), "{:?}", failures.events);
        assert_eq!((failures.resync.map(|resync| resync.share), failures.lost.pages()), (Some(1.0), 0));
    }
}
