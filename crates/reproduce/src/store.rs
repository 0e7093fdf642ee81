//! A folder of finished runs, so that a campaign that was stopped goes on where it was.
//!
//! A run is found again if the same version of Harmonia ran the same resolved scenario, whatever the experiment
//! called it: two experiments that need the same run share it. Each file is whole or not there. Leaves out: changes
//! of the code between versions; who makes them starts with an empty folder.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use harmonia_scenario::Scenario;
use serde::{Deserialize, Serialize};

use crate::summary::Outcome;

/// The version that runs.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Finished runs in a folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    version: String,
    /// Resolved; a name in a folder is only a hash.
    scenario: String,
    #[serde(flatten)]
    outcome: Outcome,
}

impl Store {
    /// Opens the folder, which is made if it is missing.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(folder: &Path) -> io::Result<Store> {
        fs::create_dir_all(folder)?;
        Ok(Store { folder: folder.to_owned() })
    }

    /// The run of this scenario, if it is there. A file that is damaged or of another scenario is as good as none.
    pub fn load(&self, scenario: &Scenario) -> Option<Outcome> {
        let scenario = scenario.to_toml();
        let text = fs::read_to_string(self.path(&scenario)).ok()?;
        let kept: Kept = serde_json::from_str(&text).ok()?;
        (kept.version == VERSION && kept.scenario == scenario).then_some(kept.outcome)
    }

    /// Keeps a run.
    ///
    /// # Errors
    /// If it cannot be written; the message names the file.
    pub fn save(&self, scenario: &Scenario, outcome: &Outcome) -> io::Result<()> {
        let scenario = scenario.to_toml();
        let path = self.path(&scenario);
        let kept = Kept { version: VERSION.to_owned(), scenario, outcome: outcome.clone() };
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(serde_json::to_string(&kept)?.as_bytes())?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(named)
    }

    fn path(&self, scenario: &str) -> PathBuf {
        self.folder.join(format!("{:016x}.json", fnv(&format!("{VERSION}\n{scenario}"))))
    }
}

/// Fowler, Noll and Vo's hash, 64 bits, variant 1a: the same on every machine and with every compiler.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny(seed: u64) -> Scenario {
        Scenario::load("tiny", &[format!("seed={seed}")], None).expect("a built-in scenario")
    }

    #[test]
    fn a_run_is_found_again_and_only_for_its_own_scenario() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("runs")).expect("made");
        let outcome = Outcome::Refused("why".into());
        store.save(&tiny(1), &outcome).expect("kept");
        assert_eq!(store.load(&tiny(1)), Some(outcome));
        assert_eq!(store.load(&tiny(2)), None);
    }

    #[test]
    fn a_damaged_file_is_as_good_as_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("opened");
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
