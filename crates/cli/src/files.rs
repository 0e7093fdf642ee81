//! Result files: each whole or not at all.
//!
//! A file is written under a temporary name in the folder it belongs to, synced, and renamed; whoever looks sees the
//! old file or the complete one, and an interrupted command leaves no half of anything.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use harmonia_scenario::files::refuse_irregular;
use harmonia_types::text::one_line;
use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::interrupt;

/// A folder that results go to.
#[derive(Debug)]
pub(crate) struct ResultFolder {
    path: PathBuf,
}

impl ResultFolder {
    /// The folder at `path`, made if it is missing. Tried out at once: a long simulation should not end in a
    /// complaint that could have been made before it began.
    ///
    /// # Errors
    /// If it cannot be made or written to, naming it and the reason.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        if path.exists() && !path.is_dir() {
            return Err(Failure::BadInput(format!("--out {}: is a file, not a folder", shown(path))));
        }
        // Whoever dies of a signal leaves its temporary files.
        interrupt::watch()?;
        let tried = fs::create_dir_all(path).and_then(|()| NamedTempFile::new_in(path));
        tried.map_err(|error| {
            Failure::BadInput(format!("--out {}: cannot write there: {}", shown(path), plain(&error)))
        })?;
        Ok(ResultFolder { path: path.to_owned() })
    }

    /// Writes files of the folder, all or none: nothing is renamed until every one of them is on the disk.
    ///
    /// # Errors
    /// Names the file and the reason; files that were there before are then as they were, unless a rename fails
    /// half-way, which takes a folder of that name or a broken disk.
    pub(crate) fn write_all(&self, files: &[(&str, &str)]) -> Result<(), Failure> {
        self.write_all_with(files, Vec::new())
    }

    /// As [`ResultFolder::write_all`], along with files written under temporary names already.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn write_all_with<'n>(
        &self,
        files: &[(&'n str, &str)],
        mut written: Vec<(&'n str, NamedTempFile)>,
    ) -> Result<(), Failure> {
        for (name, text) in files {
            let file = self.write_temporary(text).map_err(|error| self.cannot_write(name, &error))?;
            written.push((name, file));
        }
        // All are looked at before the first is renamed.
        for (name, _) in &written {
            refuse_irregular(&self.path.join(name)).map_err(|error| self.cannot_write(name, &error))?;
        }
        for (name, file) in written {
            file.persist(self.path.join(name)).map_err(|error| self.cannot_write(name, &error.error))?;
        }
        // The renames are durable once the folder is. Some file systems refuse to sync a folder: the files are whole
        // all the same.
        let _ = fs::File::open(&self.path).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// An empty file under a temporary name, gone when it is dropped.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn temporary(&self) -> io::Result<NamedTempFile> {
        temporary_in(&self.path)
    }

    /// What to say when a file of the folder cannot be written.
    pub(crate) fn cannot_write(&self, name: &str, error: &io::Error) -> Failure {
        let target = self.path.join(name);
        Failure::BadInput(format!("cannot write {}: {}", shown(&target), plain(error)))
    }

    fn write_temporary(&self, text: &str) -> io::Result<NamedTempFile> {
        let mut file = self.temporary()?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        Ok(file)
    }
}

/// The name of a file or folder, as part of what is said of it.
pub(crate) fn shown(path: &Path) -> String {
    one_line(&path.display().to_string()).into_owned()
}

/// Refuses the name of a folder for a file that `option` named.
///
/// # Errors
/// If it is one, or is written as one is.
pub(crate) fn refuse_folder(option: &str, target: &Path) -> Result<(), Failure> {
    if target.is_dir() || target.as_os_str().as_encoded_bytes().ends_with(b"/") {
        let problem = "is a folder: name a file in it";
        return Err(Failure::BadInput(format!("{option} {}: {problem}", shown(target))));
    }
    Ok(())
}

/// Whether two names stand for the same file, by whatever path or link.
pub(crate) fn same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    identity(one).is_some_and(|file| identity(other) == Some(file))
}

/// One file that a command was asked to write.
#[derive(Debug)]
pub(crate) struct ResultFile {
    target: PathBuf,
    file: NamedTempFile,
    force: bool,
}

impl ResultFile {
    /// Prepares to write `target`, which `option` named; with `force` also where a file stands. Nothing is seen there until
    /// [`ResultFile::persist`].
    ///
    /// # Errors
    /// If something stands there, or what stands there is no regular file, or nothing can be written in its folder.
    pub(crate) fn create(option: &str, target: &Path, force: bool) -> Result<Self, Failure> {
        let refuse = |problem: &str| Failure::BadInput(format!("{option} {}: {problem}", shown(target)));
        refuse_folder(option, target)?;
        refuse_irregular(target).map_err(|error| refuse(&error.to_string()))?;
        if target.exists() && !force {
            return Err(refuse("exists; --force replaces it"));
        }
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        interrupt::watch()?;
        let file = temporary_in(folder)
            .map_err(|error| refuse(&format!("cannot write there: {}", plain(&error))))?;
        Ok(ResultFile { target: target.to_owned(), file, force })
    }

    /// A handle that writes to it.
    ///
    /// # Errors
    /// If the system has no more.
    pub(crate) fn handle(&self) -> Result<fs::File, Failure> {
        self.file.as_file().try_clone().map_err(|error| self.cannot_write(&error))
    }

    /// Writes it whole.
    ///
    /// # Errors
    /// If the disk does not take it.
    pub(crate) fn write(mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self.file.write_all(bytes) {
            Ok(()) => self.persist(),
            Err(error) => Err(self.cannot_write(&error)),
        }
    }

    /// Lets it be seen under its name.
    ///
    /// # Errors
    /// If the disk did not take it, or another file has come to stand there meanwhile.
    pub(crate) fn persist(self) -> Result<(), Failure> {
        let fail = |error: &io::Error| {
            Failure::BadInput(format!("cannot write {}: {}", shown(&self.target), plain(error)))
        };
        self.file.as_file().sync_all().map_err(|error| fail(&error))?;
        refuse_irregular(&self.target).map_err(|error| fail(&error))?;
        let persisted = if self.force {
            self.file.persist(&self.target)
        } else {
            self.file.persist_noclobber(&self.target)
        };
        persisted.map(drop).map_err(|error| fail(&error.error))
    }

    /// What to say when it cannot be written.
    pub(crate) fn cannot_write(&self, error: &io::Error) -> Failure {
        Failure::BadInput(format!("cannot write {}: {}", shown(&self.target), plain(error)))
    }
}

/// An empty file under a temporary name in `folder`, gone when it is dropped.
fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".harmonia-").permissions(readable_by_all()).tempfile_in(folder)
}

/// Temporary files are private by default; a result is an ordinary file, less the user's umask.
fn readable_by_all() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}

/// The reason without the "(os error 28)" and without the temporary file's name.
fn plain(error: &io::Error) -> String {
    let text = match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code).to_string(),
        None => match error.get_ref().and_then(|inner| inner.source()) {
            Some(source) => source.to_string(),
            None => error.to_string(),
        },
    };
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(path: &Path) -> Vec<String> {
        let entries = fs::read_dir(path).expect("readable");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_missing_folder_is_made_and_holds_only_the_results() {
        let root = tempfile::tempdir().expect("temporary folder");
        let path = root.path().join("a/b");
        let folder = ResultFolder::open(&path).expect("made");
        folder.write_all(&[("report.json", "{}\n")]).expect("written");
        folder.write_all(&[("report.json", "{\"again\": 1}\n")]).expect("replaced");
        assert_eq!(listing(&path), ["report.json"]);
        assert_eq!(fs::read_to_string(path.join("report.json")).expect("there"), "{\"again\": 1}\n");
    }

    #[test]
    fn whoever_reads_the_old_file_goes_on_reading_it_whole() {
        let root = tempfile::tempdir().expect("temporary folder");
        let folder = ResultFolder::open(root.path()).expect("opened");
        folder.write_all(&[("report.json", "the old report")]).expect("written");
        let old = fs::File::open(root.path().join("report.json")).expect("there");
        folder.write_all(&[("report.json", "new")]).expect("replaced");
        assert_eq!(io::read_to_string(old).expect("readable"), "the old report");
    }

    #[test]
    fn one_file_replaces_another_only_by_force_and_whole() {
        let root = tempfile::tempdir().expect("temporary folder");
        let path = root.path().join("fit.toml");
        ResultFile::create("--out", &path, false).expect("free").write(b"one").expect("written");
        let refused = ResultFile::create("--out", &path, false).expect_err("taken").message().expect("said");
        assert_eq!(refused, format!("--out {}: exists; --force replaces it", path.display()));
        drop(ResultFile::create("--out", &path, true).expect("forced"));
        assert_eq!(fs::read_to_string(&path).expect("there"), "one", "nothing was written");
        ResultFile::create("--out", &path, true).expect("forced").write(b"two").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("there"), "two");
        assert_eq!(listing(root.path()), ["fit.toml"]);
        let folder =
            ResultFile::create("--out", root.path(), true).expect_err("a folder").message().expect("said");
        assert_eq!(folder, format!("--out {}: is a folder: name a file in it", root.path().display()));
        for bad in [root.path().join("missing/"), root.path().join("missing/fit.toml")] {
            assert!(ResultFile::create("--out", &bad, true).is_err(), "{}", bad.display());
        }
    }

    #[test]
    fn a_file_that_came_meanwhile_is_not_replaced() {
        let root = tempfile::tempdir().expect("temporary folder");
        let path = root.path().join("fit.toml");
        let file = ResultFile::create("--out", &path, false).expect("free");
        fs::write(&path, "somebody else's").expect("written");
        assert!(file.write(b"mine").is_err());
        assert_eq!(fs::read_to_string(&path).expect("there"), "somebody else's");
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let root = tempfile::tempdir().expect("temporary folder");
        let path = root.path().join("taken");
        fs::write(&path, "mine").expect("written");
        let message = ResultFolder::open(&path).expect_err("refused").message().expect("said");
        assert_eq!(message, format!("--out {}: is a file, not a folder", path.display()));
    }

    #[test]
    fn a_failed_write_leaves_nothing_and_names_the_file() {
        let root = tempfile::tempdir().expect("temporary folder");
        let folder = ResultFolder::open(root.path()).expect("opened");
        fs::create_dir_all(root.path().join("report.json/in-the-way")).expect("made");
        let message =
            folder.write_all(&[("report.json", "{}")]).expect_err("refused").message().expect("said");
        let target = root.path().join("report.json");
        assert_eq!(message, format!("cannot write {}: is a folder, not a regular file", target.display()));
        assert_eq!(listing(root.path()), ["report.json"]);
    }
}
