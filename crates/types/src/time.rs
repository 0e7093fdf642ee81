//! Simulated time in integer nanoseconds: exact, totally ordered, the same on every machine.
//!
//! Nothing happens after [`SimTime::LATEST`]: whoever owns the clock of a run refuses to go on. What is computed for
//! later still has to compare as later, so sums and products stop at the end of their range instead of starting anew at
//! zero; a sum that may have done so must not be reported.

use std::borrow::Cow;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units;

/// A moment of simulated time, in nanoseconds since the run began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SimTime(pub u64);

/// A length of simulated time, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimDuration(pub u64);

impl SimTime {
    /// The beginning of every run.
    pub const ZERO: SimTime = SimTime(0);
    /// Later than anything that will ever happen: "no event".
    pub const NEVER: SimTime = SimTime(u64::MAX);

    /// The last moment at which something may happen: 2^63 ns, 292 years.
    pub const LATEST: SimTime = SimTime(1 << 63);
    /// Where times that would be later still end up; earlier than [`SimTime::NEVER`], because it is no "no event".
    const FAR: SimTime = SimTime(u64::MAX - 1);

    /// Nanoseconds since the run began.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Time elapsed since `earlier`; zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: SimTime) -> SimDuration {
        SimDuration(self.0.saturating_sub(earlier.0))
    }
}

impl SimDuration {
    /// No time at all.
    pub const ZERO: SimDuration = SimDuration(0);
    /// Where sums and products end that are as long or longer.
    pub const MAX: SimDuration = SimDuration(u64::MAX);

    /// A duration of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        SimDuration(ns)
    }

    /// A duration of `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        SimDuration(us * 1_000)
    }

    /// A duration of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        SimDuration(ms * 1_000_000)
    }

    /// The duration in nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }
}

impl Add<SimDuration> for SimTime {
    type Output = SimTime;
    #[inline]
    fn add(self, rhs: SimDuration) -> SimTime {
        self.0.checked_add(rhs.0).map_or(SimTime::FAR, SimTime)
    }
}

impl AddAssign<SimDuration> for SimTime {
    #[inline]
    fn add_assign(&mut self, rhs: SimDuration) {
        *self = *self + rhs;
    }
}

impl Sub for SimTime {
    type Output = SimDuration;
    fn sub(self, rhs: SimTime) -> SimDuration {
        SimDuration(self.0 - rhs.0)
    }
}

impl Add for SimDuration {
    type Output = SimDuration;
    #[inline]
    fn add(self, rhs: SimDuration) -> SimDuration {
        SimDuration(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign for SimDuration {
    #[inline]
    fn add_assign(&mut self, rhs: SimDuration) {
        *self = *self + rhs;
    }
}

impl Sub for SimDuration {
    type Output = SimDuration;
    fn sub(self, rhs: SimDuration) -> SimDuration {
        SimDuration(self.0 - rhs.0)
    }
}

impl Mul<u64> for SimDuration {
    type Output = SimDuration;
    fn mul(self, rhs: u64) -> SimDuration {
        SimDuration(self.0.saturating_mul(rhs))
    }
}

impl Sum for SimDuration {
    fn sum<I: Iterator<Item = SimDuration>>(iter: I) -> SimDuration {
        iter.fold(SimDuration::ZERO, Add::add)
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&units::format_duration(SimDuration(self.0)))
    }
}

impl fmt::Display for SimDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&units::format_duration(*self))
    }
}

impl Serialize for SimDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for SimDuration {
    fn schema_name() -> Cow<'static, str> {
        "duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "duration", "pattern": units::DURATION_PATTERN })
    }
}

impl<'de> Deserialize<'de> for SimDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        units::parse_duration(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beyond_the_range_is_later_than_all_that_may_happen_and_not_never() {
        let far = SimTime::LATEST + SimDuration::MAX;
        assert!(SimTime::LATEST < far && far < SimTime::NEVER);
        assert_eq!((SimTime::NEVER - SimTime::LATEST).0, (1 << 63) - 1);
        assert_eq!(SimTime::LATEST + SimDuration(1), SimTime((1 << 63) + 1));
        let mut time = SimTime(5);
        time += SimDuration(2);
        assert_eq!(time, SimTime(7));
    }

    #[test]
    fn durations_end_at_the_longest() {
        let half = SimDuration(1 << 63);
        assert_eq!([half + half, half * 2, [half, half].into_iter().sum()], [SimDuration::MAX; 3]);
        assert_eq!(half + SimDuration(1), SimDuration((1 << 63) + 1));
    }
}
