//! Aged states kept in a folder from one process to the next.
//!
//! A file is named after a hash of what made its state and carries it in full, so what is loaded is what would have
//! been aged, or it is not loaded. Everything here may fail: then the array is aged as if there were no cache, and a
//! notice says why.
//!
//! * **Processes at the same time** need no lock. A file appears by renaming a complete one, and one that another
//!   process removes stays readable to whoever has it open. Two that age the same array write the same bytes.
//! * **Bounded.** The least recently used go first; a state larger than the bound is not stored, nor one that would
//!   leave the disk less than [`SPARE_BYTES`].
//! * **Not synced.** After a power cut a file may be damaged; its hash tells, and it is written anew.
//!
//! Leaves out: states so small that ageing them is as fast as reading them.

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use harmonia_array::{AGEING_VERSION, AgedState, ArrayConfig};
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::xxh3_128;

/// What the cache leaves free on its disk. Unit: bytes.
const SPARE_BYTES: u64 = 2 << 30;
/// Smaller tables than these are not worth a file: they age in some tens of milliseconds. Unit: bytes.
const SMALLEST: u64 = 1 << 20;
/// A file under way that nobody has touched for so long was left by a process that was killed.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

const SUFFIX: &str = ".aged";
const UNDER_WAY: &str = ".under-way-";

/// A folder of aged states. Any number of processes may use it at once.
#[derive(Debug)]
pub struct AgedCache {
    folder: PathBuf,
    most_bytes: u64,
    smallest: u64,
    notices: Mutex<Vec<String>>,
}

/// What lies in the folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUsage {
    /// Aged states.
    pub files: usize,
    /// Their size.
    pub bytes: u64,
}

impl AgedCache {
    /// What a cache holds at most unless somebody says otherwise. Unit: bytes.
    pub const MOST_BYTES: u64 = 8 << 30;

    /// The cache in `folder`, which is made when something is stored and holds at most so many bytes.
    pub fn new(folder: PathBuf, most_bytes: u64) -> Self {
        AgedCache { folder, most_bytes, smallest: SMALLEST, notices: Mutex::default() }
    }

    /// The same cache, but storing states from a size of `bytes` on.
    pub fn storing_from(self, bytes: u64) -> Self {
        AgedCache { smallest: bytes, ..self }
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What there was to say since this was last asked, a line each.
    pub fn notices(&self) -> Vec<String> {
        std::mem::take(&mut self.notices.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// What lies there now.
    ///
    /// # Errors
    /// If the folder is there and cannot be read.
    pub fn usage(&self) -> io::Result<CacheUsage> {
        let states = self.states()?;
        Ok(CacheUsage { files: states.len(), bytes: states.iter().map(|state| state.bytes).sum() })
    }

    /// Removes all aged states; says what it removed.
    ///
    /// # Errors
    /// If the folder cannot be read, or a state in it cannot be removed.
    pub fn clear(&self) -> io::Result<CacheUsage> {
        let mut removed = CacheUsage::default();
        for state in self.states()? {
            removed.files += 1;
            removed.bytes += state.bytes;
            remove(&state.path)?;
        }
        self.remove_abandoned();
        Ok(removed)
    }

    /// The state that ageing by `key` would give, if it is there.
    pub(crate) fn load(&self, key: &str, config: &ArrayConfig) -> Option<AgedState> {
        let key = versioned(key);
        let path = self.path(&key);
        // Opening anything but a file might wait for ever.
        let length = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        let file = File::open(&path).ok()?;
        // Large reads go past the buffer, straight into the tables.
        let mut source = BufReader::with_capacity(64 << 10, &file);
        match AgedState::read(&key, config, length, &mut source) {
            Ok(state) => {
                touch(&file);
                self.note(format!("aged state read from {}", path.display()));
                Some(state)
            }
            Err(why) => {
                self.note(format!("aged state in {} is of no use, ageing anew: {why}", path.display()));
                None
            }
        }
    }

    /// Keeps the state that ageing by `key` gave.
    pub(crate) fn store(&self, key: &str, state: &AgedState, cancel: &AtomicBool) {
        let bytes = state.table_bytes();
        if bytes < self.smallest {
            return;
        }
        match self.try_store(&versioned(key), state, bytes, cancel) {
            Ok(path) => self.note(format!("aged state stored in {}", path.display())),
            Err(why) => self.note(format!("aged state not stored in {}: {why}", self.folder.display())),
        }
    }

    fn try_store(
        &self,
        key: &str,
        state: &AgedState,
        bytes: u64,
        cancel: &AtomicBool,
    ) -> io::Result<PathBuf> {
        if bytes > self.most_bytes {
            return Err(io::Error::other(format!("{bytes} bytes, larger than the cache may be")));
        }
        fs::create_dir_all(&self.folder)?;
        self.remove_abandoned();
        self.make_room(bytes)?;
        if free_bytes(&self.folder).is_some_and(|free| free < bytes + SPARE_BYTES) {
            return Err(io::Error::other(format!("less than {SPARE_BYTES} bytes would be left on the disk")));
        }
        let path = self.path(key);
        let mut file = tempfile::Builder::new().prefix(UNDER_WAY).tempfile_in(&self.folder)?;
        state.write(key, &mut Cancellable { file: &mut file, cancel })?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(path)
    }

    /// Removes the least recently used states until another `bytes` fit.
    fn make_room(&self, bytes: u64) -> io::Result<()> {
        let mut states = self.states()?;
        states.sort_unstable_by(|one, other| (one.used, &one.path).cmp(&(other.used, &other.path)));
        let mut sum: u64 = states.iter().map(|state| state.bytes).sum();
        for state in states {
            if sum + bytes <= self.most_bytes {
                break;
            }
            remove(&state.path)?;
            sum -= state.bytes;
        }
        Ok(())
    }

    fn remove_abandoned(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let age = entry.metadata().and_then(|metadata| metadata.modified()).map(|time| time.elapsed());
            let is_old = matches!(age, Ok(Ok(age)) if age > ABANDONED);
            if is_old && entry.file_name().to_string_lossy().starts_with(UNDER_WAY) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn states(&self) -> io::Result<Vec<Stored>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut states = Vec::new();
        for entry in entries {
            let path = entry?.path();
            // Another process may remove it meanwhile.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let is_state = is_state_name(&path) && metadata.is_file();
            if let Some(used) = metadata.modified().ok().filter(|_| is_state) {
                states.push(Stored { path, bytes: metadata.len(), used });
            }
        }
        Ok(states)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{:032x}{SUFFIX}", xxh3_128(key.as_bytes())))
    }

    fn note(&self, text: String) {
        self.notices.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(text);
    }
}

/// A file of the cache. When it was last used is its time of modification: many systems keep no time of reading.
struct Stored {
    path: PathBuf,
    bytes: u64,
    #[expect(clippy::disallowed_types, reason = "decides which file goes first, never what a result is")]
    used: std::time::SystemTime,
}

#[expect(clippy::disallowed_types, reason = "decides which file goes first, never what a result is")]
fn touch(file: &File) {
    let _ = file.set_modified(std::time::SystemTime::now());
}

/// Whether a file is called what [`AgedCache::path`] calls one: anything else is somebody else's.
fn is_state_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_hash =
        |hash: &str| hash.len() == 32 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    name.strip_suffix(SUFFIX).is_some_and(is_hash)
}

/// The key of a state that this version of ageing made.
fn versioned(key: &str) -> String {
    format!("ageing {AGEING_VERSION} of harmonia {}: {key}", env!("CARGO_PKG_VERSION"))
}

/// Removes a file that another process may have removed.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Bytes an unprivileged user may still write to the disk of `folder`; `None` where the system does not say.
fn free_bytes(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let disk = rustix::fs::statvfs(folder).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// Writes until somebody wants to stop.
struct Cancellable<'a> {
    file: &'a mut NamedTempFile,
    cancel: &'a AtomicBool,
}

impl Write for Cancellable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
