//! The wall clock of a run: which moment of UTC a simulated time stands for.
//!
//! ```text
//!   UTC        origin ----------- origin + t / time_scale        as the trace recorded it
//!   simulated  0 ---------------- t                              as it is replayed
//! ```
//!
//! A replay at half the times lets a recorded day pass in twelve hours of simulated time, so the clock runs twice as fast.
//! It runs on behind the last request, and through every copy of a trace that is repeated. Days have 86,400 seconds, as in
//! Unix time; there are no leap seconds and no time zones.
//!
//! Only a trace whose times are absolute has such a clock. A synthetic load has none.

use crate::SimTime;

/// Nanoseconds of a day.
pub const DAY_NS: u64 = 86_400_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A clock that runs along with simulated time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WallClock {
    origin_utc_ns: u64,
    time_scale: f64,
}

impl WallClock {
    /// A clock that shows `origin_utc_ns` (since 1970) at simulated time 0, where each recorded nanosecond takes `time_scale`
    /// simulated ones.
    ///
    /// # Panics
    /// If the time scale is not a positive number: whoever replays a trace has refused that.
    pub fn new(origin_utc_ns: u64, time_scale: f64) -> Self {
        assert!(time_scale.is_finite() && time_scale > 0.0, "a time scale is a positive number");
        WallClock { origin_utc_ns, time_scale }
    }

    /// The same clock for a run whose time 0 is this moment.
    #[must_use]
    pub fn beginning_at(self, moment: SimTime) -> Self {
        WallClock { origin_utc_ns: self.utc_ns(moment), ..self }
    }

    /// UTC at `now`, in ns since 1970.
    pub fn utc_ns(self, now: SimTime) -> u64 {
        // An exact comparison: 1 is the default and means "untouched".
        let since_ns = match self.time_scale {
            1.0 => now.0,
            scale => (now.0 as f64 / scale) as u64,
        };
        self.origin_utc_ns.saturating_add(since_ns)
    }

    /// The time of day at `now`, in ns since midnight UTC.
    pub fn time_of_day_ns(self, now: SimTime) -> u64 {
        self.utc_ns(now) % DAY_NS
    }

    /// When the clock shows this time of day next, in ns since midnight UTC: the first moment behind `now` at which it does, or
    /// has just done so. [`SimTime::NEVER`] where that is beyond the range of time.
    pub fn next(self, now: SimTime, time_of_day_ns: u64) -> SimTime {
        let utc_ns = self.utc_ns(now);
        let until_ns = (time_of_day_ns % DAY_NS + DAY_NS - utc_ns % DAY_NS) % DAY_NS;
        let target_ns = utc_ns.saturating_add(if until_ns == 0 { DAY_NS } else { until_ns });
        let since_ns = target_ns.saturating_sub(self.origin_utc_ns);
        let scaled = match self.time_scale {
            1.0 => since_ns,
            scale => (since_ns as f64 * scale).ceil() as u64,
        };
        // A double is coarser than a nanosecond: whoever is woken finds that it is time.
        let (mut moment, mut step_ns) = (SimTime(scaled.max(now.0.saturating_add(1))), 1u64);
        while self.utc_ns(moment) < target_ns {
            if moment > SimTime::LATEST {
                return SimTime::NEVER;
            }
            moment = SimTime(moment.0.saturating_add(step_ns));
            step_ns *= 2;
        }
        moment
    }
}

/// A moment of UTC in ns since 1970 as a person writes it, to the second: `2007-02-22 17:00:03 UTC`.
pub fn format_utc(utc_ns: u64) -> String {
    let (days, seconds) = (utc_ns / DAY_NS, utc_ns % DAY_NS / SECOND_NS);
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Days since 1970 to a date of the Gregorian calendar, by the month.
fn date_of(days: u64) -> (u64, u64, u64) {
    let (mut year, mut left) = (1970, days);
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if left < length {
            break;
        }
        left -= length;
        year += 1;
    }
    let mut month = 1;
    while left >= days_of(year, month) {
        left -= days_of(year, month);
        month += 1;
    }
    (year, month, left + 1)
}

/// The moment that begins this day, in ns since 1970; `None` if there is no such day, or it lies before 1970 or beyond the
/// range of time.
pub fn midnight_utc_ns(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..2554).contains(&year)
        || !(1..=12).contains(&month)
        || !(1..=days_of(year, month)).contains(&day)
    {
        return None;
    }
    let years: u64 = (1970..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    let months: u64 = (1..month).map(|month| days_of(year, month)).sum();
    (years + months + day - 1).checked_mul(DAY_NS)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_NS: u64 = 3_600 * SECOND_NS;
    /// 2007-02-22 17:00 UTC.
    const ORIGIN: u64 = 1_172_163_600 * SECOND_NS;

    #[test]
    fn the_clock_runs_as_fast_as_the_trace_did() {
        for (time_scale, hour) in [(1.0, HOUR_NS), (0.5, HOUR_NS / 2), (3.0, 3 * HOUR_NS)] {
            let clock = WallClock::new(ORIGIN, time_scale);
            let shown = [0, 1, 7, 8].map(|hours| clock.time_of_day_ns(SimTime(hours * hour)) / HOUR_NS);
            assert_eq!(shown, [17, 18, 0, 1], "at {time_scale}");
            assert_eq!(clock.utc_ns(SimTime(hour)), ORIGIN + HOUR_NS);
            let later = clock.beginning_at(SimTime(2 * hour));
            assert_eq!(later.utc_ns(SimTime(hour)), ORIGIN + 3 * HOUR_NS);
        }
    }

    #[test]
    fn the_next_time_of_day_is_not_before_it_and_not_a_day_late() {
        let clock = WallClock::new(ORIGIN, 1.0);
        assert_eq!(clock.next(SimTime(0), 20 * HOUR_NS), SimTime(3 * HOUR_NS));
        assert_eq!(clock.next(SimTime(0), 6 * HOUR_NS), SimTime(13 * HOUR_NS));
        assert_eq!(clock.next(SimTime(0), 17 * HOUR_NS), SimTime(DAY_NS), "now is not next");
        assert_eq!(clock.next(SimTime(1), 17 * HOUR_NS), SimTime(DAY_NS));
        assert_eq!(clock.next(SimTime(DAY_NS - 1), 17 * HOUR_NS), SimTime(DAY_NS));
        for time_scale in [0.001, 0.3, 1.0, 1.7, 1234.5] {
            let clock = WallClock::new(ORIGIN + 123_456_789, time_scale);
            let mut now = SimTime(77);
            for step in 0..50 {
                let asked = (step * 7_777_777_777_777) % DAY_NS;
                let next = clock.next(now, asked);
                let passed = (clock.time_of_day_ns(next) + DAY_NS - asked) % DAY_NS;
                assert!(next > now && passed < 10_000, "{time_scale}: {passed} ns after it was due");
                assert!(clock.utc_ns(next) - clock.utc_ns(now) <= DAY_NS + 10_000);
                now = next;
            }
        }
        assert_eq!(WallClock::new(ORIGIN, 1e300).next(SimTime(1), 0), SimTime::NEVER);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        let table = [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_172_163_603, "2007-02-22 17:00:03 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ];
        for (seconds, shown) in table {
            assert_eq!(format_utc(seconds * SECOND_NS), shown);
        }
        for days in (0..150_000).step_by(17) {
            let (year, month, day) = date_of(days);
            assert_eq!(midnight_utc_ns(year, month, day), Some(days * DAY_NS));
        }
        for (year, month, day) in
            [(2023, 2, 29), (2024, 13, 1), (2024, 0, 1), (2024, 4, 31), (2024, 1, 0), (1969, 1, 1)]
        {
            assert_eq!(midnight_utc_ns(year, month, day), None);
        }
    }
}
