//! Numbers as people read them: milliseconds, percentages, counts with separators.

use harmonia_metrics::YEARS_MOST;
pub use harmonia_types::units::format_count as count;

/// Written where a number cannot be given.
pub const NONE: &str = "-";

/// Nanoseconds as milliseconds with about four digits: 0.1234, 1.234, 12.34, 123.4, 1,234.
pub fn ms(ns: f64) -> String {
    four_digits(ns / 1e6)
}

/// The `±` of a number: half the width of its interval, with as many decimals as the number is shown with.
pub fn plus_minus(half_width: f64, shown: &str) -> String {
    let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.trim_end_matches('%').len());
    format!("±{half_width:.decimals$}")
}

/// Nanoseconds as whole microseconds, with one decimal where there are few.
pub fn us(ns: f64) -> String {
    match ns / 1e3 {
        us if us == 0.0 || us >= 9.95 => count(us.round() as u64),
        us => format!("{us:.1}"),
    }
}

/// A figure that may be missing.
pub fn or_none<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), show)
}

/// Write amplification over whole collection cycles, with so many decimals; where that in the measured window differs by more
/// than 5%, that too.
pub fn amplification(cycles: Option<f64>, window: Option<f64>, decimals: usize) -> String {
    let window = beside(cycles, window).map(|window| format!(" (window {window:.decimals$})"));
    or_none(cycles, |cycles| format!("{cycles:.decimals$}")) + &window.unwrap_or_default()
}

/// Write amplification in the measured window, where that over whole cycles does not say as much.
pub fn beside(cycles: Option<f64>, window: Option<f64>) -> Option<f64> {
    window.filter(|window| cycles.is_none_or(|cycles| (window / cycles - 1.0).abs() > 0.05))
}

/// A share of one as a percentage with one decimal.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A change relative to `base`, signed; missing where the base is zero.
pub fn change(value: f64, base: f64) -> Option<String> {
    (base > 0.0).then(|| {
        let change = (value / base - 1.0) * 100.0;
        // "-0.0%" would claim a direction.
        if change.abs() < 0.05 { "0.0%".to_owned() } else { format!("{change:+.1}%") }
    })
}

/// "477 requests a second", or so many a minute or an hour where they are rare.
pub fn requests(a_second: f64) -> String {
    let (rate, unit) = match a_second {
        rate if rate >= 0.995 || rate == 0.0 => (rate, "a second"),
        rate if rate * 60.0 >= 0.995 => (rate * 60.0, "a minute"),
        rate => (rate * 3_600.0, "an hour"),
    };
    let shown = if rate >= 9.95 || rate == 0.0 { count(rate.round() as u64) } else { format!("{rate:.1}") };
    format!("{shown} requests {unit}")
}

/// Seconds with one decimal, or hours and days where there are many.
pub fn span(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    if seconds < 7_200.0 { format!("{seconds:.1} s") } else { years(seconds / (365.0 * 86_400.0)) }
}

/// Bytes in binary units, as scenarios are written and traces described.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut scaled = value as f64;
    let mut unit = 0;
    while scaled >= 1023.5 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{value} B") } else { format!("{} {}", three_digits(scaled), UNITS[unit]) }
}

/// Bytes in decimal units, as data sheets of drives have them.
pub fn decimal_bytes(value: f64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    let (mut scaled, mut unit) = (value, 0);
    while scaled >= 999.5 && unit + 1 < UNITS.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    format!("{} {}", three_digits(scaled), UNITS[unit])
}

/// Years of 365 days, in the unit that suits them: years, days, hours, minutes or seconds.
pub fn years(value: f64) -> String {
    let days = value * 365.0;
    match days {
        days if value >= 1e6 => format!("{:.0e} years", days / 365.0),
        days if value >= 999.5 => format!("{} years", count((days / 365.0).round() as u64)),
        days if value >= 0.9995 => format!("{} years", three_digits(days / 365.0)),
        days if days >= 0.9995 => format!("{} days", three_digits(days)),
        days if days * 24.0 >= 0.9995 => format!("{} h", three_digits(days * 24.0)),
        days if days * 1_440.0 >= 0.9995 => format!("{} min", three_digits(days * 1_440.0)),
        days => format!("{} s", three_digits(days * 86_400.0)),
    }
}

/// Years that something lasts. Of more than [`YEARS_MOST`] it is only said that there are more.
pub fn life(value: f64) -> String {
    if value > YEARS_MOST { format!("> {YEARS_MOST:.0} years") } else { years(value) }
}

/// A duration in the unit that suits it.
pub fn duration(ns: u64) -> String {
    let ns = ns as f64;
    let (value, unit) = match ns {
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", four_digits(value))
}

fn four_digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 999.95 => count(value.round() as u64),
        size if size >= 99.995 => format!("{value:.1}"),
        size if size >= 9.9995 => format!("{value:.2}"),
        size if size >= 0.99995 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

fn three_digits(value: f64) -> String {
    match value {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Nanoseconds as seconds, to the last one that counts.
pub fn exact_seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_keep_what_counts() {
        assert_eq!(
            [0, 5, 1_500_000_000, 10_000_000_000].map(exact_seconds),
            ["0", "0.000000005", "1.5", "10"]
        );
    }

    #[test]
    fn milliseconds_keep_four_digits() {
        let shown =
            [123_400.0, 1_234_000.0, 12_340_000.0, 123_400_000.0, 1_234_000_000.0, 9_999_960.0].map(ms);
        assert_eq!(shown, ["0.1234", "1.234", "12.34", "123.4", "1,234", "10.00"]);
    }

    #[test]
    fn rates_and_spans_are_in_units_that_suit_them() {
        let rates = [0.0, 477.3, 1.0, 0.0528, 0.0011].map(requests);
        let shown = ["0 requests a second", "477 requests a second", "1.0 requests a second"];
        assert_eq!(rates[..3], shown);
        assert_eq!(rates[3..], ["3.2 requests a minute", "4.0 requests an hour"]);
        let spans = [209_740_000_000, 7_199_000_000_000, 7_200_000_000_000, 594_376_200_000_000].map(span);
        assert_eq!(spans, ["209.7 s", "7199.0 s", "2.00 h", "6.88 days"]);
    }

    #[test]
    fn nothing_is_zero_and_microseconds_are_whole() {
        assert_eq!([0.0, 1_234.0, 9_960.0, 1_234_567.0].map(us), ["0", "1.2", "10", "1,235"]);
        assert_eq!((ms(0.0).as_str(), duration(0).as_str()), ("0", "0 us"));
    }

    #[test]
    fn a_half_width_is_as_precise_as_its_number() {
        assert_eq!(
            [plus_minus(0.314, "12.49"), plus_minus(2.06, "-68.0%"), plus_minus(12.3, "1,234")],
            ["±0.31", "±2.1", "±12"]
        );
    }

    #[test]
    fn counts_are_grouped_from_the_right() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_change_has_a_sign_unless_there_is_none() {
        assert_eq!(change(29.0, 100.0).as_deref(), Some("-71.0%"));
        assert_eq!(change(101.5, 100.0).as_deref(), Some("+1.5%"));
        assert_eq!(change(99.99, 100.0).as_deref(), Some("0.0%"));
        assert_eq!(change(1.0, 0.0), None);
    }

    #[test]
    fn years_and_decimal_bytes_choose_their_unit() {
        let shown = [0.0, 1e-7, 1e-5, 0.001, 0.5, 1.0, 12.34, 1_234.4, 2e7].map(years);
        let expected = [
            "0.00 s",
            "3.15 s",
            "5.26 min",
            "8.76 h",
            "182 days",
            "1.00 years",
            "12.3 years",
            "1,234 years",
            "2e7 years",
        ];
        assert_eq!(shown, expected);
        assert_eq!(
            [0.5, 100.0, 100.1, 730_477.0].map(life),
            ["182 days", "100 years", "> 100 years", "> 100 years"]
        );
        let shown = [0.0, 999.0, 1_000.0, 7.68e12, 7.008e15].map(decimal_bytes);
        assert_eq!(shown, ["0.00 B", "999 B", "1.00 kB", "7.68 TB", "7.01 PB"]);
    }

    #[test]
    fn bytes_and_durations_choose_their_unit() {
        let sizes = [0, 1_000, 4_096, 634_000_000, (1 << 20) - 1];
        assert_eq!(sizes.map(bytes), ["0 B", "1000 B", "4.00 KiB", "605 MiB", "1.00 MiB"]);
        assert_eq!([1_500, 2_500_000, 90_000_000_000].map(duration), ["1.500 us", "2.500 ms", "90.00 s"]);
    }
}
