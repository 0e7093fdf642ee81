//! Where the volumes of a trace (disk numbers, ASUs) lie in one address space.
//!
//! ```text
//!   apart     |-- volume 0 --|----- volume 3 -----|- volume 7 -|     each as long as the trace uses it, whole pages
//!   overlay   |-- volume 0 --
//!             |----- volume 3 -----|                               all from 0: what is shared is shared
//! ```
//!
//! *Apart* is the default: addresses of two volumes are never taken for one another. Volumes lie in the order in which they
//! first appear, whatever they are called, so that a trace converted to a format with other names is the same load. It has to know how long they are,
//! so the rows to be replayed are read once before the first request. A trace with one volume is the same in both.

use harmonia_trace::TraceRecord;
use harmonia_types::Bytes;

use crate::Volumes;

/// First byte behind the highest address of each volume.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// By index; `None` for volumes without a record.
    ends: Vec<Option<Bytes>>,
    /// Indices in the order in which volumes first appear.
    order: Vec<u16>,
    /// Length of the longest record.
    pub(super) longest: Bytes,
}

impl Ends {
    pub(super) fn see(&mut self, record: &TraceRecord) {
        self.longest = self.longest.max(record.length);
        let index = usize::from(record.volume);
        if index >= self.ends.len() {
            self.ends.resize(index + 1, None);
        }
        let end = &mut self.ends[index];
        if end.is_none() {
            self.order.push(record.volume);
        }
        *end = (*end).max(Some(record.offset + record.length));
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
    pub(super) fn new(volumes: Volumes, ends: &Ends, page_size: Bytes) -> Result<Self, String> {
        let lengths = ends.order.iter().map(|&volume| (volume, ends.ends[usize::from(volume)].unwrap_or(0)));
        if volumes == Volumes::Overlay {
            return Ok(Regions {
                starts: Vec::new(),
                end: lengths.map(|(_, length)| length).max().unwrap_or(0),
            });
        }
        let mut regions = Regions { starts: vec![0; ends.ends.len()], end: 0 };
        for (volume, length) in lengths {
            regions.starts[usize::from(volume)] = regions.end;
            let next = length.checked_next_multiple_of(page_size);
            regions.end = next.and_then(|length| regions.end.checked_add(length)).ok_or_else(|| {
                "its volumes one behind the other end beyond 2^64 bytes: set volumes to the name of one of them"
                    .to_owned()
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

#[cfg(test)]
mod tests {
    use harmonia_types::Operation;

    use super::*;

    /// Volumes by index, with the end of what they hold.
    fn volumes(rows: &[(u16, Bytes)]) -> Ends {
        let mut ends = Ends::default();
        for &(volume, length) in rows {
            ends.see(&TraceRecord { volume, ..TraceRecord::new(0, Operation::Read, 0, length) });
        }
        ends
    }

    #[test]
    fn volumes_lie_page_by_page_in_the_order_of_their_appearance() {
        // Volume 1 has no record.
        let ends = volumes(&[(3, 1), (0, 8192), (2, 8193), (0, 1)]);
        let apart = Regions::new(Volumes::Apart, &ends, 4096).unwrap();
        assert_eq!([3, 0, 2].map(|volume| apart.start(volume)), [0, 4096, 4096 + 8192]);
        assert_eq!(apart.end, 4096 + 8192 + 12288);
        let overlay = Regions::new(Volumes::Overlay, &ends, 4096).unwrap();
        assert_eq!(([0, 1, 2].map(|volume| overlay.start(volume)), overlay.end), ([0; 3], 8193));
    }

    #[test]
    fn what_does_not_fit_below_2_to_the_64_is_refused() {
        let far = 1 << 63;
        let ends = volumes(&[(0, far), (1, far)]);
        assert!(Regions::new(Volumes::Apart, &ends, 4096).unwrap_err().contains("beyond 2^64"));
        assert!(Regions::new(Volumes::Overlay, &ends, 4096).is_ok());
        assert!(Regions::new(Volumes::Apart, &volumes(&[(0, u64::MAX)]), 4096).is_err());
    }
}
