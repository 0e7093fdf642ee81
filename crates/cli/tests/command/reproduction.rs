//! Does `harmonia reproduce` say what it would do, and refuse what it cannot? Its runs are tested where they are made.

use crate::{harmonia, names_in, outcome, refused};

#[test]
fn claims_and_experiments_are_listed_without_running_anything() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = harmonia(&["reproduce", "--list"]);
    let (status, stdout, _) = outcome(command.current_dir(folder.path()));
    assert_eq!(status, Some(0));
    assert!(stdout.contains("response-hpc-w ") && stdout.contains("array-size "), "{stdout}");
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn an_unknown_claim_is_refused_with_the_nearest() {
    refused(&["reproduce", "respons-hpc-w"], &["`respons-hpc-w`", "did you mean `response-hpc-w`?"]);
    refused(&["reproduce", "--seeds", "0"], &["--seeds"]);
}

/// Without runs nothing is claimed, and the pages are there all the same.
#[test]
fn what_was_not_run_is_not_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8");
    let (status, stdout, stderr) =
        outcome(&mut harmonia(&["reproduce", "skew-erases", "--kept", "--json", "--out", out]));
    assert_eq!(status, Some(0), "{stderr}");
    let claims: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(
        (claims[0]["id"].as_str(), claims[0]["verdict"].as_str()),
        (Some("skew-erases"), Some("not-measured"))
    );
    assert_eq!(claims.as_array().map(Vec::len), Some(1));
    assert_eq!(names_in(folder.path()), ["claims.json", "figures", "findings.md", "results.json", "runs"]);
}

/// Rows of drives are listed without a run, each for the fit or for the judgement.
#[test]
fn measurements_of_named_drives_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = harmonia(&["reproduce", "drives", "samsung-pm9a3-960g", "--list"]);
    let (status, stdout, stderr) = outcome(command.current_dir(folder.path()));
    assert_eq!(status, Some(0), "{stderr}");
    assert!(names_in(folder.path()).is_empty());
    let (judged, fitted) = stdout.split_once("samsung-pm9a3-960g, fitted rows").expect("two tables");
    assert!(judged.contains("read p99 at 30000") && !judged.contains("read p99 at 10000"), "{stdout}");
    assert!(fitted.contains("read p99 at 10000") && !stdout.contains("p5520"), "{stdout}");
}

#[test]
fn a_drive_that_nobody_measured_is_refused() {
    refused(&["reproduce", "drives", "tiny-test"], &["tiny-test", "allowed: samsung-pm9a3-960g, "]);
}

#[test]
fn only_named_drives_are_predicted() {
    refused(&["reproduce", "--predict"], &["--predict", "allowed: harmonia reproduce drives --predict"]);
    refused(
        &["reproduce", "drives", "--predict", "micron-7450-pro-960g"],
        &["micron-7450-pro-960g: nothing is predicted", "allowed: micron-7450-max-800g, samsung-pm9a3-960g"],
    );
}

/// The five figures at most that were fitted stand first.
#[test]
fn a_preset_is_printed_with_where_its_figures_come_from() {
    let (status, stdout, stderr) = outcome(&mut harmonia(&["presets", "samsung-pm9a3-960g"]));
    assert_eq!(status, Some(0), "{stderr}");
    let (fitted, others) = stdout.split_once("Not fitted (").expect("two parts");
    assert!(
        fitted.contains("Fitted to measurements (4)") && fitted.contains("ssd.timing.program = "),
        "{stdout}"
    );
    assert!(others.contains("found: data sheet") && others.contains("inferred: "), "{stdout}");
    refused(&["presets", "samsung-pm9a3"], &["did you mean `samsung-pm9a3-960g`?"]);
}

#[test]
fn a_named_drive_is_named_in_a_scenario() {
    let (status, stdout, stderr) =
        outcome(&mut harmonia(&["check", "ssd-iq", "--set", "ssd.preset=solidigm-p5520-1.92t"]));
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stdout.contains("last_program = \"filled\""), "{stdout}");
}
