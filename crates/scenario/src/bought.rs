//! An array of drives of one kind, named in a few words: the scenario that somebody would write who has nothing but a trace and drives
//! to choose from.
//!
//! What is not said is assumed, and [`Bought::template`] says what that is: drives that are full and used, and the largest part of them
//! that ages in seconds.

use harmonia_ssd::{Scale, SsdConfig};
use harmonia_types::units;

use crate::error::{BadInput, nearest, printable};
use crate::presets::device;
use crate::{Scenario, Template};

/// Mapping units of all drives together that age in a few seconds.
const UNITS_MOST: u64 = 10_000_000;

/// What somebody has or may buy, in the words of command-line options.
#[derive(Debug, Clone, Copy)]
pub struct Bought<'a> {
    /// `--drive`: a device preset.
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
    /// The scenario without a load, and what is assumed in it.
    ///
    /// # Errors
    /// If there is no such drive, or no such array of them; the text names the option.
    pub fn template(&self) -> Result<(Template, Vec<Assumed>), BadInput> {
        let Some(ssd) = device::find(self.drive) else {
            let near = nearest(self.drive, device::names());
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let known = device::names().collect::<Vec<_>>().join(", ");
            let problem = format!("--drive {}: there is no such drive", printable(self.drive, 60));
            return Err(BadInput::plain(problem, &format!("{near}one of {known}; see `harmonia presets`")));
        };
        let divisor = self.divisor(&ssd);
        let text = self.text(divisor);
        // The array is checked with any load, so that what is wrong with it is said in the words of the options.
        let any = format!("workload = {{ preset = \"hpc-w\", size.mean = \"4KiB\" }}\n{text}");
        let scenario = Scenario::parse(&any, "array", &[], None).map_err(|bad| self.in_options(&bad))?;
        let mut assumed = vec![Assumed {
            key: "precondition",
            text: "drives are 100% full, and three times their data was overwritten at random (precondition)"
                .to_owned(),
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
        Ok((Template::text(&text, "array")?, assumed))
    }

    /// The largest part that ages in seconds, or else the smallest that works.
    fn divisor(&self, ssd: &SsdConfig) -> u32 {
        let pages = ssd.resolve().map_or(0, |shape| u64::from(shape.logical_pages));
        let wanted = (pages * u64::from(self.count)).div_ceil(UNITS_MOST).max(1) as u32;
        let works =
            |divisor: &u32| SsdConfig { scale: Scale::one_in(*divisor), ..ssd.clone() }.scaled().is_ok();
        (1..=wanted).rev().find(works).unwrap_or(1)
    }

    fn text(&self, divisor: u32) -> String {
        let Bought { drive, count, level, chunk } = self;
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let chunk = chunk.map(|chunk| format!("stripe_unit = {}\n", quoted(chunk))).unwrap_or_default();
        let scale = if divisor > 1 { format!("scale = \"1/{divisor}\"\n") } else { String::new() };
        format!(
            "name = {}\n\n[precondition]\nfill = 1.0\noverwrite = 3.0\n\n[array]\ndevices = {count}\nlevel = {}\n{chunk}\
             coordination.policy = \"local\"\n\n[ssd]\npreset = {}\n{scale}",
            quoted(&format!("{count} x {drive}, {}", printable(level, 20))),
            quoted(level),
            quoted(drive)
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

#[cfg(test)]
mod tests {
    use super::*;

    const SIX: Bought<'_> = Bought { drive: "modern-tlc-1t", count: 6, level: "raid6", chunk: None };

    fn refused(bought: Bought<'_>) -> String {
        bought.template().map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_said_is_assumed_and_told() {
        let (template, assumed) = SIX.template().unwrap();
        let keys: Vec<&str> = assumed.iter().map(|assumed| assumed.key).collect();
        assert_eq!(keys, ["precondition", "array.stripe_unit", "ssd.scale"]);
        let scenario = template.with(&["workload.preset=hpc-w".to_owned()], None).unwrap();
        assert_eq!((scenario.array.devices, scenario.array.coordination.policy.as_str()), (6, "local"));
        let pages = scenario.array.members[0].ssd.resolve().unwrap().logical_pages;
        assert!(u64::from(pages) * 6 < UNITS_MOST + UNITS_MOST / 5, "{pages} pages a drive");
        let small = Bought { drive: "tiny-test", count: 4, level: "raid5", chunk: Some("64KiB") };
        let keys: Vec<&str> = small.template().unwrap().1.iter().map(|assumed| assumed.key).collect();
        assert_eq!(keys, ["precondition"], "small drives are simulated as they are");
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
