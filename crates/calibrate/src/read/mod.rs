//! Files with measurements. Each is recognised by what it begins with, whatever it is called.
//!
//! | begins with | is |
//! |---|---|
//! | `{` or `[{`, below lines that fio printed before | JSON of fio |
//! | numbers with commas | bandwidth log of fio |
//! | a line with `time` and commas | CSV of bandwidth over time |
//! | something else | TOML with lines of a data sheet and counters |
//!
//! Files are small: more than 64 MiB are refused.

mod fio;
mod over_time;
mod sheet;

use std::io::Read;
use std::path::Path;

use harmonia_scenario::{BadInput, files, printable};

use crate::measured::Measured;

/// A file may have so many bytes.
const MOST_BYTES: u64 = 64 << 20;

/// Reads files.
///
/// # Errors
/// If one of them cannot be read or says what cannot be used, or two of them say the same; the text names the file, and the line or
/// the key.
pub fn read(paths: &[impl AsRef<Path>]) -> Result<Measured, BadInput> {
    let mut measured = Measured::default();
    let mut has_sheet = false;
    for path in paths.iter().map(AsRef::as_ref) {
        let name = printable(&path.display().to_string(), 300);
        let text = text_of(path, &name)?;
        match recognised(&text) {
            Is::Fio => measured.experiments.extend(fio::read(&name, &text)?),
            Is::Log | Is::Csv if measured.over_time.is_some() => {
                return Err(BadInput::plain(
                    format!("{name}: bandwidth over time was given before"),
                    "allowed: one file of bandwidth over time",
                ));
            }
            Is::Log => measured.over_time = Some(over_time::log(&name, &text)?),
            Is::Csv => measured.over_time = Some(over_time::csv(&name, &text)?),
            Is::Sheet if std::mem::replace(&mut has_sheet, true) => {
                return Err(BadInput::plain(
                    format!("{name}: a data sheet was given before"),
                    "allowed: one TOML file with [drive], [counters] and [over_time]",
                ));
            }
            Is::Sheet => measured.sheet = sheet::read(&name, &text)?,
        }
    }
    named_once(&mut measured);
    Ok(measured)
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    Fio,
    Log,
    Csv,
    Sheet,
}

fn recognised(text: &str) -> Is {
    if fio::begins(text).is_some() {
        return Is::Fio;
    }
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let cells = || first.split(',').map(str::trim);
    match first {
        _ if cells().count() > 1 && cells().all(|cell| cell.parse::<f64>().is_ok()) => Is::Log,
        _ if cells().count() > 1 && !first.contains('=') && first.to_ascii_lowercase().contains("time") => {
            Is::Csv
        }
        _ => Is::Sheet,
    }
}

fn text_of(path: &Path, name: &str) -> Result<String, BadInput> {
    let allowed =
        "allowed: JSON of fio, a bandwidth log of fio, CSV of bandwidth over time, or TOML of a data sheet";
    let cannot = |why: String| BadInput::plain(format!("{name}: {why}"), allowed);
    let mut bytes = Vec::new();
    let file = files::open_named(path).map_err(|error| cannot(format!("cannot be read: {error}")))?;
    let read = file.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| cannot(format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(cannot("has more than 64 MiB".to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count() + 1;
        cannot(format!("line {line} is not UTF-8 text"))
    })
}

/// Experiments that are called the same get numbers.
fn named_once(measured: &mut Measured) {
    for at in 0..measured.experiments.len() {
        let (before, rest) = measured.experiments.split_at_mut(at);
        let name = rest[0].name.clone();
        let is_taken = |name: &str| before.iter().any(|other| other.name == name);
        let mut next = 2;
        while is_taken(&rest[0].name) {
            rest[0].name = format!("{name}-{next}");
            next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::Experiment;

    #[test]
    fn files_are_recognised_by_their_first_line() {
        for (text, is) in [
            ("\n {\"jobs\": []}", Is::Fio),
            ("fio: time, and again\n{\n\"jobs\": []}", Is::Fio),
            ("[\n{\"jobs\": []}]", Is::Fio),
            ("1000, 524288, 1, 4096, 0\n", Is::Log),
            ("time_s,bytes_per_s\n1,2\n", Is::Csv),
            ("[drive]\ncapacity = \"1TB\"\n", Is::Sheet),
            ("drive = { name = \"time, and again\" }", Is::Sheet),
            ("", Is::Sheet),
        ] {
            assert_eq!(recognised(text), is, "{text}");
        }
    }

    #[test]
    fn experiments_of_one_name_get_numbers() {
        let experiment = |name: &str| Experiment { name: name.into(), streams: Vec::new() };
        let experiments = ["a", "b", "a", "a-2", "a"].map(experiment).to_vec();
        let mut measured = Measured { experiments, ..Measured::default() };
        named_once(&mut measured);
        let names: Vec<&str> = measured.experiments.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "a-2", "a-2-2", "a-3"]);
    }
}
