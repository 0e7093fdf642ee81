//! TOML with what no load measures: lines of a data sheet, and counters of the drive.
//!
//! ```toml
//! [drive]
//! name = "my drive"
//! capacity = "960GB"               # that the host sees
//! sequential_write = "1500MB/s"
//! sequential_read = "6500MB/s"
//!
//! [counters.uniform]               # how far they went on under uniform writes in the steady state (SMART, OCP)
//! host = "500GB"
//! media = "1800GB"
//!
//! [counters.sequential]            # the same while an erased drive was filled
//! host = "960GB"
//! media = "1000GB"
//!
//! [over_time]
//! written_before = 1.0             # drive writes between the erase and the beginning of the bandwidth over time
//! ```

use harmonia_scenario::BadInput;
use harmonia_types::units::{parse_bandwidth, parse_bytes};
use serde::Deserialize;
use toml::Spanned;

use crate::measured::Sheet;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    drive: Drive,
    #[serde(default)]
    counters: Counters,
    #[serde(default)]
    over_time: OverTime,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drive {
    name: Option<String>,
    capacity: Option<Spanned<String>>,
    sequential_write: Option<Spanned<String>>,
    sequential_read: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counters {
    uniform: Option<Counter>,
    sequential: Option<Counter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counter {
    host: Spanned<String>,
    media: Spanned<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OverTime {
    written_before: Option<Spanned<f64>>,
}

/// What a file says.
pub(super) fn read(file: &str, text: &str) -> Result<Sheet, BadInput> {
    let at = |key: &str, span, problem: String, allowed: &str| {
        BadInput::at(file, text, span, key, format!("`{key}`: {problem}"), &format!("allowed: {allowed}"))
    };
    let said: File = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let allowed = "[drive] with name, capacity, sequential_write and sequential_read, [counters.uniform] and [counters.sequential] \
                       with host and media, and [over_time] with written_before; and JSON, logs and CSV of bandwidth";
        BadInput::at(file, text, span, "", error.message().to_owned(), &format!("allowed: {allowed}"))
    })?;
    let bytes = |key: &str, value: &Spanned<String>, least: u64| {
        let found = parse_bytes(value.get_ref()).ok().filter(|bytes| *bytes >= least);
        found.ok_or_else(|| {
            at(
                key,
                value.span(),
                format!("cannot be \"{}\"", value.get_ref()),
                "a size such as \"960GB\", of 1GB or more",
            )
        })
    };
    let rate = |key: &str, value: &Spanned<String>| {
        let found = parse_bandwidth(value.get_ref()).ok().filter(|rate| (1_000_000..1 << 40).contains(rate));
        found.ok_or_else(|| {
            at(
                key,
                value.span(),
                format!("cannot be \"{}\"", value.get_ref()),
                "a rate such as \"1500MB/s\", of 1MB/s or more",
            )
        })
    };
    let ratio = |name: &str, counter: &Counter, least: f64| {
        let host = bytes(&format!("counters.{name}.host"), &counter.host, 1)?;
        let media = bytes(&format!("counters.{name}.media"), &counter.media, 1)?;
        let ratio = media as f64 / host as f64;
        match ratio > least && ratio < 20.0 {
            true => Ok(ratio),
            false => Err(at(
                &format!("counters.{name}.media"),
                counter.media.span(),
                format!("is {ratio:.3} times what the host wrote"),
                &format!("more than {least} and less than 20 times as much"),
            )),
        }
    };
    let Drive { name, capacity, sequential_write, sequential_read } = said.drive;
    let before = said.over_time.written_before;
    if let Some(value) = before.as_ref().filter(|value| !(0.0..=1.0).contains(value.get_ref())) {
        let key = "over_time.written_before";
        return Err(at(
            key,
            value.span(),
            format!("cannot be {}", value.get_ref()),
            "capacities of the drive, 0 to 1",
        ));
    }
    let sequential =
        said.counters.sequential.map(|counter| ratio("sequential", &counter, 0.9)).transpose()?;
    Ok(Sheet {
        name,
        capacity: capacity.map(|value| bytes("drive.capacity", &value, 1_000_000_000)).transpose()?,
        sequential_write: sequential_write.map(|value| rate("drive.sequential_write", &value)).transpose()?,
        sequential_read: sequential_read.map(|value| rate("drive.sequential_read", &value)).transpose()?,
        written_before: before.map_or(0.0, |value| *value.get_ref()),
        uniform: said
            .counters
            .uniform
            .map(|counter| ratio("uniform", &counter, sequential.unwrap_or(1.0) * 1.02))
            .transpose()?,
        sequential,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_says_what_no_load_measures() {
        let sheet = read(
            "x.toml",
            "[drive]\nname = \"x\"\ncapacity = \"960GB\"\nsequential_write = \"1500MB/s\"\n[counters.uniform]\nhost = \"1TB\"\nmedia = \"3.5TB\"\n\
             [over_time]\nwritten_before = 1.0\n",
        );
        let sheet = sheet.expect("read");
        assert_eq!(
            (sheet.capacity, sheet.sequential_write, sheet.sequential_read),
            (Some(960_000_000_000), Some(1_500_000_000), None)
        );
        assert_eq!((sheet.uniform, sheet.sequential, sheet.written_before), (Some(3.5), None, 1.0));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (text, says) in [
            ("[drive]\nsize = 3\n", "x.toml:2"),
            ("[drive]\nsize = 3\n", "unknown field `size`"),
            ("[drive\n", "x.toml:1"),
            ("[drive]\ncapacity = \"many\"\n", "`drive.capacity`: cannot be \"many\""),
            ("[drive]\ncapacity = \"5MB\"\n", "x.toml:2"),
            ("[drive]\nsequential_write = \"5GB\"\n", "`drive.sequential_write`: cannot be \"5GB\""),
            ("[counters.uniform]\nhost = \"5GB\"\nmedia = \"4GB\"\n", "is 0.800 times what the host wrote"),
            ("[counters.uniform]\nhost = \"5GB\"\n", "missing field `media`"),
            ("[over_time]\nwritten_before = 7\n", "written_before"),
        ] {
            let message = read("x.toml", text).map(|_| ()).unwrap_err().to_string();
            assert!(message.contains(says) && message.contains("allowed: "), "{says}: {message}");
        }
    }
}
