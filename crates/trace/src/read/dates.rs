//! Dates with a time of day, as ISO 8601 and RFC 3339 write them: `2007-02-22T17:00:03.061629Z`.
//!
//! A blank or a small `t` may stand for the `T`. The second may have a fraction; digits behind the nanosecond are dropped. An
//! offset from UTC may follow, `Z`, `+09:00` or `+0900`. Without one it is UTC, because nothing tells which zone was meant.
//!
//! Not read: leap seconds, weeks, days of the year, names of months, years before 1970.

use harmonia_types::midnight_utc_ns;

use super::fields::{decimal, trimmed};

const SECOND_NS: u64 = 1_000_000_000;

/// A moment in ns since 1970, if that is what stands there.
#[cold]
#[inline(never)]
pub(crate) fn date(field: &[u8]) -> Option<u64> {
    let mut rest = trimmed(field);
    let year = number(&mut rest, 4)?;
    let month = behind(&mut rest, b'-', 2)?;
    let day = behind(&mut rest, b'-', 2)?;
    let [b'T' | b't' | b' ', time @ ..] = rest else { return None };
    rest = time;
    let hour = number(&mut rest, 2)?;
    let minute = behind(&mut rest, b':', 2)?;
    let zone = rest.iter().position(|byte| matches!(byte, b'Z' | b'z' | b'+' | b'-')).unwrap_or(rest.len());
    let (second, zone) = rest.split_at(zone);
    let second @ [b'0'..=b'5', b'0'..=b'9', ..] = trimmed(second).strip_prefix(b":")? else { return None };
    let second_ns = decimal(second, SECOND_NS).filter(|&ns| ns < 60 * SECOND_NS)?;
    if hour > 23 || minute > 59 || !matches!(second.get(2), None | Some(b'.')) {
        return None;
    }
    let local_ns = midnight_utc_ns(year, month, day)?
        .checked_add((hour * 60 + minute) * 60 * SECOND_NS)?
        .checked_add(second_ns)?;
    local_ns.checked_add_signed(-offset_ns(zone)?)
}

/// How far a zone is ahead of UTC.
fn offset_ns(zone: &[u8]) -> Option<i64> {
    let (sign, mut rest) = match zone {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let hours = number(&mut rest, 2)?;
    let minutes = match rest {
        [] => 0,
        [b':', ..] => behind(&mut rest, b':', 2)?,
        _ => number(&mut rest, 2)?,
    };
    let is_zone = rest.is_empty() && hours < 24 && minutes < 60;
    is_zone.then_some(sign * ((hours * 60 + minutes) * 60 * SECOND_NS).cast_signed())
}

/// A number of so many digits behind this byte.
fn behind(rest: &mut &[u8], byte: u8, digits: usize) -> Option<u64> {
    *rest = rest.strip_prefix(&[byte])?;
    number(rest, digits)
}

/// A number of so many digits.
fn number(rest: &mut &[u8], digits: usize) -> Option<u64> {
    let (text, behind) = rest.split_at_checked(digits)?;
    *rest = behind;
    text.iter()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| 10 * number + u64::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_with_a_time_of_day_is_a_moment() {
        let at = 1_172_163_603_000_000_000;
        let table: [(&str, Option<u64>); 24] = [
            ("2007-02-22T17:00:03Z", Some(at)),
            ("2007-02-22 17:00:03", Some(at)),
            (" 2007-02-22t17:00:03z ", Some(at)),
            ("2007-02-22T17:00:03.5", Some(at + 500_000_000)),
            ("2007-02-22T17:00:03.0616290009Z", Some(at + 61_629_000)),
            ("2007-02-23T02:00:03+09:00", Some(at)),
            ("2007-02-23T02:00:03+0900", Some(at)),
            ("2007-02-22T11:30:03-0530", Some(at)),
            ("2007-02-22T16:00:03.25-01", Some(at + 250_000_000)),
            ("1970-01-01 00:00:00", Some(0)),
            ("1970-01-01 00:00:00+01:00", None),
            ("2007-02-22", None),
            ("2007-02-22T17:00", None),
            ("2007-02-29T17:00:03", None),
            ("2007-13-22T17:00:03", None),
            ("2007-02-22T24:00:03", None),
            ("2007-02-22T17:60:03", None),
            ("2007-02-22T17:00:60", None),
            ("2007-02-22T17:00:3", None),
            ("2007-02-22T17:00:03X", None),
            ("2007-02-22T17:00:03+25:00", None),
            ("2007-02-22T17:00:03+09:00x", None),
            ("+007-02-22T17:00:03", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(date(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn no_bytes_are_too_odd() {
        let text = b"2007-02-22T17:00:03.061629+09:00";
        for at in 0..text.len() {
            for byte in 0..=255u8 {
                let mut odd = *text;
                odd[at] = byte;
                let _ = date(&odd);
                let _ = date(&odd[..at]);
            }
        }
    }
}
