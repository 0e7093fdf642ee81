//! An array of drives of one kind, named in a few words: the scenario that somebody would write who has nothing but a trace and drives
//! to choose from.
//!
//! A drive is a device preset or a device file: TOML with `[ssd]` and nothing else, such as `harmonia calibrate` writes. A preset wins over
//! a file of the same name.
//!
//! What is not said is assumed, and [`Bought::template`] says what that is: drives that are full and used, and the largest part of them
//! that ages in seconds.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use harmonia_ssd::{Scale, SsdConfig};
use harmonia_types::units;

use crate::error::{BadInput, nearest, printable};
use crate::presets::device;
use crate::{Scenario, Template, TraceFile, files};

/// Mapping units of all drives together that age in a few seconds.
const UNITS_MOST: u64 = 10_000_000;

/// A device file may have so many bytes: 1 MiB.
const MOST_BYTES: u64 = 1 << 20;

/// What somebody has or may buy, in the words of command-line options.
#[derive(Debug, Clone, Copy)]
pub struct Bought<'a> {
    /// `--drive`: a device preset, or a device file.
    pub drive: &'a str,
    /// `--count`: how many.
    pub count: u16,
    /// `--level`: as `array.level` has it.
    pub level: &'a str,
    /// `--chunk`: as `array.stripe_unit` has it.
    pub chunk: Option<&'a str>,
}

/// Something that nobody said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumed {
    /// The key that says it.
    pub key: &'static str,
    /// What is assumed.
    pub text: String,
}

impl Bought<'_> {
    /// The scenario without the load, which `sets` and `trace` say, and what is assumed in it. The load ages the array, where it can.
    ///
    /// # Errors
    /// If there is no such drive, or no such array of them; the text names the option.
    pub fn template(
        &self,
        sets: &[String],
        trace: Option<&TraceFile>,
    ) -> Result<(Template, Vec<Assumed>), BadInput> {
        let drive = Drive::find(self.drive)?;
        let divisor = self.divisor(&drive);
        let text = self.text(drive.table.clone(), divisor, "load");
        // The array is checked with any load, so that what is wrong with it is said in the words of the options.
        let any = format!("workload = {{ preset = \"hpc-w\", size.mean = \"4KiB\" }}\n{text}");
        let scenario = Scenario::parse(&any, "array", &[], None).map_err(|bad| self.in_options(&bad))?;
        let mut template = Template::text(&text, "array")?;
        // Other mistakes are told where the load is read.
        let refuses = |sets: &[String]| {
            template.sweep(sets, trace).is_err_and(|bad| bad.key() == Some("precondition.overwrite_space"))
        };
        // A comparison names its policies later, and one of them may have stripes that float.
        let floating = [sets, &["array.coordination.policy=gaftl".to_owned()]].concat();
        let is_aged_by_load = !refuses(sets) && !refuses(&floating);
        if !is_aged_by_load {
            template = Template::text(&self.text(drive.table, divisor, "all"), "array")?;
        }
        let aged = match (is_aged_by_load, trace) {
            (true, Some(_)) => {
                "aged by what the trace writes, over and over, until that is three times their data (at random if it writes nothing)"
            }
            (true, None) => {
                "aged by what the load writes, until that is three times their data (at random if it writes nothing)"
            }
            (false, _) => "three times their data was overwritten at random",
        };
        let mut assumed = vec![Assumed {
            key: "precondition",
            text: format!("drives are 100% full, and {aged} (precondition)"),
        }];
        if self.chunk.is_none() {
            let unit = units::format_bytes(scenario.array.stripe_unit);
            assumed.push(Assumed { key: "array.stripe_unit", text: format!("a chunk of {unit} (--chunk)") });
        }
        if divisor > 1 {
            let text = format!(
                "1/{divisor} of every drive is simulated (ssd.scale), so that ageing takes seconds; figures are those of full drives"
            );
            assumed.push(Assumed { key: "ssd.scale", text });
        }
        Ok((template, assumed))
    }

    /// The largest part that ages in seconds, or else the smallest that works.
    fn divisor(&self, drive: &Drive) -> u32 {
        // A device file may say itself which part is simulated.
        if drive.table.contains_key("scale") {
            return 1;
        }
        let ssd = &drive.config;
        let pages = ssd.resolve().map_or(0, |shape| u64::from(shape.logical_pages));
        let wanted = (pages * u64::from(self.count)).div_ceil(UNITS_MOST).max(1) as u32;
        let works =
            |divisor: &u32| SsdConfig { scale: Scale::one_in(*divisor), ..ssd.clone() }.scaled().is_ok();
        (1..=wanted).rev().find(works).unwrap_or(1)
    }

    fn text(&self, mut ssd: toml::Table, divisor: u32, overwrite_space: &str) -> String {
        let Bought { drive, count, level, chunk } = self;
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let chunk = chunk.map(|chunk| format!("stripe_unit = {}\n", quoted(chunk))).unwrap_or_default();
        if divisor > 1 {
            ssd.insert("scale".to_owned(), format!("1/{divisor}").into());
        }
        let ssd = toml::Table::from_iter([("ssd".to_owned(), toml::Value::Table(ssd))]);
        let name = printable(drive.rsplit('/').next().unwrap_or(drive), 60);
        format!(
            "name = {}\n\n[precondition]\nfill = 1.0\noverwrite = 3.0\noverwrite_space = \"{overwrite_space}\"\n\n[array]\n\
             devices = {count}\nlevel = {}\n{chunk}coordination.policy = \"local\"\n\n{ssd}",
            quoted(&format!("{count} x {name}, {}", printable(level, 20))),
            quoted(level),
        )
    }

    /// A mistake in the array, with the option that it stands in.
    fn in_options(&self, bad: &BadInput) -> BadInput {
        let (problem, allowed) = bad.bare();
        // The option says it in place of the key.
        let problem = problem
            .strip_prefix('`')
            .and_then(|text| text.split_once(": "))
            .map_or(problem, |(_, rest)| rest);
        let option = match bad.key() {
            Some("array.level") => format!("--level {}", printable(self.level, 60)),
            Some("array.devices") => format!("--count {}", self.count),
            Some("array.stripe_unit") => {
                format!("--chunk {}", printable(self.chunk.unwrap_or("(usual)"), 60))
            }
            _ => format!("--drive {}", self.drive),
        };
        BadInput::plain(format!("{option}: {problem}"), allowed)
    }
}

/// A drive to choose.
struct Drive {
    config: SsdConfig,
    /// Its `[ssd]`.
    table: toml::Table,
}

impl Drive {
    /// The preset or the file of this name.
    fn find(name: &str) -> Result<Drive, BadInput> {
        if let Some(config) = device::find(name) {
            return Ok(Drive { config, table: toml::Table::from_iter([("preset".to_owned(), name.into())]) });
        }
        match files::open_named(Path::new(name)) {
            Ok(file) => Drive::of_file(name, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let near = nearest(name, device::names());
                let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
                let known = device::names().collect::<Vec<_>>().join(", ");
                let problem = format!("--drive {}: there is no such drive", printable(name, 60));
                Err(BadInput::plain(
                    problem,
                    &format!("{near}one of {known}; see `harmonia presets`; or a device file"),
                ))
            }
            Err(error) => Err(unreadable(name, &error.to_string())),
        }
    }

    /// What a device file says, checked as the `[ssd]` of a scenario. Messages have the lines of the file.
    fn of_file(name: &str, file: File) -> Result<Drive, BadInput> {
        let mut text = String::new();
        let read = file.take(MOST_BYTES + 1).read_to_string(&mut text);
        read.map_err(|error| unreadable(name, &error.to_string()))?;
        if text.len() as u64 > MOST_BYTES {
            return Err(unreadable(name, "is larger than 1 MiB"));
        }
        let mut said: toml::Table = toml::from_str(&text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            BadInput::at(
                &printable(name, 300),
                &text,
                span,
                "",
                error.message(),
                "allowed: a device file, TOML with [ssd]",
            )
        })?;
        if let Some(other) = said.keys().find(|key| *key != "ssd") {
            let problem = format!("--drive {}: has `{}`", printable(name, 60), printable(other, 60));
            return Err(BadInput::plain(
                problem,
                "allowed: [ssd] and nothing else; a scenario is named without --drive",
            ));
        }
        let Some(toml::Value::Table(table)) = said.remove("ssd") else {
            let problem = format!("--drive {}: has no [ssd]", printable(name, 60));
            return Err(BadInput::plain(problem, "allowed: a device file, TOML with [ssd]"));
        };
        // Behind its lines, so that theirs stay.
        let whole =
            format!("{text}\n[workload]\npreset = \"hpc-w\"\nsize.mean = \"4KiB\"\n[array]\ndevices = 1\n");
        let mut scenario = Scenario::parse(&whole, name, &[], None)?;
        Ok(Drive { config: scenario.array.members.swap_remove(0).ssd, table })
    }
}

fn unreadable(name: &str, why: &str) -> BadInput {
    let problem = format!("--drive {}: cannot be read: {}", printable(name, 60), printable(why, 200));
    BadInput::plain(problem, "allowed: a device file, TOML with [ssd], or a name of `harmonia presets`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OverwriteSpace;

    const SIX: Bought<'_> = Bought { drive: "modern-tlc-1t", count: 6, level: "raid6", chunk: None };

    fn refused(bought: Bought<'_>) -> String {
        bought.template(&[], None).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_said_is_assumed_and_told() {
        let (template, assumed) = SIX.template(&[], None).unwrap();
        let keys: Vec<&str> = assumed.iter().map(|assumed| assumed.key).collect();
        assert_eq!(keys, ["precondition", "array.stripe_unit", "ssd.scale"]);
        let scenario = template.with(&["workload.preset=hpc-w".to_owned()], None).unwrap();
        assert_eq!((scenario.array.devices, scenario.array.coordination.policy.as_str()), (6, "local"));
        let pages = scenario.array.members[0].ssd.resolve().unwrap().logical_pages;
        assert!(u64::from(pages) * 6 < UNITS_MOST + UNITS_MOST / 5, "{pages} pages a drive");
        let small = Bought { drive: "tiny-test", count: 4, level: "raid5", chunk: Some("64KiB") };
        let keys: Vec<&str> =
            small.template(&[], None).unwrap().1.iter().map(|assumed| assumed.key).collect();
        assert_eq!(keys, ["precondition"], "small drives are simulated as they are");
    }

    /// Unless it cannot: then they are overwritten at random, and that is told.
    #[test]
    fn what_the_load_writes_ages_the_drives() {
        let aged = |load: &str, more: &[&str]| {
            let sets = [&[load], more].concat().iter().map(|&set| set.to_owned()).collect::<Vec<_>>();
            let (template, assumed) = SIX.template(&sets, None).unwrap();
            let scenario = template.with(&sets, None).unwrap_or_else(|error| panic!("{error}"));
            let is_said = assumed[0].text.contains("aged by what the load writes");
            assert_eq!(is_said, scenario.precondition.overwrite_space == OverwriteSpace::Load, "{sets:?}");
            scenario.precondition.overwrite_space
        };
        assert_eq!(aged("workload.preset=hpc-w", &[]), OverwriteSpace::Load);
        assert_eq!(aged("workload.preset=hpc-w", &["precondition.fill=0.5"]), OverwriteSpace::Load);
        assert_eq!(aged("workload.preset=hpc-w", &["precondition.overwrite=0"]), OverwriteSpace::All);
        assert_eq!(
            aged("workload.preset=hpc-w", &["precondition.fill=0", "precondition.overwrite=0"]),
            OverwriteSpace::All
        );
    }

    /// The file of a drive says what a preset says, with figures of its own.
    #[test]
    fn a_device_file_is_a_drive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let drive = path.to_str().unwrap();
        let with = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Bought { drive, ..SIX }.template(&[], None)
        };
        let text = "# mine\n[ssd]\npreset = \"modern-tlc-1t\"\ntiming.program = \"3ms\"\n[ssd.link]\nlatency = \"5us\"\n";
        let (template, _) = with(text).unwrap();
        let scenario = template.with(&["workload.preset=hpc-w".to_owned()], None).unwrap();
        let ssd = &scenario.array.members[0].ssd;
        assert_eq!((ssd.timing.program.first().0, ssd.link.latency.0), (3_000_000, 5_000));
        assert_eq!(scenario.name, "6 x mine.toml, raid6");
        assert!(!ssd.scale.is_whole(), "it is scaled as presets are");
        let (template, assumed) = with(&text.replace("[ssd.link]", "scale = \"1/50\"\n[ssd.link]")).unwrap();
        let scenario = template.with(&["workload.preset=hpc-w".to_owned()], None).unwrap();
        assert_eq!(scenario.array.members[0].ssd.scale.divisor(), 50);
        assert!(assumed.iter().all(|assumed| assumed.key != "ssd.scale"), "it says so itself");
        for (text, says) in [
            ("[ssd]\ntiming.program = \"soon\"\n", "mine.toml:2"),
            ("[ssd]\npreset = \"moden-tlc-1t\"\n", "mine.toml:2"),
            ("[ssd\n", "mine.toml:1"),
            ("[ssd]\n[array]\ndevices = 3\n", "has `array`"),
            ("", "has no [ssd]"),
            ("ssd = 3\n", "has no [ssd]"),
        ] {
            let message = with(text).map(|_| ()).unwrap_err().to_string();
            assert!(message.contains(says), "{says}: {message}");
        }
        let folder = Bought { drive: folder.path().to_str().unwrap(), ..SIX };
        assert!(refused(folder).contains("cannot be read: is a folder"));
    }

    #[test]
    fn mistakes_are_told_in_the_words_of_the_options() {
        for (bought, says) in [
            (
                Bought { drive: "modern-tlc", ..SIX },
                ["--drive modern-tlc: ", "did you mean `modern-tlc-1t`?"],
            ),
            (Bought { level: "raid7", ..SIX }, ["--level raid7: ", "raid6"]),
            (Bought { count: 3, ..SIX }, ["--count 3: ", "4 to"]),
            (Bought { count: 0, ..SIX }, ["--count 0: ", "1 to"]),
            (Bought { chunk: Some("5KiB"), ..SIX }, ["--chunk 5KiB: ", "page size"]),
            (Bought { chunk: Some("many"), ..SIX }, ["--chunk many: ", "a size"]),
            (Bought { level: "raid0\"\nseed = 3", ..SIX }, ["--level raid0", "raid6"]),
        ] {
            let text = refused(bought);
            assert!(says.iter().all(|part| text.contains(part)), "{says:?}: {text}");
        }
    }
}
