//! Since when the clock of a trace counts, and what UTC that makes of its times.
//!
//! Whether times are absolute is a matter of the format's definition, or of what a file says of itself. The value of a time
//! decides only where a definition leaves it open. Whichever it is, a time is believed only if it lies in the years 1990 to
//! 2099: a file with times of its own in the columns of a format, or one read in a wrong unit, has no clock time then.

/// 1990-01-01 and 2100-01-01 UTC, in ns since 1970.
const PLAUSIBLE_NS: std::ops::Range<i128> = 631_152_000_000_000_000..4_102_444_800_000_000_000;
/// From 1601 to 1970, in ns.
pub(crate) const WINDOWS_TO_UNIX_NS: i128 = 11_644_473_600_000_000_000;

/// When a trace begins that was written as one of MSR without anybody knowing its clock time: 2007-02-22 17:00 UTC. A real
/// one begins at this very tick of 100 ns about never.
pub(crate) const NO_CLOCK_UTC_NS: u64 = 1_172_163_600_000_000_000;

/// Since when the times of a format's files count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epoch {
    /// The start of the recording, of the machine, or something else that nobody wrote down.
    Unknown,
    /// 1970-01-01 UTC.
    Unix,
    /// 1601-01-01 UTC, as FILETIME of Windows.
    Windows,
    /// The definition leaves it open: 1970 or 1601 if that makes it a plausible year, which at most one of them does.
    ByValue,
    /// The file may say which moment its time 0 is.
    InFile,
}

impl Epoch {
    /// UTC of a time of such a file, in ns since 1970. `zero_utc_ns` is what the file says of its time 0.
    pub(crate) fn utc_ns(self, zero_utc_ns: Option<i128>, time_ns: u64) -> Option<u64> {
        let since = |zero_ns: i128| {
            let utc_ns = zero_ns + i128::from(time_ns);
            PLAUSIBLE_NS.contains(&utc_ns).then_some(utc_ns as u64)
        };
        match self {
            Epoch::Unknown => None,
            Epoch::Unix => since(0),
            Epoch::Windows => since(-WINDOWS_TO_UNIX_NS).filter(|&utc_ns| utc_ns != NO_CLOCK_UTC_NS),
            Epoch::ByValue => since(0).or_else(|| since(-WINDOWS_TO_UNIX_NS)),
            Epoch::InFile => since(zero_utc_ns?),
        }
    }

    /// What a page of formats says of it.
    pub fn meaning(self) -> &'static str {
        match self {
            Epoch::Unknown => "-",
            Epoch::Unix => "since 1970",
            Epoch::Windows => "since 1601",
            Epoch::ByValue => "if plausible",
            Epoch::InFile => "if the file tells",
        }
    }
}

/// What a FILETIME of Windows, in steps of 100 ns since 1601, is in ns since 1970.
pub(crate) fn of_filetime(ticks: u64) -> i128 {
    i128::from(ticks) * 100 - WINDOWS_TO_UNIX_NS
}

/// The other way around, rounded down.
pub(crate) fn to_filetime(utc_ns: u64) -> i128 {
    (i128::from(utc_ns) + WINDOWS_TO_UNIX_NS) / 100
}

#[cfg(test)]
#[path = "epoch_tests.rs"]
mod tests;
