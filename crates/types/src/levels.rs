//! How things stand inside a device, in a few numbers.

/// What a device is doing and has room for at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Levels {
    /// Channels of which a die collects. Unit: count.
    pub channels_in_gc: u32,
    /// Erased blocks, as thresholds count them; a victim is none until its erase has ended. Unit: blocks.
    pub empty_blocks: u64,
    /// Page operations of the host that have arrived and are not done. Unit: operations.
    pub queue_depth: u64,
    /// Victims erased since the device was empty; only ever grows. Unit: blocks.
    pub victims_erased: u64,
    /// Slots of the write cache that hold a page, of so many; both 0 without a write cache, and of a device that has failed or stands by as a
    /// spare. Unit: count.
    pub cached_pages: u32,
    /// See above. Unit: count.
    pub cache_slots: u32,
}
