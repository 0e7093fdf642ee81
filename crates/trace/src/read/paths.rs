//! The files that names and patterns stand for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Place, TraceError};

/// Expands patterns (`*`, `?`, `[...]`) in the order given, each in the order of names, where no file of that very name
/// exists. A name without a file that blktrace was given (`sda`) stands for its files (`sda.blktrace.0`, ...). Empty
/// files that blktrace wrote for idle processors are left out.
pub(crate) fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, TraceError> {
    let mut files = Vec::new();
    for path in paths {
        let fail =
            |problem: String| TraceError { file: path.display().to_string(), place: Place::File, problem };
        let name = path.to_str().filter(|_| !path.exists());
        let Some(name) = name else {
            files.push(path.clone());
            continue;
        };
        let before = files.len();
        if is_pattern(name) {
            let matches =
                glob::glob(name).map_err(|error| fail(format!("is not a pattern of names: {error}")))?;
            for file in matches {
                files.push(file.map_err(|error| fail(format!("cannot be searched: {error}")))?);
            }
            if files.len() == before {
                return Err(fail("matches no file".into()));
            }
        } else if let Some(set) = blktrace_set(path) {
            files.extend(set);
        } else {
            files.push(path.clone());
        }
    }
    // If nothing else is left, one of them is to be complained of.
    if !files.iter().all(|file| is_of_idle_cpu(file)) {
        files.retain(|file| !is_of_idle_cpu(file));
    }
    refuse_twice(&files)?;
    Ok(files)
}

/// A file read twice would be twice the load.
fn refuse_twice(files: &[PathBuf]) -> Result<(), TraceError> {
    let mut seen = BTreeSet::new();
    for file in files {
        // What cannot be found is refused when it is opened.
        if let Ok(real) = file.canonicalize()
            && !seen.insert(real)
        {
            let problem = "is named twice: each file is read once".to_owned();
            return Err(TraceError { file: file.display().to_string(), place: Place::File, problem });
        }
    }
    Ok(())
}

/// Whether it is the empty file that blktrace leaves of a processor without events: `sda.blktrace.7`.
fn is_of_idle_cpu(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let cpu = name.rsplit_once(".blktrace.").map(|(_, cpu)| cpu);
    let is_one = cpu.is_some_and(|cpu| !cpu.is_empty() && cpu.bytes().all(|byte| byte.is_ascii_digit()));
    is_one && file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0)
}

/// The pattern or name of a file in a folder whose own name is no pattern.
pub(crate) fn within(folder: &Path, name: &str) -> PathBuf {
    match folder.to_str() {
        Some(folder) if is_pattern(name) => Path::new(&glob::Pattern::escape(folder)).join(name),
        _ => folder.join(name),
    }
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// The files that `blktrace -o NAME` wrote, one a processor.
fn blktrace_set(path: &Path) -> Option<Vec<PathBuf>> {
    let of = |cpu: u32| PathBuf::from(format!("{}.blktrace.{cpu}", path.display()));
    // Numbers may be missing: a processor that did nothing leaves no file in some versions.
    let set: Vec<PathBuf> = (0..CPUS_MAX).map(of).filter(|file| file.is_file()).collect();
    (!set.is_empty()).then_some(set)
}

const CPUS_MAX: u32 = 1024;

#[cfg(test)]
mod tests {
    use std::fs::write;

    use super::*;

    #[test]
    fn names_patterns_and_blktrace_sets_are_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["b.csv", "a.csv", "a[1].csv", "sda.blktrace.0", "sda.blktrace.11", "sda.blktrace.2"] {
            write(at(name), "x").unwrap();
        }
        let names = |paths: &[PathBuf]| -> Vec<String> {
            let files = expand(paths).unwrap();
            files.iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(&[at("b.csv"), at("a?1?.csv")]), ["b.csv", "a[1].csv"]);
        assert!(
            expand(&[at("b.csv"), at("?.csv")]).unwrap_err().to_string().contains("b.csv: is named twice")
        );
        assert_eq!(names(&[at("a[1].csv")]), ["a[1].csv"], "a file of that very name");
        assert_eq!(names(&[at("sda")]), ["sda.blktrace.0", "sda.blktrace.2", "sda.blktrace.11"]);
        assert_eq!(names(&[at("missing.csv")]), ["missing.csv"], "refused when it is opened");
        write(at("sda.blktrace.3"), "").unwrap();
        assert_eq!(names(&[at("sda.blktrace.[23]"), at("b.csv")]), ["sda.blktrace.2", "b.csv"]);
        assert_eq!(names(&[at("sda.blktrace.3")]), ["sda.blktrace.3"], "refused when it is opened");
        assert!(expand(&[at("*.trace")]).unwrap_err().to_string().contains("matches no file"));
    }
}
