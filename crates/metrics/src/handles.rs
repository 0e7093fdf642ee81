//! What each handle of a drive wrote, where a drive places pages by handles.
//!
//! Not reported: parts of pages that nobody wrote, which count as written.

use harmonia_types::{DeviceCounters, StreamCounters};
use serde::{Deserialize, Serialize};

/// An entry of `streams`, in every entry of the report's `devices`: a handle that wrote, or whose pages were moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct HandleReport {
    /// The handle: 0 is the default one, the first stream or volume of a load has 1, and so has handle 0 of a trace. Unit: none.
    pub handle: u8,
    /// Pages written with it. Unit: pages.
    pub written_pages: u64,
    /// Pages of it that collection moved. Unit: pages.
    pub moved_pages: u64,
    /// Pages programmed for each that was written; null if none was. Unit: ratio.
    pub write_amplification: Option<f64>,
}

impl HandleReport {
    /// What a device counted, by handle.
    pub fn of(counters: &DeviceCounters) -> Vec<HandleReport> {
        let handles = (0..).zip(&counters.streams);
        let used = handles.filter(|(_, stream)| **stream != StreamCounters::default());
        used.map(|(handle, stream)| HandleReport::new(handle, stream)).collect()
    }

    /// A handle that has counted so.
    pub fn new(handle: u8, stream: &StreamCounters) -> HandleReport {
        let &StreamCounters { written_pages, moved_pages } = stream;
        let write_amplification = stream.write_amplification();
        HandleReport { handle, written_pages, moved_pages, write_amplification }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_handles_that_did_something_are_told() {
        let mut counters = DeviceCounters::default();
        counters.streams[2] = StreamCounters { written_pages: 4, moved_pages: 2 };
        counters.streams[5] = StreamCounters { written_pages: 0, moved_pages: 1 };
        let told: Vec<_> =
            HandleReport::of(&counters).iter().map(|of| (of.handle, of.write_amplification)).collect();
        assert_eq!(told, [(2, Some(1.5)), (5, None)]);
        assert_eq!(HandleReport::of(&DeviceCounters::default()), []);
    }
}
