//! Files that are no files: a FIFO, a socket, a device or a link where a file is expected.
//!
//! Opening a FIFO waits for its writer, perhaps for ever; a file that is renamed to the name of a device takes its place. So whatever
//! is read from a folder of ours, and whatever is written to a name that somebody gave, is looked at first.
//!
//! Leaves out: what another process puts there in between.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// What stands there instead of a regular file.
fn kind(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_symlink() {
        return "a symbolic link";
    }
    if kind.is_dir() {
        return "a folder";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a FIFO";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    "a device"
}

fn refused(metadata: &Metadata) -> io::Error {
    io::Error::other(format!("is {}, not a regular file", kind(metadata)))
}

/// Opens a regular file, or a link to one, and nothing else.
///
/// # Errors
/// If it is not there, cannot be opened, or is something else.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let metadata = fs::metadata(path)?;
    if metadata.is_file() { File::open(path) } else { Err(refused(&metadata)) }
}

/// The text of a regular file.
///
/// # Errors
/// As [`open_regular`]; if it cannot be read or is not UTF-8.
pub fn read_regular(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Opens what a user named to be read: a regular file, or what a shell's `<(...)` and `-` stand for below `/dev` and `/proc`.
///
/// # Errors
/// As [`open_regular`].
pub fn open_named(path: &Path) -> io::Result<File> {
    let is_from_shell = path.starts_with("/dev") || path.starts_with("/proc");
    if is_from_shell && !fs::metadata(path)?.is_dir() { File::open(path) } else { open_regular(path) }
}

/// Refuses a name to write at where something stands that is no regular file. A link is refused too: what is renamed to its name
/// would take its place, and the file that it leads to would stay as it was.
///
/// # Errors
/// If something like that stands there, saying what.
pub fn refuse_irregular(target: &Path) -> io::Result<()> {
    match fs::symlink_metadata(target) {
        Ok(metadata) if !metadata.is_file() => Err(refused(&metadata)),
        _ => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A folder with one of each kind.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("temporary folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "text").expect("written");
        fs::create_dir(at("folder")).expect("made");
        std::os::unix::fs::symlink("file", at("link")).expect("linked");
        std::os::unix::fs::symlink("/dev/null", at("device")).expect("linked");
        std::os::unix::fs::symlink("nowhere", at("dangling")).expect("linked");
        drop(std::os::unix::net::UnixListener::bind(at("socket")).expect("bound"));
        let fifo = std::process::Command::new("mkfifo").arg(at("fifo")).status();
        assert!(fifo.expect("coreutils").success());
        folder
    }

    /// A FIFO would be waited for, for ever.
    #[test]
    fn only_files_and_links_to_files_are_read() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        for name in ["file", "link"] {
            assert_eq!(read_regular(&at(name)).expect("a file"), "text");
        }
        for (name, what) in
            [("folder", "a folder"), ("device", "a device"), ("socket", "a socket"), ("fifo", "a FIFO")]
        {
            let said = read_regular(&at(name)).expect_err(name).to_string();
            assert_eq!(said, format!("is {what}, not a regular file"));
            assert!(open_named(&at(name)).is_err(), "{name}");
        }
        assert!(read_regular(&at("dangling")).is_err() && read_regular(&at("none")).is_err());
        assert!(open_named(Path::new("/dev/null")).is_ok() && open_named(Path::new("/dev")).is_err());
    }

    #[test]
    fn nothing_but_a_file_is_replaced() {
        let folder = folder();
        for name in ["file", "none"] {
            refuse_irregular(&folder.path().join(name)).expect(name);
        }
        for name in ["folder", "link", "device", "dangling", "socket", "fifo"] {
            assert!(refuse_irregular(&folder.path().join(name)).is_err(), "{name}");
        }
        assert!(refuse_irregular(Path::new("/dev/null")).is_err());
    }
}
