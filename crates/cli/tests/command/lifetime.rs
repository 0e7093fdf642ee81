//! `harmonia lifetime` as a user or a script meets it.

use super::*;

const RATED: &str = "ssd.rating.cycles=3000";

#[test]
fn a_table_of_years_a_policy_and_a_value() {
    let arguments = [
        "lifetime",
        "tiny",
        "--set",
        RATED,
        "--policies",
        "local,gclock",
        "--set",
        "ssd.ftl.reserved_blocks=20%,30%",
    ];
    let (status, table, stderr) = outcome(&mut harmonia(&arguments));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    for part in [
        "local + reserved_blocks=20%",
        "gclock + reserved_blocks=30%",
        "DWPD",
        "write amp",
        "mean cycles",
        "ends with",
        "as if it went on so day and night",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(!table.contains("read-only") && !table.contains("GC queue"), "{table}");
}

#[test]
fn json_has_intervals_over_seeds_and_out_has_all_of_it() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let arguments = ["lifetime", "tiny", "--set", "ssd.wear.endurance=3000", "--seeds", "2", "--json", "-q"];
    let (status, json, stderr) = outcome(harmonia(&arguments).arg("--out").arg(folder.path()));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let answer: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(answer["schema"], "harmonia-lifetime/1");
    let life = &answer["variants"][0];
    assert_eq!((&life["label"], &life["seeds"]), (&"reactive-selective".into(), &serde_json::json!([1, 2])));
    for limit in ["cycles", "first_block", "read_only"] {
        let years = &life["years"][limit];
        assert!(years["mean"].as_f64().is_some_and(|mean| mean > 0.0), "{limit}: {years}");
        assert!(years["half_width"].as_f64().is_some_and(|width| width > 0.0), "{limit}: {years}");
    }
    assert_eq!((&life["limit"], &life["rate"]), (&"read-only".into(), &"arrivals".into()));
    assert!(answer["assumptions"].as_array().is_some_and(|notes| notes.len() > 2), "{answer}");
    assert_eq!(names_in(folder.path()), ["lifetime.json", "report.html", "report.json", "scenario.toml"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("lifetime.json")).expect("readable"), json);
}

#[test]
fn whole_lives_are_simulated_where_drives_are_small() {
    let arguments = [
        "lifetime",
        "tiny",
        "--set",
        "ssd.wear.endurance=20",
        "--set",
        "workload.arrival.rate=500",
        "--exact",
        "--json",
    ];
    let (status, json, stderr) = outcome(&mut harmonia(&arguments));
    assert_eq!(status, Some(0), "{stderr}");
    let answer: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let life = &answer["variants"][0];
    let (closed, simulated) = (&life["years"]["read_only"]["mean"], &life["simulated"]["mean"]);
    let ratio = simulated.as_f64().expect("it ended") / closed.as_f64().expect("closed form");
    assert!((0.3..1.2).contains(&ratio), "{ratio}: {life}");
}

#[test]
fn what_cannot_be_answered_is_refused_with_what_could() {
    refused(
        &["lifetime", "tiny"],
        &["nothing says what its drives endure", "ssd.rating", "ssd.wear.endurance"],
    );
    refused(
        &["lifetime", "tiny", "--set", RATED, "--exact"],
        &["blocks last for ever", "ssd.wear.endurance"],
    );
    let large = ["lifetime", "tiny", "--set", "ssd.wear.endurance=1000000", "--exact"];
    refused(&large, &["page operations", "smaller ssd.wear.endurance"]);
    refused(
        &[
            "lifetime",
            "tiny",
            "--set",
            "array.level=raid5",
            "--set",
            "array.devices=4",
            "--set",
            "array.parity_shares=[40, 20, 20, 20]",
            "--set",
            "ssd.wear.endurance=3000",
            "--set",
            "array.member=[{ index = 1, ssd = { wear = { endurance = 1000 } } }]",
            "--set",
            "array.lifetime.shares=by-age",
        ],
        &["array.lifetime.shares", "members differ in what they endure", "fixed"],
    );
    refused(&["lifetime", "tiny", "--set", RATED, "--policies", "locl"], &["did you mean 'local'"]);
}

/// `run` and `compare` have the table only where something says what drives endure.
#[test]
fn run_and_compare_say_years_where_they_can() {
    let (_, plain, _) = outcome(&mut harmonia(&["run", "tiny"]));
    assert!(!plain.contains("Lifetime") && !plain.contains("Wear at the end"), "{plain}");
    let (_, rated, _) = outcome(&mut harmonia(&["run", "tiny", "--set", RATED]));
    assert!(rated.contains("Years: until the first drive ends") && !rated.contains("Lifetime"), "{rated}");
    let (_, detailed, _) = outcome(&mut harmonia(&["run", "tiny", "--details", "--set", RATED]));
    assert!(
        detailed.contains("Lifetime at this rate") && !detailed.contains("Wear at the end"),
        "{detailed}"
    );
    let wears =
        ["compare", "tiny", "--policies", "local,ideal", "--seeds", "2", "--set", "ssd.wear.endurance=3000"];
    let (_, wearing, _) = outcome(harmonia(&wears).arg("--details"));
    assert!(
        wearing.contains("Lifetime at this rate") && wearing.contains("Wear at the end of the run"),
        "{wearing}"
    );
}

/// Table, JSON, first screen, advice and page: who lasts longer than a drive is rated for is told that age comes first.
#[test]
fn drives_that_age_before_they_wear_out_are_told_everywhere() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let rare = ["--set", "workload.arrival.rate=0.1", "--set", "ssd.rating={ dwpd = 1000, years = 5 }", "-q"];
    let of = |command: &'static str| [&[command, "tiny"], &rare[..]].concat();
    let (status, table, stderr) = outcome(harmonia(&of("lifetime")).arg("--out").arg(folder.path()));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let age = "Where they exceed 5 (ssd.rating), age ends the drives first";
    assert!(table.contains("> 100 years") && flat(&table).contains(age), "{table}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("readable");
    let answer: serde_json::Value = serde_json::from_str(&read("lifetime.json")).expect("JSON");
    let life = &answer["variants"][0];
    assert_eq!(life["rated_years"], 5.0, "{life}");
    assert!(life["years"]["rated_bytes"]["mean"].as_f64().is_some_and(|years| years > 1_000.0), "{life}");
    assert!(answer["assumptions"].to_string().contains(age), "{answer}");
    assert!(read("report.json").contains("age-first") && read("report.html").contains(age));
    for command in ["run", "advise"] {
        let (_, screen, stderr) = outcome(&mut harmonia(&of(command)));
        assert!(screen.contains("> 100 years") && flat(&screen).contains(age), "{screen}{stderr}");
    }
}

/// With redundancy a second run says how long a rebuild takes; table, JSON and page tell what it risks.
#[test]
fn members_of_an_array_over_the_years() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let arguments = [
        "lifetime",
        "tiny",
        "--set",
        "array.level=raid5",
        "--set",
        "ssd.wear.endurance=3000",
        "--set",
        "array.lifetime.replace=death,age",
        "--seeds",
        "2",
        "-q",
    ];
    let (status, table, stderr) = outcome(harmonia(&arguments).arg("--out").arg(folder.path()));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    for part in ["Members over the years", "second by wear", "loss a year", "ssd.wear.drive_spread"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("readable");
    let answer: serde_json::Value = serde_json::from_str(&read("lifetime.json")).expect("JSON");
    let of = |variant: usize, key: &str| &answer["variants"][variant]["replacements"][key];
    let mean = |value: &serde_json::Value| value["mean"].as_f64().expect("a mean");
    assert!(mean(&of(0, "risk")["rebuild_hours"]) > 0.0, "{answer}");
    assert!(mean(of(1, "unused")) > mean(of(0, "unused")), "who is replaced early has life left: {answer}");
    // The runs that are told of have no failure.
    let report: serde_json::Value = serde_json::from_str(&read("report.json")).expect("JSON");
    assert!(report["runs"][0]["array"]["replacements"]["risk"]["loss"].is_f64());
    assert!(report["runs"][0]["array"]["failures"]["rebuild"].is_null());
    assert!(read("report.html").contains("Members over the years"));
}

/// A level without redundancy takes nothing from the others.
#[test]
fn each_level_has_its_own_rebuild() {
    let arguments = [
        "lifetime",
        "tiny",
        "--set",
        "array.level=raid5,raid0,raid6",
        "--set",
        "ssd.wear.endurance=3000",
        "--json",
        "-q",
    ];
    let (status, json, stderr) = outcome(&mut harmonia(&arguments));
    assert_eq!(status, Some(0), "{stderr}");
    let answer: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let hours =
        |variant: usize| &answer["variants"][variant]["replacements"]["risk"]["rebuild_hours"]["mean"];
    assert!(hours(0).is_f64() && hours(1).is_null() && hours(2).is_f64(), "{answer}");
}

#[test]
fn the_delay_of_a_spare_is_added_to_its_rebuild() {
    let hours = |delay: &str| {
        let delay = format!("array.rebuild.delay={delay}");
        let arguments = [
            "lifetime",
            "tiny",
            "--set",
            "array.level=raid5",
            "--set",
            "ssd.wear.endurance=3000",
            "--set",
            "array.spares=1",
            "--set",
            &delay,
            "--json",
            "-q",
        ];
        let (status, json, stderr) = outcome(&mut harmonia(&arguments));
        assert_eq!(status, Some(0), "{stderr}");
        let answer: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        answer["variants"][0]["replacements"]["risk"]["rebuild_hours"]["mean"].as_f64().expect("it is known")
    };
    assert!((hours("30min") - hours("0s") - 0.5).abs() < 1e-9);
}
