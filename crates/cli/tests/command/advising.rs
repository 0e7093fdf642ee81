//! `harmonia advise` as a user or a script meets it.

use super::*;

const SMALL: [&str; 8] = [
    "--set",
    "array={ devices = 4, level = \"raid5\", stripe_unit = \"16KiB\" }",
    "--set",
    "ssd.geometry.blocks_per_plane=64",
    "--set",
    "workload.requests=4000",
    "--set",
    "workload.size.mean=\"4KiB\"",
];

#[test]
fn one_page_of_answer_and_files_of_it() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let rated = ["--set", "ssd.rating={ dwpd = 1, years = 5 }"];
    let arguments = [&["advise", "tiny"], &SMALL[..], &rated].concat();
    let (status, page, stderr) = outcome(harmonia(&arguments).arg("--out").arg(folder.path()));
    assert_eq!(status, Some(0), "{stderr}");
    // In this order.
    let mut rest = page.as_str();
    for part in [
        "Does collection matter here?",
        "The load: ",
        "What the drives take",
        "years",
        "What each change brings",
        "80% full",
        "What to do: ",
        "What would change this answer",
        "One seed was run",
    ] {
        let (_, behind) = rest.split_once(part).unwrap_or_else(|| panic!("{part}: {page}"));
        rest = behind;
    }
    assert!(stderr.contains("runs; ageing takes about"), "{stderr}");
    let files = ["advice.json", "advice.txt", "report.html", "report.json", "scenario.toml"];
    assert_eq!(names_in(folder.path()), files);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("readable");
    let advice: serde_json::Value = serde_json::from_str(&read("advice.json")).expect("JSON");
    assert_eq!((&advice["schema"], &advice["drives"][3]["device"]), (&"harmonia-advice/1".into(), &3.into()));
    let levers = advice["levers"].as_array().expect("a list").len();
    let report: serde_json::Value = serde_json::from_str(&read("report.json")).expect("JSON");
    assert_eq!(report["runs"].as_array().expect("a list").len(), levers + 2);
    assert!(read("advice.txt").contains("What to do: "));
    // The same as JSON, and nothing on stderr that a script would have to skip.
    let (_, json, stderr) = outcome(harmonia(&arguments).args(["--json", "--quiet"]));
    assert_eq!((json, stderr.as_str()), (read("advice.json"), ""));
}

/// Who wants to know whether collection matters need not wait for what changes bring.
#[test]
fn whether_collection_matters_is_said_before_changes_are_tried() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (said, written) = (folder.path().join("said"), folder.path().join("written"));
    let both = std::fs::File::create(&said).expect("created");
    let arguments = [&["advise", "tiny", "-v"], &SMALL[..]].concat();
    let mut command = harmonia(&arguments);
    command.arg("--out").arg(&written).stdout(both.try_clone().expect("open")).stderr(both);
    assert!(command.status().expect("the binary starts").success());
    let said = std::fs::read_to_string(said).expect("readable");
    let (before, behind) = said.split_once(": begins").unwrap_or_else(|| panic!("{said}"));
    assert!(
        before.contains("Does collection matter here?") && before.contains("What the drives take"),
        "{said}"
    );
    assert!(!behind.contains("What the drives take") && behind.contains("What each change brings"), "{said}");
    // Said in two parts, it is the page that files have.
    let page = std::fs::read_to_string(written.join("advice.txt")).expect("readable");
    let (first, _) = page.split_once("\n\nWhat each change brings").unwrap_or_else(|| panic!("{page}"));
    assert!(first.contains("What the drives take"), "{page}");
}

#[test]
fn what_there_is_no_time_for_is_told() {
    let arguments = [&["advise", "tiny"], &SMALL[..], &["--time-limit", "0s", "--json", "-q"]].concat();
    let (status, json, stderr) = outcome(&mut harmonia(&arguments));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let advice: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(advice["levers"].as_array().map(Vec::len), Some(0));
    let over = advice["not_tried"].as_array().expect("a list").iter();
    assert!(over.clone().count() > 5 && over.clone().any(|one| one["why"] == "the time was over"), "{json}");
}

#[test]
fn what_cannot_be_advised_on_is_refused() {
    refused(&["advise"], &["neither a scenario nor an array is named"]);
    refused(&["advise", "tiny", "--seeds", "0"], &["--seeds", "1..=1000"]);
    refused(&["advise", "tiny", "--set", "seed=1,2"], &["--set flags give 2 scenarios"]);
}

/// Its response times mean nothing, so none is shown, and what the verdict rests on is said once.
#[test]
fn advice_about_an_overload_has_no_response_times() {
    let arguments = ["advise", "tiny", "--set", "workload.arrival.rate=20000", "-q"];
    let (status, page, stderr) = outcome(&mut harmonia(&arguments));
    assert_eq!(status, Some(0), "{stderr}");
    let flat = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(flat.matches("he array does not keep up with the load. The mean").count(), 1, "{page}");
    assert!(flat.contains("If collection took no time, the array would keep up."), "{page}");
    assert!(
        !flat.contains("Does collection matter here?") && !flat.contains("--policies local,ideal"),
        "{page}"
    );
}
