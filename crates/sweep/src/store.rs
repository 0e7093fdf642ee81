//! Results in a folder, one file a run, named after what the run depends on.
//!
//! ```text
//!   results/0c3f..e1.json    format, address, version, seed, label, policy, swept, scenario, report or refusal
//!   results/results.parquet  one row a run, written from the files
//! ```
//!
//! A file appears by renaming a complete one, so it is whole or not there, whoever is killed. Any number of processes and
//! machines may write into one folder: two that run the same point write the same result under the same name. So
//! stores are merged by copying their files into one folder. A file that is damaged or bears the name of another result
//! is as good as none. What bears such a name and is no regular file is never opened, and nothing takes its place.
//!
//! Leaves out: syncing each file to the disk. After a power cut a point may have to be run again.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use harmonia_metrics::Report;
use harmonia_run::{Outcome, VERSION};
use harmonia_scenario::{BadInput, files, printable};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::address;
use crate::plan::Point;

/// The `format` of every file of a store.
pub const FORMAT: &str = "harmonia-point/1";
/// The table of a store in its folder.
pub const TABLE: &str = "results.parquet";

const SUFFIX: &str = ".json";
const DIGITS: usize = 32;

/// A result.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Its name.
    pub address: String,
    /// Version of Harmonia that ran it.
    pub version: String,
    /// Seed of the run.
    pub seed: u64,
    /// What the sweep that ran it called it.
    pub label: String,
    /// Its policy as that sweep called it.
    pub policy: Option<String>,
    /// What that sweep varied, with its values.
    pub swept: BTreeMap<String, String>,
    /// The resolved scenario; of a trace it has a hash of the contents instead of the path.
    pub scenario: String,
    /// What it showed, or why it was refused.
    pub outcome: Outcome<Report>,
}

/// A result as a file has it.
#[derive(Serialize, Deserialize)]
struct Kept<R> {
    format: String,
    address: String,
    version: String,
    seed: u64,
    label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
    swept: BTreeMap<String, String>,
    scenario: String,
    // One of both; a flattened enum could not hold sums of 128 bits.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    measured: Option<R>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// Only what identifies a result; the report is read over.
#[derive(Deserialize)]
struct Head {
    format: String,
    address: String,
    version: String,
    scenario: String,
    #[serde(default)]
    measured: Option<IgnoredAny>,
    #[serde(default)]
    refused: Option<IgnoredAny>,
}

/// A folder of results.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The folder, which is made if it is missing, and tried out: long runs should not end in a complaint.
    ///
    /// # Errors
    /// If it cannot be made or written to.
    pub fn create(folder: &Path) -> Result<Store, BadInput> {
        let tried = fs::create_dir_all(folder).and_then(|()| temporary(folder));
        tried.map_err(|error| unusable(folder, &error))?;
        Ok(Store { folder: folder.to_owned() })
    }

    /// A folder that is there.
    ///
    /// # Errors
    /// If it is not.
    pub fn open(folder: &Path) -> Result<Store, BadInput> {
        if folder.is_dir() {
            return Ok(Store { folder: folder.to_owned() });
        }
        let problem = format!("`{}` is not a folder of results", shown(folder));
        Err(BadInput::plain(problem, "allowed: a folder that `harmonia sweep FILE --out` has written"))
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the result of a point is there.
    pub fn has(&self, point: &Point) -> bool {
        let Ok(text) = files::read_regular(&self.path(&point.address)) else { return false };
        let Ok(head) = serde_json::from_str::<Head>(&text) else { return false };
        is_itself(&head.format, &head.address, &head.version, &head.scenario)
            && head.address == point.address
            && (head.measured.is_some() || head.refused.is_some())
    }

    /// Keeps the result of a point.
    ///
    /// # Errors
    /// If it cannot be written; the message names the folder.
    pub fn save(&self, point: &Point, outcome: &Outcome<Report>) -> Result<(), BadInput> {
        let (measured, refused) = match outcome {
            Outcome::Measured(report) => (Some(report), None),
            Outcome::Refused(why) => (None, Some(why.clone())),
        };
        let kept = Kept {
            format: FORMAT.to_owned(),
            address: point.address.clone(),
            version: VERSION.to_owned(),
            seed: point.scenario.seed,
            label: point.label.clone(),
            policy: point.policy.clone(),
            swept: point.swept.clone(),
            scenario: point.identity.clone(),
            measured,
            refused,
        };
        let write = || -> io::Result<()> {
            let mut file = temporary(&self.folder)?;
            file.write_all(serde_json::to_string(&kept)?.as_bytes())?;
            let path = self.path(&point.address);
            files::refuse_irregular(&path)?;
            file.persist(path)?;
            Ok(())
        };
        write().map_err(|error| unusable(&self.folder, &error))
    }

    /// The result with this address, if it is there and whole.
    pub fn load(&self, address: &str) -> Option<Stored> {
        let text = files::read_regular(&self.path(address)).ok()?;
        read(&text).filter(|kept| kept.address == address)
    }

    /// The addresses of all files, in order.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn addresses(&self) -> Result<Vec<String>, BadInput> {
        let entries = fs::read_dir(&self.folder).map_err(|error| unusable(&self.folder, &error))?;
        let name = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
        let address =
            |name: String| name.strip_suffix(SUFFIX).filter(|name| is_address(name)).map(str::to_owned);
        let mut addresses: Vec<String> = entries.filter_map(name).filter_map(address).collect();
        addresses.sort_unstable();
        Ok(addresses)
    }

    /// All results that are whole, in the order of what was varied, and how many files are damaged.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn all(&self) -> Result<(Vec<Stored>, usize), BadInput> {
        self.all_while(|| true)
    }

    /// As [`Store::all`], as long as it may go on: reading thousands of results takes a while. What comes later is left out.
    ///
    /// # Errors
    /// As [`Store::all`].
    pub fn all_while(&self, goes_on: impl Fn() -> bool) -> Result<(Vec<Stored>, usize), BadInput> {
        let (mut all, mut damaged) = (Vec::new(), 0);
        for address in self.addresses()?.iter().take_while(|_| goes_on()) {
            match self.load(address) {
                Some(result) => all.push(result),
                None => damaged += 1,
            }
        }
        all.sort_by_cached_key(order);
        Ok((all, damaged))
    }

    /// The result whose address begins like this.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn find(&self, start: &str) -> Result<Stored, BadInput> {
        let start = start.strip_suffix(SUFFIX).unwrap_or(start);
        let matching: Vec<String> =
            self.addresses()?.into_iter().filter(|address| address.starts_with(start)).collect();
        let shown_start = printable(start, 60);
        let refuse = |problem: String| {
            let allowed = format!(
                "allowed: an address, or its first digits; see `harmonia results ls {}`",
                shown(&self.folder)
            );
            BadInput::plain(problem, &allowed)
        };
        match &matching[..] {
            [address] => self
                .load(address)
                .ok_or_else(|| refuse(format!("the result {address} is damaged: the sweep runs it again"))),
            [] => Err(refuse(format!("`{shown_start}`: there is no such result"))),
            several => Err(refuse(format!("`{shown_start}`: {} results begin like this", several.len()))),
        }
    }

    fn path(&self, address: &str) -> PathBuf {
        self.folder.join(format!("{address}{SUFFIX}"))
    }
}

/// A result from the text of its file; `None` if it is none or damaged.
pub fn read(text: &str) -> Option<Stored> {
    let kept: Kept<Report> = serde_json::from_str(text).ok()?;
    if !is_itself(&kept.format, &kept.address, &kept.version, &kept.scenario) {
        return None;
    }
    let outcome = match (kept.measured, kept.refused) {
        (Some(report), _) => Outcome::Measured(report),
        (None, why) => Outcome::Refused(why?),
    };
    let Kept { address, version, seed, label, policy, swept, scenario, .. } = kept;
    Some(Stored { address, version, seed, label, policy, swept, scenario, outcome })
}

/// Whether a result bears the name that its contents give it. Results of other versions may stand beside those of this one.
fn is_itself(format: &str, address: &str, version: &str, scenario: &str) -> bool {
    format == FORMAT && address::of_version(version, scenario) == address
}

fn is_address(name: &str) -> bool {
    name.len() == DIGITS && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Numbers by their size, words by their letters.
type Natural = (u64, String);

fn natural(text: &str) -> Natural {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().unwrap_or(f64::MAX);
    // The bits of numbers that are not negative are in their order.
    (number.to_bits(), text.to_owned())
}

fn order(kept: &Stored) -> (Vec<(String, Natural)>, Option<String>, u64) {
    let swept = kept.swept.iter().map(|(key, value)| (key.clone(), natural(value)));
    (swept.collect(), kept.policy.clone(), kept.seed)
}

/// An empty file under a temporary name, gone when it is dropped; readable by all once it is renamed, less the umask.
pub(crate) fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".harmonia-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)
    }
    #[cfg(not(unix))]
    builder.tempfile_in(folder)
}

fn shown(folder: &Path) -> String {
    printable(&folder.display().to_string(), 300)
}

fn unusable(folder: &Path, error: &io::Error) -> BadInput {
    let problem = format!("cannot keep results in {}: {error}", shown(folder));
    BadInput::plain(problem, "allowed: a folder that can be written to")
}
