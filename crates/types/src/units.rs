//! Quantities as people write them: `25us`, `1.5ms`, `4KiB`, `510.53KB`, `300MB/s`.
//!
//! Decimal prefixes are powers of 1000, binary ones (`KiB`, `MiB`, `GiB`, `TiB`) powers of 1024. A number without
//! its unit is refused: a silent wrong unit is the commonest way to get a wrong result. All values are rounded to
//! the nearest whole nanosecond or byte.

use serde::Serializer;

use crate::{Bytes, SimDuration};

/// Days of a year, as ratings of drives count them.
pub const DAYS_PER_YEAR: f64 = 365.0;

const DURATIONS: &[(&str, f64)] =
    &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)];

const SIZES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
    ("TiB", 1099511627776.0),
];

/// What [`parse_duration`] reads, as a regular expression; so close that only strange numbers (`1.2.3s`) are let through.
pub const DURATION_PATTERN: &str = r"^\s*[0-9._]+\s*(ns|us|ms|s|min|h)\s*$";
/// What [`parse_bytes`] reads, likewise.
pub const SIZE_PATTERN: &str = r"^\s*[0-9._]+\s*([KMGT]i?)?B\s*$";
/// What [`parse_bandwidth`] reads, likewise.
pub const RATE_PATTERN: &str = r"^\s*[0-9._]+\s*([KMGT]i?)?B\s*/s\s*$";

/// Splits `text` into a finite number >= 0 and its unit; `what` and `units` word the error.
fn parse(text: &str, what: &str, units: &[(&str, f64)]) -> Result<f64, String> {
    let trimmed = text.trim();
    let allowed = || {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        format!("`{text}` is not a {what}: write a number and a unit, one of {}", names.join(", "))
    };
    let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let value: f64 = number.replace('_', "").parse().map_err(|_| allowed())?;
    let scale = units.iter().find(|(name, _)| *name == unit.trim()).ok_or_else(allowed)?.1;
    let scaled = value * scale;
    // 2^63: everything below converts to u64 exactly enough and leaves room for sums.
    if scaled.is_finite() && scaled < 9.223372036854775e18 {
        Ok(scaled)
    } else {
        Err(format!("`{text}` is too large for a {what}"))
    }
}

/// Reads a duration such as `25us` or `1.5ms`, to the nearest nanosecond.
///
/// # Errors
/// If the text is not a number followed by `ns`, `us`, `ms`, `s`, `min` or `h`, or exceeds 2^63 ns.
///
/// ```
/// # use harmonia_types::units::parse_duration;
/// assert_eq!(parse_duration("105.6us").unwrap().as_ns(), 105_600);
/// assert!(parse_duration("25").unwrap_err().contains("unit"));
/// ```
pub fn parse_duration(text: &str) -> Result<SimDuration, String> {
    parse(text, "duration", DURATIONS).map(|ns| SimDuration(ns.round() as u64))
}

/// Reads a size such as `4KiB` or `510.53KB`, to the nearest byte.
///
/// # Errors
/// If the text is not a number followed by a decimal or binary byte unit, or exceeds 2^63 bytes.
pub fn parse_bytes(text: &str) -> Result<Bytes, String> {
    parse(text, "size", SIZES).map(|bytes| bytes.round() as u64)
}

/// Reads a rate such as `300MB/s`, in bytes a second.
///
/// # Errors
/// If the text is not a size followed by `/s`.
pub fn parse_bandwidth(text: &str) -> Result<Bytes, String> {
    let size = text
        .trim()
        .strip_suffix("/s")
        .ok_or_else(|| format!("`{text}` is not a rate: write a size per second, such as 300MB/s"))?;
    parse(size, "rate", SIZES).map(|bytes| bytes.round() as u64)
}

/// Prints a duration so that [`parse_duration`] reads the same value back.
pub fn format_duration(duration: SimDuration) -> String {
    let text = exact(duration.0, &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)]);
    // Beyond 2^53 ns (104 days) a fraction of a larger unit may read back as a neighbour.
    if parse_duration(&text) == Ok(duration) { text } else { format!("{}ns", duration.0) }
}

/// A count with thousands separators: 1,234,567.
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Prints a size so that [`parse_bytes`] reads the same value back.
pub fn format_bytes(bytes: Bytes) -> String {
    if bytes.is_multiple_of(1024) && bytes > 0 {
        return exact(bytes, &[("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]);
    }
    exact(bytes, &[("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000), ("B", 1)])
}

/// Serialises a size as it is written in a scenario.
///
/// # Errors
/// Those of the serializer.
pub fn as_size<T: Copy + Into<Bytes>, S: Serializer>(size: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format_bytes((*size).into()))
}

/// Serialises bytes a second as they are written in a scenario.
///
/// # Errors
/// Those of the serializer.
pub fn as_rate<S: Serializer>(rate: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{}/s", format_bytes(*rate)))
}

/// The largest unit in which `value` has at most three decimals, so nothing is lost.
fn exact(value: u64, units: &[(&str, u64)]) -> String {
    for &(name, scale) in units {
        let thousandths = u128::from(value) * 1000;
        if value >= scale && thousandths.is_multiple_of(u128::from(scale)) {
            let whole = value / scale;
            let rest = (thousandths / u128::from(scale)) % 1000;
            if rest == 0 {
                return format!("{whole}{name}");
            }
            let decimals = format!("{rest:03}");
            return format!("{whole}.{}{name}", decimals.trim_end_matches('0'));
        }
    }
    format!("{value}{}", units.last().map_or("", |(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        assert_eq!(parse_duration("1.5ms").unwrap(), SimDuration(1_500_000));
        assert_eq!(parse_bytes("510.53KB").unwrap(), 510_530);
        assert_eq!(parse_bytes("4KiB").unwrap(), 4096);
        assert_eq!(parse_bandwidth("300MB/s").unwrap(), 300_000_000);
    }

    #[test]
    fn refuses_what_is_ambiguous() {
        for bad in ["", "25", "us", "-1us", "1e3us", "NaNs", "1.2.3s", "99999999999999h", "1 parsec"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
        assert!(parse_bytes("4kib").is_err());
        assert!(parse_bandwidth("300MB").is_err());
    }

    #[test]
    fn what_is_printed_reads_back() {
        for ns in [0, 1, 999, 1_000, 105_600, 1_500_000, 13_653, 2_098_635_887, 3_600_000_000_000] {
            assert_eq!(parse_duration(&format_duration(SimDuration(ns))).unwrap().0, ns);
        }
        for text in ["1273777.4h", "314940.6h", "630955.3h"] {
            let duration = parse_duration(text).unwrap();
            assert_eq!(parse_duration(&format_duration(duration)), Ok(duration), "{text}");
        }
        for bytes in [0, 1, 512, 4096, 510_530, 1 << 35, 1_000_000_000_007] {
            assert_eq!(parse_bytes(&format_bytes(bytes)).unwrap(), bytes);
        }
    }
}
