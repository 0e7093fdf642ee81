//! Where the volumes of a trace (disk numbers, ASUs) lie in one address space.
//!
//! ```text
//!   apart     |-- volume 0 --|----- volume 3 -----|- volume 7 -|     each as long as the trace uses it, whole pages
//!   overlay   |-- volume 0 --
//!             |----- volume 3 -----|                               all from 0: what is shared is shared
//! ```
//!
//! *Apart* is the default: addresses of two volumes are never taken for one another. It has to know how long they are,
//! so the rows to be replayed are read once before the first request. A trace with one volume is the same in both.

use std::cmp::Ordering;

use harmonia_types::Bytes;

use super::{TraceRecord, VolumeNames};
use crate::Volumes;

/// First byte behind the highest address of each volume, by index.
#[derive(Debug, Default)]
pub(super) struct Ends(Vec<Bytes>);

impl Ends {
    pub(super) fn see(&mut self, record: &TraceRecord) {
        let index = usize::from(record.volume);
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        self.0[index] = self.0[index].max(record.offset + record.length);
    }
}

/// Where each volume begins.
#[derive(Debug)]
pub(super) struct Regions {
    /// By index; empty where all begin at 0.
    starts: Vec<Bytes>,
    /// First byte behind the highest address of all.
    pub(super) end: Bytes,
}

impl Regions {
    /// For volumes as long as `ends` says (which need not be known unless apart, or for [`Regions::end`]).
    pub(super) fn new(
        volumes: Volumes,
        ends: &Ends,
        names: &VolumeNames,
        page_size: Bytes,
    ) -> Result<Self, String> {
        if volumes == Volumes::Overlay {
            return Ok(Regions { starts: Vec::new(), end: ends.0.iter().copied().max().unwrap_or(0) });
        }
        let mut order: Vec<usize> = (0..ends.0.len()).collect();
        order.sort_by(|&a, &b| by_number(&names.names()[a], &names.names()[b]));
        let mut regions = Regions { starts: vec![0; ends.0.len()], end: 0 };
        for index in order {
            regions.starts[index] = regions.end;
            let next = ends.0[index].checked_next_multiple_of(page_size);
            regions.end = next.and_then(|length| regions.end.checked_add(length)).ok_or_else(|| {
                "its volumes one behind the other end beyond 2^64 bytes: set volumes to the name of one of them".to_owned()
            })?;
        }
        Ok(regions)
    }

    /// Where the record's volume begins.
    #[inline]
    pub(super) fn start(&self, volume: u16) -> Bytes {
        self.starts.get(usize::from(volume)).copied().unwrap_or(0)
    }
}

/// Names in the order a person would count them: where they differ in a number, by its value (`web_2` before `web_10`).
fn by_number(a: &str, b: &str) -> Ordering {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let (Some(first_a), Some(first_b)) = (a.first(), b.first()) {
        let order = if is_digit(first_a) && is_digit(first_b) {
            let split = |text: &[u8]| text.iter().take_while(|byte| is_digit(byte)).count();
            let ((number_a, rest_a), (number_b, rest_b)) = (a.split_at(split(a)), b.split_at(split(b)));
            (a, b) = (rest_a, rest_b);
            let value = |digits: &[u8]| {
                let digits = &digits[digits.iter().take_while(|&&byte| byte == b'0').count()..];
                (digits.len(), digits.to_vec())
            };
            value(number_a).cmp(&value(number_b))
        } else {
            (a, b) = (&a[1..], &b[1..]);
            first_a.cmp(first_b)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

#[cfg(test)]
mod tests {
    use harmonia_types::Operation;

    use super::*;

    /// Volumes by name, with the end of what they hold.
    fn volumes(rows: &[(&str, Bytes)]) -> (Ends, VolumeNames) {
        let (mut ends, mut names) = (Ends::default(), VolumeNames::default());
        for &(name, length) in rows {
            let volume = names.named(name).unwrap();
            ends.see(&TraceRecord { time_ns: 0, operation: Operation::Read, offset: 0, length, volume });
        }
        (ends, names)
    }

    #[test]
    fn volumes_lie_page_by_page_in_the_order_of_their_numbers() {
        let (ends, names) = volumes(&[("10", 1), ("0", 8192), ("3", 8193), ("0", 1)]);
        let apart = Regions::new(Volumes::Apart, &ends, &names, 4096).unwrap();
        assert_eq!([1, 2, 0].map(|volume| apart.start(volume)), [0, 8192, 8192 + 12288]);
        assert_eq!(apart.end, 8192 + 12288 + 4096);
        let overlay = Regions::new(Volumes::Overlay, &ends, &names, 4096).unwrap();
        assert_eq!(([0, 1, 2].map(|volume| overlay.start(volume)), overlay.end), ([0; 3], 8193));
    }

    #[test]
    fn names_are_ordered_as_a_person_counts() {
        let mut names = ["web_10", "web_2", "src1_0", "8,16", "8,3", "web_02", "a", "web"];
        names.sort_by(|a, b| by_number(a, b));
        assert_eq!(names, ["8,3", "8,16", "a", "src1_0", "web", "web_2", "web_02", "web_10"]);
    }

    #[test]
    fn what_does_not_fit_below_2_to_the_64_is_refused() {
        let far = 1 << 63;
        let (ends, names) = volumes(&[("0", far), ("1", far)]);
        assert!(Regions::new(Volumes::Apart, &ends, &names, 4096).unwrap_err().contains("beyond 2^64"));
        assert!(Regions::new(Volumes::Overlay, &ends, &names, 4096).is_ok());
        let (ends, names) = volumes(&[("0", u64::MAX)]);
        assert!(Regions::new(Volumes::Apart, &ends, &names, 4096).is_err());
    }
}
