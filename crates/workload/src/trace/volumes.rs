//! Where the volumes of a trace (disk numbers, ASUs) lie in one address space.
//!
//! ```text
//!   apart     |-- volume 0 --|----- volume 3 -----|- volume 7 -|     each as long as the trace uses it, whole pages
//!   overlay   |-- volume 0 --
//!             |----- volume 3 -----|                               all from 0: what is shared is shared
//!   only(3)   |----- volume 3 -----|                               the others are passed over
//! ```
//!
//! *Apart* is the default: addresses of two volumes are never taken for one another. It has to know how long they are,
//! so the rows to be replayed are read once before the first request. A trace with one volume is the same in all three.

use std::collections::BTreeMap;

use harmonia_types::Bytes;

use super::TraceRecord;
use crate::Volumes;

/// First byte behind the highest address of each volume.
#[derive(Debug, Default)]
pub(super) struct Ends(BTreeMap<u16, Bytes>);

impl Ends {
    pub(super) fn see(&mut self, record: &TraceRecord) {
        let end = self.0.entry(record.volume).or_default();
        *end = (*end).max(record.offset + record.length);
    }
}

/// Where each volume begins.
#[derive(Debug)]
pub(super) struct Regions {
    volumes: Volumes,
    /// By volume; empty unless apart.
    starts: Vec<(u16, Bytes)>,
    /// First byte behind the highest address of all.
    pub(super) end: Bytes,
}

impl Regions {
    /// For volumes as long as `ends` says (which need not be known unless apart, or for [`Regions::end`]).
    pub(super) fn new(volumes: Volumes, ends: &Ends, page_size: Bytes) -> Result<Self, String> {
        let mut regions = Regions { volumes, starts: Vec::new(), end: 0 };
        for (&volume, &length) in &ends.0 {
            match volumes {
                Volumes::Apart => {
                    regions.starts.push((volume, regions.end));
                    let next = length.checked_next_multiple_of(page_size);
                    regions.end = next.and_then(|length| regions.end.checked_add(length)).ok_or_else(|| {
                        "its volumes one behind the other end beyond 2^64 bytes: set volumes to the number of one of them"
                            .to_owned()
                    })?;
                }
                Volumes::Overlay => regions.end = regions.end.max(length),
                Volumes::Only(only) if only == volume => regions.end = length,
                Volumes::Only(_) => {}
            }
        }
        Ok(regions)
    }

    /// Where the record's volume begins; `None` if it is passed over.
    #[inline]
    pub(super) fn start(&self, volume: u16) -> Option<Bytes> {
        match self.volumes {
            Volumes::Overlay => Some(0),
            Volumes::Only(only) => (only == volume).then_some(0),
            Volumes::Apart => {
                let found = self.starts.binary_search_by_key(&volume, |&(volume, _)| volume);
                found.ok().map(|index| self.starts[index].1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use harmonia_types::Operation;

    use super::*;

    fn ends(rows: &[(u16, Bytes, Bytes)]) -> Ends {
        let mut ends = Ends::default();
        for &(volume, offset, length) in rows {
            ends.see(&TraceRecord { time_ns: 0, operation: Operation::Read, offset, length, volume });
        }
        ends
    }

    #[test]
    fn volumes_lie_page_by_page_in_the_order_of_their_numbers() {
        let ends = ends(&[(7, 0, 1), (0, 4096, 4096), (3, 8192, 1), (0, 0, 1)]);
        let apart = Regions::new(Volumes::Apart, &ends, 4096).unwrap();
        assert_eq!([0, 3, 7].map(|volume| apart.start(volume)), [Some(0), Some(8192), Some(8192 + 12288)]);
        assert_eq!(apart.end, 8192 + 12288 + 4096);
        let overlay = Regions::new(Volumes::Overlay, &ends, 4096).unwrap();
        assert_eq!(([0, 3, 7].map(|volume| overlay.start(volume)), overlay.end), ([Some(0); 3], 8193));
        let only = Regions::new(Volumes::Only(0), &ends, 4096).unwrap();
        assert_eq!(([0, 3, 7].map(|volume| only.start(volume)), only.end), ([Some(0), None, None], 8192));
    }

    #[test]
    fn what_does_not_fit_below_2_to_the_64_is_refused() {
        let far = 1 << 63;
        let error = Regions::new(Volumes::Apart, &ends(&[(0, far, 1), (1, far, 1)]), 4096).unwrap_err();
        assert!(error.contains("beyond 2^64"), "{error}");
        assert!(Regions::new(Volumes::Apart, &ends(&[(0, u64::MAX - 1, 1)]), 4096).is_err());
        assert!(Regions::new(Volumes::Overlay, &ends(&[(0, far, 1), (1, far, 1)]), 4096).is_ok());
    }
}
