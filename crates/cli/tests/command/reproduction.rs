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
