//! Does a preset of a named drive still come near to what was measured on it?
//!
//! The short form of `harmonia reproduce drives`: one drive, a fitted and a judged load, a twentieth of the warm-up.

use harmonia_reproduce::drives::judged::judge;
use harmonia_reproduce::drives::measured::{Load, Quantity, drives};
use harmonia_reproduce::drives::runs::{Shown, Shows, WARMUP, Warmup, scenario};
use harmonia_reproduce::verdict::Verdict;
use harmonia_run::{Outcome, RunOptions, outcomes};
use harmonia_scenario::Variant;

const DRIVE: &str = "samsung-pm9a3-960g";
const LOADS: [Load; 2] = [Load::Offered(10_000), Load::Offered(40_000)];

#[test]
#[ignore = "long: make simulations"]
fn reads_of_a_named_drive_take_as_long_as_measured() {
    let warmup = Warmup { probe: WARMUP.probe / 20.0, ..WARMUP };
    let variants = LOADS.map(|load| Variant {
        label: load.to_string(),
        scenario: scenario(DRIVE, load, warmup).expect("a scenario"),
    });
    let options = RunOptions { threads: 2, ..RunOptions::default() };
    let ran = outcomes(&variants, &options, &|report| Shown::from(report)).expect("it runs");
    let mut shows = Shows::default();
    for (load, outcome) in LOADS.into_iter().zip(ran) {
        let Outcome::Measured(shown) = outcome else { panic!("{load}: {outcome:?}") };
        shows.insert(DRIVE, load, shown);
    }
    let drive = drives().into_iter().find(|drive| drive.name == DRIVE).expect("a drive");
    let judged = judge(&drive, &shows);
    let reads = [Quantity::ReadP50, Quantity::ReadP99, Quantity::ReadP999];
    let ran = judged.iter().filter(|one| LOADS.contains(&one.row.load) && reads.contains(&one.row.quantity));
    let verdicts: Vec<_> =
        ran.map(|one| (one.row.load, one.row.quantity, one.simulated, one.verdict)).collect();
    assert_eq!(verdicts.len(), 6);
    assert!(verdicts.iter().all(|(.., verdict)| *verdict == Verdict::Within), "{verdicts:#?}");
}
