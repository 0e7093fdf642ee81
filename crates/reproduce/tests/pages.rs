//! Are the committed findings what the committed results say?

// The generator is an example, so that `make findings` writes what this test compares.
#[allow(dead_code)]
#[path = "../examples/findings.rs"]
mod generator;

use harmonia_reproduce::claims::{Paper, claims, reasons};
use harmonia_reproduce::drives::judged::judge;
use harmonia_reproduce::drives::measured::drives;
use harmonia_reproduce::drives::predicted::{Predictions, asked};
use harmonia_reproduce::drives::runs::Shows;
use harmonia_reproduce::drives::tables;
use harmonia_reproduce::verdict::Verdict;
use harmonia_reproduce::{assess, experiments, findings, readings};

#[test]
fn committed_pages_are_fresh() {
    for (path, page) in generator::pages().expect("results and pages are there") {
        let committed = std::fs::read_to_string(generator::root().join(&path)).unwrap_or_default();
        assert!(committed == page, "{path} is stale: run `make findings` and commit it");
    }
    assert_eq!(generator::stale_figures().expect("a folder"), Vec::<std::path::PathBuf>::new());
}

/// The numbers in a sentence.
fn numbers<const N: usize>(text: &str) -> [u64; N] {
    let words = text.split(|one: char| !one.is_ascii_digit()).filter(|word| !word.is_empty());
    let all: Vec<u64> = words.map(|word| word.parse().expect("digits")).collect();
    all.try_into().unwrap_or_else(|all| panic!("{all:?} in {text}"))
}

/// Whether the README has this, however its lines are broken.
fn readme_says(text: &str) {
    let readme = std::fs::read_to_string(generator::root().join("README.md")).expect("a README");
    let flat = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(text), "README.md has to say: {text}");
}

/// The README gives the total of claims, without second readings.
#[test]
fn the_readme_has_the_total_of_claims() {
    let results = generator::results().expect("committed results");
    let pages = findings::pages(&results);
    let (total, _) = pages.claims.split_once(". ").expect("a sentence");
    let [all, within, direction, not, not_here] = numbers(total);
    readme_says(&format!(
        "lists {all} of their claims. On three seeds {within} hold within a tolerance, {direction} in direction only, {not} not. \
         {not_here} cannot be tested here."
    ));
}

/// A sentence whose condition fails is left out of the page: nobody should have to notice that by reading.
#[test]
fn every_conclusion_of_the_page_is_borne_out() {
    let results = generator::results().expect("committed results");
    assert_eq!(findings::pages(&results).dropped, Vec::<String>::new());
}

/// A page that names a variant which no experiment has would have a dash there for ever.
#[test]
fn every_measure_of_the_page_has_its_runs() {
    let results = generator::results().expect("committed results");
    assert_eq!(findings::pages(&results).missing, Vec::<String>::new());
}

#[test]
fn every_run_of_every_experiment_is_there() {
    let results = generator::results().expect("committed results");
    for experiment in experiments().expect("valid experiments") {
        for variant in experiment.variants() {
            let seeds = results.runs(&experiment.id, &variant).len();
            let refused = results.refusal(&experiment.id, &variant).is_some();
            assert!(refused || seeds >= 3, "{} {variant}: {seeds} seeds", experiment.id);
        }
    }
}

#[test]
fn every_run_of_every_reading_is_there() {
    let results = generator::results().expect("committed results");
    for reading in readings().expect("valid readings") {
        for (experiment, variant) in reading.cells() {
            let name = reading.variant(experiment, &variant);
            let seeds = results.runs(experiment, &name).len() as u64;
            let refused = results.refusal(experiment, &name).is_some();
            assert!(refused || seeds >= reading.seeds(experiment), "{experiment} {name}: {seeds} seeds");
        }
    }
}

/// A claim that is missed without a reason is a question that the page leaves open; a reason for one that is met is stale.
#[test]
fn every_missed_claim_of_a_paper_with_readings_has_a_reason_and_no_other_has() {
    let results = generator::results().expect("committed results");
    let papers = [Paper::GlobalCollection, Paper::InsideTheDie, Paper::Channels];
    let of_papers: Vec<&str> = papers.iter().flat_map(|paper| paper.claims()).map(|claim| claim.id).collect();
    for one in assess(&claims(), &results).iter().filter(|one| of_papers.contains(&one.id)) {
        let missed = matches!(one.verdict, Verdict::DirectionOnly | Verdict::NotReproduced);
        let given = reasons::reasons().iter().any(|reason| reason.claims.contains(&one.id));
        assert_eq!(missed, given, "{}: {}", one.id, one.verdict.text());
    }
}

/// The README has the totals of named drives, apart from those of papers.
#[test]
fn the_readme_has_the_total_of_named_drives() {
    let kept = std::fs::read_to_string(generator::root().join("experiments/drives.json")).expect("results");
    let shows = Shows::from_json(&kept).expect("results of drives");
    let total = tables::total(&drives().iter().map(|drive| judge(drive, &shows)).collect::<Vec<_>>());
    let [others_met, others, met, fitted] = numbers(&total);
    readme_says(&format!(
        "were fitted to {fitted} measurements and meet {met} of them within stated tolerances. Of {others} other measurements they meet \
         {others_met}."
    ));
}

/// What is kept of named drives has a run for every row, a reason for every miss, and no reason for what is none.
#[test]
fn every_miss_of_a_named_drive_has_its_reason() {
    let kept = std::fs::read_to_string(generator::root().join("experiments/drives.json")).expect("results");
    let shows = Shows::from_json(&kept).expect("results of drives");
    for drive in drives() {
        let judged = judge(&drive, &shows);
        for one in &judged {
            let of = format!("{}: {} at {}", drive.name, one.row.quantity.text(), one.row.load);
            assert_ne!(one.verdict, Verdict::NotMeasured, "{of}");
            assert!(one.verdict == Verdict::Within || !one.why.is_empty(), "{of}: {:?}", one.simulated);
        }
        for miss in &drive.misses {
            assert!(
                judged.iter().any(|one| one.why == miss.why),
                "{}: {miss:?} explains nothing",
                drive.name
            );
        }
    }
}

/// What is kept of predictions is what is asked for, and each has its intervals.
#[test]
fn every_prediction_that_is_asked_for_is_kept() {
    let path = generator::root().join("experiments/predictions.json");
    let kept = std::fs::read_to_string(path).expect("predictions");
    let predictions = Predictions::from_json(&kept).expect("predictions");
    let asked = asked::runs().expect("presets");
    for run in &asked {
        let of = format!("{}: {}", run.drive, run.load);
        let prediction = predictions.of(run.drive, run.load).unwrap_or_else(|| panic!("{of}"));
        assert!(prediction.writes.1.is_some(), "{of}: rate");
        assert!(
            prediction.read.is_none_or(|read| read.iter().all(|figure| figure.1.is_some())),
            "{of}: reads"
        );
        assert!(prediction.write_amplification.is_some(), "{of}: write amplification");
    }
    assert_eq!(kept.lines().count(), asked.len() + 2, "a line a run, in brackets");
}
