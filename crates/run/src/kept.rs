//! Finished runs in a folder, so that whoever needs many of them and was stopped goes on where it was.
//!
//! A run is found again if the same version of Harmonia ran the same resolved scenario, whatever the run was called: two
//! experiments that need the same run share it. What is kept of a run is up to whoever keeps it. Each file is whole or
//! not there. Leaves out: changes of the code between versions, or of a trace that a scenario names; who makes them
//! starts with an empty folder.

use std::fs;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use harmonia_metrics::Report;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{RunError, RunOptions, compare};
use harmonia_scenario::files;
use harmonia_scenario::{BadInput, Scenario, Variant, printable};

/// What a run showed, or why it could not be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome<T> {
    /// It ran.
    Measured(T),
    /// It was refused, such as for a load that the array cannot keep up with; the message.
    Refused(String),
}

/// What these runs show, in their order. Where one is refused, all are run one by one to find who is to blame: a refused
/// run is a result too.
///
/// # Errors
/// If they are cancelled, or a defect shows.
pub fn outcomes<T>(
    variants: &[Variant],
    options: &RunOptions<'_>,
    keep: &dyn Fn(&Report) -> T,
) -> Result<Vec<Outcome<T>>, RunError> {
    match compare(variants, options) {
        Ok(comparison) => Ok(comparison.runs.iter().map(|run| Outcome::Measured(keep(run))).collect()),
        Err(RunError::BadInput(why)) if variants.len() == 1 => {
            Ok(vec![Outcome::Refused(why.problem().to_owned())])
        }
        Err(RunError::BadInput(_)) => {
            let alone = variants.iter().map(|variant| outcomes(std::slice::from_ref(variant), options, keep));
            let all: Result<Vec<_>, _> = alone.collect();
            all.map(|outcomes| outcomes.into_iter().flatten().collect())
        }
        Err(error) => Err(error),
    }
}

/// The version that runs.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Finished runs in a folder, `T` being what is kept of one.
#[derive(Debug)]
pub struct Store<T> {
    folder: PathBuf,
    of: PhantomData<fn() -> T>,
}

#[derive(Serialize, Deserialize)]
struct Kept<O> {
    version: String,
    /// Resolved; a name in a folder is only a hash.
    scenario: String,
    #[serde(flatten)]
    outcome: O,
}

impl<T: Serialize + DeserializeOwned> Store<T> {
    /// Opens the folder, which is made if it is missing.
    ///
    /// # Errors
    /// If it cannot be made; the message names it.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))?;
        Ok(Store { folder: folder.to_owned(), of: PhantomData })
    }

    /// The run of this scenario, if it is there. A file that is damaged or of another scenario is as good as none.
    pub fn load(&self, scenario: &Scenario) -> Option<Outcome<T>> {
        let scenario = scenario.to_toml();
        let text = files::read_regular(&self.path(&scenario)).ok()?;
        let kept: Kept<Outcome<T>> = serde_json::from_str(&text).ok()?;
        (kept.version == VERSION && kept.scenario == scenario).then_some(kept.outcome)
    }

    /// Keeps a run.
    ///
    /// # Errors
    /// If it cannot be written; the message names the folder.
    pub fn save(&self, scenario: &Scenario, outcome: &Outcome<T>) -> Result<(), RunError> {
        let scenario = scenario.to_toml();
        let path = self.path(&scenario);
        let kept = Kept { version: VERSION.to_owned(), scenario, outcome };
        let write = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(serde_json::to_string(&kept)?.as_bytes())?;
            files::refuse_irregular(&path)?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(|error| unusable(&self.folder, &error))
    }

    fn path(&self, scenario: &str) -> PathBuf {
        self.folder.join(format!("{:016x}.json", fnv(&format!("{VERSION}\n{scenario}"))))
    }
}

fn unusable(folder: &Path, error: &io::Error) -> RunError {
    let problem = format!("cannot keep runs in {}: {error}", printable(&folder.display().to_string(), 300));
    RunError::BadInput(BadInput::plain(problem, "allowed: a folder that can be written to"))
}

/// Fowler, Noll and Vo's hash, 64 bits, variant 1a: the same on every machine and with every compiler.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn tiny(seed: u64) -> Scenario {
        Scenario::load("tiny", &[format!("seed={seed}")], None).expect("a built-in scenario")
    }

    #[test]
    fn a_run_is_found_again_and_only_for_its_own_scenario() {
        let folder = tempfile::tempdir().expect("a folder");
        let store: Store<BTreeMap<String, u64>> = Store::open(&folder.path().join("runs")).expect("made");
        let outcome = Outcome::Measured(BTreeMap::from([("mean".to_owned(), 5)]));
        store.save(&tiny(1), &outcome).expect("kept");
        assert_eq!(store.load(&tiny(1)), Some(outcome));
        assert_eq!(store.load(&tiny(2)), None);
    }

    #[test]
    fn a_damaged_file_is_as_good_as_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let store: Store<u64> = Store::open(folder.path()).expect("opened");
        store.save(&tiny(1), &Outcome::Refused("why".into())).expect("kept");
        let file =
            fs::read_dir(folder.path()).expect("readable").next().expect("a file").expect("entry").path();
        fs::write(&file, "{\"version\"").expect("written");
        assert_eq!(store.load(&tiny(1)), None);
    }

    /// The published test vectors of FNV-1a.
    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!((fnv(""), fnv("a")), (0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c));
    }
}
